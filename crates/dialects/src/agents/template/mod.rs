//! Handlebars, as far as the text of an agent needs it: strict, without HTML escaping, in bounded
//! time and space.
//!
//! The syntax is that of Handlebars: paths with `this` and `../`, `if`, `unless`, `each`, `with`,
//! `lookup`, sections, `else if`, block parameters, comments, `~`, and tags alone on their line take
//! the line with them. There are no partials, no decorators and no helpers of others, because an agent
//! file is somebody's text and not a program.
//!
//! Why not the crate of that name: nothing bounds its nested loops, it ends the process by overflowing
//! the stack on 10,000 nested blocks and on an inline partial that includes itself, and its strict mode
//! lets `{{#if nope}}` pass.

mod parse;
mod render;

use std::fmt;

use super::value::Value;

/// A template, ready to be rendered.
#[derive(Debug, Clone)]
pub(super) struct Template {
    nodes: Vec<Node>,
}

impl Template {
    /// Reads a template.
    pub(super) fn parse(text: &str) -> Result<Template, Problem> {
        parse::parse(text).map(|nodes| Template { nodes })
    }

    /// Renders it with `input` as `ctx.input`.
    pub(super) fn render(&self, input: &Value) -> Result<String, Problem> {
        render::render(&self.nodes, input)
    }
}

/// What is wrong with a template, and where in its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) kind: ProblemKind,
    /// The first byte of the tag.
    pub(super) offset: usize,
    /// How long the tag is.
    pub(super) length: usize,
}

/// The kinds of [`Problem`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ProblemKind {
    /// It is no template.
    Syntax(String),
    /// A name that stands for nothing.
    Undefined(String),
    /// A value that cannot be printed.
    NotText { name: String, noun: &'static str },
    /// It takes too long, or gets too long.
    Limit(String),
}

impl fmt::Display for ProblemKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProblemKind::Syntax(message) | ProblemKind::Limit(message) => {
                formatter.write_str(message)
            }
            ProblemKind::Undefined(name) => write!(formatter, "there is no `{name}`"),
            ProblemKind::NotText { name, noun } => {
                write!(formatter, "`{name}` is {noun}, which has no text")
            }
        }
    }
}

/// The place of a tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    offset: usize,
    length: usize,
}

impl Place {
    fn problem(self, kind: ProblemKind) -> Problem {
        Problem { kind, offset: self.offset, length: self.length }
    }

    fn syntax(self, message: impl Into<String>) -> Problem {
        self.problem(ProblemKind::Syntax(message.into()))
    }
}

/// A part of a template.
#[derive(Debug, Clone)]
enum Node {
    Text(String),
    Print { expression: Expression, place: Place },
    Block(Box<Block>),
}

/// A part that is rendered never, once or often.
#[derive(Debug, Clone)]
struct Block {
    kind: BlockKind,
    subject: Expression,
    /// Whether zero counts as something for `if`.
    include_zero: bool,
    /// The names of `as |value key|`.
    parameters: Vec<String>,
    body: Vec<Node>,
    inverse: Vec<Node>,
    place: Place,
}

/// What a block does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BlockKind {
    If,
    Unless,
    Each,
    With,
    /// `{{#name}}`: each item of a list, or the body with the value as its context. Only nothing,
    /// `false` and an empty list count as empty.
    Section,
}

/// What stands for a value.
#[derive(Debug, Clone)]
enum Expression {
    Path(Path),
    Literal(Value),
    /// `lookup object key`.
    Lookup(Box<Expression>, Box<Expression>),
}

/// A way to a value.
#[derive(Debug, Clone)]
struct Path {
    /// As it is written.
    written: String,
    /// How many contexts up.
    up: usize,
    /// Whether it begins with `@`.
    data: bool,
    /// Whether it begins with `this` or `.`, and so passes block parameters by.
    this: bool,
    names: Vec<String>,
}

impl Expression {
    /// Returns how the author wrote it.
    fn written(&self) -> &str {
        match self {
            Expression::Path(path) => &path.written,
            Expression::Literal(Value::Text(text) | Value::Plain(text)) => text,
            Expression::Literal(_) => "null",
            Expression::Lookup(object, _) => object.written(),
        }
    }
}
