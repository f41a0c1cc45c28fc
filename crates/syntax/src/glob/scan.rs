//! The scanner from a glob's text to its tokens: the only module that knows the syntax.

use super::Alternatives;
use super::error::{GlobError, GlobProblem};
use super::letters::{CharacterRange, LetterCase};

/// One element of a glob's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'p> {
    /// A literal `/`. An escaped one is a [`Token::Literal`]: it matches the same, but does not
    /// make the `**` before it a whole segment.
    Separator,
    Literal(char),
    /// One `*`. The meaning of a run of them depends on its surroundings.
    Star,
    AnyCharacter,
    Class(CharacterClass<'p>),
    Open,
    /// The separator of two alternatives: `,`.
    Next,
    Close,
}

/// A character class as text, which the scan found well-formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CharacterClass<'p> {
    pub(super) negated: bool,
    /// The text after the `[` or `[!`, up to the `]`.
    body: &'p str,
}

impl<'p> CharacterClass<'p> {
    /// Returns the ranges of the class; a single character is a range of one.
    pub(super) fn ranges(self) -> Ranges<'p> {
        Ranges { body: self.body }
    }

    /// Returns whether the class contains a separator, so that the pattern cannot be split at each.
    pub(super) fn names_separator(self) -> bool {
        self.body.contains('/')
    }

    pub(super) fn admits_character(self, character: char, case: LetterCase) -> bool {
        self.ranges().any(|range| range.admits_character(character, case)) != self.negated
    }
}

/// The ranges of a [`CharacterClass`], in the order of its text.
pub(super) struct Ranges<'p> {
    body: &'p str,
}

impl Ranges<'_> {
    fn next_character(&mut self) -> Option<char> {
        let mut characters = self.body.chars();
        let mut character = characters.next()?;
        if character == '\\' {
            character = characters.next()?;
        }
        self.body = characters.as_str();
        Some(character)
    }
}

impl Iterator for Ranges<'_> {
    type Item = CharacterRange;

    fn next(&mut self) -> Option<CharacterRange> {
        let first = self.next_character()?;
        // A hyphen at the end is an ordinary character.
        let after_hyphen = self.body.strip_prefix('-').filter(|rest| !rest.is_empty());
        let last = match after_hyphen {
            Some(rest) => {
                self.body = rest;
                self.next_character()?
            }
            None => first,
        };
        Some(CharacterRange { first, last })
    }
}

/// Reads a glob's text from left to right, up to the first problem.
///
/// Its braces are balanced unless it ends with an error. It does not recurse, so braces may nest as
/// deep as the text is long.
pub(super) struct Scanner<'p> {
    text: &'p str,
    offset: usize,
    /// The offsets of the braces that are still open.
    open: Vec<usize>,
    alternatives: Alternatives,
}

impl<'p> Scanner<'p> {
    pub(super) fn new(text: &'p str, alternatives: Alternatives) -> Scanner<'p> {
        Scanner { text, offset: 0, open: Vec::new(), alternatives }
    }

    /// Returns the number of bytes read so far.
    pub(super) fn offset(&self) -> usize {
        self.offset
    }

    /// Returns whether the last token is within braces, or is itself an opening one.
    pub(super) fn within_braces(&self) -> bool {
        !self.open.is_empty()
    }

    fn scan_token(&mut self) -> Result<Option<Token<'p>>, GlobError> {
        let start = self.offset;
        let Some(character) = self.next_character() else {
            return match self.open.pop() {
                Some(brace) => Err(GlobError::new(brace, GlobProblem::UnclosedBraces)),
                None => Ok(None),
            };
        };
        Ok(Some(match character {
            '/' => Token::Separator,
            '*' => Token::Star,
            '?' => Token::AnyCharacter,
            '[' => Token::Class(self.scan_class(start)?),
            '{' => {
                self.open.push(start);
                Token::Open
            }
            '}' => match self.open.pop() {
                Some(_) => Token::Close,
                None => return Err(GlobError::new(start, GlobProblem::StrayClosingBrace)),
            },
            '\\' => match self.next_character() {
                Some(escaped) => Token::Literal(escaped),
                None => return Err(GlobError::new(start, GlobProblem::TrailingBackslash)),
            },
            _ if self.within_braces() && self.alternatives.separated_by(character) => Token::Next,
            _ => Token::Literal(character),
        }))
    }

