//! Running what the texts of a prompt ask for.
//!
//! What the user wrote runs because the user asked for the prompt. What the project says runs when the
//! user trusts the project, or says so for this run. What came from somewhere else runs only when
//! exactly its content is trusted. Content that the user has denied never runs.
//!
//! A prompt of a project that is not trusted is refused as a whole, before anything has run: so from
//! the first wish to run something on, such a prompt is rehearsed only.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use brief_dialects::tasks::{
    Author, Bootstrap, Document, Live, LiveCommand, NotRun, Parameters, Script, environment_name,
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
    record: Vec<Asked>,
    refusal: Option<ProjectRefusal>,
}

/// Whether what may run does run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Performance {
    /// It depends on the projects, which nothing has asked about yet.
    Undecided,
    /// It runs.
    Live,
    /// It does not: some project is not trusted, and may ask for something later.
    Rehearsal,
}

/// Something that a prompt asked to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// What it is.
    pub kind: AskedKind,
    /// The file that asks for it.
    pub path: PathBuf,
    /// The line of that file.
    pub line: usize,
    /// The command, or the script.
    pub text: String,
    /// What became of it.
    pub outcome: Outcome,
}

/// What was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskedKind {
    /// A shell command in a text.
    Command,
    /// The script in a rule's front matter.
    Bootstrap,
    /// The script beside a rule: its text is the path.
    ScriptFile,
}

impl AskedKind {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            AskedKind::Command => "command",
            AskedKind::Bootstrap | AskedKind::ScriptFile => "bootstrap",
        }
    }
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It ran and ended well.
    Ran,
    /// It would have run.
    NotAllowed,
    /// It will run when no project objects.
    Rehearsed,
    /// It is of a project that is not trusted.
    ProjectNotTrusted,
    /// The user has denied its content.
    Denied,
    /// It is somebody else's, and not trusted.
    Untrusted,
    /// It failed, in these words.
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
    /// Runs everything in `directory`. What commands write to standard error, and scripts to
    /// either stream, goes to `output`.
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

    /// Names the search roots whose texts are a project's. While one of them is not trusted, nothing
    /// runs: see [`PromptRunner::is_rehearsal`].
    #[must_use]
    pub fn with_projects(mut self, roots: Vec<PathBuf>) -> Self {
        self.projects = roots;
        self
    }

    /// Says which variables of our environment everything gets, instead of the usual ones.
    #[must_use]
    pub fn with_environment(mut self, passed: Passed) -> Self {
        self.shell = self.shell.with_environment(passed);
        self
    }

    /// Runs what may run although a project is not trusted: a rehearsal has shown that it asks for
    /// nothing.
    #[must_use]
    pub fn after_rehearsal(mut self) -> Self {
        self.performance = Performance::Live;
        self
    }

    /// Returns whether something would have run, did not because a project is not trusted, and can run
    /// because the project asks for nothing.
    pub fn is_rehearsal(&self) -> bool {
        self.refusal.is_none()
            && self.record.iter().any(|asked| asked.outcome == Outcome::Rehearsed)
    }

    /// Returns the project that asked for something and is not trusted. The prompt is to be refused.
    pub fn refusal(&self) -> Option<&ProjectRefusal> {
        self.refusal.as_ref()
    }

    /// Returns what was asked for, in order.
    pub fn into_record(self) -> Vec<Asked> {
        self.record
    }

    /// Lets content of a document run, or says why it does not.
    fn allow(&mut self, document: &Document, content: Content<'_>) -> Result<(), Refused> {
        let root = document.root();
        let judged = self.consent.judge(document.author(), root, content);
        judged.map_err(|objection| match objection {
            Objection::Off => Refused { outcome: Outcome::NotAllowed, reason: NotRun::Off },
            Objection::Content => {
                Refused { outcome: Outcome::Untrusted, reason: NotRun::Untrusted }
            }
            Objection::Denied => Refused { outcome: Outcome::Denied, reason: NotRun::Denied },
            Objection::Project(refusal) => {
                self.refusal.get_or_insert(refusal);
                Refused { outcome: Outcome::ProjectNotTrusted, reason: NotRun::Off }
            }
        })?;
        if self.performance == Performance::Undecided {
            let mut projects = self.projects.iter();
            let trusted = projects.all(|root| self.consent.project(root).is_ok());
            self.performance = if trusted { Performance::Live } else { Performance::Rehearsal };
        }
        match self.performance {
            Performance::Rehearsal => {
                Err(Refused { outcome: Outcome::Rehearsed, reason: NotRun::Off })
            }
            _ => Ok(()),
        }
    }

    fn run_command(&mut self, command: &LiveCommand<'_>) -> Result<Vec<u8>, Refused> {
        let document = command.document;
        self.allow(document, Content::Document(document.source()))?;
        let text = native(command.text);
        let env = variables(command.parameters);
        self.shell.command(&text, &env, self.output).map_err(Refused::by)
    }

    fn run_bootstrap(&mut self, bootstrap: &Bootstrap<'_>) -> Result<(), Refused> {
        let env = variables(bootstrap.parameters);
        let document = bootstrap.document;
        match bootstrap.script {
            Script::Inline(text) => {
                self.allow(document, Content::Document(document.source()))?;
                self.shell.inline_script(text, &env, self.output).map_err(Refused::by)
            }
            Script::File(path) => {
                let content = self.system.read(path, limits::FILE_BYTES);
                if document.author() == Author::Remote {
                    let content = content.map_err(|error| Refused::failed(error.to_string()))?;
                    self.allow(document, Content::Script(&content))?;
                    let name = path.file_name().unwrap_or_default().to_string_lossy();
                    let ended = self.shell.script_bytes(&content, &name, &env, self.output);
                    return ended.map_err(Refused::by);
                }
                // What is too large to be read was never denied either.
                self.allow(document, Content::Script(&content.unwrap_or_default()))?;
                self.shell.script(path, &env, self.output).map_err(Refused::by)
            }
        }
    }

    /// Keeps what became of a wish.
    fn remember<T>(
        &mut self,
        (kind, path, line, text): (AskedKind, &Path, usize, String),
        ended: Result<T, Refused>,
    ) -> Result<T, NotRun> {
        let (outcome, result) = match ended {
            Ok(value) => (Outcome::Ran, Ok(value)),
            Err(Refused { outcome, reason }) => (outcome, Err(reason)),
        };
        self.record.push(Asked { kind, path: path.to_owned(), line, text, outcome });
        result
    }
}

impl Live for PromptRunner<'_> {
    fn command(&mut self, command: &LiveCommand<'_>) -> Result<Vec<u8>, NotRun> {
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
                let line = document.source().line(place.unwrap_or_default());
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

/// Something that did not run, or not to its end: for the record, and for the prompt.
struct Refused {
    outcome: Outcome,
    reason: NotRun,
}

impl Refused {
    fn failed(problem: String) -> Refused {
        Refused { outcome: Outcome::Failed(problem.clone()), reason: NotRun::Failed(problem) }
    }

    fn by(failure: RunFailure) -> Refused {
        match failure {
            RunFailure::Interrupted => Refused {
                outcome: Outcome::Failed("interrupted".to_owned()),
                reason: NotRun::Interrupted,
            },
            failure => Refused::failed(failure.to_string()),
        }
    }
}

/// Parameters travel beside a command, never in its text: pasted there, a value would be shell
/// language.
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
