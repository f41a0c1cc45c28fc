//! The files that a client passes over although they lie where it reads.
//!
//! A skill without a description, an agent with a key that the client does not know, a rule with the name of another one:
//! most clients say nothing about it. What is passed over is delivered as any other file.

use std::path::Path;

use brief_profiles::{Client, ClientRead, Form, List, PassedOverFacts, Text};
use brief_syntax::front_matter::FrontMatter;
use brief_syntax::yaml::Value;

use super::model::{Folder, Guide};

/// The beginning of the places that a plugin has.
const PLUGIN: &str = "PLUGIN/";

/// Returns why a client passes a file over, in words that follow its name; `None` if it takes it.
pub(super) fn passed_over_reason(
    client: &Client,
    folder: &Folder,
    guide: &Guide,
    read: &ClientRead,
) -> Option<String> {
    // What a plugin has was not looked at.
    let is_own = || !read.path.starts_with(PLUGIN);
    let of_form = match guide.place.as_ref().map(|place| place.form) {
        Some(Form::Skill) if is_own() => client.loading.skills_passed_over.as_ref(),
        Some(Form::Agent) if is_own() => client.loading.agents_passed_over.as_ref(),
        _ => None,
    };
    let facts = read.passes_over.as_ref().or(of_form)?;
    if facts.nested && is_nested(folder, guide, read) {
        return Some(format!("reads no directories in `{}`", read.path));
    }
    by_name(folder, guide, facts).or_else(|| by_text(guide, facts))
}

fn is_nested(folder: &Folder, guide: &Guide, read: &ClientRead) -> bool {
    let place = folder.path.join(read.path.trim_end_matches('/'));
    guide.path().parent().is_some_and(|parent| parent != place)
}

fn by_name(folder: &Folder, guide: &Guide, facts: &PassedOverFacts) -> Option<String> {
    let others = |places: &[Text], is_same: &dyn Fn(&Path, &Path) -> bool| {
        let mut guides = folder
            .guides
            .iter()
            .filter(|other| other.place.as_ref().is_some_and(|place| places.contains(&place.key)));
        guides.any(|other| is_same(other.path(), guide.path()))
    };
    let is_named = |one: &Path, other: &Path| one.file_name() == other.file_name();
    let is_called = |one: &Path, other: &Path| match (one.file_stem(), other.file_stem()) {
        (Some(one), Some(other)) => one.eq_ignore_ascii_case(other),
        _ => false,
    };
    let place = if others(&facts.named_as_in, &is_named) {
        facts.named_as_in.first()
    } else if others(&facts.called_as_in, &is_called) {
        facts.called_as_in.first()
    } else {
        None
    }?;
    Some(format!("uses the file of this name in `{place}` instead"))
}

fn by_text(guide: &Guide, facts: &PassedOverFacts) -> Option<String> {
    let PassedOverFacts { without, without_key, keys, .. } = facts;
    let has_rule =
        facts.needs_header || !without.is_empty() || !without_key.is_empty() || !keys.is_empty();
    // Most files have what is asked for in a plain line; parsing all of them again took 3 % of a hook.
    let is_plain = keys.is_empty()
        && without.iter().chain(without_key).all(|key| is_plainly_set(guide.source.text(), key))
        && (!facts.needs_header || guide.source.text().starts_with("---\n"));
    if is_plain {
        return by_form(guide, facts);
    }
    let front = has_rule.then(|| FrontMatter::from_source(&guide.source));
    let found = |key: &str| front.as_ref().and_then(|front| front.get(key));
    let is_empty = |key: &&Text| {
        found(key).is_none_or(|node| match node.value() {
            Value::Null => true,
            _ => node.as_str().is_some_and(|text| text.trim().is_empty()),
        })
    };
    if facts.needs_header && front.as_ref().is_some_and(|front| front.header.is_none()) {
        return Some("skips files without frontmatter".to_owned());
    }
    if let Some(key) = without.iter().find(is_empty) {
        return Some(format!("skips files without `{key}`"));
    }
    if let Some(key) = without_key.iter().find(|key| found(key).is_none()) {
        return Some(format!("skips files without `{key}`"));
    }
    if !keys.is_empty()
        && let Some(key) = front.as_ref().and_then(|front| unknown_key(front, keys))
    {
        return Some(format!("ignores files with `{key}`"));
    }
    by_form(guide, facts)
}

/// Returns whether a line of the header sets a key to a word, which needs no parser to see.
fn is_plainly_set(text: &str, key: &str) -> bool {
    let Some(header) = text.strip_prefix("---\n") else { return false };
    let mut lines = header.split('\n').take_while(|line| !line.starts_with("---"));
    lines.any(|line| {
        let value = line.strip_prefix(key).and_then(|rest| rest.strip_prefix(": "));
        value.is_some_and(|value| match value.as_bytes() {
            [b'n' | b'N', ..] => !value.trim_end().eq_ignore_ascii_case("null"),
            [b'"' | b'\'', first, ..] | [first, ..] => first.is_ascii_alphabetic(),
            [] => false,
        })
    })
}

fn by_form(guide: &Guide, facts: &PassedOverFacts) -> Option<String> {
    let PassedOverFacts { shorter_than, has_blank_in_name, .. } = facts;
    if *shorter_than > 0 && guide.content().trim().chars().count() < *shorter_than {
        return Some(format!("skips files with fewer than {shorter_than} characters"));
    }
    let has_blank = *has_blank_in_name && guide.name.trim().contains(char::is_whitespace);
    has_blank.then(|| "skips names with spaces".to_owned())
}

fn unknown_key(front: &FrontMatter, keys: &List<Text>) -> Option<String> {
    let root = front.header.as_ref()?.yaml.root()?;
    let Value::Mapping(entries) = root.value() else { return None };
    entries.fields().map(|field| field.name().to_owned()).find(|name| !keys.contains_text(name))
}
