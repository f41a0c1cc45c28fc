//! Edits of `brief.toml` that preserve the rest of the file as the user wrote it.

use brief_dialects::portable::{ItemId, ItemKind};
use toml_edit::{Array, DocumentMut, Item, RawString, Table, TableLike, Value, value};

use super::{ManifestPlace, WantedItems};

/// An edit of a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ManifestEdit {
    /// Adds wanted items to a source, which may be new.
    Want {
        /// The name of the source.
        source: String,
        /// The address of the source.
        place: ManifestPlace,
        wanted: WantedItems,
        /// The clients of its items; `None` leaves them as they are.
        clients: Option<Vec<String>>,
    },
    DropItem {
        /// The name of the source.
        source: String,
        item: ItemId,
    },
    /// Excludes an item from a source of which every item is wanted.
    Exclude {
        /// The name of the source.
        source: String,
        item: ItemId,
    },
    DropBundle {
        /// The name of the source.
        source: String,
        bundle: String,
    },
    /// Removes a source with all its items.
    DropSource {
        /// The name of the source.
        source: String,
    },
    /// Accepts the content of an item with hidden text or opaque files.
    Accept {
        /// The SHA-256 of the content.
        sha256: String,
    },
    /// Declares an MCP server, unless the manifest has one of that name.
    Server {
        /// The name of the server.
        name: String,
        /// The content of its table, as TOML.
        declaration: String,
    },
    /// Names the clients of all sources, unless the manifest names some already. They are removed with the
    /// last source.
    FoundClients {
        /// The names of the clients.
        clients: Vec<String>,
        /// The files that show that the project uses these clients.
        signs: Vec<String>,
    },
    /// Names the clients of all sources to come, unless the manifest names some already. They stay.
    FirstClients {
        /// The names of the clients.
        clients: Vec<String>,
        /// The files that show that the project or its user uses these clients.
        signs: Vec<String>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The file is not valid TOML.
    #[error("is not TOML: {0}")]
    Syntax(String),
    /// A section is not a table.
    #[error("`{0}` is not a table")]
    Shape(String),
    /// The manifest has another source of this name since it was read.
    #[error("another run added a source `{0}`; run the command again")]
    Taken(String),
    /// The manifest has its first source since it was read, and the detected clients may be outputs of that
    /// source.
    #[error("another run added sources; run the command again")]
    Outrun,
}

impl ManifestEdit {
    /// Returns the full name of the removed thing: `source/NAME`, `bundle/NAME` or `KIND/NAME`.
    pub fn removed_name(&self) -> Option<String> {
        match self {
            ManifestEdit::DropItem { item, .. } | ManifestEdit::Exclude { item, .. } => {
                Some(item.full_name())
            }
            ManifestEdit::DropBundle { bundle, .. } => Some(format!("bundle/{bundle}")),
            ManifestEdit::DropSource { source } => Some(format!("source/{source}")),
            _ => None,
        }
    }

    /// Applies edits to the text of a manifest, in order.
    pub fn apply_edits(text: &str, edits: &[ManifestEdit]) -> Result<String, EditError> {
        let mut document = parse_document(text)?;
        // The comments of a file without entries go before the first entry.
        let beginning = if document.is_empty() { text.trim_end() } else { "" };
        if !beginning.is_empty() {
            document = DocumentMut::new();
        }
        for edit in edits {
            edit.carry_out(&mut document)?;
        }
        if beginning.is_empty() {
            Ok(document.to_string())
        } else if document.is_empty() {
            Ok(text.to_owned())
        } else {
            Ok(format!("{beginning}\n\n{document}"))
        }
    }

    fn carry_out(&self, document: &mut DocumentMut) -> Result<(), EditError> {
        match self {
            ManifestEdit::Want { source, place, wanted, clients } => {
                let table = source_table(document, source)?;
                if is_elsewhere(table, place) {
                    return Err(EditError::Taken(source.clone()));
                }
                set_place(table, place);
                add_wanted_items(table, wanted)?;
                if let Some(clients) = clients {
                    table.insert("clients", value(clients.iter().collect::<Array>()));
                }
            }
            ManifestEdit::DropItem { source, item } => {
                let Some(table) = find_source_table(document, source) else { return Ok(()) };
                drop_from(table, item.kind.folder(), &item.name);
                drop_if_empty(document, source);
            }
            ManifestEdit::Exclude { source, item } => {
                let table = source_table(document, source)?;
                add_to(table, "exclude", &item.full_name())?;
            }
            ManifestEdit::DropBundle { source, bundle } => {
                let Some(table) = find_source_table(document, source) else { return Ok(()) };
                drop_from(table, "bundles", bundle);
                drop_if_empty(document, source);
            }
            ManifestEdit::DropSource { source } => drop_source(document, source),
            ManifestEdit::Accept { sha256 } => {
                add_to(ensure_section(document, "install", Table::new())?, "accept", sha256)?;
            }
            ManifestEdit::Server { name, declaration } => {
                let declared = parse_document(declaration)?;
                let servers = table_of_tables(document, "mcp")?;
                servers.entry(name).or_insert_with(|| Item::Table(declared.as_table().clone()));
            }
            ManifestEdit::FoundClients { clients, signs } => {
                set_clients(document, clients, FOUND, signs)?;
            }
            ManifestEdit::FirstClients { clients, signs } => {
                set_clients(document, clients, FIRST, signs)?;
            }
        }
        Ok(())
    }
}

