//! `brief tokens`

use std::path::{Path, PathBuf};

use brief_engine::survey::{DialectCost, Share, Survey, SurveyedDirectory, SurveyedItem};
use brief_engine::tokens::Counter;
use brief_engine::{State, Target};
use brief_profiles::BUILTIN;
use brief_syntax::text::visible_line;
use brief_workflows::delivery::find_viewers;
use brief_workflows::picture;
use clap::Args;
use serde::Serialize;

use super::question::{
    CountingArgs, QuestionArgs, TypedQuestion, WhyHint, select_dialects, shown_place,
};
use super::tree;
use super::whole::{
    SurveyedRow, WholeProject, format_count, shown_directory, when_asked, write_picture,
};
use crate::clock::with_clock;
use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::ui::Ui;

/// Show what guidance costs, by file, directory or client
///
/// With PATH, shows the cost of what `brief context` prints. Without, shows the repository by format, by directory, with the
/// minimum and maximum per file, by client, and the most expensive items.
#[derive(Debug, Args)]
pub(crate) struct TokensArgs {
    /// File or directory [default: the whole repository]
    pub(super) path: Option<PathBuf>,

    #[command(flatten)]
    pub(super) question: QuestionArgs,

    #[command(flatten)]
    pub(super) counting: CountingArgs,

    /// Show guidance by directory
    #[arg(long)]
    tree: bool,

    /// Limit the tree to this depth
    #[arg(long, value_name = "N", requires = "tree")]
    pub(super) depth: Option<usize>,

    /// Write a chart of the most expensive items to FILE, or a treemap
    #[arg(long, value_name = "FILE", conflicts_with_all = ["depth", "json"])]
    pub(super) svg: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// The number of items in the text output; JSON has all.
const SHOWN: usize = 20;

#[derive(Serialize)]
struct JsonTokens<'s> {
    path: Option<&'s str>,
    client: Option<&'s str>,
    exact: bool,
    items: Vec<SurveyedRow<'s>>,
    #[serde(rename = "formats")]
    dialects: Vec<DialectCost>,
    directories: &'s [SurveyedDirectory],
    clients: &'s [Share],
    tokens: usize,
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &TokensArgs) -> Result {
    if args.tree {
        return tree::run(ui, session, args);
    }
    match &args.path {
        Some(_) if args.svg.is_some() => {
            let message = "`--svg` with PATH needs `--tree`";
            return Err(CommandError::usage(message));
        }
        Some(path) => of_path(ui, session, args, path)?,
        None => of_project(ui, session, args)?,
    }
    Ok(())
}

fn of_path(ui: &mut Ui, session: &Session, args: &TokensArgs, path: &Path) -> Result {
    let session = &session.with_memory();
    let typed = TypedQuestion::new(session, Some(path), &args.question.only);
    let mut request = args.question.create_request(session, Some(path))?;
    typed.warn_of_place(ui, &request.moment)?;
    request.moment.skip_left_out = true;
    let counter = &args.counting.create_counter(session, request.moment.root.path());
    let briefing = request.counted_by(counter).resolve();
    let (root, moment) = (briefing.root(), &briefing.moment);
    let mut items = briefing.items();
    items.retain(|item| item.state != State::Manual);
    let tokens = briefing.tokens;
    let dialects = DialectCost::sum_by_dialect(items.iter().map(|item| (item.dialect, item.cost)));
    if args.json {
        let body = JsonTokens {
            path: moment.target.as_ref().map(Target::slashed),
            client: args.question.client.as_deref(),
            exact: counter.is_exact(),
            items: items.iter().map(|item| SurveyedRow::from_briefed(root, item)).collect(),
            dialects,
            directories: &[],
            clients: &[],
            tokens,
        };
        let diagnostics = &briefing.diagnostics;
        return ui.print_json("tokens", root, diagnostics, body);
    }
    ui.print_diagnostic_lines(&briefing.diagnostics, root)?;
    if items.is_empty() {
        return typed.explain_nothing(ui, moment, briefing.files, "context", WhyHint::Given);
    }
    let rows = items.iter().map(|item| {
        let listed = if item.state == State::Listed { ", listed" } else { "" };
        let place = shown_place(root, &item.path, item.line);
        (item.cost, format!("{place}  {}{listed}", item.name))
    });
    print_rows(ui, &rows.collect::<Vec<_>>(), counter)?;
    print_dialects(ui, &dialects, counter)?;
    let items = format_count(items.len(), "item");
    ui.print_status(&format!("{} tokens in {items}", counter.render_tokens(tokens)))
}

fn of_project(ui: &mut Ui, session: &Session, args: &TokensArgs) -> Result {
    let whole = &WholeProject::read(ui, session, None, select_dialects(&args.question.only))?;
    let counter = &args.counting.create_counter(session, whole.root.path());
    let moment = args.question.create_request(session, None)?.moment;
    let count = |text: &str| counter.count(text);
    let clients: Vec<&str> = match args.question.client.as_deref() {
        Some(client) => vec![client],
        None => BUILTIN.names(),
    };
    let root = whole.root.path();
    let (mut survey, shares) = with_clock(ui, "counting tokens", || -> Result<_> {
        let survey = whole.survey(&moment, counter)?;
        let viewers = find_viewers(session.system(), root, &moment, &clients);
        let shares = survey.client_shares(&whole.catalog, root, &viewers, &count);
        Ok((survey, shares))
    })?;
    let places = survey.surveyed_directories();
    let dialects = survey.dialect_costs();
    // The most expensive first; equal ones stay general first.
    survey.items.sort_by_key(|surveyed| std::cmp::Reverse(surveyed.tokens));
    if let Some(file) = &args.svg {
        return write_picture(ui, session, file, &picture::bars_file(&survey.items));
    }
    if !args.json {
        return print_project(ui, whole, &survey, &places, &shares, &dialects, counter);
    }
    let body = JsonTokens {
        path: None,
        client: args.question.client.as_deref(),
        exact: counter.is_exact(),
        items: survey
            .items
            .iter()
            .map(|of| SurveyedRow::from_surveyed(whole.root.path(), of))
            .collect(),
        dialects,
        directories: &places,
        clients: &shares,
        tokens: survey.tokens,
    };
    whole.print_json(ui, "tokens", body)
}

