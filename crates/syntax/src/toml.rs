//! `brief.toml` with places, and its diagnostics.

use std::sync::Arc;

use crate::near_miss::suggest_nearest;
use crate::{Diagnostic, Source, Span, rules};
use toml_edit::{Document, Item, TableLike};

/// A diagnostic in a box, because errors are rare and large.
pub type TomlProblem = Box<Diagnostic>;

/// A table of a file and the keys above it.
#[derive(Clone, Copy)]
pub struct Table<'t> {
    /// The file.
    pub source: &'t Arc<Source>,
    /// The table.
    pub content: &'t dyn TableLike,
    /// The keys above it, with dots; empty for the whole file.
    pub prefix: &'t str,
}

/// A key and its value.
#[derive(Clone)]
pub struct TomlEntry<'t> {
    /// The file.
    pub source: &'t Arc<Source>,
    /// The key with those above it: `rule.path`.
    pub path: String,
    /// The key.
    pub key: &'t str,
    /// The value.
    pub item: &'t Item,
    /// The place of the key.
    pub span: Span,
}

/// Parses a file; invalid TOML is a diagnostic.
pub fn parse_toml(
    source: &Arc<Source>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Document<String>> {
    let text = source.text().trim_start_matches('\u{feff}');
    match Document::parse(text.to_owned()) {
        Ok(document) => Some(document),
        Err(error) => {
            let skipped = source.text().len() - text.len();
            let span = error.span().unwrap_or_default();
            let span = Span::new(span.start + skipped, span.end + skipped);
            let message =
                format!("the file is not valid TOML: {}", error.message().replace('\n', ", "));
            let rule = rules::item::INVALID_CONFIG;
            diagnostics.push(Diagnostic::new(rule, source, span, message));
            None
        }
    }
}

impl<'t> Table<'t> {
    /// Returns the entries in order.
    pub fn entries(self) -> impl Iterator<Item = TomlEntry<'t>> {
        self.content.iter().map(move |(key, item)| {
            let span = self.content.key(key).and_then(toml_edit::Key::span).or(item.span());
            let span = span.map_or(Span::default(), |span| Span::new(span.start, span.end));
            let path = match self.prefix {
                "" => key.to_owned(),
                prefix => format!("{prefix}.{key}"),
            };
            TomlEntry { source: self.source, path, key, item, span }
        })
    }
}

impl<'t> TomlEntry<'t> {
    /// Returns the diagnostic for an invalid value.
    pub fn invalid_value(&self, problem: &str, help: &str) -> TomlProblem {
        self.describe_value(format!("`{}`: {problem}", self.path), help)
    }

    /// Returns the diagnostic for an invalid value. `predicate` follows the key: "must be a string".
    pub fn value_problem(&self, predicate: &str, help: &str) -> TomlProblem {
        self.describe_value(format!("`{}` {predicate}", self.path), help)
    }

    fn describe_value(&self, message: String, help: &str) -> TomlProblem {
        let span = self.item.span().map_or(self.span, |span| Span::new(span.start, span.end));
        let diagnostic = Diagnostic::new(rules::item::INVALID_CONFIG, self.source, span, message);
        Box::new(if help.is_empty() { diagnostic } else { diagnostic.with_help(help) })
    }

    /// Returns the diagnostic for an unknown key.
    pub fn unknown_key(&self, known: &[&str]) -> TomlProblem {
        let message = format!("unknown key `{}`", self.path);
        let help = suggest_nearest(self.key, known);
        let help = help.unwrap_or_else(|| format!("known keys: {}", known.join(", ")));
        let diagnostic =
            Diagnostic::new(rules::item::INVALID_CONFIG, self.source, self.span, message);
        Box::new(diagnostic.with_help(help))
    }

