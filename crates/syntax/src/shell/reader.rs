//! Finds the commands of a text: operators, groups and keywords.

use std::path::Path;
use std::sync::Arc;

use super::redirect::HereDocument;
use super::wrapper::{InnerLine, inner_line};
use super::{
    Connector, LONGEST_DIRECTORY, MOST_COMMANDS, MOST_NESTED, ShellAssignment, ShellOrigin,
    ShellScript, ShellWord, SimpleCommand,
};
use crate::Span;

type Directory = Option<Arc<Path>>;

/// How often a text may be read again as a part of inner lines, on average.
const MOST_READINGS: usize = 8;

/// The longest arithmetic expression that is skipped; a longer one is read as commands.
const LONGEST_ARITHMETIC: usize = 256;

/// Reads the commands of a text that a shell in `directory` runs.
pub(super) fn read_shell_script(text: &str, directory: Directory) -> ShellScript {
    let mut reader = Reader::new(text, SpanBase::Within(0), directory);
    reader.budget = text.len().saturating_mul(MOST_READINGS);
    reader.read_commands(false);
    ShellScript {
        commands: reader.commands,
        directory: reader.directory,
        is_complete: reader.is_complete,
    }
}

/// How the offsets of a part become spans of the whole text.
#[derive(Clone, Copy)]
pub(super) enum SpanBase {
    /// The part stands at this offset.
    Within(usize),
    /// The part has escapes, and everything in it gets this span.
    Whole(Span),
}

impl SpanBase {
    pub(super) fn span(self, start: usize, end: usize) -> Span {
        match self {
            SpanBase::Within(offset) => Span::new(offset + start, offset + end),
            SpanBase::Whole(span) => span,
        }
    }

    /// Returns the base of a part that stands at an offset.
    pub(super) fn shifted_by(self, offset: usize) -> SpanBase {
        match self {
            SpanBase::Within(start) => SpanBase::Within(start + offset),
            SpanBase::Whole(_) => self,
        }
    }

    /// Returns the base of a part with escapes.
    pub(super) fn with_whole_span(self, span: Span) -> SpanBase {
        SpanBase::Whole(self.span(span.start, span.end))
    }
}

pub(super) struct Reader<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) spans: SpanBase,
    /// The number of substitutions and inner lines around this place.
    pub(super) depth: usize,
    pub(super) is_complete: bool,
    /// The bytes of inner lines that may still be read.
    budget: usize,
    origin: ShellOrigin,
    pub(super) directory: Directory,
    pub(super) commands: Vec<SimpleCommand>,
    pub(super) level: Level,
}

/// The state of one text, one substitution, or one inner line.
#[derive(Default)]
pub(super) struct Level {
    groups: Vec<Group>,
    /// How many of the groups are subshells.
    subshells: usize,
    pub(super) command: SimpleCommand,
    /// The end of its last word or redirection.
    pub(super) end: usize,
    pub(super) here: Vec<HereDocument>,
    /// The directory at the start of the pipeline.
    pipeline: Directory,
    /// True in the list of `for x in …`, whose words are no command.
    is_list: bool,
    /// True if the next group is the body of a function.
    is_function: bool,
}

