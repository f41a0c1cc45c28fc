//! An imported item while it is made, and its text.

use std::path::PathBuf;
use std::sync::Arc;

use brief_dialects::native::{RuleScope, RuleUse};
use brief_dialects::portable::{
    ItemId, ItemKind, Override, PortableItem, SupportFile, is_format_field, is_sound,
};
use brief_profiles::Form;
use brief_syntax::Source;
use brief_syntax::markdown::format_markdown;

use crate::compile::as_written::says_scope;
use crate::compile::yaml::{self, Map, YamlValue, parts_of, text_of};
use crate::compile::{OutputContent, compile_item, fields_for};
use crate::profile::{
    FieldCondition, FieldRule, FieldValue, From, Layout, OutputForm, Profile, ProfileOptions,
    Profiles, Shape, UnknownFields,
};

use super::header::{self, Header, key_of};
use super::{
    DESCRIPTION_LENGTH, ImportNote, MADE_LENGTH, OriginalFile, arguments, describe_use, peers,
    tables,
};

/// The fields of one client alone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClientBlock(pub(crate) Map);

impl ClientBlock {
    /// Returns the names of the fields that say something.
    pub(crate) fn field_names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|(_, value)| !value.is_null()).map(|(key, _)| key_of(key))
    }
}

/// A file that an item was made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The path that it was read from.
    pub path: PathBuf,
    /// The client; `None` for a file that several read.
    pub client: Option<String>,
    /// The form of its front matter.
    pub form: Form,
    /// The directory that it is about.
    pub about: String,
    /// Its text below the front matter.
    pub body: String,
    pub(super) header: Header,
}

/// A portable item that was made from a client's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedItem {
    pub kind: ItemKind,
    pub name: String,
    /// The clients that it is for; all, if there are none.
    pub clients: Vec<String>,
    /// The patterns of the files that it is for.
    pub scope: Vec<String>,
    pub description: String,
    /// The body, from the line after the header.
    pub body: String,
    /// The bodies for single clients.
    pub overrides: Vec<(String, String)>,
    pub blocks: Vec<(String, ClientBlock)>,
    /// Everything that it does not say in the words of the format.
    pub notes: Vec<ImportNote>,
    /// The files that it was made from.
    pub members: Vec<Member>,
    /// The other fields of the format, in order.
    pub(crate) fields: Map,
    /// The fields that the format requires and the original does not have.
    pub(crate) unsaid: Vec<&'static str>,
    /// True if the body is written as it stands.
    pub(crate) is_verbatim: bool,
    /// The fields of clients that mean what the item says, as the originals have them.
    pub(crate) written: Vec<(String, Map)>,
}

impl ImportedItem {
    pub(super) fn new(kind: ItemKind, name: String, body: String) -> ImportedItem {
        ImportedItem {
            kind,
            name,
            clients: Vec::new(),
            scope: Vec::new(),
            description: String::new(),
            body,
            overrides: Vec::new(),
            blocks: Vec::new(),
            notes: Vec::new(),
            members: Vec::new(),
            fields: Map::new(),
            unsaid: Vec::new(),
            is_verbatim: true,
            written: Vec::new(),
        }
    }

    pub(super) fn add_note(&mut self, field: Option<&str>, message: impl Into<String>) {
        self.notes.push(ImportNote::new(field, message));
    }

    /// Sets the description, as long as the format allows it.
    pub(super) fn set_description(&mut self, text: &str) {
        self.description = shorten_description(text.trim(), DESCRIPTION_LENGTH);
    }

    /// Sets another field of the format.
    pub(super) fn set_field(&mut self, field: &str, value: YamlValue) {
        self.fields.push((YamlValue::from_text(field), value));
    }

    /// Takes the scope of a rule over, as far as the format can say it.
    pub(super) fn scope_of(&mut self, file: &OriginalFile<'_>, scope: &RuleScope) {
        if let Some(message) = describe_use(scope.used).filter(|_| scope.used != RuleUse::Never) {
            self.add_note(None, message);
        }
        if !scope.unsaid.is_empty() {
            let patterns = scope.unsaid.join("`, `");
            let message = format!(
                "the format cannot express `{patterns}`; the whole field is in the client's block"
            );
            self.add_note(scope.field, message);
            return;
        }
        self.scope = match (file.about, &scope.patterns[..]) {
            ("", patterns) => patterns.to_vec(),
            (about, []) => vec![format!("{about}/**")],
            (about, patterns) => {
                patterns.iter().map(|pattern| format!("{about}/{pattern}")).collect()
            }
        };
    }

