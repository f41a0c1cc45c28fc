//! Receipts: what agents were told, when, why and at what cost.
//!
//! One file per day in the user's state directory, one line per delivery, appended whole, so that many hooks may
//! write at once. A receipt names items by their place and a hash; it never holds a prompt or a file's text. Each
//! file has a limit, and old ones are removed. The only effect of any failure here is a missing receipt.

mod checks;
mod report;
mod trace;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use brief_syntax::limits;
use brief_system::hash::sha256;
use brief_system::state_directory;
use serde::{Deserialize, Serialize};

use crate::System;

pub use checks::{CheckOutcome, ReceiptCheck};
pub use trace::{MissingPart, ReceiptStep, ReceiptTrace, TouchedFile, file_hash, read_head_commit};

pub use report::{
    LoadingDrift, NeverDelivered, filter_receipts, find_loading_drift, never_delivered,
};

const VERSION: u32 = 1;

/// The bytes of one day; what is beyond is not recorded.
const MOST_BYTES: u64 = 8 * 1024 * 1024;

const KEPT_DAYS: u64 = 90;

/// The limit for the characters of a text in a record.
const LONGEST: usize = 300;

/// The variable that turns receipts off, with the value `off`.
pub const VARIABLE: &str = "BRIEF_RECEIPTS";

/// The name of the file that turns receipts off.
const OFF: &str = "off";

/// A delivery to an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The version of the record.
    version: u32,
    /// The time, in milliseconds since 1970.
    pub at: u64,
    /// The client's id of the session.
    pub session: String,
    /// The subagent within it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The client.
    pub client: String,
    /// The client's event.
    pub event: String,
    /// The root of the project, absolute.
    pub root: String,
    /// The directory in which the client works, absolute.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub directory: String,
    /// True if the tool call was held back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held: bool,
    /// The link to the client's own records.
    #[serde(default, skip_serializing_if = "ReceiptTrace::is_empty")]
    pub trace: ReceiptTrace,
    /// The items, in the order in which the agent got them.
    pub items: Vec<ReceiptItem>,
    /// The files that the call has changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<TouchedFile>,
    /// What the checks of rules said about the call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<ReceiptCheck>,
}

/// An item that an agent got.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ReceiptItem {
    /// The way in which it got there.
    pub how: ReceiptKind,
    /// The file that the agent worked on, below the root; empty for the whole project.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub file: String,
    /// The action on that file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// The format that it is written in.
    #[serde(
        default,
        rename = "format",
        alias = "dialect",
        skip_serializing_if = "String::is_empty"
    )]
    pub dialect: String,
    /// Its name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The file that it stands in: below the root, or absolute.
    pub place: String,
    /// The line it begins on.
    #[serde(default)]
    pub line: usize,
    /// The beginning of the SHA-256 of its text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hash: String,
    /// Its tokens.
    #[serde(default)]
    pub tokens: usize,
    /// The reason why it applied.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The reason why it came after what it is for; `None` if it came in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late: Option<LateReason>,
}

/// A reason why an item came after what it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LateReason {
    /// A command changed the file before, and no event showed that.
    UnseenChange,
    /// The change that it is for had run when the agent could first see it.
    AfterChange,
    /// An earlier answer had no room for it.
    NoRoom,
}

impl LateReason {
    /// Returns the sentence in reports.
    pub fn as_sentence(self) -> &'static str {
        match self {
            LateReason::UnseenChange => {
                "late: a command had changed the file before without an event"
            }
            LateReason::AfterChange => "late: the agent could see it only after the change",
            LateReason::NoRoom => "late: an earlier answer had no room for it",
        }
    }
}

/// The way in which an item reached an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReceiptKind {
    /// Its text was delivered.
    #[default]
    Delivered,
    /// Its name and description were.
    #[serde(alias = "offered")]
    Listed,
    /// It is a decision.
    Decision,
    /// The client reported that it loaded it by itself.
    Loaded,
}

impl ReceiptKind {
    /// Returns the word in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            ReceiptKind::Delivered => "delivered",
            ReceiptKind::Listed => "listed",
            ReceiptKind::Decision => "decision",
            ReceiptKind::Loaded => "loaded",
        }
    }
}

impl Receipt {
    /// Makes an empty receipt.
    pub fn new(session: &str, client: &str, event: &str, root: &Path) -> Receipt {
        Receipt {
            version: VERSION,
            at: 0,
            session: shorten_text(session),
            agent: None,
            client: client.to_owned(),
            event: shorten_text(event),
            root: root.display().to_string(),
            directory: String::new(),
            held: false,
            trace: ReceiptTrace::default(),
            items: Vec::new(),
            changes: Vec::new(),
            checks: Vec::new(),
        }
    }