struct Group {
    kind: GroupKind,
    directory: Directory,
    pipeline: Directory,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum GroupKind {
    Subshell,
    Braces,
    /// The body of a function, which runs later if at all.
    Function,
    Case,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str, spans: SpanBase, directory: Directory) -> Self {
        let level = Level { pipeline: directory.clone(), ..Level::default() };
        Reader {
            text,
            at: 0,
            spans,
            depth: 0,
            is_complete: true,
            budget: 0,
            origin: ShellOrigin::Text,
            directory,
            commands: Vec::new(),
            level,
        }
    }

    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, offset: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + offset).copied()
    }

    pub(super) fn eat_prefix(&mut self, prefix: &str) -> bool {
        let is_there = self.rest().starts_with(prefix);
        self.at += if is_there { prefix.len() } else { 0 };
        is_there
    }

    /// Enters a nesting; false if it is too deep, and the reader stops.
    pub(super) fn enter_nesting(&mut self) -> bool {
        let is_shallow = self.depth < MOST_NESTED;
        if is_shallow {
            self.depth += 1;
        } else {
            self.stop_reading();
        }
        is_shallow
    }

    fn stop_reading(&mut self) {
        self.is_complete = false;
        self.at = self.text.len();
    }

    /// Reads commands to the end, or to the bracket that closes a substitution.
    fn read_commands(&mut self, is_substitution: bool) {
        let mut is_closed = false;
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' => self.at += 1,
                b'\r' if self.rest().starts_with("\r\n") => self.at += 1,
                b'\\' if self.eat_prefix("\\\n") || self.eat_prefix("\\\r\n") => {}
                b'\n' => {
                    self.at += 1;
                    self.end_command(Connector::Sequence);
                    self.here_documents();
                }
                b';' => {
                    self.at += 1;
                    let ends_case =
                        self.eat_prefix(";&") || self.eat_prefix(";") || self.eat_prefix("&");
                    self.end_command(Connector::Sequence);
                    if ends_case {
                        self.case_pattern();
                    }
                }
                b'&' if self.peek_at(1) == Some(b'>') => self.read_redirection(),
                b'&' => {
                    let connector =
                        if self.eat_prefix("&&") { Connector::And } else { Connector::Sequence };
                    self.at += usize::from(connector == Connector::Sequence);
                    self.end_command(connector);
                }
                b'|' => {
                    let connector =
                        if self.eat_prefix("||") { Connector::Or } else { Connector::Pipe };
                    if connector == Connector::Pipe && !self.eat_prefix("|&") {
                        self.at += 1;
                    }
                    self.end_command(connector);
                }
                b'(' => self.open_bracket(),
                b')' => {
                    self.at += 1;
                    self.end_command(Connector::Sequence);
                    if is_substitution && self.level.subshells == 0 {
                        is_closed = true;
                        break;
                    }
                    self.close_subshell();
                }
                b'#' => {
                    let rest = self.rest();
                    self.at += memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
                }
                b'<' | b'>' if self.peek_at(1) == Some(b'(') => self.next_word(),
                b'<' | b'>' => self.read_redirection(),
                _ => self.next_word(),
            }
        }
        self.end_command(Connector::Sequence);
        self.is_complete &= is_closed == is_substitution && self.level.groups.is_empty();
    }

    /// Reads the commands of `$(`, `<(` or `>(`, up to and with the closing bracket.
    pub(super) fn read_substitution(&mut self) {
        if !self.enter_nesting() {
            return;
        }
        let level = Level { pipeline: self.directory.clone(), ..Level::default() };
        let outer = std::mem::replace(&mut self.level, level);
        let origin = std::mem::replace(&mut self.origin, ShellOrigin::Substitution);
        let directory = self.directory.clone();
        self.read_commands(true);
        (self.level, self.origin, self.directory) = (outer, origin, directory);
        self.depth -= 1;
    }

    /// Reads a text that another shell runs, and returns its directory at the end.
    pub(super) fn inner_line(
        &mut self,
        line: &str,
        spans: SpanBase,
        origin: ShellOrigin,
    ) -> Directory {
        self.read_inside(line, spans, |inner| {
            inner.origin = origin;
            inner.depth += 1;
            inner.read_commands(false);
            inner.directory.take()
        })
        .flatten()
    }

    /// Reads a part of the text anew; `None` if it is nested too deeply, or was read too often.
    pub(super) fn read_inside<T>(
        &mut self,
        part: &str,
        spans: SpanBase,
        read: impl FnOnce(&mut Reader<'_>) -> T,
    ) -> Option<T> {
        let budget = self.budget.checked_sub(part.len());
        let (Some(budget), true) = (budget, self.depth < MOST_NESTED) else {
            self.is_complete = false;
            return None;
        };
        let mut inner = Reader::new(part, spans, self.directory.clone());
        inner.origin = self.origin;
        inner.depth = self.depth;
        inner.budget = budget;
        inner.commands = std::mem::take(&mut self.commands);
        let value = read(&mut inner);
        self.is_complete &= inner.is_complete;
        self.budget = inner.budget;
        self.commands = inner.commands;
        Some(value)
    }

    fn open_bracket(&mut self) {
        let command = &self.level.command;
        if command.is_empty() {
            if self.peek_at(1) == Some(b'(') && self.skip_arithmetic() {
                return;
            }
        } else if command.words.len() == 1 && command.redirects.is_empty() {
            // `name() { …; }`
            let inner = self.rest()[1..].trim_start_matches([' ', '\t']);
            if let Some(after) = inner.strip_prefix(')') {
                self.at = self.text.len() - after.len();
                self.level.command = SimpleCommand::default();
                self.level.is_function = true;
                return;
            }
        }
        self.at += 1;
        self.end_command(Connector::Sequence);
        self.level.subshells += 1;
        self.open_group(GroupKind::Subshell);
    }

    fn open_group(&mut self, kind: GroupKind) {
        let is_function = std::mem::take(&mut self.level.is_function);
        let kind =
            if is_function && kind == GroupKind::Braces { GroupKind::Function } else { kind };
        let pipeline = self.level.pipeline.clone();
        self.level.groups.push(Group { kind, directory: self.directory.clone(), pipeline });
    }

    /// Returns the innermost group, if it is of this kind, and leaves it.
    fn close_group(&mut self, kinds: &[GroupKind]) -> Option<Group> {
        let group = self.level.groups.pop_if(|group| kinds.contains(&group.kind))?;
        self.level.pipeline.clone_from(&group.pipeline);
        Some(group)
    }

    fn close_subshell(&mut self) {
        if self.level.subshells == 0 {
            // It belongs to syntax that this reader does not know.
            self.is_complete = false;
            self.directory = None;
            self.level.pipeline = None;
            return;
        }
        self.level.subshells -= 1;
        while let Some(group) = self.level.groups.pop() {
            if group.kind == GroupKind::Subshell {
                self.directory = group.directory;
                self.level.pipeline = group.pipeline;
                return;
            }
            self.is_complete = false;
        }
    }

    /// Skips `((…))`, from its first bracket; false if it is not closed.
    pub(super) fn skip_arithmetic(&mut self) -> bool {
        let bytes = self.rest().as_bytes();
        let mut open = 0_usize;
        for (index, byte) in bytes.iter().enumerate().take(LONGEST_ARITHMETIC) {
            match byte {
                b'(' => open += 1,
                b')' if open == 1 => {
                    // `((a) )` is a subshell in a subshell.
                    let is_double = index > 0 && bytes[index - 1] == b')';
                    self.at += if is_double { index + 1 } else { 0 };
                    return is_double;
                }
                b')' => open -= 1,
                b'\n' => return false,
                _ => {}
            }
        }
        false
    }

    /// Reads the next word, and gives it its role.
    fn next_word(&mut self) {
        let start = self.at;
        if self.level.command.is_empty() {
            self.level.command.span.start = start;
        }
        let word = self.read_word();
        if self.at == start {
            // No word begins here; nothing but a single sign can cause this.
            self.at += self.rest().chars().next().map_or(1, char::len_utf8);
            return;
        }
        if matches!(self.peek(), Some(b'<' | b'>')) && is_descriptor(&word) {
            return self.read_redirection();
        }
        if self.level.is_list {
            return;
        }
        if self.level.command.words.is_empty() {
            if self.level.command.redirects.is_empty() && self.read_keyword(&word) {
                return;
            }
            if let Some(name) = word.assigned_name().map(str::to_owned) {
                self.level.command.assignments.push(ShellAssignment { name, word });
                self.level.end = self.at;
                return;
            }
        }
        let is_test = self.level.command.words.is_empty() && is_unquoted(&word, "[[");
        self.level.command.words.push(word);
        if is_test {
            self.read_test();
        }
        self.level.end = self.at;
    }

    /// Takes a word that belongs to the syntax; false for any other.
    fn read_keyword(&mut self, word: &ShellWord) -> bool {
        if word.is_quoted || !self.level.command.assignments.is_empty() {
            return false;
        }
        match word.text.as_str() {
            "if" | "then" | "else" | "elif" | "while" | "until" | "do" | "!" | "fi" | "done"
            | "coproc" => {}
            "{" => self.open_group(GroupKind::Braces),
            "}" => match self.close_group(&[GroupKind::Braces, GroupKind::Function]) {
                Some(Group { kind: GroupKind::Function, directory, .. }) => {
                    self.directory = directory;
                }
                Some(_) => {}
                None => self.is_complete = false,
            },
            "for" | "select" => {
                self.skip_blanks();
                self.level.is_list = !(self.rest().starts_with("((") && self.skip_arithmetic());
            }
            "function" => {
                self.skip_blanks();
                self.read_word();
                self.skip_blanks();
                self.eat_prefix("()");
                self.level.is_function = true;
            }
            "case" => {
                self.skip_blanks();
                self.read_word();
                self.white_space();
                self.read_word();
                self.open_group(GroupKind::Case);
                self.case_pattern();
            }
            "esac" => self.is_complete &= self.close_group(&[GroupKind::Case]).is_some(),
            _ => return false,
        }
        true
    }

    /// Reads a pattern of `case`, up to and with its bracket, or the end of the statement.
    fn case_pattern(&mut self) {
        if self.level.groups.last().is_none_or(|group| group.kind != GroupKind::Case) {
            self.is_complete = false;
            return;
        }
        self.white_space();
        self.eat_prefix("(");
        loop {
            self.white_space();
            let start = self.at;
            let word = self.read_word();
            if is_unquoted(&word, "esac") {
                self.close_group(&[GroupKind::Case]);
                return;
            }
            match self.peek() {
                None => return,
                Some(b')') => {
                    self.at += 1;
                    return;
                }
                Some(b'#') => {
                    let rest = self.rest();
                    self.at += memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
                }
                Some(_) if self.at == start => self.at += 1,
                Some(_) => {}
            }
        }
    }

    /// Reads the words of `[[ … ]]`, in which operators are ordinary words.
    fn read_test(&mut self) {
        loop {
            self.white_space();
            let start = self.at;
            let word = self.read_word();
            if self.at == start {
                let Some(letter) = self.rest().chars().next() else {
                    self.is_complete = false;
                    return;
                };
                self.at += letter.len_utf8();
                continue;
            }
            let is_end = is_unquoted(&word, "]]");
            self.level.command.words.push(word);
            if is_end {
                return;
            }
        }
    }

    pub(super) fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t']).len();
    }

    /// Skips blanks and line breaks.
    fn white_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
    }

    /// Ends the current command, and begins one that is joined to it.
    fn end_command(&mut self, connector: Connector) {
        let next = SimpleCommand { connector, ..SimpleCommand::default() };
        let command = std::mem::replace(&mut self.level.command, next);
        self.level.is_list = false;
        if !command.is_empty() {
            self.add_command(command);
        }
        if connector == Connector::Pipe {
            // Each part of a pipeline runs in a shell of its own.
            self.directory.clone_from(&self.level.pipeline);
        } else {
            self.level.pipeline.clone_from(&self.directory);
        }
    }

    fn add_command(&mut self, mut command: SimpleCommand) {
        if self.commands.len() >= MOST_COMMANDS {
            return self.stop_reading();
        }
        command.span = self.spans.span(command.span.start, self.level.end);
        command.directory.clone_from(&self.directory);
        command.origin = self.origin;
        command.depth = self.depth;
        command.has_exact_spans = matches!(self.spans, SpanBase::Within(_));
        for here in self.level.here.iter_mut().filter(|here| here.command.is_none()) {
            here.command = Some(self.commands.len());
        }
        let inner = inner_line(&command);
        let changed = changed_directory(&command, self.directory.as_deref());
        let is_piped = command.is_piped_into();
        self.commands.push(command);
        if let Some(InnerLine { line, verbatim, span, is_own_shell }) = inner {
            let spans = match (verbatim, self.spans) {
                (Some(offset), spans) => spans.shifted_by(offset),
                (None, SpanBase::Within(_)) => SpanBase::Whole(span),
                (None, spans) => spans,
            };
            let directory = self.inner_line(&line, spans, ShellOrigin::InnerLine);
            if !is_own_shell && !is_piped {
                self.directory = directory;
            }
        }
        if let Some(directory) = changed
            && !is_piped
        {
            self.directory = directory;
        }
    }
}

