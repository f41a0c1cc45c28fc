//! The colors of lines.

use anstyle::{AnsiColor, Style};
use brief_engine::CandidateState;

/// Returns the style of a candidate's heading.
pub(crate) fn candidate_style(state: CandidateState) -> Style {
    match state {
        CandidateState::Applies => AnsiColor::Green.on_default().bold(),
        CandidateState::Loaded | CandidateState::ListedByClient => {
            AnsiColor::Cyan.on_default().bold()
        }
        CandidateState::Listed | CandidateState::Manual => AnsiColor::Yellow.on_default().bold(),
        CandidateState::Same | CandidateState::Skipped => Style::new().dimmed(),
    }
}

/// Returns the style of a line of a comparison.
pub(crate) fn compared_style(line: &str) -> Style {
    match line.as_bytes().first() {
        Some(b'+') => AnsiColor::Green.on_default(),
        Some(b'-') => AnsiColor::Red.on_default(),
        Some(b'@') => AnsiColor::Cyan.on_default(),
        _ => Style::new(),
    }
}
