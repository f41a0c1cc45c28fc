//! `context-config.json`: read field by field, and merged layer by layer.
//!
//! A bad field is dropped alone, because dropping the file would drop its `excludeFiles` too. For
//! an invalid value the stricter reading holds: a single string is one exclude pattern, but no
//! include pattern.

use std::collections::{BTreeMap, btree_map};
use std::path::Path;
use std::sync::Arc;

use brief_syntax::limits;
use brief_syntax::near_miss::suggest_nearest;
use brief_syntax::source::Encoding;
use brief_syntax::{Diagnostic, Rule, Source, Span, rules};
use jsonc_parser::ast::{Array, Object, ObjectProp, Value};
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::{CollectOptions, ParseResult, parse_to_ast};

use super::mcp::{self, McpEntry};
use super::model::{
    CONFIG_NAME, Config, ConfigPattern, ConfiguredServer, Flag, HostedOrigin, HostedScope,
};
use crate::json::json_options;

/// The valid part of one configuration file.
#[derive(Debug, Clone)]
pub struct ConfigFile {
    /// The text and its path.
    pub source: Arc<Source>,
    pub include_files: Vec<(String, Span)>,
    pub exclude_files: Vec<(String, Span)>,
    pub ignore_global_context: Option<(bool, Span)>,
    pub ignore_ancestor_context: Option<(bool, Span)>,
    pub servers: Vec<(String, McpEntry, Span)>,
}

/// Reads a configuration file. No error in it is fatal.
pub fn parse_hosted_config(source: &Arc<Source>) -> (ConfigFile, Vec<Diagnostic>) {
    let file = ConfigFile {
        source: Arc::clone(source),
        include_files: Vec::new(),
        exclude_files: Vec::new(),
        ignore_global_context: None,
        ignore_ancestor_context: None,
        servers: Vec::new(),
    };
    let bom = source.text().len() - source.text().trim_start_matches('\u{feff}').len();
    let text = &source.text()[bom..];
    let mut reader =
        ConfigReader { file, report: ConfigReport { source, shift: bom, diagnostics: Vec::new() } };
    if !text.trim().is_empty() {
        reader.parse_config(text);
    }
    (reader.file, reader.report.diagnostics)
}

pub(super) struct ConfigReport<'r> {
    source: &'r Arc<Source>,
    /// The number of bytes before the parsed text.
    shift: usize,
    diagnostics: Vec<Diagnostic>,
}

impl ConfigReport<'_> {
    pub(super) fn to_span(&self, range: Range) -> Span {
        Span::new(self.shift + range.start, self.shift + range.end)
    }

    pub(super) fn warn(
        &mut self,
        rule: Rule,
        range: Range,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let span = self.to_span(range);
        let diagnostic = Diagnostic::new(rule, self.source, span, message);
        self.diagnostics.push(diagnostic.with_help(help));
    }

    pub(super) fn report_invalid_field(
        &mut self,
        range: Range,
        message: impl Into<String>,
        help: &str,
    ) {
        self.warn(rules::context_dir::CONFIG_INVALID_FIELD, range, message, help);
    }

    pub(super) fn unknown_key(
        &mut self,
        property: &ObjectProp<'_>,
        known: &[&str],
        help: Option<String>,
    ) {
        let name = property.name.as_str();
        let help = help
            .or_else(|| suggest_nearest(name, known))
            .unwrap_or_else(|| format!("known keys: `{}`", known.join("`, `")));
        let range = property.name.range();
        let message = format!("unknown key `{name}` is ignored");
        self.warn(rules::context_dir::CONFIG_UNKNOWN_KEY, range, message, help);
    }

    /// Reports duplicate keys of an object.
    pub(super) fn report_duplicate_keys(&mut self, object: &Object<'_>) {
        let mut names: Vec<(&str, Range)> = Vec::with_capacity(object.properties.len());
        names.extend(object.properties.iter().map(|p| (p.name.as_str(), p.name.range())));
        names.sort_by_key(|&(name, range)| (name, range.start));
        for pair in names.windows(2) {
            if let [(first, _), (name, range)] = pair
                && first == name
            {
                let message = format!("duplicate key `{name}`");
                self.report_invalid_field(*range, message, "remove one of them");
            }
        }
    }
}

/// Returns the noun for a JSON value in a message.
pub(super) fn json_value_noun(value: &Value<'_>) -> &'static str {
    match value {
        Value::StringLit(_) => "text",
        Value::NumberLit(_) => "a number",
        Value::BooleanLit(_) => "a boolean",
        Value::Object(_) => "an object",
        Value::Array(_) => "a list",
        Value::NullKeyword(_) => "null",
    }
}

struct ConfigReader<'r> {
    file: ConfigFile,
    report: ConfigReport<'r>,
}

