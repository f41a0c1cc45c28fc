//! The portability rules of the document that concern more than one field.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use brief_profiles::BUILTIN;
use brief_syntax::hidden;
use brief_syntax::markdown::{Heading, HeadingStyle, Outline};
use brief_syntax::near_miss::find_nearest;
use brief_syntax::yaml::{Mapping, Node, Value};
use brief_syntax::{Diagnostic, Edit, Fix, Severity, Source, Span, rules};
use memchr::memmem;

use super::CLIENTS;
use super::bundle;
use super::constructs::{self, Construct, Weight};
use super::directives::{self, DirectiveProblemKind, Directives};
use super::fields::{is_reserved, unknown_client};
use super::imported;
use super::links::{self, LinkTarget};
use super::model::{ItemDocument, ItemId, ItemKind, PortableItem};
use super::parse;
use super::places::{is_in_shared, kind_of_place};
use super::registry::Registry;
use super::scaffold;
use super::{file_problem, span_problem};

/// The limit of findings in one item.
const REPORTED_PER_ITEM: usize = 1_000;

/// Checks a registry and adds the diagnostics to its items and bundles.
pub fn check_registry(registry: &mut Registry, clients: &[&str]) {
    let mut seen: BTreeMap<ItemId, (String, bool)> = BTreeMap::new();
    let has_own = registry.items.iter().any(|item| !item.is_foreign());
    for item in &mut registry.items {
        let mut found = std::mem::take(&mut item.diagnostics);
        if item.is_foreign() {
            found.extend(check_foreign_item(item));
            // A collection of foreign skills alone may have any layout.
            found.extend(check_directory(item).into_iter().filter(|_| has_own));
        } else {
            parse::check_item(&item.id, &item.document, clients, &mut found);
            found.extend(check_directory(item));
            found.extend(check_overrides(item, clients));
            found.extend(check_body(item, clients));
            found.extend(template_text(Some(item.id.kind), &item.document));
        }
        found.extend(file_names(item));
        // Collections hold translations and variants; the open standard requires unique names only
        // within a directory.
        let first =
            seen.get(&item.id).filter(|(_, was_foreign)| !was_foreign || !item.is_foreign());
        if let Some((first, _)) = first {
            let message = format!("the {} is also in {first}", item.id);
            let source = &item.document.source;
            let help = "rename one of them";
            found.push(file_problem(rules::item::DUPLICATE_ITEM, source, message, help));
        } else {
            seen.entry(item.id.clone())
                .or_insert_with(|| (item.slashed.clone(), item.is_foreign()));
        }
        item.diagnostics = limit_findings(found, &item.document.source);
    }
    registry.diagnostics.extend(note_foreign(registry));
    preloaded_skills(registry);
    hidden_commands(registry);
    bundle::check_bundles(registry);
}

/// Reports text of the template that `brief registry new` wrote and that is unchanged: once for a file.
pub(super) fn template_text(kind: Option<ItemKind>, document: &ItemDocument) -> Option<Diagnostic> {
    let source = document.source();
    let mut lines = scaffold::template_placeholders(kind);
    let description = lines.next().filter(|text| document.field_text("description") == Some(*text));
    // The search over the whole body is cheap, and spares nearly every item the look at its lines.
    let is_left = |line: &&str| {
        memmem::find(document.body().as_bytes(), line.as_bytes()).is_some()
            && document.body().lines().any(|own| own.trim_end() == *line)
    };
    let left = description.into_iter().chain(lines.filter(is_left));
    let left: Vec<&str> = left.collect();
    let first = left.first()?;
    let start = source.text().find(first)?;
    let more = match left.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message = format!("the file still contains template text: `{first}`{more}");
    let help = "replace it with your own text";
    let span = Span { start, end: start + first.len() };
    Some(span_problem(rules::item::PLACEHOLDER, source, span, message, help))
}

