//! A project before a run, and what the run does to it: for tests that end it at every step.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_clients::compile::Clients;
use brief_clients::profile::{ProfileScope, Section};
use brief_profiles::OwnClients;
use brief_registry::Network;
use brief_registry::build;
use brief_registry::install::{
    Extent, InstallError, InstallMode, InstallRequest, Locking, ProjectPaths, Refresh, sync,
};
use brief_registry::manifest::{ManifestEdit, ManifestPlace, Wanted};
use brief_syntax::{Diagnostic, Severity, Source, System};
use brief_testkit::{Fault, Faulty, Lack, RealSystem, Sandbox, make_link};

/// What a run is asked for.
#[derive(Debug, Clone)]
pub(crate) enum Action {
    Sync,
    Edit(Vec<ManifestEdit>),
    Adopt(&'static str),
    Clean,
    Build,
}

/// How a run ended that did not do what was asked for.
#[derive(Debug)]
pub(crate) enum Ended {
    /// It says that nothing was changed.
    Nothing(String),
    /// It says that the next run finishes it.
    Half(String),
    /// It did what could be done, and told about the rest.
    Told(String),
}

/// A file or directory: what is in it, and its permissions.
pub(crate) type Tree = BTreeMap<String, (Option<Vec<u8>>, u32)>;

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
        let sandbox = crate::project();
        let old = sandbox.outside().join("old");
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
        let place = self.sandbox.outside().join(name);
        if place.exists() {
            fs::remove_dir_all(&place).unwrap();
        }
        copy(&state.join("project"), &place.join("project"));
        let (source, target) = (self.old.join("source"), place.join("source"));
        match self.action {
            // A build knows its source by where it really is.
            Action::Build => copy(&source, &target),
            // Nobody writes to a source.
            _ => make_link(&source, &target),
        }
        place
    }

    /// Runs the action.
    pub(crate) fn act(&self, system: &dyn System, base: &Path) -> Result<(), Ended> {
        act(system, base, &self.action)
    }

    /// Returns what is there before the run.
    pub(crate) fn old(&self) -> Tree {
        tree(&self.old)
    }

    /// Returns what is there after a run that nothing disturbs.
    pub(crate) fn new_tree(&self) -> Tree {
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
    let text = fs::read_to_string(root.join("brief.toml")).ok();
    let source = text.map(|text| Arc::new(Source::new(root.join("brief.toml"), text)));
    let clients = Clients::read(
        source.as_ref(),
        &OwnClients::default(),
        Section::Install,
        ProfileScope::Project,
    )
    .unwrap();
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
        let outcome = build::build(system, &clients, &request);
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
        mode: InstallMode::Write,
        locking: Locking::Follow,
        network: Network::Offline,
        clients: &clients.wanted(&[]).unwrap(),
        adopt: adopt.into_iter().map(str::to_owned).collect(),
        force: BTreeSet::new(),
        accept: BTreeSet::new(),
        extent: if let Action::Clean = action { Extent::Nothing } else { Extent::Manifest },
    };
    match sync(system, &clients, &ProjectPaths::at(&root), &request, &|_| {}) {
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
pub(crate) fn tree(base: &Path) -> Tree {
    let mut found = Tree::new();
    collect(&base.join("project"), "", &mut found);
    found.remove(".brief/lock");
    found
}

/// Removes the mark of derived capability lists from the record of an installation. It covers the
/// project's path with a key of the machine, so it differs between copies.
pub(crate) fn remove_mark(record: &mut Vec<u8>) {
    // A torn record stays as it is, for the test to find.
    if let Ok(serde_json::Value::Object(mut fields)) = serde_json::from_slice(record) {
        fields.remove("capabilities");
        *record = serde_json::Value::Object(fields).to_string().into_bytes();
    }
}

/// What is not only for us.
pub(crate) fn outside(tree: &Tree) -> Tree {
    let is_own = |path: &str| path == ".brief/" || path.starts_with(".brief/");
    let outside = tree.iter().filter(|(path, _)| !is_own(path));
    outside.map(|(path, found)| (path.clone(), found.clone())).collect()
}

/// The files, without directories.
pub(crate) fn files(tree: &Tree) -> Tree {
    let files = tree.iter().filter(|(path, _)| !path.ends_with('/'));
    files.map(|(path, found)| (path.clone(), found.clone())).collect()
}

/// Says where two states differ.
pub(crate) fn differences(left: &Tree, right: &Tree) -> Vec<String> {
    let paths: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    let differing = paths.into_iter().filter(|path| left.get(*path) != right.get(*path));
    let word = |tree: &Tree, path: &String| match tree.get(path) {
        None => "nothing".to_owned(),
        Some((None, _)) => "a directory".to_owned(),
        Some((Some(bytes), mode)) => {
            let text: String = String::from_utf8_lossy(bytes).chars().take(60).collect();
            format!("{mode:o} {text:?}")
        }
    };
    differing.map(|path| format!("{path}: {} / {}", word(left, path), word(right, path))).collect()
}

/// Adds everything below a directory.
pub(crate) fn collect(directory: &Path, below: &str, found: &mut Tree) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{below}{}", path.file_name().unwrap().to_str().unwrap());
        let mode = fs::symlink_metadata(&path).unwrap().permissions().mode() & 0o777;
        if path.is_dir() {
            let name = format!("{name}/");
            collect(&path, &name, found);
            found.insert(name, (None, mode));
        } else {
            let mut content = fs::read(&path).unwrap();
            if name.ends_with("installed.json") {
                remove_mark(&mut content);
            }
            found.insert(name, (Some(content), mode));
        }
    }
}

