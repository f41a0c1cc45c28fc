//! The reader of policy files. Everything that it does not understand is an error with its line.

use std::path::Path;
use std::sync::Arc;

use brief_syntax::toml::{self, Table, TomlEntry, TomlProblem};
use brief_syntax::{Diagnostic, Source, Span, rules};

use super::pattern::SourcePattern;
use super::{PolicyError, PolicyLayer, RequiredItem};
use crate::capability::Capability;

/// The keys of the file.
const KEYS: [&str; 6] = ["capabilities", "execution", "hook", "oci", "required", "sources"];

/// The kinds of items, by their keys.
const KINDS: [(&str, &str); 4] =
    [("agents", "agent"), ("commands", "command"), ("rules", "rule"), ("skills", "skill")];

pub(super) fn parse_layer(
    path: &Path,
    bytes: Vec<u8>,
    home: Option<&Path>,
) -> Result<PolicyLayer, PolicyError> {
    let Ok(text) = String::from_utf8(bytes) else {
        let problem = "is not UTF-8".to_owned();
        return Err(PolicyError::Unreadable { path: path.to_owned(), problem });
    };
    let source = Arc::new(Source::new(path.to_owned(), text));
    let mut problems = Vec::new();
    let invalid = |found: &Diagnostic| PolicyError::Invalid {
        path: path.to_owned(),
        line: found.position().line,
        problem: found.message.clone(),
        help: found.help.clone(),
    };
    let Some(document) = toml::parse_toml(&source, &mut problems) else {
        let missing = || Diagnostic::new(rules::item::INVALID_CONFIG, &source, Span::default(), "");
        return Err(invalid(problems.first().unwrap_or(&missing())));
    };
    let top = Table { source: &source, content: document.as_table(), prefix: "" };
    let mut layer = PolicyLayer { path: path.to_owned(), ..PolicyLayer::default() };
    for entry in top.entries() {
        read_entry(&entry, home, &mut layer).map_err(|problem| invalid(&problem))?;
    }
    Ok(layer)
}

fn read_entry(
    entry: &TomlEntry<'_>,
    home: Option<&Path>,
    layer: &mut PolicyLayer,
) -> Result<(), TomlProblem> {
    match entry.key {
        "execution" => {
            let is_never = entry.match_word(&[("never", true), ("trusted", false)])?;
            layer.execution = is_never.then(|| entry_line(entry));
        }
        "hook" => {
            for entry in entry.table()?.entries() {
                let off = match entry.key {
                    "delivery" => &mut layer.delivery,
                    "enforcement" => &mut layer.enforcement,
                    _ => return Err(entry.unknown_key(&["delivery", "enforcement"])),
                };
                let is_never = entry.match_word(&[("never", true), ("allowed", false)])?;
                *off = is_never.then(|| entry_line(&entry));
            }
        }
        "sources" => {
            for entry in entry.table()?.entries() {
                let patterns = parse_patterns(&entry, home)?;
                match entry.key {
                    "allow" => layer.allow = Some((entry_line(&entry), patterns)),
                    "deny" => {
                        layer
                            .deny
                            .extend(patterns.into_iter().map(|found| (entry_line(&entry), found)));
                    }
                    _ => return Err(entry.unknown_key(&["allow", "deny"])),
                }
            }
        }
        "oci" => super::artifact::parse_artifact_rules(entry.table()?, home, &mut layer.artifacts)?,
        "required" => {
            for entry in entry.table()?.entries() {
                let Some(&(_, kind)) = KINDS.iter().find(|(key, _)| *key == entry.key) else {
                    return Err(entry.unknown_key(&KINDS.map(|(key, _)| key)));
                };
                let items = entry.text_list()?.into_iter().map(|name| RequiredItem { kind, name });
                layer.required.extend(items.map(|item| (entry_line(&entry), item)));
            }
        }
        "capabilities" => {
            for entry in entry.table()?.entries() {
                if entry.key != "never" {
                    return Err(entry.unknown_key(&["never"]));
                }
                for name in entry.text_list()? {
                    let known = Capability::from_name(&name).ok_or_else(|| {
                        let names = Capability::ALL.map(Capability::as_str);
                        let help = format!("known capabilities: {}", names.join(", "));
                        entry.invalid_value(&format!("unknown capability `{name}`"), &help)
                    })?;
                    layer.never.push((entry_line(&entry), known));
                }
            }
        }
        _ => return Err(entry.unknown_key(&KEYS)),
    }
    Ok(())
}

pub(super) fn parse_patterns(
    entry: &TomlEntry<'_>,
    home: Option<&Path>,
) -> Result<Vec<SourcePattern>, TomlProblem> {
    entry.text_list()?.iter().map(|text| parse_pattern(entry, text, home)).collect()
}

pub(super) fn parse_pattern(
    entry: &TomlEntry<'_>,
    text: &str,
    home: Option<&Path>,
) -> Result<SourcePattern, TomlProblem> {
    SourcePattern::compile_pattern(text, home).map_err(|problem| {
        entry.invalid_value(&format!("`{text}` is not a pattern: {problem}"), "")
    })
}

pub(super) fn entry_line(entry: &TomlEntry<'_>) -> usize {
    entry.source.line_number(entry.span.start)
}
