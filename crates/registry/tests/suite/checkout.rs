//! Checkouts of real repositories, made here and read through `file://`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use brief_registry::{Cache, Checkout, FetchError, GitSource, Network, SourceAddress};

use crate::support::{Sandbox, raw};

fn read(checkout: &Checkout, name: &str) -> String {
    fs::read_to_string(checkout.directory.join(name)).unwrap()
}

#[test]
fn what_the_repository_shows_first() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repository("repo");
    let commit = repo.commit(&[("rules/a.md", "a"), ("top.md", "top")]);
    let checkout = sandbox.checkout(&repo.url());
    assert_eq!(checkout.commit, commit);
    assert_eq!(checkout.notes, Vec::<String>::new());
    assert!(checkout.directory.is_absolute());
    assert!(checkout.directory.starts_with(sandbox.cache()));
    assert_eq!(read(&checkout, "rules/a.md"), "a");
    assert_eq!(read(&checkout, "top.md"), "top");
    // A second commit is another directory, and the first one stays.
    let next = repo.commit(&[("top.md", "new")]);
    let second = sandbox.checkout(&repo.url());
    assert_eq!((second.commit.as_str(), read(&second, "top.md").as_str()), (next.as_str(), "new"));
    assert_eq!(read(&checkout, "top.md"), "top");
}

#[test]
fn branches_tags_and_commits() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repository("repo");
    let first = repo.commit(&[("a", "1")]);
    repo.git(&["tag", "light"]);
    repo.git(&["tag", "-a", "-m", "m", "heavy"]);
    repo.git(&["branch", "feature/x"]);
    let second = repo.commit(&[("a", "2")]);
    repo.git(&["branch", "both"]);
    repo.git(&["tag", "both", "light"]);
    for (reference, commit) in [
        ("light", &first),
        ("heavy", &first),
        ("refs/tags/heavy", &first),
        ("tags/light", &first),
        ("feature/x", &first),
        ("heads/feature/x", &first),
        (first.as_str(), &first),
        (&first.to_ascii_uppercase(), &first),
        ("main", &second),
        ("HEAD", &second),
        // gitrevisions(7): tags before branches.
        ("both", &first),
        ("heads/both", &second),
    ] {
        let checkout = sandbox.checkout(&format!("{}?ref={reference}", repo.url()));
        assert_eq!(&checkout.commit, commit, "{reference}");
        assert_eq!(read(&checkout, "a"), if *commit == first { "1" } else { "2" }, "{reference}");
    }
}

#[test]
fn a_bare_repository_and_a_plain_file_url() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repository("repo");
    let commit = repo.commit(&[("a", "1")]);
    sandbox.git(&["clone", "--quiet", "--bare", "repo", "bare.git"]);
    for name in ["repo", "bare.git"] {
        let text = format!("file://{}", sandbox.path(name).display());
        assert_eq!(sandbox.checkout(&text).commit, commit);
    }
    let text = format!("git::{}", sandbox.path("bare.git").display());
    assert_eq!(sandbox.checkout(&text).commit, commit);
}

#[test]
fn a_directory_in_the_repository() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repository("repo");
    repo.commit(&[("sub/dir/a", "a"), ("sub/b", "b"), ("c", "c")]);
    let checkout = sandbox.checkout(&format!("{}//sub/dir?ref=main", repo.url()));
    assert!(checkout.directory.ends_with("sub/dir"));
    assert_eq!(read(&checkout, "a"), "a");
    assert!(!checkout.directory.join("../b").exists());
    // Another directory of the same commit needs no network.
    repo.vanish();
    let offline = sandbox.try_checkout(&format!("{}//sub?ref=main", repo.url()), Network::Offline);
    assert_eq!(read(&offline.unwrap(), "b"), "b");

    let missing = |text: &str| {
        let text = format!("{}//{text}?ref=main", repo.url());
        sandbox.try_checkout(&text, Network::Offline).unwrap_err().to_string()
    };
    assert!(missing("nowhere").contains("no directory `nowhere` in"), "{}", missing("nowhere"));
    assert!(missing("c").contains("no directory `c` in"), "{}", missing("c"));
}

