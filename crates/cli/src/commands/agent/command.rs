//! `brief agent debug command`

use brief_syntax::near_miss::nearest;
use clap::Args;
use serde_json::json;

use super::{AgentFileArgs, print_json, read, usable};
use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::ui::Ui;

/// Print a command of an agent with its arguments filled in
#[derive(Debug, Args)]
pub(super) struct CommandArgs {
    /// Print JSON; give this flag before FILE
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    file: AgentFileArgs,

    /// Name of the command, then values for `$1`, `$2` … and `$ARGUMENTS`
    #[arg(
        value_names = ["NAME", "ARG"], num_args = 1.., required = true, trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    words: Vec<String>,
}

pub(super) fn run(ui: &mut Ui, session: &Session, args: &CommandArgs) -> Result {
    let loaded = read(ui, session, &args.file)?;
    let agent = usable(ui, session, &loaded)?;
    let (name, arguments) =
        args.words.split_first().map_or(("", [].as_slice()), |(name, rest)| (name.as_str(), rest));
    let name = name.trim_start_matches('/');
    let Some(command) = agent.command(name) else {
        let names: Vec<&str> = agent.commands.iter().map(|one| one.name.as_str()).collect();
        let message = format!("the agent has no command `{name}`");
        let hint = match (nearest(name, &names), names.as_slice()) {
            (Some(near), _) => format!("did you mean `{near}`?"),
            (None, []) => "has no commands at all".to_owned(),
            (None, names) => format!("has {}", names.join(", ")),
        };
        return Err(CommandError::refused(message).with_hint(hint));
    };
    let text = command
        .invoke(arguments)
        .map_err(|error| CommandError::usage(error.to_string()).with_hint(usage(command)))?;
    if args.json {
        let body = json!({ "text": text });
        return print_json(ui, session, "agent debug command", loaded.diagnostics(), body);
    }
    ui.print_text(text.as_bytes())?;
    if !text.ends_with('\n') {
        ui.print_text(b"\n")?;
    }
    Ok(())
}

/// Returns the usage of a command.
fn usage(command: &brief_engine::agents::Command) -> String {
    let names = command.hint.names();
    if names.is_empty() {
        return format!("it wants {} arguments", command.highest_argument());
    }
    format!("usage: {} {}", command.name, names.join(" "))
}
