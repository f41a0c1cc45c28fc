//! `brief add`: short spellings of real repositories, and the newest state of a server.

use std::cell::RefCell;
use std::fs;

use brief_registry::{
    Cache, Checkout, Event, FetchError, GitSource, Latest, Network, SourceAddress, find_newer_tag,
};

use crate::support::Sandbox;

fn parse(sandbox: &Sandbox, text: &str) -> GitSource {
    match SourceAddress::parse_added(text, &sandbox.path(""), &sandbox.system).unwrap() {
        SourceAddress::Git(source) => source,
        other => panic!("{text}: {other} is not a repository"),
    }
}

fn checkout(sandbox: &Sandbox, text: &str) -> Result<Checkout, FetchError> {
    let source = parse(sandbox, text);
    Cache::of_user(&sandbox.system).unwrap().checkout_reference(&source, Network::Online)
}

fn latest(sandbox: &Sandbox, text: &str) -> Result<Latest, FetchError> {
    Cache::of_user(&sandbox.system).unwrap().query_latest(&parse(sandbox, text))
}

/// Creates a bare repository at `path` with two commits: `v1` and `feature/x` are at the first, the annotated
/// `v1.1.0` and `main` at the second.
fn served(sandbox: &Sandbox, path: &str) -> (String, String) {
    let repo = sandbox.repository("work");
    let first = repo.commit(&[("a.md", "1"), ("packages/@acme/x/a.md", "1")]);
    repo.git(&["tag", "v1.0.0"]);
    repo.git(&["branch", "feature/x"]);
    let second = repo.commit(&[("a.md", "2"), ("packages/@acme/x/a.md", "2")]);
    repo.git(&["tag", "-a", "-m", "m", "v1.1.0"]);
    sandbox.git(&["clone", "--quiet", "--bare", "work", path]);
    (first, second)
}

fn lead(sandbox: &Sandbox, from: &str, to: &str) {
    let to = format!("url.file://{}/.insteadOf", sandbox.path(to).display());
    sandbox.user_setting(&to, from);
}

#[test]
fn short_spellings_lead_to_their_host() {
    let sandbox = Sandbox::new();
    let (first, second) = served(&sandbox, "host/o/r.git");
    sandbox.git(&["clone", "--quiet", "--bare", "work", "host/g/s/r.git"]);
    lead(&sandbox, "https://github.com/", "host");
    lead(&sandbox, "https://gitlab.com/", "host");
    lead(&sandbox, "https://bitbucket.org/", "host");
    lead(&sandbox, "git@host.example:", "host");
    for (text, commit) in [
        ("o/r", &second),
        ("o/r@v1.0.0", &first),
        ("o/r@feature/x", &first),
        ("o/r@v1.1.0", &second),
        (&format!("o/r@{first}"), &first),
        ("github:o/r@main", &second),
        ("gitlab:g/s/r@v1.0.0", &first),
        ("bitbucket:o/r@v1.0.0", &first),
        ("git@host.example:g/s/r.git@feature/x", &first),
        ("https://github.com/o/r.git@v1.0.0", &first),
        ("https://github.com/o/r.git?ref=v1.0.0", &first),
        ("https://github.com/o/r/tree/v1.0.0", &first),
        ("https://gitlab.com/g/s/r/-/tree/v1.0.0", &first),
    ] {
        let found = checkout(&sandbox, text).unwrap();
        assert_eq!(&found.commit, commit, "{text}");
        let below = format!("{text}:packages/@acme/x");
        // A web page and a query take no suffix.
        if text.contains("tree") || text.contains('?') {
            continue;
        }
        let found = checkout(&sandbox, &below).unwrap();
        let content = if *commit == first { "1" } else { "2" };
        assert_eq!(fs::read_to_string(found.directory.join("a.md")).unwrap(), content, "{below}");
    }
    let page = "https://github.com/o/r/blob/v1.0.0/packages/@acme/x/a.md";
    let found = checkout(&sandbox, page).unwrap();
    assert!(found.directory.ends_with("packages/@acme/x"));
}

#[test]
fn a_repository_on_this_disk() {
    let sandbox = Sandbox::new();
    let (first, second) = served(&sandbox, "bare.git");
    for (text, commit) in [
        ("./bare.git", &second),
        ("./bare.git@v1.0.0", &first),
        ("./work@feature/x:packages", &first),
        ("work:packages@v1.0.0", &first),
        (&format!("{}@v1.0.0", sandbox.path("work").display()), &first),
        (&format!("file://{}@v1.0.0:packages", sandbox.path("bare.git").display()), &first),
    ] {
        assert_eq!(&checkout(&sandbox, text).unwrap().commit, commit, "{text}");
    }
    let source = SourceAddress::parse_added("./work:packages", &sandbox.path(""), &sandbox.system);
    assert_eq!(source, Ok(SourceAddress::Directory("./work/packages".into())));
    let error =
        SourceAddress::parse_added("./work/packages@v1", &sandbox.path(""), &sandbox.system);
    assert!(error.unwrap_err().to_string().contains("is not a git repository"));
}

