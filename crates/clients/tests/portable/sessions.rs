//! One scripted session, as ten clients recorded it (2026-11-20): what happened is known, so that each reader has to find it.
#![expect(clippy::disallowed_methods, reason = "records are real files")]

use std::fs;
use std::path::Path;

use brief_clients::transcript::{
    ChangedText, EventBody, Gaps, Outcome, RecordedSession, TranscriptContent, TranscriptFile,
    find_transcripts, read_transcript, recognize_transcript,
};
use brief_profiles::BUILTIN;
use brief_system::OsSystem;
use tempfile::TempDir;

/// The places of the records below a home directory, and their texts.
const RECORDS: [(&str, &str, &str); 11] = [
    ("claude", ".claude/projects/-project/a.jsonl", include_str!("../transcripts/claude.jsonl")),
    (
        "codex",
        ".codex/sessions/2026/11/20/rollout-a.jsonl",
        include_str!("../transcripts/codex.jsonl"),
    ),
    (
        "gemini",
        ".gemini/tmp/project/chats/session-a.jsonl",
        include_str!("../transcripts/gemini.jsonl"),
    ),
    ("gemini", ".gemini/tmp/project/.project_root", "/project"),
    ("qwen", ".qwen/projects/-project/chats/a.jsonl", include_str!("../transcripts/qwen.jsonl")),
    (
        "copilot",
        ".copilot/session-state/a/events.jsonl",
        include_str!("../transcripts/copilot.jsonl"),
    ),
    ("pi", ".pi/agent/sessions/--project--/a.jsonl", include_str!("../transcripts/pi.jsonl")),
    ("droid", ".factory/sessions/-project/a.jsonl", include_str!("../transcripts/droid.jsonl")),
    ("cline", ".cline/data/sessions/a/a.json", include_str!("../transcripts/cline.json")),
    (
        "cline",
        ".cline/data/sessions/a/a.messages.json",
        include_str!("../transcripts/cline.messages.json"),
    ),
    ("claude", ".claude/projects/-project/a/tool-results/b.txt", "a long output\n"),
];

const DATABASES: [(&str, &str, &str); 2] = [
    ("opencode", ".local/share/opencode/opencode.db", include_str!("../transcripts/opencode.sql")),
    ("kilo", ".local/share/kilo/kilo.db", include_str!("../transcripts/kilo.sql")),
];

fn write(home: &Path, path: &str, text: &[u8]) {
    let path = home.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Lays out a home directory with the records of all clients.
fn home() -> TempDir {
    let home = TempDir::new().unwrap();
    for (_, path, text) in RECORDS {
        write(home.path(), path, text.as_bytes());
    }
    for (_, path, sql) in DATABASES {
        write(home.path(), path, b"");
        let connection = rusqlite::Connection::open(home.path().join(path)).unwrap();
        connection.pragma_update(None, "journal_mode", "wal").unwrap();
        connection.execute_batch(sql).unwrap();
        // As a client leaves it that is still there: the log is not merged.
        connection
            .set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
            .unwrap();
    }
    home
}

fn sessions(home: &Path, client: &str) -> Vec<RecordedSession> {
    let client = BUILTIN.find_client(client).unwrap();
    let files = find_transcripts(&OsSystem, home, client).unwrap();
    let read = |file: &TranscriptFile<'_>| match read_transcript(&OsSystem, file, &|directory| {
        directory == Path::new("/project")
    }) {
        Ok(TranscriptContent::Sessions(sessions)) => sessions,
        other => panic!("{}: {other:?}", file.path.display()),
    };
    files.iter().flat_map(read).collect()
}

/// Returns what a session did, one line for each call.
fn story(session: &RecordedSession) -> Vec<String> {
    let calls = session.calls().map(|(_, call)| {
        let subject = match call.commands.as_slice() {
            [] => call
                .reads
                .iter()
                .map(|path| path.display().to_string())
                .collect::<Vec<_>>()
                .join(" "),
            lines => lines.join("; ").lines().next().unwrap().to_owned(),
        };
        let changes = call.changes.known().iter().map(|change| {
            let action = format!("{:?}", change.action).to_lowercase();
            let path = change.path.strip_prefix("/project").unwrap_or(&change.path);
            format!(" {action} {}{}", path.display(), describe(&change.text))
        });
        let changes: String = changes.collect();
        let more = if call.changes.is_exact() { "" } else { " and maybe more" };
        let kind = call.kind.as_str();
        let subject = subject.replace("/project/", "");
        let line = format!("{kind} {subject}: {}{changes}{more}", call.outcome.describe());
        line.replace(" :", ":")
    });
    calls.collect()
}

