//! The directories that tasks are searched in (ruling T6): given ones, project, home, fallbacks, manifest.

use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use brief_dialects::tasks::{Author, HiddenInPrompt, LimitedRules, SearchOrigin, SearchRoot};
use brief_registry::{Cache, Event, GitSource, Network, SourceAddress, SourceError};
use brief_safety::policy::Policy;
use brief_syntax::limits;
use brief_system::{FileKind, Passed, resolved_home};

use super::{AssemblyEvent, AssemblyObserver, PromptAssembly, SearchError};

/// Directories besides the project and home.
#[derive(Debug, Default)]
pub struct SearchDirectories {
    /// Searched first; each must exist.
    pub given: Vec<OsString>,
    /// Searched last; a missing one is only a warning.
    pub fallback: Vec<OsString>,
    /// A file with more directories, one per line.
    pub manifest: Option<OsString>,
    pub offline: bool,
    /// The tool whose rules hold.
    pub convention: Convention,
}

/// The tool whose rules an assembly follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Convention {
    /// `coding-context`, by its document. Every directory of this machine counts as the user's own,
    /// commands inherit the environment, a repository is named by its address, and hidden characters stay.
    CodingContext,
    /// `brief`: only the home directory counts as the user's own, commands get a few variables,
    /// `owner/repo` names a repository, too, and hidden characters are left out.
    #[default]
    Brief,
}

impl Convention {
    /// Returns the author of texts in a directory of this machine.
    fn author(self, origin: SearchOrigin) -> Author {
        match self {
            Convention::CodingContext => Author::User,
            Convention::Brief => Author::from_origin(origin),
        }
    }

    /// Returns the treatment of hidden characters.
    pub(super) fn hidden_in_prompt(self) -> HiddenInPrompt {
        match self {
            Convention::CodingContext => HiddenInPrompt::Kept,
            Convention::Brief => HiddenInPrompt::LeftOut,
        }
    }

    /// Returns the treatment of rules that a client limits to some files.
    pub(super) fn limited_rules(self) -> LimitedRules {
        match self {
            Convention::CodingContext => LimitedRules::Included,
            Convention::Brief => LimitedRules::LeftOut,
        }
    }

    /// Returns the environment of commands, with the variables that the user named.
    pub(super) fn command_environment(self, variables: &[String]) -> Passed {
        match self {
            Convention::CodingContext => Passed::All,
            Convention::Brief => Passed::Usual(variables.to_vec()),
        }
    }
}

impl PromptAssembly<'_> {
    /// Returns the directories to search, in order. Remote ones are fetched, or taken from the cache.
    pub fn search_roots(
        &self,
        directories: &SearchDirectories,
        observer: &mut AssemblyObserver<'_>,
    ) -> Result<Vec<SearchRoot>, SearchError> {
        let convention = directories.convention;
        let network = if directories.offline { Network::Offline } else { Network::Online };
        let mut search = DirectorySearch { assembly: self, convention, network, observer };
        let mut roots = Vec::new();
        for text in &directories.given {
            let named =
                NamedDirectory::from_text(text, self.directory, SearchOrigin::Given, convention);
            roots.push(search.resolve_root(&named)?);
        }
        let home = resolved_home(self.system);
        let own = |path: PathBuf, origin| {
            // A project that is the home directory holds the user's own texts.
            let is_home = home.as_ref() == Some(&path);
            let author = if is_home { Author::User } else { convention.author(origin) };
            SearchRoot { path, origin, author }
        };
        roots.push(own(self.root.path().to_owned(), SearchOrigin::Project));
        roots.extend(home.clone().map(|home| own(home, SearchOrigin::Home)));
        for text in &directories.fallback {
            let named =
                NamedDirectory::from_text(text, self.directory, SearchOrigin::Fallback, convention);
            roots.extend(search.find_if_there(&named)?);
        }
        if let Some(manifest) = &directories.manifest {
            roots.extend(search.find_named_by(manifest)?);
        }
        Ok(roots)
    }
}

struct NamedDirectory<'w> {
    text: &'w OsStr,
    /// The base of relative paths.
    base: &'w Path,
    origin: SearchOrigin,
    /// The author of the text that names it.
    author: Author,
}

impl<'w> NamedDirectory<'w> {
    fn from_text(
        text: &'w OsStr,
        base: &'w Path,
        origin: SearchOrigin,
        convention: Convention,
    ) -> Self {
        NamedDirectory { text, base, origin, author: convention.author(origin) }
    }
}

struct DirectorySearch<'s, 'o> {
    assembly: &'s PromptAssembly<'s>,
    convention: Convention,
    network: Network,
    observer: &'s mut AssemblyObserver<'o>,
}

