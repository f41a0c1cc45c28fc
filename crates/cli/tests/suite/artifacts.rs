//! Artifacts of a real registry, and of a directory: published, added, restored, updated.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use brief_testkit::{Sandbox, needs};
use serde_json::Value;

use crate::build::read_tree;
use crate::container_registry::{AUTHORITY, ContainerRegistry, Door, KEY_A, Proxy, Trouble};
use crate::install::bundle;
use crate::project;
use brief_testkit::snapshot::render_item;

/// Writes items of a source beside the project.
pub(crate) fn source(beside: &Sandbox, name: &str, files: &[(&str, &str)]) -> String {
    let directory = beside.outside_directory().join(name);
    for (path, text) in files {
        let path = directory.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    directory.to_str().unwrap().to_owned()
}

pub(crate) fn skill(name: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: Use when {name} matters\n---\n\n{body}\n")
}

/// Publishes a directory, and returns the digest.
pub(crate) fn publish(beside: &Sandbox, target: &str, from: &str, options: &[&str]) -> String {
    let args = [&["registry", "publish", target, "--from", from, "--json"][..], options].concat();
    let output = beside.run(&args);
    assert_eq!(output.code, Some(0), "{output}");
    output.json()["digest"].as_str().unwrap().to_owned()
}

/// Returns the source of the lock.
pub(crate) fn locked(project: &Sandbox) -> String {
    let lock = project.read("brief.lock");
    let start = lock.find("[[source]]").unwrap();
    lock[start..].split("\n\n").next().unwrap().to_owned()
}

/// Forgets everything that was fetched.
pub(crate) fn forget(project: &Sandbox) {
    let _ = fs::remove_dir_all(project.home().join(".cache"));
}

/// Returns the files of a project, without the state of this machine.
fn files(project: &Sandbox) -> Vec<String> {
    read_tree(project, "").into_keys().filter(|path| !path.starts_with(".brief/")).collect()
}

/// Publish, look, add, restore, look for newer ones, update: the same from a registry and from a directory.
#[test]
fn an_artifact_is_a_source_like_any_other() {
    needs!(DockerRegistry);
    let project = project();
    let registry = ContainerRegistry::start(&project, Door::Open);
    let kept = format!("oci-layout:{}", project.outside_directory().join("kept").display());
    let mut trees = Vec::new();
    for base in [registry.at("acme/guidance"), kept] {
        let from = source(
            &project,
            "source",
            &[
                ("skills/hello/SKILL.md", &skill("hello", "Say hello.")),
                ("skills/hello/scripts/run.sh", "#!/bin/sh\n"),
                ("rules/money/RULE.md", &render_item("money", "Use cents.")),
                ("base.bundle.md", &bundle("base", "1.0.0", &["money"], &[])),
            ],
        );
        let first = publish(&project, &format!("{base}:v1.0.0"), &from, &[]);
        let output = project.run(&["list", &format!("{base}:v1.0.0")]);
        assert!(output.stdout.contains("skill/hello: Use when hello matters"), "{output}");

        let output = project.run(&["add", &format!("{base}:v1.0.0"), "--name", "own"]);
        assert_eq!(output.code, Some(0), "{output}");
        assert!(
            locked(&project).contains(&format!("digest = \"{first}\"")),
            "{}",
            locked(&project)
        );
        assert!(project.read("brief.toml").contains("ref = \"v1.0.0\""));
        let before = read_tree(&project, ".claude");
        assert!(before.contains_key("skills/hello/SKILL.md"), "{:?}", before.keys());

        // Another machine: nothing is in its cache, and nothing is written yet.
        forget(&project);
        fs::remove_dir_all(project.path().join(".claude")).unwrap();
        let output = project.run(&["sync", "--frozen"]);
        assert_eq!(output.code, Some(0), "{output}");
        assert_eq!(read_tree(&project, ".claude"), before);
        assert_eq!(project.run(&["sync", "--frozen", "--offline"]).code, Some(0));

        fs::write(Path::new(&from).join("skills/hello/SKILL.md"), skill("hello", "Wave.")).unwrap();
        let second = publish(&project, &format!("{base}:v1.1.0"), &from, &[]);
        assert_ne!(first, second);
        let output = project.run(&["update", "--check"]);
        assert_eq!(output.code, Some(1), "{output}");
        assert!(output.stdout.contains("v1.1.0 is available"), "{output}");
        let output = project.run(&["update", "own@v1.1.0"]);
        assert_eq!(output.code, Some(0), "{output}");
        assert!(project.read(".claude/skills/hello/SKILL.md").contains("Wave."));
        assert!(locked(&project).contains(&format!("digest = \"{second}\"")));

        // A version stays what it is.
        fs::write(Path::new(&from).join("skills/hello/SKILL.md"), skill("hello", "Nod.")).unwrap();
        let target = format!("{base}:v1.1.0");
        let output = project.run(&["registry", "publish", &target, "--from", &from]);
        assert_eq!(output.code, Some(1), "{output}");
        assert!(output.stderr.contains("is already published"), "{output}");

        trees.push(read_tree(&project, ".claude"));
        assert_eq!(project.run(&["remove", "own"]).code, Some(0));
        fs::remove_dir_all(&from).unwrap();
    }
    assert_eq!(trees[0], trees[1]);
}

/// One item is an artifact of its own; a bundle brings its items, and is complete alone.
#[test]
fn items_and_bundles_are_published_alone() {
    let project = project();
    let kept = format!("oci-layout:{}", project.outside_directory().join("kept").display());
    let from = source(
        &project,
        "source",
        &[
            ("skills/hello/SKILL.md", &skill("hello", "Say hello.")),
            ("skills/other/SKILL.md", &skill("other", "Other.")),
            ("rules/money/RULE.md", &render_item("money", "Use cents.")),
            ("base.bundle.md", &bundle("base", "1.0.0", &["money"], &[])),
        ],
    );
    let shown = |tag: &str, items: &[&str]| {
        publish(&project, &format!("{kept}:{tag}"), &from, items);
        let output = project.run(&["list", &format!("{kept}:{tag}"), "--json"]);
        let listed = output.json();
        let names = |key: &str| -> Vec<String> {
            let all = listed[key].as_array().cloned().unwrap_or_default();
            all.iter().map(|one| one["name"].as_str().unwrap_or_default().to_owned()).collect()
        };
        [names("items"), names("bundles")].concat()
    };
    assert_eq!(shown("one", &["hello"]), ["hello"]);
    assert_eq!(shown("two", &["hello", "other"]), ["hello", "other"]);
    assert_eq!(shown("three", &["bundle/base"]), ["money", "base"]);
    let output =
        project.run(&["registry", "publish", &format!("{kept}:x"), "missing", "--from", &from]);
    assert_eq!(output.code, Some(1), "{output}");
}

/// The same files give the same digest, whatever their times, rights and order on disk; a program differs.
#[test]
fn equal_files_have_equal_digests_everywhere() {
    let project = project();
    let texts: Vec<(String, String)> = (0..20)
        .map(|number| {
            let name = format!("skill-{number}");
            (format!("skills/{name}/SKILL.md"), skill(&name, "Text."))
        })
        .collect();
    let mut all: Vec<(&str, &str)> =
        texts.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    all.push(("skills/skill-1/run.sh", "#!/bin/sh\n"));
    let one = source(&project, "one", &all);
    all.reverse();
    let other = source(&project, "other/deeper", &all);
    for (path, _) in &all {
        let path = Path::new(&other).join(path);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        fs::File::options().write(true).open(&path).unwrap().set_modified(long_ago).unwrap();
    }
    let target = format!("oci-layout:{}:v1", project.outside_directory().join("kept").display());
    let digest = |from: &str| publish(&project, &target, from, &["--dry-run"]);
    let first = digest(&one);
    assert_eq!(first, digest(&other));
    let program = Path::new(&other).join("skills/skill-1/run.sh");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
    assert_ne!(first, digest(&other));
    assert!(!project.outside_directory().join("kept").exists());
}

pub(crate) fn git(directory: &str, args: &[&str], time: &str) {
    let mut command = Command::new("git");
    command.args(args).current_dir(directory).env_clear().env("PATH", "/usr/bin:/bin");
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "Name");
        command.env(format!("GIT_{who}_EMAIL"), "name@example.com");
        command.env(format!("GIT_{who}_DATE"), format!("{time} +0000"));
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Commits everything of a directory at a time.
pub(crate) fn commit(directory: &str, time: &str) {
    if !Path::new(directory).join(".git").exists() {
        git(directory, &["init", "--quiet"], time);
        let origin = ["remote", "add", "origin", "git@git.example:acme/guidance.git"];
        git(directory, &origin, time);
    }
    git(directory, &["add", "--all"], time);
    git(directory, &["commit", "--quiet", "-m", "message"], time);
}

/// Committed files name their revision, and two clones give one digest; what is not committed names none.
#[test]
fn two_clones_of_a_commit_have_one_digest() {
    let project = project();
    let text = skill("hello", "Say hello.");
    let one = source(&project, "one", &[("skills/hello/SKILL.md", &text)]);
    commit(&one, "1700000000");
    let other = project.outside_directory().join("other").to_str().unwrap().to_owned();
    git(&one, &["clone", "--quiet", &one, &other], "1700000000");
    let address = "https://git.example/acme/guidance.git";
    git(&other, &["remote", "set-url", "origin", address], "1700000000");
    let kept = project.outside_directory().join("kept");
    let target = format!("oci-layout:{}:v1", kept.display());
    let digest = publish(&project, &target, &one, &[]);
    assert_eq!(digest, publish(&project, &target, &other, &["--dry-run"]));
    let manifest = kept.join("blobs/sha256").join(digest.trim_start_matches("sha256:"));
    let manifest: Value = serde_json::from_slice(&fs::read(manifest).unwrap()).unwrap();
    let said = |key: &str| manifest["annotations"][key].as_str().unwrap_or_default().to_owned();
    assert_eq!(said("org.opencontainers.image.source"), "https://git.example/acme/guidance");
    assert_eq!(said("org.opencontainers.image.created"), "2023-11-14T22:13:20Z");
    assert_eq!(said("org.opencontainers.image.revision").len(), 40);
    assert_eq!(manifest["artifactType"], "application/vnd.brief.item.v1");
    assert_eq!(manifest["config"]["mediaType"], "application/vnd.oci.empty.v1+json");

    fs::write(Path::new(&other).join("skills/hello/SKILL.md"), skill("hello", "Changed.")).unwrap();
    let output = project.run(&["registry", "publish", &target, "--from", &other, "--dry-run"]);
    assert!(output.stderr.contains("uncommitted files"), "{output}");
}

/// One flipped byte in the store of the registry: refused, and nothing is written.
#[test]
fn a_changed_byte_in_the_store_is_refused() {
    needs!(DockerRegistry);
    let project = project();
    let registry = ContainerRegistry::start(&project, Door::Open);
    let from = source(&project, "source", &[("skills/hello/SKILL.md", &skill("hello", "Hello."))]);
    let target = registry.at("acme/one:v1");
    let digest = publish(&project, &target, &from, &[]);
    let manifest = fs::read(registry.content(&digest)).unwrap();
    let layer = serde_json::from_slice::<Value>(&manifest).unwrap()["layers"][0]["digest"].clone();
    for content in [layer.as_str().unwrap(), &digest] {
        let path = registry.content(content);
        let good = fs::read(&path).unwrap();
        let mut bad = good.clone();
        let place = bad.windows(5).position(|window| window == b"hello").unwrap();
        bad[place] ^= 1;
        fs::write(&path, bad).unwrap();
        let output = project.run(&["add", &target]);
        assert_eq!(output.code, Some(1), "{output}");
        // A registry may find out by itself, and then it has no such manifest.
        let is_told = ["do not trust it", "no `v1` in", "the registry request for"];
        assert!(is_told.iter().any(|told| output.stderr.contains(told)), "{output}");
        assert_eq!(files(&project), Vec::<String>::new());
        fs::write(&path, good).unwrap();
    }
    assert_eq!(project.run(&["add", &target]).code, Some(0));
}

/// A registry, or someone in between, shows an old answer again: the newer state stays.
#[test]
fn a_tag_does_not_lead_back() {
    needs!(DockerRegistry);
    let project = project();
    let registry = ContainerRegistry::start(&project, Door::Open);
    let base = registry.at("acme/ring");
    let from = source(&project, "source", &[("skills/hello/SKILL.md", &skill("hello", "Old."))]);
    commit(&from, "1700000000");
    let old = publish(&project, &format!("{base}:canary"), &from, &[]);
    fs::write(Path::new(&from).join("skills/hello/SKILL.md"), skill("hello", "New.")).unwrap();
    commit(&from, "1700100000");
    let new = publish(&project, &format!("{base}:canary"), &from, &[]);

    // Rings: what has proven itself gets the next tag.
    let output = project.run(&["registry", "tag", &format!("{base}@{old}"), "stable"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(project.run(&["add", &format!("{base}:stable")]).code, Some(0));
    assert!(project.read(".claude/skills/hello/SKILL.md").contains("Old."));
    let output = project.run(&["registry", "tag", &format!("{base}@{new}"), "stable", "--json"]);
    assert_eq!(output.json()["before"], old.as_str(), "{output}");
    assert_eq!(project.run(&["update", "--check"]).code, Some(1));
    assert_eq!(project.run(&["update"]).code, Some(0));
    assert!(project.read(".claude/skills/hello/SKILL.md").contains("New."));

    let before = read_tree(&project, "");
    assert_eq!(project.run(&["registry", "tag", &format!("{base}@{old}"), "stable"]).code, Some(0));
    let output = project.run(&["update"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stderr.contains("would be downgraded from 2023-11-16"), "{output}");
    assert_eq!(read_tree(&project, ""), before);
    // Naming the digest is a decision.
    let output = project.run(&["update", &format!("ring@{old}")]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(project.read(".claude/skills/hello/SKILL.md").contains("Old."));
    // A tag alone may move while one reads.
    assert_eq!(
        project.run(&["registry", "tag", &format!("{base}:canary"), "stable"]).code,
        Some(2)
    );
}

/// Unchanged sources cost one request for `update`, and none for `sync`; a changed item costs only itself.
#[test]
fn requests_are_counted() {
    needs!(DockerRegistry);
    let project = project();
    let registry = ContainerRegistry::start(&project, Door::Open);
    let proxy = Proxy::to(registry.port);
    let base = proxy.at("acme/many");
    let texts: Vec<(String, String)> = (0..10)
        .map(|number| {
            let name = format!("skill-{number}");
            (format!("skills/{name}/SKILL.md"), skill(&name, "Text."))
        })
        .collect();
    let all: Vec<(&str, &str)> = texts.iter().map(|(path, text)| (&**path, &**text)).collect();
    let from = source(&project, "source", &all);
    publish(&project, &base, &from, &[]);
    assert_eq!(project.run(&["add", &base]).code, Some(0));
    proxy.decide(|_, _| Trouble::None);
    assert_eq!(project.run(&["sync"]).code, Some(0));
    assert_eq!(proxy.requests(), Vec::<String>::new());
    assert_eq!(project.run(&["update"]).code, Some(0));
    assert_eq!(proxy.requests(), ["HEAD /v2/acme/many/manifests/latest"]);

    fs::write(Path::new(&from).join(all[3].0), skill("skill-3", "Changed.")).unwrap();
    publish(&project, &base, &from, &[]);
    proxy.decide(|_, _| Trouble::None);
    assert_eq!(project.run(&["update"]).code, Some(0));
    // The tag, the index, one manifest, one layer, and two places for signatures.
    let requests = proxy.requests();
    assert_eq!(requests.len(), 6, "{requests:#?}");

    // A new machine: the index, a manifest and a layer of each item, and two places for signatures.
    forget(&project);
    proxy.decide(|_, _| Trouble::None);
    assert_eq!(project.run(&["sync", "--frozen"]).code, Some(0));
    let requests = proxy.requests();
    assert_eq!(requests.len(), 2 * all.len() + 3, "{requests:#?}");
}

/// The registry fails at each request in turn: once is tried again, for good is an error, and the old state stays.
#[test]
fn a_failing_registry_leaves_the_old_state() {
    needs!(DockerRegistry);
    let project = project();
    let mut registry = ContainerRegistry::start(&project, Door::Open);
    let proxy = Proxy::to(registry.port);
    let base = proxy.at("acme/one");
    let from = source(&project, "source", &[("skills/hello/SKILL.md", &skill("hello", "Hello."))]);
    publish(&project, &base, &from, &[]);
    proxy.decide(|_, _| Trouble::None);
    assert_eq!(project.run(&["add", &base, "--dry-run"]).code, Some(0));
    let count = proxy.requests().len();
    assert!((4..10).contains(&count), "{:?}", proxy.requests());

    let busy = || Trouble::status("429 Too Many Requests", "retry-after: 0\r\n", b"");
    let broken = || Trouble::status("500 Internal Server Error", "", b"");
    for number in 0..count {
        for kind in 0..4 {
            forget(&project);
            proxy.decide(move |at, _| match (at == number, kind) {
                (true, 0) => busy(),
                (true, 1) => broken(),
                (true, 2) => Trouble::Silence,
                (true, _) => Trouble::Cut,
                (false, _) => Trouble::None,
            });
            let output = project.run(&["add", &base, "--dry-run"]);
            assert_eq!(output.code, Some(0), "request {number}, kind {kind}: {output}");
        }
        forget(&project);
        proxy.decide(move |at, _| if at >= number { broken() } else { Trouble::None });
        let output = project.run(&["add", &base]);
        assert_eq!(output.code, Some(1), "request {number}: {output}");
        assert!(output.stderr.contains("500 Internal Server Error (after 4 attempts)"), "{output}");
        assert_eq!(files(&project), Vec::<String>::new(), "request {number}");
    }

    proxy.decide(|_, _| Trouble::None);
    assert_eq!(project.run(&["add", &base]).code, Some(0));
    let before = read_tree(&project, "");
    registry.stop();
    for args in [&["update"][..], &["sync"], &["sync", "--frozen"], &["update", "--check"]] {
        let output = project.run(args);
        let is_local = args[0] == "sync";
        assert_eq!(output.code, Some(i32::from(!is_local)), "{args:?} {output}");
        assert_eq!(read_tree(&project, ""), before, "{args:?}");
    }
}

/// Publishing fails at each request in turn: the tag leads to the old artifact until everything of the new one is there.
#[test]
fn a_failing_registry_keeps_the_old_tag() {
    needs!(DockerRegistry);
    let project = project();
    let registry = ContainerRegistry::start(&project, Door::Open);
    let (proxy, path) = (Proxy::to(registry.port), "acme/tag:canary");
    let key = project.outside_directory().join("a.pem");
    fs::write(&key, KEY_A).unwrap();
    let key = key.to_str().unwrap();
    let from = source(&project, "source", &[("skills/hello/SKILL.md", &skill("hello", "Old."))]);
    publish(&project, &registry.at(path), &from, &["--sign", key]);
    let reader = crate::project();
    assert_eq!(reader.run(&["add", &registry.at(path)]).code, Some(0));
    let broken = || Trouble::status("500 Internal Server Error", "", b"");
    let target = proxy.at(path);
    let args = ["registry", "publish", target.as_str(), "--from", &from, "--sign", key];
    let mut number = 0;
    loop {
        // Other bytes each time, so that everything is sent again.
        source(
            &project,
            "source",
            &[("skills/hello/SKILL.md", &skill("hello", &format!("New {number}.")))],
        );
        proxy.decide(move |at, _| if at >= number { broken() } else { Trouble::None });
        let output = project.run(&args);
        let is_tagged = proxy.requests()[..number]
            .iter()
            .any(|line| line.starts_with("PUT") && line.ends_with("/manifests/canary"));
        // The signature is there before the tag, so that no project sees the artifact without it.
        assert_eq!(is_tagged, output.code == Some(0), "request {number}: {output}");
        if is_tagged {
            assert!(number > 8, "{:?}", proxy.requests());
            break;
        }
        assert_eq!(output.code, Some(1), "request {number}: {output}");
        assert!(output.stderr.contains("after 4 attempts"), "{output}");
        assert_eq!(reader.run(&["update"]).code, Some(0));
        assert!(reader.read(".claude/skills/hello/SKILL.md").contains("Old."));
        number += 1;
    }
    assert_eq!(reader.run(&["update"]).code, Some(0));
    assert!(reader.read(".claude/skills/hello/SKILL.md").contains("New"));
}

/// A registry that does not answer ends the command in time.
#[test]
fn a_slow_registry_is_not_waited_for() {
    needs!(DockerRegistry);
    let project = project();
    let registry = ContainerRegistry::start(&project, Door::Open);
    let proxy = Proxy::to(registry.port);
    let base = proxy.at("acme/one");
    let from = source(&project, "source", &[("skills/hello/SKILL.md", &skill("hello", "Hello."))]);
    publish(&project, &base, &from, &[]);
    proxy.decide(|_, _| Trouble::None);
    assert_eq!(project.run(&["add", &base, "--dry-run"]).code, Some(0));
    let requests = proxy.requests().len();
    let project = project.with_env("BRIEF_REGISTRY_SECONDS", "1");
    for number in 0..requests {
        forget(&project);
        proxy.decide(move |at, _| if at == number { Trouble::Never } else { Trouble::None });
        let output = project.run(&["add", &base]);
        assert_eq!(output.code, Some(1), "request {number}: {output}");
        assert!(output.stderr.contains("no answer within 1 seconds"), "{output}");
        assert_eq!(files(&project), Vec::<String>::new());
    }
    // A connection that is closed without a word is tried again.
    let project = project.with_env("BRIEF_REGISTRY_SECONDS", "120");
    proxy.decide(|at, _| if at == 0 { Trouble::Silence } else { Trouble::None });
    assert_eq!(project.run(&["add", &base]).code, Some(0));
}

/// Fifty machines restore fifty projects at once.
#[test]
fn fifty_projects_are_restored_at_once() {
    needs!(DockerRegistry);
    let first = project();
    let registry = ContainerRegistry::start(&first, Door::Open);
    let base = registry.at("acme/shared");
    let texts: Vec<(String, String)> = (0..5)
        .map(|number| {
            let name = format!("skill-{number}");
            (format!("skills/{name}/SKILL.md"), skill(&name, "Text."))
        })
        .collect();
    let all: Vec<(&str, &str)> = texts.iter().map(|(path, text)| (&**path, &**text)).collect();
    let from = source(&first, "source", &all);
    publish(&first, &base, &from, &[]);
    assert_eq!(first.run(&["add", &base]).code, Some(0));
    let (manifest, lock) = (first.read("brief.toml"), first.read("brief.lock"));
    let expected = read_tree(&first, ".claude");
    std::thread::scope(|scope| {
        for _ in 0..50 {
            scope.spawn(|| {
                let project = project();
                project.write("brief.toml", &manifest);
                project.write("brief.lock", &lock);
                let output = project.run(&["sync", "--frozen"]);
                assert_eq!(output.code, Some(0), "{output}");
                assert_eq!(read_tree(&project, ".claude"), expected);
            });
        }
    });
}

/// A certificate of an own authority is trusted where `SSL_CERT_FILE` says so, and nowhere else.
#[test]
fn an_own_authority_is_named_by_the_usual_variable() {
    needs!(DockerRegistry);
    let project = project();
    let registry = ContainerRegistry::start(&project, Door::Encrypted);
    let from = source(&project, "source", &[("skills/hello/SKILL.md", &skill("hello", "Hello."))]);
    let target = registry.at("acme/one:v1");
    let output = project.run(&["registry", "publish", &target, "--from", &from]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stderr.contains("set `SSL_CERT_FILE` to trust"), "{output}");
    let file = project.outside_directory().join("authority.pem");
    fs::write(&file, AUTHORITY).unwrap();
    let project = project.with_env("SSL_CERT_FILE", file.to_str().unwrap());
    publish(&project, &target, &from, &[]);
    assert_eq!(project.run(&["add", &target]).code, Some(0));
}
