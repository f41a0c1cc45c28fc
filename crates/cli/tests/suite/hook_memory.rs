//! The hook's memory of a conversation: ruling S6.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use brief_testkit::Sandbox;
use serde_json::json;

use crate::hook::{NOTHING, READING, delivered, entries, hook, payload, read, session};
use crate::project;

/// The files in which the hook keeps what it delivered.
fn memory(project: &Sandbox) -> Vec<PathBuf> {
    let directory = project.home().join(".local/state/brief/sessions");
    let entries = fs::read_dir(directory).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// Ruling S6: "Within one session an entry already delivered is not repeated".
#[test]
fn a_session_is_told_once() {
    let project = entries();
    assert_eq!(read(&project, &session("one")), READING);
    assert_eq!(read(&project, &session("one")), NOTHING);
    // What is new in the same session is delivered.
    let input = json!({"file_path": "src/a.py"});
    let edit = |event| payload(&project, event, "Edit", &input, &session("one"));
    assert_eq!(delivered(&hook(&project, &edit("PreToolUse"))), NOTHING);
    assert_eq!(delivered(&hook(&project, &edit("PostToolUse"))), ["AFTER"]);
    // Another session knows nothing of it, and no session at all remembers nothing.
    assert_eq!(read(&project, &session("two")), READING);
    assert_eq!(read(&project, &json!({})), READING);
    assert_eq!(read(&project, &json!({})), READING);
}

/// A subagent does not see what the main one was told.
#[test]
fn a_subagent_has_a_memory_of_its_own() {
    let project = entries();
    let agent = |id: &str| json!({"session_id": "one", "agent_id": id});
    assert_eq!(read(&project, &session("one")), READING);
    assert_eq!(read(&project, &agent("a")), READING);
    assert_eq!(read(&project, &agent("a")), NOTHING);
    assert_eq!(read(&project, &agent("b")), READING);
    // Compacting the main conversation leaves the subagents' alone; a new session forgets all.
    let event = |name: &str| payload(&project, name, "", &json!({}), &session("one"));
    assert_eq!(delivered(&hook(&project, &event("PreCompact"))), NOTHING);
    assert_eq!(read(&project, &agent("a")), NOTHING);
    hook(&project, &event("SessionStart"));
    assert_eq!(read(&project, &agent("a")), READING);
}

/// Ruling S6: "until the session is compacted or restarted".
#[test]
fn a_session_that_forgot_is_told_again() {
    let project = entries();
    assert_eq!(read(&project, &session("one")), READING);
    assert_eq!(read(&project, &session("one")), NOTHING);
    let compact = payload(&project, "PreCompact", "", &json!({}), &session("one"));
    assert_eq!(hook(&project, &compact).to_string(), "[EOF]");
    assert_eq!(read(&project, &session("one")), READING);
}

/// An entry that was edited is another entry.
#[test]
fn edited_content_is_delivered_again() {
    let project =
        project().with_file("AGENTS.yaml", "context: [{content: OLD}, {content: SAME}]\n");
    assert_eq!(read(&project, &session("one")), ["OLD", "SAME"]);
    project.write("AGENTS.yaml", "context: [{content: NEW}, {content: SAME}]\n");
    assert_eq!(read(&project, &session("one")), ["NEW"]);
}

/// Issue: the memory is "expired after a week".
#[test]
fn a_week_is_too_long_to_remember() {
    let project = entries();
    assert_eq!(read(&project, &session("one")), READING);
    let files = memory(&project);
    assert_eq!(files.len(), 1);
    let age = |days: u64| {
        let time = SystemTime::now() - Duration::from_secs(days * 24 * 60 * 60);
        fs::File::options().append(true).open(&files[0]).unwrap().set_modified(time).unwrap();
    };
    age(6);
    assert_eq!(read(&project, &session("one")), NOTHING);
    age(8);
    assert_eq!(read(&project, &session("one")), READING);
    // Old sessions of others go when a new one starts.
    age(8);
    let start = payload(&project, "SessionStart", "", &json!({}), &session("two"));
    hook(&project, &start);
    let names = |files: &[PathBuf]| -> Vec<_> {
        files.iter().map(|file| file.file_name().unwrap().to_owned()).collect()
    };
    assert!(!names(&memory(&project)).contains(&names(&files)[0]));
}

/// The memory is in the user's state directory, for the user alone, and holds no names.
#[cfg(unix)]
#[test]
fn the_memory_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let project = entries();
    let id = "../../../escape";
    assert_eq!(read(&project, &session(id)), READING);
    assert_eq!(read(&project, &session(id)), NOTHING);
    let files = memory(&project);
    assert_eq!(files.len(), 1);
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&files[0]), 0o600);
    assert_eq!(mode(files[0].parent().unwrap()), 0o700);
    let name = files[0].file_name().unwrap().to_str().unwrap();
    assert!(!name.contains("escape"), "{name}");
}

