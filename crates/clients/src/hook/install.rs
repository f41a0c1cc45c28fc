//! The files that set a client's hook up: their text before and after.
//!
//! A settings file belongs to the user and is edited losslessly (`super::settings`). A program or a plugin file is
//! ours as a whole: it is written where no other file is, and removed only if it is ours.

use brief_profiles::{Client, HookEvents, HookInstall, HookProfile, HookShell, InstallForm, Text};

use super::guard::{DeadlineKeeper, closed_line, find_command, guarded_line};
use super::settings::{self, Handler, HandlerValue, Hook, HookTable, NEW_FILE, SettingsError};

/// The words by which a file is ours.
const OURS: &str = "Written by `brief hook install`";

/// The option of a hook that refuses what it cannot check.
pub const FAIL_CLOSED: &str = " --fail-closed";

/// The words by which a plugin of ours survives a program that fails or hangs.
const GUARDED: &str = "It never fails and never waits";

/// A file that sets a hook up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookFile {
    /// The path below the project or the home directory.
    pub path: String,
    pub content: HookContent,
}

/// The content of a file that sets a hook up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookContent {
    /// Hooks in a settings file.
    Settings {
        /// The place of the hooks in the file.
        table: HookTable,
        hooks: Vec<Hook>,
    },
    Own {
        text: String,
        /// True if the client runs it as a program.
        is_program: bool,
    },
}

/// A file that is in the way.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HookFileError {
    /// The settings cannot be edited.
    #[error("{0}")]
    Settings(#[from] SettingsError),
    /// Another file has the name.
    #[error("exists and was not written by brief")]
    Foreign,
}

/// The choices of an installation.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct InstallChoice<'c> {
    /// The command that the client runs, without options.
    pub program: &'c str,
    /// The options that follow it.
    pub options: &'c str,
    /// True below the home directory.
    pub is_global: bool,
    /// True if calls are held back, so that the client has to ask before each change.
    pub holds: bool,
    /// True if the file that counts instead ([`HookInstall::unless`]) has hooks.
    pub is_elsewhere: bool,
    /// True for the file of a project that a team commits.
    pub is_shared: bool,
    /// True if a hook that fails refuses the call, as far as the client obeys that.
    pub fails_closed: bool,
}

/// Returns the files that set the hook of a client up; `None` if it cannot be set up there.
pub fn build_hook_files(client: &Client, choice: InstallChoice<'_>) -> Option<Vec<HookFile>> {
    let hook = client.hook.as_ref()?;
    let install = hook.install.as_ref()?;
    let path = match &install.shared {
        _ if choice.is_global => install.home.as_ref()?,
        Some(shared) if choice.is_shared => &shared.file,
        _ => &install.file,
    };
    let path = match &install.unless {
        Some(unless) if choice.is_elsewhere => unless,
        _ => path,
    };
    let form = match install.form {
        InstallForm::TopGroups if choice.is_elsewhere => InstallForm::Groups,
        form => form,
    };
    let events = list_hook_events(hook, choice.holds);
    Some(match form {
        InstallForm::Programs => events
            .map(|(event, _)| HookFile {
                path: path.replace("{event}", event),
                content: HookContent::Own {
                    text: render_program(&render_command(install, choice, event)),
                    is_program: true,
                },
            })
            .collect(),
        InstallForm::Plugin => {
            let text = find_plugin_source(install.plugin.as_deref()?)?;
            let command = render_command(install, choice, "");
            let quoted = serde_json::to_string(&command).expect("a text is always JSON");
            let holds = if choice.holds { "true" } else { "false" };
            let ask = include_str!("plugins/ask.js");
            let ask = ask.replace("{command}", &quoted).replace("{holds}", holds);
            let ask = ask.replace("{closed}", if choice.fails_closed { "true" } else { "false" });
            let text = format!("{ask}{text}");
            let content = HookContent::Own { text, is_program: false };
            vec![HookFile { path: path.to_string(), content }]
        }
        InstallForm::Groups | InstallForm::TopGroups | InstallForm::List => {
            let tools: Vec<&str> = hook.tools.all_names().map(|tool| &**tool).collect();
            let tools = tools.join("|");
            let changing = hook.tools.changing_names().chain(&hook.tools.agent);
            let changing: Vec<&str> = changing.map(|tool| &**tool).collect();
            let changing = changing.join("|");
            let hooks = events.map(|(event, has_tools)| {
                let command = render_command(install, choice, event);
                let is_before = hook.events.before.contains_text(event);
                let guard = LineGuard {
                    status: hook.hold_status.filter(|_| is_before),
                    fails_closed: choice.fails_closed && is_before && hook.can_refuse(),
                };
                let is_all =
                    asks_before(hook, choice.holds) || !hook.events.before.contains_text(event);
                Hook {
                    event: event.to_owned(),
                    matcher: has_tools
                        .then(|| if is_all { tools.clone() } else { changing.clone() }),
                    program: choice.program.to_owned(),
                    handler: with_limit(
                        build_handler(install, &command, &tools, guard),
                        hook,
                        event,
                    ),
                }
            });
            let table = match form {
                InstallForm::Groups => HookTable::Groups,
                InstallForm::TopGroups => HookTable::TopGroups,
                _ => HookTable::List { version: install.version },
            };
            let content = HookContent::Settings { table, hooks: hooks.collect() };
            vec![HookFile { path: path.to_string(), content }]
        }
    })
}