#[test]
fn what_a_server_has_by_now() {
    let sandbox = Sandbox::new();
    let (first, second) = served(&sandbox, "bare.git");
    let tags = vec!["v1.0.0".to_owned(), "v1.1.0".to_owned()];
    for (text, commit) in [
        ("./bare.git", &second),
        ("./bare.git@main", &second),
        ("./bare.git@feature/x", &first),
        ("./bare.git@v1.0.0", &first),
        ("./bare.git@v1.1.0", &second),
        (&format!("./bare.git@{first}"), &first),
        (&format!("./bare.git@{}", first.to_uppercase()), &first),
    ] {
        let expected = Latest { commit: commit.clone(), tags: tags.clone() };
        assert_eq!(latest(&sandbox, text).unwrap(), expected, "{text}");
    }
    assert_eq!(find_newer_tag("v1.0.0", &tags), Some("v1.1.0"));
    // Nothing was fetched.
    assert!(sandbox.calls().iter().all(|call| call == "ls-remote"), "{:?}", sandbox.calls());
    assert_eq!(sandbox.calls().len(), 7);

    let error = latest(&sandbox, "./bare.git@gone").unwrap_err();
    assert!(matches!(error, FetchError::ReferenceMissing { .. }), "{error}");
    sandbox.repository("empty");
    let error = latest(&sandbox, "git::./empty").unwrap_err();
    assert!(matches!(error, FetchError::Empty { .. }), "{error}");
    let error = latest(&sandbox, "git::./gone").unwrap_err();
    assert!(matches!(error, FetchError::Git { .. }), "{error}");
}

#[test]
fn this_very_commit_of_a_branch() {
    let sandbox = Sandbox::new();
    let (first, second) = served(&sandbox, "bare.git");
    let source = parse(&sandbox, "./bare.git@main:packages");
    let cache = Cache::of_user(&sandbox.system).unwrap();
    let error = cache.checkout_commit(&source, &first, Network::Offline).unwrap_err();
    assert!(matches!(error, FetchError::NotCached { .. }), "{error}");
    let old = cache.checkout_commit(&source, &first, Network::Online).unwrap();
    assert_eq!(old.commit, first);
    assert_eq!(fs::read_to_string(old.directory.join("@acme/x/a.md")).unwrap(), "1");
    // The branch itself is unmoved, and the result of an earlier run is unchanged.
    let new = cache.checkout_reference(&source, Network::Online).unwrap();
    assert_eq!(new.commit, second);
    sandbox.forget_calls();
    for network in [Network::Online, Network::Offline] {
        let upper = first.to_uppercase();
        assert_eq!(cache.checkout_commit(&source, &upper, network).unwrap(), old);
        assert_eq!(cache.checkout_commit(&source, &second, network).unwrap(), new);
    }
    assert_eq!(sandbox.calls(), Vec::<String>::new());
    assert_eq!(cache.checkout_reference(&source, Network::Offline).unwrap().commit, second);

    for commit in ["main", "", &first[..12], "--upload-pack=id"] {
        let error = cache.checkout_commit(&source, commit, Network::Online).unwrap_err();
        assert!(matches!(error, FetchError::Source(_)), "{commit}: {error}");
    }
    let gone = "0".repeat(40);
    let error = cache.checkout_commit(&source, &gone, Network::Online).unwrap_err();
    assert!(matches!(error, FetchError::ReferenceMissing { .. }), "{error}");
}

/// Old servers serve only the commits of branches and tags.
#[test]
fn a_commit_that_the_server_does_not_hand_out_by_name() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repository("work");
    let first = repo.commit(&[("a.md", "1")]);
    repo.commit(&[("a.md", "2")]);
    sandbox.user_setting("protocol.version", "0");
    let source = parse(&sandbox, "./work@main");
    let cache = Cache::of_user(&sandbox.system).unwrap();
    let found = cache.checkout_commit(&source, &first, Network::Online).unwrap();
    assert_eq!(fs::read_to_string(found.directory.join("a.md")).unwrap(), "1");
}

#[test]
fn who_waits_is_told_what_for() {
    let sandbox = Sandbox::new();
    let (first, second) = served(&sandbox, "bare.git");
    let told = RefCell::new(Vec::new());
    let observer = |event: Event<'_>| {
        told.borrow_mut().push(match event {
            Event::Asking { repository } => format!("ask {repository}"),
            Event::Fetching { repository, commit } => format!("fetch {repository} {commit}"),
            _ => "more".to_owned(),
        });
    };
    let cache = Cache::of_user(&sandbox.system).unwrap().with_observer(&observer);
    let source = parse(&sandbox, "./bare.git@main");
    let shown = source.to_string();
    let (ask, fetch) = (format!("ask {shown}"), |commit| format!("fetch {shown} {commit}"));
    cache.checkout_reference(&source, Network::Online).unwrap();
    assert_eq!(told.take(), [ask.clone(), fetch(&second)]);
    cache.checkout_reference(&source, Network::Online).unwrap();
    assert_eq!(told.take(), [ask.as_str()]);
    cache.query_latest(&source).unwrap();
    assert_eq!(told.take(), [ask]);
    cache.checkout_commit(&source, &first, Network::Online).unwrap();
    assert_eq!(told.take(), [fetch(&first)]);
    cache.checkout_commit(&source, &first, Network::Online).unwrap();
    cache.checkout_reference(&source, Network::Offline).unwrap();
    assert_eq!(told.take(), Vec::<String>::new());
}
