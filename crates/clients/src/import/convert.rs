//! One step from client to client, without a registry.

use brief_dialects::portable::ItemKind;
use brief_system::Permission;

use crate::compile::{OutputContent, compile_item};
use crate::profile::{Profile, ProfileOptions};

use super::ImportNote;
use super::collect::{CollectedItem, ItemFile};

/// The files of another client for one item.
#[derive(Debug, Default)]
pub struct ConvertedItem {
    /// The files below the project, with `/`; none when the client has no such thing.
    pub files: Vec<ItemFile>,
    /// Everything that the other client does not get.
    pub notes: Vec<ImportNote>,
}

impl CollectedItem {
    /// Compiles the item for another client. What its own client alone understands is left behind, and named.
    pub fn convert_for_client(&self, to: &Profile, clients: &[&str]) -> ConvertedItem {
        let mut converted = ConvertedItem { notes: self.notes.clone(), ..ConvertedItem::default() };
        let Some(layout) = to.layout(self.kind) else {
            let message = format!("{} has no {}", to.name(), self.kind.folder());
            converted.notes.push(ImportNote::new(None, message));
            return converted;
        };
        let Some(item) = &self.item else {
            // A skill is a directory that every client takes as it is.
            let path = layout.path.fill(&self.name);
            let above = path.strip_suffix(ItemKind::Skill.entrypoint()).unwrap_or(&path);
            let file = |own: &ItemFile| {
                let inside =
                    own.path.split_once('/').map_or(own.path.as_str(), |(_, inside)| inside);
                ItemFile { path: format!("{above}{inside}"), ..own.clone() }
            };
            converted.files = self.files.iter().map(file).collect();
            return converted;
        };
        if let Some(file) = layout.listed_in() {
            let message = format!("{} finds it only if `{file}` lists it", to.name());
            converted.notes.push(ImportNote::new(None, message));
        }
        let mut item = item.clone();
        for (client, block) in item.blocks.iter().filter(|(client, _)| client != to.id()) {
            for field in block.field_names() {
                let message = format!("omitted: only {client} has this field");
                converted.notes.push(ImportNote::new(Some(field), message));
            }
        }
        item.clients = vec![to.id().to_owned()];
        // A client that chooses by names and descriptions gets those that were made up, too.
        item.unsaid.clear();
        let compiled =
            compile_item(&item.to_portable_item(), to, &ProfileOptions::default(), clients);
        for file in compiled.files {
            if let OutputContent::Text(text) = file.content {
                let (path, bytes) = (file.path, text.into_bytes());
                converted.files.push(ItemFile { path, bytes, permission: Permission::Data });
            }
        }
        let lost = compiled.diagnostics.into_iter();
        converted.notes.extend(lost.map(|lost| ImportNote::new(None, lost.message)));
        converted
    }
}
