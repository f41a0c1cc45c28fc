//! Names of items from names of files.

use brief_dialects::portable::{ItemKind, NAME_LENGTH, name_problem};
use brief_syntax::hash::sha256;

/// Returns a valid name that resembles a file's: `C# Expert` becomes `c-expert`. A name without any letter of the
/// format's becomes the kind and a part of its hash, which is the same in every run.
pub fn slug(stem: &str, kind: ItemKind) -> String {
    let mut name = String::new();
    for letter in stem.chars() {
        match letter.to_ascii_lowercase() {
            letter if letter.is_ascii_lowercase() || letter.is_ascii_digit() => name.push(letter),
            _ if !name.is_empty() && !name.ends_with('-') => name.push('-'),
            _ => {}
        }
    }
    name.truncate(NAME_LENGTH);
    let name = name.trim_end_matches('-').to_owned();
    match name_problem(&name) {
        None => name,
        Some(_) if name.is_empty() => format!("{kind}-{}", &sha256(stem.as_bytes())[..8]),
        // A name that some system reserves.
        Some(_) => format!("{name}-{kind}"),
    }
}
