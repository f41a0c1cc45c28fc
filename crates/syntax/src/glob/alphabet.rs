//! A few characters that represent all of them.
//!
//! A glob distinguishes characters only by its literals and classes. To decide a question about
//! every path, it is enough to try one character for each combination of their answers.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use super::letters::{CharacterRange, LetterCase, has_case};
use super::program::{GlobProgram, ProgramItem};

/// The first character from which on none has a case.
const END_OF_CASED: char = '\u{20000}';

/// Returns a character that the item admits and that any file name can have: neither `.` nor `/`.
pub(super) fn name_character(program: &GlobProgram, item: ProgramItem) -> Option<char> {
    let fits = |character: &char| {
        !matches!(character, '.' | '/') && program.admits_character(item, *character)
    };
    match item {
        ProgramItem::Literal(literal) => Some(literal).filter(fits),
        ProgramItem::AnyCharacter => Some('x'),
        ProgramItem::Class { .. } => {
            let mut candidates = Candidates::new();
            candidates.add_class(program, item);
            candidates.characters().find(fits)
        }
        _ => None,
    }
}

/// Returns characters that between them make the programs do all that any character could; `.` and
/// `/` are among them, and represent only themselves. `None` if finding them would take more than
/// `limit` comparisons.
pub(super) fn collect_representatives(
    programs: &[&GlobProgram],
    limit: usize,
) -> Option<Vec<char>> {
    let mut candidates = Candidates::new();
    let mut literals = BTreeSet::new();
    let mut classes = Vec::new();
    let mut comparisons = 1;
    for program in programs {
        for &item in program.items() {
            match item {
                ProgramItem::Literal(literal) if literals.insert((program.case(), literal)) => {
                    candidates.add_literal(program, literal);
                    comparisons += 1;
                }
                ProgramItem::Class { .. } => {
                    candidates.add_class(program, item);
                    classes.push((program, item));
                    comparisons += program.ranges(item).len();
                }
                _ => {}
            }
        }
    }
    let mut work = 0;
    let mut seen = BTreeSet::new();
    let mut representatives = Vec::new();
    for character in candidates.characters() {
        work += comparisons;
        if work > limit {
            return None;
        }
        let by_literals =
            literals.iter().map(|&(case, literal)| case.is_same_letter(literal, character));
        let by_classes =
            classes.iter().map(|(program, item)| program.admits_character(*item, character));
        let by_paths = [character == '/', character == '.'];
        let answers: Vec<bool> = by_literals.chain(by_classes).chain(by_paths).collect();
        if seen.insert(answers) {
            representatives.push(character);
        }
    }
    Some(representatives)
}

/// Characters that are sure to include a representative of each kind.
struct Candidates {
    /// The first character of each range, and the first one after it. For a character without case,
    /// the ranges answer the same from each of these up to the next.
    borders: BTreeSet<char>,
    distinguish_case: bool,
    ignore_case: bool,
    has_classes: bool,
}

impl Candidates {
    fn new() -> Candidates {
        let mut candidates = Candidates {
            borders: BTreeSet::from([char::MIN]),
            distinguish_case: false,
            ignore_case: false,
            has_classes: false,
        };
        candidates.add_borders(CharacterRange::from_character('.'));
        candidates.add_borders(CharacterRange::from_character('/'));
        candidates
    }

    fn add_literal(&mut self, program: &GlobProgram, literal: char) {
        self.add_case(program.case());
        self.add_borders(CharacterRange::from_character(literal));
    }

    fn add_class(&mut self, program: &GlobProgram, class: ProgramItem) {
        self.add_case(program.case());
        self.has_classes = true;
        for &range in program.ranges(class) {
            self.add_borders(range);
        }
    }

    fn add_case(&mut self, case: LetterCase) {
        match case {
            LetterCase::Sensitive => self.distinguish_case = true,
            LetterCase::Insensitive => self.ignore_case = true,
        }
    }

    fn add_borders(&mut self, range: CharacterRange) {
        self.borders.insert(range.first);
        self.borders.extend((range.last..=char::MAX).nth(1));
    }