fn describe(text: &ChangedText) -> String {
    match text {
        ChangedText::Unknown => String::new(),
        ChangedText::Added(runs) => {
            let runs: Vec<_> = runs
                .iter()
                .map(|run| {
                    format!(
                        "{}:{}",
                        run.first.map_or("?".to_owned(), |first| first.to_string()),
                        run.text
                    )
                })
                .collect();
            format!(" +[{}]", runs.join(", "))
        }
        ChangedText::Whole { before, after } => format!(" {before:?} -> {after:?}"),
        ChangedText::Parts(parts) => format!(" parts {parts:?}"),
    }
}

/// What the script did, in the words of [`story`]. The model repeated the edit that failed.
fn expected(client: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut add = |line: &str| lines.push(line.to_owned());
    let shows_shell = matches!(client, "claude" | "opencode" | "kilo");
    let denied = "denied by the client's settings";
    match client {
        "codex" => add("shell cat src/a.py: ok"),
        _ => add("read src/a.py: ok"),
    }
    let whole = r#" Some("x = 1\nkeep\n") -> "x = 2\nkeep\n""#;
    add(&match client {
        "claude" | "gemini" | "qwen" => format!("edit: ok edit src/a.py{whole}"),
        "cline" => r#"edit: ok edit src/a.py parts [("x = 1", "x = 2")]"#.to_owned(),
        _ => "edit: ok edit src/a.py +[1:x = 2]".to_owned(),
    });
    add(match client {
        "codex" => r#"edit: ok create src/new.py Some("") -> "import os\n""#,
        "copilot" | "kilo" => "edit: ok create src/new.py +[1:import os]",
        "pi" => r#"edit: ok write src/new.py None -> "import os""#,
        _ => r#"edit: ok create src/new.py Some("") -> "import os""#,
    });
    add("edit: failed");
    add("edit: failed");
    add(if shows_shell {
        "shell npm install left-pad: ok"
    } else {
        "shell npm install left-pad: ok and maybe more"
    });
    let sed = "shell sed -i s/one/two/ src/b.txt:";
    add(&match client {
        "claude" => format!("{sed} ok edit src/b.txt +[1:two]"),
        "opencode" | "kilo" => format!("{sed} ok write src/b.txt"),
        "qwen" => format!("{sed} {denied}"),
        _ => format!("{sed} ok edit src/b.txt and maybe more"),
    });
    let append = "shell cd src && echo more >> e.txt; exit 3: failed";
    add(&match client {
        "opencode" | "kilo" => format!("{append}, exit status 3 write src/e.txt"),
        _ => format!("{append}, exit status 3 and maybe more"),
    });
    let heredoc = "shell cat > src/h.txt <<'END': ok";
    add(&match client {
        "claude" => format!("{heredoc} create src/h.txt +[1:hello] delete src/gone.txt +[]"),
        "opencode" | "kilo" => format!("{heredoc} write src/gone.txt write src/h.txt"),
        _ => format!("{heredoc} write src/h.txt edit src/gone.txt and maybe more"),
    });
    add("shell git add -A && git commit -qm 'second (no-changelog)': ok");
    lines
}

/// Every client's record says what happened, and nothing that did not. What it does not show is open.
#[test]
fn each_client_tells_the_same_story() {
    let home = home();
    let clients: Vec<&str> = RECORDS.iter().chain(&DATABASES).map(|(client, ..)| *client).collect();
    let mut seen: Vec<&str> = Vec::new();
    let mut wrong = String::new();
    for client in clients {
        if seen.contains(&client) {
            continue;
        }
        seen.push(client);
        let sessions = sessions(home.path(), client);
        assert_eq!(sessions.len(), 1, "{client}");
        let session = &sessions[0];
        assert!(
            !session.id.is_empty() && session.gaps == Gaps::default(),
            "{client}: {:?}",
            session.gaps
        );
        assert!(session.started.is_some() && !session.is_open(), "{client}");
        assert_eq!(session.directory.as_deref(), Some(Path::new("/project")), "{client}");
        let prompts = session.events.iter().filter(|event| event.body == EventBody::Prompt);
        assert_eq!(prompts.count(), 1, "{client}");
        // One call in each answer.
        let steps: Vec<u32> = session.calls().map(|(event, _)| event.step).collect();
        assert_eq!(steps, (1..=10).collect::<Vec<u32>>(), "{client}");
        let (told, expected) = (story(session), expected(client));
        if told != expected {
            for (told, expected) in
                told.iter().zip(&expected).filter(|(told, expected)| told != expected)
            {
                wrong += &format!("{client}\n  told     {told}\n  expected {expected}\n");
            }
        }
    }
    assert_eq!(seen.len(), 10);
    assert!(wrong.is_empty(), "{wrong}");
}

