//! Programs that run another program: `sudo`, `env`, `xargs`, `npx`, `bash -c`.

use std::path::Path;
use std::sync::Arc;

use super::{ShellWord, SimpleCommand};
use crate::Span;

/// The most programs that are looked through: `sudo env nice …`.
const MOST_WRAPPERS: usize = 16;

/// A program of a command. `sudo env A=1 npm install` has three: `sudo`, `env` and `npm`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation<'c> {
    /// The program and its arguments.
    pub words: &'c [ShellWord],
    /// How it comes to run.
    pub through: InvokedThrough,
    /// The directory that it runs in; `None` if it is not known.
    pub directory: Option<Arc<Path>>,
}

/// How the program of an invocation comes to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InvokedThrough {
    /// The shell runs it, with nothing or only programs such as `sudo`, `env` and `timeout` before it.
    Shell,
    /// A program runs it with more arguments, from its input or from files: `xargs`, `find -exec`.
    Arguments,
    /// A package manager runs it from a package: `npx`, `uv run`, `bundle exec`.
    Package,
}

impl<'c> Invocation<'c> {
    /// Returns the name of the program, without its directory; `None` if it is not certain.
    pub fn program(&self) -> Option<&'c str> {
        let name = program_name(self.words.first()?)?;
        match self.through {
            // `npx tool@1.2`, and `npx @scope/tool`, whose program has the name behind the slash.
            InvokedThrough::Package => name.split('@').find(|part| !part.is_empty()),
            _ => Some(name),
        }
    }

    /// Returns the arguments.
    pub fn operands(&self) -> &'c [ShellWord] {
        self.words.get(1..).unwrap_or_default()
    }
}

/// Returns the name of a program that is given by its name or its path.
fn program_name(word: &ShellWord) -> Option<&str> {
    let name = word.literal()?.rsplit(['/', '\\']).next()?;
    let name = name.strip_suffix(".exe").or_else(|| name.strip_suffix(".cmd")).unwrap_or(name);
    (!name.is_empty()).then_some(name)
}

impl SimpleCommand {
    /// Returns the programs of the command, from the one that the shell starts to the innermost one.
    pub fn invocations(&self) -> Vec<Invocation<'_>> {
        let mut all = Vec::new();
        if self.words.is_empty() {
            return all;
        }
        let directory = self.directory.clone();
        all.push(Invocation { words: &self.words, through: InvokedThrough::Shell, directory });
        while all.len() < MOST_WRAPPERS
            && let Some(last) = all.last()
            && let Some(next) = find_wrapped_program(last)
        {
            all.push(next);
        }
        all
    }

    /// Returns the innermost program that gets its arguments as they are written: the one behind `sudo`, `env` and
    /// `timeout`, and not the one behind `xargs` or `npx`.
    pub fn direct_invocation(&self) -> Option<Invocation<'_>> {
        let all = self.invocations();
        all.into_iter().rfind(|invocation| invocation.through == InvokedThrough::Shell)
    }
}

/// A program that runs another one.
struct Wrapper {
    names: &'static [&'static str],
    /// Its first words for that; empty if it always does.
    verbs: &'static [&'static str],
    through: InvokedThrough,
    /// The options that take the next word: letters, and long names.
    letters: &'static str,
    long: &'static [&'static str],
    /// The operands before the program.
    operands: usize,
}

impl Wrapper {
    const fn new(names: &'static [&'static str], letters: &'static str) -> Wrapper {
        let through = InvokedThrough::Shell;
        Wrapper { names, verbs: &[], through, letters, long: &[], operands: 0 }
    }

    const fn with_long_options(mut self, long: &'static [&'static str]) -> Wrapper {
        self.long = long;
        self
    }

    const fn package_runner(
        names: &'static [&'static str],
        verbs: &'static [&'static str],
    ) -> Wrapper {
        let through = InvokedThrough::Package;
        let long = &["package", "with", "from", "python", "extra", "group", "directory", "project"];
        Wrapper { names, verbs, through, letters: "p", long, operands: 0 }
    }
}

