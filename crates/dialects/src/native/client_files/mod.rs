//! Clients' own files: settings, hooks, MCP servers, agents, skills, commands, plugins.
//!
//! The facts are data: a table of checks for each client (`brief_profiles::CheckSheet`), seen in the client itself. This
//! module finds the files during the walk of a whole project, and compares each with its table.

mod forms;
mod places;
mod scripts;
mod tree;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_profiles::{CheckSheet, CheckedFile, ClientChecks, Expected, FileFormat};
use brief_syntax::diagnostic::{Edit, Fix};
use brief_syntax::front_matter::FrontMatter;
use brief_syntax::walk::Visit;
use brief_syntax::{Diagnostic, Source, Span, limits, rules};
use brief_system::{Below, FileKind};

use super::check::{PUT_AWAY, check_plugin_agent, keep_for_clients};
use places::{CheckedPlace, CheckedPlaces};
use values::{FileCheck, Spot};

/// The clients' own files that were found.
#[derive(Debug, Default)]
pub(super) struct ClientFiles {
    found: Vec<FileToCheck>,
    /// The directories that hold a plugin, below the root.
    plugins: Vec<String>,
}

#[derive(Debug)]
struct FileToCheck {
    place: &'static CheckedPlace,
    /// The directory that the place starts at.
    base: PathBuf,
    source: Arc<Source>,
}

impl FileToCheck {
    fn has_header(&self) -> bool {
        self.place.file().is_some_and(|(_, file)| file.format == FileFormat::FrontMatter)
    }
}

impl ClientFiles {
    /// Looks for such files in a directory.
    pub(super) fn visit(&mut self, visit: &Visit<'_>) {
        let entries = visit.entries().unwrap_or_default();
        let directory = visit.slashed();
        if directory.split('/').any(|name| PUT_AWAY.contains(&name)) {
            return;
        }
        let has = |name: &str| entries.iter().any(|entry| entry.name == name);
        if has(places::PLUGIN) {
            let manifest = Path::new(places::PLUGIN).join("plugin.json");
            if visit.handle().look_below(&manifest) == Below::NotADirectory {
                self.plugins.push(directory.to_owned());
            }
        }
        let mut here = CheckedPlaces::all().in_directory(directory, &self.plugins);
        if places::OF_OTHER_PLUGINS.iter().any(|name| has(name)) {
            // The servers there are those of a plugin, of whichever client.
            here.retain(|(place, _)| place.is_below());
        }
        if here.is_empty() {
            return;
        }
        // `settings.local.json` is not meant for the repository.
        let ignored = visit.ignored_entries().iter().map(|entry| (entry, true));
        let all = entries.iter().map(|entry| (entry, false)).chain(ignored);
        for (entry, is_ignored) in all.filter(|(entry, _)| entry.kind == FileKind::File) {
            let Some(name) = entry.name.to_str() else { continue };
            for (place, base) in &here {
                if !place.names(name) || is_ignored && !place.is_exact() {
                    continue;
                }
                if self.found.len() == limits::NATIVE_FILES {
                    return;
                }
                let read = if is_ignored {
                    visit.handle().read(OsStr::new(name), limits::FILE_BYTES)
                } else {
                    visit.read(name)
                };
                let Ok(bytes) = read else { continue };
                self.found.push(FileToCheck {
                    place,
                    base: visit.root().join(*base),
                    source: Arc::new(Source::from_bytes(visit.path_of(name), bytes)),
                });
            }
        }
    }

    /// Passes the path of each to `tell`.
    pub(super) fn each_file<'s>(&'s self, tell: &mut dyn FnMut(&'s Path)) {
        self.found.iter().for_each(|found| tell(found.source.path()));
    }

