//! Items of collections that were written for one client: a file each, and plugins as bundles.
//!
//! Most public collections know nothing of the portable format. Their agents, rules and commands are
//! single files for one client, and content and place tell which (ruling G15). They are found only
//! in sources, never in a project of the user's own: there such a file is guidance for its client.

mod evidence;
mod manifests;
mod names;
mod plugins;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use brief_syntax::walk::Visit;
use brief_syntax::{Diagnostic, Root, Severity, Source, limits};
use brief_system::{FileKind, ReadError, System};

use super::model::{ItemDocument, ItemId, ItemKind, ItemOrigin, PortableItem};
use super::parse;
use super::registry::Registry;
use crate::installed::LOCK_NAME;
use crate::locked::locked_contents;

use evidence::{ItemEvidence, ItemPlace};
use plugins::PluginFiles;

pub use evidence::is_candidate_name;
pub(super) use evidence::is_in_client_directory;
pub(super) use names::file_stem;
pub use names::slugify_name;
pub use plugins::{OutsidePlugin, Plugin};

/// A file that lies where items lie and is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassedOver {
    /// The file below the source, with `/`.
    pub path: String,
    pub reason: &'static str,
}

/// The reasons of items that a source has and does not offer.
const WRITTEN: &str = "is in the directory of a client, and the registry has sources of its own";
const COPY: &str = "is identical to another item of the same name";
const NO_COMMAND: &str = "is in a plugin, which has its commands in `commands`";

/// Collects the files of a source that were written for one client.
#[derive(Debug, Default)]
pub(super) struct ForeignCollector {
    found: Vec<ForeignFile>,
    /// Files that count if others beside them do.
    doubtful: Vec<ForeignFile>,
    left_out: Vec<PassedOver>,
    plugins: PluginFiles,
    /// The files that `brief` has written there, by the lock of the source.
    outputs: BTreeSet<String>,
}

/// A file that is an item.
#[derive(Debug)]
struct ForeignFile {
    judgment: ItemEvidence,
    slashed: String,
    document: ItemDocument,
    diagnostics: Vec<Diagnostic>,
}

impl ForeignCollector {
    /// Reads the candidates of a directory; `is_item` says that it belongs to an item in a directory.
    pub(super) fn visit(&mut self, visit: &Visit<'_>, is_item: bool) {
        let slashed = visit.slashed();
        if slashed.is_empty() {
            self.read_outputs(visit);
        }
        let Some(entries) = visit.entries() else { return };
        let files = entries.iter().filter(|entry| entry.kind == FileKind::File);
        for name in files.filter_map(|entry| entry.name.to_str()) {
            if PluginFiles::is_plugin_file(slashed, name) {
                self.plugins.read_file(visit, name);
            } else if !is_item && is_candidate_name(name) {
                self.read_candidate(visit, name);
            }
        }
    }

    fn read_outputs(&mut self, visit: &Visit<'_>) {
        let lock = visit.handle().read(std::ffi::OsStr::new(LOCK_NAME), limits::BUILD_RECORD_BYTES);
        let Some(lock) = lock.ok().and_then(|bytes| String::from_utf8(bytes).ok()) else { return };
        let items = locked_contents(&lock).unwrap_or_default().items;
        self.outputs.extend(items.into_iter().flat_map(|item| item.files));
    }

    fn read_candidate(&mut self, visit: &Visit<'_>, name: &str) {
        let slashed = join_slashed(visit.slashed(), name);
        if self.outputs.contains(&slashed) {
            return;
        }
        let place = ItemPlace::from_directory(visit.slashed());
        // A repository may have thousands of files in YAML.
        if !evidence::is_worth_reading(&place, name) || evidence::is_page(&place, name) {
            return;
        }
        let bytes = match visit.read_file(name) {
            Ok(bytes) => bytes,
            Err(ReadError::Missing) => return,
            Err(error) => {
                if place.is_for_items(name) {
                    let reason = match error {
                        ReadError::TooLarge { .. } => "is larger than 1 MiB",
                        _ => "cannot be read",
                    };
                    self.left_out.push(PassedOver { path: slashed, reason });
                }
                return;
            }
        };
        // Most files of a large source are pages: without a header only a place can make them items.
        let has_header =
            bytes.trim_ascii_start().starts_with(b"---") || bytes.starts_with(b"\xef\xbb\xbf");
        if !has_header && !place.is_for_items(name) {
            return;
        }
        if place.is_of_prompts(visit.slashed(), name) && self.plugins.keeps_prompts(visit.slashed())
        {
            self.left_out.push(PassedOver { path: slashed, reason: NO_COMMAND });
            return;
        }
        let source = Arc::new(Source::from_bytes(visit.path_of(name), bytes));
        let (document, diagnostics) = parse::parse_document(&source);
        match evidence::classify_document(&place, name, &document) {
            Ok(judgment) => {
                let is_certain = judgment.is_certain;
                let list = if is_certain { &mut self.found } else { &mut self.doubtful };
                list.push(ForeignFile { judgment, slashed, document, diagnostics });
            }
            Err(Some(reason)) => self.left_out.push(PassedOver { path: slashed, reason }),
            Err(None) => {}
        }
    }

