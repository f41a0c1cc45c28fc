//! Tolerant front matter.
//!
//! In practice one file in five is not valid YAML between its dashes: `globs: **/*.ts`,
//! `argument-hint: [a] [b]`, `description: Use when: …`. Every client reads such files, so this
//! module does too. The header is parsed strictly first. Only if that fails is each top-level block
//! tried alone, and in the blocks that fail the offending values are quoted, line by line. Each
//! repair is reported with the edit that makes the file valid. A block that cannot be repaired is
//! reported and skipped, and the others stay.

mod repair;
mod strict;

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Edit, Fix};
use crate::limits::{FRONT_MATTER_BYTES, PROBLEMS_PER_FILE};
use crate::rules;
use crate::source::{Encoding, Source, Span};
use crate::yaml::{Node, ProblemKind, Value, Yaml};

use repair::{HeaderRepair, field_of};

/// A file, split into front matter and body.
#[derive(Debug, Clone)]
pub struct FrontMatter {
    /// The header, if the file has one.
    pub header: Option<Header>,
    /// The offset of the body: after the closing line, or at the start of the text.
    pub body_start: usize,
    /// The repairs, and the blocks that could not be repaired.
    pub diagnostics: Vec<Diagnostic>,
}

/// The part between the dashes.
#[derive(Debug, Clone)]
pub struct Header {
    /// The YAML, with spans in the whole file.
    pub yaml: Yaml,
    /// The text between the two lines of dashes.
    pub span: Span,
    /// True if blank lines precede the opening dashes: most clients then see no header.
    pub leading_blank: bool,
}

/// The spans of the parts of a text, before parsing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct HeaderParts {
    header: Span,
    body_start: usize,
    leading_blank: bool,
}

/// The start of a text.
enum Opening {
    None,
    /// An opening line without a closing one.
    Unclosed(Span),
    Header(HeaderParts),
}

impl FrontMatter {
    /// Reads the front matter of a file.
    pub fn from_source(source: &Arc<Source>) -> FrontMatter {
        let mut diagnostics = encoding_problem(source);
        match find_header(source.text()) {
            Opening::Header(parts) => {
                FrontMatter::of_header(source, parts, diagnostics, |diagnostics| {
                    parse_header(source, parts.header, diagnostics)
                })
            }
            opening => {
                if let Opening::Unclosed(span) = opening {
                    let message =
                        "the frontmatter has no closing `---`, so the file is read without it";
                    diagnostics.push(
                        Diagnostic::new(rules::FRONTMATTER_UNCLOSED, source, span, message)
                            .with_help("add a line `---` after the last field"),
                    );
                }
                FrontMatter { header: None, body_start: bom_length(source.text()), diagnostics }
            }
        }
    }

    /// Reads a header with `parse`, unless it is beyond the limit.
    fn of_header(
        source: &Arc<Source>,
        parts: HeaderParts,
        mut diagnostics: Vec<Diagnostic>,
        parse: impl FnOnce(&mut Vec<Diagnostic>) -> Yaml,
    ) -> FrontMatter {
        let HeaderParts { header: span, body_start, leading_blank } = parts;
        let is_too_long = is_too_long(source, span, &mut diagnostics);
        let yaml = if is_too_long { Yaml::parse("") } else { parse(&mut diagnostics) };
        let header = Header { yaml, span, leading_blank };
        FrontMatter { header: Some(header), body_start, diagnostics }
    }

    /// Reads a file that is YAML from first to last line: all header, and no body.
    pub fn from_yaml_source(source: &Arc<Source>) -> FrontMatter {
        let mut diagnostics = encoding_problem(source);
        let span = Span::new(bom_length(source.text()), source.text().len());
        let yaml = parse_header(source, span, &mut diagnostics);
        let header = Header { yaml, span, leading_blank: false };
        FrontMatter { header: Some(header), body_start: span.end, diagnostics }
    }

    /// Returns the value of a top-level field.
    pub fn get(&self, name: &str) -> Option<Node<'_>> {
        match self.header.as_ref()?.yaml.root()?.value() {
            Value::Mapping(mapping) => mapping.get(name),
            _ => None,
        }
    }
}

