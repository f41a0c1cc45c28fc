//! Items of a directory as artifacts.
//!
//! An item is an artifact with one layer. A bundle is an artifact with its own file and the layers of its items,
//! so that it is complete by itself, and nothing is kept twice. A whole source is an index of all of them. Only
//! the outermost manifest names the revision: an item that did not change keeps its digest.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_dialects::portable::{Bundle, PortableItem, Registry, bundle};
use brief_profiles::OwnClients;
use brief_syntax::{Diagnostic, Root, Source};
use brief_system::{Permission, System};
use serde::Serialize;

use super::archive::{PackedFile, pack_files};
use super::checkout::in_parallel;
use super::error::OciError;
use super::model::{
    BUNDLE, CREATED, Descriptor, Document, EMPTY_BYTES, ITEM, LAYER, ORIGIN, REVISION, SOURCE,
    TITLE, VERSION, digest_of,
};
use super::reference::{DEFAULT_TAG, OciSource};
use super::signature::{self, SigningKey};
use super::store::{Fetched, Purpose, Store, open_store};
use crate::history::{HistoryError, Repository};
use crate::install::{ChooseError, choose_items, read_items};
use crate::latest::is_version;
use crate::outputs::filter_errors;
use crate::outputs::item::ItemFiles;
use crate::sigstore::check_subject;

/// The name of the part with the clients that a source describes.
const CLIENTS: &str = "clients";

pub struct PublishRequest<'p> {
    /// The directory of the source.
    pub directory: &'p Path,
    /// The names of items and bundles; empty for the whole source.
    pub names: &'p [String],
    /// The repository and the tag.
    pub target: &'p OciSource,
    /// The version that the artifact names, instead of that of its item.
    pub version: Option<&'p str>,
    /// The key to sign with.
    pub key: Option<&'p SigningKey>,
    /// A bundle of Sigstore that another tool has made about the artifact.
    pub bundle: Option<&'p str>,
    /// The names of the clients that items may be for.
    pub clients: &'p [&'p str],
    /// True to push; otherwise only the digests are computed.
    pub push: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishReport {
    /// The digest of the outermost manifest.
    pub digest: String,
    pub tag: String,
    pub parts: Vec<PublishedPart>,
    pub layers: usize,
    /// The bytes of all layers.
    pub bytes: u64,
    /// The revision of the files, if they are committed.
    pub revision: Option<String>,
    /// The signer, if there is one.
    pub signer: Option<String>,
    /// The digest of the signature, if there is one.
    pub signature: Option<String>,
    pub notes: Vec<String>,
}

/// A published item or bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PublishedPart {
    /// The name with its kind: `skill/release-notes`.
    pub name: String,
    /// The version, if it has one.
    pub version: Option<String>,
    /// The digest of its manifest.
    pub digest: String,
    /// The bytes of its layers.
    pub bytes: u64,
}

/// Items that cannot be published.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// The directory cannot be read.
    #[error("cannot open the directory `{}`: {problem}", path.display())]
    Directory { path: PathBuf, problem: String },
    /// The names cannot be resolved.
    #[error(transparent)]
    Choose(#[from] ChooseError),
    #[error("some items are invalid; nothing was published")]
    Invalid(Vec<Diagnostic>),
    /// A bundle cannot be resolved.
    #[error("cannot resolve the bundle `{bundle}`: {problem}")]
    Bundle {
        /// The name of the bundle.
        bundle: String,
        problem: String,
    },
    /// The address names a digest, which follows from the content.
    #[error(
        "cannot publish to the digest in `{0}`: brief computes the digest from the content; name a tag"
    )]
    Digest(String),
    /// A version leads to something else already.
    #[error("`{tag}` is already published with different content: {digest}")]
    Taken {
        tag: String,
        /// The digest that it has.
        digest: String,
    },
    /// A bundle of another tool is not about the artifact.
    #[error("the Sigstore bundle does not match {digest}: {problem}")]
    Bundled {
        /// The digest of the artifact.
        digest: String,
        problem: String,
    },
    /// The repository of the files cannot be read.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// The registry or directory cannot take it.
    #[error(transparent)]
    Oci(#[from] OciError),
}

