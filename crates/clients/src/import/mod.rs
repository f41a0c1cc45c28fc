//! A client's file as a portable item: the compiler backwards.
//!
//! It reads the same field tables as the compiler, so that a client needs no code of its own. What it makes of a
//! file it compiles again and compares: a field that would come out otherwise goes into the client's block, and
//! one that would be new is taken away there. So an item that is built for its own client says what its file
//! said. Everything that has no home is a note.

mod apart;
mod arguments;
mod beside;
mod collect;
#[cfg(test)]
mod collect_tests;
mod convert;
mod found;
mod gather;
mod generated;
mod header;
mod item;
mod links;
mod modes;
mod name;
mod peers;
mod tables;
#[cfg(test)]
mod tests;
mod tool_clients;
mod unite;

use std::fmt;
use std::sync::Arc;

use brief_dialects::native::{RuleScope, RuleUse, rule_scope};
use brief_dialects::portable::ItemKind;
use brief_dialects::portable::directives;
use brief_profiles::Form;
use brief_syntax::front_matter::FrontMatter;
use brief_syntax::source::Encoding;
use brief_syntax::{Diagnostic, Source, rules};
use serde::Serialize;

use crate::profile::{OutputForm, Profile};

use header::Header;

pub use beside::CollectedServer;
pub use collect::{
    CollectedItem, Collection, ImportLoss, ItemFile, SkippedFile, collect_project_files,
};
pub use convert::ConvertedItem;
pub use found::{ImportCandidate, ImportSearch, is_test_data, recognize_file};
pub use gather::pointed_at;
pub use generated::GeneratedFile;
pub use item::{ClientBlock, ImportedItem, Member};
pub use name::item_slug;
pub use unite::{is_same_text, shared_percent, split_paragraphs};

/// A file that was written for a client.
#[derive(Debug, Clone, Copy)]
pub struct OriginalFile<'f> {
    /// The client; `None` for a file that several read, such as `AGENTS.md`.
    pub client: Option<&'f Profile>,
    /// The kind of item that it is.
    pub kind: ItemKind,
    /// The form of its front matter.
    pub form: Form,
    /// The directory below the project that it is about, with `/`; empty for the whole project.
    pub about: &'f str,
    /// The name of its file without ending, or that of its directory.
    pub stem: &'f str,
    /// The other tool that wrote it, if it is not a client's.
    pub peer: Option<&'f str>,
    pub source: &'f Arc<Source>,
}

/// Something about a file that its item does not say in the words of the format.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct ImportNote {
    /// The field that it is about.
    pub field: Option<String>,
    /// The treatment that it got.
    pub message: String,
}

impl ImportNote {
    fn new(field: Option<&str>, message: impl Into<String>) -> ImportNote {
        ImportNote { field: field.map(str::to_owned), message: message.into() }
    }
}

impl fmt::Display for ImportNote {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.field {
            Some(field) => write!(formatter, "`{field}`: {}", self.message),
            None => formatter.write_str(&self.message),
        }
    }
}

/// The reason why a file cannot become an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ImportRefusal {
    /// It is UTF-16.
    #[error("is UTF-16; save it as UTF-8")]
    Utf16,
    /// It has bytes that are no UTF-8.
    #[error("is not UTF-8; save it as UTF-8")]
    NotUtf8,
    #[error("has no text below its frontmatter")]
    NoText,
    /// It is not TOML, in which its client writes such files.
    #[error("is not valid TOML or lacks the key for the text")]
    NotToml,
    /// It is not YAML, in which its client writes such files.
    #[error("is not valid YAML or lacks the key for the text")]
    NotYaml,
    /// It has lines that would be directives.
    #[error("contains `<!-- @client:… -->` lines, which brief would interpret")]
    Directives,
}

