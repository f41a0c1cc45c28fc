//! The entries that apply at a moment: the filters of the document, in its order.
//!
//! The first filter that fails is the one reason given.

use brief_syntax::TargetKind;
use brief_syntax::glob::covers_everything_inside;

use crate::answer::Reason;
use crate::moment::{Action, Actions, Moment, Occasion, Timing};

use super::model::{ContextEntry, Decision, StructuredFile};
use super::pattern::Pattern;

/// The decision about an entry: the reason why it applies, or why it does not.
pub(super) type EntryVerdict<'s> = Result<Reason<'s>, Reason<'s>>;

/// The target relative to one context file.
#[derive(Clone, Copy)]
pub(super) struct RelativeTarget<'p> {
    /// The path relative to the context file's directory.
    pub(super) path: &'p str,
    pub(super) kind: TargetKind,
}

impl<'p> RelativeTarget<'p> {
    /// Returns the target relative to `file`; `None` when it is not below the file.
    pub(super) fn relative_to(
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
    pub(super) occasion: Occasion,
}

impl AskedTime {
    pub(super) fn from_moment(moment: &Moment) -> AskedTime {
        let Moment { action, timing, occasion, .. } = *moment;
        AskedTime { action, timing, ahead: moment.actions_ahead(), occasion }
    }

    /// Returns that of a question about any file.
    pub(super) fn at_files(moment: &Moment) -> AskedTime {
        AskedTime {
            ahead: moment.ahead_at(Some(TargetKind::File)),
            ..AskedTime::from_moment(moment)
        }
    }
}

/// Decides about a context entry for a place, an action and a timing.
pub(super) fn judge_entry<'s>(
    entry: &'s ContextEntry,
    place: Option<RelativeTarget<'_>>,
    asked: AskedTime,
) -> EntryVerdict<'s> {
    if asked.occasion == Occasion::Start && !covers_everything(entry) {
        return Err(Reason::NotCovered { patterns: &entry.patterns });
    }
    let reason = match place {
        Some(place) => judge_place(&entry.patterns, &entry.exclude, place)?,
        None => Reason::Listed,
    };
    let other = match (asked.timing, entry.when) {
        _ if asked.action.is_some_and(|action| !entry.on.contains(action)) => {
            Reason::OtherAction { on: entry.on }
        }
        (Some(timing), Some(when)) if timing != when => Reason::OtherTiming { when },
        _ => return Ok(reason),
    };
    let ahead = entry.on.and(asked.ahead);
    let is_ahead = !ahead.is_empty() && entry.when != Some(Timing::After);
    match reason {
        Reason::Covers { pattern } | Reason::CoversInside { pattern } if is_ahead => {
            Ok(Reason::Ahead { pattern, on: ahead })
        }
        Reason::Listed if is_ahead && asked.occasion == Occasion::Work => Ok(reason),
        _ => Err(other),
    }
}

/// Decides about a decision, which has no action, timing or `exclude`.
pub(super) fn judge_decision<'s>(
    decision: &'s Decision,
    place: Option<RelativeTarget<'_>>,
) -> EntryVerdict<'s> {
    match place {
        Some(place) => judge_place(&decision.patterns, &[], place),
        None => Ok(Reason::Listed),
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
        return Err(Reason::NotCovered { patterns });
    };
    match exclude.iter().find(|pattern| pattern.matches_file(path)) {
        Some(excluded) => Err(Reason::Excluded { pattern: excluded.as_str() }),
        None => Ok(Reason::Covers { pattern: hit.as_str() }),
    }
}

/// Returns whether an entry is for every file.
pub(super) fn covers_everything(entry: &ContextEntry) -> bool {
    entry.exclude.is_empty() && entry.patterns.iter().any(Pattern::is_everything)
}

/// Returns whether an entry is for a file, with any action.
pub(super) fn covers_file(entry: &ContextEntry, path: &str) -> bool {
    judge_file(&entry.patterns, &entry.exclude, path).is_ok()
}

/// Returns whether an entry names a directory itself, beyond files that could be in it.
pub(super) fn covers_directory(entry: &ContextEntry, path: &str) -> bool {
    let verdict = judge_directory(&entry.patterns, &entry.exclude, path);
    matches!(verdict, Ok(Reason::Covers { .. }))
}

fn judge_directory<'s>(
    patterns: &'s [Pattern],
    exclude: &'s [Pattern],
    path: &str,
) -> EntryVerdict<'s> {
    let find = |matches: fn(&Pattern, &str) -> bool| {
        patterns.iter().find(|pattern| matches(pattern, path)).map(Pattern::as_str)
    };
    let exact = find(Pattern::matches_directory).map(|pattern| Reason::Covers { pattern });
    let inside =
        || find(Pattern::could_match_inside).map(|pattern| Reason::CoversInside { pattern });
    let reason = exact.or_else(inside).ok_or(Reason::NotCovered { patterns })?;
    if let Some(excluded) = exclude.iter().find(|pattern| pattern.matches_directory(path)) {
        return Err(Reason::Excluded { pattern: excluded.as_str() });
    }
    // Ruling S2: file patterns exclude an entry from a directory only if together they match
    // everything in it.
    let globs: Vec<_> =
        exclude.iter().filter(|pattern| !pattern.is_directory()).map(Pattern::glob).collect();
    if !globs.is_empty() && covers_everything_inside(&globs, path) {
        return Err(Reason::ExcludedInside { patterns: exclude });
    }
    Ok(reason)
}
