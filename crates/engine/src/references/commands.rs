//! Reads what a command line names: a target of `make`, a script of `npm`, a package of `cargo`, a script file.
//!
//! Only forms that can mean one thing are read. A word with a placeholder, a variable or a pattern names nothing.

use brief_syntax::Span;

use super::manifests::has_extension;

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

impl Runner {
    /// Returns the noun for what it runs.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Runner::Make => "target of make",
            Runner::Just => "recipe of just",
            Runner::Task => "task of Taskfile",
            Runner::Package | Runner::Composer => "script",
            Runner::Deno => "task of deno",
            Runner::Mise => "task of mise",
            Runner::Poe => "task of poe",
            Runner::Nox => "session of nox",
            Runner::CargoAlias => "alias of cargo",
            Runner::CargoPackage => "package of cargo",
            Runner::CargoFeature => "feature of cargo",
            Runner::CargoBinary => "binary of cargo",
            Runner::CargoExample => "example of cargo",
            Runner::CargoTest => "test of cargo",
        }
    }
}

/// The thing that a command names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Named {
    /// Something that a runner looks up.
    Target(Runner, String),
    /// A file that is executed or read.
    File(String),
}

/// A name in a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedByCommand {
    pub(crate) named: Named,
    /// Its place in the line.
    pub(crate) span: Span,
    /// The directory that the command changes to first, as written.
    pub(crate) directory: Option<String>,
}

/// A word of a command line.
#[derive(Debug, Clone, Copy)]
struct Word<'l> {
    text: &'l str,
    start: usize,
}

/// Reads a line of a shell. `directory` is the one that earlier lines have changed to, and is changed by `cd`.
pub(crate) fn read_line(line: &str, directory: &mut Option<String>) -> Vec<NamedByCommand> {
    let mut found = Vec::new();
    for command in split(line) {
        let mut words = command.as_slice();
        // `FOO=1 npm test`, `sudo make install`, `time cargo test`.
        while let Some((first, rest)) = words.split_first() {
            let is_setting = first.text.split_once('=').is_some_and(|(name, _)| is_variable(name));
            if !is_setting && !["sudo", "time", "env", "exec", "command"].contains(&first.text) {
                break;
            }
            words = rest;
        }
        let Some((program, rest)) = words.split_first() else { continue };
        if program.text == "cd" {
            *directory = rest.first().map(|word| word.text.to_owned());
            continue;
        }
        let mut names = Vec::new();
        let mut own = None;
        read_command(program, rest, &mut names, &mut own);
        let directory = own.or_else(|| directory.clone());
        for (named, word) in names {
            let span = Span::new(word.start, word.start + word.text.len());
            found.push(NamedByCommand { named, span, directory: directory.clone() });
        }
    }
    found
}

fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && name
            .chars()
            .all(|letter| letter.is_ascii_uppercase() || letter == '_' || letter.is_ascii_digit())
}

/// Splits a line into commands, and these into words. A line with quotes that do not close, or with a
/// substitution, ends where it begins.
fn split(line: &str) -> Vec<Vec<Word<'_>>> {
    let mut commands = vec![Vec::new()];
    let mut start = None;
    let mut quote = None;
    let mut previous = ' ';
    for (index, letter) in line.char_indices().chain([(line.len(), ' ')]) {
        if let Some(open) = quote {
            if letter == open {
                quote = None;
            }
            previous = letter;
            continue;
        }
        match letter {
            '\'' | '"' => {
                quote = Some(letter);
                start.get_or_insert(index);
            }
            '#' if previous.is_whitespace() => break,
            _ if letter.is_whitespace() || matches!(letter, ';' | '|' | '&' | '(' | ')') => {
                if let Some(begin) = start.take()
                    && let Some(last) = commands.last_mut()
                {
                    last.push(Word { text: &line[begin..index], start: begin });
                }
                if !letter.is_whitespace() {
                    commands.push(Vec::new());
                }
            }
            _ => {
                start.get_or_insert(index);
            }
        }
        previous = letter;
    }
    commands
}

type Names<'l> = Vec<(Named, Word<'l>)>;

