//! The guidance that each of several clients sees at one moment, and the way it comes to them.
//!
//! The answer is that of [`Catalog::resolve`], once for each client, item by item beside each other.

use std::collections::HashMap;
use std::path::Path;

use brief_dialects::{LeftOut, Level, Moment, Name, Reason, State};
use brief_profiles::{BUILTIN, OwnClients, UnknownClient, known_client};
use brief_syntax::{System, Target};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::briefing::{PlaceReport, place_below};
use crate::budget::{Count, cost};
use crate::catalog::Catalog;

/// The way in which an item comes to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Arrival {
    /// The client loads it by itself, or the same text from another place.
    Loaded,
    /// The hook delivers it.
    Delivered,
    /// The hook delivers its name and description, and the agent may ask for the rest.
    Offered,
    /// It does not.
    Unseen,
}

impl Arrival {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Arrival::Loaded => "loaded",
            Arrival::Delivered => "delivered",
            Arrival::Offered => "offered",
            Arrival::Unseen => "unseen",
        }
    }
}

/// An item as one client sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sight {
    /// The way in which it comes to the client.
    pub how: Arrival,
    /// The reason, in words.
    pub reason: String,
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
    /// Its cost for a client that sees it.
    pub tokens: usize,
    /// One for each client, in the order of the clients.
    pub seen: Vec<Sight>,
    level: Level,
    content: &'c str,
}

impl SeenItem<'_> {
    /// Returns whether no client sees it.
    pub fn is_unseen(&self) -> bool {
        self.seen.iter().all(|sight| sight.how == Arrival::Unseen)
    }
}

/// The sum of the guidance that one client sees, in tokens. The same text counts once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Total {
    /// The part that it loads by itself.
    pub loaded: usize,
    /// The part that the hook delivers.
    pub delivered: usize,
    /// Names and descriptions that the hook delivers.
    pub offered: usize,
}

/// The guidance that some clients see at one moment.
#[derive(Debug)]
pub struct Sees<'c> {
    /// The candidates, general first; those that no client sees are among them.
    pub items: Vec<SeenItem<'c>>,
    /// One for each client, in the order of the clients.
    pub totals: Vec<Total>,
}

/// A client, and whether it can be told anything besides what it loads by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Viewer {
    /// The moment, with the client that asks in it.
    pub moment: Moment,
    /// True if there is a hook that delivers to it.
    pub has_hook: bool,
}

