//! The builder from the parser's events to nodes.

use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle};

use crate::limits;
use crate::source::Span;

use super::{Children, NodeData, NodeShape, Problem, ProblemKind, ScalarText, Yaml};

/// A collection whose end has not been seen.
struct OpenCollection {
    node: u32,
    anchor: usize,
    is_mapping: bool,
    /// The index of its first child in [`YamlBuilder::pending`].
    first: usize,
    weight: usize,
}

/// Builds the tree of one document from events.
pub(super) struct YamlBuilder {
    yaml: Yaml,
    open: Vec<OpenCollection>,
    /// Children of the open collections, innermost last.
    pending: Vec<u32>,
    /// The node of each anchor, by its number.
    anchors: Vec<Option<u32>>,
    shift: usize,
    /// The weight of the whole document so far.
    total: usize,
    /// The first problem beyond [`limits::PROBLEMS_PER_FILE`], and the number of them.
    more: Option<(ProblemKind, Span, usize)>,
}

impl YamlBuilder {
    /// Starts a document whose text begins `shift` bytes into its file.
    pub(super) fn new(input: &str, shift: usize) -> Self {
        YamlBuilder {
            yaml: Yaml {
                input: input.into(),
                nodes: Vec::new(),
                children: Vec::new(),
                root: None,
                problems: Vec::new(),
            },
            open: Vec::new(),
            pending: Vec::new(),
            anchors: Vec::new(),
            shift,
            total: 0,
            more: None,
        }
    }

    /// Builds the tree from the parser's events for `input`.
    pub(super) fn parse(mut self, input: &str) -> Yaml {
        let options = granit_parser::options! {
            emit_comments: false,
            emit_unresolved_aliases: true,
            flow_nesting_limit: limits::YAML_DEPTH,
            block_nesting_limit: limits::YAML_DEPTH,
        };
        let mut documents = 0;
        for event in Parser::new_from_str_with_options(input, options) {
            let (event, span) = match event {
                Ok(event) => event,
                Err(error) => {
                    let offset = self.shift + error.marker().byte_offset().unwrap_or(input.len());
                    self.yaml.nodes.clear();
                    self.yaml.children.clear();
                    self.yaml.root = None;
                    let tab = tab_near(input, offset - self.shift);
                    let way_out = match tab {
                        Some(_) => "; a tab cannot indent: replace the tab with spaces",
                        None => "",
                    };
                    let offset = tab.map_or(offset, |tab| self.shift + tab);
                    let message = format!("{}{way_out}", error.info());
                    self.report_problem(ProblemKind::Syntax, Span::empty_at(offset), message);
                    break;
                }
            };
            let span = self.source_span(span, input);
            match event {
                Event::DocumentStart(..) => {
                    documents += 1;
                    if documents > 1 {
                        let message = "only the first document of a file is read".to_owned();
                        self.report_problem(ProblemKind::ExtraDocument, span, message);
                        break;
                    }
                }
                Event::Scalar(text, style, anchor, tag) => {
                    let (plain, tagged) = (style == ScalarStyle::Plain, tag.is_some());
                    let span = match style {
                        // The parser's span reaches to the next token.
                        ScalarStyle::Literal | ScalarStyle::Folded => self.trim_span(span, input),
                        _ => span,
                    };
                    let text = ScalarText::Decoded(text.as_ref().into());
                    let node = self.add_node(NodeShape::Scalar { text, plain, tagged }, span, 1);
                    self.set_anchor(anchor, node);
                }
                Event::SequenceStart(_, anchor, _) => self.start_collection(anchor, span, false),
                Event::MappingStart(_, anchor, _) => self.start_collection(anchor, span, true),
                Event::SequenceEnd | Event::MappingEnd => self.end_collection(span),
                Event::Alias(anchor) => self.add_alias(anchor, span),
                Event::UnresolvedAlias(name) => {
                    let message = format!("`*{name}` refers to an anchor that does not exist");
                    self.add_broken(ProblemKind::UnknownAlias, span, message);
                }
                _ => {}
            }
        }
        self.finish()
    }

