//! The meaning of a Markdown text without its layout: the tree that formatting must not change.
//!
//! Two trees are equal if their events are, apart from these differences, which a reader of the
//! rendered text cannot see:
//!
//! - Spaces and tabs in prose count as one space, as in HTML, and as none before a line break and at
//!   the edges of a link's text. Code keeps all of them, except the indentation of a line that
//!   continues inline code: `CommonMark` removes it, and our parser does not.
//! - A line break inside a heading is a space: a heading is rendered as one line.
//! - A list may be tight or loose. `CommonMark` puts the text of a loose item in a paragraph, so here
//!   every item's text is in one. Linters ask for blank lines around code in an item, and these make
//!   a list loose.
//! - Blanks at the ends of lines of an HTML block, and before its first line, which are between
//!   tags or within a comment.
//! - The line break that ends a code block whose fence is never closed, and blank lines in a block
//!   that holds nothing else.
//!
//! Everything else counts: starts of paragraphs, soft and hard breaks, every character of code, info
//! strings, destinations, titles, labels, list numbers, alignments. Link definitions are not events,
//! so they are compared separately.

use std::ops::Range;

use pulldown_cmark::{CowStr, Event, Parser, Tag, TagEnd};

use super::OPTIONS;
use super::format::FormatRefusal;
use crate::limits::{
    MARKDOWN_DEPTH, MARKDOWN_LINE_BYTES, MARKDOWN_PIECES, MARKDOWN_QUOTES, MARKDOWN_TABLE_BYTES,
    MARKDOWN_TABLE_CELLS,
};

/// The tree of a text.
#[derive(Debug)]
pub(super) struct Tree<'t> {
    events: Vec<Event<'t>>,
    /// The offset of each event.
    starts: Vec<usize>,
    /// Label, destination and title, sorted.
    definitions: Vec<(String, String, Option<String>)>,
}

impl PartialEq for Tree<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.events == other.events && self.definitions == other.definitions
    }
}

