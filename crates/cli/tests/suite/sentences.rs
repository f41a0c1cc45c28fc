//! Sentences of the documents about what a user is told: a warning for each thing that has no effect.

use brief_testkit::{Output, Sandbox};

use crate::{project, trusted_project};

/// "Emit warnings for invalid files but continue"; "Unknown fields produce warnings, not errors".
#[test]
fn sctx_warns_of_what_is_lost_altered_or_unknown() {
    let texts: [(&[u8], &str, &str); 3] = [
        (b"context:\n  - content: x\n---\ncontext:\n  - content: LOST\n", "x", "document"),
        (b"context:\n  - content: caf\xe9\n", "caf", "UTF-8"),
        (b"context:\n  - content: x\n    mtach: ['*.py']\n", "x", "mtach"),
    ];
    for (text, delivered, warned) in texts {
        let project = project().with_file("AGENTS.yaml", text).linked_as("sctx");
        let output = project.run(&["context", "f"]);
        assert!(output.stdout.contains(delivered) && output.code == Some(0), "{output}");
        assert!(output.stderr.contains("AGENTS.yaml"), "{output}");
        assert!(output.stderr.contains(warned), "{output}");
        let output = project.run(&["decisions", "f"]);
        assert!(output.stderr.contains(warned) && output.code == Some(0), "{output}");
    }
    let fine = project().with_file("AGENTS.yaml", "context:\n  - content: x\n").linked_as("sctx");
    assert_eq!(fine.run(&["context", "f"]).stderr, "");
}

