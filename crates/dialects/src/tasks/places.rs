//! The locations of tasks, commands, rules and skills in a search root.
//!
//! The order determines the output, so it is fixed data: `.agents` first, then the agents' own
//! locations (ruling T6).

use std::ffi::OsStr;
use std::path::Path;

use super::model::TaskFileKind;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TaskPlace {
    /// A directory whose files count, at any depth.
    Tree(&'static str),
    /// A directory in which an agent keeps rules and much else: [`NOT_RULES`] are skipped.
    AgentTree(&'static str),
    /// One file, with any extension.
    File(&'static str),
    /// A directory of skills, one directory each.
    Skills(&'static str),
}

impl TaskPlace {
    pub(super) fn path(self) -> &'static str {
        match self {
            TaskPlace::Tree(path)
            | TaskPlace::AgentTree(path)
            | TaskPlace::File(path)
            | TaskPlace::Skills(path) => path,
        }
    }
}

/// The directory of files that belong to this format alone.
pub(super) const OWN: &str = ".agents";

/// The skills of the open standard, which many clients read.
pub(super) const SHARED_SKILLS: &str = ".agents/skills";

/// The directory of namespaces: `.agents/namespaces/<name>/{tasks,commands,rules,skills}`.
pub(super) const NAMESPACES: &str = ".agents/namespaces";

const TASKS: &[TaskPlace] = &[
    TaskPlace::Tree(".agents/tasks"),
    TaskPlace::Tree(".cursor/commands"),
    TaskPlace::Tree(".opencode/command"),
];

const COMMANDS: &[TaskPlace] = &[
    TaskPlace::Tree(".agents/commands"),
    TaskPlace::Tree(".cursor/commands"),
    TaskPlace::Tree(".opencode/command"),
];

const RULES: &[TaskPlace] = &[
    TaskPlace::Tree(".agents/rules"),
    TaskPlace::Tree(".cursor/rules"),
    TaskPlace::Tree(".augment/rules"),
    TaskPlace::Tree(".windsurf/rules"),
    TaskPlace::Tree(".opencode/agent"),
    TaskPlace::Tree(".opencode/rules"),
    TaskPlace::File(".github/copilot-instructions.md"),
    TaskPlace::File(".gemini/styleguide.md"),
    TaskPlace::Tree(".github/agents"),
    TaskPlace::File(".augment/guidelines.md"),
    TaskPlace::AgentTree(".codex"),
    TaskPlace::File("AGENTS.md"),
    TaskPlace::AgentTree(".claude"),
    TaskPlace::File("CLAUDE.md"),
    TaskPlace::File("CLAUDE.local.md"),
    TaskPlace::AgentTree(".gemini"),
    TaskPlace::File("GEMINI.md"),
    TaskPlace::File(".cursorrules"),
    TaskPlace::File(".windsurfrules"),
];

const SKILLS: &[TaskPlace] = &[
    TaskPlace::Skills(".agents/skills"),
    TaskPlace::Skills(".cursor/skills"),
    TaskPlace::Skills(".opencode/skills"),
    TaskPlace::Skills(".github/skills"),
    TaskPlace::Skills(".claude/skills"),
    TaskPlace::Skills(".gemini/skills"),
    TaskPlace::Skills(".augment/skills"),
    TaskPlace::Skills(".windsurf/skills"),
    TaskPlace::Skills(".codex/skills"),
];

/// The kind of a search root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holder {
    /// A project, or a directory with the same layout.
    Project,
    /// The user's home directory, where other tools' commands do not count.
    Home,
}

/// Returns the places of a kind, in order.
pub(super) fn task_places(kind: TaskFileKind, holder: Holder) -> &'static [TaskPlace] {
    match (kind, holder) {
        (TaskFileKind::Task, Holder::Project) => TASKS,
        (TaskFileKind::Task, Holder::Home) => &TASKS[..1],
        (TaskFileKind::Command, Holder::Project) => COMMANDS,
        (TaskFileKind::Command, Holder::Home) => &COMMANDS[..1],
        (TaskFileKind::Rule, _) => RULES,
        (TaskFileKind::Skill, _) => SKILLS,
    }
}

/// Returns the directory of a kind in `.agents` and in each namespace.
pub(super) fn folder_name(kind: TaskFileKind) -> &'static str {
    match kind {
        TaskFileKind::Task => "tasks",
        TaskFileKind::Command => "commands",
        TaskFileKind::Rule => "rules",
        TaskFileKind::Skill => "skills",
    }
}

/// Entries beside an agent's rules: other kinds of guidance, and its own state. Sorted.
pub(super) const NOT_RULES: [&str; 28] = [
    "agent",
    "agents",
    "antigravity",
    "cache",
    "command",
    "commands",
    "debug",
    "extensions",
    "file-history",
    "history",
    "hooks",
    "ide",
    "log",
    "logs",
    "memories",
    "node_modules",
    "output-styles",
    "plans",
    "plugins",
    "projects",
    "prompts",
    "sessions",
    "shell-snapshots",
    "skills",
    "statsig",
    "tasks",
    "tmp",
    "todos",
];

/// Returns whether a name at the root is the first of any location.
pub(super) fn is_beginning(name: &str) -> bool {
    let all = [TASKS, COMMANDS, RULES, SKILLS].into_iter().flatten();
    // Asked about every name of a project: comparing beginnings costs less than looking for the first `/`.
    all.map(|place| place.path())
        .filter_map(|path| path.strip_prefix(name))
        .any(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The suffix of a script's name, after the rule's.
pub(super) const SCRIPT_SUFFIX: &str = "-bootstrap";

/// The name of a skill's file in its directory.
pub(super) const SKILL_FILE: &str = "SKILL.md";

/// Returns the name of a Markdown file without its extension.
pub(super) fn markdown_stem(name: &OsStr) -> Option<&OsStr> {
    let path = Path::new(name);
    let extension = path.extension()?;
    (extension == "md" || extension == "mdc").then(|| path.file_stem().unwrap_or_default())
}

/// Returns whether a file name is that of a script.
pub(super) fn is_script(name: &OsStr) -> bool {
    name.to_string_lossy().ends_with(SCRIPT_SUFFIX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_looked_up_are_sorted() {
        assert!(NOT_RULES.is_sorted());
    }

    #[test]
    fn a_beginning_is_the_first_name_of_a_place() {
        assert!(is_beginning(".agents") && is_beginning("CLAUDE.md") && is_beginning(".github"));
        assert!(!is_beginning("src") && !is_beginning("rules"));
    }
}
