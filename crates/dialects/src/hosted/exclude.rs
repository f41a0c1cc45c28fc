//! `excludeFiles`: what is taken out, wherever it came from.

use std::path::Path;

use brief_syntax::glob::GlobError;
use brief_syntax::{Diagnostic, text};

use super::model::{Config, ConfigPattern};
use super::pattern::{Pattern, escaped, normalised};
use super::place::{Environment, Place, expand_home, relative};

/// The exclude patterns of a question, ready to match.
pub(super) struct Excludes<'c> {
    list: Vec<(Pattern, &'c ConfigPattern)>,
}

impl<'c> Excludes<'c> {
    /// Makes the patterns ready. X39: what is not a glob is taken for plain text, because leaving
    /// too much out is the safe error.
    pub(super) fn of(
        config: &'c Config,
        environment: &Environment,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Excludes<'c> {
        let mut list = Vec::with_capacity(config.exclude_files.len());
        for config in &config.exclude_files {
            let written = config.pattern.as_str();
            let pattern = compile(written, environment.home.as_deref()).or_else(|error| {
                if let Some(origin) = &config.origin {
                    let problem = error.problem();
                    let message =
                        format!("`{written}` is not a glob and is taken as it is: {problem}");
                    let code = "hosted/config-invalid-field";
                    let warning = Diagnostic::warning(code, &origin.source, origin.span, message);
                    diagnostics.push(warning.with_help("see the syntax of globs"));
                }
                Pattern::literal(written)
            });
            // What is left is longer than any path.
            if let Ok(pattern) = pattern {
                list.push((pattern, config));
            }
        }
        Excludes { list }
    }

    /// Returns why the file at `path` is out, if it is. `context` is the owner of the context
    /// directory that it lies in and the path below that.
    ///
    /// X6c: every spelling of the path that the author may have had in mind is tried.
    pub(super) fn reason(
        &self,
        path: &Path,
        place: &Place,
        context: Option<(&Path, &str)>,
    ) -> Option<String> {
        let name = path.file_name()?.to_string_lossy();
        let mut spellings: Option<Vec<String>> = None;
        let (pattern, config) = self.list.iter().find(|(pattern, config)| {
            if !pattern.is_about_paths() {
                return pattern.matches(&name);
            }
            let spellings = spellings.get_or_insert_with(|| spell(path, place, context));
            spellings.iter().any(|spelling| pattern.matches(spelling))
                || config
                    .origin
                    .as_ref()
                    .is_some_and(|origin| pattern.matches(&relative(path, &origin.owner)))
        })?;
        let pattern = text::visible_line(pattern.as_str());
        Some(match &config.origin {
            Some(origin) => format!("excluded by `{pattern}` from {}", origin.path().display()),
            None => format!("excluded by the default `{pattern}`"),
        })
    }
}

fn compile(written: &str, home: Option<&Path>) -> Result<Pattern, GlobError> {
    match home.filter(|home| expand_home(written, Some(home)).is_some()) {
        Some(home) => {
            let home = escaped(home.to_string_lossy().trim_start_matches(['/', '\\']));
            let rest = normalised(&written[1..]);
            Pattern::from_text(written, &format!("{home}/{rest}"))
        }
        None => Pattern::new(written),
    }
}

fn spell(path: &Path, place: &Place, context: Option<(&Path, &str)>) -> Vec<String> {
    let absolute = path.to_string_lossy().replace('\\', "/");
    let mut spellings = vec![
        relative(path, &place.working),
        relative(path, &place.mounted),
        absolute.trim_start_matches('/').to_owned(),
    ];
    if let Some((owner, inside)) = context {
        spellings.push(relative(path, owner));
        spellings.push(inside.to_owned());
    }
    spellings
}
