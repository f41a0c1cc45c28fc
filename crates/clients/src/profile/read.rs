//! Profiles from TOML: first what our own file says, then what a project changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use brief_dialects::portable::{CAPABILITIES, ItemKind, is_taken_field};
use brief_profiles::{BUILTIN, Client};
use brief_syntax::{Diagnostic, Source, Span, rules};
use toml_edit::{Document, Item};

use super::{
    ArgumentForms, Bridge, Constant, FieldCondition, FieldRule, FieldValue, From, Home, Layout,
    ListEntry, Mention, OutputForm, Profile, Shape, Template, UnknownFields, UnnamedFields,
    Variant, arguments, shared,
};
use brief_dialects::portable::toml::{self, Table, TomlEntry, TomlProblem};

/// A client before everything about it was read.
#[derive(Debug)]
pub(super) struct Draft {
    id: String,
    name: Option<String>,
    layouts: [Option<LayoutDraft>; ItemKind::ALL.len()],
    signs: Vec<String>,
    home_signs: Vec<String>,
    bridge: Option<Bridge>,
    tools: BTreeMap<String, String>,
    models: BTreeMap<String, String>,
    unnamed: UnnamedFields,
    /// True if the project's configuration names it.
    is_named: bool,
    /// The last place that names the client, for messages about missing keys.
    source: Arc<Source>,
    span: Span,
}

/// The word for the form of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum FormWord {
    #[default]
    Markdown,
    Toml,
    Yaml,
}

#[derive(Debug, Default)]
struct LayoutDraft {
    path: Option<Template>,
    files: Option<ProfileFiles>,
    fields: Option<Vec<FieldRule>>,
    unknown: UnknownFields,
    most_characters: Option<usize>,
    also_read: Vec<Template>,
    home: Home,
    listing: Option<ListEntry>,
    mention: Option<Mention>,
    form: FormWord,
    body: Option<String>,
    arguments: ArgumentForms,
}

#[derive(Debug)]
enum ProfileFiles {
    Beside,
    In(Template),
}

/// The word for what a client does, and the one for what the document says about it.
const VARIANTS: [(&str, Variant); 2] = [("client", Variant::Client), ("format", Variant::Format)];
const LAYOUT_KEYS: [&str; 14] = [
    "path",
    "files",
    "fields",
    "unknown-fields",
    "most-characters",
    "also-read",
    "home",
    "home-files",
    "home-also-read",
    "shared",
    "mention",
    "form",
    "body",
    "arguments",
];
const FIELD_KEYS: [&str; 6] = ["key", "from", "as", "default", "value", "when"];

/// Reads the compiler's keys of a client's file; `variant` tells which values a client gets, by its name.
pub(super) fn client_file(
    source: &Arc<Source>,
    variant: &dyn Fn(&str) -> Variant,
    diagnostics: &mut Vec<Diagnostic>,
) -> Draft {
    let mut draft = Draft::new(String::new(), source, Span::default());
    if let Some(document) = toml::parse(source, diagnostics) {
        let top = Table { source, content: document.as_table(), prefix: "" };
        for entry in top.entries() {
            match entry.key {
                "id" => match entry.text() {
                    Ok(id) => id.clone_into(&mut draft.id),
                    Err(problem) => diagnostics.push(*problem),
                },
                // It stands last in the file, so it changes what was said before.
                "format" if variant(&draft.id) == Variant::Client => {}
                "format" => match entry.table() {
                    Ok(table) => table.entries().for_each(|entry| draft.set(&entry, diagnostics)),
                    Err(problem) => diagnostics.push(*problem),
                },
                key if Client::COMPILED_KEYS.contains(&key) => draft.set(&entry, diagnostics),
                // The model of `brief_profiles` knows the other keys.
                _ => {}
            }
        }
    }
    draft
}

/// Returns the keys that a project can set for a client: all but the name and the words of the document.
fn overridable_keys() -> &'static [&'static str] {
    let [_, keys @ .., _] = &Client::COMPILED_KEYS;
    keys
}

/// Reads a configuration, whose problems are reported elsewhere.
pub(super) fn parsed(source: &Arc<Source>) -> Option<Document<String>> {
    toml::parse(source, &mut Vec::new())
}

