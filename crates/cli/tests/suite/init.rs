//! `brief init`

use std::fs;

use crate::project;

const MONEY: &str = "---\nschema: 1\nname: money\ndescription: Use when counting\nlicense: MIT\n---\n\n## Money\n\nCount twice.\n";

/// The file is written, says what to do next, and is delivered.
#[test]
fn init_writes_a_file_to_start_from() {
    let project = project();
    insta::assert_snapshot!(project.run(&["init"]), @"
    ------- stderr -------
    wrote AGENTS.yaml
    hint: edit it, then run `brief why README.md`
    [EOF]
    ");
    insta::assert_snapshot!(project.run(&["context", "a.py", "--on", "edit"]), @"
    AGENTS.yaml:6
      Run the tests before you say that something works.
    [EOF]
    ");
}

/// The files of `init` pass `lint`, also strictly and in a directory that held nothing.
#[test]
fn the_starter_passes_lint() {
    let empty = project();
    assert_eq!(empty.run(&["init"]).code, Some(0));
    insta::assert_snapshot!(empty.run(&["lint", "--strict"]), @"
    ------- stderr -------
    No problems in 1 file
    [EOF]
    ");
    let project = project().with_file(".claude/settings.json", "{}\n").with_dir(".cursor/rules");
    assert_eq!(project.run(&["init"]).code, Some(0));
    let output = project.run(&["lint", "--strict"]);
    assert_eq!(output.code, Some(0), "{output}");
}

/// `init` says which clients the project uses, `brief.toml` keeps them, and `add` and `build` write for them, whatever
/// becomes of the first source.
#[test]
fn init_finds_the_clients_in_use() {
    let project = project()
        .with_file(".claude/settings.json", "{}\n")
        .with_file(".cursor/rules/own.mdc", "---\nalwaysApply: true\n---\n\nMine.\n")
        .with_file("rules/money/RULE.md", MONEY);
    fs::create_dir_all(project.home().join(".codex")).unwrap();
    insta::assert_snapshot!(project.run(&["init"]), @"
    ------- stderr -------
    clients: claude, cursor (found .claude, .cursor); `install.clients` in brief.toml lists them
    wrote brief.toml, AGENTS.yaml
    hint: edit it: every entry is a comment, because the project already has guidance, such as .cursor/rules/own.mdc
    hint: then run `brief why README.md`
    [EOF]
    ");
    let manifest = "[install]\nclients = [\"claude\", \"cursor\"] # init found: .claude, .cursor\n";
    assert_eq!(project.read("brief.toml"), manifest);
    let built = project.run(&["registry", "build"]);
    assert_eq!(built.code, Some(0), "{built}");
    assert!(project.path().join("dist/.claude/rules/money.md").exists());
    assert!(project.path().join("dist/.cursor/rules/money.mdc").exists());
    assert!(!project.path().join("dist/.github").exists());
    assert_eq!(project.run(&["add", "."]).code, Some(0));
    assert!(project.path().join(".cursor/rules/money.mdc").exists());
    assert!(!project.path().join(".github").exists());
    assert!(project.run(&["list"]).stdout.contains("money"));
    let removed = project.run(&["remove", "project"]);
    assert_eq!(removed.code, Some(0), "{removed}");
    assert_eq!(project.read("brief.toml"), manifest);
}

/// In a project without files of clients, those of the user's machine count.
#[test]
fn init_finds_the_clients_of_the_machine() {
    let project = project();
    for directory in [".codex", ".claude"] {
        fs::create_dir_all(project.home().join(directory)).unwrap();
    }
    let json = project.run(&["init", "--json"]).json();
    assert_eq!(json["created"], serde_json::json!(["brief.toml", "AGENTS.yaml"]));
    assert_eq!(json["updated"], serde_json::json!([]));
    assert_eq!(json["clients"], serde_json::json!(["claude", "codex"]));
    assert_eq!(
        project.read("brief.toml"),
        "[install]\nclients = [\"claude\", \"codex\"] # init found: ~/.claude, ~/.codex\n"
    );
}

/// Clients that the project has chosen stay; so does everything else in its `brief.toml`.
#[test]
fn init_keeps_what_brief_toml_says() {
    for text in [
        "# ours\n[install]\nclients = [\"codex\"]\n",
        "[sources.a]\ndirectory = \"a\"\nall = true\n",
    ] {
        let project = project().with_dir(".claude").with_dir("a").with_file("brief.toml", text);
        let output = project.run(&["init"]);
        assert_eq!((output.code, project.read("brief.toml").as_str()), (Some(0), text), "{output}");
        assert!(project.path().join("AGENTS.yaml").exists());
    }
    let text = "# ours\n[build]\nout = \"out\" # there\n";
    let built = project().with_dir(".claude").with_file("brief.toml", text);
    let json = built.run(&["init", "--json"]).json();
    assert_eq!(json["created"], serde_json::json!(["AGENTS.yaml"]));
    assert_eq!(json["updated"], serde_json::json!(["brief.toml"]));
    let added = "\n[install]\nclients = [\"claude\"] # init found: .claude\n";
    assert_eq!(built.read("brief.toml"), format!("{text}{added}"));

    let project = project().with_dir(".claude").with_file("brief.toml", "[build\n");
    let output = project.run(&["init"]);
    assert_eq!((output.code, project.read("brief.toml").as_str()), (Some(2), "[build\n"));
    assert!(!project.path().join("AGENTS.yaml").exists(), "{output}");
}

/// It never overwrites, whichever of the two names is taken, and whatever bears it.
#[test]
fn init_refuses_to_overwrite() {
    for name in ["AGENTS.yaml", "AGENTS.yml"] {
        let project = project().with_file(name, "mine");
        let output = project.run(&["init"]);
        assert_eq!((output.stdout.as_str(), output.code), ("", Some(1)), "{output}");
        assert!(output.stderr.contains(&format!("`{name}` already exists")), "{output}");
        assert_eq!(project.read(name), "mine");
    }
    let project = project().with_dir("AGENTS.yaml");
    insta::assert_snapshot!(project.run(&["init"]), @"
    ------- stderr -------
    error: `AGENTS.yaml` already exists
    hint: run `brief lint` to check it
    [exit status: 1]
    [EOF]
    ");
}

/// A link that leads nowhere is not followed: the file would appear somewhere else.
#[cfg(unix)]
#[test]
fn init_does_not_follow_a_link() {
    let project = project();
    let elsewhere = project.outside_directory().join("target");
    let project = project.with_link("AGENTS.yaml", &elsewhere);
    assert_eq!(project.run(&["init"]).code, Some(1));
    assert!(!elsewhere.exists());
}

/// A wrong call is exit 2.
#[test]
fn a_wrong_call_is_refused() {
    for args in [["init", "x"], ["init", "--force"]] {
        let project = project();
        let output = project.run(&args);
        assert_eq!((output.stdout.as_str(), output.code), ("", Some(2)), "{args:?}");
        assert!(!project.path().join("AGENTS.yaml").exists());
    }
}

/// R20: where there is guidance already, nothing is added to it: the entries are comments until the user wants them.
#[test]
fn beside_other_guidance_the_entries_are_comments() {
    let project = project().with_file("AGENTS.md", "Run `make check`.\n");
    let written = project.run(&["init"]);
    assert_eq!(written.code, Some(0), "{written}");
    assert!(
        written.stderr.contains("because the project already has guidance, such as AGENTS.md"),
        "{written}"
    );
    let context = project.run(&["context", "AGENTS.yaml", "--on", "edit"]);
    assert!(!context.stdout.contains("AGENTS.yaml:"), "{context}");
    let lint = project.run(&["lint", "--strict"]);
    assert_eq!((lint.stdout.as_str(), lint.code), ("", Some(0)), "{lint}");
    // They are whole: without the marks they are the usual starter.
    let marks = project.read("AGENTS.yaml").replace("#\n", "\n");
    assert!(
        marks.contains("\n# context:\n") && marks.contains("\n#   - content: Run the tests"),
        "{marks}"
    );
}

/// N35: "`init` in `$HOME` writes without a word".
#[test]
fn the_home_directory_is_no_project() {
    let project = project();
    let home = project.home();
    let output = project.run(&["-C", home.to_str().unwrap(), "init"]);
    assert_eq!((output.stdout.as_str(), output.code), ("", Some(1)), "{output}");
    assert!(output.stderr.contains("is your home directory, not a project"), "{output}");
    assert!(!home.join("AGENTS.yaml").exists() && !home.join("brief.toml").exists());
    // With a repository in it, it is one.
    fs::create_dir(home.join(".git")).unwrap();
    let output = project.run(&["-C", home.to_str().unwrap(), "init"]);
    assert_eq!(output.code, Some(0), "{output}");
}
