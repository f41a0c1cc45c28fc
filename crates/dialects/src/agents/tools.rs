//! The tools of an agent, after its code ran.
//!
//! This crate runs no JavaScript. The runtime passes in the returned fields and learns whether they
//! satisfy the document.

use brief_syntax::near_miss::suggest_nearest;
use brief_syntax::{Diagnostic, Rule, Span, rules};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::model::{Agent, ToolCode};
use super::notes::AgentNotes;

/// One field of the object that the code returned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluated {
    pub key: String,
    /// True if `fn` can be called.
    pub has_function: bool,
    /// `scheme` as JSON; `None` if it is missing or not JSON.
    pub scheme: Option<Json>,
    /// The names of all fields of the tool, for hints.
    pub fields: Vec<String>,
}

/// The declaration of a tool for a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scheme {
    /// The name, in the spelling of the key.
    pub name: String,
    pub description: String,
    /// Its arguments, as JSON Schema.
    pub parameters: Json,
}

impl Scheme {
    /// Returns whether a name in a call means this tool (A55).
    pub fn is_called(&self, name: &str) -> bool {
        self.name.to_lowercase() == name.trim().to_lowercase()
    }

    /// Returns the function form of the declaration for models (A56).
    pub fn to_function(&self) -> Json {
        serde_json::json!({"type": "function", "function": self})
    }
}

/// A problem of a tool, independent of its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolProblem {
    /// The rule that it breaks. An error keeps the agent from running.
    pub rule: Rule,
    pub message: String,
    pub help: String,
}

impl ToolProblem {
    fn new(rule: Rule, message: String, help: impl Into<String>) -> ToolProblem {
        ToolProblem { rule, message, help: help.into() }
    }
}

/// Checks the result of an agent's code, in the order of its keys. Returns the tools and the
/// diagnostics.
///
/// With an error among the problems, the agent must not run.
pub fn check_tools(agent: &Agent, evaluated: &[Evaluated]) -> (Vec<Scheme>, Vec<Diagnostic>) {
    let mut notes = AgentNotes::new(&agent.source);
    let span = agent.tools.as_ref().map_or(Span::empty_at(0), |tools: &ToolCode| tools.heading);
    let (schemes, problems) = check_returned(evaluated);
    for ToolProblem { rule, message, help } in problems {
        notes.report(rule, span, message, help);
    }
    check_startup_tool(agent, evaluated, &schemes, &mut notes);
    (schemes, notes.list)
}

/// Like [`check_tools`], for tools without their agent.
pub fn check_returned(evaluated: &[Evaluated]) -> (Vec<Scheme>, Vec<ToolProblem>) {
    let mut problems = Vec::new();
    let mut schemes: Vec<Scheme> = Vec::new();
    for tool in evaluated {
        let scheme = check_tool_shape(tool, &mut problems);
        let twin = schemes.iter().find(|known| known.is_called(&tool.key));
        if let Some(twin) = twin {
            let message =
                format!("the tools `{}` and `{}` have the same name", twin.name, tool.key);
            problems.push(ToolProblem::new(
                rules::agent_file::TOOL_DUPLICATE,
                message,
                "rename one",
            ));
        } else {
            schemes.extend(scheme);
        }
    }
    (schemes, problems)
}

