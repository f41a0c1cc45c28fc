//! Every context directory of a project, for questions about any path in it.
//!
//! A directory without its own context has the answer of its parent, so one answer is kept for each
//! directory that differs. Only where a configuration depends on the working directory does every
//! directory below have its own answer.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_syntax::walk::Visit;
use brief_syntax::{Diagnostic, Target, TargetKind, rules};
use brief_system::DirEntry;
use brief_system::paths::relative_path;

use crate::answer::{Applied, Reason, Resolution};
use crate::moment::Moment;
use crate::rule_check::RuleCheck;
use crate::{DialectGuidance, GuidanceText, MatchRecord, ProjectFiles, Reader};

use super::guidance::{build_applied_item, left_out};
use super::place::HostedEnvironment;
use super::{
    HostedContext, HostedItem, HostedOptions, HostedScope, NAME, Query, Trigger, check, resolve,
    resolve::decide_state,
};
use crate::moment::DEPENDENCIES;

/// The answers for the directories of a project.
#[derive(Default)]
pub(super) struct HostedDirectories {
    /// The facts known from the first directory on.
    start: Option<WalkStart>,
    /// The directories whose answers differ from their parents', with `/` between names.
    places: BTreeMap<String, DirectoryAnswer>,
    diagnostics: Vec<Diagnostic>,
}

struct WalkStart {
    root: PathBuf,
    /// The first name of the path to a context directory; `None` for a path that begins with `..`,
    /// which is not found inside its directory.
    first_name: Option<String>,
}

struct DirectoryAnswer {
    resolution: HostedContext,
    /// True if the directory has context of its own, which subdirectories inherit.
    is_owner: bool,
}

impl DirectoryAnswer {
    /// Returns whether everything below the directory has the same answer: no configuration depends
    /// on the working directory.
    fn is_plain(&self) -> bool {
        let config = &self.resolution.config;
        let is_default = |pattern: &super::ConfigPattern| pattern.origin.is_none();
        let climbs = |pattern: &super::ConfigPattern| pattern.pattern.contains("..");
        config.include_files.iter().all(is_default)
            && !config.exclude_files.iter().any(climbs)
            && !config.ignore_ancestor_context.value
    }
}

impl HostedDirectories {
    /// Returns the nearest directory, at or above the given one, with an answer of its own.
    fn find_nearest<'d>(&self, directory: &'d str) -> Option<(&str, &DirectoryAnswer)> {
        let above = |directory: &&'d str| match *directory {
            "" => None,
            directory => Some(directory.rsplit_once('/').map_or("", |(parent, _)| parent)),
        };
        std::iter::successors(Some(directory), above)
            .find_map(|directory| self.places.get_key_value(directory))
            .map(|(found, here)| (found.as_str(), here))
    }

    fn resolve_at(visit: &Visit<'_>) -> HostedContext {
        let directory = visit.path();
        let query = Query { mounted: visit.root(), path: &directory, mentions: &[] };
        resolve::resolve_query(visit.system(), &query, HostedOptions::default(), Some(visit.top()))
    }
}

impl Reader for HostedDirectories {
    fn visit_directory(&mut self, visit: &Visit<'_>) {
        let start = self.start.get_or_insert_with(|| WalkStart {
            root: visit.root().to_owned(),
            first_name: HostedEnvironment::from_system(visit.system(), &mut Vec::new())
                .client
                .into_iter()
                .next(),
        });
        let Some(first) = &start.first_name else { return };
        let is_there =
            |entries: &[DirEntry]| entries.iter().any(|entry| entry.name == first.as_str());
        if visit.entries().is_some_and(is_there) {
            let mut resolution = HostedDirectories::resolve_at(visit);
            // Each directory is resolved for itself.
            let owner = visit.path();
            let own = std::mem::take(&mut resolution.diagnostics).into_iter();
            let own = own.filter(|diagnostic| diagnostic.path().starts_with(&owner));
            self.diagnostics.extend(own);
            let here = DirectoryAnswer { resolution, is_owner: true };
            self.places.insert(visit.slashed().to_owned(), here);
            return;
        }
        let above = self.find_nearest(visit.slashed());
        let name = visit.slashed().rsplit('/').next().unwrap_or_default();
        // The first directory has at least the user's global context.
        if above.is_none_or(|(_, above)| !above.is_plain()) || DEPENDENCIES.contains(&name) {
            let mut resolution = HostedDirectories::resolve_at(visit);
            resolution.diagnostics.clear();
            let here = DirectoryAnswer { resolution, is_owner: false };
            self.places.insert(visit.slashed().to_owned(), here);
        }
    }

    fn finish(self: Box<Self>) -> Box<dyn DialectGuidance> {
        self
    }
}

