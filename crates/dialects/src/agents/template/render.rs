//! The renderer from nodes and a value to text, with limits of steps and bytes.

use std::borrow::Cow;
use std::cell::Cell;

use brief_syntax::limits;

use super::{
    Expression, Path, TagPlace, TemplateBlock, TemplateBlockKind, TemplateNode, TemplateProblem,
    TemplateProblemKind,
};
use crate::agents::value::AgentValue;

pub(super) fn render_template<'v>(
    nodes: &'v [TemplateNode],
    input: &'v AgentValue,
) -> Result<String, TemplateProblem> {
    let frames =
        vec![ContextFrame { value: ContextValue::Context, turn: None, parameters: Vec::new() }];
    let mut rendering = Rendering { input, frames, output: String::new(), steps: Cell::new(0) };
    rendering.render_nodes(nodes)?;
    Ok(rendering.output)
}

/// A value during rendering. Nothing is copied, so that a step costs the same for all values.
#[derive(Debug, Clone, Copy)]
enum ContextValue<'v> {
    /// The context itself: `input`, and `ctx` for the context again.
    Context,
    Value(&'v AgentValue),
    Key(&'v str),
    Number(usize),
    Flag(bool),
}

impl<'v> ContextValue<'v> {
    fn get(self, name: &str, input: &'v AgentValue) -> Option<ContextValue<'v>> {
        match self {
            ContextValue::Context => match name {
                "input" => Some(ContextValue::Value(input)),
                "ctx" => Some(ContextValue::Context),
                _ => None,
            },
            ContextValue::Value(AgentValue::List(list)) if name == "length" => {
                Some(ContextValue::Number(list.len()))
            }
            ContextValue::Value(value) => value.get(name).map(ContextValue::Value),
            ContextValue::Key(_) | ContextValue::Number(_) | ContextValue::Flag(_) => None,
        }
    }

    fn is_empty(self, include_zero: bool) -> bool {
        match self {
            ContextValue::Context => false,
            ContextValue::Value(AgentValue::Plain(word)) if include_zero && word != "false" => {
                word.is_empty()
            }
            ContextValue::Value(value) => value.is_empty(),
            ContextValue::Key(text) => text.is_empty(),
            ContextValue::Number(number) => number == 0 && !include_zero,
            ContextValue::Flag(flag) => !flag,
        }
    }
}

impl ContextValue<'_> {
    fn is_true(self) -> bool {
        match self {
            ContextValue::Flag(flag) => flag,
            ContextValue::Value(AgentValue::Plain(word)) => {
                matches!(word.as_str(), "true" | "True" | "TRUE")
            }
            _ => false,
        }
    }

    fn is_nothing(self) -> bool {
        match self {
            ContextValue::Flag(flag) => !flag,
            ContextValue::Value(AgentValue::Null) => true,
            ContextValue::Value(AgentValue::Plain(word)) => {
                matches!(word.as_str(), "false" | "False" | "FALSE")
            }
            ContextValue::Value(AgentValue::List(list)) => list.is_empty(),
            _ => false,
        }
    }
}

#[derive(Clone, Copy)]
struct Iteration<'v> {
    /// The key of a field, or the index of an item.
    key: ContextValue<'v>,
    index: usize,
    is_last: bool,
}

/// One context, and its iteration in a loop.
struct ContextFrame<'v> {
    value: ContextValue<'v>,
    turn: Option<Iteration<'v>>,
    parameters: Vec<(&'v str, ContextValue<'v>)>,
}

/// A path without a value.
struct MissingPath<'v> {
    name: Cow<'v, str>,
    /// True if the context itself lacks the name, so that no data could have it.
    of_context: bool,
}

struct Rendering<'v> {
    input: &'v AgentValue,
    frames: Vec<ContextFrame<'v>>,
    output: String,
    /// The steps so far; a search in a mapping counts its fields.
    steps: Cell<usize>,
}

impl<'v> Rendering<'v> {
    /// Renders nodes. The recursion is bounded by the nesting of blocks.
    fn render_nodes(&mut self, nodes: &'v [TemplateNode]) -> Result<(), TemplateProblem> {
        for node in nodes {
            match node {
                TemplateNode::Text(text) => {
                    self.write_text(text, TagPlace { offset: 0, length: 0 })?;
                }
                TemplateNode::Print { expression, place } => {
                    let item = self.evaluate_required(expression, *place)?;
                    self.write_value(item, expression, *place)?;
                }
                TemplateNode::Block(block) => self.render_block(block)?,
            }
        }
        Ok(())
    }