    /// Reads a class whose bracket, at `start`, has been read.
    fn scan_class(&mut self, start: usize) -> Result<CharacterClass<'p>, GlobError> {
        let negated = self.text[self.offset..].starts_with(['!', '^']);
        self.offset += usize::from(negated);
        let body = self.offset;
        loop {
            let here = self.offset;
            match self.next_character() {
                None => return Err(GlobError::new(start, GlobProblem::UnclosedClass)),
                Some(']') if here == body => {
                    return Err(GlobError::new(start, GlobProblem::EmptyClass));
                }
                Some(']') => return Ok(CharacterClass { negated, body: &self.text[body..here] }),
                Some('\\') => {
                    self.next_character();
                }
                Some(character) if self.cuts_alternatives(character) => {
                    return Err(GlobError::new(here, GlobProblem::ClassCutByBraces(character)));
                }
                Some(_) => {}
            }
        }
    }

    fn cuts_alternatives(&self, character: char) -> bool {
        self.within_braces()
            && (matches!(character, '{' | '}') || self.alternatives.separated_by(character))
    }

    fn next_character(&mut self) -> Option<char> {
        let character = self.text[self.offset..].chars().next()?;
        self.offset += character.len_utf8();
        Some(character)
    }
}

impl<'p> Iterator for Scanner<'p> {
    type Item = Result<Token<'p>, GlobError>;

    fn next(&mut self) -> Option<Result<Token<'p>, GlobError>> {
        self.scan_token().transpose()
    }
}

/// Returns whether the text is literal: no character of it belongs to the syntax.
pub(super) fn is_plain(text: &str) -> bool {
    !text.bytes().any(|byte| matches!(byte, b'*' | b'?' | b'[' | b'{' | b'}' | b'\\'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(pattern: &str) -> Vec<(char, char)> {
        let token = Scanner::new(pattern, Alternatives::Comma).next();
        let Some(Ok(Token::Class(class))) = token else {
            panic!("{pattern} starts with {token:?}")
        };
        class.ranges().map(|range| (range.first, range.last)).collect()
    }

    #[test]
    fn hyphens_and_escapes_in_classes() {
        assert_eq!(ranges("[ab-d]"), [('a', 'a'), ('b', 'd')]);
        assert_eq!(ranges("[a-]"), [('a', 'a'), ('-', '-')]);
        assert_eq!(ranges("[-a]"), [('-', '-'), ('a', 'a')]);
        assert_eq!(ranges("[--a]"), [('-', 'a')]);
        assert_eq!(ranges("[a-c-e]"), [('a', 'c'), ('-', '-'), ('e', 'e')]);
        assert_eq!(ranges(r"[a\-c]"), [('a', 'a'), ('-', '-'), ('c', 'c')]);
        assert_eq!(ranges(r"[\]-\a]"), [(']', 'a')]);
        assert_eq!(ranges("[!!^]"), [('!', '!'), ('^', '^')]);
    }

    #[test]
    fn commas_separate_only_within_braces() {
        let tokens: Result<Vec<_>, _> = Scanner::new(r",{a\,,b|}", Alternatives::Comma).collect();
        let expected = [
            Token::Literal(','),
            Token::Open,
            Token::Literal('a'),
            Token::Literal(','),
            Token::Next,
            Token::Literal('b'),
            Token::Literal('|'),
            Token::Close,
        ];
        assert_eq!(tokens.as_deref(), Ok(expected.as_slice()));
    }
}
