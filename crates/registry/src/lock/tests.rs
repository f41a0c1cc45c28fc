//! Tests of the lock.

use brief_dialects::dependencies::{Ecosystem, PackageId};

use super::*;

#[test]
fn texts_are_quoted_as_the_format_wants_it() {
    let plain: String = (0..=127_u8)
        .map(char::from)
        .filter(|c| " -_./:@+".contains(*c) || c.is_ascii_alphanumeric())
        .collect();
    for text in
        ["", " ", "a", "skills/a b", "1", "true", &plain, "\"", "'", "\\", "\n", "é", "\u{7f}"]
    {
        assert_eq!(quote_string(text), toml_edit::Value::from(text).to_string(), "{text:?}");
    }
}

fn sample() -> Lock {
    let sha = |letter: char| letter.to_string().repeat(64);
    let place = ManifestPlace::Git {
        git: "acme/guidance".to_owned(),
        reference: Some("v1".to_owned()),
        subpath: None,
    };
    let file = |letter, program| FileRecord { sha256: sha(letter), program };
    let item = LockedItem {
        source: "guidance".to_owned(),
        path: "skills/a".to_owned(),
        version: Some("1.0.0".to_owned()),
        sha256: sha('a'),
        bundles: vec!["base".to_owned()],
        clients: vec!["claude".to_owned(), "copilot".to_owned()],
        capabilities: vec!["commands echo 'x'".to_owned(), "hosts é.example".to_owned()],
        files: BTreeMap::from([
            (".claude/skills/a/SKILL.md".to_owned(), file('b', false)),
            (".claude/skills/a/with space \"x\".sh".to_owned(), file('c', true)),
        ]),
    };
    let source = LockedSource {
        place,
        commit: Some("0123456789abcdef0123456789abcdef01234567".to_owned()),
        signer: None,
        created: None,
        bundles: BTreeMap::from([("base".to_owned(), Some("1.2.0".to_owned()))]),
    };
    let local = LockedSource {
        place: ManifestPlace::Directory("../local".to_owned()),
        commit: None,
        signer: None,
        created: None,
        bundles: BTreeMap::new(),
    };
    let entries = vec![
        SharedEntry::Listed { key: "instructions".to_owned(), value: "x/**".to_owned() },
        SharedEntry::Block { text: "@AGENTS.md\nsecond".to_owned() },
        SharedEntry::Keyed {
            key: "mcpServers".to_owned(),
            name: "files".to_owned(),
            json: "{\"command\":\"x\"}".to_owned(),
        },
    ];
    Lock {
        sources: BTreeMap::from([("guidance".to_owned(), source), ("local".to_owned(), local)]),
        items: BTreeMap::from([(ItemId { kind: ItemKind::Skill, name: "a".to_owned() }, item)]),
        shared: BTreeMap::from([("CLAUDE.md".to_owned(), entries)]),
        dependencies: vec![LockedDependency {
            id: PackageId {
                ecosystem: Ecosystem::Npm,
                name: "@acme/ui".to_owned(),
                version: "2.1.0".to_owned(),
            },
            from: "packages/web".to_owned(),
            sha256: sha('d'),
            capabilities: vec!["hosts ui.example".to_owned()],
            files: vec![("skills/a b/SKILL.md".to_owned(), sha('e'))],
        }],
        is_old: false,
    }
}

#[test]
fn what_was_written_is_read_again() {
    let text = sample().to_text();
    assert_eq!(Lock::parse(&text).unwrap(), sample(), "{text}");
    assert!(text.lines().all(|line| line.len() < 200), "{text}");
}

/// X14: a shared file without entries adds nothing, and the rewritten lock can be read.
#[test]
fn x14_a_shared_file_without_entries_can_be_rewritten() {
    for entries in ["entries = []\n", ""] {
        let text = format!("version = 2\n\n[[shared]]\npath = \"CLAUDE.md\"\n{entries}");
        let lock = Lock::parse(&text).unwrap();
        assert_eq!(Lock::parse(&lock.to_text()).unwrap(), lock);
    }
    let mut lock = sample();
    lock.shared.insert("AGENTS.md".to_owned(), Vec::new());
    assert_eq!(Lock::parse(&lock.to_text()).unwrap(), sample());
}

#[test]
fn a_lock_that_was_edited_is_refused_with_its_line() {
    let text = sample().to_text();
    let cases = [
        ("version = 2", "version = 9", "upgrade"),
        ("version = 2", "version = 0", "unknown `version`"),
        ("kind = \"skill\"", "kind = \"skil\"", "unknown kind `skil`"),
        (".claude/skills/a/SKILL.md", "../../etc/passwd", "not the path of an output"),
        (".claude/skills/a/SKILL.md", "src/main.rs", "not the path of an output"),
        ("0123456789abcdef0123456789abcdef01234567", "--upload-pack", "not a commit"),
        ("source = \"guidance\"", "source = \"other\"", "which is not a source"),
        ("path = \"CLAUDE.md\"", "path = \"../CLAUDE.md\"", "not a path in the project"),
        ("[[item]]", "[[items]]", "unknown field"),
        ("\"npm\"", "\"nmp\"", "unknown package kind `nmp`"),
    ];
    for (from, to, words) in cases {
        let edited = text.replace(from, to);
        let error = Lock::parse(&edited).unwrap_err();
        assert!(error.problem.contains(words), "{to}: {error}");
        let line = edited.lines().position(|line| line.contains(to)).unwrap() + 1;
        assert_eq!(error.line, line, "{to}: {error}\n{edited}");
    }
    let list = text.find("capabilities = [").unwrap();
    let end = list + text[list..].find("]\n").unwrap() + 2;
    let stripped = format!("{}{}", &text[..list], &text[end..]);
    let error = Lock::parse(&stripped).unwrap_err();
    assert!(error.problem.contains("no list of capabilities"), "{error}");
    let line = stripped.lines().position(|line| line == "name = \"a\"").unwrap() + 1;
    assert_eq!(error.line, line, "{stripped}");
    let old = Lock::parse(&stripped.replace("version = 2", "version = 1")).unwrap();
    assert!(old.is_old);
    let merged = text.replace("[[item]]", "<<<<<<< ours\n[[item]]");
    assert!(Lock::parse(&merged).unwrap_err().problem.contains("merge"));
}

/// The digest, the signer and the time of an artifact come back; a lock that mixes kinds of sources is refused.
#[test]
fn artifacts_in_the_lock() {
    let digest = format!("sha256:{}", "a".repeat(64));
    let mut lock = Lock::default();
    let source = LockedSource {
        place: ManifestPlace::Oci {
            oci: "oci://registry.example/acme/guidance".to_owned(),
            reference: Some("stable".to_owned()),
        },
        commit: Some(digest.clone()),
        signer: Some(digest.clone()),
        created: Some("2026-01-01T00:00:00Z".to_owned()),
        bundles: BTreeMap::new(),
    };
    lock.sources.insert("guidance".to_owned(), source);
    let text = lock.to_text();
    assert!(text.contains(&format!("\ndigest = \"{digest}\"\nsigner = \"{digest}\"\n")), "{text}");
    assert_eq!(Lock::parse(&text).unwrap(), lock);
    for (right, wrong) in [
        ("digest = \"sha256:", "commit = \"sha256:"),
        ("digest = \"sha256:a", "digest = \"sha256:A"),
        ("signer = \"sha256:", "signer = \"sha1:"),
        ("oci = ", "directory = "),
    ] {
        assert!(text.contains(right), "{right}");
        assert!(Lock::parse(&text.replacen(right, wrong, 1)).is_err(), "{wrong}");
    }
}
