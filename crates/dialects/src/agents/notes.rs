//! The collector of diagnostics of one file.

use std::sync::Arc;

use brief_syntax::{Diagnostic, Source, Span};

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

    /// Reports an error, which keeps the agent from running.
    pub(super) fn error(
        &mut self,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let diagnostic = Diagnostic::error(code, self.source, span, message);
        self.list.push(diagnostic.with_help(help));
    }

    /// Reports a warning.
    pub(super) fn warn(
        &mut self,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let diagnostic = Diagnostic::warning(code, self.source, span, message);
        self.list.push(diagnostic.with_help(help));
    }
}
