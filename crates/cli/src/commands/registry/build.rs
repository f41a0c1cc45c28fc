//! `brief registry build`

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_clients::compile::{Clients, ClientsInUse};
use brief_clients::profile::{ProfileScope, Section};
use brief_dialects::portable::config;
use brief_profiles::OwnClients;
use brief_registry::build::{self, BuildError, BuildMode, BuildOutcome, BuildRequest, Edited};
use brief_registry::manifest::find_newer_requirement;
use brief_registry::{ChangeKind, WatchedFiles};
use brief_syntax::render::path_below;
use brief_syntax::{Diagnostic, Source, Span, limits, rules};
use brief_system::ReadError;
use clap::Args;
use serde_json::json;

use crate::error::{CommandError, ErrorKind, Result, refuse_if};
use crate::installation::{change_verb, render_file_counts};
use crate::session::Session;
use crate::ui::Ui;
use crate::watching;

/// Generate each client's files from the registry
///
/// Replaces and removes only files written by an earlier build and not edited since. Exits 1 if an item could not be built;
/// the others are.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a user can set")]
pub(crate) struct BuildArgs {
    /// Registry directory, with items at any depth
    #[arg(default_value = ".")]
    path: PathBuf,

    /// Build only for this client [repeatable] [default: `build.clients` or `install.clients` of brief.toml,
    /// else the clients detected in the registry, else claude, copilot and opencode]
    #[arg(
        long = "client", value_name = "CLIENT",
        add = clap_complete::ArgValueCompleter::new(crate::complete::complete_clients)
    )]
    clients: Vec<String>,

    /// Output directory [default: `build.out` of brief.toml, else dist]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Check without writing; list changes and exit 1 if there are any
    #[arg(long)]
    check: bool,

    /// Overwrite edited outputs
    #[arg(long)]
    force: bool,

    /// Rebuild whenever the registry changes, until ^C
    #[arg(long, conflicts_with_all = ["check", "json"])]
    watch: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &BuildArgs) -> Result {
    if !args.watch {
        return build_once(ui, session, args);
    }
    let registry = session.directory().join(&args.path);
    watching::repeat_on_change(
        ui,
        session,
        |ui| build_once(ui, session, args),
        || {
            let out = match &args.out {
                Some(out) => session.directory().join(out),
                None => {
                    registry.join(configured_out(session, &registry).as_deref().unwrap_or("dist"))
                }
            };
            WatchedFiles::of_build(session.system(), &registry, &out)
        },
    )
}

/// Returns `build.out` of a registry.
fn configured_out(session: &Session, registry: &Path) -> Option<String> {
    let source = read_configuration(session, registry).ok()?;
    let own = OwnClients::read_project(session.system(), registry);
    let clients =
        Clients::from_configuration(source.as_ref(), &own, Section::Build, ProfileScope::Project)
            .ok()?;
    clients.settings().out.clone()
}

fn build_once(ui: &mut Ui, session: &Session, args: &BuildArgs) -> Result {
    let out = args.out.as_ref().map(|out| session.directory().join(out));
    let registry = session.directory().join(&args.path);
    let configuration = match read_configuration(session, &registry) {
        Ok(configuration) => configuration,
        Err(problem) => {
            ui.print_diagnostics(&[*problem], session.open_root()?.path())?;
            return Err(CommandError::reported(ErrorKind::Usage));
        }
    };
    if let Some(problem) = configuration.as_ref().and_then(find_newer_requirement) {
        ui.print_diagnostics(&[problem], session.open_root()?.path())?;
        return Err(CommandError::reported(ErrorKind::Usage));
    }
    let own = OwnClients::read_project(session.system(), &registry);
    let clients = Clients::from_configuration(
        configuration.as_ref(),
        &own,
        Section::Build,
        ProfileScope::Project,
    );
    let mut clients = match clients {
        Ok(clients) => clients,
        Err(diagnostics) => {
            ui.print_diagnostics(&diagnostics, session.open_root()?.path())?;
            return Err(CommandError::reported(ErrorKind::Usage));
        }
    };
    let found = match args.clients.as_slice() {
        [] => clients.choose_in_use(session.system(), &registry),
        _ => None,
    };
    if let Some(ClientsInUse { clients, signs }) = found.filter(|_| !args.json) {
        let (used, signs) = (clients.join(", "), signs.join(", "));
        ui.print_status(&format!("building for {used} (found {signs})"))?;
    }
    let wanted = clients.resolve_clients(&args.clients)?;
    let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
    let request = BuildRequest {
        registry: &registry,
        out: out.as_deref(),
        configured_out: clients.settings().out.as_deref(),
        clients: &wanted,
        mode: if args.check { BuildMode::Check } else { BuildMode::Write },
        edited: if args.force { Edited::Overwrite } else { Edited::Keep },
    };
    let report = build::build_registry(session.system(), &clients, &request)?;
    if args.json {
        print_json(ui, &report)?;
    } else {
        ui.print_diagnostics(&report.diagnostics, &report.registry)?;
        if args.check {
            for change in &report.changes {
                ui.print_line(format!("would {} {}", change_verb(change.kind), change.path))?;
            }
        }
        ui.print_status(&render_build_summary(&report, args.check))?;
    }
    let is_stale = args.check && !report.changes.is_empty();
    refuse_if(report.has_errors() || is_stale)
}