/// Returns whether a configuration leaves all clients as they are.
pub(super) fn changes_nothing(document: &Document<String>, section: &str) -> bool {
    let wanted = document.get(section).and_then(Item::as_table_like);
    !document.contains_key("clients")
        && wanted.is_none_or(|section| section.get("profile").is_none())
}

/// Returns the values that a project wants for a client: its own word, else that of the section, else
/// those of the client. What is wrong with the words is reported where the rest is read.
pub(super) fn variant_of(
    document: Option<&Document<String>>,
    section: &str,
    client: &str,
) -> Variant {
    let Some(document) = document else { return Variant::Client };
    let word = |table: Option<&Item>| {
        let word = table?.as_table_like()?.get("profile")?.as_str()?;
        VARIANTS.into_iter().find(|(known, _)| *known == word).map(|(_, variant)| variant)
    };
    let clients = document.get("clients").and_then(Item::as_table_like);
    word(clients.and_then(|clients| clients.get(client)))
        .or_else(|| word(document.get(section)))
        .unwrap_or_default()
}

/// Reads the word for the values that are wanted.
pub(super) fn variant(entry: &TomlEntry<'_>) -> Result<Variant, TomlProblem> {
    entry.word(&VARIANTS)
}

/// Applies `[clients]` of a project's configuration.
pub(super) fn with_overrides(
    mut drafts: Vec<Draft>,
    source: &Arc<Source>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Draft> {
    let Some(document) = toml::parse(source, diagnostics) else { return drafts };
    let top = Table { source, content: document.as_table(), prefix: "" };
    for clients in top.entries().filter(|entry| entry.key == "clients") {
        let table = match clients.table() {
            Ok(table) => table,
            Err(problem) => {
                diagnostics.push(*problem);
                continue;
            }
        };
        for client in table.entries() {
            match client.table() {
                Ok(table) => {
                    let draft = draft_of(&mut drafts, &client, diagnostics);
                    draft.is_named = true;
                    for entry in table.entries() {
                        draft.set(&entry, diagnostics);
                    }
                }
                Err(problem) => diagnostics.push(*problem),
            }
        }
    }
    drafts
}

/// Returns the client to change, or a new one.
fn draft_of<'d>(
    drafts: &'d mut Vec<Draft>,
    client: &TomlEntry<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> &'d mut Draft {
    let index = drafts.iter().position(|draft| draft.id == client.key);
    let index = index.unwrap_or_else(|| {
        let is_word = !client.key.is_empty()
            && client.key.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'));
        if !is_word {
            diagnostics.push(*client.wrong("this names no client", "use a-z, 0-9 and hyphens"));
        } else if is_taken_field(client.key) {
            let problem = "this is a field of the format, and cannot name a client too";
            diagnostics.push(*client.wrong(problem, "use another name"));
        }
        drafts.push(Draft::new(client.key.to_owned(), client.source, client.span));
        drafts.len() - 1
    });
    &mut drafts[index]
}

impl Draft {
    fn new(id: String, source: &Arc<Source>, span: Span) -> Draft {
        let (tools, models) = (BTreeMap::new(), BTreeMap::new());
        let layouts = Default::default();
        let (signs, home_signs) = (Vec::new(), Vec::new());
        let source = Arc::clone(source);
        Draft {
            id,
            name: None,
            layouts,
            signs,
            home_signs,
            bridge: None,
            tools,
            models,
            unnamed: UnnamedFields::default(),
            is_named: false,
            source,
            span,
        }
    }

    fn set(&mut self, entry: &TomlEntry<'_>, diagnostics: &mut Vec<Diagnostic>) {
        let outcome = match entry.key {
            "name" => entry.text().map(|name| self.name = Some(name.to_owned())),
            // It was looked at before everything else.
            "profile" => variant(entry).map(|_| ()),
            "unnamed" => {
                let words = [("omit", UnnamedFields::Omit), ("default", UnnamedFields::Default)];
                entry.word(&words).map(|unnamed| self.unnamed = unnamed)
            }
            "tools" => {
                let known = CAPABILITIES.map(|capability| capability.0);
                set_names(&mut self.tools, entry, Some(&known), diagnostics)
            }
            // `false` takes away what we know.
            "bridge" if entry.item.as_bool() == Some(false) => {
                self.bridge = None;
                Ok(())
            }
            "bridge" => shared::bridge(entry).map(|bridge| self.bridge = Some(bridge)),
            "signs" => shared::files(entry).map(|signs| self.signs = signs),
            "home-signs" => shared::files(entry).map(|signs| self.home_signs = signs),
            "models" => set_names(&mut self.models, entry, None, diagnostics),
            _ => match ItemKind::from_name(entry.key) {
                Some(kind) => self.set_layout(kind, entry, diagnostics),
                None => Err(entry.unknown(overridable_keys())),
            },
        };
        diagnostics.extend(outcome.err().map(|problem| *problem));
    }

