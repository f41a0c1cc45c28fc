//! The scripts and hooks for CI, as a user's machine runs them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::{PACKAGES, call, tested_program};
use crate::workspace;

/// The version of pre-commit that is installed for the test.
const PRE_COMMIT: &str = "4.7.0";

/// A repository with one commit on `main`, and the environment to run scripts in it.
struct Repository {
    directory: tempfile::TempDir,
}

impl Repository {
    fn new(files: &[(&str, &str)]) -> Repository {
        let repository = Repository { directory: tempfile::tempdir().unwrap() };
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository.commit(files);
        repository
    }

    fn commit(&self, files: &[(&str, &str)]) {
        for (name, text) in files {
            let path = self.directory.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message=change"]);
    }

    fn git(&self, args: &[&str]) {
        let user = ["-c", "user.name=T", "-c", "user.email=t@example.com"];
        let output = self.run(Path::new("git"), &[&user[..], args].concat());
        assert!(output.status.success(), "{args:?}: {}", said(&output));
    }

    fn run(&self, program: &Path, args: &[&str]) -> Output {
        let programs = tested_program();
        let programs = programs.parent().unwrap().display();
        let path = std::env::var("PATH").unwrap_or_default();
        Command::new(program)
            .args(args)
            .current_dir(self.directory.path())
            .env("PATH", format!("{programs}:{path}"))
            .env("HOME", self.directory.path().join(".git"))
            .output()
            .unwrap_or_else(|error| panic!("`{}` cannot be started: {error}", program.display()))
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.directory.path().join(name)).unwrap_or_default()
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn script(name: &str) -> PathBuf {
    workspace().join("packaging").join("ci").join(name)
}

const GOOD: &str =
    "context:\n  - content: Prices are integers in cents.\n    match: [\"src/**\"]\n";
const OTHER: &str =
    "context:\n  - content: Prices are integers in euros.\n    match: [\"src/**\"]\n";
const BAD: &str =
    "context:\n  - content: Prices.\n    mach: [\"src/**\"]\n    match: [\"none/**\"]\n";

/// A release is downloaded, and refused when a byte of it is another one.
#[test]
fn the_install_script_takes_what_has_its_checksum() {
    let scratch = tempfile::tempdir().unwrap();
    let release = scratch.path().join("v0.1.0");
    fs::create_dir(&release).unwrap();
    let files = fs::read_dir(PACKAGES.path()).unwrap().map(|entry| entry.unwrap());
    for file in files {
        fs::copy(file.path(), release.join(file.file_name())).unwrap();
    }
    let install = |into: &str| {
        let releases = format!("file://{}", scratch.path().display());
        let mut bash = Command::new("bash");
        bash.arg(script("install.sh")).args(["v0.1.0", into]).env("BRIEF_RELEASES", releases);
        bash.output().unwrap()
    };
    let good = scratch.path().join("good");
    let output = install(&good.to_string_lossy());
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(call(good.join("brief"), &["--version".as_ref()]), "brief 0.1.0\n");

    let archive = release.join("brief-0.1.0-x86_64-unknown-linux-gnu.tar.gz");
    let mut data = fs::read(&archive).unwrap();
    data[10_000] ^= 1;
    fs::write(&archive, data).unwrap();
    let bad = scratch.path().join("bad");
    let output = install(&bad.to_string_lossy());
    assert!(!output.status.success(), "{}", said(&output));
    assert!(!bad.exists());
}

/// Findings are exit code 1 and annotations; the comment names the files whose guidance changes.
#[test]
fn the_check_script_reports_findings_and_changes() {
    let repository = Repository::new(&[("AGENTS.yaml", GOOD), ("src/a.py", "")]);
    let output = repository.run(&script("check.sh"), &["main", "comment.md"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(repository.read("comment.md").ends_with("\n\nNone.\n"), "{}", said(&output));

    repository.git(&["checkout", "--quiet", "-b", "branch"]);
    repository.commit(&[("AGENTS.yaml", OTHER)]);
    let output = repository.run(&script("check.sh"), &["main", "comment.md"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let comment = repository.read("comment.md");
    assert!(comment.contains("AGENTS.yaml") && comment.contains("~~~text\n"), "{comment}");

    repository.commit(&[("AGENTS.yaml", BAD)]);
    let script = script("check.sh");
    let findings = [
        "-c",
        "BRIEF_FORMAT=github BRIEF_LINT_OPTIONS=--strict exec \"$0\"",
        script.to_str().unwrap(),
    ];
    let output = repository.run(Path::new("sh"), &findings);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("file=AGENTS.yaml,line="), "{}", said(&output));

    let plain = workspace().join("examples/ci/check.sh");
    assert_eq!(repository.run(&plain, &[]).status.code(), Some(1));
    repository.commit(&[("AGENTS.yaml", GOOD)]);
    let output = repository.run(&plain, &["main"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
}

/// The real pre-commit, which pip installs for this test, clones this repository's hooks and runs them.
#[test]
fn pre_commit_runs_the_hooks() {
    let environment = workspace().join("target").join("pre-commit");
    let program = environment.join("bin").join("pre-commit");
    if !program.exists() {
        call("python3", &["-m".as_ref(), "venv".as_ref(), environment.as_ref()]);
        let wanted = format!("pre-commit=={PRE_COMMIT}");
        let pip = environment.join("bin").join("pip");
        call(pip, &["install".as_ref(), "--quiet".as_ref(), wanted.as_ref()]);
    }
    let hooks = fs::read_to_string(workspace().join(".pre-commit-hooks.yaml")).unwrap();
    let source = Repository::new(&[(".pre-commit-hooks.yaml", &hooks)]);
    source.git(&["tag", "v1"]);
    let path = source.directory.path().display();
    let ids = hooks.lines().filter_map(|line| line.strip_prefix("- id: "));
    let wanted: Vec<String> = ids.clone().map(|id| format!("      - id: {id}\n")).collect();
    let wanted = wanted.concat();
    let settings = format!("repos:\n  - repo: {path}\n    rev: v1\n    hooks:\n{wanted}");
    let guidance = "---\nschema: 1\nname: money\ndescription: Money\n---\n\nIntegers.\n";
    let project = Repository::new(&[
        (".pre-commit-config.yaml", &settings),
        ("guidance/rules/money/RULE.md", guidance),
        ("AGENTS.yaml", GOOD),
        ("src/a.py", ""),
        (".gitignore", "/guidance\n"),
    ]);
    let brief = tested_program();
    let added = project.run(&brief, &["add", "./guidance", "--client", "claude"]);
    assert!(added.status.success(), "{}", said(&added));
    project.commit(&[]);
    let output = project.run(&program, &["run", "--all-files"]);
    let text = said(&output);
    assert!(output.status.success(), "{text}");
    assert_eq!(text.matches("Passed").count(), ids.count(), "{text}");

    project.commit(&[("AGENTS.yaml", "context: [{content: x, match: [}]\n")]);
    let output = project.run(&program, &["run", "brief-lint", "--all-files"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("AGENTS.yaml:1"), "{}", said(&output));
}
