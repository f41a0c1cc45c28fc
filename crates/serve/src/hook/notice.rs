//! The notice for the user about missing guidance. The model does not see it.
//!
//! The hook works unseen, so that a broken file would go unnoticed. Each problem is reported once per
//! session.

use std::path::Path;

use brief_clients::hook::HookSession;
use brief_engine::System;
use brief_profiles::Client;
use brief_syntax::Diagnostic;
use brief_syntax::diagnostic::Severity;
use brief_syntax::text::visible_line;

use super::memory::{Claim, Memory, fingerprint_parts};

/// The limit for problems in full; the others are counted.
const SPELLED_OUT: usize = 3;

/// The limit for the characters of one problem.
const LONGEST: usize = 300;

/// Returns the notice about problems that this session was not told yet.
pub(super) fn render_problem_notice(
    system: &dyn System,
    client: &Client,
    session: &HookSession,
    diagnostics: &[Diagnostic],
    root: &Path,
) -> Option<String> {
    let problems: Vec<&Diagnostic> =
        diagnostics.iter().filter(|diagnostic| hides_guidance(diagnostic)).collect();
    if problems.is_empty() {
        return None;
    }
    // One user sees all conversations of a session.
    let memory =
        Memory::for_conversation(system, client, &HookSession { agent: None, ..session.clone() });
    let mut known = memory.read_delivered();
    let shown = |problem: &Diagnostic| {
        let place = problem.shown_path(root);
        let position = problem.position();
        let text = format!("{place}:{}: {}", position.line, problem.message);
        let text = visible_line(&text);
        text.chars().take(LONGEST).collect::<String>()
    };
    let mut told: Vec<(Claim, String)> = Vec::new();
    for problem in problems {
        let text = shown(problem);
        let fingerprint = fingerprint_parts(&["problem", &text]);
        if !known.contains(&fingerprint) {
            told.push((Claim { fingerprint, tokens: 0 }, text));
        }
    }
    let claims: Vec<Claim> = told.iter().map(|(claim, _)| claim.clone()).collect();
    let ours = memory.claim_entries(&claims, &[], &mut known);
    told.retain(|(claim, _)| ours.contains(&claim.fingerprint));
    let (first, more) = told.split_at(told.len().min(SPELLED_OUT));
    if first.is_empty() {
        return None;
    }
    let first: Vec<&str> = first.iter().map(|(_, text)| text.as_str()).collect();
    let more = if more.is_empty() { String::new() } else { format!(" (and {} more)", more.len()) };
    Some(format!(
        "brief: some guidance is missing: {}{more}. Run `brief lint` for details.",
        first.join("; ")
    ))
}

/// Returns whether a problem hides guidance. All others are for `lint`.
fn hides_guidance(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity == Severity::Error || diagnostic.code().starts_with("project/")
}
