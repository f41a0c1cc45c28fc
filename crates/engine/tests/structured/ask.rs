//! Projects in memory, and questions about them.

use std::path::Path;

use brief_engine::{Action, Catalog, Dialects, Moment, Resolution, Root, Timing, structured};
use brief_syntax::Severity;
use brief_system::MemorySystem;

/// A question that can be refined.
pub(crate) struct Ask<'a> {
    system: &'a MemorySystem,
    path: &'a str,
    action: Option<Action>,
    timing: Option<Timing>,
}

pub(crate) fn ask<'a>(system: &'a MemorySystem, path: &'a str) -> Ask<'a> {
    Ask { system, path, action: None, timing: None }
}

impl Ask<'_> {
    pub(crate) fn on(mut self, action: Action) -> Self {
        self.action = Some(action);
        self
    }

    pub(crate) fn when(mut self, timing: Timing) -> Self {
        self.timing = Some(timing);
        self
    }

    /// Asks, and hands the answer to `look`.
    pub(crate) fn answer<T>(&self, look: impl FnOnce(&Catalog, &Resolution<'_>) -> T) -> T {
        let root = Root::open(self.system, Path::new("/p")).expect("the root is a directory");
        let about = Moment::from_path(self.system, root, Path::new("/p"), Path::new(self.path));
        let (action, timing) = (self.action, self.timing);
        let dialects = Dialects::Only(vec![structured::NAME]);
        let moment = Moment { action, timing, dialects, ..about };
        let catalog = Catalog::read_for_moment(self.system, &moment);
        let resolution = catalog.resolve_moment(&moment);
        look(&catalog, &resolution)
    }

    pub(crate) fn contents(&self) -> Vec<String> {
        self.answer(|_, answer| {
            answer.items.iter().map(|applied| applied.item.content.to_owned()).collect()
        })
    }

    pub(crate) fn decisions(&self) -> Vec<String> {
        self.answer(|_, answer| {
            answer.decisions.iter().map(|bound| bound.decision.decision.clone()).collect()
        })
    }

    /// The codes of what is wrong, each with its line and whether it is an error.
    pub(crate) fn problems(&self) -> Vec<(&'static str, usize, bool)> {
        self.answer(|catalog, _| {
            let diagnostics = catalog.diagnostics();
            let problem = |found: &brief_syntax::Diagnostic| {
                (found.code(), found.position().line, found.severity == Severity::Error)
            };
            diagnostics.iter().map(problem).collect()
        })
    }
}

pub(crate) fn project() -> MemorySystem {
    MemorySystem::new("/p")
}

pub(crate) fn yaml(text: &str) -> MemorySystem {
    project().with_file("AGENTS.yaml", text)
}

pub(crate) const NONE: [&str; 0] = [];
