//! Selects the wanted items of all sources (§3.7 of the specification).

use std::collections::{BTreeMap, BTreeSet};

use brief_dialects::portable::bundle;
use brief_dialects::portable::{
    Bundle, ItemId, ItemKind, OutsidePlugin, PortableItem, Registry, slugify_name,
};
use brief_syntax::near_miss::{find_nearest, nearest_few};
use brief_syntax::{Diagnostic, Rule, rules};

use super::Unresolved;
use super::open::OpenedSource;
use crate::manifest::WantedItems;
use crate::outputs::filter_errors;

#[derive(Default)]
pub(super) struct Selection {
    /// The items, each with its source.
    pub(super) items: BTreeMap<ItemId, Selected>,
    /// The installed bundles: the number of the source, and the name.
    pub(super) bundles: BTreeSet<(usize, String)>,
    /// Wanted items that are not valid.
    pub(super) refused: Vec<(usize, ItemId)>,
}

pub(super) struct Selected {
    /// The number of its source.
    pub(super) source: usize,
    /// The bundles that include it.
    pub(super) bundles: BTreeSet<String>,
}

/// Resolves everything that the manifests want, or returns all failures.
pub(super) fn select_items(sources: &[OpenedSource<'_>]) -> Result<Selection, Vec<Unresolved>> {
    let registries: Vec<&Registry> =
        sources.iter().map(|source| source.registry.as_ref()).collect();
    let mut selector = Selector { sources, selection: Selection::default(), problems: Vec::new() };
    for (number, source) in sources.iter().enumerate() {
        selector.items_of(number, source);
    }
    for (number, source) in sources.iter().enumerate() {
        for name in &source.wanted.wanted.bundles {
            selector.select_bundle(&registries, number, name);
        }
    }
    if selector.problems.is_empty() { Ok(selector.selection) } else { Err(selector.problems) }
}

struct Selector<'s> {
    sources: &'s [OpenedSource<'s>],
    selection: Selection,
    problems: Vec<Unresolved>,
}

impl Selector<'_> {
    /// Selects the items that the manifest names, or all items of a source.
    fn items_of(&mut self, number: usize, source: &OpenedSource<'_>) {
        let wanted = &source.wanted.wanted;
        if wanted.all {
            for item in &source.registry.items {
                if wanted.exclude.contains(item.id()) {
                    continue;
                }
                // An invalid item that is not named does not block the others.
                if item.is_valid() {
                    self.select_item(item.id(), number, None);
                } else {
                    self.selection.refused.push((number, item.id().clone()));
                }
            }
        }
        for id in &wanted.items {
            match source.registry.find_item(id) {
                Some(item) => self.take_valid(item, number, None),
                None => self.problems.push(Unresolved::Item {
                    source_name: source.wanted.name.clone(),
                    item: id.clone(),
                    near: near_item(&source.registry, id),
                }),
            }
        }
    }

    fn select_bundle(&mut self, registries: &[&Registry], number: usize, name: &str) {
        let source_name = || self.sources[number].wanted.name.clone();
        if registries[number].find_bundle(name).is_none() {
            let names: Vec<&str> = registries[number].bundles.iter().map(Bundle::name).collect();
            let near = find_nearest(name, &names).map(str::to_owned);
            let bundle = name.to_owned();
            self.problems.push(Unresolved::Bundle { source_name: source_name(), bundle, near });
            return;
        }
        let closure =
            match bundle::resolve_among(registries, number, name) {
                Ok(closure) => closure,
                Err(errors) => {
                    let source_name = source_name();
                    self.problems.extend(errors.into_iter().map(|error| Unresolved::Closure {
                        source_name: source_name.clone(),
                        error,
                    }));
                    return;
                }
            };
        for (place, bundle) in closure.bundles {
            if let Some(found) = registries[place].find_bundle(&bundle)
                && let Some(problem) = first_error(found.diagnostics(), &RESOLVED)
            {
                let source_name = self.sources[place].wanted.name.clone();
                let error = bundle::BundleError::Invalid { bundle: bundle.clone(), problem };
                self.problems.push(Unresolved::Closure { source_name, error });
            }
            self.selection.bundles.insert((place, bundle));
        }
        for ((id, place), bundles) in closure.items {
            if self.sources[place].wanted.wanted.exclude.contains(&id) {
                continue;
            }
            if let Some(item) = registries[place].find_item(&id) {
                self.take_valid(item, place, Some(&bundles));
            }
        }
    }

    fn take_valid(
        &mut self,
        item: &PortableItem,
        number: usize,
        bundles: Option<&BTreeSet<String>>,
    ) {
        match first_error(item.diagnostics(), &[]) {
            None => self.select_item(item.id(), number, bundles),
            Some(problem) => self.problems.push(Unresolved::Invalid {
                source_name: self.sources[number].wanted.name.clone(),
                item: item.id().clone(),
                problem,
                is_newer: is_newer(item.diagnostics()),
            }),
        }
    }

    fn select_item(&mut self, id: &ItemId, number: usize, bundles: Option<&BTreeSet<String>>) {
        let bundles = bundles.cloned().unwrap_or_default();
        match self.selection.items.get_mut(id) {
            None => {
                self.selection.items.insert(id.clone(), Selected { source: number, bundles });
            }
            Some(known) if known.source == number => known.bundles.extend(bundles),
            Some(known) => {
                let way = |number: usize, bundles: &BTreeSet<String>| {
                    let name = &self.sources[number].wanted.name;
                    match bundles.first() {
                        Some(bundle) => format!("`{name}` (bundle `{bundle}`)"),
                        None => format!("`{name}`"),
                    }
                };
                let sources = vec![way(known.source, &known.bundles), way(number, &bundles)];
                self.problems.push(Unresolved::Conflict { item: id.clone(), sources });
            }
        }
    }
}

