//! The directories of a question: mounted, working and global, and the client context path.
//!
//! Links in the two directories are resolved once, because the user named them. Below them no link
//! is followed.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Component, Path, PathBuf, is_separator};
use std::sync::Arc;

use brief_syntax::{Diagnostic, Rule, Source, Span, limits, rules};
use brief_system::paths::clean_path;
use brief_system::{
    Below, Dir, FileKind, HeldDir, Resolved, System, home_directory, resolve_existing,
};

use super::model::HostedScope;
use super::{CLIENT_PATH_VARIABLE, DEFAULT_CLIENT_PATH, GLOBAL_PATH_VARIABLE, Query};
use crate::moment::DEPENDENCIES;

pub(super) struct HostedPlace {
    /// Files of the project are read only below this directory.
    pub(super) mounted: PathBuf,
    pub(super) working: PathBuf,
    /// The file of the question, unless it is a directory.
    pub(super) target: Option<PathBuf>,
}

impl HostedPlace {
    /// Finds the directories, and opens the mounted one unless the caller holds it open as `top`.
    pub(super) fn from_query<'t>(
        system: &dyn System,
        query: &Query<'_>,
        top: Option<&'t dyn Dir>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> (HostedPlace, Option<HeldDir<'t>>) {
        let named = absolute_path(system, query.mounted);
        let opened = match top {
            Some(top) => Ok((HeldDir::Shared(top), named.clone())),
            None => system.open_root(&named).map(|(root, path)| (HeldDir::Own(root), path)),
        };
        let (root, mounted) = match opened {
            Ok((root, path)) => (Some(root), path),
            Err(error) => {
                let path = resolve_existing(system, &named).path;
                let message = format!("cannot read the workspace: {error}");
                diagnostics.push(path_diagnostic(&path, rules::context_dir::UNREADABLE, message));
                (None, path)
            }
        };
        let path = absolute_path(system, query.path);
        let (working, target) = root
            .as_ref()
            .and_then(|root| find_below(root.get(), &named, &mounted, &path))
            .unwrap_or_else(|| find_anywhere(system, &path));
        if working.starts_with(&mounted) {
            return (HostedPlace { mounted, working, target }, root);
        }
        let message = format!(
            "this is outside the workspace {}, so brief treats it as its own workspace",
            mounted.display()
        );
        diagnostics.push(path_diagnostic(
            &working,
            rules::context_dir::CWD_OUTSIDE_WORKSPACE,
            message,
        ));
        let root = system.open_dir(&working).ok().map(HeldDir::Own);
        (HostedPlace { mounted: working.clone(), working, target }, root)
    }

    /// Returns the directories from the mounted to the working one, each with its scope. A very
    /// deep path is cut to the directories nearest to the working one.
    pub(super) fn collect_levels(
        &self,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Vec<(Arc<Path>, HostedScope)> {
        let above = self.working.ancestors().take_while(|path| path.starts_with(&self.mounted));
        let foreign = self.foreign_levels();
        if foreign > 0 {
            let message = "this is the code of a dependency, so its context does not apply";
            diagnostics.push(path_diagnostic(
                &self.working,
                rules::context_dir::DEPENDENCY_SKIPPED,
                message,
            ));
        }
        let mut levels: Vec<(Arc<Path>, HostedScope)> = above
            .skip(foreign)
            .take(limits::HOSTED_LEVELS)
            .map(|path| (Arc::from(path), self.scope_of(path)))
            .collect();
        levels.reverse();
        if levels.first().is_some_and(|(path, _)| **path != *self.mounted) {
            let limit = limits::HOSTED_LEVELS;
            let message =
                format!("more than {limit} directories deep; brief reads only the nearest {limit}");
            diagnostics.push(path_diagnostic(
                &self.working,
                rules::context_dir::LIMIT_DEPTH,
                message,
            ));
        }
        levels
    }

    /// Returns how many directories, from the working one up, belong to a dependency.
    fn foreign_levels(&self) -> usize {
        let below = self.working.strip_prefix(&self.mounted).unwrap_or(Path::new(""));
        let is_foreign = |name: &OsStr| DEPENDENCIES.iter().any(|dependency| name == *dependency);
        match below.iter().position(is_foreign) {
            Some(first) => below.iter().count() - first,
            None => 0,
        }
    }

    fn scope_of(&self, path: &Path) -> HostedScope {
        if path == self.working {
            HostedScope::Working
        } else if path == self.mounted {
            HostedScope::Mounted
        } else {
            HostedScope::Ancestor
        }
    }
}

