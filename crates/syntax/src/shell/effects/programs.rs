//! The effects of programs on their operands.

use crate::shell::{ShellWord, SimpleCommand};

use super::FileUse;
use super::{diff, python};

/// The effect of a program on its operands.
#[derive(Clone, Copy)]
enum OperandUse {
    Reads,
    /// Reads all operands after the first, which is a script; an option may supply the script instead.
    ReadsAfterScript,
    /// Searches all operands after the first, which is a pattern: files, or directories when asked to.
    Searches {
        is_recursive: bool,
    },
    /// Lists all operands, or the current directory.
    Lists,
    Writes,
    Removes,
    /// Copies or moves all operands to the last one.
    Copies {
        source: FileUse,
    },
}

/// The names of a program, the use of its operands, and its options with a value: letters and long names.
type KnownProgram = (&'static [&'static str], OperandUse, &'static str, &'static [&'static str]);

const CONTEXT: &[&str] = &[
    "after-context",
    "before-context",
    "context",
    "regexp",
    "file",
    "max-count",
    "glob",
    "iglob",
    "type",
    "type-not",
    "replace",
    "sort",
    "sortr",
    "max-depth",
    "encoding",
    "threads",
    "max-columns",
    "max-filesize",
    "ignore-file",
    "include",
    "exclude",
    "exclude-dir",
    "label",
];

const PROGRAMS: &[KnownProgram] = &[
    (&["cat", "tac", "wc", "more"], OperandUse::Reads, "", &[]),
    (&["nl"], OperandUse::Reads, "bdfhilnsvw", &[]),
    (&["head", "tail"], OperandUse::Reads, "nc", &["lines", "bytes"]),
    (&["less"], OperandUse::Reads, "bhjkoOpPtTxyz", &[]),
    (
        &["bat", "batcat"],
        OperandUse::Reads,
        "lrHm",
        &["language", "line-range", "highlight-line", "style", "theme", "color", "paging", "wrap"],
    ),
    (&["cut"], OperandUse::Reads, "bcdf", &["delimiter", "fields"]),
    (&["diff"], OperandUse::Reads, "CIUxXSF", &["unified", "context", "label"]),
    (&["cmp"], OperandUse::Reads, "in", &[]),
    (&["xxd"], OperandUse::Reads, "cglos", &[]),
    (&["od", "hexdump"], OperandUse::Reads, "AjNStwefn", &[]),
    (&["sed"], OperandUse::ReadsAfterScript, "efl", &["expression", "file", "line-length"]),
    (&["awk", "gawk", "mawk"], OperandUse::ReadsAfterScript, "fFv", &["file", "assign"]),
    (
        &["grep", "egrep", "fgrep"],
        OperandUse::Searches { is_recursive: false },
        "ABCDdefm",
        CONTEXT,
    ),
    (&["rg"], OperandUse::Searches { is_recursive: true }, "ABCEMTdefgjmrt", CONTEXT),
    (&["ls"], OperandUse::Lists, "ITw", &["ignore", "width"]),
    (&["tree"], OperandUse::Lists, "HILPTo", &["filelimit", "charset"]),
    (&["tee"], OperandUse::Writes, "", &[]),
    (&["touch"], OperandUse::Writes, "drt", &["date", "reference"]),
    (&["truncate"], OperandUse::Writes, "rs", &["size", "reference"]),
    (&["rm"], OperandUse::Removes, "", &[]),
    (&["cp"], OperandUse::Copies { source: FileUse::Read }, "S", &["suffix"]),
    (&["mv"], OperandUse::Copies { source: FileUse::Delete }, "S", &["suffix"]),
    (&["unlink", "rmdir"], OperandUse::Removes, "", &[]),
    (&["shred", "sponge"], OperandUse::Writes, "ns", &["iterations", "size"]),
    (
        &["install"],
        OperandUse::Copies { source: FileUse::Read },
        "Sgmo",
        &["suffix", "mode", "owner", "group"],
    ),
    (&["ln"], OperandUse::Copies { source: FileUse::Read }, "S", &["suffix"]),
];

/// Returns the paths that a program plainly touches.
pub(super) fn collect_program_effects(
    name: &str,
    words: &[ShellWord],
    command: &SimpleCommand,
) -> Vec<(String, FileUse)> {
    let input = input_of(command);
    match name {
        "git" => return collect_git_effects(words, command),
        "patch" => return diff::collect_patch_effects(words, input),
        "find" => return collect_find_effects(words),
        "perl" | "ruby" => return collect_perl_effects(words),
        "dd" => return collect_dd_effects(words),
        "sort" | "curl" | "wget" => return collect_output_option(name, words),
        _ if python::is_python(name) => return python::collect_python_effects(words, input),
        _ => {}
    }
    let program = PROGRAMS.iter().find(|(names, ..)| names.contains(&name));
    let Some(&(_, operand_use, letters, long)) = program else { return Vec::new() };
    let CommandWords { operands, options } = parse_command_words(words, letters, long);
    let has = |letter: char, long: &str| options.has_option(letter, long);
    let all = |operands: &[Option<&str>], how: FileUse| {
        operands.iter().flatten().map(|path| ((*path).to_owned(), how)).collect::<Vec<_>>()
    };
    let here = || vec![(".".to_owned(), FileUse::Read)];
    match operand_use {
        OperandUse::Lists if operands.is_empty() => here(),
        OperandUse::Reads | OperandUse::Lists => all(&operands, FileUse::Read),
        OperandUse::ReadsAfterScript => {
            let is_in_place = options.is_in_place();
            let has_script = has('e', "expression") || has('f', "file");
            // BSD's `sed -i ''` has the suffix as a separate word.
            let empty = operands.first() == Some(&Some("")) && is_in_place;
            let skipped = usize::from(!has_script) + usize::from(empty);
            all(
                operands.get(skipped..).unwrap_or_default(),
                if is_in_place { FileUse::Edit } else { FileUse::Read },
            )
        }
        OperandUse::Searches { is_recursive } => {
            let has_pattern = has('e', "regexp") || has('f', "file") || options.has_long("files");
            let operands = operands.get(usize::from(!has_pattern)..).unwrap_or_default();
            let is_recursive =
                is_recursive || has('r', "recursive") || has('R', "dereference-recursive");
            if operands.is_empty() && is_recursive && !command.is_piped_into() {
                here()
            } else {
                all(operands, FileUse::Read)
            }
        }
        OperandUse::Writes => all(&operands, FileUse::Write),
        OperandUse::Removes => all(&operands, FileUse::Delete),
        OperandUse::Copies { .. }
            if has('t', "target-directory") || has('T', "no-target-directory") =>
        {
            Vec::new()
        }
        OperandUse::Copies { source } => collect_copy_effects(&operands, source),
    }
}

/// Returns the text that a command gets as its input.
fn input_of(command: &SimpleCommand) -> Option<&str> {
    command.input.as_ref().map(|input| input.text.as_str())
}

/// Returns the touches of a copy or a move: the last operand is the target, or the directory of the targets.
fn collect_copy_effects(operands: &[Option<&str>], source: FileUse) -> Vec<(String, FileUse)> {
    let Some((Some(target), sources)) = operands.split_last() else { return Vec::new() };
    let is_directory = sources.len() > 1 || target.ends_with('/');
    let mut found = Vec::new();
    for path in sources {
        found.extend(path.map(|path| (path.to_owned(), source)));
        if !is_directory {
            found.push(((*target).to_owned(), FileUse::Write));
        } else if let Some(name) = path.and_then(|path| path.rsplit('/').next())
            && !name.is_empty()
        {
            found.push((format!("{}/{name}", target.trim_end_matches('/')), FileUse::Write));
        }
    }
    found
}

fn collect_git_effects(words: &[ShellWord], command: &SimpleCommand) -> Vec<(String, FileUse)> {
    let Some((first, rest)) = words.split_first() else { return Vec::new() };
    let Some(name) = first.literal() else { return Vec::new() };
    match name {
        "mv" | "rm" => collect_program_effects(name, rest, command),
        "apply" => diff::collect_apply_effects(rest, input_of(command)),
        "checkout" | "restore" => collect_restored_files(name, rest),
        _ => Vec::new(),
    }
}

/// Returns the files that `git checkout -- FILE` and `git restore FILE` write.
fn collect_restored_files(name: &str, words: &[ShellWord]) -> Vec<(String, FileUse)> {
    let CommandWords { operands, .. } = parse_command_words(words, "sU", &["source", "unified"]);
    let end = words.iter().position(|word| word.text == "--");
    // Without `--`, the operands of a checkout may be branches.
    let files: Vec<Option<&str>> = match (name, end) {
        (_, Some(end)) => words[end + 1..].iter().map(ShellWord::literal).collect(),
        ("restore", None) => operands,
        _ => return Vec::new(),
    };
    files.into_iter().flatten().map(|path| (path.to_owned(), FileUse::Edit)).collect()
}

/// Returns the files of `dd if=… of=…`.
fn collect_dd_effects(words: &[ShellWord]) -> Vec<(String, FileUse)> {
    let texts = words.iter().filter_map(ShellWord::literal);
    let files = texts.filter_map(|text| match text.split_once('=')? {
        ("if", path) => Some((path.to_owned(), FileUse::Read)),
        ("of", path) => Some((path.to_owned(), FileUse::Write)),
        _ => None,
    });
    files.collect()
}

/// Returns the file that an option names for the output, and the operands of `sort`, which are read.
fn collect_output_option(name: &str, words: &[ShellWord]) -> Vec<(String, FileUse)> {
    let (letter, long) = match name {
        "wget" => ("-O", "--output-document"),
        _ => ("-o", "--output"),
    };
    let mut found = Vec::new();
    if name == "sort" {
        let given = parse_command_words(words, "koStT", &["key", "field-separator", "output"]);
        let read = given.operands.into_iter().flatten();
        found.extend(read.map(|path| (path.to_owned(), FileUse::Read)));
    }
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.literal() else { continue };
        let path = if text == letter || text == long {
            words.next().and_then(ShellWord::literal)
        } else {
            let value = text.strip_prefix(long).and_then(|rest| rest.strip_prefix('='));
            value.or_else(|| text.strip_prefix(letter)).filter(|path| !path.is_empty())
        };
        found.extend(path.map(|path| (path.to_owned(), FileUse::Write)));
    }
    found
}

