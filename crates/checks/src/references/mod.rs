//! The things that texts name and the project does not have: files, targets of `make`, scripts, packages, versions.
//!
//! Guidance outlives the code that it was written for. A text is held to what it clearly says: in code, in a command,
//! in a sentence about what is needed. Placeholders, examples, patterns, outputs and files that are to be made are
//! left alone. How likely a finding is follows from the form of the words; the commit that removed the name can make it
//! certain, where every place that could have it was looked at.

mod commands;
mod history;
mod manifests;
mod paths;
mod search;
#[cfg(test)]
mod tests;
mod tools;
mod versions;

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::Arc;

use brief_dialects::ProjectFiles;
use brief_dialects::native::is_elsewhere;
use brief_syntax::diagnostic::{Edit, Fix};
use brief_syntax::{Diagnostic, Root, Rule, Severity, Source, Span};
use brief_system::System;
use brief_system::paths::to_slashed;

use crate::audience::{Audience, skill_directory};
use crate::illustrations::illustrating_passages;
use crate::texts::ReadText;

use self::commands::Runner;
use self::manifests::Manifests;
use self::paths::PathIndex;
use self::search::ReferenceSearch;

pub(crate) use history::trace_references;
pub use history::{ProjectHistory, Removal, RemovedLine, StaleReport, find_stale_references};
pub(crate) use manifests::has_extension;

/// The limit for findings in one text; more are one mistake.
const REPORTED_PER_TEXT: usize = 50;

/// The likelihood that a text is out of date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Likelihood {
    /// It was there, a commit has removed it, and no place that could have it has it.
    Certain,
    /// The project has a place for it, and does not have it.
    Likely,
    /// The project does not have it.
    Possible,
}

impl Likelihood {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Likelihood::Certain => "certain",
            Likelihood::Likely => "likely",
            Likelihood::Possible => "possible",
        }
    }
}

/// The kind of a thing that a text names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReferenceKind {
    /// A target, script, task, package, feature.
    Target,
    Path,
    /// The destination of a link.
    Link,
    Version,
    /// A tool that the project has given up for another.
    Tool,
}

impl ReferenceKind {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            ReferenceKind::Target => "target",
            ReferenceKind::Path => "path",
            ReferenceKind::Link => "link",
            ReferenceKind::Version => "version",
            ReferenceKind::Tool => "tool",
        }
    }
}

/// Something that a text names and the project does not have.
#[derive(Debug, Clone)]
pub struct StaleReference {
    pub source: Arc<Source>,
    pub span: Span,
    pub kind: ReferenceKind,
    pub written: String,
    /// The problem, in one line.
    pub message: String,
    pub help: String,
    /// The likelihood that the text is out of date.
    pub likelihood: Likelihood,
    /// The text that should stand there, if it is known.
    pub replacement: Option<String>,
    /// The change that removed it, if history tells.
    pub removal: Option<Removal>,
    rule: Rule,
    trace: Trace,
}

impl StaleReference {
    /// Returns it as a problem of the text. What is only possible is a note.
    pub fn to_diagnostic(&self) -> Diagnostic {
        let commit = self.removal.as_ref().and_then(|removal| removal.commit.as_deref());
        let mut message = self.message.clone();
        match (self.likelihood, commit) {
            (Likelihood::Certain, Some(_)) => message.push_str(" (certain)"),
            (Likelihood::Possible, _) => message.push_str(" (possible)"),
            _ => {}
        }
        let mut help = self.help.clone();
        if let (Some(commit), Some(removal)) = (commit, &self.removal) {
            let (commit, how) = (&commit[..commit.len().min(SHORT_COMMIT)], removal.verb());
            help.push_str(&format!("; {how} in {commit} ({})", removal.date));
        }
        let found = Diagnostic::new(self.rule, &self.source, self.span, message).with_help(help);
        let found = match self.likelihood {
            Likelihood::Possible => found.with_severity(Severity::Note),
            Likelihood::Certain | Likelihood::Likely => found,
        };
        match &self.replacement {
            Some(replacement) => {
                let edits = vec![Edit::replace(self.span, replacement.clone())];
                found.with_fix(Fix::suggested(format!("write `{replacement}`"), edits))
            }
            None => found,
        }
    }
}

/// The digits of a commit that people read.
const SHORT_COMMIT: usize = 7;

