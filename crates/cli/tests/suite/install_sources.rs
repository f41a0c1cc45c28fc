//! Sources, locks and projects that want to do harm: a clear error, and nothing half-written.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use brief_system::hash::sha256;
use brief_testkit::{Fault, Output, Sandbox, make_fifo, make_link};

use crate::build::read_tree;
use crate::kill_matrix::in_process;
use crate::project;
use brief_testkit::snapshot::render_item;

/// A repository beside the project, with the branch `main`.
struct Repository {
    path: PathBuf,
}

impl Repository {
    fn new(project: &Sandbox) -> Repository {
        let repository = Repository { path: project.outside_directory().join("repository") };
        fs::create_dir_all(&repository.path).unwrap();
        repository.git(&["init", "--quiet", "--initial-branch=main"], b"");
        repository
    }

    fn git(&self, args: &[&str], input: &[u8]) -> String {
        let mut command = Command::new("git");
        command.args(args).current_dir(&self.path).env_clear().env("PATH", "/usr/bin:/bin");
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "Name");
            command.env(format!("GIT_{who}_EMAIL"), "name@example.com");
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), input).unwrap();
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?}: {stderr}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn commit(&self) {
        self.git(&["add", "--all"], b"");
        self.git(&["commit", "--quiet", "-m", "message"], b"");
    }

    fn url(&self) -> String {
        format!("git::file://{}", self.path.display())
    }
}

fn add(project: &Sandbox, source: &str) -> Output {
    project.run(&["add", source, "--client", "claude"])
}

/// The files of the project that a client or the user reads.
fn files(project: &Sandbox) -> Vec<String> {
    read_tree(project, "").into_keys().collect()
}

/// A source in a directory with one skill in it.
fn directory(project: &Sandbox) -> PathBuf {
    let source = project.outside_directory().join("source");
    fs::create_dir_all(source.join("skills/good")).unwrap();
    fs::write(source.join("skills/good/SKILL.md"), render_item("good", "text")).unwrap();
    source
}

/// A link that is in an item does not travel, wherever it leads; other items do.
#[test]
fn an_item_with_links_is_refused_alone() {
    let project = project();
    let repository = Repository::new(&project);
    for (name, target) in
        [("out", "../../../../secret"), ("absolute", "/etc/passwd"), ("inside", "SKILL.md")]
    {
        repository.write(&format!("skills/{name}/SKILL.md"), render_item(name, "text"));
        make_link(target.as_ref(), &repository.path.join(format!("skills/{name}/link")));
    }
    repository.write("skills/good/SKILL.md", render_item("good", "text"));
    repository.commit();
    let output = add(&project, &repository.url());
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stdout.contains("item/not-a-file"), "{output}");
    let files = files(&project);
    assert!(files.contains(&".claude/skills/good/SKILL.md".to_owned()), "{files:?}");
    assert!(!files.iter().any(|path| path.contains("link")), "{files:?}");
    assert!(!files.iter().any(|path| path.contains("inside/")), "{files:?}");
}

/// A tree that git itself would not make.
#[test]
fn a_tree_that_leads_out_brings_nothing() {
    let project = project();
    let repository = Repository::new(&project);
    repository.write("skills/good/SKILL.md", render_item("good", "text"));
    repository.commit();
    let blob = repository.git(&["hash-object", "-w", "--stdin"], b"planted\n");
    let raw = |object: &str| -> Vec<u8> {
        (0..object.len())
            .step_by(2)
            .map(|index| u8::from_str_radix(&object[index..index + 2], 16).unwrap())
            .collect()
    };
    let make = |entries: &[(&str, &str, &str)]| {
        let mut tree = Vec::new();
        for (mode, name, object) in entries {
            tree.extend_from_slice(format!("{mode} {name}\0").as_bytes());
            tree.extend(raw(object));
        }
        let args = ["hash-object", "-t", "tree", "--literally", "-w", "--stdin"];
        repository.git(&args, &tree)
    };
    let entry = repository.git(&["rev-parse", "HEAD:skills/good/SKILL.md"], b"");
    let up = make(&[("100644", "planted.txt", &blob)]);
    let up = make(&[("40000", "..", &up)]);
    let bad = make(&[
        ("40000", "..", &up),
        ("40000", ".git", &make(&[("100755", "config", &blob)])),
        ("100644", "SKILL.md", &entry),
    ]);
    let good = repository.git(&["rev-parse", "HEAD:skills/good"], b"");
    let skills = make(&[("40000", "bad", &bad), ("40000", "good", &good)]);
    let top = make(&[("40000", "skills", &skills)]);
    let commit = repository.git(&["commit-tree", "-m", "message", &top], b"");
    repository.git(&["update-ref", "refs/heads/main", &commit], b"");
    let output = add(&project, &repository.url());
    assert!(matches!(output.code, Some(0 | 1)), "{output}");
    let planted = |name: &str| name.contains("planted") || name.contains(".git/");
    assert!(!files(&project).iter().any(|path| planted(path)), "{output}");
    let find = Command::new("find").arg(project.path().parent().unwrap()).output().unwrap();
    assert!(!String::from_utf8_lossy(&find.stdout).contains("planted"), "{output}");
}

