//! `brief task` with directories from elsewhere: real repositories, made here and read through
//! `file://`. How they are fetched is tested in `crates/registry/tests`; this is about what their
//! content may do.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::channel;

use brief_testkit::{Output, PATIENCE, Sandbox, make_fifo, send_signal, write_program};

use crate::project_on_disk as project;

/// A repository beside the project, with the branch `main`.
struct Repository {
    path: PathBuf,
}

impl Repository {
    fn new(project: &Sandbox) -> Repository {
        let repository = Repository { path: project.outside_directory().join("repo") };
        fs::create_dir_all(&repository.path).unwrap();
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository
    }

    fn git(&self, args: &[&str]) {
        let mut command = Command::new("git");
        command.args(args).current_dir(&self.path).env_clear().env("PATH", "/usr/bin:/bin");
        for (name, value) in SETTINGS {
            command.env(name, value);
        }
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "Name");
            command.env(format!("GIT_{who}_EMAIL"), "name@example.com");
            command.env(format!("GIT_{who}_DATE"), "2026-01-01T00:00:00Z");
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// Writes these files and commits everything; a script is one by its name.
    fn commit(&self, files: &[(&str, &str)]) {
        for (name, content) in files {
            let path = self.path.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, content).unwrap();
            if name.ends_with("-bootstrap") {
                fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            }
        }
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "-m", "message"]);
    }

    fn url(&self) -> String {
        format!("git::file://{}", self.path.display())
    }

    /// Takes the repository away, as if the server were gone.
    fn vanish(&self) {
        fs::rename(&self.path, self.path.with_extension("gone")).unwrap();
    }
}

/// Nothing of the machine's git settings is seen.
const SETTINGS: [(&str, &str); 3] = [
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_SYSTEM", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
];

/// A project with one task, which calls a command that another author may have.
fn with_task() -> Sandbox {
    let project = project().with_file(".agents/tasks/t.md", "Task.\n/c\n");
    SETTINGS.into_iter().fold(project, |project, (name, value)| project.with_env(name, value))
}

fn ran(project: &Sandbox) -> bool {
    project.path().join("marker").exists()
}

/// The file that a hint offers to trust.
fn listed(output: &Output) -> String {
    let hint = output.stderr.lines().find(|line| line.starts_with("hint: read it, then run"));
    let hint = hint.unwrap_or_else(|| panic!("no hint: {output}"));
    let (_, path) = hint.split_once("`brief trust ").unwrap();
    path.trim_end_matches('`').to_owned()
}

/// The output besides the progress of fetching.
fn told(output: &Output) -> String {
    let is_progress = |line: &&str| line.starts_with("Asking ") || line.starts_with("Fetching ");
    let lines = output.stderr.split_inclusive('\n').filter(|line| !is_progress(line));
    lines.collect()
}

/// Ruling T10: "Remote directories (`git::…`, git URLs, `file://`) are cached by commit."
#[test]
fn rules_commands_and_skills_come_from_a_repository() {
    let project = with_task();
    let repository = Repository::new(&project);
    repository.commit(&[
        (".agents/rules/r.md", "Rule one.\n"),
        (".agents/commands/c.md", "Command.\n"),
        (".agents/tasks/u.md", "Their task.\n"),
        (".agents/skills/sql/SKILL.md", "---\nname: sql\ndescription: For queries\n---\nBody.\n"),
    ]);
    let url = repository.url();
    let output = project.run(&["task", "t", "-d", &url]);
    assert!(output.stdout.starts_with("Rule one.\n\n\n# Skills\n"), "{output}");
    assert!(output.stdout.ends_with("\n\nTask.\nCommand.\n\n"), "{output}");
    assert_eq!((told(&output).as_str(), output.code), ("", Some(0)), "{output}");
    // The agent reads the skill after the run.
    let (_, rest) = output.stdout.split_once("<location>").unwrap();
    let (location, _) = rest.split_once("</location>").unwrap();
    assert!(fs::read_to_string(location).unwrap().ends_with("\nBody.\n"), "{location}");
    // As the last root, and for a task of theirs.
    let output = project.run(&["task", "u", "-D", &url, "-r"]);
    assert_eq!(output.stdout, "Their task.\n\n", "{output}");
    let json = project.run(&["task", "t", "-d", &url, "--json"]).json();
    assert_eq!(json["items"][0]["scope"], "directory");
}

