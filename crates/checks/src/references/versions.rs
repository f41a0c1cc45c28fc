//! Versions of languages and runtimes that a text names, beside those that the project asks for.
//!
//! A text is out of date when it names a version that is too old for the project, or another one than the project
//! is pinned to. A newer one than the least that is asked for is in order.

use brief_dialects::dependencies::manifests::{find_table, parse_toml};
use brief_syntax::markdown::Passage;
use memchr::memmem;

use super::manifests::Manifests;
use crate::words::split_phrases;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runtime {
    Node,
    Python,
    Rust,
    Go,
}

/// The words for each; the longer ones first.
const WORDS: [(&str, Runtime); 8] = [
    ("node.js", Runtime::Node),
    ("nodejs", Runtime::Node),
    ("node", Runtime::Node),
    ("python", Runtime::Python),
    ("golang", Runtime::Go),
    ("go", Runtime::Go),
    ("rust", Runtime::Rust),
    ("msrv", Runtime::Rust),
];

/// A version that a text names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedVersion {
    pub(crate) runtime: Runtime,
    pub(crate) numbers: Vec<u32>,
    /// True for `3.10+`, `3.10 or later`, `>= 3.10`.
    pub(crate) is_least: bool,
    /// The offsets of the number in the text of the passage.
    pub(crate) place: (usize, usize),
}

/// The version that a project asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WantedVersion {
    pub(crate) numbers: Vec<u32>,
    pub(crate) is_least: bool,
    pub(crate) written: String,
    /// The file, `/`-separated below the root.
    pub(crate) file: String,
    /// A word of the line that says so.
    pub(crate) key: &'static str,
}

/// Sentences with these words tell of other versions than the one in use.
const PAST: [&str; 22] = split_phrases(
    " no longer|dropped|removed|deprecat|before |prior to|older|below |introduced|since | was |\
     were |not |n't |unlike|legacy|migrat|upgrad|compatib| if |example|e.g.",
);

/// Sentences with these words say what is needed.
const NEED: [&str; 12] = split_phrases(
    "require|need|must have|minimum|at least|prerequisite|target|runs on|built with|written in|uses |\
     install",
);

/// Sentences with these words tell what a version can do, and not that it is needed.
const FEATURE: [&str; 16] = split_phrases(
    "syntax|feature|union|type hint|annotation|browser|modern|available|support|built-in|idiom|\
     style|backport|polyfill|f-string|walrus",
);

/// The versions of C# and the SDKs of .NET that they came with.
const CSHARP: [(u32, u32); 6] = [(9, 5), (10, 6), (11, 7), (12, 8), (13, 9), (14, 10)];

/// Returns whether a text names C# at all.
pub(crate) fn may_name_csharp(text: &str) -> bool {
    memmem::find(text.as_bytes(), b"C# ").is_some()
        || memmem::find(text.as_bytes(), b"c# ").is_some()
}

/// Finds the version of C# that a passage calls the latest or the current one, with its offsets in the text.
pub(crate) fn current_csharp(passage: &Passage) -> Option<(u32, (usize, usize))> {
    let lower = passage.text.to_ascii_lowercase();
    let at = lower.find("c# ")? + 3;
    let digits =
        lower[at..].find(|letter: char| !letter.is_ascii_digit()).unwrap_or(lower.len() - at);
    let version = lower.get(at..at + digits)?.parse().ok()?;
    let is_current = ["currently c# ", "latest c# ", "current c# "]
        .iter()
        .any(|word| lower.get(..at).is_some_and(|before| before.ends_with(word)));
    is_current.then_some((version, (at, at + digits)))
}

/// Returns the problem with a version of C# that a text calls the newest one, in words.
pub(crate) fn csharp_disagreement(manifests: &Manifests<'_>, version: u32) -> Option<String> {
    let (_, dotnet) = CSHARP.iter().find(|(csharp, _)| *csharp == version)?;
    let text = manifests.read_text("global.json")?;
    let value: serde_json::Value = serde_json::from_str(&text).ok()?;
    let written = value.get("sdk")?.get("version")?.as_str()?.to_owned();
    let major = *parse_version_numbers(&written)?.first()?;
    // A project may stay with an older language.
    let is_kept = ["Directory.Build.props", "Directory.Build.targets"].iter().any(|file| {
        let text = manifests.read_text(file).unwrap_or_default();
        text.contains(&format!("<LangVersion>{version}"))
    });
    (major > *dotnet && !is_kept).then(|| {
        format!("C# {version} came with .NET {dotnet}, and `global.json` requires SDK {written}")
    })
}