#[test]
fn names_that_differ_in_case_are_refused() {
    let project = project();
    let repository = Repository::new(&project);
    repository.write("skills/bad/SKILL.md", render_item("bad", "text"));
    repository.write("skills/bad/README.md", "one\n");
    repository.write("skills/bad/readme.md", "two\n");
    repository.write("skills/good/SKILL.md", render_item("good", "text"));
    repository.commit();
    let output = add(&project, &repository.url());
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stdout.contains("item/case-collision"), "{output}");
    assert!(!files(&project).iter().any(|path| path.contains("bad")), "{output}");

    let other = self::project();
    let output = other.run(&["add", &repository.url(), "bad"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stderr.contains("are the same file on some systems"), "{output}");
    assert_eq!(files(&other), [""; 0]);
}

/// Two items that would be one file where case does not count.
#[test]
fn outputs_that_differ_in_case_are_refused() {
    let project = project().with_file(
        "brief.toml",
        "[clients.claude.rule]\npath = \".claude/SKILLS/{name}/SKILL.md\"\n",
    );
    let source = directory(&project);
    fs::create_dir_all(source.join("rules/good")).unwrap();
    fs::write(source.join("rules/good/RULE.md"), render_item("good", "text")).unwrap();
    let output = add(&project, "../outside/source");
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stdout.contains("item/output-collision"), "{output}");
    let files = files(&project);
    let written = files.iter().filter(|path| path.to_lowercase().ends_with("good/skill.md"));
    assert_eq!(written.count(), 1, "{files:?}");
}

/// Submodules, hooks and filters are programs of other authors.
#[test]
fn nothing_of_a_source_is_run() {
    let project = project();
    let marker = project.outside_directory().join("ran");
    let touch = format!("touch {}", marker.display());
    let repository = Repository::new(&project);
    repository.write("skills/good/SKILL.md", render_item("good", "text"));
    repository.write("skills/good/data.txt", "data\n");
    repository.write(".gitattributes", "* filter=evil diff=evil merge=evil text eol=crlf ident\n");
    repository.write(
        ".gitmodules",
        format!(
            "[submodule \"s\"]\n\tpath = skills/good/s\n\turl = ext::{touch}\n\tupdate = !{touch}\n"
        ),
    );
    repository.git(&["add", "--all"], b"");
    let module = format!("160000,{},skills/good/s", "1".repeat(40));
    repository.git(&["update-index", "--add", "--cacheinfo", &module], b"");
    repository.git(&["commit", "--quiet", "-m", "message"], b"");
    for hook in ["post-checkout", "pre-receive", "post-update", "reference-transaction"] {
        let path = repository.path.join(".git/hooks").join(hook);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\n{touch}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    // A user who has a filter of that name for work of their own.
    let settings = project.outside_directory().join("gitconfig");
    let text = format!(
        "[filter \"evil\"]\n\tsmudge = {touch}; cat\n\tclean = {touch}; cat\n\tprocess = {touch}\n\
         \trequired = true\n[core]\n\thooksPath = {}\n\tfsmonitor = {touch}\n",
        repository.path.join(".git/hooks").display()
    );
    fs::write(&settings, text).unwrap();
    let project = project
        .with_env("GIT_CONFIG_GLOBAL", settings.to_str().unwrap())
        .with_env("GIT_CONFIG_NOSYSTEM", "1");
    let output = add(&project, &repository.url());
    assert_eq!(output.code, Some(0), "{output}");
    assert!(!marker.exists(), "{output}");
    assert_eq!(project.read(".claude/skills/good/data.txt"), "data\n");
    assert!(!project.path().join(".claude/skills/good/s").exists());
}

#[test]
fn a_file_that_is_too_large_stops_its_item() {
    let project = project();
    let source = directory(&project);
    fs::create_dir_all(source.join("skills/bad")).unwrap();
    fs::write(source.join("skills/bad/SKILL.md"), render_item("bad", "text")).unwrap();
    fs::write(source.join("skills/bad/a.txt"), "a\n").unwrap();
    let large = fs::File::create(source.join("skills/bad/large.bin")).unwrap();
    large.set_len(17 * 1024 * 1024).unwrap();
    let output = add(&project, "../outside/source");
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stdout.contains("larger than 16777216 bytes"), "{output}");
    assert!(output.stdout.contains("large.bin"), "{output}");
    assert!(!files(&project).iter().any(|path| path.contains("bad")), "{output}");
    assert!(project.path().join(".claude/skills/good/SKILL.md").exists());
}

