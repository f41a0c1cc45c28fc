//! `brief receipts`

use std::collections::BTreeMap;
use std::path::Path;

use brief_engine::Project;
use brief_engine::receipts::{self, LoadingDrift, NeverDelivered, Receipt, ReceiptTrace, Receipts};
use brief_syntax::text::{grouped, visible_line};
use clap::Args;
use serde_json::{Value, json};

use super::whole::counted;
use crate::error::{CommandError, Result, refuse_if};
use crate::session::Session;
use crate::ui::Ui;

/// Show what agents were told, when, why and at what cost
///
/// Hooks record every delivery in your state directory: places, hashes and token counts, never a text. A word chooses a
/// session, a file that an agent worked on, or an item by its place or name.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
#[command(group = clap::ArgGroup::new("report").multiple(false))]
pub(crate) struct ReceiptsArgs {
    /// A session, a file or an item
    #[arg(add = clap_complete::ArgValueCompleter::new(crate::complete::items))]
    word: Option<String>,

    /// The days to look back
    #[arg(long, value_name = "N", default_value_t = 30)]
    days: u64,

    /// Receipts of all projects, not only of this one
    #[arg(long)]
    all: bool,

    /// Show the items that no agent got
    #[arg(long, group = "report")]
    never: bool,

    /// Show where a client loaded other files than we believe; exit with 1 if there are any
    #[arg(long, group = "report")]
    drift: bool,

    /// Record nothing from now on
    #[arg(long, group = "report")]
    off: bool,

    /// Record again
    #[arg(long, group = "report")]
    on: bool,

    /// Remove all receipts
    #[arg(long, group = "report")]
    clear: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &ReceiptsArgs) -> Result {
    let system = session.system();
    if args.on || args.off {
        receipts::turn(system, args.on).map_err(|error| {
            CommandError::refused(format!("the setting cannot be written: {error}"))
        })?;
        return ui.status(if args.on {
            "receipts are kept"
        } else {
            "receipts are not kept any more"
        });
    }
    if args.clear {
        let removed = receipts::clear(system).map_err(|error| {
            CommandError::refused(format!("a receipt cannot be removed: {error}"))
        })?;
        return ui.status(&format!("removed {}", counted(removed, "day")));
    }
    let project = session.project()?;
    let Receipts { mut receipts, unreadable } = Receipts::read(system, args.days);
    let root = project.root().path().display().to_string();
    receipts.retain(|receipt| args.all || receipt.root == root);
    let never =
        if args.never { receipts::never_delivered(&project, &receipts) } else { Vec::new() };
    let drift = if args.drift { receipts::drift(&project, &receipts) } else { Vec::new() };
    let shown = match &args.word {
        Some(word) => chosen(&receipts, word, &project, session.directory()),
        None => receipts.clone(),
    };
    if args.json {
        let is_list = !args.never && !args.drift;
        let body = json!({
            "is_on": receipts::is_on(system),
            "days": args.days,
            "unreadable": unreadable,
            "receipts": shown.iter().filter(|_| is_list).map(json).collect::<Vec<_>>(),
            "never": never,
            "drift": drift,
        });
        ui.print_json("receipts", project.root().path(), &[], body)?;
    } else {
        if unreadable > 0 {
            let lines = counted(unreadable, "line");
            ui.warning(&format!(
                "{lines} of receipts were left out: they are not of this version"
            ))?;
        }
        if args.never {
            print_never(ui, &never, &receipts, args.days)?;
        } else if args.drift {
            print_drift(ui, &drift, &receipts)?;
        } else {
            print_receipts(ui, &shown, args, receipts::is_on(system))?;
        }
    }
    refuse_if(!drift.is_empty())
}

fn json(receipt: &Receipt) -> Value {
    let missing: BTreeMap<&str, String> = receipt.missing().into_iter().collect();
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
    })
}

/// Returns the receipts that a word chooses.
fn chosen(receipts: &[Receipt], word: &str, project: &Project<'_>, here: &Path) -> Vec<Receipt> {
    let located = project.root().locate(project.system(), here, Path::new(word));
    let path = located.as_ref().map_or(word, |target| target.slashed());
    receipts::chosen(receipts, word, path)
}

fn print_receipts(ui: &mut Ui, receipts: &[Receipt], args: &ReceiptsArgs, is_on: bool) -> Result {
    if !is_on {
        ui.warning("receipts are not kept; `brief receipts --on` turns them on")?;
    }
    if receipts.is_empty() {
        let days = counted(usize::try_from(args.days).unwrap_or(usize::MAX), "day");
        let about = args.word.as_ref().map_or(String::new(), |word| format!(" about `{word}`"));
        ui.status(&format!("no receipts{about} in {days}"))?;
        return ui.hint("a hook records what it delivers: `brief hook install`");
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
            counted(items, "item"),
            grouped(tokens as u64)
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
    let held = if receipt.held { ", held back" } else { "" };
    ui.print_line(format_args!("  {clock} {}{}{held}", receipt.event, visible_line(&agent)))?;
    for file in &receipt.changes {
        let what = match (&file.before, &file.after) {
            (_, None) => "removed",
            (None, _) => "written",
            _ => "changed",
        };
        ui.print_line(format_args!("    {what} {}", visible_line(&file.path)))?;
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
    }
    Ok(())
}

fn print_never(ui: &mut Ui, never: &[NeverDelivered], receipts: &[Receipt], days: u64) -> Result {
    if receipts.is_empty() {
        return ui.status(&format!(
            "there are no receipts of the last {days} days, so nothing can be said"
        ));
    }
    for item in never {
        let NeverDelivered { dialect, name, place, line } = item;
        ui.print_line(format_args!(
            "{}:{line}  {dialect}  {}",
            visible_line(place),
            visible_line(name)
        ))?;
    }
    let items = counted(never.len(), "item");
    ui.status(&format!("{items} that no agent got in the last {days} days"))
}

fn print_drift(ui: &mut Ui, drift: &[LoadingDrift], receipts: &[Receipt]) -> Result {
    let reports = receipts.iter().flat_map(|receipt| &receipt.items);
    if !reports.clone().any(|item| item.how == receipts::ReceiptKind::Loaded) {
        ui.status("no client has reported what it loads; Claude Code does, with the hook")?;
        return Ok(());
    }
    for LoadingDrift { client, session, place, is_loaded } in drift {
        let what = if *is_loaded {
            "the client loaded it, and we did not know"
        } else {
            "we believed that the client loads it, and it did not report it"
        };
        let (place, session) = (visible_line(place), visible_line(session));
        ui.print_line(format_args!("{place}  {client} {session}: {what}"))?;
    }
    ui.status(&counted(drift.len(), "difference"))
}