/// Finds the versions that a passage says are needed.
pub(crate) fn named_versions(passage: &Passage) -> Vec<NamedVersion> {
    let mut found = Vec::new();
    let has_number = |text: &str| text.bytes().any(|byte| byte.is_ascii_digit());
    if !has_number(&passage.text) {
        return found;
    }
    for (start, sentence) in passage.sentences() {
        if !has_number(sentence) {
            continue;
        }
        let lower = sentence.to_ascii_lowercase();
        if !WORDS.iter().any(|(word, _)| lower.contains(word))
            || PAST.iter().chain(&FEATURE).any(|word| lower.contains(word))
        {
            continue;
        }
        let is_short =
            sentence.split_whitespace().count() <= 8 && (passage.is_item || passage.is_cell);
        let is_needed = is_short || NEED.iter().any(|word| lower.contains(word));
        for (word, runtime) in WORDS {
            for (at, _) in lower.match_indices(word) {
                let is_begun = lower[..at]
                    .chars()
                    .next_back()
                    .is_none_or(|before| !before.is_alphanumeric() && !"-_/.@".contains(before));
                let Some(version) = version_behind(&lower, at + word.len()).filter(|_| is_begun)
                else {
                    continue;
                };
                let (numbers, is_least, from, to) = version;
                let place = (start + from, start + to);
                let is_known = found.iter().any(|other: &NamedVersion| other.place == place);
                if is_needed && !is_known && is_plausible(runtime, &numbers) {
                    found.push(NamedVersion { runtime, numbers, is_least, place });
                }
            }
        }
    }
    found
}

fn is_plausible(runtime: Runtime, numbers: &[u32]) -> bool {
    match (runtime, numbers) {
        (Runtime::Node, [major, ..]) => (8..60).contains(major),
        (Runtime::Python, [3, minor, ..]) => *minor < 40,
        (Runtime::Rust | Runtime::Go, [1, minor, ..]) => *minor > 4,
        _ => false,
    }
}

/// Words behind a version that make it the least one.
const LATER: [&str; 9] =
    split_phrases("+|or later|or newer|or higher|or above|or greater|and above|and up|minimum");

/// Reads the version that stands behind a name: ` 20`, `: v20.11`, ` >= 3.10`, ` (1.75+)`.
fn version_behind(text: &str, at: usize) -> Option<(Vec<u32>, bool, usize, usize)> {
    let rest = text.get(at..)?;
    let mut skipped = rest.len() - rest.trim_start_matches([' ', ':', '(', '`', '*']).len();
    let mut is_least = false;
    for lead in ["version ", "versions ", "(msrv) ", ">= ", ">=", "≥ ", "≥", "v"] {
        let behind = rest.get(skipped..)?;
        if let Some(after) = behind.strip_prefix(lead) {
            is_least |= lead.starts_with(['>', '≥']);
            skipped += behind.len() - after.len();
            let after = rest.get(skipped..)?;
            skipped += after.len() - after.trim_start_matches([' ', ':', '`']).len();
        }
    }
    if skipped == 0 {
        return None;
    }
    let number = rest.get(skipped..)?;
    let length = number
        .find(|letter: char| !letter.is_ascii_digit() && letter != '.')
        .unwrap_or(number.len());
    let number = number[..length].trim_end_matches('.');
    let numbers: Option<Vec<u32>> = number.split('.').map(|part| part.parse().ok()).collect();
    let numbers = numbers.filter(|numbers| numbers.len() <= 3)?;
    let (from, to) = (at + skipped, at + skipped + number.len());
    let after = text.get(to..)?.trim_start_matches('`');
    // `20-alpine`, `3.x`, `18/20`, `3.9–3.12`: something else.
    if after.starts_with(['-', '/', '–', '_', 'x', '%', ',']) && !after.starts_with(", ")
        || after.starts_with(".x")
    {
        return None;
    }
    let behind = after.trim_start();
    is_least |= LATER.iter().any(|word| behind.starts_with(word));
    Some((numbers, is_least, from, to))
}

