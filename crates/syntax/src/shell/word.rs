//! Reads one word: quotes, escapes and expansions.

use super::reader::Reader;
use super::{ShellOrigin, ShellWord, WordForm};
use crate::Span;

/// A word while it is read.
struct PartialWord {
    text: String,
    form: WordForm,
    is_quoted: bool,
    /// The offset of the first letter, and that behind the last one.
    piece: Option<(usize, usize)>,
    is_verbatim: bool,
}

impl PartialWord {
    fn new() -> PartialWord {
        PartialWord {
            text: String::new(),
            form: WordForm::Literal,
            is_quoted: false,
            piece: None,
            is_verbatim: true,
        }
    }

    /// Adds a part that stands in the text at an offset.
    fn push_part(&mut self, part: &str, at: usize) {
        if part.is_empty() {
            return;
        }
        let (start, end) = self.piece.unwrap_or((at, at));
        self.is_verbatim &= end == at;
        self.piece = Some((start, at + part.len()));
        self.text.push_str(part);
    }

    /// Adds a letter that an escape stands for.
    fn push_escaped(&mut self, letter: char) {
        self.is_verbatim = false;
        self.text.push(letter);
    }

    fn raise_form(&mut self, form: WordForm) {
        self.form = self.form.max(form);
    }
}

/// Returns whether a byte means itself in a word without quotes.
fn is_plain(byte: u8) -> bool {
    !matches!(
        byte,
        b' ' | b'\t'
            | b'\n'
            | b'\r'
            | b';'
            | b'|'
            | b'&'
            | b'('
            | b')'
            | b'<'
            | b'>'
            | b'\''
            | b'"'
            | b'\\'
            | b'$'
            | b'`'
            | b'*'
            | b'?'
            | b'['
            | b'{'
            | b'~'
    )
}

