//! The implementation of [`Dialect`] for this format.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_syntax::walk::Visit;
use brief_syntax::{Diagnostic, Source, Span, Target, rules};
use brief_system::{FileKind, ReadError};

use crate::answer::{
    Applied, BindingDecision, Item, LeftOut, Level, Name, Reason, Resolution, State,
};
use crate::moment::{Moment, Timing};
use crate::reach::{Candidate, FileSet, ItemReach, MatchRecord};
use crate::rule_check::RuleCheck;
use crate::{Dialect, DialectGuidance, GuidanceText, ProjectFiles, Reader, TextDescription};

use super::check;
use super::model::{ContextEntry, InvalidEntry, StructuredFile};
use super::parse::parse_structured_file;
use super::pattern::PatternCache;
use super::resolve::{
    AskedTime, RelativeTarget, covers_directory, covers_everything, covers_file, judge_decision,
    judge_entry,
};
use super::{FILE_NAMES, NAME};

#[derive(Debug, Clone, Copy)]
pub struct Structured;

impl Dialect for Structured {
    fn name(&self) -> &'static str {
        NAME
    }

    fn summary(&self) -> &'static str {
        "`AGENTS.yaml` files"
    }

    fn noun(&self) -> &'static str {
        "AGENTS.yaml files"
    }

    fn is_for_everybody(&self) -> bool {
        true
    }

    fn describe_file(&self, below: &str, source: &Arc<Source>) -> Option<TextDescription> {
        ["AGENTS.yaml", "AGENTS.yml"].contains(&below).then(|| {
            let (parsed, _) = parse_structured_file(source, "", &mut PatternCache::default());
            let first =
                parsed.context.first().and_then(|entry| entry.content.trim().lines().next());
            let description = first.unwrap_or_default().to_owned();
            TextDescription { description, ..TextDescription::default() }
        })
    }

    fn create_reader(&self) -> Option<Box<dyn Reader>> {
        Some(Box::new(ContextFiles::default()))
    }

    fn whole_reader(&self) -> Option<Box<dyn Reader>> {
        Some(Box::new(ContextFiles { is_whole: true, ..ContextFiles::default() }))
    }
}

#[derive(Default)]
struct ContextFiles {
    files: Vec<StructuredFile>,
    diagnostics: Vec<Diagnostic>,
    patterns: PatternCache,
    /// The files with one of the names that cannot be read.
    unread: Vec<PathBuf>,
    /// True for a whole project, in which most files are not above a given path.
    is_whole: bool,
    /// For a whole project, the indices of the files by directory, if they are many.
    places: HashMap<String, Vec<usize>>,
}

/// Up to this number of files a lookup by directory does not pay.
const FEW: usize = 16;

impl Reader for ContextFiles {
    fn visit_directory(&mut self, visit: &Visit<'_>) {
        for name in FILE_NAMES {
            match visit.read_file(name) {
                Ok(bytes) => {
                    let source = Arc::new(Source::from_bytes(visit.path_of(name), bytes));
                    let (file, diagnostics) =
                        parse_structured_file(&source, visit.slashed(), &mut self.patterns);
                    self.files.push(file);
                    self.diagnostics.extend(diagnostics);
                }
                Err(ReadError::Missing) => {}
                Err(error) => {
                    // A directory with that name is not a context file.
                    let is_directory = matches!(error, ReadError::NotAFile(FileKind::Directory));
                    if !is_directory {
                        self.unread.push(visit.path_of(name));
                    }
                    self.diagnostics.push(unreadable_diagnostic(&visit.path_of(name), &error));
                }
            }
        }
    }

    fn finish(mut self: Box<Self>) -> Box<dyn DialectGuidance> {
        if self.is_whole && self.files.len() > FEW {
            for (index, file) in self.files.iter().enumerate() {
                self.places.entry(file.directory.clone()).or_default().push(index);
            }
        }
        self
    }
}

/// Returns the directories above a path, the root first, and the path itself.
fn on_the_way(path: &str) -> impl Iterator<Item = &str> {
    let above = path.match_indices('/').map(|(end, _)| &path[..end]);
    let own = if path.is_empty() { None } else { Some(path) };
    std::iter::once("").chain(above).chain(own)
}

fn unreadable_diagnostic(path: &Path, reason: &ReadError) -> Diagnostic {
    let source = Arc::new(Source::without_text(path));
    let message = format!("cannot read the file: {reason}");
    Diagnostic::new(rules::agents_yaml::UNREADABLE, &source, Span::empty_at(0), message)
        .with_help("make it a regular file of at most 1 MiB inside the project")
}

