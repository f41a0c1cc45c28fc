//! Slash commands in a text (ruling T8).
//!
//! A slash command is a line that begins with `/name`, outside code and HTML. The text is split at
//! these lines only, and the rest stays byte for byte.

use std::borrow::Cow;

use brief_syntax::markdown::Outline;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SlashPiece<'t> {
    Text {
        offset: usize,
        text: &'t [u8],
    },
    /// A line that calls a command, without its line break.
    Call(SlashCall<'t>),
}

/// A line that calls a command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SlashCall<'t> {
    pub(crate) offset: usize,
    /// The line, without its line break.
    pub(crate) line: &'t [u8],
    pub(crate) name: &'t str,
    pub(crate) arguments: CallArguments,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CallArguments {
    /// Everything after the name, as written.
    pub(crate) all: Vec<u8>,
    /// Each argument: `${1}` is the first. One with a key is included as written.
    pub(crate) positional: Vec<Vec<u8>>,
    /// The arguments with a key.
    pub(crate) named: Vec<(String, Vec<u8>)>,
}

/// Splits a text at its slash commands.
pub(crate) fn split_slash_commands(text: &[u8]) -> Vec<SlashPiece<'_>> {
    let calls = find_slash_calls(text);
    let mut pieces = Vec::with_capacity(calls.len() * 2 + 1);
    let mut at = 0;
    for call in calls {
        if call.offset > at {
            pieces.push(SlashPiece::Text { offset: at, text: &text[at..call.offset] });
        }
        at = call.offset + call.line.len();
        pieces.push(SlashPiece::Call(call));
    }
    if at < text.len() {
        pieces.push(SlashPiece::Text { offset: at, text: &text[at..] });
    }
    pieces
}

fn find_slash_calls(text: &[u8]) -> Vec<SlashCall<'_>> {
    let mut candidates: Vec<(usize, SlashCall<'_>)> = Vec::new();
    for (number, (offset, line)) in split_lines(text).enumerate() {
        candidates.extend(parse_slash_call(offset, line).map(|call| (number, call)));
    }
    if candidates.is_empty() {
        return Vec::new();
    }
    // The outline needs text; invalid bytes change its offsets, but not its lines.
    let prose = String::from_utf8_lossy(text);
    let outline = Outline::parse(&prose);
    let starts: Cow<'_, [usize]> = match &prose {
        Cow::Borrowed(_) => Cow::Borrowed(&[]),
        Cow::Owned(prose) => split_lines(prose.as_bytes()).map(|(offset, _)| offset).collect(),
    };
    candidates.retain(|(number, call)| {
        let offset = starts.get(*number).copied().unwrap_or(call.offset);
        !outline.is_opaque(offset)
    });
    candidates.into_iter().map(|(_, call)| call).collect()
}

/// Returns the lines with their offsets, without line breaks and a byte order mark.
fn split_lines(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let start = if text.starts_with("\u{feff}".as_bytes()) { 3 } else { 0 };
    let mut offset = start;
    text[start..].split_inclusive(|&byte| byte == b'\n').map(move |line| {
        let at = offset;
        offset += line.len();
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        (at, line.strip_suffix(b"\r").unwrap_or(line))
    })
}

/// Parses a line that calls a command. A path (`/usr/bin`) and a comment (`// …`) are not calls.
fn parse_slash_call(offset: usize, line: &[u8]) -> Option<SlashCall<'_>> {
    let rest = line.strip_prefix(b"/")?;
    let end = rest.iter().position(|byte| matches!(byte, b' ' | b'\t')).unwrap_or(rest.len());
    let name = str::from_utf8(&rest[..end]).ok()?;
    let is_name = !name.is_empty()
        && !matches!(name, "." | "..")
        && !name.contains(['/', '"', '=', '\\', '\0'])
        && !name.contains(char::is_control);
    is_name.then(|| SlashCall { offset, line, name, arguments: CallArguments::parse(&rest[end..]) })
}

impl CallArguments {
    /// Parses `key="value"`, `key=value`, words and quoted words. A quote that is never closed is
    /// ordinary text.
    pub(crate) fn parse(text: &[u8]) -> CallArguments {
        let text = text.trim_ascii();
        let mut arguments = CallArguments { all: text.to_vec(), ..CallArguments::default() };
        let mut rest = text;
        while !rest.is_empty() {
            let key_length = key_length(rest);
            let value_at = key_length.map_or(0, |length| length + 1);
            let (value, length) = parse_value(&rest[value_at..]);
            let end = value_at + length;
            match key_length.and_then(|length| str::from_utf8(&rest[..length]).ok()) {
                Some(key) => {
                    arguments.positional.push(rest[..end].to_vec());
                    arguments.named.push((key.to_owned(), value));
                }
                None => arguments.positional.push(value),
            }
            rest = rest[end..].trim_ascii_start();
        }
        arguments
    }

    /// Returns the value for `${name}`: a key, a position from 1, or `ARGUMENTS`. The last of equal
    /// keys counts.
    pub(crate) fn get(&self, name: &str) -> Option<&[u8]> {
        let by_key = |matches: &dyn Fn(&str) -> bool| {
            let mut named = self.named.iter().rev();
            named.find(|(key, _)| matches(key)).map(|(_, value)| value.as_slice())
        };
        by_key(&|key| key == name)
            .or_else(|| by_key(&|key| key.to_lowercase() == name.to_lowercase()))
            .or_else(|| (name == "ARGUMENTS").then_some(self.all.as_slice()))
            .or_else(|| {
                let position: usize = name.parse().ok()?;
                self.positional.get(position.checked_sub(1)?).map(Vec::as_slice)
            })
    }
}

