//! Private repositories: a password over HTTP, and ssh.

use std::fs;
use std::path::Path;

use brief_registry::{Cache, FetchError, Network, SourceAddress};

use crate::server::{Door, Server};
use crate::support::{Sandbox, program};

/// `me:hush/hush!` in a header.
const BASIC: &str = "bWU6aHVzaC9odXNoIQ==";

/// The same in a URL.
const LOGIN: &str = "me:hush%2Fhush%21@";

fn latest(sandbox: &Sandbox, text: &str) -> Result<String, FetchError> {
    match SourceAddress::parse_added(text, &sandbox.path(""), &sandbox.system).unwrap() {
        SourceAddress::Git(source) => Cache::of_user(&sandbox.system)
            .unwrap()
            .query_latest(&source)
            .map(|latest| latest.commit),
        other => panic!("{other} is not a repository"),
    }
}

/// A server with one repository, and its commit.
fn served(sandbox: &Sandbox, door: Door) -> (Server, String) {
    let repo = sandbox.repository("work");
    let commit = repo.commit(&[("sub/a.md", "content")]);
    repo.git(&["tag", "v1"]);
    fs::create_dir(sandbox.path("srv")).unwrap();
    sandbox.git(&["clone", "--quiet", "--bare", "work", "srv/repo.git"]);
    (Server::start(sandbox.path("srv"), door), commit)
}

/// Returns the names and contents of all files in the cache.
fn kept(directory: &Path, found: &mut Vec<u8>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        found.extend_from_slice(path.to_str().unwrap().as_bytes());
        if path.is_dir() { kept(&path, found) } else { found.extend(fs::read(&path).unwrap()) }
    }
}

fn assert_kept_nowhere(sandbox: &Sandbox, words: &[&str]) {
    let mut found = Vec::new();
    kept(&sandbox.cache(), &mut found);
    let arguments = sandbox.arguments().join("\n");
    for word in words {
        let bytes = word.as_bytes();
        assert!(!found.windows(bytes.len()).any(|window| window == bytes), "{word}");
        assert!(!arguments.contains(word), "{word}: {arguments}");
    }
}

const SECRETS: [&str; 4] = ["hush", "bWU6aHVz", "me:", "wrong"];

#[test]
fn a_server_on_this_machine_needs_no_encryption() {
    let sandbox = Sandbox::new();
    let (server, commit) = served(&sandbox, Door::Open);
    let checkout = sandbox.checkout(&format!("{}?ref=v1", server.url("", "repo.git//sub")));
    assert_eq!(checkout.commit, commit);
    assert_eq!(fs::read(checkout.directory.join("a.md")).unwrap(), b"content");
    let text = format!("http://localhost:{}/repo.git@{commit}", server.port);
    assert_eq!(latest(&sandbox, &text).unwrap(), commit);
}

#[test]
fn a_password_in_the_address() {
    let sandbox = Sandbox::new();
    let (server, commit) = served(&sandbox, Door::Basic(BASIC));
    // The user's own helper is neither asked nor told.
    let asked = sandbox.path("asked");
    sandbox.user_setting("credential.helper", &format!("!touch {};", asked.display()));
    let checkout = sandbox.checkout(&server.url(LOGIN, "repo.git"));
    assert_eq!(checkout.commit, commit);
    assert_eq!(latest(&sandbox, &server.url(LOGIN, "repo.git@v1")).unwrap(), commit);
    assert!(!asked.exists());
    assert_kept_nowhere(&sandbox, &SECRETS);
}

#[test]
fn a_password_that_the_helper_of_the_user_knows() {
    let sandbox = Sandbox::new();
    let (server, commit) = served(&sandbox, Door::Basic(BASIC));
    let helper = sandbox.path("home/helper");
    program(&helper, "test \"$1\" = get && printf 'username=me\\npassword=hush/hush!\\n'; exit 0");
    sandbox.user_setting("credential.helper", helper.to_str().unwrap());
    for login in ["", "me@"] {
        assert_eq!(sandbox.checkout(&server.url(login, "repo.git")).commit, commit, "{login}");
    }
    assert_kept_nowhere(&sandbox, &SECRETS);
}

#[test]
fn without_the_right_password_the_error_says_so() {
    let sandbox = Sandbox::new();
    let (server, commit) = served(&sandbox, Door::Basic(BASIC));
    for (login, words) in [
        ("", "could not read Username"),
        ("me@", "could not read Password"),
        ("me:wrong-hush@", "Authentication failed"),
    ] {
        for reference in ["v1", &commit] {
            let text = format!("{}?ref={reference}", server.url(login, "repo.git"));
            let error = sandbox.try_checkout(&text, Network::Online).unwrap_err();
            assert!(matches!(error, FetchError::Denied { .. }), "{login}: {error}");
            let shown = format!("{error} {error:?}");
            assert!(shown.contains(words), "{login}: {shown}");
            assert!(shown.contains("does not exist or is not public"), "{shown}");
            assert!(!SECRETS.iter().any(|secret| shown.contains(secret)), "{shown}");
        }
        assert!(matches!(
            latest(&sandbox, &server.url(login, "repo.git")),
            Err(FetchError::Denied { .. })
        ));
    }
    assert_kept_nowhere(&sandbox, &SECRETS);
}