impl<'t> Tree<'t> {
    /// Parses the tree of a text, or returns the limit that it exceeds.
    pub(super) fn parse(text: &'t str) -> Result<Tree<'t>, FormatRefusal> {
        let mut bounds = Bounds::measure_lines(text)?;
        let parser = Parser::new_ext(text, OPTIONS);
        let mut definitions: Vec<_> = parser
            .reference_definitions()
            .iter()
            .map(|(label, definition)| {
                let title = definition.title.as_ref().map(ToString::to_string);
                (label.to_owned(), definition.dest.to_string(), title)
            })
            .collect();
        definitions.sort_unstable();
        let mut builder = TreeBuilder { source: text, ..TreeBuilder::default() };
        for (event, range) in parser.into_offset_iter() {
            bounds.check_event(&event, &range)?;
            builder.read_event(event, &range);
        }
        Ok(Tree { events: builder.events, starts: builder.starts, definitions })
    }

    /// Returns the offset of the first difference to another tree.
    pub(super) fn first_difference(&self, other: &Tree<'_>) -> usize {
        let same = self.events.iter().zip(&other.events).take_while(|(one, two)| one == two);
        let index = same.count().min(self.starts.len().saturating_sub(1));
        self.starts.get(index).copied().unwrap_or_default()
    }
}

/// Collects events and removes the differences that do not count.
#[derive(Default)]
struct TreeBuilder<'t> {
    source: &'t str,
    events: Vec<Event<'t>>,
    starts: Vec<usize>,
    text: Option<(CowStr<'t>, usize)>,
    /// The text of an open code or HTML block.
    raw: Option<String>,
    /// The open blocks; for an item, whether a paragraph was added around its text.
    blocks: Vec<TreeBlock>,
    in_heading: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TreeBlock {
    Item { paragraph: bool },
    Other,
}

impl<'t> TreeBuilder<'t> {
    fn read_event(&mut self, event: Event<'t>, range: &Range<usize>) {
        let start = range.start;
        match event {
            Event::Text(text) | Event::Html(text) if self.raw.is_some() => {
                if let Some(raw) = &mut self.raw {
                    raw.push_str(&text);
                }
            }
            Event::SoftBreak if self.in_heading => self.add_text(" ".into(), start),
            Event::Text(text) => {
                self.begin_inline(start);
                self.add_text(text, start);
            }
            Event::Code(code) => {
                self.begin_inline(start);
                let is_one_line = !self.source[range.clone()].contains('\n');
                let code = if is_one_line { code } else { with_single_spaces(&code).into() };
                self.push_event(Event::Code(code), start);
            }
            Event::Start(tag) if is_inline(&tag) => {
                self.begin_inline(start);
                self.push_event(Event::Start(tag), start);
            }
            Event::End(end) if is_inline_end(end) => self.push_event(Event::End(end), start),
            Event::Start(tag) => self.start_block(tag, start),
            Event::End(end) => self.end_block(end, start),
            Event::Rule => {
                self.end_paragraph(start);
                self.push_event(Event::Rule, start);
            }
            event => {
                self.begin_inline(start);
                self.push_event(event, start);
            }
        }
    }

    fn start_block(&mut self, tag: Tag<'t>, start: usize) {
        self.end_paragraph(start);
        self.in_heading |= matches!(tag, Tag::Heading { .. });
        if matches!(tag, Tag::CodeBlock(_) | Tag::HtmlBlock) {
            self.raw = Some(String::new());
        }
        self.blocks.push(match tag {
            Tag::Item => TreeBlock::Item { paragraph: false },
            _ => TreeBlock::Other,
        });
        self.push_event(Event::Start(tag), start);
    }

    fn end_block(&mut self, end: TagEnd, start: usize) {
        self.end_paragraph(start);
        match end {
            TagEnd::Heading(_) => self.in_heading = false,
            TagEnd::CodeBlock => {
                let mut code = self.raw.take().unwrap_or_default();
                if code.bytes().all(|byte| byte == b'\n') {
                    code.clear();
                } else if !code.ends_with('\n') {
                    code.push('\n');
                }
                self.push_event(Event::Code(code.into()), start);
            }
            TagEnd::HtmlBlock => {
                let html = self.raw.take().unwrap_or_default();
                let mut lines: Vec<&str> = html.trim().lines().map(str::trim_end).collect();
                // The layout joins the blank lines of a comment.
                if html.trim().starts_with("<!--") {
                    lines.dedup_by(|line, before| line.is_empty() && before.is_empty());
                }
                self.push_event(Event::Html(lines.join("\n").into()), start);
            }
            _ => {}
        }
        self.blocks.pop();
        self.push_event(Event::End(end), start);
    }

    /// Opens the paragraph that an item of a tight list lacks.
    fn begin_inline(&mut self, start: usize) {
        if let Some(TreeBlock::Item { paragraph: paragraph @ false }) = self.blocks.last_mut() {
            *paragraph = true;
            self.push_event(Event::Start(Tag::Paragraph), start);
        }
    }

    fn end_paragraph(&mut self, start: usize) {
        if let Some(TreeBlock::Item { paragraph: paragraph @ true }) = self.blocks.last_mut() {
            *paragraph = false;
            self.push_event(Event::End(TagEnd::Paragraph), start);
        }
    }

    fn add_text(&mut self, more: CowStr<'t>, start: usize) {
        self.text = Some(match self.text.take() {
            Some((text, start)) => {
                let mut text = text.into_string();
                text.push_str(&more);
                (text.into(), start)
            }
            None => (more, start),
        });
    }

    /// Removes the spaces of a text that do not count at its edges.
    fn without_edges<'a>(&self, text: &'a str, next: &Event<'_>) -> &'a str {
        let after =
            matches!(self.events.last(), Some(Event::Start(tag)) if is_link_end(tag.to_end()));
        let before = match next {
            Event::SoftBreak | Event::HardBreak => true,
            Event::End(end) => is_link_end(*end),
            _ => false,
        };
        let text = if after { text.trim_start_matches([' ', '\t']) } else { text };
        if before { text.trim_end_matches([' ', '\t']) } else { text }
    }

    fn push_event(&mut self, event: Event<'t>, start: usize) {
        if let Some((text, start)) = self.text.take() {
            let narrow = self.without_edges(&text, &event);
            let is_narrow = narrow.len() == text.len() && !text.contains("  ");
            let text = if is_narrow && !text.contains('\t') {
                text
            } else {
                with_single_spaces(narrow).into()
            };
            if !text.is_empty() {
                self.events.push(Event::Text(text));
                self.starts.push(start);
            }
        }
        self.events.push(event);
        self.starts.push(start);
    }
}

fn is_link_end(end: TagEnd) -> bool {
    matches!(end, TagEnd::Link | TagEnd::Image)
}

fn with_single_spaces(text: &str) -> String {
    let mut narrow = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            ' ' | '\t' if narrow.ends_with(' ') => {}
            '\t' => narrow.push(' '),
            character => narrow.push(character),
        }
    }
    narrow
}