/// Findings that one registry alone cannot judge: other sources may have the items of its bundles.
const RESOLVED: [Rule; 3] =
    [rules::item::BUNDLE_UNRESOLVED, rules::item::BUNDLE_REQUIRES, rules::item::BUNDLE_CYCLE];

fn first_error(diagnostics: &[Diagnostic], except: &[Rule]) -> Option<String> {
    let error = filter_errors(diagnostics).find(|found| !except.contains(&found.rule))?;
    let name = error.source.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
    Some(format!("{name}:{}: {}", error.position().line, error.message))
}

/// Returns whether an item is written for a newer version of the format.
fn is_newer(diagnostics: &[Diagnostic]) -> bool {
    filter_errors(diagnostics).any(|found| found.rule == rules::item::UNSUPPORTED_SCHEMA)
}

fn near_item(registry: &Registry, id: &ItemId) -> Option<String> {
    let same = registry.items.iter().filter(|item| item.answers_to(&id.name));
    let same: Vec<String> = same.map(|item| item.id().full_name()).take(SUGGESTED).collect();
    if !same.is_empty() {
        return Some(same.join("` or `"));
    }
    let names: Vec<&str> = registry
        .items
        .iter()
        .filter(|item| item.kind() == id.kind)
        .map(PortableItem::name)
        .collect();
    find_nearest(&id.name, &names).map(|name| format!("{}/{name}", id.kind))
}

/// A failed choice from a source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChooseError {
    /// The source has no items.
    #[error("no items found")]
    Empty,
    /// The source has no valid items.
    #[error("no usable items found")]
    Unusable {
        /// True if all is written for a newer version of the format.
        is_newer: bool,
    },
    /// The source has no such item or bundle.
    #[error("no {what}")]
    Missing {
        /// The kind and name, as text.
        what: String,
        near: Vec<String>,
    },
    /// The item exists, but is not valid.
    #[error("cannot use the {item}: {problem}")]
    Invalid {
        item: ItemId,
        /// The defect, with its place.
        problem: String,
        /// True if it is written for a newer version of the format.
        is_newer: bool,
    },
    /// The plugin is not in the source.
    #[error("the plugin `{name}` is not in this source but at `{place}`")]
    Outside {
        /// The name of the plugin.
        name: String,
        /// Its place, as the marketplace gives it.
        place: String,
        /// The address that `brief add` takes, if it has one.
        address: Option<String>,
    },
    #[error("`{name}` is ambiguous: {}", which.join(" or "))]
    Several {
        /// The name that the user typed.
        name: String,
        which: Vec<String>,
    },
    /// The name has one kind, and the option another.
    #[error("`{name}` is not a {kind}")]
    Kind {
        /// The name that the user typed.
        name: String,
        /// The kind in the option.
        kind: String,
    },
}

impl ChooseError {
    /// Returns whether the source is what has to be corrected.
    pub fn is_of_source(&self) -> bool {
        matches!(
            self,
            ChooseError::Empty | ChooseError::Unusable { .. } | ChooseError::Invalid { .. }
        )
    }
}

/// The limit for suggested names.
const SUGGESTED: usize = 3;

/// Returns suggestions for a name: the same name of another kind, or similar names.
fn near_names(registry: &Registry, said: Option<&str>, name: &str) -> Vec<String> {
    let items = registry.items.iter().map(|item| (item.kind().as_str(), item.name()));
    let bundles = registry.bundles.iter().map(|bundle| (BUNDLE, bundle.name()));
    let all: Vec<(&str, &str)> = items.chain(bundles).collect();
    let same = all.iter().filter(|(_, own)| own.eq_ignore_ascii_case(name));
    let same: Vec<String> = same.map(|(kind, own)| format!("{kind}/{own}")).collect();
    if !same.is_empty() {
        return same;
    }
    let fitting = all.iter().filter(|(kind, _)| said.is_none_or(|said| said == *kind));
    let names: Vec<&str> = fitting.map(|(_, own)| *own).collect();
    let mut near = nearest_few(name, &names, SUGGESTED);
    if near.is_empty() {
        // Authors' names have capitals and blanks.
        near = nearest_few(&slugify_name(name), &names, SUGGESTED);
    }
    near.into_iter().map(str::to_owned).collect()
}