const TOP: [&str; 2] = ["clientContext", "mcpServers"];
const FIELDS: [&str; 4] =
    ["includeFiles", "excludeFiles", "ignoreGlobalContext", "ignoreAncestorContext"];

/// Returns the field for the short name that other tools have.
fn full_name(short: &str) -> Option<&'static str> {
    match short {
        "include" => Some("includeFiles"),
        "exclude" => Some("excludeFiles"),
        _ => None,
    }
}

impl ConfigReader<'_> {
    fn parse_config(&mut self, text: &str) {
        if let Encoding::Invalid { offset } = self.report.source.encoding() {
            let range = Range::from_byte_index(offset.saturating_sub(self.report.shift));
            let message = "the configuration is not UTF-8, so it is ignored";
            let help = "save the file as UTF-8";
            return self.report.warn(rules::context_dir::CONFIG_INVALID_JSON, range, message, help);
        }
        match parse_to_ast(text, &CollectOptions::default(), &json_options(false, false)) {
            Ok(ParseResult { value: Some(Value::Object(top)), .. }) => self.read_top(&top),
            Ok(ParseResult { value: Some(other), .. }) => {
                let message =
                    format!("the configuration is {}, not an object", json_value_noun(&other));
                self.report.report_invalid_field(
                    other.range(),
                    message,
                    "write `{}` with the keys in it",
                );
            }
            Ok(_) => {}
            Err(error) => {
                let message =
                    format!("the configuration is not JSON and is ignored: {}", error.kind());
                let help =
                    "JSON allows no comments or trailing commas, and needs quotes around every key";
                self.report.warn(
                    rules::context_dir::CONFIG_INVALID_JSON,
                    error.range(),
                    message,
                    help,
                );
            }
        }
    }

    fn read_top(&mut self, top: &Object<'_>) {
        self.report.report_duplicate_keys(top);
        for property in &top.properties {
            match property.name.as_str() {
                "clientContext" => match &property.value {
                    Value::Object(object) => self.read_client_context(object),
                    other => self.report_wrong_type(other, "clientContext", "an object"),
                },
                "mcpServers" => match &property.value {
                    Value::Object(object) => {
                        self.report.report_duplicate_keys(object);
                        object.properties.iter().for_each(|server| self.read_server(server));
                    }
                    other => {
                        self.report_wrong_type(other, "mcpServers", "an object of servers by name");
                    }
                },
                "$schema" => {}
                name => {
                    let meant = full_name(name).or(FIELDS.into_iter().find(|field| *field == name));
                    let help = meant.map(|field| format!("write it as `clientContext.{field}`"));
                    self.report.unknown_key(property, &TOP, help);
                }
            }
        }
    }

    fn read_client_context(&mut self, object: &Object<'_>) {
        self.report.report_duplicate_keys(object);
        for property in &object.properties {
            match property.name.as_str() {
                "includeFiles" => {
                    let patterns = self.parse_patterns(property, None);
                    self.file.include_files.extend(patterns);
                }
                "excludeFiles" => {
                    let alone = property.value.as_string_lit().map(|text| text.value.to_string());
                    let patterns = self.parse_patterns(property, alone);
                    self.file.exclude_files.extend(patterns);
                }
                "ignoreGlobalContext" => {
                    let flag = self.parse_flag(property);
                    self.file.ignore_global_context = flag.or(self.file.ignore_global_context);
                }
                "ignoreAncestorContext" => {
                    let flag = self.parse_flag(property);
                    self.file.ignore_ancestor_context = flag.or(self.file.ignore_ancestor_context);
                }
                name => {
                    let help = full_name(name).map(|field| format!("did you mean `{field}`?"));
                    self.report.unknown_key(property, &FIELDS, help);
                }
            }
        }
    }

    fn report_wrong_type(&mut self, value: &Value<'_>, name: &str, expected: &str) {
        let message =
            format!("`{name}` is {}, not {expected}, and is ignored", json_value_noun(value));
        self.report.report_invalid_field(value.range(), message, &format!("write {expected}"));
    }

    fn parse_flag(&mut self, property: &ObjectProp<'_>) -> Option<(bool, Span)> {
        match &property.value {
            Value::BooleanLit(flag) => Some((flag.value, self.report.to_span(flag.range))),
            other => {
                self.report_wrong_type(other, property.name.as_str(), "`true` or `false`");
                None
            }
        }
    }

    /// Reads a list of patterns; `alone` is the meaning of a single string.
    fn parse_patterns(
        &mut self,
        property: &ObjectProp<'_>,
        alone: Option<String>,
    ) -> Vec<(String, Span)> {
        let name = property.name.as_str();
        match (&property.value, alone) {
            (Value::Array(list), _) => self.pattern_list(name, list),
            (other, Some(pattern)) => {
                let message = format!("`{name}` is text, not a list; it is read as one pattern");
                self.report.report_invalid_field(other.range(), message, "write a list: `[\"…\"]`");
                vec![(pattern, self.report.to_span(other.range()))]
            }
            (other, None) => {
                self.report_wrong_type(other, name, "a list of patterns");
                Vec::new()
            }
        }
    }

    fn pattern_list(&mut self, name: &str, list: &Array<'_>) -> Vec<(String, Span)> {
        let mut patterns = Vec::with_capacity(list.elements.len().min(limits::HOSTED_PATTERNS));
        for element in &list.elements {
            if patterns.len() == limits::HOSTED_PATTERNS {
                let message = format!(
                    "`{name}` has more than {} patterns; the rest is not read",
                    limits::HOSTED_PATTERNS
                );
                let help = "join patterns with `{a,b}` or `**`";
                self.report.warn(
                    rules::context_dir::LIMIT_PATTERNS,
                    element.range(),
                    message,
                    help,
                );
                break;
            }
            match element {
                Value::StringLit(text) if !text.value.trim().is_empty() => {
                    patterns.push((text.value.to_string(), self.report.to_span(text.range)));
                }
                Value::StringLit(text) => {
                    let message = format!("an empty pattern in `{name}` is ignored");
                    self.report.report_invalid_field(text.range, message, "remove it");
                }
                other => {
                    let message = format!(
                        "a pattern in `{name}` is {}, and is ignored",
                        json_value_noun(other)
                    );
                    self.report.report_invalid_field(other.range(), message, "write it as text");
                }
            }
        }
        patterns
    }

    fn read_server(&mut self, property: &ObjectProp<'_>) {
        if let Some(entry) = mcp::parse_mcp_entry(property, &mut self.report) {
            let span = self.report.to_span(property.range);
            self.file.servers.push((property.name.as_str().to_owned(), entry, span));
        }
    }
}

