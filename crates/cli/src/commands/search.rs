//! `brief search`

use std::path::PathBuf;
use std::sync::Arc;

use brief_dialects::portable::{NAME, Registry};
use brief_engine::search::{SearchHit, SearchIndex, SearchText};
use brief_registry::install::{SourceInventory, look_into};
use brief_syntax::text::{fold_line, format_count};
use clap::Args;
use serde::Serialize;

use super::list;
use crate::error::{CommandError, Result, refuse_if};
use crate::installation::{Installation, InstallationArg};
use crate::session::Session;
use crate::ui::Ui;

/// Search the items of registries
///
/// Best match first. Without SOURCE, searches the locked sources of brief.toml, offline. Exits 1 if nothing was found.
#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Words to find in names, descriptions and content
    #[arg(value_name = "WORD")]
    query: String,

    /// Source to search: a name in brief.toml, or an address as in `brief add`
    source: Option<String>,

    /// Show only items of this kind
    #[arg(long, value_name = "KIND", value_parser = ["rule", "skill", "agent", "command", "bundle"])]
    kind: Option<String>,

    /// Show at most COUNT items
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    limit: usize,

    /// Use only the cache
    #[arg(long, requires = "source")]
    offline: bool,

    #[command(flatten)]
    place: InstallationArg,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A source, its directory, and its items.
struct SearchedSource {
    name: String,
    root: PathBuf,
    registry: Arc<Registry>,
}

#[derive(Debug, Serialize)]
struct SearchList<'l> {
    query: &'l str,
    items: Vec<FoundOffer<'l>>,
}

#[derive(Debug, Serialize)]
struct FoundOffer<'l> {
    registry: &'l str,
    #[serde(flatten)]
    hit: SearchHit<'l>,
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &SearchArgs) -> Result {
    let installation = Installation::find(ui, session, &args.place)?;
    let sources = match &args.source {
        Some(text) => {
            let (system, clients) = (session.system(), installation.clients.profiles().ids());
            let look = list::with_resolved_source(
                ui,
                session,
                &installation,
                text,
                args.offline,
                |source, base, network, observer| {
                    look_into(system, source, None, base, &clients, network, observer)
                },
            );
            let (source, found) = look?;
            let (root, registry) = (found.directory().to_owned(), found.registry);
            vec![SearchedSource { name: source.to_string(), root, registry }]
        }
        None => read_configured_sources(ui, session, &installation)?,
    };
    let indexes: Vec<SearchIndex> =
        sources.iter().map(|source| build_index(source, args.kind.as_deref())).collect();
    let mut found: Vec<FoundOffer<'_>> = Vec::new();
    for (source, index) in sources.iter().zip(&indexes) {
        let hits = index.find_hits(&args.query, args.limit);
        found.extend(hits.into_iter().map(|hit| FoundOffer { registry: &source.name, hit }));
    }
    found.sort_by(|left, right| right.hit.score.total_cmp(&left.hit.score));
    found.truncate(args.limit);
    let is_empty = found.is_empty();
    if args.json {
        let root = &installation.project.outputs;
        let body = SearchList { query: &args.query, items: found };
        ui.print_json("search", root, &[], body)?;
        return refuse_if(is_empty);
    }
    let width = ui.width();
    for FoundOffer { registry, hit } in &found {
        let about = if hit.description.is_empty() { &hit.excerpt } else { hit.description };
        let from = if sources.len() > 1 { format!(" ({registry})") } else { String::new() };
        ui.print_line(fold_line(&format!("{}/{}{from}: {about}", hit.kind, hit.name), width))?;
    }
    if is_empty {
        let count: usize = sources.iter().map(|source| source.registry.items.len()).sum();
        let items = format_count(count, "item");
        ui.print_status(&format!("no match for `{}` in {items}", args.query))?;
    }
    refuse_if(is_empty)
}

/// Returns the sources of `brief.toml` at their locked commits.
fn read_configured_sources(
    ui: &mut Ui,
    session: &Session,
    installation: &Installation,
) -> Result<Vec<SearchedSource>> {
    let manifest = installation.manifest.clone().unwrap_or_default();
    if manifest.sources.is_empty() {
        let refused = CommandError::refused("no sources in brief.toml");
        return Err(refused.with_hint("run `brief search WORD SOURCE` to search any source"));
    }
    let lock = installation.read_lock(session.system())?.unwrap_or_default();
    let known = installation.clients.profiles().ids();
    let (system, project) = (session.system(), &installation.project);
    let inventory = SourceInventory::read(system, project, &manifest, &lock, &known);
    let mut sources = Vec::new();
    for (name, registry) in inventory.sources {
        match registry {
            Ok(registry) => {
                let root = registry.root.clone();
                sources.push(SearchedSource { name, root, registry: Arc::new(registry) });
            }
            Err(problem) => {
                ui.print_warning(&format!("skipped source `{name}`: {problem}"))?;
            }
        }
    }
    Ok(sources)
}

fn build_index(source: &SearchedSource, kind: Option<&str>) -> SearchIndex {
    let items = source.registry.items.iter().map(|item| SearchText {
        dialect: NAME,
        kind: item.kind().as_str(),
        name: item.name(),
        path: item.document().source().path(),
        description: item.description(),
        text: item.document().body(),
    });
    let bundles = source.registry.bundles.iter().map(|bundle| SearchText {
        dialect: NAME,
        kind: "bundle",
        name: bundle.name(),
        path: bundle.document().source().path(),
        description: bundle.description().unwrap_or_default(),
        text: "",
    });
    let all = items.chain(bundles).filter(|text| kind.is_none_or(|kind| kind == text.kind));
    SearchIndex::of_texts(&source.root, all)
}
