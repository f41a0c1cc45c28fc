//! The parser of context files: front matter as properties, the rest as text.
//!
//! The front matter is read tolerantly (`brief_syntax::front_matter`). For an invalid value the
//! reading that delivers less wins, so that a slip never shows text to an agent.

use std::sync::Arc;

use brief_syntax::front_matter::FrontMatter;
use brief_syntax::near_miss::suggest_nearest;
use brief_syntax::source::Encoding;
use brief_syntax::yaml::{Node, Value};
use brief_syntax::{Diagnostic, Source, Span, rules};

use super::model::{Globs, HostedFile, Trigger};
use super::pattern::HostedPattern;

/// The format of a context file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContextFormat {
    Text,
    /// Markdown, possibly with front matter.
    Markdown,
}

impl ContextFormat {
    /// Finds the format by the extension of a name, in any case; `None` for unsupported ones.
    pub fn from_file_name(name: &str) -> Option<ContextFormat> {
        let (stem, extension) = name.rsplit_once('.')?;
        if stem.is_empty() {
            return None;
        }
        match extension.to_ascii_lowercase().as_str() {
            "txt" => Some(ContextFormat::Text),
            "md" | "mdc" => Some(ContextFormat::Markdown),
            _ => None,
        }
    }
}

/// Parses a context file, and returns it with its diagnostics. Every text is valid.
pub fn parse_hosted_file(
    source: &Arc<Source>,
    format: ContextFormat,
) -> (HostedFile, Vec<Diagnostic>) {
    match format {
        ContextFormat::Text => parse_text(source),
        ContextFormat::Markdown => parse_markdown(source),
    }
}

fn plain_context_file(source: &Arc<Source>, body_start: usize) -> HostedFile {
    HostedFile {
        source: Arc::clone(source),
        body_start,
        description: String::new(),
        globs: Globs::Everything,
        disabled: false,
        trigger: Trigger::Manual,
    }
}

fn parse_text(source: &Arc<Source>) -> (HostedFile, Vec<Diagnostic>) {
    let text = source.text();
    let body_start = text.len() - text.trim_start_matches('\u{feff}').len();
    let mut diagnostics = Vec::new();
    if let Encoding::Invalid { offset } = source.encoding() {
        let message = "the file is not UTF-8 from here on";
        diagnostics.push(
            Diagnostic::new(rules::context_dir::NOT_UTF8, source, Span::empty_at(offset), message)
                .with_help("save the file as UTF-8"),
        );
    }
    (plain_context_file(source, body_start), diagnostics)
}

fn parse_markdown(source: &Arc<Source>) -> (HostedFile, Vec<Diagnostic>) {
    let mut front = FrontMatter::from_source(source);
    let mut diagnostics = std::mem::take(&mut front.diagnostics);
    // X8: the readable rest of a broken header may not be what its author meant.
    let is_broken =
        diagnostics.iter().any(|diagnostic| diagnostic.rule == rules::FRONTMATTER_INVALID);
    for diagnostic in &mut diagnostics {
        diagnostic.rule = match diagnostic.rule {
            rules::FRONTMATTER_REPAIRED => rules::context_dir::FRONTMATTER_REPAIRED,
            rules::text::NOT_UTF8 => rules::context_dir::NOT_UTF8,
            _ => rules::context_dir::FRONTMATTER_INVALID,
        };
    }
    if let Some(header) = front.header.as_ref().filter(|header| header.leading_blank) {
        let message =
            "other clients may read the frontmatter as text: it begins after a blank line";
        let rule = rules::context_dir::FRONTMATTER_REPAIRED;
        let found = Diagnostic::new(rule, source, Span::empty_at(header.span.start), message);
        diagnostics.push(found.with_help("remove the blank lines before the first `---`"));
    }
    let mut file = plain_context_file(source, front.body_start);
    let mut fields = ContextFields { source, front: &front, diagnostics };
    file.disabled = fields.parse_disabled();
    if !is_broken {
        file.description = fields.parse_description();
        file.globs = fields.parse_globs();
        file.trigger = fields.parse_trigger();
    }
    let mut diagnostics = fields.diagnostics;
    if file.trigger == Trigger::Agent && file.description.trim().is_empty() {
        let place = front.get("trigger").map_or(Span::empty_at(0), Node::span);
        diagnostics.push(
            Diagnostic::new(
                rules::context_dir::AGENT_WITHOUT_DESCRIPTION,
                source,
                place,
                "the file is never listed: its trigger is `agent`, but it has no `description`",
            )
            .with_help("add a `description` that says when to use the file"),
        );
    }
    (file, diagnostics)
}

