//! The body: the headings that act as metadata, and their sections.
//!
//! Only top-level blocks of `CommonMark` count. A section extends to the next heading of its level
//! or above.

use brief_syntax::markdown::{Block, BlockKind, HeadingStyle, parse_blocks};
use brief_syntax::{Span, rules};

use super::model::ToolCode;
use super::notes::AgentNotes;

/// The values of a body's headings.
#[derive(Debug, Default)]
pub(super) struct Sections {
    pub(super) title: Option<SectionValue>,
    pub(super) description: Option<SectionValue>,
    pub(super) avatar: Option<SectionValue>,
    pub(super) system: Option<SectionValue>,
    pub(super) rules: Option<SectionValue>,
    pub(super) tools: Option<ToolCode>,
}

/// A value of the body.
#[derive(Debug, Clone)]
pub(super) struct SectionValue {
    pub(super) text: String,
    /// The text as written, before markup was removed.
    pub(super) raw: String,
    pub(super) span: Span,
}

/// The info strings of JavaScript code.
const JAVASCRIPT: [&str; 3] = ["js", "javascript", "mjs"];

/// Reads the body that begins at `start` of the text.
pub(super) fn parse_sections(start: usize, notes: &mut AgentNotes<'_>) -> Sections {
    let text = notes.source.text().get(start..).unwrap_or_default().to_owned();
    let mut blocks = parse_blocks(&text);
    for block in &mut blocks {
        shift_block(block, start);
    }
    let mut body = Body { notes, end: start + text.len(), blocks: &blocks };
    let mut sections = Sections::default();
    body.parse_title(&mut sections);
    sections.avatar = body.parse_avatar();
    sections.system = body.text_of("system");
    sections.rules = body.text_of("rules");
    sections.tools = body.parse_tools();
    body.report_near_headings();
    sections
}

/// Shifts a block of the body to its offset in the file.
fn shift_block(block: &mut Block, start: usize) {
    let moved = |span: Span| Span::new(span.start + start, span.end + start);
    block.span = moved(block.span);
    for image in &mut block.images {
        image.span = moved(image.span);
    }
    if let BlockKind::Fence { content, opening, .. } = &mut block.kind {
        (*content, *opening) = (moved(*content), moved(*opening));
    }
}

struct Body<'b, 'n, 's> {
    notes: &'n mut AgentNotes<'s>,
    end: usize,
    blocks: &'b [Block],
}

/// A heading with its section.
#[derive(Clone, Copy)]
struct BodySection<'b> {
    heading: Span,
    blocks: &'b [Block],
    /// From the end of the heading to the next one.
    span: Span,
    /// The style of the heading that ends it.
    ended_by: Option<HeadingStyle>,
}

fn block_heading(block: &Block) -> Option<(u8, &str, HeadingStyle)> {
    match &block.kind {
        BlockKind::Heading { level, text, style } => Some((*level, text, *style)),
        _ => None,
    }
}

fn is_called(text: &str, name: &str) -> bool {
    text.trim().to_lowercase() == name
}

impl<'b> Body<'b, '_, '_> {
    /// A12, A13, Y17, Y18: reads the first heading except the avatar's, and the first paragraph
    /// before the next one.
    fn parse_title(&mut self, sections: &mut Sections) {
        let title = self.blocks.iter().enumerate().find_map(|(index, block)| {
            let (level, text, _) = block_heading(block)?;
            let is_title = level == 1 && !text.is_empty() && !is_called(text, "avatar");
            is_title.then_some((index, block, text))
        });
        let Some((index, block, text)) = title else { return };
        let raw = self.notes.source.slice(block.span);
        let raw = raw.trim().trim_matches(['#', '=']).trim().to_owned();
        sections.title = Some(SectionValue { text: text.to_owned(), raw, span: block.span });
        let below =
            self.blocks[index + 1..].iter().take_while(|block| block_heading(block).is_none());
        sections.description = below.into_iter().find_map(|block| match &block.kind {
            BlockKind::Paragraph { text } if !text.is_empty() => {
                let raw = self.notes.source.slice(block.span).trim().to_owned();
                Some(SectionValue { text: text.clone(), raw, span: block.span })
            }
            _ => None,
        });
    }

