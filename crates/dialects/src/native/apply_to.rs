//! `applyTo` as Copilot's two programs match it: Copilot CLI 1.0.102 as it was seen, VS Code by its source.

use brief_syntax::TargetKind;
use brief_syntax::glob::{Glob, GlobError};

use crate::name_index::{FilesBelow, PathCase};

/// Removes the `!` of a negated pattern, and returns whether it was there.
pub(super) fn split_negation(pattern: &str) -> (&str, bool) {
    pattern.strip_prefix('!').map_or((pattern, false), |rest| (rest, true))
}

/// One pattern as Copilot's command line has it.
#[derive(Debug)]
pub(super) struct CliRule {
    glob: Glob,
    is_negated: bool,
}

impl CliRule {
    /// Reads a pattern; `None` if it is invalid.
    pub(super) fn parse(pattern: &str) -> Option<CliRule> {
        let (pattern, is_negated) = split_negation(pattern);
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
        Some(CliRule { glob: Glob::new(pattern).ok()?, is_negated })
    }

    /// Returns whether it covers a path, seen from the root.
    pub(super) fn matches_target(&self, path: &str, kind: TargetKind) -> bool {
        match kind {
            TargetKind::File => self.matches_path(path),
            TargetKind::Directory => self.is_negated || self.glob.could_match_inside(path),
        }
    }

    /// Returns the files that it may cover: a negated pattern covers most.
    pub(super) fn likely_files<'i>(
        &self,
        files: &FilesBelow<'i>,
    ) -> Box<dyn Iterator<Item = (usize, &'i str)> + 'i> {
        // A name alone matches, too, so that the start of a path tells nothing.
        if self.is_negated {
            files.list_files()
        } else {
            Box::new(files.likely_matches(&self.glob, PathCase::Folded))
        }
    }

    /// Matches the whole path or the name alone; a negated pattern matches everything else.
    fn matches_path(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        self.glob.matches(path) != self.is_negated || self.glob.matches(name) != self.is_negated
    }
}

/// Reads a pattern of `applyTo` as VS Code does: at any depth, unless it starts at the root of all files,
/// where nothing of a project is. Returns whether the pattern is negated, too.
pub(super) fn at_any_depth(pattern: &str) -> Result<(Glob, bool), GlobError> {
    let (pattern, is_negated) = split_negation(pattern);
    // Only the command line knows this one.
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    let glob = match pattern {
        "*" | "**" | "**/*" => Glob::new("**")?,
        _ if pattern.starts_with('/') || pattern.starts_with("**/") => Glob::new(pattern)?,
        _ => Glob::new(&format!("**/{pattern}"))?,
    };
    Ok((glob, is_negated))
}
