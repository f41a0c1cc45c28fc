//! What each client reads by itself: one file for each client, with the version and the day that its
//! facts were seen in.
//!
//! Data only. A file that a client is wrongly said to load would reach nobody, so what is not known is
//! not in here. Sources stand in `docs/reference/client-files.md`.

mod claude;
mod cline;
pub(super) mod codex;
mod copilot;
mod documented;
mod droid;
pub(super) mod gemini;
mod opencode;
mod pi;
mod qwen;

use crate::answer::Owner;
use crate::moment::{Action, Actions};

use super::places::Place;

/// The clients whose files are known, by name.
pub const CLIENTS: &[&str] = &[
    "aider",
    "amp",
    "antigravity",
    "augment",
    "claude",
    "cline",
    "codex",
    "continue",
    "copilot",
    "copilot-cli",
    "copilot-vscode",
    "crush",
    "cursor",
    "droid",
    "gemini",
    "goose",
    "junie",
    "kilo",
    "kiro",
    "opencode",
    "pi",
    "qwen",
    "roo",
    "trae",
    "warp",
    "windsurf",
    "zed",
];

/// The same, with what is known of each.
const TABLE: &[&Client] = &[
    &documented::AIDER,
    &documented::AMP,
    &documented::ANTIGRAVITY,
    &documented::AUGMENT,
    &claude::CLAUDE,
    &cline::CLINE,
    &codex::CODEX,
    &documented::CONTINUE,
    &copilot::COPILOT,
    &copilot::CLI,
    &copilot::VSCODE,
    &documented::CRUSH,
    &documented::CURSOR,
    &droid::DROID,
    &gemini::GEMINI,
    &documented::GOOSE,
    &documented::JUNIE,
    &opencode::KILO,
    &documented::KIRO,
    &opencode::OPENCODE,
    &pi::PI,
    &qwen::QWEN,
    &documented::ROO,
    &documented::TRAE,
    &documented::WARP,
    &documented::WINDSURF,
    &documented::ZED,
];

/// A client.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) name: &'static str,
    /// The version that was run or read, and the day.
    pub(super) seen: Seen,
    /// What must be done to a file for what is nested or scoped to be loaded with it.
    pub(super) attaches: Actions,
    /// Whether what is scoped is loaded only for files below the start directory.
    pub(super) is_scoped_below_start: bool,
    /// The files in which it follows `@path`.
    pub(super) imports: &'static [&'static str],
    /// Whether it follows a project's imports only to files below the start directory.
    pub(super) imports_below_start: bool,
    /// How many bytes of instructions of a project it loads: what is over that is cut.
    pub(super) limit: Option<usize>,
    pub(super) project: &'static [Read],
    pub(super) user: &'static [Read],
}

/// How the facts about a client are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    /// In recorded requests of that version, on that day.
    Run(&'static str, &'static str),
    /// In its documentation or its source, on that day.
    Documented(&'static str),
}

/// The day of the facts that were collected together.
const DAY: &str = "2026-11-16";

/// A place that a client reads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Read {
    /// The key of the place.
    pub(super) path: &'static str,
    /// Where the directory of the place may lie.
    pub(super) seats: Seats,
    pub(super) unless: Unless,
    pub(super) scoping: Scoping,
}

/// Where a directory lies, seen from the one that the client was started in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seat {
    /// It is the start directory, and the root.
    Root = 1,
    /// It is the start directory, somewhere below the root.
    Start = 2,
    /// It is the root, and the start directory is below it.
    Top = 4,
    /// It lies between the root and the start directory.
    Between = 8,
    /// It is below the start directory.
    Below = 16,
    /// It is elsewhere.
    Beside = 32,
}

impl Seat {
    /// Returns whether what lies there can be loaded before any file is worked on.
    pub(super) fn is_at_start(self) -> bool {
        !matches!(self, Seat::Below | Seat::Beside)
    }
}

/// A set of seats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seats(u8);

impl Seats {
    const fn of(seats: &[Seat]) -> Seats {
        let mut bits = 0;
        let mut index = 0;
        while index < seats.len() {
            bits |= seats[index] as u8;
            index += 1;
        }
        Seats(bits)
    }

    const fn and(self, other: Seats) -> Seats {
        Seats(self.0 | other.0)
    }

    pub(super) fn contains(self, seat: Seat) -> bool {
        self.0 & seat as u8 != 0
    }
}

/// The start directory.
pub(super) const HERE: Seats = Seats::of(&[Seat::Root, Seat::Start]);
/// The root of the repository, wherever the client was started.
const ROOT: Seats = Seats::of(&[Seat::Root, Seat::Top]);
/// Every directory from the root down to the start directory.
pub(super) const UP: Seats = Seats::of(&[Seat::Root, Seat::Start, Seat::Top, Seat::Between]);
/// These, and every directory below, once a file there is worked on.
const NESTED: Seats = UP.and(Seats::of(&[Seat::Below]));
/// The start directory, and every directory below it.
const HERE_AND_BELOW: Seats = HERE.and(Seats::of(&[Seat::Below]));
/// Wherever a file is worked on.
const ANYWHERE: Seats = NESTED.and(Seats::of(&[Seat::Beside]));

