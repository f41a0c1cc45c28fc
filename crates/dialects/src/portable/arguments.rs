//! The arguments in the body of a command.
//!
//! Each client has a syntax of its own; this is ours. `$ARGUMENTS` is all that the user wrote after the
//! command, `$1` to `$9` are its words, and `\$` before one of these is a dollar sign. In code they mean the
//! same: most commands hand an argument to a program.

use brief_syntax::Span;

/// The most arguments that have a number.
pub const MOST_ARGUMENTS: usize = 9;

/// The name of all arguments together.
const ALL: &str = "$ARGUMENTS";

/// A part of a body that stands for an argument, or looks like one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argument {
    /// All arguments, as one text.
    All,
    /// One of them, from 1.
    Position(usize),
    /// A number without an argument: the command declares fewer.
    Unknown(usize),
    /// A dollar sign that is text: an escaped one, or that of a price. The span ends after it.
    Dollar,
}

/// Finds the arguments of a body, in order; `declared` is the number of declared ones, none for any.
pub fn find_arguments(body: &str, declared: usize) -> Vec<(Span, Argument)> {
    let mut found = Vec::new();
    let mut start = 0;
    while let Some(offset) = body[start..].find('$').map(|offset| start + offset) {
        let rest = &body[offset..];
        let escaped = body[..offset].ends_with('\\') && offset > start;
        let (length, argument) = match parse_argument(rest, declared) {
            None => {
                start = offset + 1;
                continue;
            }
            Some(_) if escaped => {
                found.push((Span::new(offset - 1, offset + 1), Argument::Dollar));
                start = offset + 1;
                continue;
            }
            Some(here) => here,
        };
        found.push((Span::new(offset, offset + length), argument));
        start = offset + length;
    }
    found
}

/// Returns what a text that begins with a dollar sign begins with, and its length.
fn parse_argument(rest: &str, declared: usize) -> Option<(usize, Argument)> {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    if let Some(after) = rest.strip_prefix(ALL) {
        return (!after.starts_with(is_word)).then_some((ALL.len(), Argument::All));
    }
    let digits = &rest[1..];
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    let after = &digits[count..];
    // `$1.50` and `$1,000` are prices (ruling P3), and a client may see an argument in them.
    let is_price = || {
        let rest = after.strip_prefix(['.', ',']);
        rest.is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()))
    };
    match digits[..count].parse::<usize>() {
        Err(_) => None,
        Ok(0) => Some((1, Argument::Dollar)),
        Ok(_) if count > 1 || is_price() || after.starts_with(is_word) => {
            Some((1, Argument::Dollar))
        }
        Ok(number) if declared > 0 && number > declared => Some((2, Argument::Unknown(number))),
        Ok(number) => Some((2, Argument::Position(number))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(body: &str, declared: usize) -> Vec<(&str, Argument)> {
        find_arguments(body, declared)
            .into_iter()
            .map(|(span, one)| (&body[span.start..span.end], one))
            .collect()
    }

    #[test]
    fn arguments_are_found_in_text_and_code() {
        use Argument::{All, Dollar, Position, Unknown};
        assert_eq!(
            found("Fix $1 in `x $2`: $ARGUMENTS.", 0),
            [("$1", Position(1)), ("$2", Position(2)), ("$ARGUMENTS", All)]
        );
        assert_eq!(found("$1 $2", 1), [("$1", Position(1)), ("$2", Unknown(2))]);
        assert_eq!(found(r"\$1 and \\x \$ARGUMENTS", 0), [(r"\$", Dollar), (r"\$", Dollar)]);
        for price in ["$1.50", "$1,000", "$100", "$5x", "$0"] {
            assert_eq!(found(price, 0), [("$", Dollar)], "{price}");
        }
        for text in ["$", "$x", "$ARGUMENTS_1", "${1}", "a$", "$é"] {
            assert_eq!(found(text, 0), [], "{text}");
        }
        assert_eq!(found("$1. Then $2, too", 0), [("$1", Position(1)), ("$2", Position(2))]);
        assert_eq!(found("$1$2", 0), [("$1", Position(1)), ("$2", Position(2))]);
    }

    #[test]
    fn any_text_is_read() {
        arbtest::arbtest(|input| {
            let body: String = input.arbitrary()?;
            let mut end = 0;
            for (span, _) in find_arguments(&body, 2) {
                assert!(span.start >= end && body.is_char_boundary(span.end));
                end = span.end;
            }
            Ok(())
        });
    }
}
