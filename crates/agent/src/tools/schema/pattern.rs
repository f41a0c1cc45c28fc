//! Regular expressions of a schema.
//!
//! They are JavaScript patterns, matched by an engine that runs in linear time. Its missing features
//! (lookaround, backreferences) are not checked.

use regex_automata::meta::Regex;
use regex_automata::util::syntax;

/// The limit for the bytes of a pattern; a longer one is not checked.
const MOST_BYTES: usize = 1_024;

/// The limit for the bytes of a text; a longer one fits every pattern.
const MOST_TEXT: usize = 64 * 1024;

/// The limit for the memory of a compiled pattern.
const MOST_MEMORY: usize = 1024 * 1024;

const SPACE: &str =
    r"\t-\r \u{a0}\u{1680}\u{2000}-\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}\u{feff}";

#[derive(Clone)]
pub(super) struct SchemaPattern(Option<Regex>);

impl SchemaPattern {
    /// Compiles a pattern. The error means that it is not valid.
    pub(super) fn new(text: &str) -> Result<SchemaPattern, ()> {
        let is_foreign = ["(?=", "(?!", "(?<=", "(?<!", "\\k<", "[^]", "[]"]
            .iter()
            .any(|part| text.contains(part))
            || text.as_bytes().windows(2).any(|pair| pair[0] == b'\\' && pair[1].is_ascii_digit());
        if text.len() > MOST_BYTES || is_foreign {
            return Ok(SchemaPattern(None));
        }
        let config = Regex::config().nfa_size_limit(Some(MOST_MEMORY));
        let mut builder = Regex::builder();
        builder.configure(config).syntax(syntax::Config::new().nest_limit(64));
        match builder.build(&translate_pattern(text)) {
            Ok(regex) => Ok(SchemaPattern(Some(regex))),
            Err(error) if error.size_limit().is_some() => Ok(SchemaPattern(None)),
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

/// Expands JavaScript's classes, which are ASCII, and escapes `[` in a class.
fn translate_pattern(text: &str) -> String {
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
