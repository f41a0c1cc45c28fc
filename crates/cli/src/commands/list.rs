//! `brief list`

use std::path::Path;

use brief_dialects::dependencies::LockedDependency;
use brief_dialects::portable::output::SharedEntry;
use brief_dialects::portable::{OutsidePlugin, PortableItem};
use brief_registry::install::{
    InstallError, ListedBundle, ListedFile, SourceInventory, SourceListing, list_source,
};
use brief_registry::lock::{Lock, LockedItem};
use brief_registry::manifest::{Manifest, ManifestPlace};
use brief_registry::{Event, Network, SourceAddress};
use brief_syntax::text::{fold_line, format_count, visible_line};
use brief_syntax::yaml::Node;
use brief_workflows::add::{ITEMS, find_elsewhere};
use clap::Args;
use serde::Serialize;
use serde_json::{Value, json};

use super::deps;
use super::question::CountingArgs;
use crate::error::{CommandError, Result, refuse_if};
use crate::installation::{
    self, Installation, InstallationArg, JsonSource, full_name, short_commit,
};
use crate::session::Session;
use crate::ui::Ui;

/// Show installed items, or the items of a source
///
/// With `--packages`, shows the packages that contain guidance: `AGENTS.md`, `AGENTS.yaml`, `.context`, skills or `llms.txt`
/// in `node_modules`, Python environments, Rust crates and Go modules. An agent gets it only if brief.toml names the package
/// and `brief sync` has recorded it.
#[derive(Debug, Args)]
#[command(mut_arg("exact", |exact| exact.requires("packages")))]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a user can set")]
pub(crate) struct ListArgs {
    /// Source to list, by name or address; with `--packages`, a directory
    pub(super) source: Option<String>,

    /// Group items by source and bundle, and show their files
    #[arg(long, conflicts_with = "source")]
    tree: bool,

    /// Use only the cache
    #[arg(long, requires = "source")]
    offline: bool,

    /// Show installed packages that contain guidance
    #[arg(long, conflicts_with_all = ["tree", "offline", "global"])]
    packages: bool,

    /// Include indirect dependencies
    #[arg(long, requires = "packages")]
    pub(super) all: bool,

    #[command(flatten)]
    pub(super) counting: CountingArgs,

    #[command(flatten)]
    place: InstallationArg,

    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Serialize)]
struct InstalledRow<'l> {
    kind: &'static str,
    name: &'l str,
    description: Option<&'l str>,
    version: Option<&'l str>,
    license: Option<&'l str>,
    metadata: Option<Node<'l>>,
    source: &'l str,
    path: &'l str,
    sha256: &'l str,
    bundles: &'l [String],
    files: Vec<Value>,
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &ListArgs) -> Result {
    if args.packages {
        return deps::run(ui, session, args);
    }
    let installation = Installation::find(ui, session, &args.place)?;
    let manifest = installation.manifest.clone().unwrap_or_default();
    if let Some(source) = &args.source {
        return print_available(ui, session, &installation, source, args);
    }
    let lock = installation.read_lock(session.system())?.unwrap_or_default();
    if args.json {
        print_json(ui, session, &installation, &manifest, &lock)?;
    } else if lock.items.is_empty() && lock.dependencies.is_empty() {
        let place = installation.project.outputs.display();
        let way = match manifest.sources.as_slice() {
            [] => "run `brief add SOURCE` to install items",
            _ => "run `brief sync` to install the items of brief.toml",
        };
        ui.print_status(&format!("nothing installed in {place}; {way}"))?;
    } else if args.tree {
        print_tree(ui, &lock)?;
    } else {
        print_list(ui, &lock)?;
    }
    if !args.json {
        for LockedDependency { id, files, .. } in &lock.dependencies {
            let files = format_count(files.len(), "file");
            ui.print_line(visible_line(&format!("{}:{id}  {files} of a package", id.ecosystem)))?;
        }
    }
    Ok(())
}

fn print_list(ui: &mut Ui, lock: &Lock) -> Result {
    let widest = lock.items.keys().map(|id| full_name(id).len()).max().unwrap_or_default();
    for (id, item) in &lock.items {
        let from = render_item_origin(lock, item);
        ui.print_line(format!("{:widest$}  {from}{}", full_name(id), render_item_details(item)))?;
    }
    for (name, source) in &lock.sources {
        if let Some(signer) = &source.signer {
            ui.print_line(visible_line(&format!("{name} is signed by {signer}")))?;
        }
    }
    Ok(())
}

