//! Items with some words; in an export, all of them, for a script to filter.

use maud::{Markup, html};

use super::super::address::PageAddress;
use super::super::layout::{Page, Paged, display_line, render_link, render_number};
use super::super::snapshot::ShownItem;
use super::{PageContext, ROWS};

/// The limit for what a query finds.
const MOST_HITS: usize = 1_000;

/// The number of rows on one page of an export: a script filters what is there.
pub(in super::super) const EXPORTED_ROWS: usize = 2_000;

pub(super) fn render_search_page(asked: &PageContext<'_>, query: &str, page: usize) -> Page {
    let main = if asked.links.is_served() {
        render_hits(asked, query, page)
    } else {
        render_all_items(asked, page)
    };
    Page::new("Search", html! { h1 { "Search" } (main) })
}

fn render_hits(asked: &PageContext<'_>, query: &str, page: usize) -> Markup {
    let hits = asked.snapshot.index.find_hits(query, MOST_HITS);
    let files: Vec<&String> = if query.is_empty() {
        Vec::new()
    } else {
        let wanted = query.to_lowercase();
        let files = asked.snapshot.files.files.iter();
        files.filter(|path| path.to_lowercase().contains(&wanted)).take(ROWS).collect()
    };
    let paged = Paged::from_list(&hits, page, ROWS);
    html! {
        form role="search" aria-label="Search the project" action=(asked.links.link_to_file("search")) method="get" {
            label for="query" { "Words in items, or part of a path" }
            input type="search" id="query" name="q" value=(display_line(query));
            button type="submit" { "Find" }
        }
        @if query.is_empty() {
            p { "Searches the names, descriptions, paths and content of all items, and file paths." }
        } @else {
            section aria-labelledby="hits" {
                h2 id="hits" { "Items" }
                p { span id="found" { (render_number(hits.len())) } " found." }
                ol class="hits" {
                    @for hit in paged.rows {
                        @let (place, line) = hit.path_and_line();
                        li data-place={ (display_line(place)) ":" (line) } {
                            (asked.item_link(place, hit.name, html! { (display_line(hit.name)) }))
                            " " small { (hit.dialect) " " (hit.kind) " · " span class="path" { (display_line(place)) ":" (line) } }
                            @if !hit.excerpt.is_empty() { br; (display_line(&hit.excerpt)) }
                        }
                    }
                }
                (paged.render_neighbor_links(asked.links, &|page| PageAddress::Search { query: query.to_owned(), page }))
            }
            section aria-labelledby="paths" {
                h2 id="paths" { "Files" }
                @if files.is_empty() { p { "No matching paths." } }
                ul class="files" { @for path in &files { li { (render_link(asked.links, &PageAddress::file(path), html! { (display_line(path)) })) } } }
                @if files.len() == ROWS { p { "Showing the first " (ROWS) "." } }
            }
        }
    }
}

fn render_all_items(asked: &PageContext<'_>, page: usize) -> Markup {
    let items: Vec<&ShownItem> = asked.snapshot.items.iter().collect();
    let paged = Paged::from_list(&items, page, EXPORTED_ROWS);
    html! {
        p { label for="filter" { "Words in names, descriptions and paths" } " " input type="search" id="filter"; }
        p id="filtered" role="status" {}
        ul id="filterable" {
            @for item in paged.rows {
                li {
                    (render_link(asked.links, &PageAddress::item(&item.id), html! { (display_line(&item.name)) }))
                    " " small { (item.dialect) " " (item.kind) " · " span class="path" { (display_line(&item.place)) ":" (item.line) } }
                    @if !item.description.is_empty() { br; (display_line(&item.description)) }
                }
            }
        }
        (paged.render_neighbor_links(asked.links, &|page| PageAddress::Search { query: String::new(), page }))
    }
}
