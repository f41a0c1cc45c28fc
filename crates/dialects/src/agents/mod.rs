//! Agent files, `agents/<category>_<agent-name>.agent.md`: a model's instructions with commands,
//! JavaScript tools and the abilities that they need.
//!
//! The document's general rule is to stop: ambiguity is an error, and an agent with an error does
//! not run. So [`load_agent`] reports everything at once, and [`Loaded::agent`] returns valid agents
//! only. This module runs no code, fetches nothing and asks no model. A runtime passes these gates
//! in order: [`load_agent`], [`collect_refusals`], its own evaluation of [`Agent::tools`], [`check_tools`], the
//! startup tool, and only then a model with [`Agent::render`]ed texts, within [`Effective`]
//! abilities.

mod ability;
mod check;
mod commands;
mod guidance;
mod header;
mod invoke;
mod load;
mod model;
mod notes;
mod parse;
mod render;
mod resolve;
pub mod scaffold;
mod sections;
pub(crate) mod template;
mod tools;
mod value;
mod view;

pub use ability::{Ability, AbilityError, Base};
pub use commands::Fetched;
pub use guidance::Agents;
pub use invoke::InvokeError;
pub use load::{
    AgentOptions, AgentOwner, Loaded, list_agents, load_agent, load_text, portable_agents,
};
pub use model::{
    Abilities, Agent, AgentName, AgentRequirements, AgentStatus, AgentText, CodeProblem, Command,
    CommandOrigin, DIRECTORY, Hint, Recommended, Remote, RemoteState, SUFFIX, Startup,
    TemplateEngine, TextOrigin, ToolCode,
};
pub use render::Rendered;
pub use resolve::{AgentRefusal, Effective, collect_refusals, missing_environment};
pub use tools::{Evaluated, Scheme, ToolProblem, check_returned, check_tools};
pub use value::AgentValue;
pub use view::AgentView;

/// The name of the dialect.
pub const NAME: &str = "agent-files";
