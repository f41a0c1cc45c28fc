//! Reads what a command line names: a target of `make`, a script of `npm`, a package of `cargo`, a script file.
//!
//! Only forms that can mean one thing are read. A word with a placeholder, a variable or a pattern names nothing.

use std::path::Path;
use std::sync::Arc;

use brief_syntax::Span;
use brief_syntax::shell::{SimpleCommand, parse_script};
use brief_system::paths::{cleaned_below, to_slashed};

use super::manifests::has_extension;
use crate::words::split_words;

/// A program that runs what a file of the project defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Runner {
    Make,
    Just,
    Task,
    /// npm, pnpm, yarn and bun.
    Package,
    Composer,
    Deno,
    Mise,
    Poe,
    Nox,
    CargoAlias,
    CargoPackage,
    CargoFeature,
    CargoBinary,
    CargoExample,
    CargoTest,
}

/// The facts about a task runner.
pub(crate) struct RunnerFacts {
    /// The noun for what it runs.
    pub(crate) noun: &'static str,
    /// The files that define its names, as they are usually called.
    pub(crate) manifests: &'static [&'static str],
    /// True if it runs what any manifest of the project defines, wherever the command is given.
    pub(crate) is_project_wide: bool,
    /// True if a user's own files, outside of the project, can define names as well.
    pub(crate) is_of_user: bool,
}

impl Runner {
    pub(crate) fn facts(self) -> RunnerFacts {
        let (noun, manifests, is_project_wide): (_, &[&str], _) = match self {
            Runner::Make => ("make target", &["Makefile", "GNUmakefile", "makefile"], false),
            Runner::Just => ("just recipe", &["justfile", "Justfile", ".justfile"], false),
            Runner::Task => ("Taskfile task", &["Taskfile.yml", "Taskfile.yaml"], false),
            Runner::Package => ("script", &["package.json"], false),
            Runner::Composer => ("script", &["composer.json"], false),
            Runner::Deno => ("deno task", &["deno.json", "deno.jsonc"], true),
            Runner::Mise => ("mise task", &["mise.toml", ".mise.toml"], false),
            Runner::Poe => ("poe task", &["pyproject.toml"], false),
            Runner::Nox => ("nox session", &["noxfile.py"], true),
            Runner::CargoAlias => ("cargo alias", &["Cargo.toml"], true),
            Runner::CargoPackage => ("cargo package", &["Cargo.toml"], true),
            Runner::CargoFeature => ("cargo feature", &["Cargo.toml"], true),
            Runner::CargoBinary => ("cargo binary", &["Cargo.toml"], true),
            Runner::CargoExample => ("cargo example", &["Cargo.toml"], true),
            Runner::CargoTest => ("cargo test target", &["Cargo.toml"], true),
        };
        let is_of_user = matches!(self, Runner::Mise | Runner::CargoAlias | Runner::Task);
        RunnerFacts { noun, manifests, is_project_wide, is_of_user }
    }
}

/// The thing that a command names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CommandTarget {
    /// Something that a runner looks up.
    Target(Runner, String),
    /// A file that is executed or read.
    File(String),
}

/// A name in a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandName {
    pub(crate) named: CommandTarget,
    /// Its place in the line.
    pub(crate) span: Span,
    /// The directory that the command is given in, as written; `*` is that of any package.
    pub(crate) directory: Option<String>,
}

/// A word of a command line, with its quotes.
#[derive(Debug, Clone, Copy)]
struct Word<'l> {
    text: &'l str,
    start: usize,
}

/// The directory of a shell, from that of the text on; `None` if it is not known, or outside of the project.
#[derive(Debug, Clone)]
pub(crate) struct ShellDirectory(Option<Arc<Path>>);

impl ShellDirectory {
    /// Returns the directory of the text.
    pub(crate) fn new() -> ShellDirectory {
        ShellDirectory(Some(Path::new("").into()))
    }

    /// Returns the directory, if it is known: empty for that of the text.
    pub(crate) fn known_directory(&self) -> Option<String> {
        let path = self.0.as_deref().filter(|path| !path.is_absolute())?;
        Some(to_slashed(&cleaned_below(path).unwrap_or_else(|| path.to_owned())))
    }
}

