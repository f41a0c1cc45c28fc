//! Old command lines. Each is rewritten to today's words before it is parsed, and noted in one line.
//!
//! The definitions of commands know only today's names. The old ones are accepted for one release; then this module goes,
//! with its calls in `run_brief` and `Cli::read`.

use std::ffi::OsString;

use brief_syntax::near_miss::find_nearest;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The commands with other names: the words that were typed, and those that replace them.
pub(crate) const COMMANDS: &[(&str, &str)] = &[
    ("sees", "show"),
    ("decisions", "context --decisions"),
    ("tree", "tokens --tree"),
    ("receipts", "log"),
    ("convert", "import"),
    ("outdated", "update --check"),
    ("clean", "remove --all"),
    ("deps", "list --packages"),
    ("new", "registry new"),
    ("build", "registry build"),
    ("fmt", "registry fmt"),
    ("publish", "registry publish"),
    ("promote", "registry tag"),
    ("fleet pr", "fleet branch"),
    ("mcp-servers", "mcp servers"),
    ("agent ready", "agent check --preflight"),
    ("agent call", "agent debug call"),
    ("agent command", "agent debug command"),
    ("agent abilities", "agent debug abilities"),
    ("self version", "version"),
    ("self policy", "trust --policy"),
    ("self", "version"),
];

/// The options with other names: the first word of the call, the old option, and the new one. A name without hyphens is a word
/// of the command; without a name, only the value stays.
pub(crate) const OPTIONS: &[(&str, &str, &str)] = &[
    ("context", "--mounted", "--workspace"),
    ("context", "--started", "--cwd"),
    ("context", "--anchor", "--include-base"),
    ("context", "--outside", "--allow-outside"),
    ("why", "--mounted", "--workspace"),
    ("why", "--started", "--cwd"),
    ("why", "--anchor", "--include-base"),
    ("why", "--outside", "--allow-outside"),
    ("tokens", "--mounted", "--workspace"),
    ("tokens", "--started", "--cwd"),
    ("tokens", "--anchor", "--include-base"),
    ("tokens", "--outside", "--allow-outside"),
    ("coverage", "--started", "--cwd"),
    ("sees", "--started", "--cwd"),
    ("show", "--started", "--cwd"),
    ("mcp-servers", "--mounted", "--workspace"),
    ("mcp", "--mounted", "--workspace"),
    ("receipts", "--never", "--unused"),
    ("receipts", "--drift", "--mismatch"),
    ("log", "--never", "--unused"),
    ("log", "--drift", "--mismatch"),
    ("receipts", "--off", "disable"),
    ("receipts", "--on", "enable"),
    ("receipts", "--clear", "clear"),
    ("list", "--available", ""),
    ("hook", "--hold", "--block-once"),
    ("agent", "--accept-missing-fence", "--allow-weaker-sandbox"),
];

/// A call in today's words.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RenamedCall {
    pub(crate) args: Vec<OsString>,
    /// The line for the user.
    pub(crate) note: String,
}

