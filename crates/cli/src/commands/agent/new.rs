//! `brief agent new`

use std::path::PathBuf;

use brief_engine::agents::scaffold;
use clap::Args;

use crate::commands::init::print_created;
use crate::commands::registry::write_new;
use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::ui::Ui;

/// Create an agent file from a template
///
/// The file has one command and one tool, and passes `brief agent check --preflight`. `brief agent check` reports leftover
/// template text.
#[derive(Debug, Args)]
pub(super) struct AgentNewArgs {
    /// Category and name, such as `dev_review`
    name: String,

    /// Directory that contains `agents`
    #[arg(long = "in", value_name = "DIR", default_value = ".")]
    above: PathBuf,

    /// Print JSON
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
    ui.hint(&format!("run `brief agent check --preflight {}` to try it", shown.display()))
}
