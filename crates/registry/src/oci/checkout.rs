//! The files of an artifact in the user's cache, one directory per digest.
//!
//! ```text
//! ~/.cache/brief/oci/registry.example-acme-guidance-1a2b3c4d5e6f/
//!   refs/…                 which digest a tag had, last time
//!   trees/DIGEST/tree      the files
//!   trees/DIGEST/blobs     the manifests and layers that they came from
//! ```
//!
//! As with commits, a directory is put in place whole, by one rename, and then never changed. The next digest of
//! the same repository takes equal layers from there instead of the registry.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use brief_outgoing::CONNECTIONS;
use brief_syntax::limits;
use brief_system::System;
use serde::{Deserialize, Serialize};

use super::archive::{PackedFile, Space, unpack_archive};
use super::error::OciError;
use super::model::{
    BUNDLE, CREATED, Descriptor, Document, ITEM, MANIFEST_BYTES, MOST_PARTS, ORIGIN, REVISION,
    SKILLS, SOURCE, TITLE, VERSION, digest_of,
};
use super::reference::{OciPlace, OciSource, is_digest};
use super::signature::{self, Evidence};
use super::store::{Fetched, Purpose, Store, open_store};
use crate::address::one_line;
use crate::cache::{Cache, Checkout, Event, Network};
use crate::error::FetchError;
use crate::extract::safe_path;
use crate::latest::{Latest, is_version};
use crate::parallel::try_in_parallel;
use crate::staged::{RepositoryDir, io_error};

/// The limit for the directories of earlier digests that are looked into.
const MOST_TREES: usize = 100;

/// The limit for the bytes of the facts of an artifact.
const FACTS_BYTES: u64 = 8 * 1024 * 1024;

/// The origin of an artifact, as its publisher and its signatures say.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Provenance {
    /// The bundles about it, whether they count or not.
    #[serde(default)]
    pub(crate) evidence: Vec<Evidence>,
    /// The time of the revision, as the publisher says.
    pub created: Option<String>,
    /// The version, as the publisher says.
    pub version: Option<String>,
    /// The revision of the sources.
    pub revision: Option<String>,
    /// The address of the sources.
    pub origin: Option<String>,
}

/// The cache slot of one artifact.
pub(crate) struct OciSlot<'a> {
    directory: RepositoryDir<'a>,
    source: &'a OciSource,
    shown: String,
    store: OnceCell<Box<dyn Store + 'a>>,
}

/// The files of an artifact, and what it was made from.
struct Content {
    files: BTreeMap<String, PackedFile>,
    blobs: BTreeMap<String, Vec<u8>>,
    provenance: Provenance,
    notes: Vec<String>,
}

impl<'a> OciSlot<'a> {
    pub(crate) fn new(cache: &'a Cache<'_>, source: &'a OciSource) -> OciSlot<'a> {
        let name = match &source.place {
            OciPlace::Registry { host, path } => format!("{host}-{path}"),
            OciPlace::Layout(path) => {
                path.file_name().unwrap_or_default().to_string_lossy().into_owned()
            }
        };
        let plain =
            |sign: char| if sign.is_ascii_alphanumeric() || sign == '.' { sign } else { '-' };
        let slug: String = name.chars().map(plain).take(60).collect();
        let slug = slug.trim_start_matches(['.', '-']);
        let parent = cache.directory.with_file_name("oci");
        OciSlot {
            directory: RepositoryDir::new(cache, &parent, slug, &source.repository()),
            source,
            shown: source.to_string(),
            store: OnceCell::new(),
        }
    }

    fn system(&self) -> &'a dyn System {
        self.directory.system
    }

    fn tree_path(&self, digest: &str) -> PathBuf {
        self.directory.path.join("trees").join(digest.trim_start_matches("sha256:"))
    }

    fn prepare_directories(&self) -> Result<(), FetchError> {
        self.directory.prepare_directories(&["refs", "trees"])
    }

    /// Returns the one client for all requests, which keeps its connections and its token.
    fn store(&self) -> &dyn Store {
        self.store.get_or_init(|| open_store(self.system(), self.source, Purpose::Read)).as_ref()
    }

    /// Returns the files at the digest that the source's tag has now. If the registry does not answer, those of
    /// an earlier run are used, and a note says so.
    pub(crate) fn checkout_reference(&self, network: Network) -> Result<Checkout, FetchError> {
        if let Some(digest) = self.source.digest() {
            return self.checkout_digest(digest, network);
        }
        if network == Network::Offline {
            return self.find_earlier_checkout()?.ok_or_else(|| self.not_cached());
        }
        let found =
            self.resolve_reference().and_then(|digest| self.checkout_digest(&digest, network));
        match found {
            Ok(checkout) => {
                self.directory
                    .record_commit(self.source.reference_or_default(), &checkout.commit)?;
                Ok(checkout)
            }
            Err(error) if error.is_about_reach() => match self.find_earlier_checkout()? {
                Some(mut checkout) => {
                    let digest = checkout.commit.get(..19).unwrap_or_default();
                    let note = format!("{error}; using {digest} from an earlier run");
                    checkout.notes.insert(0, note);
                    Ok(checkout)
                }
                None => Err(error),
            },
            Err(error) => Err(error),
        }
    }

