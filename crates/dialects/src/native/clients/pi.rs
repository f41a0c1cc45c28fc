//! pi.
//!
//! 0.87.1: one file of instructions for each directory from the root down to the start directory, nothing
//! nested; what is in `.pi` of the start directory alone, and only in a project that its user trusts.

use super::{Client, DAY, HERE, ROOT, Read, Seen, UP, Unless, read};

const PROJECT: &[Read] = &[
    read("AGENTS.override.md", UP),
    read("AGENTS.md", UP)
        .unless(Unless::Replaced(&["AGENTS.override.md"], "pi reads AGENTS.override.md instead")),
    read("CLAUDE.md", UP).unless(Unless::Beside(&["AGENTS.override.md", "AGENTS.md"])),
    read(".pi/APPEND_SYSTEM.md", HERE),
    read(".pi/skills", HERE),
    read(".agents/skills", UP),
];

pub(super) const PI: Client = Client {
    project: PROJECT,
    user: &[
        read(".pi/agent/AGENTS.md", ROOT),
        read(".pi/agent/skills", ROOT),
        read(".agents/skills", ROOT),
    ],
    ..Client::new("pi", Seen::Run("0.87.1", DAY))
};