/// Limits the findings of an item. Errors come first, so that the cut hides none of them.
fn limit_findings(mut found: Vec<Diagnostic>, source: &Arc<Source>) -> Vec<Diagnostic> {
    if found.len() > REPORTED_PER_ITEM {
        found.sort_by_key(|diagnostic| diagnostic.severity != Severity::Error);
        found.truncate(REPORTED_PER_ITEM);
        let message = format!("only the first {REPORTED_PER_ITEM} problems of this item are shown");
        let help = "fix those first";
        found.push(file_problem(rules::item::TOO_MANY_PROBLEMS, source, message, help));
    }
    found
}

/// The fields of the open standard of skills.
const STANDARD_FIELDS: [&str; 6] =
    ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];

/// R19: notes once for the whole registry that skills of the open standard are taken as they are.
fn note_foreign(registry: &Registry) -> Option<Diagnostic> {
    let is_skill = |item: &&PortableItem| item.is_foreign() && item.written_for().is_none();
    let mut foreign = registry.items.iter().filter(is_skill);
    let first = foreign.next()?;
    let message = match 1 + foreign.count() {
        1 => "the skill has no `schema`, so it is used unchanged".to_owned(),
        count => format!("{count} skills have no `schema`, so they are used unchanged"),
    };
    let source = &first.document.source;
    let help = "add `schema: 1` to check and compile a skill for every client";
    Some(file_problem(rules::item::FOREIGN_SKILL, source, message, help))
}

/// R19: checks the requirements of the open standard.
fn check_foreign_item(item: &PortableItem) -> Vec<Diagnostic> {
    let source = &item.document.source;
    let mut found = Vec::new();
    // Rules and commands for one client need none.
    if item.written_for().is_none() && item.description().trim().is_empty() && !is_page(item) {
        let message = "the field `description` is missing";
        let help = "say what it does and when to use it";
        found.push(file_problem(rules::item::MISSING_FIELD, source, message, help));
    }
    if item.written_for().is_none() {
        found.extend(check_misspelled_fields(item));
    }
    if let Some(problem) = super::fields::name_problem(&item.id.name) {
        let message = format!("`{}` is not a valid name: {problem}", item.id.name);
        let help = "use a-z, 0-9 and hyphens between them, 64 at most";
        // Clients take the skill as it is, and so do we.
        let problem = file_problem(rules::item::INVALID_NAME, source, message, help);
        found.push(problem.with_severity(Severity::Warning));
    }
    found
}

/// Returns whether a skill without fields is a page of a documentation: a translation of the text of a skill.
fn is_page(item: &PortableItem) -> bool {
    const DOCUMENTATION: [&str; 5] = ["docs", "doc", "documentation", "website", "wiki"];
    item.document.header().is_none()
        && item.slashed.split('/').any(|name| DOCUMENTATION.contains(&name))
}

/// Finds fields that are nearly called like one of the open standard that is not there.
fn check_misspelled_fields(item: &PortableItem) -> Vec<Diagnostic> {
    let document = &item.document;
    let missing: Vec<&str> =
        STANDARD_FIELDS.into_iter().filter(|field| document.field(field).is_none()).collect();
    let fields = document.fields().into_iter().flat_map(Mapping::fields);
    let slips = fields.filter_map(|field| {
        let name = field.name();
        let meant = find_nearest(name, &missing).filter(|_| name.len() > 3)?;
        let message = format!("no client reads `{name}` here");
        let help = format!("did you mean `{meant}`?");
        let (rule, span) = (rules::client::UNKNOWN_FIELD, field.key.span());
        Some(span_problem(rule, &document.source, span, message, help))
    });
    slips.collect()
}

/// §2.1: checks the directory of an item.
fn check_directory(item: &PortableItem) -> Vec<Diagnostic> {
    let source = &item.document.source;
    let mut found = Vec::new();
    if let Some(kind) = kind_of_place(item).filter(|kind| *kind != item.kind()) {
        let message = format!("a {} is in a directory of {}", item.kind(), kind.folder());
        let help = format!("move it to `{}/{}`", item.kind().folder(), item.name());
        found.push(file_problem(rules::item::KIND_MISMATCH, source, message, help));
    }
    if is_in_shared(item) {
        let message = "`.agents` contains files generated for clients, not source items";
        let help = "move the items to another directory, such as `content`";
        found.push(file_problem(rules::item::ITEM_ROOT_AGENTS, source, message, help));
    }
    found
}

