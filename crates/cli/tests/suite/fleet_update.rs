//! An update across a fleet: told before it happens, and written as branches.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use brief_testkit::snapshot::copy_directory;
use brief_testkit::{Fault, Sandbox};
use serde_json::Value;

use crate::install::{MONEY, Remote, consumer, git, guidance, run, write_all};
use crate::kill_matrix::in_process;

/// A project whose user has a name, and `acme/guidance` with the tags `v1.0.0` and `v1.1.0`.
pub(crate) fn with_two_versions() -> (Sandbox, Remote) {
    let project = consumer();
    let settings = project.home().join(".gitconfig");
    let text = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, format!("{text}[user]\nname = Name\nemail = name@example.com\n")).unwrap();
    let remote = guidance(&project);
    let newer = MONEY.replace("1.0.0", "1.1.0").replace("are integers", "are cents");
    remote.commit(&[("rules/money/RULE.md", &newer)]);
    remote.git(&["tag", "v1.1.0"]);
    (project, remote)
}

fn commit(path: &Path) {
    git(path, &["add", "--all"]);
    git(path, &["commit", "--quiet", "--allow-empty", "-m", "message"]);
}

/// Makes a repository below `fleet` with files of its own and the rule `money` of `v1.0.0`.
pub(crate) fn member(project: &Sandbox, name: &str) -> PathBuf {
    let path = project.path().join("fleet").join(name);
    write_all(&path, &[("src/a.py", "pass\n"), ("README.md", "# Shop\n")]);
    git(&path, &["init", "--quiet", "--initial-branch=main"]);
    let add = ["add", "acme/guidance@v1.0.0", "base", "--client", "claude"];
    run(project, &[&["-C", path.to_str().unwrap()][..], &add].concat());
    commit(&path);
    path
}

