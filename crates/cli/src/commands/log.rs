//! `brief log`

use std::collections::BTreeMap;
use std::path::Path;

use brief_engine::Project;
use brief_engine::receipts::{self, LoadingDrift, NeverDelivered, Receipt, ReceiptTrace, Receipts};
use brief_syntax::text::{group_digits, visible_line};
use brief_system::System;
use brief_workflows::ownership::OwnerLookup;
use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::{Value, json};

use super::whole::format_count;
use crate::error::{CommandError, Result, refuse_if};
use crate::session::Session;
use crate::ui::Ui;

/// Show what was delivered to agents, when and why
///
/// Hooks record each delivery in your state directory: locations, hashes and token counts, never the text itself.
/// Name a session, a file that an agent worked on, or an item to see its deliveries.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct LogArgs {
    #[command(subcommand)]
    command: Option<LogCommand>,

    #[command(flatten)]
    query: LogQuery,
}

#[derive(Debug, Subcommand)]
enum LogCommand {
    /// Resume recording
    Enable,
    /// Stop recording
    Disable,
    /// Remove all records
    Clear,
}

/// The deliveries to show.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a user can set")]
struct LogQuery {
    /// A session, a file or an item
    #[arg(value_name = "SESSION|FILE|ITEM", add = clap_complete::ArgValueCompleter::new(crate::complete::complete_items))]
    word: Option<String>,

    /// Look back this many days
    #[arg(long, value_name = "N", default_value_t = 30)]
    days: u64,

    /// Include all projects
    #[arg(long)]
    all: bool,

    /// Show items that no agent received
    #[arg(long, conflicts_with = "mismatch")]
    unused: bool,

    /// Show files that a client loaded unexpectedly, or did not load
    #[arg(long)]
    mismatch: bool,

