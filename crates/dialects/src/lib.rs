//! The published formats, one folder each. Every folder has the same modules: `model` (the types),
//! `parse` (text to types), `check` (lint), `resolve` (the items that apply at a moment).
//!
//! A dialect collects its files during a walk that the engine makes once for all of them
//! ([`Dialect::create_reader`]). It then answers questions from memory ([`DialectGuidance::resolve_items`]). The types
//! that all dialects share are in [`moment`] and [`answer`].

mod agent_format;
pub mod agents;
pub mod answer;
pub mod dependencies;
#[doc(hidden)]
pub mod fuzzing;
pub mod hosted;
pub mod installed;
pub mod json;
pub mod locked;
pub mod mcp;
pub mod moment;
mod name_index;
pub mod native;
pub mod portable;
pub mod reach;
mod repair;
pub mod rule_check;
pub mod stewardship;
pub mod structured;
pub mod tasks;

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use brief_profiles::{CheckedFile, ClientChecks};
use brief_syntax::walk::Visit;
use brief_syntax::{Diagnostic, Source, Span, Target, limits};
use brief_system::{Dir, System};

pub use answer::{
    Applied, BindingDecision, Item, LeftOut, Level, LoadedPart, Name, Origin, Owner, Reason,
    ReasonEnd, ReasonKind, Resolution, State,
};
pub use moment::{
    Action, Actions, Dialects, Moment, MomentTool, Mounted, Occasion, Strangers, Timing,
    is_in_dependency,
};
pub use reach::{Candidate, FileMatcher, FileSet, ItemReach, MatchRecord};
pub use rule_check::RuleCheck;

/// Every dialect, in the order in which what is equally general is delivered. A new one is its folder, its
/// module above and its line here.
pub const DIALECTS: &[&dyn Dialect] = &[
    &native::Native,
    &tasks::Tasks,
    &agents::Agents,
    &portable::Portable,
    &hosted::Hosted,
    &structured::Structured,
    &dependencies::Dependencies,
];

/// Names that formats had before version 0.1, accepted for one release.
const OLD_NAMES: [(&str, &str); 5] = [
    ("structured", structured::NAME),
    ("hosted", hosted::NAME),
    ("native", native::NAME),
    ("portable", portable::NAME),
    ("agents", agents::NAME),
];

/// Returns the format with this name, which may be an old one.
pub fn find_dialect(name: &str) -> Option<&'static dyn Dialect> {
    let renamed = OLD_NAMES.iter().find(|(old, _)| *old == name);
    let name = renamed.map_or(name, |(_, new)| new);
    DIALECTS.iter().copied().find(|dialect| dialect.name() == name)
}

/// Returns the name that a format had before version 0.1.
pub fn old_dialect_name(name: &str) -> Option<&'static str> {
    OLD_NAMES.iter().find(|(_, new)| *new == name).map(|(old, _)| *old)
}

/// Returns the part that the format with this name has in what locks record.
pub fn lock_role(dialect: &str) -> LockRole {
    let found = DIALECTS.iter().find(|known| known.name() == dialect);
    found.map_or(LockRole::None, |found| found.lock_role())
}

/// Returns whether the items of the format with this name are for everybody, whatever a client loads by itself.
pub fn is_for_everybody(dialect: &str) -> bool {
    DIALECTS.iter().any(|known| known.name() == dialect && known.is_for_everybody())
}

/// Returns whether a path below the root of a package is a file of a format that packages ship.
fn is_shipped(below: &str) -> bool {
    DIALECTS.iter().any(|dialect| dialect.is_shipped(below))
}

/// Describes a file that a package ships, by its path below the package's root.
fn describe_file(below: &str, source: &Arc<Source>) -> Option<TextDescription> {
    DIALECTS.iter().find_map(|dialect| dialect.describe_file(below, source))
}

/// Returns why a client does not load a rule of its own at once; `None` if it does, and for a file of no client.
/// `below` is the path in the project.
fn limit_of_rule(below: &str, source: &Arc<Source>) -> Option<&'static str> {
    DIALECTS.iter().find_map(|dialect| dialect.limit_of_rule(below, source))
}

/// The part that a format has in what locks record: installed items and chosen packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockRole {
    None,
    /// Its locks name the files of installed items.
    Names,
    /// Its files may be those of installed items.
    Holds,
    /// It reads the packages that locks record.
    Packages,
}

/// A question about packages: those that locks record, each lock with its directory, and those that the user has
/// chosen, seen from a directory.
pub struct PackageQuestion<'q, 'l> {
    /// The root of the project.
    pub root: &'q Path,
    /// The directory that packages are seen from.
    pub directory: &'q Path,
    /// The packages that locks record.
    pub recorded: &'q mut dyn Iterator<Item = (&'l Path, &'l dependencies::LockedDependency)>,
    /// The choice of the user.
    pub choice: &'q dependencies::DependencyChoice,
}

