//! The fields of client files: those that a client does not read, and those that it misses.

use std::sync::Arc;

use brief_profiles::Form;
use brief_syntax::diagnostic::{Edit, Fix};
use brief_syntax::front_matter::FrontMatter;
use brief_syntax::near_miss::find_nearest;
use brief_syntax::yaml::{Field, Node, Value};
use brief_syntax::{Diagnostic, Rule, Source, Span, rules};

use super::is_document;

/// Characters that the open standard allows for a skill.
const NAME_LENGTH: usize = 64;
const DESCRIPTION_LENGTH: usize = 1024;

/// The fields that a form knows. Others are the author's own, unless they are almost one of these.
fn known_fields(form: Form) -> &'static [&'static str] {
    match form {
        Form::Claude => &["paths"],
        Form::Cursor => &["description", "globs", "alwaysApply"],
        Form::Copilot => &["applyTo", "description", "name", "excludeAgent"],
        Form::Windsurf => &["trigger", "globs", "description"],
        Form::Skill => &[
            "name",
            "description",
            "license",
            "compatibility",
            "metadata",
            "allowed-tools",
            "disable-model-invocation",
            "user-invocable",
            "argument-hint",
        ],
        Form::Agent => &[
            "name",
            "description",
            "tools",
            "model",
            "disallowedTools",
            "permissionMode",
            "mcpServers",
            "mcp-servers",
            "handoffs",
            "user-invocable",
            "disable-model-invocation",
            "argument-hint",
        ],
        _ => &[],
    }
}

/// The field that says which files a form is about, and whose field each other name is.
fn scope_field(form: Form) -> Option<(&'static str, &'static str)> {
    match form {
        Form::Claude => Some(("paths", "Claude Code")),
        Form::Cursor => Some(("globs", "Cursor")),
        Form::Copilot => Some(("applyTo", "Copilot")),
        _ => None,
    }
}

/// Checks the header of a file of a form; `place` is where it lies.
pub(super) fn check_header(form: Form, place: &str, source: &Arc<Source>) -> Vec<Diagnostic> {
    let front = FrontMatter::from_source(source);
    let checked = HeaderCheck { form, place, source, front: &front };
    let mut found = checked.check_misspelled_fields();
    let has_slip = !found.is_empty();
    found.extend(checked.foreign_scope());
    match form {
        Form::Cursor => found.extend(checked.cursor_globs()),
        Form::Copilot if !has_slip => found.extend(checked.apply_to()),
        Form::Skill => found.extend(checked.check_skill()),
        Form::Agent => found.extend(checked.check_agent()),
        _ => {}
    }
    found
}

/// Returns whether the header of a file has a field.
pub(super) fn has_field(source: &Arc<Source>, field: &str) -> bool {
    FrontMatter::from_source(source).get(field).is_some()
}

struct HeaderCheck<'c> {
    form: Form,
    place: &'c str,
    source: &'c Arc<Source>,
    front: &'c FrontMatter,
}