    /// Group deliveries by the owner of the items
    #[arg(long, value_name = "GROUP", conflicts_with_all = ["unused", "mismatch"])]
    by: Option<GroupArg>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The groups of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum GroupArg {
    /// The owner that an item names, else that of its file in CODEOWNERS
    Owner,
}

/// The deliveries of the items of one owner.
#[derive(Debug, Default, Serialize)]
struct OwnerDeliveries {
    /// The owner; empty for items that nobody owns.
    owner: String,
    deliveries: usize,
    tokens: usize,
    items: Vec<ItemDeliveries>,
}

/// The deliveries of one item.
#[derive(Debug, Serialize)]
struct ItemDeliveries {
    place: String,
    line: usize,
    deliveries: usize,
    tokens: usize,
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &LogArgs) -> Result {
    let system = session.system();
    match &args.command {
        Some(LogCommand::Enable) => set_recording(ui, system, true),
        Some(LogCommand::Disable) => set_recording(ui, system, false),
        Some(LogCommand::Clear) => {
            let removed = receipts::clear_receipts(system).map_err(|error| {
                CommandError::refused(format!("cannot remove a record: {error}"))
            })?;
            ui.print_status(&format!("removed {}", format_count(removed, "day")))
        }
        None => print_log(ui, session, &args.query),
    }
}

fn set_recording(ui: &mut Ui, system: &dyn System, is_on: bool) -> Result {
    receipts::switch_receipts(system, is_on)
        .map_err(|error| CommandError::refused(format!("cannot write the setting: {error}")))?;
    ui.print_status(if is_on { "recording enabled" } else { "recording disabled" })
}

fn print_log(ui: &mut Ui, session: &Session, args: &LogQuery) -> Result {
    let system = session.system();
    let project = session.open_project()?;
    let Receipts { mut receipts, unreadable } = Receipts::read(system, args.days);
    let root = project.root().path().display().to_string();
    receipts.retain(|receipt| args.all || receipt.root == root);
    let never =
        if args.unused { receipts::never_delivered(&project, &receipts) } else { Vec::new() };
    let drift =
        if args.mismatch { receipts::find_loading_drift(&project, &receipts) } else { Vec::new() };
    let shown = match &args.word {
        Some(word) => select_receipts(&receipts, word, &project, session.directory()),
        None => receipts.clone(),
    };
    if args.json {
        let is_list = !args.unused && !args.mismatch;
        let body = json!({
            "is_on": receipts::is_on(system),
            "days": args.days,
            "unreadable": unreadable,
            "receipts": shown.iter().filter(|_| is_list).map(receipt_json).collect::<Vec<_>>(),
            "never": never,
            "drift": drift,
            "owners": args.by.map(|_| group_by_owner(&project, &shown)).unwrap_or_default(),
        });
        ui.print_json("log", project.root().path(), &[], body)?;
    } else {
        if unreadable > 0 {
            let lines = format_count(unreadable, "line");
            ui.print_warning(&format!(
                "skipped {lines} of the log: written by another version of brief"
            ))?;
        }
        if args.unused {
            print_never(ui, &never, &receipts, args.days)?;
        } else if args.mismatch {
            print_drift(ui, &drift, &receipts)?;
        } else if args.by == Some(GroupArg::Owner) && !shown.is_empty() {
            print_owners(ui, &group_by_owner(&project, &shown))?;
        } else {
            print_receipts(ui, &shown, args, receipts::is_on(system))?;
        }
    }
    refuse_if(!drift.is_empty())
}

/// Groups the delivered items by owner, the most told first; those that nobody owns come last.
fn group_by_owner(project: &Project<'_>, receipts: &[Receipt]) -> Vec<OwnerDeliveries> {
    /// The deliveries and tokens of items, by place and line.
    type ItemCounts = BTreeMap<(String, usize), (usize, usize)>;

    let mut ownership = OwnerLookup::read(project.system(), project.root().path());
    let mut groups: BTreeMap<String, ItemCounts> = BTreeMap::new();
    for item in receipts.iter().flat_map(|receipt| &receipt.items) {
        let owner = ownership.find_owners(&item.place, item.line).join(", ");
        let items = groups.entry(owner).or_default();
        let counts = items.entry((item.place.clone(), item.line)).or_default();
        *counts = (counts.0 + 1, counts.1 + item.tokens);
    }
    let mut owners: Vec<OwnerDeliveries> = groups
        .into_iter()
        .map(|(owner, items)| {
            let mut group = OwnerDeliveries { owner, ..OwnerDeliveries::default() };
            for ((place, line), (deliveries, tokens)) in items {
                group.deliveries += deliveries;
                group.tokens += tokens;
                group.items.push(ItemDeliveries { place, line, deliveries, tokens });
            }
            group
        })
        .collect();
    owners.sort_by_key(|group| (group.owner.is_empty(), std::cmp::Reverse(group.deliveries)));
    owners
}

fn print_owners(ui: &mut Ui, owners: &[OwnerDeliveries]) -> Result {
    for (number, OwnerDeliveries { owner, tokens, items, deliveries }) in owners.iter().enumerate()
    {
        if number > 0 {
            ui.print_line("")?;
        }
        let owner = if owner.is_empty() { "no owner" } else { owner.as_str() };
        let deliveries = format_plural(*deliveries, "delivery", "deliveries");
        ui.print_heading(&format!(
            "{}  {deliveries}, {} tokens",
            visible_line(owner),
            group_digits(*tokens as u64)
        ))?;
        for ItemDeliveries { place, line, deliveries, tokens } in items {
            let deliveries = format_plural(*deliveries, "delivery", "deliveries");
            ui.print_line(format_args!(
                "  {}:{line}  {deliveries}, {tokens} tokens",
                visible_line(place)
            ))?;
        }
    }
    Ok(())
}

fn format_plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn receipt_json(receipt: &Receipt) -> Value {
    let missing: BTreeMap<&str, String> = receipt.missing_parts().into_iter().collect();
    let ReceiptTrace { call, transcript, root_session, head, step, mode, agent_type } =
        &receipt.trace;
    json!({
        "time": receipt.time(),
        "session": receipt.session,
        "agent": receipt.agent,
        "client": receipt.client,
        "event": receipt.event,
        "root": receipt.root,
        "held": receipt.held,
        "call": call,
        "transcript": transcript,
        "root_session": root_session,
        "head": head,
        "step": step,
        "mode": mode,
        "agent_type": agent_type,
        "missing": missing,
        "tokens": receipt.tokens(),
        "items": receipt.items,
        "changes": receipt.changes,
        "checks": receipt.checks,
    })
}

/// Returns the receipts that a word chooses.
fn select_receipts(
    receipts: &[Receipt],
    word: &str,
    project: &Project<'_>,
    here: &Path,
) -> Vec<Receipt> {
    let located = project.root().locate_target(project.system(), here, Path::new(word));
    let path = located.as_ref().map_or(word, |target| target.slashed());
    receipts::filter_receipts(receipts, word, path)
}

fn print_receipts(ui: &mut Ui, receipts: &[Receipt], args: &LogQuery, is_on: bool) -> Result {
    if !is_on {
        ui.print_warning("recording is disabled; run `brief log enable` to resume it")?;
    }
    if receipts.is_empty() {
        let days = counted_days(args.days);
        let about = args.word.as_ref().map_or(String::new(), |word| format!(" about `{word}`"));
        ui.print_status(&format!("no deliveries{about} in the last {days}"))?;
        return ui.print_hint("run `brief hook install` to deliver guidance and record it");
    }
    // By session, in the order in which the sessions began.
    let mut order: Vec<(&str, &str)> = Vec::new();
    let mut sessions: BTreeMap<(&str, &str), Vec<&Receipt>> = BTreeMap::new();
    for receipt in receipts {
        let key = (receipt.client.as_str(), receipt.session.as_str());
        sessions.entry(key).or_insert_with(|| {
            order.push(key);
            Vec::new()
        });
        sessions.entry(key).or_default().push(receipt);
    }
    for (index, key) in order.iter().enumerate() {
        let told = &sessions[key];
        let tokens: usize = told.iter().map(|receipt| receipt.tokens()).sum();
        let items: usize = told.iter().map(|receipt| receipt.items.len()).sum();
        let (client, id) = key;
        if index > 0 {
            ui.print_line("")?;
        }
        ui.print_heading(&format!(
            "{client} {}  {}  {}, {} tokens",
            visible_line(id),
            told[0].time(),
            format_count(items, "item"),
            group_digits(tokens as u64)
        ))?;
        for receipt in told {
            print_receipt(ui, receipt)?;
        }
    }
    Ok(())
}

fn print_receipt(ui: &mut Ui, receipt: &Receipt) -> Result {
    let time = receipt.time();
    let clock = time.get(11..19).unwrap_or_default();
    let agent = receipt.agent.as_ref().map_or(String::new(), |agent| format!(" ({agent})"));
    let held = if receipt.held { ", blocked" } else { "" };
    ui.print_line(format_args!("  {clock} {}{}{held}", receipt.event, visible_line(&agent)))?;
    for file in &receipt.changes {
        let what = match (&file.before, &file.after) {
            (_, None) => "removed",
            (None, _) => "written",
            _ => "changed",
        };
        ui.print_line(format_args!("    {what} {}", visible_line(&file.path)))?;
    }
    for check in &receipt.checks {
        let rule = if check.rule.is_empty() { "all rules" } else { check.rule.as_str() };
        let line = format!("    {} {rule}: {}", check.outcome.as_str(), check.finding);
        ui.print_line(visible_line(&line))?;
    }
    for item in &receipt.items {
        let place = visible_line(&item.place);
        let tokens =
            if item.tokens > 0 { format!(", {} tokens", item.tokens) } else { String::new() };
        let action = item.action.as_deref().unwrap_or_default();
        let about = match item.file.as_str() {
            "" => String::new(),
            file => format!("  for {action} {file}"),
        };
        ui.print_line(format_args!(
            "    {} {place}:{}{tokens}{}",
            item.how.as_str(),
            item.line,
            visible_line(&about)
        ))?;
        if !item.reason.is_empty() {
            ui.print_line(format_args!("      {}", visible_line(&item.reason)))?;
        }
        if let Some(late) = item.late {
            ui.print_line(format_args!("      {}", late.as_sentence()))?;
        }
    }
    Ok(())
}

fn print_never(ui: &mut Ui, never: &[NeverDelivered], receipts: &[Receipt], days: u64) -> Result {
    if receipts.is_empty() {
        return ui
            .print_status(&format!("no deliveries recorded in the last {}", counted_days(days)));
    }
    for item in never {
        let NeverDelivered { dialect, name, place, line } = item;
        ui.print_line(format_args!(
            "{}:{line}  {dialect}  {}",
            visible_line(place),
            visible_line(name)
        ))?;
    }
    let items = format_count(never.len(), "item");
    ui.print_status(&format!("{items} delivered to no agent in the last {}", counted_days(days)))
}

fn counted_days(days: u64) -> String {
    format_count(usize::try_from(days).unwrap_or(usize::MAX), "day")
}

fn print_drift(ui: &mut Ui, drift: &[LoadingDrift], receipts: &[Receipt]) -> Result {
    let reports = receipts.iter().flat_map(|receipt| &receipt.items);
    if !reports.clone().any(|item| item.how == receipts::ReceiptKind::Loaded) {
        ui.print_status(
            "no client reported what it loads; Claude Code reports it if the hook is installed",
        )?;
        return Ok(());
    }
    for LoadingDrift { client, session, place, is_loaded } in drift {
        let what = if *is_loaded {
            "loaded unexpectedly"
        } else {
            "expected, but the client did not report loading it"
        };
        let (place, session) = (visible_line(place), visible_line(session));
        ui.print_line(format_args!("{place}  {client} {session}: {what}"))?;
    }
    ui.print_status(&format_count(drift.len(), "difference"))
}