fn encoding_problem(source: &Arc<Source>) -> Vec<Diagnostic> {
    let Encoding::Invalid { offset } = source.encoding() else { return Vec::new() };
    let message = "the file is not UTF-8 from here on";
    let diagnostic =
        Diagnostic::new(rules::text::NOT_UTF8, source, Span::empty_at(offset), message);
    vec![diagnostic.with_help("save the file as UTF-8")]
}

/// Reports a header beyond the limit. Its fields are not read, but the body is: a file full of
/// fields would cost many times its size.
fn is_too_long(source: &Arc<Source>, header: Span, diagnostics: &mut Vec<Diagnostic>) -> bool {
    let bytes = header.end - header.start;
    if bytes <= FRONT_MATTER_BYTES {
        return false;
    }
    let message =
        format!("the frontmatter is ignored: it has {bytes} bytes, more than {FRONT_MATTER_BYTES}");
    let help = "keep the fields short, and move text below the closing `---`";
    let place = Span::empty_at(header.start);
    diagnostics
        .push(Diagnostic::new(rules::FRONTMATTER_INVALID, source, place, message).with_help(help));
    true
}

/// Keeps the first problems of a file, and one that counts the rest. That one has the most severe
/// code of the rest, because readers decide by codes if a header is reliable.
fn keep_a_few(diagnostics: &mut Vec<Diagnostic>) {
    if diagnostics.len() <= PROBLEMS_PER_FILE {
        return;
    }
    let rest = diagnostics.split_off(PROBLEMS_PER_FILE);
    let count = rest.len();
    let mut rest = rest.into_iter();
    let Some(first) = rest.next() else { return };
    let gravest = rest.fold(first, |gravest, next| {
        let is_graver = next.severity < gravest.severity
            || (next.rule == rules::FRONTMATTER_INVALID
                && gravest.rule != rules::FRONTMATTER_INVALID);
        if is_graver { next } else { gravest }
    });
    diagnostics.push(Diagnostic {
        message: format!("and {count} more in this frontmatter"),
        help: Some("fix the ones above first".to_owned()),
        fix: None,
        ..gravest
    });
}

fn bom_length(text: &str) -> usize {
    text.len() - text.trim_start_matches('\u{feff}').len()
}

/// Finds the header: a line `---`, and the next line that is `---` or `...`. Blanks after the
/// dashes, CRLF, a byte order mark and a missing last line break are accepted.
fn find_header(text: &str) -> Opening {
    let start = bom_length(text);
    let mut lines = lines_from(text, start);
    let mut leading_blank = false;
    let opening = loop {
        let Some((span, line)) = lines.next() else { return Opening::None };
        if line.trim().is_empty() {
            leading_blank = true;
        } else if line.trim_end() == "---" {
            break span;
        } else {
            return Opening::None;
        }
    };
    let header_start = opening.end;
    for (span, line) in lines {
        if matches!(line.trim_end(), "---" | "...") {
            let header = Span::new(header_start, span.start);
            return Opening::Header(HeaderParts { header, body_start: span.end, leading_blank });
        }
    }
    // Dashes at the top of a text without a second line of them are a thematic break, unless a
    // field follows.
    let next = lines_from(text, header_start).next();
    match next.and_then(|(_, line)| field_of(line)) {
        Some(_) => Opening::Unclosed(opening),
        None => Opening::None,
    }
}

/// Iterates over the lines from `start`, each with its span (line break included) and its text.
fn lines_from(text: &str, start: usize) -> impl Iterator<Item = (Span, &str)> {
    let mut offset = start;
    text[start..].split_inclusive('\n').map(move |line| {
        let span = Span::new(offset, offset + line.len());
        offset = span.end;
        (span, line.trim_end_matches(['\n', '\r']))
    })
}

fn parse_header(source: &Arc<Source>, header: Span, diagnostics: &mut Vec<Diagnostic>) -> Yaml {
    let text = source.slice(header);
    let strict = Yaml::parse(text);
    let mut yaml = if needs_no_repair(&strict) {
        strict
    } else {
        let repair = HeaderRepair::from_header(text);
        report_repair(source, header, &repair, diagnostics);
        let mut yaml = Yaml::parse(&repair.text);
        yaml.map_spans(|offset| repair.original_offset(offset));
        yaml
    };
    yaml.map_spans(|offset| header.start + offset);
    report_yaml_problems(source, &yaml, diagnostics);
    // Lines of a text that is not quoted look like fields, and look like twice the same field.
    if diagnostics.iter().any(|found| found.rule == rules::FRONTMATTER_INVALID) {
        diagnostics.retain(|found| found.rule != rules::yaml::DUPLICATE_KEY);
    }
    yaml
}