/// Returns the version of an item and the bundles that bring it.
fn render_item_details(item: &LockedItem) -> String {
    let version = item.version.as_deref().map_or(String::new(), |text| format!(" {text}"));
    match item.bundles.as_slice() {
        [] => version,
        names => format!("{version} ({})", names.join(", ")),
    }
}

/// Returns the source of an item, with its commit.
fn render_item_origin(lock: &Lock, item: &LockedItem) -> String {
    let commit = lock.sources.get(&item.source).and_then(|source| source.commit.as_deref());
    match commit {
        Some(commit) => format!("{}@{}", item.source, short_commit(commit)),
        None => item.source.clone(),
    }
}

fn print_tree(ui: &mut Ui, lock: &Lock) -> Result {
    for (name, source) in &lock.sources {
        let place = match &source.place {
            ManifestPlace::Git { git, reference, .. } => match reference {
                Some(reference) => format!("{git}@{reference}"),
                None => git.clone(),
            },
            ManifestPlace::Oci { oci, reference } => match reference {
                Some(digest) if digest.contains(':') => format!("{oci}@{digest}"),
                Some(tag) => format!("{oci}:{tag}"),
                None => oci.clone(),
            },
            ManifestPlace::Directory(path) => path.clone(),
        };
        let commit =
            source.commit.as_deref().map_or(String::new(), |at| format!(" {}", short_commit(at)));
        let signer = source.signer.as_deref();
        let signer = signer.map_or(String::new(), |signer| format!(", signed by {signer}"));
        ui.print_heading(&visible_line(&format!("{name} ({place}{commit}{signer})")))?;
        for (bundle, version) in &source.bundles {
            let version = version.as_deref().map_or(String::new(), |text| format!(" {text}"));
            ui.print_line(format!("  bundle/{bundle}{version}"))?;
        }
        for (id, item) in lock.items.iter().filter(|(_, item)| item.source == *name) {
            ui.print_line(format!("  {}{}", full_name(id), render_item_details(item)))?;
            for path in item.files.keys() {
                ui.print_line(format!("    {path}"))?;
            }
        }
    }
    for (path, entries) in &lock.shared {
        let names: Vec<String> = entries.iter().map(SharedEntry::name).collect();
        ui.print_line(format!("{path}: {}", names.join(", ")))?;
    }
    Ok(())
}

fn print_json(
    ui: &mut Ui,
    session: &Session,
    installation: &Installation,
    manifest: &Manifest,
    lock: &Lock,
) -> Result {
    let known = installation.clients.profiles().ids();
    let (system, project) = (session.system(), &installation.project);
    let inventory = SourceInventory::read(system, project, manifest, lock, &known);
    let sources = lock
        .sources
        .iter()
        .map(|(name, source)| JsonSource::new(name, &source.place, None, source.commit.as_deref()));
    let items = lock.items.iter().map(|(id, item)| {
        let found = inventory.find_item(&item.source, id);
        let files = item.files.iter();
        InstalledRow {
            kind: id.kind.as_str(),
            name: &id.name,
            description: found.map(PortableItem::description),
            version: item.version.as_deref(),
            license: found.and_then(|found| found.document().field_text("license")),
            metadata: found.and_then(|found| found.document().field("metadata")),
            source: &item.source,
            path: &item.path,
            sha256: &item.sha256,
            bundles: &item.bundles,
            files: files
                .map(|(path, file)| json!({ "path": path, "sha256": file.sha256 }))
                .collect(),
        }
    });
    let root = &project.outputs;
    let body = json!({
        "project": project.outputs.to_string_lossy(),
        "sources": sources.collect::<Vec<_>>(),
        "items": items.collect::<Vec<_>>(),
    });
    ui.print_json("list", root, &[], body)
}

