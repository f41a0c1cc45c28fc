//! Receipts as a timeline: what agents were told, when, why, at what cost; and what none of them got.

use std::collections::BTreeMap;

use brief_engine::Project;
use brief_engine::receipts::{self, NeverDelivered, Receipt, Receipts};
use brief_syntax::text::group_digits;
use brief_system::Remembered;
use maud::{Markup, html};

use super::super::address::PageAddress;
use super::super::layout::Column::{Number, Words};
use super::super::layout::{
    Page, Paged, display_line, render_link, render_number, render_table, render_table_head,
};
use super::{PageContext, ROWS};
use brief_workflows::picture::render_bar;

/// The number of sessions on one page.
const SESSIONS: usize = 25;

pub(super) fn render_sessions_page(
    asked: &PageContext<'_>,
    days: u64,
    about: &str,
    page: usize,
) -> Page {
    let system = Remembered::new(std::sync::Arc::clone(&asked.view.system));
    let Receipts { mut receipts, unreadable } = Receipts::read(&system, days);
    let root = asked.snapshot.root.display().to_string();
    receipts.retain(|receipt| receipt.root == root);
    let project = Project::open(&system, &asked.view.directory).ok();
    let never = match &project {
        Some(project) if !receipts.is_empty() => receipts::never_delivered(project, &receipts),
        _ => Vec::new(),
    };
    let has_any = !receipts.is_empty();
    let days_list = by_day(&receipts);
    let shown_receipts = receipts::filter_receipts(&receipts, about, about);
    let mut sessions = by_session(&shown_receipts);
    sessions.reverse();
    let paged = Paged::from_list(&sessions, page, SESSIONS);
    let to = |page| PageAddress::Sessions { days, about: about.to_owned(), page };
    Page::new(
        "Sessions",
        html! {
            h1 { "Deliveries to agents" }
            @if asked.links.is_served() {
                form method="get" action=(asked.links.link_to_file("sessions")) {
                    label for="about" { "A session, a file or an item" }
                    input type="search" id="about" name="about" value=(display_line(about));
                    label for="days" { "Days" }
                    input type="number" id="days" name="days" min="1" max="90" value=(days);
                    button type="submit" { "Show" }
                }
            }
            @if !receipts::is_on(&system) { p class="note" { "Recording is disabled; run " code { "brief log enable" } " to resume it." } }
            @if unreadable > 0 { p class="note" { (render_number(unreadable)) " lines skipped: another version wrote them." } }
            @if sessions.is_empty() {
                p { "No deliveries recorded" @if !about.is_empty() { " about " code { (display_line(about)) } } " in the last " (days) " days." }
                p { "Hooks record what they deliver: run " code { "brief hook install" } " to install one." }
            } @else {
                (render_costs(&days_list))
                section aria-labelledby="sessions" {
                    h2 id="sessions" { "Sessions" }
                    p { span id="receipts" { (render_number(shown_receipts.len())) } (if shown_receipts.len() == 1 { " delivery in " } else { " deliveries in " }) (render_number(sessions.len())) (if sessions.len() == 1 { " session" } else { " sessions" }) ", latest first." }
                    @for session in paged.rows { (render_timeline(asked, session)) }
                    (paged.render_neighbor_links(asked.links, &to))
                }
            }
            @if has_any { (never_section(asked, &never, days)) }
        },
    )
}

/// The receipts of one session, in the order of time.
type SessionReceipts<'r> = Vec<&'r Receipt>;

/// Returns the sessions, in the order in which they began.
fn by_session(receipts: &[Receipt]) -> Vec<SessionReceipts<'_>> {
    let mut places: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut sessions: Vec<SessionReceipts<'_>> = Vec::new();
    for receipt in receipts {
        let key = (receipt.client.as_str(), receipt.session.as_str());
        let place = *places.entry(key).or_insert(sessions.len());
        if place == sessions.len() {
            sessions.push(Vec::new());
        }
        if let Some(session) = sessions.get_mut(place) {
            session.push(receipt);
        }
    }
    sessions
}

fn by_day(receipts: &[Receipt]) -> Vec<(String, usize)> {
    let mut days: BTreeMap<String, usize> = BTreeMap::new();
    for receipt in receipts {
        *days.entry(receipt.time().chars().take(10).collect()).or_default() += receipt.tokens();
    }
    days.into_iter().collect()
}

fn render_costs(days: &[(String, usize)]) -> Markup {
    let most = days.iter().map(|(_, tokens)| *tokens).max().unwrap_or_default();
    html! {
        section aria-labelledby="costs" {
            h2 id="costs" { "Cost over time" }
            (render_table("Tokens by day", html! {
                (render_table_head([Words("day"), Number("tokens"), Words("cost")]))
                tbody {
                    @for (day, tokens) in days {
                        tr data-day=(day) { th scope="row" { (day) } td class="number" { (render_number(*tokens)) } td class="bars" { (render_bar(*tokens, most)) } }
                    }
                }
            }))
        }
    }
}

fn render_timeline(asked: &PageContext<'_>, session: &[&Receipt]) -> Markup {
    let Some(first) = session.first() else { return html! {} };
    let tokens: usize = session.iter().map(|receipt| receipt.tokens()).sum();
    html! {
        article class="session" data-session=(display_line(&first.session)) {
            h3 { (display_line(&first.client)) " " (display_line(&first.session)) }
            p { (first.time()) ", " (render_number(tokens)) " tokens" }
            ol {
                @for receipt in session.iter().take(ROWS) {
                    li {
                        (receipt.time().get(11..19).unwrap_or_default()) " " (display_line(&receipt.event))
                        @if let Some(agent) = &receipt.agent { " (" (display_line(agent)) ")" }
                        @if receipt.held { ", blocked once" }
                        ul {
                            @for item in receipt.items.iter().take(ROWS) {
                                li {
                                    (item.how.as_str()) " "
                                    @match asked.snapshot.id_at(&item.place, &item.name) {
                                        Some(id) => (render_link(asked.links, &PageAddress::item(id), html! { (display_line(&item.place)) ":" (item.line) })),
                                        None => span class="path" { (display_line(&item.place)) ":" (item.line) },
                                    }
                                    @if item.tokens > 0 { ", " (group_digits(item.tokens as u64)) " tokens" }
                                    @if !item.file.is_empty() {
                                        " for " (item.action.as_deref().map(display_line).unwrap_or_default()) " "
                                        (render_link(asked.links, &PageAddress::file(&item.file), html! { (display_line(&item.file)) }))
                                    }
                                    @if !item.reason.is_empty() { br; small { (display_line(&item.reason)) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn never_section(asked: &PageContext<'_>, never: &[NeverDelivered], days: u64) -> Markup {
    html! {
        section aria-labelledby="never" {
            h2 id="never" { "Never delivered" }
            p { span id="never-count" { (render_number(never.len())) } " items not delivered in the last " (days) " days." }
            ul {
                @for item in never.iter().take(ROWS) {
                    li {
                        (asked.item_link(&item.place, &item.name, html! { (display_line(&item.name)) }))
                        " " small class="path" { (display_line(&item.place)) ":" (item.line) }
                    }
                }
            }
        }
    }
}

pub(super) fn render_times(count: usize) -> String {
    if count == 1 { "Once".to_owned() } else { format!("{} times", group_digits(count as u64)) }
}
