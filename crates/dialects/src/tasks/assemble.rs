//! The assembly of a whole prompt from a task's name.
//!
//! The order is that of the output. The task and its commands are found first, because they
//! contribute selectors. Then each rule is prepared by its script, read and expanded. The skills
//! follow, and the task's own text comes last, so that it sees the results of the scripts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use brief_syntax::hidden::{self, HiddenText};
use brief_syntax::yaml::Value;
use brief_syntax::{Diagnostic, Source, Span, limits, near_miss, rules};
use brief_system::paths::to_slashed;

use crate::limit_of_rule;

use super::check;
use super::library::Library;
use super::model::{CodingAgent, TaskDocument, TaskFileKind, TaskName};
use super::notes::Notes;
use super::parse::front_matter;
use super::prompt::{
    Amount, HiddenInPrompt, Included, LimitedRules, OmittedDocument, Prompt, PromptReason,
    PromptRequest, TaskError,
};
use super::runner::{Bootstrap, CommandRunner, NotRun, Script};
use super::script::{self, Obstacle};
use super::selectors::{RunningTask, SelectorVerdict, Selectors, match_selectors};
use super::skill::{self, Skill};
use super::slash::{self, CallArguments, SlashPiece};
use super::text::{Expander, not_allowed};

pub fn assemble_prompt(
    library: &Library<'_>,
    request: &PromptRequest<'_>,
    runner: &mut dyn CommandRunner,
) -> Result<Prompt, TaskError> {
    let (task, mut left_out) = find_task(library, request)?;
    check_header(&task)?;
    let agent = agent_of(&task, request)?;
    let expander = Expander {
        system: library.system(),
        directory: request.directory,
        project: request.project,
        parameters: request.parameters,
        runner,
        room: limits::PROMPT_BYTES,
        missing: BTreeSet::new(),
        used: BTreeSet::new(),
        notes: Notes::default(),
    };
    let mut selectors = request.selectors.clone();
    selectors.add_field(task.field("selectors"));
    let mut assembler = Assembler {
        library,
        request,
        expander,
        selectors,
        running: RunningTask::new(request.name, agent),
        takes_generic: takes_generic(&task),
        left_out: Vec::new(),
        lookups: BTreeMap::new(),
        command_names: None,
    };
    let prompt = request.prompt.map(|prompt| task.with_body("(the user's prompt)", prompt));
    let mut calls = assembler.collect_calls(&task);
    if let Some(prompt) = &prompt {
        calls.extend(assembler.collect_calls(prompt));
    }
    for document in calls.iter().filter_map(|call| call.command.as_ref()) {
        assembler.selectors.add_field(document.field("selectors"));
    }
    let (mut rules, mut skills) = (Vec::new(), Vec::new());
    if request.amount == Amount::Everything {
        rules = assembler.collect_rules()?;
        skills = assembler.collect_skills();
    }
    let mut calls = calls.into_iter();
    let mut commands = Vec::new();
    let mut text = assembler.task_text(&task, &mut calls, &mut commands)?;
    if let Some(prompt) = prompt {
        if !task.body().ends_with(b"\n") && !task.body().is_empty() {
            text.push(b'\n');
        }
        text.extend_from_slice(b"---\n");
        text.extend(assembler.task_text(&prompt, &mut calls, &mut commands)?);
    }
    assembler.note_fields(
        std::iter::once(&task)
            .chain(included_documents(&rules))
            .chain(included_documents(&commands)),
    );
    assembler.note_unused();
    assembler.expander.notes.extend(library.take_diagnostics());
    left_out.append(&mut assembler.left_out);
    Ok(Prompt {
        task: Included { document: task, reason: PromptReason::Asked, text },
        rules,
        commands,
        skills,
        left_out,
        agent,
        diagnostics: assembler.expander.notes.finish(),
    })
}

fn included_documents(included: &[Included]) -> impl Iterator<Item = &TaskDocument> {
    included.iter().map(|included| &included.document)
}

