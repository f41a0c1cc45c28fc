//! What a command line may do to files, for a record of calls: unlike a hook, it must say when it does not know.

use std::path::Path;

use brief_syntax::shell::effects::collect_file_effects;
use brief_syntax::shell::{RedirectKind, SimpleCommand, parse_script};

use super::{Touch, create_touch};

/// The effects of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShellEffects {
    /// The paths that it plainly reads and writes.
    pub(crate) touches: Vec<Touch>,
    /// True if it certainly changes no file.
    pub(crate) only_reads: bool,
}

/// Programs that write no file, whatever their arguments. Others may, or run programs that do.
const READERS: [&str; 43] = [
    "[", "basename", "bat", "batcat", "cat", "cd", "cmp", "column", "comm", "cut", "date", "df",
    "diff", "dirname", "du", "echo", "egrep", "exit", "false", "fgrep", "file", "grep", "head",
    "hexdump", "id", "jq", "less", "ls", "nl", "printenv", "printf", "ps", "pwd", "readlink",
    "realpath", "rg", "sleep", "stat", "tail", "test", "tr", "true", "wc",
];

/// The commands of git that write no file of the project.
const GIT_READERS: [&str; 16] = [
    "blame",
    "cat-file",
    "config",
    "describe",
    "diff",
    "fetch",
    "grep",
    "log",
    "ls-files",
    "ls-tree",
    "remote",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "status",
];

/// The commands of git that write only its own directory.
const GIT_RECORDERS: [&str; 4] = ["add", "commit", "push", "tag"];

pub(crate) fn find_shell_effects(line: &str) -> ShellEffects {
    let script = parse_script(line, Some(Path::new("").into()));
    let effects = script.commands.iter().flat_map(collect_file_effects);
    let mut touches: Vec<Touch> = Vec::new();
    for touch in effects.map(create_touch) {
        if !touches.contains(&touch) {
            touches.push(touch);
        }
    }
    let only_reads = script.is_complete && script.commands.iter().all(only_reads);
    ShellEffects { touches, only_reads }
}

fn only_reads(command: &SimpleCommand) -> bool {
    let writes = command.redirects.iter().any(|redirect| {
        let is_sink = redirect.target.literal().is_some_and(|path| path.starts_with("/dev/"));
        redirect.kind != RedirectKind::Read && !is_sink
    });
    !writes
        && command.invocations().iter().all(|invocation| {
            let Some(program) = invocation.program() else { return false };
            match program {
                "env" | "time" | "nice" | "timeout" | "command" | "sudo" | "xargs" => true,
                "git" => {
                    let words = invocation.operands().iter();
                    let verb =
                        words.filter_map(|word| word.literal()).find(|word| !word.starts_with('-'));
                    // An option before the verb may take a word: `git -C dir log`.
                    let is_plain =
                        invocation.operands().first().is_some_and(|word| !word.is_option());
                    is_plain
                        && verb.is_some_and(|verb| {
                            GIT_READERS.contains(&verb) || GIT_RECORDERS.contains(&verb)
                        })
                        && !invocation
                            .operands()
                            .iter()
                            .any(|word| word.text.starts_with("--output"))
                }
                // `-i` writes its file; `w` in a script does, too.
                "sed" => is_printing_sed(
                    invocation.operands().first().and_then(|word| word.literal()),
                    invocation.operands().get(1).and_then(|word| word.literal()),
                ),
                "find" => !invocation.operands().iter().any(|word| {
                    [
                        "-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fls",
                        "-fprintf", "-fprint0",
                    ]
                    .contains(&word.text.as_str())
                }),
                "sort" => !invocation.operands().iter().any(|word| {
                    word.text.starts_with("-o")
                        || word.text.starts_with("--output")
                        || (word.is_option()
                            && !word.text.starts_with("--")
                            && word.text.contains('o'))
                }),
                program => READERS.contains(&program),
            }
        })
}

/// Returns whether it is `sed -n '1,20p'`, with nothing else in the script.
fn is_printing_sed(option: Option<&str>, script: Option<&str>) -> bool {
    option == Some("-n")
        && script.is_some_and(|script| {
            script.ends_with('p')
                && script
                    .trim_end_matches('p')
                    .chars()
                    .all(|letter| letter.is_ascii_digit() || letter == ',' || letter == '$')
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_certain_readers_change_nothing() {
        let reading = [
            "cat a.py",
            "cd src && ls -la | head -3",
            "git status && git log --oneline -3",
            "rg x . 2>/dev/null",
            "sed -n '1,20p' a",
            "find . -name '*.py'",
            "env A=1 grep x y",
            "git add -A && git commit -qm 'x'",
        ];
        for line in reading {
            assert!(find_shell_effects(line).only_reads, "{line}");
        }
        let writing = [
            "cat a > b",
            "npm test",
            "sed -i s/a/b/ c",
            "sed -n 'w out' a",
            "find . -delete",
            "git checkout x",
            "git -C d apply p",
            "python -c 'x'",
            "$CMD",
            "ls | xargs rm",
            "echo $(touch a)",
            "sort -o a b",
            "ls 'x",
            "tee a",
            "git diff --output=x",
        ];
        for line in writing {
            assert!(!find_shell_effects(line).only_reads, "{line}");
        }
    }
}
