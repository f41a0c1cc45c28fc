//! The project, or a directory of it: where tokens go, formats, clients, health.

use brief_engine::survey::{Share, SurveyedDirectory};
use brief_syntax::text::format_count;
use maud::{Markup, html};

use super::super::address::PageAddress;
use super::super::health::{Health, Trouble};
use super::super::layout::Column::{Number, Words};
use super::super::layout::{
    Page, Paged, display_line, render_figure, render_link, render_number, render_table,
    render_table_head,
};
use super::super::snapshot::ShownItem;
use super::{PageContext, ROWS};
use brief_workflows::picture::{DirectoryPart, render_bar, render_treemap};

/// The number of items and troubles on the first page; others have their own places.
const SHOWN: usize = 20;

pub(super) fn render_project_page(asked: &PageContext<'_>, directory: &str, page: usize) -> Page {
    let snapshot = asked.snapshot;
    if directory.is_empty() {
        let title = "Project";
        if snapshot.guidance_files == 0 {
            return Page::new(title, render_empty(asked));
        }
        return Page::new(
            title,
            html! {
                h1 { (display_line(&snapshot.name())) }
                (render_totals(asked))
                section aria-labelledby="where" {
                    h2 id="where" { "Where tokens go" }
                    (render_parts(asked, "", page))
                }
                (render_health(asked))
                (render_clients(asked))
                (render_formats(asked))
                (render_directories(asked))
                (render_expensive_items(asked))
            },
        );
    }
    let is_known = !snapshot.files.places_below(directory).is_empty()
        || snapshot.files.directories.iter().any(|known| known == directory);
    if !is_known {
        let heading = html! { "Directory not found: " code { (display_line(directory)) } };
        let reason = "It was moved, or version control ignores it.";
        return Page::not_found(asked.links, &heading, reason);
    }
    Page::new(
        format!("{directory}/"),
        html! {
            h1 { (display_line(directory)) "/" }
            (way_to(asked, directory))
            p { (render_link(asked.links, &PageAddress::file(&format!("{directory}/")), html! { "What each client gets for this directory" })) }
            section aria-labelledby="where" {
                h2 id="where" { "Where tokens go" }
                (render_parts(asked, directory, page))
            }
            (own_items(asked, directory))
        },
    )
}

fn render_empty(asked: &PageContext<'_>) -> Markup {
    html! {
        h1 { (display_line(&asked.snapshot.name())) }
        p { "No guidance found in this project." }
        ul {
            li { code { "brief init" } " creates an AGENTS.yaml." }
            li { code { "brief import" } " converts client files to shared items." }
            li { code { "brief add SOURCE" } " installs items from a registry." }
        }
        p { "This page updates when guidance files change." }
    }
}

fn render_totals(asked: &PageContext<'_>) -> Markup {
    let snapshot = asked.snapshot;
    html! {
        dl class="totals" {
            div { dt { "total tokens" } dd id="tokens" { (render_number(snapshot.tokens)) } }
            div { dt { "items" } dd id="items" { (render_number(snapshot.items.len())) } }
            div { dt { "guidance files" } dd { (render_number(snapshot.guidance_files)) } }
            div { dt { "files" } dd id="files" { (render_number(snapshot.files.files.len())) } }
        }
    }
}

/// The way from the project to a directory or file.
pub(super) fn way_to(asked: &PageContext<'_>, path: &str) -> Markup {
    let trimmed = path.trim_end_matches('/');
    let ends = trimmed.match_indices('/').map(|(end, _)| end);
    html! {
        nav class="way" aria-label="Directories" {
            ol {
                li { (render_link(asked.links, &PageAddress::first_page(), html! { (display_line(&asked.snapshot.name())) })) }
                @for end in ends {
                    @let directory = trimmed.get(..end).unwrap_or_default();
                    @let name = directory.rsplit('/').next().unwrap_or_default();
                    li { (render_link(asked.links, &PageAddress::directory(directory), html! { (display_line(name)) })) }
                }
            }
        }
    }
}

/// The picture of a directory's parts, and the table behind it.
fn render_parts(asked: &PageContext<'_>, directory: &str, page: usize) -> Markup {
    let (snapshot, links) = (asked.snapshot, asked.links);
    let parts = DirectoryPart::collect_parts(&snapshot.files, &snapshot.costs, directory);
    let to = |part: &DirectoryPart| Some(PageAddress::directory(part.path.as_deref()?));
    let drawing = render_treemap(&parts, &|part| links.link_to_page(&to(part)?));
    let most = parts.iter().map(|part| part.most).max().unwrap_or_default();
    let paged = Paged::from_list(&parts, page, ROWS);
    let turn = paged.render_neighbor_links(links, &|page| PageAddress::Project {
        directory: directory.to_owned(),
        page,
    });
    html! {
        @if parts.iter().any(|part| part.sum > 0) {
            p { "Size: tokens of all files in a directory. Color: the darker, the more tokens each file gets." }
            (render_figure("Directories by token cost; the table has the numbers", &drawing))
        }
        (render_table("Directories", html! {
            (render_table_head([Words("directory"), Number("files"), Number("least"), Number("most"), Words("maximum per file")]))
            tbody {
                @for part in paged.rows {
                    tr data-directory=[part.path.as_deref().map(display_line)] {
                        th scope="row" {
                            @match to(part) {
                                Some(address) => (render_link(links, &address, html! { (display_line(&part.name)) "/" })),
                                None => (display_line(&part.name)),
                            }
                        }
                        td class="number" { (render_number(part.files)) }
                        td class="number" { (render_number(part.least)) }
                        td class="number" { (render_number(part.most)) }
                        td class="bars" { (render_bar(part.most, most)) }
                    }
                }
            }
        }))
        (turn)
        (files_of(asked, directory, page))
    }
}

