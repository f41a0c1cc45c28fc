//! The files that a Python program opens, as far as its text names them.
//!
//! Only names that stand in the text count: a literal, or a variable that is set once, to a literal.

use std::collections::HashMap;

use crate::shell::ShellWord;

use super::FileUse;

/// Returns whether a program is Python.
pub(super) fn is_python(name: &str) -> bool {
    let version = name.strip_prefix("python").or_else(|| name.strip_prefix("pypy"));
    version.is_some_and(|version| version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
}

/// Returns the files of a program that is given after `-c`, or as the input.
pub(super) fn collect_python_effects(
    words: &[ShellWord],
    input: Option<&str>,
) -> Vec<(String, FileUse)> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.literal() {
            Some("-c") => {
                return words
                    .next()
                    .and_then(ShellWord::literal)
                    .map_or_else(Vec::new, collect_opened_files);
            }
            Some("-") => break,
            // An option without a value; any other word is a file with a program.
            Some(option) if option.starts_with('-') && !matches!(option, "-m" | "-W" | "-X") => {}
            _ => return Vec::new(),
        }
    }
    input.map_or_else(Vec::new, collect_opened_files)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'p> {
    Name(&'p str),
    /// A literal without escapes and without parts that are computed.
    Text(&'p str),
    Sign(char),
    Line,
}

/// Returns the files that a program opens.
fn collect_opened_files(program: &str) -> Vec<(String, FileUse)> {
    let tokens = tokenize_program(program);
    // Names are relative to a directory that is not known then.
    if tokens.contains(&Token::Name("chdir")) {
        return Vec::new();
    }
    let names = collect_literals(&tokens);
    let mut found = Vec::new();
    for (place, token) in tokens.iter().enumerate() {
        let (before, after) = (&tokens[..place], &tokens[place + 1..]);
        let touch = match token {
            Token::Name("open") if before.last() != Some(&Token::Sign('.')) => {
                parse_open_call(after, &names)
            }
            Token::Name("remove" | "unlink")
                if before.ends_with(&[Token::Name("os"), Token::Sign('.')]) =>
            {
                parse_first_argument(after, &names).map(|(path, _)| (path, FileUse::Delete))
            }
            Token::Name(method) => method_effect(method, after)
                .and_then(|how| Some((find_method_path(before, &names)?, how))),
            _ => None,
        };
        found.extend(touch.map(|(path, how)| (path.to_owned(), how)));
    }
    found
}

/// Returns the file of `open(…)` and what is done with it.
fn parse_open_call<'p>(
    after: &[Token<'p>],
    names: &HashMap<&str, &'p str>,
) -> Option<(&'p str, FileUse)> {
    let (path, rest) = parse_first_argument(after, names)?;
    Some((path, mode_effect(rest)?))
}

/// Returns the effect of the mode that the rest of a call's arguments gives; `None` if it is computed.
fn mode_effect(rest: &[Token<'_>]) -> Option<FileUse> {
    let mode = match rest {
        [Token::Sign(','), Token::Text(mode), ..]
        | [Token::Sign(','), Token::Name("mode"), Token::Sign('='), Token::Text(mode), ..] => mode,
        [Token::Sign(','), Token::Name("mode") | Token::Sign(_), ..] => return None,
        [Token::Sign(','), Token::Name(_), Token::Sign('='), ..] | [Token::Sign(')'), ..] => "r",
        _ => return None,
    };
    Some(if mode.contains(['w', 'a', 'x', '+']) { FileUse::Write } else { FileUse::Read })
}

/// Returns the first argument of a call, if its text is certain, and the rest of the call.
fn parse_first_argument<'t, 'p>(
    after: &'t [Token<'p>],
    names: &HashMap<&str, &'p str>,
) -> Option<(&'p str, &'t [Token<'p>])> {
    let [Token::Sign('('), first, rest @ ..] = after else { return None };
    let path = match first {
        Token::Text(text) => text,
        Token::Name(name) => names.get(name)?,
        _ => return None,
    };
    matches!(rest.first(), Some(Token::Sign(',' | ')'))).then_some((path, rest))
}

/// Returns what a method of a path does with its file.
fn method_effect(method: &str, after: &[Token<'_>]) -> Option<FileUse> {
    let [Token::Sign('('), rest @ ..] = after else { return None };
    match method {
        "write_text" | "write_bytes" | "touch" => Some(FileUse::Write),
        "read_text" | "read_bytes" => Some(FileUse::Read),
        "unlink" => Some(FileUse::Delete),
        "open" => match rest {
            [Token::Text(_) | Token::Name("mode"), ..] => {
                let rest = [&[Token::Sign(',')], rest].concat();
                mode_effect(&rest)
            }
            [Token::Sign(')'), ..] => Some(FileUse::Read),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the file of the path before a method: `Path("x").` or `name.`.
fn find_method_path<'p>(before: &[Token<'p>], names: &HashMap<&str, &'p str>) -> Option<&'p str> {
    match before {
        [
            ..,
            Token::Name("Path"),
            Token::Sign('('),
            Token::Text(path),
            Token::Sign(')'),
            Token::Sign('.'),
        ] => Some(path),
        [
            ..,
            Token::Name("Path"),
            Token::Sign('('),
            Token::Name(name),
            Token::Sign(')'),
            Token::Sign('.'),
        ] => names.get(name).copied(),
        [others @ .., Token::Name(name), Token::Sign('.')] => {
            (others.last() != Some(&Token::Sign('.'))).then(|| names.get(name).copied())?
        }
        _ => None,
    }
}

/// Returns the variables that are set once, to a literal or a path of one.
fn collect_literals<'p>(tokens: &[Token<'p>]) -> HashMap<&'p str, &'p str> {
    let mut names: HashMap<&str, Option<&str>> = HashMap::new();
    let mut lines = tokens.split(|token| matches!(token, Token::Line | Token::Sign(';')));
    let set = lines.by_ref().filter_map(|line| match line {
        [Token::Name(name), Token::Sign('='), value @ ..]
            if value.first() != Some(&Token::Sign('=')) =>
        {
            Some((*name, value))
        }
        _ => None,
    });
    for (name, value) in set {
        let text = match value {
            [Token::Text(text)]
            | [Token::Name("Path"), Token::Sign('('), Token::Text(text), Token::Sign(')')]
            | [
                Token::Name("pathlib"),
                Token::Sign('.'),
                Token::Name("Path"),
                Token::Sign('('),
                Token::Text(text),
                Token::Sign(')'),
            ] => Some(*text),
            _ => None,
        };
        names.entry(name).and_modify(|known| *known = None).or_insert(text);
    }
    names.into_iter().filter_map(|(name, text)| Some((name, text?))).collect()
}

/// Splits a program into what matters here.
fn tokenize_program(program: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = program;
    while let Some(first) = rest.chars().next() {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let mut taken = first.len_utf8();
        match first {
            '#' => taken = rest.find('\n').unwrap_or(rest.len()),
            '\n' => tokens.push(Token::Line),
            '\'' | '"' => taken = scan_literal(rest, &mut tokens),
            _ if is_name(first) => {
                taken = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
                let word = &rest[..taken];
                let is_prefix = rest[taken..].starts_with(['\'', '"']) && word.len() <= 2;
                if is_prefix {
                    taken += scan_literal(&rest[taken..], &mut tokens);
                    if !matches!(word, "r" | "R" | "u")
                        && let Some(last) = tokens.last_mut()
                    {
                        // It is computed, or no text.
                        *last = Token::Sign('f');
                    }
                } else {
                    tokens.push(Token::Name(word));
                }
            }
            _ if first.is_whitespace() => {}
            _ => tokens.push(Token::Sign(first)),
        }
        rest = &rest[taken..];
    }
    tokens
}

/// Takes a literal; returns its length.
fn scan_literal<'p>(rest: &'p str, tokens: &mut Vec<Token<'p>>) -> usize {
    let quote = &rest[..1];
    let triple = quote.repeat(3);
    let mark = if rest.starts_with(&triple) { triple.as_str() } else { quote };
    let inner = &rest[mark.len()..];
    let mut place = 0;
    while let Some(found) = inner[place..].find(['\\', '\n', '\'', '"']) {
        place += found;
        if inner[place..].starts_with(mark) {
            break;
        }
        let skipped = if inner[place..].starts_with('\\') { 2 } else { 1 };
        place = (place + skipped).min(inner.len());
        while !inner.is_char_boundary(place) {
            place += 1;
        }
    }
    if !inner[place..].starts_with(mark) {
        place = inner.len();
    }
    let content = &inner[..place];
    let is_certain = !content.is_empty() && !content.contains(['\\', '\n', '$', '`']);
    tokens.push(if is_certain { Token::Text(content) } else { Token::Sign('f') });
    (mark.len() + place + mark.len()).min(rest.len())
}