    /// Returns its time in words, in UTC.
    pub fn time(&self) -> String {
        // Receipts of a broken clock are shown, too.
        let latest = 253_402_300_799_000;
        let time = SystemTime::UNIX_EPOCH + Duration::from_millis(self.at.min(latest));
        humantime::format_rfc3339_seconds(time).to_string()
    }

    /// Returns the tokens of all items.
    pub fn tokens(&self) -> usize {
        self.items.iter().map(|item| item.tokens).sum()
    }

    /// Appends the receipt to the file of the day.
    pub fn record(mut self, system: &dyn System) {
        let Some(directory) = receipts_directory(system) else { return };
        if system.env(VARIABLE).is_some_and(|value| value == "off") {
            return;
        }
        let now = system.now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        self.at = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        self.trace.shorten_fields();
        for item in &mut self.items {
            item.reason = shorten_text(&item.reason);
            item.name = shorten_text(&item.name);
        }
        for check in &mut self.checks {
            check.finding = shorten_text(&check.finding);
            check.rule = shorten_text(&check.rule);
        }
        let day = day_number(now);
        let name = file_name(day);
        match system.open_dir(&directory) {
            Ok(handle) => {
                if handle.status(OsStr::new(OFF)).is_ok() {
                    return;
                }
                match handle.status(OsStr::new(&name)) {
                    Ok(status) if status.size > MOST_BYTES => return,
                    Ok(_) => {}
                    Err(_) => remove_old(system, &directory, day),
                }
            }
            Err(_) => {
                let _ = system.create_private_dir(&directory);
            }
        }
        if let Ok(mut line) = serde_json::to_string(&self) {
            line.push('\n');
            let _ = system.append(&directory.join(name), line.as_bytes());
        }
    }
}

/// Returns the beginning of the hash of a text.
pub fn content_hash(text: &str) -> String {
    sha256(text.as_bytes())[..16].to_owned()
}

/// The receipts of some days.
#[derive(Debug, Default)]
pub struct Receipts {
    /// The receipts, oldest first.
    pub receipts: Vec<Receipt>,
    /// The lines that are not receipts of this version.
    pub unreadable: usize,
}

impl Receipts {
    /// Reads the receipts of the latest `days`.
    pub fn read(system: &dyn System, days: u64) -> Receipts {
        let mut all = Receipts::default();
        let Some(directory) = receipts_directory(system) else { return all };
        let now = system.now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let first = day_number(now).saturating_sub(days.min(KEPT_DAYS));
        // A clock that went backward has left files of days to come.
        let mut files = self::list_day_files(system, &directory);
        files.retain(|(day, _)| *day >= first);
        files.sort();
        for (_, path) in files {
            let Ok(bytes) = system.read(&path, MOST_BYTES + limits::FILE_BYTES) else { continue };
            for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                match serde_json::from_slice::<Receipt>(line) {
                    Ok(receipt) if receipt.version == VERSION => all.receipts.push(receipt),
                    _ => all.unreadable += 1,
                }
            }
        }
        all
    }
}

/// Returns whether receipts are kept.
pub fn is_on(system: &dyn System) -> bool {
    let is_off = system.env(VARIABLE).is_some_and(|value| value == "off");
    let off = receipts_directory(system).map(|directory| directory.join(OFF));
    !is_off && off.is_some_and(|off| system.resolve(&off).is_err())
}

