//! Compiles an item to the files of a client.
//!
//! This is pure: an item and a profile in, paths and texts out. Files beside an item are named, not read; the
//! registry copies them. The order is that of the specification: the client's body, the heading, the links,
//! and the layout last.

mod arguments;
pub(crate) mod as_written;
mod body;
mod clients;
mod evidence;
pub(crate) mod fields;
mod needs;
mod permissions;
mod reach;
#[cfg(test)]
mod tests;
mod toml;
mod written;
pub(crate) mod yaml;

use brief_dialects::portable::{ItemKind, PortableItem};
use brief_profiles::BUILTIN;
use brief_syntax::yaml::Node;
use brief_syntax::{Diagnostic, Rule, Span, rules};

use crate::profile::{AgentSkills, From, Layout, OutputForm, Profile, ProfileOptions, Sharing};

use body::Bodies;
use fields::has_override;
use yaml::Map;

pub use clients::Clients;
pub use evidence::ClientsInUse;
pub use needs::UnsupportedServer;
pub use permissions::UnsaidRule;

pub use brief_dialects::portable::output::{Compiled, OutputContent, OutputFile};

/// Compiles an item for one client; `clients` are the names of all known clients.
///
/// A client that the item excludes, or that lacks items of its kind, gets no files.
pub fn compile_item(
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
        return written::compile_foreign_item(item, client, profiles, *options, clients);
    }
    let mut compiled = Compiled::default();
    let mut bodies = Bodies::default();
    let mut outputs = Vec::new();
    let mut without_scopes: Vec<&Profile> = Vec::new();
    let mut not_loading: Vec<&Profile> = Vec::new();
    for &profile in profiles.iter().filter(|profile| item.is_for(profile.id())) {
        let one = ItemCompiler { item, profile, options, clients };
        let Some(output) = one.compile_output(&mut bodies, &mut compiled.diagnostics) else {
            continue;
        };
        if one.is_named_only() {
            not_loading.push(profile);
        } else {
            without_scopes.extend(one.loses_scope().then_some(profile));
        }
        outputs.push(output);
    }
    compiled.diagnostics.extend(scope_dropped(item, &without_scopes));
    compiled.diagnostics.extend(not_loaded(item, &not_loading));
    // Agents differ in their fields and in the names of tools, commands in their arguments.
    let is_same = matches!(item.kind(), ItemKind::Rule | ItemKind::Skill);
    if options.sharing == Sharing::Shared && is_same {
        minimize_outputs(&mut outputs);
    }
    choose_output_texts(item, &mut outputs, &mut compiled.diagnostics);
    for ClientOutput { path, files, text, .. } in outputs {
        add_file(&mut compiled, OutputFile { path, content: OutputContent::Text(text) });
        for file in item.files() {
            let path = format!("{files}/{}", file.path);
            add_file(
                &mut compiled,
                OutputFile { path, content: OutputContent::Copy(file.path.clone()) },
            );
        }
    }
    compiled
}

/// The output of an item for one client.
struct ClientOutput {
    client: String,
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
fn minimize_outputs(outputs: &mut Vec<ClientOutput>) {
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
    let compiler = ItemCompiler { item, profile, options: &options, clients };
    let layout = profile.layout(item.kind());
    layout.map(|layout| compiler.compile_fields(layout, &mut Vec::new())).unwrap_or_default()
}

/// Keeps one text for each place that several clients read: the one that most of them would get. A client that
/// would get another one is named.
fn choose_output_texts(
    item: &PortableItem,
    outputs: &mut Vec<ClientOutput>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut settled: Vec<ClientOutput> = Vec::new();
    while !outputs.is_empty() {
        let path = outputs[0].path.clone();
        let (mut here, others): (Vec<_>, Vec<_>) =
            std::mem::take(outputs).into_iter().partition(|output| output.path == path);
        *outputs = others;
        let count =
            |output: &ClientOutput| here.iter().filter(|one| one.text == output.text).count();
        let best =
            (0..here.len()).rev().max_by_key(|&place| count(&here[place])).unwrap_or_default();
        let best = here.swap_remove(best);
        here.retain(|output| output.text != best.text);
        if !here.is_empty() {
            let names: Vec<&str> = here.iter().map(|output| output.client.as_str()).collect();
            let message = format!(
                "{} gets the content for {}: they share the file `{path}`",
                names.join(", "),
                best.client
            );
            let finding =
                item_warning(item, rules::item::SHARED_LOCATION, Span::default(), message);
            let help =
                "write the same content for all of them, or name fewer clients in `audience`";
            diagnostics.push(finding.with_help(help));
        }
        settled.push(best);
    }
    *outputs = settled;
}

/// Warns about a rule with a scope for clients that always load rules (§3.2).
fn scope_dropped(item: &PortableItem, clients: &[&Profile]) -> Option<Diagnostic> {
    let names: Vec<&str> = clients.iter().map(|client| client.name()).collect();
    let (who, out) = match clients {
        [] => return None,
        [one] => {
            (format!("{} loads it for all files: its rules have no scope", one.name()), one.id())
        }
        _ => (
            format!("{} load it for all files: their rules have no scope", names.join(", ")),
            "them",
        ),
    };
    let message = format!("the rule `{}` has a scope, but {who}", item.name());
    let help = format!("name the files in the text, or exclude {out} with `audience`");
    let span = item.document().field("scope").map(Node::span).unwrap_or_default();
    Some(item_warning(item, rules::item::SCOPE_DROPPED, span, message).with_help(help))
}

/// Notes a rule that clients do not load: their models may open its file.
fn not_loaded(item: &PortableItem, clients: &[&Profile]) -> Option<Diagnostic> {
    let names: Vec<&str> = clients.iter().map(|client| client.name()).collect();
    let (first, load, model) = match clients {
        [] => return None,
        [one] => (one, "loads", "its model"),
        [first, ..] => (first, "load", "their models"),
    };
    let file = first.layout(item.kind()).and_then(Layout::listed_in).unwrap_or_default();
    let (names, rule) = (names.join(", "), item.name());
    let message = if item.scope_paths().is_empty() {
        format!(
            "{names} {load} only the path of the rule `{rule}`, from `{file}`: {model} must open the rule to read it"
        )
    } else {
        format!(
            "{names} {load} only the path and patterns of the rule `{rule}`, from `{file}`: {model} must open \
             the rule to read it"
        )
    };
    let with_hook = clients.iter().find(|client| BUILTIN.has_hook(client.id()));
    let help = match with_hook {
        Some(client) => {
            format!("run `brief hook install {}` to deliver it to the model", client.id())
        }
        None => format!("write the text into `{file}` if the model must always have it"),
    };
    let rule = rules::item::RULE_NOT_LOADED;
    Some(item_warning(item, rule, Span::default(), message).with_help(help))
}

/// The compiler of one item for one client.
struct ItemCompiler<'c> {
    item: &'c PortableItem,
    profile: &'c Profile,
    options: &'c ProfileOptions,
    clients: &'c [&'c str],
}

