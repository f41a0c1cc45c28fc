//! What lint says beyond what a question reports.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use brief_syntax::{Diagnostic, Source, hidden};

use super::model::Globs;
use super::{Item, Resolution, Scope};

/// Warns of text that a review does not show and an agent reads: in what directories and their
/// configurations bring, and in the configurations themselves. A file that several bring is named once.
pub(super) fn hidden_characters<'p>(
    places: impl Iterator<Item = &'p Resolution>,
) -> impl Iterator<Item = Diagnostic> {
    let sources: BTreeMap<&Path, &Arc<Source>> =
        places.flat_map(sources).map(|source| (source.path(), source)).collect();
    sources.into_values().filter_map(|source| hidden::check("hosted/hidden-character", source))
}

/// Returns the files that a directory brings, and its configuration where that says something.
fn sources(place: &Resolution) -> impl Iterator<Item = &Arc<Source>> {
    let is_own = |item: &&Item| matches!(item.scope, Scope::Working | Scope::Include);
    let items = place.items.iter().filter(is_own).map(|item| &item.file.source);
    let patterns = place.config.include_files.iter().chain(&place.config.exclude_files);
    let origins = patterns.flat_map(super::ConfigPattern::origins);
    let origins = origins.chain(place.mcp_servers.iter().map(|server| &server.origin));
    let own = origins.filter(|origin| *origin.owner == *place.working);
    items.chain(own.map(|origin| &origin.source))
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
