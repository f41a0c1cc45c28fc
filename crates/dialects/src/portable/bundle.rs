//! The closure of a bundle: its items and those of all bundles that it requires (§3.7 of the
//! document).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use brief_syntax::yaml::Value;
use brief_syntax::{Diagnostic, Source, Span, rules};

use super::check::template_text;
use super::model::{Bundle, ItemId, RequiredBundle};
use super::registry::Registry;
use super::{file_problem, span_problem};

/// The closure of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Closure {
    /// The bundles, each after those that it requires.
    pub bundles: Vec<String>,
    /// The items of all of them, sorted.
    pub items: BTreeSet<ItemId>,
}

/// The closure of a bundle over several registries, each identified by its index.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WideClosure {
    /// The bundles, each after those that it requires.
    pub bundles: Vec<(usize, String)>,
    /// The items of all bundles, each with the bundles that list it, sorted.
    pub items: BTreeMap<(ItemId, usize), BTreeSet<String>>,
}

/// A bundle that cannot be resolved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BundleError {
    /// A bundle lists an item that does not exist.
    #[error("the bundle `{bundle}` lists the {item}, which does not exist")]
    Unresolved { bundle: String, item: ItemId },
    /// A bundle requires a bundle that does not exist.
    #[error("the bundle `{bundle}` needs the bundle `{name}`, which does not exist")]
    Missing { bundle: String, name: String },
    #[error("the bundle `{bundle}` cannot be used: {problem}")]
    Invalid {
        bundle: String,
        /// The problem, with its place.
        problem: String,
    },
    /// Several other registries have the named item or bundle, and the bundle's own has not.
    #[error("the bundle `{bundle}` lists the {what}, but several sources have it")]
    Ambiguous {
        bundle: String,
        /// The named item or bundle.
        what: String,
    },
    #[error("bundles need each other: {}", chain.join(" -> "))]
    Circle {
        /// The bundles of the cycle; the first one is repeated at the end.
        chain: Vec<String>,
    },
    /// A bundle requires another version.
    #[error("the bundle `{bundle}` needs `{name}` {wanted}, but {found}")]
    Version {
        bundle: String,
        name: String,
        wanted: String,
        /// The existing version, or the reason why it has none.
        found: String,
    },
}

/// Resolves a bundle in one registry.
pub fn resolve_bundle(registry: &Registry, name: &str) -> Result<Closure, Vec<BundleError>> {
    let wide = resolve_among(&[registry], 0, name)?;
    Ok(Closure {
        bundles: wide.bundles.into_iter().map(|(_, name)| name).collect(),
        items: wide.items.into_keys().map(|(id, _)| id).collect(),
    })
}

/// Resolves a bundle of one registry over all registries. A name is looked up in the bundle's own
/// registry first; otherwise exactly one other registry must have it.
pub fn resolve_among(
    registries: &[&Registry],
    home: usize,
    name: &str,
) -> Result<WideClosure, Vec<BundleError>> {
    let start = registries.get(home).and_then(|registry| registry.bundle_index(name));
    let Some(start) = start else {
        let (bundle, name) = (name.to_owned(), name.to_owned());
        return Err(vec![BundleError::Missing { bundle, name }]);
    };
    let mut closure = WideClosure::default();
    let mut errors = Vec::new();
    let mut walk = RequiresWalk::new(registries);
    while let Some(step) = walk.next((home, start)) {
        match step {
            WalkStep::Edge { from, required, to: Ok(to) } => {
                errors.extend(version_problem(from, required, to));
            }
            WalkStep::Edge { from, required, to: Err(candidates) } => {
                let (bundle, name) = (from.name().to_owned(), required.name.clone());
                errors.push(match candidates {
                    0 => BundleError::Missing { bundle, name },
                    _ => BundleError::Ambiguous { bundle, what: format!("bundle `{name}`") },
                });
            }
            WalkStep::Back { .. } => {
                let chain = walk.cycle_names().into_iter().map(str::to_owned).collect();
                errors.push(BundleError::Circle { chain });
            }
            WalkStep::Done(registry, bundle) => {
                let name = bundle.name().to_owned();
                for id in bundle.items() {
                    let bundle = name.clone();
                    match find_in_registries(registries, registry, |registry| {
                        registry.find_item(id)
                    }) {
                        Ok((place, _)) => {
                            closure.items.entry((id.clone(), place)).or_default().insert(bundle);
                        }
                        Err(0) => {
                            errors.push(BundleError::Unresolved { bundle, item: id.clone() });
                        }
                        Err(_) => {
                            errors.push(BundleError::Ambiguous { bundle, what: id.to_string() });
                        }
                    }
                }
                closure.bundles.push((registry, name));
            }
        }
    }
    if errors.is_empty() { Ok(closure) } else { Err(errors) }
}

