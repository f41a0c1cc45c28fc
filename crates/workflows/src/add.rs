//! The policy of an addition: which entry a typed source becomes, which of its items are wanted, and for which clients.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use brief_clients::compile::ClientsInUse;
use brief_dialects::portable::{ItemId, PortableItem, Registry, bundle};
use brief_registry::install::{
    AddError, Addition, ChooseError, Elsewhere, SourceItems, TypedSource, choose_items, look_into,
};
use brief_registry::lock::Lock;
use brief_registry::manifest::{ManifestEdit, ManifestPlace, WantedItems};
use brief_registry::{Event, Network, SourceAddress};
use brief_syntax::Source;
use brief_syntax::text::format_count;
use brief_system::System;

use crate::installation::{Installation, Remark, describe_clients};
use crate::refusal::{RequestRefusal, refusal_of_typed};
use crate::revisions::short_id;

/// The advice for a source without items: the paths of items.
pub const ITEMS: &str = "items are `rules/NAME/RULE.md`, `skills/NAME/SKILL.md`, `agents/NAME/AGENT.md`, and files for one client: \
     `agents/NAME.md`, `NAME.agent.md`, `NAME.instructions.md`, `NAME.mdc`";

/// A typed source, as the entry that it becomes.
#[derive(Debug)]
pub struct LocatedSource {
    pub addition: Addition,
    /// The commit or digest that the lock has for it.
    pub locked: Option<String>,
}

impl LocatedSource {
    /// Finds the entry of a typed source, at its newest version.
    pub fn locate_typed(
        system: &dyn System,
        installation: &Installation,
        typed: TypedSource<'_>,
    ) -> Result<LocatedSource, RequestRefusal> {
        let manifest = installation.manifest.clone().unwrap_or_default();
        let addition = typed
            .resolve_entry(system, &installation.project, &manifest)
            .map_err(|error| not_added(&error))?;
        Ok(LocatedSource { addition, locked: None })
    }

    /// Stays at the version that a lock has for the entry.
    #[must_use]
    pub fn locked_by(self, lock: &Lock) -> LocatedSource {
        let locked = self.addition.locked_commit(lock).map(str::to_owned);
        LocatedSource { locked, ..self }
    }

    /// Reads the items of the source. `base` is the base of relative paths.
    pub fn read_items(
        &self,
        system: &dyn System,
        installation: &Installation,
        base: &Path,
        network: Network,
        observer: &dyn Fn(Event<'_>),
    ) -> Result<SourceItems, RequestRefusal> {
        let known = installation.clients.profiles().ids();
        let (source, locked) = (&self.addition.source, self.locked.as_deref());
        look_into(system, source, locked, base, &known, network, observer).map_err(refusal_of_typed)
    }

    /// Returns the commit that was read of a source that is not locked yet, by the source's name.
    pub fn new_commits(&self, found: &SourceItems) -> BTreeMap<String, String> {
        let commit = found.commit.iter().filter(|_| self.locked.is_none());
        commit.map(|commit| (self.addition.name.clone(), commit.clone())).collect()
    }
}

/// What a user wants of a source.
#[derive(Debug, Clone, Copy)]
pub struct WantedAddition<'w> {
    /// The items; all of the source if there are none.
    pub items: &'w [String],
    /// The kind of the items.
    pub kind: Option<&'w str>,
    /// The clients that the items are for; those of the project if there are none.
    pub clients: &'w [String],
    /// The directory that problems are shown relative to.
    pub base: &'w Path,
    /// The lock of the project.
    pub lock: &'w Lock,
}

/// An addition that can be installed.
#[derive(Debug)]
pub struct PreparedAddition {
    /// The edits of the manifest.
    pub edits: Vec<ManifestEdit>,
    /// The clients of the project.
    pub clients: Vec<String>,
    /// Descriptions of clients that become files of the project.
    pub new_clients: Vec<Arc<Source>>,
}

