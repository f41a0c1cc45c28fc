//! `includeFiles`: files outside the context directories.
//!
//! A pattern is relative to the working directory, whichever configuration it is in. Patterns of a
//! project reach files inside the mounted directory only, and never through a link. The walk starts
//! at the pattern's own directory and enters only directories in which it could still match, within
//! limits of entries and depth. Patterns with the same start share one walk.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use brief_syntax::glob::Glob;
use brief_syntax::{Diagnostic, limits, rules};
use brief_system::{Dir, DirEntry, FileKind, System};

use super::context_dir::sort_entries;
use super::model::{ConfigPattern, HostedOrigin, HostedScope};
use super::pattern::{OPTIONS, escape_pattern, is_plain, split_segments, with_slashes};
use super::place::{
    HostedEnvironment, HostedPlace, expand_home, path_diagnostic, unreadable_diagnostic,
};
use super::{Anchor, HostedOptions, Outside};
use brief_safety::sensitive::{self, Leaf};

#[derive(Debug)]
pub(super) struct Include<'c> {
    pub(super) pattern: &'c ConfigPattern,
    /// The start directory of the walk.
    base: PathBuf,
    /// The pattern relative to the start directory.
    glob: Glob,
    /// True for a pattern that names one file.
    pub(super) is_literal: bool,
    /// The parts that match names with a leading dot.
    dotted: Vec<Glob>,
}

/// A file that a pattern matches.
pub(super) struct IncludeMatch<'m, 'c> {
    pub(super) include: &'m Include<'c>,
    pub(super) handle: &'m dyn Dir,
    pub(super) entry: &'m DirEntry,
    pub(super) path: PathBuf,
    /// The sensitive-name pattern that forbids the file.
    pub(super) sensitive: Option<sensitive::Sensitive>,
}

/// Compiles a pattern of the configuration `origin`; `None` for `*`, which stands for the context
/// directories, and for a pattern that must not be followed.
pub(super) fn compile_include<'c>(
    pattern: &'c ConfigPattern,
    origin: &HostedOrigin,
    place: &HostedPlace,
    environment: &HostedEnvironment,
    options: HostedOptions,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Include<'c>> {
    if pattern.pattern.trim() == "*" {
        return None;
    }
    let anchor = match options.anchor {
        Anchor::WorkingDirectory => place.working.as_path(),
        Anchor::ConfigDirectory => &origin.owner,
    };
    let is_users = origin.scope == HostedScope::Global || options.outside == Outside::Allow;
    let mut report =
        |rule, message: String, help| diagnostics.push(origin.problem(rule, message, help));
    let written = pattern.pattern.as_str();
    let located = locate_pattern(written, anchor, environment.home.as_deref());
    if located.is_absolute {
        let message = format!("`{written}` is read as relative to the working directory");
        report(rules::context_dir::INCLUDE_ABSOLUTE, message, "remove the leading `/`");
    }
    let Some((base, text)) = confine_pattern(located, &place.mounted, is_users) else {
        let message =
            format!("`{written}` points outside the workspace, so brief does not follow it");
        let help = "use paths inside it, or move the pattern to the global configuration";
        report(rules::context_dir::OUTSIDE_WORKSPACE, message, help);
        return None;
    };
    match Glob::with_options(&text, OPTIONS) {
        Ok(glob) => {
            let is_literal = is_plain(&text);
            Some(Include { pattern, base, glob, is_literal, dotted: dotted_parts(&text) })
        }
        Err(error) => {
            let message = format!("`{written}` is not a glob and is ignored: {}", error.problem());
            report(rules::context_dir::CONFIG_INVALID_FIELD, message, "see the glob syntax");
            None
        }
    }
}

/// A split pattern: a directory, literal names below it, and the rest.
struct Located {
    base: PathBuf,
    names: Vec<String>,
    rest: Vec<String>,
    is_absolute: bool,
}

