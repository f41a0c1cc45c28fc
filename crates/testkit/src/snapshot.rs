//! Directories before and after a run: snapshots with content and permissions, copies and differences.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The content and the permissions of each path; a directory ends with `/` and has no content.
pub type Snapshot = BTreeMap<String, (Option<Vec<u8>>, u32)>;

/// Adds everything below a directory, each path after `below`. The record of an installation is added without its
/// mark, which differs between copies of a project.
pub fn collect_snapshot(directory: &Path, below: &str, found: &mut Snapshot) {
    for entry in fs::read_dir(directory).expect("the directory can be listed") {
        let path = entry.expect("the directory can be listed").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("names are text");
        let name = format!("{below}{name}");
        let data = fs::symlink_metadata(&path).expect("what is listed exists");
        let mode = data.permissions().mode() & 0o777;
        if path.is_dir() {
            let name = format!("{name}/");
            collect_snapshot(&path, &name, found);
            found.insert(name, (None, mode));
        } else {
            let mut content = fs::read(&path).expect("files can be read");
            if name.ends_with("installed.json") {
                remove_mark(&mut content);
            }
            found.insert(name, (Some(content), mode));
        }
    }
}

/// Removes the mark of derived capability lists from the record of an installation. It covers the project's path
/// with a key of the machine, so it differs between copies.
pub fn remove_mark(record: &mut Vec<u8>) {
    // A torn record stays as it is, for the test to find.
    if let Ok(serde_json::Value::Object(mut fields)) = serde_json::from_slice(record) {
        fields.remove("capabilities");
        *record = serde_json::Value::Object(fields).to_string().into_bytes();
    }
}

/// Returns the files, without directories.
#[must_use]
pub fn files_only(snapshot: &Snapshot) -> Snapshot {
    let files = snapshot.iter().filter(|(path, _)| !path.ends_with('/'));
    files.map(|(path, found)| (path.clone(), found.clone())).collect()
}

/// Describes the paths at which two snapshots differ.
#[must_use]
pub fn describe_differences(left: &Snapshot, right: &Snapshot) -> Vec<String> {
    let paths: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    let differing = paths.into_iter().filter(|path| left.get(*path) != right.get(*path));
    let word = |snapshot: &Snapshot, path: &String| match snapshot.get(path) {
        None => "nothing".to_owned(),
        Some((None, _)) => "a directory".to_owned(),
        Some((Some(bytes), mode)) => {
            let text: String = String::from_utf8_lossy(bytes).chars().take(60).collect();
            format!("{mode:o} {text:?}")
        }
    };
    differing.map(|path| format!("{path}: {} / {}", word(left, path), word(right, path))).collect()
}

/// Copies a directory with everything in it.
pub fn copy_directory(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("directories can be made");
    let mode = fs::metadata(from).expect("the directory exists").permissions();
    fs::set_permissions(to, mode).expect("modes can be set");
    for entry in fs::read_dir(from).expect("the directory can be listed") {
        let path = entry.expect("the directory can be listed").path();
        let target = to.join(path.file_name().expect("an entry has a name"));
        if path.is_dir() {
            copy_directory(&path, &target);
        } else {
            fs::copy(&path, &target).expect("files can be copied");
        }
    }
}

/// Writes files below a directory; those that end in `.sh` are programs.
pub fn write_files(base: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = base.join(name);
        let parent = path.parent().expect("a file lies in a directory");
        fs::create_dir_all(parent).expect("directories can be made");
        fs::write(&path, text).expect("files can be written");
        let is_program = path.extension().is_some_and(|ending| ending == "sh");
        let mode = fs::Permissions::from_mode(if is_program { 0o755 } else { 0o644 });
        fs::set_permissions(&path, mode).expect("modes can be set");
    }
}

/// Returns the text of a portable item's entrypoint.
#[must_use]
pub fn render_item(name: &str, body: &str) -> String {
    format!(
        "---\nschema: 1\nname: {name}\ndescription: Use when {name}\nlicense: MIT\n---\n\n{body}\n"
    )
}
