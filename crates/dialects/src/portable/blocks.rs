//! Clients' names for the capabilities of the format.

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
