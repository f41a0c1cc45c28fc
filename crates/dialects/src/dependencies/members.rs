//! The members of a workspace: the directories that its patterns name.

use brief_syntax::glob::Glob;

use super::package_base::{PackageBase, PackageDir};

/// The directories that `**` may stand for, one below the other.
const DEPTH: usize = 4;

/// The most members of one workspace.
const MEMBERS: usize = 2_000;

/// Returns the directories below `owner` that patterns such as `packages/*` name and that hold `manifest`.
/// A pattern with a `!` before it takes some away.
pub(super) fn expand_workspace_patterns(
    base: &PackageBase<'_>,
    owner: &PackageDir,
    patterns: &[String],
    manifest: &str,
) -> Vec<PackageDir> {
    let mut found: Vec<PackageDir> = Vec::new();
    let (without, with): (Vec<&String>, Vec<&String>) =
        patterns.iter().partition(|pattern| pattern.starts_with('!'));
    for pattern in with {
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern).trim_end_matches('/');
        let segments: Vec<&str> = pattern.split('/').collect();
        if segments.iter().any(|segment| matches!(*segment, "" | "." | "..")) {
            continue;
        }
        walk_pattern(base, owner, &segments, DEPTH, &mut |place| {
            let is_known = found.iter().any(|known| known.path == place.path);
            if !is_known && found.len() < MEMBERS && place.read_file(manifest).is_some() {
                found.push(place);
            }
        });
    }
    let without = without.iter().filter_map(|pattern| {
        let pattern = pattern.trim_start_matches('!').trim_start_matches("./");
        Glob::new(pattern.trim_end_matches('/')).ok()
    });
    let without: Vec<Glob> = without.collect();
    let is_left_out = |place: &PackageDir| {
        let below = place.path.strip_prefix(&owner.path).unwrap_or(&place.path).to_string_lossy();
        without.iter().any(|glob| glob.matches(&below))
    };
    found.retain(|place| !is_left_out(place));
    found.sort_by(|left, right| left.path.cmp(&right.path));
    found
}

fn walk_pattern(
    base: &PackageBase<'_>,
    above: &PackageDir,
    segments: &[&str],
    depth: usize,
    tell: &mut dyn FnMut(PackageDir),
) {
    let Some((first, rest)) = segments.split_first() else { return };
    if !first.contains(['*', '?', '[', '{']) {
        if let Some(place) = base.enter_directory(above, first) {
            continue_walk(base, place, rest, depth, tell);
        }
        return;
    }
    let Ok(glob) = Glob::new(first) else { return };
    for name in above.directory_names() {
        if name.starts_with('.') || name == "node_modules" || !glob.matches(&name) {
            continue;
        }
        let Some(place) = base.enter_directory(above, &name) else { continue };
        if *first == "**" && depth > 0 {
            walk_pattern(base, &place, segments, depth - 1, tell);
        }
        continue_walk(base, place, rest, depth, tell);
    }
}

fn continue_walk(
    base: &PackageBase<'_>,
    place: PackageDir,
    rest: &[&str],
    depth: usize,
    tell: &mut dyn FnMut(PackageDir),
) {
    match rest {
        [] => tell(place),
        ["**"] => {
            walk_pattern(base, &place, rest, depth, tell);
            tell(place);
        }
        _ => walk_pattern(base, &place, rest, depth, tell),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use brief_system::MemorySystem;

    use super::*;

    fn expanded(patterns: &[&str]) -> Vec<String> {
        let system = MemorySystem::new("/p")
            .with_file("packages/a/package.json", "{}")
            .with_file("packages/b/package.json", "{}")
            .with_file("packages/b/deep/package.json", "{}")
            .with_file("packages/empty/x", "")
            .with_file("packages/node_modules/x/package.json", "{}")
            .with_file("tools/lint/package.json", "{}")
            .with_file("/other/package.json", "{}")
            .with_link("packages/out", "/other");
        let base = PackageBase::new(&system, Path::new("/p"));
        let owner = base.open_directory(Path::new("/p")).unwrap();
        let patterns: Vec<String> = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
        let found = expand_workspace_patterns(&base, &owner, &patterns, "package.json");
        found.iter().map(|place| base.display_path(&place.path)).collect()
    }

    #[test]
    fn patterns_name_members() {
        assert_eq!(expanded(&["packages/*"]), ["packages/a", "packages/b"]);
        assert_eq!(expanded(&["./tools/lint/", "packages/a"]), ["packages/a", "tools/lint"]);
        assert_eq!(expanded(&["packages/**"]), ["packages/a", "packages/b", "packages/b/deep"]);
        assert_eq!(expanded(&["packages/*", "!packages/b"]), ["packages/a"]);
        assert_eq!(expanded(&["t*/l*t"]), ["tools/lint"]);
        assert!(expanded(&["../*", "packages/../../x", "", "packages/out"]).is_empty());
    }
}