/// Returns the problem with a version, in words, if the project wants another one.
pub(crate) fn find_version_disagreement(
    named: &NamedVersion,
    wanted: &WantedVersion,
) -> Option<String> {
    let shared = match named.runtime {
        Runtime::Node => 1,
        _ => 2.min(named.numbers.len()).min(wanted.numbers.len()),
    };
    let (ours, theirs) = (named.numbers.get(..shared)?, wanted.numbers.get(..shared)?);
    let is_wrong = match (wanted.is_least, named.is_least) {
        (true, _) => ours < theirs,
        (false, true) => ours > theirs,
        (false, false) => ours != theirs,
    };
    let how = if wanted.is_least { "at least " } else { "" };
    is_wrong.then(|| format!("`{}` requires {how}{}", wanted.file, wanted.written))
}

/// Reads the version that a file asks for; the path of the file is left empty.
type VersionReader = fn(&str) -> Option<WantedVersion>;

/// The files that ask for a version of a runtime. Of the files in one directory the first that asks counts: the compiler
/// that a project is pinned to may be newer than the oldest that it supports.
const VERSION_FILES: [(Runtime, &str, VersionReader); 8] = [
    (Runtime::Node, "package.json", package_json),
    (Runtime::Node, ".nvmrc", |text| parse_pinned_version(text, "")),
    (Runtime::Node, ".node-version", |text| parse_pinned_version(text, "")),
    (Runtime::Python, "pyproject.toml", parse_pyproject),
    (Runtime::Python, ".python-version", |text| parse_pinned_version(text, "")),
    (Runtime::Rust, "Cargo.toml", cargo_manifest),
    (Runtime::Rust, "rust-toolchain.toml", rust_toolchain),
    (Runtime::Go, "go.mod", go_mod),
];

/// Finds the version that the project asks for, in the nearest file above a directory.
pub(crate) fn find_wanted_version(
    manifests: &Manifests<'_>,
    runtime: Runtime,
    directory: &str,
) -> Option<WantedVersion> {
    let mut here = directory;
    loop {
        let mut files = VERSION_FILES.iter().filter(|(of, ..)| *of == runtime);
        let found = files.find_map(|(_, name, read)| {
            let file = match here {
                "" => (*name).to_owned(),
                here => format!("{here}/{name}"),
            };
            manifests.files.files.binary_search(&file).ok()?;
            let wanted = read(&manifests.read_text(&file)?)?;
            Some(WantedVersion { file, ..wanted })
        });
        if found.is_some() || here.is_empty() {
            return found;
        }
        here = here.rsplit_once('/').map_or("", |(above, _)| above);
    }
}

fn parse_version_numbers(text: &str) -> Option<Vec<u32>> {
    let text = text.trim().trim_start_matches('v');
    let end =
        text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let parts: Option<Vec<u32>> =
        text[..end].trim_end_matches('.').split('.').map(|part| part.parse().ok()).collect();
    parts.filter(|parts| !parts.is_empty())
}

fn parse_pinned_version(text: &str, key: &'static str) -> Option<WantedVersion> {
    let mut lines = text.lines().map(str::trim);
    let line = lines.find(|line| !line.is_empty() && !line.starts_with('#'))?;
    let (numbers, written) = (parse_version_numbers(line)?, line.to_owned());
    Some(WantedVersion { numbers, is_least: false, written, file: String::new(), key })
}

/// Reads `>=18`, `^20.1 || >=22`: the least of all.
fn parse_version_range(text: &str, key: &'static str) -> Option<WantedVersion> {
    let mut least: Option<Vec<u32>> = None;
    for part in text.split("||") {
        let first = part.split(',').map(str::trim).find(|part| !part.starts_with(['<', '!']))?;
        let version = parse_version_numbers(first.trim_start_matches(['>', '=', '^', '~', ' ']))?;
        least = Some(least.map_or(version.clone(), |least| least.min(version)));
    }
    let written = text.trim().trim_start_matches([' ', '>', '=']).to_owned();
    Some(WantedVersion { numbers: least?, is_least: true, written, file: String::new(), key })
}

