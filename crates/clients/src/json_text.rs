//! Small edits of JSON text, with or without comments.
//!
//! An edit inserts or removes characters, and a removal undoes its insertion exactly. So it does not print a
//! syntax tree again. New elements look like their neighbors: on lines of their own where those are, with
//! the same indentation.

use brief_dialects::json::json_options;
use jsonc_parser::ast::{Array, Object, ObjectProp, Value};
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use serde_json::Value as Json;

/// The options for files that people edit: comments and trailing commas are allowed.
const OPTIONS: ParseOptions = json_options(true, true);

pub(crate) struct JsonText<'t> {
    text: &'t str,
    pub(crate) value: Value<'t>,
    tokens: Vec<TokenAndRange<'t>>,
}

/// A list or table: its range, and those of its elements.
pub(crate) struct Container {
    range: Range,
    children: Vec<Range>,
}

impl<'t> JsonText<'t> {
    /// Parses a text. The error says what is not valid.
    pub(crate) fn parse(text: &'t str) -> Result<JsonText<'t>, String> {
        let collect =
            CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
        let parsed = parse_to_ast(text, &collect, &OPTIONS).map_err(|error| error.to_string())?;
        let value = parsed.value.ok_or("is empty")?;
        Ok(JsonText { text, value, tokens: parsed.tokens.unwrap_or_default() })
    }

    /// Returns the table at the top.
    pub(crate) fn top_table(&self) -> Result<&Object<'t>, String> {
        self.value.as_object().ok_or_else(|| "is not a JSON object, `{…}`".to_owned())
    }

    /// Returns the text with one more element: of the list at a path of keys, or of the table there if the element has a
    /// name. Missing tables and lists of the path are added.
    pub(crate) fn insert_element(
        &self,
        path: &[&str],
        name: Option<&str>,
        value: &str,
    ) -> Result<String, String> {
        self.insert_as(path, name, value, false)
    }

    /// Like [`JsonText::insert`], and marks a list or table below the top that is there and empty: more blank before its
    /// first element than after it. So a removal can tell it from one that was added ([`JsonText::was_empty`]).
    pub(crate) fn insert_marked(
        &self,
        path: &[&str],
        name: Option<&str>,
        value: &str,
    ) -> Result<String, String> {
        self.insert_as(path, name, value, true)
    }

    fn insert_as(
        &self,
        path: &[&str],
        name: Option<&str>,
        value: &str,
        is_marked: bool,
    ) -> Result<String, String> {
        let mut at = &self.value;
        for (depth, key) in path.iter().enumerate() {
            let table = at.as_object().ok_or_else(|| "is not a JSON object".to_owned())?;
            let Some(found) = find_property(table, key)? else {
                let innermost = match name {
                    Some(name) => format!("{{{}: {value}}}", quote_json(name)),
                    None => format!("[{value}]"),
                };
                let missing = path[depth + 1..].iter().rev();
                let new = missing
                    .fold(innermost, |inner, key| format!("{{{}: {inner}}}", quote_json(key)));
                let new = JsonText::parse(&new)?;
                let table = Container::from_table(table);
                let is_marked = is_marked && depth > 0;
                return Ok(self.append_element(&table, is_marked, |layout| {
                    layout.render_property(key, &new.value)
                }));
            };
            at = &found.value;
        }
        let to = Container::from_value(at)
            .ok_or_else(|| "is neither an array nor an object".to_owned())?;
        let new = JsonText::parse(value)?;
        let is_marked = is_marked && !path.is_empty();
        Ok(self.append_element(&to, is_marked, |layout| match name {
            Some(name) => layout.render_property(name, &new.value),
            None => layout.render_value(&new.value),
        }))
    }

    /// Returns whether the list or table at a path of keys was empty before [`JsonText::insert_marked`] filled it.
    pub(crate) fn was_empty(&self, path: &[&str]) -> bool {
        let mut at = &self.value;
        for key in path {
            let found = at.as_object().and_then(|table| find_property(table, key).ok().flatten());
            let Some(found) = found else { return false };
            at = &found.value;
        }
        let Some(container) = Container::from_value(at) else { return false };
        let (Some(first), Some(last)) = (container.children.first(), container.children.last())
        else {
            return false;
        };
        let before = self.blank_before(first.start);
        let after = self.text.get(last.end..container.range.end - 1).unwrap_or_default();
        let breaks = |blank: &str| blank.matches('\n').count();
        if breaks(before) > 0 {
            breaks(before) > 1 && breaks(after) == 1
        } else {
            after.trim().is_empty() && before.len() == after.len() + 1
        }
    }