/// A file in the place of a directory belongs to the user, whatever it is.
#[test]
fn a_file_in_the_place_of_a_directory_stays() {
    let project = project().with_file(".claude", "mine\n");
    directory(&project);
    let output = add(&project, "../outside/source");
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stdout.contains("item/output-in-the-way"), "{output}");
    assert_eq!(project.read(".claude"), "mine\n");

    let project = self::project().with_dir(".claude/skills/good/SKILL.md");
    directory(&project);
    let output = add(&project, "../outside/source");
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stdout.contains("is a directory"), "{output}");

    let project = self::project().with_dir(".claude/skills/good");
    make_fifo(&project.path().join(".claude/skills/good/SKILL.md"));
    directory(&project);
    let output = add(&project, "../outside/source");
    assert_eq!(output.code, Some(1), "{output}");
}

#[test]
fn nothing_is_written_through_a_link() {
    let project = project();
    let elsewhere = project.outside_directory().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    directory(&project);
    let project = project.with_link(".claude", &elsewhere);
    let output = add(&project, "../outside/source");
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stdout.contains("behind a link"), "{output}");
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);

    for name in ["brief.toml", "brief.lock"] {
        let project = self::project();
        directory(&project);
        let target = project.outside_directory().join(name);
        let text = if name == "brief.toml" { "# Mine.\n" } else { "version = 1\n" };
        fs::write(&target, text).unwrap();
        let project = project.with_link(name, &target);
        let output = add(&project, "../outside/source");
        assert_eq!(output.code, Some(1), "{output}");
        assert!(output.stderr.contains("is a symbolic link"), "{output}");
        assert_eq!(fs::read_to_string(&target).unwrap(), text);
        assert!(!project.path().join(".claude").exists(), "{output}");
    }
}

/// Our own files may come with a project, too.
#[test]
fn our_own_directory_is_no_way_out() {
    let project = project();
    let elsewhere = project.outside_directory().join("elsewhere");
    fs::create_dir_all(elsewhere.join("staged")).unwrap();
    fs::write(elsewhere.join("staged/mine"), "mine\n").unwrap();
    directory(&project);
    let project = project.with_link(".brief", &elsewhere);
    let output = add(&project, "../outside/source");
    assert_eq!(output.code, Some(1), "{output}");
    assert_eq!(fs::read_to_string(elsewhere.join("staged/mine")).unwrap(), "mine\n");
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 1);

    for (name, target) in [("lock", "made"), ("staged", "elsewhere")] {
        let project = self::project();
        directory(&project);
        let target = project.outside_directory().join(target);
        let project = project.with_link(&format!(".brief/{name}"), &target);
        let output = add(&project, "../outside/source");
        assert_eq!(output.code, Some(1), "{name}: {output}");
        assert!(!target.exists(), "{name}: {output}");
    }
}

