//! The general matcher: a glob as a nondeterministic automaton, run over a path in one pass.
//!
//! # Items and marks
//!
//! The tokens of the pattern become a list of [`ProgramItem`]s in the same order. A match in progress is
//! before one or more of these items, and in one or more ways before each; the ways are the bits of
//! a byte, the *marks*. So the set of states is one byte per item, and a character of the path
//! turns one such byte string into the next ([`GlobProgram::advance`]).
//!
//! Braces are forks and jumps around their alternatives, which share everything that follows them:
//! thirty groups of two are sixty items and not a billion patterns. Every move that consumes no
//! character leads to a later item, so one pass from left to right follows all of them. A path
//! costs at most its length times the length of the pattern, and nothing recurses.
//!
//! # Why stars need marks
//!
//! Braces are substituted as text, so the meaning of a star can depend on distant text: in
//! `{src/,x}**` the stars are a whole segment after `src/` but not after `x`. Marks carry the text
//! before (the start of a segment or not, the number of stars) until the run of stars ends, and the
//! next item decides.
//!
//! # The end of the path
//!
//! doublestar does not ask whether the rest of the pattern can match nothing, but whether it is one
//! of a few texts ([`GlobProgram::rests`]). The rest begins after the item that consumed the last
//! character. So only marks that a character has set count for acceptance, not those that further
//! moves without a character would add.

use super::Alternatives;
use super::error::GlobError;
use super::letters::{CharacterRange, LetterCase};
use super::scan::{Scanner, Token};

/// Before the item, at the start of a segment: at the start of the pattern, or after one of its
/// `/`.
pub(super) const SEGMENT: u8 = 1;
/// Before the item, within a segment.
const MIDDLE: u8 = 1 << 1;
/// Before the item, after one star that started a segment.
const STAR: u8 = 1 << 2;
/// Before the item, after two stars that started a segment.
const DOUBLE_STAR: u8 = 1 << 3;
/// Before the item, after a run of stars that cannot be a whole segment.
const STAR_RUN: u8 = 1 << 4;
/// Within the match of the `*` before the item.
const WITHIN_STAR: u8 = 1 << 5;
/// Between two directories matched by the `**/` whose `/` is the item.
const DIRECTORIES: u8 = 1 << 6;
/// Within a directory matched by the `**/` whose `/` is the item; or, at the end of the pattern,
/// within the match of its last `**`.
const WITHIN_DOUBLE_STAR: u8 = 1 << 7;

/// The marks that are undecided until the run of stars ends.
const UNDECIDED: u8 = STAR | DOUBLE_STAR | STAR_RUN;

/// One position in the pattern.
#[derive(Clone, Copy, Debug)]
pub(super) enum ProgramItem {
    Separator,
    Literal(char),
    AnyCharacter,
    /// A class, with its slice of [`GlobProgram::ranges`].
    Class {
        negated: bool,
        first_range: usize,
        end_range: usize,
    },
    Star,
    /// The start of an alternative, which is the next item; `otherwise` is the start of the next
    /// alternative, or again this one.
    Fork {
        otherwise: usize,
    },
    /// The end of an alternative that is not the last.
    Jump {
        target: usize,
    },
    End,
}

/// The result of one character for the marks before one item.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MarkStep {
    /// Marks before the same item, after the character.
    pub(super) same: u8,
    /// Marks before the next item, after the character.
    pub(super) next: u8,
    /// Marks before the next item that consumed no character.
    pub(super) skip: u8,
}

/// A compiled glob. Only the last item is [`ProgramItem::End`].
#[derive(Debug)]
pub(super) struct GlobProgram {
    items: Vec<ProgramItem>,
    ranges: Vec<CharacterRange>,
    case: LetterCase,
    /// For each item the accepting marks at the end of a path.
    accepting: Vec<u8>,
    /// The segments that start outside braces: the byte of the text, and the item.
    segments: Vec<(usize, usize)>,
}