    /// Returns the text without the list or table at a path of keys, if that is empty and contains no comment.
    pub(crate) fn without_empty(&self, path: &[&str]) -> Result<Option<String>, String> {
        let Some((key, above)) = path.split_last() else { return Ok(None) };
        let mut table = self.top_table()?;
        for key in above {
            let found = find_property(table, key)?.and_then(|found| found.value.as_object());
            let Some(found) = found else { return Ok(None) };
            table = found;
        }
        let Some(found) = find_property(table, key)? else { return Ok(None) };
        let is_empty = Container::from_value(&found.value)
            .is_some_and(|container| container.is_empty() && !self.has_comment(&container));
        Ok(is_empty.then(|| self.remove_element(&Container::from_table(table), found.range)))
    }

    /// Returns the text with one more element at the end of a list or table. `write` gets the layout of the
    /// element.
    fn append_element(
        &self,
        to: &Container,
        is_marked: bool,
        write: impl Fn(&ElementLayout) -> String,
    ) -> String {
        match to.children.last() {
            Some(&last) => self.append_after(to, last, write),
            None => self.insert_first(to, is_marked, write),
        }
    }

    fn append_after(
        &self,
        to: &Container,
        last: Range,
        write: impl Fn(&ElementLayout) -> String,
    ) -> String {
        let after = self
            .tokens
            .iter()
            .filter(|token| token.range.start >= last.end && token.range.start + 1 < to.range.end);
        let comma = after.clone().find(|token| token.token == Token::Comma);
        // After a comment on the same line, which is about the last element.
        let mut at = comma.map_or(last.end, |comma| comma.range.end);
        let mut is_line_comment = false;
        for comment in after.filter(|token| is_comment(token)) {
            let is_here =
                comment.range.start >= at && !self.text[at..comment.range.start].contains('\n');
            if is_here {
                at = comment.range.end;
                is_line_comment = matches!(comment.token, Token::CommentLine(_));
            }
        }
        let blank = self.blank_before(last.start);
        let layout = match blank.rsplit_once('\n') {
            Some((_, indent)) => ElementLayout::Lines(self.line_layout(indent)),
            None => ElementLayout::Inline,
        };
        let between = match &layout {
            ElementLayout::Lines(lines) => lines.line_break(),
            ElementLayout::Inline if is_line_comment => {
                let indent = format!("{}{}", self.indent_at(to.range.start), self.indent_unit());
                self.line_layout(&indent).line_break()
            }
            ElementLayout::Inline if to.children.len() > 1 => blank.to_owned(),
            ElementLayout::Inline => " ".to_owned(),
        };
        let (before, rest) = self.text.split_at(at);
        let (before, middle) = before.split_at(last.end);
        let item = write(&layout);
        match comma {
            Some(_) => format!("{before}{middle}{between}{item},{rest}"),
            None => format!("{before},{middle}{between}{item}{rest}"),
        }
    }