/// §2.3: checks the bodies for single clients.
pub(super) fn check_overrides(item: &PortableItem, clients: &[&str]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for own in &item.overrides {
        if !clients.contains(&own.client.as_str()) {
            let mut diagnostic =
                unknown_client(&item.document, &own.client, Span::default(), clients);
            diagnostic.source = Arc::clone(&own.source);
            found.push(diagnostic);
        }
        let (document, _) = parse::parse_document(&own.source);
        let header = document.front.header.as_ref();
        let is_blank = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
        let is_empty = header.is_some_and(|header| {
            !header.leading_blank && own.source.slice(header.span).lines().all(is_blank)
        });
        if is_empty || document.fields().is_some() {
            let span = header.map_or(Span::default(), |header| header.span);
            let message =
                "a file for one client cannot have frontmatter: all fields are in the entrypoint";
            let help = "remove the frontmatter, and keep the body";
            found.push(span_problem(
                rules::item::OVERRIDE_FRONTMATTER,
                &own.source,
                span,
                message,
                help,
            ));
            continue;
        }
        let whole = own.source.text();
        let text = whole.trim_start_matches('\u{feff}');
        let start = whole.len() - text.len();
        let outline = Outline::parse(text);
        let readers = [own.client.as_str()];
        for construct in constructs::find_constructs(text, &outline) {
            found.extend(client_construct(&own.source, start, &construct, &readers));
        }
        if !item.is_verbatim() {
            found.extend(check_headings(&own.source, start, &outline, &all_headings(&outline)));
            found.extend(check_fences(&own.source, start, &outline));
        }
        found.extend(hidden::check_hidden_text(rules::item::HIDDEN_CHARACTER, &own.source));
        found.extend(file_links(item, &own.source, start, text));
    }
    if item.is_verbatim() {
        found.iter_mut().for_each(imported::as_warning);
    }
    found
}

/// Checks for what can be wrong with any body, even one that is written as it stands: everything else is a warning
/// there.
pub(super) fn kept_body(item: &PortableItem, clients: &[&str]) -> (Directives, Vec<Diagnostic>) {
    let document = &item.document;
    let directives = directives::parse_directives(document.body(), clients);
    let mut found = directive_problems(item, &directives, clients);
    found.extend(hidden::check_hidden_text(rules::item::HIDDEN_CHARACTER, &document.source));
    (directives, found)
}

/// §5 and §6: checks the canonical body.
pub(super) fn check_body(item: &PortableItem, clients: &[&str]) -> Vec<Diagnostic> {
    let document = &item.document;
    let (source, start) = (&document.source, document.body_start());
    let text = document.body();
    let outline = Outline::parse(text);
    let (directives, mut found) = kept_body(item, clients);
    // §5.1 and §5.2 are about what is put around a body, and nothing is put around this one.
    let is_verbatim = item.is_verbatim();
    if !is_verbatim {
        found.extend(check_fences(source, start, &outline));
    }
    // A client with a body of its own does not get this one.
    let readers: Vec<&str> = clients
        .iter()
        .copied()
        .filter(|client| item.is_for(client) && is_expected(item, client))
        .filter(|client| item.overrides.iter().all(|own| own.client != *client))
        .collect();
    if !is_verbatim {
        found.extend(headings_by_client(source, start, &outline, &directives, &readers));
    }
    // In a command, arguments are ours: each client gets them in its own syntax.
    let is_ours = |construct: &Construct| {
        item.kind() == ItemKind::Command
            && (construct.what, construct.client) == ("a variable", "claude")
    };
    for construct in
        constructs::find_constructs(text, &outline).into_iter().filter(|one| !is_ours(one))
    {
        let block = directives.blocks.iter().find(|block| {
            block.open.end <= construct.span.start && construct.span.start < block.close.start
        });
        let readers: Vec<&str> = match block {
            None => readers.clone(),
            Some(block) => readers
                .iter()
                .copied()
                .filter(|client| block.audience.includes_client(client))
                .collect(),
        };
        found.extend(client_construct(source, start, &construct, &readers));
    }
    found.extend(file_links(item, source, start, text));
    if is_verbatim {
        // The text says so already, to the very same clients.
        found.iter_mut().for_each(imported::as_warning);
    }
    found
}

