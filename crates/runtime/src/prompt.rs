//! Runs the commands and scripts in the texts of a prompt.
//!
//! The user's own texts run because the user asked for the prompt. A project's texts run when the user trusts
//! the project, or says so for this run. Texts from elsewhere run only when exactly their content is trusted.
//! Content that the user has denied never runs.
//!
//! A prompt of an untrusted project is refused as a whole, before anything has run: from its first request
//! on, such a prompt is only rehearsed.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use brief_dialects::tasks::{
    Bootstrap, CommandRunner, NotRun, Parameters, PromptCommand, Script, TaskDocument,
    environment_name,
};
use brief_syntax::limits;
use brief_system::System;

use crate::consent::{Consent, Content, Objection, ProjectRefusal};
use crate::shell::{RunFailure, Shell};

/// Runs the commands and scripts of one prompt, and keeps a record of them.
pub(crate) struct PromptRunner<'r> {
    system: &'r dyn System,
    consent: Consent<'r>,
    projects: Vec<PathBuf>,
    performance: Performance,
    shell: Shell<'r>,
    output: &'r mut dyn FnMut(&[u8]),
    record: Vec<ExecutionRequest>,
    refusal: Option<ProjectRefusal>,
}

/// The state of execution within a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Performance {
    /// No text has asked yet, so no project has been checked.
    Undecided,
    Live,
    /// Nothing runs: a project is not trusted, and may ask for something later.
    Rehearsal,
}

/// A request of a prompt to run something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutionRequest {
    /// The kind of the request.
    pub kind: AskedKind,
    /// The file with the request.
    pub path: PathBuf,
    /// The line in that file.
    pub line: usize,
    /// The command, or the path of the script.
    pub text: String,
    pub outcome: RequestOutcome,
}

/// The kind of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskedKind {
    /// A shell command in a text.
    Command,
    /// The script in a rule's front matter.
    Bootstrap,
    /// The script file beside a rule. The text is its path.
    ScriptFile,
}

impl AskedKind {
    /// Returns the name for messages.
    pub fn as_str(self) -> &'static str {
        match self {
            AskedKind::Command => "command",
            AskedKind::Bootstrap | AskedKind::ScriptFile => "bootstrap",
        }
    }
}

/// The outcome of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestOutcome {
    Ran,
    /// It did not run, because execution is off.
    NotAllowed,
    /// It would run if no project objected.
    Rehearsed,
    /// Its project is not trusted.
    ProjectNotTrusted,
    /// The user has denied its content.
    Denied,
    /// It comes from elsewhere, and its content is not trusted.
    Untrusted,
    /// It failed, with this message.
    Failed(String),
    Interrupted,
}

impl RequestOutcome {
    fn from_failure(failure: &RunFailure) -> RequestOutcome {
        match failure {
            RunFailure::Interrupted => RequestOutcome::Interrupted,
            failure => RequestOutcome::Failed(failure.to_string()),
        }
    }

    /// Returns the outcome in the words of a prompt, which goes on without the request.
    fn not_run(&self) -> NotRun {
        match self {
            RequestOutcome::Denied => NotRun::Denied,
            RequestOutcome::Untrusted => NotRun::Untrusted,
            RequestOutcome::Failed(problem) => NotRun::Failed(problem.clone()),
            RequestOutcome::Interrupted => NotRun::Interrupted,
            _ => NotRun::Off,
        }
    }
}

impl fmt::Display for RequestOutcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            RequestOutcome::Ran => "ran",
            RequestOutcome::NotAllowed | RequestOutcome::Rehearsed => "not run",
            RequestOutcome::ProjectNotTrusted => "the project is not trusted",
            RequestOutcome::Denied => "denied",
            RequestOutcome::Untrusted => "not trusted",
            RequestOutcome::Failed(problem) => problem,
            RequestOutcome::Interrupted => "interrupted",
        })
    }
}

impl<'r> PromptRunner<'r> {
    /// Creates a runner. The standard error of commands, and both streams of scripts, go to `output`.
    ///
    /// `projects` are the search roots whose texts belong to a project. While one of them is not trusted, nothing
    /// runs: see [`PromptRunner::is_rehearsal`]. After a rehearsal has shown that the project asks for nothing,
    /// allowed texts run.
    pub(crate) fn new(
        system: &'r dyn System,
        consent: Consent<'r>,
        shell: Shell<'r>,
        projects: Vec<PathBuf>,
        is_rehearsed: bool,
        output: &'r mut dyn FnMut(&[u8]),
    ) -> Self {
        let performance = if is_rehearsed { Performance::Live } else { Performance::Undecided };
        let (record, refusal) = (Vec::new(), None);
        PromptRunner { system, consent, projects, performance, shell, output, record, refusal }
    }

    /// Returns whether an allowed request did not run because a project is not trusted, and may run now
    /// because that project asks for nothing.
    pub(crate) fn is_rehearsal(&self) -> bool {
        self.refusal.is_none()
            && self.record.iter().any(|asked| asked.outcome == RequestOutcome::Rehearsed)
    }

