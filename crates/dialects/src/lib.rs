//! The published formats, one folder each, all with the same rooms: `model` (the types), `parse`
//! (text to types), `check` (what lint says), `resolve` (what applies when).
//!
//! A dialect reads during a walk that the engine makes once for all of them ([`Dialect::reader`]),
//! and then answers questions ([`Shelf::resolve`]) without touching anything. The words that all
//! dialects share stand in [`moment`] and [`answer`].

pub mod agents;
pub mod answer;
pub mod capability;
#[doc(hidden)]
pub mod fuzzing;
pub mod hosted;
pub mod mcp;
pub mod moment;
pub mod native;
pub mod policy;
pub mod portable;
pub mod reach;
mod repair;
pub mod sensitive;
pub mod structured;
pub mod tasks;

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use brief_syntax::walk::Visit;
use brief_syntax::{Diagnostic, Source, System, Target, limits};

pub use answer::{
    Answer, Applied, Decision, Item, LeftOut, Level, Name, Origin, Owner, Reason, State,
};
pub use moment::{Action, Actions, Moment, Timing};
pub use reach::{Candidate, FileSet, Likeness, Reached};

/// A format that guidance is written in.
pub trait Dialect: Sync {
    /// Returns the name that users type and read, such as `structured`.
    fn name(&self) -> &'static str;

    /// Starts reading the directories on the way to a path; `None` for a dialect that finds its
    /// files itself ([`Dialect::ask`]).
    fn reader(&self) -> Option<Box<dyn Reader>> {
        None
    }

    /// Starts reading a whole project, directory by directory.
    fn whole_reader(&self) -> Option<Box<dyn Reader>> {
        self.reader()
    }

    /// Starts reading the directories from the mounted one down to a path, for a dialect whose files
    /// count from there on, wherever the question is asked.
    fn mounted_reader(&self, _question: &PathQuestion<'_>) -> Option<Box<dyn Reader>> {
        None
    }

    /// Reads what it takes to answer a question about one path; `None` for a dialect whose files
    /// were read on the way to it.
    fn ask(&self, _system: &dyn System, _question: &PathQuestion<'_>) -> Option<Box<dyn Shelf>> {
        None
    }
}

/// A question about one path, for dialects that find their files themselves.
#[derive(Debug, Clone, Copy)]
pub struct PathQuestion<'q> {
    /// The file or directory, absolute; it need not exist.
    pub path: &'q Path,
    /// The directory that the client has open.
    pub mounted: &'q Path,
    /// The file or directory below it; `None` when it lies outside.
    pub target: Option<&'q Target>,
    /// What the user mentioned by name.
    pub mentions: &'q [String],
    /// What the user allows client-hosted context.
    pub hosted: hosted::Options,
}

impl PathQuestion<'_> {
    /// Starts counting the directories on the way from the mounted one.
    fn way(&self) -> Way {
        let levels = self.target.map_or(0, |target| target.directories().len() + 1);
        Way { seen: 0, levels }
    }
}

/// Returns whether a directory on an endless way is looked at. Half of those that are lie at the top, where
/// general guidance is, and half nearest to the work; what lies between is reported.
fn is_looked_at(depth: usize, levels: usize, limit: usize) -> bool {
    levels <= limit || depth < limit / 2 || depth >= levels - limit / 2
}

/// How far a reader has come on the way to a path.
#[derive(Debug, Default)]
struct Way {
    seen: usize,
    levels: usize,
}

impl Way {
    /// Returns whether the next directory is looked at.
    fn is_near(&mut self) -> bool {
        let depth = self.seen;
        self.seen += 1;
        is_looked_at(depth, self.levels, limits::MOUNTED_LEVELS)
    }
}

