//! The implementation of [`Dialect`] for this format.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use brief_profiles::{COMPILED, OwnClients};
use brief_syntax::walk::Visit;
use brief_syntax::{Diagnostic, Source, limits, rules};
use brief_system::{ReadError, System, config_directory, home_directory};

use crate::answer::{Applied, Level, Name, Reason, Resolution, State};
use crate::installed::{Installed, LOCK_NAME};
use crate::moment::Moment;
use crate::{Dialect, DialectGuidance, GuidanceText, LevelCount, LockRole, Reader};

use super::registry::{Registry, RegistryCollector};
use super::{NAME, config, file_problem};

/// The dialect of portable rules, skills, agents and bundles.
#[derive(Debug, Clone, Copy)]
pub struct Portable;

impl Dialect for Portable {
    fn name(&self) -> &'static str {
        NAME
    }

    fn summary(&self) -> &'static str {
        "Shared rules, skills, agents and bundles"
    }

    fn noun(&self) -> &'static str {
        "portable items"
    }

    fn lock_role(&self) -> LockRole {
        LockRole::Names
    }

    /// Installed items are among the files that clients read; the locks above the path name them.
    fn mounted_reader(&self, moment: &Moment) -> Option<Box<dyn Reader>> {
        Some(Box::new(Locks { way: LevelCount::from_moment(moment), ..Locks::default() }))
    }

    /// A source registry is compiled and not read by agents, so only a whole project reads it.
    fn whole_reader(&self) -> Option<Box<dyn Reader>> {
        Some(Box::new(RegistryFiles::default()))
    }
}

/// The installed items of the locks: the user's own, and those in the directories above the path.
#[derive(Default)]
struct Locks {
    installed: Installed,
    way: LevelCount,
    diagnostics: Vec<Diagnostic>,
    is_started: bool,
}

impl Locks {
    /// Reads the user's lock: it is in the configuration directory, its files are below the home
    /// directory.
    fn read_home(&mut self, system: &dyn System) {
        let directories = (home_directory(system), config_directory(system));
        let (Some(home), Some(config)) = directories else { return };
        let lock = config.join(LOCK_NAME);
        let content = system.read(&lock, limits::BUILD_RECORD_BYTES);
        if matches!(content, Err(ReadError::Missing)) {
            return;
        }
        let home = system.resolve_dir(&home).unwrap_or(home);
        self.add_lock(&home, &lock, content);
    }

    fn add_lock(&mut self, directory: &Path, lock: &Path, content: Result<Vec<u8>, ReadError>) {
        let outcome = match content {
            Ok(bytes) => {
                let added = self.installed.add_lock(directory, &String::from_utf8_lossy(&bytes));
                added.map_err(|problem| problem.to_string())
            }
            Err(ReadError::Missing) => Ok(()),
            Err(error) => Err(error.to_string()),
        };
        if let Err(problem) = outcome {
            let message = format!(
                "cannot read the lock, so installed items are treated as client files: \
                 {problem}"
            );
            let source = Arc::new(Source::without_text(lock));
            let help =
                "upgrade `brief` if a newer one wrote it; otherwise run `brief sync` for details";
            let rule = rules::project::UNREADABLE_LOCK;
            self.diagnostics.push(file_problem(rule, &source, message, help));
        }
    }
}

impl Reader for Locks {
    fn visit_directory(&mut self, visit: &Visit<'_>) {
        if !std::mem::replace(&mut self.is_started, true) {
            self.read_home(visit.system());
        }
        if self.way.is_near() {
            let content = match visit.read_file(LOCK_NAME) {
                // A lock may be larger than a text that people write.
                Err(ReadError::TooLarge { .. }) => {
                    visit.handle().read(OsStr::new(LOCK_NAME), limits::BUILD_RECORD_BYTES)
                }
                content => content,
            };
            if !matches!(content, Err(ReadError::Missing)) {
                self.add_lock(&visit.path(), &visit.path_of(LOCK_NAME), content);
            }
        }
    }

    fn finish(self: Box<Self>) -> Box<dyn DialectGuidance> {
        self
    }
}

