//! The places of clients' own files.

use std::sync::OnceLock;

use brief_profiles::{CheckSheet, CheckedFile, ClientChecks};

/// The directory that makes the one above it a plugin of Claude Code.
pub(super) const PLUGIN: &str = ".claude-plugin";

/// Names that make a directory a plugin of some client.
pub(super) const OF_OTHER_PLUGINS: [&str; 3] = ["plugin.json", ".codex-plugin", ".cursor-plugin"];

/// A place: the directory, and the name.
#[derive(Debug)]
pub(super) struct CheckedPlace {
    sheet: &'static CheckSheet,
    path: &'static str,
    /// The names of its directories: `*` is any one, `**` any number.
    directories: Vec<&'static str>,
    /// The name of the file; `*` is any part of it.
    name: &'static str,
    /// True if it counts only in a plugin.
    in_plugin: bool,
}

/// All places, by the first directory.
#[derive(Debug)]
pub(super) struct CheckedPlaces(Vec<CheckedPlace>);

impl CheckedPlace {
    /// Returns the checks of the client, and of the file.
    pub(super) fn find_file_checks(&self) -> Option<(&'static ClientChecks, &'static CheckedFile)> {
        let checks = self.sheet.checks()?;
        let file = checks.files.iter().find(|file| file.paths.contains_text(self.path))?;
        Some((checks, file))
    }

    /// Returns whether the name of a file fits.
    pub(super) fn matches_name(&self, name: &str) -> bool {
        match self.name.split_once('*') {
            None => self.name == name,
            Some((start, end)) => {
                name.len() > start.len() + end.len()
                    && name.starts_with(start)
                    && name.ends_with(end)
            }
        }
    }

    /// Returns whether it lies in a directory of its client, or counts in a plugin.
    pub(super) fn is_below(&self) -> bool {
        self.in_plugin || !self.directories.is_empty()
    }

    /// Returns whether it is that of the agents of a plugin of Claude Code.
    pub(super) fn is_of_plugin_agents(&self) -> bool {
        self.path == "PLUGIN/agents/**/*.md"
    }

    /// Returns whether it is one file.
    pub(super) fn is_exact(&self) -> bool {
        !self.path.contains('*')
    }

    /// Returns how many of a directory's names lie above the place, if the directory is one of the place.
    fn find_base_depth(
        &self,
        directory: &str,
        names: &[&str],
        plugins: &[String],
    ) -> Option<usize> {
        // Most directories have none of the names.
        if self.directories.first().is_some_and(|first| *first != "**" && !names.contains(first)) {
            return None;
        }
        (0..=names.len()).rev().find(|&start| {
            let is_base = |plugin: &String| *plugin == path_prefix(directory, names, start);
            matches_directory_names(&self.directories, &names[start..])
                && (!self.in_plugin || plugins.iter().any(is_base))
        })
    }
}

/// Returns the path of the first `count` names.
fn path_prefix<'d>(directory: &'d str, names: &[&str], count: usize) -> &'d str {
    let length: usize = names[..count].iter().map(|name| name.len() + 1).sum();
    &directory[..length.saturating_sub(1).min(directory.len())]
}

fn matches_directory_names(pattern: &[&str], names: &[&str]) -> bool {
    match (pattern.split_first(), names.split_first()) {
        (None, None) => true,
        (Some((&"**", rest)), _) => {
            (0..=names.len()).any(|count| matches_directory_names(rest, &names[count..]))
        }
        (Some((&part, rest)), Some((&name, below))) => {
            (part == "*" || part == name) && matches_directory_names(rest, below)
        }
        _ => false,
    }
}

impl CheckedPlaces {
    /// Returns the places of all clients.
    pub(super) fn builtin_places() -> &'static CheckedPlaces {
        static ALL: OnceLock<CheckedPlaces> = OnceLock::new();
        ALL.get_or_init(|| {
            let sheets = CheckSheet::all_sheets().iter();
            let places = sheets.flat_map(|sheet| {
                sheet.paths.iter().map(move |&path| {
                    let below = path.strip_prefix("PLUGIN/");
                    let in_plugin = below.is_some();
                    let mut directories: Vec<&str> = below.unwrap_or(path).split('/').collect();
                    let name = directories.pop().unwrap_or_default();
                    CheckedPlace { sheet, path, directories, name, in_plugin }
                })
            });
            CheckedPlaces(places.collect())
        })
    }

    /// Returns the place of the agents of a plugin.
    pub(super) fn of_plugin_agents(&'static self) -> Option<&'static CheckedPlace> {
        self.0.iter().find(|place| place.is_of_plugin_agents())
    }

    /// Returns the places that a directory is one of, each with the directory that it starts at.
    pub(super) fn in_directory<'d>(
        &'static self,
        directory: &'d str,
        plugins: &[String],
    ) -> Vec<(&'static CheckedPlace, &'d str)> {
        let names: Vec<&str> = directory.split('/').filter(|name| !name.is_empty()).collect();
        let found = self.0.iter().filter_map(|place| {
            let start = place.find_base_depth(directory, &names, plugins)?;
            Some((place, path_prefix(directory, &names, start)))
        });
        let mut found: Vec<(&CheckedPlace, &str)> = found.collect();
        // A plugin has rules of its own for a file that projects have, too.
        let of_plugins = found.iter().filter(|(place, _)| place.in_plugin);
        let of_plugins: Vec<&str> = of_plugins.map(|(place, _)| place.name).collect();
        found.retain(|(place, _)| place.is_below() || !of_plugins.contains(&place.name));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::matches_directory_names;

    #[test]
    fn directories_of_a_place() {
        assert!(matches_directory_names(&[".claude"], &[".claude"]));
        assert!(!matches_directory_names(&[".claude"], &[".claude", "agents"]));
        assert!(matches_directory_names(&[".claude", "agents", "**"], &[".claude", "agents"]));
        assert!(matches_directory_names(
            &[".claude", "agents", "**"],
            &[".claude", "agents", "a", "b"]
        ));
        assert!(matches_directory_names(&["skills", "*"], &["skills", "pdf"]));
        assert!(!matches_directory_names(&["skills", "*"], &["skills"]));
        assert!(matches_directory_names(&[], &[]));
    }
}
