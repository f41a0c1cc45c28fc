//! The keys of `[hook]` in a client's file: its hook protocol, and where a hook is set up.
//!
//! Names are data; the meaning of a shell command or of a patch is code (`brief_clients::hook`).

use serde::Deserialize;

use super::Seen;
use super::constant::{List, Text, required};

/// The hook protocol of a client.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct HookProfile {
    /// The version and the day that these facts were seen in, where it is not the client's.
    pub seen: Option<Seen>,
    /// The marks by which a payload is this client's, whichever client the command names.
    pub recognized: Option<PayloadMarks>,
    /// The answer that brings a text to the model.
    pub answer: List<AnswerField>,
    /// The answer that refuses a tool call, with a text as its reason. Without one a call is never refused.
    pub hold: List<AnswerField>,
    /// The exit status that refuses a tool call, with the reason on standard error and nothing on standard output. It takes the
    /// place of `hold` where another hook's JSON could override that.
    pub hold_status: Option<u8>,
    /// The answer that makes the client ask the user about a tool call, with a text as its reason.
    pub ask: List<AnswerField>,
    /// The answer that keeps the agent at work at the end of its turn, with a text as its reason.
    pub stop: List<AnswerField>,
    /// What was seen of refused calls and of turns that go on.
    pub enforcement: Option<EnforcementFacts>,
    /// The key of a text that only the user sees.
    pub notice: Option<Text>,
    /// The environment variable of a hook that names the directory where the client was started.
    pub started: Option<Text>,
    /// The variables that commands of hooks can begin a path with, for the directory of the project or of the plugin.
    pub bases: List<Text>,
    /// The longest text that reaches the model whole.
    pub limit: Option<TextLimit>,
    pub events: HookEvents,
    pub tools: HookTools,
    /// The keys of a tool's input that name the file, the first one that is there.
    #[serde(deserialize_with = "required")]
    pub paths: List<Text>,
    /// The mark of a new file in a tool's response.
    pub created: Option<CreatedMark>,
    /// The mark of a call that failed, if the client drops the text of the event after it.
    pub failed: Option<FailedMark>,
    /// The facts about a resumed conversation; `None` where none was observed.
    pub resumed: Option<ResumedConversation>,
    /// The files that set the hook up. Without them `brief hook install` has nothing to write.
    pub install: Option<HookInstall>,
}

impl HookProfile {
    /// Returns whether a call can be refused.
    pub fn can_refuse(&self) -> bool {
        self.hold_status.is_some() || !self.hold.is_empty()
    }

    /// Returns the origins of the texts that a resumed conversation no longer has; none where nothing was observed.
    pub fn lost_on_resume(&self, is_fork: bool) -> &[DeliveryOrigin] {
        let seen = self.resumed.as_ref().filter(|resumed| is_fork || !resumed.only_forks);
        seen.map_or(&[], |resumed| &resumed.lost)
    }
}

/// What was seen of refused calls and of turns that go on.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct EnforcementFacts {
    /// The version and the day.
    pub seen: Seen,
    /// True if the client reads the hook's file again while it runs, so that an agent that changes the file switches the hook off.
    #[serde(default)]
    pub reloads: bool,
    /// True if the client does not tell the user about a refused call, so that the answer has to.
    #[serde(default)]
    pub silent: bool,
    /// The calls that pass although they are refused, or that the hook does not see: each ends the sentence "does not stop …".
    pub gaps: List<Text>,
}

/// The longest text of a hook that reaches the model whole, as the client counts it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TextLimit {
    /// The version and the day; `None` where it was not measured.
    pub seen: Option<Seen>,
    pub most: usize,
    pub unit: TextUnit,
    /// The key of a handler that sets the number.
    pub key: Option<Text>,
}

/// A unit in which clients count a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TextUnit {
    /// Units of UTF-16, as programs in JavaScript count: an emoji is two.
    #[serde(rename = "utf-16")]
    Utf16,
    /// Characters of Unicode.
    Characters,
    /// Bytes of UTF-8.
    Bytes,
    /// Tokens, each taken for four bytes of UTF-8.
    Tokens,
}

impl TextUnit {
    /// Returns the word for some of them.
    pub fn as_str(self) -> &'static str {
        match self {
            TextUnit::Utf16 => "UTF-16 units",
            TextUnit::Characters => "characters",
            TextUnit::Bytes => "bytes",
            TextUnit::Tokens => "tokens of four bytes",
        }
    }
}

