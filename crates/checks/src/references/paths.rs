//! Paths that a text names in code, and the sentences around them.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use brief_dialects::ProjectFiles;
use brief_syntax::walk::IgnoreFiles;
use brief_syntax::{AbsentSubmodules, Root};
use brief_system::System;
use brief_system::paths::{cleaned_below, to_slashed};

use crate::links::{LinkedPath, without_line};
use crate::words::{split_phrases, split_words};

/// Ends of names that files of projects have.
const EXTENSIONS: [&str; 58] = split_words(
    "rs py pyi ts tsx js jsx mjs cjs mts cts go java kt kts swift rb php c h cc cpp hpp cs \
     scala ex exs vue svelte astro md mdx mdc rst json jsonc json5 yaml yml toml ini cfg sh \
     bash ps1 sql proto graphql html css scss xml gradle tf nix lua dart bzl",
);

/// Directories whose content is made, or is not the project's.
const MADE: [&str; 22] = split_words(
    "dist build out target node_modules coverage .next .venv venv tmp temp logs log .cache \
     output outputs generated __pycache__ site-packages artifacts reports results",
);

/// Words of sentences about files that are to be made, or that are one of many.
const TO_BE_MADE: [&str; 34] = split_phrases(
    "create|creating|add a|add an|add new|adding|new file|generate|write to|writes|written to|\
     save|output|produce|e.g.|example|such as|for instance| like |would|if it exists|if exists|\
     if present|if there|when present|optional|named|name it|pattern|becomes|rename|move |\
     instead of|put ",
);

/// Words of sentences that tell that something is not there.
const GONE: [&str; 25] = split_phrases(
    "no longer|removed|deleted|was moved|were moved|deprecated|obsolete|formerly|used to|\
     does not exist|doesn't exist|don't exist|do not exist|not exist|there is no|replaced by|\
     ` was |` were |previously|originally|historical|split into|is now |are now |superseded",
);

/// Words of sentences about files that are not in the tree, or not of this project.
const OF_ANOTHER: [&str; 22] = split_phrases(
    "ignored|artifact|artifact|generated|not committed|repository|repo |repo's|upstream|submodule|user's|\
     users'|your project|their |home directory|relative to|at runtime|published|installed|\
     downloaded|in the image|on the server",
);

/// Directories of clients and editors. A project has them, and so has each of its users.
const OF_USERS: [&str; 16] = split_words(
    ".claude .cursor .codex .gemini .opencode .vscode .windsurf .cline .clinerules .roo .kiro \
     .agents .agent .copilot .junie .qwen",
);

/// The limit for directories of one name that a path is looked for in.
const MOST_NAMESAKES: usize = 5;

/// The limit for directories of one name whose ignored files are looked at; of more nothing is claimed.
const MOST_SEARCHED: usize = 200;

/// Returns whether headings announce examples.
pub(super) fn is_example(headings: &[String]) -> bool {
    const WORDS: [&str; 9] =
        split_words("example template bad wrong don't anti-pattern antipattern changelog history");
    headings.iter().any(|heading| {
        let lower = heading.to_ascii_lowercase();
        lower
            .split([' ', ':', '(', ')', ','])
            .any(|part| WORDS.contains(&part.trim_end_matches('s')))
    })
}

fn has_word(sentence: &str, words: &[&str]) -> bool {
    let lower = sentence.to_ascii_lowercase();
    words.iter().any(|word| lower.contains(word))
}

pub(super) fn tells_it_is_gone(sentence: &str) -> bool {
    has_word(sentence, &GONE)
}

/// Words before what is told to be gone: "(was `commands/a.md`)".
const WAS: [&str; 4] = split_phrases("was|were|formerly|previously");

/// Words between what is gone and what has come for it.
const MOVED: [&str; 7] =
    split_phrases("migrated|moved to|moved into|renamed|retired|folded into|merged into");

/// Verbs before "from", in front of what is told to be gone.
const MOVED_FROM: [&str; 5] = split_phrases("migrated|moved|renamed|converted|ported");

/// Returns whether the words before an offset of a sentence tell that what stands there is gone: "was `a`", "moved from `a`".
pub(super) fn is_told_past(sentence: &str, at: usize) -> bool {
    let before = sentence.get(..at).unwrap_or_default().trim_end().to_ascii_lowercase();
    let word = before.rsplit(|letter: char| !letter.is_alphabetic()).next().unwrap_or_default();
    let has_moved = before.rsplit_once(" from").is_some_and(|(verb, rest)| {
        has_word(verb, &MOVED_FROM) && !format!("{rest} ").contains(" to ")
    });
    WAS.contains(&word) || has_moved
}

