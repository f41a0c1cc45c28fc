//! `excludeFiles`: files that are taken out, from any source.
//!
//! A doubtful file is excluded: a missing file can be asked for, a delivered one cannot be taken
//! back.

mod rule;

use std::cell::LazyCell;
use std::path::{Path, PathBuf};

use brief_syntax::{Diagnostic, rules, text};
use brief_system::System;
use brief_system::paths::relative_path;

use super::model::{Config, ConfigPattern};
use super::place::{HostedEnvironment, HostedPlace};
use rule::ExcludeRule;

/// The compiled exclude patterns of a question.
pub(super) struct Excludes<'c> {
    list: Vec<(Vec<ExcludeRule>, &'c ConfigPattern)>,
}

impl<'c> Excludes<'c> {
    /// Compiles the patterns. X39: an invalid glob is taken as plain text, because excluding too
    /// much is the safe error.
    pub(super) fn from_config(
        config: &'c Config,
        system: &dyn System,
        environment: &HostedEnvironment,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Excludes<'c> {
        let mut list = Vec::with_capacity(config.exclude_files.len());
        // Most configurations do not name the home directory.
        let homes = LazyCell::new(|| spellings_of_home(system, environment));
        for config in &config.exclude_files {
            let written = config.pattern.as_str();
            let homes = if rule::is_of_home(written) { homes.as_slice() } else { &[] };
            let (rules, problem) = rule::compile_exclude_pattern(written, homes);
            if let (Some(problem), Some(origin)) = (problem, &config.origin) {
                let message = format!("`{written}` {problem}");
                let rule = rules::context_dir::CONFIG_INVALID_FIELD;
                diagnostics.push(origin.problem(rule, message, "see the glob syntax"));
            }
            list.push((rules, config));
        }
        Excludes { list }
    }

    /// Returns the reason why the file at `path` is excluded, if it is. `context` is the owner of
    /// its context directory and the path below that.
    ///
    /// X6c: every spelling of the path that the author may have meant is tried.
    pub(super) fn find_reason(
        &self,
        path: &Path,
        place: &HostedPlace,
        context: Option<(&Path, &str)>,
    ) -> Option<String> {
        let file = ExcludeCandidate::from_path(path, place, context);
        let (_, config) = self
            .list
            .iter()
            .find(|(rules, config)| rules.iter().any(|rule| file.is_out(rule, config)))?;
        let pattern = text::visible_line(&config.pattern);
        Some(match &config.origin {
            Some(origin) => format!("excluded by `{pattern}` from {}", origin.path().display()),
            None => format!("excluded by the default `{pattern}`"),
        })
    }
}

/// Returns the home directory as the environment names it, and without links.
fn spellings_of_home(system: &dyn System, environment: &HostedEnvironment) -> Vec<PathBuf> {
    let Some(home) = environment.home.clone() else { return Vec::new() };
    let resolved = system.resolve(&home).ok().map(|resolved| resolved.path);
    let other = resolved.filter(|resolved| *resolved != home);
    [home].into_iter().chain(other).collect()
}

/// A file to check, in the spellings that patterns are compared with.
struct ExcludeCandidate<'f> {
    path: &'f Path,
    mounted: &'f Path,
    name: String,
    absolute: String,
    /// The directories that a pattern may be relative to, each with the relative path from there.
    ways: Vec<(PathBuf, String)>,
}

impl<'f> ExcludeCandidate<'f> {
    fn from_path(
        path: &'f Path,
        place: &'f HostedPlace,
        context: Option<(&Path, &str)>,
    ) -> ExcludeCandidate<'f> {
        let absolute = path.to_string_lossy().replace('\\', "/");
        let mut bases = vec![place.working.clone(), place.mounted.clone()];
        if let Some((owner, inside)) = context {
            bases.push(owner.to_owned());
            bases.extend(path.ancestors().nth(inside.split('/').count()).map(Path::to_owned));
        }
        bases.dedup();
        let ways = bases.into_iter().map(|base| {
            let way = relative_path(&base, path);
            (base, way)
        });
        ExcludeCandidate {
            path,
            mounted: &place.mounted,
            name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            absolute: absolute.trim_start_matches('/').to_owned(),
            ways: ways.collect(),
        }
    }

    fn is_out(&self, rule: &ExcludeRule, config: &ConfigPattern) -> bool {
        let owners = config.origins().map(|origin| &*origin.owner);
        match rule {
            ExcludeRule::Everything => true,
            // A directory above the project names nothing in it.
            ExcludeRule::Name(name) => {
                let is_inside = self.path.starts_with(self.mounted);
                name.matches_file(&self.name)
                    || self.ways.iter().any(|(_, way)| name.matches_directory_of(way))
                    || !is_inside
                        && owners
                            .map(|owner| relative_path(owner, self.path))
                            .any(|way| name.matches_directory_of(&way))
            }
            ExcludeRule::Absolute(pattern) => pattern.covers(&self.absolute),
            ExcludeRule::Path { climbs: 0, pattern } => {
                self.ways.iter().any(|(_, way)| pattern.covers(way))
                    || pattern.matches(&self.absolute)
                    || owners
                        .map(|owner| relative_path(owner, self.path))
                        .any(|way| pattern.covers(&way))
            }
            ExcludeRule::Path { climbs, pattern } => {
                let bases = self.ways.iter().map(|(base, _)| base.as_path()).chain(owners);
                bases
                    .filter_map(|base| base.ancestors().nth(*climbs).or(base.ancestors().last()))
                    .any(|base| pattern.covers(&relative_path(base, self.path)))
            }
        }
    }
}