    fn set_layout(
        &mut self,
        kind: ItemKind,
        entry: &TomlEntry<'_>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<(), TomlProblem> {
        // `false` takes away what we know.
        if entry.item.as_bool() == Some(false) {
            self.layouts[kind as usize] = None;
            return Ok(());
        }
        let table = entry.table()?;
        let layout = self.layouts[kind as usize].get_or_insert_default();
        for entry in table.entries() {
            let outcome = match entry.key {
                "path" => template(&entry).map(|path| layout.path = Some(path)),
                "files" => files(&entry).map(|files| layout.files = Some(files)),
                "fields" => fields(kind, &entry).map(|fields| layout.fields = Some(fields)),
                "unknown-fields" => {
                    let words = [("keep", UnknownFields::Keep), ("drop", UnknownFields::Drop)];
                    entry.word(&words).map(|unknown| layout.unknown = unknown)
                }
                "most-characters" => {
                    let count =
                        entry.item.as_integer().and_then(|count| usize::try_from(count).ok());
                    let problem = || entry.wrong("this is no number of characters", "");
                    count.ok_or_else(problem).map(|count| layout.most_characters = Some(count))
                }
                "also-read" => templates(&entry).map(|places| layout.also_read = places),
                "home" if entry.item.as_bool() == Some(false) => {
                    layout.home.is_missing = true;
                    Ok(())
                }
                "home" => template(&entry).map(|path| layout.home.path = Some(path)),
                "home-files" => directory(&entry).map(|files| layout.home.files = Some(files)),
                "home-also-read" => {
                    templates(&entry).map(|places| layout.home.also_read = Some(places))
                }
                "shared" if entry.item.as_bool() == Some(false) => {
                    layout.listing = None;
                    Ok(())
                }
                "shared" => shared::listing(&entry).map(|listing| layout.listing = Some(listing)),
                "mention" if entry.item.as_bool() == Some(false) => {
                    layout.mention = None;
                    Ok(())
                }
                "mention" => shared::mention(&entry).map(|mention| layout.mention = Some(mention)),
                "form" => {
                    let words = [
                        ("markdown", FormWord::Markdown),
                        ("toml", FormWord::Toml),
                        ("yaml", FormWord::Yaml),
                    ];
                    entry.word(&words).map(|form| layout.form = form)
                }
                "body" => entry.text().map(|key| layout.body = Some(key.to_owned())),
                "arguments" if kind == ItemKind::Command => {
                    arguments::forms(&entry).map(|forms| layout.arguments = forms)
                }
                _ => Err(entry.unknown(&LAYOUT_KEYS)),
            };
            diagnostics.extend(outcome.err().map(|problem| *problem));
        }
        Ok(())
    }

    /// Ends the reading: what a client must have is there, or reported.
    pub(super) fn finish(self, diagnostics: &mut Vec<Diagnostic>) -> Option<Profile> {
        let Draft { id, name, layouts, signs, home_signs, bridge, tools, models, unnamed, .. } =
            self;
        let (source, span) = (self.source, self.span);
        let before = diagnostics.len();
        let mut missing = |what: String, help: &str| {
            let message = format!("the client `{id}` lacks {what}");
            diagnostics.push(
                Diagnostic::new(rules::portable::INVALID_CONFIG, &source, span, message)
                    .with_help(help),
            );
        };
        if layouts.iter().all(Option::is_none) {
            missing(
                "a table `rule`, `skill`, `agent` or `command`".to_owned(),
                "say what it reads, and where",
            );
        }
        let mut finished: [Option<Layout>; ItemKind::ALL.len()] = Default::default();
        for (kind, layout) in ItemKind::ALL.into_iter().zip(layouts) {
            let Some(layout) = layout else { continue };
            match layout.finish(kind) {
                Ok(layout) => finished[kind as usize] = Some(layout),
                Err((what, help)) => missing(what, help),
            }
        }
        if diagnostics.len() > before {
            return None;
        }
        let name = name.unwrap_or_else(|| id.clone());
        let is_usual = self.is_named || BUILTIN.find(&id).is_none_or(Client::is_usual);
        Some(Profile {
            id,
            name,
            layouts: finished,
            signs,
            home_signs,
            bridge,
            tools,
            models,
            unnamed,
            is_usual,
        })
    }
}

