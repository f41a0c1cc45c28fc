//! Transactions: brings files from the old state to the new one, with no state between.
//!
//! All new contents are written first, beside the project's files, and then listed in a journal. Before the
//! journal exists, nothing has happened; from then on everything will happen, if necessary in the next run.
//! Errors on the way are undone: files are exchanged with the staged ones, so that the old contents still
//! exist.
//!
//! ```text
//! .brief/staged/1 …      the new contents of files, or the old ones
//! .brief/journal.json    the paths of these files
//! ```

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use brief_syntax::limits;
use brief_system::hash::sha256;
use brief_system::{Dir, Permission, ReadError, System};
use serde::{Deserialize, Serialize};

use super::disk::{Disk, DiskState};
use super::mark;
use super::record::is_plain_path;
use super::{Durability, if_found, split_path};

/// The directory of staged files.
const STAGED: &str = "staged";

/// The journal: the planned changes of a run.
const JOURNAL: &str = "journal.json";

/// The journal among the staged files, before it takes effect.
const STAGED_JOURNAL: &str = "journal";

/// The version of the journal's format.
const VERSION: u32 = 2;

/// The directories that a run writes to.
pub(crate) struct Disks<'d> {
    pub(crate) outputs: Disk<'d>,
    /// The directory of the manifest and the lock.
    pub(crate) config: Disk<'d>,
    /// The directory of our own state.
    pub(crate) own: Disk<'d>,
}

impl<'d> Disks<'d> {
    fn disk_for(&mut self, place: WriteRoot) -> &mut Disk<'d> {
        match place {
            WriteRoot::Outputs => &mut self.outputs,
            WriteRoot::Config => &mut self.config,
            WriteRoot::Own => &mut self.own,
        }
    }
}

/// The directory that a path starts at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WriteRoot {
    Outputs,
    Config,
    Own,
}

impl WriteRoot {
    const ALL: [WriteRoot; 3] = [WriteRoot::Outputs, WriteRoot::Config, WriteRoot::Own];
}

/// The permissions of a file that replaces another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PermissionSource {
    /// The new file's own permissions.
    Own,
    /// The permissions of the replaced file, which is the user's.
    Kept,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Journal {
    version: u32,
    /// The proof that this machine wrote the journal for this directory.
    mark: String,
    /// The full names that the user asked to remove.
    #[serde(default)]
    asked: Vec<String>,
    removals: Vec<Removal>,
    puts: Vec<Put>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Removal {
    at: WriteRoot,
    path: String,
    /// The hash of the file to remove.
    sha256: String,
    staged: u32,
}

#[derive(Debug, Serialize, Deserialize)]
struct Put {
    at: WriteRoot,
    path: String,
    mode: PermissionSource,
    staged: u32,
    /// The hash of the new content.
    sha256: String,
    /// The hash of the old content; `None` for a new file.
    before: Option<String>,
}

/// The directory of the project's clients in our own.
pub(crate) const CLIENTS: &str = "clients/";

impl Journal {
    /// Adds the mark of this machine, if it can make one.
    fn add_mark(&mut self, system: &dyn System, directory: &Path) -> io::Result<()> {
        self.mark =
            mark::create_mark(system, directory, &self.marked_bytes()?)?.unwrap_or_default();
        Ok(())
    }

    /// Returns whether this machine wrote the journal for this directory.
    fn is_ours(&self, system: &dyn System, directory: &Path) -> bool {
        let is_plain = |at: WriteRoot, path: &str| {
            let name = match at {
                WriteRoot::Outputs => "",
                WriteRoot::Config => path,
                WriteRoot::Own => path.strip_prefix(CLIENTS).unwrap_or(path),
            };
            !name.contains('/') && is_plain_path(path)
        };
        self.version == VERSION
            && self
                .marked_bytes()
                .is_ok_and(|text| mark::is_valid(system, &self.mark, directory, &text))
            && self.puts.iter().all(|put| is_plain(put.at, &put.path))
            && self.removals.iter().all(|removal| is_plain(removal.at, &removal.path))
    }

    fn marked_bytes(&self) -> serde_json::Result<Vec<u8>> {
        let Journal { version, asked, removals, puts, .. } = self;
        serde_json::to_vec(&(version, asked, removals, puts))
    }
}

pub(crate) struct Planned<'p> {
    pub(crate) at: WriteRoot,
    pub(crate) path: &'p str,
    pub(crate) mode: PermissionSource,
    pub(crate) permission: Permission,
    /// The hash of the file that is in place now.
    pub(crate) before: Option<String>,
}