/// Reads a line of a shell. `directory` is the one that earlier lines have changed to, and is changed by `cd`.
pub(crate) fn read_line(line: &str, directory: &mut ShellDirectory) -> Vec<CommandName> {
    let script = parse_script(line, directory.0.take());
    directory.0 = script.directory;
    script.commands.iter().flat_map(|command| read_command(line, command)).collect()
}

/// Returns the names in one command: none where its directory or its place in the line is not known.
fn read_command(line: &str, command: &SimpleCommand) -> Vec<CommandName> {
    let Some(found) = command.direct_invocation().filter(|_| command.has_exact_spans) else {
        return Vec::new();
    };
    let Some(place) = ShellDirectory(found.directory).known_directory() else { return Vec::new() };
    let words = found.words.iter().map(|word| {
        let text = line.get(word.span.range()).unwrap_or_default();
        Word { text, start: word.span.start }
    });
    let words: Vec<Word<'_>> = words.collect();
    let Some((program, rest)) = words.split_first() else { return Vec::new() };
    let mut read = CommandNames::default();
    read.parse_command(program, rest);
    let directory = read.directory.or_else(|| (!place.is_empty()).then_some(place));
    let names = read.names.into_iter().map(|(named, word)| {
        let span = Span::new(word.start, word.start + word.text.len());
        CommandName { named, span, directory: directory.clone() }
    });
    names.filter(|name| !starts_placeholder(line.get(name.span.end..))).collect()
}

/// Returns whether a text goes on with a placeholder: `<directory>`, which a shell takes for a redirection.
fn starts_placeholder(rest: Option<&str>) -> bool {
    let inside = rest.and_then(|rest| rest.strip_prefix('<')).and_then(|rest| rest.split_once('>'));
    inside.is_some_and(|(name, _)| {
        name.starts_with(char::is_alphabetic)
            && name.chars().all(|letter| letter.is_alphanumeric() || "_- .|".contains(letter))
    })
}

/// Names of scripts that are hardly ever names of programs.
const SCRIPTS: [&str; 24] = split_words(
    "test build dev start lint format typecheck type-check check check-types lint-fix clean e2e \
     coverage storybook generate codegen migrate seed release watch unit preview docs",
);

/// The commands of cargo whose options name packages.
const VERBS: [&str; 14] = [
    "build", "b", "check", "c", "test", "t", "run", "r", "bench", "clippy", "doc", "nextest",
    "fmt", "insta",
];

/// The names in one command, and the directory that its options change to.
#[derive(Default)]
struct CommandNames<'l> {
    names: Vec<(CommandTarget, Word<'l>)>,
    directory: Option<String>,
}

