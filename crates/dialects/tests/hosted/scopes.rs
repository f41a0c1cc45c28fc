//! H1–H31: scopes, paths, the client context path. Each test quotes its line of the checklist.

use brief_dialects::hosted::{HostedOptions, Outside, Query, resolve_with};
use brief_syntax::limits;
use brief_system::MemorySystem;

use super::support::{
    ALWAYS, active, ask, ask_mounted, client_context, codes, configured, files, project, scopes,
    why_not,
};

fn all_scopes() -> MemorySystem {
    project()
        .with_file("/home/u/.context/g.md", ALWAYS)
        .with_file(".context/m.md", ALWAYS)
        .with_file("a/.context/a.md", ALWAYS)
        .with_file("a/b/.context/w.md", ALWAYS)
}

/// H1 "At least one of the three scopes global / static directory / dynamic subdirectory is
/// supported." All three are.
#[test]
fn h1_all_three_scopes_are_supported() {
    let system = all_scopes();
    let answer = ask(&system, "/p/a/b/x.ts");
    assert_eq!(scopes(&answer), ["global", "workspace", "ancestor", "working"]);
}

/// H2 "Without further input WD = MD."
#[test]
fn h2_the_working_directory_is_the_mounted_one_by_default() {
    let system = all_scopes();
    let answer = ask(&system, "/p");
    assert_eq!(answer.working, answer.mounted);
    assert_eq!(files(&answer), ["/home/u/.context/g.md", "/p/.context/m.md"]);
}

/// H3 "file -> its parent, directory -> itself. The file need not exist yet."
#[test]
fn h3_the_rightmost_directory_is_the_working_directory() {
    let system = project().with_file("src/a.ts", "").with_dir("src/lib");
    for (path, working) in [
        ("/p/src/a.ts", "/p/src"),
        ("/p/src/lib", "/p/src/lib"),
        ("/p/src/new.ts", "/p/src"),
        ("/p/src/new/deep/x.ts", "/p/src/new/deep"),
        ("/p/src/new/", "/p/src/new"),
        ("src/a.ts", "/p/src"),
    ] {
        assert_eq!(ask(&system, path).working.to_str(), Some(working), "{path}");
    }
}

