//! The repositories of a fleet, by state, and the versions of each item.

use std::collections::BTreeMap;

use brief_registry::fleet::{FleetMember, FleetState, Judgment};
use maud::{Markup, html};

use super::super::address::PageAddress;
use super::super::layout::Column::{Number, Words};
use super::super::layout::{
    Page, Paged, display_line, render_link, render_number, render_table, render_table_head,
};
use super::{PageContext, ROWS};
use brief_workflows::fleet::FleetReport;
use brief_workflows::revisions::short_id;

pub(super) fn render_fleet_page(
    asked: &PageContext<'_>,
    state: Option<FleetState>,
    page: usize,
) -> Page {
    let Some(fleet) = &asked.view.extras.fleet else {
        return Page::missing(
            "Fleet",
            html! {
                h1 { "No repositories selected" }
                p { "Run " code { "brief view --fleet SOURCE" } ", where SOURCE is a repository, a directory of repositories or a list." }
            },
        );
    };
    let main = html! {
        h1 { "Repositories" }
        (render_states(asked, fleet, state))
        (render_repositories(asked, fleet, state, page))
        @if state.is_none() && page == 1 { (render_item_versions(fleet)) }
        p { "State when " code { "brief view" } " started. Run " code { "brief fleet status" } " for the current state." }
    };
    Page::new("Fleet", main)
}

/// Returns the way to each state, with the number of its repositories.
fn render_states(
    asked: &PageContext<'_>,
    fleet: &FleetReport,
    chosen: Option<FleetState>,
) -> Markup {
    let to = |state| PageAddress::Fleet { state, page: 1 };
    let is_chosen = |state: Option<FleetState>| (state == chosen).then_some("true");
    html! {
        nav aria-label="States" {
            ul class="filters" {
                li aria-current=[is_chosen(None)] data-state="all" {
                    (render_link(asked.links, &to(None), html! { "all" })) " " (render_number(fleet.members().len()))
                }
                @for state in FleetState::ALL {
                    li aria-current=[is_chosen(Some(state))] data-state=(state.as_str()) {
                        (render_link(asked.links, &to(Some(state)), html! { (state.as_str()) }))
                        " " (render_number(fleet.in_state(state).len()))
                    }
                }
            }
        }
    }
}

fn render_repositories(
    asked: &PageContext<'_>,
    fleet: &FleetReport,
    state: Option<FleetState>,
    page: usize,
) -> Markup {
    let members: Vec<&(FleetMember, Judgment)> = fleet
        .members()
        .iter()
        .filter(|(_, judged)| state.is_none_or(|state| judged.has_state(state)))
        .collect();
    let part = Paged::from_list(&members, page, ROWS);
    html! {
        section aria-labelledby="repositories" {
            h2 id="repositories" { @match state { Some(state) => (state.as_str()), None => "All" } }
            @if members.is_empty() { p { "None." } } @else {
                (render_table("Repositories", html! {
                    (render_table_head([Words("repository"), Words("commit"), Words("states"), Number("items"), Number("tokens"), Words("sources"), Words("remarks")]))
                    tbody { @for (member, judged) in part.rows { (render_repository_row(fleet, member, judged)) } }
                }))
                (part.render_neighbor_links(asked.links, &|page| PageAddress::Fleet { state, page }))
            }
        }
    }
}

fn render_repository_row(fleet: &FleetReport, member: &FleetMember, judged: &Judgment) -> Markup {
    let facts = &member.facts;
    let states: Vec<&str> = judged.states.iter().map(|state| state.as_str()).collect();
    let digest =
        |commit: &str| short_id(commit.strip_prefix("sha256:").unwrap_or(commit)).to_owned();
    html! {
        tr data-repository=(display_line(&fleet.member_name(member))) data-states=(states.join(" ")) {
            th scope="row" class="path" { (display_line(&fleet.member_name(member))) }
            td { code { (member.commit.as_deref().map_or("–", short_id)) } }
            td { (states.join(", ")) }
            td class="number" { (render_number(facts.items.len())) }
            td class="number" { @match facts.tokens { Some(tokens) => (render_number(tokens)), None => "–" } }
            td class="path" { @for source in &facts.sources {
                (display_line(&source.address)) " "
                @if let Some(reference) = &source.reference { (display_line(reference)) " " }
                code { (source.commit.as_deref().map(digest).unwrap_or_default()) } " "
            } }
            td {
                @if let Some(problem) = &member.problem { (display_line(problem)) }
                @for path in facts.drifted.iter().take(5) { code { (display_line(path)) } " " }
                @if facts.drifted.len() > 5 { "and " (render_number(facts.drifted.len() - 5)) " more" }
            }
        }
    }
}

/// Returns the items with the number of repositories for each version.
fn render_item_versions(fleet: &FleetReport) -> Markup {
    let mut items: BTreeMap<(&str, &str), BTreeMap<&str, usize>> = BTreeMap::new();
    for item in fleet.members().iter().flat_map(|(member, _)| &member.facts.items) {
        let version = item.version.as_deref().unwrap_or(short_id(&item.sha256));
        let versions = items.entry((item.kind.as_str(), item.name.as_str())).or_default();
        *versions.entry(version).or_default() += 1;
    }
    html! {
        section aria-labelledby="versions" {
            h2 id="versions" { "Items" }
            p { (render_number(items.len())) " items. Items without a version show the start of their content hash." }
            (render_table("Items by version", html! {
                (render_table_head([Words("item"), Number("repositories"), Words("versions")]))
                tbody {
                    @for ((kind, name), versions) in items.iter().take(ROWS) {
                        tr data-item={ (display_line(kind)) "/" (display_line(name)) } {
                            th scope="row" { (display_line(kind)) "/" (display_line(name)) }
                            td class="number" { (render_number(versions.values().sum())) }
                            td { @for (version, count) in versions { code { (display_line(version)) } ": " (render_number(*count)) " " } }
                        }
                    }
                }
            }))
            @if items.len() > ROWS { p class="note" { "Showing the first " (render_number(ROWS)) "; run " code { "brief fleet status --csv" } " for all." } }
        }
    }
}
