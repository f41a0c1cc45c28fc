//! White space between the lines of a Markdown text, by markdownlint's rules.
//!
//! The formatter does most of it. It leaves blank lines inside list items (MD031, MD022, MD058: it
//! keeps a tight list tight), tabs in prose (MD010) and blanks around HTML. This pass is also the
//! only one for a text that the formatter must not touch, so it covers the other rules that concern
//! one line: MD009, MD012, MD023, MD032, MD047.
//!
//! It takes code and HTML from the tree and never writes in them, but it does not prove that the
//! tree stays the same: the caller compares.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

use super::OPTIONS;

/// Returns the text with corrected white space.
pub(super) fn fix_white_space(text: &str) -> String {
    let mut reader = LayoutReader::from_text(text);
    for (event, range) in Parser::new_ext(text, OPTIONS).into_offset_iter() {
        reader.read_event(&event, &range);
    }
    reader.finish()
}

/// Records facts about the lines of a text during a pass over its events that the caller makes anyway.
pub(super) struct LayoutReader<'t> {
    lines: TextLines<'t>,
    kinds: Vec<LineKind>,
    /// The lines that need a blank line before them, with the markers of the quotes around it.
    air: Vec<(usize, String)>,
    /// The lines with leading blanks to remove, and the offset of their text.
    dedent: Vec<(usize, usize)>,
    /// Inline code and tags, in order.
    inline: Vec<Range<usize>>,
    quotes: Vec<Range<usize>>,
    open_lists: Vec<usize>,
    footnotes: usize,
    /// The end of the last element of a list: the span of the list itself includes link definitions
    /// after it.
    end: usize,
}

/// A text by its lines, without their ends.
struct TextLines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> TextLines<'t> {
    fn from_text(text: &'t str) -> TextLines<'t> {
        let ends = memchr::memchr_iter(b'\n', text.as_bytes()).map(|offset| offset + 1);
        let mut starts: Vec<usize> = std::iter::once(0).chain(ends).collect();
        if text.ends_with('\n') || text.is_empty() {
            starts.pop();
        }
        TextLines { text, starts }
    }

    fn len(&self) -> usize {
        self.starts.len()
    }

    fn line_at(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset).saturating_sub(1)
    }

    fn get(&self, index: usize) -> &'t str {
        let Some(&start) = self.starts.get(index) else { return "" };
        let end = self.starts.get(index + 1).map_or(self.text.len(), |&next| next);
        self.text[start..end].trim_end_matches('\n')
    }

    /// Returns whether a line is blank except for the markers of the quotes around it.
    fn is_air(&self, index: usize) -> bool {
        self.get(index).bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'>'))
    }
}

/// The kind of a line, which decides about its corrections.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum LineKind {
    #[default]
    Prose,
    /// A line whose end is a hard break.
    Break,
    /// A line whose end is inside code or a tag.
    Open,
    /// HTML: blanks at its end have no meaning.
    Html,
    /// A comment: blank lines in a row become one.
    Comment,
    /// Code, which is never changed.
    Code,
}

