//! One session: which rules its calls needed, whether the agent had them, and what the checks say.

use std::collections::{BTreeMap, BTreeSet};

use brief_checks::rules::Verdict;
use brief_clients::transcript::{EventBody, Outcome, RecordedEvent, RecordedSession, ToolCall};
use brief_engine::receipts::Receipt;
use brief_engine::sees::Arrival;

use super::guidance::Guidance;
use super::judge::{Occasion, SessionVerdicts, judge_session, touched_files};
use super::report::{
    ArrivalCounts, OccasionCounts, ReplayVerdict, SessionReport, SessionRule, TimelineEntry,
    TimelineKind, ViolationProof,
};
use super::told::Told;

/// The longest command that a report quotes, in characters.
const LONGEST_COMMAND: usize = 200;

/// Reports a session. `is_repeated` tells the calls that another session has already had.
pub(super) fn report_session(
    (client, source): (&str, &str),
    session: &RecordedSession,
    guidance: &mut Guidance<'_, '_>,
    receipts: &[&Receipt],
    is_repeated: &dyn Fn(&str) -> bool,
) -> SessionReport {
    let root = guidance.root().to_owned();
    let verdicts = judge_session(session, &guidance.checks, &root);
    let mut join = Join {
        session,
        told: Told::from_receipts(session, receipts, &guidance.rules),
        rules: BTreeMap::new(),
        missing: BTreeMap::new(),
    };
    let started = session.directory.clone().unwrap_or_else(|| root.clone());
    for &(rule, how) in guidance.find_rules_for(client, &started, "", None).iter() {
        if how == Arrival::Loaded {
            join.told.add_loaded(rule, 0);
        }
    }
    for (index, event) in session.events.iter().enumerate() {
        match &event.body {
            EventBody::Loaded(files) => join.add_loaded_files(event, files, guidance),
            EventBody::Call(call) => {
                let touched = touched_files(session, call, &root);
                let is_own = !is_repeated(&call.id) && !matches!(call.outcome, Outcome::Denied(_));
                for (path, action) in touched {
                    let found = guidance.find_rules_for(client, &started, &path, Some(action));
                    for &(rule, how) in found.iter() {
                        join.add_need(index, event, rule, how, is_own);
                    }
                }
            }
            EventBody::Prompt | EventBody::Compaction => {}
        }
    }
    for occasion in &verdicts.occasions {
        let is_own = event_call(session, occasion.event).is_none_or(|call| !is_repeated(&call.id));
        if is_own && let Some(rule) = guidance.rule_of_check(occasion.rule) {
            join.add_occasion(rule, occasion);
        }
    }
    // Each check has a verdict about each session.
    let checked: Vec<(usize, usize)> = guidance
        .rules
        .iter()
        .enumerate()
        .filter_map(|(index, rule)| Some((index, rule.check?)))
        .collect();
    for (rule, check) in checked {
        let hidden = guidance.checks.get(check).and_then(|bound| verdicts.hidden_reason(bound));
        join.add_verdict(rule, hidden);
    }
    let timeline = join.build_timeline(&verdicts, guidance);
    let calls = session.calls().filter(|(_, call)| !is_repeated(&call.id)).count();
    let rules = std::mem::take(&mut join.rules).into_iter().map(|(index, mut rule)| {
        if let Some(known) = guidance.rules.get(index) {
            rule.place = format!("{}:{}", known.place, known.line);
            rule.name.clone_from(&known.name);
        }
        rule.late = join.told.late.get(&index).map(|late| late.as_sentence().to_owned());
        rule
    });
    SessionReport {
        client: client.to_owned(),
        id: session.id.clone(),
        agent: session.agent.clone(),
        parent: session.parent.clone(),
        version: session.version.clone(),
        started: session.started,
        ended: session.ended,
        source: source.to_owned(),
        calls,
        open: session.is_open(),
        receipts: !receipts.is_empty(),
        gaps: session.gaps.describe(),
        rules: rules.collect(),
        timeline,
    }
}

