//! Tasks and commands as MCP prompts.
//!
//! A prompt is assembled as `brief task` assembles it, and nothing of it is executed: commands in the texts stay as
//! written, and bootstrap scripts do not run (ruling G7: a server executes nothing).

use std::collections::BTreeSet;
use std::path::Path;

use brief_engine::tasks::{
    Amount, Parameters, PromptLayout, RenderedPart, TaskDocument, TaskFileKind,
};
use brief_runtime::{OffReason, PromptAssembly, PromptOptions, Wish};
use brief_system::System;
use rmcp::model::{JsonObject, Prompt, PromptArgument};

use super::super::session::text_argument;
use super::super::{offline_directories, offline_library};

/// The argument for an additional text of a task.
const MORE: &str = "prompt";

/// The argument for everything that is said to a command.
const ALL: &str = "arguments";

/// A task or command as a prompt.
#[derive(Debug)]
pub(super) struct OfferedPrompt {
    pub(super) listed: Prompt,
    /// The author's description; may be empty.
    pub(super) about: String,
    kind: TaskFileKind,
    /// The name of the task or command.
    name: String,
    /// Each argument with its parameter.
    arguments: Vec<(String, String)>,
}

impl OfferedPrompt {
    /// Returns the tasks and commands of the project and of the user, tasks first.
    pub(super) fn collect(system: &dyn System, directory: &Path) -> Vec<OfferedPrompt> {
        let Some(library) = offline_library(system, directory) else { return Vec::new() };
        let mut tasks = library.all_tasks();
        tasks.sort_by_key(TaskDocument::name);
        tasks.dedup_by_key(|task| task.name());
        let mut commands = library.read_documents(TaskFileKind::Command, None, &|_| true);
        // The first of one name is the one that a task would call.
        let mut seen = BTreeSet::new();
        commands.retain(|command| seen.insert(command.name()));
        commands.sort_by_key(TaskDocument::name);
        let mut taken = BTreeSet::new();
        tasks
            .iter()
            .chain(&commands)
            .map(|document| OfferedPrompt::from_document(document, &mut taken))
            .collect()
    }

    fn from_document(document: &TaskDocument, taken: &mut BTreeSet<String>) -> OfferedPrompt {
        let (kind, name) = (document.kind, document.name());
        let mut listed_name = name.clone();
        if !taken.insert(name.clone()) {
            listed_name = format!("command-{name}");
            taken.insert(listed_name.clone());
        }
        let mut arguments: Vec<(String, String)> = Vec::new();
        for parameter in document.parameter_names() {
            let argument = match parameter {
                "ARGUMENTS" if kind == TaskFileKind::Command => ALL.to_owned(),
                number if kind == TaskFileKind::Command && number.parse::<usize>().is_ok() => {
                    format!("arg{number}")
                }
                name => name.to_owned(),
            };
            if arguments.iter().all(|(known, _)| *known != argument) {
                arguments.push((argument, parameter.to_owned()));
            }
        }
        let mut shown: Vec<PromptArgument> = arguments
            .iter()
            .map(|(argument, _)| PromptArgument::new(argument).with_required(argument != ALL))
            .collect();
        let has_more = kind == TaskFileKind::Task && arguments.iter().all(|(name, _)| name != MORE);
        if has_more {
            let more = PromptArgument::new(MORE).with_required(false);
            shown.push(more.with_description("Additional text for the agent"));
        }
        // Some clients take no prompt without one.
        let about = document.description().to_owned();
        let description = match about.as_str() {
            "" => format!("The {} `{name}`", kind.as_str()),
            text => text.to_owned(),
        };
        let shown = Some(shown).filter(|list| !list.is_empty());
        OfferedPrompt {
            listed: Prompt::new(listed_name, Some(description), shown),
            about,
            kind,
            name,
            arguments,
        }
    }

    /// Assembles the text. The error is a message for the client.
    pub(super) fn render_text(
        &self,
        system: &dyn System,
        directory: &Path,
        given: &JsonObject,
    ) -> Result<String, String> {
        let mut parameters = Parameters::default();
        for (argument, parameter) in &self.arguments {
            if let Some(value) = text_argument(given, argument)? {
                let added = parameters.add_text(format!("{parameter}={value}").as_bytes());
                added.map_err(|error| error.to_string())?;
            }
        }
        let takes_more = self.arguments.iter().all(|(name, _)| name != MORE);
        let more = if takes_more { text_argument(given, MORE)? } else { None };
        let is_task = self.kind == TaskFileKind::Task;
        let options = PromptOptions {
            name: self.name.clone(),
            kind: self.kind,
            prompt: more.filter(|_| is_task).map(Into::into),
            parameters,
            amount: if is_task { Amount::Everything } else { Amount::TaskAlone },
            directories: offline_directories(),
            wish: Some(Wish::Off(OffReason::DryRun)),
            ..PromptOptions::default()
        };
        let assembly =
            PromptAssembly::open(system, directory).map_err(|error| error.to_string())?;
        let assembled =
            assembly.assemble(&options, &mut |_| {}).map_err(|error| error.to_string())?;
        let written = RenderedPart::Written;
        let layout =
            PromptLayout { front_matter: RenderedPart::LeftOut, rules: written, skills: written };
        Ok(String::from_utf8_lossy(&assembled.prompt.render(layout)).into_owned())
    }
}