fn including(pattern: &str) -> Sandbox {
    let config = format!(r#"{{"clientContext": {{"includeFiles": ["{pattern}"]}}}}"#);
    project().with_file(".context/context-config.json", config).with_dir(".git")
}

fn context(project: &Sandbox) -> Output {
    project.run(&["context", ".", "--only", "context-dir"])
}

/// "`.context/config.json` or `.context/config.yaml` MUST be reserved" (X1: never loaded), whatever names it.
#[test]
fn a_reserved_name_is_never_context() {
    for (name, pattern) in [
        (".context/config.json", ".context/config.json"),
        (".context/config.yaml", ".context/config.yaml"),
        (".context/CONFIG.json", ".context/CONFIG.json"),
        ("below/.context/config.json", "below/.context/config.json"),
        ("below/.context/config.json", "**/.context/config.json"),
    ] {
        let output = context(&including(pattern).with_file(name, "{\"secret\": 1}"));
        assert!(!output.stdout.contains("config"), "{name} by {pattern}: {output}");
        assert!(output.stderr.contains("the name is reserved"), "{name} by {pattern}: {output}");
    }
    // Elsewhere it is a name like any other.
    let output = context(&including("docs/config.json").with_file("docs/config.json", "{}"));
    assert!(output.stdout.contains("config (--mention config)"), "{output}");
    // CLIENT_CONTEXT_PATH: the same in another context directory.
    let other = including("x").with_env("CLIENT_CONTEXT_PATH", ".ai/ctx");
    let other = other
        .with_file(
            ".ai/ctx/context-config.json",
            r#"{"clientContext": {"includeFiles": [".ai/ctx/config.json"]}}"#,
        )
        .with_file(".ai/ctx/config.json", "{}");
    let output = context(&other);
    assert!(!output.stdout.contains("config"), "{output}");
}

/// "MUST be included in addition to what may already be found": a pattern that adds nothing is named.
#[test]
fn a_pattern_that_includes_nothing_is_named() {
    let project = including("docs").with_file("docs/x.md", "Text.\n");
    for args in [&["context", ".", "--only", "context-dir"][..], &["lint"]] {
        let output = project.run(args);
        assert!(
            output.stderr.contains("context-dir/include-directory")
                || output.stdout.contains("context-dir/include-directory"),
            "{output}"
        );
        assert!(!format!("{output}").contains("context-dir/unused-pattern"), "{output}");
    }
    let linted = including("nope/**").with_file("docs/x.md", "Text.\n").run(&["lint"]);
    assert!(
        linted.stdout.contains("context-dir/unused-pattern") && linted.stdout.contains("nope/**"),
        "{linted}"
    );
    // A pattern for what is below a directory gets no advice to ask for that.
    for pattern in [".context/", "docs/**", "docs/"] {
        let project = including(pattern).with_file(".context/config.json", "{}").with_dir("docs");
        let linted = project.run(&["lint"]);
        assert!(
            !format!("{linted}").contains("context-dir/include-directory"),
            "{pattern}: {linted}"
        );
        assert!(linted.stdout.contains(pattern), "{pattern}: {linted}");
    }
    // A pattern of the top can be meant for a directory below.
    for (pattern, file) in
        [("docs/", "docs/x.md"), ("docs/*.md", "docs/x.md"), ("notes/*.md", "a/b/notes/x.md")]
    {
        let linted = including(pattern).with_file(file, "Text.\n").run(&["lint"]);
        assert!(linted.stderr.contains("No problems"), "{pattern}: {linted}");
    }
}

/// "Only included when explicitly mentioned": a mention of nothing is not silent.
#[test]
fn a_mention_of_nothing_is_named() {
    let project = project()
        .with_file(".context/notes.txt", "Only when asked.\n")
        .with_file(".context/off.md", "---\ndisabled: true\n---\nOff.\n")
        .with_file(".cursor/rules/hand.mdc", "---\nalwaysApply: false\n---\nBy hand.\n")
        .with_file("a.py", "");
    for args in [&["context", "a.py"][..], &["context", "a.py", "--json"], &["why", "a.py"]] {
        let output = project.run(&[args, &["--mention", "nottes"]].concat());
        assert!(format!("{output}").contains("`nottes` adds nothing"), "{output}");
        assert!(format!("{output}").contains("did you mean `notes`?"), "{output}");
        assert_eq!(output.code, Some(0), "{output}");
    }
    for known in ["notes", "@notes", "notes.txt", ".context/notes.txt", "off", "hand", "hand.mdc"] {
        let output = project.run(&["context", "a.py", "--mention", known]);
        assert!(!output.stderr.contains("adds nothing"), "{known}: {output}");
    }
}

/// "If the file contains front matter", as Jekyll has it on the first line (ruling S05).
#[test]
fn front_matter_after_a_blank_line_is_named() {
    let output = context(&project().with_file(".context/1.md", "\n---\ntrigger: always\n---\nB\n"));
    assert!(output.stdout.contains('B'), "{output}");
    assert!(output.stderr.contains("begins after a blank line"), "{output}");
}

/// "equivalent to passing `-s` flags", "Defaults to `true` if not specified": a run says what `lint` says of the
/// fields of the files that it uses.
#[test]
fn a_run_warns_of_fields_that_have_no_effect() {
    let header = |field: &str| format!("---\n{field}\n---\nBody ${{v}}.\n");
    for (field, code) in [
        ("selectors: go", "tasks/wrong-type"),
        ("selectors: [go]", "tasks/wrong-type"),
        ("expand: no", "tasks/wrong-type"),
        ("selectors: {a: {b: c}}", "tasks/wrong-type"),
        ("selectors: {a: [[b]]}", "tasks/wrong-type"),
        ("selectors: {a: null}", "tasks/wrong-type"),
        ("languages: {a: b}", "tasks/wrong-type"),
        ("languages: [[go]]", "tasks/wrong-type"),
        ("model: [a]", "tasks/wrong-type"),
        ("task_name: {a: b}", "tasks/wrong-type"),
        ("single_shot: maybe", "tasks/wrong-type"),
        ("mcp_server: x", "tasks/wrong-type"),
        ("mcp_server: {type: stdio}", "tasks/mcp-server-invalid"),
        ("mcp_server: {command: a, args: b}", "tasks/mcp-server-invalid"),
        ("mcp_server: {command: a, env: [b]}", "tasks/mcp-server-invalid"),
        ("mcp_server: {url: a, type: ws}", "tasks/mcp-server-invalid"),
        ("mcp_server: {url: a, headers: b}", "tasks/mcp-server-invalid"),
        ("selector:\n  a: b", "tasks/unknown-field"),
        ("timeout: ten", "tasks/invalid-timeout"),
    ] {
        let project = trusted_project().with_file(".agents/tasks/t.md", header(field));
        let linted = project.run(&["lint"]);
        assert!(linted.stdout.contains(code), "{field}: {linted}");
        for (program, args) in
            [("brief", &["task", "t", "-p", "v=1"][..]), ("coding-context", &["-p", "v=1", "t"])]
        {
            let project = trusted_project().with_file(".agents/tasks/t.md", header(field));
            let output = project.linked_as(program).run(args);
            assert!(output.stdout.contains("Body"), "{program} {field}: {output}");
            assert_eq!(output.stderr.matches(code).count(), 1, "{program} {field}: {output}");
        }
        // A rule that is used, and one that is not.
        let rule = |header: &str| format!("---\n{header}\nexpand: no\n---\nRule.\n");
        let project = trusted_project()
            .with_file(".agents/tasks/t.md", "Body.\n")
            .with_file(".agents/rules/used.md", rule("a: b"))
            .with_file(".agents/rules/other.md", rule("stage: plan"));
        let output = project.run(&["task", "t", "-s", "stage=code"]);
        assert!(
            output.stderr.contains("used.md") && !output.stderr.contains("other.md"),
            "{output}"
        );
    }
    // What a run refuses is an error for `lint`.
    for field in ["agent: [claude]", "agent: {a: b}", "agent: clod"] {
        let project = trusted_project().with_file(".agents/tasks/t.md", header(field));
        for args in [&["lint"][..], &["task", "t"]] {
            assert_eq!(project.run(args).code, Some(1), "{field}: {args:?}");
        }
    }
    let fine = trusted_project().with_file(".agents/tasks/t.md", header("expand: false"));
    assert_eq!(fine.run(&["task", "t"]).stderr, "");
}

const ITEM: &str = "schema: 1\nlicense: MIT\ndescription: Use when testing\n";

/// §8.1: "suggesting an upgrade of the implementing tool".
#[test]
fn an_item_of_a_newer_schema_suggests_an_upgrade() {
    let newer = ITEM.replace("schema: 1", "schema: 2");
    let project = project()
        .with_file("reg/rules/x/RULE.md", format!("---\nname: x\n{newer}---\n\n## X\n\nText.\n"))
        .with_file("app/brief.toml", "");
    for args in [&["-C", "app", "add", "../reg", "x"][..], &["-C", "app", "add", "../reg"]] {
        let output = project.run(args);
        assert_eq!(output.code, Some(1), "{output}");
        assert!(output.stderr.contains("upgrade brief"), "{output}");
        assert!(!output.stderr.contains("fix it in the source"), "{output}");
    }
}

/// §2.4, "standard markdown relative links": an escaped link leads to the file that was copied.
#[test]
fn an_escaped_link_leads_to_its_file() {
    let body = "## X\n\nSee [a](docs/a\\(1\\).md).\n";
    let project = project()
        .with_file("rules/x/RULE.md", format!("---\nname: x\n{ITEM}---\n\n{body}"))
        .with_file("rules/x/docs/a(1).md", "Text.\n");
    let linted = project.run(&["lint"]);
    assert!(!format!("{linted}").contains("missing-file"), "{linted}");
    assert!(!format!("{linted}").contains("broken-link"), "{linted}");
    let output = project.run(&["registry", "build"]);
    assert_eq!(output.code, Some(0), "{output}");
    let rule = project.read("dist/.claude/rules/x.md");
    assert!(rule.contains("a%281%29.md"), "{rule}");
}

/// §2.4: a picture in HTML travels as one in Markdown does.
#[test]
fn a_link_of_html_leads_to_its_file() {
    let body = "## X\n\n<img src=\"docs/p.png\" alt=\"p\">\n\n<a href='nope.md'>gone</a>\n";
    let project = project()
        .with_file("rules/x/RULE.md", format!("---\nname: x\n{ITEM}---\n\n{body}"))
        .with_file("rules/x/docs/p.png", b"\x89PNG\r\n\x1a\n\0\xff");
    let linted = project.run(&["lint"]);
    assert_eq!(linted.stdout.matches("item/missing-file").count(), 1, "{linted}");
    assert!(linted.stdout.contains("nope.md"), "{linted}");
    assert_eq!(project.run(&["registry", "build"]).code, Some(0));
    let rule = project.read("dist/.claude/rules/x.md");
    assert!(rule.contains("<img src=\"../../.agents/rules/x/docs/p.png\" alt=\"p\">"), "{rule}");
}

/// §3.2, "Glob patterns": what clients read in different ways is a warning, what is no glob an error.
#[test]
fn a_doubtful_pattern_of_a_scope_is_named() {
    for (pattern, severity) in [
        ("", "error"),
        ("src/[", "error"),
        ("src/{a", "error"),
        ("!test/**", "warning"),
        ("../x/**", "warning"),
        ("{a,../b}/*.ts", "warning"),
        ("~/x", "warning"),
        ("C:/x", "warning"),
        ("./src/**", "warning"),
        ("src\\\\api/*.ts", "warning"),
        (" src/**", "warning"),
    ] {
        let scope = format!("scope:\n  paths: [\"{pattern}\"]\n");
        let item = format!("---\nname: x\n{ITEM}{scope}---\n\n## X\n\nText.\n");
        let linted = project().with_file("rules/x/RULE.md", item).run(&["lint"]);
        let found = format!("{severity}[item/invalid-pattern]");
        assert!(linted.stdout.contains(&found), "{pattern}: {linted}");
    }
    for pattern in
        ["src/**/*.ts", "*.md", "a b/c.ts", "[ab]/x?.py", "**", "src/\\\\[id\\\\].ts", "日本/*"]
    {
        let scope = format!("scope:\n  paths: [\"{pattern}\"]\n");
        let item = format!("---\nname: x\n{ITEM}{scope}---\n\n## X\n\nText.\n");
        let linted = project().with_file("rules/x/RULE.md", item).run(&["lint"]);
        assert!(!linted.stdout.contains("invalid-pattern"), "{pattern}: {linted}");
    }
}

/// §4, "client-specific internal forms SHOULD NOT appear in SSOT content"; §5.3: also in inline code.
#[test]
fn a_clients_name_of_a_tool_is_named_in_inline_code() {
    let body = "## X\n\nUse `mcp__github__create_issue`, `#tool:read` and the `Read` tool.\n\n```text\nmcp__a__b #tool:x\n```\n";
    let item = format!("---\nname: x\n{ITEM}---\n\n{body}");
    let linted = project().with_file("rules/x/RULE.md", item).run(&["lint"]);
    assert_eq!(linted.stdout.matches("warning[item/mcp-internal-name]").count(), 1, "{linted}");
    assert_eq!(linted.stdout.matches("warning[item/client-tool-name]").count(), 2, "{linted}");
    assert!(linted.stderr.contains("3 warnings in 1 file"), "{linted}");
}

/// A lock of a newer version asks for an upgrade, and for nothing that would lose what it says.
#[test]
fn a_newer_lock_asks_for_an_upgrade_alone() {
    let project = crate::install::consumer()
        .with_file("brief.toml", "")
        .with_file("brief.lock", "version = 99\n");
    for args in [
        &["sync"][..],
        &["update"],
        &["list"],
        &["remove", "--all"],
        &["sync", "--frozen"],
        &["doctor"],
    ] {
        let output = project.run(args);
        assert_eq!(output.code, Some(2), "{args:?}: {output}");
        assert!(output.stderr.contains("has version 99"), "{args:?}: {output}");
        assert!(output.stderr.contains("upgrade `brief`"), "{args:?}: {output}");
        assert!(!output.stderr.contains("remove it"), "{args:?}: {output}");
        assert_eq!(project.read("brief.lock"), "version = 99\n");
    }
}

/// A policy that cannot be read, also the part about signatures, keeps everything from being written.
#[test]
fn a_policy_that_cannot_be_read_stops_an_installation() {
    let item = format!("---\nname: x\n{ITEM}---\n\n## X\n\nText.\n");
    let large = format!("#{}\n", "x".repeat(2 * 1024 * 1024));
    for policy in [
        "[oci.signers]\n\"a.example/*\" = 3\n",
        "[oci.signers]\n\"a.example/*\" = [\"md5:1\"]\n",
        "[oci.signers\n",
        "[oci]\nsigner = 1\n",
        "\u{0}",
        &large,
    ] {
        let project =
            crate::install::consumer().with_file("reg/rules/x/RULE.md", &item).with_dir("app/.git");
        let place = project.home().join(".config/brief");
        std::fs::create_dir_all(&place).unwrap();
        std::fs::write(place.join("policy.toml"), policy).unwrap();
        let output = project.run(&["-C", "app", "add", "../reg"]);
        assert_eq!(output.code, Some(2), "{output}");
        assert!(output.stderr.contains("policy.toml"), "{output}");
        let names = std::fs::read_dir(project.path().join("app")).unwrap().count();
        assert_eq!(names, 1, "{output}");
        // The same where the file is a link to one that is not mounted.
        std::fs::remove_file(place.join("policy.toml")).unwrap();
        std::os::unix::fs::symlink("/nowhere/policy.toml", place.join("policy.toml")).unwrap();
        let output = project.run(&["-C", "app", "add", "../reg"]);
        assert_eq!(output.code, Some(2), "{output}");
        assert!(output.stderr.contains("is a broken link"), "{output}");
    }
}

/// A client file of 10 MB in a source is named, with its limit, and nothing is written.
#[test]
fn a_client_file_that_is_too_large_is_named() {
    let item = format!("---\nname: x\n{ITEM}---\n\n## X\n\nText.\n");
    let project = project()
        .with_file("reg/rules/x/RULE.md", item)
        .with_file("reg/.brief/clients/acme.toml", format!("#{}", "x".repeat(10 * 1024 * 1024)))
        .with_dir("app/.git");
    let output = project.run(&["-C", "app", "add", "../reg", "--client", "acme"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stdout.contains("larger than 1048576 bytes"), "{output}");
    assert!(output.stderr.contains("nothing was changed"), "{output}");
    assert_eq!(std::fs::read_dir(project.path().join("app")).unwrap().count(), 1, "{output}");
    // A project's own file: whoever names the client is told why it is not known.
    for args in [&["lint"][..], &["build"], &["context", ".", "--client", "acme"]] {
        let output = project.run(&[&["-C", "reg"], args].concat());
        assert!(output.code != Some(0), "{args:?}: {output}");
        assert!(format!("{output}").contains("larger than 1048576 bytes"), "{args:?}: {output}");
    }
}

/// An item with 10,000 capabilities is refused with their number, and nothing is written; `lint` says it before.
#[test]
fn an_item_with_too_many_capabilities_is_refused() {
    let hosts: Vec<String> =
        (0..10_000).map(|host| format!("- https://h{host}.example.com\n")).collect();
    let body = hosts.concat();
    let item = format!("---\nname: x\n{ITEM}---\n\n## X\n\n{body}");
    let project = project().with_file("reg/rules/x/RULE.md", item).with_dir("app/.git");
    let output = project.run(&["-C", "app", "add", "../reg"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stderr.contains("capabilities, more than 2000"), "{output}");
    assert!(!project.path().join("app/brief.toml").exists(), "{output}");
    assert!(!project.path().join("app/brief.lock").exists(), "{output}");
    let linted = project.run(&["-C", "reg", "lint", "--strict"]);
    assert_eq!(linted.code, Some(1), "{linted}");
    assert!(linted.stdout.contains("capabilities, more than 2000"), "{linted}");
}

/// §2.3: the file for one client "MUST NOT include YAML frontmatter", also when it is empty.
#[test]
fn a_file_for_one_client_has_no_front_matter() {
    for (start, is_refused) in [
        ("---\n---\n", true),
        ("---\n\n---\n", true),
        ("---\na: b\n---\n", true),
        ("Text.\n\n---\n", false),
    ] {
        let project = project()
            .with_file("rules/x/RULE.md", format!("---\nname: x\n{ITEM}---\n\n## X\n\nText.\n"))
            .with_file("rules/x/RULE.claude.md", format!("{start}\n## X\n\nOther.\n"));
        let linted = project.run(&["lint"]);
        assert_eq!(
            linted.stdout.contains("item/override-frontmatter"),
            is_refused,
            "{start}: {linted}"
        );
    }
}

/// "must execute successfully before the agent performs any work": no MCP server starts before the startup tool is done.
#[test]
fn no_server_starts_before_the_gates() {
    let agent = |answer: &str| {
        format!(
            "---\nrequired:\n  startup: ok\nabilities:\n  allow: [tool, mcp]\n---\n# T\nD.\n\n## System\n\nS.\n\n## Tools\n\n```js\nreturn {{ ok: {{ fn: () => {answer}, scheme: {{ name: \"ok\", description: \"d\", parameters: {{ type: \"object\", properties: {{}} }} }} }} }};\n```\n"
        )
    };
    for (answer, starts) in [("false", false), ("true", true)] {
        let project = crate::trusted_project()
            .with_file("agents/dev_t.agent.md", agent(answer))
            .with_file(
                "m.json",
                r#"{"mcpServers": {"x": {"command": "sh", "args": ["-c", "echo ran > ran.txt"]}}}"#,
            )
            .with_env("OPENAI_BASE_URL", "http://127.0.0.1:9/v1");
        let output = project.spawn(&[
            "agent",
            "run",
            "agents/dev_t.agent.md",
            "--mcp-config",
            "m.json",
            "--grant",
            "mcp",
            "--exec",
            "--input",
            "hi",
            "--model",
            "m",
        ]);
        assert_eq!(project.path().join("ran.txt").exists(), starts, "{answer}: {output}");
        assert_eq!(output.stderr.contains("starting x"), starts, "{answer}: {output}");
        assert_eq!(output.code, Some(1), "{answer}: {output}");
    }
}

fn tools(code: &str) -> Sandbox {
    project().with_file(
        "agents/dev_t.agent.md",
        format!("# T\nD.\n\n## System\n\nS.\n\n## Tools\n\n```js\n{code}\n```\n"),
    )
}

/// "The code must return an object": checked without running it.
#[test]
fn the_code_of_an_agent_is_parsed_and_not_run() {
    if !crate::has_brief_agent() {
        return;
    }
    for (code, line) in [
        ("return {", ":"),
        ("return {{", ":"),
        ("const a = ;\nreturn {};", ":11"),
        ("", ":"),
        ("  ", ":"),
        ("// none yet", ":"),
        ("/* none */ // yet\n\n/**/", ":"),
    ] {
        let project = tools(code);
        for args in [&["agent", "check", "agents/dev_t.agent.md"][..], &["lint"]] {
            let output = project.spawn(args);
            assert_eq!(output.code, Some(1), "{code}: {output}");
            let place = format!("dev_t.agent.md{line}");
            assert!(
                output.stdout.contains("agent-file/tools-code") && output.stdout.contains(&place),
                "{code}: {output}"
            );
        }
    }
    // What runs to no end, or leaves the function, is not run.
    for code in [
        "while (true) {}\nreturn {};",
        "({})",
        "return { a: await 1 };",
        "with (Math) { }\nreturn {};",
        "throw 1;",
    ] {
        let project = tools(code);
        for args in [&["agent", "check", "agents/dev_t.agent.md"][..], &["lint"]] {
            let output = project.spawn(args);
            assert!(!format!("{output}").contains("tools-code"), "{code}: {output}");
            assert!(!format!("{output}").contains("not checked"), "{code}: {output}");
        }
    }
}

/// G7, "naming what would have run".
#[test]
fn servers_that_do_not_start_are_named() {
    let project = project().with_file(
        ".mcp.json",
        r#"{"mcpServers": {"evil": {"command": "touch", "args": ["ran.txt"]}}}"#,
    );
    let output = project.run(&["mcp", "servers", "--check"]);
    assert!(output.stderr.contains("servers not started (`evil`)"), "{output}");
    assert!(!project.path().join("ran.txt").exists());
}
