//! The front matter of an output (§3 and appendix B of the specification).

use std::borrow::Cow;

use brief_dialects::native::client_pattern;
use brief_dialects::portable::{ItemKind, MODEL_ALIASES, PortableItem};
use brief_profiles::Form;
use brief_syntax::yaml::{Node, Value as Read, Yaml};
use brief_syntax::{Diagnostic, rules};

use crate::profile::{
    AgentSkills, Constant, FieldCondition, FieldRule, FieldValue, From, Layout, License, Shape,
    UnknownFields, UnnamedFields,
};

use super::ItemCompiler;
use super::yaml::{self, Map, YamlValue};

/// Fields of the format that no client gets.
const STRIPPED: [&str; 2] = ["schema", "audience"];

/// Fields of this format that stay in the source. A skill in the open standard is copied unchanged, and that
/// standard has them too.
const KEPT_BACK: [&str; 2] = ["license", "metadata"];

/// Fields of the open standard for skills besides `name` and `description`.
const STANDARD: [&str; 4] = ["license", "compatibility", "metadata", "allowed-tools"];

impl ItemCompiler<'_> {
    /// Returns the fields of an output.
    pub(super) fn compile_fields(&self, layout: &Layout, diagnostics: &mut Vec<Diagnostic>) -> Map {
        let mut fields: Map = Vec::new();
        let is_scoped = !self.item.scope_paths().is_empty();
        let written = self.item.original_fields(self.profile.id());
        for rule in &layout.fields {
            let is_there = match rule.when {
                FieldCondition::Always => true,
                FieldCondition::Scoped => is_scoped,
                FieldCondition::Unscoped => !is_scoped,
            };
            let value = is_there.then(|| {
                self.as_written(rule, written)
                    .or_else(|| self.compile_value(rule, layout, diagnostics))
            });
            let value = value.flatten();
            fields.extend(value.map(|value| (YamlValue::from_text(rule.key.as_str()), value)));
        }
        if layout.unknown == UnknownFields::Keep {
            self.keep_unknown(&mut fields);
        }
        let own = self.item.passthrough(self.profile.id());
        if let Some(YamlValue::Map(own)) = own.map(yaml::of_node) {
            yaml::merge_maps(&mut fields, own);
            keep_bare(&mut fields, layout);
        }
        fields
    }

    fn compile_value(
        &self,
        rule: &FieldRule,
        layout: &Layout,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<YamlValue> {
        let (from, shape, default) = match &rule.value {
            FieldValue::Constant(constant) => return Some(constant_value(constant)),
            FieldValue::Item { from, shape, default } => (*from, *shape, default),
        };
        let found = match from {
            From::Name | From::Description if self.item.is_unsaid(from.as_str()) => None,
            From::Name => Some(YamlValue::from_text(self.item.name())),
            From::Description => Some(YamlValue::from_text(
                layout.arguments.escape_text(self.item.description().trim()),
            )),
            From::Mode => Some(YamlValue::from_text(self.item.mode().as_str())),
            From::Model if self.is_omitted("model") => None,
            From::Model => self.translate_model(diagnostics),
            From::Tools if self.is_omitted("tools") => None,
            From::Tools => Some(shape_parts(&self.translate_tools(diagnostics), shape)),
            From::ScopePaths => self.compile_scope(shape, diagnostics),
            From::PreloadSkills => shape_list(&self.item.preload_skills(), shape),
            From::ArgumentHint => self.item.argument_hint().map(YamlValue::from_text),
            From::Arguments if shape == Shape::Parameters => {
                self.build_parameters(&layout.arguments)
            }
            From::Arguments => shape_list(&self.item.arguments(), shape),
        };
        found.or_else(|| default.as_deref().map(YamlValue::from_text))
    }

    /// Returns the patterns of a rule. A client that splits a text at its commas gets each alternative of
    /// `{a,b}` as a separate pattern; a pattern that cannot be split matches no file of that client.
    fn compile_scope(&self, shape: Shape, diagnostics: &mut Vec<Diagnostic>) -> Option<YamlValue> {
        let paths = self.item.scope_paths();
        let form = self.pattern_form();
        let paths: Vec<Cow<'_, str>> =
            paths.into_iter().map(|path| client_pattern(form, path)).collect();
        let paths: Vec<&str> = paths.iter().map(|path| &**path).collect();
        let is_joined = matches!(shape, Shape::Text | Shape::Comma | Shape::Bare);
        if !is_joined || !paths.iter().any(|path| path.contains(',')) {
            return shape_list(&paths, shape);
        }
        let mut patterns: Vec<String> = Vec::new();
        for path in paths {
            match expand_alternatives(path) {
                Some(found) => patterns.extend(found),
                None => diagnostics.push(self.comma_warning(path)),
            }
        }
        let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
        // A rule without a pattern would apply to every file.
        shape_list(if patterns.is_empty() { &[NO_FILE] } else { &patterns }, shape)
    }

    /// Returns the form that decides how the client reads patterns.
    pub(super) fn pattern_form(&self) -> Form {
        let layout = self.profile.layout(ItemKind::Rule);
        layout.and_then(Layout::pattern_form).unwrap_or(Form::Plain)
    }

    fn comma_warning(&self, path: &str) -> Diagnostic {
        let span = self.item.document().field("scope").map(Node::span).unwrap_or_default();
        let client = self.profile.name();
        let message =
            format!("cannot write `{path}` for {client}, which splits patterns at commas");
        self.item_warning(rules::item::COMMA_IN_PATTERN, span, message)
            .with_help("write one pattern for each alternative")
    }

    /// Returns whether a field is left out because the item does not set it (ruling P4).
    pub(super) fn is_omitted(&self, field: &str) -> bool {
        let is_left =
            self.profile.unnamed == UnnamedFields::Omit || !self.item.kind().is_of_document();
        is_left && self.item.document().field(field).is_none()
    }

    /// §3.4: the aliases are translated for every client; other names are passed on.
    fn translate_model(&self, diagnostics: &mut Vec<Diagnostic>) -> Option<YamlValue> {
        let model = self.item.model();
        if let Some(name) = self.profile.models.get(model) {
            return Some(YamlValue::from_text(name.as_str()));
        }
        if !MODEL_ALIASES.contains(&model) {
            return Some(YamlValue::from_text(model));
        }
        let span = self.item.document().field("model").map(Node::span).unwrap_or_default();
        let message = format!(
            "the {} loses its model `{model}`: {} has no name for it",
            self.item.id(),
            self.profile.name()
        );
        let help =
            format!("add its name to `[clients.{}.models]` of `brief.toml`", self.profile.id());
        diagnostics
            .push(self.item_warning(rules::item::MODEL_DROPPED, span, message).with_help(help));
        None
    }

    /// §4: returns the client's names of the agent's tools. Without a list these are all its tools; from a
    /// list only those with a name, which may be none.
    pub(super) fn translate_tools(&self, diagnostics: &mut Vec<Diagnostic>) -> Vec<&str> {
        let names = &self.profile.tools;
        let mut tools: Vec<&str> = Vec::new();
        let mut take = |name| {
            if !tools.contains(&name) {
                tools.push(name);
            }
        };
        let listed = self.item.document().field("tools").map(Node::value);
        let Some(Read::Sequence(list)) = listed else {
            for capability in brief_dialects::portable::CAPABILITIES {
                if let Some(name) = names.get(capability.0) {
                    take(name);
                }
            }
            return tools;
        };
        let mut dropped: Vec<&str> = Vec::new();
        for node in list.iter() {
            let Some(capability) = node.as_str() else { continue };
            match names.get(capability) {
                Some(name) => take(name),
                None if dropped.contains(&capability) => {}
                None => {
                    dropped.push(capability);
                    diagnostics.push(self.capability_warning(capability, node));
                }
            }
        }
        tools
    }

    fn capability_warning(&self, capability: &str, node: Node<'_>) -> Diagnostic {
        let client = self.profile.id();
        let message = format!(
            "the agent `{}` loses `{capability}` for {client}: {client} has no name for it",
            self.item.name()
        );
        let help = format!(
            "add {client}'s names to a `{client}:` block, or to `[clients.{client}.tools]` of \
             `brief.toml`"
        );
        self.item_warning(rules::item::CAPABILITY_DROPPED, node.span(), message).with_help(help)
    }

    /// §3.3: unknown fields are passed on, types unchanged.
    fn keep_unknown(&self, fields: &mut Map) {
        let Some(all) = self.item.document().fields() else { return };
        for field in all.effective_fields() {
            let name = field.name();
            if self.is_handed_on(name) && field.key.as_str().is_some() {
                let key = YamlValue::from_text(name);
                if fields.iter().all(|(existing, _)| *existing != key) {
                    fields.push((key, yaml::of_node(field.value)));
                }
            }
        }
    }

    fn is_handed_on(&self, name: &str) -> bool {
        if STRIPPED.contains(&name) || self.clients.contains(&name) {
            return false;
        }
        if KEPT_BACK.contains(&name) && !self.item.is_foreign() {
            return name == "license" && self.options.license == License::Keep;
        }
        self.options.agent_skills == AgentSkills::Extended || STANDARD.contains(&name)
    }
}

