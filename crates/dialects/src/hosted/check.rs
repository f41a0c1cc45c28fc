//! Lint checks beyond the diagnostics of a question.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use brief_syntax::{Diagnostic, Source, hidden, rules};

use super::model::Globs;
use super::{HostedContext, HostedItem, HostedScope};

/// Warns of hidden characters in the files of context directories, in included files and in the
/// configurations. A file with several sources is reported once.
pub(super) fn hidden_characters<'p>(
    places: impl Iterator<Item = &'p HostedContext>,
) -> impl Iterator<Item = Diagnostic> {
    let sources: BTreeMap<&Path, &Arc<Source>> =
        places.flat_map(directory_sources).map(|source| (source.path(), source)).collect();
    sources.into_values().filter_map(|source| {
        hidden::check_hidden_text(rules::context_dir::HIDDEN_CHARACTER, source)
    })
}

/// Returns the files of a directory, and its configuration if it has one.
fn directory_sources(place: &HostedContext) -> impl Iterator<Item = &Arc<Source>> {
    let is_own =
        |item: &&HostedItem| matches!(item.scope, HostedScope::Working | HostedScope::Include);
    let items = place.items.iter().filter(is_own).map(|item| &item.file.source);
    let patterns = place.config.include_files.iter().chain(&place.config.exclude_files);
    let origins = patterns.flat_map(super::ConfigPattern::origins);
    let origins = origins.chain(place.mcp_servers.iter().map(|server| &server.origin));
    let own = origins.filter(|origin| *origin.owner == *place.working);
    items.chain(own.map(|origin| &origin.source))
}

/// Reports each glob that matches no file: usually a file moved, or the pattern was written for
/// another directory.
pub(super) fn dead_globs(item: &HostedItem, paths: &[&str]) -> Vec<Diagnostic> {
    let Globs::Listed(globs) = &item.file.globs else { return Vec::new() };
    globs
        .iter()
        .filter(|(glob, _)| !paths.iter().any(|path| glob.matches(path)))
        .map(|(glob, span)| {
            let message = format!("glob `{}` matches no file", glob.as_str());
            Diagnostic::new(rules::context_dir::UNUSED_PATTERN, &item.file.source, *span, message)
                .with_help(
                    "globs are relative to the directory that contains the context directory",
                )
        })
        .collect()
}

/// Reports each `includeFiles` pattern of a directory that matches no file from there, nor from any directory
/// below it.
pub(super) fn dead_includes(owner: &HostedContext, places: &[&HostedContext]) -> Vec<Diagnostic> {
    let below: Vec<&&HostedContext> =
        places.iter().filter(|place| place.working.starts_with(&owner.working)).collect();
    let is_dead = |text: &str| {
        let mut knowing = below.iter().filter(|place| {
            place.config.include_files.iter().any(|pattern| pattern.pattern == text)
        });
        knowing.all(|place| place.unmatched.contains(text))
    };
    let mut found = Vec::new();
    for pattern in owner.config.include_files.iter().filter(|pattern| is_dead(&pattern.pattern)) {
        for origin in pattern.origins().filter(|origin| *origin.owner == *owner.working) {
            let message = format!("`{}` matches no file", pattern.pattern);
            let help = "patterns are relative to the working directory";
            found.push(origin.problem(rules::context_dir::UNUSED_PATTERN, message, help));
        }
    }
    found
}
