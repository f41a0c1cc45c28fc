//! Commands outside the agent file: files, folders, and remote texts.
//!
//! A file is read if it is in the project (or in the agent's own directory, without a project) and
//! its name is not sensitive. This module fetches nothing: a remote command is only named, and its
//! text counts when the caller supplies it with the recorded hash.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_syntax::front_matter::FrontMatter;
use brief_syntax::markdown::{BlockKind, decoded_destination, parse_blocks};
use brief_syntax::yaml::Value as Yaml;
use brief_syntax::{Diagnostic, Root, Source, Span, limits, rules};
use brief_system::hash::sha256;
use brief_system::{Dir, FileKind, ReadError, Resolved, System, render_io_error};

use super::header::{self, CommandEntry};
use super::model::{Agent, Command, CommandOrigin, Hint, Remote, RemoteState};
use super::notes::AgentNotes;
use brief_safety::sensitive;

/// The text of a remote command, with the record of its download.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// The address, as written in the agent: of the file, or of the folder that it is in.
    pub entry: String,
    /// The address of the file.
    pub url: String,
    /// The SHA-256 of the bytes that the user accepted, in lower-case hexadecimal digits.
    pub sha256: String,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The place that they come from.
    pub state: RemoteState,
}

/// The directories that commands are read from.
pub(super) struct CommandBase<'p> {
    pub(super) system: &'p dyn System,
    /// The directory of the agent, without links.
    pub(super) directory: PathBuf,
    /// The directory that no path may leave, without links.
    pub(super) root: PathBuf,
    pub(super) fetched: &'p [Fetched],
}

/// Reads the commands of the entries, in order.
pub(super) fn read_commands(
    place: &CommandBase<'_>,
    entries: Vec<CommandEntry>,
    agent: &mut Agent,
    notes: &mut AgentNotes<'_>,
) {
    let (found, unresolved) = (Vec::new(), Vec::new());
    let mut loading = CommandReader { place, notes, found, unresolved, left: limits::PROMPT_BYTES };
    for entry in entries {
        match entry {
            CommandEntry::Inline(command) => loading.found.push(command),
            CommandEntry::Path { path, span } => loading.read_path(&path, span),
            CommandEntry::Remote(remote) => loading.record_remote(remote),
        }
        if loading.found.len() > limits::AGENT_COMMANDS {
            let span = loading.found.pop().map_or(Span::empty_at(0), |command| command.span);
            loading.found.truncate(limits::AGENT_COMMANDS);
            let message = format!("the agent has more than {} commands", limits::AGENT_COMMANDS);
            loading.notes.report(
                rules::agent_file::TOO_MANY_COMMANDS,
                span,
                message,
                "remove some",
            );
            break;
        }
    }
    let CommandReader { found, unresolved, .. } = loading;
    report_duplicates(&found, notes);
    (agent.commands, agent.unresolved) = (found, unresolved);
}

/// Y38: reports duplicate names, because a call would be ambiguous.
fn report_duplicates(commands: &[Command], notes: &mut AgentNotes<'_>) {
    let mut names: BTreeMap<String, &Command> = BTreeMap::new();
    for command in commands {
        match names.get(&command.name.to_lowercase()) {
            None => {
                names.insert(command.name.to_lowercase(), command);
            }
            Some(first) => {
                let line = notes.source.line_number(first.span.start);
                let message = format!(
                    "duplicate command `{}`: the other one comes from line {line}",
                    command.name
                );
                notes.report(
                    rules::agent_file::COMMAND_DUPLICATE,
                    command.span,
                    message,
                    "rename one",
                );
            }
        }
    }
}

struct CommandReader<'l, 'p, 'n> {
    place: &'l CommandBase<'p>,
    notes: &'l mut AgentNotes<'n>,
    found: Vec<Command>,
    unresolved: Vec<Remote>,
    /// The number of bytes that may still be read.
    left: usize,
}

