//! The formatter of YAML headers, line by line.
//!
//! Only white space changes, and only where the tree gives it no meaning: after a key, before the
//! items of a list, at the ends of lines. Comments and the order of keys stay. Lines of block
//! scalars, of multi-line text and of multi-line flow collections stay. A result with another tree
//! is never returned.

use super::{NodeShape, Yaml};
use crate::source::Span;

/// The number of rounds before a text counts as unstable.
const ROUNDS: usize = 4;

/// Formats the text between the dashes of a front matter.
///
/// The result has no blanks at the ends of lines, no blank lines at the start and the end, one
/// space after `key:` and after `-`, and list items indented by two below their key. A text that is
/// not YAML is returned unchanged.
pub fn format_header(header: &str) -> String {
    let mut current = header.to_owned();
    for _ in 0..ROUNDS {
        let Some(next) = format_step(&current) else { return header.to_owned() };
        if next == current {
            return next;
        }
        current = next;
    }
    header.to_owned()
}

/// The extent of the changes. A smaller one is tried if a larger one would change the tree.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Effort {
    /// Line ends, and blank lines at the start and the end.
    Edges,
    /// Also the space after keys and dashes.
    Spacing,
    /// Also the indentation of lists.
    Indentation,
}

fn format_step(text: &str) -> Option<String> {
    let text = text.replace("\r\n", "\n");
    let before = Yaml::parse(&text);
    if before.syntax_error().is_some() || text.starts_with('\u{feff}') {
        return None;
    }
    let notes = HeaderNotes::from_yaml(&before, &text);
    let is_same = |written: &String| {
        let is_ink = |character: &char| !matches!(character, ' ' | '\t' | '\n');
        written.chars().filter(is_ink).eq(text.chars().filter(is_ink))
            && is_same_tree(&before, &Yaml::parse(written))
    };
    [Effort::Indentation, Effort::Spacing, Effort::Edges]
        .into_iter()
        .map(|effort| notes.render_lines(&text, effort))
        .find(is_same)
        .or(Some(text.clone()))
}

/// Returns whether two documents have equal trees, apart from their spans.
fn is_same_tree(one: &Yaml, two: &Yaml) -> bool {
    let kinds = |yaml: &Yaml| yaml.problems.iter().map(|problem| problem.kind).collect::<Vec<_>>();
    kinds(one) == kinds(two)
        && match (one.root, two.root) {
            (Some(first), Some(second)) => same_node(one, first, two, second),
            (None, None) => true,
            _ => false,
        }
}

/// Compares two nodes. The parser limits the nesting, and so the recursion.
fn same_node(one: &Yaml, first: u32, two: &Yaml, second: u32) -> bool {
    match (&one.node_data(first).shape, &two.node_data(second).shape) {
        (
            NodeShape::Scalar { text, plain, tagged },
            NodeShape::Scalar { text: other, plain: other_plain, tagged: other_tagged },
        ) => {
            text.resolve_text(&one.input) == other.resolve_text(&two.input)
                && plain == other_plain
                && tagged == other_tagged
        }
        (&NodeShape::Sequence(left), &NodeShape::Sequence(right))
        | (&NodeShape::Mapping(left), &NodeShape::Mapping(right)) => {
            let (left, right) = (one.child_indices(left), two.child_indices(right));
            left.len() == right.len()
                && left.iter().zip(right).all(|(&left, &right)| same_node(one, left, two, right))
        }
        (NodeShape::Alias(_), NodeShape::Alias(_)) => {
            one.input.get(one.node_data(first).span.range())
                == two.input.get(two.node_data(second).span.range())
        }
        (NodeShape::Broken(kind), NodeShape::Broken(other)) => kind == other,
        _ => false,
    }
}

/// The facts of the tree about a line.
#[derive(Clone, Default)]
struct HeaderLine {
    /// True if the line belongs to a multi-line value.
    is_kept: bool,
    /// The number of columns by which the line moves to the right; negative for the left.
    shift: isize,
    /// The blanks to replace, and their replacements, from right to left once sorted.
    gaps: Vec<(Span, &'static str)>,
    /// The end of the last value on the line.
    end: usize,
}

struct HeaderNotes<'y> {
    yaml: &'y Yaml,
    text: &'y str,
    starts: Vec<usize>,
    lines: Vec<HeaderLine>,
    /// Lists below a key, from the outside in.
    lists: Vec<BlockList>,
}

struct BlockList {
    key: Span,
    dash: usize,
    last: usize,
}

