//! The part of the answer that `includeFiles` adds.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use brief_syntax::{Diagnostic, limits, rules};
use brief_system::{Dir, FileKind, System, paths};

use super::{AdmittedFile, Judge, MATCHES_LISTED, UNSUPPORTED, is_reserved};
use crate::hosted::include::{self, Include, IncludeMatch, IncludeSearch};
use crate::hosted::model::{ConfigPattern, HostedOrigin, HostedScope};
use crate::hosted::parse::ContextFormat;
use crate::hosted::{Anchor, HostedOptions};

impl Judge<'_> {
    /// Adds the files of the include patterns.
    pub(super) fn add_included_files(&mut self, system: &dyn System, root: Option<&dyn Dir>) {
        let config = self.config;
        // Relative to the working directory, a pattern has one meaning in all configurations.
        let origins = match self.options.anchor {
            Anchor::WorkingDirectory => 1,
            Anchor::ConfigDirectory => usize::MAX,
        };
        let written = config.include_files.iter().flat_map(|pattern| {
            pattern.origins().take(origins).map(move |origin| (pattern, origin))
        });
        let includes: Vec<Include<'_>> = written
            .filter_map(|(pattern, origin)| {
                let Judge { place, environment, options, diagnostics, .. } = self;
                include::compile_include(pattern, origin, place, environment, *options, diagnostics)
            })
            .collect();
        if includes.is_empty() {
            return;
        }
        let budget = limits::HOSTED_INCLUDE_ENTRIES;
        let mounted = self.place.mounted.as_path();
        let mut search = IncludeSearch::new(system, root, mounted, budget);
        let mut used: BTreeSet<&str> = BTreeSet::new();
        let mut wildcards = Wildcards::default();
        let first = self.items.len();
        self.start_counting();
        search.visit_matches(&includes, &mut |found| {
            used.insert(&found.include.pattern.pattern);
            self.visit_match(found, &mut wildcards);
            !self.is_full
        });
        self.items[first..].sort_by(|left, right| left.path().cmp(right.path()));
        // Beyond a limit, nothing is known of the rest.
        if !self.is_full && search.diagnostics.is_empty() {
            let unmatched = includes.iter().map(|include| &include.pattern.pattern);
            self.unmatched.extend(unmatched.filter(|text| !used.contains(text.as_str())).cloned());
            self.report_directories(&includes, &search.directories);
        }
        self.diagnostics.append(&mut search.diagnostics);
        self.diagnostics.extend(wildcards.into_diagnostics());
        if self.options.anchor == Anchor::WorkingDirectory {
            for include in includes {
                if !used.contains(include.pattern.pattern.as_str()) {
                    for origin in include.pattern.origins() {
                        self.look_beside_config(&mut search, include.pattern, origin);
                    }
                }
            }
        }
    }

    /// Reports each pattern that matches directories and no file.
    fn report_directories(&mut self, includes: &[Include<'_>], directories: &BTreeSet<String>) {
        for include in includes {
            let text = include.pattern.pattern.as_str();
            let Some(origin) = include.pattern.origin.as_ref() else { continue };
            // What asks for files below a directory already has none to include there.
            if text.ends_with(['/', '*']) {
                continue;
            }
            if self.unmatched.contains(text) && directories.contains(text) {
                let message = format!("`{text}` includes nothing: it matches only a directory");
                let help = format!("write `{text}/` to include the files below it");
                let rule = rules::context_dir::INCLUDE_DIRECTORY;
                self.diagnostics.push(origin.problem(rule, message, help));
            }
        }
    }

    /// Returns whether a path is one that a context directory reserves for configuration.
    fn is_reserved_path(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let client: PathBuf = self.environment.client.iter().filter(|part| *part != "..").collect();
        let is_context = |directory: &Path| {
            !client.as_os_str().is_empty() && directory.ends_with(&client)
                || self.context_roots.iter().any(|root| root == directory)
        };
        is_reserved(&name) && path.parent().is_some_and(is_context)
    }

    fn visit_match<'c>(&mut self, found: &IncludeMatch<'_, 'c>, wildcards: &mut Wildcards<'c>) {
        let IncludeMatch { include, handle, entry, path, sensitive } = found;
        let scope = HostedScope::Include;
        let is_directory = entry.kind == FileKind::Directory;
        if self.seen.contains(path) {
            return;
        }
        if !is_directory && self.is_reserved_path(path) {
            return self.leave_out_reserved(path, scope);
        }
        if !is_directory && let Some(reason) = self.excludes.find_reason(path, self.place, None) {
            return self.leave_out(path, scope, reason);
        }
        if let Some(found) = sensitive.filter(|&found| self.is_in_force(found)) {
            return self.leave_out_sensitive(path, scope, found);
        }
        if is_directory || !self.is_regular(path, scope, entry.kind) {
            return;
        }
        let format = ContextFormat::from_file_name(&entry.name.to_string_lossy());
        if format.is_none() && !include.is_literal {
            if wildcards.count_match(include.pattern, path) {
                self.leave_out(path, scope, UNSUPPORTED);
            }
            return;
        }
        let place = self.place;
        self.read_file(&AdmittedFile {
            handle: *handle,
            entry,
            path,
            inside: "",
            scope,
            anchor: &place.mounted,
            format: format.unwrap_or(ContextFormat::Text),
            is_guess: format.is_none(),
        });
    }

    /// X6: hints that a pattern was meant relative to its configuration.
    fn look_beside_config(
        &mut self,
        search: &mut IncludeSearch<'_>,
        pattern: &ConfigPattern,
        origin: &HostedOrigin,
    ) {
        if origin.scope == HostedScope::Global || *origin.owner == *self.place.working {
            return;
        }
        let options = HostedOptions { anchor: Anchor::ConfigDirectory, ..HostedOptions::default() };
        let mut ignored = Vec::new();
        let place = self.place;
        let Some(include) = include::compile_include(
            pattern,
            origin,
            place,
            self.environment,
            options,
            &mut ignored,
        ) else {
            return;
        };
        let mut beside = None;
        search.visit_matches(&[include], &mut |found| {
            beside = Some(paths::relative_path(&place.mounted, &found.path));
            false
        });
        search.diagnostics.clear();
        if let Some(beside) = beside {
            let message = format!(
                "`{}` matches nothing from {}, but {beside} next to this configuration",
                pattern.pattern,
                place.working.display(),
            );
            let help = "patterns are relative to the working directory";
            let rule = rules::context_dir::INCLUDE_NOT_HERE;
            self.diagnostics.push(origin.problem(rule, message, help));
        }
    }
}

