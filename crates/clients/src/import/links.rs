//! Links at the places of clients, followed as clients follow them: to a file or a directory of the project, and nowhere
//! else.
//!
//! A client reads `.claude/rules` by the link `.claude/rules -> ../agents/rules`, so an import does, too. A directory is
//! entered once for each place that links to it, so that links in a circle come to an end.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

use brief_profiles::{BUILTIN, PlaceShape};
use brief_safety::sensitive;
use brief_syntax::Root;
use brief_system::paths::to_slashed;
use brief_system::{FileContent, FileKind, ReadError, System};

use crate::profile::{Profile, Profiles};

use super::peers;

/// The most links to directories that one import follows.
const MOST_LINKS: usize = 1_000;

/// The end of a link: a path below the project, with `/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LinkTarget {
    File(String),
    Directory(String),
}

/// Returns the end of the link at an absolute path, or the reason why it is not followed.
pub(super) fn resolve_link(
    system: &dyn System,
    root: &Root,
    link: &Path,
) -> Result<LinkTarget, String> {
    let Ok(resolved) = system.resolve(link) else {
        return Err("is a broken link".to_owned());
    };
    let Ok(inside) = resolved.path.strip_prefix(root.path()) else {
        return Err("is a link that points outside the project".to_owned());
    };
    let inside = to_slashed(inside);
    if let Some(found) = sensitive::find_sensitive_pattern(&inside) {
        return Err(format!(
            "points to `{inside}`, whose name suggests secrets (`{}`)",
            found.pattern
        ));
    }
    match resolved.kind {
        FileKind::File => Ok(LinkTarget::File(inside)),
        FileKind::Directory => Ok(LinkTarget::Directory(inside)),
        kind => Err(format!("is a link to {}", kind.noun())),
    }
}

/// Reads the file at the end of a link, which has no links on its way.
pub(super) fn read_linked(
    system: &dyn System,
    root: &Root,
    target: &str,
    limit: u64,
) -> Result<FileContent, ReadError> {
    let path = Path::new(target);
    let name = path.file_name().ok_or(ReadError::Missing)?;
    let top = system.open_dir(root.path())?;
    match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Some(parent) => top.open_dir_below(parent)?.read_file(name, limit),
        None => top.read_file(name, limit),
    }
}

/// Returns whether clients' files are found in a directory of this path, or below it.
pub(super) fn has_places(path: &str, profiles: &Profiles) -> bool {
    let starts = std::iter::once(0).chain(path.match_indices('/').map(|(at, _)| at + 1));
    let is_around = |place: &str, rest: &str| {
        place == rest || place.strip_prefix(rest).is_some_and(|below| below.starts_with('/'))
    };
    let is_inside = |place: &str, rest: &str| {
        rest.strip_prefix(place).is_some_and(|below| below.starts_with('/'))
    };
    starts.map(|start| &path[start..]).any(|rest| {
        let mut places = BUILTIN.project.iter();
        let is_place = places.any(|place| {
            let is_file = place.shape == PlaceShape::File;
            is_around(&place.path, rest) && (!is_file || *place.path != *rest)
                || !is_file && is_inside(&place.path, rest)
        });
        let mut layouts = profiles.iter().flat_map(Profile::layouts);
        is_place
            || peers::peer_directories().any(|own| is_around(own, rest) || is_inside(own, rest))
            || layouts.any(|(_, layout)| {
                let mut templates = std::iter::once(&layout.path).chain(&layout.also_read);
                templates.any(|template| {
                    let directory = template.text().split("/{name}").next().unwrap_or_default();
                    is_around(directory, rest) || is_inside(directory, rest)
                })
            })
    })
}

/// A directory that a link leads to, to be walked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LinkedDirectory {
    /// The path by which a client finds it.
    pub(super) path: String,
    pub(super) real: String,
}

/// The links to directories that were met.
#[derive(Debug, Default)]
pub(super) struct LinkedDirectories {
    queue: VecDeque<LinkedDirectory>,
    /// The first link from each place to each directory.
    entered: BTreeMap<(String, String), String>,
}

impl LinkedDirectories {
    /// Takes a link to a directory, or returns the reason why it is not followed. `from` is the real directory that holds it.
    pub(super) fn add_link(&mut self, path: &str, real: &str, from: &str) -> Result<(), String> {
        let is_below = |above: &str, path: &str| {
            above.is_empty() || path == above || path.starts_with(&format!("{above}/"))
        };
        if is_below(real, from) {
            let shown = if real.is_empty() { "." } else { real };
            return Err(format!("points back to its parent directory `{shown}`"));
        }
        let place = place_of(path);
        if is_below(place, real) && place != path {
            return Err(format!("points to `{real}`, which brief reads there"));
        }
        let key = (place.to_owned(), real.to_owned());
        if let Some(first) = self.entered.get(&key) {
            return Err(format!("points to `{real}`, like `{first}`"));
        }
        if self.entered.len() >= MOST_LINKS {
            return Err(format!("exceeds the limit of {MOST_LINKS} links to directories"));
        }
        self.entered.insert(key, path.to_owned());
        self.queue.push_back(LinkedDirectory { path: path.to_owned(), real: real.to_owned() });
        Ok(())
    }

    /// Returns the next directory to walk.
    pub(super) fn next(&mut self) -> Option<LinkedDirectory> {
        self.queue.pop_front()
    }

    /// Returns the directories that links led to, each once.
    pub(super) fn into_real(self) -> Vec<String> {
        let mut real: Vec<String> = self.entered.into_keys().map(|(_, real)| real).collect();
        real.sort_unstable();
        real.dedup();
        real
    }
}

/// Returns the place of a client that a path belongs to: `.claude/rules` of `.claude/rules/api/a.md`.
fn place_of(path: &str) -> &str {
    let mut end = 0;
    let mut parts = path.split('/');
    for part in parts.by_ref() {
        end += part.len() + usize::from(end > 0);
        if part.starts_with('.') {
            break;
        }
    }
    if let Some(next) = parts.next() {
        end += next.len() + 1;
    }
    path.get(..end).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_client_and_its_directory() {
        for (path, place) in [
            (".claude/rules/api/a.md", ".claude/rules"),
            ("web/.claude/rules/api", "web/.claude/rules"),
            (".claude", ".claude"),
            ("a/b", "a/b"),
        ] {
            assert_eq!(place_of(path), place);
        }
    }

    #[test]
    fn links_in_a_circle_come_to_an_end() {
        let mut links = LinkedDirectories::default();
        assert!(links.add_link(".claude/rules", "agents/rules", ".claude").is_ok());
        assert!(links.add_link(".claude/rules/more", "agents/rules", "agents/more").is_err());
        assert!(links.add_link(".claude/rules/up", "agents", "agents/rules").is_err());
        assert!(links.add_link(".claude/rules/top", "", "agents/rules").is_err());
        assert!(links.add_link(".cursor/rules", "agents/rules", ".cursor").is_ok());
        assert_eq!(links.next().unwrap().path, ".claude/rules");
        assert_eq!(links.into_real(), ["agents/rules"]);
    }

    #[test]
    fn only_directories_of_clients_are_entered_by_links() {
        let profiles = Profiles::builtin();
        for path in [
            ".claude",
            "web/.claude/rules",
            ".claude/skills/a",
            ".cursor/rules/deep",
            ".rulesync",
            ".github",
        ] {
            assert!(has_places(path, profiles), "{path}");
        }
        for path in ["docs", "src/agents", "AGENTS.md", "target"] {
            assert!(!has_places(path, profiles), "{path}");
        }
    }
}
