//! `brief agent new`

use std::path::PathBuf;

use brief_engine::agents::scaffold;
use clap::Args;

use crate::commands::init::print_created;
use crate::commands::new::write_new;
use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::ui::Ui;

/// Write a new agent file from a template
///
/// The file has a command and a tool to begin with, and `brief agent ready` passes it. `brief agent check` reports text
/// of the template that is still there.
#[derive(Debug, Args)]
pub(super) struct AgentNewArgs {
    /// Its category and name, such as `dev_review`
    name: String,

    /// The directory that holds `agents`
    #[arg(long = "in", value_name = "DIR", default_value = ".")]
    above: PathBuf,

    /// Print JSON: the file that was written
    #[arg(long)]
    json: bool,
}

pub(super) fn run(ui: &mut Ui, session: &Session, args: &AgentNewArgs) -> Result {
    let name = args.name.strip_suffix(".agent.md").unwrap_or(&args.name);
    if let Some(problem) = scaffold::name_problem(name) {
        let message = format!("`{}` is not a valid name of an agent: {problem}", args.name);
        return Err(CommandError::usage(message)
            .with_hint("write a category and a name, such as `brief agent new dev_review`"));
    }
    let below = scaffold::path(name);
    let text = scaffold::agent(name);
    let (path, shown) = write_new(session, &args.above, below.as_ref(), &text)?;
    if args.json {
        return print_created(ui, session, "agent new", &path);
    }
    ui.print_line(shown.display())?;
    ui.hint(&format!("run `brief agent ready {}` to try it", shown.display()))
}
