//! The parser from text to nodes, without recursion over nested blocks.

use brief_syntax::limits;

use super::{
    Expression, Path, TagPlace, TemplateBlock, TemplateBlockKind, TemplateNode, TemplateProblem,
};
use crate::agents::value::AgentValue;

/// The deepest nesting of `(lookup …)`.
const EXPRESSION_DEPTH: usize = 8;

/// The helpers that are blocks.
const BLOCKS: [&str; 4] = ["if", "unless", "each", "with"];

/// Returns the error for a tag that needs other files or code: an agent has one text.
fn unavailable_tag(content: &str, place: TagPlace) -> TemplateProblem {
    let (kind, rest) = match content.strip_prefix('#').map_or(content, str::trim_start) {
        rest if content.starts_with('#') && rest.starts_with('>') => {
            ("a block with a partial", rest)
        }
        rest if rest.starts_with('>') => ("a partial", rest),
        rest if content.starts_with('#') => ("an inline partial", rest),
        rest => ("a decorator", rest),
    };
    // The first words are enough to find it.
    let words: Vec<&str> = rest.split_whitespace().take(2).collect();
    let hash = if content.starts_with('#') { "#" } else { "" };
    place.syntax_error(format!(
        "`{{{{{hash}{}}}}}` is {kind}, which templates do not support",
        words.join(" ")
    ))
}

fn no_helper(name: &str, place: TagPlace) -> TemplateProblem {
    let known = "known helpers: `if`, `unless`, `each`, `with` and `lookup`";
    place.syntax_error(format!("unknown helper `{name}`; {known}"))
}

pub(super) fn parse_template(text: &str) -> Result<Vec<TemplateNode>, TemplateProblem> {
    let mut parsing =
        Parsing { text, at: 0, pending: String::new(), nodes: Vec::new(), open: Vec::new() };
    while parsing.at < text.len() {
        parsing.parse_next()?;
    }
    parsing.flush_text();
    match parsing.open.pop() {
        Some(open) => {
            Err(open.block.place.syntax_error(format!("`{}` is never closed", open.name)))
        }
        None => Ok(parsing.nodes),
    }
}

struct Parsing<'t> {
    text: &'t str,
    at: usize,
    /// The text since the last tag.
    pending: String,
    nodes: Vec<TemplateNode>,
    open: Vec<OpenBlock>,
}

/// A block that is not closed yet.
struct OpenBlock {
    /// The name in its closing tag.
    name: String,
    block: TemplateBlock,
    in_inverse: bool,
    has_else: bool,
    /// True for a block after an `else`, which closes together with the block around it.
    chained: bool,
}

/// The content between the braces.
struct Tag<'t> {
    content: &'t str,
    place: TagPlace,
    /// True if white space before or after it is removed.
    trims: (bool, bool),
    end: usize,
}

impl<'t> Parsing<'t> {
    fn parse_next(&mut self) -> Result<(), TemplateProblem> {
        let rest = &self.text[self.at..];
        let Some(found) = rest.find("{{") else {
            self.pending.push_str(rest);
            self.at = self.text.len();
            return Ok(());
        };
        let before = &rest[..found];
        let Some(literal) = before.strip_suffix('\\') else {
            self.pending.push_str(before);
            self.at += found;
            return self.parse_tag();
        };
        self.pending.push_str(literal);
        if literal.ends_with('\\') {
            // Two backslashes are one, and the tag is a tag.
            self.at += found;
            return self.parse_tag();
        }
        // One backslash: the tag is text up to the next one.
        let tail = &rest[found + 2..];
        let next = tail.find("{{").map_or(tail.len(), |at| tail[..at].trim_end_matches('\\').len());
        self.pending.push_str(&rest[found..found + 2 + next]);
        self.at += found + 2 + next;
        Ok(())
    }

    fn flush_text(&mut self) {
        let text = std::mem::take(&mut self.pending);
        if !text.is_empty() {
            self.push_node(TemplateNode::Text(text));
        }
    }

