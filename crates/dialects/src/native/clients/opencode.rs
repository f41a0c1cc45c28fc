//! opencode, and Kilo, which is made from it.
//!
//! opencode 1.18.33, Kilo 7.7.7: nested files come with a read; an edit or a creation attaches nothing
//! and needs no read before it. `instructions` of their settings are always loaded.

use super::{Client, DAY, HERE, NESTED, ON_READ, ROOT, Read, Scoping, Seen, UP, Unless, read};

const WITHOUT_AGENTS_MD: Unless = Unless::First(&["AGENTS.md"]);

pub(super) const OPENCODE: Client = Client {
    attaches: ON_READ,
    project: &[
        read("AGENTS.md", NESTED),
        read("CLAUDE.md", NESTED).unless(WITHOUT_AGENTS_MD),
        read(".opencode/skills", UP),
        read(".opencode/skill", UP),
        read(".agents/skills", UP),
        read(".claude/skills", UP),
        read(".opencode/agents", UP),
        read(".opencode/agent", UP),
    ],
    user: &[
        read(".config/opencode/AGENTS.md", ROOT),
        read(".claude/CLAUDE.md", ROOT).unless(Unless::Beside(&[".config/opencode/AGENTS.md"])),
        read(".config/opencode/skills", ROOT),
        read(".agents/skills", ROOT),
        read(".claude/skills", ROOT),
    ],
    ..Client::new("opencode", Seen::Run("1.18.33", DAY))
};

const KILO_PROJECT: &[Read] = &[
    read("AGENTS.md", NESTED),
    read("CLAUDE.md", NESTED).unless(WITHOUT_AGENTS_MD),
    read(".kilo/rules", HERE).scoped(Scoping::Ignored),
    read(".kilocode/rules", HERE).scoped(Scoping::Ignored).unless(Unless::Beside(&[".kilo/rules"])),
    read(".kilo/skills", UP),
    read(".kilocode/skills", UP),
    read(".agents/skills", UP),
    read(".claude/skills", UP),
    read(".kilo/agents", UP),
];

pub(super) const KILO: Client = Client {
    attaches: ON_READ,
    project: KILO_PROJECT,
    user: &[
        read(".config/kilo/AGENTS.md", ROOT),
        read(".config/kilo/skills", ROOT),
        read(".kilo/skills", ROOT),
        read(".agents/skills", ROOT),
        read(".claude/skills", ROOT),
    ],
    ..Client::new("kilo", Seen::Run("7.7.7", DAY))
};