/// Finds the working directory and the file below the mounted directory, if the path has no links.
fn find_below(
    root: &dyn Dir,
    named: &Path,
    mounted: &Path,
    path: &Path,
) -> Option<(PathBuf, Option<PathBuf>)> {
    let way = path.strip_prefix(named).or_else(|_| path.strip_prefix(mounted)).ok()?;
    if way.components().any(|component| !matches!(component, Component::Normal(_))) {
        return None;
    }
    let full = mounted.join(way);
    if way.as_os_str().is_empty() {
        return Some((mounted.to_owned(), None));
    }
    let ends_in_separator = path.as_os_str().to_string_lossy().ends_with(is_separator);
    match root.look_below(way) {
        Below::Directory => Some((full, None)),
        Below::Missing if ends_in_separator => Some((full, None)),
        Below::Missing | Below::NotADirectory => Some((parent_of(&full), Some(full))),
        Below::Unsure => None,
    }
}

/// Finds the working directory and the file by following every link except that of the file itself.
fn find_anywhere(system: &dyn System, path: &Path) -> (PathBuf, Option<PathBuf>) {
    let Resolved { path: resolved, kind } = resolve_existing(system, path);
    match (kind, path.file_name()) {
        (FileKind::Directory, _) => (resolved, None),
        (_, Some(name)) if resolved != path => {
            let working = resolve_existing(system, path.parent().unwrap_or(path)).path;
            let target = working.join(name);
            (working, Some(target))
        }
        _ => (parent_of(&resolved), Some(resolved)),
    }
}

fn parent_of(path: &Path) -> PathBuf {
    path.parent().unwrap_or(path).to_owned()
}

fn absolute_path(system: &dyn System, path: &Path) -> PathBuf {
    if path.is_absolute() {
        return path.to_owned();
    }
    system.current_dir().map_or_else(|_| path.to_owned(), |current| current.join(path))
}

/// Returns a diagnostic about a whole file or directory.
pub(super) fn path_diagnostic(path: &Path, rule: Rule, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(rule, &Arc::new(Source::without_text(path)), Span::empty_at(0), message)
}

/// Returns a diagnostic about a file or directory that cannot be read.
pub(super) fn unreadable_diagnostic(path: &Path, error: impl fmt::Display) -> Diagnostic {
    path_diagnostic(path, rules::context_dir::UNREADABLE, format!("cannot read this path: {error}"))
}

#[derive(Debug)]
pub(super) struct HostedEnvironment {
    /// The names of the client context path, with any leading `..`.
    pub(super) client: Vec<String>,
    /// The context directory of the user, and the directory that owns it.
    pub(super) global: Option<GlobalContext>,
    pub(super) home: Option<PathBuf>,
}

#[derive(Debug)]
pub(super) struct GlobalContext {
    /// The directory as the user named it, links included.
    pub(super) base: PathBuf,
    /// The path from there to the context directory; empty when it is the directory itself.
    pub(super) below: PathBuf,
    /// True if a variable names the location.
    pub(super) named: bool,
}