/// A fork has the calls of its origin with the same ids.
#[test]
fn a_fork_repeats_ids() {
    let home = home();
    let fork = include_bytes!("../transcripts/claude-fork.jsonl");
    write(home.path(), ".claude/projects/-project/b.jsonl", fork);
    let mut all = sessions(home.path(), "claude");
    all.sort_by_key(|session| session.ended);
    let ids = |session: &RecordedSession| -> Vec<String> {
        session.calls().map(|(_, call)| call.id.clone()).collect()
    };
    let (origin, fork) = (ids(&all[0]), ids(&all[1]));
    assert_eq!((origin.len(), fork.len()), (10, 11));
    assert_eq!(fork[..10], origin);
}

/// Of another project's records, nothing is taken.
#[test]
fn records_of_other_projects_are_foreign() {
    let home = home();
    for (client, ..) in RECORDS.iter().chain(&DATABASES) {
        let client = BUILTIN.find_client(client).unwrap();
        for file in find_transcripts(&OsSystem, home.path(), client).unwrap() {
            let found = read_transcript(&OsSystem, &file, &|_| false);
            assert!(matches!(found, Ok(TranscriptContent::Foreign)), "{}: {found:?}", client.id);
        }
    }
}

/// Reads a damaged record of a client.
fn read_damaged(client: &str, text: &[u8]) -> RecordedSession {
    let home = TempDir::new().unwrap();
    let (_, path, _) = RECORDS.iter().find(|(own, ..)| *own == client).unwrap();
    write(home.path(), path, text);
    sessions(home.path(), client).remove(0)
}

/// Missing bytes, swapped lines, wrong times and a newer version's records: the rest is read, and the gap is reported.
#[test]
fn damaged_records_give_what_is_left() {
    let text = include_str!("../transcripts/claude.jsonl");
    let lines: Vec<&str> = text.lines().collect();
    let join = |lines: &[&str]| lines.join("\n").into_bytes();
    let result = lines.iter().position(|line| line.contains("\"tool_result\"")).unwrap();
    let call = result - 1;
    assert!(lines[call].contains("\"tool_use\""));
    let all = 10;

    // The last line was cut.
    let session = read_damaged("claude", &text.as_bytes()[..text.len() - 9]);
    assert!(session.gaps.has_unfinished_line || session.gaps.broken_count == 1);

    // Bytes are missing in a call: its result has none.
    let cut = lines[call].replace("\"tool_use\"", "");
    let mut damaged = lines.clone();
    damaged[call] = &cut;
    let session = read_damaged("claude", &join(&damaged));
    assert_eq!(
        (session.calls().count(), session.gaps.broken_count, session.gaps.lone_results),
        (all - 1, 1, 1)
    );
    assert!(session.gaps.may_hide_calls());
    let line = format!("1 damaged line skipped, first line {}", call + 1);
    assert_eq!(session.gaps.describe(), [line.as_str(), "1 result without a call"]);

    // Bytes are missing in a result: nobody knows how the call ended.
    let cut = &lines[result][..lines[result].len() / 2];
    let mut damaged = lines.clone();
    damaged[result] = cut;
    let session = read_damaged("claude", &join(&damaged));
    assert_eq!((session.calls().count(), session.gaps.broken_count), (all, 1));
    assert_eq!(session.calls().next().unwrap().1.outcome, Outcome::Unfinished);

    // A result stands before its call.
    let mut damaged = lines.clone();
    damaged.swap(call, result);
    let session = read_damaged("claude", &join(&damaged));
    assert_eq!((session.calls().count(), session.gaps.lone_results), (all, 1));

    // Lines come twice.
    let twice: Vec<&str> = lines.iter().flat_map(|line| [*line, *line]).collect();
    let session = read_damaged("claude", &join(&twice));
    assert_eq!((session.calls().count(), &session.gaps), (all, &Gaps::default()));

    // A clock went back by a day.
    let early = lines[result].replace("2026-11-20T", "2026-11-19T");
    let mut damaged = lines.clone();
    damaged[result] = &early;
    let session = read_damaged("claude", &join(&damaged));
    assert_eq!((session.calls().count(), session.gaps.time_jumps), (all, 1));

    // Times that are none.
    let none = text.replace("2026-11-20T", "99999-99-99T");
    let session = read_damaged("claude", none.as_bytes());
    assert_eq!((session.calls().count(), session.started), (all, None));

    // A newer version has other records, and other types in known fields.
    let newer = "{\"type\": \"tool-v2\", \"uuid\": \"n\"}\n{\"type\": 7, \"message\": []}\n[1, 2]\n{\"type\": \"assistant\", \"message\": {\"content\": {\"a\": 1}, \"id\": 4}}";
    let session = read_damaged("claude", format!("{text}{newer}\n").as_bytes());
    assert_eq!(session.calls().count(), all);
    assert!(session.gaps.describe().contains(&"1 record of unknown kind `tool-v2`".to_owned()));

    // Zeros, as a crash of the machine leaves them.
    let mut zeros = text.as_bytes().to_vec();
    zeros.extend([0; 4096]);
    let session = read_damaged("claude", &zeros);
    assert_eq!(session.calls().count(), all);
    assert!(session.gaps.has_unfinished_line);

    // Nesting without end.
    let deep = format!("{text}{}\n", "[".repeat(100_000));
    let session = read_damaged("claude", deep.as_bytes());
    assert_eq!((session.calls().count(), session.gaps.broken_count), (all, 1));
}

