//! The guidance that each of several clients has at one moment, and the way it comes to them.
//!
//! The answer is that of [`Catalog::resolve_moment`], once for each client, item by item beside each other. What would be
//! delivered counts as delivered only where a hook is installed that works ([`Delivery`]).

mod delivery;
mod table;
mod versions;

use std::path::Path;

use brief_dialects::{Level, Moment, Name, Owner};
use brief_profiles::{OwnClients, UnknownClient, known_client};
use brief_syntax::Target;
use brief_system::System;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::briefing::{PlaceReport, place_below};
use crate::budget::Count;
use crate::catalog::Catalog;

pub use delivery::{Delivery, HookState, MissingCause, MissingHook};
pub(crate) use table::{ReasonWords, SeesTable};
pub use versions::{VersionNote, collect_version_notes};

/// The way in which an item comes to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Arrival {
    /// The client loads its whole text by itself.
    Loaded,
    /// The agent sees its name and description, and reads the rest when it needs it.
    Listed,
    /// An installed hook that works delivers its text.
    Delivered,
    /// It applies, and nothing delivers it.
    Missing,
    /// Another item with the same text comes to the client instead.
    Same,
    /// It comes only when it is asked for.
    Manual,
    /// It does not apply.
    Skipped,
}

impl Arrival {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Arrival::Loaded => "loaded",
            Arrival::Listed => "listed",
            Arrival::Delivered => "delivered",
            Arrival::Missing => "missing",
            Arrival::Same => "same",
            Arrival::Manual => "manual",
            Arrival::Skipped => "skipped",
        }
    }
}

/// A place of an item, for readers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SamePlace {
    /// The file, relative to the root where it can be.
    pub path: String,
    /// The line it begins on, from 1.
    pub line: usize,
    /// True if the file has other items, so that its path alone does not name this one.
    #[serde(skip)]
    pub is_one_of_many: bool,
}

/// An item as one client has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sight {
    /// The way in which it comes to the client.
    pub how: Arrival,
    /// The cause why it is missing; `None` unless it is.
    pub cause: Option<MissingCause>,
    /// The item with the same text that comes instead; `None` unless one does.
    pub same_as: Option<SamePlace>,
    /// The reason, in words.
    pub reason: String,
    /// The part of the item that counts for the client, in tokens. The same text counts once.
    pub tokens: usize,
}

impl Sight {
    /// Returns the state in a few words, such as `missing (no hook)` or `same as CLAUDE.md`.
    pub fn label(&self) -> String {
        match (&self.cause, &self.same_as) {
            (Some(cause), _) => format!("{} ({cause})", self.how.as_str()),
            (_, Some(SamePlace { path, line, is_one_of_many: true })) => {
                format!("same as {path}:{line}")
            }
            (_, Some(SamePlace { path, .. })) => format!("same as {path}"),
            _ => self.how.as_str().to_owned(),
        }
    }
}

/// An item, and how each client comes to it.
#[derive(Debug, Clone)]
pub struct SeenItem<'c> {
    /// The dialect that it is written in.
    pub dialect: &'static str,
    /// Its kind, such as `rule`.
    pub kind: &'static str,
    /// Its name, or its place in its file.
    pub name: Name<'c>,
    /// The file it stands in, absolute.
    pub path: &'c Path,
    /// The line it begins on, from 1.
    pub line: usize,
    /// The most that it costs any of the clients.
    pub tokens: usize,
    /// One for each client, in the order of the clients.
    pub seen: Vec<Sight>,
    level: Level,
    /// Its text.
    pub content: &'c str,
}

impl SeenItem<'_> {
    /// Returns whether it is the user's own, for all projects.
    pub fn is_of_user(&self) -> bool {
        self.level.owner == Owner::User
    }

    /// Returns whether it applies for no client.
    pub fn is_skipped(&self) -> bool {
        self.seen.iter().all(|sight| sight.how == Arrival::Skipped)
    }
}

/// The sum of the guidance of one client, in tokens: that of the rows. The same text counts once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Total {
    /// The texts that it loads by itself.
    pub loaded: usize,
    /// Names and descriptions.
    pub listed: usize,
    /// The texts that its hook delivers.
    pub delivered: usize,
    /// The items that apply and do not get to it.
    pub missing: usize,
}

impl Total {
    /// Adds an item as the client has it.
    pub(crate) fn add_sight(&mut self, sight: &Sight) {
        match sight.how {
            Arrival::Loaded => self.loaded += sight.tokens,
            Arrival::Listed => self.listed += sight.tokens,
            Arrival::Delivered => self.delivered += sight.tokens,
            Arrival::Missing => self.missing += sight.tokens,
            Arrival::Same | Arrival::Manual | Arrival::Skipped => {}
        }
    }