impl CommandReader<'_, '_, '_> {
    fn report_path_error(&mut self, span: Span, message: String, help: &str) {
        self.notes.report(rules::agent_file::COMMAND_PATH, span, message, help);
    }

    /// Y35: reads a path, relative to the agent's directory.
    fn read_path(&mut self, written: &str, span: Span) {
        let place = self.place;
        let resolved = place.system.resolve(&place.directory.join(written));
        let Resolved { path, kind } = match resolved {
            Ok(resolved) => resolved,
            Err(error) => {
                let message =
                    format!("cannot read the command `{written}`: {}", render_io_error(&error));
                return self.report_path_error(
                    span,
                    message,
                    "paths are relative to the directory of the agent file",
                );
            }
        };
        let Ok(inside) = path.strip_prefix(&place.root) else {
            let message = format!("the command `{written}` is outside the project");
            return self.report_path_error(span, message, "move it into the project");
        };
        if self.is_secret(written, inside, span) {
            return;
        }
        match kind {
            FileKind::File => self.read_file(written, inside, span),
            FileKind::Directory => self.read_folder(written, inside, span),
            other => {
                let message = format!("the command `{written}` is {}", other.noun());
                self.report_path_error(span, message, "write the path of a file or a directory");
            }
        }
    }

    /// Refuses a file or folder whose name is sensitive.
    fn is_secret(&mut self, written: &str, inside: &Path, span: Span) -> bool {
        let Some(found) = sensitive::find_sensitive_pattern(&inside.to_string_lossy()) else {
            return false;
        };
        let message = format!(
            "brief never reads the command `{written}`: names like `{}` suggest secrets",
            found.pattern
        );
        self.report_path_error(span, message, "rename it if it contains no secret");
        true
    }

    /// Opens a directory of the root. Its path has no links: a link now was put there in between.
    fn open_directory(&self, inside: &Path) -> std::io::Result<Box<dyn Dir>> {
        let top = self.place.system.open_dir(&self.place.root)?;
        if inside.as_os_str().is_empty() { Ok(top) } else { top.open_dir_below(inside) }
    }

    fn read_file(&mut self, written: &str, inside: &Path, span: Span) {
        let directory = inside.parent().unwrap_or(Path::new(""));
        let name = inside.file_name().unwrap_or_default();
        let read = self
            .open_directory(directory)
            .map_err(ReadError::from)
            .and_then(|handle| handle.read(name, limits::FILE_BYTES));
        match read {
            Ok(bytes) => self.add_file(self.place.root.join(inside), bytes, span),
            Err(error) => {
                let message = format!("cannot read the command `{written}`: {error}");
                self.report_path_error(span, message, "make it a regular file of at most 1 MiB");
            }
        }
    }

    /// Reads every `*.md` directly in a folder, by name.
    fn read_folder(&mut self, written: &str, inside: &Path, span: Span) {
        let most = limits::HOSTED_ENTRIES;
        let listed = Root::open(self.place.system, &self.place.root).and_then(|root| {
            let handle = self.open_directory(inside)?;
            let entries = handle.first_entries(most + 1)?;
            Ok((root, handle, entries))
        });
        let (root, handle, mut entries) = match listed {
            Ok(listed) => listed,
            Err(error) => {
                let message =
                    format!("cannot read the directory `{written}`: {}", render_io_error(&error));
                return self.report_path_error(span, message, "grant yourself read permission");
            }
        };
        if entries.len() > most {
            let message = format!("the directory `{written}` has more than {most} files");
            return self.report_path_error(span, message, "list single files instead");
        }
        entries.sort_unstable();
        let is_command = |name: &str| {
            name.len() > 3
                && !name.starts_with('.')
                && Path::new(name).extension() == Some(OsStr::new("md"))
        };
        for entry in entries.iter().filter(|entry| entry.kind != FileKind::Directory) {
            let Some(name) = entry.name.to_str().filter(|name| is_command(name)) else { continue };
            let path = inside.join(name);
            let shown = format!("{}/{name}", written.trim_end_matches('/'));
            if self.is_secret(&shown, &path, span) {
                continue;
            }
            match root.read_in(self.place.system, handle.as_ref(), inside, name) {
                Ok(bytes) => self.add_file(self.place.root.join(path), bytes, span),
                Err(error) => {
                    let message = format!("cannot read the command `{shown}`: {error}");
                    self.report_path_error(
                        span,
                        message,
                        "make it a regular file of at most 1 MiB",
                    );
                }
            }
            if self.found.len() > limits::AGENT_COMMANDS {
                return;
            }
        }
    }

    fn add_file(&mut self, path: PathBuf, bytes: Vec<u8>, span: Span) {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let source = Source::from_bytes(path.clone(), bytes);
        self.add_command(source, stem, CommandOrigin::File(path), span);
    }

    /// Adds the command in a text, if it fits.
    fn add_command(&mut self, source: Source, name: String, origin: CommandOrigin, span: Span) {
        let Some(left) = self.left.checked_sub(source.bytes_from_line(0).len()) else {
            let limit = limits::PROMPT_BYTES;
            let message = format!("the commands of the agent exceed {limit} bytes in total");
            return self.notes.report(
                rules::agent_file::TOO_MANY_COMMANDS,
                span,
                message,
                "remove some",
            );
        };
        self.left = left;
        let list = &mut self.notes.list;
        self.found.extend(command_of(&Arc::new(source), name, origin, span, list));
    }

    /// Y36: records a remote command, which is never fetched here. A folder has the files that were supplied for it.
    fn record_remote(&mut self, remote: Remote) {
        let place = self.place;
        let mut fetched =
            place.fetched.iter().filter(|fetched| fetched.entry == remote.url).peekable();
        if fetched.peek().is_none() {
            let message = format!("the command at {} is not fetched", remote.url);
            let help =
                "run with `--fetch` to fetch it over `https`, or over `http` from this machine";
            self.notes.report(
                rules::agent_file::COMMAND_REMOTE_UNRESOLVED,
                remote.span,
                message,
                help,
            );
            self.unresolved.push(remote);
            return;
        }
        for fetched in fetched {
            if self.found.len() > limits::AGENT_COMMANDS {
                return;
            }
            self.add_fetched(&remote, fetched);
        }
    }

    fn add_fetched(&mut self, remote: &Remote, fetched: &Fetched) {
        let (url, span) = (&fetched.url, remote.span);
        if !sha256(&fetched.bytes).eq_ignore_ascii_case(&fetched.sha256) {
            let message = format!("the command at {url} differs from the recorded one");
            let help = "review the change, then record it again";
            self.notes.report(rules::agent_file::COMMAND_REMOTE_CHANGED, span, message, help);
            return;
        }
        let address = url.split(['?', '#']).next().unwrap_or_default();
        let last = address.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let name = decoded_destination(last.strip_suffix(".md").unwrap_or(last));
        let source = Source::from_bytes(url, fetched.bytes.clone());
        let origin = CommandOrigin::Remote(Remote { url: url.clone(), span, state: fetched.state });
        self.add_command(source, name, origin, span);
    }
}

