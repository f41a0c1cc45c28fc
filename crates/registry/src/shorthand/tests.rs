//! Every spelling that `brief add` takes, as a table.

use brief_system::MemorySystem;

use super::*;

fn parse(text: &str) -> Result<SourceAddress, SourceError> {
    let system = MemorySystem::new("/p")
        .with_dir("/p/mine/here/sub")
        .with_dir("/p/guidance")
        .with_dir("/p/plain/sub")
        .with_dir("/p/odd@v1:x")
        .with_dir("/p/me@host:dir")
        .with_dir("/p/at@home/repo/.git")
        .with_dir("/p/repo/.git")
        .with_dir("/p/repo/sub")
        .with_dir("/p/github")
        .with_file("/p/bare.git/HEAD", "")
        .with_dir("/p/bare.git/objects")
        .with_dir("/p/bare.git/refs")
        .with_dir("/srv/re po/.git")
        .with_dir("/plain dir/sub");
    SourceAddress::parse_added(text, Path::new("/p"), &system)
}

fn git(url: &str, reference: &str, subpath: &str) -> SourceAddress {
    let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    SourceAddress::Git(GitSource {
        url: url.to_owned(),
        reference: some(reference),
        subpath: some(subpath),
    })
}

#[test]
fn spellings_of_repositories() {
    let github = "https://github.com/o/r.git";
    for (text, url, reference, subpath) in [
        ("o/r", github, "", ""),
        ("o/r.git", github, "", ""),
        ("o/r/", github, "", ""),
        ("o/.github", "https://github.com/o/.github.git", "", ""),
        ("o/r@v1", github, "v1", ""),
        ("o/r@feature/x", github, "feature/x", ""),
        ("o/r:a/b/", github, "", "a/b"),
        ("o/r@v1:a/b", github, "v1", "a/b"),
        ("o/r:a/b@v1", github, "v1", "a/b"),
        ("o/r@feature/x:a", github, "feature/x", "a"),
        ("o/r:a@feature/x", github, "feature/x", "a"),
        ("o/r:packages/@acme/x", github, "", "packages/@acme/x"),
        ("o/r:@acme/x@v1", github, "v1", "@acme/x"),
        ("o/r@@acme/x@1.0.0:a@b", github, "@acme/x@1.0.0", "a@b"),
        ("o/r?ref=v1", github, "v1", ""),
        ("o/r//a/b?ref=v1", github, "v1", "a/b"),
        ("o/r@v1//a", github, "v1", "a"),
        ("github:o/r", github, "", ""),
        ("GitHub:o/r.git@v1:a", github, "v1", "a"),
        ("gitlab:g/s/t/r@v1:a", "https://gitlab.com/g/s/t/r.git", "v1", "a"),
        ("gitlab:g/r", "https://gitlab.com/g/r.git", "", ""),
        ("bitbucket:o/r:a", "https://bitbucket.org/o/r.git", "", "a"),
        ("github.com/o/r@v1:a", github, "v1", "a"),
        ("github.com/o/r/tree/main/a", github, "main", "a"),
        ("git::o/r@v1", github, "v1", ""),
        ("git::gh:o/r@v1", "gh:o/r", "v1", ""),
        ("git::github:o/r", "github:o/r", "", ""),
        ("https://h/r.git@v1:a b", "https://h/r.git", "v1", "a b"),
        ("https://h:8443/r.git:a@v1", "https://h:8443/r.git", "v1", "a"),
        ("https://u:p@h/r@v1", "https://u:p@h/r", "v1", ""),
        ("https://h/r//a?ref=v1", "https://h/r", "v1", "a"),
        ("https://h/@scope/r", "https://h/@scope/r", "", ""),
        ("https://github.com/o/r/", "https://github.com/o/r", "", ""),
        ("git::https://h/odd.zip@v1", "https://h/odd.zip", "v1", ""),
        ("ssh://git@h:2222/g/r.git@v1:a", "ssh://git@h:2222/g/r.git", "v1", "a"),
        ("ssh://git@h/g/r.git", "ssh://git@h/g/r.git", "", ""),
        ("ssh://git@h/g/r/tree/x", "ssh://git@h/g/r/tree/x", "", ""),
        ("git@host:g/r.git@v1:content/x", "git@host:g/r.git", "v1", "content/x"),
        ("git@host:g/r.git:content/x@v1", "git@host:g/r.git", "v1", "content/x"),
        ("git@host:g/r.git", "git@host:g/r.git", "", ""),
        ("git@host:g/r.git//a?ref=v1", "git@host:g/r.git", "v1", "a"),
        ("http://127.0.0.1:80/r@v1", "http://127.0.0.1:80/r", "v1", ""),
        ("http://[::1]:80/r:a", "http://[::1]:80/r", "", "a"),
        ("http://localhost/r", "http://localhost/r", "", ""),
        ("./repo@v1", "file:///p/repo", "v1", ""),
        ("./repo@v1:sub", "file:///p/repo", "v1", "sub"),
        ("repo:sub@v1", "file:///p/repo", "v1", "sub"),
        ("../p/repo@v1", "file:///p/repo", "v1", ""),
        ("/p/repo@v1", "file:///p/repo", "v1", ""),
        ("./at@home/repo@v1", "file:///p/at@home/repo", "v1", ""),
        ("./bare.git", "file:///p/bare.git", "", ""),
        ("./bare.git:sub", "file:///p/bare.git", "", "sub"),
        ("git::./repo", "file:///p/repo", "", ""),
        ("git::/gone@v1:sub", "file:///gone", "v1", "sub"),
        ("git::/gone//sub?ref=v1", "file:///gone", "v1", "sub"),
        ("file:///p/repo@v1:sub", "file:///p/repo", "v1", "sub"),
        ("file:///srv/re%20po:sub", "file:///srv/re%20po", "", "sub"),
        ("file:///p/repo//sub?ref=v1", "file:///p/repo", "v1", "sub"),
        ("git::file:///gone@v1", "file:///gone", "v1", ""),
    ] {
        assert_eq!(parse(text), Ok(git(url, reference, subpath)), "{text}");
    }
}

