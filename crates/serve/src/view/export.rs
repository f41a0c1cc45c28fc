//! The pages as files, for an artifact of a build or a pull request.
//!
//! An export shows the project alone: no receipts, no guidance of the user, no path of the machine, no time. So the
//! same project gives the same bytes everywhere, and it can be shown to others. It is made beside its place and put
//! there by one rename. A record names its files, and a directory with any other file is left alone.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_registry::fleet::FleetState;
use brief_syntax::text::format_count;
use brief_system::{FileKind, Remembered, System};

use super::address::{LinkForm, PageAddress, PageLinks};
use super::pages::{self, PageContext};
use super::snapshot::Snapshot;
use super::{ProjectView, SCRIPT, STYLE, ViewExtras};
use brief_workflows::fleet::FleetReport;

/// The record of an export's files, one name a line.
const RECORD: &str = "brief-view.txt";

/// The first line of the record.
const MARK: &str = "pages of brief view";

/// The directory in a staging directory that holds the new and the earlier pages.
const STAGED: &str = "staged";

/// The name of a staging directory: this, and six letters or digits.
const STAGING: &str = ".brief-";

const RECORD_BYTES: u64 = 4 * 1024 * 1024;

/// The limit for the directories and the files that have a page; items have one each.
const MOST_DIRECTORIES: usize = 200;

/// The limit for the pages of items.
const MOST_ITEMS: usize = 20_000;

/// The limit for the parts of one list.
const MOST_PARTS: usize = 200;

/// The result of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportReport {
    pub files: usize,
    /// The sum of their sizes.
    pub bytes: usize,
}

/// An export that was not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    #[error("{0}")]
    NoProject(String),
    /// The directory has files that are not ours.
    #[error("`{path}` contains files that brief did not create, such as `{example}`")]
    Foreign { path: PathBuf, example: String },
    /// The revision cannot be compared with.
    #[error(transparent)]
    History(#[from] brief_registry::history::HistoryError),
    #[error("cannot write `{path}`: {error}")]
    Write { path: PathBuf, error: io::Error },
}

fn to_write_error(path: &Path) -> impl FnOnce(io::Error) -> ExportError {
    let path = path.to_owned();
    move |error| ExportError::Write { path, error }
}

/// Writes the pages of the project around `directory` to `out`, absolute. With `base`, a page tells what changed since
/// that revision.
pub fn export_pages(
    system: &Arc<dyn System>,
    directory: &Path,
    out: &Path,
    base: Option<&str>,
    extras: ViewExtras,
) -> Result<ExportReport, ExportError> {
    check_ours(system.as_ref(), out)?;
    // What a killed run has left must not be read as a part of the project.
    clear_abandoned(system.as_ref(), out.parent().unwrap_or(Path::new("/")));
    let alone: Arc<dyn System> = Arc::new(Remembered::new(Arc::clone(system)).without_user());
    let view = ProjectView::new(alone, directory.to_owned(), extras);
    view.read_project();
    let newest = view.newest.borrow().clone();
    if let Some(problem) = &newest.snapshot.problem {
        return Err(ExportError::NoProject(problem.clone()));
    }
    let files = render_pages(&view, &newest.snapshot, newest.health.as_deref(), base)?;
    let bytes = files.values().map(String::len).sum();
    write_files(system.as_ref(), out, &files)?;
    Ok(ExportReport { files: files.len(), bytes })
}

/// Makes all pages, by the names of their files.
fn render_pages(
    view: &ProjectView,
    snapshot: &Snapshot,
    health: Option<&super::health::Health>,
    base: Option<&str>,
) -> Result<BTreeMap<String, String>, ExportError> {
    let mut addresses = collect_addresses(snapshot, base);
    addresses.extend(view.extras.fleet.iter().flat_map(fleet_addresses));
    let there: BTreeSet<String> = addresses.iter().map(PageAddress::export_file_name).collect();
    let mut files = BTreeMap::from([
        // In a repository, the pages are neither committed by chance nor files that guidance is for.
        (".gitignore".to_owned(), "*\n".to_owned()),
        ("style.css".to_owned(), STYLE.to_owned()),
        ("script.js".to_owned(), SCRIPT.to_owned()),
    ]);
    if let Some(base) = base {
        // A page that says that there is no such revision would be no help in a pull request.
        pages::read_revisions(view, snapshot, base, None)?;
    }
    for address in &addresses {
        let links = PageLinks::from_address(address, LinkForm::Exported(&there));
        let asked = PageContext { view, snapshot, health, links: &links };
        let page = pages::render_page(&asked, address);
        files.insert(address.export_file_name(), page.render_page(&asked, Some(address), None));
    }
    let names: Vec<&str> = files.keys().map(String::as_str).chain([RECORD]).collect();
    let record = format!("{MARK}\n{}\n", names.join("\n"));
    files.insert(RECORD.to_owned(), record);
    Ok(files)
}

