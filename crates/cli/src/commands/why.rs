//! `brief why`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use brief_engine::{Moment, Reason, Resolution, State, Target, TargetKind};
use brief_syntax::text::visible_line;
use clap::Args;

use super::question::{Cost, Question, Reach, When, WhyHint};
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
    reach: Reach,

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
    let question = Question {
        path: Some(&args.path),
        action: args.when.on.action(),
        timing: args.when.when.timing(),
        reach: &args.reach,
    };
    let asked = question.ask(ui, session)?;
    let diagnostics = asked.catalog.diagnostics();
    let counter = args.cost.counting.counter(session, &asked.root);
    let mut resolution = asked.catalog.resolve(&asked.moment);
    args.cost.fit(&mut resolution, &counter);
    if args.json {
        asked.print_json(ui, "why", &resolution, &diagnostics, &counter)?;
        return Ok(ExitCode::SUCCESS);
    }
    ui.mention(&diagnostics, asked.root.path())?;
    let candidates = candidates(&resolution);
    if candidates.is_empty() {
        asked.explain_nothing(ui, "context", WhyHint::Left)?;
        return Ok(ExitCode::SUCCESS);
    }
    ui.print_line(visible_line(&asked_about(&asked.moment)))?;
    let about = asked.moment.target.as_ref().map(Target::slashed).unwrap_or_default();
    for candidate in candidates {
        ui.print_line("")?;
        let path = candidate.path.strip_prefix(asked.root.path()).unwrap_or(candidate.path);
        let kind = if candidate.kind == "decision" { "decision, " } else { "" };
        let label = candidate.fate.label();
        let mut heading = format!("{label:<LABEL$}{}:{}", path.display(), candidate.line);
        if let Some((scope, trigger)) = candidate.setting {
            heading.push_str(&format!("  {scope}, {trigger}"));
        }
        ui.print_fate(candidate.fate, &heading)?;
        let reason = candidate.reason.about(about).seen_from(asked.root.path()).to_string();
        ui.print_line(format!("{:LABEL$}{kind}{}", "", visible_line(&reason)))?;
        if let Some(line) = preview(candidate.content, ui.width().saturating_sub(LABEL + 2)) {
            ui.print_line(format!("{:LABEL$}> {line}", ""))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the first line that says something: no licence in a comment, and no more of it than there is
/// room for.
fn preview(content: &str, width: usize) -> Option<String> {
    let mut rest = content.trim_start();
    while let Some(comment) = rest.strip_prefix("<!--") {
        rest = comment.split_once("-->")?.1.trim_start();
    }
    let line = rest.lines().next()?.trim();
    match line.char_indices().nth(width) {
        Some((_, _)) => {
            let end = line.char_indices().nth(width.saturating_sub(1))?.0;
            Some(format!("{}…", &line[..end]))
        }
        None => Some(line.to_owned()),
    }
}

/// Something that might apply, in or out.
struct Candidate<'r> {
    fate: Fate,
    kind: &'static str,
    /// Its scope and trigger, in a dialect that has them.
    setting: Option<(&'static str, &'static str)>,
    path: &'r Path,
    line: usize,
    content: &'r str,
    reason: &'r Reason<'r>,
}

/// Returns everything in the order of the files: from the root down, top to bottom.
fn candidates<'r>(resolution: &'r Resolution<'r>) -> Vec<Candidate<'r>> {
    let items = resolution.items.iter().map(|applied| Candidate {
        fate: match applied.item.state {
            State::Active => Fate::In,
            State::Offered => Fate::Offered,
            State::Manual => Fate::Manual,
        },
        kind: applied.item.kind,
        setting: applied.item.trigger.map(|trigger| (applied.item.scope, trigger)),
        path: applied.item.path,
        line: applied.item.line,
        // What an agent sees of a skill until it asks for it.
        content: match applied.item.state {
            State::Offered
                if applied.item.kind == "skill" && !applied.item.description.is_empty() =>
            {
                applied.item.description
            }
            _ => applied.item.content,
        },
        reason: &applied.reason,
    });
    let decisions = resolution.decisions.iter().map(|bound| Candidate {
        fate: Fate::In,
        kind: "decision",
        setting: None,
        path: bound.path,
        line: bound.decision.line,
        content: &bound.decision.decision,
        reason: &bound.reason,
    });
    let left_out = resolution.left_out.iter().map(|left_out| Candidate {
        fate: match left_out.reason {
            Reason::LoadedByClient { .. } | Reason::SameTextLoaded { .. } => Fate::Loaded,
            _ => Fate::Out,
        },
        kind: left_out.kind,
        setting: None,
        path: left_out.path,
        line: left_out.line,
        content: left_out.content,
        reason: &left_out.reason,
    });
    let mut candidates: Vec<_> = items.chain(decisions).chain(left_out).collect();
    candidates.sort_by_key(|candidate| {
        (candidate.path.components().count(), candidate.path, candidate.line)
    });
    candidates
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
