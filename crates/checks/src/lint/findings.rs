//! The findings of one run of a check.

use std::path::PathBuf;

use brief_syntax::diagnostic::Applicability;
use brief_syntax::{Diagnostic, Severity};
use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::LintPart;
use crate::causes::fold_causes;

/// The findings of one run.
#[derive(Debug, Default)]
pub struct Findings {
    /// The problems, by file and place.
    pub diagnostics: Vec<Diagnostic>,
    /// The number of guidance files that were checked.
    pub files: usize,
    /// The number of problems that were repaired.
    pub fixed: usize,
    /// The number of problems that a comment takes back.
    pub ignored: usize,
    /// The number of guidance files of the project outside of the part that is reported on.
    pub elsewhere: usize,
    /// The parts that were checked.
    pub checked: Vec<LintPart>,
    /// The files that a fix would change and that were left alone, each with the reason.
    pub unfixed: Vec<(PathBuf, &'static str)>,
    /// The number of problems that a baseline records.
    pub known: usize,
    /// The numbers of safe and of suggested fixes, before the problems were grouped.
    pub fixable: Option<(usize, usize)>,
}

impl Findings {
    /// Returns how many problems have this severity.
    pub fn count_severity(&self, severity: Severity) -> usize {
        self.diagnostics.iter().filter(|found| found.severity == severity).count()
    }

    /// Makes one problem of all that have one cause. What needs each place alone, such as a baseline, comes before.
    pub fn group_causes(&mut self) {
        self.fixable.get_or_insert_with(|| count_fixable(&self.diagnostics));
        self.diagnostics = fold_causes(std::mem::take(&mut self.diagnostics));
    }

    /// Returns the numbers of safe and of suggested fixes.
    pub fn count_fixable(&self) -> (usize, usize) {
        self.fixable.unwrap_or_else(|| count_fixable(&self.diagnostics))
    }
}

fn count_fixable(found: &[Diagnostic]) -> (usize, usize) {
    let fixes = || found.iter().filter_map(|one| one.fix.as_ref());
    let count = |sure: Applicability| fixes().filter(|fix| fix.applicability == sure).count();
    (count(Applicability::Safe), count(Applicability::Suggested))
}

/// The numbers; the problems themselves stand in the envelope.
impl Serialize for Findings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut report = serializer.serialize_struct("Findings", 7)?;
        let checked = self.checked.iter().map(|part| part.as_str()).collect::<Vec<_>>();
        report.serialize_field("checked", &checked)?;
        report.serialize_field("files", &self.files)?;
        report.serialize_field("errors", &self.count_severity(Severity::Error))?;
        report.serialize_field("warnings", &self.count_severity(Severity::Warning))?;
        report.serialize_field("fixed", &self.fixed)?;
        report.serialize_field("ignored", &self.ignored)?;
        report.serialize_field("known", &self.known)?;
        report.end()
    }
}
