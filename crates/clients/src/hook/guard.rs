//! The shell line around a hook's command, so that a `brief` that is missing, crashes or hangs never stops a client.
//!
//! Clients differ in what they take for a refusal: Copilot denies a call after any exit code but 0, and Gemini stops
//! after any but 0 and 1. So the line always ends with 0; a refusal is JSON on standard output. A file that was
//! written on Windows may be run elsewhere, so those lines are valid in a shell of Unix, too.

use std::path::Path;

use brief_profiles::{HandlerDeadline, HookShell};

/// The seconds that a hook may take if it hangs before its own limit, which is far below.
const DEADLINE: &str = "5";

/// The parts of a line that ends silently if the program is missing.
const LOOK: &str = "command -v ";
const LOOKED: &str = " >/dev/null 2>&1 || exit 0; ";

/// The end of a line, for shells of Unix and for `cmd`.
const OR_DONE: &str = " || exit 0";

/// The end of a line for PowerShell, whose older versions have no `||`.
const THEN_DONE: &str = "; exit 0";

/// The parts of a line that runs the command in the background. Standard input is passed by number: a shell gives
/// `/dev/null` to a command in the background.
const BEHIND: &str = "exec 3<&0; ";
const BEHIND_STARTED: &str = " <&3 & ";

/// The parts around a line whose shell is told when time is up. The client waits for the end of the output, so the command
/// has to end with its shell, also if the shell is told as soon as the command runs.
const WHEN_TOLD: &str = "trap 'kill -9 $!' TERM; ";
const UNTIL_TOLD: &str = "wait $!; exit 0";

/// The end of a line with a deadline of its own. The watcher's own `sleep` is ended, so that no later process with the same
/// number is killed.
const LATER: &str = "p=$!; { sleep ";
const LATEST: &str = " & s=$!; trap 'kill $s' TERM; wait $s && kill -9 $p; } >/dev/null 2>&1 & w=$!; wait $p; kill $w; exit 0";

/// The one who ends a hook that hangs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeadlineKeeper {
    /// The client, by a key of its settings.
    Client,
    /// The client ends the shell, and the line the command.
    ClientAndLine,
    Line,
}

impl DeadlineKeeper {
    /// Returns the one who ends the hooks of a client with this key.
    pub fn from_deadline(deadline: Option<&HandlerDeadline>) -> DeadlineKeeper {
        match deadline {
            None => DeadlineKeeper::Line,
            Some(deadline) if deadline.ends_shell => DeadlineKeeper::ClientAndLine,
            Some(_) => DeadlineKeeper::Client,
        }
    }
}

/// Returns the line that runs a command and never fails.
pub fn guarded_line(command: &str, shell: HookShell, keeper: DeadlineKeeper) -> String {
    match (shell, keeper) {
        (HookShell::Powershell, _) => format!("{command}{THEN_DONE}"),
        (HookShell::Cmd, _) => format!("{command}{OR_DONE}"),
        (HookShell::Sh, keeper) => {
            let look = program_word(command).map(|word| format!("{LOOK}{word}{LOOKED}"));
            let look = look.unwrap_or_default();
            let behind = format!("{BEHIND}{command}{BEHIND_STARTED}");
            match keeper {
                DeadlineKeeper::Client => format!("{look}{command}{OR_DONE}"),
                DeadlineKeeper::ClientAndLine => format!("{look}{WHEN_TOLD}{behind}{UNTIL_TOLD}"),
                DeadlineKeeper::Line => format!("{look}{behind}{LATER}{DEADLINE}{LATEST}"),
            }
        }
    }
}

/// The command in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GuardedCommand<'l> {
    pub command: &'l str,
    /// False if its failure reaches the client.
    pub is_guarded: bool,
}

