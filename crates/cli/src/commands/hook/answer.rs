//! `brief hook CLIENT`

use brief_clients::hook::ClientAnswer;
use brief_profiles::BUILTIN;
use brief_safety::settings::HookSettings;
use brief_serve::hook::{HoldPolicy, HookOptions, Repeat};
use brief_syntax::limits;
use clap::{Args, ValueEnum};

use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::ui::Ui;

/// The call of a client: JSON on standard input, JSON on standard output.
#[derive(Debug, Args)]
pub(crate) struct AnswerArgs {
    /// Client whose event is on standard input
    pub(super) client: Option<String>,

    /// Name of the event, if the input does not contain it
    #[arg(long, value_name = "EVENT")]
    pub(super) event: Option<String>,

    /// Deliver an item each time it applies, not once per conversation
    #[arg(long)]
    pub(super) repeat: bool,

    /// Deliver at most N tokens in one conversation
    #[arg(long, value_name = "N", default_value_t = limits::HOOK_TOKENS)]
    pub(super) budget: usize,

    /// Block the first edit of a file once, so the agent reads its guidance [default: all]
    #[arg(
        long, value_name = "WHICH", num_args = 0..=1, require_equals = true,
        default_missing_value = "all", alias = "hold"
    )]
    pub(super) block_once: Option<HoldArg>,

    /// Refuse a call whose rules cannot be checked; `fail = "closed"` of the user's settings adds it
    #[arg(long, hide = true)]
    pub(super) fail_closed: bool,
}

/// The changes that are held back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum HoldArg {
    /// Edits with guidance that the conversation lacks
    All,
    /// Edits with an entry that has `hold: true`
    Marked,
}

impl HoldArg {
    /// Returns the option of the command that a client runs.
    pub(super) fn command_option(self) -> &'static str {
        match self {
            HoldArg::All => " --block-once",
            HoldArg::Marked => " --block-once=marked",
        }
    }

    pub(super) fn hold_policy(hold: Option<HoldArg>) -> HoldPolicy {
        match hold {
            None => HoldPolicy::Never,
            Some(HoldArg::Marked) => HoldPolicy::Marked,
            Some(HoldArg::All) => HoldPolicy::All,
        }
    }
}

pub(super) fn run(ui: &mut Ui, session: &Session, args: &AnswerArgs) -> Result {
    let Some(client) = &args.client else {
        return Err(CommandError::usage("`brief hook` needs a client")
            .with_hint("run `brief hook install` to set up a hook"));
    };
    let settings = &HookSettings::load(session.system());
    if settings.is_silent() && !ui.can_ask() {
        return Ok(());
    }
    if BUILTIN.find_client(client).is_none() {
        let known = super::known_clients(session)?;
        if known.find_client(client).is_none() {
            return Err(super::unknown_client(&known, client));
        }
    }
    if ui.can_ask() {
        let name = BUILTIN.find_client(client).map_or(client.as_str(), |client| &*client.name);
        ui.print_status(&format!("waiting for JSON from {name} on standard input"))?;
        super::status::print_hook_switches(ui, settings)?;
        ui.print_hint(&format!(
            "run `brief hook install {client}` to set up the hook, or `brief context PATH` to read guidance"
        ))?;
    }
    let repeat = if args.repeat { Repeat::Always } else { Repeat::Once };
    let options = HookOptions {
        event: args.event.as_deref(),
        repeat,
        budget: args.budget,
        hold: HoldArg::hold_policy(args.block_once),
        fails_closed: args.fail_closed,
        ..HookOptions::new(client)
    };
    let outcome = super::answer_hook_call(ui, session, settings, options)
        .map_err(|error| CommandError::refused(error.to_string()))?;
    // Few people read this; the answer is what counts.
    ui.print_diagnostic_lines(&outcome.diagnostics, session.directory())?;
    if outcome.found_nothing {
        ui.print_warning("no guidance found for the file")?;
    }
    match outcome.answer {
        Some(ClientAnswer::Line(line)) => ui.print_data(&line),
        Some(ClientAnswer::Status { status, reason }) => {
            ui.warn_raw(&format!("{reason}\n"))?;
            Err(CommandError::of_refused_call(status))
        }
        None => Ok(()),
    }
}
