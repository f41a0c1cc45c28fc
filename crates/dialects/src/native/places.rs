//! Which files clients read by themselves: names, forms, and who reads each under which condition.
//!
//! Data only, in the order in which equally general files are delivered. Facts and their sources
//! stand in `docs/reference/client-files.md`; what could not be confirmed is not in here, because a
//! text that a client is wrongly said to load would reach nobody.

/// The clients whose files are known, by name.
pub const CLIENTS: &[&str] = &[
    "augment", "claude", "cline", "codex", "copilot", "cursor", "gemini", "goose", "kilo",
    "opencode", "qwen", "windsurf", "zed",
];

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

/// A client that reads a place by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) client: &'static str,
    /// Whether it also reads the place in directories below the one it was started in, once a file
    /// there is worked on.
    pub(super) is_nested: bool,
    pub(super) unless: Unless,
}

/// What keeps a client from reading a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unless {
    /// Nothing.
    Never,
    /// One of these files in the same directory.
    Beside(&'static [&'static str]),
    /// One of these files in the same directory, which takes its place.
    Replaced(&'static [&'static str], &'static str),
    /// One of these files in any directory on the way to the work.
    OnTheWay(&'static [&'static str]),
}

const fn top(client: &'static str) -> Reading {
    Reading { client, is_nested: false, unless: Unless::Never }
}

const fn nested(client: &'static str) -> Reading {
    Reading { client, is_nested: true, unless: Unless::Never }
}

/// Zed reads the first of these that there is.
const fn zed(before: &'static [&'static str]) -> Reading {
    Reading { client: "zed", is_nested: false, unless: Unless::Beside(before) }
}

/// One place where client files lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// Below the directory that it is about.
    pub(super) path: &'static str,
    pub(super) shape: Shape,
    pub(super) form: Form,
    pub(super) readings: &'static [Reading],
}

impl Place {
    /// Returns the first name of the path: what to look for in a directory.
    pub(super) fn first(&self) -> &'static str {
        self.path.split('/').next().unwrap_or(self.path)
    }
}

const fn file(path: &'static str, form: Form, readings: &'static [Reading]) -> Place {
    Place { path, shape: Shape::File, form, readings }
}

const fn tree(path: &'static str, shape: Shape, form: Form, readings: &'static [Reading]) -> Place {
    Place { path, shape, form, readings }
}

const fn skills(path: &'static str, readings: &'static [Reading]) -> Place {
    Place { path, shape: Shape::Skills, form: Form::Skill, readings }
}

const ZED: &[&str] = &[
    ".rules",
    ".cursorrules",
    ".windsurfrules",
    ".clinerules",
    ".github/copilot-instructions.md",
    "AGENT.md",
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
];

const OVERRIDDEN: Reading = Reading {
    client: "codex",
    is_nested: false,
    unless: Unless::Replaced(&["AGENTS.override.md"], "codex reads AGENTS.override.md instead"),
};
const WITHOUT_CLAUDE_MD: Reading = Reading {
    client: "claude",
    is_nested: false,
    unless: Unless::OnTheWay(&["CLAUDE.md", ".claude/CLAUDE.md"]),
};
const WITHOUT_AGENTS_MD: Reading =
    Reading { client: "opencode", is_nested: true, unless: Unless::Beside(&["AGENTS.md"]) };

/// The places of a project, in every directory of it.
pub(super) const PROJECT: &[Place] = &[
    file(
        "AGENTS.md",
        Form::Instructions,
        &[
            top("augment"),
            WITHOUT_CLAUDE_MD,
            top("cline"),
            OVERRIDDEN,
            top("copilot"),
            nested("cursor"),
            top("goose"),
            top("kilo"),
            nested("opencode"),
            top("qwen"),
            nested("windsurf"),
            zed(ZED.split_at(6).0),
        ],
    ),
    file(".claude/AGENTS.md", Form::Instructions, &[WITHOUT_CLAUDE_MD]),
    file("AGENTS.override.md", Form::Instructions, &[top("codex")]),
    file("AGENT.md", Form::Instructions, &[zed(ZED.split_at(5).0)]),
    file(
        "CLAUDE.md",
        Form::Instructions,
        &[
            top("augment"),
            nested("claude"),
            top("copilot"),
            top("cursor"),
            WITHOUT_AGENTS_MD,
            zed(ZED.split_at(7).0),
        ],
    ),
    file(".claude/CLAUDE.md", Form::Instructions, &[nested("claude"), top("copilot")]),
    file("CLAUDE.local.md", Form::Instructions, &[nested("claude"), top("copilot")]),
    file(
        "GEMINI.md",
        Form::Instructions,
        &[top("copilot"), nested("gemini"), zed(ZED.split_at(8).0)],
    ),
    file("QWEN.md", Form::Instructions, &[top("qwen")]),
    file(".goosehints", Form::Instructions, &[top("goose")]),
    file(".rules", Form::Legacy, &[zed(&[])]),
    file(
        ".github/copilot-instructions.md",
        Form::Legacy,
        &[top("copilot"), zed(ZED.split_at(4).0)],
    ),
    file(".cursorrules", Form::Legacy, &[top("cline"), top("cursor"), zed(ZED.split_at(1).0)]),
    file(".windsurfrules", Form::Legacy, &[top("cline"), top("windsurf"), zed(ZED.split_at(2).0)]),
    file(".clinerules", Form::Cline, &[top("cline"), zed(ZED.split_at(3).0)]),
    tree(".clinerules", CLINE, Form::Cline, &[top("cline")]),
    tree(".cline/rules", CLINE, Form::Cline, &[top("cline")]),
    tree(".claude/rules", DEEP_MARKDOWN, Form::Claude, &[nested("claude"), top("copilot")]),
    tree(".cursor/rules", CURSOR, Form::Cursor, &[top("cursor")]),
    tree(".github/instructions", COPILOT, Form::Copilot, &[top("copilot")]),
    tree(".windsurf/rules", MARKDOWN, Form::Windsurf, &[top("windsurf")]),
    tree(".devin/rules", MARKDOWN, Form::Windsurf, &[top("windsurf")]),
    skills(
        ".agents/skills",
        &[
            top("augment"),
            top("codex"),
            top("copilot"),
            nested("cursor"),
            top("gemini"),
            top("goose"),
            top("kilo"),
            top("opencode"),
            top("zed"),
        ],
    ),
    skills(
        ".claude/skills",
        &[
            nested("claude"),
            top("cline"),
            top("copilot"),
            top("cursor"),
            top("goose"),
            top("opencode"),
        ],
    ),
    skills(".github/skills", &[top("copilot")]),
    skills(".cursor/skills", &[nested("cursor")]),
    skills(".opencode/skills", &[top("opencode")]),
    skills(".opencode/skill", &[top("opencode")]),
    skills(".codex/skills", &[top("codex"), top("cursor")]),
    skills(".gemini/skills", &[top("gemini")]),
    skills(".cline/skills", &[top("cline")]),
    skills(".clinerules/skills", &[top("cline")]),
    skills(".windsurf/skills", &[top("windsurf")]),
    skills(".devin/skills", &[top("windsurf")]),
    tree(
        ".claude/agents",
        DEEP_MARKDOWN,
        Form::Agent,
        &[top("claude"), top("copilot"), top("cursor")],
    ),
    tree(".github/agents", MARKDOWN, Form::Agent, &[top("copilot")]),
    tree(".cursor/agents", MARKDOWN, Form::Agent, &[top("cursor")]),
    tree(".opencode/agents", DEEP_MARKDOWN, Form::Agent, &[top("opencode")]),
    tree(".opencode/agent", DEEP_MARKDOWN, Form::Agent, &[top("opencode")]),
];

