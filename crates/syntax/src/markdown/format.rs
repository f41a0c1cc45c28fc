//! The Markdown formatter, which never changes the meaning of a text.
//!
//! The layout is `dprint-plugin-markdown`'s, with settings that leave code and HTML alone. Then
//! [`layout`](super::layout) applies the remaining white-space rules of markdownlint. Neither is
//! trusted: the tree of the result is compared with that of the original, and a text whose tree
//! would change is returned unchanged, with the reason.
//!
//! Formatting is idempotent by construction: only a text that both steps leave alone is ever
//! returned as formatted. A [`plain`] one is known to be such a text without running them.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::sync::LazyLock;

use dprint_plugin_markdown::configuration::{
    Configuration, ConfigurationBuilder, EmphasisKind, HardBreakKind, HeadingKind,
    ListUnorderedMarker, StrongKind, TableCellPadding, TextWrap,
};

use pulldown_cmark::Parser;

use super::OPTIONS;
use super::layout;
use super::plain;
use super::tree::{Bounds, Tree};

/// A text after formatting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Formatted {
    /// The formatted text; if formatting was refused, the original with safe corrections of line
    /// ends and blanks.
    pub text: String,
    /// The reason why the layout was kept.
    pub refused: Option<FormatRefusal>,
}

/// The reason why a text keeps its layout. Lines are counted from 1 in the original text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormatRefusal {
    /// Blocks or markup are nested past [`MARKDOWN_DEPTH`](crate::limits::MARKDOWN_DEPTH), or quotes
    /// past [`MARKDOWN_QUOTES`](crate::limits::MARKDOWN_QUOTES).
    #[error("line {line} is nested too deeply to format")]
    TooDeep {
        /// The line at which the limit is exceeded.
        line: usize,
    },
    /// A line is longer than [`MARKDOWN_LINE_BYTES`](crate::limits::MARKDOWN_LINE_BYTES).
    #[error("line {line} is too long to format")]
    LongLine {
        /// The line.
        line: usize,
    },
    /// A paragraph has more than [`MARKDOWN_PIECES`](crate::limits::MARKDOWN_PIECES) pieces.
    #[error("the paragraph at line {line} is too large to format")]
    LargeParagraph {
        /// The line at which the limit is exceeded.
        line: usize,
    },
    /// The tables have too many cells, or would be too large with aligned columns.
    #[error("the tables are too large to format")]
    LargeTables,
    /// The formatter failed.
    #[error("cannot format the text: {0}")]
    Formatter(String),
    /// Formatting would change the meaning.
    #[error("formatting would change the meaning at line {line}")]
    Meaning {
        /// The first line that would change, or one near it.
        line: usize,
    },
    /// Formatting the result again would change it.
    #[error("formatting never reaches a stable result")]
    Unstable,
}

/// The number of rounds before a text counts as unstable. One round changes the text, the next one
/// finds nothing to do; some texts need another.
const ROUNDS: usize = 4;

/// Formats a Markdown text.
///
/// `body` is a body without front matter. The result has `\n` as line ends, no byte order mark, and
/// a final line end unless it is empty.
pub fn format_markdown(body: &str) -> Formatted {
    let text = plain_lines(body);
    if plain::is_laid_out(&text) {
        return Formatted { text: text.into_owned(), refused: None };
    }
    format_thoroughly(text)
}

pub(super) fn format_thoroughly(text: Cow<'_, str>) -> Formatted {
    let fixed = match fix_within_limits(&text) {
        Ok(fixed) => fixed,
        Err(refusal) => {
            return Formatted { text: text.into_owned(), refused: Some(refusal) };
        }
    };
    let original = Original { text: &text, tree: OnceCell::new() };
    let calm = choose_fixed_text(&text, fixed, &original);
    match laid_out(&calm, &original) {
        Ok(formatted) => Formatted { text: formatted, refused: None },
        Err(refusal) => Formatted { text: calm.into_owned(), refused: Some(refusal) },
    }
}

struct Original<'t> {
    text: &'t str,
    /// Its tree, parsed only if the text changes, which is rare.
    tree: OnceCell<Tree<'t>>,
}

impl<'t> Original<'t> {
    fn tree(&self) -> Result<&Tree<'t>, FormatRefusal> {
        if let Some(tree) = self.tree.get() {
            return Ok(tree);
        }
        let tree = Tree::parse(self.text)?;
        Ok(self.tree.get_or_init(|| tree))
    }

    fn has_same_tree(&self, found: &Tree<'_>) -> bool {
        self.tree().is_ok_and(|tree| tree == found)
    }
}

/// Checks the limits and fixes the white space of a text in one pass.
fn fix_within_limits(text: &str) -> Result<String, FormatRefusal> {
    let mut bounds = Bounds::measure_lines(text)?;
    let mut reader = layout::LayoutReader::from_text(text);
    for (event, range) in Parser::new_ext(text, OPTIONS).into_offset_iter() {
        bounds.check_event(&event, &range)?;
        reader.read_event(&event, &range);
    }
    Ok(reader.finish())
}

