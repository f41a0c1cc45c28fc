//! Renames an item: its file or its directory, its name in the header, and every place in guidance that names it.
//!
//! The editor makes the changes: nothing is written here. A file that an editor moves by itself
//! (`workspace/willRenameFiles`) gets the same edits.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_checks::links::GuidanceLink;
use brief_dialects::portable::{self, CLIENTS, ItemKind};
use brief_engine::Root;
use brief_syntax::front_matter::FrontMatter;
use brief_syntax::yaml::{Node, Value};
use brief_syntax::{Source, Span, limits};
use brief_system::Files as _;
use brief_system::paths::{relative_path, to_slashed};
use serde_json::{Value as Json, json};

use super::checker::folder_of;
use super::features::{create_text_edit, file_at};
use super::server::{DocumentQuestion, LanguageServer};
use super::text::LineText;
use super::uri::uri_of;

/// The longest new name, in bytes: that of a file.
const LONGEST_NAME: usize = 128;

/// Endings that belong to the kind of a file and not to its name.
const ENDINGS: [&str; 9] = [
    ".instructions.md",
    ".chatmode.md",
    ".prompt.md",
    ".bundle.md",
    ".agent.md",
    ".mdc",
    ".md",
    ".toml",
    ".yaml",
];

/// A thing with a name: a file, or the directory of an entry file such as `SKILL.md`.
#[derive(Debug, PartialEq, Eq)]
struct Renamable {
    path: PathBuf,
    name: String,
    /// The part of the file's name behind the name.
    ending: &'static str,
    /// The file with the header.
    entry: PathBuf,
}

impl Renamable {
    fn from_path(file: &Path) -> Option<Renamable> {
        let name = file.file_name()?.to_str()?;
        let is_entry = [ItemKind::Rule, ItemKind::Skill, ItemKind::Agent]
            .iter()
            .any(|kind| kind.entrypoint() == name);
        if is_entry {
            let directory = file.parent()?;
            let name = directory.file_name()?.to_str()?.to_owned();
            let (path, entry) = (directory.to_owned(), file.to_owned());
            return Some(Renamable { path, name, ending: "", entry });
        }
        // These names have a meaning of their own.
        if ["AGENTS", "CLAUDE", "GEMINI", "README", "AGENTS.yaml"]
            .iter()
            .any(|fixed| name.starts_with(fixed))
        {
            return None;
        }
        let ending = ENDINGS.iter().find(|ending| name.ends_with(**ending))?;
        let stem = name.strip_suffix(ending).filter(|stem| !stem.is_empty())?.to_owned();
        Some(Renamable { path: file.to_owned(), name: stem, ending, entry: file.to_owned() })
    }

    fn renamed_path(&self, name: &str) -> PathBuf {
        self.path.with_file_name(format!("{name}{}", self.ending))
    }
}

/// Tells which name stands at a position: that of the item in its own header, or a path to another item.
pub(super) fn answer_prepare_rename(server: &LanguageServer, asked: &DocumentQuestion<'_>) -> Json {
    let Some((item, span)) = renamable_at(server, asked) else { return Json::Null };
    let range = asked.document.text.range(span, server.unit);
    json!({"range": range, "placeholder": item.name})
}

fn renamable_at(
    server: &LanguageServer,
    asked: &DocumentQuestion<'_>,
) -> Option<(Renamable, Span)> {
    let text = &asked.document.text;
    let position = asked.position?;
    let offset = text.offset(position, server.unit);
    if let Some(span) = name_in_header(text.text())
        && (span.start..=span.end).contains(&offset)
    {
        return Some((Renamable::from_path(asked.path)?, span));
    }
    let target = file_at(server, asked, position)?;
    let item = Renamable::from_path(&target)?;
    // The name inside the path at the cursor.
    let is_here = |link: &&GuidanceLink| {
        link.source.path() == asked.path && (link.span.start..=link.span.end).contains(&offset)
    };
    let link = server.links_to(&target).iter().find(is_here)?;
    let written = link.source.slice(link.span);
    let at = written.rfind(&item.name)?;
    let start = link.span.start + at;
    let span = Span::new(start, start + item.name.len());
    Some((item, span))
}

