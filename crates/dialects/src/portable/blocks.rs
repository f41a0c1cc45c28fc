//! Client blocks that contradict the item (ruling P8).
//!
//! A block wins over generated fields (ruling R14) and gives access to a client's own tools (§4).
//! It must not grant one client a tool that `tools` withholds from the agent: a reader of the item
//! would not see it.

use brief_syntax::yaml::{Field, Node, Value};

/// Clients' names for the capabilities of §4, in lower case and letters only.
const WORDS: [(&str, &str); 16] = [
    ("bash", "bash"),
    ("edit", "edit"),
    ("execute", "bash"),
    ("fetch", "web-fetch"),
    ("glob", "glob"),
    ("grep", "grep"),
    ("multiedit", "edit"),
    ("patch", "edit"),
    ("read", "read"),
    ("runcommands", "bash"),
    ("runinterminal", "bash"),
    ("shell", "bash"),
    ("view", "read"),
    ("webfetch", "web-fetch"),
    ("websearch", "web-search"),
    ("write", "write"),
];

/// Returns the first name in a client's `tools` or `permission` that grants more than `tools`.
pub(super) fn widened<'y>(key: &str, block: Node<'y>, tools: &[&str]) -> Option<&'y str> {
    if key == "tools" {
        return granted_by_list(block).into_iter().find(|word| is_wider(word, tools));
    }
    match block.value() {
        Value::Mapping(permissions) => {
            let fields = permissions.effective_fields();
            let granted = fields.into_iter().filter(|field| grants(field.value));
            // The document has no names for opencode's web tools; the block may add them (ruling
            // R10).
            let mut known = granted.map(Field::name).filter(|word| !is_web(word));
            known.find(|word| is_wider(word, tools))
        }
        Value::Scalar(word) => Some(word).filter(|word| *word != "deny"),
        _ => None,
    }
}

fn granted_by_list(node: Node<'_>) -> Vec<&str> {
    match node.value() {
        Value::Sequence(list) => list.iter().filter_map(Node::as_str).collect(),
        Value::Scalar(words) => words.split(',').map(str::trim).collect(),
        _ => Vec::new(),
    }
}

/// Returns whether a permission allows anything.
fn grants(permission: Node<'_>) -> bool {
    match permission.value() {
        Value::Scalar(word) => word != "deny",
        Value::Mapping(patterns) => patterns.fields().any(|pattern| grants(pattern.value)),
        _ => false,
    }
}

fn is_wider(word: &str, tools: &[&str]) -> bool {
    if word == "*" {
        return true;
    }
    match capability_of(word) {
        // opencode's `edit` covers both.
        Some("edit" | "write") => !tools.contains(&"edit") && !tools.contains(&"write"),
        Some(capability) => !tools.contains(&capability),
        None => false,
    }
}

fn is_web(word: &str) -> bool {
    capability_of(word).is_some_and(|capability| capability.starts_with("web-"))
}

/// Returns the capability for a client's tool name, also for `Bash(git:*)`.
pub fn capability_of(word: &str) -> Option<&'static str> {
    let name = word.split('(').next().unwrap_or_default();
    let letters: String = name
        .chars()
        .filter(char::is_ascii_alphabetic)
        .map(|letter| letter.to_ascii_lowercase())
        .collect();
    WORDS.iter().find(|(known, _)| *known == letters).map(|(_, capability)| *capability)
}
