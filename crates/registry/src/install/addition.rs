//! Decides which entry of the manifest a source becomes: under which name, in which notation, at which version.

use std::path::Path;

use brief_dialects::portable::{NAME_LENGTH, name_problem};
use brief_system::System;
use brief_system::paths::{clean_path, relative_path};

use super::ProjectPaths;
use crate::lock::Lock;
use crate::manifest::{Manifest, ManifestEdit, ManifestPlace, WantedItems};
use crate::oci::{OciPlace, OciSource};
use crate::source::{GitSource, SourceAddress, SourceError};

/// A source as the user typed it.
#[derive(Debug, Clone, Copy)]
pub struct TypedSource<'t> {
    pub text: &'t str,
    /// The base of relative paths.
    pub base: &'t Path,
    /// The name for the manifest; `None` keeps the name of a known source, or makes one up.
    pub name: Option<&'t str>,
}

/// A source to add, as an entry of the manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addition {
    /// The source, at the version of the entry.
    pub source: SourceAddress,
    /// The name of the entry.
    pub name: String,
    /// The address of the entry.
    pub place: ManifestPlace,
}

/// A source that cannot be added.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddError {
    /// The name is not valid.
    #[error("{0}")]
    Name(&'static str),
    /// The text is not a source.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The manifest has the source under another name.
    #[error("this source is already in brief.toml, as `{0}`")]
    Known(String),
    /// The manifest has another source of this name.
    #[error("brief.toml already has a different source `{0}`")]
    NameTaken(String),
}

impl TypedSource<'_> {
    /// Finds the entry of a known source, or makes a new one.
    pub fn resolve_entry(
        &self,
        system: &dyn System,
        project: &ProjectPaths,
        manifest: &Manifest,
    ) -> Result<Addition, AddError> {
        if let Some(problem) = self.name.and_then(name_problem) {
            return Err(AddError::Name(problem));
        }
        let source = SourceAddress::parse_added(self.text, self.base, system)?;
        let (place, identity) = self.resolve_place(project, &source)?;
        let mut known = manifest.sources.iter();
        let known = known.find(|known| is_same(system, project, &known.place, &place, &identity));
        let (name, place) = match (known, self.name) {
            (Some(known), Some(name)) if name != known.name => {
                return Err(AddError::Known(known.name.clone()));
            }
            (Some(known), _) => (known.name.clone(), known.place.at_version_of(&place)),
            (None, Some(name)) if manifest.find_source(name).is_some() => {
                return Err(AddError::NameTaken(name.to_owned()));
            }
            (None, Some(name)) => (name.to_owned(), place),
            (None, None) => {
                (free_name(&identity, &place, |name| manifest.find_source(name).is_none()), place)
            }
        };
        let reference = place.find_field("ref").map(str::to_owned);
        let source = match source {
            SourceAddress::Git(source) => SourceAddress::Git(GitSource { reference, ..source }),
            SourceAddress::Oci(source) => SourceAddress::Oci(OciSource { reference, ..source }),
            SourceAddress::Directory(_) => source,
        };
        Ok(Addition { source, name, place })
    }

    /// Returns the address of a source in the manifest's notation, and its identity.
    fn resolve_place(
        &self,
        project: &ProjectPaths,
        source: &SourceAddress,
    ) -> Result<(ManifestPlace, String), SourceError> {
        match source {
            SourceAddress::Directory(path) => {
                let absolute = clean_path(&self.base.join(path));
                let identity = absolute.to_string_lossy().into_owned();
                let shown =
                    if path.is_absolute() { identity.clone() } else { from(project, &absolute) };
                Ok((ManifestPlace::Directory(shown), identity))
            }
            SourceAddress::Git(source) => {
                let identity = source.identity()?;
                let git = shortest_address(project, source)?;
                let (reference, subpath) = (source.reference.clone(), source.subpath.clone());
                Ok((ManifestPlace::Git { git, reference, subpath }, identity))
            }
            SourceAddress::Oci(source) => {
                let identity = source.repository();
                let oci = match &source.place {
                    OciPlace::Registry { .. } => identity.clone(),
                    OciPlace::Layout(path) => format!("oci-layout:{}", from(project, path)),
                };
                let reference = source.reference.clone();
                Ok((ManifestPlace::Oci { oci, reference }, identity))
            }
        }
    }
}