/// Returns whether a passage is an entry of a log, which begins with its day.
pub(super) fn is_log_entry(text: &str) -> bool {
    let day = text.trim_start_matches(['[', '(', ' ']).as_bytes();
    day.len() > 10
        && day.iter().take(10).enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

/// Returns whether a sentence tells, after an offset, what has become of the thing there: "`a` moved to `b`".
pub(super) fn is_told_moved(sentence: &str, at: usize) -> bool {
    sentence.get(at..).is_some_and(|rest| has_word(rest, &MOVED))
}

pub(super) fn is_to_be_made(sentence: &str) -> bool {
    has_word(sentence, &TO_BE_MADE)
}

/// Returns whether a sentence may be about a file that is made, or that others have.
pub(super) fn tells_of_another_place(sentence: &str) -> bool {
    has_word(sentence, &OF_ANOTHER)
}

/// Returns whether a path is one that each user of the project may have.
pub(super) fn is_of_a_user(path: &str) -> bool {
    let first = path.trim_start_matches("./").split('/').next().unwrap_or_default();
    OF_USERS.contains(&first)
}

/// Returns whether a comment announces a command that should not be used.
pub(super) fn is_wrong_way(comment: &str) -> bool {
    comment.contains(['❌', '✗', '✘', '🚫'])
        || has_word(
            comment,
            &["bad", "wrong", "don't", "do not", "never", "avoid", "instead of", "incorrect"],
        )
}

/// Returns a path without its steps upwards: `../docs/a.md` is the same file to look for as `docs/a.md`.
pub(super) fn place_key(written: &str) -> String {
    let mut rest = written;
    while let Some(below) = rest.strip_prefix("./").or_else(|| rest.strip_prefix("../")) {
        rest = below;
    }
    rest.trim_end_matches('/').to_owned()
}

/// Returns the directory that a text in a client's directory is about: what is beside it there is no part of the project.
pub(super) fn outside_of_client(directory: &str) -> &str {
    let mut starts = std::iter::once(0).chain(directory.match_indices('/').map(|(at, _)| at + 1));
    let start = starts.find(|&at| directory[at..].starts_with('.'));
    start.map_or(directory, |at| directory[..at].trim_end_matches('/'))
}

/// Returns the directory that a path begins in before its end.
pub(super) fn base_of<'p>(path: &'p str, end: &str) -> Option<&'p str> {
    let end = without_line(end).trim_start_matches("./").trim_end_matches('/');
    Some(path.strip_suffix(end)?.trim_end_matches('/'))
}

/// A path that the project does not have.
#[derive(Debug)]
pub(super) struct MissingPath {
    /// The places below the root that it may have had, the nearest first.
    pub(super) places: Vec<String>,
    /// The places that it may have had below directories that its own beginning names.
    pub(super) guesses: Vec<String>,
    /// The paths of the project that end like it.
    pub(super) elsewhere: Vec<String>,
    /// The only file of that name, as the text would write it.
    pub(super) moved: Option<String>,
}

/// Returns whether code is surely the path of a file of a project.
pub(super) fn is_path(text: &str) -> bool {
    let is_plain = text.chars().all(|letter| letter.is_alphanumeric() || "._-/+:".contains(letter))
        && text.contains('/');
    let parts: Vec<&str> =
        text.split('/').filter(|part| !matches!(*part, "" | "." | "..")).collect();
    let Some(last) = parts.last().filter(|_| is_plain) else { return false };
    let last = last.split(':').next().unwrap_or(last);
    let end = last.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, end)| end);
    let is_file = end.is_some_and(|end| EXTENSIONS.contains(&end));
    let is_directory = text.ends_with('/') && parts.len() > 1;
    // A user's own settings are not committed.
    let is_own = parts[0].starts_with('.')
        && ["settings", "mcp", "config"].iter().any(|own| last.starts_with(own));
    let is_made = is_own || parts.iter().any(|part| MADE.contains(part));
    // `Foo.ts` in `components/Foo.ts` may be one of many.
    let is_stand_in = parts.iter().any(|part| {
        let stem = part.split('.').next().unwrap_or(part);
        super::commands::is_stand_in(stem) && stem.len() > 1
            || stem.contains("YYYY")
            || stem.contains("XX")
    });
    (is_file || is_directory)
        && !is_made
        && !is_stand_in
        && LinkedPath::from_destination(text).is_some()
}

/// The paths of a project, by their last names.
pub(super) struct PathIndex<'c> {
    system: &'c dyn System,
    root: &'c Root,
    files: &'c ProjectFiles,
    names: OnceCell<HashMap<&'c str, Vec<&'c str>>>,
    ignored: IgnoreFiles<'c>,
    submodules: AbsentSubmodules,
}

impl<'c> PathIndex<'c> {
    pub(super) fn new(system: &'c dyn System, root: &'c Root, files: &'c ProjectFiles) -> Self {
        let ignored = IgnoreFiles::new(system, root);
        let submodules = AbsentSubmodules::read(system, root);
        PathIndex { system, root, files, names: OnceCell::new(), ignored, submodules }
    }

    /// Returns whether a path below the root may exist where the submodules are checked out.
    pub(super) fn may_be_in_submodule(&self, below: &Path) -> bool {
        self.submodules.may_hold(below)
    }

    fn paths_by_name(&self) -> &HashMap<&'c str, Vec<&'c str>> {
        self.names.get_or_init(|| {
            let mut names: HashMap<&str, Vec<&str>> = HashMap::new();
            for path in self.files.files.iter().chain(&self.files.directories) {
                names.entry(path.rsplit('/').next().unwrap_or(path)).or_default().push(path);
            }
            names
        })
    }

