//! The parser from text to [`Agent`]: header and body, their conflicts, defaults and order.
//!
//! All problems are reported at once. A difference between header and body is an error, because the
//! author's intention is unknown.

use std::sync::Arc;

use brief_syntax::front_matter::FrontMatter;
use brief_syntax::markdown::Outline;
use brief_syntax::yaml::{Node, Value as Yaml, Yaml as Tree};
use brief_syntax::{Diagnostic, Source, Span, rules};

use super::header::{self, CommandEntry, Given, Metadata};
use super::model::{Agent, AgentName, AgentText, TextOrigin};
use super::notes::AgentNotes;
use super::sections::{self, SectionValue, Sections};

/// An agent whose commands are not read yet.
#[derive(Debug)]
pub(super) struct ParsedAgent {
    pub(super) agent: Agent,
    /// The entries of `commands`, in order.
    pub(super) entries: Vec<CommandEntry>,
    pub(super) status_span: Span,
    pub(super) icon_span: Option<Span>,
    pub(super) abilities_span: Span,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// The fields that the document's own example writes without quotes.
const QUOTABLE: [&str; 1] = ["argument-hint"];

const VERSION: &str = "0.1.0";
const ICON: &str = "🤖";

/// Parses an agent file from its text alone.
pub(super) fn parse_agent(source: &Arc<Source>) -> ParsedAgent {
    let mut front = FrontMatter::read_strictly(source, &QUOTABLE);
    let mut notes = AgentNotes::new(source);
    notes.list.extend(front.diagnostics.drain(..).map(of_this_format));
    let metadata = match &front.header {
        Some(header) => header::parse_header(header, &mut notes),
        None => Metadata::default(),
    };
    misplaced_headers(front.body_start, &mut notes);
    let sections = sections::parse_sections(front.body_start, &mut notes);
    let mut parsed = merge_sections(source, metadata, sections, &mut notes);
    parsed.diagnostics = notes.list;
    parsed
}

/// Gives a problem of the header the code and severity of this format.
fn of_this_format(diagnostic: Diagnostic) -> Diagnostic {
    let rule = match diagnostic.rule {
        rules::FRONTMATTER_REPAIRED => rules::agent_file::FRONTMATTER_REPAIRED,
        rules::FRONTMATTER_UNCLOSED => rules::agent_file::HEADER_UNCLOSED,
        rules::yaml::DUPLICATE_KEY => rules::agent_file::DUPLICATE_KEY,
        rules::text::NOT_UTF8 => rules::agent_file::NOT_UTF8,
        _ => rules::agent_file::INVALID_YAML,
    };
    let mut diagnostic = diagnostic.with_rule(rule);
    if diagnostic.help.is_none() {
        diagnostic.help =
            Some("fix the frontmatter: the agent does not run until it is valid".to_owned());
    }
    diagnostic
}

/// Y2: reports a header further down: it would be plain text, and its `status` or `deny` would be
/// lost.
fn misplaced_headers(start: usize, notes: &mut AgentNotes<'_>) {
    let source = Arc::clone(notes.source);
    let body = source.text().get(start..).unwrap_or_default();
    if !body.contains("---") {
        return;
    }
    let outline = Outline::parse(body);
    let mut opening: Option<Span> = None;
    let mut offset = 0;
    for line in body.split_inclusive('\n') {
        let span = Span::new(offset, offset + line.len());
        offset = span.end;
        let mark = line.trim_end();
        if !matches!(mark, "---" | "...") || outline.is_opaque(span.start) {
            continue;
        }
        if let Some(opening) = opening.take()
            && is_header(&body[opening.end..span.start])
        {
            let place = Span::new(start + opening.start, start + opening.start + 3);
            notes.report(
                rules::agent_file::HEADER_MISPLACED,
                place,
                "these fields look like frontmatter, but come after other text",
                "move them to the top of the file, or into a code block",
            );
            continue;
        }
        opening = (mark == "---").then_some(span);
    }
}

fn is_header(text: &str) -> bool {
    let tree = Tree::parse(text);
    match tree.root().map(Node::value) {
        Some(Yaml::Mapping(mapping)) => {
            mapping.fields().any(|field| header::is_field(field.name()))
        }
        _ => false,
    }
}

fn merge_sections(
    source: &Arc<Source>,
    metadata: Metadata,
    sections: Sections,
    notes: &mut AgentNotes<'_>,
) -> ParsedAgent {
    let Sections { title, description, avatar, system, rules, tools } = sections;
    for (name, given, found, spaces) in [
        ("title", &metadata.title, &title, Spaces::One),
        ("description", &metadata.description, &description, Spaces::One),
        ("avatar", &metadata.avatar, &avatar, Spaces::Kept),
        ("system", &metadata.system, &system, Spaces::Kept),
        ("rules", &metadata.rules, &rules, Spaces::Kept),
    ] {
        if let (Some(given), Some(found)) = (given, found) {
            report_conflict(notes, name, given, found, spaces);
        }
    }
    // A value in both places keeps the spelling of the header.
    let either = |given: Option<Given>, found: Option<SectionValue>| {
        given.map(|given| given.text).or(found.map(|found| found.text)).unwrap_or_default()
    };
    let title = either(metadata.title, title);
    if title.is_empty() {
        notes.report(
            rules::agent_file::TITLE_MISSING,
            Span::empty_at(0),
            "the agent has no title",
            "begin the body with `# <Title>`",
        );
    }
    let description = either(metadata.description, description);
    let system = merge_text(system, metadata.system).unwrap_or_else(|| {
        let text = if description.is_empty() { &title } else { &description };
        AgentText { text: text.clone(), origin: TextOrigin::Elsewhere }
    });
    if let (Some(startup), None) = (&metadata.required.startup, &tools) {
        notes.report(
            rules::agent_file::STARTUP_MISSING,
            startup.span,
            format!("unknown tool `{}`: the file has no code under `## Tools`", startup.tool),
            "define the tool there",
        );
    }
    let file_name = source.path().file_name().map(|name| name.to_string_lossy().into_owned());
    let or = |given: &Option<Given>, default: &str| {
        given.as_ref().map_or(default, |given| &given.text).to_owned()
    };
    let agent = Agent {
        source: Arc::clone(source),
        name: AgentName::from_file_name(&file_name.unwrap_or_default()),
        version: or(&metadata.version, VERSION),
        icon: or(&metadata.icon, ICON),
        title,
        description,
        status: metadata.status,
        template_engine: metadata.template_engine,
        input: metadata.input,
        recommended: metadata.recommended,
        required: metadata.required,
        commands: Vec::new(),
        unresolved: Vec::new(),
        system,
        rules: merge_text(rules, metadata.rules).unwrap_or_default(),
        avatar: either(metadata.avatar, avatar),
        abilities: metadata.abilities,
        tools,
    };
    ParsedAgent {
        agent,
        entries: metadata.commands,
        status_span: metadata.status_span,
        icon_span: metadata.icon.map(|icon| icon.span),
        abilities_span: metadata.abilities_span,
        diagnostics: Vec::new(),
    }
}

/// A64, A65, Y23: the section wins over the header.
fn merge_text(found: Option<SectionValue>, given: Option<Given>) -> Option<AgentText> {
    let section =
        found.map(|found| AgentText { text: found.text, origin: TextOrigin::Section(found.span) });
    section.or_else(|| {
        given.map(|given| AgentText { text: given.text, origin: TextOrigin::Header(given.span) })
    })
}

/// The treatment of white space inside a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spaces {
    /// White space counts, with line breaks normalized.
    Kept,
    /// Any white space is one space, because the value is one line.
    One,
}

/// A62, Y19: reports different values in both places. Case, surrounding white space and markup do
/// not count.
fn report_conflict(
    notes: &mut AgentNotes<'_>,
    name: &str,
    given: &Given,
    found: &SectionValue,
    spaces: Spaces,
) {
    let compared = |text: &str| {
        let lower = text.trim().to_lowercase();
        match spaces {
            Spaces::Kept => lower.replace("\r\n", "\n"),
            Spaces::One => lower.split_whitespace().collect::<Vec<_>>().join(" "),
        }
    };
    let wanted = compared(&given.text);
    if wanted == compared(&found.text) || wanted == compared(&found.raw) {
        return;
    }
    let line = notes.source.line_number(found.span.start);
    notes.report(
        rules::agent_file::CONFLICT,
        given.span,
        format!("`{name}` in the frontmatter differs from line {line} of the body"),
        "remove one, or use the same value",
    );
}
