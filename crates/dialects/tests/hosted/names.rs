//! Names that are never read: the document's list, the matrix of spellings, and no way round it.

use std::path::{Component, Path, PathBuf};

use brief_dialects::hosted::{ExtraNames, HostedContext, HostedOptions, Query, resolve_with};
use brief_safety::sensitive;
use brief_system::MemorySystem;
use serde_json::{Value, json};

use super::support::{ALWAYS, ask, codes, configured, files, project, why_not};

fn matrix() -> Vec<Value> {
    let text = include_str!("../../../../conformance/hosted/exclusion-matrix.json");
    let matrix: Value = serde_json::from_str(text).unwrap();
    let listed: Vec<&str> =
        matrix["patterns"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    assert_eq!(listed, sensitive::PATTERNS);
    matrix["rows"].as_array().unwrap().clone()
}

/// The path without `.`, `..` and doubled separators, as it would be laid out.
fn laid_out(path: &str) -> String {
    let mut plain = PathBuf::new();
    for component in Path::new(path).components() {
        match component {
            Component::ParentDir => {
                plain.pop();
            }
            Component::Normal(name) => plain.push(name),
            _ => {}
        }
    }
    plain.to_str().unwrap().to_owned()
}

fn path_of(row: &Value) -> String {
    laid_out(row["symlink_to"].as_str().or(row["path"].as_str()).unwrap())
}

fn is_control(row: &Value) -> bool {
    row["expect"] == "included"
}

/// Returns whether a context directory would hold the file, sensitive or not.
fn is_supported(path: &str) -> bool {
    let lower = path.to_lowercase();
    !path.split('/').any(|name| name.starts_with('.'))
        && [".md", ".mdc", ".txt"].iter().any(|extension| lower.ends_with(extension))
}

/// Asks with the row's file below `directory`, and checks what the row says.
fn check_channel(channel: &str, directory: &str) {
    for row in matrix() {
        let path = path_of(&row);
        let full = format!("{directory}/{path}");
        let system = project().with_dir("src").with_file(&full, ALWAYS);
        let answer = ask(&system, "/p/src/a.ts");
        let is_in = files(&answer).contains(&full.as_str());
        if is_control(&row) {
            assert_eq!(is_in, is_supported(&path), "{channel}: {row}");
            assert!(!codes(&answer).contains(&"sensitive-excluded"), "{channel}: {row}");
        } else {
            assert_eq!(files(&answer), [""; 0], "{channel}: {row}");
        }
    }
}

#[test]
fn the_matrix_holds_for_the_function_that_all_channels_ask() {
    for row in matrix() {
        let path = row["symlink_to"].as_str().or(row["path"].as_str()).unwrap();
        assert_eq!(sensitive::find_sensitive_pattern(path).is_none(), is_control(&row), "{row}");
    }
}

#[test]
fn the_matrix_holds_in_the_project() {
    check_channel("project", "/p/.context");
}

#[test]
fn the_matrix_holds_in_a_nested_directory() {
    check_channel("nested", "/p/src/.context");
}

#[test]
fn the_matrix_holds_in_the_global_directory() {
    check_channel("global", "/home/u/.context");
}

fn including(patterns: &[String], path: &str) -> HostedContext {
    let config = json!({"clientContext": {"includeFiles": patterns}}).to_string();
    let system = project()
        .with_file(".context/context-config.json", config)
        .with_file(&format!("/p/{path}"), ALWAYS);
    ask(&system, "/p")
}

#[test]
fn the_matrix_holds_for_included_files() {
    for row in matrix() {
        let path = path_of(&row);
        let full = format!("/p/{path}");
        let written = row["path"].as_str().unwrap().to_owned();
        let name = path.rsplit('/').next().unwrap();
        for pattern in [written, path.clone(), path.to_uppercase(), format!("**/{name}")] {
            let answer = including(std::slice::from_ref(&pattern), &path);
            if is_control(&row) {
                let is_named = !pattern.contains('*') || is_supported(name.trim_start_matches('.'));
                assert_eq!(files(&answer).contains(&full.as_str()), is_named, "{pattern}: {row}");
            } else {
                assert_eq!(files(&answer), [""; 0], "{pattern}: {row}");
            }
        }
        for pattern in ["**", "**/*", "**/.*", "**/.*/**", "{**,**/.*}"] {
            let answer = including(&[pattern.to_owned()], &path);
            let allowed = if is_control(&row) { vec![full.as_str()] } else { vec![] };
            assert!(
                files(&answer).iter().all(|file| allowed.contains(file)),
                "{pattern}: {row}: {:?}",
                files(&answer)
            );
        }
    }
}

#[test]
fn the_matrix_holds_through_links() {
    for row in matrix() {
        let path = path_of(&row);
        let directory = Path::new(&path).parent().unwrap().to_str().unwrap();
        let full = format!("/p/{path}");
        let system = configured(r#""includeFiles": ["linked.md", "dir/**", "alias/**"]"#)
            .with_file(&full, ALWAYS)
            .with_link(".context/notes.md", &full)
            .with_link("linked.md", &full)
            .with_link("dir/notes.md", &full)
            .with_link("alias", &format!("/p/{directory}"));
        let answer = ask(&system, "/p");
        assert_eq!(files(&answer), [""; 0], "{row}");
    }
}

/// H90 "These patterns always exclude, whatever the configuration says".
#[test]
fn h90_the_list_always_excludes() {
    for pattern in sensitive::PATTERNS {
        let name = pattern.replace('*', "x");
        let system = configured(r#""excludeFiles": []"#)
            .with_file(&format!(".context/{name}"), ALWAYS)
            .with_file(&format!(".context/{name}.md"), ALWAYS);
        let answer = ask(&system, "/p");
        assert_eq!(files(&answer), [""; 0], "{pattern}");
        // What lies in a directory that begins with a dot is out of reach before its name counts.
        let is_hidden = pattern.contains('/');
        assert_eq!(codes(&answer).is_empty(), is_hidden, "{pattern}");
    }
}

/// H91 "They beat an explicit, literal `includeFiles` entry".
#[test]
fn h91_the_list_beats_a_literal_include() {
    let system = configured(r#""includeFiles": ["credentials.md", "deploy/server.key"]"#)
        .with_file("credentials.md", ALWAYS)
        .with_file("deploy/server.key", ALWAYS);
    let answer = ask(&system, "/p");
    assert_eq!(files(&answer), [""; 0]);
    assert_eq!(
        why_not(&answer, "/p/deploy/server.key"),
        Some("has a name that matches `.key` and is never read")
    );
}

/// H92 "They apply in every scope, global included, and in subdirectories".
#[test]
fn h92_the_list_holds_in_every_scope_and_subdirectory() {
    let system = project()
        .with_file("/home/u/.context/a/credentials.md", ALWAYS)
        .with_file(".context/a/b/api_key.md", ALWAYS)
        .with_file("src/.context/credentials/a.md", ALWAYS);
    let answer = ask(&system, "/p/src/x");
    assert_eq!(files(&answer), [""; 0]);
    assert_eq!(answer.left_out.len(), 3);
}

/// H93 "They match case-insensitively".
#[test]
fn h93_the_list_has_no_case() {
    let system = project().with_file(".context/CREDENTIALS.MD", ALWAYS);
    assert_eq!(files(&ask(&system, "/p")), [""; 0]);
}

/// X17: directories above the context directory do not count.
#[test]
fn a_project_may_live_in_a_directory_of_such_a_name() {
    let system = MemorySystem::new("/credentials-api/svc_key")
        .with_file(".context/a.md", ALWAYS)
        .with_file(
            ".context/context-config.json",
            r#"{"clientContext": {"includeFiles": ["../b.md"]}}"#,
        )
        .with_file("/credentials-api/b.md", ALWAYS);
    let answer =
        super::support::ask_mounted(&system, "/credentials-api", "/credentials-api/svc_key");
    assert_eq!(files(&answer), ["/credentials-api/svc_key/.context/a.md", "/credentials-api/b.md"]);
}

/// The matrix: our additional list is a default that the user may turn off, the document's is not.
#[test]
fn only_our_own_list_can_be_turned_off() {
    let system = configured(r#""includeFiles": ["kubeconfig", ".env"]"#)
        .with_file("kubeconfig", "k")
        .with_file(".env", "e");
    let path = Path::new("/p");
    let query = Query { mounted: path, path, mentions: &[] };
    let options = HostedOptions { extra_names: ExtraNames::Allow, ..HostedOptions::default() };
    assert_eq!(files(&ask(&system, "/p")), [""; 0]);
    assert_eq!(files(&resolve_with(&system, &query, options)), ["/p/kubeconfig"]);
}