fn read_command<'l>(
    program: &Word<'l>,
    rest: &[Word<'l>],
    names: &mut Names<'l>,
    directory: &mut Option<String>,
) {
    match program.text {
        "make" | "gmake" => make(rest, names, directory),
        "just" => just(rest, names, directory),
        "task" => {
            first_target(
                Runner::Task,
                rest,
                names,
                &["-d", "--dir", "-t", "--taskfile"],
                directory,
            );
        }
        "npm" | "pnpm" | "yarn" | "bun" => package(program.text, rest, names, directory),
        "composer" => after(rest, &["run", "run-script"], Runner::Composer, names),
        "deno" => after(rest, &["task"], Runner::Deno, names),
        "mise" => after(rest, &["run", "r"], Runner::Mise, names),
        "poe" => first_target(Runner::Poe, rest, names, &["-C", "--directory"], directory),
        "nox" => nox(rest, names),
        "cargo" => cargo(rest, names, directory),
        "uv" | "poetry" | "pdm" | "pipenv" | "rye"
            if rest.first().is_some_and(|word| word.text == "run") =>
        {
            let inner = rest.iter().skip(1).position(|word| !word.text.starts_with('-'));
            let Some(inner) = inner.map(|place| place + 1) else { return };
            // `uv run --with x script.py`: the word after an option may be its value.
            if inner > 1 {
                return;
            }
            if has_extension(rest[inner].text, &["py"]) {
                names.extend(file(&rest[inner]));
            } else {
                read_command(&rest[inner], &rest[inner + 1..], names, directory);
            }
        }
        "bash" | "sh" | "zsh" | "python" | "python3" | "node" | "ruby" | "tsx" | "ts-node"
        | "source" | "." | "chmod" | "perl" | "php" => {
            let script = rest.iter().find(|word| !word.text.starts_with(['-', '+']));
            let is_inline =
                rest.first().is_some_and(|word| ["-c", "-m", "-e", "-p", "-"].contains(&word.text));
            if let Some(script) = script.filter(|_| !is_inline && program.text != "chmod") {
                names.extend(file(script));
            }
        }
        script if script.starts_with("./") => names.extend(file(program)),
        _ => {}
    }
}

/// A file that is executed: `scripts/x.sh`, `./x.sh`.
fn file<'l>(word: &Word<'l>) -> Option<(Named, Word<'l>)> {
    let text = word.text;
    let is_plain = text.chars().all(|letter| letter.is_alphanumeric() || "._-/+".contains(letter));
    let name = text.rsplit('/').next().unwrap_or_default();
    let is_file = text.contains('/')
        && name.rsplit_once('.').is_some_and(|(stem, end)| {
            !stem.is_empty()
                && ["sh", "py", "js", "mjs", "cjs", "ts", "rb", "pl", "bash", "ps1"].contains(&end)
        });
    (is_plain && is_file).then(|| (Named::File(text.to_owned()), *word))
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
    const WORDS: [&str; 24] = [
        "name",
        "target",
        "script",
        "task",
        "recipe",
        "foo",
        "bar",
        "baz",
        "xxx",
        "x",
        "package",
        "package-name",
        "pkg",
        "crate",
        "crate-name",
        "module",
        "command",
        "example",
        "script-name",
        "task-name",
        "feature",
        "something",
        "crate_name",
        "package_name",
    ];
    let lower = text.to_ascii_lowercase();
    WORDS.contains(&lower.as_str())
        || ["your-", "my-", "your_", "my_", "some-", "path/to"]
            .iter()
            .any(|start| lower.starts_with(start))
        || text.chars().any(|letter| letter.is_ascii_uppercase())
            && !text.chars().any(|letter| letter.is_ascii_lowercase())
}

fn target<'l>(runner: Runner, word: &Word<'l>) -> Option<(Named, Word<'l>)> {
    is_name(word.text).then(|| (Named::Target(runner, word.text.to_owned()), *word))
}

fn make<'l>(rest: &[Word<'l>], names: &mut Names<'l>, directory: &mut Option<String>) {
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        match word.text {
            "-C" | "--directory" => *directory = words.next().map(|word| word.text.to_owned()),
            // Another file than the usual one is not looked into.
            "-f" | "--file" | "-I" => return names.clear(),
            "-j" => {
                let is_number =
                    |word: &&Word<'_>| word.text.bytes().all(|byte| byte.is_ascii_digit());
                words = words.as_slice().iter();
                if words.clone().next().is_some_and(|word| is_number(&word)) {
                    words.next();
                }
            }
            text if text.starts_with('-') || text.contains('=') => {
                if let Some(place) = text.strip_prefix("--directory=") {
                    *directory = Some(place.to_owned());
                }
            }
            // A file to be made is another matter.
            text if text.contains('/') || text.contains('.') => {}
            text if text.starts_with(['>', '<']) => return,
            _ => names.extend(target(Runner::Make, word)),
        }
    }
}