/// Returns the table of a source. Appends it to the file if there is none.
fn source_table<'d>(
    document: &'d mut DocumentMut,
    name: &str,
) -> Result<&'d mut dyn TableLike, EditError> {
    let is_inline = document.get("sources").is_some_and(Item::is_inline_table);
    let sources = table_of_tables(document, "sources")?;
    let source = sources.entry(name).or_insert_with(|| {
        if is_inline {
            return value(toml_edit::InlineTable::new());
        }
        Item::Table(Table::new())
    });
    source.as_table_like_mut().ok_or_else(|| EditError::Shape(format!("sources.{name}")))
}

/// Returns a table of tables, which has no header of its own. Appends it to the file if there is none.
fn table_of_tables<'d>(
    document: &'d mut DocumentMut,
    name: &str,
) -> Result<&'d mut dyn TableLike, EditError> {
    let mut table = Table::new();
    table.set_implicit(true);
    ensure_section(document, name, table)
}

/// Returns a section of the file. Appends `new` to the file if there is none.
fn ensure_section<'d>(
    document: &'d mut DocumentMut,
    name: &str,
    new: Table,
) -> Result<&'d mut dyn TableLike, EditError> {
    let section = document.entry(name).or_insert(Item::Table(new));
    section.as_table_like_mut().ok_or_else(|| EditError::Shape(name.to_owned()))
}

fn find_source_table<'d>(
    document: &'d mut DocumentMut,
    name: &str,
) -> Option<&'d mut dyn TableLike> {
    document.get_mut("sources")?.as_table_like_mut()?.get_mut(name)?.as_table_like_mut()
}

/// The comment after clients that were detected and not chosen.
const FOUND: &str = " # found: ";

/// The comment after clients that a new project was set up for.
const FIRST: &str = " # init found: ";

fn set_clients(
    document: &mut DocumentMut,
    clients: &[String],
    comment: &str,
    signs: &[String],
) -> Result<(), EditError> {
    if document.contains_key("sources") {
        return Err(EditError::Outrun);
    }
    let install = ensure_section(document, "install", Table::new())?;
    if install.get("clients").is_none() {
        let mut list = Value::from(clients.iter().collect::<Array>());
        list.decor_mut().set_suffix(format!("{comment}{}", signs.join(", ")));
        install.insert("clients", Item::Value(list));
    }
    Ok(())
}

/// Removes detected clients once the last source is gone.
fn drop_found_clients(document: &mut DocumentMut) {
    let Some(install) = document.get_mut("install").and_then(Item::as_table_like_mut) else {
        return;
    };
    let comment = install.get("clients").and_then(Item::as_value);
    let comment = comment.and_then(|clients| clients.decor().suffix()?.as_str());
    if comment.is_some_and(|comment| comment.starts_with(FOUND)) {
        install.remove("clients");
        if install.is_empty() {
            document.remove("install");
        }
    }
}

fn drop_source(document: &mut DocumentMut, name: &str) {
    let Some(sources) = document.get_mut("sources").and_then(Item::as_table_like_mut) else {
        return;
    };
    sources.remove(name);
    if sources.is_empty() {
        document.remove("sources");
        drop_found_clients(document);
    }
}

/// Removes a source without wanted items.
fn drop_if_empty(document: &mut DocumentMut, name: &str) {
    let lists = || std::iter::once("bundles").chain(ItemKind::ALL.map(ItemKind::folder));
    let is_empty = find_source_table(document, name).is_some_and(|table| {
        let is_all = table.get("all").and_then(Item::as_bool).unwrap_or(false);
        !is_all && lists().all(|list| table.get(list).is_none())
    });
    if is_empty {
        drop_source(document, name);
    }
}

