//! Hooks in clients' settings files.
//!
//! The file belongs to the user. It is edited as a syntax tree: key order, numbers, comments and other
//! handlers stay as they are, and a file with an undocumented structure is refused rather than repaired.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};

/// A hook for the settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    /// The event, such as `PreToolUse`.
    pub event: String,
    /// The tools of the hook; `None` for events without tools.
    pub matcher: Option<String>,
    /// The command line without its options: every handler that runs it is ours.
    pub program: String,
    /// The handler.
    pub handler: Handler,
}

/// The fields of a handler: keys and texts.
pub type Handler = Vec<(String, String)>;

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
        vec![("type".to_owned(), "command".to_owned()), ("command".to_owned(), command.to_owned())]
    }

    fn is_list(self) -> bool {
        matches!(self, HookTable::List { .. })
    }

    fn find(self, top: &CstObject) -> Option<CstObject> {
        match self {
            HookTable::TopGroups => Some(top.clone()),
            HookTable::Groups | HookTable::List { .. } => top.object_value("hooks"),
        }
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

/// Adds the missing hooks, and replaces those that run the same program with other options. Returns the new text,
/// or `None` when nothing changes.
///
/// `text` is `None` for a missing file.
pub fn install(
    text: Option<&str>,
    table: HookTable,
    hooks: &[Hook],
) -> Result<Option<String>, SettingsError> {
    let text = text.unwrap_or("{}\n");
    let (mark, text) = split_mark(text);
    let root = parse(text)?;
    let top = top_object(&root)?;
    check_shape(&top, table)?;
    let is_new = top.properties().is_empty();
    let mut is_changed = false;
    for hook in hooks {
        let ours: Vec<CstObject> =
            table.find(&top).map_or_else(Vec::new, |events| handlers(&events, hook, table));
        if let [only] = &ours[..]
            && is_same(only, hook)
        {
            continue;
        }
        is_changed = true;
        if let Some(events) = table.find(&top) {
            remove_hook(&events, hook, table);
        }
        let events = match table {
            HookTable::TopGroups => top.clone(),
            HookTable::Groups | HookTable::List { .. } => top.object_value_or_set("hooks"),
        };
        let groups = events.array_value_or_set(&hook.event);
        groups.ensure_multiline();
        groups.append(if table.is_list() { handler(hook) } else { group(hook) });
    }
    if !is_changed {
        return Ok(None);
    }
    if let (true, HookTable::List { version: Some(version) }) = (is_new, table) {
        top.insert(0, "version", CstInputValue::Number(version.to_string()));
    }
    Ok(Some(format!("{mark}{root}")))
}

/// Removes every handler that runs the hooks' program under their events, and the parents that become empty.
/// Returns the new text, or `None` when no handler was there.
pub fn uninstall(
    text: &str,
    table: HookTable,
    hooks: &[Hook],
) -> Result<Option<String>, SettingsError> {
    let (mark, text) = split_mark(text);
    let root = parse(text)?;
    let top = top_object(&root)?;
    check_shape(&top, table)?;
    let Some(events) = table.find(&top) else { return Ok(None) };
    let mut removed = false;
    for hook in hooks {
        removed |= remove_hook(&events, hook, table);
    }
    if !removed {
        return Ok(None);
    }
    if table != HookTable::TopGroups
        && events.properties().is_empty()
        && let Some(property) = top.get("hooks")
    {
        property.remove();
    }
    // The version of a file that we made.
    if let [only] = &top.properties()[..]
        && table.is_list()
        && text.ends_with("}\n\n")
        && only.decoded_name().is_some_and(|name| name == "version")
    {
        only.clone().remove();
    }
    Ok(Some(format!("{mark}{root}")))
}

/// Splits a byte order mark off.
fn split_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 })
}

/// Returns the handlers of an event that are ours.
fn handlers(events: &CstObject, hook: &Hook, table: HookTable) -> Vec<CstObject> {
    let Some(list) = events.array_value(&hook.event) else { return Vec::new() };
    let all: Vec<CstObject> = if table.is_list() {
        objects(&list).collect()
    } else {
        let groups = objects(&list).filter_map(|group| group.array_value("hooks"));
        groups.flat_map(|handlers| objects(&handlers)).collect()
    };
    all.into_iter().filter(|handler| runs(handler, hook)).collect()
}