/// `XDG_STATE_HOME` is where the memory goes if it is set.
#[test]
fn the_state_directory_can_be_set() {
    let project = entries();
    let state = project.outside_directory().join("state");
    let project = project.with_env("XDG_STATE_HOME", state.to_str().unwrap());
    assert_eq!(read(&project, &session("one")), READING);
    assert_eq!(read(&project, &session("one")), NOTHING);
    assert_eq!(fs::read_dir(state.join("brief/sessions")).unwrap().count(), 1);
    assert_eq!(fs::read_dir(project.home()).unwrap().count(), 0);
}

/// Ruling S6: "losing it only means repeating".
#[test]
fn without_a_memory_everything_is_delivered() {
    let project = entries();
    // A file where a directory should be cannot be written to by anyone.
    fs::write(project.home().join(".local"), "").unwrap();
    assert_eq!(read(&project, &session("one")), READING);
    assert_eq!(read(&project, &session("one")), READING);
}

/// A memory full of nonsense only means repeating.
#[test]
fn a_damaged_memory_is_no_obstacle() {
    let project = entries();
    assert_eq!(read(&project, &session("one")), READING);
    fs::write(&memory(&project)[0], b"\xff\xfe\0garbage\n\n\n").unwrap();
    assert_eq!(read(&project, &session("one")), READING);
    assert_eq!(read(&project, &session("one")), NOTHING);
}

/// `--repeat` delivers each time.
#[test]
fn repeating_can_be_asked_for() {
    let project = entries();
    let input = json!({"file_path": "src/a.py"});
    let call = payload(&project, "PreToolUse", "Read", &input, &session("one"));
    for _ in 0..2 {
        let output = project.run_with_input(&["hook", "claude", "--repeat"], &call);
        assert_eq!(delivered(&output), READING);
    }
    assert_eq!(memory(&project), Vec::<PathBuf>::new());
}

/// Issue: "safe under concurrent hooks".
#[test]
fn hooks_at_the_same_time_do_not_harm_each_other() {
    let project = entries();
    let input = json!({"file_path": "src/a.py"});
    let call = payload(&project, "PreToolUse", "Read", &input, &session("one"));
    let children: Vec<_> = (0..20)
        .map(|_| {
            let mut child = project.prepare_command("", &["hook", "claude"]).spawn().unwrap();
            child.stdin.take().unwrap().write_all(call.as_bytes()).unwrap();
            child
        })
        .collect();
    let mut told = 0;
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        told += usize::from(!output.stdout.is_empty());
    }
    assert_eq!(told, 1, "an entry is delivered by one of them");
    let files = memory(&project);
    assert_eq!(files.len(), 1);
    for line in fs::read_to_string(&files[0]).unwrap().lines() {
        if line == "@src/a.py" {
            continue;
        }
        let fields: Vec<&str> = line.split(' ').collect();
        let is_hex = fields[0].bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_whole = fields.len() == 3 && fields[0].len() == 32 && is_hex;
        assert!(is_whole && fields[1].parse::<usize>().is_ok(), "a line was torn: {line:?}");
    }
    assert_eq!(read(&project, &session("one")), NOTHING);
}
