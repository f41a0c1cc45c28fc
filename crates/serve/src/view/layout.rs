//! The frame of every page, and the small parts that pages share.

use brief_engine::sees::{Arrival, Sight, Viewer};
use brief_syntax::text::{group_digits, visible_line, visible_text};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::address::{DAYS, PageAddress, PageLinks};
use super::pages::PageContext;

/// The limit for the bytes of one text on a page. A longer one is cut, with a note.
const LONGEST_TEXT: usize = 64 * 1024;

/// The limit for the characters of one line of a table.
const LONGEST_LINE: usize = 400;

/// A page without its frame.
pub(super) struct Page {
    pub(super) title: String,
    /// False if there is nothing at the address.
    pub(super) is_found: bool,
    pub(super) main: Markup,
}

impl Page {
    pub(super) fn new(title: impl Into<String>, main: Markup) -> Page {
        Page { title: title.into(), is_found: true, main }
    }

    /// A page that says what is missing, and what to do.
    pub(super) fn missing(title: &str, main: Markup) -> Page {
        Page { title: title.to_owned(), is_found: false, main }
    }

    /// A page for an address without anything at it.
    pub(super) fn not_found(links: &PageLinks<'_>, heading: &Markup, reason: &str) -> Page {
        let main = html! {
            h1 { (heading) }
            p { (reason) }
            p { (render_link(links, &PageAddress::first_page(), html! { "Back to the project" })) }
        };
        Page::missing("Not found", main)
    }

    /// Puts the page into its frame. `state` is the number of the state that a served page shows: the page asks for
    /// changes since then.
    pub(super) fn render_page(
        &self,
        asked: &PageContext<'_>,
        address: Option<&PageAddress>,
        state: Option<u64>,
    ) -> String {
        let PageContext { view, snapshot, links, .. } = *asked;
        let has_fleet = view.extras.fleet.is_some();
        let name = snapshot.name();
        let framed = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="referrer" content="no-referrer";
                    meta name="color-scheme" content="light dark";
                    title { (display_line(&self.title)) " · " (display_line(&name)) }
                    link rel="stylesheet" href=(links.link_to_file("style.css"));
                    link rel="icon" href="data:,";
                    script src=(links.link_to_file("script.js")) defer {}
                }
                body data-events=[state.map(|state| format!("{}?since={state}", links.link_to_file("events")))] {
                    a class="skip" href="#main" { "Skip to content" }
                    header {
                        p class="project" { (render_link(links, &PageAddress::first_page(), html! { (display_line(&name)) })) }
                        nav aria-label="Pages" {
                            ul {
                                @for (title, to) in navigation_pages().into_iter().filter(|(_, to)| has_fleet || !matches!(to, PageAddress::Fleet { .. })) {
                                    @if let Some(way) = links.link_to_page(&to) {
                                        li { a href=(way) aria-current=[is_at(address, &to).then_some("page")] { (title) } }
                                    }
                                }
                            }
                        }
                        @if links.is_served() {
                            form role="search" action=(links.link_to_file("search")) method="get" {
                                label for="q" { "Search" }
                                input type="search" id="q" name="q";
                                button type="submit" { "Find" }
                            }
                        }
                    }
                    main id="main" tabindex="-1" { (self.main) }
                    footer {
                        p { "brief " (env!("CARGO_PKG_VERSION")) " · read-only"
                            @if links.is_served() { " · " span class="path" { (display_line(&snapshot.root.to_string_lossy())) } }
                        }
                        @if links.is_served() {
                            p id="live" role="status" {}
                        }
                    }
                }
            }
        };
        framed.into_string()
    }
}

fn navigation_pages() -> [(&'static str, PageAddress); 7] {
    let sessions = PageAddress::Sessions { days: DAYS, about: String::new(), page: 1 };
    [
        ("Project", PageAddress::first_page()),
        ("Matrix", PageAddress::Matrix { page: 1 }),
        ("Changes", PageAddress::Change { from: "HEAD".to_owned(), to: String::new() }),
        ("Sessions", sessions),
        ("Registry", PageAddress::Registry),
        ("Fleet", PageAddress::Fleet { state: None, page: 1 }),
        ("Search", PageAddress::Search { query: String::new(), page: 1 }),
    ]
}

fn is_at(address: Option<&PageAddress>, page: &PageAddress) -> bool {
    address.is_some_and(|address| match (address, page) {
        (PageAddress::Project { directory, .. }, PageAddress::Project { .. }) => {
            directory.is_empty()
        }
        (address, page) => std::mem::discriminant(address) == std::mem::discriminant(page),
    })
}

/// Returns a text on one line, with hidden characters written out.
pub(super) fn display_line(text: &str) -> String {
    let line = visible_line(text);
    match line.char_indices().nth(LONGEST_LINE) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.into_owned(),
    }
}

