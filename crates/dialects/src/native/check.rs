//! The checks of client files: parts that their client does not read as it was meant.
//!
//! A finding is something that its author would change. A file that works in its client is left alone,
//! however it is written; what is said of many files alike is said once.

mod header;
mod places;
mod strays;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use brief_profiles::Form;
use brief_syntax::hidden;
use brief_syntax::{Diagnostic, Severity, Source, Span, rules};

use crate::ProjectFiles;
use crate::answer::Owner;
use crate::repair::Paths;

use super::model::{Folder, Guide, Use};
use super::reach::name_index;
use super::settings::Setting;

pub use header::check_plugin_agent;
pub(super) use strays::Strays;

/// From this many rules on, a project whose rules mostly match nothing is a collection for others.
const COLLECTION: usize = 4;

/// From this many files of clients on, a project that has hardly anything else is a kit for others.
const KIT: usize = 10;

/// Files that a project with code of its own has.
const MANIFESTS: [&str; 12] = [
    "package.json",
    "pyproject.toml",
    "setup.py",
    "Cargo.toml",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "composer.json",
    "Gemfile",
    "mix.exs",
    "CMakeLists.txt",
];

/// Returns whether a project is a kit of files for clients of other projects: most of its files are in clients' directories,
/// and it has no code of its own.
fn is_kit(project: &ProjectFiles) -> bool {
    let is_of_client = |path: &&String| {
        path.split_once('/').is_some_and(|(first, _)| first.starts_with('.') && first != ".github")
    };
    let of_clients = project.files.iter().filter(is_of_client).count();
    let is_manifest = |path: &String| MANIFESTS.contains(&path.rsplit('/').next().unwrap_or(path));
    of_clients >= KIT
        && of_clients * 4 >= project.files.len() * 3
        && !project.files.iter().any(is_manifest)
}

/// Checks the files of a project, and what looks like such a file elsewhere.
pub(super) fn check_client_files(
    folders: &[Folder],
    strays: &Strays,
    project: &ProjectFiles,
) -> Vec<Diagnostic> {
    let at_start = folders.iter().filter(|folder| folder.directory.is_empty());
    let settings: Vec<&Setting> = at_start.flat_map(|folder| &folder.settings).collect();
    let folders: Vec<&Folder> =
        folders.iter().filter(|folder| folder.owner == Owner::Project).collect();
    let mut found = dead_globs(&folders, project);
    // A file that a client reads by another link is read.
    let guides = folders.iter().flat_map(|folder| &folder.guides);
    let is_read = |guide: &&Guide| !matches!(guide.use_, Use::Never(_));
    let read: BTreeSet<&Path> = guides.filter(is_read).map(Guide::file).collect();
    for folder in &folders {
        found.extend(folder.guides.iter().flat_map(of_guide));
        found.extend(check_unread_files(folder, &read));
        found.extend(places::check_pages(folder));
    }
    found.extend(places::check_hidden(&folders, &settings, project));
    found.extend(strays.check_strays());
    deduplicate_findings(found)
}

/// The names of directories for files that are put away.
pub(super) const PUT_AWAY: [&str; 7] =
    ["legacy", "_legacy", "archive", "archived", "_archive", "deprecated", "backups"];

/// Directories whose files are written for somewhere else, where their links lead somewhere.
const ELSEWHERE: [&str; 13] = [
    "archetype",
    "archetypes",
    "skeleton",
    "template",
    "templates",
    "fixture",
    "fixtures",
    "testdata",
    "snapshots",
    "scaffold",
    "boilerplate",
    "cookiecutter",
    "__tests__",
];

/// The same, as names with a hyphen in them.
const ELSEWHERE_IN_FULL: [&str; 4] = ["test-data", "test_data", "test-files", "eval-data"];

/// Returns whether a file below the root is written for somewhere else, or put away.
pub fn is_elsewhere(below: &Path) -> bool {
    // `template-react`, `__fixtures__`; the last name is the file's own.
    let is_part = |name: &str| {
        ELSEWHERE.contains(&name)
            || name.split(['-', '_', '.']).any(|part| ELSEWHERE.contains(&part))
    };
    let is_so =
        |name: &str| is_part(name) || ELSEWHERE_IN_FULL.contains(&name) || PUT_AWAY.contains(&name);
    let directories = below.parent().into_iter().flat_map(Path::iter);
    directories.filter_map(std::ffi::OsStr::to_str).any(is_so)
}

/// Directories of what tests read, which often is wrong on purpose.
const TEST_DATA: [&str; 11] = [
    "fixture",
    "fixtures",
    "__fixtures__",
    "testdata",
    "test-data",
    "test_data",
    "test-fixtures",
    "test_fixtures",
    "__tests__",
    "__snapshots__",
    "snapshots",
];

/// Directories of tests. They may have guidance of their own, and what else looks like it is the input of a test.
const TESTS: [&str; 4] = ["test", "tests", "e2e", "evals"];