/// Returns a call with old words in today's; `None` if there is nothing to change.
pub(crate) fn rewrite_call(args: &[OsString]) -> Option<RenamedCall> {
    let at = plain_words(args, 1).next()?;
    let first = args[at].to_str()?;
    if first == "help" {
        return rewrite_help(args, at);
    }
    if !is_concerned(first) {
        return None;
    }
    let second = plain_words(args, at + 1).next();
    let second_word = second.and_then(|second| args[second].to_str()).unwrap_or_default();
    if first == "hook" && !matches!(second_word, "install" | "test") {
        return None;
    }
    let pair = format!("{first} {second_word}");
    let (old, new, taken) = match (find_command(&pair), find_command(first)) {
        (Some((old, new)), _) => (old, new, second),
        (None, Some((old, new))) => (old, new, None),
        (None, None) if first == "fleet" && asks_for_status(args, at, second_word) => {
            ("fleet", "fleet status", None)
        }
        (None, None) => (first, first, None),
    };
    let command = new.split(' ');
    let (mut old, mut new) = (old.to_owned(), new.to_owned());
    let clients: Vec<usize> = match first {
        "convert" => plain_words(args, at + 1).take(2).collect(),
        _ => Vec::new(),
    };
    if first == "convert" {
        new.push_str(" --as");
    }
    let mut rest = Vec::with_capacity(args.len() + 2);
    // What follows the name of an agent's command is for that command.
    let mut is_ended = pair == "agent command";
    for (index, arg) in args.iter().enumerate().skip(at + 1) {
        is_ended |= arg == "--";
        if Some(index) == taken {
            continue;
        }
        if let Some(place) = clients.iter().position(|client| *client == index) {
            rest.push(OsString::from(["--from", "--as"][place]));
        }
        match arg.to_str().filter(|_| !is_ended).and_then(|text| find_option(first, text)) {
            None => rest.push(arg.clone()),
            Some((option, replacement, value)) => {
                old.push_str(&format!(" {option}"));
                match replacement {
                    "" => new.push_str(" SOURCE"),
                    name => new.push_str(&format!(" {name}")),
                }
                match (replacement, value) {
                    ("", value) => rest.extend(value.map(OsString::from)),
                    (name, Some(value)) => rest.push(OsString::from(format!("{name}={value}"))),
                    (name, None) if name.starts_with('-') => rest.push(OsString::from(name)),
                    // The other options of a switch never had an effect.
                    (name, None) => {
                        rest = vec![OsString::from(name)];
                        break;
                    }
                }
            }
        }
    }
    if old == new {
        return None;
    }
    let mut renamed = args[..at].to_vec();
    renamed.extend(command.map(OsString::from));
    renamed.extend(rest);
    Some(RenamedCall { args: renamed, note: format!("`brief {old}` is now `brief {new}`") })
}

fn rewrite_help(args: &[OsString], at: usize) -> Option<RenamedCall> {
    let words: Vec<&str> = args[at + 1..].iter().map_while(|word| word.to_str()).collect();
    let (old, new) = find_command(&words.join(" ")).or_else(|| find_command(words.first()?))?;
    let named = new.split(' ').take_while(|word| !word.starts_with('-')).map(OsString::from);
    let args = args[..=at].iter().cloned().chain(named).collect();
    Some(RenamedCall { args, note: format!("`brief {old}` is now `brief {new}`") })
}

/// Names the command that a mistyped old name is now called.
pub(crate) fn suggest_command(error: &mut clap::Error, args: &[OsString]) {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return;
    }
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand).cloned()
    else {
        return;
    };
    let first = plain_words(args, 1).next().and_then(|first| args[first].to_str());
    let name = match first {
        Some(first) if first != typed.as_str() => format!("{first} {typed}"),
        _ => typed.clone(),
    };
    let old: Vec<&str> = COMMANDS.iter().map(|(old, _)| *old).collect();
    let Some((_, new)) = find_nearest(&name, &old).and_then(find_command) else { return };
    // Next to a name that is meant, clap's own guesses are too far away.
    let mut meant = Vec::new();
    if let Some(ContextValue::Strings(known)) = error.get(ContextKind::SuggestedSubcommand) {
        meant.extend(
            known.iter().filter(|one| find_nearest(&typed, &[one.as_str()]).is_some()).cloned(),
        );
    }
    meant.push(new.to_owned());
    error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(meant));
}

fn find_command(words: &str) -> Option<(&'static str, &'static str)> {
    COMMANDS.iter().find(|(old, _)| *old == words).copied()
}

/// Returns an old option, its new name, and its value.
fn find_option<'a>(
    command: &str,
    word: &'a str,
) -> Option<(&'a str, &'static str, Option<&'a str>)> {
    let (name, value) = match word.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (word, None),
    };
    let is_it = |(of, old, _): &&(&str, &str, &str)| *of == command && *old == name;
    OPTIONS.iter().find(is_it).map(|(_, _, new)| (name, *new, value))
}

/// Returns whether a call of this command may have an old word.
fn is_concerned(first: &str) -> bool {
    let begins = |old: &str| old.split(' ').next() == Some(first);
    COMMANDS.iter().any(|(old, _)| begins(old)) || OPTIONS.iter().any(|(of, ..)| *of == first)
}

/// Returns whether `fleet` has what `fleet status` takes.
fn asks_for_status(args: &[OsString], at: usize, second: &str) -> bool {
    let is_help = |arg: &OsString| arg == "-h" || arg == "--help";
    let rest = &args[at + 1..];
    !matches!(second, "status" | "branch" | "help") && !rest.is_empty() && !rest.iter().any(is_help)
}

