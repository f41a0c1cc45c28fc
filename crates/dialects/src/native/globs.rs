//! Each client's idea of a file pattern.
//!
//! Claude Code expands braces itself, cuts a trailing `/**` off and takes the rest for lines of a
//! `.gitignore`: a name without `/` matches at any depth, a directory stands for all below it, `!` takes
//! back, and case does not count. VS Code matches `applyTo` at any depth, and case does not count either;
//! Copilot's command line matches the same from the root, or the name alone. All others start at their
//! workspace and know `*`, `**`, `?`, classes and braces. A test holds the first to the crate `ignore`.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::OnceLock;

use brief_syntax::glob::{Glob, GlobError};
use brief_syntax::{Span, TargetKind, limits};

use crate::FileSet;
use crate::name_index::{FilesBelow, PathCase, fold_case};
use crate::rule_check::CheckCoverage;

use super::apply_to::{CliRule, at_any_depth, split_negation};

/// The client whose patterns they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Semantics {
    /// Lines of a `.gitignore`, after braces.
    Claude,
    Workspace,
    /// The same, and a text is one pattern, whatever commas it has.
    Whole,
    Copilot,
}

/// The patterns of one file.
#[derive(Debug)]
pub(super) struct Globs {
    pub(super) semantics: Semantics,
    /// The patterns as they were written.
    pub(super) written: Vec<String>,
    spans: Vec<Span>,
    rules: Vec<Rule>,
    /// The same patterns as Copilot's command line reads them, compiled on first use.
    cli: OnceLock<Vec<CliRule>>,
}

#[derive(Debug)]
struct Rule {
    glob: Glob,
    /// Which of the written patterns it comes from.
    written: usize,
    is_negated: bool,
    is_directory: bool,
}

/// A problem of a list of patterns.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum GlobsProblem {
    /// One of them is no pattern.
    Invalid {
        span: Span,
        pattern: String,
        error: GlobError,
    },
    TooMany {
        span: Span,
    },
}

impl CheckCoverage for Globs {
    fn covers_file(&self, path: &str) -> bool {
        self.find_covering_pattern(path, TargetKind::File).is_some()
    }

    fn could_cover_inside(&self, directory: &str) -> bool {
        self.find_covering_pattern(directory, TargetKind::Directory).is_some()
    }
}

