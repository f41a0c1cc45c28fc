//! The profile of each client: the files of rules, skills, agents and commands, and the names of their fields.
//!
//! All of it is data: keys of the client's file (`brief_profiles`). A project's `brief.toml` has the same keys
//! in `[clients.<id>]`, to change some of a client that we know or to describe another one in full. Nothing in
//! the compiler knows a client by name.

mod arguments;
mod path;
mod read;
mod settings;
mod shared;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use brief_dialects::portable::ItemKind;
use brief_profiles::{BUILTIN, Client, Form, OwnClients};
use brief_syntax::{Diagnostic, Source};

pub use arguments::ArgumentForms;
pub use path::Template;
pub(crate) use settings::known_clients;
pub use settings::{
    AgentSkills, FirstHeading, License, ProfileOptions, ProfileScope, ProfileSettings, Section,
    Sharing,
};
pub use shared::{Bridge, ListEntry, Mention, SharedFiles};

/// The files of one client.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Profile {
    pub(crate) id: String,
    pub(crate) name: String,
    /// The outputs of each kind, in the order of [`ItemKind::ALL`].
    pub(crate) layouts: [Option<Layout>; ItemKind::ALL.len()],
    /// Files and directories that only a project with this client has, below the project.
    pub(crate) signs: Vec<String>,
    /// The same below a user's home directory.
    pub(crate) home_signs: Vec<String>,
    /// The file that makes the client read another one.
    pub(crate) bridge: Option<Bridge>,
    /// The client's name for each capability.
    pub(crate) tools: BTreeMap<String, String>,
    /// The client's name for each model.
    pub(crate) models: BTreeMap<String, String>,
    /// The model and the tools that are written when an agent names none.
    pub(crate) unnamed: UnnamedFields,
    /// True if items are compiled for it where nothing says for which clients.
    pub(crate) is_usual: bool,
}

/// Which values a client's outputs have, where the client and the document differ (ruling G13).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Variant {
    /// Those that the client was seen to understand.
    #[default]
    Client,
    /// Those of the document's tables.
    Format,
}

/// The model and the tools that are written when an agent names none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnnamedFields {
    /// Nothing: the client decides (ruling P4).
    #[default]
    Omit,
    /// The default model of the document, and every tool that the client has (§3.4).
    Default,
}

impl Profile {
    /// Returns the name that items use for the client: `claude`.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns whether items are compiled for it where nothing says for which clients: it is one of the
    /// document, or of the project's own.
    pub fn is_usual(&self) -> bool {
        self.is_usual
    }

    /// Returns the name for people: `Claude Code`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns how items of a kind are laid out there; `None` when the client has no such thing.
    pub fn layout_in(&self, kind: ItemKind, scope: ProfileScope) -> Option<&Layout> {
        let is_missing = |layout: &&Layout| scope == ProfileScope::Home && layout.home.is_missing;
        self.layout(kind).filter(|layout| !is_missing(layout))
    }

    /// Returns how items of a kind are laid out; `None` when the client has no such thing.
    pub fn layout(&self, kind: ItemKind) -> Option<&Layout> {
        self.layouts[kind as usize].as_ref()
    }

    /// Returns all layouts, in the order of the kinds.
    pub fn layouts(&self) -> impl Iterator<Item = (ItemKind, &Layout)> {
        ItemKind::ALL.into_iter().filter_map(|kind| Some((kind, self.layout(kind)?)))
    }

    /// Returns the files and directories by which a project that uses the client is told.
    pub fn signs(&self, scope: ProfileScope) -> &[String] {
        match scope {
            ProfileScope::Project => &self.signs,
            ProfileScope::Home => &self.home_signs,
        }
    }

    /// Returns the file that makes the client read another one.
    pub fn bridge(&self) -> Option<&Bridge> {
        self.bridge.as_ref()
    }
}

/// The output for one kind of item.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layout {
    /// The path of the file.
    pub path: Template,
    /// The directory that supporting files go to; `None` for that of the file itself.
    pub files: Option<Template>,
    /// The fields of the front matter, in order.
    pub fields: Vec<FieldRule>,
    /// The treatment of fields that the format does not know.
    pub unknown: UnknownFields,
    /// The most characters that the client takes of a body.
    pub most_characters: Option<usize>,
    /// Other places where the client finds the file, too.
    pub also_read: Vec<Template>,
    /// The differences below a user's home directory.
    pub home: Home,
    /// The entry that a file of the user needs so that the client reads these.
    pub listing: Option<ListEntry>,
    /// The lines that a file of the user needs so that the client, or its model, finds these.
    pub mention: Option<Mention>,
    /// The form of the file.
    pub form: OutputForm,
    /// The client's syntax for arguments, of a command.
    pub arguments: ArgumentForms,
}

