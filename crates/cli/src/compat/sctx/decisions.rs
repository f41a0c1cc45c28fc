//! `sctx decisions`

use std::ffi::OsString;

use brief_engine::{Briefing, structured};
use serde_json::{Value, json};

use super::arguments::{Filters, SctxArguments};
use super::slashed_path;
use crate::error::Result;
use crate::session::Session;
use crate::ui::Ui;

pub(super) fn run(ui: &mut Ui, session: &Session, args: &[OsString]) -> Result {
    let arguments = SctxArguments::parse(args, Filters::Unknown)?;
    let asked = arguments.resolve_briefing(ui, session)?;
    let bound = asked.as_ref().map(|briefing| briefing.decisions.as_slice()).unwrap_or_default();
    let root = asked.as_ref().map_or(session.directory(), Briefing::root);
    match (arguments.json, arguments.all) {
        (true, is_listing) => {
            let decisions = bound.iter().map(|bound| {
                let source_file = is_listing.then(|| slashed_path(&bound.path, root));
                decision_json(&bound.decision, source_file)
            });
            ui.print_document(&decisions.collect::<Vec<_>>())?;
        }
        (false, all) => {
            for bound in bound {
                print_decision(ui, &bound.decision)?;
                if all {
                    let patterns = pattern_texts(&bound.decision);
                    ui.print_line(format!("    Match: {}", patterns.join(", ")))?;
                    ui.print_line(format!("    (from {})", slashed_path(&bound.path, root)))?;
                }
            }
            if bound.is_empty() {
                ui.print_line("No matching decisions found.")?;
            }
        }
    }
    Ok(())
}

fn print_decision(ui: &mut Ui, decision: &structured::Decision) -> Result {
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

fn pattern_texts(decision: &structured::Decision) -> Vec<&str> {
    decision.patterns.iter().map(structured::Pattern::as_str).collect()
}

/// Returns a decision in the shape of `sctx`. One in a listing names its file, and leaves out what is empty.
fn decision_json(decision: &structured::Decision, source_file: Option<String>) -> Value {
    let alternatives = decision.alternatives.iter().map(|alternative| {
        json!({ "Option": alternative.option, "ReasonRejected": alternative.reason_rejected })
    });
    let alternatives: Vec<Value> = alternatives.collect();
    let mut json = json!({
        "Decision": decision.decision,
        "Rationale": decision.rationale,
        "Alternatives": (!alternatives.is_empty()).then_some(alternatives),
        "RevisitWhen": decision.revisit_when.as_deref().unwrap_or_default(),
        "Date": decision.date.as_deref().unwrap_or_default(),
        "Match": pattern_texts(decision),
    });
    if let (Some(fields), Some(source_file)) = (json.as_object_mut(), source_file) {
        let is_optional = |name: &str| ["Alternatives", "RevisitWhen", "Date"].contains(&name);
        fields.retain(|name, value| !is_optional(name) || !value.is_null() && value != "");
        fields.insert("SourceFile".to_owned(), source_file.into());
    }
    json
}
