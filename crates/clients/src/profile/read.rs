//! Profiles from TOML: first what our own file says, then what a project changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use brief_dialects::portable::{CAPABILITIES, ItemKind, is_taken_field};
use brief_profiles::{BUILTIN, Client, is_plain_word};
use brief_syntax::toml::{Table, TableReader, TomlEntry, TomlProblem};
use brief_syntax::{Diagnostic, Source, Span, rules, toml};
use toml_edit::{Document, Item, TableLike, Value};

use super::{
    Constant, FieldCondition, FieldRule, FieldValue, From, Layout, OutputForm, Profile, Shape,
    Template, UnknownFields, UnnamedFields, Variant, arguments, shared,
};

/// A client before everything about it was read.
pub(super) struct Draft {
    /// The client without its layouts.
    profile: Profile,
    layouts: [Option<LayoutDraft>; ItemKind::ALL.len()],
    /// The place that names the client, for messages about missing keys.
    source: Arc<Source>,
    span: Span,
}

/// Makes a form with a key for the body; none for Markdown.
type KeyedForm = Option<fn(String) -> OutputForm>;

#[derive(Default)]
struct LayoutDraft {
    path: Option<Template>,
    fields: Option<Vec<FieldRule>>,
    form: KeyedForm,
    body: Option<String>,
    /// The keys that a layout may lack.
    rest: Layout,
}

/// The word for what a client does, and the one for what the document says about it.
const VARIANTS: [(&str, Variant); 2] = [("client", Variant::Client), ("format", Variant::Format)];

/// Reads the compiler's keys of a client's file; `variant` tells which values a client gets, by its name.
pub(super) fn client_file(
    source: &Arc<Source>,
    variant: &dyn Fn(&str) -> Variant,
    diagnostics: &mut Vec<Diagnostic>,
) -> Draft {
    let mut draft = Draft::new("", source, Span::default());
    let Some(document) = toml::parse_toml(source, diagnostics) else { return draft };
    let top = Table { source, content: document.as_table(), prefix: "" };
    // The model of `brief_profiles` knows the other keys.
    let is_compiled = |entry: &TomlEntry<'_>| Client::COMPILED_KEYS.contains(&entry.key);
    let mut keys = TableReader::new(top.entries().filter(is_compiled));
    keys.set_if_present("id", &mut draft.profile.id, TomlEntry::owned_text);
    let format = keys.get("format", |entry| Ok(entry.clone()));
    draft.read_keys(keys, diagnostics);
    if let Some(format) = format.filter(|_| variant(&draft.profile.id) == Variant::Format) {
        match format.table() {
            Ok(table) => draft.read_keys(TableReader::new(table.entries()), diagnostics),
            Err(problem) => diagnostics.push(*problem),
        }
    }
    draft
}