/// Returns the events of a hook, each with whether it is about tools.
fn list_hook_events(hook: &HookProfile, holds: bool) -> impl Iterator<Item = (&str, bool)> {
    let events = &hook.events;
    let is_asked = asks_before(hook, holds) || hook.can_refuse() || !hook.tools.agent.is_empty();
    let before = events.before.first().filter(|_| is_asked);
    let tools = before.into_iter().chain(events.after.first()).map(|event| (&**event, true));
    let others =
        [&events.start, &events.prompt, &events.subagent, &events.compacted, &events.loaded];
    let others = others.into_iter().filter_map(|events| events.first());
    let others = others.chain(events.stop.first().filter(|_| !hook.stop.is_empty()));
    tools.chain(others.map(|event: &Text| (&**event, false)))
}

/// Returns whether the event before every tool is needed. Otherwise it is needed for those alone that a check can refuse.
fn asks_before(hook: &HookProfile, holds: bool) -> bool {
    // Some tools write whether the file exists or not, and only some responses tell.
    let tells_new = hook.tools.write.is_empty() || hook.created.is_some();
    hook.events.before_carries || !tells_new || holds && hook.can_refuse()
}

fn render_command(install: &HookInstall, choice: InstallChoice<'_>, event: &str) -> String {
    let InstallChoice { program, options, .. } = choice;
    let mut command = program.to_owned();
    if install.names_event {
        command.push_str(" --event ");
        command.push_str(event);
    }
    command.push_str(options);
    if choice.fails_closed {
        command.push_str(FAIL_CLOSED);
    }
    command
}

/// Returns the shell that runs commands here. What is written for `cmd` is valid in Git's shell and in PowerShell 7, too.
fn shell_here(install: &HookInstall) -> HookShell {
    if cfg!(windows) { install.windows_shell.unwrap_or(HookShell::Cmd) } else { HookShell::Sh }
}

/// What the line of a handler does with the end of its command.
#[derive(Clone, Copy)]
struct LineGuard {
    /// The status that refuses a call.
    status: Option<u8>,
    /// True if a failure refuses it.
    fails_closed: bool,
}

fn build_handler(install: &HookInstall, command: &str, tools: &str, guard: LineGuard) -> Handler {
    let keeper = DeadlineKeeper::from_deadline(install.deadline.as_ref());
    let line = |shell: Option<HookShell>| {
        let shell = shell.unwrap_or_else(|| shell_here(install));
        let closed = if guard.fails_closed { closed_line(command, shell) } else { None };
        closed.unwrap_or_else(|| guarded_line(command, shell, keeper, guard.status))
    };
    let fields = install.handler.iter().map(|field| {
        let text = field.value.replace("{tools}", tools);
        let text = text.replace("{command}", &line(field.shell));
        (field.key.to_string(), HandlerValue::Text(text))
    });
    let mut fields: Handler = fields.collect();
    if fields.is_empty() {
        fields = HookTable::command_handler(&line(None));
    }
    if let Some(deadline) = &install.deadline {
        fields.push((deadline.key.to_string(), HandlerValue::Number(deadline.value)));
    }
    fields
}

