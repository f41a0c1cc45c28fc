//! The commands of an agent as MCP prompts.
//!
//! Commands have positional arguments, prompts have named ones. The hint of a command names its positions; a
//! position without a name is `arg1` and so on, and `$ARGUMENTS` of a command without a hint is `arguments`.

use std::collections::BTreeSet;

use brief_engine::agents::Command;
use brief_serve::mcp::session::{prompt_result, text_argument};
use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument};

/// The limit for the arguments of a prompt. A price in a text may look like a high position.
const ARGUMENTS: usize = 64;

/// The name of the argument that stands for all.
const ALL: &str = "arguments";

/// The commands of an agent.
pub(super) struct Prompts {
    list: Vec<NamedCommand>,
}

/// A command with named arguments.
struct NamedCommand {
    command: Command,
    /// One name for each position.
    names: Vec<String>,
    positions: BTreeSet<usize>,
    /// True if all arguments may be given as one.
    takes_all: bool,
}

impl Prompts {
    pub(super) fn new(commands: &[Command]) -> Prompts {
        Prompts { list: commands.iter().map(NamedCommand::new).collect() }
    }

    /// Returns the prompts for a client, in the order of the agent.
    pub(super) fn list(&self) -> Vec<Prompt> {
        self.list.iter().map(NamedCommand::to_prompt).collect()
    }

    /// Returns the text of a command. The error is a message.
    pub(super) fn get(&self, name: &str, given: &JsonObject) -> Result<GetPromptResult, String> {
        let lower = name.to_lowercase();
        let named = self.list.iter().find(|named| named.command.name.to_lowercase() == lower);
        let named = named.ok_or_else(|| format!("unknown command `{name}`"))?;
        let text = named.render_text(given)?;
        Ok(prompt_result(text, named.description()))
    }
}

impl NamedCommand {
    fn new(command: &Command) -> NamedCommand {
        let hints = command.hint.argument_names();
        let positions = command.argument_positions();
        let highest = command.highest_argument().min(ARGUMENTS);
        let mut names: Vec<String> = Vec::new();
        for position in 1..=hints.len().min(ARGUMENTS).max(highest) {
            let hint = hints.get(position - 1).copied().unwrap_or_default();
            let is_taken = hint.is_empty() || names.iter().any(|name| name == hint);
            names.push(if is_taken { format!("arg{position}") } else { hint.to_owned() });
        }
        let takes_all = command.takes_all() && hints.is_empty();
        NamedCommand { command: command.clone(), names, positions, takes_all }
    }

    fn description(&self) -> Option<String> {
        Some(self.command.description.clone()).filter(|text| !text.is_empty())
    }

    fn to_prompt(&self) -> Prompt {
        let needed = |index: usize| self.positions.contains(&(index + 1));
        let named = self.names.iter().enumerate();
        let mut arguments: Vec<PromptArgument> = named
            .map(|(index, name)| PromptArgument::new(name).with_required(needed(index)))
            .collect();
        if self.takes_all {
            arguments.push(PromptArgument::new(ALL).with_required(false));
        }
        let arguments = Some(arguments).filter(|list| !list.is_empty());
        Prompt::new(&self.command.name, self.description(), arguments)
    }

    /// Inserts the arguments at their positions. Unknown names are ignored, as extra arguments of a command
    /// are (A36).
    fn render_text(&self, given: &JsonObject) -> Result<String, String> {
        let highest = self.positions.last().copied().unwrap_or_default();
        let (mut values, mut missing) = (Vec::new(), Vec::new());
        for (index, name) in self.names.iter().enumerate() {
            let position = index + 1;
            match text_argument(given, name)? {
                Some(value) => values.push(value),
                None if self.positions.contains(&position) => missing.push(format!("`{name}`")),
                // The text does not use this position, but a later one.
                None if position < highest => values.push(String::new()),
                None => {}
            }
        }
        if !missing.is_empty() {
            let missing = missing.join(", ");
            return Err(format!("the command `{}` needs {missing}", self.command.name));
        }
        if self.takes_all {
            values.extend(text_argument(given, ALL)?);
        }
        self.command.invoke(&values).map_err(|error| error.to_string())
    }
}
