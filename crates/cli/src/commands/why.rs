//! `brief why`

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use brief_engine::{
    BriefedItem, Briefing, Explanation, Moment, ReasonKind, State, Target, TargetKind, first_line,
};
use brief_syntax::text::visible_line;
use clap::Args;

use super::question::{Cost, QuestionArgs, Typed, When, WhyHint};
use crate::error::CommandError;
use crate::fate::Fate;
use crate::session::Session;
use crate::ui::Ui;

/// Letters before a path: the longest label, and two.
const LABEL: usize = 11;

/// Show each candidate for a file or directory, in or out, and the reason
///
/// `+ in`: it is in the answer. `= loaded`: the client of --client reads it by itself. `? offered`: the agent may
/// ask for it. `@ manual`: only when it is mentioned. `- out`: it does not apply.
#[derive(Debug, Args)]
pub(crate) struct WhyArgs {
    /// The file or directory to ask about; it need not exist yet, and a trailing `/` means a directory
    path: PathBuf,

    #[command(flatten)]
    when: When,

    #[command(flatten)]
    question: QuestionArgs,

    #[command(flatten)]
    cost: Cost,

    /// Print JSON, in the shape of `brief context --json`
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(
    ui: &mut Ui,
    session: &Session,
    args: &WhyArgs,
) -> Result<ExitCode, CommandError> {
    let session = &session.remembering();
    let typed = Typed::new(Some(&args.path), args.question.only());
    let mut request = args.question.request(session, Some(&args.path))?;
    typed.warn_if_outside(ui, &request.moment)?;
    args.when.narrow(&mut request.moment);
    let counter = args.cost.counting.counter(session, request.moment.root.path());
    let briefing = args.cost.limit(request, &counter, args.json).resolve();
    if args.json {
        typed.print_json(ui, "why", &briefing)?;
        return Ok(ExitCode::SUCCESS);
    }
    let root = briefing.root();
    ui.mention(&briefing.diagnostics, root)?;
    let candidates = candidates(&briefing);
    if candidates.is_empty() {
        let Briefing { moment, files, .. } = &briefing;
        typed.explain_nothing(ui, moment, *files, "context", WhyHint::Left)?;
        return Ok(ExitCode::SUCCESS);
    }
    ui.print_line(visible_line(&asked_about(&briefing.moment)))?;
    for candidate in candidates {
        ui.print_line("")?;
        let path = candidate.path.strip_prefix(root).unwrap_or(candidate.path);
        let kind = if candidate.kind == "decision" { "decision, " } else { "" };
        let label = candidate.fate.label();
        let mut heading = format!("{label:<LABEL$}{}:{}", path.display(), candidate.line);
        if let Some((scope, trigger)) = candidate.setting {
            heading.push_str(&format!("  {scope}, {trigger}"));
        }
        ui.print_fate(candidate.fate, &heading)?;
        let reason = candidate.reason.seen_from(root);
        ui.print_line(format!("{:LABEL$}{kind}{}", "", visible_line(&reason)))?;
        if let Some(line) = candidate.first_line {
            let line = shortened(line, ui.width().saturating_sub(LABEL + 2));
            ui.print_line(format!("{:LABEL$}> {line}", ""))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Cuts a line to the room that there is.
fn shortened(line: &str, width: usize) -> Cow<'_, str> {
    if line.chars().nth(width).is_none() {
        return Cow::Borrowed(line);
    }
    let kept = line.chars().take(width.saturating_sub(1));
    Cow::Owned(kept.chain(['…']).collect())
}

/// Something that might apply, in or out.
struct Candidate<'r> {
    fate: Fate,
    kind: &'static str,
    /// Its scope and trigger, in a dialect that has them.
    setting: Option<(&'static str, &'static str)>,
    path: &'r Path,
    line: usize,
    first_line: Option<&'r str>,
    reason: &'r Explanation,
}

/// Returns everything in the order of the files: from the root down, top to bottom.
fn candidates(briefing: &Briefing) -> Vec<Candidate<'_>> {
    let items = briefing.items().into_iter().map(|item| Candidate {
        fate: match item.state {
            State::Active => Fate::In,
            State::Offered => Fate::Offered,
            State::Manual => Fate::Manual,
        },
        kind: item.kind,
        setting: item.trigger.map(|trigger| (item.scope, trigger)),
        path: &item.path,
        line: item.line,
        first_line: first_line(shown_text(item)),
        reason: &item.reason,
    });
    let decisions = briefing.decisions.iter().map(|bound| Candidate {
        fate: Fate::In,
        kind: "decision",
        setting: None,
        path: &bound.path,
        line: bound.decision.line,
        first_line: first_line(&bound.decision.decision),
        reason: &bound.reason,
    });
    let left_out = briefing.left_out.iter().map(|omitted| Candidate {
        fate: match omitted.reason.kind {
            ReasonKind::Loaded | ReasonKind::SameTextLoaded => Fate::Loaded,
            _ => Fate::Out,
        },
        kind: omitted.kind,
        setting: None,
        path: &omitted.path,
        line: omitted.line,
        first_line: Some(omitted.first_line.as_str()).filter(|line| !line.is_empty()),
        reason: &omitted.reason,
    });
    let mut candidates: Vec<_> = items.chain(decisions).chain(left_out).collect();
    candidates.sort_by_key(|candidate| {
        (candidate.path.components().count(), candidate.path, candidate.line)
    });
    candidates
}

/// Returns the text of an item; of a skill on offer what an agent sees until it asks for it.
fn shown_text(item: &BriefedItem) -> &str {
    let is_offered_skill = item.state == State::Offered && item.kind == "skill";
    if is_offered_skill && !item.description.is_empty() { &item.description } else { &item.content }
}

fn asked_about(moment: &Moment) -> String {
    let mut text = match &moment.target {
        Some(target) if target.slashed().is_empty() => ".".to_owned(),
        Some(target) => target.slashed().to_owned(),
        None => String::new(),
    };
    if moment.target.as_ref().map(Target::kind) == Some(TargetKind::Directory) {
        text.push_str(" (directory)");
    }
    if let Some(action) = moment.action {
        text.push_str(&format!(", on {}", action.as_str()));
    }
    if let Some(timing) = moment.timing {
        text.push_str(&format!(", when {}", timing.as_str()));
    }
    if let Some(client) = &moment.client {
        text.push_str(&format!(", for {client}"));
    }
    if let Some(task) = &moment.task {
        text.push_str(&format!(", task {task}"));
    }
    text
}