    pub(super) fn finish(mut self) -> Yaml {
        if let Some((kind, span, count)) = self.more {
            let message = format!("and {count} more like this one");
            self.yaml.problems.push(Problem { kind, span, message });
        }
        self.yaml
    }

    /// Returns the number of open collections.
    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    fn source_span(&self, span: granit_parser::Span, text: &str) -> Span {
        let offset = |marker: granit_parser::Marker| marker.byte_offset().unwrap_or(text.len());
        Span::new(self.shift + offset(span.start), self.shift + offset(span.end))
    }

    fn trim_span(&self, span: Span, input: &str) -> Span {
        let text = input.get(span.start - self.shift..span.end - self.shift).unwrap_or_default();
        Span::new(span.start, span.start + text.trim_end().len())
    }

    /// Reports a problem. Kinds that can occur in every line are listed up to a limit and counted
    /// beyond it; those that occur once are always listed.
    fn report_problem(&mut self, kind: ProblemKind, span: Span, message: String) {
        let repeats = matches!(kind, ProblemKind::UnknownAlias | ProblemKind::DuplicateKey);
        if repeats && self.yaml.problems.len() >= limits::PROBLEMS_PER_FILE {
            self.more.get_or_insert((kind, span, 0)).2 += 1;
        } else {
            self.yaml.problems.push(Problem { kind, span, message });
        }
    }

    /// Adds a scalar that is a slice of the input, without anchor or tag.
    pub(super) fn add_scalar(&mut self, text: Range<usize>, plain: bool, span: Span) {
        let text = ScalarText::Input { start: index_of(text.start), end: index_of(text.end) };
        self.add_node(NodeShape::Scalar { text, plain, tagged: false }, span, 1);
    }

    /// Adds a decoded scalar, without anchor or tag.
    pub(super) fn add_decoded(&mut self, text: String, span: Span) {
        let text = ScalarText::Decoded(text.into_boxed_str());
        self.add_node(NodeShape::Scalar { text, plain: false, tagged: false }, span, 1);
    }

    pub(super) fn start_collection(&mut self, anchor: usize, span: Span, is_mapping: bool) {
        // An alias to an open collection would refer to its own container.
        let node = self.push_node(NodeShape::Broken(ProblemKind::UnknownAlias), span, 1);
        let first = self.pending.len();
        self.open.push(OpenCollection { node, anchor, is_mapping, first, weight: 1 });
    }

    /// Closes the innermost collection. `span` is its closing bracket; block collections have none,
    /// and extend from their first child to their last.
    pub(super) fn end_collection(&mut self, span: Span) {
        let Some(open) = self.open.pop() else { return };
        if open.is_mapping {
            self.report_duplicates(open.first);
        }
        let first = index_of(self.yaml.children.len());
        let children = Children { first, count: index_of(self.pending.len() - open.first) };
        let start = self.yaml.node_data(open.node).span.start;
        let nodes = &self.pending[open.first..];
        let place = match (nodes.first(), nodes.last()) {
            (Some(&first), Some(&last)) if span.start == span.end => {
                Span::new(self.yaml.node_data(first).span.start, self.yaml.node_data(last).span.end)
            }
            _ => Span::new(start, span.end),
        };
        self.yaml.children.extend(self.pending.drain(open.first..));
        let node = &mut self.yaml.nodes[open.node as usize];
        node.span = place;
        node.weight = open.weight;
        let shape = if open.is_mapping { NodeShape::Mapping } else { NodeShape::Sequence };
        node.shape = shape(children);
        self.set_anchor(open.anchor, open.node);
        self.adopt_node(open.node, open.weight);
    }

    fn add_alias(&mut self, anchor: usize, span: Span) {
        match self.anchors.get(anchor).copied().flatten() {
            Some(target) => {
                let weight = self.yaml.node_data(target).weight;
                if self.total.saturating_add(weight) > limits::YAML_EXPANDED_NODES {
                    let limit = limits::YAML_EXPANDED_NODES;
                    let message =
                        format!("aliases expand this document to more than {limit} nodes");
                    self.add_broken(ProblemKind::AliasBomb, span, message);
                } else {
                    self.add_node(NodeShape::Alias(target), span, weight);
                }
            }
            // The collection of the anchor is still open: the alias refers to its own container.
            None => {
                let message = "an alias cannot refer to the node that contains it".to_owned();
                self.add_broken(ProblemKind::UnknownAlias, span, message);
            }
        }
    }

