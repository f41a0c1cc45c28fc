//! Links of guidance that lead nowhere.
//!
//! An agent follows a link as a person does, and finds nothing. Only what is surely meant as a path is
//! looked at: no address, no code, no placeholder of a template, no name that version control ignores,
//! because it is made later. A path may start at the file or at any directory above it: agents try both.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use brief_dialects::native::is_elsewhere;
use brief_dialects::{GuidanceText, ProjectFiles};
use brief_engine::Catalog;
use brief_syntax::markdown::{collect_links, decoded_destination};
use brief_syntax::walk::IgnoreFiles;
use brief_syntax::{AbsentSubmodules, Diagnostic, Root, Rule, Source, Span, rules};
use brief_system::System;
use brief_system::paths::{cleaned_below, relative_path, to_slashed};

use crate::words::split_words;

/// Broken links that are reported for one file; more are one mistake.
const REPORTED_PER_FILE: usize = 20;

/// Pages of GitHub beside the files of a repository: `../blob/main/a.md`, `../../issues`.
const OF_GITHUB: [&str; 11] =
    split_words("blob tree raw issues pull pulls wiki releases discussions commit actions");

/// Names that stand for a name in an example.
const STAND_INS: [&str; 22] = split_words(
    "path file filename name link url uri href image img foo bar baz example examples relative \
     placeholder document doc page target destination",
);

/// A place in a text that names a file.
#[derive(Debug, Clone)]
pub struct GuidanceLink {
    pub source: Arc<Source>,
    pub span: Span,
    pub target: PathBuf,
}

/// Returns the places in the texts of the project that name a file of it.
pub fn find_links(catalog: &Catalog, system: &dyn System, root: &Root) -> Vec<GuidanceLink> {
    let check = LinkCheck::new(system, root, None);
    let mut found = Vec::new();
    catalog.each_text(&mut |text| found.extend(check.collect_named_files(text)));
    // Two dialects may read one file.
    let key = |link: &GuidanceLink| (link.source.path().to_owned(), link.span);
    found.sort_by_key(key);
    found.dedup_by_key(|link| key(link));
    found
}

/// Returns the links in the texts of the project that lead to no file, for a catalog that was read
/// with [`Catalog::read_project`].
pub fn find_broken_links(catalog: &Catalog, system: &dyn System, root: &Root) -> Vec<Diagnostic> {
    let mut check = LinkCheck::new(system, root, catalog.files());
    let mut found = Vec::new();
    catalog.each_text(&mut |text| found.extend(check.check_text(text)));
    found
}

/// Looks for broken links in the texts of one project.
pub(crate) struct LinkCheck<'c> {
    system: &'c dyn System,
    root: &'c Root,
    /// The paths of the project, for advice.
    files: Option<&'c ProjectFiles>,
    ignored: IgnoreFiles<'c>,
    submodules: AbsentSubmodules,
    /// The texts that were looked at.
    seen: BTreeSet<u64>,
}

