//! Recorded sessions compared with guidance: what an agent had when it needed it, and what it did.
//!
//! Three sources meet here. Clients' own records say what was done ([`brief_clients::transcript`]), receipts what was delivered,
//! and the guidance of today what applied. `guidance` answers which rules are for a file, `told` when an agent could see one,
//! `judge` what the checks say, `session` puts the three together, and `advice` says what to do about a rule. Everything after
//! reading is pure, and nothing leaves the machine.

mod advice;
mod guidance;
mod index;
mod judge;
mod report;
mod session;
#[cfg(test)]
mod tests;
mod told;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use brief_clients::transcript::{
    TranscriptContent, TranscriptFile, find_transcripts, read_transcript, recognize_transcript,
};
use brief_engine::receipts::{Receipt, Receipts};
use brief_engine::{Project, System};
use brief_profiles::{BUILTIN, Client, KnownClients};
use brief_syntax::render::path_below;
use brief_system::home_directory;

use guidance::Guidance;
use index::{Index, IndexedContent, IndexedSession, hash_receipts};
use session::report_session;

pub use report::{
    ArrivalCounts, BrokenRate, ClientRecords, OccasionCounts, ReplayProblem, ReplayVerdict,
    ReplayedRule, RuleEvidence, SessionReport, SessionRule, TimelineEntry, TimelineKind,
    VerdictCount, ViolationProof,
};

/// The most proofs that are listed for one rule.
const MOST_EVIDENCE: usize = 20;

/// What is replayed.
#[derive(Debug, Clone, Default)]
pub struct ReplayRequest {
    /// How far to look back; `None` for as far as clients keep records.
    pub since: Option<Duration>,
    /// The client; `None` for all.
    pub client: Option<String>,
    /// A file with records, wherever it lies; instead of those that clients keep.
    pub file: Option<PathBuf>,
}

/// The answer.
#[derive(Debug, Clone, Default)]
pub struct Replay {
    /// The sessions of the project, oldest first.
    pub sessions: Vec<SessionReport>,
    /// The rules that applied or have a check, those with something to do first.
    pub rules: Vec<ReplayedRule>,
    pub clients: Vec<ClientRecords>,
    pub problems: Vec<ReplayProblem>,
}

/// Reads the sessions of a project, and compares them with its guidance of today.
pub fn replay_sessions(project: &Project<'_>, request: &ReplayRequest) -> Replay {
    let system = project.system();
    let root = project.root().path();
    // A client that a project describes names no file below the home directory to read.
    let known = &BUILTIN;
    let mut replay = Replay::default();
    let files = list_files(system, known, request, &mut replay);
    let days = request.since.map_or(u64::MAX, |since| since.as_secs().div_ceil(24 * 60 * 60));
    let receipts = Receipts::read(system, days);
    if receipts.unreadable > 0 {
        replay.add_problem(
            None,
            None,
            format!(
                "skipped {} of the log: written by another version of brief",
                count_nouns(receipts.unreadable, "line")
            ),
        );
    }
    let receipts = group_receipts(&receipts.receipts, root);
    let mut guidance = Guidance::read(project);
    let basis = guidance.fingerprint(known);
    let mut index = Index::read(system, root, &basis);
    let mut reader = SessionReader {
        system,
        root,
        request,
        receipts: &receipts,
        guidance: &mut guidance,
        known_calls: HashSet::new(),
        clients: BTreeMap::new(),
        replay: &mut replay,
    };
    for file in &files {
        reader.add_file(file, &mut index);
    }
    let clients = reader.clients;
    replay.clients = clients.into_values().collect();
    if request.file.is_none() {
        index.write(system);
    }
    replay.sessions.sort_by(|left, right| {
        (left.started, &left.source, &left.id).cmp(&(right.started, &right.source, &right.id))
    });
    replay.rules = collect_rules(&replay.sessions, &guidance);
    advice::advise_rules(&mut replay, project, known);
    replay
}

impl Replay {
    fn add_problem(&mut self, client: Option<&str>, path: Option<&Path>, message: String) {
        self.problems.push(ReplayProblem {
            client: client.map(str::to_owned),
            path: path.map(|path| path.display().to_string()),
            message,
        });
    }
}

