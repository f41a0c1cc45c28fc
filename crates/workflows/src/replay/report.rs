//! What a replay reports: per session, and per rule over all sessions. The shapes are those of `brief replay --json`.

use serde::{Deserialize, Serialize};

/// The verdict about a rule with a check in one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayVerdict {
    /// The rule had occasions, and the agent never had it. It is not known to have broken it.
    NotDelivered,
    /// Nothing that the rule is about has happened.
    NoOccasion,
    /// All occasions are proven to have kept it.
    Kept,
    /// At least one occasion is proven to have broken it.
    Broken,
    /// It was broken, and the session took that back.
    Fixed,
    /// The record does not show it.
    Unknown,
}

impl ReplayVerdict {
    /// All of them, in the order of reports.
    pub const ALL: [ReplayVerdict; 6] = [
        ReplayVerdict::Broken,
        ReplayVerdict::Fixed,
        ReplayVerdict::NotDelivered,
        ReplayVerdict::Kept,
        ReplayVerdict::NoOccasion,
        ReplayVerdict::Unknown,
    ];

    /// Returns the words in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            ReplayVerdict::NotDelivered => "not delivered",
            ReplayVerdict::NoOccasion => "no occasion",
            ReplayVerdict::Kept => "kept",
            ReplayVerdict::Broken => "broken",
            ReplayVerdict::Fixed => "broken, then fixed",
            ReplayVerdict::Unknown => "unknown",
        }
    }
}

/// How a rule was there when calls needed it, in calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ArrivalCounts {
    /// The client loaded it by itself.
    pub loaded: usize,
    /// A hook had delivered it.
    pub delivered: usize,
    /// A hook delivered it when the call had been made.
    pub late: usize,
    /// The agent did not have it.
    pub missing: usize,
}

impl ArrivalCounts {
    /// Returns the number of calls.
    pub fn total(self) -> usize {
        self.loaded + self.delivered + self.late + self.missing
    }

    pub(super) fn add(&mut self, other: ArrivalCounts) {
        self.loaded += other.loaded;
        self.delivered += other.delivered;
        self.late += other.late;
        self.missing += other.missing;
    }

    /// Returns the parts that are not zero, with their names.
    pub fn parts(self) -> impl Iterator<Item = (&'static str, usize)> {
        let ArrivalCounts { loaded, delivered, late, missing } = self;
        let parts =
            [("loaded", loaded), ("delivered", delivered), ("late", late), ("missing", missing)];
        parts.into_iter().filter(|(_, count)| *count > 0)
    }
}

/// The occasions of a check, by verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct OccasionCounts {
    pub kept: usize,
    pub broken: usize,
    /// Those of `broken` that the session took back.
    pub fixed: usize,
    pub unknown: usize,
    /// Those of which the agent had the rule.
    pub told: usize,
}

impl OccasionCounts {
    /// Returns the number of occasions.
    pub fn total(self) -> usize {
        self.kept + self.broken + self.unknown
    }

    pub(super) fn add(&mut self, other: OccasionCounts) {
        self.kept += other.kept;
        self.broken += other.broken;
        self.fixed += other.fixed;
        self.unknown += other.unknown;
        self.told += other.told;
    }
}

/// One proof that a rule was broken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViolationProof {
    /// The client's id of the call.
    pub call: String,
    /// The line of the record.
    pub record: u32,
    /// The time, in milliseconds since 1970.
    pub at: Option<u64>,
    pub tool: String,
    /// The file and line, or the command.
    pub place: String,
    /// What is wrong.
    pub message: String,
    /// True if the agent had the rule.
    pub told: bool,
    /// True if the session took it back.
    pub fixed: bool,
}

/// A rule in a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRule {
    /// The file and line of the rule.
    pub place: String,
    pub name: String,
    pub arrival: ArrivalCounts,
    /// `None` for a rule without a check.
    pub verdict: Option<ReplayVerdict>,
    pub occasions: OccasionCounts,
    pub evidence: Vec<ViolationProof>,
    /// The reason for *unknown*.
    pub unknown: Option<String>,
    /// The reason why it came late, by the receipts.
    pub late: Option<String>,
}

/// A recorded session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionReport {
    pub client: String,
    pub id: String,
    pub agent: Option<String>,
    pub parent: Option<String>,
    pub version: Option<String>,
    /// The times of the first and the last record, in milliseconds since 1970.
    pub started: Option<u64>,
    pub ended: Option<u64>,
    /// The file with the record.
    pub source: String,
    pub calls: usize,
    /// True if the last call has no result: it is still being written, or it was killed.
    pub open: bool,
    /// True if receipts of deliveries belong to it.
    pub receipts: bool,
    /// What was not understood.
    pub gaps: Vec<String>,
    pub rules: Vec<SessionRule>,
    pub timeline: Vec<TimelineEntry>,
}