/// The facts about a conversation that the user resumes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ResumedConversation {
    /// The version and the day.
    pub seen: Seen,
    /// The origins of the texts that it no longer has.
    pub lost: List<DeliveryOrigin>,
    /// True if only forks were observed: conversations with a new id that begin with a copy of an earlier one.
    #[serde(default)]
    pub only_forks: bool,
}

/// The event that brought a text into a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeliveryOrigin {
    /// The start of the conversation or of a subagent.
    Start,
    Prompt,
    /// The event before a tool.
    Before,
    /// The event after a tool.
    After,
    /// A read to which the client itself attached a file.
    Attached,
}

/// The marks of a client's payload.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PayloadMarks {
    pub source: Option<Text>,
    /// Keys that the payload has.
    pub with: List<Text>,
    /// Keys that it does not have.
    pub without: List<Text>,
}

/// A field of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct AnswerField {
    /// The key; `a.b` is the key `b` in the object `a`.
    pub key: Text,
    pub value: AnswerValue,
}

/// A value of an answer. None of them approves a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnswerValue {
    /// The text for the model.
    TheText,
    /// The name of the event.
    TheEvent,
    Deny,
    Block,
    Ask,
}

/// The names of a client's events, by their meaning. The first name is the one in its settings; payloads may have
/// others.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct HookEvents {
    /// A tool is about to run.
    pub before: List<Text>,
    /// True if a text of that event reaches the model, if only with the tool's result. Otherwise it comes with
    /// the event after the tool.
    #[serde(default)]
    pub before_carries: bool,
    pub after: List<Text>,
    /// A conversation begins or goes on.
    pub start: List<Text>,
    /// True if the text of that event must not be delivered with it: the first prompt brings it.
    #[serde(default)]
    pub start_waits: bool,
    /// The user has said something.
    pub prompt: List<Text>,
    pub subagent: List<Text>,
    pub compacted: List<Text>,
    /// The client has loaded a guidance file by itself.
    pub loaded: List<Text>,
    /// The agent ends its turn.
    pub stop: List<Text>,
}

/// The names of a client's tools, by their effect. Any other tool with a path has an unknown effect.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct HookTools {
    /// Tools that read a file.
    pub read: List<Text>,
    /// Tools that change a file.
    pub edit: List<Text>,
    /// Tools that write a file, whether it exists or not.
    pub write: List<Text>,
    /// Tools that make a new file.
    pub create: List<Text>,
    /// Tools that search a directory.
    pub search: List<Text>,
    /// Tools that run a shell command.
    pub shell: List<Text>,
    /// Tools that apply a patch.
    pub patch: List<Text>,
    /// Tools that run a subagent, in a client that does not tell the events of one from those of the main agent: what
    /// is between the events of such a call is the subagent's.
    pub agent: List<Text>,
}

impl HookEvents {
    /// Returns the names of all events.
    pub fn all_names(&self) -> impl Iterator<Item = &Text> {
        let HookEvents { before, after, start, prompt, subagent, compacted, loaded, stop, .. } =
            self;
        [before, after, start, prompt, subagent, compacted, loaded, stop].into_iter().flatten()
    }

    /// Returns whether a prompt brings what is for the start of the conversation.
    pub fn starts_with_prompt(&self) -> bool {
        self.start.is_empty() || self.start_waits
    }
}

impl HookTools {
    /// Returns the names of the tools that change files or run commands.
    pub fn changing_names(&self) -> impl Iterator<Item = &Text> {
        let HookTools { edit, write, create, shell, patch, .. } = self;
        [edit, write, create, shell, patch].into_iter().flatten()
    }

    /// Returns the names of all tools.
    pub fn all_names(&self) -> impl Iterator<Item = &Text> {
        let HookTools { read, edit, write, create, search, shell, patch, agent } = self;
        [read, edit, write, create, search, shell, patch, agent].into_iter().flatten()
    }
}

/// The mark of a new file in the response of a tool that writes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CreatedMark {
    /// The key of a text in the response.
    pub key: Text,
    /// The first words of that text.
    pub begins: Text,
}

/// The mark of a call that failed in the response of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FailedMark {
    /// The key that only such a response has.
    pub key: Text,
    /// The version and the day.
    pub seen: Seen,
}