/// The description of a text that a package ships.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TextDescription {
    /// True if the text says of itself that it is not to be used.
    pub is_disabled: bool,
    /// The offset of the text after the front matter.
    pub body_start: usize,
    /// The description; empty without one.
    pub description: String,
}

/// A format of guidance files.
pub trait Dialect: Sync {
    /// Returns the name that users type and read, such as `agents-yaml`.
    fn name(&self) -> &'static str;

    /// Returns the line of the help that explains the name.
    fn summary(&self) -> &'static str;

    /// Returns the plural noun for its files in messages, such as `AGENTS.yaml files`.
    fn noun(&self) -> &'static str;

    /// Returns the part that the format has in what locks record.
    fn lock_role(&self) -> LockRole {
        LockRole::None
    }

    /// Returns whether its items are for everybody, whatever a client loads by itself.
    fn is_for_everybody(&self) -> bool {
        false
    }

    /// Returns whether packages may ship a file of this format at a path below their root.
    fn is_shipped(&self, _below: &str) -> bool {
        false
    }

    /// Describes a file of this format that a package ships; `None` for other files.
    fn describe_file(&self, _below: &str, _source: &Arc<Source>) -> Option<TextDescription> {
        None
    }

    /// Returns why a client does not load a rule of its own at once; `None` if it does, and for other files.
    fn limit_of_rule(&self, _below: &str, _source: &Arc<Source>) -> Option<&'static str> {
        None
    }

    /// Reads the guidance of packages; `None` if there is none, and for a format that packages have no part in.
    fn read_packages(
        &self,
        _system: &dyn System,
        _asked: PackageQuestion<'_, '_>,
    ) -> Option<Box<dyn DialectGuidance>> {
        None
    }

    /// Starts reading the directories on the way to a path; `None` for a dialect that finds its
    /// files itself ([`Dialect::read_guidance`]).
    fn create_reader(&self) -> Option<Box<dyn Reader>> {
        None
    }

    /// Starts reading a whole project, directory by directory.
    fn whole_reader(&self) -> Option<Box<dyn Reader>> {
        self.create_reader()
    }

    /// Starts reading the directories from the mounted one down to a path, for a dialect whose
    /// files count from the mounted directory down.
    fn mounted_reader(&self, _moment: &Moment) -> Option<Box<dyn Reader>> {
        None
    }

    /// Reads the files needed to answer a question about one path; `None` for a dialect with a
    /// [`Dialect::create_reader`].
    /// `top` is the mounted directory if it is held open already.
    fn read_guidance(
        &self,
        _system: &dyn System,
        _moment: &Moment,
        _top: Option<&dyn Dir>,
    ) -> Option<Box<dyn DialectGuidance>> {
        None
    }
}

/// Returns whether a directory on a very deep path is read. At most `limit` are: half at the top,
/// where general guidance is, and half nearest to the file. The caller reports the skipped ones.
fn is_looked_at(depth: usize, levels: usize, limit: usize) -> bool {
    levels <= limit || depth < limit / 2 || depth >= levels - limit / 2
}

/// The position of a reader between the mounted directory and a path.
#[derive(Debug, Default)]
struct LevelCount {
    seen: usize,
    levels: usize,
}

impl LevelCount {
    /// Starts counting the directories between the mounted one and the path.
    fn from_moment(moment: &Moment) -> LevelCount {
        let target = moment.mounted_target();
        LevelCount { seen: 0, levels: target.map_or(0, |target| target.directories().len() + 1) }
    }

    /// Advances to the next directory and returns whether it is read.
    fn is_near(&mut self) -> bool {
        let depth = self.seen;
        self.seen += 1;
        is_looked_at(depth, self.levels, limits::MOUNTED_LEVELS)
    }
}

/// Collects one dialect's files during a walk.
pub trait Reader {
    /// Looks at one directory. Directories come parents first.
    fn visit_directory(&mut self, visit: &Visit<'_>);

    /// Looks at one directory in the code of dependencies, whose guidance does not count (ruling X34). The default does nothing.
    fn visit_dependency(&mut self, _visit: &Visit<'_>) {}

    fn finish(self: Box<Self>) -> Box<dyn DialectGuidance>;
}

/// Everything that one dialect found in a project.
pub trait DialectGuidance {
    /// Adds to `answer` the items that apply at `moment` and those that do not, each with its
    /// reason. The default adds nothing: a dialect may have no guidance for paths.
    fn resolve_items<'s>(&'s self, _moment: &Moment, _answer: &mut Resolution<'s>) {}

    /// Finds for each item the files of the project that it applies to, at a moment without a
    /// target. Items that the client loads by itself are reported as
    /// [`Candidate::Loaded`].
    fn collect_reach<'s>(
        &'s self,
        moment: &Moment,
        files: &ProjectFiles,
        tell: &mut dyn FnMut(ItemReach<'s>),
    ) {
        reach::by_asking(self, moment, files, tell);
    }

    /// Records which patterns match a file, so that files of one directory with equal records are
    /// resolved once. Without a record, all files of a directory get the same answer.
    fn record_matches(&self, _file: &Target, _record: &mut MatchRecord) {}

    /// Returns the recorder of matches for the files right in a directory, `/`-separated below the root. It may leave
    /// out patterns that decide the same for all of them.
    fn matcher_in<'s>(&'s self, _directory: &str) -> FileMatcher<'s> {
        Box::new(|file, record| self.record_matches(file, record))
    }

