//! What `brief` asks: another release is refused, and code is parsed and not run.

use serde_json::{Value, json};

use crate::project;

fn release() -> String {
    format!("__release={}", env!("CARGO_PKG_VERSION"))
}

/// Two programs of one release understand each other, and others say so.
#[test]
fn another_release_is_refused() {
    let project = project();
    let output = project.run(&[&release(), "agent", "list"]);
    assert_eq!(output.code, Some(0), "{output}");
    let output = project.run(&["__release=99.0.0", "agent", "list"]);
    assert_eq!((output.stdout.as_str(), output.code), ("", Some(2)), "{output}");
    assert!(
        output.stderr.contains("error: version mismatch: `brief` 99.0.0, `brief-agent`"),
        "{output}"
    );
}

/// The word `agent` may be left out, and the name of a directory is not that word.
#[test]
fn the_command_line_is_that_of_brief_agent() {
    let project = project().with_dir("agent");
    for args in [
        &["list", "--json"][..],
        &["agent", "list", "--json"],
        &["-C", "agent", "list", "--json"],
        &["-C", "agent", "agent", "list", "--json"],
    ] {
        let output = project.run(args);
        assert_eq!((output.json()["kind"].as_str(), output.code), (Some("agent list"), Some(0)));
    }
    let help = project.run(&["run", "--help"]);
    assert!(help.stdout.contains("Usage: brief agent run"), "{help}");
    let wrong = project.run(&["rnu"]);
    assert!(
        wrong.code == Some(2) && wrong.stderr.contains("unrecognized subcommand 'rnu'"),
        "{wrong}"
    );
    let version = project.run(&["--version"]);
    assert_eq!(version.stdout, format!("brief-agent {}\n", env!("CARGO_PKG_VERSION")));
}

/// The places count lines and characters from 1; what runs to no end is parsed in no time.
#[test]
fn code_is_parsed_in_the_order_of_the_question() {
    let texts = json!(["return {};", "const a = ;\nreturn {};", "for (;;) {}\nreturn {};"]);
    let output = project().run_with_input(&[&release(), "__parse"], texts.to_string());
    let answers: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!((&answers[0], &answers[2]), (&json!("valid"), &json!("valid")), "{output}");
    assert_eq!(answers[1]["invalid"]["place"], json!([1, 11]), "{output}");
    assert_eq!(answers.as_array().map(Vec::len), Some(3));
    let wrong = project().run_with_input(&[&release(), "__parse"], "{}");
    assert_eq!(wrong.code, Some(2), "{wrong}");
}

/// Names of isolation features, or none where the kernel has them all.
#[test]
fn missing_fences_are_a_list() {
    let output = project().run(&[&release(), "__fences"]);
    let names: Vec<String> = serde_json::from_str(&output.stdout).unwrap();
    assert!(names.iter().all(|name| !name.is_empty()), "{output}");
    assert_eq!(output.code, Some(0));
}

/// The worker for agents' tools is not a command for users: it talks to its parent only.
#[test]
fn the_worker_is_hidden_and_says_nothing() {
    let output = project().spawn(&["__js-worker"]);
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("", ""));
    assert_eq!(output.code, Some(1));
    let output = project().run(&["-C", ".", "__js-worker"]);
    assert_eq!(output.code, Some(2), "{output}");
    assert!(!project().run(&["--help"]).stdout.contains("worker"));
}
