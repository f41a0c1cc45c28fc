//! What lint says about one context directory, without any question.

use std::path::Path;

use brief_syntax::{Diagnostic, System, diagnostic};

use crate::ProjectFiles;

use super::model::Globs;
use super::{Item, Query, Resolution, Scope, resolve};

/// Reports what is wrong with the context directory of `owner`: its configuration, its files, names
/// that are never read, and globs that match nothing.
///
/// `files` are the paths of the project at `owner`, relative to it; without them globs are not
/// compared with anything.
pub fn check_directory(
    system: &dyn System,
    owner: &Path,
    files: Option<&ProjectFiles>,
) -> Vec<Diagnostic> {
    let resolution = resolve(system, &Query { mounted: owner, path: owner, mentions: &[] });
    let Resolution { items, mut diagnostics, working, .. } = resolution;
    diagnostics.retain(|diagnostic| diagnostic.path().starts_with(&working));
    if let Some(files) = files {
        let own = items.iter().filter(|item| item.scope == Scope::Working);
        let paths: Vec<&str> = files.files_below("").collect();
        diagnostics.extend(own.flat_map(|item| dead_globs(item, &paths)));
        diagnostic::sort(&mut diagnostics);
    }
    diagnostics
}

/// Reports each glob that matches nothing: usually a file that moved, or a pattern written for
/// another directory.
pub(super) fn dead_globs(item: &Item, paths: &[&str]) -> Vec<Diagnostic> {
    let Globs::Listed(globs) = &item.file.globs else { return Vec::new() };
    globs
        .iter()
        .filter(|(glob, _)| !paths.iter().any(|path| glob.matches(path)))
        .map(|(glob, span)| {
            let message = format!("glob `{}` matches no file", glob.as_str());
            Diagnostic::warning("hosted/dead-glob", &item.file.source, *span, message)
                .with_help("globs are relative to the directory that holds the context directory")
        })
        .collect()
}
