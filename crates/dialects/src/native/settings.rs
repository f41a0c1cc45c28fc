//! Settings of clients that change what they read by themselves.
//!
//! Only what matters here is looked at, and a file that cannot be read says nothing: its client tells its
//! user so.

use std::path::{Path, PathBuf};

use brief_profiles::{Client, ClientRead, LoadingMode, Scoping, Seats, Unless, list, text};
use brief_syntax::glob::Glob;
use jsonc_parser::ast::{Object, Value};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use toml_edit::Document;

use super::modes::{self, SettingsRank};

/// A setting of a client.
#[derive(Debug)]
pub(super) enum Setting {
    /// Other names for its file of instructions.
    Names {
        client: &'static str,
        /// The scope of the settings.
        seats: Seats,
        names: Vec<String>,
        /// The way in which files of these names are read.
        read: &'static ClientRead,
    },
    /// Directories that it takes for parts of its workspace, as the settings write them, but for `~`.
    Workspace { client: &'static str, directories: Vec<PathBuf> },
    /// Files that it always loads, by patterns from the directory of the settings.
    Instructions { clients: &'static [&'static str], globs: Vec<Glob> },
    /// The mode in which it loads its files.
    Mode { client: &'static str, mode: &'static LoadingMode },
    /// A switch for that setting.
    Switch { client: &'static str, is_on: bool, rank: SettingsRank },
}

pub(super) struct SettingsFile {
    /// Below the directory that it is about.
    pub(super) path: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Gemini,
    Codex,
    Opencode(&'static [&'static str]),
    Claude,
    ClaudeLocal,
}

const fn settings_file(path: &'static str, kind: Kind) -> SettingsFile {
    SettingsFile { path, kind }
}

const GEMINI: &str = "gemini";

/// The way in which Gemini reads the names in its settings.
static GEMINI_NAMED: ClientRead = ClientRead {
    path: text("GEMINI.md"),
    seats: Seats::UP_AND_BELOW,
    unless: Unless::Never,
    scoping: Scoping::Own,
    attaches: None,
    passes_over: None,
    since: None,
    facts: None,
};

/// The way in which Codex reads the names in its settings.
static CODEX_NAMED: ClientRead = ClientRead {
    path: text("AGENTS.md"),
    seats: Seats::UP,
    unless: Unless::Beside(list(const { &[text("AGENTS.override.md"), text("AGENTS.md")] })),
    scoping: Scoping::Own,
    attaches: None,
    passes_over: None,
    since: None,
    facts: None,
};

const BOTH: &[&str] = &["opencode", "kilo"];

/// In every directory of a project.
pub(super) const PROJECT: &[SettingsFile] = &[
    settings_file(".gemini/settings.json", Kind::Gemini),
    settings_file(".codex/config.toml", Kind::Codex),
    settings_file("opencode.json", Kind::Opencode(BOTH)),
    settings_file("opencode.jsonc", Kind::Opencode(BOTH)),
    settings_file("kilo.json", Kind::Opencode(&["kilo"])),
    settings_file(".claude/settings.json", Kind::Claude),
    settings_file(".claude/settings.local.json", Kind::ClaudeLocal),
];

pub(super) const USER: &[SettingsFile] = &[
    settings_file(".gemini/settings.json", Kind::Gemini),
    settings_file(".codex/config.toml", Kind::Codex),
];