fn laid_out(calm: &str, original: &Original<'_>) -> Result<String, FormatRefusal> {
    let mut current = Cow::Borrowed(calm);
    for _ in 0..ROUNDS {
        let written = format_with_dprint(&current)?;
        // Usually nothing changes, and there is nothing to compare.
        if written == current {
            return Ok(written);
        }
        let next = check_same_tree(written, original)?;
        let next = with_calm_lines(&plain_lines(&next), original).into_owned();
        if next == current || plain::is_laid_out(&next) {
            return Ok(next);
        }
        current = Cow::Owned(next);
    }
    Err(FormatRefusal::Unstable)
}

/// Checks that the tree of the result equals that of the original.
fn check_same_tree(written: String, original: &Original<'_>) -> Result<String, FormatRefusal> {
    let found = Tree::parse(&written)?;
    let tree = original.tree()?;
    if found == *tree {
        return Ok(written);
    }
    let offset = tree.first_difference(&found);
    let before = original.text.as_bytes().get(..offset).unwrap_or_default();
    Err(FormatRefusal::Meaning { line: memchr::memchr_iter(b'\n', before).count() + 1 })
}

/// Applies the safe corrections line by line, if the tree allows it. The result is a fixed point.
fn with_calm_lines<'t>(text: &'t str, original: &Original<'_>) -> Cow<'t, str> {
    choose_fixed_text(text, layout::fix_white_space(text), original)
}

/// Returns the corrected text, if the tree allows it.
fn choose_fixed_text<'t>(text: &'t str, fixed: String, original: &Original<'_>) -> Cow<'t, str> {
    if fixed == text {
        return Cow::Borrowed(text);
    }
    let is_same = Tree::parse(&fixed).is_ok_and(|found| original.has_same_tree(&found));
    if is_same && layout::fix_white_space(&fixed) == fixed {
        Cow::Owned(fixed)
    } else {
        Cow::Borrowed(text)
    }
}

/// Removes byte order marks and ends every line, the last one included, with `\n`.
fn plain_lines(text: &str) -> Cow<'_, str> {
    let mut rest = text;
    // The formatter drops every mark after blanks alone, so none may be left.
    while let Some(after) =
        rest.trim_start_matches([' ', '\t', '\n', '\r']).strip_prefix('\u{feff}')
    {
        rest = after;
    }
    if memchr::memchr(b'\r', rest.as_bytes()).is_some() {
        let mut lines = rest.replace("\r\n", "\n").replace('\r', "\n");
        if !lines.ends_with('\n') {
            lines.push('\n');
        }
        return Cow::Owned(lines);
    }
    if rest.is_empty() || rest.ends_with('\n') {
        Cow::Borrowed(rest)
    } else {
        Cow::Owned(format!("{rest}\n"))
    }
}

static CONFIGURATION: LazyLock<Configuration> = LazyLock::new(|| {
    let mut builder = ConfigurationBuilder::new();
    builder
        .text_wrap(TextWrap::Maintain)
        // Code and HTML stay: their indentation and blank lines have a meaning.
        .code_block_skip_format(true)
        .code_block_preserve_indentation(true)
        .code_block_preserve_blank_lines(true)
        .html_skip_format(true)
        // Underscores cannot emphasize a part of a word, so that one such place would mix two
        // styles (MD049, MD050).
        .emphasis_kind(EmphasisKind::Asterisks)
        .strong_kind(StrongKind::Asterisks)
        // Most editors remove two blanks at the end of a line.
        .hard_break_kind(HardBreakKind::Backslash)
        .heading_kind(HeadingKind::Atx)
        .list_unordered_marker(ListUnorderedMarker::Dashes)
        .table_cell_padding(TableCellPadding::Align)
        .max_blank_lines(1);
    builder.build()
});

/// A prefix for a text that begins like front matter, which the formatter would skip.
const SHIELD: &str = "<!-- -->\n\n";

fn format_with_dprint(text: &str) -> Result<String, FormatRefusal> {
    let shielded = text.starts_with("---") || text.starts_with("+++");
    let input = if shielded { Cow::Owned(format!("{SHIELD}{text}")) } else { Cow::Borrowed(text) };
    let written = dprint_plugin_markdown::format_text(&input, &CONFIGURATION, |_, _, _| Ok(None))
        .map_err(|error| FormatRefusal::Formatter(error.to_string()))?
        .unwrap_or_else(|| input.into_owned());
    if !shielded {
        return Ok(written);
    }
    match written.strip_prefix(SHIELD) {
        Some(rest) => Ok(rest.to_owned()),
        None => Err(FormatRefusal::Formatter("it begins like frontmatter".to_owned())),
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    /// P12, §7.4 "so that developers running the same formatter locally see no diffs": the published settings say all that
    /// differs from the formatter's own.
    #[test]
    fn the_settings_of_the_formatter_are_published() {
        let text = include_str!("../../../../docs/reference/dprint.json");
        let document: serde_json::Value = serde_json::from_str(text).unwrap();
        let told = document["markdown"].as_object().unwrap();
        let values = |configuration: &Configuration| serde_json::to_value(configuration).unwrap();
        let (own, usual) = (values(&CONFIGURATION), values(&ConfigurationBuilder::new().build()));
        for (key, value) in own.as_object().unwrap() {
            match told.get(key) {
                Some(told) => assert_eq!(told, value, "{key}"),
                None => assert_eq!(value, &usual[key], "{key} is not published"),
            }
        }
        assert!(told.keys().all(|key| own.get(key).is_some()), "{told:?}");
    }
}
