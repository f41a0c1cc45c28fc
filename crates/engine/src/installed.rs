//! Installed items in an answer.
//!
//! An item from a registry lies among the files that its client reads, and is read with them. In an
//! answer it is what it was written as: a portable rule, skill or agent.

use std::collections::HashMap;

use brief_dialects::portable::{self, Installed, Kind};
use brief_dialects::{Answer, Moment, Name, Reason, native, tasks};

/// What a rule is called.
const RULE: &str = Kind::Rule.as_str();

/// The dialects whose files can be installed ones.
const HOLDERS: [&str; 2] = [native::NAME, tasks::NAME];

/// Returns what a file of a dialect is called when it is an installed one.
pub(crate) fn label<'c>(
    installed: &[&'c Installed],
    dialect: &str,
    path: &std::path::Path,
) -> Option<(&'static str, &'static str, Name<'c>)> {
    if !HOLDERS.contains(&dialect) {
        return None;
    }
    let piece = installed.iter().find_map(|installed| installed.at(path))?;
    Some((portable::NAME, piece.kind.as_str(), Name::Text(&piece.name)))
}

/// The client that reads rules from `.agents`, and knows no files that a rule is for.
const UNSCOPED_CLIENT: &str = "opencode";

/// Calls installed items by their own names, and lets the copy of a rule that knows no files follow
/// the copies that do.
pub(crate) fn rename<'c>(installed: &[&'c Installed], answer: &mut Answer<'c>, moment: &Moment) {
    let mut elsewhere: HashMap<Name<'c>, Reason<'c>> = HashMap::new();
    for left_out in &mut answer.left_out {
        if let Some((dialect, kind, name)) = label(installed, left_out.dialect, left_out.path) {
            (left_out.dialect, left_out.kind, left_out.name) = (dialect, kind, name);
            if kind == RULE && matches!(left_out.reason, Reason::NoGlob { .. }) {
                elsewhere.entry(name).or_insert_with(|| left_out.reason.clone());
            }
        }
    }
    let mut kept = Vec::with_capacity(answer.items.len());
    for mut applied in std::mem::take(&mut answer.items) {
        let item = &mut applied.item;
        let Some((dialect, kind, name)) = label(installed, item.dialect, item.path) else {
            kept.push(applied);
            continue;
        };
        let is_unscoped_copy = item.dialect == tasks::NAME && kind == RULE;
        (item.dialect, item.kind, item.name) = (dialect, kind, name);
        let reason = match moment.client.as_deref() {
            _ if !is_unscoped_copy => None,
            Some(UNSCOPED_CLIENT) => Some(Reason::LoadedByClient { client: UNSCOPED_CLIENT }),
            _ => elsewhere.get(&name).cloned(),
        };
        match reason {
            Some(reason) => answer.left_out.push(applied.leave_out(reason)),
            None => kept.push(applied),
        }
    }
    answer.items = kept;
    answer.left_out.sort_by_key(|left_out| left_out.level);
}

/// Returns whether a dialect must be read for the sake of installed items.
pub(crate) fn is_holder(dialect: &str) -> bool {
    HOLDERS.contains(&dialect)
}
