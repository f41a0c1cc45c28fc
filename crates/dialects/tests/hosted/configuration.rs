//! H40–H83: the configuration file, its merge, and MCP servers. Each test quotes its line of the
//! checklist.

use std::path::Path;

use brief_dialects::hosted::{Anchor, Connection, HostedOptions, Query, resolve_with};
use brief_system::MemorySystem;

use super::support::{
    ALWAYS, ask, client_context, codes, configured, files, project, scopes, why_not,
};

const CONFIG: &str = ".context/context-config.json";

fn patterns(list: &[brief_dialects::hosted::ConfigPattern]) -> Vec<&str> {
    list.iter().map(|pattern| pattern.pattern.as_str()).collect()
}

/// A project whose configurations in four scopes set one field each.
fn layered(global: &str, mounted: &str, ancestor: &str, working: &str) -> MemorySystem {
    project()
        .with_file("/home/u/.context/context-config.json", client_context(global))
        .with_file(CONFIG, client_context(mounted))
        .with_file("a/.context/context-config.json", client_context(ancestor))
        .with_file("a/b/.context/context-config.json", client_context(working))
        .with_file("/home/u/.context/g.md", ALWAYS)
        .with_file(".context/m.md", ALWAYS)
        .with_file("a/.context/a.md", ALWAYS)
        .with_file("a/b/.context/w.md", ALWAYS)
}

/// H40 "Location `<dir>/<CCP>/context-config.json`, for the global directory, MD, every ancestor and
/// WD." H43 "Configuration may exist at nested levels."
#[test]
fn h40_h43_every_level_has_its_configuration() {
    let exclude = |name: &str| format!("\"excludeFiles\": [\"{name}\"]");
    let system = layered(&exclude("g"), &exclude("m"), &exclude("a"), &exclude("w"));
    let answer = ask(&system, "/p/a/b");
    let expected = ["context-config.json", "g", "m", "a", "w"];
    assert_eq!(patterns(&answer.config.exclude_files), expected);
}

/// H41 "Zero-length content is valid and means defaults."
#[test]
fn h41_an_empty_configuration_is_the_default() {
    for text in ["", " \n", "\u{feff}", "{}"] {
        let answer = ask(&project().with_file(CONFIG, text), "/p");
        assert_eq!(codes(&answer), [""; 0], "{text:?}");
        assert_eq!(answer.config, brief_dialects::hosted::Config::default());
    }
}

/// H42 "Otherwise JSON." H45 "Invalid configuration produces a warning." H46 "Invalid configuration
/// never stops start or work."
#[test]
fn h42_h45_h46_what_is_not_json_is_ignored_with_a_warning() {
    let deep = "[".repeat(100_000);
    for text in ["{ // c\n}", "{a: 1}", "{\"a\": 1,}", "{'a': 1}", "{} x", "{", "\u{0}", &deep] {
        let system = project().with_file(CONFIG, text).with_file(".context/a.md", ALWAYS);
        let answer = ask(&system, "/p");
        assert_eq!(codes(&answer), ["config-invalid-json"], "{text:.20}");
        assert_eq!(files(&answer), ["/p/.context/a.md"]);
    }
    let system = project().with_file(CONFIG, b"{\"\xff\": 1}");
    assert_eq!(codes(&ask(&system, "/p")), ["config-invalid-json"]);
}

