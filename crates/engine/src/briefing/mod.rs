//! The answer to a [`Moment`], owned: front ends render this and ask nothing else.
//!
//! Resolving borrows, because a question looks at thousands of entries to deliver three. A briefing
//! takes copies of what is left: the items in the order of delivery, each with its reason in words.

mod candidate;
mod json;
mod mentions;

pub use candidate::{BriefedCandidate, CandidateState};
pub use json::{McpServersReport, PlaceReport, place_below};

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use brief_dialects::dependencies::PackageId;
use brief_dialects::hosted::{Config, ConfiguredServer};
use brief_dialects::{
    Applied, LeftOut, Level, Moment, Name, Origin, Reason, ReasonEnd, ReasonKind, Resolution,
    RuleCheck, State, structured,
};
use brief_syntax::Diagnostic;
use serde::Serialize;

use crate::budget;
use crate::catalog::Catalog;
use crate::tokens::Counter;

/// Everything that an agent should know at one moment, and everything that was left out.
#[derive(Debug, Clone)]
pub struct Briefing {
    /// The question.
    pub moment: Moment,
    /// The items to deliver: general first, most specific last.
    pub active: Vec<BriefedItem>,
    /// The items that an agent may ask for by their description.
    pub listed: Vec<BriefedItem>,
    /// The items that wait until the user mentions them.
    pub manual: Vec<BriefedItem>,
    /// The decisions that bind the target.
    pub decisions: Vec<BriefedDecision>,
    /// The candidates that do not apply, each with the reason. With [`Moment::skip_left_out`] only
    /// items that exceed the budget, and items that the client loads by itself with this read.
    pub left_out: Vec<OmittedItem>,
    /// The problems in the files that were read.
    pub diagnostics: Vec<Diagnostic>,
    /// The checks of all rules in the files that were read, general first, whatever the moment is. A check says itself what it
    /// is about.
    pub rule_checks: Vec<Arc<RuleCheck>>,
    /// The MCP servers that client-hosted context configures.
    pub mcp_servers: Vec<ConfiguredServer>,
    /// The merged configuration of client-hosted context, if it was asked.
    pub hosted_config: Option<Config>,
    /// The tokens that delivery costs: active items and the descriptions of those on offer.
    pub tokens: usize,
    /// The number of guidance files, readable or not.
    pub files: usize,
}

/// An item that applies.
#[derive(Debug, Clone)]
pub struct BriefedItem {
    /// Its place in the order of all items, whatever their state.
    pub rank: usize,
    /// The dialect that it is written in.
    pub dialect: &'static str,
    /// Its kind, such as `context` or `rule`.
    pub kind: &'static str,
    /// Its name, or its place in its file when it has none.
    pub name: String,
    /// The file it stands in, absolute.
    pub path: Arc<Path>,
    /// The line it begins on, from 1.
    pub line: usize,
    /// Its scope: `project`, `user`, or the dialect's own word.
    pub scope: &'static str,
    /// Its dialect's condition for its use, such as `always`.
    pub trigger: Option<&'static str>,
    /// True if its author asks to hold a change back until it was read.
    pub holds: bool,
    /// The check of the rule, if it has a valid one.
    pub check: Option<Arc<RuleCheck>>,
    /// True if it is for after an action alone.
    pub is_for_after: bool,
    /// Its state: delivered, on offer or waiting to be mentioned.
    pub state: State,
    /// The text to deliver. Of items that are not delivered it is empty with
    /// [`Moment::skip_left_out`].
    pub content: String,
    /// The description, where the dialect has such a field.
    pub description: String,
    /// The file patterns that scope it.
    pub patterns: Vec<String>,
    /// Its rank from general to specific.
    pub level: Level,
    /// The reason why it applies.
    pub reason: Explanation,
    /// The other places of the same text, which is delivered once.
    pub also: Vec<ItemPlace>,
    /// The package that ships it, if it comes from one.
    pub package: Option<PackageId>,
    /// The tokens of the text.
    pub tokens: usize,
    /// The tokens that delivery costs: of an item on offer those of its name and description.
    pub cost: usize,
}

/// A decision that binds the target.
#[derive(Debug, Clone)]
pub struct BriefedDecision {
    /// The decision itself.
    pub decision: structured::Decision,
    /// The file it stands in, absolute.
    pub path: Arc<Path>,
    /// The reason why it binds.
    pub reason: Explanation,
}