/// The planned changes, with all contents staged.
pub(crate) struct Stage {
    files: Box<dyn Dir>,
    last: u32,
    journal: Journal,
    durability: Durability,
}

/// The result of finishing a killed run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Recovered {
    /// Files that were edited in between; they stay.
    pub(crate) kept: Vec<String>,
    /// The full names that the user had asked to remove.
    pub(crate) removed: Vec<String>,
}

#[derive(Debug)]
pub(crate) enum RecoverError {
    /// Another machine wrote the journal at this path.
    Foreign(PathBuf),
    /// The error of the system.
    Io(io::Error),
}

impl From<io::Error> for RecoverError {
    fn from(error: io::Error) -> RecoverError {
        RecoverError::Io(error)
    }
}

impl Stage {
    /// Creates an empty stage in the directory of our own state.
    pub(crate) fn begin(own: &Disk<'_>, durability: Durability) -> io::Result<Stage> {
        // The directory is private, because it may hold parts of the user's private files.
        let files = own.make_private_directory(STAGED)?;
        remove_staged_files(files.as_ref())?;
        let journal = Journal { version: VERSION, ..Journal::default() };
        Ok(Stage { files, last: 0, journal, durability })
    }

    /// Stages a file with this content.
    pub(crate) fn put_bytes(&mut self, planned: Planned<'_>, bytes: &[u8]) -> io::Result<()> {
        self.stage_file(planned, sha256(bytes), &mut |target| target.write_all(bytes))
    }

    /// Stages a file; `fill` writes its content, which has the given hash.
    pub(crate) fn stage_file(
        &mut self,
        planned: Planned<'_>,
        sha256: String,
        fill: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        self.last += 1;
        let mut target =
            self.files.create_file(OsStr::new(&staged_name(self.last)), planned.permission)?;
        fill(target.as_mut())?;
        target.flush()?;
        let Planned { at, path, mode, before, .. } = planned;
        let path = path.to_owned();
        self.journal.puts.push(Put { at, path, mode, staged: self.last, sha256, before });
        Ok(())
    }

    /// Plans to remove a file with this hash.
    pub(crate) fn stage_removal(&mut self, at: WriteRoot, path: &str, sha256: &str) {
        self.last += 1;
        let (path, sha256) = (path.to_owned(), sha256.to_owned());
        self.journal.removals.push(Removal { at, path, sha256, staged: self.last });
    }

    /// Records the full names that the user asked to remove.
    pub(crate) fn note_asked(&mut self, names: Vec<String>) {
        self.journal.asked = names;
    }

    /// Returns the place of the last staged file.
    pub(crate) fn last_staged_file(&self) -> (&dyn Dir, String) {
        (self.files.as_ref(), staged_name(self.last))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.journal.puts.is_empty() && self.journal.removals.is_empty()
    }

    /// Makes all changes. After an error everything is as before, or the next run finishes it.
    pub(crate) fn commit(
        mut self,
        system: &dyn System,
        disks: &mut Disks<'_>,
    ) -> Result<(), CommitError> {
        if self.is_empty() {
            return remove_stage(&disks.own, self.files.as_ref()).map_err(CommitError::Nothing);
        }
        // Sorted by path, so that each directory is opened once.
        self.journal.puts.sort_by(|left, right| left.path.cmp(&right.path));
        // The manifest, the lock and the record come last, because they describe the other files.
        self.journal.puts.sort_by_key(|put| put.at != WriteRoot::Outputs);
        if let Err(error) = self.write_journal(system, &disks.own) {
            return Err(self.give_up(error, &disks.own));
        }
        if let Err((done, error)) = carry_out_journal(&self.journal, self.files.as_ref(), disks) {
            return Err(match undo_journal(&self.journal, self.files.as_ref(), disks, done) {
                Ok(()) => self.give_up(error, &disks.own),
                Err(_) => CommitError::Half(error),
            });
        }
        if self.durability == Durability::Lasting {
            system.sync_file_system(disks.outputs.path()).map_err(CommitError::Half)?;
        }
        remove_stage(&disks.own, self.files.as_ref()).map_err(CommitError::Half)
    }