/// Returns the numbers of the parts in which a list is shown.
fn part_numbers(rows: usize, size: usize) -> RangeInclusive<usize> {
    1..=rows.div_ceil(size).clamp(1, MOST_PARTS)
}

/// Returns the pages of an export: everything about the project and its items; of files, one for each directory that has
/// guidance of its own.
fn collect_addresses(snapshot: &Snapshot, base: Option<&str>) -> Vec<PageAddress> {
    let mut addresses = vec![PageAddress::first_page(), PageAddress::Registry];
    addresses.extend(
        part_numbers(snapshot.matrix.len(), pages::ROWS).map(|page| PageAddress::Matrix { page }),
    );
    addresses.extend(
        part_numbers(snapshot.items.len(), pages::EXPORTED_ROWS)
            .map(|page| PageAddress::Search { query: String::new(), page }),
    );
    addresses
        .extend(base.map(|base| PageAddress::Change { from: base.to_owned(), to: String::new() }));
    let mut directories: BTreeSet<&str> = BTreeSet::new();
    let own = snapshot.directories.iter().filter_map(|place| place.path.as_deref());
    for directory in own.take(MOST_DIRECTORIES) {
        directories.insert(directory);
        directories
            .extend(directory.match_indices('/').filter_map(|(end, _)| directory.get(..end)));
    }
    // The areas of the first picture lead somewhere.
    let top = snapshot.files.directories.iter().map(String::as_str);
    let is_filled = |path: &&str| !snapshot.files.places_below(path).is_empty();
    let top = top.filter(|path| !path.contains('/')).filter(is_filled);
    directories.extend(top.take(MOST_DIRECTORIES));
    for directory in directories {
        if !directory.is_empty() {
            addresses.push(PageAddress::directory(directory));
            addresses.push(PageAddress::file(&format!("{directory}/")));
        }
        let example = snapshot.files.places_below(directory).find(|&place| {
            let path = snapshot.files.files.get(place).map(String::as_str).unwrap_or_default();
            let rest = path.get(directory.len()..).unwrap_or_default();
            !rest.trim_start_matches('/').contains('/')
        });
        let example = example.and_then(|place| snapshot.files.files.get(place));
        addresses.extend(example.map(|path| PageAddress::file(path)));
    }
    let items = snapshot.items.iter().take(MOST_ITEMS);
    addresses.extend(items.map(|item| PageAddress::item(&item.id)));
    addresses
}

/// Returns the pages of a fleet: all repositories, and those of each state.
fn fleet_addresses(fleet: &FleetReport) -> Vec<PageAddress> {
    let of = |state, rows| {
        part_numbers(rows, pages::ROWS).map(move |page| PageAddress::Fleet { state, page })
    };
    let mut addresses: Vec<PageAddress> = of(None, fleet.members().len()).collect();
    for state in FleetState::ALL {
        addresses.extend(of(Some(state), fleet.in_state(state).len()));
    }
    addresses
}

/// Refuses a directory with files that no record names.
fn check_ours(system: &dyn System, out: &Path) -> Result<(), ExportError> {
    let resolved = match system.resolve(out) {
        Ok(resolved) => resolved,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(to_write_error(out)(error)),
    };
    let foreign = |example: String| ExportError::Foreign { path: out.to_owned(), example };
    if resolved.kind != FileKind::Directory || resolved.path != out {
        return Err(foreign(out.display().to_string()));
    }
    let found = list_files(system, out, "")?;
    if found.is_empty() {
        return Ok(());
    }
    let record = system.read(&out.join(RECORD), RECORD_BYTES).unwrap_or_default();
    let record = String::from_utf8_lossy(&record).into_owned();
    let mut lines = record.lines();
    let is_ours = lines.next() == Some(MARK);
    let ours: BTreeSet<&str> = lines.filter(|_| is_ours).collect();
    match found.iter().find(|name| !ours.contains(name.as_str())) {
        Some(other) => Err(foreign(other.clone())),
        None => Ok(()),
    }
}

