//! `brief why`

use std::borrow::Cow;
use std::path::PathBuf;

use brief_engine::{Briefing, Moment, Target, TargetKind};
use brief_syntax::text::visible_line;
use clap::Args;

use super::question::{BudgetedQuestion, TypedQuestion, WhyHint};
use crate::error::Result;
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
    asked: BudgetedQuestion,

    /// Print JSON, in the shape of `brief context --json`
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &WhyArgs) -> Result {
    let typed = TypedQuestion::new(Some(&args.path), &args.asked.question.only);
    let briefing = args.asked.resolve(ui, session, &typed, args.json, false)?;
    if args.json {
        return typed.print_json(ui, "why", &briefing);
    }
    let root = briefing.root();
    ui.mention(&briefing.diagnostics, root)?;
    let candidates = briefing.candidates();
    if candidates.is_empty() {
        let Briefing { moment, files, .. } = &briefing;
        return typed.explain_nothing(ui, moment, *files, "context", WhyHint::Left);
    }
    ui.print_line(visible_line(&asked_about(&briefing.moment)))?;
    for candidate in candidates {
        ui.print_line("")?;
        let path = candidate.path.strip_prefix(root).unwrap_or(candidate.path);
        let kind = if candidate.kind == "decision" { "decision, " } else { "" };
        let label = candidate.state.label();
        let mut heading = format!("{label:<LABEL$}{}:{}", path.display(), candidate.line);
        if let Some((scope, trigger)) = candidate.setting {
            heading.push_str(&format!("  {scope}, {trigger}"));
        }
        ui.print_candidate(candidate.state, &heading)?;
        let reason = candidate.reason.seen_from(root);
        ui.print_line(format!("{:LABEL$}{kind}{}", "", visible_line(&reason)))?;
        if let Some(line) = candidate.first_line {
            let line = shortened(line, ui.width().saturating_sub(LABEL + 2));
            ui.print_line(format!("{:LABEL$}> {line}", ""))?;
        }
    }
    Ok(())
}

/// Cuts a line to the room that there is.
fn shortened(line: &str, width: usize) -> Cow<'_, str> {
    if line.chars().nth(width).is_none() {
        return Cow::Borrowed(line);
    }
    let kept = line.chars().take(width.saturating_sub(1));
    Cow::Owned(kept.chain(['…']).collect())
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
