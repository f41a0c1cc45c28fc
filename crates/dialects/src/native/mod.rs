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
//! use brief_dialects::{Dialect, Moment, Resolution};
//! use brief_syntax::Root;
//! use brief_system::MemorySystem;
//!
//! let system = MemorySystem::new("/shop")
//!     .with_file("CLAUDE.md", "Prices are integers.\n")
//!     .with_file(".cursor/rules/ts.mdc", "---\nglobs: **/*.ts\n---\nNo `any`.\n");
//! let root = Root::open(&system, Path::new("/shop"))?;
//! let about = Moment::from_path(&system, root, Path::new("/shop"), Path::new("src/cart.ts"));
//! let moment = Moment { client: Some("claude".into()), ..about };
//! let guidance = Native.read_guidance(&system, &moment, None).expect("it answers questions about paths");
//! let mut answer = Resolution::default();
//! guidance.resolve_items(&moment, &mut answer);
//! let [rule] = &answer.items[..] else { panic!("one rule") };
//! assert_eq!(rule.item.content, "No `any`.\n");
//! assert_eq!(rule.reason.display_with_path("src/cart.ts").to_string(), "globs `**/*.ts` covers src/cart.ts");
//! let [claude] = &answer.left_out[..] else { panic!("one file") };
//! assert_eq!(claude.reason.display_with_path("").to_string(), "claude loads it by itself");
//! # Ok::<(), std::io::Error>(())
//! ```

mod apply_to;
mod check;
mod client_files;
mod clients;
mod globs;
mod guidance;
mod imports;
mod loading;
mod model;
mod modes;
mod parse;
mod passing;
mod plugins;
mod reach;
mod read;
mod readers;
mod resolve;
mod settings;
mod translate;
mod walk;
mod workspace;

pub use check::{
    check_plugin_agent, is_backup, is_elsewhere, is_test_data, is_translation, keep_for_clients,
};
pub use clients::is_beginning;
pub use guidance::Native;
pub use readers::client_reads_file;
pub use translate::{RuleScope, RuleUse, client_pattern, portable_patterns, rule_scope};

/// The name of the dialect.
pub const NAME: &str = "client-files";
