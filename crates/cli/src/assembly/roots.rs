//! The directories that tasks are searched in (ruling T6): `-d`, project, home, `-D`, manifest.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use brief_engine::tasks::{Author, Origin, SearchRoot};
use brief_registry::{Cache, Network, Source};
use brief_syntax::limits;
use brief_syntax::system::FileKind;

use crate::error::CommandError;
use crate::session::Session;
use crate::ui::Ui;

/// Directories besides the project and home.
#[derive(Debug, Default)]
pub(crate) struct Directories {
    /// Before everything else; each must be there.
    pub(crate) given: Vec<OsString>,
    /// After everything else; one that is not there is only a warning.
    pub(crate) fallback: Vec<OsString>,
    /// A file that names more of them, one in each line.
    pub(crate) manifest: Option<OsString>,
    /// Whether nothing is fetched.
    pub(crate) offline: bool,
}

/// Returns where to search, in order. Remote directories are fetched, or taken from the cache.
pub(crate) fn search_roots(
    ui: &mut Ui,
    session: &Session,
    directories: &Directories,
) -> Result<Vec<SearchRoot>, CommandError> {
    let mut roots = Vec::new();
    let project = session.directory();
    for text in &directories.given {
        let found = Wanted { text, base: project, origin: Origin::Given }
            .find(ui, session, directories.offline)
            .map_err(CommandError::refused)?;
        roots.push(found);
    }
    let own = |path: PathBuf, origin| SearchRoot { path, origin, author: Author::User };
    roots.push(own(session.root()?.path().to_owned(), Origin::Project));
    roots.extend(home(session).map(|home| own(home, Origin::Home)));
    for text in &directories.fallback {
        let wanted = Wanted { text, base: project, origin: Origin::Fallback };
        match wanted.find(ui, session, directories.offline) {
            Ok(found) => roots.push(found),
            Err(problem) => ui.warning(&problem)?,
        }
    }
    if let Some(manifest) = &directories.manifest {
        let (base, lines) = read_manifest(ui, session, manifest, directories.offline)?;
        for line in lines {
            let text = OsString::from(line);
            let wanted = Wanted { text: &text, base: &base, origin: Origin::Manifest };
            match wanted.find(ui, session, directories.offline) {
                Ok(found) => roots.push(found),
                Err(problem) => ui.warning(&problem)?,
            }
        }
    }
    Ok(roots)
}

/// The user's home directory, when there is one.
pub(super) fn home(session: &Session) -> Option<PathBuf> {
    let home = session.system().env("HOME").map(PathBuf::from)?;
    session.system().resolve_dir(&home).ok()
}

/// A directory that somebody wants searched.
struct Wanted<'w> {
    text: &'w OsStr,
    /// Where relative paths start.
    base: &'w Path,
    origin: Origin,
}

impl Wanted<'_> {
    fn find(&self, ui: &mut Ui, session: &Session, offline: bool) -> Result<SearchRoot, String> {
        let &Wanted { text, base, origin } = self;
        let system = session.system();
        // A path that is no text can only be a directory.
        let source = match text.to_str() {
            Some(text) => Source::parse(text, base, system).map_err(|error| error.to_string())?,
            None => Source::Directory(PathBuf::from(text)),
        };
        match source {
            Source::Directory(path) => {
                let path = base.join(path);
                match system.resolve(&path) {
                    Ok(found) if found.kind == FileKind::Directory => {
                        Ok(SearchRoot { path, origin, author: Author::User })
                    }
                    Ok(_) => Err(format!("`{}` is not a directory", text.to_string_lossy())),
                    Err(error) => Err(format!(
                        "the directory `{}` cannot be searched: {}",
                        text.to_string_lossy(),
                        words(&error)
                    )),
                }
            }
            Source::Git(source) => {
                let network = if offline { Network::Offline } else { Network::Online };
                let cache = Cache::of_user(system).ok_or("there is no cache directory for what is fetched: set `HOME` or `XDG_CACHE_HOME`")?;
                let checkout = cache.checkout(&source, network).map_err(|error| {
                    format!("failed to download remote directory {source}: {error}")
                })?;
                for note in &checkout.notes {
                    // A note that cannot be printed is no reason to go without the directory.
                    let _ = ui.warning(note);
                }
                Ok(SearchRoot { path: checkout.directory, origin, author: Author::Remote })
            }
        }
    }
}

fn words(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "it does not exist".to_owned(),
        _ => error.to_string(),
    }
}

/// Reads a manifest: where its relative paths start, and its lines without blank ones and comments.
fn read_manifest(
    ui: &mut Ui,
    session: &Session,
    manifest: &OsStr,
    offline: bool,
) -> Result<(PathBuf, Vec<String>), CommandError> {
    let shown = manifest.to_string_lossy();
    let refused = |problem: &str| {
        CommandError::refused(format!("failed to read the manifest `{shown}`: {problem}"))
    };
    // A file in a repository is found in its directory.
    let (directory, name) = split_manifest(&shown);
    let path = if directory.contains("::") || directory.contains("://") {
        let directory = OsString::from(directory);
        let wanted =
            Wanted { text: &directory, base: session.directory(), origin: Origin::Manifest };
        let found = wanted.find(ui, session, offline).map_err(|problem| refused(&problem))?;
        found.path.join(name)
    } else {
        session.directory().join(manifest)
    };
    let bytes = session.system().read(&path, limits::FILE_BYTES);
    let bytes = bytes.map_err(|error| refused(&error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| refused("it is not UTF-8"))?;
    let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let base = path.parent().unwrap_or(session.directory()).to_owned();
    Ok((base, lines.map(str::to_owned).collect()))
}

/// Takes the file's name out of an address, wherever its query stands.
fn split_manifest(text: &str) -> (String, String) {
    let (address, query) = match text.split_once('?') {
        Some((address, query)) => (address, format!("?{query}")),
        None => (text, String::new()),
    };
    match address.rsplit_once('/') {
        Some((directory, name)) => {
            (format!("{}{query}", directory.trim_end_matches('/')), name.to_owned())
        }
        None => (String::new(), address.to_owned()),
    }
}