    /// Returns the parts with their names, in the order of reports.
    pub fn parts(&self) -> [(&'static str, usize); 4] {
        [
            ("loaded", self.loaded),
            ("listed", self.listed),
            ("delivered", self.delivered),
            ("missing", self.missing),
        ]
    }
}

/// The guidance that some clients have at one moment.
#[derive(Debug)]
pub struct Sees<'c> {
    /// The candidates, general first; those that apply for no client are among them.
    pub items: Vec<SeenItem<'c>>,
    /// One for each client, in the order of the clients.
    pub totals: Vec<Total>,
}

/// A client, and the ways in which it can be told anything besides what it loads by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Viewer {
    /// The name of the client.
    pub client: String,
    /// The moment, with the client that asks in it.
    pub moment: Moment,
    /// The ways that are installed for it.
    pub delivery: Delivery,
}

impl Viewer {
    /// Makes a viewer of a client that asks at a moment.
    pub fn new(moment: &Moment, client: &str, delivery: Delivery) -> Viewer {
        let moment = Moment { client: Some(client.to_owned()), ..moment.clone() };
        Viewer { client: client.to_owned(), moment, delivery }
    }
}

/// The clients to ask about in a project that shows signs of none.
const USUAL: [&str; 4] = ["claude", "codex", "copilot", "cursor"];

/// Returns the clients to ask about: the named ones, or else those that a project shows signs of, or else the usual ones.
pub fn asked_clients(
    system: &dyn System,
    root: &Path,
    mut named: Vec<String>,
) -> Result<Vec<String>, UnknownClient> {
    named.dedup();
    named.iter().try_for_each(|client| known_client(system, root, client))?;
    Ok(if named.is_empty() { usual_clients(system, root) } else { named })
}

fn usual_clients(system: &dyn System, root: &Path) -> Vec<String> {
    let known = OwnClients::read_project(system, root).known_clients();
    let shown = known.clients_in_project(|path| system.resolve(&root.join(path)).is_ok());
    let usual = if shown.is_empty() { USUAL.to_vec() } else { shown };
    usual.into_iter().map(str::to_owned).collect()
}

impl<'c> Sees<'c> {
    /// Asks for each viewer. Reasons name places relative to `root`.
    pub fn from_catalog(
        catalog: &'c Catalog,
        root: &'c Path,
        viewers: &'c [Viewer],
        count: Count<'_>,
    ) -> Self {
        SeesTable::from_catalog(catalog, root, viewers, count, ReasonWords::Written).finish(count)
    }

    /// Asks for each viewer how it gets each item; reasons are empty, and tokens 0.
    pub fn without_reasons(catalog: &'c Catalog, root: &'c Path, viewers: &'c [Viewer]) -> Self {
        let count = |_: &str| 0;
        SeesTable::from_catalog(catalog, root, viewers, &count, ReasonWords::Skipped).finish(&count)
    }
}

/// The JSON form of [`Sees`], in the shape that other programs rely on.
#[derive(Debug)]
pub struct SeesReport<'r> {
    /// The question, without a client.
    pub moment: &'r Moment,
    /// The clients.
    pub viewers: &'r [Viewer],
    /// The answer.
    pub sees: &'r Sees<'r>,
}

impl Serialize for SeesReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let SeesReport { moment, viewers, sees } = *self;
        let clients: Vec<&str> = viewers.iter().map(|viewer| viewer.client.as_str()).collect();
        let deliveries: Vec<&Delivery> = viewers.iter().map(|viewer| &viewer.delivery).collect();
        let items = sees.items.iter().map(|item| SeenReport {
            name: item.name.to_string(),
            dialect: item.dialect,
            kind: item.kind,
            source: place_below(moment.root.path(), item.path, item.line),
            tokens: item.tokens,
            seen: ByClient(&clients, &item.seen),
        });
        let mut report = serializer.serialize_struct("Sees", 6)?;
        report.serialize_field("path", &moment.target.as_ref().map(Target::slashed))?;
        report.serialize_field("clients", &clients)?;
        report.serialize_field("delivery", &ByClient(&clients, &deliveries))?;
        report.serialize_field("items", &items.collect::<Vec<_>>())?;
        report.serialize_field("totals", &ByClient(&clients, &sees.totals))?;
        report.serialize_field("versions", &collect_version_notes(viewers, sees))?;
        report.end()
    }
}

#[derive(Serialize)]
struct SeenReport<'r> {
    name: String,
    #[serde(rename = "format")]
    dialect: &'static str,
    kind: &'static str,
    source: PlaceReport<'r>,
    tokens: usize,
    seen: ByClient<'r, Sight>,
}

struct ByClient<'r, T>(&'r [&'r str], &'r [T]);

impl<T: Serialize> Serialize for ByClient<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().zip(self.1))
    }
}
