//! The globs of this format: case-insensitive, `{a|b}` like `{a,b}`; a pattern without a slash
//! matches names at any depth.

use brief_syntax::glob::{Alternatives, Glob, GlobError, GlobOptions, LetterCase};

pub(super) const OPTIONS: GlobOptions =
    GlobOptions { case: LetterCase::Insensitive, alternatives: Alternatives::CommaOrBar };

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostedPattern {
    written: Box<str>,
    glob: Glob,
    subject: Subject,
}

/// The part of a path that a pattern is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subject {
    /// Nothing: `*` matches every file.
    Everything,
    Name,
    Path,
}

impl HostedPattern {
    pub fn new(written: &str) -> Result<HostedPattern, GlobError> {
        let text = normalize_pattern(written);
        let glob = Glob::with_options(&text, OPTIONS)?;
        let subject = match text.as_str() {
            "*" => Subject::Everything,
            _ if text.contains('/') => Subject::Path,
            _ => Subject::Name,
        };
        Ok(HostedPattern { written: written.into(), glob, subject })
    }

    /// Returns the pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// Returns whether it matches the file at `path`, which is relative with `/`.
    pub fn matches(&self, path: &str) -> bool {
        match self.subject {
            Subject::Everything => true,
            Subject::Name => self.glob.matches(path.rsplit('/').next().unwrap_or(path)),
            Subject::Path => self.glob.matches(path),
        }
    }
}

/// Normalizes a pattern: `/` between names, no leading `./` or `/`, and `**` after a directory
/// (`src/`).
fn normalize_pattern(written: &str) -> String {
    let mut text = with_slashes(written);
    loop {
        let rest = text.trim_start_matches('/');
        let rest = rest.strip_prefix("./").unwrap_or(rest);
        if rest.len() == text.len() {
            break;
        }
        text = rest.to_owned();
    }
    if text.ends_with('/') {
        text.push_str("**");
    }
    text
}

/// Turns each backslash into a slash, unless it escapes the next character.
pub(super) fn with_slashes(written: &str) -> String {
    if !written.contains('\\') {
        return written.to_owned();
    }
    let mut text = String::with_capacity(written.len());
    let mut characters = written.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, characters.peek()) {
            ('\\', Some('*' | '?' | '[' | ']' | '{' | '}' | '\\' | ',' | '|')) => {
                text.push('\\');
                text.extend(characters.next());
            }
            ('\\', _) => text.push('/'),
            _ => text.push(character),
        }
    }
    text
}

/// Returns a pattern that matches only `text`.
pub(super) fn escape_pattern(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if matches!(character, '*' | '?' | '[' | ']' | '{' | '}' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern
}

/// Returns whether the text has no glob syntax.
pub(super) fn is_plain(text: &str) -> bool {
    !text.contains(['*', '?', '[', '{', '}', '\\'])
}

/// A part of a pattern between two separators.
pub(super) struct PatternSegment<'t> {
    pub(super) text: &'t str,
    pub(super) is_last: bool,
}

/// Splits a pattern at the separators outside braces and classes.
pub(super) fn split_segments(text: &str) -> impl Iterator<Item = PatternSegment<'_>> {
    let mut start = Some(0);
    std::iter::from_fn(move || {
        let from = start?;
        let end =
            find_pattern_marks(&text[from..]).find(|mark| mark.character == '/' && mark.depth == 0);
        let end = end.map(|mark| from + mark.at);
        start = end.map(|end| end + 1);
        Some(PatternSegment {
            text: &text[from..end.unwrap_or(text.len())],
            is_last: end.is_none(),
        })
    })
}

/// A character that divides a pattern.
pub(super) struct PatternMark {
    pub(super) at: usize,
    pub(super) character: char,
    /// The number of open braces around it; a brace is inside itself.
    pub(super) depth: usize,
}

/// Finds separators, braces and commas of alternatives, outside classes.
pub(super) fn find_pattern_marks(text: &str) -> impl Iterator<Item = PatternMark> {
    let (mut depth, mut in_class, mut is_escaped) = (0_usize, false, false);
    text.char_indices().filter_map(move |(at, character)| {
        if std::mem::take(&mut is_escaped) {
            return None;
        }
        match character {
            '\\' => is_escaped = true,
            ']' => in_class = false,
            _ if in_class => {}
            '[' => in_class = true,
            '{' => {
                depth += 1;
                return Some(PatternMark { at, character, depth });
            }
            '}' => {
                depth = depth.saturating_sub(1);
                return Some(PatternMark { at, character, depth: depth + 1 });
            }
            '/' => return Some(PatternMark { at, character, depth }),
            ',' | '|' if depth > 0 => return Some(PatternMark { at, character, depth }),
            _ => {}
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, path: &str) -> bool {
        HostedPattern::new(pattern).unwrap().matches(path)
    }

    #[test]
    fn a_name_matches_at_any_depth_and_a_path_from_its_anchor() {
        assert!(matches("*.TS", "src/deep/a.ts"));
        assert!(matches("*", "src/deep/a.ts"));
        assert!(matches("./src/*.ts", "src/a.ts"));
        assert!(matches("/src/*.ts", "src/a.ts"));
        assert!(!matches("src/*.ts", "lib/src/a.ts"));
        assert!(matches("src/", "src/deep/a.ts"));
        assert!(matches("**/*.{scss|less}", "a/b.less"));
    }

    /// X38: a backslash is a separator, or an escape before syntax.
    #[test]
    fn a_backslash_separates_unless_it_escapes() {
        assert!(matches(r"src\lib\a.ts", "src/lib/a.ts"));
        assert!(matches(r"src/\*.ts", "src/*.ts"));
        assert!(!matches(r"src/\*.ts", "src/a.ts"));
    }
}
