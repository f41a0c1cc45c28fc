//! Hooks in clients' settings files.
//!
//! The file belongs to the user. Key order, numbers, comments and other handlers stay as they are, removing the
//! hooks restores the text, and a file with an undocumented structure is refused rather than repaired.

use jsonc_parser::ast::{Array, Object, Value};
use jsonc_parser::common::Ranged;

use super::guard::{find_command, options_after};
use crate::json_text::{Container, JsonText, quote_json};
use crate::shared::split_mark;

/// A hook for the settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    /// The event, such as `PreToolUse`.
    pub event: String,
    /// The tools of the hook; `None` for events without tools.
    pub matcher: Option<String>,
    /// The command line without its options: every handler that runs it is ours.
    pub program: String,
    pub handler: Handler,
}

/// The fields of a handler: keys and values.
pub type Handler = Vec<(String, HandlerValue)>;

/// The value of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandlerValue {
    Text(String),
    /// A number, which the user may change.
    Number(u32),
}

/// The place of the hooks in a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookTable {
    /// `hooks.EVENT` is a list of groups, each with a `matcher` and a list of `hooks`.
    Groups,
    /// The same with the events at the top.
    TopGroups,
    /// `hooks.EVENT` is a list of handlers.
    List {
        /// The `version` of a new file.
        version: Option<u32>,
    },
}

impl HookTable {
    /// Returns the handler of a command line.
    pub fn command_handler(command: &str) -> Handler {
        [("type", "command"), ("command", command)]
            .map(|(key, text)| (key.to_owned(), HandlerValue::Text(text.to_owned())))
            .into()
    }

    fn is_list(self) -> bool {
        matches!(self, HookTable::List { .. })
    }

    /// Returns the path of the list of an event.
    fn list_path(self, event: &str) -> Vec<&str> {
        match self {
            HookTable::TopGroups => vec![event],
            HookTable::Groups | HookTable::List { .. } => vec!["hooks", event],
        }
    }

    /// Returns the list of an event.
    fn find_event_list<'o, 't>(self, top: &'o Object<'t>, event: &str) -> Option<&'o Array<'t>> {
        match self {
            HookTable::TopGroups => top.get_array(event),
            HookTable::Groups | HookTable::List { .. } => top.get_object("hooks")?.get_array(event),
        }
    }

    /// Returns the handlers of an event.
    fn collect_handlers<'o, 't>(self, top: &'o Object<'t>, event: &str) -> Vec<&'o Value<'t>> {
        let Some(list) = self.find_event_list(top, event) else { return Vec::new() };
        if self.is_list() {
            return list.elements.iter().collect();
        }
        let groups = list.elements.iter().filter_map(Value::as_object);
        let handlers = groups.filter_map(|group| group.get_array("hooks"));
        handlers.flat_map(|list| &list.elements).collect()
    }
}

/// A settings file that cannot be edited.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The file is not JSON, with or without comments.
    #[error("contains invalid JSON: {0}")]
    Syntax(String),
    /// The top level is not an object.
    #[error("contains {0}, not an object")]
    NotAnObject(&'static str),
    /// A value does not have the documented type.
    #[error("`{place}` is not {expected}")]
    Shape {
        /// The path of the value, such as `hooks.PreToolUse`.
        place: String,
        expected: &'static str,
    },
}

/// The message of a `JsonText`.
impl From<String> for SettingsError {
    fn from(message: String) -> SettingsError {
        SettingsError::Syntax(message)
    }
}

/// The text of a new file. It ends in an empty line, which no empty table of a user has: a file with exactly this
/// text is ours, and may be removed.
pub const NEW_FILE: &str = "{\n}\n\n";

/// Adds the missing hooks, and replaces those that run the same program with other options. Returns the new text,
/// or `None` when nothing changes.
///
/// `text` is `None` for a missing file.
pub fn install_hooks(
    text: Option<&str>,
    table: HookTable,
    hooks: &[Hook],
) -> Result<Option<String>, SettingsError> {
    let (mark, before) = split_mark(text.unwrap_or("{\n}\n"));
    let mut text = before.to_owned();
    let json = JsonText::parse(&text)?;
    check_shape(top_object(&json)?, table)?;
    let is_new = top_object(&json)?.properties.is_empty();
    if let (true, HookTable::List { version: Some(version) }) = (is_new, table) {
        text = json.insert_element(&[], Some("version"), &version.to_string())?;
    }
    let mut is_changed = false;
    let kept = paths_to_keep(&JsonText::parse(&text)?, table, hooks);
    for hook in hooks {
        if has_only(top_object(&JsonText::parse(&text)?)?, hook, table) {
            continue;
        }
        is_changed = true;
        text = remove_handlers(text, hook, table, &kept)?.0;
        let new = if table.is_list() { render_handler(hook) } else { render_group(hook) };
        text = JsonText::parse(&text)?.insert_marked(&table.list_path(&hook.event), None, &new)?;
    }
    Ok(is_changed.then(|| format!("{mark}{text}")))
}