/// Chooses items and clients. The remarks are to be told in any case.
pub fn prepare_addition(
    system: &dyn System,
    installation: &mut Installation,
    located: &LocatedSource,
    found: &SourceItems,
    asked: WantedAddition<'_>,
    remarks: &mut Vec<Remark>,
) -> Result<PreparedAddition, RequestRefusal> {
    let LocatedSource { addition, locked } = located;
    let source = &addition.source;
    remarks.extend(found.notes.iter().cloned().map(Remark::Warning));
    let new_clients =
        installation.take_clients(system, &found.described, asked.clients, remarks)?;
    let mut clients = installation.wanted_clients(&[])?;
    let own_clients = match asked.clients {
        [] => None,
        named => Some(
            installation
                .wanted_clients(named)
                .map_err(|error| with_described(error.into(), found))?,
        ),
    };
    let chosen = choose_items(&found.registry, asked.items, asked.kind);
    if chosen.as_ref().is_err_and(ChooseError::is_of_source) {
        let problems = found.item_errors(&addition.name);
        remarks.push(Remark::Problems { found: problems, base: asked.base.to_owned() });
    }
    let lies_elsewhere = || find_elsewhere(source, &found.elsewhere, asked.items);
    let wanted = chosen.map_err(|error| {
        let refused = not_chosen(addition, locked.as_deref(), &error);
        match (&error, lies_elsewhere()) {
            (ChooseError::Empty | ChooseError::Missing { .. }, Some(hint)) => {
                refused.with_hint(hint)
            }
            _ => refused,
        }
    })?;
    remarks.extend(lies_elsewhere().filter(|_| asked.items.is_empty()).map(Remark::Hint));
    remarks.extend(found.not_installed(&wanted).into_iter().map(Remark::Warning));
    if let Some(bundle) = empty_bundle(&found.registry, &wanted) {
        let message = format!("the bundle `{bundle}` has no items");
        return Err(RequestRefusal::refuse_request(message)
            .with_hint("ask its author to list them under `items`"));
    }
    let is_new = installation.manifest.as_ref().is_none_or(|known| known.sources.is_empty())
        && asked.lock.items.is_empty();
    let is_open = installation.clients.settings().clients.is_none() && own_clients.is_none();
    let found_clients = (is_new && is_open)
        .then(|| installation.clients.in_use(system, &installation.project.outputs))
        .flatten()
        .filter(|found| found.clients != clients);
    if let Some(found) = &found_clients {
        clients.clone_from(&found.clients);
        remarks.push(Remark::Status(describe_clients(found)));
    }
    let getting = own_clients.as_ref().unwrap_or(&clients);
    check_audience(&found.registry, &wanted, getting, remarks)?;
    if let Some(named) = &own_clients {
        note_clients_without_items(&found.registry, &wanted, named, remarks);
    }
    let found_clients = found_clients
        .map(|ClientsInUse { clients, signs }| ManifestEdit::FoundClients { clients, signs });
    let want = addition.build_edit(wanted, own_clients);
    let edits = found_clients.into_iter().chain([want]).collect();
    Ok(PreparedAddition { edits, clients, new_clients })
}

/// Prepares the addition of everything in a directory, without the items in `exclude`. The items are for the clients in
/// `used`, unless the project names its own. `declared` are edits that come with it.
pub fn prepare_whole(
    installation: &Installation,
    located: &LocatedSource,
    found: &SourceItems,
    used: &[String],
    exclude: &[ItemId],
    declared: &[ManifestEdit],
) -> Result<PreparedAddition, RequestRefusal> {
    let addition = &located.addition;
    let wanted = choose_items(&found.registry, &[], None)
        .map_err(|error| not_chosen(addition, None, &error))?;
    let is_open = installation.clients.settings().clients.is_none() && !used.is_empty();
    let clients = if is_open { used.to_vec() } else { installation.wanted_clients(&[])? };
    let named = is_open.then(|| ManifestEdit::FoundClients {
        clients: clients.clone(),
        signs: vec!["the imported files".to_owned()],
    });
    let wanted = addition.build_edit(wanted, None);
    let excluded = exclude
        .iter()
        .map(|item| ManifestEdit::Exclude { source: addition.name.clone(), item: item.clone() });
    let edits =
        named.into_iter().chain([wanted]).chain(excluded).chain(declared.iter().cloned()).collect();
    Ok(PreparedAddition { edits, clients, new_clients: Vec::new() })
}

/// Returns a wanted bundle, if the wanted ones come to no items. One that needs another source is left to the installation.
fn empty_bundle<'w>(registry: &Registry, wanted: &'w WantedItems) -> Option<&'w String> {
    if wanted.all || !wanted.items.is_empty() {
        return None;
    }
    let is_empty = |name: &&String| {
        bundle::resolve_bundle(registry, name).is_ok_and(|closure| closure.items.is_empty())
    };
    let first = wanted.bundles.first()?;
    wanted.bundles.iter().all(|name| is_empty(&name)).then_some(first)
}

/// Refuses an addition of which no client gets a file, and names the items that none of them gets.
fn check_audience(
    registry: &Registry,
    wanted: &WantedItems,
    clients: &[String],
    remarks: &mut Vec<Remark>,
) -> Result<(), RequestRefusal> {
    let Some((for_some, for_others)) = by_audience(registry, wanted, clients) else {
        return Ok(());
    };
    if for_some.is_empty() {
        let clients = clients.join(", ");
        let message = format!("none of these items applies to the clients here ({clients})");
        return Err(RequestRefusal::refuse_request(message).with_hint(
            "their `audience` names other clients; use `--client CLIENT` to add them for one",
        ));
    }
    if !for_others.is_empty() {
        remarks.push(Remark::Status(for_other_clients(&for_others, clients)));
    }
    Ok(())
}

/// Notes each client that the user has named and that gets none of the items: whoever names it expects files for it.
fn note_clients_without_items(
    registry: &Registry,
    wanted: &WantedItems,
    named: &[String],
    remarks: &mut Vec<Remark>,
) {
    let Some((for_some, _)) = by_audience(registry, wanted, named) else { return };
    for client in named.iter().filter(|client| !for_some.iter().any(|item| item.is_for(client))) {
        let message =
            format!("no item for {client}, because `audience` of each names other clients");
        remarks.push(Remark::Status(message));
    }
}