#[test]
fn what_is_not_there() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repository("repo");
    let commit = repo.commit(&[("a", "1")]);
    let error = |text: &str| sandbox.try_checkout(text, Network::Online).unwrap_err();
    let url = repo.url();

    let missing = error(&format!("{url}?ref=gone"));
    assert!(
        matches!(&missing, FetchError::ReferenceMissing { reference, .. } if reference == "gone")
    );
    assert!(missing.to_string().contains("run `git ls-remote` to list them"), "{missing}");
    let short = error(&format!("{url}?ref={}", &commit[..10])).to_string();
    assert!(short.contains("write all digits of a commit"), "{short}");
    let unknown = error(&format!("{url}?ref={}", "0".repeat(40)));
    assert!(matches!(unknown, FetchError::ReferenceMissing { .. }), "{unknown}");

    let nowhere = error(&format!("git::file://{}", sandbox.path("nowhere").display()));
    let text = nowhere.to_string();
    assert!(matches!(nowhere, FetchError::Git { .. }), "{text}");
    assert!(text.contains("does not appear to be a git repository"), "{text}");

    let empty = sandbox.repository("empty");
    assert!(matches!(error(&empty.url()), FetchError::Empty { .. }));
    assert_eq!(sandbox.staged(), 0);
}

#[test]
fn shorthands_of_the_user() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repository("org/repo.git");
    let commit = repo.commit(&[("a", "1")]);
    sandbox.user_setting(
        &format!("url.file://{}/.insteadOf", sandbox.path("org").display()),
        "https://github.com/org/",
    );
    sandbox
        .user_setting(&format!("url.file://{}/.insteadOf", sandbox.path("org").display()), "mine:");
    for text in ["https://github.com/org/repo.git", "github.com/org/repo", "git::mine:repo.git"] {
        assert_eq!(sandbox.checkout(text).commit, commit, "{text}");
    }
}

#[test]
fn a_commit_is_fetched_once() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repository("repo");
    let commit = repo.commit(&[("a", "1")]);
    let text = format!("{}?ref={commit}", repo.url());
    let first = sandbox.checkout(&text);
    repo.vanish();
    sandbox.forget_calls();
    assert_eq!(sandbox.checkout(&text), first);
    assert_eq!(sandbox.calls(), Vec::<String>::new());
}

/// The cache is empty, so the default branch is fetched without a request for its commit.
#[test]
fn the_first_time_the_server_is_asked_once() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repository("repo");
    let commit = repo.commit(&[("a", "1")]);
    assert_eq!(sandbox.checkout(&repo.url()).commit, commit);
    assert_eq!(sandbox.calls().first().map(String::as_str), Some("fetch"));
    assert!(!sandbox.calls().contains(&"ls-remote".to_owned()), "{:?}", sandbox.calls());
}

#[test]
fn a_branch_that_did_not_move_is_not_fetched_again() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repository("repo");
    repo.commit(&[("a", "1")]);
    let first = sandbox.checkout(&repo.url());
    sandbox.forget_calls();
    assert_eq!(sandbox.checkout(&repo.url()), first);
    assert_eq!(sandbox.calls(), ["ls-remote"]);
}

#[test]
fn offline_only_what_is_there() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repository("repo");
    let old = repo.commit(&[("a", "1")]);
    let branch = format!("{}?ref=main", repo.url());
    let error = sandbox.try_checkout(&branch, Network::Offline).unwrap_err();
    assert!(matches!(error, FetchError::NotCached { .. }), "{error}");
    let first = sandbox.checkout(&branch);
    let new = repo.commit(&[("a", "2")]);
    sandbox.forget_calls();
    assert_eq!(sandbox.try_checkout(&branch, Network::Offline).unwrap(), first);
    assert_eq!(sandbox.calls(), Vec::<String>::new());
    let commit = |commit: &str| format!("{}?ref={commit}", repo.url());
    assert_eq!(sandbox.try_checkout(&commit(&old), Network::Offline).unwrap().commit, old);
    let error = sandbox.try_checkout(&commit(&new), Network::Offline).unwrap_err();
    assert!(matches!(error, FetchError::NotCached { .. }), "{error}");
    // Another reference was not looked up, even if it leads to the same commit.
    let error = sandbox.try_checkout(&repo.url(), Network::Offline).unwrap_err();
    assert!(matches!(error, FetchError::NotCached { .. }), "{error}");
}

