//! `abilities`, or `allow` and `deny` at the top level: two spellings, of which one may be used.

use std::collections::BTreeSet;

use brief_syntax::Span;
use brief_syntax::yaml::{Mapping, Node, Value as Yaml};
use brief_syntax::{Severity, rules};

use super::{Keyed, Metadata};
use crate::agents::ability::{Ability, Base};
use crate::agents::notes::AgentNotes;

/// The limit of abilities in one list.
const MOST: usize = 1_000;

pub(super) fn parse_abilities(
    notes: &mut AgentNotes<'_>,
    keyed: &Keyed<'_>,
    metadata: &mut Metadata,
) {
    let (mut allow, mut deny) = (keyed.get("allow"), keyed.get("deny"));
    if let Some(node) = keyed.get("abilities") {
        // Y42: reading only one of them would lose the denials of the other.
        if allow.is_some() || deny.is_some() {
            return notes.report(
                rules::agent_file::ABILITIES_TWICE,
                node.span(),
                "`abilities` is used together with `allow` or `deny`, which is ambiguous",
                "move all of them below `abilities:`",
            );
        }
        match node.value() {
            Yaml::Mapping(mapping) => {
                let below = index_ability_fields(notes, mapping);
                (allow, deny) = (below.get("allow"), below.get("deny"));
            }
            _ => allow = Some(node),
        }
    }
    metadata.abilities_span = allow.or(deny).map_or(Span::empty_at(0), Node::span);
    let allowed = allow.map(|node| parse_ability_list(notes, "allow", node));
    let denied = deny.map(|node| parse_ability_list(notes, "deny", node)).unwrap_or_default();
    report_ability_overlaps(notes, allowed.as_deref().unwrap_or_default(), &denied);
    let abilities = |found: Vec<(Ability, Span)>| found.into_iter().map(|(name, _)| name).collect();
    metadata.abilities.allow = allowed.map(abilities);
    metadata.abilities.deny = abilities(denied);
}

/// Reads the fields of `abilities`. An unknown field may be a misspelled `deny`, so it is an error.
fn index_ability_fields<'y>(notes: &mut AgentNotes<'_>, mapping: Mapping<'y>) -> Keyed<'y> {
    let before = notes.list.len();
    let keyed = Keyed::from_mapping(mapping, &["allow", "deny"], "`abilities`", notes);
    for note in &mut notes.list[before..] {
        note.severity = Severity::Error;
    }
    keyed
}

fn parse_ability_list(
    notes: &mut AgentNotes<'_>,
    name: &str,
    node: Node<'_>,
) -> Vec<(Ability, Span)> {
    let mut found: Vec<(Ability, Span)> = Vec::new();
    let mut known = BTreeSet::new();
    let mut add = |text: &str, span, notes: &mut AgentNotes<'_>| match text.parse::<Ability>() {
        Ok(ability) if !known.insert(ability.clone()) => {}
        Ok(ability) if found.len() < MOST => found.push((ability, span)),
        Ok(_) => {
            let message = format!("the list has more than {MOST} abilities");
            notes.report(rules::agent_file::ABILITY, span, message, "allow or deny all of `sh`");
        }
        Err(error) => {
            notes.report(rules::agent_file::ABILITY, span, error.to_string(), error.help());
        }
    };
    match node.value() {
        // Y45: no abilities.
        Yaml::Scalar("false" | "False" | "FALSE") if node.is_plain() => {}
        Yaml::Scalar(text) => {
            let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
            parts.for_each(|part| add(part, node.span(), notes));
        }
        Yaml::Sequence(items) => {
            for item in items.iter() {
                match item.value() {
                    Yaml::Scalar(text) => add(text, item.span(), notes),
                    Yaml::Mapping(mapping) => {
                        let field = mapping.fields().next();
                        let written = field.map(|field| {
                            let value = field.value.as_str().unwrap_or_default();
                            format!("write `{}:{value}` without a space", field.name())
                        });
                        let help = written.unwrap_or_else(|| "write a name".to_owned());
                        let message = "an ability is a name, not a mapping";
                        notes.report(rules::agent_file::ABILITY, item.span(), message, help);
                    }
                    other => {
                        let message = format!("an ability is a name, not {}", other.noun());
                        notes.report(
                            rules::agent_file::ABILITY,
                            item.span(),
                            message,
                            "write a name",
                        );
                    }
                }
            }
        }
        other => {
            let message = format!("`{name}` is {}", other.noun());
            notes.report(
                rules::agent_file::ABILITY,
                node.span(),
                message,
                "write a list of abilities",
            );
        }
    }
    found
}

/// A73, A74, Y46: reports equal names in both lists. A base name and a program do not contradict
/// each other; the denial wins.
fn report_ability_overlaps(
    notes: &mut AgentNotes<'_>,
    allow: &[(Ability, Span)],
    deny: &[(Ability, Span)],
) {
    for (allowed, span) in allow {
        for (denied, _) in deny.iter().filter(|(denied, _)| denied.forbids(allowed)) {
            match (allowed, denied) {
                (Ability::Program(program), Ability::Base(Base::Sh)) => notes.report(
                    rules::agent_file::UNUSED_ABILITY,
                    *span,
                    format!("allowing `sh:{program}` has no effect: all of `sh` is denied"),
                    "remove it, or deny single programs",
                ),
                _ => notes.report(
                    rules::agent_file::ABILITY_OVERLAP,
                    *span,
                    format!("`{allowed}` is both allowed and denied"),
                    "remove one",
                ),
            }
        }
    }
}
