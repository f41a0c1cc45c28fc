//! `brief stale`

use std::path::PathBuf;

use brief_checks::references::{
    Likelihood, ProjectHistory, StaleReference, StaleReport, find_stale_references,
};
use brief_registry::history::HistoryError;
use brief_syntax::text::visible_line;
use brief_workflows::history::GitHistory;
use clap::Args;

use super::question::shown_place;
use super::whole::{WholeProject, format_count};
use crate::clock::with_clock;
use crate::error::{CommandError, Result, refuse_if};
use crate::installation::short_commit;
use crate::session::Session;
use crate::ui::Ui;

/// Find references to things that no longer exist
///
/// Paths, links, targets of make and just, scripts, packages and versions, the likeliest first, with
/// the commit that removed them where history tells. git's objects are read; nothing of the
/// repository is executed. --strict exits with 1 when something certain or likely is found.
#[derive(Debug, Args)]
pub(crate) struct StaleArgs {
    /// Limit the report to these paths [default: the current directory]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Report only what was removed after REV, in commits or in the working tree
    #[arg(
        long, value_name = "REV",
        add = clap_complete::ArgValueCompleter::new(crate::complete::complete_revisions)
    )]
    since: Option<String>,

    /// Exit 1 if something certain or likely is found
    #[arg(long)]
    strict: bool,

    /// Print JSON: each finding with its place and the commit
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &StaleArgs) -> Result {
    let whole = WholeProject::read(ui, session, None, brief_engine::Dialects::All)?;
    let root = whole.root.path();
    let mut within = Vec::new();
    let here = [PathBuf::from(".")];
    for path in if args.paths.is_empty() { &here } else { args.paths.as_slice() } {
        let found = session.locate(&whole.root, path).ok_or_else(|| {
            CommandError::refused(format!("`{}` is outside `{}`", path.display(), root.display()))
        })?;
        within.push(root.join(found.slashed()));
    }
    let history = GitHistory::open_project(session.shared_system(), root, args.since.as_deref());
    let history = match history {
        Ok(history) => Some(history),
        Err(error) if args.since.is_some() => return Err(error.into()),
        Err(HistoryError::Interrupted) => return Err(CommandError::interrupted()),
        Err(_) => None,
    };
    let asked = history.as_ref().map(|history| history as &dyn ProjectHistory);
    let system = session.with_memory();
    let mut found = with_clock(ui, "checking references", || {
        find_stale_references(&whole.catalog, system.system(), &whole.root, asked)
    });
    found.retain(|one| {
        let is_asked = within.iter().any(|path| one.source.path().starts_with(path));
        is_asked && (args.since.is_none() || one.removal.is_some())
    });
    if args.json {
        let body = StaleReport { root, found: &found, has_history: history.is_some() };
        whole.print_json(ui, "stale", body)?;
    } else {
        print_stale_references(ui, &whole, &found)?;
        ui.print_status(&render_stale_summary(&found, history.is_some()))?;
    }
    let is_clear = |one: &StaleReference| one.likelihood <= Likelihood::Likely;
    refuse_if(args.strict && found.iter().any(is_clear))
}

fn print_stale_references(ui: &mut Ui, whole: &WholeProject, found: &[StaleReference]) -> Result {
    for (index, group) in
        found.chunk_by(|left, right| left.likelihood == right.likelihood).enumerate()
    {
        if index > 0 {
            ui.print_line("")?;
        }
        ui.print_heading(group[0].likelihood.as_str())?;
        for one in group {
            let line = one.source.line_number(one.span.start);
            let place = shown_place(whole.root.path(), one.source.path(), line);
            ui.print_line(visible_line(&format!("  {place}  {}", one.message)))?;
            if let Some(removal) = &one.removal {
                let how = match (&removal.commit, &removal.renamed) {
                    (None, _) => "removed in the working tree, not committed".to_owned(),
                    (Some(commit), None) => {
                        format!(
                            "gone since {} ({}) {}",
                            short_commit(commit),
                            removal.date,
                            removal.subject
                        )
                    }
                    (Some(commit), Some(new)) => {
                        let date = &removal.date;
                        format!(
                            "`{new}` since {} ({date}) {}",
                            short_commit(commit),
                            removal.subject
                        )
                    }
                };
                ui.print_line(visible_line(&format!("      {how}")))?;
            }
            if one.replacement.is_some() {
                ui.print_line(visible_line(&format!("      {}", one.help)))?;
            }
        }
    }
    Ok(())
}

fn render_stale_summary(found: &[StaleReference], has_history: bool) -> String {
    let mut text = match found {
        [] => "no outdated references".to_owned(),
        found => {
            let of = |likelihood: Likelihood| {
                let count = found.iter().filter(|one| one.likelihood == likelihood).count();
                format!("{count} {}", likelihood.as_str())
            };
            let kinds = [Likelihood::Certain, Likelihood::Likely, Likelihood::Possible].map(of);
            format!("{}: {}", format_count(found.len(), "finding"), kinds.join(", "))
        }
    };
    if !has_history {
        text.push_str("; no git history available");
    }
    text
}
