//! Bad input: a diagnostic with its place, the rest delivered, never a hang, never a panic.

use std::fs;

#[cfg(unix)]
use brief_testkit::Chain;
use brief_testkit::{Output, Sandbox};
use serde_json::json;

use crate::project;

/// A project with a good file at the top and another one two directories below.
fn good() -> Sandbox {
    project()
        .with_file("AGENTS.yaml", "context:\n  - content: GOOD-TOP\n")
        .with_file("bad/in/AGENTS.yaml", "context:\n  - content: GOOD-BELOW\n")
}

/// Asks about a file below `bad`, in every way there is, and checks that the good entries are
/// delivered, and that `place` is reported with `code`.
fn assert_survives(project: &Sandbox, place: &str, code: &str) {
    let text = project.run(&["context", "bad/in/x.py"]);
    assert_good(&text, &text.stdout);
    assert!(text.stderr.contains(place), "{text}");
    let json = project.run(&["context", "bad/in/x.py", "--json"]);
    assert_good(&json, &json.stdout);
    assert!(json.stdout.contains(&format!("\"code\": \"{code}\"")), "{json}");
    for args in [
        &["why", "bad/in/x.py"][..],
        &["context", "--decisions", "bad/in/x.py"],
        &["context", "--all"],
    ] {
        let output = project.run(args);
        assert_eq!(output.code, Some(0), "{args:?}: {output}");
        assert!(output.stderr.contains(place), "{args:?}: {output}");
    }
    let hook = project.run_with_input(&["hook", "claude"], payload(project, "bad/in/x.py"));
    assert_good(&hook, &hook.stdout);
    assert!(hook.stderr.contains(place), "{hook}");
    let lint = project.run(&["lint"]);
    assert!(lint.stdout.contains(place) && lint.stdout.contains(code), "{lint}");
    // Seven runs; a hang would be longer, and so would reading what should not be read.
}

fn assert_good(output: &Output, text: &str) {
    assert_eq!(output.code, Some(0), "{output}");
    assert!(text.contains("GOOD-TOP") && text.contains("GOOD-BELOW"), "{output}");
    assert!(!output.stderr.contains("panicked"), "{output}");
}

fn payload(project: &Sandbox, path: &str) -> String {
    json!({
        "cwd": project.path(), "hook_event_name": "PreToolUse", "tool_name": "Read",
        "tool_input": {"file_path": path},
    })
    .to_string()
}

/// Ruling G5: "regular files only (no FIFO, device, socket)".
#[cfg(unix)]
#[test]
fn a_fifo_is_not_waited_for() {
    let project = good();
    brief_testkit::make_fifo(&project.path().join("bad/AGENTS.yaml"));
    assert_survives(&project, "bad/AGENTS.yaml", "agents-yaml/unreadable");
}

/// Ruling G5: a device and a socket are no files either; a link to one leaves the project.
#[cfg(unix)]
#[test]
fn a_device_or_a_socket_is_not_read() {
    let project = good().with_link("bad/AGENTS.yaml", "/dev/zero");
    assert_survives(&project, "bad/AGENTS.yaml", "agents-yaml/unreadable");
    let project = good();
    let socket = project.path().join("bad/AGENTS.yaml");
    let _listener = std::os::unix::net::UnixListener::bind(socket).unwrap();
    assert_survives(&project, "bad/AGENTS.yaml", "agents-yaml/unreadable");
}

/// A directory of that name is not a context file.
#[test]
fn a_directory_is_not_a_context_file() {
    let project = good().with_dir("bad/AGENTS.yaml");
    assert_survives(&project, "bad/AGENTS.yaml", "agents-yaml/unreadable");
}

/// Ruling G5: "1 MiB per text file".
#[test]
fn a_file_of_200_megabytes_is_not_read() {
    let project = good();
    let file = fs::File::create(project.path().join("bad/AGENTS.yaml")).unwrap();
    file.set_len(200 * 1024 * 1024).unwrap();
    assert_survives(&project, "bad/AGENTS.yaml", "agents-yaml/unreadable");
}

