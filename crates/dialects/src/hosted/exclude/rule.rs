//! One exclude pattern. Like in an include pattern, `.`, `..` and doubled separators have their
//! meaning in paths.

use std::path::PathBuf;

use brief_syntax::glob::{Glob, GlobProblem};

use crate::hosted::pattern::{
    OPTIONS, PatternSegment, escape_pattern, find_pattern_marks, is_plain, split_segments,
    with_slashes,
};

/// The limit of alternatives of one pattern.
const ALTERNATIVES: usize = 1_000;

/// The limit of one alternative's bytes while braces are expanded.
const ALTERNATIVE_BYTES: usize = 64 * 1024;

/// The files that a pattern excludes.
#[derive(Debug)]
pub(super) enum ExcludeRule {
    Everything,
    /// Files and directories of a name, at any depth.
    Name(CoveringGlob),
    /// A path relative to an anchor directory.
    Path {
        /// The number of leading `..`.
        climbs: usize,
        pattern: CoveringGlob,
    },
    Absolute(CoveringGlob),
}

/// A pattern that covers a match and, for a directory, everything below it.
#[derive(Debug)]
pub(super) struct CoveringGlob {
    glob: Glob,
    /// True if it can name a directory: a pattern of wildcards alone concerns only files.
    names: bool,
    /// True if it can name a hidden directory: a star does not match a leading dot.
    names_hidden: bool,
}

impl CoveringGlob {
    fn new(text: &str) -> Result<CoveringGlob, GlobProblem> {
        let glob = Glob::with_options(text, OPTIONS).map_err(|error| error.problem())?;
        let last = split_segments(text).last().map_or("", |last| last.text);
        let names = is_plain(last) || last.chars().any(char::is_alphanumeric);
        Ok(CoveringGlob { glob, names, names_hidden: !last.starts_with(['*', '?']) })
    }

    /// Returns whether it matches a file name.
    pub(super) fn matches_file(&self, name: &str) -> bool {
        self.glob.matches(name)
    }

    /// Returns whether it matches the path itself.
    pub(super) fn matches(&self, way: &str) -> bool {
        self.glob.matches(way)
    }

    /// Returns whether it matches the name of a directory in the path.
    pub(super) fn matches_directory_of(&self, way: &str) -> bool {
        let Some((above, _)) = way.rsplit_once('/') else { return false };
        !is_climbing(way)
            && above.split('/').any(|name| self.may_name(name) && self.glob.matches(name))
    }

    /// Returns whether it matches the path or a directory above it.
    pub(super) fn covers(&self, way: &str) -> bool {
        self.glob.matches(way)
            || !is_climbing(way)
                && way.match_indices('/').any(|(end, _)| {
                    let directory = &way[..end];
                    let name = directory.rsplit('/').next().unwrap_or(directory);
                    self.may_name(name) && self.glob.matches(directory)
                })
    }

    fn may_name(&self, directory: &str) -> bool {
        self.names && (self.names_hidden || !directory.starts_with('.'))
    }
}

fn is_climbing(way: &str) -> bool {
    way == ".." || way.starts_with("../")
}

/// Returns whether a pattern begins at the home directory.
pub(super) fn is_of_home(written: &str) -> bool {
    let written = written.trim();
    written == "~" || written.starts_with("~/") || written.starts_with("~\\")
}

/// Compiles a pattern. The string is a message about an invalid or ambiguous one.
pub(super) fn compile_exclude_pattern(
    written: &str,
    homes: &[PathBuf],
) -> (Vec<ExcludeRule>, Option<String>) {
    let text = with_slashes(written.trim());
    let texts: Vec<(String, bool)> = match text.strip_prefix('~').filter(|_| !homes.is_empty()) {
        Some(rest) => homes
            .iter()
            .map(|home| (format!("{}/{rest}", escape_pattern(&home.to_string_lossy())), true))
            .collect(),
        None => vec![(text, false)],
    };
    let mut rules = Vec::with_capacity(texts.len());
    let mut problem = None;
    for (text, is_of_home) in &texts {
        match rules_of(text, *is_of_home) {
            Ok(more) => rules.extend(more),
            Err(UnreadPattern::Syntax(error)) => {
                problem = Some(format!("is not a valid glob, so it is read literally: {error}"));
                // A text longer than any path matches none.
                let plain = rules_of(&escape_pattern(text), *is_of_home);
                rules.extend(plain.into_iter().flatten());
            }
            Err(UnreadPattern::TooMany) => {
                problem = Some(format!(
                    "expands to more than {ALTERNATIVES} patterns, so everything is excluded"
                ));
                rules.push(ExcludeRule::Everything);
            }
        }
    }
    (rules, problem)
}

