//! `brief sees`

use std::path::{Path, PathBuf};

use brief_engine::sees::{Arrival, SeenItem, Sees, SeesReport, Total, Viewer, asked_clients};
use brief_engine::tokens::Counter;
use brief_syntax::text::visible_line;
use clap::Args;

use super::question::{
    ClientName, CountingArgs, MomentArgs, StartedArg, TypedQuestion, WhyHint, request, shown_place,
};
use super::whole::counted;
use crate::error::Result;
use crate::session::Session;
use crate::ui::Ui;

/// Show what each client sees for a file or directory, and how it gets it
///
/// `loaded`: the client reads it by itself. `delivered`: the hook puts it into the conversation. `offered`:
/// the hook names it, and the agent may ask for it. `-`: the client does not see it. A client that has
/// no hook sees what it loads by itself.
#[derive(Debug, Args)]
pub(crate) struct SeesArgs {
    /// The file or directory to ask about; it need not exist yet, and a trailing `/` means a directory
    path: PathBuf,

    /// The clients [default: those whose own files the project has, else claude, codex, copilot and cursor]
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

    /// Print JSON: each item with how each client gets it, and why
    #[arg(long)]
    json: bool,
}

type TotalPart = fn(&Total) -> usize;

/// The number of blanks between two columns.
const GAP: usize = 2;

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &SeesArgs) -> Result {
    let session = &session.remembering();
    let typed = TypedQuestion::new(Some(&args.path), &[]);
    let mut request = request(session, Some(&args.path))?;
    typed.warn_if_outside(ui, &request.moment)?;
    request.moment.started = Some(args.started.directory(session)?);
    args.when.narrow(&mut request.moment);
    let (catalog, moment) = (request.read(), &request.moment);
    let root = moment.root.path();
    let counter = args.counting.counter(session, root);
    let clients = asked_clients(session.system(), root, args.clients.clone())?;
    let viewers: Vec<Viewer> = clients.iter().map(|client| Viewer::of(moment, client)).collect();
    let sees = Sees::of(&catalog, root, &viewers, &|text: &str| counter.count(text));
    let diagnostics = catalog.diagnostics();
    if args.json {
        let body = SeesReport { moment, clients: &clients, sees: &sees };
        return ui.print_json("sees", root, &diagnostics, body);
    }
    if sees.items.is_empty() {
        ui.mention(&diagnostics, root)?;
        return typed.explain_nothing(ui, moment, catalog.file_count(), "guidance", WhyHint::Given);
    }
    print(ui, root, &clients, &sees, &counter)?;
    ui.mention(&diagnostics, root)
}

fn word(how: Arrival) -> &'static str {
    if how == Arrival::Unseen { "-" } else { how.as_str() }
}

/// Prints one row for each item that any client sees, then the sums.
fn print(
    ui: &mut Ui,
    root: &Path,
    clients: &[String],
    sees: &Sees<'_>,
    counter: &Counter<'_>,
) -> Result {
    let rows: Vec<&SeenItem<'_>> = sees.items.iter().filter(|item| !item.is_unseen()).collect();
    let widths: Vec<usize> = clients.iter().map(|name| name.len().max("delivered".len())).collect();
    let columns: usize = widths.iter().map(|width| width + GAP).sum();
    let numbers: Vec<String> = rows.iter().map(|item| counter.shown(item.tokens)).collect();
    let number = numbers.iter().map(String::len).max().unwrap_or_default().max("tokens".len());
    let names: Vec<String> = rows
        .iter()
        .map(|item| {
            let place = shown_place(root, item.path, item.line);
            visible_line(&format!("{place}  {}", item.name)).into_owned()
        })
        .collect();
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or_default();
    let space = ui.width().saturating_sub(columns + number + GAP).max(20);
    let first = longest.min(space).max("loaded".len());
    let row = |name: &str, number_text: &str, cells: &[&str]| {
        let mut line = format!("{:<first$}  {number_text:>number$}", shortened(name, first));
        for (cell, &width) in cells.iter().zip(&widths) {
            line.push_str(&format!("  {cell:<width$}"));
        }
        line.trim_end().to_owned()
    };
    let heads: Vec<&str> = clients.iter().map(String::as_str).collect();
    ui.print_heading(&row("", "tokens", &heads))?;
    for ((item, name), number) in rows.iter().zip(&names).zip(&numbers) {
        let cells: Vec<&str> = item.seen.iter().map(|sight| word(sight.how)).collect();
        ui.print_line(row(name, number, &cells))?;
    }
    ui.print_line("")?;
    let parts: [(&str, TotalPart); 3] = [
        ("loaded", |total| total.loaded),
        ("delivered", |total| total.delivered),
        ("offered", |total| total.offered),
    ];
    ui.print_heading(&row("tokens in all", "", &heads))?;
    for (name, of) in parts {
        let sums: Vec<String> = sees.totals.iter().map(|total| counter.shown(of(total))).collect();
        let cells: Vec<&str> = sums.iter().map(String::as_str).collect();
        ui.print_line(row(name, "", &cells))?;
    }
    let unseen = sees.items.len() - rows.len();
    if unseen > 0 {
        let items = counted(unseen, "item");
        let verb = if unseen == 1 { "is" } else { "are" };
        ui.status(&format!("{items} more {verb} for none of them; `brief why` shows the reasons"))?;
    }
    Ok(())
}

/// Cuts the start of a long name, because names differ at the end.
fn shortened(name: &str, width: usize) -> String {
    let length = name.chars().count();
    if length <= width {
        return name.to_owned();
    }
    std::iter::once('…').chain(name.chars().skip(length - width + 1)).collect()
}
