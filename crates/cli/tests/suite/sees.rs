//! The view of each client: loaded, listed, delivered by an installed hook, or missing, with the cause.

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

/// N01, U03: one row for each item, one column for each client, and the sums; without names, the clients that
/// the project has files of. Without a hook, nothing is delivered, and the command that changes it is said.
#[test]
fn a_matrix_shows_who_sees_what() {
    insta::assert_snapshot!(mixed().run(&["show", "src/a.py"]), @"
                                      tokens  claude             cursor
    .context/incident.md:5  incident      ~4  missing (no hook)  missing (no hook)
    .cursor/rules/tests.mdc:4  tests      ~3  missing (no hook)  loaded
    CLAUDE.md:1  CLAUDE                   ~3  loaded             loaded
    AGENTS.yaml:2  context[0]             ~3  missing (no hook)  missing (no hook)

    tokens in all                             claude             cursor
    loaded                                    ~3                 ~6
    missing                                   ~10                ~7
    ------- stderr -------
    claude: no hook is installed for Claude Code
    cursor: no hook is installed for Cursor
    hint: run `brief hook install claude cursor`
    [EOF]
    ");
    let one = mixed().run(&["show", "src/a.py", "codex"]);
    assert!(!one.stdout.contains("cursor "), "{one}");
    let usual = project().with_file("AGENTS.yaml", "context: [{content: A}]\n");
    let usual = usual.run(&["show", "a.py"]);
    let heads: Vec<&str> = usual.stdout.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(heads, ["tokens", "claude", "codex", "copilot", "cursor"], "{usual}");
}

/// Puts `brief` on the search path, as an installation does.
pub(crate) fn with_brief_on_path(project: Sandbox) -> Sandbox {
    let bin = project.program().parent().unwrap().display().to_string();
    project.with_env("PATH", &format!("{bin}:/usr/bin:/bin"))
}

/// Runs a command that sets something up.
fn set_up(project: &Sandbox, args: &[&str]) {
    let output = project.run(args);
    assert_eq!(output.code, Some(0), "{output}");
}

/// The state of the entry in `AGENTS.yaml` for a client: the word, and the cause.
fn state_of_entry(project: &Sandbox, client: &str) -> (String, String) {
    let answer = project.run(&["show", "src/a.py", client, "--json"]).json();
    let items = answer["items"].as_array().unwrap();
    let item = items.iter().find(|item| item["source"]["path"] == "AGENTS.yaml").unwrap();
    let sight = &item["seen"][client];
    let text = |key: &str| sight[key].as_str().unwrap_or_default().to_owned();
    (text("how"), text("cause"))
}

/// N01, R08: the hook is installed, and the same table says so; it is removed, and it says that, too.
#[test]
fn an_installed_hook_delivers() {
    let project = with_brief_on_path(mixed());
    assert_eq!(state_of_entry(&project, "claude"), ("missing".to_owned(), "no-hook".to_owned()));
    set_up(&project, &["hook", "install", "claude"]);
    assert_eq!(state_of_entry(&project, "claude"), ("delivered".to_owned(), String::new()));
    insta::assert_snapshot!(project.run(&["show", "src/a.py"]), @"
                                      tokens  claude     cursor
    .context/incident.md:5  incident      ~4  listed     missing (no hook)
    .cursor/rules/tests.mdc:4  tests      ~3  delivered  loaded
    CLAUDE.md:1  CLAUDE                   ~3  loaded     loaded
    AGENTS.yaml:2  context[0]             ~3  delivered  missing (no hook)

    tokens in all                             claude     cursor
    loaded                                    ~3         ~6
    listed                                    ~4         ~0
    delivered                                 ~6         ~0
    missing                                   ~0         ~7
    ------- stderr -------
    cursor: no hook is installed for Cursor
    hint: run `brief hook install cursor`
    [EOF]
    ");
    let delivery =
        project.run(&["show", "src/a.py", "claude", "--json"]).json()["delivery"].clone();
    let works = json!({
        "hook": "works", "file": ".claude/settings.local.json", "server": null, "reason": null, "fix": null
    });
    assert_eq!(delivery, json!({ "claude": works }));
    set_up(&project, &["hook", "uninstall", "claude"]);
    assert_eq!(state_of_entry(&project, "claude"), ("missing".to_owned(), "no-hook".to_owned()));
}

/// Copilot runs the hooks of Claude Code in a folder that the user trusts.
#[test]
fn a_hook_of_another_client_delivers_where_both_run_it() {
    let project = with_brief_on_path(mixed());
    set_up(&project, &["hook", "install", "claude"]);
    assert_eq!(state_of_entry(&project, "copilot").0, "missing");
    let trusted = format!("{{\"trusted_folders\": [\"{}\"]}}", project.path().display());
    let settings = project.home().join(".copilot");
    std::fs::create_dir_all(&settings).unwrap();
    std::fs::write(settings.join("config.json"), trusted).unwrap();
    assert_eq!(state_of_entry(&project, "copilot"), ("delivered".to_owned(), String::new()));
    assert_eq!(state_of_entry(&project, "cursor").0, "missing");
}

/// A hook that the client does not run delivers nothing: its program is not found, the client's settings switch it off,
/// the user has not approved it, or the client has none.
#[test]
fn a_hook_that_does_not_run_delivers_nothing() {
    let missing = |cause: &str| ("missing".to_owned(), cause.to_owned());
    let project = mixed();
    set_up(&project, &["hook", "install", "claude"]);
    assert_eq!(state_of_entry(&project, "claude"), missing("program-not-found"));
    let project = with_brief_on_path(project);
    assert_eq!(state_of_entry(&project, "claude").0, "delivered");
    project.write(".claude/settings.json", "{\"disableAllHooks\": true}");
    assert_eq!(state_of_entry(&project, "claude"), missing("switched-off"));
    let shown = project.run(&["show", "src/a.py", "claude"]);
    assert!(shown.stdout.contains("missing (switched off)"), "{shown}");
    assert!(shown.stderr.contains("`disableAllHooks` in .claude/settings.json"), "{shown}");
    set_up(&project, &["hook", "install", "codex"]);
    assert_eq!(state_of_entry(&project, "codex"), missing("not-approved"));
    assert_eq!(state_of_entry(&project, "zed"), missing("not-supported"));
}

/// An agent can ask the MCP server, which delivers nothing by itself.
#[test]
fn a_server_is_asked_and_does_not_deliver() {
    let project = with_brief_on_path(mixed());
    let fix = |project: &Sandbox| {
        project.run(&["show", "src/a.py", "zed", "--json"]).json()["delivery"]["zed"].clone()
    };
    assert_eq!(
        fix(&project)["fix"],
        "run `brief mcp install zed` so that the agent can request it"
    );
    set_up(&project, &["mcp", "install", "zed"]);
    assert_eq!(state_of_entry(&project, "zed").0, "missing");
    let delivery = fix(&project);
    assert_eq!(delivery["server"], ".zed/settings.json", "{delivery}");
    assert_eq!(delivery["fix"], json!(null), "{delivery}");
}

/// N03: a description is no text. A skill and a rule with a description are listed; a client that ignores the fields of
/// a rule loads it whole (`clients-verified.md`, Crush).
#[test]
fn a_description_is_listed() {
    let rule = "---\ndescription: How to release\nalwaysApply: false\n---\nTag the commit, then wait for the build to pass.\n";
    let project =
        project().with_dir(".git").with_file(".cursor/rules/release.mdc", rule).with_file(
            ".agents/skills/ship/SKILL.md",
            "---\nname: ship\ndescription: Ship it\n---\nPush.\n",
        );
    let answer = project.run(&["show", "a.py", "cursor", "crush", "--json"]).json();
    let seen = |name: &str, client: &str| {
        let items = answer["items"].as_array().unwrap();
        let item = items.iter().find(|item| item["name"] == name).unwrap();
        (
            item["seen"][client]["how"].as_str().unwrap().to_owned(),
            item["seen"][client]["tokens"].as_u64().unwrap(),
        )
    };
    let (how, tokens) = seen("release", "cursor");
    assert_eq!(how, "listed");
    let (whole, all) = seen("release", "crush");
    assert_eq!(whole, "loaded");
    assert!(tokens < all, "{tokens} {all}");
    assert_eq!(seen("ship", "cursor").0, "listed");
    assert_eq!(seen("ship", "crush").0, "listed");
    assert_eq!(answer["totals"]["cursor"]["loaded"], 0);
}

/// N04, R09: another place of the same text names it, and counts nothing.
#[test]
fn the_same_text_names_the_other_place() {
    let project = with_brief_on_path(
        project()
            .with_dir(".git")
            .with_file("AGENTS.md", "Be brief.\n")
            .with_link(".agents/AGENTS.md", "../AGENTS.md")
            .with_file(".github/copilot-instructions.md", "Be brief.\n"),
    );
    set_up(&project, &["hook", "install", "gemini", "--project"]);
    set_up(&project, &["hook", "install", "claude"]);
    for client in ["claude", "gemini", "codex"] {
        let answer = project.run(&["show", "README.md", client, "--json"]).json();
        let items = answer["items"].as_array().unwrap();
        let states = items.iter().map(|item| item["seen"][client]["how"].as_str().unwrap());
        let got: Vec<&str> = states.filter(|how| !matches!(*how, "same" | "skipped")).collect();
        assert_eq!(got.len(), 1, "{answer:#}");
        let totals = answer["totals"][client].as_object().unwrap();
        assert_eq!(
            totals.values().map(|part| part.as_u64().unwrap()).sum::<u64>(),
            3,
            "{answer:#}"
        );
    }
    let shown = project.run(&["show", "README.md", "claude"]);
    assert!(shown.stdout.contains("same as AGENTS.md"), "{shown}");
}

/// A decision is a row: it comes when the agent plans, or asks.
#[test]
fn a_decision_is_a_row() {
    let text =
        "decisions:\n  - decision: Use SQLite.\n    rationale: One file.\n    match: ['**/*.py']\n";
    let project = project().with_dir(".git").with_file("AGENTS.yaml", text);
    let answer = project.run(&["show", "a.py", "claude", "--json"]).json();
    let item = &answer["items"][0];
    assert_eq!((&item["kind"], &item["name"]), (&json!("decision"), &json!("decisions[0]")));
    assert_eq!(item["seen"]["claude"]["how"], "manual");
    let shown = project.run(&["show", "a.py", "claude"]);
    assert!(shown.stdout.contains("AGENTS.yaml:2  decisions[0]"), "{shown}");
    let other = project.run(&["show", "a.rs", "claude", "--json"]).json();
    assert_eq!(other["items"][0]["seen"]["claude"]["how"], "skipped");
}

/// R10: in a pipe nothing is cut, so that no two rows look the same.
#[test]
fn a_pipe_gets_whole_paths() {
    let mut project = project().with_dir(".git");
    for number in 0..3 {
        let path = format!("packages/{}{number}/skills/publish-cli/SKILL.md", "long-".repeat(20));
        project = project.with_file(
            &path.replace("skills", ".agents/skills"),
            "---\nname: publish-cli\ndescription: D\n---\nX\n",
        );
        project = project.with_file(&format!("packages/{}{number}/a.py", "long-".repeat(20)), "");
    }
    let deep = format!("packages/{}1/a.py", "long-".repeat(20));
    let shown = project.run(&["show", &deep]);
    assert!(!shown.stdout.contains('…'), "{shown}");
    let row = shown.stdout.lines().nth(1).unwrap();
    assert!(row.starts_with(&format!("packages/{}1/.agents/", "long-".repeat(20))), "{shown}");
}

/// Two entries on one line are two rows, whose sum is the total.
#[test]
fn entries_on_one_line_are_rows_of_their_own() {
    let text = "context: [{content: Use integers.}, {content: Write tests first.}]\n";
    let project = project().with_dir(".git").with_file("AGENTS.yaml", text);
    let answer = project.run(&["show", "a.py", "claude", "--json"]).json();
    let items = answer["items"].as_array().unwrap();
    assert_eq!(items.len(), 2);
    let tokens = items.iter().map(|item| item["seen"]["claude"]["tokens"].as_u64().unwrap());
    assert_eq!(tokens.sum::<u64>(), answer["totals"]["claude"]["missing"].as_u64().unwrap());
}

/// U03: the same as JSON, with the reason for each client.
#[test]
fn the_matrix_as_json() {
    let project = with_brief_on_path(mixed());
    set_up(&project, &["hook", "install", "claude"]);
    set_up(&project, &["hook", "install", "cursor"]);
    let answer = project.run(&["show", "src/a.py", "claude", "cursor", "zed", "--json"]).json();
    assert_eq!(answer["version"], 3);
    assert_eq!(answer["path"], "src/a.py");
    assert_eq!(answer["clients"], json!(["claude", "cursor", "zed"]));
    let item = |path: &str| {
        let items = answer["items"].as_array().unwrap();
        items.iter().find(|item| item["source"]["path"] == path).unwrap().clone()
    };
    assert_eq!(
        item("CLAUDE.md")["seen"]["claude"],
        json!({
            "how": "loaded", "cause": null, "same_as": null, "reason": "claude loads it by itself", "tokens": 3
        })
    );
    let delivered = json!({
        "how": "delivered", "cause": null, "same_as": null,
        "reason": "match `**/*.py` covers src/a.py", "tokens": 3
    });
    assert_eq!(
        item("AGENTS.yaml"),
        json!({
            "name": "context[0]", "format": "agents-yaml", "kind": "context",
            "source": {"path": "AGENTS.yaml", "line": 2}, "tokens": 3,
            "seen": {
                "claude": delivered, "cursor": delivered,
                "zed": {
                    "how": "missing", "cause": "not-supported", "same_as": null,
                    "reason": "Zed has no hooks that can add context", "tokens": 3
                }
            }
        })
    );
    assert_eq!(item(".cursor/rules/tests.mdc")["seen"]["cursor"]["how"], "loaded");
    assert_eq!(item(".context/incident.md")["seen"]["claude"]["how"], "listed");
    // "Be brief." for Claude; Cursor reads CLAUDE.md, too, and its own rule.
    assert_eq!(answer["totals"]["claude"]["loaded"], 3);
    assert_eq!(
        answer["totals"]["cursor"],
        json!({"loaded": 6, "listed": 4, "delivered": 3, "missing": 0})
    );
    // What is delivered to the client is what `context` says.
    let context = project.run(&["context", "src/a.py", "--client", "claude", "--json"]).json();
    let totals = &answer["totals"]["claude"];
    let sum = totals["delivered"].as_u64().unwrap() + totals["listed"].as_u64().unwrap();
    assert_eq!(context["tokens"], sum);
}

/// N05: without a client, `why` says how the clients of the project get each item.
#[test]
fn why_answers_for_the_clients_of_the_project() {
    let project = with_brief_on_path(mixed());
    set_up(&project, &["hook", "install", "claude"]);
    insta::assert_snapshot!(project.run(&["why", "src/a.py"]), @"
    src/a.py

    + applies  AGENTS.yaml:2
               match `**/*.py` covers src/a.py
               claude: delivered; cursor: missing (no hook)
               > Use integers.

    + applies  CLAUDE.md:1  project, always
               CLAUDE.md applies to everything below it
               claude, cursor: loaded
               > Be brief.

    ? listed   .context/incident.md:5  workspace, agent
               trigger is agent: listed by its description
               claude: listed; cursor: missing (no hook)
               > Stay calm.

    + applies  .cursor/rules/tests.mdc:4  project, always
               `alwaysApply` is true
               claude: delivered; cursor: loaded
               > Test first.
    [EOF]
    ");
}

/// U03, U70: what the client loads by itself is no `out`, in words; in JSON it stays where it was.
#[test]
fn what_a_client_loads_has_a_state_of_its_own() {
    insta::assert_snapshot!(mixed().run(&["why", "src/a.py", "--client", "claude"]), @"
    src/a.py, for claude

    + applies  AGENTS.yaml:2
               match `**/*.py` covers src/a.py
               claude: missing (no hook)
               > Use integers.

    = loaded   CLAUDE.md:1
               claude loads it by itself
               > Be brief.

    ? listed   .context/incident.md:5  workspace, agent
               trigger is agent: listed by its description
               claude: missing (no hook)
               > Stay calm.

    + applies  .cursor/rules/tests.mdc:4  project, always
               `alwaysApply` is true
               claude: missing (no hook)
               > Test first.
    [EOF]
    ");
    let json = mixed().run(&["why", "src/a.py", "--client", "claude", "--json"]).json();
    let left_out = json["skipped"].as_array().unwrap();
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

    listed: the agent reads it on demand
      incident: When it burns (read .context/incident.md)

    manual: only when mentioned
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

/// N35: what Cursor and `lint` accept is no warning.
#[test]
fn a_bare_pattern_of_cursor_is_no_problem() {
    let rule = "---\ndescription: Use: this\nglobs: **/*.ts\nalwaysApply: false\n---\nTypes.\n";
    let project = project().with_dir(".git").with_file(".cursor/rules/types.mdc", rule);
    let output = project.run(&["show", "a.ts", "cursor"]);
    assert!(!output.stderr.contains("YAML"), "{output}");
    assert!(output.stdout.contains("loaded"), "{output}");
}