impl HostedEnvironment {
    pub(super) fn from_system(
        system: &dyn System,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> HostedEnvironment {
        let client = client_path(system, diagnostics);
        let home = home_directory(system);
        let global = global_path(system, &client, home.as_deref(), diagnostics);
        HostedEnvironment { client, global, home }
    }

    /// Returns the context directory of `owner`: a start directory without links, and the path
    /// below it.
    pub(super) fn context_of(&self, owner: &Path) -> (PathBuf, PathBuf) {
        climb_parents(owner, &self.client)
    }
}

/// Goes up for each leading `..` and returns the rest as a path.
fn climb_parents(owner: &Path, client: &[String]) -> (PathBuf, PathBuf) {
    let climbing = client.iter().take_while(|name| *name == "..").count();
    let mut base = owner.to_owned();
    for _ in 0..climbing {
        base.pop();
    }
    (base, client[climbing..].iter().collect())
}

/// Returns a diagnostic about an environment variable.
fn about_variable(name: &str, value: &OsStr, rule: Rule, message: String) -> Diagnostic {
    let text = value.to_string_lossy().into_owned();
    let span = Span::new(0, text.len());
    Diagnostic::new(rule, &Arc::new(Source::new(name, text)), span, message)
}

fn client_path(system: &dyn System, diagnostics: &mut Vec<Diagnostic>) -> Vec<String> {
    let default = || vec![DEFAULT_CLIENT_PATH.to_owned()];
    let Some(value) = system.env(CLIENT_PATH_VARIABLE) else { return default() };
    let text = value.to_string_lossy().replace('\\', "/");
    let has_drive =
        text.as_bytes().get(1) == Some(&b':') && text.as_bytes()[0].is_ascii_alphabetic();
    if text.starts_with(['/', '~']) || has_drive || Path::new(&value).is_absolute() {
        let rule = rules::context_dir::ENV_CLIENT_CONTEXT_PATH_ABSOLUTE;
        let message =
            format!("`{CLIENT_PATH_VARIABLE}` is not a relative path, so `.context` is used");
        diagnostics.push(
            about_variable(CLIENT_PATH_VARIABLE, &value, rule, message)
                .with_help("write a path relative to each directory, such as `.context`"),
        );
        return default();
    }
    let mut names: Vec<String> = Vec::new();
    for name in text.split('/') {
        match name {
            "" | "." => {}
            ".." if names.last().is_some_and(|last| last != "..") => {
                names.pop();
            }
            name => names.push(name.to_owned()),
        }
    }
    names
}

fn global_path(
    system: &dyn System,
    client: &[String],
    home: Option<&Path>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<GlobalContext> {
    let at = |owner: &Path, named| {
        let (base, below) = climb_parents(owner, client);
        GlobalContext { base, below, named }
    };
    let default = || home.map(|home| at(home, false));
    let Some(value) = system.env(GLOBAL_PATH_VARIABLE) else { return default() };
    let path = expand_home(&value.to_string_lossy(), home).unwrap_or_else(|| PathBuf::from(&value));
    if !path.is_absolute() {
        let rule = rules::context_dir::ENV_GLOBAL_RELATIVE;
        let message = format!("`{GLOBAL_PATH_VARIABLE}` is not an absolute path, so it is ignored");
        diagnostics.push(
            about_variable(GLOBAL_PATH_VARIABLE, &value, rule, message)
                .with_help("write an absolute path, or one that begins with `~/`"),
        );
        return default();
    }
    let path = clean_path(&path);
    let mut names = path.iter().rev();
    let ends_in_client = !client.is_empty()
        && client.iter().rev().all(|part| part != ".." && names.next() == Some(OsStr::new(part)))
        && names.next().is_some();
    if !ends_in_client {
        return Some(at(&path, true));
    }
    let message = format!(
        "`{GLOBAL_PATH_VARIABLE}` ends in `{}`, so brief uses it as the context directory itself",
        client.join("/")
    );
    let rule = rules::context_dir::ENV_GLOBAL_INCLUDES_CLIENT_PATH;
    diagnostics.push(
        about_variable(GLOBAL_PATH_VARIABLE, &value, rule, message)
            .with_help("name the directory that contains it"),
    );
    let owner = path.ancestors().nth(client.len()).unwrap_or(&path);
    Some(at(owner, true))
}

pub(super) fn expand_home(text: &str, home: Option<&Path>) -> Option<PathBuf> {
    let rest = text.strip_prefix('~')?;
    if rest.is_empty() {
        return home.map(Path::to_owned);
    }
    let rest = rest.strip_prefix(['/', '\\'])?;
    home.map(|home| home.join(rest.trim_start_matches('/')))
}
