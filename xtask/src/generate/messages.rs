//! Every sentence that a user can see, on one page: an editor reads it from top to bottom, and a change of wording shows
//! as a change of that page.
//!
//! The sentences are the string literals of the sources that have two words or more, in the order of the source. What
//! only a developer sees is left out: reasons of `expect`, assertions, attributes of lints.

use std::collections::BTreeSet;
use std::fmt::Write;

use brief_syntax::rules::RulePage;
use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::source;

/// The page.
pub(super) const PATH: &str = "docs/dev/messages.md";

/// Crates whose strings no user of the program sees.
const UNSEEN: [&str; 5] =
    ["crates/testkit/", "fuzz/", "xtask/", "crates/briefing/", "crates/profiles/build"];

/// Macros and methods whose strings only a developer sees.
const DEVELOPERS: [&str; 15] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "concat",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "env",
    "expect",
    "expect_err",
    "include_str",
    "option_env",
    "panic",
    "todo",
    "unreachable",
];

/// Renders the page.
pub(super) fn render_messages() -> Result<String, String> {
    let mut page = String::from(
        "# Messages\n\nEvery sentence of the programs, for an editor to read from top to bottom. Made by `cargo xtask \
         generate` from the\nsources, so a change of wording is a change of this page. The help of commands is on \
         [its own page](../reference/cli.md).\n`{}` is a value.\n",
    );
    page.push_str("\n## Rules\n\n```text\n");
    for rule in RulePage::all_pages() {
        let _ = writeln!(page, "{}: {}", rule.code, rule.summary());
    }
    page.push_str("```\n");
    for (path, tokens) in source::parse_sources()? {
        if UNSEEN.iter().any(|unseen| path.starts_with(unseen)) {
            continue;
        }
        let mut messages = Messages::default();
        messages.collect(tokens);
        if messages.lines.is_empty() {
            continue;
        }
        let _ = writeln!(page, "\n## {path}\n\n```text\n{}\n```", messages.lines.join("\n"));
    }
    Ok(page)
}

/// The sentences of one file, each once.
#[derive(Default)]
struct Messages {
    lines: Vec<String>,
    known: BTreeSet<String>,
}

impl Messages {
    fn collect(&mut self, tokens: TokenStream) {
        let tokens = source::strip_tests(tokens);
        for (at, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Literal(literal) => self.add(&literal.to_string()),
                TokenTree::Group(group) if !is_for_developers(&tokens[..at], group) => {
                    self.collect(group.stream());
                }
                _ => {}
            }
        }
    }

    fn add(&mut self, literal: &str) {
        let Some(text) = unquote(literal) else { return };
        if is_sentence(&text) && self.known.insert(text.clone()) {
            self.lines.push(text);
        }
    }
}

/// Returns whether a group with these tokens before it is the argument of something that only developers see.
fn is_for_developers(before: &[TokenTree], group: &proc_macro2::Group) -> bool {
    let is_punct = |token: Option<&TokenTree>, letter| matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == letter);
    let mut before = before.iter().rev().peekable();
    let is_macro = is_punct(before.peek().copied(), '!');
    if is_macro {
        before.next();
    }
    match before.next() {
        Some(TokenTree::Ident(name)) => DEVELOPERS.iter().any(|known| name == known),
        // Of the attributes, `#[error("…")]` has a message, and `#[arg(…)]` has names.
        Some(TokenTree::Punct(punct)) if punct.as_char() == '#' || is_macro => {
            group.delimiter() == Delimiter::Bracket
                && !group.stream().to_string().starts_with("error")
        }
        _ => false,
    }
}

/// Returns the text of a string literal on one line.
fn unquote(literal: &str) -> Option<String> {
    let (is_raw, inner) = match literal.strip_prefix('r') {
        Some(raw) => (true, raw.trim_matches('#')),
        None => (false, literal),
    };
    let inner = inner.strip_prefix('"')?.strip_suffix('"')?;
    let mut text = String::new();
    let mut letters = inner.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if !is_raw => match letters.next() {
                Some('\n') => {
                    while letters.peek().is_some_and(|letter| letter.is_whitespace()) {
                        letters.next();
                    }
                }
                Some('n' | 'r' | 't') => text.push(' '),
                Some('"') => text.push('"'),
                Some('\\') => text.push('\\'),
                Some(other) => text.extend(['\\', other]),
                None => {}
            },
            '\n' => text.push(' '),
            letter => text.push(letter),
        }
    }
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Returns whether a text reads as words for a person, and not as a list of names, a pattern or code.
fn is_sentence(text: &str) -> bool {
    const COMMON: [&str; 92] = [
        "a", "add", "after", "all", "already", "an", "and", "another", "any", "are", "as", "at",
        "be", "because", "been", "before", "both", "but", "by", "can", "cannot", "could", "did",
        "do", "does", "each", "empty", "every", "expected", "file", "files", "for", "found",
        "from", "has", "have", "if", "in", "instead", "into", "invalid", "is", "it", "its",
        "items", "line", "longer", "may", "missing", "more", "most", "must", "name", "needs", "no",
        "none", "not", "of", "on", "one", "only", "or", "other", "read", "run", "see", "set", "so",
        "such", "than", "that", "the", "their", "them", "there", "this", "to", "twice", "two",
        "unknown", "until", "use", "was", "were", "when", "which", "while", "who", "will", "with",
        "without", "you",
    ];
    let words: Vec<&str> = text.split(|letter: char| !letter.is_alphabetic()).collect();
    let words = words.into_iter().filter(|word| word.len() > 1 || *word == "a");
    let lower: Vec<String> = words.map(str::to_lowercase).collect();
    let is_code = text.starts_with(['-', '<']) || text.contains("</") || text.contains("\": ");
    lower.len() > 1 && !is_code && lower.iter().any(|word| COMMON.contains(&word.as_str()))
}