    /// Returns the files of one digest. Asks the registry only for what is not in the cache.
    pub(crate) fn checkout_digest(
        &self,
        digest: &str,
        network: Network,
    ) -> Result<Checkout, FetchError> {
        if let Some(checkout) = self.find_cached_checkout(digest)? {
            return Ok(checkout);
        }
        if network == Network::Offline {
            return Err(self.not_cached());
        }
        self.prepare_directories()?;
        self.directory.notify_observer(Event::Fetching { repository: &self.shown, commit: digest });
        let content = self.fetch_content(digest)?;
        self.store_content(digest, &content)?;
        self.find_cached_checkout(digest)?
            .ok_or_else(|| io_error(&self.tree_path(digest))(io::ErrorKind::NotFound.into()))
    }

    /// Asks for the digest of the source's tag, with one request.
    pub(crate) fn resolve_reference(&self) -> Result<String, FetchError> {
        if let Some(digest) = self.source.digest() {
            return Ok(digest.to_owned());
        }
        self.directory.notify_observer(Event::Asking { repository: &self.shown });
        Ok(self.store().resolve_tag(self.source.reference_or_default())?)
    }

    /// Asks for the digest of the source's tag, and for newer tags if the tag is a version.
    pub(crate) fn query_latest(&self) -> Result<Latest, FetchError> {
        let commit = self.resolve_reference()?;
        let tags = match &self.source.reference {
            Some(tag) if is_version(tag) => {
                Vec::from_iter(self.store().list_tags()?.into_iter().collect::<BTreeSet<_>>())
            }
            _ => Vec::new(),
        };
        Ok(Latest { commit, tags })
    }

    /// Asks for the bundles about a digest that is in the cache: a signature may have come later.
    pub(crate) fn fetch_evidence(&self, digest: &str) -> Result<Vec<Evidence>, FetchError> {
        self.directory.notify_observer(Event::Asking { repository: &self.shown });
        Ok(signature::fetch_evidence(self.store(), digest)?)
    }

    fn not_cached(&self) -> FetchError {
        FetchError::NotCached { repository: self.shown.clone() }
    }

    /// Returns the files of the digest that an earlier run resolved.
    fn find_earlier_checkout(&self) -> Result<Option<Checkout>, FetchError> {
        match self
            .directory
            .find_recorded_commit(self.source.reference_or_default())
            .filter(|line| is_digest(line))
        {
            Some(digest) => self.find_cached_checkout(&digest),
            None => Ok(None),
        }
    }

    /// Returns the files of a digest if the cache has them.
    fn find_cached_checkout(&self, digest: &str) -> Result<Option<Checkout>, FetchError> {
        let tree = self.tree_path(digest);
        if self.system().open_dir(&tree).is_err() {
            return Ok(None);
        }
        let notes = self.directory.read_file(&tree.join("notes"), FACTS_BYTES)?;
        let notes = String::from_utf8_lossy(&notes).lines().map(str::to_owned).collect();
        let facts = tree.join("facts.json");
        let provenance = serde_json::from_slice(&self.directory.read_file(&facts, FACTS_BYTES)?)
            .map_err(|error| io_error(&facts)(error.into()))?;
        let directory = tree.join("tree");
        Ok(Some(Checkout { directory, commit: digest.to_owned(), notes, provenance }))
    }

    /// Puts the files of a digest in place.
    fn store_content(&self, digest: &str, content: &Content) -> Result<(), FetchError> {
        let staged = self.directory.create_staged_dir()?;
        let root = staged.create_dir("tree")?;
        staged.create_dir("blobs")?;
        let mut directories = BTreeSet::from([root.clone()]);
        for file in content.files.values() {
            let path = root.join(&file.path);
            let parent = path.parent().unwrap_or(&root);
            if directories.insert(parent.to_owned()) {
                self.system().create_dir(parent).map_err(io_error(parent))?;
            }
            let outcome = if file.program {
                self.system().create_program(&path, &file.bytes)
            } else {
                self.system().create_staged_file(&path, &file.bytes)
            };
            outcome.map_err(io_error(&path))?;
        }
        for (digest, bytes) in &content.blobs {
            staged.write_file(&format!("blobs/{}", digest.trim_start_matches("sha256:")), bytes)?;
        }
        let facts = serde_json::to_vec(&content.provenance).unwrap_or_default();
        staged.write_file("facts.json", &facts)?;
        staged.write_file("notes", content.notes.join("\n").as_bytes())?;
        staged.move_into_place(&self.tree_path(digest))
    }