/// Copies a directory with all in it.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    fs::set_permissions(to, fs::metadata(from).unwrap().permissions()).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

/// Writes files below a directory.
pub(crate) fn write(base: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = base.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let is_program = path.extension().is_some_and(|ending| ending == "sh");
        let mode = if is_program { 0o755 } else { 0o644 };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }
}

/// An item's entrypoint.
pub(crate) fn item(name: &str, body: &str) -> String {
    format!(
        "---\nschema: 1\nname: {name}\ndescription: Use when {name}\nlicense: MIT\n---\n\n{body}\n"
    )
}

const MANIFEST: &str = "[install]\nclients = [\"claude\", \"opencode\"]\n\n\
                        # Mine.\n[sources.guidance]\ndirectory = \"../source\"\nall = true # for now\n";

/// A source with something of every kind, and a project with files of its user.
pub(crate) fn first(base: &Path) {
    let (rule, skill, agent) =
        (item("api", "## One"), item("ship", "## One"), item("judge", "## One"));
    let gone = item("gone", "## Gone");
    write(
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
    write(
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
    write(&base.join("project"), &[("brief.toml", MANIFEST)]);
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
    write(&base.join("project"), &[("brief.toml", &narrowed)]);
}

pub(crate) fn change_source(base: &Path) {
    let source = base.join("source");
    let (rule, fresh) = (item("api", "## Two"), item("fresh", "## New"));
    fs::remove_dir_all(source.join("skills/gone")).unwrap();
    fs::remove_dir_all(source.join("skills/ship/old")).unwrap();
    write(
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
    write(&source, &[("skills/ship/scripts/run.sh", "#!/bin/sh\n")]);
    let script = source.join("skills/ship/scripts/run.sh");
    fs::set_permissions(script, fs::Permissions::from_mode(0o644)).unwrap();
}

/// Wants everything of the source, which no manifest names yet.
pub(crate) fn addition() -> Vec<ManifestEdit> {
    vec![ManifestEdit::Want {
        source: "guidance".to_owned(),
        place: ManifestPlace::Directory("../source".to_owned()),
        wanted: Wanted { all: true, ..Wanted::default() },
        clients: Some(vec!["claude".to_owned(), "opencode".to_owned()]),
    }]
}
