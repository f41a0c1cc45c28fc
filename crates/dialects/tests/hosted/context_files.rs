//! H100–H131: the global scope, formats, properties, migration. Each test quotes its line of the
//! checklist.

use brief_dialects::hosted::State;
use brief_system::MemorySystem;

use super::support::{
    ALWAYS, active, ask, codes, configured, files, mention, project, scopes, why_not, with_state,
};

fn with_header(header: &str) -> MemorySystem {
    project().with_file(".context/a.md", format!("---\n{header}\n---\nbody\n"))
}

fn state_of(header: &str, path: &str) -> State {
    ask(&with_header(header), path).items[0].state
}

/// H100 "`<homeDir>/<CCP>`."
#[test]
fn h100_global_context_is_in_the_home_directory() {
    let system = project().with_file("/home/u/.context/g.md", ALWAYS);
    let answer = ask(&system, "/p");
    assert_eq!((files(&answer), scopes(&answer)), (vec!["/home/u/.context/g.md"], vec!["global"]));
    let windows = MemorySystem::new("/p")
        .with_env("USERPROFILE", "/home/u")
        .with_file("/home/u/.context/g.md", ALWAYS);
    assert_eq!(ask(&windows, "/p").items.len(), 1);
    assert_eq!(ask(&MemorySystem::new("/p"), "/p").items.len(), 0);
}

/// H101 "`GLOBAL_CONTEXT_PATH` (absolute) replaces homeDir." X4: relative, missing, a file.
#[test]
fn h101_the_global_path_replaces_the_home_directory() {
    let system = project()
        .with_file("/home/u/.context/no.md", ALWAYS)
        .with_file("/shared/.context/g.md", ALWAYS)
        .with_file("/a-file", "");
    let asked = |value: &str| ask(&system.clone().with_env("GLOBAL_CONTEXT_PATH", value), "/p");
    assert_eq!(files(&asked("/shared")), ["/shared/.context/g.md"]);
    let relative = asked("shared");
    assert_eq!(files(&relative), ["/home/u/.context/no.md"]);
    assert_eq!(codes(&relative), ["env-global-relative"]);
    let missing = asked("/nowhere");
    assert_eq!((files(&missing), codes(&missing)), (vec![], vec![]));
    let file = asked("/a-file");
    assert_eq!((files(&file), codes(&file)), (vec![], vec!["unreadable"]));
}

/// H102 "Its value must not include CCP." H103 "If it does, that directory itself is used." X5: by
/// whole names.
#[test]
fn h102_h103_a_global_path_that_ends_in_the_client_path_is_the_directory() {
    for value in ["/shared/.context", "/shared/.context/", "/shared/x/../.context"] {
        let system = project()
            .with_env("GLOBAL_CONTEXT_PATH", value)
            .with_file("/shared/.context/g.md", ALWAYS);
        let answer = ask(&system, "/p");
        assert_eq!(files(&answer), ["/shared/.context/g.md"], "{value}");
        assert_eq!(codes(&answer), ["env-global-includes-client-path"], "{value}");
    }
    let system = project()
        .with_env("GLOBAL_CONTEXT_PATH", "/x/my.context")
        .with_file("/x/my.context/.context/g.md", ALWAYS);
    let answer = ask(&system, "/p");
    assert_eq!((files(&answer).len(), codes(&answer)), (1, vec![]));
}

/// H104 "The global config is read and merged (as lowest priority), MCP servers too."
#[test]
fn h104_the_global_configuration_is_merged() {
    let system = project().with_file(".context/a.md", ALWAYS).with_file(
        "/home/u/.context/context-config.json",
        r#"{"clientContext": {"excludeFiles": ["a.md"]}, "mcpServers": {"s": {"url": "u"}}}"#,
    );
    let answer = ask(&system, "/p");
    assert_eq!((files(&answer).len(), answer.mcp_servers.len()), (0, 1));
}

/// H105 "Global files are present in every query unless ignored by configuration."
#[test]
fn h105_global_files_are_always_there() {
    let system = project().with_file("/home/u/.context/g.md", ALWAYS);
    for path in ["/p", "/p/deep/new/x.ts", "/elsewhere/x.ts"] {
        assert_eq!(active(&ask(&system, path)), ["/home/u/.context/g.md"], "{path}");
    }
}

/// H110 "`.txt`: raw content, no front matter parsing." H111 "`.md` and `.mdc` are both accepted."
#[test]
fn h110_h111_formats() {
    let text = "---\ntrigger: always\n---\nbody\n";
    let system = project()
        .with_file(".context/a.txt", format!("\u{feff}{text}"))
        .with_file(".context/b.md", text)
        .with_file(".context/c.mdc", text)
        .with_file(".context/d.MD", text);
    let answer = ask(&system, "/p");
    assert_eq!(answer.items[0].content(), text);
    assert_eq!((answer.items[0].line, answer.items[1].line), (1, 4));
    assert_eq!(active(&answer), ["/p/.context/b.md", "/p/.context/c.mdc", "/p/.context/d.MD"]);
    assert_eq!(answer.items[1].content(), "body\n");
}

