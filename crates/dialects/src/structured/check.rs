//! Checks that compare a file with the whole project.

use brief_syntax::{Diagnostic, Span, rules};

use crate::ProjectFiles;
use crate::answer::Name;
use crate::repair::Paths;

use super::model::StructuredFile;
use super::pattern::Pattern;

/// Reports each `match` pattern that matches nothing in the project: usually a file moved, or the
/// pattern was written for another directory.
pub(super) fn dead_patterns(file: &StructuredFile, project: &ProjectFiles) -> Vec<Diagnostic> {
    let files: Vec<&str> = project.files_below(&file.directory).collect();
    let directories: Vec<&str> = project.directories_below(&file.directory).collect();
    let below = Paths { files: &files, directories: &directories };
    let context = file.context.iter().map(|entry| {
        let name = Name::Entry { list: "context", index: entry.index };
        (name, &entry.patterns, &entry.pattern_spans)
    });
    let decisions = file.decisions.iter().map(|decision| {
        let name = Name::Entry { list: "decisions", index: decision.index };
        (name, &decision.patterns, &decision.pattern_spans)
    });
    let mut diagnostics = Vec::new();
    for (name, patterns, spans) in context.chain(decisions) {
        for (pattern, &span) in patterns.iter().zip(spans) {
            // A pattern that can never match is reported by the parser.
            if pattern.can_match() && !has_match(below, pattern) {
                diagnostics.push(dead_pattern_diagnostic(file, span, name, pattern, below));
            } else if patterns.iter().all(Pattern::is_directory) {
                diagnostics.extend(directory_alone(file, span, name, pattern));
            }
        }
    }
    diagnostics
}

/// Warns that `src/api/` matches only questions about the directory itself, where its author meant
/// everything below.
fn directory_alone(
    file: &StructuredFile,
    span: Span,
    name: Name<'_>,
    pattern: &Pattern,
) -> Option<Diagnostic> {
    let written = pattern.as_str();
    let directory = written.trim_end_matches('/');
    if !pattern.can_match() || directory.is_empty() || directory == "." || directory.ends_with("**")
    {
        return None;
    }
    let problem = format!("{name}: \"{written}\" matches only the directory and no file");
    let help = format!("write `{directory}/**` to match every file below it");
    Some(
        Diagnostic::new(rules::agents_yaml::DIRECTORY_ALONE, &file.source, span, problem)
            .with_help(help),
    )
}

fn dead_pattern_diagnostic(
    file: &StructuredFile,
    span: Span,
    name: Name<'_>,
    pattern: &Pattern,
    below: Paths<'_>,
) -> Diagnostic {
    let what = if pattern.is_directory() { "directory" } else { "file" };
    let place = if file.directory.is_empty() { "the project" } else { &file.directory };
    let problem = format!("{name}: \"{}\" matches no {what} in {place}", pattern.as_str());
    let help = match below.find_repair(pattern.as_str()) {
        Some(repair) => repair.render_help("write it as `exclude: [\"{}\"]`"),
        None => "patterns are relative to the directory of this file; ignored files are skipped"
            .to_owned(),
    };
    Diagnostic::new(rules::agents_yaml::UNUSED_PATTERN, &file.source, span, problem).with_help(help)
}

fn has_match(paths: Paths<'_>, pattern: &Pattern) -> bool {
    if pattern.is_directory() {
        return pattern.matches_directory("")
            || paths.directories.iter().any(|path| pattern.matches_directory(path));
    }
    paths.files.iter().any(|path| pattern.matches_file(path))
}
