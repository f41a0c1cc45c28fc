//! `brief context --decisions`

use std::path::Path;

use brief_engine::{BriefedDecision, Briefing, structured};

use super::question::{DialectArg, QuestionArgs, TypedQuestion, WhyHint, shown_place};
use crate::error::Result;
use crate::session::Session;
use crate::ui::Ui;

/// Prints the decisions for a path, or those of the whole project.
pub(super) fn run(
    ui: &mut Ui,
    session: &Session,
    path: Option<&Path>,
    question: &QuestionArgs,
    is_json: bool,
) -> Result {
    let session = &session.with_memory();
    let only = [DialectArg::new(&structured::Structured)];
    let typed = TypedQuestion::new(session, path, &only);
    let request = question.create_request(session, path)?.only([structured::NAME]);
    typed.warn_of_place(ui, &request.moment)?;
    let mut briefing = request.resolve();
    briefing.keep_decisions();
    if is_json {
        return typed.print_json(ui, "context", &briefing);
    }
    ui.print_diagnostic_lines(&briefing.diagnostics, briefing.root())?;
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
        ui.print_line(indent_text("  ", &decision.decision))?;
        ui.print_line(indent_text("    ", &format!("why: {}", decision.rationale)))?;
        for alternative in &decision.alternatives {
            let (option, reason) = (alternative.option.trim_end(), &alternative.reason_rejected);
            let reason = match reason.trim() {
                "" => String::new(),
                reason => format!(", because {reason}"),
            };
            ui.print_line(indent_text("    ", &format!("not: {option}{reason}")))?;
        }
        if let Some(revisit_when) = &decision.revisit_when {
            ui.print_line(indent_text("    ", &format!("revisit when: {revisit_when}")))?;
        }
        if let Some(date) = &decision.date {
            ui.print_line(format!("    decided: {date}"))?;
        }
    }
    Ok(())
}

/// Indents a text of several lines below its heading.
fn indent_text(margin: &str, text: &str) -> String {
    let lines = text.trim_end().lines().map(|line| format!("{margin}{line}"));
    lines.collect::<Vec<_>>().join("\n")
}
