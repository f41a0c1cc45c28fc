//! The texts of the licenses of everything that is linked in. Most licenses ask that their text goes along.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::platform::Platform;
use super::sbom::Component;

/// How a program with its own C library can be linked with another one, which the LGPL asks for.
const C_LIBRARY: &str = "\
The program for Linux also contains the GNU C library (LGPL-2.1-or-later) and the runtime library of gcc
(GPL-3.0-or-later with the GCC Runtime Library Exception 3.1), which the building system had. To link it with another
version of them, run `cargo xtask dist` in the sources of this version of Briefing.
";

/// Returns one text: the components with their licenses, then each license text once, with the components that it came with.
pub(super) fn render_licenses(
    components: &[Component],
    platform: &Platform,
    glibc: Option<(u32, u32)>,
) -> Result<String, String> {
    let mut list = String::from("This program contains:\n\n");
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for component in components {
        let name = format!("{} {}", component.name, component.version);
        list.push_str(&format!("{name}: {}\n", component.license));
        let Some(directory) = &component.directory else { continue };
        let mut found = Vec::new();
        collect_license_texts(directory, 2, &mut found)
            .map_err(|error| format!("{name}: {error}"))?;
        for text in found {
            texts.entry(text).or_default().insert(name.clone());
        }
    }
    if !platform.c_library(glibc).is_empty() {
        list.push_str(&format!("\n{C_LIBRARY}"));
    }
    // By the first name, so that the order tells something.
    let mut texts: Vec<(BTreeSet<String>, String)> =
        texts.into_iter().map(|(text, names)| (names, text)).collect();
    texts.sort_unstable();
    for (names, text) in texts {
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        list.push_str(&format!("\n{}\n{names}\n\n{text}\n", "-".repeat(80)));
    }
    Ok(list)
}

/// Collects the texts of a crate; C code inside lies one directory deeper.
fn collect_license_texts(
    directory: &Path,
    depth: usize,
    texts: &mut Vec<String>,
) -> std::io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().to_ascii_uppercase();
        let is_license = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"]
            .iter()
            .any(|word| name.starts_with(word));
        if entry.file_type()?.is_dir() {
            if depth > 1 {
                collect_license_texts(&entry.path(), depth - 1, texts)?;
            }
        } else if is_license && !name.contains(".RS") {
            let text = String::from_utf8_lossy(&fs::read(entry.path())?).replace('\r', "");
            texts.push(text.trim().to_owned());
        }
    }
    Ok(())
}
