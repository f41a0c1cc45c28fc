//! The gates before an agent starts. An agent reaches a model only after all of them.

use brief_dialects::agents::{
    Ability, Agent, AgentRefusal, AgentValue, Base, Effective, Rendered, Scheme, collect_refusals,
};
use brief_mcp_client::ServerTool;
use brief_syntax::Diagnostic;
use brief_system::{Interruption, System};
use serde_json::Value as Json;

/// The longest tool name that servers accept.
const NAME_BYTES: usize = 64;

/// The callable tools of an agent. Tests have tools that start no sandbox.
pub trait ReadyTools {
    /// Returns the schemes of the tools, for the model.
    fn schemes(&self) -> &[Scheme];

    /// Calls a tool, by its name in any case, with arguments as the model wrote them. The arguments are
    /// checked against the scheme first. The result and the error are both texts for the model.
    fn call_tool(&mut self, name: &str, arguments: &str) -> Result<String, String>;

    /// Returns the abilities that the last call asked for and was refused, whatever the tool did with the refusal.
    fn take_denied(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Adds tools of MCP servers, which are listed only after the gates.
    fn add_server_tools(&mut self, _tools: Vec<ServerTool>) {}

    /// Lets `stop` end calls from now on; a call that cannot be ended runs to its end.
    fn interrupt_by(&mut self, _stop: &Interruption) {}

    /// Calls the startup tool. Anything but success keeps the agent from starting (Y32); the error is a
    /// message.
    fn call_startup_tool(&mut self, name: &str) -> Result<(), String> {
        let result = self.call_tool(name, "{}")?;
        let has_failed = match serde_json::from_str::<Json>(&result) {
            Ok(Json::Bool(answer)) => !answer,
            Ok(answer) => answer.get("ok") == Some(&Json::Bool(false)),
            Err(_) => false,
        };
        if has_failed { Err(format!("returned {result}")) } else { Ok(()) }
    }
}

/// An agent that has passed every gate.
pub struct Ready<'r> {
    agent: &'r Agent,
    texts: Rendered,
    listed: Vec<Scheme>,
    /// True if the ability `tool` is granted.
    may_call: bool,
    tools: &'r mut dyn ReadyTools,
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NotReady {
    /// The agent is switched off, or the environment lacks something; all reasons are listed.
    #[error("{}", join_refusals(.0))]
    Refused(Vec<AgentRefusal>),
    /// The texts cannot be rendered with this input.
    #[error("{}", joined_messages(.0))]
    Texts(Vec<Diagnostic>),
    /// A tool has a name that servers refuse.
    #[error(
        "the tool `{0}` has a name that servers refuse: use letters, digits, `_` and `-`, at most {NAME_BYTES}"
    )]
    ToolName(String),
    /// The startup tool failed or is missing.
    #[error("the startup tool `{tool}` failed: {problem}")]
    Startup {
        /// The name of the tool.
        tool: String,
        problem: String,
    },
}

fn join_refusals(refusals: &[AgentRefusal]) -> String {
    refusals.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn joined_messages(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(|found| found.message.as_str()).collect::<Vec<_>>().join("; ")
}

impl<'r> Ready<'r> {
    /// Passes the remaining gates of a valid file with evaluated tools: status, environment, texts, names,
    /// and the startup tool at last (A41). Nothing runs before the other gates are open.
    ///
    /// `input` replaces the agent's own input. Without the ability `tool` no tools are listed to a model,
    /// but the startup tool is still called: the file asks for it, not the model.
    pub fn pass_gates(
        system: &dyn System,
        agent: &'r Agent,
        input: Option<&AgentValue>,
        effective: &Effective<'_>,
        tools: &'r mut dyn ReadyTools,
    ) -> Result<Ready<'r>, NotReady> {
        let refusals = collect_refusals(system, agent);
        if !refusals.is_empty() {
            return Err(NotReady::Refused(refusals));
        }
        let texts = agent.render(input).map_err(NotReady::Texts)?;
        let may_call = effective.has_ability(&Ability::Base(Base::Tool));
        let listed = if may_call {
            tools.schemes().iter().map(add_object_type).collect()
        } else {
            Vec::new()
        };
        if let Some(scheme) = listed.iter().find(|scheme: &&Scheme| !is_name(&scheme.name)) {
            return Err(NotReady::ToolName(scheme.name.clone()));
        }
        if let Some(startup) = &agent.required.startup {
            tools
                .call_startup_tool(&startup.tool)
                .map_err(|problem| NotReady::Startup { tool: startup.tool.clone(), problem })?;
        }
        Ok(Ready { agent, texts, listed, may_call, tools })
    }

    /// Offers tools of MCP servers, too. Their names are made for servers of models.
    pub fn add_server_tools(&mut self, tools: Vec<ServerTool>) {
        self.tools.add_server_tools(tools);
        if self.may_call {
            self.listed = self.tools.schemes().iter().map(add_object_type).collect();
        }
    }

    /// Returns the abilities that the last call was refused, whatever the tool did with the refusal.
    pub fn take_denied(&mut self) -> Vec<String> {
        self.tools.take_denied()
    }

    pub fn agent(&self) -> &'r Agent {
        self.agent
    }

    /// Returns its texts as one message: the system message, and the rules below it.
    pub fn system_message(&self) -> String {
        let Rendered { system, rules } = &self.texts;
        if rules.is_empty() {
            return system.clone();
        }
        format!("{system}\n\n## Rules\n\n{rules}")
    }

    /// Returns whether a model or client may call its tools.
    pub fn may_call(&self) -> bool {
        self.may_call
    }

    /// Returns the tools that a model or client may call.
    pub fn listed(&self) -> &[Scheme] {
        &self.listed
    }

    /// Lets `stop` end calls from now on.
    pub fn interrupt_by(&mut self, stop: &Interruption) {
        self.tools.interrupt_by(stop);
    }

    /// Calls an listed tool, by its name in any case. `None` for an unknown name.
    pub fn call_tool(&mut self, name: &str, arguments: &str) -> Option<Result<String, String>> {
        let scheme = self.listed.iter().find(|scheme| scheme.is_called(name))?;
        Some(self.tools.call_tool(&scheme.name, arguments))
    }
}

/// Adds `type: object` to the arguments, which authors leave out and servers require.
fn add_object_type(scheme: &Scheme) -> Scheme {
    let mut scheme = scheme.clone();
    if let Json::Object(fields) = &mut scheme.parameters {
        fields.insert("type".to_owned(), Json::from("object"));
    }
    scheme
}

/// Returns whether a tool's name is an identifier, as servers require.
fn is_name(name: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=NAME_BYTES).contains(&name.len()) && name.bytes().all(letter)
}