/// The options that take a value are those of the manual pages of sudo 1.9, GNU coreutils 9, findutils 4.9,
/// util-linux 2.38 and bash 5.2, and of the help of npm 11, pnpm 10, yarn 4, bun 1.2 and uv 0.9.
const WRAPPERS: &[Wrapper] = &[
    Wrapper::new(&["sudo"], "CDghpRrTtUu").with_long_options(&[
        "close-from",
        "chdir",
        "group",
        "host",
        "prompt",
        "chroot",
        "role",
        "command-timeout",
        "type",
        "other-user",
        "user",
    ]),
    Wrapper::new(&["doas"], "Cu"),
    Wrapper::new(&["env"], "CuS").with_long_options(&["chdir", "unset", "split-string"]),
    Wrapper::new(&["command", "builtin", "nohup", "setsid"], ""),
    Wrapper::new(&["exec"], "a"),
    Wrapper::new(&["time"], "fo").with_long_options(&["format", "output"]),
    Wrapper::new(&["nice"], "n").with_long_options(&["adjustment"]),
    Wrapper::new(&["ionice"], "cn").with_long_options(&["class", "classdata"]),
    Wrapper::new(&["stdbuf"], "ioe").with_long_options(&["input", "output", "error"]),
    Wrapper {
        operands: 1,
        ..Wrapper::new(&["timeout"], "ks").with_long_options(&["kill-after", "signal"])
    },
    Wrapper {
        through: InvokedThrough::Arguments,
        ..Wrapper::new(&["xargs"], "aEdILnPs").with_long_options(&[
            "arg-file",
            "delimiter",
            "max-args",
            "max-chars",
            "max-procs",
            "process-slot-var",
        ])
    },
    Wrapper::package_runner(&["npx", "bunx", "pnpx", "pnx", "uvx"], &[]),
    Wrapper::package_runner(&["npm"], &["exec", "x"]),
    Wrapper::package_runner(&["pnpm", "yarn"], &["exec", "dlx"]),
    Wrapper::package_runner(&["bun"], &["x"]),
    Wrapper::package_runner(&["uv", "poetry", "pdm", "pipenv", "rye", "hatch", "pipx"], &["run"]),
    Wrapper::package_runner(&["bundle", "mise"], &["exec", "x"]),
];

/// Returns the program that another one runs.
fn find_wrapped_program<'c>(outer: &Invocation<'c>) -> Option<Invocation<'c>> {
    let name = outer.program()?;
    if name == "find" {
        return executed_by_find(outer);
    }
    let mut words = outer.operands();
    let wrapper =
        WRAPPERS.iter().filter(|wrapper| wrapper.names.contains(&name)).find(|wrapper| {
            let verb = words.first().and_then(ShellWord::literal);
            wrapper.verbs.is_empty() || verb.is_some_and(|verb| wrapper.verbs.contains(&verb))
        })?;
    if !wrapper.verbs.is_empty() {
        words = words.get(1..)?;
    }
    let mut directory = outer.directory.clone();
    let mut operands = wrapper.operands;
    while let Some((first, rest)) = words.split_first() {
        words = rest;
        let text = first.text.as_str();
        if first.is_option() {
            // `command -v x` only looks.
            if text == "--" {
                break;
            }
            let option = first.literal()?;
            if name == "command" && option.contains(['v', 'V']) {
                return None;
            }
            let (option, value) = match option.strip_prefix("--") {
                Some(long) => match long.split_once('=') {
                    Some((long, value)) => (long, Some(value)),
                    None if wrapper.long.contains(&long) => {
                        (long, take_word(&mut words)?.literal())
                    }
                    None => (long, None),
                },
                None => letter_option(&option[1..], wrapper.letters, &mut words)?,
            };
            match (name, option) {
                // Their lines are read as inner lines.
                ("env", "S" | "split-string") | ("npx" | "npm", "c" | "call") => return None,
                ("env", "C" | "chdir") | ("sudo", "D" | "chdir") => {
                    let now = directory.as_deref();
                    directory = value.and_then(|value| Some(Arc::from(now?.join(value))));
                }
                // A login shell begins in the home directory, and another root has other files.
                ("sudo", "i" | "login" | "R" | "chroot") => directory = None,
                _ => {}
            }
        } else if text == "-" && name == "env" {
            // It is short for `-i`.
        } else if operands > 0 {
            operands -= 1;
        } else if matches!(name, "env" | "sudo" | "doas") && first.assigned_name().is_some() {
            // A variable of the program.
        } else {
            let words = slice_from(outer.words, first);
            let through = outer.through.max(wrapper.through);
            return Some(Invocation { words, through, directory });
        }
    }
    let through = outer.through.max(wrapper.through);
    (!words.is_empty()).then_some(Invocation { words, through, directory })
}

/// Returns the words from one of them on.
fn slice_from<'c>(words: &'c [ShellWord], first: &'c ShellWord) -> &'c [ShellWord] {
    let start = words.iter().position(|word| std::ptr::eq(word, first));
    start.and_then(|start| words.get(start..)).unwrap_or_default()
}

/// Takes the value of an option; `None` if there is none.
fn take_word<'c>(words: &mut &'c [ShellWord]) -> Option<&'c ShellWord> {
    let (first, rest) = words.split_first()?;
    *words = rest;
    Some(first)
}

