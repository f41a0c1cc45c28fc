//! The shell line around a hook's command, so that a `brief` that is missing, crashes or hangs never stops a client.
//!
//! Clients differ in what they take for a refusal: Copilot denies a call after any exit code but 0, and Gemini stops
//! after any but 0 and 1. So the line ends with 0 and a refusal is JSON on standard output, except in a client where an exit
//! status alone refuses a call for certain: that status passes, and every other one becomes 0. A file that was written on
//! Windows may be run elsewhere, so those lines are valid in a shell of Unix, too.

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

/// The status with which brief refuses a call in a client that goes by the status: the line turns it into the client's own, so
/// that a program in the place of brief which fails with that one refuses nothing. A line for Windows passes any status.
pub(super) const REFUSED: u8 = if cfg!(windows) { 2 } else { 42 };

/// The parts around the status that passes.
const OR_STATUS: &str = " || { [ $? -eq ";
const OR_STATUS_PASSES: &str = " ] && exit ";
const OR_STATUS_DONE: &str = "; exit 0; }";

/// The same in `cmd`, where any status passes: brief itself ends with 0 or with that status.
const OR_ANY_STATUS: &str = " || exit";

/// The same in PowerShell.
const THEN_STATUS: &str = "; exit $LASTEXITCODE";

/// The end of a line that refuses the call if the command fails: the status that clients take for a refusal, with a reason.
const OR_REFUSED: &str =
    " || { echo 'brief could not check the rules of this project' >&2; exit 2; }";

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

/// Returns the line that runs a command and never fails, besides with the `status` that refuses a call.
pub fn guarded_line(
    command: &str,
    shell: HookShell,
    keeper: DeadlineKeeper,
    status: Option<u8>,
) -> String {
    match (shell, keeper) {
        (HookShell::Powershell, _) if status.is_some() => format!("{command}{THEN_STATUS}"),
        (HookShell::Powershell, _) => format!("{command}{THEN_DONE}"),
        (HookShell::Cmd, _) if status.is_some() => format!("{command}{OR_ANY_STATUS}"),
        (HookShell::Cmd, _) => format!("{command}{OR_DONE}"),
        (HookShell::Sh, keeper) => {
            let look = program_word(command).map(|word| format!("{LOOK}{word}{LOOKED}"));
            let look = look.unwrap_or_default();
            let behind = format!("{BEHIND}{command}{BEHIND_STARTED}");
            match keeper {
                _ if let Some(status) = status => format!(
                    "{look}{command}{OR_STATUS}{REFUSED}{OR_STATUS_PASSES}{status}{OR_STATUS_DONE}"
                ),
                DeadlineKeeper::Client => format!("{look}{command}{OR_DONE}"),
                DeadlineKeeper::ClientAndLine => format!("{look}{WHEN_TOLD}{behind}{UNTIL_TOLD}"),
                DeadlineKeeper::Line => format!("{look}{behind}{LATER}{DEADLINE}{LATEST}"),
            }
        }
    }
}

/// Returns the line that refuses the call if the command is missing or fails. Only the user can want that: it stops all work
/// when `brief` breaks. A shell of Unix alone can say it for all these clients.
pub fn closed_line(command: &str, shell: HookShell) -> Option<String> {
    (shell == HookShell::Sh).then(|| format!("{command}{OR_REFUSED}"))
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
        .or_else(|| find_before_status(inner))
        .or_else(|| inner.strip_suffix(OR_REFUSED))
        .or_else(|| inner.strip_suffix(OR_DONE))
        .or_else(|| inner.strip_suffix(OR_ANY_STATUS))
        .or_else(|| inner.strip_suffix(THEN_STATUS))
        .or_else(|| inner.strip_suffix(THEN_DONE));
    GuardedCommand { command: command.unwrap_or(inner), is_guarded: command.is_some() }
}

/// Returns the command of a line that lets one status pass.
fn find_before_status(line: &str) -> Option<&str> {
    let (command, statuses) = line.strip_suffix(OR_STATUS_DONE)?.rsplit_once(OR_STATUS)?;
    let (tested, passed) = statuses.split_once(OR_STATUS_PASSES)?;
    let is_status = |text: &str| text.parse::<u8>().is_ok();
    (is_status(tested) && is_status(passed)).then_some(command)
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
                    for status in [None, Some(2)] {
                        let line = guarded_line(command, shell, keeper, status);
                        assert_eq!(
                            find_command(&line),
                            GuardedCommand { command, is_guarded: true },
                            "{line}"
                        );
                    }
                }
            }
            let closed = closed_line(command, HookShell::Sh).unwrap();
            assert_eq!(find_command(&closed), GuardedCommand { command, is_guarded: true });
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
