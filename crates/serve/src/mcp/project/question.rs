//! The arguments of the tools, and the questions that they ask.

use std::path::PathBuf;

use brief_dialects::{DIALECTS, find_dialect};
use brief_engine::tasks::Selectors;
use brief_engine::{Action, BriefingRequest, Dialects, Moment, Project, Root, Timing};
use brief_profiles::UnknownClient;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value as Json};

use super::ServerOptions;

/// Returns the names of the formats.
pub(super) fn dialect_names() -> Vec<&'static str> {
    DIALECTS.iter().map(|dialect| dialect.name()).collect()
}

/// The arguments of `context` and `why`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MomentArguments {
    path: PathBuf,
    #[serde(default, deserialize_with = "action")]
    action: Option<Action>,
    #[serde(default, deserialize_with = "timing")]
    timing: Option<Timing>,
    client: Option<String>,
    task: Option<String>,
    #[serde(default)]
    mentions: Vec<String>,
    #[serde(default)]
    select: Vec<String>,
    #[serde(default, alias = "dialects")]
    formats: Vec<String>,
    budget: Option<usize>,
    #[serde(alias = "mounted")]
    workspace: Option<PathBuf>,
    #[serde(alias = "started")]
    cwd: Option<PathBuf>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DecisionsArguments {
    pub(super) path: PathBuf,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SeesArguments {
    path: PathBuf,
    #[serde(default)]
    pub(super) clients: Vec<String>,
    #[serde(default, deserialize_with = "action")]
    action: Option<Action>,
    #[serde(default, deserialize_with = "timing")]
    timing: Option<Timing>,
    #[serde(alias = "started")]
    cwd: Option<PathBuf>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchArguments {
    pub(super) query: String,
    #[serde(default = "usual_limit")]
    pub(super) limit: usize,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LintArguments {
    #[serde(default = "here")]
    pub(super) path: PathBuf,
}

/// The results of a search that are shown if the client names no limit.
pub(super) const USUAL_RESULTS: usize = 10;

/// The limit for the results of a search.
pub(super) const MOST_RESULTS: usize = 100;

fn usual_limit() -> usize {
    USUAL_RESULTS
}

fn here() -> PathBuf {
    PathBuf::from(".")
}

fn action<'d, D: Deserializer<'d>>(word: D) -> Result<Option<Action>, D::Error> {
    word_or_all(word, Action::from_name, &["read", "edit", "create", "all"])
}

fn timing<'d, D: Deserializer<'d>>(word: D) -> Result<Option<Timing>, D::Error> {
    word_or_all(word, Timing::from_name, &["before", "after", "all"])
}

fn word_or_all<'d, D: Deserializer<'d>, T>(
    word: D,
    from_name: fn(&str) -> Option<T>,
    known: &'static [&'static str],
) -> Result<Option<T>, D::Error> {
    match String::deserialize(word)?.as_str() {
        "all" => Ok(None),
        name => from_name(name).map(Some).ok_or_else(|| D::Error::unknown_variant(name, known)),
    }
}

/// Reads the arguments of a tool. The error is a message for the model.
pub(super) fn parse_arguments<T: DeserializeOwned>(
    arguments: Map<String, Json>,
) -> Result<T, String> {
    serde_json::from_value(Json::Object(arguments)).map_err(|error| error.to_string())
}

impl MomentArguments {
    /// Returns the question, as `brief context` with the same options asks it.
    pub(super) fn create_request<'s>(
        &self,
        project: &Project<'s>,
        options: &ServerOptions,
    ) -> Result<BriefingRequest<'s>, String> {
        let mut request = project.briefing(&self.path);
        let moment = &mut request.moment;
        let client = self.client.as_ref().or(options.client.as_ref());
        client.map_or(Ok(()), |client| known_client(project, client))?;
        moment.set_client(project.system(), client.cloned());
        (moment.action, moment.timing) = (self.action, self.timing);
        set_start_directory(project, self.cwd.as_ref(), moment)?;
        moment.task.clone_from(&self.task);
        moment.mentions.clone_from(&self.mentions);
        moment.selectors = Selectors::default();
        for text in &self.select {
            moment.selectors.add_text(text).map_err(|error| error.to_string())?;
        }
        moment.dialects = parse_dialects(&self.formats)?;
        moment.budget = self.budget;
        Ok(match &self.workspace {
            Some(workspace) => request.mounted(project.directory().join(workspace)),
            None => request,
        })
    }
}

impl SeesArguments {
    /// Returns the question without a client.
    pub(super) fn create_request<'s>(
        &self,
        project: &Project<'s>,
    ) -> Result<BriefingRequest<'s>, String> {
        let mut request = project.briefing(&self.path);
        let moment = &mut request.moment;
        (moment.action, moment.timing) = (self.action, self.timing);
        set_start_directory(project, self.cwd.as_ref(), moment)?;
        Ok(request)
    }
}

/// Sets the directory that the client was started in, if it is another one than the server's.
fn set_start_directory(
    project: &Project<'_>,
    started: Option<&PathBuf>,
    moment: &mut Moment,
) -> Result<(), String> {
    let Some(started) = started else { return Ok(()) };
    let root = Root::open(project.system(), &project.directory().join(started))
        .map_err(|error| format!("cannot open directory `{}`: {error}", started.display()))?;
    moment.started = Some(root.path().to_owned());
    Ok(())
}

/// Refuses a client that is neither built in nor described by the project.
fn known_client(project: &Project<'_>, name: &str) -> Result<(), String> {
    let known = brief_profiles::known_client(project.system(), project.root().path(), name);
    known.map_err(|error| unknown_client(&error))
}

/// Returns the message for a model.
pub(super) fn unknown_client(error: &UnknownClient) -> String {
    format!("{error}; {}", error.hint())
}

fn parse_dialects(names: &[String]) -> Result<Dialects, String> {
    if names.is_empty() {
        return Ok(Dialects::All);
    }
    let find = |name: &String| match find_dialect(name) {
        Some(dialect) => Ok(dialect.name()),
        None => Err(format!("unknown format `{name}`; known: {}", dialect_names().join(", "))),
    };
    Ok(Dialects::Only(names.iter().map(find).collect::<Result<_, _>>()?))
}
