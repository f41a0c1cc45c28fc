//! The entries that apply at a moment: the filters of the document, in its order.
//!
//! The first filter that fails is the one reason given.

use brief_syntax::TargetKind;
use brief_syntax::glob::covers_everything_inside;

use crate::answer::Reason;
use crate::moment::{Action, Actions, Moment, Occasion, Timing};

use super::model::{ContextEntry, Decision, StructuredFile, When};
use super::pattern::Pattern;

/// The decision about an entry, with the reason.
pub(super) enum EntryVerdict<'s> {
    In(Reason<'s>),
    Out(Reason<'s>),
}

/// The target relative to one context file.
#[derive(Clone, Copy)]
pub(super) struct RelativeTarget<'p> {
    /// The path relative to the context file's directory.
    pub(super) path: &'p str,
    pub(super) kind: TargetKind,
}

impl<'p> RelativeTarget<'p> {
    /// Returns the target relative to `file`; `None` when it is not below the file.
    pub(super) fn below(
        file: &StructuredFile,
        target: &'p str,
        kind: TargetKind,
    ) -> Option<RelativeTarget<'p>> {
        let path = if file.directory.is_empty() {
            target
        } else {
            let rest = target.strip_prefix(file.directory.as_str())?;
            match rest.strip_prefix('/') {
                Some(path) => path,
                None if rest.is_empty() && kind == TargetKind::Directory => rest,
                None => return None,
            }
        };
        Some(RelativeTarget { path, kind })
    }
}

/// The action and timing of a question.
#[derive(Clone, Copy, Default)]
pub(super) struct AskedTime {
    /// The action; `None` for all.
    pub(super) action: Option<Action>,
    /// The timing; `None` for both.
    pub(super) timing: Option<Timing>,
    /// The actions that may follow, whose "before" is now.
    pub(super) ahead: Actions,
    /// The occasion of the question.
    pub(super) occasion: Occasion,
}

impl AskedTime {
    pub(super) fn at(moment: &Moment) -> AskedTime {
        let Moment { action, timing, occasion, .. } = *moment;
        AskedTime { action, timing, ahead: moment.ahead(), occasion }
    }

    /// Returns that of a question about any file.
    pub(super) fn at_files(moment: &Moment) -> AskedTime {
        AskedTime { ahead: moment.ahead_at(Some(TargetKind::File)), ..AskedTime::at(moment) }
    }
}

/// Decides about a context entry for a place, an action and a timing.
pub(super) fn judge_entry<'s>(
    entry: &'s ContextEntry,
    place: Option<RelativeTarget<'_>>,
    asked: AskedTime,
) -> EntryVerdict<'s> {
    if asked.occasion == Occasion::Start && !covers_everything(entry) {
        return EntryVerdict::Out(Reason::NotCovered { patterns: &entry.patterns });
    }
    let reason = match place {
        Some(place) => match judge_place(&entry.patterns, &entry.exclude, place) {
            EntryVerdict::In(reason) => reason,
            out @ EntryVerdict::Out(_) => return out,
        },
        None => Reason::Listed,
    };
    let other = match (asked.timing, entry.when) {
        _ if asked.action.is_some_and(|action| !entry.on.contains(action)) => {
            Reason::OtherAction { on: entry.on }
        }
        (Some(timing), When::Only(when)) if timing != when => Reason::OtherTiming { when },
        _ => return EntryVerdict::In(reason),
    };
    let ahead = entry.on.and(asked.ahead);
    let is_ahead = !ahead.is_empty() && entry.when != When::Only(Timing::After);
    match reason {
        Reason::Covers { pattern } | Reason::CoversInside { pattern } if is_ahead => {
            EntryVerdict::In(Reason::Ahead { pattern, on: ahead })
        }
        Reason::Listed if is_ahead && asked.occasion == Occasion::Work => EntryVerdict::In(reason),
        _ => EntryVerdict::Out(other),
    }
}

/// Decides about a decision, which has no action, timing or `exclude`.
pub(super) fn judge_decision<'s>(
    decision: &'s Decision,
    place: Option<RelativeTarget<'_>>,
) -> EntryVerdict<'s> {
    match place {
        Some(place) => judge_place(&decision.patterns, &[], place),
        None => EntryVerdict::In(Reason::Listed),
    }
}

fn judge_place<'s>(
    patterns: &'s [Pattern],
    exclude: &'s [Pattern],
    place: RelativeTarget<'_>,
) -> EntryVerdict<'s> {
    match place.kind {
        TargetKind::File => judge_file(patterns, exclude, place.path),
        TargetKind::Directory => judge_directory(patterns, exclude, place.path),
    }
}

fn judge_file<'s>(patterns: &'s [Pattern], exclude: &'s [Pattern], path: &str) -> EntryVerdict<'s> {
    let Some(hit) = patterns.iter().find(|pattern| pattern.matches_file(path)) else {
        return EntryVerdict::Out(Reason::NotCovered { patterns });
    };
    match exclude.iter().find(|pattern| pattern.matches_file(path)) {
        Some(excluded) => EntryVerdict::Out(Reason::Excluded { pattern: excluded.as_str() }),
        None => EntryVerdict::In(Reason::Covers { pattern: hit.as_str() }),
    }
}

/// Returns whether an entry is for every file.
pub(super) fn covers_everything(entry: &ContextEntry) -> bool {
    entry.exclude.is_empty() && entry.patterns.iter().any(Pattern::is_everything)
}

/// Returns whether an entry is for a file, with any action.
pub(super) fn covers_file(entry: &ContextEntry, path: &str) -> bool {
    matches!(judge_file(&entry.patterns, &entry.exclude, path), EntryVerdict::In(_))
}

/// Returns whether an entry names a directory itself, beyond files that could be in it.
pub(super) fn covers_directory(entry: &ContextEntry, path: &str) -> bool {
    let verdict = judge_directory(&entry.patterns, &entry.exclude, path);
    matches!(verdict, EntryVerdict::In(Reason::Covers { .. }))
}

fn judge_directory<'s>(
    patterns: &'s [Pattern],
    exclude: &'s [Pattern],
    path: &str,
) -> EntryVerdict<'s> {
    let exact = patterns.iter().find(|pattern| pattern.matches_directory(path));
    let reason = match exact {
        Some(hit) => Reason::Covers { pattern: hit.as_str() },
        None => match patterns.iter().find(|pattern| pattern.could_match_inside(path)) {
            Some(hit) => Reason::CoversInside { pattern: hit.as_str() },
            None => return EntryVerdict::Out(Reason::NotCovered { patterns }),
        },
    };
    if let Some(excluded) = exclude.iter().find(|pattern| pattern.matches_directory(path)) {
        return EntryVerdict::Out(Reason::Excluded { pattern: excluded.as_str() });
    }
    // Ruling S2: file patterns exclude an entry from a directory only if together they match
    // everything in it.
    let globs: Vec<_> =
        exclude.iter().filter(|pattern| !pattern.is_directory()).map(Pattern::glob).collect();
    if !globs.is_empty() && covers_everything_inside(&globs, path) {
        return EntryVerdict::Out(Reason::ExcludedInside { patterns: exclude });
    }
    EntryVerdict::In(reason)
}