impl SettingsFile {
    /// Returns the first name of the path.
    pub(super) fn first_name(&self) -> &'static str {
        self.path.split('/').next().unwrap_or(self.path)
    }

    /// Returns whether it may enable plugins.
    pub(super) fn has_plugins(&self) -> bool {
        self.kind == Kind::Claude
    }

    /// Returns whether it may name directories of a workspace, which are not those on the way to a file.
    pub(super) fn names_workspace(&self) -> bool {
        self.kind == Kind::Gemini
    }

    /// Reads it; most say nothing about what is read. `home` is the user's home directory.
    pub(super) fn parse(&self, text: &str, home: &dyn Fn() -> Option<PathBuf>) -> Vec<Setting> {
        match self.kind {
            Kind::Gemini => parse_gemini(text, home),
            _ => self.parse_one(text).into_iter().collect(),
        }
    }

    fn parse_one(&self, text: &str) -> Option<Setting> {
        match self.kind {
            Kind::Gemini => None,
            Kind::Codex => {
                if !text.contains("project_doc_fallback_filenames") {
                    return None;
                }
                let settings = Document::parse(text).ok()?;
                let list = settings.get("project_doc_fallback_filenames")?.as_array()?;
                let names = list.iter().filter_map(|name| Some(name.as_str()?.to_owned()));
                let (names, read) = (names.collect(), &CODEX_NAMED);
                Some(Setting::Names { client: "codex", seats: Seats::UP, names, read })
            }
            Kind::Opencode(clients) => {
                if !text.contains("\"instructions\"") {
                    return None;
                }
                let patterns = with_object(text, |settings| {
                    settings.get("instructions").map(|found| collect_strings(&found.value))
                })??;
                let globs = patterns.iter().filter_map(|pattern| {
                    Glob::new(pattern.strip_prefix("./").unwrap_or(pattern)).ok()
                });
                Some(Setting::Instructions { clients, globs: globs.collect() })
            }
            Kind::Claude => modes::of_project("claude", text, SettingsRank::Project),
            Kind::ClaudeLocal => modes::of_project("claude", text, SettingsRank::Local),
        }
    }
}

/// Returns the names of files and the directories of the workspace in settings of Gemini CLI.
fn parse_gemini(text: &str, home: &dyn Fn() -> Option<PathBuf>) -> Vec<Setting> {
    if !text.contains("ileName") && !text.contains("includeDirectories") {
        return Vec::new();
    }
    let client = GEMINI;
    let found = with_object(text, |settings| {
        let context = settings.get_object("context");
        let new = context.and_then(|of| of.get("fileName"));
        let names =
            new.or(settings.get("contextFileName")).map(|found| collect_strings(&found.value)).map(
                |names| Setting::Names { client, seats: Seats::START, names, read: &GEMINI_NAMED },
            );
        let directories = context
            .and_then(|of| of.get_array("includeDirectories"))
            .map(|list| collect_texts(&list.elements))
            .map(|list| list.iter().filter_map(|path| expand_home(path, home)).collect())
            .map(|directories| Setting::Workspace { client, directories });
        names.into_iter().chain(directories).collect()
    });
    found.unwrap_or_default()
}

/// Returns a path in which `~` stands for the home directory; `None` for one that needs a home directory that is unknown.
fn expand_home(path: &str, home: &dyn Fn() -> Option<PathBuf>) -> Option<PathBuf> {
    match path.strip_prefix('~') {
        Some("") => home(),
        Some(below) if below.starts_with('/') => Some(home()?.join(below.trim_start_matches('/'))),
        _ => Some(PathBuf::from(path)),
    }
}

/// Returns whether the settings of a client name directories of its workspace.
pub(super) fn has_workspace(client: &Client) -> bool {
    *client.id == *GEMINI
}

/// Returns whether a name in a directory is that of settings which stand in the directory itself.
pub(super) fn is_beginning(name: &str) -> bool {
    PROJECT.iter().any(|file| file.path == name)
}

/// Reads JSON with comments, and looks at its object.
pub(super) fn with_object<T>(text: &str, look: impl FnOnce(&Object<'_>) -> T) -> Option<T> {
    let text = text.trim_start_matches('\u{feff}');
    let options = CollectOptions::default();
    let parsed = parse_to_ast(text, &options, &ParseOptions::default()).ok()?;
    match parsed.value? {
        Value::Object(object) => Some(look(&object)),
        _ => None,
    }
}

/// Returns a text, or the texts of a list.
pub(super) fn collect_strings(value: &Value<'_>) -> Vec<String> {
    match value {
        Value::StringLit(text) => vec![text.value.to_string()],
        Value::Array(list) => collect_texts(&list.elements),
        _ => Vec::new(),
    }
}

fn collect_texts(values: &[Value<'_>]) -> Vec<String> {
    let texts = values.iter().filter_map(Value::as_string_lit);
    texts.map(|text| text.value.to_string()).collect()
}

/// Returns `path` seen from `directory`, with `/` between names.
pub(super) fn slashed_below(path: &Path, directory: &Path) -> Option<String> {
    let below = path.strip_prefix(directory).ok()?;
    let names: Vec<_> = below.iter().map(|name| name.to_string_lossy()).collect();
    Some(names.join("/"))
}
