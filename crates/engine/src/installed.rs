//! Installed items in an answer.
//!
//! An item from a registry lies among the files that clients read, once for each client, and is read
//! with them. In an answer it is what it was written as, one portable rule, skill or agent: in the
//! words of the client that asks, never in those of another one (ruling G14).

use std::collections::{HashMap, HashSet};
use std::path::Path;

use brief_dialects::installed::{Installed, InstalledPiece};
use brief_dialects::portable::{self, ItemKind};
use brief_dialects::{LoadedPart, LockRole, Moment, Name, Reason, Resolution, lock_role, tasks};
use brief_profiles::{BUILTIN, Client};

/// Returns whether files of a dialect can be installed ones.
fn is_holder(dialect: &str) -> bool {
    lock_role(dialect) == LockRole::Holds
}

/// The name of an installed file in an answer: dialect, kind and name.
pub(crate) type Label<'c> = (&'static str, &'static str, Name<'c>);

/// The installed items of a catalog, and which copy of each counts for who asks.
pub(crate) struct Variants<'c> {
    installed: Vec<&'c Installed>,
    chosen: HashMap<(usize, usize), Option<&'c Path>>,
}

impl<'c> Variants<'c> {
    /// Chooses among the copies that an answer has found.
    pub(crate) fn choose_copies(
        installed: Vec<&'c Installed>,
        answer: &Resolution<'c>,
        client: Option<&str>,
    ) -> Variants<'c> {
        let mut variants = Variants { installed, chosen: HashMap::new() };
        if variants.installed.is_empty() {
            return variants;
        }
        let items = answer.items.iter().map(|applied| (applied.item.dialect, applied.item.path));
        // A copy that gave way to another one of the same text is not there to be chosen.
        let left_out = answer.left_out.iter().filter(|left_out| !is_repeated(&left_out.reason));
        let left_out = left_out.map(|left_out| (left_out.dialect, left_out.path));
        let found = items.chain(left_out).filter(|(dialect, _)| is_holder(dialect));
        let listed: Vec<&Path> = found.map(|(_, path)| path).collect();
        let found: HashSet<&Path> = listed.iter().copied().collect();
        for path in listed {
            let Some((key, piece)) = variants.find_piece(path) else { continue };
            variants.chosen.entry(key).or_insert_with(|| {
                let copy = piece.item.copy_for(client, |path| found.contains(path));
                copy.map(|copy| copy.path.as_path())
            });
        }
        variants
    }

    /// Returns the item that a file belongs to, with what tells it from all others.
    fn find_piece(&self, path: &Path) -> Option<((usize, usize), InstalledPiece<'c>)> {
        let mut all = self.installed.iter().enumerate();
        all.find_map(|(place, installed)| {
            let piece = installed.find_piece(path)?;
            Some(((place, piece.index), piece))
        })
    }

    /// Returns what a file of a dialect is called when it is an installed one, and why it is not the
    /// copy that counts, if it is not.
    pub(crate) fn find_label(
        &self,
        dialect: &str,
        path: &Path,
    ) -> Option<(Label<'c>, Option<Reason<'c>>)> {
        if !is_holder(dialect) {
            return None;
        }
        let (key, InstalledPiece { item, copy, .. }) = self.find_piece(path)?;
        let label = (portable::NAME, item.kind.as_str(), Name::Text(&item.name));
        let reason = match copy {
            None => Some(Reason::Beside { kind: item.kind.as_str(), name: &item.name }),
            Some(_) if self.chosen.get(&key).copied().flatten() == Some(path) => None,
            Some(copy) => Some(Reason::OtherVariant { client: &copy.client }),
        };
        Some((label, reason))
    }
}

/// Calls installed items by their own names, and leaves out every copy but the one for who asks.
pub(crate) fn rename_installed<'c>(
    installed: Vec<&'c Installed>,
    answer: &mut Resolution<'c>,
    moment: &Moment,
) {
    let client = moment.client.as_deref();
    let variants = Variants::choose_copies(installed, answer, client);
    for left_out in &mut answer.left_out {
        if let Some((label, other)) = variants.find_label(left_out.dialect, left_out.path) {
            (left_out.dialect, left_out.kind, left_out.name) = label;
            let is_loaded = matches!(left_out.reason, Reason::LoadedByClient { .. });
            if let Some(other) = other.filter(|_| !is_loaded && !is_repeated(&left_out.reason)) {
                left_out.reason = other;
            }
        }
    }
    // This client reads the rules in `.agents`, because a file of the user lists them.
    let is_listing = |known: &&Client| known.rule.as_ref().is_some_and(|rule| rule.is_listed);
    let listing_client = client.and_then(|client| BUILTIN.find_client(client)).filter(is_listing);
    let mut kept = Vec::with_capacity(answer.items.len());
    for mut applied in std::mem::take(&mut answer.items) {
        let item = &mut applied.item;
        let Some((label, other)) = variants.find_label(item.dialect, item.path) else {
            kept.push(applied);
            continue;
        };
        let is_listed = item.dialect == tasks::NAME
            && label.1 == ItemKind::Rule.as_str()
            && listing_client.is_some();
        (item.dialect, item.kind, item.name) = label;
        let loaded = listing_client
            .filter(|_| is_listed)
            .map(|listing| Reason::LoadedByClient { client: &listing.id, part: LoadedPart::Whole });
        match other.or(loaded) {
            Some(reason) => answer.left_out.push(applied.leave_out(reason)),
            None => kept.push(applied),
        }
    }
    answer.items = kept;
    answer.left_out.sort_by_key(|left_out| left_out.level);
}

fn is_repeated(reason: &Reason<'_>) -> bool {
    matches!(reason, Reason::SameText { .. } | Reason::SameTextLoaded { .. })
}