fn print_project(
    ui: &mut Ui,
    whole: &WholeProject,
    survey: &Survey<'_>,
    places: &[SurveyedDirectory],
    shares: &[Share],
    dialects: &[DialectCost],
    counter: &Counter<'_>,
) -> Result {
    if survey.items.is_empty() {
        return Ok(());
    }
    ui.print_heading("most expensive")?;
    let row = |surveyed: &SurveyedItem<'_>| {
        let (place, name) = (whole.render_place(&surveyed.item), surveyed.item.name);
        let files = if surveyed.has_directory {
            "for directories".to_owned()
        } else if let Some(when) = when_asked(&surveyed.item) {
            let text = counter.render_tokens(counter.count(surveyed.item.content));
            format!("{text} {when}")
        } else {
            format!("for {}", format_count(surveyed.files, "file"))
        };
        (surveyed.tokens, format!("{place}  {name}, {files}"))
    };
    print_rows(ui, &survey.items.iter().take(SHOWN).map(row).collect::<Vec<_>>(), counter)?;
    if let Some(more) = survey.items.len().checked_sub(SHOWN).filter(|&more| more > 0) {
        ui.print_line(format!("  and {more} more"))?;
    }
    print_dialects(ui, dialects, counter)?;
    ui.print_line("")?;
    ui.print_heading("by directory, and what a file there gets")?;
    let row = |place: &SurveyedDirectory| {
        let name = shown_directory(place.path.as_deref());
        let range = match (place.least, place.most) {
            (Some(least), Some(most)) if least == most => {
                format!(", {} each", counter.render_tokens(least))
            }
            (Some(least), Some(most)) => {
                format!(", {} to {}", counter.render_tokens(least), counter.render_tokens(most))
            }
            _ => ", no files".to_owned(),
        };
        (place.tokens, format!("{name}  {}{range}", format_count(place.items, "item")))
    };
    print_rows(ui, &places.iter().map(row).collect::<Vec<_>>(), counter)?;
    ui.print_line("")?;
    ui.print_heading("by client: what it has and what is missing")?;
    print_rows(ui, &by_share(shares, counter), counter)?;
    let items = format_count(survey.items.len(), "item");
    let files = format_count(survey.file_count(""), "file");
    ui.print_status(&format!(
        "{} tokens in {items} for {files}",
        counter.render_tokens(survey.tokens)
    ))
}

/// Groups clients that have the same.
fn by_share(shares: &[Share], counter: &Counter<'_>) -> Vec<(usize, String)> {
    let parts = |share: &Share| {
        [
            ("loaded", share.loaded),
            ("listed", share.listed),
            ("delivered", share.delivered),
            ("missing", share.missing),
        ]
    };
    let mut groups: Vec<(&Share, Vec<&str>)> = Vec::new();
    for share in shares {
        match groups.iter_mut().find(|(of, _)| parts(of) == parts(share)) {
            Some((_, clients)) => clients.push(&share.client),
            None => groups.push((share, vec![&share.client])),
        }
    }
    let row = |(share, clients): &(&Share, Vec<&str>)| {
        let named = parts(share).into_iter().filter(|(_, tokens)| *tokens > 0);
        let named = named.map(|(name, tokens)| format!("{} {name}", counter.render_tokens(tokens)));
        let named: Vec<String> = named.collect();
        let named = if named.is_empty() { "nothing".to_owned() } else { named.join(", ") };
        let gets = share.loaded + share.listed + share.delivered;
        (gets, format!("{named}  {}", clients.join(", ")))
    };
    groups.iter().map(row).collect()
}

fn print_dialects(ui: &mut Ui, dialects: &[DialectCost], counter: &Counter<'_>) -> Result {
    ui.print_line("")?;
    ui.print_heading("by format")?;
    let row = |of: &DialectCost| {
        (of.tokens, format!("{}  {}", of.dialect, format_count(of.items, "item")))
    };
    print_rows(ui, &dialects.iter().map(row).collect::<Vec<_>>(), counter)
}

/// Prints one line each, with a bar for its share of the largest.
fn print_rows(ui: &mut Ui, rows: &[(usize, String)], counter: &Counter<'_>) -> Result {
    let numbers: Vec<String> =
        rows.iter().map(|(tokens, _)| counter.render_tokens(*tokens)).collect();
    let width = numbers.iter().map(String::len).max().unwrap_or_default();
    let most = rows.iter().map(|(tokens, _)| *tokens).max().unwrap_or_default();
    for ((tokens, text), number) in rows.iter().zip(&numbers) {
        let bar = render_cost_bar(*tokens, most);
        ui.print_line(visible_line(&format!("  {number:>width$}  {bar:<BAR$}  {text}")))?;
    }
    Ok(())
}

/// The length of the longest bar.
const BAR: usize = 10;

/// Returns a bar, at least one letter long for a cost above zero.
fn render_cost_bar(tokens: usize, most: usize) -> String {
    let length = if tokens == 0 { 0 } else { (tokens * BAR).div_ceil(most.max(1)) };
    "\u{2588}".repeat(length.min(BAR))
}
