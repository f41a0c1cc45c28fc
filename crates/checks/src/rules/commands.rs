//! The programs of a command line, and whether a pattern names one.
//!
//! A pattern is a program and its first words: `git push` is `git -C . push origin`, and not `git commit -m push`.
//! An option in a pattern, such as the one of `git push --force`, may stand anywhere among the arguments. What the
//! shell decides when it runs (`$program`, `$(…)`, a script that is piped into a shell) is uncertain, and a rule
//! about commands is *unknown* then, never broken.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use brief_syntax::shell::{
    Invocation, InvokedThrough, ShellOrigin, ShellWord, SimpleCommand, WordForm, parse_commands,
    parse_script,
};

use super::call::ProjectTree;
use super::patterns::CompiledPattern;
use super::shorten;

/// The limit for the bytes of a command line that is read.
const LONGEST_LINE: usize = 256 * 1024;

/// The limit for the operands of a pattern.
const MOST_WORDS: usize = 31;

/// A program that a command line runs, with its arguments.
#[derive(Debug, Clone, Default)]
pub struct CommandCall {
    /// The program's name without its directory; `None` if the line does not show it.
    pub(super) program: Option<String>,
    /// The program as it is written.
    pub(super) written: String,
    pub(super) arguments: Vec<CallWord>,
    /// The directory that it runs in, below the root; `None` if it is not known or elsewhere.
    pub(super) directory: Option<Arc<str>>,
    /// True if it runs outside of the project.
    pub(super) is_elsewhere: bool,
    /// The command as it is written, for messages.
    pub(super) text: Arc<str>,
    /// True if more programs may run than the line shows.
    pub(super) hides_more: bool,
}

#[derive(Debug, Clone)]
pub(super) struct CallWord {
    pub(super) text: String,
    /// False if the shell replaces it, or a part of it.
    pub(super) is_certain: bool,
}

/// Whether a pattern names the program of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CommandMatch {
    No,
    /// The line does not show it.
    Maybe,
    Yes,
}

/// Reads the programs of a command line that runs in a directory: an absolute path, or `None` if it is not known.
pub fn read_command_line(
    line: &str,
    directory: Option<&Path>,
    tree: &dyn ProjectTree,
) -> Vec<CommandCall> {
    if line.len() > LONGEST_LINE {
        let text = shorten(line).into();
        return vec![CommandCall { text, hides_more: true, ..CommandCall::default() }];
    }
    let script = parse_script(line, directory.map(Arc::from));
    let mut reader = CallReader { line, tree, variables: HashMap::new(), calls: Vec::new() };
    for command in &script.commands {
        reader.add_command(command);
    }
    if !script.is_complete {
        let text = shorten(line).into();
        reader.calls.push(CommandCall { text, hides_more: true, ..CommandCall::default() });
    }
    reader.calls
}

struct CallReader<'l> {
    line: &'l str,
    tree: &'l dyn ProjectTree,
    /// The variables that are set in the line; `None` for one with several values, or an unknown one.
    variables: HashMap<String, Option<String>>,
    calls: Vec<CommandCall>,
}