impl DialectGuidance for HostedDirectories {
    fn resolve_items<'s>(&'s self, moment: &Moment, answer: &mut Resolution<'s>) {
        let Some(target) = &moment.target else { return self.add_files(answer) };
        let directory = parent_of(target);
        let Some((found, here)) = self.find_nearest(directory) else { return };
        let file = self.place_of(target).filter(|_| target.kind() == TargetKind::File);
        let is_inherited = here.is_owner && found != directory;
        let place = &here.resolution;
        for item in &place.items {
            let mut applied = build_applied_for_file(item, place, file.as_deref());
            if is_inherited && item.scope == HostedScope::Working {
                let scope =
                    if found.is_empty() { HostedScope::Mounted } else { HostedScope::Ancestor };
                applied.item.scope = scope.as_str();
            }
            answer.items.push(applied);
        }
        if !answer.skip_left_out {
            answer.left_out.extend(place.left_out.iter().map(|out| left_out(out, place)));
        }
        answer.hosted = Some(place);
    }

    fn record_matches(&self, file: &Target, record: &mut MatchRecord) {
        let (Some((_, here)), Some(path)) =
            (self.find_nearest(parent_of(file)), self.place_of(file))
        else {
            return;
        };
        // The files of one context directory have the same relative path to the target.
        let (mut anchor, mut seen) = (None, String::new());
        for item in here.resolution.items.iter().filter(|item| item.file.trigger == Trigger::Auto) {
            if anchor.replace(&*item.anchor) != Some(&*item.anchor) {
                seen = relative_path(&item.anchor, &path);
            }
            record.record_match(item.file.globs.matches_path(&seen));
        }
    }

    fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    fn check_against(&self, files: &ProjectFiles) -> Vec<Diagnostic> {
        let own = |(owner, here): (&String, &DirectoryAnswer)| {
            let below: Vec<&str> = files.files_below(owner).collect();
            let items = here.own_items();
            items.flat_map(|item| check::dead_globs(item, &below)).collect::<Vec<_>>()
        };
        let places = || self.owner_directories().map(|(_, here)| &here.resolution);
        let all: Vec<&HostedContext> = self.places.values().map(|here| &here.resolution).collect();
        let dead = places().flat_map(|place| check::dead_includes(place, &all));
        // The report that a pattern matches a directory says more.
        let is_told = |dead: &Diagnostic| {
            let is_same = |known: &Diagnostic| {
                known.rule == rules::context_dir::INCLUDE_DIRECTORY
                    && (known.path(), known.span) == (dead.path(), dead.span)
            };
            self.diagnostics.iter().any(is_same)
        };
        let dead = dead.filter(|dead| !is_told(dead)).collect::<Vec<_>>();
        let hidden = check::hidden_characters(places());
        self.owner_directories().flat_map(own).chain(dead).chain(hidden).collect()
    }

    fn visit_checks<'s>(&'s self, tell: &mut dyn FnMut(&'s Arc<RuleCheck>)) {
        let items = self.owner_directories().flat_map(|(_, here)| here.own_items());
        items.filter_map(|item| item.check.as_ref()).for_each(tell);
    }

    fn visit_texts<'s>(&'s self, tell: &mut dyn FnMut(GuidanceText<'s>)) {
        for item in self.owner_directories().flat_map(|(_, here)| here.own_items()) {
            tell(GuidanceText {
                dialect: NAME,
                source: &item.file.source,
                body_start: item.file.body_start,
                is_skill: false,
                entry: None,
            });
        }
    }

    fn each_file<'s>(&'s self, tell: &mut dyn FnMut(&'s Path)) {
        for (_, here) in self.owner_directories() {
            here.own_items().for_each(|item| tell(item.file.source.path()));
            here.own_left_out().for_each(|left_out| tell(&left_out.path));
        }
    }
}

impl HostedDirectories {
    /// Returns the absolute path of a target.
    fn place_of(&self, target: &Target) -> Option<PathBuf> {
        Some(self.start.as_ref()?.root.join(target.slashed()))
    }

    fn owner_directories(&self) -> impl Iterator<Item = (&String, &DirectoryAnswer)> {
        self.places.iter().filter(|(_, here)| here.is_owner)
    }

    /// Adds every file with its own directory, in any trigger.
    fn add_files<'s>(&'s self, answer: &mut Resolution<'s>) {
        for (_, here) in self.owner_directories() {
            let place = &here.resolution;
            answer.items.extend(here.own_items().map(|item| build_applied_item(item, place)));
            answer.left_out.extend(here.own_left_out().map(|out| left_out(out, place)));
        }
    }
}

impl DirectoryAnswer {
    fn own_items(&self) -> impl Iterator<Item = &HostedItem> {
        self.resolution.items.iter().filter(|item| item.scope == HostedScope::Working)
    }

    fn own_left_out(&self) -> impl Iterator<Item = &super::OmittedFile> {
        let owner = &self.resolution.working;
        self.resolution.left_out.iter().filter(move |left_out| left_out.path.starts_with(owner))
    }
}

