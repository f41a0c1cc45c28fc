//! `brief lint`

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use brief_clients::compile::Clients;
use brief_clients::profile::{Scope as ProfileScope, Section};
use brief_engine::structured::FILE_NAMES;
use brief_engine::{
    Catalog, Dialects, Root, Scope, Target, TargetKind, agents, hosted, native, portable, tasks,
};
use brief_registry::install::{Inventory, Project};
use brief_registry::lock::Lock;
use brief_registry::manifest::Manifest;
use brief_syntax::diagnostic::{Applicability, apply_safe_fixes};
use brief_syntax::render::{Envelope, sarif};
use brief_syntax::source::{Encoding, Source};
use brief_syntax::system::ReadError;
use brief_syntax::walk::Ignored;
use brief_syntax::{Diagnostic, Rule, Severity, Span, rules};
use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::commands::whole::counted;
use crate::error::{CommandError, ErrorKind};
use crate::explain;
use crate::session::Session;
use crate::ui::Ui;

/// Check guidance files, every format at once
///
/// Exits with 1 when there is an error, or with --strict any finding. Directories that version
/// control ignores are left out. --explain tells what a code means.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a user can set")]
pub(crate) struct LintArgs {
    /// The directory or file to check
    #[arg(default_value = ".")]
    path: PathBuf,

    /// Repair what has only one sensible repair
    #[arg(long)]
    fix: bool,

    /// How to print the findings
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,

    /// Print JSON: the findings, and how many there are; the same as `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,

    /// Count warnings as errors
    #[arg(long)]
    strict: bool,

    /// Report small things, too: items without a license
    #[arg(long)]
    pedantic: bool,

    /// Look into directories that version control ignores, too
    #[arg(long)]
    no_ignore: bool,

    /// Tell what a code means, with an example and a way out, instead of checking
    #[arg(
        long,
        value_name = "CODE",
        add = clap_complete::ArgValueCompleter::new(crate::complete::codes),
        conflicts_with_all = ["path", "fix", "format", "json", "strict", "pedantic", "no_ignore"]
    )]
    explain: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    Text,
    Json,
    Sarif,
}

#[derive(Debug, Serialize)]
struct LintReport {
    files: usize,
    errors: usize,
    warnings: usize,
    fixed: usize,
}

/// Findings that only those want who ask for them.
const PEDANTIC: [Rule; 1] = [rules::portable::NO_LICENSE];

/// A repair can make the next one possible; more rounds than this would be a circle.
const FIX_ROUNDS: usize = 8;

