//! Recognizes paths that could be our outputs. A lock that came with a project is believed only for these.

use crate::profile::{Layout, Profile, Profiles, SharedFiles};
use crate::{mcp, profile::ProfileScope};

use super::Clients;

impl Clients {
    /// Returns whether a client has a path for an item, or for a file beside one, at `path`.
    pub(super) fn matches_any_layout(&self, path: &str) -> bool {
        let scope = self.scope();
        let has = |profile: &Profile| {
            profile.layouts().any(|(_, layout)| is_place_of(layout, scope, path))
        };
        self.profiles.iter().any(has) || Profiles::builtin().iter().any(has)
    }

    /// Returns whether a file of the user may have entries of ours.
    pub(super) fn may_share(&self, path: &str) -> bool {
        let names = |files: &SharedFiles| files.iter().any(|file| file == path);
        let has = |profile: &Profile| {
            let mut mentions = profile.layouts().filter_map(|(_, layout)| layout.mention.as_ref());
            let mut listings = profile.layouts().filter_map(|(_, layout)| layout.listing.as_ref());
            let is_server = mcp::find_server_profile(profile.id())
                .is_some_and(|known| self.server_files(known).contains(&path));
            listings.any(|listing| self.files_of(listing).is_some_and(names))
                || mentions.any(|mention| mention.file == path)
                || profile.bridge().is_some_and(|bridge| names(&bridge.files))
                || is_server
                || self.scope() == ProfileScope::Project
                    && Clients::is_for_permissions(profile.id(), path)
        };
        self.profiles.iter().any(has) || Profiles::builtin().iter().any(has)
    }
}

fn is_place_of(layout: &Layout, scope: ProfileScope, path: &str) -> bool {
    let own = layout.path_in(scope);
    own.matches(path)
        || match layout.files_in(scope) {
            Some(files) => files.is_above(path),
            None => own.is_beside(path),
        }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use brief_dialects::portable::output::Compiler;
    use brief_profiles::OwnClients;
    use brief_syntax::Source;

    use super::*;
    use crate::profile::Section;

    fn clients(text: &str, scope: ProfileScope) -> Clients {
        let source = Arc::new(Source::new("brief.toml", text));
        Clients::from_configuration(Some(&source), &OwnClients::default(), Section::Install, scope)
            .unwrap()
    }

    #[test]
    fn only_places_of_items_could_have_been_written() {
        let project = clients("", ProfileScope::Project);
        for path in [
            ".claude/rules/api.md",
            ".claude/skills/ship/SKILL.md",
            ".claude/skills/ship/scripts/run.sh",
            ".agents/rules/api/list.txt",
            ".agents/rules/api/RULE.md",
            ".github/instructions/api.instructions.md",
            ".opencode/agents/judge.md",
        ] {
            assert!(project.could_write(path), "{path}");
        }
        for path in [
            ".env",
            ".github/workflows/ci.yml",
            ".claude/settings.json",
            ".claude/rules/api.txt",
            ".claude/rules/deep/api.md",
            ".claude/skills/ship",
            ".claude/skills",
            ".agents/rules/api",
            ".copilot/skills/ship/SKILL.md",
            "README.md",
        ] {
            assert!(!project.could_write(path), "{path}");
        }
        assert!(clients("", ProfileScope::Home).could_write(".copilot/skills/ship/SKILL.md"));
    }

    #[test]
    fn places_of_a_project_count_beside_ours() {
        let text = "[clients.claude.rule]\npath = \".claude/guides/{name}.md\"\n";
        let moved = clients(text, ProfileScope::Project);
        assert!(moved.could_write(".claude/guides/api.md"));
        assert!(moved.could_write(".claude/rules/api.md"));
        assert!(!clients("", ProfileScope::Project).could_write(".claude/guides/api.md"));
    }

    #[test]
    fn only_files_that_clients_share_are_shared() {
        let project = clients("", ProfileScope::Project);
        for path in [
            "CLAUDE.md",
            "opencode.json",
            "opencode.jsonc",
            ".mcp.json",
            ".claude/settings.json",
            ".cursorignore",
        ] {
            assert!(project.could_share(path), "{path}");
        }
        for path in ["package.json", ".claude/settings.local.json", "README.md", ".gitignore"] {
            assert!(!project.could_share(path), "{path}");
        }
    }
}
