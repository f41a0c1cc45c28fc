//! The accessibility tree of a page: what a screen reader is told.

use std::collections::BTreeMap;
use std::time::Duration;

use brief_syntax::limits;
use serde_json::{Map, Value, json};

use super::super::{AbilityResult, create_refusal};
use super::frames::FrameHandle;
use super::running::RunningBrowser;

/// Roles that say nothing by themselves: their children take their place.
const SILENT: [&str; 5] = ["none", "generic", "InlineTextBox", "LineBreak", "presentation"];

/// Properties that are told when they are true or have a text.
const TOLD: [&str; 9] = [
    "checked", "disabled", "expanded", "focused", "level", "pressed", "required", "selected", "url",
];

/// The deepest nesting of an answer; JSON readers stop at 128.
const DEPTH: usize = 60;

impl RunningBrowser {
    /// Returns the tree of a frame.
    pub(super) fn read_accessibility_tree(
        &mut self,
        frame: &FrameHandle,
        deadline: Duration,
    ) -> AbilityResult {
        let counted = self.read_frame(frame, "count", json!({}), deadline)?;
        let elements = counted["elements"].as_u64().unwrap_or_default();
        if elements > limits::BROWSER_ELEMENTS as u64 {
            let most = limits::BROWSER_ELEMENTS;
            return Err(create_refusal(format!(
                "the page has {elements} elements, more than {most}"
            )));
        }
        let params = json!({"frameId": frame.id});
        let session = Some(frame.session.as_str());
        let found = self.send_request(session, "Accessibility.getFullAXTree", &params, deadline)?;
        let nodes = found["nodes"].as_array().map(Vec::as_slice).unwrap_or_default();
        Ok(nest_nodes(nodes))
    }
}

/// Nests a list of nodes that name their children.
fn nest_nodes(nodes: &[Value]) -> Value {
    let known: BTreeMap<&str, &Value> =
        nodes.iter().filter_map(|node| Some((node["nodeId"].as_str()?, node))).collect();
    let Some(root) = nodes.first() else { return Value::Null };
    let mut steps = nodes.len();
    let mut found = nest_node(root, &known, &mut steps, 0);
    if found.len() == 1 { found.remove(0) } else { json!({"role": "document", "children": found}) }
}

/// Returns a node with its children, or only them if it says nothing. Each node takes one of the steps, so that
/// nodes that name each other have an end.
fn nest_node(
    node: &Value,
    known: &BTreeMap<&str, &Value>,
    steps: &mut usize,
    depth: usize,
) -> Vec<Value> {
    if *steps == 0 || depth > 4 * DEPTH {
        return Vec::new();
    }
    *steps -= 1;
    let role = node["role"]["value"].as_str().unwrap_or_default();
    let name = node["name"]["value"].as_str().unwrap_or_default().trim();
    let ids = node["childIds"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut children: Vec<Value> = ids
        .filter_map(|id| known.get(id))
        .flat_map(|child| nest_node(child, known, steps, depth + 1))
        .collect();
    if node["ignored"] == true || SILENT.contains(&role) {
        return children;
    }
    if role == "StaticText" {
        return if name.is_empty() {
            Vec::new()
        } else {
            vec![json!({"role": "text", "name": name})]
        };
    }
    // Texts that repeat the name or the value of their element.
    let value = node["value"]["value"].as_str().unwrap_or_default();
    if children.iter().all(|child| child["role"] == "text") {
        let texts: Vec<&str> = children.iter().filter_map(|child| child["name"].as_str()).collect();
        let text = texts.join(" ");
        if text == name || text == value {
            children.clear();
        }
    }
    let mut shown = Map::new();
    shown.insert("role".to_owned(), json!(if role == "RootWebArea" { "document" } else { role }));
    if !name.is_empty() {
        shown.insert("name".to_owned(), json!(name));
    }
    if !value.is_empty() {
        shown.insert("value".to_owned(), json!(value));
    }
    for property in node["properties"].as_array().into_iter().flatten() {
        let (name, value) =
            (property["name"].as_str().unwrap_or_default(), &property["value"]["value"]);
        let is_said =
            !matches!(value, Value::Bool(false) | Value::Null) && *value != "false" && *value != "";
        if TOLD.contains(&name) && is_said {
            shown.insert(name.to_owned(), value.clone());
        }
    }
    if !children.is_empty() && depth < DEPTH {
        shown.insert("children".to_owned(), json!(children));
    }
    vec![Value::Object(shown)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(id: &str, role: &str, name: &str, children: &[&str]) -> Value {
        json!({"nodeId": id, "role": {"value": role}, "name": {"value": name}, "childIds": children})
    }

    #[test]
    fn silent_nodes_leave_their_children() {
        let nodes = [
            node("1", "RootWebArea", "Title", &["2"]),
            node("2", "generic", "", &["3", "5"]),
            node("3", "button", "Go", &["4"]),
            node("4", "StaticText", "Go", &["6"]),
            node("5", "StaticText", "Hello", &[]),
            node("6", "InlineTextBox", "Go", &[]),
        ];
        let expected = json!({"role": "document", "name": "Title", "children": [
            {"role": "button", "name": "Go"}, {"role": "text", "name": "Hello"}]});
        assert_eq!(nest_nodes(&nodes), expected);
        assert_eq!(nest_nodes(&[]), Value::Null);
    }

    #[test]
    fn nodes_that_name_each_other_have_an_end() {
        let nodes = [node("1", "list", "a", &["2", "2"]), node("2", "list", "b", &["1", "1"])];
        assert!(nest_nodes(&nodes).to_string().len() < 1000);
    }
}