    fn push_node(&mut self, node: TemplateNode) {
        match self.open.last_mut() {
            Some(open) if open.in_inverse => open.block.inverse.push(node),
            Some(open) => open.block.body.push(node),
            None => self.nodes.push(node),
        }
    }

    /// Parses the tag at the current position.
    fn parse_tag(&mut self) -> Result<(), TemplateProblem> {
        let tag = self.read_tag()?;
        let content = tag.content.trim();
        let first = content.chars().next();
        let is_word = |word: &str| content == word || content.starts_with(&format!("{word} "));
        let stands_alone = matches!(first, Some('#' | '/' | '^' | '!')) || is_word("else");
        let alone = stands_alone.then(|| self.line_of(&tag)).flatten();
        let kept = if tag.trims.0 {
            self.pending.trim_end().len()
        } else if alone.is_some() {
            self.pending.trim_end_matches([' ', '\t']).len()
        } else {
            self.pending.len()
        };
        self.pending.truncate(kept);
        self.flush_text();
        self.parse_tag_content(content, tag.place)?;
        self.at = alone.unwrap_or(tag.end);
        if tag.trims.1 {
            let rest = &self.text[tag.end..];
            self.at = tag.end + (rest.len() - rest.trim_start().len());
        }
        Ok(())
    }

