//! The clients that a project uses and the layout of its skills, by the evidence of its files.

use std::collections::BTreeSet;

use brief_clients::compile::Clients;
use brief_clients::places;
use brief_clients::profile::{Profile, Profiles, Sharing};
use brief_dialects::portable::ItemKind;
use brief_registry::lock::Lock;
use brief_syntax::system::System;

use super::Installation;

/// The clients that a project uses.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FoundClients {
    /// Their names, in the order of the profiles.
    pub(crate) clients: Vec<String>,
    /// The files and directories that prove it.
    pub(crate) signs: Vec<String>,
}

impl Installation {
    /// Finds the clients that the project uses; `None` without evidence, or if all are used.
    pub(crate) fn find_clients(&self, system: &dyn System) -> Option<FoundClients> {
        let (known, all) = (Profiles::builtin(), self.clients.profiles());
        let mut found = FoundClients { clients: Vec::new(), signs: Vec::new() };
        for profile in all.iter() {
            let has = |sign: &&String| system.resolve(&self.project.outputs.join(sign)).is_ok();
            let sign = profile.signs(self.clients.scope()).iter().find(has);
            // A client that `brief.toml` describes is in use.
            let is_described = known.get(profile.id()).is_none();
            if sign.is_some() || is_described {
                found.clients.push(profile.id().to_owned());
                found.signs.extend(sign.cloned());
            }
        }
        let is_telling = !found.signs.is_empty() && found.clients.len() < all.ids().len();
        is_telling.then_some(found)
    }
}

/// Returns the layout of a lock's skills: if a skill is at two places that one client reads, each
/// client got its own. That was the default once, and an installation keeps it until its project
/// chooses a layout.
pub(super) fn layout_of(clients: &Clients, lock: &Lock) -> Sharing {
    let profiles: Vec<&Profile> = clients.profiles().iter().collect();
    let mut skills = lock.items.iter().filter(|(id, _)| id.kind == ItemKind::Skill);
    let is_twice = skills.any(|(id, item)| {
        let reads = places::reads(&profiles, id.kind, &id.name, clients.scope());
        let own: BTreeSet<&String> = reads.iter().filter_map(|reads| reads.paths.first()).collect();
        reads.iter().any(|reads| {
            let mut places = reads.paths.iter().filter(|path| own.contains(path));
            let first = reads.paths.first().and_then(|path| item.files.get(path));
            first.is_some_and(|first| {
                places.any(|path| {
                    reads.paths.first() != Some(path) && item.files.get(path) == Some(first)
                })
            })
        })
    });
    if is_twice { Sharing::Separate } else { Sharing::Shared }
}
