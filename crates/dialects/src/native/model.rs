//! The content of a client file, with its client's defaults filled in.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_profiles::{ClientPlace, Text};
use brief_syntax::Source;

use crate::answer::{Level, Origin, Owner, State};
use crate::rule_check::RuleCheck;

use super::NAME;
use super::globs::Globs;
use super::settings::Setting;

/// One file, or one that a file imports.
#[derive(Debug)]
pub(super) struct Guide {
    /// The text, under the name that it was found by.
    pub(super) source: Arc<Source>,
    /// Its name in an answer.
    pub(super) kind: &'static str,
    pub(super) name: String,
    pub(super) description: String,
    /// The offset and the line at which the text to deliver begins.
    pub(super) body_start: usize,
    pub(super) line: usize,
    /// The files that it is about, if it says so.
    pub(super) scope: Option<Scope>,
    pub(super) use_: Use,
    /// The place it was found at; `None` for what another file imports.
    pub(super) place: Option<ClientPlace>,
    /// The files that it imports, absolute.
    pub(super) imports: Vec<PathBuf>,
    /// The names that a user can mention it by, each with the reason in words.
    pub(super) mentions: Vec<(String, String)>,
    /// True if more than one way leads to the file.
    pub(super) is_shared: bool,
    /// The file itself, when it was found by a link.
    pub(super) real: Option<PathBuf>,
    /// The file behind the links among its directories, where there are any.
    pub(super) behind: Option<PathBuf>,
    /// The check of the rule. Our extension of the clients' formats.
    pub(super) check: Option<Arc<RuleCheck>>,
    /// The number of its text among those of the whole project; equal texts have the same.
    pub(super) text_number: Option<usize>,
}

/// A text as far as it is compared with others.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum ComparedText<'g> {
    Number(usize),
    Words(&'g str),
}

impl Guide {
    /// Returns a guide with a text from `body_start` on, and nothing else that its header could say.
    pub(super) fn new(
        source: Arc<Source>,
        kind: &'static str,
        name: String,
        body_start: usize,
        use_: Use,
    ) -> Guide {
        Guide {
            kind,
            name,
            description: String::new(),
            line: source.line_number(body_start),
            body_start,
            scope: None,
            use_,
            place: None,
            imports: Vec::new(),
            mentions: Vec::new(),
            is_shared: false,
            real: None,
            behind: None,
            check: None,
            text_number: None,
            source,
        }
    }

    /// Returns the file, absolute.
    pub(super) fn path(&self) -> &Path {
        self.source.path()
    }

    pub(super) fn origin(&self) -> Origin<'_> {
        Origin { dialect: NAME, path: self.path(), line: self.line }
    }

    /// Returns the file itself, whatever links lead to it.
    pub(super) fn real_path(&self) -> &Path {
        self.real.as_deref().unwrap_or(self.path())
    }

    /// Returns the file itself, whatever links of files and directories lead to it.
    pub(super) fn file(&self) -> &Path {
        self.behind.as_deref().unwrap_or(self.real_path())
    }

    /// Returns the text to deliver.
    pub(super) fn content(&self) -> &str {
        self.source.text().get(self.body_start..).unwrap_or_default()
    }

    /// Returns the text to compare with those of others.
    pub(super) fn compared_text(&self) -> ComparedText<'_> {
        self.text_number
            .map_or_else(|| ComparedText::Words(self.content().trim()), ComparedText::Number)
    }

    /// Returns its state where it applies, unless it is mentioned; `None` for what never applies.
    pub(super) fn state(&self) -> Option<State> {
        match self.use_ {
            Use::Active(_) => Some(State::Active),
            Use::Listed => Some(State::Listed),
            Use::Manual => Some(State::Manual),
            Use::Bridge(_) | Use::Never(_) => None,
        }
    }

    /// Returns what a client needs to see for it to be used.
    pub(super) fn trigger(&self) -> &'static str {
        match (&self.use_, &self.scope) {
            (Use::Manual, _) => "manual",
            (Use::Listed, _) => "description",
            (_, Some(_)) => "glob",
            _ => "always",
        }
    }
}

/// The files that a guide is about.
#[derive(Debug)]
pub(super) struct Scope {
    /// The field that says so.
    pub(super) field: &'static str,
    pub(super) globs: Arc<Globs>,
}

/// The use of a guide where it applies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Use {
    /// It is in the briefing, for this reason unless it has a scope.
    Active(Cow<'static, str>),
    Listed,
    /// Only when it is mentioned.
    Manual,
    /// Its text is only where to find others.
    Bridge(String),
    /// No client reads it, for this reason.
    Never(Cow<'static, str>),
}

/// Everything that belongs to one directory.
#[derive(Debug)]
pub(super) struct Folder {
    pub(super) owner: Owner,
    /// The directory below the mounted one, with `/` between names. What the user has is about the
    /// mounted directory.
    pub(super) directory: String,
    /// The directory itself, absolute.
    pub(super) path: PathBuf,
    /// The level of its guides that are for all files.
    pub(super) level: Level,
    /// The places that hold a file, readable or not, as clients' files write them.
    pub(super) present: Vec<Text>,
    pub(super) guides: Vec<Guide>,
    /// The settings of clients here about the files to read.
    pub(super) settings: Vec<Setting>,
}

impl Folder {
    /// Returns how general a guide of this directory is.
    pub(super) fn level_of(&self, guide: &Guide) -> Level {
        Level { is_scoped: guide.scope.is_some(), ..self.level }
    }

    /// Returns the word for whose it is.
    pub(super) fn scope(&self) -> &'static str {
        match self.owner {
            Owner::User => "user",
            Owner::Project => "project",
        }
    }

    /// Returns `path` as this directory sees it; `None` when it lies elsewhere.
    pub(super) fn relative_path<'p>(&self, path: &'p str) -> Option<&'p str> {
        if self.directory.is_empty() {
            return Some(path);
        }
        let rest = path.strip_prefix(self.directory.as_str())?;
        if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
    }
}

/// Finds the files that more than one way leads to.
pub(super) fn mark_shared(folders: &mut [Folder]) {
    let mut ways: HashMap<OsString, usize> = HashMap::new();
    for guide in folders.iter().flat_map(|folder| &folder.guides) {
        *ways.entry(guide.path().as_os_str().to_owned()).or_default() += 1;
    }
    for guide in folders.iter_mut().flat_map(|folder| &mut folder.guides) {
        guide.is_shared = ways.get(guide.path().as_os_str()).is_some_and(|&count| count > 1);
    }
}

/// Numbers the texts, so that the questions about each file of a project do not compare them again.
pub(super) fn number_texts(folders: &mut [Folder]) {
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut found = Vec::new();
    for guide in folders.iter().flat_map(|folder| &folder.guides) {
        let next = numbers.len();
        found.push(*numbers.entry(guide.content().trim()).or_insert(next));
    }
    let guides = folders.iter_mut().flat_map(|folder| &mut folder.guides);
    for (guide, number) in guides.zip(found) {
        guide.text_number = Some(number);
    }
}
