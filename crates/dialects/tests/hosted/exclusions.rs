//! U24, H3: `excludeFiles` reads a path as `includeFiles` does, and fails closed.

use std::path::Path;

use brief_dialects::hosted::{Anchor, HostedOptions, Outside, Query, resolve_with};
use brief_syntax::limits;
use brief_system::MemorySystem;

use super::support::{
    ALWAYS, active, ask, client_context, codes, configured, files, mention, project, why_not,
};

/// A project that includes and excludes one file, each in a spelling of its own.
fn both(include: &str, exclude: &str) -> MemorySystem {
    let list = |pattern: &str| serde_json::to_string(&[pattern]).unwrap();
    let (include, exclude) = (list(include), list(exclude));
    configured(&format!("\"includeFiles\": {include}, \"excludeFiles\": {exclude}"))
        .with_file("docs/p.md", ALWAYS)
        .with_file("docs/deep/q.md", ALWAYS)
}

/// U24. "Where `clientContext.includeFiles` and `clientContext.excludeFiles` overlap, the
/// `excludeFiles` pattern takes precedence and any matching files MUST be excluded."
#[test]
fn what_one_spelling_includes_every_spelling_excludes() {
    let spellings = [
        "docs/p.md",
        "docs/./p.md",
        "docs//p.md",
        "./docs/p.md",
        ".//docs/p.md",
        "docs/../docs/p.md",
        "docs/deep/../p.md",
        "x/../docs/p.md",
        "../p/docs/p.md",
        "../../p/docs/p.md",
        "../../../../p/docs/./p.md",
        "/docs/p.md",
        "//docs//p.md",
        " docs/p.md ",
        "docs\\p.md",
        "docs\\.\\p.md",
        "docs/p.md/",
        "docs/p.md/.",
        "DOCS/./P.md",
        "docs/./*.md",
        "docs//*",
        "./**/p.md",
        "**/./p.md",
        "{docs/.,x}/p.md",
        "docs/{./p,q}.md",
    ];
    for include in spellings {
        for exclude in spellings {
            let answer = ask(&both(include, exclude), "/p");
            assert!(
                !files(&answer).contains(&"/p/docs/p.md"),
                "{include} includes what {exclude} excludes"
            );
        }
    }
}

