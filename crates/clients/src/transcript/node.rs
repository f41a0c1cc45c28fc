//! JSON with the keys that a form needs. All others are skipped without being stored, and a value of an unexpected type
//! is just another value, so that a record of a newer version is still read.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A JSON value, which borrows from its text.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) enum Node<'t> {
    #[default]
    Nothing,
    Flag(bool),
    Number(i64),
    Text(Cow<'t, str>),
    List(Vec<Node<'t>>),
    Object(Vec<(Cow<'t, str>, Node<'t>)>),
}

/// The keys that are kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keys {
    /// The names, at any depth.
    pub(super) names: &'static [&'static str],
    /// The key of an object whose keys are data, such as paths.
    pub(super) map: Option<&'static str>,
}

impl Keys {
    pub(super) const fn new(names: &'static [&'static str]) -> Keys {
        Keys { names, map: None }
    }

    /// Parses a text.
    pub(super) fn parse(self, text: &[u8]) -> Result<Node<'_>, serde_json::Error> {
        let mut deserializer = serde_json::Deserializer::from_slice(text);
        let node = NodeSeed { keys: self, is_map: false }.deserialize(&mut deserializer)?;
        deserializer.end()?;
        Ok(node)
    }
}

impl<'t> Node<'t> {
    /// Returns the value of a key; [`Node::Nothing`] if there is none.
    pub(super) fn get(&self, key: &str) -> &Node<'t> {
        static NOTHING: Node<'static> = Node::Nothing;
        match self {
            Node::Object(fields) => {
                fields.iter().find(|(name, _)| name == key).map_or(&NOTHING, |(_, value)| value)
            }
            _ => &NOTHING,
        }
    }

    /// Returns the value at the end of some keys.
    pub(super) fn at(&self, keys: &[&str]) -> &Node<'t> {
        keys.iter().fold(self, |node, key| node.get(key))
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Node::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the text of a key, if it is not empty.
    pub(super) fn find_text(&self, key: &str) -> Option<&str> {
        self.get(key).text().filter(|text| !text.is_empty())
    }

    /// Returns the text of the first key that has one.
    pub(super) fn first_text(&self, keys: &[&str]) -> Option<&str> {
        keys.iter().find_map(|key| self.find_text(key))
    }

    pub(super) fn owned(&self, key: &str) -> Option<String> {
        self.find_text(key).map(str::to_owned)
    }

    pub(super) fn number(&self) -> Option<i64> {
        match self {
            Node::Number(number) => Some(*number),
            _ => None,
        }
    }

    pub(super) fn flag(&self) -> Option<bool> {
        match self {
            Node::Flag(flag) => Some(*flag),
            _ => None,
        }
    }

    pub(super) fn is_true(&self, key: &str) -> bool {
        self.get(key).flag() == Some(true)
    }

    pub(super) fn is_object(&self) -> bool {
        matches!(self, Node::Object(_))
    }

    pub(super) fn list(&self) -> &[Node<'t>] {
        match self {
            Node::List(list) => list,
            _ => &[],
        }
    }

    pub(super) fn fields(&self) -> &[(Cow<'t, str>, Node<'t>)] {
        match self {
            Node::Object(fields) => fields,
            _ => &[],
        }
    }
}

#[derive(Clone, Copy)]
struct NodeSeed {
    keys: Keys,
    is_map: bool,
}

impl<'de> DeserializeSeed<'de> for NodeSeed {
    type Value = Node<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node<'de>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for NodeSeed {
    type Value = Node<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Node<'de>, E> {
        Ok(Node::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Node<'de>, E> {
        Ok(Node::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Node<'de>, E> {
        Ok(Node::Flag(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Node<'de>, E> {
        Ok(Node::Number(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Node<'de>, E> {
        Ok(Node::Number(i64::try_from(number).unwrap_or(i64::MAX)))
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "fractions of times and numbers are of no use"
    )]
    fn visit_f64<E: Error>(self, number: f64) -> Result<Node<'de>, E> {
        Ok(Node::Number(number as i64))
    }

    fn visit_unit<E>(self) -> Result<Node<'de>, E> {
        Ok(Node::Nothing)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Node<'de>, A::Error> {
        let mut nodes = Vec::new();
        let seed = NodeSeed { is_map: false, ..self };
        while let Some(node) = list.next_element_seed(seed)? {
            nodes.push(node);
        }
        Ok(Node::List(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node<'de>, A::Error> {
        let mut fields = Vec::new();
        let key_seed = NodeSeed { keys: self.keys, is_map: false };
        while let Some(key) = map.next_key_seed(key_seed)? {
            let Node::Text(key) = key else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            if self.is_map || self.keys.names.contains(&&*key) {
                let is_map = self.keys.map == Some(&*key);
                let value = map.next_value_seed(NodeSeed { keys: self.keys, is_map })?;
                fields.push((key, value));
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(Node::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_keys_are_kept_and_paths_are_data() {
        let keys = Keys { names: &["a", "changes", "type"], map: Some("changes") };
        let json = br#"{"a": [1, 2.5, true, null, {"x": 1, "a": "t"}], "b": {"a": 1},
            "changes": {"/p/x.py": {"type": "add", "y": 1}}}"#;
        let node = keys.parse(json).unwrap();
        assert_eq!(node.get("a").list()[4].find_text("a"), Some("t"));
        assert_eq!(node.get("b"), &Node::Nothing);
        let (path, change) = &node.get("changes").fields()[0];
        assert_eq!((&**path, change.find_text("type")), ("/p/x.py", Some("add")));
        assert_eq!(change.get("y"), &Node::Nothing);
        assert!(keys.parse(b"{\"a\": 1} x").is_err() && keys.parse(b"{\"a\": ").is_err());
    }
}