/// A client that wants a text without quotes wants it so from its block, too.
fn keep_bare(fields: &mut Map, layout: &Layout) {
    for rule in layout.fields.iter().filter(|rule| rule.is_bare()) {
        for (key, value) in fields.iter_mut() {
            if let (YamlValue::Text(key), YamlValue::Text(text)) = (key, &*value)
                && *key == rule.key
                && stays_bare(text)
            {
                *value = YamlValue::Bare(text.clone());
            }
        }
    }
}

fn constant_value(constant: &Constant) -> YamlValue {
    match constant {
        Constant::Text(text) => YamlValue::from_text(text.as_str()),
        Constant::Boolean(value) => YamlValue::Bare(value.to_string()),
        Constant::Number(value) => YamlValue::Bare(value.to_string()),
    }
}

/// A pattern that matches no file.
const NO_FILE: &str = "!**";

/// The limit for the alternatives of one pattern.
const ALTERNATIVES: usize = 64;

/// Expands `src/{a,b}` to `src/a` and `src/b`; `None` when a comma remains, or there are too many
/// alternatives.
pub(crate) fn expand_alternatives(pattern: &str) -> Option<Vec<String>> {
    let mut done = Vec::new();
    let mut open = vec![pattern.to_owned()];
    while let Some(pattern) = open.pop() {
        if pattern.contains(',') {
            let parts = first_braces(&pattern)?;
            // The last one is popped first, so that they stay in order.
            open.extend(parts.into_iter().rev());
        } else {
            done.push(pattern);
        }
        if done.len() + open.len() > ALTERNATIVES {
            return None;
        }
    }
    Some(done)
}

