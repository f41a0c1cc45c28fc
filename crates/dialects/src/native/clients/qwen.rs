//! Qwen Code.
//!
//! 0.24.4: instructions from the root down to the start directory, nothing nested; rules and
//! `QWEN.local.md` of the root alone, skills of the start directory alone. Rules with `paths` come with a
//! read or a creation; an edit is refused without a read.

use super::{Client, DAY, HERE, ROOT, Read, Seen, UP, read};

const PROJECT: &[Read] = &[
    read("QWEN.md", UP),
    read("AGENTS.md", UP),
    read(".qwen/QWEN.local.md", ROOT),
    read(".qwen/rules", ROOT),
    read(".qwen/skills", HERE),
    read(".agents/skills", HERE),
];

pub(super) const QWEN: Client = Client {
    imports: &["AGENTS.md", "QWEN.md"],
    project: PROJECT,
    user: &[
        read(".qwen/QWEN.md", ROOT),
        read(".qwen/AGENTS.md", ROOT),
        read(".qwen/rules", ROOT),
        read(".qwen/skills", ROOT),
        read(".agents/skills", ROOT),
    ],
    ..Client::new("qwen", Seen::Run("0.24.4", DAY))
};
