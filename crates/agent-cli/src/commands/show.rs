//! `brief agent show`

use brief_engine::agents::{AgentView, CommandOrigin};
use brief_syntax::Diagnostic;
use serde::Serialize;
use serde_json::json;

use super::executing::{examine_agent, input_of};
use super::{print_json, read_agent, refuse_agent};
use crate::agent::AgentShowArgs;
use crate::error::{CommandError, ErrorKind, Result};
use crate::session::Session;
use crate::ui::Ui;

#[derive(Debug, Serialize)]
struct Shown<'a> {
    ok: bool,
    agent: AgentView<'a>,
}

pub(super) fn run(ui: &mut Ui, session: &Session, args: &AgentShowArgs) -> Result {
    let loaded = read_agent(ui, session, &args.file)?;
    let code = examine_agent(ui, session, &loaded, &args.fencing)?;
    let mut diagnostics: Vec<Diagnostic> = loaded.diagnostics().to_vec();
    diagnostics.extend(code.diagnostics.iter().cloned());
    let Some(agent) = loaded.agent().filter(|_| code.is_valid()) else {
        return not_shown(ui, session, args, &diagnostics);
    };
    let input = args.input.as_deref().map(|text| input_of(agent, Some(text)));
    let rendered = if args.render { Some(agent.render(input.as_ref())) } else { None };
    let rendered = match rendered.transpose() {
        Ok(rendered) => rendered,
        Err(problems) => {
            diagnostics.extend(problems);
            return not_shown(ui, session, args, &diagnostics);
        }
    };
    let mut view = AgentView::new(agent, &code.schemes);
    if let Some(rendered) = &rendered {
        view = view.with_rendered(rendered, input.as_ref());
    }
    if args.json {
        let body = Shown { ok: true, agent: view };
        return print_json(ui, session, "agent show", &diagnostics, body);
    }
    ui.print_diagnostic_lines(&diagnostics, session.open_root()?.path())?;
    ui.print_heading(&format!("{} {} {}", agent.icon, agent.title, agent.version))?;
    ui.print_line(&agent.description)?;
    ui.print_line(format!("status: {}", agent.status.as_str()))?;
    if !agent.required.env.is_empty() {
        ui.print_line(format!("needs: {}", agent.required.env.join(", ")))?;
    }
    for scheme in &code.schemes {
        ui.print_line(format!("tool {}: {}", scheme.name, scheme.description))?;
    }
    for command in &agent.commands {
        let state = match &command.origin {
            CommandOrigin::Remote(remote) => {
                format!(" ({}, {})", remote.url, remote.state.as_str())
            }
            CommandOrigin::Inline | CommandOrigin::File(_) => String::new(),
        };
        ui.print_line(format!("/{}: {}{state}", command.name, command.description))?;
    }
    for remote in &agent.unresolved {
        ui.print_line(format!("{}: {}", remote.url, remote.state.as_str()))?;
    }
    let (system, rules) = match &rendered {
        Some(rendered) => (rendered.system.as_str(), rendered.rules.as_str()),
        None => (agent.system.text.as_str(), agent.rules.text.as_str()),
    };
    for (name, text) in [("System", system), ("Rules", rules)] {
        if !text.is_empty() {
            ui.print_heading(name)?;
            ui.print_line(text)?;
        }
    }
    Ok(())
}

fn not_shown(
    ui: &mut Ui,
    session: &Session,
    args: &AgentShowArgs,
    diagnostics: &[Diagnostic],
) -> Result {
    if !args.json {
        return Err(refuse_agent(ui, session, diagnostics)?);
    }
    print_json(ui, session, "agent show", diagnostics, json!({ "ok": false }))?;
    Err(CommandError::reported(ErrorKind::Refused))
}
