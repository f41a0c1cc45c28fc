//! Lint checks for these files.
//!
//! Each check finds a problem that would occur when a task runs, without running it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use brief_syntax::hidden;
use brief_syntax::markdown::Outline;
use brief_syntax::source::Encoding;
use brief_syntax::yaml::{Field, Node, Value};
use brief_syntax::{Diagnostic, Span, near_miss, rules};

use super::expand::{self, TextPart};
use super::known::KnownNames;
use super::model::{CodingAgent, TaskDocument, TaskFileKind};
use super::places;
use super::script::Obstacle;
use super::selectors::{collect_scalars, selectors_of, values_of};
use super::slash::{self, SlashPiece};
use super::text::sensitive_pattern;

/// The fields with a meaning, by kind. Others are the author's own, for selectors.
fn known_fields(kind: TaskFileKind) -> &'static [&'static str] {
    match kind {
        TaskFileKind::Task => &[
            "task_name",
            "languages",
            "language",
            "single_shot",
            "timeout",
            "mcp_server",
            "agent",
            "model",
            "selectors",
            "expand",
            "resume",
            "include_unmatched",
            "name",
            "description",
            "namespace",
        ],
        TaskFileKind::Command => &["expand", "selectors", "name", "description", "namespace"],
        TaskFileKind::Rule => &[
            "task_names",
            "languages",
            "language",
            "agent",
            "mcp_server",
            "expand",
            "bootstrap",
            "name",
            "description",
            "namespace",
            "globs",
            "alwaysApply",
        ],
        TaskFileKind::Skill => &[
            "name",
            "description",
            "license",
            "compatibility",
            "metadata",
            "allowed-tools",
            "allowed_tools",
        ],
    }
}

/// All files of one project, with the files that they can refer to.
pub(super) struct CheckedTasks<'c> {
    pub(super) documents: &'c [TaskDocument],
    /// The files of the home directory, which the project's may refer to.
    pub(super) at_home: &'c [TaskDocument],
    /// Returns whether a path after `@` leads to a file.
    pub(super) is_file: &'c dyn Fn(&[u8]) -> bool,
    /// Returns the obstacle to starting the script of a rule.
    pub(super) obstacle: &'c dyn Fn(&TaskDocument, &Path) -> Option<Obstacle>,
}