/// Expands the first braces with a comma.
fn first_braces(pattern: &str) -> Option<Vec<String>> {
    let mut start = 0;
    loop {
        let open = start + pattern[start..].find('{')?;
        let mut depth = 0_usize;
        let mut cuts = vec![open];
        let mut close = None;
        for (offset, letter) in pattern[open..].char_indices() {
            match letter {
                '\\' | '[' => return None,
                '{' => depth += 1,
                '}' if depth == 1 => {
                    close = Some(open + offset);
                    break;
                }
                '}' => depth -= 1,
                ',' if depth == 1 => cuts.push(open + offset),
                _ => {}
            }
        }
        let close = close?;
        if cuts.len() == 1 {
            start = open + 1;
            continue;
        }
        let ends = cuts.iter().skip(1).copied().chain([close]);
        let part = |(cut, end): (&usize, usize)| {
            format!("{}{}{}", &pattern[..open], &pattern[cut + 1..end], &pattern[close + 1..])
        };
        return Some(cuts.iter().zip(ends).map(part).collect());
    }
}

/// Returns a list; `None` for an empty one.
fn shape_list(parts: &[&str], shape: Shape) -> Option<YamlValue> {
    (!parts.is_empty()).then(|| shape_parts(parts, shape))
}

pub(super) fn shape_parts(parts: &[&str], shape: Shape) -> YamlValue {
    match shape {
        Shape::Text | Shape::Comma => YamlValue::from_text(parts.join(",")),
        Shape::Bare => {
            let text = parts.join(",");
            if stays_bare(&text) { YamlValue::Bare(text) } else { YamlValue::from_text(text) }
        }
        Shape::List | Shape::Parameters => YamlValue::from_texts(parts.iter().copied()),
        Shape::AllowMap | Shape::OnlyMap => {
            let allow = |part: &&str| (YamlValue::from_text(*part), YamlValue::from_text("allow"));
            let others = (shape == Shape::OnlyMap)
                .then(|| (YamlValue::from_text("*"), YamlValue::from_text("deny")));
            YamlValue::Map(others.into_iter().chain(parts.iter().map(allow)).collect())
        }
    }
}

/// Returns whether a text may stand without quotes. A YAML reader has to find this very text, or a value
/// without a meaning: `'**'` would be every file, and `&a x` only `x`.
fn stays_bare(text: &str) -> bool {
    let is_line = text.trim() == text && text.chars().all(yaml::is_printable);
    let is_marked = text.starts_with(['\'', '"', '&', '!', '|', '>', '%', '@', '`']);
    let line = format!("k: {text}\n");
    let read = Yaml::parse(&line);
    let is_same = || {
        let Some(Read::Mapping(fields)) = read.root().map(Node::value) else { return false };
        let mut fields = fields.fields();
        let is_it = fields.next().is_some_and(|field| field.value.as_str() == Some(text));
        is_it && fields.next().is_none()
    };
    !text.is_empty() && is_line && !is_marked && (!read.problems().is_empty() || is_same())
}

/// Returns whether an item has a body of its own for a client.
pub(super) fn has_override(item: &PortableItem, client: &str) -> bool {
    item.overrides().iter().any(|own| own.client == client)
}