fn locate_pattern(written: &str, anchor: &Path, home: Option<&Path>) -> Located {
    let mut text = with_slashes(written.trim());
    let mut base = anchor.to_owned();
    if let Some(path) = expand_home("~", home).filter(|_| text == "~" || text.starts_with("~/")) {
        base = path;
        text.replace_range(..1, "");
        text = text.trim_start_matches('/').to_owned();
    }
    let is_absolute = text.starts_with('/');
    if text.ends_with('/') {
        text.push_str("**");
    }
    let mut names: Vec<String> = Vec::new();
    let mut rest: Vec<String> = Vec::new();
    for part in text.split('/') {
        match part {
            _ if !rest.is_empty() => rest.push(part.to_owned()),
            "" | "." => {}
            ".." => {
                if names.pop().is_none() {
                    base.pop();
                }
            }
            _ if is_plain(part) => names.push(part.to_owned()),
            _ => rest.push(part.to_owned()),
        }
    }
    rest.retain(|part| !part.is_empty() && part != ".");
    Located { base, names, rest, is_absolute }
}

/// Returns the start directory and the pattern relative to it; `None` when it must not be followed.
fn confine_pattern(located: Located, mounted: &Path, is_users: bool) -> Option<(PathBuf, String)> {
    let Located { mut base, mut names, rest, .. } = located;
    let is_climbing = |part: &String| part.split(['{', '}', ',', '|']).any(|part| part == "..");
    if rest.iter().any(is_climbing) {
        return None;
    }
    if !base.starts_with(mounted) {
        // The path may lead back in: `../project/docs` is `docs`.
        let full = names.iter().fold(base.clone(), |path, name| path.join(name));
        match full.strip_prefix(mounted) {
            Ok(inside) => {
                names = inside.iter().map(|name| name.to_string_lossy().into_owned()).collect();
                mounted.clone_into(&mut base);
            }
            Err(_) if is_users => {}
            Err(_) => return None,
        }
    }
    // A prefix such as `C:` would replace the base when it is joined.
    if cfg!(windows) && names.iter().any(|name| name.contains(':')) && !is_users {
        return None;
    }
    let parts: Vec<String> = names.iter().map(|name| escape_pattern(name)).chain(rest).collect();
    Some((base, parts.join("/")))
}

/// Returns the parts of a pattern that begin with a dot, which a star does not match.
fn dotted_parts(text: &str) -> Vec<Glob> {
    let dotted = split_segments(text).map(|segment| segment.text).filter(|part| {
        part.starts_with(['.', '['])
            || part.starts_with('{') && ["{.", ",.", "|."].iter().any(|dot| part.contains(dot))
    });
    dotted.filter_map(|part| Glob::with_options(part, OPTIONS).ok()).collect()
}

impl Include<'_> {
    fn allows_name(&self, name: &str) -> bool {
        !name.starts_with('.') || self.dotted.iter().any(|part| part.matches(name))
    }
}

/// The search for the matching files, by path within each start directory.
pub(super) struct IncludeSearch<'s> {
    pub(super) system: &'s dyn System,
    pub(super) root: Option<&'s dyn Dir>,
    pub(super) mounted: &'s Path,
    /// The remaining number of entries.
    pub(super) budget: usize,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The patterns that match a directory.
    pub(super) directories: BTreeSet<String>,
}

