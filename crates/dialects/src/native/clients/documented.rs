//! Clients whose facts are from their documentation or their source, and were not seen in a run: they
//! have no program that runs without an account, or nothing to record.
//!
//! Continue's command line (1.5.47) and aider (0.86.2) were run, without a start directory of their own.

use super::{Client, DAY, HERE, HERE_AND_BELOW, ROOT, Scoping, Seen, UP, Unless, read};

/// Reads nothing by itself: not `AGENTS.md`, not `CONVENTIONS.md`. What `read:` in `.aider.conf.yml` names
/// is not known here.
pub(super) const AIDER: Client = Client::new("aider", Seen::Run("0.86.2", DAY));

/// `AGENTS.md` in the start directory and above.
pub(super) const AMP: Client = Client {
    project: &[
        read("AGENTS.md", UP),
        read("AGENT.md", UP).unless(Unless::Beside(&["AGENTS.md"])),
        read("CLAUDE.md", UP).unless(Unless::Beside(&["AGENTS.md", "AGENT.md"])),
        read(".agents/skills", HERE),
    ],
    user: &[read(".config/amp/AGENTS.md", ROOT), read(".config/AGENTS.md", ROOT)],
    ..Client::new("amp", Seen::Documented(DAY))
};

/// Reports disagree whether it loads `AGENTS.md`, and rules in `.agents/rules` without a `trigger`: neither
/// is counted on.
pub(super) const ANTIGRAVITY: Client = Client {
    project: &[read("GEMINI.md", HERE), read(".agents/skills", HERE)],
    user: &[read(".gemini/GEMINI.md", ROOT)],
    ..Client::new("antigravity", Seen::Documented(DAY))
};

pub(super) const AUGMENT: Client = Client {
    project: &[read("AGENTS.md", HERE), read("CLAUDE.md", HERE), read(".agents/skills", HERE)],
    user: &[read(".agents/skills", ROOT)],
    ..Client::new("augment", Seen::Documented(DAY))
};

/// Its command line loads no rule that has `globs`.
pub(super) const CONTINUE: Client = Client {
    project: &[
        read("AGENTS.md", HERE),
        read(".continue/rules", HERE).scoped(Scoping::Unscoped),
        read(".continue/skills", HERE),
        read(".claude/skills", HERE),
    ],
    user: &[read(".continue/rules", ROOT).scoped(Scoping::Unscoped)],
    ..Client::new("continue", Seen::Run("1.5.47", DAY))
};

/// All that exist at the root, without front matter (0.96, its source).
pub(super) const CRUSH: Client = Client {
    project: &[
        read(".github/copilot-instructions.md", HERE),
        read(".cursorrules", HERE),
        read(".cursor/rules", HERE).scoped(Scoping::Ignored),
        read("CLAUDE.md", HERE),
        read("CLAUDE.local.md", HERE),
        read("GEMINI.md", HERE),
        read("CRUSH.md", HERE),
        read("CRUSH.local.md", HERE),
        read("AGENTS.md", HERE),
        read(".agents/skills", HERE),
        read(".crush/skills", HERE),
        read(".claude/skills", HERE),
        read(".cursor/skills", HERE),
    ],
    user: &[
        read(".config/crush/CRUSH.md", ROOT),
        read(".config/AGENTS.md", ROOT),
        read(".config/crush/skills", ROOT),
        read(".config/agents/skills", ROOT),
        read(".agents/skills", ROOT),
        read(".claude/skills", ROOT),
    ],
    ..Client::new("crush", Seen::Documented(DAY))
};

pub(super) const CURSOR: Client = Client {
    project: &[
        read("AGENTS.md", HERE_AND_BELOW),
        read("CLAUDE.md", HERE),
        read(".cursorrules", HERE),
        read(".cursor/rules", HERE),
        read(".agents/skills", HERE_AND_BELOW),
        read(".cursor/skills", HERE_AND_BELOW),
        read(".claude/skills", HERE),
        read(".codex/skills", HERE),
        read(".cursor/agents", HERE),
        read(".claude/agents", HERE),
    ],
    user: &[
        read(".cursor/skills", ROOT),
        read(".agents/skills", ROOT),
        read(".claude/skills", ROOT),
    ],
    ..Client::new("cursor", Seen::Documented(DAY))
};