    /// Inserts the first element into a list or table. The text between the brackets stays after it.
    fn insert_first(
        &self,
        to: &Container,
        is_marked: bool,
        write: impl Fn(&ElementLayout) -> String,
    ) -> String {
        let close = to.range.end - 1;
        let inside = |token: &&TokenAndRange<'_>| {
            token.range.start > to.range.start && token.range.end <= close
        };
        let comment = self.tokens.iter().filter(inside).rfind(|token| is_comment(token));
        let at = comment.map_or(to.range.start + 1, |comment| comment.range.end);
        let blank = &self.text[at..close];
        let layout = match blank.rsplit_once('\n') {
            Some((_, indent)) => {
                ElementLayout::Lines(self.line_layout(&format!("{indent}{}", self.indent_unit())))
            }
            None => ElementLayout::Inline,
        };
        let between = match &layout {
            ElementLayout::Lines(lines) => lines.line_break(),
            ElementLayout::Inline if comment.is_some() && blank.is_empty() => " ".to_owned(),
            ElementLayout::Inline => blank.to_owned(),
        };
        let mark = match &layout {
            _ if !is_marked => "",
            ElementLayout::Lines(lines) => lines.line_break,
            ElementLayout::Inline => " ",
        };
        format!("{}{mark}{between}{}{}", &self.text[..at], write(&layout), &self.text[at..])
    }

    /// Returns the text without one element of a list or table, and without its comma.
    pub(crate) fn remove_element(&self, from: &Container, child: Range) -> String {
        let before = self.tokens.iter().rfind(|token| token.range.end <= child.start);
        let after =
            |token: &&TokenAndRange<'_>| token.range.start >= child.end && !is_comment(token);
        let next = self.tokens.iter().find(after).filter(|token| token.token == Token::Comma);
        let comma = next.or_else(|| {
            let is_before =
                |token: &&TokenAndRange<'_>| token.range.end <= child.start && !is_comment(token);
            self.tokens.iter().rfind(is_before).filter(|token| token.token == Token::Comma)
        });
        let mut start = child.start - self.blank_before(child.start).len();
        let end = next.filter(|comma| self.is_blank(child.end, comma.range.start));
        let mut end = end.map_or(child.end, |comma| comma.range.end);
        let rest = self.text[end..].trim_start_matches([' ', '\t']);
        let is_line_comment =
            before.is_some_and(|token| matches!(token.token, Token::CommentLine(_)));
        if is_line_comment && !rest.starts_with(['\n', '\r']) {
            // Otherwise the comment would cover the following text.
            start = child.start;
        } else if start == child.start && from.children.first() == Some(&child) && next.is_some() {
            // `[a, b]` becomes `[b]`.
            let is_followed = from.children.len() > 1;
            end = if is_followed { self.text.len() - rest.len() } else { end };
        }
        let mut text = self.text.to_owned();
        text.replace_range(start..end, "");
        if let Some(comma) = comma.filter(|comma| comma.range.end <= start) {
            text.replace_range(comma.range.start..comma.range.end, "");
        } else if let Some(comma) = comma.filter(|comma| comma.range.start >= end) {
            let at = comma.range.start - (end - start);
            text.replace_range(at..=at, "");
        }
        text
    }

    /// Returns the text with a value replaced.
    pub(crate) fn replace_value(
        &self,
        value: Range,
        write: impl Fn(&ElementLayout) -> String,
    ) -> String {
        let is_long = self.text[value.start..value.end].contains('\n');
        let layout = if is_long {
            ElementLayout::Lines(self.line_layout(self.indent_at(value.start)))
        } else {
            ElementLayout::Inline
        };
        let (before, after) = (&self.text[..value.start], &self.text[value.end..]);
        format!("{before}{}{after}", write(&layout))
    }

    /// Returns whether a list or table contains a comment.
    fn has_comment(&self, container: &Container) -> bool {
        let range = container.range;
        let mut tokens = self.tokens.iter();
        tokens.any(|token| {
            is_comment(token) && token.range.start > range.start && token.range.end < range.end
        })
    }

    fn blank_before(&self, at: usize) -> &'t str {
        let before = &self.text[..at];
        &before[before.trim_end_matches([' ', '\t', '\n', '\r']).len()..]
    }

    fn is_blank(&self, start: usize, end: usize) -> bool {
        self.text.get(start..end).is_some_and(|text| text.trim().is_empty())
    }

    /// Returns the indentation of a line.
    fn indent_at(&self, at: usize) -> &'t str {
        let line = self.text[..at].rfind('\n').map_or(0, |at| at + 1);
        let line = &self.text[line..];
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }

    /// Returns the indentation of one level.
    fn indent_unit(&self) -> &'t str {
        let first = self.value.as_object().and_then(|top| top.properties.first());
        let blank = first.map_or("", |first| self.blank_before(first.range.start));
        match blank.rsplit_once('\n') {
            Some((_, indent)) if !indent.is_empty() => indent,
            _ => "  ",
        }
    }

    fn line_layout(&self, indent: &str) -> LineLayout {
        let line_break = if self.text.contains("\r\n") { "\r\n" } else { "\n" };
        LineLayout { line_break, indent: indent.to_owned(), unit: self.indent_unit().to_owned() }
    }
}

impl Container {
    /// Returns a list or a table as a container; `None` for other values.
    pub(crate) fn from_value(value: &Value<'_>) -> Option<Container> {
        match value {
            Value::Object(object) => Some(Container::from_table(object)),
            Value::Array(list) => Some(Container::from_list(list)),
            _ => None,
        }
    }

