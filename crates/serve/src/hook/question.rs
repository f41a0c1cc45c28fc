//! Turns an event into moments, one for each file that it touches.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use brief_clients::hook::{CallTrace, HookCall, HookMoment, HookStart, ToolEffect, Touch};
use brief_engine::{
    Action, Briefing, BriefingRequest, Catalog, MomentTool, Occasion, Project, ReasonKind, Root,
    Strangers, System, Target, TargetKind, Timing, hosted, structured, tasks::Selectors,
};
use brief_profiles::BUILTIN;
use brief_syntax::limits;

use super::memory::{Claim, DeliveredEntries, Memory, WorkRecord, fingerprint_parts};
use super::{Guidance, HookError, HookOptions, loaded_mark};

/// The longest time from the making of a file to the end of its first write.
const WRITING: Duration = Duration::from_secs(2);

/// The longest time of a command after it has written a file.
const COMMAND: Duration = Duration::from_mins(10);

/// The answers to an event.
pub(super) struct EventBriefings {
    pub(super) root: PathBuf,
    /// The directory in which the client works.
    pub(super) directory: PathBuf,
    /// A briefing for each file, and for the whole project at the start.
    pub(super) briefings: Vec<Briefing>,
}

/// The project of an event.
pub(super) struct OpenedProject<'s> {
    pub(super) project: Project<'s>,
    /// The directory in which the client works.
    pub(super) directory: PathBuf,
    started: Root,
}

/// An event that asks for guidance, with what was read for its files.
pub(super) struct OpenedEvent<'s> {
    pub(super) opened: OpenedProject<'s>,
    /// True if the guidance of the whole project is due.
    starts: bool,
    timing: Option<Timing>,
    files: Vec<AskedFile<'s>>,
}

/// A file of an event, with the guidance on its path.
struct AskedFile<'s> {
    path: PathBuf,
    request: BriefingRequest<'s>,
    catalog: Catalog,
}

impl OpenedEvent<'_> {
    /// Returns what was read for each file.
    pub(super) fn catalogs(&self) -> impl Iterator<Item = &Catalog> {
        self.files.iter().map(|file| &file.catalog)
    }
}

/// Opens the project that a call is about.
pub(super) fn open_project<'s>(
    system: &'s dyn System,
    call: &HookCall<'_>,
    options: HookOptions<'_>,
) -> Result<OpenedProject<'s>, HookError> {
    let directory = directory_of(system, call);
    let started = resolve_started_root(system, &directory)?;
    let root = match options.guidance {
        Guidance::All => started.clone().into_repository(system),
        Guidance::Structured => started.clone(),
    };
    let project = Project::from_parts(system, root, &directory, &started);
    Ok(OpenedProject { project, directory, started })
}

/// Reads what an event asks about; `None` if it asks nothing.
pub(super) fn open_event<'s>(
    system: &'s dyn System,
    call: &HookCall<'_>,
    options: HookOptions<'_>,
    memory: Option<&Memory<'_>>,
    known: &mut DeliveredEntries,
) -> Result<Option<OpenedEvent<'s>>, HookError> {
    let (starts, timing, is_shell) = match &call.moment {
        HookMoment::Tool { timing, is_shell, .. } => (false, *timing, *is_shell),
        HookMoment::Start { .. } if call.hook.events.start_waits => return Ok(None),
        HookMoment::Start { .. } | HookMoment::Subagent => (true, Some(Timing::Before), false),
        HookMoment::Prompt { .. } => {
            (call.hook.events.starts_with_prompt(), Some(Timing::Before), false)
        }
        HookMoment::Agent { .. }
        | HookMoment::Compacted
        | HookMoment::Loaded { .. }
        | HookMoment::Stop
        | HookMoment::Other => return Ok(None),
    };
    if options.guidance == Guidance::Structured && !matches!(call.moment, HookMoment::Tool { .. }) {
        return Ok(None);
    }
    let opened = open_project(system, call, options)?;
    let OpenedProject { project, directory: cwd, .. } = &opened;
    let touches = collect_touches(system, call, project, cwd, known);
    let mut files = Vec::new();
    for touch in &*touches {
        if touch.path.as_os_str().len() > limits::HOOK_PATH_BYTES {
            continue;
        }
        let mut request = project.briefing(&touch.path);
        // A target outside the root gets nothing from this root.
        let Some(kind) = request.moment.located_target().map(Target::kind) else { continue };
        request = match options.guidance {
            Guidance::All => request.client(&*call.client.id),
            // The specification's own tool has no question for directories that a shell lists.
            Guidance::Structured if is_shell && kind == TargetKind::Directory => continue,
            Guidance::Structured => {
                request.moment.strangers = Strangers::Counted;
                request.only([structured::NAME])
            }
        };
        let path = cwd.join(&touch.path);
        let is_told_before = call.hook.events.before_carries || !is_shell;
        request.moment.action =
            match resolve_action(system, &path, touch, &call.moment, memory, known) {
                Some(Action::Edit) if !is_told_before && is_just_made(system, &path, touch) => {
                    Some(Action::Create)
                }
                action => action,
            };
        request.moment.timing = timing;
        add_trace_selectors(call, &mut request.moment.selectors);
        // The client shows a directory that a shell lists as one that it lists itself.
        let is_read = touch.how == ToolEffect::Does(Action::Read);
        let is_own = is_read && !touch.is_hidden && call.client.loading.shell_reads.is_some();
        if is_shell && kind == TargetKind::File {
            request.moment.tool = if is_own { MomentTool::ShellRead } else { MomentTool::Shell };
        }
        request.moment.skip_left_out = true;
        let catalog = request.read_catalog();
        files.push(AskedFile { path: touch.path.clone(), request, catalog });
    }
    Ok(Some(OpenedEvent { opened, starts, timing, files }))
}

