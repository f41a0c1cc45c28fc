//! Task, rule, command and skill files: a whole prompt from one name.
//!
//! A task describes the work; selectors choose its rules; commands are texts that it calls by
//! `/name`; skills are listed. [`Library`] reads the files, [`assemble_prompt`] builds a prompt. Commands
//! and scripts in the texts go through [`CommandRunner`], because this crate starts no program.

mod assemble;
mod check;
pub(crate) mod expand;
mod guidance;
mod known;
mod library;
mod managed;
mod mcp;
mod model;
mod notes;
mod own;
mod parameters;
mod parse;
mod places;
mod prompt;
mod render;
mod runner;
mod script;
mod selectors;
mod skill;
pub(crate) mod slash;
mod text;
mod variants;

pub use assemble::assemble_prompt;
pub use guidance::Tasks;
pub use library::Library;
pub use managed::{HandEdits, Placed, update_managed_block};
pub use model::{
    Author, CodingAgent, SearchOrigin, SearchRoot, TaskDocument, TaskFileKind, TaskName,
    TaskNameError,
};
pub use parameters::{ParameterError, Parameters, environment_name};
pub use prompt::{
    Amount, HiddenInPrompt, Included, LimitedRules, OmittedDocument, Prompt, PromptReason,
    PromptRequest, TaskError,
};
pub use render::{PromptLayout, RenderedPart};
pub use runner::{Bootstrap, CommandRunner, NotRun, PromptCommand, Script};
pub use selectors::{SelectorError, SelectorVerdict, Selectors};
pub use skill::Skill;
pub use variants::FromElsewhere;

/// The name of the dialect.
pub const NAME: &str = "tasks";
