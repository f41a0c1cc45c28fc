//! The decision whether two items with one text can be one item, and the reason if they cannot.
//!
//! A user who has the same rule for two clients means one rule. Clients read patterns otherwise, though: `src/**` is a `src`
//! at any depth for Claude Code, and the one at the root for Cursor. So what counts is whether some file of the project
//! tells two scopes apart.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use brief_syntax::glob::Glob;

use crate::compile::yaml::{YamlValue, parts_of};
use crate::profile::{From, Layout, Profiles};

use super::item::ImportedItem;

/// The files of a project, which are listed when two scopes have to be told apart.
pub(super) struct ProjectFiles<'p> {
    list: &'p dyn Fn() -> Vec<String>,
    listed: OnceCell<Vec<String>>,
    /// The paths of originals below the project, with `/`.
    shown: BTreeMap<PathBuf, String>,
}

impl<'p> ProjectFiles<'p> {
    pub(super) fn new(list: &'p dyn Fn() -> Vec<String>) -> ProjectFiles<'p> {
        ProjectFiles { list, listed: OnceCell::new(), shown: BTreeMap::new() }
    }

    /// Records the path of an original for messages.
    pub(super) fn record_original(&mut self, path: &Path, shown: &str) {
        self.shown.insert(path.to_owned(), shown.to_owned());
    }

    /// Returns the path of an original below the project.
    pub(super) fn find_original(&self, path: &Path) -> Option<&str> {
        self.shown.get(path).map(String::as_str)
    }

    fn list_files(&self) -> &[String] {
        self.listed.get_or_init(self.list)
    }
}

/// Returns the scope of two items as one, or the reason why they stay apart.
pub(super) fn common_scope(
    left: &ImportedItem,
    right: &ImportedItem,
    profiles: &Profiles,
    files: &ProjectFiles<'_>,
) -> Result<Vec<String>, String> {
    if !left.overrides.is_empty() || !right.overrides.is_empty() {
        return Err("one client has its own body".to_owned());
    }
    if let Some(reason) = other_tools(left, right, profiles) {
        return Err(reason);
    }
    if left.scope == right.scope {
        return Ok(left.scope.clone());
    }
    // A client whose rules have no scope loads it for all files, whatever the item says.
    let has_none = |item: &ImportedItem| {
        item.scope.is_empty() && is_of(item, profiles, |layout| !layout.reads_scope())
    };
    if has_none(left) || has_none(right) {
        return Ok(if left.scope.is_empty() { &right.scope } else { &left.scope }.clone());
    }
    let shorter = || {
        let length = |item: &ImportedItem| item.scope.iter().map(String::len).sum::<usize>();
        if length(right) < length(left) { right.scope.clone() } else { left.scope.clone() }
    };
    match (build_scope_matcher(left), build_scope_matcher(right)) {
        (Some(own), Some(other)) => {
            let mut is_some = false;
            for file in files.list_files() {
                match (own(file), other(file)) {
                    (true, true) => is_some = true,
                    (false, false) => {}
                    (is_left, _) => {
                        let (one, two) = if is_left { (left, right) } else { (right, left) };
                        return Err(format!(
                            "{} applies to `{file}`, {} does not",
                            render_original(one, files),
                            render_original(two, files)
                        ));
                    }
                }
            }
            // Without a file that one of them is for, only the words can tell.
            if is_some || at_any_depth(&left.scope) == at_any_depth(&right.scope) {
                Ok(shorter())
            } else {
                Err("they apply to different files".to_owned())
            }
        }
        _ => Err("one applies to all files, the other to some".to_owned()),
    }
}

/// Returns patterns without the start that means any depth.
fn at_any_depth(scope: &[String]) -> Vec<&str> {
    let mut patterns: Vec<&str> =
        scope.iter().map(|own| own.strip_prefix("**/").unwrap_or(own)).collect();
    patterns.sort_unstable();
    patterns
}

/// Returns whether a path is in the scope of an item; `None` for a scope of all files.
fn build_scope_matcher(item: &ImportedItem) -> Option<impl Fn(&str) -> bool> {
    let globs: Vec<Glob> = item.scope.iter().filter_map(|own| Glob::new(own).ok()).collect();
    (!globs.is_empty()).then_some(move |path: &str| globs.iter().any(|glob| glob.matches(path)))
}

/// Returns the reason why two agents with other tools stay apart.
fn other_tools(left: &ImportedItem, right: &ImportedItem, profiles: &Profiles) -> Option<String> {
    let (own, other) = (left.find_field("tools"), right.find_field("tools"));
    if own == other {
        return None;
    }
    let cannot =
        |item: &ImportedItem| is_of(item, profiles, |layout| !layout.has_field_from(From::Tools));
    if own.is_none() && cannot(left) || other.is_none() && cannot(right) {
        return None;
    }
    let words = |value: Option<&YamlValue>| match value.and_then(parts_of) {
        Some(parts) if !parts.is_empty() => format!("`{}`", parts.join(", ")),
        Some(_) => "none".to_owned(),
        None => "all".to_owned(),
    };
    Some(format!("their tools differ: {} and {}", words(own), words(other)))
}

/// Returns whether all clients of an item have such a layout.
fn is_of(item: &ImportedItem, profiles: &Profiles, is_it: impl Fn(&Layout) -> bool) -> bool {
    item.members.iter().all(|member| {
        let client = member.client.as_deref().and_then(|client| profiles.get(client));
        client.and_then(|client| client.layout(item.kind)).is_some_and(&is_it)
    })
}

/// Returns the original of an item, as a reader sees it.
pub(super) fn render_original(item: &ImportedItem, files: &ProjectFiles<'_>) -> String {
    let member = item.members.first();
    let path = member.and_then(|member| files.find_original(&member.path));
    format!("`{}`", path.unwrap_or(&item.name))
}
