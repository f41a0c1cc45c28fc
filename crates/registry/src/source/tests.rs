//! Every spelling of a source, as a table.

use brief_system::MemorySystem;

use super::*;

fn parse(text: &str) -> Result<SourceAddress, SourceError> {
    let system = MemorySystem::new("/p")
        .with_dir("/p/github.com/mine/here")
        .with_dir("/p/me@host:dir")
        .with_dir("/srv/repo/.git")
        .with_file("/bare/HEAD", "")
        .with_dir("/bare/objects")
        .with_dir("/bare/refs")
        .with_dir("/plain dir/sub");
    SourceAddress::parse(text, Path::new("/p"), &system)
}

#[test]
fn spellings_of_repositories() {
    for (text, url, subpath, reference) in [
        ("git::https://h/r.git", "https://h/r.git", None, None),
        ("git::https://h/r.git//sub?ref=v1", "https://h/r.git", Some("sub"), Some("v1")),
        ("git::https://h/r.git?ref=v1//a/b/", "https://h/r.git", Some("a/b"), Some("v1")),
        ("git::file:///p/repo?ref=v1//sub", "file:///p/repo", Some("sub"), Some("v1")),
        ("git::ssh://git@h:22/org/r.git?ref=a%2Fb", "ssh://git@h:22/org/r.git", None, Some("a/b")),
        ("git::git@host:org/repo.git", "git@host:org/repo.git", None, None),
        ("git::gh:org/repo", "gh:org/repo", None, None),
        ("git@host:org/repo.git//sub?ref=x", "git@host:org/repo.git", Some("sub"), Some("x")),
        ("https://h/org/repo", "https://h/org/repo", None, None),
        ("https://h/repo?depth=1&ref=main", "https://h/repo", None, Some("main")),
        ("HTTPS://h/repo", "HTTPS://h/repo", None, None),
        ("git::https://h/odd.zip", "https://h/odd.zip", None, None),
        ("ssh://h/repo//s%20p", "ssh://h/repo", Some("s p"), None),
        ("github.com/org/repo", "https://github.com/org/repo.git", None, None),
        (
            "github.com/org/repo.git//x?ref=1",
            "https://github.com/org/repo.git",
            Some("x"),
            Some("1"),
        ),
        ("git::github.com/mine/here", "https://github.com/mine/here.git", None, None),
        ("gitlab.com/a/b/c", "https://gitlab.com/a/b/c.git", None, None),
        ("bitbucket.org/a/b", "https://bitbucket.org/a/b.git", None, None),
        ("git::/abs/re%po//sub", "file:///abs/re%25po", Some("sub"), None),
        ("git::../near", "file:///p/../near", None, None),
        ("file:///srv/repo", "file:///srv/repo", None, None),
        ("file:///srv/repo//sub?ref=v1", "file:///srv/repo", Some("sub"), Some("v1")),
        ("file://localhost/bare", "file://localhost/bare", None, None),
        ("http://127.0.0.1:8080/r", "http://127.0.0.1:8080/r", None, None),
        ("git::http://u:p@localhost/r", "http://u:p@localhost/r", None, None),
        ("https://u:p@h/r//s", "https://u:p@h/r", Some("s"), None),
    ] {
        let expected = GitSource {
            url: url.to_owned(),
            subpath: subpath.map(str::to_owned),
            reference: reference.map(str::to_owned),
        };
        assert_eq!(parse(text), Ok(SourceAddress::Git(expected)), "{text}");
    }
}

#[test]
fn spellings_of_directories() {
    for (text, path) in [
        (".", "."),
        ("dir/sub", "dir/sub"),
        ("/abs", "/abs"),
        ("~/rules", "~/rules"),
        ("./git::https://h/r", "./git::https://h/r"),
        ("github.com/mine/here", "github.com/mine/here"),
        ("github.computer/a/b", "github.computer/a/b"),
        ("me@host:dir", "me@host:dir"),
        ("a:b", "a:b"),
        ("C:\\rules", "C:\\rules"),
        ("file:///plain%20dir", "/plain dir"),
        ("file:///plain dir//sub", "/plain dir/sub"),
        ("file:///gone", "/gone"),
    ] {
        assert_eq!(parse(text), Ok(SourceAddress::Directory(path.into())), "{text}");
    }
}