    /// Returns the files in the cache that earlier digests of the repository were made from, by digest. Each directory is
    /// listed once: looking for each of some thousand contents in each of a hundred directories would take longer than fetching them.
    fn earlier_blobs(&self) -> BTreeMap<String, PathBuf> {
        let directory = self.directory.path.join("trees");
        let names = |path: &Path| {
            let handle = self.system().open_dir(path).ok()?;
            let entries = handle.first_entries(limits::REMOTE_FILES).ok()?;
            Some(entries.into_iter().filter_map(|entry| entry.name.into_string().ok()))
        };
        let trees = names(&directory).into_iter().flatten().take(MOST_TREES);
        let blobs = trees.flat_map(|tree| {
            let blobs = directory.join(tree).join("blobs");
            let found = names(&blobs).into_iter().flatten();
            found.map(|name| (format!("sha256:{name}"), blobs.join(name))).collect::<Vec<_>>()
        });
        blobs.collect()
    }

    /// Fetches everything of a digest.
    fn fetch_content(&self, digest: &str) -> Result<Content, FetchError> {
        let store = self.store();
        let (system, shown, earlier) = (self.system(), self.shown.as_str(), self.earlier_blobs());
        let known = |digest: &str, limit: u64| {
            read_cached_content(system, earlier.get(digest)?, digest, limit)
        };
        let manifest = |digest: &String| match known(digest, MANIFEST_BYTES) {
            Some(bytes) => Fetched::new(shown, bytes),
            None => store.read_manifest(digest),
        };
        let top = manifest(&digest.to_owned())?;
        let parts = if top.document.is_index() {
            let children = top.document.manifests.iter().flatten();
            let children: BTreeSet<String> = children.map(|child| child.digest.clone()).collect();
            in_parallel(&Vec::from_iter(children), manifest)?
        } else {
            vec![top.clone()]
        };
        let mut layers: BTreeMap<String, Descriptor> = BTreeMap::new();
        for part in &parts {
            if part.document.is_index() {
                return Err(self.wrong_shape("has a nested index").into());
            }
            self.check_kind(&part.document)?;
            for layer in part.document.layers.iter().flatten() {
                layers.insert(layer.digest.clone(), layer.clone());
            }
        }
        let size = layers.values().fold(0u64, |sum, layer| sum.saturating_add(layer.size));
        if size > limits::REMOTE_BYTES || layers.len() > MOST_PARTS {
            let limit = limits::REMOTE_BYTES;
            return Err(OciError::too_large(&self.shown, "the artifact", limit).into());
        }
        let layers: Vec<Descriptor> = layers.into_values().collect();
        let contents =
            in_parallel(&layers, |layer| match known(&layer.digest, limits::REMOTE_BYTES) {
                Some(bytes) => Ok(bytes),
                None => store.read_blob(layer, limits::REMOTE_BYTES),
            })?;
        let mut blobs: BTreeMap<String, Vec<u8>> =
            layers.into_iter().map(|layer| layer.digest).zip(contents).collect();
        let (files, notes) = self.unpack_all(&parts, &blobs)?;
        let evidence = signature::fetch_evidence(store, digest)?;
        let said = |key: &str| top.document.find_annotation(key).map(one_line);
        let provenance = Provenance {
            evidence,
            created: said(CREATED),
            version: said(VERSION),
            revision: said(REVISION),
            origin: said(ORIGIN),
        };
        for part in parts.into_iter().chain([top]) {
            blobs.insert(part.digest, part.bytes);
        }
        Ok(Content { files, blobs, provenance, notes })
    }

    /// Refuses an artifact that carries no guidance.
    fn check_kind(&self, document: &Document) -> Result<(), OciError> {
        let kind = document.kind().unwrap_or_default();
        if [ITEM, BUNDLE].contains(&kind) || SKILLS.contains(&kind) {
            return Ok(());
        }
        Err(match kind {
            "application/vnd.oci.image.config.v1+json"
            | "application/vnd.docker.container.image.v1+json" => {
                self.wrong_shape("is a container image, not guidance")
            }
            "" => self.wrong_shape("has no artifact type"),
            SOURCE => self.wrong_shape("is a source artifact, not an index"),
            kind => {
                let kind = one_line(kind);
                self.wrong_shape(&format!("unknown artifact type `{kind}`"))
            }
        })
    }

    fn wrong_shape(&self, problem: &str) -> OciError {
        OciError::wrong_shape(&self.shown, problem)
    }

