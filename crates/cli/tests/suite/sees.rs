//! The view of each client: loaded by itself, delivered by the hook, offered, or not at all.

use brief_testkit::Sandbox;
use serde_json::json;

use crate::project;

/// Something that Claude loads, something that Cursor loads, something that only the hook delivers, and a
/// skill that both load.
fn mixed() -> Sandbox {
    project()
        .with_dir(".git")
        .with_file("AGENTS.yaml", "context:\n  - {content: Use integers., match: [\"**/*.py\"]}\n")
        .with_file("CLAUDE.md", "Be brief.\n")
        .with_file(".cursor/rules/tests.mdc", "---\nalwaysApply: true\n---\nTest first.\n")
        .with_file(
            ".context/incident.md",
            "---\ntrigger: agent\ndescription: When it burns\n---\nStay calm.\n",
        )
        .with_file("docs/AGENTS.yaml", "context: [{content: Only docs.}]\n")
        .with_file("src/a.py", "")
}

/// U03: one row for each item, one column for each client, and the sums; without names, the clients that
/// the project has files of.
#[test]
fn a_matrix_shows_who_sees_what() {
    insta::assert_snapshot!(mixed().run(&["sees", "src/a.py"]), @"
                                      tokens  claude     cursor
    .context/incident.md:5  incident      ~4  offered    offered
    .cursor/rules/tests.mdc:4  tests      ~3  delivered  loaded
    CLAUDE.md:1  CLAUDE                   ~3  loaded     loaded
    AGENTS.yaml:2  context[0]             ~3  delivered  delivered

    tokens in all                             claude     cursor
    loaded                                    ~3         ~6
    delivered                                 ~6         ~3
    offered                                   ~4         ~4
    [EOF]
    ");
    let one = mixed().run(&["sees", "src/a.py", "codex"]);
    assert!(!one.stdout.contains("cursor "), "{one}");
    let usual = project().with_file("AGENTS.yaml", "context: [{content: A}]\n");
    let usual = usual.run(&["sees", "a.py"]);
    assert!(usual.stdout.contains("claude     codex      copilot    cursor"), "{usual}");
}

/// U03: the same as JSON, with the reason for each client.
#[test]
fn the_matrix_as_json() {
    let answer = mixed().run(&["sees", "src/a.py", "claude", "cursor", "zed", "--json"]).json();
    assert_eq!(answer["path"], "src/a.py");
    assert_eq!(answer["clients"], json!(["claude", "cursor", "zed"]));
    let item = |path: &str| {
        let items = answer["items"].as_array().unwrap();
        items.iter().find(|item| item["source"]["path"] == path).unwrap().clone()
    };
    assert_eq!(
        item("CLAUDE.md")["seen"]["claude"],
        json!({"how": "loaded", "reason": "claude loads it by itself"})
    );
    assert_eq!(
        item("AGENTS.yaml"),
        json!({
            "name": "context[0]", "dialect": "structured", "kind": "context",
            "source": {"path": "AGENTS.yaml", "line": 2}, "tokens": 3,
            "seen": {
                "claude": {"how": "delivered", "reason": "match `**/*.py` covers src/a.py"},
                "cursor": {"how": "delivered", "reason": "match `**/*.py` covers src/a.py"},
                "zed": {"how": "unseen", "reason": "there is no hook for zed"}
            }
        })
    );
    assert_eq!(item(".cursor/rules/tests.mdc")["seen"]["cursor"]["how"], "loaded");
    assert_eq!(item(".context/incident.md")["seen"]["claude"]["how"], "offered");
    // "Be brief." for Claude; Cursor reads CLAUDE.md, too, and its own rule.
    assert_eq!(answer["totals"]["claude"]["loaded"], 3);
    assert_eq!(answer["totals"]["cursor"], json!({"loaded": 6, "delivered": 3, "offered": 4}));
    // What the client loads and what is delivered to it are what `context` says.
    let context = mixed().run(&["context", "src/a.py", "--client", "claude", "--json"]).json();
    let totals = &answer["totals"]["claude"];
    let sum = totals["delivered"].as_u64().unwrap() + totals["offered"].as_u64().unwrap();
    assert_eq!(context["tokens"], sum);
}

/// U03, U70: what the client loads by itself is no `out`, in words; in JSON it stays where it was.
#[test]
fn what_a_client_loads_has_a_state_of_its_own() {
    insta::assert_snapshot!(mixed().run(&["why", "src/a.py", "--client", "claude"]), @"
    src/a.py, for claude

    + in       AGENTS.yaml:2
               match `**/*.py` covers src/a.py
               > Use integers.

    = loaded   CLAUDE.md:1
               claude loads it by itself
               > Be brief.

    ? offered  .context/incident.md:5  mounted, agent
               trigger is agent: offered by its description
               > Stay calm.

    + in       .cursor/rules/tests.mdc:4  project, always
               `alwaysApply` is true
               > Test first.
    [EOF]
    ");
    let json = mixed().run(&["why", "src/a.py", "--client", "claude", "--json"]).json();
    let left_out = json["left_out"].as_array().unwrap();
    let claude = left_out.iter().find(|one| one["name"] == "CLAUDE").unwrap();
    assert_eq!(claude["reason"], "claude loads it by itself");
}

/// U04: what is in the answer, what the agent may ask for and what has to be mentioned stand apart.
#[test]
fn active_offered_and_manual_stand_apart() {
    let project = mixed().with_file(".context/release.md", "---\ntrigger: manual\n---\nTag it.\n");
    insta::assert_snapshot!(project.run(&["context", "src/a.py"]), @"
    CLAUDE.md:1
      Be brief.

    .cursor/rules/tests.mdc:4
      Test first.

    AGENTS.yaml:2
      Use integers.

    offered: the agent may ask for it
      incident: When it burns (read .context/incident.md)

    manual: only when it is mentioned
      release (--mention release)
    [EOF]
    ");
}

/// U12: the line that stands for a text is one that says something, and fits on a line.
#[test]
fn a_preview_skips_comments_and_is_cut() {
    let text = format!("<!-- Copyright -->\n<!-- more\n-->\n\n{}\n", "word ".repeat(500));
    let output = project().with_file("CLAUDE.md", text).run(&["why", "a.py"]);
    assert!(output.stdout.contains("> word word"), "{output}");
    assert!(output.stdout.lines().all(|line| line.chars().count() <= 100), "{output}");
}