/// Attack case CRA-008: what is no lock is told at once, and nothing is waited for.
#[test]
fn what_is_no_lock_is_in_the_way() {
    let makers: [fn(&std::path::Path); 2] = [make_fifo, |path| fs::create_dir(path).unwrap()];
    for make in makers {
        let project = project().with_dir(".brief");
        directory(&project);
        make(&project.path().join(".brief/lock"));
        let output = add(&project, "../outside/source");
        assert_eq!(output.code, Some(1), "{output}");
        assert!(output.stderr.contains("`lock` is in the way; remove it"), "{output}");
        assert!(!project.path().join(".claude").exists(), "{output}");
    }
}

/// X17: a journal is carried out without asking, so one that came with a project is refused, whatever it
/// says, with the way out.
#[test]
fn a_journal_that_came_with_a_project_is_refused() {
    let paths = [
        "AGENTS.md",
        ".claude/rules/planted.md",
        ".git/hooks/post-checkout",
        ".GIT/config",
        "../planted",
        "/planted",
        ".brief/x",
        "",
    ];
    let marks = ["", "0000000000000000000000000000000000000000000000000000000000000000"];
    for (number, path) in paths.into_iter().enumerate() {
        let journal = serde_json::json!({
            "version": 1 + number % 2,
            "mark": marks[number / 2 % 2],
            "asked": [],
            "removals": [{
                "at": "outputs", "path": "mine.md", "sha256": sha256(b"mine\n"), "staged": 2,
            }],
            "puts": [{
                "at": "outputs", "path": path, "mode": "own", "staged": 1,
                "sha256": sha256(b"planted\n"), "before": null,
            }],
        });
        let project = project()
            .with_file("mine.md", "mine\n")
            .with_file(".git/HEAD", "ref: refs/heads/main\n")
            .with_file(".brief/staged/1", "planted\n")
            .with_file(".brief/journal.json", journal.to_string());
        directory(&project);
        for command in
            [&["add", "../outside/source"][..], &["sync"], &["remove", "x"], &["remove", "--all"]]
        {
            let output = project.run(command);
            insta::allow_duplicates! {
                insta::assert_snapshot!(output, @"
                ------- stderr -------
                error: `$PROJECT/.brief/journal.json` is the journal of another machine or directory; nothing was changed
                hint: remove it, then run `brief sync`
                [exit status: 1]
                [EOF]
                ");
            }
        }
        assert_eq!(project.read("mine.md"), "mine\n", "{path}");
        assert_eq!(project.read(".brief/staged/1"), "planted\n", "{path}");
        assert!(!project.path().join(path).is_file(), "{path}");
        assert!(!project.path().join(".claude").exists(), "{path}");
    }
}

/// X17: nor does a journal of this machine count that belongs to another project.
#[test]
fn a_journal_of_another_project_is_refused() {
    let journal = |project: &Sandbox| {
        directory(project);
        let path = project.path().join(".brief/journal.json");
        let args = ["add", "../outside/source", "--client", "claude"];
        let mut at = 0;
        while !path.exists() {
            in_process(project, &args, Fault::Dies { at });
            at += 1;
        }
        fs::read_to_string(project.path().join(".brief/journal.json")).unwrap()
    };
    let first = project();
    let text = journal(&first);
    let copy = first.outside_directory().join("copy");
    fs::create_dir_all(copy.join(".brief/staged")).unwrap();
    fs::write(copy.join(".brief/journal.json"), &text).unwrap();
    for staged in fs::read_dir(first.path().join(".brief/staged")).unwrap() {
        let staged = staged.unwrap().path();
        fs::copy(&staged, copy.join(".brief/staged").join(staged.file_name().unwrap())).unwrap();
    }
    let copied = first.run_in("../outside/copy", &["sync"], "");
    assert_eq!(copied.code, Some(1), "{copied}");
    assert!(copied.stderr.contains("is the journal of another machine or directory"));
    assert!(!copy.join(".claude").exists());

    let edited = text.replacen(".claude", ".clausa", 1);
    assert_ne!(edited, text);
    first.write(".brief/journal.json", &edited);
    assert_eq!(first.run(&["sync"]).code, Some(1));
    first.write(".brief/journal.json", &text);
    let finished = first.run(&["sync"]);
    assert_eq!(finished.code, Some(0), "{finished}");
    assert!(finished.stderr.contains("finished an interrupted run"), "{finished}");
}

/// A project with the skill installed, and its lock.
fn installed() -> (Sandbox, String) {
    let project = project();
    directory(&project);
    let output = add(&project, "../outside/source");
    assert_eq!(output.code, Some(0), "{output}");
    let lock = project.read("brief.lock");
    (project, lock)
}

#[test]
fn a_lock_that_was_damaged_is_refused_with_its_line() {
    let (project, lock) = installed();
    let sha256 = lock.lines().find(|line| line.starts_with("sha256")).unwrap();
    let damages = [
        ("version = 2", "version = 3"),
        ("version = 2", "versoin = 2"),
        ("version = 2", "version = \"2\""),
        ("capabilities = [\n]\n", ""),
        ("[[source]]", "<<<<<<< ours\n[[source]]"),
        ("[[source]]", "[[source"),
        ("kind = \"skill\"", "kind = \"skull\""),
        ("kind = \"skill\"", ""),
        ("source = \"source\"", "source = \"nowhere\""),
        (sha256, "sha256 = \"0\""),
        ("directory = ", "commit = \"--upload-pack=x\"\ngit = "),
        ("  \".claude/skills/good/SKILL.md ", "  \"../../.bashrc "),
        ("  \".claude/skills/good/SKILL.md ", "  \".git/hooks/post-checkout "),
        ("  \".claude/skills/good/SKILL.md ", "  \"/etc/passwd "),
        ("  \".claude/skills/good/SKILL.md ", "  \".claude/settings.json "),
    ];
    fs::remove_file(project.path().join(".brief/installed.json")).unwrap();
    for (from, to) in damages {
        assert!(lock.contains(from), "{from}");
        project.write("brief.lock", lock.replacen(from, to, 1));
        let before = read_tree(&project, "");
        for args in [&["sync"][..], &["sync", "--frozen"], &["remove", "--all"], &["update"]] {
            let output = project.run(args);
            assert!(matches!(output.code, Some(1 | 2)), "{to}, {args:?}: {output}");
            assert!(output.stderr.contains("brief.lock`, line "), "{to}, {args:?}: {output}");
            assert!(read_tree(&project, "") == before, "{to}, {args:?}: {output}");
        }
    }
    project.write("brief.lock", &lock);
    assert_eq!(project.run(&["sync", "--frozen"]).code, Some(0));
}

/// Files go by what the lock says, so it may not speak of any file.
#[test]
fn a_lock_cannot_claim_files_of_the_user() {
    for path in [".env", ".github/workflows/ci.yml", ".claude/settings.json", ".git/HEAD"] {
        let (project, lock) = installed();
        fs::remove_file(project.path().join(".brief/installed.json")).unwrap();
        let text = "mine\n";
        project.write(path, text);
        let claim = format!("files = [\n  \"{path} {}\",", sha256(text.as_bytes()));
        project.write("brief.lock", lock.replacen("files = [", &claim, 1));
        for args in
            [&["sync"][..], &["remove", "--all"], &["remove", "good"], &["sync", "--force", path]]
        {
            let output = project.run(args);
            assert_eq!(output.code, Some(2), "{path}, {args:?}: {output}");
            assert!(output.stderr.contains("line 1"), "{path}, {args:?}: {output}");
            assert_eq!(project.read(path), text, "{path}, {args:?}: {output}");
        }
    }
}

#[test]
fn a_lock_cannot_claim_what_stands_in_files_of_the_user() {
    let (project, lock) = installed();
    let text = "{\"scripts\": {\"test\": \"mine\"}}\n";
    project.write("package.json", text);
    let entry = "{ table = \"scripts\", key = \"test\", json = \"\\\"mine\\\"\" }";
    let shared = format!("\n[[shared]]\npath = \"package.json\"\nentries = [\n  {entry},\n]\n");
    for args in [&["sync"][..], &["remove", "--all"]] {
        project.write("brief.lock", format!("{lock}{shared}"));
        let output = project.run(args);
        assert_eq!(output.code, Some(0), "{output}");
        assert!(output.stdout.contains("item/shared-file"), "{output}");
        assert_eq!(project.read("package.json"), text, "{output}");
    }
}

#[test]
fn where_nothing_is_wanted_nothing_is_left() {
    let project = project();
    let output = project.run(&["sync"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert_eq!(fs::read_dir(project.path()).unwrap().count(), 0, "{output}");
}