    /// Finds the section under a heading. Y20: two of them are a contradiction.
    fn find_section(&mut self, level: u8, name: &str) -> Option<BodySection<'b>> {
        let is_here = |block: &Block| {
            block_heading(block).is_some_and(|(own, text, _)| own == level && is_called(text, name))
        };
        let mut places = (0..self.blocks.len()).filter(|&index| is_here(&self.blocks[index]));
        let index = places.next()?;
        let marks = "#".repeat(usize::from(level));
        let shown = capitalize_word(name);
        for second in places {
            self.notes.report(
                rules::agent_file::DUPLICATE_HEADING,
                self.blocks[second].span,
                format!("duplicate heading `{marks} {shown}`"),
                "put all of it under one heading",
            );
        }
        let below = &self.blocks[index + 1..];
        let length = below
            .iter()
            .position(|block| block_heading(block).is_some_and(|(level, _, _)| level <= 2))
            .unwrap_or(below.len());
        let next = below.get(length);
        let start = self.blocks[index].span.end;
        let end = next.map_or(self.end, |block| block.span.start);
        Some(BodySection {
            heading: self.blocks[index].span,
            blocks: &below[..length],
            span: Span::new(start, end),
            ended_by: next.and_then(block_heading).map(|(_, _, style)| style),
        })
    }

    fn parse_avatar(&mut self) -> Option<SectionValue> {
        let section = self.find_section(1, "avatar")?;
        let Some(image) = section.blocks.iter().flat_map(|block| &block.images).next() else {
            self.notes.report(
                rules::agent_file::AVATAR_WITHOUT_IMAGE,
                section.heading,
                "`# Avatar` has no image",
                "write `![…](path)`",
            );
            return None;
        };
        let text = image.destination.trim().to_owned();
        (!text.is_empty()).then(|| SectionValue { raw: text.clone(), text, span: image.span })
    }

    /// Y22: returns a section as written. An empty one counts as missing.
    fn text_of(&mut self, name: &str) -> Option<SectionValue> {
        let section = self.find_section(2, name)?;
        let span = trim_blank_lines(self.notes.source.text(), section.span);
        let text = self.notes.source.slice(span).to_owned();
        (!text.is_empty()).then(|| SectionValue { raw: text.clone(), text, span })
    }

    /// Y25, Y26: reads one fence of JavaScript, or a section without fences.
    fn parse_tools(&mut self) -> Option<ToolCode> {
        let section = self.find_section(2, "tools")?;
        let heading = section.heading;
        let fences: Vec<(&str, Span, Span)> = section
            .blocks
            .iter()
            .filter_map(|block| match &block.kind {
                BlockKind::Fence { info, content, opening } => {
                    Some((info.as_str(), *content, *opening))
                }
                _ => None,
            })
            .collect();
        let is_javascript = |info: &str| {
            let word = info.split([' ', '\t', ',']).next().unwrap_or_default().to_lowercase();
            JAVASCRIPT.contains(&word.as_str())
        };
        let mut code = fences.iter().filter(|(info, _, _)| is_javascript(info));
        let help = "put all the code into one code block that begins with ```js";
        let span = match (code.next(), fences.first()) {
            (Some((_, content, _)), _) => {
                if let Some((_, _, second)) = code.next() {
                    let message = "`## Tools` has more than one JavaScript code block";
                    self.notes.report(rules::agent_file::TOOLS_CODE, *second, message, help);
                }
                if !has_statement(self.notes.source.slice(*content)) {
                    let message = "the code under `## Tools` is empty: it must return an object";
                    let help = "end the code with `return { … };`, or remove the section";
                    self.notes.report(rules::agent_file::TOOLS_CODE, heading, message, help);
                }
                *content
            }
            (None, Some((info, _, opening))) => {
                let message = if info.trim().is_empty() {
                    "the code block under `## Tools` is not marked as JavaScript".to_owned()
                } else {
                    format!("tools must be written in JavaScript, not in `{}`", info.trim())
                };
                self.notes.report(rules::agent_file::TOOLS_CODE, *opening, message, help);
                return None;
            }
            (None, None) => {
                let nested = section.blocks.iter().find(|block| block.nested_fence);
                let ended = section.ended_by == Some(HeadingStyle::Setext);
                if nested.is_some() || ended {
                    let message = if ended {
                        "a line of dashes turns the code above it into a heading and ends `## Tools`"
                    } else {
                        "the code under `## Tools` is in a list or a quote"
                    };
                    let place = nested.map_or(heading, |block| block.span);
                    self.notes.report(rules::agent_file::TOOLS_CODE, place, message, help);
                    return None;
                }
                trim_blank_lines(self.notes.source.text(), section.span)
            }
        };
        let code = self.notes.source.slice(span).to_owned();
        (!code.trim().is_empty()).then_some(ToolCode { code, span, heading })
    }

    /// Warns of headings that nearly have a meaning.
    fn report_near_headings(&mut self) {
        let mut seen: Vec<&str> = Vec::new();
        for block in self.blocks {
            if let Some((2, text, _)) = block_heading(block) {
                seen.extend(
                    ["system", "rules", "tools"].iter().filter(|name| is_called(text, name)),
                );
            }
        }
        for block in self.blocks {
            let Some((level, text, _)) = block_heading(block) else { continue };
            if level == 2 && is_called(text, "commands") {
                self.notes.report(
                    rules::agent_file::COMMANDS_SECTION_IGNORED,
                    block.span,
                    "`## Commands` is documentation only",
                    "list commands in the frontmatter, under `commands:`",
                );
                continue;
            }
            let name = text.trim().trim_end_matches(':').trim_end().to_lowercase();
            let Some(meant) = ["system", "rules", "tools"].into_iter().find(|meant| *meant == name)
            else {
                continue;
            };
            let has_colon = level == 2 && text.trim().ends_with(':');
            if has_colon || (level != 2 && level != 1 && !seen.contains(&meant)) {
                let marks = "#".repeat(usize::from(level));
                self.notes.report(
                    rules::agent_file::HEADING_IGNORED,
                    block.span,
                    format!("`{marks} {text}` is documentation only"),
                    format!("write `## {}`", capitalize_word(meant)),
                );
            }
        }
    }
}

/// Trims blank lines at both ends. The first line keeps its indentation, which may make it code.
fn trim_blank_lines(text: &str, span: Span) -> Span {
    let content = text.get(span.range()).unwrap_or_default();
    let end = span.start + content.trim_end().len();
    let mut start = span.start;
    for line in content.split_inclusive('\n') {
        if !line.trim().is_empty() {
            let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
            let is_code = line[..indent].contains('\t') || indent >= 4;
            start += if is_code { 0 } else { indent };
            break;
        }
        start += line.len();
    }
    Span::new(start.min(end), end)
}

fn capitalize_word(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

/// Returns whether JavaScript is more than comments.
fn has_statement(code: &str) -> bool {
    let mut rest = code.trim_start();
    loop {
        let after = if let Some(line) = rest.strip_prefix("//") {
            line.split_once(['\n', '\r', '\u{2028}', '\u{2029}']).map_or("", |(_, after)| after)
        } else if let Some((_, below)) =
            rest.strip_prefix("/*").and_then(|text| text.split_once("*/"))
        {
            below
        } else {
            return !rest.is_empty();
        };
        rest = after.trim_start();
    }
}