/// The limit for the directories that the end of a turn looks at.
const MOST_DIRECTORIES: usize = 8;

/// Reads what checks need besides the files that guidance is asked for: the directory of a command, and those of the files
/// that a turn changed.
pub(super) fn read_for_checks(
    system: &dyn System,
    call: &HookCall<'_>,
    opened: Option<&OpenedProject<'_>>,
) -> Vec<Catalog> {
    let Some(OpenedProject { project, directory, .. }) = opened else { return Vec::new() };
    let mut paths = match (&call.moment, call.command) {
        (HookMoment::Stop, _) | (_, Some(_)) => vec![directory.clone()],
        _ => Vec::new(),
    };
    if let (HookMoment::Stop, Some(session)) = (&call.moment, &call.session) {
        let work = WorkRecord::of_session(system, call.client, session).read();
        for path in work.edited_in_turn().into_iter().rev() {
            let path = project.root().path().join(path);
            let above = path.parent().unwrap_or(&path);
            if paths.len() < MOST_DIRECTORIES && !paths.iter().any(|known| known == above) {
                paths.push(above.to_owned());
            }
        }
    }
    let read = |path: &PathBuf| {
        let mut request = project.briefing(path).client(&*call.client.id);
        request.moment.skip_left_out = true;
        request.moment.located_target()?;
        Some(request.read_catalog())
    };
    paths.iter().filter_map(read).collect()
}

/// Answers an event from what was read.
pub(super) fn resolve_event(
    event: OpenedEvent<'_>,
    call: &HookCall<'_>,
    memory: Option<&Memory<'_>>,
    known: &DeliveredEntries,
) -> EventBriefings {
    let OpenedEvent { opened, starts, timing, files } = event;
    let OpenedProject { project, directory, started } = opened;
    let attached = memory.map(|memory| memory.attached_before(&call.client.loading));
    let attached = attached.unwrap_or_default();
    let mut briefings = Vec::new();
    if starts {
        let mut request = project.briefing(project.root().path()).client(&*call.client.id);
        request.moment.occasion = Occasion::Start;
        request.moment.action = Some(Action::Read);
        request.moment.timing = timing;
        add_trace_selectors(call, &mut request.moment.selectors);
        request.moment.skip_left_out = true;
        let mut briefing = request.resolve();
        // A pattern that some files match says nothing about the whole project.
        briefing.active.retain(|item| item.reason.kind != ReasonKind::Matches);
        if started.path() != project.root().path() {
            leave_out_at(&started, &project, &mut briefing);
        }
        briefings.push(briefing);
    }
    for AskedFile { path, request, catalog } in files {
        let asked = (request.moment.action, timing);
        let mut briefing = request.resolve_from(&catalog);
        let is_gone = |path: &Path| {
            let mark = loaded_mark(path);
            attached.contains(&mark) && !known.contains(&mark)
        };
        let is_any_gone =
            !attached.is_empty() && briefing.left_out.iter().any(|item| is_gone(&item.path));
        if is_any_gone {
            briefing.left_out.retain(|item| !is_gone(&item.path));
        }
        briefings.push(briefing);
        if is_any_gone {
            let mut briefing = ask_as_shell(&project, call, &path, asked);
            briefing.active.retain(|item| is_gone(&item.path));
            briefings.push(briefing);
        }
    }
    let root = project.root().path().to_owned();
    EventBriefings { root, directory, briefings }
}

/// Selects by what the payload says of the work: `mode` and `subagent`. Rules that name neither are for all.
fn add_trace_selectors(call: &HookCall<'_>, selectors: &mut Selectors) {
    let CallTrace { mode, agent_type, .. } = &call.trace;
    for (key, value) in [("mode", *mode), ("subagent", agent_type.as_deref())] {
        if let Some(value) = value {
            selectors.add_selector(key, value);
        }
    }
}

/// Asks about a file as for a shell command, to which the client attaches nothing.
fn ask_as_shell(
    project: &Project<'_>,
    call: &HookCall<'_>,
    path: &Path,
    (action, timing): (Option<Action>, Option<Timing>),
) -> Briefing {
    let mut request = project.briefing(path).client(&*call.client.id);
    (request.moment.action, request.moment.timing) = (action, timing);
    request.moment.tool = MomentTool::Shell;
    request.moment.skip_left_out = true;
    let mut briefing = request.resolve();
    (briefing.listed, briefing.decisions) = (Vec::new(), Vec::new());
    briefing
}