    /// Fills in the fields: the format's own, then the client's block with what would come out otherwise.
    pub(super) fn fill_fields(
        &mut self,
        file: &OriginalFile<'_>,
        header: &Header,
        clients: &[&str],
    ) {
        let description =
            header.get("description").and_then(text_of).filter(|text| !text.is_empty());
        match description {
            Some(text) => self.set_description(text),
            None => {
                self.description = self.made_description(file);
                self.unsaid.push("description");
            }
        }
        let own = header.get("name").and_then(text_of);
        if own.is_none() {
            self.unsaid.push("name");
        }
        let Some(profile) = file.client else {
            self.fields_of_all(file, header, clients);
            return self.as_written(clients);
        };
        let layout = profile.layout(self.kind);
        for rule in layout.into_iter().flat_map(|layout| &layout.fields) {
            if let (Some(value), FieldValue::Item { from, shape, .. }) =
                (header.get(&rule.key), &rule.value)
            {
                self.import_field(*from, value, *shape, profile);
            }
        }
        if layout.is_some_and(|layout| layout.unknown == UnknownFields::Keep) {
            self.keep_unknown(header, layout, clients);
        }
        if let Some(layout) = layout.filter(|_| self.kind == ItemKind::Command) {
            self.arguments_of(layout);
        }
        self.as_written(clients);
        match layout {
            Some(layout) => self.complete_client_block(0, profile, layout, clients),
            None => self.put_into_block(profile.id(), header.fields.clone()),
        }
        // Another tool's files are for all of its clients, whatever fields they have.
        if file.peer.is_some() {
            self.clients.clear();
        }
    }

    /// Takes the fields of a file that several clients read.
    fn fields_of_all(&mut self, file: &OriginalFile<'_>, header: &Header, clients: &[&str]) {
        let mut fields = header.fields.clone();
        if file.peer.is_some() {
            let targets = peers::extract_targets(&mut fields, clients);
            self.clients = targets.clients;
            for (client, block) in targets.blocks {
                self.put_into_block(&client, block);
            }
            for name in targets.unknown {
                self.add_note(Some("targets"), format!("unknown client `{name}`"));
            }
        }
        for (key, value) in fields {
            let name = key_of(&key);
            // `globs` are the scope, and the rest says what the format says without it.
            let is_said = matches!(name, "name" | "description" | "globs" | "root");
            if !is_said && !value.is_null() {
                self.add_note(Some(name), "is lost: no client has a block for it");
            }
        }
    }

    /// Makes the blocks of its clients anew, after files were united.
    pub(super) fn settle_all(&mut self, profiles: &Profiles, clients: &[&str]) {
        let is_of_member = |client: &str, members: &[Member]| {
            members.iter().any(|member| member.client.as_deref() == Some(client))
        };
        self.blocks.retain(|(client, _)| !is_of_member(client, &self.members));
        self.written.clear();
        for number in 0..self.members.len() {
            let Some(client) = self.members[number].client.clone() else { continue };
            if is_of_member(&client, &self.members[..number]) {
                continue;
            }
            let profile = profiles.get(&client);
            if let Some((profile, layout)) =
                profile.and_then(|own| Some((own, own.layout(self.kind)?)))
            {
                self.complete_client_block(number, profile, layout, clients);
            }
        }
    }

    /// Returns the item if it could be compiled, or else one whose client's block has all fields: a rule with the
    /// patterns of two clients contradicts itself in the words of the format.
    pub(super) fn into_sound_item(
        mut self,
        profiles: &Profiles,
        clients: &[&str],
    ) -> Option<ImportedItem> {
        if is_sound(&self.to_portable_item(), clients) {
            return Some(self);
        }
        // The arguments of a command stand in its body, too.
        if self.kind == ItemKind::Command {
            return None;
        }
        self.scope.clear();
        self.fields.clear();
        self.add_note(None, "its fields contradict each other in the shared format; they are only in the client's block");
        self.settle_all(profiles, clients);
        is_sound(&self.to_portable_item(), clients).then_some(self)
    }