struct ContextFields<'f> {
    source: &'f Arc<Source>,
    front: &'f FrontMatter,
    diagnostics: Vec<Diagnostic>,
}

impl ContextFields<'_> {
    fn report(&mut self, span: Span, message: String, help: &str) {
        let rule = rules::context_dir::FRONTMATTER_INVALID;
        self.diagnostics.push(Diagnostic::new(rule, self.source, span, message).with_help(help));
    }

    fn parse_text(&mut self, name: &str) -> Option<String> {
        let node = self.front.get(name)?;
        match node.value() {
            Value::Scalar(text) => Some(text.to_owned()),
            Value::Null => None,
            other => {
                let message = format!("`{name}` is {}, not text, and is ignored", other.noun());
                self.report(node.span(), message, "write it as text");
                None
            }
        }
    }

    /// `instructions` is a later name of `description`.
    fn parse_description(&mut self) -> String {
        let description = self.parse_text("description").unwrap_or_default();
        match self.parse_text("instructions") {
            Some(instructions) if !instructions.trim().is_empty() => instructions,
            _ => description,
        }
    }

    fn parse_disabled(&mut self) -> bool {
        let Some(node) = self.front.get("disabled") else { return false };
        let (value, is_boolean) = match node.value() {
            Value::Null => (false, true),
            Value::Scalar(text) => match text.trim().to_ascii_lowercase().as_str() {
                "true" => (true, node.is_plain()),
                "false" => (false, node.is_plain()),
                "" | "no" | "off" | "n" | "0" => (false, false),
                _ => (true, false),
            },
            _ => (true, false),
        };
        if !is_boolean {
            let outcome =
                if value { "the file is treated as disabled" } else { "the value is ignored" };
            let message = format!("`disabled` is not `true` or `false`; {outcome}");
            self.report(node.span(), message, "write `disabled: true` or `disabled: false`");
        }
        value
    }

    fn parse_trigger(&mut self) -> Trigger {
        let Some(node) = self.front.get("trigger") else {
            // X35: fields of other clients that are older than `trigger`.
            let always = self.front.get("alwaysApply").is_some_and(|node| {
                node.is_plain()
                    && node.as_str().is_some_and(|text| text.eq_ignore_ascii_case("true"))
            });
            return if always { Trigger::Always } else { Trigger::Manual };
        };
        let found = match node.value() {
            Value::Null => Some(Trigger::Manual),
            Value::Scalar(text) => Trigger::from_name(text),
            _ => None,
        };
        found.unwrap_or_else(|| {
            let written = node.as_str().unwrap_or_default();
            let message = match node.value() {
                Value::Scalar(_) => {
                    format!("unknown trigger `{written}`; the file is treated as `manual`")
                }
                other => format!("`trigger` is {}; the file is treated as `manual`", other.noun()),
            };
            let names = Trigger::ALL.map(Trigger::as_str);
            let help = suggest_nearest(written, &names)
                .unwrap_or_else(|| format!("use one of `{}`", names.join("`, `")));
            self.report(node.span(), message, &help);
            Trigger::Manual
        })
    }

    /// `appliesTo` is a later name of `globs`, and wins.
    fn parse_globs(&mut self) -> Globs {
        let set = |name| {
            self.front.get(name).filter(|node| match node.value() {
                Value::Null => false,
                Value::Scalar(text) => !text.trim().is_empty(),
                _ => true,
            })
        };
        let Some(node) = set("appliesTo").or_else(|| set("globs")) else {
            return Globs::Everything;
        };
        let mut written: Vec<(String, Span)> = Vec::new();
        match node.value() {
            Value::Scalar(text) => {
                written.extend(split_list(text).map(|text| (text.to_owned(), node.span())));
            }
            Value::Sequence(list) => {
                for item in list.iter() {
                    match item.as_str() {
                        Some(text) => written.push((text.trim().to_owned(), item.span())),
                        None => {
                            let message =
                                format!("a glob must be text, not {}", item.value().noun());
                            self.report(item.span(), message, "quote the glob");
                        }
                    }
                }
            }
            other => {
                let message = format!("`globs` is {}, so it matches nothing", other.noun());
                self.report(node.span(), message, "write a list of globs");
            }
        }
        let mut globs = Vec::with_capacity(written.len());
        for (text, span) in written {
            match HostedPattern::new(&text) {
                Ok(pattern) => globs.push((pattern, span)),
                Err(error) => {
                    let message =
                        format!("`{text}` is not a glob and matches nothing: {}", error.problem());
                    self.report(span, message, "see the glob syntax");
                }
            }
        }
        Globs::Listed(globs)
    }
}