impl<'y> HeaderNotes<'y> {
    fn from_yaml(yaml: &'y Yaml, text: &'y str) -> HeaderNotes<'y> {
        let starts: Vec<usize> = std::iter::once(0)
            .chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|offset| offset + 1))
            .collect();
        let lines = vec![HeaderLine::default(); starts.len()];
        let mut notes = HeaderNotes { yaml, text, starts, lines, lists: Vec::new() };
        if let Some(root) = yaml.root {
            notes.visit_node(root);
        }
        notes.shift_lists();
        notes
    }

    fn line_at(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset).saturating_sub(1)
    }

    /// Returns the text of the line before an offset.
    fn line_before(&self, offset: usize) -> &'y str {
        let start = self.starts[self.line_at(offset)];
        self.text.get(start..offset).unwrap_or_default()
    }

    fn visit_node(&mut self, index: u32) {
        let yaml = self.yaml;
        let data = yaml.node_data(index);
        match data.shape {
            NodeShape::Scalar { plain, .. } => {
                // A block scalar begins on the line after its `|`.
                let stands_alone = !plain && self.line_before(data.span.start).trim().is_empty();
                self.keep_lines(data.span, stands_alone);
            }
            NodeShape::Alias(_) | NodeShape::Broken(_) => self.keep_lines(data.span, false),
            NodeShape::Sequence(children) | NodeShape::Mapping(children)
                if self.is_flow(data.span, yaml.child_indices(children)) =>
            {
                self.keep_lines(data.span, false);
            }
            NodeShape::Sequence(items) => {
                for &item in yaml.child_indices(items) {
                    self.space_before(item);
                    self.visit_node(item);
                }
            }
            NodeShape::Mapping(fields) => {
                for pair in yaml.child_indices(fields).chunks_exact(2) {
                    let (key, value) = (yaml.node_data(pair[0]).span, pair[1]);
                    self.space_after(key);
                    self.visit_node(pair[0]);
                    self.note_list(key, value);
                    self.visit_node(value);
                }
            }
        }
    }

    /// Returns whether a collection begins with a bracket; a block collection begins with its first
    /// child.
    fn is_flow(&self, span: Span, children: &[u32]) -> bool {
        let starts_inside = children
            .first()
            .is_none_or(|&child| self.yaml.node_data(child).span.start != span.start);
        let written = self.text.get(span.start..).unwrap_or_default();
        starts_inside && written.starts_with(['[', '{'])
    }

    /// Records the end of a value, and keeps its lines if it has several.
    fn keep_lines(&mut self, span: Span, stands_alone: bool) {
        let (first, last) = (self.line_at(span.start), self.line_at(span.end));
        self.lines[last].end = self.lines[last].end.max(span.end);
        if first != last || stands_alone {
            for line in &mut self.lines[first..=last] {
                line.is_kept = true;
            }
        }
    }

    /// Replaces the blanks between a dash and a one-line value by one space.
    fn space_before(&mut self, item: u32) {
        let span = self.yaml.node_data(item).span;
        let before = self.line_before(span.start);
        let dash = before.trim_end_matches([' ', '\t']);
        let is_scalar = !matches!(self.yaml.node_data(item).shape, NodeShape::Mapping(_));
        if is_scalar && dash.ends_with('-') && dash.len() < before.len() {
            let gap = Span::new(span.start - (before.len() - dash.len()), span.start);
            // Nested values would have to move with the item.
            if self.line_at(span.end) == self.line_at(span.start) {
                let line = self.line_at(span.start);
                self.lines[line].gaps.push((gap, " "));
            }
        }
    }

    /// Removes the blanks before the colon of a key, and leaves one after it.
    fn space_after(&mut self, key: Span) {
        if self.line_before(key.start).contains(|character| !matches!(character, ' ' | '-')) {
            return;
        }
        let line = self.line_at(key.end);
        let rest = self.rest_of_line(key.end);
        let colon = rest.trim_start_matches([' ', '\t']);
        let Some(after) = colon.strip_prefix(':') else { return };
        let colon_at = key.end + (rest.len() - colon.len());
        self.lines[line].gaps.push((Span::new(key.end, colon_at), ""));
        let value = after.trim_start_matches([' ', '\t']);
        if value.len() < after.len() && !value.is_empty() {
            let start = colon_at + 1;
            let gap = Span::new(start, start + (after.len() - value.len()));
            self.lines[line].gaps.push((gap, " "));
        }
    }

    fn rest_of_line(&self, offset: usize) -> &'y str {
        let rest = self.text.get(offset..).unwrap_or_default();
        rest.split('\n').next().unwrap_or_default()
    }

    fn note_list(&mut self, key: Span, value: u32) {
        let data = self.yaml.node_data(value);
        let NodeShape::Sequence(items) = data.shape else { return };
        if self.is_flow(data.span, self.yaml.child_indices(items)) {
            return;
        }
        let before = self.line_before(data.span.start);
        let dash = before.len() - before.trim_start_matches(' ').len();
        let is_below = self.line_at(data.span.start) > self.line_at(key.start);
        if is_below && before[dash..].trim_end_matches(' ') == "-" {
            self.lists.push(BlockList { key, dash, last: self.line_at(data.span.end) });
        }
    }

    /// Moves each list two columns to the right of its key, from the outside in.
    fn shift_lists(&mut self) {
        for list in std::mem::take(&mut self.lists) {
            let line = self.line_at(list.key.start);
            let lines = line + 1..=list.last;
            if lines.is_empty() || self.lines[lines.clone()].iter().any(|line| line.is_kept) {
                continue;
            }
            let column =
                signed_count(self.line_before(list.key.start).len()) + self.lines[line].shift;
            let shift = column + 2 - signed_count(list.dash);
            for line in &mut self.lines[lines] {
                line.shift = shift;
            }
        }
    }

    fn render_lines(&self, text: &str, effort: Effort) -> String {
        let mut output = String::with_capacity(text.len() + 16);
        let mut kept_end = 0;
        for (index, line) in self.lines.iter().enumerate() {
            let start = self.starts[index];
            let content = self.rest_of_line(start);
            if line.is_kept {
                output.push_str(content);
                output.push('\n');
                kept_end = output.len();
                continue;
            }
            let content = if effort >= Effort::Spacing {
                with_gaps(content, start, line)
            } else {
                content.to_owned()
            };
            let content = content.trim_end_matches([' ', '\t']);
            if content.is_empty() && output.is_empty() {
                continue;
            }
            let shift = if effort >= Effort::Indentation { line.shift } else { 0 };
            output.push_str(&shift_line(content, shift));
            output.push('\n');
        }
        while output.len() > kept_end && (output.ends_with("\n\n") || output == "\n") {
            output.pop();
        }
        output
    }
}

