//! `brief lint`

use std::path::{Path, PathBuf};

use brief_engine::baseline::Baseline;
use brief_engine::lint::{Findings, UncheckedPath, UnwrittenFix};
use brief_serve::configuration::ProjectConfiguration;
use brief_syntax::diagnostic::Applicability;
use brief_syntax::render::{github, sarif};
use brief_syntax::{Severity, limits};
use clap::{Args, ValueEnum};

use crate::commands::whole::counted;
use crate::error::{CommandError, Result, refuse_if};
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

    /// The format of the findings
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: FindingsFormat,

    /// Print JSON: the findings, and how many there are; the same as `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,

    /// Count warnings as errors
    #[arg(long)]
    strict: bool,

    /// Leave out the findings that this file records
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = BASELINE)]
    baseline: Option<PathBuf>,

    /// Record today's findings in the baseline file; those of tomorrow are reported
    #[arg(long, requires = "baseline")]
    update_baseline: bool,

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
        conflicts_with_all = ["path", "fix", "format", "json", "strict", "pedantic", "no_ignore", "baseline"]
    )]
    explain: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum FindingsFormat {
    Text,
    Json,
    Sarif,
    /// Annotations of GitHub Actions
    Github,
}

/// The name of a baseline file, unless the user names another.
const BASELINE: &str = "brief-baseline.json";

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &LintArgs) -> Result {
    if let Some(code) = &args.explain {
        return ui.print_raw(&explain::explanation(code)?);
    }
    let project = session.directory_project()?;
    let mut lint = project
        .lint(&args.path)
        .map_err(|problem| refusal(&problem, &args.path, project.root().path()))?
        .configured_by(&ProjectConfiguration);
    if args.no_ignore {
        lint = lint.with_ignored();
    }
    if args.pedantic {
        lint = lint.pedantic();
    }
    let mut found =
        if args.fix { lint.fix().map_err(|error| unwritten(&error))? } else { lint.check() };
    let root = project.root().path();
    if let Some(file) = &args.baseline {
        let path = session.directory().join(file);
        if args.update_baseline {
            write_baseline(ui, session, &path, &Baseline::of(&found.diagnostics, root))?;
        }
        let baseline = read_baseline(session, &path)?;
        found.known = baseline.leave_out(&mut found.diagnostics, root);
    }
    let (errors, warnings) = (found.count(Severity::Error), found.count(Severity::Warning));
    match if args.json { FindingsFormat::Json } else { args.format } {
        FindingsFormat::Text => {
            ui.print_diagnostics(&found.diagnostics, root)?;
            ui.status(&summary(&found, errors, warnings))?;
        }
        FindingsFormat::Json => ui.print_json("lint", root, &found.diagnostics, &found)?,
        FindingsFormat::Github => ui.print_raw(&github(&found.diagnostics, root))?,
        FindingsFormat::Sarif => {
            ui.print_document(&sarif(&found.diagnostics, root, env!("CARGO_PKG_VERSION")))?;
        }
    }
    if found.files == 0 {
        ui.warning("no guidance files found")?;
    }
    refuse_if(errors > 0 || args.strict && warnings > 0)
}

fn refusal(problem: &UncheckedPath, path: &Path, root: &Path) -> CommandError {
    let (path, root) = (path.display(), root.display());
    match problem {
        UncheckedPath::Outside => CommandError::refused(format!("`{path}` is outside `{root}`"))
            .with_hint("`-C DIR` sets the root"),
        UncheckedPath::Missing => CommandError::refused(format!("`{path}` does not exist")),
    }
}

fn read_baseline(session: &Session, path: &Path) -> Result<Baseline> {
    let shown = path.display();
    let bytes = session.system().read(path, limits::FILE_BYTES).map_err(|error| {
        CommandError::refused(format!("the baseline `{shown}` cannot be read: {error}"))
            .with_hint("`brief lint --baseline --update-baseline` writes one")
    })?;
    Baseline::read(&bytes).map_err(|error| {
        CommandError::refused(format!("the baseline `{shown}` cannot be used: {error}"))
            .with_hint("`--update-baseline` writes it anew")
    })
}

fn write_baseline(ui: &mut Ui, session: &Session, path: &Path, baseline: &Baseline) -> Result {
    let shown = path.display();
    let refused = |problem: &dyn std::fmt::Display| {
        CommandError::refused(format!("the baseline `{shown}` cannot be written: {problem}"))
    };
    let text = baseline.to_text().map_err(|error| refused(&error))?;
    session.system().replace_file(path, text.as_bytes()).map_err(|error| refused(&error))?;
    ui.status(&format!("{shown} records {}", counted(baseline.count(), "finding")))
}

fn unwritten(fix: &UnwrittenFix) -> CommandError {
    let (path, error) = (fix.path.display(), &fix.error);
    CommandError::refused(format!("`{path}` cannot be written: {error}"))
}

fn summary(found: &Findings, errors: usize, warnings: usize) -> String {
    let files = counted(found.files, "file");
    let mut text = match (errors, warnings) {
        (0, 0) => format!("no problems in {files}"),
        (errors, 0) => format!("{} in {files}", counted(errors, "error")),
        (0, warnings) => format!("{} in {files}", counted(warnings, "warning")),
        (errors, warnings) => {
            format!("{} and {} in {files}", counted(errors, "error"), counted(warnings, "warning"))
        }
    };
    if found.fixed > 0 {
        text.push_str(&format!(", {} repaired", counted(found.fixed, "problem")));
    }
    for (count, how) in
        [(found.known, "in the baseline"), (found.ignored, "taken back by a comment")]
    {
        if count > 0 {
            text.push_str(&format!(", {count} {how}"));
        }
    }
    let fixable = found.diagnostics.iter().filter(|diagnostic| {
        diagnostic.fix.as_ref().is_some_and(|fix| fix.applicability == Applicability::Safe)
    });
    let fixable = fixable.count();
    if fixable > 0 {
        text.push_str(&format!(" ({fixable} can be repaired with --fix)"));
    }
    text
}
