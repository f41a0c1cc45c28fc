//! What shows that a project is worked on with a client: files and directories that bear its name.

/// Each client with the names that are its own, at the top of a project. What several clients share, such
/// as `AGENTS.md`, shows none of them.
const SIGNS: &[(&str, &[&str])] = &[
    ("aider", &[".aider.conf.yml"]),
    ("amp", &[".amp"]),
    ("antigravity", &[]),
    ("augment", &[".augment", ".augment-guidelines"]),
    ("claude", &[".claude", "CLAUDE.md", "CLAUDE.local.md"]),
    ("cline", &[".cline", ".clinerules"]),
    ("codex", &[".codex", "AGENTS.override.md"]),
    ("continue", &[".continue"]),
    ("copilot", &[".github/copilot-instructions.md", ".github/instructions", ".github/agents"]),
    // The same files show `copilot`.
    ("copilot-cli", &[]),
    ("copilot-vscode", &[]),
    ("crush", &[".crush", "crush.json", "CRUSH.md"]),
    ("cursor", &[".cursor", ".cursorrules"]),
    ("droid", &[".factory"]),
    ("gemini", &[".gemini", "GEMINI.md"]),
    ("goose", &[".goose", ".goosehints"]),
    ("junie", &[".junie"]),
    ("kilo", &[".kilo", ".kilocode", "kilo.json"]),
    ("kiro", &[".kiro"]),
    ("opencode", &[".opencode", "opencode.json", "opencode.jsonc"]),
    ("pi", &[".pi"]),
    ("qwen", &[".qwen", "QWEN.md"]),
    ("roo", &[".roo", ".roorules"]),
    ("trae", &[".trae"]),
    ("warp", &[".warp", "WARP.md"]),
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
            ["claude", "cline", "codex", "continue", "crush", "cursor"]
        );
    }
}
