//! `brief why`

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use brief_engine::sees::{Sees, asked_clients};
use brief_engine::{Briefing, CandidateState, Catalog, Moment, Target, TargetKind};
use brief_serve::hook::RuleReport;
use brief_syntax::text::visible_line;
use brief_workflows::delivery::find_viewers;
use clap::Args;

use super::question::{BudgetedQuestion, TypedQuestion, WhyHint};
use super::rule_effects::{group_effects, report_checks};
use crate::error::Result;
use crate::session::Session;
use crate::ui::Ui;

/// Letters before a path: the longest label, and two.
const LABEL: usize = 11;

/// Explain why each item applies to a file or not
///
/// `+ in`: it applies. `= loaded`, `= listed`: the client from --client gets it without brief. `= same`: another item has
/// the same text. `? listed`: the agent reads it on demand. `@ manual`: only when mentioned. `- out`: it does not apply.
/// Below the reason: how each client gets it, or that it is missing; without --client, for the clients of the project.
#[derive(Debug, Args)]
pub(crate) struct WhyArgs {
    /// File or directory, which need not exist; a trailing `/` means a directory
    path: PathBuf,

    #[command(flatten)]
    asked: BudgetedQuestion,

    /// Print JSON, in the shape of `brief context --json`
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &WhyArgs) -> Result {
    let typed = TypedQuestion::new(session, Some(&args.path), &args.asked.question.only);
    if args.json {
        let briefing = args.asked.resolve(ui, session, &typed, true, false)?;
        return typed.print_json(ui, "why", &briefing);
    }
    let asked = args.asked.resolve_with(ui, session, &typed, false, false, |catalog, briefing| {
        let states = ClientStates::find(session, catalog, &briefing)?;
        Ok((briefing, states))
    });
    let (briefing, states) = asked?;
    let root = briefing.root();
    ui.print_diagnostic_lines(&briefing.diagnostics, root)?;
    let candidates = briefing.candidates();
    if candidates.is_empty() {
        let Briefing { moment, files, .. } = &briefing;
        return typed.explain_nothing(ui, moment, *files, "context", WhyHint::Left);
    }
    ui.print_line(visible_line(&asked_about(&briefing.moment)))?;
    let starts: Vec<(&Path, usize)> =
        candidates.iter().map(|candidate| (candidate.path, candidate.line)).collect();
    for (index, candidate) in candidates.iter().enumerate() {
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
        // The label says of the client of the question what that has by itself, and no client lacks what does not apply.
        let is_said = match candidate.state {
            CandidateState::Loaded | CandidateState::ListedByClient | CandidateState::Same => {
                briefing.moment.client.is_some()
            }
            CandidateState::Skipped => true,
            CandidateState::Applies | CandidateState::Listed | CandidateState::Manual => false,
        };
        let by_client = states.find_state(candidate.path, candidate.line, &candidate.name);
        if let Some(by_client) = by_client.filter(|_| !is_said) {
            ui.print_line(format!("{:LABEL$}{}", "", visible_line(by_client)))?;
        }
        // A check is inside its rule, before the next one of the file.
        let end = starts.get(index + 1).filter(|(next, _)| *next == candidate.path);
        let lines = candidate.line..end.map_or(usize::MAX, |(_, line)| *line);
        let of_rule =
            |rule: &&RuleReport| Path::new(&rule.file) == path && lines.contains(&rule.line);
        for rule in states.checks.iter().filter(of_rule) {
            for (words, names) in group_effects(&rule.clients) {
                let line = format!("{:LABEL$}check {}: {}: {words}", "", rule.id, names.join(", "));
                ui.print_line(visible_line(&line))?;
            }
        }
        if let Some(line) = candidate.first_line {
            let line = shorten_line(line, ui.width().saturating_sub(LABEL + 2));
            ui.print_line(format!("{:LABEL$}> {line}", ""))?;
        }
    }
    Ok(())
}

/// The ways in which the clients of a question get each item, in words.
struct ClientStates {
    states: HashMap<(PathBuf, usize, String), String>,
    checks: Vec<RuleReport>,
}

impl ClientStates {
    /// Asks for the client of the question; without one, for the clients of the project.
    fn find(session: &Session, catalog: &Catalog, briefing: &Briefing) -> Result<ClientStates> {
        let (root, moment) = (briefing.root(), &briefing.moment);
        let named = moment.client.iter().cloned().collect();
        let clients = asked_clients(session.system(), root, named)?;
        let viewers = find_viewers(session.system(), root, moment, &clients);
        let sees = Sees::without_reasons(catalog, root, &viewers);
        let words = sees.items.iter().filter(|item| !item.is_skipped()).map(|item| {
            let mut states: Vec<(String, Vec<&str>)> = Vec::new();
            for (viewer, sight) in viewers.iter().zip(&item.seen) {
                let label = sight.label();
                match states.iter_mut().find(|(known, _)| *known == label) {
                    Some((_, clients)) => clients.push(&viewer.client),
                    None => states.push((label, vec![&viewer.client])),
                }
            }
            let states =
                states.iter().map(|(label, clients)| format!("{}: {label}", clients.join(", ")));
            let key = (item.path.to_owned(), item.line, item.name.to_string());
            (key, states.collect::<Vec<_>>().join("; "))
        });
        let checks = report_checks(session, catalog, root, &viewers)?;
        Ok(ClientStates { states: words.collect(), checks })
    }

    fn find_state(&self, path: &Path, line: usize, name: &str) -> Option<&str> {
        self.states.get(&(path.to_owned(), line, name.to_owned())).map(String::as_str)
    }
}

/// Cuts a line to the room that there is.
fn shorten_line(line: &str, width: usize) -> Cow<'_, str> {
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