/// Returns the value of `name` in the header of a text.
fn name_in_header(text: &str) -> Option<Span> {
    let front = FrontMatter::from_source(&Arc::new(Source::new("header", text)));
    let node = front.get("name")?;
    let span = node.span();
    let value = node.as_str()?;
    // Without its quotes.
    let at = text.get(span.range())?.find(value)?;
    Some(Span::new(span.start + at, span.start + at + value.len()))
}

/// Returns the changes that give the item at a position another name, or the reason why not.
pub(super) fn answer_rename(
    server: &LanguageServer,
    asked: &DocumentQuestion<'_>,
    new_name: &str,
) -> Result<Json, String> {
    if !server.can_rename_files {
        return Err(
            "the editor cannot rename files: `resourceOperations` is not supported".to_owned()
        );
    }
    let (item, _) = renamable_at(server, asked).ok_or("no item name at this position")?;
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    if new_name.is_empty()
        || new_name.len() > LONGEST_NAME
        || new_name.starts_with('.')
        || !new_name.chars().all(is_letter)
    {
        return Err(format!(
            "invalid name `{}`: use only letters, digits, `-`, `_` and `.`",
            new_name.escape_debug()
        ));
    }
    let new = item.renamed_path(new_name);
    if new == item.path {
        return Ok(json!({"documentChanges": []}));
    }
    if server.system.resolve(&new).is_ok() {
        return Err(format!("`{}` already exists", new.display()));
    }
    let mut edits = RenameEdits::default();
    edits.add_link_edits(server, &item.path, &new);
    edits.add_name_edits(server, &item, new_name);
    let mut changes = edits.to_json(server);
    changes.push(json!({"kind": "rename", "oldUri": uri_of(&item.path), "newUri": uri_of(&new)}));
    Ok(json!({"documentChanges": changes}))
}

/// Returns the edits for files that the editor is about to move: pairs of old and new paths.
pub(super) fn answer_renamed_files(server: &LanguageServer, files: &[(PathBuf, PathBuf)]) -> Json {
    let mut edits = RenameEdits::default();
    for (old, new) in files {
        edits.add_link_edits(server, old, new);
    }
    match edits.to_json(server) {
        changes if changes.is_empty() => Json::Null,
        changes => json!({"documentChanges": changes}),
    }
}

/// Edits by file: the text that they are for, and the new text for each place.
#[derive(Default)]
struct RenameEdits {
    files: BTreeMap<PathBuf, (String, BTreeMap<Span, String>)>,
}

impl RenameEdits {
    fn add_edit(&mut self, path: &Path, text: &str, span: Span, new: String) {
        let file = self.files.entry(path.to_owned());
        file.or_insert_with(|| (text.to_owned(), BTreeMap::new())).1.insert(span, new);
    }

    /// Adds an edit for every place that names a moved file, or a file below a moved directory.
    fn add_link_edits(&mut self, server: &LanguageServer, old: &Path, new: &Path) {
        for (target, links) in server.links_below(old) {
            let below = target.strip_prefix(old).unwrap_or(Path::new(""));
            let now = if below.as_os_str().is_empty() { new.to_owned() } else { new.join(below) };
            for link in links {
                // What moves along keeps its way.
                if link.source.path().starts_with(old) && target.starts_with(old) && old != target {
                    continue;
                }
                let written = link.source.slice(link.span);
                if let Some(new) = rewrite_path(server, link, written, target, &now) {
                    self.add_edit(link.source.path(), link.source.text(), link.span, new);
                }
            }
        }
    }

