//! `brief show`

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use brief_engine::sees::{
    Arrival, SeenItem, Sees, SeesReport, Sight, Viewer, asked_clients, collect_version_notes,
};
use brief_engine::tokens::Counter;
use brief_serve::hook::RuleReport;
use brief_syntax::text::visible_line;
use brief_workflows::delivery::find_viewers;
use clap::Args;
use serde::Serialize;

use super::question::{
    ClientName, CountingArgs, MomentArgs, StartedArg, TypedQuestion, WhyHint,
    create_briefing_request, shown_place,
};
use super::rule_effects::{group_effects, report_checks};
use super::whole::format_count;
use crate::error::Result;
use crate::session::Session;
use crate::ui::Ui;

/// Show what each client gets for a file, and what it misses
///
/// `loaded`: the client reads the full text itself. `listed`: the agent sees name and description. `delivered`: an installed
/// hook adds the text to the conversation. `missing`: it applies but nothing delivers it, with the cause. `same as`: another
/// item has the same text. `manual`: only when mentioned. `-`: it does not apply.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// File or directory, which need not exist; a trailing `/` means a directory
    path: PathBuf,

    /// Clients to show [default: detected clients, else claude, codex, copilot and cursor]
    #[arg(
        value_name = "CLIENT", value_parser = ClientName,
        add = clap_complete::ArgValueCompleter::new(crate::complete::known_clients)
    )]
    clients: Vec<String>,

    #[command(flatten)]
    when: MomentArgs,

    #[command(flatten)]
    started: StartedArg,

    #[command(flatten)]
    counting: CountingArgs,

    /// Print the full text under each row
    #[arg(long, conflicts_with = "json")]
    text: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The number of blanks between two columns.
const GAP: usize = 2;

/// The least room for a place, however narrow the terminal is.
const LEAST_ROOM: usize = 20;

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &ShowArgs) -> Result {
    let session = &session.with_memory();
    let typed = TypedQuestion::new(session, Some(&args.path), &[]);
    let mut request = create_briefing_request(session, Some(&args.path))?;
    typed.warn_of_place(ui, &request.moment)?;
    request.moment.started = Some(args.started.resolve_directory(session)?);
    args.when.narrow_moment(&mut request.moment);
    let (catalog, moment) = (request.read_catalog(), &request.moment);
    let root = moment.root.path();
    let counter = args.counting.create_counter(session, root);
    let clients = asked_clients(session.system(), root, args.clients.clone())?;
    let viewers = find_viewers(session.system(), root, moment, &clients);
    let sees = Sees::from_catalog(&catalog, root, &viewers, &|text: &str| counter.count(text));
    let diagnostics = catalog.diagnostics();
    let checks = report_checks(session, &catalog, root, &viewers)?;
    if args.json {
        let sees = SeesReport { moment, viewers: &viewers, sees: &sees };
        return ui.print_json("show", root, &diagnostics, ShowBody { sees, checks });
    }
    if sees.items.is_empty() {
        ui.print_diagnostic_lines(&diagnostics, root)?;
        return typed.explain_nothing(ui, moment, catalog.file_count(), "guidance", WhyHint::Given);
    }
    print_item_table(ui, root, &viewers, &sees, &counter, args.text)?;
    print_fixes(ui, &viewers, &sees)?;
    for note in collect_version_notes(&viewers, &sees) {
        ui.print_status(&format!("{}: {note}", note.client))?;
    }
    print_checks(ui, &checks)?;
    ui.print_diagnostic_lines(&diagnostics, root)
}

/// The JSON of the command.
#[derive(Serialize)]
struct ShowBody<'b> {
    #[serde(flatten)]
    sees: SeesReport<'b>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    checks: Vec<RuleReport>,
}

/// Prints what becomes of each rule with a check, by client.
fn print_checks(ui: &mut Ui, checks: &[RuleReport]) -> Result {
    if checks.is_empty() {
        return Ok(());
    }
    ui.print_line("")?;
    ui.print_heading("rules with a check")?;
    for RuleReport { id, title, clients, .. } in checks {
        ui.print_line(visible_line(&format!("{id}: {title}")))?;
        for (words, names) in group_effects(clients) {
            ui.print_line(visible_line(&format!("  {}: {words}", names.join(", "))))?;
        }
    }
    Ok(())
}