/// A configuration file with its scope.
#[derive(Debug)]
pub struct Layer {
    pub file: ConfigFile,
    pub scope: HostedScope,
    /// The directory that holds its context directory.
    pub owner: Arc<Path>,
}

#[derive(Debug, Default)]
pub struct MergedConfig {
    pub config: Config,
    /// The servers in the order of their first declaration, each with the entry nearest to the
    /// working directory.
    pub servers: Vec<ConfiguredServer>,
    /// The diagnostics: entries that hide others.
    pub diagnostics: Vec<Diagnostic>,
    /// The index of each server in `servers`.
    pub(super) places: BTreeMap<String, usize>,
}

/// Merges layers over the defaults; later layers win.
pub fn merge_layers(layers: &[Layer]) -> MergedConfig {
    let mut merged = MergedConfig::default();
    let [mut included, mut excluded] = ["*", CONFIG_NAME].map(|known| BTreeMap::from([(known, 0)]));
    for layer in layers {
        let Layer { file, scope, owner } = layer;
        let origin = |span| HostedOrigin {
            source: Arc::clone(&file.source),
            span,
            scope: *scope,
            owner: Arc::clone(owner),
        };
        append_patterns(
            &mut merged.config.include_files,
            &mut included,
            &file.include_files,
            origin,
        );
        append_patterns(
            &mut merged.config.exclude_files,
            &mut excluded,
            &file.exclude_files,
            origin,
        );
        if let Some((value, span)) = file.ignore_global_context {
            merged.config.ignore_global_context = Flag { value, origin: Some(origin(span)) };
        }
        if let Some((value, span)) = file.ignore_ancestor_context {
            merged.config.ignore_ancestor_context = Flag { value, origin: Some(origin(span)) };
        }
        for (name, entry, span) in &file.servers {
            mcp::merge_server(&mut merged, name, entry, origin(*span));
        }
    }
    merged
}

/// Appends patterns, each once. The origin of a repetition is kept: an exclusion, and an inclusion
/// that is relative to its configuration, concerns other files at each place.
fn append_patterns<'l>(
    list: &mut Vec<ConfigPattern>,
    known: &mut BTreeMap<&'l str, usize>,
    patterns: &'l [(String, Span)],
    origin: impl Fn(Span) -> HostedOrigin,
) {
    for (pattern, span) in patterns {
        match known.entry(pattern) {
            btree_map::Entry::Occupied(place) => {
                let first = &mut list[*place.get()];
                let origin = origin(*span);
                if first.origins().all(|known| known.owner != origin.owner) {
                    first.repeated.push(origin);
                }
            }
            btree_map::Entry::Vacant(place) => {
                place.insert(list.len());
                list.push(ConfigPattern {
                    pattern: pattern.clone(),
                    origin: Some(origin(*span)),
                    repeated: Vec::new(),
                });
            }
        }
    }
}
