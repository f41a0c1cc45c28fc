//! The context directories of one question.

use std::path::Path;
use std::sync::Arc;

use brief_syntax::{Diagnostic, rules};
use brief_system::{Dir, System};

use super::context_dir::ContextDir;
use super::model::HostedScope;
use super::place::{HostedEnvironment, HostedPlace, path_diagnostic};

/// Opens the context directories: global first, then from the mounted to the working directory.
pub(super) fn open_contexts(
    system: &dyn System,
    place: &HostedPlace,
    root: Option<&dyn Dir>,
    environment: &HostedEnvironment,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<ContextDir> {
    let mut contexts = Vec::new();
    let levels = place.collect_levels(diagnostics);
    // If the start of a very deep path is skipped, every path starts where reading does.
    let deep =
        levels.first().filter(|(first, _)| **first != *place.mounted).and_then(|(first, _)| {
            let way = first.strip_prefix(&place.mounted).ok()?;
            Some((root?.open_dir_below(way).ok()?, Arc::clone(first)))
        });
    let top = match &deep {
        Some((handle, path)) => Some((handle.as_ref(), &**path)),
        None => root.map(|root| (root, place.mounted.as_path())),
    };
    for (owner, scope) in levels {
        let (base, below) = environment.context_of(&owner);
        let whose = (owner, scope);
        contexts.extend(ContextDir::open(system, top, (&base, &below), whose, diagnostics));
    }
    if let Some(context) = open_global(system, environment, &contexts, diagnostics) {
        contexts.insert(0, context);
    }
    contexts
}

/// Opens the global context directory, unless it is one of the project's own (X29).
fn open_global(
    system: &dyn System,
    environment: &HostedEnvironment,
    contexts: &[ContextDir],
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<ContextDir> {
    let global = environment.global.as_ref()?;
    let (base, below) = (global.base.as_path(), global.below.as_path());
    let is_known = |path: &Path| contexts.iter().any(|context| context.path == path);
    if is_known(&base.join(below)) {
        return None;
    }
    let whose = (Arc::from(base), HostedScope::Global);
    let opened = ContextDir::open(system, None, (base, below), whose, diagnostics);
    let Some(mut context) = opened else {
        if global.named
            && let Err(error) = system.open_dir(base)
            && error.kind() == std::io::ErrorKind::NotADirectory
        {
            let message = "no global context applies: its path is a file, not a directory";
            diagnostics.push(path_diagnostic(base, rules::context_dir::UNREADABLE, message));
        }
        return None;
    };
    // The user may have named the location through links.
    if let Ok(resolved) = system.resolve(base) {
        context.path = resolved.path.join(below);
        context.owner = Arc::from(resolved.path);
    }
    (!is_known(&context.path)).then_some(context)
}