enum UnreadPattern {
    Syntax(GlobProblem),
    TooMany,
}

fn rules_of(text: &str, is_of_home: bool) -> Result<Vec<ExcludeRule>, UnreadPattern> {
    let texts = match Glob::with_options(text, OPTIONS).map_err(|error| error.problem()) {
        Err(GlobProblem::TooLong) => expand_braces(text)?,
        Err(problem) => return Err(UnreadPattern::Syntax(problem)),
        // Only paths within braces need an expansion.
        Ok(_) if has_steps_in_braces(text) => match expand_braces(text) {
            Err(_) if !has_dots(text) => vec![text.to_owned()],
            texts => texts?,
        },
        Ok(_) => vec![text.to_owned()],
    };
    let mut ways = Vec::new();
    for text in &texts {
        normalize_steps(text, &mut ways)?;
    }
    ways.into_iter().map(|way| way.into_rule(is_of_home).map_err(UnreadPattern::Syntax)).collect()
}

/// A normalized pattern: without `.`, inner `..` and empty steps.
#[derive(Debug, Clone, Default)]
struct PatternPath<'t> {
    climbs: usize,
    steps: Vec<&'t str>,
    is_directory: bool,
}

impl PatternPath<'_> {
    fn into_rule(self, is_of_home: bool) -> Result<ExcludeRule, GlobProblem> {
        let PatternPath { climbs, mut steps, is_directory } = self;
        // A pattern that leads back to its anchor names that directory.
        if steps.is_empty() && climbs == 0 && !is_of_home {
            return Ok(ExcludeRule::Everything);
        }
        if is_directory || steps.is_empty() {
            steps.push("**");
        }
        let text = steps.join("/");
        if is_of_home {
            return Ok(ExcludeRule::Absolute(CoveringGlob::new(&text)?));
        }
        Ok(match climbs {
            0 if text == "*" => ExcludeRule::Everything,
            0 if !text.contains('/') => ExcludeRule::Name(CoveringGlob::new(&text)?),
            _ => ExcludeRule::Path { climbs, pattern: CoveringGlob::new(&text)? },
        })
    }
}

/// Normalizes a pattern step by step. `**/..` has two results: any directory, and the one above,
/// where the stars match nothing.
fn normalize_steps<'t>(
    text: &'t str,
    ways: &mut Vec<PatternPath<'t>>,
) -> Result<(), UnreadPattern> {
    let first = ways.len();
    ways.push(PatternPath::default());
    for PatternSegment { text: step, is_last } in split_segments(text) {
        match step {
            "" | "." => {
                let is_directory = step.is_empty() && is_last;
                ways[first..].iter_mut().for_each(|way| way.is_directory = is_directory);
            }
            ".." => {
                for index in first..ways.len() {
                    if ways[index].steps.last() == Some(&"**") {
                        ways.push(ways[index].clone());
                        ways[index].steps.pop();
                    }
                    climb_directory(&mut ways[index]);
                }
            }
            step => ways[first..].iter_mut().for_each(|way| way.steps.push(step)),
        }
        if ways.len() > ALTERNATIVES {
            return Err(UnreadPattern::TooMany);
        }
    }
    Ok(())
}

fn climb_directory(way: &mut PatternPath<'_>) {
    if way.steps.pop().is_none() {
        way.climbs += 1;
    }
}

/// Returns whether alternatives contain path steps, so that they are expanded before normalization.
fn has_steps_in_braces(text: &str) -> bool {
    text.contains('{')
        && (has_dots(text) || find_pattern_marks(text).any(|m| m.character == '/' && m.depth > 0))
}

fn has_dots(text: &str) -> bool {
    text.split(['/', '{', '}', ',', '|']).any(|piece| matches!(piece, "." | ".."))
}

