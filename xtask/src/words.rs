//! The word list: a doc comment begins with its subject or its verb, and a sentence names who does
//! something. House style for comments, messages and documents; the code of tests quotes what it likes.

use std::fs;
use std::path::{Path, PathBuf};

use crate::workspace;

/// Words that begin no doc comment. A comment names the thing: "The number of …", "Returns …".
const OPENINGS: [&str; 8] = ["What", "Who", "Whose", "Whether", "Where", "When", "Why", "How"];

/// Words that hide who acts: name the user, the client or the module.
const VAGUE: [&str; 4] = ["somebody", "nobody", "whoever", "anybody"];

/// Phrases, each with the usual words for it.
const PHRASES: [(&str, &str); 8] = [
    ("is no JSON", "is not valid JSON"),
    ("are no JSON", "are not valid JSON"),
    ("is no UTF-8", "is not UTF-8"),
    ("that is no file", "that is not a file"),
    ("that is no directory", "that is not a directory"),
    ("is none itself", "is not one itself"),
    ("without air", "tight"),
    ("mark of a merge", "unresolved merge conflict"),
];

/// Returns every place that the list is against, with advice.
pub(crate) fn problems() -> Vec<String> {
    let mut found = Vec::new();
    for path in files() {
        let text = fs::read_to_string(&path).unwrap_or_default();
        let is_source = path.extension().is_some_and(|extension| extension == "rs");
        let is_test =
            path.components().any(|part| part.as_os_str() == "tests") || path.ends_with("tests.rs");
        let shown = path.strip_prefix(workspace()).unwrap_or(&path).display().to_string();
        let mut is_inside = false;
        for (index, line) in text.lines().enumerate() {
            let comment = line.trim_start();
            let doc = comment.strip_prefix("///").or_else(|| comment.strip_prefix("//!"));
            let opening = doc.filter(|_| is_source && !is_inside);
            is_inside = doc.is_some();
            let is_prose = !is_test || comment.starts_with("//");
            let advice = opening
                .and_then(opening_advice)
                .or_else(|| is_prose.then(|| advice(line)).flatten());
            found.extend(advice.map(|advice| format!("{shown}:{}: {advice}", index + 1)));
        }
    }
    found
}

fn opening_advice(doc: &str) -> Option<String> {
    let first = doc.split_whitespace().next()?;
    OPENINGS.contains(&first).then(|| format!("`{first}` begins a doc comment: name the thing"))
}

fn advice(line: &str) -> Option<String> {
    let lower = line.to_ascii_lowercase();
    let mut words = lower.split(|character: char| !character.is_alphanumeric());
    if let Some(word) = words.find(|word| VAGUE.contains(word)) {
        return Some(format!("`{word}`: name the user, the client or the module"));
    }
    let (phrase, better) = PHRASES.iter().find(|(phrase, _)| line.contains(phrase))?;
    Some(format!("`{phrase}`: write `{better}`"))
}

/// The sources, the tests and the documents, without the changelog: it is history.
fn files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let crates = fs::read_dir(workspace().join("crates")).into_iter().flatten().flatten();
    for member in crates {
        collect(&member.path().join("src"), "rs", &mut files);
        collect(&member.path().join("tests"), "rs", &mut files);
    }
    collect(&workspace().join("docs"), "md", &mut files);
    collect(&workspace().join("crates").join("syntax").join("rules"), "md", &mut files);
    for page in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"] {
        files.push(workspace().join(page));
    }
    files
}

fn collect(directory: &Path, extension: &str, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, extension, files);
        } else if path.extension().is_some_and(|found| found == extension) {
            files.push(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{advice, files, opening_advice, problems};

    #[test]
    fn sources_and_documents_keep_to_the_word_list() {
        assert!(files().len() > 500, "{}", files().len());
        let problems = problems();
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }

    #[test]
    fn the_list_finds_what_it_names() {
        assert!(opening_advice(" What it is.").is_some());
        assert!(opening_advice(" Whatever comes is kept.").is_none());
        assert!(advice("a file that Nobody reads").is_some());
        assert!(advice("the value is no JSON").is_some());
        assert!(advice("a plain sentence").is_none());
    }
}