/// Finds the one task of a name (ruling T2): of those that the selectors allow, the first root's,
/// those of the namespace first.
fn find_task(
    library: &Library<'_>,
    request: &PromptRequest<'_>,
) -> Result<(TaskDocument, Vec<OmittedDocument>), TaskError> {
    let name = request.name;
    let candidates =
        library.read_documents(request.kind, name.namespace(), &|stem| stem == name.base());
    let running = RunningTask::default();
    let mut excluded = Vec::new();
    let mut allowed = Vec::new();
    for document in candidates {
        let verdict = match_selectors(&document, request.selectors, &running);
        if verdict.is_in() {
            allowed.push(document);
        } else {
            excluded.push((document, verdict));
        }
    }
    // Tasks of the namespace come first, in any root.
    allowed.sort_by_key(|task| task.namespace.is_none());
    let Some(first) = allowed.first() else {
        return Err(not_found(library, name, excluded));
    };
    let is_rival =
        |task: &&TaskDocument| task.root == first.root && task.namespace == first.namespace;
    let rivals: Vec<&TaskDocument> = allowed.iter().filter(is_rival).collect();
    if rivals[1..].iter().any(|task| !task.is_copy_of(first)) {
        let files = rivals.iter().map(|task| task.path().to_owned()).collect();
        return Err(TaskError::Ambiguous { name: name.to_string(), files });
    }
    let task = allowed.remove(0);
    let excluded = excluded.into_iter().map(|(document, verdict)| OmittedDocument {
        document,
        reason: PromptReason::Selected(verdict),
    });
    let shadowed = allowed.into_iter().map(|document| OmittedDocument {
        document,
        reason: PromptReason::Shadowed { by: task.path().to_owned() },
    });
    let left_out = excluded.chain(shadowed).collect();
    Ok((task, left_out))
}

/// Refuses a requested task with invalid front matter (T12).
fn check_header(task: &TaskDocument) -> Result<(), TaskError> {
    let problems = front_matter(&task.source).diagnostics;
    let Some(found) = problems.into_iter().find(|found| found.rule == rules::FRONTMATTER_INVALID)
    else {
        return Ok(());
    };
    let (path, line) = (task.path().to_owned(), found.position().line);
    // The message drops the reader's own consequence.
    let problem = found.message.split_once("was skipped: ");
    let problem = problem.map_or(found.message.as_str(), |(_, problem)| problem).to_owned();
    Err(TaskError::Header { path, line, problem })
}

fn not_found(
    library: &Library<'_>,
    name: &TaskName,
    excluded: Vec<(TaskDocument, SelectorVerdict)>,
) -> TaskError {
    let known: Vec<String> = library.all_tasks().iter().map(TaskDocument::name).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let typed = name.to_string();
    let nearest = near_miss::nearest_few(&typed, &known, 3);
    let nearest = nearest.into_iter().filter(|near| *near != typed).map(str::to_owned).collect();
    let excluded = excluded.into_iter();
    let excluded = excluded.map(|(task, verdict)| (task.path().to_owned(), verdict)).collect();
    TaskError::NotFound { name: typed, nearest, excluded }
}

fn agent_of(
    task: &TaskDocument,
    request: &PromptRequest<'_>,
) -> Result<Option<CodingAgent>, TaskError> {
    match task.field("agent").filter(|node| !matches!(node.value(), Value::Null)) {
        None => Ok(request.agent),
        Some(node) => {
            let name = node.as_str().unwrap_or(node.value().noun());
            CodingAgent::from_name(name).map(Some).ok_or_else(|| TaskError::UnknownAgent {
                agent: name.to_owned(),
                path: task.path().to_owned(),
                line: task.source.line_number(node.span().start),
            })
        }
    }
}

/// Returns why the client in whose directory a rule lies does not load it at once; `None` if it does.
fn limit_of(rule: &TaskDocument) -> Option<&'static str> {
    let below = to_slashed(rule.path().strip_prefix(&rule.root).ok()?);
    limit_of_rule(&below, &rule.source)
}

fn takes_generic(task: &TaskDocument) -> bool {
    !matches!(task.text("include_unmatched"), Some("false" | "False" | "FALSE"))
}

/// A slash command, with its file if there is one.
struct CalledCommand {
    arguments: CallArguments,
    command: Option<TaskDocument>,
}

struct Assembler<'a, 's> {
    library: &'a Library<'s>,
    request: &'a PromptRequest<'a>,
    expander: Expander<'a>,
    selectors: Selectors,
    running: RunningTask,
    takes_generic: bool,
    left_out: Vec<OmittedDocument>,
    /// The commands called so far, by name.
    lookups: BTreeMap<String, CommandLookup>,
    /// The names of all commands, filled after the first unknown one.
    command_names: Option<Vec<String>>,
}