impl Globs {
    /// Reads patterns: each value may hold several, with commas between them.
    ///
    /// `None` means that they leave nothing out, so that there is nothing to match.
    pub(super) fn parse<'v>(
        semantics: Semantics,
        values: impl IntoIterator<Item = (&'v str, Span)>,
        problems: &mut Vec<GlobsProblem>,
    ) -> Option<Globs> {
        let mut globs = Globs::empty(semantics);
        let mut count = 0;
        // Claude Code takes a list that says `**` and nothing else for none.
        let mut is_everything = true;
        'values: for (value, span) in values {
            for pattern in split_patterns(semantics, value) {
                if globs.written.len() == limits::NATIVE_PATTERNS {
                    problems.push(GlobsProblem::TooMany { span });
                    break 'values;
                }
                globs.written.push(pattern.to_owned());
                globs.spans.push(span);
                let (expanded, is_cut) = match semantics {
                    Semantics::Claude => expand_braces(pattern, limits::NATIVE_PATTERNS - count),
                    _ => (vec![pattern.to_owned()], false),
                };
                count += expanded.len();
                for pattern in &expanded {
                    is_everything &= globs.add_pattern(pattern, span, problems);
                }
                if is_cut {
                    problems.push(GlobsProblem::TooMany { span });
                    break 'values;
                }
            }
        }
        (!is_everything || semantics != Semantics::Claude).then_some(globs)
    }

    fn empty(semantics: Semantics) -> Globs {
        let (written, spans, rules) = (Vec::new(), Vec::new(), Vec::new());
        Globs { semantics, written, spans, rules, cli: OnceLock::new() }
    }

    /// Adds one pattern; returns whether it says nothing about files.
    fn add_pattern(&mut self, pattern: &str, span: Span, problems: &mut Vec<GlobsProblem>) -> bool {
        let written = self.written.len() - 1;
        let rule = match self.semantics {
            Semantics::Claude => {
                let pattern = pattern.strip_suffix("/**").unwrap_or(pattern);
                if pattern.is_empty() {
                    return true;
                }
                parse_gitignore_rule(&fold_case(pattern), written)
            }
            Semantics::Workspace | Semantics::Whole => {
                parse_workspace_rule(pattern, written).map(Some)
            }
            Semantics::Copilot => at_any_depth(&fold_case(pattern)).map(|(glob, is_negated)| {
                Some(Rule { glob, written, is_negated, is_directory: false })
            }),
        };
        match rule {
            Ok(rule) => self.rules.extend(rule),
            Err(error) => {
                let pattern = pattern.to_owned();
                problems.push(GlobsProblem::Invalid { span, pattern, error });
            }
        }
        pattern == "**"
    }

    /// Returns the pattern that covers a path, which is relative to what the patterns start at. A
    /// directory is covered when a file in it could be.
    pub(super) fn find_covering_pattern(&self, path: &str, kind: TargetKind) -> Option<&str> {
        let path = &*self.fold_path(path);
        let inside = |rule: &&Rule| !rule.is_negated && rule.glob.could_match_inside(path);
        let rule = match (self.semantics, kind) {
            (Semantics::Claude, TargetKind::File) => self.find_ignoring_rule(path, kind),
            (Semantics::Claude, TargetKind::Directory) => {
                self.find_ignoring_rule(path, kind).or_else(|| self.rules.iter().find(inside))
            }
            (_, TargetKind::File) => {
                self.rules.iter().find(|rule| !rule.is_negated && rule.glob.matches(path))
            }
            (_, TargetKind::Directory) => self.rules.iter().find(inside),
        };
        rule.map(|rule| self.written[rule.written].as_str())
    }

    /// Returns whether the patterns decide the same about every file right in a directory, if that is seen at once.
    pub(super) fn is_same_in(&self, directory: &str) -> bool {
        let directory = &*self.fold_path(directory);
        let concerns = |rule: &Rule| !rule.is_negated && rule.glob.may_concern(directory);
        !self.rules.iter().any(concerns)
            || self.semantics == Semantics::Claude
                && self.find_ignoring_rule(directory, TargetKind::Directory).is_some()
    }

    fn path_case(&self) -> PathCase {
        match self.semantics {
            Semantics::Claude | Semantics::Copilot => PathCase::Folded,
            Semantics::Workspace | Semantics::Whole => PathCase::Kept,
        }
    }

    /// Returns a path as it is matched.
    fn fold_path<'p>(&self, path: &'p str) -> Cow<'p, str> {
        match self.path_case() {
            PathCase::Folded => fold_case(path),
            PathCase::Kept => Cow::Borrowed(path),
        }
    }

    /// Returns whether one of the patterns leaves nothing out.
    pub(super) fn is_everything(&self) -> bool {
        self.written.iter().any(|pattern| matches!(pattern.as_str(), "**" | "**/*"))
    }

    /// Returns whether Copilot's command line takes a path, seen from the root, to be covered.
    pub(super) fn is_covered_in_cli(&self, path: &str, kind: TargetKind) -> bool {
        self.in_cli().iter().any(|rule| rule.matches_target(path, kind))
    }

    /// Adds the files that Copilot's command line takes to be covered.
    pub(super) fn cover_in_cli(&self, files: &FilesBelow<'_>, covered: &mut FileSet) {
        for rule in self.in_cli() {
            for (place, file) in rule.likely_files(files) {
                if rule.matches_target(file, TargetKind::File) {
                    covered.insert(place);
                }
            }
        }
    }

    fn in_cli(&self) -> &[CliRule] {
        let read = || self.written.iter().filter_map(|pattern| CliRule::parse(pattern)).collect();
        self.cli.get_or_init(read)
    }

    /// As `git` decides: from the top down, the last line that matches counts, and below a directory
    /// that is ignored nothing is taken back.
    fn find_ignoring_rule(&self, path: &str, kind: TargetKind) -> Option<&Rule> {
        let ends = path.match_indices('/').map(|(at, _)| (at, true));
        let is_directory = kind == TargetKind::Directory;
        let last = (!path.is_empty()).then_some((path.len(), is_directory));
        ends.chain(last).find_map(|(end, is_directory)| {
            let matches = |rule: &&Rule| {
                (is_directory || !rule.is_directory) && rule.glob.matches(&path[..end])
            };
            self.rules.iter().rev().find(matches).filter(|rule| !rule.is_negated)
        })
    }

    pub(super) fn compiled_globs(&self) -> impl Iterator<Item = &Glob> {
        self.rules.iter().map(|rule| &rule.glob)
    }

    /// Adds the files that the patterns cover.
    pub(super) fn add_covered_files(&self, files: &FilesBelow<'_>, covered: &mut FileSet) {
        for rule in self.rules.iter().filter(|rule| !rule.is_negated) {
            for (place, file) in files.likely_matches(&rule.glob, self.path_case()) {
                if !covered.contains(place)
                    && self.find_covering_pattern(file, TargetKind::File).is_some()
                {
                    covered.insert(place);
                }
            }
        }
    }

    /// Returns the patterns that cover none of the files, with their places. What only takes back is left alone.
    pub(super) fn dead_patterns(&self, files: &FilesBelow<'_>) -> Vec<(&str, Span)> {
        let mut dead = Vec::new();
        for (index, (written, &span)) in self.written.iter().zip(&self.spans).enumerate() {
            let mut rules = self
                .rules
                .iter()
                .filter(|rule| rule.written == index && !rule.is_negated)
                .peekable();
            let reaches = |rule: &Rule| {
                files
                    .likely_matches(&rule.glob, self.path_case())
                    .any(|(_, file)| self.rule_matches_file(rule, file))
            };
            if rules.peek().is_some() && !rules.any(reaches) {
                dead.push((written.as_str(), span));
            }
        }
        dead
    }

    fn rule_matches_file(&self, rule: &Rule, file: &str) -> bool {
        let file = &*self.fold_path(file);
        if self.semantics == Semantics::Claude && rule.glob.may_concern(file) {
            let mut above = file.match_indices('/').map(|(at, _)| &file[..at]);
            if above.any(|directory| rule.glob.matches(directory)) {
                return true;
            }
        }
        !rule.is_directory && rule.glob.matches(file)
    }
}

