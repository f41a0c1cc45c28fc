//! Gemini CLI.
//!
//! 0.61.0: skills of the start directory alone; nested files on read, edit and creation. Other names for
//! `GEMINI.md` are in its settings (`context.fileName`).

use super::{Client, DAY, HERE, NESTED, ROOT, Read, Seen, read};

const PROJECT: &[Read] =
    &[read("GEMINI.md", NESTED), read(".agents/skills", HERE), read(".gemini/skills", HERE)];

/// How it reads the names in its settings.
pub(in super::super) const NAMED: Read = read("GEMINI.md", NESTED);

pub(super) const GEMINI: Client = Client {
    imports: &["GEMINI.md"],
    project: PROJECT,
    user: &[
        read(".gemini/GEMINI.md", ROOT),
        read(".gemini/skills", ROOT),
        read(".agents/skills", ROOT),
    ],
    ..Client::new("gemini", Seen::Run("0.61.0", DAY))
};
