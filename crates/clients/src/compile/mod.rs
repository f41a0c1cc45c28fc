//! Compiles an item to the files of a client.
//!
//! This is pure: an item and a profile in, paths and texts out. Files beside an item are named, not read; the
//! registry copies them. The order is that of the specification: the client's body, the heading, the links,
//! and the layout last.

mod arguments;
mod body;
mod clients;
mod evidence;
pub(crate) mod fields;
mod needs;
mod reach;
#[cfg(test)]
mod tests;
mod toml;
mod written;
pub(crate) mod yaml;

use brief_dialects::portable::{ItemKind, PortableItem};
use brief_syntax::yaml::Node;
use brief_syntax::{Diagnostic, Rule, Span, rules};

use crate::profile::{
    AgentSkills, FieldCondition, FieldValue, From, Layout, OutputForm, Profile, ProfileOptions,
    Sharing,
};

use body::Bodies;
use fields::has_override;
use yaml::Map;

pub use clients::{Clients, UnknownClient};
pub use evidence::ClientsInUse;
pub use needs::UnsupportedServer;

pub use brief_dialects::portable::output::{Compiled, OutputContent, OutputFile};

/// Compiles an item for one client; `clients` are the names of all known clients.
///
/// A client that the item excludes, or that lacks items of its kind, gets no files.
pub fn compile(
    item: &PortableItem,
    profile: &Profile,
    options: &ProfileOptions,
    clients: &[&str],
) -> Compiled {
    compile_for(item, &[profile], options, clients)
}

/// Compiles an item for several clients. Common work is done once, and a file that several clients share is
/// returned once.
pub fn compile_for(
    item: &PortableItem,
    profiles: &[&Profile],
    options: &ProfileOptions,
    clients: &[&str],
) -> Compiled {
    if let Some(client) = item.written_for() {
        return written::compile(item, client, profiles, *options, clients);
    }
    let mut compiled = Compiled::default();
    let mut bodies = Bodies::default();
    let mut outputs = Vec::new();
    for profile in profiles.iter().filter(|profile| item.is_for(profile.id())) {
        let one = Compiler { item, profile, options, clients };
        outputs.extend(one.run(&mut bodies, &mut compiled.diagnostics));
    }
    // Agents differ in their fields and in the names of tools, commands in their arguments.
    let is_same = matches!(item.kind(), ItemKind::Rule | ItemKind::Skill);
    if options.sharing == Sharing::Shared && is_same {
        share(&mut outputs);
    }
    for ClientOutput { path, files, text, .. } in outputs {
        add(&mut compiled, OutputFile { path, content: OutputContent::Text(text) });
        for file in item.files() {
            let path = format!("{files}/{}", file.path);
            add(
                &mut compiled,
                OutputFile { path, content: OutputContent::Copy(file.path.clone()) },
            );
        }
    }
    compiled
}

/// The output of an item for one client.
struct ClientOutput {
    /// The path of the file.
    path: String,
    /// The directory of the files beside it.
    files: String,
    text: String,
    /// The content to compare; `None` for an output that cannot be shared.
    ///
    /// For a skill it is the whole text; for a rule the body, because each client has other fields: Copilot
    /// CLI 1.0.102 (seen on 2026-11-16) reads `paths` of Claude Code's rules as it reads its own `applyTo`.
    says: Option<String>,
    /// Other paths at which the client finds the file, too.
    also_read: Vec<String>,
}

impl ClientOutput {
    /// Returns whether the client finds this very item at the path of another output.
    fn is_found_at(&self, other: &ClientOutput) -> bool {
        self.path == other.path
            || self.says.is_some()
                && self.says == other.says
                && self.also_read.contains(&other.path)
    }
}

/// Keeps the fewest outputs that serve all clients: of two paths, the one that more clients read.
fn share(outputs: &mut Vec<ClientOutput>) {
    let mut unserved: Vec<usize> = (0..outputs.len()).collect();
    let mut kept = Vec::new();
    while !unserved.is_empty() {
        let served = |place: usize| {
            unserved.iter().filter(|&&own| outputs[own].is_found_at(&outputs[place])).count()
        };
        // Every client reads its own path, so one output is always left.
        let best = (0..outputs.len()).rev().max_by_key(|&place| served(place)).unwrap_or_default();
        unserved.retain(|&own| !outputs[own].is_found_at(&outputs[best]));
        kept.push(best);
    }
    let mut number = 0..;
    outputs.retain(|_| number.next().is_some_and(|number| kept.contains(&number)));
}

