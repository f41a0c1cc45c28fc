//! The dialect as the engine sees it.

use brief_syntax::Diagnostic;
use brief_syntax::walk::Visit;

use crate::{Dialect, PathQuestion, Reader, Shelf, Way};

use super::installed::{Installed, LOCK_NAME};
use super::registry::{Collector, Registry};
use super::{CLIENTS, NAME, config};

/// The dialect of portable rules, skills, agents and bundles.
#[derive(Debug, Clone, Copy)]
pub struct Portable;

impl Dialect for Portable {
    fn name(&self) -> &'static str {
        NAME
    }

    /// What is installed lies among the files that clients read; the locks on the way tell which.
    fn mounted_reader(&self, question: &PathQuestion<'_>) -> Option<Box<dyn Reader>> {
        Some(Box::new(Locks { way: question.way(), ..Locks::default() }))
    }

    /// A source registry is compiled, not read by agents, so only a look at all of it concerns it.
    fn whole_reader(&self) -> Option<Box<dyn Reader>> {
        Some(Box::new(Files::default()))
    }
}

/// What the locks say.
#[derive(Default)]
struct Locks {
    installed: Installed,
    way: Way,
}

impl Reader for Locks {
    fn visit(&mut self, visit: &Visit<'_>) {
        if self.way.is_near()
            && let Ok(bytes) = visit.read(LOCK_NAME)
        {
            self.installed.add(&visit.path(), &String::from_utf8_lossy(&bytes));
        }
    }

    fn finish(self: Box<Self>) -> Box<dyn Shelf> {
        self
    }
}

impl Shelf for Locks {
    fn installed(&self) -> Option<&Installed> {
        Some(&self.installed)
    }

    fn diagnostics(&self) -> &[Diagnostic] {
        &[]
    }

    fn file_count(&self) -> usize {
        self.installed.len()
    }
}

#[derive(Default)]
struct Files {
    locks: Locks,
    collector: Collector,
    /// Clients that the project's own configuration adds.
    clients: Vec<String>,
}

impl Reader for Files {
    fn visit(&mut self, visit: &Visit<'_>) {
        if visit.slashed().is_empty()
            && let Ok(bytes) = visit.read(config::FILE_NAME)
        {
            self.clients.extend(config::client_names(&bytes));
        }
        self.locks.visit(visit);
        self.collector.visit(visit);
    }

    fn finish(self: Box<Self>) -> Box<dyn Shelf> {
        let mut clients: Vec<&str> = CLIENTS.to_vec();
        clients
            .extend(self.clients.iter().map(String::as_str).filter(|own| !CLIENTS.contains(own)));
        let registry = self.collector.finish(&clients);
        let diagnostics = registry.all_diagnostics().cloned().collect();
        Box::new(Checked { registry, diagnostics, locks: self.locks })
    }
}

struct Checked {
    registry: Registry,
    diagnostics: Vec<Diagnostic>,
    locks: Locks,
}

impl Shelf for Checked {
    fn installed(&self) -> Option<&Installed> {
        self.locks.installed()
    }

    fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    fn file_count(&self) -> usize {
        self.registry.items.len() + self.registry.bundles.len()
    }
}
