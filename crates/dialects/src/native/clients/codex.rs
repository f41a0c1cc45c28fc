//! Codex.
//!
//! 0.166.0: reads the instructions from the root down to the start directory, once, at most 32 KiB in
//! all (`project_doc_max_bytes`), nothing on read, and follows no imports.

use super::{Client, DAY, ROOT, Read, Seen, UP, Unless, read};

const INSTEAD: Unless =
    Unless::Replaced(&["AGENTS.override.md"], "codex reads AGENTS.override.md instead");

const PROJECT: &[Read] = &[
    read("AGENTS.override.md", UP),
    read("AGENTS.md", UP).unless(INSTEAD),
    read(".agents/skills", UP),
    read(".codex/skills", UP),
];

/// How it reads the names in its settings.
pub(in super::super) const NAMED: Read =
    read("AGENTS.md", UP).unless(Unless::Beside(&["AGENTS.override.md", "AGENTS.md"]));

pub(super) const CODEX: Client = Client {
    limit: Some(32 * 1024),
    project: PROJECT,
    user: &[
        read(".codex/AGENTS.md", ROOT),
        read(".codex/skills", ROOT),
        read(".agents/skills", ROOT),
    ],
    ..Client::new("codex", Seen::Run("0.166.0", DAY))
};
