//! Fields of agents (§3.4, §4).

use brief_dialects::portable::{AgentMode, ItemKind};

use super::support::{NONE, field_findings, files, findings, good, item, read, the, with};

fn agent(more: &str) -> Vec<String> {
    field_findings(ItemKind::Agent, more)
}

/// I07, N76: what an agent of schema 1 is without saying so.
#[test]
fn an_agent_has_defaults() {
    let registry = read(&files(&[("agents/a/AGENT.md", &good("a"))]));
    let agent = item(&registry, ItemKind::Agent, "a");
    assert_eq!(agent.mode(), AgentMode::Subagent);
    assert_eq!(agent.model(), "sonnet");
    assert_eq!(agent.tools(), None);
    assert_eq!(agent.preload_skills(), NONE);
}

/// I07.
#[test]
fn a_mode_is_one_of_three() {
    for mode in ["primary", "subagent", "all"] {
        assert_eq!(agent(&format!("mode: {mode}\naudience: [opencode]\n")), NONE, "{mode}");
    }
    for mode in ["main", "Primary", "\"\""] {
        assert_eq!(
            agent(&format!("mode: {mode}\n")),
            ["agents/a/AGENT.md:6 invalid-mode"],
            "{mode}"
        );
    }
    assert_eq!(agent("mode: [all]\n"), ["agents/a/AGENT.md:6 wrong-type"]);
}

/// N30: a mode that only one client has is better said to that client.
#[test]
fn a_mode_for_other_clients_is_hinted_at() {
    for mode in ["primary", "all"] {
        for audience in ["", "audience: [claude, opencode]\n"] {
            let registry = read(&files(&[(
                "agents/a/AGENT.md",
                &with("a", &format!("mode: {mode}\n{audience}"), "## T\n"),
            )]));
            assert_eq!(findings(&registry), ["agents/a/AGENT.md:6 mode-not-portable"]);
            let help = the(&registry, "mode-not-portable").help.as_ref().unwrap();
            assert!(help.contains("opencode: {mode:"), "{help}");
            assert!(registry.items[0].is_valid());
        }
    }
    assert_eq!(agent("mode: subagent\n"), NONE);
    assert_eq!(agent("opencode: {mode: primary}\n"), NONE);
}

/// N34: guaranteed aliases and whole names are silent, other short names are not.
#[test]
fn a_short_model_name_that_not_every_client_has_is_warned_of() {
    for model in ["sonnet", "opus", "haiku", "openai/gpt-5", "anthropic/claude-sonnet-4-6", "gpt-5"]
    {
        assert_eq!(agent(&format!("model: {model}\n")), NONE, "{model}");
    }
    for model in ["gpt", "Sonnet", "inherit"] {
        assert_eq!(agent(&format!("model: {model}\n")), ["agents/a/AGENT.md:6 unknown-model"]);
    }
}

/// R35: the eight capabilities of §4, and nothing else.
#[test]
fn tools_are_capabilities() {
    let all = "tools: [read, write, edit, bash, grep, glob, web-fetch, web-search]\n";
    assert_eq!(agent(all), NONE);
    assert_eq!(agent("tools: []\n"), NONE);
    for (tool, meant) in [
        ("Read", "`read`"),
        ("WebFetch", "`web-fetch`"),
        ("web_search", "`web-search`"),
        ("gerp", "`grep`"),
    ] {
        let text = with("a", &format!("tools:\n  - {tool}\n"), "## T\n");
        let registry = read(&files(&[("agents/a/AGENT.md", &text)]));
        assert_eq!(findings(&registry), ["agents/a/AGENT.md:7 unknown-tool"], "{tool}");
        let help = the(&registry, "unknown-tool").help.as_ref().unwrap();
        assert!(help.contains(meant), "{help}");
    }
    for tool in ["task", "\"GitHub:create_issue\""] {
        assert_eq!(agent(&format!("tools: [{tool}]\n")), ["agents/a/AGENT.md:6 unknown-tool"]);
    }
}

/// N35: no tools is something else than no list.
#[test]
fn an_empty_list_of_tools_is_a_list() {
    let text = with("a", "tools: []\n", "## T\n");
    let registry = read(&files(&[("agents/a/AGENT.md", &text)]));
    assert_eq!(item(&registry, ItemKind::Agent, "a").tools(), Some(Vec::new()));
}

/// R21: a skill may come from elsewhere.
#[test]
fn a_skill_that_is_not_here_is_warned_of() {
    let text = with("a", "preload-skills:\n  - here\n  - gone\n", "## T\n");
    let registry = read(&files(&[
        ("agents/a/AGENT.md", &text),
        ("skills/here/SKILL.md", &good("here")),
        ("rules/gone/RULE.md", &good("gone")),
    ]));
    assert_eq!(findings(&registry), ["agents/a/AGENT.md:8 unknown-skill"]);
    assert!(registry.items.iter().all(brief_dialects::portable::PortableItem::is_valid));
    assert_eq!(item(&registry, ItemKind::Agent, "a").preload_skills(), ["here", "gone"]);
}

/// Appendix A.4.
#[test]
fn the_documents_agent_is_well() {
    let text = "---\nschema: 1\nname: security-reviewer\ndescription: Use when reviewing code for \
                injection flaws, authentication issues, secret leaks, and insecure data handling\n\
                license: proprietary\naudience:\n  - claude\n  - copilot\n  - opencode\nmode: subagent\n\
                model: sonnet\ntools:\n  - read\n  - grep\n  - glob\n  - bash\npreload-skills:\n  \
                - security-baseline\nopencode:\n  temperature: 0.2\nmetadata:\n  version: \"1.0.0\"\n  \
                author: platform-security\n---\n\n## Security reviewer\n\nYou are a reviewer.\n";
    let registry = read(&files(&[
        ("agents/security-reviewer/AGENT.md", text),
        ("skills/security-baseline/SKILL.md", &good("security-baseline")),
    ]));
    assert_eq!(findings(&registry), NONE);
    let agent = item(&registry, ItemKind::Agent, "security-reviewer");
    assert_eq!(agent.tools().unwrap(), ["read", "grep", "glob", "bash"]);
    assert_eq!(agent.preload_skills(), ["security-baseline"]);
}
