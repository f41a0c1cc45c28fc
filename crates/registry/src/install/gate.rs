//! The gate for items: their capabilities, and the findings that the user has to accept first.
//!
//! Capabilities are derived from the content. The list in `brief.lock` is compared and not believed, unless
//! this machine has derived it itself ([`super::derived`]).

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use brief_dialects::portable::output::AddedLine;
use brief_dialects::portable::{ItemId, PortableItem};
use brief_safety::capability::{Capability, CapabilityFinding, Inventory};
use brief_safety::policy::Policy;
use brief_syntax::text::visible_line;
use brief_syntax::{Diagnostic, Severity, Source, Span};
use brief_system::Permission;
use serde::Serialize;

use crate::lock::{Lock, LockedItem};
use crate::outputs::item::{ItemFiles, changed_file};

/// The capabilities of a new or changed item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ItemCapabilities {
    /// All capabilities, sorted: `hosts api.example.com`.
    pub all: Vec<String>,
    /// The capabilities that it did not have before.
    pub added: Vec<String>,
}

impl ItemCapabilities {
    /// Compares the capabilities with those before, if there were some.
    pub(super) fn new(all: &[String], before: Option<&[String]>) -> ItemCapabilities {
        let before = before.unwrap_or_default();
        let added = all.iter().filter(|fact| !before.contains(fact)).cloned().collect();
        ItemCapabilities { all: all.to_vec(), added }
    }
}

/// Derives the capabilities of an item from all of its files. The error is the problem of a file that has changed since it was
/// recorded.
pub(super) fn derive_capabilities(
    item: &PortableItem,
    item_files: &ItemFiles,
) -> Result<Vec<CapabilityFinding>, Box<Diagnostic>> {
    let mut inventory = Inventory::new(item.kind().as_str());
    let directory = item.directory();
    let overrides = item.overrides().iter().map(|own| &own.source);
    for source in std::iter::once(item.document().source()).chain(overrides) {
        let name = source.path().file_name().map(|name| name.to_string_lossy().into_owned());
        let (name, content) = (name.unwrap_or_default(), source.bytes_from_line(0).to_vec());
        inventory.scan_file(&name, source.path(), content, Permission::Data);
    }
    let mut changed = None;
    item_files.read_each(|path, content, permission| match content {
        Ok(content) => inventory.scan_file(path, &directory.join(path), content, permission),
        Err(error) => changed = Some(changed_file(item, path, &error)),
    });
    changed.map_or_else(|| Ok(inventory.finish()), Err)
}

/// The beginning of a fact about a line that a client of the project's own adds to the instructions that clients share.
const OF_A_LINE: &str = "imports AGENTS.md: ";

/// Returns whether a list has facts that depend on clients, and not on the item alone.
pub(super) fn names_lines(facts: &[String]) -> bool {
    facts.iter().any(|fact| fact.starts_with(OF_A_LINE))
}

/// Returns the capabilities of lines that clients' files add: each line is one, and what it says counts as in an item.
pub(super) fn of_lines(lines: &[AddedLine]) -> Vec<CapabilityFinding> {
    let mut findings = Vec::new();
    for AddedLine { client, file, line } in lines {
        let path = PathBuf::from(format!(".brief/clients/{client}.toml"));
        let mut inventory = Inventory::new("rule");
        inventory.scan_file(file, &path, line.clone().into_bytes(), Permission::Data);
        findings.extend(inventory.finish());
        findings.push(CapabilityFinding {
            capability: Capability::Imports,
            evidence: visible_line(&format!("{file}: {line}")).into_owned(),
            source: Arc::new(Source::new(path, line.clone())),
            span: Span::default(),
        });
    }
    findings
}

/// Returns the lines that cannot be accepted: a reader of the user's file would not see them.
pub(super) fn refused_lines(findings: &[CapabilityFinding]) -> Vec<Diagnostic> {
    let blocking = findings.iter().filter(|found| found.capability.is_blocking());
    let error = |found: &CapabilityFinding| found.to_diagnostic().with_severity(Severity::Error);
    blocking.map(|found| error(found).with_help("remove it from the client's file")).collect()
}