    /// Returns the texts with a header, such as commands, with the place where each body begins.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&Arc<Source>, usize)> {
        let files = self.found.iter().filter(|found| found.has_header());
        files.map(|found| (&found.source, FrontMatter::read(&found.source).body_start))
    }

    /// Returns whether a file is the configuration of an agent that Codex's settings declare (`config_file`): its name and
    /// description are there, and it has any settings.
    fn is_part_of_a_role(&self, base: &Path, path: &Path) -> bool {
        const AGENTS: &str = ".codex/agents";
        if path.parent() != Some(&base.join(AGENTS)) {
            return false;
        }
        let settings = base.join(".codex/config.toml");
        let settings = self.found.iter().find(|found| found.source.path() == settings);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        settings.is_some_and(|found| {
            let mut lines = found.source.text().lines();
            lines.any(|line| {
                let value = line.trim_start().strip_prefix("config_file");
                value.is_some_and(|value| value.contains(&format!("agents/{name}")))
            })
        })
    }

    /// Returns what is wrong with them. `is_there` tells whether a path of the project exists.
    pub(super) fn check(&self, is_there: &dyn Fn(&Path) -> bool) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for FileToCheck { place, base, source } in &self.found {
            if self.is_part_of_a_role(base, source.path()) {
                continue;
            }
            if let Some((checks, file)) = place.file() {
                found.extend(check(checks, file, base, source, is_there));
                found.extend(
                    place.is_of_plugin_agents().then(|| check_plugin_agent(source)).flatten(),
                );
            }
        }
        keep_for_clients(&mut found);
        fold_habits(&mut found);
        found
    }
}

/// The number of skills that break one sentence of the standard by intent, and not by mistake.
const HABIT: usize = 4;

/// Reports a sentence of the standard that many skills break once, with their number: a project has decided for it.
fn fold_habits(found: &mut Vec<Diagnostic>) {
    let is_of_standard = |one: &Diagnostic| one.rule == rules::client::SKILL_STANDARD;
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for one in found.iter().filter(|one| is_of_standard(one)) {
        *counts.entry(without_values(&one.message)).or_default() += 1;
    }
    counts.retain(|_, count| *count >= HABIT);
    let mut told = BTreeSet::new();
    found.retain_mut(|one| {
        let sentence = without_values(&one.message);
        let Some(count) = counts.get(&sentence).filter(|_| is_of_standard(one)) else {
            return true;
        };
        let is_first = told.insert(sentence);
        one.message.push_str(&format!("; {} more skills do the same", count - 1));
        is_first
    });
}

/// Returns a message with the key that it is about, and without the values of one file.
fn without_values(message: &str) -> String {
    let parts = message.split('`').enumerate();
    parts.filter(|(index, _)| *index == 1 || index % 2 == 0).map(|(_, part)| part).collect()
}

/// Checks a text as if it were each of the clients' own files.
pub(crate) fn check_as_each(text: &str) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for checks in CheckSheet::all().iter().filter_map(CheckSheet::checks) {
        for file in &checks.files {
            let source = Arc::new(Source::new("/p/d/file", text));
            found.extend(check(checks, file, Path::new("/p"), &source, &|_| false));
        }
    }
    found
}

/// Checks one file.
fn check(
    checks: &ClientChecks,
    file: &CheckedFile,
    base: &Path,
    source: &Arc<Source>,
    is_there: &dyn Fn(&Path) -> bool,
) -> Vec<Diagnostic> {
    let mut check =
        FileCheck { checks, file, source, base, is_there, may_fix: true, found: Vec::new() };
    let parsed = match tree::parse(source, file.format) {
        Ok(parsed) => parsed,
        Err(error) => {
            let message = format!("{} cannot be read: {}", file.noun, lower(&error.message));
            check.report(rules::client::INVALID_FILE, error.span, &message, file.reaction);
            if error.is_surplus {
                let edit = Edit::replace(comma(source, error.span), "");
                let fix = Fix::safe("remove the comma", vec![edit]);
                check.advise("remove the comma".to_owned(), Some(fix));
            }
            return check.found;
        }
    };
    // Commands have no other reader; what the dialect says of the others is the same, and is said once.
    check.may_fix = parsed.diagnostics.is_empty();
    check.found.extend(parsed.diagnostics);
    let spot = Spot::top(parsed.start, file.reaction);
    if file.format == FileFormat::Program {
        check.event_of_program();
    }
    match (&parsed.top, Expected::parse(&file.top)) {
        (Some(top), Ok(expected)) => check.value(top, &expected, spot),
        // A file without front matter has no fields; what needs some is said elsewhere.
        (None, _) | (_, Err(_)) => {}
    }
    check.found
}

/// Returns the place of a comma that is too many, from the error about it.
fn comma(source: &Source, span: Span) -> Span {
    let text = source.text();
    if source.slice(span) == "," {
        return span;
    }
    let end = text.get(..span.end).and_then(|before| before.rfind(',')).unwrap_or(span.start);
    Span::new(end, end + 1)
}

fn lower(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}