/// H112 "Front matter of .md/.mdc is parsed and used as properties." X40: BOM and CRLF.
#[test]
fn h112_front_matter_is_read() {
    for text in ["\u{feff}---\r\ntrigger: always\r\n---\r\nbody", "---\ntrigger: always\n...\nbody"]
    {
        let answer = ask(&project().with_file(".context/a.md", text), "/p");
        assert_eq!(answer.items[0].state, State::Active, "{text:?}");
        assert_eq!(answer.items[0].content(), "body", "{text:?}");
    }
}

/// H113 "`description` (D "")", H114 "`globs` (D all files)", H115 "`disabled` (D false)", H116
/// "`trigger` (D see X7)".
#[test]
fn h113_to_h116_defaults_of_properties() {
    for text in ["no header\n", "---\n---\nbody", "---\nother: 1\n---\n", "---\ntrigger:\n---\n"] {
        let answer = ask(&project().with_file(".context/a.md", text), "/p/x.ts");
        let item = &answer.items[0];
        assert_eq!(
            (item.file.description.as_str(), item.file.trigger.as_str()),
            ("", "manual"),
            "{text:?}"
        );
        assert_eq!(item.reason, "only when mentioned");
        assert_eq!(codes(&answer), [""; 0], "{text:?}");
    }
    assert_eq!(state_of("trigger: auto", "/p/deep/x.ts"), State::Active);
}

/// H117 "Properties filter the applicable use of the file." X12: globs start at the directory that
/// owns the context directory, for global files at the mounted one.
#[test]
fn h117_globs_are_anchored_at_the_owner() {
    let rule = |globs: &str| format!("---\ntrigger: auto\nglobs: {globs}\n---\n");
    let system = project()
        .with_file("/home/u/.context/g.md", rule("src/lib/*.ts"))
        .with_file(".context/m.md", rule("src/**/*.ts"))
        .with_file("src/.context/w.md", rule("lib/*.ts"))
        .with_file("src/.context/no.md", rule("src/lib/*.ts"));
    let answer = ask(&system, "/p/src/lib/x.ts");
    assert_eq!(
        active(&answer),
        ["/home/u/.context/g.md", "/p/.context/m.md", "/p/src/.context/w.md"]
    );
    let reason = &answer.items[2].reason;
    assert_eq!(reason, "glob `src/lib/*.ts` does not match lib/x.ts");
}

/// H118 "`disabled: true` -> the file is ignored."
#[test]
fn h118_disabled_files_are_ignored_even_when_mentioned() {
    let system = with_header("trigger: always\ndisabled: true");
    let answer = mention(&system, "/p", "a");
    assert_eq!(files(&answer), [""; 0]);
    assert_eq!(why_not(&answer, "/p/.context/a.md"), Some("is disabled in its frontmatter"));
}

/// H119 "Trigger values compare case-insensitively." X15: an unknown one is `manual`, `pattern` is
/// `auto`.
#[test]
fn h119_triggers_have_no_case() {
    for (trigger, state) in [
        ("ALWAYS", State::Active),
        ("\" Auto \"", State::Active),
        ("Pattern", State::Active),
        ("mAnUaL", State::Manual),
        ("sometimes", State::Manual),
        ("[always]", State::Manual),
    ] {
        assert_eq!(state_of(&format!("trigger: {trigger}"), "/p/x.ts"), state, "{trigger}");
    }
    let answer = ask(&with_header("trigger: alway"), "/p");
    assert_eq!(codes(&answer), ["frontmatter-invalid"]);
    assert_eq!(answer.diagnostics[0].help.as_deref(), Some("did you mean `always`?"));
    assert_eq!(answer.diagnostics[0].position().line, 2);
}

/// H120 "`always` -> always in the model context." X13: whatever the globs.
#[test]
fn h120_always_is_always() {
    let answer = ask(&with_header("trigger: always\nglobs: '*.css'"), "/p/x.ts");
    assert_eq!(answer.items[0].reason, "trigger is always");
    assert_eq!(answer.items[0].state, State::Active);
}

/// H121 "`auto` -> in when a file matching `globs` is referenced."
#[test]
fn h121_auto_follows_the_globs() {
    assert_eq!(state_of("trigger: auto\nglobs: ['*.css', '*.ts']", "/p/x.ts"), State::Active);
    assert_eq!(state_of("trigger: auto\nglobs: ['*.css']", "/p/x.ts"), State::Manual);
    assert_eq!(state_of("trigger: auto\nglobs: []", "/p/x.ts"), State::Manual);
    assert_eq!(state_of("trigger: auto\nglobs: ['[']", "/p/x.ts"), State::Manual);
    let answer = ask(&with_header("trigger: auto"), "/p");
    assert_eq!(answer.items[0].reason, "trigger is auto, but the query names no file");
}

