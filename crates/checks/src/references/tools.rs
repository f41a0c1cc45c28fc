//! Tools that a text has its reader run, and that the project has given up for others.
//!
//! A tool counts as given up only if no manifest and no name of a file speaks of it, and if the project configures another
//! one for the same work. A text that compares the two, or tells of a change, names no tool to run.

use std::collections::BTreeSet;

use brief_syntax::markdown::Passage;
use memchr::memmem;

use super::manifests::Manifests;
use crate::words::{split_phrases, split_words};

/// A tool, and what else shows that a project does the same work with another.
struct Replaced {
    tool: &'static str,
    /// True for a word of other meanings, which counts in code or beside another tool only.
    is_common: bool,
    /// The tools that do its work, each as a word of a manifest.
    by: &'static [&'static str],
}

/// The tools that are looked for.
const TOOLS: [Replaced; 8] = [
    Replaced { tool: "black", is_common: true, by: &["ruff-format", "ruff format"] },
    Replaced { tool: "isort", is_common: false, by: &["ruff"] },
    Replaced { tool: "flake8", is_common: false, by: &["ruff"] },
    Replaced { tool: "yapf", is_common: false, by: &["ruff-format", "ruff format"] },
    Replaced { tool: "pipenv", is_common: false, by: &["poetry.lock", "uv.lock"] },
    Replaced { tool: "prettier", is_common: false, by: &["biome.json", "biome.jsonc", "oxfmt"] },
    Replaced { tool: "eslint", is_common: false, by: &["biome.json", "biome.jsonc", "oxlint"] },
    Replaced { tool: "jest", is_common: false, by: &["vitest"] },
];

/// Tools that are named beside others.
const NEIGHBORS: [&str; 10] =
    split_words("ruff isort mypy pylint eslint flake8 prettier oxfmt pytest pre-commit");

/// Words of sentences that compare tools, or tell of a change.
const ASIDE: [&str; 24] = split_phrases(
    " not |n't |never|instead|replac|migrat|unlike| like |similar|compatib|formerly|used to |previous|\
     legacy|no longer|old |from |e.g.|example|such as|other project| or |/|drop",
);

/// The manifests and settings that name the tools of a project.
const MANIFESTS: [&str; 22] = split_words(
    "package.json pyproject.toml setup.cfg setup.py tox.ini Makefile justfile Justfile noxfile.py \
     Taskfile.yml .pre-commit-config.yaml Pipfile requirements.txt requirements-dev.txt \
     dev-requirements.txt requirements_dev.txt lefthook.yml .lintstagedrc .lintstagedrc.json deno.json \
     .trunk/trunk.yaml pixi.toml",
);

/// The limit for manifests that are read; of more nothing is claimed.
const MOST_MANIFESTS: usize = 400;

/// A tool that a text names.
#[derive(Debug)]
pub(super) struct NamedTool {
    pub(super) tool: &'static str,
    /// The offsets in the text of the passage.
    pub(super) place: (usize, usize),
}

/// Returns whether a text names one of the tools, in any spelling. Few do, and the rest need no look at their sentences.
pub(super) fn may_name_tool(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    TOOLS.iter().any(|one| memmem::find(lower.as_bytes(), one.tool.as_bytes()).is_some())
}

/// Finds the tools that a passage says are run.
pub(super) fn named_tools(passage: &Passage) -> Vec<NamedTool> {
    if passage.is_heading {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (start, sentence) in passage.sentences() {
        let lower = sentence.to_ascii_lowercase();
        if ASIDE.iter().any(|word| lower.contains(word)) {
            continue;
        }
        let is_beside = NEIGHBORS.iter().any(|tool| word_places(&lower, tool).next().is_some());
        for one in &TOOLS {
            let is_code = |at: &usize| lower[..*at].ends_with('`');
            let is_meant = |at: &usize| !one.is_common || is_beside || is_code(at);
            let at = word_places(&lower, one.tool).find(is_meant);
            found.extend(at.map(|at| NamedTool {
                tool: one.tool,
                place: (start + at, start + at + one.tool.len()),
            }));
        }
    }
    found
}

/// Returns the places of a whole word. `black-box`, `.eslintrc` and `jest.config` are other words.
fn word_places<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    text.match_indices(word).map(|(at, _)| at).filter(move |at| {
        let is_part = |letter: char| letter.is_alphanumeric() || "-_.@/".contains(letter);
        let before = text[..*at].chars().next_back();
        let mut after = text[at + word.len()..].chars();
        let next = after.next();
        // A full stop ends a sentence.
        let is_stop = next == Some('.') && after.next().is_none_or(char::is_whitespace);
        !before.is_some_and(is_part) && (is_stop || !next.is_some_and(is_part))
    })
}