/// Reference: "each with `//sub/directory` and `?ref=branch-tag-or-commit`".
#[test]
fn a_branch_and_a_directory_can_be_named() {
    let project = with_task();
    let repository = Repository::new(&project);
    repository.commit(&[("team/web/.agents/rules/r.md", "Old rule.\n")]);
    repository.git(&["tag", "v1"]);
    repository.commit(&[("team/web/.agents/rules/r.md", "New rule.\n")]);
    let url = repository.url();
    let rule = |address: String| {
        let output = project.run(&["task", "t", "-d", &address]);
        assert_eq!(output.code, Some(0), "{address}: {output}");
        output.stdout.split_once("\n\n").unwrap().0.to_owned()
    };
    assert_eq!(rule(format!("{url}//team/web")), "New rule.");
    assert_eq!(rule(format!("{url}//team/web?ref=v1")), "Old rule.");
    assert_eq!(rule(format!("{url}?ref=v1//team/web")), "Old rule.");
    for address in [format!("{url}?ref=v2"), format!("{url}//nowhere"), format!("{url}-gone")] {
        let output = project.run(&["task", "t", "-d", &address]);
        assert_eq!((output.stdout.as_str(), output.code), ("", Some(1)), "{address}: {output}");
        let output = project.run(&["task", "t", "-D", &address]);
        assert_eq!((output.stdout.as_str(), output.code), ("Task.\n/c\n\n", Some(0)), "{output}");
        assert!(told(&output).starts_with("warning: "), "{address}: {output}");
    }
}

/// Ruling G7: what executes "never [runs] from remote or installed content, unless `brief trust` has
/// recorded that exact content".
#[test]
fn what_comes_from_elsewhere_does_not_run() {
    let project = with_task();
    let repository = Repository::new(&project);
    repository.commit(&[
        (".agents/rules/a.md", "A !`touch marker`\n"),
        (".agents/rules/b.md", "---\nbootstrap: touch marker\n---\nB\n"),
        (".agents/rules/c.md", "C\n"),
        (".agents/rules/c-bootstrap", "#!/bin/sh\ntouch marker\n"),
        (".agents/commands/c.md", "Command !`touch marker`\n"),
        (".agents/tasks/u.md", "Their task !`touch marker`\n"),
    ]);
    let url = repository.url();
    let output = project.run(&["task", "t", "-d", &url]);
    assert_eq!(
        output.stdout, "A !`touch marker`\n\nB\n\nC\n\nTask.\nCommand !`touch marker`\n\n",
        "{output}"
    );
    assert_eq!(output.code, Some(0));
    let untrusted = output.stderr.matches("warning[tasks/untrusted]: ").count();
    let hints = output.stderr.matches("hint: read it, then run `brief trust ").count();
    assert_eq!((untrusted, hints), (4, 4), "{output}");
    assert!(Path::new(&listed(&output)).is_file(), "{output}");
    let theirs = project.run(&["task", "u", "-r", "-D", &url]);
    assert_eq!(theirs.stdout, "Their task !`touch marker`\n\n", "{theirs}");
    assert!(theirs.stderr.contains("is not trusted"), "{theirs}");
    let json = project.run(&["task", "t", "-d", &url, "--json"]).json();
    for asked in json["ran"].as_array().unwrap() {
        assert_eq!(asked["outcome"], "not trusted");
    }
    let dry = project.run(&["task", "t", "-d", &url, "--dry-run"]);
    assert_eq!(dry.stdout.matches(", not trusted\n").count(), 4, "{dry}");
    // A command of the user's own runs beside them, and one of the project when the user says so: that
    // word is not for what comes from elsewhere.
    project.write(".agents/tasks/own.md", "!`echo mine`");
    let own = project.run(&["task", "own", "-d", &url, "--exec"]);
    assert!(own.stdout.ends_with("mine\n\n"), "{own}");
    assert!(!ran(&project));
}