/// Turns a file into an item; `clients` are the names of all known clients.
pub fn import_file(
    file: &OriginalFile<'_>,
    clients: &[&str],
) -> Result<ImportedItem, ImportRefusal> {
    let source = file.source;
    if let Encoding::Invalid { .. } = source.encoding() {
        let bytes = source.bytes_from_line(0);
        let is_wide = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
        return Err(if is_wide { ImportRefusal::Utf16 } else { ImportRefusal::NotUtf8 });
    }
    if source.text().contains('\0') {
        return Err(ImportRefusal::Utf16);
    }
    let layout = file.client.and_then(|client| client.layout(file.kind));
    let form = layout.map_or(&OutputForm::Markdown, |layout| &layout.form);
    let parts = match form {
        OutputForm::Markdown => Parts::of_markdown(file),
        OutputForm::Toml(key) => {
            Parts::of_keys(Header::of_toml(source.text(), key)).ok_or(ImportRefusal::NotToml)?
        }
        OutputForm::Yaml(key) => {
            Parts::of_keys(Header::of_yaml(source.text(), key)).ok_or(ImportRefusal::NotYaml)?
        }
    };
    let body = parts.body;
    if body.trim().is_empty() {
        return Err(ImportRefusal::NoText);
    }
    if body.contains("<!--") {
        let found = directives::parse_directives(&body, clients);
        if !found.blocks.is_empty() || !found.problems.is_empty() {
            return Err(ImportRefusal::Directives);
        }
    }
    let mut item = ImportedItem::new(file.kind, item_slug(file.stem, file.kind), body.clone());
    item.clients.extend(file.client.map(|client| client.id().to_owned()));
    item.notes = parts.notes;
    if let Some(scope) = parts.scope.filter(|_| file.kind == ItemKind::Rule) {
        item.scope_of(file, &scope);
    }
    item.members.push(Member {
        path: source.path().to_owned(),
        client: file.client.map(|client| client.id().to_owned()),
        form: file.form,
        about: file.about.to_owned(),
        body: body.clone(),
        header: parts.header.clone(),
    });
    item.fill_fields(file, &parts.header, clients);
    if let Some(client) = file.client.filter(|_| file.kind == ItemKind::Command) {
        item.keep_body(&body, client, clients);
    }
    Ok(item)
}

struct Parts {
    header: Header,
    body: String,
    scope: Option<RuleScope>,
    notes: Vec<ImportNote>,
}

impl Parts {
    fn of_markdown(file: &OriginalFile<'_>) -> Parts {
        let source = file.source;
        let front = FrontMatter::from_source(source);
        let scope = rule_scope(file.form, source);
        let mut notes = Vec::new();
        let mut note = |message: String| notes.push(ImportNote::new(None, message));
        if source.text().starts_with('\u{feff}') {
            note("the byte order mark is removed".to_owned());
        }
        let is_lost = |problem: &&Diagnostic| problem.rule == rules::FRONTMATTER_INVALID;
        for problem in front.diagnostics.iter().filter(is_lost) {
            note(format!("part of its frontmatter is lost: {}", problem.message));
        }
        let is_read = scope.body_start == front.body_start;
        let header =
            if is_read { Header::from_front_matter(&front, source) } else { Header::default() };
        if header.has_comments {
            note("comments in its frontmatter are lost".to_owned());
        }
        let body = source.text()[scope.body_start..].to_owned();
        if file.form == Form::Instructions
            && let Some(import) = first_import(&body)
        {
            note(format!(
                "`{import}` is relative to the directory of the file; write the text itself, or name the file"
            ));
        }
        Parts { header, body, scope: Some(scope), notes }
    }

    fn of_keys(found: Option<(Header, String)>) -> Option<Parts> {
        let (header, body) = found?;
        let mut notes = Vec::new();
        if header.has_comments {
            notes.push(ImportNote::new(None, "its comments are lost"));
        }
        Some(Parts { header, body, scope: None, notes })
    }
}

/// Returns the first import of a text: `@docs/style.md`.
fn first_import(body: &str) -> Option<&str> {
    let mut words = body.split_whitespace().map(|word| word.trim_end_matches(['.', ',', ')', ';']));
    words.find(|word| {
        let is_page = word.rsplit_once('.').is_some_and(|(_, ending)| ending == "md");
        is_page && word.starts_with('@') && !word.starts_with("@/")
    })
}

/// Returns the words for a moment that the format has no word for.
fn describe_use(used: RuleUse) -> Option<&'static str> {
    match used {
        RuleUse::Active => None,
        RuleUse::Listed => {
            Some("its client loads it by description; other clients would always load it")
        }
        RuleUse::Manual => {
            Some("its client loads it only when mentioned; other clients would always load it")
        }
        RuleUse::Never => Some("its own client never loads it"),
    }
}

/// The longest description of the format, in characters.
const DESCRIPTION_LENGTH: usize = 1024;

/// The length of a description that is made from the text.
const MADE_LENGTH: usize = 160;
