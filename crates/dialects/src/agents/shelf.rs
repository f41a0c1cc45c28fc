//! The dialect as the engine sees it.

use brief_syntax::walk::Visit;
use brief_syntax::{Diagnostic, diagnostic};

use crate::{Dialect, Reader, Shelf};

use super::{NAME, load};

/// The dialect of agent files.
#[derive(Debug, Clone, Copy)]
pub struct Agents;

impl Dialect for Agents {
    fn name(&self) -> &'static str {
        NAME
    }

    /// An agent is asked for by its file, so only a look at the whole project reads these.
    fn whole_reader(&self) -> Option<Box<dyn Reader>> {
        Some(Box::new(Files::default()))
    }
}

/// What is wrong with the agents of a project.
#[derive(Default)]
struct Files {
    diagnostics: Vec<Diagnostic>,
    count: usize,
}

impl Reader for Files {
    fn visit(&mut self, visit: &Visit<'_>) {
        for loaded in load::in_directory(visit) {
            self.count += 1;
            self.diagnostics.extend_from_slice(loaded.diagnostics());
        }
    }

    /// A command that two agents share is looked at twice, and reported once.
    fn finish(mut self: Box<Self>) -> Box<dyn Shelf> {
        diagnostic::sort(&mut self.diagnostics);
        self.diagnostics.dedup();
        self
    }
}

impl Shelf for Files {
    fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    fn file_count(&self) -> usize {
        self.count
    }
}