/// Expands each alternative of each pair of braces.
fn expand_braces(text: &str) -> Result<Vec<String>, UnreadPattern> {
    let mut done = Vec::new();
    let mut open = vec![text.to_owned()];
    while let Some(text) = open.pop() {
        if done.len() + open.len() > ALTERNATIVES || text.len() > ALTERNATIVE_BYTES {
            return Err(UnreadPattern::TooMany);
        }
        let Some((before, parts, after)) = split_braces(&text) else {
            done.push(text);
            continue;
        };
        if parts.len() > ALTERNATIVES {
            return Err(UnreadPattern::TooMany);
        }
        open.extend(parts.iter().rev().map(|part| format!("{before}{part}{after}")));
    }
    Ok(done)
}

/// Splits at the first pair of braces: the text before, the alternatives, the text after.
fn split_braces(text: &str) -> Option<(&str, Vec<&str>, &str)> {
    let mut outer =
        find_pattern_marks(text).filter(|mark| mark.depth == 1 && mark.character != '/');
    let first = outer.next()?;
    let (mut start, mut parts) = (first.at + 1, Vec::new());
    for mark in outer {
        parts.push(&text[start..mark.at]);
        start = mark.at + 1;
        if mark.character == '}' {
            return Some((&text[..first.at], parts, &text[start..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_shown(written: &str) -> Vec<String> {
        let (rules, _) = compile_exclude_pattern(written, &[PathBuf::from("/h")]);
        let show = |rule: &ExcludeRule| match rule {
            ExcludeRule::Everything => "all".to_owned(),
            ExcludeRule::Name(pattern) => format!("name {}", pattern.glob.as_str()),
            ExcludeRule::Path { climbs, pattern } => format!("{climbs} {}", pattern.glob.as_str()),
            ExcludeRule::Absolute(pattern) => format!("/ {}", pattern.glob.as_str()),
        };
        rules.iter().map(show).collect()
    }

    #[test]
    fn steps_are_followed_as_in_a_path() {
        for (written, expected) in [
            ("docs/./p.md", &["0 docs/p.md"][..]),
            (" docs//p.md ", &["0 docs/p.md"]),
            ("docs/../docs/p.md", &["0 docs/p.md"]),
            ("docs/*/../p.md", &["0 docs/p.md"]),
            ("../../a/p.md", &["2 a/p.md"]),
            ("a/../../p.md", &["1 p.md"]),
            ("..", &["1 **"]),
            ("docs/..", &["all"]),
            (".", &["all"]),
            ("/", &["all"]),
            ("docs/", &["0 docs/**"]),
            ("docs/.", &["name docs"]),
            ("a/**/../p.md", &["name p.md", "0 a/**/p.md"]),
            ("{docs/./a,b}.md", &["0 docs/a.md", "name b.md"]),
            ("{.,..}/p.md", &["name p.md", "1 p.md"]),
            ("a{b,c}/d", &["0 a{b,c}/d"]),
            ("[a/b]/./c", &["0 [a/b]/c"]),
            ("~/./x/../p.md", &["/ h/p.md"]),
            ("~", &["/ h/**"]),
            ("docs/./[p.md", &[r"0 docs/\[p.md"]),
        ] {
            assert_eq!(read_shown(written), expected, "{written}");
        }
    }

    #[test]
    fn a_bomb_leaves_everything_out() {
        let bomb = "{./a,b}".repeat(20);
        let (rules, problem) = compile_exclude_pattern(&bomb, &[]);
        assert!(matches!(rules.as_slice(), [ExcludeRule::Everything]));
        assert!(problem.unwrap().contains("everything is excluded"));
        let stars = "**/../".repeat(200);
        assert!(matches!(
            compile_exclude_pattern(&stars, &[]).0.as_slice(),
            [ExcludeRule::Everything]
        ));
        // Braces without path steps are left to the glob.
        let wide = "{a/b,c}".repeat(20);
        assert_eq!(read_shown(&wide), [format!("0 {wide}")]);
        // A list that is too long for one glob is expanded into many.
        let long = format!("docs/{{{}p.md}}", "some-name.md,".repeat(400));
        assert_eq!(compile_exclude_pattern(&long, &[]).0.len(), 401);
        let deep = "{".repeat(100_000);
        let _ = compile_exclude_pattern(&deep, &[]);
    }
}
