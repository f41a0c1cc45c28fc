//! `brief status --debug`: a block that can be pasted anywhere.

use std::fs;

use brief_testkit::Sandbox;
use brief_testkit::snapshot::{render_item, write_files};

use crate::project;
use crate::sees::with_brief_on_path;

/// Names of this test alone, in every place where a user or a project could be named.
const PRIVATE: [&str; 8] = [
    "secretproj",
    "secretuser",
    "secrethost",
    "secretrule",
    "secretsource",
    "secretitem",
    "secretclient",
    "secretval",
];

fn full_of_secrets() -> Sandbox {
    let project = with_brief_on_path(project().with_dir(".git"))
        .with_file("AGENTS.yaml", "context:\n  - {content: secretrule, mach: [secretval]}\n")
        .with_file("CLAUDE.md", "secretrule\n")
        .with_file("secretproj/AGENTS.md", "[x](secretval.md)\n")
        .with_file(
            "brief.toml",
            "[install]\nclients = [\"claude\"]\n\n[sources.secretsource]\ndirectory = \"../outside/secrethost\"\nall = true\n",
        )
        .with_env("BRIEF_RECEIPTS", "secretval");
    let source = project.outside_directory().join("secrethost");
    write_files(&source, &[("rules/secretitem/RULE.md", &render_item("secretitem", "## One"))]);
    assert_eq!(project.run(&["sync"]).code, Some(0));
    assert_eq!(project.run(&["hook", "install", "claude"]).code, Some(0));
    let config = project.home().join(".config/brief");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("policy.toml"), "[sources]\ndeny = [\"secrethost.example\"]\n").unwrap();
    fs::write(config.join("settings.toml"), "[hook]\nsecretval = 1\n").unwrap();
    fs::write(project.home().join("secretuser"), "").unwrap();
    project.write(".brief/clients/secretclient.toml", "id = 1\n");
    project
}

#[test]
fn the_block_has_nothing_private() {
    let project = full_of_secrets();
    let output = project.run(&["status", "--debug"]);
    assert_eq!(output.code, Some(0), "{output}");
    let all = format!("{}{}", output.stdout, output.stderr);
    for secret in PRIVATE {
        assert!(!all.contains(secret), "{secret}: {output}");
    }
    for path in [project.path(), project.home(), project.outside_directory()] {
        assert!(!all.contains(path.to_str().unwrap()), "{output}");
    }
    for letters in ["/", "~", "@", "://"] {
        // Codes of rules have a slash.
        let is_clean = output
            .stdout
            .lines()
            .filter(|line| !line.starts_with("problems"))
            .all(|line| !line.contains(letters));
        assert!(is_clean, "{letters}: {output}");
    }
    assert!(output.stdout.starts_with("```text\nbrief "), "{output}");
    for part in [
        "project     repository, ",
        "delivery    on",
        "claude      ",
        "policy      1 rule in 1 file",
        "BRIEF_RECEIPTS\n",
    ] {
        assert!(output.stdout.contains(part), "{part}: {output}");
    }
}

/// What is off says by what kind of switch.
#[test]
fn the_block_says_what_is_off() {
    let project = full_of_secrets().with_env("BRIEF_DISABLE", "1");
    let output = project.run(&["status", "--debug"]);
    assert!(output.stdout.contains("delivery    off: BRIEF_DISABLE"), "{output}");
    let bare = crate::project().run(&["status", "--debug"]);
    assert_eq!(bare.code, Some(0), "{bare}");
}