impl ItemCompiler<'_> {
    fn compile_output(
        &self,
        bodies: &mut Bodies,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<ClientOutput> {
        let (scope, name) = (self.options.scope, self.item.name());
        let layout = self.profile.layout_in(self.item.kind(), scope)?;
        let path = layout.path_in(scope).fill(name);
        let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
        let files = layout.files_in(scope).map(|files| files.fill(name));
        let files = files.unwrap_or_else(|| directory.to_owned());
        let fields = self.compile_fields(layout, diagnostics);
        self.check_lost(layout, diagnostics);
        let place = body::OutputDirs { path: &path, directory, files: &files };
        let body = self.render_body(layout, &place, bodies, diagnostics);
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
                OutputForm::Markdown => format!("---\n{}---\n{body}", yaml::render_yaml(&fields)),
                OutputForm::Toml(key) => toml::render_toml(&fields, key, body.trim_start()),
                OutputForm::Yaml(key) => {
                    yaml::write_with_text(&fields, key, body.trim_start_matches('\n'))
                }
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
        let client = self.profile.id().to_owned();
        Some(ClientOutput { client, path, files, text, says, also_read })
    }

    /// Returns whether the client does not load the item: a text that it shows to its model names the file.
    fn is_named_only(&self) -> bool {
        let layout = self.profile.layout(self.item.kind());
        layout.and_then(|layout| layout.mention.as_ref()).is_some_and(|mention| !mention.is_loaded)
    }

    /// Returns whether a rule for some files is loaded for all: the client's rules have no scope (§3.2).
    fn loses_scope(&self) -> bool {
        let Some(layout) = self.profile.layout(self.item.kind()) else { return false };
        !layout.reads_scope() && !self.item.scope_paths().is_empty()
    }

    /// Warns about tools and a model that the client's agents, or commands, cannot name.
    fn check_lost(&self, layout: &Layout, diagnostics: &mut Vec<Diagnostic>) {
        let (kind, client) = (self.item.kind(), self.profile.id());
        // The client's block may say it in its own words.
        if self.item.passthrough(client).is_some() {
            return;
        }
        for (from, rule) in [
            (From::Tools, rules::item::CAPABILITY_DROPPED),
            (From::Model, rules::item::MODEL_DROPPED),
        ] {
            let is_known = !from.kinds().contains(&kind) || layout.has_field_from(from);
            let key = from.as_str();
            let Some(field) = self.item.document().field(key).filter(|_| !is_known) else {
                continue;
            };
            let message = format!(
                "the {} loses its `{key}`: {} of {} cannot set it, so the client's default applies",
                self.item.id(),
                kind.folder(),
                self.profile.name()
            );
            let help =
                format!("exclude {client} with `audience`, or write it in a `{client}:` block");
            diagnostics.push(self.item_warning(rule, field.span(), message).with_help(help));
        }
    }

    fn check_length(&self, body: &str, most: usize, diagnostics: &mut Vec<Diagnostic>) {
        let length = body.trim().chars().count();
        if length > most {
            let message = format!(
                "the body has {length} characters, but {} allows {most} in {}",
                self.profile.name(),
                self.item.kind().folder()
            );
            diagnostics.push(
                self.item_warning(rules::item::BODY_TOO_LONG, Span::default(), message)
                    .with_help("move parts of it to files beside it"),
            );
        }
    }

    fn item_warning(&self, rule: Rule, span: Span, message: String) -> Diagnostic {
        item_warning(self.item, rule, span, message)
    }
}

fn item_warning(item: &PortableItem, rule: Rule, span: Span, message: String) -> Diagnostic {
    Diagnostic::new(rule, item.document().source(), span, message)
}

/// Adds a file, unless another client has added the same one.
fn add_file(compiled: &mut Compiled, file: OutputFile) {
    if !compiled.files.contains(&file) {
        compiled.files.push(file);
    }
}