impl<'l> CommandNames<'l> {
    fn parse_command(&mut self, program: &Word<'l>, rest: &[Word<'l>]) {
        match program.text {
            "make" | "gmake" => self.parse_make(rest),
            "just" => self.parse_just(rest),
            "task" => self.first_target(Runner::Task, rest, &["-d", "--dir", "-t", "--taskfile"]),
            "npm" | "pnpm" | "yarn" | "bun" => self.parse_package_manager(program.text, rest),
            "composer" => self.add_target_after(rest, &["run", "run-script"], Runner::Composer),
            "deno" => self.add_target_after(rest, &["task"], Runner::Deno),
            "mise" => self.add_target_after(rest, &["run", "r"], Runner::Mise),
            "poe" => self.first_target(Runner::Poe, rest, &["-C", "--directory"]),
            "nox" => self.parse_nox(rest),
            "cargo" => self.parse_cargo(rest),
            // `uv run --with x script.py`: the word after an option may be its value.
            "uv" | "poetry" | "pdm" | "pipenv" | "rye" => match rest {
                [run, inner, rest @ ..] if run.text == "run" && !inner.text.starts_with('-') => {
                    if has_extension(inner.text, &["py"]) {
                        self.add_file(inner);
                    } else {
                        self.parse_command(inner, rest);
                    }
                }
                _ => {}
            },
            "bash" | "sh" | "zsh" | "python" | "python3" | "node" | "ruby" | "tsx" | "ts-node"
            | "source" | "." | "perl" | "php" => {
                let is_inline = rest
                    .first()
                    .is_some_and(|word| ["-c", "-m", "-e", "-p", "-"].contains(&word.text));
                let script = rest.iter().find(|word| !word.text.starts_with(['-', '+']));
                if let Some(script) = script.filter(|_| !is_inline) {
                    self.add_file(script);
                }
            }
            script if script.starts_with("./") => self.add_file(program),
            _ => {}
        }
    }

    /// Takes a file that is executed: `scripts/x.sh`, `./x.sh`.
    fn add_file(&mut self, word: &Word<'l>) {
        let text = word.text;
        let is_plain =
            text.chars().all(|letter| letter.is_alphanumeric() || "._-/+".contains(letter));
        let name = text.rsplit('/').next().unwrap_or_default();
        let is_file = text.contains('/')
            && name.rsplit_once('.').is_some_and(|(stem, end)| {
                !stem.is_empty()
                    && ["sh", "py", "js", "mjs", "cjs", "ts", "rb", "pl", "bash", "ps1"]
                        .contains(&end)
            });
        let is_stand_in =
            text.split('/').any(|part| is_stand_in(part.split('.').next().unwrap_or(part)));
        if is_plain && is_file && !is_stand_in {
            self.names.push((CommandTarget::File(text.to_owned()), *word));
        }
    }

    /// Takes a target, if the word can be the name of one.
    fn add_target(&mut self, runner: Runner, word: &Word<'l>) {
        if is_name(word.text) {
            self.names.push((CommandTarget::Target(runner, word.text.to_owned()), *word));
        }
    }

    fn enter_directory(&mut self, directory: Option<&Word<'l>>) {
        self.directory = directory.map(|word| word.text.to_owned());
    }

    fn parse_make(&mut self, rest: &[Word<'l>]) {
        let mut words = rest.iter().peekable();
        while let Some(word) = words.next() {
            match word.text {
                "-C" | "--directory" => self.enter_directory(words.next()),
                // Another file than the usual one is not looked into.
                "-f" | "--file" | "-I" => return self.names.clear(),
                "-j" => {
                    words.next_if(|word| word.text.bytes().all(|byte| byte.is_ascii_digit()));
                }
                text if text.starts_with('-') || text.contains('=') => {
                    if let Some(place) = text.strip_prefix("--directory=") {
                        self.directory = Some(place.to_owned());
                    }
                }
                // A file to be made is another matter.
                text if text.contains('/') || text.contains('.') => {}
                _ => self.add_target(Runner::Make, word),
            }
        }
    }

    fn parse_just(&mut self, rest: &[Word<'l>]) {
        let mut words = rest.iter();
        while let Some(word) = words.next() {
            match word.text {
                "-d" | "--working-directory" => self.enter_directory(words.next()),
                "-f" | "--justfile" | "--set" => return,
                text if text.starts_with('-') || text.contains('=') => {}
                text if text.contains("::") || text.contains('/') => return,
                // The words behind it are its arguments.
                _ => return self.add_target(Runner::Just, word),
            }
        }
    }

    fn first_target(&mut self, runner: Runner, rest: &[Word<'l>], of_directory: &[&str]) {
        let mut words = rest.iter();
        while let Some(word) = words.next() {
            if of_directory.contains(&word.text) {
                self.enter_directory(words.next());
            } else if word.text.starts_with('-') {
                return;
            } else if !word.text.contains('=') {
                return self.add_target(runner, word);
            }
        }
    }

    fn add_target_after(&mut self, rest: &[Word<'l>], verbs: &[&str], runner: Runner) {
        if let [verb, name, ..] = rest
            && verbs.contains(&verb.text)
        {
            self.add_target(runner, name);
        }
    }

    fn parse_nox(&mut self, rest: &[Word<'l>]) {
        let is_option = |word: &&Word<'_>| ["-s", "--session", "-e"].contains(&word.text);
        let session = rest.iter().skip_while(|word| !is_option(word)).nth(1);
        // `tests-3.12`: a session for a version.
        if let Some(session) = session.filter(|word| !word.text.contains(['-', '('])) {
            self.add_target(Runner::Nox, session);
        }
    }

    fn parse_package_manager(&mut self, program: &str, rest: &[Word<'l>]) {
        let mut words = rest.iter();
        let mut is_run = false;
        while let Some(word) = words.next() {
            match word.text {
                "--prefix" | "-C" | "--dir" | "--cwd" => {
                    self.enter_directory(words.next());
                }
                // The scripts of another package: any of the project will do.
                "-w" | "--workspace" | "--filter" | "-F"
                    if program != "pnpm" || word.text != "-w" =>
                {
                    words.next();
                    self.directory = Some(String::from("*"));
                }
                "workspace" if program == "yarn" => {
                    words.next();
                    self.directory = Some(String::from("*"));
                }
                text if text.starts_with("--prefix=")
                    || text.starts_with("--cwd=")
                    || text.starts_with("--dir=") =>
                {
                    self.directory = text.split_once('=').map(|(_, place)| place.to_owned());
                }
                text if text.starts_with('-') => {
                    if text.starts_with("--filter=")
                        || text.starts_with("--workspace")
                        || text.starts_with("-r")
                    {
                        self.directory = Some(String::from("*"));
                    }
                }
                "run" | "run-script" if !is_run => is_run = true,
                "test" if program == "npm" => return self.add_target(Runner::Package, word),
                text => {
                    let is_script = match program {
                        "npm" | "pnpm" if is_run => true,
                        // They run programs of packages, too.
                        "bun" | "yarn" if is_run => text.contains(':') || SCRIPTS.contains(&text),
                        "pnpm" | "yarn" => text.contains(':') && !text.contains('/'),
                        _ => false,
                    };
                    let is_path = text.contains('/') || text.contains('.');
                    if is_script && !is_path {
                        self.add_target(Runner::Package, word);
                    }
                    return;
                }
            }
        }
    }

    fn parse_cargo(&mut self, rest: &[Word<'l>]) {
        let mut words = rest.iter().filter(|word| !word.text.starts_with('+'));
        let Some(verb) = words.next() else { return };
        if verb.text == "xtask" {
            return self.add_target(Runner::CargoAlias, verb);
        }
        if !VERBS.contains(&verb.text) {
            return;
        }
        while let Some(word) = words.next() {
            let (option, value) = match word.text.split_once('=') {
                Some((option, value)) => {
                    (option, Some(Word { text: value, start: word.start + option.len() + 1 }))
                }
                None => (word.text, None),
            };
            let runner = match option {
                "--" => return,
                "-p" | "--package" => Runner::CargoPackage,
                "--features" | "-F" => Runner::CargoFeature,
                "--bin" => Runner::CargoBinary,
                "--example" => Runner::CargoExample,
                "--test" => Runner::CargoTest,
                "--manifest-path" => {
                    let path = value.or_else(|| words.next().copied());
                    let path = path.and_then(|word| word.text.rsplit_once('/'));
                    self.directory = path.map(|(directory, _)| directory.to_owned());
                    continue;
                }
                _ => continue,
            };
            let Some(value) = value.or_else(|| words.next().copied()) else { return };
            let quotes = ['"', '\''];
            let mut start = value.start;
            for name in value.text.split(if runner == Runner::CargoFeature {
                &[',', ' '][..]
            } else {
                &[][..]
            }) {
                let inner = name.trim_matches(quotes);
                let place = start + (name.len() - name.trim_start_matches(quotes).len());
                // `dep/feature` and `crate@1` name something of other projects.
                if !inner.contains(['/', '@', ':']) {
                    self.add_target(runner, &Word { text: inner, start: place });
                }
                start += name.len() + 1;
            }
        }
    }
}

/// Returns whether a word can be the name of a target.
fn is_name(text: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "_-.:/".contains(letter);
    let begins =
        text.chars().next().is_some_and(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    begins && text.chars().all(is_letter) && !text.contains("...") && !is_stand_in(text)
}

/// `name`, `xxx`, `foo`, `target` stand for a name.
pub(super) fn is_stand_in(text: &str) -> bool {
    const WORDS: [&str; 24] = split_words(
        "name target script task recipe foo bar baz xxx x package package-name pkg crate \
         crate-name module command example script-name task-name feature something crate_name \
         package_name",
    );
    let lower = text.to_ascii_lowercase();
    // `script_name`, `test-file-name`.
    lower.ends_with("_name")
        || lower.ends_with("-name")
        || WORDS.contains(&lower.as_str())
        || ["your-", "my-", "your_", "my_", "some-", "path/to"]
            .iter()
            .any(|start| lower.starts_with(start))
        || text.chars().any(|letter| letter.is_ascii_uppercase())
            && !text.chars().any(|letter| letter.is_ascii_lowercase())
}