/// The files of a directory itself.
fn files_of(asked: &PageContext<'_>, directory: &str, page: usize) -> Markup {
    let snapshot = asked.snapshot;
    let places = snapshot.files.places_below(directory);
    let skipped = if directory.is_empty() { 0 } else { directory.len() + 1 };
    let all = snapshot.files.files.get(places.clone()).unwrap_or_default();
    let costs = snapshot.costs.get(places).unwrap_or_default();
    let own: Vec<(&str, usize)> = all
        .iter()
        .zip(costs)
        .filter(|(path, _)| path.get(skipped..).is_some_and(|name| !name.contains('/')))
        .map(|(path, &cost)| (path.as_str(), cost))
        .collect();
    if own.is_empty() {
        return html! {};
    }
    let paged = Paged::from_list(&own, page, ROWS);
    let to = |page| PageAddress::Project { directory: directory.to_owned(), page };
    html! {
        h3 { "Files" }
        ul class="files" {
            @for (path, cost) in paged.rows {
                li {
                    (render_link(asked.links, &PageAddress::file(path), html! { (display_line(path.get(skipped..).unwrap_or(path))) }))
                    " " (render_number(*cost))
                }
            }
        }
        (paged.render_neighbor_links(asked.links, &to))
    }
}

fn render_health(asked: &PageContext<'_>) -> Markup {
    html! {
        section aria-labelledby="health" {
            h2 id="health" { "Health" }
            @match asked.health {
                None => p role="status" { "Checking the project…" },
                Some(health) => (render_checked_health(asked, health)),
            }
        }
    }
}

fn render_checked_health(asked: &PageContext<'_>, health: &Health) -> Markup {
    let Health { errors, warnings, stale, coverage, bare, drift, troubles } = health;
    html! {
        dl class="totals" {
            div { dt { "errors" } dd id="errors" { (render_number(*errors)) } }
            div { dt { "warnings" } dd id="warnings" { (render_number(*warnings)) } }
            div { dt { "outdated references" } dd id="stale" { (render_number(*stale)) } }
            div { dt { "unused or costly" } dd id="coverage" { (render_number(*coverage)) } }
            div { dt { "files without guidance" } dd id="bare" { (render_number(*bare)) } }
            div { dt { "drift" } dd id="drift" { (render_number(*drift)) } }
        }
        @if troubles.is_empty() {
            p { "No problems found." }
        } @else {
            (render_table("Problems, worst first", html! {
                (render_table_head([Words("severity"), Words("location"), Words("problem"), Words("more")]))
                tbody { @for trouble in troubles.iter().take(SHOWN) { (render_trouble_row(asked, trouble)) } }
            }))
            @if troubles.len() > SHOWN {
                p { (render_number(troubles.len() - SHOWN)) " more; run the commands to see all." }
            }
        }
    }
}

fn render_trouble_row(asked: &PageContext<'_>, trouble: &Trouble) -> Markup {
    let place = match trouble.line {
        0 => trouble.place.clone(),
        line => format!("{}:{line}", trouble.place),
    };
    let is_known = asked.snapshot.has_file(&trouble.place);
    html! {
        tr {
            td { span class={ "badge rank-" (trouble.rank) } { (trouble.word) } }
            td class="path" {
                @if is_known { (render_link(asked.links, &PageAddress::file(&trouble.place), html! { (display_line(&place)) })) }
                @else { (display_line(&place)) }
            }
            td {
                (display_line(&trouble.message))
                @if !trouble.help.is_empty() { br; small { (display_line(&trouble.help)) } }
            }
            td { code { (trouble.command) } }
        }
    }
}

