//! A fleet for people.

use std::cell::RefCell;
use std::collections::BTreeMap;

use brief_registry::fleet::{FleetSource, FleetState};
use brief_syntax::text::{group_digits, visible_line};
use brief_workflows::fleet::{FleetReport, UpdateReport};

use crate::error::Result;
use crate::installation::short_commit;
use crate::ui::Ui;

/// The number of repositories that a line names.
const NAMED: usize = 5;

/// The number of signs in a bar.
const BAR: usize = 30;

/// Prints a fleet. The names of repositories are cut, unless the user has asked for those of a state.
pub(super) fn print_fleet(ui: &mut Ui, report: &FleetReport, is_whole: bool) -> Result {
    let told = |names: &[String]| if is_whole { told_all(names) } else { render_few_names(names) };
    for (place, versions) in report.by_source() {
        ui.print_heading(&place)?;
        for (at, names) in versions {
            ui.print_line(format!(
                "  {}  {}",
                at.map_or("unversioned", short_commit),
                told(&names)
            ))?;
        }
    }
    for state in FleetState::ALL {
        let names = report.in_state(state);
        let about = match state {
            // Each has its own line below.
            FleetState::Unsigned | FleetState::Unreadable => continue,
            FleetState::Behind => "behind".to_owned(),
            FleetState::Drifted => "drifted".to_owned(),
            FleetState::OverBudget => {
                format!("over {} tokens", group_digits(report.budget.unwrap_or_default() as u64))
            }
            FleetState::NoGuidance => "without guidance".to_owned(),
        };
        if !names.is_empty() {
            ui.print_line(format!("{about}: {}", told(&names)))?;
        }
    }
    let mut unsigned: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (member, _) in report.members() {
        for source in member.facts.sources.iter().filter(|source| source.is_unsigned()) {
            unsigned
                .entry(render_fleet_source(source))
                .or_default()
                .push(report.member_name(member));
        }
    }
    for (place, names) in &unsigned {
        ui.print_line(format!("not signed, {place}: {}", told(names)))?;
    }
    let mut problems: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (member, _) in report.members() {
        if let Some(problem) = &member.problem {
            problems.entry(problem).or_default().push(report.member_name(member));
        }
    }
    warn_by_problem(ui, &problems)
}

/// Prints the repositories of each owner, with their states.
pub(super) fn print_owners(ui: &mut Ui, report: &FleetReport) -> Result {
    for (number, (owner, members)) in report.by_owner().into_iter().enumerate() {
        if number > 0 {
            ui.print_line("")?;
        }
        let owner = if owner.is_empty() { "no owner" } else { owner.as_str() };
        let count = match members.len() {
            1 => "1 repository".to_owned(),
            count => format!("{count} repositories"),
        };
        ui.print_heading(&format!("{}  {count}", visible_line(owner)))?;
        for (member, judged) in members {
            let states: Vec<&str> = judged.states.iter().map(|state| state.as_str()).collect();
            let states =
                if states.is_empty() { "up to date".to_owned() } else { states.join(", ") };
            ui.print_line(format!("  {}  {states}", visible_line(&report.member_name(member))))?;
        }
    }
    Ok(())
}

/// Prints each problem with the repositories that have it: once, if they are many.
pub(super) fn warn_by_problem(ui: &mut Ui, problems: &BTreeMap<&str, Vec<String>>) -> Result {
    for (problem, names) in problems {
        if names.len() > NAMED {
            ui.print_warning(&format!("{problem}: {}", told_all(names)))?;
            continue;
        }
        for name in names {
            ui.print_warning(&format!("{name}: {problem}"))?;
        }
    }
    Ok(())
}

/// Prints the effect of an update: repositories with the same changes are told together.
pub(super) fn print_effect(ui: &mut Ui, effect: &UpdateReport) -> Result {
    for (number, group) in effect.groups.iter().enumerate() {
        if number > 0 {
            ui.print_line("")?;
        }
        ui.print_heading(&render_few_names(&group.repositories))?;
        for moved in &group.moves {
            let at = |commit: &Option<String>| {
                short_commit(commit.as_deref().unwrap_or("none")).to_owned()
            };
            ui.print_line(format!("  {}: {} -> {}", moved.source, at(&moved.from), at(&moved.to)))?;
        }
        if group.changes.is_empty() {
            ui.print_line("  the guidance is the same")?;
        }
        for change in &group.changes {
            ui.print_line(format!("  {}", visible_line(&change.heading)))?;
            for line in &change.lines {
                ui.print_compared("    ", line)?;
            }
        }
    }
    let changed: usize = effect.groups.iter().map(|group| group.repositories.len()).sum();
    let (current, without) = (effect.current.len(), effect.without.len());
    let mut problems: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for problem in &effect.problems {
        problems.entry(&problem.problem).or_default().push(problem.repository.clone());
    }
    warn_by_problem(ui, &problems)?;
    let failed = effect.problems.len();
    ui.print_status(&format!(
        "{changed} to update, {current} up to date, {without} without it, {failed} not updated"
    ))
}

fn render_fleet_source(source: &FleetSource) -> String {
    match &source.reference {
        Some(reference) => format!("{} ({reference})", source.address),
        None => source.address.clone(),
    }
}

/// Returns how many repositories there are, and the names of a few.
pub(super) fn render_few_names(names: &[String]) -> String {
    let count = count_of(names);
    let few = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    let more = if names.len() > NAMED { ", …" } else { "" };
    format!("{count}: {few}{more}")
}

fn count_of(names: &[String]) -> String {
    match names.len() {
        1 => "1 repository".to_owned(),
        count => format!("{} repositories", group_digits(count as u64)),
    }
}

/// Returns how many repositories there are, and all names.
fn told_all(names: &[String]) -> String {
    format!("{}: {}", count_of(names), names.join(", "))
}

/// Runs a task over many repositories, and shows a bar on a terminal.
pub(super) fn with_bar<T>(
    ui: &mut Ui,
    what: &str,
    of: usize,
    work: impl FnOnce(&dyn Fn(usize)) -> T,
) -> Result<T> {
    let shared = RefCell::new(&mut *ui);
    let step = (of / 200).max(1);
    let outcome = work(&|done| {
        if done % step == 0 || done == of {
            // A closed output must not stop the work.
            let _ = shared.borrow_mut().print_detail(&render_progress_bar(what, done, of));
        }
    });
    ui.end_progress()?;
    Ok(outcome)
}

fn render_progress_bar(what: &str, done: usize, of: usize) -> String {
    let full = (done * BAR).checked_div(of).unwrap_or(BAR).min(BAR);
    let (full, rest) = ("#".repeat(full), "-".repeat(BAR - full));
    format!("{what} [{full}{rest}] {} of {}", group_digits(done as u64), group_digits(of as u64))
}

#[cfg(test)]
mod tests {
    use super::render_progress_bar;

    #[test]
    fn a_bar_is_as_long_as_the_work() {
        assert_eq!(
            render_progress_bar("Reading", 0, 10),
            format!("Reading [{}] 0 of 10", "-".repeat(30))
        );
        assert_eq!(
            render_progress_bar("Reading", 500, 1000),
            format!("Reading [{}{}] 500 of 1,000", "#".repeat(15), "-".repeat(15))
        );
        assert_eq!(
            render_progress_bar("Reading", 3, 3),
            format!("Reading [{}] 3 of 3", "#".repeat(30))
        );
    }
}