#[test]
fn addresses_of_pages() {
    let github = "https://github.com/o/r.git";
    for (text, url, reference, subpath) in [
        ("https://github.com/o/r/tree/main", github, "main", ""),
        ("https://github.com/o/r/tree/main/skills/x/", github, "main", "skills/x"),
        ("https://github.com/o/r.git/tree/v1/a%20b", github, "v1", "a b"),
        ("https://github.com/o/r/blob/main/skills/x/SKILL.md", github, "main", "skills/x"),
        ("https://github.com/o/r/blob/main/README.md?plain=1#L3", github, "main", ""),
        ("https://github.com/o/r/blob/main/skills/x", github, "main", "skills/x"),
        ("https://github.com/o/r/tree/x@1.0/@acme/y", github, "x@1.0", "@acme/y"),
        ("https://github.com/o/r/tree/feature%2Fx/a", github, "feature/x", "a"),
        (
            "https://gitlab.com/g/s/r/-/tree/main/x?ref_type=heads",
            "https://gitlab.com/g/s/r.git",
            "main",
            "x",
        ),
        (
            "https://u:p@git.example.com/g/r/-/blob/main/x/y.md",
            "https://u:p@git.example.com/g/r.git",
            "main",
            "x",
        ),
        ("https://bitbucket.org/o/r/src/main/x/", "https://bitbucket.org/o/r.git", "main", "x"),
        ("https://codeberg.org/o/r/src/tag/v1/x", "https://codeberg.org/o/r.git", "v1", "x"),
    ] {
        assert_eq!(parse(text), Ok(git(url, reference, subpath)), "{text}");
    }
}