impl<'t> LayoutReader<'t> {
    pub(super) fn from_text(text: &'t str) -> LayoutReader<'t> {
        let lines = TextLines::from_text(text);
        LayoutReader {
            kinds: vec![LineKind::Prose; lines.len()],
            lines,
            air: Vec::new(),
            dedent: Vec::new(),
            inline: Vec::new(),
            quotes: Vec::new(),
            open_lists: Vec::new(),
            footnotes: 0,
            end: 0,
        }
    }

    pub(super) fn read_event(&mut self, event: &Event<'_>, range: &Range<usize>) {
        match event {
            Event::Start(Tag::Item) => self.end = range.start + 1,
            Event::Start(tag) if is_container(tag.to_end()) => {}
            Event::End(tag) if is_container(*tag) => {}
            _ => self.end = range.end.max(self.end),
        }
        match event {
            Event::Start(Tag::BlockQuote(_)) => self.quotes.push(range.clone()),
            Event::End(TagEnd::BlockQuote(_)) => {
                self.quotes.pop();
            }
            Event::Start(Tag::FootnoteDefinition(_)) => self.footnotes += 1,
            Event::End(TagEnd::FootnoteDefinition) => self.footnotes -= 1,
            Event::Start(Tag::List(_)) => self.open_lists.push(range.start),
            Event::End(TagEnd::List(_)) => {
                if let (Some(start), true) = (self.open_lists.pop(), self.open_lists.is_empty()) {
                    self.want_air(&(start..self.end));
                }
            }
            Event::Start(Tag::Heading { .. }) => {
                if self.open_lists.len() + self.footnotes + self.quotes.len() == 0 {
                    self.dedent.push((self.lines.line_at(range.start), range.start));
                }
                self.want_air(range);
            }
            Event::Start(Tag::Table(_)) => self.want_air(range),
            Event::Start(Tag::CodeBlock(kind)) => {
                self.set_kinds(range, LineKind::Code);
                if matches!(kind, CodeBlockKind::Fenced(_)) {
                    self.want_air(range);
                }
            }
            Event::Start(Tag::HtmlBlock) => {
                let is_comment = self.lines.text[range.clone()].trim_start().starts_with("<!--");
                self.set_kinds(range, if is_comment { LineKind::Comment } else { LineKind::Html });
                if self.open_lists.len() + self.footnotes == 0 {
                    self.dedent.push((self.lines.line_at(range.start), range.start));
                }
            }
            Event::HardBreak => {
                self.set_kind(self.lines.line_at(range.start), LineKind::Break);
            }
            Event::Code(_) | Event::InlineHtml(_) => {
                for line in
                    self.lines.line_at(range.start)..self.lines.line_at(range.end.saturating_sub(1))
                {
                    self.set_kind(line, LineKind::Open);
                }
                self.inline.push(range.clone());
            }
            _ => {}
        }
    }

    /// Returns the text with corrected white space.
    pub(super) fn finish(mut self) -> String {
        self.air.sort_by_key(|(line, _)| *line);
        self.air.dedup_by_key(|(line, _)| *line);
        self.render_lines()
    }

    fn set_kind(&mut self, line: usize, kind: LineKind) {
        if let Some(found) = self.kinds.get_mut(line) {
            *found = kind;
        }
    }

    fn set_kinds(&mut self, range: &Range<usize>, kind: LineKind) {
        for line in
            self.lines.line_at(range.start)..=self.lines.line_at(range.end.saturating_sub(1))
        {
            self.set_kind(line, kind);
        }
    }

    /// Records that a block needs a blank line before and after it, unless it has them.
    fn want_air(&mut self, range: &Range<usize>) {
        let LayoutReader { lines, quotes, .. } = self;
        let first = lines.line_at(range.start);
        let mut last = lines.line_at(range.end.saturating_sub(1).max(range.start));
        while last > first && lines.is_air(last) {
            last -= 1;
        }
        if first > 0 && !lines.is_air(first - 1) {
            // The quotes that contain the line above, too.
            let shared = quotes.partition_point(|quote| lines.line_at(quote.start) < first);
            self.air.push((first, quote_marks(lines.get(first), shared)));
        }
        let next = last + 1;
        if let Some(&start) = lines.starts.get(next)
            && !lines.is_air(next)
        {
            let shared = quotes.partition_point(|quote| quote.end > start);
            self.air.push((next, quote_marks(lines.get(next), shared)));
        }
    }

    fn render_lines(&self) -> String {
        let lines = &self.lines;
        let mut output = LineOutput::with_capacity(lines.text.len() + 64);
        let mut air = self.air.iter().peekable();
        let mut dedent = self.dedent.iter().peekable();
        for index in 0..lines.len() {
            if let Some((_, marks)) = air.next_if(|(line, _)| *line == index) {
                output.push_line(marks, LineKind::Prose);
            }
            let kind = self.kinds[index];
            let line = lines.get(index);
            let start = lines.starts[index];
            let mended = match kind {
                LineKind::Code | LineKind::Open => Cow::Borrowed(line),
                LineKind::Html | LineKind::Comment => {
                    Cow::Borrowed(line.trim_end_matches([' ', '\t']))
                }
                LineKind::Prose | LineKind::Break => {
                    let line = with_mended_end(line, kind);
                    let has_tabs = memchr::memchr(b'\t', line.as_bytes()).is_some();
                    if has_tabs { self.without_tabs(&line, start).into() } else { line }
                }
            };
            match dedent.next_if(|(line, _)| *line == index) {
                Some(&(_, text_start)) if text_start - start <= mended.len() => {
                    output.push_line(&dedent_line(&mended, text_start - start), kind);
                }
                _ => output.push_line(&mended, kind),
            }
        }
        output.finish()
    }

    /// Replaces tabs by blanks: up to the next tab stop before the text of a line, where they are
    /// structure, and by one blank inside it. Code and tags keep theirs.
    fn without_tabs(&self, line: &str, start: usize) -> String {
        let mut written = String::with_capacity(line.len() + 8);
        let mut is_structure = true;
        let mut column = 0;
        for (offset, character) in line.char_indices() {
            let at = start + offset;
            let after = self.inline.partition_point(|span| span.start <= at);
            let is_inline = after.checked_sub(1).is_some_and(|index| at < self.inline[index].end);
            is_structure &=
                matches!(character, ' ' | '\t' | '>' | '-' | '+' | '*' | '.' | ')' | '0'..='9');
            if character == '\t' && !is_inline {
                let width = if is_structure { 4 - column % 4 } else { 1 };
                written.extend(std::iter::repeat_n(' ', width));
                column += width;
            } else {
                written.push(character);
                column += 1;
            }
        }
        written
    }
}

/// The written lines, without two empty ones in a row.
struct LineOutput {
    text: String,
    /// True if the last line is empty, or one that another empty line adds nothing to.
    is_empty: bool,
}

impl LineOutput {
    fn with_capacity(bytes: usize) -> LineOutput {
        LineOutput { text: String::with_capacity(bytes), is_empty: true }
    }