impl<'c> LinkCheck<'c> {
    pub(crate) fn new(
        system: &'c dyn System,
        root: &'c Root,
        files: Option<&'c ProjectFiles>,
    ) -> LinkCheck<'c> {
        let ignored = IgnoreFiles::new(system, root);
        let submodules = AbsentSubmodules::read(system, root);
        LinkCheck { system, root, files, ignored, submodules, seen: BTreeSet::new() }
    }

    /// Returns the links of a text that lead nowhere, each once. A file that two dialects read, or that has
    /// a copy for another client, is looked at once.
    pub(crate) fn check_text(&mut self, text: GuidanceText<'_>) -> Vec<Diagnostic> {
        let path = text.source.path();
        let Ok(below) = path.strip_prefix(self.root.path()) else { return Vec::new() };
        if is_elsewhere(below) {
            return Vec::new();
        }
        let body = text.body();
        let found = collect_links(body);
        let mut hasher = DefaultHasher::new();
        (path.parent().and_then(Path::file_name), body).hash(&mut hasher);
        if found.is_empty() || !self.seen.insert(hasher.finish()) {
            return Vec::new();
        }
        // By its real place: a link to the file elsewhere does not move what it says.
        let real = self.system.resolve(path).map(|real| real.path);
        let real = real.unwrap_or_else(|_| path.to_owned());
        let mut reported = Vec::new();
        let mut is_form = None;
        let mut known = BTreeSet::new();
        for link in found {
            if reported.len() == REPORTED_PER_FILE {
                break;
            }
            let Some(wanted) = LinkedPath::from_destination(&link.destination) else { continue };
            if !known.insert(wanted.path.clone()) {
                continue;
            }
            if self.is_there(path, &wanted) || real != path && self.is_there(&real, &wanted) {
                continue;
            }
            if self.is_there_once_installed(path, below, &wanted)
                || is_to_come(line_around(body, link.span.start))
                || is_single_name(&wanted.path) && *is_form.get_or_insert_with(|| is_a_form(body))
            {
                continue;
            }
            let span = text.source_span(link.span.start, link.span.end);
            reported.push(self.broken_link_diagnostic(&text, span, &link.destination, &wanted));
        }
        reported
    }

    /// Returns the files that a text names: by links, and by imports (`@docs/style.md`).
    pub(crate) fn collect_named_files(&self, text: GuidanceText<'_>) -> Vec<GuidanceLink> {
        let path = text.source.path();
        let body = text.body();
        let linked = collect_links(body).into_iter().map(|link| (link.span, link.destination));
        let words = body.split_ascii_whitespace().filter_map(|word| {
            let named = word.strip_prefix('@')?.trim_end_matches(['.', ',', ';', ':', ')']);
            let start = named.as_ptr().addr() - body.as_ptr().addr();
            Some((Span::new(start, start + named.len()), named.to_owned()))
        });
        let found = linked.chain(words).filter_map(|(span, named)| {
            let wanted = LinkedPath::from_destination(&named)?;
            let top = self.root.path();
            let bases = path.ancestors().skip(1).take_while(|base| base.starts_with(top));
            let mut paths = bases.filter_map(|base| join_inside(top, base, &wanted.path));
            let target = paths.find_map(|path| self.system.resolve(&path).ok())?.path;
            let span = text.source_span(span.start, span.end);
            Some(GuidanceLink { source: Arc::clone(text.source), span, target })
        });
        found.collect()
    }

    /// Returns whether a path leads to something, from the file or a directory above it, or is ignored.
    fn is_there(&self, file: &Path, wanted: &LinkedPath) -> bool {
        let top = self.root.path();
        let mut bases = file.ancestors().skip(1).take_while(|base| base.starts_with(top));
        bases.any(|base| {
            // A file that git ignores may be there for others, where the link is usually read from.
            let is_usual = Some(base) == file.parent() || base == top;
            join_inside(top, base, &wanted.path).is_some_and(|path| {
                let below = path.strip_prefix(top).unwrap_or(&path);
                self.exists(&path, wanted)
                    || is_usual && self.ignored.is_ignored(below)
                    || self.submodules.may_hold(below)
            })
        })
    }

    /// Returns whether a path leads to something from the place where a project installs a skill that it keeps elsewhere:
    /// `../../../README.md` of `skills/x` is for `.claude/skills/x`.
    fn is_there_once_installed(&self, file: &Path, below: &Path, wanted: &LinkedPath) -> bool {
        let top = self.root.path();
        let is_of_client = below.iter().any(|name| name.as_encoded_bytes().starts_with(b"."));
        if is_of_client || !wanted.path.starts_with("../..") {
            return false;
        }
        let mut above = file.ancestors().skip(1).take_while(|above| above.starts_with(top));
        let skill = above.find(|above| self.system.resolve(&above.join("SKILL.md")).is_ok());
        let Some(skill) = skill else { return false };
        let (Some(name), Ok(own)) = (skill.file_name(), file.strip_prefix(skill)) else {
            return false;
        };
        let installed = top.join(".claude/skills").join(name).join(own);
        let directory = installed.parent().unwrap_or(top);
        join_inside(top, directory, &wanted.path).is_some_and(|path| self.exists(&path, wanted))
    }

    fn exists(&self, path: &Path, wanted: &LinkedPath) -> bool {
        let is_there = |path: &Path| self.system.resolve(path).is_ok();
        is_there(path)
            || !wanted.has_extension
                && ["md", "mdx", "mdc", "html", "ts", "tsx", "js", "py", "rst"]
                    .iter()
                    .any(|extension| is_there(&path.with_added_extension(extension)))
    }

    fn broken_link_diagnostic(
        &self,
        text: &GuidanceText<'_>,
        span: Span,
        written: &str,
        wanted: &LinkedPath,
    ) -> Diagnostic {
        let file = text.source.path();
        let directory = file.parent().unwrap_or(file);
        let leaves_skill =
            text.is_skill && join_inside(directory, directory, &wanted.path).is_none();
        let message = if leaves_skill {
            format!("`{written}` points outside the skill's directory, to a missing file")
        } else {
            format!("file not found: `{written}`")
        };
        let help = match self.only_namesake(directory, &wanted.path) {
            Some(other) if written.starts_with("mdc:") => {
                let below = other.strip_prefix(self.root.path()).unwrap_or(&other);
                format!("did you mean `mdc:{}`?", to_slashed(below))
            }
            Some(other) => format!("did you mean `{}`?", relative_path(directory, &other)),
            None if leaves_skill => {
                "put the file into the skill's directory, which is all that is \
                                     installed with it, or remove the link"
                    .to_owned()
            }
            None => "correct the path, or remove the link".to_owned(),
        };
        Diagnostic::new(broken_link_rule(text.dialect), text.source, span, message).with_help(help)
    }

    /// Returns the one file that has the wanted name: of those below a directory, or of the project.
    fn only_namesake(&self, directory: &Path, wanted: &Path) -> Option<PathBuf> {
        let name = wanted.file_name()?.to_str()?;
        let is_namesake = |path: &&String| {
            path.rsplit('/').next().is_some_and(|last| last.eq_ignore_ascii_case(name))
        };
        // Such names are everywhere; the only other one is not what was meant.
        if ["readme.md", "skill.md", "index.md", "agents.md", "claude.md"]
            .contains(&name.to_ascii_lowercase().as_str())
        {
            return None;
        }
        let below = directory.strip_prefix(self.root.path()).ok()?;
        let is_near = |path: &&String| Path::new(path).starts_with(below);
        let namesakes: Vec<&String> = self.files?.files.iter().filter(is_namesake).collect();
        let mut near = namesakes.iter().copied().filter(is_near);
        match (near.next(), near.next(), namesakes.as_slice()) {
            (Some(only), None, _) | (None, None, &[only]) => Some(self.root.path().join(only)),
            _ => None,
        }
    }
}

