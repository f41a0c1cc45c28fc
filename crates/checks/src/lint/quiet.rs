//! What a check leaves out: what cannot be known, echoes of other findings, and what is told on request only.

use std::collections::BTreeSet;
use std::path::PathBuf;

use brief_syntax::{Diagnostic, Rule, Severity, rules};

use super::LintPart;

/// Findings that are reported only on request.
pub(super) const PEDANTIC: [Rule; 4] = [
    rules::item::NO_LICENSE,
    rules::item::COMMAND_EXTENSION,
    rules::item::FOREIGN_SKILL,
    rules::guidance::TOO_MANY_INSTRUCTIONS,
];

/// Removes what is said to be missing, and may be in a directory that was not read.
pub(super) fn drop_unknowable(found: &mut Vec<Diagnostic>) {
    if found.iter().any(|one| one.rule == rules::project::NO_PROJECT) {
        // Links were looked up one by one; these were compared with the list of all files.
        let compared = [
            rules::client::UNUSED_PATTERN,
            rules::guidance::MISSING_TARGET,
            rules::guidance::MISSING_PATH,
        ];
        found.retain(|one| !compared.contains(&one.rule));
    }
    let closed = found.iter().filter(|one| one.rule == rules::project::UNREADABLE_DIRECTORY);
    let closed: Vec<String> = closed
        .filter_map(|one| Some(one.path().file_name()?.to_string_lossy().into_owned()))
        .collect();
    if closed.is_empty() {
        return;
    }
    found.retain(|one| {
        let is_of_all =
            [rules::client::UNUSED_PATTERN, rules::guidance::MISSING_TARGET].contains(&one.rule);
        let is_of_a_path =
            [rules::client::BROKEN_LINK, rules::guidance::MISSING_PATH].contains(&one.rule);
        let names_it = |name: &String| one.message.contains(name.as_str());
        !(is_of_all || is_of_a_path && closed.iter().any(names_it))
    });
}

/// Returns whether a finding is reported only on request. A name that its client reserves and takes anyway is one, and so
/// are notes about references, reach and setup: what may be as it is meant.
pub(super) fn is_small(found: &Diagnostic) -> bool {
    PEDANTIC.contains(&found.rule)
        || found.rule == rules::client::RESERVED_NAME && found.severity != Severity::Error
        || is_publishers_key(found)
        || found.severity == Severity::Note
            && match LintPart::from_code(found.code()) {
                LintPart::Mistakes => false,
                LintPart::Stale | LintPart::Setup => true,
                LintPart::Unused => found.rule == rules::guidance::COSTLY_ITEM,
            }
}

/// Returns whether a finding is about a key of a plugin's manifest that is like none of the client's: publishers keep data of
/// their own there, and the client takes the plugin.
fn is_publishers_key(found: &Diagnostic) -> bool {
    found.rule == rules::client::UNKNOWN_KEY
        && found.severity != Severity::Error
        && found.path().file_name().is_some_and(|name| name == "plugin.json")
        && !found.help.as_ref().is_some_and(|help| help.starts_with("did you mean"))
}

/// Removes what repeats another finding about the same file: a field that was read as if it were quoted where the lines behind
/// it are no YAML either, and a field that an item lacks where the client's rule says so.
pub(super) fn drop_echoes(found: &mut Vec<Diagnostic>) {
    const ECHOES: [(Rule, Rule); 2] = [
        (rules::FRONTMATTER_REPAIRED, rules::FRONTMATTER_INVALID),
        (rules::item::MISSING_FIELD, rules::client::SKILL_FIELD_MISSING),
    ];
    for (echo, cause) in ECHOES {
        let causes = found.iter().filter(|one| one.rule == cause);
        let files: BTreeSet<PathBuf> = causes.map(|one| one.path().to_owned()).collect();
        found.retain(|one| one.rule != echo || !files.contains(one.path()));
    }
}