/// Adds the client's own key for the longest text, as far as the event carries one: the hook counts on that number.
fn with_limit(mut handler: Handler, hook: &HookProfile, event: &str) -> Handler {
    let HookEvents { before, after, start, prompt, subagent, .. } = &hook.events;
    let carries = [before, after, start, prompt, subagent]
        .into_iter()
        .any(|names| names.contains_text(event));
    let limit = hook.limit.as_ref().and_then(|limit| Some((limit.key.as_ref()?, limit.most)));
    if let Some((key, most)) = limit.filter(|_| carries) {
        handler
            .push((key.to_string(), HandlerValue::Number(u32::try_from(most).unwrap_or(u32::MAX))));
    }
    handler
}

fn render_program(command: &str) -> String {
    let line = guarded_line(command, HookShell::Sh, DeadlineKeeper::Line, None);
    format!(
        "#!/bin/sh\n# {OURS}; `brief hook uninstall` removes it.\n# A `brief` that is missing, crashes or hangs changes \
         nothing.\n{line}\n"
    )
}

/// Returns the part of a plugin that is the client's own. It follows `ask.js`.
fn find_plugin_source(name: &str) -> Option<&'static str> {
    match name {
        "opencode" => Some(include_str!("plugins/opencode.js")),
        "pi" => Some(include_str!("plugins/pi.ts")),
        "amp" => Some(include_str!("plugins/amp.ts")),
        _ => None,
    }
}

impl HookFile {
    /// Returns the text with the hook; `None` when it is there. `text` is `None` for a missing file.
    pub fn install(&self, text: Option<&str>) -> Result<Option<String>, HookFileError> {
        match &self.content {
            HookContent::Settings { table, hooks } => {
                let text = Some(text.unwrap_or(NEW_FILE));
                Ok(settings::install_hooks(text, *table, hooks)?)
            }
            HookContent::Own { text: own, .. } => match text {
                Some(found) if found == own => Ok(None),
                Some(found) if !found.contains(OURS) => Err(HookFileError::Foreign),
                _ => Ok(Some(own.clone())),
            },
        }
    }

    /// Returns the text without the hook; `None` when it was not there, and an empty text for a file that is ours
    /// as a whole.
    pub fn uninstall(&self, text: &str) -> Result<Option<String>, HookFileError> {
        match &self.content {
            HookContent::Settings { table, hooks } => {
                let left = settings::uninstall_hooks(text, *table, hooks)?;
                Ok(left.map(|left| if left == NEW_FILE { String::new() } else { left }))
            }
            HookContent::Own { .. } if text.contains(OURS) => Ok(Some(String::new())),
            HookContent::Own { .. } => Ok(None),
        }
    }

    /// Returns the lines of ours in the file that run the hook, each once.
    fn installed_lines(&self, text: &str) -> Vec<String> {
        match &self.content {
            HookContent::Settings { table, hooks } => {
                settings::installed_lines(text, *table, hooks)
            }
            HookContent::Own { is_program: true, .. } => {
                let mut lines =
                    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
                let line = lines.next_back();
                let line = line.map(|line| line.strip_prefix("exec ").unwrap_or(line).to_owned());
                line.into_iter().collect()
            }
            HookContent::Own { is_program: false, .. } => {
                let line = text.lines().find_map(|line| line.strip_prefix("const COMMAND = "));
                line.and_then(|line| serde_json::from_str(line).ok()).into_iter().collect()
            }
        }
    }

    /// Returns the commands of ours in the file, without what guards them, each once.
    pub fn installed_commands(&self, text: &str) -> Vec<String> {
        let mut commands: Vec<String> = Vec::new();
        for line in self.installed_lines(text) {
            let command = find_command(&line).command;
            if !commands.iter().any(|known| known == command) {
                commands.push(command.to_owned());
            }
        }
        commands
    }

    /// Returns whether no failure of the program in this file reaches the client.
    pub fn is_guarded(&self, text: &str) -> bool {
        match self.content {
            HookContent::Own { is_program: false, .. } => text.contains(GUARDED),
            _ => self.installed_lines(text).iter().all(|line| find_command(line).is_guarded),
        }
    }
}