/// Everything that is pushed, in memory.
#[derive(Default)]
struct Artifacts {
    layers: BTreeMap<String, Vec<u8>>,
    /// The files of each layer.
    files: BTreeMap<String, Vec<PackedFile>>,
    parts: Vec<(PublishedPart, Document)>,
}

/// Publishes items of a directory.
pub fn publish_items(
    system: &Arc<dyn System>,
    request: &PublishRequest<'_>,
) -> Result<PublishReport, PublishError> {
    let target = request.target;
    if target.digest().is_some() {
        return Err(PublishError::Digest(target.to_string()));
    }
    let tag = target.reference.as_deref().unwrap_or(DEFAULT_TAG);
    let unreadable =
        |problem: String| PublishError::Directory { path: request.directory.to_owned(), problem };
    let own: &dyn System = system.as_ref();
    let root = Root::open(own, request.directory).map_err(|error| unreadable(error.to_string()))?;
    let registry = read_items(own, &root, request.clients, false, root.path());
    let mut artifacts = Artifacts::default();
    artifacts.collect_items(own, &root, &registry, request)?;

    let mut notes = Vec::new();
    let mut annotations = BTreeMap::new();
    let origin = match Repository::find_enclosing(Arc::clone(system), root.path()) {
        Ok(repository) => {
            let files = artifacts.files.values().flatten();
            let files = files.map(|file| (file.path.as_str(), file.bytes.as_slice()));
            let origin = repository.origin_of(root.path(), files)?;
            if origin.is_none() {
                notes.push(
                    "the artifact records no revision: the repository has uncommitted files"
                        .to_owned(),
                );
            }
            origin
        }
        Err(HistoryError::NoRepository(_) | HistoryError::GitMissing) => None,
        Err(error) => return Err(error.into()),
    };
    if let Some(origin) = &origin {
        annotations.insert(REVISION.to_owned(), origin.revision.clone());
        let time = humantime::format_rfc3339_seconds(origin.time).to_string();
        annotations.insert(CREATED.to_owned(), time);
        annotations.extend(origin.address.clone().map(|address| (ORIGIN.to_owned(), address)));
    }
    annotations.extend(request.version.map(|version| (VERSION.to_owned(), version.to_owned())));

    let (top, children) = artifacts.build_manifests(annotations);
    let mut report = PublishReport {
        digest: top.digest.clone(),
        tag: tag.to_owned(),
        parts: artifacts.parts.into_iter().map(|(part, _)| part).collect(),
        layers: artifacts.layers.len(),
        bytes: artifacts.layers.values().map(|bytes| bytes.len() as u64).sum(),
        revision: origin.map(|origin| origin.revision),
        signer: request.key.map(SigningKey::signer),
        signature: None,
        notes,
    };
    if let [part] = report.parts.as_mut_slice() {
        part.digest.clone_from(&report.digest);
    }
    if let Some(bundle) = request.bundle {
        check_subject(bundle, &top.bytes).map_err(|problem| PublishError::Bundled {
            digest: top.digest.clone(),
            problem: problem.to_string(),
        })?;
    }
    if request.push {
        let store = open_store(own, target, Purpose::Write);
        let layers: Vec<(String, Vec<u8>)> = artifacts.layers.into_iter().collect();
        let (store, subject) = (store.as_ref(), top.descriptor());
        push_artifacts(store, tag, &layers, &children, &top)?;
        if request.key.is_some() || request.bundle.is_some() {
            store.put_manifest(&top, None)?;
        }
        if let Some(key) = request.key {
            let repository = target.repository();
            report.signature = Some(signature::sign_artifact(store, &repository, &subject, key)?);
        }
        if let Some(bundle) = request.bundle {
            report.signature =
                Some(signature::attach_bundle(store, &subject, bundle.as_bytes(), None)?);
        }
        store.put_manifest(&top, Some(tag))?;
    }
    Ok(report)
}

