//! YAML as a tree with a span for every key and value.
//!
//! The grammar is `granit-parser`'s, and `build` turns its events into nodes, so that the parser
//! can be exchanged in one file. `quick` reads the common subset several times faster, and leaves
//! everything in doubt to the parser. Three things differ from an ordinary loader:
//!
//! - An alias stays a reference, and what it would stand for is counted. A document that expands
//!   to more than [`YAML_EXPANDED_NODES`](crate::limits::YAML_EXPANDED_NODES) nodes loses the aliases past that point, with a
//!   problem for each, and keeps the rest.
//! - An alias without an anchor (`match: [*.py]`) is a problem with a place, not the end of the
//!   document: that is how people write globs.
//! - Scalars are text. YAML 1.2 has no `yes` and `on`; a caller that needs a boolean converts it.

mod build;
mod format;
mod json;
mod quick;

use std::collections::HashSet;

use crate::source::Span;

use build::YamlBuilder;

pub use format::format_header;

/// A parsed document: the first one of its stream.
#[derive(Debug, Clone)]
pub struct Yaml {
    /// The text that scalars without escapes are slices of.
    input: Box<str>,
    nodes: Vec<NodeData>,
    children: Vec<u32>,
    root: Option<u32>,
    problems: Vec<Problem>,
}

/// A problem in the text and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The kind of problem.
    pub kind: ProblemKind,
    /// The place.
    pub span: Span,
    /// The message, without a full stop.
    pub message: String,
}

/// The kinds of [`Problem`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProblemKind {
    /// The text is not YAML from here on; the document has no tree.
    Syntax,
    /// `*name` without `&name`; the node is [`Value::Broken`].
    UnknownAlias,
    /// An alias that would make the document too large; the node is [`Value::Broken`]. Reported
    /// once for a document.
    AliasBomb,
    /// A duplicate key in one mapping; the first one counts.
    DuplicateKey,
    /// Text after the first document, which is not read.
    ExtraDocument,
}

#[derive(Debug, Clone)]
struct NodeData {
    span: Span,
    /// The number of nodes with aliases expanded.
    weight: usize,
    shape: NodeShape,
}

#[derive(Debug, Clone)]
enum NodeShape {
    Scalar { text: ScalarText, plain: bool, tagged: bool },
    Sequence(Children),
    Mapping(Children),
    Alias(u32),
    Broken(ProblemKind),
}

#[derive(Debug, Clone, Copy)]
struct Children {
    first: u32,
    count: u32,
}

/// The text of a scalar: a slice of the input, or decoded.
#[derive(Debug, Clone)]
enum ScalarText {
    Input { start: u32, end: u32 },
    Decoded(Box<str>),
}

impl ScalarText {
    fn resolve_text<'y>(&'y self, input: &'y str) -> &'y str {
        match self {
            &ScalarText::Input { start, end } => {
                input.get(start as usize..end as usize).unwrap_or_default()
            }
            ScalarText::Decoded(text) => text,
        }
    }
}

/// A node of the tree.
#[derive(Clone, Copy)]
pub struct Node<'y> {
    yaml: &'y Yaml,
    index: u32,
}

/// The content of a node, with aliases followed.
#[derive(Clone, Copy)]
pub enum Value<'y> {
    /// An empty value, `~` or `null`.
    Null,
    /// A scalar.
    Scalar(&'y str),
    /// A list.
    Sequence(Sequence<'y>),
    /// A mapping.
    Mapping(Mapping<'y>),
    /// A reference that could not be followed, with the reason.
    Broken(ProblemKind),
}

impl Value<'_> {
    /// Returns the noun for a message.
    pub fn noun(self) -> &'static str {
        match self {
            Value::Null => "nothing",
            Value::Scalar(_) => "text",
            Value::Sequence(_) => "a list",
            Value::Mapping(_) => "a mapping",
            Value::Broken(_) => "a broken reference",
        }
    }
}

impl Yaml {
    /// Parses the first document of `text`.
    ///
    /// A byte order mark is accepted. If the text is not YAML, the tree is empty and the first
    /// problem is a [`ProblemKind::Syntax`].
    pub fn parse(text: &str) -> Yaml {
        let skipped = text.len() - text.trim_start_matches('\u{feff}').len();
        let text = &text[skipped..];
        quick::parse_subset(text, skipped)
            .unwrap_or_else(|| YamlBuilder::new(text, skipped).parse(text))
    }