    /// Returns the untrusted project that asked for something. The caller has to refuse the prompt.
    pub(crate) fn refusal(&self) -> Option<&ProjectRefusal> {
        self.refusal.as_ref()
    }

    /// Returns all requests, in order.
    pub(crate) fn into_record(self) -> Vec<ExecutionRequest> {
        self.record
    }

    /// Allows content of a document to run, or returns the refusal.
    fn check_permission(
        &mut self,
        document: &TaskDocument,
        content: Content<'_>,
    ) -> Result<(), RequestOutcome> {
        let root = &document.root;
        let judged = self.consent.check_content(document.author, root, content);
        judged.map_err(|objection| match objection {
            Objection::Off => RequestOutcome::NotAllowed,
            Objection::Content => RequestOutcome::Untrusted,
            Objection::Denied => RequestOutcome::Denied,
            Objection::Project(refusal) => {
                self.refusal.get_or_insert(refusal);
                RequestOutcome::ProjectNotTrusted
            }
        })?;
        if self.performance == Performance::Undecided {
            let mut projects = self.projects.iter();
            let trusted = projects.all(|root| self.consent.check_project(root).is_ok());
            self.performance = if trusted { Performance::Live } else { Performance::Rehearsal };
        }
        match self.performance {
            Performance::Rehearsal => Err(RequestOutcome::Rehearsed),
            _ => Ok(()),
        }
    }

    fn run_command(&mut self, command: &PromptCommand<'_>) -> Result<Vec<u8>, RequestOutcome> {
        let document = command.document;
        self.check_permission(document, Content::Document(&document.source))?;
        let text = native_string(command.text);
        let env = environment_variables(command.parameters);
        self.shell
            .run_command(&text, &env, self.output)
            .map_err(|failure| RequestOutcome::from_failure(&failure))
    }

    fn run_bootstrap(&mut self, bootstrap: &Bootstrap<'_>) -> Result<(), RequestOutcome> {
        let env = environment_variables(bootstrap.parameters);
        let document = bootstrap.document;
        match bootstrap.script {
            Script::Inline(text) => {
                self.check_permission(document, Content::Document(&document.source))?;
                self.shell
                    .inline_script(text, &env, self.output)
                    .map_err(|failure| RequestOutcome::from_failure(&failure))
            }
            Script::File(path) => {
                let content = self.system.read(path, limits::SCRIPT_BYTES);
                let content = content.map_err(|error| RequestOutcome::Failed(error.to_string()))?;
                self.check_permission(document, Content::Script(&content))?;
                self.shell
                    .run_file_script(path, &content, &env, self.output)
                    .map_err(|failure| RequestOutcome::from_failure(&failure))
            }
        }
    }

    /// Records the outcome of a request.
    fn record_request<T>(
        &mut self,
        (kind, path, line, text): (AskedKind, &Path, usize, String),
        ended: Result<T, RequestOutcome>,
    ) -> Result<T, NotRun> {
        let (outcome, result) = match ended {
            Ok(value) => (RequestOutcome::Ran, Ok(value)),
            Err(outcome) => {
                let reason = outcome.not_run();
                (outcome, Err(reason))
            }
        };
        self.record.push(ExecutionRequest { kind, path: path.to_owned(), line, text, outcome });
        result
    }
}

impl CommandRunner for PromptRunner<'_> {
    fn run_prompt_command(&mut self, command: &PromptCommand<'_>) -> Result<Vec<u8>, NotRun> {
        let ended = self.run_command(command);
        let text = String::from_utf8_lossy(command.text).into_owned();
        let asked = (AskedKind::Command, command.document.path(), command.line, text);
        self.record_request(asked, ended)
    }

    fn run_bootstrap_script(&mut self, bootstrap: &Bootstrap<'_>) -> Result<(), NotRun> {
        let ended = self.run_bootstrap(bootstrap);
        let document = bootstrap.document;
        let (kind, line, text) = match bootstrap.script {
            Script::File(path) => (AskedKind::ScriptFile, 1, path.display().to_string()),
            Script::Inline(text) => {
                let place = document.field("bootstrap").map(|node| node.span().start);
                let line = document.source.line_number(place.unwrap_or_default());
                (AskedKind::Bootstrap, line, text.to_owned())
            }
        };
        let asked = (kind, document.path(), line, text);
        self.record_request(asked, ended)
    }

    fn passes_variable(&self, name: &str) -> bool {
        self.shell.passed.contains(name)
    }
}

/// Returns the parameters as environment variables. Inserted into the text of a command, a value would be
/// parsed as shell language.
fn environment_variables(parameters: &Parameters) -> Vec<(OsString, OsString)> {
    let named = parameters.iter().filter(|(name, value)| {
        let is_part = |character: char| character.is_ascii_alphanumeric() || character == '_';
        name.chars().all(is_part) && !value.contains(&0)
    });
    named.map(|(name, value)| (environment_name(name).into(), native_string(value))).collect()
}

fn native_string(bytes: &[u8]) -> OsString {
    #[cfg(unix)]
    return <OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes.to_vec());
    #[cfg(not(unix))]
    return String::from_utf8_lossy(bytes).into_owned().into();
}