pub(crate) fn run(
    ui: &mut Ui,
    session: &Session,
    args: &LintArgs,
) -> Result<ExitCode, CommandError> {
    if let Some(code) = &args.explain {
        ui.print_raw(&explain::explanation(code)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let root = session.root()?;
    let place = Place::find(session, &root, &args.path)?;
    let mut check = check(session, &root, &place, args);
    let mut fixed = 0;
    if args.fix {
        for _ in 0..FIX_ROUNDS {
            let repaired = repair(session, &root, &check.diagnostics)?;
            if repaired == 0 {
                break;
            }
            fixed += repaired;
            check = self::check(session, &root, &place, args);
        }
    }
    let count =
        |severity| check.diagnostics.iter().filter(|found| found.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    match if args.json { Format::Json } else { args.format } {
        Format::Text => {
            ui.print_diagnostics(&check.diagnostics, root.path())?;
            ui.status(&summary(&check, errors, warnings, fixed))?;
        }
        Format::Json => ui.print_json(&Envelope {
            kind: "lint",
            root: root.path(),
            diagnostics: &check.diagnostics,
            body: LintReport { files: check.files, errors, warnings, fixed },
        })?,
        Format::Sarif => {
            ui.print_document(&sarif(&check.diagnostics, root.path(), env!("CARGO_PKG_VERSION")))?;
        }
    }
    if check.files == 0 {
        ui.warning("no guidance files found")?;
    }
    let failed = errors > 0 || args.strict && warnings > 0;
    Ok(if failed { ErrorKind::Refused.exit_code() } else { ExitCode::SUCCESS })
}

struct Check {
    diagnostics: Vec<Diagnostic>,
    files: usize,
}

/// What to check: a directory and all below it, or one file in it.
struct Place {
    directory: Target,
    file: Option<OsString>,
}

impl Place {
    fn find(session: &Session, root: &Root, path: &Path) -> Result<Place, CommandError> {
        let outside = || {
            let message = format!("`{}` is outside `{}`", path.display(), root.path().display());
            CommandError::refused(message).with_hint("`-C DIR` sets the root")
        };
        let target = session.locate(root, path).ok_or_else(outside)?;
        if session.system().resolve(&session.directory().join(path)).is_err() {
            return Err(CommandError::refused(format!("`{}` does not exist", path.display())));
        }
        if target.kind() == TargetKind::Directory {
            return Ok(Place { directory: target, file: None });
        }
        // By the name that was typed: findings are reported under it, also when it is a link.
        let above = path.parent().filter(|above| !above.as_os_str().is_empty());
        let directory =
            session.locate(root, above.unwrap_or(Path::new("."))).ok_or_else(outside)?;
        Ok(Place { directory, file: path.file_name().map(OsString::from) })
    }
}

fn check(session: &Session, root: &Root, place: &Place, args: &LintArgs) -> Check {
    let ignored = if args.no_ignore { Ignored::Visit } else { Ignored::Skip };
    // A context directory is checked from the directory that it belongs to, and so are tasks.
    let owner = hosted::owner_of(session.system(), &place.directory)
        .or_else(|| tasks::owner_of(&place.directory))
        .or_else(|| native::owner_of(&place.directory));
    let start = owner.as_ref().unwrap_or(&place.directory);
    let is_part = !start.slashed().is_empty();
    let dialects = if is_part { Dialects::Except(vec![portable::NAME]) } else { Dialects::All };
    let scope = Scope { start, ignored, dialects };
    let catalog = Catalog::whole(session.system(), root, scope);
    let mut diagnostics = catalog.check();
    diagnostics.extend(catalog.broken_links(session.system(), root));
    brief_syntax::diagnostic::sort(&mut diagnostics);
    let mut files = catalog.file_count();
    let mut items = Check { diagnostics: Vec::new(), files: 0 };
    if is_part {
        items = check_items(session, root, &place.directory, ignored);
        diagnostics.append(&mut items.diagnostics);
        brief_syntax::diagnostic::sort(&mut diagnostics);
        files += items.files;
    }
    let is_configuration =
        place.file.as_ref().is_some_and(|name| name == portable::config::FILE_NAME);
    if !is_part && (place.file.is_none() || is_configuration) {
        let found = configuration(session, root);
        files += usize::from(!found.is_empty());
        diagnostics.extend(found);
        brief_syntax::diagnostic::sort(&mut diagnostics);
    }
    leave_out_of_other_sources(session, root, &mut diagnostics);
    if !args.pedantic {
        diagnostics.retain(|diagnostic| !PEDANTIC.contains(&diagnostic.rule));
    }
    if let Some(name) = &place.file {
        let path = root.path().join(place.directory.slashed()).join(name);
        diagnostics.retain(|diagnostic| diagnostic.path() == path);
        let is_known = owner.is_some()
            || is_configuration
            || FILE_NAMES.iter().any(|known| name == known)
            || tasks::is_rule_file(name)
            || name.to_str().is_some_and(native::is_client_file)
            || name.to_str().is_some_and(native::is_beginning)
            || agents::is_agent_file(&place.directory, name)
            || items.files > 0 && portable::is_file_name(name);
        files = usize::from(is_known);
    } else if owner.is_some() {
        let directory = root.path().join(place.directory.slashed());
        diagnostics.retain(|diagnostic| diagnostic.path().starts_with(&directory));
    }
    Check { diagnostics, files }
}

/// Rules about names in a bundle that its own registry does not have.
const OF_BUNDLES: [Rule; 2] =
    [rules::portable::BUNDLE_UNRESOLVED, rules::portable::BUNDLE_REQUIRES];

/// Leaves out names in bundles that the other sources of `brief.toml` have, as an installation finds
/// them. Sources are read at their locked commits, from disk; what was never fetched is said.
fn leave_out_of_other_sources(session: &Session, root: &Root, diagnostics: &mut Vec<Diagnostic>) {
    if !diagnostics.iter().any(|found| OF_BUNDLES.contains(&found.rule)) {
        return;
    }
    let (system, project) = (session.system(), Project::at(root.path()));
    let read = |path: PathBuf| system.read(&path, brief_syntax::limits::FILE_BYTES).ok();
    let Some(manifest) = read(project.manifest()) else { return };
    let configuration = Arc::new(Source::from_bytes(project.manifest(), manifest));
    let Ok(manifest) = Manifest::read(&configuration) else { return };
    let lock = read(project.lock()).and_then(|bytes| String::from_utf8(bytes).ok());
    let lock = lock.and_then(|text| Lock::parse(&text).ok()).unwrap_or_default();
    let inventory = Inventory::read(system, &project, &manifest, &lock, &[]);
    let others: Vec<&portable::Registry> =
        inventory.sources.values().filter_map(|source| source.as_ref().ok()).collect();
    let own = portable::read(system, root, &[]);
    let elsewhere = portable::bundle::found_elsewhere(&own, &others);
    diagnostics.retain(|found| {
        let is_there = |(source, span): &(Arc<Source>, Span)| {
            source.path() == found.path() && *span == found.span
        };
        !(OF_BUNDLES.contains(&found.rule) && elsewhere.iter().any(is_there))
    });
    let unread: Vec<&str> = inventory
        .sources
        .iter()
        .filter_map(|(name, source)| source.is_err().then_some(name.as_str()))
        .collect();
    if !unread.is_empty() {
        let help = format!(
            "the source `{}` of brief.toml is not here; `brief sync` fetches it",
            unread.join("`, `")
        );
        let of_bundles = diagnostics.iter_mut().filter(|found| OF_BUNDLES.contains(&found.rule));
        of_bundles.for_each(|found| found.help = Some(help.clone()));
    }
}

/// Returns what is wrong with the project's `brief.toml`, if there is one.
fn configuration(session: &Session, root: &Root) -> Vec<Diagnostic> {
    let path = root.path().join(portable::config::FILE_NAME);
    let bytes = match session.system().read(&path, brief_syntax::limits::FILE_BYTES) {
        Ok(bytes) => bytes,
        Err(ReadError::Missing) => return Vec::new(),
        Err(error) => {
            let source = Arc::new(Source::unread(path));
            let message = format!("the file cannot be read: {error}");
            let rule = rules::project::UNREADABLE_CONFIGURATION;
            return vec![Diagnostic::new(rule, &source, Span::default(), message)];
        }
    };
    let source = Arc::new(Source::from_bytes(path, bytes));
    let mut found = Manifest::read(&source).err().unwrap_or_default();
    for section in [Section::Install, Section::Build] {
        let clients = Clients::read(Some(&source), section, ProfileScope::Project);
        found.extend(clients.err().unwrap_or_default());
    }
    brief_syntax::diagnostic::sort(&mut found);
    found.dedup();
    found
}

/// Checks the portable items in a part of a project. They refer to each other, so the registry is read
/// from its top, if there is anything of it in that part.
fn check_items(session: &Session, root: &Root, directory: &Target, ignored: Ignored) -> Check {
    let dialects = || Dialects::Only(vec![portable::NAME]);
    let top = Target::from_slashed("", TargetKind::Directory);
    let read = |start| {
        let scope = Scope { start, ignored, dialects: dialects() };
        Catalog::whole(session.system(), root, scope)
    };
    // What cannot be walked is reported with the other dialects.
    let of_items = |found: &Diagnostic| !found.code().starts_with("project/");
    let here = read(directory);
    if here.is_empty() && !here.diagnostics().iter().any(of_items) {
        return Check { diagnostics: Vec::new(), files: 0 };
    }
    let below = root.path().join(directory.slashed());
    let is_here = |found: &Diagnostic| of_items(found) && found.path().starts_with(&below);
    let catalog = read(&top);
    let mut diagnostics = catalog.check();
    diagnostics.extend(catalog.broken_links(session.system(), root));
    diagnostics.retain(is_here);
    Check { diagnostics, files: here.file_count() }
}

/// Applies the safe fixes, file by file, and returns how many there were.
fn repair(
    session: &Session,
    root: &Root,
    diagnostics: &[Diagnostic],
) -> Result<usize, CommandError> {
    let mut by_file: BTreeMap<&Path, (&Arc<Source>, Vec<&Diagnostic>)> = BTreeMap::new();
    for diagnostic in diagnostics {
        let is_safe =
            diagnostic.fix.as_ref().is_some_and(|fix| fix.applicability == Applicability::Safe);
        // What was not UTF-8 would not survive being written back.
        if is_safe && diagnostic.source.encoding() == Encoding::Utf8 {
            let entry = by_file.entry(diagnostic.path());
            entry.or_insert((&diagnostic.source, Vec::new())).1.push(diagnostic);
        }
    }
    let mut applied = 0;
    for (path, (source, diagnostics)) in by_file {
        let fixed = apply_safe_fixes(source.text(), diagnostics);
        // A link was followed because it stays inside the root; the file behind it is what changes.
        let resolved = session.system().resolve(path).map(|resolved| resolved.path);
        let target = resolved.unwrap_or_else(|_| path.to_owned());
        if !target.starts_with(root.path()) {
            continue;
        }
        session.system().replace_file(&target, fixed.text.as_bytes()).map_err(|error| {
            CommandError::refused(format!("`{}` cannot be written: {error}", path.display()))
        })?;
        applied += fixed.applied;
    }
    Ok(applied)
}

fn summary(check: &Check, errors: usize, warnings: usize, fixed: usize) -> String {
    let files = counted(check.files, "file");
    let mut text = match (errors, warnings) {
        (0, 0) => format!("no problems in {files}"),
        (errors, 0) => format!("{} in {files}", counted(errors, "error")),
        (0, warnings) => format!("{} in {files}", counted(warnings, "warning")),
        (errors, warnings) => {
            format!("{} and {} in {files}", counted(errors, "error"), counted(warnings, "warning"))
        }
    };
    if fixed > 0 {
        text.push_str(&format!(", {} repaired", counted(fixed, "problem")));
    }
    let fixable = check.diagnostics.iter().filter(|diagnostic| {
        diagnostic.fix.as_ref().is_some_and(|fix| fix.applicability == Applicability::Safe)
    });
    let fixable = fixable.count();
    if fixable > 0 {
        text.push_str(&format!(" ({fixable} can be repaired with --fix)"));
    }
    text
}
