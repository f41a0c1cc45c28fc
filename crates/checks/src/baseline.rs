//! Findings that a project has accepted for now, so that a team can begin with the next one.
//!
//! A finding is known by its file, its code and the text of its line, so that lines may move. Two equal findings count twice.

use std::collections::BTreeMap;
use std::path::Path;

use brief_syntax::Diagnostic;
use brief_syntax::rules::current_code;
use brief_system::hash::sha256;
use brief_system::paths::to_slashed;
use serde::{Deserialize, Serialize};

/// The version of the file.
const VERSION: u32 = 1;

/// The findings of a project at one time.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    version: u32,
    /// The number of findings by file, and by code with the hash of the line.
    files: BTreeMap<String, BTreeMap<String, usize>>,
}

/// A baseline file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    #[error("is not a baseline: {0}")]
    Form(#[from] serde_json::Error),
    /// It comes from another version of the program.
    #[error("has version {0}, but this version of brief supports {VERSION}")]
    Version(u32),
}

impl Baseline {
    pub fn from_diagnostics(diagnostics: &[Diagnostic], root: &Path) -> Baseline {
        let mut baseline = Baseline { version: VERSION, files: BTreeMap::new() };
        for diagnostic in diagnostics {
            let (file, finding) = finding_key(diagnostic, root);
            *baseline.files.entry(file).or_default().entry(finding).or_default() += 1;
        }
        baseline
    }

    pub fn parse(bytes: &[u8]) -> Result<Baseline, BaselineError> {
        let mut baseline: Baseline = serde_json::from_slice(bytes)?;
        match baseline.version {
            VERSION => {
                for findings in baseline.files.values_mut() {
                    *findings =
                        findings.iter().map(|(key, count)| (current_key(key), *count)).collect();
                }
                Ok(baseline)
            }
            version => Err(BaselineError::Version(version)),
        }
    }

    /// Adds what another baseline records of files for which `is_replaced` returns false. Paths are relative to the root.
    pub fn add_others(&mut self, other: Baseline, is_replaced: impl Fn(&str) -> bool) {
        let others = other.files.into_iter().filter(|(file, _)| !is_replaced(file));
        self.files.extend(others);
    }

    pub fn to_text(&self) -> Result<String, BaselineError> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// Removes the findings that are recorded, and returns how many.
    pub fn apply_baseline(&self, diagnostics: &mut Vec<Diagnostic>, root: &Path) -> usize {
        let before = diagnostics.len();
        let mut left = self.files.clone();
        diagnostics.retain(|diagnostic| {
            let (file, finding) = finding_key(diagnostic, root);
            let count = left.get_mut(&file).and_then(|findings| findings.get_mut(&finding));
            match count {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    false
                }
                _ => true,
            }
        });
        before - diagnostics.len()
    }

    /// Returns the number of recorded findings.
    pub fn count(&self) -> usize {
        self.files.values().flat_map(BTreeMap::values).sum()
    }
}

/// Returns the key of a finding whose code may be an old one.
fn current_key(key: &str) -> String {
    match key.split_once(' ') {
        Some((code, hash)) => format!("{} {hash}", current_code(code)),
        None => key.to_owned(),
    }
}

fn finding_key(diagnostic: &Diagnostic, root: &Path) -> (String, String) {
    let path = diagnostic.path();
    let file = to_slashed(path.strip_prefix(root).unwrap_or(path));
    let source = &diagnostic.source;
    let line = source.slice(source.line_span(diagnostic.position().line)).trim();
    (file, format!("{} {}", diagnostic.code(), &sha256(line.as_bytes())[..16]))
}