impl CallReader<'_> {
    fn add_command(&mut self, command: &SimpleCommand) {
        let text: Arc<str> = self.line.get(command.span.range()).map_or("", str::trim).into();
        let text = if text.is_empty() { shorten(self.line).into() } else { shorten(&text).into() };
        if command.words.is_empty() {
            for assignment in &command.assignments {
                self.set_variable(&assignment.word);
            }
            return;
        }
        let hides_more = is_shell_of_unknown_text(command);
        for (index, invocation) in command.invocations().iter().enumerate() {
            let call = self.build_call(invocation, &text);
            if matches!(call.program.as_deref(), Some("export" | "declare" | "local" | "readonly"))
            {
                invocation.operands().iter().for_each(|word| self.set_variable(word));
            }
            let module = python_module(&call);
            self.calls.push(CommandCall { hides_more: hides_more && index == 0, ..call });
            self.calls.extend(module);
        }
    }

    fn set_variable(&mut self, word: &ShellWord) {
        let Some((name, value)) = word.text.split_once('=') else { return };
        let value = word.literal().map(|_| value.to_owned());
        match self.variables.get_mut(name) {
            Some(known) if *known != value => *known = None,
            Some(_) => {}
            None => {
                self.variables.insert(name.to_owned(), value);
            }
        }
    }

    /// Returns the words that a word becomes; `None` if that is not known.
    fn expand_word(&self, word: &ShellWord) -> Option<Vec<String>> {
        if let Some(text) = word.literal() {
            return Some(vec![text.to_owned()]);
        }
        let name = word.text.strip_prefix('$')?;
        let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name);
        let value = self.variables.get(name)?.as_deref()?;
        let words = value.split_ascii_whitespace().map(str::to_owned).collect();
        Some(if word.is_quoted { vec![value.to_owned()] } else { words })
    }

    fn build_call(&self, invocation: &Invocation<'_>, text: &Arc<str>) -> CommandCall {
        let mut arguments = Vec::with_capacity(invocation.words.len());
        let mut words = invocation.words.iter();
        let mut program = invocation.program().map(str::to_owned);
        let mut written = String::new();
        if let Some(first) = words.next() {
            written.clone_from(&first.text);
            if program.is_none()
                && let Some(mut expanded) = self.expand_word(first).filter(|list| !list.is_empty())
            {
                written = expanded.remove(0);
                program = written.rsplit('/').next().map(str::to_owned);
                let more = expanded.into_iter().map(|text| CallWord { text, is_certain: true });
                arguments.extend(more);
            }
        }
        for word in words {
            match self.expand_word(word) {
                Some(texts) => {
                    let certain = texts.into_iter().map(|text| CallWord { text, is_certain: true });
                    arguments.extend(certain);
                }
                None => {
                    arguments.push(CallWord { text: word.text.clone(), is_certain: false });
                }
            }
        }
        if invocation.through == InvokedThrough::Arguments {
            // More arguments come from the input.
            arguments.push(CallWord { text: String::new(), is_certain: false });
        }
        let located = invocation.directory.as_deref().map(|path| self.tree.locate(None, path));
        let is_elsewhere = matches!(located, Some(None));
        let directory = located.flatten().map(|place| place.path);
        let text = Arc::clone(text);
        CommandCall {
            program,
            written,
            arguments,
            directory,
            is_elsewhere,
            text,
            hides_more: false,
        }
    }
}

/// Returns the module that `python -m` runs, which is a program of the same name.
fn python_module(call: &CommandCall) -> Option<CommandCall> {
    let is_python = |name: &str| {
        name.strip_prefix("python").or_else(|| name.strip_prefix("pypy")).is_some_and(|version| {
            version.chars().all(|letter| letter.is_ascii_digit() || letter == '.')
        })
    };
    call.program.as_deref().filter(|name| is_python(name) || *name == "py")?;
    let at = call.arguments.iter().position(|word| word.is_certain && word.text == "-m")?;
    // Behind a script, `-m` is the script's.
    if call.arguments[..at].iter().any(|word| !word.text.starts_with('-')) {
        return None;
    }
    let (name, rest) = call.arguments.get(at + 1..)?.split_first()?;
    let program = name.is_certain.then(|| name.text.clone());
    Some(CommandCall {
        program,
        written: name.text.clone(),
        arguments: rest.to_vec(),
        ..call.clone()
    })
}

/// Returns whether a command is a shell that runs a text which the line does not have: `… | sh`, `eval "$x"`.
fn is_shell_of_unknown_text(command: &SimpleCommand) -> bool {
    const SHELLS: [&str; 7] = ["sh", "bash", "zsh", "dash", "ash", "ksh", "fish"];
    let Some(run) = command.direct_invocation() else { return false };
    let Some(program) = run.program() else { return false };
    let is_uncertain = |word: &ShellWord| word.form == WordForm::Expansion;
    if program == "eval" {
        return run.operands().iter().any(is_uncertain);
    }
    if !SHELLS.contains(&program) {
        return false;
    }
    let has_line =
        run.operands().iter().any(|word| word.text.starts_with('-') && word.text.contains('c'));
    let has_script = run.operands().iter().any(|word| !word.text.starts_with('-'));
    let is_inner = command.origin == ShellOrigin::InnerLine && command.input.is_none();
    match (has_line, has_script) {
        (true, _) => run.operands().iter().any(is_uncertain),
        (false, true) => false,
        (false, false) => command.input.is_none() && (command.is_piped_into() || is_inner),
    }
}

