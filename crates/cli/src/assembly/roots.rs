//! The directories that tasks are searched in (ruling T6): `-d`, project, home, `-D`, manifest.

use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use brief_engine::tasks::{Author, SearchOrigin, SearchRoot};
use brief_registry::{Cache, FetchError, Source};
use brief_syntax::limits;
use brief_syntax::system::{FileKind, words};

use crate::error::CommandError;
use crate::installation;
use crate::session::Session;
use crate::ui::Ui;

/// Directories besides the project and home.
#[derive(Debug, Default)]
pub(crate) struct Directories {
    /// Searched first; each must exist.
    pub(crate) given: Vec<OsString>,
    /// Searched last; a missing one is only a warning.
    pub(crate) fallback: Vec<OsString>,
    /// A file with more directories, one per line.
    pub(crate) manifest: Option<OsString>,
    /// Fetches nothing.
    pub(crate) offline: bool,
    /// The command line that asks.
    pub(crate) tool: Tool,
}

/// The command line that requests a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Tool {
    /// `coding-context`, by its document. Every directory of this machine counts as the user's own,
    /// commands inherit the environment, and a repository is named by its address.
    CodingContext,
    /// `brief`: only the home directory counts as the user's own, commands get a few variables, and
    /// `owner/repo` names a repository, too.
    #[default]
    Brief,
}

impl Tool {
    /// Returns the author of texts in a directory of this machine.
    fn author(self, origin: SearchOrigin) -> Author {
        match self {
            Tool::CodingContext => Author::User,
            Tool::Brief => Author::of(origin),
        }
    }
}

/// Returns the directories to search, in order. Remote ones are fetched, or taken from the cache.
pub(crate) fn search_roots(
    ui: &mut Ui,
    session: &Session,
    directories: &Directories,
) -> Result<Vec<SearchRoot>, CommandError> {
    let mut roots = Vec::new();
    let (project, tool) = (session.directory(), directories.tool);
    for text in &directories.given {
        let (origin, author) = (SearchOrigin::Given, tool.author(SearchOrigin::Given));
        let found = Wanted { text, base: project, origin, author }
            .find(ui, session, directories)
            .map_err(NotFound::refuse)?;
        roots.push(found);
    }
    let home = home(session);
    let own = |path: PathBuf, origin| {
        // A project that is the home directory holds the user's own texts.
        let is_home = home.as_ref() == Some(&path);
        let author = if is_home { Author::User } else { tool.author(origin) };
        SearchRoot { path, origin, author }
    };
    roots.push(own(session.root()?.path().to_owned(), SearchOrigin::Project));
    roots.extend(home.clone().map(|home| own(home, SearchOrigin::Home)));
    for text in &directories.fallback {
        let (origin, author) = (SearchOrigin::Fallback, tool.author(SearchOrigin::Fallback));
        let wanted = Wanted { text, base: project, origin, author };
        match wanted.find(ui, session, directories) {
            Ok(found) => roots.push(found),
            Err(problem) => problem.warn(ui)?,
        }
    }
    if let Some(manifest) = &directories.manifest {
        let Manifest { base, author, lines } = read_manifest(ui, session, manifest, directories)?;
        for line in lines {
            let text = OsString::from(line);
            let wanted =
                Wanted { text: &text, base: &base, origin: SearchOrigin::Manifest, author };
            match wanted.find(ui, session, directories) {
                Ok(found) => roots.push(found),
                Err(problem) => problem.warn(ui)?,
            }
        }
    }
    Ok(roots)
}

/// Returns the user's home directory, if there is one.
pub(super) fn home(session: &Session) -> Option<PathBuf> {
    let home = session.system().env("HOME").map(PathBuf::from)?;
    session.system().resolve_dir(&home).ok()
}

/// A directory to search.
struct Wanted<'w> {
    text: &'w OsStr,
    /// The base of relative paths.
    base: &'w Path,
    origin: SearchOrigin,
    /// The author of the text that names it.
    author: Author,
}

/// The reason why a directory cannot be searched.
enum NotFound {
    Problem(String),
    Command(CommandError),
    Interrupted,
}

impl NotFound {
    fn because(error: impl Error) -> NotFound {
        let mut problem = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            problem.push_str(&format!(": {error}"));
            cause = error.source();
        }
        NotFound::Problem(problem)
    }

    fn refuse(self) -> CommandError {
        match self {
            NotFound::Problem(problem) => CommandError::refused(problem),
            NotFound::Command(error) => error,
            NotFound::Interrupted => CommandError::interrupted(),
        }
    }

    fn warn(self, ui: &mut Ui) -> Result<(), CommandError> {
        match self {
            NotFound::Problem(problem) => Ok(ui.warning(&problem)?),
            NotFound::Command(error) => Err(error),
            NotFound::Interrupted => Err(CommandError::interrupted()),
        }
    }
}