impl GlobProgram {
    pub(super) fn compile(
        pattern: &str,
        case: LetterCase,
        alternatives: Alternatives,
    ) -> Result<GlobProgram, GlobError> {
        let mut program = GlobProgram {
            items: Vec::with_capacity(pattern.len() + 1),
            ranges: Vec::new(),
            case,
            accepting: Vec::new(),
            segments: vec![(0, 0)],
        };
        program.read_tokens(Scanner::new(pattern, alternatives))?;
        let rests = program.collect_rests();
        program.accepting = (0..program.items.len())
            .map(|item| {
                let mut marks = 0;
                if rests[item] {
                    marks |= SEGMENT | MIDDLE | WITHIN_STAR;
                }
                match program.items[item] {
                    ProgramItem::Separator if rests[item + 1] => marks | DIRECTORIES,
                    ProgramItem::End => marks | WITHIN_DOUBLE_STAR,
                    _ => marks,
                }
            })
            .collect();
        Ok(program)
    }

    fn read_tokens(&mut self, mut scanner: Scanner<'_>) -> Result<(), GlobError> {
        struct OpenBraces {
            /// The last fork, for which a further alternative may follow.
            fork: usize,
            jumps: Vec<usize>,
        }
        let mut open: Vec<OpenBraces> = Vec::new();
        while let Some(token) = scanner.next() {
            let here = self.items.len();
            match token? {
                Token::Separator => {
                    self.items.push(ProgramItem::Separator);
                    if open.is_empty() {
                        self.segments.push((scanner.offset(), here + 1));
                    }
                }
                Token::Literal(character) => self.items.push(ProgramItem::Literal(character)),
                Token::AnyCharacter => self.items.push(ProgramItem::AnyCharacter),
                Token::Star => self.items.push(ProgramItem::Star),
                Token::Class(class) => {
                    let first_range = self.ranges.len();
                    self.ranges.extend(class.ranges());
                    let end_range = self.ranges.len();
                    let negated = class.negated;
                    self.items.push(ProgramItem::Class { negated, first_range, end_range });
                }
                Token::Open => {
                    open.push(OpenBraces { fork: here, jumps: Vec::new() });
                    self.items.push(ProgramItem::Fork { otherwise: here + 1 });
                }
                Token::Next => {
                    let braces = open.last_mut().expect("alternatives stand within braces");
                    self.items[braces.fork] = ProgramItem::Fork { otherwise: here + 1 };
                    braces.jumps.push(here);
                    braces.fork = here + 1;
                    self.items.push(ProgramItem::Jump { target: here });
                    self.items.push(ProgramItem::Fork { otherwise: here + 2 });
                }
                Token::Close => {
                    let braces = open.pop().expect("braces are balanced");
                    for jump in braces.jumps {
                        self.items[jump] = ProgramItem::Jump { target: here };
                    }
                }
            }
        }
        self.items.push(ProgramItem::End);
        Ok(())
    }

    /// Returns for each item whether the text from there on may remain when the path has ended:
    /// nothing, `*`, `**`, `/**`, `**/` or `/**/`; or braces one of whose alternatives, with the
    /// text after the braces, is such a text. Braces anywhere but in front rule it out.
    fn collect_rests(&self) -> Vec<bool> {
        let mut rests = vec![false; self.items.len()];
        for item in (0..self.items.len()).rev() {
            rests[item] = match self.items[item] {
                ProgramItem::End => true,
                ProgramItem::Fork { otherwise } => rests[item + 1] || rests[otherwise],
                ProgramItem::Jump { target } => rests[target],
                ProgramItem::Star | ProgramItem::Separator => self.is_short_rest(item),
                ProgramItem::Literal(_) | ProgramItem::AnyCharacter | ProgramItem::Class { .. } => {
                    false
                }
            };
        }
        rests
    }

    /// Returns whether the text from this item on is `*`, `**`, `/**`, `**/` or `/**/`.
    fn is_short_rest(&self, mut item: usize) -> bool {
        let mut text = [0; 4];
        let mut length = 0;
        loop {
            let byte = match self.items[item] {
                ProgramItem::Jump { target } => {
                    item = target;
                    continue;
                }
                ProgramItem::Star => b'*',
                ProgramItem::Separator => b'/',
                ProgramItem::End => break,
                _ => return false,
            };
            if length == text.len() {
                return false;
            }
            text[length] = byte;
            length += 1;
            item += 1;
        }
        matches!(&text[..length], b"*" | b"**" | b"/**" | b"**/" | b"/**/")
    }

