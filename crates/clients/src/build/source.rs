//! What an item is made from: its files, and one name for all of it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use brief_dialects::portable::Item;
use brief_syntax::hash::sha256;
use brief_syntax::limits;
use brief_syntax::system::{Dir, FileContent, Permission, ReadError, System};
use brief_syntax::{Diagnostic, Root, Source, Span};

/// A file beside an entrypoint.
#[derive(Debug, Clone)]
pub(super) struct Beside {
    pub(super) content: Rc<FileContent>,
    pub(super) sha256: String,
}

/// Reads the files beside an item's entrypoint, links never followed.
pub(super) fn read_beside(
    system: &dyn System,
    root: &Root,
    item: &Item,
) -> Result<BTreeMap<String, Beside>, Box<Diagnostic>> {
    let mut files = BTreeMap::new();
    let Some(first) = item.files().first() else { return Ok(files) };
    let directory = system
        .open_dir_below(root.path(), Path::new(item.slashed()))
        .map_err(|error| unreadable(item, &first.path, &error.into()))?;
    let mut held: Option<(&str, Box<dyn Dir>)> = None;
    for file in item.files() {
        let outcome = match file.path.rsplit_once('/') {
            None => directory.read_file(OsStr::new(&file.path), limits::SUPPORT_FILE_BYTES),
            Some((parent, name)) => {
                if held.as_ref().is_none_or(|(path, _)| *path != parent) {
                    let handle = directory
                        .open_dir_below(Path::new(parent))
                        .map_err(|error| unreadable(item, &file.path, &error.into()))?;
                    held = Some((parent, handle));
                }
                match &held {
                    Some((_, handle)) => {
                        handle.read_file(OsStr::new(name), limits::SUPPORT_FILE_BYTES)
                    }
                    None => Err(ReadError::Missing),
                }
            }
        };
        let content = outcome.map_err(|error| unreadable(item, &file.path, &error))?;
        let sha256 = sha256(&content.bytes);
        files.insert(file.path.clone(), Beside { content: Rc::new(content), sha256 });
    }
    Ok(files)
}

fn unreadable(item: &Item, path: &str, error: &ReadError) -> Box<Diagnostic> {
    let source = Arc::new(Source::unread(item.directory().join(path)));
    let message = format!("the file cannot be read: {error}");
    let problem = Diagnostic::error("portable/unreadable", &source, Span::default(), message);
    Box::new(problem.with_help("what lies beside an item is regular files of at most 16 MiB"))
}

/// Returns one name for everything that an item's outputs are made from. `context` stands for what is
/// the same for all items: the program, the clients, the options.
pub(super) fn fingerprint(context: &str, item: &Item, files: &BTreeMap<String, Beside>) -> String {
    let mut text = String::with_capacity(item.document().source().text().len() + 512);
    // Each part has its length before it, so that no two items read alike.
    let mut add = |part: &str| {
        text.push_str(&part.len().to_string());
        text.push(':');
        text.push_str(part);
    };
    add(context);
    add(item.slashed());
    add(item.kind().as_str());
    add(item.document().source().text());
    for own in item.overrides() {
        add(&own.client);
        add(own.source.text());
    }
    add("files");
    for (path, file) in files {
        add(path);
        add(&file.sha256);
        add(if file.content.permission == Permission::Program { "program" } else { "data" });
    }
    sha256(text.as_bytes())
}