/// The word for bundles beside the kinds of items.
const BUNDLE: &str = "bundle";

/// Chooses items of a source by what the user typed: `name`, `kind/name`, or nothing for all of them.
pub fn choose_items(
    registry: &Registry,
    names: &[String],
    kind: Option<&str>,
) -> Result<WantedItems, ChooseError> {
    let mut wanted = WantedItems::default();
    if registry.items.is_empty() && registry.bundles.is_empty() {
        return Err(ChooseError::Empty);
    }
    if names.is_empty() {
        if registry.bundles.is_empty() && !registry.items.iter().any(PortableItem::is_valid) {
            let is_newer = !registry.items.is_empty()
                && registry.items.iter().all(|item| is_newer(item.diagnostics()));
            return Err(ChooseError::Unusable { is_newer });
        }
        match kind {
            None => wanted.all = true,
            Some(BUNDLE) => {
                wanted.bundles = registry.bundles.iter().map(|one| one.name().to_owned()).collect();
            }
            Some(kind) => {
                let of_kind = registry.items.iter().filter(|item| item.kind().as_str() == kind);
                wanted.items = of_kind.map(|item| item.id().clone()).collect();
            }
        }
        if wanted.is_empty() {
            let what = kind.unwrap_or("item").to_owned();
            return Err(ChooseError::Missing { what, near: Vec::new() });
        }
        return Ok(wanted);
    }
    for name in names {
        choose_one(registry, name, kind, &mut wanted)?;
    }
    Ok(wanted)
}

fn choose_one(
    registry: &Registry,
    text: &str,
    kind: Option<&str>,
    wanted: &mut WantedItems,
) -> Result<(), ChooseError> {
    let is_kind = |said: &str| said == BUNDLE || ItemKind::from_name(said).is_some();
    // A path, or a name with a slash in it, may be that of an item.
    let is_path = registry.items.iter().any(|item| item.is_foreign() && item.slashed() == text);
    let (said, name) = match text.split_once('/') {
        Some((said, name)) if is_kind(said.trim_end_matches('s')) && !is_path => {
            (Some(said.trim_end_matches('s')), name)
        }
        _ => (kind, text),
    };
    if let (Some(said), Some(kind)) = (said, kind)
        && said != kind
    {
        return Err(ChooseError::Kind { name: text.to_owned(), kind: kind.to_owned() });
    }
    match found_named(registry, said, name).as_slice() {
        [Some(id)] => {
            let found = registry.find_item(id).map(PortableItem::diagnostics).unwrap_or_default();
            if let Some(problem) = first_error(found, &[]) {
                let is_newer = is_newer(found);
                return Err(ChooseError::Invalid { item: id.clone(), problem, is_newer });
            }
            wanted.items.insert(id.clone());
        }
        [None] => {
            wanted.bundles.insert(name.to_owned());
        }
        [] => {
            if let Some(plugin) = registry.outside.iter().find(|plugin| plugin.name == name) {
                let OutsidePlugin { name, place, address } = plugin.clone();
                return Err(ChooseError::Outside { name, place, address });
            }
            let what = format!("{} `{name}`", said.unwrap_or("item or bundle"));
            return Err(ChooseError::Missing { what, near: near_names(registry, said, name) });
        }
        several => {
            let full_name = |id: &Option<ItemId>| {
                id.as_ref().map_or(format!("{BUNDLE}/{name}"), ItemId::full_name)
            };
            let which = several.iter().map(full_name).collect();
            return Err(ChooseError::Several { name: name.to_owned(), which });
        }
    }
    Ok(())
}

/// Returns everything with a name, of the kind that was said: items, and `None` for a bundle.
fn found_named(registry: &Registry, said: Option<&str>, name: &str) -> Vec<Option<ItemId>> {
    let mut found = Vec::new();
    let is_said = |kind: &str| said.is_none_or(|said| said == kind);
    for kind in ItemKind::ALL.into_iter().filter(|kind| is_said(kind.as_str())) {
        let items = match registry.find_item(&ItemId { kind, name: name.to_owned() }) {
            Some(item) => vec![item],
            None => registry.items_named(kind, name),
        };
        found.extend(items.into_iter().map(|item| Some(item.id().clone())));
    }
    if is_said(BUNDLE) && registry.find_bundle(name).is_some() {
        found.push(None);
    }
    found
}