/// Returns the directory in which the client works. A client that names its workspace alone runs the hook where it was started.
fn directory_of(system: &dyn System, call: &HookCall<'_>) -> PathBuf {
    let here = || system.current_dir().unwrap_or_else(|_| PathBuf::from("."));
    match (&call.cwd, &call.workspace) {
        (Some(cwd), _) => cwd.clone(),
        (None, Some(workspace)) => {
            let here = here();
            if here.starts_with(workspace) { here } else { workspace.clone() }
        }
        (None, None) => here(),
    }
}

/// Removes what the configuration of the start directory, such as `ignoreAncestorContext`, leaves out. It comes with the
/// first file elsewhere.
fn leave_out_at(started: &Root, project: &Project<'_>, briefing: &mut Briefing) {
    let mut request = project.briefing(started.path()).only([hosted::NAME]);
    request.moment.timing = briefing.moment.timing;
    let left = request.resolve().left_out;
    let is_left = |path: &Path| left.iter().any(|item| *item.path == *path);
    briefing.active.retain(|item| item.dialect != hosted::NAME || !is_left(&item.path));
    briefing.listed.retain(|item| item.dialect != hosted::NAME || !is_left(&item.path));
}

/// Returns the files of an event: those that a tool touches, those that a prompt mentions, and after a loss
/// those that the conversation worked on.
fn collect_touches<'t>(
    system: &dyn System,
    call: &'t HookCall<'_>,
    project: &Project<'_>,
    cwd: &Path,
    known: &DeliveredEntries,
) -> std::borrow::Cow<'t, [Touch]> {
    let read = |path: &str| Touch::new(path, ToolEffect::Does(Action::Read));
    let in_project = |path: &str| read(&project.root().path().join(path).to_string_lossy());
    match &call.moment {
        HookMoment::Tool { touches, .. } => touches.as_slice().into(),
        HookMoment::Prompt { paths, .. } => {
            // A prompt names a file by its path from the root or from the working directory.
            let bases = [cwd, project.root().path()];
            let exists = |path: &String| {
                let base = bases.iter().find(|base| system.resolve(&base.join(path)).is_ok())?;
                Some(read(&base.join(path).to_string_lossy()))
            };
            let mut found: Vec<Touch> = paths.iter().filter_map(exists).collect();
            if call.hook.events.start_waits && known.is_resumed {
                found.extend(known.touched_paths().map(in_project));
            }
            found.into()
        }
        HookMoment::Start { how: HookStart::Compacted | HookStart::Resumed } => {
            known.touched_paths().map(in_project).collect::<Vec<_>>().into()
        }
        _ => Vec::new().into(),
    }
}

/// Returns the directory where the client was started: its working directory, or the one that it names if
/// that is further up. An agent that changed into a directory still works on the same project.
fn resolve_started_root(system: &dyn System, cwd: &Path) -> Result<Root, HookError> {
    let root = Root::open(system, cwd)
        .map_err(|source| HookError::Root { path: cwd.to_owned(), source })?;
    // A client that runs the hooks of another one also sets its variable.
    let hooks = BUILTIN.clients.iter().filter_map(|client| client.hook.as_ref());
    let mut named = hooks.filter_map(|hook| system.env(hook.started.as_ref()?));
    let started = named.next().map(PathBuf::from);
    match started.and_then(|started| Root::open(system, &started).ok()) {
        Some(started) if root.path().starts_with(started.path()) => Ok(started),
        _ => Ok(root),
    }
}

/// Tells an edit from a creation. After a tool the file exists in any case, so the memory records files that were
/// missing before it.
fn resolve_action(
    system: &dyn System,
    path: &Path,
    touch: &Touch,
    moment: &HookMoment,
    memory: Option<&Memory<'_>>,
    known: &mut DeliveredEntries,
) -> Option<Action> {
    match touch.how {
        ToolEffect::Does(action) => Some(action),
        ToolEffect::Unknown => None,
        ToolEffect::Writes => {
            let mark = || fingerprint_parts(&["created", &path.to_string_lossy()]);
            let is_before = matches!(moment, HookMoment::Tool { time: Timing::Before, .. });
            let is_new = if is_before {
                system.resolve(path).is_err()
            } else {
                memory.is_some() && known.contains(&mark())
            };
            if is_new
                && is_before
                && let Some(memory) = memory
            {
                memory.claim_entries(&[Claim { fingerprint: mark(), tokens: 0 }], &[], known);
            }
            Some(if is_new { Action::Create } else { Action::Edit })
        }
    }
}

/// Returns whether the write that has just ended made the file: it was never changed since it was made. Some clients
/// report a command only after it has run.
fn is_just_made(system: &dyn System, path: &Path, touch: &Touch) -> bool {
    if touch.how != ToolEffect::Writes {
        return false;
    }
    let (Ok(changed), Ok(born)) = (system.modified_time(path), system.creation_time(path)) else {
        return false;
    };
    let is_within = |from: SystemTime, to: SystemTime, most| {
        to.duration_since(from).unwrap_or_default() <= most
    };
    is_within(born, changed, WRITING) && is_within(changed, system.now(), COMMAND)
}
