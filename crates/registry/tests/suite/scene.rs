//! A project before a run, and what the run does to it: for tests that end it at every step.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use brief_registry::Network;
use brief_registry::build;
use brief_registry::install::{
    Extent, InstallError, InstallMode, InstallRequest, Locking, ProjectPaths, Refresh, sync_project,
};
use brief_registry::manifest::{ManifestEdit, ManifestPlace, WantedItems};
use brief_syntax::{Diagnostic, Severity};
use brief_system::System;
use brief_testkit::snapshot::{
    Snapshot, collect_snapshot, copy_directory, render_item, write_files,
};
use brief_testkit::{Fault, Faulty, Lack, RealSystem, Sandbox, make_link};

use crate::compiler::{CLIENTS, TestCompiler};

/// The request of a run.
#[derive(Debug, Clone)]
pub(crate) enum Action {
    Sync,
    Edit(Vec<ManifestEdit>),
    Adopt(&'static str),
    Clean,
    Build,
}

/// The end of a run that did not do what was asked for.
#[derive(Debug)]
pub(crate) enum Ended {
    /// It says that nothing was changed.
    Nothing(String),
    /// It says that the next run finishes it.
    Half(String),
    /// It did what could be done, and told about the rest.
    Told(String),
}

/// Directories with a project and a source in each.
pub(crate) struct Scene {
    sandbox: Sandbox,
    old: PathBuf,
    lack: Lack,
    pub(crate) action: Action,
}

impl Scene {
    /// Prepares the old state in a directory of its own.
    pub(crate) fn new(action: Action, prepare: impl FnOnce(&Path)) -> Scene {
        let sandbox = Sandbox::new("brief");
        let old = sandbox.outside_directory().join("old");
        fs::create_dir_all(old.join("project")).unwrap();
        prepare(&old);
        Scene { sandbox, old, lack: Lack::Nothing, action }
    }

    /// Puts it on a file system that cannot do everything.
    pub(crate) fn lacking(self, lack: Lack) -> Scene {
        Scene { lack, ..self }
    }

    /// Returns a system with a fault.
    pub(crate) fn faulty(&self, base: &Path, fault: Fault) -> Faulty {
        Faulty::new(healthy(base), fault).lacking(self.lack)
    }

    /// Returns a copy of the old state.
    pub(crate) fn copy(&self, name: &str) -> PathBuf {
        self.copy_of(&self.old, name)
    }

    /// Returns a copy of a state.
    pub(crate) fn copy_of(&self, state: &Path, name: &str) -> PathBuf {
        let place = self.sandbox.outside_directory().join(name);
        if place.exists() {
            fs::remove_dir_all(&place).unwrap();
        }
        copy_directory(&state.join("project"), &place.join("project"));
        let (source, target) = (self.old.join("source"), place.join("source"));
        match self.action {
            // A build knows its source by where it really is.
            Action::Build => copy_directory(&source, &target),
            // No run writes to a source.
            _ => make_link(&source, &target),
        }
        place
    }

    /// Runs the action.
    pub(crate) fn act(&self, system: &dyn System, base: &Path) -> Result<(), Ended> {
        act(system, base, &self.action)
    }

    /// Returns what is there before the run.
    pub(crate) fn old(&self) -> Snapshot {
        tree(&self.old)
    }