    fn write_text(&mut self, text: &str, place: TagPlace) -> Result<(), TemplateProblem> {
        self.count_step(place)?;
        self.output.push_str(text);
        if self.output.len() > limits::TEMPLATE_BYTES {
            let limit = limits::TEMPLATE_BYTES;
            let message = format!("the rendered text exceeds {limit} bytes");
            return Err(place.problem(TemplateProblemKind::Limit(message)));
        }
        Ok(())
    }

    fn count_step(&mut self, place: TagPlace) -> Result<(), TemplateProblem> {
        self.steps.set(self.steps.get() + 1);
        if self.steps.get() > limits::TEMPLATE_STEPS {
            let message = format!("takes more than {} steps to render", limits::TEMPLATE_STEPS);
            return Err(place.problem(TemplateProblemKind::Limit(message)));
        }
        Ok(())
    }

    fn write_value(
        &mut self,
        item: ContextValue<'v>,
        of: &Expression,
        place: TagPlace,
    ) -> Result<(), TemplateProblem> {
        let not_text = |noun| {
            place.problem(TemplateProblemKind::NotText { name: of.source_text().to_owned(), noun })
        };
        match item {
            ContextValue::Context => Err(not_text("a mapping")),
            ContextValue::Key(text) => self.write_text(text, place),
            ContextValue::Number(number) => self.write_text(&number.to_string(), place),
            ContextValue::Flag(flag) => self.write_text(if flag { "true" } else { "false" }, place),
            ContextValue::Value(AgentValue::Null) => Ok(()),
            ContextValue::Value(AgentValue::Text(text) | AgentValue::Plain(text)) => {
                self.write_text(text, place)
            }
            ContextValue::Value(AgentValue::List(list)) => {
                for (index, value) in list.iter().enumerate() {
                    if index > 0 {
                        self.write_text(",", place)?;
                    }
                    match value {
                        AgentValue::Text(text) | AgentValue::Plain(text) => {
                            self.write_text(text, place)?;
                        }
                        AgentValue::Null => {}
                        other => return Err(not_text(other.noun())),
                    }
                }
                Ok(())
            }
            ContextValue::Value(value @ AgentValue::Fields(_)) => Err(not_text(value.noun())),
        }
    }

    fn render_block(&mut self, block: &'v TemplateBlock) -> Result<(), TemplateProblem> {
        self.count_step(block.place)?;
        let subject = match block.kind {
            TemplateBlockKind::If | TemplateBlockKind::Unless => {
                self.evaluate_condition(&block.subject, block.place)?
            }
            _ => Some(self.evaluate_required(&block.subject, block.place)?),
        };
        let is_empty = subject.is_none_or(|item| match block.kind {
            TemplateBlockKind::Section => item.is_nothing(),
            TemplateBlockKind::With => item.is_empty(true),
            _ => item.is_empty(block.include_zero),
        });
        let Some(item) = subject.filter(|_| !is_empty) else {
            let is_unless = block.kind == TemplateBlockKind::Unless;
            return self.render_nodes(if is_unless { &block.body } else { &block.inverse });
        };
        match (block.kind, item) {
            (TemplateBlockKind::If, _) => self.render_nodes(&block.body),
            (
                TemplateBlockKind::Each | TemplateBlockKind::Section,
                ContextValue::Value(AgentValue::List(list)),
            ) => {
                let items = list.iter().enumerate();
                let keyed = items.map(|(index, value)| (ContextValue::Number(index), value));
                self.render_each(block, keyed, list.len())
            }
            (TemplateBlockKind::Each, ContextValue::Value(AgentValue::Fields(fields)))
                if !fields.is_empty() =>
            {
                let keyed = fields.iter().map(|(name, value)| (ContextValue::Key(name), value));
                self.render_each(block, keyed, fields.len())
            }
            // A string has no items.
            (TemplateBlockKind::Unless | TemplateBlockKind::Each, _) => {
                self.render_nodes(&block.inverse)
            }
            // `true` has no context of its own.
            (TemplateBlockKind::Section, item) if item.is_true() => self.render_nodes(&block.body),
            (TemplateBlockKind::Section | TemplateBlockKind::With, _) => {
                let name = block.parameters.first();
                let parameters = name.map(|name| (name.as_str(), item)).into_iter().collect();
                self.frames.push(ContextFrame { value: item, turn: None, parameters });
                let rendered = self.render_nodes(&block.body);
                self.frames.pop();
                rendered
            }
        }
    }

