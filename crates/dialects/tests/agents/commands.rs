//! Commands: section 3 of the checklist.

use std::path::Path;

use brief_dialects::agents::{
    Agent, AgentOptions, CommandOrigin, Fetched, InvokeError, Loaded, RemoteState, load_agent,
};
use brief_syntax::Severity;
use brief_system::MemorySystem;
use brief_system::hash::sha256;

use super::support::{
    PATH, agent, errors, findings, headed, loaded_from, of_severity, warnings, with_agent,
};

fn command(body: &str) -> Agent {
    agent(&format!(
        "---\ncommands:\n  - name: c\n    description: d\n    body: |-\n      {body}\n---\n# T\n"
    ))
}

fn invoke(body: &str, arguments: &[&str]) -> Result<String, InvokeError> {
    let arguments: Vec<String> = arguments.iter().map(|&text| text.to_owned()).collect();
    command(body).find_command("C").unwrap().invoke(&arguments)
}

fn with_commands(entries: &str) -> MemorySystem {
    with_agent(&headed(&format!("commands: [{entries}]")))
}

fn names(loaded: &Loaded) -> Vec<&str> {
    let agent = loaded.agent().unwrap_or_else(|| panic!("{:?}", findings(loaded)));
    agent.commands.iter().map(|command| command.name.as_str()).collect()
}

/// A30, Y37: a list of paths, addresses and commands.
#[test]
fn commands_are_a_list() {
    assert!(agent(&headed("commands: []")).commands.is_empty());
    for (header, code) in [
        ("commands: hello", "2 wrong-type"),
        ("commands: {name: c}", "2 wrong-type"),
        ("commands: [[a]]", "2 wrong-type"),
        ("commands: ['']", "2 wrong-type"),
        ("commands: [~]", "2 wrong-type"),
        ("commands: ['file:///etc/passwd']", "2 command-path"),
    ] {
        assert_eq!(errors(&headed(header)), [code], "{header}");
    }
}

/// A31: name, description and body are required, and each that is missing is told.
#[test]
fn an_inline_command_has_three_fields() {
    let found = |entry: &str| {
        let loaded = loaded_from(&with_commands(entry), PATH);
        findings(&loaded)
    };
    assert_eq!(
        found("{argument-hint: x}"),
        ["body", "description", "name"]
            .map(|field| format!("2 command-field entry 1 of `commands` has no `{field}`"))
    );
    assert_eq!(
        found("{name: n, description: d, body: ' '}"),
        ["2 command-field the command `n` has no `body`"]
    );
}

/// A32: a hint is a text or a list.
#[test]
fn a_hint_is_a_text_or_a_list() {
    let hints = |hint: &str| {
        let entry = format!("{{name: c, description: d, body: b, argument-hint: {hint}}}");
        let loaded = loaded_from(&with_commands(&entry), PATH);
        let agent = loaded.agent().unwrap();
        agent.commands[0].hint.argument_names().join("|")
    };
    assert_eq!(hints("[a, b]"), "a|b");
    assert_eq!(hints("'[a] [b]'"), "a|b");
    assert_eq!(hints("~"), "");
    assert_eq!(
        errors(&headed("commands: [{name: c, description: d, body: b, argument-hint: {a: b}}]")),
        ["2 wrong-type"]
    );
}

/// A33, A34, A36, A37: positions, all of them, more than needed, none at all.
#[test]
fn arguments_are_put_in() {
    assert_eq!(
        invoke("Test $1 with $2, again $1.", &["a", "b", "extra"]).unwrap(),
        "Test a with b, again a."
    );
    assert_eq!(invoke("All: $ARGUMENTS.", &["a", "b c", "d"]).unwrap(), "All: a b c d.");
    assert_eq!(invoke("All: $ARGUMENTS.", &[]).unwrap(), "All: .");
}

/// A35: a position that was not given is named, and so are all others.
#[test]
fn a_missing_argument_is_named() {
    let error = invoke("$2 $1 $10 $2 $99999999999999999999", &["a"]).unwrap_err();
    assert_eq!(error.to_string(), "the command `c` needs `$2`, `$10`, `$99999999999999999999`");
}

