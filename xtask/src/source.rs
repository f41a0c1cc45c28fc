//! The project's own Rust sources as tokens: what `cargo xtask names` counts and `docs/dev/messages.md` lists.

use std::fs;
use std::path::Path;
use std::process::Command;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::workspace_root;

/// Returns the source files of the program, without those that only contain tests, each with its tokens.
pub(crate) fn parse_sources() -> Result<Vec<(String, TokenStream)>, String> {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "--"])
        .args(["crates/*/src/*.rs", "crates/*/build/*.rs", "xtask/src/*.rs", "fuzz/src/*.rs"])
        .current_dir(workspace_root())
        .output()
        .map_err(|error| format!("cannot start `git`: {error}"))?;
    let listed = String::from_utf8(listed.stdout).map_err(|error| error.to_string())?;
    let mut sources = Vec::new();
    for path in listed.lines().filter(|path| !is_test_file(path)) {
        // A file that is deleted and not committed yet is still listed.
        let Ok(text) = fs::read_to_string(workspace_root().join(path)) else { continue };
        let tokens = text.parse().map_err(|error| format!("cannot parse `{path}`: {error}"))?;
        sources.push((path.to_owned(), tokens));
    }
    sources.sort_by(|left, right| left.0.cmp(&right.0));
    Ok(sources)
}

fn is_test_file(path: &str) -> bool {
    Path::new(path)
        .components()
        .any(|part| part.as_os_str().to_str().is_some_and(|name| name.starts_with("tests")))
}

/// Calls `visit` with the tokens of each group outside of tests, outer groups first.
pub(crate) fn visit_groups(tokens: TokenStream, visit: &mut impl FnMut(&[TokenTree])) {
    let tokens = strip_tests(tokens);
    visit(&tokens);
    for token in tokens {
        if let TokenTree::Group(group) = token {
            visit_groups(group.stream(), visit);
        }
    }
}

/// Returns the tokens without items under `#[cfg(test)]` or `#[test]`.
pub(crate) fn strip_tests(tokens: TokenStream) -> Vec<TokenTree> {
    let mut kept = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let is_attribute = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '#');
        let Some(TokenTree::Group(group)) = tokens.peek() else {
            kept.push(token);
            continue;
        };
        let text = group.stream().to_string();
        let is_test = is_attribute
            && group.delimiter() == Delimiter::Bracket
            && (text == "test" || text.starts_with("cfg") && text.contains("test"));
        if !is_test {
            kept.push(token);
            continue;
        }
        // The item ends with its body or with a semicolon.
        for token in tokens.by_ref() {
            match token {
                TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => break,
                TokenTree::Punct(punct) if punct.as_char() == ';' => break,
                _ => {}
            }
        }
    }
    kept
}
