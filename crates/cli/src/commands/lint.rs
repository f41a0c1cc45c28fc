//! `brief lint`

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_checks::baseline::Baseline;
use brief_checks::lint::{
    ConfigurationCheck, Findings, Lint, LintPart, UncheckedPath, UnwrittenFix,
};
use brief_checks::render;
use brief_engine::agents::{Agent, AgentOptions, load_agent};
use brief_engine::{Root, System};
use brief_syntax::diagnostic::Applicability;
use brief_syntax::render::path_below;
use brief_syntax::{Diagnostic, Severity, Source, limits};
use brief_system::resolved_home;
use brief_workflows::configuration::ProjectAndSource;
use brief_workflows::history::{GitHistory, LazyHistory};
use clap::{Args, ValueEnum};

use super::doctor::Extent;
use super::lint_setup::check_setup;
use crate::agent_program::{self, ParsedCode};
use crate::clock::with_clock;
use crate::commands::whole::format_count;
use crate::error::{CommandError, Result, refuse_if};
use crate::explain;
use crate::installation::InstallationArg;
use crate::session::Session;
use crate::surroundings::{mention_unread_parents, warn_of_checked_root};
use crate::ui::Ui;

/// Find mistakes, outdated references and unused rules
///
/// Reads the whole repository; paths only limit the report. Exits 1 on an error, and with --strict on any warning. Ignored
/// directories are skipped unless you name them.
///
/// There are four parts: mistakes in files; stale, references to what the project no longer has; unused, items and
/// patterns that match nothing; setup, hooks and installed files on this machine.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a user can set")]
#[expect(clippy::option_option, reason = "without a name the file has its usual place")]
pub(crate) struct LintArgs {
    /// Directories and files to report on
    #[arg(value_name = "PATH", default_value = ".")]
    paths: Vec<PathBuf>,

    /// Apply safe fixes, or also suggested ones
    #[arg(long, value_name = "WHICH", num_args = 0..=1, require_equals = true, default_missing_value = "safe")]
    fix: Option<FixArg>,

    /// Check only these parts [repeatable]
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    only: Vec<PartArg>,

    /// Report only what changed after REV, in commits or in the working tree
    #[arg(
        long, value_name = "REV",
        add = clap_complete::ArgValueCompleter::new(crate::complete::complete_revisions)
    )]
    since: Option<String>,

    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: FindingsFormat,

    /// Print JSON, as `--format json` does
    #[arg(long, conflicts_with = "format")]
    json: bool,

    /// Treat warnings as errors
    #[arg(long)]
    strict: bool,

    /// Ignore problems recorded in this file [default: brief-baseline.json in the root]
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    baseline: Option<Option<PathBuf>>,

    /// Save current problems to the baseline file
    #[arg(long, requires = "baseline")]
    update_baseline: bool,

    /// Enable pedantic rules, such as missing licenses
    #[arg(long)]
    pedantic: bool,

    /// Also report files without guidance
    #[arg(long)]
    complete: bool,

    /// Also report items over N tokens that apply to 90% of files
    #[arg(long, value_name = "N")]
    heavy: Option<usize>,

    /// Include ignored directories
    #[arg(long)]
    no_ignore: bool,

    /// Check the setup of your user-level installation instead of the project
    #[arg(long, short = 'g', conflicts_with_all = ["paths", "fix", "only", "since", "baseline", "complete", "heavy", "no_ignore"])]
    global: bool,

    /// Explain a rule
    #[arg(
        long,
        value_name = "CODE",
        add = clap_complete::ArgValueCompleter::new(crate::complete::complete_codes),
        conflicts_with_all = ["paths", "fix", "format", "json", "strict", "pedantic", "no_ignore", "baseline", "only", "since", "complete", "heavy", "global"]
    )]
    explain: Option<String>,
}

/// A part of what is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PartArg {
    /// What is wrong in a file
    Mistakes,
    /// References to what the project no longer has
    Stale,
    /// Items and patterns that match nothing
    Unused,
    /// Hooks and installed files on this machine
    Setup,
}