/// The files that set a hook up.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct HookInstall {
    /// The file in a project; `{event}` is the name of the event.
    pub file: Text,
    /// The same below the home directory.
    pub home: Option<Text>,
    /// True if the project's file counts only for a client that is started in its directory. Then the hook goes below
    /// the home directory, unless the user says otherwise.
    #[serde(default)]
    pub top_only: bool,
    /// The evidence that the file of the main checkout also counts in its worktrees; `None` if it does not.
    pub worktrees: Option<Seen>,
    /// The evidence that a file of the worktree itself does not count there; `None` if it does.
    pub main_checkout_only: Option<Seen>,
    /// True if the project's file is not meant for version control.
    #[serde(default)]
    pub private: bool,
    /// The file of a project that a team commits, where `file` is private.
    pub shared: Option<SharedHookFile>,
    /// The form of the file.
    pub form: InstallForm,
    /// The file that counts instead if it has hooks already, because the client ignores it beside this one.
    pub unless: Option<Text>,
    /// The client that the command names, if another client reads the same file.
    pub named: Option<Text>,
    /// Other clients whose hooks of a project this one runs as well.
    #[serde(default)]
    pub also_runs: List<Text>,
    /// The `version` of a new file, of the form `list`.
    pub version: Option<u32>,
    /// The fields of a handler, of the form `list`.
    pub handler: List<HandlerField>,
    /// The program file, of the form `plugin`: its name in `brief_clients::hook::plugins`.
    pub plugin: Option<Text>,
    /// True if the command says the event, because payloads do not.
    #[serde(default)]
    pub names_event: bool,
    /// The client's program, to tell whether it is there.
    pub program: Option<Text>,
    /// The mark of the user's approval.
    pub approval: Option<ApprovalMark>,
    /// The rest of the work, which only the user can do.
    pub then: Option<Text>,
    /// The shell that runs the command on Windows; `cmd` without one.
    pub windows_shell: Option<HookShell>,
    /// The key of a handler by which the client ends a hook that hangs. Without one the command keeps the time itself.
    pub deadline: Option<HandlerDeadline>,
    /// The client's own switch for all hooks.
    pub switch: Option<HookSwitch>,
}

/// The file with hooks that a team commits.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SharedHookFile {
    pub file: Text,
    /// The evidence that the client runs the hooks in it.
    pub seen: Seen,
}

/// A shell that runs the command of a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HookShell {
    /// A shell of Unix, or Git's on Windows.
    Sh,
    Cmd,
    Powershell,
}

/// The time that a client gives to a hook.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct HandlerDeadline {
    /// The key of the handler.
    pub key: Text,
    /// The time, in the client's unit.
    pub value: u32,
    /// True if the client ends the shell alone, and then waits for what the shell has started.
    #[serde(default)]
    pub ends_shell: bool,
}

/// A setting that switches all hooks of a client off.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct HookSwitch {
    /// The key; `a.b` is the key `b` in the table `a`.
    pub key: Text,
    /// The value that switches hooks off.
    pub off: bool,
    /// The files of a project that have it, in JSON or TOML; the first one with the key decides.
    pub files: List<Text>,
    /// Those below the home directory, which count after them.
    pub home: List<Text>,
}

/// The mark of a user's approval.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ApprovalMark {
    /// A file of the client below the home directory.
    pub file: Text,
    /// A text that it has if the hook is approved; `{file}` is the hook's file, `{project}` the project.
    pub has: Text,
    /// True if a decision about a directory holds for those below it, as far as they have none of their own.
    #[serde(default)]
    pub inherits: bool,
}

/// A field of a handler.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct HandlerField {
    pub key: Text,
    /// The text; `{command}` is the command, `{tools}` the names of the tools.
    pub value: Text,
    /// The shell of the command, where it is not that of the system.
    pub shell: Option<HookShell>,
}

/// The form of a file that sets a hook up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InstallForm {
    /// JSON: `hooks.EVENT` is a list of groups, each with a `matcher` and a list of `hooks`.
    Groups,
    /// The same with the events at the top.
    TopGroups,
    /// JSON: `hooks.EVENT` is a list of handlers.
    List,
    /// A program for each event.
    Programs,
    /// A plugin of the client, which calls the hook.
    Plugin,
}
