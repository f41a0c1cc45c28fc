//! Hostile input for every parser and protocol of the program.
//!
//! One list of [targets](targets::TARGETS) serves two drivers: the mutation fuzzer of this crate
//! (`cargo xtask fuzz`), which needs only a compiler, and a test that replays every seed and every
//! input that was found. A target fails by a panic, by computing for more than a second, or by
//! taking more than 256 MB.
#![expect(clippy::disallowed_methods, reason = "this tool reads seeds and writes findings")]

pub mod campaign;
mod dictionaries;
pub mod mutate;
mod runs;
pub mod seeds;
pub mod target;
pub mod targets;

/// The CPU time of one input, in seconds.
pub const UNIT_SECONDS: u64 = 1;

/// The memory of one input, in bytes.
pub const UNIT_BYTES: u64 = 256 * 1024 * 1024;

/// Returns the directory of this crate.
pub fn crate_directory() -> &'static std::path::Path {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
}