/// The length of a repaired value that is shown whole.
const LONGEST_SHOWN: usize = 200;

/// Reports each edit with its fix, and each block that was skipped.
fn report_repair(
    source: &Arc<Source>,
    header: Span,
    repair: &HeaderRepair,
    diagnostics: &mut Vec<Diagnostic>,
) {
    for edit in &repair.edits {
        let edit = Edit::replace(edit.span.shifted_by(header.start), edit.replacement.clone());
        // Only the replacement of a tab consists of blanks.
        let is_tab = edit.replacement.trim().is_empty();
        let (message, help, fix) = if is_tab {
            let message = "a tab cannot indent YAML; it was read as spaces";
            (message, "replace the tab with spaces".to_owned(), "replace the tab")
        } else {
            let message = "this is not valid YAML; it was read as if the value were quoted";
            let replacement = edit.replacement.trim();
            let help = if replacement.len() > LONGEST_SHOWN || replacement.contains('\n') {
                "put the value in quotes".to_owned()
            } else {
                format!("write `{replacement}`")
            };
            (message, help, "quote the value")
        };
        diagnostics.push(
            Diagnostic::new(rules::FRONTMATTER_REPAIRED, source, edit.span, message)
                .with_help(help)
                .with_fix(Fix::safe(fix, vec![edit])),
        );
    }
    for (span, problem) in &repair.skipped {
        let message = format!("this field is not valid YAML and was skipped: {problem}");
        let span = span.shifted_by(header.start);
        diagnostics.push(
            Diagnostic::new(rules::FRONTMATTER_INVALID, source, span, message)
                .with_help("quote the value, or write it as a block with `|`"),
        );
    }
    keep_a_few(diagnostics);
}

/// Returns whether the YAML is what its author meant. The parser accepts an unknown alias and a tag
/// that swallowed its value.
fn needs_no_repair(yaml: &Yaml) -> bool {
    let broken = |kind| matches!(kind, ProblemKind::Syntax | ProblemKind::UnknownAlias);
    !yaml.problems().iter().any(|problem| broken(problem.kind))
        && !yaml.root().is_some_and(|root| has_swallowed_value(root, 0))
        && yaml.root().is_none_or(|root| matches!(root.value(), Value::Mapping(_) | Value::Null))
}

fn has_swallowed_value(node: Node<'_>, depth: usize) -> bool {
    if depth > 2 {
        return false;
    }
    match node.value() {
        Value::Scalar("") => node.is_tagged(),
        Value::Sequence(list) => list.iter().any(|item| has_swallowed_value(item, depth + 1)),
        Value::Mapping(mapping) => {
            mapping.fields().any(|field| has_swallowed_value(field.value, depth + 1))
        }
        _ => false,
    }
}

