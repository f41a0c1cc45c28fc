//! What a client does by itself since some version, and whether the installed one does: from that version on, `brief` steps
//! back and delivers nothing in its place.

use std::fmt;
use std::path::Path;

use brief_profiles::BUILTIN;
use serde::Serialize;

use super::{Arrival, Sees, Viewer};

/// A place that some versions of a client load by themselves, and the installed version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VersionNote {
    /// The name of the client.
    pub client: String,
    #[serde(skip)]
    name: String,
    /// The installed version.
    pub version: String,
    /// The place, as the client's facts name it.
    pub path: String,
    /// The first version that loads it.
    pub since: String,
    /// True if the installed version loads it.
    pub loads: bool,
}

/// Follows the name of the client and a colon.
impl fmt::Display for VersionNote {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let VersionNote { name, version, path, since, .. } = self;
        if self.loads {
            write!(
                formatter,
                "{name} {version} loads `{path}` itself (since {since}), so brief does not deliver it"
            )
        } else {
            write!(formatter, "{name} {version} does not load `{path}` ({since} and later do)")
        }
    }
}

/// Returns what depends on the installed versions of the viewers' clients, as far as the answer has such an item.
pub fn collect_version_notes(viewers: &[Viewer], sees: &Sees<'_>) -> Vec<VersionNote> {
    let mut notes = Vec::new();
    for (column, viewer) in viewers.iter().enumerate() {
        let Some(version) = &viewer.moment.client_version else { continue };
        let Some(client) = BUILTIN.find_client(&viewer.client) else { continue };
        for read in &client.reads {
            let Some(since) = &read.since else { continue };
            let loads = version.has_reached(since);
            let concerns = sees.items.iter().any(|item| {
                let how = item.seen.get(column).map(|sight| sight.how);
                let is_loaded = matches!(how, Some(Arrival::Loaded | Arrival::Same));
                item.path.ends_with(Path::new(&*read.path))
                    && (loads && is_loaded || !loads && how != Some(Arrival::Skipped))
            });
            if concerns {
                notes.push(VersionNote {
                    client: viewer.client.clone(),
                    name: client.name.to_string(),
                    version: version.to_string(),
                    path: read.path.to_string(),
                    since: since.version.to_string(),
                    loads,
                });
            }
        }
    }
    notes
}
