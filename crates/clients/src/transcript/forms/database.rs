//! A `SQLite` database with sessions, messages and parts.
//!
//! It is never opened where it is: even a reader would make or change files beside it. A copy with its log is made in a
//! private directory, and removed as soon as it was read.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};

use brief_profiles::{Client, TranscriptProfile};
use brief_system::{Dir, Permission, ReadError, System};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::super::TranscriptReadError;
use super::super::diff::parse_unified;
use super::super::model::{
    CallKind, ChangeAction, ChangedText, Changes, EventBody, Outcome, RecordedChange,
    RecordedSession, ToolCall,
};
use super::super::node::{Keys, Node};
use super::super::recorder::{Recorder, outcome_of_exit, time_of};

const KEYS: Keys = Keys::new(&[
    "role",
    "time",
    "created",
    "start",
    "end",
    "type",
    "tool",
    "callID",
    "state",
    "status",
    "input",
    "output",
    "metadata",
    "exit",
    "diff",
    "exists",
    "filepath",
    "files",
    "snapshot",
    "synthetic",
    "filePath",
    "oldString",
    "newString",
    "content",
    "command",
    "workdir",
    "patchText",
    "edits",
    "name",
    "path",
    "paths",
    "error",
]);

/// The largest database that is copied.
const MOST_BYTES: u64 = 8 * 1024 * 1024 * 1024;

/// A client that writes while it is copied is waited for so many times.
const MOST_TRIES: usize = 4;

/// Reads the sessions whose directory is wanted.
pub(in super::super) fn read_database(
    system: &dyn System,
    (directory, name): (&dyn Dir, &OsStr),
    path: &Path,
    (client, profile): (&Client, &TranscriptProfile),
    is_wanted: &dyn Fn(&Path) -> bool,
) -> Result<Vec<RecordedSession>, TranscriptReadError> {
    let copy = system.temporary_dir().map_err(|error| TranscriptReadError::Read(error.into()))?;
    copy_database(system, (directory, name), path, copy.path())?;
    let connection =
        open_copy(&copy.path().join("copy.db")).map_err(TranscriptReadError::Database)?;
    read_sessions(&connection, client, profile, is_wanted).map_err(TranscriptReadError::Database)
}

fn copy_database(
    system: &dyn System,
    (directory, name): (&dyn Dir, &OsStr),
    path: &Path,
    target: &Path,
) -> Result<(), TranscriptReadError> {
    let with = |suffix: &str| {
        let mut name = OsString::from(name);
        name.push(suffix);
        name
    };
    let log = with("-wal");
    let log_path = path.with_file_name(&log);
    let stamps = || (system.stamp(path).ok(), system.stamp(&log_path).ok());
    for _ in 0..MOST_TRIES {
        let before = stamps();
        let target =
            system.open_dir(target).map_err(|error| TranscriptReadError::Read(error.into()))?;
        copy_file(directory, name, target.as_ref(), "copy.db")?;
        match copy_file(directory, &log, target.as_ref(), "copy.db-wal") {
            Ok(()) | Err(ReadError::Missing) => {}
            Err(error) => return Err(error.into()),
        }
        if stamps() == before {
            return Ok(());
        }
        for name in ["copy.db", "copy.db-wal"] {
            let _ = target.remove_file(OsStr::new(name));
        }
    }
    Err(TranscriptReadError::Busy)
}

fn copy_file(from: &dyn Dir, name: &OsStr, to: &dyn Dir, target: &str) -> Result<(), ReadError> {
    let mut file: Option<Box<dyn Write>> = None;
    from.read_pieces(name, MOST_BYTES, &mut |piece| {
        let file = match &mut file {
            Some(file) => file,
            None => file.insert(to.create_file(OsStr::new(target), Permission::Data)?),
        };
        file.write_all(piece)
    })?;
    if let Some(mut file) = file {
        file.flush()?;
    }
    Ok(())
}

/// Opens the copy, which may be made by anybody: nothing in its schema runs.
fn open_copy(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    Ok(connection)
}

fn read_sessions(
    connection: &Connection,
    client: &Client,
    profile: &TranscriptProfile,
    is_wanted: &dyn Fn(&Path) -> bool,
) -> rusqlite::Result<Vec<RecordedSession>> {
    let mut sessions = Vec::new();
    let mut statement = connection
        .prepare("SELECT id, directory, parent_id, version FROM session ORDER BY time_created")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let directory = PathBuf::from(row.get::<_, String>(1)?);
        if !is_wanted(&directory) {
            continue;
        }
        let mut recorder = Recorder::new(client, profile);
        recorder.session.id = row.get(0)?;
        recorder.session.directory = Some(directory);
        recorder.session.parent = row.get(2)?;
        recorder.session.version = row.get(3)?;
        read_parts(connection, &mut recorder)?;
        sessions.push(recorder.finish());
    }
    Ok(sessions)
}

/// The calls of an answer, and what the client saw in its own snapshots around it.
#[derive(Default)]
struct Step {
    calls: Vec<String>,
    has_snapshot: bool,
    files: Vec<PathBuf>,
}