fn just<'l>(rest: &[Word<'l>], names: &mut Names<'l>, directory: &mut Option<String>) {
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        match word.text {
            "-d" | "--working-directory" => {
                *directory = words.next().map(|word| word.text.to_owned());
            }
            "-f" | "--justfile" | "--set" => return,
            text if text.starts_with('-') || text.contains('=') => {}
            text if text.contains("::") || text.contains('/') => return,
            // The words behind it are its arguments.
            _ => return names.extend(target(Runner::Just, word)),
        }
    }
}

fn first_target<'l>(
    runner: Runner,
    rest: &[Word<'l>],
    names: &mut Names<'l>,
    of_directory: &[&str],
    directory: &mut Option<String>,
) {
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        if of_directory.contains(&word.text) {
            *directory = words.next().map(|word| word.text.to_owned());
        } else if word.text.starts_with('-') {
            return;
        } else if !word.text.contains('=') {
            return names.extend(target(runner, word));
        }
    }
}

fn after<'l>(rest: &[Word<'l>], verbs: &[&str], runner: Runner, names: &mut Names<'l>) {
    if let [verb, name, ..] = rest
        && verbs.contains(&verb.text)
    {
        names.extend(target(runner, name));
    }
}

fn nox<'l>(rest: &[Word<'l>], names: &mut Names<'l>) {
    let mut words = rest.iter().skip_while(|word| !["-s", "--session", "-e"].contains(&word.text));
    words.next();
    // `tests-3.12`: a session for a version.
    names.extend(
        words
            .next()
            .filter(|word| !word.text.contains(['-', '(']))
            .and_then(|word| target(Runner::Nox, word)),
    );
}

/// Names of scripts that are hardly ever names of programs.
const SCRIPTS: [&str; 24] = [
    "test",
    "build",
    "dev",
    "start",
    "lint",
    "format",
    "typecheck",
    "type-check",
    "check",
    "check-types",
    "lint-fix",
    "clean",
    "e2e",
    "coverage",
    "storybook",
    "generate",
    "codegen",
    "migrate",
    "seed",
    "release",
    "watch",
    "unit",
    "preview",
    "docs",
];

fn package<'l>(
    program: &str,
    rest: &[Word<'l>],
    names: &mut Names<'l>,
    directory: &mut Option<String>,
) {
    let mut words = rest.iter();
    let mut is_run = false;
    while let Some(word) = words.next() {
        match word.text {
            "--prefix" | "-C" | "--dir" | "--cwd" => {
                *directory = words.next().map(|word| word.text.to_owned());
            }
            // The scripts of another package: any of the project will do.
            "-w" | "--workspace" | "--filter" | "-F" if program != "pnpm" || word.text != "-w" => {
                words.next();
                *directory = Some(String::from("*"));
            }
            "workspace" if program == "yarn" => {
                words.next();
                *directory = Some(String::from("*"));
            }
            text if text.starts_with("--prefix=")
                || text.starts_with("--cwd=")
                || text.starts_with("--dir=") =>
            {
                *directory = text.split_once('=').map(|(_, place)| place.to_owned());
            }
            text if text.starts_with('-') => {
                if text.starts_with("--filter=")
                    || text.starts_with("--workspace")
                    || text.starts_with("-r")
                {
                    *directory = Some(String::from("*"));
                }
            }
            "run" | "run-script" if !is_run => is_run = true,
            "test" if program == "npm" => return names.extend(target(Runner::Package, word)),
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
                    names.extend(target(Runner::Package, word));
                }
                return;
            }
        }
    }
}

/// The commands of cargo whose options name packages.
const VERBS: [&str; 14] = [
    "build", "b", "check", "c", "test", "t", "run", "r", "bench", "clippy", "doc", "nextest",
    "fmt", "insta",
];

fn cargo<'l>(rest: &[Word<'l>], names: &mut Names<'l>, directory: &mut Option<String>) {
    let mut words = rest.iter().filter(|word| !word.text.starts_with('+'));
    let Some(verb) = words.next() else { return };
    if verb.text == "xtask" {
        return names.push((Named::Target(Runner::CargoAlias, verb.text.to_owned()), *verb));
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
                *directory = path.map(|(directory, _)| directory.to_owned());
                continue;
            }
            _ => continue,
        };
        let Some(value) = value.or_else(|| words.next().copied()) else { return };
        let quotes = ['"', '\''];
        let mut start = value.start;
        for name in
            value.text.split(if runner == Runner::CargoFeature { &[',', ' '][..] } else { &[][..] })
        {
            let inner = name.trim_matches(quotes);
            let place = start + (name.len() - name.trim_start_matches(quotes).len());
            // `dep/feature` and `crate@1` name something of other projects.
            if !inner.contains(['/', '@', ':']) {
                names.extend(target(runner, &Word { text: inner, start: place }));
            }
            start += name.len() + 1;
        }
    }
}