/// A candidate that does not apply.
#[derive(Debug, Clone)]
pub struct OmittedItem {
    /// The dialect that it is written in.
    pub dialect: &'static str,
    /// Its kind, such as `context` or `decision`.
    pub kind: &'static str,
    /// Its name, or its place in its file.
    pub name: String,
    /// The file it stands in, absolute.
    pub path: Arc<Path>,
    /// The line it begins on, from 1.
    pub line: usize,
    /// The first line of its text ([`first_line`]).
    pub first_line: String,
    /// The reason why it does not apply.
    pub reason: Explanation,
}

/// A place where a text stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ItemPlace {
    /// The dialect that it is written in.
    #[serde(rename = "format")]
    pub dialect: &'static str,
    /// The file, absolute.
    #[serde(serialize_with = "json::lossy")]
    pub path: Arc<Path>,
    /// The line it begins on, from 1.
    pub line: usize,
}

/// The reason for one part of a briefing, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The kind of reason, for callers that branch on it.
    pub kind: ReasonKind,
    words: Box<str>,
    end: Option<ExplanationEnd>,
}

/// The end of an explanation, shared with others: a path can be long, and a briefing has thousands.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ExplanationEnd {
    /// The path that was asked about.
    Path(Arc<str>),
    Place(ItemPlace),
}

impl Explanation {
    /// Returns the words, with paths below `root` relative to it.
    pub fn seen_from(&self, root: &Path) -> String {
        match &self.end {
            Some(ExplanationEnd::Place(ItemPlace { path, line, .. })) => {
                let path = path.strip_prefix(root).unwrap_or(path);
                format!("{} {}:{line}", self.words, path.display())
            }
            _ => self.to_string(),
        }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.words)?;
        match &self.end {
            None => Ok(()),
            Some(ExplanationEnd::Path(path)) => write!(formatter, " {path}"),
            Some(ExplanationEnd::Place(place)) => {
                write!(formatter, " {}:{}", place.path.display(), place.line)
            }
        }
    }
}

impl Briefing {
    /// Answers `moment` from what was read for it.
    pub fn from_catalog(catalog: &Catalog, moment: Moment, counter: &Counter<'_>) -> Briefing {
        let count = |text: &str| counter.count(text);
        let mut resolution = catalog.resolve_moment(&moment);
        if let Some(budget) = moment.budget {
            budget::cut_to_budget(&mut resolution, budget, &count);
        }
        let Resolution { items, decisions, left_out, hosted, .. } = resolution;
        let mut copier = Copier::with_path(moment.slashed_path());
        let with_room = |state: State| {
            Vec::with_capacity(items.iter().filter(|applied| applied.item.state == state).count())
        };
        let mut in_state: [Vec<BriefedItem>; 3] =
            [State::Active, State::Listed, State::Manual].map(with_room);
        for (rank, applied) in items.into_iter().enumerate() {
            let cost = budget::item_cost(&applied.item, &count);
            let state = applied.item.state;
            let wants_text = state == State::Active || !moment.skip_left_out;
            let content = if wants_text { applied.item.content } else { "" };
            let tokens = if state == State::Active { cost } else { count(content) };
            let item = copier.copy_item(applied, without_blank_start(content).to_owned());
            in_state[state as usize].push(BriefedItem { rank, tokens, cost, ..item });
        }
        let decisions = decisions.into_iter().map(|bound| BriefedDecision {
            decision: bound.decision.clone(),
            path: copier.share_path(bound.path),
            reason: copier.copy_explanation(&bound.reason),
        });
        let decisions = decisions.collect();
        let loads_with_tool = moment.loads_with_tool();
        let is_wanted = |reason: &Reason<'_>| match reason.kind() {
            ReasonKind::OverBudget => true,
            ReasonKind::Loaded | ReasonKind::ListedByClient => {
                !moment.skip_left_out || loads_with_tool
            }
            _ => !moment.skip_left_out,
        };
        let left_out = left_out.into_iter().filter(|left_out| is_wanted(&left_out.reason));
        let left_out = left_out.map(|left_out| copier.left_out(&left_out)).collect();
        let [active, listed, manual] = in_state;
        let tokens = active.iter().chain(&listed).map(|item| item.cost).sum();
        let mut briefing = Briefing {
            active,
            listed,
            manual,
            decisions,
            left_out,
            diagnostics: catalog.diagnostics(),
            rule_checks: catalog.rule_checks(),
            mcp_servers: hosted.map(|hosted| hosted.mcp_servers.clone()).unwrap_or_default(),
            hosted_config: hosted.map(|hosted| hosted.config.clone()),
            tokens,
            files: catalog.file_count(),
            moment,
        };
        let unknown = briefing.unknown_mentions();
        briefing.diagnostics.extend(unknown);
        briefing
    }

    /// Returns the root of the project.
    pub fn root(&self) -> &Path {
        self.moment.root.path()
    }

    /// Returns the items of all states: general first, most specific last.
    pub fn items(&self) -> Vec<&BriefedItem> {
        let mut items: Vec<_> =
            self.active.iter().chain(&self.listed).chain(&self.manual).collect();
        items.sort_unstable_by_key(|item| item.rank);
        items
    }

    /// Returns how many items the budget cut.
    pub fn count_cuts(&self) -> usize {
        let is_cut = |item: &&OmittedItem| item.reason.kind == ReasonKind::OverBudget;
        self.left_out.iter().filter(is_cut).count()
    }
}