impl PartArg {
    fn part(self) -> LintPart {
        match self {
            PartArg::Mistakes => LintPart::Mistakes,
            PartArg::Stale => LintPart::Stale,
            PartArg::Unused => LintPart::Unused,
            PartArg::Setup => LintPart::Setup,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum FindingsFormat {
    Text,
    Json,
    Sarif,
    /// Annotations for GitHub Actions
    Github,
    /// Code Quality report for GitLab
    Gitlab,
    /// JUnit XML, one test suite per file
    Junit,
}

/// The fixes to apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FixArg {
    /// Fixes with one sensible result
    Safe,
    /// Also probable fixes, such as for a misspelled name
    Suggested,
}

impl FixArg {
    fn least_applicability(self) -> Applicability {
        match self {
            FixArg::Safe => Applicability::Safe,
            FixArg::Suggested => Applicability::Suggested,
        }
    }
}

/// The name of a baseline file, unless the user names another.
const BASELINE: &str = "brief-baseline.json";

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &LintArgs) -> Result {
    if let Some(code) = &args.explain {
        return ui.print_raw(&explain::render_rule_page(code)?);
    }
    if args.global {
        return check_global(ui, session, args);
    }
    let project = session.open_project()?;
    let root = project.root().path();
    let mut checks = ProjectChecks::new(session, args.pedantic);
    checks.asks_setup = args.only == [PartArg::Setup];
    let since = match args.since.as_deref() {
        Some(since) => Some(GitHistory::open_project(session.shared_system(), root, Some(since))?),
        None => None,
    };
    // Who asks for references alone waits for all of them.
    let lazy = if args.only.contains(&PartArg::Stale) {
        LazyHistory::with_all_commits(session.shared_system(), root)
    } else {
        LazyHistory::with_recent_commits(session.shared_system(), root)
    };
    let has_changed =
        |source: &Source| since.as_ref().is_none_or(|history| history.has_changed(root, source));
    let (first, others) = args.paths.split_first().expect("a path has a default");
    let mut lint = Lint::new(&project, first)
        .map_err(|problem| unchecked_path_error(&problem, first, root))?
        .configured_by(&checks);
    for path in others {
        lint = lint
            .with_part(&project, path)
            .map_err(|problem| unchecked_path_error(&problem, path, root))?;
    }
    lint = match &since {
        Some(history) => lint.with_history(history).changed_only(&has_changed),
        None => lint.with_history(&lazy),
    };
    if !args.only.is_empty() {
        lint = lint.only(&args.only.iter().map(|part| part.part()).collect::<Vec<_>>());
    }
    if let Some(tokens) = args.heavy {
        lint = lint.with_heavy(tokens);
    }
    if args.complete {
        lint = lint.complete();
    }
    if args.no_ignore {
        lint = lint.with_ignored();
    }
    if args.pedantic {
        lint = lint.pedantic();
    }
    warn_of_checked_root(ui, session, project.root())?;
    let mut found = with_clock(ui, "checking the project", || match args.fix {
        Some(which) => lint.check_and_fix(which.least_applicability()),
        None => Ok(lint.check()),
    })
    .map_err(|error| unwritten_fix_error(&error))?;
    if let Some(file) = &args.baseline {
        let path = match file {
            Some(file) => session.directory().join(file),
            None => root.join(BASELINE),
        };
        if args.update_baseline {
            let mut baseline = Baseline::from_diagnostics(&found.diagnostics, root);
            // What is recorded of the rest of the project stays.
            if let Ok(before) = read_baseline(session, &path) {
                baseline.add_others(before, |file| lint.contains_path(&root.join(file)));
            }
            write_baseline(ui, session, &path, &baseline)?;
        }
        let baseline = read_baseline(session, &path)?;
        found.known = baseline.apply_baseline(&mut found.diagnostics, root);
    }
    found.group_causes();
    let unchecked = unchecked_parts(&found, checks.failure.take().as_deref());
    let outcome = print_findings(ui, args, &found, root, &unchecked);
    checks.mention_unparsed(ui, root)?;
    if found.files == 0 {
        match found.elsewhere {
            0 => ui.print_warning("no guidance files found")?,
            others => {
                let place = |path: &PathBuf| match path.to_str() {
                    Some(".") => "this directory".to_owned(),
                    _ => format!("`{}`", path.display()),
                };
                let place = args.paths.iter().map(place).collect::<Vec<_>>().join(", ");
                let others = format_count(others, "guidance file");
                ui.print_warning(&format!(
                    "no guidance in {place}; {others} elsewhere in the project"
                ))?;
            }
        }
        mention_unread_parents(ui, session, project.root())?;
    }
    outcome
}

/// Checks the user's own installation.
fn check_global(ui: &mut Ui, session: &Session, args: &LintArgs) -> Result {
    let extent = if args.pedantic { Extent::Rest } else { Extent::Warnings };
    let mut diagnostics = check_setup(session, &InstallationArg { global: true }, extent)?;
    diagnostics.retain(|one| args.pedantic || one.severity != Severity::Note);
    let root = resolved_home(session.system()).unwrap_or_else(|| session.directory().to_owned());
    let found = Findings { diagnostics, checked: vec![LintPart::Setup], ..Findings::default() };
    print_findings(ui, args, &found, &root, &[])
}

/// Prints the findings, and tells whether they are a reason to fail.
fn print_findings(
    ui: &mut Ui,
    args: &LintArgs,
    found: &Findings,
    root: &Path,
    unchecked: &[String],
) -> Result {
    match if args.json { FindingsFormat::Json } else { args.format } {
        FindingsFormat::Text => {
            ui.print_diagnostics(&found.diagnostics, root)?;
            for (path, reason) in &found.unfixed {
                let path = path_below(root, path);
                ui.print_warning(&format!("cannot fix `{path}`: the file {reason}"))?;
            }
            ui.print_status(&render_lint_summary(found, args, unchecked))?;
        }
        FindingsFormat::Json => ui.print_json("lint", root, &found.diagnostics, found)?,
        format => print_report(ui, format, &found.diagnostics, root)?,
    }
    let (errors, warnings) =
        (found.count_severity(Severity::Error), found.count_severity(Severity::Warning));
    refuse_if(errors > 0 || args.strict && warnings > 0)
}

/// Returns the parts that were not checked. `failure` says why the setup could not be.
fn unchecked_parts(found: &Findings, failure: Option<&str>) -> Vec<String> {
    let skipped = LintPart::ALL.into_iter().filter(|part| !found.checked.contains(part));
    let named = skipped.map(|part| match (part, failure) {
        (LintPart::Setup, Some(failure)) => format!("setup ({failure})"),
        _ => part.as_str().to_owned(),
    });
    named.collect()
}

/// Prints findings in a format that another program reads.
pub(super) fn print_report(
    ui: &mut Ui,
    format: FindingsFormat,
    found: &[Diagnostic],
    root: &Path,
) -> Result {
    match format {
        FindingsFormat::Text | FindingsFormat::Json => Ok(()),
        FindingsFormat::Github => ui.print_text(render::render_github(found, root).as_bytes()),
        FindingsFormat::Gitlab => ui.print_document(&render::render_gitlab(found, root)),
        FindingsFormat::Junit => ui.print_text(render::render_junit(found, root).as_bytes()),
        FindingsFormat::Sarif => {
            ui.print_document(&render::render_sarif(found, root, env!("CARGO_PKG_VERSION")))
        }
    }
}

/// The checks of `brief.toml`, of the setup, and of the code of agents, which is parsed and never run.
pub(super) struct ProjectChecks<'s> {
    session: &'s Session,
    is_pedantic: bool,
    /// True if the user asks for the setup alone: then also for what only the user can do.
    asks_setup: bool,
    /// The reason why the setup could not be checked.
    failure: RefCell<Option<String>>,
    /// The agent files whose code was not parsed, with the reason.
    unparsed: RefCell<Vec<(PathBuf, String)>>,
}