impl Wanted<'_> {
    fn find(
        &self,
        ui: &mut Ui,
        session: &Session,
        directories: &Directories,
    ) -> Result<SearchRoot, NotFound> {
        let &Wanted { text, base, origin, author } = self;
        let system = session.system();
        // A path that is not UTF-8 can only be a directory.
        let source = match text.to_str() {
            Some(text) => self.source(text, session, directories.tool)?,
            None => Source::Directory(PathBuf::from(text)),
        };
        let policy = session.policy().map_err(NotFound::Command)?;
        if let Some(decision) = source.forbidden_by(&policy, system, base) {
            let shown = source.to_string();
            return Err(NotFound::Problem(format!("`{shown}` is not searched: {decision}")));
        }
        match source {
            Source::Directory(path) => {
                let path = base.join(path);
                let shown = text.to_string_lossy();
                match system.resolve(&path) {
                    Ok(found) if found.kind == FileKind::Directory => {
                        Ok(SearchRoot { path, origin, author })
                    }
                    Ok(_) => Err(NotFound::Problem(format!("`{shown}` is not a directory"))),
                    Err(error) => {
                        let problem = words(&error);
                        let message =
                            format!("the directory `{shown}` cannot be searched: {problem}");
                        Err(NotFound::Problem(message))
                    }
                }
            }
            Source::Git(source) => {
                let network = installation::network(directories.offline);
                let cache = Cache::of_user(system).ok_or_else(|| {
                    let problem = "there is no cache directory for what is fetched";
                    NotFound::Problem(format!("{problem}: set `HOME` or `XDG_CACHE_HOME`"))
                })?;
                let fetched = installation::watched(ui, |observer| {
                    cache.observed(observer).checkout(&source, network)
                });
                let fetched = fetched.map_err(|error| NotFound::Problem(error.to_string()))?;
                let checkout = fetched.map_err(|error| match error {
                    FetchError::Interrupted { .. } => NotFound::Interrupted,
                    error => NotFound::because(error),
                })?;
                // The path in the cache means nothing to a person.
                ui.call(&checkout.directory, &source.place_of(""));
                for note in &checkout.notes {
                    // A note that cannot be printed must not stop the search.
                    let _ = ui.warning(note);
                }
                Ok(SearchRoot { path: checkout.directory, origin, author: Author::Remote })
            }
        }
    }
}

impl Wanted<'_> {
    /// Parses a directory as typed. An existing directory wins over other meanings.
    fn source(&self, text: &str, session: &Session, tool: Tool) -> Result<Source, NotFound> {
        let (base, system) = (self.base, session.system());
        let source = Source::parse(text, base, system).map_err(NotFound::because)?;
        match (&source, tool) {
            (Source::Directory(path), Tool::Brief) if system.resolve(&base.join(path)).is_err() => {
                let short = Source::parse_added(text, base, system).ok();
                Ok(short.filter(|short| matches!(short, Source::Git(_))).unwrap_or(source))
            }
            _ => Ok(source),
        }
    }
}

/// The lines of a manifest.
struct Manifest {
    /// The base of relative paths.
    base: PathBuf,
    /// The author of the manifest, and so of the directories that it names.
    author: Author,
    lines: Vec<String>,
}

/// Reads a manifest, without blank lines and comments.
fn read_manifest(
    ui: &mut Ui,
    session: &Session,
    manifest: &OsStr,
    directories: &Directories,
) -> Result<Manifest, CommandError> {
    let text = manifest.to_string_lossy();
    // A file in a repository is found in its directory.
    let (directory, name) = split_manifest(&text);
    let (path, author) = if directory.contains("::") || directory.contains("://") {
        let text = OsString::from(directory);
        let (base, origin) = (session.directory(), SearchOrigin::Manifest);
        let author = directories.tool.author(origin);
        let found = Wanted { text: &text, base, origin, author }.find(ui, session, directories);
        let found = found.map_err(NotFound::refuse)?;
        (found.path.join(name), found.author)
    } else {
        (session.directory().join(manifest), directories.tool.author(SearchOrigin::Manifest))
    };
    let refused = |problem: &str| {
        let shown = path.display();
        CommandError::refused(format!("failed to read the manifest `{shown}`: {problem}"))
    };
    let bytes = session.system().read(&path, limits::FILE_BYTES);
    let bytes = bytes.map_err(|error| refused(&error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| refused("it is not UTF-8"))?;
    let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let lines = lines.map(str::to_owned).collect();
    let base = path.parent().unwrap_or(session.directory()).to_owned();
    Ok(Manifest { base, author, lines })
}

/// Removes the file's name from an address, with or without a query after it.
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
