//! The documentation of diagnostic codes, built into the program.
//!
//! Portable items have a page for each code; the other codes have a row in the reference.

use brief_syntax::near_miss;

use crate::error::CommandError;

/// The table of all codes.
const REFERENCE: &str = include_str!("../../../docs/reference/diagnostics.md");

/// A code and its page, which is named after it.
macro_rules! page {
    ($code:literal) => {
        ($code, include_str!(concat!("../../../docs/diagnostics/", $code, ".md")))
    };
}

/// The pages, by code.
const PAGES: [(&str, &str); 51] = [
    page!("portable/bundle-circle"),
    page!("portable/bundle-requires"),
    page!("portable/bundle-unresolved"),
    page!("portable/case-collision"),
    page!("portable/client-construct"),
    page!("portable/client-tool-name"),
    page!("portable/comma-in-pattern"),
    page!("portable/description-too-long"),
    page!("portable/directive-malformed"),
    page!("portable/directive-nested"),
    page!("portable/directive-unbalanced"),
    page!("portable/double-hyphen"),
    page!("portable/duplicate-item"),
    page!("portable/empty-audience"),
    page!("portable/fence-language"),
    page!("portable/first-heading"),
    page!("portable/first-level-heading"),
    page!("portable/foreign-skill"),
    page!("portable/heading-skip"),
    page!("portable/hidden-character"),
    page!("portable/invalid-mode"),
    page!("portable/invalid-name"),
    page!("portable/invalid-schema"),
    page!("portable/item-root-agents"),
    page!("portable/kind-mismatch"),
    page!("portable/link-outside"),
    page!("portable/long-skill-description"),
    page!("portable/mcp-internal-name"),
    page!("portable/misplaced-item"),
    page!("portable/missing-entrypoint"),
    page!("portable/missing-field"),
    page!("portable/missing-file"),
    page!("portable/mode-not-portable"),
    page!("portable/name-mismatch"),
    page!("portable/no-front-matter"),
    page!("portable/no-license"),
    page!("portable/not-a-file"),
    page!("portable/override-front-matter"),
    page!("portable/passthrough-conflict"),
    page!("portable/requires-string"),
    page!("portable/too-many-problems"),
    page!("portable/unknown-client"),
    page!("portable/unknown-model"),
    page!("portable/unknown-skill"),
    page!("portable/unknown-tool"),
    page!("portable/unportable-file-name"),
    page!("portable/unquoted-version"),
    page!("portable/unreadable"),
    page!("portable/unsupported-schema"),
    page!("portable/version-not-semver"),
    page!("portable/wrong-type"),
];

/// The number of suggestions for an unknown code.
const NEAREST: usize = 3;

/// Returns all codes that can be explained.
pub(crate) fn codes() -> impl Iterator<Item = &'static str> {
    let rows = REFERENCE.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let rows = rows.filter(|code| code.contains('/') && !code.contains(' '));
    PAGES.iter().map(|(code, _)| *code).chain(rows)
}

/// Returns the documentation of a code, as Markdown.
pub(crate) fn explanation(code: &str) -> Result<String, CommandError> {
    if let Some((_, page)) = PAGES.iter().find(|(known, _)| *known == code) {
        return Ok((*page).to_owned());
    }
    if let Some(row) = rows().find(|row| row.code == code) {
        return Ok(row.to_string());
    }
    let codes: Vec<&str> = rows().map(|row| row.code).collect();
    let near: Vec<String> = near_miss::nearest_few(code, &codes, NEAREST)
        .into_iter()
        .map(|code| format!("`{code}`"))
        .collect();
    let error = CommandError::refused(format!("there is no code `{code}`"));
    Err(if near.is_empty() {
        error.with_hint("a code stands in brackets after `error` or `warning`")
    } else {
        error.with_hint(format!("did you mean {}?", near.join(" or ")))
    })
}

/// A row of the reference.
struct Row {
    code: &'static str,
    meaning: String,
    example: String,
    way_out: String,
}

impl std::fmt::Display for Row {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (severity, meaning) = self.meaning.split_once(": ").unwrap_or(("", &self.meaning));
        let (severity, meaning) = (sentence(severity), sentence(meaning));
        writeln!(formatter, "# {}\n\n**{severity}** {meaning}", self.code)?;
        if !self.example.is_empty() {
            writeln!(formatter, "\n## Example\n\n{}", self.example)?;
        }
        writeln!(formatter, "\n## Way out\n\n{}", sentence(&self.way_out))
    }
}

/// Capitalises a table cell and adds a full stop.
fn sentence(cell: &str) -> String {
    let mut letters = cell.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).chain(std::iter::once('.')).collect()
}

fn rows() -> impl Iterator<Item = Row> {
    REFERENCE.lines().filter_map(|line| {
        let code = line.strip_prefix("| `")?.split('`').next()?;
        // A bar in a cell is escaped by a backslash.
        let line = line.replace("\\|", "\0");
        let mut cells = line.split('|').skip(2).map(|cell| cell.trim().replace('\0', "|"));
        let mut cell = || cells.next().unwrap_or_default();
        Some(Row { code, meaning: cell(), example: cell(), way_out: cell() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every code of the reference is explained, and every page is in the table.
    #[test]
    fn every_code_has_an_explanation() {
        let mut count = 0;
        for row in rows() {
            let Ok(text) = explanation(row.code) else { panic!("{}", row.code) };
            assert!(text.starts_with(&format!("# {}\n\n**", row.code)), "{text}");
            assert!(text.contains("\n## Way out\n\n") && text.ends_with('\n'), "{text}");
            assert!(!row.way_out.is_empty(), "{}", row.code);
            count += 1;
        }
        assert!(count > 100);
        for (code, _) in PAGES {
            assert!(rows().any(|row| row.code == code), "{code} is not in the reference");
        }
        assert!(PAGES.is_sorted());
    }
}
