//! An item: its text, where it reaches, what each client does with it, what it can do, when it was delivered.

use std::sync::Arc;

use brief_engine::audit::Audit;
use brief_engine::receipts::{Receipt, Receipts};
use brief_engine::survey::EXAMPLES;
use brief_engine::{Root, Target, TargetKind};
use brief_syntax::walk::Ignored;
use maud::{Markup, html};

use super::super::address::{DAYS, PageAddress};
use super::super::layout::Column::Words;
use super::super::layout::{
    Page, display_line, render_arrival, render_link, render_number, render_table,
    render_table_head, text_block,
};
use super::super::snapshot::ShownItem;
use super::PageContext;
use super::sessions::render_times;
use brief_workflows::history::GitHistory;
use brief_workflows::revisions::short_id;

/// The number of receipts on the page.
const SHOWN: usize = 20;

pub(super) fn render_item_page(asked: &PageContext<'_>, id: &str, has_history: bool) -> Page {
    let Some(item) = asked.snapshot.find_item(id) else {
        return Page::missing(
            "Not found",
            html! {
                h1 { "Item not found" }
                p { "It may have been renamed or removed." }
                p { (render_link(asked.links, &PageAddress::Matrix { page: 1 }, html! { "All items" })) }
            },
        );
    };
    Page::new(
        &*item.name,
        html! {
            h1 { (display_line(&item.name)) }
            (render_facts(asked, item))
            section aria-labelledby="text" {
                h2 id="text" { "Text" }
                @if item.text.trim().is_empty() { p { "This item has no text." } } @else { (text_block(&item.text)) }
            }
            (render_reach(asked, item))
            (render_clients(asked, item))
            (render_variants(asked, item))
            (render_capabilities(asked, item))
            @if asked.links.is_served() {
                (render_history(asked, item, has_history))
                (render_receipts(asked, item))
            }
        },
    )
}

fn render_facts(asked: &PageContext<'_>, item: &ShownItem) -> Markup {
    html! {
        dl class="facts" {
            div { dt { "location" } dd class="path" { (display_line(&item.place)) ":" (item.line) } }
            div { dt { "format" } dd { (item.dialect) " " (item.kind) } }
            div { dt { "state" } dd { (item.state.as_str()) } }
            div { dt { "scope" } dd { (item.scope) @if let Some(trigger) = item.trigger { ", " (trigger) } } }
            div { dt { "tokens" } dd id="tokens" { (render_number(item.tokens)) } }
            @if !item.description.is_empty() { div { dt { "description" } dd { (display_line(&item.description)) } } }
            @if !item.patterns.is_empty() {
                div { dt { "patterns" } dd { @for pattern in &item.patterns { code { (display_line(pattern)) } " " } } }
            }
            @if let Some(directory) = item.directory.as_deref().filter(|path| !path.is_empty()) {
                div { dt { "directory" } dd { (render_link(asked.links, &PageAddress::directory(directory), html! { (display_line(directory)) "/" })) } }
            }
        }
    }
}

fn render_reach(asked: &PageContext<'_>, item: &ShownItem) -> Markup {
    html! {
        section aria-labelledby="reach" {
            h2 id="reach" { "Where it applies" }
            p { span id="files" { (render_number(item.files)) } " files"
                @if item.is_reached_otherwise { ", and on directories or when a user mentions it" } "." }
            @if !item.examples.is_empty() {
                details id="reached" {
                    summary { "Files" }
                    ul class="files" {
                        @for path in &item.examples { li { (render_link(asked.links, &PageAddress::file(path), html! { (display_line(path)) })) } }
                    }
                    @if item.files > EXAMPLES { p { (render_number(item.files - EXAMPLES)) " more." } }
                }
            }
        }
    }
}

fn render_clients(asked: &PageContext<'_>, item: &ShownItem) -> Markup {
    let row = asked.snapshot.matrix.iter().find(|row| row.id.as_deref() == Some(&item.id));
    let Some(row) = row else { return html! {} };
    html! {
        section aria-labelledby="clients" {
            h2 id="clients" { "Clients" }
            (render_table("Clients", html! {
                (render_table_head([Words("client"), Words("delivery"), Words("reason")]))
                tbody {
                    @for (client, sight) in asked.snapshot.clients.iter().zip(&row.seen) {
                        tr data-client=(client) data-how=(sight.how.as_str()) {
                            th scope="row" { (client) }
                            td { (render_arrival(sight)) }
                            td { (display_line(&sight.reason)) }
                        }
                    }
                }
            }))
        }
    }
}

