//! What a prompt asks somebody else to do: this crate reads, and never starts a program.

use std::path::Path;

use super::model::Document;
use super::parameters::Parameters;

/// Runs commands and scripts for a prompt, or says why it does not.
pub trait Live {
    /// Runs the shell command of a `` !`…` `` and returns what it wrote.
    fn command(&mut self, command: &LiveCommand<'_>) -> Result<Vec<u8>, NotRun>;

    /// Runs the script that belongs to a rule.
    fn bootstrap(&mut self, bootstrap: &Bootstrap<'_>) -> Result<(), NotRun>;

    /// Returns whether commands get this variable of our environment, if we have it.
    fn passes_variable(&self, _name: &str) -> bool {
        true
    }
}

/// A shell command in a text.
#[derive(Debug, Clone, Copy)]
pub struct LiveCommand<'c> {
    /// The text between the backticks.
    pub text: &'c [u8],
    /// The file that it stands in.
    pub document: &'c Document,
    /// The line that it begins on.
    pub line: usize,
    /// The parameters of the prompt, which are never pasted into the text.
    pub parameters: &'c Parameters,
}

/// The script of a rule.
#[derive(Debug, Clone, Copy)]
pub struct Bootstrap<'b> {
    /// The rule.
    pub document: &'b Document,
    /// The script.
    pub script: Script<'b>,
    /// The parameters of the prompt.
    pub parameters: &'b Parameters,
}

/// Where a script stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Script<'b> {
    /// In a file beside the rule, which may be executed.
    File(&'b Path),
    /// In the rule's front matter.
    Inline(&'b str),
}

/// Why something was not run, or not to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotRun {
    /// Nothing is to be run, which the user knows.
    Off,
    /// It comes from somebody else, and its content is not trusted.
    Untrusted,
    /// The user has denied its content.
    Denied,
    /// It failed, in these words.
    Failed(String),
    /// The user wants to stop.
    Interrupted,
}

/// Runs nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NeverLive;

impl Live for NeverLive {
    fn command(&mut self, _command: &LiveCommand<'_>) -> Result<Vec<u8>, NotRun> {
        Err(NotRun::Off)
    }

    fn bootstrap(&mut self, _bootstrap: &Bootstrap<'_>) -> Result<(), NotRun> {
        Err(NotRun::Off)
    }
}
