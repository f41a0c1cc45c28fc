//! All candidates of a briefing side by side, in or out.

use std::borrow::Cow;
use std::path::Path;

use brief_dialects::{ReasonKind, State};

use super::{BriefedItem, Briefing, Explanation, first_line};

/// The state of a candidate. Each has its own sign, so that they differ without colors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CandidateState {
    /// It is in the answer.
    Applies,
    /// The client itself loads its whole text.
    Loaded,
    /// The client itself loads its name and description.
    ListedByClient,
    /// Another item has the same text.
    Same,
    /// The agent may ask for it.
    Listed,
    /// The user may mention it.
    Manual,
    /// It does not apply.
    Skipped,
}

impl CandidateState {
    /// Returns the sign and the word for it.
    pub fn label(self) -> &'static str {
        match self {
            CandidateState::Applies => "+ applies",
            CandidateState::Loaded => "= loaded",
            CandidateState::ListedByClient => "= listed",
            CandidateState::Same => "= same",
            CandidateState::Listed => "? listed",
            CandidateState::Manual => "@ manual",
            CandidateState::Skipped => "- skipped",
        }
    }
}

/// Something that might apply, in or out.
#[derive(Debug)]
pub struct BriefedCandidate<'b> {
    /// Its state.
    pub state: CandidateState,
    /// Its kind, such as `context` or `decision`.
    pub kind: &'static str,
    /// Its scope and trigger, in a dialect that has them.
    pub setting: Option<(&'static str, &'static str)>,
    /// Its name, or its place in its file.
    pub name: Cow<'b, str>,
    /// The file it stands in, absolute.
    pub path: &'b Path,
    /// The line it begins on, from 1.
    pub line: usize,
    /// The first line of its text.
    pub first_line: Option<&'b str>,
    /// The reason for its state.
    pub reason: &'b Explanation,
}

impl Briefing {
    /// Returns everything in the order of the files: from the root down, top to bottom.
    pub fn candidates(&self) -> Vec<BriefedCandidate<'_>> {
        let items = self.items().into_iter().map(|item| BriefedCandidate {
            state: match item.state {
                State::Active => CandidateState::Applies,
                State::Listed => CandidateState::Listed,
                State::Manual => CandidateState::Manual,
            },
            kind: item.kind,
            setting: item.trigger.map(|trigger| (item.scope, trigger)),
            name: Cow::Borrowed(item.name.as_str()),
            path: &item.path,
            line: item.line,
            first_line: first_line(shown_text(item)),
            reason: &item.reason,
        });
        let decisions = self.decisions.iter().map(|bound| BriefedCandidate {
            state: CandidateState::Applies,
            kind: "decision",
            setting: None,
            name: Cow::Owned(format!("decisions[{}]", bound.decision.index)),
            path: &bound.path,
            line: bound.decision.line,
            first_line: first_line(&bound.decision.decision),
            reason: &bound.reason,
        });
        let left_out = self.left_out.iter().map(|omitted| BriefedCandidate {
            state: match omitted.reason.kind {
                ReasonKind::Loaded => CandidateState::Loaded,
                ReasonKind::ListedByClient => CandidateState::ListedByClient,
                ReasonKind::SameText | ReasonKind::SameTextLoaded => CandidateState::Same,
                _ => CandidateState::Skipped,
            },
            kind: omitted.kind,
            setting: None,
            name: Cow::Borrowed(omitted.name.as_str()),
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

    /// Keeps the decisions and drops all other parts of the answer.
    pub fn keep_decisions(&mut self) {
        for items in [&mut self.active, &mut self.listed, &mut self.manual] {
            items.clear();
        }
        self.tokens = 0;
        self.left_out.retain(|omitted| omitted.kind == "decision");
    }
}

/// Returns the text of an item; of a skill on offer what an agent sees until it asks for it.
fn shown_text(item: &BriefedItem) -> &str {
    let is_offered_skill = item.state == State::Listed && item.kind == "skill";
    if is_offered_skill && !item.description.is_empty() { &item.description } else { &item.content }
}