impl ProjectChecks<'_> {
    pub(super) fn new(session: &Session, is_pedantic: bool) -> ProjectChecks<'_> {
        ProjectChecks {
            session,
            is_pedantic,
            asks_setup: false,
            failure: RefCell::default(),
            unparsed: RefCell::default(),
        }
    }

    /// Returns the syntax errors in the code of agents. `brief-agent` parses it.
    fn parse_agents(&self, root: &Root, files: &[&Path]) -> Vec<Diagnostic> {
        let options = AgentOptions { root: Some(root.path()), ..AgentOptions::default() };
        let files = files.iter().filter(|path| path.to_string_lossy().ends_with(".agent.md"));
        let agents: Vec<(&Path, Agent)> = files
            .filter_map(|path| {
                let agent = load_agent(self.session.system(), path, &options).agent()?.clone();
                agent.tools.is_some().then_some((*path, agent))
            })
            .collect();
        if agents.is_empty() {
            return Vec::new();
        }
        let code = |(_, agent): &(_, Agent)| agent.tools.as_ref().map(|tools| tools.code.clone());
        let texts: Vec<String> = agents.iter().filter_map(code).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let parsed = agent_program::parse_code(self.session, &texts)
            .unwrap_or_else(|reason| vec![ParsedCode::Unparsed(reason); agents.len()]);
        let mut found = Vec::new();
        for ((path, agent), parsed) in agents.iter().zip(parsed) {
            match parsed {
                ParsedCode::Valid => {}
                ParsedCode::Invalid(problem) => found.push(agent.diagnose_code(problem)),
                ParsedCode::Unparsed(reason) => {
                    self.unparsed.borrow_mut().push(((*path).to_owned(), reason));
                }
            }
        }
        found
    }

    /// Tells which code was not parsed.
    pub(super) fn mention_unparsed(&self, ui: &mut Ui, root: &Path) -> Result {
        let unparsed = self.unparsed.take();
        let Some((path, reason)) = unparsed.first() else { return Ok(()) };
        let path = path_below(root, path);
        let others = match unparsed.len() {
            1 => String::new(),
            count => format!(" and of {}", format_count(count - 1, "other agent file")),
        };
        ui.print_warning(&format!("the code of `{path}`{others} was not checked: {reason}"))?;
        if reason == agent_program::MISSING {
            ui.print_hint(agent_program::HOW_TO_GET_IT)?;
        }
        Ok(())
    }
}

