//! The expansion of texts: values, outputs and files.

use std::borrow::Cow;
use std::collections::BTreeSet;
#[cfg(unix)]
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use brief_syntax::shell;
use brief_syntax::{Rule, Span, limits, rules};
use brief_system::paths::clean_path;
use brief_system::{FileKind, ReadError, System};

use super::expand::{self, PlacedPart, TextPart};
use super::model::{Author, TaskDocument};
use super::notes::Notes;
use super::parameters::{Parameters, environment_name};
use super::prompt::TaskError;
use super::runner::{CommandRunner, NotRun, PromptCommand};
use super::slash::CallArguments;
use brief_safety::sensitive::{self, Leaf};

/// Expands the texts of one prompt.
pub(super) struct Expander<'e> {
    pub(super) system: &'e dyn System,
    /// The base of relative paths.
    pub(super) directory: &'e Path,
    /// The project's root: texts of the project read nothing outside.
    pub(super) project: &'e Path,
    pub(super) parameters: &'e Parameters,
    pub(super) runner: &'e mut dyn CommandRunner,
    /// The number of bytes by which the prompt may still grow.
    pub(super) room: usize,
    /// The paths that do not exist, until a command may have created them.
    pub(super) missing: BTreeSet<PathBuf>,
    /// The parameters used so far.
    pub(super) used: BTreeSet<String>,
    pub(super) notes: Notes,
}

/// The reason why a file is not included.
enum NotRead {
    Missing,
    Refused(Rule, String),
}

impl NotRead {
    fn outside_project() -> NotRead {
        let problem = "is outside the project; only your own tasks and rules can read it";
        NotRead::Refused(rules::tasks::OUTSIDE_PROJECT, problem.to_owned())
    }

    fn of_system(directory: &str) -> NotRead {
        let problem = format!("brief never reads system files in `{directory}`");
        NotRead::Refused(rules::tasks::SYSTEM_FILE, problem)
    }

    fn unreadable_file(problem: String) -> NotRead {
        NotRead::Refused(rules::tasks::UNREADABLE_FILE, problem)
    }
}