impl Reader<'_> {
    /// Reads a word. It is empty where none begins.
    pub(super) fn read_word(&mut self) -> ShellWord {
        let start = self.at;
        let mut word = PartialWord::new();
        while let Some(byte) = self.peek() {
            match byte {
                b'\r' if self.rest().starts_with("\r\n") => break,
                b'<' | b'>' if self.at == start && self.peek_at(1) == Some(b'(') => {
                    self.at += 2;
                    self.read_substitution();
                    word.push_part(&self.text[start..self.at], start);
                    word.raise_form(WordForm::Expansion);
                }
                b' ' | b'\t' | b'\n' | b';' | b'|' | b'&' | b')' | b'<' | b'>' => break,
                b'(' if !self.read_bracket(&mut word) => break,
                b'(' => {}
                b'\'' => self.single_quoted(&mut word),
                b'"' => {
                    self.at += 1;
                    word.is_quoted = true;
                    self.double_quoted(&mut word, true);
                }
                b'\\' => self.read_escape(&mut word),
                b'$' => self.read_dollar(&mut word, false),
                b'`' => self.read_backticks(&mut word),
                b'*' | b'?' | b'[' => {
                    word.raise_form(WordForm::Pattern);
                    self.take_letters(&mut word, 1);
                }
                b'{' => {
                    let next = self.peek_at(1);
                    let is_alone = next.is_none_or(|next| !is_plain(next) && next != b'$');
                    if !is_alone && next != Some(b'}') {
                        word.raise_form(WordForm::Pattern);
                    }
                    self.take_letters(&mut word, 1);
                }
                b'~' => {
                    // It is expanded at the beginning of a word, and of the parts of a value.
                    if word.text.is_empty() || word.text.ends_with(['=', ':']) {
                        word.raise_form(WordForm::Expansion);
                    }
                    self.take_letters(&mut word, 1);
                }
                _ => {
                    let rest = self.rest().as_bytes();
                    let length = rest.iter().position(|byte| !is_plain(*byte));
                    // A carriage return inside a line is an ordinary letter.
                    self.take_letters(&mut word, length.unwrap_or(rest.len()).max(1));
                }
            }
        }
        if !word.is_quoted && matches!(word.text.as_str(), "[" | "[[") {
            word.form = WordForm::Literal;
        }
        let verbatim = word.piece.filter(|_| word.is_verbatim).map(|(start, _)| start);
        ShellWord {
            span: self.spans.span(start, self.at),
            verbatim,
            text: word.text,
            form: word.form,
            is_quoted: word.is_quoted,
        }
    }

    /// Takes letters as they stand.
    fn take_letters(&mut self, word: &mut PartialWord, length: usize) {
        let end = self.at + length;
        word.push_part(&self.text[self.at..end], self.at);
        self.at = end;
    }

    /// Takes the bracket of a list of values (`a=(…)`), or of a pattern (`@(a|b)`); false if it is neither.
    fn read_bracket(&mut self, word: &mut PartialWord) -> bool {
        let last = word.text.as_bytes().last();
        if word.is_quoted || !matches!(last, Some(b'=' | b'@' | b'+' | b'?' | b'*' | b'!')) {
            return false;
        }
        // `! (a)` may be written without the blank.
        if word.text == "!" && self.level.command.words.is_empty() {
            return false;
        }
        let start = self.at;
        self.at += 1;
        // Without its end it reaches to that of the text.
        self.is_complete &= self.skip_words();
        word.push_part(&self.text[start..self.at], start);
        word.raise_form(WordForm::Expansion);
        true
    }

    /// Skips words and their separators, up to and with a closing bracket.
    fn skip_words(&mut self) -> bool {
        if !self.enter_nesting() {
            return false;
        }
        let mut is_closed = false;
        while let Some(byte) = self.peek() {
            if byte == b')' {
                self.at += 1;
                is_closed = true;
                break;
            }
            let before = self.at;
            if byte == b'(' {
                self.at += 1;
                if !self.skip_words() {
                    break;
                }
            } else {
                self.read_word();
            }
            if self.at == before {
                self.at += 1;
            }
        }
        self.depth -= 1;
        is_closed
    }

    fn single_quoted(&mut self, word: &mut PartialWord) {
        self.at += 1;
        word.is_quoted = true;
        let length = memchr::memchr(b'\'', self.rest().as_bytes());
        self.take_letters(word, length.unwrap_or(self.rest().len()));
        self.close_quote(word, length.is_some());
    }

    /// Steps over a closing quote, or notes that there is none.
    fn close_quote(&mut self, word: &mut PartialWord, is_closed: bool) {
        if is_closed {
            self.at += 1;
        } else {
            word.raise_form(WordForm::Expansion);
            self.is_complete = false;
        }
    }

    /// Reads a text in double quotes up to the closing one, or to the end where quotes mean nothing.
    fn double_quoted(&mut self, word: &mut PartialWord, has_quotes: bool) {
        loop {
            let rest = self.rest();
            let end = memchr::memchr3(b'"', b'\\', b'$', rest.as_bytes()).unwrap_or(rest.len());
            let end = memchr::memchr(b'`', &rest.as_bytes()[..end]).unwrap_or(end);
            self.take_letters(word, end);
            match self.peek() {
                None if has_quotes => return self.close_quote(word, false),
                None => return,
                Some(b'"') if has_quotes => return self.close_quote(word, true),
                Some(b'\\') => match self.peek_at(1) {
                    Some(b'\n') => self.at += 2,
                    Some(b'$' | b'`' | b'"' | b'\\') => {
                        self.at += 1;
                        self.take_letters(word, 1);
                    }
                    _ => self.take_letters(word, 1),
                },
                Some(b'$') => self.read_dollar(word, true),
                Some(b'`') => self.read_backticks(word),
                Some(_) => self.take_letters(word, 1),
            }
        }
    }

    fn read_escape(&mut self, word: &mut PartialWord) {
        let rest = &self.rest()[1..];
        if rest.starts_with('\n') || rest.starts_with("\r\n") {
            self.at += if rest.starts_with('\r') { 3 } else { 2 };
            return;
        }
        // At the end of the text it stands for itself.
        let Some(letter) = rest.chars().next() else { return self.take_letters(word, 1) };
        self.at += 1;
        word.is_quoted = true;
        self.take_letters(word, letter.len_utf8());
    }

    /// Reads what begins with `$`.
    fn read_dollar(&mut self, word: &mut PartialWord, is_in_quotes: bool) {
        let start = self.at;
        match self.peek_at(1) {
            Some(b'(') => {
                self.at += 1;
                if !(self.peek_at(1) == Some(b'(') && self.skip_arithmetic()) {
                    self.at += 1;
                    self.read_substitution();
                }
            }
            Some(b'{') => {
                self.at += 2;
                self.read_parameter(is_in_quotes);
            }
            Some(b'\'') if !is_in_quotes => return self.escaped_quoted(word),
            Some(b'"') if !is_in_quotes => {
                self.at += 1;
                return;
            }
            Some(b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!' | b'_') => self.at += 2,
            Some(next) if next.is_ascii_alphanumeric() => self.at += 2,
            // It stands for itself.
            _ => return self.take_letters(word, 1),
        }
        word.push_part(&self.text[start..self.at], start);
        word.raise_form(WordForm::Expansion);
    }

    /// Skips the rest of `${…}`, and reads the substitutions in it.
    fn read_parameter(&mut self, is_in_quotes: bool) {
        if !self.enter_nesting() {
            return;
        }
        let mut ignored = PartialWord::new();
        loop {
            match self.peek() {
                None => {
                    self.is_complete = false;
                    break;
                }
                Some(b'}') => {
                    self.at += 1;
                    break;
                }
                Some(b'\\') => self.read_escape(&mut ignored),
                Some(b'\'') if !is_in_quotes => self.single_quoted(&mut ignored),
                Some(b'\'') => self.at += 1,
                Some(b'"') => {
                    self.at += 1;
                    self.double_quoted(&mut ignored, true);
                }
                Some(b'$') => self.read_dollar(&mut ignored, true),
                Some(b'`') => self.read_backticks(&mut ignored),
                Some(_) => {
                    let rest = self.rest().as_bytes();
                    let is_sign =
                        |byte: &u8| matches!(byte, b'}' | b'\\' | b'\'' | b'"' | b'$' | b'`');
                    self.at += rest.iter().position(is_sign).unwrap_or(rest.len());
                }
            }
        }
        self.depth -= 1;
    }

    /// Reads `$'…'`, whose escapes are those of C.
    fn escaped_quoted(&mut self, word: &mut PartialWord) {
        self.at += 2;
        word.is_quoted = true;
        loop {
            let rest = self.rest();
            let length = memchr::memchr2(b'\'', b'\\', rest.as_bytes());
            self.take_letters(word, length.unwrap_or(rest.len()));
            match self.peek() {
                Some(b'\\') => {
                    let (letter, length) = escaped_letter(&self.rest()[1..]);
                    self.at += 1 + length;
                    match letter {
                        Some(letter) => word.push_escaped(letter),
                        None => word.raise_form(WordForm::Expansion),
                    }
                }
                quote => return self.close_quote(word, quote.is_some()),
            }
        }
    }

    /// Reads a command in backticks.
    fn read_backticks(&mut self, word: &mut PartialWord) {
        let start = self.at;
        self.at += 1;
        let mut has_escapes = false;
        let length = loop {
            let Some(found) = memchr::memchr2(b'`', b'\\', self.rest().as_bytes()) else {
                self.is_complete = false;
                self.at = self.text.len();
                break self.at - start - 1;
            };
            self.at += found;
            if self.peek() == Some(b'`') {
                break self.at - start - 1;
            }
            has_escapes = true;
            self.at += 1;
            self.at += self.rest().chars().next().map_or(0, char::len_utf8);
        };
        let inner = start + 1;
        let text = self.text;
        let line = &text[inner..inner + length];
        if has_escapes {
            let line = line.replace("\\`", "`").replace("\\$", "$").replace("\\\\", "\\");
            let place = self.spans.with_whole_span(Span::new(start, self.at));
            self.inner_line(&line, place, ShellOrigin::Substitution);
        } else {
            self.inner_line(line, self.spans.shifted_by(inner), ShellOrigin::Substitution);
        }
        self.at = (self.at + 1).min(self.text.len());
        word.push_part(&text[start..self.at], start);
        word.raise_form(WordForm::Expansion);
    }
}

