//! `brief/sees`: the answer of `brief show --json` for a file of the editor, on text that is not saved yet.

use brief_dialects::Moment;
use brief_engine::Project;
use brief_engine::sees::{Sees, SeesReport, asked_clients};
use brief_engine::tokens::Counter;
use serde::Deserialize;
use serde_json::Value as Json;

use super::checker::folder_of;
use super::server::{DocumentName, LanguageServer};
use brief_workflows::delivery::find_viewers;

/// The question: a file, and the clients; without any, those that the project shows signs of.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SeesParams {
    text_document: DocumentName,
    #[serde(default)]
    clients: Vec<String>,
}

/// Answers, or tells why not.
pub(super) fn answer_sees(server: &LanguageServer, params: &SeesParams) -> Result<Json, String> {
    let uri = &params.text_document.uri;
    let path = server.resolve_uri(uri).ok_or_else(|| format!("`{uri}` is not a file"))?;
    let folder = folder_of(&server.folders, &path);
    let folder = folder.ok_or_else(|| format!("`{uri}` is outside the workspace"))?;
    let system =
        server.in_front_of_disk().ok_or("cannot read the documents that are open in the editor")?;
    let project = Project::open(&system, folder).map_err(|error| error.to_string())?;
    let request = project.briefing(&path);
    let catalog = request.read_catalog();
    let root = project.root().path();
    let clients = asked_clients(&system, root, params.clients.clone());
    let clients = clients.map_err(|error| format!("{error}; {}", error.hint()))?;
    let moment = &request.moment;
    let viewers = find_viewers(&system, root, moment, &clients);
    let counter = Counter::estimate();
    let sees = Sees::from_catalog(&catalog, root, &viewers, &|text: &str| counter.count(text));
    let moment = &Moment { client: None, ..moment.clone() };
    let report = SeesReport { moment, viewers: &viewers, sees: &sees };
    serde_json::to_value(report).map_err(|error| error.to_string())
}