    /// Unpacks all layers, each once.
    fn unpack_all(
        &self,
        parts: &[Fetched],
        blobs: &BTreeMap<String, Vec<u8>>,
    ) -> Result<(BTreeMap<String, PackedFile>, Vec<String>), OciError> {
        let mut files: BTreeMap<String, PackedFile> = BTreeMap::new();
        let (mut space, mut seen, mut links) = (Space::default(), BTreeSet::new(), 0);
        for part in parts {
            let is_ours = [ITEM, BUNDLE].contains(&part.document.kind().unwrap_or_default());
            let mut own = Vec::new();
            for layer in part.document.layers.iter().flatten() {
                if is_ours && !seen.insert(&layer.digest) {
                    continue;
                }
                let Some(bytes) = blobs.get(&layer.digest) else { continue };
                if is_archive(&layer.media_type) {
                    let (found, skipped) = unpack_archive(&self.shown, bytes, &mut space)?;
                    own.extend(found);
                    links += skipped;
                } else if let Some(title) = layer.annotations.get(TITLE).filter(|_| !is_ours) {
                    // One file for each layer, as general tools for artifacts push them.
                    let safe = safe_path(title.as_bytes()).filter(|path| path.to_str().is_some());
                    if safe.is_none() {
                        let (repository, name) = (self.shown.clone(), one_line(title));
                        return Err(OciError::HostileName { repository, name });
                    }
                    space.reserve_file(&self.shown, bytes.len() as u64)?;
                    let (path, bytes) = (title.clone(), bytes.clone());
                    own.push(PackedFile { path, bytes, program: false });
                } else {
                    let media_type = one_line(&layer.media_type);
                    let problem = format!("unknown layer type `{media_type}`");
                    return Err(self.wrong_shape(&problem));
                }
            }
            if !is_ours {
                self.place_skill(&part.document, &mut own);
            }
            for file in own {
                if let Some(known) = files.insert(file.path.clone(), file)
                    && files.get(&known.path) != Some(&known)
                {
                    let path = one_line(&known.path);
                    let problem = format!("contains `{path}` twice, with different content");
                    return Err(self.wrong_shape(&problem));
                }
            }
        }
        // A file that is also a directory cannot be written.
        for path in files.keys() {
            let above = path.match_indices('/').map(|(end, _)| &path[..end]);
            if let Some(above) = above.into_iter().find(|above| files.contains_key(*above)) {
                let above = one_line(above);
                return Err(self.wrong_shape(&format!(
                    "contains `{above}` both as a file and as a directory"
                )));
            }
        }
        let notes = match links {
            0 => Vec::new(),
            count => vec![format!("skipped {count} links or devices")],
        };
        Ok((files, notes))
    }

    /// Puts a skill of others where skills lie. Its name is that of the artifact, or of the repository.
    fn place_skill(&self, document: &Document, files: &mut [PackedFile]) {
        if files.iter().all(|file| file.path != "SKILL.md") {
            return;
        }
        let repository = self.source.repository();
        let last = || repository.rsplit('/').next().unwrap_or_default();
        let name = document.find_annotation(TITLE).unwrap_or_else(last).to_ascii_lowercase();
        let plain = |sign: char| if sign.is_ascii_alphanumeric() { sign } else { '-' };
        let name: String = name.chars().map(plain).take(64).collect();
        let name = match name.trim_matches('-') {
            "" => "skill",
            name => name,
        };
        for file in files {
            file.path = format!("skills/{name}/{}", file.path);
        }
    }
}

/// Returns whether a layer is an archive that can be unpacked.
fn is_archive(media_type: &str) -> bool {
    media_type.contains("tar") && !media_type.ends_with("zstd")
}

/// Returns the manifest of an artifact in the cache, which its signatures are about.
pub(crate) fn manifest_of(system: &dyn System, checkout: &Checkout) -> Option<Vec<u8>> {
    let digits = checkout.commit.trim_start_matches("sha256:");
    let path = checkout.directory.parent()?.join("blobs").join(digits);
    read_cached_content(system, &path, &checkout.commit, MANIFEST_BYTES)
}

/// Returns content of the cache, if it has the right digest.
fn read_cached_content(
    system: &dyn System,
    path: &Path,
    digest: &str,
    limit: u64,
) -> Option<Vec<u8>> {
    let bytes = system.read(path, limit).ok()?;
    (digest_of(&bytes) == digest).then_some(bytes)
}

/// Works on all inputs with several connections. The first error ends it.
pub(super) fn in_parallel<T: Sync, R: Send>(
    inputs: &[T],
    work: impl Fn(&T) -> Result<R, OciError> + Sync,
) -> Result<Vec<R>, OciError> {
    try_in_parallel(CONNECTIONS, inputs, &|_| {}, work)
}