fn report_yaml_problems(source: &Arc<Source>, yaml: &Yaml, diagnostics: &mut Vec<Diagnostic>) {
    for problem in yaml.problems() {
        let rule = match problem.kind {
            ProblemKind::Syntax | ProblemKind::UnknownAlias => rules::FRONTMATTER_INVALID,
            ProblemKind::AliasBomb => rules::yaml::ALIAS_BOMB,
            ProblemKind::DuplicateKey => rules::yaml::DUPLICATE_KEY,
            ProblemKind::ExtraDocument => rules::yaml::EXTRA_DOCUMENT,
        };
        diagnostics.push(Diagnostic::new(rule, source, problem.span, problem.message.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> FrontMatter {
        FrontMatter::from_source(&Arc::new(Source::new("f.md", text)))
    }

    fn codes(front: &FrontMatter) -> Vec<&'static str> {
        front.diagnostics.iter().map(Diagnostic::code).collect()
    }

    fn field<'f>(front: &'f FrontMatter, name: &str) -> Option<&'f str> {
        front.get(name).and_then(Node::as_str)
    }

    #[test]
    fn valid_headers_are_left_alone() {
        let text = "---\nname: x\ndescription: one --- two\n---\nbody\n";
        let front = read(text);
        assert_eq!(field(&front, "description"), Some("one --- two"));
        assert_eq!(&text[front.body_start..], "body\n");
        assert_eq!(codes(&front), [""; 0]);
    }

    /// Ruling G1: the accepted spellings of the dashes.
    #[test]
    fn all_spellings_of_the_dashes_are_accepted() {
        for text in [
            "\u{feff}---\na: 1\n---\nB",
            "---\r\na: 1\r\n---\r\nB",
            "--- \t\na: 1\n---  \nB",
            "---\na: 1\n...\nB",
            "\n---\na: 1\n---\nB",
        ] {
            let front = read(text);
            assert_eq!(field(&front, "a"), Some("1"), "{text:?}");
            assert_eq!(&text[front.body_start..], "B", "{text:?}");
        }
        let at_end = "---\na: 1\n---";
        assert_eq!(field(&read(at_end), "a"), Some("1"));
        assert_eq!(read(at_end).body_start, at_end.len());
    }

    /// Ruling G1: an offending value is quoted, reported with its fix, and the fix makes it valid.
    #[test]
    fn offending_values_are_quoted_and_the_fix_is_what_was_read() {
        for (line, value) in [
            ("globs: **/*.ts", "**/*.ts"),
            ("globs: *.ts,*.tsx", "*.ts,*.tsx"),
            ("globs: !src/**", "!src/**"),
            ("globs: *", "*"),
            ("globs: Use when: asked", "Use when: asked"),
            ("globs: [a] | [b]", "[a] | [b]"),
            ("globs: \"quoted\" then more", "\"quoted\" then more"),
            ("globs: @mention", "@mention"),
            ("globs: `code` first", "`code` first"),
            ("globs: %percent", "%percent"),
            ("globs: \"never closed", "\"never closed"),
            ("globs: it's: here", "it's: here"),
            ("globs:no space", "no space"),
        ] {
            let text = format!("---\nname: n\n{line}\nlast: 1\n---\nbody");
            let source = Arc::new(Source::new("f.md", text.clone()));
            let front = FrontMatter::from_source(&source);
            assert_eq!(field(&front, "globs"), Some(value), "{line}");
            assert_eq!(field(&front, "name"), Some("n"), "{line}");
            assert_eq!(field(&front, "last"), Some("1"), "{line}");
            assert_eq!(codes(&front), ["frontmatter-repaired"], "{line}");
            assert_eq!(front.diagnostics[0].position().line, 3, "{line}");
            let fixed = crate::diagnostic::apply_safe_fixes(&text, &front.diagnostics).text;
            let again = read(&fixed);
            assert_eq!(codes(&again), [""; 0], "{fixed}");
            assert_eq!(field(&again, "globs"), Some(value), "{fixed}");
        }
    }

    #[test]
    fn places_after_a_repair_are_places_in_the_file() {
        let text = "---\nglobs: **/*.ts\nname: here\n---\n";
        let front = read(text);
        let span = front.get("name").unwrap().span();
        assert_eq!(&text[span.range()], "here");
        let globs = front.get("globs").unwrap().span();
        assert_eq!(&text[globs.range()], "**/*.ts");
    }

    #[test]
    fn lists_and_tabs_are_repaired_too() {
        let front = read("---\nglobs:\n  - **/*.ts\n  - ok\nmetadata:\n\tauthor: me\n---\n");
        let Some(Value::Sequence(list)) = front.get("globs").map(Node::value) else {
            panic!("a list")
        };
        let items: Vec<_> = list.iter().filter_map(Node::as_str).collect();
        assert_eq!(items, ["**/*.ts", "ok"]);
        let Some(Value::Mapping(metadata)) = front.get("metadata").map(Node::value) else {
            panic!("a mapping")
        };
        assert_eq!(metadata.get("author").and_then(Node::as_str), Some("me"));
    }

    /// A text that is not YAML and goes on below is one value: people write examples into a description.
    #[test]
    fn a_text_of_several_lines_is_quoted_as_a_whole() {
        let front = read(
            "---\nname: n\ndescription: Use it when: always\n\n  <example>\n  user: it's late\n  </example>\nmodel: m\n---\n",
        );
        let text = "Use it when: always\n<example> user: it's late </example>";
        assert_eq!(field(&front, "description"), Some(text));
        assert_eq!(field(&front, "model"), Some("m"));
        assert_eq!(codes(&front), ["frontmatter-repaired"]);
        // A list below a text is beyond that.
        let front = read("---\nname: n\nallowed-tools: - Read\n- Write\n---\n");
        assert_eq!(codes(&front), ["frontmatter-invalid"]);
    }

    /// Ruling G2: one bad field is reported and skipped; the others stay.
    #[test]
    fn a_block_beyond_repair_is_skipped_alone() {
        let front = read("---\nname: n\nbad: [a,\n  {b\nlast: 1\n---\n");
        assert_eq!(field(&front, "name"), Some("n"));
        assert_eq!(field(&front, "last"), Some("1"));
        assert_eq!(codes(&front), ["frontmatter-invalid"]);
        assert_eq!(front.diagnostics[0].position().line, 3);
    }

    /// X05: a header of any size costs no more than a short one, and the body is read.
    #[test]
    fn a_header_that_is_too_long_is_reported_and_not_parsed() {
        let long = "a: b\n".repeat(FRONT_MATTER_BYTES / 5 + 1);
        for strictly in [false, true] {
            let text = format!("---\n{long}---\nbody\n");
            let source = Arc::new(Source::new("f.md", text));
            let front = if strictly {
                FrontMatter::read_strictly(&source, &[])
            } else {
                FrontMatter::from_source(&source)
            };
            assert_eq!(codes(&front), ["frontmatter-invalid"]);
            let found = &front.diagnostics[0];
            assert_eq!(found.position().line, 2);
            assert!(found.message.contains("65540 bytes, more than 65536"), "{}", found.message);
            assert!(found.help.is_some());
            assert!(front.get("a").is_none());
            assert_eq!(&source.text()[front.body_start..], "body\n");
        }
    }

    /// X05: the problems of one file cannot fill memory and screen.
    #[test]
    fn problems_are_listed_up_to_a_limit_and_counted_past_it() {
        for line in ["a: b\n", "a: *b\n", "a: [b\n"] {
            let text = format!("---\nname: n\n{}---\nbody\n", line.repeat(1_000));
            let front = read(&text);
            // Repairs and problems of the YAML itself are counted separately.
            assert!(front.diagnostics.len() <= 2 * (PROBLEMS_PER_FILE + 1), "{line}");
            let messages = front.diagnostics.iter().map(|found| found.message.as_str());
            let counted: Vec<&str> = messages.filter(|text| text.starts_with("and ")).collect();
            assert!(matches!(counted.len(), 1 | 2), "{line}: {counted:?}");
        }
        // The code for an unreliable header is not lost behind others.
        let text = format!("---\n{}bad: [a,\n  {{b\n---\n", "x: **y\n".repeat(500));
        assert!(codes(&read(&text)).contains(&"frontmatter-invalid"));
    }

    #[test]
    fn a_file_may_be_all_header() {
        for text in ["name: n\nlast: 1\n", "\u{feff}---\nname: n\nlast: 1", "# c\n---\nname: n\n"] {
            let front = FrontMatter::from_yaml_source(&Arc::new(Source::new("f.yaml", text)));
            assert_eq!(field(&front, "name"), Some("n"), "{text:?}");
            assert_eq!(&text[front.get("name").unwrap().span().range()], "n", "{text:?}");
            assert_eq!(front.body_start, text.len(), "{text:?}");
        }
    }

    #[test]
    fn what_is_no_header_is_body() {
        for text in
            ["", "text", "<!-- x -->\n---\na: 1\n---\n", "---js\nx\n---\n", "---\n\n# Title\n"]
        {
            let front = read(text);
            assert!(front.header.is_none(), "{text:?}");
            assert_eq!(codes(&front), [""; 0], "{text:?}");
        }
        assert_eq!(codes(&read("---\nname: x\n\n# Body\n")), ["frontmatter-unclosed"]);
    }

    #[test]
    fn any_text_is_read_and_every_place_is_in_it() {
        arbtest::arbtest(|bytes| {
            let header: String = bytes.arbitrary()?;
            let text = format!("---\n{header}\n---\nbody");
            let front = read(&text);
            for diagnostic in &front.diagnostics {
                assert!(text.get(diagnostic.span.range()).is_some(), "{diagnostic:?}");
            }
            if let Some(root) = front.header.as_ref().and_then(|header| header.yaml.root()) {
                assert!(root.span().end <= text.len());
            }
            Ok(())
        });
    }
}