    /// Returns the top node; `None` for an empty document or one that is not YAML.
    pub fn root(&self) -> Option<Node<'_>> {
        self.root.map(|index| Node { yaml: self, index })
    }

    /// Returns the problems of the text, in order of discovery.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Returns the problem that left the document without a tree.
    pub fn syntax_error(&self) -> Option<&Problem> {
        self.problems.iter().find(|problem| problem.kind == ProblemKind::Syntax)
    }

    /// Maps every span; for a text that was cut from a larger one.
    pub(crate) fn map_spans(&mut self, map: impl Fn(usize) -> usize) {
        let places = self.nodes.iter_mut().map(|node| &mut node.span);
        for span in places.chain(self.problems.iter_mut().map(|problem| &mut problem.span)) {
            *span = Span::new(map(span.start), map(span.end));
        }
    }

    fn node_data(&self, index: u32) -> &NodeData {
        &self.nodes[index as usize]
    }

    fn child_indices(&self, Children { first, count }: Children) -> &[u32] {
        &self.children[first as usize..(first + count) as usize]
    }
}

impl<'y> Node<'y> {
    /// Returns the span of the node itself; for an alias, that of the alias.
    pub fn span(self) -> Span {
        self.yaml.node_data(self.index).span
    }

    /// Returns the content of the node, with aliases followed.
    pub fn value(self) -> Value<'y> {
        let yaml = self.yaml;
        match &yaml.node_data(self.index).shape {
            NodeShape::Scalar { text, plain, tagged } => match text.resolve_text(&yaml.input) {
                text if *plain && !tagged && is_null(text) => Value::Null,
                text => Value::Scalar(text),
            },
            &NodeShape::Sequence(items) => {
                Value::Sequence(Sequence { yaml, items: yaml.child_indices(items) })
            }
            &NodeShape::Mapping(items) => {
                Value::Mapping(Mapping { yaml, items: yaml.child_indices(items) })
            }
            // An alias refers to a node that was complete before it, so the recursion ends.
            &NodeShape::Alias(target) => Node { yaml, index: target }.value(),
            &NodeShape::Broken(kind) => Value::Broken(kind),
        }
    }

    /// Returns the text of a scalar.
    pub fn as_str(self) -> Option<&'y str> {
        match self.value() {
            Value::Scalar(text) => Some(text),
            _ => None,
        }
    }

    /// Returns whether the scalar was written without quotes, as a plain word or line.
    pub fn is_plain(self) -> bool {
        matches!(self.yaml.node_data(self.index).shape, NodeShape::Scalar { plain: true, .. })
    }

    /// Returns whether the node carries a tag such as `!name`.
    pub(crate) fn is_tagged(self) -> bool {
        matches!(self.yaml.node_data(self.index).shape, NodeShape::Scalar { tagged: true, .. })
    }
}

/// The items of a list.
#[derive(Clone, Copy)]
pub struct Sequence<'y> {
    yaml: &'y Yaml,
    items: &'y [u32],
}

impl<'y> Sequence<'y> {
    /// Returns the items in order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = Node<'y>> {
        self.items.iter().map(move |&index| Node { yaml: self.yaml, index })
    }

    /// Returns the number of items.
    pub fn len(self) -> usize {
        self.items.len()
    }

    /// Returns whether the list is empty.
    pub fn is_empty(self) -> bool {
        self.items.is_empty()
    }
}

/// The fields of a mapping.
#[derive(Clone, Copy)]
pub struct Mapping<'y> {
    yaml: &'y Yaml,
    items: &'y [u32],
}

/// One field of a mapping.
#[derive(Clone, Copy)]
pub struct Field<'y> {
    /// The key.
    pub key: Node<'y>,
    /// The value.
    pub value: Node<'y>,
}

impl<'y> Field<'y> {
    /// Returns the key's text; empty when the key is not a scalar.
    pub fn name(self) -> &'y str {
        self.key.as_str().unwrap_or_default()
    }
}

