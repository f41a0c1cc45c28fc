//! A value of YAML or TOML with places, as far as checks need it.

use brief_syntax::Span;
use brief_syntax::yaml::{Node, Value};

/// The deepest nesting that a check has a use for.
pub(super) const MOST_NESTED: usize = 8;

/// A value with its place.
#[derive(Debug, Clone)]
pub struct CheckNode {
    pub span: Span,
    pub value: CheckValue,
}

#[derive(Debug, Clone)]
pub enum CheckValue {
    Null,
    /// A text, a number or a truth value, as it is written.
    Text(String),
    List(Vec<CheckNode>),
    /// The fields with the places of their keys, the first of equal ones.
    Map(Vec<(String, Span, CheckNode)>),
    /// A reference that cannot be followed, or a value that is nested too deeply.
    Broken,
}

impl CheckNode {
    /// Copies a node of YAML.
    pub fn from_yaml(node: Node<'_>) -> CheckNode {
        copy_yaml(node, 0)
    }

    /// Removes a field of a mapping.
    pub(super) fn remove_field(&mut self, name: &str) {
        if let CheckValue::Map(fields) = &mut self.value {
            fields.retain(|(field, ..)| field != name);
        }
    }

    /// Returns the text of a scalar.
    pub(super) fn as_text(&self) -> Option<&str> {
        match &self.value {
            CheckValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the noun for a message.
    pub(super) fn noun(&self) -> &'static str {
        match self.value {
            CheckValue::Null => "nothing",
            CheckValue::Text(_) => "text",
            CheckValue::List(_) => "a list",
            CheckValue::Map(_) => "a mapping",
            CheckValue::Broken => "a broken reference",
        }
    }
}

fn copy_yaml(node: Node<'_>, depth: usize) -> CheckNode {
    let value = match node.value() {
        _ if depth > MOST_NESTED => CheckValue::Broken,
        Value::Null => CheckValue::Null,
        Value::Scalar(text) => CheckValue::Text(text.to_owned()),
        Value::Sequence(list) => {
            CheckValue::List(list.iter().map(|item| copy_yaml(item, depth + 1)).collect())
        }
        Value::Mapping(mapping) => {
            let fields = mapping.effective_fields().into_iter().map(|field| {
                let value = copy_yaml(field.value, depth + 1);
                (field.name().to_owned(), field.key.span(), value)
            });
            CheckValue::Map(fields.collect())
        }
        Value::Broken(_) => CheckValue::Broken,
    };
    CheckNode { span: node.span(), value }
}
