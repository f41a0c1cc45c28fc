//! Agent files by their names: made, found, checked, and their commands.

use crate::project;

/// Everything after the name of a command is its arguments, also what looks like a flag of ours; an agent is found by the
/// name that `agent list` knows.
#[test]
fn an_agent_is_found_by_name_and_its_command_gets_all_arguments() {
    let text = "---\ncommands:\n  - name: say\n    description: D\n    body: Say $ARGUMENTS.\n---\n# T\nD.\n\n## System\n\nS.\n";
    let project = project()
        .with_file("agents/dev_notes.agent.md", text)
        .with_file("agents/ops_notes.agent.md", text)
        .with_file("agents/dev_alone.agent.md", text);
    for flag in ["--help", "-h", "-q", "-C", "--json", "--no-pager", "--", "x"] {
        let output = project.run(&["debug", "command", "alone", "say", flag, "y"]);
        assert_eq!(output.stdout, format!("Say {flag} y.\n"), "{output}");
    }
    assert_eq!(project.run(&["debug", "command", "dev_notes", "say", "x"]).stdout, "Say x.\n");
    let output = project.run(&["debug", "command", "notes", "say", "x"]);
    assert!(
        output.stderr.contains("agents/dev_notes.agent.md` or `agents/ops_notes.agent.md"),
        "{output}"
    );
    let output = project.run(&["show", "dev_note"]);
    assert!(output.stderr.contains("did you mean `dev_notes`?"), "{output}");
}

/// A new agent file passes every gate as it stands; what its author has to write is a warning (N28). `check` takes names,
/// and without any it checks all agents of the project.
#[test]
fn a_new_agent_passes_every_gate() {
    let project = project().with_dir(".git");
    let output = project.run(&["new", "dev_notes"]);
    assert_eq!((output.stdout.as_str(), output.code), ("agents/dev_notes.agent.md\n", Some(0)));
    assert!(
        output.stderr.contains("brief agent check --preflight agents/dev_notes.agent.md"),
        "{output}"
    );
    let checked = project.run(&["check", "--json"]).json();
    let found = checked["diagnostics"].as_array().unwrap();
    let codes: Vec<&str> = found.iter().map(|one| one["code"].as_str().unwrap()).collect();
    assert_eq!((codes, &checked["files"]), (vec!["agent-file/placeholder"], &1.into()));
    assert_eq!(project.run(&["check", "notes", "--strict"]).code, Some(1));
    assert_eq!(project.spawn(&["check", "--preflight", "dev_notes"]).code, Some(0));
    let called = project.spawn(&["debug", "call", "notes", "count_words", "{\"text\": \"a b\"}"]);
    assert_eq!(called.stdout, "2\n", "{called}");
    let output = project.run(&["debug", "command", "notes", "shorten", "a.md"]);
    assert_eq!(output.stdout, "Say what a.md says in three sentences.\n");
    let again = project.run(&["new", "dev_notes"]);
    assert!(again.stderr.contains("already exists") && again.code == Some(1), "{again}");
    for name in ["notes", "Dev_notes", "dev_", "_notes", "../dev_x", "dev x_y"] {
        let output = project.run(&["new", name]);
        assert_eq!(output.code, Some(2), "{name}: {output}");
        assert!(output.stderr.contains("hint: write a category and a name"), "{output}");
    }
    let none = crate::project().run(&["check"]);
    assert!(none.stderr.contains("no agent files"), "{none}");
}

/// A missing argument is the same mistake in `command` as in `run`: exit code 2.
#[test]
fn a_missing_argument_is_a_mistake_of_usage() {
    let text = "---\ncommands:\n  - name: say\n    description: D\n    body: Say $1.\n---\n# T\nD.\n\n## System\n\nS.\n";
    let project = project().with_file("agents/dev_t.agent.md", text);
    assert_eq!(project.run(&["debug", "command", "dev_t", "say"]).code, Some(2));
}

/// An ability that the file allows is not a denied one.
#[test]
fn abilities_say_who_has_to_act() {
    let text = "---\nabilities:\n  allow: [tool, fs]\n---\n# T\nD.\n\n## System\n\nS.\n";
    let project = project().with_file("agents/dev_t.agent.md", text);
    let output = project.run(&["debug", "abilities", "dev_t"]);
    assert!(
        output.stdout.contains("fs: no: allowed by the file, but not granted (`--grant fs`)"),
        "{output}"
    );
    assert!(output.stdout.contains("network: no: the file does not allow it"), "{output}");
    let output = project.run(&["debug", "abilities", "dev_t", "--grant", "fs"]);
    assert!(output.stdout.contains("fs: yes"), "{output}");
}
