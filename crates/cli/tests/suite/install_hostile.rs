//! Bad input for the commands that install: addresses, manifests, locks, secrets, places that cannot be
//! written.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::install::{Remote, consumer, files, guidance, item, names, run};

/// Addresses that are options or commands are refused before git sees them, typed or in brief.toml.
#[test]
fn addresses_that_are_commands_are_refused() {
    let project = consumer();
    let mark = project.outside_directory().join("mark");
    let commands = [
        format!("ext::touch {}", mark.display()),
        format!("git::ext::touch {}", mark.display()),
        format!("--upload-pack=touch {}", mark.display()),
        format!("git::--upload-pack=touch {}", mark.display()),
        "-oProxyCommand=x".to_owned(),
        "ssh://-oProxyCommand=x/y".to_owned(),
        "git@-oProxyCommand=x:y".to_owned(),
        "fd::17".to_owned(),
        "http://plain.example.com/x.git".to_owned(),
        "git://plain.example.com/x.git".to_owned(),
        "https://host.example.com/x.zip".to_owned(),
        "acme/guidance@--upload-pack=x".to_owned(),
        "acme/guidance:../../etc".to_owned(),
        "\u{1b}[31macme/x".to_owned(),
        String::new(),
    ];
    for address in &commands {
        let output = project.run(&["add", "--", address]);
        assert_eq!(output.code, Some(2), "{address}: {output}");
        assert!(output.stderr.starts_with("error: "), "{address}: {output}");
        assert!(!output.stderr.contains('\u{1b}'), "{output}");
        assert_eq!(names(&project), [""; 0], "{address}");
        let quoted = serde_json::to_string(address).unwrap();
        project.write("brief.toml", format!("[sources.x]\ngit = {quoted}\nall = true\n"));
        let output = project.run(&["sync"]);
        assert!(matches!(output.code, Some(1 | 2)), "{address}: {output}");
        fs::remove_file(project.path().join("brief.toml")).unwrap();
    }
    assert!(!mark.exists());
}

/// GIT-008: no filter runs, and a pointer of Git LFS is not installed as if it were the file.
#[test]
fn a_pointer_of_git_lfs_is_an_error() {
    let project = consumer();
    let mark = project.outside_directory().join("mark");
    let settings = fs::read_to_string(project.home().join(".gitconfig")).unwrap();
    let filter = format!("[filter \"evil\"]\nsmudge = touch {}\nclean = cat\n", mark.display());
    fs::write(project.home().join(".gitconfig"), settings + &filter).unwrap();
    let remote = Remote::new(&project, "github/acme/large");
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n";
    remote.commit(&[
        (".gitattributes", "* filter=evil\n*.md filter=lfs\n"),
        ("skills/ok/SKILL.md", &item("ok", "See [it](big.md).")),
        ("skills/ok/big.md", pointer),
    ]);
    let output = project.run(&["add", "acme/large", "ok"]);
    assert_eq!(output.code, Some(1), "{output}");
    let said = format!("{}{}", output.stdout, output.stderr);
    assert!(said.contains("is a Git LFS pointer"), "{output}");
    assert!(!project.path().join(".claude/skills/ok/big.md").exists(), "{output}");
    assert!(!mark.exists());
}

/// A manifest with mistakes is reported as a whole, with places and what may be meant; nothing is done.
#[test]
fn a_manifest_with_mistakes_is_reported() {
    let manifest = "[sources.guidance]\ngit = \"acme/guidance\"\nskils = [\"review\"]\n\
        exclude = [\"money\"]\n\n[sources.Bad]\ndirectory = \"x\"\ngit = \"y\"\n\n[instal]\n";
    let project = consumer().with_file("brief.toml", manifest);
    guidance(&project);
    for args in [
        &["sync"][..],
        &["add", "acme/guidance", "money"],
        &["remove", "money"],
        &["update"],
        &["list"],
        &["update", "--check"],
        &["remove", "--all"],
        &["doctor"],
    ] {
        let output = project.run(args);
        assert_eq!(output.code, Some(2), "{args:?}: {output}");
        for words in [
            "unknown key `sources.guidance.skils`",
            "did you mean `skills`?",
            "brief.toml:3:1",
            "write `rule/money`, `skill/money` or `agent/money`",
            "has both `git` and `directory`",
            "did you mean `install`?",
        ] {
            assert!(output.stdout.contains(words), "{args:?} {words}: {output}");
        }
        assert_eq!(names(&project), ["brief.toml"], "{args:?}");
        assert_eq!(project.read("brief.toml"), manifest, "{args:?}");
    }
}

/// A manifest that is not TOML, or not text, is reported, not replaced.
#[test]
fn a_manifest_that_is_none_is_kept() {
    for text in [&b"[sources"[..], b"sources = 1\n", b"\xff\xfe", b"<<<<<<< ours\n"] {
        let project = consumer().with_file("brief.toml", text);
        guidance(&project);
        let output = project.run(&["add", "acme/guidance", "money"]);
        assert!(matches!(output.code, Some(1 | 2)), "{output}");
        assert_eq!(fs::read(project.path().join("brief.toml")).unwrap(), text);
        assert_eq!(names(&project), ["brief.toml"]);
    }
}