    /// Returns whether `brief` has written a skill of this directory there.
    pub(super) fn is_output(&self, slashed: &str) -> bool {
        self.outputs.contains(&format!("{slashed}/SKILL.md"))
    }

    /// Adds what was found to the items and bundles of a registry, which is not sorted or checked yet.
    pub(super) fn finish(mut self, system: &dyn System, root: &Root, registry: &mut Registry) {
        self.believe_neighbors();
        registry.items.extend(self.found.into_iter().map(ForeignFile::into_item));
        registry.left_out.append(&mut self.left_out);
        // §2: a registry of the portable format says itself where its sources are. What is in the directories of clients there
        // was compiled from them.
        let is_written = |item: &PortableItem| {
            evidence::is_in_client_directory(&item.slashed)
                || item.document.field("schema").is_none()
                    && item.slashed.split('/').any(|name| name.starts_with('.'))
        };
        let is_source =
            |item: &PortableItem| item.origin == ItemOrigin::Portable && !is_written(item);
        if registry.items.iter().any(is_source) {
            let written = registry.items.extract_if(.., |item| is_written(item));
            registry
                .left_out
                .extend(written.map(|item| PassedOver { path: item.slashed, reason: WRITTEN }));
        }
        let is_same =
            |left: &PortableItem, right: &PortableItem| has_same_content(system, root, left, right);
        super::registry::name_as_people_do(&mut registry.items);
        let copies = names::assign_unique_names(&mut registry.items, &is_same);
        let paths = copies.keys().cloned();
        registry.left_out.extend(paths.map(|path| PassedOver { path, reason: COPY }));
        self.plugins.finish(&copies, registry);
    }

    /// Takes doubtful files whose neighbors are items of the same kind: the folder has shown what it is for.
    fn believe_neighbors(&mut self) {
        let proven: BTreeSet<_> = self
            .found
            .iter()
            .filter_map(|file| Some((file.judgment.kind, folder_of(file)?.to_owned())))
            .collect();
        let above =
            |folder: &str| folder.rsplit_once('/').map_or("", |(above, _)| above).to_owned();
        let others = self.found.iter().filter(|file| file.judgment.kind != ItemKind::Rule);
        let others = others.filter_map(|file| evidence::kind_folder(&file.slashed));
        let collections: BTreeSet<String> = others.map(above).collect();
        for file in std::mem::take(&mut self.doubtful) {
            let folder = folder_of(&file).unwrap_or_default();
            let is_proven = self.plugins.has_folder(folder)
                || match file.judgment.kind {
                    // A page about rules lies beside them. `rules` beside `agents` is a part of a collection.
                    ItemKind::Rule => collections.contains(&above(folder)),
                    kind => proven.contains(&(kind, folder.to_owned())),
                };
            if is_proven {
                self.found.push(file);
            } else {
                let reason = "is not identified as an item by its content or a neighboring file";
                self.left_out.push(PassedOver { path: file.slashed, reason });
            }
        }
        self.found.sort_by(|left, right| left.slashed.cmp(&right.slashed));
    }
}

/// Returns the directory whose files are of one kind: the folder of the kind, or that of the file.
fn folder_of(file: &ForeignFile) -> Option<&str> {
    evidence::kind_folder(&file.slashed)
        .or_else(|| file.slashed.rsplit_once('/').map(|(directory, _)| directory))
}

impl ForeignFile {
    fn into_item(self) -> PortableItem {
        let ForeignFile { judgment, slashed, document, mut diagnostics } = self;
        // Its own client reads the file as it is, with whatever its header says.
        for diagnostic in &mut diagnostics {
            if diagnostic.severity == Severity::Error {
                diagnostic.severity = Severity::Warning;
            }
        }
        let directory = document.source().path().parent().unwrap_or(Path::new("")).to_owned();
        let name = names::of_file(&slashed);
        PortableItem {
            id: ItemId { kind: judgment.kind, name },
            directory,
            slashed,
            document,
            overrides: Vec::new(),
            files: Vec::new(),
            origin: ItemOrigin::ClientFile(judgment.client),
            diagnostics,
        }
    }
}

/// Joins a directory and a name with `/`.
pub(super) fn join_slashed(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}

/// Returns whether two items have the same files with the same content.
fn has_same_content(
    system: &dyn System,
    root: &Root,
    left: &PortableItem,
    right: &PortableItem,
) -> bool {
    let text = |item: &PortableItem| item.document.source.text().to_owned();
    if left.files != right.files || text(left) != text(right) {
        return false;
    }
    if left.files.is_empty() {
        return true;
    }
    let open =
        |item: &PortableItem| system.open_dir_below(root.path(), Path::new(&item.slashed)).ok();
    let (Some(left_directory), Some(right_directory)) = (open(left), open(right)) else {
        return false;
    };
    left.files.iter().all(|file| {
        let path = Path::new(&file.path);
        let read = |directory: &dyn brief_system::Dir| {
            directory.read_below(path, limits::SUPPORT_FILE_BYTES).ok()
        };
        let content = read(left_directory.as_ref());
        content.is_some() && content == read(right_directory.as_ref())
    })
}