    pub(crate) fn from_list(list: &Array<'_>) -> Container {
        let children = list.elements.iter().map(Ranged::range).collect();
        Container { range: list.range, children }
    }

    fn from_table(object: &Object<'_>) -> Container {
        let children = object.properties.iter().map(|property| property.range).collect();
        Container { range: object.range, children }
    }

    fn is_empty(&self) -> bool {
        self.children.is_empty()
    }
}

fn is_comment(token: &TokenAndRange<'_>) -> bool {
    matches!(token.token, Token::CommentLine(_) | Token::CommentBlock(_))
}

/// The layout of new elements.
pub(crate) enum ElementLayout {
    Inline,
    Lines(LineLayout),
}

/// The layout of elements on separate lines.
#[derive(Clone)]
pub(crate) struct LineLayout {
    line_break: &'static str,
    indent: String,
    unit: String,
}

impl LineLayout {
    fn line_break(&self) -> String {
        format!("{}{}", self.line_break, self.indent)
    }

    fn with_deeper_indent(&self) -> LineLayout {
        LineLayout { indent: format!("{}{}", self.indent, self.unit), ..self.clone() }
    }
}

impl ElementLayout {
    /// Formats a key of a table with its value.
    fn render_property(&self, key: &str, value: &Value<'_>) -> String {
        format!("{}: {}", quote_json(key), self.render_value(value))
    }

    pub(crate) fn render_value(&self, value: &Value<'_>) -> String {
        match value {
            Value::StringLit(text) => quote_json(&text.value),
            Value::NumberLit(number) => number.value.to_owned(),
            Value::BooleanLit(boolean) => boolean.value.to_string(),
            Value::NullKeyword(_) => "null".to_owned(),
            Value::Object(object) => {
                let properties = object.properties.iter();
                self.render_elements(('{', '}'), properties, |layout, property| {
                    layout.render_property(property.name.as_str(), &property.value)
                })
            }
            Value::Array(list) => {
                self.render_elements(('[', ']'), list.elements.iter(), |layout, value| {
                    layout.render_value(value)
                })
            }
        }
    }

    fn render_elements<T>(
        &self,
        (open, close): (char, char),
        things: impl ExactSizeIterator<Item = T>,
        write: impl Fn(&ElementLayout, T) -> String,
    ) -> String {
        if things.len() == 0 {
            return format!("{open}{close}");
        }
        match self {
            ElementLayout::Inline => {
                let things: Vec<String> = things.map(|thing| write(self, thing)).collect();
                format!("{open}{}{close}", things.join(", "))
            }
            ElementLayout::Lines(lines) => {
                let (inner, start) =
                    (lines.with_deeper_indent(), lines.with_deeper_indent().line_break());
                let layout = ElementLayout::Lines(inner);
                let things: Vec<String> = things.map(|thing| write(&layout, thing)).collect();
                let between = format!(",{start}");
                format!("{open}{start}{}{}{close}", things.join(&between), lines.line_break())
            }
        }
    }
}

/// Finds a key. A duplicate key is an error, because readers differ in which one they take.
pub(crate) fn find_property<'o, 't>(
    object: &'o Object<'t>,
    key: &str,
) -> Result<Option<&'o ObjectProp<'t>>, String> {
    let mut found = object.properties.iter().filter(|property| property.name.as_str() == key);
    let first = found.next();
    if found.next().is_some() {
        return Err(format!("`{key}` is duplicated; remove one of them"));
    }
    Ok(first)
}

/// Formats a string as JSON.
pub(crate) fn quote_json(text: &str) -> String {
    Json::from(text).to_string()
}

/// Returns a value without its place and layout.
pub(crate) fn to_json(value: &Value<'_>) -> Json {
    match value {
        Value::StringLit(text) => Json::from(&*text.value),
        Value::NumberLit(number) => {
            // A formatter may write `1` as `1.0`.
            let short = number.value.strip_suffix(".0").unwrap_or(number.value);
            serde_json::from_str(short).unwrap_or_else(|_| Json::from(number.value))
        }
        Value::BooleanLit(flag) => Json::Bool(flag.value),
        Value::NullKeyword(_) => Json::Null,
        Value::Array(list) => list.elements.iter().map(to_json).collect(),
        Value::Object(table) => {
            let fields = table.properties.iter();
            fields.map(|field| (field.name.as_str().to_owned(), to_json(&field.value))).collect()
        }
    }
}
