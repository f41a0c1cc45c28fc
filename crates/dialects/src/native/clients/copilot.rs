//! GitHub Copilot: the command line, and VS Code.
//!
//! Copilot CLI 1.0.102: nested files and scoped rules come with a view of a file, wherever it lies; an
//! edit or a creation attaches nothing. The root's own `.claude/CLAUDE.md` and `CLAUDE.local.md` are not
//! read, and neither is the start directory's. `copilot` is the command line.

use super::{
    ANYWHERE, Client, DAY, HERE, ON_READ, ROOT, Read, Scoping, Seat, Seats, Seen, UP, read,
};

/// The root, the start directory, and wherever a file is viewed; not what lies between the two.
const NOT_BETWEEN: Seats = HERE.and(Seats::of(&[Seat::Top, Seat::Below, Seat::Beside]));

const CLI_PROJECT: &[Read] = &[
    read(".github/copilot-instructions.md", NOT_BETWEEN),
    read("AGENTS.md", ANYWHERE),
    read("CLAUDE.md", ANYWHERE),
    read("GEMINI.md", ANYWHERE),
    read(".claude/CLAUDE.md", Seats::of(&[Seat::Between, Seat::Below, Seat::Beside])),
    read(".github/instructions", NOT_BETWEEN).scoped(Scoping::CopilotCli),
    read(".claude/rules", NOT_BETWEEN).scoped(Scoping::CopilotCli),
    read(".github/skills", UP),
    read(".agents/skills", UP),
    read(".claude/skills", UP),
    read(".github/agents", UP),
    read(".claude/agents", UP),
];

const CLI_USER: &[Read] = &[
    read(".copilot/copilot-instructions.md", ROOT),
    read(".copilot/instructions", ROOT).scoped(Scoping::CopilotCli),
    read(".copilot/skills", ROOT),
    read(".agents/skills", ROOT),
];

const fn cli(name: &'static str) -> Client {
    Client {
        attaches: ON_READ,
        imports: &["CLAUDE.md", "AGENTS.md", "copilot-instructions.md"],
        project: CLI_PROJECT,
        user: CLI_USER,
        ..Client::new(name, Seen::Run("1.0.102", DAY))
    }
}

pub(super) const COPILOT: Client = cli("copilot");
pub(super) const CLI: Client = cli("copilot-cli");

/// From its documentation; nested instructions need a setting (`chat.useNestedAgentsMdFiles`), so they
/// are not counted on.
pub(super) const VSCODE: Client = Client {
    imports: &["CLAUDE.md"],
    project: &[
        read(".github/copilot-instructions.md", HERE),
        read("AGENTS.md", HERE),
        read("CLAUDE.md", HERE),
        read(".claude/CLAUDE.md", HERE),
        read("CLAUDE.local.md", HERE),
        read(".github/instructions", HERE),
        read(".claude/rules", HERE),
        read(".github/skills", HERE),
        read(".agents/skills", HERE),
        read(".claude/skills", HERE),
        read(".github/agents", HERE),
        read(".claude/agents", HERE),
    ],
    user: &[
        read(".claude/CLAUDE.md", ROOT),
        read(".copilot/instructions", ROOT),
        read(".copilot/skills", ROOT),
        read(".agents/skills", ROOT),
        read(".claude/skills", ROOT),
    ],
    ..Client::new("copilot-vscode", Seen::Documented(DAY))
};