impl Addition {
    /// Returns the locked commit, which a known source keeps.
    pub fn locked_commit<'l>(&self, lock: &'l Lock) -> Option<&'l str> {
        let locked = lock.sources.get(&self.name).filter(|locked| locked.place == self.place);
        locked.and_then(|locked| locked.commit.as_deref())
    }

    /// Returns the edit of the manifest that adds the wanted items; `clients` are those of the entry, if it
    /// names some.
    pub fn build_edit(&self, wanted: WantedItems, clients: Option<Vec<String>>) -> ManifestEdit {
        ManifestEdit::Want { source: self.name.clone(), place: self.place.clone(), wanted, clients }
    }
}

impl ManifestPlace {
    /// Returns this entry at another branch, tag, commit or digest. A directory has none.
    #[must_use]
    pub fn with_reference(&self, reference: &str) -> ManifestPlace {
        let mut place = self.clone();
        match &mut place {
            ManifestPlace::Git { reference: own, .. }
            | ManifestPlace::Oci { reference: own, .. } => {
                *own = Some(reference.to_owned());
            }
            ManifestPlace::Directory(_) => {}
        }
        place
    }

    /// Returns this entry as it is written, at the version of another one that names a version.
    fn at_version_of(&self, other: &ManifestPlace) -> ManifestPlace {
        other
            .find_field("ref")
            .map_or_else(|| self.clone(), |reference| self.with_reference(reference))
    }
}

/// Returns whether an entry of the manifest names the same source as another one with this identity.
fn is_same(
    system: &dyn System,
    project: &ProjectPaths,
    known: &ManifestPlace,
    place: &ManifestPlace,
    identity: &str,
) -> bool {
    match (known, place) {
        (ManifestPlace::Git { git, subpath, .. }, ManifestPlace::Git { subpath: own, .. }) => {
            subpath == own && identity_of(system, project, git).as_deref() == Some(identity)
        }
        (ManifestPlace::Oci { oci, .. }, ManifestPlace::Oci { .. }) => {
            OciSource::parse(oci, &project.config).is_ok_and(|known| known.repository() == identity)
        }
        (ManifestPlace::Directory(path), ManifestPlace::Directory(_)) => {
            clean_path(&project.config.join(path)).to_string_lossy() == identity
        }
        _ => false,
    }
}

fn identity_of(system: &dyn System, project: &ProjectPaths, git: &str) -> Option<String> {
    match SourceAddress::parse_added(git, &project.config, system).ok()? {
        SourceAddress::Git(source) => source.identity().ok(),
        SourceAddress::Oci(_) => None,
        SourceAddress::Directory(path) => {
            let url = format!("file://{}", clean_path(&project.config.join(path)).display());
            GitSource { url, reference: None, subpath: None }.identity().ok()
        }
    }
}

/// Returns the shortest notation of a repository's address.
fn shortest_address(project: &ProjectPaths, source: &GitSource) -> Result<String, SourceError> {
    if let Some(short) = source.short_spelling() {
        return Ok(short);
    }
    let address = source.address()?;
    match address.strip_prefix("file://") {
        Some(path) if !path.contains('%') => Ok(from(project, Path::new(path))),
        _ => Ok(address),
    }
}

/// Returns the path from the manifest to a directory. It begins with `.`, so that it is taken for a path.
fn from(project: &ProjectPaths, directory: &Path) -> String {
    match relative_path(&clean_path(&project.config), directory) {
        way if way.is_empty() => ".".to_owned(),
        way if way == ".." || way.starts_with("../") => way,
        way => format!("./{way}"),
    }
}

