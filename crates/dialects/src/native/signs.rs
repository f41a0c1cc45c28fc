//! What shows that a project is worked on with a client: files and directories that bear its name.

/// Each client with the names that are its own, at the top of a project. What several clients share, such
/// as `AGENTS.md`, shows none of them.
const SIGNS: &[(&str, &[&str])] = &[
    ("augment", &[".augment", ".augment-guidelines"]),
    ("claude", &[".claude", "CLAUDE.md", "CLAUDE.local.md"]),
    ("cline", &[".cline", ".clinerules"]),
    ("codex", &[".codex", "AGENTS.override.md"]),
    ("copilot", &[".github/copilot-instructions.md", ".github/instructions", ".github/agents"]),
    ("cursor", &[".cursor", ".cursorrules"]),
    ("gemini", &[".gemini", "GEMINI.md"]),
    ("goose", &[".goose", ".goosehints"]),
    ("kilo", &[".kilo", ".kilocode"]),
    ("opencode", &[".opencode", "opencode.json", "opencode.jsonc"]),
    ("qwen", &[".qwen", "QWEN.md"]),
    ("windsurf", &[".windsurf", ".windsurfrules"]),
    ("zed", &[".zed", ".rules"]),
];

/// Returns the clients whose own files are there, by name; `is_there` is asked about paths at the top.
pub fn shown_clients(is_there: impl Fn(&str) -> bool) -> Vec<&'static str> {
    let shown = SIGNS.iter().filter(|(_, signs)| signs.iter().any(|sign| is_there(sign)));
    shown.map(|(client, _)| *client).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::CLIENTS;

    #[test]
    fn each_client_has_its_signs() {
        let names: Vec<&str> = SIGNS.iter().map(|(client, _)| *client).collect();
        assert_eq!(names, CLIENTS);
        assert_eq!(shown_clients(|path| path == "AGENTS.md"), Vec::<&str>::new());
        assert_eq!(
            shown_clients(|path| path.starts_with(".c")),
            ["claude", "cline", "codex", "cursor"]
        );
    }
}