/// Returns whether a file below the root is what a test reads. A skill, or what lies in a client's directory of the
/// project, may be called like that.
pub fn is_test_data(below: &Path) -> bool {
    let name = below.file_name().unwrap_or_default().to_string_lossy();
    let is_entry = matches!(&*name, "SKILL.md" | ".mcp.json" | "plugin.json" | "marketplace.json");
    let mut above = "";
    for directory in below.parent().into_iter().flat_map(Path::iter) {
        let Some(directory) = directory.to_str() else { continue };
        let is_name = matches!(above, "skills" | "agents" | "commands" | "rules" | "plugins");
        if above.is_empty() && directory.starts_with('.') {
            return false;
        }
        if !is_name && (TEST_DATA.contains(&directory) || is_entry && TESTS.contains(&directory)) {
            return true;
        }
        above = directory;
    }
    false
}

/// Returns whether a file below the root is a copy that was put away before a change.
pub fn is_backup(below: &Path) -> bool {
    let directories = below.parent().into_iter().flat_map(Path::iter);
    let mut names = directories.filter_map(std::ffi::OsStr::to_str);
    names.any(|name| matches!(name, "backup" | "backups" | "_backup" | ".backup" | "_backups"))
}

/// Languages that documentation is translated to, by the names of directories.
const LANGUAGES: [&str; 21] = [
    "ar", "cs", "de", "es", "fa", "fr", "he", "hi", "it", "ja", "ko", "nl", "pl", "pt", "ru", "sv",
    "th", "tr", "uk", "vi", "zh",
];

/// Returns whether a file below the root is a translation in the documentation: `docs/ja-JP/skills/x/SKILL.md`. Links and
/// files beside it are those of the original.
pub fn is_translation(below: &Path) -> bool {
    let directories = below.parent().into_iter().flat_map(Path::iter);
    let mut names = directories.filter_map(std::ffi::OsStr::to_str);
    let is_language = |name: &str| {
        let (language, region) = name.split_once(['-', '_']).unwrap_or((name, ""));
        LANGUAGES.contains(&language)
            && (region.is_empty()
                || (2..=4).contains(&region.len())
                    && region.bytes().all(|byte| byte.is_ascii_alphabetic()))
    };
    names.any(|name| matches!(name, "docs" | "doc" | "i18n" | "translations" | "locales"))
        && names.any(is_language)
}

/// Leaves out what is wrong with a header as YAML where the client does not read it as YAML: Cursor takes
/// each line as it stands.
pub fn keep_for_clients(diagnostics: &mut Vec<Diagnostic>) {
    diagnostics.retain(|found| {
        let is_cursors = found.path().extension().is_some_and(|ending| ending == "mdc");
        !is_cursors || found.rule != rules::FRONTMATTER_REPAIRED
    });
}

fn of_guide(guide: &Guide) -> Vec<Diagnostic> {
    let place = guide.place.as_ref();
    place.map_or_else(Vec::new, |place| of_file(place.form, &place.path, &guide.source))
}

/// Checks a file of a form that lies at `place`. A review does not show hidden text, and an agent reads it.
fn of_file(form: Form, place: &str, source: &Arc<Source>) -> Vec<Diagnostic> {
    let mut found = header::check_header(form, place, source);
    found.extend(hidden::check_hidden_text(rules::client::HIDDEN_CHARACTER, source));
    found
}

/// Files of a client's directory that no client reads, because of how their names end: once for each
/// directory. `read` are the files that a client reads by any way.
fn check_unread_files(folder: &Folder, read: &BTreeSet<&Path>) -> Vec<Diagnostic> {
    // The first guide of each directory with its reason, and the number of all.
    let mut unread: BTreeMap<&Path, (&Guide, &str, usize)> = BTreeMap::new();
    for guide in &folder.guides {
        let Use::Never(reason) = &guide.use_ else { continue };
        let name = guide.path().file_name().unwrap_or_default().to_string_lossy();
        // A page about the rules is not meant to be one.
        // A template is copied, and no rule itself.
        let is_copied = guide.place.as_ref().is_some_and(|place| {
            let path = guide.path().to_string_lossy();
            let below = path.split_once(&format!("/{}/", place.path));
            below.is_some_and(|(_, below)| is_elsewhere(Path::new(below)))
        });
        if reason.contains("reads only")
            && !is_copied
            && !is_document(&name)
            && !read.contains(guide.file())
        {
            let directory = guide.path().parent().unwrap_or(guide.path());
            unread.entry(directory).or_insert((guide, reason, 0)).2 += 1;
        }
    }
    let diagnostics = unread.into_values().map(|(guide, reason, count)| {
        let message = match count {
            1 => format!("no client reads this file: {reason}"),
            _ => format!("no client reads this file and {} more: {reason}", count - 1),
        };
        Diagnostic::new(rules::client::UNREAD_FILE, &guide.source, Span::empty_at(0), message)
            .with_help("rename it with an extension that the client reads, or move it")
    });
    diagnostics.collect()
}