    /// Puts the journal in place. It is staged first, so that the next run removes an incomplete one.
    fn write_journal(&mut self, system: &dyn System, own: &Disk<'_>) -> io::Result<()> {
        self.journal.add_mark(system, own.path())?;
        let top = own.top().ok_or(io::ErrorKind::NotFound)?;
        let staged = OsStr::new(STAGED_JOURNAL);
        let mut target = self.files.create_file(staged, Permission::Data)?;
        target.write_all(&serde_json::to_vec(&self.journal)?)?;
        target.flush()?;
        drop(target);
        if self.durability == Durability::Passing {
            return top.take_file(self.files.as_ref(), staged, OsStr::new(JOURNAL));
        }
        system.sync_file_system(own.path())?;
        top.take_file(self.files.as_ref(), staged, OsStr::new(JOURNAL))?;
        // No file is moved before the journal is safe on disk.
        top.sync_directory()
    }

    /// Returns the error after nothing was done or everything was undone. If the journal cannot be removed,
    /// the next run makes the changes after all.
    fn give_up(&self, error: io::Error, own: &Disk<'_>) -> CommitError {
        let _ = remove_stage(own, self.files.as_ref());
        if is_pending(own) { CommitError::Half(error) } else { CommitError::Nothing(error) }
    }

    /// Removes the staged files without any change.
    pub(crate) fn abandon(self, own: &Disk<'_>) -> io::Result<()> {
        remove_stage(own, self.files.as_ref())
    }
}

#[derive(Debug)]
pub(crate) enum CommitError {
    Nothing(io::Error),
    /// A part was changed; the next run finishes.
    Half(io::Error),
}

/// Finishes the work of a killed run, and removes its staged files.
pub(crate) fn replay_journal(
    system: &dyn System,
    disks: &mut Disks<'_>,
) -> Result<Option<Recovered>, RecoverError> {
    let Some(own) = disks.own.top() else { return Ok(None) };
    let bytes = match own.read(OsStr::new(JOURNAL), limits::BUILD_RECORD_BYTES) {
        Ok(bytes) => bytes,
        Err(ReadError::Missing) => {
            if let Some(files) = disks.own.open_directory(STAGED)? {
                remove_stage(&disks.own, files.as_ref())?;
            }
            return Ok(None);
        }
        Err(error) => return Err(io::Error::other(error).into()),
    };
    let journal = serde_json::from_slice(&bytes).ok();
    let is_ours = |journal: &Journal| journal.is_ours(system, disks.own.path());
    let Some(journal) = journal.filter(is_ours) else {
        return Err(RecoverError::Foreign(disks.own.path().join(JOURNAL)));
    };
    let files = disks.own.make_directory(STAGED)?;
    let mut recovered = Recovered { removed: journal.asked.clone(), ..Recovered::default() };
    for removal in &journal.removals {
        let disk = disks.disk_for(removal.at);
        if matches!(disk.read_state(&removal.path), DiskState::File(found) if found.sha256 == removal.sha256)
        {
            apply_removal(removal, files.as_ref(), disk)?;
        }
    }
    remove_empty_directories(&journal, disks);
    let staged: BTreeSet<_> = files.entries()?.into_iter().map(|entry| entry.name).collect();
    for put in &journal.puts {
        // A file that is no longer staged is in place.
        if !staged.contains(OsStr::new(&staged_name(put.staged))) {
            continue;
        }
        // The staged file may have been changed since; the journal has its hash.
        let is_intact = matches!(
            disks.own.read_state(&format!("{STAGED}/{}", staged_name(put.staged))),
            DiskState::File(found) if found.sha256 == put.sha256
        );
        let disk = disks.disk_for(put.at);
        match disk.read_state(&put.path) {
            DiskState::File(found) if found.sha256 == put.sha256 => {}
            _ if !is_intact => recovered.kept.push(put.path.clone()),
            DiskState::File(found) if Some(&found.sha256) != put.before.as_ref() => {
                recovered.kept.push(put.path.clone());
            }
            DiskState::InTheWay(_) => recovered.kept.push(put.path.clone()),
            _ => apply_put(put, files.as_ref(), disk)
                .map_err(|error| error_with_path(&put.path, &error))?,
        }
    }
    system.sync_file_system(disks.outputs.path())?;
    remove_stage(&disks.own, files.as_ref())?;
    Ok(Some(recovered))
}

/// Returns whether a run has left files behind, or is running.
pub(crate) fn is_left(own: &Disk<'_>) -> bool {
    is_pending(own) || !matches!(own.open_directory(STAGED), Ok(None))
}

