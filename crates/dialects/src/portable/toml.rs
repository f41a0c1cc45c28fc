//! `brief.toml` with places, and its diagnostics.

use std::sync::Arc;

use brief_syntax::near_miss::suggestion;
use brief_syntax::{Diagnostic, Source, Span, rules};
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
pub fn parse(source: &Arc<Source>, diagnostics: &mut Vec<Diagnostic>) -> Option<Document<String>> {
    let text = source.text().trim_start_matches('\u{feff}');
    match Document::parse(text.to_owned()) {
        Ok(document) => Some(document),
        Err(error) => {
            let skipped = source.text().len() - text.len();
            let span = error.span().unwrap_or_default();
            let span = Span::new(span.start + skipped, span.end + skipped);
            let message = format!("the file is not TOML: {}", error.message().replace('\n', ", "));
            let rule = rules::portable::INVALID_CONFIG;
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
    pub fn wrong(&self, problem: &str, help: &str) -> TomlProblem {
        let span = self.item.span().map_or(self.span, |span| Span::new(span.start, span.end));
        let message = format!("`{}`: {problem}", self.path);
        let diagnostic =
            Diagnostic::new(rules::portable::INVALID_CONFIG, self.source, span, message);
        Box::new(if help.is_empty() { diagnostic } else { diagnostic.with_help(help) })
    }

    /// Returns the diagnostic for an unknown key.
    pub fn unknown(&self, known: &[&str]) -> TomlProblem {
        let message = format!("`{}`: there is no such key", self.path);
        let help = suggestion(self.key, known);
        let help = help.unwrap_or_else(|| format!("keys are {}", known.join(", ")));
        let diagnostic =
            Diagnostic::new(rules::portable::INVALID_CONFIG, self.source, self.span, message);
        Box::new(diagnostic.with_help(help))
    }

    /// Returns the value as a string.
    pub fn text(&self) -> Result<&'t str, TomlProblem> {
        self.item.as_str().ok_or_else(|| self.wrong("this is not a string", "write it in quotes"))
    }

    /// Returns the value as one of the given words.
    pub fn word<T: Copy>(&self, words: &[(&str, T)]) -> Result<T, TomlProblem> {
        let text = self.text()?;
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        found.ok_or_else(|| {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let help = suggestion(text, &known);
            let help = help.unwrap_or_else(|| format!("use one of {}", known.join(", ")));
            self.wrong(&format!("`{text}` means nothing here"), &help)
        })
    }

    /// Returns the value as a list of strings.
    pub fn texts(&self) -> Result<Vec<String>, TomlProblem> {
        let problem = || self.wrong("this is not a list of strings", "write `[\"…\", \"…\"]`");
        let list = self.item.as_array().ok_or_else(problem)?;
        list.iter().map(|value| value.as_str().map(str::to_owned).ok_or_else(problem)).collect()
    }

    /// Returns the value as a table.
    pub fn table(&self) -> Result<Table<'_>, TomlProblem> {
        let content = self.item.as_table_like();
        let content = content.ok_or_else(|| self.wrong("this is not a table", ""))?;
        Ok(Table { source: self.source, content, prefix: &self.path })
    }
}
