//! `brief audit`

use std::path::Path;

use brief_engine::audit::{Audit, AuditedItem};
use brief_engine::{Root, TargetKind};
use brief_registry::SourceAddress;
use brief_registry::install::open_source;
use brief_safety::capability::{Capability, CapabilityFinding};
use brief_syntax::render::path_below;
use brief_syntax::walk::Ignored;
use brief_syntax::{Diagnostic, Severity, Target};
use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::{Value, json};

use crate::clock::with_clock;
use crate::commands::lint::{FindingsFormat, print_report};
use crate::commands::whole::format_count;
use crate::error::{CommandError, Result, refuse_if};
use crate::installation::{self, refusal_of_typed};
use crate::session::Session;
use crate::surroundings::warn_of_checked_root;
use crate::ui::Ui;

/// Show what guidance can do: commands, tools, hosts, hidden text
///
/// Read-only. Reads every skill, rule, agent, command, task and settings file. Exits 1 on hidden text, binary content, an
/// injection, or a capability named by --deny.
#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    /// Directory, file, or source as in `brief add`
    #[arg(value_name = "PATH|SOURCE", default_value = ".")]
    place: String,

    /// Exit 1 if this capability is present [repeatable]
    #[arg(long, value_name = "CAPABILITY", value_parser = capability_parser())]
    deny: Vec<String>,

    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: FindingsFormat,

    /// Print JSON, as `--format json` does
    #[arg(long, conflicts_with = "format")]
    json: bool,

    /// Include ignored directories
    #[arg(long)]
    no_ignore: bool,

    /// Use only the cache
    #[arg(long)]
    offline: bool,
}

fn capability_parser() -> PossibleValuesParser {
    Capability::ALL.map(Capability::as_str).into()
}

/// The audited directory, and the part of it.
struct AuditPlace {
    root: Root,
    directory: Target,
    file: Option<String>,
    /// The source as typed, and its commit.
    source: Option<(String, Option<String>)>,
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &AuditArgs) -> Result {
    let place = find_audit_place(ui, session, args)?;
    if place.source.is_none() {
        warn_of_checked_root(ui, session, &place.root)?;
    }
    let ignored = if args.no_ignore { Ignored::Visit } else { Ignored::Skip };
    let (root, file) = (&place.root, place.file.as_deref());
    let audit = with_clock(ui, "reading the project", || {
        Audit::read(session.system(), root, &place.directory, file, ignored)
    });
    let deny: Vec<Capability> =
        args.deny.iter().filter_map(|name| Capability::from_name(name)).collect();
    let denied: Vec<Capability> =
        deny.into_iter().filter(|&capability| audit.count_of(capability) > 0).collect();
    match if args.json { FindingsFormat::Json } else { args.format } {
        FindingsFormat::Text => print_audit(ui, &place, &audit)?,
        FindingsFormat::Json => {
            let grave = collect_failing_findings(&audit, &denied);
            let body = audit_json(&place, &audit, &denied);
            let root = place.root.path();
            ui.print_json("audit", root, &grave, body)?;
        }
        format => print_report(ui, format, &audit.all_diagnostics(), place.root.path())?,
    }
    for capability in &denied {
        ui.print_error(&format!(
            "denied capability `{capability}` in {}",
            format_count(audit.count_of(*capability), "item")
        ))?;
    }
    refuse_if(!collect_failing_findings(&audit, &denied).is_empty())
}

/// Finds a path, or fetches a source.
fn find_audit_place(ui: &mut Ui, session: &Session, args: &AuditArgs) -> Result<AuditPlace> {
    let system = session.system();
    let typed = Path::new(&args.place);
    let absolute = session.directory().join(typed);
    if let Ok(resolved) = system.resolve(&absolute) {
        let opened = Root::open(system, &resolved.path);
        let Ok(own) = opened else {
            let above = resolved.path.parent().unwrap_or(Path::new("/"));
            let name = resolved.path.file_name().map(|name| name.to_string_lossy().into_owned());
            let (root, directory) = locate_in_repository(session, above)?;
            return Ok(AuditPlace { root, directory, file: name, source: None });
        };
        let (root, directory) = locate_in_repository(session, own.path())?;
        return Ok(AuditPlace { root, directory, file: None, source: None });
    }
    let source = SourceAddress::parse_added(&args.place, session.directory(), system)
        .map_err(|error| CommandError::usage(error.to_string()))?;
    let network = installation::network_mode(args.offline);
    let opened = installation::with_progress(ui, |observer| {
        open_source(system, &source, None, session.directory(), network, observer)
    })?;
    let opened = opened.map_err(refusal_of_typed)?;
    for note in &opened.notes {
        ui.print_warning(note)?;
    }
    let source = Some((source.to_string(), opened.commit));
    let directory = Target::from_slashed("", TargetKind::Directory);
    Ok(AuditPlace { root: opened.root, directory, file: None, source })
}

