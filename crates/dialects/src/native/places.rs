//! Which files clients read by themselves: names and forms. Who reads which is in `clients`.
//!
//! Data only, in the order in which equally general files are delivered.

/// How a file is written, and so when it applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Plain text for everything below its directory.
    Instructions,
    /// Plain text of one client, for everything below its directory.
    Legacy,
    /// `paths`.
    Claude,
    /// `alwaysApply`, `globs`, `description`.
    Cursor,
    /// `applyTo`.
    Copilot,
    /// `paths`, and text when the YAML is not valid.
    Cline,
    /// `trigger`, `globs`.
    Windsurf,
    /// `paths`: a list, or one text.
    Qwen,
    /// `globs`, `alwaysApply`.
    Continue,
    /// `inclusion`, `fileMatchPattern`.
    Kiro,
    /// Text, for everything below its directory.
    Plain,
    /// A `SKILL.md`.
    Skill,
    /// A subagent.
    Agent,
}

impl Form {
    /// Returns what a file of this form is called in an answer.
    pub(super) fn kind(self) -> &'static str {
        match self {
            Form::Instructions => "instructions",
            Form::Skill => "skill",
            Form::Agent => "agent",
            _ => "rule",
        }
    }
}

/// What lies at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// One file.
    File,
    /// A directory of files.
    Tree(Names),
    /// A directory of directories with a `SKILL.md` each.
    Skills,
}

/// The files of a directory that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Names {
    /// How their names end.
    pub(super) endings: &'static [&'static str],
    /// Whether directories in it are entered.
    pub(super) is_deep: bool,
    /// The directories that are not.
    pub(super) skipped: &'static [&'static str],
    /// A name that looks right and is not read, with the reason.
    pub(super) unread: Option<(&'static str, &'static str)>,
}

const fn names(endings: &'static [&'static str], is_deep: bool) -> Names {
    Names { endings, is_deep, skipped: &[], unread: None }
}

const MARKDOWN: Shape = Shape::Tree(names(&[".md"], false));
const DEEP_MARKDOWN: Shape = Shape::Tree(names(&[".md"], true));
const COPILOT: Shape = Shape::Tree(names(&[".instructions.md"], true));
const CURSOR: Shape = Shape::Tree(Names {
    unread: Some((".md", "Cursor reads only `.mdc` files here")),
    ..names(&[".mdc"], true)
});
const CLINE: Shape = Shape::Tree(Names {
    skipped: &["hooks", "skills", "workflows"],
    ..names(&[".md", ".txt"], true)
});

/// One place where client files lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// Below the directory that it is about.
    pub(super) path: &'static str,
    /// What clients know it by: the path, but for a directory that may be a file, too.
    pub(super) key: &'static str,
    pub(super) shape: Shape,
    pub(super) form: Form,
}

impl Place {
    /// Returns the first name of the path: what to look for in a directory.
    pub(super) fn first(&self) -> &'static str {
        self.path.split('/').next().unwrap_or(self.path)
    }
}

const fn file(path: &'static str, form: Form) -> Place {
    Place { path, key: path, shape: Shape::File, form }
}

const fn tree(path: &'static str, shape: Shape, form: Form) -> Place {
    Place { path, key: path, shape, form }
}

const fn skills(path: &'static str) -> Place {
    Place { path, key: path, shape: Shape::Skills, form: Form::Skill }
}

