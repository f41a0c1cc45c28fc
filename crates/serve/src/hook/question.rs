//! Turns a tool call into moments, one for each file that it touches.

use std::path::{Path, PathBuf};

use brief_clients::hook::{ToolCall, ToolEffect, Touch};
use brief_engine::{
    Action, Briefing, Project, Root, System, Target, TargetKind, Timing, structured,
};
use brief_syntax::limits;

use super::memory::{Claim, DeliveredEntries, Memory, fingerprint};
use super::{Guidance, HookError};

/// Returns the root of the project, and a briefing for each file that the call touches.
pub(super) fn ask(
    system: &dyn System,
    call: &ToolCall,
    guidance: Guidance,
    memory: Option<&Memory<'_>>,
    known: &mut DeliveredEntries,
) -> Result<(PathBuf, Vec<Briefing>), HookError> {
    let cwd = match &call.cwd {
        Some(cwd) => cwd.clone(),
        None => system.current_dir().unwrap_or_else(|_| PathBuf::from(".")),
    };
    let started = started(system, &cwd)?;
    let root = match guidance {
        Guidance::All => started.clone().repository(system),
        Guidance::Structured => started.clone(),
    };
    let project = Project::of(system, root, &cwd, &started);
    let mut briefings = Vec::new();
    for touch in &call.touches {
        if touch.path.as_os_str().len() > limits::HOOK_PATH_BYTES {
            continue;
        }
        let mut request = project.briefing(&touch.path);
        // A target outside the root gets nothing from this root.
        let Some(kind) = request.moment.located().map(Target::kind) else { continue };
        request = match guidance {
            Guidance::All => request.client(&*call.client.id),
            // The specification's own tool has no question for directories that a shell lists.
            Guidance::Structured if call.is_shell && kind == TargetKind::Directory => continue,
            Guidance::Structured => request.only([structured::NAME]),
        };
        let path = cwd.join(&touch.path);
        request.moment.action = action(system, &path, touch, call.timing, memory, known);
        request.moment.timing = Some(call.timing);
        request.moment.skip_left_out = true;
        briefings.push(request.resolve());
    }
    Ok((project.root().path().to_owned(), briefings))
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
    known: &mut DeliveredEntries,
) -> Option<Action> {
    match touch.how {
        ToolEffect::Does(action) => Some(action),
        ToolEffect::Unknown => None,
        ToolEffect::Writes => {
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