/// The form of an output.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum OutputForm {
    /// Markdown: the fields as front matter, then the body. Without fields, the body alone.
    #[default]
    Markdown,
    /// TOML: the fields as keys, and the body at this key.
    Toml(String),
    Yaml(String),
}

/// The differences below a user's home directory; everything else is as in a project.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Home {
    /// The path of the file.
    pub path: Option<Template>,
    /// The directory that supporting files go to.
    pub files: Option<Template>,
    /// Other places where the client finds the file, too.
    pub also_read: Option<Vec<Template>>,
    /// True if the client has no such files there.
    pub is_missing: bool,
}

impl Layout {
    /// Returns the file of a project that has to name the outputs, if the client does not find them by itself.
    pub fn listed_in(&self) -> Option<&str> {
        let listing = self.listing.as_ref().map(|listing| &listing.files.usual);
        listing.or_else(|| self.mention.as_ref().map(|mention| &mention.file)).map(String::as_str)
    }

    /// Returns where the file goes.
    pub fn path_in(&self, scope: ProfileScope) -> &Template {
        match (scope, &self.home.path) {
            (ProfileScope::Home, Some(path)) => path,
            _ => &self.path,
        }
    }

    /// Returns whether a field of its files comes from one of the item's.
    pub(crate) fn has_field_from(&self, wanted: From) -> bool {
        self.fields.iter().any(|rule| rule.from() == Some(wanted))
    }

    /// Returns whether rules can be for some files.
    pub(crate) fn reads_scope(&self) -> bool {
        self.has_field_from(From::ScopePaths)
            || self.fields.iter().any(|rule| rule.when != FieldCondition::Always)
    }

    /// Returns the form of the files at its path, which decides how patterns are read.
    pub fn pattern_form(&self) -> Option<Form> {
        self.path.find_form()
    }

    /// Returns the directory that supporting files go to; `None` for that of the file itself.
    pub fn files_in(&self, scope: ProfileScope) -> Option<&Template> {
        match (scope, &self.home.files) {
            (ProfileScope::Home, Some(files)) => Some(files),
            _ => self.files.as_ref(),
        }
    }

    /// Returns other places where the client finds the file, too.
    pub fn also_read_in(&self, scope: ProfileScope) -> &[Template] {
        match (scope, &self.home.also_read) {
            (ProfileScope::Home, Some(places)) => places,
            _ => &self.also_read,
        }
    }
}

/// The treatment of fields that the format does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnknownFields {
    #[default]
    Drop,
    /// They are handed on, types unchanged.
    Keep,
}

/// One field of an output's front matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldRule {
    pub key: String,
    /// The origin of its value.
    pub value: FieldValue,
    /// The condition under which it is written.
    pub when: FieldCondition,
}

impl FieldRule {
    /// Returns the item's field that the value comes from; `None` for a constant.
    pub(crate) fn from(&self) -> Option<From> {
        match self.value {
            FieldValue::Item { from, .. } => Some(from),
            FieldValue::Constant(_) => None,
        }
    }

    /// Returns whether clients read the line of the field as it stands, so that quotation marks count.
    pub(crate) fn is_bare(&self) -> bool {
        matches!(self.value, FieldValue::Item { shape: Shape::Bare, .. })
    }
}

/// The origin of a field's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldValue {
    Item {
        from: From,
        /// Its form in the output.
        shape: Shape,
        /// The value that is written when the item has none.
        default: Option<String>,
    },
    Constant(Constant),
}

/// A value that is the same in every output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Constant {
    Text(String),
    Boolean(bool),
    Number(i64),
}

/// A field of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum From {
    Name,
    Description,
    ScopePaths,
    Mode,
    Model,
    Tools,
    PreloadSkills,
    ArgumentHint,
    Arguments,
}

impl From {
    /// All fields with their names, in the order of the document and of the declaration.
    pub(crate) const WORDS: [(&'static str, From); 9] = [
        ("name", From::Name),
        ("description", From::Description),
        ("scope.paths", From::ScopePaths),
        ("mode", From::Mode),
        ("model", From::Model),
        ("tools", From::Tools),
        ("preload-skills", From::PreloadSkills),
        ("argument-hint", From::ArgumentHint),
        ("arguments", From::Arguments),
    ];

    /// Returns the name of the field.
    pub fn as_str(self) -> &'static str {
        From::WORDS[self as usize].0
    }

