//! A project, and the questions about it.

use std::io;
use std::path::{Path, PathBuf};

use brief_dialects::dependencies::DependencyChoice;
use brief_dialects::{Action, Dialects, Moment, Strangers, Timing};
use brief_syntax::walk::Ignored;
use brief_syntax::{Root, Target, TargetKind};
use brief_system::System;

use crate::briefing::Briefing;
use crate::catalog::{Catalog, CatalogScope};
use crate::tokens::Counter;

/// A project, seen from the directory where the work is done.
#[derive(Clone)]
pub struct Project<'s> {
    system: &'s dyn System,
    root: Root,
    directory: PathBuf,
    started: PathBuf,
}

impl<'s> Project<'s> {
    /// Opens the repository that holds `directory`: the nearest directory with a `.git`, or
    /// `directory` itself (ruling G16).
    pub fn open(system: &'s dyn System, directory: impl AsRef<Path>) -> io::Result<Project<'s>> {
        let started = Root::open(system, directory.as_ref())?;
        let root = started.clone().into_repository(system);
        Ok(Project::from_parts(system, root, directory.as_ref(), &started))
    }

    /// Opens `directory` itself, whatever repository it is part of.
    pub fn open_directory(
        system: &'s dyn System,
        directory: impl AsRef<Path>,
    ) -> io::Result<Project<'s>> {
        let root = Root::open(system, directory.as_ref())?;
        Ok(Project::from_parts(system, root.clone(), directory.as_ref(), &root))
    }

    /// Makes a project of parts that are open: its root, the directory that relative paths start at,
    /// and the directory that the client was started in.
    pub fn from_parts(
        system: &'s dyn System,
        root: Root,
        directory: &Path,
        started: &Root,
    ) -> Project<'s> {
        let started = started.path().to_owned();
        Project { system, root, directory: directory.to_owned(), started }
    }

    /// Finds a path in the project, as [`Project::briefing`] does; `None` when it lies outside.
    pub fn locate(&self, path: &Path) -> Option<Target> {
        self.root.locate_target(self.system, &self.directory, path)
    }

    /// Returns the directory that relative paths start at.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the root.
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// Returns the directory that the client was started in, without links: the directory that the
    /// project was opened from.
    pub fn started(&self) -> &Path {
        &self.started
    }

    /// Returns the system that the project lies in.
    pub fn system(&self) -> &'s dyn System {
        self.system
    }

    /// Asks about a file or directory, which need not exist. A relative path starts at the directory
    /// that the project was opened from. A path outside the root gets nothing from the project.
    pub fn briefing(&self, path: impl AsRef<Path>) -> BriefingRequest<'s> {
        let root = self.root.clone();
        let moment = Moment::from_path(self.system, root, &self.directory, path.as_ref());
        self.build_request(moment)
    }

    /// Asks for everything that the project says, whatever the patterns.
    pub fn everything(&self) -> BriefingRequest<'s> {
        self.build_request(Moment { root: self.root.clone(), ..Moment::default() })
    }

    fn build_request(&self, moment: Moment) -> BriefingRequest<'s> {
        let moment = Moment { started: Some(self.started.clone()), ..moment };
        BriefingRequest { moment, system: self.system, counter: None, ignored: Ignored::Skip }
    }

    /// Reads the whole project, without the directories that version control ignores.
    pub fn read_project(&self, dialects: Dialects) -> Catalog {
        let top = Target::from_slashed("", TargetKind::Directory);
        let strangers = Strangers::LeftOut;
        let scope = CatalogScope { start: &top, ignored: Ignored::Skip, dialects, strangers };
        Catalog::read_project(self.system, &self.root, scope)
    }
}

/// A question on its way to a [`Briefing`].
#[must_use]
pub struct BriefingRequest<'s> {
    /// The question so far.
    pub moment: Moment,
    system: &'s dyn System,
    counter: Option<&'s Counter<'s>>,
    ignored: Ignored,
}

impl<'s> BriefingRequest<'s> {
    /// Names the client that asks: what it loads by itself is left out.
    pub fn client(mut self, name: impl Into<String>) -> Self {
        self.moment.set_client(self.system, Some(name.into()));
        self
    }

    /// Asks for one action only.
    pub fn action(mut self, action: Action) -> Self {
        self.moment.action = Some(action);
        self
    }

    /// Asks for one timing only.
    pub fn timing(mut self, timing: Timing) -> Self {
        self.moment.timing = Some(timing);
        self
    }

    /// Names the task that is being worked on.
    pub fn task(mut self, name: impl Into<String>) -> Self {
        self.moment.task = Some(name.into());
        self
    }

    /// Mentions a name, as a user does in a prompt.
    pub fn mention(mut self, name: impl Into<String>) -> Self {
        self.moment.mentions.push(name.into());
        self
    }

    /// Sets the directory that the client has open, if it is not the root.
    pub fn mounted(mut self, directory: impl Into<PathBuf>) -> Self {
        self.moment = self.moment.mounted_at(self.system, directory.into());
        self
    }

    /// Asks only these dialects.
    pub fn only(mut self, names: impl IntoIterator<Item = &'static str>) -> Self {
        self.moment.dialects = Dialects::Only(names.into_iter().collect());
        self
    }

    /// Cuts the most general items until the rest costs at most `tokens`.
    pub fn budget(mut self, tokens: usize) -> Self {
        self.moment.budget = Some(tokens);
        self
    }

    /// Counts tokens with `counter` instead of estimating them.
    pub fn counted_by(self, counter: &'s Counter<'s>) -> Self {
        BriefingRequest { counter: Some(counter), ..self }
    }

    /// Reads directories that version control ignores, too, when the whole project is asked about.
    pub fn with_ignored(self) -> Self {
        BriefingRequest { ignored: Ignored::Visit, ..self }
    }

    /// Reads what the dialects need to answer.
    pub fn read_catalog(&self) -> Catalog {
        let BriefingRequest { moment, system, ignored, .. } = self;
        if moment.target.is_some() {
            return Catalog::read_for_moment(*system, moment);
        }
        let start = &Target::from_slashed("", TargetKind::Directory);
        let (dialects, strangers) = (moment.dialects.clone(), moment.strangers);
        let scope = CatalogScope { start, ignored: *ignored, dialects, strangers };
        let mut catalog = Catalog::read_project(*system, &moment.root, scope);
        if moment.dependencies != DependencyChoice::Recorded {
            catalog.add_packages(*system, moment);
        }
        catalog
    }

    /// Reads, and answers.
    pub fn resolve(self) -> Briefing {
        let catalog = self.read_catalog();
        self.resolve_from(&catalog)
    }

    /// Answers from what [`BriefingRequest::read_catalog`] has read.
    pub fn resolve_from(self, catalog: &Catalog) -> Briefing {
        let estimate = Counter::estimate();
        Briefing::from_catalog(catalog, self.moment, self.counter.unwrap_or(&estimate))
    }
}
