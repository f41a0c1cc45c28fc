//! `brief context`

use std::path::Path;
use std::sync::Arc;

use brief_engine::{BriefedItem, Briefing, ItemPlace, State, agents, tasks};
use brief_syntax::text::visible_line;
use clap::Args;

use super::decisions;
use super::question::{BudgetedQuestion, PathOrAll, TypedQuestion, WhyHint, shown_place};
use crate::error::Result;
use crate::session::Session;
use crate::ui::Ui;

/// Print the guidance for a file or directory
///
/// General guidance first, the most specific last; then listed items, then items available on mention. Read-only.
#[derive(Debug, Args)]
pub(crate) struct ContextArgs {
    #[command(flatten)]
    scope: PathOrAll,

    #[command(flatten)]
    asked: BudgetedQuestion,

    /// Show only `decisions`, which AGENTS.yaml files record for a project
    #[arg(long, conflicts_with_all = ["only", "budget", "exact", "on", "when"])]
    decisions: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Other places of a text that are named.
const PLACES: usize = 4;

/// Items that are named, of those that have to be asked for.
const NAMES: usize = 20;

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &ContextArgs) -> Result {
    if args.decisions {
        let path = args.scope.path.as_deref();
        return decisions::run(ui, session, path, &args.asked.question, args.json);
    }
    let typed = TypedQuestion::new(session, args.scope.path.as_deref(), &args.asked.question.only);
    let briefing = args.asked.resolve(ui, session, &typed, args.json, !args.json)?;
    if args.json {
        return typed.print_json(ui, "context", &briefing);
    }
    ui.print_diagnostic_lines(&briefing.diagnostics, briefing.root())?;
    let Briefing { moment, active, listed, manual, files, .. } = &briefing;
    let cut = briefing.count_cuts();
    if active.is_empty() && listed.is_empty() && manual.is_empty() && cut == 0 {
        return typed.explain_nothing(ui, moment, *files, "context", WhyHint::Given);
    }
    print_items(ui, &briefing)?;
    let headings = ["listed: the agent reads it on demand", "manual: only when mentioned"];
    let mut is_second = !active.is_empty();
    for (heading, items) in headings.into_iter().zip([listed, manual]) {
        print_names(ui, briefing.root(), items, heading, is_second)?;
        is_second |= !items.is_empty();
    }
    typed.mention_cuts(ui, cut, args.asked.cost)
}

/// Prints items that an agent or a user can ask for by name, one line each.
fn print_names(
    ui: &mut Ui,
    root: &Path,
    items: &[BriefedItem],
    heading: &str,
    is_second: bool,
) -> Result {
    if items.is_empty() {
        return Ok(());
    }
    if is_second {
        ui.print_line("")?;
    }
    ui.print_heading(heading)?;
    let (named, more) = items.split_at(items.len().min(NAMES));
    for item in named {
        let about = match item.description.trim() {
            "" => String::new(),
            description => format!(": {description}"),
        };
        let way = way_to_ask(root, item);
        ui.print_line(visible_line(&format!("  {}{about} ({way})", item.name)))?;
    }
    if !more.is_empty() {
        ui.print_line(format!("  and {} more; `--json` lists them all", more.len()))?;
    }
    Ok(())
}

/// Returns how to ask for an item that the answer only names.
fn way_to_ask(root: &Path, item: &BriefedItem) -> String {
    let path = item.path.strip_prefix(root).unwrap_or(&item.path).display();
    match (item.state, item.dialect, item.kind) {
        (State::Listed, ..) => format!("read {path}"),
        (_, tasks::NAME, "task") => format!("brief task {}", item.name),
        (_, tasks::NAME, "command") => format!("/{} in a task", item.name),
        (_, agents::NAME, _) => format!("brief agent run {path}"),
        _ => format!("--mention {}", item.name),
    }
}

/// Says where else a text stands.
fn render_other_places(root: &Path, also: &[ItemPlace]) -> String {
    let (named, more) = also.split_at(also.len().min(PLACES));
    let named: Vec<String> =
        named.iter().map(|place| shown_place(root, &place.path, place.line)).collect();
    match (named.as_slice(), more.len()) {
        ([], _) => String::new(),
        (named, 0) => format!(", also {}", named.join(", ")),
        (named, more) => format!(", also {} and {more} more", named.join(", ")),
    }
}

/// One heading per entry, its text below it.
fn print_items(ui: &mut Ui, briefing: &Briefing) -> Result {
    // Entries of one file stand together, and its path can be long.
    let of_one_file = briefing.active.chunk_by(|left, right| Arc::ptr_eq(&left.path, &right.path));
    let root = briefing.root();
    for (index, items) in of_one_file.enumerate() {
        let path = &items[0].path;
        let path = path.strip_prefix(root).unwrap_or(path).to_string_lossy();
        for (position, item) in items.iter().enumerate() {
            if index + position > 0 {
                ui.print_line("")?;
            }
            let mut heading = format!("{path}:{}", item.line);
            heading.push_str(&render_other_places(root, &item.also));
            if briefing.moment.target.is_none() && !item.patterns.is_empty() {
                heading.push_str(&format!("  match {}", item.patterns.join(", ")));
            }
            ui.print_heading(&heading)?;
            let lines = item.content.trim_end().lines();
            for line in lines.skip_while(|line| line.trim().is_empty()) {
                ui.print_line(if line.is_empty() { String::new() } else { format!("  {line}") })?;
            }
        }
    }
    Ok(())
}
