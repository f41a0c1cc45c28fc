//! Decides for each text whether the user has agreed that it executes.
//!
//! The user's own texts need no consent. A project's texts need trust in the project, or a flag for this run;
//! texts from elsewhere need trust in exactly their content. A denial overrides all of these.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_dialects::tasks::Author;
use brief_syntax::Source;
use brief_system::{FileOwner, System};

use crate::execution::Execution;
use crate::trust::{Standing, TrustError, TrustProject, TrustStore, TrustVerdict, project_root};

/// A project whose texts do not execute, and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectRefusal {
    pub root: PathBuf,
    /// The reason, phrased to follow "is not trusted:", if there is one beyond that.
    pub reason: Option<String>,
}

impl fmt::Display for ProjectRefusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the project `{}` is not trusted", self.root.display())?;
        self.reason.iter().try_for_each(|reason| write!(formatter, ": {reason}"))
    }
}

/// Content that asks to be executed.
#[derive(Debug, Clone, Copy)]
pub enum Content<'c> {
    /// A document, which may ask many times.
    Document(&'c Arc<Source>),
    Script(&'c [u8]),
}

/// The reason why a text does not execute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Objection {
    Off,
    /// Its content is not trusted.
    Content,
    Denied,
    /// Its project is not trusted.
    Project(ProjectRefusal),
}

/// The user's agreement; looked up on demand.
pub struct Consent<'c> {
    system: &'c dyn System,
    directory: PathBuf,
    execution: Execution,
    /// The record of trust, opened on first use.
    record: Option<Result<TrustStore<'c>, TrustError>>,
    /// The last document: a text with ten thousand commands is hashed once.
    document: Option<(Arc<Source>, Option<TrustVerdict>)>,
    /// The decisions about projects, by directory.
    projects: BTreeMap<PathBuf, Result<(), ProjectRefusal>>,
}

impl<'c> Consent<'c> {
    /// Creates the consent for a run in `directory`.
    pub fn new(system: &'c dyn System, directory: &Path, execution: Execution) -> Consent<'c> {
        let directory = directory.to_owned();
        let projects = BTreeMap::new();
        Consent { system, directory, execution, record: None, document: None, projects }
    }

    /// Decides about content of an author in a search root.
    pub fn check_content(
        &mut self,
        author: Author,
        root: &Path,
        content: Content<'_>,
    ) -> Result<(), Objection> {
        let is_off = self.execution.off_reason().is_some();
        if is_off && author != Author::Remote {
            return Err(Objection::Off);
        }
        match (self.verdict_on(content), author) {
            (Some(TrustVerdict::Denied), _) => Err(Objection::Denied),
            (None, Author::Remote) => Err(Objection::Content),
            _ if is_off => Err(Objection::Off),
            (_, Author::Project) => self.check_project(root).map_err(Objection::Project),
            (_, Author::User | Author::Remote) => Ok(()),
        }
    }

    /// Returns the recorded decision about content. An unusable record has none.
    fn verdict_on(&mut self, content: Content<'_>) -> Option<TrustVerdict> {
        let source = match content {
            Content::Script(bytes) => return self.open_record().ok()?.verdict_on(bytes),
            Content::Document(source) => source,
        };
        match &self.document {
            Some((known, verdict)) if Arc::ptr_eq(known, source) => *verdict,
            _ => {
                let verdict = self.verdict_on(Content::Script(source.bytes_from_line(0)));
                self.document = Some((Arc::clone(source), verdict));
                verdict
            }
        }
    }

    /// Decides about the texts of the project that holds `directory`.
    pub fn check_project(&mut self, directory: &Path) -> Result<(), ProjectRefusal> {
        if let Some(known) = self.projects.get(directory) {
            return known.clone();
        }
        let root = project_root(self.system, directory).unwrap_or_else(|_| directory.to_owned());
        let decision =
            self.check_project_trust(&root).map_err(|reason| ProjectRefusal { root, reason });
        self.projects.insert(directory.to_owned(), decision.clone());
        decision
    }

    fn check_project_trust(&mut self, root: &Path) -> Result<(), Option<String>> {
        let is_asked = self.execution == Execution::ProjectToo;
        let system = self.system;
        let standing = match self.open_record() {
            Ok(record) => TrustProject::identify(system, root)
                .map(|project| record.project_standing(&project)),
            // Without a state directory there is no record, and so no denial.
            Err(TrustError::NoPlace) if is_asked => Ok(Standing::Unknown),
            Err(error) => return Err(Some(error.to_string())),
        };
        let reason = match standing {
            Ok(Standing::Trusted) => return Ok(()),
            _ if is_asked => return self.refuse_foreign(root).map_err(Some),
            Ok(Standing::Unknown) => return Err(None),
            Ok(Standing::Replaced) => {
                "a different directory or repository was trusted at this path".to_owned()
            }
            Ok(Standing::Moved(from)) => {
                format!("was trusted at `{from}`, and moving it revoked the trust")
            }
            Err(error) => error.to_string(),
        };
        Err(Some(reason))
    }

    /// Refuses a flag for one run if the files belong to another user, who can change them meanwhile.
    fn refuse_foreign(&self, root: &Path) -> Result<(), String> {
        match self.system.ownership(root) {
            Ok(ownership) if ownership.owner != FileOwner::Other => Ok(()),
            Ok(_) => Err("belongs to another user".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn open_record(&mut self) -> Result<&TrustStore<'c>, &TrustError> {
        let (system, directory) = (self.system, &self.directory);
        self.record.get_or_insert_with(|| TrustStore::open(system, directory)).as_ref()
    }
}