    fn render_each(
        &mut self,
        block: &'v TemplateBlock,
        items: impl Iterator<Item = (ContextValue<'v>, &'v AgentValue)>,
        count: usize,
    ) -> Result<(), TemplateProblem> {
        for (index, (key, value)) in items.enumerate() {
            self.count_step(block.place)?;
            let given = [ContextValue::Value(value), key];
            let names = block.parameters.iter().map(String::as_str);
            let parameters = names.zip(given).collect();
            let turn = Some(Iteration { key, index, is_last: index + 1 == count });
            self.frames.push(ContextFrame { value: ContextValue::Value(value), turn, parameters });
            let rendered = self.render_nodes(&block.body);
            self.frames.pop();
            rendered?;
        }
        Ok(())
    }

    fn evaluate_required(
        &self,
        expression: &'v Expression,
        place: TagPlace,
    ) -> Result<ContextValue<'v>, TemplateProblem> {
        self.evaluate(expression).map_err(|missing| {
            place.problem(TemplateProblemKind::Undefined(missing.name.into_owned()))
        })
    }

    /// Evaluates the condition of `if`, which data may lack; a name that the context itself lacks
    /// is an error all the same.
    fn evaluate_condition(
        &self,
        expression: &'v Expression,
        place: TagPlace,
    ) -> Result<Option<ContextValue<'v>>, TemplateProblem> {
        match self.evaluate(expression) {
            Ok(item) => Ok(Some(item)),
            Err(missing) if missing.of_context => {
                Err(place.problem(TemplateProblemKind::Undefined(missing.name.into_owned())))
            }
            Err(_) => Ok(None),
        }
    }

    fn evaluate(&self, expression: &'v Expression) -> Result<ContextValue<'v>, MissingPath<'v>> {
        match expression {
            Expression::Path(path) => self.resolve_path(path),
            Expression::Literal(value) => Ok(ContextValue::Value(value)),
            Expression::Lookup(object, key) => {
                let name = match self.evaluate(key)? {
                    ContextValue::Value(AgentValue::Text(text) | AgentValue::Plain(text)) => {
                        Cow::Borrowed(text.as_str())
                    }
                    ContextValue::Key(text) => Cow::Borrowed(text),
                    ContextValue::Number(number) => Cow::Owned(number.to_string()),
                    _ => Cow::Borrowed(""),
                };
                let object = self.evaluate(object)?;
                let of_context = matches!(object, ContextValue::Context);
                self.find_field(object, &name).ok_or(MissingPath { name, of_context })
            }
        }
    }

    fn find_field(&self, item: ContextValue<'v>, name: &str) -> Option<ContextValue<'v>> {
        if let ContextValue::Value(AgentValue::Fields(fields)) = item {
            self.steps.set(self.steps.get() + fields.len());
        }
        item.get(name, self.input)
    }

    fn resolve_path(&self, path: &'v Path) -> Result<ContextValue<'v>, MissingPath<'v>> {
        let missing =
            |of_context| MissingPath { name: Cow::Borrowed(path.written.as_str()), of_context };
        let (mut item, names) = match path.names.split_first() {
            Some((name, rest)) if path.data => {
                (self.find_data_variable(name).ok_or_else(|| missing(true))?, rest)
            }
            Some((name, rest)) if !path.this && self.find_parameter(name).is_some() => {
                (self.find_parameter(name).ok_or_else(|| missing(true))?, rest)
            }
            _ => {
                let index = (self.frames.len() - 1).checked_sub(path.up);
                let frame = index.and_then(|index| self.frames.get(index));
                (frame.ok_or_else(|| missing(true))?.value, path.names.as_slice())
            }
        };
        for name in names {
            let of_context = matches!(item, ContextValue::Context);
            item = self.find_field(item, name).ok_or_else(|| missing(of_context))?;
        }
        Ok(item)
    }

    fn find_parameter(&self, name: &str) -> Option<ContextValue<'v>> {
        let own = |frame: &ContextFrame<'v>| {
            let found = frame.parameters.iter().find(|(known, _)| *known == name);
            found.map(|(_, item)| *item)
        };
        self.frames.iter().rev().find_map(own)
    }

    fn find_data_variable(&self, name: &str) -> Option<ContextValue<'v>> {
        if name == "root" {
            return Some(ContextValue::Context);
        }
        let turn = self.frames.iter().rev().find_map(|frame| frame.turn)?;
        match name {
            "index" => Some(ContextValue::Number(turn.index)),
            "key" => Some(turn.key),
            "first" => Some(ContextValue::Flag(turn.index == 0)),
            "last" => Some(ContextValue::Flag(turn.is_last)),
            _ => None,
        }
    }
}