    fn push_line(&mut self, line: &str, kind: LineKind) {
        let is_empty = line.is_empty()
            && matches!(kind, LineKind::Prose | LineKind::Break | LineKind::Comment);
        if is_empty && self.is_empty {
            return;
        }
        self.text.push_str(line);
        self.text.push('\n');
        self.is_empty = is_empty;
    }

    fn finish(mut self) -> String {
        if self.is_empty && !self.text.is_empty() {
            self.text.pop();
        }
        self.text
    }
}

/// Returns whether a block contains other blocks, so that its span is not that of its text.
fn is_container(end: TagEnd) -> bool {
    matches!(
        end,
        TagEnd::List(_) | TagEnd::Item | TagEnd::BlockQuote(_) | TagEnd::FootnoteDefinition
    )
}

/// Removes the blanks at the end of a line, except the two of a hard break.
fn with_mended_end(line: &str, kind: LineKind) -> Cow<'_, str> {
    let content = line.trim_end_matches([' ', '\t']);
    let blanks = line.len() - content.len();
    // A backslash without the blank after it would become a hard break.
    if blanks > 0 && content.ends_with('\\') && kind != LineKind::Break {
        return Cow::Borrowed(line);
    }
    if kind == LineKind::Break && blanks >= 2 {
        return format!("{content}  ").into();
    }
    Cow::Borrowed(content)
}

/// Removes the blanks between the quotes around a line and its text, which begins at or before
/// `text_start`.
fn dedent_line(line: &str, text_start: usize) -> String {
    let (before, after) = line.split_at_checked(text_start).unwrap_or(("", line));
    let (before, after) = (before.trim_end(), after.trim_start_matches([' ', '\t']));
    if before.is_empty() { after.to_owned() } else { format!("{before} {after}") }
}

/// Returns the start of a line up to the marker of the quote number `count`.
fn quote_marks(line: &str, count: usize) -> String {
    let last = count.checked_sub(1).and_then(|index| line.match_indices('>').nth(index));
    last.map_or_else(String::new, |(offset, _)| line[..=offset].to_owned())
}
