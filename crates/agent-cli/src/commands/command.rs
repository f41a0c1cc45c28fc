//! `brief agent debug command`

use brief_syntax::near_miss::find_nearest;
use brief_syntax::text::format_count;
use serde_json::json;

use super::{ensure_usable, print_json, read_agent};
use crate::agent::AgentCommandArgs;
use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::ui::Ui;

pub(super) fn run(ui: &mut Ui, session: &Session, args: &AgentCommandArgs) -> Result {
    let loaded = read_agent(ui, session, &args.file)?;
    let agent = ensure_usable(ui, session, &loaded)?;
    let (name, arguments) =
        args.words.split_first().map_or(("", [].as_slice()), |(name, rest)| (name.as_str(), rest));
    let name = name.trim_start_matches('/');
    let Some(command) = agent.find_command(name) else {
        let names: Vec<&str> = agent.commands.iter().map(|one| one.name.as_str()).collect();
        let message = format!("unknown command `{name}`");
        let hint = match (find_nearest(name, &names), names.as_slice()) {
            (Some(near), _) => format!("did you mean `{near}`?"),
            (None, []) => "the agent has no commands".to_owned(),
            (None, names) => format!("the agent has {}", names.join(", ")),
        };
        return Err(CommandError::refused(message).with_hint(hint));
    };
    let text = command
        .invoke(arguments)
        .map_err(|error| CommandError::usage(error.to_string()).with_hint(render_usage(command)))?;
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
fn render_usage(command: &brief_engine::agents::Command) -> String {
    let names = command.hint.argument_names();
    if names.is_empty() {
        return format!(
            "the command takes {}",
            format_count(command.highest_argument(), "argument")
        );
    }
    format!("usage: {} {}", command.name, names.join(" "))
}