#[test]
fn nobody_is_sent_on_to_another_server() {
    let sandbox = Sandbox::new();
    let (target, _) = served(&sandbox, Door::Basic(BASIC));
    let server = Server::start(sandbox.path("srv"), Door::Elsewhere(target.url("", "")));
    sandbox.user_setting("http.followRedirects", "true");
    let text = server.url(LOGIN, "repo.git");
    let error = sandbox.try_checkout(&text, Network::Online).unwrap_err();
    assert!(matches!(error, FetchError::Git { .. }), "{error}");
    assert!(!server.seen().is_empty());
    assert!(target.seen().is_empty(), "{:?}", target.seen());
}

/// An unencrypted request goes neither through a proxy nor to another machine by the user's settings.
#[test]
fn what_is_not_encrypted_stays_on_the_machine() {
    let sandbox = Sandbox::new();
    let (server, commit) = served(&sandbox, Door::Open);
    let proxy = Server::start(sandbox.path("srv"), Door::Open);
    let proxy_url = format!("http://127.0.0.1:{}", proxy.port);
    sandbox.user_setting("http.proxy", &proxy_url);
    let sandbox = sandbox.with_env("http_proxy", &proxy_url).with_env("all_proxy", &proxy_url);
    assert_eq!(sandbox.checkout(&server.url("", "repo.git")).commit, commit);
    assert!(proxy.seen().is_empty(), "{:?}", proxy.seen());

    let here = server.url("", "");
    sandbox.user_setting("url.http://plain.example/.insteadOf", &here);
    sandbox.forget_calls();
    let error = latest(&sandbox, &server.url(LOGIN, "repo.git")).unwrap_err();
    assert!(error.to_string().contains("the connection is not encrypted"), "{error}");
    let commits = format!("{}?ref={}", server.url(LOGIN, "repo.git"), "0".repeat(40));
    let error = sandbox.try_checkout(&commits, Network::Online).unwrap_err();
    assert!(error.to_string().contains("the connection is not encrypted"), "{error}");
    assert!(sandbox.arguments().iter().filter(|arg| *arg == "ls-remote").count() == 2);
    assert!(!sandbox.arguments().contains(&"fetch".to_owned()));
}

/// A password is for one server, even if another one runs on the same machine.
#[test]
fn a_password_goes_to_its_own_server_only() {
    let sandbox = Sandbox::new();
    let (server, _) = served(&sandbox, Door::Basic(BASIC));
    let other = Server::start(sandbox.path("srv"), Door::Basic(BASIC));
    sandbox.user_setting(&format!("url.{}.insteadOf", other.url("", "")), &server.url("", ""));
    latest(&sandbox, &server.url(LOGIN, "repo.git")).unwrap_err();
    assert!(server.seen().is_empty());
    assert!(!other.seen().is_empty());
    assert!(other.seen().iter().all(Option::is_none), "{:?}", other.seen());
}

/// The user's ssh command; here it is a shell on the same machine.
#[test]
fn ssh_as_the_user_has_it() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repository("work");
    let commit = repo.commit(&[("a.md", "content")]);
    repo.git(&["tag", "v1"]);
    sandbox.git(&["clone", "--quiet", "--bare", "work", "group/repo.git"]);
    let (ssh, log) = (sandbox.path("ssh"), sandbox.path("log"));
    let root = sandbox.path("");
    // The last argument is the command for the remote machine.
    let (root_text, log_text) = (root.display(), log.display());
    let there = "PATH=\"$(git --exec-path):$PATH\"\nfor command; do :; done\neval \"$command\"";
    program(&ssh, &format!("echo \"$@\" >> {log_text}\ncd {root_text}\n{there}"));
    sandbox.user_setting("core.sshCommand", ssh.to_str().unwrap());
    for text in [
        "git@host.example:group/repo.git@v1".to_owned(),
        "git@host.example:group/repo.git".to_owned(),
        format!("ssh://git@host.example:2222{}group/repo.git@v1", root.display()),
    ] {
        let SourceAddress::Git(source) =
            SourceAddress::parse_added(&text, Path::new("/"), &sandbox.system).unwrap()
        else {
            panic!("{text}");
        };
        let cache = Cache::of_user(&sandbox.system).unwrap();
        let checkout = cache.checkout_reference(&source, Network::Online).unwrap();
        assert_eq!(checkout.commit, commit, "{text}");
    }
    let log = fs::read_to_string(log).unwrap();
    assert!(log.contains("git@host.example git-upload-pack 'group/repo.git'"), "{log}");
    assert!(log.contains("-p 2222 git@host.example git-upload-pack"), "{log}");

    program(&ssh, "echo 'git@host.example: Permission denied (publickey).' >&2; exit 255");
    let error = latest(&sandbox, "git@host.example:group/other.git").unwrap_err();
    assert!(matches!(error, FetchError::Denied { .. }), "{error}");
}