/// Returns a text of several lines as it stands, with hidden characters written out.
pub(super) fn text_block(text: &str) -> Markup {
    let mut end = text.len().min(LONGEST_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let cut = text.get(..end).unwrap_or_default();
    html! {
        pre class="text" { (visible_text(cut)) }
        @if end < text.len() {
            p class="note" {
                "Showing the first " (render_number(end)) " of " (render_number(text.len())) " bytes."
            }
        }
    }
}

/// Returns a link, or its text where the page is not there.
#[expect(clippy::needless_pass_by_value, reason = "a call reads as the markup it makes")]
pub(super) fn render_link(links: &PageLinks<'_>, address: &PageAddress, text: Markup) -> Markup {
    match links.link_to_page(address) {
        Some(way) => html! { a href=(way) { (text) } },
        None => html! { span { (text) } },
    }
}

/// Returns a number for people, and for tests.
pub(super) fn render_number(number: usize) -> Markup {
    html! { data value=(number) { (group_digits(number as u64)) } }
}

pub(super) enum Column<'c> {
    Words(&'c str),
    Number(&'c str),
}

pub(super) fn render_table_head<'c>(columns: impl IntoIterator<Item = Column<'c>>) -> Markup {
    html! {
        thead { tr {
            @for column in columns {
                @match column {
                    Column::Words(name) => th scope="col" { (name) },
                    Column::Number(name) => th scope="col" class="number" { (name) },
                }
            }
        } }
    }
}

/// Returns a table that scrolls by itself where it is too wide.
#[expect(clippy::needless_pass_by_value, reason = "a call reads as the markup it makes")]
pub(super) fn render_table(label: &str, rows: Markup) -> Markup {
    html! {
        div class="wide" role="region" aria-label={ (label) " (table)" } tabindex="0" {
            table { (rows) }
        }
    }
}

/// Returns the words for the way an item comes to a client, with a sign so that no color is needed.
pub(super) fn render_arrival(sight: &Sight) -> Markup {
    let sign = match sight.how {
        Arrival::Loaded => "◆",
        Arrival::Delivered => "●",
        Arrival::Listed => "○",
        Arrival::Missing => "✕",
        Arrival::Same => "=",
        Arrival::Manual => "@",
        Arrival::Skipped => "–",
    };
    html! {
        span class={ "how " (sight.how.as_str()) } {
            span aria-hidden="true" { (sign) } " " (display_line(&sight.label()))
        }
    }
}

/// Returns a note for each client that guidance does not get to, with the step that changes it. `misses_any` is asked
/// about columns.
pub(super) fn missing_notes(viewers: &[Viewer], misses_any: impl Fn(usize) -> bool) -> Markup {
    let missing = viewers.iter().enumerate().filter(|(column, _)| misses_any(*column));
    html! {
        @for (_, Viewer { client, delivery, .. }) in missing {
            p class="note" data-missing=(client) {
                strong { (client) } " misses guidance: "
                (display_line(&delivery.missing_reason().unwrap_or_default())) "."
                @if let Some(fix) = delivery.fix() { " To fix this: " (display_line(&fix)) "." }
            }
        }
    }
}

/// Returns a picture with a label. `drawing` has the places of its parts in shares.
pub(super) fn render_figure(label: &str, drawing: &Markup) -> Markup {
    html! {
        svg class="treemap" width="100%" height="360" role="group" aria-label=(label) {
            (PreEscaped(&drawing.0))
        }
    }
}

/// A list that is shown in parts.
pub(super) struct Paged<'l, T> {
    pub(super) rows: &'l [T],
    pub(super) page: usize,
    last: usize,
    all: usize,
}

impl<'l, T> Paged<'l, T> {
    /// Returns the part of a list on a page, from 1.
    pub(super) fn from_list(list: &'l [T], page: usize, size: usize) -> Paged<'l, T> {
        let parts = list.len().div_ceil(size).max(1);
        let page = page.clamp(1, parts);
        let start = (page - 1) * size;
        let end = (start + size).min(list.len());
        let rows = list.get(start..end).unwrap_or_default();
        Paged { rows, page, last: parts, all: list.len() }
    }

    /// Returns the links to the neighbors.
    pub(super) fn render_neighbor_links(
        &self,
        links: &PageLinks<'_>,
        to: &dyn Fn(usize) -> PageAddress,
    ) -> Markup {
        if self.last == 1 {
            return html! {};
        }
        html! {
            nav class="turn" aria-label="Pages of this list" {
                @if self.page > 1 { (render_link(links, &to(self.page - 1), html! { "Previous" })) }
                span { "Page " (self.page) " of " (self.last) ", " (render_number(self.all)) " rows" }
                @if self.page < self.last { (render_link(links, &to(self.page + 1), html! { "Next" })) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_files_stay_text() {
        let block = text_block("<script>alert(1)</script>\u{202e}&amp;").into_string();
        assert!(
            block.contains("&lt;script&gt;alert(1)&lt;/script&gt;\\u{202e}&amp;amp;"),
            "{block}"
        );
        assert!(!block.contains("<script>"));
    }

    #[test]
    fn a_long_text_is_cut_with_a_note() {
        let block = text_block(&"ü".repeat(600_000)).into_string();
        assert!(block.len() < 2 * LONGEST_TEXT);
        assert!(
            block.contains("Showing the first <data value=\"65536\">65,536</data> of"),
            "{}",
            &block[block.len() - 200..]
        );
        assert!(display_line(&"x".repeat(1_000_000)).len() < 2 * LONGEST_LINE);
    }

    #[test]
    fn a_list_is_turned_part_by_part() {
        let list: Vec<usize> = (0..25).collect();
        assert_eq!(Paged::from_list(&list, 3, 10).rows, [20, 21, 22, 23, 24]);
        assert_eq!(Paged::from_list(&list, 99, 10).page, 3);
        assert_eq!(Paged::from_list(&list[..0], 1, 10).rows, [0; 0]);
    }
}