#[test]
fn without_the_network_an_earlier_commit_does() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repository("repo");
    let commit = repo.commit(&[("a", "1")]);
    let first = sandbox.checkout(&repo.url());
    repo.vanish();
    let second = sandbox.try_checkout(&repo.url(), Network::Online).unwrap();
    assert_eq!((&second.commit, &second.directory), (&commit, &first.directory));
    let note = &second.notes[0];
    assert!(note.contains("git cannot read"), "{note}");
    assert!(note.ends_with(&format!("; using commit {} from an earlier run", &commit[..12])));
}

#[test]
fn a_tag_that_was_removed_is_gone() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repository("repo");
    repo.commit(&[("a", "1")]);
    repo.git(&["tag", "v1"]);
    let text = format!("{}?ref=v1", repo.url());
    sandbox.checkout(&text);
    repo.git(&["tag", "-d", "v1"]);
    let error = sandbox.try_checkout(&text, Network::Online).unwrap_err();
    assert!(matches!(error, FetchError::ReferenceMissing { .. }), "{error}");
}

/// Old servers serve only the commits of branches and tags.
#[test]
fn a_commit_that_the_server_does_not_hand_out_by_name() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repository("repo");
    let old = repo.commit(&[("a", "1")]);
    repo.commit(&[("a", "2")]);
    sandbox.user_setting("protocol.version", "0");
    let checkout = sandbox.checkout(&format!("{}?ref={old}", repo.url()));
    assert_eq!((checkout.commit.as_str(), read(&checkout, "a").as_str()), (old.as_str(), "1"));
    assert_eq!(sandbox.calls().iter().filter(|call| *call == "fetch").count(), 2);
}

#[test]
fn one_commit_is_fetched_and_not_its_history() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repository("repo");
    repo.commit(&[("a", "1")]);
    let old = repo.commit(&[("a", "2")]);
    repo.commit(&[("a", "3")]);
    for reference in ["main", &old] {
        let checkout = sandbox.checkout(&format!("{}?ref={reference}", repo.url()));
        let repository = checkout.directory.ancestors().nth(3).unwrap().join("commits");
        let repository = repository.join(&checkout.commit);
        let count = sandbox.git(&[
            &format!("--git-dir={}", repository.display()),
            "rev-list",
            "--count",
            &checkout.commit,
        ]);
        assert_eq!(count, "1");
    }
}

#[test]
fn programs_and_links() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repository("repo");
    repo.write("bin/run", "#!/bin/sh\n");
    fs::set_permissions(repo.path().join("bin/run"), fs::Permissions::from_mode(0o755)).unwrap();
    repo.link("docs/alias.md", "../top.md");
    repo.link("absolute", "/etc/passwd");
    repo.link("docs/climbing", "../../outside");
    repo.link("here", ".");
    // `up` leads to the top, so a path back from it leads out.
    repo.link("docs/up", "..");
    repo.link("docs/crooked", "up/../secret");
    repo.link("only/links/in", "../../top.md");
    repo.commit(&[("top.md", "top")]);
    let checkout = sandbox.checkout(&repo.url());
    let mode = |name: &str| {
        fs::metadata(checkout.directory.join(name)).unwrap().permissions().mode() & 0o100
    };
    assert_eq!((mode("bin/run"), mode("top.md")), (0o100, 0));
    assert_eq!(
        fs::read_link(checkout.directory.join("docs/alias.md")).unwrap(),
        Path::new("../top.md")
    );
    assert_eq!(read(&checkout, "docs/alias.md"), "top");
    assert_eq!(read(&checkout, "only/links/in"), "top");
    assert_eq!(read(&checkout, "here/top.md"), "top");
    let reason = "is a link that points outside the directory";
    let expected = ["absolute", "docs/climbing", "docs/crooked"]
        .map(|name| format!("skipped `{name}`: {reason}"));
    assert_eq!(checkout.notes, expected);
    for name in ["absolute", "docs/climbing", "docs/crooked"] {
        assert!(fs::symlink_metadata(checkout.directory.join(name)).is_err(), "{name}");
    }
    // The notes are repeated when no file is written any more.
    assert_eq!(sandbox.checkout(&repo.url()), checkout);

    // Inside a directory of the repository, that directory is the limit.
    let below = sandbox.checkout(&format!("{}//docs", repo.url()));
    assert_eq!(
        below.notes,
        ["alias.md", "climbing", "crooked", "up"].map(|name| format!("skipped `{name}`: {reason}"))
    );
}

