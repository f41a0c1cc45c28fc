//! What the agent reads about a broken rule, and what the user sees.
//!
//! The text of a rule comes from a file, so it is one line of limited length, with everything invisible shown.

use std::fmt::Write as _;

use brief_clients::hook::{AnswerEffect, GO_ON};
use brief_dialects::rule_check::Enforcement;
use brief_engine::receipts::CheckOutcome;
use brief_syntax::shell::quote_shell_word;
use brief_syntax::text::visible_line;

use super::{BrokenRule, CheckedEvent, MOST_NAMED};

/// The limit for the characters of one text of a rule.
const LONGEST: usize = 300;

/// The limit for the findings of one rule.
const MOST_FINDINGS: usize = 3;

/// Returns the reason why a call is refused, or why the user is asked.
pub(super) fn render_refusal(
    event: &CheckedEvent<'_>,
    broken: &[BrokenRule<'_>],
    effect: AnswerEffect,
) -> String {
    let mut text = String::new();
    let head = match effect {
        AnswerEffect::Ask => "A rule asks for the user's consent:",
        _ => "Blocked by a rule:",
    };
    text.push_str(head);
    add_rules(&mut text, event, broken);
    if effect == AnswerEffect::Refuse {
        let ids: Vec<String> = broken
            .iter()
            .take(MOST_NAMED)
            .map(|rule| shorten(&quote_shell_word(rule.id())))
            .collect();
        let asks = broken.iter().all(|rule| rule.enforcement == Enforcement::Ask);
        let way = if asks {
            "Ask the user before you do this: they can allow it by running"
        } else {
            "Do not work around the rule. If it does not fit here, ask the user: they can allow one call by running"
        };
        let commands: Vec<String> = ids.iter().map(|id| format!("`brief allow {id}`")).collect();
        let _ = write!(text, "\n{way} {} in a terminal.", commands.join(" and "));
    }
    text
}

/// Returns the text about a call that has run.
pub(super) fn render_warning(event: &CheckedEvent<'_>, broken: &[BrokenRule<'_>]) -> String {
    let mut text = String::from("This call broke a rule:");
    add_rules(&mut text, event, broken);
    text.push_str("\nCorrect it now, before you continue.");
    text
}

/// Returns the text with which a turn goes on.
pub(super) fn render_go_on(event: &CheckedEvent<'_>, broken: &[BrokenRule<'_>]) -> String {
    let mut text = String::from(GO_ON);
    add_rules(&mut text, event, broken);
    text.push_str("\nDo what is missing, or say why it cannot be done.");
    text
}

/// Returns the line for the user.
pub(super) fn render_notice(
    event: &CheckedEvent<'_>,
    broken: &[BrokenRule<'_>],
    outcome: CheckOutcome,
) -> String {
    let Some(first) = broken.first() else { return String::new() };
    let what = match outcome {
        CheckOutcome::Refused => "blocked a call",
        CheckOutcome::Asked => "asks about a call",
        CheckOutcome::Held => "sent the agent back to work",
        _ => "told the agent about a broken rule",
    };
    let more = match broken.len() {
        1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    let title = shorten(first.check().title());
    let (finding, place) = (shorten(&first.finding()), place_of(event, first));
    format!("brief {what}: {title} ({place}): {finding}{more}")
}

fn add_rules(text: &mut String, event: &CheckedEvent<'_>, broken: &[BrokenRule<'_>]) {
    for rule in broken.iter().take(MOST_NAMED) {
        let check = rule.check();
        let (title, place) = (shorten(check.title()), place_of(event, rule));
        let _ = write!(text, "\n- {title} ({place})");
        for finding in rule.verdict.findings.iter().take(MOST_FINDINGS) {
            let shown = format!("{}: {}", finding.place, finding.message);
            let _ = write!(text, "\n  {}", shorten(&shown));
        }
        let more = rule.verdict.count.saturating_sub(MOST_FINDINGS);
        if more > 0 {
            let _ = write!(text, "\n  and {more} more");
        }
        if let Some(instead) = &check.instead {
            let _ = write!(text, "\n  Instead: {}", shorten(instead));
        }
    }
    let more = broken.len().saturating_sub(MOST_NAMED);
    if more > 0 {
        let _ = write!(text, "\n- and {more} more rules");
    }
}

/// Returns the file and the line of a rule.
fn place_of(event: &CheckedEvent<'_>, rule: &BrokenRule<'_>) -> String {
    let check = rule.check();
    let path = check.source.path();
    let path = path.strip_prefix(event.opened.project.root().path()).unwrap_or(path);
    shorten(&format!("{}:{}", path.display(), check.line()))
}

fn shorten(text: &str) -> String {
    let text = visible_line(text);
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}