fn package_json(text: &str) -> Option<WantedVersion> {
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    parse_version_range(value.get("engines")?.get("node")?.as_str()?, "\"node\"")
}

fn parse_pyproject(text: &str) -> Option<WantedVersion> {
    let document = parse_toml(text)?;
    parse_version_range(
        find_table(&document, &["project"])?.get("requires-python")?.as_str()?,
        "requires-python",
    )
}

fn cargo_manifest(text: &str) -> Option<WantedVersion> {
    let document = parse_toml(text)?;
    let of = |keys: &[&str]| find_table(&document, keys)?.get("rust-version")?.as_str();
    parse_version_range(of(&["package"]).or_else(|| of(&["workspace", "package"]))?, "rust-version")
}

fn rust_toolchain(text: &str) -> Option<WantedVersion> {
    let document = parse_toml(text)?;
    parse_pinned_version(
        find_table(&document, &["toolchain"])?.get("channel")?.as_str()?,
        "channel",
    )
}

fn go_mod(text: &str) -> Option<WantedVersion> {
    let line = text.lines().find_map(|line| line.strip_prefix("go "))?;
    let (numbers, written) = (parse_version_numbers(line)?, line.trim().to_owned());
    Some(WantedVersion { numbers, is_least: true, written, file: String::new(), key: "go " })
}

#[cfg(test)]
mod tests {
    use brief_syntax::markdown::Prose;

    use super::*;

    fn found(text: &str) -> Vec<String> {
        let versions = Prose::parse(text).passages().flat_map(named_versions).collect::<Vec<_>>();
        let shown = |version: &NamedVersion| {
            let plus = if version.is_least { "+" } else { "" };
            let numbers: Vec<String> = version.numbers.iter().map(u32::to_string).collect();
            format!("{:?} {}{plus}", version.runtime, numbers.join("."))
        };
        versions.iter().map(shown).collect()
    }

    #[test]
    fn needed_versions_are_read() {
        for (text, expected) in [
            ("Requires Node.js 18+ and pnpm.", "Node 18+"),
            ("- **Runtime**: Node v20.11", "Node 20.11"),
            ("| Python | 3.9 |\n| - | - |\n| Python 3.9 or later | x |", "Python 3.9+"),
            ("The MSRV is 1.75.", ""),
            ("You need Rust 1.75.", "Rust 1.75"),
            ("Written in Go 1.21.", "Go 1.21"),
            ("Python >= 3.10 is required", "Python 3.10+"),
            // Not what is needed.
            ("Python 3.8 support was dropped.", ""),
            ("We use cargo 1.75 with node-gyp 10", ""),
            ("Python 3.12 introduced a new syntax.", ""),
            ("Go 3 steps back", ""),
            ("Use node:20-alpine as the base", ""),
        ] {
            assert_eq!(found(text).join(", "), expected, "{text}");
        }
    }

    #[test]
    fn only_too_old_or_other_versions_disagree() {
        let version = |numbers: &[u32], is_least| NamedVersion {
            runtime: Runtime::Python,
            numbers: numbers.to_vec(),
            is_least,
            place: (0, 0),
        };
        let least = parse_version_range(">=3.10,<4", "requires-python").unwrap();
        assert!(find_version_disagreement(&version(&[3, 9], true), &least).is_some());
        assert!(find_version_disagreement(&version(&[3, 10], true), &least).is_none());
        assert!(find_version_disagreement(&version(&[3, 12], false), &least).is_none());
        let pin = parse_pinned_version("3.12\n", "").unwrap();
        assert!(find_version_disagreement(&version(&[3, 11], false), &pin).is_some());
        assert!(find_version_disagreement(&version(&[3, 11], true), &pin).is_none());
        assert!(find_version_disagreement(&version(&[3, 13], true), &pin).is_some());
        assert_eq!(parse_version_range("^18 || >=20", "").unwrap().numbers, [18]);
    }
}