impl Expander<'_> {
    /// Reserves room for a text.
    pub(super) fn reserve_bytes(&mut self, length: usize) -> Result<(), TaskError> {
        match self.room.checked_sub(length) {
            Some(room) => {
                self.room = room;
                Ok(())
            }
            None => Err(TaskError::TooLarge { limit: limits::PROMPT_BYTES }),
        }
    }

    /// Appends `text`, which begins at `offset` of the document's body, to `output`.
    pub(super) fn expand_text(
        &mut self,
        document: &TaskDocument,
        (offset, text): (usize, &[u8]),
        arguments: Option<&CallArguments>,
        output: &mut Vec<u8>,
    ) -> Result<(), TaskError> {
        if !document.expands_body() {
            // The reader of the text expands it.
            for placed in expand::split_text_parts(text) {
                if let TextPart::Parameter { name } = placed.part {
                    let name = str::from_utf8(name).unwrap_or_default();
                    self.used.extend(self.parameters.find(name).map(|(key, _)| key.to_owned()));
                }
            }
            self.reserve_bytes(text.len())?;
            output.extend_from_slice(text);
            return Ok(());
        }
        for placed in expand::split_text_parts(text) {
            let span = || document.body_span(offset + placed.offset, placed.whole.len());
            let before = output.len();
            match placed.part {
                TextPart::Text(text) => output.extend_from_slice(text),
                TextPart::Parameter { name } => {
                    let value = str::from_utf8(name).ok().and_then(|name| {
                        let argument = arguments.and_then(|arguments| arguments.get(name));
                        argument.or_else(|| {
                            let (key, value) = self.parameters.find(name)?;
                            self.used.insert(key.to_owned());
                            Some(value)
                        })
                    });
                    match value {
                        Some(value) => output.extend_from_slice(value),
                        None => {
                            self.report_missing(document, span(), name);
                            output.extend_from_slice(placed.whole);
                        }
                    }
                }
                TextPart::Command { command } => {
                    match self.run_command(document, span(), command)? {
                        Some(written) => output.extend_from_slice(&written),
                        None => output.extend_from_slice(placed.whole),
                    }
                }
                TextPart::Path { path } => {
                    self.put_file(document, span(), path, &placed, output);
                }
            }
            self.reserve_bytes(output.len() - before)?;
        }
        Ok(())
    }

    fn run_command(
        &mut self,
        document: &TaskDocument,
        span: Span,
        command: &[u8],
    ) -> Result<Option<Vec<u8>>, TaskError> {
        let line = document.source.line_number(span.start);
        let parameters = self.parameters;
        self.look_for_parameters(document, span, command);
        let outcome = self.runner.run_prompt_command(&PromptCommand {
            text: command,
            document,
            line,
            parameters,
        });
        self.missing.clear();
        let shown = String::from_utf8_lossy(command);
        match outcome {
            Ok(written) => return Ok(Some(written)),
            Err(NotRun::Off) => {}
            Err(NotRun::Interrupted) => return Err(TaskError::Interrupted),
            Err(reason @ (NotRun::Untrusted | NotRun::Denied)) => {
                let (problem, help) = not_allowed(&reason, document.path());
                let message = || format!("the command `{shown}` was not run: {problem}");
                let note =
                    self.notes.warn(document, span, rules::tasks::UNTRUSTED, command, message);
                if let Some(note) = note {
                    note.help = Some(help);
                }
            }
            Err(NotRun::Failed(problem)) => {
                let message = || format!("the command `{shown}` stays as written: {problem}");
                self.notes.warn(document, span, rules::tasks::COMMAND_FAILED, command, message);
            }
        }
        Ok(None)
    }

    /// Warns of `${name}` in a command: parameters are in its environment, never in its text, so
    /// the shell reads an unset variable.
    fn look_for_parameters(&mut self, document: &TaskDocument, span: Span, command: &[u8]) {
        let text = String::from_utf8_lossy(command);
        for (key, _) in self.parameters.iter() {
            if text.contains(&environment_name(key)) {
                self.used.insert(key.to_owned());
            }
        }
        for name in braced_names(&text) {
            let parameter = self.parameters.find(name).map(|(key, _)| key.to_owned());
            // A variable that the command sets itself is fine.
            let is_ours = self.system.env(name).is_some();
            let is_set = is_ours && self.runner.passes_variable(name) || is_set_in(&text, name);
            if parameter.is_none() && is_set {
                continue;
            }
            let rule = rules::tasks::PARAMETER_IN_COMMAND;
            let message =
                || format!("`${{{name}}}` in a command is a shell variable, which has no value");
            let note = self.notes.warn(document, span, rule, name.as_bytes(), message);
            if let Some(note) = note {
                note.help = Some(if is_ours && parameter.is_none() {
                    format!("run with `--env {name}` to pass it to commands")
                } else {
                    let variable = environment_name(parameter.as_deref().unwrap_or(name));
                    format!("use a parameter as `\"${variable}\"`")
                });
            }
            self.used.extend(parameter);
        }
    }

    fn put_file(
        &mut self,
        document: &TaskDocument,
        span: Span,
        word: &[u8],
        placed: &PlacedPart<'_>,
        output: &mut Vec<u8>,
    ) {
        let (mut rule, mut problem) = (rules::tasks::MISSING_FILE, "file not found".to_owned());
        for (path, length) in expand::possible_paths(word) {
            match self.read_path(&path, document.author) {
                Ok(content) => {
                    output.extend_from_slice(&content);
                    output.extend_from_slice(&word[length..]);
                    return;
                }
                Err(NotRead::Missing) => {}
                Err(NotRead::Refused(broken, reason)) => {
                    (rule, problem) = (broken, reason);
                    break;
                }
            }
        }
        output.extend_from_slice(placed.whole);
        let message =
            || format!("`@{}` stays as written: {problem}", String::from_utf8_lossy(word));
        self.notes.warn(document, span, rule, word, message);
    }

    fn report_missing(&mut self, document: &TaskDocument, span: Span, name: &[u8]) {
        let shown = String::from_utf8_lossy(name);
        let message =
            || format!("`${{{shown}}}` stays as written: no parameter `{shown}` was given");
        self.notes.warn(document, span, rules::tasks::MISSING_PARAMETER, name, message);
    }

    fn read_path(&mut self, path: &[u8], author: Author) -> Result<Vec<u8>, NotRead> {
        if path.contains(&0) {
            return Err(NotRead::Missing);
        }
        let path = self.directory.join(native_path(path));
        if self.missing.contains(&path) {
            return Err(NotRead::Missing);
        }
        // The path itself is checked first: the target of a system path must not be revealed.
        if let Some(directory) = system_directory(&path, self.project) {
            return Err(NotRead::of_system(directory));
        }
        let Ok(resolved) = self.system.resolve(&path) else {
            // The existence of files outside is not revealed.
            let boundary = self.boundary(author);
            if boundary.is_some_and(|boundary| !clean_path(&path).starts_with(boundary)) {
                return Err(NotRead::outside_project());
            }
            self.missing.insert(path);
            return Err(NotRead::Missing);
        };
        if let Some(directory) = system_directory(&resolved.path, self.project) {
            return Err(NotRead::of_system(directory));
        }
        for path in [&path, &resolved.path] {
            if let Some(pattern) = sensitive_pattern(path, self.directory) {
                let problem = format!("such files hold secrets and are never read (`{pattern}`)");
                return Err(NotRead::Refused(rules::tasks::SENSITIVE_FILE, problem));
            }
        }
        let read = match self.boundary(author) {
            None => self.system.read(&resolved.path, limits::FILE_BYTES),
            Some(boundary) => {
                let Ok(inside) = resolved.path.strip_prefix(boundary) else {
                    return Err(NotRead::outside_project());
                };
                if resolved.kind == FileKind::Directory {
                    return Err(NotRead::unreadable_file("is a directory".to_owned()));
                }
                // The path has no links: a link now was put there in between.
                let top = self.system.open_dir(boundary).map_err(ReadError::from);
                top.and_then(|top| top.read_below(inside, limits::FILE_BYTES))
            }
        };
        read.map_err(|error| match error {
            ReadError::Missing => NotRead::Missing,
            other => NotRead::unreadable_file(other.to_string()),
        })
    }

    /// Returns the directory outside of which texts of an author read nothing.
    fn boundary(&self, author: Author) -> Option<&Path> {
        match author {
            Author::User => None,
            Author::Project => Some(self.project),
            Author::Remote => Some(self.directory),
        }
    }
}