/// Returns whether an item is expected to reach a client: one of the document, one that the project describes,
/// or one that the item names. Others get it only where a project wants them.
fn is_expected(item: &PortableItem, client: &str) -> bool {
    let is_named =
        || item.document.field_list("audience").is_some_and(|named| named.contains(&client));
    CLIENTS.contains(&client) || BUILTIN.find_client(client).is_none() || is_named()
}

/// §5.4: checks that links lead to files that are installed with the item.
fn file_links(
    item: &PortableItem,
    source: &Arc<Source>,
    start: usize,
    text: &str,
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for link in links::file_links(text) {
        let span = Span::new(start + link.span.start, start + link.span.end);
        match link.target {
            LinkTarget::Inside(path) if links::item_contains_path(item, &path) => {}
            LinkTarget::Inside(path) => {
                let message = format!("file not found in the item's directory: `{path}`");
                let help = "fix the link, or add the file";
                found.push(span_problem(rules::item::MISSING_FILE, source, span, message, help));
            }
            LinkTarget::Outside => {
                let message =
                    "the link breaks when the item is installed: it leaves the item's directory";
                let help = "copy the file into the item's directory";
                found.push(span_problem(rules::item::LINK_OUTSIDE, source, span, message, help));
            }
        }
    }
    found
}

/// §5.5: a construct is allowed where only its own client reads it.
fn client_construct(
    source: &Arc<Source>,
    start: usize,
    construct: &Construct,
    readers: &[&str],
) -> Option<Diagnostic> {
    let others: Vec<&str> =
        readers.iter().copied().filter(|client| *client != construct.client).collect();
    if others.is_empty() {
        return None;
    }
    let span = Span::new(start + construct.span.start, start + construct.span.end);
    let Construct { what, client, weight, .. } = construct;
    let others = others.join(", ");
    let (rule, message, help) = match weight {
        Weight::Forbidden => (
            rules::item::CLIENT_CONSTRUCT,
            format!("{what} that only {client} understands would reach {others}"),
            format!("put it between `<!-- @client:{client} -->` and `<!-- @endclient -->`"),
        ),
        Weight::ToolName => (
            rules::item::CLIENT_TOOL_NAME,
            format!("{what} would reach {others}"),
            "name the task instead of the tool".to_owned(),
        ),
        Weight::McpName => (
            rules::item::MCP_INTERNAL_NAME,
            format!("{what} would reach {others}"),
            "write it as `ServerName:tool_name`".to_owned(),
        ),
    };
    Some(span_problem(rule, source, span, message, help))
}

fn directive_problems(
    item: &PortableItem,
    directives: &Directives,
    clients: &[&str],
) -> Vec<Diagnostic> {
    let document = &item.document;
    let start = document.body_start();
    let closing = "end the block with a line `<!-- @endclient -->`";
    let diagnostic = |found: &directives::DirectiveProblem| {
        let span = Span::new(start + found.span.start, start + found.span.end);
        let (rule, message, help) = match &found.kind {
            DirectiveProblemKind::UnknownClient(name) => {
                return unknown_client(document, name, span, clients);
            }
            DirectiveProblemKind::NotClosed => {
                (rules::item::DIRECTIVE_UNBALANCED, "the block is not closed".to_owned(), closing)
            }
            DirectiveProblemKind::NotOpened => (
                rules::item::DIRECTIVE_UNBALANCED,
                "no block is open here".to_owned(),
                "open one with a line `<!-- @client:… -->`, or remove this line",
            ),
            DirectiveProblemKind::Nested { outer } => {
                let line = document.source.line_number(start + outer);
                let message = format!("the block from line {line} is still open");
                (rules::item::DIRECTIVE_NESTED, message, closing)
            }
            DirectiveProblemKind::List(reason) => (
                rules::item::DIRECTIVE_MALFORMED,
                format!("the list is wrong: {reason}"),
                "write `claude,copilot`, or `!opencode` for all others",
            ),
            DirectiveProblemKind::Malformed => (
                rules::item::DIRECTIVE_MALFORMED,
                "this looks like a directive, but would reach every client".to_owned(),
                "write `<!-- @client:claude -->` or `<!-- @endclient -->` on a line of its own",
            ),
        };
        span_problem(rule, &document.source, span, message, help)
    };
    directives.problems.iter().map(diagnostic).collect()
}

