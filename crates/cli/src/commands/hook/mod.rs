//! `brief hook`

mod answer;
mod install;
mod status;
mod test;
mod uninstall;

use std::borrow::Cow;
use std::ffi::OsString;

use brief_clients::client_file::ClientFileError;
use brief_clients::hook::installed::hook_command;
use brief_profiles::{BUILTIN, Client, HookInstall, KnownClients, OwnClients};
use brief_safety::capability::Capability;
use brief_safety::settings::HookSettings;
use brief_serve::hook::{CheckWatch, HookError, HookOptions, HookOutcome, answer_input};
use brief_syntax::limits;
use brief_syntax::near_miss::{find_nearest, nearest_few};
use brief_system::Deadline;
use clap::{Args, Subcommand};

use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::ui::Ui;

use answer::{AnswerArgs, HoldArg};
pub(super) use install::{detect_hook_clients, install_hook_files};

/// Deliver guidance to a client while it works
///
/// A client runs `brief hook CLIENT`, which reads an event and answers with the guidance for the file, less what this
/// conversation already has. Checks of rules can block a call or warn about it. It never approves a tool call.
/// `BRIEF_DISABLE=1`, or `[hook] enabled = false` in `settings.toml`, silences it.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct HookArgs {
    #[command(flatten)]
    answer: AnswerArgs,

    #[command(subcommand)]
    command: Option<HookCommand>,
}

impl HookArgs {
    /// Parses the forms in clients' settings; `None` for all others, valid or not.
    ///
    /// A client starts a hook many times a minute and should not pay for the definitions of all
    /// commands: they take more memory and time than the answer.
    pub(crate) fn as_clients_type(words: &[OsString]) -> Option<HookArgs> {
        let [hook, client, rest @ ..] = words else { return None };
        let client = client.to_str()?;
        if hook != "hook" || BUILTIN.find_client(client).is_none() {
            return None;
        }
        let (mut repeat, mut budget, mut event, mut hold) = (false, None, None, None);
        let mut fail_closed = false;
        let mut rest = rest.iter();
        while let Some(option) = rest.next() {
            match option.to_str()? {
                "--repeat" if !repeat => repeat = true,
                "--fail-closed" if !fail_closed => fail_closed = true,
                "--budget" if budget.is_none() => {
                    budget = Some(rest.next()?.to_str()?.parse().ok()?);
                }
                "--event" if event.is_none() => {
                    let name = rest.next()?.to_str().filter(|name| !name.starts_with('-'))?;
                    event = Some(name.to_owned());
                }
                "--block-once" | "--hold" if hold.is_none() => hold = Some(HoldArg::All),
                "--block-once=marked" | "--hold=marked" if hold.is_none() => {
                    hold = Some(HoldArg::Marked);
                }
                _ => return None,
            }
        }
        let budget = budget.unwrap_or(limits::HOOK_TOKENS);
        let (client, block_once) = (Some(client.to_owned()), hold);
        let answer = AnswerArgs { client, event, repeat, budget, block_once, fail_closed };
        Some(HookArgs { answer, command: None })
    }
}

/// The names of the other commands, and of clap's own.
const COMMANDS: [&str; 5] = ["install", "uninstall", "status", "test", "help"];

/// Returns whether a client may have started this: `hook NAME`, and no person who types.
///
/// Such a call ends with 0, whatever happens, unless the user wants a failure to refuse it: Copilot takes every other code for a refusal, Gemini every one but 1, and most
/// clients 2.
pub(crate) fn is_clients_call(args: &[OsString], ui: &Ui) -> bool {
    let mut words = args.iter().skip(1).filter_map(|word| word.to_str());
    let mut first = words.next();
    while let Some(option) = first.filter(|word| word.starts_with('-')) {
        if option == "-C" {
            words.next();
        }
        first = words.next();
    }
    let mut name = words.next();
    if name == Some("run") {
        name = words.next();
    }
    let name = name.filter(|name| !name.starts_with('-'));
    let fails_closed = args.iter().any(|word| word == "--fail-closed");
    first == Some("hook")
        && !fails_closed
        && name.is_some_and(|name| find_nearest(name, &COMMANDS).is_none())
        && !ui.can_ask()
}

#[derive(Debug, Subcommand)]
enum HookCommand {
    #[command(hide = true)]
    Run(AnswerArgs),
    Install(install::InstallArgs),
    Uninstall(uninstall::UninstallArgs),
    Status(status::StatusArgs),
    Test(test::TestArgs),
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &HookArgs) -> Result {
    match &args.command {
        None => answer::run(ui, session, &args.answer),
        Some(HookCommand::Run(args)) => answer::run(ui, session, args),
        Some(HookCommand::Install(args)) => install::run(ui, session, args),
        Some(HookCommand::Uninstall(args)) => uninstall::run(ui, session, args),
        Some(HookCommand::Status(args)) => status::run(ui, session, args),
        Some(HookCommand::Test(args)) => test::run(ui, session, args),
    }
}