/// H44 "It is validated against the type signature." X26: only the bad field is dropped. X25: a
/// plain string is one exclude pattern, and no include pattern.
#[test]
fn h44_a_bad_field_is_dropped_alone_with_its_place() {
    for (fields, line) in [
        (
            r#""includeFiles": "x""#,
            "`includeFiles` is text, not a list of patterns, and is ignored",
        ),
        (r#""includeFiles": [1]"#, "a pattern in `includeFiles` is a number, and is ignored"),
        (r#""includeFiles": [""]"#, "an empty pattern in `includeFiles` is ignored"),
        (
            r#""ignoreGlobalContext": "true""#,
            "`ignoreGlobalContext` is text, not `true` or `false`, and is ignored",
        ),
    ] {
        let both = format!("{fields}, \"excludeFiles\": [\"a.md\"]");
        let system = configured(&both).with_file(".context/a.md", ALWAYS);
        let answer = ask(&system, "/p");
        assert_eq!(codes(&answer), ["config-invalid-field"], "{fields}");
        assert_eq!(answer.diagnostics[0].message, line);
        assert_eq!(files(&answer), [""; 0], "{fields}");
    }
    let text = "{\n  \"clientContext\": {\n    \"excludeFiles\": \"a.md\"\n  }\n}";
    let system = project().with_file(CONFIG, text).with_file(".context/a.md", ALWAYS);
    let answer = ask(&system, "/p");
    let position = answer.diagnostics[0].position();
    assert_eq!((position.line, position.column), (3, 21));
    assert_eq!(files(&answer), [""; 0]);
    for text in ["[]", "1", "\"x\"", "{\"clientContext\": []}", "{\"mcpServers\": 1}"] {
        let answer = ask(&project().with_file(CONFIG, text), "/p");
        assert_eq!(codes(&answer), ["config-invalid-field"], "{text}");
    }
}

/// X27: unknown keys are ignored with a warning, and a hint where it is clear what was meant.
#[test]
fn unknown_keys_are_ignored_with_a_hint() {
    for (text, help) in [
        ("{\"include\": []}", "write it as `clientContext.includeFiles`"),
        ("{\"clientContxt\": {}}", "did you mean `clientContext`?"),
        ("{\"clientContext\": {\"excludeFile\": []}}", "did you mean `excludeFiles`?"),
    ] {
        let answer = ask(&project().with_file(CONFIG, text), "/p");
        assert_eq!(codes(&answer), ["config-unknown-key"], "{text}");
        assert_eq!(answer.diagnostics[0].help.as_deref(), Some(help));
    }
    let schema = "{\"$schema\": \"https://example.com\"}";
    assert_eq!(codes(&ask(&project().with_file(CONFIG, schema), "/p")), [""; 0]);
}

/// H47 "`clientContext` optional; `mcpServers` optional." H48 "`includeFiles` = `["*"]`", H49
/// "`excludeFiles` = `["context-config.json"]`", H50, H51 "= false", when missing.
#[test]
fn h47_to_h51_defaults() {
    let answer = ask(&project(), "/p");
    assert_eq!(patterns(&answer.config.include_files), ["*"]);
    assert_eq!(patterns(&answer.config.exclude_files), ["context-config.json"]);
    assert!(!answer.config.ignore_global_context.value);
    assert!(!answer.config.ignore_ancestor_context.value);
    assert!(answer.mcp_servers.is_empty());
}

/// H52 "`includeFiles` adds in addition to what may already be found: it never narrows."
#[test]
fn h52_includes_add_and_never_narrow() {
    let system = configured(r#""includeFiles": ["docs/*.md"]"#)
        .with_file("docs/d.md", ALWAYS)
        .with_file(".context/a.md", ALWAYS);
    let answer = ask(&system, "/p");
    assert_eq!(files(&answer), ["/p/.context/a.md", "/p/docs/d.md"]);
    assert_eq!(scopes(&answer), ["working", "include"]);
}

/// H53 "include/exclude patterns are relative to the AI working directory." X6: for every author;
/// a pattern that was meant for its configuration's directory is reported, and the user may say so.
#[test]
fn h53_includes_are_relative_to_the_working_directory() {
    let system = configured(r#""includeFiles": ["docs/*.md"]"#)
        .with_file("docs/root.md", ALWAYS)
        .with_file("src/docs/here.md", ALWAYS)
        .with_dir("lib");
    assert_eq!(files(&ask(&system, "/p/src")), ["/p/src/docs/here.md"]);
    let answer = ask(&system, "/p/lib");
    assert_eq!((files(&answer), codes(&answer)), (vec![], vec!["include-not-here"]));
    assert_eq!(
        answer.diagnostics[0].message,
        "`docs/*.md` matches nothing from /p/lib, but docs/root.md next to this configuration"
    );
    let query = Query { mounted: Path::new("/p"), path: Path::new("/p/lib"), mentions: &[] };
    let options = HostedOptions { anchor: Anchor::ConfigDirectory, ..HostedOptions::default() };
    assert_eq!(files(&resolve_with(&system, &query, options)), ["/p/docs/root.md"]);
}

/// H54 "A file matched by both include and exclude is excluded." H68 "exclusion comes after
/// inclusion."
#[test]
fn h54_h68_exclusion_comes_last() {
    let system = configured(r#""includeFiles": ["docs/a.md"], "excludeFiles": ["docs/a.md"]"#)
        .with_file("docs/a.md", ALWAYS);
    let answer = ask(&system, "/p");
    assert_eq!(files(&answer), [""; 0]);
    assert_eq!(
        why_not(&answer, "/p/docs/a.md"),
        Some("excluded by `docs/a.md` from /p/.context/context-config.json")
    );
}

/// H55 "`excludeFiles` matches are not in the final set, wherever they came from." X6c: every
/// spelling of a path counts.
#[test]
fn h55_excludes_reach_everywhere_in_every_spelling() {
    for pattern in [
        "secret.md",
        "**/secret.md",
        "sub/secret.md",
        ".context/sub/secret.md",
        "../.context/sub/secret.md",
        "p/.context/sub/secret.md",
        "/p/.context/sub/secret.md",
        "./sub/secret.md",
        "sub/",
        "**/sub/**",
        "{sub|other}/*",
    ] {
        let system = configured(&format!("\"excludeFiles\": [\"{pattern}\"]"))
            .with_file(".context/sub/secret.md", ALWAYS)
            .with_file(".context/ok.md", ALWAYS)
            .with_dir("src");
        assert_eq!(files(&ask(&system, "/p/src")), ["/p/.context/ok.md"], "{pattern}");
    }
    let system =
        configured(r#""excludeFiles": ["g.md"]"#).with_file("/home/u/.context/g.md", ALWAYS);
    assert_eq!(files(&ask(&system, "/p")), [""; 0]);
}

/// H56 "A system may add to the defaults but must not conflict with them." H59 "The config file
/// itself is never a context file." X32: nor is one in a subdirectory, and it is not read.
#[test]
fn h56_h59_the_configuration_is_never_context() {
    let system = configured(
        r#""includeFiles": [".context/*", ".context/context-config.json"], "excludeFiles": []"#,
    )
    .with_file(".context/sub/context-config.json", client_context(r#""excludeFiles": ["a.md"]"#))
    .with_file(".context/a.md", ALWAYS);
    assert_eq!(files(&ask(&system, "/p")), ["/p/.context/a.md"]);
}

/// H57 "File types the system does not support are filtered out." H58 "with a warning when such a
/// file was selected."
#[test]
fn h57_h58_unsupported_types_are_left_out_with_a_warning() {
    let system = configured(r#""excludeFiles": ["*.png"]"#)
        .with_file(".context/a.png", "")
        .with_file(".context/b.yaml", "")
        .with_file(".context/README", "");
    let answer = ask(&system, "/p");
    assert_eq!(files(&answer), [""; 0]);
    let warned: Vec<_> = answer.diagnostics.iter().map(|d| d.path().to_str().unwrap()).collect();
    assert_eq!(warned, ["/p/.context/README", "/p/.context/b.yaml"]);
    assert_eq!(codes(&answer), ["unsupported-type"]);
}

/// Many files of unsupported types are summed up.
#[test]
fn many_unsupported_files_do_not_bury_the_rest() {
    let mut system = project().with_file(".context/a.md", ALWAYS);
    for index in 0..150 {
        system = system.with_file(&format!(".context/x{index}.png"), "");
    }
    let answer = ask(&system, "/p");
    assert_eq!((answer.left_out.len(), answer.diagnostics.len()), (150, 101));
    assert_eq!(answer.diagnostics[0].message, "50 more files here have unsupported types");
}

/// H60 "all files and configs of all scopes are collected first. Nothing is dropped before all
/// configs are merged."
#[test]
fn h60_the_nearest_configuration_decides_about_the_farthest_file() {
    let system = layered("", "", "", r#""excludeFiles": ["g.md", "m.md"]"#);
    let answer = ask(&system, "/p/a/b");
    assert_eq!(files(&answer), ["/p/a/.context/a.md", "/p/a/b/.context/w.md"]);
}

/// H61 "Config order: global < MD < ancestors from left to right < WD." H64, H65 "last value wins,
/// where a config that does not set it has no value (an explicit `false` does)."
#[test]
fn h61_h64_h65_the_last_value_wins() {
    for flag in ["ignoreGlobalContext", "ignoreAncestorContext"] {
        let set = |value: &str| format!("\"{flag}\": {value}");
        for (global, mounted, ancestor, working, expected) in [
            ("true", "", "", "", true),
            ("true", "false", "", "", false),
            ("false", "true", "", "", true),
            ("", "true", "false", "", false),
            ("", "false", "", "true", true),
            ("true", "true", "true", "false", false),
        ] {
            let field = |value: &str| if value.is_empty() { String::new() } else { set(value) };
            let system =
                layered(&field(global), &field(mounted), &field(ancestor), &field(working));
            let config = ask(&system, "/p/a/b").config;
            let found = match flag {
                "ignoreGlobalContext" => config.ignore_global_context,
                _ => config.ignore_ancestor_context,
            };
            assert_eq!(found.value, expected, "{flag}: {global} {mounted} {ancestor} {working}");
        }
    }
}

/// H62 "`includeFiles`: appended in that order, duplicates by identical pattern removed." H63
/// "`excludeFiles`: the same."
#[test]
fn h62_h63_lists_are_appended_once() {
    let system = layered(
        r#""includeFiles": ["x", "y"], "excludeFiles": ["1"]"#,
        r#""includeFiles": ["y", "z"], "excludeFiles": ["2", "1"]"#,
        r#""includeFiles": ["*"]"#,
        r#""includeFiles": ["w", "x"], "excludeFiles": ["context-config.json"]"#,
    );
    let config = ask(&system, "/p/a/b").config;
    assert_eq!(patterns(&config.include_files), ["*", "x", "y", "z", "w"]);
    assert_eq!(patterns(&config.exclude_files), ["context-config.json", "1", "2"]);
}

/// H66 "`mcpServers`: union by server name." X21: the nearest entry counts whole, and hiding a
/// global one is reported. H83 "Servers of the global config are incorporated too."
#[test]
fn h66_h83_servers_are_united_by_name_and_replaced_whole() {
    let system = project()
        .with_file(
            "/home/u/.context/context-config.json",
            r#"{"mcpServers": {"gh": {"command": "gh", "env": {"TOKEN": "t"}}, "fs": {"command": "fs"}}}"#,
        )
        .with_file(CONFIG, r#"{"mcpServers": {"db": {"url": "https://x"}, "gh": {"command": "mine"}}}"#);
    let answer = ask(&system, "/p");
    let names: Vec<_> = answer.mcp_servers.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["gh", "fs", "db"]);
    let Connection::Command { command, env, .. } = &answer.mcp_servers[0].server.connection else {
        panic!("a command")
    };
    assert_eq!((command.as_str(), env.len()), ("mine", 0));
    assert_eq!(codes(&answer), ["mcp-shadowed"]);
    assert_eq!(answer.mcp_servers[0].origin.scope.as_str(), "working");
}

/// H67 "include patterns add files to the list." A file that is there already stays as it is.
#[test]
fn h67_an_include_of_a_known_file_changes_nothing() {
    let system = configured(r#""includeFiles": [".context/a.md", ".context/.b.md"]"#)
        .with_file(".context/a.md", ALWAYS)
        .with_file(".context/.b.md", ALWAYS);
    let answer = ask(&system, "/p");
    assert_eq!(files(&answer), ["/p/.context/a.md", "/p/.context/.b.md"]);
    assert_eq!(scopes(&answer), ["working", "include"]);
}

/// H69 "`ignoreGlobalContext` true -> all global context files are dropped; false -> nothing." H70
/// "`ignoreAncestorContext` true -> all ancestor context files are dropped; false -> nothing." X16:
/// the mounted directory is an ancestor, the working directory is not.
#[test]
fn h69_h70_the_flags_drop_files() {
    let system = layered("", "", "", r#""ignoreGlobalContext": true"#);
    let answer = ask(&system, "/p/a/b");
    assert_eq!(scopes(&answer), ["workspace", "ancestor", "working"]);
    let ignored = "global context is ignored by /p/a/b/.context/context-config.json";
    assert_eq!(why_not(&answer, "/home/u/.context/g.md"), Some(ignored));
    let system = layered("", "", "", r#""ignoreAncestorContext": true"#);
    assert_eq!(scopes(&ask(&system, "/p/a/b")), ["global", "working"]);
    let none = layered("", "", "", r#""ignoreAncestorContext": false"#);
    assert_eq!(ask(&none, "/p/a/b").items.len(), 4);
}

/// X16b: without an ancestor the flag does nothing. X16c: from below, it drops the files of the
/// directory that sets it, and that is reported once.
#[test]
fn the_ancestor_flag_seen_from_elsewhere() {
    let system = layered("", r#""ignoreAncestorContext": true"#, "", "");
    let answer = ask(&system, "/p");
    assert_eq!((scopes(&answer), codes(&answer)), (vec!["global", "working"], vec![]));
    let answer = ask(&system, "/p/a/b");
    assert_eq!(scopes(&answer), ["global", "working"]);
    assert_eq!(codes(&answer), ["ignore-ancestor-own"]);
}

/// H71 "Both flags drop files only. The merged patterns and mcpServers of the global/ancestor
/// configs stay in force."
#[test]
fn h71_the_flags_leave_configuration_in_force() {
    let system = project()
        .with_file(
            "/home/u/.context/context-config.json",
            r#"{"clientContext": {"excludeFiles": ["x.md"]}, "mcpServers": {"s": {"command": "s"}}}"#,
        )
        .with_file(CONFIG, client_context(r#""ignoreGlobalContext": true"#))
        .with_file(".context/x.md", ALWAYS);
    let answer = ask(&system, "/p");
    assert_eq!((files(&answer).len(), answer.mcp_servers.len()), (0, 1));
}

/// H72 "A resolver lists them; starting needs consent." H73 "A server with `disabled: true` is
/// listed but not started." X23: `{"disabled": true}` alone turns the inherited entry off.
#[test]
fn h72_h73_servers_are_listed_also_when_disabled() {
    let system = project()
        .with_file(
            "/home/u/.context/context-config.json",
            r#"{"mcpServers": {"a": {"command": "a"}, "b": {"command": "b", "disabled": true}}}"#,
        )
        .with_file(CONFIG, r#"{"mcpServers": {"a": {"disabled": true}, "c": {"disabled": true}}}"#);
    let answer = ask(&system, "/p");
    let list: Vec<_> =
        answer.mcp_servers.iter().map(|entry| (&*entry.name, entry.server.disabled)).collect();
    assert_eq!(list, [("a", true), ("b", true)]);
    let by = answer.mcp_servers[0].disabled_by.as_deref();
    assert_eq!(by, Some(Path::new("/p/.context/context-config.json")));
    assert_eq!(codes(&answer), [""; 0]);
}

/// H80 "Stdio form: `command` string required; `type`; `args`; `env`; `disabled`." H81 "Remote form:
/// `url` string required; `headers`; `disabled`." X24: `type` in both; a mismatch is reported.
#[test]
fn h80_h81_both_forms_are_read() {
    let text = r#"{"mcpServers": {
        "a": {"command": "c", "type": "stdio", "args": ["x", "y"], "env": {"K": "V"}},
        "b": {"url": "u", "type": "sse", "headers": {"H": "V"}, "disabled": false}
    }}"#;
    let answer = ask(&project().with_file(CONFIG, text), "/p");
    assert_eq!(codes(&answer), [""; 0]);
    let [first, second] = answer.mcp_servers.as_slice() else { panic!("two servers") };
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    assert_eq!(
        first.server.connection,
        Connection::Command {
            command: "c".to_owned(),
            args: vec!["x".to_owned(), "y".to_owned()],
            env: vec![pair("K", "V")],
        }
    );
    let url = Connection::Url { url: "u".to_owned(), headers: vec![pair("H", "V")] };
    assert_eq!(second.server.connection, url);
    assert_eq!((first.origin.line(), second.origin.line()), (2, 3));
    let mismatch = r#"{"mcpServers": {"a": {"command": "c", "type": "http"}}}"#;
    let answer = ask(&project().with_file(CONFIG, mismatch), "/p");
    assert_eq!((answer.mcp_servers.len(), codes(&answer)), (1, vec!["mcp-type-mismatch"]));
}

/// H82 "Neither or both of command/url, wrong types, unknown `type`: that entry is invalid ->
/// warning, entry ignored, others kept."
#[test]
fn h82_an_invalid_entry_is_ignored_alone() {
    for entry in [
        r#"{"command": "a", "url": "b"}"#,
        r#"{"args": []}"#,
        r#"{"command": "a", "type": "ws"}"#,
        r#"{"command": 1}"#,
        r#"{"command": ""}"#,
        r#"{"command": "a", "args": "x"}"#,
        r#"{"command": "a", "args": [1]}"#,
        r#"{"command": "a", "env": {"N": 1}}"#,
        r#"{"command": "a", "disabled": "yes"}"#,
        r#"{"url": "a", "headers": []}"#,
        r#"{"disabled": false}"#,
        r#""npx x""#,
        "null",
    ] {
        let text = format!(r#"{{"mcpServers": {{"bad": {entry}, "good": {{"command": "g"}}}}}}"#);
        let answer = ask(&project().with_file(CONFIG, text), "/p");
        let names: Vec<_> = answer.mcp_servers.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!((names, codes(&answer)), (vec!["good"], vec!["mcp-invalid-server"]), "{entry}");
    }
}

/// X2: the pattern `*` means the context directories, and nothing of the working directory.
#[test]
fn a_single_star_is_not_the_working_directory() {
    let system = configured(r#""includeFiles": ["*"]"#)
        .with_file("README.md", ALWAYS)
        .with_file(".context/a.md", ALWAYS);
    assert_eq!(files(&ask(&system, "/p")), ["/p/.context/a.md"]);
}

/// X18, X19, X20, X39: what patterns do not reach, each with its warning.
#[test]
fn what_includes_do_not_reach() {
    for (pattern, expected, code) in [
        ("docs/*", vec!["/p/docs/a.md"], None),
        ("docs/.*", vec!["/p/docs/.h.md"], None),
        ("docs/{.*,*}", vec!["/p/docs/.h.md", "/p/docs/a.md"], None),
        ("/docs/*", vec!["/p/docs/a.md"], Some("include-absolute")),
        ("../p/docs/*", vec!["/p/docs/a.md"], None),
        ("docs/../docs/./*.md", vec!["/p/docs/a.md"], None),
        ("../next/*", vec![], Some("outside-workspace")),
        ("~/*.md", vec![], Some("outside-workspace")),
        ("docs/*/../../../next/*", vec![], Some("outside-workspace")),
        ("{docs,../next}/*", vec![], Some("outside-workspace")),
        ("docs/[", vec![], Some("config-invalid-field")),
        ("docs/{a", vec![], Some("config-invalid-field")),
    ] {
        let config = serde_json::json!({"clientContext": {"includeFiles": [pattern]}});
        let system = project()
            .with_file(CONFIG, config.to_string())
            .with_file("docs/a.md", ALWAYS)
            .with_file("docs/.h.md", ALWAYS)
            .with_file("/next/n.md", ALWAYS)
            .with_file("/home/u/n.md", ALWAYS);
        let answer = ask(&system, "/p");
        assert_eq!(files(&answer), expected, "{pattern}");
        assert_eq!(codes(&answer), code.into_iter().collect::<Vec<_>>(), "{pattern}");
    }
}

/// X39: an exclude that is not a glob is taken as it is.
#[test]
fn a_broken_exclude_is_plain_text() {
    let system = configured(r#""excludeFiles": ["[a.md", "{b"]"#)
        .with_file(".context/[a.md", ALWAYS)
        .with_file(".context/c.md", ALWAYS);
    let answer = ask(&system, "/p");
    assert_eq!(files(&answer), ["/p/.context/c.md"]);
    assert_eq!(codes(&answer), ["config-invalid-field"]);
}

/// A wildcard enters only directories where it can still match.
#[test]
fn a_wildcard_walks_below_its_prefix_only() {
    let mut system = configured(r#""includeFiles": ["docs/**", "notes/*.md"]"#);
    for index in 0..200 {
        system = system.with_file(&format!("other/{index}/x.md"), ALWAYS);
    }
    let system = system.with_file("docs/a/b.md", ALWAYS).with_file("notes/deep/no.md", ALWAYS);
    assert_eq!(files(&ask(&system, "/p")), ["/p/docs/a/b.md"]);
}
