//! The check of a source against the policy.

use std::path::Path;

use brief_dialects::policy::{Policy, PolicyDecision, SourcePlace};
use brief_syntax::System;

use crate::oci::OciPlace;
use crate::source::SourceAddress;

impl SourceAddress {
    /// Returns the policy decision that forbids this source, if one does. `base` is the start of relative
    /// directories.
    pub fn forbidden_by(
        &self,
        policy: &Policy,
        system: &dyn System,
        base: &Path,
    ) -> Option<PolicyDecision> {
        if policy.files().len() == 0 {
            return None;
        }
        let place = self.place(system, base);
        let of_artifact = || match self {
            SourceAddress::Oci(oci) => policy.artifact(&place, oci.digest().is_some()),
            _ => None,
        };
        policy.source(&place).or_else(of_artifact)
    }

    /// Returns the place of the source, as the patterns of a policy name it.
    pub(crate) fn place(&self, system: &dyn System, base: &Path) -> SourcePlace {
        let resolved = |path: &Path| {
            let path = base.join(path);
            system.resolve(&path).map_or(path, |found| found.path)
        };
        match self {
            SourceAddress::Directory(path) => SourcePlace::Directory(resolved(path)),
            SourceAddress::Git(git) => match git.address() {
                Ok(address) => match SourcePlace::of_address(&address) {
                    SourcePlace::Directory(path) => SourcePlace::Directory(resolved(&path)),
                    place => place,
                },
                Err(_) => SourcePlace::Unclear,
            },
            SourceAddress::Oci(oci) => match &oci.place {
                OciPlace::Registry { .. } => SourcePlace::of_address(&oci.repository()),
                OciPlace::Layout(path) => SourcePlace::Directory(resolved(path)),
            },
        }
    }
}
