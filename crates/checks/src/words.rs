//! Lists of words that texts are compared with, written as text and split when the program is compiled.

/// Splits a list of words at its blanks.
pub(crate) const fn split_words<const N: usize>(list: &'static str) -> [&'static str; N] {
    split_list(list, b' ')
}

/// Splits a list of phrases at its bars. The blanks around a phrase belong to it.
pub(crate) const fn split_phrases<const N: usize>(list: &'static str) -> [&'static str; N] {
    split_list(list, b'|')
}

const fn split_list<const N: usize>(mut rest: &'static str, separator: u8) -> [&'static str; N] {
    let mut parts = [""; N];
    let mut count = 0;
    while count < N {
        let mut end = 0;
        while end < rest.len() && rest.as_bytes()[end] != separator {
            end += 1;
        }
        assert!(end > 0 && (end < rest.len()) == (count + 1 < N), "another number of parts");
        let (part, behind) = rest.split_at(end);
        parts[count] = part;
        rest = if behind.is_empty() { behind } else { behind.split_at(1).1 };
        count += 1;
    }
    parts
}