/// Returns the files below a directory, two levels deep: an export has no more.
fn list_files(
    system: &dyn System,
    directory: &Path,
    prefix: &str,
) -> Result<Vec<String>, ExportError> {
    let entries = system.open_dir(directory).and_then(|handle| handle.entries());
    let mut found = Vec::new();
    for entry in entries.map_err(to_write_error(directory))? {
        let name = format!("{prefix}{}", entry.name.to_string_lossy());
        if entry.kind == FileKind::Directory && prefix.is_empty() {
            found.extend(list_files(system, &directory.join(&entry.name), &format!("{name}/"))?);
        } else {
            found.push(name);
        }
    }
    Ok(found)
}

/// Writes the files beside their place, and puts them there.
fn write_files(
    system: &dyn System,
    out: &Path,
    files: &BTreeMap<String, String>,
) -> Result<(), ExportError> {
    let parent = out.parent().unwrap_or(Path::new("/"));
    system.create_dir(parent).map_err(to_write_error(parent))?;
    let (staging, _lock) = system.create_staging_dir(parent).map_err(to_write_error(parent))?;
    let written = fill_staging_dir(system, &staging, out, files);
    // The pages are in place now, or what is here is of no use.
    let removed = system.remove_tree(&staging);
    written?;
    removed.map_err(to_write_error(&staging))
}

fn fill_staging_dir(
    system: &dyn System,
    staging: &Path,
    out: &Path,
    files: &BTreeMap<String, String>,
) -> Result<(), ExportError> {
    // The staging directory is for the user alone; the pages need not be.
    let made = staging.join(STAGED).join("new");
    let mut directories = BTreeSet::from([staging.join(STAGED), made.clone()]);
    directories
        .extend(files.keys().filter_map(|name| made.join(name).parent().map(Path::to_owned)));
    for directory in &directories {
        system.create_dir(directory).map_err(to_write_error(directory))?;
    }
    for (name, text) in files {
        let path = made.join(name);
        system.create_staged_file(&path, text.as_bytes()).map_err(to_write_error(out))?;
    }
    if system.resolve(out).is_err() {
        return system.rename_dir(&made, out).map_err(to_write_error(out));
    }
    // It may have changed since it was looked at.
    check_ours(system, out)?;
    replace_pages(system, &made, out).map_err(to_write_error(out))
}

/// Lets the new pages and the earlier ones change places.
fn replace_pages(system: &dyn System, made: &Path, out: &Path) -> io::Result<()> {
    let parts = |path: &Path| Some((path.parent()?.to_owned(), path.file_name()?.to_owned()));
    let (Some((above, name)), Some((parent, target))) = (parts(made), parts(out)) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    system.sync_file_system(made)?;
    let (above, parent) = (system.open_dir(&above)?, system.open_dir(&parent)?);
    match parent.exchange_file(above.as_ref(), &name, &target) {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {
            let before = made.with_file_name("old");
            system.rename_dir(out, &before)?;
            let put = system.rename_dir(made, out);
            if put.is_err() {
                // The earlier pages are better than none.
                let _ = system.rename_dir(&before, out);
            }
            put
        }
        exchanged => exchanged.and_then(|()| parent.sync_directory()),
    }
}

/// Removes what killed runs have left.
fn clear_abandoned(system: &dyn System, parent: &Path) {
    let entries = system.open_dir(parent).and_then(|handle| handle.entries()).unwrap_or_default();
    for entry in entries {
        let chance = entry.name.to_str().and_then(|name| name.strip_prefix(STAGING));
        let is_staging = chance.is_some_and(|chance| {
            chance.len() == 6 && chance.bytes().all(|byte| byte.is_ascii_alphanumeric())
        });
        let path = parent.join(&entry.name);
        if !is_staging || entry.kind != FileKind::Directory || !system.is_abandoned(&path) {
            continue;
        }
        let content = system.open_dir(&path).and_then(|handle| handle.entries());
        // Other commands stage elsewhere; a directory with anything else is not ours.
        let is_ours = content.is_ok_and(|content| content.iter().all(|entry| entry.name == STAGED));
        if is_ours {
            let _ = system.remove_tree(&path);
        }
    }
}

impl ExportReport {
    /// Returns the report in words.
    pub fn render_summary(&self) -> String {
        format!("{}, {} KB", format_count(self.files, "file"), self.bytes.div_ceil(1024))
    }
}
