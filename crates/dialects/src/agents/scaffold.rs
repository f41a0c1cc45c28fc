//! The template for a new agent file.
//!
//! It passes every gate as it stands, so that its author can try each part before changing it. `brief lint` finds what
//! is left of its text, so that no template is shared.

use super::model::{AgentName, DIRECTORY, SUFFIX};

/// The lines of the template that an author replaces.
pub(super) const PLACEHOLDERS: [&str; 5] = [
    "Say in one sentence what it does.",
    "You are … When you are asked:",
    "1. Say what to look at first.",
    "2. Say what to answer, and how.",
    "- Say what it always does, or never.",
];

/// The code of the template: one small tool.
const TOOLS: &str = r#"return {
  count_words: {
    fn: ({ text }) => text.split(/\s+/).filter(Boolean).length,
    scheme: {
      name: "count_words",
      description: "Returns the number of words in a text",
      parameters: {
        type: "object",
        properties: { text: { type: "string" } },
        required: ["text"],
      },
    },
  },
};
"#;

/// Returns the reason why `name` is no name of a new agent file, `<category>_<agent-name>`.
pub fn name_problem(name: &str) -> Option<&'static str> {
    let is_part = |part: &str| {
        let ends = [part.chars().next(), part.chars().next_back()];
        let is_end = |letter: &char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
        let is_inner = |letter: char| is_end(&letter) || matches!(letter, '-' | '_');
        ends.iter().flatten().filter(|letter| is_end(letter)).count() == 2
            && part.chars().all(is_inner)
    };
    match name.split_once('_') {
        None => Some("needs a category and `_` before the name"),
        Some((category, rest)) if is_part(category) && is_part(rest) => {
            (name.len() > 64).then_some("is longer than 64 characters")
        }
        Some(_) => Some(
            "can contain a-z, digits, `-` and `_`, and each part begins and ends with a letter or digit",
        ),
    }
}

/// Returns the path of a new agent file.
pub fn agent_file_path(name: &str) -> String {
    format!("{DIRECTORY}/{name}{SUFFIX}")
}

/// Returns the text of a new agent file.
pub fn render_agent_file(name: &str) -> String {
    let words = AgentName::from_file_name(name).name.replace(['-', '_'], " ");
    let mut letters = words.chars();
    let title: String = match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => words,
    };
    let [about, you, first, second, rule] = PLACEHOLDERS;
    format!(
        "---\nversion: 0.1.0\nicon: 🤖\nabilities:\n  allow: [tool]\ncommands:\n  - name: shorten\n    description: \
         Shortens a file\n    argument-hint: [file]\n    body: Say what $1 says in three sentences.\n---\n\n# {title}\n\n\
         {about}\n\n## System\n\n{you}\n\n{first}\n{second}\n\n## Rules\n\n{rule}\n\n## Tools\n\n```js\n{TOOLS}```\n"
    )
}