#[test]
fn spellings_of_directories() {
    for (text, path) in [
        (".", "."),
        ("mine/here", "mine/here"),
        ("mine/here:sub", "mine/here/sub"),
        ("guidance", "guidance"),
        ("guidance/", "guidance/"),
        ("repo", "repo"),
        ("./repo", "./repo"),
        ("./repo:sub", "./repo/sub"),
        ("./plain:sub", "./plain/sub"),
        ("./odd@v1:x", "./odd@v1:x"),
        ("odd@v1:x", "odd@v1:x"),
        ("me@host:dir", "me@host:dir"),
        ("./gone", "./gone"),
        ("./gone@v1", "./gone@v1"),
        ("~/gone", "~/gone"),
        ("C:\\rules", "C:\\rules"),
        ("C:/rules", "C:/rules"),
        ("rules\\mine", "rules\\mine"),
        ("file:///plain%20dir:sub", "/plain dir/sub"),
        ("file:///gone", "/gone"),
    ] {
        assert_eq!(parse(text), Ok(SourceAddress::Directory(path.into())), "{text}");
    }
}

#[test]
fn what_is_refused_says_the_way_out() {
    for (text, message) in [
        ("", "name a directory"),
        ("  ", "name a directory"),
        ("word", "write `./word` for a directory, or `owner/word` for a repository"),
        ("word@v1", "directory not found: `word@v1`"),
        ("a/b/c", "and `:` before a directory in"),
        ("github:o", "write `owner/repo`"),
        ("github:o/r/x", "and `:` before a directory in"),
        ("github:", "write `owner/repo`"),
        ("github:/o/r", "and `:` before a directory in"),
        ("github:o/", "write `owner/repo`"),
        ("gitlab:g", "write `group/repo`"),
        ("gitlab:g//r", "write `group/repo`"),
        ("codeberg:o/r", "has an unknown host before `:`"),
        ("o/..", "a name may contain letters"),
        ("o/r r", "a name may contain letters"),
        ("o/-r", "a name may contain letters"),
        ("-x", "like an option"),
        ("--upload-pack=id", "like an option"),
        ("git::-x", "starts with `-`"),
        ("git::--upload-pack=id", "starts with `-`"),
        ("ext::sh -c id", "`ext::` is not supported; this scheme runs a command"),
        ("git::ext::sh -c id", "`ext::` is not supported; this scheme runs a command"),
        ("o/r\n", "contains control"),
        ("o/r\u{202e}", "invisible"),
        ("o/r@", "is empty"),
        ("o/r@:a", "is empty"),
        ("o/r:", "empty name"),
        ("o/r@v1:", "empty name"),
        ("o/r:/a", "empty name"),
        ("o/r:a@", "is empty"),
        ("o/r@-x", "starts with `-`"),
        ("o/r@a..b", "`..`"),
        ("o/r:a@b:c", "one of `~^:?*[\\`"),
        ("o/r:../x", "contains `.` or `..`"),
        ("o/r:a/../x@v1", "contains `.` or `..`"),
        ("o/r:.git/x", "points into `.git`"),
        ("o/r@v1?ref=v2", "two versions"),
        ("o/r:a//b", "two directories"),
        ("https://github.com/o/r/tree/main?ref=v2", "two versions"),
        ("https://github.com/o/r/tree/main/a/../b", "contains `.` or `..`"),
        ("https://github.com/o/r/tree//x", "is empty"),
        ("https://github.com/o/r/issues/3", "write `https://host/owner/repo`"),
        ("https://h/rules.zip@v1", "is an archive"),
        ("https://h@v1", "has no repository path"),
        ("https://h/r#v1", "write a version as `?ref=…`"),
        ("http://h/r@v1", "the connection is not encrypted; write `https://…`"),
        ("http://127.0.0.1.example.com/r", "the connection is not encrypted"),
        ("http://user@evil@h/r", "the connection is not encrypted"),
        ("git://h/r", "git cannot verify the server"),
        ("ftp://h/r@v1", "`ftp://` is not supported"),
        ("./plain@v1", "is not a git repository"),
        ("./plain:sub@v1", "is not a git repository"),
        ("mine/here@v1", "is not a git repository"),
        ("./plain:../repo", "contains `.` or `..`"),
        ("./plain:", "empty name"),
        ("file:///plain dir@v1", "is not a git repository"),
        ("file:///plain dir:../x", "contains `.` or `..`"),
        ("ssh://u:secret@h/r@v1", "contains a password"),
        ("ssh://-oProxyCommand=id/x", "has an invalid host"),
        ("-oProxyCommand@host:x", "like an option"),
        ("git@-host:x", "not of the form"),
        ("https://u:se/secret@h/r", "in a password as `%2F`"),
        ("https://u:se?secret@h/r", "in a password as `%2F`"),
        ("https://se?secret@h/r", "has no repository path"),
        ("http://u:secret@h/x@v1", "not encrypted"),
        ("https://u:secret@h\\r", "has an invalid host"),
        ("https://u:secret@h/r\\x", "contains a space, `#` or `\\`"),
        ("https://u:secret@h/r@a..b", "`..`"),
        ("https://u:secret@h/r?sshkey=secret", "unknown parameter `sshkey`"),
    ] {
        let error = parse(text).unwrap_err();
        assert!(error.to_string().contains(message), "{text}: {error}");
        assert!(!format!("{error}{error:?}").contains("secret"), "{text}: {error}");
    }
}

