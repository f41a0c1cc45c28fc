//! Work in a dependency gets nothing from it (ruling X34).
//!
//! A package could tell an agent that reads one of its files what to do in the project around it. So what
//! lies in the code of a dependency is left out of an answer about that code. Who works on a dependency
//! mounts it.

use std::path::Path;

use brief_dialects::{Reason, Resolution};

/// The reason of everything that is left out here.
const REASON: &str = "belongs to a dependency, whose guidance does not apply to work inside it";

/// Leaves out what lies below a directory of dependencies. Its own files are the project's.
pub(crate) fn leave_out(answer: &mut Resolution<'_>, directory: &Path) {
    let is_strange = |path: &Path| path.starts_with(directory) && path.parent() != Some(directory);
    let items = std::mem::take(&mut answer.items);
    for applied in items {
        let is_chosen = applied.item.package.is_some();
        if !is_chosen && is_strange(applied.item.path) {
            answer.leave_out(|| applied.leave_out(Reason::Stated(REASON)));
        } else {
            answer.items.push(applied);
        }
    }
    answer.decisions.retain(|bound| !is_strange(bound.path));
    answer.left_out.sort_by_key(|left_out| left_out.level);
}
