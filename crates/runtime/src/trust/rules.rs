//! Rules of a project that may refuse a call: the user has seen each of them, and each only as it was.
//!
//! A rule in the record executes nothing. A changed rule is another one, and only warns until the user has seen it.

use std::fmt;

use super::{ContentHash, TrustError, TrustProject, TrustStore, render_path};

/// The first word of a rule's line.
const RULE: &str = "rule";

/// A line of the record about a rule of a project.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RuleEntry {
    /// The id of the rule, with invisible characters escaped. Informative only.
    pub id: String,
    /// The hash of everything that the rule says.
    pub hash: ContentHash,
    /// The identity of the project.
    identity: ContentHash,
    /// The hash of the project's path.
    place: ContentHash,
}

impl RuleEntry {
    fn new(project: &TrustProject, content: &str, id: &str) -> RuleEntry {
        let TrustProject { identity, place, .. } = project.clone();
        let hash = ContentHash::from_content(content.as_bytes());
        RuleEntry { id: render_path(id.as_ref()), hash, identity, place }
    }

    pub(super) fn parse(line: &str) -> Option<RuleEntry> {
        let mut words = line.strip_prefix(RULE)?.strip_prefix(' ')?.splitn(4, ' ');
        let mut hash = || ContentHash::parse(words.next()?);
        let (identity, place, hash) = (hash()?, hash()?, hash()?);
        Some(RuleEntry { id: words.next()?.to_owned(), hash, identity, place })
    }

    fn is_of(&self, project: &TrustProject) -> bool {
        self.identity == project.identity && self.place == project.place
    }
}

impl fmt::Display for RuleEntry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{RULE} {} {} {} {}", self.identity, self.place, self.hash, self.id)
    }
}

impl TrustStore<'_> {
    /// Returns whether the user has agreed that exactly this rule of a project refuses calls.
    pub fn is_rule_trusted(&self, project: &TrustProject, content: &str) -> bool {
        let hash = ContentHash::from_content(content.as_bytes());
        self.lines.rules.iter().any(|rule| rule.hash == hash && rule.is_of(project))
    }

    /// Returns the recorded rules.
    pub fn rules(&self) -> impl ExactSizeIterator<Item = &RuleEntry> {
        self.lines.rules.iter()
    }

    /// Records that exactly these rules of a project, each with its id, may refuse calls. Other rules of the project are
    /// forgotten.
    pub fn record_rules<'r>(
        &mut self,
        project: &TrustProject,
        rules: impl IntoIterator<Item = (&'r str, &'r str)>,
    ) -> Result<(), TrustError> {
        let rules: Vec<RuleEntry> =
            rules.into_iter().map(|(content, id)| RuleEntry::new(project, content, id)).collect();
        self.update_record(|lines| {
            lines.rules.retain(|known| known.place != project.place);
            lines.rules.extend(rules);
        })
    }

    /// Forgets the rules of a project, and returns their number.
    pub fn remove_rules(&mut self, project: &TrustProject) -> Result<usize, TrustError> {
        self.remove_from(|lines| &mut lines.rules, |rule| rule.place == project.place)
    }
}