/// Typed text is the user's, for a task by any author; a parameter is text.
#[test]
fn the_users_text_is_the_users() {
    let project = with_task();
    fs::write(project.outside_directory().join("x"), "a file of mine").unwrap();
    let repository = Repository::new(&project);
    repository.commit(&[(".agents/tasks/u.md", "Their !`touch marker` ${p}.\n")]);
    let prompt = "Mine: !`echo hello`@../outside/x @../outside/x";
    let args = ["task", "u", prompt, "-r", "-d", &repository.url(), "-p", "p=!`touch marker`"];
    let output = project.run(&args);
    let theirs = "Their !`touch marker` !`touch marker`.\n";
    let mine = "Mine: hello\n@../outside/x a file of mine\n";
    assert_eq!(output.stdout, format!("{theirs}---\n{mine}"), "{output}");
    assert!(!ran(&project));
}

/// Trust: "exactly that content", "One byte changed is other content, and not trusted".
#[test]
fn trusted_content_runs_until_it_changes() {
    let project = with_task();
    let repository = Repository::new(&project);
    let rule = "---\nname: r\n---\nSays !`echo hello`";
    repository.commit(&[(".agents/rules/r.md", rule)]);
    let url = repository.url();
    let run = || project.run(&["task", "t", "-d", &url]);
    let first = run();
    assert!(first.stdout.starts_with("Says !`echo hello`\n"), "{first}");
    let file = listed(&first);
    assert_eq!(project.run(&["trust", &file]).code, Some(1), "only at a terminal");
    assert!(run().stdout.starts_with("Says !`echo hello`\n"));
    let trusted = project.run_at_terminal(&["trust", &file], "y\n");
    assert_eq!(trusted.code, Some(0), "{trusted}");
    let output = run();
    assert!(output.stdout.starts_with("Says hello\n\nTask."), "{output}");
    assert!(!output.stderr.contains("untrusted"), "{output}");
    // Where it lies does not count, and neither does another commit.
    repository.commit(&[("README.md", "x"), (".agents/rules/deep/s.md", rule)]);
    assert_eq!(run().stdout.matches("Says hello\n").count(), 2);
    // Trust does not overrule those who want nothing to run.
    let off = project.run(&["task", "t", "-d", &url, "--no-exec"]);
    assert!(off.stdout.contains("Says !`echo hello`"), "{off}");

    repository.commit(&[(".agents/rules/r.md", "---\nname: r\n---\nSays !`echo hullo`")]);
    let output = run();
    assert!(output.stdout.contains("Says !`echo hullo`"), "{output}");
    assert_eq!(output.stderr.matches("warning[tasks/untrusted]").count(), 1, "{output}");
    assert_eq!(project.run(&["trust", "--deny", &file]).code, Some(0));
    assert!(!run().stdout.contains("Says hello"), "a denial wins");
}

/// A script is trusted by its own content, and what was compared is what runs.
#[test]
fn a_trusted_script_runs() {
    let project = with_task();
    let repository = Repository::new(&project);
    repository.commit(&[
        (".agents/rules/r.md", "Rule: @made.txt\n"),
        (".agents/rules/r-bootstrap", "#!/bin/sh\nprintf made > made.txt\necho working\n"),
        (".agents/rules/s.md", "---\nbootstrap: touch marker\n---\nS\n"),
    ]);
    let url = repository.url();
    let run = || project.run(&["task", "t", "-d", &url]);
    let first = run();
    let script = listed(&first);
    assert!(script.ends_with("/.agents/rules/r-bootstrap"), "{script}");
    assert!(first.stdout.starts_with("Rule: @made.txt\n"), "{first}");
    assert_eq!(project.run_at_terminal(&["trust", &script], "y\n").code, Some(0));
    let output = run();
    assert!(output.stdout.starts_with("Rule: made\n"), "{output}");
    assert!(told(&output).starts_with("working\n"), "{output}");
    assert!(!ran(&project), "the other one is not trusted");
    let other = listed(&output);
    assert!(other.ends_with("/.agents/rules/s.md"), "{other}");
    fs::remove_file(project.path().join("made.txt")).unwrap();
    let text = "#!/bin/sh\nprintf made > made.txt\necho Working\n";
    repository.commit(&[(".agents/rules/r-bootstrap", text)]);
    assert!(run().stdout.starts_with("Rule: @made.txt\n"));
    assert!(!project.path().join("made.txt").exists());
}