/// Something in the timeline of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimelineEntry {
    pub at: Option<u64>,
    pub step: u32,
    pub record: u32,
    pub kind: TimelineKind,
    /// A tool with its file or command, or the rule that was delivered.
    pub text: String,
    /// How a call ended.
    pub outcome: Option<String>,
    /// The rules that it broke, with the words.
    pub broken: Vec<String>,
    /// The rules that applied and were missing.
    pub missing: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TimelineKind {
    Prompt,
    Call,
    Delivered,
    Compaction,
}

/// A rule over all sessions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReplayedRule {
    pub place: String,
    pub name: String,
    pub format: String,
    /// The first line of its text.
    pub title: String,
    /// The id of its check; `None` without one.
    pub check: Option<String>,
    /// How strongly it is enforced: `observe`, `warn`, `ask` or `deny`; `None` without a check.
    pub enforce: Option<String>,
    pub sessions: usize,
    pub arrival: ArrivalCounts,
    /// The sessions with each verdict.
    pub verdicts: Vec<VerdictCount>,
    pub occasions: OccasionCounts,
    /// The share of broken occasions; `None` below ten.
    pub rate: Option<BrokenRate>,
    pub evidence: Vec<RuleEvidence>,
    /// What to do about it; `None` if nothing is wrong.
    pub advice: Option<String>,
}

impl ReplayedRule {
    pub(super) fn new(place: &str, name: &str) -> ReplayedRule {
        ReplayedRule {
            place: place.to_owned(),
            name: name.to_owned(),
            format: String::new(),
            title: String::new(),
            check: None,
            enforce: None,
            sessions: 0,
            arrival: ArrivalCounts::default(),
            verdicts: Vec::new(),
            occasions: OccasionCounts::default(),
            rate: None,
            evidence: Vec::new(),
            advice: None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct VerdictCount {
    pub verdict: ReplayVerdict,
    pub sessions: usize,
}

/// A proof with its session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleEvidence {
    pub client: String,
    pub session: String,
    #[serde(flatten)]
    pub evidence: ViolationProof,
}

/// A share with the interval that holds the true one in 95 of 100 cases.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BrokenRate {
    pub occasions: usize,
    pub rate: f64,
    pub low: f64,
    pub high: f64,
}

/// The least number of occasions for a share.
const LEAST_OCCASIONS: usize = 10;

impl BrokenRate {
    /// Returns the share of broken occasions by Wilson's interval; `None` if there are too few.
    pub fn from_counts(broken: usize, kept: usize) -> Option<BrokenRate> {
        let occasions = broken + kept;
        if occasions < LEAST_OCCASIONS {
            return None;
        }
        #[expect(clippy::cast_precision_loss, reason = "counts of calls are small")]
        let (n, share) = (occasions as f64, broken as f64 / occasions as f64);
        let z = 1.959_964;
        let middle = (share + z * z / (2.0 * n)) / (1.0 + z * z / n);
        let half =
            z / (1.0 + z * z / n) * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
        let low = (middle - half).max(0.0);
        let high = (middle + half).min(1.0);
        Some(BrokenRate { occasions, rate: share, low, high })
    }
}

/// Something that could not be read, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReplayProblem {
    pub client: Option<String>,
    pub path: Option<String>,
    pub message: String,
}

/// A client's records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClientRecords {
    pub client: String,
    pub sessions: usize,
    /// Files of other projects.
    pub foreign: usize,
    /// Files that do not say where the client worked.
    pub unplaced: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of Wilson's interval from Brown, Cai and `DasGupta` (2001) and by hand.
    #[test]
    fn a_rate_has_an_interval_and_needs_ten_occasions() {
        assert_eq!(BrokenRate::from_counts(3, 6), None);
        let rate = BrokenRate::from_counts(1, 9).unwrap();
        assert!((rate.rate - 0.1).abs() < 1e-9);
        assert!((rate.low - 0.017_876).abs() < 1e-4 && (rate.high - 0.404_150).abs() < 1e-4);
        let none = BrokenRate::from_counts(0, 10).unwrap();
        assert!(none.low.abs() < 1e-9 && (none.high - 0.277_533).abs() < 1e-4);
    }
}