/// The result of looking a command up.
enum CommandLookup {
    Found(Box<TaskDocument>),
    Missing { reason: String, near: Option<String> },
}

impl Assembler<'_, '_> {
    /// Finds the commands that a text calls.
    fn collect_calls(&mut self, document: &TaskDocument) -> Vec<CalledCommand> {
        let mut called = Vec::new();
        for piece in slash::split_slash_commands(document.body()) {
            let SlashPiece::Call(call) = piece else { continue };
            let span = document.body_span(call.offset, call.line.len());
            let command = self.find_command(document, span, call.name);
            called.push(CalledCommand { arguments: call.arguments, command });
        }
        called
    }

    /// Finds the file of a command, once per name: a text can call one ten thousand times.
    fn find_command(
        &mut self,
        document: &TaskDocument,
        span: Span,
        name: &str,
    ) -> Option<TaskDocument> {
        if !self.lookups.contains_key(name) {
            let lookup = self.look_up(name);
            self.lookups.insert(name.to_owned(), lookup);
        }
        match self.lookups.get(name)? {
            CommandLookup::Found(command) => Some(TaskDocument::clone(command)),
            CommandLookup::Missing { reason, near } => {
                let message = || format!("`/{name}` stays as written: {reason}");
                let broken = rules::tasks::UNKNOWN_COMMAND;
                let note =
                    self.expander.notes.warn(document, span, broken, name.as_bytes(), message);
                if let (Some(note), Some(near)) = (note, near) {
                    note.help = Some(format!("did you mean `/{near}`?"));
                }
                None
            }
        }
    }

    fn look_up(&mut self, name: &str) -> CommandLookup {
        let namespace = self.request.name.namespace();
        let mut found = match &self.command_names {
            Some(known) if !known.iter().any(|known| known == name) => Vec::new(),
            _ => {
                self.library.read_documents(TaskFileKind::Command, namespace, &|stem| stem == name)
            }
        };
        // Commands of the namespace come first, in any root.
        found.sort_by_key(|command| command.namespace.is_none());
        let mut hidden = None;
        let mut chosen: Option<TaskDocument> = None;
        for command in found {
            let reason = match (&chosen, match_selectors(&command, &self.selectors, &self.running))
            {
                (None, verdict) if verdict.is_in() => {
                    chosen = Some(command);
                    continue;
                }
                (None, verdict) => {
                    hidden.get_or_insert_with(|| verdict.to_string());
                    PromptReason::Selected(verdict)
                }
                (Some(chosen), _) => PromptReason::Shadowed { by: chosen.path().to_owned() },
            };
            self.leave_out(command, reason);
        }
        match (chosen, hidden) {
            (Some(command), _) => CommandLookup::Found(Box::new(command)),
            (None, Some(reason)) => CommandLookup::Missing { reason, near: None },
            (None, None) => {
                let library = self.library;
                let names = self
                    .command_names
                    .get_or_insert_with(|| library.list_stems(TaskFileKind::Command, namespace));
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                let near = near_miss::find_nearest(name, &names).map(str::to_owned);
                CommandLookup::Missing { reason: "unknown command".to_owned(), near }
            }
        }
    }

    /// Records a file that is left out, once.
    fn leave_out(&mut self, document: TaskDocument, reason: PromptReason) {
        let is_known = |left: &OmittedDocument| left.document.real_path == document.real_path;
        if !self.left_out.iter().any(is_known) {
            self.left_out.push(OmittedDocument { document, reason });
        }
    }

    fn selector_verdict(&self, document: &TaskDocument) -> SelectorVerdict {
        match match_selectors(document, &self.selectors, &self.running) {
            SelectorVerdict::Generic if !self.takes_generic => SelectorVerdict::Unmatched,
            verdict => verdict,
        }
    }

    fn collect_rules(&mut self) -> Result<Vec<Included>, TaskError> {
        let namespace = self.request.name.namespace();
        let mut rules = Vec::new();
        let agent = self.running.agent;
        let (found, mut others) = self.library.documents_for(TaskFileKind::Rule, namespace, agent);
        self.left_out.append(&mut others);
        for rule in found {
            let verdict = self.selector_verdict(&rule);
            if !verdict.is_in() {
                self.left_out.push(OmittedDocument {
                    document: rule,
                    reason: PromptReason::Selected(verdict),
                });
                continue;
            }
            let is_limited = verdict == SelectorVerdict::Generic
                && self.request.limited == LimitedRules::LeftOut;
            if let Some(reason) = is_limited.then(|| limit_of(&rule)).flatten() {
                let reason = PromptReason::Limited(reason);
                self.left_out.push(OmittedDocument { document: rule, reason });
                continue;
            }
            let document = match self.run_bootstrap(&rule)? {
                ScriptRan::Yes => self.library.read_again(&rule),
                ScriptRan::No => rule,
            };
            let mut text = Vec::with_capacity(document.body().len());
            let body = (0, document.body());
            self.expander.expand_text(&document, body, None, &mut text)?;
            let text = self.without_hidden(&document, text);
            rules.push(Included { document, reason: PromptReason::Selected(verdict), text });
        }
        Ok(rules)
    }

