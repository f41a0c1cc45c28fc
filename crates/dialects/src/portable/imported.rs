//! Items that were made from a client's file (`metadata.imported`, ruling P9).

use brief_syntax::{Diagnostic, Severity, rules};

use super::model::PortableItem;
use super::{check, parse};

/// The fields that the format defines, besides clients' blocks.
const FIELDS: [&str; 13] = [
    "schema",
    "name",
    "description",
    "license",
    "audience",
    "metadata",
    "scope",
    "mode",
    "model",
    "tools",
    "preload-skills",
    "items",
    "requires",
];

/// Returns whether the format defines a field.
pub fn is_format_field(name: &str) -> bool {
    FIELDS.contains(&name)
}

/// Returns whether a name is taken by a field of the format or of commands, so that no client can have it.
pub fn is_taken_field(name: &str) -> bool {
    is_format_field(name) || matches!(name, "arguments" | "argument-hint")
}

/// Returns whether an item that has no directory could be compiled: its fields and its text have no errors.
pub fn is_sound(item: &PortableItem, clients: &[&str]) -> bool {
    let mut found = Vec::new();
    parse::check_item(&item.id, &item.document, clients, &mut found);
    found.extend(check::overrides(item, clients));
    found.extend(check::body(item, clients));
    item.is_valid() && found.iter().all(|diagnostic| diagnostic.severity != Severity::Error)
}

/// Lets an imported text keep what a new one may not say.
pub(super) fn as_warning(diagnostic: &mut Diagnostic) {
    let is_kept = matches!(
        diagnostic.rule,
        rules::portable::CLIENT_CONSTRUCT | rules::portable::LINK_OUTSIDE
    );
    if is_kept && diagnostic.severity == Severity::Error {
        diagnostic.severity = Severity::Warning;
    }
}