fn is_inline(tag: &Tag<'_>) -> bool {
    is_inline_end(tag.to_end())
}

fn is_inline_end(end: TagEnd) -> bool {
    matches!(
        end,
        TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Strikethrough
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::Link
            | TagEnd::Image
    )
}

/// The sizes of the parts of a text, to protect the formatter: it recurses over nested markup, goes
/// through a paragraph again for each of its markers, and pads every cell of a table to the width
/// of its column.
#[derive(Default)]
pub(super) struct Bounds<'t> {
    text: &'t str,
    depth: usize,
    quotes: usize,
    pieces: usize,
    widths: Vec<usize>,
    column: usize,
    rows: usize,
    cells: usize,
    table_bytes: usize,
}

impl<'t> Bounds<'t> {
    /// Measures the lines, which needs no events.
    pub(super) fn measure_lines(text: &'t str) -> Result<Bounds<'t>, FormatRefusal> {
        let mut start = 0;
        for (index, end) in memchr::memchr_iter(b'\n', text.as_bytes()).enumerate() {
            if end - start > MARKDOWN_LINE_BYTES {
                return Err(FormatRefusal::LongLine { line: index + 1 });
            }
            start = end + 1;
        }
        if text.len() - start > MARKDOWN_LINE_BYTES {
            return Err(FormatRefusal::LongLine { line: line_of(text, start) });
        }
        Ok(Bounds { text, ..Bounds::default() })
    }

    pub(super) fn check_event(
        &mut self,
        event: &Event<'_>,
        range: &Range<usize>,
    ) -> Result<(), FormatRefusal> {
        let text = self.text;
        self.pieces += 1;
        match event {
            Event::Start(tag) => {
                self.depth += 1;
                self.quotes += usize::from(matches!(tag, Tag::BlockQuote(_)));
                if self.depth > MARKDOWN_DEPTH || self.quotes > MARKDOWN_QUOTES {
                    return Err(FormatRefusal::TooDeep { line: line_of(text, range.start) });
                }
                self.check_start(tag, text.get(range.clone()).unwrap_or_default())?;
            }
            Event::End(end) => {
                self.depth = self.depth.saturating_sub(1);
                self.quotes -= usize::from(matches!(end, TagEnd::BlockQuote(_)));
                if !is_inline_end(*end) {
                    self.pieces = 0;
                }
                if *end == TagEnd::Table {
                    let width: usize = self.widths.iter().map(|width| width + 3).sum();
                    self.table_bytes =
                        self.table_bytes.saturating_add(width.saturating_mul(self.rows));
                    if self.table_bytes > MARKDOWN_TABLE_BYTES {
                        return Err(FormatRefusal::LargeTables);
                    }
                }
            }
            // Code and HTML are copied and not formatted.
            Event::Html(_) => self.pieces = 0,
            _ => {}
        }
        if self.pieces > MARKDOWN_PIECES {
            return Err(FormatRefusal::LargeParagraph { line: line_of(text, range.start) });
        }
        Ok(())
    }

    fn check_start(&mut self, tag: &Tag<'_>, written: &str) -> Result<(), FormatRefusal> {
        if !is_inline(tag) {
            self.pieces = 0;
        }
        match tag {
            Tag::Table(columns) => {
                self.widths = vec![1; columns.len()];
                self.rows = 1;
            }
            Tag::TableHead | Tag::TableRow => {
                self.column = 0;
                self.rows += 1;
            }
            Tag::TableCell => {
                if let Some(width) = self.widths.get_mut(self.column) {
                    *width = (*width).max(written.trim().len());
                }
                self.column += 1;
                self.cells += 1;
                if self.cells > MARKDOWN_TABLE_CELLS {
                    return Err(FormatRefusal::LargeTables);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    let before = text.as_bytes().get(..offset).unwrap_or_default();
    memchr::memchr_iter(b'\n', before).count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(one: &str, two: &str) -> bool {
        Tree::parse(one).unwrap() == Tree::parse(two).unwrap()
    }

    #[test]
    fn layout_does_not_count() {
        for (one, two) in [
            ("a  b\tc\n", "a b c\n"),
            ("* a\n* b\n", "- a\n\n- b\n"),
            ("- a\n  ```sh\n  x\n  ```\n- b\n", "- a\n\n  ```sh\n  x\n  ```\n\n- b\n"),
            ("- [ ] a\n- [x] b\n", "- [ ] a\n\n- [x] b\n"),
            ("Two\nlines\n===\n", "# Two lines\n"),
            ("a  \nb\n", "a\\\nb\n"),
            ("  <!-- x -->  \n\n*a*\n", "<!-- x -->\n\n_a_\n"),
            ("```sh\nx", "```sh\nx\n```\n"),
            ("|a|b|\n|-|:-:|\n|c|\n", "| a | b |\n| --- | :-: |\n| c | |\n"),
            ("[a]: <b>\n[a]\n", "[a]: b\n\n[a]\n"),
            ("1) a\n1) b\n", "1. a\n2. b\n"),
        ] {
            assert!(same(one, two), "{one:?} {two:?}");
        }
    }

    #[test]
    fn meaning_counts() {
        for (one, two) in [
            ("a\nb\n", "a b\n"),
            ("a\n\nb\n", "a\nb\n"),
            ("```\na  b\n```\n", "```\na b\n```\n"),
            ("```\n\n\na\n```\n", "```\n\na\n```\n"),
            ("```\na\n```\n", "```text\na\n```\n"),
            ("    a\n", "```\na\n```\n"),
            ("`a  b`\n", "`a b`\n"),
            ("- a\n\n  b\n", "- a\n  b\n"),
            ("- a\n- b\n", "- a\n\n* b\n"),
            ("2. a\n", "1. a\n"),
            ("text\n---\n", "text\n\n---\n"),
            ("<pre>\n\ta\n</pre>\n", "<pre>\n    a\n</pre>\n"),
            ("[a]: b\n", ""),
            ("[a]: b\n", "[a]: b 'title'\n"),
            ("a  \nb\n", "a\nb\n"),
            ("a\u{a0}\u{a0}b\n", "a b\n"),
            ("|a|\n|-|\n", "|a|\n|:-|\n"),
        ] {
            assert!(!same(one, two), "{one:?} {two:?}");
        }
    }

    #[test]
    fn a_difference_has_a_place() {
        let one = Tree::parse("# a\n\nb\n\nc\n").unwrap();
        let two = Tree::parse("# a\n\nb\n\nd\n").unwrap();
        assert_eq!(one.first_difference(&two), 8);
    }
}
