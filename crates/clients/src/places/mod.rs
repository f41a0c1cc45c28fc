//! The places that clients look at: the same item in two of them, and files that no client reads.
//!
//! Data and pure functions: the caller has looked at the files.

mod unread;

use std::collections::BTreeSet;

use brief_dialects::portable::{ItemId, ItemKind};

use crate::profile::{Profile, ProfileScope};

pub use unread::{UnreadFile, client_directories, collect_unread_files};

/// The place where a client would find an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reads<'p> {
    pub client: &'p Profile,
    /// The paths, with `/`: its own, then others that it reads, too.
    pub paths: Vec<String>,
}

/// Returns the places where each client would look for an item. A client without items of the kind is left out.
pub fn collect_reads<'p>(
    profiles: &[&'p Profile],
    kind: ItemKind,
    name: &str,
    scope: ProfileScope,
) -> Vec<Reads<'p>> {
    let of_client = |client: &&'p Profile| {
        let layout = client.layout_in(kind, scope)?;
        let own = std::iter::once(layout.path_in(scope));
        let places = own.chain(layout.also_read_in(scope));
        let paths = places.map(|place| place.fill(name)).collect();
        Some(Reads { client, paths })
    };
    profiles.iter().filter_map(of_client).collect()
}

/// An item that a client reads more than once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duplicate {
    pub client: String,
    pub item: ItemId,
    /// Its paths, two at least: the client's own comes first.
    pub paths: Vec<String>,
}

/// Finds the items that a client would read from more than one of some files.
pub fn collect_duplicates(
    files: &BTreeSet<String>,
    items: &[ItemId],
    profiles: &[&Profile],
    scope: ProfileScope,
) -> Vec<Duplicate> {
    let mut duplicates = Vec::new();
    for item in items {
        for Reads { client, mut paths } in collect_reads(profiles, item.kind, &item.name, scope) {
            paths.retain(|path| files.contains(path));
            if paths.len() > 1 {
                let client = client.id().to_owned();
                duplicates.push(Duplicate { client, item: item.clone(), paths });
            }
        }
    }
    duplicates
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profiles;

    fn paths(client: &str, kind: ItemKind, scope: ProfileScope) -> Vec<String> {
        let profiles = Profiles::builtin();
        let profile = profiles.get(client).unwrap();
        collect_reads(&[profile], kind, "x", scope).remove(0).paths
    }

    /// The tables of overlaps, by client and kind.
    #[test]
    fn clients_read_places_of_others() {
        use ProfileScope::{Home, Project};
        for (client, kind, scope, expected) in [
            ("claude", ItemKind::Rule, Project, &[".claude/rules/x.md"][..]),
            ("claude", ItemKind::Skill, Project, &[".claude/skills/x/SKILL.md"]),
            ("claude", ItemKind::Skill, Home, &[".claude/skills/x/SKILL.md"]),
            ("claude", ItemKind::Agent, Project, &[".claude/agents/x.md"]),
            (
                "copilot",
                ItemKind::Rule,
                Project,
                &[".github/instructions/x.instructions.md", ".claude/rules/x.md"],
            ),
            ("copilot", ItemKind::Rule, Home, &[".copilot/instructions/x.instructions.md"]),
            (
                "copilot",
                ItemKind::Skill,
                Project,
                &[
                    ".github/skills/x/SKILL.md",
                    ".claude/skills/x/SKILL.md",
                    ".agents/skills/x/SKILL.md",
                ],
            ),
            (
                "copilot",
                ItemKind::Skill,
                Home,
                &[".copilot/skills/x/SKILL.md", ".agents/skills/x/SKILL.md"],
            ),
            (
                "copilot",
                ItemKind::Agent,
                Project,
                &[".github/agents/x.agent.md", ".github/agents/x.md", ".claude/agents/x.md"],
            ),
            ("opencode", ItemKind::Rule, Project, &[".agents/rules/x/RULE.md"]),
            (
                "opencode",
                ItemKind::Skill,
                Project,
                &[
                    ".agents/skills/x/SKILL.md",
                    ".claude/skills/x/SKILL.md",
                    ".opencode/skills/x/SKILL.md",
                    ".opencode/skill/x/SKILL.md",
                ],
            ),
            (
                "opencode",
                ItemKind::Agent,
                Home,
                &[".config/opencode/agents/x.md", ".config/opencode/agent/x.md"],
            ),
        ] {
            assert_eq!(paths(client, kind, scope), expected, "{client} {kind} {scope:?}");
        }
    }

    /// R36: what is written for several clients is seen by some of them more than once.
    #[test]
    fn an_item_in_two_places_is_found_for_who_reads_both() {
        let profiles = Profiles::builtin();
        let all: Vec<&Profile> = profiles.iter().filter(|one| one.is_usual()).collect();
        let item = |kind, name: &str| ItemId { kind, name: name.to_owned() };
        let items =
            [item(ItemKind::Skill, "x"), item(ItemKind::Agent, "x"), item(ItemKind::Rule, "y")];
        let files: BTreeSet<String> = [
            ".claude/skills/x/SKILL.md",
            ".agents/skills/x/SKILL.md",
            ".claude/agents/x.md",
            ".opencode/agents/x.md",
            ".claude/rules/y.md",
            ".github/instructions/y.instructions.md",
            ".agents/rules/y/RULE.md",
        ]
        .map(str::to_owned)
        .into();
        let found = collect_duplicates(&files, &items, &all, ProfileScope::Project);
        let found: Vec<String> = found
            .into_iter()
            .map(|one| format!("{}, {}: {}", one.client, one.item, one.paths.join(" ")))
            .collect();
        assert_eq!(
            found,
            [
                "copilot, skill `x`: .claude/skills/x/SKILL.md .agents/skills/x/SKILL.md",
                "opencode, skill `x`: .agents/skills/x/SKILL.md .claude/skills/x/SKILL.md",
                "copilot, rule `y`: .github/instructions/y.instructions.md .claude/rules/y.md",
            ]
        );
        let claude = [profiles.get("claude").unwrap()];
        assert_eq!(collect_duplicates(&files, &items, &claude, ProfileScope::Project), []);
    }
}
