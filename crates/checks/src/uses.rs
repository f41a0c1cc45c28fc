//! The files of a project that may use another file by its name: scripts, workflows, manifests, pages at the top.
//!
//! A file that no client reads by itself may be the input of a workflow (`.github/prompts/notes.md`), or a page that
//! another one points to. Renaming it would break what uses it.

use std::path::Path;

use brief_system::{Dir, FileKind, System};

use crate::references::has_extension;
use crate::words::split_words;

/// Directories of what runs, below the top.
const DIRECTORIES: [&str; 24] = split_words(
    ".github .gitlab .circleci .buildkite .azuredevops .azure-pipelines .husky .ci ci script \
     scripts tool tools bin build hack dev eng tasks xtask automation infra .devcontainer .vscode",
);

/// Ends of the names of files that name others.
const EXTENSIONS: [&str; 27] = split_words(
    "yml yaml sh bash zsh fish ps1 py js mjs cjs ts mts rb go rs toml json jsonc md mk gradle kts \
     lua pl cmd nix",
);

/// Names of such files without an end.
const NAMES: [&str; 5] = split_words("Makefile makefile Justfile justfile Rakefile");

/// The limit for directories one in another.
const DEPTH: usize = 5;

/// The limit for files that are read.
const MOST_FILES: usize = 4_000;

/// The limit for the bytes of one such file. A larger one is data.
const FILE_BYTES: u64 = 256 * 1024;

/// The texts of what may use a file.
#[derive(Debug, Default)]
pub struct UsingTexts {
    /// The path of each, `/`-separated below the root, and its content.
    texts: Vec<(String, String)>,
}

impl UsingTexts {
    /// Reads the texts of a project. It costs a look at many files, so ask only if there is something to ask about.
    pub fn read(system: &dyn System, root: &Path) -> UsingTexts {
        let mut found = UsingTexts::default();
        let Ok(top) = system.open_dir(root) else { return found };
        found.read_files(top.as_ref(), "");
        for directory in DIRECTORIES {
            if let Ok(below) = top.open_dir_below(Path::new(directory)) {
                found.read_tree(below.as_ref(), directory, DEPTH);
            }
        }
        found
    }

    /// Adds the text of a file.
    pub fn add_text(&mut self, path: &str, text: String) {
        self.texts.push((path.to_owned(), text));
    }

    fn read_files(&mut self, directory: &dyn Dir, path: &str) -> Vec<String> {
        let mut directories = Vec::new();
        for entry in directory.first_entries(MOST_FILES).unwrap_or_default() {
            let Some(name) = entry.name.to_str() else { continue };
            let below = if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
            let is_text = has_extension(name, &EXTENSIONS) || NAMES.contains(&name);
            match entry.kind {
                FileKind::Directory => directories.push(name.to_owned()),
                FileKind::File if is_text && self.texts.len() < MOST_FILES => {
                    if let Ok(bytes) = directory.read(&entry.name, FILE_BYTES) {
                        self.add_text(&below, String::from_utf8_lossy(&bytes).into_owned());
                    }
                }
                _ => {}
            }
        }
        directories
    }

    fn read_tree(&mut self, directory: &dyn Dir, path: &str, depth: usize) {
        for name in self.read_files(directory, path) {
            if depth > 0
                && let Ok(below) = directory.open_dir(name.as_ref())
            {
                self.read_tree(below.as_ref(), &format!("{path}/{name}"), depth - 1);
            }
        }
    }

    /// Returns whether one of the texts names a file, `/`-separated below the root: from the top of the project, from its
    /// own directory, or by a name that few files have.
    pub fn name_file(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let is_distinct = name.rsplit_once('.').is_some_and(|(stem, _)| stem.len() > 3);
        self.texts.iter().filter(|(from, _)| from != path).any(|(from, text)| {
            let directory = from.rsplit_once('/').map_or("", |(directory, _)| directory);
            let beside = path.strip_prefix(directory).and_then(|rest| rest.strip_prefix('/'));
            contains_name(text, path)
                || beside.is_some_and(|beside| contains_name(text, beside))
                || is_distinct && contains_name(text, name)
        })
    }
}

/// Returns whether a text contains a name that is no part of a longer one.
fn contains_name(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_');
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        !before.is_some_and(|letter| is_part(letter) || letter == '.' && name.starts_with('.'))
            && !after.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_from_the_top_from_beside_or_alone() {
        let named = |from: &str, text: &str, path: &str| {
            let mut texts = UsingTexts::default();
            texts.add_text(from, text.to_owned());
            texts.name_file(path)
        };
        assert!(named(
            ".github/workflows/a.yml",
            "cat .github/prompts/notes.md",
            ".github/prompts/notes.md"
        ));
        assert!(named(".github/a.sh", "cat prompts/ab.md", ".github/prompts/ab.md"));
        assert!(named("run.py", "join(HERE, 'notes.md')", ".github/prompts/notes.md"));
        assert!(!named("run.py", "release-notes.md", ".github/prompts/notes.md"));
        assert!(!named("run.py", "ab.md", ".github/prompts/ab.md"));
        assert!(!named(".github/prompts/notes.md", "notes.md", ".github/prompts/notes.md"));
    }
}
