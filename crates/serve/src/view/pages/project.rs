//! The project, or a directory of it: where tokens go, formats, clients, health.

use brief_engine::survey::{Share, SurveyedDirectory};
use brief_syntax::text::counted;
use maud::{Markup, html};

use super::super::address::PageAddress;
use super::super::health::{Health, Trouble};
use super::super::layout::Column::{Number, Words};
use super::super::layout::{Page, Paged, figure, head, link, number, shown, table};
use super::super::snapshot::ShownItem;
use super::{PageContext, ROWS};
use brief_workflows::picture::{DirectoryPart, bar, treemap};

/// The number of items and troubles on the first page; others have their own places.
const SHOWN: usize = 20;

pub(super) fn page(asked: &PageContext<'_>, directory: &str, page: usize) -> Page {
    let snapshot = asked.snapshot;
    if directory.is_empty() {
        let title = "Project";
        if snapshot.guidance_files == 0 {
            return Page::new(title, empty(asked));
        }
        return Page::new(
            title,
            html! {
                h1 { (shown(&snapshot.name())) }
                (totals(asked))
                section aria-labelledby="where" {
                    h2 id="where" { "Where tokens go" }
                    (parts(asked, "", page))
                }
                (health(asked))
                (clients(asked))
                (formats(asked))
                (places(asked))
                (expensive(asked))
            },
        );
    }
    let is_known = !snapshot.files.places_below(directory).is_empty()
        || snapshot.files.directories.iter().any(|known| known == directory);
    if !is_known {
        let heading = html! { "There is no directory " code { (shown(directory)) } };
        let reason = "It may have been moved, or version control ignores it.";
        return Page::not_found(asked.links, &heading, reason);
    }
    Page::new(
        format!("{directory}/"),
        html! {
            h1 { (shown(directory)) "/" }
            (way_to(asked, directory))
            p { (link(asked.links, &PageAddress::file(&format!("{directory}/")), html! { "What each client sees for this directory" })) }
            section aria-labelledby="where" {
                h2 id="where" { "Where tokens go" }
                (parts(asked, directory, page))
            }
            (own_items(asked, directory))
        },
    )
}

fn empty(asked: &PageContext<'_>) -> Markup {
    html! {
        h1 { (shown(&asked.snapshot.name())) }
        p { "There is no guidance for agents in this project yet." }
        ul {
            li { code { "brief init" } " writes an AGENTS.yaml to start with." }
            li { code { "brief import" } " takes over what clients have." }
            li { code { "brief add SOURCE" } " installs items of a registry." }
        }
        p { "This page follows the files: guidance shows up here when it is written." }
    }
}

fn totals(asked: &PageContext<'_>) -> Markup {
    let snapshot = asked.snapshot;
    html! {
        dl class="totals" {
            div { dt { "tokens in all" } dd id="tokens" { (number(snapshot.tokens)) } }
            div { dt { "items" } dd id="items" { (number(snapshot.items.len())) } }
            div { dt { "guidance files" } dd { (number(snapshot.guidance_files)) } }
            div { dt { "files" } dd id="files" { (number(snapshot.files.files.len())) } }
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
                li { (link(asked.links, &PageAddress::top(), html! { (shown(&asked.snapshot.name())) })) }
                @for end in ends {
                    @let directory = trimmed.get(..end).unwrap_or_default();
                    @let name = directory.rsplit('/').next().unwrap_or_default();
                    li { (link(asked.links, &PageAddress::directory(directory), html! { (shown(name)) })) }
                }
            }
        }
    }
}