    /// Returns the value as a string.
    pub fn text(&self) -> Result<&'t str, TomlProblem> {
        self.item
            .as_str()
            .ok_or_else(|| self.value_problem("must be a string", "write it in quotes"))
    }

    /// Returns the value as a string of its own.
    pub fn owned_text(&self) -> Result<String, TomlProblem> {
        self.text().map(str::to_owned)
    }

    /// Returns the value as a boolean.
    pub fn flag(&self) -> Result<bool, TomlProblem> {
        let problem = || self.value_problem("must be `true` or `false`", "write it without quotes");
        self.item.as_bool().ok_or_else(problem)
    }

    /// Returns the value as one of the given words.
    pub fn match_word<T: Copy>(&self, words: &[(&str, T)]) -> Result<T, TomlProblem> {
        let text = self.text()?;
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        found.ok_or_else(|| {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let help = suggest_nearest(text, &known);
            let help = help.unwrap_or_else(|| format!("use one of {}", known.join(", ")));
            self.invalid_value(&format!("unknown value `{text}`"), &help)
        })
    }

    /// Returns the value as a list of strings.
    pub fn text_list(&self) -> Result<Vec<String>, TomlProblem> {
        let problem = || self.value_problem("must be a list of strings", "write `[\"…\", \"…\"]`");
        let list = self.item.as_array().ok_or_else(problem)?;
        list.iter().map(|value| value.as_str().map(str::to_owned).ok_or_else(problem)).collect()
    }

    /// Returns the value as a table of strings, in order.
    pub fn pairs(&self) -> Result<Vec<(String, String)>, TomlProblem> {
        let entries = self.table()?.entries();
        entries.map(|entry| Ok((entry.key.to_owned(), entry.owned_text()?))).collect()
    }

    /// Returns the value as a table.
    pub fn table(&self) -> Result<Table<'_>, TomlProblem> {
        let content = self.item.as_table_like();
        let content = content.ok_or_else(|| self.value_problem("must be a table", ""))?;
        Ok(Table { source: self.source, content, prefix: &self.path })
    }
}

/// Reads a table key by key. The keys that are asked for are the known ones; problems wait until the end.
pub struct TableReader<'t> {
    entries: Vec<TomlEntry<'t>>,
    known: Vec<&'t str>,
    /// Each with the number of its entry, for the order of the file.
    problems: Vec<(usize, TomlProblem)>,
}

impl<'t> TableReader<'t> {
    /// Reads these entries of a table.
    pub fn new(entries: impl Iterator<Item = TomlEntry<'t>>) -> TableReader<'t> {
        TableReader {
            entries: entries.collect(),
            known: Vec::with_capacity(16),
            problems: Vec::new(),
        }
    }

    /// Returns the value of a key; `None` if it is missing or wrong.
    pub fn get<T>(
        &mut self,
        key: &'t str,
        read: impl FnOnce(&TomlEntry<'t>) -> Result<T, TomlProblem>,
    ) -> Option<T> {
        let number = self.find_entry(key)?;
        let value = read(&self.entries[number]);
        value.map_err(|problem| self.problems.push((number, problem))).ok()
    }

    /// Returns the number of the entry with this key, which is known from now on.
    fn find_entry(&mut self, key: &'t str) -> Option<usize> {
        self.known.push(key);
        self.entries.iter().position(|entry| entry.key == key)
    }

    /// Changes a value if its key is there.
    pub fn set_if_present<T>(
        &mut self,
        key: &'t str,
        value: &mut T,
        read: impl FnOnce(&TomlEntry<'t>) -> Result<T, TomlProblem>,
    ) {
        if let Some(new) = self.get(key, read) {
            *value = new;
        }
    }

    /// Changes a value if its key is there; `false` takes it away.
    pub fn set_or_remove<T>(
        &mut self,
        key: &'t str,
        value: &mut Option<T>,
        read: impl FnOnce(&TomlEntry<'t>) -> Result<T, TomlProblem>,
    ) {
        self.set_if_present(key, value, |entry| match entry.item.as_bool() {
            Some(false) => Ok(None),
            _ => read(entry).map(Some),
        });
    }

    /// Returns what is wrong, in the order of the file: wrong values, and keys that nothing has asked for.
    pub fn problems(mut self) -> impl Iterator<Item = TomlProblem> {
        let entries = self.entries.iter().enumerate();
        let unknown = entries.filter(|(_, entry)| !self.known.contains(&entry.key));
        self.problems
            .extend(unknown.map(|(number, entry)| (number, entry.unknown_key(&self.known))));
        self.problems.sort_by_key(|(number, _)| *number);
        self.problems.into_iter().map(|(_, problem)| problem)
    }

    /// Ends the reading of a table that is taken whole or not at all: the first problem is the error.
    pub fn finish(self) -> Result<(), TomlProblem> {
        self.problems().next().map_or(Ok(()), Err)
    }
}