impl CheckedTasks<'_> {
    pub(super) fn collect_diagnostics(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        let selected: BTreeSet<&str> = self
            .documents
            .iter()
            .flat_map(|document| selectors_of(document.field("selectors")))
            .map(|(key, _, _)| key)
            .collect();
        let known = &KnownNames::from_documents(self.documents.iter().chain(self.at_home));
        for document in self.documents {
            // Files that a client reads by itself are checked by that client's rules.
            let is_ours = is_of_this_format(document);
            found.extend(field_problems(document, &selected));
            if is_ours {
                found.extend(hidden::check_hidden_text(
                    rules::tasks::HIDDEN_CHARACTER,
                    &document.source,
                ));
                found.extend(not_utf8(document));
            }
            if document.kind == TaskFileKind::Skill {
                found.extend(skill_fields(document).into_iter().filter(|_| is_ours));
                continue;
            }
            found.extend(check_selectors(document, known));
            found.extend(task_names(document, known));
            found.extend(self.check_script(document));
            if is_ours {
                found.extend(check_calls(document, known));
                found.extend(self.check_expansions(document, known));
            }
        }
        found.extend(self.ambiguous_tasks());
        // A file in `.cursor/commands` is a task and a command; its problems are reported once.
        let mut known = BTreeSet::new();
        found.retain(|found| {
            known.insert((found.path().to_owned(), found.rule, found.span, found.message.clone()))
        });
        found
    }

    fn check_script(&self, document: &TaskDocument) -> Option<Diagnostic> {
        let path = document.script.as_ref()?;
        if document.field("bootstrap").is_some() {
            return None;
        }
        let Obstacle { problem, help } = (self.obstacle)(document, path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let message = format!("the script `{name}` {problem}, so it does not run");
        let found =
            document.problem(rules::tasks::BOOTSTRAP_NOT_EXECUTABLE, Span::default(), message);
        Some(Diagnostic { help, ..found })
    }

    /// Reports placeholders without a possible value, and paths that do not exist.
    fn check_expansions(&self, document: &TaskDocument, known: &KnownNames<'_>) -> Vec<Diagnostic> {
        if !document.expands_body() {
            return Vec::new();
        }
        let body = document.body();
        let prose = String::from_utf8_lossy(body);
        // Decorators and the like are in code; an include is written in prose.
        let outline = Outline::parse(&prose);
        let mut found = Vec::new();
        for placed in expand::split_text_parts(body) {
            let span = || document.body_span(placed.offset, placed.whole.len());
            match placed.part {
                TextPart::Parameter { name } => {
                    let name = String::from_utf8_lossy(name);
                    // An expression in code is meant for the language of that code.
                    let is_code = !is_parameter(&name) && outline.is_opaque(placed.offset);
                    let problem = unfillable_reason(document, &name, known).filter(|_| !is_code);
                    if let Some(problem) = problem {
                        let message = format!("nothing can fill `${{{name}}}`: {problem}");
                        found.push(
                            document
                                .problem(rules::tasks::PLACEHOLDER_UNFILLABLE, span(), message)
                                .with_help("to keep it as text, set `expand: false`"),
                        );
                    }
                }
                TextPart::Path { path } if !outline.is_opaque(placed.offset) => {
                    let shown = String::from_utf8_lossy(path);
                    let is_path = shown.contains(['.', '/']) && !names_package(&shown);
                    let is_missing =
                        || !expand::possible_paths(path).any(|(path, _)| (self.is_file)(&path));
                    if is_path && !document.has_bootstrap() && is_missing() {
                        let message = format!("file not found: `@{shown}`");
                        found.push(
                            document
                                .problem(rules::tasks::MISSING_FILE, span(), message)
                                .with_help("paths are relative to the project's root"),
                        );
                    } else if let Some(pattern) =
                        sensitive_pattern(Path::new(shown.as_ref()), Path::new(""))
                    {
                        let message =
                            format!("such files hold secrets and are never read (`{pattern}`)");
                        found.push(document.problem(rules::tasks::SENSITIVE_FILE, span(), message));
                    }
                }
                _ => {}
            }
        }
        found
    }

    /// Reports tasks of one name that no selector can distinguish.
    fn ambiguous_tasks(&self) -> Vec<Diagnostic> {
        let mut by_name: BTreeMap<String, Vec<&TaskDocument>> = BTreeMap::new();
        let mut found = Vec::new();
        for task in self.documents.iter().filter(|document| document.kind == TaskFileKind::Task) {
            let others = by_name.entry(task.name()).or_default();
            let is_twin = |other: &&&TaskDocument| {
                // Two commands of one client are the client's concern.
                (is_of_this_format(task) || is_of_this_format(other))
                    && !task.is_copy_of(other)
                    && !can_be_told_apart(other, task)
            };
            let twin = others.iter().find(is_twin).copied();
            others.push(task);
            if let Some(twin) = twin {
                let message = format!(
                    "the task `{}` is also in {}, and no selector can tell them apart",
                    task.name(),
                    twin.path().strip_prefix(&task.root).unwrap_or(twin.path()).display()
                );
                found.push(
                    task.problem(rules::tasks::AMBIGUOUS_TASK, Span::default(), message)
                        .with_help("rename one, or give both a field with different values"),
                );
            }
        }
        found
    }
}

/// Returns the problems of a file's fields: misspelled names, except those in `selected`, and unusable values.
/// None for a file that a client reads by itself.
pub(super) fn field_problems(
    document: &TaskDocument,
    selected: &BTreeSet<&str>,
) -> Vec<Diagnostic> {
    if !is_of_this_format(document) {
        return Vec::new();
    }
    let mut found = field_names(document, selected);
    found.extend(field_types(document));
    found
}

/// Returns whether a file belongs to this format alone. Commands of Cursor and rules of Claude are
/// read for tasks, too, and `.agents/skills` is shared by many clients.
pub(super) fn is_of_this_format(document: &TaskDocument) -> bool {
    let below = document.path().strip_prefix(&document.root);
    below.is_ok_and(is_own_path)
}

/// Returns whether a path below a project is one that only this format uses.
pub(super) fn is_own_path(path: &Path) -> bool {
    path.starts_with(places::OWN) && !path.starts_with(places::SHARED_SKILLS)
}

