//! The health of a project: what `lint`, `stale`, `coverage` and `brief.lock` say, the worst first.

use std::path::Path;
use std::sync::Arc;

use brief_checks::coverage::{Coverage, HEAVY};
use brief_checks::lint::{Findings, Lint, LintPart};
use brief_checks::references::{Likelihood, ProjectHistory, find_stale_references};
use brief_engine::receipts::{self, Receipts};
use brief_engine::survey::Survey;
use brief_registry::install::{self, Drift, ProjectPaths};
use brief_syntax::render::path_below;
use brief_syntax::text::format_count;
use brief_syntax::{Diagnostic, Severity};
use brief_system::System;

use super::address::DAYS;
use super::snapshot::ProjectReading;
use brief_workflows::configuration::ProjectAndSource;
use brief_workflows::history::GitHistory;

/// A problem of a project's guidance.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Trouble {
    pub(super) rank: u8,
    /// The command that tells more.
    pub(super) command: &'static str,
    /// The severity, in a word.
    pub(super) word: &'static str,
    pub(super) place: String,
    pub(super) line: usize,
    pub(super) message: String,
    pub(super) help: String,
}

/// The checks of a project.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Health {
    pub(super) errors: usize,
    pub(super) warnings: usize,
    pub(super) stale: usize,
    pub(super) coverage: usize,
    pub(super) bare: usize,
    /// Installed files that differ from `brief.lock`, and files that a client loads otherwise than we believe.
    pub(super) drift: usize,
    pub(super) troubles: Vec<Trouble>,
}

impl Health {
    /// Checks a project that was read. Nothing is executed besides git, which reads its own objects.
    pub(super) fn check(
        system: &Arc<dyn System>,
        reading: &ProjectReading<'_>,
        survey: &Survey<'_>,
    ) -> Health {
        let mut health = Health::default();
        let checked = reading.catalog.check_project();
        health.report_coverage(reading, survey, &checked);
        health.report_lint_findings(reading, checked);
        health.report_stale_references(system, reading);
        health.report_drift(reading);
        health.troubles.sort();
        health
    }

    fn report_lint_findings(&mut self, reading: &ProjectReading<'_>, checked: Vec<Diagnostic>) {
        let Ok(lint) = Lint::new(&reading.project, reading.project.root().path()) else { return };
        // References and reach have counts of their own.
        let lint = lint.configured_by(&ProjectAndSource).only(&[LintPart::Mistakes]);
        let mut found: Findings = lint.check_read(&reading.catalog, checked, None);
        found.group_causes();
        let root = reading.project.root().path();
        self.errors = found.count_severity(Severity::Error);
        self.warnings = found.count_severity(Severity::Warning);
        for diagnostic in &found.diagnostics {
            let (rank, word) = match diagnostic.severity {
                Severity::Error => (0, "error"),
                Severity::Warning => (3, "warning"),
                Severity::Note => (7, "note"),
            };
            self.troubles.push(Trouble {
                rank,
                command: "brief lint",
                word,
                place: path_below(root, diagnostic.path()).into_owned(),
                line: diagnostic.position().line,
                message: format!("{} [{}]", diagnostic.message, diagnostic.code()),
                help: diagnostic.help.clone().unwrap_or_default(),
            });
        }
    }

    fn report_stale_references(&mut self, system: &Arc<dyn System>, reading: &ProjectReading<'_>) {
        let (project, root) = (&reading.project, reading.project.root());
        let history = GitHistory::open_project(Arc::clone(system), root.path(), None).ok();
        let history = history.as_ref().map(|history| history as &dyn ProjectHistory);
        let found = find_stale_references(&reading.catalog, project.system(), root, history);
        self.stale = found.len();
        for one in found {
            let rank = match one.likelihood {
                Likelihood::Certain => 1,
                Likelihood::Likely => 2,
                Likelihood::Possible => 6,
            };
            self.troubles.push(Trouble {
                rank,
                command: "brief lint --only stale",
                word: one.likelihood.as_str(),
                place: path_below(root.path(), one.source.path()).into_owned(),
                line: one.source.line_number(one.span.start),
                message: one.message,
                help: one.help,
            });
        }
    }

    fn report_coverage(
        &mut self,
        reading: &ProjectReading<'_>,
        survey: &Survey<'_>,
        checked: &[Diagnostic],
    ) {
        let root = reading.project.root().path();
        let found = Coverage::from_survey(checked, root, "", survey, HEAVY);
        self.coverage = found.count_findings();
        self.bare = found.count_bare_files();
        let mut add = |word, path: &Path, line, message: String| {
            self.troubles.push(Trouble {
                rank: 4,
                command: "brief lint --only unused",
                word,
                place: path_below(root, path).into_owned(),
                line,
                message,
                help: String::new(),
            });
        };
        for dead in &found.dead {
            add("matches nothing", dead.path(), dead.position().line, dead.message.clone());
        }
        for idle in &found.idle {
            add("never applies", idle.path, idle.line, format!("{}: {}", idle.name, idle.reason));
        }
        for heavy in &found.heavy {
            let (tokens, files) = (heavy.tokens, format_count(heavy.files, "file"));
            let message = format!("{}: {tokens} tokens, applies to {files}", heavy.item.name);
            add("heavy", heavy.item.path, heavy.item.line, message);
        }
    }

    fn report_drift(&mut self, reading: &ProjectReading<'_>) {
        let (system, root) = (reading.project.system(), reading.project.root().path());
        let mut add = |place: String, message: String, help: &str| {
            self.drift += 1;
            self.troubles.push(Trouble {
                rank: 2,
                command: "brief sync",
                word: "drift",
                place,
                line: 0,
                message,
                help: help.to_owned(),
            });
        };
        match install::read_install_status(system, &ProjectPaths::from_root(root)) {
            Ok(status) => {
                for (path, drift) in status.drift {
                    let (message, help) = match drift {
                        Drift::Missing => {
                            ("is missing".to_owned(), "run `brief sync` to restore it")
                        }
                        Drift::Edited => {
                            ("was edited".to_owned(), "run `brief sync --diff` to see how")
                        }
                        Drift::Older => {
                            ("is older than brief.lock".to_owned(), "run `brief sync` to update it")
                        }
                        Drift::InTheWay(what) => {
                            (format!("is a {what}"), "move it, then run `brief sync`")
                        }
                        _ => {
                            ("differs from brief.lock".to_owned(), "run `brief sync` to update it")
                        }
                    };
                    add(path, message, help);
                }
            }
            Err(error) => {
                let help = "run `brief sync` for details";
                add("brief.lock".to_owned(), error.to_string(), help);
            }
        }
        let shown = root.display().to_string();
        let Receipts { mut receipts, .. } = Receipts::read(system, DAYS);
        receipts.retain(|receipt| receipt.root == shown);
        for drift in receipts::find_loading_drift(&reading.project, &receipts) {
            let message = if drift.is_loaded {
                format!("{} loaded it unexpectedly", drift.client)
            } else {
                format!("{} was expected to load it, but did not report it", drift.client)
            };
            add(drift.place, message, "run `brief log --mismatch` to find the session");
        }
    }
}
