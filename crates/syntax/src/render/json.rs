//! Diagnostics as JSON objects, in the shape that other programs rely on.

use serde::Serialize;

use crate::diagnostic::Diagnostic;

/// The JSON form of a [`Diagnostic`]. Fields are never missing and never change their order.
#[derive(Debug, Serialize)]
pub struct JsonDiagnostic<'d> {
    code: &'d str,
    severity: String,
    path: String,
    line: usize,
    column: usize,
    message: &'d str,
    help: Option<&'d str>,
}

impl<'d> From<&'d Diagnostic> for JsonDiagnostic<'d> {
    fn from(diagnostic: &'d Diagnostic) -> Self {
        let position = diagnostic.position();
        JsonDiagnostic {
            code: diagnostic.code,
            severity: diagnostic.severity.to_string(),
            path: diagnostic.path().to_string_lossy().into_owned(),
            line: position.line,
            column: position.column,
            message: &diagnostic.message,
            help: diagnostic.help.as_deref(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::source::{Source, Span};

    #[test]
    fn the_shape_is_fixed() {
        let source = Arc::new(Source::new("/p/AGENTS.yaml", "a\nbc\n"));
        let diagnostic = Diagnostic::warning("area/problem", &source, Span::new(3, 4), "m");
        assert_eq!(
            serde_json::to_string(&JsonDiagnostic::from(&diagnostic)).unwrap(),
            r#"{"code":"area/problem","severity":"warning","path":"/p/AGENTS.yaml","line":2,"column":2,"message":"m","help":null}"#
        );
    }
}