/// Removes every handler that runs the hooks' program under their events, and the parents that become empty, except those
/// that the user had left empty.
/// Returns the new text, or `None` when no handler was there.
pub fn uninstall_hooks(
    text: &str,
    table: HookTable,
    hooks: &[Hook],
) -> Result<Option<String>, SettingsError> {
    let (mark, before) = split_mark(text);
    let mut text = before.to_owned();
    check_shape(top_object(&JsonText::parse(&text)?)?, table)?;
    let kept = paths_to_keep(&JsonText::parse(&text)?, table, hooks);
    let mut is_changed = false;
    for hook in hooks {
        let (left, is_removed) = remove_handlers(text, hook, table, &kept)?;
        text = left;
        is_changed |= is_removed;
    }
    // A new file of ours with its version.
    if let HookTable::List { version: Some(version) } = table
        && text == format!("{{\n  \"version\": {version}\n}}\n\n")
    {
        NEW_FILE.clone_into(&mut text);
    }
    Ok(is_changed.then(|| format!("{mark}{text}")))
}

/// Returns the paths of the lists and tables that were there and empty before the first hook.
fn paths_to_keep<'h>(
    json: &JsonText<'_>,
    table: HookTable,
    hooks: &'h [Hook],
) -> Vec<Vec<&'h str>> {
    let paths = hooks.iter().flat_map(|hook| {
        let path = table.list_path(&hook.event);
        (1..=path.len()).map(move |length| path[..length].to_vec()).collect::<Vec<_>>()
    });
    let mut kept: Vec<Vec<&str>> = paths.filter(|path| json.was_empty(path)).collect();
    kept.dedup();
    kept
}

/// Removes the handlers of ours under an event, and the parents that become empty, except `kept`. Returns the text, and
/// whether it changed.
fn remove_handlers(
    mut text: String,
    hook: &Hook,
    table: HookTable,
    kept: &[Vec<&str>],
) -> Result<(String, bool), SettingsError> {
    let mut is_changed = false;
    loop {
        let json = JsonText::parse(&text)?;
        let left = table.find_event_list(top_object(&json)?, &hook.event).and_then(|list| {
            let (list, handler) = first_of_ours(list, hook, table)?;
            Some(json.remove_element(&Container::from_list(list), handler.range()))
        });
        let Some(left) = left else { break };
        text = left;
        is_changed = true;
    }
    let mut path = table.list_path(&hook.event);
    while is_changed && !path.is_empty() && !kept.contains(&path) {
        if let Some(left) = JsonText::parse(&text)?.without_empty(&path)? {
            text = left;
        }
        path.pop();
    }
    Ok((text, is_changed))
}

/// Returns the first handler of ours with the list that holds it. A group with only our handlers counts as one.
fn first_of_ours<'o, 't>(
    list: &'o Array<'t>,
    hook: &Hook,
    table: HookTable,
) -> Option<(&'o Array<'t>, &'o Value<'t>)> {
    let ours = |list: &'o Array<'t>| list.elements.iter().filter(|value| runs_program(value, hook));
    if table.is_list() {
        return ours(list).next().map(|handler| (list, handler));
    }
    list.elements.iter().find_map(|group| {
        let handlers = group.as_object()?.get_array("hooks")?;
        let handler = ours(handlers).next()?;
        let is_whole = ours(handlers).count() == handlers.elements.len();
        Some(if is_whole { (list, group) } else { (handlers, handler) })
    })
}

/// Returns whether an event has one handler of ours, with the fields of the hook's own.
fn has_only(top: &Object<'_>, hook: &Hook, table: HookTable) -> bool {
    let handlers = table.collect_handlers(top, &hook.event);
    let mut ours = handlers.into_iter().filter(|handler| runs_program(handler, hook));
    match (ours.next(), ours.next()) {
        // A user may have added fields.
        (Some(only), None) => hook.handler.iter().all(|(key, value)| match value {
            HandlerValue::Text(text) => handler_texts(only).any(|field| field == (key, text)),
            HandlerValue::Number(_) => {
                only.as_object().and_then(|only| only.get_number(key)).is_some()
            }
        }),
        _ => false,
    }
}