/// Turns receipts on or off for the user.
pub fn switch_receipts(system: &dyn System, is_on: bool) -> std::io::Result<()> {
    let directory = receipts_directory(system).ok_or(std::io::ErrorKind::NotFound)?;
    let off = directory.join(OFF);
    if !is_on {
        system.create_private_dir(&directory)?;
        return system.append(&off, b"");
    }
    match system.remove_file(&off) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes all receipts. Returns their files.
pub fn clear_receipts(system: &dyn System) -> std::io::Result<usize> {
    let Some(directory) = receipts_directory(system) else { return Ok(0) };
    let mut removed = 0;
    for (_, path) in list_day_files(system, &directory) {
        system.remove_file(&path)?;
        removed += 1;
    }
    Ok(removed)
}

/// Removes the receipts of one project.
pub fn forget_project(system: &dyn System, root: &Path) -> std::io::Result<()> {
    let Some(directory) = receipts_directory(system) else { return Ok(()) };
    for (_, path) in list_day_files(system, &directory) {
        let bytes =
            system.read(&path, MOST_BYTES + limits::FILE_BYTES).map_err(std::io::Error::other)?;
        let lines = bytes.split_inclusive(|byte| *byte == b'\n');
        let is_kept = |line: &&[u8]| {
            serde_json::from_slice::<Receipt>(line)
                .map_or(true, |receipt| Path::new(&receipt.root) != root)
        };
        let kept: Vec<u8> = lines.filter(is_kept).flatten().copied().collect();
        if kept.is_empty() {
            system.remove_file(&path)?;
        } else if kept.len() < bytes.len() {
            system.replace_file(&path, &kept)?;
        }
    }
    Ok(())
}

/// Returns the directory of the receipts.
pub fn receipts_directory(system: &dyn System) -> Option<PathBuf> {
    Some(state_directory(system)?.join("receipts"))
}

fn remove_old(system: &dyn System, directory: &Path, today: u64) {
    for (day, path) in list_day_files(system, directory) {
        if day + KEPT_DAYS < today {
            let _ = system.remove_file(&path);
        }
    }
}

fn list_day_files(system: &dyn System, directory: &Path) -> Vec<(u64, PathBuf)> {
    let entries = system.open_dir(directory).and_then(|handle| handle.entries());
    let entries = entries.unwrap_or_default().into_iter();
    let days = entries.filter_map(|entry| {
        let day = entry.name.to_str()?.strip_suffix(".jsonl")?.parse().ok()?;
        Some((day, directory.join(&entry.name)))
    });
    days.collect()
}

fn file_name(day: u64) -> String {
    format!("{day}.jsonl")
}

fn day_number(now: Duration) -> u64 {
    now.as_secs() / (24 * 60 * 60)
}

fn shorten_text(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => text[..end].to_owned(),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use brief_system::{Files, Machine, MemorySystem};

    use super::*;

    fn receipt() -> Receipt {
        let mut receipt = Receipt::new("s", "claude", "PostToolUse", Path::new("/p"));
        receipt.items.push(ReceiptItem {
            how: ReceiptKind::Delivered,
            file: "a.py".to_owned(),
            action: Some("edit".to_owned()),
            dialect: "agents-yaml".to_owned(),
            name: "context[0]".to_owned(),
            place: "AGENTS.yaml".to_owned(),
            line: 2,
            hash: content_hash("text"),
            tokens: 3,
            reason: "x".repeat(1_000),
            late: None,
        });
        receipt
    }

    #[test]
    fn a_receipt_is_read_back() {
        let system = MemorySystem::new("/p").with_env("XDG_STATE_HOME", "/state");
        receipt().record(&system);
        receipt().record(&system);
        let read = Receipts::read(&system, 1);
        assert_eq!((read.receipts.len(), read.unreadable), (2, 0));
        assert_eq!(read.receipts[0].items[0].place, "AGENTS.yaml");
        assert_eq!(read.receipts[0].items[0].reason.len(), LONGEST);
    }

    #[test]
    fn lines_of_another_version_are_counted() {
        let system = MemorySystem::new("/p").with_env("XDG_STATE_HOME", "/state");
        receipt().record(&system);
        let today =
            day_number(system.now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default());
        let path = receipts_directory(&system).unwrap().join(file_name(today));
        system.append(&path, b"{\"version\": 2}\n\xff\xfe\n{\n").unwrap();
        receipt().record(&system);
        let read = Receipts::read(&system, 1);
        assert_eq!((read.receipts.len(), read.unreadable), (2, 3));
    }

    /// "Bounded in size": a full day records nothing more, and old days go.
    #[test]
    fn a_day_has_a_limit_and_old_days_go() {
        let system = MemorySystem::new("/p").with_env("XDG_STATE_HOME", "/state");
        system.advance_clock(Duration::from_secs((KEPT_DAYS + 2) * 24 * 60 * 60));
        let directory = receipts_directory(&system).unwrap();
        system.create_dir(&directory).unwrap();
        let today =
            day_number(system.now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default());
        let path = |day: u64| directory.join(file_name(day));
        for old in [today - KEPT_DAYS - 1, today - KEPT_DAYS] {
            system.append(&path(old), b"x\n").unwrap();
        }
        receipt().record(&system);
        assert!(system.resolve(&path(today - KEPT_DAYS - 1)).is_err());
        assert!(system.resolve(&path(today - KEPT_DAYS)).is_ok());
        let full = vec![b'\n'; usize::try_from(MOST_BYTES).unwrap()];
        system.append(&path(today), &full).unwrap();
        receipt().record(&system);
        assert_eq!(Receipts::read(&system, 1).receipts.len(), 1);
    }

    #[test]
    fn receipts_can_be_turned_off() {
        let system = MemorySystem::new("/p").with_env("XDG_STATE_HOME", "/state");
        switch_receipts(&system, false).unwrap();
        assert!(!is_on(&system));
        receipt().record(&system);
        assert_eq!(Receipts::read(&system, 1).receipts.len(), 0);
        switch_receipts(&system, true).unwrap();
        receipt().record(&system);
        assert_eq!(Receipts::read(&system, 1).receipts.len(), 1);
        assert_eq!(clear_receipts(&system).unwrap(), 1);
        let system =
            MemorySystem::new("/p").with_env("XDG_STATE_HOME", "/s").with_env(VARIABLE, "off");
        receipt().record(&system);
        assert!(Receipts::read(&system, 1).receipts.is_empty() && !is_on(&system));
    }
}
