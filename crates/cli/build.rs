//! Passes options to the linker for release builds: a static C library, compact relocations and `hook.ld`.
//! That file groups the functions that a hook runs.
//!
//! A hook is started for every tool call. Loading three shared libraries takes as long as its work, and
//! the loader writes every relocation before the first line of ours runs. Programs for development go
//! without: older versions of the linker mold, which builds them fast, write relocations that glibc refuses.

// This runs while the program is built, not in it: there is no `System` here.
#![allow(clippy::disallowed_methods)]

use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// The first glibc that can load compact relocations.
const GLIBC: (u32, u32) = (2, 36);

/// The libraries that rustc names, and the archives that take their place. With these scripts found
/// first, the program needs none of the system's shared libraries and still starts at a random address.
/// The target feature `crt-static` does the same, but not for a workspace with procedural macros that is
/// built without `--target`.
const SCRIPTS: [(&str, &str); 3] = [
    ("libgcc_s.so", "INPUT(-l:libgcc_eh.a -l:libgcc.a)"),
    ("libm.so", "INPUT(-l:libm.a)"),
    ("libc.so", "INPUT(-l:libc.a -l:libgcc_eh.a -l:libgcc.a -l:libc.a)"),
];
const ARCHIVES: [&str; 4] = ["libc.a", "libm.a", "libgcc_eh.a", "libgcc.a"];

fn main() {
    // `brief version` names the target.
    println!("cargo::rustc-env=BRIEF_TARGET={}", env::var("TARGET").unwrap_or_default());
    println!("cargo::rustc-env=BRIEF_COMMIT={}", find_commit().unwrap_or_default());
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=hook.ld");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let is_native = env::var("HOST").ok() == env::var("TARGET").ok();
    let is_gnu = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    // mold knows no linker scripts.
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let is_plain = !flags.contains("mold") && !flags.contains("crt-static");
    if !is("PROFILE", "release") || !is_gnu {
        return;
    }
    if is_native && glibc_version().is_some_and(|version| version >= GLIBC) {
        print_link_argument("-Wl,-z,pack-relative-relocs");
    }
    if is_plain {
        // `brief-agent`, which is linked with this file, too, answers no hook.
        let script = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("hook.ld");
        if script.is_file() {
            print_link_argument(&format!("-Wl,-T,{}", script.display()));
        }
    }
    if is_plain && is_native && ARCHIVES.iter().all(|name| has_archive(name)) {
        let directory = env::var("OUT_DIR").expect("cargo names a directory for what is generated");
        for (name, content) in SCRIPTS {
            fs::write(Path::new(&directory).join(name), content).expect("that directory is ours");
        }
        print_link_argument(&format!("-L{directory}"));
        print_link_argument("-static-pie");
    }
}

/// Finds the commit that the program is built from: the one that the builder names, that of an archive of the sources or
/// of a package, or that of the checkout. A development build has none, because each commit would build it again.
fn find_commit() -> Option<String> {
    println!("cargo::rerun-if-env-changed=BRIEF_COMMIT");
    let is_commit = |text: &String| {
        text.len() >= 40 && text.bytes().take(40).all(|byte| byte.is_ascii_hexdigit())
    };
    let named = env::var("BRIEF_COMMIT").ok().filter(|named| !named.is_empty());
    let directory = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).to_owned();
    // `git archive` puts the commit into the file, and `cargo package` writes the other one.
    let archived = || {
        println!("cargo::rerun-if-changed=commit.txt");
        let text = fs::read_to_string(directory.join("commit.txt")).ok()?;
        Some(text.trim().to_owned()).filter(is_commit)
    };
    let packaged = || {
        let text = fs::read_to_string(directory.join(".cargo_vcs_info.json")).ok()?;
        let (_, rest) = text.split_once("\"sha1\"")?;
        rest.split('"').nth(1).map(str::to_owned).filter(is_commit)
    };
    let checked_out = || {
        if env::var("PROFILE").ok()? != "release" {
            return None;
        }
        let git = |args: &[&str]| {
            let output = Command::new("git").args(args).current_dir(&directory).output().ok()?;
            let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
            Some(text.trim().to_owned())
        };
        for name in ["HEAD", "logs/HEAD"] {
            let path = directory.join(git(&["rev-parse", "--git-path", name])?);
            println!("cargo::rerun-if-changed={}", path.display());
        }
        let head = git(&["rev-parse", "HEAD"]).filter(is_commit)?;
        let changes = git(&["status", "--porcelain", "--untracked-files=no"])?;
        Some(if changes.is_empty() { head } else { format!("{head} with changes") })
    };
    named.or_else(archived).or_else(packaged).or_else(checked_out)
}

fn print_link_argument(text: &str) {
    println!("cargo::rustc-link-arg-bins={text}");
}

/// Asks the C compiler for a library; it answers with a path when it has one.
fn has_archive(name: &str) -> bool {
    let output = Command::new("cc").arg(format!("-print-file-name={name}")).output();
    output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains('/'))
}

/// Returns the version of the C library of this system; `None` when it does not say.
fn glibc_version() -> Option<(u32, u32)> {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