/// Returns whether a source has another address; another version is the same source.
fn is_elsewhere(table: &dyn TableLike, place: &ManifestPlace) -> bool {
    let text = |key: &str| table.get(key).and_then(Item::as_str);
    let is_new = ["git", "oci", "directory"].into_iter().all(|key| text(key).is_none());
    !is_new
        && ["git", "oci", "directory", "subpath"]
            .iter()
            .any(|key| text(key) != place.find_field(key))
}

fn set_place(table: &mut dyn TableLike, place: &ManifestPlace) {
    for key in ManifestPlace::KEYS {
        match place.find_field(key) {
            Some(text) if table.get(key).and_then(Item::as_str) == Some(text) => {}
            Some(text) => set_text(table, key, text),
            None => {
                table.remove(key);
            }
        }
    }
}

/// Sets a text, and preserves its comments and spaces.
fn set_text(table: &mut dyn TableLike, key: &str, text: &str) {
    match table.get_mut(key).and_then(Item::as_value_mut) {
        Some(old) => {
            let decor = old.decor().clone();
            *old = Value::from(text);
            *old.decor_mut() = decor;
        }
        None => {
            table.insert(key, value(text));
        }
    }
}

fn add_wanted_items(table: &mut dyn TableLike, wanted: &WantedItems) -> Result<(), EditError> {
    if wanted.all && table.get("all").and_then(Item::as_bool) != Some(true) {
        table.insert("all", value(true));
    }
    for bundle in &wanted.bundles {
        add_to(table, "bundles", bundle)?;
    }
    let is_all = table.get("all").and_then(Item::as_bool) == Some(true);
    for item in &wanted.items {
        // An item that is asked for is no longer excluded.
        drop_from(table, "exclude", &item.full_name());
        if !is_all {
            add_to(table, item.kind.folder(), &item.name)?;
        }
    }
    if wanted.all {
        table.remove("exclude");
        for kind in ItemKind::ALL {
            table.remove(kind.folder());
        }
    }
    Ok(())
}

fn add_to(table: &mut dyn TableLike, key: &str, text: &str) -> Result<(), EditError> {
    let list = table.entry(key).or_insert_with(|| value(Array::new()));
    let list = list.as_array_mut().ok_or_else(|| EditError::Shape(key.to_owned()))?;
    if list.iter().any(|one| one.as_str() == Some(text)) {
        return Ok(());
    }
    // A list with one entry per line keeps that layout.
    let indent = list.iter().last().and_then(|last| last.decor().prefix()?.as_str());
    let indent = indent.filter(|prefix| prefix.contains('\n'));
    let indent = indent.map(|prefix| format!("\n{}", prefix.rsplit('\n').next().unwrap_or("")));
    match indent {
        Some(indent) => {
            let mut new = Value::from(text);
            // A comment after the last entry stays there.
            let comment = list.trailing().as_str().unwrap_or("").trim_end().to_owned();
            new.decor_mut().set_prefix(format!("{comment}{indent}"));
            list.push_formatted(new);
            list.set_trailing("\n");
            list.set_trailing_comma(true);
        }
        None => list.push(text),
    }
    Ok(())
}

fn drop_from(table: &mut dyn TableLike, key: &str, text: &str) {
    let Some(list) = table.get_mut(key).and_then(Item::as_array_mut) else { return };
    let Some(index) = list.iter().position(|one| one.as_str() == Some(text)) else { return };
    let removed = list.remove(index);
    // A comment before the removed entry may be about its neighbors.
    let prefix = removed.decor().prefix().and_then(RawString::as_str).unwrap_or("");
    if prefix.contains('#') {
        let prefix = prefix.trim_end_matches([' ', '\t']).trim_end_matches('\n').to_owned();
        match list.get_mut(index) {
            Some(next) => {
                let own = next.decor().prefix().and_then(RawString::as_str).unwrap_or("");
                let both = format!("{prefix}{own}");
                next.decor_mut().set_prefix(both);
            }
            None => {
                let own = list.trailing().as_str().unwrap_or("").to_owned();
                let own = if own.contains('\n') { own } else { format!("\n{own}") };
                list.set_trailing(format!("{prefix}{own}"));
            }
        }
    }
    if list.is_empty() && !list.trailing().as_str().unwrap_or("").contains('#') {
        table.remove(key);
    }
}

fn parse_document(text: &str) -> Result<DocumentMut, EditError> {
    text.parse().map_err(|error: toml_edit::TomlError| {
        EditError::Syntax(error.message().replace('\n', ", "))
    })
}
