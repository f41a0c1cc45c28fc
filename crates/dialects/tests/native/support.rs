//! Asks the dialect, and puts the answer into words.

use std::path::Path;

use brief_dialects::native::Native;
use brief_dialects::{Dialect, DialectGuidance, Moment, Resolution};
use brief_syntax::{Root, Target};
use brief_system::MemorySystem;

/// A project in `/p`, of a user at `/home`.
pub(crate) fn project(files: &[(&str, &str)]) -> MemorySystem {
    let system = MemorySystem::new("/p").with_env("HOME", "/home").with_dir("/home");
    files.iter().fold(system, |system, (path, text)| system.with_file(path, text))
}

/// Guidance in words.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Words {
    /// `path: state: reason`.
    pub(crate) items: Vec<String>,
    /// `path: reason`.
    pub(crate) left_out: Vec<String>,
    /// `path:line code`.
    pub(crate) diagnostics: Vec<String>,
}

/// Asks about a path on behalf of a client, with something mentioned.
pub(crate) fn ask_with(
    system: &MemorySystem,
    path: &str,
    client: Option<&str>,
    mentions: &[&str],
) -> Words {
    let moment = Moment {
        client: client.map(str::to_owned),
        mentions: mentions.iter().map(|&mention| mention.to_owned()).collect(),
        ..Moment::default()
    };
    ask_at(system, path, &moment)
}

/// Asks about a path at a moment.
pub(crate) fn ask_at(system: &MemorySystem, path: &str, moment: &Moment) -> Words {
    let mut words = Words::default();
    with_guidance_at(system, path, moment, |guidance, target| {
        let mut answer = Resolution::default();
        guidance.resolve_items(moment, &mut answer);
        words = in_words(&answer, target.slashed());
        words.diagnostics = guidance
            .diagnostics()
            .iter()
            .map(|found| {
                let line = found.position().line;
                format!("{}:{line} {}", found.shown_path(Path::new("/p")), found.code())
            })
            .collect();
    });
    words
}

/// Asks about a path.
pub(crate) fn ask(system: &MemorySystem, path: &str) -> Words {
    ask_with(system, path, None, &[])
}

/// Returns the paths that a client loads by itself for a path, and those that are delivered to it.
pub(crate) fn loaded(
    system: &MemorySystem,
    path: &str,
    client: &str,
) -> (Vec<String>, Vec<String>) {
    loaded_at(system, path, &Moment { client: Some(client.to_owned()), ..Moment::default() })
}

/// Returns the same at a moment of some client's.
pub(crate) fn loaded_at(
    system: &MemorySystem,
    path: &str,
    moment: &Moment,
) -> (Vec<String>, Vec<String>) {
    let client = moment.client.as_deref().unwrap_or_default();
    let words = ask_at(system, path, moment);
    let whole = format!(": {client} loads it by itself");
    let listed = format!(": {client} loads it by itself, by name and description");
    let approved = format!(": {client} lists it once you approve its text in {client}");
    let has = |out: &'_ str| {
        let path = [&whole, &listed, &approved].into_iter().find_map(|end| out.strip_suffix(end));
        path.map(str::to_owned)
    };
    let loaded = words.left_out.iter().filter_map(|out| has(out));
    let delivered = words.items.iter().filter_map(|item| item.split(": ").next());
    (loaded.collect(), delivered.map(str::to_owned).collect())
}

/// Reads what is on the way to a path.
pub(crate) fn with_guidance(
    system: &MemorySystem,
    path: &str,
    look: impl FnOnce(&dyn DialectGuidance, &Target),
) {
    with_guidance_at(system, path, &Moment::default(), look);
}

/// Reads the same for the client of a moment, where it was started.
fn with_guidance_at(
    system: &MemorySystem,
    path: &str,
    asked: &Moment,
    look: impl FnOnce(&dyn DialectGuidance, &Target),
) {
    let root = Root::open(system, Path::new("/p")).expect("the project is there");
    let mut moment = Moment::from_path(system, root, Path::new("/p"), Path::new(path));
    moment.client.clone_from(&asked.client);
    moment.started = asked.started.clone().or(moment.started);
    let target = moment.located_target().expect("it is inside");
    let guidance = Native.read_guidance(system, &moment, None).expect("it answers");
    look(guidance.as_ref(), target);
}

fn in_words(answer: &Resolution<'_>, about: &str) -> Words {
    let shown = |path: &Path| path.strip_prefix("/p").unwrap_or(path).display().to_string();
    let items = answer.items.iter().map(|applied| {
        let (item, reason) = (&applied.item, applied.reason.display_with_path(about));
        format!("{}: {}: {reason}", shown(item.path), item.state.as_str())
    });
    let left_out = answer.left_out.iter().map(|out| {
        let reason = out.reason.display_with_path(about);
        let path = Path::new("/p");
        format!(
            "{}: {}",
            shown(out.path),
            reason.to_string().replace(&format!("{}/", path.display()), "")
        )
    });
    Words { items: items.collect(), left_out: left_out.collect(), diagnostics: Vec::new() }
}
