//! `sctx context`

use std::ffi::OsString;
use std::process::ExitCode;

use brief_engine::structured::Pattern;
use brief_engine::{Applied, Item};
use serde::Serialize;

use super::arguments::{Arguments, Filters};
use super::{Outcome, slashed};
use crate::session::Session;
use crate::ui::Ui;

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Entry<'e> {
    content: &'e str,
    source_dir: String,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct ListedEntry<'e> {
    content: &'e str,
    r#match: Vec<&'e str>,
    source_file: String,
}

pub(super) fn run(ui: &mut Ui, session: &Session, args: &[OsString]) -> Outcome {
    let arguments = Arguments::parse(args, Filters::Accepted)?;
    let asked = arguments.ask(ui, session)?;
    let resolution = asked.as_ref().map(|(_, catalog, moment)| catalog.candidates(moment));
    let items =
        resolution.as_ref().map(|resolution| resolution.items.as_slice()).unwrap_or_default();
    let root = asked.as_ref().map_or(session.directory(), |(root, ..)| root.path());
    let directory = |applied: &Applied<'_>| {
        applied.item.path.parent().unwrap_or(root).to_string_lossy().into_owned()
    };
    match (arguments.json, arguments.all) {
        (true, false) => {
            let entries: Vec<_> = items
                .iter()
                .map(|applied| Entry {
                    content: applied.item.content,
                    source_dir: directory(applied),
                })
                .collect();
            ui.print_document(&entries)?;
        }
        (true, true) => {
            let entries: Vec<_> = items
                .iter()
                .map(|applied| ListedEntry {
                    content: applied.item.content,
                    r#match: patterns(&applied.item),
                    source_file: slashed(applied.item.path, root),
                })
                .collect();
            ui.print_document(&entries)?;
        }
        (false, all) => {
            for applied in items {
                ui.print_line(format!("  - {}", applied.item.content))?;
                if all {
                    ui.print_line(format!("    Match: {}", patterns(&applied.item).join(", ")))?;
                    ui.print_line(format!("    (from {})", slashed(applied.item.path, root)))?;
                } else {
                    ui.print_line(format!("    (from {})", directory(applied)))?;
                }
            }
            if items.is_empty() {
                ui.print_line("No matching context found.")?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn patterns<'s>(item: &Item<'s>) -> Vec<&'s str> {
    item.patterns.iter().map(Pattern::as_str).collect()
}
