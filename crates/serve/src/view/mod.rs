//! Pages in a browser: what every agent sees, and what it costs.
//!
//! A page shows the answers that `brief … --json` prints, and asks nothing else. A page about a file reads along its
//! path, as a hook does; one about the project shows a `snapshot::Snapshot`, which a thread makes anew when a file
//! changes. Pages are served on loopback behind a token, or written as files. Nothing is executed and nothing of the
//! project is written.

mod address;
mod browser;
mod export;
pub(crate) mod fuzzing;
mod health;
mod layout;
mod pages;
mod server;
mod snapshot;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;

use brief_engine::receipts;
use brief_registry::install::Newest;
use brief_system::{FileWatch, Interruption, System};
use tokio::sync::watch;

use address::{LinkForm, PageAddress, PageLinks};
use health::Health;
use pages::PageContext;
use snapshot::Snapshot;

use brief_workflows::fleet::FleetReport;

pub use browser::open_in_browser;
pub use export::{ExportError, ExportReport, export_pages};
pub use server::{ViewAddress, ViewError, serve_view};

/// The style of all pages.
const STYLE: &str = include_str!("style.css");

/// The script of all pages: without it everything can be read.
const SCRIPT: &str = include_str!("script.js");

/// The rounds in which new directories are followed before a change is waited for.
const ROUNDS: usize = 3;

/// A state of the project.
#[derive(Debug, Clone, Default)]
struct ShownState {
    number: u64,
    snapshot: Arc<Snapshot>,
    /// The checks of this state or of the one before; `None` until the first are done.
    health: Option<Arc<Health>>,
}

/// A project that pages are about.
pub struct ProjectView {
    system: Arc<dyn System>,
    directory: PathBuf,
    /// The newest state; number 0 until the first is there.
    newest: watch::Sender<ShownState>,
    extras: ViewExtras,
}

/// The parts of pages that are asked for once, when a view is started: a page asks no server.
#[derive(Default)]
pub struct ViewExtras {
    /// The newest versions of the sources.
    pub updates: Option<Vec<Newest>>,
    pub fleet: Option<FleetReport>,
}

impl ProjectView {
    /// Shows the project around a directory.
    pub fn new(system: Arc<dyn System>, directory: PathBuf, extras: ViewExtras) -> ProjectView {
        let newest = watch::Sender::new(ShownState::default());
        ProjectView { system, directory, newest, extras }
    }

    /// Reads the project: first its guidance, then the checks.
    fn read_project(&self) {
        Snapshot::read(&self.system, &self.directory, |snapshot, reading| {
            let snapshot = Arc::new(snapshot);
            self.newest.send_modify(|newest| {
                newest.number += 1;
                newest.snapshot = snapshot;
            });
            let Some((reading, survey)) = reading else { return };
            let health = Arc::new(Health::check(&self.system, reading, survey));
            self.newest.send_if_modified(|newest| {
                let is_new = newest.health.as_ref() != Some(&health);
                if is_new {
                    newest.number += 1;
                    newest.health = Some(health);
                }
                is_new
            });
        });
    }

    /// Reads the project, and again after each change, until it is ended.
    fn follow_files(&self, ended: &Interruption) {
        let mut watch = FileWatch::start(self.system.as_ref());
        while !ended.is_raised() {
            for _ in 0..ROUNDS {
                self.read_project();
                let snapshot = Arc::clone(&self.newest.borrow().snapshot);
                let (mut directories, files) = snapshot.watched_paths();
                directories.extend(receipts::receipts_directory(self.system.as_ref()));
                directories.sort_unstable();
                // A directory may have changed before it was followed.
                if watch.follow_paths(&directories, &files) == 0 || ended.is_raised() {
                    break;
                }
            }
            watch.wait_for_change(ended);
        }
    }

    /// Makes a served page, and tells whether there is one.
    fn render_page(&self, newest: &ShownState, path: &str, query: &str) -> (bool, String) {
        let snapshot = newest.snapshot.as_ref();
        let address = PageAddress::parse(path, query);
        let links = match &address {
            Some(address) => PageLinks::from_address(address, LinkForm::Served),
            None => PageLinks::from_path(path),
        };
        let asked =
            PageContext { view: self, snapshot, health: newest.health.as_deref(), links: &links };
        let page = match &address {
            Some(address) => pages::render_page(&asked, address),
            None => pages::create_unknown_page(&links),
        };
        (page.is_found, page.render_page(&asked, address.as_ref(), Some(newest.number)))
    }
}
