//! The conversations that clients record, read only.
//!
//! A client's file says where they are and in which form ([`TranscriptProfile`]); `forms` has a reader for each form, `model`
//! what all of them become. A file is read line by line, in bounded memory. Whose conversation it is, its records say, not
//! its name: of another project's, nothing is read but the directory.

mod diff;
mod forms;
mod lines;
mod model;
mod node;
mod recorder;

use std::ffi::OsStr;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use brief_profiles::{Client, TranscriptForm, TranscriptProfile};
use brief_syntax::glob::Glob;
use brief_system::{Dir, FileKind, ReadError, Stamp, System};

use forms::{DOCUMENT_KEYS, find_line_form, read_database, read_document};
use lines::{Line, read_lines};
use node::Keys;
use recorder::Recorder;

pub use model::{
    AddedLines, CallKind, ChangeAction, ChangedText, Changes, DeniedBy, EventBody, Gaps, Outcome,
    RecordedChange, RecordedEvent, RecordedSession, ToolCall,
};

/// The most directories below each other that are searched.
const MOST_LEVELS: usize = 8;

/// The most files of one client.
const MOST_FILES: usize = 200_000;

/// The records in which a session has to say where it works.
const MOST_UNPLACED: u32 = 200;

/// The longest path in a file that names a project, in bytes.
const LONGEST_PATH: u64 = 4096;

/// The largest document that is read whole.
const MOST_DOCUMENT: u64 = 256 * 1024 * 1024;

/// A file with conversations.
#[derive(Debug, Clone)]
pub struct TranscriptFile<'c> {
    pub client: &'c Client,
    pub path: PathBuf,
    /// The state of the file, which every change of it changes; `None` where the system cannot tell.
    pub stamp: Option<Stamp>,
}

/// What a file turned out to be.
#[derive(Debug)]
pub enum TranscriptContent {
    /// The conversations of the project; one file may have several.
    Sessions(Vec<RecordedSession>),
    /// It is of another project.
    Foreign,
    /// It does not say where the client worked.
    Unplaced,
}

/// The reason why a file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum TranscriptReadError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("not a readable database: {0}")]
    Database(rusqlite::Error),
    #[error("not valid JSON: {0}")]
    Json(serde_json::Error),
    /// The client did not stop writing.
    #[error("the client keeps writing to it; try again when it is idle")]
    Busy,
}

/// Lists the files with conversations of a client, in no particular order. Without its directory there are none.
pub fn find_transcripts<'c>(
    system: &dyn System,
    home: &Path,
    client: &'c Client,
) -> io::Result<Vec<TranscriptFile<'c>>> {
    let Some(profile) = &client.transcripts else { return Ok(Vec::new()) };
    let base = home.join(&*profile.directory);
    let directory = match system.open_dir(&base) {
        Ok(directory) => directory,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let Ok(glob) = Glob::new(&profile.files) else { return Ok(Vec::new()) };
    let mut names = Vec::new();
    list_below(directory.as_ref(), &glob, "", &mut names, 0)?;
    let files = names.into_iter().map(|name| {
        let path = base.join(name);
        let stamp = stamp_of(system, &path, profile.form);
        TranscriptFile { client, path, stamp }
    });
    Ok(files.collect())
}

/// A database changes with its log.
fn stamp_of(system: &dyn System, path: &Path, form: TranscriptForm) -> Option<Stamp> {
    let stamp = system.stamp(path).ok()?;
    if form != TranscriptForm::Database {
        return Some(stamp);
    }
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    Some(match system.stamp(Path::new(&log)) {
        Ok(log) => Stamp { own: stamp.own, target: Some(log.own) },
        Err(_) => stamp,
    })
}