    /// Looks for a path from a file, by both of its paths, and all directories above it, and for any path that ends so.
    pub(super) fn find_missing(
        &self,
        written: &str,
        place: &str,
        file: [&Path; 2],
    ) -> Option<MissingPath> {
        let wanted = LinkedPath::from_destination(place)?;
        let root = self.root.path();
        let mut places = Vec::new();
        for from in file {
            let bases = from.ancestors().skip(1).take_while(|base| base.starts_with(root));
            for base in bases {
                let below = base.strip_prefix(root).ok()?.join(&wanted.path);
                // A path that leaves the project is of another one.
                let Some(below) = cleaned_below(&below) else { continue };
                let path: PathBuf = root.components().chain(below.components()).collect();
                if self.system.resolve(&path).is_ok()
                    || self.ignored.is_ignored(&below)
                    || self.submodules.may_hold(&below)
                {
                    return None;
                }
                let below = to_slashed(&below);
                if !places.contains(&below) {
                    places.push(below);
                }
            }
        }
        if places.is_empty() {
            return None;
        }
        let written = without_line(written);
        let end =
            to_slashed(&cleaned_below(Path::new(written)).unwrap_or_else(|| wanted.path.clone()));
        let end = end.trim_start_matches("../");
        let name = end.rsplit('/').next()?;
        let namesakes = self.paths_by_name().get(name).map(Vec::as_slice).unwrap_or_default();
        let is_end = |path: &&str| {
            path.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('/'))
        };
        let elsewhere: Vec<String> =
            namesakes.iter().filter(|path| is_end(path)).map(|path| (*path).to_owned()).collect();
        // What version control ignores in any directory may be there for others.
        if elsewhere.is_empty() && self.is_ignored_somewhere(end) {
            return None;
        }
        let guesses = self.below_known_directories(end);
        let moved = match namesakes {
            [only] if is_distinct(name) && shares_directory(only, end) => Some((*only).to_owned()),
            _ => None,
        };
        Some(MissingPath { places, guesses, elsewhere, moved })
    }

    /// Returns whether version control ignores a path below a directory that has its first name.
    fn is_ignored_somewhere(&self, end: &str) -> bool {
        let (first, rest) = end.split_once('/').unwrap_or((end, ""));
        let known = self.paths_by_name().get(first).map(Vec::as_slice).unwrap_or_default();
        let is_directory = |path: &&&&str| {
            self.files.directories.binary_search_by(|one| one.as_str().cmp(path)).is_ok()
        };
        let known = known.iter().filter(|path| is_directory(&path)).take(MOST_SEARCHED + 1);
        let known: Vec<_> = known.collect();
        // Of an ignored directory, git may track something all the same.
        let is_ignored = |path: &Path| self.ignored.is_ignored(path);
        let ignores_below = |path: &Path| is_ignored(&path.join(rest)) && !is_ignored(path);
        known.len() > MOST_SEARCHED || known.iter().any(|path| ignores_below(Path::new(path)))
    }

    /// Returns the places that a path has below directories that its own beginning names: `core/src/x.rs` below
    /// `crates/core/src`.
    fn below_known_directories(&self, end: &str) -> Vec<String> {
        let slashes: Vec<usize> = end.match_indices('/').map(|(at, _)| at).collect();
        for at in slashes.into_iter().rev() {
            let (above, rest) = (&end[..at], &end[at + 1..]);
            let name = above.rsplit('/').next().unwrap_or(above);
            let known = self.paths_by_name().get(name).map(Vec::as_slice).unwrap_or_default();
            let is_above =
                |path: &&&str| path.strip_suffix(above).is_some_and(|before| before.ends_with('/'));
            let found: Vec<String> =
                known.iter().filter(is_above).map(|path| format!("{path}/{rest}")).collect();
            if !found.is_empty() {
                return if found.len() <= MOST_NAMESAKES { found } else { Vec::new() };
            }
        }
        Vec::new()
    }
}

/// Names that many files of a project have, without their ends.
const COMMON: [&str; 34] = split_words(
    "readme index main mod lib __init__ config test tests utils types setup conftest \
     package skill agents claude app settings constants helpers models schema page layout \
     route build errors api client server style styles run",
);

/// Returns whether a name is unlikely to be that of two different files.
fn is_distinct(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).to_ascii_lowercase();
    stem.len() > 3 && !COMMON.contains(&stem.as_str())
}

/// Returns whether a file of the same name is plausibly the one that a text means: the directory of either is on the way
/// to the other. A common top such as `src` shows nothing.
fn shares_directory(path: &str, wanted: &str) -> bool {
    fn split_directories(path: &str) -> Vec<&str> {
        let above = path.rsplit_once('/').map_or("", |(above, _)| above);
        above.split('/').filter(|part| !part.is_empty()).collect()
    }
    let (path, wanted) = (split_directories(path), split_directories(wanted));
    let is_on = |parent: Option<&&str>, way: &[&str]| parent.is_some_and(|name| way.contains(name));
    is_on(path.last(), &wanted) || is_on(wanted.last(), &path)
}