    pub(super) fn items(&self) -> &[ProgramItem] {
        &self.items
    }

    pub(super) fn case(&self) -> LetterCase {
        self.case
    }

    /// Returns the ranges of a class; none for any other item.
    pub(super) fn ranges(&self, item: ProgramItem) -> &[CharacterRange] {
        match item {
            ProgramItem::Class { first_range, end_range, .. } => {
                &self.ranges[first_range..end_range]
            }
            _ => &[],
        }
    }

    /// Returns whether the item consumes this character.
    pub(super) fn admits_character(&self, item: ProgramItem, character: char) -> bool {
        match item {
            ProgramItem::Separator => character == '/',
            ProgramItem::Literal(literal) => self.case.is_same_letter(literal, character),
            ProgramItem::AnyCharacter => character != '/',
            ProgramItem::Class { negated, .. } => {
                let listed = |range: &CharacterRange| range.admits_character(character, self.case);
                self.ranges(item).iter().any(listed) != negated
            }
            ProgramItem::Star
            | ProgramItem::Fork { .. }
            | ProgramItem::Jump { .. }
            | ProgramItem::End => false,
        }
    }

    /// Returns the result of a character for the marks before an item that is not a star, fork or
    /// jump.
    pub(super) fn step_marks(&self, item: ProgramItem, mut marks: u8, character: char) -> MarkStep {
        let mut step = MarkStep::default();
        if marks & UNDECIDED != 0 {
            marks |= decide_stars(item, marks);
        }
        if marks & WITHIN_STAR != 0 {
            marks |= MIDDLE;
            if character != '/' {
                step.same |= WITHIN_STAR;
            }
        }
        if marks & DIRECTORIES != 0 {
            step.skip |= SEGMENT;
        }
        if marks & (DIRECTORIES | WITHIN_DOUBLE_STAR) != 0 {
            let between = character == '/' && matches!(item, ProgramItem::Separator);
            step.same |= if between { DIRECTORIES } else { WITHIN_DOUBLE_STAR };
        }
        if marks & (SEGMENT | MIDDLE) != 0 && self.admits_character(item, character) {
            // A class can consume a separator too, but no new segment begins after it.
            let separator = character == '/' && !matches!(item, ProgramItem::Class { .. });
            step.next |= if separator { SEGMENT } else { MIDDLE };
        }
        step
    }

    /// Returns the marks of a match that has not begun: only before the first item.
    pub(super) fn start_marks(&self) -> Vec<u8> {
        self.start_at(0)
    }

    fn start_at(&self, item: usize) -> Vec<u8> {
        let mut marks = vec![0; self.items.len()];
        marks[item] = SEGMENT;
        marks
    }

    /// Moves the marks in `here` over one character to `next`, and leaves `here` empty.
    ///
    /// `next` must be empty; both have one byte per item.
    pub(super) fn advance_marks(&self, here: &mut [u8], next: &mut [u8], character: char) {
        for (index, &item) in self.items.iter().enumerate() {
            let marks = std::mem::take(&mut here[index]);
            if marks == 0 {
                continue;
            }
            match item {
                ProgramItem::Fork { otherwise } => {
                    here[index + 1] |= marks;
                    here[otherwise] |= marks;
                }
                ProgramItem::Jump { target } => here[target] |= marks,
                ProgramItem::Star => here[index + 1] |= after_star(marks),
                _ => {
                    let step = self.step_marks(item, marks, character);
                    next[index] |= step.same;
                    // The end of the pattern leads nowhere else.
                    if index + 1 < self.items.len() {
                        next[index + 1] |= step.next;
                        here[index + 1] |= step.skip;
                    }
                }
            }
        }
    }

    /// Moves `marks` over a whole text.
    pub(super) fn advance_over_text(
        &self,
        marks: &mut Vec<u8>,
        text: impl IntoIterator<Item = char>,
    ) {
        let mut next = vec![0; marks.len()];
        for character in text {
            self.advance_marks(marks, &mut next, character);
            std::mem::swap(marks, &mut next);
        }
    }

