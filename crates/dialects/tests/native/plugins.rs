//! Plugins that a project's settings enable.

use super::support::{ask, loaded, project};

const SETTINGS: &str = r#"{
  "extraKnownMarketplaces": {
    "own": {"source": {"source": "directory", "path": "./tools"}},
    "out": {"source": {"source": "directory", "path": "../elsewhere"}},
    "far": {"source": {"source": "github", "repo": "acme/plugins"}}
  },
  "enabledPlugins": {"money@own": true, "off@own": false, "gone@own": true, "a@out": true,
    "b@out": true, "c@far": true, "up@own": true}
}"#;

const LIST: &str = r#"{"name": "own", "plugins": [
  {"name": "money", "source": "./plugins/money", "skills": ["./more/audit"]},
  {"name": "off", "source": "./plugins/off"},
  {"name": "up", "source": "../../elsewhere"}
]}"#;

/// U06: skills and agents of a plugin that lies in the project are what Claude Code has by itself, and are
/// listed to others; one that leads out of the project is reported once.
#[test]
fn plugins_in_the_project_are_claudes() {
    let skill = |name: &str| format!("---\ndescription: {name}\n---\nDo it.\n");
    let (cents, audit, off) = (skill("Cents"), skill("Audit"), skill("Off"));
    let system = project(&[
        (".claude/settings.json", SETTINGS),
        ("tools/.claude-plugin/marketplace.json", LIST),
        ("tools/plugins/money/skills/cents/SKILL.md", &cents),
        ("tools/plugins/money/more/audit/SKILL.md", &audit),
        ("tools/plugins/money/agents/judge.md", &skill("Judge")),
        ("tools/plugins/off/skills/off/SKILL.md", &off),
        ("/elsewhere/skills/x/SKILL.md", &off),
        (".agents/skills/cents/SKILL.md", &cents),
    ]);
    let (by_claude, delivered) = loaded(&system, "src/a.py", "claude");
    assert_eq!(
        by_claude,
        [
            "tools/plugins/money/agents/judge.md",
            "tools/plugins/money/skills/cents/SKILL.md",
            "tools/plugins/money/more/audit/SKILL.md",
        ]
    );
    assert_eq!(delivered, [""; 0], "the same skill elsewhere is not listed again");
    let words = ask(&system, "src/a.py");
    assert_eq!(words.items.len(), 3, "{words:?}");
    assert_eq!(words.diagnostics, [".claude/settings.json:7 client/plugin-outside"]);
}

/// Unreadable settings say nothing.
#[test]
fn broken_settings_are_left_to_their_client() {
    for settings in
        ["", "{", "[]", "{\"enabledPlugins\": 1}", "{\"enabledPlugins\": {\"x\": true}}"]
    {
        let words = ask(&project(&[(".claude/settings.json", settings), ("CLAUDE.md", "T.")]), "x");
        assert_eq!(words.items.len(), 1, "{settings}");
        assert_eq!(words.diagnostics, [""; 0], "{settings}");
    }
}
