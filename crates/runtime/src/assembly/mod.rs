//! The assembly of prompts, for every front end that offers it.
//!
//! It finds the directories to search, reads their texts, and runs the commands that consent allows. It prints
//! nothing: an observer gets every [`AssemblyEvent`] as it happens, and the result is data.

mod error;
mod installed;
mod roots;
mod rules_file;

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use brief_dialects::tasks::{
    self, Amount, Author, CodingAgent, Library, Parameters, Prompt, PromptRequest, Selectors,
    TaskError, TaskFileKind, TaskName,
};
use brief_registry::Event;
use brief_syntax::Root;
use brief_system::System;

use crate::consent::Consent;
use crate::execution::{Execution, Wish};
use crate::prompt::{ExecutionRequest, PromptRunner};
use crate::shell::{Shell, ShellLimits};
use crate::trust::project_root;

pub use error::{AssemblyError, SearchError};
pub use roots::{Convention, SearchDirectories};
pub use rules_file::{RulesFile, RulesFileError, WrittenRules};

/// A step of an assembly, reported when it happens.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum AssemblyEvent<'e> {
    /// A step of fetching begins, which may take a while.
    Step(Event<'e>),
    /// A repository is in the cache. People know it by `name`, which ends in `:`.
    Fetched {
        /// The directory in the cache.
        directory: &'e Path,
        /// The address of the repository.
        name: &'e str,
    },
    /// A part of the search failed, and the assembly goes on without it.
    Warning(&'e str),
    /// A command or script wrote this for people.
    Output(&'e [u8]),
}

/// Gets the events of an assembly.
pub type AssemblyObserver<'o> = dyn FnMut(AssemblyEvent<'_>) + 'o;

/// The options of a prompt.
#[derive(Debug, Default)]
pub struct PromptOptions {
    /// The name of the task, or of the command.
    pub name: String,
    /// A task, or a command that is called alone.
    pub kind: TaskFileKind,
    /// An additional text for the agent.
    pub prompt: Option<OsString>,
    pub parameters: Parameters,
    pub selectors: Selectors,
    /// The agent, unless the task names one.
    pub agent: Option<CodingAgent>,
    pub amount: Amount,
    pub directories: SearchDirectories,
    /// The user's choice about execution.
    pub wish: Option<Wish>,
    pub variables: Vec<String>,
    /// The time limit of each command and script.
    pub time_limit: Option<Duration>,
}

/// A prompt, and the circumstances of its assembly.
#[derive(Debug)]
pub struct AssembledPrompt {
    pub prompt: Prompt,
    /// Everything that its texts asked to run, in order.
    pub ran: Vec<ExecutionRequest>,
    pub execution: Execution,
    /// The start directory without links, for paths that people read.
    pub root: PathBuf,
}

/// The assembly of prompts in one directory.
pub struct PromptAssembly<'a> {
    system: &'a dyn System,
    /// The start directory as it was named, and the base of relative paths.
    directory: &'a Path,
    root: Root,
}

impl<'a> PromptAssembly<'a> {
    /// Opens the directory that the user works in.
    pub fn open(system: &'a dyn System, directory: &'a Path) -> io::Result<Self> {
        Ok(PromptAssembly { system, directory, root: Root::open(system, directory)? })
    }

    pub fn assemble(
        &self,
        options: &PromptOptions,
        observer: &mut AssemblyObserver<'_>,
    ) -> Result<AssembledPrompt, AssemblyError> {
        let (system, root) = (self.system, self.root.path());
        let name = TaskName::parse(&options.name)?;
        let mut roots = self.search_roots(&options.directories, observer)?;
        let installed = self.installed_files(&mut roots, observer);
        let library = Library::open(system, &roots).with_installed(installed);
        let execution = Execution::under_policy(system, options.wish.as_ref())?;
        let mut limits = ShellLimits::default();
        if let Some(limit) = options.time_limit {
            (limits.command, limits.bootstrap) = (limit, limit);
        }
        let prompt = options.prompt.as_deref().map(OsStr::as_encoded_bytes);
        let project = project_root(system, root).unwrap_or_else(|_| root.to_owned());
        let convention = options.directories.convention;
        let request = PromptRequest {
            name: &name,
            kind: options.kind,
            prompt: prompt.filter(|prompt| !prompt.is_empty()),
            parameters: &options.parameters,
            selectors: &options.selectors,
            agent: options.agent,
            amount: options.amount,
            hidden: convention.hidden_in_prompt(),
            limited: convention.limited_rules(),
            directory: root,
            project: &project,
        };
        let projects = roots.iter().filter(|root| root.author == Author::Project);
        let projects: Vec<PathBuf> = projects.map(|root| root.path.clone()).collect();
        let mut perform = |is_rehearsed: bool| {
            let mut output = |piece: &[u8]| observer(AssemblyEvent::Output(piece));
            let consent = Consent::new(system, root, execution.clone());
            let mut shell = Shell::new(system, root, limits);
            shell.passed = convention.command_environment(&options.variables);
            let mut runner = PromptRunner::new(
                system,
                consent,
                shell,
                projects.clone(),
                is_rehearsed,
                &mut output,
            );
            let prompt = tasks::assemble_prompt(&library, &request, &mut runner);
            (prompt, runner.is_rehearsal(), runner.refusal().cloned(), runner.into_record())
        };
        let (mut prompt, is_rehearsal, mut refusal, mut ran) = perform(false);
        if is_rehearsal {
            library.take_diagnostics();
            (prompt, _, refusal, ran) = perform(true);
        }
        if let Some(refusal) = refusal {
            return Err(AssemblyError::Project { refusal, asked: ran });
        }
        match prompt {
            Ok(prompt) => Ok(AssembledPrompt { prompt, ran, execution, root: root.to_owned() }),
            Err(error) => {
                let mut diagnostics = library.take_diagnostics();
                // The error itself says the same.
                if let TaskError::Header { path, .. } = &error {
                    diagnostics.retain(|found| found.path() != path);
                }
                let roots = roots.into_iter().map(|root| root.path).collect();
                Err(AssemblyError::Task { error: Box::new(error), diagnostics, roots })
            }
        }
    }
}

#[cfg(test)]
mod tests;