/// Returns the working directory, with `/` between names.
fn parent_of(target: &Target) -> &str {
    match target.kind() {
        TargetKind::Directory => target.slashed(),
        TargetKind::File => target.slashed().rsplit_once('/').map_or("", |(parent, _)| parent),
    }
}

/// Decides again about an item whose state depends on the file.
fn build_applied_for_file<'s>(
    item: &'s HostedItem,
    place: &HostedContext,
    file: Option<&Path>,
) -> Applied<'s> {
    let mut applied = build_applied_item(item, place);
    if item.file.trigger == Trigger::Auto {
        let (state, reason) = decide_state(&item.file, &item.anchor, file);
        applied.item.state = state;
        applied.reason = Reason::Composed(reason);
    }
    applied
}

#[cfg(test)]
mod tests {
    use brief_syntax::Root;
    use brief_syntax::walk::{self, Ignored};
    use brief_system::MemorySystem;

    use super::super::Hosted;
    use super::*;
    use crate::Dialect;

    type Seen = Vec<(String, &'static str, &'static str, String)>;

    fn seen(guidance: &dyn DialectGuidance, target: &Target) -> Seen {
        let moment = Moment { target: Some(target.clone()), ..Moment::default() };
        let mut answer = Resolution::default();
        guidance.resolve_items(&moment, &mut answer);
        let items = answer.items.iter().map(|applied| {
            let item = &applied.item;
            let reason = applied.reason.display_with_path(target.slashed()).to_string();
            (item.name.to_string(), item.scope, item.state.as_str(), reason)
        });
        let out = answer.left_out.iter().map(|out| {
            (
                out.name.to_string(),
                "",
                "out",
                out.reason.display_with_path(target.slashed()).to_string(),
            )
        });
        items.chain(out).collect()
    }

    /// A whole read and single questions give the same answers.
    #[test]
    fn every_path_has_the_answer_that_it_has_alone() {
        let system = MemorySystem::new("/p")
            .with_env("HOME", "/h")
            .with_file("/h/.context/mine.md", "Mine.\n")
            .with_file(".context/all.md", "All.\n")
            .with_file(".context/ts.md", "---\ntrigger: auto\nglobs: 'web/**/*.ts'\n---\nTs.\n")
            .with_file("web/.context/web.md", "Web.\n")
            .with_file("web/a.ts", "")
            .with_file("web/deep/er/b.ts", "")
            .with_file("web/deep/er/b.css", "")
            .with_file(
                "inc/.context/context-config.json",
                r#"{"clientContext": {"includeFiles": ["notes/*.md"]}}"#,
            )
            .with_file("inc/x/notes/n.md", "Note.\n")
            .with_file("inc/x/y/c.rs", "")
            .with_file("alone/.context/own.md", "Own.\n")
            .with_file(
                "alone/.context/context-config.json",
                r#"{"clientContext": {"ignoreAncestorContext": true, "ignoreGlobalContext": true, "excludeFiles": ["ts.md"]}}"#,
            )
            .with_file("alone/below/d.rs", "")
            .with_file("climb/.context/near.md", "Near.\n")
            .with_file(
                "climb/.context/context-config.json",
                r#"{"clientContext": {"excludeFiles": ["../../.context/all.md", "climb/x"]}}"#,
            )
            .with_file("climb/x/y/h.rs", "")
            .with_file("climb/x/.context/out.md", "Out.\n")
            .with_file("vendor/lib/e.rs", "")
            .with_file("plain/f.rs", "");
        let root = Root::open(&system, Path::new("/p")).unwrap();
        let top = Target::from_slashed("", TargetKind::Directory);
        let mut reader = Hosted.whole_reader().unwrap();
        walk::walk_whole(&system, &root, &top, Ignored::Skip, &mut |visit| {
            reader.visit_directory(visit);
        });
        let whole = reader.finish();
        for (path, kind) in [
            ("plain/f.rs", TargetKind::File),
            ("web", TargetKind::Directory),
            ("web/a.ts", TargetKind::File),
            ("web/deep/er/b.ts", TargetKind::File),
            ("web/deep/er/b.css", TargetKind::File),
            ("web/deep", TargetKind::Directory),
            ("inc/x/y/c.rs", TargetKind::File),
            ("inc/x/new.rs", TargetKind::File),
            ("alone/g.rs", TargetKind::File),
            ("alone/below/d.rs", TargetKind::File),
            ("climb/i.rs", TargetKind::File),
            ("climb/x/j.rs", TargetKind::File),
            ("climb/x/y/h.rs", TargetKind::File),
            ("vendor/lib/e.rs", TargetKind::File),
            ("top.ts", TargetKind::File),
        ] {
            let target = Target::from_slashed(path, kind);
            let moment = Moment {
                root: root.clone(),
                path: root.path().join(path),
                target: Some(target.clone()),
                ..Moment::default()
            };
            let alone = Hosted.read_guidance(&system, &moment, None).unwrap();
            assert_eq!(seen(whole.as_ref(), &target), seen(alone.as_ref(), &target), "{path}");
        }
    }
}
