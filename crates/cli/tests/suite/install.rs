//! Helpers for the tests of installing: real repositories beside the project, reached by the names that
//! people type, through `insteadOf` in the settings of git.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use brief_testkit::{Output, Sandbox};

use crate::project;

/// Hosts, and the directory beside the project that stands for each.
const HOSTS: [(&str, &str); 3] = [
    ("https://github.com/", "github"),
    ("https://gitlab.com/", "gitlab"),
    ("git@git.example.com:", "example"),
];

/// A repository on a host.
pub(crate) struct Remote {
    pub(crate) path: PathBuf,
}

impl Remote {
    /// Makes an empty one: `github/acme/guidance`.
    pub(crate) fn new(project: &Sandbox, place: &str) -> Remote {
        let remote = Remote { path: project.outside_directory().join(format!("{place}.git")) };
        fs::create_dir_all(&remote.path).unwrap();
        remote.git(&["init", "--quiet", "--initial-branch=main"]);
        remote
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        git(&self.path, args)
    }

    /// Writes files, commits everything and returns the commit.
    pub(crate) fn commit(&self, files: &[(&str, &str)]) -> String {
        write_all(&self.path, files);
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", "message"]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Takes the repository away, as if the server were gone.
    pub(crate) fn vanish(&self) {
        fs::rename(&self.path, self.path.with_extension("gone")).unwrap();
    }
}

/// Runs git with none of the machine's settings.
pub(crate) fn git(directory: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(args).current_dir(directory).env_clear().env("PATH", "/usr/bin:/bin");
    for (name, value) in [
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_CONFIG_SYSTEM", "/dev/null"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
    ] {
        command.env(name, value);
    }
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "Name");
        command.env(format!("GIT_{who}_EMAIL"), "name@example.com");
        command.env(format!("GIT_{who}_DATE"), "2026-01-01T00:00:00Z");
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

pub(crate) fn write_all(directory: &Path, files: &[(&str, &str)]) {
    for (name, content) in files {
        let path = directory.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
}

/// A project in a repository, whose git leads the hosts to directories beside it.
pub(crate) fn consumer() -> Sandbox {
    let project = project().with_env("GIT_CONFIG_NOSYSTEM", "1");
    let mut settings = String::new();
    for (address, place) in HOSTS {
        let place = project.outside_directory().join(place);
        settings.push_str(&format!("[url \"file://{}/\"]\n", place.display()));
        settings.push_str(&format!("insteadOf = {address}\n"));
    }
    fs::write(project.home().join(".gitconfig"), settings).unwrap();
    git(&project.path(), &["init", "--quiet", "--initial-branch=main"]);
    project
}

/// An item that says nothing special.
pub(crate) fn item(name: &str, body: &str) -> String {
    format!("---\nschema: 1\nname: {name}\ndescription: Use when {name} matters\n---\n\n{body}\n")
}

/// A bundle of rules that needs other bundles.
pub(crate) fn bundle(name: &str, version: &str, rules: &[&str], requires: &[&str]) -> String {
    let requires: Vec<String> = requires.iter().map(|one| format!("{{ {one} }}")).collect();
    let (rules, requires) = (rules.join(", "), requires.join(", "));
    format!(
        "---\nschema: 1\nname: {name}\ndescription: The {name}\nitems:\n  rules: [{rules}]\n\
         requires: [{requires}]\nmetadata:\n  version: \"{version}\"\n---\n\nWords.\n"
    )
}

pub(crate) const MONEY: &str = "---\nschema: 1\nname: money\ndescription: Money is an integer\n\
    license: MIT\nmetadata:\n  version: \"1.0.0\"\n  owner: payments\n---\n\nPrices are integers.\n";

/// The registry `acme/guidance` with one item of each kind, a bundle, and the tag `v1.0.0`.
pub(crate) fn guidance(project: &Sandbox) -> Remote {
    let remote = Remote::new(project, "github/acme/guidance");
    remote.commit(&[
        ("rules/money/RULE.md", MONEY),
        ("skills/review/SKILL.md", &item("review", "See [the list](references/list.md).")),
        ("skills/review/references/list.md", "## List\n\n- one\n"),
        ("agents/judge/AGENT.md", &item("judge", "You judge.")),
        ("base.bundle.md", &bundle("base", "1.2.0", &["money"], &[])),
    ]);
    remote.git(&["tag", "v1.0.0"]);
    remote
}

/// Runs the program and expects that it does what it is asked for.
pub(crate) fn run(project: &Sandbox, args: &[&str]) -> Output {
    let output = project.run(args);
    assert_eq!(output.code, Some(0), "{args:?}\n{output}");
    output
}

/// Every file below a directory with its content, but those of git and our own directory.
pub(crate) fn files(directory: &Path) -> BTreeMap<String, String> {
    fn walk(top: &Path, directory: &Path, files: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(top).unwrap().to_str().unwrap().replace('\\', "/");
            if [".git", ".brief"].contains(&name.as_str()) {
                continue;
            }
            if path.is_dir() {
                walk(top, &path, files);
            } else {
                let bytes = fs::read(&path).unwrap();
                files.insert(name, String::from_utf8_lossy(&bytes).into_owned());
            }
        }
    }
    let mut all = BTreeMap::new();
    walk(directory, directory, &mut all);
    all
}

/// The names of the project's files.
pub(crate) fn names(project: &Sandbox) -> Vec<String> {
    files(&project.path()).into_keys().collect()
}

/// The summary that a run ends with.
pub(crate) fn summary(output: &Output) -> &str {
    output.stderr.lines().last().unwrap_or_default()
}