/// Returns the touches of `find`, whose operands precede its expression.
fn collect_find_effects(words: &[ShellWord]) -> Vec<(String, FileUse)> {
    let starts: Vec<_> = words
        .iter()
        .skip_while(|word| matches!(word.literal(), Some("-H" | "-L" | "-P")))
        .take_while(|word| word.literal().is_none_or(|text| !text.starts_with(['-', '!'])))
        .collect();
    if starts.is_empty() {
        return vec![(".".to_owned(), FileUse::Read)];
    }
    let how = if words.iter().any(|word| word.literal() == Some("-delete")) {
        FileUse::Delete
    } else {
        FileUse::Read
    };
    starts.into_iter().filter_map(|word| Some((word.literal()?.to_owned(), how))).collect()
}

/// Returns the touches of `perl -i`, which edits its operands; any other script may do anything.
fn collect_perl_effects(words: &[ShellWord]) -> Vec<(String, FileUse)> {
    let CommandWords { operands, options } = parse_command_words(words, "eEI", &[]);
    if !options.is_in_place() || !(options.has_option('e', "") || options.has_option('E', "")) {
        return Vec::new();
    }
    operands.into_iter().flatten().map(|path| (path.to_owned(), FileUse::Edit)).collect()
}

/// The words of a command by role.
pub(super) struct CommandWords<'w> {
    /// The operands; `None` for one with uncertain text.
    pub(super) operands: Vec<Option<&'w str>>,
    pub(super) options: CommandOptions<'w>,
}

