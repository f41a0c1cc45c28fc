//! Repositories whose `origin` was written to do harm: a push runs nothing of them.

use std::fs;
use std::path::Path;

use brief_testkit::snapshot::{Snapshot, collect_snapshot, copy_directory};
use brief_testkit::write_program;

use crate::fleet_update::{member, with_two_versions};
use crate::install::git;

/// Every hook of git that a push can reach.
const HOOKS: [&str; 12] = [
    "pre-receive",
    "update",
    "proc-receive",
    "post-receive",
    "post-update",
    "push-to-checkout",
    "reference-transaction",
    "pre-auto-gc",
    "pre-push",
    "post-checkout",
    "post-index-change",
    "fsmonitor-watchman",
];

/// Fills a repository with everything that a push into it could run.
fn arm(git_dir: &Path, script: &str) {
    for hook in HOOKS {
        write_program(&git_dir.join("hooks").join(hook), format!("#!/bin/sh\n{script}\n"));
    }
    let config = git_dir.join("config");
    let settings = SETTINGS.replace("{S}", script);
    fs::write(&config, fs::read_to_string(&config).unwrap() + &settings).unwrap();
    fs::create_dir_all(git_dir.join("info")).unwrap();
    fs::write(git_dir.join("info/attributes"), "* filter=evil\n").unwrap();
}