    /// Finds the end of the tag at the current position.
    fn read_tag(&self) -> Result<Tag<'t>, TemplateProblem> {
        let rest = &self.text[self.at..];
        let here = TagPlace { offset: self.at, length: 2 };
        let unclosed = || here.syntax_error("a `{{` is never closed; `\\{{` is a literal one");
        if rest.starts_with("{{{{") {
            let name =
                rest.trim_start_matches(['{', '~']).split(['}', ' ']).next().unwrap_or_default();
            return Err(here.syntax_error(format!(
                "`{{{{{{{{{name}}}}}}}}}` is a raw block, which templates do not support"
            )));
        }
        let (open, close) = if rest.starts_with("{{{") { ("{{{", "}}}") } else { ("{{", "}}") };
        let inner = &rest[open.len()..];
        let body = inner.strip_prefix('~').unwrap_or(inner);
        let comment = body.strip_prefix("!--").map(|comment| inner.len() - comment.len());
        let length = if let Some(start) = comment {
            start + end_of_comment(&inner[start..], close).ok_or_else(unclosed)?
        } else if body.starts_with('!') {
            inner.find(close).ok_or_else(unclosed)?
        } else {
            find_tag_end(inner, close).ok_or_else(unclosed)?
        };
        let content = &inner[..length];
        let trims = (content.starts_with('~'), content.len() > 1 && content.ends_with('~'));
        let content = content.strip_prefix('~').unwrap_or(content);
        let content = content.strip_suffix('~').unwrap_or(content);
        let end = self.at + open.len() + length + close.len();
        let place = TagPlace { offset: self.at, length: end - self.at };
        Ok(Tag { content, place, trims, end })
    }

    /// Returns the start of the next line if the tag is alone on its line.
    fn line_of(&self, tag: &Tag<'_>) -> Option<usize> {
        // Only blanks are scanned, so that many tags on one long line stay linear.
        let before = self.text[..tag.place.offset].trim_end_matches([' ', '\t']);
        let after = &self.text[tag.end..];
        let rest = after.trim_start_matches([' ', '\t']);
        let next = if rest.is_empty() {
            Some(rest)
        } else {
            rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n'))
        };
        let begins = before.is_empty() || before.ends_with('\n');
        next.filter(|_| begins).map(|next| self.text.len() - next.len())
    }

    fn parse_tag_content(&mut self, content: &str, place: TagPlace) -> Result<(), TemplateProblem> {
        let mut letters = content.chars();
        match letters.next() {
            None => Err(place.syntax_error("the tag is empty")),
            Some('!') => Ok(()),
            Some('>' | '*') => Err(unavailable_tag(content, place)),
            Some('#') => match letters.as_str().trim_start() {
                name if name.starts_with(['>', '*']) => Err(unavailable_tag(content, place)),
                name => self.open_block(name, place, false),
            },
            Some('/') => self.close_block(letters.as_str().trim(), place),
            Some('^') => match letters.as_str().trim() {
                "" => self.parse_else("", place),
                name => self.open_inverted(name, place),
            },
            Some('&') => self.parse_print_tag(letters.as_str().trim(), place),
            _ => match content.strip_prefix("else") {
                Some("") => self.parse_else("", place),
                Some(rest) if rest.starts_with(char::is_whitespace) => {
                    self.parse_else(rest.trim(), place)
                }
                _ => self.parse_print_tag(content, place),
            },
        }
    }

    fn parse_print_tag(&mut self, content: &str, place: TagPlace) -> Result<(), TemplateProblem> {
        let words = split_tag_words(content, place)?;
        let expression = match words.as_slice() {
            [one] => parse_expression(one, place, 0)?,
            words => parse_helper_call(words, place, 0)?,
        };
        self.push_node(TemplateNode::Print { expression, place });
        Ok(())
    }

    fn open_block(
        &mut self,
        content: &str,
        place: TagPlace,
        chained: bool,
    ) -> Result<(), TemplateProblem> {
        let (content, parameters) = match content.split_once(" as |") {
            Some((content, names)) => {
                let names = names.trim_end().strip_suffix('|');
                let names = names.ok_or_else(|| place.syntax_error("`as |` is never closed"))?;
                (content, names.split_whitespace().map(str::to_owned).collect())
            }
            None => (content, Vec::new()),
        };
        let mut words = split_tag_words(content, place)?;
        let mut include_zero = false;
        words.retain(|word| match word {
            TagWord::Option(name, value) if name == "includeZero" => {
                include_zero = value == "true";
                false
            }
            _ => true,
        });
        let (name, kind, subject) = match words.as_slice() {
            [TagWord::Name(name), subject] => {
                let kind = match name.as_str() {
                    "if" => TemplateBlockKind::If,
                    "unless" => TemplateBlockKind::Unless,
                    "each" => TemplateBlockKind::Each,
                    "with" => TemplateBlockKind::With,
                    _ => return Err(no_helper(name, place)),
                };
                (name.clone(), kind, parse_expression(subject, place, 0)?)
            }
            [TagWord::Name(name)] if BLOCKS.contains(&name.as_str()) => {
                return Err(place.syntax_error(format!("`{name}` needs a value")));
            }
            [word @ TagWord::Name(name)] => {
                (name.clone(), TemplateBlockKind::Section, parse_expression(word, place, 0)?)
            }
            [TagWord::Name(name), ..] if !BLOCKS.contains(&name.as_str()) => {
                return Err(no_helper(name, place));
            }
            [TagWord::Name(name), _, TagWord::Option(option, _), ..] => {
                return Err(place.syntax_error(format!("`{name}` has no option `{option}`")));
            }
            [TagWord::Name(name), ..] => {
                return Err(place.syntax_error(format!("`{name}` takes one value")));
            }
            _ => return Err(place.syntax_error("a block needs a name and one value")),
        };
        let block = TemplateBlock {
            kind,
            subject,
            include_zero,
            parameters,
            body: Vec::new(),
            inverse: Vec::new(),
            place,
        };
        if self.open.len() >= limits::TEMPLATE_DEPTH {
            let limit = limits::TEMPLATE_DEPTH;
            return Err(place.syntax_error(format!("more than {limit} blocks are nested")));
        }
        self.open.push(OpenBlock { name, block, in_inverse: false, has_else: false, chained });
        Ok(())
    }

    /// `{{^x}}` is `{{#x}}` with its halves exchanged.
    fn open_inverted(&mut self, content: &str, place: TagPlace) -> Result<(), TemplateProblem> {
        self.open_block(content, place, false)?;
        if let Some(open) = self.open.last_mut() {
            open.in_inverse = true;
        }
        Ok(())
    }

    /// Parses `else`, possibly with a block of its own.
    fn parse_else(&mut self, content: &str, place: TagPlace) -> Result<(), TemplateProblem> {
        match self.open.last_mut() {
            Some(open) if !open.has_else => {
                (open.has_else, open.in_inverse) = (true, !open.in_inverse);
            }
            Some(_) => return Err(place.syntax_error("duplicate `else`")),
            None => return Err(place.syntax_error("`else` without a block")),
        }
        if content.is_empty() { Ok(()) } else { self.open_block(content, place, true) }
    }

    fn close_block(&mut self, name: &str, place: TagPlace) -> Result<(), TemplateProblem> {
        loop {
            let Some(open) = self.open.pop() else {
                return Err(place.syntax_error(format!("`{name}` is closed, but was never opened")));
            };
            let chained = open.chained;
            // A chained block closes with the block around it.
            if !chained && open.name != name {
                let message = format!("`{}` is closed by `{name}`", open.name);
                return Err(place.syntax_error(message));
            }
            self.push_node(TemplateNode::Block(Box::new(open.block)));
            if !chained {
                return Ok(());
            }
        }
    }
}