#[test]
fn two_spellings_are_one_repository() {
    let identity = |text: &str| match parse(text) {
        Ok(SourceAddress::Git(source)) => source.identity().unwrap(),
        other => panic!("{text}: {other:?}"),
    };
    for text in [
        "o/r",
        "github:o/r@v1",
        "github.com/o/r:sub",
        "https://github.com/o/r",
        "https://GitHub.com/o/r.git/",
        "https://u:p@github.com/o/r",
        "https://github.com/o/r/tree/main/x",
    ] {
        assert_eq!(identity(text), "https://github.com/o/r", "{text}");
    }
    assert_eq!(identity("./repo@v1"), identity("file:///p/repo"));
    assert_eq!(identity("../p/repo@v1"), identity("git::./repo"));
}

/// Pieces that have a meaning, in any order.
#[test]
fn any_text_is_a_source_or_an_error() {
    arbtest::arbtest(|input| {
        let pieces = [
            "git::",
            "https://",
            "http://",
            "ssh://",
            "file://",
            "127.0.0.1",
            "github:",
            "gitlab:",
            "github.com",
            "git@",
            "u:secret@",
            "h",
            "o/r",
            "./",
            "..",
            "repo",
            "/tree/",
            "/-/blob/",
            "/",
            "//",
            "?ref=",
            "@",
            ":",
            "%",
            "%2D",
            "é",
            "-",
            "v1",
            "#",
            "\\",
            " ",
        ];
        let mut text = String::new();
        for _ in 0..input.int_in_range(0..=9)? {
            text.push_str(input.choose(&pieces)?);
        }
        if let Ok(SourceAddress::Git(source)) = parse(&text) {
            assert!(source.check().is_ok(), "{text}");
            assert!(source.identity().is_ok(), "{text}");
            assert!(!source.url.starts_with('-'), "{text}: {}", source.url);
            let is_option = |part: &Option<String>| part.iter().any(|part| part.starts_with('-'));
            assert!(!is_option(&source.reference), "{text}");
        }
        Ok(())
    });
}

/// A password that is written as a URL has it, in front of anything.
#[test]
fn a_password_is_never_shown() {
    arbtest::arbtest(|input| {
        let pieces = [
            "h",
            "127.0.0.1",
            "/",
            "//",
            "o/r",
            "?ref=",
            "&",
            "=",
            "@",
            ":",
            "v1",
            "..",
            "/tree/",
            "/-/tree/",
            "#",
            "%",
            " ",
            "-",
            "\\",
            "\u{202e}",
            "\n",
        ];
        let schemes = ["https://", "http://", "ssh://", "git::https://", "ftp://", "file://"];
        let mut text = format!("{}user:hushhush@h", input.choose(&schemes)?);
        for _ in 0..input.int_in_range(0..=8)? {
            text.push_str(input.choose(&pieces)?);
        }
        let shown = match parse(&text) {
            Ok(source) => format!("{source} {source:?}"),
            Err(error) => format!("{error} {error:?}"),
        };
        assert!(!shown.contains("hushhush"), "{text:?}: {shown}");
        Ok(())
    });
}
