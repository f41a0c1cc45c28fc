//! The checks of `brief.toml`, for every front end that checks a project.
//!
//! The file is read by two crates that do not see each other, so their checks meet here.

use std::sync::Arc;

use brief_checks::lint::ConfigurationCheck;
use brief_clients::compile::Clients;
use brief_clients::profile::{ProfileScope, Section};
use brief_engine::{Root, System};
use brief_profiles::{COMPILED, OwnClients};
use brief_registry::elsewhere;
use brief_registry::install::refusals;
use brief_registry::manifest::Manifest;
use brief_syntax::{Diagnostic, Source};

/// The checks of `brief.toml`: as a manifest, and as a description of clients.
#[derive(Debug, Clone, Copy)]
pub struct ProjectConfiguration;

impl ConfigurationCheck for ProjectConfiguration {
    fn check(
        &self,
        system: &dyn System,
        root: &Root,
        configuration: &Arc<Source>,
    ) -> Vec<Diagnostic> {
        let mut found = Manifest::read(configuration).err().unwrap_or_default();
        // The other keys of a client's file are checked with what clients read.
        let own = OwnClients::below(system, root.path());
        let own = OwnClients { diagnostics: Vec::new(), ..own };
        for section in [Section::Install, Section::Build] {
            let clients = Clients::read(Some(configuration), &own, section, ProfileScope::Project);
            found.extend(clients.err().unwrap_or_default());
        }
        found
    }

    fn settle(&self, system: &dyn System, root: &Root, diagnostics: &mut Vec<Diagnostic>) {
        elsewhere::settle(system, root, diagnostics);
    }
}

/// The checks of `brief.toml` and of what an installation from the project would refuse, which reads every file of an
/// item.
#[derive(Debug, Clone, Copy)]
pub struct ProjectAndSource;

impl ConfigurationCheck for ProjectAndSource {
    fn check(
        &self,
        system: &dyn System,
        root: &Root,
        configuration: &Arc<Source>,
    ) -> Vec<Diagnostic> {
        ProjectConfiguration.check(system, root, configuration)
    }

    fn check_source(&self, system: &dyn System, root: &Root) -> Vec<Diagnostic> {
        refusals(system, root, &COMPILED)
    }

    fn settle(&self, system: &dyn System, root: &Root, diagnostics: &mut Vec<Diagnostic>) {
        ProjectConfiguration.settle(system, root, diagnostics);
    }
}
