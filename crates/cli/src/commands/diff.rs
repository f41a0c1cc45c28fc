//! `brief diff`

use std::path::{Path, PathBuf};

use brief_engine::diff::{
    self, Comparison, DiffQuestion, DiffReport, ItemChange, ItemChangeKind, SkillFileChange,
    slashed_below,
};
use brief_engine::{Catalog, Moment};
use brief_registry::history::{HistoryError, Revisions};
use brief_syntax::Diagnostic;
use brief_syntax::text::{group_digits, visible_line};
use brief_system::paths::{cleaned_below, to_slashed};
use brief_workflows::revisions::{
    ComparedRevisions, ComparedState, change_before, change_heading, changed_lines, describe_cover,
    different_lines,
};
use clap::Args;

use super::mcp_servers;
use super::question::{DialectArg, MomentArgs, select_dialects};
use crate::error::{CommandError, Result, refuse_if};
use crate::session::Session;
use crate::ui::Ui;

/// Show which files' guidance changed between two revisions
///
/// With one revision, compares it with the working tree. `A..B` compares two revisions; `A...B` compares B with the merge
/// base. Read-only: nothing is checked out.
#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// Older revision, or a range such as `main...HEAD`
    #[arg(
        value_name = "REV", default_value = "HEAD",
        add = clap_complete::ArgValueCompleter::new(crate::complete::complete_revisions)
    )]
    from: String,

    /// Newer revision [default: the working tree]
    #[arg(
        value_name = "REV",
        add = clap_complete::ArgValueCompleter::new(crate::complete::complete_revisions)
    )]
    to: Option<String>,

    /// Limit the comparison to these paths
    #[arg(last = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    #[command(flatten)]
    when: MomentArgs,

    /// Show only this format [repeatable]
    #[arg(long, value_name = "FORMAT")]
    only: Vec<DialectArg>,

    /// Omit items that this client loads itself
    #[arg(long, value_name = "CLIENT", value_parser = mcp_servers::client_parser())]
    client: Option<String>,

    /// Show one line per change, without the text
    #[arg(long, conflicts_with = "json")]
    stat: bool,

    /// Exit 1 if anything changed, 2 if that is unknown
    #[arg(long)]
    exit_code: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &DiffArgs) -> Result {
    let started = session.open_root()?;
    let revisions = Revisions::parse(&args.from, args.to.as_deref());
    let compared = ComparedRevisions::read_revisions(
        session.shared_system(),
        started.path(),
        &revisions,
        &select_dialects(&args.only),
    )
    .map_err(|error| match CommandError::from(error) {
        // 1 says that something changes.
        error if args.exit_code => error.into_usage(),
        error => error,
    })?;
    let within = parse_paths(args, &compared.part)?;
    let ComparedRevisions { root, before, after, changed, .. } = &compared;
    let moment = Moment {
        action: args.when.on,
        timing: args.when.when,
        client: args.client.clone(),
        ..Moment::default()
    };
    let asked = DiffQuestion { moment: &moment, changed, within: &within };
    let comparison = diff::compare_catalogs(&before.catalog, &after.catalog, &asked);
    let (old_problems, new_problems) = compared.collect_problems();
    let skill_files = compared.skill_files(&moment, &within);
    warn_of_unknown(ui, &after.catalog, &within)?;
    if args.json {
        let from = before.to_side(root, &old_problems);
        let to = after.to_side(root, &new_problems);
        let comparison = &comparison;
        let skill_files = &skill_files;
        let body = DiffReport { root, from, to, moment: &moment, comparison, skill_files };
        ui.print_json("diff", root, &new_problems, body)?;
    } else {
        // A problem of both sides is none of the change.
        print_state_diagnostics(ui, before, &only_in(&old_problems, &new_problems), root)?;
        print_state_diagnostics(ui, after, &only_in(&new_problems, &old_problems), root)?;
        for (index, change) in comparison.changes.iter().enumerate() {
            let printer = ChangePrinter { root, comparison: &comparison };
            if args.stat {
                printer.print_line(ui, change)?;
                continue;
            }
            if index > 0 {
                ui.print_line("")?;
            }
            printer.print_change(ui, change)?;
        }
        for (index, change) in skill_files.iter().enumerate() {
            if !args.stat && comparison.changes.len() + index > 0 {
                ui.print_line("")?;
            }
            print_skill_file(ui, change, args.stat)?;
        }
        ui.print_status(&render_diff_summary(&comparison, skill_files.len(), before, after))?;
    }
    let is_same = comparison.changes.is_empty() && skill_files.is_empty();
    refuse_if(args.exit_code && !is_same)
}

impl From<HistoryError> for CommandError {
    fn from(error: HistoryError) -> Self {
        match &error {
            HistoryError::NotARevision(_) => CommandError::usage(error.to_string()),
            HistoryError::Interrupted => CommandError::interrupted(),
            _ => CommandError::refused(error.to_string()),
        }
    }
}

/// Returns the paths to compare, below the root. `part` is the current directory, which counts if none is typed.
fn parse_paths(args: &DiffArgs, part: &str) -> Result<Vec<String>> {
    if args.paths.is_empty() {
        return Ok(if part.is_empty() { Vec::new() } else { vec![part.to_owned()] });
    }
    args.paths
        .iter()
        .map(|path| {
            let outside = || {
                CommandError::usage(format!("`{}` is outside the repository", path.display()))
                    .with_hint("use paths relative to the current directory")
            };
            let below = cleaned_below(&Path::new(part).join(path)).filter(|_| path.is_relative());
            below.map(|path| to_slashed(&path)).ok_or_else(outside)
        })
        .collect()
}

