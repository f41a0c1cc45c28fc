//! The gates before an agent does anything: who is not through them is never heard of by a model.

use brief_dialects::agents::{
    Ability, Agent, Base, Effective, Refusal, Rendered, Scheme, Value, refusals,
};
use brief_syntax::system::Interruption;
use brief_syntax::{Diagnostic, System};
use serde_json::Value as Json;

/// The most letters of a tool's name that servers take.
const NAME_BYTES: usize = 64;

/// The tools of an agent, ready to be called.
pub trait Tools {
    /// Returns what a model is told of them.
    fn schemes(&self) -> &[Scheme];

    /// Calls a tool, by its name in any case, with arguments as the model wrote them. They are checked
    /// against the scheme first. Both the result and the reason why there is none are for the model.
    fn call(&mut self, name: &str, arguments: &str) -> Result<String, String>;

    /// Has `stop` end a call from now on; one that cannot be ended runs to its end.
    fn interrupt_by(&mut self, _stop: &Interruption) {}

    /// Calls the startup tool. Anything but success keeps the agent from starting (Y32); the error says
    /// why.
    fn start(&mut self, name: &str) -> Result<(), String> {
        let result = self.call(name, "{}")?;
        let has_failed = match serde_json::from_str::<Json>(&result) {
            Ok(Json::Bool(answer)) => !answer,
            Ok(answer) => answer.get("ok") == Some(&Json::Bool(false)),
            Err(_) => false,
        };
        if has_failed { Err(format!("it returned {result}")) } else { Ok(()) }
    }
}

/// An agent that is through every gate.
pub struct Ready<'r> {
    agent: &'r Agent,
    texts: Rendered,
    offered: Vec<Scheme>,
    /// Whether the ability `tool` is there.
    may_call: bool,
    tools: &'r mut dyn Tools,
}

/// Why an agent does not start.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NotReady {
    /// It is switched off, or the environment lacks something: every reason.
    #[error("{}", joined(.0))]
    Refused(Vec<Refusal>),
    /// Its texts cannot be rendered with this input.
    #[error("{}", joined_messages(.0))]
    Texts(Vec<Diagnostic>),
    /// No server takes a tool of this name.
    #[error(
        "the tool `{name}` has a name that no model can be told: letters, digits, `_` and `-`, at most {NAME_BYTES}"
    )]
    ToolName {
        /// The name.
        name: String,
    },
    /// The startup tool failed, or is not there.
    #[error("the startup tool `{tool}` failed: {problem}")]
    Startup {
        /// The tool.
        tool: String,
        /// What it says.
        problem: String,
    },
}

fn joined(refusals: &[Refusal]) -> String {
    refusals.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn joined_messages(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(|found| found.message.as_str()).collect::<Vec<_>>().join("; ")
}

impl<'r> Ready<'r> {
    /// Goes through the gates that are left when a file is valid and its tools are evaluated: status,
    /// environment, texts, names, and the startup tool at last (A41). Nothing runs before the rest holds.
    ///
    /// `input` is what the operator gives instead of the agent's own. Without the ability `tool` no model
    /// is offered the tools, but the startup tool is still called: the file asks for it, not the model.
    pub fn pass(
        system: &dyn System,
        agent: &'r Agent,
        input: Option<&Value>,
        effective: &Effective<'_>,
        tools: &'r mut dyn Tools,
    ) -> Result<Ready<'r>, NotReady> {
        let refusals = refusals(system, agent);
        if !refusals.is_empty() {
            return Err(NotReady::Refused(refusals));
        }
        let texts = agent.render(input).map_err(NotReady::Texts)?;
        let may_call = effective.has(&Ability::Base(Base::Tool));
        let offered =
            if may_call { tools.schemes().iter().map(whole).collect() } else { Vec::new() };
        if let Some(scheme) = offered.iter().find(|scheme: &&Scheme| !is_name(&scheme.name)) {
            return Err(NotReady::ToolName { name: scheme.name.clone() });
        }
        if let Some(startup) = &agent.required.startup {
            tools
                .start(&startup.tool)
                .map_err(|problem| NotReady::Startup { tool: startup.tool.clone(), problem })?;
        }
        Ok(Ready { agent, texts, offered, may_call, tools })
    }

    /// Returns the agent.
    pub fn agent(&self) -> &'r Agent {
        self.agent
    }

    /// Returns its texts, rendered.
    pub fn texts(&self) -> &Rendered {
        &self.texts
    }

    /// Returns its texts as one message: the system message, and the rules below it.
    pub fn system_message(&self) -> String {
        let Rendered { system, rules } = &self.texts;
        if rules.is_empty() {
            return system.clone();
        }
        format!("{system}\n\n## Rules\n\n{rules}")
    }

    /// Returns whether anybody but the gates may call its tools.
    pub fn may_call(&self) -> bool {
        self.may_call
    }

    /// Returns the tools that others may call.
    pub fn offered(&self) -> &[Scheme] {
        &self.offered
    }

    /// Has `stop` end a call from now on.
    pub fn interrupt_by(&mut self, stop: &Interruption) {
        self.tools.interrupt_by(stop);
    }

    /// Calls a tool that is offered, by its name in any case. `None` when there is none of that name.
    pub fn call(&mut self, name: &str, arguments: &str) -> Option<Result<String, String>> {
        let scheme = self.offered.iter().find(|scheme| scheme.is_called(name))?;
        Some(self.tools.call(&scheme.name, arguments))
    }
}

/// Authors leave out that arguments are an object, and servers and clients insist on it.
fn whole(scheme: &Scheme) -> Scheme {
    let mut scheme = scheme.clone();
    if let Json::Object(fields) = &mut scheme.parameters {
        fields.insert("type".to_owned(), Json::from("object"));
    }
    scheme
}

/// A tool's name is an identifier to those who are told it, and never a text.
fn is_name(name: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=NAME_BYTES).contains(&name.len()) && name.bytes().all(letter)
}