/// Returns the repository around a directory and the directory in it, so that `.claude/skills` is
/// recognized.
fn locate_in_repository(session: &Session, directory: &Path) -> Result<(Root, Target)> {
    let system = session.system();
    let failed = |error: std::io::Error| {
        let message = format!("cannot open directory `{}`: {error}", directory.display());
        CommandError::refused(message)
    };
    let own = Root::open(system, directory).map_err(failed)?;
    let repository = own.clone().into_repository(system);
    let is_alone = repository == own && own.path().starts_with(session.directory());
    let root = if is_alone { session.open_root()? } else { repository };
    match root.locate_target(system, root.path(), own.path()) {
        Some(target) => Ok((root, target)),
        None => Ok((own, Target::from_slashed("", TargetKind::Directory))),
    }
}

/// Returns the findings that make the audit fail.
fn collect_failing_findings(audit: &Audit, denied: &[Capability]) -> Vec<Diagnostic> {
    let is_grave = |found: &&CapabilityFinding| {
        found.capability.rule().severity() == Severity::Error || denied.contains(&found.capability)
    };
    let findings = audit.findings().filter(is_grave).map(CapabilityFinding::to_diagnostic);
    audit.diagnostics.iter().cloned().chain(findings).collect()
}

fn audit_json(place: &AuditPlace, audit: &Audit, denied: &[Capability]) -> Value {
    let capability = |found: &CapabilityFinding| {
        let position = found.source.position(found.span.start);
        json!({
            "name": found.capability.as_str(),
            "severity": found.capability.rule().severity().to_string(),
            "evidence": found.evidence,
            "path": path_below(place.root.path(), found.source.path()),
            "line": position.line,
            "column": position.column,
        })
    };
    let item = |item: &AuditedItem| {
        json!({
            "kind": item.kind,
            "name": item.name,
            "path": item.path,
            "capabilities": item.findings.iter().map(capability).collect::<Vec<_>>(),
        })
    };
    json!({
        "source": place.source.as_ref().map(|(source, _)| source),
        "commit": place.source.as_ref().and_then(|(_, commit)| commit.as_ref()),
        "files": audit.files,
        "items": audit.items.iter().map(item).collect::<Vec<_>>(),
        "denied": denied.iter().map(|capability| capability.as_str()).collect::<Vec<_>>(),
    })
}

fn print_audit(ui: &mut Ui, place: &AuditPlace, audit: &Audit) -> Result {
    let root = place.root.path();
    ui.print_diagnostics(&audit.diagnostics, root)?;
    for item in audit.items.iter().filter(|item| !item.findings.is_empty()) {
        ui.print_heading(&format!("{} {}", item.kind, item.path))?;
        for found in &item.findings {
            let mark =
                if found.capability.rule().severity() == Severity::Error { '!' } else { ' ' };
            let line = found.source.position(found.span.start).line;
            let path = path_below(root, found.source.path());
            let path = path.strip_prefix(item.path.as_str()).unwrap_or(&path);
            let at = match path.trim_start_matches('/') {
                "" => format!("{line}"),
                path => format!("{path}:{line}"),
            };
            let name = found.capability.as_str();
            ui.print_line(format!("{mark} {name:<13} {at}: {}", found.evidence))?;
        }
    }
    let present = Capability::ALL.into_iter().filter_map(|capability| {
        let count = audit.count_of(capability);
        (count > 0).then(|| format!("{capability} {count}"))
    });
    let present: Vec<String> = present.collect();
    let what = match present.as_slice() {
        [] => "no capabilities".to_owned(),
        present => present.join(", "),
    };
    let (items, files) =
        (format_count(audit.items.len(), "item"), format_count(audit.files, "file"));
    ui.print_status(&format!("{items} in {files}: {what}"))
}