    /// Returns what is there after a run that nothing disturbs.
    pub(crate) fn new_tree(&self) -> Snapshot {
        let done = self.copy("done");
        self.act(&healthy(&done), &done).unwrap();
        tree(&done)
    }
}

/// A system without a fault. The user's home is shared: a journal counts where its key is.
pub(crate) fn healthy(base: &Path) -> RealSystem {
    let home = base.with_file_name("home");
    let env = [("HOME".to_owned(), home.to_string_lossy().into_owned())];
    RealSystem::new(base).with_env(env.into())
}

/// Runs something in a project.
pub(crate) fn act(system: &dyn System, base: &Path, action: &Action) -> Result<(), Ended> {
    let root = base.join("project");
    let clients = TestCompiler;
    if let Action::Build = action {
        let registry = base.join("source");
        let request = build::BuildRequest {
            registry: &registry,
            out: Some(&root),
            configured_out: None,
            clients: &["claude", "opencode"],
            mode: build::BuildMode::Write,
            edited: build::Edited::Keep,
        };
        let outcome = build::build_registry(system, &clients, &request);
        return match outcome {
            Ok(report) => told(&report.diagnostics),
            Err(error) => Err(Ended::Half(error.to_string())),
        };
    }
    let (edits, adopt) = match action {
        Action::Edit(edits) => (edits.as_slice(), None),
        Action::Adopt(path) => (&[][..], Some(*path)),
        _ => (&[][..], None),
    };
    let request = InstallRequest {
        edits,
        refresh: Refresh::None,
        commits: BTreeMap::new(),
        found: None,
        new: None,
        mode: InstallMode::Write,
        durability: brief_registry::Durability::Lasting,
        locking: Locking::Follow,
        network: Network::Offline,
        clients: &CLIENTS.map(str::to_owned),
        adopt: adopt.into_iter().map(str::to_owned).collect(),
        force: BTreeSet::new(),
        accept: BTreeSet::new(),
        accept_signers: BTreeSet::new(),
        extent: if let Action::Clean = action { Extent::Nothing } else { Extent::Manifest },
        new_clients: &[],
    };
    match sync_project(system, &clients, &ProjectPaths::from_root(&root), &request, &|_| {}) {
        Ok(report) => told(&report.diagnostics),
        Err(InstallError::HalfWritten(error)) => Err(Ended::Half(error.to_string())),
        Err(error) => Err(Ended::Nothing(error.to_string())),
    }
}

fn told(diagnostics: &[Diagnostic]) -> Result<(), Ended> {
    match diagnostics.iter().find(|found| found.severity == Severity::Error) {
        Some(found) => Err(Ended::Told(found.code().to_string())),
        None => Ok(()),
    }
}

/// Everything in the project, but for the file that only keeps runs apart.
pub(crate) fn tree(base: &Path) -> Snapshot {
    let mut found = Snapshot::new();
    collect_snapshot(&base.join("project"), "", &mut found);
    found.remove(".brief/lock");
    found
}

/// Returns the paths that are not for us alone.
pub(crate) fn outside(tree: &Snapshot) -> Snapshot {
    let is_own = |path: &str| path == ".brief/" || path.starts_with(".brief/");
    let outside = tree.iter().filter(|(path, _)| !is_own(path));
    outside.map(|(path, found)| (path.clone(), found.clone())).collect()
}

const MANIFEST: &str = "[install]\nclients = [\"claude\", \"opencode\"]\n\n\
                        # Mine.\n[sources.guidance]\ndirectory = \"../source\"\nall = true # for now\n";

/// A source with something of every kind, and a project with files of its user.
pub(crate) fn first(base: &Path) {
    let (rule, skill, agent) = (
        render_item("api", "## One"),
        render_item("ship", "## One"),
        render_item("judge", "## One"),
    );
    let gone = render_item("gone", "## Gone");
    write_files(
        &base.join("source"),
        &[
            ("rules/api/RULE.md", &rule),
            ("rules/api/list.txt", "one\n"),
            ("skills/ship/SKILL.md", &skill),
            ("skills/ship/scripts/run.sh", "#!/bin/sh\n"),
            ("skills/ship/old/deep/note.txt", "old\n"),
            ("skills/gone/SKILL.md", &gone),
            ("agents/judge/AGENT.md", &agent),
        ],
    );
    write_files(
        &base.join("project"),
        &[
            ("README.md", "mine\n"),
            ("AGENTS.md", "mine\n"),
            ("CLAUDE.md", "# Mine\n"),
            ("opencode.json", "{\n  // mine\n  \"theme\": \"dark\"\n}\n"),
            (".claude/settings.json", "{}\n"),
            (".claude/rules/mine.md", "mine\n"),
            (".github/workflows/ci.yml", "mine\n"),
        ],
    );
    // A secret stays one.
    let secret = base.join("project/opencode.json");
    fs::set_permissions(secret, fs::Permissions::from_mode(0o600)).unwrap();
}

/// The same with a manifest.
pub(crate) fn wanted(base: &Path) {
    first(base);
    write_files(&base.join("project"), &[("brief.toml", MANIFEST)]);
}

/// The same, installed.
pub(crate) fn installed(base: &Path) {
    wanted(base);
    act(&healthy(base), base, &Action::Sync).unwrap();
}

/// The same, with a source that has moved on and a manifest that wants it for fewer clients.
pub(crate) fn moved_on(base: &Path) {
    installed(base);
    change_source(base);
    let narrowed = format!("{MANIFEST}clients = [\"claude\"]\n");
    write_files(&base.join("project"), &[("brief.toml", &narrowed)]);
}

pub(crate) fn change_source(base: &Path) {
    let source = base.join("source");
    let (rule, fresh) = (render_item("api", "## Two"), render_item("fresh", "## New"));
    fs::remove_dir_all(source.join("skills/gone")).unwrap();
    fs::remove_dir_all(source.join("skills/ship/old")).unwrap();
    write_files(
        &source,
        &[
            ("rules/api/RULE.md", &rule),
            ("rules/api/list.txt", "two\n"),
            ("skills/ship/scripts/run.sh", "#!/bin/sh\nexit 0\n"),
            ("skills/ship/new/deep/note.txt", "new\n"),
            ("skills/fresh/SKILL.md", &fresh),
        ],
    );
    // The same content, but no program any more.
    fs::rename(source.join("skills/ship/scripts/run.sh"), source.join("skills/ship/run")).unwrap();
    write_files(&source, &[("skills/ship/scripts/run.sh", "#!/bin/sh\n")]);
    let script = source.join("skills/ship/scripts/run.sh");
    fs::set_permissions(script, fs::Permissions::from_mode(0o644)).unwrap();
}

/// Wants everything of the source, which no manifest names yet.
pub(crate) fn addition() -> Vec<ManifestEdit> {
    vec![ManifestEdit::Want {
        source: "guidance".to_owned(),
        place: ManifestPlace::Directory("../source".to_owned()),
        wanted: WantedItems { all: true, ..WantedItems::default() },
        clients: Some(vec!["claude".to_owned(), "opencode".to_owned()]),
    }]
}