/// Returns the patterns in a text.
pub(super) fn split_patterns(semantics: Semantics, value: &str) -> Vec<&str> {
    match semantics {
        Semantics::Whole => {
            Some(value.trim()).filter(|text| !text.is_empty()).into_iter().collect()
        }
        _ => split_at_commas(value).collect(),
    }
}

/// Splits at the commas that stand outside of braces.
pub(super) fn split_at_commas(value: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    let mut is_escaped = false;
    value
        .split(move |character| {
            let is_plain = !is_escaped;
            is_escaped = is_plain && character == '\\';
            match character {
                '{' if is_plain => depth += 1,
                '}' if is_plain => depth = depth.saturating_sub(1),
                ',' => return depth == 0,
                _ => {}
            }
            false
        })
        .map(str::trim)
        .filter(|pattern| !pattern.is_empty())
}

/// Puts each alternative of each pair of braces in, at most `budget` times. Returns whether there
/// were more.
pub(super) fn expand_braces(pattern: &str, budget: usize) -> (Vec<String>, bool) {
    let mut finished = Vec::new();
    let mut pending = vec![(pattern.to_owned(), 0)];
    while let Some((pattern, from)) = pending.pop() {
        if finished.len() + pending.len() >= budget {
            return (finished, true);
        }
        let Some((start, end, parts)) = find_braces(&pattern, from) else {
            finished.push(pattern);
            continue;
        };
        let (before, after) = (&pattern[..start], &pattern[end..]);
        // The first one is taken from the end.
        for part in parts.iter().rev().take(budget) {
            pending.push((format!("{before}{}{after}", part.trim()), start));
        }
    }
    (finished, false)
}