fn event_call(session: &RecordedSession, event: usize) -> Option<&ToolCall> {
    match &session.events.get(event)?.body {
        EventBody::Call(call) => Some(call),
        _ => None,
    }
}

struct Join<'j> {
    session: &'j RecordedSession,
    told: Told,
    rules: BTreeMap<usize, SessionRule>,
    /// The rules that each event lacked.
    missing: BTreeMap<usize, BTreeSet<usize>>,
}

impl Join<'_> {
    fn rule(&mut self, rule: usize) -> &mut SessionRule {
        self.rules.entry(rule).or_insert_with(|| SessionRule {
            place: String::new(),
            name: String::new(),
            arrival: ArrivalCounts::default(),
            verdict: None,
            occasions: OccasionCounts::default(),
            evidence: Vec::new(),
            unknown: None,
            late: None,
        })
    }

    fn add_loaded_files(
        &mut self,
        event: &RecordedEvent,
        files: &[std::path::PathBuf],
        guidance: &Guidance<'_, '_>,
    ) {
        let root = guidance.root();
        for file in files {
            let place = super::shown_path(root, file);
            let named = guidance.rules.iter().enumerate().filter(|(_, rule)| rule.place == place);
            for (rule, _) in named {
                self.told.add_loaded(rule, event.step + 1);
            }
        }
    }

    /// Counts how a rule was there for a call that it is for.
    fn add_need(
        &mut self,
        index: usize,
        event: &RecordedEvent,
        rule: usize,
        how: Arrival,
        is_own: bool,
    ) {
        let is_told = self.told.is_told(rule, event.step);
        let is_loaded = how == Arrival::Loaded || self.told.is_loaded(rule, event.step);
        let is_late = !is_told && self.told.is_told_later(rule, event.step);
        if how == Arrival::Loaded {
            // What a client attaches comes with the result.
            self.told.add_loaded(rule, event.step + 1);
        }
        if !is_own {
            return;
        }
        let arrival = &mut self.rule(rule).arrival;
        if is_loaded {
            arrival.loaded += 1;
        } else if is_told {
            arrival.delivered += 1;
        } else {
            if is_late {
                arrival.late += 1;
            } else {
                arrival.missing += 1;
            }
            self.missing.entry(index).or_default().insert(rule);
        }
    }

    fn add_occasion(&mut self, rule: usize, occasion: &Occasion) {
        let Some(event) = self.session.events.get(occasion.event) else { return };
        let Some(call) = event_call(self.session, occasion.event) else { return };
        let is_told = self.told.is_told(rule, event.step);
        if !is_told {
            self.missing.entry(occasion.event).or_default().insert(rule);
        }
        let found: Vec<ViolationProof> = occasion
            .findings
            .iter()
            .map(|(place, message)| ViolationProof {
                call: call.id.clone(),
                record: event.record,
                at: event.at,
                tool: call.tool.clone(),
                place: place.to_string(),
                message: message.clone(),
                told: is_told,
                fixed: occasion.is_fixed,
            })
            .collect();
        let session_rule = self.rule(rule);
        let counts = &mut session_rule.occasions;
        match occasion.verdict {
            Verdict::Broken => {
                counts.broken += 1;
                counts.fixed += usize::from(occasion.is_fixed);
            }
            Verdict::Kept => counts.kept += 1,
            Verdict::Unknown => {
                counts.unknown += 1;
                let reason = occasion.unknown.map(str::to_owned);
                session_rule.unknown = session_rule.unknown.take().or(reason);
            }
            Verdict::NoOccasion => return,
        }
        session_rule.occasions.told += usize::from(is_told);
        session_rule.evidence.extend(found);
    }

    fn add_verdict(&mut self, rule: usize, hidden: Option<&'static str>) {
        let session_rule = self.rule(rule);
        let counts = session_rule.occasions;
        let is_untold = counts.total() > 0 && counts.told == 0;
        let verdict = match counts {
            OccasionCounts { broken, fixed, .. } if broken > fixed => ReplayVerdict::Broken,
            OccasionCounts { broken, .. } if broken > 0 => ReplayVerdict::Fixed,
            _ if is_untold => ReplayVerdict::NotDelivered,
            OccasionCounts { unknown, .. } if unknown > 0 => ReplayVerdict::Unknown,
            // What nobody sees could be an occasion, and could break it.
            _ if hidden.is_some() => ReplayVerdict::Unknown,
            OccasionCounts { kept, .. } if kept > 0 => ReplayVerdict::Kept,
            _ => ReplayVerdict::NoOccasion,
        };
        if verdict == ReplayVerdict::Unknown {
            let reason = hidden.map(str::to_owned);
            session_rule.unknown = session_rule.unknown.take().or(reason);
        } else {
            session_rule.unknown = None;
        }
        session_rule.verdict = Some(verdict);
    }

    fn build_timeline(
        &self,
        verdicts: &SessionVerdicts,
        guidance: &Guidance<'_, '_>,
    ) -> Vec<TimelineEntry> {
        let name = |rule: usize| {
            guidance
                .rules
                .get(rule)
                .map_or(String::new(), |rule| format!("{}:{}", rule.place, rule.line))
        };
        let mut broken: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for occasion in &verdicts.occasions {
            let Some(rule) = guidance.rule_of_check(occasion.rule) else { continue };
            let found = occasion.findings.iter();
            let found = found.map(|(place, message)| format!("{}: {place} {message}", name(rule)));
            broken.entry(occasion.event).or_default().extend(found);
        }
        // A delivery is shown before the answer that could first see it.
        let mut deliveries: Vec<(u32, String)> = (0..guidance.rules.len())
            .flat_map(|rule| self.told.delivered_steps(rule).iter().map(move |step| (*step, rule)))
            .map(|(step, rule)| (step, name(rule)))
            .collect();
        deliveries.sort();
        deliveries.dedup();
        let mut deliveries = deliveries.into_iter().peekable();
        let mut entries = Vec::new();
        let entry = |event: &RecordedEvent, kind, text| TimelineEntry {
            at: event.at,
            step: event.step,
            record: event.record,
            kind,
            text,
            outcome: None,
            broken: Vec::new(),
            missing: Vec::new(),
        };
        for (index, event) in self.session.events.iter().enumerate() {
            while let Some((_, text)) = deliveries.next_if(|(step, _)| *step <= event.step) {
                entries.push(entry(event, TimelineKind::Delivered, text));
            }
            entries.push(match &event.body {
                EventBody::Prompt => entry(event, TimelineKind::Prompt, String::new()),
                EventBody::Compaction => entry(event, TimelineKind::Compaction, String::new()),
                EventBody::Loaded(_) => continue,
                EventBody::Call(call) => TimelineEntry {
                    outcome: Some(call.outcome.describe()),
                    broken: broken.remove(&index).unwrap_or_default(),
                    missing: self
                        .missing
                        .get(&index)
                        .into_iter()
                        .flatten()
                        .map(|rule| name(*rule))
                        .collect(),
                    ..entry(event, TimelineKind::Call, describe_call(self.session, call, guidance))
                },
            });
        }
        entries
    }
}

/// Returns a call in a few words: the tool, with its files or its command.
fn describe_call(
    session: &RecordedSession,
    call: &ToolCall,
    guidance: &Guidance<'_, '_>,
) -> String {
    let subject = if !call.commands.is_empty() {
        let command = call.commands.join("; ");
        let line = command.lines().next().unwrap_or_default();
        let cut: String = line.chars().take(LONGEST_COMMAND).collect();
        let more = if cut.len() < command.len() { "…" } else { "" };
        format!("`{cut}{more}`")
    } else if let Some(skill) = &call.skill {
        skill.clone()
    } else {
        let files = touched_files(session, call, guidance.root());
        let mut names: Vec<String> = files.into_iter().map(|(path, _)| path).collect();
        names.dedup();
        names.join(", ")
    };
    format!("{} {subject}", call.tool).trim_end().to_owned()
}