/// Reads options of one letter each: the one that takes a value, or the first, with its value.
fn letter_option<'c>(
    cluster: &'c str,
    valued: &str,
    words: &mut &'c [ShellWord],
) -> Option<(&'c str, Option<&'c str>)> {
    let Some(at) = cluster.find(|letter| valued.contains(letter)) else {
        return Some((cluster.get(..1).unwrap_or_default(), None));
    };
    let (letter, rest) = (&cluster[at..=at], &cluster[at + 1..]);
    let value = if rest.is_empty() { take_word(words)?.literal() } else { Some(rest) };
    Some((letter, value))
}

/// Returns the first program that `find` runs.
fn executed_by_find<'c>(find: &Invocation<'c>) -> Option<Invocation<'c>> {
    let is_run =
        |word: &ShellWord| matches!(word.literal(), Some("-exec" | "-execdir" | "-ok" | "-okdir"));
    let start = find.words.iter().position(is_run)?;
    let words = find.words.get(start + 1..)?;
    let is_end = |word: &ShellWord| matches!(word.text.as_str(), ";" | "+");
    let words = &words[..words.iter().position(is_end).unwrap_or(words.len())];
    let is_elsewhere = find.words[start].text.ends_with("dir");
    let directory = find.directory.clone().filter(|_| !is_elsewhere);
    let through = InvokedThrough::Arguments.max(find.through);
    (!words.is_empty()).then_some(Invocation { words, through, directory })
}

/// A line that a command hands to a shell.
pub(super) struct InnerLine {
    pub(super) line: String,
    /// The offset of the line in the text of its command, if it stands there as it is.
    pub(super) verbatim: Option<usize>,
    pub(super) span: Span,
    /// False if the shell of the command runs it itself.
    pub(super) is_own_shell: bool,
}

const SHELLS: [&str; 8] = ["sh", "bash", "zsh", "dash", "ash", "ksh", "mksh", "fish"];

/// Returns the line that a command hands to a shell: `bash -c '…'`, `eval "…"`, `npx -c '…'`, `su -c '…'`.
pub(super) fn inner_line(command: &SimpleCommand) -> Option<InnerLine> {
    let all = command.invocations();
    let last = all.last()?;
    let name = last.program()?;
    let operands = last.operands();
    let word = match name {
        "eval" => {
            if let [word] = operands {
                word
            } else {
                let parts: Option<Vec<&str>> = operands.iter().map(ShellWord::literal).collect();
                let (first, end) = (operands.first()?, operands.last()?);
                let span = Span::new(first.span.start, end.span.end);
                let line = parts?.join(" ");
                return Some(InnerLine { line, verbatim: None, span, is_own_shell: false });
            }
        }
        _ if SHELLS.contains(&name) => option_of_shell(operands)?,
        "su" | "npx" => value_of(operands, &["-c", "--call", "--command"])?,
        "npm" => value_of(operands.get(1..)?, &["-c", "--call"])?,
        "env" => value_of(operands, &["-S", "--split-string"])?,
        _ => return None,
    };
    // What is expanded in it can be anything; the commands around it are still there.
    Some(InnerLine {
        line: word.text.clone(),
        verbatim: word.verbatim,
        span: word.span,
        is_own_shell: name != "eval",
    })
}

/// Returns the line behind the `-c` of a shell.
fn option_of_shell(operands: &[ShellWord]) -> Option<&ShellWord> {
    let mut words = operands.iter();
    let mut has_line = false;
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if !text.starts_with(['-', '+']) || text == "-" || text == "--" {
            let is_end = matches!(text, "-" | "--");
            return has_line.then(|| if is_end { words.next() } else { Some(word) }).flatten();
        }
        if text.starts_with("--") {
            if matches!(text, "--rcfile" | "--init-file") {
                words.next();
            }
            continue;
        }
        has_line |= text.starts_with('-') && text.contains('c');
        // `-o pipefail` and `-O globstar` take a name.
        if text.ends_with(['o', 'O']) {
            words.next();
        }
    }
    None
}

fn value_of<'c>(operands: &'c [ShellWord], names: &[&str]) -> Option<&'c ShellWord> {
    let at = operands.iter().position(|word| names.contains(&word.text.as_str()))?;
    operands.get(at + 1)
}

/// Returns whether a command is a shell that runs its input.
pub(super) fn reads_its_input(command: &SimpleCommand) -> bool {
    let Some(run) = command.direct_invocation() else { return false };
    let is_shell = run.program().is_some_and(|name| SHELLS.contains(&name));
    let texts = || run.operands().iter().map(|word| word.text.as_str());
    is_shell
        && option_of_shell(run.operands()).is_none()
        && (texts().any(|text| text == "-s") || texts().all(|text| text.starts_with(['-', '+'])))
}
