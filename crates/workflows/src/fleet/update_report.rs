//! The effect of an update on a fleet: repositories with the same changes are one group.

use std::collections::HashMap;

use serde::Serialize;

use super::update::{FleetChange, MemberUpdate, SourceMove, UpdateOutcome};

/// The repositories with the same changes.
#[derive(Debug, Serialize)]
pub struct UpdateGroup {
    /// The names, sorted.
    pub repositories: Vec<String>,
    pub moves: Vec<SourceMove>,
    pub changes: Vec<FleetChange>,
}

/// A repository that is not updated, with the reason.
#[derive(Debug, Serialize)]
pub struct UpdateProblem {
    pub repository: String,
    pub problem: String,
}

/// The effect of an update on a fleet.
#[derive(Debug, Default, Serialize)]
pub struct UpdateReport {
    /// The groups, the largest first.
    pub groups: Vec<UpdateGroup>,
    /// The repositories that are up to date.
    pub current: Vec<String>,
    /// The repositories that have nothing of that name.
    pub without: Vec<String>,
    /// The repositories that cannot be updated from outside.
    pub problems: Vec<UpdateProblem>,
}

impl UpdateReport {
    /// Returns whether no repository has anything of that name.
    pub fn is_without(&self) -> bool {
        self.groups.is_empty() && self.current.is_empty() && self.problems.is_empty()
    }

    /// Groups the outcomes of repositories by their changes.
    pub fn from_outcomes<T>(
        outcomes: impl IntoIterator<Item = (String, UpdateOutcome<T>)>,
    ) -> UpdateReport {
        let mut report = UpdateReport::default();
        let mut known: HashMap<String, usize> = HashMap::new();
        for (repository, outcome) in outcomes {
            let problem = match outcome {
                UpdateOutcome::Without => {
                    report.without.push(repository);
                    continue;
                }
                UpdateOutcome::Current => {
                    report.current.push(repository);
                    continue;
                }
                UpdateOutcome::Changes(MemberUpdate { moves, changes, .. }, _) => {
                    let key = serde_json::to_string(&(&moves, &changes)).unwrap_or_default();
                    let place = *known.entry(key).or_insert(report.groups.len());
                    if place == report.groups.len() {
                        report.groups.push(UpdateGroup {
                            repositories: Vec::new(),
                            moves,
                            changes,
                        });
                    }
                    report.groups[place].repositories.push(repository);
                    continue;
                }
                UpdateOutcome::Problem(problem) => problem,
                UpdateOutcome::Interrupted => "interrupted".to_owned(),
            };
            report.problems.push(UpdateProblem { repository, problem });
        }
        report.groups.sort_by_key(|group| std::cmp::Reverse(group.repositories.len()));
        report
    }
}
