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
    pub(super) fn is_same_letter(self, left: char, right: char) -> bool {
        left == right
            || self == LetterCase::Insensitive && lower_character(left) == lower_character(right)
    }
}

/// The characters from `first` to `last`; empty if they are reversed, as in `[z-a]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CharacterRange {
    pub(super) first: char,
    pub(super) last: char,
}

impl CharacterRange {
    pub(super) fn from_character(character: char) -> CharacterRange {
        CharacterRange { first: character, last: character }
    }

    pub(super) fn admits_character(self, character: char, case: LetterCase) -> bool {
        let lists = |character| (self.first..=self.last).contains(&character);
        lists(character)
            || case == LetterCase::Insensitive
                && (lists(lower_character(character)) || lists(upper_character(character)))
    }
}

/// Returns the lower-case form of a character if that is one character, else the character itself.
pub(super) fn lower_character(character: char) -> char {
    if character.is_ascii() {
        return character.to_ascii_lowercase();
    }
    single_character(character.to_lowercase()).unwrap_or(character)
}

/// Returns the upper-case form of a character if that is one character, else the character itself.
pub(super) fn upper_character(character: char) -> char {
    if character.is_ascii() {
        return character.to_ascii_uppercase();
    }
    single_character(character.to_uppercase()).unwrap_or(character)
}

/// Returns whether a character differs from one of its case forms.
pub(super) fn has_case(character: char) -> bool {
    lower_character(character) != character || upper_character(character) != character
}

fn single_character(mut characters: impl Iterator<Item = char>) -> Option<char> {
    characters.next().filter(|_| characters.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_is_ignored_character_by_character() {
        for (left, right) in [('a', 'A'), ('É', 'é'), ('Σ', 'σ'), ('1', '1')] {
            assert!(LetterCase::Insensitive.is_same_letter(left, right), "{left} {right}");
        }
        assert!(!LetterCase::Sensitive.is_same_letter('a', 'A'));
        assert!(
            !LetterCase::Insensitive.is_same_letter('İ', 'i'),
            "its lower-case form is two characters"
        );
    }

    #[test]
    fn ranges_admit_either_case() {
        let letters = CharacterRange { first: 'A', last: 'F' };
        assert!(letters.admits_character('b', LetterCase::Insensitive));
        assert!(!letters.admits_character('b', LetterCase::Sensitive));
        assert!(!letters.admits_character('g', LetterCase::Insensitive));
        let backwards = CharacterRange { first: 'z', last: 'a' };
        assert!(!backwards.admits_character('m', LetterCase::Insensitive));
    }
}