/// §5.1 for each client's body after its blocks are chosen (ruling P3); a finding in several bodies
/// is reported once.
fn headings_by_client(
    source: &Arc<Source>,
    start: usize,
    outline: &Outline,
    directives: &Directives,
    readers: &[&str],
) -> Vec<Diagnostic> {
    if directives.blocks.is_empty() || readers.is_empty() {
        return check_headings(source, start, outline, &all_headings(outline));
    }
    let block_of = |heading: &Heading| {
        let at = heading.span.start;
        directives.blocks.iter().find(|block| block.open.end <= at && at < block.close.start)
    };
    let mut told: Vec<(Diagnostic, Vec<&str>)> = Vec::new();
    for &client in readers {
        let is_read = |heading: &&Heading| {
            block_of(heading).is_none_or(|block| block.audience.includes_client(client))
        };
        let read: Vec<&Heading> = outline.headings.iter().filter(is_read).collect();
        for diagnostic in check_headings(source, start, outline, &read) {
            match told.iter_mut().find(|(known, _)| *known == diagnostic) {
                Some((_, clients)) => clients.push(client),
                None => told.push((diagnostic, vec![client])),
            }
        }
    }
    let for_some = |(mut diagnostic, clients): (Diagnostic, Vec<&str>)| {
        if clients.len() < readers.len() {
            diagnostic.message.push_str(&format!(" in what {} gets", clients.join(", ")));
        }
        diagnostic
    };
    told.into_iter().map(for_some).collect()
}

fn all_headings(outline: &Outline) -> Vec<&Heading> {
    outline.headings.iter().collect()
}

/// §5.1: bodies begin at the second level and skip no level.
fn check_headings(
    source: &Arc<Source>,
    start: usize,
    outline: &Outline,
    read: &[&Heading],
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let place = |heading: &Heading| Span::new(start + heading.span.start, start + heading.span.end);
    let mut previous: Option<&Heading> = None;
    let mut shift = shift_headings(start, outline);
    for &heading in read {
        let span = trim_span(source, place(heading));
        if heading.level == 1 {
            let message =
                "the body cannot have a first-level heading: brief generates it from the name";
            let rule = rules::item::FIRST_LEVEL_HEADING;
            let diagnostic = span_problem(rule, source, span, message, "begin with `##`");
            // One fix shifts all headings.
            found.push(Diagnostic { fix: shift.take(), ..diagnostic });
        } else if previous.is_none() && heading.level > 2 {
            let message = format!("the first heading has level {}", heading.level);
            let help = "begin with `##`";
            found.push(span_problem(rules::item::FIRST_HEADING, source, span, message, help));
        } else if let Some(previous) =
            previous.filter(|previous| heading.level > previous.level + 1)
        {
            let message = format!("level {} follows level {}", heading.level, previous.level);
            let help = format!("use level {}", previous.level + 1);
            found.push(span_problem(rules::item::HEADING_SKIP, source, span, message, help));
        }
        previous = Some(heading);
    }
    found
}

/// Shifts every heading one level down, when all are written with `#` and have room.
fn shift_headings(start: usize, outline: &Outline) -> Option<Fix> {
    let mut edits = Vec::new();
    for heading in &outline.headings {
        if heading.level > 5 || heading.style == HeadingStyle::Setext {
            return None;
        }
        edits.push(Edit::replace(Span::empty_at(start + heading.span.start), "#"));
    }
    Some(Fix::safe("move every heading one level down", edits))
}

