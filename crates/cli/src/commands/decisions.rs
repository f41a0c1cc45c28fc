//! `brief decisions`

use brief_engine::{BriefedDecision, Briefing, structured};
use clap::Args;

use super::question::{DialectArg, PathOrAll, TypedQuestion, WhyHint, request, shown_place};
use crate::error::Result;
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

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &DecisionsArgs) -> Result {
    let session = &session.remembering();
    let path = args.scope.path.as_deref();
    let only = [DialectArg::new(&structured::Structured)];
    let typed = TypedQuestion::new(session, path, &only);
    let request = request(session, path)?.only([structured::NAME]);
    typed.warn_of_place(ui, &request.moment)?;
    let mut briefing = request.resolve();
    briefing.keep_decisions();
    if args.json {
        return typed.print_json(ui, "decisions", &briefing);
    }
    ui.mention(&briefing.diagnostics, briefing.root())?;
    if briefing.decisions.is_empty() {
        let Briefing { moment, files, .. } = &briefing;
        return typed.explain_nothing(ui, moment, *files, "decisions", WhyHint::Given);
    }
    print_decisions(ui, &briefing)
}

fn print_decisions(ui: &mut Ui, briefing: &Briefing) -> Result {
    for (index, BriefedDecision { decision, path, .. }) in briefing.decisions.iter().enumerate() {
        if index > 0 {
            ui.print_line("")?;
        }
        ui.print_heading(&shown_place(briefing.root(), path, decision.line))?;
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