fn list_below(
    directory: &dyn Dir,
    glob: &Glob,
    prefix: &str,
    names: &mut Vec<String>,
    level: usize,
) -> io::Result<()> {
    for entry in directory.entries()? {
        let Some(name) = entry.name.to_str() else { continue };
        let path = format!("{prefix}{name}");
        match entry.kind {
            FileKind::File if glob.matches(&path) && names.len() < MOST_FILES => names.push(path),
            FileKind::Directory if level < MOST_LEVELS && glob.could_match_inside(&path) => {
                // A directory that cannot be opened hides its own files only.
                if let Ok(inner) = directory.open_dir(&entry.name) {
                    let _ = list_below(inner.as_ref(), glob, &format!("{path}/"), names, level + 1);
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Reads a file. `is_wanted` says whether a directory belongs to the project.
pub fn read_transcript(
    system: &dyn System,
    file: &TranscriptFile<'_>,
    is_wanted: &dyn Fn(&Path) -> bool,
) -> Result<TranscriptContent, TranscriptReadError> {
    let Some(profile) = &file.client.transcripts else { return Ok(TranscriptContent::Unplaced) };
    let parts = file.path.parent().zip(file.path.file_name());
    let (parent, name) = parts.ok_or(ReadError::Missing)?;
    let directory = system.open_dir(parent).map_err(ReadError::from)?;
    let place = (directory.as_ref(), name);
    match profile.form {
        TranscriptForm::Database => {
            let sessions =
                read_database(system, place, &file.path, (file.client, profile), is_wanted)?;
            Ok(if sessions.is_empty() {
                TranscriptContent::Foreign
            } else {
                TranscriptContent::Sessions(sessions)
            })
        }
        TranscriptForm::Document => read_whole(place, (file.client, profile), is_wanted),
        form => {
            let project = (form == TranscriptForm::ToolCalls)
                .then(|| find_project_root(system, parent))
                .flatten();
            read_by_lines(place, (file.client, profile), project, is_wanted)
        }
    }
}

/// Tells the client whose form a file has, by trying the built-in ones: a file that the user names lies anywhere.
pub fn recognize_transcript<'c>(
    system: &dyn System,
    clients: impl IntoIterator<Item = &'c Client>,
    path: &Path,
) -> Option<TranscriptFile<'c>> {
    let candidates = clients.into_iter().filter(|client| client.transcripts.is_some());
    let read = |client: &'c Client| {
        let file = TranscriptFile { client, path: path.to_owned(), stamp: None };
        let is_database = client
            .transcripts
            .as_ref()
            .is_some_and(|profile| profile.form == TranscriptForm::Database);
        if is_database && path.extension() != Some(OsStr::new("db")) {
            return None;
        }
        let found = read_transcript(system, &file, &|_| true).ok()?;
        let TranscriptContent::Sessions(sessions) = found else { return None };
        let calls: usize = sessions.iter().map(|session| session.calls().count()).sum();
        let unknown: usize = sessions.iter().map(|session| session.gaps.unknown_kinds.len()).sum();
        (sessions.iter().any(|session| !session.id.is_empty())).then_some((
            calls,
            usize::MAX - unknown,
            file,
        ))
    };
    let best = candidates.filter_map(read).max_by_key(|(calls, known, _)| (*calls, *known));
    best.map(|(_, _, file)| file)
}

fn read_by_lines(
    (directory, name): (&dyn Dir, &OsStr),
    (client, profile): (&Client, &TranscriptProfile),
    project: Option<PathBuf>,
    is_wanted: &dyn Fn(&Path) -> bool,
) -> Result<TranscriptContent, TranscriptReadError> {
    let Some(form) = find_line_form(profile.form) else { return Ok(TranscriptContent::Unplaced) };
    let mut recorder = Recorder::new(client, profile);
    recorder.session.directory = project;
    let mut is_placed = false;
    let mut is_foreign = false;
    read_lines(directory, name, &mut |number, line| {
        recorder.record = number;
        match line {
            Line::TooLong => recorder.session.gaps.long_lines += 1,
            Line::Whole(line) | Line::Unfinished(line) if (form.skips)(line) => {}
            Line::Whole(line) => match form.keys.parse(line) {
                Ok(record) => (form.read)(&mut recorder, &record),
                Err(_) if line.iter().all(u8::is_ascii_whitespace) => {}
                Err(_) => recorder.session.gaps.add_broken_line(number),
            },
            // The last line may be whole without its line break.
            Line::Unfinished(line) => match form.keys.parse(line) {
                Ok(record) => (form.read)(&mut recorder, &record),
                Err(_) => recorder.session.gaps.has_unfinished_line = true,
            },
        }
        if !is_placed {
            if let Some(directory) = &recorder.session.directory {
                is_placed = true;
                is_foreign = !is_wanted(directory);
            }
            if is_foreign || (!is_placed && number > MOST_UNPLACED) {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    })?;
    Ok(match (is_placed, is_foreign) {
        (false, _) => TranscriptContent::Unplaced,
        (true, true) => TranscriptContent::Foreign,
        (true, false) => TranscriptContent::Sessions(vec![recorder.finish()]),
    })
}

/// Returns the project of a directory of chats: a file above it names it, and the chats do not.
fn find_project_root(system: &dyn System, chats: &Path) -> Option<PathBuf> {
    let above = chats.ancestors().skip(1).take(3);
    above.into_iter().find_map(|directory| {
        let bytes = system.read(&directory.join(".project_root"), LONGEST_PATH).ok()?;
        let path = PathBuf::from(String::from_utf8(bytes).ok()?.trim());
        path.is_absolute().then_some(path)
    })
}

/// Reads a document; the file beside it says where the client worked.
fn read_whole(
    (directory, name): (&dyn Dir, &OsStr),
    (client, profile): (&Client, &TranscriptProfile),
    is_wanted: &dyn Fn(&Path) -> bool,
) -> Result<TranscriptContent, TranscriptReadError> {
    const PLACE_KEYS: Keys =
        Keys::new(&["cwd", "workspace_root", "session_id", "parent_session_id"]);
    let named = name.to_str().unwrap_or_default();
    let beside = |name: String| {
        let bytes = directory.read(OsStr::new(&name), MOST_DOCUMENT).ok()?;
        let node = PLACE_KEYS.parse(&bytes).ok()?;
        node.first_text(&["cwd", "workspace_root"]).map(PathBuf::from)
    };
    let own = named.strip_suffix(".messages.json").map(|stem| format!("{stem}.json"));
    let mut place = own.and_then(beside);
    if place.is_none() {
        // That of a subagent lies beside the one of its session.
        let entries = directory.entries().map_err(ReadError::from)?;
        let others = entries.into_iter().filter_map(|entry| entry.name.into_string().ok());
        place = others
            .filter(|other| {
                other.strip_suffix(".json").is_some_and(|stem| !stem.ends_with(".messages"))
            })
            .find_map(beside);
    }
    let Some(place) = place else { return Ok(TranscriptContent::Unplaced) };
    if !is_wanted(&place) {
        return Ok(TranscriptContent::Foreign);
    }
    let bytes = directory.read(name, MOST_DOCUMENT)?;
    let document = DOCUMENT_KEYS.parse(&bytes).map_err(TranscriptReadError::Json)?;
    let mut recorder = Recorder::new(client, profile);
    recorder.session.directory = Some(place);
    read_document(&mut recorder, &document);
    Ok(TranscriptContent::Sessions(vec![recorder.finish()]))
}