/// The items of the same name and kind in other places: the copies for other clients.
fn render_variants(asked: &PageContext<'_>, item: &ShownItem) -> Markup {
    let others: Vec<&ShownItem> = asked
        .snapshot
        .items
        .iter()
        .filter(|other| other.id != item.id && other.name == item.name && other.kind == item.kind)
        .take(SHOWN)
        .collect();
    if others.is_empty() {
        return html! {};
    }
    html! {
        section aria-labelledby="variants" {
            h2 id="variants" { "Variants" }
            @for (index, other) in others.iter().enumerate() {
                h3 { (render_link(asked.links, &PageAddress::item(&other.id), html! { (display_line(&other.place)) ":" (other.line) })) }
                @if other.text.trim() == item.text.trim() {
                    p { "Identical text." }
                } @else {
                    details id={ "variant-" (index) } {
                        summary { "Differences" }
                        (super::change::render_difference(&item.text, &other.text))
                    }
                }
            }
        }
    }
}

fn render_capabilities(asked: &PageContext<'_>, item: &ShownItem) -> Markup {
    let system = asked.view.system.as_ref();
    let (above, name) = item.place.rsplit_once('/').unwrap_or(("", &item.place));
    let audit = Root::open(system, &asked.snapshot.root).ok().map(|root| {
        // All of a skill's directory belongs to it.
        let file = (!matches!(item.kind, "skill")).then_some(name);
        let directory = Target::from_slashed(above, TargetKind::Directory);
        Audit::read(system, &root, &directory, file, Ignored::Visit)
    });
    let Some(audit) = audit.filter(|_| !item.place.starts_with('/')) else { return html! {} };
    let mut found: Vec<(&str, &str)> = audit
        .findings()
        .map(|found| (found.capability.as_str(), found.evidence.as_str()))
        .collect();
    found.dedup();
    html! {
        section aria-labelledby="capabilities" {
            h2 id="capabilities" { "What it can do" }
            @if found.is_empty() { p { "No commands, tools, hosts or hidden text found in its file." } }
            @else {
                ul {
                    @for (capability, evidence) in found.iter().take(SHOWN) {
                        li { strong { (capability) } " " code { (display_line(evidence)) } }
                    }
                }
                @if found.len() > SHOWN { p { (render_number(found.len() - SHOWN)) " more; run " code { "brief audit" } " to see all." } }
            }
        }
    }
}

/// The commits of the item's file, when they are asked for.
fn render_history(asked: &PageContext<'_>, item: &ShownItem, is_shown: bool) -> Markup {
    if !asked.snapshot.has_file(&item.place) {
        return html! {};
    }
    let all = PageAddress::Item { id: item.id.clone(), has_history: true };
    let found = is_shown.then(|| {
        let system = Arc::clone(&asked.view.system);
        GitHistory::open_project(system, &asked.snapshot.root, None)?.commits_of(&item.place, SHOWN)
    });
    html! {
        section aria-labelledby="history" {
            h2 id="history" { "History" }
            @match found {
                None => p { (render_link(asked.links, &all, html! { "Show the commits that changed its file" })) },
                Some(Err(error)) => p { (display_line(&error.to_string())) },
                Some(Ok(commits)) => {
                    @if commits.is_empty() { p { "No commits changed its file." } }
                    ul {
                        @for commit in &commits {
                            @let change = PageAddress::Change { from: format!("{}~1", commit.id), to: commit.id.clone() };
                            li {
                                (commit.date) " "
                                (render_link(asked.links, &change, html! { code { (short_id(&commit.id)) } }))
                                " " (display_line(&commit.subject))
                            }
                        }
                    }
                }
            }
        }
    }
}

fn render_receipts(asked: &PageContext<'_>, item: &ShownItem) -> Markup {
    let Receipts { receipts, .. } = Receipts::read(asked.view.system.as_ref(), DAYS);
    let root = asked.snapshot.root.display().to_string();
    let is_meant = |receipt: &&Receipt| {
        receipt.root == root
            && receipt.items.iter().any(|one| one.place == item.place && one.name == item.name)
    };
    let told: Vec<&Receipt> = receipts.iter().rev().filter(is_meant).collect();
    html! {
        section aria-labelledby="receipts" {
            h2 id="receipts" { "Deliveries" }
            @if told.is_empty() { p { "Not delivered in the last " (DAYS) " days." } }
            @else {
                p { (render_times(told.len())) " in the last " (DAYS) " days." }
                ul {
                    @for receipt in told.iter().take(SHOWN) {
                        li { (receipt.time()) ", " (display_line(&receipt.client)) ", " (display_line(&receipt.event)) ", session " (display_line(&receipt.session)) }
                    }
                }
            }
        }
    }
}