/// Y40: what is a position and what is text.
#[test]
fn positions_are_read_to_their_end() {
    let many: Vec<&str> = vec!["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    for (body, expected) in [
        ("$10", "j"),
        ("$0", "$0"),
        ("$01", "$01"),
        ("$1st", "ast"),
        ("${1}", "${1}"),
        ("$$1", "$a"),
        ("$ARGUMENTSX", "$ARGUMENTSX"),
        ("$ARGUMENTS_", "$ARGUMENTS_"),
        ("$ARGUMENTS-", "a b c d e f g h i j-"),
        ("$arguments $", "$arguments $"),
        ("é$1é", "éaé"),
    ] {
        assert_eq!(invoke(body, &many).unwrap(), expected, "{body}");
    }
}

/// Y40: a text that asks for more than its hint offers is warned of.
#[test]
fn a_hint_that_is_too_short_is_warned_of() {
    let with = |hint: &str, body: &str| {
        headed(&format!(
            "commands: [{{name: c, description: d, body: {body}, argument-hint: {hint}}}]"
        ))
    };
    assert_eq!(warnings(&with("'[a]'", "$1 costs $5")), ["2 argument-hint"]);
    assert_eq!(warnings(&with("'[a] [b]'", "$1 $2")), [""; 0]);
    assert_eq!(warnings(&with("~", "$5")), [""; 0]);
}

/// Y11, Y41: values are put in once, and no text of a command is a template.
#[test]
fn values_are_never_read_again() {
    assert_eq!(
        invoke("$1 $2", &["$2", "{{input}} $ARGUMENTS"]).unwrap(),
        "$2 {{input}} $ARGUMENTS"
    );
    assert_eq!(
        invoke("Hello {{customer_name}}, $1", &["x"]).unwrap(),
        "Hello {{customer_name}}, x"
    );
}

/// A text that would outgrow memory is refused.
#[test]
fn a_text_has_a_limit() {
    let body = "$1".repeat(1_000);
    let argument = "x".repeat(1024 * 1024);
    let error = invoke(&body, &[&argument]).unwrap_err();
    assert!(matches!(error, InvokeError::TooLong { .. }), "{error}");
}

/// Y35: paths start at the agent; a folder is its `*.md`, sorted, and nothing below it.
#[test]
fn files_and_folders_are_commands() {
    let system = with_commands("./commands, other/deep.md, ../top.md")
        .with_file(
            "agents/commands/b.md",
            "---\ndescription: from header\nargument-hint: [x] [y]\n---\nB $1\n",
        )
        .with_file("agents/commands/a.md", "# Head\n\nfirst *line*\n\nmore\n")
        .with_file("agents/commands/sub/c.md", "C")
        .with_file("agents/commands/.hidden.md", "H")
        .with_file("agents/commands/notes.txt", "N")
        .with_file("agents/other/deep.md", "D")
        .with_file("top.md", "T");
    let loaded = loaded_from(&system, PATH);
    assert_eq!(names(&loaded), ["a", "b", "deep", "top"]);
    let agent = loaded.agent().unwrap();
    assert_eq!(agent.commands[0].description, "first line");
    assert_eq!(agent.commands[0].body, "# Head\n\nfirst *line*\n\nmore");
    assert_eq!(agent.commands[1].description, "from header");
    assert_eq!(agent.commands[1].hint.argument_names(), ["x", "y"]);
    assert_eq!(agent.commands[1].invoke(&["z".to_owned()]).unwrap(), "B z");
    let path = Path::new("/p/agents/commands/b.md").to_owned();
    assert_eq!(agent.commands[1].origin, CommandOrigin::File(path));
}

/// Y35, G6, G10: what cannot be read, leads out or holds secrets is an error.
#[test]
fn a_path_leads_to_a_file_of_the_project() {
    for (entry, words) in [
        ("./nope.md", "cannot read the command `./nope.md`: does not exist"),
        ("nope", "cannot read the command `nope`: does not exist"),
        ("/etc/passwd.md", "is outside the project"),
        ("../../etc/passwd.md", "is outside the project"),
        ("link.md", "is outside the project"),
        (".env", "never reads"),
        ("pipe.md", "is not a regular file"),
        ("'~/x.md'", "cannot read"),
        ("linked", "is a symbolic link that leaves the project"),
    ] {
        let system = with_commands(entry)
            .with_file("/etc/passwd.md", "secret")
            .with_file("agents/.env", "secret")
            .with_link("agents/link.md", "/etc/passwd.md")
            .with_link("agents/linked/l.md", "/etc/passwd.md")
            .with_fifo("agents/pipe.md");
        let loaded = loaded_from(&system, PATH);
        assert_eq!(of_severity(&loaded, Severity::Error), ["2 command-path"], "{entry}");
        assert!(findings(&loaded)[0].contains(words), "{entry}: {:?}", findings(&loaded));
    }
}

