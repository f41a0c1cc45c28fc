//! The loader of agent files: one by path, or all of a project and of the home directory.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_profiles::{BUILTIN, Form};
use brief_syntax::walk::{self, Ignored, Visit};
use brief_syntax::{
    Diagnostic, Root, Severity, Source, Span, Target, TargetKind, diagnostic, rules,
};
use brief_system::{Below, FileKind, System, home_directory};

use super::commands::{self, CommandBase, Fetched};
use super::model::{Agent, DIRECTORY, SUFFIX};
use super::notes::AgentNotes;
use super::{check, parse};
use crate::agent_format::{self, AgentFormat};
use crate::is_in_dependency;

/// The directories of a home directory that are searched, without subdirectories.
const AT_HOME: [&str; 2] = [DIRECTORY, ".agents/agents"];

/// The limit of problems reported for one file.
const REPORTED_PER_FILE: usize = 1_000;

/// The inputs for reading an agent.
#[derive(Debug, Clone, Copy, Default)]
pub struct AgentOptions<'o> {
    /// The project: commands are read only from inside it. An agent outside it, or without a
    /// project, has the directory above its `agents` directory instead.
    pub root: Option<&'o Path>,
    pub fetched: &'o [Fetched],
}

#[derive(Debug)]
pub struct Loaded {
    path: PathBuf,
    agent: Option<Agent>,
    diagnostics: Vec<Diagnostic>,
}

impl Loaded {
    /// Returns the file, absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the agent; `None` if it has errors, because such an agent must not run (A82).
    pub fn agent(&self) -> Option<&Agent> {
        self.agent.as_ref().filter(|_| self.is_valid())
    }

    /// Returns whether it has no errors.
    pub fn is_valid(&self) -> bool {
        self.diagnostics.iter().all(|found| found.severity != Severity::Error)
    }

    /// Returns the diagnostics, by place.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
}

/// Reads the agent file at a path that the user named, and its commands.
pub fn load_agent(system: &dyn System, path: &Path, options: &AgentOptions<'_>) -> Loaded {
    let absolute = resolve_agent_path(system, path);
    match system.read(&absolute, brief_syntax::limits::FILE_BYTES) {
        Ok(bytes) => {
            let source = Arc::new(Source::from_bytes(absolute, bytes));
            match agent_format::other_format(&source) {
                None => load_text(system, &source, options),
                Some(other) => {
                    Loaded { path: source.path().to_owned(), agent: None, diagnostics: vec![other] }
                }
            }
        }
        Err(error) => unreadable_agent(absolute, &error.to_string()),
    }
}

/// Resolves the links of the directory, but not of the file, which keeps the typed name.
fn resolve_agent_path(system: &dyn System, path: &Path) -> PathBuf {
    let directory = system.current_dir().unwrap_or_default();
    let joined: PathBuf = directory.join(path).components().collect();
    match (joined.parent().map(|parent| system.resolve_dir(parent)), joined.file_name()) {
        (Some(Ok(parent)), Some(name)) => parent.join(name),
        _ => joined,
    }
}

/// Reads a text in place of the file at its path, such as an unsaved buffer.
pub fn load_text(system: &dyn System, source: &Arc<Source>, options: &AgentOptions<'_>) -> Loaded {
    let mut parsed = parse::parse_agent(source);
    let mut notes = AgentNotes::new(source);
    notes.list = std::mem::take(&mut parsed.diagnostics);
    let entries = std::mem::take(&mut parsed.entries);
    commands::read_commands(
        &resolve_command_base(system, source.path(), options),
        entries,
        &mut parsed.agent,
        &mut notes,
    );
    check::check_agent(&parsed, &mut notes);
    let diagnostics = limit_diagnostics(notes.list, source);
    Loaded { path: source.path().to_owned(), agent: Some(parsed.agent), diagnostics }
}

/// Sorts by place, and limits a very long list, errors before warnings.
fn limit_diagnostics(mut diagnostics: Vec<Diagnostic>, source: &Arc<Source>) -> Vec<Diagnostic> {
    diagnostic::sort_diagnostics(&mut diagnostics);
    if diagnostics.len() > REPORTED_PER_FILE {
        diagnostics.sort_by_key(|found| found.severity);
        diagnostics.truncate(REPORTED_PER_FILE);
        let message = format!("only the first {REPORTED_PER_FILE} problems of this file are shown");
        let note = Diagnostic::new(
            rules::agent_file::TOO_MANY_PROBLEMS,
            source,
            Span::empty_at(0),
            message,
        );
        diagnostics.push(note.with_help("fix these first"));
        diagnostic::sort_diagnostics(&mut diagnostics);
    }
    diagnostics
}

fn unreadable_agent(path: PathBuf, error: &str) -> Loaded {
    let source = Arc::new(Source::without_text(&path));
    let message = format!("cannot read the agent: {error}");
    let diagnostic =
        Diagnostic::new(rules::agent_file::UNREADABLE, &source, Span::empty_at(0), message)
            .with_help("make it a regular file of at most 1 MiB that you can read");
    Loaded { path, agent: None, diagnostics: vec![diagnostic] }
}

/// Finds the base and the boundary of an agent's commands.
fn resolve_command_base<'p>(
    system: &'p dyn System,
    path: &Path,
    options: &AgentOptions<'p>,
) -> CommandBase<'p> {
    let written = path.parent().unwrap_or(Path::new("/"));
    let directory = system.resolve_dir(written).unwrap_or_else(|_| written.to_owned());
    let project = options.root.and_then(|root| system.resolve_dir(root).ok());
    let root = project.filter(|root| directory.starts_with(root)).unwrap_or_else(|| {
        let is_agents = directory.file_name().is_some_and(|name| name == DIRECTORY);
        let above = directory.parent().filter(|_| is_agents);
        above.unwrap_or(&directory).to_owned()
    });
    CommandBase { system, directory, root, fetched: options.fetched }
}