/// Returns the fields that a client gets.
pub(crate) fn fields_for(item: &PortableItem, profile: &Profile, clients: &[&str]) -> Map {
    let options = ProfileOptions::default();
    let compiler = Compiler { item, profile, options: &options, clients };
    let layout = profile.layout(item.kind());
    layout.map(|layout| compiler.fields(layout, &mut Vec::new())).unwrap_or_default()
}

/// The compiler of one item for one client.
struct Compiler<'c> {
    item: &'c PortableItem,
    profile: &'c Profile,
    options: &'c ProfileOptions,
    clients: &'c [&'c str],
}

impl Compiler<'_> {
    fn run(&self, bodies: &mut Bodies, diagnostics: &mut Vec<Diagnostic>) -> Option<ClientOutput> {
        let (scope, name) = (self.options.scope, self.item.name());
        let layout = self.profile.layout_in(self.item.kind(), scope)?;
        let path = layout.path_in(scope).fill(name);
        let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
        let files = layout.files_in(scope).map(|files| files.fill(name));
        let files = files.unwrap_or_else(|| directory.to_owned());
        let fields = self.fields(layout, diagnostics);
        self.check_scope(layout, diagnostics);
        let place = body::OutputDirs { path: &path, directory, files: &files };
        let body = self.body(layout, &place, bodies, diagnostics);
        if let Some(most) = layout.most_characters {
            self.check_length(&body, most, diagnostics);
        }
        // An item in another format is copied byte for byte.
        let is_untouched = self.item.is_foreign()
            && !has_override(self.item, self.profile.id())
            && self.options.agent_skills == AgentSkills::Extended;
        let text = if is_untouched {
            self.item.document().source().text().to_owned()
        } else {
            match &layout.form {
                // An imported text is the whole file, then.
                OutputForm::Markdown if fields.is_empty() && self.item.is_verbatim() => {
                    body.clone()
                }
                OutputForm::Markdown if fields.is_empty() => body.trim_start().to_owned(),
                OutputForm::Markdown => format!("---\n{}---\n{body}", yaml::write(&fields)),
                OutputForm::Toml { body: key } => toml::write(&fields, key, body.trim_start()),
            }
        };
        let also_read = layout.also_read_in(scope).iter().map(|place| place.fill(name)).collect();
        let says = match self.item.kind() {
            ItemKind::Rule => {
                let is_plain = self.item.passthrough(self.profile.id()).is_none();
                is_plain.then_some(body)
            }
            _ => Some(text.clone()),
        };
        Some(ClientOutput { path, files, text, says, also_read })
    }

    /// Warns about a rule with a scope for a client that always loads rules (§3.2).
    fn check_scope(&self, layout: &Layout, diagnostics: &mut Vec<Diagnostic>) {
        let reads_scope = layout.fields.iter().any(|rule| {
            matches!(rule.value, FieldValue::Item { from: From::ScopePaths, .. })
                || rule.when != FieldCondition::Always
        });
        if reads_scope || self.item.scope_paths().is_empty() {
            return;
        }
        let span = self.item.document().field("scope").map(Node::span).unwrap_or_default();
        let message = format!(
            "the rule `{}` is for some files, and {} loads it for all: its rules have no scope",
            self.item.name(),
            self.profile.name()
        );
        let help = format!(
            "say in the text which files it is about, or leave {} out with `audience`",
            self.profile.id()
        );
        diagnostics
            .push(self.warning(rules::portable::SCOPE_DROPPED, span, message).with_help(help));
    }

    fn check_length(&self, body: &str, most: usize, diagnostics: &mut Vec<Diagnostic>) {
        let length = body.trim().chars().count();
        if length > most {
            let message = format!(
                "the body has {length} characters; {} takes {most} of {}",
                self.profile.name(),
                self.item.kind().folder()
            );
            diagnostics.push(
                self.warning(rules::portable::BODY_TOO_LONG, Span::default(), message)
                    .with_help("move parts of it to files beside it"),
            );
        }
    }

    fn warning(&self, rule: Rule, span: Span, message: String) -> Diagnostic {
        Diagnostic::new(rule, self.item.document().source(), span, message)
    }
}

/// Adds a file, unless another client has added the same one.
fn add(compiled: &mut Compiled, file: OutputFile) {
    if !compiled.files.contains(&file) {
        compiled.files.push(file);
    }
}