/// Ruling G5: the limit is 1 MiB, not a byte less.
#[test]
fn a_file_of_exactly_the_limit_is_read() {
    let entry = "context:\n  - content: AT-THE-LIMIT\n#";
    let text = format!("{entry}{}", "x".repeat(1024 * 1024 - entry.len()));
    let project = project().with_file("AGENTS.yaml", &text);
    let output = project.run(&["context", "a"]);
    assert!(output.stdout.contains("AT-THE-LIMIT"), "{}", output.stderr);
    project.write("AGENTS.yaml", text + "x");
    let output = project.run(&["context", "a"]);
    assert_eq!((output.stdout.as_str(), output.code), ("", Some(0)));
    assert!(output.stderr.contains("AGENTS.yaml: cannot read the file"), "{output}");
}

/// A file that the user may not read is reported. (The superuser may read everything.)
#[cfg(unix)]
#[test]
fn a_file_without_permission_is_reported() {
    use std::os::unix::fs::PermissionsExt;
    let project = good().with_file("bad/AGENTS.yaml", "context: []\n");
    let file = project.path().join("bad/AGENTS.yaml");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o0)).unwrap();
    if fs::read(&file).is_err() {
        assert_survives(&project, "bad/AGENTS.yaml", "agents-yaml/unreadable");
    }
}

/// Ruling G1: "Aliases are bounded; a bomb is a diagnostic". Its siblings are delivered.
#[test]
fn an_alias_bomb_goes_off_alone() {
    let mut bomb = String::from("x-a: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..30 {
        let list = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb.push_str(&format!("x-{level}: &a{level} [{list}]\n"));
    }
    bomb.push_str("context:\n  - {content: SIBLING}\n  - {content: BOMB, match: *a29}\n");
    let project = good().with_file("bad/AGENTS.yaml", bomb);
    assert_survives(&project, "bad/AGENTS.yaml", "agents-yaml/alias-bomb");
    let output = project.run(&["context", "bad/in/x.py"]);
    assert!(output.stdout.contains("SIBLING") && !output.stdout.contains("BOMB"), "{output}");
}