/// Reports selectors that match no rule or skill.
fn check_selectors(document: &TaskDocument, known: &KnownNames<'_>) -> Vec<Diagnostic> {
    let selectors = selectors_of(document.field("selectors")).into_iter();
    let unanswered = selectors.filter(|(key, value, _)| !known.has_answer(key, value));
    unanswered
        .map(|(key, value, node)| {
            let message = format!("the selector `{key}={value}` matches no rule and no skill");
            let help = match key {
                "rule_name" => format!("it selects by file name: `{value}.md`"),
                _ => format!("give a rule the field `{key}: {value}`"),
            };
            document
                .problem(rules::tasks::SELECTOR_MATCHES_NOTHING, node.span(), message)
                .with_help(help)
        })
        .collect()
}

/// Reports rules for tasks that do not exist.
fn task_names(document: &TaskDocument, known: &KnownNames<'_>) -> Vec<Diagnostic> {
    if document.kind != TaskFileKind::Rule {
        return Vec::new();
    }
    let wanted = document.field("task_names").map(collect_scalars).unwrap_or_default();
    let wanted = wanted.into_iter().filter_map(|node| Some((node, node.as_str()?)));
    let tasks: Vec<&str> = known.task_names.iter().map(String::as_str).collect();
    wanted
        .filter(|(_, name)| !known.task_names.contains(*name))
        .map(|(node, name)| {
            let message = format!("unknown task `{name}`");
            let help = near_miss::suggest_nearest(name, &tasks);
            Diagnostic {
                help,
                ..document.problem(rules::tasks::UNKNOWN_TASK, node.span(), message)
            }
        })
        .collect()
}

/// Reports calls of commands that do not exist.
fn check_calls(document: &TaskDocument, known: &KnownNames<'_>) -> Vec<Diagnostic> {
    if document.kind != TaskFileKind::Task {
        return Vec::new();
    }
    let namespace = document.namespace.as_deref();
    let mut found = Vec::new();
    for piece in slash::split_slash_commands(document.body()) {
        let SlashPiece::Call(call) = piece else { continue };
        if known.has_command(namespace, call.name) {
            continue;
        }
        let span = document.body_span(call.offset, call.name.len() + 1);
        let message = format!("unknown command `/{}`", call.name);
        let near = near_miss::find_nearest(call.name, &known.command_names(namespace));
        let help = near.map(|near| format!("did you mean `/{near}`?"));
        let diagnostic = document.problem(rules::tasks::UNKNOWN_COMMAND, span, message);
        found.push(Diagnostic { help, ..diagnostic });
    }
    found
}

/// Returns whether a word after `@` is a package of npm in a scope: `@scope/name`, with a path in it or without. A path
/// to a file ends in an extension.
fn names_package(word: &str) -> bool {
    let word = word.trim_end_matches([',', '.', ';', ':', ')']);
    let is_part = |part: &str| {
        let is_right = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        !part.is_empty() && part.bytes().all(is_right)
    };
    word.contains('/') && word.split('/').all(is_part)
}

fn is_parameter(name: &str) -> bool {
    name.chars().all(|character| character.is_alphanumeric() || "_-.".contains(character))
}

/// Returns the reason why no parameter and no argument can fill a placeholder.
fn unfillable_reason(
    document: &TaskDocument,
    name: &str,
    known: &KnownNames<'_>,
) -> Option<String> {
    if !is_parameter(name) {
        return Some("it is not a parameter name".to_owned());
    }
    let position: usize = name.parse().ok()?;
    match document.kind {
        TaskFileKind::Command if position == 0 => Some("arguments are counted from 1".to_owned()),
        TaskFileKind::Command => {
            let most = known.most_arguments(document)?;
            (most < position).then(|| match most {
                0 => "no call has arguments".to_owned(),
                1 => "no call has more than 1 argument".to_owned(),
                _ => format!("no call has more than {most} arguments"),
            })
        }
        _ if known.is_command(document) => None,
        _ => Some("only commands have arguments by position".to_owned()),
    }
}

fn can_be_told_apart(left: &TaskDocument, right: &TaskDocument) -> bool {
    let Some(fields) = left.fields() else { return false };
    fields.fields().any(|field| {
        let (left, right) = (values_of(left, field.name()), values_of(right, field.name()));
        !left.is_empty() && !right.is_empty() && left.iter().all(|value| !right.contains(value))
    })
}

