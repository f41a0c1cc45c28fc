//! `brief decisions`

use std::process::ExitCode;

use brief_engine::tokens::Counter;
use brief_engine::{Decision, Resolution};
use clap::Args;

use super::question::{Asked, DialectArg, PathOrAll, Question, Reach, WhyHint};
use crate::error::CommandError;
use crate::session::Session;
use crate::ui::Ui;

/// Show the decisions that bind a file or directory
#[derive(Debug, Args)]
pub(crate) struct DecisionsArgs {
    #[command(flatten)]
    scope: PathOrAll,

    /// Print JSON, in the shape of `brief context --json`
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(
    ui: &mut Ui,
    session: &Session,
    args: &DecisionsArgs,
) -> Result<ExitCode, CommandError> {
    let question = Question {
        path: args.scope.path.as_deref(),
        action: None,
        timing: None,
        reach: &Reach::only(DialectArg::Structured),
    };
    let asked = question.ask(ui, session)?;
    let diagnostics = asked.catalog.diagnostics();
    let mut resolution = asked.catalog.resolve(&asked.moment);
    only_decisions(&mut resolution);
    if args.json {
        asked.print_json(ui, "decisions", &resolution, &diagnostics, &Counter::estimate())?;
        return Ok(ExitCode::SUCCESS);
    }
    ui.mention(&diagnostics, asked.root.path())?;
    if resolution.decisions.is_empty() {
        asked.explain_nothing(ui, "decisions", WhyHint::Given)?;
        return Ok(ExitCode::SUCCESS);
    }
    print_decisions(ui, asked, &resolution.decisions)?;
    Ok(ExitCode::SUCCESS)
}

fn only_decisions(resolution: &mut Resolution<'_>) {
    resolution.items.clear();
    resolution.left_out.retain(|left_out| left_out.kind == "decision");
}

fn print_decisions(
    ui: &mut Ui,
    asked: &Asked,
    decisions: &[Decision<'_>],
) -> Result<(), CommandError> {
    for (index, Decision { decision, path, .. }) in decisions.iter().enumerate() {
        if index > 0 {
            ui.print_line("")?;
        }
        let path = path.strip_prefix(asked.root.path()).unwrap_or(path).display();
        ui.print_heading(&format!("{path}:{}", decision.line))?;
        ui.print_line(indented("  ", &decision.decision))?;
        ui.print_line(indented("    ", &format!("why: {}", decision.rationale)))?;
        for alternative in &decision.alternatives {
            let (option, reason) = (alternative.option.trim_end(), &alternative.reason_rejected);
            let reason = match reason.trim() {
                "" => String::new(),
                reason => format!(", because {reason}"),
            };
            ui.print_line(indented("    ", &format!("not: {option}{reason}")))?;
        }
        if let Some(revisit_when) = &decision.revisit_when {
            ui.print_line(indented("    ", &format!("revisit when: {revisit_when}")))?;
        }
        if let Some(date) = &decision.date {
            ui.print_line(format!("    decided: {date}"))?;
        }
    }
    Ok(())
}

/// Indents a text of several lines below its heading.
fn indented(margin: &str, text: &str) -> String {
    let lines = text.trim_end().lines().map(|line| format!("{margin}{line}"));
    lines.collect::<Vec<_>>().join("\n")
}