#[test]
fn submodules_and_large_files_are_left_out() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repository("repo");
    let first = repo.commit(&[("a", "1")]);
    repo.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{first},module")]);
    repo.write("large", &"x".repeat(16 * 1024 * 1024 + 1));
    repo.write("fits", &"x".repeat(16 * 1024 * 1024));
    repo.git(&["add", "large", "fits"]);
    repo.git(&["commit", "--quiet", "-m", "m"]);
    let checkout = sandbox.checkout(&repo.url());
    assert_eq!(
        checkout.notes,
        [
            "skipped `large`: is larger than 16777216 bytes",
            "skipped `module`: is a submodule, which brief does not fetch",
        ]
    );
    assert_eq!(fs::metadata(checkout.directory.join("fits")).unwrap().len(), 16 * 1024 * 1024);
    assert_eq!(fs::read_dir(&checkout.directory).unwrap().count(), 2);
}

/// U72: the limit is for files that are read; in a repository with more files those are guidance.
#[test]
fn of_too_many_files_guidance_is_read() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repository("repo");
    let object = repo.object("blob", b"x");
    let tree = |count: usize, ending: &str, directory: Option<(&str, &str)>| {
        let mut bytes = Vec::new();
        for index in 0..count {
            bytes.extend_from_slice(format!("100644 {index:06}{ending}\0").as_bytes());
            bytes.extend_from_slice(&raw(&object));
        }
        if let Some((name, tree)) = directory {
            bytes.extend_from_slice(format!("40000 {name}\0").as_bytes());
            bytes.extend_from_slice(&raw(tree));
        }
        repo.object("tree", &bytes)
    };
    repo.commit_tree(&tree(10_000, "", None));
    let checkout = sandbox.checkout(&repo.url());
    assert_eq!(fs::read_dir(&checkout.directory).unwrap().count(), 10_000);
    assert!(checkout.notes.is_empty());

    let mut skill = b"100644 SKILL.md\0".to_vec();
    skill.extend_from_slice(&raw(&object));
    skill.extend_from_slice(b"100644 list.txt\0");
    skill.extend_from_slice(&raw(&object));
    let skill = repo.object("tree", &skill);
    let skills = tree(0, "", Some(("pdf", &skill)));
    repo.commit_tree(&tree(10_001, "", Some(("skills", &skills))));
    let checkout = sandbox.checkout(&repo.url());
    assert_eq!(fs::read_dir(&checkout.directory).unwrap().count(), 1);
    assert!(checkout.directory.join("skills/pdf/list.txt").is_file());
    let note = "is large: brief reads only the 2 guidance files of 10,003";
    assert_eq!(checkout.notes, [note]);

    repo.commit_tree(&tree(50_001, ".mdc", None));
    let error = sandbox.try_checkout(&repo.url(), Network::Online).unwrap_err();
    assert!(matches!(error, FetchError::TooLarge { limit: 50_000, unit: "files", .. }), "{error}");
    assert_eq!(sandbox.staged(), 0);
}

#[test]
fn names_that_are_not_text() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repository("repo");
    let object = repo.object("blob", b"content");
    let mut tree = b"100644 a\nb\t\xff\0".to_vec();
    tree.extend_from_slice(&raw(&object));
    repo.commit_tree(&repo.object("tree", &tree));
    let checkout = sandbox.checkout(&repo.url());
    let entry = fs::read_dir(&checkout.directory).unwrap().next().unwrap().unwrap();
    assert_eq!(
        std::os::unix::ffi::OsStrExt::as_bytes(entry.file_name().as_os_str()),
        b"a\nb\t\xff"
    );
}

#[test]
fn a_damaged_repository_in_the_cache_is_fetched_again() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repository("repo");
    let commit = repo.commit(&[("sub/a", "1")]);
    let text = format!("{}?ref={commit}", repo.url());
    let checkout = sandbox.checkout(&text);
    let commits = checkout.directory.ancestors().nth(3).unwrap().join("commits");
    fs::remove_dir_all(commits.join(&commit).join("objects")).unwrap();
    let text = format!("{}//sub?ref={commit}", repo.url());
    let error = sandbox.try_checkout(&text, Network::Offline).unwrap_err();
    assert!(matches!(error, FetchError::Git { .. }), "{error}");
    assert_eq!(read(&sandbox.checkout(&text), "a"), "1");
}

