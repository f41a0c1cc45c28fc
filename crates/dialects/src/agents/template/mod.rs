//! The subset of Handlebars for agents' texts: strict, without HTML escaping, in bounded time and
//! space.
//!
//! The syntax is that of Handlebars: paths with `this` and `../`, `if`, `unless`, `each`, `with`,
//! `lookup`, sections, `else if`, block parameters, comments, `~`; a tag alone on its line removes
//! the line. There are no partials, decorators or custom helpers, because an agent file is text and
//! not a program.
//!
//! The crate of that name does not fit: nothing bounds its nested loops, it overflows the stack on
//! 10,000 nested blocks and on an inline partial that includes itself, and its strict mode accepts
//! `{{#if nope}}`.

mod parse;
mod render;

use std::fmt;

use super::value::AgentValue;

#[derive(Debug, Clone)]
pub(crate) struct Template {
    nodes: Vec<TemplateNode>,
}

impl Template {
    pub(crate) fn parse(text: &str) -> Result<Template, TemplateProblem> {
        parse::parse_template(text).map(|nodes| Template { nodes })
    }

    /// Renders it with `input` as `ctx.input`.
    pub(crate) fn render(&self, input: &AgentValue) -> Result<String, TemplateProblem> {
        render::render_template(&self.nodes, input)
    }
}

/// A problem of a template and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TemplateProblem {
    pub(crate) kind: TemplateProblemKind,
    pub(crate) place: TagPlace,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TemplateProblemKind {
    Syntax(String),
    Undefined(String),
    /// A value that cannot be printed.
    NotText {
        name: String,
        noun: &'static str,
    },
    /// The limit of steps or bytes was exceeded.
    Limit(String),
}

impl fmt::Display for TemplateProblemKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TemplateProblemKind::Syntax(message) | TemplateProblemKind::Limit(message) => {
                formatter.write_str(message)
            }
            TemplateProblemKind::Undefined(name) => write!(formatter, "`{name}` is not defined"),
            TemplateProblemKind::NotText { name, noun } => {
                write!(formatter, "`{name}` is {noun}, which cannot be printed")
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TagPlace {
    pub(crate) offset: usize,
    pub(crate) length: usize,
}

impl TagPlace {
    fn problem(self, kind: TemplateProblemKind) -> TemplateProblem {
        TemplateProblem { kind, place: self }
    }

    fn syntax_error(self, message: impl Into<String>) -> TemplateProblem {
        self.problem(TemplateProblemKind::Syntax(message.into()))
    }
}

#[derive(Debug, Clone)]
enum TemplateNode {
    Text(String),
    Print { expression: Expression, place: TagPlace },
    Block(Box<TemplateBlock>),
}

/// A part that is rendered never, once or repeatedly.
#[derive(Debug, Clone)]
struct TemplateBlock {
    kind: TemplateBlockKind,
    subject: Expression,
    /// True if zero counts as a value for `if`.
    include_zero: bool,
    /// The names of `as |value key|`.
    parameters: Vec<String>,
    body: Vec<TemplateNode>,
    inverse: Vec<TemplateNode>,
    place: TagPlace,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TemplateBlockKind {
    If,
    Unless,
    Each,
    With,
    /// `{{#name}}`: each item of a list, or the body with the value as its context. Only null,
    /// `false` and an empty list count as empty.
    Section,
}

/// An expression with a value.
#[derive(Debug, Clone)]
enum Expression {
    Path(Path),
    Literal(AgentValue),
    Lookup(Box<Expression>, Box<Expression>),
}

#[derive(Debug, Clone)]
struct Path {
    written: String,
    /// The number of leading `../`.
    up: usize,
    /// True if it begins with `@`.
    data: bool,
    /// True if it begins with `this` or `.`, which passes over block parameters.
    this: bool,
    names: Vec<String>,
}

impl Expression {
    /// Returns the path as the author wrote it.
    fn source_text(&self) -> &str {
        match self {
            Expression::Path(path) => &path.written,
            Expression::Literal(AgentValue::Text(text) | AgentValue::Plain(text)) => text,
            Expression::Literal(_) => "null",
            Expression::Lookup(object, _) => object.source_text(),
        }
    }
}
