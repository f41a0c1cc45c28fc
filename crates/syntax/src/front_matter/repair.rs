//! The repair of a header that is not valid YAML: invalid values are quoted, and blocks that cannot
//! be repaired are blanked out.

use super::{lines_from, needs_no_repair};
use crate::diagnostic::{Edit, with_edits};
use crate::source::Span;
use crate::yaml::Yaml;

#[derive(Default)]
pub(super) struct HeaderRepair {
    pub(super) text: String,
    /// The edits, with spans in the original text.
    pub(super) edits: Vec<Edit>,
    /// The blocks that could not be repaired and are blank in `text`.
    pub(super) skipped: Vec<(Span, String)>,
    /// For each edit, the end of its replacement in `text` and in the original.
    pub(super) ends: Vec<(usize, usize)>,
}

impl HeaderRepair {
    pub(super) fn from_header(original: &str) -> HeaderRepair {
        let mut repair = HeaderRepair::default();
        for block in split_header_blocks(original) {
            let text = &original[block.range()];
            if needs_no_repair(&Yaml::parse(text)) {
                repair.text.push_str(text);
                continue;
            }
            let edits = repaired_lines(text);
            let fixed = with_edits(text, &edits);
            let yaml = Yaml::parse(&fixed);
            let is_valid = |edit: &Edit| {
                needs_no_repair(&Yaml::parse(&with_edits(text, std::slice::from_ref(edit))))
            };
            if needs_no_repair(&yaml) {
                repair.adopt_edits(original, block, edits);
            } else if let Some(edit) = one_text(text).filter(is_valid) {
                repair.adopt_edits(original, block, vec![edit]);
            } else {
                let problem = yaml.problems().first().map_or("not a field", |p| &p.message);
                let span = Span::new(block.start, block.start + text.trim_end().len());
                repair.skipped.push((span, problem.to_owned()));
                // Blanks of the same length keep the offsets after it.
                repair.text.extend(text.chars().flat_map(|character| {
                    let blank = if character == '\n' { '\n' } else { ' ' };
                    std::iter::repeat_n(blank, if blank == '\n' { 1 } else { character.len_utf8() })
                }));
            }
        }
        repair
    }

    pub(super) fn adopt_edits(&mut self, original: &str, block: Span, edits: Vec<Edit>) {
        let mut copied = block.start;
        for edit in edits {
            let span = edit.span.shifted_by(block.start);
            self.text.push_str(&original[copied..span.start]);
            self.text.push_str(&edit.replacement);
            copied = span.end;
            self.ends.push((self.text.len(), span.end));
            self.edits.push(Edit::replace(span, edit.replacement));
        }
        self.text.push_str(&original[copied..block.end]);
    }

    /// Translates an offset in the repaired text to one in the original.
    pub(super) fn original_offset(&self, offset: usize) -> usize {
        let before = self.ends.partition_point(|&(repaired, _)| repaired <= offset);
        let base = match before.checked_sub(1) {
            Some(index) => {
                let (repaired, original) = self.ends[index];
                original + (offset - repaired)
            }
            None => offset,
        };
        // An offset inside a replacement maps at most to its end in the original.
        match self.edits.get(before) {
            Some(next) => base.min(next.span.end),
            None => base,
        }
    }
}

/// Splits a header into top-level blocks: a line at the left margin and the indented lines below
/// it. List items and closing brackets at the margin belong to the field above them.
fn split_header_blocks(text: &str) -> Vec<Span> {
    let mut blocks: Vec<Span> = Vec::new();
    for (span, line) in lines_from(text, 0) {
        let continues = line.is_empty()
            || line.starts_with([' ', '\t', ']', '}', '#'])
            || line.starts_with("- ")
            || line == "-";
        match blocks.last_mut() {
            Some(block) if continues => block.end = span.end,
            _ => blocks.push(span),
        }
    }
    blocks
}

/// Returns the edits that quote each offending value of a block.
fn repaired_lines(block: &str) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (span, line) in lines_from(block, 0) {
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        if line[..indent].contains('\t') {
            let spaces = "  ".repeat(line[..indent].chars().count());
            edits.push(Edit::replace(Span::new(span.start, span.start + indent), spaces));
        }
        let item = line[indent..].strip_prefix("- ").map_or(indent, |rest| line.len() - rest.len());
        let value_at = match field_of(&line[item..]) {
            Some(offset) => item + offset,
            None if item > indent => item,
            None => {
                edits.extend(missing_space(&line[item..], span.start + item));
                continue;
            }
        };
        let (start, value) = value_from(line, value_at);
        if !value.is_empty() && !stands_alone(value) {
            edits.push(build_quoting_edit(span.start + start, value));
        }
    }
    edits
}

/// Returns the edit that quotes a text which goes on in indented lines, as a whole: `description: When: always` and
/// examples below it.
fn one_text(block: &str) -> Option<Edit> {
    let (_, first) = lines_from(block, 0).next()?;
    let (start, value) = value_from(block, field_of(first)?);
    let is_text =
        start < first.len() && !value.starts_with(['"', '\'', '|', '>', '[', '{', '&', '*', '!']);
    let goes_on = value.lines().skip(1);
    let is_indented = |line: &str| line.trim().is_empty() || line.starts_with(' ');
    (is_text && goes_on.clone().count() > 0 && goes_on.clone().all(is_indented))
        .then(|| build_quoting_edit(start, value))
}

/// Returns the text from an offset on without the blanks around it, and where it begins.
pub(super) fn value_from(text: &str, offset: usize) -> (usize, &str) {
    let rest = text[offset..].trim_start();
    (text.len() - rest.len(), rest.trim_end())
}

/// Returns the edit that quotes a value.
pub(super) fn build_quoting_edit(start: usize, value: &str) -> Edit {
    Edit::replace(Span::new(start, start + value.len()), quote_value(value))
}

/// Returns the offset of the value in a line `key: value`.
pub(super) fn field_of(line: &str) -> Option<usize> {
    let colon = line.find(':')?;
    let key = &line[..colon];
    let word = |character: char| character.is_alphanumeric() || "_-. $\"'".contains(character);
    let is_key = !key.is_empty() && key.chars().all(word);
    let after = &line[colon + 1..];
    (is_key && (after.is_empty() || after.starts_with([' ', '\t']))).then_some(colon + 1)
}

/// Inserts the missing space in `description:text`, unless the value is a URL or a time.
fn missing_space(line: &str, start: usize) -> Option<Edit> {
    let colon = line.find(':')?;
    let (key, after) = (&line[..colon], &line[colon + 1..]);
    let is_name = key.starts_with(|first: char| first.is_ascii_alphabetic())
        && key
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || "_-".contains(character));
    let is_value = !after.is_empty() && !after.starts_with(['/', ':', '\\']);
    let rest = after.trim_end();
    (is_name && is_value).then(|| {
        let value = if stands_alone(rest) { rest.to_owned() } else { quote_value(rest) };
        Edit::replace(
            Span::new(start + colon + 1, start + colon + 1 + rest.len()),
            format!(" {value}"),
        )
    })
}

/// Returns whether a value is valid as written, or begins something that continues below.
pub(super) fn stands_alone(value: &str) -> bool {
    if value.starts_with(['|', '>']) || matches!(value, "[" | "{") {
        return true;
    }
    let yaml = Yaml::parse(&format!("value: {value}\n"));
    needs_no_repair(&yaml)
}

fn quote_value(value: &str) -> String {
    if value.contains('\'') || crate::hidden::hidden_characters(value).next().is_some() {
        let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
        format!("\"{escaped}\"")
    } else {
        format!("'{value}'")
    }
}