impl LayoutDraft {
    /// Ends the reading of a kind; the error says what is missing, and what to do.
    fn finish(self, kind: ItemKind) -> Result<Layout, (String, &'static str)> {
        let LayoutDraft { files, unknown, most_characters, also_read, home, listing, .. } = self;
        let form = match (self.form, self.body) {
            (FormWord::Markdown, None) => OutputForm::Markdown,
            (FormWord::Toml, Some(body)) => OutputForm::Toml { body },
            (FormWord::Yaml, Some(body)) => OutputForm::Yaml { body },
            _ => {
                return Err((
                    format!("`{kind}.form` or `{kind}.body`"),
                    "TOML and YAML have a key for the body",
                ));
            }
        };
        let (arguments, mention) = (self.arguments, self.mention);
        let (Some(path), Some(fields)) = (self.path, self.fields) else {
            let what = format!("`{kind}.path` or `{kind}.fields`");
            return Err((what, "an output needs a path and fields"));
        };
        let help = "its outputs share a directory, so other files need one of their own";
        let lacks =
            |key: &str| (format!("`{kind}.{key}`, a directory for what lies beside an item"), help);
        let files = match files {
            Some(ProfileFiles::In(files)) => Some(files),
            Some(ProfileFiles::Beside) | None if path.has_own_directory() => None,
            _ => return Err(lacks("files")),
        };
        let is_apart = home.path.as_ref().is_none_or(Template::has_own_directory);
        if !is_apart && files.is_none() && home.files.is_none() {
            return Err(lacks("home-files"));
        }
        Ok(Layout {
            path,
            files,
            fields,
            unknown,
            most_characters,
            also_read,
            home,
            listing,
            mention,
            form,
            arguments,
        })
    }
}

fn template(entry: &TomlEntry<'_>) -> Result<Template, TomlProblem> {
    let help = "write a path like `.client/rules/{name}.md`";
    Template::new(entry.text()?).map_err(|problem| entry.wrong(problem, help))
}

fn templates(entry: &TomlEntry<'_>) -> Result<Vec<Template>, TomlProblem> {
    let help = "write paths like `.client/skills/{name}/SKILL.md`";
    let texts = entry.texts()?;
    let places = texts.iter().map(|text| Template::new(text));
    places.collect::<Result<_, _>>().map_err(|problem| entry.wrong(problem, help))
}

fn files(entry: &TomlEntry<'_>) -> Result<ProfileFiles, TomlProblem> {
    if entry.text()? == "beside" {
        return Ok(ProfileFiles::Beside);
    }
    directory(entry).map(ProfileFiles::In)
}

fn directory(entry: &TomlEntry<'_>) -> Result<Template, TomlProblem> {
    let help = "write a directory like `.agents/rules/{name}`";
    match Template::new(entry.text()?) {
        Ok(template) if template.ends_in_name() || template.has_own_directory() => Ok(template),
        Ok(_) => Err(entry.wrong("items would share it", help)),
        Err(problem) => Err(entry.wrong(problem, help)),
    }
}