fn list_files<'c>(
    system: &dyn System,
    known: &'c KnownClients,
    request: &ReplayRequest,
    replay: &mut Replay,
) -> Vec<TranscriptFile<'c>> {
    let is_asked = |client: &&Client| {
        request.client.as_ref().is_none_or(|name| client.find_name(name).is_some())
    };
    if let Some(path) = &request.file {
        let clients = known.clients.iter().filter(is_asked);
        let found = recognize_transcript(system, clients, path);
        if found.is_none() {
            let message = "not a session file of a known client".to_owned();
            replay.add_problem(None, Some(path), message);
        }
        return found.into_iter().collect();
    }
    let Some(home) = home_directory(system) else {
        replay.add_problem(None, None, "the environment names no home directory".to_owned());
        return Vec::new();
    };
    let oldest = request.since.map(|since| {
        let now = system.now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        now.saturating_sub(since)
    });
    let mut files = Vec::new();
    for client in known.clients.iter().filter(is_asked) {
        if client.transcripts.is_none() {
            if request.client.is_some() {
                let message = format!("brief cannot read the sessions of {}", client.name);
                replay.add_problem(Some(&client.id), None, message);
            }
            continue;
        }
        match find_transcripts(system, &home, client) {
            Ok(found) => files.extend(found.into_iter().filter(|file| {
                let changed = file.stamp.map(|stamp| {
                    let log = stamp.target.map(|log| log.changed);
                    log.unwrap_or_default().max(stamp.own.changed)
                });
                changed.zip(oldest).is_none_or(|(changed, oldest)| changed >= oldest)
            })),
            Err(error) => {
                let message = format!("cannot list the sessions of {}: {error}", client.name);
                replay.add_problem(Some(&client.id), None, message);
            }
        }
    }
    // An origin before its forks, as far as the time of the last change tells.
    files.sort_by_key(|file| (file.stamp.map(|stamp| stamp.own.changed), file.path.clone()));
    files
}

/// Reads files one after the other: a session is reported and forgotten before the next is read.
struct SessionReader<'r, 'p, 's> {
    system: &'r dyn System,
    root: &'r Path,
    request: &'r ReplayRequest,
    receipts: &'r SessionReceipts<'r>,
    guidance: &'r mut Guidance<'p, 's>,
    /// The calls of the sessions so far, with their clients. A fork begins with those of its origin: they count once.
    known_calls: HashSet<(String, String)>,
    clients: BTreeMap<String, ClientRecords>,
    replay: &'r mut Replay,
}

impl<'r> SessionReader<'r, '_, '_> {
    fn add_file(&mut self, file: &TranscriptFile<'_>, index: &mut Index) {
        let known = match index.find(file) {
            Some(IndexedContent::Sessions(sessions)) if !self.is_valid(file, sessions) => None,
            known => known.cloned(),
        };
        let is_new = known.is_none();
        let Some(content) = known.or_else(|| self.read_file(file)) else { return };
        let client = file.client.id.to_string();
        let mut asked = 0;
        if let IndexedContent::Sessions(sessions) = &content {
            for session in sessions {
                let ids = session.calls.iter().map(|id| (client.clone(), id.clone()));
                self.known_calls.extend(ids);
                if self.is_asked(&session.report) {
                    asked += 1;
                    self.replay.sessions.push(session.report.clone());
                }
            }
        }
        let records = self.clients.entry(client.clone()).or_insert_with(|| ClientRecords {
            client,
            sessions: 0,
            foreign: 0,
            unplaced: 0,
        });
        records.sessions += asked;
        records.foreign += usize::from(matches!(content, IndexedContent::Foreign));
        records.unplaced += usize::from(matches!(content, IndexedContent::Unplaced));
        index.add(file, content, is_new);
    }

    /// Returns whether reports that were made before still hold, and finds their rules.
    fn is_valid(&self, file: &TranscriptFile<'_>, sessions: &[IndexedSession]) -> bool {
        sessions.iter().all(|session| {
            let report = &session.report;
            let receipts = self.find_receipts(&file.client.id, &report.id, report.agent.as_deref());
            session.receipts == hash_receipts(&receipts)
                && session.repeated == self.repeated_calls(&file.client.id, &session.calls)
        })
    }

    fn repeated_calls(&self, client: &str, calls: &[String]) -> Vec<String> {
        let is_known =
            |id: &&String| self.known_calls.contains(&(client.to_owned(), (*id).clone()));
        calls.iter().filter(is_known).cloned().collect()
    }

    fn read_file(&mut self, file: &TranscriptFile<'_>) -> Option<IndexedContent> {
        let client = file.client.id.to_string();
        let is_named = self.request.file.is_some();
        let root = self.root;
        let is_wanted = |directory: &Path| is_named || directory.starts_with(root);
        let sessions = match read_transcript(self.system, file, &is_wanted) {
            Ok(TranscriptContent::Sessions(sessions)) => sessions,
            Ok(TranscriptContent::Foreign) => return Some(IndexedContent::Foreign),
            Ok(TranscriptContent::Unplaced) => return Some(IndexedContent::Unplaced),
            Err(error) => {
                let message = format!("cannot read a session of {}: {error}", file.client.name);
                self.replay.add_problem(Some(&client), Some(&file.path), message);
                return None;
            }
        };
        let source = file.path.display().to_string();
        let mut reports = Vec::new();
        for session in sessions {
            let receipts = self.find_receipts(&client, &session.id, session.agent.as_deref());
            let calls: Vec<String> = session.calls().map(|(_, call)| call.id.clone()).collect();
            let repeated = self.repeated_calls(&client, &calls);
            let is_repeated = |id: &str| repeated.iter().any(|known| known == id);
            let place = (client.as_str(), source.as_str());
            let report = report_session(place, &session, self.guidance, &receipts, &is_repeated);
            let receipts = hash_receipts(&receipts);
            reports.push(IndexedSession { receipts, calls, repeated, report });
        }
        Some(IndexedContent::Sessions(reports))
    }

