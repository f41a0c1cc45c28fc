//! `brief hook claude`: rulings S4 to S7, K1 and G16.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use brief_testkit::{Output, Sandbox, wait_until};
use serde_json::{Value, json};

use crate::project;

/// One entry for each action and timing, and one for a directory.
const ENTRIES: &str = "context:
  - {content: READ, on: read, when: all}
  - {content: EDIT, on: edit, when: all}
  - {content: CREATE, on: create, when: all}
  - {content: BEFORE}
  - {content: AFTER, when: after}
  - {content: DIRECTORY, match: [src/], when: all}
";

pub(crate) fn entries() -> Sandbox {
    project()
        .with_file("AGENTS.yaml", ENTRIES)
        .with_file("src/a.py", "")
        .with_file("src/n.ipynb", "")
}

/// The payload of Claude Code for a tool; `more` adds fields or replaces them.
pub(crate) fn payload(
    project: &Sandbox,
    event: &str,
    tool: &str,
    input: &Value,
    more: &Value,
) -> String {
    let mut payload = json!({
        "transcript_path": "/nowhere",
        "cwd": project.path(),
        "hook_event_name": event,
        "tool_name": tool,
        "tool_input": input,
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        payload[name] = value.clone();
    }
    payload.to_string()
}

pub(crate) fn hook(project: &Sandbox, payload: &str) -> Output {
    project.run_with_input(&["hook", "claude"], payload)
}

/// Calls the hook before a tool and returns the entries in its answer.
pub(crate) fn before(project: &Sandbox, tool: &str, input: &Value) -> Vec<String> {
    delivered(&hook(project, &payload(project, "PreToolUse", tool, input, &json!({}))))
}

fn after(project: &Sandbox, tool: &str, input: &Value, more: &Value) -> Vec<String> {
    delivered(&hook(project, &payload(project, "PostToolUse", tool, input, more)))
}

/// The text of an answer, with `MARK` for the mark of its session.
pub(crate) fn context(output: &Output) -> String {
    if output.stdout.is_empty() {
        return String::new();
    }
    let answer = output.json();
    let text = answer["hookSpecificOutput"]["additionalContext"].as_str().expect("a text");
    match frame_mark(text) {
        Some(mark) => text.replace(mark, "MARK"),
        None => text.to_owned(),
    }
}

/// The mark that the first line of an answer names.
pub(crate) fn frame_mark(text: &str) -> Option<&str> {
    text.lines().next()?.rsplit_once(", marked ").map(|(_, mark)| mark)
}

/// The entries that an answer holds, in order. Checks what holds for every answer.
pub(crate) fn delivered(output: &Output) -> Vec<String> {
    assert_eq!(output.code, Some(0), "{output}");
    assert!(!output.stdout.contains("permissionDecision"), "{output}");
    assert!(output.stdout.lines().count() <= 1, "{output}");
    context(output).lines().filter_map(|line| line.strip_prefix("- ").map(str::to_owned)).collect()
}

/// A call of `Read` on `src/a.py`, in a session.
pub(crate) fn read(project: &Sandbox, more: &Value) -> Vec<String> {
    let input = json!({"file_path": project.path().join("src/a.py")});
    delivered(&hook(project, &payload(project, "PreToolUse", "Read", &input, more)))
}

pub(crate) fn session(id: &str) -> Value {
    json!({"session_id": id})
}

pub(crate) const NOTHING: [&str; 0] = [];

/// The text of [`ENTRIES`] before a file is read: what is for before an edit or a creation is due.
pub(crate) const READING: [&str; 4] =
    ["READ", "Before an edit: EDIT", "Before a creation: CREATE", "BEFORE"];

/// Ruling S5: the whole answer, and nothing in it but context.
#[test]
fn the_answer_is_context_and_nothing_else() {
    let project = entries();
    let input = json!({"file_path": project.path().join("src/a.py")});
    let call = |event| {
        let output = hook(&project, &payload(&project, event, "Edit", &input, &json!({})));
        let whole = output.json()["hookSpecificOutput"]["additionalContext"].clone();
        output.to_string().replace(frame_mark(whole.as_str().unwrap()).unwrap(), "MARK")
    };
    insta::assert_snapshot!(call("PreToolUse"), @r###"
    {"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"## Guidance for src/a.py, marked MARK\n\n### MARK AGENTS.yaml\n\n- EDIT\n- BEFORE"}}
    [EOF]
    "###);
    insta::assert_snapshot!(call("PostToolUse"), @r###"
    {"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"## Guidance for src/a.py, marked MARK\n\n### MARK AGENTS.yaml\n\n- EDIT\n- AFTER"}}
    [EOF]
    "###);
}

/// Ruling S4: "Actions: read, edit, create (from the tool and whether the file exists before it)".
#[test]
fn each_tool_has_its_action() {
    let project = entries();
    let path = |name: &str| project.path().join(name);
    let file = |name: &str| json!({"file_path": path(name)});
    for (tool, input, expected) in [
        ("Read", file("src/a.py"), &READING[..]),
        ("Edit", file("src/a.py"), &["EDIT", "BEFORE"]),
        ("MultiEdit", file("src/a.py"), &["EDIT", "BEFORE"]),
        ("NotebookEdit", json!({"notebook_path": path("src/n.ipynb")}), &["EDIT", "BEFORE"]),
        ("Write", file("src/a.py"), &["EDIT", "BEFORE"]),
        ("Write", file("src/new.py"), &["CREATE", "BEFORE"]),
        ("Write", file("new/directory/new.py"), &["CREATE", "BEFORE"]),
        ("Bash", json!({"command": "cat src/a.py"}), &READING),
        ("Bash", json!({"command": "head -n 5 src/a.py"}), &READING),
        ("Bash", json!({"command": "tail -f 'src/a.py' | grep x"}), &READING),
        ("Bash", json!({"command": "cd src && cat a.py"}), &READING),
        ("Bash", json!({"command": "sed -n 1,5p src/a.py"}), &READING),
        ("Bash", json!({"command": "sed -i s/a/b/ src/a.py"}), &["EDIT", "BEFORE"]),
        ("Bash", json!({"command": "echo x > src/new.py"}), &["CREATE", "BEFORE"]),
        ("Bash", json!({"command": "ls src"}), &["READ", "BEFORE", "DIRECTORY"]),
    ] {
        assert_eq!(before(&project, tool, &input), expected, "{tool} {input}");
    }
    // We do not know what it does, so everything may apply.
    assert_eq!(
        before(&project, "mcp__files__touch", &file("src/a.py")),
        ["READ", "EDIT", "CREATE", "BEFORE"]
    );
}

/// Ruling S4: "after it, from the tool's response".
#[test]
fn after_a_tool_its_response_tells_what_it_did() {
    let project = entries();
    let input = json!({"file_path": project.path().join("src/a.py")});
    let response = |kind: &str| json!({"tool_response": {"type": kind, "structuredPatch": []}});
    for (tool, more, expected) in [
        ("Write", response("create"), &["CREATE", "AFTER"][..]),
        ("Write", response("update"), &["EDIT", "AFTER"]),
        ("Edit", response("update"), &["EDIT", "AFTER"]),
        // After the read is still before the edit.
        (
            "Read",
            response("text"),
            &[
                "READ",
                "Before an edit: EDIT",
                "Before a creation: CREATE",
                "Before an edit or a creation: BEFORE",
                "AFTER",
            ],
        ),
    ] {
        assert_eq!(after(&project, tool, &input, &more), expected, "{tool} {more}");
    }
}

/// Ruling S4: "Directory tools make directory queries", and so does Read on a directory.
#[test]
fn directory_tools_ask_about_a_directory() {
    let project = entries();
    let src = project.path().join("src");
    for (tool, input) in [
        ("Grep", json!({"pattern": "x", "path": src})),
        ("Glob", json!({"pattern": "*.py", "path": src})),
        ("LS", json!({"path": src})),
        ("Read", json!({"file_path": src})),
        ("Grep", json!({"pattern": "x", "path": "src"})),
    ] {
        assert_eq!(before(&project, tool, &input), ["READ", "BEFORE", "DIRECTORY"], "{tool}");
    }
    // Without a path they start where the client works.
    assert_eq!(before(&project, "Grep", &json!({"pattern": "x"})), ["READ", "BEFORE"]);
    // A file is a file for them too.
    let file = json!({"pattern": "x", "path": src.join("a.py")});
    assert_eq!(before(&project, "Grep", &file), READING);
}

/// Patches name several files; what their directories share is said once.
#[test]
fn a_patch_touches_each_of_its_files() {
    let project = entries();
    let patch = "*** Begin Patch\n*** Add File: src/new.py\n+x\n*** Update File: src/a.py\n@@\n\
                 *** End Patch";
    // A turn makes it a payload of Codex.
    for key in ["command", "input"] {
        let (input, turn) = (json!({key: patch}), json!({"turn_id": "t"}));
        let call = payload(&project, "PreToolUse", "apply_patch", &input, &turn);
        assert_eq!(delivered(&hook(&project, &call)), ["CREATE", "BEFORE", "EDIT"]);
    }
}

/// A tool call without a file gets no guidance.
#[test]
fn tools_without_a_file_get_nothing() {
    let project = entries();
    for (tool, input) in [
        ("Bash", json!({"command": "cat $FILE"})),
        ("Bash", json!({})),
        ("WebFetch", json!({"url": "https://example.com/"})),
        ("Read", json!({})),
        ("Read", json!({"file_path": ""})),
        ("Read", json!({"file_path": 5})),
        ("Read", json!(null)),
        ("apply_patch", json!({"command": "nothing"})),
    ] {
        let output = hook(&project, &payload(&project, "PreToolUse", tool, &input, &json!({})));
        assert_eq!((output.stdout.as_str(), output.code), ("", Some(0)), "{tool} {input}");
    }
}

/// Events that bring nothing new are silent.
#[test]
fn other_events_are_silent() {
    let project = entries();
    let input = json!({"file_path": project.path().join("src/a.py")});
    for event in ["SessionEnd", "Stop", "PreCompact", "UserPromptSubmit", "New"] {
        let output = hook(&project, &payload(&project, event, "Read", &input, &session("s")));
        assert_eq!(output.to_string(), "[EOF]", "{event}");
    }
    assert_eq!(hook(&project, "{}").to_string(), "[EOF]");
}

/// Ruling S4: "root is `cwd`", whatever directory the hook itself runs in, and "Relative
/// `file_path` is relative to `cwd`".
#[test]
fn the_root_is_the_working_directory_of_the_client() {
    let project = entries().with_file("src/AGENTS.yaml", "context: [{content: INNER}]\n");
    let cwd = json!({"cwd": project.path().join("src")});
    let relative = json!({"file_path": "a.py"});
    let call = payload(&project, "PreToolUse", "Read", &relative, &cwd);
    assert_eq!(delivered(&hook(&project, &call)), ["INNER"]);
    let elsewhere = project.run_in(
        "src",
        &["hook", "claude"],
        payload(&project, "PreToolUse", "Read", &json!({"file_path": "src/a.py"}), &json!({})),
    );
    assert_eq!(delivered(&elsewhere), [&READING[..], &["INNER"]].concat());
    // A final `/` makes no other directory of it.
    let slash = json!({"cwd": format!("{}/src/", project.path().display())});
    let call = payload(&project, "PreToolUse", "Read", &relative, &slash);
    assert_eq!(delivered(&hook(&project, &call)), ["INNER"]);
}

/// Ruling S4: "when `CLAUDE_PROJECT_DIR` is set and `cwd` lies inside it, the root is that
/// directory".
#[test]
fn the_project_directory_wins_when_the_client_moved_into_it() {
    let project = entries().with_file("src/AGENTS.yaml", "context: [{content: INNER}]\n");
    let top = project.path();
    let project = project.with_env("CLAUDE_PROJECT_DIR", top.to_str().unwrap());
    let cwd = json!({"cwd": top.join("src")});
    let call = payload(&project, "PreToolUse", "Read", &json!({"file_path": "a.py"}), &cwd);
    assert_eq!(delivered(&hook(&project, &call)), [&READING[..], &["INNER"]].concat());
    // Elsewhere it says nothing about the root.
    let other = project.outside_directory();
    fs::write(other.join("AGENTS.yaml"), "context: [{content: OTHER}]\n").unwrap();
    let cwd = json!({"cwd": other});
    let call = payload(&project, "PreToolUse", "Read", &json!({"file_path": "a.py"}), &cwd);
    assert_eq!(delivered(&hook(&project, &call)), ["OTHER"]);
}

/// Ruling G4: a target outside the root gets nothing from this root.
#[test]
fn a_file_outside_the_root_gets_nothing() {
    let project = entries();
    let outside = project.outside_directory();
    fs::write(outside.join("AGENTS.yaml"), "context: [{content: FOREIGN}]\n").unwrap();
    for path in [outside.join("x"), PathBuf::from("../outside/x"), PathBuf::from("/etc/hostname")] {
        assert_eq!(before(&project, "Read", &json!({"file_path": path})), NOTHING, "{path:?}");
    }
}

/// Document, Merge order: "Parent directory entries come first, child directory entries come last".
#[test]
fn parents_come_first() {
    let project = project()
        .with_file("AGENTS.yaml", "context: [{content: TOP}]\n")
        .with_file("a/AGENTS.yml", "context: [{content: MIDDLE-2}]\n")
        .with_file("a/AGENTS.yaml", "context: [{content: MIDDLE-1}]\n")
        .with_file("a/b/AGENTS.yaml", "context: [{content: DEEP}]\n");
    let input = json!({"file_path": "a/b/x"});
    assert_eq!(before(&project, "Read", &input), ["TOP", "MIDDLE-1", "MIDDLE-2", "DEEP"]);
}

/// Ruling S6: "Multi-line entries stay one list item".
#[test]
fn an_entry_of_several_lines_is_one_item() {
    let yaml =
        "context:\n  - content: |\n      First\n      - second\n\n      third\n  - content: Next\n";
    let project = project().with_file("AGENTS.yaml", yaml);
    let call = payload(&project, "PreToolUse", "Read", &json!({"file_path": "x"}), &json!({}));
    let text = context(&hook(&project, &call));
    assert_eq!(
        text,
        "## Guidance for x, marked MARK\n\n### MARK AGENTS.yaml\n\n- First\n  - second\n\n  third\n- Next"
    );
}

/// Ruling S6: "Hook output fits the client's cap (10,000 characters): the most specific entries
/// survive, and one line says how many were left out and how to see them".
#[test]
fn the_answer_fits_the_cap() {
    let entry = |name: &str, length: usize| format!("  - content: {name} {}\n", "é".repeat(length));
    let general: String = (0..20).map(|index| entry(&format!("GENERAL-{index}"), 900)).collect();
    let project = project()
        .with_file("AGENTS.yaml", format!("context:\n{general}"))
        .with_file("src/AGENTS.yaml", "context:\n  - content: MOST-SPECIFIC\n");
    let call =
        payload(&project, "PreToolUse", "Read", &json!({"file_path": "src/a.py"}), &json!({}));
    let output = hook(&project, &call);
    let entries = delivered(&output);
    assert!(output.stdout.trim_end().chars().count() <= 10_000);
    assert_eq!(entries.last().unwrap(), "MOST-SPECIFIC");
    // Of the general ones, the last survive: they stand nearest to the file.
    let kept = entries.len() - 1;
    let names: Vec<_> =
        entries[..kept].iter().map(|entry| entry.split(' ').next().unwrap()).collect();
    let expected: Vec<_> = (20 - kept..20).map(|index| format!("GENERAL-{index}")).collect();
    assert_eq!(names, expected);
    assert!((8..=11).contains(&kept), "most of the room is used: {kept}");
    let notice = context(&output).lines().last().unwrap().to_owned();
    let missing = 20 - kept;
    assert_eq!(
        notice,
        format!(
            "MARK ({missing} more items were omitted to fit; to see all, run: brief context src/a.py \
             --on read --when before --client claude)"
        )
    );
}

/// K07: an entry that no answer has room for is named with its place; the rest is delivered.
#[test]
fn an_entry_beyond_the_cap_is_named() {
    let yaml = format!("context:\n  - content: SHORT\n  - content: {}\n", "x ".repeat(10_000));
    let project = project().with_file("AGENTS.yaml", yaml);
    let call = payload(&project, "PreToolUse", "Read", &json!({"file_path": "a"}), &json!({}));
    let entries = delivered(&hook(&project, &call));
    assert_eq!(entries[0], "SHORT");
    assert!(entries[1].starts_with("Too long to show here ("), "{entries:?}");
    assert!(entries[1].ends_with(" tokens): read AGENTS.yaml from line 3 on."), "{entries:?}");
    assert_eq!(entries.len(), 2);
}

/// As many entries as a file may have are no reason to be late.
#[test]
fn ten_thousand_entries_are_answered() {
    let entries: Vec<String> =
        (0..10_000).map(|number| format!("- content: x{number}\n")).collect();
    let project = project().with_file("AGENTS.yaml", format!("context:\n{}", entries.concat()));
    let entries = before(&project, "Read", &json!({"file_path": "a"}));
    assert_eq!(entries.last().map(String::as_str), Some("x9999"));
}

/// Ruling S4: "Decisions in plan mode, once per call".
#[test]
fn decisions_come_in_plan_mode_once_per_call() {
    let yaml = "context:
  - {content: GUIDE, when: all}
decisions:
  - decision: DECIDED
    rationale: REASON
    alternatives: [{option: OTHER, reason_rejected: WORSE}]
    revisit_when: LATER
";
    let project = project().with_file("AGENTS.yaml", yaml);
    let call = |event: &str, mode: &str| {
        let more = json!({"permission_mode": mode});
        let input = json!({"file_path": "x"});
        context(&hook(&project, &payload(&project, event, "Read", &input, &more)))
    };
    assert_eq!(
        call("PreToolUse", "plan"),
        "## Guidance for x, marked MARK\n\n### MARK AGENTS.yaml\n\n- GUIDE\n\n## MARK Architectural Decisions\n\n- DECIDED\n  \
         Rationale: REASON\n  Considered OTHER, rejected: WORSE\n  Revisit when: LATER"
    );
    assert_eq!(
        call("PostToolUse", "plan"),
        "## Guidance for x, marked MARK\n\n### MARK AGENTS.yaml\n\n- GUIDE"
    );
    assert_eq!(
        call("PreToolUse", "default"),
        "## Guidance for x, marked MARK\n\n### MARK AGENTS.yaml\n\n- GUIDE"
    );
}

/// Ruling S7: "bad input … is exit 0 or 1 with a message on stderr, never 2"; 1 is a refusal for Copilot.
#[test]
fn input_that_is_not_json_is_a_message() {
    let project = entries();
    insta::assert_snapshot!(hook(&project, "not JSON"), @"
    ------- stderr -------
    error: the hook input is not JSON: expected ident at line 1 column 2
    [EOF]
    ");
    insta::assert_snapshot!(hook(&project, ""), @"
    ------- stderr -------
    error: the hook input is not JSON: EOF while parsing a value at line 1 column 0
    [EOF]
    ");
    for input in ["{", "{\"cwd\": ", "5", "\"text\"", "{\"hook_event_name\": \"PreToolUse\"} x"] {
        let output = hook(&project, input);
        assert_eq!((output.stdout.as_str(), output.code), ("", Some(0)), "{input}");
        assert!(output.stderr.starts_with("error: "), "{input}: {output}");
    }
    let output = project.run_with_input(&["hook", "claude"], b"{\"cwd\": \"\xff\"}");
    assert_eq!((output.stdout.as_str(), output.code), ("", Some(0)), "{output}");
}

/// Ruling S7: 0 also for a name or an option that a settings file has and this program does not.
#[test]
fn a_call_of_a_client_never_fails() {
    insta::assert_snapshot!(entries().run_with_input(&["hook", "bogus"], b"{}"), @"
    ------- stderr -------
    error: unknown client `bogus`
    hint: clients with hooks: `amp`, `augment`, `claude`, `cline`, `codex`, `copilot`, `copilot-vscode`, `crush`, `cursor`, `droid`, `gemini`, `kilo`, `opencode`, `pi`, `qwen`
    [EOF]
    ");
    for args in [
        &["hook", "claude", "--of-a-later-version"][..],
        &["hook", "copilot", "--budget", "many"],
        &["hook", "homemade", "--event", "done"],
    ] {
        let output = entries().run_with_input(args, b"{}");
        assert_eq!((output.stdout.as_str(), output.code), ("", Some(0)), "{output}");
        assert!(output.stderr.starts_with("error: "), "{output}");
    }
    // What a person or a script types fails as ever.
    for args in [&["hook", "instal", "claude"][..], &["hook", "stats"], &["hook", "status", "x"]] {
        let output = entries().run_with_input(args, b"");
        assert_eq!(output.code, Some(2), "{output}");
    }
}

/// A person at a terminal is told of a wrong call by its exit code.
#[cfg(unix)]
#[test]
fn a_wrong_call_at_a_terminal_fails() {
    let output = entries().run_at_terminal(&["hook", "bogus"], "");
    assert_eq!(output.code, Some(2), "{output}");
}

/// Ruling S7: a directory that is gone is a message, not a block.
#[test]
fn a_working_directory_that_is_gone_is_a_message() {
    let project = entries();
    for cwd in ["/no/such/directory", "/dev/null"] {
        let input = json!({"file_path": "x"});
        let call = payload(&project, "PreToolUse", "Read", &input, &json!({"cwd": cwd}));
        let output = hook(&project, &call);
        assert_eq!((output.stdout.as_str(), output.code), ("", Some(0)), "{output}");
        assert!(output.stderr.contains(cwd), "{output}");
    }
}

/// Ruling S7 and X19: a hook ends within its deadline, 250 ms unless the user says otherwise, and the
/// client goes on without it.
#[test]
fn an_input_that_never_ends_is_given_up() {
    let project = entries();
    for start in ["", "{\"hook_event_name\": \"PreToolUse\", "] {
        let mut command = project.prepare_command("", &["hook", "claude"]);
        let mut child = command.env_remove("BRIEF_HOOK_DEADLINE").spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(start.as_bytes()).unwrap();
        // Its input stays open, so nothing but the deadline ends it.
        wait_until("the hook ends", || child.try_wait().unwrap().is_some());
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(String::from_utf8_lossy(&output.stdout), "");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    }
}

/// `BRIEF_HOOK_DEADLINE` gives a hook more time.
#[test]
fn the_deadline_of_a_hook_can_be_set() {
    let project = entries();
    let call =
        payload(&project, "PreToolUse", "Read", &json!({"file_path": "src/a.py"}), &json!({}));
    let mut child = project.prepare_command("", &["hook", "claude"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // Longer than the usual limit, which must not count; a busy machine only makes it longer.
    std::thread::sleep(Duration::from_millis(600));
    stdin.write_all(call.as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(!output.stdout.is_empty());
}

/// `Write` carries the whole file; a large one is no reason to say nothing.
#[test]
fn a_large_payload_is_answered() {
    let project = entries();
    let input = json!({"file_path": "src/new.py", "content": "line\n".repeat(3 * 1024 * 1024)});
    let call = payload(&project, "PreToolUse", "Write", &input, &json!({}));
    assert!(call.len() > 15_000_000);
    assert_eq!(delivered(&hook(&project, &call)), ["CREATE", "BEFORE"]);
}

/// Ruling G2: a broken file is reported on the side, and the hook goes on.
#[test]
fn a_broken_file_does_not_stop_the_hook() {
    let project = entries()
        .with_file("src/AGENTS.yaml", "context: [\n")
        .with_file("src/AGENTS.yml", "context: [{content: BAD, on: x}, {content: GOOD}]\n");
    let input = json!({"file_path": "src/a.py"});
    let output = hook(&project, &payload(&project, "PreToolUse", "Read", &input, &json!({})));
    assert_eq!(delivered(&output), [&READING[..], &["GOOD"]].concat());
    assert!(output.stderr.contains("src/AGENTS.yaml:"), "{output}");
    assert!(output.stderr.contains("src/AGENTS.yml:1:30"), "{output}");
}

/// Document, Missing files: a warning, and nothing else.
#[test]
fn without_context_files_there_is_a_warning() {
    let project = project();
    let input = json!({"file_path": "a"});
    let output = hook(&project, &payload(&project, "PreToolUse", "Read", &input, &json!({})));
    assert_eq!(delivered(&output), NOTHING);
    assert!(output.stderr.starts_with("warning: no guidance found for the file"), "{output}");
}

/// Ruling G8: the hook writes nothing inside the project.
#[test]
fn the_hook_leaves_the_project_alone() {
    let project = entries();
    assert_eq!(read(&project, &session("one")), READING);
    let mut names: Vec<_> = fs::read_dir(project.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["AGENTS.yaml", "src"]);
}
