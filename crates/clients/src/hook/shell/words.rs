//! Splits a command line into simple commands, and those into words.

use super::programs::READ;
use crate::hook::ToolEffect;

pub(super) enum LinePart {
    Command(ShellCommand),
    /// The start of a group in parentheses, which is a shell of its own.
    Open,
    /// The end of such a group.
    Close,
}

/// A program with its operands and redirections.
#[derive(Default)]
pub(super) struct ShellCommand {
    pub(super) words: Vec<ShellWord>,
    pub(super) redirects: Vec<(ToolEffect, ShellWord)>,
    /// True if its input is the output of another command.
    pub(super) is_piped_into: bool,
    /// The text of its input, if the line has it: a here-document or a here-string.
    pub(super) input: Option<String>,
}

pub(super) enum ShellWord {
    /// A word with certain text.
    Plain(String),
    /// A word that a shell would expand to an unknown text.
    Unclear {
        /// True if it begins like an option, as no operand does.
        is_option: bool,
    },
}

impl ShellWord {
    /// Returns the text, if it is certain.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            ShellWord::Plain(text) => Some(text),
            ShellWord::Unclear { .. } => None,
        }
    }
}

/// Splits a command line.
pub(super) fn split(line: &str) -> Vec<LinePart> {
    let mut lexer = Lexer {
        rest: line,
        steps: Vec::new(),
        command: ShellCommand::default(),
        texts: Vec::new(),
    };
    lexer.run();
    lexer.steps
}

struct Lexer<'l> {
    rest: &'l str,
    steps: Vec<LinePart>,
    command: ShellCommand,
    /// Here-documents whose text begins on the next line.
    texts: Vec<HereDocument>,
}

struct HereDocument {
    end: String,
    may_be_indented: bool,
    /// The place of its command among the parts of the line.
    command: usize,
}

impl Lexer<'_> {
    fn run(&mut self) {
        while let Some(first) = self.rest.chars().next() {
            match first {
                ' ' | '\t' => self.skip(1),
                '\\' if self.rest.starts_with("\\\n") => self.skip(2),
                '\n' => {
                    self.skip(1);
                    self.end_command();
                    self.take_texts();
                }
                ';' => {
                    self.skip(1);
                    self.end_command();
                }
                '&' => {
                    self.skip(1);
                    // `&>` belongs to the preceding command.
                    if !self.rest.starts_with('>') {
                        self.end_command();
                    }
                }
                '|' => {
                    self.skip(1);
                    self.end_command();
                    // `||` begins a new command.
                    self.command.is_piped_into = !self.rest.starts_with('|');
                }
                '(' | ')' => {
                    self.skip(1);
                    self.end_command();
                    self.steps.push(if first == '(' { LinePart::Open } else { LinePart::Close });
                }
                '#' => self.rest = self.rest.find('\n').map_or("", |end| &self.rest[end..]),
                '<' => self.input(),
                '>' => self.output(),
                _ => self.word_or_descriptor(),
            }
        }
        self.end_command();
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes..];
    }

    fn end_command(&mut self) {
        let command = std::mem::take(&mut self.command);
        if !command.words.is_empty() || !command.redirects.is_empty() {
            self.steps.push(LinePart::Command(command));
        }
    }

    fn input(&mut self) {
        self.skip(1);
        if let Some(rest) = self.rest.strip_prefix("<<") {
            // `<<<`: the word is the input itself.
            self.rest = rest;
            self.blanks();
            self.command.input = self.word().text().map(str::to_owned);
        } else if let Some(rest) = self.rest.strip_prefix('<') {
            let may_be_indented = rest.starts_with('-');
            self.rest = if may_be_indented { &rest[1..] } else { rest };
            self.blanks();
            if let ShellWord::Plain(end) = self.word() {
                let command = self.steps.len();
                self.texts.push(HereDocument { end, may_be_indented, command });
            }
        } else if !self.rest.starts_with(['(', '&']) {
            self.blanks();
            let word = self.word();
            self.command.redirects.push((READ, word));
        }
    }

    fn output(&mut self) {
        self.rest = self.rest.trim_start_matches(['>', '|']);
        let is_descriptor = self.rest.starts_with('&');
        self.rest = self.rest.trim_start_matches('&');
        if self.rest.starts_with('(') {
            return;
        }
        self.blanks();
        let word = self.word();
        // `2>&1` and `>&-` name no file.
        let names_none = |text: &str| text == "-" || text.bytes().all(|byte| byte.is_ascii_digit());
        if !(is_descriptor && word.text().is_some_and(names_none)) {
            self.command.redirects.push((ToolEffect::Writes, word));
        }
    }

    fn word_or_descriptor(&mut self) {
        let word = self.word();
        // `2>file`: the number belongs to the redirection.
        let is_number =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !(word.text().is_some_and(is_number) && self.rest.starts_with(['<', '>'])) {
            self.command.words.push(word);
        }
    }

    fn blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    /// Takes the texts of here-documents, which are not commands.
    fn take_texts(&mut self) {
        for HereDocument { end, may_be_indented, command } in std::mem::take(&mut self.texts) {
            let mut text = String::new();
            while !self.rest.is_empty() {
                let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
                self.rest = rest;
                let line = if may_be_indented { line.trim_start_matches('\t') } else { line };
                if line == end {
                    break;
                }
                text.push_str(line);
                text.push('\n');
            }
            if let Some(LinePart::Command(command)) = self.steps.get_mut(command) {
                command.input = Some(text);
            }
        }
    }

    fn word(&mut self) -> ShellWord {
        let mut text = String::new();
        let mut is_unclear = false;
        let mut characters = self.rest.chars();
        loop {
            let rest = characters.as_str();
            let Some(character) = characters.next() else { break };
            match character {
                ' ' | '\t' | '\n' | ';' | '|' | '&' | '(' | ')' | '<' | '>' => {
                    characters = rest.chars();
                    break;
                }
                '\'' => {
                    let inner = characters.as_str();
                    let end = inner.find('\'');
                    is_unclear |= end.is_none();
                    let end = end.unwrap_or(inner.len());
                    text.push_str(&inner[..end]);
                    characters = inner.get(end + 1..).unwrap_or_default().chars();
                }
                '"' => {
                    let mut is_closed = false;
                    while let Some(character) = characters.next() {
                        match character {
                            '"' => {
                                is_closed = true;
                                break;
                            }
                            '\\' => text.extend(characters.next()),
                            '$' | '`' => is_unclear = true,
                            _ => text.push(character),
                        }
                    }
                    is_unclear |= !is_closed;
                }
                '\\' => text.extend(characters.next()),
                '$' | '`' | '*' | '?' | '[' | '{' | '~' => is_unclear = true,
                _ => text.push(character),
            }
        }
        self.rest = characters.as_str();
        if is_unclear {
            ShellWord::Unclear { is_option: text.starts_with('-') }
        } else {
            ShellWord::Plain(text)
        }
    }
}
