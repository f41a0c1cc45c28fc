//! An agent as JSON, in a stable shape for other programs.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::ability::Ability;
use super::model::{Agent, Command, CommandOrigin, Hint, Remote};
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
    recommended: RecommendedView<'a>,
    required: RequiredView<'a>,
    commands: Vec<CommandView<'a>>,
    system: &'a str,
    rules: &'a str,
    avatar: &'a str,
    abilities: AbilitiesView,
    tools: Schemes<'a>,
}

#[derive(Debug, serde::Serialize)]
struct RecommendedView<'a> {
    models: &'a [String],
    capabilities: &'a [String],
}

#[derive(Debug, serde::Serialize)]
struct RequiredView<'a> {
    env: &'a [String],
    startup: Option<&'a str>,
}

#[derive(Debug, serde::Serialize)]
struct CommandView<'a> {
    name: Option<&'a str>,
    description: Option<&'a str>,
    #[serde(rename = "argument-hint")]
    hint: HintView<'a>,
    body: Option<&'a str>,
    /// The file or the address; `null` for a command of the header.
    source: Option<String>,
    /// The state of a remote text; `null` for all others.
    state: Option<&'static str>,
}

#[derive(Debug, serde::Serialize)]
#[serde(untagged)]
enum HintView<'a> {
    None,
    Text(&'a str),
    List(&'a [String]),
}

#[derive(Debug, serde::Serialize)]
struct AbilitiesView {
    allow: Vec<String>,
    deny: Vec<String>,
}

#[derive(Debug)]
struct Schemes<'a>(&'a [Scheme]);

impl Serialize for Schemes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for scheme in self.0 {
            map.serialize_entry(&scheme.name, scheme)?;
        }
        map.end()
    }
}

impl<'a> AgentView<'a> {
    /// Shows an agent as written, with the tools that its code returned.
    pub fn new(agent: &'a Agent, tools: &'a [Scheme]) -> AgentView<'a> {
        let names =
            |abilities: &[Ability]| abilities.iter().map(ToString::to_string).collect::<Vec<_>>();
        let known = agent.commands.iter().map(|found| (found.span.start, command(found)));
        let unknown = agent.unresolved.iter().map(|remote| (remote.span.start, unresolved(remote)));
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
            recommended: RecommendedView {
                models: &agent.recommended.models,
                capabilities: &agent.recommended.capabilities,
            },
            required: RequiredView {
                env: &agent.required.env,
                startup: agent.required.startup.as_ref().map(|startup| startup.tool.as_str()),
            },
            commands: commands.into_iter().map(|(_, command)| command).collect(),
            system: &agent.system.text,
            rules: &agent.rules.text,
            avatar: &agent.avatar,
            abilities: AbilitiesView {
                allow: names(agent.abilities.allow.as_deref().unwrap_or_default()),
                deny: names(&agent.abilities.deny),
            },
            tools: Schemes(tools),
        }
    }

    /// Shows the rendered texts instead of the written ones, and their input.
    #[must_use]
    pub fn rendered(
        mut self,
        rendered: &'a Rendered,
        input: Option<&'a AgentValue>,
    ) -> AgentView<'a> {
        (self.system, self.rules) = (&rendered.system, &rendered.rules);
        self.input = input.unwrap_or(self.input);
        self
    }
}

fn command(command: &Command) -> CommandView<'_> {
    CommandView {
        name: Some(&command.name),
        description: Some(&command.description),
        hint: match &command.hint {
            Hint::None => HintView::None,
            Hint::Text(text) => HintView::Text(text),
            Hint::List(list) => HintView::List(list),
        },
        body: Some(&command.body),
        source: match &command.origin {
            CommandOrigin::Inline => None,
            CommandOrigin::File(path) => Some(path.to_string_lossy().into_owned()),
            CommandOrigin::Remote(remote) => Some(remote.url.clone()),
        },
        state: match &command.origin {
            CommandOrigin::Remote(remote) => Some(remote.state.as_str()),
            CommandOrigin::Inline | CommandOrigin::File(_) => None,
        },
    }
}

/// Shows a remote command, of which only the address is known.
fn unresolved(remote: &Remote) -> CommandView<'_> {
    let (source, state) = (Some(remote.url.clone()), Some(remote.state.as_str()));
    CommandView { name: None, description: None, hint: HintView::None, body: None, source, state }
}
