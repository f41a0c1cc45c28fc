//! The files that AI clients read by themselves, each with its client's own rules.
//!
//! `CLAUDE.md`, `AGENTS.md`, `.claude/rules`, `.cursor/rules`, `.github/instructions`, skills and
//! subagents: they are in a project already, each for one client and some for several. Read here,
//! they reach everyone: what one client does not load by itself is delivered to it, and what it does
//! load is not delivered again.
//!
//! ```
//! use std::path::Path;
//!
//! use brief_dialects::native::Native;
//! use brief_dialects::{Answer, Dialect, Moment, PathQuestion, hosted};
//! use brief_syntax::system::MemorySystem;
//! use brief_syntax::{Target, TargetKind};
//!
//! let system = MemorySystem::new("/shop")
//!     .with_file("CLAUDE.md", "Prices are integers.\n")
//!     .with_file(".cursor/rules/ts.mdc", "---\nglobs: **/*.ts\n---\nNo `any`.\n");
//! let target = Target::from_slashed("src/cart.ts", TargetKind::File);
//! let question = PathQuestion {
//!     path: Path::new("/shop/src/cart.ts"),
//!     mounted: Path::new("/shop"),
//!     target: Some(&target),
//!     mentions: &[],
//!     hosted: hosted::Options::default(),
//! };
//! let shelf = Native.ask(&system, &question).expect("it answers questions about paths");
//! let mut answer = Answer::default();
//! shelf.resolve(&Moment { client: Some("claude".into()), ..Moment::default() }, &mut answer);
//! let [rule] = &answer.items[..] else { panic!("one rule") };
//! assert_eq!(rule.item.content, "No `any`.\n");
//! assert_eq!(rule.reason.about("src/cart.ts").to_string(), "globs `**/*.ts` covers src/cart.ts");
//! let [claude] = &answer.left_out[..] else { panic!("one file") };
//! assert_eq!(claude.reason.about("").to_string(), "claude loads it by itself");
//! ```

mod check;
mod globs;
mod imports;
mod model;
mod parse;
mod places;
mod read;
mod resolve;
mod shelf;

pub use places::CLIENTS;
pub use shelf::{Native, owner_of};

use places::{Form, PROJECT, Place, USER, Unless};

use crate::answer::Owner;

/// The name of the dialect.
pub const NAME: &str = "native";

/// When a client loads a file by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Loading {
    /// When it starts, whole.
    Start,
    /// When it starts, unless another file takes precedence.
    Conditional,
    /// When a file below the directory, or one that its patterns cover, is worked on.
    Touched,
    /// Its name and description when it starts, the rest when it is asked for.
    Described,
}

/// Returns whether and when a client loads a file by itself, by the path of the file alone.
///
/// `path` is below the mounted directory, or below the home directory of the user, with `/` between
/// names. What a file says for itself (`paths`, `alwaysApply`, …) is not looked at: ask for a
/// resolution with [`Moment::client`](crate::Moment) for that, where everything that the client loads
/// is left out as [`LoadedByClient`](crate::Reason::LoadedByClient) with its content.
pub fn loads(client: &str, owner: Owner, path: &str) -> Option<Loading> {
    let (place, is_nested) = find(owner, path)?;
    let reading = place.readings.iter().find(|reading| reading.client == client)?;
    if is_nested && !reading.is_nested {
        return None;
    }
    Some(match place.form {
        Form::Skill | Form::Agent => Loading::Described,
        _ if is_nested => Loading::Touched,
        Form::Instructions | Form::Legacy if reading.unless == Unless::Never => Loading::Start,
        Form::Instructions | Form::Legacy => Loading::Conditional,
        _ => Loading::Touched,
    })
}

/// Returns the clients that load a file by themselves, in the order of their names, as [`loads`] says.
pub fn loaders(owner: Owner, path: &str) -> impl Iterator<Item = (&'static str, Loading)> {
    CLIENTS.iter().filter_map(move |&client| Some((client, loads(client, owner, path)?)))
}

/// Finds the place of a path, and whether it lies below the top directory.
fn find(owner: Owner, path: &str) -> Option<(&'static Place, bool)> {
    if owner == Owner::User {
        return Some((places::place_of(USER, path)?, false));
    }
    let mut starts = std::iter::once(0).chain(path.match_indices('/').map(|(at, _)| at + 1));
    // The first directory that the path belongs to, as files are found from the top down.
    starts.find_map(|start| Some((places::place_of(PROJECT, &path[start..])?, start > 0)))
}

/// Returns whether a name in a directory is where any of the places of a project begin.
pub fn is_beginning(name: &str) -> bool {
    name.starts_with(['.', 'A', 'C', 'G', 'Q']) && PROJECT.iter().any(|place| place.first() == name)
}