/// Returns the places at which bundles of `own` name an item or a bundle that is missing there, and
/// that exactly one of `others` has in an accepted version. An installation finds it there
/// ([`resolve_among`]).
pub fn found_elsewhere(own: &Registry, others: &[&Registry]) -> Vec<(Arc<Source>, Span)> {
    let mut found = Vec::new();
    for bundle in &own.bundles {
        let source = &bundle.document.source;
        let mut settle = |span: Span| found.push((Arc::clone(source), span));
        for (id, span) in &bundle.items {
            let candidates = others.iter().filter(|registry| registry.find_item(id).is_some());
            if own.find_item(id).is_none() && candidates.count() == 1 {
                settle(*span);
            }
        }
        for required in &bundle.requires {
            let mut candidates =
                others.iter().filter_map(|registry| registry.find_bundle(&required.name));
            if own.find_bundle(&required.name).is_none()
                && let (Some(only), None) = (candidates.next(), candidates.next())
                && version_problem(bundle, required, only).is_none()
            {
                settle(required.span);
            }
        }
    }
    found
}

/// Looks a name up in the registry that mentions it, or in the only other one that has it. The
/// error is the number of registries that have it.
fn find_in_registries<'r, T>(
    registries: &[&'r Registry],
    home: usize,
    find: impl Fn(&'r Registry) -> Option<T>,
) -> Result<(usize, T), usize> {
    if let Some(found) = registries.get(home).and_then(|registry| find(registry)) {
        return Ok((home, found));
    }
    let others = registries.iter().enumerate().filter(|(place, _)| *place != home);
    let mut found: Vec<(usize, T)> =
        others.filter_map(|(place, registry)| Some((place, find(registry)?))).collect();
    match (found.pop(), found.len()) {
        (Some(only), 0) => Ok(only),
        (None, _) => Err(0),
        (Some(_), others) => Err(others + 1),
    }
}

/// The number of names of a cycle in a message.
const SHOWN: usize = 16;

/// Returns the cycles among all bundles, at most one for each bundle that closes one: the index of this bundle, the
/// place at which it requires the first one, and the message.
fn find_cycles(registry: &Registry) -> Vec<(usize, Span, String)> {
    let mut circles: Vec<(usize, Span, String)> = Vec::new();
    let registries = [registry];
    let mut walk = RequiresWalk::new(&registries);
    for start in 0..registry.bundles.len() {
        while let Some(step) = walk.next((0, start)) {
            let WalkStep::Back { from: (_, from), required } = step else { continue };
            if circles.last().is_some_and(|(last, ..)| *last == from) {
                continue;
            }
            let mut names = walk.cycle_names();
            if names.len() > SHOWN {
                let last = names.len() - SHOWN / 2;
                names.splice(SHOWN / 2..last, ["…"]);
            }
            let chain = names.into_iter().map(str::to_owned).collect();
            let message = BundleError::Circle { chain }.to_string();
            circles.push((from, required.span, message));
        }
    }
    circles
}

/// A bundle: the index of its registry, and its index there.
type BundleIndex = (usize, usize);

/// A depth-first walk along `requires`. It does not recurse, because a hostile registry could
/// overflow the stack.
struct RequiresWalk<'w> {
    registries: &'w [&'w Registry],
    states: Vec<Vec<VisitState>>,
    /// The bundles from the start to the current one, each with twice the index of its next
    /// requirement.
    chain: Vec<(BundleIndex, usize)>,
    /// The index in `chain` at which the last cycle begins.
    circle: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VisitState {
    New,
    /// It is at this index of the chain.
    On(usize),
    Done,
}

enum WalkStep<'w> {
    /// A bundle requires another; the error is the number of bundles with that name.
    Edge { from: &'w Bundle, required: &'w RequiredBundle, to: Result<&'w Bundle, usize> },
    /// A bundle requires one of its ancestors in the chain.
    Back { from: BundleIndex, required: &'w RequiredBundle },
    /// Everything that a bundle requires has been walked.
    Done(usize, &'w Bundle),
}

impl<'w> RequiresWalk<'w> {
    fn new(registries: &'w [&'w Registry]) -> Self {
        let states =
            registries.iter().map(|one| vec![VisitState::New; one.bundles.len()]).collect();
        RequiresWalk { registries, states, chain: Vec::new(), circle: 0 }
    }

    /// Takes the next step of the walk from a bundle.
    fn next(&mut self, start: BundleIndex) -> Option<WalkStep<'w>> {
        if self.chain.is_empty() && !self.enter_bundle(start) {
            return None;
        }
        loop {
            let on = self.chain.len() - 1;
            let (place, number) = self.chain[on];
            let bundle = self.bundle_at(place);
            // Every requirement is visited twice: as an edge, then to enter the required bundle.
            let Some(required) = bundle.requires().get(number / 2) else {
                self.chain.pop();
                self.states[place.0][place.1] = VisitState::Done;
                return Some(WalkStep::Done(place.0, bundle));
            };
            self.chain[on].1 += 1;
            let to = find_in_registries(self.registries, place.0, |registry| {
                registry.bundle_index(&required.name)
            });
            if number % 2 == 0 {
                let to = to.map(|to| self.bundle_at(to));
                return Some(WalkStep::Edge { from: bundle, required, to });
            }
            let Ok(to) = to else { continue };
            if let VisitState::On(on) = self.states[to.0][to.1] {
                self.circle = on;
                return Some(WalkStep::Back { from: place, required });
            }
            self.enter_bundle(to);
        }
    }

    fn bundle_at(&self, (registry, index): BundleIndex) -> &'w Bundle {
        &self.registries[registry].bundles[index]
    }

    fn enter_bundle(&mut self, place: BundleIndex) -> bool {
        let state = &mut self.states[place.0][place.1];
        let is_new = *state == VisitState::New;
        if is_new {
            *state = VisitState::On(self.chain.len());
            self.chain.push((place, 0));
        }
        is_new
    }

    /// Returns the names of the last cycle; the first one is repeated at the end.
    fn cycle_names(&self) -> Vec<&'w str> {
        let name = |&(place, _): &(BundleIndex, usize)| self.bundle_at(place).name();
        let around = &self.chain[self.circle..];
        around.iter().chain(around.first()).map(name).collect()
    }
}

