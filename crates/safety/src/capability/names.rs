//! The names of files that guide agents.

/// Directories in which clients look for guidance and settings.
const DIRECTORIES: [&str; 34] = [
    ".agent",
    ".agents",
    ".aider",
    ".amazonq",
    ".amp",
    ".augment",
    ".claude",
    ".claude-plugin",
    ".clinerules",
    ".codebuddy",
    ".codeium",
    ".codex",
    ".context",
    ".continue",
    ".copilot",
    ".cursor",
    ".cursor-plugin",
    ".devin",
    ".factory",
    ".gemini",
    ".goose",
    ".junie",
    ".kilocode",
    ".kiro",
    ".opencode",
    ".openhands",
    ".pi",
    ".qoder",
    ".qwen",
    ".roo",
    ".rules",
    ".tabnine",
    ".trae",
    ".windsurf",
];

/// Directories in `.github` that Copilot reads.
const GITHUB: [&str; 7] =
    ["instructions", "prompts", "agents", "chatmodes", "skills", "hooks", "copilot"];

/// Directories of plugins and registries whose Markdown files guide agents.
const FOLDERS: [&str; 9] = [
    "agents",
    "chatmodes",
    "commands",
    "instructions",
    "modes",
    "prompts",
    "rules",
    "skills",
    "tasks",
];

/// Directories of pages for people: `docs/rules` of a linter describes its rules.
const PAGES: [&str; 7] = ["blog", "doc", "docs", "documentation", "site", "website", "wiki"];

/// Names of files that clients read, in lower case.
const FILES: [&str; 26] = [
    ".aider.conf.yml",
    ".cursorrules",
    ".gitmodules",
    ".goosehints",
    ".mcp.json",
    ".roomodes",
    ".rules",
    ".windsurfrules",
    "agent.md",
    "agents.md",
    "agents.override.md",
    "agents.yaml",
    "agents.yml",
    "claude.local.md",
    "claude.md",
    "conventions.md",
    "copilot-instructions.md",
    "crush.json",
    "gemini.md",
    "mcp.json",
    "opencode.json",
    "opencode.jsonc",
    "qwen.md",
    "rule.md",
    "skill.md",
    "warp.md",
];

/// Endings of the names of files that clients read.
const ENDINGS: [&str; 7] = [
    ".agent.md",
    ".bundle.md",
    ".chatmode.md",
    ".instructions.md",
    ".mdc",
    ".prompt.md",
    "-bootstrap",
];

/// Returns whether a file is guidance or configuration of an agent, by its path below the root,
/// with `/`.
pub fn is_guidance(slashed: &str) -> bool {
    let (above, name) = slashed.rsplit_once('/').unwrap_or(("", slashed));
    let small = name.to_lowercase();
    let mut names = above.split('/');
    let is_below = names.clone().any(|name| DIRECTORIES.binary_search(&name).is_ok());
    let of_github =
        names.any(|name| name == ".github") && above.split('/').any(|name| GITHUB.contains(&name));
    let is_text = matches!(small.rsplit_once('.'), Some((_, "md" | "mdc")));
    let folder = above.split('/').position(|name| FOLDERS.binary_search(&name).is_ok());
    let is_page = |folder: usize| {
        above.split('/').take(folder).any(|name| PAGES.binary_search(&name).is_ok())
    };
    let in_folder = is_text && folder.is_some_and(|folder| !is_page(folder));
    is_below
        || of_github
        || in_folder
        || slashed.ends_with("hooks/hooks.json")
        || FILES.binary_search(&small.as_str()).is_ok()
        || ENDINGS.iter().any(|ending| small.ends_with(ending))
}
