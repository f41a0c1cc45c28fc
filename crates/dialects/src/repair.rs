//! Repairs of patterns that match nothing.
//!
//! Each typical slip has one repair. A repair is proposed only when it matches a file of the
//! project.

use brief_syntax::glob::Glob;

/// The replacement for a pattern that matches nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PatternRepair {
    Pattern(String),
    /// Several patterns, for one that holds commas.
    Several(Vec<String>),
    /// An exclusion, for a pattern that begins with `!`.
    Exclude(String),
}

impl PatternRepair {
    /// Returns the advice in words; `exclude` names the field for exclusions.
    pub(crate) fn render_help(&self, exclude: &str) -> String {
        match self {
            PatternRepair::Pattern(pattern) => format!("did you mean `{pattern}`?"),
            PatternRepair::Several(patterns) => {
                let patterns: Vec<String> =
                    patterns.iter().map(|pattern| format!("\"{pattern}\"")).collect();
                format!("write one pattern each: {}", patterns.join(", "))
            }
            PatternRepair::Exclude(pattern) => exclude.replace("{}", pattern),
        }
    }
}

/// The paths of a project, relative to the directory that the patterns start at.
#[derive(Clone, Copy)]
pub(crate) struct Paths<'p> {
    pub(crate) files: &'p [&'p str],
    pub(crate) directories: &'p [&'p str],
}

impl Paths<'_> {
    fn has_match(self, pattern: &str) -> bool {
        Glob::new(pattern).is_ok_and(|glob| self.files.iter().any(|file| glob.matches(file)))
    }

    /// Finds the repair of a pattern that matches nothing.
    pub(crate) fn find_repair(self, pattern: &str) -> Option<PatternRepair> {
        if let Some(rest) = pattern.strip_prefix('!') {
            let excluded = self.correct_pattern(rest).unwrap_or_else(|| rest.to_owned());
            return (!rest.is_empty() && self.has_match(&excluded))
                .then_some(PatternRepair::Exclude(excluded));
        }
        if pattern.contains(',') && !pattern.contains('{') {
            let parts = pattern.split(',').map(str::trim).filter(|part| !part.is_empty());
            let parts: Vec<String> = parts.map(str::to_owned).collect();
            if parts.len() > 1 && parts.iter().any(|part| self.has_match(part)) {
                return Some(PatternRepair::Several(parts));
            }
        }
        self.correct_pattern(pattern)
            .filter(|corrected| corrected != pattern)
            .map(PatternRepair::Pattern)
    }

    /// Applies one correction after the other until the pattern matches.
    fn correct_pattern(self, pattern: &str) -> Option<String> {
        let mut text = pattern.trim().to_owned();
        let mut tried = None;
        for correct in [forward_slashes, remove_leading_slash, spread_stars] {
            text = correct(&text);
            // Most patterns have no such slip, and each look goes over all files.
            if tried.as_ref() == Some(&text) {
                continue;
            }
            if self.has_match(&text) {
                return Some(text);
            }
            tried = Some(text.clone());
        }
        let directory = text.trim_end_matches('/');
        if self.directories.contains(&directory) {
            return Some(format!("{directory}/**"));
        }
        let spelled = self.respell_names(&text)?;
        if self.has_match(&spelled) {
            return Some(spelled);
        }
        let directory = spelled.trim_end_matches('/');
        self.directories.contains(&directory).then(|| format!("{directory}/**"))
    }

    /// Respells the names before the first wildcard as they are on disk.
    fn respell_names(self, pattern: &str) -> Option<String> {
        let names: Vec<&str> = pattern.split('/').collect();
        let plain = names.iter().take_while(|name| !name.contains(['*', '?', '[', '{'])).count();
        let wanted = names[..plain].join("/");
        if wanted.is_empty() {
            return None;
        }
        let paths = self.directories.iter().chain(self.files);
        let mut near = paths.filter(|path| path.eq_ignore_ascii_case(wanted.trim_end_matches('/')));
        let found = near.next()?;
        let mut spelled = vec![*found];
        spelled.extend(&names[plain..]);
        Some(spelled.join("/"))
    }
}

/// Replaces the backslashes of `src\api\*.py`: a backslash escapes.
fn forward_slashes(pattern: &str) -> String {
    pattern.replace("\\\\", "/").replace('\\', "/")
}

/// Removes the first slash of `/src/**`: patterns are relative to a directory of the project.
fn remove_leading_slash(pattern: &str) -> String {
    pattern.trim_start_matches('/').to_owned()
}

/// Turns `src/**.py` into `src/**/*.py`: two stars cross directories only as a whole name.
fn spread_stars(pattern: &str) -> String {
    let names = pattern.split('/').map(|name| match name.strip_prefix("**") {
        Some(rest) if !rest.is_empty() && !rest.contains("**") => {
            format!("**/*{}", rest.trim_start_matches('*'))
        }
        _ => name.to_owned(),
    });
    names.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// U62: each slip has one obvious repair.
    #[test]
    fn every_slip_has_its_repair() {
        let files = ["src/api/a.py", "src/web/b.ts", "docs/c.md"];
        let directories = ["docs", "src", "src/api", "src/web"];
        let paths = Paths { files: &files, directories: &directories };
        let pattern = |text: &str| Some(PatternRepair::Pattern(text.to_owned()));
        for (written, repaired) in [
            ("src/api", pattern("src/api/**")),
            ("src/api/", pattern("src/api/**")),
            ("src/**.py", pattern("src/**/*.py")),
            ("SRC/**", pattern("src/**")),
            ("Src/Api", pattern("src/api/**")),
            ("src\\api\\*.py", pattern("src/api/*.py")),
            ("/src/**", pattern("src/**")),
            ("!src/api", Some(PatternRepair::Exclude("src/api/**".to_owned()))),
            (
                "src/**, docs/*.md",
                Some(PatternRepair::Several(vec!["src/**".to_owned(), "docs/*.md".to_owned()])),
            ),
            ("lib/**", None),
            ("!lib/**", None),
            ("**/*.rs", None),
        ] {
            assert_eq!(paths.find_repair(written), repaired, "{written}");
        }
    }
}