/// Makes a name from the end of an address: `guidance`, then `acme-guidance`, then with a number.
fn free_name(identity: &str, place: &ManifestPlace, is_free: impl Fn(&str) -> bool) -> String {
    let parts: Vec<String> = identity
        .rsplit(['/', '\\', ':'])
        .map(plain_name)
        .filter(|part| name_problem(part).is_none())
        .take(2)
        .collect();
    let last = parts.first().cloned().unwrap_or_else(|| match place {
        ManifestPlace::Git { .. } | ManifestPlace::Oci { .. } => "repository".to_owned(),
        ManifestPlace::Directory(_) => "directory".to_owned(),
    });
    if is_free(&last) {
        return last;
    }
    let longer = parts.get(1).map_or(last.clone(), |above| plain_name(&format!("{above}-{last}")));
    if is_free(&longer) {
        return longer;
    }
    let mut numbered = (2..).map(|number| format!("{longer}-{number}"));
    numbered.find(|name| is_free(name)).unwrap_or(longer)
}

/// Returns a text with only the characters of a name.
fn plain_name(text: &str) -> String {
    let text = text.strip_suffix(".git").unwrap_or(text).to_ascii_lowercase();
    let letters =
        text.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' });
    let text: String = letters.take(NAME_LENGTH - 8).collect();
    text.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use brief_syntax::Source as Text;
    use brief_system::MemorySystem;

    use super::*;

    fn add(manifest: &str, text: &str, name: Option<&str>) -> Result<Addition, AddError> {
        let system = MemorySystem::new("/p/sub").with_dir("/p/lib/guidance");
        let manifest = Manifest::parse(&Arc::new(Text::new("brief.toml", manifest))).unwrap();
        let typed = TypedSource { text, base: Path::new("/p/sub"), name };
        typed.resolve_entry(&system, &ProjectPaths::from_root(Path::new("/p")), &manifest)
    }

    fn git(git: &str, reference: Option<&str>) -> ManifestPlace {
        ManifestPlace::Git {
            git: git.to_owned(),
            reference: reference.map(str::to_owned),
            subpath: None,
        }
    }

    const KNOWN: &str =
        "[sources.mine]\ngit = \"https://github.com/acme/guidance.git\"\nref = \"v1\"\n";

    #[test]
    fn a_new_source_gets_its_shortest_notation_and_a_free_name() {
        let added = add("", "https://github.com/acme/guidance", None).unwrap();
        assert_eq!((added.name.as_str(), added.place), ("guidance", git("acme/guidance", None)));
        let added = add("", "../lib/guidance", None).unwrap();
        assert_eq!(added.place, ManifestPlace::Directory("./lib/guidance".to_owned()));
        let entry = |name: &str| format!("[sources.{name}]\ndirectory = \"./{name}\"\n");
        let taken = entry("guidance");
        assert_eq!(add(&taken, "acme/guidance", None).unwrap().name, "acme-guidance");
        let taken = taken + &entry("acme-guidance");
        assert_eq!(add(&taken, "acme/guidance", None).unwrap().name, "acme-guidance-2");
    }

    #[test]
    fn a_known_source_keeps_its_entry_unless_another_version_is_named() {
        let url = "https://github.com/acme/guidance.git";
        let added = add(KNOWN, "acme/guidance", None).unwrap();
        assert_eq!((added.name.as_str(), added.place), ("mine", git(url, Some("v1"))));
        assert!(
            matches!(added.source, SourceAddress::Git(source) if source.reference.as_deref() == Some("v1"))
        );
        assert_eq!(add(KNOWN, "acme/guidance@v2", None).unwrap().place, git(url, Some("v2")));
        // Another directory of the repository is another source.
        assert_eq!(add(KNOWN, "acme/guidance:docs", None).unwrap().name, "guidance");
    }

    #[test]
    fn a_name_is_valid_free_and_the_only_one_of_its_source() {
        let other = |text, name| add(KNOWN, text, Some(name)).unwrap_err();
        assert!(matches!(other("acme/other", "No Name"), AddError::Name(_)));
        assert_eq!(other("acme/guidance", "yours"), AddError::Known("mine".to_owned()));
        assert_eq!(other("acme/other", "mine"), AddError::NameTaken("mine".to_owned()));
        assert_eq!(add(KNOWN, "acme/other", Some("yours")).unwrap().name, "yours");
        assert!(matches!(other("", "yours"), AddError::Source(SourceError::Empty)));
    }
}