/// Prints one row for each item that applies for any client, then the sums.
fn print_item_table(
    ui: &mut Ui,
    root: &Path,
    viewers: &[Viewer],
    sees: &Sees<'_>,
    counter: &Counter<'_>,
    with_text: bool,
) -> Result {
    let rows: Vec<&SeenItem<'_>> = sees.items.iter().filter(|item| !item.is_skipped()).collect();
    let names: Vec<RowName> = rows.iter().map(|item| RowName::new(root, item)).collect();
    let numbers: Vec<String> = rows.iter().map(|item| counter.render_tokens(item.tokens)).collect();
    let heads: Vec<&str> = viewers.iter().map(|viewer| viewer.client.as_str()).collect();
    let layout = TableLayout::new(ui.terminal_width(), &heads, &rows, &names, &numbers);
    let line = |name: &str, number: &str, cells: &[&str]| layout.render_line(name, number, cells);
    ui.print_heading(&line("", "tokens", &heads))?;
    for ((item, name), number) in rows.iter().zip(&layout.names).zip(&numbers) {
        let cells: Vec<String> = item.seen.iter().map(|sight| layout.render_cell(sight)).collect();
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        if name.chars().count() > layout.room {
            ui.print_line(name)?;
            ui.print_line(line("", number, &cells))?;
        } else {
            ui.print_line(line(name, number, &cells))?;
        }
        if with_text {
            print_indented(ui, item.content)?;
        }
    }
    ui.print_line("")?;
    ui.print_heading(&line("tokens in all", "", &heads))?;
    for part in 0..4 {
        let parts = sees.totals.iter().map(|total| total.parts()[part]);
        let (names, sums): (Vec<&str>, Vec<usize>) = parts.unzip();
        // A line of zeros says nothing; what is loaded and what is missing is always said.
        if matches!(part, 0 | 3) || sums.iter().any(|&sum| sum > 0) {
            let sums: Vec<String> =
                sums.into_iter().map(|sum| counter.render_tokens(sum)).collect();
            let cells: Vec<&str> = sums.iter().map(String::as_str).collect();
            ui.print_line(line(names.first().copied().unwrap_or_default(), "", &cells))?;
        }
    }
    let skipped = sees.items.len() - rows.len();
    if skipped > 0 {
        let (items, verb) = match skipped {
            1 => ("1 more item".to_owned(), "reaches"),
            _ => (format_count(skipped, "more item"), "reach"),
        };
        ui.print_status(&format!("{items} {verb} none of these clients; see `brief why`"))?;
    }
    Ok(())
}

/// Prints the text of an item under its row.
fn print_indented(ui: &mut Ui, text: &str) -> Result {
    for line in text.trim_matches('\n').lines() {
        ui.print_line(visible_line(format!("    {line}").trim_end()))?;
    }
    ui.print_line("")
}

/// Prints for each client that misses something what keeps it away, and the step that changes that. One command installs
/// the hooks of all clients that lack one.
fn print_fixes(ui: &mut Ui, viewers: &[Viewer], sees: &Sees<'_>) -> Result {
    let missing = viewers.iter().zip(&sees.totals).filter(|(_, total)| total.missing > 0);
    let hint_for = |names: &str| format!("run `brief hook install {names}`");
    let mut without_hook: Vec<&str> = Vec::new();
    for (viewer, _) in missing {
        let Some(reason) = viewer.delivery.missing_reason() else { continue };
        ui.print_status(&format!("{}: {reason}", viewer.client))?;
        match viewer.delivery.fix() {
            Some(fix) if fix == hint_for(&viewer.client) => without_hook.push(&viewer.client),
            Some(fix) => ui.print_hint(&fix)?,
            None => {}
        }
    }
    match without_hook[..] {
        [] => Ok(()),
        _ => ui.print_hint(&hint_for(&without_hook.join(" "))),
    }
}

/// The name of a row: its place, and the name of the item.
struct RowName {
    place: String,
    name: String,
}

impl RowName {
    fn new(root: &Path, item: &SeenItem<'_>) -> RowName {
        let place = visible_line(&shown_place(root, item.path, item.line)).into_owned();
        RowName { place, name: visible_line(&item.name.to_string()).into_owned() }
    }

    fn full_name(&self) -> String {
        format!("{}  {}", self.place, self.name)
    }

    /// Returns the forms of the name, the longest first.
    fn forms(&self) -> impl Iterator<Item = String> {
        let parts: Vec<&str> = self.place.split('/').collect();
        let cut = |first: usize| format!("{}/…/{}", parts[0], parts[first..].join("/"));
        let mut forms = vec![self.full_name(), self.place.clone()];
        forms.extend((2..parts.len()).map(cut));
        forms.extend(
            parts.split_first().and_then(|(_, below)| below.last()).map(|last| format!("…/{last}")),
        );
        forms.into_iter()
    }
}

