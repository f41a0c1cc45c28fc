//! Cline's command line.
//!
//! 3.0.65: rules and `AGENTS.md` of the start directory alone, whatever their `paths` say; skills of the
//! root alone; of two rules
//! with one name, that in `.cline/rules`.

use super::{Client, DAY, HERE, ROOT, Read, Scoping, Seen, read};

const PROJECT: &[Read] = &[
    read(".clinerules", HERE).scoped(Scoping::Ignored),
    read(".clinerules/", HERE).scoped(Scoping::Ignored),
    read(".cline/rules", HERE).scoped(Scoping::Ignored),
    read("AGENTS.md", HERE),
    read(".cline/skills", ROOT),
    read(".clinerules/skills", ROOT),
    read(".agents/skills", ROOT),
];

pub(super) const CLINE: Client = Client {
    project: PROJECT,
    user: &[
        read(".agents/AGENTS.md", ROOT),
        read(".cline/rules", ROOT).scoped(Scoping::Ignored),
        read(".cline/skills", ROOT),
        read(".agents/skills", ROOT),
    ],
    ..Client::new("cline", Seen::Run("3.0.65", DAY))
};