/// The places where history may tell of it.
#[derive(Debug, Clone)]
struct Trace {
    /// Paths below the root that it may have had.
    paths: Vec<String>,
    /// Paths that it may have had below directories that the text does not name.
    guesses: Vec<String>,
    /// The file that defined it, and the lines that did.
    line: Option<(String, DefiningLine)>,
    /// The only path that ends like it, if it is missing only from where the text is read.
    elsewhere: Option<String>,
    /// True for a path below a directory that the text's skill has.
    is_of_skill: bool,
    /// True if only history can tell that it is meant.
    is_needed: bool,
    /// The likelihood that a commit that removed it gives it.
    ceiling: Likelihood,
}

impl Trace {
    fn new(ceiling: Likelihood) -> Trace {
        Trace {
            paths: Vec::new(),
            guesses: Vec::new(),
            line: None,
            elsewhere: None,
            is_of_skill: false,
            is_needed: false,
            ceiling,
        }
    }
}

/// A line that defines something.
#[derive(Debug, Clone)]
enum DefiningLine {
    Target(Runner, String),
    /// A line with both words.
    Words(&'static str, String),
}

impl DefiningLine {
    fn matches_line(&self, line: &str) -> bool {
        let line = line.trim();
        match self {
            DefiningLine::Words(key, value) => line.contains(key) && line.contains(value.as_str()),
            DefiningLine::Target(Runner::Make | Runner::Just, name) => {
                let head = line.split(':').next().unwrap_or_default();
                line.contains(':')
                    && head.split_whitespace().any(|word| word.trim_start_matches('@') == name)
            }
            DefiningLine::Target(Runner::Package | Runner::Composer | Runner::Deno, name) => {
                line.starts_with(&format!("\"{name}\""))
            }
            DefiningLine::Target(Runner::Nox, name) => line.contains(&format!("def {name}(")),
            DefiningLine::Target(_, name) => {
                let quoted = format!("\"{name}\"");
                let rest = line.strip_prefix(name.as_str()).or_else(|| line.strip_prefix(&quoted));
                rest.is_some_and(|rest| rest.trim_start().starts_with(['=', ':']))
                    || line.contains(&quoted)
                    || line.contains(&format!(".{name}]"))
            }
        }
    }
}

/// Looks at the texts of one project.
pub(crate) struct ReferenceCheck<'c> {
    manifests: Manifests<'c>,
    index: PathIndex<'c>,
    seen: BTreeSet<u64>,
    /// The tools that the project has given up, once a text names one.
    replaced: OnceCell<Vec<(&'static str, &'static str, String)>>,
}

impl<'c> ReferenceCheck<'c> {
    pub(crate) fn new(system: &'c dyn System, root: &'c Root, files: &'c ProjectFiles) -> Self {
        let manifests = Manifests::new(system, root, files);
        let index = PathIndex::new(system, root, files);
        ReferenceCheck { manifests, index, seen: BTreeSet::new(), replaced: OnceCell::new() }
    }

    /// Returns what a text names and the project does not have. A text that stands in two places is looked at once.
    pub(crate) fn check_text(&mut self, read: &ReadText<'_>) -> Vec<StaleReference> {
        let ReadText { text, real, prose } = read;
        let root = self.manifests.root.path();
        let path = text.source.path();
        let Some(below) = path.strip_prefix(root).ok().and_then(Path::parent) else {
            return Vec::new();
        };
        let directory = to_slashed(below);
        let files = self.manifests.files;
        let audience = Audience::from_text(text, root, files);
        let own = skill_directory(&directory, files).map(str::to_owned);
        let body = text.body();
        // A link to a file, or to its directory, is the same text.
        let mut hasher = DefaultHasher::new();
        (real.parent(), body).hash(&mut hasher);
        if path.strip_prefix(root).is_ok_and(is_elsewhere)
            || audience == Audience::Readers && own.is_none()
            || !self.seen.insert(hasher.finish())
        {
            return Vec::new();
        }
        let mut search = ReferenceSearch::new(self, read, audience, own, directory);
        for section in prose.sections.iter().filter(|one| !paths::is_example(&one.headings)) {
            let illustrating = illustrating_passages(section);
            for (passage, illustrates) in section.passages.iter().zip(illustrating) {
                search.search_passage(passage, illustrates);
            }
            for block in &section.blocks {
                search.search_block(body, block);
            }
        }
        let mut found = search.into_found();
        found.truncate(REPORTED_PER_TEXT);
        found
    }
}
