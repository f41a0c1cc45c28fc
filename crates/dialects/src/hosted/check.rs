//! What lint says beyond what a question reports.

use brief_syntax::Diagnostic;

use super::Item;
use super::model::Globs;

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
