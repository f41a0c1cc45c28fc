//! A fleet as JSON, in the shape that other programs rely on.

use brief_registry::fleet::{FleetMember, Judgment};
use serde::{Serialize, Serializer};

use super::{FleetReport, UpdateReport};

#[derive(Serialize)]
struct JsonFleet<'f> {
    budget: Option<usize>,
    read: usize,
    repositories: Vec<JsonMember<'f>>,
    update: Option<&'f UpdateReport>,
}

#[derive(Serialize)]
struct JsonMember<'f> {
    path: String,
    commit: Option<&'f str>,
    guidance: bool,
    states: Vec<&'static str>,
    tokens: Option<usize>,
    sources: Vec<JsonFleetSource<'f>>,
    items: Vec<JsonFleetItem<'f>>,
    drifted: &'f [String],
    problem: Option<&'f str>,
    owners: &'f [String],
}

#[derive(Serialize)]
struct JsonFleetSource<'f> {
    name: &'f str,
    place: &'f str,
    r#ref: Option<&'f str>,
    commit: Option<&'f str>,
    signer: Option<&'f str>,
    behind: Option<bool>,
}

#[derive(Serialize)]
struct JsonFleetItem<'f> {
    kind: &'f str,
    name: &'f str,
    source: &'f str,
    version: Option<&'f str>,
    sha256: &'f str,
    behind: Option<bool>,
    drifted: bool,
}

impl Serialize for FleetReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let members = self.members().iter();
        let repositories = members.map(|(member, judged)| json_member(self, member, judged));
        let repositories = repositories.collect();
        let update = self.update.as_ref();
        JsonFleet { budget: self.budget, read: self.read, repositories, update }
            .serialize(serializer)
    }
}

fn json_member<'f>(
    report: &FleetReport,
    member: &'f FleetMember,
    judged: &Judgment,
) -> JsonMember<'f> {
    let facts = &member.facts;
    let sources = facts.sources.iter().zip(&judged.sources);
    let items = facts.items.iter().zip(&judged.items);
    JsonMember {
        path: report.member_name(member),
        commit: member.commit.as_deref(),
        guidance: facts.has_guidance,
        states: judged.states.iter().map(|state| state.as_str()).collect(),
        tokens: facts.tokens,
        sources: sources
            .map(|(source, behind)| JsonFleetSource {
                name: &source.name,
                place: &source.address,
                r#ref: source.reference.as_deref(),
                commit: source.commit.as_deref(),
                signer: source.signer.as_deref(),
                behind: *behind,
            })
            .collect(),
        items: items
            .map(|(item, behind)| JsonFleetItem {
                kind: &item.kind,
                name: &item.name,
                source: &item.source,
                version: item.version.as_deref(),
                sha256: &item.sha256,
                behind: *behind,
                drifted: item.is_drifted,
            })
            .collect(),
        drifted: &facts.drifted,
        problem: member.problem.as_deref(),
        owners: &facts.owners,
    }
}