/// H122 "`agent` -> listed to the model with its description." H123 "`agent` needs a description."
/// X14: without one it is not listed, but can be mentioned.
#[test]
fn h122_h123_agent_files_are_offered_by_their_description() {
    let answer = ask(&with_header("trigger: agent\ndescription: SQL"), "/p");
    assert_eq!(with_state(&answer, State::Listed), ["/p/.context/a.md"]);
    assert_eq!(answer.items[0].file.description, "SQL");
    let bare = with_header("trigger: agent");
    let answer = ask(&bare, "/p");
    assert_eq!(with_state(&answer, State::Manual), ["/p/.context/a.md"]);
    assert_eq!(codes(&answer), ["agent-without-description"]);
    assert_eq!(active(&mention(&bare, "/p", "a")), ["/p/.context/a.md"]);
}

/// H124 "`manual` -> only when the user names it."
#[test]
fn h124_manual_files_are_active_when_mentioned() {
    let system = project().with_file(".context/sub/rules.md", "r").with_file(".context/x.md", "");
    for name in [
        "rules",
        "rules.md",
        "@rules",
        "sub/rules",
        "sub/rules.md",
        ".context/sub/rules.md",
        "../.context/sub/rules.md",
        "/p/.context/sub/rules.md",
    ] {
        let answer = mention(&system, "/p/src/a.ts", name);
        assert_eq!(active(&answer), ["/p/.context/sub/rules.md"], "{name}");
    }
    for name in ["rule", "ules", "", "@", "md", "sub"] {
        assert_eq!(active(&mention(&system, "/p", name)), [""; 0], "{name}");
    }
}

/// H125 "Other properties may be accepted for backwards compatibility." X35 and the later names.
#[test]
fn h125_other_properties_are_understood() {
    assert_eq!(state_of("alwaysApply: true", "/p"), State::Active);
    assert_eq!(state_of("alwaysApply: false", "/p"), State::Manual);
    assert_eq!(state_of("alwaysApply: true\ntrigger: manual", "/p"), State::Manual);
    let header = "trigger: pattern\nappliesTo: '*.ts'\nglobs: '*.css'";
    assert_eq!(state_of(header, "/p/x.ts"), State::Active);
    let answer = ask(&with_header("trigger: agent\ninstructions: do\ndescription: d"), "/p");
    assert_eq!(answer.items[0].file.description, "do");
}

/// H126 "Content may be truncated." It is not: a file is read whole or, past the limit, not at all.
#[test]
fn h126_content_is_whole_or_absent() {
    let whole = "x".repeat(1024 * 1024);
    let system = project()
        .with_file(".context/a.md", &whole)
        .with_file(".context/b.md", format!("{whole}x"));
    let answer = ask(&system, "/p");
    assert_eq!(
        (files(&answer), answer.items[0].content().len()),
        (vec!["/p/.context/a.md"], whole.len())
    );
    assert_eq!(codes(&answer), ["limit-file-size"]);
}

/// H127 "The spec's two own example files parse and behave as evidently meant."
#[test]
fn h127_the_examples_of_the_document_work() {
    let script = "---\ndescription: \"Format preferences for JavaScript files\"\nglobs: **/*.{js|ts}, webpackconfig.js\ntrigger: auto\n---\n\nKeep the modules in alphabetical order.\n";
    let style = "---\ndescription: \"Format preferences for CSS files\"\nglobs:\n  - **/*.{css}\n  - **/*.{scss|less}\ntrigger: auto\n---\n\nDon't use @import for CSS files.\n";
    let system = project().with_file(".context/js.md", script).with_file(".context/css.md", style);
    for (path, expected) in [
        ("/p/a.js", vec!["/p/.context/js.md"]),
        ("/p/src/deep/a.ts", vec!["/p/.context/js.md"]),
        ("/p/webpackconfig.js", vec!["/p/.context/js.md"]),
        ("/p/a.css", vec!["/p/.context/css.md"]),
        ("/p/src/a.scss", vec!["/p/.context/css.md"]),
        ("/p/src/a.less", vec!["/p/.context/css.md"]),
        ("/p/src/a.rs", vec![]),
    ] {
        let answer = ask(&system, path);
        assert_eq!(active(&answer), expected, "{path}");
        assert_eq!(codes(&answer), ["frontmatter-repaired"]);
    }
    assert_eq!(ask(&system, "/p/a.css").items[0].content(), "\nDon't use @import for CSS files.\n");
}

/// H130 "Existing paths of other systems may stay in use." H131 "a config whose includeFiles points
/// at existing files makes those files context, extension or not."
#[test]
fn h130_h131_existing_files_are_named_by_includes() {
    let system = configured(r#""includeFiles": [".myairules", ".myai/rules/*", "logo"]"#)
        .with_file(".myairules", "be nice\n")
        .with_file(".myai/rules/x.md", ALWAYS)
        .with_file(".myai/rules/y.bin", "b")
        .with_file("logo", b"\x89PNG\0");
    let answer = ask(&system, "/p");
    assert_eq!(files(&answer), ["/p/.myai/rules/x.md", "/p/.myairules"]);
    assert_eq!((&*answer.items[1].name, answer.items[1].content()), (".myairules", "be nice\n"));
    assert_eq!(codes(&answer), ["unsupported-type"]);
}