/// Reads the substitutions of a here-document, which is all of the text; true if nothing in it is expanded.
pub(super) fn read_here_text(reader: &mut Reader<'_>) -> bool {
    let mut word = PartialWord::new();
    while reader.at < reader.text.len() {
        reader.double_quoted(&mut word, false);
    }
    word.form == WordForm::Literal
}

/// Returns the letter that an escape of `$'…'` stands for, and the length of the escape without its backslash.
fn escaped_letter(rest: &str) -> (Option<char>, usize) {
    let Some(first) = rest.chars().next() else { return (None, 0) };
    let number = |skipped: usize, most: usize, radix: u32| {
        let digits = rest[skipped..].bytes().take(most);
        let length = digits.take_while(|digit| (*digit as char).is_digit(radix)).count();
        let digits = &rest[skipped..skipped + length];
        let letter = u32::from_str_radix(digits, radix).ok().and_then(char::from_u32);
        // Bytes that are no text by themselves, and the end of a text, are not followed.
        (
            letter.filter(|letter| *letter != '\0' && (letter.is_ascii() || most > 3)),
            skipped + length,
        )
    };
    let letter = match first {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'a' => '\u{7}',
        'b' => '\u{8}',
        'e' | 'E' => '\u{1b}',
        'f' => '\u{c}',
        'v' => '\u{b}',
        '\\' | '\'' | '"' | '?' => first,
        'x' => return number(1, 2, 16),
        'u' => return number(1, 4, 16),
        'U' => return number(1, 8, 16),
        '0'..='7' => return number(0, 3, 8),
        _ => return (None, first.len_utf8()),
    };
    (Some(letter), 1)
}
