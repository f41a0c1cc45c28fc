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
use brief_syntax::{System, limits};

use crate::consent::{Consent, Content, Objection, ProjectRefusal};
use crate::execution::Execution;
use crate::shell::{RunFailure, Shell, ShellLimits};
use brief_syntax::system::Passed;

/// Runs the commands and scripts of one prompt, and keeps a record of them.
pub struct PromptRunner<'r> {
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
    /// Allowed texts run.
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
    /// The outcome.
    pub outcome: Outcome,
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
pub enum Outcome {
    /// It ran and succeeded.
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
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Outcome::Ran => "ran",
            Outcome::NotAllowed | Outcome::Rehearsed => "not run",
            Outcome::ProjectNotTrusted => "the project is not trusted",
            Outcome::Denied => "denied",
            Outcome::Untrusted => "not trusted",
            Outcome::Failed(problem) => problem,
        })
    }
}

impl<'r> PromptRunner<'r> {
    /// Creates a runner that runs everything in `directory`. The standard error of commands, and both streams
    /// of scripts, go to `output`.
    pub fn new(
        system: &'r dyn System,
        directory: &Path,
        execution: Execution,
        limits: ShellLimits,
        output: &'r mut dyn FnMut(&[u8]),
    ) -> Self {
        PromptRunner {
            system,
            consent: Consent::new(system, directory, execution),
            projects: Vec::new(),
            performance: Performance::Undecided,
            shell: Shell::new(system, directory, limits),
            output,
            record: Vec::new(),
            refusal: None,
        }
    }

    /// Names the search roots whose texts belong to a project. While one of them is not trusted, nothing
    /// runs: see [`PromptRunner::is_rehearsal`].
    #[must_use]
    pub fn with_projects(mut self, roots: Vec<PathBuf>) -> Self {
        self.projects = roots;
        self
    }

    /// Sets the variables of our environment that everything gets, instead of the usual ones.
    #[must_use]
    pub fn with_environment(mut self, passed: Passed) -> Self {
        self.shell = self.shell.with_environment(passed);
        self
    }

    /// Lets allowed texts run although a project is not trusted: a rehearsal has shown that the project asks
    /// for nothing.
    #[must_use]
    pub fn after_rehearsal(mut self) -> Self {
        self.performance = Performance::Live;
        self
    }

    /// Returns whether an allowed request did not run because a project is not trusted, and may run now
    /// because that project asks for nothing.
    pub fn is_rehearsal(&self) -> bool {
        self.refusal.is_none()
            && self.record.iter().any(|asked| asked.outcome == Outcome::Rehearsed)
    }

    /// Returns the untrusted project that asked for something. The caller has to refuse the prompt.
    pub fn refusal(&self) -> Option<&ProjectRefusal> {
        self.refusal.as_ref()
    }

    /// Returns all requests, in order.
    pub fn into_record(self) -> Vec<ExecutionRequest> {
        self.record
    }

    /// Allows content of a document to run, or returns the refusal.
    fn allow(&mut self, document: &TaskDocument, content: Content<'_>) -> Result<(), RefusedRun> {
        let root = &document.root;
        let judged = self.consent.judge(document.author, root, content);
        judged.map_err(|objection| match objection {
            Objection::Off => RefusedRun { outcome: Outcome::NotAllowed, reason: NotRun::Off },
            Objection::Content => {
                RefusedRun { outcome: Outcome::Untrusted, reason: NotRun::Untrusted }
            }
            Objection::Denied => RefusedRun { outcome: Outcome::Denied, reason: NotRun::Denied },
            Objection::Project(refusal) => {
                self.refusal.get_or_insert(refusal);
                RefusedRun { outcome: Outcome::ProjectNotTrusted, reason: NotRun::Off }
            }
        })?;
        if self.performance == Performance::Undecided {
            let mut projects = self.projects.iter();
            let trusted = projects.all(|root| self.consent.project(root).is_ok());
            self.performance = if trusted { Performance::Live } else { Performance::Rehearsal };
        }
        match self.performance {
            Performance::Rehearsal => {
                Err(RefusedRun { outcome: Outcome::Rehearsed, reason: NotRun::Off })
            }
            _ => Ok(()),
        }
    }