/// Reference: what comes from a remote directory "reads files of the project only".
#[test]
fn what_comes_from_elsewhere_reads_the_project_only() {
    let project = with_task().with_file("f.txt", "of the project");
    fs::write(project.outside_directory().join("x"), "SECRET").unwrap();
    let project = project.with_link("link", "../outside/x");
    let repository = Repository::new(&project);
    let home = project.home().join("note");
    fs::write(&home, "SECRET").unwrap();
    let rule = format!("@/etc/hostname @../outside/x @{} @link @f.txt @own\n", home.display());
    repository.commit(&[(".agents/rules/r.md", &rule), ("own", "OWN")]);
    let output = project.run(&["task", "t", "-d", &repository.url()]);
    let expected = rule.replace("@f.txt", "of the project");
    assert!(output.stdout.starts_with(&expected), "{output}");
    assert!(!output.stdout.contains("SECRET"), "{output}");
    let refused = output.stderr.matches("warning[tasks/outside-project]: ").count();
    assert_eq!(refused, 4, "{output}");
    assert!(output.stderr.contains("`@own` stays as written: file not found"), "{output}");
}

/// `--offline`: "Fetch nothing; use what is cached".
#[test]
fn offline_uses_what_is_there() {
    let project = with_task();
    let repository = Repository::new(&project);
    repository.commit(&[(".agents/rules/r.md", "Rule one.\n")]);
    let url = repository.url();
    let nothing = project.run(&["task", "t", "-d", &url, "--offline"]);
    assert_eq!((nothing.stdout.as_str(), nothing.code), ("", Some(1)), "{nothing}");
    assert!(nothing.stderr.contains("cannot be fetched offline"), "{nothing}");
    let first = project.run(&["task", "t", "-d", &url]);
    assert!(first.stdout.starts_with("Rule one.\n"), "{first}");
    repository.commit(&[(".agents/rules/r.md", "Rule two.\n")]);
    let offline = project.run(&["task", "t", "-d", &url, "--offline"]);
    assert_eq!((offline.stdout, offline.stderr), (first.stdout.clone(), told(&first)));
    let second = project.run(&["task", "t", "-d", &url]);
    assert!(second.stdout.starts_with("Rule two.\n"), "{second}");
    repository.vanish();
    let offline = project.run(&["task", "t", "-d", &url, "--offline"]);
    assert_eq!((offline.stdout, offline.stderr), (second.stdout.clone(), told(&second)));
    // A server that is gone is told, and what an earlier run fetched will do.
    let gone = project.run(&["task", "t", "-d", &url]);
    assert_eq!((&gone.stdout, gone.code), (&second.stdout, Some(0)), "{gone}");
    assert!(gone.stderr.contains("from an earlier run"), "{gone}");
}

/// Ruling T10: "what a remote manifest names is remote"; its relative lines start at the manifest.
#[test]
fn a_manifest_from_elsewhere_names_what_is_from_elsewhere() {
    let project = with_task();
    let repository = Repository::new(&project);
    let local = project.outside_directory().join("local");
    fs::create_dir_all(local.join(".agents/rules")).unwrap();
    fs::write(local.join(".agents/rules/l.md"), "L !`touch marker`\n").unwrap();
    let list = format!("# ours\nshared\n{}\n", local.display());
    repository.commit(&[
        ("lists/all", &list),
        ("lists/shared/.agents/rules/r.md", "R !`touch marker`\n"),
    ]);
    for address in [
        format!("{}//lists/all", repository.url()),
        format!("{}//lists/all?ref=main", repository.url()),
    ] {
        let output = project.run(&["task", "t", "-m", &address]);
        let rules = "R !`touch marker`\n\nL !`touch marker`\n\n";
        assert!(output.stdout.starts_with(rules), "{address}: {output}");
        assert_eq!(output.stderr.matches("warning[tasks/untrusted]").count(), 2, "{output}");
    }
    assert!(!ran(&project));
    // The same directory in the user's own manifest is a project, which the user can allow.
    project.write("list", format!("{}\n", local.display()));
    let output = project.run(&["task", "t", "-m", "list", "--exec"]);
    assert!(output.stdout.starts_with("L \n"), "{output}");
    assert!(ran(&project));
}