fn render_clients(asked: &PageContext<'_>) -> Markup {
    let shares = &asked.snapshot.shares;
    let most = shares.iter().map(count_share_tokens).max().unwrap_or_default();
    let is_asked = |share: &&Share| asked.snapshot.clients.contains(&share.client);
    let (own, others): (Vec<&Share>, Vec<&Share>) = shares.iter().partition(is_asked);
    let rows = |label: &str, shares: &[&Share]| {
        html! {
            (render_table(label, html! {
                (render_table_head([Words("client"), Number("loaded"), Number("listed"), Number("delivered"), Number("missing"), Words("tokens")]))
                tbody {
                    @for share in shares {
                        tr data-client=(share.client) {
                            th scope="row" { (share.client) }
                            td class="number" { (render_number(share.loaded)) }
                            td class="number" { (render_number(share.listed)) }
                            td class="number" { (render_number(share.delivered)) }
                            td class="number" { (render_number(share.missing)) }
                            td class="bars" { (render_bar(count_share_tokens(share), most)) }
                        }
                    }
                }
            }))
        }
    };
    html! {
        section aria-labelledby="clients" {
            h2 id="clients" { "Clients" }
            (rows("Clients", &own))
            @if !others.is_empty() {
                details id="other-clients" { summary { (format_count(others.len(), "other client")) } (rows("Other clients", &others)) }
            }
        }
    }
}

/// Returns the tokens that get to a client.
fn count_share_tokens(share: &Share) -> usize {
    share.loaded + share.listed + share.delivered
}

fn render_formats(asked: &PageContext<'_>) -> Markup {
    let dialects = &asked.snapshot.dialects;
    let most = dialects.iter().map(|of| of.tokens).max().unwrap_or_default();
    html! {
        section aria-labelledby="formats" {
            h2 id="formats" { "Formats" }
            (render_table("Formats", html! {
                (render_table_head([Words("format"), Number("items"), Number("tokens"), Words("share")]))
                tbody {
                    @for of in dialects {
                        tr data-format=(of.dialect) {
                            th scope="row" { (of.dialect) }
                            td class="number" { (render_number(of.items)) }
                            td class="number" { (render_number(of.tokens)) }
                            td class="bars" { (render_bar(of.tokens, most)) }
                        }
                    }
                }
            }))
        }
    }
}

fn render_directories(asked: &PageContext<'_>) -> Markup {
    let name = |place: &SurveyedDirectory| match place.path.as_deref() {
        None => html! { "your own, in every project" },
        Some("") => html! { (display_line(&asked.snapshot.name())) },
        Some(path) => render_link(
            asked.links,
            &PageAddress::directory(path),
            html! { (display_line(path)) "/" },
        ),
    };
    html! {
        section aria-labelledby="places" {
            h2 id="places" { "Directories with their own guidance" }
            (render_table("Directories with their own guidance", html! {
                (render_table_head([Words("directory"), Number("items"), Number("tokens")]))
                tbody {
                    @for place in asked.snapshot.directories.iter().take(ROWS) {
                        tr {
                            th scope="row" { (name(place)) }
                            td class="number" { (render_number(place.items)) }
                            td class="number" { (render_number(place.tokens)) }
                        }
                    }
                }
            }))
            @if asked.snapshot.directories.len() > ROWS {
                p { (render_number(asked.snapshot.directories.len() - ROWS)) " more; run " code { "brief tokens --tree" } " to see all." }
            }
        }
    }
}

fn render_expensive_items(asked: &PageContext<'_>) -> Markup {
    let mut items: Vec<&ShownItem> = asked.snapshot.items.iter().collect();
    items.sort_by_key(|item| std::cmp::Reverse(item.tokens));
    html! {
        section aria-labelledby="items-list" {
            h2 id="items-list" { "Most expensive items" }
            (item_rows(asked, &items[..items.len().min(SHOWN)]))
            p { (render_link(asked.links, &PageAddress::Matrix { page: 1 }, html! { "All items and clients" })) }
        }
    }
}

fn own_items(asked: &PageContext<'_>, directory: &str) -> Markup {
    let is_own = |item: &&ShownItem| item.directory.as_deref() == Some(directory);
    let items: Vec<&ShownItem> = asked.snapshot.items.iter().filter(is_own).take(ROWS).collect();
    if items.is_empty() {
        return html! {};
    }
    html! {
        section aria-labelledby="own" {
            h2 id="own" { "Guidance in this directory" }
            (item_rows(asked, &items))
        }
    }
}

fn item_rows(asked: &PageContext<'_>, items: &[&ShownItem]) -> Markup {
    let most = items.iter().map(|item| item.tokens).max().unwrap_or_default();
    render_table(
        "Items",
        html! {
            (render_table_head([Words("item"), Words("kind"), Number("files"), Number("tokens"), Words("cost")]))
            tbody {
                @for item in items {
                    tr data-item=(item.id) {
                        th scope="row" {
                            (render_link(asked.links, &PageAddress::item(&item.id), html! { (display_line(&item.name)) }))
                            br; small class="path" { (display_line(&item.place)) ":" (item.line) }
                        }
                        td { (item.dialect) " " (item.kind) }
                        td class="number" { (render_number(item.files)) }
                        td class="number" { (render_number(item.tokens)) }
                        td class="bars" { (render_bar(item.tokens, most)) }
                    }
                }
            }
        },
    )
}
