//! Fields of an imported item that go back to their client as its file had them (ruling P9).
//!
//! A client reads `**/*.{ts,tsx}` and the two patterns that it stands for alike, and `Read, Grep` like a list. The item
//! says what is meant, `metadata.imported.written` how the file said it. The latter counts as long as both mean the same,
//! so that a user changes one place.

use std::sync::Arc;

use brief_dialects::native::portable_patterns;
use brief_profiles::Form;
use brief_syntax::Source;
use brief_syntax::front_matter::FrontMatter;
use brief_syntax::yaml::{Mapping, Node, Value as Read};

use crate::profile::{FieldRule, FieldValue, From, Shape};

use super::ItemCompiler;
use super::fields::expand_alternatives;
use super::yaml::{self, YamlValue, is_printable, parts_of, text_of};

impl ItemCompiler<'_> {
    /// Returns a field as the original has it, if it means the same as the item.
    pub(super) fn as_written(
        &self,
        rule: &FieldRule,
        written: Option<Mapping<'_>>,
    ) -> Option<YamlValue> {
        let node = written?.get(&rule.key)?;
        let FieldValue::Item { from, shape, .. } = &rule.value else { return None };
        let written = yaml::of_node(node);
        let (read, output) = match &written {
            YamlValue::Text(line) if *shape == Shape::Bare => {
                (value_of_line(&rule.key, line)?, YamlValue::Bare(line.clone()))
            }
            _ => (written.clone(), written),
        };
        let is_it = match from {
            From::ScopePaths => says_scope(self.pattern_form(), &read, &self.item.scope_paths()),
            From::Tools if self.is_omitted("tools") => false,
            From::Tools => says_list(&read, &self.translate_tools(&mut Vec::new())),
            From::PreloadSkills => says_list(&read, &self.item.preload_skills()),
            _ => false,
        };
        is_it.then_some(output)
    }
}

/// Returns whether a value has these names, as a list or as a text with commas.
fn says_list(value: &YamlValue, names: &[&str]) -> bool {
    matches!(value, YamlValue::List(_) | YamlValue::Text(_))
        && parts_of(value).is_some_and(|parts| parts == names)
}

/// Returns whether a client with a form reads the patterns of an item's scope in a value.
pub(crate) fn says_scope(form: Form, value: &YamlValue, scope: &[&str]) -> bool {
    let values: Option<Vec<&str>> = match value {
        YamlValue::List(list) => list.iter().map(text_of).collect(),
        value => text_of(value).map(|text| vec![text]),
    };
    let Some(values) = values else { return false };
    let (patterns, unsaid) = portable_patterns(form, &values);
    let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
    unsaid.is_empty() && expand_patterns(&patterns) == expand_patterns(scope)
}

/// Returns patterns with every alternative by itself, sorted.
pub(crate) fn expand_patterns(patterns: &[&str]) -> Vec<String> {
    let each = |pattern: &&str| {
        expand_alternatives(pattern).unwrap_or_else(|| vec![(*pattern).to_owned()])
    };
    let mut all: Vec<String> = patterns.iter().flat_map(each).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Reads a value that is written without quotes of ours; `None` for one that a client which reads lines could read as
/// something wider: a comment, several lines, or what YAML takes for a mark.
fn value_of_line(key: &str, line: &str) -> Option<YamlValue> {
    let is_line = line.trim() == line && !line.is_empty() && line.chars().all(is_printable);
    let is_marked = line.starts_with(['&', '!', '|', '>', '%', '@', '`', '#']);
    if !is_line || is_marked || line.contains(" #") {
        return None;
    }
    let source = Arc::new(Source::new("", format!("---\n{key}: {line}\n---\n")));
    let front = FrontMatter::from_source(&source);
    let root = front.header.as_ref()?.yaml.root().map(Node::value);
    let Some(Read::Mapping(fields)) = root else { return None };
    let mut fields = fields.fields();
    let field = fields.next().filter(|field| field.name() == key)?;
    fields.next().is_none().then(|| yaml::of_node(field.value))
}