/// Reports fields that nearly have a name of the format, unless a selector uses them.
fn field_names(document: &TaskDocument, selected: &BTreeSet<&str>) -> Vec<Diagnostic> {
    let Some(fields) = document.fields() else { return Vec::new() };
    let known = known_fields(document.kind);
    let unknown = fields.fields().filter(|field| {
        let name = field.name();
        !known.contains(&name) && !selected.contains(name)
    });
    unknown
        .filter_map(|field| {
            let name = field.name();
            let near = match (document.kind, name) {
                (TaskFileKind::Rule, "task_name") => "task_names",
                _ => near_miss::find_nearest(name, known).filter(|near| is_slip(name, near))?,
            };
            let message = format!("unknown field `{name}`");
            Some(
                document
                    .problem(rules::tasks::UNKNOWN_FIELD, field.key.span(), message)
                    .with_help(format!("did you mean `{near}`?")),
            )
        })
        .collect()
}

/// Returns whether a name is a misspelling: `selector` is, but `mode` is a word of its own and not
/// `model`.
fn is_slip(name: &str, near: &str) -> bool {
    let is_shorter = |short: &str, long: &str| {
        long.strip_prefix(short).is_some_and(|rest| rest.len() < 3 && rest != "s")
    };
    !is_shorter(name, near) && !is_shorter(near, name)
}

/// Reports fields with unusable values.
fn field_types(document: &TaskDocument) -> Vec<Diagnostic> {
    let Some(fields) = document.fields() else { return Vec::new() };
    fields.effective_fields().iter().filter_map(|&field| field_type(document, field)).collect()
}

fn field_type(document: &TaskDocument, field: Field<'_>) -> Option<Diagnostic> {
    let node = field.value;
    let value = node.value();
    if matches!(value, Value::Null) {
        return None;
    }
    let name = field.name();
    let problem = |rule, message: String| document.problem(rule, node.span(), message);
    let wrong = |wanted: &str| {
        problem(
            rules::tasks::WRONG_TYPE,
            format!("`{name}` must be {wanted}, not {}", value.noun()),
        )
    };
    let text = node.as_str();
    match (document.kind, name) {
        (TaskFileKind::Task | TaskFileKind::Command | TaskFileKind::Rule, "expand")
        | (TaskFileKind::Task, "single_shot" | "resume" | "include_unmatched") => {
            let is_boolean = text.is_some_and(|text| {
                matches!(text, "true" | "True" | "TRUE" | "false" | "False" | "FALSE")
            });
            (!is_boolean).then(|| wrong("`true` or `false`"))
        }
        // A run refuses it, as it does an unknown name.
        (TaskFileKind::Task, "agent") if text.is_none() => {
            Some(wrong("the name of an agent").with_rule(rules::tasks::UNKNOWN_AGENT))
        }
        (TaskFileKind::Task | TaskFileKind::Rule, "agent") => {
            let name = text?;
            let names = CodingAgent::list_names();
            CodingAgent::from_name(name).is_none().then(|| {
                let message = format!("unknown agent: {name} (supported: {})", names.join(", "));
                let help = near_miss::suggest_nearest(name, &names);
                Diagnostic { help, ..problem(rules::tasks::UNKNOWN_AGENT, message) }
            })
        }
        (TaskFileKind::Task, "timeout") => (!text.is_some_and(is_duration)).then(|| {
            let message = format!("`{}` is not a duration", text.unwrap_or(value.noun()));
            problem(rules::tasks::INVALID_TIMEOUT, message)
                .with_help("write `30s`, `10m` or `1h30m`")
        }),
        (TaskFileKind::Task | TaskFileKind::Command, "selectors") => match value {
            Value::Mapping(selectors) => {
                let mut fields = selectors.fields();
                fields.find_map(|field| {
                    not_texts(document, &format!("selectors.{}", field.name()), field.value)
                })
            }
            _ => Some(wrong("a mapping of keys to values")),
        },
        (TaskFileKind::Task | TaskFileKind::Rule, "languages" | "language")
        | (TaskFileKind::Rule, "task_names") => not_texts(document, name, node),
        (TaskFileKind::Task, "model" | "task_name") => text.is_none().then(|| wrong("a string")),
        (TaskFileKind::Rule, "bootstrap") => text.is_none().then(|| wrong("a script")),
        (TaskFileKind::Task | TaskFileKind::Rule, "mcp_server") => match value {
            Value::Mapping(server) => {
                let has = |name| server.get(name).and_then(Node::as_str).is_some();
                if !has("command") && !has("url") {
                    let message = "the MCP server has neither `command` nor `url`".to_owned();
                    return Some(problem(rules::tasks::MCP_SERVER_INVALID, message));
                }
                server.fields().find_map(|field| server_field(document, field))
            }
            _ => Some(wrong("a mapping with `command` or `url`")),
        },
        _ => None,
    }
}