/// Returns the command in a line, as this or an earlier version wrote it.
pub fn find_command(line: &str) -> GuardedCommand<'_> {
    let inner = line
        .strip_prefix(LOOK)
        .and_then(|rest| rest.split_once(LOOKED))
        .map_or(line, |(_, inner)| inner);
    let behind = inner.strip_prefix(WHEN_TOLD).unwrap_or(inner);
    let behind = behind.strip_prefix(BEHIND).and_then(|rest| rest.split_once(BEHIND_STARTED));
    let command = behind
        .filter(|(_, rest)| {
            *rest == UNTIL_TOLD || rest.starts_with(LATER) && rest.ends_with(LATEST)
        })
        .map(|(command, _)| command)
        .or_else(|| inner.strip_suffix(OR_DONE))
        .or_else(|| inner.strip_suffix(THEN_DONE));
    GuardedCommand { command: command.unwrap_or(inner), is_guarded: command.is_some() }
}

/// Returns the word of a command that a shell looks up, with its quotes; `None` where only a shell can tell.
pub fn program_word(command: &str) -> Option<&str> {
    let quote = command.chars().next().filter(|first| matches!(first, '"' | '\''));
    let length = match quote {
        Some(quote) => command[1..].find(quote)? + 2,
        None => command.find(' ').unwrap_or(command.len()),
    };
    let (word, rest) = command.split_at(length);
    let is_ended = rest.is_empty() || rest.starts_with(' ');
    // Only in single quotes such characters are themselves.
    let is_plain = quote == Some('\'')
        || !word.contains(['$', '`', '=', '~', '*', '?', '(', ';', '&', '|', '<', '>']);
    (is_ended && is_plain && length > 0).then_some(word)
}

/// Returns the options after a program in a command; `None` if the command runs something else. `program` is a command
/// without options, such as `brief hook claude`; its first word may be any path of that program.
pub fn options_after<'c>(command: &'c str, program: &str) -> Option<&'c str> {
    let whole_words = |rest: &'c str| (rest.is_empty() || rest.starts_with(' ')).then_some(rest);
    if let Some(rest) = command.strip_prefix(program) {
        return whole_words(rest);
    }
    let (name, arguments) = program.split_once(' ')?;
    let word = program_word(command)?;
    let stem = Path::new(word.trim_matches(['"', '\''])).file_stem()?;
    let rest = command[word.len()..].strip_prefix(' ')?.strip_prefix(arguments)?;
    if stem == name { whole_words(rest) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_of_every_line_is_found() {
        for command in
            ["brief hook claude", "'/a b/brief' hook claude --block-once", "X=1 brief hook claude"]
        {
            for shell in [HookShell::Sh, HookShell::Cmd, HookShell::Powershell] {
                for keeper in
                    [DeadlineKeeper::Client, DeadlineKeeper::ClientAndLine, DeadlineKeeper::Line]
                {
                    let line = guarded_line(command, shell, keeper);
                    assert_eq!(
                        find_command(&line),
                        GuardedCommand { command, is_guarded: true },
                        "{line}"
                    );
                }
            }
            assert_eq!(find_command(command), GuardedCommand { command, is_guarded: false });
        }
    }

    #[test]
    fn a_program_may_be_named_by_its_path() {
        let options = |command| options_after(command, "brief hook claude");
        assert_eq!(options("brief hook claude"), Some(""));
        assert_eq!(options("brief hook claude --block-once"), Some(" --block-once"));
        assert_eq!(options("/opt/brief hook claude --block-once"), Some(" --block-once"));
        assert_eq!(options("'/a b/brief.exe' hook claude"), Some(""));
        for other in ["brief hook claudes", "debrief hook claude", "brief hook codex", "x", ""] {
            assert_eq!(options(other), None, "{other}");
        }
    }

    #[test]
    fn a_program_is_looked_up_where_it_is_plain() {
        assert_eq!(program_word("brief hook claude"), Some("brief"));
        assert_eq!(program_word("'/a b/$x' hook"), Some("'/a b/$x'"));
        assert_eq!(program_word("\"/a b/brief\" hook"), Some("\"/a b/brief\""));
        for unsure in ["", "X=1 brief", "~/brief hook", "$HOME/brief hook", "'open", "'a'b hook"] {
            assert_eq!(program_word(unsure), None, "{unsure}");
        }
    }
}
