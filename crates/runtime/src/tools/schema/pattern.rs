//! Regular expressions of a schema.
//!
//! They are JavaScript's, but an engine runs them that takes no longer than the text is long. What it
//! does not have (looking around, going back) is not checked.

use regex_automata::meta::Regex;
use regex_automata::util::syntax;

/// Bytes of a pattern; a longer one is not checked.
const MOST_BYTES: usize = 1_024;

/// Bytes of a text that is matched; a longer one fits every pattern.
const MOST_TEXT: usize = 64 * 1024;

/// Bytes of memory of a pattern that is ready.
const MOST_MEMORY: usize = 1024 * 1024;

/// White space as JavaScript has it.
const SPACE: &str =
    r"\t-\r \u{a0}\u{1680}\u{2000}-\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}\u{feff}";

#[derive(Clone)]
pub(super) struct Pattern(Option<Regex>);

impl Pattern {
    /// Reads a pattern; an error means that it is none.
    pub(super) fn new(text: &str) -> Result<Pattern, ()> {
        let is_foreign = ["(?=", "(?!", "(?<=", "(?<!", "\\k<", "[^]", "[]"]
            .iter()
            .any(|part| text.contains(part))
            || text.as_bytes().windows(2).any(|pair| pair[0] == b'\\' && pair[1].is_ascii_digit());
        if text.len() > MOST_BYTES || is_foreign {
            return Ok(Pattern(None));
        }
        let config = Regex::config().nfa_size_limit(Some(MOST_MEMORY));
        let mut builder = Regex::builder();
        builder.configure(config).syntax(syntax::Config::new().nest_limit(64));
        match builder.build(&translate(text)) {
            Ok(regex) => Ok(Pattern(Some(regex))),
            Err(error) if error.size_limit().is_some() => Ok(Pattern(None)),
            Err(_) => Err(()),
        }
    }

    pub(super) fn is_unchecked(&self) -> bool {
        self.0.is_none()
    }

    pub(super) fn matches(&self, text: &str) -> bool {
        let regex = self.0.as_ref().filter(|_| text.len() <= MOST_TEXT);
        regex.is_none_or(|regex| regex.is_match(text))
    }
}

/// Writes JavaScript's classes out, which are about ASCII, and `[` in a class as the letter it is.
fn translate(text: &str) -> String {
    let mut translated = String::with_capacity(text.len() + 16);
    let mut letters = text.chars();
    let mut is_in_class = false;
    while let Some(letter) = letters.next() {
        match (letter, is_in_class) {
            ('\\', _) => match (letters.next(), is_in_class) {
                (Some('d'), _) => translated.push_str("[0-9]"),
                (Some('D'), _) => translated.push_str("[^0-9]"),
                (Some('w'), _) => translated.push_str("[0-9A-Za-z_]"),
                (Some('W'), _) => translated.push_str("[^0-9A-Za-z_]"),
                (Some('s'), _) => translated.push_str(&format!("[{SPACE}]")),
                (Some('S'), _) => translated.push_str(&format!("[^{SPACE}]")),
                (Some('b'), true) => translated.push_str(r"\x08"),
                (Some(edge @ ('b' | 'B')), false) => {
                    translated.push_str(&format!("(?-u:\\{edge})"));
                }
                (Some(other), _) => translated.extend(['\\', other]),
                (None, _) => translated.push('\\'),
            },
            ('[', true) => translated.push_str("\\["),
            ('[', false) => {
                is_in_class = true;
                translated.push('[');
            }
            (']', true) => {
                is_in_class = false;
                translated.push(']');
            }
            (letter @ ('&' | '~'), true) => translated.extend(['\\', letter]),
            (letter, _) => translated.push(letter),
        }
    }
    translated
}
