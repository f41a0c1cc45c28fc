//! The interface to execution: this crate never starts a program.

use std::path::Path;

use super::model::TaskDocument;
use super::parameters::Parameters;

/// Runs commands and scripts for a prompt, or returns the reason why not. `brief_runtime` implements it, which lies above this
/// crate.
pub trait CommandRunner {
    /// Runs the shell command of a `` !`…` `` and returns its output.
    fn run_prompt_command(&mut self, command: &PromptCommand<'_>) -> Result<Vec<u8>, NotRun>;

    /// Runs the script that belongs to a rule.
    fn run_bootstrap_script(&mut self, bootstrap: &Bootstrap<'_>) -> Result<(), NotRun>;

    /// Returns whether commands get this variable of our environment.
    fn passes_variable(&self, _name: &str) -> bool {
        true
    }
}

/// A shell command in a text.
#[derive(Debug, Clone, Copy)]
pub struct PromptCommand<'c> {
    /// The text between the backticks.
    pub text: &'c [u8],
    /// The file of the command.
    pub document: &'c TaskDocument,
    /// The line of the command.
    pub line: usize,
    /// The parameters of the prompt, which are never pasted into the text.
    pub parameters: &'c Parameters,
}

/// The script of a rule.
#[derive(Debug, Clone, Copy)]
pub struct Bootstrap<'b> {
    pub document: &'b TaskDocument,
    pub script: Script<'b>,
    /// The parameters of the prompt.
    pub parameters: &'b Parameters,
}

/// The location of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Script<'b> {
    /// An executable file beside the rule.
    File(&'b Path),
    Inline(&'b str),
}

/// The reason why a program did not run, or not to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotRun {
    /// The user turned execution off.
    Off,
    /// Its author is not the user, and its content is not trusted.
    Untrusted,
    /// The user denied its content.
    Denied,
    /// It failed, with this message.
    Failed(String),
    Interrupted,
}
