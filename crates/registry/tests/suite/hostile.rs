//! Hostile repositories and sources.

use std::fs;

use brief_registry::{Cache, FetchError, GitSource, Network};

use crate::support::{Sandbox, program, raw};

fn fetch(sandbox: &Sandbox, url: &str, reference: Option<&str>) -> Result<(), FetchError> {
    let source =
        GitSource { url: url.to_owned(), reference: reference.map(str::to_owned), subpath: None };
    Cache::of_user(&sandbox.system).unwrap().checkout_reference(&source, Network::Online).map(drop)
}

/// Sources that bypass `Source::parse` are validated by the same grammar, and git never sees an invalid one.
#[test]
fn options_and_commands_in_disguise() {
    let sandbox = Sandbox::new();
    let mark = sandbox.path("mark");
    let touch = format!("touch {}", mark.display());
    let repo = sandbox.repository("repo");
    repo.commit(&[("a", "1")]);
    for url in [
        format!("--upload-pack={touch}"),
        format!("-c core.sshCommand={touch}"),
        format!("ext::sh -c {touch}"),
        format!("ext::sh% -c% {touch}"),
        format!("ssh://-oProxyCommand={touch}/x"),
        format!("-oProxyCommand={touch}:x"),
        "git://host/repo".to_owned(),
        "http://host/repo".to_owned(),
        "ftp://host/repo".to_owned(),
    ] {
        assert!(matches!(fetch(&sandbox, &url, None), Err(FetchError::Source(_))), "{url}");
    }
    for reference in [
        "--upload-pack=id",
        "-x",
        "a..b",
        "a:b",
        "+refs/heads/main",
        "a\nb",
        "a b",
        "*",
        "@{0}",
        "",
    ] {
        let result = fetch(&sandbox, &repo.address(), Some(reference));
        // A plus sign can be part of a name; it never acts as a refspec's sign.
        let is_refused =
            matches!(result, Err(FetchError::Source(_) | FetchError::ReferenceMissing { .. }));
        assert!(is_refused, "{reference}: {result:?}");
    }
    assert!(!mark.exists());
}

/// The user's own settings may allow this transport for other work.
#[test]
fn a_shorthand_for_a_command_is_not_followed() {
    let sandbox = Sandbox::new();
    let mark = sandbox.path("mark");
    sandbox.user_setting("protocol.ext.allow", "always");
    sandbox.user_setting(
        &format!("url.ext::touch {} %S .insteadOf", mark.display()),
        "https://evil.example/",
    );
    sandbox.user_setting("url.http://127.0.0.1:1/.insteadOf", "https://open.example/");
    for url in ["https://evil.example/repo", "https://open.example/repo"] {
        let error = fetch(&sandbox, url, None).unwrap_err();
        assert!(error.to_string().contains("not allowed"), "{error}");
    }
    assert!(!mark.exists());
}

#[test]
fn nothing_in_a_repository_is_run() {
    let sandbox = Sandbox::new();
    let mark = sandbox.path("mark");
    let touch = format!("touch {}", mark.display());
    let repo = sandbox.repository("repo");
    repo.write(".gitattributes", "* filter=evil diff=evil merge=evil ident text eol=crlf\n");
    repo.write(".gitmodules", "[submodule \"m\"]\n\tpath = m\n\turl = ext::sh\n\tupdate = !id\n");
    repo.write("rules.md", "$Id$\n");
    repo.git(&["add", "--all"]);
    repo.git(&["commit", "--quiet", "-m", "m"]);
    let hooks = sandbox.path("hooks");
    fs::create_dir(&hooks).unwrap();
    for name in ["reference-transaction", "post-checkout", "post-merge", "fsmonitor", "pre-auto-gc"]
    {
        program(&hooks.join(name), &touch);
    }
    // The settings come after the commit, which would run them rightly.
    sandbox.user_setting("core.hooksPath", hooks.to_str().unwrap());
    sandbox.user_setting("core.fsmonitor", hooks.join("fsmonitor").to_str().unwrap());
    sandbox.user_setting("init.templateDir", hooks.to_str().unwrap());
    for key in
        ["filter.evil.smudge", "filter.evil.clean", "filter.evil.process", "diff.evil.textconv"]
    {
        sandbox.user_setting(key, &touch);
    }
    let checkout = sandbox.checkout(&repo.url());
    let commits = checkout.directory.ancestors().nth(3).unwrap().join("commits");
    assert!(!commits.join(&checkout.commit).join("post-checkout").exists());
    // Byte for byte: no `$Id: …$`, no converted line ends.
    assert_eq!(fs::read(checkout.directory.join("rules.md")).unwrap(), b"$Id$\n");
    assert!(!mark.exists());
}

#[test]
fn variables_of_the_caller_do_not_lead_astray() {
    let sandbox = Sandbox::new();
    let git_dir = sandbox.path("mine/.git");
    let text = git_dir.to_str().unwrap();
    let sandbox = sandbox
        .with_env("GIT_DIR", text)
        .with_env("GIT_WORK_TREE", text)
        .with_env("GIT_OBJECT_DIRECTORY", &format!("{text}/objects"))
        .with_env("GIT_DEFAULT_HASH", "sha256");
    sandbox.repository("mine").commit(&[("mine", "1")]);
    let repo = sandbox.repository("repo");
    let commit = repo.commit(&[("a", "1")]);
    let count = || fs::read_dir(git_dir.join("objects")).unwrap().count();
    let before = count();
    assert_eq!(sandbox.checkout(&repo.url()).commit, commit);
    assert_eq!(count(), before);
}