pub(super) const GOOSE: Client = Client {
    project: &[
        read("AGENTS.md", HERE),
        read(".goosehints", HERE),
        read(".agents/skills", HERE),
        read(".claude/skills", HERE),
    ],
    user: &[read(".agents/skills", ROOT), read(".claude/skills", ROOT)],
    ..Client::new("goose", Seen::Documented(DAY))
};

/// `.junie/AGENTS.md` alone, if there is one.
pub(super) const JUNIE: Client = Client {
    project: &[
        read(".junie/AGENTS.md", HERE),
        read("AGENTS.md", HERE).unless(Unless::Replaced(
            &[".junie/AGENTS.md"],
            "junie reads .junie/AGENTS.md instead",
        )),
        read(".junie/skills", HERE),
        read(".agents/skills", HERE),
    ],
    user: &[read(".agents/skills", ROOT)],
    ..Client::new("junie", Seen::Documented(DAY))
};

pub(super) const KIRO: Client = Client {
    project: &[read(".kiro/steering", HERE), read("AGENTS.md", HERE), read(".kiro/skills", HERE)],
    ..Client::new("kiro", Seen::Documented(DAY))
};

/// Every text file in `.roo/rules`, else `.roorules` (its source).
pub(super) const ROO: Client = Client {
    project: &[
        read(".roo/rules", HERE).scoped(Scoping::Ignored),
        read(".roorules", HERE).unless(Unless::Beside(&[".roo/rules"])),
        read("AGENTS.md", HERE),
        read("AGENT.md", HERE).unless(Unless::Beside(&["AGENTS.md"])),
        read(".roo/skills", HERE),
    ],
    ..Client::new("roo", Seen::Documented(DAY))
};

pub(super) const TRAE: Client = Client {
    project: &[read(".trae/rules", HERE), read(".trae/skills", HERE)],
    ..Client::new("trae", Seen::Documented(DAY))
};

/// The root and the start directory; of two in one directory, `WARP.md`.
pub(super) const WARP: Client = Client {
    project: &[
        read("WARP.md", HERE.and(ROOT)),
        read("AGENTS.md", HERE.and(ROOT))
            .unless(Unless::Replaced(&["WARP.md"], "warp reads WARP.md instead")),
        read(".agents/skills", UP),
        read(".claude/skills", UP),
        read(".codex/skills", UP),
        read(".cursor/skills", UP),
        read(".gemini/skills", UP),
        read(".factory/skills", UP),
        read(".github/skills", UP),
        read(".opencode/skills", UP),
    ],
    user: &[read(".agents/skills", ROOT), read(".claude/skills", ROOT)],
    ..Client::new("warp", Seen::Documented(DAY))
};

pub(super) const WINDSURF: Client = Client {
    project: &[
        read("AGENTS.md", HERE_AND_BELOW),
        read(".windsurfrules", HERE),
        read(".windsurf/rules", HERE),
        read(".devin/rules", HERE),
        read(".windsurf/skills", HERE),
        read(".devin/skills", HERE),
    ],
    user: &[read(".codeium/windsurf/memories/global_rules.md", ROOT)],
    ..Client::new("windsurf", Seen::Documented(DAY))
};

/// Zed reads the first of these that there is.
const FIRST: &[&str] = &[
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

const fn zed(number: usize) -> super::Read {
    read(FIRST[number], HERE).unless(Unless::Beside(FIRST.split_at(number).0))
}

pub(super) const ZED: Client = Client {
    project: &[
        zed(0),
        zed(1),
        zed(2),
        zed(3),
        zed(4),
        zed(5),
        zed(6),
        zed(7),
        zed(8),
        read(".agents/skills", HERE),
    ],
    user: &[read(".config/zed/AGENTS.md", ROOT), read(".agents/skills", ROOT)],
    ..Client::new("zed", Seen::Documented(DAY))
};
