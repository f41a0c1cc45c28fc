//! Hooks in Claude Code's settings files.
//!
//! The file belongs to the user. It is edited as a syntax tree: key order, numbers, comments and other
//! handlers stay as they are, and a file with an undocumented structure is refused rather than repaired.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};

/// A hook for the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hook<'h> {
    /// The event, such as `PreToolUse`.
    pub event: &'h str,
    /// The tools of the hook; `None` for events without tools.
    pub matcher: Option<&'h str>,
    /// The command line to run.
    pub command: &'h str,
}

/// The tools for which `brief` has guidance.
pub const TOOLS: &str = "Read|Write|Edit|MultiEdit|NotebookEdit|Grep|Glob|LS|Bash";

/// Returns the hooks that `brief` installs: before and after these tools, and for the events after which an
/// agent has forgotten its guidance.
pub fn brief_hooks(command: &str) -> [Hook<'_>; 4] {
    [
        Hook { event: "PreToolUse", matcher: Some(TOOLS), command },
        Hook { event: "PostToolUse", matcher: Some(TOOLS), command },
        Hook { event: "SessionStart", matcher: None, command },
        Hook { event: "PreCompact", matcher: None, command },
    ]
}

/// A settings file that cannot be edited.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The file is not JSON, with or without comments.
    #[error("contains invalid JSON: {0}")]
    Syntax(String),
    /// The top level is not an object.
    #[error("holds {0}, not an object")]
    NotAnObject(&'static str),
    /// A value does not have the documented type.
    #[error("`{place}` is not {expected}")]
    Shape {
        /// The path of the value, such as `hooks.PreToolUse`.
        place: String,
        /// The expected type.
        expected: &'static str,
    },
}

/// The text of a new file. It differs from `{}` with or without a line break, which a user may have written:
/// a file with exactly this text is ours, and may be removed.
pub const NEW_FILE: &str = "{}\n\n";

