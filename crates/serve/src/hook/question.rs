//! Turns a tool call into moments, one for each file that it touches.

use std::path::{Path, PathBuf};

use brief_clients::hook::{How, ToolCall, Touch};
use brief_engine::{
    Action, Catalog, Dialects, Moment, Question, Resolution, Root, System, TargetKind, Timing,
    hosted, structured,
};
use brief_syntax::{Diagnostic, diagnostic, limits};

use super::memory::{Claim, Known, Memory, fingerprint};
use super::{Guidance, HookError};

/// The moments of a tool call, with the catalogs that were read for them.
pub(super) struct Asked {
    root: Root,
    catalogs: Vec<(Catalog, Moment)>,
}

impl Asked {
    pub(super) fn root(&self) -> &Path {
        self.root.path()
    }

    /// Returns the problems of the files that were read, each once.
    pub(super) fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut diagnostics: Vec<Diagnostic> =
            self.catalogs.iter().flat_map(|(catalog, _)| catalog.diagnostics()).collect();
        if self.catalogs.len() > 1 {
            diagnostic::sort(&mut diagnostics);
            diagnostics.dedup();
        }
        diagnostics
    }

    /// Returns whether a file was asked about and no guidance of any kind was found on its path.
    pub(super) fn has_found_nothing(&self) -> bool {
        self.catalogs.iter().any(|(catalog, _)| catalog.is_empty())
    }

    /// Returns the answers, in the order of the files.
    pub(super) fn answers(&self) -> impl Iterator<Item = (Resolution<'_>, &Moment)> {
        self.catalogs.iter().map(|(catalog, moment)| (catalog.resolve(moment), moment))
    }
}

/// Reads the guidance for a tool call.
pub(super) fn ask(
    system: &dyn System,
    call: &ToolCall,
    guidance: Guidance,
    memory: Option<&Memory<'_>>,
    known: &mut Known,
) -> Result<Asked, HookError> {
    let cwd = match &call.cwd {
        Some(cwd) => cwd.clone(),
        None => system.current_dir().unwrap_or_else(|_| PathBuf::from(".")),
    };
    let started = started(system, &cwd)?;
    let (root, dialects) = match guidance {
        Guidance::All => (started.clone().repository(system), Dialects::All),
        Guidance::Structured => (started.clone(), Dialects::Only(&[structured::NAME])),
    };
    let mut catalogs = Vec::new();
    for touch in &call.touches {
        if touch.path.as_os_str().len() > limits::HOOK_PATH_BYTES {
            continue;
        }
        // A target outside the root gets nothing from this root.
        let Some(target) = root.locate(system, &cwd, &touch.path) else { continue };
        // The specification's own tool has no question for directories that a shell lists.
        if guidance == Guidance::Structured
            && call.is_shell
            && target.kind() == TargetKind::Directory
        {
            continue;
        }
        let path = cwd.join(&touch.path);
        let question = Question {
            root: &root,
            target: Some(&target),
            path: &path,
            mounted: root.path(),
            mentions: &[],
            hosted: hosted::Options::default(),
        };
        let catalog = Catalog::about(system, &question, dialects);
        let action = action(system, &path, touch, call.timing, memory, known);
        let moment =
            Moment { target: Some(target), action, timing: Some(call.timing), ..Moment::default() };
        let moment = match guidance {
            Guidance::All => Moment {
                client: Some(call.client.name().to_owned()),
                started: Some(started.path().to_owned()),
                ..moment
            },
            Guidance::Structured => moment,
        };
        catalogs.push((catalog, moment));
    }
    Ok(Asked { root, catalogs })
}

/// Returns the directory where the client was started: its working directory, or the one that it names if
/// that is further up. An agent that changed into a directory still works on the same project.
fn started(system: &dyn System, cwd: &Path) -> Result<Root, HookError> {
    let root = Root::open(system, cwd)
        .map_err(|source| HookError::Root { path: cwd.to_owned(), source })?;
    let started = system.env("CLAUDE_PROJECT_DIR").map(PathBuf::from);
    match started.and_then(|started| Root::open(system, &started).ok()) {
        Some(started) if root.path().starts_with(started.path()) => Ok(started),
        _ => Ok(root),
    }
}

/// Tells an edit from a creation. After a shell command the file exists in any case, so the memory records
/// files that were missing before it.
fn action(
    system: &dyn System,
    path: &Path,
    touch: &Touch,
    timing: Timing,
    memory: Option<&Memory<'_>>,
    known: &mut Known,
) -> Option<Action> {
    match touch.how {
        How::Does(action) => Some(action),
        How::Unknown => None,
        How::Writes => {
            let mark = || fingerprint(&["created", &path.to_string_lossy()]);
            let is_new = match timing {
                Timing::Before => system.resolve(path).is_err(),
                Timing::After => memory.is_some() && known.has(&mark()),
            };
            if is_new
                && timing == Timing::Before
                && let Some(memory) = memory
            {
                memory.claim(&[Claim { fingerprint: mark(), tokens: 0 }], known);
            }
            Some(if is_new { Action::Create } else { Action::Edit })
        }
    }
}
