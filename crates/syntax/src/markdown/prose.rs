//! The sentences of a Markdown text: what a reader takes in, with the way back to the source.
//!
//! Checks of what a text says need its words without markup, the headings above them, and the code
//! beside them. A passage is one paragraph, one item of a list or one cell of a table.

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::{CodeBlock, OPTIONS};
use crate::source::Span;

/// The words and the code of a Markdown text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prose {
    /// The parts between headings, in order.
    pub sections: Vec<ProseSection>,
}

/// The words and the code below the same headings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProseSection {
    /// The headings above, the most general first.
    pub headings: Vec<String>,
    /// The paragraphs, items and cells, in order.
    pub passages: Vec<Passage>,
    /// The code blocks, in order.
    pub blocks: Vec<CodeBlock>,
}

/// One paragraph, item or cell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Passage {
    /// Its words without markup; inline code stands between backticks.
    pub text: String,
    /// The code in it.
    pub codes: Vec<InlineCode>,
    /// True for an item of a list.
    pub is_item: bool,
    /// True for a cell of a table.
    pub is_cell: bool,
    /// The words at the top of its column, for a cell below them.
    pub column: Option<String>,
    /// True for a heading.
    pub is_heading: bool,
    /// Pairs of an offset in `text` and one in the source; between two of them both grow alike.
    places: Vec<(usize, usize)>,
}

/// Code in a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InlineCode {
    /// The code.
    pub text: String,
    /// The code in the source, without its backticks.
    pub span: Span,
    /// The offset of the first backtick in the text of the passage.
    pub at: usize,
    /// True in the text of a link.
    pub is_linked: bool,
}

impl Passage {
    /// Returns the place in the source where it begins.
    pub fn source_start(&self) -> usize {
        self.source_of(0)
    }

    /// Returns the place in the source of a part of the text.
    pub fn source_span(&self, start: usize, end: usize) -> Span {
        let first = self.source_of(start);
        Span::new(first, self.source_of(end).max(first))
    }

    fn source_of(&self, offset: usize) -> usize {
        let after = self.places.partition_point(|(text, _)| *text <= offset);
        let known = after.checked_sub(1).and_then(|index| self.places.get(index));
        known.map_or(0, |(text, source)| source + (offset - text))
    }

    fn push_text(&mut self, text: &str, source: usize) {
        self.places.push((self.text.len(), source));
        self.text.push_str(text);
    }

    /// Returns the sentences with their offsets in the text: they end at `.`, `!` or `?` before a blank, at
    /// `;` and at a line break of the author's.
    pub fn sentences(&self) -> Vec<(usize, &str)> {
        let mut found = Vec::new();
        let mut start = 0;
        let mut in_code = false;
        let bytes = self.text.as_bytes();
        for (index, &byte) in bytes.iter().enumerate() {
            in_code ^= byte == b'`';
            let next = bytes.get(index + 1);
            let is_end = match byte {
                b'.' | b'!' | b'?' => {
                    next.is_none_or(u8::is_ascii_whitespace)
                        && !is_abbreviation(&self.text[start..index])
                }
                b';' | b'\n' => true,
                _ => false,
            };
            if is_end && !in_code {
                found.push((start, &self.text[start..=index]));
                start = index + 1;
            }
        }
        found.push((start, self.text.get(start..).unwrap_or_default()));
        found.retain(|(_, sentence)| !sentence.trim().is_empty());
        found
    }
}

/// `e.g.`, `i.e.`, `etc.`, `vs.` end no sentence.
fn is_abbreviation(before: &str) -> bool {
    let word = before.rsplit([' ', '(', '\n']).next().unwrap_or_default();
    ["e.g", "i.e", "etc", "vs", "cf", "approx", "no"].contains(&word)
}

impl Prose {
    /// Reads a text, which is a body without front matter.
    pub fn parse(text: &str) -> Prose {
        let mut reader = ProseReader::default();
        for (event, range) in Parser::new_ext(text, OPTIONS).into_offset_iter() {
            reader.read_event(text, event, Span::new(range.start, range.end));
        }
        reader.close_passage();
        reader.prose
    }

    /// Returns the paragraphs, items and cells of all sections.
    pub fn passages(&self) -> impl Iterator<Item = &Passage> {
        self.sections.iter().flat_map(|section| &section.passages)
    }
}

#[derive(Default)]
struct ProseReader {
    prose: Prose,
    /// Levels and texts of the headings above.
    headings: Vec<(u8, String)>,
    /// True if the last section stands below these headings.
    is_begun: bool,
    passage: Option<Passage>,
    heading: Option<u8>,
    code: Option<CodeBlock>,
    items: usize,
    cells: usize,
    links: usize,
    /// The words at the top of the columns of the last table.
    columns: Vec<String>,
    /// The column of the next cell; `None` in the first row.
    column: Option<usize>,
}