/// Settings that name a program, `{S}`.
const SETTINGS: &str = "
[core]\nalternateRefsCommand = {S}\nfsmonitor = {S}\nsshCommand = {S}\neditor = {S}\npager = {S}
[gc]\nauto = 1\nrecentObjectsHook = {S}
[gpg]\nprogram = {S}
[receive]\ndenyCurrentBranch = updateInstead\nautogc = true\ncertNonceSeed = seed
[uploadpack]\npackObjectsHook = {S}
[filter \"evil\"]\nsmudge = {S}\nclean = {S}\nprocess = {S}
[remote \"evil\"]\nurl = ext::sh -c true\nuploadpack = {S}\npromisor = true
[hook \"evil\"]\ncommand = {S}\nevent = pre-receive
";

/// The origins, with `{M}` for the member, `{E}` for the hostile repository in its `.git`, and `{S}` for a script. A second word
/// after ` | ` is another setting of the member, and its value.
const ORIGINS: [(&str, &str); 36] = [
    ("./.git/evil.git", "pushed"),
    (".git/evil.git", "pushed"),
    ("{E}", "pushed"),
    ("{E}/", "pushed"),
    ("file://{E}", "pushed"),
    ("FILE://{E}", "pushed"),
    ("file://localhost{E}", ""),
    ("file://{M}/.git/%65vil.git", "pushed"),
    ("file://{M}/./.git/../.git/evil.git", "pushed"),
    ("./.git/link.git", "pushed"),
    ("./.git/gitfile", ""),
    ("./.git/worktree", ""),
    ("{M}", ""),
    (".", ""),
    ("file://{M}/.git", ""),
    ("https://nowhere.invalid/acme/shop | remote.origin.pushurl={E}", "pushed"),
    ("https://nowhere.invalid/acme/shop | url.{E}.insteadOf=https://nowhere.invalid/acme/shop", ""),
    ("https://nowhere.invalid/acme/shop | url.{E}.pushInsteadOf=https://nowhere.invalid/", ""),
    (
        "https://nowhere.invalid/acme/shop | url.ext::sh -c {S}.insteadOf=https://nowhere.invalid/",
        "",
    ),
    ("./.git/evil.git | remote.origin.receivepack={S}", "pushed"),
    ("./.git/evil.git | remote.origin.uploadpack={S}", "pushed"),
    ("./.git/evil.git | remote.origin.vcs=ext", "pushed"),
    ("./.git/evil.git | core.hooksPath={M}/.git/evil.git/hooks", "pushed"),
    ("./.git/evil.git | include.path=evil.git/config", "pushed"),
    ("https://nowhere.invalid/acme/shop | credential.helper=!{S}", ""),
    ("https://nowhere.invalid/acme/shop | http.proxy=ext::{S}", ""),
    ("ssh://nowhere.invalid/acme/shop | core.sshCommand={S}", ""),
    ("git://nowhere.invalid/acme/shop | core.gitProxy={S}", ""),
    ("ext::sh -c '{S}'", ""),
    ("fd::1", ""),
    ("evil::{S}", ""),
    ("--receive-pack={S}", ""),
    ("-oProxyCommand={S}:acme/shop", ""),
    ("ssh://-oProxyCommand={S}/acme/shop", ""),
    ("git@-oProxyCommand={S}:acme/shop", ""),
    ("$({S})", ""),
];

/// A push runs no hook, filter or program of a repository, whatever its origin says; one on this machine gets the branch.
#[test]
fn y01_a_push_runs_nothing_of_a_repository() {
    let (project, _) = with_two_versions();
    let template = member(&project, "template");
    let outside = project.outside_directory();
    let kept = outside.join("template");
    fs::rename(&template, &kept).unwrap();
    for (number, (origin, _)) in ORIGINS.iter().enumerate() {
        let path = project.path().join(format!("fleet/m{number:02}"));
        copy_directory(&kept, &path);
        let mark = outside.join(format!("ran-{number:02}"));
        let script = format!("touch {}", mark.display());
        let evil = path.join(".git/evil.git");
        git(&path, &["clone", "--quiet", "--bare", ".", evil.to_str().unwrap()]);
        arm(&evil, &script);
        // An alternate, so that the command that lists its references would be called.
        let alternate = format!("{}\n", kept.join(".git/objects").display());
        fs::create_dir_all(evil.join("objects/info")).unwrap();
        fs::write(evil.join("objects/info/alternates"), alternate).unwrap();
        std::os::unix::fs::symlink("evil.git", path.join(".git/link.git")).unwrap();
        fs::create_dir_all(path.join(".git/gitfile")).unwrap();
        fs::write(path.join(".git/gitfile/.git"), "gitdir: ../evil.git\n").unwrap();
        let worktree = path.join(".git/worktree");
        git(&path, &["clone", "--quiet", ".", worktree.to_str().unwrap()]);
        arm(&worktree.join(".git"), &script);
        git(&worktree, &["config", "receive.procReceiveRefs", "refs/heads"]);
        git(&worktree, &["symbolic-ref", "HEAD", "refs/heads/brief/update-guidance"]);
        let fill = |text: &str| {
            let text = text.replace("{M}", path.to_str().unwrap());
            text.replace("{E}", evil.to_str().unwrap()).replace("{S}", &script)
        };
        // The member itself is as hostile as its origin.
        arm(&path.join(".git"), &script);
        let (origin, setting) = origin.split_once(" | ").unwrap_or((origin, ""));
        git(&path, &["config", "remote.origin.url", &fill(origin)]);
        if let Some((key, value)) = setting.split_once('=') {
            git(&path, &["config", &fill(key), &fill(value)]);
        }
        let _ = fs::remove_file(&mark);
    }
    let output = project.run(&[
        "fleet",
        "branch",
        "fleet",
        "--update",
        "guidance@v1.1.0",
        "--push",
        "--json",
    ]);
    assert_eq!(output.code, Some(1), "{output}");
    let rows = output.json();
    let rows = rows["repositories"].as_array().unwrap();
    assert_eq!(rows.len(), ORIGINS.len(), "{output}");
    for (number, ((origin, expected), row)) in ORIGINS.iter().zip(rows).enumerate() {
        let mark = outside.join(format!("ran-{number:02}"));
        assert!(!mark.exists(), "`{origin}` ran something: {row:#}");
        if *expected == "pushed" {
            assert_eq!(row["pushed"], true, "{origin}: {row:#}");
            let evil = project.path().join(format!("fleet/m{number:02}/.git/evil.git"));
            let tip = fs::read_to_string(evil.join("refs/heads/brief/update-guidance")).unwrap();
            assert_eq!(Some(tip.trim()), row["commit"].as_str(), "{origin}");
        }
    }
}

/// The places in which git writes, where a link would lead it to a file or a directory of the user.
const LINKS: [&str; 12] = [
    "logs/refs/heads/brief/update-guidance",
    "logs/refs/heads/brief",
    "logs/refs/heads",
    "logs/refs",
    "logs",
    "logs/HEAD",
    "refs/heads/brief/update-guidance",
    "refs/heads/brief",
    "refs/heads",
    "refs",
    "objects/pack",
    "objects",
];

/// Puts a link in the place of a file or a directory of git's, which moves outside with what is in it.
fn link_out(git_dir: &Path, name: &str, outside: &Path) {
    let place = git_dir.join(name);
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::create_dir_all(outside).unwrap();
    let target = outside.join("target");
    if fs::rename(&place, &target).is_err() {
        if name.ends_with("guidance") || name.ends_with("HEAD") {
            fs::write(&target, "alias ls=ls\n").unwrap();
        } else {
            fs::create_dir_all(&target).unwrap();
        }
    }
    std::os::unix::fs::symlink(&target, &place).unwrap();
}

fn snapshot(directory: &Path) -> Snapshot {
    let mut found = Snapshot::new();
    collect_snapshot(directory, "", &mut found);
    found
}

/// A branch is not written where git would write through a link: it appends a line with the name of the repository's choice to the
/// log of a reference, also if that is a link to `~/.bashrc`. The same holds for the repository that a push reaches.
#[test]
fn y01_a_branch_is_not_written_through_links() {
    let (project, _) = with_two_versions();
    let template = member(&project, "template");
    git(&template, &["config", "core.logAllRefUpdates", "always"]);
    git(&template, &["config", "user.name", "$(touch ran)"]);
    let outside = project.outside_directory();
    let kept = outside.join("template");
    fs::rename(&template, &kept).unwrap();
    for (number, link) in LINKS.iter().enumerate() {
        for is_origin in [false, true] {
            let name = format!("m{number:02}{is_origin}");
            let path = project.path().join("fleet").join(&name);
            copy_directory(&kept, &path);
            let target = outside.join(format!("of-{name}"));
            let mut written = path.join(".git");
            if is_origin {
                written = path.join(".git/evil.git");
                git(&path, &["clone", "--quiet", "--bare", ".", written.to_str().unwrap()]);
                git(&written, &["config", "core.logAllRefUpdates", "always"]);
                git(&path, &["config", "remote.origin.url", "./.git/evil.git"]);
            }
            link_out(&written, link, &target);
            let before = snapshot(&target);
            let directory = format!("fleet/{name}");
            let mut args = vec!["fleet", "branch", &directory, "--update", "guidance@v1.1.0"];
            args.extend(is_origin.then_some("--push"));
            let output = project.run(&args);
            assert_eq!(output.code, Some(1), "{name} {link}: {output}");
            assert_eq!(snapshot(&target), before, "{name} {link}: {output}");
            // Without its references or objects it is no repository for us at all.
            let is_told = output.stderr.contains("in the git directory is not a regular file");
            assert_eq!(is_told && is_origin, output.stderr.contains("cannot push to `origin`"));
            assert!(is_told || output.stderr.contains("cannot read"), "{name} {link}: {output}");
        }
    }
}

/// A missing `origin` on this machine is told as what it is.
#[test]
fn y12_a_missing_origin_is_named() {
    let (project, _) = with_two_versions();
    let one = member(&project, "one");
    for origin in ["../gone", "./gone.git", "file:///nowhere/gone"] {
        git(&one, &["config", "remote.origin.url", origin]);
        let output =
            project.run(&["fleet", "branch", "fleet/one", "--update", "guidance@v1.1.0", "--push"]);
        assert_eq!(output.code, Some(1), "{output}");
        assert!(output.stderr.contains("gone"), "{origin}: {output}");
        assert!(!output.stderr.contains("temporary directory"), "{origin}: {output}");
    }
}
