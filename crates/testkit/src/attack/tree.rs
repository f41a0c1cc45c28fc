//! Snapshots of directories for comparison.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The mode of each path with the bytes of a file, the target of a link, or a mark for anything else.
pub(super) type Tree = BTreeMap<String, (u32, Vec<u8>)>;

/// The limit for the depth of directories.
const DEEPEST: usize = 40;

/// The limit for the bytes of a file.
const LONGEST: u64 = 4 * 1024 * 1024;

/// Reads a directory. Links are not followed.
pub(super) fn read_tree(directory: &Path) -> Tree {
    let mut tree = Tree::new();
    add_directory(directory, "", 0, &mut tree);
    tree
}

fn add_directory(directory: &Path, below: &str, depth: usize, tree: &mut Tree) {
    if depth > DEEPEST {
        return;
    }
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = format!("{below}{}", entry.file_name().to_string_lossy());
        let Ok(data) = fs::symlink_metadata(&path) else { continue };
        let content = if data.is_symlink() {
            let target = fs::read_link(&path).unwrap_or_default();
            format!("-> {}", target.display()).into_bytes()
        } else if data.is_file() && data.len() <= LONGEST {
            fs::read(&path).unwrap_or_default()
        } else {
            format!("{:?} of {} bytes", data.file_type(), data.len()).into_bytes()
        };
        if data.is_dir() {
            tree.insert(format!("{name}/"), (data.permissions().mode(), Vec::new()));
            add_directory(&path, &format!("{name}/"), depth + 1, tree);
        } else {
            tree.insert(name, (data.permissions().mode(), content));
        }
    }
}

/// Returns the new, changed and removed paths.
pub(super) fn changed_paths<'t>(before: &'t Tree, after: &'t Tree) -> Vec<&'t str> {
    let changed = after.iter().filter(|(path, content)| before.get(*path) != Some(content));
    let gone = before.keys().filter(|path| !after.contains_key(*path));
    changed.map(|(path, _)| path.as_str()).chain(gone.map(String::as_str)).collect()
}

/// Copies the changes between two snapshots into an earlier one.
pub(super) fn adopt_changes(
    earlier: &mut BTreeMap<String, Tree>,
    from: &BTreeMap<String, Tree>,
    to: &BTreeMap<String, Tree>,
) {
    let empty = Tree::new();
    for (group, after) in to {
        let before = from.get(group).unwrap_or(&empty);
        let tree = earlier.entry(group.clone()).or_default();
        for path in changed_paths(before, after) {
            match after.get(path) {
                Some(content) => tree.insert(path.to_owned(), content.clone()),
                None => tree.remove(path),
            };
        }
    }
    earlier.retain(|group, _| to.contains_key(group));
}