fn top_object<'j, 't>(json: &'j JsonText<'t>) -> Result<&'j Object<'t>, SettingsError> {
    json.value.as_object().ok_or(SettingsError::NotAnObject(match json.value {
        Value::NullKeyword(_) => "`null`",
        Value::Array(_) => "a list",
        Value::StringLit(_) => "a string",
        Value::NumberLit(_) => "a number",
        _ => "another value",
    }))
}

fn shape_error(place: impl Into<String>, expected: &'static str) -> SettingsError {
    SettingsError::Shape { place: place.into(), expected }
}

/// Checks the structure of everything that an edit reads or changes.
fn check_shape(top: &Object<'_>, table: HookTable) -> Result<(), SettingsError> {
    let (events, above) = match table {
        HookTable::TopGroups => (top, ""),
        HookTable::Groups | HookTable::List { .. } => {
            let Some(hooks) = top.get("hooks") else { return Ok(()) };
            (hooks.value.as_object().ok_or_else(|| shape_error("hooks", "an object"))?, "hooks.")
        }
    };
    for property in &events.properties {
        let place = format!("{above}{}", property.name.as_str());
        let list = property.value.as_array().ok_or_else(|| shape_error(&place, "a list"))?;
        for (index, element) in list.elements.iter().enumerate() {
            let place = format!("{place}[{index}]");
            let element = element.as_object().ok_or_else(|| shape_error(&place, "an object"))?;
            if table.is_list() {
                continue;
            }
            let place = format!("{place}.hooks");
            let handlers =
                element.get_array("hooks").ok_or_else(|| shape_error(&place, "a list"))?;
            if handlers.elements.iter().any(|handler| handler.as_object().is_none()) {
                return Err(shape_error(place, "a list of objects"));
            }
        }
    }
    Ok(())
}

/// Returns the texts of a handler, by key.
fn handler_texts<'o>(handler: &'o Value<'_>) -> impl Iterator<Item = (&'o str, &'o str)> {
    let properties = handler.as_object().into_iter().flat_map(|handler| &handler.properties);
    properties.filter_map(|property| {
        Some((property.name.as_str(), &*property.value.as_string_lit()?.value))
    })
}

/// Returns whether a handler runs the hook's program, with any options.
fn runs_program(handler: &Value<'_>, hook: &Hook) -> bool {
    handler_texts(handler).any(|(_, text)| is_ours(text, hook))
}

/// Returns whether a line runs the hook's program, with any options, guarded or not.
fn is_ours(line: &str, hook: &Hook) -> bool {
    options_after(find_command(line).command, &hook.program).is_some()
}

/// Returns the lines of ours in a settings file, each once; none if the file cannot be read.
pub fn installed_lines(text: &str, table: HookTable, hooks: &[Hook]) -> Vec<String> {
    let (_, text) = split_mark(text);
    let json = JsonText::parse(text);
    let Some(top) = json.as_ref().ok().and_then(|json| json.value.as_object()) else {
        return Vec::new();
    };
    let mut lines: Vec<String> = Vec::new();
    for hook in hooks {
        for handler in table.collect_handlers(top, &hook.event) {
            for (_, line) in handler_texts(handler).filter(|(_, line)| is_ours(line, hook)) {
                if !lines.iter().any(|known| known == line) {
                    lines.push(line.to_owned());
                }
            }
        }
    }
    lines
}

/// Formats the handler of a hook as JSON.
fn render_handler(hook: &Hook) -> String {
    let fields = hook.handler.iter();
    let fields: Vec<String> = fields
        .map(|(key, value)| match value {
            HandlerValue::Text(text) => format!("{}: {}", quote_json(key), quote_json(text)),
            HandlerValue::Number(number) => format!("{}: {number}", quote_json(key)),
        })
        .collect();
    format!("{{{}}}", fields.join(", "))
}

