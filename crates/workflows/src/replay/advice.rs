//! What to do about a rule, in one line.

use std::collections::BTreeSet;

use brief_engine::Project;
use brief_engine::sees::Delivery;
use brief_profiles::KnownClients;

use super::report::{ReplayVerdict, ReplayedRule, SessionRule};
use super::{Replay, count_nouns};
use crate::delivery::find_viewers;

/// The sessions after which a rule without an occasion is worth a question.
const MANY_SESSIONS: usize = 10;

/// Adds the advice to each rule, and puts the rules with something to do first.
pub(super) fn advise_rules(replay: &mut Replay, project: &Project<'_>, known: &KnownClients) {
    let clients: BTreeSet<&str> =
        replay.sessions.iter().map(|session| session.client.as_str()).collect();
    let clients: Vec<&str> =
        clients.into_iter().filter(|client| known.find_client(client).is_some()).collect();
    let moment = project.everything().moment;
    let viewers = find_viewers(project.system(), project.root().path(), &moment, &clients);
    let total = replay.sessions.len();
    for rule in &mut replay.rules {
        let is_it = |own: &SessionRule| own.place == rule.place && own.name == rule.name;
        let lacking: BTreeSet<&str> = replay
            .sessions
            .iter()
            .filter(|session| {
                session.rules.iter().any(|own| {
                    is_it(own)
                        && (own.arrival.missing > 0 || own.occasions.total() > own.occasions.told)
                })
            })
            .map(|session| session.client.as_str())
            .collect();
        let late = replay
            .sessions
            .iter()
            .flat_map(|session| &session.rules)
            .find(|own| is_it(own) && own.late.is_some())
            .and_then(|own| own.late.clone());
        let missing = viewers.iter().find(|viewer| {
            lacking.contains(viewer.client.as_str()) && viewer.delivery.missing_hook().is_some()
        });
        let missing = missing.map(|viewer| (viewer.client.as_str(), &viewer.delivery));
        rule.advice = advise_rule(rule, total, missing, !lacking.is_empty(), late);
    }
    // The places of sessions' rules are no longer needed.
    replay.rules.retain(|rule| rule.sessions > 0);
    replay.rules.sort_by_key(|rule| {
        let broken = rule.occasions.broken;
        (std::cmp::Reverse(broken), std::cmp::Reverse(rule.arrival.missing), rule.place.clone())
    });
}

fn advise_rule(
    rule: &ReplayedRule,
    sessions: usize,
    missing: Option<(&str, &Delivery)>,
    was_missing: bool,
    late: Option<String>,
) -> Option<String> {
    if let Some((client, delivery)) = missing {
        let reason = delivery.missing_reason().unwrap_or_default();
        let fix = delivery.fix().unwrap_or_else(|| format!("add it to a file that {client} loads"));
        return Some(format!("{reason}: {fix}"));
    }
    let was_told = rule.occasions.told > 0 || rule.arrival.loaded + rule.arrival.delivered > 0;
    if rule.occasions.broken > rule.occasions.fixed && was_told {
        return Some(match rule.enforce.as_deref() {
            Some("deny") => {
                "broken although it was delivered and is denied: run `brief hook status`".to_owned()
            }
            _ => "broken although it was delivered: enforce it with `enforce: deny`, or make it \
                  shorter and move it closer to the files that it is for"
                .to_owned(),
        });
    }
    if rule.arrival.late > 0 {
        let reason = late.unwrap_or_else(|| "late: a call came before its delivery".to_owned());
        return Some(format!(
            "{reason}; `hold: true` holds a change back until the agent has read it"
        ));
    }
    if was_missing {
        return Some(
            "some sessions ran without it; a hook is installed now, so later sessions get it"
                .to_owned(),
        );
    }
    let never = |count: &super::report::VerdictCount| {
        count.verdict == ReplayVerdict::NoOccasion && count.sessions == sessions
    };
    if sessions >= MANY_SESSIONS && rule.verdicts.iter().any(never) {
        return Some(format!(
            "no occasion in {}: remove it, or narrow `match`, if that is no accident",
            count_nouns(sessions, "session")
        ));
    }
    None
}