/// Returns the wanted items that a client gets, and those whose `audience` names none of the clients. `None` where another
/// source has some of them.
fn by_audience<'r>(
    registry: &'r Registry,
    wanted: &WantedItems,
    clients: &[String],
) -> Option<(Vec<&'r PortableItem>, Vec<&'r PortableItem>)> {
    let mut items = wanted.items.clone();
    for name in &wanted.bundles {
        items.extend(bundle::resolve_bundle(registry, name).ok()?.items);
    }
    let is_wanted = |item: &&PortableItem| wanted.all || items.contains(item.id());
    let wanted = registry.items.iter().filter(is_wanted);
    Some(wanted.partition(|item| clients.iter().any(|client| item.is_for(client))))
}

/// The number of items whose names are listed.
const NAMED: usize = 3;

/// Says which items have a file for no client.
fn for_other_clients(items: &[&PortableItem], clients: &[String]) -> String {
    let named = items.iter().take(NAMED).map(|item| item.id().full_name());
    let more = match items.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (named, clients) = (named.collect::<Vec<_>>().join(", "), clients.join(", "));
    format!("no file for {clients}, because `audience` names other clients: {named}{more}")
}

/// Adds the clients that the source describes to an error about an unknown one.
fn with_described(error: RequestRefusal, found: &SourceItems) -> RequestRefusal {
    let names: Vec<String> =
        found.described.clients.iter().map(|client| format!("`{}`", client.id)).collect();
    match names.as_slice() {
        [] => error,
        names => error.with_hint(format!("the source describes {}", names.join(", "))),
    }
}

fn not_added(error: &AddError) -> RequestRefusal {
    let message = error.to_string();
    match error {
        AddError::Name(_) => RequestRefusal::refuse_usage(format!("`--name`: {message}")),
        AddError::Known(_) => RequestRefusal::refuse_request(message).with_hint("omit `--name`"),
        AddError::NameTaken(_) => {
            RequestRefusal::refuse_request(message).with_hint("choose another `--name`")
        }
        _ => RequestRefusal::refuse_usage(message),
    }
}

fn not_chosen(addition: &Addition, locked: Option<&str>, error: &ChooseError) -> RequestRefusal {
    let at = locked.map_or(String::new(), |commit| {
        format!(" at {}", short_id(commit.strip_prefix("sha256:").unwrap_or(commit)))
    });
    let refused = RequestRefusal::refuse_request(format!(
        "`{}`{at}: {error}",
        addition.source.shortest_spelling()
    ));
    match error {
        ChooseError::Missing { near, .. } if !near.is_empty() => {
            let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
            refused.with_hint(format!("did you mean {}?", near.join(" or ")))
        }
        ChooseError::Missing { .. } if locked.is_some() => {
            let version = match &addition.place {
                ManifestPlace::Git { reference: Some(_), .. }
                | ManifestPlace::Oci { reference: Some(_), .. } => "@VERSION",
                _ => "",
            };
            let name = &addition.name;
            refused.with_hint(format!(
                "it may be newer than the locked version: run `brief update {name}{version}`"
            ))
        }
        ChooseError::Missing { .. } => {
            let typed = addition.source.shortest_spelling();
            refused.with_hint(format!("run `brief list {typed}` to list its items"))
        }
        ChooseError::Empty => refused.with_hint(ITEMS),
        ChooseError::Invalid { is_newer: true, .. } | ChooseError::Unusable { is_newer: true } => {
            refused.with_hint("upgrade brief; nothing was changed")
        }
        ChooseError::Unusable { .. } | ChooseError::Invalid { .. } => {
            refused.with_hint("fix it in the source, or exclude it; nothing was changed")
        }
        ChooseError::Outside { address: Some(address), .. } => {
            refused.with_hint(format!("run `brief add {address}` to add it from there"))
        }
        ChooseError::Several { which, .. } => {
            refused.with_hint(format!("write {}", which.join(" or ")))
        }
        _ => refused,
    }
}

/// Describes the directory in which the source has all named skills, although they are not its items, and the
/// command that adds them.
pub fn find_elsewhere(
    source: &SourceAddress,
    found: &[Elsewhere],
    names: &[String],
) -> Option<String> {
    let fitting = Elsewhere::with_all(found, names);
    let (found, more) = fitting.split_first()?;
    let more: Vec<String> = more.iter().map(|found| format!("`{}`", found.directory)).collect();
    let more = match more.join(", ") {
        more if more.is_empty() => more,
        more => format!(", and more in {more}"),
    };
    let names = names.iter().map(|name| name.rsplit('/').next().unwrap_or_default().to_owned());
    let (directory, typed) =
        (&found.directory, source.join_directory(&found.directory).shortest_spelling());
    let count = format_count(found.skills.len(), "skill");
    let typed = std::iter::once(typed).chain(names).collect::<Vec<_>>().join(" ");
    Some(format!(
        "found {count} in `{directory}`, where a client of the source itself reads them{more}; \
         run `brief add {typed}` to add them"
    ))
}