    pub(super) fn rename(&mut self, name: String) {
        if !self.is_verbatim {
            // The heading was the old name.
            self.body.clone_from(&self.members[0].body);
            self.is_verbatim = true;
        }
        self.name = name;
    }

    /// Returns a field of the format.
    pub(super) fn find_field(&self, name: &str) -> Option<&YamlValue> {
        header::find_field_value(&self.fields, name)
    }

    /// Replaces the client's syntax for arguments in the body by the format's, and records their names.
    fn arguments_of(&mut self, layout: &Layout) {
        let (body, names) = arguments::convert_arguments(&self.body, &layout.arguments);
        if !names.is_empty() {
            self.set_field("arguments", YamlValue::from_texts(names));
        }
        self.body = body;
    }

    /// Keeps a client's own body where the compiler would write another one.
    pub(super) fn keep_body(&mut self, original: &str, profile: &Profile, clients: &[&str]) {
        let compiled =
            compile_item(&self.to_portable_item(), profile, &ProfileOptions::default(), clients);
        let text = compiled.files.iter().find_map(|file| match &file.content {
            OutputContent::Text(text) => Some(text),
            OutputContent::Copy(_) => None,
        });
        let form = profile.layout(self.kind).map(|layout| &layout.form);
        let is_same = |text: &String| {
            let parsed = match form {
                Some(OutputForm::Toml(key)) => Header::of_toml(text, key),
                Some(OutputForm::Yaml(key)) => Header::of_yaml(text, key),
                Some(OutputForm::Markdown) | None => return text.ends_with(original),
            };
            parsed.is_some_and(|(_, again)| again == original)
        };
        if text.is_some_and(is_same) {
            return;
        }
        self.add_note(
            None,
            "the format cannot express all its arguments; the client keeps its own body",
        );
        self.overrides.push((profile.id().to_owned(), original.to_owned()));
    }

    /// Sets a field of the format from a client's, if the format can say it.
    fn import_field(&mut self, from: From, value: &YamlValue, shape: Shape, profile: &Profile) {
        let found = match from {
            // Names of arguments are found in the body.
            From::Name | From::Description | From::ScopePaths | From::Arguments => None,
            From::Mode => tables::parse_agent_mode(value).map(YamlValue::from_text),
            From::Model => text_of(value)
                .and_then(|name| tables::find_model_alias(name, &profile.models))
                .map(YamlValue::from_text),
            From::Tools => tables::translate_tools(value, shape, profile).map(|(capabilities, others)| {
                if !others.is_empty() {
                    let message = format!(
                        "the format cannot express `{}`; the list is also in the client's block",
                        others.join("`, `")
                    );
                    self.add_note(Some("tools"), message);
                }
                YamlValue::from_texts(capabilities)
            }),
            From::ArgumentHint => text_of(value).map(YamlValue::from_text),
            From::PreloadSkills => parts_of(value).map(YamlValue::from_texts),
        };
        if let Some(value) = found {
            self.set_field(from.as_str(), value);
        }
    }

    /// Hands fields of a skill on that the format does not know.
    fn keep_unknown(&mut self, header: &Header, layout: Option<&Layout>, clients: &[&str]) {
        let is_of_client = |key: &str| {
            layout.is_some_and(|layout| layout.fields.iter().any(|rule| rule.key == key))
        };
        for (key, value) in &header.fields {
            let name = key_of(key);
            if !is_format_field(name)
                && !clients.contains(&name)
                && !is_of_client(name)
                && !value.is_null()
            {
                self.fields.push((key.clone(), value.clone()));
            }
        }
    }

