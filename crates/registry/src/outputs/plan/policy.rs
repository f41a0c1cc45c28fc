//! What happens to files that a run would replace, and are not as it has written them.

use std::collections::BTreeSet;

use crate::outputs::with_parents;

/// The treatment of edited outputs and of files of others.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConflictPolicy {
    /// Outputs that were edited by hand and are to be replaced.
    pub(crate) edited: Chosen,
    /// Files of others that are to be replaced.
    pub(crate) foreign: Chosen,
    pub(crate) backup: Backup,
    pub(crate) advice: Advice,
}

/// Files that the user has chosen.
#[derive(Debug, Clone, Default)]
pub(crate) enum Chosen {
    #[default]
    None,
    All,
    /// These, and everything below these.
    Paths(BTreeSet<String>),
}

impl Chosen {
    pub(crate) fn contains_path(&self, path: &str) -> bool {
        match self {
            Chosen::None => false,
            Chosen::All => true,
            Chosen::Paths(paths) => with_parents(path).any(|above| paths.contains(above)),
        }
    }
}

/// The treatment of replaced files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Backup {
    #[default]
    None,
    Copy,
}

/// The advice that goes with a conflict, in terms of one command.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Advice {
    pub(crate) edited: &'static str,
    pub(crate) foreign: &'static str,
    pub(crate) stale: &'static str,
}