    /// Runs the script of a rule: the one in its front matter, else the one beside it.
    fn run_bootstrap(&mut self, rule: &TaskDocument) -> Result<ScriptRan, TaskError> {
        let parameters = self.request.parameters;
        let (script, span, shown) = match (rule.field("bootstrap"), &rule.script) {
            (Some(node), _) if !matches!(node.value(), Value::Null) => match node.as_str() {
                Some(text) => (Script::Inline(text), node.span(), "`bootstrap`".to_owned()),
                None => {
                    let message =
                        || format!("`bootstrap` must be a script, not {}", node.value().noun());
                    self.expander.notes.warn(
                        rule,
                        node.span(),
                        rules::tasks::WRONG_TYPE,
                        b"bootstrap",
                        message,
                    );
                    return Ok(ScriptRan::No);
                }
            },
            (_, Some(path)) => {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                if let Some(Obstacle { problem, help }) =
                    script::find_script_obstacle(self.library.system(), rule, path)
                {
                    let message = || format!("the script `{name}` was not run: {problem}");
                    let broken = rules::tasks::BOOTSTRAP_NOT_EXECUTABLE;
                    let note =
                        self.expander.notes.warn(rule, Span::default(), broken, b"", message);
                    if let Some(note) = note {
                        note.help = help;
                    }
                    return Ok(ScriptRan::No);
                }
                (Script::File(path), Span::default(), format!("`{name}`"))
            }
            _ => return Ok(ScriptRan::No),
        };
        // A script may use any parameter, so all count as used.
        self.expander.used.extend(parameters.iter().map(|(name, _)| name.to_owned()));
        let outcome = self.expander.runner.run_bootstrap_script(&Bootstrap {
            document: rule,
            script,
            parameters,
        });
        self.expander.missing.clear();
        match outcome {
            Ok(()) => Ok(ScriptRan::Yes),
            Err(NotRun::Off) => Ok(ScriptRan::No),
            Err(NotRun::Interrupted) => Err(TaskError::Interrupted),
            Err(reason @ (NotRun::Untrusted | NotRun::Denied)) => {
                let path = match script {
                    Script::File(path) => path,
                    Script::Inline(_) => rule.path(),
                };
                let (problem, help) = not_allowed(&reason, path);
                let message = || format!("the script {shown} was not run: {problem}");
                let note = self.expander.notes.warn(
                    rule,
                    span,
                    rules::tasks::UNTRUSTED,
                    b"bootstrap",
                    message,
                );
                if let Some(note) = note {
                    note.help = Some(help);
                }
                Ok(ScriptRan::No)
            }
            Err(NotRun::Failed(problem)) => {
                let message = || format!("the script {shown} failed: {problem}");
                self.expander.notes.warn(rule, span, rules::tasks::BOOTSTRAP_FAILED, b"", message);
                Ok(ScriptRan::Yes)
            }
        }
    }

    fn collect_skills(&mut self) -> Vec<Skill> {
        let namespace = self.request.name.namespace();
        let mut skills: Vec<Skill> = Vec::new();
        let agent = self.running.agent;
        let (found, mut others) = self.library.documents_for(TaskFileKind::Skill, namespace, agent);
        self.left_out.append(&mut others);
        for document in found {
            let verdict = self.selector_verdict(&document);
            if !verdict.is_in() {
                self.leave_out(document, PromptReason::Selected(verdict));
                continue;
            }
            if let Err(problem) = skill::check_skill(&document, &mut self.expander.notes) {
                self.leave_out(document, PromptReason::Invalid(problem.to_owned()));
                continue;
            }
            let mut skill = Skill::new(document, PromptReason::Selected(verdict));
            let description = std::mem::take(&mut skill.description).into_bytes();
            let description = self.without_hidden(&skill.document, description);
            skill.description = String::from_utf8_lossy(&description).into_owned();
            match skills.iter().find(|known| known.name == skill.name) {
                None => skills.push(skill),
                Some(known) => {
                    let by = known.document.path().to_owned();
                    self.leave_out(skill.document, PromptReason::Shadowed { by });
                }
            }
        }
        skills
    }

