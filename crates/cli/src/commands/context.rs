//! `brief context`

use std::process::ExitCode;

use brief_engine::structured::Pattern;
use brief_engine::{Applied, Item, Origin, State, agents, tasks};
use brief_syntax::text::visible_line;
use clap::Args;

use super::question::{Asked, Cost, PathOrAll, Question, Reach, When, WhyHint, shown_place};
use crate::error::CommandError;
use crate::session::Session;
use crate::ui::Ui;

/// Show everything that applies to a file or directory
///
/// General guidance comes first, the most specific last; then what the agent may ask for, and what is there
/// only when it is mentioned. Nothing is executed and nothing is
/// written.
#[derive(Debug, Args)]
pub(crate) struct ContextArgs {
    #[command(flatten)]
    scope: PathOrAll,

    #[command(flatten)]
    when: When,

    #[command(flatten)]
    reach: Reach,

    #[command(flatten)]
    cost: Cost,

    /// Print JSON: what applies, what does not, and why
    #[arg(long)]
    json: bool,
}

/// Other places of a text that are named.
const PLACES: usize = 4;

/// Items that are named, of those that have to be asked for.
const NAMES: usize = 20;

pub(crate) fn run(
    ui: &mut Ui,
    session: &Session,
    args: &ContextArgs,
) -> Result<ExitCode, CommandError> {
    let question = Question {
        path: args.scope.path.as_deref(),
        action: args.when.on.action(),
        timing: args.when.when.timing(),
        reach: &args.reach,
    };
    let asked = question.ask(ui, session)?;
    let diagnostics = asked.catalog.diagnostics();
    let counter = args.cost.counting.counter(session, &asked.root);
    let mut resolution = asked.catalog.resolve(&asked.moment);
    let cut = args.cost.fit(&mut resolution, &counter);
    if args.json {
        asked.print_json(ui, "context", &resolution, &diagnostics, &counter)?;
        return Ok(ExitCode::SUCCESS);
    }
    ui.mention(&diagnostics, asked.root.path())?;
    let in_state = |state: State| {
        let items = resolution.items.iter().filter(move |applied| applied.item.state == state);
        items.collect::<Vec<_>>()
    };
    let [active, offered, manual] = [State::Active, State::Offered, State::Manual].map(in_state);
    if active.is_empty() && offered.is_empty() && manual.is_empty() && cut == 0 {
        asked.explain_nothing(ui, "context", WhyHint::Given)?;
        return Ok(ExitCode::SUCCESS);
    }
    print_items(ui, asked, &active)?;
    let headings = ["offered: the agent may ask for it", "manual: only when somebody asks for it"];
    let mut is_second = !active.is_empty();
    for (heading, items) in headings.into_iter().zip([&offered, &manual]) {
        print_names(ui, asked, items, heading, is_second)?;
        is_second |= !items.is_empty();
    }
    asked.mention_cuts(ui, cut, args.cost)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints items that an agent or a user can ask for by name, one line each.
fn print_names(
    ui: &mut Ui,
    asked: &Asked,
    items: &[&Applied<'_>],
    heading: &str,
    is_second: bool,
) -> Result<(), CommandError> {
    if items.is_empty() {
        return Ok(());
    }
    if is_second {
        ui.print_line("")?;
    }
    ui.print_heading(heading)?;
    let (named, more) = items.split_at(items.len().min(NAMES));
    for Applied { item, .. } in named {
        let about = match item.description.trim() {
            "" => String::new(),
            description => format!(": {description}"),
        };
        let way = way_to_ask(asked, item);
        ui.print_line(visible_line(&format!("  {}{about} ({way})", item.name)))?;
    }
    if !more.is_empty() {
        ui.print_line(format!("  and {} more; `--json` lists them all", more.len()))?;
    }
    Ok(())
}

/// How to ask for an item that is not in the answer by itself.
fn way_to_ask(asked: &Asked, item: &Item<'_>) -> String {
    let path = item.path.strip_prefix(asked.root.path()).unwrap_or(item.path).display();
    match (item.state, item.dialect, item.kind) {
        (State::Offered, ..) => format!("read {path}"),
        (_, tasks::NAME, "task") => format!("brief task {}", item.name),
        (_, tasks::NAME, "command") => format!("/{} in a task", item.name),
        (_, agents::NAME, _) => format!("brief agent run {path}"),
        _ => format!("--mention {}", item.name),
    }
}

/// Says where else a text stands.
fn elsewhere(asked: &Asked, also: &[Origin<'_>]) -> String {
    let (named, more) = also.split_at(also.len().min(PLACES));
    let named: Vec<String> =
        named.iter().map(|origin| shown_place(&asked.root, origin.path, origin.line)).collect();
    match (named.as_slice(), more.len()) {
        ([], _) => String::new(),
        (named, 0) => format!(", also {}", named.join(", ")),
        (named, more) => format!(", also {} and {more} more", named.join(", ")),
    }
}

/// One heading per entry, its text below it.
fn print_items(ui: &mut Ui, asked: &Asked, items: &[&Applied<'_>]) -> Result<(), CommandError> {
    // Entries of one file stand together, and its path can be long.
    let of_one_file =
        items.chunk_by(|left, right| left.item.path.as_os_str() == right.item.path.as_os_str());
    for (index, items) in of_one_file.enumerate() {
        let path = items[0].item.path;
        let path = path.strip_prefix(asked.root.path()).unwrap_or(path).to_string_lossy();
        for (position, Applied { item, also, .. }) in items.iter().enumerate() {
            if index + position > 0 {
                ui.print_line("")?;
            }
            let mut heading = format!("{path}:{}", item.line);
            heading.push_str(&elsewhere(asked, also));
            if asked.moment.target.is_none() && !item.patterns.is_empty() {
                let patterns: Vec<_> = item.patterns.iter().map(Pattern::as_str).collect();
                heading.push_str(&format!("  match {}", patterns.join(", ")));
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
