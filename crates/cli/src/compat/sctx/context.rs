//! `sctx context`

use std::ffi::OsString;

use brief_engine::{BriefedItem, Briefing};
use serde_json::json;

use super::arguments::{Filters, SctxArguments};
use super::slashed_path;
use crate::error::Result;
use crate::session::Session;
use crate::ui::Ui;

pub(super) fn run(ui: &mut Ui, session: &Session, args: &[OsString]) -> Result {
    let arguments = SctxArguments::parse(args, Filters::Accepted)?;
    let asked = arguments.resolve_briefing(ui, session)?;
    let items = asked.as_ref().map(|briefing| briefing.active.as_slice()).unwrap_or_default();
    let root = asked.as_ref().map_or(session.directory(), Briefing::root);
    let directory =
        |item: &BriefedItem| item.path.parent().unwrap_or(root).to_string_lossy().into_owned();
    match (arguments.json, arguments.all) {
        (true, false) => {
            let entries = items
                .iter()
                .map(|item| json!({ "Content": item.content, "SourceDir": directory(item) }));
            ui.print_document(&entries.collect::<Vec<_>>())?;
        }
        (true, true) => {
            let entries = items.iter().map(|item| {
                let (content, patterns) = (&item.content, &item.patterns);
                let source_file = slashed_path(&item.path, root);
                json!({ "Content": content, "Match": patterns, "SourceFile": source_file })
            });
            ui.print_document(&entries.collect::<Vec<_>>())?;
        }
        (false, all) => {
            for item in items {
                ui.print_line(format!("  - {}", item.content))?;
                if all {
                    ui.print_line(format!("    Match: {}", item.patterns.join(", ")))?;
                    ui.print_line(format!("    (from {})", slashed_path(&item.path, root)))?;
                } else {
                    ui.print_line(format!("    (from {})", directory(item)))?;
                }
            }
            if items.is_empty() {
                ui.print_line("No matching context found.")?;
            }
        }
    }
    Ok(())
}