impl<'y> Mapping<'y> {
    /// Returns the fields as written, duplicates included.
    pub fn fields(self) -> impl Iterator<Item = Field<'y>> {
        let node = move |index| Node { yaml: self.yaml, index };
        self.items
            .chunks_exact(2)
            .map(move |pair| Field { key: node(pair[0]), value: node(pair[1]) })
    }

    /// Returns the effective fields: merge keys (`<<`) followed, the first of duplicates, own
    /// fields before merged ones.
    pub fn effective_fields(self) -> Vec<Field<'y>> {
        let mut fields = FieldIndex::with_capacity(self.items.len() / 2);
        let mut merges = Vec::new();
        fields.add_fields(self, &mut merges);
        merges.reverse();
        // Merged mappings may merge in turn; each is taken once, so a cycle ends.
        let mut seen: HashSet<*const u32> = HashSet::new();
        while let Some(merged) = merges.pop() {
            match merged.value() {
                Value::Mapping(mapping) if seen.insert(mapping.items.as_ptr()) => {
                    fields.add_fields(mapping, &mut merges);
                }
                Value::Sequence(list) => {
                    let start = merges.len();
                    merges.extend(list.iter());
                    merges[start..].reverse();
                }
                _ => {}
            }
        }
        fields.list
    }

    /// Returns the value of a field as written.
    pub fn get(self, name: &str) -> Option<Node<'y>> {
        self.fields().find(|field| field.name() == name).map(|field| field.value)
    }
}

/// Fields by name, the first of each.
struct FieldIndex<'y> {
    list: Vec<Field<'y>>,
    names: HashSet<&'y str>,
}

impl<'y> FieldIndex<'y> {
    /// Beyond this number, names are looked up by a hash instead of compared one by one.
    const FEW: usize = 16;

    fn with_capacity(count: usize) -> Self {
        FieldIndex { list: Vec::with_capacity(count), names: HashSet::new() }
    }

    /// Adds the new fields of a mapping, and its merge keys.
    fn add_fields(&mut self, mapping: Mapping<'y>, merges: &mut Vec<Node<'y>>) {
        for field in mapping.fields() {
            if field.name() == "<<" && field.key.is_plain() {
                merges.push(field.value);
            } else if field.key.as_str().is_none_or(|name| self.is_new(name)) {
                self.list.push(field);
            }
        }
    }

    fn is_new(&mut self, name: &'y str) -> bool {
        if self.list.len() < Self::FEW {
            return self.list.iter().all(|field| field.key.as_str() != Some(name));
        }
        if self.names.is_empty() {
            self.names.extend(self.list.iter().filter_map(|field| field.key.as_str()));
        }
        self.names.insert(name)
    }
}

fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(node: Node<'_>) -> String {
        match node.value() {
            Value::Null => "null".to_owned(),
            Value::Scalar(text) => format!("{text:?}"),
            Value::Sequence(list) => {
                format!("[{}]", list.iter().map(show).collect::<Vec<_>>().join(", "))
            }
            Value::Mapping(mapping) => {
                let fields = mapping.effective_fields().into_iter();
                let fields = fields.map(|field| format!("{}: {}", field.name(), show(field.value)));
                format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
            }
            Value::Broken(_) => "broken".to_owned(),
        }
    }

    fn tree(text: &str) -> String {
        Yaml::parse(text).root().map_or("none".to_owned(), show)
    }

    #[test]
    fn every_key_and_value_has_its_place() {
        let text = "a: 1\nlist:\n  - 'x'\n  - {k: v}\n";
        let yaml = Yaml::parse(text);
        let Some(Value::Mapping(top)) = yaml.root().map(Node::value) else { panic!("a mapping") };
        let fields: Vec<_> = top.fields().collect();
        assert_eq!(&text[fields[0].key.span().range()], "a");
        assert_eq!(&text[fields[0].value.span().range()], "1");
        let Value::Sequence(list) = fields[1].value.value() else { panic!("a list") };
        let items: Vec<_> = list.iter().collect();
        assert_eq!(&text[items[0].span().range()], "'x'");
        assert_eq!(&text[items[1].span().range()], "{k: v}");
    }

    #[test]
    fn yaml_1_1_booleans_are_text() {
        assert_eq!(tree("on: yes\nn: off"), r#"{on: "yes", n: "off"}"#);
        assert_eq!(
            tree("a: ~\nb:\nc: null\nd: 'null'"),
            r#"{a: null, b: null, c: null, d: "null"}"#
        );
    }

    #[test]
    fn aliases_and_merge_keys_are_followed() {
        let text = "x: &x {m: [a], on: edit}\ny:\n  <<: *x\n  on: read\nz: *x";
        assert_eq!(
            tree(text),
            r#"{x: {m: ["a"], on: "edit"}, y: {on: "read", m: ["a"]}, z: {m: ["a"], on: "edit"}}"#
        );
    }

    /// Ruling G1: aliases are bounded, and an alias bomb is a diagnostic.
    #[test]
    fn an_alias_bomb_costs_nothing_and_spares_the_rest() {
        let mut text = String::from("good: yes\na: &a [x,x,x,x,x,x,x,x,x,x]\n");
        for (name, previous) in
            ["b", "c", "d", "e", "f", "g", "h"].iter().zip(["a", "b", "c", "d", "e", "f", "g"])
        {
            let list = vec![format!("*{previous}"); 10].join(",");
            text.push_str(&format!("{name}: &{name} [{list}]\n"));
        }
        let yaml = Yaml::parse(&text);
        assert!(yaml.problems().iter().any(|problem| problem.kind == ProblemKind::AliasBomb));
        let Some(Value::Mapping(top)) = yaml.root().map(Node::value) else { panic!("a mapping") };
        assert_eq!(top.get("good").and_then(Node::as_str), Some("yes"));
    }

    #[test]
    fn an_alias_to_its_own_container_is_a_problem() {
        let yaml = Yaml::parse("a: &a [*a]\nb: ok");
        assert_eq!(yaml.problems()[0].kind, ProblemKind::UnknownAlias);
        assert_eq!(tree("a: &a [*a]\nb: ok"), r#"{a: [broken], b: "ok"}"#);
    }

    #[test]
    fn an_unquoted_glob_is_a_problem_with_a_place() {
        let text = "match: [*.py]\nok: 1\n";
        let yaml = Yaml::parse(text);
        let problem = &yaml.problems()[0];
        assert_eq!(problem.kind, ProblemKind::UnknownAlias);
        assert_eq!(&text[problem.span.range()], "*.py");
        assert_eq!(tree(text), r#"{match: [broken], ok: "1"}"#);
    }

    #[test]
    fn a_duplicate_key_is_reported_and_the_first_counts() {
        let yaml = Yaml::parse("a: 1\nb: 2\na: 3\n");
        assert_eq!(yaml.problems()[0].kind, ProblemKind::DuplicateKey);
        assert_eq!(yaml.problems()[0].span.start, 10);
        assert_eq!(tree("a: 1\na: 3\n"), r#"{a: "1"}"#);
    }

    #[test]
    fn text_that_is_not_yaml_has_a_place_and_no_tree() {
        let yaml = Yaml::parse("a: b\n{{{");
        assert!(yaml.root().is_none());
        assert!(yaml.syntax_error().is_some_and(|problem| problem.span.start > 0));
    }

    #[test]
    fn deep_nesting_is_refused_not_overflowed() {
        for text in
            ["[".repeat(100_000), "- ".repeat(50_000), "? ".repeat(50_000), "{a: ".repeat(10_000)]
        {
            assert!(Yaml::parse(&text).syntax_error().is_some());
        }
    }

    #[test]
    fn only_the_first_document_is_read() {
        let yaml = Yaml::parse("a: 1\n---\nb: 2\n");
        assert_eq!(yaml.problems()[0].kind, ProblemKind::ExtraDocument);
        assert_eq!(tree("a: 1\n---\nb: 2\n"), r#"{a: "1"}"#);
    }

    #[test]
    fn a_byte_order_mark_shifts_places_only() {
        let text = "\u{feff}a: b\n";
        let yaml = Yaml::parse(text);
        let Some(Value::Mapping(top)) = yaml.root().map(Node::value) else { panic!("a mapping") };
        assert_eq!(&text[top.get("a").unwrap().span().range()], "b");
    }

    #[test]
    fn any_text_gives_a_tree_or_a_problem_with_a_valid_place() {
        arbtest::arbtest(|bytes| {
            let text: String = bytes.arbitrary()?;
            let yaml = Yaml::parse(&text);
            for problem in yaml.problems() {
                assert!(problem.span.end <= text.len());
            }
            if let Some(root) = yaml.root() {
                assert!(text.get(root.span().range()).is_some());
            }
            Ok(())
        });
    }
}