    /// Returns whether a client may load something of this for some files only.
    fn loads_by_file(&self, _client: &str) -> bool {
        false
    }

    /// Returns the files of other dialects that are installed items of this one, so that an answer
    /// can name them.
    fn installed_items(&self) -> Option<&installed::Installed> {
        None
    }

    /// Returns the problems that show in each file by itself.
    fn diagnostics(&self) -> &[Diagnostic];

    /// Returns the problems that show only in comparison with all paths of the project.
    fn check_against(&self, _files: &ProjectFiles) -> Vec<Diagnostic> {
        Vec::new()
    }

    /// Passes each file that configures a client to `tell`, for the check of its client.
    fn client_files<'s>(&'s self, _tell: &mut dyn FnMut(CheckedClientFile<'s>)) {}

    /// Passes the project's Markdown texts to `tell`, for the link check. Texts of the user's own
    /// directories are left out.
    fn visit_texts<'s>(&'s self, _tell: &mut dyn FnMut(GuidanceText<'s>)) {}

    /// Passes each check of a rule to `tell`, whatever its rule is for.
    fn visit_checks<'s>(&'s self, _tell: &mut dyn FnMut(&'s Arc<RuleCheck>)) {}

    /// Passes each of the dialect's files in the project to `tell`, readable or not, for guidance that was read whole. A
    /// path may come several times.
    fn each_file<'s>(&'s self, _tell: &mut dyn FnMut(&'s Path)) {}

    /// Returns the number of the dialect's files, readable or not.
    fn file_count(&self) -> usize {
        let mut count = 0;
        self.each_file(&mut |_| count += 1);
        count
    }
}

/// A file that configures a client: settings, hooks, MCP servers, agents, skills, commands, plugins.
#[derive(Debug, Clone, Copy)]
pub struct CheckedClientFile<'f> {
    /// The checks of the client.
    pub checks: &'static ClientChecks,
    /// The checks of the file.
    pub file: &'static CheckedFile,
    /// The directory that its place starts at.
    pub base: &'f Path,
    pub source: &'f Arc<Source>,
    /// True for an agent of a plugin of Claude Code.
    pub is_plugin_agent: bool,
}

/// A Markdown text of guidance.
#[derive(Debug, Clone, Copy)]
pub struct GuidanceText<'t> {
    /// The dialect that read it.
    pub dialect: &'static str,
    pub source: &'t Arc<Source>,
    /// The offset at which the body starts, after the front matter.
    pub body_start: usize,
    /// True for the entry file of a skill, which is installed with its directory only.
    pub is_skill: bool,
    /// The text of one entry of the file with its first line, where entries are values of another language.
    pub entry: Option<(&'t str, usize)>,
}

impl<'t> GuidanceText<'t> {
    pub fn body(&self) -> &'t str {
        match self.entry {
            Some((text, _)) => text,
            None => self.source.text().get(self.body_start..).unwrap_or_default(),
        }
    }

    /// Returns the place in the source of a part of the body. In an entry it is the first place with the same words, or the
    /// first line.
    pub fn source_span(&self, start: usize, end: usize) -> Span {
        let Some((text, line)) = self.entry else {
            return Span::new(self.body_start + start, self.body_start + end);
        };
        let first = self.source.line_span(line);
        let words = text.get(start..end).unwrap_or_default().lines().next().unwrap_or_default();
        let rest = self.source.text().get(first.start..).unwrap_or_default();
        match rest.find(words).filter(|_| !words.is_empty()) {
            Some(at) => Span::new(first.start + at, first.start + at + words.len()),
            None => first,
        }
    }
}

/// The paths of a project, for questions such as "does this pattern match anything?".
#[derive(Debug, Clone, Default)]
pub struct ProjectFiles {
    /// Files, `/`-separated below the root, sorted.
    pub files: Vec<String>,
    /// Directories, in the same form and order, without the root.
    pub directories: Vec<String>,
}

impl ProjectFiles {
    /// Returns the files below a directory, relative to it.
    pub fn files_below<'f>(&'f self, directory: &str) -> impl Iterator<Item = &'f str> {
        paths_below(&self.files, directory)
    }

    /// Returns the range of [`ProjectFiles::files`] that lies below a directory.
    pub fn places_below(&self, directory: &str) -> Range<usize> {
        range_below(&self.files, directory)
    }

    /// Returns the directories below a directory, relative to it.
    pub fn directories_below<'f>(&'f self, directory: &str) -> impl Iterator<Item = &'f str> {
        paths_below(&self.directories, directory)
    }
}

fn paths_below<'f>(paths: &'f [String], directory: &str) -> impl Iterator<Item = &'f str> {
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