/// Finds the end of a comment that may contain braces.
fn end_of_comment(text: &str, close: &str) -> Option<usize> {
    text.match_indices("--").find_map(|(at, _)| {
        // Of three dashes, the last two close it.
        let dashes = text[at..].len() - text[at..].trim_start_matches('-').len();
        let end = at + dashes;
        let trims = usize::from(text[end..].starts_with('~'));
        text[end + trims..].starts_with(close).then_some(end + trims)
    })
}

/// Finds the end of a tag, outside quotes.
fn find_tag_end(text: &str, close: &str) -> Option<usize> {
    let mut quote: Option<char> = None;
    for (at, character) in text.char_indices() {
        match quote {
            Some(open) => quote = quote.filter(|_| open != character),
            None if matches!(character, '"' | '\'') => quote = Some(character),
            None if text[at..].starts_with(close) => return Some(at),
            None => {}
        }
    }
    None
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum TagWord {
    Name(String),
    Quoted(String),
    Option(String, String),
    Nested(String),
}

fn split_tag_words(content: &str, place: TagPlace) -> Result<Vec<TagWord>, TemplateProblem> {
    let mut words = Vec::new();
    let mut rest = content.trim();
    while let Some(first) = rest.chars().next() {
        let (word, length) = match first {
            '"' | '\'' => {
                let end = rest[1..].find(first);
                let end = end.ok_or_else(|| place.syntax_error("a quote is never closed"))?;
                (TagWord::Quoted(rest[1..=end].to_owned()), end + 2)
            }
            '(' => {
                let end = find_closing_parenthesis(rest);
                let end = end.ok_or_else(|| place.syntax_error("a parenthesis is never closed"))?;
                (TagWord::Nested(rest[1..end].to_owned()), end + 1)
            }
            _ => {
                let end = name_length(rest);
                let name = &rest[..end];
                match name.split_once('=') {
                    Some((name, value)) => {
                        (TagWord::Option(name.to_owned(), value.to_owned()), end)
                    }
                    None => (TagWord::Name(name.to_owned()), end),
                }
            }
        };
        words.push(word);
        rest = rest[length..].trim_start();
    }
    Ok(words)
}

/// Returns the length of a name: up to white space or a parenthesis, outside square brackets.
fn name_length(text: &str) -> usize {
    let mut bracket = false;
    for (at, character) in text.char_indices() {
        match character {
            '[' => bracket = true,
            ']' => bracket = false,
            ')' | '(' if at > 0 && !bracket => return at,
            _ if character.is_whitespace() && !bracket => return at,
            _ => {}
        }
    }
    text.len()
}

fn find_closing_parenthesis(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 1 => return Some(at),
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

fn parse_expression(
    word: &TagWord,
    place: TagPlace,
    depth: usize,
) -> Result<Expression, TemplateProblem> {
    match word {
        TagWord::Quoted(text) => Ok(Expression::Literal(AgentValue::Text(text.clone()))),
        TagWord::Option(name, _) => Err(place.syntax_error(format!("unknown option `{name}`"))),
        TagWord::Nested(_) if depth >= EXPRESSION_DEPTH => {
            Err(place.syntax_error("parentheses are nested too deeply"))
        }
        TagWord::Nested(content) => {
            parse_helper_call(&split_tag_words(content, place)?, place, depth + 1)
        }
        TagWord::Name(name) => match name.as_str() {
            "null" | "undefined" => Ok(Expression::Literal(AgentValue::Null)),
            "true" | "false" => Ok(Expression::Literal(AgentValue::Plain(name.clone()))),
            _ if name.parse::<f64>().is_ok()
                && name.starts_with(|c: char| c.is_ascii_digit() || c == '-') =>
            {
                Ok(Expression::Literal(AgentValue::Plain(name.clone())))
            }
            _ => parse_path(name, place).map(Expression::Path),
        },
    }
}

/// Reads a helper with its arguments: `lookup` is the only one that has a value.
fn parse_helper_call(
    words: &[TagWord],
    place: TagPlace,
    depth: usize,
) -> Result<Expression, TemplateProblem> {
    match words {
        [TagWord::Name(name), object, key] if name == "lookup" => {
            let object = parse_expression(object, place, depth)?;
            let key = parse_expression(key, place, depth)?;
            Ok(Expression::Lookup(Box::new(object), Box::new(key)))
        }
        [TagWord::Name(name), ..] => Err(no_helper(name, place)),
        _ => Err(place.syntax_error("this is not an expression")),
    }
}

fn parse_path(written: &str, place: TagPlace) -> Result<Path, TemplateProblem> {
    let invalid = || place.syntax_error(format!("`{written}` is not a name"));
    let mut path =
        Path { written: written.to_owned(), up: 0, data: false, this: false, names: Vec::new() };
    let mut rest = written;
    if let Some(name) = rest.strip_prefix('@') {
        (path.data, rest) = (true, name);
    }
    while let Some(after) = rest.strip_prefix("..") {
        path.up += 1;
        path.this = true;
        rest = after.strip_prefix('/').unwrap_or(after);
        if rest.len() == after.len() && !rest.is_empty() {
            return Err(invalid());
        }
    }
    for start in ["this", "."] {
        if let Some(after) = rest.strip_prefix(start)
            && (after.is_empty() || after.starts_with(['.', '/']))
        {
            path.this = true;
            rest = after.get(1..).unwrap_or_default();
            break;
        }
    }
    while !rest.is_empty() {
        let (name, after) = match rest.strip_prefix('[') {
            Some(inner) => inner.split_once(']').ok_or_else(invalid)?,
            None => rest.split_at(rest.find(['.', '/']).unwrap_or(rest.len())),
        };
        let is_name = |character: char| {
            !character.is_whitespace() && !"!\"#%&'()*+,;<=>@[\\]^`{|}~".contains(character)
        };
        if name.is_empty() || (!rest.starts_with('[') && !name.chars().all(is_name)) {
            return Err(invalid());
        }
        path.names.push(name.to_owned());
        rest = match after.strip_prefix(['.', '/']) {
            Some("") => return Err(invalid()),
            Some(after) => after,
            None if after.is_empty() => after,
            None => return Err(invalid()),
        };
    }
    if path.data && (path.names.is_empty() || path.this) {
        return Err(invalid());
    }
    Ok(path)
}
