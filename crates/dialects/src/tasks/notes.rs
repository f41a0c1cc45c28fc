//! The diagnostics of a prompt, each once.

use std::collections::BTreeMap;
use std::path::PathBuf;

use brief_syntax::{Diagnostic, Rule, Span, rules};

use super::model::TaskDocument;

/// Collects the diagnostics of a prompt. A repetition in one file is reported at its first place
/// only, because a text can name one missing file ten thousand times.
#[derive(Debug, Default)]
pub(super) struct Notes {
    list: Vec<(Diagnostic, usize)>,
    known: BTreeMap<(PathBuf, Rule, Vec<u8>), usize>,
}

impl Notes {
    /// Reports a problem with `what` in a document.
    pub(super) fn warn(
        &mut self,
        document: &TaskDocument,
        span: Span,
        rule: Rule,
        what: &[u8],
        message: impl FnOnce() -> String,
    ) -> Option<&mut Diagnostic> {
        let key = (document.path().to_owned(), rule, what.to_vec());
        if let Some(&index) = self.known.get(&key) {
            self.list[index].1 += 1;
            return None;
        }
        self.known.insert(key, self.list.len());
        self.list.push((document.problem(rule, span, message()), 0));
        self.list.last_mut().map(|(diagnostic, _)| diagnostic)
    }

    /// Returns the names of the missing parameters.
    pub(super) fn missing_parameters(&self) -> Vec<&str> {
        let keys = self.known.keys();
        let missing = keys.filter(|(_, rule, _)| *rule == rules::tasks::MISSING_PARAMETER);
        missing.filter_map(|(_, _, name)| str::from_utf8(name).ok()).collect()
    }

    /// Adds the diagnostics of another reader.
    pub(super) fn extend(&mut self, diagnostics: Vec<Diagnostic>) {
        self.list.extend(diagnostics.into_iter().map(|diagnostic| (diagnostic, 0)));
    }

    /// Adds the diagnostics of another reader whose rule and place are not yet reported.
    pub(super) fn extend_new(&mut self, diagnostics: Vec<Diagnostic>) {
        for found in diagnostics {
            let is_known = |(known, _): &(Diagnostic, usize)| {
                (known.rule, known.span) == (found.rule, found.span) && known.path() == found.path()
            };
            if !self.list.iter().any(is_known) {
                self.list.push((found, 0));
            }
        }
    }

    /// Returns everything, in the order of discovery.
    pub(super) fn finish(self) -> Vec<Diagnostic> {
        let counted = self.list.into_iter().map(|(mut diagnostic, more)| {
            match more {
                0 => {}
                1 => diagnostic.message.push_str(" (once more below)"),
                _ => diagnostic.message.push_str(&format!(" ({more} more times below)")),
            }
            diagnostic
        });
        counted.collect()
    }
}