/// Parses a file as a command: its front matter as properties, the rest as its text.
fn command_of(
    source: &Arc<Source>,
    name: String,
    origin: CommandOrigin,
    span: Span,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Command> {
    let mut notes = AgentNotes::new(source);
    let mut front = FrontMatter::from_source(source);
    notes.list.extend(front.diagnostics.drain(..).map(|found| {
        let rule = match found.rule {
            rules::FRONTMATTER_REPAIRED => rules::agent_file::FRONTMATTER_REPAIRED,
            rules::text::NOT_UTF8 => rules::agent_file::NOT_UTF8,
            rules::FRONTMATTER_UNCLOSED => rules::agent_file::HEADER_UNCLOSED,
            _ => rules::agent_file::INVALID_YAML,
        };
        found.with_rule(rule)
    }));
    let root = front.header.as_ref().and_then(|header| header.yaml.root());
    let (mut description, mut hint) = (None, Hint::None);
    if let Some(Yaml::Mapping(mapping)) = root.map(brief_syntax::yaml::Node::value) {
        for field in mapping.effective_fields() {
            match field.name().to_ascii_lowercase().as_str() {
                "description" => {
                    description = header::text_of(&mut notes, "description", field.value);
                }
                "argument-hint" => hint = header::hint_of(&mut notes, field.value),
                _ => {}
            }
        }
    }
    let text = source.text().get(front.body_start..).unwrap_or_default();
    let first = || {
        parse_blocks(text).into_iter().find_map(|block| match block.kind {
            BlockKind::Paragraph { text } if !text.is_empty() => Some(text),
            _ => None,
        })
    };
    let description = description.map(|given| given.text).or_else(first).unwrap_or_default();
    let body = text.trim_matches(['\n', '\r']).to_owned();
    let is_empty = body.trim().is_empty();
    if is_empty {
        let place = Span::empty_at(front.body_start);
        notes.report(
            rules::agent_file::COMMAND_FIELD,
            place,
            "the command has no text",
            "write its instructions",
        );
    }
    diagnostics.append(&mut notes.list);
    (!is_empty).then_some(Command { name, description, hint, body, origin, span })
}
