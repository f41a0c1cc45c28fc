//! Claude Code.
//!
//! 2.1.325: with a `CLAUDE.md` of any kind between the root and the start directory it reads no
//! `AGENTS.md` at all; without one it reads them as it reads `CLAUDE.md`, but for directories that have
//! one. It attaches nested files and scoped rules on read, edit and creation, for files below the start
//! directory only, and follows a project's imports only to files there. 2.1.197 reads no `AGENTS.md`.

use super::{Client, DAY, NESTED, ROOT, Read, Seat, Seats, Seen, UP, Unless, read};

const OWN: &[&str] = &["CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"];

const PROJECT: &[Read] = &[
    read("CLAUDE.md", NESTED),
    read(".claude/CLAUDE.md", NESTED),
    read("CLAUDE.local.md", NESTED),
    read("AGENTS.md", NESTED).unless(Unless::Started(OWN)),
    read(".claude/AGENTS.md", NESTED).unless(Unless::Started(OWN)),
    read(".claude/rules", NESTED),
    read(".claude/skills", NESTED),
    read(".claude/agents", ROOT.and(Seats::of(&[Seat::Start]))),
    read("PLUGIN/skills", UP),
    read("PLUGIN/agents", UP),
];

pub(super) const CLAUDE: Client = Client {
    is_scoped_below_start: true,
    imports: &["CLAUDE.md", "CLAUDE.local.md", "AGENTS.md"],
    imports_below_start: true,
    project: PROJECT,
    user: &[
        read(".claude/CLAUDE.md", ROOT),
        read(".claude/rules", ROOT),
        read(".claude/skills", ROOT),
    ],
    ..Client::new("claude", Seen::Run("2.1.325", DAY))
};