/// Returns whether a run was killed, so that the next one has to finish it.
pub(crate) fn is_pending(own: &Disk<'_>) -> bool {
    let look =
        |directory: &dyn Dir| directory.read(OsStr::new(JOURNAL), limits::BUILD_RECORD_BYTES);
    own.top().is_some_and(|own| !matches!(look(own), Err(ReadError::Missing)))
}

/// The numbers of completed removals and of completed files.
type Done = (usize, usize);

/// Carries out the journal: removals first, so that a file may replace a directory.
fn carry_out_journal(
    journal: &Journal,
    files: &dyn Dir,
    disks: &mut Disks<'_>,
) -> Result<(), (Done, io::Error)> {
    for (index, removal) in journal.removals.iter().enumerate() {
        apply_removal(removal, files, disks.disk_for(removal.at))
            .map_err(|error| ((index, 0), error))?;
    }
    remove_empty_directories(journal, disks);
    for (index, put) in journal.puts.iter().enumerate() {
        apply_put(put, files, disks.disk_for(put.at)).map_err(|error| {
            ((journal.removals.len(), index), error_with_path(&put.path, &error))
        })?;
    }
    Ok(())
}

fn undo_journal(
    journal: &Journal,
    files: &dyn Dir,
    disks: &mut Disks<'_>,
    (removals, puts): Done,
) -> io::Result<()> {
    for put in journal.puts[..puts].iter().rev() {
        let staged = staged_name(put.staged);
        let disk = disks.disk_for(put.at);
        match put.before {
            Some(_) => disk.exchange_file(files, &staged, &put.path)?,
            None => disk.move_to_stage(files, &staged, &put.path)?,
        }
    }
    for place in WriteRoot::ALL {
        disks.disk_for(place).remove_created_directories();
    }
    for removal in journal.removals[..removals].iter().rev() {
        disks.disk_for(removal.at).move_from_stage(
            files,
            &staged_name(removal.staged),
            &removal.path,
        )?;
    }
    Ok(())
}

fn apply_removal(removal: &Removal, files: &dyn Dir, disk: &mut Disk<'_>) -> io::Result<()> {
    disk.move_to_stage(files, &staged_name(removal.staged), &removal.path)
        .map_err(|error| error_with_path(&removal.path, &error))
}

/// Removes the directories that are empty now, even if the killed run had removed their files.
fn remove_empty_directories(journal: &Journal, disks: &mut Disks<'_>) {
    for place in WriteRoot::ALL {
        let removals = journal.removals.iter().filter(|removal| removal.at == place);
        let directories: BTreeSet<&str> =
            removals.map(|removal| split_path(&removal.path).0).collect();
        // Deeper directories come first.
        for directory in directories.iter().rev() {
            disks.disk_for(place).remove_empty_directories(directory);
        }
    }
}

fn apply_put(put: &Put, files: &dyn Dir, disk: &mut Disk<'_>) -> io::Result<()> {
    let staged = staged_name(put.staged);
    if put.before.is_some() {
        if put.mode == PermissionSource::Kept {
            disk.share_permissions(files, &staged, &put.path)?;
        }
        match disk.exchange_file(files, &staged, &put.path) {
            // Then the change cannot be undone, but the next run finishes it.
            Err(error) if is_not_possible(&error) => {}
            outcome => return outcome,
        }
    }
    disk.move_from_stage(files, &staged, &put.path)
}

fn is_not_possible(error: &io::Error) -> bool {
    use io::ErrorKind::{CrossesDevices, NotFound, Unsupported};
    matches!(error.kind(), CrossesDevices | NotFound | Unsupported)
}

/// Removes the journal, then the staged files: without a journal nothing is left to do.
fn remove_stage(own: &Disk<'_>, files: &dyn Dir) -> io::Result<()> {
    let Some(top) = own.top() else { return Ok(()) };
    if_found(top.remove_file(OsStr::new(JOURNAL)))?;
    remove_staged_files(files)?;
    top.remove_empty_dir(OsStr::new(STAGED))
}

fn remove_staged_files(files: &dyn Dir) -> io::Result<()> {
    for entry in files.entries()? {
        files.remove_file(&entry.name)?;
    }
    // The listing omits the file that a run was copying from another file system.
    if_found(files.remove_file(OsStr::new(brief_system::STAGED))).map(drop)
}

fn staged_name(staged: u32) -> String {
    staged.to_string()
}

fn error_with_path(path: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("`{path}`: {error}"))
}