/// The widths of a table, and its rows' names as far as there is room.
struct TableLayout {
    names: Vec<String>,
    /// The room for a name; a longer one has a line of its own.
    room: usize,
    number: usize,
    widths: Vec<usize>,
    /// True if a cell has the cause of `missing` and the place of `same`.
    is_wide: bool,
}

impl TableLayout {
    /// Lays a table out. Without a terminal nothing is cut.
    fn new(
        width: Option<usize>,
        heads: &[&str],
        rows: &[&SeenItem<'_>],
        names: &[RowName],
        numbers: &[String],
    ) -> TableLayout {
        let number = numbers.iter().map(String::len).max().unwrap_or_default().max("tokens".len());
        let columns = |is_wide: bool| -> Vec<usize> {
            let cells = |column: usize| {
                let sights = rows.iter().filter_map(move |item| item.seen.get(column));
                sights
                    .map(|sight| render_cell(sight, is_wide).chars().count())
                    .max()
                    .unwrap_or_default()
            };
            let heads = heads.iter().enumerate();
            heads.map(|(column, head)| cells(column).max(head.len()).max("~999k".len())).collect()
        };
        let longest = names.iter().map(|name| name.full_name().chars().count()).max();
        let longest = longest.unwrap_or_default().max("tokens in all".len());
        let taken =
            |widths: &[usize]| number + GAP + widths.iter().map(|one| one + GAP).sum::<usize>();
        let wide = columns(true);
        let Some(width) = width else {
            let names = names.iter().map(RowName::full_name).collect();
            return TableLayout { names, room: longest, number, widths: wide, is_wide: true };
        };
        let shortest = names.iter().filter_map(|name| name.forms().last());
        let shortest = shortest.map(|name| name.chars().count()).max().unwrap_or_default();
        let is_wide = taken(&wide) + shortest.max(LEAST_ROOM) <= width;
        let widths = if is_wide { wide } else { columns(false) };
        let room = width.saturating_sub(taken(&widths)).max(LEAST_ROOM).min(longest);
        TableLayout { names: fitted_names(names, room), room, number, widths, is_wide }
    }

    fn render_cell(&self, sight: &Sight) -> String {
        render_cell(sight, self.is_wide)
    }

    fn render_line(&self, name: &str, number: &str, cells: &[&str]) -> String {
        let (room, width) = (self.room, self.number);
        let mut line = format!("{name:<room$}  {number:>width$}");
        for (cell, &width) in cells.iter().zip(&self.widths) {
            line.push_str(&format!("  {cell:<width$}"));
        }
        line.trim_end().to_owned()
    }
}

fn render_cell(sight: &Sight, is_wide: bool) -> String {
    match sight.how {
        Arrival::Skipped => "-".to_owned(),
        _ if is_wide => visible_line(&sight.label()).into_owned(),
        how => how.as_str().to_owned(),
    }
}

/// Shortens names to the room that there is: each keeps what tells it from the others, or all of it.
fn fitted_names(names: &[RowName], room: usize) -> Vec<String> {
    let fit = |name: &RowName| {
        name.forms().find(|form| form.chars().count() <= room).unwrap_or_else(|| name.full_name())
    };
    let fitted: Vec<String> = names.iter().map(fit).collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for name in &fitted {
        *counts.entry(name).or_default() += 1;
    }
    let is_clear = |name: &String| counts.get(name.as_str()) == Some(&1);
    let names = names.iter().zip(&fitted);
    names.map(|(name, fit)| if is_clear(fit) { fit.clone() } else { name.full_name() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(place: &str, name: &str) -> RowName {
        RowName { place: place.to_owned(), name: name.to_owned() }
    }

    /// R10: names that would look the same when they are cut stay whole.
    #[test]
    fn cut_names_differ() {
        let names = [
            name("a/skills/publish-cli/SKILL.md:5", "publish-cli"),
            name("b/skills/publish-cli/SKILL.md:5", "publish-cli"),
            name("x/one/skills/publish-cli/SKILL.md:5", "publish-cli"),
            name("x/two/skills/publish-cli/SKILL.md:5", "publish-cli"),
            name("docs/a/very/long/way/to/some/RULES.md:1", "RULES"),
            name("AGENTS.md:1", "AGENTS"),
        ];
        assert_eq!(
            fitted_names(&names, 30),
            [
                "a/…/publish-cli/SKILL.md:5",
                "b/…/publish-cli/SKILL.md:5",
                "x/one/skills/publish-cli/SKILL.md:5  publish-cli",
                "x/two/skills/publish-cli/SKILL.md:5  publish-cli",
                "docs/…/way/to/some/RULES.md:1",
                "AGENTS.md:1  AGENTS",
            ]
        );
    }
}
