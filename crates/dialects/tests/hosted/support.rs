//! Helpers of the tests: a project in memory, and answers as plain text.

use std::path::Path;

use brief_dialects::hosted::{HostedContext, Query, State, resolve_hosted_context};
use brief_system::MemorySystem;

/// A file that is always active.
pub(crate) const ALWAYS: &str = "---\ntrigger: always\n---\nbody\n";

/// An empty project `/p` of a user whose home is `/home/u`.
pub(crate) fn project() -> MemorySystem {
    MemorySystem::new("/p").with_dir("/home/u").with_env("HOME", "/home/u")
}

/// Asks about a path of `/p`.
pub(crate) fn ask(system: &MemorySystem, path: &str) -> HostedContext {
    ask_mounted(system, "/p", path)
}

/// Asks about a path with another mounted directory.
pub(crate) fn ask_mounted(system: &MemorySystem, mounted: &str, path: &str) -> HostedContext {
    let (mounted, path) = (Path::new(mounted), Path::new(path));
    resolve_hosted_context(system, &Query { mounted, path, mentions: &[] })
}

/// Asks about a path of `/p` and mentions something.
pub(crate) fn mention(system: &MemorySystem, path: &str, mention: &str) -> HostedContext {
    let (mounted, path) = (Path::new("/p"), Path::new(path));
    resolve_hosted_context(system, &Query { mounted, path, mentions: &[mention.to_owned()] })
}

/// The paths of all items, in order.
pub(crate) fn files(answer: &HostedContext) -> Vec<&str> {
    answer.items.iter().map(|item| item.path().to_str().unwrap()).collect()
}

/// The paths of the active items, in order.
pub(crate) fn active(answer: &HostedContext) -> Vec<&str> {
    with_state(answer, State::Active)
}

/// The paths of the items in a state, in order.
pub(crate) fn with_state(answer: &HostedContext, state: State) -> Vec<&str> {
    let items = answer.items.iter().filter(|item| item.state == state);
    items.map(|item| item.path().to_str().unwrap()).collect()
}

/// The scopes of all items, in order.
pub(crate) fn scopes(answer: &HostedContext) -> Vec<&str> {
    answer.items.iter().map(|item| item.scope.as_str()).collect()
}

/// The codes of the diagnostics, each once, without the prefix that they must have.
pub(crate) fn codes(answer: &HostedContext) -> Vec<&str> {
    let mut codes: Vec<&str> = answer
        .diagnostics
        .iter()
        .map(|diagnostic| diagnostic.code().strip_prefix("context-dir/").unwrap())
        .collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

/// The reason why a path is left out.
pub(crate) fn why_not<'a>(answer: &'a HostedContext, path: &str) -> Option<&'a str> {
    let left_out = answer.left_out.iter().find(|left_out| left_out.path == Path::new(path));
    left_out.map(|left_out| left_out.reason.as_str())
}

/// The configuration file of `/p`, with this in `clientContext`.
pub(crate) fn client_context(fields: &str) -> String {
    format!("{{\"clientContext\": {{{fields}}}}}")
}

/// A project with this in the `clientContext` of `/p`.
pub(crate) fn configured(fields: &str) -> MemorySystem {
    project().with_file(".context/context-config.json", client_context(fields))
}