impl ProseReader {
    fn read_event(&mut self, text: &str, event: Event<'_>, span: Span) {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                self.close_passage();
                let level = level as u8;
                let before = self.headings.len();
                self.headings.retain(|(above, _)| *above < level);
                self.is_begun &= self.headings.len() == before;
                self.heading = Some(level);
            }
            Event::End(TagEnd::Heading(_)) => {
                if let Some(passage) = &mut self.passage {
                    passage.is_heading = true;
                }
                let said = self.passage.as_ref().map(|passage| passage.text.clone());
                let level = self.heading.take();
                self.close_passage();
                self.headings.extend(level.map(|level| (level, said.unwrap_or_default())));
                self.is_begun = false;
            }
            Event::Start(Tag::Item) => {
                self.close_passage();
                self.items += 1;
            }
            Event::End(TagEnd::Item) => {
                self.close_passage();
                self.items = self.items.saturating_sub(1);
            }
            Event::Start(Tag::TableHead) => {
                self.columns.clear();
                self.column = None;
            }
            Event::Start(Tag::TableRow) => self.column = Some(0),
            Event::Start(Tag::TableCell) => {
                self.close_passage();
                self.cells += 1;
            }
            Event::End(TagEnd::TableCell) => {
                match &mut self.column {
                    Some(column) => *column += 1,
                    None => {
                        let said = self.passage.as_ref().map(|passage| passage.text.clone());
                        self.columns.push(said.unwrap_or_default());
                    }
                }
                self.close_passage();
                self.cells = self.cells.saturating_sub(1);
            }
            Event::Start(Tag::Paragraph) | Event::End(TagEnd::Paragraph) => self.close_passage(),
            Event::Start(Tag::CodeBlock(kind)) => {
                self.close_passage();
                self.code = Some(CodeBlock::from_kind(text, kind, span));
            }
            Event::End(TagEnd::CodeBlock) => {
                if let Some(block) = self.code.take() {
                    self.current_section().blocks.push(block);
                }
            }
            Event::Text(said) => match &mut self.code {
                Some(block) => block.add_code(span),
                None => self.open_passage().push_text(&said, span.start),
            },
            Event::Code(said) => {
                let written = text.get(span.range()).unwrap_or_default();
                let marks = written.len() - written.trim_start_matches('`').len();
                let inner = Span::new(span.start + marks, span.end.saturating_sub(marks));
                let is_linked = self.links > 0;
                let passage = self.open_passage();
                let at = passage.text.len();
                passage.push_text("`", span.start);
                passage.push_text(&said, inner.start);
                passage.push_text("`", inner.end);
                let text = said.into_string();
                passage.codes.push(InlineCode { text, span: inner, at, is_linked });
            }
            Event::Start(Tag::Link { .. }) => self.links += 1,
            Event::End(TagEnd::Link) => self.links = self.links.saturating_sub(1),
            Event::SoftBreak => self.open_passage().push_text(" ", span.start),
            Event::HardBreak => self.open_passage().push_text("\n", span.start),
            _ => {}
        }
    }

    fn current_section(&mut self) -> &mut ProseSection {
        let sections = &mut self.prose.sections;
        if !self.is_begun {
            self.is_begun = true;
            let headings = self.headings.iter().map(|(_, text)| text.clone()).collect();
            sections.push(ProseSection { headings, ..ProseSection::default() });
        }
        let last = sections.len() - 1;
        &mut sections[last]
    }

    fn open_passage(&mut self) -> &mut Passage {
        let (is_item, is_cell) = (self.items > 0, self.cells > 0);
        let (columns, column) = (&self.columns, self.column.filter(|_| is_cell));
        self.passage.get_or_insert_with(|| {
            let column = column.and_then(|column| columns.get(column).cloned());
            Passage { is_item, is_cell, column, ..Passage::default() }
        })
    }

    fn close_passage(&mut self) {
        let passage = self.passage.take().filter(|passage| !passage.text.trim().is_empty());
        if let Some(passage) = passage {
            self.current_section().passages.push(passage);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passages_lead_back_to_the_source() {
        let text = "# Top\n\nUse **pnpm**, e.g. `pnpm i`. Never npm!\n\n## Part\n\n- one\n- two `x`\n\n| a | b |\n| - | - |\n| c | `d` |\n\n```sh\nmake x\n```\n";
        let prose = Prose::parse(text);
        let passages: Vec<&Passage> = prose.passages().collect();
        let texts: Vec<&str> = passages.iter().map(|one| one.text.as_str()).collect();
        let expected = ["Top", "Use pnpm, e.g. `pnpm i`. Never npm!", "Part", "one", "two `x`"];
        assert_eq!(texts, [&expected[..], &["a", "b", "c", "`d`"]].concat());
        let first = passages[1];
        let headings: Vec<_> = prose.sections.iter().map(|one| one.headings.join("/")).collect();
        assert_eq!(headings, ["", "Top", "Top/Part"]);
        assert_eq!(&prose.sections[1].passages[0], first);
        let sentences: Vec<&str> = first.sentences().iter().map(|one| one.1.trim()).collect();
        assert_eq!(sentences, ["Use pnpm, e.g. `pnpm i`.", "Never npm!"]);
        let at = first.text.find("npm!").unwrap();
        assert_eq!(&text[first.source_span(at, at + 3).range()], "npm");
        assert_eq!(&text[first.codes[0].span.range()], "pnpm i");
        assert!(passages[4].is_item && passages[6].is_cell);
        assert_eq!(prose.sections[2].blocks.len(), 1);
    }

    #[test]
    fn any_text_leads_back_to_itself() {
        arbtest::arbtest(|bytes| {
            const WORDS: [&str; 14] =
                ["# ", "- ", "`", "``", "a", " ", "\n", "*", "é", "| ", "```\n", ".", "> ", "\\`"];
            let mut text = String::new();
            for _ in 0..bytes.int_in_range(0..=40)? {
                text.push_str(bytes.choose(&WORDS)?);
            }
            for passage in Prose::parse(&text).passages() {
                for (start, sentence) in passage.sentences() {
                    let span = passage.source_span(start, start + sentence.len());
                    assert!(span.end <= text.len() + sentence.len(), "{text:?}");
                }
                for code in &passage.codes {
                    assert!(text.get(code.span.range()).is_some(), "{text:?}");
                }
            }
            Ok(())
        });
    }
}