impl Viewer {
    /// Makes a viewer of a client that asks at a moment.
    pub fn of(moment: &Moment, client: &str) -> Viewer {
        let has_hook = BUILTIN.has_hook(client);
        Viewer { moment: Moment { client: Some(client.to_owned()), ..moment.clone() }, has_hook }
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
    let known = OwnClients::below(system, root).known();
    let shown = known.shown(|path| system.resolve(&root.join(path)).is_ok());
    let usual = if shown.is_empty() { USUAL.to_vec() } else { shown };
    usual.into_iter().map(str::to_owned).collect()
}

impl<'c> Sees<'c> {
    /// Asks for each viewer. Reasons name places relative to `root`.
    pub fn of(catalog: &'c Catalog, root: &Path, viewers: &'c [Viewer], count: Count<'_>) -> Self {
        let mut table =
            Table { items: Vec::new(), by_place: HashMap::new(), clients: viewers.len() };
        let mut totals = vec![Total::default(); viewers.len()];
        for (column, viewer) in viewers.iter().enumerate() {
            let about = viewer.moment.target.as_ref().map(Target::slashed).unwrap_or_default();
            let answer = catalog.resolve(&viewer.moment);
            let total = &mut totals[column];
            let words = |reason: &Reason<'_>| reason.about(about).seen_from(root).to_string();
            for applied in answer.items {
                let tokens = cost(&applied.item, count);
                let how = match applied.item.state {
                    State::Manual => Arrival::Unseen,
                    _ if !viewer.has_hook => Arrival::Unseen,
                    State::Active => Arrival::Delivered,
                    State::Offered => Arrival::Offered,
                };
                let reason = match applied.item.state {
                    State::Active | State::Offered if !viewer.has_hook => no_hook(&viewer.moment),
                    _ => words(&applied.reason),
                };
                match how {
                    Arrival::Delivered => total.delivered += tokens,
                    Arrival::Offered => total.offered += tokens,
                    Arrival::Loaded | Arrival::Unseen => {}
                }
                let left_out = applied.leave_out(Reason::Listed);
                table.note(column, &left_out, tokens, Sight { how, reason });
            }
            for left_out in answer.left_out.iter().filter(|one| one.kind != "decision") {
                let (how, tokens) = match left_out.reason {
                    Reason::LoadedByClient { .. } => (Arrival::Loaded, count(left_out.content)),
                    Reason::SameTextLoaded { .. } => (Arrival::Loaded, 0),
                    Reason::SameText { .. } if viewer.has_hook => (Arrival::Delivered, 0),
                    _ => (Arrival::Unseen, 0),
                };
                total.loaded += if how == Arrival::Loaded { tokens } else { 0 };
                let reason = words(&left_out.reason);
                table.note(column, left_out, tokens, Sight { how, reason });
            }
        }
        let mut items = table.items;
        for item in items.iter_mut().filter(|item| item.tokens == 0) {
            item.tokens = count(item.content);
        }
        items.sort_by(|left, right| {
            (left.level, left.path, left.line).cmp(&(right.level, right.path, right.line))
        });
        Sees { items, totals }
    }
}

fn no_hook(moment: &Moment) -> String {
    format!("there is no hook for {}", moment.client.as_deref().unwrap_or("this client"))
}

/// The items so far, by where they stand.
struct Table<'c> {
    items: Vec<SeenItem<'c>>,
    by_place: HashMap<(&'static str, &'c Path, usize), usize>,
    clients: usize,
}

impl<'c> Table<'c> {
    fn note(&mut self, column: usize, found: &LeftOut<'c>, tokens: usize, sight: Sight) {
        let &LeftOut { dialect, kind, name, path, line, level, content, .. } = found;
        let index = *self.by_place.entry((dialect, path, line)).or_insert_with(|| {
            // A client that does not get to an item at all does not see it.
            let reason = "it is not for this client".to_owned();
            let seen = vec![Sight { how: Arrival::Unseen, reason }; self.clients];
            let item =
                SeenItem { dialect, kind, name, path, line, tokens: 0, seen, level, content };
            self.items.push(item);
            self.items.len() - 1
        });
        let item = &mut self.items[index];
        item.tokens = item.tokens.max(tokens);
        item.seen[column] = sight;
    }
}

/// The JSON form of [`Sees`], in the shape that other programs rely on.
#[derive(Debug)]
pub struct SeesReport<'r> {
    /// The question, without a client.
    pub moment: &'r Moment,
    /// The clients, in the order of the viewers.
    pub clients: &'r [String],
    /// The answer.
    pub sees: &'r Sees<'r>,
}

impl Serialize for SeesReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let SeesReport { moment, clients, sees } = *self;
        let items = sees.items.iter().map(|item| SeenReport {
            name: item.name.to_string(),
            dialect: item.dialect,
            kind: item.kind,
            source: place_below(moment.root.path(), item.path, item.line),
            tokens: item.tokens,
            seen: ByClient(clients, &item.seen),
        });
        let mut report = serializer.serialize_struct("Sees", 4)?;
        report.serialize_field("path", &moment.target.as_ref().map(Target::slashed))?;
        report.serialize_field("clients", clients)?;
        report.serialize_field("items", &items.collect::<Vec<_>>())?;
        report.serialize_field("totals", &ByClient(clients, &sees.totals))?;
        report.end()
    }
}

#[derive(Serialize)]
struct SeenReport<'r> {
    name: String,
    dialect: &'static str,
    kind: &'static str,
    source: PlaceReport<'r>,
    tokens: usize,
    seen: ByClient<'r, Sight>,
}

struct ByClient<'r, T>(&'r [String], &'r [T]);

impl<T: Serialize> Serialize for ByClient<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().zip(self.1))
    }
}
