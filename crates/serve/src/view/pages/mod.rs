//! The pages, one file each.

mod change;
mod file;
mod fleet;
mod item;
mod matrix;
mod project;
mod registry;
mod search;
mod sessions;

use brief_engine::Dialects;
use brief_registry::history::{HistoryError, Revisions};
use maud::{Markup, html};

use super::ProjectView;
use super::address::{PageAddress, PageLinks};
use super::health::Health;
use super::layout::{Page, display_line, render_link};
use super::snapshot::Snapshot;
use brief_workflows::revisions::ComparedRevisions;

pub(super) use search::EXPORTED_ROWS;

/// The number of rows of a long list on one page.
pub(super) const ROWS: usize = 100;

pub(super) struct PageContext<'a> {
    pub(super) view: &'a ProjectView,
    pub(super) snapshot: &'a Snapshot,
    /// The checks; `None` until they are done.
    pub(super) health: Option<&'a Health>,
    pub(super) links: &'a PageLinks<'a>,
}

impl PageContext<'_> {
    /// Returns a text that leads to the page of an item, if there is one.
    fn item_link(&self, place: &str, name: &str, text: Markup) -> Markup {
        match self.snapshot.id_at(place, name) {
            Some(id) => render_link(self.links, &PageAddress::item(id), text),
            None => text,
        }
    }
}

/// Makes the page at an address.
pub(super) fn render_page(asked: &PageContext<'_>, address: &PageAddress) -> Page {
    if let Some(problem) = &asked.snapshot.problem {
        return Page::missing(
            "No project",
            html! {
                h1 { "No project found" }
                p { (display_line(problem)) }
                p { "Run " code { "brief view DIRECTORY" } " with a directory that you can read." }
            },
        );
    }
    match address {
        PageAddress::Project { directory, page } => {
            project::render_project_page(asked, directory, *page)
        }
        PageAddress::File { path, question } => file::render_file_page(asked, path, question),
        PageAddress::Item { id, has_history } => item::render_item_page(asked, id, *has_history),
        PageAddress::Matrix { page } => matrix::render_matrix_page(asked, *page),
        PageAddress::Change { from, to } => change::render_changes_page(asked, from, to),
        PageAddress::Sessions { days, about, page } => {
            sessions::render_sessions_page(asked, *days, about, *page)
        }
        PageAddress::Registry => registry::render_registry_page(asked),
        PageAddress::Fleet { state, page } => fleet::render_fleet_page(asked, *state, *page),
        PageAddress::Search { query, page } => search::render_search_page(asked, query, *page),
    }
}

/// Makes the page for an address that is none.
pub(super) fn create_unknown_page(links: &PageLinks<'_>) -> Page {
    let reason = "The address is mistyped, or the page no longer exists.";
    Page::not_found(links, &html! { "Page not found" }, reason)
}

/// Reads the states that a page of changes compares, from a revision or range.
pub(super) fn read_revisions(
    view: &ProjectView,
    snapshot: &Snapshot,
    from: &str,
    to: Option<&str>,
) -> Result<ComparedRevisions, HistoryError> {
    let system = std::sync::Arc::clone(&view.system);
    let revisions = Revisions::parse(from, to);
    ComparedRevisions::read_revisions(system, &snapshot.root, &revisions, &Dialects::All)
}
