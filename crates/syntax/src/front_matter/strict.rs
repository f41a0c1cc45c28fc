//! Strict front matter, for documents that forbid guessing.
//!
//! Where a header decides what may run, a guessed value is worse than none. So only the values of
//! the fields that a document's own examples write wrongly are repaired; everything else is an
//! error.

use std::sync::Arc;

use super::{
    FrontMatter, Opening, bom_length, encoding_problem, find_header, has_swallowed_value,
    lines_from,
    repair::{HeaderRepair, build_quoting_edit, field_of, stands_alone, value_from},
    report_repair, report_yaml_problems,
};
use crate::diagnostic::Diagnostic;
use crate::rules;
use crate::source::{Source, Span};
use crate::yaml::Yaml;

impl FrontMatter {
    /// Reads the front matter of a file strictly. Only values of the fields in `quotable` are
    /// quoted where needed; any other repair is left to the author, and the header then has no
    /// fields.
    ///
    /// Dashes on the first line without a second line of them are an error, because they may begin
    /// a header.
    pub fn read_strictly(source: &Arc<Source>, quotable: &[&str]) -> FrontMatter {
        let text = source.text();
        let mut diagnostics = encoding_problem(source);
        match find_header(text) {
            Opening::Header(parts) => {
                FrontMatter::of_header(source, parts, diagnostics, |diagnostics| {
                    parse_strict_header(source, parts.header, quotable, diagnostics)
                })
            }
            Opening::None | Opening::Unclosed(_) => {
                let start = bom_length(text);
                let mut lines = lines_from(text, start);
                let first = lines.find(|(_, line)| !line.trim().is_empty());
                if let Some((span, _)) = first.filter(|(_, line)| line.trim_end() == "---") {
                    let message = "the frontmatter has no closing `---`";
                    let diagnostic =
                        Diagnostic::new(rules::FRONTMATTER_UNCLOSED, source, span, message);
                    diagnostics.push(diagnostic.with_help("add a line `---` after the last field"));
                }
                FrontMatter { header: None, body_start: start, diagnostics }
            }
        }
    }
}

fn parse_strict_header(
    source: &Arc<Source>,
    header: Span,
    quotable: &[&str],
    diagnostics: &mut Vec<Diagnostic>,
) -> Yaml {
    let text = source.slice(header);
    let mut yaml = Yaml::parse(text);
    if yaml.syntax_error().is_some() {
        let repair = quoted_fields(text, quotable);
        let repaired = Yaml::parse(&repair.text);
        if !repair.edits.is_empty() && repaired.syntax_error().is_none() {
            report_repair(source, header, &repair, diagnostics);
            yaml = repaired;
            yaml.map_spans(|offset| repair.original_offset(offset));
        }
    }
    yaml.map_spans(|offset| header.start + offset);
    report_yaml_problems(source, &yaml, diagnostics);
    if yaml.root().is_some_and(|root| has_swallowed_value(root, 0)) {
        let message = "YAML reads a value that begins with `!` as a tag, not as text";
        let diagnostic = Diagnostic::new(rules::FRONTMATTER_INVALID, source, header, message);
        diagnostics.push(diagnostic.with_help("quote the value"));
    }
    yaml
}

/// Quotes the invalid values of some fields. A line of a block scalar is not a field, even if it
/// looks like one.
fn quoted_fields(original: &str, quotable: &[&str]) -> HeaderRepair {
    let mut edits = Vec::new();
    let mut block: Option<usize> = None;
    for (span, line) in lines_from(original, 0) {
        let indent = line.len() - line.trim_start_matches(' ').len();
        if line.trim().is_empty() || block.is_some_and(|above| indent > above) {
            continue;
        }
        let item = line[indent..]
            .strip_prefix("- ")
            .map_or(indent, |rest| line.len() - rest.trim_start().len());
        let Some(colon) = field_of(&line[item..]) else {
            block = line[item..].starts_with(['|', '>']).then_some(indent);
            continue;
        };
        let value_at = item + colon;
        let (start, value) = value_from(line, value_at);
        block = value.starts_with(['|', '>']).then_some(indent);
        let name = line[item..value_at - 1].trim();
        let is_quotable = quotable.iter().any(|known| known.eq_ignore_ascii_case(name));
        if is_quotable && !value.is_empty() && !stands_alone(value) {
            edits.push(build_quoting_edit(span.start + start, value));
        }
    }
    let mut repair = HeaderRepair::default();
    repair.adopt_edits(original, Span::new(0, original.len()), edits);
    repair
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::{Node, Value};

    fn read(text: &str) -> FrontMatter {
        FrontMatter::read_strictly(&Arc::new(Source::new("f.md", text)), &["argument-hint"])
    }

    fn codes(front: &FrontMatter) -> Vec<&'static str> {
        front.diagnostics.iter().map(Diagnostic::code).collect()
    }

    #[test]
    fn only_the_named_fields_are_repaired() {
        let text = "---\nlist:\n  - name: t\n    Argument-Hint: [a] [b]\n    body: |\n      argument-hint: [c] [d]\nlast: 1\n---\n";
        let front = read(text);
        assert_eq!(codes(&front), ["frontmatter-repaired"]);
        assert_eq!(front.get("last").and_then(Node::as_str), Some("1"));
        let Some(Value::Sequence(list)) = front.get("list").map(Node::value) else {
            panic!("a list")
        };
        let Some(Value::Mapping(first)) = list.iter().next().map(Node::value) else {
            panic!("a mapping")
        };
        assert_eq!(first.get("Argument-Hint").and_then(Node::as_str), Some("[a] [b]"));
        assert_eq!(first.get("body").and_then(Node::as_str), Some("argument-hint: [c] [d]\n"));
        let fixed = crate::diagnostic::apply_safe_fixes(text, &front.diagnostics).text;
        assert_eq!(codes(&read(&fixed)), [""; 0]);
    }

    #[test]
    fn anything_else_is_an_error() {
        for text in [
            "---\ntitle: [x\n---\n",
            "---\nglobs: *.ts\n---\n",
            "---\na: b: c\n---\n",
            "---\na: !b\n---\n",
        ] {
            let front = read(text);
            assert_ne!(codes(&front), [""; 0], "{text}");
            assert!(front.get("title").is_none());
        }
        assert_eq!(codes(&read("---\n\n# Title\n")), ["frontmatter-unclosed"]);
        assert_eq!(codes(&read("# Title\n\n---\n")), [""; 0]);
    }

    #[test]
    fn any_text_is_read_and_every_place_is_in_it() {
        arbtest::arbtest(|bytes| {
            let header: String = bytes.arbitrary()?;
            let text = format!("---\nargument-hint: [a] [b]\n{header}\n---\nbody");
            let front = read(&text);
            for diagnostic in &front.diagnostics {
                assert!(text.get(diagnostic.span.range()).is_some(), "{diagnostic:?}");
            }
            Ok(())
        });
    }
}