/// Adds the missing hooks. Returns the new text, or `None` when all hooks are there.
///
/// `text` is `None` for a missing file.
pub fn install(text: Option<&str>, hooks: &[Hook<'_>]) -> Result<Option<String>, SettingsError> {
    let root = parse(text.unwrap_or("{}\n"))?;
    let top = top_object(&root)?;
    check_shape(&top)?;
    let missing: Vec<&Hook<'_>> =
        hooks.iter().filter(|hook| !has_hook(&top, hook.event, hook.command)).collect();
    if missing.is_empty() {
        return Ok(None);
    }
    let table = top.object_value_or_set("hooks");
    for hook in missing {
        let groups = table.array_value_or_set(hook.event);
        groups.ensure_multiline();
        groups.append(group(hook));
    }
    Ok(Some(root.to_string()))
}

/// Removes every handler that runs one of the hooks' commands under its event, and the parents that become
/// empty. Returns the new text, or `None` when no handler was there.
pub fn uninstall(text: &str, hooks: &[Hook<'_>]) -> Result<Option<String>, SettingsError> {
    let root = parse(text)?;
    let top = top_object(&root)?;
    check_shape(&top)?;
    let Some(table) = top.object_value("hooks") else { return Ok(None) };
    let mut removed = false;
    for hook in hooks {
        removed |= remove_hook(&table, hook);
    }
    if !removed {
        return Ok(None);
    }
    if table.properties().is_empty()
        && let Some(property) = top.get("hooks")
    {
        property.remove();
    }
    Ok(Some(root.to_string()))
}

fn remove_hook(table: &CstObject, hook: &Hook<'_>) -> bool {
    let Some(groups) = table.array_value(hook.event) else { return false };
    let mut removed = false;
    for group in objects(&groups) {
        let Some(handlers) = group.array_value("hooks") else { continue };
        let ours: Vec<_> =
            objects(&handlers).filter(|handler| runs(handler, hook.command)).collect();
        if ours.is_empty() {
            continue;
        }
        removed = true;
        // A group with only our handlers is removed as a whole; one with other handlers stays.
        if ours.len() == handlers.elements().len() {
            group.remove();
        } else {
            ours.into_iter().for_each(CstObject::remove);
        }
    }
    if removed
        && groups.elements().is_empty()
        && let Some(property) = table.get(hook.event)
    {
        property.remove();
    }
    removed
}

/// Returns the options for files that people edit: comments and trailing commas are allowed.
pub(crate) fn json_options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

fn parse(text: &str) -> Result<CstRootNode, SettingsError> {
    CstRootNode::parse(text, &json_options())
        .map_err(|error| SettingsError::Syntax(error.to_string()))
}

fn top_object(root: &CstRootNode) -> Result<CstObject, SettingsError> {
    match root.value() {
        Some(value) => {
            let what = noun(&value);
            value.as_object().ok_or(SettingsError::NotAnObject(what))
        }
        None => Err(SettingsError::Syntax("the file is empty".to_owned())),
    }
}

/// Returns the noun for a value in a message.
fn noun(value: &CstNode) -> &'static str {
    if value.as_null_keyword().is_some() {
        "`null`"
    } else if value.as_array().is_some() {
        "a list"
    } else if value.as_string_lit().is_some() {
        "a text"
    } else if value.as_number_lit().is_some() {
        "a number"
    } else {
        "another value"
    }
}

fn shape(place: impl Into<String>, expected: &'static str) -> SettingsError {
    SettingsError::Shape { place: place.into(), expected }
}

/// Checks the structure of everything that an edit reads or changes.
fn check_shape(top: &CstObject) -> Result<(), SettingsError> {
    let Some(hooks) = top.get("hooks") else { return Ok(()) };
    let table = hooks.object_value().ok_or_else(|| shape("hooks", "an object"))?;
    for property in table.properties() {
        let event = property.decoded_name().unwrap_or_default();
        let place = format!("hooks.{event}");
        let groups = property.array_value().ok_or_else(|| shape(&place, "a list"))?;
        for (index, group) in groups.elements().iter().enumerate() {
            let place = format!("{place}[{index}]");
            let group = group.as_object().ok_or_else(|| shape(&place, "an object"))?;
            let place = format!("{place}.hooks");
            let handlers = group.array_value("hooks").ok_or_else(|| shape(&place, "a list"))?;
            if handlers.elements().iter().any(|handler| handler.as_object().is_none()) {
                return Err(shape(place, "a list of objects"));
            }
        }
    }
    Ok(())
}

fn has_hook(top: &CstObject, event: &str, command: &str) -> bool {
    let groups = top.object_value("hooks").and_then(|table| table.array_value(event));
    groups.is_some_and(|groups| {
        objects(&groups)
            .filter_map(|group| group.array_value("hooks"))
            .any(|handlers| objects(&handlers).any(|handler| runs(&handler, command)))
    })
}

fn objects(array: &CstArray) -> impl Iterator<Item = CstObject> + use<> {
    array.elements().into_iter().filter_map(|node: CstNode| node.as_object())
}

fn runs(handler: &CstObject, command: &str) -> bool {
    let value = handler.get("command").and_then(|property| property.value());
    let text = value.and_then(|value| value.as_string_lit()?.decoded_value().ok());
    text.as_deref() == Some(command)
}

fn group(hook: &Hook<'_>) -> CstInputValue {
    let text = |text: &str| CstInputValue::String(text.to_owned());
    let handler = CstInputValue::Object(vec![
        ("type".to_owned(), text("command")),
        ("command".to_owned(), text(hook.command)),
    ]);
    let mut fields = Vec::new();
    if let Some(matcher) = hook.matcher {
        fields.push(("matcher".to_owned(), text(matcher)));
    }
    fields.push(("hooks".to_owned(), CstInputValue::Array(vec![handler])));
    CstInputValue::Object(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOOK: Hook<'_> =
        Hook { event: "PreToolUse", matcher: Some("Read"), command: "brief hook claude" };

    #[test]
    fn a_new_file_is_readable() {
        insta::assert_snapshot!(install(None, &[HOOK]).unwrap().unwrap(), @r#"
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
        let installed = install(Some(text), &[HOOK]).unwrap().unwrap();
        for kept in ["// mine", "12345678901234567890", "1e3", "/* b */", "\"command\": \"other\""]
        {
            assert!(installed.contains(kept), "{installed}");
        }
        assert!(installed.find("\"z\"") < installed.find("\"a\""));
        assert_eq!(install(Some(&installed), &[HOOK]).unwrap(), None);
        assert_eq!(uninstall(&installed, &[HOOK]).unwrap().unwrap(), text);
    }

    #[test]
    fn a_foreign_handler_in_the_same_group_stays() {
        let text = r#"{"hooks": {"PreToolUse": [{"matcher": "Read", "hooks": [{"type": "command", "command": "brief hook claude"}, {"type": "command", "command": "mine"}]}]}}"#;
        let left = uninstall(text, &[HOOK]).unwrap().unwrap();
        assert!(left.contains("mine") && !left.contains("brief"), "{left}");
        assert_eq!(uninstall(&left, &[HOOK]).unwrap(), None);
    }

    #[test]
    fn what_we_emptied_is_removed_and_nothing_else() {
        let text = r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "brief hook claude"}]}], "Stop": []}}"#;
        let left = uninstall(text, &[HOOK]).unwrap().unwrap();
        assert_eq!(left.replace(' ', ""), r#"{"hooks":{"Stop":[]}}"#);
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
            assert!(install(Some(text), &[HOOK]).is_err(), "{text}");
            assert!(uninstall(text, &[HOOK]).is_err(), "{text}");
        }
    }
}
