//! The scripts and hooks for CI, as a user's machine runs them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use brief_testkit::{needs, tools};

use super::{PACKAGES, call, tested_program};
use crate::workspace_root;

/// A repository with one commit on `main`, and the environment to run scripts in it.
struct Repository {
    directory: tempfile::TempDir,
}

impl Repository {
    fn new(files: &[(&str, &str)]) -> Repository {
        let repository = Repository { directory: tempfile::tempdir().unwrap() };
        repository.run_git(&["init", "--quiet", "--initial-branch=main"]);
        repository.commit_files(files);
        repository
    }

    fn commit_files(&self, files: &[(&str, &str)]) {
        for (name, text) in files {
            let path = self.directory.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        self.run_git(&["add", "--all"]);
        self.run_git(&["commit", "--quiet", "--message=change"]);
    }

    fn run_git(&self, args: &[&str]) {
        let user = ["-c", "user.name=T", "-c", "user.email=t@example.com"];
        let output = self.run_program(Path::new("git"), &[&user[..], args].concat());
        assert!(output.status.success(), "{args:?}: {}", output_text(&output));
    }

    fn run_program(&self, program: &Path, args: &[&str]) -> Output {
        let programs = tested_program("brief");
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

    fn read_file(&self, name: &str) -> String {
        fs::read_to_string(self.directory.path().join(name)).unwrap_or_default()
    }
}

fn output_text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn script_path(name: &str) -> PathBuf {
    workspace_root().join("packaging").join("ci").join(name)
}

const GOOD: &str =
    "context:\n  - content: Prices are integers in cents.\n    match: [\"src/**\"]\n";
const OTHER: &str =
    "context:\n  - content: Prices are integers in euros.\n    match: [\"src/**\"]\n";
const BAD: &str =
    "context:\n  - content: Prices.\n    mach: [\"src/**\"]\n    match: [\"none/**\"]\n";

/// Puts the packages where a release has them.
fn publish_packages(release: &Path) {
    fs::create_dir_all(release).unwrap();
    for file in fs::read_dir(PACKAGES.path()).unwrap().map(|entry| entry.unwrap()) {
        fs::copy(file.path(), release.join(file.file_name())).unwrap();
    }
}

/// A release is downloaded, and refused when a byte of it is another one.
#[test]
fn the_install_script_takes_what_has_its_checksum() {
    needs!(Curl);
    let scratch = tempfile::tempdir().unwrap();
    let release = scratch.path().join("v0.1.0");
    publish_packages(&release);
    let install = |into: &str| {
        let releases = format!("file://{}", scratch.path().display());
        let mut bash = Command::new("bash");
        bash.arg(script_path("install.sh")).args(["v0.1.0", into]).env("BRIEF_RELEASES", releases);
        bash.output().unwrap()
    };
    let good = scratch.path().join("good");
    let output = install(&good.to_string_lossy());
    assert!(output.status.success(), "{}", output_text(&output));
    assert_eq!(call(good.join("brief"), &["--version".as_ref()]), "brief 0.1.0\n");

    let archive = release.join("brief-0.1.0-x86_64-unknown-linux-gnu.tar.gz");
    let mut data = fs::read(&archive).unwrap();
    data[10_000] ^= 1;
    fs::write(&archive, data).unwrap();
    let bad = scratch.path().join("bad");
    let output = install(&bad.to_string_lossy());
    assert!(!output.status.success(), "{}", output_text(&output));
    assert!(!bad.exists());
}

/// Findings are exit code 1 and annotations; the comment names the files whose guidance changes.
#[test]
fn the_check_script_reports_findings_and_changes() {
    let repository = Repository::new(&[("AGENTS.yaml", GOOD), ("src/a.py", "")]);
    let output = repository.run_program(&script_path("check.sh"), &["main", "comment.md"]);
    assert_eq!(output.status.code(), Some(0), "{}", output_text(&output));
    assert!(
        repository.read_file("comment.md").ends_with("\n\nNone.\n"),
        "{}",
        output_text(&output)
    );

    repository.run_git(&["checkout", "--quiet", "-b", "branch"]);
    repository.commit_files(&[("AGENTS.yaml", OTHER)]);
    let output = repository.run_program(&script_path("check.sh"), &["main", "comment.md"]);
    assert_eq!(output.status.code(), Some(0), "{}", output_text(&output));
    let comment = repository.read_file("comment.md");
    assert!(comment.contains("AGENTS.yaml") && comment.contains("~~~text\n"), "{comment}");

    repository.commit_files(&[("AGENTS.yaml", BAD)]);
    let script = script_path("check.sh");
    let findings = [
        "-c",
        "BRIEF_FORMAT=github BRIEF_LINT_OPTIONS=--strict exec \"$0\"",
        script.to_str().unwrap(),
    ];
    let output = repository.run_program(Path::new("sh"), &findings);
    assert_eq!(output.status.code(), Some(1), "{}", output_text(&output));
    assert!(output_text(&output).contains("file=AGENTS.yaml,line="), "{}", output_text(&output));

    let plain = workspace_root().join("examples/ci/check.sh");
    assert_eq!(repository.run_program(&plain, &[]).status.code(), Some(1));
    repository.commit_files(&[("AGENTS.yaml", GOOD)]);
    let output = repository.run_program(&plain, &["main"]);
    assert_eq!(output.status.code(), Some(0), "{}", output_text(&output));
}

/// The steps of the action run as a runner would run them: the release is installed, findings are annotations, and the
/// comment is an output.
#[test]
fn the_action_runs_its_steps() {
    needs!(Curl);
    let scratch = tempfile::tempdir().unwrap();
    let release = scratch.path().join("releases").join("v0.1.0");
    publish_packages(&release);
    let repository = Repository::new(&[("AGENTS.yaml", GOOD), ("src/a.py", "")]);
    let clone = Repository { directory: tempfile::tempdir().unwrap() };
    let origin = repository.directory.path().to_string_lossy().into_owned();
    clone.run_git(&["clone", "--quiet", &origin, "."]);
    clone.run_git(&["checkout", "--quiet", "-b", "branch"]);
    clone.commit_files(&[("AGENTS.yaml", BAD)]);

    let action = fs::read_to_string(workspace_root().join("action.yml")).unwrap();
    let action = brief_syntax::yaml::Yaml::parse(&action);
    let action = serde_json::to_value(action.root().unwrap()).unwrap();
    let files = scratch.path().join("files");
    fs::create_dir(&files).unwrap();
    let value = |expression: &str| match expression {
        "github.server_url" => format!("file://{}", scratch.path().display()),
        "inputs.version" => "0.1.0".to_owned(),
        "inputs.lint-options" => "--strict".to_owned(),
        "github.base_ref" => "main".to_owned(),
        long if long.contains("format('origin/{0}'") => "origin/main".to_owned(),
        other => panic!("`{other}` has no value in this test"),
    };
    let mut codes = Vec::new();
    for step in action["runs"]["steps"].as_array().unwrap() {
        assert_eq!(step["shell"], "bash");
        let mut bash = Command::new("bash");
        let script = step["run"].as_str().unwrap();
        bash.args(["-e", "-o", "pipefail", "-c", script]).current_dir(clone.directory.path());
        let environment = step["env"].as_object().into_iter().flatten();
        for (name, text) in environment {
            let text = text.as_str().unwrap();
            let inner = text.strip_prefix("${{ ").and_then(|rest| rest.strip_suffix(" }}"));
            let text = match (name.as_str(), inner) {
                // The address of a release has two expressions in it.
                ("BRIEF_RELEASES", _) => format!("{}/releases", value("github.server_url")),
                (_, Some(expression)) => value(expression),
                (_, None) => text.to_owned(),
            };
            bash.env(name, text);
        }
        let path = std::env::var("PATH").unwrap_or_default();
        let added = fs::read_to_string(files.join("path")).unwrap_or_default();
        let output = bash
            .env("PATH", format!("{}:{path}", added.trim_end()))
            .env("GITHUB_ACTION_PATH", workspace_root())
            .env("GITHUB_OUTPUT", files.join("output"))
            .env("GITHUB_PATH", files.join("path"))
            .env("GITHUB_STEP_SUMMARY", files.join("summary"))
            .env("RUNNER_TEMP", scratch.path())
            .output()
            .unwrap();
        codes.push((output.status.code(), output_text(&output)));
    }
    let [installed, fetched, checked, kept] = &codes[..] else { panic!("{codes:#?}") };
    assert_eq!((installed.0, fetched.0), (Some(0), Some(0)), "{codes:#?}");
    assert_eq!(checked.0, Some(1), "{}", checked.1);
    // No rule has a check.
    assert_eq!(kept.0, Some(0), "{}", kept.1);
    assert!(checked.1.contains("file=AGENTS.yaml,line="), "{}", checked.1);
    let comment = fs::read_to_string(files.join("output")).unwrap();
    let comment = comment.trim_end().strip_prefix("comment=").unwrap().to_owned();
    let comment = fs::read_to_string(comment).unwrap();
    assert!(comment.contains("AGENTS.yaml"), "{comment}");
    assert_eq!(fs::read_to_string(files.join("summary")).unwrap(), comment);
}

/// The patterns of the Renovate preset find the versions of `brief.toml`, and no branch or directory. Node.js runs them, as
/// Renovate does.
#[test]
fn the_renovate_preset_finds_versions() {
    needs!(Node);
    let manifest = "[install]\nclients = [\"claude\"]\n\n[sources.short]  # remark\ngit = \"acme/guidance\"\nref = \"v1.2.0\" # tag\n\n\
        [sources.full]\ngit = \"https://github.com/acme/other.git\"\nsubpath = \"content\"\nref = \"2.0.0\"\n\n\
        [sources.lab]\ngit = \"https://git.example.com/team/rules.git\"\nref = \"v3.1.4\"\n\n\
        [sources.branch]\ngit = \"acme/branchy\"\nref = \"main\"\n\n[sources.ours]\ndirectory = \"../guidance\"\n\n\
        [sources.newest]\ngit = \"acme/newest\"\n\n[sources.last]\ngit = \"acme/last\"\nref = \"v0.1.0\"\n";
    let script = "const [preset, text] = process.argv.slice(1); const found = []; \
        for (const manager of JSON.parse(preset).customManagers) for (const pattern of manager.matchStrings) \
        for (const match of text.matchAll(new RegExp(pattern, 'g'))) \
        found.push([manager.datasourceTemplate, match.groups.packageName ?? match.groups.depName, match.groups.currentValue].join(' ')); \
        console.log(found.join('\\n'))";
    let preset = fs::read_to_string(workspace_root().join("renovate/default.json")).unwrap();
    let found = call("node", &["-e".as_ref(), script.as_ref(), preset.as_ref(), manifest.as_ref()]);
    let found: Vec<&str> = found.lines().collect();
    assert_eq!(
        found,
        [
            "github-tags acme/guidance v1.2.0",
            "github-tags acme/other 2.0.0",
            "github-tags acme/last v0.1.0",
            "git-tags https://git.example.com/team/rules.git v3.1.4",
        ]
    );
}

/// The real pre-commit, which pip installs for this test, clones this repository's hooks and runs them.
#[test]
fn pre_commit_runs_the_hooks() {
    needs!(PreCommit);
    let program = tools::pre_commit().unwrap();
    let hooks = fs::read_to_string(workspace_root().join(".pre-commit-hooks.yaml")).unwrap();
    let source = Repository::new(&[(".pre-commit-hooks.yaml", &hooks)]);
    source.run_git(&["tag", "v1"]);
    let path = source.directory.path().display();
    // The settings of the guide, as they can be pasted, in a project that has no `brief.toml`.
    let guide = fs::read_to_string(workspace_root().join("docs/how-to/check-in-ci.md")).unwrap();
    let (_, block) = guide.split_once("## pre-commit\n").expect("the guide has settings");
    let (_, block) = block.split_once("```yaml\n").expect("the guide has settings");
    let (settings, _) = block.split_once("```\n").unwrap();
    let plain = Repository::new(&[
        (".pre-commit-config.yaml", settings),
        ("AGENTS.yaml", GOOD),
        ("src/a.py", ""),
    ]);
    let output = plain.run_program(&program, &["run", "--all-files"]);
    let text = output_text(&output);
    assert!(output.status.success() && text.matches("Passed").count() == 2, "{text}");

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
    let brief = tested_program("brief");
    let added = project.run_program(&brief, &["add", "./guidance", "--client", "claude"]);
    assert!(added.status.success(), "{}", output_text(&added));
    project.commit_files(&[]);
    let output = project.run_program(&program, &["run", "--all-files"]);
    let text = output_text(&output);
    assert!(output.status.success(), "{text}");
    // The one about messages runs when a commit has one.
    let at_once = ids.filter(|id| !id.ends_with("-message"));
    assert_eq!(text.matches("Passed").count(), at_once.count(), "{text}");

    project.commit_files(&[("AGENTS.yaml", "context: [{content: x, match: [}]\n")]);
    let output = project.run_program(&program, &["run", "brief-lint", "--all-files"]);
    assert_eq!(output.status.code(), Some(1), "{}", output_text(&output));
    assert!(output_text(&output).contains("AGENTS.yaml:1"), "{}", output_text(&output));
}