    /// Adds an edit for the name in the header, and for those in bundles and agents of a registry.
    fn add_name_edits(&mut self, server: &LanguageServer, item: &Renamable, new: &str) {
        let Some(folder) = folder_of(&server.folders, &item.entry) else { return };
        let Some(system) = server.in_front_of_disk() else { return };
        if let Ok(bytes) = system.read(&item.entry, limits::FILE_BYTES)
            && let Ok(text) = String::from_utf8(bytes)
            && let Some(span) = name_in_header(&text)
            && text.get(span.range()) == Some(&item.name)
        {
            self.add_edit(&item.entry, &text, span, new.to_owned());
        }
        let Ok(root) = Root::open(&system, folder) else { return };
        let registry = portable::read_registry(&system, &root, &CLIENTS);
        let own = registry.items.iter().find(|own| own.document().source().path() == item.entry);
        let bundle =
            registry.bundles.iter().find(|own| own.document().source().path() == item.entry);
        for bundle in &registry.bundles {
            let source = bundle.document().source();
            for (id, span) in bundle.listed_items() {
                if own.is_some_and(|own| own.kind() == id.kind) && id.name == item.name {
                    self.add_value_edit(source, *span, &item.name, new);
                }
            }
        }
        if let Some(bundle) = bundle {
            for other in &registry.bundles {
                for required in
                    other.requires().iter().filter(|required| required.name == bundle.name())
                {
                    self.add_value_edit(other.document().source(), required.span, &item.name, new);
                }
            }
        }
        if own.is_some_and(|own| own.kind() == ItemKind::Skill) {
            for agent in &registry.items {
                let Some(Value::Sequence(skills)) =
                    agent.document().field("preload-skills").map(Node::value)
                else {
                    continue;
                };
                for skill in skills.iter().filter(|skill| skill.as_str() == Some(&item.name)) {
                    self.add_value_edit(agent.document().source(), skill.span(), &item.name, new);
                }
            }
        }
    }

    /// Replaces a name inside a value, which may have quotes or a version behind it.
    fn add_value_edit(&mut self, source: &Source, span: Span, old: &str, new: &str) {
        if let Some(at) = source.slice(span).find(old) {
            let span = Span::new(span.start + at, span.start + at + old.len());
            self.add_edit(source.path(), source.text(), span, new.to_owned());
        }
    }

    fn to_json(&self, server: &LanguageServer) -> Vec<Json> {
        let mut changes = Vec::new();
        for (path, (text, edits)) in &self.files {
            let text = LineText::new(text.clone());
            let edits = edits.iter().map(|(span, new)| create_text_edit(server, &text, *span, new));
            let edits: Vec<Json> = edits.collect();
            let document = json!({"uri": server.uri_of_document(path), "version": null});
            changes.push(json!({"textDocument": document, "edits": edits}));
        }
        changes
    }
}

/// Returns a path as the author would write it now: from the file, or from the directory above it that it was written from.
fn rewrite_path(
    server: &LanguageServer,
    link: &GuidanceLink,
    written: &str,
    old: &Path,
    new: &Path,
) -> Option<String> {
    let folder = folder_of(&server.folders, link.source.path())?;
    let path_end = written.find(['#', '?']).unwrap_or(written.len());
    let (path, rest) = written.split_at(path_end);
    let lead = if path.starts_with("mdc:") { "mdc:" } else { "" };
    let plain = path.strip_prefix("mdc:").unwrap_or(path);
    let directory = link.source.path().parent()?;
    let resolves =
        |base: &Path| server.system.resolve(&base.join(plain)).is_ok_and(|real| real.path == old);
    let base = directory
        .ancestors()
        .take_while(|base| base.starts_with(folder))
        .find(|base| resolves(base))?;
    let now = if base == directory {
        relative_path(directory, new)
    } else {
        to_slashed(new.strip_prefix(base).ok()?)
    };
    let dot = if plain.starts_with("./") && !now.starts_with("../") { "./" } else { "" };
    Some(format!("{lead}{dot}{now}{rest}")).filter(|new| new != written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_directories_have_names() {
        let name = |path: &str| {
            Renamable::from_path(Path::new(path))
                .map(|item| (item.name.clone(), item.renamed_path("new")))
        };
        let expected = |name: &str, path: &str| Some((name.to_owned(), PathBuf::from(path)));
        assert_eq!(name("/p/skills/pdf/SKILL.md"), expected("pdf", "/p/skills/new"));
        assert_eq!(name("/p/.cursor/rules/api.mdc"), expected("api", "/p/.cursor/rules/new.mdc"));
        assert_eq!(name("/p/x.instructions.md"), expected("x", "/p/new.instructions.md"));
        assert_eq!(name("/p/CLAUDE.md"), None);
        assert_eq!(name("/p/src/a.py"), None);
    }

    #[test]
    fn the_name_of_a_header_has_a_place() {
        let text = "---\ndescription: x\nname: \"pdf\"\n---\nname: no\n";
        let span = name_in_header(text).unwrap();
        assert_eq!(&text[span.range()], "pdf");
        assert_eq!(name_in_header("name: no\n"), None);
    }
}