/// Collects one dialect's files during a walk.
pub trait Reader {
    /// Looks at one directory. Directories come parents first.
    fn visit(&mut self, visit: &Visit<'_>);

    /// Ends the walk.
    fn finish(self: Box<Self>) -> Box<dyn Shelf>;
}

/// Everything that one dialect has to say in a project.
pub trait Shelf {
    /// Adds to `answer` what applies at `moment`, and what does not, each with its reason. A dialect
    /// that is not about paths has nothing to add.
    fn resolve<'s>(&'s self, _moment: &Moment, _answer: &mut Answer<'s>) {}

    /// Tells of each item which files of the project it is for, at a moment without a target. What
    /// the client loads by itself is told as such.
    fn reach<'s>(
        &'s self,
        moment: &Moment,
        files: &ProjectFiles,
        tell: &mut dyn FnMut(Reached<'s>),
    ) {
        let resolve = |moment: &Moment, answer: &mut Answer<'s>| self.resolve(moment, answer);
        reach::by_asking(resolve, |file, likeness| self.liken(file, likeness), moment, files, tell);
    }

    /// Notes what tells a file from the others in its directory. Without a note, all files of a
    /// directory get the same answer.
    fn liken(&self, _file: &Target, _likeness: &mut Likeness) {}

    /// Returns which files of other dialects are items of this one, for names in an answer.
    fn installed(&self) -> Option<&portable::Installed> {
        None
    }

    /// Returns what is wrong with the files, as far as it shows without looking at others.
    fn diagnostics(&self) -> &[Diagnostic];

    /// Returns what only shows against the whole project: `files` are all paths in it, sorted.
    fn check_against(&self, _files: &ProjectFiles) -> Vec<Diagnostic> {
        Vec::new()
    }

    /// Tells the texts whose links a reader of the project follows: those of the project, not the user's.
    fn texts<'s>(&'s self, _tell: &mut dyn FnMut(GuidanceText<'s>)) {}

    /// Returns how many files of its own the dialect found, readable or not.
    fn file_count(&self) -> usize;

    /// Returns how many of these are rules or skills to the dialect of tasks, too, which counts them.
    fn shared_with_tasks(&self) -> usize {
        0
    }
}

/// A text of guidance in Markdown.
#[derive(Debug, Clone, Copy)]
pub struct GuidanceText<'t> {
    /// The dialect that has read it.
    pub dialect: &'static str,
    /// The file.
    pub source: &'t Arc<Source>,
    /// Where its body starts.
    pub body_start: usize,
    /// Whether it is a skill's entrypoint, whose directory is all that is installed of it.
    pub is_skill: bool,
}

/// The paths of a project, for questions such as "does this pattern match anything?".
#[derive(Debug, Default)]
pub struct ProjectFiles {
    /// Files, `/`-separated below the root, sorted.
    pub files: Vec<String>,
    /// Directories likewise, without the root.
    pub directories: Vec<String>,
}

impl ProjectFiles {
    /// Returns the files below a directory, relative to it.
    pub fn files_below<'f>(&'f self, directory: &str) -> impl Iterator<Item = &'f str> {
        below(&self.files, directory)
    }

    /// Returns where in [`ProjectFiles::files`] the files below a directory stand.
    pub fn places_below(&self, directory: &str) -> Range<usize> {
        range_below(&self.files, directory)
    }

    /// Returns the directories below a directory, relative to it.
    pub fn directories_below<'f>(&'f self, directory: &str) -> impl Iterator<Item = &'f str> {
        below(&self.directories, directory)
    }
}

fn below<'f>(paths: &'f [String], directory: &str) -> impl Iterator<Item = &'f str> {
    let prefix = if directory.is_empty() { 0 } else { directory.len() + 1 };
    paths[range_below(paths, directory)].iter().map(move |path| &path[prefix..])
}

fn range_below(paths: &[String], directory: &str) -> Range<usize> {
    if directory.is_empty() {
        return 0..paths.len();
    }
    let first = format!("{directory}/");
    // `0` is the character after `/`.
    let last = format!("{directory}0");
    let start = paths.partition_point(|path| path.as_str() < first.as_str());
    let end = paths.partition_point(|path| path.as_str() < last.as_str());
    start..end
}