/// U24: the same for a file of a context directory, asked about from below.
#[test]
fn spellings_reach_context_files_from_every_directory() {
    for exclude in [
        ".context/./a.md",
        ".context//a.md",
        "src/../.context/a.md",
        "../p/.context/a.md",
        "./a.md",
        "x/../a.md",
        ".context/sub/../a.md",
    ] {
        let system = configured(&format!("\"excludeFiles\": [\"{exclude}\"]"))
            .with_file(".context/a.md", ALWAYS)
            .with_file(".context/b.md", ALWAYS)
            .with_file("src/deep/c.rs", "");
        for path in ["/p", "/p/src/deep/c.rs"] {
            assert_eq!(files(&ask(&system, path)), ["/p/.context/b.md"], "{exclude} from {path}");
        }
    }
    // Relative to the working directory, by the letter.
    let system = configured(r#""excludeFiles": ["../.context/a.md"]"#)
        .with_file(".context/a.md", ALWAYS)
        .with_file("src/c.rs", "");
    assert_eq!(files(&ask(&system, "/p/src/c.rs")), [""; 0]);
}

/// U24: the home directory, as the environment names it and without links.
#[test]
fn the_home_directory_is_one_in_every_spelling() {
    for exclude in
        ["~/notes/p.md", "~//notes/./p.md", "~/x/../notes/p.md", "~\\notes\\p.md", "~/notes"]
    {
        let list = serde_json::to_string(&[exclude]).unwrap();
        let global = client_context(&format!(
            "\"includeFiles\": [\"~/notes/*.md\"], \"excludeFiles\": {list}"
        ));
        let system = project()
            .with_file("/home/u/.context/context-config.json", global)
            .with_file("/home/u/notes/p.md", ALWAYS);
        assert_eq!(files(&ask(&system, "/p")), [""; 0], "{exclude}");
    }
}

/// U24, H3: an exclusion that names a directory excludes all below it.
#[test]
fn a_directory_that_is_excluded_takes_all_below_it_out() {
    for exclude in [
        "docs",
        "docs/",
        "./docs",
        "docs/.",
        "/docs",
        "docs/deep/..",
        "../p/docs",
        "..",
        ".",
        "DOCS",
        "d*cs",
        "**/docs",
        "{docs,x}",
    ] {
        let answer = ask(&both("docs/**", exclude), "/p");
        assert_eq!(files(&answer), [""; 0], "{exclude}");
    }
    let answer = ask(&both("docs/**", "docs/deep"), "/p");
    assert_eq!(files(&answer), ["/p/docs/p.md"]);
    assert_eq!(
        why_not(&answer, "/p/docs/deep/q.md"),
        Some("excluded by `docs/deep` from /p/.context/context-config.json")
    );
}

/// H3 for context files: a directory below a context directory, or the context directory itself.
#[test]
fn directories_of_a_context_directory_count() {
    for exclude in ["drafts", "drafts/", ".context/drafts", "old/drafts", "**/drafts", "draft*"] {
        let system = configured(&format!("\"excludeFiles\": [\"{exclude}\"]"))
            .with_file(".context/old/drafts/deep/a.md", ALWAYS)
            .with_file(".context/drafts/a.md", ALWAYS)
            .with_file(".context/b.md", ALWAYS);
        let answer = ask(&system, "/p");
        let is_out = |path: &str| !files(&answer).contains(&path);
        let expected = match exclude {
            "drafts" | "**/drafts" | "draft*" => (true, true),
            "old/drafts" => (true, false),
            _ => (false, true),
        };
        let seen = (is_out("/p/.context/old/drafts/deep/a.md"), is_out("/p/.context/drafts/a.md"));
        assert_eq!(seen, expected, "{exclude}");
        assert!(!is_out("/p/.context/b.md"), "{exclude}");
    }
    let system = configured(r#""excludeFiles": [".context"]"#).with_file(".context/b.md", ALWAYS);
    assert_eq!(files(&ask(&system, "/p")), [""; 0]);
}

/// A pattern of wildcards alone is about the files at its place, a star stands for no leading dot,
/// and a directory above the project names nothing in it.
#[test]
fn what_names_no_directory_takes_no_directory_out() {
    let stay = |exclude: &str, system: MemorySystem, path: &str| {
        let answer = ask(&system, "/p");
        assert!(files(&answer).contains(&path), "{exclude}: {:?}", answer.left_out);
    };
    stay("docs/*", both("docs/**", "docs/*"), "/p/docs/deep/q.md");
    for exclude in [".*", "p", "?", "*context*", "*/x", "p/x"] {
        let system = configured(&format!("\"excludeFiles\": [\"{exclude}\"]"));
        stay(exclude, system.with_file(".context/b.md", ALWAYS), "/p/.context/b.md");
    }
}

/// U24: what cannot be followed leaves everything out, and says so.
#[test]
fn a_pattern_that_stands_for_too_many_leaves_everything_out() {
    let bomb = "{./a,b}".repeat(30);
    let answer = ask(&both("docs/p.md", &bomb), "/p");
    assert_eq!(files(&answer), [""; 0]);
    assert_eq!(codes(&answer), ["config-invalid-field"]);
}

/// U25. "`clientContext.includeFiles` - arrays should be appended to and deduplicated based on
/// pattern": anchored at their configurations, equal texts are different patterns.
#[test]
fn equal_patterns_are_one_only_where_they_mean_the_same() {
    let config = client_context(r#""includeFiles": ["notes/*.md"]"#);
    let system = project()
        .with_file(".context/context-config.json", &*config)
        .with_file("a/.context/context-config.json", &*config)
        .with_file("notes/top.md", ALWAYS)
        .with_file("a/notes/near.md", ALWAYS)
        .with_file("a/b/notes/here.md", ALWAYS)
        .with_file("a/b/c.rs", "");
    let ask_anchored = |anchor| {
        let (mounted, path) = (Path::new("/p"), Path::new("/p/a/b/c.rs"));
        let options =
            HostedOptions { anchor, outside: Outside::Refuse, ..HostedOptions::default() };
        resolve_with(&system, &Query { mounted, path, mentions: &[] }, options)
    };
    let answer = ask_anchored(Anchor::ConfigDirectory);
    assert_eq!(files(&answer), ["/p/a/notes/near.md", "/p/notes/top.md"]);
    let answer = ask_anchored(Anchor::WorkingDirectory);
    assert_eq!(files(&answer), ["/p/a/b/notes/here.md"]);
    assert_eq!(answer.config.include_files.len(), 2, "shown once, after the default");
}

/// U25's other side: an exclusion that two configurations share is about the files next to each.
#[test]
fn an_exclusion_that_is_repeated_keeps_its_second_place() {
    let exclude = client_context(r#""excludeFiles": ["notes/x.md"]"#);
    let system = project()
        .with_file(".context/context-config.json", &*exclude)
        .with_file("a/.context/context-config.json", &*exclude)
        .with_file(
            "a/b/.context/context-config.json",
            client_context(r#""includeFiles": ["../notes/*.md"]"#),
        )
        .with_file("a/notes/x.md", ALWAYS)
        .with_file("a/notes/y.md", ALWAYS)
        .with_file("a/b/c.rs", "");
    assert_eq!(files(&ask(&system, "/p/a/b/c.rs")), ["/p/a/notes/y.md"]);
}

/// U51. "AI Systems SHOULD limit the amount of context files allowed to be parsed and used": what
/// a prompt does not mention does not crowd out what is always in, and a cut is told.
#[test]
fn an_always_file_is_not_lost_behind_manual_ones() {
    let mut system = project()
        .with_file(".context/zz.md", ALWAYS)
        .with_file(".context/zy.md", "---\ntrigger: auto\nglobs: '*.rs'\n---\nRust.\n");
    for index in 0..limits::HOSTED_FILES + 2 {
        system = system
            .with_file(&format!(".context/m{index:04}.md"), "manual")
            .with_file(&format!(".context/o{index:04}.md"), "---\ntrigger: auto\nglobs: x\n---\n");
    }
    let answer = ask(&system, "/p/a.rs");
    assert_eq!(active(&answer), ["/p/.context/zz.md"]);
    let at = |diagnostic: &brief_syntax::Diagnostic| diagnostic.path().to_str().unwrap().to_owned();
    let told: Vec<String> = answer.diagnostics.iter().map(at).collect();
    assert_eq!(told, ["/p/.context/m1000.md", "/p/.context/o1000.md"]);
    assert_eq!(codes(&answer), ["limit-files"]);
    assert_eq!(
        why_not(&answer, "/p/.context/m1001.md"),
        Some("more than 1000 context files have the trigger `manual`")
    );
    let mentioned = mention(&system, "/p/a.rs", "m1001");
    assert_eq!(active(&mentioned), ["/p/.context/m1001.md", "/p/.context/zz.md"]);
}