/// Pushes everything below the outermost manifest, from the inside out. That and its signature follow, and the tag is set
/// last, so that it always leads to something complete.
fn push_artifacts(
    store: &dyn Store,
    tag: &str,
    layers: &[(String, Vec<u8>)],
    children: &[Fetched],
    top: &Fetched,
) -> Result<(), PublishError> {
    if is_version(tag) {
        // A version stays what it is.
        match store.resolve_tag(tag) {
            Ok(digest) if digest != top.digest => {
                return Err(PublishError::Taken { tag: tag.to_owned(), digest });
            }
            Ok(_) | Err(OciError::Missing { .. } | OciError::Shape { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    store.put_blob(&digest_of(EMPTY_BYTES), EMPTY_BYTES)?;
    in_parallel(layers, |(digest, bytes)| store.put_blob(digest, bytes))?;
    in_parallel(children, |child| store.put_manifest(child, None))?;
    Ok(())
}

impl Artifacts {
    /// Collects the chosen items and bundles, with everything that they need.
    fn collect_items(
        &mut self,
        system: &dyn System,
        root: &Root,
        registry: &Registry,
        request: &PublishRequest<'_>,
    ) -> Result<(), PublishError> {
        let wanted = choose_items(registry, request.names, None)?;
        let bundles: Vec<&Bundle> = registry
            .bundles
            .iter()
            .filter(|one| wanted.all || wanted.bundles.contains(one.name()))
            .collect();
        let items: Vec<&PortableItem> = registry
            .items
            .iter()
            .filter(|one| wanted.all || wanted.items.contains(one.id()))
            .collect();
        let mut problems = Vec::new();
        let mut layer_of: BTreeMap<String, Descriptor> = BTreeMap::new();
        for item in &registry.items {
            let is_chosen = items.iter().any(|one| one.id() == item.id());
            let found = if item.is_valid() {
                ItemFiles::read(system, root, item).map_err(|problem| vec![*problem])
            } else {
                Err(filter_errors(item.diagnostics()).cloned().collect())
            };
            match found {
                Ok(files) => {
                    let packed = item_files(root, item, &files)?;
                    layer_of.insert(item.id().full_name(), self.add_layer(packed)?);
                }
                Err(found) if is_chosen => problems.extend(found),
                Err(_) => {}
            }
        }
        for one in &bundles {
            problems.extend(filter_errors(one.diagnostics()).cloned());
        }
        if !problems.is_empty() {
            return Err(PublishError::Invalid(problems));
        }
        let mut used = BTreeSet::new();
        for item in items {
            let name = item.id().full_name();
            let Some(layer) = layer_of.get(&name) else { continue };
            used.insert(layer.digest.clone());
            self.add_part(ITEM, name, item.version(), vec![layer.clone()]);
        }
        for one in bundles {
            let layers = self.bundle_layers(root, registry, one, &layer_of)?;
            used.extend(layers.iter().map(|layer| layer.digest.clone()));
            self.add_part(BUNDLE, format!("bundle/{}", one.name()), one.version(), layers);
        }
        let described = OwnClients::read_project(system, root.path()).sources;
        if wanted.all && !described.is_empty() {
            let files = described.iter().map(|source| pack_source(root, source));
            let files: Result<Vec<PackedFile>, OciError> = files.collect();
            let layer = self.add_layer(files?)?;
            used.insert(layer.digest.clone());
            self.add_part(ITEM, CLIENTS.to_owned(), None, vec![layer]);
        }
        self.layers.retain(|digest, _| used.contains(digest));
        self.files.retain(|digest, _| used.contains(digest));
        Ok(())
    }

    /// Returns the layers of a bundle: its file, those of the bundles that it requires, and those of all items.
    fn bundle_layers(
        &mut self,
        root: &Root,
        registry: &Registry,
        one: &Bundle,
        layer_of: &BTreeMap<String, Descriptor>,
    ) -> Result<Vec<Descriptor>, PublishError> {
        let failed =
            |problem: String| PublishError::Bundle { bundle: one.name().to_owned(), problem };
        let closure = bundle::resolve_bundle(registry, one.name()).map_err(|errors| {
            let all: Vec<String> = errors.iter().map(ToString::to_string).collect();
            failed(all.join("; "))
        })?;
        let mut layers = Vec::new();
        for name in &closure.bundles {
            let file = registry
                .find_bundle(name)
                .map(|found| pack_source(root, found.document().source()));
            let file =
                file.transpose()?.ok_or_else(|| failed(format!("file not found: `{name}`")))?;
            layers.push(self.add_layer(vec![file])?);
        }
        for id in &closure.items {
            let layer = layer_of.get(&id.full_name());
            let layer = layer.ok_or_else(|| failed(format!("the {id} is missing or invalid")))?;
            layers.push(layer.clone());
        }
        layers.sort();
        layers.dedup();
        Ok(layers)
    }

    fn add_layer(&mut self, mut files: Vec<PackedFile>) -> Result<Descriptor, OciError> {
        let bytes = pack_files(&mut files).map_err(|error| {
            OciError::wrong_shape("the source", format!("cannot pack a path: {error}"))
        })?;
        let descriptor = Descriptor::from_bytes(LAYER, &bytes);
        self.files.insert(descriptor.digest.clone(), files);
        self.layers.insert(descriptor.digest.clone(), bytes);
        Ok(descriptor)
    }

    fn add_part(
        &mut self,
        kind: &str,
        name: String,
        version: Option<&str>,
        layers: Vec<Descriptor>,
    ) {
        let bytes = layers.iter().map(|layer| layer.size).sum();
        let mut document = Document::new_manifest(kind, layers);
        document.annotations.insert(TITLE.to_owned(), name.clone());
        let version = version.map(str::to_owned);
        document.annotations.extend(version.clone().map(|text| (VERSION.to_owned(), text)));
        let digest = digest_of(&document.to_bytes());
        self.parts.push((PublishedPart { name, version, digest, bytes }, document));
    }

    /// Returns the outermost manifest, and those that it lists.
    fn build_manifests(&self, annotations: BTreeMap<String, String>) -> (Fetched, Vec<Fetched>) {
        if let [(_, only)] = self.parts.as_slice() {
            let mut document = only.clone();
            document.annotations.extend(annotations);
            return (Fetched::from_document(document), Vec::new());
        }
        let children: Vec<Fetched> = self
            .parts
            .iter()
            .map(|(_, document)| Fetched::from_document(document.clone()))
            .collect();
        let entries = children.iter().map(|child| {
            let mut entry = child.descriptor();
            entry.annotations.clone_from(&child.document.annotations);
            entry
        });
        let mut index = Document::new_index(Some(SOURCE), entries.collect());
        index.annotations = annotations;
        (Fetched::from_document(index), children)
    }
}

/// Returns the files of an item, with their paths in the source.
fn item_files(
    root: &Root,
    item: &PortableItem,
    files: &ItemFiles,
) -> Result<Vec<PackedFile>, OciError> {
    let mut all = vec![pack_source(root, item.document().source())?];
    for own in item.overrides() {
        all.push(pack_source(root, &own.source)?);
    }
    let mut failed = None;
    files.read_each(|path, content, permission| match content {
        Ok(bytes) => all.push(PackedFile {
            path: format!("{}/{path}", item.slashed()),
            bytes,
            program: permission == Permission::Program,
        }),
        Err(error) => failed = Some((path.to_owned(), error)),
    });
    match failed {
        Some((path, error)) => Err(OciError::Disk { path, problem: error.to_string() }),
        None => Ok(all),
    }
}

/// Returns a text of the source as a file.
fn pack_source(root: &Root, source: &Source) -> Result<PackedFile, OciError> {
    let below = source.path().strip_prefix(root.path()).ok().and_then(Path::to_str);
    let below = below.ok_or_else(|| OciError::Disk {
        path: source.path().display().to_string(),
        problem: "its path is outside the source or not UTF-8".to_owned(),
    })?;
    let path = below.replace('\\', "/");
    Ok(PackedFile { path, bytes: source.bytes_from_line(0).to_vec(), program: false })
}