/// Splits a line of globs at the commas outside braces. Brackets around the whole line are a list
/// with unquoted stars.
fn split_list(text: &str) -> impl Iterator<Item = &str> {
    let text = text.trim();
    let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let text = inner.filter(|inner| !inner.contains(['[', ']'])).unwrap_or(text);
    let mut depth = 0_usize;
    text.split(move |character| {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        character == ',' && depth == 0
    })
    .map(|part| strip_quotes(part.trim()))
    .filter(|part| !part.is_empty())
}

fn strip_quotes(text: &str) -> &str {
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return inner;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (HostedFile, Vec<Diagnostic>) {
        parse_hosted_file(&Arc::new(Source::new("/p/.context/a.md", text)), ContextFormat::Markdown)
    }

    fn globs(text: &str) -> Vec<String> {
        match read(text).0.globs {
            Globs::Everything => vec!["everything".to_owned()],
            Globs::Listed(list) => list.iter().map(|(glob, _)| glob.as_str().to_owned()).collect(),
        }
    }

    #[test]
    fn a_line_of_globs_is_split_outside_braces() {
        assert_eq!(globs("---\nglobs: '**/*.{js,ts}, b.js'\n---\n"), ["**/*.{js,ts}", "b.js"]);
        assert_eq!(globs("---\nglobs: [*]\n---\n"), ["*"]);
        assert_eq!(globs("---\nglobs: [*.ts, \"*.js\"]\n---\n"), ["*.ts", "*.js"]);
        assert_eq!(globs("---\nglobs: [a, b]\n---\n"), ["a", "b"]);
        assert_eq!(globs("---\nglobs:\n---\n"), ["everything"]);
        assert_eq!(globs("---\nglobs: []\n---\n"), [""; 0]);
        assert_eq!(globs("---\nglobs: a\nappliesTo: b\n---\n"), ["b"]);
    }

    /// X36: a value that is not a boolean gets the safe reading.
    #[test]
    fn a_switch_that_is_no_boolean_disables() {
        for (value, disabled, problems) in [
            ("true", true, 0),
            ("false", false, 0),
            ("\"true\"", true, 1),
            ("yes", true, 1),
            ("no", false, 1),
            ("[a]", true, 1),
            ("", false, 0),
        ] {
            let (file, diagnostics) = read(&format!("---\ndisabled: {value}\n---\n"));
            assert_eq!(file.disabled, disabled, "{value}");
            assert_eq!(diagnostics.len(), problems, "{value}");
        }
    }

    /// X8: a broken header has no properties except `disabled`.
    #[test]
    fn a_broken_header_fails_closed() {
        let (file, diagnostics) =
            read("---\ntrigger: always\ndisabled: true\nbad: [a,\n  {b\n---\nbody");
        assert_eq!(file.trigger, Trigger::Manual);
        assert!(file.disabled);
        assert_eq!(diagnostics[0].code(), "context-dir/frontmatter-invalid");
    }
}
