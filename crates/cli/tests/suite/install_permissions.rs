//! `[permissions]` and `[ignore]` of a project, in the files of its clients.

use serde_json::{Value, json};

use crate::install::{Remote, consumer, files, item, run};

const RULES: &str = "[install]\nclients = [\"claude\", \"cursor\", \"opencode\", \"gemini\"]\n\n[permissions.allow]\nshell = [\"git status\"]\n\n\
                     [permissions.ask]\nshell = [\"git push\"]\n\n[permissions.deny]\nread = [\"**/.env\"]\nweb = [\"*\"]\n\n\
                     [ignore]\npatterns = [\"dist/\", \"*.snap\"]\n";

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Each client gets the rules in its words, beside those of the user, and all of it is taken out again.
#[test]
fn rules_stand_beside_those_of_the_user() {
    let own = "{\n  // mine\n  \"permissions\": {\"allow\": [\"Bash(ls)\"], \"defaultMode\": \"plan\"}\n}\n";
    let project = consumer()
        .with_file(".claude/settings.json", own)
        .with_file(".cursorignore", "node_modules/\n")
        .with_file("opencode.json", "{\n  \"permission\": {\"bash\": {\"rm *\": \"deny\"}}\n}\n");
    let before = files(&project.path());
    let project = project.with_file("brief.toml", RULES);
    let output = run(&project, &["sync"]);
    let claude = project.read(".claude/settings.json");
    assert!(claude.contains("// mine"), "{claude}");
    let claude = parsed(&claude.replace("// mine", ""));
    assert_eq!(
        claude["permissions"],
        json!({
            "allow": ["Bash(ls)", "Bash(git status:*)"],
            "defaultMode": "plan",
            "ask": ["Bash(git push:*)"],
            "deny": ["Read(/**/.env)", "WebFetch"],
        })
    );
    let opencode = parsed(&project.read("opencode.json"));
    assert_eq!(
        opencode["permission"],
        json!({
            "bash": {"rm *": "deny", "git status": "allow", "git status *": "allow", "git push": "ask", "git push *": "ask"},
            "read": {".env": "deny", "*/.env": "deny"},
            "webfetch": "deny",
        })
    );
    assert_eq!(
        parsed(&project.read(".cursor/cli.json")),
        json!({"permissions": {"deny": ["Read(**/.env)"]}})
    );
    assert_eq!(
        parsed(&project.read(".gemini/settings.json")),
        json!({"tools": {"allowed": ["run_shell_command(git status)"], "exclude": ["web_fetch"]}})
    );
    let block = "# brief:import\ndist/\n*.snap\n# /brief:import\n";
    assert_eq!(project.read(".cursorignore"), format!("node_modules/\n\n{block}"));
    assert_eq!(project.read(".geminiignore"), block);
    for told in [
        "Cursor does not get `ask shell git push`, `deny web *`, `allow shell git status`; it may do more than the project allows",
        "Gemini CLI does not get `ask shell git push`, `deny read **/.env`; it may do more",
        "Claude Code does not get `ignored files`; it may do more",
    ] {
        assert!(output.stderr.contains(told), "{told}\n{output}");
    }
    let doctor = project.run(&["doctor"]).to_string();
    for told in [
        "Cursor does not get `allow shell git status`: matches commands only by their first word",
        "Cursor does not get `ask shell git push`: has no list of actions to ask about, so it may do more",
        "Gemini CLI does not get `deny read **/.env`: has no permissions of this kind, so it may do more",
    ] {
        assert!(doctor.contains(told), "{told}\n{doctor}");
    }
    // The second run changes nothing, and the rules are gone with the sections.
    let written = files(&project.path());
    run(&project, &["sync"]);
    assert_eq!(files(&project.path()), written);
    project.write(
        "brief.toml",
        "[install]\nclients = [\"claude\", \"cursor\", \"opencode\", \"gemini\"]\n",
    );
    run(&project, &["sync"]);
    let mut after = files(&project.path());
    after.retain(|path, _| before.contains_key(path));
    assert_eq!(after, before);
    assert!(!project.path().join(".geminiignore").exists());
}

/// A source that has permissions brings none: they are what its own project allows.
#[test]
fn a_source_brings_no_permissions() {
    let project = consumer();
    let remote = Remote::new(&project, "github/acme/rules");
    remote.commit(&[
        ("rules/money/RULE.md", &item("money", "Text.")),
        ("brief.toml", "[permissions.allow]\nshell = [\"*\"]\n"),
        (".claude/settings.json", "{\"permissions\": {\"allow\": [\"Bash\"]}}\n"),
    ]);
    run(&project, &["add", "acme/rules"]);
    assert!(project.path().join(".claude/rules/money.md").exists());
    assert!(!project.path().join(".claude/settings.json").exists());
    assert!(!project.read("brief.toml").contains("permissions"));
}

/// An error in the sections stops everything before a file is written.
#[test]
fn a_wrong_rule_is_an_error() {
    let text = "[permissions.allow]\nshell = [\"git status), Bash(*\"]\n";
    let project = consumer().with_file("brief.toml", text);
    let output = project.run(&["sync"]);
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.to_string().contains("contains a parenthesis or a comma"), "{output}");
    assert!(!project.path().join(".claude").exists());
}
