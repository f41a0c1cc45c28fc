//! Shell completion of installed names.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use brief_syntax::text::visible_line;
use brief_system::OsSystem;
use clap_complete::CompletionCandidate;

use super::{Installation, InstallationArg};
use crate::session::Session;
use crate::ui::Ui;

/// Completes the name of an item, bundle or source of the project around the current directory.
pub(crate) fn complete_installed_name(typed: &OsStr) -> Vec<CompletionCandidate> {
    let Ok(session) = Session::start(Arc::new(OsSystem), None::<&Path>) else { return Vec::new() };
    let place = InstallationArg { global: false };
    let found = Installation::find(&mut Ui::silent(), &session, &place);
    let Ok(installation) = found else { return Vec::new() };
    let lock = installation.read_lock(session.system()).ok().flatten().unwrap_or_default();
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    let mut add = |name: &str, about: String| {
        names.entry(name.to_owned()).or_insert(about);
    };
    for source in installation.manifest.iter().flat_map(|manifest| &manifest.sources) {
        add(&source.name, "source".to_owned());
    }
    for (name, source) in &lock.sources {
        for bundle in source.bundles.keys() {
            add(bundle, format!("bundle of {name}"));
        }
    }
    for (id, item) in &lock.items {
        add(&id.name, format!("{} of {}", id.kind, item.source));
    }
    let typed = typed.to_string_lossy();
    let fitting = names.into_iter().filter(|(name, _)| name.starts_with(typed.as_ref()));
    let candidate = |(name, about): (String, String)| {
        CompletionCandidate::new(visible_line(&name).into_owned())
            .help(Some(visible_line(&about).into_owned().into()))
    };
    fitting.map(candidate).collect()
}
