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

mod apply_to;
mod check;
mod clients;
mod globs;
mod imports;
mod loading;
mod model;
mod parse;
mod places;
mod plugins;
mod read;
mod readers;
mod resolve;
mod settings;
mod shelf;
mod signs;
mod walk;

pub use check::is_client_file;
pub use clients::{CLIENTS, seen};
pub use readers::reads;
pub use shelf::{Native, owner_of};
pub use signs::shown_clients;

use places::PROJECT;

/// The name of the dialect.
pub const NAME: &str = "native";

/// Returns whether a name in a directory is where any of the places of a project begin.
pub fn is_beginning(name: &str) -> bool {
    name.starts_with(['.', 'A', 'C', 'G', 'Q', 'W', 'k', 'o'])
        && (PROJECT.iter().any(|place| place.first() == name) || settings::is_beginning(name))
}
