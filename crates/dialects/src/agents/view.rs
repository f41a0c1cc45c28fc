//! An agent as JSON, in a stable shape for other programs.

use std::borrow::Cow;

use serde::ser::{Serialize, Serializer};

use super::ability::Ability;
use super::model::{Agent, AgentRequirements, Command, CommandOrigin, Hint, Recommended, Remote};
use super::render::Rendered;
use super::tools::Scheme;
use super::value::AgentValue;

/// The `agent` of `brief agent show --json`. All fields are always present, in this order.
#[derive(Debug, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentView<'a> {
    version: &'a str,
    icon: &'a str,
    title: &'a str,
    description: &'a str,
    status: &'static str,
    template_engine: &'static str,
    input: &'a AgentValue,
    recommended: &'a Recommended,
    required: &'a AgentRequirements,
    commands: Vec<CommandView<'a>>,
    system: &'a str,
    rules: &'a str,
    avatar: &'a str,
    abilities: AbilitiesView<'a>,
    tools: Schemes<'a>,
}

#[derive(Debug, serde::Serialize)]
struct CommandView<'a> {
    name: Option<&'a str>,
    description: Option<&'a str>,
    #[serde(rename = "argument-hint")]
    hint: &'a Hint,
    body: Option<&'a str>,
    /// The file or the address; `null` for a command of the header.
    source: Option<Cow<'a, str>>,
    /// The state of a remote text; `null` for all others.
    state: Option<&'static str>,
}

#[derive(Debug, serde::Serialize)]
struct AbilitiesView<'a> {
    allow: &'a [Ability],
    deny: &'a [Ability],
}

#[derive(Debug)]
struct Schemes<'a>(&'a [Scheme]);

impl Serialize for Schemes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|scheme| (&scheme.name, scheme)))
    }
}

impl<'a> AgentView<'a> {
    /// Shows an agent as written, with the tools that its code returned.
    pub fn new(agent: &'a Agent, tools: &'a [Scheme]) -> AgentView<'a> {
        let known =
            agent.commands.iter().map(|found| (found.span.start, build_command_view(found)));
        let unknown =
            agent.unresolved.iter().map(|remote| (remote.span.start, build_remote_view(remote)));
        let mut commands: Vec<(usize, CommandView<'_>)> = known.chain(unknown).collect();
        // In the author's order; commands of one folder stay together.
        commands.sort_by_key(|(place, _)| *place);
        AgentView {
            version: &agent.version,
            icon: &agent.icon,
            title: &agent.title,
            description: &agent.description,
            status: agent.status.as_str(),
            template_engine: agent.template_engine.as_str(),
            input: &agent.input,
            recommended: &agent.recommended,
            required: &agent.required,
            commands: commands.into_iter().map(|(_, command)| command).collect(),
            system: &agent.system.text,
            rules: &agent.rules.text,
            avatar: &agent.avatar,
            abilities: AbilitiesView {
                allow: agent.abilities.allow.as_deref().unwrap_or_default(),
                deny: &agent.abilities.deny,
            },
            tools: Schemes(tools),
        }
    }

    /// Shows the rendered texts instead of the written ones, and their input.
    #[must_use]
    pub fn with_rendered(
        mut self,
        rendered: &'a Rendered,
        input: Option<&'a AgentValue>,
    ) -> AgentView<'a> {
        (self.system, self.rules) = (&rendered.system, &rendered.rules);
        self.input = input.unwrap_or(self.input);
        self
    }
}

fn build_command_view(command: &Command) -> CommandView<'_> {
    let (source, state) = match &command.origin {
        CommandOrigin::Inline => (None, None),
        CommandOrigin::File(path) => (Some(path.to_string_lossy()), None),
        CommandOrigin::Remote(remote) => {
            (Some(Cow::Borrowed(remote.url.as_str())), Some(remote.state.as_str()))
        }
    };
    CommandView {
        name: Some(&command.name),
        description: Some(&command.description),
        hint: &command.hint,
        body: Some(&command.body),
        source,
        state,
    }
}

/// Shows a remote command, of which only the address is known.
fn build_remote_view(remote: &Remote) -> CommandView<'_> {
    let (source, state) = (Some(Cow::Borrowed(&*remote.url)), Some(remote.state.as_str()));
    CommandView { name: None, description: None, hint: &Hint::None, body: None, source, state }
}