/// Returns the problems that the other side does not have.
fn only_in(problems: &[Diagnostic], others: &[Diagnostic]) -> Vec<Diagnostic> {
    let is_same = |one: &Diagnostic, other: &Diagnostic| {
        one.path() == other.path() && one.rule == other.rule && one.message == other.message
    };
    let is_new = |one: &&Diagnostic| !others.iter().any(|other| is_same(one, other));
    problems.iter().filter(is_new).cloned().collect()
}

/// Warns of unknown paths: a typing error would look like no change.
fn warn_of_unknown(ui: &mut Ui, new: &Catalog, within: &[String]) -> Result {
    let Some(project) = new.files() else { return Ok(()) };
    for path in within.iter().filter(|path| !path.is_empty()) {
        let is_file = project.files.binary_search(path).is_ok();
        if !is_file && project.files_below(path).next().is_none() {
            ui.print_warning(&format!("file not found in the newer revision: `{path}`"))?;
        }
    }
    Ok(())
}

fn print_state_diagnostics(
    ui: &mut Ui,
    state: &ComparedState,
    problems: &[Diagnostic],
    root: &Path,
) -> Result {
    for problem in problems {
        let place = format!("{}:{}", slashed_below(root, problem.path()), problem.position().line);
        let (message, code) = (&problem.message, problem.code());
        ui.print_warning(&format!("in {}, {place}: {message} [{code}]", state.name()))?;
    }
    Ok(())
}

struct ChangePrinter<'p> {
    root: &'p Path,
    comparison: &'p Comparison<'p>,
}

impl ChangePrinter<'_> {
    fn print_change(&self, ui: &mut Ui, change: &ItemChange<'_>) -> Result {
        ui.print_heading(&change_heading(self.root, change))?;
        let files = describe_cover(change, &self.comparison.cover_change(change));
        ui.print_line(format!("  {}", visible_line(&files)))?;
        if let Some(was) = change_before(self.root, change) {
            ui.print_line(format!("  {}", visible_line(&was)))?;
        }
        if matches!(
            change.kind,
            ItemChangeKind::Added | ItemChangeKind::Removed | ItemChangeKind::Text
        ) {
            for line in changed_lines(change) {
                ui.print_compared("    ", &line)?;
            }
        }
        Ok(())
    }

    /// Prints a change in one line.
    fn print_line(&self, ui: &mut Ui, change: &ItemChange<'_>) -> Result {
        let heading = change_heading(self.root, change);
        let lines = changed_lines(change);
        let count = |sign| lines.iter().filter(|line| line.starts_with(sign)).count();
        let lines = match change.kind {
            ItemChangeKind::Added | ItemChangeKind::Removed | ItemChangeKind::Text => {
                format!(", +{} -{}", count('+'), count('-'))
            }
            ItemChangeKind::State | ItemChangeKind::Moved | ItemChangeKind::Order => String::new(),
        };
        let cover = describe_cover(change, &self.comparison.cover_change(change));
        ui.print_line(visible_line(&format!("{heading}{lines}, {cover}")))
    }
}

/// Prints the change of a skill's file.
fn print_skill_file(ui: &mut Ui, change: &SkillFileChange, is_short: bool) -> Result {
    let SkillFileChange { kind, skill, path, before, after } = change;
    let heading = format!("{:<9} {path}  file of skill {skill}", kind.as_str());
    let lines = match (before, after) {
        (None, None) => vec!["(binary)".to_owned()],
        _ => different_lines(
            before.as_deref().unwrap_or_default(),
            after.as_deref().unwrap_or_default(),
        ),
    };
    if is_short {
        let count = |sign| lines.iter().filter(|line| line.starts_with(sign)).count();
        let numbers = format!("+{} -{}", count('+'), count('-'));
        return ui.print_line(visible_line(&format!("{heading}, {numbers}, agents that open it")));
    }
    ui.print_heading(&heading)?;
    ui.print_line("  agents that open it")?;
    lines.iter().try_for_each(|line| ui.print_compared("    ", line))
}

fn render_diff_summary(
    comparison: &Comparison<'_>,
    skill_files: usize,
    before: &ComparedState,
    after: &ComparedState,
) -> String {
    let between = format!("between {} and {}", before.name(), after.name());
    let changes = match comparison.changes.len() + skill_files {
        0 => return format!("the guidance is the same, {between}"),
        1 => "1 change".to_owned(),
        count => format!("{} changes", group_digits(count as u64)),
    };
    let (some, all) = (comparison.changed_file_count(), comparison.file_count());
    let is_on_demand = |change: &ItemChange<'_>| change.is_on_demand();
    if comparison.changes.iter().all(is_on_demand) {
        return format!("{changes} for agents that open a skill or an agent, {between}");
    }
    let plural = if all == 1 { "" } else { "s" };
    let (some, all) = (group_digits(some as u64), group_digits(all as u64));
    format!("{changes} for {some} of {all} file{plural}, {between}")
}