    /// Returns whether a path that ends with these marks is matched.
    pub(super) fn accepts_marks(&self, marks: &[u8]) -> bool {
        marks.iter().zip(&self.accepting).any(|(marks, accepting)| marks & accepting != 0)
    }

    /// Returns the accepting marks before an item at the end of a path; none past the last item.
    pub(super) fn accepting_marks(&self, item: usize) -> u8 {
        self.accepting.get(item).copied().unwrap_or(0)
    }

    /// Returns whether every path that continues from these marks is matched: a `**` that ends the
    /// pattern has been entered.
    pub(super) fn accepts_forever(&self, marks: &[u8]) -> bool {
        marks[self.items.len() - 1] & WITHIN_DOUBLE_STAR != 0
    }

    pub(super) fn matches(&self, path: &str) -> bool {
        let mut marks = self.start_marks();
        self.advance_over_text(&mut marks, path.chars());
        self.accepts_marks(&marks)
    }

    /// Returns whether the segment that starts at this byte of the pattern matches a component of a
    /// path.
    ///
    /// The segment must not be able to match a separator. If the component is the last of its path,
    /// the rest of the pattern has to be one that may remain.
    pub(super) fn segment_matches(&self, offset: usize, component: &str, is_last: bool) -> bool {
        let Ok(segment) = self.segments.binary_search_by_key(&offset, |&(offset, _)| offset) else {
            return false;
        };
        let mut marks = self.start_at(self.segments[segment].1);
        self.advance_over_text(&mut marks, component.chars());
        if is_last {
            return self.accepts_marks(&marks);
        }
        self.advance_over_text(&mut marks, ['/']);
        self.segments.get(segment + 1).is_some_and(|&(_, item)| marks[item] & SEGMENT != 0)
    }
}

/// Returns the marks after one more star.
pub(super) fn after_star(marks: u8) -> u8 {
    let mut after = 0;
    if marks & SEGMENT != 0 {
        after |= STAR;
    }
    if marks & STAR != 0 {
        after |= DOUBLE_STAR;
    }
    if marks & (MIDDLE | DOUBLE_STAR | STAR_RUN) != 0 {
        after |= STAR_RUN;
    }
    after
}

/// Decides the runs of stars that end before this item.
fn decide_stars(item: ProgramItem, marks: u8) -> u8 {
    let mut decided = 0;
    if marks & DOUBLE_STAR != 0 {
        decided |= match item {
            ProgramItem::Separator => DIRECTORIES,
            ProgramItem::End => WITHIN_DOUBLE_STAR,
            _ => WITHIN_STAR,
        };
    }
    if marks & (STAR | STAR_RUN) != 0 {
        decided |= WITHIN_STAR;
    }
    decided
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compile(pattern: &str) -> GlobProgram {
        GlobProgram::compile(pattern, LetterCase::Sensitive, Alternatives::Comma).unwrap()
    }

    #[test]
    fn braces_share_what_follows_them() {
        let pattern = "{a,a}".repeat(30);
        let program = compile(&pattern);
        // Two forks, two literals and a jump for each group, and the end.
        assert_eq!(program.items().len(), 30 * 5 + 1);
        assert!(program.matches(&"a".repeat(30)));
        assert!(!program.matches(&"a".repeat(29)));
    }

    #[test]
    fn what_stands_before_the_braces_decides_about_stars() {
        let program = compile("{src/,x}**");
        assert!(program.matches("src/a/b"));
        assert!(program.matches("xa"));
        assert!(!program.matches("xa/b"));
    }

    #[test]
    fn what_stands_in_the_braces_joins_the_stars_before_them() {
        let program = compile("*{*,a}/x");
        assert!(program.matches("p/q/x"));
        assert!(program.matches("pa/x"));
    }

    #[test]
    fn only_some_texts_may_remain() {
        assert!(compile("a*").matches("a"));
        assert!(compile("a**").matches("a"));
        assert!(!compile("a***").matches("a"));
        assert!(compile("a/**").matches("a"));
        assert!(!compile("a*/**").matches("a"));
        assert!(compile("a{,b}/**").matches("a"));
        assert!(!compile("a*{,b}").matches("a"));
    }
}