impl DialectGuidance for Locks {
    fn installed_items(&self) -> Option<&Installed> {
        Some(&self.installed)
    }

    fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    fn file_count(&self) -> usize {
        self.installed.len()
    }
}

#[derive(Default)]
struct RegistryFiles {
    locks: Locks,
    collector: RegistryCollector,
    /// The clients that the project's configuration adds.
    clients: Vec<String>,
}

impl Reader for RegistryFiles {
    fn visit_directory(&mut self, visit: &Visit<'_>) {
        // A part of a repository may be a project of its own.
        let configuration = visit.read_file(config::FILE_NAME);
        if visit.slashed().is_empty() || configuration.is_ok() {
            self.clients.extend(config::client_names(&configuration.unwrap_or_default()));
            let own = OwnClients::read(visit.handle(), &visit.path());
            self.clients.extend(own.clients.iter().map(|client| client.id.to_string()));
        }
        self.locks.visit_directory(visit);
        self.collector.visit(visit);
    }

    fn visit_dependency(&mut self, visit: &Visit<'_>) {
        if !self.collector.is_package(visit.slashed()) {
            self.collector.visit(visit);
        }
    }

    fn finish(self: Box<Self>) -> Box<dyn DialectGuidance> {
        let mut clients: Vec<&str> = COMPILED.to_vec();
        clients
            .extend(self.clients.iter().map(String::as_str).filter(|own| !COMPILED.contains(own)));
        let registry = self.collector.finish(&clients);
        let of_locks = self.locks.diagnostics.iter();
        let diagnostics = of_locks.chain(registry.all_diagnostics()).cloned().collect();
        Box::new(CheckedRegistry { registry, diagnostics, locks: self.locks })
    }
}

/// The scope of an item in a source registry.
pub const SCOPE: &str = "registry";

/// Returns whether a path is below a directory, both with `/`.
pub(super) fn is_in(directory: &str, path: &str) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

struct CheckedRegistry {
    registry: Registry,
    diagnostics: Vec<Diagnostic>,
    locks: Locks,
}

impl DialectGuidance for CheckedRegistry {
    /// Adds the items of a source registry as manual ones in their own directories. They are
    /// compiled for other projects and are not guidance for this one.
    fn resolve_items<'s>(&'s self, moment: &Moment, answer: &mut Resolution<'s>) {
        for item in &self.registry.items {
            let reason = match &moment.target {
                None => Reason::Listed,
                Some(target) if is_in(item.slashed(), target.slashed()) => {
                    Reason::Stated("is compiled from here")
                }
                Some(_) => continue,
            };
            let document = item.document();
            let item = crate::Item {
                dialect: NAME,
                kind: item.kind().as_str(),
                name: Name::Text(item.name()),
                path: document.source().path(),
                line: 1,
                scope: SCOPE,
                trigger: None,
                holds: false,
                check: None,
                is_for_after: false,
                state: State::Manual,
                content: document.body(),
                description: item.description(),
                patterns: &[],
                // Its level is that of the directory around its own.
                level: Level::of_directory(
                    item.directory().parent().unwrap_or(item.directory()),
                    false,
                ),
                package: None,
            };
            answer.items.push(Applied::new(item, reason));
        }
    }

    fn installed_items(&self) -> Option<&Installed> {
        self.locks.installed_items()
    }

    fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    fn visit_texts<'s>(&'s self, tell: &mut dyn FnMut(GuidanceText<'s>)) {
        // Items of this format have stricter rules.
        for item in self.registry.items.iter().filter(|item| item.is_foreign()) {
            let (source, body_start) = (&item.document.source, item.document.body_start());
            tell(GuidanceText { dialect: NAME, source, body_start, is_skill: true, entry: None });
        }
    }

    fn each_file<'s>(&'s self, tell: &mut dyn FnMut(&'s Path)) {
        for item in &self.registry.items {
            tell(item.document.source().path());
            item.overrides.iter().for_each(|over| tell(over.source.path()));
        }
        self.registry.bundles.iter().for_each(|bundle| tell(bundle.document.source().path()));
    }
}