impl ContextFiles {
    /// Calls back for each file above a path, with the path relative to it.
    fn look_along<'s, 't>(
        &'s self,
        target: &'t Target,
        show: &mut dyn FnMut(&'s StructuredFile, RelativeTarget<'t>),
    ) {
        let mut look = |file: &'s StructuredFile| {
            // A target that is not below the file is no concern of the file.
            if let Some(place) = RelativeTarget::relative_to(file, target.slashed(), target.kind())
            {
                show(file, place);
            }
        };
        if self.places.is_empty() {
            return self.files.iter().for_each(look);
        }
        for directory in on_the_way(target.slashed()) {
            let places = self.places.get(directory).into_iter().flatten();
            places.for_each(|&index| look(&self.files[index]));
        }
    }

    /// Adds the entries of one file that concern a place.
    fn add_entries<'s>(
        file: &'s StructuredFile,
        place: Option<RelativeTarget<'_>>,
        moment: &Moment,
        answer: &mut Resolution<'s>,
    ) {
        let (path, level) = (file.source.path(), file.level);
        let asked = AskedTime::from_moment(moment);
        let left_out = |kind, name, line, content, reason| LeftOut {
            dialect: NAME,
            kind,
            name,
            path,
            line,
            content,
            level,
            reason,
        };
        for entry in &file.context {
            match judge_entry(entry, place, asked) {
                Ok(reason) => {
                    answer.items.push(Applied::new(context_item(entry, path, level), reason));
                }
                Err(reason) => {
                    let name = Name::Entry { list: "context", index: entry.index };
                    let content = entry.content.as_str();
                    answer.leave_out(|| left_out("context", name, entry.line, content, reason));
                }
            }
        }
        for decision in &file.decisions {
            match judge_decision(decision, place) {
                Ok(reason) => {
                    answer.decisions.push(BindingDecision { decision, path, reason });
                }
                Err(reason) => {
                    let name = Name::Entry { list: "decisions", index: decision.index };
                    let (line, content) = (decision.line, decision.decision.as_str());
                    answer.leave_out(|| left_out("decision", name, line, content, reason));
                }
            }
        }
        for InvalidEntry { kind, name, line, problem } in &file.invalid {
            let reason = Reason::Invalid { problem };
            answer.leave_out(|| left_out(kind, *name, *line, "", reason));
        }
    }
}

impl DialectGuidance for ContextFiles {
    fn resolve_items<'s>(&'s self, moment: &Moment, answer: &mut Resolution<'s>) {
        let Some(target) = &moment.target else {
            return self
                .files
                .iter()
                .for_each(|file| Self::add_entries(file, None, moment, answer));
        };
        self.look_along(target, &mut |file, place| {
            Self::add_entries(file, Some(place), moment, answer);
        });
    }

    fn record_matches(&self, file: &Target, record: &mut MatchRecord) {
        self.look_along(file, &mut |context, place| {
            for entry in &context.context {
                let verdict = judge_entry(entry, Some(place), AskedTime::default());
                record.record_match(verdict.is_ok());
            }
            for decision in &context.decisions {
                record.record_match(judge_decision(decision, Some(place)).is_ok());
            }
        });
    }

    fn visit_texts<'s>(&'s self, tell: &mut dyn FnMut(GuidanceText<'s>)) {
        for file in &self.files {
            for entry in &file.context {
                tell(GuidanceText {
                    dialect: NAME,
                    source: &file.source,
                    body_start: 0,
                    is_skill: false,
                    entry: Some((&entry.content, entry.line)),
                });
            }
        }
    }

    fn visit_checks<'s>(&'s self, tell: &mut dyn FnMut(&'s Arc<RuleCheck>)) {
        let entries = self.files.iter().flat_map(|file| &file.context);
        entries.filter_map(|entry| entry.check.as_ref()).for_each(tell);
    }

    /// Each entry concerns only files below its own.
    fn collect_reach<'s>(
        &'s self,
        moment: &Moment,
        files: &ProjectFiles,
        tell: &mut dyn FnMut(ItemReach<'s>),
    ) {
        for file in &self.files {
            let path = file.source.path();
            let level = file.level;
            let places = files.places_below(&file.directory);
            let below: Vec<&str> = files.files_below(&file.directory).collect();
            for entry in &file.context {
                if judge_entry(entry, None, AskedTime::at_files(moment)).is_err() {
                    continue;
                }
                let mut reached = FileSet::new(files.files.len());
                if covers_everything(entry) {
                    reached.insert_all(places.clone());
                } else {
                    let covered =
                        places.clone().zip(&below).filter(|(_, path)| covers_file(entry, path));
                    covered.for_each(|(place, _)| reached.insert(place));
                }
                let mut directories = files.directories_below(&file.directory);
                let names = |path: &str| covers_directory(entry, path);
                let has_directory = reached.is_empty() && (names("") || directories.any(names));
                let candidate = Candidate::Item(context_item(entry, path, level));
                tell(ItemReach { candidate, files: reached, has_directory });
            }
        }
    }

    fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    fn check_against(&self, files: &ProjectFiles) -> Vec<Diagnostic> {
        self.files.iter().flat_map(|file| check::dead_patterns(file, files)).collect()
    }

    fn each_file<'s>(&'s self, tell: &mut dyn FnMut(&'s Path)) {
        let read = self.files.iter().map(|file| file.source.path());
        read.chain(self.unread.iter().map(PathBuf::as_path)).for_each(tell);
    }
}

fn context_item<'s>(entry: &'s ContextEntry, path: &'s Path, level: Level) -> Item<'s> {
    Item {
        dialect: NAME,
        kind: "context",
        name: Name::Entry { list: "context", index: entry.index },
        path,
        line: entry.line,
        scope: "project",
        trigger: None,
        holds: entry.hold,
        check: entry.check.as_ref(),
        is_for_after: entry.when == Some(Timing::After),
        state: State::Active,
        content: &entry.content,
        description: "",
        patterns: &entry.patterns,
        level,
        package: None,
    }
}
