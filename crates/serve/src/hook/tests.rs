//! Properties that hold for any project and any conversation.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use arbtest::arbitrary::{self, Unstructured};
use brief_engine::{Action, Briefing, Project, ReasonKind, State, Timing};
use brief_system::MemorySystem;
use serde_json::{Value, json};

use super::{HookOptions, answer_hook};

const DIRECTORIES: [&str; 3] = ["", "a/", "a/b/"];
const PATHS: [&str; 5] = ["x.py", "a/x.py", "a/b/x.py", "a/b/new.py", "c/new.md"];

const ONCE: HookOptions<'_> = HookOptions::new("claude");

/// Returns a text with one recognizable word. There are few words, so that texts repeat.
fn word(bytes: &mut Unstructured<'_>) -> arbitrary::Result<String> {
    Ok(format!("T{}.", bytes.int_in_range(0..=11)?))
}

fn scope(bytes: &mut Unstructured<'_>) -> arbitrary::Result<&'static str> {
    Ok(bytes.choose(&["**/*.py", "a/**", "**", "*.md"])?)
}

/// Generates a project with guidance in all formats.
fn project(bytes: &mut Unstructured<'_>) -> arbitrary::Result<MemorySystem> {
    let mut system = MemorySystem::new("/p")
        .with_dir("/p/.git")
        .with_env("HOME", "/home/u")
        .with_env("XDG_STATE_HOME", "/state")
        .with_file(
            "/home/u/.context/own.md",
            format!("---\ntrigger: always\n---\n{}\n", word(bytes)?),
        );
    for path in &PATHS[..3] {
        system = system.with_file(path, "");
    }
    for directory in DIRECTORIES {
        let mut entries = String::from("context:\n");
        for _ in 0..bytes.int_in_range(0..=3)? {
            let (content, pattern) = (word(bytes)?, scope(bytes)?);
            let on = bytes.choose(&["read", "edit", "create", "[read, edit]", "all"])?;
            let when = bytes.choose(&["before", "after", "all"])?;
            entries.push_str(&format!(
                "- content: {content}\n  match: ['{pattern}']\n  on: {on}\n  when: {when}\n"
            ));
        }
        let files = [
            ("AGENTS.yaml", entries),
            (".context/a.md", format!("---\ntrigger: always\n---\n{}\n", word(bytes)?)),
            (
                ".context/b.md",
                format!("---\ndescription: {}\ntrigger: agent\n---\nbody\n", word(bytes)?),
            ),
            (
                ".cursor/rules/c.mdc",
                format!("---\nglobs: {}\n---\n{}\n", scope(bytes)?, word(bytes)?),
            ),
            (
                ".github/instructions/d.instructions.md",
                format!("---\napplyTo: '{}'\n---\n{}\n", scope(bytes)?, word(bytes)?),
            ),
            (".agents/rules/e.md", format!("{}\n", word(bytes)?)),
            (
                ".agents/skills/f/SKILL.md",
                format!("---\nname: f\ndescription: {}\n---\nbody\n", word(bytes)?),
            ),
            ("CLAUDE.md", format!("{}\n", word(bytes)?)),
            ("AGENTS.md", format!("{}\n", word(bytes)?)),
            ("GEMINI.md", format!("{}\n", word(bytes)?)),
        ];
        for (name, text) in files {
            if bytes.ratio(1, 2)? {
                system = system.with_file(&format!("/p/{directory}{name}"), text);
            }
        }
    }
    Ok(system)
}

struct HookCall {
    path: &'static str,
    tool: &'static str,
    action: Action,
    timing: Timing,
}

fn call(bytes: &mut Unstructured<'_>) -> arbitrary::Result<HookCall> {
    let path = *bytes.choose(&PATHS)?;
    let is_new = path.contains("new");
    let (tool, action) = *bytes.choose(&[
        ("Read", Action::Read),
        ("Edit", Action::Edit),
        ("Write", if is_new { Action::Create } else { Action::Edit }),
    ])?;
    Ok(HookCall { path, tool, action, timing: *bytes.choose(&[Timing::Before, Timing::After])? })
}

impl HookCall {
    fn payload(&self) -> String {
        let event = match self.timing {
            Timing::Before => "PreToolUse",
            Timing::After => "PostToolUse",
        };
        let kind = if self.action == Action::Create { "create" } else { "update" };
        json!({
            "session_id": "s",
            "cwd": "/p",
            "hook_event_name": event,
            "tool_name": self.tool,
            "tool_input": {"file_path": self.path},
            "tool_response": {"type": kind},
        })
        .to_string()
    }

    /// Asks as `brief context --client claude` does.
    fn answer(&self, system: &MemorySystem) -> Briefing {
        let project = Project::open(system, "/p").unwrap();
        let request = project.briefing(self.path).client("claude");
        request.action(self.action).timing(self.timing).resolve()
    }
}

/// Returns the words of a text, in order.
fn words(text: &str) -> Vec<String> {
    let starts = text.match_indices('T').map(|(start, _)| &text[start..]);
    let word = |rest: &str| {
        let end = rest.find('.')?;
        let is_word = end > 1 && rest[1..end].bytes().all(|byte| byte.is_ascii_digit());
        is_word.then(|| rest[..end].to_owned())
    };
    starts.filter_map(word).collect()
}

/// Issue: "what the hook says over a session is what `context` says for the same moments, each item once".
#[test]
fn the_hook_says_what_context_says_each_item_once() {
    arbtest::arbtest(|bytes| {
        let system = project(bytes)?;
        let mut told: HashSet<(State, PathBuf, String)> = HashSet::new();
        // A nested file that Claude Code has attached to a read, or the same text, stays in the conversation when an edit,
        // which attaches none, follows: `context` knows no earlier call, so these texts are left out of the comparison.
        let mut attached: HashSet<String> = HashSet::new();
        for _ in 0..bytes.int_in_range(1..=6)? {
            let call = call(bytes)?;
            let (mut active, mut listed) = (Vec::new(), Vec::new());
            let briefing = call.answer(&system);
            let is_there = |kind| matches!(kind, ReasonKind::Loaded | ReasonKind::SameTextLoaded);
            let there = briefing.left_out.iter().filter(|item| is_there(item.reason.kind));
            attached.extend(there.flat_map(|item| words(&item.first_line)));
            for item in briefing.items() {
                let (text, list) = match item.state {
                    State::Active => (item.content.trim(), &mut active),
                    State::Listed => (item.description.trim(), &mut listed),
                    State::Manual => continue,
                };
                let key = |path: &Path| (item.state, path.to_owned(), text.to_owned());
                if told.insert(key(&item.path)) {
                    list.extend(words(text));
                }
                told.extend(item.also.iter().map(|place| key(&place.path)));
            }
            let outcome = answer_hook(&system, call.payload().as_bytes(), ONCE).unwrap();
            let json: Value = outcome
                .into_line()
                .map_or(Value::Null, |text| serde_json::from_str(&text).unwrap());
            let text = json["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default();
            active.append(&mut listed);
            let mut delivered = words(text);
            for list in [&mut delivered, &mut active] {
                list.retain(|word| !attached.contains(word));
            }
            assert_eq!(delivered, active, "{} {}:\n{text}", call.tool, call.path);
            assert_eq!(json.get("systemMessage"), None);
        }
        Ok(())
    });
}

/// A text that two files have is one item as soon as both apply: the other place is told with it.
#[test]
fn a_text_of_two_files_is_told_once() {
    let system = MemorySystem::new("/p")
        .with_dir("/p/.git")
        .with_env("HOME", "/home/u")
        .with_env("XDG_STATE_HOME", "/state")
        .with_file("/p/x.py", "")
        .with_file("/p/a/x.py", "")
        .with_file(
            "/p/AGENTS.yaml",
            "context:\n- {content: T0., match: ['**'], on: read, when: all}\n",
        )
        .with_file("/p/a/.context/a.md", "---\ntrigger: always\n---\nT0.\n");
    let mut said = Vec::new();
    for (path, tool, action) in [
        ("a/x.py", "Edit", Action::Edit),
        ("a/x.py", "Read", Action::Read),
        ("x.py", "Read", Action::Read),
    ] {
        let call = HookCall { path, tool, action, timing: Timing::Before };
        let outcome = answer_hook(&system, call.payload().as_bytes(), ONCE).unwrap();
        said.push(outcome.into_line().map_or(0, |text| words(&text).len()));
    }
    assert_eq!(said, [1, 0, 0]);
}

/// Ruling S6: the answer fits, the most specific entries survive, and nothing is lost over a conversation.
#[test]
fn every_answer_fits_and_the_rest_follows() {
    arbtest::arbtest(|bytes| {
        let count = bytes.int_in_range(1..=40)?;
        let mut entries = String::from("context:\n");
        for number in 0..count {
            let length = bytes.int_in_range(1..=3_000)?;
            let letter = bytes.choose(&["x", "é", "\\\"", "😀"])?;
            entries.push_str(&format!("- content: \"T{number}. {}\"\n", letter.repeat(length)));
        }
        let system = MemorySystem::new("/p")
            .with_env("XDG_STATE_HOME", "/state")
            .with_file("AGENTS.yaml", entries)
            .with_file("x.py", "");
        let call =
            HookCall { path: "x.py", tool: "Read", action: Action::Read, timing: Timing::Before };
        let options = HookOptions { budget: usize::MAX, ..ONCE };
        let mut told = Vec::new();
        for turn in 0..=count {
            let outcome = answer_hook(&system, call.payload().as_bytes(), options).unwrap();
            let Some(text) = outcome.into_line() else { break };
            assert!(turn < count, "every answer brings something new");
            // The limit of Claude Code 2.1.325.
            assert!(text.encode_utf16().count() <= 10_000);
            let json: Value = serde_json::from_str(&text).unwrap();
            let text = json["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
            if turn == 0 {
                assert!(
                    text.contains(&format!("T{}. ", count - 1)),
                    "the last is the most specific"
                );
            }
            told.extend(words(text));
        }
        told.sort_unstable();
        let mut all: Vec<String> = (0..count).map(|number| format!("T{number}")).collect();
        all.sort_unstable();
        assert_eq!(told, all);
        Ok(())
    });
}

/// A repeatable sequence of numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }
}

/// Guidance in several formats and directories; each text has a word of its own.
fn unique_texts() -> MemorySystem {
    let mut system =
        MemorySystem::new("/p").with_dir("/p/.git").with_env("XDG_STATE_HOME", "/state");
    let mut count = 0;
    let mut word = || {
        count += 1;
        format!("T{count}.")
    };
    for directory in ["", "a/", "a/b/", "a/b/c/", "d/"] {
        let mut entries = String::from("context:\n");
        for on in ["read", "edit", "create", "all"] {
            for when in ["before", "after", "all"] {
                for pattern in ["**/*.py", "**"] {
                    let content = word();
                    entries.push_str(&format!(
                        "- {{content: {content}, match: ['{pattern}'], on: {on}, when: {when}}}\n"
                    ));
                }
            }
        }
        system = system
            .with_file(&format!("/p/{directory}AGENTS.yaml"), entries)
            .with_file(
                &format!("/p/{directory}.context/x.md"),
                format!("---\ntrigger: always\n---\n{}\n", word()),
            )
            .with_file(
                &format!("/p/{directory}.cursor/rules/y.mdc"),
                format!("---\nglobs: '**/*.py'\n---\n{}\n", word()),
            )
            .with_file(&format!("/p/{directory}z.py"), "")
            .with_file(&format!("/p/{directory}z.md"), "");
    }
    system.with_file("/p/.agents/rules/r.md", format!("{}\n", word()))
}

/// "A replayed session of 5,000 calls: no item twice, none lost": for a client that shows a text before a tool, and one
/// that drops it.
#[test]
fn a_long_session_gets_everything_once() {
    const FILES: [&str; 10] = [
        "z.py",
        "z.md",
        "a/z.py",
        "a/z.md",
        "a/b/z.py",
        "a/b/z.md",
        "a/b/c/z.py",
        "d/z.py",
        "d/z.md",
        "a/new.py",
    ];
    for (client, events, tools, key) in [
        (
            "claude",
            ["SessionStart", "PreToolUse", "PostToolUse"],
            ["Read", "Edit", "Write"],
            "file_path",
        ),
        (
            "gemini",
            ["SessionStart", "BeforeTool", "AfterTool"],
            ["read_file", "replace", "write_file"],
            "file_path",
        ),
    ] {
        let system = unique_texts();
        let options = HookOptions { client, budget: usize::MAX, ..ONCE };
        let carries = client == "claude";
        let mut numbers = Numbers(7);
        let mut told: HashSet<String> = HashSet::new();
        let ask = |payload: Value, told: &mut HashSet<String>| {
            let outcome = answer_hook(&system, payload.to_string().as_bytes(), options).unwrap();
            let Some(text) = outcome.into_line() else { return };
            let json: Value = serde_json::from_str(&text).unwrap();
            let text = json["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default();
            for word in words(text) {
                assert!(told.insert(word.clone()), "{client}: {word} twice");
            }
        };
        let base = json!({"session_id": "s", "cwd": "/p", "transcript_path": "/t"});
        let with = |more: Value| {
            let mut payload = base.clone();
            payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            payload
        };
        ask(with(json!({"hook_event_name": events[0], "source": "startup"})), &mut told);
        let mut compared = HashSet::new();
        for _ in 0..if carries { 2_500 } else { 500 } {
            let (file, tool) = (FILES[numbers.below(FILES.len())], numbers.below(tools.len()));
            let is_new = file.contains("new");
            let action =
                [Action::Read, Action::Edit, if is_new { Action::Create } else { Action::Edit }]
                    [tool];
            let response = if is_new { "Successfully created" } else { "text" };
            let kind = if is_new { "create" } else { "update" };
            for event in &events[if carries { 1 } else { 2 }..] {
                ask(
                    with(json!({
                        "hook_event_name": event,
                        "tool_name": tools[tool],
                        "tool_input": {key: file},
                        "tool_response": {"type": kind, "llmContent": response},
                    })),
                    &mut told,
                );
            }
            // What was said once is not due again.
            if !compared.insert((file, tool)) {
                continue;
            }
            let project = Project::open(&system, "/p").unwrap();
            let briefing = project.briefing(file).client(client).action(action).resolve();
            for item in briefing.active {
                for word in words(&item.content) {
                    assert!(told.contains(&word), "{client}: {word} is lost for {action:?} {file}");
                }
            }
        }
    }
}

/// Bad input: "a clock that goes backward". Texts may come again, and none is lost: neither with the calls, nor after a
/// compaction or a new session.
#[test]
fn a_clock_that_goes_backward_loses_nothing() {
    const DAY: Duration = Duration::from_hours(24);
    let events = [
        json!({"hook_event_name": "SessionStart", "source": "startup"}),
        json!({"hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {"file_path": "x.py"}}),
        json!({"hook_event_name": "SessionStart", "source": "compact"}),
        json!({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "make"}}),
        json!({"hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {"file_path": "a/x.py"}}),
        json!({"hook_event_name": "SessionStart", "source": "startup"}),
        json!({"hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {"file_path": "a/x.py"}}),
    ];
    let run = |shift: &dyn Fn(&MemorySystem)| -> Vec<Vec<String>> {
        let system = MemorySystem::new("/p")
            .with_dir("/p/.git")
            .with_env("HOME", "/home/u")
            .with_env("XDG_STATE_HOME", "/state")
            .with_file("/p/x.py", "")
            .with_file("/p/a/x.py", "")
            .with_file(
                "/p/AGENTS.yaml",
                "context:\n- {content: T0.}\n- {content: T1., match: ['*.py']}\n",
            )
            .with_file("/p/a/AGENTS.yaml", "context:\n- {content: T2., match: ['*.py']}\n")
            .with_file("/p/.context/a.md", "---\ntrigger: always\n---\nT3.\n");
        // Far from zero, where a clock would stand still instead of going back.
        system.advance_clock(400 * DAY);
        let said = events.iter().map(|event| {
            let mut payload = json!({"session_id": "s", "cwd": "/p"});
            payload.as_object_mut().unwrap().extend(event.as_object().unwrap().clone());
            let outcome = answer_hook(&system, payload.to_string().as_bytes(), ONCE).unwrap();
            shift(&system);
            words(&outcome.into_line().unwrap_or_default())
        });
        said.collect()
    };
    let steady = run(&|system| system.advance_clock(Duration::from_mins(1)));
    assert!(
        steady[0].contains(&"T3".to_owned()) && steady[6].contains(&"T2".to_owned()),
        "{steady:?}"
    );
    for back in [Duration::from_millis(1), Duration::from_secs(3), DAY, 10 * DAY, 30 * DAY] {
        let told = run(&|system| system.turn_back(back));
        for (event, (told, due)) in told.iter().zip(&steady).enumerate() {
            let lost: Vec<_> = due.iter().filter(|word| !told.contains(word)).collect();
            assert!(lost.is_empty(), "event {event}, back by {back:?}: {lost:?}");
        }
    }
}

/// A resumed run that reads nothing new, and is resumed again a second later: both starts are delivered.
#[test]
fn a_session_that_is_resumed_twice_at_once_gets_its_start_twice() {
    let system = MemorySystem::new("/p")
        .with_dir("/p/.git")
        .with_env("HOME", "/home/u")
        .with_env("XDG_STATE_HOME", "/state")
        .with_file("/p/a.py", "")
        .with_file("/p/AGENTS.yaml", "context:\n- {content: T0.}\n");
    let send = |more: Value| {
        system.advance_clock(Duration::from_secs(1));
        let mut payload = json!({"session_id": "s", "cwd": "/p"});
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let options = HookOptions { client: "opencode", ..ONCE };
        let outcome = answer_hook(&system, payload.to_string().as_bytes(), options).unwrap();
        words(&outcome.into_line().unwrap_or_default()).contains(&"T0".to_owned())
    };
    let start = || send(json!({"event": "start", "source": "request"}));
    let read = |id: &str| {
        send(json!({
            "event": "after", "tool_name": "read", "tool_input": {"filePath": "a.py"}, "call_id": id,
        }))
    };
    assert!(start());
    assert!(!read("1"), "what came with the start does not come again");
    assert!(start());
    // Two hooks that report one start deliver it once.
    assert!(!start());
    assert!(!read("2"));
    assert!(start());
}