/// Returns the length of a key before `=`; `None` for a word without one.
fn key_length(text: &[u8]) -> Option<usize> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
    let length = text.iter().position(|byte| !is_part(byte))?;
    (length > 0 && text[length] == b'=').then_some(length)
}

/// Reads a value and returns the number of its bytes.
fn parse_value(text: &[u8]) -> (Vec<u8>, usize) {
    if let Some(&quote @ (b'"' | b'\'')) = text.first()
        && let Some((value, length)) = parse_quoted(text, quote)
    {
        return (value, length);
    }
    let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
    (text[..end].to_vec(), end)
}

/// Reads a quoted value; the closing quote must end the word.
fn parse_quoted(text: &[u8], quote: u8) -> Option<(Vec<u8>, usize)> {
    let mut value = Vec::new();
    let mut at = 1;
    loop {
        match (*text.get(at)?, text.get(at + 1)) {
            (b'\\', Some(&next)) if quote == b'"' && (next == b'"' || next == b'\\') => {
                value.push(next);
                at += 2;
            }
            (byte, next) if byte == quote => {
                let ends_word = next.is_none_or(u8::is_ascii_whitespace);
                return ends_word.then_some((value, at + 1));
            }
            (byte, _) => {
                value.push(byte);
                at += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let pieces = split_slash_commands(text.as_bytes());
        let calls = pieces.iter().filter_map(|piece| match piece {
            SlashPiece::Call(call) => Some(call.name.to_owned()),
            SlashPiece::Text { .. } => None,
        });
        calls.collect()
    }

    #[test]
    fn a_command_begins_its_line_outside_code_and_html() {
        assert_eq!(names("/a\ntext\n/b x\r\n\n/c"), ["a", "b", "c"]);
        assert_eq!(names("\u{feff}/a\n"), ["a"]);
        for text in [
            " /a\n",
            "text /a\n",
            "> /a\n",
            "- /a\n",
            "```\n/a\n```\n",
            "~~~\n/a\n",
            "<div>\n/a\n</div>\n",
            "<!--\n/a\n-->\n",
            "`code\n/a\ncode`\n",
            "// comment\n",
            "/ x\n",
            "/\n",
            "/usr/bin/env x\n",
            "/home/coder/.config is x\n",
            "/^regex$/\n",
            "/a=b\n",
            "/../x\n",
            "/..\n",
        ] {
            assert_eq!(names(text), [""; 0], "{text:?}");
        }
    }

    #[test]
    fn text_that_is_not_utf8_moves_no_line() {
        let text = b"\xff\xfe\xff `x\n```\n/no\n```\n\xe9\n/yes\n";
        let calls: Vec<_> = find_slash_calls(text).into_iter().map(|call| call.name).collect();
        assert_eq!(calls, ["yes"]);
    }

    #[test]
    fn arguments_have_keys_or_positions() {
        let arguments = CallArguments::parse(
            br#" one "two three" env="pro\"d" path=src/main.go it's 5" a='b c' q="open x"#,
        );
        for (name, value) in [
            ("1", "one"),
            ("2", "two three"),
            ("3", r#"env="pro\"d""#),
            ("env", r#"pro"d"#),
            ("ENV", r#"pro"d"#),
            ("path", "src/main.go"),
            ("5", "it's"),
            ("6", "5\""),
            ("a", "b c"),
            ("q", "\"open"),
            ("9", "x"),
        ] {
            let found = arguments.get(name).map(String::from_utf8_lossy);
            assert_eq!(found.as_deref(), Some(value), "{name}");
        }
        for name in ["0", "10", "missing", "", "-1"] {
            assert_eq!(arguments.get(name), None, "{name}");
        }
        assert_eq!(CallArguments::parse(b"  a  b ").get("ARGUMENTS"), Some(b"a  b".as_slice()));
    }

    /// Round trip: the pieces of any text, joined, are that text.
    #[test]
    fn pieces_put_together_are_the_text() {
        arbtest::arbtest(|bytes| {
            const WORDS: [&[u8]; 12] = [
                b"/cmd",
                b"\n",
                b"```\n",
                b" ",
                b"\"",
                b"//",
                b"<p>",
                b"\r\n",
                b"\xff",
                b"a=",
                b"`",
                b"\xef\xbb\xbf",
            ];
            let mut text: Vec<u8> = Vec::new();
            for _ in 0..bytes.int_in_range(0..=30)? {
                text.extend_from_slice(bytes.choose(&WORDS)?);
            }
            let mut joined: Vec<u8> = Vec::new();
            for piece in split_slash_commands(&text) {
                match piece {
                    SlashPiece::Text { offset, text } => {
                        assert_eq!(offset, joined.len());
                        joined.extend_from_slice(text);
                    }
                    SlashPiece::Call(call) => {
                        assert_eq!(call.offset, joined.len());
                        joined.extend_from_slice(call.line);
                    }
                }
            }
            assert_eq!(joined, text);
            Ok(())
        });
    }
}
