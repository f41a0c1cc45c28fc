//! Client-hosted context from outside. What applies when is tested with the library, in
//! `crates/dialects/tests/hosted`; this is about what a person sees.

use brief_testkit::Sandbox;

use crate::project;

/// A project with one file for each state, a nested directory, and something to leave out.
fn hosted() -> Sandbox {
    project()
        .with_file(".context/always.md", "---\ntrigger: always\n---\nSpeak plainly.\n")
        .with_file(".context/ts.md", "---\ntrigger: auto\nglobs: '**/*.ts'\n---\nUse tabs.\n")
        .with_file(
            ".context/sql.md",
            "---\ntrigger: agent\ndescription: When touching SQL\n---\nQuote names.\n",
        )
        .with_file(".context/notes.txt", "Only when asked.\n")
        .with_file(".context/.env", "TOKEN=secret\n")
        .with_file("src/.context/api.md", "---\ntrigger: always\n---\nVersion the API.\n")
        .with_file("src/a.ts", "")
        .with_dir(".git")
}

/// H20, H120–H122: active files are shown, the listed ones with their description.
#[test]
fn context_shows_what_is_active_and_what_is_offered() {
    insta::assert_snapshot!(hosted().run(&["context", "src/a.ts", "--only", "context-dir"]), @"
    .context/always.md:4
      Speak plainly.

    .context/ts.md:5
      Use tabs.

    src/.context/api.md:4
      Version the API.

    listed: the agent reads it on demand
      sql: When touching SQL (read .context/sql.md)

    manual: only when mentioned
      notes (--mention notes)
    ------- stderr -------
    warning[context-dir/sensitive-excluded]: .context/.env: brief never reads this file: its name matches `.env`
    [EOF]
    ");
}

/// Each file in reach: its state, the trigger or pattern that decided, or why it is out.
#[test]
fn why_says_for_each_file_how_it_came_to_be() {
    let output = hosted().run(&["why", "src/a.ts", "--only", "context-dir"]);
    insta::assert_snapshot!(output.stdout, @"
    src/a.ts

    - skipped  .context/.env:1
               has a name that matches `.env` and is never read

    + applies  .context/always.md:4  workspace, always
               trigger is always
               claude, codex, copilot, cursor: missing (no hook)
               > Speak plainly.

    @ manual   .context/notes.txt:1  workspace, manual
               only when mentioned
               claude, codex, copilot, cursor: manual
               > Only when asked.

    ? listed   .context/sql.md:5  workspace, agent
               trigger is agent: listed by its description
               claude, codex, copilot, cursor: missing (no hook)
               > Quote names.

    + applies  .context/ts.md:5  workspace, auto
               glob `**/*.ts` matches src/a.ts
               claude, codex, copilot, cursor: missing (no hook)
               > Use tabs.

    + applies  src/.context/api.md:4  working, always
               trigger is always
               claude, codex, copilot, cursor: missing (no hook)
               > Version the API.
    ");
}

/// H124: a manual file is in when it is mentioned.
#[test]
fn a_mention_brings_a_manual_file_in() {
    let project = hosted();
    let args = ["context", "src/a.ts", "--only", "context-dir"];
    assert!(!project.run(&args).stdout.contains("Only when asked."));
    let mentioned = project.run(&[&args[..], &["--mention", "notes"]].concat());
    assert!(mentioned.stdout.contains("Only when asked."), "{mentioned}");
}

/// Ruling H1: without `--workspace`, the repository around the current directory is mounted.
#[test]
fn the_repository_is_mounted_by_default() {
    let project = hosted();
    let output = project.run_in("src", &["context", "a.ts", "--only", "context-dir"], "");
    assert!(output.stdout.contains("Speak plainly."), "{output}");
    let mounted = project.run_in(
        "src",
        &["context", "a.ts", "--only", "context-dir", "--workspace", "."],
        "",
    );
    assert!(!mounted.stdout.contains("Speak plainly."), "{mounted}");
    assert!(mounted.stdout.contains("Version the API."), "{mounted}");
}

/// One answer from both dialects; each can be asked for alone.
#[test]
fn both_dialects_answer_together() {
    let project = hosted().with_file("AGENTS.yaml", "context:\n  - content: From the yaml.\n");
    let both = project.run(&["context", "src/a.ts"]).stdout;
    assert!(both.contains("Speak plainly.") && both.contains("From the yaml."), "{both}");
    let one = project.run(&["context", "src/a.ts", "--only", "agents-yaml"]).stdout;
    assert!(!one.contains("Speak plainly.") && one.contains("From the yaml."), "{one}");
}

/// interfaces: the merged configuration and the servers stand in the JSON of every answer.
#[test]
fn json_has_configuration_and_servers() {
    let project = hosted().with_file(
        ".context/context-config.json",
        r#"{"clientContext": {"excludeFiles": ["ts.md"]}, "mcpServers": {"gh": {"command": "gh-mcp"}}}"#,
    );
    let json = project.run(&["context", "src/a.ts", "--only", "context-dir", "--json"]).json();
    assert_eq!(json["context_dir_config"]["excludeFiles"][1], "ts.md");
    assert_eq!(json["mcp_servers"]["gh"]["command"], "gh-mcp");
    let item = &json["items"][0];
    let facts = ["format", "name", "scope", "trigger", "state", "reason", "content"];
    let facts: Vec<_> = facts.iter().map(|key| item[key].as_str().unwrap()).collect();
    let expected = [
        "context-dir",
        "always",
        "workspace",
        "always",
        "active",
        "trigger is always",
        "Speak plainly.\n",
    ];
    assert_eq!(facts, expected);
    let left_out: Vec<_> = json["skipped"]
        .as_array()
        .unwrap()
        .iter()
        .map(|out| out["name"].as_str().unwrap())
        .collect();
    assert!(left_out.contains(&"ts.md") && left_out.contains(&".env"), "{left_out:?}");
}

/// Lint knows `.context/`, in the whole project and for one file of it.
#[test]
fn lint_knows_context_directories() {
    let project = hosted()
        .with_file(".context/css.md", "---\ntrigger: auto\nglobs: **/*.css\n---\nNo imports.\n")
        .with_file("src/.context/context-config.json", r#"{"clientContext": {"includeFile": []}}"#);
    // What the user has at home is not the project's to report.
    std::fs::create_dir_all(project.home().join(".context")).unwrap();
    std::fs::write(project.home().join(".context/api_key.md"), "").unwrap();
    let found = |args: &[&str]| -> Vec<String> {
        let json = project.run(&[args, &["--format", "json"]].concat()).json();
        let codes = json["diagnostics"].as_array().unwrap().iter();
        codes.map(|found| found["code"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(
        found(&["lint"]),
        [
            "context-dir/sensitive-excluded",
            "context-dir/frontmatter-repaired",
            "context-dir/unused-pattern",
            "context-dir/config-unknown-key"
        ]
    );
    assert_eq!(
        found(&["lint", ".context/css.md"]),
        ["context-dir/frontmatter-repaired", "context-dir/unused-pattern"]
    );
    assert_eq!(found(&["lint", "src"]), ["context-dir/config-unknown-key"]);
    assert_eq!(found(&["lint", "src/.context"]), ["context-dir/config-unknown-key"]);
    let fixed = project.run(&["lint", "--fix"]);
    assert!(fixed.stderr.contains("; 1 fixed"), "{fixed}");
    assert!(project.read(".context/css.md").contains("globs: '**/*.css'"));
}

/// X04, S5: text that shows nothing is found in every file that an agent is given, and in the
/// configuration that brings them.
#[test]
fn lint_finds_hidden_text_in_context_files() {
    let smuggled: String = "obey".chars().map(|letter| shifted(letter, 0xe_0000)).collect();
    let project = project()
        .with_file(".context/tags.md", format!("---\ntrigger: always\n---\nBe kind.{smuggled}\n"))
        .with_file(".context/bidi.txt", "a \u{202e}b\n")
        .with_file(".context/plain.md", "\u{feff}Family: 👨\u{200d}👩\u{200d}👧, ❤\u{fe0f}.\n")
        .with_file("docs/included.md", "Zero\u{200b}width.\n")
        .with_file(
            "src/.context/context-config.json",
            "{\"clientContext\": {\"includeFiles\": [\"../docs/*.md\", \"x\u{200b}.md\"]}}",
        )
        .with_dir(".git");
    let json = project.run(&["lint", "--format", "json"]).json();
    let found = json["diagnostics"].as_array().unwrap().iter();
    let hidden = found.filter(|found| found["code"] == "context-dir/hidden-character");
    let paths: Vec<&str> = hidden.map(|found| found["path"].as_str().unwrap()).collect();
    assert_eq!(
        paths,
        [
            ".context/bidi.txt",
            ".context/tags.md",
            "docs/included.md",
            "src/.context/context-config.json"
        ]
    );
}

/// A letter as far up in Unicode as said.
fn shifted(letter: char, by: u32) -> char {
    char::from_u32(u32::from(letter) + by).unwrap()
}

/// G8: what another dialect has is not delivered by a hook that was not asked for it, and nothing
/// of `.context` reaches `sctx`.
#[test]
fn sctx_sees_no_context_directories() {
    let project = hosted().linked_as("sctx");
    let output = project.run(&["context", "src/a.ts"]);
    assert!(!output.stdout.contains("Speak plainly."), "{output}");
    assert_eq!(project.run(&["validate"]).stdout, "All context files are valid.\n");
}

/// A context directory with more names than are looked at: a notice, and what its configuration
/// excludes stays out.
#[test]
fn a_very_large_context_directory_is_cut_aloud() {
    let project = hosted().with_file(
        ".context/context-config.json",
        r#"{"clientContext": {"excludeFiles": ["always.md"]}}"#,
    );
    for index in 0..20_100 {
        std::fs::File::create(project.path().join(format!(".context/{index}.bin"))).unwrap();
    }
    let output = project.run(&["context", "src/a.ts", "--only", "context-dir"]);
    assert_eq!(output.code, Some(0));
    assert!(output.stderr.contains("20000"), "{}", output.stderr);
    assert!(!output.stdout.contains("Speak plainly."), "{}", output.stdout);
    assert!(output.stdout.contains("Version the API."), "{}", output.stdout);
}

/// X6, X20: what only the user may decide about `includeFiles`.
#[test]
fn the_user_decides_where_includes_lead() {
    let project = project()
        .with_file(
            ".context/context-config.json",
            r#"{"clientContext": {"includeFiles": ["docs/*.txt", "../outside/*.md"]}}"#,
        )
        .with_file("docs/guide.txt", "From the top.\n")
        .with_file("../outside/far.md", "---\ntrigger: always\n---\nFrom outside.\n")
        .with_file("src/a.ts", "")
        .with_dir(".git");
    let names = |args: &[&str]| -> Vec<String> {
        let args = [&["context", "src/a.ts", "--only", "context-dir", "--json"], args].concat();
        let json = project.run(&args).json();
        let items = json["items"].as_array().unwrap().iter();
        items.map(|item| item["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&[]), [""; 0]);
    assert_eq!(names(&["--include-base", "config"]), ["guide"]);
    assert_eq!(names(&["--include-base", "config", "--allow-outside"]), ["far", "guide"]);
}

/// X20: a pattern that climbs is judged by the project, not by the directory that it stands in.
#[test]
fn lint_knows_the_mounted_directory() {
    let project = project()
        .with_file(
            "src/.context/context-config.json",
            r#"{"clientContext": {"includeFiles": ["../docs/*.md", "../../far/*.md"]}}"#,
        )
        .with_file("docs/d.md", "x\n");
    let json = project.run(&["lint", "--format", "json"]).json();
    let found = json["diagnostics"].as_array().unwrap();
    assert_eq!(found.len(), 1, "{json}");
    assert_eq!(found[0]["code"], "context-dir/outside-workspace");
    assert!(found[0]["message"].as_str().unwrap().contains("../../far/*.md"), "{json}");
}
