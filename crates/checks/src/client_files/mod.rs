//! Clients' own files: settings, hooks, MCP servers, agents, skills, commands, plugins, each compared with its client's
//! table of checks.

mod forms;
mod names;
mod scripts;
mod tree;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use brief_dialects::CheckedClientFile;
use brief_dialects::native::{check_plugin_agent, keep_for_clients};
use brief_engine::Catalog;
use brief_profiles::{CheckSheet, CheckedFile, ClientChecks, Expected, FileFormat};
use brief_syntax::diagnostic::{Edit, Fix};
use brief_syntax::walk::IgnoreFiles;
use brief_syntax::{AbsentSubmodules, Diagnostic, Root, Source, Span, rules};
use brief_system::System;

use values::{FileCheck, Spot};

/// Returns the problems of files that configure clients: settings, hooks, MCP servers, plugins.
pub(crate) fn check_client_files(
    catalog: &Catalog,
    system: &dyn System,
    root: &Root,
) -> Vec<Diagnostic> {
    let ignored = IgnoreFiles::new(system, root);
    let submodules = AbsentSubmodules::read(system, root);
    // What version control ignores is made by a build, and may be there for others.
    let is_there = |path: &Path| {
        let below = || path.strip_prefix(root.path()).ok();
        let may_be = |below: &Path| ignored.is_ignored(below) || submodules.may_hold(below);
        system.resolve(path).is_ok() || below().is_some_and(may_be)
    };
    let mut files = Vec::new();
    catalog.each_client_file(&mut |file| files.push(file));
    let mut found = Vec::new();
    for CheckedClientFile { checks, file, base, source, is_plugin_agent } in &files {
        if is_part_of_a_role(&files, base, source.path()) {
            continue;
        }
        found.extend(check_file(checks, file, base, source, &is_there));
        found.extend(is_plugin_agent.then(|| check_plugin_agent(source)).flatten());
    }
    keep_for_clients(&mut found);
    fold_habits(&mut found);
    found
}

/// Returns whether a file is the configuration of an agent that Codex's settings declare (`config_file`): its name and
/// description are there, and it has any settings.
fn is_part_of_a_role(files: &[CheckedClientFile<'_>], base: &Path, path: &Path) -> bool {
    const AGENTS: &str = ".codex/agents";
    if path.parent() != Some(&base.join(AGENTS)) {
        return false;
    }
    let settings = base.join(".codex/config.toml");
    let settings = files.iter().find(|found| found.source.path() == settings);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    settings.is_some_and(|found| {
        let mut lines = found.source.text().lines();
        lines.any(|line| {
            let value = line.trim_start().strip_prefix("config_file");
            value.is_some_and(|value| value.contains(&format!("agents/{name}")))
        })
    })
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
    for checks in CheckSheet::all_sheets().iter().filter_map(CheckSheet::checks) {
        for file in &checks.files {
            let source = Arc::new(Source::new("/p/d/file", text));
            found.extend(check_file(checks, file, Path::new("/p"), &source, &|_| false));
        }
    }
    found
}

fn check_file(
    checks: &ClientChecks,
    file: &CheckedFile,
    base: &Path,
    source: &Arc<Source>,
    is_there: &dyn Fn(&Path) -> bool,
) -> Vec<Diagnostic> {
    let mut check =
        FileCheck { checks, file, source, base, is_there, may_fix: true, found: Vec::new() };
    let parsed = match tree::parse_client_file(source, file.format) {
        Ok(parsed) => parsed,
        Err(error) => {
            let message =
                format!("cannot parse {}: {}", file.noun, lowercase_first(&error.message));
            check.report(rules::client::INVALID_FILE, error.span, &message, file.reaction);
            if error.is_surplus {
                let edit = Edit::replace(surplus_comma_span(source, error.span), "");
                let fix = Fix::safe("remove the comma", vec![edit]);
                check.add_advice("remove the comma".to_owned(), Some(fix));
            }
            return check.found;
        }
    };
    // Commands have no other reader; what the dialect says of the others is the same, and is said once.
    check.may_fix = parsed.diagnostics.is_empty();
    check.found.extend(parsed.diagnostics);
    let spot = Spot::top_level(parsed.start, file.reaction);
    if file.format == FileFormat::Program {
        check.event_of_program();
    }
    match (&parsed.top, Expected::parse(&file.top)) {
        (Some(top), Ok(expected)) => check.check_value(top, &expected, spot),
        // A file without front matter has no fields; what needs some is said elsewhere.
        (None, _) | (_, Err(_)) => {}
    }
    check.found
}

/// Returns the place of a comma that is too many, from the error about it.
fn surplus_comma_span(source: &Source, span: Span) -> Span {
    let text = source.text();
    if source.slice(span) == "," {
        return span;
    }
    let end = text.get(..span.end).and_then(|before| before.rfind(',')).unwrap_or(span.start);
    Span::new(end, end + 1)
}

fn lowercase_first(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}
