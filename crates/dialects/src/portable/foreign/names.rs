//! The names of items that others have written.
//!
//! Authors name items freely: with capitals, blanks and other letters, twice in one collection. A name
//! here is one that every file system takes. Both the author's name and the file's still find the item.

use std::collections::{BTreeMap, BTreeSet};

use super::super::fields::name_problem;
use super::super::model::{ItemId, NAME_LENGTH, PortableItem};
use super::evidence;

/// Names of directories that tell nothing about the items in them.
const SILENT: [&str; 14] = [
    "rules",
    "skills",
    "skill",
    "agents",
    "agent",
    "subagents",
    "commands",
    "command",
    "prompts",
    "instructions",
    "src",
    "plugins",
    "plugin",
    "categories",
];

/// Returns a name of the characters that every name of an item has; empty if nothing is left.
pub fn slugify_name(name: &str) -> String {
    let named = name
        .replace("C#", "csharp")
        .replace("c#", "csharp")
        .replace("++", "pp")
        .replace("F#", "fsharp");
    let mut slug = String::with_capacity(named.len());
    for letter in named.chars() {
        match letter {
            'a'..='z' | '0'..='9' => slug.push(letter),
            'A'..='Z' => slug.push(letter.to_ascii_lowercase()),
            '\'' | '’' => {}
            _ if slug.is_empty() || slug.ends_with('-') => {}
            _ => slug.push('-'),
        }
    }
    slug.truncate(NAME_LENGTH);
    slug.truncate(slug.trim_end_matches('-').len());
    slug
}

/// Returns a valid name for a file or directory by its path.
pub(super) fn of_file(slashed: &str) -> String {
    let name = slashed.rsplit('/').next().unwrap_or_default();
    find_valid_name(file_stem(name)).unwrap_or_else(|| of_path(slashed))
}

/// Returns the stem of a file: its name without the ending that clients want.
pub(in crate::portable) fn file_stem(name: &str) -> &str {
    const ENDINGS: [&str; 8] = [
        ".instructions.md",
        ".chatmode.md",
        ".prompt.md",
        ".agent.md",
        ".mdc",
        ".md",
        ".toml",
        ".yaml",
    ];
    ENDINGS.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}

/// Returns a name itself, or its slug, if that is valid.
pub(super) fn find_valid_name(name: &str) -> Option<String> {
    [name.to_owned(), slugify_name(name)].into_iter().find(|name| name_problem(name).is_none())
}

/// Returns a name for a file whose own has no letter that a name may have.
fn of_path(slashed: &str) -> String {
    let hash = brief_system::hash::sha256(slashed.as_bytes());
    format!("item-{}", &hash[..8])
}

/// Gives every item a name of its own. Returns the items that are gone because another one is the same: the
/// path of each, and that of the other.
pub(super) fn assign_unique_names(
    items: &mut Vec<PortableItem>,
    is_same: &dyn Fn(&PortableItem, &PortableItem) -> bool,
) -> BTreeMap<String, String> {
    for item in items.iter_mut().filter(|item| item.is_foreign()) {
        if name_problem(&item.id.name).is_some() {
            item.id.name = of_file(&item.slashed);
        }
    }
    // Items that keep their names come first: those of the portable format, then by how near to the top they are.
    let rank = |item: &PortableItem| (name_claim(item), item.slashed.clone());
    items.sort_by_cached_key(rank);
    let copies = drop_copies(items, is_same);
    let mut groups: BTreeMap<ItemId, Vec<usize>> = BTreeMap::new();
    for (number, item) in items.iter().enumerate() {
        groups.entry(item.id.clone()).or_default().push(number);
    }
    let mut taken: BTreeSet<ItemId> = groups.keys().cloned().collect();
    for numbers in groups.into_values().filter(|numbers| numbers.len() > 1) {
        let [first, second, ..] = numbers.as_slice() else { continue };
        // The author's own place and name decide: of several at the same depth, none is the one that is meant.
        let keeps = name_claim(&items[*first]) != name_claim(&items[*second]);
        for &number in numbers.iter().skip(usize::from(keeps)) {
            let item = &mut items[number];
            if item.is_foreign() {
                item.id.name = qualify_name(item, &taken);
                taken.insert(item.id.clone());
            }
        }
    }
    copies
}

/// Returns the claim of an item on its name; the least has the best one.
fn name_claim(item: &PortableItem) -> (bool, bool, usize, bool) {
    let path = item.slashed.as_str();
    let file = path.rsplit('/').next().unwrap_or_default();
    let is_for_client = evidence::is_in_client_directory(path);
    let has_other_name = file_stem(file) != item.id.name;
    (item.is_foreign(), is_for_client, path.matches('/').count(), has_other_name)
}

fn drop_copies(
    items: &mut Vec<PortableItem>,
    is_same: &dyn Fn(&PortableItem, &PortableItem) -> bool,
) -> BTreeMap<String, String> {
    let mut copies = BTreeMap::new();
    let mut kept: Vec<PortableItem> = Vec::with_capacity(items.len());
    let mut named: BTreeMap<ItemId, Vec<usize>> = BTreeMap::new();
    for item in items.drain(..) {
        let known = named.entry(item.id.clone()).or_default();
        let twin = known.iter().map(|&number| &kept[number]).find(|other| {
            item.is_foreign() && item.origin == other.origin && is_same(other, &item)
        });
        match twin {
            Some(twin) => {
                copies.insert(item.slashed, twin.slashed.clone());
            }
            None => {
                known.push(kept.len());
                kept.push(item);
            }
        }
    }
    *items = kept;
    copies
}

/// Returns a name with those of the directories around an item before it, as few as it takes.
fn qualify_name(item: &PortableItem, taken: &BTreeSet<ItemId>) -> String {
    let is_free = |name: &String| {
        name_problem(name).is_none()
            && !taken.contains(&ItemId { kind: item.id.kind, name: name.clone() })
    };
    let mut name = item.id.name.clone();
    let above = item.slashed.rsplit_once('/').map_or("", |(above, _)| above);
    for directory in above.rsplit('/').filter(|name| !SILENT.contains(name)) {
        let directory = slugify_name(directory);
        if directory.is_empty() || name.starts_with(&format!("{directory}-")) {
            continue;
        }
        name = format!("{directory}-{name}");
        if is_free(&name) {
            return name;
        }
    }
    let base: String = item.id.name.chars().take(NAME_LENGTH - 6).collect();
    let numbered =
        (2..=taken.len() + 2).map(|number| format!("{}-{number}", base.trim_end_matches('-')));
    // More numbers than names: one is free.
    numbered.into_iter().find(is_free).unwrap_or_default()
}
