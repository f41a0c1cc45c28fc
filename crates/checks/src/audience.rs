//! The project that a text is about: the one that it was found in, or that of its readers.
//!
//! A skill, a plugin or a template is written here and followed somewhere else. What it says of files, scripts and versions
//! is about that other project, and only what lies in its own directory can be held against the tree.

use std::path::Path;

use brief_dialects::native::is_elsewhere;
use brief_dialects::{GuidanceText, ProjectFiles};
use brief_system::paths::to_slashed;

use crate::words::split_words;

/// The project that a text is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Audience {
    /// The one that it is in.
    Here,
    /// Perhaps the one that it is in: a skill among the project's own files for its clients, which often is a copy of another's.
    Perhaps,
    Readers,
}

/// The manifests that make a directory a plugin or a collection of plugins.
const MANIFESTS: [&str; 6] = split_words(
    ".claude-plugin/plugin.json .claude-plugin/marketplace.json .codex-plugin/plugin.json \
     .cursor-plugin/plugin.json .github/plugin/plugin.json gemini-extension.json",
);

/// Directories of items for others, unless they belong to a client's directory of the project.
const COLLECTIONS: [&str; 13] = split_words(
    "agents commands prompts skills instructions chatmodes workflows output-styles plugins \
     subagents modes components extensions",
);

impl Audience {
    /// Returns whom a text is for.
    pub(crate) fn from_text(
        text: &GuidanceText<'_>,
        root: &Path,
        files: &ProjectFiles,
    ) -> Audience {
        let Ok(below) = text.source.path().strip_prefix(root) else { return Audience::Readers };
        let path = to_slashed(below);
        if is_elsewhere(below) {
            return Audience::Readers;
        }
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let is_of_client = directory.split('/').any(|part| part.starts_with('.'));
        if is_of_client && (has_original(&path, files) || is_edition(&path, files)) {
            return Audience::Readers;
        }
        if text.is_skill || skill_directory(directory, files).is_some() {
            return if is_of_client { Audience::Perhaps } else { Audience::Readers };
        }
        if is_of_project(name) || is_of_client {
            return Audience::Here;
        }
        let is_in_plugin = with_parents(directory).any(|above| has_manifest(above, files));
        let is_in_collection = directory.split('/').any(|part| COLLECTIONS.contains(&part));
        if is_in_plugin || is_in_collection { Audience::Readers } else { Audience::Here }
    }
}

/// Returns whether a file in a client's directory is that client's edition of an item that is written for others:
/// `.kiro/agents/x.md` beside `agents/x.md`.
fn has_original(path: &str, files: &ProjectFiles) -> bool {
    let hidden = path.match_indices('.').map(|(at, _)| at);
    let mut starts = hidden.filter(|&at| at == 0 || path[..at].ends_with('/'));
    starts.any(|at| {
        let (base, below) = path.split_at(at);
        let Some((client, item)) = below.split_once('/') else { return false };
        if client == ".claude" {
            return false;
        }
        let first = item.split('/').next().unwrap_or_default();
        COLLECTIONS.contains(&first)
            && item != first
            && has_file(files, base.trim_end_matches('/'), item)
    })
}

/// Returns whether an item in a client's directory is a part of the plugin that the project is. Its own ones for work on
/// the plugin are in `.claude`.
fn is_edition(path: &str, files: &ProjectFiles) -> bool {
    let Some((client, below)) = path.split_once('/') else { return false };
    let is_item = below.split('/').rev().skip(1).any(|name| COLLECTIONS.contains(&name));
    client.starts_with('.')
        && !matches!(client, ".claude" | ".github" | ".agents")
        && is_item
        && has_manifest("", files)
}

/// Returns the nearest directory above that holds a skill, `/`-separated below the root.
pub(crate) fn skill_directory<'d>(directory: &'d str, files: &ProjectFiles) -> Option<&'d str> {
    with_parents(directory).find(|above| has_file(files, above, "SKILL.md"))
}

fn has_manifest(directory: &str, files: &ProjectFiles) -> bool {
    MANIFESTS.iter().any(|manifest| has_file(files, directory, manifest))
}

fn has_file(files: &ProjectFiles, directory: &str, path: &str) -> bool {
    let path = if directory.is_empty() { path.to_owned() } else { format!("{directory}/{path}") };
    files.files.binary_search(&path).is_ok()
}

/// Returns a directory and those above it, the root last.
fn with_parents(directory: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(directory), |below| match below {
        &"" => None,
        below => Some(below.rsplit_once('/').map_or("", |(above, _)| above)),
    })
}

/// Returns whether a name is that of a text about the project: `AGENTS.md`, `CLAUDE.local.md`, `.cursorrules`, `AGENTS.yaml`.
fn is_of_project(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name);
    stem.is_empty()
        || stem.len() > 3
            && stem.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_')
            && stem != "SKILL"
            && stem != "README"
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use brief_syntax::Source;

    use super::*;

    fn audience(path: &str, others: &[&str]) -> Audience {
        let files = others.iter().chain([&path]).map(|path| (*path).to_owned());
        let mut files: Vec<String> = files.collect();
        files.sort();
        let files = ProjectFiles { files, ..ProjectFiles::default() };
        let source = Arc::new(Source::new(Path::new("/p").join(path), ""));
        let is_skill = path.ends_with("/SKILL.md");
        let text = GuidanceText {
            dialect: "client-files",
            source: &source,
            body_start: 0,
            is_skill,
            entry: None,
        };
        Audience::from_text(&text, Path::new("/p"), &files)
    }

    #[test]
    fn texts_for_other_projects_are_told_apart() {
        for path in [
            "AGENTS.md",
            "web/CLAUDE.local.md",
            ".cursor/rules/a.mdc",
            ".claude/agents/x.md",
            ".cursorrules",
            "docs/style.md",
            "shop/.context/a.md",
            "plugins/one/AGENTS.md",
        ] {
            assert_eq!(audience(path, &[]), Audience::Here, "{path}");
        }
        for path in [".claude/skills/x/SKILL.md", "web/.agents/skills/x/SKILL.md"] {
            assert_eq!(audience(path, &[]), Audience::Perhaps, "{path}");
        }
        assert_eq!(
            audience(".claude/skills/x/AGENTS.md", &[".claude/skills/x/SKILL.md"]),
            Audience::Perhaps
        );
        for path in [
            "skills/x/SKILL.md",
            "plugins/one/commands/a.md",
            "agents/a.agent.md",
            "create-app/templates/AGENTS.md",
            "create-app/template-react/AGENTS.md",
        ] {
            assert_eq!(audience(path, &[]), Audience::Readers, "{path}");
        }
        assert_eq!(audience("one/do/a.md", &["one/.claude-plugin/plugin.json"]), Audience::Readers);
        assert_eq!(audience("CLAUDE.md", &[".claude-plugin/plugin.json"]), Audience::Here);
    }
}