/// The unsupported files that wildcards match: one report for each pattern.
#[derive(Default)]
struct Wildcards<'c> {
    patterns: Vec<(&'c ConfigPattern, PathBuf, usize)>,
}

impl<'c> Wildcards<'c> {
    /// Counts a file. Returns whether it is one of the first.
    fn count_match(&mut self, pattern: &'c ConfigPattern, path: &Path) -> bool {
        let known = self.patterns.iter_mut().find(|(known, ..)| std::ptr::eq(*known, pattern));
        match known {
            Some((_, _, count)) => {
                *count += 1;
                *count <= MATCHES_LISTED
            }
            None => {
                self.patterns.push((pattern, path.to_owned(), 1));
                true
            }
        }
    }

    fn into_diagnostics(self) -> impl Iterator<Item = Diagnostic> {
        self.patterns.into_iter().filter_map(|(pattern, example, count)| {
            let origin = pattern.origin.as_ref()?;
            let name = example.file_name().unwrap_or_default().to_string_lossy();
            let (files, pattern) = (if count == 1 { "file" } else { "files" }, &pattern.pattern);
            let types = format!("{files} of unsupported types, such as {name}");
            let message = format!("`{pattern}` also matches {count} {types}");
            let help = "write a pattern for `.md`, `.mdc` or `.txt`";
            Some(origin.problem(rules::context_dir::UNSUPPORTED_TYPE, message, help))
        })
    }
}