/// Sets names for tools or models; `false` takes one away.
fn set_names(
    names: &mut BTreeMap<String, String>,
    entry: &TomlEntry<'_>,
    known: Option<&[&str]>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<(), TomlProblem> {
    for entry in entry.table()?.entries() {
        if let Some(known) = known.filter(|known| !known.contains(&entry.key)) {
            diagnostics.push(*entry.unknown(known));
            continue;
        }
        match (entry.item.as_str(), entry.item.as_bool()) {
            (Some(name), _) if !name.is_empty() => {
                names.insert(entry.key.to_owned(), name.to_owned());
            }
            (_, Some(false)) => {
                names.remove(entry.key);
            }
            _ => {
                let help = "write the client's name for it in quotes, or `false` for none";
                diagnostics.push(*entry.wrong("this is no name", help));
            }
        }
    }
    Ok(())
}

fn fields(kind: ItemKind, entry: &TomlEntry<'_>) -> Result<Vec<FieldRule>, TomlProblem> {
    let problem = || entry.wrong("this is no list of fields", "write `[{ key = …, from = … }]`");
    let mut rules: Vec<FieldRule> = Vec::new();
    // Both spellings of a list of tables: inline, and `[[…]]`.
    let inline = entry
        .item
        .as_array()
        .map(|list| list.iter().map(|value| Item::Value(value.clone())).collect::<Vec<Item>>());
    let tables = entry
        .item
        .as_array_of_tables()
        .map(|list| list.iter().map(|table| Item::Table(table.clone())).collect::<Vec<Item>>());
    for (index, item) in inline.or(tables).ok_or_else(problem)?.iter().enumerate() {
        let content = item.as_table_like().ok_or_else(problem)?;
        let prefix = format!("{}[{index}]", entry.path);
        let table = Table { source: entry.source, content, prefix: &prefix };
        let rule = field(kind, table, entry)?;
        let clashes = |other: &FieldRule| {
            other.key == rule.key
                && (other.when == rule.when || rule.when == FieldCondition::Always)
        };
        if rules.iter().any(clashes) {
            return Err(entry.wrong(&format!("the key `{}` stands there twice", rule.key), ""));
        }
        rules.push(rule);
    }
    Ok(rules)
}

fn field(
    kind: ItemKind,
    table: Table<'_>,
    whole: &TomlEntry<'_>,
) -> Result<FieldRule, TomlProblem> {
    let (mut key, mut from, mut shape, mut default, mut constant) = (None, None, None, None, None);
    let mut when = FieldCondition::Always;
    let mut last = whole.clone();
    for entry in table.entries() {
        match entry.key {
            "key" => key = Some(entry.text()?.to_owned()),
            "from" => {
                let found: From = entry.word(&From::ALL.map(|from| (from.as_str(), from)))?;
                let kinds = found.kinds();
                if !kinds.contains(&kind) {
                    let problem = format!("a {kind} has no `{}`", found.as_str());
                    let kinds: Vec<&str> = kinds.iter().map(|kind| kind.folder()).collect();
                    let help = format!("it is a field of {}", kinds.join(" and "));
                    return Err(entry.wrong(&problem, &help));
                }
                from = Some(found);
            }
            "as" => shape = Some(entry.word(&Shape::ALL.map(|shape| (shape.as_str(), shape)))?),
            "default" => default = Some(entry.text()?.to_owned()),
            "value" => constant = Some(self::constant(&entry)?),
            "when" => {
                let words =
                    [("scoped", FieldCondition::Scoped), ("unscoped", FieldCondition::Unscoped)];
                when = entry.word(&words)?;
            }
            _ => return Err(entry.unknown(&FIELD_KEYS)),
        }
        last = TomlEntry { path: table.prefix.to_owned(), ..entry };
    }
    let key = key.filter(|key| !key.is_empty());
    let key = key.ok_or_else(|| last.wrong("the field has no `key`", "name the field"))?;
    let value = match (from, constant) {
        (Some(from), None) => {
            let usual = if from.is_list() { Shape::List } else { Shape::Text };
            let shape = shape.unwrap_or(usual);
            if from.is_list() == (shape == Shape::Text) {
                let problem = format!("`{}` cannot be `{}`", from.as_str(), shape.as_str());
                return Err(last.wrong(
                    &problem,
                    "a list is `list`, `comma`, `bare`, `allow-map` or `only-map`, arguments are also `parameters`",
                ));
            }
            FieldValue::Item { from, shape, default }
        }
        (None, Some(constant)) if shape.is_none() && default.is_none() => {
            FieldValue::Constant(constant)
        }
        _ => return Err(last.wrong("a field has `from`, or `value` alone", "keep one of them")),
    };
    Ok(FieldRule { key, value, when })
}

fn constant(entry: &TomlEntry<'_>) -> Result<Constant, TomlProblem> {
    let text = entry.item.as_str().map(|text| Constant::Text(text.to_owned()));
    let boolean = entry.item.as_bool().map(Constant::Boolean);
    let number = entry.item.as_integer().map(Constant::Number);
    let problem = || entry.wrong("this is not a string, number or boolean", "");
    text.or(boolean).or(number).ok_or_else(problem)
}
