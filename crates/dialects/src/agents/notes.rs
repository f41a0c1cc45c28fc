//! The collector of diagnostics of one file.

use std::sync::Arc;

use brief_syntax::{Diagnostic, Rule, Source, Span};

/// The diagnostics of a file so far.
#[derive(Debug)]
pub(super) struct AgentNotes<'s> {
    pub(super) source: &'s Arc<Source>,
    pub(super) list: Vec<Diagnostic>,
}

impl<'s> AgentNotes<'s> {
    pub(super) fn new(source: &'s Arc<Source>) -> AgentNotes<'s> {
        AgentNotes { source, list: Vec::new() }
    }

    /// Reports that the text at `span` breaks a rule. An error keeps the agent from running.
    pub(super) fn report(
        &mut self,
        rule: Rule,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let diagnostic = Diagnostic::new(rule, self.source, span, message);
        self.list.push(diagnostic.with_help(help));
    }
}
