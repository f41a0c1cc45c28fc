//! `brief agent new`

use brief_cli::{print_created, write_new};
use brief_engine::agents::scaffold;

use crate::agent::AgentNewArgs;
use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::ui::Ui;

pub(super) fn run(ui: &mut Ui, session: &Session, args: &AgentNewArgs) -> Result {
    let name = args.name.strip_suffix(".agent.md").unwrap_or(&args.name);
    if let Some(problem) = scaffold::name_problem(name) {
        let message = format!("invalid agent name `{}`: {problem}", args.name);
        return Err(CommandError::usage(message)
            .with_hint("write a category and a name, such as `brief agent new dev_review`"));
    }
    let below = scaffold::agent_file_path(name);
    let text = scaffold::render_agent_file(name);
    let (path, shown) = write_new(session, &args.above, below.as_ref(), &text)?;
    if args.json {
        return print_created(ui, session, "agent new", &path);
    }
    ui.print_line(shown.display())?;
    ui.print_hint(&format!("run `brief agent check --preflight {}` to try it", shown.display()))
}