/// Returns the positions of the words that are not options and not values of global ones or of `--out`.
fn plain_words(args: &[OsString], start: usize) -> impl Iterator<Item = usize> + '_ {
    let mut is_value = false;
    let words = args.iter().enumerate().skip(start).take_while(|(_, word)| *word != "--");
    words.filter_map(move |(index, word)| {
        let is_plain = !std::mem::take(&mut is_value) && !word.as_encoded_bytes().starts_with(b"-");
        is_value = word == "-C" || word == "--color" || word == "--out";
        is_plain.then_some(index)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cli;

    /// Every command and option of the last definition with other names, each in a valid call, and what it is now.
    const YESTERDAY: &str = include_str!("renamed/yesterday.txt");

    fn words(call: &str) -> Vec<OsString> {
        std::iter::once("brief").chain(call.split(' ')).map(OsString::from).collect()
    }

    fn parse(args: &[OsString]) -> Result<String, String> {
        let cli = Cli::parse_arguments(args, 80).map_err(|error| error.to_string())?;
        Ok(format!("{cli:?}"))
    }

    #[test]
    fn everything_that_existed_yesterday_still_works() {
        let mut wrong = Vec::new();
        for line in YESTERDAY.lines() {
            let (old, new) = line.split_once(" => ").unwrap_or((line, line));
            let call = rewrite_call(&words(old));
            assert_eq!(call.is_some(), old != new, "{line}: {call:?}");
            let args = call.map_or_else(|| words(old), |call| call.args);
            match (parse(&args), parse(&words(new))) {
                (Ok(old), Ok(new)) if old == new => {}
                (old, new) => wrong.push(format!("{line}\n{old:?}\n{new:?}")),
            }
        }
        assert!(
            wrong.is_empty(),
            "{} of {}:\n{}",
            wrong.len(),
            YESTERDAY.lines().count(),
            wrong.join("\n\n")
        );
    }

    #[test]
    fn a_note_names_the_old_words_and_the_new_ones() {
        let note = |call: &str| rewrite_call(&words(call)).unwrap().note;
        assert_eq!(note("-C x sees a.py"), "`brief sees` is now `brief show`");
        assert_eq!(note("why a.py --started x"), "`brief why --started` is now `brief why --cwd`");
        assert_eq!(
            note("receipts --drift"),
            "`brief receipts --drift` is now `brief log --mismatch`"
        );
        assert_eq!(note("receipts --off"), "`brief receipts --off` is now `brief log disable`");
        assert_eq!(
            note("list --available x"),
            "`brief list --available` is now `brief list SOURCE`"
        );
        assert_eq!(note("convert cursor claude"), "`brief convert` is now `brief import --as`");
        assert_eq!(note("fleet a b"), "`brief fleet` is now `brief fleet status`");
        assert_eq!(note("help decisions"), "`brief decisions` is now `brief context --decisions`");
    }

    /// What stands in the settings of clients and editors and in scripts has no other name and gets no note.
    #[test]
    fn lasting_names_are_not_rewritten() {
        let lasting = [
            "hook claude --hold",
            "hook run claude --hold",
            "mcp",
            "mcp --client claude",
            "lsp",
            "lint",
            "sync --frozen",
            "install",
            "task fix-bug",
            "schema rule",
            "completions bash",
            "man",
        ];
        for call in lasting {
            assert_eq!(rewrite_call(&words(call)), None, "{call}");
        }
    }

    /// The words after `--`, and those of an agent's command, are no options.
    #[test]
    fn arguments_stay() {
        let call = rewrite_call(&words("sees -- --started")).unwrap();
        assert_eq!(call.args, words("show -- --started"));
        let call = rewrite_call(&words("agent command dev_x go --accept-missing-fence")).unwrap();
        assert_eq!(call.args, words("agent debug command dev_x go --accept-missing-fence"));
    }

    #[test]
    fn a_mistyped_old_name_suggests_the_new_one() {
        let message = |call: &str| Cli::parse_arguments(&words(call), 80).unwrap_err().to_string();
        assert!(message("recipts").contains("'log'"), "{}", message("recipts"));
        assert!(message("outdatd").contains("'update --check'"), "{}", message("outdatd"));
        assert!(message("agent abilties").contains("'agent debug abilities'"));
        assert!(message("shw").contains("'show'"), "{}", message("shw"));
    }
}