/// A line of the user's own manifest may be a repository.
#[test]
fn a_manifest_may_name_repositories() {
    let project = with_task();
    let repository = Repository::new(&project);
    repository.commit(&[(".agents/rules/r.md", "R !`touch marker`\n")]);
    project.write("list", format!("{}\ngit::file:///nowhere/at/all\n", repository.url()));
    let output = project.run(&["task", "t", "-m", "list"]);
    assert!(output.stdout.starts_with("R !`touch marker`\n"), "{output}");
    assert!(output.stderr.contains("/nowhere/at/all"), "{output}");
    assert_eq!(output.code, Some(0));
    assert!(!ran(&project));
}

/// A typed address may hold a password, which only the user is to see.
#[test]
fn a_password_is_never_shown() {
    let addresses = [
        "https://name:s3cret@127.0.0.1:1/repo.git",
        "git::https://name:s3cret@127.0.0.1:1/repo.git//sub?ref=x",
        "git::https://s3cret@127.0.0.1:1/repo.git?ref=a..b",
        "https://name:s3cret@127.0.0.1:1/archive.zip",
        "http://name:s3cret@127.0.0.1:1/repo.git",
        "s3::https://name:s3cret@127.0.0.1:1/bucket",
        "git::https://name:s3cret@127.0.0.1:1/repo.git?depth=1",
    ];
    let project = with_task();
    for address in addresses {
        project.write("list", format!("{address}\n"));
        let manifest = format!("{address}/list");
        for args in [
            &["task", "t", "-d", address][..],
            &["task", "t", "-D", address],
            &["task", "t", "-D", address, "--json"],
            &["task", "t", "-d", address, "--offline"],
            &["task", "t", "-m", "list", "--explain"],
            &["task", "t", "-m", &manifest],
            &["task", "list", "-d", address],
        ] {
            let output = project.run(args);
            assert!(!output.to_string().contains("s3cret"), "{args:?}: {output}");
            assert!(!output.stderr.is_empty(), "{args:?}: {output}");
        }
    }
}

/// Reference: "130: interrupted", also while something is fetched; git is ended then.
#[test]
fn a_fetch_can_be_interrupted() {
    let project = with_task();
    let programs = project.outside_directory().join("programs");
    fs::create_dir_all(&programs).unwrap();
    let pipe = programs.join("alive");
    make_fifo(&pipe);
    let git = programs.join("git");
    write_program(&git, format!("#!/bin/sh\nexec 3>'{}'\nsleep 300\n", pipe.display()));
    let project = project.with_env("PATH", &format!("{}:/usr/bin:/bin", programs.display()));
    for flag in ["-d", "-D"] {
        let (sender, messages) = channel();
        let pipe = pipe.clone();
        std::thread::spawn(move || {
            let mut pipe = fs::File::open(pipe).unwrap();
            sender.send("started").unwrap();
            std::io::copy(&mut pipe, &mut std::io::sink()).unwrap();
            let _ = sender.send("ended");
        });
        let args = ["task", "t", flag, "https://x.test/org/repo"];
        let child = project.prepare_command("", &args).spawn().unwrap();
        assert_eq!(messages.recv_timeout(PATIENCE), Ok("started"));
        send_signal("INT", child.id());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.stdout.as_slice(), output.status.code()), (&b""[..], Some(130)));
        assert_eq!(messages.recv_timeout(PATIENCE), Ok("ended"));
    }
}