/// Reads a configuration, whose problems are reported elsewhere.
pub(super) fn parse_document(source: &Arc<Source>) -> Option<Document<String>> {
    toml::parse_toml(source, &mut Vec::new())
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
pub(super) fn parse_variant(entry: &TomlEntry<'_>) -> Result<Variant, TomlProblem> {
    entry.match_word(&VARIANTS)
}

/// Applies `[clients]` of a project's configuration.
pub(super) fn with_overrides(
    mut drafts: Vec<Draft>,
    source: &Arc<Source>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Draft> {
    let Some(document) = toml::parse_toml(source, diagnostics) else { return drafts };
    let top = Table { source, content: document.as_table(), prefix: "" };
    let Some(clients) = top.entries().find(|entry| entry.key == "clients") else { return drafts };
    match clients.table() {
        Ok(table) => {
            for client in table.entries() {
                match client.table() {
                    Ok(table) => {
                        let draft = draft_of(&mut drafts, &client, diagnostics);
                        draft.profile.is_usual = true;
                        draft.read_keys(TableReader::new(table.entries()), diagnostics);
                    }
                    Err(problem) => diagnostics.push(*problem),
                }
            }
        }
        Err(problem) => diagnostics.push(*problem),
    }
    drafts
}

/// Returns the client to change, or a new one.
fn draft_of<'d>(
    drafts: &'d mut Vec<Draft>,
    client: &TomlEntry<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> &'d mut Draft {
    let index = drafts.iter().position(|draft| draft.profile.id == client.key);
    let index = index.unwrap_or_else(|| {
        if !is_plain_word(client.key) {
            diagnostics
                .push(*client.invalid_value("invalid client name", "use a-z, 0-9 and hyphens"));
        } else if is_taken_field(client.key) {
            let problem = "a client cannot have the name of a field of the format";
            diagnostics.push(*client.invalid_value(problem, "use another name"));
        }
        drafts.push(Draft::new(client.key, client.source, client.span));
        drafts.len() - 1
    });
    &mut drafts[index]
}

impl Draft {
    fn new(id: &str, source: &Arc<Source>, span: Span) -> Draft {
        let (id, name) = (id.to_owned(), id.to_owned());
        let profile = Profile { id, name, ..Profile::default() };
        Draft { profile, layouts: Default::default(), source: Arc::clone(source), span }
    }

    /// Reads the keys that a project can set for a client, too.
    fn read_keys(&mut self, mut keys: TableReader<'_>, diagnostics: &mut Vec<Diagnostic>) {
        let profile = &mut self.profile;
        keys.set_if_present("name", &mut profile.name, TomlEntry::owned_text);
        // It was looked at before everything else.
        keys.get("profile", parse_variant);
        for (kind, layout) in ItemKind::ALL.into_iter().zip(&mut self.layouts) {
            keys.get(kind.as_str(), |entry| read_layout(layout, kind, entry, diagnostics));
        }
        keys.set_or_remove("bridge", &mut profile.bridge, shared::parse_bridge);
        let known = CAPABILITIES.map(|capability| capability.0);
        let tools = &mut profile.tools;
        keys.get("tools", |entry| read_names(tools, entry, Some(&known), diagnostics));
        keys.get("models", |entry| read_names(&mut profile.models, entry, None, diagnostics));
        let unnamed = [("omit", UnnamedFields::Omit), ("default", UnnamedFields::Default)];
        keys.set_if_present("unnamed", &mut profile.unnamed, |entry| entry.match_word(&unnamed));
        keys.set_if_present("signs", &mut profile.signs, shared::parse_files);
        keys.set_if_present("home-signs", &mut profile.home_signs, shared::parse_files);
        diagnostics.extend(keys.problems().map(|problem| *problem));
    }

    /// Ends the reading: what a client must have is there, or reported.
    pub(super) fn finish(self, diagnostics: &mut Vec<Diagnostic>) -> Option<Profile> {
        let Draft { mut profile, layouts, source, span } = self;
        let before = diagnostics.len();
        let mut missing = |what: String, help: &str| {
            let message = format!("the client `{}` lacks {what}", profile.id);
            diagnostics.push(
                Diagnostic::new(rules::item::INVALID_CONFIG, &source, span, message)
                    .with_help(help),
            );
        };
        if layouts.iter().all(Option::is_none) {
            missing(
                "a table `rule`, `skill`, `agent` or `command`".to_owned(),
                "say what it reads, and where",
            );
        }
        for (kind, layout) in ItemKind::ALL.into_iter().zip(layouts) {
            match layout.map(|layout| layout.finish(kind)).transpose() {
                Ok(layout) => profile.layouts[kind as usize] = layout,
                Err((what, help)) => missing(what, help),
            }
        }
        profile.is_usual |= BUILTIN.find_client(&profile.id).is_none_or(Client::is_usual);
        (diagnostics.len() == before).then_some(profile)
    }
}

/// Reads the table of a kind; `false` takes away what we know.
fn read_layout(
    layout: &mut Option<LayoutDraft>,
    kind: ItemKind,
    entry: &TomlEntry<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<(), TomlProblem> {
    if entry.item.as_bool() == Some(false) {
        *layout = None;
        return Ok(());
    }
    let mut keys = TableReader::new(entry.table()?.entries());
    let draft = layout.get_or_insert_default();
    let rest = &mut draft.rest;
    keys.set_if_present("path", &mut draft.path, |entry| parse_template(entry).map(Some));
    keys.set_if_present("files", &mut rest.files, |entry| match entry.text()? {
        "beside" => Ok(None),
        _ => parse_directory(entry).map(Some),
    });
    keys.set_if_present("fields", &mut draft.fields, |entry| {
        parse_field_rules(kind, entry).map(Some)
    });
    let unknown = [("keep", UnknownFields::Keep), ("drop", UnknownFields::Drop)];
    keys.set_if_present("unknown-fields", &mut rest.unknown, |entry| entry.match_word(&unknown));
    keys.set_if_present("most-characters", &mut rest.most_characters, |entry| {
        let count = entry.item.as_integer().and_then(|count| usize::try_from(count).ok());
        count.map(Some).ok_or_else(|| entry.value_problem("is not a number of characters", ""))
    });
    keys.set_if_present("also-read", &mut rest.also_read, parse_templates);
    keys.get("home", |entry| {
        match entry.item.as_bool() {
            Some(false) => rest.home.is_missing = true,
            _ => rest.home.path = Some(parse_template(entry)?),
        }
        Ok(())
    });
    keys.set_if_present("home-files", &mut rest.home.files, |entry| {
        parse_directory(entry).map(Some)
    });
    keys.set_if_present("home-also-read", &mut rest.home.also_read, |entry| {
        parse_templates(entry).map(Some)
    });
    keys.set_or_remove("shared", &mut rest.listing, shared::parse_listing);
    keys.set_or_remove("mention", &mut rest.mention, shared::parse_mention);
    let forms: [(&str, KeyedForm); 3] =
        [("markdown", None), ("toml", Some(OutputForm::Toml)), ("yaml", Some(OutputForm::Yaml))];
    keys.set_if_present("form", &mut draft.form, |entry| entry.match_word(&forms));
    keys.set_if_present("body", &mut draft.body, |entry| entry.owned_text().map(Some));
    if kind == ItemKind::Command {
        keys.set_if_present("arguments", &mut rest.arguments, arguments::parse_argument_forms);
    }
    diagnostics.extend(keys.problems().map(|problem| *problem));
    Ok(())
}

impl LayoutDraft {
    /// Ends the reading of a kind; the error says what is missing, and what to do.
    fn finish(self, kind: ItemKind) -> Result<Layout, (String, &'static str)> {
        let LayoutDraft { path, fields, form, body, rest } = self;
        let form = match (form, body) {
            (None, None) => OutputForm::Markdown,
            (Some(form), Some(key)) => form(key),
            _ => {
                return Err((
                    format!("`{kind}.form` or `{kind}.body`"),
                    "TOML and YAML have a key for the body",
                ));
            }
        };
        let (Some(path), Some(fields)) = (path, fields) else {
            let what = format!("`{kind}.path` or `{kind}.fields`");
            return Err((what, "an output needs a path and fields"));
        };
        let lacks = |key: &str| {
            let what = format!("`{kind}.{key}`, a directory for the files beside an item");
            (what, "its outputs share a directory, so other files need a separate one")
        };
        if rest.files.is_none() {
            if !path.has_own_directory() {
                return Err(lacks("files"));
            }
            let home = rest.home.path.as_ref();
            if rest.home.files.is_none() && home.is_some_and(|home| !home.has_own_directory()) {
                return Err(lacks("home-files"));
            }
        }
        Ok(Layout { path, fields, form, ..rest })
    }
}

fn parse_template(entry: &TomlEntry<'_>) -> Result<Template, TomlProblem> {
    let help = "write a path like `.client/rules/{name}.md`";
    Template::new(entry.text()?).map_err(|problem| entry.value_problem(problem, help))
}

fn parse_templates(entry: &TomlEntry<'_>) -> Result<Vec<Template>, TomlProblem> {
    let help = "write paths like `.client/skills/{name}/SKILL.md`";
    let texts = entry.text_list()?;
    let places = texts.iter().map(|text| Template::new(text));
    places.collect::<Result<_, _>>().map_err(|problem| entry.value_problem(problem, help))
}

fn parse_directory(entry: &TomlEntry<'_>) -> Result<Template, TomlProblem> {
    let help = "write a directory like `.agents/rules/{name}`";
    match Template::new(entry.text()?) {
        Ok(template) if template.ends_in_name() || template.has_own_directory() => Ok(template),
        Ok(_) => Err(entry.value_problem("is the same for all items", help)),
        Err(problem) => Err(entry.value_problem(problem, help)),
    }
}

/// Reads names for tools or models; `false` takes one away.
fn read_names(
    names: &mut BTreeMap<String, String>,
    entry: &TomlEntry<'_>,
    known: Option<&[&str]>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<(), TomlProblem> {
    for entry in entry.table()?.entries() {
        if let Some(known) = known.filter(|known| !known.contains(&entry.key)) {
            diagnostics.push(*entry.unknown_key(known));
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
                diagnostics.push(*entry.value_problem("is not a name", help));
            }
        }
    }
    Ok(())
}

fn parse_field_rules(kind: ItemKind, entry: &TomlEntry<'_>) -> Result<Vec<FieldRule>, TomlProblem> {
    let problem =
        || entry.value_problem("is not a list of fields", "write `[{ key = …, from = … }]`");
    let mut rules: Vec<FieldRule> = Vec::new();
    // Both spellings of a list of tables: inline, and `[[…]]`.
    let tables: Option<Vec<&dyn TableLike>> = match entry.item {
        Item::Value(Value::Array(list)) => {
            list.iter().map(|value| value.as_inline_table().map(|table| table as _)).collect()
        }
        Item::ArrayOfTables(list) => Some(list.iter().map(|table| table as _).collect()),
        _ => None,
    };
    for (index, content) in tables.ok_or_else(problem)?.into_iter().enumerate() {
        let prefix = format!("{}[{index}]", entry.path);
        let table = Table { source: entry.source, content, prefix: &prefix };
        let rule = parse_field_rule(kind, table, entry)?;
        let clashes = |other: &FieldRule| {
            other.key == rule.key
                && (other.when == rule.when || rule.when == FieldCondition::Always)
        };
        if rules.iter().any(clashes) {
            return Err(entry.invalid_value(&format!("duplicate key `{}`", rule.key), ""));
        }
        rules.push(rule);
    }
    Ok(rules)
}

fn parse_field_rule(
    kind: ItemKind,
    table: Table<'_>,
    whole: &TomlEntry<'_>,
) -> Result<FieldRule, TomlProblem> {
    let mut keys = TableReader::new(table.entries());
    let key = keys.get("key", TomlEntry::owned_text);
    let from = keys.get("from", |entry| {
        let from = entry.match_word(&From::WORDS)?;
        if from.kinds().contains(&kind) {
            return Ok(from);
        }
        let kinds: Vec<&str> = from.kinds().iter().map(|kind| kind.folder()).collect();
        let help = format!("is a field of {}", kinds.join(" and "));
        Err(entry.invalid_value(&format!("a {kind} has no field `{}`", from.as_str()), &help))
    });
    let shape = keys.get("as", |entry| entry.match_word(&Shape::WORDS));
    let default = keys.get("default", TomlEntry::owned_text);
    let constant = keys.get("value", parse_constant);
    let conditions = [("scoped", FieldCondition::Scoped), ("unscoped", FieldCondition::Unscoped)];
    let when = keys.get("when", |entry| entry.match_word(&conditions)).unwrap_or_default();
    keys.finish()?;
    // A problem of the whole field is shown at its last key.
    let path = table.prefix.to_owned();
    let last = table.entries().last().map(|entry| TomlEntry { path, ..entry });
    let last = last.unwrap_or_else(|| whole.clone());
    let key = key.filter(|key| !key.is_empty());
    let key = key.ok_or_else(|| last.invalid_value("the field has no `key`", "name the field"))?;
    let value = match (from, constant) {
        (Some(from), None) => {
            let usual = if from.is_list() { Shape::List } else { Shape::Text };
            let shape = shape.unwrap_or(usual);
            if from.is_list() == (shape == Shape::Text) {
                let problem = format!("`{}` cannot be `{}`", from.as_str(), shape.as_str());
                return Err(last.invalid_value(
                    &problem,
                    "write `list`, `comma`, `bare`, `allow-map` or `only-map` for a list; arguments may also be `parameters`",
                ));
            }
            FieldValue::Item { from, shape, default }
        }
        (None, Some(constant)) if shape.is_none() && default.is_none() => {
            FieldValue::Constant(constant)
        }
        _ => {
            return Err(
                last.invalid_value("a field has either `from` or `value`", "keep one of them")
            );
        }
    };
    Ok(FieldRule { key, value, when })
}

fn parse_constant(entry: &TomlEntry<'_>) -> Result<Constant, TomlProblem> {
    let text = entry.item.as_str().map(|text| Constant::Text(text.to_owned()));
    let boolean = entry.item.as_bool().map(Constant::Boolean);
    let number = entry.item.as_integer().map(Constant::Number);
    let problem = || entry.value_problem("is not a string, number or boolean", "");
    text.or(boolean).or(number).ok_or_else(problem)
}