    fn is_asked(&self, report: &SessionReport) -> bool {
        let oldest = self.request.since.map(|since| {
            let now = self.system.now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            u64::try_from(now.saturating_sub(since).as_millis()).unwrap_or(u64::MAX)
        });
        report.ended.zip(oldest).is_none_or(|(ended, oldest)| ended >= oldest)
    }

    /// Returns the receipts of a session, and of the subagent in it.
    fn find_receipts(&self, client: &str, session: &str, agent: Option<&str>) -> Vec<&'r Receipt> {
        let own = self.receipts.get(&(client.to_owned(), session.to_owned()));
        let own = own.into_iter().flatten().copied();
        own.filter(|receipt| receipt.agent.as_deref() == agent).collect()
    }
}

/// The receipts of a project, by client and session.
type SessionReceipts<'r> = HashMap<(String, String), Vec<&'r Receipt>>;

fn group_receipts<'r>(receipts: &'r [Receipt], root: &Path) -> SessionReceipts<'r> {
    let root = root.display().to_string();
    let mut grouped: SessionReceipts<'r> = HashMap::new();
    for receipt in receipts.iter().filter(|receipt| receipt.root == root) {
        let session = receipt.trace.root_session.as_ref().unwrap_or(&receipt.session);
        grouped.entry((receipt.client.clone(), session.clone())).or_default().push(receipt);
    }
    grouped
}

fn collect_rules(sessions: &[SessionReport], guidance: &Guidance<'_, '_>) -> Vec<ReplayedRule> {
    let shown: Vec<String> =
        guidance.rules.iter().map(|rule| format!("{}:{}", rule.place, rule.line)).collect();
    let mut places: HashMap<(&str, &str), usize> = shown
        .iter()
        .zip(&guidance.rules)
        .enumerate()
        .map(|(index, (place, rule))| ((place.as_str(), rule.name.as_str()), index))
        .collect();
    let mut reports: Vec<ReplayedRule> = guidance
        .rules
        .iter()
        .map(|rule| {
            let check = rule.check.and_then(|check| guidance.checks.get(check));
            ReplayedRule {
                format: rule.format.to_owned(),
                title: rule.title.clone(),
                check: check.map(|check| check.id.to_string()),
                enforce: check.map(|check| check.check.enforce.as_str().to_owned()),
                ..ReplayedRule::new(&format!("{}:{}", rule.place, rule.line), &rule.name)
            }
        })
        .collect();
    let mut verdicts: HashMap<(usize, ReplayVerdict), usize> = HashMap::new();
    for session in sessions {
        for rule in &session.rules {
            let key = (rule.place.as_str(), rule.name.as_str());
            // A rule that applied to a file and is not among those of the whole project.
            let index = *places.entry(key).or_insert_with(|| {
                reports.push(ReplayedRule::new(&rule.place, &rule.name));
                reports.len() - 1
            });
            let Some(report) = reports.get_mut(index) else { continue };
            report.sessions += 1;
            report.arrival.add(rule.arrival);
            report.occasions.add(rule.occasions);
            if let Some(verdict) = rule.verdict {
                *verdicts.entry((index, verdict)).or_default() += 1;
            }
            let room = MOST_EVIDENCE.saturating_sub(report.evidence.len());
            report.evidence.extend(rule.evidence.iter().take(room).map(|evidence| RuleEvidence {
                client: session.client.clone(),
                session: session.id.clone(),
                evidence: evidence.clone(),
            }));
        }
    }
    for (index, report) in reports.iter_mut().enumerate() {
        let counts = ReplayVerdict::ALL.iter().filter_map(|verdict| {
            let sessions = *verdicts.get(&(index, *verdict))?;
            Some(VerdictCount { verdict: *verdict, sessions })
        });
        report.verdicts = counts.collect();
        report.rate = BrokenRate::from_counts(report.occasions.broken, report.occasions.kept);
    }
    reports
}

/// Returns a number with its noun.
pub(super) fn count_nouns(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Returns a path as reports show it.
fn shown_path(root: &Path, path: &Path) -> String {
    path_below(root, path).into_owned()
}