    /// Assembles a task's text: its own pieces, and the commands that it calls.
    fn task_text(
        &mut self,
        task: &TaskDocument,
        calls: &mut impl Iterator<Item = CalledCommand>,
        commands: &mut Vec<Included>,
    ) -> Result<Vec<u8>, TaskError> {
        let body = task.body();
        let mut output = Vec::with_capacity(body.len());
        for piece in slash::split_slash_commands(body) {
            match piece {
                SlashPiece::Text { offset, text } => {
                    let text = (offset, text);
                    self.expander.expand_text(task, text, None, &mut output)?;
                }
                SlashPiece::Call(call) => {
                    let Some(CalledCommand { arguments, command: Some(command) }) = calls.next()
                    else {
                        self.expander.reserve_bytes(call.line.len())?;
                        output.extend_from_slice(call.line);
                        continue;
                    };
                    let mut text = Vec::new();
                    let whole = (0, command.body());
                    let arguments = Some(&arguments);
                    self.expander.expand_text(&command, whole, arguments, &mut text)?;
                    // The call's own line break follows, so the command's last one would be
                    // doubled.
                    let ends_line = body.len() > call.offset + call.line.len();
                    let text = self.without_hidden(&command, text);
                    let line = if ends_line { without_last_break(&text) } else { &text };
                    output.extend_from_slice(line);
                    let span = task.body_span(call.offset, 0);
                    let line = task.source.line_number(span.start);
                    let call = String::from_utf8_lossy(call.line).into_owned();
                    let reason = PromptReason::Called { line, call };
                    commands.push(Included { document: command, reason, text });
                }
            }
        }
        Ok(self.without_hidden(task, output))
    }

    /// Reports the problems of the fields of the files that are used, as `lint` does.
    fn note_fields<'d>(&mut self, used: impl Iterator<Item = &'d TaskDocument>) {
        let selected: BTreeSet<&str> = self.selectors.iter().map(|(key, _)| key).collect();
        for document in used {
            let found = check::field_problems(document, &selected);
            self.expander.notes.extend_new(found);
        }
    }

    /// Reports unused parameters, which are usually misspelled.
    fn note_unused(&mut self) {
        let used = &self.expander.used;
        let unused = self.request.parameters.iter().map(|(name, _)| name);
        let unused: Vec<&str> = unused.filter(|name| !used.contains(*name)).collect();
        for name in unused {
            let source = Arc::new(Source::new("(the command line)", format!("-p {name}")));
            let message = format!("the parameter `{name}` is never used");
            let broken = rules::tasks::UNUSED_PARAMETER;
            let note = Diagnostic::new(broken, &source, Span::default(), message);
            let missing = self.expander.notes.missing_parameters();
            let near = near_miss::find_nearest(name, &missing);
            let help = match near {
                Some(near) => format!("did you mean `-p {near}=…`?"),
                None => format!("no text contains `${{{name}}}`"),
            };
            self.expander.notes.extend(vec![note.with_help(help)]);
        }
    }

    /// Reports hidden text in what goes into the prompt, wherever it came from, and leaves it out if so asked.
    fn without_hidden(&mut self, document: &TaskDocument, text: Vec<u8>) -> Vec<u8> {
        let Some(found) = HiddenText::find(&String::from_utf8_lossy(&text)) else { return text };
        let clean = match self.request.hidden {
            HiddenInPrompt::LeftOut => hidden::without_message(&text),
            HiddenInPrompt::Kept => None,
        };
        let end = if clean.is_some() { "; it is removed from the prompt" } else { "" };
        let message = || format!("in its text, {}{end}", found.message());
        let broken = rules::tasks::HIDDEN_CHARACTER;
        self.expander.notes.warn(document, Span::default(), broken, b"", message);
        clean.unwrap_or(text)
    }
}

/// The result of a script: its rule must be read again after it ran.
enum ScriptRan {
    Yes,
    No,
}

fn without_last_break(text: &[u8]) -> &[u8] {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    text.strip_suffix(b"\r").unwrap_or(text)
}
