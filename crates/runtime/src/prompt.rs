//! Running what the texts of a prompt ask for.
//!
//! What the user wrote, or has in the project that the user works in, runs because the user asked
//! for the prompt. What came from somewhere else runs only when exactly its content is trusted.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use brief_dialects::tasks::{
    Author, Bootstrap, Document, Live, LiveCommand, NotRun, Parameters, Script, environment_name,
};
use brief_syntax::{System, limits};

use crate::policy::Execution;
use crate::shell::{RunFailure, Shell, ShellLimits};
use crate::trust::{Trust, TrustStore};

/// Runs the commands and scripts of one prompt, and keeps a record of them.
pub struct PromptRunner<'r> {
    system: &'r dyn System,
    directory: PathBuf,
    execution: Execution,
    shell: Shell<'r>,
    trust: Option<TrustStore<'r>>,
    output: &'r mut dyn FnMut(&[u8]),
    record: Vec<Asked>,
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
    /// The script of a rule.
    Bootstrap,
}

impl AskedKind {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            AskedKind::Command => "command",
            AskedKind::Bootstrap => "bootstrap",
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
    /// It is somebody else's, and not trusted.
    Untrusted,
    /// It failed, in these words.
    Failed(String),
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Outcome::Ran => "ran",
            Outcome::NotAllowed => "not run",
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
        let shell = Shell::new(system, directory, limits);
        let directory = directory.to_owned();
        PromptRunner {
            system,
            directory,
            execution,
            shell,
            trust: None,
            output,
            record: Vec::new(),
        }
    }

    /// Returns what was asked for, in order.
    pub fn into_record(self) -> Vec<Asked> {
        self.record
    }

    /// Returns whether content of somebody else is trusted. A record of trust that cannot be used
    /// trusts nothing.
    fn is_trusted(&mut self, content: &[u8]) -> bool {
        if self.trust.is_none() {
            self.trust = TrustStore::open(self.system, &self.directory).ok();
        }
        self.trust.as_ref().is_some_and(|trust| trust.is_trusted(content) == Trust::Trusted)
    }

    /// Returns why a document's own content must not run.
    fn refusal(&mut self, document: &Document) -> Option<NotRun> {
        let content = document.source().bytes_from_line(0);
        let is_trusted = document.author() == Author::User || self.is_trusted(content);
        (!is_trusted).then_some(NotRun::Untrusted)
    }

    fn run_command(&mut self, command: &LiveCommand<'_>) -> Result<Vec<u8>, NotRun> {
        if let Some(refusal) = self.refusal(command.document) {
            return Err(refusal);
        }
        if !self.execution.is_allowed() {
            return Err(NotRun::Off);
        }
        let text = native(command.text);
        let env = variables(command.parameters);
        self.shell.command(&text, &env, self.output).map_err(not_run)
    }

    fn run_bootstrap(&mut self, bootstrap: &Bootstrap<'_>) -> Result<(), NotRun> {
        let env = variables(bootstrap.parameters);
        match bootstrap.script {
            Script::Inline(text) => {
                if let Some(refusal) = self.refusal(bootstrap.document) {
                    return Err(refusal);
                }
                if !self.execution.is_allowed() {
                    return Err(NotRun::Off);
                }
                self.shell.inline_script(text, &env, self.output).map_err(not_run)
            }
            Script::File(path) if bootstrap.document.author() == Author::User => {
                if !self.execution.is_allowed() {
                    return Err(NotRun::Off);
                }
                self.shell.script(path, &env, self.output).map_err(not_run)
            }
            Script::File(path) => {
                let content = self.system.read(path, limits::FILE_BYTES);
                let content = content.map_err(|error| NotRun::Failed(error.to_string()))?;
                if !self.is_trusted(&content) {
                    return Err(NotRun::Untrusted);
                }
                if !self.execution.is_allowed() {
                    return Err(NotRun::Off);
                }
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                self.shell.script_bytes(&content, &name, &env, self.output).map_err(not_run)
            }
        }
    }

    fn remember<T>(
        &mut self,
        (kind, path, line, text): (AskedKind, &Path, usize, String),
        outcome: &Result<T, NotRun>,
    ) {
        let outcome = match outcome {
            Ok(_) => Outcome::Ran,
            Err(NotRun::Off) => Outcome::NotAllowed,
            Err(NotRun::Untrusted) => Outcome::Untrusted,
            Err(NotRun::Failed(problem)) => Outcome::Failed(problem.clone()),
            Err(NotRun::Interrupted) => Outcome::Failed("interrupted".to_owned()),
        };
        self.record.push(Asked { kind, path: path.to_owned(), line, text, outcome });
    }
}

impl Live for PromptRunner<'_> {
    fn command(&mut self, command: &LiveCommand<'_>) -> Result<Vec<u8>, NotRun> {
        let outcome = self.run_command(command);
        let text = String::from_utf8_lossy(command.text).into_owned();
        let asked = (AskedKind::Command, command.document.path(), command.line, text);
        self.remember(asked, &outcome);
        outcome
    }

    fn bootstrap(&mut self, bootstrap: &Bootstrap<'_>) -> Result<(), NotRun> {
        let outcome = self.run_bootstrap(bootstrap);
        let document = bootstrap.document;
        let (line, text) = match bootstrap.script {
            Script::File(path) => (1, path.display().to_string()),
            Script::Inline(text) => {
                let place = document.field("bootstrap").map(|node| node.span().start);
                (document.source().line(place.unwrap_or_default()), text.to_owned())
            }
        };
        let asked = (AskedKind::Bootstrap, document.path(), line, text);
        self.remember(asked, &outcome);
        outcome
    }
}

fn not_run(failure: RunFailure) -> NotRun {
    match failure {
        RunFailure::Interrupted => NotRun::Interrupted,
        failure => NotRun::Failed(failure.to_string()),
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