/// Returns an error if a bundle does not have the required version.
pub(super) fn version_problem(
    bundle: &Bundle,
    required: &RequiredBundle,
    other: &Bundle,
) -> Option<BundleError> {
    let wanted = required.version.as_deref()?;
    let problem = |found: String| {
        let (bundle, name) = (bundle.name().to_owned(), other.name().to_owned());
        Some(BundleError::Version { bundle, name, wanted: wanted.to_owned(), found })
    };
    let Ok(range) = semver::VersionReq::parse(wanted) else {
        return problem("that is not a version range".to_owned());
    };
    match other.version() {
        None => problem("it has no version".to_owned()),
        Some(version) => match semver::Version::parse(version) {
            Ok(found) if range.matches(&found) => None,
            Ok(_) => problem(format!("it has version {version}")),
            Err(_) => problem(format!("its version `{version}` is not valid")),
        },
    }
}

/// Reports a bundle that lists nothing: a project that installs it gets nothing.
fn check_empty_bundle(bundle: &Bundle) -> Option<Diagnostic> {
    let is_empty = bundle.plugin.is_none() && bundle.items.is_empty() && bundle.requires.is_empty();
    // A field that is missing or of another type is reported as that.
    let node = bundle.document.field("items").filter(|_| is_empty)?;
    let is_nothing = |value: &Value<'_>| match value {
        Value::Null => true,
        Value::Sequence(list) => list.iter().next().is_none(),
        _ => false,
    };
    // A newer version of the format may have lists of other kinds.
    let lists_nothing = match node.value() {
        Value::Mapping(lists) => lists.fields().all(|list| is_nothing(&list.value.value())),
        value => matches!(value, Value::Null),
    };
    if !lists_nothing {
        return None;
    }
    let message = format!("the bundle `{}` has no items: installing it does nothing", bundle.name);
    let help = "list item names below `items`, or require another bundle";
    let source = &bundle.document.source;
    Some(span_problem(rules::item::EMPTY_BUNDLE, source, node.span(), message, help))
}

/// §3.7: checks the items and requirements of bundles.
pub(super) fn check_bundles(registry: &mut Registry) {
    let mut all = Vec::new();
    for (index, bundle) in registry.bundles.iter().enumerate() {
        let source = &bundle.document.source;
        let mut found = Vec::new();
        if let Some(first) =
            registry.bundles[..index].iter().find(|other| other.name == bundle.name)
        {
            let message = format!("the bundle `{}` is also in {}", bundle.name, first.slashed);
            let help = "rename one of them";
            found.push(file_problem(rules::item::DUPLICATE_ITEM, source, message, help));
        }
        found.extend(check_empty_bundle(bundle));
        found.extend(template_text(None, &bundle.document).filter(|_| bundle.plugin.is_none()));
        for (id, span) in &bundle.items {
            if registry.find_item(id).is_none() {
                let message =
                    format!("the bundle `{}` lists the {id}, which does not exist", bundle.name);
                let help = "fix the name, or add the item";
                found.push(span_problem(
                    rules::item::BUNDLE_UNRESOLVED,
                    source,
                    *span,
                    message,
                    help,
                ));
            }
        }
        for required in &bundle.requires {
            let message = match registry.find_bundle(&required.name) {
                None => Some(format!("the bundle `{}` does not exist", required.name)),
                Some(other) => {
                    let problem = version_problem(bundle, required, other);
                    problem.map(|problem| problem.to_string())
                }
            };
            found.extend(message.map(|message| {
                let (rule, help) = (rules::item::BUNDLE_REQUIRES, "fix the name or the version");
                span_problem(rule, source, required.span, message, help)
            }));
        }
        all.push(found);
    }
    for (index, span, message) in find_cycles(registry) {
        let source = &registry.bundles[index].document.source;
        let help = "remove one of them from `requires`";
        all[index].push(span_problem(rules::item::BUNDLE_CYCLE, source, span, message, help));
    }
    for (bundle, mut found) in registry.bundles.iter_mut().zip(all) {
        bundle.diagnostics.append(&mut found);
    }
}