/// Reports a value, or one in its list, that is no text and therefore says nothing.
fn not_texts(document: &TaskDocument, name: &str, node: Node<'_>) -> Option<Diagnostic> {
    let wrong = match node.value() {
        Value::Sequence(list) => list.iter().find(|entry| entry.as_str().is_none())?,
        _ if node.as_str().is_none() => node,
        _ => return None,
    };
    let message =
        format!("`{name}` must be a string or a list of strings, not {}", wrong.value().noun());
    Some(document.problem(rules::tasks::WRONG_TYPE, wrong.span(), message))
}

/// Reports a standard field of an MCP server with another type than the document gives it.
fn server_field(document: &TaskDocument, field: Field<'_>) -> Option<Diagnostic> {
    let (name, node) = (field.name(), field.value);
    let is_texts = || match node.value() {
        Value::Sequence(list) => list.iter().all(|entry| entry.as_str().is_some()),
        _ => false,
    };
    let (is_right, wanted) = match name {
        "command" | "url" => (node.as_str().is_some(), "a string"),
        "type" => {
            let kind = node.as_str();
            (
                kind.is_some_and(|kind| ["stdio", "http", "sse"].contains(&kind)),
                "`stdio`, `http` or `sse`",
            )
        }
        "args" => (is_texts(), "a list of strings"),
        "env" | "headers" => (matches!(node.value(), Value::Mapping(_)), "a mapping"),
        _ => return None,
    };
    (!is_right).then(|| {
        let found = node
            .as_str()
            .map_or_else(|| node.value().noun().to_owned(), |text| format!("`{text}`"));
        let message = format!("`{name}` of the MCP server must be {wanted}, not {found}");
        document.problem(rules::tasks::MCP_SERVER_INVALID, node.span(), message)
    })
}

/// Returns whether a text is a duration in Go's notation: numbers with units, such as `1h30m`.
fn is_duration(text: &str) -> bool {
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    if rest == "0" {
        return true;
    }
    while !rest.is_empty() {
        let number = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let digits = &rest[..rest.len() - number.len()];
        if digits.parse::<f64>().is_err() {
            return false;
        }
        let units = ["ns", "us", "µs", "μs", "ms", "s", "m", "h"];
        let Some(after) = units.iter().find_map(|unit| number.strip_prefix(unit)) else {
            return false;
        };
        rest = after;
    }
    !text.is_empty()
}

/// Warns of bytes that are not UTF-8: they are passed on unchanged, and a review does not show
/// them.
fn not_utf8(document: &TaskDocument) -> Option<Diagnostic> {
    let Encoding::Invalid { offset } = document.source.encoding() else { return None };
    let message = "the file is not UTF-8 from here on";
    Some(
        document
            .problem(rules::tasks::NOT_UTF8, Span::empty_at(offset), message)
            .with_help("save it as UTF-8; until then, the agent gets its bytes unchanged"),
    )
}

fn skill_fields(document: &TaskDocument) -> Vec<Diagnostic> {
    let mut notes = super::notes::Notes::default();
    // The notes contain the reason if it cannot be listed.
    let _ = super::skill::check_skill(document, &mut notes);
    notes.finish()
}

#[cfg(test)]
mod tests {
    use super::is_duration;

    #[test]
    fn durations_are_those_of_go() {
        for text in ["30s", "5m", "1h", "1h30m", "1.5h", "100ms", "0"] {
            assert!(is_duration(text), "{text}");
        }
        for text in ["", "10", "10 m", "m", "1d", "1h30", "ten minutes"] {
            assert!(!is_duration(text), "{text}");
        }
    }
}
