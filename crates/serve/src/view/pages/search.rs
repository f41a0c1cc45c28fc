//! Items with some words; in an export, all of them, for a script to filter.

use maud::{Markup, html};

use super::super::address::PageAddress;
use super::super::layout::{Page, Paged, link, number, shown};
use super::super::snapshot::ShownItem;
use super::{PageContext, ROWS};

/// The limit for what a query finds.
const MOST_HITS: usize = 1_000;

/// The number of rows on one page of an export: a script filters what is there.
pub(in super::super) const EXPORTED_ROWS: usize = 2_000;

pub(super) fn page(asked: &PageContext<'_>, query: &str, page: usize) -> Page {
    let main = if asked.links.is_served() { found(asked, query, page) } else { all(asked, page) };
    Page::new("Search", html! { h1 { "Search" } (main) })
}

fn found(asked: &PageContext<'_>, query: &str, page: usize) -> Markup {
    let hits = asked.snapshot.index.find(query, MOST_HITS);
    let files: Vec<&String> = if query.is_empty() {
        Vec::new()
    } else {
        let wanted = query.to_lowercase();
        let files = asked.snapshot.files.files.iter();
        files.filter(|path| path.to_lowercase().contains(&wanted)).take(ROWS).collect()
    };
    let paged = Paged::of(&hits, page, ROWS);
    html! {
        form role="search" aria-label="Search the project" action=(asked.links.beside("search")) method="get" {
            label for="query" { "Words of items, or a part of a path" }
            input type="search" id="query" name="q" value=(shown(query));
            button type="submit" { "Find" }
        }
        @if query.is_empty() {
            p { "Names, descriptions, paths and texts of all items are searched, and the paths of files." }
        } @else {
            section aria-labelledby="hits" {
                h2 id="hits" { "Items" }
                p { span id="found" { (number(hits.len())) } " found." }
                ol class="hits" {
                    @for hit in paged.rows {
                        @let (place, line) = hit.path_and_line();
                        li data-place={ (shown(place)) ":" (line) } {
                            (asked.item_link(place, hit.name, html! { (shown(hit.name)) }))
                            " " small { (hit.dialect) " " (hit.kind) " · " span class="path" { (shown(place)) ":" (line) } }
                            @if !hit.excerpt.is_empty() { br; (shown(&hit.excerpt)) }
                        }
                    }
                }
                (paged.turn(asked.links, &|page| PageAddress::Search { query: query.to_owned(), page }))
            }
            section aria-labelledby="paths" {
                h2 id="paths" { "Files" }
                @if files.is_empty() { p { "No path has it." } }
                ul class="files" { @for path in &files { li { (link(asked.links, &PageAddress::file(path), html! { (shown(path)) })) } } }
                @if files.len() == ROWS { p { "The first " (ROWS) " are shown." } }
            }
        }
    }
}

fn all(asked: &PageContext<'_>, page: usize) -> Markup {
    let items: Vec<&ShownItem> = asked.snapshot.items.iter().collect();
    let paged = Paged::of(&items, page, EXPORTED_ROWS);
    html! {
        p { label for="filter" { "Words of names, descriptions and paths" } " " input type="search" id="filter"; }
        p id="filtered" role="status" {}
        ul id="filterable" {
            @for item in paged.rows {
                li {
                    (link(asked.links, &PageAddress::item(&item.id), html! { (shown(&item.name)) }))
                    " " small { (item.dialect) " " (item.kind) " · " span class="path" { (shown(&item.place)) ":" (item.line) } }
                    @if !item.description.is_empty() { br; (shown(&item.description)) }
                }
            }
        }
        (paged.turn(asked.links, &|page| PageAddress::Search { query: String::new(), page }))
    }
}