/// Returns whether a file is about the others in its directory: `README.md`, `INDEX.md`, `_template.md`.
fn is_document(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name);
    let is_loud = stem.chars().any(char::is_uppercase) && !stem.chars().any(char::is_lowercase);
    is_loud || stem.starts_with('_') || stem.eq_ignore_ascii_case("readme")
}

/// Keeps one of the findings that copies and links of a file have in common.
fn deduplicate_findings(mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut seen = BTreeSet::new();
    found.retain(|found| {
        let name = found.path().file_name().unwrap_or_default().to_owned();
        let above = found.path().parent().and_then(Path::file_name).unwrap_or_default().to_owned();
        let text = found.source.text();
        let key = (found.rule, name, above, found.span, found.message.clone(), text.to_owned());
        text.is_empty() || seen.insert(key)
    });
    found
}

/// Reports the patterns that cover no file of the project: each one that has an obvious repair, and each
/// file whose patterns cover nothing at all. One of several that is dead alone is no mistake: the same
/// rule is for `.js` and `.jsx`, and there is no `.jsx` yet.
fn dead_globs(folders: &[&Folder], project: &ProjectFiles) -> Vec<Diagnostic> {
    let (mut repairable, mut useless) = (Vec::new(), Vec::new());
    let (mut scoped, mut useless_guides) = (0, 0);
    let index = name_index(folders.iter().copied(), project);
    let everything = index.files_below("");
    for folder in folders {
        let here = index.files_below(&folder.directory);
        let mut lists: Option<(Vec<&str>, Vec<&str>)> = None;
        for guide in &folder.guides {
            let Some(scope) = &guide.scope else { continue };
            scoped += 1;
            let (files, directories) = lists.get_or_insert_with(|| {
                let files = project.files_below(&folder.directory).collect();
                (files, project.directories_below(&folder.directory).collect())
            });
            let mut dead = scope.globs.dead_patterns(&here);
            // What takes files away covers none.
            let is_negative = |pattern: &str| pattern.starts_with('!');
            let written = scope.globs.written.iter();
            let written = written.filter(|pattern| !is_negative(pattern)).count();
            dead.retain(|(pattern, _)| !is_negative(pattern));
            if !folder.directory.is_empty() && !dead.is_empty() {
                // Whether a client counts from here or from the top depends on where it was started.
                let anywhere = scope.globs.dead_patterns(&everything);
                dead.retain(|(pattern, _)| anywhere.iter().any(|(dead, _)| dead == pattern));
            }
            let directory = folder.directory.as_str();
            let place = if directory.is_empty() { "the project" } else { directory };
            let field = scope.field;
            let paths = Paths { files, directories };
            let report = |patterns: &str, span: Span, help: String| {
                let message = format!("{field}: {patterns} matches no file in {place}");
                Diagnostic::new(rules::client::UNUSED_PATTERN, &guide.source, span, message)
                    .with_help(help)
            };
            let mut is_repaired = false;
            for (pattern, span) in &dead {
                if let Some(repair) = paths.find_repair(pattern) {
                    is_repaired = true;
                    let help =
                        repair.render_help("exclusion patterns are not supported here: `{}`");
                    repairable.push(report(&format!("\"{pattern}\""), *span, help));
                }
            }
            if is_repaired || dead.is_empty() || dead.len() != written {
                continue;
            }
            useless_guides += 1;
            // A rule for a kind of file waits for the first one; one for a directory has lost it.
            let names_a_directory = |(pattern, _): &(&str, Span)| {
                let first = pattern.trim_start_matches("./").split_once('/');
                first.is_some_and(|(first, _)| {
                    !first.is_empty() && !first.contains(['*', '?', '[', '{'])
                })
            };
            if dead.iter().any(names_a_directory) {
                let patterns: Vec<String> =
                    dead.iter().take(3).map(|(pattern, _)| format!("\"{pattern}\"")).collect();
                let more = if dead.len() > 3 { " …" } else { "" };
                let help = "fix the pattern, or remove the file if it is obsolete; patterns \
                            are relative to the directory that holds this client's files";
                let text = format!("{}{more}", patterns.join(", "));
                useless.push(report(&text, dead[0].1, help.to_owned()));
            }
        }
    }
    let is_collection = useless.len() >= COLLECTION && useless_guides * 2 > scoped;
    if is_collection || !useless.is_empty() && is_kit(project) {
        let first = &useless[0];
        let message = format!(
            "{useless_guides} of {scoped} files with patterns match nothing here, so brief treats them as a collection"
        );
        let note =
            Diagnostic::new(rules::client::UNUSED_PATTERN, &first.source, first.span, message)
                .with_severity(Severity::Note)
                .with_help(
                    "run `brief lint` in the projects that use them to find unused patterns",
                );
        repairable.push(note);
        return repairable;
    }
    repairable.append(&mut useless);
    repairable
}