    /// Returns the candidates, the likeliest first, possibly with duplicates.
    ///
    /// With case, the borders are enough. Without it, a border may be a cased character, which does
    /// not represent the caseless ones after it; the first of those does. Cased characters are all
    /// alike to literals of which they are not a form. But a class admits their forms in no order,
    /// and neither do literals of both kinds together, so then every cased character is tried.
    fn characters(&self) -> impl Iterator<Item = char> {
        let borders = self.borders.iter().copied();
        let caseless = self
            .borders
            .iter()
            .filter(|_| self.ignore_case)
            .filter_map(|&border| (border..=char::MAX).find(|&character| !has_case(character)));
        let try_cased = self.ignore_case && (self.has_classes || self.distinguish_case);
        let cased =
            std::iter::once_with(cased_characters).take(usize::from(try_cased)).flatten().copied();
        borders.chain(caseless).chain(cased)
    }
}

/// All characters that have a case.
fn cased_characters() -> &'static [char] {
    static CASED: OnceLock<Vec<char>> = OnceLock::new();
    CASED.get_or_init(|| {
        (char::MIN..END_OF_CASED).filter(|&character| has_case(character)).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::super::Alternatives;
    use super::*;

    fn compile(pattern: &str, case: LetterCase) -> GlobProgram {
        GlobProgram::compile(pattern, case, Alternatives::Comma).unwrap()
    }

    #[test]
    fn no_cased_character_is_left_out() {
        assert!((END_OF_CASED..=char::MAX).all(|character| !has_case(character)));
    }

    #[test]
    fn every_character_is_represented() {
        let lists = [
            [("[a-f]b[!0-9]", LetterCase::Sensitive), ("aK[k-m]", LetterCase::Sensitive)],
            [("[a-f]b[!0-9]", LetterCase::Insensitive), ("xyz", LetterCase::Insensitive)],
            [("[À-ſ]K[ǅ-ǈ]", LetterCase::Insensitive), ("aK[k-m]", LetterCase::Sensitive)],
            [("[!a-zΣ]x\u{2129}", LetterCase::Insensitive), ("σς", LetterCase::Insensitive)],
            [("[S]", LetterCase::Insensitive), ("sS", LetterCase::Sensitive)],
            [("k", LetterCase::Insensitive), ("kK", LetterCase::Sensitive)],
            [
                ("abcdefghijklmnopqrstuvwxyz", LetterCase::Insensitive),
                ("\u{2129}", LetterCase::Insensitive),
            ],
        ];
        for list in lists {
            let programs = list.map(|(pattern, case)| compile(pattern, case));
            let programs = [&programs[0], &programs[1]];
            let answers = |character: char| -> Vec<bool> {
                let of = |program: &&GlobProgram| -> Vec<bool> {
                    program
                        .items()
                        .iter()
                        .map(|&item| program.admits_character(item, character))
                        .collect()
                };
                programs.iter().flat_map(of).collect()
            };
            let represented: BTreeSet<_> = collect_representatives(&programs, usize::MAX)
                .unwrap()
                .into_iter()
                .map(answers)
                .collect();
            for character in (char::MIN..END_OF_CASED).chain([char::MAX]) {
                assert!(represented.contains(&answers(character)), "{character:?} in {list:?}");
            }
        }
    }

    #[test]
    fn a_class_that_admits_no_name() {
        let admitted = |pattern, case| {
            let program = compile(pattern, case);
            name_character(&program, program.items()[0])
        };
        for case in [LetterCase::Sensitive, LetterCase::Insensitive] {
            assert_eq!(admitted("[./]", case), None);
            assert_eq!(admitted("[!\0-\u{10ffff}]", case), None);
            assert_eq!(admitted("[!\0-/1-\u{10ffff}]", case), Some('0'));
        }
        assert_eq!(admitted("[!\0-`b-\u{10ffff}]", LetterCase::Sensitive), Some('a'));
        assert_eq!(admitted("[!\0-`b-\u{10ffff}]", LetterCase::Insensitive), None);
    }
}