/// What keeps a client from reading a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unless {
    /// Nothing.
    Never,
    /// One of these files in the same directory.
    Beside(&'static [&'static str]),
    /// One of these files in the same directory, which takes its place.
    Replaced(&'static [&'static str], &'static str),
    /// One of these files in any directory from the root to the start directory, or in the same one.
    Started(&'static [&'static str]),
    /// One of these files in any directory from the root to the start directory; for a directory
    /// below, in the same one.
    First(&'static [&'static str]),
}

/// When a client uses what it reads at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scoping {
    /// As the file's own format says.
    Own,
    /// Always: it does not know the fields.
    Ignored,
    /// Only what has no scope.
    Unscoped,
    /// By its patterns as Copilot's command line matches them, seen from the root; without, always.
    CopilotCli,
}

const fn read(path: &'static str, seats: Seats) -> Read {
    Read { path, seats, unless: Unless::Never, scoping: Scoping::Own }
}

impl Read {
    const fn unless(self, unless: Unless) -> Read {
        Read { unless, ..self }
    }

    const fn scoped(self, scoping: Scoping) -> Read {
        Read { scoping, ..self }
    }
}

const ANY_ACTION: Actions = Actions::ALL;
const ON_READ: Actions = Actions::NONE.with(Action::Read);

impl Client {
    /// A client of which nothing is known yet.
    const fn new(name: &'static str, seen: Seen) -> Client {
        Client {
            name,
            seen,
            attaches: ANY_ACTION,
            is_scoped_below_start: false,
            imports: &[],
            imports_below_start: false,
            limit: None,
            project: &[],
            user: &[],
        }
    }

    /// Finds a client by its name.
    pub(super) fn find(name: &str) -> Option<&'static Client> {
        TABLE.iter().copied().find(|client| client.name == name)
    }

    /// Returns how it reads a place.
    pub(super) fn reads(&self, owner: Owner, place: &Place) -> Option<&'static Read> {
        let reads = match owner {
            Owner::User => self.user,
            Owner::Project => self.project,
        };
        reads.iter().find(|read| read.path == place.key)
    }

    /// Returns whether an action loads what is nested or scoped; without one, some action may.
    pub(super) fn attaches_on(&self, action: Option<Action>) -> bool {
        action.is_none_or(|action| self.attaches.contains(action))
    }

    /// Returns whether it may load what the fields of a file leave out.
    pub(super) fn goes_by_itself(&self) -> bool {
        let by_itself =
            |read: &Read| matches!(read.scoping, Scoping::Ignored | Scoping::CopilotCli);
        self.project.iter().chain(self.user).any(by_itself)
    }

    /// Returns whether it follows `@path` in a file of this name.
    pub(super) fn follows(&self, name: &str) -> bool {
        self.imports.contains(&name)
    }
}

/// Returns the version of a client that its facts were seen in, if it was run, and the day.
pub fn seen(client: &str) -> Option<(Option<&'static str>, &'static str)> {
    Some(match Client::find(client)?.seen {
        Seen::Run(version, day) => (Some(version), day),
        Seen::Documented(day) => (None, day),
    })
}

/// Returns whether any client follows `@path` in the files of a place.
pub(super) fn has_imports(place: &Place) -> bool {
    let name = place.path.rsplit('/').next().unwrap_or(place.path);
    TABLE.iter().any(|client| client.follows(name))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::places::{PROJECT, USER};
    use super::*;

    #[test]
    fn every_client_is_listed_once() {
        let names: Vec<&str> = TABLE.iter().map(|client| client.name).collect();
        assert_eq!(names, CLIENTS);
        assert!(CLIENTS.is_sorted());
    }

    /// A place that no client reads would be delivered to all for no reason.
    #[test]
    fn clients_read_places_and_places_have_readers() {
        for (places, reads) in [
            (PROJECT, TABLE.iter().flat_map(|client| client.project).collect::<Vec<_>>()),
            (USER, TABLE.iter().flat_map(|client| client.user).collect()),
        ] {
            let reads: Vec<_> =
                reads.into_iter().filter(|read| !read.path.starts_with("PLUGIN/")).collect();
            let known: BTreeSet<&str> = places.iter().map(|place| place.key).collect();
            let read: BTreeSet<&str> = reads.iter().map(|read| read.path).collect();
            assert_eq!(known, read);
            for read in &reads {
                let (Unless::Beside(names)
                | Unless::Replaced(names, _)
                | Unless::Started(names)
                | Unless::First(names)) = read.unless
                else {
                    continue;
                };
                for name in names {
                    assert!(known.contains(name), "{name}");
                }
            }
        }
    }

    /// A fact about a client carries the version or the document, and the day.
    #[test]
    fn every_fact_has_a_day() {
        for client in TABLE {
            let (Seen::Run(_, day) | Seen::Documented(day)) = client.seen;
            assert!(day.len() == DAY.len() && day.starts_with("20"), "{}", client.name);
            if let Seen::Run(version, _) = client.seen {
                assert!(version.contains('.'), "{}", client.name);
            }
        }
    }
}
