//! Questions about receipts: what no agent got, and where a client loads other files than we believe.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::{Project, ReasonKind, hosted, structured, tasks};

use serde::Serialize;

use super::{Receipt, ReceiptItem, ReceiptKind};

/// An item that no agent got.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NeverDelivered {
    /// The dialect.
    #[serde(rename = "format")]
    pub dialect: &'static str,
    /// Its name.
    pub name: String,
    /// The file that it stands in, below the root.
    pub place: String,
    /// The line it begins on.
    pub line: usize,
}

/// A file that a client loads otherwise than we believe.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct LoadingDrift {
    /// The client.
    pub client: String,
    /// The session.
    pub session: String,
    /// The file, below the root.
    pub place: String,
    /// True if the client loaded it and we did not know; false if we believed it and the client did not report it.
    #[serde(rename = "loaded")]
    pub is_loaded: bool,
}

/// Returns the receipts that a word chooses, with the items that it chooses: a session by its beginning, the file `path`,
/// or an item by its place or name. An empty word chooses all.
pub fn filter_receipts(receipts: &[Receipt], word: &str, path: &str) -> Vec<Receipt> {
    let is_session = |receipt: &&Receipt| receipt.session.starts_with(word);
    if receipts.iter().any(|receipt| is_session(&receipt)) {
        return receipts.iter().filter(is_session).cloned().collect();
    }
    let is_meant = |item: &ReceiptItem| {
        item.file == path || item.place == path || item.place == word || item.name == word
    };
    let mut found = receipts.to_vec();
    for receipt in &mut found {
        receipt.items.retain(is_meant);
    }
    found.retain(|receipt| !receipt.items.is_empty());
    found
}

/// Returns the items that no agent got, by the receipts of this project. What a client of the receipts loads by itself
/// is not counted.
pub fn never_delivered(project: &Project<'_>, receipts: &[Receipt]) -> Vec<NeverDelivered> {
    let clients: BTreeSet<&str> = receipts.iter().map(|receipt| receipt.client.as_str()).collect();
    let got: BTreeSet<(&str, &str)> = receipts
        .iter()
        .flat_map(|receipt| &receipt.items)
        .map(|item| (item.place.as_str(), item.name.as_str()))
        .collect();
    let root = project.root().path();
    let reported = receipts.iter().flat_map(|receipt| &receipt.items);
    let reported = reported.filter(|item| item.how == ReceiptKind::Loaded);
    let mut loaded: BTreeSet<String> = reported.map(|item| item.place.clone()).collect();
    let mut due: BTreeMap<(String, usize), NeverDelivered> = BTreeMap::new();
    for client in clients {
        let briefing = project.everything().client(client).resolve();
        let is_loaded = |kind| matches!(kind, ReasonKind::Loaded | ReasonKind::ListedByClient);
        let left = briefing.left_out.iter().filter(|item| is_loaded(item.reason.kind));
        loaded.extend(left.map(|item| display_below(root, &item.path)));
        for item in briefing.active.iter().chain(&briefing.listed) {
            let place = display_below(root, &item.path);
            if !got.contains(&(place.as_str(), item.name.as_str())) {
                let (dialect, name, line) = (item.dialect, item.name.clone(), item.line);
                due.insert((place.clone(), line), NeverDelivered { dialect, name, place, line });
            }
        }
    }
    // What is for files that were not worked on, or for other agents, is in no client's answer about the project.
    let whole = project.everything().resolve();
    let of_ours = [structured::NAME, hosted::NAME, tasks::NAME];
    let waiting = whole.manual.iter().filter(|item| item.trigger == Some("auto"));
    for item in whole.active.iter().chain(&whole.listed).chain(waiting) {
        let place = display_below(root, &item.path);
        if of_ours.contains(&item.dialect) && !got.contains(&(place.as_str(), item.name.as_str())) {
            let (dialect, name, line) = (item.dialect, item.name.clone(), item.line);
            due.insert((place.clone(), line), NeverDelivered { dialect, name, place, line });
        }
    }
    due.into_values().filter(|item| !loaded.contains(&item.place)).collect()
}

/// Compares the files that clients reported to have loaded with those that we believe they load, session by session.
/// Only sessions with such reports count.
pub fn find_loading_drift(project: &Project<'_>, receipts: &[Receipt]) -> Vec<LoadingDrift> {
    let mut sessions: BTreeMap<(&str, &str), SessionFiles<'_>> = BTreeMap::new();
    for receipt in receipts {
        let session = sessions.entry((&receipt.client, &receipt.session)).or_default();
        session.directory = Some(&receipt.directory);
        for item in &receipt.items {
            match item.how {
                // What is imported belongs to the file that imports it.
                ReceiptKind::Loaded if item.reason == "include" => {
                    session.imports.insert(&item.place)
                }
                ReceiptKind::Loaded => session.loaded.insert(&item.place),
                _ => session.files.insert(&item.file),
            };
        }
    }
    let root = project.root().path();
    let mut found = Vec::new();
    for ((client, session), files) in sessions {
        let (false, Some(directory)) = (files.loaded.is_empty(), files.directory) else { continue };
        let Ok(started) = Project::open(project.system(), Path::new(directory)) else { continue };
        let mut believed: BTreeSet<String> = BTreeSet::new();
        // What is always loaded comes with every file, so the whole project is asked about only if there is none.
        let mut asked: Vec<&str> =
            files.files.iter().copied().filter(|file| !file.is_empty()).collect();
        if asked.is_empty() {
            asked.push("");
        }
        for file in asked {
            let briefing = started.briefing(root.join(file)).client(client).resolve();
            let left = briefing.left_out.iter();
            let left = left.filter(|item| {
                item.reason.kind == ReasonKind::Loaded
                    && matches!(item.kind, "rule" | "instructions")
            });
            believed.extend(left.map(|item| display_below(root, &item.path)));
        }
        let drift = |place: &str, is_loaded| LoadingDrift {
            client: client.to_owned(),
            session: session.to_owned(),
            place: place.to_owned(),
            is_loaded,
        };
        let is_ours = |place: &str| !Path::new(place).is_absolute();
        let unknown =
            files.loaded.iter().filter(|place| is_ours(place) && !believed.contains(**place));
        found.extend(unknown.map(|place| drift(place, true)));
        let missing = believed.iter().filter(|place| {
            let place = place.as_str();
            is_ours(place) && !files.loaded.contains(place) && !files.imports.contains(place)
        });
        found.extend(missing.map(|place| drift(place, false)));
    }
    found.sort();
    found
}

/// The files of a session.
#[derive(Default)]
struct SessionFiles<'r> {
    directory: Option<&'r str>,
    /// The files that the agent worked on.
    files: BTreeSet<&'r str>,
    /// The files that the client reported.
    loaded: BTreeSet<&'r str>,
    /// Those among them that another one imports.
    imports: BTreeSet<&'r str>,
}

fn display_below(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}