#[test]
fn what_is_refused_says_the_way_out() {
    for (text, message) in [
        ("", "name a directory"),
        ("https://h/rules.zip", "unpack it and use the directory"),
        ("https://h/rules.TAR.GZ//x?ref=1", "is an archive"),
        ("s3::https://bucket/x", "`s3::` is not supported; download it"),
        ("gcs::https://bucket/x", "`gcs::` is not supported"),
        ("hg::https://h/x", "`hg::` is not supported; use a git mirror"),
        ("http::https://h/x", "`http::` is not supported; write `git::https://…`"),
        ("http://h/x", "the connection is not encrypted; write `https://…`"),
        ("git::http://h/x", "`http://` is not supported"),
        ("git://h/x", "`git://` is not supported; git cannot verify the server"),
        ("ext::sh -c id", "`ext::` is not supported; this scheme runs a command"),
        ("git::ext::sh -c id", "`ext::` is not supported; this scheme runs a command"),
        ("git+https://h/x", "write `git::` instead of `git+`"),
        ("ftp://h/x", "`ftp://` is not supported"),
        ("git::--upload-pack=id", "starts with `-`"),
        ("git::-u:x", "starts with `-`"),
        ("git::ssh://-oProxyCommand=id/x", "has an invalid host"),
        ("git::ssh://-l@host/x", "takes a user name"),
        ("git::-oProxyCommand@host:x", "starts with `-`"),
        ("git::host:-x", "has no repository path"),
        ("git::word", "neither a URL nor `user@host:path`"),
        ("git::https://h/r?ref=-x", "starts with `-`"),
        ("git::https://h/r?ref=", "is empty"),
        ("git::https://h/r?ref=a..b", "`..`"),
        ("git::https://h/r?ref=a%0Ab", "control character"),
        ("git::https://h/r?ref=a:b", "one of `~^:?*[\\`"),
        ("git::https://h/r?ref=a/.b", "starts or ends with `.`"),
        ("git::https://h/r?ref=%zz", "write a literal `%` as `%25`"),
        ("git::https://h/r//a/../b", "contains `.` or `..`"),
        ("git::https://h/r//.GIT/x", "points into `.git`"),
        ("git::https://h/r//a//b", "empty name"),
        ("git::https://h/r//a?ref=x//b", "`//` twice"),
        ("git::https://h/r#v1", "write a version as `?ref=…`"),
        ("git::https://h/", "has no repository path"),
        ("git::https:///r", "has an invalid host"),
        ("github.com/org/repo/tree/main", "and `//` before a directory in"),
        ("github.com/org", "`host/organization/name`"),
        ("file://host/x", "write `file:///absolute/path`"),
        ("file:///plain dir?ref=v1", "so it has no versions"),
        ("git::ssh://u:secret@h/r", "contains a password"),
        ("git::https://h/r?sshkey=secret", "unknown parameter `sshkey`"),
        ("git::https://u:se/secret@h/r", "in a password as `%2F`"),
        ("git::https://u:se?secret@h/r", "in a password as `%2F`"),
        ("git::https://se?secret@h/r", "has no repository path"),
        ("git::https://u:%0Asecret@h/r", "not valid in a URL"),
        ("http://u:secret@h/x", "not encrypted"),
    ] {
        let error = parse(text).unwrap_err();
        assert!(error.to_string().contains(message), "{text}: {error}");
        assert!(!format!("{error}{error:?}").contains("secret"), "{text}: {error}");
    }
}

#[test]
fn a_password_is_neither_shown_nor_part_of_the_address() {
    let Ok(SourceAddress::Git(source)) = parse("git::https://user:secret@h/r.git//sub?ref=v1")
    else {
        panic!("it is a repository");
    };
    assert_eq!(source.to_string(), "https://***@h/r.git//sub?ref=v1");
    assert_eq!(format!("{source:?}"), "GitSource(https://***@h/r.git//sub?ref=v1)");
    assert_eq!(source.address().unwrap(), "https://h/r.git");
}

#[test]
fn any_text_is_a_source_or_an_error() {
    arbtest::arbtest(|input| {
        let pieces =
            ["git::", "https://", "file://", "h", "/", "//", "?ref=", "@", ":", "%", "é", "-"];
        let mut text = String::new();
        for _ in 0..input.int_in_range(0..=8)? {
            text.push_str(input.choose(&pieces)?);
        }
        if let Ok(SourceAddress::Git(source)) = parse(&text) {
            assert!(source.check().is_ok(), "{text}");
        }
        Ok(())
    });
}
