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
use maud::html;

use super::ProjectView;
use super::address::{Links, PageAddress};
use super::health::Health;
use super::layout::{Page, link, shown};
use super::snapshot::Snapshot;
use crate::revisions::ComparedRevisions;

pub(super) use search::EXPORTED_ROWS;

/// The number of rows of a long list on one page.
pub(super) const ROWS: usize = 100;

/// The context of a page.
pub(super) struct Asked<'a> {
    pub(super) view: &'a ProjectView,
    pub(super) snapshot: &'a Snapshot,
    /// The checks; `None` until they are done.
    pub(super) health: Option<&'a Health>,
    pub(super) links: &'a Links<'a>,
}

/// Makes the page at an address.
pub(super) fn page(asked: &Asked<'_>, address: &PageAddress) -> Page {
    if let Some(problem) = &asked.snapshot.problem {
        return Page::missing(
            "No project",
            html! {
                h1 { "There is no project here" }
                p { (shown(problem)) }
                p { "Start it in a directory that can be read: " code { "brief view DIRECTORY" } "." }
            },
        );
    }
    match address {
        PageAddress::Project { directory, page } => project::page(asked, directory, *page),
        PageAddress::File { path, question } => file::page(asked, path, question),
        PageAddress::Item { id, has_history } => item::page(asked, id, *has_history),
        PageAddress::Matrix { page } => matrix::page(asked, *page),
        PageAddress::Change { from, to } => change::page(asked, from, to),
        PageAddress::Sessions { days, about, page } => sessions::page(asked, *days, about, *page),
        PageAddress::Registry => registry::page(asked),
        PageAddress::Fleet { state, page } => fleet::page(asked, *state, *page),
        PageAddress::Search { query, page } => search::page(asked, query, *page),
    }
}

/// Makes the page for an address that is none.
pub(super) fn nowhere(links: &Links<'_>) -> Page {
    Page::missing(
        "Not found",
        html! {
            h1 { "There is no such page" }
            p { "The address may be mistyped, or what it named is gone." }
            p { (link(links, &PageAddress::top(), html! { "Go to the project" })) }
        },
    )
}

/// Reads the states that a page of changes compares, from a revision or range.
pub(super) fn revisions(
    view: &ProjectView,
    snapshot: &Snapshot,
    from: &str,
    to: Option<&str>,
) -> Result<ComparedRevisions, HistoryError> {
    let system = std::sync::Arc::clone(&view.system);
    let revisions = Revisions::parse(from, to);
    ComparedRevisions::read(system, &snapshot.root, &revisions, &Dialects::All)
}
