//! The clients that a project uses and the layout of its skills, by the evidence of its files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use brief_dialects::portable::{ItemId, ItemKind};
use brief_system::Files;

use super::Clients;
use crate::places;
use crate::profile::{Profile, ProfileScope, Profiles, Sharing};

/// The clients that a project uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientsInUse {
    /// Their names, in the order of the profiles.
    pub clients: Vec<String>,
    /// The files and directories that prove it.
    pub signs: Vec<String>,
}

impl Clients {
    /// Finds the clients that the project in `directory` uses; `None` without evidence.
    pub fn in_use(&self, system: &dyn Files, directory: &Path) -> Option<ClientsInUse> {
        self.shown_in(system, directory, self.scope())
    }

    /// Finds the clients that the project in `directory` uses, or else those of the user's machine, by their
    /// directories below `home`.
    pub fn in_use_or_at_home(
        &self,
        system: &dyn Files,
        directory: &Path,
        home: Option<&Path>,
    ) -> Option<ClientsInUse> {
        let at_home = || {
            let mut found = self.shown_in(system, home?, ProfileScope::Home)?;
            found.signs.iter_mut().for_each(|sign| sign.insert_str(0, "~/"));
            Some(found)
        };
        self.in_use(system, directory).or_else(at_home)
    }

    /// Compiles for the clients that the project in `directory` uses, unless `brief.toml` names some. Returns
    /// them if they are others than without that evidence.
    pub fn choose_in_use(&mut self, system: &dyn Files, directory: &Path) -> Option<ClientsInUse> {
        if self.settings.clients.is_some() {
            return None;
        }
        let usual = self.resolve_clients(&[]).unwrap_or_default();
        let found = self.in_use(system, directory).filter(|found| found.clients != usual)?;
        self.settings.clients = Some(found.clients.clone());
        Some(found)
    }

    fn shown_in(
        &self,
        system: &dyn Files,
        directory: &Path,
        scope: ProfileScope,
    ) -> Option<ClientsInUse> {
        let known = Profiles::builtin();
        let mut found = ClientsInUse { clients: Vec::new(), signs: Vec::new() };
        for profile in self.profiles.iter() {
            let has = |sign: &&String| system.resolve(&directory.join(sign)).is_ok();
            let sign = profile.signs(scope).iter().find(has);
            // A client that `brief.toml` describes is in use.
            let is_described = known.get(profile.id()).is_none();
            if sign.is_some() || is_described {
                found.clients.push(profile.id().to_owned());
                found.signs.extend(sign.cloned());
            }
        }
        (!found.signs.is_empty()).then_some(found)
    }

    /// Returns the layout of installed skills, by the content of each file: if a skill is at two places that
    /// one client reads, each client got its own. That was the default once, and an installation keeps it
    /// until its project chooses a layout. Each item comes with its clients, which a lock records only where one
    /// reads another's copy: then the copies are shared, and two of them are needed for clients that read only one.
    pub fn layout_of<'i, F: PartialEq + 'i>(
        &self,
        items: impl IntoIterator<Item = (&'i ItemId, &'i [String], &'i BTreeMap<String, F>)>,
    ) -> Sharing {
        let wanted = self.resolve_clients(&[]).unwrap_or_default();
        let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
        let profiles: Vec<&Profile> = self.select_profiles(&wanted).collect();
        let skills = items.into_iter().filter(|(id, ..)| id.kind == ItemKind::Skill);
        let skills: Vec<_> = skills.collect();
        if skills.iter().any(|(_, clients, _)| !clients.is_empty()) {
            return Sharing::Shared;
        }
        let is_twice = skills.into_iter().any(|(id, _, files)| {
            let reads = places::collect_reads(&profiles, id.kind, &id.name, self.scope());
            let own: BTreeSet<&String> =
                reads.iter().filter_map(|reads| reads.paths.first()).collect();
            reads.iter().any(|reads| {
                let Some((first, others)) = reads.paths.split_first() else { return false };
                let mut others = others.iter().filter(|path| *path != first && own.contains(path));
                let content = files.get(first);
                content.is_some() && others.any(|path| files.get(path) == content)
            })
        });
        if is_twice { Sharing::Separate } else { Sharing::Shared }
    }
}