/// Gemini writes a resumed history anew, without results: the record is a union.
#[test]
fn a_rewritten_history_counts_once() {
    let text = include_str!("../transcripts/gemini.jsonl");
    let with_calls = text.lines().rfind(|line| line.contains("\"toolCalls\"")).unwrap();
    let stripped = with_calls.replace("\"status\": \"success\", ", "");
    let again = format!("{text}{{\"$set\": {{\"messages\": [{stripped}]}}}}\n");
    let home = TempDir::new().unwrap();
    write(home.path(), ".gemini/tmp/project/chats/session-a.jsonl", again.as_bytes());
    write(home.path(), ".gemini/tmp/project/.project_root", b"/project\n");
    let session = &sessions(home.path(), "gemini")[0];
    assert_eq!(story(session), expected("gemini"));
}

/// Nothing that is no record becomes one, and nothing is written beside a database.
#[test]
fn other_files_are_reported() {
    let home = TempDir::new().unwrap();
    let path = ".local/share/opencode/opencode.db";
    write(
        home.path(),
        path,
        b"this is no database, but it is long enough to be looked at as one, is it not?",
    );
    let client = BUILTIN.find_client("opencode").unwrap();
    let files = find_transcripts(&OsSystem, home.path(), client).unwrap();
    let error = read_transcript(&OsSystem, &files[0], &|_| true).unwrap_err();
    assert!(error.to_string().starts_with("not a readable database"), "{error}");
    let names = fs::read_dir(home.path().join(path).parent().unwrap()).unwrap();
    assert_eq!(names.count(), 1);
    let claude = BUILTIN.find_client("claude").unwrap();
    assert!(find_transcripts(&OsSystem, home.path(), claude).unwrap().is_empty());
    write(home.path(), ".claude/projects/-p/a.jsonl", b"not json\n\n{}\n");
    let files = find_transcripts(&OsSystem, home.path(), claude).unwrap();
    assert!(matches!(
        read_transcript(&OsSystem, &files[0], &|_| true),
        Ok(TranscriptContent::Unplaced)
    ));
}

/// A file that the user names is recognized by its form.
#[test]
fn a_named_file_is_recognized() {
    let home = home();
    for (client, path, _) in RECORDS.iter().chain(&DATABASES) {
        if path.strip_suffix(".txt").is_some()
            || path.ends_with(".project_root")
            || path.ends_with("a.json")
        {
            continue;
        }
        let found =
            recognize_transcript(&OsSystem, BUILTIN.clients.iter(), &home.path().join(path));
        let found = found.unwrap_or_else(|| panic!("{client}"));
        // Kilo writes what opencode writes.
        let is_family = found.client.id.starts_with("opencode") && *client == "kilo"
            || &*found.client.id == "kilo" && *client == "opencode";
        assert!(&*found.client.id == *client || is_family, "{client}: {}", found.client.id);
    }
}