/// Answers the call on standard input. After the deadline the process ends silently with exit code
/// 0, and the client continues without an answer.
pub(crate) fn answer_hook_call(
    ui: &mut Ui,
    session: &Session,
    settings: &HookSettings,
    options: HookOptions<'_>,
) -> Result<HookOutcome, HookError> {
    if settings.is_silent() {
        return Ok(HookOutcome::default());
    }
    let watch = CheckWatch::default();
    let (late, system) = (watch.clone(), session.shared_system());
    let limit = brief_serve::hook::hook_deadline(session.system());
    let fails_closed = options.fails_closed;
    let deadline = Deadline::start(limit, move || late.say_last_words(&*system, fails_closed));
    let options = HookOptions {
        delivers: settings.delivery_switch().is_none(),
        enforces: settings.enforcement_switch().is_none(),
        watch: Some(&watch),
        ..options
    };
    let outcome = answer_input(session.shared_system(), ui.take_stdin(), options);
    deadline.lift();
    outcome
}

/// Returns the clients that are known here: ours and the project's own.
pub(super) fn known_clients(session: &Session) -> Result<Cow<'static, KnownClients>> {
    let root = session.repository_root()?;
    Ok(OwnClients::read_project(session.system(), root.path()).known_clients())
}

/// Finds a client that has a hook.
fn find_hook_client<'c>(known: &'c KnownClients, name: &str) -> Result<&'c Client> {
    let Some(client) = known.find_client(name) else {
        return Err(unknown_client(known, name));
    };
    if install_of(client).is_some() {
        return Ok(client);
    }
    Err(CommandError::refused(format!("{} has no hooks that can add context", client.name))
        .with_hint(format!(
            "run `brief registry build` to write files that it loads; clients with hooks: {}",
            with_hooks(known)
        )))
}

/// Returns the error about a client that is not known, with those that may be meant.
fn unknown_client(known: &KnownClients, name: &str) -> CommandError {
    let names = known.clients.iter().filter(|client| install_of(client).is_some());
    let names: Vec<&str> = names.map(|client| &*client.id).collect();
    let unknown = CommandError::usage(format!("unknown client `{name}`"));
    let mut meant = nearest_few(name, &names, 2);
    if meant.is_empty()
        && let Some((begin, _)) = name.split_at_checked(2)
    {
        meant.extend(names.iter().filter(|known| known.starts_with(begin)).take(2));
    }
    match meant[..] {
        [] => unknown.with_hint(format!("clients with hooks: {}", with_hooks(known))),
        [only] => unknown.with_hint(format!("did you mean `{only}`?")),
        [first, second, ..] => unknown.with_hint(format!("did you mean `{first}` or `{second}`?")),
    }
}

/// Returns the files that set up the hook of a client; `None` if it has no hook that can be set up.
pub(super) fn install_of(client: &Client) -> Option<&HookInstall> {
    client.hook.as_ref()?.install.as_ref()
}

fn with_hooks(known: &KnownClients) -> String {
    let clients = known.clients.iter().filter(|client| install_of(client).is_some());
    clients.map(|client| format!("`{}`", client.id)).collect::<Vec<_>>().join(", ")
}

/// Refuses to write a hook where a policy forbids hooks.
fn check_policy(session: &Session) -> Result {
    match session.load_policy()?.find_capability_rule(Capability::Hooks) {
        None => Ok(()),
        Some(decision) => Err(CommandError::refused(format!(
            "cannot install the hook: {decision}"
        ))
        .with_hint("run `brief trust --policy` to see the policy, and ask whoever maintains it")),
    }
}

/// Returns the error about a client's file.
fn client_file_error(name: &str, error: &impl std::fmt::Display) -> CommandError {
    CommandError::refused(format!("`{name}` {error}"))
        .with_hint("correct the file; brief did not change it")
}

/// Returns the error about one of several files.
fn refused_file((name, error): (String, ClientFileError)) -> CommandError {
    client_file_error(&name, &error)
}

/// Returns the command that a client runs, without options.
fn hook_program(client: &Client, command: Option<&str>) -> String {
    command.map_or_else(|| hook_command(client), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cli;
    use crate::commands::Command;

    /// The whole command line reads every such call in the same way.
    #[test]
    fn a_hook_is_read_as_the_command_line_reads_it() {
        const WORDS: [&str; 14] = [
            "hook",
            "claude",
            "--repeat",
            "--budget",
            "7",
            "install",
            "-C",
            ".",
            "--help",
            "--event",
            "--hold",
            "--hold=marked",
            "--block-once",
            "--fail-closed",
        ];
        let mut known = 0;
        for number in 0..WORDS.len().pow(5) {
            let digits = (0..5).map(|place| number / WORDS.len().pow(place) % WORDS.len());
            let typed: Vec<OsString> = digits.map(|digit| WORDS[digit].into()).collect();
            for length in 0..=typed.len() {
                let Some(read) = HookArgs::as_clients_type(&typed[..length]) else { continue };
                let args = [&[OsString::from("brief")], &typed[..length]].concat();
                let whole = Cli::parse_arguments(&args, 80);
                let Command::Hook(whole) = whole.unwrap().command else { panic!("{typed:?}") };
                assert_eq!(format!("{read:?}"), format!("{whole:?}"), "{typed:?}");
                known += 1;
            }
        }
        assert!(known > 0);
    }
}