/// A53, A54, Y28 to Y31.
fn check_tool_shape(tool: &Evaluated, problems: &mut Vec<ToolProblem>) -> Option<Scheme> {
    const RULE: Rule = rules::agent_file::TOOL_SHAPE;
    let key = &tool.key;
    let has = |name: &str| tool.fields.iter().any(|field| field == name);
    let mut missing = Vec::new();
    if !tool.has_function {
        missing.push("`fn`");
    }
    if tool.scheme.is_none() {
        missing.push(if has("scheme") { "`scheme` that is JSON" } else { "`scheme`" });
    }
    if !missing.is_empty() {
        let help = if tool.scheme.is_none() && has("schema") {
            "the field is called `scheme`"
        } else if !tool.has_function && has("run") {
            "the function is called `fn`"
        } else {
            "a tool is `{ fn, scheme }`"
        };
        let message = format!("the tool `{key}` has no {}", missing.join(" and no "));
        problems.push(ToolProblem::new(RULE, message, help));
        return None;
    }
    let mut scheme = tool.scheme.as_ref()?;
    if let (Some("function"), Some(inner)) =
        (scheme.get("type").and_then(Json::as_str), scheme.get("function"))
    {
        let message = format!("the scheme of the tool `{key}` is wrapped in `function`");
        let rule = rules::agent_file::SCHEME_WRAPPED;
        problems.push(ToolProblem::new(rule, message, "write its content without the wrapper"));
        scheme = inner;
    }
    let before = problems.len();
    let mut wrong = |message: String, help: &str| {
        problems.push(ToolProblem::new(RULE, message, help));
    };
    let text = |name: &str| {
        scheme.get(name).and_then(Json::as_str).map(str::trim).filter(|text| !text.is_empty())
    };
    for field in ["name", "description"].into_iter().filter(|field| text(field).is_none()) {
        let message = format!("the scheme of the tool `{key}` has no `{field}`");
        wrong(message, &format!("add `{field}: \"…\"`"));
    }
    if let Some(name) = text("name") {
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
        if name.to_lowercase() != key.trim().to_lowercase() {
            let message = format!("the tool `{key}` calls itself `{name}` in its scheme");
            wrong(message, "use the same name for both");
        } else if name.len() > 64 || !name.bytes().all(is_letter) {
            let what = "invalid characters, or is too long";
            let message = format!("the name of the tool `{key}` has {what}");
            wrong(message, "use up to 64 of `A-Z a-z 0-9 _ -`");
        }
    }
    let parameters = scheme.get("parameters");
    match parameters.map(schema_problem) {
        None => {
            let message = format!("the scheme of the tool `{key}` has no `parameters`");
            wrong(message, "add `parameters: { type: \"object\", properties: {} }`");
        }
        Some(Some(problem)) => {
            let message =
                format!("`parameters` of the tool `{key}` is not a valid JSON Schema: {problem}");
            wrong(message, "write `{ type: \"object\", properties: { … } }`");
        }
        Some(None) => {}
    }
    if problems.len() > before {
        return None;
    }
    Some(Scheme {
        name: key.trim().to_owned(),
        description: text("description")?.to_owned(),
        parameters: parameters?.clone(),
    })
}

/// Returns the problem of a schema in the parts that a caller relies on. JSON Schema allows unknown
/// keywords.
fn schema_problem(schema: &Json) -> Option<&'static str> {
    const TYPES: [&str; 7] = ["object", "array", "string", "number", "integer", "boolean", "null"];
    let Json::Object(fields) = schema else { return Some("is not an object") };
    let is_type = |value: &Json| value.as_str().is_some_and(|name| TYPES.contains(&name));
    match fields.get("type") {
        None => {}
        Some(Json::Array(types)) if !types.is_empty() && types.iter().all(is_type) => {}
        Some(value) if is_type(value) => {}
        Some(_) => return Some("has an unknown `type`"),
    }
    if fields.get("type").is_some_and(|value| value.as_str().is_some_and(|name| name != "object")) {
        return Some("arguments are always an object");
    }
    let is_schema = |value: &Json| value.is_object() || value.is_boolean();
    match fields.get("properties") {
        None => {}
        Some(Json::Object(properties)) if properties.values().all(is_schema) => {}
        Some(_) => return Some("`properties` is not an object of schemas"),
    }
    match fields.get("required") {
        None => None,
        Some(Json::Array(names)) if names.iter().all(Json::is_string) => None,
        Some(_) => Some("`required` is not a list of names"),
    }
}

/// A40, Y33: checks that the startup tool exists and requires no arguments.
fn check_startup_tool(
    agent: &Agent,
    evaluated: &[Evaluated],
    schemes: &[Scheme],
    notes: &mut AgentNotes<'_>,
) {
    let Some(startup) = &agent.required.startup else { return };
    let exists = |name: &str| name.trim().to_lowercase() == startup.tool.to_lowercase();
    if !evaluated.iter().any(|tool| exists(&tool.key)) {
        let names: Vec<&str> = evaluated.iter().map(|tool| tool.key.as_str()).collect();
        let help = suggest_nearest(&startup.tool, &names)
            .unwrap_or_else(|| "define it under `## Tools`".to_owned());
        let message = format!("unknown tool `{}`", startup.tool);
        return notes.report(rules::agent_file::STARTUP_MISSING, startup.span, message, help);
    }
    let required = schemes
        .iter()
        .find(|scheme| scheme.is_called(&startup.tool))
        .and_then(|scheme| scheme.parameters.get("required")?.as_array());
    if let Some(first) = required.and_then(|names| names.first()?.as_str()) {
        let message = format!(
            "the startup tool `{}` requires `{first}`, but is called without arguments",
            startup.tool
        );
        notes.report(
            rules::agent_file::STARTUP_ARGUMENTS,
            startup.span,
            message,
            "make it optional",
        );
    }
}