impl ConfigurationCheck for ProjectChecks<'_> {
    fn check_configuration_file(
        &self,
        system: &dyn System,
        root: &Root,
        configuration: &Arc<Source>,
    ) -> Vec<Diagnostic> {
        ProjectAndSource.check_configuration_file(system, root, configuration)
    }

    fn check_files(&self, root: &Root, files: &[&Path]) -> Vec<Diagnostic> {
        self.parse_agents(root, files)
    }

    fn check_source(&self, system: &dyn System, root: &Root) -> Vec<Diagnostic> {
        ProjectAndSource.check_source(system, root)
    }

    fn check_setup(&self, _: &dyn System, _: &Root) -> Option<Vec<Diagnostic>> {
        let extent = match (self.asks_setup, self.is_pedantic) {
            (true, true) => Extent::OwnRest,
            (true, false) => Extent::Own,
            (false, true) => Extent::Rest,
            (false, false) => Extent::Warnings,
        };
        match check_setup(self.session, &InstallationArg { global: false }, extent) {
            Ok(found) => Some(found),
            Err(error) => {
                let known = "brief.toml or a file in .brief/clients has errors".to_owned();
                let reason = if error.is_reported() { known } else { error.to_string() };
                self.failure.replace(Some(reason));
                None
            }
        }
    }

    fn remove_resolved(&self, system: &dyn System, root: &Root, diagnostics: &mut Vec<Diagnostic>) {
        ProjectAndSource.remove_resolved(system, root, diagnostics);
    }
}