fn read_parts(connection: &Connection, recorder: &mut Recorder<'_>) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(
        "SELECT m.id, m.data, p.data FROM message m LEFT JOIN part p ON p.message_id = m.id \
         WHERE m.session_id = ?1 ORDER BY m.time_created, m.id, p.time_created, p.id",
    )?;
    let mut rows = statement.query([recorder.session.id.clone()])?;
    let mut message: Option<String> = None;
    let mut step = Step::default();
    while let Some(row) = rows.next()? {
        recorder.record = recorder.record.saturating_add(1);
        let id: String = row.get(0)?;
        if message.as_deref() != Some(&id) {
            std::mem::take(&mut step).finish(recorder);
            let data = row.get_ref(1)?.as_bytes().unwrap_or_default();
            read_message(recorder, &id, data);
            message = Some(id);
        }
        let Ok(data) = row.get_ref(2)?.as_bytes() else { continue };
        match KEYS.parse(data) {
            Ok(part) => read_part(recorder, &part, &mut step),
            Err(_) => recorder.session.gaps.add_broken_line(recorder.record),
        }
    }
    step.finish(recorder);
    Ok(())
}

fn read_message(recorder: &mut Recorder<'_>, id: &str, data: &[u8]) {
    let Ok(message) = KEYS.parse(data) else {
        recorder.session.gaps.add_broken_line(recorder.record);
        return;
    };
    recorder.set_time(time_of(message.at(&["time", "created"])));
    match message.find_text("role").unwrap_or_default() {
        "user" => recorder.add_event(EventBody::Prompt),
        "assistant" => recorder.add_answer(Some(id)),
        kind => recorder.session.gaps.add_unknown_kind(kind),
    }
}

fn read_part(recorder: &mut Recorder<'_>, part: &Node<'_>, step: &mut Step) {
    match part.find_text("type").unwrap_or_default() {
        "tool" => read_tool(recorder, part, step),
        "step-start" => step.has_snapshot = part.find_text("snapshot").is_some(),
        "patch" => {
            let files = part.get("files").list().iter().filter_map(Node::text);
            step.files.extend(files.map(PathBuf::from));
        }
        "compaction" => recorder.add_event(EventBody::Compaction),
        "text" | "reasoning" | "step-finish" | "file" | "agent" | "subtask" | "snapshot"
        | "retry" => {}
        kind => recorder.session.gaps.add_unknown_kind(kind),
    }
}

fn read_tool(recorder: &mut Recorder<'_>, part: &Node<'_>, step: &mut Step) {
    let Some(id) = part.find_text("callID") else { return };
    let state = part.get("state");
    recorder.set_time(time_of(state.at(&["time", "start"])));
    recorder.add_call(id, part.find_text("tool").unwrap_or_default(), state.get("input"));
    step.calls.push(id.to_owned());
    let Some(call) = recorder.call(id) else { return };
    let metadata = state.get("metadata");
    let exit = metadata.get("exit").number().and_then(|exit| i32::try_from(exit).ok());
    let outcome = match state.find_text("status") {
        Some("completed") => exit.map_or(Outcome::Ok, outcome_of_exit),
        // A call that a plugin refused looks the same.
        Some("error") => super::failed_with(exit),
        Some("pending" | "running") => return,
        _ => Outcome::Unknown,
    };
    if outcome == Outcome::Ok && call.kind == CallKind::Edit {
        describe_edit(call, metadata);
    }
    recorder.finish_call(id, outcome, None);
}

fn describe_edit(call: &mut ToolCall, metadata: &Node<'_>) {
    let diff = metadata.find_text("diff").and_then(parse_unified);
    let action = match metadata.get("exists").flag() {
        Some(false) => Some(ChangeAction::Create),
        Some(true) => Some(ChangeAction::Edit),
        None => None,
    };
    call.describe_change(metadata.find_text("filepath"), action, diff.map(ChangedText::Added));
    call.complete_creation();
}

impl Step {
    /// The snapshots show which files of the repository have changed in the answer: what no edit explains, a command did.
    fn finish(self, recorder: &mut Recorder<'_>) {
        if !self.has_snapshot {
            return;
        }
        let mut left = self.files;
        let mut shells = Vec::new();
        for id in &self.calls {
            let Some(call) = recorder.call(id) else { continue };
            if call.kind == CallKind::Shell && call.outcome != Outcome::Unfinished {
                shells.push(id.clone());
            } else {
                let changes = call.changes.known();
                left.retain(|file| !changes.iter().any(|change| change.path == *file));
            }
        }
        let mut shells = shells.into_iter();
        let Some(first) = shells.next() else { return };
        let change =
            |path| RecordedChange { path, action: ChangeAction::Write, text: ChangedText::Unknown };
        let changes = left.into_iter().map(change).collect();
        // Of several commands at once, nobody knows which one it was.
        for id in shells {
            if let Some(call) = recorder.call(&id) {
                call.changes = Changes::NONE;
            }
        }
        if let Some(call) = recorder.call(&first) {
            call.changes = Changes::Exact(changes);
        }
    }
}
