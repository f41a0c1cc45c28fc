//! What becomes of the rules with a check in each client, for `show`, `why` and `hook status`.

use std::path::Path;

use brief_checks::rules::RuleSet;
use brief_engine::Catalog;
use brief_engine::sees::Viewer;
use brief_serve::hook::{ReportedClient, RuleInClient, RuleReport, report_rules};

use crate::error::Result;
use crate::session::Session;

/// Returns what becomes of the checks of a catalog in the clients of a question.
pub(super) fn report_checks(
    session: &Session,
    catalog: &Catalog,
    root: &Path,
    viewers: &[Viewer],
) -> Result<Vec<RuleReport>> {
    let checks = catalog.rule_checks();
    if checks.is_empty() {
        return Ok(Vec::new());
    }
    let known = super::hook::known_clients(session)?;
    let missing: Vec<Option<String>> = viewers
        .iter()
        .map(|viewer| viewer.delivery.missing_hook().map(|missing| missing.reason.clone()))
        .collect();
    let clients = viewers.iter().zip(&missing).filter_map(|(viewer, missing)| {
        let client = known.find_client(&viewer.client)?;
        Some(ReportedClient { client, missing_hook: missing.as_deref() })
    });
    let clients: Vec<ReportedClient<'_>> = clients.collect();
    Ok(report_rules(session.system(), root, &RuleSet::new(root, checks), &clients))
}

/// Returns the effects in words, each with the clients that have it, in the order of the clients.
pub(crate) fn group_effects(clients: &[RuleInClient]) -> Vec<(String, Vec<&str>)> {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for one in clients {
        let words = one.render();
        match groups.iter_mut().find(|(known, _)| *known == words) {
            Some((_, names)) => names.push(&one.client),
            None => groups.push((words, vec![&one.client])),
        }
    }
    groups
}