fn remove_hook(events: &CstObject, hook: &Hook, table: HookTable) -> bool {
    let Some(list) = events.array_value(&hook.event) else { return false };
    let mut removed = false;
    if table.is_list() {
        let ours: Vec<_> = objects(&list).filter(|handler| runs(handler, hook)).collect();
        removed = !ours.is_empty();
        ours.into_iter().for_each(CstObject::remove);
    } else {
        for group in objects(&list) {
            let Some(handlers) = group.array_value("hooks") else { continue };
            let ours: Vec<_> = objects(&handlers).filter(|handler| runs(handler, hook)).collect();
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
    }
    if removed
        && list.elements().is_empty()
        && let Some(property) = events.get(&hook.event)
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
fn check_shape(top: &CstObject, table: HookTable) -> Result<(), SettingsError> {
    let (events, above) = match table {
        HookTable::TopGroups => (top.clone(), ""),
        HookTable::Groups | HookTable::List { .. } => {
            let Some(hooks) = top.get("hooks") else { return Ok(()) };
            (hooks.object_value().ok_or_else(|| shape("hooks", "an object"))?, "hooks.")
        }
    };
    for property in events.properties() {
        let event = property.decoded_name().unwrap_or_default();
        let place = format!("{above}{event}");
        let list = property.array_value().ok_or_else(|| shape(&place, "a list"))?;
        for (index, element) in list.elements().iter().enumerate() {
            let place = format!("{place}[{index}]");
            let element = element.as_object().ok_or_else(|| shape(&place, "an object"))?;
            if table.is_list() {
                continue;
            }
            let place = format!("{place}.hooks");
            let handlers = element.array_value("hooks").ok_or_else(|| shape(&place, "a list"))?;
            if handlers.elements().iter().any(|handler| handler.as_object().is_none()) {
                return Err(shape(place, "a list of objects"));
            }
        }
    }
    Ok(())
}

fn objects(array: &CstArray) -> impl Iterator<Item = CstObject> + use<> {
    array.elements().into_iter().filter_map(|node: CstNode| node.as_object())
}

/// Returns the texts of a handler, by key.
fn texts(handler: &CstObject) -> impl Iterator<Item = (String, String)> {
    handler.properties().into_iter().filter_map(|property| {
        let text = property.value()?.as_string_lit()?.decoded_value().ok()?;
        Some((property.decoded_name()?, text))
    })
}

/// Returns whether a handler runs the hook's program, with any options.
fn runs(handler: &CstObject, hook: &Hook) -> bool {
    texts(handler).any(|(_, text)| {
        let options = text.strip_prefix(&*hook.program);
        options.is_some_and(|options| options.is_empty() || options.starts_with(' '))
    })
}

/// Returns whether a handler has the fields of the hook's own. A user may have added others.
fn is_same(found: &CstObject, hook: &Hook) -> bool {
    let texts: Vec<(String, String)> = texts(found).collect();
    hook.handler.iter().all(|field| texts.contains(field))
}

fn handler(hook: &Hook) -> CstInputValue {
    let fields = hook.handler.iter();
    let fields = fields.map(|(key, text)| (key.clone(), CstInputValue::String(text.clone())));
    CstInputValue::Object(fields.collect())
}

fn group(hook: &Hook) -> CstInputValue {
    let mut fields = Vec::new();
    if let Some(matcher) = &hook.matcher {
        fields.push(("matcher".to_owned(), CstInputValue::String(matcher.clone())));
    }
    fields.push(("hooks".to_owned(), CstInputValue::Array(vec![handler(hook)])));
    CstInputValue::Object(fields)
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
        super::install(text, HookTable::Groups, &[hook()])
    }

    fn uninstall(text: &str) -> Result<Option<String>, SettingsError> {
        super::uninstall(text, HookTable::Groups, &[hook()])
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
            assert!(install(Some(text)).is_err(), "{text}");
            assert!(uninstall(text).is_err(), "{text}");
        }
    }
}
