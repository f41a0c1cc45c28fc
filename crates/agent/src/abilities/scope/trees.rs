//! Programs that read whole directories: what they leave out.
//!
//! A check of operands says nothing about what lies below them. So the names that are hidden from tools are listed before a program starts,
//! and the program is told to leave them out. No listed option makes it follow a link below an operand.

use super::grammar::SplitArguments;
use super::{git, known_name, programs};

/// The limit for the names that a program is told to leave out.
const MOST_LEFT_OUT: usize = 2_000;

/// A file or directory that is hidden from tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HiddenEntry {
    /// The path below the project.
    pub(crate) path: String,
    pub(crate) is_directory: bool,
}

impl HiddenEntry {
    /// Returns whether a path of the project is this entry, or lies in it.
    fn contains_path(&self, path: &str) -> bool {
        let path = path.trim_start_matches("./");
        path.strip_prefix(self.path.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// The project, as the arguments of a program name it. The rules of this module read nothing by themselves.
pub(crate) trait ProjectTree {
    /// Returns whether a path leads to a directory.
    fn is_directory(&self, path: &str) -> bool;

    /// Refuses a path that leaves the project or is hidden from tools.
    fn check_path(&self, path: &str) -> Result<(), String>;

    /// Returns what is hidden below directories. The error is a reason.
    fn hidden_below(&self, directories: &[String]) -> Result<Vec<HiddenEntry>, String>;
}

/// Arguments that keep to what tools may read.
pub(crate) struct NarrowedArguments {
    pub(crate) args: Vec<String>,
    /// The paths that the program leaves out, without those inside `.git`.
    pub(crate) left_out: Vec<String>,
}

/// Makes a program leave out what is hidden below the directories that it reads. The arguments have passed [`super::words`].
pub(crate) fn exclude_hidden(
    program: &str,
    args: Vec<String>,
    tree: &dyn ProjectTree,
) -> Result<NarrowedArguments, String> {
    let name = known_name(program);
    let grammar = match name.as_str() {
        "git" => git::grammar_of(&args),
        _ => programs::find_grammar(&name).map(|grammar| (0, grammar)),
    };
    let unchanged = |args| Ok(NarrowedArguments { args, left_out: Vec::new() });
    let Some((start, grammar)) = grammar else { return unchanged(args) };
    let (before, rest) = args.split_at(start);
    let split = grammar.split_arguments(&name, rest)?;
    let below = |paths: &[String]| -> Result<Vec<HiddenEntry>, String> {
        let named = paths.iter().filter(|path| tree.is_directory(path)).cloned();
        let directories: Vec<String> = match paths {
            [] => vec![".".to_owned()],
            _ => named.collect(),
        };
        if directories.is_empty() {
            return Ok(Vec::new());
        }
        let hidden = tree.hidden_below(&directories)?;
        if hidden.len() > MOST_LEFT_OUT {
            return Err(format!(
                "more than {MOST_LEFT_OUT} names below `{}` may hold secrets; name a directory without them",
                directories.join("`, `")
            ));
        }
        Ok(hidden)
    };
    let (hidden, args) = match name.as_str() {
        "grep" if split.contains_any(&["-r", "--recursive"]) => {
            let hidden = below(&split.paths)?;
            let option = |entry: &HiddenEntry| {
                let option = if entry.is_directory { "--exclude-dir" } else { "--exclude" };
                format!("{option}={}", escape_pattern(base_name(&entry.path)))
            };
            let options = hidden.iter().map(option).collect();
            (hidden, split.into_arguments(options, Vec::new()))
        }
        "rg" => {
            let split = if split.contains_any(&["--files", "--type-list"]) {
                all_paths(split)
            } else {
                split
            };
            let hidden = below(&split.paths)?;
            // The last pattern decides, and those without case come last.
            let option = |entry: &HiddenEntry| format!("--iglob=!/{}", escape_pattern(&entry.path));
            let options = hidden.iter().map(option).collect();
            (hidden, split.into_arguments(options, Vec::new()))
        }
        "diff" if split.paths.iter().any(|path| tree.is_directory(path)) => {
            let hidden = below(&split.paths)?;
            let option = |entry: &HiddenEntry| {
                format!("--exclude={}", escape_pattern(base_name(&entry.path)))
            };
            let mut options = vec!["--no-dereference".to_owned()];
            options.extend(hidden.iter().map(option));
            (hidden, split.into_arguments(options, Vec::new()))
        }
        "tar" if split.contains_any(&["-c", "--create"]) => {
            let (hidden, mut options) = hidden_from_tar(&split, tree, below)?;
            options.extend(rest.iter().cloned());
            (hidden, options)
        }
        "git" => return narrow_git(before, rest, split, below),
        _ => return unchanged(args),
    };
    let left_out = reported_paths(&hidden);
    Ok(NarrowedArguments { args, left_out })
}

/// Takes the words before the paths for paths, too.
fn all_paths(mut split: SplitArguments) -> SplitArguments {
    let texts = std::mem::take(&mut split.texts);
    split.paths.splice(0..0, texts);
    split
}

/// Returns what `tar` leaves out. It reads its operands in the directory of `-C`.
fn hidden_from_tar(
    split: &SplitArguments,
    tree: &dyn ProjectTree,
    below: impl Fn(&[String]) -> Result<Vec<HiddenEntry>, String>,
) -> Result<(Vec<HiddenEntry>, Vec<String>), String> {
    let base = match split.directories.as_slice() {
        [] => "",
        [one] => one.trim_start_matches("./").trim_end_matches('/'),
        _ => return Err("`sh:tar` covers only one `-C`".to_owned()),
    };
    let base = if base == "." { "" } else { base };
    let placed = |path: &String| {
        if base.is_empty() { path.clone() } else { format!("{base}/{path}") }
    };
    let paths: Vec<String> = split.paths.iter().map(placed).collect();
    paths.iter().try_for_each(|path| tree.check_path(path))?;
    if paths.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let hidden = below(&paths)?;
    let mut options = Vec::new();
    for entry in &hidden {
        options.push(format!("--exclude={}", escape_pattern(&entry.path)));
        // A name in the archive begins at the directory of `-C`.
        let steps = if base.is_empty() { 0 } else { base.split('/').count() };
        let rest = entry.path.splitn(steps + 1, '/').last().unwrap_or(&entry.path);
        if rest != entry.path {
            options.push(format!("--exclude={}", escape_pattern(rest)));
        }
    }
    Ok((hidden, options))
}

/// Keeps git from printing hidden files of the working tree, and from taking them into the index or a commit, from which it would
/// print them.
fn narrow_git(
    before: &[String],
    rest: &[String],
    split: SplitArguments,
    below: impl Fn(&[String]) -> Result<Vec<HiddenEntry>, String>,
) -> Result<NarrowedArguments, String> {
    let command = before.last().map_or("", String::as_str);
    let unchanged = || {
        let args = before.iter().chain(rest).cloned().collect();
        Ok(NarrowedArguments { args, left_out: Vec::new() })
    };
    if !reads_files(command, &split) {
        return unchanged();
    }
    let mut hidden = below(&[])?;
    hidden.retain(|entry| !is_in_git(&entry.path));
    if hidden.is_empty() {
        return unchanged();
    }
    if before.iter().any(|word| word == "--literal-pathspecs") {
        return Err(format!("`sh:git` does not cover `--literal-pathspecs` with `{command}`"));
    }
    if split.contains_any(&["--autostash"]) {
        return Err(
            "`sh:git` does not cover `--autostash` in a project with files that may hold secrets"
                .to_owned(),
        );
    }
    let excluded = hidden.iter().map(|entry| format!(":(exclude,top,literal){}", entry.path));
    let args: Vec<String> = match command {
        "add" => split.into_arguments(Vec::new(), excluded.collect()),
        "stash" => {
            // `push` is the command that is meant without a word, and comes before the options.
            let (push, options) = (["push".to_owned()].into_iter(), split.options.into_iter());
            let paths = split.paths.into_iter().skip(1);
            push.chain(options).chain(["--".to_owned()]).chain(paths).chain(excluded).collect()
        }
        "commit" if split.contains_any(&["-a", "--all"]) => {
            // With paths and `--include` it commits the same, and can leave files out.
            let options = split.options.iter().filter_map(|word| without_all(word));
            let words = ["--include", "--", "."].map(str::to_owned);
            options.chain(words).chain(excluded).collect()
        }
        "blame" => {
            let is_hidden = |path: &&String| hidden.iter().any(|entry| entry.contains_path(path));
            if let Some(path) = split.paths.iter().find(is_hidden) {
                return Err(format!("`{path}` may hold secrets"));
            }
            return unchanged();
        }
        // Two blobs are committed, and take no patterns.
        "diff" if !split.paths.is_empty() && split.paths.iter().all(|path| path.contains(':')) => {
            return unchanged();
        }
        _ => rest.iter().cloned().chain(excluded).collect(),
    };
    let left_out = reported_paths(&hidden);
    let args = before.iter().cloned().chain(args).collect();
    Ok(NarrowedArguments { args, left_out })
}

/// Returns whether a command of git reads files of the working tree: to print them, or to take them over.
fn reads_files(command: &str, split: &SplitArguments) -> bool {
    match command {
        "add" => split.contains_any(&["-A", "--all", "-u", "--update"]) || !split.paths.is_empty(),
        "stash" => {
            let pushes = split.paths.first().is_none_or(|word| word == "push");
            pushes && !split.contains_any(&["-S", "--staged"])
        }
        "commit" => split.contains_any(&["-a", "--all"]) || !split.paths.is_empty(),
        "diff" => !split.contains_any(&["--cached", "--staged"]),
        "grep" => !split.contains_any(&["--cached"]),
        "merge" | "rebase" => split.contains_any(&["--autostash"]),
        "blame" => true,
        _ => false,
    }
}

/// Returns a word of options without `-a` and `--all`; `None` if nothing is left.
fn without_all(word: &str) -> Option<String> {
    if word == "--all" {
        return None;
    }
    let Some(letters) =
        word.strip_prefix('-').filter(|letters| !letters.is_empty() && !letters.starts_with('-'))
    else {
        return Some(word.to_owned());
    };
    // What follows `m` is the message.
    let flags = letters.split('m').next().unwrap_or_default();
    let kept = format!("-{}{}", flags.replace('a', ""), &letters[flags.len()..]);
    (kept != "-").then_some(kept)
}

fn reported_paths(hidden: &[HiddenEntry]) -> Vec<String> {
    let told = hidden.iter().filter(|entry| !is_in_git(&entry.path));
    told.map(|entry| entry.path.clone()).collect()
}

fn is_in_git(path: &str) -> bool {
    path.split('/').any(|name| name.eq_ignore_ascii_case(".git"))
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns a path as a pattern that matches it alone.
fn escape_pattern(path: &str) -> String {
    let mut pattern = String::with_capacity(path.len());
    for sign in path.chars() {
        if matches!(sign, '*' | '?' | '[' | ']' | '{' | '}' | '!' | '\\') {
            pattern.push('\\');
        }
        pattern.push(sign);
    }
    pattern
}