/// Every file below a directory, also those of git.
fn all_files(top: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![top.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.insert(path.clone(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// Repositories with the same changes are told together, and nothing of them is written.
#[test]
fn an_update_is_told_for_all_repositories() {
    let (project, remote) = with_two_versions();
    let one = member(&project, "one");
    member(&project, "two");
    let bare = project.path().join("fleet/bare.git");
    git(&one, &["clone", "--quiet", "--bare", ".", bare.to_str().unwrap()]);
    // Another text beside it: the same change there.
    let three = member(&project, "three");
    write_all(&three, &[("AGENTS.md", "# Ours\n\nBe brief.\n")]);
    commit(&three);
    let edited = member(&project, "edited");
    fs::write(edited.join(".claude/rules/money.md"), "changed\n").unwrap();
    commit(&edited);
    let current = member(&project, "current");
    run(&project, &["-C", current.to_str().unwrap(), "update", "guidance@v1.1.0"]);
    commit(&current);
    let plain = project.path().join("fleet/plain");
    write_all(&plain, &[("AGENTS.md", "# Be brief\n")]);
    git(&plain, &["init", "--quiet"]);
    commit(&plain);
    let beside = project.path().join("fleet/beside");
    write_all(&project.outside_directory().join("near"), &[("rules/money/RULE.md", MONEY)]);
    fs::create_dir_all(&beside).unwrap();
    git(&beside, &["init", "--quiet"]);
    let near = ["add", "../../../outside/near", "--name", "guidance", "--client", "claude"];
    let output = project.run(&[&["-C", beside.to_str().unwrap()][..], &near].concat());
    assert_eq!(output.code, Some(0), "{output}");
    commit(&beside);

    let before = all_files(&project.path().join("fleet"));
    let answer =
        run(&project, &["fleet", "status", "fleet", "--update", "guidance@v1.1.0", "--json"])
            .json();
    let update = &answer["update"];
    let groups = update["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 1, "{update:#}");
    let names = ["fleet/bare.git", "fleet/one", "fleet/three", "fleet/two"];
    assert_eq!(groups[0]["repositories"], serde_json::json!(names));
    assert_eq!(groups[0]["moves"][0]["from"], remote.git(&["rev-parse", "v1.0.0"]));
    assert_eq!(groups[0]["moves"][0]["to"], remote.git(&["rev-parse", "v1.1.0"]));
    let change = &groups[0]["changes"][0];
    assert_eq!((change["kind"].as_str(), change["name"].as_str()), (Some("text"), Some("money")));
    let lines = change["lines"].as_array().unwrap();
    assert!(lines.contains(&Value::from("-Prices are integers.")), "{change:#}");
    assert!(lines.contains(&Value::from("+Prices are cents.")), "{change:#}");
    assert_eq!(update["current"], serde_json::json!(["fleet/current"]));
    assert_eq!(update["without"], serde_json::json!(["fleet/beside", "fleet/plain"]));
    assert_eq!(update["problems"][0]["repository"], "fleet/edited");
    let problem = update["problems"][0]["problem"].as_str().unwrap();
    assert!(problem.starts_with("`.claude/rules/money.md`: brief keeps the file"), "{problem}");
    assert_eq!(all_files(&project.path().join("fleet")), before);

    // The bundle, the item, and the address mean the same source.
    for name in ["base@v1.1.0", "bundle/base@v1.1.0", "rule/money@v1.1.0", "acme/guidance@v1.1.0"] {
        let output = run(&project, &["fleet", "status", "fleet", "--update", name]);
        assert!(
            output.stdout.contains("4 repositories: fleet/bare.git, fleet/one"),
            "{name} {output}"
        );
        assert!(output.stdout.contains("+Prices are cents."), "{output}");
        let summary = "4 to update, 1 up to date, 2 without it, 1 not updated";
        assert!(output.stderr.contains(summary), "{output}");
    }
    // A tag does not move.
    let output = run(&project, &["fleet", "status", "fleet", "--update", "guidance"]);
    assert!(output.stderr.contains("0 to update, 6 up to date"), "{output}");
    let output = project.run(&["fleet", "status", "fleet", "--update", "nothing"]);
    assert_eq!(output.code, Some(1), "{output}");
    let output = project.run(&["fleet", "status", "fleet", "--update", "guidance@"]);
    assert_eq!(output.code, Some(2), "{output}");
    // Nothing is known of a server that does not answer.
    remote.vanish();
    let output = run(&project, &["fleet", "status", "fleet/one", "--update", "guidance@v1.1.0"]);
    assert!(output.stderr.contains("is not known"), "{output}");
}

/// The branch has the files that `brief update` would write; the working tree, the index and other branches stay.
#[test]
fn a_branch_has_the_update_and_nothing_else_is_touched() {
    let (project, _) = with_two_versions();
    let one = member(&project, "one");
    let bare = project.path().join("fleet/bare.git");
    git(&one, &["clone", "--quiet", "--bare", ".", bare.to_str().unwrap()]);
    // Work that is not committed, staged or not.
    write_all(&one, &[("src/a.py", "changed\n"), ("new.txt", "new\n")]);
    git(&one, &["add", "new.txt"]);
    let status = git(&one, &["status", "--porcelain"]);
    let index = fs::read(one.join(".git/index")).unwrap();
    let head = git(&one, &["rev-parse", "HEAD"]);

    let pr = ["fleet", "branch", "fleet", "--update", "guidance@v1.1.0"];
    // A dry run is one: nothing is written, not even below `.git`.
    let before = all_files(&project.path().join("fleet"));
    for dry in [&["fleet", "branch"], &["fleet", "pr"]] {
        let args = [&dry[..], &["fleet", "--update", "guidance@v1.1.0", "--dry-run"]].concat();
        let output = run(&project, &args);
        let would = "fleet/one: brief/update-guidance would be written";
        assert!(output.stdout.contains(would), "{output}");
        assert_eq!(output.stderr.contains("`brief fleet pr` is now"), dry[1] == "pr", "{output}");
        assert_eq!(all_files(&project.path().join("fleet")), before);
    }
    let output = run(&project, &pr);
    assert!(output.stdout.contains("fleet/one: brief/update-guidance "), "{output}");
    assert!(output.stdout.contains("fleet/bare.git: brief/update-guidance "), "{output}");
    assert_eq!(git(&one, &["rev-parse", "HEAD"]), head);
    assert_eq!(git(&one, &["symbolic-ref", "HEAD"]), "refs/heads/main");
    assert_eq!(fs::read(one.join(".git/index")).unwrap(), index);
    assert_eq!(git(&one, &["status", "--porcelain"]), status);
    assert_eq!(fs::read_to_string(one.join("src/a.py")).unwrap(), "changed\n");

    // The same as an update in a clone.
    let clone = project.path().join("clone");
    git(&one, &["clone", "--quiet", ".", clone.to_str().unwrap()]);
    run(&project, &["-C", clone.to_str().unwrap(), "update", "guidance@v1.1.0"]);
    commit(&clone);
    let tree = git(&clone, &["rev-parse", "HEAD^{tree}"]);
    for repository in [&one, &bare] {
        assert_eq!(git(repository, &["rev-parse", "brief/update-guidance^{tree}"]), tree);
        assert_eq!(git(repository, &["rev-parse", "brief/update-guidance^"]), head);
        git(repository, &["fsck", "--strict"]);
    }
    let message = git(&one, &["log", "-1", "--format=%B", "brief/update-guidance"]);
    assert!(message.starts_with("Update guidance to v1.1.0\n\nguidance: "), "{message}");
    for words in ["The guidance for agents changes:", "-Prices are integers.", "+Prices are cents."]
    {
        assert!(message.contains(words), "{message}");
    }

    // Again: as it was. A new commit below: written anew.
    let tip = git(&one, &["rev-parse", "brief/update-guidance"]);
    let output = run(&project, &pr);
    assert!(output.stdout.contains(", unchanged"), "{output}");
    assert_eq!(git(&one, &["rev-parse", "brief/update-guidance"]), tip);
    git(&one, &["commit", "--quiet", "-m", "message"]);
    run(&project, &pr);
    assert_eq!(
        git(&one, &["rev-parse", "brief/update-guidance^"]),
        git(&one, &["rev-parse", "HEAD"])
    );
    let answer = run(&project, &[&pr[..], &["--json"]].concat()).json();
    assert_eq!(answer["branch"], "brief/update-guidance");
    assert_eq!(answer["repositories"][1]["state"], "unchanged");
    assert_eq!(answer["repositories"][1]["pushed"], false);
}

/// N12, N33: "interrupting `fleet pr` left 16 branches and said nothing". It says how many there are, and the same command goes on.
#[cfg(unix)]
#[test]
fn n33_an_interrupted_run_says_what_it_has_written() {
    let (project, _) = with_two_versions();
    let names = ["a", "b", "c", "d", "e", "f"];
    let members: Vec<PathBuf> = names.iter().map(|name| member(&project, name)).collect();
    let written = || {
        let has =
            |path: &&PathBuf| !git(path, &["branch", "--list", "brief/update-guidance"]).is_empty();
        members.iter().filter(has).count()
    };
    // The user interrupts once, when the first branch is there.
    let bin = project.outside_directory().join("bin");
    let script = "#!/bin/sh\n/usr/bin/git \"$@\"\ncode=$?\n\
                  case \"$*\" in *update-ref*brief/update-guidance*) mkdir \"$0.told\" && kill -INT $PPID;;\n\
                  esac\nexit $code\n";
    fs::create_dir_all(&bin).unwrap();
    brief_testkit::write_program(&bin.join("git"), script);
    let search = format!("{}:/usr/bin:/bin", bin.display());
    let branch = ["fleet", "branch", "fleet", "--update", "guidance@v1.1.0"];
    let output = project.prepare_command("", &branch).env("PATH", search).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let made = written();
    assert!(made > 0 && made < names.len(), "{made}: {said}");
    let told = format!("interrupted: {made} done, ");
    assert!(said.contains(&told) && said.contains("run the same command again"), "{said}");
    assert_eq!(output.status.code(), Some(130), "{said}");
    run(&project, &branch);
    assert_eq!(written(), names.len());
}

/// A branch with work of others is refused: an own commit on top, an amended one, one that is checked out, one that never was ours.
#[test]
fn a_branch_of_others_stays() {
    let (project, _) = with_two_versions();
    let pr = ["fleet", "branch", "fleet", "--update", "guidance@v1.1.0"];
    for name in ["added", "amended", "checked-out", "foreign", "leading"] {
        member(&project, name);
    }
    let at = |name: &str| project.path().join("fleet").join(name);
    let branch = "brief/update-guidance";
    git(&at("foreign"), &["branch", branch]);
    git(&at("leading"), &["symbolic-ref", &format!("refs/heads/{branch}"), "refs/heads/main"]);
    let output = project.run(&pr);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stderr.contains("fleet/foreign: the repository has a branch"), "{output}");
    assert!(output.stderr.contains("fleet/leading: the repository has a branch"), "{output}");
    assert!(
        output.stderr.contains("3 to update, 0 up to date or without it, 2 not updated"),
        "{output}"
    );

    git(&at("added"), &["checkout", "--quiet", branch]);
    write_all(&at("added"), &[("more.txt", "more\n")]);
    commit(&at("added"));
    git(&at("added"), &["checkout", "--quiet", "main"]);
    git(&at("amended"), &["checkout", "--quiet", branch]);
    write_all(&at("amended"), &[("more.txt", "more\n")]);
    git(&at("amended"), &["add", "--all"]);
    git(&at("amended"), &["commit", "--quiet", "--amend", "--no-edit"]);
    git(&at("amended"), &["checkout", "--quiet", "main"]);
    git(&at("checked-out"), &["worktree", "add", "--quiet", "../../beside", branch]);
    let tips = || {
        let names = ["added", "amended", "checked-out", "foreign", "leading"];
        names.map(|name| git(&at(name), &["rev-parse", branch, "main"]))
    };
    for name in ["added", "amended", "checked-out", "foreign", "leading"] {
        commit(&at(name));
    }
    let before = tips();
    let output = project.run(&pr);
    assert_eq!(output.code, Some(1), "{output}");
    for name in ["added", "amended", "foreign", "leading"] {
        assert!(
            output.stderr.contains(&format!("fleet/{name}: the repository has a branch")),
            "{output}"
        );
    }
    assert!(output.stderr.contains("is checked out"), "{output}");
    assert_eq!(tips(), before);
}

/// A branch is pushed only when told; settings and hooks of the repository do not count, and a branch of others on the server stays.
#[test]
fn a_branch_is_pushed_when_told() {
    let (project, _) = with_two_versions();
    let first = member(&project, "first");
    let shop = Remote::new(&project, "github/acme/shop");
    fs::remove_dir_all(&shop.path).unwrap();
    git(&first, &["clone", "--quiet", "--bare", ".", shop.path.to_str().unwrap()]);
    fs::remove_dir_all(&first).unwrap();
    let one = project.path().join("fleet/one");
    git(&project.path(), &["clone", "--quiet", shop.path.to_str().unwrap(), one.to_str().unwrap()]);
    let mark = project.path().join("ran");
    let script = format!("touch {}", mark.display());
    for setting in
        ["core.sshCommand", "core.fsmonitor", "credential.helper", "core.alternateRefsCommand"]
    {
        git(&one, &["config", setting, &script]);
    }
    git(&one, &["config", "url.ext::sh.insteadOf", "https://github.com/"]);
    git(&one, &["config", "remote.origin.url", "https://github.com/acme/shop"]);
    git(&one, &["config", "remote.origin.receivepack", &script]);
    for hook in ["pre-push", "reference-transaction", "post-index-change"] {
        let hook = one.join(".git/hooks").join(hook);
        brief_testkit::write_program(&hook, format!("#!/bin/sh\n{script}\n"));
    }
    let branch = "brief/update-guidance";
    let pr = |how: &str| {
        let args = ["fleet", "branch", "fleet/one", "--update", "guidance@v1.1.0", how];
        project.run(args.strip_suffix(&[""]).unwrap_or(&args))
    };
    let output = pr("");
    assert_eq!(output.code, Some(0), "{output}");
    assert!(git(&shop.path, &["branch", "--list", branch]).is_empty());
    let output = pr("--push");
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stdout.contains("pushed"), "{output}");
    let there = || git(&shop.path, &["rev-parse", branch]);
    assert_eq!(there(), git(&one, &["rev-parse", branch]));
    assert!(!mark.exists(), "something of the repository ran");
    git(&shop.path, &["fsck", "--strict"]);
    let output = pr("--push");
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stdout.contains(", unchanged"), "{output}");

    // By address: nothing is in a repository here, and the branch is made on the server.
    git(&shop.path, &["branch", "--quiet", "-D", branch]);
    let url = "https://github.com/acme/shop";
    let by_address = |how: &str| {
        let args = ["fleet", "branch", url, "--update", "guidance@v1.1.0", how];
        project.run(args.strip_suffix(&[""]).unwrap_or(&args))
    };
    let output = by_address("");
    assert!(output.stdout.contains("would change"), "{output}");
    assert!(git(&shop.path, &["branch", "--list", branch]).is_empty());
    let output = by_address("--push");
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(
        git(&shop.path, &["rev-parse", &format!("{branch}^")]),
        git(&shop.path, &["rev-parse", "main"])
    );
    assert_eq!(
        git(&shop.path, &["rev-parse", &format!("{branch}^{{tree}}")]),
        git(&one, &["rev-parse", &format!("{branch}^{{tree}}")])
    );
    let tip = there();
    let output = by_address("--push");
    assert!(output.stdout.contains(", unchanged"), "{output}");
    assert_eq!(there(), tip);
    // Others have added a commit there.
    let clone = project.path().join("clone");
    git(
        &project.path(),
        &[
            "clone",
            "--quiet",
            "--branch",
            branch,
            shop.path.to_str().unwrap(),
            clone.to_str().unwrap(),
        ],
    );
    write_all(&clone, &[("more.txt", "more\n")]);
    commit(&clone);
    git(&clone, &["push", "--quiet"]);
    let tip = there();
    for output in [by_address("--push"), pr("--push")] {
        assert_eq!(output.code, Some(1), "{output}");
        assert!(output.stderr.contains("the server has a branch"), "{output}");
    }
    assert_eq!(there(), tip);
    // A server that does not answer, and a repository without one.
    shop.vanish();
    assert_eq!(pr("--push").code, Some(1));
    git(&one, &["remote", "remove", "origin"]);
    let output = pr("--push");
    assert!(output.stderr.contains("no remote `origin`"), "{output}");
}

/// A repository cannot have files of this machine put into its branch: by a source that lies here, or one that only its manifest names.
#[test]
fn files_of_this_machine_stay_out_of_branches() {
    let (project, remote) = with_two_versions();
    let secret = project.outside_directory().join("secret");
    write_all(&secret, &[("rules/secret/RULE.md", &crate::install::item("secret", "Hidden."))]);
    git(&secret, &["init", "--quiet"]);
    commit(&secret);
    let more = |name: &str, text: &str| {
        let path = member(&project, name);
        let manifest = fs::read_to_string(path.join("brief.toml")).unwrap();
        fs::write(path.join("brief.toml"), format!("{manifest}\n{text}")).unwrap();
        commit(&path);
        path
    };
    let here = secret.display();
    more("unlocked", &format!("[sources.more]\ndirectory = \"{here}\"\nall = true\n"));
    let known = more("locked", &format!("[sources.more]\ngit = \"file://{here}\"\nall = true\n"));
    let lock = fs::read_to_string(known.join("brief.lock")).unwrap();
    let head = git(&secret, &["rev-parse", "HEAD"]);
    let locked = format!(
        "{lock}\n[[source]]\nname = \"more\"\ngit = \"file://{here}\"\ncommit = \"{head}\"\n"
    );
    fs::write(known.join("brief.lock"), locked).unwrap();
    commit(&known);
    // The named source itself, at another place than the lock says.
    let moved = member(&project, "moved");
    let manifest = fs::read_to_string(moved.join("brief.toml")).unwrap();
    let line = manifest.lines().find(|line| line.starts_with("git = ")).unwrap().to_owned();
    let other = format!("git = \"file://{}\"", remote.path.display());
    fs::write(moved.join("brief.toml"), manifest.replace(&line, &other)).unwrap();
    commit(&moved);

    let output = project.run(&["fleet", "branch", "fleet", "--update", "guidance@v1.1.0"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(
        output.stderr.contains("fleet/locked: the source `more` is a local directory"),
        "{output}"
    );
    for name in ["moved", "unlocked"] {
        let words = format!("fleet/{name}: `brief.toml` and `brief.lock` name different sources");
        assert!(output.stderr.contains(&words), "{output}");
    }
    for name in ["locked", "moved", "unlocked"] {
        let path = project.path().join("fleet").join(name);
        assert!(git(&path, &["branch", "--list", "brief/*"]).is_empty(), "{name}");
    }
}

/// Repositories with SHA-256 names, working trees of others, and clones without history are read, and get their branches.
#[test]
fn other_forms_of_repositories_get_branches() {
    let (project, _) = with_two_versions();
    let long = project.path().join("fleet/long");
    fs::create_dir_all(&long).unwrap();
    git(&long, &["init", "--quiet", "--initial-branch=main", "--object-format=sha256"]);
    let add = ["add", "acme/guidance@v1.0.0", "base", "--client", "claude"];
    run(&project, &[&["-C", long.to_str().unwrap()][..], &add].concat());
    commit(&long);
    let one = member(&project, "one");
    let apart = project.path().join("apart");
    git(&one, &["worktree", "add", "--quiet", "-b", "other", apart.to_str().unwrap()]);
    fs::rename(&one, project.path().join("main")).unwrap();
    git(&project.path().join("main"), &["worktree", "repair"]);
    let shallow = project.path().join("fleet/shallow");
    let address = format!("file://{}", project.path().join("main").display());
    commit(&project.path().join("main"));
    git(&project.path(), &["clone", "--quiet", "--depth=1", &address, shallow.to_str().unwrap()]);

    let pr = ["fleet", "branch", "fleet", "apart", "--update", "guidance@v1.1.0"];
    let output = run(&project, &pr);
    for (path, name) in [(&long, "fleet/long"), (&apart, "apart"), (&shallow, "fleet/shallow")] {
        assert!(output.stdout.contains(&format!("{name}: brief/update-guidance ")), "{output}");
        let changed = git(path, &["diff", "--name-only", "HEAD", "brief/update-guidance"]);
        assert_eq!(changed, ".claude/rules/money.md\nbrief.lock\nbrief.toml", "{name}");
        assert!(git(path, &["status", "--porcelain"]).is_empty(), "{name}");
        assert_eq!(
            git(path, &["rev-parse", "brief/update-guidance^"]),
            git(path, &["rev-parse", "HEAD"])
        );
    }
    // A branch is written once for all working trees of a repository.
    let both = ["fleet", "branch", "main", "apart", "--update", "guidance@v1.1.0"];
    let output = project.run(&both);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stderr.contains("main: shares its repository with `apart`"), "{output}");
    // From a clone without history, the branch arrives at a server that has it.
    let push = ["fleet", "branch", "fleet/shallow", "--update", "guidance@v1.1.0", "--push"];
    let main = project.path().join("main");
    git(&main, &["branch", "--quiet", "-D", "brief/update-guidance"]);
    run(&project, &push);
    assert_eq!(
        git(&main, &["rev-parse", "brief/update-guidance^"]),
        git(&main, &["rev-parse", "main"])
    );
    git(&main, &["fsck", "--strict"]);
}

/// Killed before any call of git, a run leaves the branch as it was or whole, and everything else untouched; the next run comes to the
/// same end.
#[test]
fn a_killed_run_leaves_the_repository_whole() {
    let (project, _) = with_two_versions();
    let one = member(&project, "one");
    let pr = ["fleet", "branch", "fleet", "--update", "guidance@v1.1.0"];
    let saved = project.outside_directory().join("saved");
    copy_directory(&one, &saved);
    let reset = || {
        fs::remove_dir_all(&one).unwrap();
        copy_directory(&saved, &one);
    };
    let branch = "brief/update-guidance";
    let whole = in_process(&project, &pr, Fault::None);
    assert_eq!(whole.code, ExitCode::SUCCESS, "{}", whole.stderr);
    let tree = git(&one, &["rev-parse", &format!("{branch}^{{tree}}")]);
    reset();
    // What is fetched and remembered by now is not again, so that the steps are always the same.
    let steps = in_process(&project, &pr, Fault::None).steps;
    let calls: Vec<usize> =
        (0..steps.len()).filter(|&at| steps[at].starts_with("run git")).collect();
    assert!(calls.len() > 10, "{steps:#?}");
    let untouched = |path: &PathBuf| {
        let below = path.strip_prefix(&one).unwrap();
        !below.starts_with(".git/objects")
            && !below.starts_with(".git/refs/heads/brief")
            && !below.starts_with(".git/logs")
    };
    reset();
    let mut before = all_files(&one);
    before.retain(|path, _| untouched(path));
    for at in calls {
        reset();
        let killed = in_process(&project, &pr, Fault::Dies { at });
        assert!(killed.has_failed, "no step {at}");
        let mut after = all_files(&one);
        after.retain(|path, _| untouched(path));
        assert_eq!(after, before, "killed at step {at}, {}", killed.steps[at]);
        git(&one, &["fsck", "--strict"]);
        let found =
            git(&one, &["for-each-ref", "--format=%(tree)", &format!("refs/heads/{branch}")]);
        assert!(found.is_empty() || found == tree, "{found}");
        let again = in_process(&project, &pr, Fault::None);
        assert_eq!(again.code, ExitCode::SUCCESS, "{}", again.stderr);
        assert_eq!(git(&one, &["rev-parse", &format!("{branch}^{{tree}}")]), tree);
    }
}

/// A repository that keeps its outputs out of version control gets the lock alone.
#[test]
fn ignored_outputs_stay_out_of_the_branch() {
    let (project, _) = with_two_versions();
    let one = member(&project, "one");
    git(&one, &["rm", "--quiet", "-r", "--cached", ".claude"]);
    write_all(&one, &[(".gitignore", ".claude/\n")]);
    commit(&one);
    run(&project, &["fleet", "branch", "fleet", "--update", "guidance@v1.1.0"]);
    let changed = git(&one, &["diff", "--name-only", "main", "brief/update-guidance"]);
    assert_eq!(changed, "brief.lock\nbrief.toml");
    // A file of others where an output would go.
    let two = member(&project, "two");
    git(&two, &["rm", "--quiet", "-r", ".claude"]);
    let lock = fs::read_to_string(two.join("brief.lock")).unwrap();
    write_all(&two, &[(".claude/rules/money.md", "mine\n"), ("brief.lock", &lock)]);
    commit(&two);
    let output = project.run(&["fleet", "branch", "fleet/two", "--update", "guidance@v1.1.0"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(git(&two, &["branch", "--list", "brief/*"]).is_empty());
}