/// Ruling S1: "in time linear in pattern × path, no blow-up on braces".
#[test]
fn a_billion_alternatives_cost_nothing() {
    let braces = "{a,a}".repeat(30);
    let yaml = format!(
        "context:
  - {{content: HIT, match: [\"{braces}\"]}}
  - {{content: MISS, match: [\"{braces}b\"]}}
  - {{content: NESTED, match: [\"{}a{}\"]}}
  - {{content: DIR, match: [\"{braces}/**\"], exclude: [\"{braces}/x\"]}}
",
        "{a,".repeat(60),
        "}".repeat(60),
    );
    let project = project().with_file("AGENTS.yaml", yaml);
    let name = "a".repeat(30);
    let output = project.run(&["context", &name]);
    assert!(output.stdout.contains("HIT") && !output.stdout.contains("MISS"), "{output}");
    let directory = project.run(&["context", &format!("{name}/")]);
    assert!(directory.stdout.contains("DIR"), "{directory}");
    assert_eq!(project.run(&["lint"]).code, Some(0));
}

/// Ruling S3: an invalid glob takes its entry along, not its siblings.
#[test]
fn an_invalid_glob_takes_its_entry_along() {
    let yaml = "context:\n  - {content: SIBLING}\n  - {content: BAD, match: [\"[\"]}\n";
    let project = good().with_file("bad/AGENTS.yaml", yaml);
    assert_survives(&project, "bad/AGENTS.yaml:3:", "agents-yaml/invalid-glob");
    let output = project.run(&["context", "bad/in/x.py"]);
    assert!(output.stdout.contains("SIBLING") && !output.stdout.contains("BAD"), "{output}");
}

/// Document, Validation rules: "`date` must be YYYY-MM-DD if present".
#[test]
fn an_invalid_date_is_reported() {
    let yaml = "decisions:\n  - {decision: D, rationale: R, date: yesterday}\n";
    let project = good().with_file("bad/AGENTS.yaml", yaml);
    assert_survives(&project, "bad/AGENTS.yaml:2:", "agents-yaml/invalid-date");
    let output = project.run(&["context", "--decisions", "bad/in/x.py"]);
    assert!(output.stdout.contains('D') && !output.stdout.contains("decided"), "{output}");
}

/// Texts that are not YAML, or YAML of another shape.
#[test]
fn a_text_of_another_kind_is_reported() {
    for (text, code) in [
        ("context: [\n", "agents-yaml/invalid-yaml"),
        ("just text\n", "agents-yaml/wrong-type"),
        ("- a\n- b\n", "agents-yaml/wrong-type"),
        ("context: 5\n", "agents-yaml/wrong-type"),
        ("context: [5, [], ~, {content: {}}]\n", "agents-yaml/wrong-type"),
        ("context: []\ncontext: []\n", "agents-yaml/duplicate-key"),
    ] {
        let project = good().with_file("bad/AGENTS.yaml", text);
        assert_survives(&project, "bad/AGENTS.yaml:", code);
    }
    let nested = format!("context: {}{}\n", "[".repeat(5_000), "]".repeat(5_000));
    let project = good().with_file("bad/AGENTS.yaml", nested);
    assert_survives(&project, "bad/AGENTS.yaml:", "agents-yaml/invalid-yaml");
}

/// X05: front matter past its limit is not parsed, and a file's problems are counted past theirs. Forty files of
/// a megabyte took gigabytes.
#[test]
fn front_matter_and_its_problems_are_bounded() {
    let header = "a: b\n".repeat(200_000);
    let mut project = project();
    for index in 0..8 {
        let text = format!("---\n{header}---\nBODY-{index}\n");
        project = project.with_file(&format!(".context/f{index}.md"), text);
    }
    // Below the limit for bytes, the one for problems holds: 10,000 fields are 9,999 repetitions.
    let many = format!("---\ntrigger: always\n{}---\nBODY-9\n", "a: b\n".repeat(10_000));
    project = project.with_file(".context/g.md", many);
    let output = project.run(&["context", "src/x.py", "--json"]);
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    let answer = output.json();
    let problems = answer["diagnostics"].as_array().unwrap();
    let of = |name: &str| problems.iter().filter(|found| found["path"] == name).count();
    for index in 0..8 {
        assert_eq!(of(&format!(".context/f{index}.md")), 1);
    }
    assert_eq!(of(".context/g.md"), 101);
    let lint = project.run(&["lint"]);
    assert!(lint.stdout.contains(".context/f0.md:2:1"), "{lint}");
    assert!(lint.stdout.contains("more than 65536"), "{lint}");
    assert!(lint.stdout.contains("and 9899 more like this one"), "{lint}");
    // A whole file of YAML has the same limit for its problems.
    let project = good().with_file("bad/AGENTS.yaml", "a: b\n".repeat(200_000));
    let lint = project.run(&["lint"]);
    assert!(lint.stdout.lines().count() < 1_000, "{}", lint.stdout.lines().count());
    assert!(lint.stdout.contains("more like this one"), "{lint}");
}

/// A text that is not UTF-8 is read as far as it makes sense.
#[test]
fn a_file_that_is_not_utf8_is_read_with_a_warning() {
    let bytes = b"context:\n  - content: SIBLING\n  - content: caf\xe9\n";
    let project = good().with_file("bad/AGENTS.yaml", bytes);
    assert_survives(&project, "bad/AGENTS.yaml:3:", "agents-yaml/not-utf8");
    let output = project.run(&["context", "bad/in/x.py"]);
    assert!(output.stdout.contains("SIBLING"), "{output}");
    // All zeros, and UTF-16, are no YAML.
    for bytes in [&[0; 4096][..], b"\xff\xfec\0o\0n\0t\0e\0x\0t\0"] {
        let project = good().with_file("bad/AGENTS.yaml", bytes);
        let output = project.run(&["context", "bad/in/x.py"]);
        assert_good(&output, &output.stdout);
        assert!(output.stderr.contains("bad/AGENTS.yaml"), "{output}");
    }
}

/// Ruling G5: "10,000 items", with a visible diagnostic when hit.
#[test]
fn more_entries_than_the_limit_are_left_out() {
    let yaml = format!("context:\n{}", "- content: x\n".repeat(10_001));
    let project = good().with_file("bad/AGENTS.yaml", yaml);
    assert_survives(&project, "bad/AGENTS.yaml", "agents-yaml/too-many-entries");
    let report = project.run(&["context", "bad/in/x.py", "--json"]).json();
    let count = |key: &str| report[key].as_array().unwrap().len();
    // The same text counts once.
    assert_eq!((count("items"), count("skipped")), (1 + 2, 10_000 - 1));
}

/// A project with a context file at the top, and one at the end of a chain of directories.
#[cfg(unix)]
fn chain(depth: usize) -> (Sandbox, Chain) {
    let project = project().with_file("AGENTS.yaml", "context:\n  - content: GOOD-TOP\n");
    let content = "context:\n  - content: GOOD-BELOW\n";
    let chain = Chain::new(&project.path(), depth, "AGENTS.yaml", content);
    (project, chain)
}

/// Issue: 10,000 nested directories. Those nearest to the target are read, and what was not read
/// is said.
#[cfg(unix)]
#[test]
fn ten_thousand_directories_are_walked() {
    let (project, chain) = chain(10_000);
    let target = format!("{}/x.py", chain.path());
    let output = project.run(&["context", &target]);
    assert_eq!(output.code, Some(0));
    assert!(output.stdout.contains("GOOD-BELOW"), "{}", &output.stderr[..200]);
    assert!(output.stderr.contains("directories deep"), "{}", output.stderr);
    let hook = project.run_with_input(&["hook", "claude"], payload(&project, &target));
    assert_eq!(hook.code, Some(0), "{}", hook.stderr);
    assert!(hook.stdout.contains("GOOD-BELOW"));
    // Ruling G5: a walk over everything goes 64 deep, and says so.
    for args in [&["context", "--all"][..], &["lint", "--format", "json"]] {
        let output = project.run(args);
        assert_eq!(output.code, Some(0), "{args:?}");
        assert!(output.to_string().contains("more than 64 directories deep"), "{args:?}");
    }
    assert!(project.run(&["context", "--all"]).stdout.contains("GOOD-TOP"));
}

/// A chain below every limit is read from the top to the end.
#[cfg(unix)]
#[test]
fn two_thousand_directories_are_all_read() {
    let (project, chain) = chain(2_000);
    let path = format!("{}/x.py", chain.path());
    let output = project.run(&["context", &path, "--only", "agents-yaml"]);
    assert_good(&output, &output.stdout);
    assert_eq!(output.stderr, "");
}

/// A circle of links ends.
#[cfg(unix)]
#[test]
fn a_circle_of_links_ends() {
    let project = good()
        .with_link("bad/AGENTS.yaml", "AGENTS.yml")
        .with_link("bad/AGENTS.yml", "AGENTS.yaml")
        .with_link("bad/in/loop", "..");
    assert_survives(&project, "bad/AGENTS.yaml", "agents-yaml/unreadable");
    let output = project.run(&["context", "bad/in/loop/in/loop/in/x.py"]);
    assert_good(&output, &output.stdout);
}

/// Ruling G11: "Control, bidirectional and invisible characters from files never reach a terminal
/// raw".
#[test]
fn terminal_escapes_are_never_printed_raw() {
    let nasty = r"\e[2J\e]0;owned\a \u202E\u200B\u0085\x7f";
    let yaml = format!(
        "\"top{nasty}\": 1
context:
  - content: \"HELLO {nasty}\"
    match: [\"**\", \"{nasty}\"]
    \"field{nasty}\": 1
  - {{content: a, on: \"{nasty}\"}}
  - {{content: a, match: [\"[{nasty}\"]}}
decisions:
  - decision: \"{nasty}\"
    rationale: \"{nasty}\"
    date: \"{nasty}\"
    revisit_when: \"{nasty}\"
    alternatives: [{{option: \"{nasty}\", reason_rejected: \"{nasty}\"}}]
"
    );
    let project = project().with_file("AGENTS.yaml", yaml);
    for args in [
        &["context", "a"][..],
        &["context", "--all"],
        &["context", "--decisions", "a"],
        &["why", "a"],
        &["lint"],
    ] {
        let output = project.run(args);
        assert!(output.to_string().contains("\\u{1b}"), "{args:?}: {output}");
        assert_harmless(&output);
    }
    // JSON carries the text as it is, in its own escapes where it must.
    let report = project.run(&["context", "a", "--json"]).json();
    assert!(report["items"][0]["content"].as_str().unwrap().contains('\u{1b}'));
}

/// Ruling G11: names of files are no better than their content.
#[cfg(unix)]
#[test]
fn terminal_escapes_in_names_are_never_printed_raw() {
    let name = "d\u{1b}[2J\u{202e}\nerror: forged";
    let project = project().with_file(
        &format!("{name}/AGENTS.yaml"),
        "context: [{content: a, on: x}, {content: b}]\n",
    );
    let file = format!("{name}/x");
    for args in [
        &["context", &file][..],
        &["context", "--all"],
        &["context", "--decisions", &file],
        &["why", &file],
        &["lint"],
        &["lint", &file],
        &["lint", "no\u{1b}such"],
        &["context", "../\u{1b}out"],
    ] {
        let output = project.run(args);
        assert_harmless(&output);
        for line in output.to_string().lines() {
            assert!(!line.starts_with("error: forged"), "{args:?}: {output}");
        }
    }
    let hook = project.run_with_input(&["hook", "claude"], payload(&project, &file));
    assert_harmless(&hook);
    assert!(hook.stdout.contains("- b"), "{hook}");
}

fn assert_harmless(output: &Output) {
    let raw = |character: char| {
        (character.is_control() && character != '\n')
            || ['\u{202e}', '\u{200b}', '\u{85}', '\u{7f}'].contains(&character)
    };
    let text = output.to_string();
    assert!(!text.contains(raw), "{text:?}");
}

/// Ruling S7: payloads that no client sends end with 0 or 1, and say nothing wrong.
#[test]
fn hostile_payloads_end_well() {
    let project = good();
    let deep = format!("{}{}", "{\"a\":".repeat(5_000), "1".to_owned() + &"}".repeat(5_000));
    let long = payload(&project, &"a/".repeat(50_000));
    let zero = payload(&project, "a\0b");
    let types = json!({"cwd": [], "hook_event_name": {}, "tool_name": 5, "tool_input": "x",
        "session_id": {"a": 1}, "tool_response": [[]]});
    for input in [deep.as_str(), &long, &zero, &types.to_string(), "[]", "null", "\u{feff}{}"] {
        let output = project.run_with_input(&["hook", "claude"], input);
        assert!(matches!(output.code, Some(0 | 1)), "{output}");
        assert!(!output.stderr.contains("panicked"), "{output}");
    }
}

/// The same through the other command line.
#[test]
fn sctx_survives_too() {
    let project = good().linked_as("sctx");
    fs::File::create(project.path().join("bad/AGENTS.yaml")).unwrap().set_len(1 << 28).unwrap();
    let output = project.run(&["context", "bad/in/x.py"]);
    assert_good(&output, &output.stdout);
    assert!(output.stderr.contains("bad/AGENTS.yaml"), "{output}");
    let output = project.run(&["validate"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stdout.contains("cannot read file"), "{output}");
}