    /// Adds a reference that cannot be followed. An alias bomb is one problem for all its
    /// references.
    fn add_broken(&mut self, kind: ProblemKind, span: Span, message: String) {
        let is_known = |problem: &Problem| problem.kind == ProblemKind::AliasBomb;
        if kind != ProblemKind::AliasBomb || !self.yaml.problems.iter().any(is_known) {
            self.report_problem(kind, span, message);
        }
        self.add_node(NodeShape::Broken(kind), span, 1);
    }

    fn set_anchor(&mut self, anchor: usize, node: u32) {
        if anchor == 0 {
            return;
        }
        if self.anchors.len() <= anchor {
            self.anchors.resize(anchor + 1, None);
        }
        self.anchors[anchor] = Some(node);
    }

    fn add_node(&mut self, shape: NodeShape, span: Span, weight: usize) -> u32 {
        let node = self.push_node(shape, span, weight);
        self.total = self.total.saturating_add(weight);
        self.adopt_node(node, weight);
        node
    }

    fn push_node(&mut self, shape: NodeShape, span: Span, weight: usize) -> u32 {
        let index = index_of(self.yaml.nodes.len());
        self.yaml.nodes.push(NodeData { span, weight, shape });
        index
    }

    /// Adds a finished node to the innermost open collection, or makes it the root.
    fn adopt_node(&mut self, node: u32, weight: usize) {
        match self.open.last_mut() {
            Some(parent) => {
                parent.weight = parent.weight.saturating_add(weight);
                self.pending.push(node);
            }
            None => {
                self.yaml.root.get_or_insert(node);
            }
        }
    }

    /// Reports the duplicate keys among the pending children from `first` on.
    fn report_duplicates(&mut self, first: usize) {
        let items = &self.pending[first..];
        let mut names: Vec<(&str, Span)> = Vec::with_capacity(items.len() / 2);
        for pair in items.chunks_exact(2) {
            let key = self.yaml.node_data(pair[0]);
            if let NodeShape::Scalar { text, .. } = &key.shape {
                let name = text.resolve_text(&self.yaml.input);
                if name != "<<" {
                    names.push((name, key.span));
                }
            }
        }
        let mut duplicates: Vec<(String, Span)> = Vec::new();
        // Beyond the limit only the number counts, and no name is copied.
        let mut report = |name: &str, span| {
            let is_listed = duplicates.len() < limits::PROBLEMS_PER_FILE;
            duplicates.push((if is_listed { name.to_owned() } else { String::new() }, span));
        };
        if names.len() <= 16 {
            for (index, &(name, span)) in names.iter().enumerate() {
                if names[..index].iter().any(|&(earlier, _)| earlier == name) {
                    report(name, span);
                }
            }
        } else {
            names.sort_unstable();
            for pair in names.windows(2) {
                if pair[0].0 == pair[1].0 {
                    report(pair[1].0, pair[1].1);
                }
            }
        }
        for (name, span) in duplicates {
            let message = format!("duplicate key `{name}`; the first one is used");
            self.report_problem(ProblemKind::DuplicateKey, span, message);
        }
    }
}

/// Node numbers fit 32 bits because files are limited to [`limits::FILE_BYTES`].
fn index_of(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// Returns the tab that indents the line of a problem, the one before it or the one after it.
fn tab_near(input: &str, offset: usize) -> Option<usize> {
    let before = input.get(..offset).unwrap_or(input);
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let above = before[..start].trim_end_matches('\n').rfind('\n').map_or(0, |at| at + 1);
    let mut at = above;
    input[above..].split_inclusive('\n').take(3).find_map(|line| {
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        let tab = line[..indent].find('\t').map(|tab| at + tab);
        at += line.len();
        tab
    })
}