/// The picture of a directory's parts, and the table behind it.
fn parts(asked: &PageContext<'_>, directory: &str, page: usize) -> Markup {
    let (snapshot, links) = (asked.snapshot, asked.links);
    let parts = DirectoryPart::of(&snapshot.files, &snapshot.costs, directory);
    let to = |part: &DirectoryPart| Some(PageAddress::directory(part.path.as_deref()?));
    let drawing = treemap(&parts, &|part| links.to(&to(part)?));
    let most = parts.iter().map(|part| part.most).max().unwrap_or_default();
    let paged = Paged::of(&parts, page, ROWS);
    let turn =
        paged.turn(links, &|page| PageAddress::Project { directory: directory.to_owned(), page });
    html! {
        @if parts.iter().any(|part| part.sum > 0) {
            p { "An area is as large as the tokens of all its files, and as dark as the tokens that a file there gets." }
            (figure("Directories by the tokens that files there get; the table has the numbers", &drawing))
        }
        (table("Directories", html! {
            (head([Words("directory"), Number("files"), Number("least"), Number("most"), Words("a file gets at most")]))
            tbody {
                @for part in paged.rows {
                    tr data-directory=[part.path.as_deref().map(shown)] {
                        th scope="row" {
                            @match to(part) {
                                Some(address) => (link(links, &address, html! { (shown(&part.name)) "/" })),
                                None => (shown(&part.name)),
                            }
                        }
                        td class="number" { (number(part.files)) }
                        td class="number" { (number(part.least)) }
                        td class="number" { (number(part.most)) }
                        td class="bars" { (bar(part.most, most)) }
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
    let paged = Paged::of(&own, page, ROWS);
    let to = |page| PageAddress::Project { directory: directory.to_owned(), page };
    html! {
        h3 { "Files" }
        ul class="files" {
            @for (path, cost) in paged.rows {
                li {
                    (link(asked.links, &PageAddress::file(path), html! { (shown(path.get(skipped..).unwrap_or(path))) }))
                    " " (number(*cost))
                }
            }
        }
        (paged.turn(asked.links, &to))
    }
}

fn health(asked: &PageContext<'_>) -> Markup {
    html! {
        section aria-labelledby="health" {
            h2 id="health" { "Health" }
            @match asked.health {
                None => p role="status" { "The project is being checked." },
                Some(health) => (checked(asked, health)),
            }
        }
    }
}

fn checked(asked: &PageContext<'_>, health: &Health) -> Markup {
    let Health { errors, warnings, stale, coverage, bare, drift, troubles } = health;
    html! {
        dl class="totals" {
            div { dt { "errors" } dd id="errors" { (number(*errors)) } }
            div { dt { "warnings" } dd id="warnings" { (number(*warnings)) } }
            div { dt { "out of date" } dd id="stale" { (number(*stale)) } }
            div { dt { "never reached or heavy" } dd id="coverage" { (number(*coverage)) } }
            div { dt { "files without guidance" } dd id="bare" { (number(*bare)) } }
            div { dt { "drift" } dd id="drift" { (number(*drift)) } }
        }
        @if troubles.is_empty() {
            p { "No problem was found." }
        } @else {
            (table("Problems, the worst first", html! {
                (head([Words("severity"), Words("place"), Words("problem"), Words("more")]))
                tbody { @for trouble in troubles.iter().take(SHOWN) { (row(asked, trouble)) } }
            }))
            @if troubles.len() > SHOWN {
                p { (number(troubles.len() - SHOWN)) " more; the commands show them all." }
            }
        }
    }
}

fn row(asked: &PageContext<'_>, trouble: &Trouble) -> Markup {
    let place = match trouble.line {
        0 => trouble.place.clone(),
        line => format!("{}:{line}", trouble.place),
    };
    let is_known = asked.snapshot.has_file(&trouble.place);
    html! {
        tr {
            td { span class={ "badge rank-" (trouble.rank) } { (trouble.word) } }
            td class="path" {
                @if is_known { (link(asked.links, &PageAddress::file(&trouble.place), html! { (shown(&place)) })) }
                @else { (shown(&place)) }
            }
            td {
                (shown(&trouble.message))
                @if !trouble.help.is_empty() { br; small { (shown(&trouble.help)) } }
            }
            td { code { (trouble.command) } }
        }
    }
}

fn clients(asked: &PageContext<'_>) -> Markup {
    let shares = &asked.snapshot.shares;
    let most = shares.iter().map(got).max().unwrap_or_default();
    let is_asked = |share: &&Share| asked.snapshot.clients.contains(&share.client);
    let (own, others): (Vec<&Share>, Vec<&Share>) = shares.iter().partition(is_asked);
    let rows = |label: &str, shares: &[&Share]| {
        html! {
            (table(label, html! {
                (head([Words("client"), Number("loaded"), Number("listed"), Number("delivered"), Number("missing"), Words("tokens")]))
                tbody {
                    @for share in shares {
                        tr data-client=(share.client) {
                            th scope="row" { (share.client) }
                            td class="number" { (number(share.loaded)) }
                            td class="number" { (number(share.listed)) }
                            td class="number" { (number(share.delivered)) }
                            td class="number" { (number(share.missing)) }
                            td class="bars" { (bar(got(share), most)) }
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
                details id="other-clients" { summary { (counted(others.len(), "other client")) } (rows("Other clients", &others)) }
            }
        }
    }
}

/// Returns the tokens that get to a client.
fn got(share: &Share) -> usize {
    share.loaded + share.listed + share.delivered
}

fn formats(asked: &PageContext<'_>) -> Markup {
    let dialects = &asked.snapshot.dialects;
    let most = dialects.iter().map(|of| of.tokens).max().unwrap_or_default();
    html! {
        section aria-labelledby="formats" {
            h2 id="formats" { "Formats" }
            (table("Formats", html! {
                (head([Words("format"), Number("items"), Number("tokens"), Words("share")]))
                tbody {
                    @for of in dialects {
                        tr data-format=(of.dialect) {
                            th scope="row" { (of.dialect) }
                            td class="number" { (number(of.items)) }
                            td class="number" { (number(of.tokens)) }
                            td class="bars" { (bar(of.tokens, most)) }
                        }
                    }
                }
            }))
        }
    }
}

fn places(asked: &PageContext<'_>) -> Markup {
    let name = |place: &SurveyedDirectory| match place.path.as_deref() {
        None => html! { "yours, in every project" },
        Some("") => html! { (shown(&asked.snapshot.name())) },
        Some(path) => link(asked.links, &PageAddress::directory(path), html! { (shown(path)) "/" }),
    };
    html! {
        section aria-labelledby="places" {
            h2 id="places" { "Directories with guidance of their own" }
            (table("Directories with guidance of their own", html! {
                (head([Words("directory"), Number("items"), Number("tokens")]))
                tbody {
                    @for place in asked.snapshot.directories.iter().take(ROWS) {
                        tr {
                            th scope="row" { (name(place)) }
                            td class="number" { (number(place.items)) }
                            td class="number" { (number(place.tokens)) }
                        }
                    }
                }
            }))
            @if asked.snapshot.directories.len() > ROWS {
                p { (number(asked.snapshot.directories.len() - ROWS)) " more; " code { "brief tokens --tree" } " shows them all." }
            }
        }
    }
}

fn expensive(asked: &PageContext<'_>) -> Markup {
    let mut items: Vec<&ShownItem> = asked.snapshot.items.iter().collect();
    items.sort_by_key(|item| std::cmp::Reverse(item.tokens));
    html! {
        section aria-labelledby="items-list" {
            h2 id="items-list" { "Most expensive items" }
            (item_rows(asked, &items[..items.len().min(SHOWN)]))
            p { (link(asked.links, &PageAddress::Matrix { page: 1 }, html! { "All items and clients" })) }
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
            h2 id="own" { "Guidance of this directory" }
            (item_rows(asked, &items))
        }
    }
}

fn item_rows(asked: &PageContext<'_>, items: &[&ShownItem]) -> Markup {
    let most = items.iter().map(|item| item.tokens).max().unwrap_or_default();
    table(
        "Items",
        html! {
            (head([Words("item"), Words("kind"), Number("files"), Number("tokens"), Words("cost")]))
            tbody {
                @for item in items {
                    tr data-item=(item.id) {
                        th scope="row" {
                            (link(asked.links, &PageAddress::item(&item.id), html! { (shown(&item.name)) }))
                            br; small class="path" { (shown(&item.place)) ":" (item.line) }
                        }
                        td { (item.dialect) " " (item.kind) }
                        td class="number" { (number(item.files)) }
                        td class="number" { (number(item.tokens)) }
                        td class="bars" { (bar(item.tokens, most)) }
                    }
                }
            }
        },
    )
}
