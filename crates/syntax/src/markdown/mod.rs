//! The outline of a Markdown text: headings and everything that is not prose, with offsets.
//!
//! Dialects look for sections and for places where a `/command` or `${name}` counts. Both depend on
//! the `CommonMark` tree, not on lines: a `#` inside a code fence is not a heading. [`format_markdown()`]
//! formats a text, and compares the same tree before and after.

mod blocks;
mod format;
mod layout;
mod links;
mod plain;
mod prose;
mod tree;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::source::Span;

pub use blocks::{Block, BlockKind, Image, parse_blocks};
pub use format::{FormatRefusal, Formatted, format_markdown};
pub use links::{Link, collect_links, decoded_destination, html_links};
pub use plain::is_laid_out;
pub use prose::{InlineCode, Passage, Prose, ProseSection};

/// The parser options of this module. The extensions that change the meaning of ordinary prose
/// (wiki links, maths, definition lists) stay off.
const OPTIONS: Options = Options::ENABLE_TABLES
    .union(Options::ENABLE_TASKLISTS)
    .union(Options::ENABLE_STRIKETHROUGH)
    .union(Options::ENABLE_FOOTNOTES)
    .union(Options::ENABLE_GFM);

/// The notation of a heading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadingStyle {
    /// `#` before the text.
    Atx,
    /// A line of `=` or `-` below the text.
    Setext,
}

/// A heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// 1 to 6.
    pub level: u8,
    /// The text without markup.
    pub text: String,
    /// The whole heading, markers included.
    pub span: Span,
    /// Its notation.
    pub style: HeadingStyle,
}

/// A code block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeBlock {
    /// The info string after the opening fence; empty for indented code.
    pub info: String,
    /// The whole block, fences included.
    pub span: Span,
    /// The code between the fences.
    pub content: Span,
    /// The line that opens the fence, from its first marker to the end of its text; `None` for
    /// indented code.
    pub fence: Option<Span>,
}

impl CodeBlock {
    /// Returns a block of which no code has been read.
    fn from_kind(text: &str, kind: CodeBlockKind<'_>, span: Span) -> CodeBlock {
        let (info, fence) = match kind {
            CodeBlockKind::Fenced(info) => (info.into_string(), Some(first_line(text, span))),
            CodeBlockKind::Indented => (String::new(), None),
        };
        CodeBlock { info, span, content: Span::empty_at(span.end), fence }
    }

    /// Adds the next piece of code.
    fn add_code(&mut self, span: Span) {
        self.content = Span::new(self.content.start.min(span.start), span.end);
    }

    /// Returns whether the opening fence has an info string.
    pub fn has_info(&self) -> bool {
        !self.info.trim().is_empty()
    }
}

/// The parts of a Markdown text, in order of appearance.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outline {
    /// The headings.
    pub headings: Vec<Heading>,
    /// The code blocks, fenced and indented.
    pub code_blocks: Vec<CodeBlock>,
    /// Everything that is not prose: code blocks, inline code, HTML. Sorted, not overlapping.
    pub opaque: Vec<Span>,
}

impl Outline {
    /// Reads the outline of `text`, which is a body without front matter.
    pub fn parse(text: &str) -> Outline {
        let mut outline = Outline::default();
        let mut heading: Option<Heading> = None;
        let mut code: Option<CodeBlock> = None;
        for (event, range) in Parser::new_ext(text, OPTIONS).into_offset_iter() {
            let span = Span::new(range.start, range.end);
            match event {
                Event::Start(Tag::Heading { level, .. }) => {
                    let (level, style) = (level as u8, heading_style(text, span));
                    heading = Some(Heading { level, text: String::new(), span, style });
                }
                Event::End(TagEnd::Heading(_)) => outline.headings.extend(heading.take()),
                Event::Start(Tag::CodeBlock(kind)) => {
                    code = Some(CodeBlock::from_kind(text, kind, span));
                    outline.opaque.push(span);
                }
                Event::End(TagEnd::CodeBlock) => outline.code_blocks.extend(code.take()),
                Event::Text(content) => {
                    if let Some(block) = &mut code {
                        block.add_code(span);
                    } else if let Some(heading) = &mut heading {
                        heading.text.push_str(&content);
                    }
                }
                Event::Code(content) => {
                    if let Some(heading) = &mut heading {
                        heading.text.push_str(&content);
                    }
                    outline.opaque.push(span);
                }
                Event::SoftBreak | Event::HardBreak => {
                    if let Some(heading) = &mut heading {
                        heading.text.push(' ');
                    }
                }
                Event::Html(_) | Event::InlineHtml(_) => outline.opaque.push(span),
                _ => {}
            }
        }
        outline
    }

