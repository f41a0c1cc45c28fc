//! Diagnostics and answers as JSON, in a stable shape for other programs.

use std::borrow::Cow;
use std::path::Path;

use serde::{Serialize, Serializer};

use crate::diagnostic::{Diagnostic, OtherPlace};

/// The JSON form of a [`Diagnostic`]. All fields are always present, in this order; the last two only where one cause has
/// several places.
#[derive(Debug, Serialize)]
pub struct JsonDiagnostic<'d> {
    code: &'d str,
    severity: String,
    path: String,
    line: usize,
    column: usize,
    message: &'d str,
    help: Option<&'d str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    also: Vec<JsonPlace<'d>>,
}

#[derive(Debug, Serialize)]
struct JsonPlace<'d> {
    path: Cow<'d, str>,
    line: usize,
    column: usize,
    message: &'d str,
}

impl<'d> JsonPlace<'d> {
    fn from_place(root: &Path, place: &'d OtherPlace) -> JsonPlace<'d> {
        let position = place.source.position(place.span.start);
        JsonPlace {
            path: path_below(root, place.source.path()),
            line: position.line,
            column: position.column,
            message: &place.message,
        }
    }
}

impl<'d> JsonDiagnostic<'d> {
    /// Converts a diagnostic; its path is relative to `root` if it is below.
    pub fn from_diagnostic(root: &Path, diagnostic: &'d Diagnostic) -> JsonDiagnostic<'d> {
        let position = diagnostic.position();
        JsonDiagnostic {
            code: diagnostic.code(),
            severity: diagnostic.severity.to_string(),
            path: diagnostic.shown_path(root).into_owned(),
            line: position.line,
            column: position.column,
            message: &diagnostic.message,
            help: diagnostic.help.as_deref(),
            count: (!diagnostic.also.is_empty()).then(|| 1 + diagnostic.also.len()),
            also: diagnostic.also.iter().map(|place| JsonPlace::from_place(root, place)).collect(),
        }
    }
}

/// Diagnostics as a JSON list, with paths relative to a root.
#[derive(Debug, Clone, Copy)]
pub struct JsonDiagnostics<'d> {
    /// The directory that paths are relative to.
    pub root: &'d Path,
    /// The list.
    pub list: &'d [Diagnostic],
}

impl Serialize for JsonDiagnostics<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let diagnostics = self.list.iter();
        serializer
            .collect_seq(diagnostics.map(|one| JsonDiagnostic::from_diagnostic(self.root, one)))
    }
}

/// The version of an error's shape.
const ERROR_SHAPE: u32 = 1;

/// The version of every answer that has not changed by itself. Version 1 had other names of formats, states and rules.
const SHAPE: u32 = 2;

/// The answers that have changed by themselves as well, with their versions.
const CHANGED_SHAPES: [(&str, u32); 2] = [("show", 3), ("tokens", 3)];

/// Returns the version of the shape of an answer.
fn shape_of(kind: &str) -> u32 {
    let changed = CHANGED_SHAPES.iter().find(|(changed, _)| *changed == kind);
    changed.map_or(SHAPE, |(_, version)| *version)
}

/// An answer for programs: the common shape of all commands, around the body of one.
///
/// The command line prints nothing else under `--json`, so that no command can leave a part of it
/// out. `diagnostics` come last; their paths are relative to `root`.
#[derive(Debug, Clone, Copy)]
pub struct Envelope<'e, B> {
    /// The command, as typed after the program's name.
    pub kind: &'static str,
    /// The directory of the answer, absolute.
    pub root: &'e Path,
    /// The problems in the files that were read.
    pub diagnostics: &'e [Diagnostic],
    /// The command's own answer: an object whose keys are merged with those of the envelope.
    pub body: B,
}

impl<B: Serialize> Serialize for Envelope<'_, B> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct EnvelopeShape<'s, B> {
            kind: &'static str,
            version: u32,
            root: Cow<'s, str>,
            #[serde(flatten)]
            body: &'s B,
            diagnostics: JsonDiagnostics<'s>,
        }
        let Envelope { kind, root, diagnostics, body } = self;
        let diagnostics = JsonDiagnostics { root, list: diagnostics };
        let (version, root) = (shape_of(kind), root.to_string_lossy());
        EnvelopeShape { kind, version, root, body, diagnostics }.serialize(serializer)
    }
}

/// The error of a command, for programs. It goes to standard error, alone.
#[derive(Debug)]
pub struct ErrorEnvelope<'e> {
    /// The message.
    pub message: &'e str,
    /// Advice.
    pub hints: &'e [String],
}

impl Serialize for ErrorEnvelope<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct ErrorShape<'s> {
            kind: &'static str,
            version: u32,
            error: ErrorBody<'s>,
        }
        #[derive(Serialize)]
        struct ErrorBody<'s> {
            message: &'s str,
            hints: &'s [String],
        }
        let error = ErrorBody { message: self.message, hints: self.hints };
        ErrorShape { kind: "error", version: ERROR_SHAPE, error }.serialize(serializer)
    }
}

/// Returns a path for an answer: relative to `root` if it is below, else unchanged.
pub fn path_below<'p>(root: &Path, path: &'p Path) -> Cow<'p, str> {
    match path.strip_prefix(root) {
        Ok(path) if path.as_os_str().is_empty() => Cow::Borrowed("."),
        Ok(path) => path.to_string_lossy(),
        Err(_) => path.to_string_lossy(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::rules;
    use crate::source::{Source, Span};

    #[test]
    fn the_shape_is_fixed() {
        let source = Arc::new(Source::new("/p/AGENTS.yaml", "a\nbc\n"));
        let diagnostic =
            Diagnostic::new(rules::FRONTMATTER_REPAIRED, &source, Span::new(3, 4), "m");
        assert_eq!(
            serde_json::to_string(&JsonDiagnostic::from_diagnostic(Path::new("/p"), &diagnostic))
                .unwrap(),
            r#"{"code":"frontmatter-repaired","severity":"warning","path":"AGENTS.yaml","line":2,"column":2,"message":"m","help":null}"#
        );
    }
}
