//! What only shows against the whole project.

use brief_syntax::Diagnostic;

use crate::ProjectFiles;

use super::model::Folder;

/// Reports each pattern that covers no file of the project.
pub(super) fn dead_globs(folder: &Folder, project: &ProjectFiles) -> Vec<Diagnostic> {
    let mut files: Option<Vec<&str>> = None;
    let mut diagnostics = Vec::new();
    for guide in &folder.guides {
        let Some(scope) = &guide.scope else { continue };
        let files = files.get_or_insert_with(|| project.files_below(&folder.directory).collect());
        for (pattern, span) in scope.globs.dead(files) {
            let field = scope.field;
            let place = match folder.directory.as_str() {
                "" => "the project",
                directory => directory,
            };
            let message = format!("{field}: \"{pattern}\" matches no file in {place}");
            diagnostics.push(
                Diagnostic::warning("native/dead-glob", &guide.source, span, message).with_help(
                    "patterns are relative to the directory that holds this client's files; \
                     ignored files do not count",
                ),
            );
        }
    }
    diagnostics
}