    /// Returns the kinds that have the field.
    pub(crate) fn kinds(self) -> &'static [ItemKind] {
        match self {
            From::Name | From::Description => &ItemKind::ALL,
            From::ScopePaths => &[ItemKind::Rule],
            From::Model => &[ItemKind::Agent, ItemKind::Command],
            From::Mode | From::Tools | From::PreloadSkills => &[ItemKind::Agent],
            From::ArgumentHint | From::Arguments => &[ItemKind::Command],
        }
    }

    fn is_list(self) -> bool {
        matches!(self, From::ScopePaths | From::Tools | From::PreloadSkills | From::Arguments)
    }
}

/// The form of a value in the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Text,
    List,
    /// One text, with `,` and no blank between the parts.
    Comma,
    /// The same without quotation marks, whatever YAML says: Cursor takes `globs` as they stand, and those
    /// in quotation marks match nothing (3.17, reported by several users).
    Bare,
    /// A mapping of each part to `allow`.
    AllowMap,
    /// The same, after `"*": deny`: nothing else is allowed.
    OnlyMap,
    /// A list with a mapping for each argument that the body names, as Goose declares them: it takes no recipe with a
    /// variable that is not declared, nor with a declared one that is not used.
    Parameters,
}

impl Shape {
    /// All shapes with the words for them, in the order of the declaration.
    const WORDS: [(&'static str, Shape); 7] = [
        ("text", Shape::Text),
        ("list", Shape::List),
        ("comma", Shape::Comma),
        ("bare", Shape::Bare),
        ("allow-map", Shape::AllowMap),
        ("only-map", Shape::OnlyMap),
        ("parameters", Shape::Parameters),
    ];

    fn as_str(self) -> &'static str {
        Shape::WORDS[self as usize].0
    }
}

/// The condition under which a field is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FieldCondition {
    #[default]
    Always,
    /// For a rule with `scope.paths`.
    Scoped,
    Unscoped,
}

/// The clients that exist: those that we know, then those of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profiles {
    list: Vec<Profile>,
}

impl Profiles {
    /// Returns the clients that we know. They are read once.
    pub fn builtin() -> &'static Profiles {
        static BUILTIN_PROFILES: LazyLock<Profiles> = LazyLock::new(|| {
            let drafts = builtin_drafts(&|_| Variant::Client).into_iter();
            Profiles { list: drafts.filter_map(|draft| draft.finish(&mut Vec::new())).collect() }
        });
        &BUILTIN_PROFILES
    }

    /// Returns the clients that we know and the project's own, with what its `brief.toml` changes and adds, for what
    /// `section` wants.
    ///
    /// Everything that is wrong with it is reported, not only the first thing.
    pub fn with_overrides(
        configuration: &Arc<Source>,
        own: &OwnClients,
        section: Section,
    ) -> Result<Profiles, Vec<Diagnostic>> {
        let mut diagnostics = own.diagnostics.clone();
        let parsed = read::parse_document(configuration);
        // Most projects change nothing, and reading all files again would take a tenth of a build.
        let has_own = own.compiled_sources().next().is_some() || !diagnostics.is_empty();
        if parsed.as_ref().is_some_and(|own| read::changes_nothing(own, section.as_str()))
            && !has_own
        {
            return Ok(Profiles::builtin().clone());
        }
        let variant = |client: &str| read::variant_of(parsed.as_ref(), section.as_str(), client);
        let mut drafts = builtin_drafts(&variant);
        let of_project = own.compiled_sources();
        drafts.extend(of_project.map(|file| read::client_file(file, &variant, &mut diagnostics)));
        let drafts = read::with_overrides(drafts, configuration, &mut diagnostics);
        let list: Vec<Profile> =
            drafts.into_iter().filter_map(|draft| draft.finish(&mut diagnostics)).collect();
        if diagnostics.is_empty() { Ok(Profiles { list }) } else { Err(diagnostics) }
    }

    /// Returns the client of that name.
    pub fn get(&self, id: &str) -> Option<&Profile> {
        self.list.iter().find(|profile| profile.id == id)
    }

    /// Returns all clients, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Profile> {
        self.list.iter()
    }

    /// Returns the names of all clients, in order.
    pub fn ids(&self) -> Vec<&str> {
        self.list.iter().map(Profile::id).collect()
    }
}

/// The profiles that are built in. A test keeps them valid.
fn builtin_drafts(variant: &dyn Fn(&str) -> Variant) -> Vec<read::Draft> {
    let sources = builtin_sources().into_iter();
    sources.map(|source| read::client_file(&source, variant, &mut Vec::new())).collect()
}

/// Returns the files of the clients that items are compiled for, by name.
fn builtin_sources() -> Vec<Arc<Source>> {
    let clients = BUILTIN.clients.iter();
    let source = |client: &Client| {
        let path = Path::new("clients").join(format!("{}.toml", client.id));
        Some(Arc::new(Source::new(path, &**client.source.as_ref()?)))
    };
    clients.filter_map(source).collect()
}
