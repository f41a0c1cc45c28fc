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
use brief_registry::install::collect_refusals;
use brief_registry::manifest::{Manifest, find_newer_requirement};
use brief_syntax::{Diagnostic, Source};

/// The checks of `brief.toml`: as a manifest, and as a description of clients.
#[derive(Debug, Clone, Copy)]
pub struct ProjectConfiguration;

impl ConfigurationCheck for ProjectConfiguration {
    fn check_configuration_file(
        &self,
        system: &dyn System,
        root: &Root,
        configuration: &Arc<Source>,
    ) -> Vec<Diagnostic> {
        if let Some(problem) = find_newer_requirement(configuration) {
            return vec![problem];
        }
        let mut found = Manifest::parse(configuration).err().unwrap_or_default();
        // The other keys of a client's file are checked with what clients read.
        let own = OwnClients::read_project(system, root.path());
        let own = OwnClients { diagnostics: Vec::new(), ..own };
        for section in [Section::Install, Section::Build] {
            let clients = Clients::from_configuration(
                Some(configuration),
                &own,
                section,
                ProfileScope::Project,
            );
            found.extend(clients.err().unwrap_or_default());
        }
        found
    }

    fn remove_resolved(&self, system: &dyn System, root: &Root, diagnostics: &mut Vec<Diagnostic>) {
        elsewhere::remove_resolved_findings(system, root, diagnostics);
    }
}

/// The checks of `brief.toml` and of what an installation from the project would refuse, which reads every file of an
/// item.
#[derive(Debug, Clone, Copy)]
pub struct ProjectAndSource;

impl ConfigurationCheck for ProjectAndSource {
    fn check_configuration_file(
        &self,
        system: &dyn System,
        root: &Root,
        configuration: &Arc<Source>,
    ) -> Vec<Diagnostic> {
        ProjectConfiguration.check_configuration_file(system, root, configuration)
    }

    fn check_source(&self, system: &dyn System, root: &Root) -> Vec<Diagnostic> {
        collect_refusals(system, root, &COMPILED)
    }

    fn remove_resolved(&self, system: &dyn System, root: &Root, diagnostics: &mut Vec<Diagnostic>) {
        ProjectConfiguration.remove_resolved(system, root, diagnostics);
    }
}
