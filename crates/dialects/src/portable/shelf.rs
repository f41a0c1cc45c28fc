//! The dialect as the engine sees it.

use brief_syntax::Diagnostic;
use brief_syntax::walk::Visit;

use crate::{Dialect, Reader, Shelf};

use super::registry::{Collector, Registry};
use super::{CLIENTS, NAME, config};

/// The dialect of portable rules, skills, agents and bundles.
#[derive(Debug, Clone, Copy)]
pub struct Portable;

impl Dialect for Portable {
    fn name(&self) -> &'static str {
        NAME
    }

    /// A source registry is compiled, not read by agents, so only a look at all of it concerns it.
    fn whole_reader(&self) -> Option<Box<dyn Reader>> {
        Some(Box::new(Files::default()))
    }
}

#[derive(Default)]
struct Files {
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
        self.collector.visit(visit);
    }

    fn finish(self: Box<Self>) -> Box<dyn Shelf> {
        let mut clients: Vec<&str> = CLIENTS.to_vec();
        clients
            .extend(self.clients.iter().map(String::as_str).filter(|own| !CLIENTS.contains(own)));
        let registry = self.collector.finish(&clients);
        let diagnostics = registry.all_diagnostics().cloned().collect();
        Box::new(Checked { registry, diagnostics })
    }
}

struct Checked {
    registry: Registry,
    diagnostics: Vec<Diagnostic>,
}

impl Shelf for Checked {
    fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    fn file_count(&self) -> usize {
        self.registry.items.len() + self.registry.bundles.len()
    }
}