#[derive(Default)]
pub(super) struct CommandOptions<'w> {
    letters: String,
    long: Vec<&'w str>,
}

impl CommandOptions<'_> {
    pub(super) fn has_option(&self, letter: char, long: &str) -> bool {
        self.letters.contains(letter) || self.has_long(long)
    }

    fn has_long(&self, name: &str) -> bool {
        self.long.contains(&name)
    }

    fn is_in_place(&self) -> bool {
        self.has_option('i', "in-place")
    }
}

pub(super) fn parse_command_words<'w>(
    words: &'w [ShellWord],
    letters: &str,
    long: &[&str],
) -> CommandWords<'w> {
    let mut read = CommandWords { operands: Vec::new(), options: CommandOptions::default() };
    let mut words = words.iter();
    let mut have_ended = false;
    while let Some(word) = words.next() {
        let Some(text) = word.literal() else {
            if have_ended || !word.text.starts_with('-') {
                read.operands.push(None);
            }
            continue;
        };
        if have_ended || !text.starts_with('-') || text == "-" {
            read.operands.push(Some(text));
        } else if text == "--" {
            have_ended = true;
        } else if let Some(option) = text.strip_prefix("--") {
            let (name, value) =
                option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
            read.options.long.push(name);
            if value.is_none() && long.contains(&name) {
                words.next();
            }
        } else {
            let cluster = &text[1..];
            for (index, letter) in cluster.char_indices() {
                read.options.letters.push(letter);
                let rest = &cluster[index + letter.len_utf8()..];
                // The suffix of `-i.bak` is not a list of letters.
                if letter == 'i' && rest.starts_with('.') {
                    break;
                }
                if letters.contains(letter) {
                    // `-n 5` takes the next word, `-n5` does not.
                    if rest.is_empty() {
                        words.next();
                    }
                    break;
                }
            }
        }
    }
    read
}