/// A lock that was changed to point elsewhere removes and writes nothing there.
#[test]
fn a_lock_cannot_lead_out_of_the_project() {
    let project = consumer().with_file("src/main.rs", "fn main() {}\n");
    guidance(&project);
    run(&project, &["add", "acme/guidance", "money"]);
    let lock = project.read("brief.lock");
    let before = files(&project.path());
    for path in
        ["../outside/x", "/etc/passwd", "src/main.rs", ".brief/installed.json", ".claude/../x"]
    {
        project.write("brief.lock", lock.replace(".claude/rules/money.md", path));
        for args in
            [&["sync"][..], &["remove", "--all"], &["remove", "money"], &["list"], &["doctor"]]
        {
            let output = project.run(args);
            assert_eq!(output.code, Some(2), "{path} {args:?}: {output}");
            assert!(output.stderr.contains("is not the path of an output"), "{output}");
            assert!(output.stderr.contains("hint: restore it from version control"), "{output}");
        }
    }
    project.write("brief.lock", lock);
    assert_eq!(files(&project.path()), before);
}

const SECRET: &str = "ghp_0123456789secret";

/// Returns every file below a directory that holds the secret.
fn holders(directory: &std::path::Path) -> Vec<String> {
    let all = files(directory).into_iter();
    all.filter(|(_, text)| text.contains(SECRET)).map(|(name, _)| name).collect()
}

/// A password in an address is used, and appears nowhere: not in what is printed, brief.toml, brief.lock,
/// our own directory or the cache.
#[test]
fn a_password_is_in_no_file_and_no_message() {
    let project = consumer();
    guidance(&project);
    for address in [
        format!("https://name:{SECRET}@github.com/acme/guidance.git"),
        format!("https://{SECRET}@github.com/acme/guidance.git"),
        format!("https://x-access-token:{SECRET}@unreachable.invalid/acme/guidance.git"),
    ] {
        let output = project.run(&["add", &address, "money"]);
        assert!(!output.to_string().contains(SECRET), "{output}");
    }
    for place in [project.path(), project.home(), project.path().join(".brief")] {
        if place.exists() {
            assert_eq!(holders(&place), [""; 0]);
        }
    }
    let manifest = project.read("brief.toml");
    assert!(manifest.contains("git = \"acme/guidance\"\n"), "{manifest}");
}

/// Tokens in the environment, which other tools put into addresses, are not even looked at.
#[test]
fn tokens_of_the_environment_are_not_shown() {
    let project = consumer()
        .with_env("GITHUB_TOKEN", SECRET)
        .with_env("GH_TOKEN", SECRET)
        .with_env("GITLAB_TOKEN", SECRET);
    for source in ["acme/none", "gitlab:group/none", "https://unreachable.invalid/x.git"] {
        let output = project.run(&["add", source]);
        assert_eq!(output.code, Some(1));
        assert!(!output.to_string().contains(SECRET), "{output}");
    }
    assert_eq!(holders(&project.home()), [""; 0]);
}

/// A password in brief.toml is refused without being repeated.
#[test]
fn a_password_in_the_manifest_is_refused() {
    let project = consumer();
    let manifest = format!(
        "[sources.a]\ngit = \"https://n:{SECRET}@github.com/acme/guidance\"\nall = true\n\n\
         [sources.b]\ngit = 'https://{SECRET}@gitlab.com/x/y'\nall = true\n\n\
         [sources.c]\ngit = \"ssh://git@git.example.com/x/y\"\nall = true\n"
    );
    project.write("brief.toml", manifest);
    for command in [&["sync"][..], &["list"], &["update", "--check"], &["doctor"]] {
        let output = project.run(command);
        assert_eq!(output.code, Some(2), "{output}");
        assert!(!output.to_string().contains(SECRET), "{output}");
        assert!(output.stdout.contains("`sources.a.git` contains a password"), "{output}");
        assert!(output.stdout.contains("brief.toml:6:1"), "{output}");
        assert!(!output.stdout.contains("sources.c"), "a user of ssh is no password: {output}");
    }
    assert_eq!(names(&project), ["brief.toml"]);
}

/// Places that cannot be written are named, and everything is as it was.
#[test]
fn a_directory_that_cannot_be_written_is_named() {
    let project = consumer().with_dir(".claude");
    guidance(&project);
    let set = |path: &str, mode| {
        let path = project.path().join(path);
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    set(".claude", 0o555);
    let is_bound = fs::write(project.path().join(".claude/probe"), "").is_err();
    // The superuser is not kept from anything.
    if is_bound {
        let output = project.run(&["add", "acme/guidance", "money"]);
        assert_eq!(output.code, Some(1), "{output}");
        assert!(output.stderr.contains(".claude"), "{output}");
        assert!(output.stderr.contains("nothing was changed"), "{output}");
        assert_eq!(names(&project), [""; 0]);
        set(".", 0o555);
        let output = project.run(&["add", "acme/guidance", "money"]);
        assert_eq!(output.code, Some(1), "{output}");
        assert!(output.stderr.contains("cannot use `$PROJECT/.brief`"), "{output}");
        set(".", 0o755);
    }
    set(".claude", 0o755);
}

/// A file where our own directory should be is named, and stays.
#[test]
fn a_file_in_the_place_of_our_directory_is_named() {
    let project = consumer().with_file(".brief", "mine\n");
    guidance(&project);
    let output = project.run(&["add", "acme/guidance", "money"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stderr.contains("cannot use `$PROJECT/.brief`"), "{output}");
    assert_eq!(project.read(".brief"), "mine\n");
    assert!(!project.path().join("brief.toml").exists());
}

/// Without git, and without a network, the way out is named.
#[test]
fn without_git_the_way_out_is_named() {
    let project = consumer().with_env("PATH", "/nowhere");
    guidance(&project);
    let output = project.run(&["add", "acme/guidance"]);
    assert_eq!(output.code, Some(1));
    assert!(output.stderr.contains("no `git` on `PATH`"), "{output}");
    assert!(output.stderr.contains("clone the repository and use that directory"), "{output}");
    run(&project, &["add", "../outside/github/acme/guidance.git", "money"]);
}
