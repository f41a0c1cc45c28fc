//! The parts of a prompt, for people.

use std::fmt;
use std::path::Path;

use brief_engine::tasks::{PromptLayout, TaskDocument};
use brief_engine::{CandidateState, estimate_tokens};
use brief_runtime::{AssembledPrompt, ExecutionRequest, RequestOutcome};
use brief_syntax::text::visible_line;

use crate::commands::whole::format_count;
use crate::error::Result;
use crate::ui::Ui;

/// Prints each part with its tokens and the reason why it is used or not.
pub(super) fn print_explanation(
    ui: &mut Ui,
    assembled: &AssembledPrompt,
    layout: PromptLayout,
) -> Result {
    let AssembledPrompt { prompt, ran, root, .. } = assembled;
    let tokens = |text: &[u8]| estimate_tokens(&String::from_utf8_lossy(text));
    let task = &prompt.task;
    print_entry(
        ui,
        root,
        CandidateState::Applies,
        &task.document,
        Some(tokens(&task.text)),
        &task.reason,
    )?;
    for rule in &prompt.rules {
        print_entry(
            ui,
            root,
            CandidateState::Applies,
            &rule.document,
            Some(tokens(&rule.text)),
            &rule.reason,
        )?;
    }
    for skill in &prompt.skills {
        let cost = estimate_tokens(&skill.description);
        print_entry(ui, root, CandidateState::Listed, &skill.document, Some(cost), &skill.reason)?;
    }
    for command in &prompt.commands {
        print_entry(
            ui,
            root,
            CandidateState::Applies,
            &command.document,
            Some(tokens(&command.text)),
            &command.reason,
        )?;
    }
    for left_out in &prompt.left_out {
        print_entry(ui, root, CandidateState::Skipped, &left_out.document, None, &left_out.reason)?;
    }
    let whole = tokens(&prompt.render(layout));
    ui.print_line(format!("about {} in total", format_count(whole, "token")))?;
    if !ran.is_empty() {
        let count = ran.len();
        let noun = if count == 1 { "command or script" } else { "commands and scripts" };
        ui.print_status(&format!("{count} {noun} would run; their output is not counted"))?;
    }
    Ok(())
}

fn print_entry(
    ui: &mut Ui,
    root: &Path,
    state: CandidateState,
    document: &TaskDocument,
    tokens: Option<usize>,
    reason: &dyn fmt::Display,
) -> Result {
    let path = render_relative_path(document.path(), root);
    let (kind, name) = (document.kind.as_str(), document.name());
    let cost =
        tokens.map_or(String::new(), |tokens| format!(", {}", format_count(tokens, "token")));
    let label = state.label();
    ui.print_candidate(state, &format!("{label:<9}  {kind} {name}  {path}{cost}"))?;
    let reason = reason.to_string();
    ui.print_line(format!("           {}", visible_line(&reason)))?;
    ui.print_line("")
}

/// Prints the commands that would run.
pub(super) fn print_runs(ui: &mut Ui, ran: &[ExecutionRequest], root: &Path) -> Result {
    for asked in ran {
        let path = render_relative_path(&asked.path, root);
        let trust = match &asked.outcome {
            RequestOutcome::Untrusted => ", not trusted",
            _ => "",
        };
        ui.print_heading(&format!("{}  {path}:{}{trust}", asked.kind.as_str(), asked.line))?;
        let text = asked.text.strip_prefix(&format!("{}/", root.display())).unwrap_or(&asked.text);
        for line in text.lines() {
            ui.print_line(format!("  {}", visible_line(line)))?;
        }
    }
    if ran.is_empty() {
        ui.print_status("nothing would run")?;
    }
    Ok(())
}

fn render_relative_path(path: &Path, root: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}