/// Finds the first pair of braces with something in it, and its alternatives.
fn find_braces(pattern: &str, from: usize) -> Option<(usize, usize, Vec<&str>)> {
    let mut open: Option<usize> = None;
    let mut depth = 0_usize;
    let mut parts = Vec::new();
    let mut part = 0;
    let mut is_escaped = false;
    for (at, character) in pattern.char_indices().skip_while(|&(at, _)| at < from) {
        if is_escaped || character == '\\' {
            is_escaped = !is_escaped;
            continue;
        }
        match (character, depth) {
            ('{', 0) => {
                (open, part, depth) = (Some(at), at + 1, 1);
                parts.clear();
            }
            ('{', _) => depth += 1,
            (',', 1) => {
                parts.push(&pattern[part..at]);
                part = at + 1;
            }
            ('}', 1) => {
                depth = 0;
                parts.push(&pattern[part..at]);
                if let Some(start) = open.filter(|&start| at > start + 1) {
                    return Some((start, at + 1, parts));
                }
            }
            ('}', depth_now) => depth = depth_now.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// Returns a pattern without what only says that it starts at the workspace.
pub(super) fn from_workspace(pattern: &str) -> &str {
    let rest = pattern.trim_start_matches("./");
    rest.strip_prefix('/').unwrap_or(rest)
}

/// Reads a pattern that starts at the workspace.
fn parse_workspace_rule(pattern: &str, written: usize) -> Result<Rule, GlobError> {
    let rest = from_workspace(pattern);
    // A directory stands for what is in it.
    let glob = match rest.strip_suffix('/') {
        Some(directory) => Glob::new(&format!("{directory}/**"))?,
        None => Glob::new(rest)?,
    };
    Ok(Rule { glob, written, is_negated: false, is_directory: false })
}

/// Reads a line of a `.gitignore`; a comment is none.
fn parse_gitignore_rule(line: &str, written: usize) -> Result<Option<Rule>, GlobError> {
    if line.starts_with('#') {
        return Ok(None);
    }
    let (pattern, is_negated) = split_negation(line);
    let is_directory = pattern.ends_with('/');
    let pattern = pattern.strip_suffix('/').unwrap_or(pattern);
    if pattern.is_empty() {
        return Ok(None);
    }
    let is_anchored = pattern.contains('/');
    let pattern = pattern.strip_prefix('/').unwrap_or(pattern);
    let mut text = String::with_capacity(pattern.len() + 4);
    if !is_anchored && pattern != "**" {
        text.push_str("**/");
    }
    push_plain(&mut text, pattern);
    // What is in a directory, and not the directory.
    if pattern.ends_with("/**") || pattern == "**" {
        text.push_str("/*");
    }
    Ok(Some(Rule { glob: Glob::new(&text)?, written, is_negated, is_directory }))
}

/// Writes a pattern of git's as one of ours: braces mean nothing there, and no class admits `/`.
fn push_plain(text: &mut String, pattern: &str) {
    let mut rest = pattern.chars();
    while let Some(character) = rest.next() {
        match character {
            '{' | '}' => text.extend(['\\', character]),
            '\\' => {
                text.push('\\');
                text.extend(rest.next());
            }
            '[' => {
                text.push('[');
                let after = rest.as_str();
                let is_negated = after.starts_with(['!', '^']);
                if is_negated {
                    text.push('!');
                    rest.next();
                }
                push_class(text, &mut rest);
                if is_negated {
                    // The bracket that ends the class was written already.
                    if text.pop() == Some(']') {
                        text.push_str("/]");
                    }
                }
            }
            _ => text.push(character),
        }
    }
}

/// Copies the inside of a class with its closing bracket. A bracket that comes first is a letter.
fn push_class(text: &mut String, rest: &mut std::str::Chars<'_>) {
    let mut is_first = true;
    while let Some(character) = rest.next() {
        match character {
            ']' if !is_first => return text.push(']'),
            ']' => text.push_str("\\]"),
            '\\' => {
                text.push('\\');
                text.extend(rest.next());
            }
            _ => text.push(character),
        }
        is_first = false;
    }
}
