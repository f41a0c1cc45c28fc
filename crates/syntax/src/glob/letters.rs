//! The comparison of characters, with or without case.

/// The treatment of upper and lower case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LetterCase {
    /// `a` and `A` are different, as in doublestar.
    #[default]
    Sensitive,
    /// `a` and `A` are equal. Two characters are equal if their lower-case forms are, as far as
    /// these are single characters: `É` is `é`, but `ß` is not `SS`. A class or range admits a
    /// character if it lists it or its lower-case or upper-case form.
    Insensitive,
}

impl LetterCase {
    pub(super) fn same(self, left: char, right: char) -> bool {
        left == right || self == LetterCase::Insensitive && lower(left) == lower(right)
    }
}

/// The characters from `first` to `last`; empty if they are reversed, as in `[z-a]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CharacterRange {
    pub(super) first: char,
    pub(super) last: char,
}

impl CharacterRange {
    pub(super) fn single(character: char) -> CharacterRange {
        CharacterRange { first: character, last: character }
    }

    pub(super) fn admits(self, character: char, case: LetterCase) -> bool {
        let lists = |character| (self.first..=self.last).contains(&character);
        lists(character)
            || case == LetterCase::Insensitive
                && (lists(lower(character)) || lists(upper(character)))
    }
}

/// Returns the lower-case form of a character if that is one character, else the character itself.
pub(super) fn lower(character: char) -> char {
    if character.is_ascii() {
        return character.to_ascii_lowercase();
    }
    only(character.to_lowercase()).unwrap_or(character)
}

/// Returns the upper-case form of a character if that is one character, else the character itself.
pub(super) fn upper(character: char) -> char {
    if character.is_ascii() {
        return character.to_ascii_uppercase();
    }
    only(character.to_uppercase()).unwrap_or(character)
}

/// Returns whether a character differs from one of its case forms.
pub(super) fn has_case(character: char) -> bool {
    lower(character) != character || upper(character) != character
}

fn only(mut characters: impl Iterator<Item = char>) -> Option<char> {
    characters.next().filter(|_| characters.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_is_ignored_character_by_character() {
        for (left, right) in [('a', 'A'), ('É', 'é'), ('Σ', 'σ'), ('1', '1')] {
            assert!(LetterCase::Insensitive.same(left, right), "{left} {right}");
        }
        assert!(!LetterCase::Sensitive.same('a', 'A'));
        assert!(!LetterCase::Insensitive.same('İ', 'i'), "its lower-case form is two characters");
    }

    #[test]
    fn ranges_admit_either_case() {
        let letters = CharacterRange { first: 'A', last: 'F' };
        assert!(letters.admits('b', LetterCase::Insensitive));
        assert!(!letters.admits('b', LetterCase::Sensitive));
        assert!(!letters.admits('g', LetterCase::Insensitive));
        let backwards = CharacterRange { first: 'z', last: 'a' };
        assert!(!backwards.admits('m', LetterCase::Insensitive));
    }
}