/// A home directory under version control, with the cache in it.
#[test]
fn a_repository_around_the_cache_has_no_say() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repository("repo");
    let commit = repo.commit(&[("a", "1")]);
    sandbox.git(&["init", "--quiet", "home"]);
    let home = format!("--git-dir={}", sandbox.path("home/.git").display());
    sandbox.git(&[&home, "config", "url.file:///nowhere.insteadOf", &repo.address()]);
    assert_eq!(sandbox.checkout(&repo.url()).commit, commit);
}

#[test]
fn names_that_lead_out() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repository("repo");
    let object = repo.object("blob", b"harm");
    let tree = |mode: &str, name: &[u8], object: &str| {
        let mut bytes = format!("{mode} ").into_bytes();
        bytes.extend_from_slice(name);
        bytes.push(0);
        bytes.extend_from_slice(&raw(object));
        repo.object("tree", &bytes)
    };
    let file = tree("100644", b"file", &object);
    let names: [&[u8]; 6] = [b"..", b".git", b".GIT", b".", b"../../x", b"/abs"];
    for name in names {
        repo.commit_tree(&tree("40000", name, &file));
        let error = sandbox.try_checkout(&repo.url(), Network::Online).unwrap_err();
        assert!(matches!(error, FetchError::HostileName { .. }), "{error}");
    }
    assert_eq!(sandbox.staged(), 0);
    assert!(!sandbox.cache().join("file").exists());
}

/// A tree can be made to hold one name as a link and as a directory.
#[test]
fn nothing_is_written_through_a_link() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repository("repo");
    let outside = sandbox.path("outside");
    fs::create_dir(&outside).unwrap();
    let content = repo.object("blob", b"harm");
    let target = repo.object("blob", outside.to_str().unwrap().as_bytes());
    let inside = repo.object("blob", b"real");
    let entry = |bytes: &mut Vec<u8>, mode: &str, name: &str, object: &str| {
        bytes.extend_from_slice(format!("{mode} {name}\0").as_bytes());
        bytes.extend_from_slice(&raw(object));
    };
    let mut below = Vec::new();
    entry(&mut below, "100644", "file", &content);
    let below = repo.object("tree", &below);
    let mut linked = Vec::new();
    entry(&mut linked, "120000", "link", &inside);
    let linked = repo.object("tree", &linked);
    let mut tree = Vec::new();
    entry(&mut tree, "120000", "d", &target);
    entry(&mut tree, "40000", "d", &below);
    entry(&mut tree, "120000", "e", &inside);
    entry(&mut tree, "40000", "e", &linked);
    entry(&mut tree, "40000", "real", &below);
    repo.commit_tree(&repo.object("tree", &tree));
    let checkout = sandbox.checkout(&repo.url());
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    assert_eq!(fs::read(checkout.directory.join("d/file")).unwrap(), b"harm");
    assert!(!checkout.directory.join("real/link").exists());
    assert_eq!(
        checkout.notes,
        [
            "skipped `d`: is a link that points outside the directory",
            "skipped `e/link`: another file has this name",
        ]
    );
}

#[test]
fn a_password_is_seen_by_nobody() {
    let sandbox = Sandbox::new();
    // No server listens on this port.
    let text = "git::https://user:secret%21@127.0.0.1:1/org/repo.git//sub?ref=main";
    let error = sandbox.try_checkout(text, Network::Online).unwrap_err();
    let shown = format!("{error} {error:?}");
    assert!(shown.contains("https://***@127.0.0.1:1/org/repo.git//sub?ref=main"), "{shown}");
    let name = fs::read_dir(sandbox.cache()).unwrap().next().unwrap().unwrap().file_name();
    let name = name.to_str().unwrap();
    assert!(name.starts_with("127.0.0.1-1-org-repo-"), "{name}");
    let arguments = sandbox.arguments().join("\n");
    assert!(arguments.contains("https://127.0.0.1:1/org/repo.git"), "{arguments}");
    for text in [shown.as_str(), name, &arguments] {
        assert!(!text.contains("secret") && !text.contains("user"), "{text}");
    }
    // The setting is passed on, after the user's own ones.
    let sandbox = sandbox.with_env("GIT_CONFIG_COUNT", "1");
    sandbox.try_checkout(text, Network::Online).unwrap_err();
    let env = sandbox.environment();
    let has = |name: &str, value: &str| {
        assert!(env.contains(&(name.to_owned(), value.to_owned())), "{name}");
    };
    has("GIT_CONFIG_COUNT", "3");
    has("GIT_CONFIG_KEY_1", "credential.https://127.0.0.1:1.helper");
    has("GIT_CONFIG_KEY_2", "credential.https://127.0.0.1:1.helper");
    has("BRIEF_GIT_PASSWORD", "secret!");
}

#[test]
fn what_git_says_is_escaped() {
    let sandbox = Sandbox::new();
    let text = format!("git::file://{}%1B[31m", sandbox.path("nowhere").display());
    let error = sandbox.try_checkout(&text, Network::Online).unwrap_err().to_string();
    assert!(!error.contains('\u{1b}'), "{error:?}");
}