fn signed_count(count: usize) -> isize {
    isize::try_from(count).unwrap_or(isize::MAX)
}

/// Replaces the gaps of a line, and tabs before a comment.
fn with_gaps(content: &str, start: usize, line: &HeaderLine) -> String {
    let mut gaps = line.gaps.clone();
    let after = line.end.saturating_sub(start);
    let rest = content.get(after..).unwrap_or_default();
    let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    if rest[blanks..].starts_with('#') && rest[..blanks].contains('\t') {
        let blank = if after == 0 { "" } else { " " };
        gaps.push((Span::new(start + after, start + after + blanks), blank));
    }
    gaps.sort_unstable_by_key(|(span, _)| std::cmp::Reverse((span.start, span.end)));
    let mut written = content.to_owned();
    for (span, blanks) in gaps {
        let range = span.start.saturating_sub(start)..span.end.saturating_sub(start);
        if written.get(range.clone()).is_some_and(|gap| gap.trim().is_empty()) {
            written.replace_range(range, blanks);
        }
    }
    written
}

fn shift_line(content: &str, shift: isize) -> String {
    if shift >= 0 {
        let indent = if content.is_empty() { 0 } else { shift.unsigned_abs() };
        return format!("{}{content}", " ".repeat(indent));
    }
    let blanks = content.len() - content.trim_start_matches(' ').len();
    content[blanks.min(shift.unsigned_abs())..].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formatted(text: &str) -> String {
        let once = format_header(text);
        assert_eq!(format_header(&once), once, "{text:?}");
        once
    }

    fn is_kept(text: &str) {
        assert_eq!(formatted(text), text);
    }

    #[test]
    fn blanks_are_mended_and_comments_stay() {
        assert_eq!(
            formatted(
                "\n\n# top  \nname:   x\t \ndescription :  'a  b'   # why\n\n\nlast:\tz\n\n \n"
            ),
            "# top\nname: x\ndescription: 'a  b'   # why\n\n\nlast: z\n"
        );
        assert_eq!(formatted("a: 1\r\nb: 2\r\n"), "a: 1\nb: 2\n");
        assert_eq!(formatted("a: 1"), "a: 1\n");
        assert_eq!(formatted("a: b\t# c\n"), "a: b # c\n");
        assert_eq!(formatted(""), "");
        assert_eq!(formatted("\n \n"), "");
        is_kept("# only\n\n# comments\n");
    }

    #[test]
    fn lists_are_indented_below_their_key() {
        assert_eq!(formatted("globs:\n- a\n-   b\nx: 1\n"), "globs:\n  - a\n  - b\nx: 1\n");
        assert_eq!(
            formatted("globs:\n      - a\n      # c\n      - b\n"),
            "globs:\n  - a\n  # c\n  - b\n"
        );
        assert_eq!(
            formatted("m:\n  k:\n  - a: 1\n    b:\n    - x\n    - y\n  - c\nz:\n"),
            "m:\n  k:\n    - a: 1\n      b:\n        - x\n        - y\n    - c\nz:\n"
        );
        is_kept("- a\n- b\n");
        is_kept("tools: [a, b]\n");
        is_kept("x:\n  - [a, b]\n  - {c: d}\n");
    }

    #[test]
    fn what_goes_over_several_lines_is_left_alone() {
        is_kept("d: |\n  a  \n\n\n   b\ne: >-\n    x \nf: 1\n");
        is_kept("d: |+\n  a\n\n\n");
        is_kept("d:   one\n     two\n");
        is_kept("d: [a,  \n    b  ,\n  c]\n");
        is_kept("d: \"a  \n   b\"\n");
        is_kept("l:\n- |\n  x:  y\n- z\n");
        assert_eq!(formatted("a:  1\nd: |\n  k:  v\n\n\n"), "a: 1\nd: |\n  k:  v\n");
    }

    #[test]
    fn anchors_tags_and_aliases_stay() {
        assert_eq!(formatted("a:  &x b\nc:   *x\nd:  !t  e\n"), "a: &x b\nc: *x\nd: !t  e\n");
        assert_eq!(formatted("a:  **/*.ts\n"), "a: **/*.ts\n");
        is_kept("match: [*.py]\n");
    }

    #[test]
    fn what_is_not_yaml_is_left_alone() {
        for text in ["a: b: c  \n", "{{{", "a:\n\t- b\n", "\"never closed  \n"] {
            is_kept(text);
        }
    }

    #[test]
    fn any_header_keeps_its_tree_and_is_formatted_once() {
        const WORDS: [&str; 36] = [
            "a", "b", "key", ": ", ":", ":  ", "- ", "-   ", "\n", "\n", "\n  ", "\n    ", "\n\n",
            " ", "\t", "# c", "'q'", "\"d\"", "'", "\"", "|", ">-", "|+", "[", "]", "{", "}", ",",
            "&x ", "*x", "!t ", "é", "\r\n", "---", "? ", "\n- ",
        ];
        arbtest::arbtest(|bytes| {
            let mut text = String::new();
            for _ in 0..bytes.int_in_range(0..=40)? {
                text.push_str(bytes.choose(&WORDS)?);
            }
            let once = format_header(&text);
            assert_eq!(format_header(&once), once, "{text:?}");
            let plain = text.replace("\r\n", "\n");
            let (before, after) = (Yaml::parse(&plain), Yaml::parse(&once));
            assert!(once == text || is_same_tree(&before, &after), "{text:?} {once:?}");
            Ok(())
        })
        .budget_ms(1_000);
    }

    /// Typical mappings, lists and scalars, with all kinds of blanks between.
    #[test]
    fn any_tidy_header_becomes_tidy() {
        arbtest::arbtest(|bytes| {
            let mut text = String::new();
            let mut tidy = String::new();
            for key in 0..bytes.int_in_range(0..=6)? {
                let gap = " ".repeat(bytes.int_in_range(1..=4)?);
                let end = " ".repeat(bytes.int_in_range(0..=3)?);
                if bytes.ratio(1, 2)? {
                    text.push_str(&format!("k{key}:{gap}v{end}\n"));
                    tidy.push_str(&format!("k{key}: v\n"));
                } else {
                    let indent = " ".repeat(bytes.int_in_range(0..=5)?);
                    text.push_str(&format!("k{key}:{end}\n"));
                    tidy.push_str(&format!("k{key}:\n"));
                    for _ in 0..bytes.int_in_range(1..=3)? {
                        text.push_str(&format!("{indent}-{gap}x{end}\n"));
                        tidy.push_str("  - x\n");
                    }
                }
            }
            assert_eq!(format_header(&text), tidy, "{text:?}");
            Ok(())
        });
    }
}
