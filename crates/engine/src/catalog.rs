//! What a project says, as far as it was read.
//!
//! One walk serves all dialects: along one path for a question about it, over everything for a
//! list or a check. The cost of one question depends on the depth of its path alone.

use std::path::Path;
use std::sync::Arc;

use brief_dialects::agents::Agents;
use brief_dialects::hosted::{self, Hosted};
use brief_dialects::portable::Portable;
use brief_dialects::structured::Structured;
use brief_dialects::tasks::Tasks;
use brief_dialects::{Answer, Dialect, Moment, PathQuestion, ProjectFiles, Reached, Reader, Shelf};
use brief_syntax::system::FileKind;
use brief_syntax::walk::{self, Gap, GapReason, Ignored, Visit};
use brief_syntax::{Diagnostic, Root, Source, Span, System, Target, diagnostic};

use crate::{order, repetition};

/// Every dialect, in the order in which what is equally general is delivered. A new one is one line
/// here.
const DIALECTS: [&dyn Dialect; 5] = [&Tasks, &Agents, &Portable, &Hosted, &Structured];

/// What was read of a project.
pub struct Catalog {
    shelves: Vec<Box<dyn Shelf>>,
    gaps: Vec<Diagnostic>,
    files: Option<ProjectFiles>,
}

/// How much of a project to read when no single path is asked about.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'t> {
    /// The directory to start at.
    pub start: &'t Target,
    /// Whether to go where version control does not look.
    pub ignored: Ignored,
    /// The dialects to read.
    pub dialects: Dialects<'t>,
}

/// A question about one path.
#[derive(Debug, Clone, Copy)]
pub struct Question<'q> {
    /// The directory at or below which files along the path count.
    pub root: &'q Root,
    /// The path in that root; `None` when it lies outside.
    pub target: Option<&'q Target>,
    /// The path as it is for dialects that have a root of their own, absolute.
    pub path: &'q Path,
    /// The directory that the client has open.
    pub mounted: &'q Path,
    /// What the user mentioned by name.
    pub mentions: &'q [String],
    /// What the user allows client-hosted context.
    pub hosted: hosted::Options,
}

/// Which dialects to ask.
#[derive(Debug, Clone, Copy)]
pub enum Dialects<'d> {
    /// Every one.
    All,
    /// Those of these names.
    Only(&'d [&'d str]),
    /// All but those of these names.
    Except(&'d [&'d str]),
}

impl Dialects<'_> {
    fn chosen(self) -> impl Iterator<Item = &'static dyn Dialect> {
        DIALECTS.into_iter().filter(move |dialect| match self {
            Dialects::All => true,
            Dialects::Only(names) => names.contains(&dialect.name()),
            Dialects::Except(names) => !names.contains(&dialect.name()),
        })
    }
}

impl Catalog {
    /// Reads what lies between the root and `target`, and nothing else: for front ends that ask
    /// many times a minute.
    pub fn along(system: &dyn System, root: &Root, target: &Target) -> Catalog {
        let mut readers = readers(Dialects::All);
        let gaps = along(system, root, target, &mut readers);
        Catalog::new(finished(readers), &gaps, None)
    }

    /// Reads what the dialects need to answer a question about one path.
    pub fn about(system: &dyn System, question: &Question<'_>, dialects: Dialects<'_>) -> Catalog {
        let mut readers = readers(dialects);
        let gaps = match question.target {
            Some(target) if !readers.is_empty() => {
                along(system, question.root, target, &mut readers)
            }
            _ => Vec::new(),
        };
        let Question { root, path, mounted, mentions, hosted, .. } = *question;
        // What is asked about, seen from the mounted directory.
        let located = if root.path() == mounted {
            question.target.cloned()
        } else {
            Root::open(system, mounted)
                .ok()
                .and_then(|mounted| mounted.locate(system, root.path(), path))
        };
        let target = located.as_ref();
        let question = PathQuestion { path, mounted, target, mentions, hosted };
        let asked = dialects.chosen().filter_map(|dialect| dialect.ask(system, &question));
        Catalog::new(asked.chain(finished(readers)).collect(), &gaps, None)
    }

    /// Reads the whole project, or the part of it that `scope` names.
    pub fn whole(system: &dyn System, root: &Root, scope: Scope<'_>) -> Catalog {
        let mut readers: Vec<Box<dyn Reader>> =
            scope.dialects.chosen().filter_map(Dialect::whole_reader).collect();
        let mut files = ProjectFiles::default();
        let gaps = walk::whole(system, root, scope.start, scope.ignored, &mut |visit| {
            for reader in &mut readers {
                reader.visit(visit);
            }
            remember(&mut files, visit);
        });
        files.files.sort_unstable();
        files.directories.sort_unstable();
        Catalog::new(finished(readers), &gaps, Some(files))
    }

