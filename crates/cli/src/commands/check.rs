//! `brief check`

use std::io::Read;
use std::path::{Path, PathBuf};

use brief_checks::rules::{RuleSet, Verdict, propose_check};
use brief_dialects::Dialects;
use brief_registry::history::{CommitMessage, Revisions};
use brief_workflows::change_check::{AskedChange, CheckedChange, ReadChange, date_of_today};
use clap::Args;

use super::lint::{FindingsFormat, print_report};
use crate::clock::with_clock;
use crate::commands::whole::format_count;
use crate::error::{CommandError, Result, refuse_if};
use crate::session::Session;
use crate::ui::Ui;

/// Check whether a change keeps the rules
///
/// Judges a change by the checks of the project's rules: the working tree and untracked files compared with the newest commit,
/// staged files, or a diff. Only added lines count. Exits 1 if a rule is broken. Read-only.
///
/// A comment on the line or the line above makes an exception: `brief-allow ID until 2027-01-31: REASON`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Directories and files to report on
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Check what is staged
    #[arg(long, conflicts_with = "diff")]
    staged: bool,

    /// Check changes since REV, or those of a range such as `main...HEAD`
    #[arg(
        long, value_name = "REV",
        add = clap_complete::ArgValueCompleter::new(crate::complete::complete_revisions)
    )]
    diff: Option<String>,

    /// Also check the commit message in FILE, `-` for standard input
    #[arg(long, value_name = "FILE")]
    message: Option<PathBuf>,

    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: FindingsFormat,

    /// Print JSON, as `--format json` does
    #[arg(long, conflicts_with = "format")]
    json: bool,

    /// Print a check for a rule such as `use pnpm, not npm`
    #[arg(
        long, value_name = "RULE",
        conflicts_with_all = ["paths", "staged", "diff", "message", "format", "json"]
    )]
    propose: Option<String>,
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &CheckArgs) -> Result {
    if let Some(text) = &args.propose {
        return propose(ui, text);
    }
    let project = session.open_project()?;
    let root = project.root().path();
    let within = find_paths(session, args)?;
    let asked = match &args.diff {
        Some(revisions) => AskedChange::Revisions(Revisions::parse(revisions, None)),
        None if args.staged => AskedChange::Staged,
        None => AskedChange::Working,
    };
    let message =
        args.message.as_deref().map(|path| read_message(ui, session, path)).transpose()?;
    let today = date_of_today(session.system());
    let checked = with_clock(ui, "checking the change", || -> Result<CheckedChange> {
        let catalog = project.read_project(Dialects::All);
        let rules = RuleSet::new(root, catalog.rule_checks());
        let mut change = ReadChange::read(session.shared_system(), root, &asked, &rules)?;
        change.messages.extend(message);
        Ok(CheckedChange::judge((root, &catalog), rules, &change, &within, &today))
    })?;
    match if args.json { FindingsFormat::Json } else { args.format } {
        FindingsFormat::Json => {
            ui.print_json("check", root, &checked.diagnostics, checked.to_report(root))?;
        }
        FindingsFormat::Text => {
            ui.print_diagnostics(&checked.diagnostics, root)?;
            ui.print_status(&render_summary(&checked))?;
            if checked.rules.is_empty() {
                ui.print_hint("run `brief check --propose RULE` to print a check for a rule")?;
            }
        }
        format => print_report(ui, format, &checked.diagnostics, root)?,
    }
    refuse_if(checked.has_failed())
}

/// Prints a check for the text of a rule.
fn propose(ui: &mut Ui, text: &str) -> Result {
    match propose_check(text) {
        Some(proposed) => {
            ui.print_data(&proposed.yaml)?;
            ui.print_hint("add it to the rule, and run `brief lint` to try its examples")
        }
        None => Err(CommandError::refused(format!("no check for the text `{text}`"))
            .with_hint("write it as `never run X`, `use X, not Y`, `do not edit X`, `do not import from X`, `always run X before committing` or `every change to X needs a Y`")),
    }
}

/// Returns the paths to report on, below the root.
fn find_paths(session: &Session, args: &CheckArgs) -> Result<Vec<String>> {
    let root = session.open_root()?;
    let root = session.open_project().map_or(root, |project| project.root().clone());
    args.paths
        .iter()
        .map(|path| {
            let target = session.locate(&root, path).ok_or_else(|| {
                let (path, root) = (path.display(), root.path().display());
                CommandError::refused(format!("`{path}` is outside `{root}`"))
                    .with_hint("pass `-C DIR` to set the root")
            })?;
            Ok(target.slashed().to_owned())
        })
        .collect()
}

/// Reads a commit message as git does: without comments.
fn read_message(ui: &mut Ui, session: &Session, path: &Path) -> Result<CommitMessage> {
    const LIMIT: u64 = 1024 * 1024;
    let shown = path.display();
    let mut text = String::new();
    if path == Path::new("-") {
        let mut stdin = ui.take_stdin().take(LIMIT);
        stdin
            .read_to_string(&mut text)
            .map_err(|error| CommandError::refused(format!("cannot read the message: {error}")))?;
    } else {
        let path = session.directory().join(path);
        let bytes = session.system().read(&path, LIMIT).map_err(|error| {
            CommandError::refused(format!("cannot read the message `{shown}`: {error}"))
        })?;
        text = String::from_utf8_lossy(&bytes).into_owned();
    }
    // What stands below this line is the diff of `git commit --verbose`.
    let end = text.find("\n# ------------------------ >8").unwrap_or(text.len());
    let lines = text[..end].lines().filter(|line| !line.starts_with('#'));
    let text = lines.collect::<Vec<_>>().join("\n").trim().to_owned();
    Ok(CommitMessage { id: String::new(), text })
}

fn render_summary(checked: &CheckedChange) -> String {
    let files = format_count(checked.files, "changed file");
    if checked.rules.is_empty() {
        return format!("No rule has a check; {files}");
    }
    let broken = checked.count_verdict(Verdict::Broken);
    let mut text = match broken {
        0 => format!("No rule broken in {files}"),
        broken => format!("{} broken in {files}", format_count(broken, "rule")),
    };
    let kinds = [
        (checked.count_verdict(Verdict::Kept), "kept"),
        (checked.count_verdict(Verdict::NoOccasion), "without an occasion"),
        (checked.count_verdict(Verdict::Unknown), "that a change does not show"),
        (checked.excepted, "excepted"),
    ];
    for (count, what) in kinds.into_iter().filter(|(count, _)| *count > 0) {
        text.push_str(&format!(", {count} {what}"));
    }
    text
}