    /// Compiles the item again, and puts what would come out otherwise into the client's block.
    fn complete_client_block(
        &mut self,
        number: usize,
        profile: &Profile,
        layout: &Layout,
        clients: &[&str],
    ) {
        let Some(member) = self.members.get(number).cloned() else { return };
        let header = &member.header;
        let form = layout.pattern_form().unwrap_or(member.form);
        // A scope that would come out otherwise is said in the block alone, which changes the other fields.
        for _ in 0..2 {
            let (mut block, mut written) = (Map::new(), Map::new());
            // No field depends on the body.
            let compiled = fields_for(
                &self.build_portable_item(self.render_front_matter(), Vec::new()),
                profile,
                clients,
            );
            let mut is_scope_lost = false;
            for (key, value) in &header.fields {
                let name = key_of(key);
                let rule = layout.fields.iter().find(|rule| rule.key == name);
                let again = header::find_field_value(&compiled, name);
                let Some(original) = header.get(name) else { continue };
                let is_meant = |value| self.is_meant(rule, value, again, form);
                if again.is_some_and(|again| is_same(rule, header, original, again)) {
                    continue;
                }
                if again.is_some() && is_meant(original) {
                    written.push((key.clone(), as_line(rule, header, value)));
                    continue;
                }
                // The patterns of a directory below are seen from the root.
                let has_scope = is_scope(rule) && !self.scope.is_empty();
                if !has_scope || !again.is_some_and(is_meant) {
                    is_scope_lost |= has_scope;
                    block.push((key.clone(), value.clone()));
                }
            }
            for (key, _) in &compiled {
                let name = key_of(key);
                let rule = layout.fields.iter().find(|rule| rule.key == name);
                if header.get(name).is_none() && !self.is_about(&member, rule) {
                    block.push((key.clone(), YamlValue::null()));
                }
            }
            if is_scope_lost {
                let message = "a build would change which files its patterns match; they are only in the client's block";
                self.add_note(Some("scope"), message);
                self.scope.clear();
                continue;
            }
            self.put_into_block(profile.id(), block);
            if !written.is_empty() {
                self.written.push((profile.id().to_owned(), written));
            }
            return;
        }
    }

    /// Returns whether a field says when to load a file that says so by its place: `CLAUDE.md`, or a file of a
    /// directory below.
    fn is_about(&self, member: &Member, rule: Option<&FieldRule>) -> bool {
        let is_placed = matches!(member.form, Form::Instructions | Form::Legacy)
            || !member.about.is_empty() && !self.scope.is_empty();
        let is_conditional = |rule: &FieldRule| rule.when != FieldCondition::Always;
        is_placed && (is_scope(rule) || rule.is_some_and(is_conditional))
    }

    /// Returns whether a value of a field means what the item says, in whatever words.
    fn is_meant(
        &self,
        rule: Option<&FieldRule>,
        value: &YamlValue,
        again: Option<&YamlValue>,
        form: Form,
    ) -> bool {
        match rule.and_then(FieldRule::from) {
            Some(From::ScopePaths) => {
                let scope: Vec<&str> = self.scope.iter().map(String::as_str).collect();
                says_scope(form, value, &scope)
            }
            Some(From::Tools | From::PreloadSkills) => {
                let parts = parts_of(value);
                parts.is_some() && parts == again.and_then(parts_of)
            }
            _ => false,
        }
    }

    fn put_into_block(&mut self, client: &str, fields: Map) {
        if !fields.is_empty() {
            self.blocks.push((client.to_owned(), ClientBlock(fields)));
        }
    }

    /// Decides whether the body has to be written as it stands, or is what the compiler would write of it.
    fn as_written(&mut self, clients: &[&str]) {
        let title = format!("\n# {}\n\n", self.name);
        let Some(rest) = self.body.strip_prefix(&title) else { return };
        if format_markdown(&self.body[1..]).text.trim_end() != self.body.trim()
            || !self.body.ends_with('\n')
        {
            return;
        }
        let plain = ImportedItem { body: format!("\n{rest}"), is_verbatim: false, ..self.clone() };
        if is_sound(&plain.to_portable_item(), clients) {
            (self.body, self.is_verbatim) = (plain.body, false);
        }
    }

    fn made_description(&self, file: &OriginalFile<'_>) -> String {
        let line = self
            .body
            .lines()
            .map(|line| line.trim_matches(['#', '*', '-', '>', '_', ' ', '\t', '\r']));
        let is_text =
            |line: &&str| line.chars().any(char::is_alphanumeric) && !line.starts_with("<!");
        let first = line.into_iter().find(is_text);
        let made = first
            .map(|line| line.chars().filter(|letter| !letter.is_control()).collect::<String>());
        let made = made.filter(|text| !text.trim().is_empty());
        shorten_description(
            &made.unwrap_or_else(|| format!("Imported from {}", file.source.path().display())),
            MADE_LENGTH,
        )
    }

    /// Returns the rule as an entry of `AGENTS.yaml`.
    pub(super) fn build_entry(&self) -> YamlValue {
        YamlValue::Map(vec![
            (YamlValue::from_text("content"), YamlValue::from_text(self.body.trim())),
            (YamlValue::from_text("match"), YamlValue::from_texts(&self.scope)),
        ])
    }