#[test]
fn a_git_that_always_fails_takes_nothing_away() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repository("repo");
    repo.commit(&[("sub/a", "1")]);
    let first = sandbox.checkout(&repo.url());
    let settings = sandbox.path("home/gitconfig");
    fs::write(&settings, "[broken").unwrap();
    let second = sandbox.checkout(&repo.url());
    assert_eq!((&second.directory, second.notes.len()), (&first.directory, 1));
    let text = format!("{}//sub", repo.url());
    sandbox.try_checkout(&text, Network::Online).unwrap_err();
    sandbox.try_checkout(&text, Network::Offline).unwrap_err();
    fs::write(&settings, "").unwrap();
    repo.vanish();
    assert_eq!(read(&sandbox.try_checkout(&text, Network::Offline).unwrap(), "a"), "1");
}

#[test]
fn repositories_of_the_other_hash() {
    let sandbox = Sandbox::new();
    sandbox.git(&["init", "--quiet", "--object-format=sha256", "long"]);
    let repo = sandbox.repository("long");
    let commit = repo.commit(&[("a", "1")]);
    assert_eq!(commit.len(), 64);
    for text in [repo.url(), format!("{}?ref={commit}", repo.url())] {
        let checkout = sandbox.checkout(&text);
        assert_eq!((&checkout.commit, read(&checkout, "a").as_str()), (&commit, "1"));
    }
}

#[test]
fn many_at_once_get_the_same() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repository("repo");
    let files: Vec<(String, String)> =
        (0..200).map(|index| (format!("d{}/f{index}", index % 7), index.to_string())).collect();
    let files: Vec<(&str, &str)> =
        files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let commit = repo.commit(&files);
    let text = format!("{}?ref=main", repo.url());
    let checkouts: Vec<Checkout> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| sandbox.checkout(&text))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for checkout in &checkouts {
        assert_eq!(checkout, &checkouts[0]);
        assert_eq!(checkout.commit, commit);
    }
    for (name, content) in files {
        assert_eq!(read(&checkouts[0], name), content);
    }
    assert_eq!(sandbox.staged(), 0);
}

#[test]
fn what_killed_runs_have_left_is_cleared_away() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repository("repo");
    repo.commit(&[("a", "1")]);
    let checkout = sandbox.checkout(&repo.url());
    let place = checkout.directory.ancestors().nth(3).unwrap();
    let (left, at_work) = (place.join(".brief-left"), place.join(".brief-at-work"));
    for path in [&left, &at_work] {
        fs::create_dir_all(path.join("tree")).unwrap();
    }
    // A living run holds a lock.
    let held = fs::File::open(&at_work).unwrap();
    held.lock().unwrap();
    sandbox.checkout(&repo.url());
    assert_eq!((left.exists(), at_work.exists()), (false, true));
    // Not merely closed: a process that another test is just starting still has a copy.
    held.unlock().unwrap();
    sandbox.checkout(&repo.url());
    assert!(!at_work.exists());
}

#[test]
fn without_git_the_error_says_so() {
    let sandbox = Sandbox::new().without_git();
    let error = sandbox.try_checkout("git::https://h/r", Network::Online).unwrap_err();
    assert!(matches!(error, FetchError::GitMissing { .. }), "{error}");
}

#[test]
fn the_cache_of_the_user() {
    let sandbox = Sandbox::new();
    let source = GitSource { url: "https://h/r".into(), reference: None, subpath: None };
    let cache = Cache::of_user(&sandbox.system).unwrap();
    assert!(matches!(
        cache.checkout_reference(&source, Network::Offline),
        Err(FetchError::NotCached { .. })
    ));
    // A lookup leaves nothing behind.
    assert!(!sandbox.cache().exists());
    let system = brief_system::MemorySystem::new("/p").with_env("HOME", "not/absolute");
    assert!(Cache::of_user(&system).is_none());
    let directory = SourceAddress::parse("rules", Path::new("/p"), &system).unwrap();
    assert_eq!(directory, SourceAddress::Directory("rules".into()));
}