/// Returns the findings that block an item: hidden text and opaque files that the user has not accepted.
pub(super) fn check_acceptance(
    findings: &[CapabilityFinding],
    sha256: &str,
    accepted: &BTreeSet<String>,
) -> Vec<Diagnostic> {
    if accepted.contains(sha256) {
        return Vec::new();
    }
    let blocking = findings.iter().filter(|found| found.capability.is_blocking());
    let help = format!("review it, then use `--accept {sha256}` to install exactly this content");
    let error = |found: &CapabilityFinding| found.to_diagnostic().with_severity(Severity::Error);
    blocking.map(|found| error(found).with_help(&help)).collect()
}

/// Returns the capabilities of an item that a policy forbids. The user cannot accept those.
pub(super) fn check_policy(findings: &[CapabilityFinding], policy: &Policy) -> Vec<Diagnostic> {
    let forbidden = findings.iter().filter_map(|found| {
        let decision = policy.find_capability_rule(found.capability)?;
        let error = found.to_diagnostic().with_severity(Severity::Error);
        Some(error.with_help(decision.to_string()))
    });
    forbidden.collect()
}

/// Returns whether an item with these facts may be installed. For a blocked item the findings have to be
/// derived again, because messages need their places.
pub(super) fn allows_installation(
    facts: &[String],
    sha256: &str,
    accepted: &BTreeSet<String>,
    policy: &Policy,
) -> bool {
    let is_accepted = accepted.contains(sha256);
    facts.iter().all(|fact| {
        let name = fact.split(' ').next().unwrap_or_default();
        Capability::from_name(name).is_some_and(|capability| {
            (is_accepted || !capability.is_blocking())
                && policy.find_capability_rule(capability).is_none()
        })
    })
}

/// Returns the capabilities of new and changed items.
pub(super) fn collect_changed_capabilities(
    before: &Lock,
    after: &Lock,
) -> BTreeMap<ItemId, ItemCapabilities> {
    let changed = after.items.iter().filter_map(|(id, item)| {
        let known = before.items.get(id);
        let is_same =
            |known: &LockedItem| known.sha256 == item.sha256 && known.source == item.source;
        let facts = known.map(|known| known.capabilities.as_slice());
        let told = || ItemCapabilities::new(&item.capabilities, facts);
        (!known.is_some_and(is_same)).then(|| (id.clone(), told()))
    });
    changed.collect()
}

/// Returns a sentence for each item whose list in the lock was forged: the content is the same, and the list
/// differs.
pub(super) fn describe_forged_lists(before: &Lock, after: &Lock) -> Vec<String> {
    if before.is_old {
        return Vec::new();
    }
    let same = after.items.iter().filter_map(|(id, item)| {
        let known = before.items.get(id).filter(|known| known.sha256 == item.sha256)?;
        (known.capabilities != item.capabilities).then(|| {
            let difference = describe_difference(known, item);
            format!("updated the capabilities of the {id} in `brief.lock`: {difference}")
        })
    });
    same.collect()
}

/// Returns a sentence for each accepted content that no item has.
pub(super) fn describe_unused_accepts(accepted: &BTreeSet<String>, lock: &Lock) -> Vec<String> {
    let is_used = |sha256: &&String| {
        lock.items.values().any(|item| item.sha256 == **sha256)
            || lock.dependencies.iter().any(|locked| locked.sha256 == **sha256)
    };
    let unused = accepted.iter().filter(|sha256| !is_used(sha256));
    unused.map(|sha256| format!("no item has the content hash of `--accept {sha256}`")).collect()
}

/// Returns the facts that only one of two lists has, as text.
pub(super) fn describe_difference(known: &LockedItem, item: &LockedItem) -> String {
    let (before, after) = (&known.capabilities, &item.capabilities);
    let only = |list: &[String], other: &[String], sign: char| {
        let only = list.iter().filter(|fact| !other.contains(fact));
        only.map(|fact| format!("{sign} {fact}")).collect::<Vec<_>>()
    };
    let mut facts = only(after, before, '+');
    facts.extend(only(before, after, '-'));
    let more = facts.len().saturating_sub(3);
    facts.truncate(3);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", facts.join(", "))
}