    /// Returns whether the byte at `offset` is code or HTML.
    pub fn is_opaque(&self, offset: usize) -> bool {
        self.opaque_at(offset).is_some()
    }

    /// Returns whether the byte at `offset` of `text`, which this is the outline of, is code in a line of prose.
    pub fn is_inline_code(&self, text: &str, offset: usize) -> bool {
        self.opaque_at(offset).is_some_and(|span| {
            let is_block = |block: &CodeBlock| block.span.start == span.start;
            text.get(span.range()).is_some_and(|code| code.starts_with('`'))
                && !self.code_blocks.iter().any(is_block)
        })
    }

    fn opaque_at(&self, offset: usize) -> Option<&Span> {
        let after = self.opaque.partition_point(|span| span.start <= offset);
        after.checked_sub(1).map(|index| &self.opaque[index]).filter(|span| offset < span.end)
    }
}

/// A heading with a marker before it is one line; one with a marker below it is not.
fn heading_style(text: &str, span: Span) -> HeadingStyle {
    let heading = text.get(span.range()).unwrap_or_default();
    if heading.trim_end_matches(['\n', '\r']).contains(['\n', '\r']) {
        HeadingStyle::Setext
    } else {
        HeadingStyle::Atx
    }
}

fn first_line(text: &str, span: Span) -> Span {
    let block = text.get(span.range()).unwrap_or_default();
    let line = block.split(['\n', '\r']).next().unwrap_or_default();
    Span::new(span.start, span.start + line.trim_end().len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_have_level_text_and_place() {
        let text = "# One *two* `three`\n\ntext\n\nSet\n===\n\n```md\n# not a heading\n```\n";
        let outline = Outline::parse(text);
        let headings: Vec<_> =
            outline.headings.iter().map(|heading| (heading.level, heading.text.as_str())).collect();
        assert_eq!(headings, [(1, "One two three"), (1, "Set")]);
        assert_eq!(&text[outline.headings[0].span.range()], "# One *two* `three`\n");
    }

    #[test]
    fn code_blocks_have_info_and_content() {
        let text = "a\n\n~~~js run\none\n\ntwo\n~~~\n";
        let outline = Outline::parse(text);
        assert_eq!(outline.code_blocks[0].info, "js run");
        assert_eq!(&text[outline.code_blocks[0].content.range()], "one\n\ntwo\n");
    }

    #[test]
    fn inline_code_is_no_block_and_no_html() {
        let text = "a `b` <c>\n\n```d\ne\n```\n\n    f\n\n``g`h``\n";
        let outline = Outline::parse(text);
        let is_inline = |letter: char| outline.is_inline_code(text, text.find(letter).unwrap());
        assert_eq!(
            ['a', 'b', 'c', 'e', 'f', 'g', 'h'].map(is_inline),
            [false, true, false, false, false, true, true]
        );
    }

    #[test]
    fn headings_know_how_they_are_written() {
        use HeadingStyle::{Atx, Setext};
        let text = "# One\n\nTwo\n===\n\nThree\nfour\n---\n\n- ## Five ##\n\n> #six\n> ---\n";
        let styles: Vec<_> = Outline::parse(text).headings.iter().map(|h| h.style).collect();
        assert_eq!(styles, [Atx, Setext, Setext, Atx, Setext]);
    }

    #[test]
    fn code_blocks_know_their_fence() {
        let text = "```\na\n```\n\n- x\n  ~~~~  js\n  b\n  ~~~~\n\n> ```{.py} \n\n    c\n";
        let outline = Outline::parse(text);
        let fences: Vec<_> = outline
            .code_blocks
            .iter()
            .map(|block| (block.fence.map(|fence| &text[fence.range()]), block.has_info()))
            .collect();
        assert_eq!(
            fences,
            [
                (Some("```"), false),
                (Some("~~~~  js"), true),
                (Some("```{.py}"), true),
                (None, false)
            ]
        );
    }

    #[test]
    fn code_and_html_are_opaque() {
        let text = "prose `code` prose <b>x</b>\n\n<!-- c -->\n\n    indented\n";
        let outline = Outline::parse(text);
        for (needle, opaque) in
            [("prose", false), ("code", true), ("<b>", true), ("<!--", true), ("indented", true)]
        {
            let offset = text.find(needle).unwrap();
            assert_eq!(outline.is_opaque(offset), opaque, "{needle}");
        }
    }

    #[test]
    fn offsets_are_valid_for_any_text() {
        arbtest::arbtest(|bytes| {
            let text: String = bytes.arbitrary()?;
            let outline = Outline::parse(&text);
            for span in outline.opaque.iter().chain(outline.headings.iter().map(|h| &h.span)) {
                assert!(text.get(span.range()).is_some());
            }
            Ok(())
        });
    }
}