/// The number of gaps from which on a text is a form to be filled in.
const GAPS: usize = 5;

/// Returns whether a text is a form: it has gaps such as `[Component name]`, which are no links. Code, such as
/// `#[derive(Debug)]`, has no gaps.
fn is_a_form(text: &str) -> bool {
    let mut is_code = false;
    let prose = text.split_inclusive('\n').filter(|line| {
        let line = line.trim_start();
        let is_fence = line.starts_with("```") || line.starts_with("~~~");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    prose.map(count_gaps).sum::<usize>() >= GAPS
}

/// Returns the number of gaps in a line.
fn count_gaps(line: &str) -> usize {
    let gaps = line.match_indices('[').filter(|(at, _)| {
        let rest = &line[at + 1..];
        let Some(end) = rest.find([']', '[', '\n']) else { return false };
        let is_closed = rest[end..].starts_with(']');
        let after = rest.get(end + 1..).unwrap_or_default();
        is_closed
            && rest.starts_with(char::is_alphabetic)
            && end > 3
            && !line[..*at].ends_with('#')
            && !after.starts_with(['(', '[', ':'])
    });
    gaps.count()
}

/// Returns whether a path is the name of a file beside the text.
fn is_single_name(path: &Path) -> bool {
    let mut names = path.components().filter(|one| !matches!(one, Component::CurDir));
    matches!(names.next(), Some(Component::Normal(_))) && names.next().is_none()
}

/// Returns the line of a text that has an offset.
fn line_around(text: &str, at: usize) -> &str {
    let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let end = after.find('\n').map_or(text.len(), |end| at + end);
    text.get(start..end).unwrap_or_default()
}

/// Returns whether a line says that the page that it links is still to be written, or lies beside the project.
fn is_to_come(line: &str) -> bool {
    const WORDS: [&str; 7] = [
        "(planned",
        "coming soon",
        "to be written",
        "not yet ",
        "(upcoming",
        "(future",
        " sibling ",
    ];
    let lower = line.to_lowercase();
    WORDS.iter().any(|word| lower.contains(word))
}

fn broken_link_rule(dialect: &str) -> Rule {
    match dialect {
        "tasks" => rules::tasks::BROKEN_LINK,
        // A skill of the open standard is a client's file, wherever it waits to be installed.
        _ => rules::client::BROKEN_LINK,
    }
}

/// A path that a link names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LinkedPath {
    pub(crate) path: PathBuf,
    has_extension: bool,
}

impl LinkedPath {
    /// Reads a destination; `None` for what is no path, or perhaps none.
    pub(crate) fn from_destination(destination: &str) -> Option<LinkedPath> {
        // Cursor's links to files of the workspace.
        let path = destination.strip_prefix("mdc:").unwrap_or(destination);
        let path = path.split(['#', '?']).next().unwrap_or_default();
        let path = without_line(path);
        let is_special = path
            .contains(['<', '>', '{', '}', '$', '*', '[', ']', '|', '…', ':', '@', ','])
            || path.contains("...")
            || path.contains(' ')
            || path.starts_with(['/', '~', '\\'])
            || path.ends_with('.');
        if is_special {
            return None;
        }
        let path = decoded_destination(path);
        let names: Vec<&str> =
            path.split('/').filter(|name| !matches!(*name, "" | "." | "..")).collect();
        let last = names.last()?;
        let stand_in = |name: &str| {
            let stem = name.split('.').next().unwrap_or(name).to_ascii_lowercase();
            STAND_INS.contains(&stem.as_str())
                || ["your-", "my-", "your_", "my_", "xxx", "yyyy", "nnn", "some-"]
                    .iter()
                    .any(|start| stem.starts_with(start))
        };
        // `[text](link)`: a word is no path.
        let extension = last.rsplit_once('.').map(|(_, extension)| extension);
        let has_extension = extension.is_some_and(|extension| {
            (1..=5).contains(&extension.len())
                && extension.chars().all(|letter| letter.is_ascii_alphanumeric())
                && extension.chars().any(|letter| letter.is_ascii_alphabetic())
        });
        // A word with a slash in it may be anything; with an end or a beginning it is a path.
        let is_path = has_extension
            || path.ends_with('/') && names.len() > 1
            || path.starts_with("./")
            || path.starts_with("../");
        if path.starts_with("../") && OF_GITHUB.contains(&names[0]) {
            return None;
        }
        if !is_path || stand_in(names[0]) || stand_in(last) {
            return None;
        }
        // `example.com/page`, `github.com/a/b`.
        let first = path.split('/').next().unwrap_or_default();
        let is_host = path.contains('/')
            && [".com", ".org", ".io", ".dev", ".net", ".ai"]
                .iter()
                .any(|end| first.ends_with(end));
        (!is_host).then(|| LinkedPath { path: PathBuf::from(path), has_extension })
    }
}

/// `src/a.rs:12` and `src/a.rs:12:3` name a line.
pub(crate) fn without_line(path: &str) -> &str {
    let mut path = path;
    while let Some((before, digits)) = path.rsplit_once(':') {
        let is_line = !digits.is_empty()
            && digits.chars().all(|letter| letter.is_ascii_digit() || letter == '-');
        if !is_line {
            break;
        }
        path = before;
    }
    path
}

/// Joins a path to a directory by its text; `None` when it leaves `top`.
fn join_inside(top: &Path, base: &Path, path: &Path) -> Option<PathBuf> {
    let below = base.strip_prefix(top).ok().filter(|_| path.is_relative())?;
    let path = cleaned_below(&below.join(path))?;
    Some(top.components().chain(path.components()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A form has gaps to fill in; code has brackets of its own.
    #[test]
    fn a_form_has_gaps_outside_of_code() {
        let gaps = "- [Component name]: [What it does], [Who owns it]\n- [First step]\n- [Last step], [More]\n";
        let code = "Use `#[must_use]`, #[derive(Debug)], #[deny(docs)], #[clap(hide)], #[cfg(test)] and #[test].\n";
        let links =
            "[one](a.md) [two](b.md) [three](c.md) [four](d.md) [five](e.md) [sixth](f.md)\n";
        assert!(is_a_form(gaps));
        assert!(is_a_form(&format!("```rust\n{code}```\n{gaps}")));
        for other in [code, links, &format!("```text\n{gaps}```\n"), &format!("~~~\n{gaps}~~~\n")] {
            assert!(!is_a_form(other), "{other}");
        }
    }

    /// U76: what is no path, or perhaps none, is left alone.
    #[test]
    fn only_what_is_surely_a_path_is_looked_at() {
        for path in [
            "docs/a.md",
            "./a.md#part",
            "../b/c.py:12",
            "mdc:src/x.ts",
            "a%20b.md",
            "./src/lib",
            "src/lib/",
        ] {
            assert!(LinkedPath::from_destination(path).is_some(), "{path}");
        }
        for other in [
            "https://x.example/a.md",
            "mailto:a@b.example",
            "#part",
            "url",
            "link",
            "path/to/file.md",
            "./<name>.md",
            "docs/${x}.md",
            "docs/{{x}}.md",
            "src/*.md",
            "docs/...",
            "/docs/a",
            "filename.md",
            "example.com/a.md",
            "your-file.md",
            "~/notes.md",
            "../blob/main/README.md",
            "internal-wiki/pools",
        ] {
            assert_eq!(LinkedPath::from_destination(other), None, "{other}");
        }
    }
}