/// Returns the first line of a text that says something: comments before it, such as a license, are
/// passed by.
pub fn first_line(text: &str) -> Option<&str> {
    let mut rest = text.trim_start();
    while let Some(comment) = rest.strip_prefix("<!--") {
        rest = comment.split_once("-->")?.1.trim_start();
    }
    Some(rest.lines().next()?.trim())
}

/// Makes owned parts of borrowed ones. Neighbors come from one file and share its path.
struct Copier<'s> {
    /// The path that reasons speak about.
    about: Arc<str>,
    path: Option<(&'s Path, Arc<Path>)>,
}

impl<'s> Copier<'s> {
    fn with_path(path: &str) -> Copier<'s> {
        Copier { about: Arc::from(if path.is_empty() { "." } else { path }), path: None }
    }

    fn share_path(&mut self, path: &'s Path) -> Arc<Path> {
        match &self.path {
            Some((known, shared)) if std::ptr::eq(*known, path) => Arc::clone(shared),
            _ => {
                let shared: Arc<Path> = Arc::from(path);
                self.path = Some((path, Arc::clone(&shared)));
                shared
            }
        }
    }

    fn copy_place(&mut self, origin: Origin<'s>) -> ItemPlace {
        let Origin { dialect, path, line } = origin;
        ItemPlace { dialect, path: self.share_path(path), line }
    }

    fn copy_explanation(&mut self, reason: &Reason<'s>) -> Explanation {
        Explanation {
            kind: reason.kind(),
            words: reason.display_with_path(&self.about).without_end().to_string().into_boxed_str(),
            end: reason.ends_in().map(|end| match end {
                ReasonEnd::Path => ExplanationEnd::Path(Arc::clone(&self.about)),
                ReasonEnd::Place(origin) => ExplanationEnd::Place(self.copy_place(origin)),
            }),
        }
    }

    fn copy_item(&mut self, applied: Applied<'s>, content: String) -> BriefedItem {
        let Applied { item, reason, also } = applied;
        BriefedItem {
            rank: 0,
            dialect: item.dialect,
            kind: item.kind,
            name: render_name(item.name),
            path: self.share_path(item.path),
            line: item.line,
            scope: item.scope,
            trigger: item.trigger,
            holds: item.holds,
            check: item.check.cloned(),
            is_for_after: item.is_for_after,
            state: item.state,
            content,
            description: item.description.to_owned(),
            patterns: item.patterns.iter().map(|pattern| pattern.as_str().to_owned()).collect(),
            level: item.level,
            reason: self.copy_explanation(&reason),
            also: also.into_iter().map(|origin| self.copy_place(origin)).collect(),
            package: item.package.cloned(),
            tokens: 0,
            cost: 0,
        }
    }

    fn left_out(&mut self, left_out: &LeftOut<'s>) -> OmittedItem {
        OmittedItem {
            dialect: left_out.dialect,
            kind: left_out.kind,
            name: render_name(left_out.name),
            path: self.share_path(left_out.path),
            line: left_out.line,
            first_line: first_line(left_out.content).unwrap_or_default().to_owned(),
            reason: self.copy_explanation(&left_out.reason),
        }
    }
}

fn render_name(name: Name<'_>) -> String {
    match name {
        Name::Text(name) => name.to_owned(),
        entry => entry.to_string(),
    }
}

/// Returns a text from its first line that is not blank: one often follows front matter.
fn without_blank_start(text: &str) -> &str {
    let blank = text.len() - text.trim_start().len();
    let start = text[..blank].rfind('\n').map_or(0, |end| end + 1);
    &text[start..]
}