fn is_unquoted(word: &ShellWord, text: &str) -> bool {
    !word.is_quoted && word.text == text
}

/// Returns whether a word before `<` or `>` names a descriptor: `2>`, `{log}>`.
fn is_descriptor(word: &ShellWord) -> bool {
    let text = word.text.as_str();
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let inner = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    !word.is_quoted && (is_number || inner.is_some_and(is_name))
}

/// Returns the directory after a command, if it is one that changes it.
fn changed_directory(command: &SimpleCommand, now: Option<&Path>) -> Option<Directory> {
    let run = command.direct_invocation()?;
    match run.program()? {
        "cd" | "pushd" | "chdir" => {}
        "popd" => return Some(None),
        _ => return None,
    }
    let mut operands = run.operands();
    while let Some((first, rest)) = operands.split_first() {
        let is_option = first.literal().is_some_and(|text| {
            let letters = text.strip_prefix('-').unwrap_or_default();
            !letters.is_empty() && letters.bytes().all(|byte| b"LPe@-".contains(&byte))
        });
        if !is_option {
            break;
        }
        operands = rest;
    }
    let [to] = operands else { return Some(None) };
    // A number of `pushd`, and `cd -`.
    let Some(to) = to.literal().filter(|to| !to.is_empty() && !to.starts_with(['-', '+'])) else {
        return Some(None);
    };
    let path = match now {
        Some(now) => now.join(to),
        None if Path::new(to).is_absolute() => to.into(),
        None => return Some(None),
    };
    let is_short = path.as_os_str().len() <= LONGEST_DIRECTORY;
    Some(is_short.then(|| Arc::from(path)))
}