fn trim_span(source: &Source, span: Span) -> Span {
    Span::new(span.start, span.start + source.slice(span).trim_end().len())
}

/// §5.2: every fence has an info string.
fn check_fences(source: &Arc<Source>, start: usize, outline: &Outline) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for block in &outline.code_blocks {
        let Some(fence) = block.fence.filter(|_| !block.has_info()) else { continue };
        let span = Span::new(start + fence.start, start + fence.end);
        let edit = Edit::replace(Span::empty_at(span.end), "text");
        let message = "the code block has no language";
        let help = "add the language to the opening fence, or `text`";
        let diagnostic = span_problem(rules::item::FENCE_LANGUAGE, source, span, message, help);
        found.push(diagnostic.with_fix(Fix::safe("mark it as `text`", vec![edit])));
    }
    found
}

/// Reports file names that are invalid on some systems, or equal on systems without case.
fn file_names(item: &PortableItem) -> Vec<Diagnostic> {
    let source = &item.document.source;
    let mut found = Vec::new();
    let mut error = |rule, message: String| {
        found.push(file_problem(rule, source, message, "rename the file"));
    };
    let entrypoint = item.kind().entrypoint();
    let mut seen = BTreeMap::from([(entrypoint.to_lowercase(), entrypoint)]);
    for file in &item.files {
        let path = file.path.as_str();
        if path.split('/').any(|name| {
            is_reserved(name)
                || name.ends_with(['.', ' '])
                || name.contains(['\\', ':', '*', '?', '"', '<', '>', '|'])
                || name.contains(char::is_control)
        }) {
            let message = format!("some systems cannot create `{path}`");
            error(rules::item::UNPORTABLE_FILE_NAME, message);
        }
        if let Some(first) = seen.insert(path.to_lowercase(), path) {
            let message = format!("`{first}` and `{path}` are the same file on some systems");
            error(rules::item::CASE_COLLISION, message);
        }
    }
    for (folded, path) in &seen {
        let below = format!("{folded}/");
        let inside = seen.range(below.clone()..).next();
        if let Some((_, other)) = inside.filter(|(other, _)| other.starts_with(&below)) {
            let message = format!(
                "`{path}` is a file, but some systems read it as the directory of `{other}`"
            );
            error(rules::item::CASE_COLLISION, message);
        }
    }
    found
}

/// R21: reports missing skills as warnings, because a preloaded skill may come from elsewhere.
fn preloaded_skills(registry: &mut Registry) {
    let skills = names_of(registry, ItemKind::Skill);
    for item in registry.items.iter_mut().filter(|item| item.kind() == ItemKind::Agent) {
        let list = item.document.field("preload-skills").map(Node::value);
        let Some(Value::Sequence(list)) = list else { continue };
        for (name, span) in list.iter().filter_map(|node| Some((node.as_str()?, node.span()))) {
            if !skills.contains(name) {
                let message = format!("no skill named `{name}` here");
                let source = &item.document.source;
                let help = "fix the name, unless the skill comes from elsewhere";
                let found = span_problem(rules::item::UNKNOWN_SKILL, source, span, message, help);
                item.diagnostics.push(found);
            }
        }
    }
}

/// Reports commands that have the name of a skill. Claude Code shows both as `/name`, and takes the skill.
fn hidden_commands(registry: &mut Registry) {
    let skills: BTreeSet<String> = names_of(registry, ItemKind::Skill);
    for item in registry.items.iter_mut().filter(|item| item.kind() == ItemKind::Command) {
        if skills.contains(item.name()) {
            let name = item.name();
            let message = format!(
                "a skill is also named `{name}`: clients would confuse it with the command"
            );
            let help = "rename one of them";
            let (rule, source) = (rules::item::COMMAND_HIDDEN, &item.document.source);
            item.diagnostics.push(file_problem(rule, source, message, help));
        }
    }
}

fn names_of(registry: &Registry, kind: ItemKind) -> BTreeSet<String> {
    let items = registry.items.iter().filter(|item| item.kind() == kind);
    items.map(|item| item.name().to_owned()).collect()
}