/// A file is read as tolerantly as everywhere, but an empty one is no command.
#[test]
fn a_file_of_a_command_has_a_text() {
    let system = with_commands("c.md").with_file("agents/c.md", "---\ndescription: d\n---\n\n");
    let loaded = loaded_from(&system, PATH);
    assert_eq!(of_severity(&loaded, Severity::Error), ["4 command-field"]);
    assert_eq!(loaded.diagnostics()[0].path(), Path::new("/p/agents/c.md"));
}

/// Without a project, the directory above `agents` is the border.
#[test]
fn an_agent_without_a_project_has_its_surroundings() {
    let header = headed("commands: [../inside.md]");
    let system = with_agent(&header)
        .with_file("/other/agents/dev_y.agent.md", &header)
        .with_file("/other/inside.md", "I")
        .with_file("/q/dev_z.agent.md", &header)
        .with_file("/inside.md", "I");
    assert_eq!(names(&loaded_from(&system, "/other/agents/dev_y.agent.md")), ["inside"]);
    let outside = loaded_from(&system, "/q/dev_z.agent.md");
    assert_eq!(of_severity(&outside, Severity::Error), ["2 command-path"]);
}

/// Y36: never fetched, but named; counted when it is handed in and is what was recorded.
#[test]
fn remote_commands_are_named_and_never_fetched() {
    let url = "https://example.com/commands/test.md";
    let entries = format!("'{url}', 'https://example.com/all/', 'http://example.com/x.md'");
    let system = with_commands(&entries);
    let loaded = loaded_from(&system, PATH);
    let agent = loaded.agent().unwrap();
    let urls: Vec<&str> = agent.unresolved.iter().map(|remote| remote.url.as_str()).collect();
    assert_eq!(urls, [url, "https://example.com/all/", "http://example.com/x.md"]);
    assert_eq!(of_severity(&loaded, Severity::Warning), ["2 command-remote-unresolved"; 3]);
    let mut fetched = Fetched {
        entry: url.to_owned(),
        url: url.to_owned(),
        sha256: sha256(b"Do $1"),
        bytes: b"Do $1".to_vec(),
        state: RemoteState::Fetched,
    };
    let with = |fetched: &Fetched| {
        let options = AgentOptions { root: None, fetched: std::slice::from_ref(fetched) };
        load_agent(&system, Path::new(PATH), &options)
    };
    assert_eq!(names(&with(&fetched)), ["test"]);
    // A file of a folder has its own address.
    fetched.entry = "https://example.com/all/".to_owned();
    fetched.url = "https://example.com/all/two%20words.md".to_owned();
    let loaded = with(&fetched);
    assert_eq!(names(&loaded), ["two words"]);
    let unresolved: Vec<&str> =
        loaded.agent().unwrap().unresolved.iter().map(|remote| remote.url.as_str()).collect();
    assert_eq!(unresolved, [url, "http://example.com/x.md"]);
    fetched.bytes.push(b'!');
    let changed = with(&fetched);
    assert_eq!(of_severity(&changed, Severity::Error), ["2 command-remote-changed"]);
}

/// Y38: two commands of one name, in any case and from anywhere, are an error.
#[test]
fn a_command_has_a_name_of_its_own() {
    let inline = "{name: Test, description: d, body: a}";
    let system = with_commands(&format!("{inline}, test.md")).with_file("agents/test.md", "T");
    assert_eq!(of_severity(&loaded_from(&system, PATH), Severity::Error), ["2 command-duplicate"]);
}

/// Limits are visible.
#[test]
fn the_number_of_commands_has_a_limit() {
    let many = vec!["{name: a, description: d, body: b}"; 1_001].join(", ");
    let loaded = loaded_from(&with_commands(&many), PATH);
    assert!(of_severity(&loaded, Severity::Error).contains(&"2 too-many-commands".to_owned()));
    let mut system = with_commands("./many");
    for number in 0..1_001 {
        system = system.with_file(&format!("agents/many/c{number}.md"), "x");
    }
    let loaded = loaded_from(&system, PATH);
    assert_eq!(of_severity(&loaded, Severity::Error), ["2 too-many-commands"]);
}