    fn run_command(&mut self, command: &PromptCommand<'_>) -> Result<Vec<u8>, RefusedRun> {
        let document = command.document;
        self.allow(document, Content::Document(&document.source))?;
        let text = native(command.text);
        let env = variables(command.parameters);
        self.shell.command(&text, &env, self.output).map_err(RefusedRun::by)
    }

    fn run_bootstrap(&mut self, bootstrap: &Bootstrap<'_>) -> Result<(), RefusedRun> {
        let env = variables(bootstrap.parameters);
        let document = bootstrap.document;
        match bootstrap.script {
            Script::Inline(text) => {
                self.allow(document, Content::Document(&document.source))?;
                self.shell.inline_script(text, &env, self.output).map_err(RefusedRun::by)
            }
            Script::File(path) => {
                let content = self.system.read(path, limits::SCRIPT_BYTES);
                let content = content.map_err(|error| RefusedRun::failed(error.to_string()))?;
                self.allow(document, Content::Script(&content))?;
                self.shell.script(path, &content, &env, self.output).map_err(RefusedRun::by)
            }
        }
    }

    /// Records the outcome of a request.
    fn remember<T>(
        &mut self,
        (kind, path, line, text): (AskedKind, &Path, usize, String),
        ended: Result<T, RefusedRun>,
    ) -> Result<T, NotRun> {
        let (outcome, result) = match ended {
            Ok(value) => (Outcome::Ran, Ok(value)),
            Err(RefusedRun { outcome, reason }) => (outcome, Err(reason)),
        };
        self.record.push(ExecutionRequest { kind, path: path.to_owned(), line, text, outcome });
        result
    }
}

impl CommandRunner for PromptRunner<'_> {
    fn command(&mut self, command: &PromptCommand<'_>) -> Result<Vec<u8>, NotRun> {
        let ended = self.run_command(command);
        let text = String::from_utf8_lossy(command.text).into_owned();
        let asked = (AskedKind::Command, command.document.path(), command.line, text);
        self.remember(asked, ended)
    }

    fn bootstrap(&mut self, bootstrap: &Bootstrap<'_>) -> Result<(), NotRun> {
        let ended = self.run_bootstrap(bootstrap);
        let document = bootstrap.document;
        let (kind, line, text) = match bootstrap.script {
            Script::File(path) => (AskedKind::ScriptFile, 1, path.display().to_string()),
            Script::Inline(text) => {
                let place = document.field("bootstrap").map(|node| node.span().start);
                let line = document.source.line(place.unwrap_or_default());
                (AskedKind::Bootstrap, line, text.to_owned())
            }
        };
        let asked = (kind, document.path(), line, text);
        self.remember(asked, ended)
    }

    fn passes_variable(&self, name: &str) -> bool {
        self.shell.passed().contains(name)
    }
}

/// A request that did not run, or failed: for the record, and for the prompt.
struct RefusedRun {
    outcome: Outcome,
    reason: NotRun,
}

impl RefusedRun {
    fn failed(problem: String) -> RefusedRun {
        RefusedRun { outcome: Outcome::Failed(problem.clone()), reason: NotRun::Failed(problem) }
    }

    fn by(failure: RunFailure) -> RefusedRun {
        match failure {
            RunFailure::Interrupted => RefusedRun {
                outcome: Outcome::Failed("interrupted".to_owned()),
                reason: NotRun::Interrupted,
            },
            failure => RefusedRun::failed(failure.to_string()),
        }
    }
}

/// Returns the parameters as environment variables. Inserted into the text of a command, a value would be
/// parsed as shell language.
fn variables(parameters: &Parameters) -> Vec<(OsString, OsString)> {
    let named = parameters.iter().filter(|(name, value)| {
        let is_part = |character: char| character.is_ascii_alphanumeric() || character == '_';
        name.chars().all(is_part) && !value.contains(&0)
    });
    named.map(|(name, value)| (environment_name(name).into(), native(value))).collect()
}

fn native(bytes: &[u8]) -> OsString {
    #[cfg(unix)]
    return <OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes.to_vec());
    #[cfg(not(unix))]
    return String::from_utf8_lossy(bytes).into_owned().into();
}
