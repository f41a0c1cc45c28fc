//! Passes two options to the linker for release builds: compact relocations, where the building system can
//! start such a program, and `hook.ld`, which places the functions that a hook runs next to each other.
//!
//! The loader reads and writes every relocation before the first line of ours runs. A hook is started
//! for every tool call, and half a megabyte of them is a tenth of its memory. Programs for development go
//! without: older versions of the linker mold, which builds them fast, write relocations that glibc refuses.

// This runs while the program is built, not in it: there is no `System` here.
#![allow(clippy::disallowed_methods)]

use std::env;
use std::process::Command;

/// The first glibc that can load them.
const GLIBC: (u32, u32) = (2, 36);

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=hook.ld");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let is_native = env::var("HOST").ok() == env::var("TARGET").ok();
    let is_gnu = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    let is_release = is("PROFILE", "release");
    if is_release && is_native && is_gnu && glibc().is_some_and(|version| version >= GLIBC) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
    // mold knows no linker scripts.
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    if is_release && is_gnu && !flags.contains("mold") {
        let directory = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
        println!("cargo::rustc-link-arg-bins=-Wl,-T,{directory}/hook.ld");
    }
}

/// Returns the version of the C library of this system; `None` when it does not say.
fn glibc() -> Option<(u32, u32)> {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