/// The options of a program before its first word that take the next word. A program that is not here may have such options
/// too, so both readings are tried.
const VALUED: &[(&[&str], &[&str])] = &[
    (
        &["git"],
        &["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"],
    ),
    (&["npm"], &["--prefix", "-C", "--workspace", "-w", "--registry", "--loglevel", "--cache"]),
    (&["pnpm"], &["-C", "--dir", "--filter", "-F", "--loglevel", "--reporter", "--config"]),
    (&["yarn"], &["--cwd"]),
    (&["bun"], &["--cwd", "--config", "-c", "--filter"]),
    (&["cargo"], &["-C", "--config", "-Z", "--color", "--manifest-path"]),
    (&["gh"], &["-R", "--repo"]),
    (&["go"], &["-C"]),
    (&["make"], &["-C", "--directory", "-f", "--file", "-j", "-I", "-o", "-W"]),
    (&["rm", "cp", "mv", "mkdir", "chmod", "chown", "ls", "cat"], &[]),
    (&["uv"], &["--directory", "--project", "--config-file", "--python", "-p"]),
    (&["pip", "pip3"], &["--python", "--log", "--proxy", "--cache-dir", "--timeout"]),
];

/// Compares a pattern with a call.
pub(super) fn match_command(pattern: &CompiledPattern, call: &CommandCall) -> CommandMatch {
    let Some(program) = call.program.as_deref() else {
        return CommandMatch::Maybe;
    };
    let Some(text) = pattern.as_text() else {
        let mut line = program.to_owned();
        for word in &call.arguments {
            line.push(' ');
            line.push_str(&word.text);
        }
        return if pattern.is_match(&line) { CommandMatch::Yes } else { CommandMatch::No };
    };
    let words = pattern_words(text);
    let Some((first, rest)) = words.split_first() else { return CommandMatch::No };
    if is_program(first, program, &call.written) {
        match_arguments(rest, program, &call.arguments)
    } else {
        CommandMatch::No
    }
}

/// Returns the words of a pattern.
fn pattern_words(text: &str) -> Vec<String> {
    let commands = parse_commands(text);
    let words = commands.first().map(|command| command.words.as_slice()).unwrap_or_default();
    words.iter().map(|word| word.text.clone()).collect()
}

fn is_program(pattern: &str, program: &str, written: &str) -> bool {
    if !pattern.contains('/') {
        return pattern == program;
    }
    let plain = |path: &str| path.trim_start_matches("./").to_owned();
    let (pattern, written) = (plain(pattern), plain(written));
    written == pattern || written.ends_with(&format!("/{pattern}"))
}

fn match_arguments(pattern: &[String], program: &str, arguments: &[CallWord]) -> CommandMatch {
    let (options, operands): (Vec<&String>, Vec<&String>) =
        pattern.iter().partition(|word| word.starts_with('-') && word.len() > 1);
    if operands.len() > MOST_WORDS {
        return CommandMatch::No;
    }
    let first_words = match_operands(&operands, program, arguments);
    let is_uncertain = arguments.iter().any(|word| !word.is_certain);
    let plain = without_values(program, arguments);
    let have_options = options.iter().all(|option| has_option(option, &plain));
    match (first_words, have_options) {
        (CommandMatch::No, _) => CommandMatch::No,
        (found, true) => found,
        (_, false) if is_uncertain => CommandMatch::Maybe,
        (_, false) => CommandMatch::No,
    }
}