/// H4 "every directory from MD to WD inclusive is sourced for context files and configuration."
#[test]
fn h4_every_directory_on_the_way_is_sourced() {
    let system = all_scopes()
        .with_file("a/.context/context-config.json", client_context(r#""excludeFiles": ["x"]"#));
    let answer = ask(&system, "/p/a/b/c/new.ts");
    assert_eq!(
        files(&answer),
        ["/home/u/.context/g.md", "/p/.context/m.md", "/p/a/.context/a.md", "/p/a/b/.context/w.md"]
    );
    assert_eq!(answer.config.exclude_files.len(), 2);
}

/// H5 "No directory above MD is ever sourced (except as the global location)."
#[test]
fn h5_nothing_above_the_mounted_directory_is_sourced() {
    let system =
        project().with_file("/.context/up.md", ALWAYS).with_file("/p2/.context/n.md", ALWAYS);
    assert_eq!(files(&ask(&system, "/p/src/x")), [""; 0]);
}

/// H6 "Static scope: MD is sourced; WD when the system has no MD."
#[test]
fn h6_the_mounted_directory_is_sourced() {
    let system = all_scopes();
    assert!(files(&ask(&system, "/p/a/b/x")).contains(&"/p/.context/m.md"));
    assert!(files(&ask_mounted(&system, "/p/a", "/p/a")).contains(&"/p/a/.context/a.md"));
}

/// H7 "With no MD, only WD (and global) are sourced. No upward search."
#[test]
fn h7_without_a_mounted_directory_there_is_no_upward_search() {
    let answer = ask_mounted(&all_scopes(), "/p/a/b", "/p/a/b");
    assert_eq!(files(&answer), ["/home/u/.context/g.md", "/p/a/b/.context/w.md"]);
}

/// H8 "WD changing between two queries changes the result; nothing from the earlier WD remains."
#[test]
fn h8_another_working_directory_is_another_answer() {
    let system =
        project().with_file("a/.context/a.md", ALWAYS).with_file("b/.context/b.md", ALWAYS);
    assert_eq!(files(&ask(&system, "/p/a")), ["/p/a/.context/a.md"]);
    assert_eq!(files(&ask(&system, "/p/b")), ["/p/b/.context/b.md"]);
}

/// H9 "a cached answer must equal a fresh one (files added, edited, removed, …)". Nothing is kept.
#[test]
fn h9_every_answer_is_fresh() {
    let mut system = project().with_file(".context/a.md", "one");
    assert_eq!(ask(&system, "/p").items[0].content(), "one");
    system = system.with_file(".context/a.md", "two").with_file(".context/b.md", "");
    let answer = ask(&system, "/p");
    assert_eq!((answer.items.len(), answer.items[0].content()), (2, "two"));
    system = system.with_env("CLIENT_CONTEXT_PATH", "elsewhere");
    assert_eq!(files(&ask(&system, "/p")), [""; 0]);
}

/// H10 "Path separators are normalized for the client OS."
#[test]
fn h10_separators_are_normalized() {
    let system =
        configured(r#""includeFiles": ["docs\\deep\\a.md"], "excludeFiles": ["sub\\b.md"]"#)
            .with_file("docs/deep/a.md", ALWAYS)
            .with_file(".context/sub/b.md", ALWAYS)
            .with_file(".context/c.md", "---\ntrigger: auto\nglobs: 'src\\lib\\x.ts'\n---\n");
    let answer = ask(&system, "/p/src/lib/x.ts");
    assert_eq!(active(&answer), ["/p/.context/c.md"]);
    assert_eq!(files(&ask(&system, "/p")), ["/p/.context/c.md", "/p/docs/deep/a.md"]);
    let system =
        project().with_env("CLIENT_CONTEXT_PATH", "ai\\rules").with_file("ai/rules/a.md", "");
    assert_eq!(files(&ask(&system, "/p")), ["/p/ai/rules/a.md"]);
}

/// H11 "`~` is expanded using standard OS conventions (env values, include/exclude patterns)."
#[test]
fn h11_the_home_directory_is_expanded() {
    let system = project()
        .with_env("GLOBAL_CONTEXT_PATH", "~/shared")
        .with_file("/home/u/shared/.context/g.md", ALWAYS)
        .with_file("/home/u/shared/.context/no/h.md", ALWAYS)
        .with_file("/home/u/notes/n.md", ALWAYS)
        .with_file(
            "/home/u/shared/.context/context-config.json",
            client_context(
                r#""includeFiles": ["~/notes/*.md"], "excludeFiles": ["~/shared/.context/no/**"]"#,
            ),
        );
    let answer = ask(&system, "/p");
    assert_eq!(files(&answer), ["/home/u/shared/.context/g.md", "/home/u/notes/n.md"]);
}

/// H12 "Symlinks are not followed by default: CTX directory itself, files in it, subdirectories in
/// it, files reached by include patterns, the config file."
#[test]
fn h12_no_link_is_followed() {
    let system = configured(r#""includeFiles": ["docs/*.md", "linked/**"]"#)
        .with_file("/out/x.md", ALWAYS)
        .with_file("/out/c.json", r#"{"mcpServers": {"x": {"command": "x"}}}"#)
        .with_link(".context/file.md", "/out/x.md")
        .with_link(".context/dir", "/out")
        .with_link("docs/d.md", "/out/x.md")
        .with_link("linked", "/out")
        .with_link("a/.context", "/out")
        .with_link("a/b/.context/context-config.json", "/out/c.json");
    let answer = ask(&system, "/p/a/b/x");
    assert_eq!(files(&answer), [""; 0]);
    assert!(answer.mcp_servers.is_empty());
    let skipped =
        answer.diagnostics.iter().filter(|d| d.code() == "context-dir/symlink-skipped").count();
    assert_eq!(skipped, 4, "{:?}", codes(&answer));
    let answer = ask(&system, "/p");
    assert_eq!(files(&answer), [""; 0]);
    let reason = Some("is a symbolic link, which is not followed");
    assert_eq!(why_not(&answer, "/p/docs/d.md"), reason);
}

/// H13 "an unreadable file or directory is skipped, the run goes on." H14 "...with a warning."
/// Modes are in the conformance cases; here it is what cannot be read by its nature.
#[test]
fn h13_h14_what_cannot_be_read_is_skipped_with_a_warning() {
    let system = project()
        .with_fifo(".context/pipe.md")
        .with_file(".context/big.md", vec![b'x'; 1024 * 1024 + 1])
        .with_file(".context/ok.md", ALWAYS)
        .with_file("a/.context", "a file");
    let answer = ask(&system, "/p/a");
    assert_eq!(files(&answer), ["/p/.context/ok.md"]);
    assert_eq!(codes(&answer), ["limit-file-size", "unreadable"]);
}

/// H15 "Glob syntax includes `**`."
#[test]
fn h15_two_stars_cross_directories() {
    let system = configured(r#""includeFiles": ["docs/**/*.md"]"#)
        .with_file("docs/a.md", ALWAYS)
        .with_file("docs/b/c/d.md", ALWAYS);
    assert_eq!(files(&ask(&system, "/p")), ["/p/docs/a.md", "/p/docs/b/c/d.md"]);
}

/// H16 "Every glob is matched case-insensitively: includeFiles, excludeFiles, the exclusion list,
/// `globs`."
#[test]
fn h16_no_glob_has_case() {
    let system = configured(r#""includeFiles": ["Docs/*.MD"], "excludeFiles": ["SECRET.md"]"#)
        .with_file("docs/a.md", ALWAYS)
        .with_file("DOCS/b.Md", ALWAYS)
        .with_file(".context/secret.md", ALWAYS)
        .with_file(".context/x.md", "---\ntrigger: auto\nglobs: SRC/*.TS\n---\n");
    let answer = ask(&system, "/p");
    assert_eq!(files(&answer), ["/p/.context/x.md", "/p/DOCS/b.Md", "/p/docs/a.md"]);
    assert_eq!(active(&ask(&system, "/p/src/a.ts")), ["/p/.context/x.md"]);
}

/// H20 "Context files are searched in CTX of each directory in scope." H21 "CCP = `.context`."
#[test]
fn h20_h21_the_default_path_is_dot_context() {
    let system = all_scopes().with_file("a/context/no.md", ALWAYS).with_file("a/no.md", ALWAYS);
    assert_eq!(ask(&system, "/p/a/b").items.len(), 4);
}

/// H22 "`CLIENT_CONTEXT_PATH` replaces it in all scopes, the global one too." H24 "It may have
/// several segments."
#[test]
fn h22_h24_the_client_path_is_replaced_everywhere() {
    let system = all_scopes()
        .with_env("CLIENT_CONTEXT_PATH", "other/path/for/ai/")
        .with_file("/home/u/other/path/for/ai/g.md", ALWAYS)
        .with_file("other/path/for/ai/m.md", ALWAYS)
        .with_file("a/other/path/for/ai/w.md", ALWAYS);
    let answer = ask(&system, "/p/a/x");
    assert_eq!(
        files(&answer),
        [
            "/home/u/other/path/for/ai/g.md",
            "/p/other/path/for/ai/m.md",
            "/p/a/other/path/for/ai/w.md"
        ]
    );
}

/// H23 "Its value must be relative." X3: warn, use `.context`; empty is unset; `~` is absolute.
#[test]
fn h23_an_absolute_client_path_is_not_used() {
    for value in ["/etc", "~/x", "~", "C:\\x"] {
        let system = all_scopes().with_env("CLIENT_CONTEXT_PATH", value);
        let answer = ask(&system, "/p");
        assert_eq!(files(&answer), ["/home/u/.context/g.md", "/p/.context/m.md"], "{value}");
        assert_eq!(codes(&answer), ["env-client-context-path-absolute"], "{value}");
    }
    let answer = ask(&all_scopes().with_env("CLIENT_CONTEXT_PATH", ""), "/p");
    assert_eq!((answer.items.len(), codes(&answer).len()), (2, 0));
}

/// H25 "It may have `..` segments (`../shared-context/`), with or without trailing slash."
#[test]
fn h25_the_client_path_may_climb() {
    for value in ["../shared-context/", "../shared-context", "./../x/../shared-context"] {
        let system = project()
            .with_env("CLIENT_CONTEXT_PATH", value)
            .with_file("/shared-context/m.md", ALWAYS)
            .with_file("/p/shared-context/a.md", "---\ntrigger: auto\nglobs: lib/*.ts\n---\n")
            .with_file("/home/shared-context/g.md", ALWAYS);
        let answer = ask(&system, "/p/src/lib/x.ts");
        assert_eq!(
            active(&answer),
            ["/home/shared-context/g.md", "/shared-context/m.md", "/p/shared-context/a.md"],
            "{value}"
        );
    }
}

/// H26 "CTX may be missing, empty, or hold any number of files: none of these is an error."
#[test]
fn h26_missing_and_empty_is_no_error() {
    let answer = ask(&project().with_dir("a/.context"), "/p/a/b");
    assert!(answer.items.is_empty() && answer.left_out.is_empty());
    assert_eq!(codes(&answer), [""; 0]);
}

/// H27 "The number of files parsed/used is limited." H28 "The user is told when a limit was hit."
#[test]
fn h27_h28_the_number_of_files_is_limited_aloud() {
    let mut system = project();
    for index in 0..limits::HOSTED_FILES + 5 {
        system = system.with_file(&format!(".context/{index:05}.md"), "x");
    }
    let answer = ask(&system, "/p");
    assert_eq!(answer.items.len(), limits::HOSTED_FILES);
    assert_eq!(codes(&answer), ["limit-files"]);
    assert_eq!(answer.diagnostics[0].path().to_str(), Some("/p/.context/01000.md"));
}

/// H29 "CTX may have subdirectories of any depth; files in them are context files." H30 "Depth is
/// limited. The limit is never below 3."
#[test]
fn h29_h30_depth_is_limited_but_not_below_three() {
    let deep = |levels: usize| format!(".context/{}f.md", "d/".repeat(levels));
    let system = project()
        .with_file(&deep(3), ALWAYS)
        .with_file(&deep(limits::HOSTED_DEPTH), ALWAYS)
        .with_file(&deep(limits::HOSTED_DEPTH + 1), ALWAYS)
        .with_dir(&format!(".context/{}", "e/".repeat(100)));
    let answer = ask(&system, "/p");
    assert_eq!(answer.items.len(), 2);
    assert_eq!(codes(&answer), ["limit-depth"]);
}

/// H31 "`.context/config.json` and `.context/config.yaml` are reserved: never context files."
#[test]
fn h31_reserved_names_are_neither_configuration_nor_context() {
    let system = project()
        .with_file(".context/config.json", client_context(r#""excludeFiles": ["a.md"]"#))
        .with_file(".context/config.yaml", "")
        .with_file(".context/a.md", ALWAYS);
    let answer = ask(&system, "/p");
    assert_eq!(files(&answer), ["/p/.context/a.md"]);
    assert_eq!(codes(&answer), ["reserved-config-name"]);
    assert_eq!(answer.diagnostics.len(), 2);
}

/// X29: one directory that is both global and mounted is sourced once, as the project's.
#[test]
fn the_home_directory_as_a_project_is_sourced_once() {
    let system = project()
        .with_file("/home/u/.context/g.md", ALWAYS)
        .with_file(
            "/home/u/.context/context-config.json",
            client_context(r#""ignoreGlobalContext": true"#),
        )
        .with_link("/alias", "/home/u")
        .with_env("HOME", "/alias");
    let answer = ask_mounted(&system, "/home/u", "/home/u/code/x");
    assert_eq!(
        (files(&answer), scopes(&answer)),
        (vec!["/home/u/.context/g.md"], vec!["workspace"])
    );
}

/// X30: a working directory outside the mounted one is its own.
#[test]
fn a_working_directory_outside_is_its_own() {
    let system = all_scopes().with_file("/other/.context/o.md", ALWAYS);
    let answer = ask(&system, "/other/x.ts");
    assert_eq!(files(&answer), ["/home/u/.context/g.md", "/other/.context/o.md"]);
    assert_eq!(codes(&answer), ["cwd-outside-workspace"]);
}

/// X31: the two directories that the user names may be links; a linked file stays where it is.
#[test]
fn links_in_what_the_user_names_are_followed_once() {
    let system = all_scopes().with_link("/alias", "/p").with_link("a/x.ts", "/elsewhere/y.ts");
    let system = system.with_file("/elsewhere/y.ts", "");
    let answer = ask_mounted(&system, "/alias", "/alias/a/b/x");
    assert_eq!((answer.mounted.to_str(), answer.items.len()), (Some("/p"), 4));
    assert_eq!(ask(&system, "/p/a/x.ts").working.to_str(), Some("/p/a"));
}

/// X33: global, mounted, ancestors, working, included; inside a directory by the bytes of the path.
#[test]
fn the_order_is_that_of_scopes_and_bytes() {
    let system = all_scopes()
        .with_file(
            "a/b/.context/context-config.json",
            client_context(r#""includeFiles": ["z.md", "/p.md"]"#),
        )
        .with_file("a/b/z.md", "")
        .with_file("a/b/p.md", "")
        .with_file(".context/m/x.md", "")
        .with_file(".context/m-1.md", "")
        .with_file(".context/M.md", "");
    assert_eq!(
        files(&ask(&system, "/p/a/b")),
        [
            "/home/u/.context/g.md",
            "/p/.context/M.md",
            "/p/.context/m-1.md",
            "/p/.context/m.md",
            "/p/.context/m/x.md",
            "/p/a/.context/a.md",
            "/p/a/b/.context/w.md",
            "/p/a/b/p.md",
            "/p/a/b/z.md",
        ]
    );
}

/// X20: the user may let a project's patterns out.
#[test]
fn the_user_may_let_patterns_out() {
    let system = configured(r#""includeFiles": ["../next/*.md"]"#).with_file("/next/n.md", ALWAYS);
    assert_eq!(codes(&ask(&system, "/p")), ["outside-workspace"]);
    let path = std::path::Path::new("/p");
    let query = Query { mounted: path, path, mentions: &[] };
    let options = HostedOptions { outside: Outside::Allow, ..HostedOptions::default() };
    assert_eq!(files(&resolve_with(&system, &query, options)), ["/next/n.md"]);
}

/// X34: nothing is read from dependencies; who works on one mounts it.
#[test]
fn x34_a_dependency_has_no_say() {
    for directory in ["node_modules/x", "vendor/x/src", ".venv/lib/site-packages/x"] {
        let system = project()
            .with_file(".context/own.md", ALWAYS)
            .with_file(&format!("{directory}/.context/foreign.md"), ALWAYS)
            .with_file(
                &format!("{directory}/.context/context-config.json"),
                r#"{"mcpServers": {"evil": {"command": "x"}}}"#,
            );
        let answer = ask(&system, &format!("/p/{directory}/a.js"));
        assert_eq!(files(&answer), ["/p/.context/own.md"], "{directory}");
        assert!(answer.mcp_servers.is_empty(), "{directory}");
        assert_eq!(codes(&answer), ["dependency-skipped"], "{directory}");
        let mounted = format!("/p/{directory}");
        let answer = ask_mounted(&system, &mounted, &format!("{mounted}/a.js"));
        assert_eq!(files(&answer), [format!("{mounted}/.context/foreign.md")], "{directory}");
    }
}