impl<'s> IncludeSearch<'s> {
    pub(super) fn new(
        system: &'s dyn System,
        root: Option<&'s dyn Dir>,
        mounted: &'s Path,
        budget: usize,
    ) -> IncludeSearch<'s> {
        let (diagnostics, directories) = (Vec::new(), BTreeSet::new());
        IncludeSearch { system, root, mounted, budget, diagnostics, directories }
    }

    /// Calls `found` for each match, until it returns `false`.
    pub(super) fn visit_matches<'c>(
        &mut self,
        includes: &[Include<'c>],
        found: &mut dyn FnMut(&IncludeMatch<'_, 'c>) -> bool,
    ) {
        let mut starts: BTreeMap<&Path, Vec<&Include<'c>>> = BTreeMap::new();
        for include in includes {
            starts.entry(&include.base).or_default().push(include);
        }
        for (base, includes) in starts {
            let opened = match (self.root, base.strip_prefix(self.mounted)) {
                (Some(root), Ok(way)) if !way.as_os_str().is_empty() => root.open_dir_below(way),
                _ => self.system.open_dir(base),
            };
            // A directory that does not exist yet has no files.
            let Ok(handle) = opened else { continue };
            let above = base.to_string_lossy();
            let (handle, path, above) = (handle.as_ref(), base, &*above);
            let level = IncludeLevel { handle, path, above, way: "", depth: 0 };
            if !self.search_level(&level, &includes, found) {
                return;
            }
        }
    }

    fn search_level<'c>(
        &mut self,
        level: &IncludeLevel<'_>,
        includes: &[&Include<'c>],
        found: &mut dyn FnMut(&IncludeMatch<'_, 'c>) -> bool,
    ) -> bool {
        let mut entries = match level.handle.first_entries(self.budget + 1) {
            Ok(entries) => entries,
            Err(error) => {
                self.diagnostics.push(unreadable_diagnostic(level.path, error));
                return true;
            }
        };
        if entries.len() > self.budget {
            let limit = limits::HOSTED_INCLUDE_ENTRIES;
            let message =
                format!("`includeFiles` stops after {limit} names, so these are not included");
            self.diagnostics.push(path_diagnostic(
                level.path,
                rules::context_dir::LIMIT_ENTRIES,
                message,
            ));
            return false;
        }
        self.budget -= entries.len();
        sort_entries(&mut entries);
        for entry in &entries {
            let name = entry.name.to_string_lossy();
            let way = match level.way {
                "" => name.to_string(),
                way => format!("{way}/{name}"),
            };
            let admitting = includes.iter().copied().filter(|include| include.allows_name(&name));
            let path = level.path.join(&entry.name);
            if entry.kind == FileKind::Directory {
                let admitting: Vec<&Include<'c>> = admitting.collect();
                for include in admitting.iter().filter(|include| include.glob.matches(&way)) {
                    self.directories.insert(include.pattern.pattern.clone());
                }
                let admitting = admitting.into_iter();
                let alive: Vec<&Include<'c>> =
                    admitting.filter(|include| include.glob.could_match_inside(&way)).collect();
                if !alive.is_empty()
                    && !self.search_directory(level, entry, &path, &way, &alive, found)
                {
                    return false;
                }
                continue;
            }
            let mut matching = admitting.filter(|include| include.glob.matches(&way));
            let Some(first) = matching.next() else { continue };
            // A pattern that names the file wins over one with wildcards.
            let include = if first.is_literal {
                first
            } else {
                matching.find(|include| include.is_literal).unwrap_or(first)
            };
            let sensitive = sensitive::find_below(level.above, &way, Leaf::File);
            let handle = level.handle;
            if !found(&IncludeMatch { include, handle, entry, path, sensitive }) {
                return false;
            }
        }
        true
    }

    fn search_directory<'c>(
        &mut self,
        level: &IncludeLevel<'_>,
        entry: &DirEntry,
        path: &Path,
        way: &str,
        alive: &[&Include<'c>],
        found: &mut dyn FnMut(&IncludeMatch<'_, 'c>) -> bool,
    ) -> bool {
        let sensitive = sensitive::find_below(level.above, way, Leaf::Directory);
        if sensitive.is_some() {
            let path = path.to_owned();
            let (include, handle) = (alive[0], level.handle);
            return found(&IncludeMatch { include, handle, entry, path, sensitive });
        }
        let depth = level.depth + 1;
        if depth > limits::HOSTED_INCLUDE_DEPTH {
            let limit = limits::HOSTED_INCLUDE_DEPTH;
            let message =
                format!("`includeFiles` does not read it: more than {limit} directories deep");
            self.diagnostics.push(path_diagnostic(path, rules::context_dir::LIMIT_DEPTH, message));
            return true;
        }
        match level.handle.open_dir(&entry.name) {
            Ok(handle) => {
                let handle = handle.as_ref();
                let below = IncludeLevel { handle, path, way, depth, ..*level };
                self.search_level(&below, alive, found)
            }
            Err(error) => {
                self.diagnostics.push(unreadable_diagnostic(path, error));
                true
            }
        }
    }
}

struct IncludeLevel<'l> {
    handle: &'l dyn Dir,
    path: &'l Path,
    /// The path of the start directory.
    above: &'l str,
    /// The path from the start directory to this one.
    way: &'l str,
    depth: usize,
}