impl DirectorySearch<'_, '_> {
    /// Finds a directory that may be missing; then the user gets a warning.
    fn find_if_there(
        &mut self,
        named: &NamedDirectory<'_>,
    ) -> Result<Option<SearchRoot>, SearchError> {
        match self.resolve_root(named) {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.ends_search() => Err(error),
            Err(error) => {
                (self.observer)(AssemblyEvent::Warning(&error.to_string()));
                Ok(None)
            }
        }
    }

    fn resolve_root(&mut self, named: &NamedDirectory<'_>) -> Result<SearchRoot, SearchError> {
        let &NamedDirectory { text, base, origin, author } = named;
        let system = self.assembly.system;
        // A path that is not UTF-8 can only be a directory.
        let source = match text.to_str() {
            Some(text) => self.parse_source(text, base)?,
            None => SourceAddress::Directory(PathBuf::from(text)),
        };
        if let Some(decision) = source.forbidden_by(&Policy::load(system)?, system, base) {
            return Err(SearchError::Forbidden { source_name: source.to_string(), decision });
        }
        match source {
            SourceAddress::Directory(path) => {
                let (path, shown) = (base.join(path), text.to_string_lossy().into_owned());
                match system.resolve(&path) {
                    Ok(found) if found.kind == FileKind::Directory => {
                        Ok(SearchRoot { path, origin, author })
                    }
                    Ok(_) => Err(SearchError::NotADirectory(shown)),
                    Err(error) => Err(SearchError::Directory { path: shown, error }),
                }
            }
            SourceAddress::Oci(source) => {
                let reason = "tasks must be in a directory or a git repository";
                let given = source.to_string();
                Err(SearchError::Source(SourceError::Oci { given, reason }))
            }
            SourceAddress::Git(source) => {
                let path = self.fetch_source(&source)?;
                Ok(SearchRoot { path, origin, author: Author::Remote })
            }
        }
    }

    /// Parses a directory as typed. An existing directory wins over other meanings.
    fn parse_source(&self, text: &str, base: &Path) -> Result<SourceAddress, SearchError> {
        let system = self.assembly.system;
        let source = SourceAddress::parse(text, base, system).map_err(SearchError::Source)?;
        match (&source, self.convention) {
            (SourceAddress::Directory(path), Convention::Brief)
                if system.resolve(&base.join(path)).is_err() =>
            {
                let short = SourceAddress::parse_added(text, base, system).ok();
                Ok(short.filter(|short| matches!(short, SourceAddress::Git(_))).unwrap_or(source))
            }
            _ => Ok(source),
        }
    }

    fn fetch_source(&mut self, source: &GitSource) -> Result<PathBuf, SearchError> {
        let cache = Cache::of_user(self.assembly.system).ok_or(SearchError::NoCache)?;
        let shared = RefCell::new(&mut *self.observer);
        let step = |event: Event<'_>| (shared.borrow_mut())(AssemblyEvent::Step(event));
        let checkout = cache.with_observer(&step).checkout_reference(source, self.network);
        let checkout = checkout.map_err(SearchError::Fetch)?;
        // The path in the cache means nothing to a person.
        let (directory, name) = (checkout.directory.as_path(), source.place_of(""));
        (self.observer)(AssemblyEvent::Fetched { directory, name: &name });
        for note in &checkout.notes {
            (self.observer)(AssemblyEvent::Warning(note));
        }
        Ok(checkout.directory)
    }

    /// Finds the directories that a manifest names. They have its author.
    fn find_named_by(&mut self, manifest: &OsStr) -> Result<Vec<SearchRoot>, SearchError> {
        let (base, origin) = (self.assembly.directory, SearchOrigin::Manifest);
        let text = manifest.to_string_lossy();
        // A file in a repository is found in its directory.
        let (directory, name) = split_manifest(&text);
        let (path, author) = if directory.contains("::") || directory.contains("://") {
            let text = OsString::from(directory);
            let found = self.resolve_root(&NamedDirectory::from_text(
                &text,
                base,
                origin,
                self.convention,
            ))?;
            (found.path.join(name), found.author)
        } else {
            (base.join(manifest), self.convention.author(origin))
        };
        let failed = |problem: &str| SearchError::Manifest {
            path: path.clone(),
            problem: problem.to_owned(),
        };
        let bytes = self.assembly.system.read(&path, limits::FILE_BYTES);
        let bytes = bytes.map_err(|error| failed(&error.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|_| failed("is not UTF-8"))?;
        let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        let base = path.parent().unwrap_or(base);
        let mut roots = Vec::new();
        for text in lines.map(OsStr::new) {
            roots.extend(self.find_if_there(&NamedDirectory { text, base, origin, author })?);
        }
        Ok(roots)
    }
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
