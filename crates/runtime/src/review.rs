//! Shows the executable parts of a file to a user who is asked to trust it.
//!
//! This is a reading aid and shows too much rather than too little: trust always covers the whole file.

use std::path::Path;
use std::sync::Arc;

use brief_syntax::Source;
use brief_syntax::front_matter::FrontMatter;

/// The executable parts of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Review {
    /// The whole file: it is a script.
    Whole(String),
    /// The whole file, which is not text.
    Binary {
        /// The size in bytes.
        bytes: usize,
    },
    /// Parts of a Markdown file, in order.
    Parts(Vec<ExecutablePart>),
}

/// An executable part of a Markdown file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutablePart {
    /// The first line of the part.
    pub line: usize,
    pub text: String,
}

impl Review {
    /// Finds the executable parts of a file. The type of the file follows from its name.
    pub fn from_content(path: &Path, content: &[u8]) -> Review {
        let is_markdown = path.extension().is_some_and(|extension| {
            extension.eq_ignore_ascii_case("md") || extension.eq_ignore_ascii_case("mdc")
        });
        match std::str::from_utf8(content) {
            Ok(text) if is_markdown => Review::Parts(collect_executable_parts(path, text)),
            Ok(text) if !text.contains('\0') => Review::Whole(text.to_owned()),
            _ => Review::Binary { bytes: content.len() },
        }
    }
}

fn collect_executable_parts(path: &Path, text: &str) -> Vec<ExecutablePart> {
    let source = Arc::new(Source::new(path, text));
    let front_matter = FrontMatter::from_source(&source);
    let mut parts = Vec::new();
    if let Some(bootstrap) = front_matter.get("bootstrap") {
        let text = bootstrap.as_str().unwrap_or_else(|| source.slice(bootstrap.span()));
        let line = source.line_number(bootstrap.span().start);
        parts.push(ExecutablePart { line, text: text.trim_end().to_owned() });
    }
    let mut searched = 0;
    while let Some(found) = source.text()[searched..].find("!`") {
        let start = searched + found + 2;
        let Some(length) = source.text()[start..].find('`') else { break };
        let text = &source.text()[start..start + length];
        parts.push(ExecutablePart { line: source.line_number(start), text: text.to_owned() });
        searched = start + length + 1;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn review(name: &str, content: &str) -> Review {
        Review::from_content(Path::new(name), content.as_bytes())
    }

    #[test]
    fn a_script_executes_as_a_whole() {
        assert_eq!(review("a-bootstrap", "#!/bin/sh\n"), Review::Whole("#!/bin/sh\n".into()));
        assert_eq!(review("a", "a\0"), Review::Binary { bytes: 2 });
        assert_eq!(Review::from_content(Path::new("a.md"), b"\xff"), Review::Binary { bytes: 1 });
    }

    #[test]
    fn of_markdown_commands_and_bootstrap_execute() {
        let text =
            "---\nbootstrap: |\n  one\n  two\n---\nSee !`git log`,\n!`a\nb` and `c` and !`d\n";
        let part = |line, text: &str| ExecutablePart { line, text: text.to_owned() };
        let Review::Parts(parts) = review("a.md", text) else { panic!("it is Markdown") };
        assert_eq!(parts[0].text, "one\ntwo");
        assert_eq!(parts[1..], [part(6, "git log"), part(7, "a\nb")]);
        assert_eq!(review("a.MDC", "Nothing."), Review::Parts(Vec::new()));
    }
}
