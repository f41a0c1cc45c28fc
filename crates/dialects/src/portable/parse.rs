//! The parser for items and bundles, with the diagnostics of their fields.

use std::sync::Arc;

use brief_syntax::front_matter::FrontMatter;
use brief_syntax::yaml::{Node, Value};
use brief_syntax::{Diagnostic, Source, Span, rules};

use super::fields::{self, ItemFields};
use super::model::{Bundle, ItemDocument, ItemId, ItemKind, ItemOrigin, RequiredBundle};

/// Splits a file into front matter and body.
pub(super) fn parse_document(source: &Arc<Source>) -> (ItemDocument, Vec<Diagnostic>) {
    let mut front = FrontMatter::from_source(source);
    let diagnostics = std::mem::take(&mut front.diagnostics);
    (ItemDocument { source: Arc::clone(source), front }, diagnostics)
}

/// Parses a file that is YAML from first to last line, as later bundles are.
pub(super) fn yaml_document(source: &Arc<Source>) -> (ItemDocument, Vec<Diagnostic>) {
    let mut front = FrontMatter::from_yaml_source(source);
    let diagnostics = std::mem::take(&mut front.diagnostics);
    (ItemDocument { source: Arc::clone(source), front }, diagnostics)
}

/// Returns the format that a document was written for.
pub(super) fn detect_origin(kind: ItemKind, document: &ItemDocument) -> ItemOrigin {
    match document.field("schema") {
        None if kind == ItemKind::Skill => ItemOrigin::ForeignSkill,
        _ => ItemOrigin::Portable,
    }
}

/// Checks the fields of an item.
pub(super) fn check_item(
    id: &ItemId,
    document: &ItemDocument,
    clients: &[&str],
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut fields = ItemFields { document, clients, diagnostics };
    if !fields.begins_well() {
        return;
    }
    fields.check_schema();
    fields.check_item_name(&id.name, fields::NameHolder::Directory);
    fields.check_description(id.kind);
    fields.check_common_fields();
    match id.kind {
        ItemKind::Rule => fields.check_rule(),
        ItemKind::Skill => fields.check_skill(),
        ItemKind::Agent => fields.check_agent(),
        ItemKind::Command => fields.check_command(),
    }
}

pub(super) fn parse_bundle(
    slashed: String,
    stem: &str,
    (document, mut diagnostics): (ItemDocument, Vec<Diagnostic>),
) -> Bundle {
    let (mut items, mut requires) = (Vec::new(), Vec::new());
    let mut fields =
        ItemFields { document: &document, clients: &[], diagnostics: &mut diagnostics };
    if fields.begins_well() {
        fields.check_schema();
        fields.check_item_name(stem, fields::NameHolder::File);
        fields.check_description(ItemKind::Rule);
        fields.check_common_fields();
        items = bundle_items(&mut fields);
        requires = bundle_requires(&mut fields);
    }
    Bundle { name: stem.to_owned(), slashed, document, items, requires, diagnostics, plugin: None }
}

fn bundle_items(fields: &mut ItemFields<'_>) -> Vec<(ItemId, Span)> {
    let Some(node) = fields.document.field("items") else {
        fields.report_missing("items", "a bundle lists its items by kind");
        return Vec::new();
    };
    let Value::Mapping(lists) = node.value() else {
        fields.wrong_type("items", node, "a mapping of `rules`, `skills` and `agents`");
        return Vec::new();
    };
    let mut items = Vec::new();
    for field in lists.effective_fields() {
        let Some(kind) = ItemKind::of_folder(field.name()) else { continue };
        match field.value.value() {
            Value::Null => {}
            Value::Sequence(list) => {
                for node in list.iter() {
                    match node.as_str() {
                        Some(name) => {
                            fields.check_name(name, node.span());
                            items.push((ItemId { kind, name: name.to_owned() }, node.span()));
                        }
                        None => fields.wrong_type(field.name(), node, "a list of names"),
                    }
                }
            }
            _ => fields.wrong_type(field.name(), field.value, "a list of names"),
        }
    }
    items
}

fn bundle_requires(fields: &mut ItemFields<'_>) -> Vec<RequiredBundle> {
    let Some(node) = fields.document.field("requires") else { return Vec::new() };
    let list = match node.value() {
        Value::Null => return Vec::new(),
        Value::Sequence(list) => list,
        _ => {
            fields.wrong_type("requires", node, "a list of `{name: …}`");
            return Vec::new();
        }
    };
    let mut requires = Vec::new();
    for node in list.iter() {
        let span = node.span();
        let (name, version) = match node.value() {
            // The document's own example is a bare name.
            Value::Scalar(name) => {
                let message = format!("`{name}` is a name, not a mapping");
                let help = format!("write `{{ name: \"{name}\" }}`");
                fields.report_problem(rules::item::REQUIRES_STRING, span, message, &help);
                (name, None)
            }
            Value::Mapping(entry) if let Some(name) = entry.get("name").and_then(Node::as_str) => {
                let version = entry.get("version").filter(|node| !is_null(*node));
                let text = version.and_then(Node::as_str);
                if let (Some(node), None) = (version, text) {
                    fields.wrong_type("version", node, "a range such as `\"^1.0.0\"`");
                }
                (name, text.map(str::to_owned))
            }
            _ => {
                fields.wrong_type("requires", node, "a list of `{name: …}`");
                continue;
            }
        };
        requires.push(RequiredBundle { name: name.to_owned(), version, span });
    }
    requires
}

pub(super) fn is_null(node: Node<'_>) -> bool {
    matches!(node.value(), Value::Null)
}