impl HeaderCheck<'_> {
    fn fields(&self) -> Vec<Field<'_>> {
        let root = self.front.header.as_ref().and_then(|header| header.yaml.root());
        match root.map(Node::value) {
            Some(Value::Mapping(mapping)) => mapping.effective_fields(),
            _ => Vec::new(),
        }
    }

    fn build_problem(
        &self,
        rule: Rule,
        span: Span,
        message: impl Into<String>,
        help: &str,
    ) -> Diagnostic {
        Diagnostic::new(rule, self.source, span, message).with_help(help)
    }

    fn field_text(&self, field: &str) -> &str {
        self.front.get(field).and_then(Node::as_str).unwrap_or_default().trim()
    }

    fn file_name(&self) -> String {
        self.source.path().file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// `applyto`, `glob`, `alwaysapply`: names that are almost those of the client.
    fn check_misspelled_fields(&self) -> Vec<Diagnostic> {
        let known = known_fields(self.form);
        let is_scoped = scope_field(self.form).is_some();
        let fields = self.fields();
        let has = |name: &str| fields.iter().any(|field| field.name() == name);
        let slips = fields.iter().filter_map(|field| {
            let name = field.name();
            if known.contains(&name) {
                return None;
            }
            let same = known.iter().find(|known| fold_name(known) == fold_name(name)).copied();
            // Where a field decides which files a text is for, a slip costs the whole text.
            let near = || find_nearest(name, known).filter(|_| is_scoped && name.len() > 3);
            let meant = same.or_else(near).filter(|meant| !has(meant))?;
            Some((field, meant, same.is_some()))
        });
        slips
            .map(|(field, meant, is_spelling)| {
                let (name, span) = (field.name(), field.key.span());
                let message = format!("no client reads `{name}` here");
                let fix = Fix::safe(format!("write `{meant}`"), vec![Edit::replace(span, meant)]);
                let help = format!("did you mean `{meant}`?");
                let found = self.build_problem(rules::client::UNKNOWN_FIELD, span, message, &help);
                if is_spelling { found.with_fix(fix) } else { found }
            })
            .collect()
    }

    /// `globs` in a rule of Claude: another client's field, so that the rule is about every file, or none.
    fn foreign_scope(&self) -> Option<Diagnostic> {
        let (own, client) = scope_field(self.form)?;
        if self.front.get(own).is_some() || self.is_always() {
            return None;
        }
        let others = ["paths", "globs", "applyTo"].into_iter().filter(|other| *other != own);
        let fields = self.fields();
        let mut found =
            others.filter_map(|other| fields.iter().find(|field| field.name() == other));
        let field = found.find(|field| !is_empty(field.value))?;
        let effect = match self.form {
            Form::Claude => "so the rule is always loaded",
            _ => "so the rule applies to no file",
        };
        let message = format!("{client} does not read `{}`, {effect}", field.name());
        let (rule, span) = (rules::client::OTHER_CLIENTS_FIELD, field.key.span());
        Some(self.build_problem(rule, span, message, &format!("write `{own}`")))
    }

    fn is_always(&self) -> bool {
        self.field_text("alwaysApply").eq_ignore_ascii_case("true")
    }

    /// Cursor takes `globs` as it stands, quotes included. How it reads a list is not known.
    fn cursor_globs(&self) -> Option<Diagnostic> {
        let node = self.front.get("globs").filter(|node| !is_empty(*node))?;
        let span = node.span();
        let written = self.source.slice(span);
        let bare = node.as_str().filter(|_| written.starts_with(['"', '\'']))?;
        if self.is_always() {
            return None;
        }
        let message = "Cursor never loads this rule by its `globs`: it treats the quotes as part of the pattern";
        let help = format!("write `globs: {bare}`");
        let found = self.build_problem(rules::client::CURSOR_GLOBS, span, message, &help);
        // Braces hold commas of their own; what stands on several lines has comments in it.
        let is_plain = !bare.contains(['{', '#', '\n']) && !written.contains(['\n', '#']);
        let fix = Fix::safe("remove the quotes", vec![Edit::replace(span, bare)]);
        Some(if is_plain { found.with_fix(fix) } else { found })
    }

    /// Without `applyTo`, instructions wait to be attached by hand.
    fn apply_to(&self) -> Option<Diagnostic> {
        let is_list =
            matches!(self.front.get("applyTo").map(Node::value), Some(Value::Sequence(_)));
        if is_list || !self.field_text("applyTo").is_empty() || is_document(&self.file_name()) {
            return None;
        }
        let message = "Copilot never applies these instructions by itself: `applyTo` is missing";
        let help = "add `applyTo: \"**\"` for every file, or patterns for some files";
        Some(self.build_problem(rules::client::NO_APPLY_TO, self.header_span(), message, help))
    }

    /// Returns whether the fields are there and something stands before them, so that no client finds them.
    fn is_late(&self) -> bool {
        if self.front.header.is_some() {
            return false;
        }
        let text = self.source.text();
        let Some((before, rest)) = text.split_once("\n---\n") else { return false };
        let is_comment = before.trim().is_empty()
            || before.trim().starts_with("<!--") && before.trim().ends_with("-->");
        let fields = rest.split_once("\n---").map_or("", |(fields, _)| fields);
        is_comment && fields.lines().any(|line| line.starts_with("description:"))
    }

    /// Returns the problem that something stands before the front matter.
    fn late_header_problem(&self, rule: Rule, noun: &str) -> Diagnostic {
        let message = format!(
            "no client reads the frontmatter of this {noun}: it is not at the start of the file"
        );
        self.build_problem(rule, Span::empty_at(0), message, "move it to the start of the file")
    }

    fn header_span(&self) -> Span {
        Span::empty_at(self.front.header.as_ref().map_or(0, |header| header.span.start))
    }

    /// Returns those of some fields that the header has no value for, in backticks.
    fn missing_fields(&self, required: &[&str]) -> Vec<String> {
        let lacks = |field: &&&str| {
            self.field_text(field).is_empty() && self.front.get(field).is_none_or(is_empty)
        };
        required.iter().filter(lacks).map(|field| format!("`{field}`")).collect()
    }

    fn check_skill(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        // Claude Code calls a skill by its directory, and its own skills need no name.
        let missing = match self.place {
            ".claude/skills" => self.missing_fields(&["description"]),
            _ => self.missing_fields(&["name", "description"]),
        };
        if self.is_late() {
            found.push(self.late_header_problem(rules::client::SKILL_FIELD_MISSING, "skill"));
        } else if !missing.is_empty() {
            let missing = missing.join(" and no ");
            let message = match self.front.header {
                None => format!("the skill has no frontmatter, so no {missing}"),
                Some(_) => format!("the skill has no {missing}"),
            };
            let help = "most clients skip such skills; say what the skill does and when to use it";
            let rule = rules::client::SKILL_FIELD_MISSING;
            found.push(self.build_problem(rule, self.header_span(), message, help));
        }
        for (field, limit) in [("name", NAME_LENGTH), ("description", DESCRIPTION_LENGTH)] {
            let length = self.field_text(field).chars().count();
            if length > limit {
                let span = self.front.get(field).map_or(Span::default(), Node::span);
                let message = format!("`{field}` has {length} characters; the limit is {limit}");
                let help = "shorten it: Codex and others skip such skills";
                found.push(self.build_problem(rules::client::SKILL_TOO_LONG, span, message, help));
            }
        }
        found
    }

    /// Clients pass by an agent that does not say when to use it.
    fn check_agent(&self) -> Option<Diagnostic> {
        let (client, required): (_, &[&str]) = match self.place {
            ".claude/agents" => ("Claude Code", &["name", "description"]),
            ".github/agents" | super::strays::ANYWHERE => ("Copilot", &["description"]),
            _ => return None,
        };
        if self.front.header.is_none() && is_document(&self.file_name()) {
            return None;
        }
        if self.is_late() {
            return Some(self.late_header_problem(rules::client::AGENT_FIELD_MISSING, "agent"));
        }
        let missing = self.missing_fields(required).join(" and ");
        if missing.is_empty() {
            return None;
        }
        let message = match self.front.header {
            None => format!("the agent has no frontmatter; {client} needs {missing}"),
            Some(_) => format!("{client} skips agents without {missing}"),
        };
        let help = "add the field, or move the file if it is not an agent";
        Some(self.build_problem(
            rules::client::AGENT_FIELD_MISSING,
            self.header_span(),
            message,
            help,
        ))
    }
}

/// Checks the header of an agent of a plugin. Claude Code chooses it by its description; its name may be that of the file.
pub fn check_plugin_agent(source: &Arc<Source>) -> Option<Diagnostic> {
    let front = FrontMatter::from_source(source);
    let checked = HeaderCheck { form: Form::Agent, place: "", source, front: &front };
    if front.header.is_none() && is_document(&checked.file_name())
        || checked.missing_fields(&["description"]).is_empty()
    {
        return None;
    }
    let rule = rules::client::AGENT_FIELD_MISSING;
    if checked.is_late() {
        return Some(checked.late_header_problem(rule, "agent"));
    }
    let message = "the agent has no `description`, which Claude Code uses to choose agents";
    let help = "add the field, or move the file if it is not an agent";
    Some(checked.build_problem(rule, checked.header_span(), message, help))
}

/// A name without what people write differently.
fn fold_name(name: &str) -> String {
    name.chars().filter(|letter| !"-_ ".contains(*letter)).flat_map(char::to_lowercase).collect()
}

fn is_empty(node: Node<'_>) -> bool {
    match node.value() {
        Value::Null => true,
        Value::Scalar(text) => text.trim().is_empty(),
        Value::Sequence(list) => list.is_empty(),
        _ => false,
    }
}
