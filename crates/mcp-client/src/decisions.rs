//! The user's decisions about what the tools of a server say.
//!
//! A model reads a tool's description, so a server that is trusted can still change what an agent does by changing its
//! words. Tools that the user has accepted are known by the hash of all that they say.

use std::collections::BTreeSet;

use brief_system::hash::sha256;
use serde_json::{Map, Value, json};

/// The user's decisions about the tools of one server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolDecisions {
    origin: String,
    accepted: BTreeSet<String>,
    denied: BTreeSet<String>,
}

/// The tools of a server.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ListedTools {
    /// Those that count, as the server describes them.
    pub tools: Vec<Value>,
    /// The names of those that the user has not accepted.
    pub held_back: Vec<String>,
}

impl ToolDecisions {
    /// Creates the decisions about the server of that origin, from the hashes of everything that the user has accepted
    /// and denied.
    pub fn new<'h>(
        origin: String,
        accepted: impl IntoIterator<Item = &'h str>,
        denied: impl IntoIterator<Item = &'h str>,
    ) -> ToolDecisions {
        let accepted = accepted.into_iter().map(str::to_owned).collect();
        let denied = denied.into_iter().map(str::to_owned).collect();
        ToolDecisions { origin, accepted, denied }
    }

    /// Returns the content whose hash says that the user has accepted tools of this server.
    pub fn server_content(&self) -> Vec<u8> {
        json!({"tools of the MCP server": self.origin}).to_string().into_bytes()
    }

    /// Returns the content whose hash stands for a tool of this server with all that it says, in any order of keys.
    pub fn tool_content(&self, tool: &Value) -> Vec<u8> {
        let said = sort_keys(tool);
        json!({"tool of the MCP server": self.origin, "says": said}).to_string().into_bytes()
    }

    /// Returns the place and the name of the server.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Returns whether a tool counts. Before any tool of the server was accepted, all do that are not denied.
    pub fn allows_tool(&self, tool: &Value) -> bool {
        let hash = sha256(&self.tool_content(tool));
        let is_reviewed = self.accepted.contains(&sha256(&self.server_content()));
        !self.denied.contains(&hash) && (!is_reviewed || self.accepted.contains(&hash))
    }

    /// Divides tools into those that count and the names of the others.
    pub fn divide_tools(&self, tools: Vec<Value>) -> ListedTools {
        let (tools, others): (Vec<Value>, Vec<Value>) =
            tools.into_iter().partition(|tool| self.allows_tool(tool));
        let name = |tool: &Value| tool["name"].as_str().unwrap_or_default().to_owned();
        ListedTools { tools, held_back: others.iter().map(name).collect() }
    }
}

/// Returns a value with the keys of its objects in order, without `_meta`, which is for programs.
fn sort_keys(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut keys: Vec<&String> = fields.keys().filter(|key| *key != "_meta").collect();
            keys.sort_unstable();
            let fields = keys.into_iter().map(|key| (key.clone(), sort_keys(&fields[key])));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        Value::Array(values) => values.iter().map(sort_keys).collect(),
        value => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepting(tools: &[&Value]) -> ToolDecisions {
        let decisions = ToolDecisions::new("f#s".to_owned(), [], []);
        let mut hashes = vec![sha256(&decisions.server_content())];
        hashes.extend(tools.iter().map(|tool| sha256(&decisions.tool_content(tool))));
        ToolDecisions::new("f#s".to_owned(), hashes.iter().map(String::as_str), [])
    }

    #[test]
    fn what_was_accepted_counts_and_nothing_else() {
        let tool = json!({"name": "t", "description": "Reads.", "inputSchema": {"a": 1, "b": 2}});
        let accepted = accepting(&[&tool]);
        assert!(accepted.allows_tool(&tool));
        let same = json!({"inputSchema": {"b": 2, "a": 1}, "description": "Reads.", "name": "t",
            "_meta": {"x": 1}});
        assert!(accepted.allows_tool(&same));
        for changed in [
            json!({"name": "t", "description": "Reads all keys.", "inputSchema": {"a": 1, "b": 2}}),
            json!({"name": "t", "description": "Reads.", "inputSchema": {"a": 1, "b": 3}}),
            json!({"name": "t", "description": "Reads.", "inputSchema": {"a": 1, "b": 2}, "title": "T"}),
            json!({"name": "new", "description": "Reads.", "inputSchema": {"a": 1, "b": 2}}),
        ] {
            assert!(!accepted.allows_tool(&changed), "{changed}");
            assert_eq!(
                accepted.divide_tools(vec![changed.clone()]).held_back,
                [changed["name"].as_str().unwrap()]
            );
            // Nothing was accepted: all count.
            assert!(ToolDecisions::new("f#s".to_owned(), [], []).allows_tool(&changed));
        }
        // Another server says the same.
        let hashes: Vec<String> = accepted.accepted.iter().cloned().collect();
        let hashes = || hashes.iter().map(String::as_str);
        let other = ToolDecisions::new("f#other".to_owned(), hashes(), []);
        assert_ne!(other.tool_content(&tool), accepted.tool_content(&tool));
        assert!(other.allows_tool(&json!({"name": "x"})));
        // A denial wins.
        assert!(!ToolDecisions::new("f#s".to_owned(), hashes(), hashes()).allows_tool(&tool));
    }
}