/// The places of the user, below the home directory.
pub(super) const USER: &[Place] = &[
    file(".config/opencode/AGENTS.md", Form::Instructions, &[top("opencode")]),
    file(".codex/AGENTS.md", Form::Instructions, &[top("codex")]),
    file(".config/zed/AGENTS.md", Form::Instructions, &[top("zed")]),
    file(
        ".claude/CLAUDE.md",
        Form::Instructions,
        &[
            top("claude"),
            top("copilot"),
            Reading {
                client: "opencode",
                is_nested: false,
                unless: Unless::Beside(&[".config/opencode/AGENTS.md"]),
            },
        ],
    ),
    file(".gemini/GEMINI.md", Form::Instructions, &[top("gemini")]),
    file(".copilot/copilot-instructions.md", Form::Legacy, &[top("copilot")]),
    file(".codeium/windsurf/memories/global_rules.md", Form::Legacy, &[top("windsurf")]),
    tree(".claude/rules", DEEP_MARKDOWN, Form::Claude, &[top("claude")]),
    tree(".copilot/instructions", COPILOT, Form::Copilot, &[top("copilot")]),
    tree(".cline/rules", CLINE, Form::Cline, &[top("cline")]),
    skills(
        ".agents/skills",
        &[
            top("augment"),
            top("codex"),
            top("copilot"),
            top("cursor"),
            top("gemini"),
            top("goose"),
            top("opencode"),
            top("zed"),
        ],
    ),
    skills(
        ".claude/skills",
        &[top("claude"), top("copilot"), top("cursor"), top("goose"), top("opencode")],
    ),
    skills(".copilot/skills", &[top("copilot")]),
    skills(".config/opencode/skills", &[top("opencode")]),
    skills(".cursor/skills", &[top("cursor")]),
    skills(".gemini/skills", &[top("gemini")]),
];

/// Returns whether a client follows `@path` in the files that it reads at a place.
pub(super) fn follows_imports(client: &str, place: &Place) -> bool {
    let name = place.path.rsplit('/').next().unwrap_or(place.path);
    match client {
        "claude" => matches!(name, "CLAUDE.md" | "CLAUDE.local.md" | "AGENTS.md"),
        "copilot" => matches!(name, "CLAUDE.md" | "AGENTS.md" | "copilot-instructions.md"),
        "gemini" => name == "GEMINI.md",
        _ => false,
    }
}

/// Returns whether any client follows `@path` in the files of a place.
pub(super) fn has_imports(place: &Place) -> bool {
    ["claude", "copilot", "gemini"].iter().any(|client| follows_imports(client, place))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_client_that_reads_something_is_listed() {
        let readings = PROJECT.iter().chain(USER).flat_map(|place| place.readings);
        let found: BTreeSet<&str> = readings.map(|reading| reading.client).collect();
        let listed: BTreeSet<&str> = CLIENTS.iter().copied().collect();
        assert_eq!(found, listed);
        assert!(CLIENTS.is_sorted());
    }

    /// The set of places that are there is one number.
    #[test]
    fn there_are_at_most_64_places() {
        assert!(PROJECT.len() <= 64 && USER.len() <= 64);
    }

    #[test]
    fn conditions_name_places() {
        for places in [PROJECT, USER] {
            for reading in places.iter().flat_map(|place| place.readings) {
                let (Unless::Beside(names) | Unless::Replaced(names, _) | Unless::OnTheWay(names)) =
                    reading.unless
                else {
                    continue;
                };
                for name in names {
                    assert!(places.iter().any(|place| place.path == *name), "{name}");
                }
            }
        }
    }
}