/// Formats the handler of a hook as JSON, in a group of its own.
fn render_group(hook: &Hook) -> String {
    let matcher = hook.matcher.as_ref();
    let matcher = matcher.map(|matcher| format!("\"matcher\": {}, ", quote_json(matcher)));
    format!("{{{}\"hooks\": [{}]}}", matcher.unwrap_or_default(), render_handler(hook))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hook() -> Hook {
        Hook {
            event: "PreToolUse".to_owned(),
            matcher: Some("Read".to_owned()),
            program: "brief hook claude".to_owned(),
            handler: HookTable::command_handler("brief hook claude"),
        }
    }

    fn install(text: Option<&str>) -> Result<Option<String>, SettingsError> {
        super::install_hooks(text, HookTable::Groups, &[hook()])
    }

    fn uninstall(text: &str) -> Result<Option<String>, SettingsError> {
        super::uninstall_hooks(text, HookTable::Groups, &[hook()])
    }

    #[test]
    fn a_new_file_is_readable() {
        insta::assert_snapshot!(install(None).unwrap().unwrap(), @r#"
        {
          "hooks": {
            "PreToolUse": [
              {
                "matcher": "Read",
                "hooks": [
                  {
                    "type": "command",
                    "command": "brief hook claude"
                  }
                ]
              }
            ]
          }
        }
        "#);
    }

    #[test]
    fn everything_else_in_the_file_stays_byte_for_byte() {
        let text = "{\n  // mine\n  \"z\": 12345678901234567890,\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"other\"}]}\n    ]\n  },\n  \"a\": 1e3, /* b */\n}\n";
        let installed = install(Some(text)).unwrap().unwrap();
        for kept in ["// mine", "12345678901234567890", "1e3", "/* b */", "\"command\": \"other\""]
        {
            assert!(installed.contains(kept), "{installed}");
        }
        assert!(installed.find("\"z\"") < installed.find("\"a\""));
        assert_eq!(install(Some(&installed)).unwrap(), None);
        assert_eq!(uninstall(&installed).unwrap().unwrap(), text);
    }

    #[test]
    fn a_foreign_handler_in_the_same_group_stays() {
        let text = r#"{"hooks": {"PreToolUse": [{"matcher": "Read", "hooks": [{"type": "command", "command": "brief hook claude"}, {"type": "command", "command": "mine"}]}]}}"#;
        let left = uninstall(text).unwrap().unwrap();
        assert!(left.contains("mine") && !left.contains("brief"), "{left}");
        assert_eq!(uninstall(&left).unwrap(), None);
    }

    #[test]
    fn what_we_emptied_is_removed_and_nothing_else() {
        let text = r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "brief hook claude"}]}], "Stop": []}}"#;
        let left = uninstall(text).unwrap().unwrap();
        assert_eq!(left, r#"{"hooks": {"Stop": []}}"#);
    }

    /// A list or table that the user had left empty comes back as it was.
    #[test]
    fn what_the_user_left_empty_stays() {
        for text in [
            r#"{"hooks": {}}"#,
            r#"{"hooks": { }}"#,
            r#"{"hooks": {"PreToolUse": []}}"#,
            r#"{"hooks": {"PreToolUse": [], "Stop": []}, "a": 1}"#,
            "{\n  \"hooks\": {}\n}\n",
            "{\n  \"hooks\": {\n  }\n}\n",
            "{\n  \"hooks\": {\n    \"PreToolUse\": [],\n    \"Stop\": []\n  },\n  \"a\": 1\n}\n",
            "{\n  \"hooks\": {\n    \"PreToolUse\": [\n    ]\n  }\n}\n",
            "{\r\n\t\"hooks\": {\r\n\t\t\"PreToolUse\": []\r\n\t}\r\n}\r\n",
            "{\n  \"a\": 1\n}\n",
            "{}",
            "{\n}\n",
        ] {
            let many: Vec<Hook> = ["SessionStart", "PreToolUse", "PostToolUse"]
                .map(|event| Hook { event: event.to_owned(), ..hook() })
                .into();
            for hooks in [&many[..], &many[1..2]] {
                let installed = super::install_hooks(Some(text), HookTable::Groups, hooks).unwrap();
                let installed = installed.unwrap();
                assert_eq!(
                    super::install_hooks(Some(&installed), HookTable::Groups, hooks).unwrap(),
                    None
                );
                let left = super::uninstall_hooks(&installed, HookTable::Groups, hooks).unwrap();
                assert_eq!(left.as_deref(), Some(text), "{installed}");
            }
        }
    }

    #[test]
    fn a_wrong_shape_is_refused() {
        for text in [
            "",
            "[]",
            "null",
            "{bad",
            "{\"hooks\": []}",
            "{\"hooks\": {\"PreToolUse\": \"oops\"}}",
            "{\"hooks\": {\"PreToolUse\": [1]}}",
            "{\"hooks\": {\"PreToolUse\": [{}]}}",
            "{\"hooks\": {\"PreToolUse\": [{\"hooks\": [1]}]}}",
            "{'a': 1}",
        ] {
            assert!(install(Some(text)).is_err(), "{text}");
            assert!(uninstall(text).is_err(), "{text}");
        }
    }
}
