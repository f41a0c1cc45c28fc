//! Droid.
//!
//! 0.215.0: nested files come with a read, wherever the file lies; an edit or a creation attaches nothing.

use super::{ANYWHERE, Client, DAY, NESTED, ON_READ, ROOT, Read, Seen, read};

const PROJECT: &[Read] = &[
    read("AGENTS.md", ANYWHERE),
    read("CLAUDE.md", ANYWHERE),
    read(".agents/AGENTS.md", NESTED),
    read(".factory/skills", NESTED),
    read(".agents/skills", NESTED),
];

pub(super) const DROID: Client = Client {
    attaches: ON_READ,
    project: PROJECT,
    user: &[
        read(".factory/AGENTS.md", ROOT),
        read(".agents/AGENTS.md", ROOT),
        read(".factory/skills", ROOT),
        read(".agents/skills", ROOT),
    ],
    ..Client::new("droid", Seen::Run("0.215.0", DAY))
};
