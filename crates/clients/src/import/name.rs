//! Names of items from names of files.

use brief_dialects::portable::{self, ItemKind, name_problem};
use brief_system::hash::sha256;

/// Returns a valid name that resembles a file's: `C# Expert` becomes `csharp-expert`. A name without any letter of the
/// format's becomes the kind and a part of its hash, which is the same in every run.
pub fn item_slug(stem: &str, kind: ItemKind) -> String {
    let name = portable::slugify_name(stem);
    match name_problem(&name) {
        None => name,
        Some(_) if name.is_empty() => format!("{kind}-{}", &sha256(stem.as_bytes())[..8]),
        // A name that some system reserves.
        Some(_) => format!("{name}-{kind}"),
    }
}