fn unchecked_path_error(problem: &UncheckedPath, path: &Path, root: &Path) -> CommandError {
    let (path, root) = (path.display(), root.display());
    match problem {
        UncheckedPath::Outside => CommandError::refused(format!("`{path}` is outside `{root}`"))
            .with_hint("pass `-C DIR` to set the root"),
        UncheckedPath::Missing => CommandError::refused(format!("file not found: `{path}`")),
    }
}

fn read_baseline(session: &Session, path: &Path) -> Result<Baseline> {
    let shown = path.display();
    let bytes = session.system().read(path, limits::FILE_BYTES).map_err(|error| {
        CommandError::refused(format!("cannot read the baseline `{shown}`: {error}"))
            .with_hint("run `brief lint --baseline --update-baseline` to create it")
    })?;
    Baseline::parse(&bytes).map_err(|error| {
        CommandError::refused(format!("cannot use the baseline `{shown}`: {error}"))
            .with_hint("pass `--update-baseline` to regenerate it")
    })
}

fn write_baseline(ui: &mut Ui, session: &Session, path: &Path, baseline: &Baseline) -> Result {
    let shown = path.display();
    let refused = |problem: &dyn std::fmt::Display| {
        CommandError::refused(format!("cannot write the baseline `{shown}`: {problem}"))
    };
    let text = baseline.to_text().map_err(|error| refused(&error))?;
    session.system().replace_file(path, text.as_bytes()).map_err(|error| refused(&error))?;
    ui.print_status(&format!("recorded {} in {shown}", format_count(baseline.count(), "problem")))
}

fn unwritten_fix_error(fix: &UnwrittenFix) -> CommandError {
    let (path, error) = (fix.path.display(), &fix.error);
    CommandError::refused(format!("cannot write `{path}`: {error}"))
}

fn render_lint_summary(found: &Findings, args: &LintArgs, unchecked: &[String]) -> String {
    let count = |severity, word| match found.count_severity(severity) {
        0 => None,
        count => Some(format_count(count, word)),
    };
    let kinds = [
        count(Severity::Error, "error"),
        count(Severity::Warning, "warning"),
        count(Severity::Note, "note"),
    ];
    let mut text = match kinds.into_iter().flatten().collect::<Vec<_>>().as_slice() {
        [] => "No problems".to_owned(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    };
    if let Some(since) = &args.since {
        text.push_str(&format!(" since `{since}`"));
    }
    if !args.global {
        text.push_str(&format!(" in {}", format_count(found.files, "file")));
    }
    for (count, how) in [(found.known, "in the baseline"), (found.ignored, "suppressed")] {
        if count > 0 {
            text.push_str(&format!(", {count} {how}"));
        }
    }
    let (safe, suggested) = found.count_fixable();
    if args.fix.is_some() {
        text.push_str(&format!("; {} fixed", found.fixed));
    }
    if args.fix != Some(FixArg::Suggested) {
        let more = if args.fix.is_some() { "more" } else { "fixable" };
        let ways = [(safe, "--fix"), (suggested, "--fix=suggested")];
        let ways = ways
            .iter()
            .filter(|(count, way)| *count > 0 && (args.fix.is_none() || *way != "--fix"));
        for (count, way) in ways {
            text.push_str(&format!("; {count} {more} with `{way}`"));
        }
    }
    let by_hand = found.diagnostics.iter().filter(|one| one.fix.is_none()).count();
    if args.fix.is_some() && by_hand > 0 {
        text.push_str(&format!("; {by_hand} to fix by hand"));
    }
    if !unchecked.is_empty() {
        text.push_str(&format!("; not checked: {}", unchecked.join(", ")));
    }
    text
}
