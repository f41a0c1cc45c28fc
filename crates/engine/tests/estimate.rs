//! The error of the estimate, on the texts of this repository.
//!
//! The estimate was fitted on guidance files of other projects, none of which is here, so this is a
//! test and not a memory. The numbers stand in `docs/explanation/tokens.md`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use brief_engine::tokens::{Counter, estimate_tokens};
use brief_system::{Dir, FileKind, Files, MemorySystem, OsSystem};

/// Shorter texts differ by a large part when they differ by one token.
const SHORTEST: usize = 400;

fn workspace() -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"));
    path.ancestors().nth(2).expect("the crate lies two levels below").to_owned()
}

/// Collects the texts below a directory whose names end so.
fn texts(directory: &dyn Dir, endings: &[&str], found: &mut Vec<String>) {
    let mut entries = directory.entries().expect("the source tree can be listed");
    entries.sort_unstable();
    for entry in entries {
        let name = entry.name.to_string_lossy();
        match entry.kind {
            FileKind::Directory => {
                let below = directory.open_dir(&entry.name).expect("a directory opens");
                texts(&*below, endings, found);
            }
            FileKind::File if endings.iter().any(|ending| name.ends_with(ending)) => {
                let bytes = directory.read(OsStr::new(&*name), u64::MAX).expect("a file is read");
                found.extend(String::from_utf8(bytes).ok().filter(|text| text.len() >= SHORTEST));
            }
            _ => {}
        }
    }
}

/// Returns the error of the estimate on some texts.
#[derive(Debug)]
struct Measured {
    texts: usize,
    /// Of single texts, in per mille.
    median: usize,
    ninth_decile: usize,
    /// Of all texts together, in per mille: what a budget sees.
    sum: usize,
}

fn measure(counter: &Counter<'_>, places: &[&str], endings: &[&str]) -> Measured {
    let mut found = Vec::new();
    for place in places {
        let directory = OsSystem.open_dir(&workspace().join(place)).expect("the place exists");
        texts(&*directory, endings, &mut found);
    }
    let off = |exact: usize, estimate: usize| exact.abs_diff(estimate) * 1_000 / exact;
    let counts: Vec<_> =
        found.iter().map(|text| (counter.count(text), estimate_tokens(text))).collect();
    let mut errors: Vec<usize> = counts.iter().map(|&(exact, guess)| off(exact, guess)).collect();
    errors.sort_unstable();
    let exact = counts.iter().map(|(exact, _)| exact).sum();
    Measured {
        texts: errors.len(),
        median: errors[errors.len() / 2],
        ninth_decile: errors[errors.len() * 9 / 10],
        sum: off(exact, counts.iter().map(|(_, estimate)| estimate).sum()),
    }
}

/// Documentation, Tokens: "How far the estimate is off".
#[test]
fn the_estimate_is_as_good_as_the_documentation_says() {
    let system = MemorySystem::new("/");
    let counter = Counter::exact(&system);
    let places = ["docs", "conformance", "examples"];
    let guidance = measure(&counter, &places, &[".md", ".yaml", ".yml"]);
    assert!(guidance.texts > 50, "{guidance:?}");
    assert!(guidance.median <= 50 && guidance.ninth_decile <= 120, "{guidance:?}");
    let code = measure(&counter, &["crates", "xtask"], &[".rs"]);
    assert!(code.texts > 300, "{code:?}");
    assert!(code.median <= 65 && code.ninth_decile <= 120, "{code:?}");
    assert!(guidance.sum <= 80 && code.sum <= 80, "{guidance:?} {code:?}");
}