/// The owner of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentOwner {
    Project,
    Home,
}

impl AgentOwner {
    /// Returns the owner's name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            AgentOwner::Project => "project",
            AgentOwner::Home => "home",
        }
    }
}

/// Reads every agent of a project, by path, and then those of the home directory.
///
/// Files that are in both count as the project's.
pub fn list_agents(system: &dyn System, root: &Root) -> Vec<(AgentOwner, Loaded)> {
    let mut found = Vec::new();
    let top = Target::from_slashed("", TargetKind::Directory);
    walk::whole_except(system, root, &top, Ignored::Skip, &is_in_dependency, &mut |visit| {
        found.extend(in_directory(visit).into_iter().map(|loaded| (AgentOwner::Project, loaded)));
    });
    found.sort_by(|(_, left), (_, right)| left.path.cmp(&right.path));
    found.extend(at_home(system, root.path()).into_iter().map(|loaded| (AgentOwner::Home, loaded)));
    found
}

/// Reads the agents of the home directory, by path, except those in the project.
pub(super) fn at_home(system: &dyn System, project: &Path) -> Vec<Loaded> {
    let Some(home) = home_directory(system) else { return Vec::new() };
    let mut found = Vec::new();
    for directory in AT_HOME {
        if system.probe_path(&home.join(directory)) != Below::Missing {
            found.extend(in_agents_directory(system, &home, Path::new(directory)));
        }
    }
    found.retain(|loaded: &Loaded| !loaded.path.starts_with(project));
    found.sort_by(|left, right| left.path.cmp(&right.path));
    found
}

/// Reads the agents of one directory below a root.
pub(super) fn in_agents_directory(system: &dyn System, root: &Path, below: &Path) -> Vec<Loaded> {
    let Ok(root) = Root::open(system, root) else { return Vec::new() };
    let names = below.iter().map(OsStr::to_owned).collect();
    let target = Target::from_names(names, TargetKind::Directory);
    let mut found = Vec::new();
    walk::walk_along(system, &root, &target, &mut |visit| {
        if visit.slashed() == target.slashed() && is_agents_directory(visit.slashed()) {
            found = in_listed(visit);
        }
    });
    found
}

/// Returns whether a directory of a project, with `/` between names, is for agent files.
fn is_agents_directory(slashed: &str) -> bool {
    slashed.rsplit('/').next() == Some(DIRECTORY) && !slashed.split('/').any(is_of_client)
}

/// Returns whether a client keeps its own agents below a directory of this name: they have the same suffix. `.agents` is
/// nobody's own.
fn is_of_client(name: &str) -> bool {
    if name == ".agents" {
        return false;
    }
    let mut places = BUILTIN.project.iter().filter(|place| place.form == Form::Agent);
    name.starts_with('.') && places.any(|place| place.first_name() == name)
}

/// Reads the agents of a directory during a walk over the whole project.
pub(super) fn in_directory(visit: &Visit<'_>) -> Vec<Loaded> {
    let is_top = visit.slashed().is_empty()
        && visit.root().file_name().is_some_and(|name| name == DIRECTORY);
    if !is_top && !is_agents_directory(visit.slashed()) {
        return Vec::new();
    }
    in_listed(visit)
}

fn in_listed(visit: &Visit<'_>) -> Vec<Loaded> {
    let listed;
    let entries = match visit.entries() {
        Some(entries) => entries,
        None => {
            let open = visit.system().open_dir(&visit.path());
            listed = open
                .and_then(|handle| handle.first_entries(brief_syntax::limits::HOSTED_ENTRIES))
                .unwrap_or_default();
            &listed
        }
    };
    let mut names: Vec<&str> = entries
        .iter()
        .filter(|entry| entry.kind != FileKind::Directory)
        .filter_map(|entry| entry.name.to_str())
        .filter(|name| name.ends_with(SUFFIX))
        .collect();
    names.sort_unstable();
    let options = AgentOptions { root: Some(visit.root()), fetched: &[] };
    let load = |name: &str| {
        let path = visit.path_of(name);
        match visit.read_file(name) {
            Ok(bytes) => {
                let source = Arc::new(Source::from_bytes(path, bytes));
                let is_ours = agent_format::format_of(&source) == AgentFormat::AgentFile;
                is_ours.then(|| load_text(visit.system(), &source, &options))
            }
            Err(error) => Some(unreadable_agent(path, &error.to_string())),
        }
    };
    names.into_iter().filter_map(load).collect()
}

/// Returns the portable agents of a project, `agents/NAME/AGENT.md`, for a hint when no agent file
/// is found.
pub fn portable_agents(system: &dyn System, root: &Root) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let top = Target::from_slashed("", TargetKind::Directory);
    walk::whole_except(system, root, &top, Ignored::Skip, &is_in_dependency, &mut |visit| {
        if visit.slashed().rsplit('/').nth(1) != Some(DIRECTORY) {
            return;
        }
        if let Ok(bytes) = visit.read_file(agent_format::PORTABLE_NAME) {
            let path = visit.path_of(agent_format::PORTABLE_NAME);
            let source = Arc::new(Source::from_bytes(path, bytes));
            if agent_format::format_of(&source) == AgentFormat::Portable {
                found.push(source.path().to_owned());
            }
        }
    });
    found
}