/// Compares the first words that are no options.
fn match_operands(operands: &[&String], program: &str, arguments: &[CallWord]) -> CommandMatch {
    let valued = VALUED.iter().find(|(names, _)| names.contains(&program)).map(|(_, list)| *list);
    let end = operands.len();
    if end == 0 {
        return CommandMatch::Yes;
    }
    // For each argument a set of bits: the numbers of pattern words that can have matched before it.
    let mut states = vec![0_u32; arguments.len() + 3];
    let mut maybe = vec![0_u32; arguments.len() + 3];
    states[0] = 1;
    let mut is_plain = false;
    for (index, word) in arguments.iter().enumerate() {
        let (sure, unsure) = (states[index], maybe[index]);
        let text = word.text.as_str();
        let mut pass = |to: usize, sure: u32, unsure: u32| {
            states[to] |= sure;
            maybe[to] |= unsure;
        };
        if !is_plain && text == "--" {
            is_plain = true;
            pass(index + 1, sure, unsure);
        } else if !is_plain && text.starts_with('-') && text.len() > 1 {
            let takes_next = match valued {
                Some(list) => list.contains(&text),
                None => !text.contains('='),
            };
            if takes_next {
                pass(index + 2, sure, unsure);
            }
            if !takes_next || valued.is_none() {
                pass(index + 1, sure, unsure);
            }
        } else if !word.is_certain {
            // It may be any number of words.
            let any = sure | unsure;
            pass(index + 1, 0, any | any << 1);
        } else if program == "cargo" && text.starts_with('+') {
            pass(index + 1, sure, unsure);
        } else {
            let matching = |set: u32| -> u32 {
                let fits = |place: &usize| set >> place & 1 == 1 && operands[*place] == text;
                (0..end).filter(fits).fold(0, |all, place| all | 1 << (place + 1))
            };
            pass(index + 1, matching(sure), matching(unsure));
        }
    }
    let has_end = |sets: &[u32]| sets.iter().any(|set| set >> end & 1 == 1);
    if has_end(&states) {
        CommandMatch::Yes
    } else if has_end(&maybe) {
        CommandMatch::Maybe
    } else {
        CommandMatch::No
    }
}

/// Options whose value is a text for people, which may look like an option: a message, a title.
const TEXT_OPTIONS: [&str; 6] = ["-m", "--message", "--title", "--body", "--description", "--grep"];

/// Returns the arguments without the texts for people.
fn without_values<'a>(program: &str, arguments: &'a [CallWord]) -> Vec<&'a CallWord> {
    let takes_text = |word: &CallWord| {
        let text = word.text.as_str();
        let cluster = text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        let is_message = program == "git"
            && cluster.is_some_and(|rest| {
                rest.ends_with('m') && rest.chars().all(|letter| letter.is_ascii_alphabetic())
            });
        is_message || TEXT_OPTIONS.contains(&text)
    };
    let mut is_text = false;
    let mut plain = Vec::with_capacity(arguments.len());
    for word in arguments {
        if !std::mem::take(&mut is_text) {
            is_text = takes_text(word);
            plain.push(word);
        }
    }
    plain
}

/// Returns whether an option is among the arguments: as it is written, with a value, or its letters in clusters.
fn has_option(option: &str, arguments: &[&CallWord]) -> bool {
    let before_end = || arguments.iter().copied().take_while(|word| word.text != "--");
    let is_long = option.starts_with("--");
    let is_it = |word: &CallWord| {
        let rest = word.text.strip_prefix(option);
        rest.is_some_and(|rest| rest.is_empty() || is_long && rest.starts_with('='))
    };
    if before_end().any(is_it) {
        return true;
    }
    if is_long {
        return false;
    }
    let clusters = || {
        before_end().filter_map(|word| word.text.strip_prefix('-')).filter(|rest| {
            !rest.is_empty() && rest.chars().all(|letter| letter.is_ascii_alphabetic())
        })
    };
    option[1..].chars().all(|letter| clusters().any(|cluster| cluster.contains(letter)))
}

impl CommandCall {
    /// Returns the command as it is written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns whether the program and its first words are these.
    pub(super) fn is_call_of(&self, program: &str, words: &[&str]) -> bool {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let words: Vec<&String> = words.iter().collect();
        self.program.as_deref() == Some(program)
            && match_operands(&words, program, &self.arguments) == CommandMatch::Yes
    }
}
