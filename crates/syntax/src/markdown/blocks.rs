//! The top-level blocks of a Markdown text, in order.
//!
//! Where headings have a meaning, only these count: a heading in a quote or a list belongs to the
//! quoted text, and one in a fence or a comment is not a heading.

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

use super::{HeadingStyle, OPTIONS, first_line, heading_style};
use crate::source::Span;

/// One block and its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The kind.
    pub kind: BlockKind,
    /// The whole block, markers included.
    pub span: Span,
    /// The images anywhere in it, in order.
    pub images: Vec<Image>,
    /// True if a list or a quote in it contains a fence.
    pub nested_fence: bool,
}

/// The kinds of [`Block`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockKind {
    /// A heading.
    Heading {
        /// 1 to 6.
        level: u8,
        /// The text without markup, on one line.
        text: String,
        /// Atx or Setext.
        style: HeadingStyle,
    },
    /// A paragraph.
    Paragraph {
        /// The text without markup and without images, on one line.
        text: String,
    },
    /// Code between fences.
    Fence {
        /// The info string.
        info: String,
        /// The code.
        content: Span,
        /// The line that opens it.
        opening: Span,
    },
    /// A list, a quote, a table, HTML, indented code or a thematic break.
    Other,
}

/// An image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Its destination, with references resolved.
    pub destination: String,
    /// The whole image.
    pub span: Span,
}

/// Returns the blocks of `text`, which is a body without front matter.
pub fn parse_blocks(text: &str) -> Vec<Block> {
    let mut reading = BlockReader { text, depth: 0, images: 0, current: None, found: Vec::new() };
    for (event, range) in Parser::new_ext(text, OPTIONS).into_offset_iter() {
        reading.read_event(event, Span::new(range.start, range.end));
    }
    reading.found
}

struct BlockReader<'t> {
    text: &'t str,
    /// The number of open blocks and spans.
    depth: usize,
    /// The number of open images, whose text is not part of the block's.
    images: usize,
    current: Option<Block>,
    found: Vec<Block>,
}

impl BlockReader<'_> {
    fn read_event(&mut self, event: Event<'_>, span: Span) {
        match event {
            Event::Start(tag) => self.start_tag(&tag, span),
            Event::End(end) => self.end_tag(end),
            Event::Text(text) | Event::Code(text) => self.add_text(&text, span),
            Event::SoftBreak | Event::HardBreak => self.add_text(" ", span),
            Event::Rule if self.depth == 0 => self.found.push(other_block(span)),
            _ => {}
        }
    }

    fn start_tag(&mut self, tag: &Tag<'_>, span: Span) {
        if self.depth == 0 {
            self.current = Some(match tag {
                Tag::Heading { level, .. } => {
                    let (level, style) = (*level as u8, heading_style(self.text, span));
                    let kind = BlockKind::Heading { level, text: String::new(), style };
                    Block { kind, ..other_block(span) }
                }
                Tag::Paragraph => Block {
                    kind: BlockKind::Paragraph { text: String::new() },
                    ..other_block(span)
                },
                Tag::CodeBlock(CodeBlockKind::Fenced(info)) => {
                    let opening = first_line(self.text, span);
                    let (info, content) = (info.to_string(), Span::empty_at(span.end));
                    Block { kind: BlockKind::Fence { info, content, opening }, ..other_block(span) }
                }
                _ => other_block(span),
            });
        } else if let Some(block) = &mut self.current {
            let is_fence = matches!(tag, Tag::CodeBlock(CodeBlockKind::Fenced(_)));
            block.nested_fence |= is_fence;
        }
        if let (Tag::Image { dest_url, .. }, Some(block)) = (tag, &mut self.current) {
            block.images.push(Image { destination: dest_url.to_string(), span });
            self.images += 1;
        }
        self.depth += 1;
    }

    fn end_tag(&mut self, end: TagEnd) {
        if end == TagEnd::Image {
            self.images = self.images.saturating_sub(1);
        }
        self.depth = self.depth.saturating_sub(1);
        if self.depth > 0 {
            return;
        }
        if let Some(mut block) = self.current.take() {
            if let BlockKind::Heading { text, .. } | BlockKind::Paragraph { text } = &mut block.kind
            {
                *text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            }
            self.found.push(block);
        }
    }

    fn add_text(&mut self, more: &str, span: Span) {
        match self.current.as_mut().map(|block| &mut block.kind) {
            Some(BlockKind::Fence { content, .. }) => {
                content.start = content.start.min(span.start);
                content.end = span.end;
            }
            Some(BlockKind::Heading { text, .. } | BlockKind::Paragraph { text })
                if self.images == 0 =>
            {
                text.push_str(more);
            }
            _ => {}
        }
    }
}

fn other_block(span: Span) -> Block {
    Block { kind: BlockKind::Other, span, images: Vec::new(), nested_fence: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stands_at_the_margin_is_a_block() {
        let text = "# One *two*\n\n> # quoted\n\n- # listed\n\nSet\n===\n\n<!--\n# hidden\n-->\n\na **b**\n`c`\n\n---\n\n```js x\n# code\n```\n";
        let shown: Vec<String> = parse_blocks(text)
            .iter()
            .map(|block| match &block.kind {
                BlockKind::Heading { level, text, style } => format!("{level} {text} {style:?}"),
                BlockKind::Paragraph { text } => text.clone(),
                BlockKind::Fence { info, content, opening } => {
                    format!("{info}|{}|{}", &text[content.range()], &text[opening.range()])
                }
                BlockKind::Other => "…".to_owned(),
            })
            .collect();
        assert_eq!(
            shown,
            ["1 One two Atx", "…", "…", "1 Set Setext", "…", "a b c", "…", "js x|# code\n|```js x"]
        );
    }

    #[test]
    fn images_are_found_and_their_text_is_not_the_paragraphs() {
        let text = "![a *b*](a.png) text ![r]\n\n- ![in a list](<b c.png>)\n\n[r]: r.png\n";
        let blocks = parse_blocks(text);
        assert_eq!(blocks[0].kind, BlockKind::Paragraph { text: "text".to_owned() });
        let images: Vec<&str> = blocks
            .iter()
            .flat_map(|block| &block.images)
            .map(|image| image.destination.as_str())
            .collect();
        assert_eq!(images, ["a.png", "r.png", "b c.png"]);
    }

    #[test]
    fn a_fence_in_a_list_is_known() {
        let blocks = parse_blocks("- a\n\n  ```js\n  x\n  ```\n\n    y\n");
        assert!(blocks[0].nested_fence);
    }

    #[test]
    fn any_text_has_blocks_in_order() {
        arbtest::arbtest(|bytes| {
            let text: String = bytes.arbitrary()?;
            let mut end = 0;
            for block in parse_blocks(&text) {
                assert!(text.get(block.span.range()).is_some());
                assert!(block.span.start >= end, "{text:?}");
                end = block.span.end;
                if let BlockKind::Fence { content, .. } = block.kind {
                    assert!(text.get(content.range()).is_some());
                }
            }
            Ok(())
        });
    }
}
