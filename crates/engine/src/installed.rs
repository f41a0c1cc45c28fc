//! Installed items in an answer.
//!
//! An item from a registry lies among the files that its client reads, and is read with them. In an
//! answer it is what it was written as: a portable rule, skill or agent.

use brief_dialects::portable::{self, Installed};
use brief_dialects::{Answer, Name, native, tasks};

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

/// Calls installed items by their own names.
pub(crate) fn rename<'c>(installed: &[&'c Installed], answer: &mut Answer<'c>) {
    for applied in &mut answer.items {
        let item = &mut applied.item;
        if let Some((dialect, kind, name)) = label(installed, item.dialect, item.path) {
            (item.dialect, item.kind, item.name) = (dialect, kind, name);
        }
    }
    for left_out in &mut answer.left_out {
        if let Some((dialect, kind, name)) = label(installed, left_out.dialect, left_out.path) {
            (left_out.dialect, left_out.kind, left_out.name) = (dialect, kind, name);
        }
    }
}

/// Returns whether a dialect must be read for the sake of installed items.
pub(crate) fn is_holder(dialect: &str) -> bool {
    HOLDERS.contains(&dialect)
}