/// Reads a registry's `brief.toml`, if there is one. A link is not followed.
fn read_configuration(
    session: &Session,
    registry: &Path,
) -> Result<Option<Arc<Source>>, Box<Diagnostic>> {
    // The build itself reports a registry that cannot be opened.
    let Ok(directory) = session.system().open_dir(registry) else { return Ok(None) };
    let path = registry.join(config::FILE_NAME);
    match directory.read(OsStr::new(config::FILE_NAME), limits::FILE_BYTES) {
        Ok(bytes) => Ok(Some(Arc::new(Source::from_bytes(path, bytes)))),
        Err(ReadError::Missing) => Ok(None),
        Err(error) => {
            let source = Arc::new(Source::without_text(path));
            let message = format!("cannot read the file: {error}");
            let rule = rules::item::INVALID_CONFIG;
            Err(Box::new(Diagnostic::new(rule, &source, Span::default(), message)))
        }
    }
}

impl From<BuildError> for CommandError {
    fn from(error: BuildError) -> Self {
        let message = error.to_string();
        match &error {
            BuildError::NoItems { .. } => CommandError::refused(message).with_hint(
                "add `rules/NAME/RULE.md`, `skills/NAME/SKILL.md` or `agents/NAME/AGENT.md`",
            ),
            BuildError::OutOutside { .. } => {
                CommandError::usage(message).with_hint("pass `--out DIR` to write anywhere")
            }
            BuildError::OutIsSource { .. } => {
                CommandError::refused(message).with_hint("choose another directory with `--out`")
            }
            BuildError::OtherRegistry { .. } => CommandError::refused(message)
                .with_hint("choose another directory with `--out`, or take it over with `--force`"),
            BuildError::Record { .. } => CommandError::refused(message)
                .with_hint("restore or delete it; brief adopts unchanged outputs"),
            BuildError::ForeignJournal { .. } => CommandError::refused(message)
                .with_hint("delete it, then run `brief registry build`"),
            _ => CommandError::refused(message),
        }
    }
}

fn print_json(ui: &mut Ui, report: &BuildOutcome) -> Result {
    let root = &report.registry;
    let paths = |kind| {
        let changes = report.changes.iter().filter(move |change| change.kind == kind);
        let paths = changes.map(|change| report.out.join(&change.path));
        paths.map(|path| path_below(root, &path).into_owned()).collect::<Vec<_>>()
    };
    let body = json!({
        "out": path_below(root, &report.out),
        "items": report.items,
        "failed": report.failed,
        "created": paths(ChangeKind::Created),
        "updated": paths(ChangeKind::Updated),
        "removed": paths(ChangeKind::Removed),
        "unchanged": report.unchanged,
        "kept": report.kept,
    });
    ui.print_json("registry build", root, &report.diagnostics, body)
}

fn render_build_summary(report: &BuildOutcome, is_check: bool) -> String {
    let out = report.out.strip_prefix(&report.registry).unwrap_or(&report.out).display();
    let items = if report.items == 1 { "item" } else { "items" };
    let built = match report.failed {
        0 => report.items.to_string(),
        failed => format!("{} of {}", report.items - failed, report.items),
    };
    let counts = render_file_counts(
        &|kind| report.count_changes(kind),
        (report.unchanged, report.kept),
        !is_check,
    );
    format!("{built} {items} in {out}: {counts}")
}
