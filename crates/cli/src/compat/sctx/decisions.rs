//! `sctx decisions`

use std::ffi::OsString;

use brief_engine::{Briefing, structured};
use serde::Serialize;

use super::arguments::{Filters, SctxArguments};
use super::slashed;
use crate::error::Result;
use crate::session::Session;
use crate::ui::Ui;

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Bound<'d> {
    decision: &'d str,
    rationale: &'d str,
    alternatives: Option<Vec<SctxAlternative<'d>>>,
    revisit_when: &'d str,
    date: &'d str,
    r#match: Vec<&'d str>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct SctxDecision<'d> {
    decision: &'d str,
    rationale: &'d str,
    #[serde(skip_serializing_if = "Option::is_none")]
    alternatives: Option<Vec<SctxAlternative<'d>>>,
    #[serde(skip_serializing_if = "str::is_empty")]
    revisit_when: &'d str,
    #[serde(skip_serializing_if = "str::is_empty")]
    date: &'d str,
    r#match: Vec<&'d str>,
    source_file: String,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct SctxAlternative<'d> {
    option: &'d str,
    reason_rejected: &'d str,
}

pub(super) fn run(ui: &mut Ui, session: &Session, args: &[OsString]) -> Result {
    let arguments = SctxArguments::parse(args, Filters::Unknown)?;
    let asked = arguments.ask(ui, session)?;
    let bound = asked.as_ref().map(|briefing| briefing.decisions.as_slice()).unwrap_or_default();
    let root = asked.as_ref().map_or(session.directory(), Briefing::root);
    match (arguments.json, arguments.all) {
        (true, false) => {
            ui.print_document(
                &bound.iter().map(|bound| to_bound(&bound.decision)).collect::<Vec<_>>(),
            )?;
        }
        (true, true) => {
            let listed = bound.iter().map(|bound| {
                let Bound { decision, rationale, alternatives, revisit_when, date, r#match } =
                    to_bound(&bound.decision);
                let source_file = slashed(&bound.path, root);
                SctxDecision {
                    decision,
                    rationale,
                    alternatives,
                    revisit_when,
                    date,
                    r#match,
                    source_file,
                }
            });
            ui.print_document(&listed.collect::<Vec<_>>())?;
        }
        (false, all) => {
            for bound in bound {
                print(ui, &bound.decision)?;
                if all {
                    let patterns = patterns(&bound.decision);
                    ui.print_line(format!("    Match: {}", patterns.join(", ")))?;
                    ui.print_line(format!("    (from {})", slashed(&bound.path, root)))?;
                }
            }
            if bound.is_empty() {
                ui.print_line("No matching decisions found.")?;
            }
        }
    }
    Ok(())
}

fn print(ui: &mut Ui, decision: &structured::Decision) -> Result {
    ui.print_line(format!("  - {}", decision.decision))?;
    ui.print_line(format!("    Rationale: {}", decision.rationale))?;
    for alternative in &decision.alternatives {
        let structured::Alternative { option, reason_rejected } = alternative;
        let reason = match reason_rejected.trim() {
            "" => String::new(),
            _ => format!(": {reason_rejected}"),
        };
        ui.print_line(format!("    Considered {option}, rejected{reason}"))?;
    }
    if let Some(revisit_when) = &decision.revisit_when {
        ui.print_line(format!("    Revisit when: {revisit_when}"))?;
    }
    Ok(())
}

fn patterns(decision: &structured::Decision) -> Vec<&str> {
    decision.patterns.iter().map(structured::Pattern::as_str).collect()
}

fn to_bound(decision: &structured::Decision) -> Bound<'_> {
    let alternatives = decision.alternatives.iter().map(|alternative| SctxAlternative {
        option: &alternative.option,
        reason_rejected: &alternative.reason_rejected,
    });
    Bound {
        decision: &decision.decision,
        rationale: &decision.rationale,
        alternatives: (!decision.alternatives.is_empty()).then(|| alternatives.collect()),
        revisit_when: decision.revisit_when.as_deref().unwrap_or_default(),
        date: decision.date.as_deref().unwrap_or_default(),
        r#match: patterns(decision),
    }
}