/// Asks for a source by its name in brief.toml or by its address. `work` gets the source and the directory that
/// relative paths in it begin at.
pub(super) fn with_resolved_source<T>(
    ui: &mut Ui,
    session: &Session,
    installation: &Installation,
    text: &str,
    offline: bool,
    work: impl FnOnce(&SourceAddress, &Path, Network, &dyn Fn(Event<'_>)) -> Result<T, InstallError>,
) -> Result<(SourceAddress, T)> {
    let system = session.system();
    let usage = |error: brief_registry::SourceError| CommandError::usage(error.to_string());
    let manifest = installation.manifest.as_ref();
    let named = manifest.and_then(|manifest| manifest.find_source(text));
    let (source, base) = match named {
        Some(source) => {
            let found = brief_registry::install::source_of(system, &installation.project, source)?;
            (found, installation.project.config.as_path())
        }
        None => {
            let source =
                SourceAddress::parse_added(text, session.directory(), system).map_err(usage)?;
            (source, session.directory())
        }
    };
    let network = installation::network_mode(offline);
    let found = installation::with_progress(ui, |observer| work(&source, base, network, observer))?;
    let found = found.map_err(|error| match named {
        Some(_) => error.into(),
        None => installation::refusal_of_typed(error),
    })?;
    Ok((source, found))
}

fn print_available(
    ui: &mut Ui,
    session: &Session,
    installation: &Installation,
    text: &str,
    args: &ListArgs,
) -> Result {
    let (system, clients) = (session.system(), installation.clients.profiles().ids());
    let offline = args.offline;
    let (source, found) = with_resolved_source(
        ui,
        session,
        installation,
        text,
        offline,
        |source, base, network, observer| {
            list_source(system, source, base, &clients, network, observer)
        },
    )?;
    let (base, listing) = (session.directory(), &found.listing);
    let problems = listing.manifest_diagnostics(&source.to_string());
    let is_empty = listing.items.is_empty() && listing.bundles.is_empty();
    if args.json {
        let body = json!({
            "source": source.to_string(),
            "commit": found.commit,
            "items": listing.items,
            "bundles": listing.bundles,
            "outside": listing.outside,
            "skipped": listing.left_out,
        });
        ui.print_json("list", base, &problems, body)?;
    } else {
        for note in &found.notes {
            ui.print_warning(note)?;
        }
        ui.print_diagnostics(&problems, base)?;
        print_offers(ui, listing)?;
        tell_rest(ui, listing)?;
        if is_empty {
            ui.print_status(&format!("no items in `{}`", source.shortest_spelling()))?;
        }
        if let Some(hint) = find_elsewhere(&source, &listing.elsewhere, &[]) {
            ui.print_hint(&hint)?;
        } else if is_empty {
            ui.print_hint(ITEMS)?;
        }
    }
    refuse_if(is_empty)
}

/// Prints a line for each bundle and item. A description may have any number of lines.
fn print_offers(ui: &mut Ui, listing: &SourceListing) -> Result {
    let width = ui.width();
    for bundle in &listing.bundles {
        let version = bundle.version.as_ref().map_or(String::new(), |text| format!(" {text}"));
        let about = bundle.description.as_deref().unwrap_or_default();
        let more = more_than_items(bundle);
        let line = format!("bundle/{}{version}{more}: {about}", bundle.name);
        ui.print_line(fold_line(&line, width))?;
    }
    for item in &listing.items {
        let wrong = if item.valid { "" } else { " (invalid: see `brief lint`)" };
        let line = format!("{}/{}{wrong}: {}", item.kind, item.name, item.description);
        ui.print_line(fold_line(&line, width))?;
    }
    Ok(())
}

/// Counts the hooks and servers of a plugin, which are not installed.
fn more_than_items(bundle: &ListedBundle) -> String {
    let count =
        |name: &str| bundle.capabilities.iter().filter(|fact| fact.starts_with(name)).count();
    let counts = [("hook", count("hooks ")), ("MCP server", count("mcp-servers "))];
    let counts = counts.into_iter().filter(|(_, count)| *count > 0);
    let words: Vec<String> = counts.map(|(noun, count)| format_count(count, noun)).collect();
    if words.is_empty() { String::new() } else { format!(" (also {})", words.join(", ")) }
}

/// Lists the rest of a source: plugins elsewhere, and files that were left out.
fn tell_rest(ui: &mut Ui, listing: &SourceListing) -> Result {
    if let Some(first) = listing.outside.first() {
        let count = listing.outside.len();
        let OutsidePlugin { name, place, .. } = first;
        let more = if count > 1 { format!(" and {} more", count - 1) } else { String::new() };
        ui.print_status(&format!(
            "not in this source: the plugin `{name}` at `{place}`{more}; `--json` lists them"
        ))?;
    }
    if let Some(ListedFile { path, reason }) = listing.left_out.first() {
        let count = listing.left_out.len();
        let more =
            if count > 1 { format!(", and {} more files", count - 1) } else { String::new() };
        ui.print_status(&format!("not an item: `{path}` {reason}{more}; `--json` lists them"))?;
    }
    Ok(())
}
