//! What in a file would execute, for a person who is asked to trust it.
//!
//! This is a reading aid, and rather shows too much: what is trusted is always the whole file.

use std::path::Path;
use std::sync::Arc;

use brief_syntax::Source;
use brief_syntax::front_matter::FrontMatter;

/// What in a file would execute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Review {
    /// All of it: it is a script.
    Whole(String),
    /// All of it, and it is not text.
    Binary {
        /// How many bytes it has.
        bytes: usize,
    },
    /// These parts of a Markdown file, in its order.
    Parts(Vec<Part>),
}

/// A part of a Markdown file that would execute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The line that it begins in.
    pub line: usize,
    /// The shell commands.
    pub text: String,
}

impl Review {
    /// Looks through a file; its name says what it is.
    pub fn of(path: &Path, content: &[u8]) -> Review {
        let is_markdown = path.extension().is_some_and(|extension| {
            extension.eq_ignore_ascii_case("md") || extension.eq_ignore_ascii_case("mdc")
        });
        match std::str::from_utf8(content) {
            Ok(text) if is_markdown => Review::Parts(parts(path, text)),
            Ok(text) if !text.contains('\0') => Review::Whole(text.to_owned()),
            _ => Review::Binary { bytes: content.len() },
        }
    }
}

fn parts(path: &Path, text: &str) -> Vec<Part> {
    let source = Arc::new(Source::new(path, text));
    let front_matter = FrontMatter::read(&source);
    let mut parts = Vec::new();
    if let Some(bootstrap) = front_matter.get("bootstrap") {
        let text = bootstrap.as_str().unwrap_or_else(|| source.slice(bootstrap.span()));
        let line = source.line(bootstrap.span().start);
        parts.push(Part { line, text: text.trim_end().to_owned() });
    }
    let mut searched = 0;
    while let Some(found) = source.text()[searched..].find("!`") {
        let start = searched + found + 2;
        let Some(length) = source.text()[start..].find('`') else { break };
        let text = &source.text()[start..start + length];
        parts.push(Part { line: source.line(start), text: text.to_owned() });
        searched = start + length + 1;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn review(name: &str, content: &str) -> Review {
        Review::of(Path::new(name), content.as_bytes())
    }

    #[test]
    fn a_script_executes_as_a_whole() {
        assert_eq!(review("a-bootstrap", "#!/bin/sh\n"), Review::Whole("#!/bin/sh\n".into()));
        assert_eq!(review("a", "a\0"), Review::Binary { bytes: 2 });
        assert_eq!(Review::of(Path::new("a.md"), b"\xff"), Review::Binary { bytes: 1 });
    }

    #[test]
    fn of_markdown_commands_and_bootstrap_execute() {
        let text =
            "---\nbootstrap: |\n  one\n  two\n---\nSee !`git log`,\n!`a\nb` and `c` and !`d\n";
        let part = |line, text: &str| Part { line, text: text.to_owned() };
        let Review::Parts(parts) = review("a.md", text) else { panic!("it is Markdown") };
        assert_eq!(parts[0].text, "one\ntwo");
        assert_eq!(parts[1..], [part(6, "git log"), part(7, "a\nb")]);
        assert_eq!(review("a.MDC", "Nothing."), Review::Parts(Vec::new()));
    }
}
