//! Recognizes the files of a large repository that could be guidance, by their names alone.
//!
//! A repository above the limit for files is mostly something else. Names are enough to find the files that
//! items, clients and tasks use; every file in an item's directory belongs to the item.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use brief_dialects::native;
use brief_dialects::portable::ItemKind;

/// File names that are guidance in any directory, or describe plugins.
const NAMES: [&str; 9] = [
    "AGENTS.yaml",
    "AGENTS.yml",
    "brief.toml",
    "brief.lock",
    "plugin.json",
    "marketplace.json",
    "gemini-extension.json",
    "hooks.json",
    "mcp.json",
];

/// Directories whose Markdown files are pages for people.
const PAGES: [&str; 7] =
    ["docs", "doc", "documentation", "website", "site", "blog", "node_modules"];

/// Endings of file names that are guidance.
const ENDINGS: [&str; 6] =
    [".bundle.md", ".bundle.yaml", ".mdc", ".instructions.md", ".agent.md", ".prompt.md"];

/// Keeps the files that could be guidance.
pub(crate) fn retain_guidance<T>(files: &mut Vec<T>, path: impl Fn(&T) -> &PathBuf) {
    let is_entrypoint = |path: &Path| {
        path.file_name()
            .is_some_and(|name| ItemKind::ALL.iter().any(|kind| name == kind.entrypoint()))
    };
    let above = |file: &T| path(file).parent().map(Path::to_owned);
    let items: BTreeSet<PathBuf> = files
        .iter()
        .filter(|file| is_entrypoint(path(file)))
        .filter_map(above)
        // With an item at the top, every file would belong to it.
        .filter(|directory| !directory.as_os_str().is_empty())
        .collect();
    files.retain(|file| {
        let path = path(file);
        let in_item = path.ancestors().skip(1).any(|directory| items.contains(directory));
        in_item || is_guidance(path)
    });
}

fn is_guidance(path: &Path) -> bool {
    let mut names = path.iter().map(|name| name.to_string_lossy());
    // Hidden directories hold files of clients (`.claude`), tasks and hosted context.
    if names.any(|name| name.starts_with('.')) {
        return true;
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // Agents, commands and rules in one file have any name; only their content tells.
    let is_page = || path.iter().any(|name| PAGES.iter().any(|page| name == *page));
    if name.ends_with(".md") && !is_page() {
        return true;
    }
    let is_named = NAMES.contains(&&*name) || native::is_beginning(&name);
    let is_in = |directory: &str| path.iter().any(|name| name == directory);
    let is_command = || {
        name.ends_with(".toml") && is_in("commands") || name.ends_with(".yaml") && is_in("recipes")
    };
    is_named || ENDINGS.iter().any(|ending| name.ends_with(ending)) || is_command()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guidance_is_told_by_names() {
        let paths = [
            "src/main.rs",
            "skills/pdf/SKILL.md",
            "skills/pdf/scripts/read.py",
            "deep/rules/money/RULE.md",
            "deep/rules/other.md",
            "categories/web/react.md",
            "plugins/x/plugin.json",
            "plugins/x/commands/run.toml",
            "recipes/release.yaml",
            "deploy/values.yaml",
            ".claude/rules/a.md",
            "pkg/.cursor/rules/b.mdc",
            "pkg/AGENTS.md",
            "base.bundle.md",
            "SKILL.md",
            "docs/guide.md",
        ];
        let mut files: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
        retain_guidance(&mut files, |path| path);
        let kept: Vec<&str> = files.iter().filter_map(|path| path.to_str()).collect();
        assert_eq!(
            kept,
            [
                "skills/pdf/SKILL.md",
                "skills/pdf/scripts/read.py",
                "deep/rules/money/RULE.md",
                "deep/rules/other.md",
                "categories/web/react.md",
                "plugins/x/plugin.json",
                "plugins/x/commands/run.toml",
                "recipes/release.yaml",
                ".claude/rules/a.md",
                "pkg/.cursor/rules/b.mdc",
                "pkg/AGENTS.md",
                "base.bundle.md",
                "SKILL.md",
            ]
        );
    }
}
