//! The keys of an output that others than the compiler need.

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny};

use super::constant::Text;

/// The place of items of one kind. The compiler reads its other keys.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ItemOutput {
    /// The path in a project, with `{name}` for the item's name.
    pub path: Text,
    /// The path below the home directory.
    #[serde(default)]
    pub home: HomeOutput,
    /// True if a field says which files an item is for.
    #[serde(default, rename = "fields", deserialize_with = "has_scope")]
    pub is_scoped: bool,
    /// The file of the user that names the outputs, for the client or its model.
    #[serde(default, rename = "mention", deserialize_with = "file_of")]
    pub named_in: Option<Text>,
    /// True if the client reads them because a file of the user lists them.
    #[serde(default, rename = "shared", deserialize_with = "is_there")]
    pub is_listed: bool,
}

/// The place of items below the home directory.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(try_from = "HomePath")]
pub enum HomeOutput {
    /// The same as in a project.
    #[default]
    AsInProject,
    At(Text),
    /// None: the client has no such files there.
    NotThere,
}

impl HomeOutput {
    /// Returns the path, where it is another one than in a project.
    pub fn other_path(&self) -> Option<&Text> {
        match self {
            HomeOutput::At(path) => Some(path),
            HomeOutput::AsInProject | HomeOutput::NotThere => None,
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum HomePath {
    Path(Text),
    No(bool),
}

impl TryFrom<HomePath> for HomeOutput {
    type Error = &'static str;

    fn try_from(path: HomePath) -> Result<HomeOutput, &'static str> {
        match path {
            HomePath::Path(path) => Ok(HomeOutput::At(path)),
            HomePath::No(false) => Ok(HomeOutput::NotThere),
            HomePath::No(true) => Err("write a path, or `false` for none"),
        }
    }
}

fn has_scope<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    #[derive(Deserialize)]
    struct FieldOrigin {
        from: Option<Text>,
    }
    let fields = Vec::<FieldOrigin>::deserialize(deserializer)?;
    Ok(fields.iter().any(|field| field.from.as_deref() == Some("scope.paths")))
}

fn file_of<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Text>, D::Error> {
    #[derive(Deserialize)]
    struct NamingFile {
        file: Text,
    }
    NamingFile::deserialize(deserializer).map(|naming| Some(naming.file))
}

fn is_there<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(deserializer).map(|_| true)
}