    fn new(shelves: Vec<Box<dyn Shelf>>, gaps: &[Gap], files: Option<ProjectFiles>) -> Catalog {
        Catalog { shelves, gaps: gaps.iter().map(gap_diagnostic).collect(), files }
    }

    /// Answers a question from what was read: general first, the same text once, and nothing that
    /// the client loads by itself.
    pub fn resolve<'c>(&'c self, moment: &'c Moment) -> Answer<'c> {
        let mut answer = self.candidates(moment);
        repetition::remove(&mut answer, moment);
        answer
    }

    /// Returns what [`Catalog::resolve`] chooses from: repetitions are in it.
    pub fn candidates(&self, moment: &Moment) -> Answer<'_> {
        order::merge(self.shelves.iter().map(|shelf| {
            let mut answer = Answer::default();
            shelf.resolve(moment, &mut answer);
            answer
        }))
    }

    /// Returns every path of the project, for a catalog that was read with [`Catalog::whole`].
    pub fn files(&self) -> Option<&ProjectFiles> {
        self.files.as_ref()
    }

    /// Tells of each item which files of the project it is for, for a catalog that was read with
    /// [`Catalog::whole`]. Repetitions are told, too.
    pub fn reach<'c>(&'c self, moment: &Moment, tell: &mut dyn FnMut(Reached<'c>)) {
        let Some(files) = &self.files else { return };
        for shelf in &self.shelves {
            shelf.reach(moment, files, tell);
        }
    }

    /// Returns what is wrong with the files that were read, by file and place.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let on_shelves = self.shelves.iter().flat_map(|shelf| shelf.diagnostics());
        let mut diagnostics: Vec<_> = self.gaps.iter().chain(on_shelves).cloned().collect();
        diagnostic::sort(&mut diagnostics);
        diagnostics
    }

    /// Returns [`Catalog::diagnostics`] and what shows only against the whole project, for a
    /// catalog that was read with [`Catalog::whole`].
    pub fn check(&self) -> Vec<Diagnostic> {
        let mut diagnostics = self.diagnostics();
        if let Some(files) = &self.files {
            diagnostics.extend(self.shelves.iter().flat_map(|shelf| shelf.check_against(files)));
            diagnostic::sort(&mut diagnostics);
        }
        diagnostics
    }

    /// Returns whether no file of any dialect was found.
    pub fn is_empty(&self) -> bool {
        self.file_count() == 0
    }

    /// Returns how many files of any dialect were found, readable or not.
    pub fn file_count(&self) -> usize {
        self.shelves.iter().map(|shelf| shelf.file_count()).sum()
    }
}

fn readers(dialects: Dialects<'_>) -> Vec<Box<dyn Reader>> {
    dialects.chosen().filter_map(Dialect::reader).collect()
}

fn finished(readers: Vec<Box<dyn Reader>>) -> Vec<Box<dyn Shelf>> {
    readers.into_iter().map(Reader::finish).collect()
}

fn along(
    system: &dyn System,
    root: &Root,
    target: &Target,
    readers: &mut [Box<dyn Reader>],
) -> Vec<Gap> {
    walk::along(system, root, target, &mut |visit| {
        for reader in readers.iter_mut() {
            reader.visit(visit);
        }
    })
}

fn remember(files: &mut ProjectFiles, visit: &Visit<'_>) {
    for entry in visit.entries().unwrap_or_default() {
        let name = entry.name.to_string_lossy();
        let path = match visit.slashed() {
            "" => name.into_owned(),
            directory => format!("{directory}/{name}"),
        };
        match entry.kind {
            FileKind::Directory => files.directories.push(path),
            // A link is a name that a pattern can match, wherever it leads.
            FileKind::File | FileKind::Link => files.files.push(path),
            FileKind::Other => {}
        }
    }
}

fn gap_diagnostic(gap: &Gap) -> Diagnostic {
    let source = Arc::new(Source::unread(&gap.path));
    let (code, message) = match &gap.reason {
        GapReason::Unreadable(error) => {
            ("project/unreadable-directory", format!("the directory cannot be read: {error}"))
        }
        GapReason::TooDeep { limit } => (
            "project/too-deep",
            format!("more than {limit} directories deep; not everything here was read"),
        ),
        GapReason::TooMany { limit } => (
            "project/too-many-entries",
            format!("the project has more than {limit} entries; from here on it was not read"),
        ),
    };
    Diagnostic::warning(code, &source, Span::at(0), message)
}
