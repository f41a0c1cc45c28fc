//! `sctx context`

use std::ffi::OsString;

use brief_engine::{BriefedItem, Briefing};
use serde::Serialize;

use super::arguments::{Filters, SctxArguments};
use super::slashed;
use crate::error::Result;
use crate::session::Session;
use crate::ui::Ui;

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct SctxEntry<'e> {
    content: &'e str,
    source_dir: String,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct SctxContextEntry<'e> {
    content: &'e str,
    r#match: &'e [String],
    source_file: String,
}

pub(super) fn run(ui: &mut Ui, session: &Session, args: &[OsString]) -> Result {
    let arguments = SctxArguments::parse(args, Filters::Accepted)?;
    let asked = arguments.ask(ui, session)?;
    let items = asked.as_ref().map(|briefing| briefing.active.as_slice()).unwrap_or_default();
    let root = asked.as_ref().map_or(session.directory(), Briefing::root);
    let directory =
        |item: &BriefedItem| item.path.parent().unwrap_or(root).to_string_lossy().into_owned();
    match (arguments.json, arguments.all) {
        (true, false) => {
            let entries: Vec<_> = items
                .iter()
                .map(|item| SctxEntry { content: &item.content, source_dir: directory(item) })
                .collect();
            ui.print_document(&entries)?;
        }
        (true, true) => {
            let entries: Vec<_> = items
                .iter()
                .map(|item| SctxContextEntry {
                    content: &item.content,
                    r#match: &item.patterns,
                    source_file: slashed(&item.path, root),
                })
                .collect();
            ui.print_document(&entries)?;
        }
        (false, all) => {
            for item in items {
                ui.print_line(format!("  - {}", item.content))?;
                if all {
                    ui.print_line(format!("    Match: {}", item.patterns.join(", ")))?;
                    ui.print_line(format!("    (from {})", slashed(&item.path, root)))?;
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