/// The tools that the project has given up, with what it has instead and the file that says so.
pub(super) fn replaced_tools(
    manifests: &Manifests<'_>,
) -> Vec<(&'static str, &'static str, String)> {
    let files = &manifests.files.files;
    let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let is_manifest = |path: &&String| {
        MANIFESTS.contains(&name(path).as_str())
            || path.starts_with("requirements/")
            || path.starts_with(".github/workflows/")
    };
    let listed: Vec<&String> = files.iter().filter(is_manifest).take(MOST_MANIFESTS + 1).collect();
    if listed.len() > MOST_MANIFESTS {
        return Vec::new();
    }
    let mut texts: Vec<(&String, String)> = Vec::new();
    for path in listed {
        // What cannot be read may name anything.
        let Some(text) = manifests.read_text(path) else { return Vec::new() };
        texts.push((path, text.to_ascii_lowercase()));
    }
    let names: BTreeSet<String> =
        files.iter().map(|path| name(path).to_ascii_lowercase()).collect();
    let given_up = TOOLS.iter().filter(|one| {
        !names.iter().any(|name| name.contains(one.tool))
            && !texts.iter().any(|(_, text)| is_named(text, one.tool))
    });
    let found = given_up.filter_map(|one| {
        one.by.iter().find_map(|other| {
            let of_root = |path: &str| !path.contains('/') || path.starts_with(".github/");
            if other.contains('.') {
                let is_there = files.binary_search_by(|path| path.as_str().cmp(other)).is_ok();
                return is_there.then(|| (one.tool, *other, (*other).to_owned()));
            }
            let says = |(path, text): &&(&String, String)| of_root(path) && is_named(text, other);
            texts.iter().find(says).map(|(path, _)| (one.tool, *other, (*path).clone()))
        })
    });
    found.collect()
}

/// Returns whether a manifest names a tool: as a word, or as a part of the name of a package.
fn is_named(text: &str, tool: &str) -> bool {
    text.match_indices(tool).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + tool.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphabetic)
    })
}

#[cfg(test)]
mod tests {
    use brief_syntax::markdown::Prose;

    use super::*;

    #[test]
    fn tools_to_run_are_read() {
        for (text, expected) in [
            ("- **Formatting** - black, oxfmt will auto-fix", "black"),
            ("Run `flake8` before each commit.", "flake8"),
            ("Tests run with Jest.", "jest"),
            // Another word, a comparison, a change.
            ("A black box test, and black text.", ""),
            ("Black lines are drawn first.", ""),
            ("Use ruff instead of black to format.", ""),
            ("Ruff formats like black.", ""),
            ("See `.eslintrc` for the rules", ""),
            ("We migrated the linting to ruff, and flake8 is gone", ""),
        ] {
            let prose = Prose::parse(text);
            let found: Vec<&str> =
                prose.passages().flat_map(named_tools).map(|named| named.tool).collect();
            assert_eq!(found.join(", "), expected, "{text}");
        }
    }

    #[test]
    fn a_manifest_names_a_tool_by_a_word() {
        assert!(is_named("\"eslint-plugin-x\": 1", "eslint"));
        assert!(is_named("- id: black\n", "black"));
        assert!(is_named("@jest/core", "jest"));
        assert!(!is_named("- id: blacklist\n", "black"));
        assert!(!is_named("majestic", "jest"));
    }
}