    /// Returns the text of its entry file.
    pub fn render_text(&self) -> String {
        let mut text = self.render_front_matter();
        text.push_str(&self.body);
        text
    }

    /// Returns the front matter of its entry file.
    fn render_front_matter(&self) -> String {
        let field = |key: &str, value: YamlValue| (YamlValue::from_text(key), value);
        let mut fields: Map = vec![
            field("schema", YamlValue::Bare("1".to_owned())),
            field("name", YamlValue::from_text(&self.name)),
            field("description", YamlValue::from_text(&self.description)),
        ];
        if !self.clients.is_empty() {
            fields.push(field("audience", YamlValue::from_texts(&self.clients)));
        }
        if !self.scope.is_empty() {
            let paths = field("paths", YamlValue::from_texts(&self.scope));
            fields.push(field("scope", YamlValue::Map(vec![paths])));
        }
        fields.extend(self.fields.iter().cloned());
        for (client, block) in &self.blocks {
            fields.push(field(client, YamlValue::Map(block.0.clone())));
        }
        let mut imported = Map::new();
        if self.is_verbatim {
            imported.push(field("body", YamlValue::from_text("verbatim")));
        }
        if !self.unsaid.is_empty() {
            imported.push(field("unsaid", YamlValue::from_texts(self.unsaid.iter().copied())));
        }
        if !self.written.is_empty() {
            let each =
                |(client, fields): &(String, Map)| field(client, YamlValue::Map(fields.clone()));
            let written = self.written.iter().map(each).collect();
            imported.push(field("written", YamlValue::Map(written)));
        }
        if !imported.is_empty() {
            let imported = field("imported", YamlValue::Map(imported));
            fields.push(field("metadata", YamlValue::Map(vec![imported])));
        }
        format!("---\n{}---\n", yaml::render_yaml(&fields))
    }

    /// Returns the item as the compiler takes it.
    pub fn to_portable_item(&self) -> PortableItem {
        self.with_files(Vec::new())
    }

    /// Returns the item with the files beside it.
    pub fn with_files(&self, files: Vec<SupportFile>) -> PortableItem {
        self.build_portable_item(self.render_text(), files)
    }

    fn build_portable_item(&self, text: String, files: Vec<SupportFile>) -> PortableItem {
        let id = ItemId { kind: self.kind, name: self.name.clone() };
        let directory = format!("{}/{}", self.kind.folder(), self.name);
        let source =
            |name: String, text: String| Arc::new(Source::new(format!("{directory}/{name}"), text));
        let overrides = self.overrides.iter().map(|(client, body)| Override {
            client: client.clone(),
            source: source(format!("{}.{client}.md", self.kind.stem()), body.clone()),
        });
        let overrides = overrides.collect();
        let text = source(self.kind.entrypoint().to_owned(), text);
        PortableItem::from_source(id, &text, overrides, files)
    }
}

fn is_scope(rule: Option<&FieldRule>) -> bool {
    rule.and_then(FieldRule::from) == Some(From::ScopePaths)
}

/// Returns whether a field comes out as it was.
fn is_same(
    rule: Option<&FieldRule>,
    header: &Header,
    original: &YamlValue,
    again: &YamlValue,
) -> bool {
    match (rule, again) {
        (Some(own), YamlValue::Bare(text)) if own.is_bare() => {
            header.find_line(&own.key) == Some(text.as_str())
        }
        _ => {
            original == again || text_of(original).is_some_and(|text| Some(text) == text_of(again))
        }
    }
}

/// Returns a value as an item records it: by its line, if clients read lines.
fn as_line(rule: Option<&FieldRule>, header: &Header, value: &YamlValue) -> YamlValue {
    let line = rule.filter(|rule| rule.is_bare()).and_then(|rule| header.find_line(&rule.key));
    line.map_or_else(|| value.clone(), YamlValue::from_text)
}

/// Cuts a text at the end of a word.
fn shorten_description(text: &str, most: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(most) else { return text.to_owned() };
    let cut = &text[..end];
    let end = cut.rfind([' ', '\n']).filter(|&at| at > end / 2).unwrap_or(end);
    // The mark of the cut has to fit, too.
    let mut cut: String = cut[..end].chars().take(most - 1).collect();
    cut.truncate(cut.trim_end().len());
    cut.push('…');
    cut
}
