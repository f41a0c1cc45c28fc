//! The places of items: the directories of kinds, of clients and of dependencies.

use std::ffi::OsStr;
use std::path::Path;

use brief_syntax::{Root, limits};
use brief_system::{Below, FileKind, System};

use super::foreign;
use super::model::{ItemKind, PortableItem};
use super::registry::{is_bundle, last_name};

/// The directory that holds opencode's generated items, and may hold source items by mistake.
const SHARED: &str = ".agents";

/// Returns a directory of dependencies if it has items, so that they are named: they are other people's.
pub(super) fn find_item_directory(
    system: &dyn System,
    root: &Root,
    slashed: &str,
) -> Option<String> {
    let kind = ItemKind::of_folder(last_name(slashed)).filter(|kind| kind.is_of_document())?;
    let top = system.open_dir_below(root.path(), Path::new(slashed)).ok()?;
    let entries = top.first_entries(limits::HOSTED_ENTRIES).ok()?;
    let mut directories = entries.iter().filter(|entry| entry.kind == FileKind::Directory);
    let is_item = |name: &OsStr| {
        top.look_below(&Path::new(name).join(kind.entrypoint())) == Below::NotADirectory
    };
    directories.any(|entry| is_item(&entry.name)).then(|| slashed.to_owned())
}

/// Returns whether a path below a project is that of a bundle or of an item's entry file, outside the directories of clients.
pub fn is_offered_file(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    is_bundle(name)
        || ItemKind::ALL.into_iter().any(|kind| kind.entrypoint() == name)
            && !foreign::is_in_client_directory(&path.to_string_lossy())
}

/// Returns whether an item is in a directory for generated files.
pub(super) fn is_in_shared(item: &PortableItem) -> bool {
    item.slashed.split('/').any(|name| name == SHARED)
}

/// Returns the kind of the directory above an item.
pub(super) fn kind_of_place(item: &PortableItem) -> Option<ItemKind> {
    let kind = item.slashed.rsplit('/').nth(1).and_then(ItemKind::of_folder);
    kind.filter(|kind| kind.is_of_document())
}