/// The places of a project, in every directory of it.
pub(super) const PROJECT: &[Place] = &[
    file("AGENTS.md", Form::Instructions),
    file(".claude/AGENTS.md", Form::Instructions),
    file(".agents/AGENTS.md", Form::Instructions),
    file(".junie/AGENTS.md", Form::Instructions),
    file("AGENTS.override.md", Form::Instructions),
    file("AGENT.md", Form::Instructions),
    file("CLAUDE.md", Form::Instructions),
    file(".claude/CLAUDE.md", Form::Instructions),
    file("CLAUDE.local.md", Form::Instructions),
    file("GEMINI.md", Form::Instructions),
    file("QWEN.md", Form::Instructions),
    file(".qwen/QWEN.local.md", Form::Instructions),
    file("CRUSH.md", Form::Instructions),
    file("CRUSH.local.md", Form::Instructions),
    file("WARP.md", Form::Instructions),
    file(".pi/APPEND_SYSTEM.md", Form::Instructions),
    file(".goosehints", Form::Instructions),
    file(".rules", Form::Legacy),
    file(".github/copilot-instructions.md", Form::Legacy),
    file(".cursorrules", Form::Legacy),
    file(".windsurfrules", Form::Legacy),
    file(".roorules", Form::Legacy),
    file(".clinerules", Form::Cline),
    Place { key: ".clinerules/", ..tree(".clinerules", CLINE, Form::Cline) },
    tree(".cline/rules", CLINE, Form::Cline),
    tree(".claude/rules", DEEP_MARKDOWN, Form::Claude),
    tree(".cursor/rules", CURSOR, Form::Cursor),
    tree(".github/instructions", COPILOT, Form::Copilot),
    tree(".windsurf/rules", MARKDOWN, Form::Windsurf),
    tree(".devin/rules", MARKDOWN, Form::Windsurf),
    tree(".qwen/rules", DEEP_MARKDOWN, Form::Qwen),
    tree(".kilo/rules", MARKDOWN, Form::Plain),
    tree(".kilocode/rules", MARKDOWN, Form::Plain),
    tree(".continue/rules", MARKDOWN, Form::Continue),
    tree(".kiro/steering", MARKDOWN, Form::Kiro),
    tree(".trae/rules", MARKDOWN, Form::Cursor),
    tree(".roo/rules", DEEP_MARKDOWN, Form::Plain),
    skills(".agents/skills"),
    skills(".claude/skills"),
    skills(".github/skills"),
    skills(".cursor/skills"),
    skills(".opencode/skills"),
    skills(".opencode/skill"),
    skills(".codex/skills"),
    skills(".gemini/skills"),
    skills(".cline/skills"),
    skills(".clinerules/skills"),
    skills(".windsurf/skills"),
    skills(".devin/skills"),
    skills(".qwen/skills"),
    skills(".kilo/skills"),
    skills(".kilocode/skills"),
    skills(".pi/skills"),
    skills(".factory/skills"),
    skills(".crush/skills"),
    skills(".continue/skills"),
    skills(".kiro/skills"),
    skills(".junie/skills"),
    skills(".roo/skills"),
    skills(".trae/skills"),
    tree(".claude/agents", DEEP_MARKDOWN, Form::Agent),
    tree(".github/agents", MARKDOWN, Form::Agent),
    tree(".cursor/agents", MARKDOWN, Form::Agent),
    tree(".opencode/agents", DEEP_MARKDOWN, Form::Agent),
    tree(".opencode/agent", DEEP_MARKDOWN, Form::Agent),
    tree(".kilo/agents", DEEP_MARKDOWN, Form::Agent),
];

/// The places of the user, below the home directory.
pub(super) const USER: &[Place] = &[
    file(".config/opencode/AGENTS.md", Form::Instructions),
    file(".config/kilo/AGENTS.md", Form::Instructions),
    file(".config/amp/AGENTS.md", Form::Instructions),
    file(".config/AGENTS.md", Form::Instructions),
    file(".config/crush/CRUSH.md", Form::Instructions),
    file(".codex/AGENTS.md", Form::Instructions),
    file(".config/zed/AGENTS.md", Form::Instructions),
    file(".claude/CLAUDE.md", Form::Instructions),
    file(".agents/AGENTS.md", Form::Instructions),
    file(".factory/AGENTS.md", Form::Instructions),
    file(".pi/agent/AGENTS.md", Form::Instructions),
    file(".gemini/GEMINI.md", Form::Instructions),
    file(".qwen/QWEN.md", Form::Instructions),
    file(".qwen/AGENTS.md", Form::Instructions),
    file(".copilot/copilot-instructions.md", Form::Legacy),
    file(".codeium/windsurf/memories/global_rules.md", Form::Legacy),
    tree(".claude/rules", DEEP_MARKDOWN, Form::Claude),
    tree(".copilot/instructions", COPILOT, Form::Copilot),
    tree(".cline/rules", CLINE, Form::Cline),
    tree(".qwen/rules", DEEP_MARKDOWN, Form::Qwen),
    tree(".continue/rules", MARKDOWN, Form::Continue),
    skills(".agents/skills"),
    skills(".claude/skills"),
    skills(".copilot/skills"),
    skills(".config/opencode/skills"),
    skills(".config/kilo/skills"),
    skills(".config/crush/skills"),
    skills(".config/agents/skills"),
    skills(".cursor/skills"),
    skills(".codex/skills"),
    skills(".gemini/skills"),
    skills(".cline/skills"),
    skills(".qwen/skills"),
    skills(".kilo/skills"),
    skills(".pi/agent/skills"),
    skills(".factory/skills"),
];

/// What a plugin of Claude Code has, below its own directory.
pub(super) const PLUGIN_SKILLS: Place = skills("PLUGIN/skills");
pub(super) const PLUGIN_AGENTS: Place = tree("PLUGIN/agents", MARKDOWN, Form::Agent);

#[cfg(test)]
mod tests {
    use super::*;

    /// The set of places that are there is one number.
    #[test]
    fn there_are_at_most_128_places() {
        assert!(PROJECT.len() <= 128 && USER.len() <= 128);
    }
}