/// Virtual directories of the system: they reveal processes, their environment included, and
/// devices.
const OF_THE_SYSTEM: [&str; 3] = ["/proc", "/sys", "/dev"];

/// The directory of shared memory, which has ordinary files and possibly the project.
const SHARED_MEMORY: &str = "/dev/shm";

/// Returns the system directory that a path is in.
fn system_directory(path: &Path, project: &Path) -> Option<&'static str> {
    let path = clean_path(path);
    if project.starts_with(SHARED_MEMORY) && path.starts_with(project) {
        return None;
    }
    OF_THE_SYSTEM.into_iter().find(|directory| path.starts_with(directory))
}

/// Returns the names in `${name}`, without other parameter expansions of the shell.
fn braced_names(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("${").filter_map(|(at, _)| {
        let inner = &text[at + 2..];
        let name = &inner[..inner.find('}')?];
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        (!name.is_empty() && name.bytes().all(is_letter)).then_some(name)
    })
}

/// Returns whether a command sets a variable: `name=`, `for name in`, `read name`.
fn is_set_in(text: &str, name: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        !before.ends_with(|letter: char| is_letter(letter) || letter == '{' || letter == '$')
            && !after.starts_with(is_letter)
    })
}

/// Returns the reason why content does not run, and the advice.
pub(super) fn not_allowed(reason: &NotRun, path: &Path) -> (&'static str, String) {
    let path = path.display().to_string();
    let quoted = shell::quote_shell_word(&path);
    match reason {
        NotRun::Denied => (
            "you have denied its content",
            format!("run `brief trust --remove {quoted}` to undo that"),
        ),
        _ => (
            "comes from a remote directory and is not trusted",
            format!("read it, then run `brief trust {quoted}`"),
        ),
    }
}

/// Returns the sensitive-name pattern for a path. Directories above the project do not count; those
/// in it, and all of a path elsewhere, do.
pub(super) fn sensitive_pattern(path: &Path, directory: &Path) -> Option<&'static str> {
    let found = match path.strip_prefix(directory) {
        Ok(inside) => sensitive::find_below(
            &directory.to_string_lossy(),
            &inside.to_string_lossy(),
            Leaf::File,
        ),
        Err(_) => sensitive::find_sensitive_pattern(&path.to_string_lossy()),
    };
    found.map(|found| found.pattern)
}

/// Converts bytes to a path; where paths are text, invalid UTF-8 names no file.
fn native_path(path: &[u8]) -> Cow<'_, Path> {
    #[cfg(unix)]
    return Cow::Borrowed(Path::new(<OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(path)));
    #[cfg(not(unix))]
    return Cow::Owned(PathBuf::from(String::from_utf8_lossy(path).into_owned()));
}
