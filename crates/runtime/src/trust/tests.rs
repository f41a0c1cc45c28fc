//! The record on a real disk: its owner and path decide whether it is accepted.
#![expect(clippy::disallowed_methods, reason = "tests make real files")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use brief_system::MemorySystem;
use brief_testkit::RealSystem;
use tempfile::TempDir;

use super::*;

/// The real disk with another home, and with another user as the owner of some files.
struct TrustSandbox {
    directory: TempDir,
    system: RealSystem,
}

impl TrustSandbox {
    fn new() -> TrustSandbox {
        let directory = tempfile::tempdir().unwrap();
        let place = fs::canonicalize(directory.path()).unwrap();
        for name in ["home", "project"] {
            fs::create_dir(place.join(name)).unwrap();
        }
        let mut system = RealSystem::new(place.join("project"));
        system.env.insert("HOME".to_owned(), place.join("home").to_str().unwrap().to_owned());
        TrustSandbox { directory, system }
    }

    fn at(&self, path: &str) -> PathBuf {
        fs::canonicalize(self.directory.path()).unwrap().join(path)
    }

    fn keeps_state_at(&mut self, path: &str) {
        let path = self.at(path).to_str().unwrap().to_owned();
        self.system.env.insert("XDG_STATE_HOME".to_owned(), path);
    }

    fn project(&self) -> PathBuf {
        self.at("project")
    }

    fn open(&self) -> Result<TrustStore<'_>, TrustError> {
        TrustStore::open(&self.system, &self.project())
    }

    fn refusal(&self) -> String {
        let text = self.open().unwrap_err().to_string();
        text.replace(self.at("").to_str().unwrap(), "/")
    }

    fn judge(&self, content: &str) -> Option<TrustVerdict> {
        self.open().unwrap().verdict_on(content.as_bytes())
    }

    fn trust(&self, content: &str) {
        self.open().unwrap().record_content(content.as_bytes(), Path::new("/x/script")).unwrap();
    }
}

const STORE: &str = "home/.local/state/brief/trust";

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Ruling G7: "unless `brief trust` has recorded that exact content (by hash)".
#[test]
fn one_byte_changed_is_other_content() {
    let desk = TrustSandbox::new();
    assert_eq!(desk.judge("echo 1"), None);
    desk.trust("echo 1");
    assert_eq!(desk.judge("echo 1"), Some(TrustVerdict::Trusted));
    for changed in ["echo 2", "echo 1\n", "echo ", ""] {
        assert_eq!(desk.judge(changed), None, "{changed:?}");
    }
}

/// Attack case TRU-009: a denial overrides trust, in either order of recording.
#[test]
fn a_denial_wins() {
    let desk = TrustSandbox::new();
    desk.trust("a");
    desk.open().unwrap().deny_content(b"a", Path::new("/x")).unwrap();
    assert_eq!(desk.judge("a"), Some(TrustVerdict::Denied));
    desk.trust("a");
    assert_eq!(desk.judge("a"), Some(TrustVerdict::Denied));
    assert_eq!(desk.open().unwrap().entries().count(), 2);
    let mut store = desk.open().unwrap();
    assert_eq!(
        store.remove_entries(|entry| entry.hash == ContentHash::from_content(b"a")).unwrap(),
        2
    );
    assert_eq!(desk.judge("a"), None);
}

#[test]
fn the_record_is_a_sorted_private_text() {
    let desk = TrustSandbox::new();
    let mut store = desk.open().unwrap();
    store.record_content(b"abc", Path::new("/z")).unwrap();
    store.record_content(b"", Path::new("/a b")).unwrap();
    store.deny_content(b"x", Path::new("/q")).unwrap();
    let expected = "# What `brief trust` has recorded: content, projects and rules, by SHA-256.
denied 2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881 /q
trusted e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 /a b
trusted ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad /z
";
    assert_eq!(fs::read_to_string(desk.at(STORE)).unwrap(), expected);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&desk.at(STORE)), 0o600);
    assert_eq!(mode(desk.at(STORE).parent().unwrap()), 0o700);
    assert!(store.entries().eq(desk.open().unwrap().entries()));
}

/// A file name must not create an entry.
#[test]
fn a_line_break_in_a_name_writes_no_entry() {
    let desk = TrustSandbox::new();
    let forged = format!("/x\ntrusted {} /y\u{2028}\u{85}\rz", ContentHash::from_content(b"evil"));
    desk.open().unwrap().record_content(b"good", Path::new(&forged)).unwrap();
    assert_eq!(desk.judge("evil"), None);
    let store = desk.open().unwrap();
    let entries: Vec<&TrustEntry> = store.entries().collect();
    assert_eq!(entries.len(), 1);
    assert!(entries[0].was_at(Path::new(&forged)));
}

#[test]
fn a_name_that_is_not_text_can_be_recorded() {
    use std::os::unix::ffi::OsStrExt;

    let desk = TrustSandbox::new();
    let path = Path::new(std::ffi::OsStr::from_bytes(b"/x\xff"));
    desk.open().unwrap().record_content(b"a", path).unwrap();
    assert_eq!(desk.judge("a"), Some(TrustVerdict::Trusted));
}

/// Attack case TRU-008: "a world-writable or foreign-owned store is refused".
#[test]
fn a_record_that_others_may_write_is_refused() {
    let desk = TrustSandbox::new();
    desk.trust("a");
    for (path, mode, restored) in [
        (STORE, 0o666, 0o600),
        (STORE, 0o620, 0o600),
        ("home/.local/state/brief", 0o770, 0o700),
        ("home/.local/state", 0o777, 0o700),
        ("home", 0o757, 0o700),
    ] {
        set_mode(&desk.at(path), mode);
        let expected = format!("cannot use the trust record: other users may write to `/{path}`");
        assert_eq!(desk.refusal(), expected);
        set_mode(&desk.at(path), restored);
        assert_eq!(desk.judge("a"), Some(TrustVerdict::Trusted));
    }
}

#[test]
fn a_record_of_somebody_else_is_refused() {
    let mut desk = TrustSandbox::new();
    desk.trust("a");
    for path in [STORE, "home/.local/state/brief", "home"] {
        desk.system.foreign = Some(desk.at(path));
        let expected = format!("cannot use the trust record: `/{path}` belongs to another user");
        assert_eq!(desk.refusal(), expected);
    }
}

/// Attack case TRU-008: "not inside the project".
#[test]
fn a_record_inside_the_project_is_refused() {
    let mut desk = TrustSandbox::new();
    desk.keeps_state_at("project/.state");
    let expected =
        "cannot use the trust record: `/project/.state/brief/trust` is inside the project";
    assert_eq!(desk.refusal(), expected);
    // The current directory counts as well as the project.
    let elsewhere = desk.at("home");
    assert!(matches!(TrustStore::open(&desk.system, &elsewhere), Err(TrustError::InProject(_))));
    // Also through a link.
    desk.keeps_state_at("state");
    fs::create_dir(desk.at("project/.state")).unwrap();
    symlink(desk.at("project/.state"), desk.at("state")).unwrap();
    assert_eq!(desk.refusal(), expected);
    assert!(!desk.at("project/.state/brief").exists());
}

#[test]
fn a_record_that_is_a_link_into_the_project_is_refused() {
    let desk = TrustSandbox::new();
    desk.trust("a");
    fs::write(desk.project().join("trust"), "").unwrap();
    fs::remove_file(desk.at(STORE)).unwrap();
    symlink(desk.project().join("trust"), desk.at(STORE)).unwrap();
    assert_eq!(
        desk.refusal(),
        "cannot use the trust record: `/project/trust` is inside the project"
    );
}

#[test]
fn at_home_the_record_is_no_part_of_a_project() {
    let mut desk = TrustSandbox::new();
    desk.system.current_dir = desk.at("home");
    desk.trust("a");
    assert_eq!(
        TrustStore::open(&desk.system, &desk.at("home")).unwrap().verdict_on(b"a"),
        Some(TrustVerdict::Trusted)
    );
}

/// An unreadable line could be a denial.
#[test]
fn a_damaged_record_is_refused() {
    let desk = TrustSandbox::new();
    desk.trust("a");
    let hash = ContentHash::from_content(b"a");
    for line in [
        "denid 00 /x".to_owned(),
        format!("trusted {} /x", &hash.to_string()[1..]),
        format!("trusted {hash}"),
        format!("maybe {hash} /x"),
    ] {
        fs::write(desk.at(STORE), format!("# ok\n\ntrusted {hash} /x\n{line}\n")).unwrap();
        let expected = format!("cannot use the trust record: line 4 of `/{STORE}` is damaged");
        assert_eq!(desk.refusal(), expected, "{line}");
    }
    fs::write(desk.at(STORE), b"trusted \xff /x\n").unwrap();
    assert!(matches!(desk.open(), Err(TrustError::Damaged { line: 1, .. })));
    fs::remove_file(desk.at(STORE)).unwrap();
    fs::create_dir(desk.at(STORE)).unwrap();
    set_mode(&desk.at(STORE), 0o700);
    assert!(matches!(desk.open(), Err(TrustError::Unreadable { .. })));
}

#[test]
fn without_a_home_there_is_no_record() {
    let system = MemorySystem::new("/p");
    assert!(matches!(TrustStore::open(&system, Path::new("/p")), Err(TrustError::NoPlace)));
}

#[test]
fn a_full_record_stays_readable() {
    let desk = TrustSandbox::new();
    desk.trust("a");
    let long = "x".repeat(usize::try_from(limits::TRUST_BYTES).unwrap());
    let mut store = desk.open().unwrap();
    assert!(matches!(store.record_content(b"b", Path::new(&long)), Err(TrustError::Full)));
    assert_eq!(desk.judge("a"), Some(TrustVerdict::Trusted));
    assert_eq!(store.verdict_on(b"b"), None);
}

#[test]
fn nobody_loses_an_entry() {
    let desk = TrustSandbox::new();
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let desk = &desk;
            scope.spawn(move || {
                let mut store = desk.open().unwrap();
                for number in 0..10 {
                    let content = format!("{worker} {number}");
                    store.record_content(content.as_bytes(), Path::new(&content)).unwrap();
                }
            });
        }
    });
    assert_eq!(desk.open().unwrap().entries().count(), 40);
}

/// Goal S2: trust is bound to bytes: 1,000 random changes of one byte, and every change of a field of a
/// project's identity, revoke it.
#[test]
fn s2_every_mutation_revokes() {
    let desk = TrustSandbox::new();
    let content: Vec<u8> = b"---\nbootstrap: make setup\n---\n!`git log`\n#!/bin/sh\n".repeat(8);
    desk.open().unwrap().record_content(&content, Path::new("/x/script")).unwrap();
    let store = desk.open().unwrap();
    assert_eq!(store.verdict_on(&content), Some(TrustVerdict::Trusted));
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 16).unwrap_or_default()
    };
    for round in 0..1_000 {
        let mut other = content.clone();
        let at = random() % other.len();
        match round % 3 {
            0 => other[at] ^= u8::try_from(1 + random() % 255).unwrap_or(1),
            1 => other.insert(at, b' '),
            _ => drop(other.remove(at)),
        }
        if other != content {
            assert_eq!(store.verdict_on(&other), None, "round {round}");
        }
    }
    let directory = desk.project();
    fs::create_dir(directory.join(".git")).unwrap();
    let project = TrustProject::identify(&desk.system, &directory).unwrap();
    desk.open().unwrap().record_project(&project).unwrap();
    let store = desk.open().unwrap();
    assert_eq!(store.project_standing(&project), Standing::Trusted);
    let hash = |text: &str| ContentHash::from_content(text.as_bytes());
    for round in 0..1_000 {
        let text = format!("{round}");
        let moved = TrustProject { place: hash(&text), ..project.clone() };
        assert_ne!(store.project_standing(&moved), Standing::Trusted);
        let replaced = TrustProject { identity: hash(&text), ..project.clone() };
        assert_eq!(store.project_standing(&replaced), Standing::Replaced);
    }
}

/// X01: a record of another user, or a project on a file system without identities, trusts nothing.
#[test]
fn a_project_of_a_foreign_record_is_not_trusted() {
    let mut desk = TrustSandbox::new();
    let directory = desk.project();
    let project = TrustProject::identify(&desk.system, &directory).unwrap();
    desk.open().unwrap().record_project(&project).unwrap();
    let record = desk.open().unwrap().path().to_owned();
    for path in [record.clone(), record.parent().unwrap().to_owned()] {
        desk.system.foreign = Some(path);
        assert!(matches!(desk.open(), Err(TrustError::Foreign(_))));
        let mut consent =
            crate::Consent::new(&desk.system, &directory, crate::Execution::ProjectToo);
        let refusal = consent.check_project(&directory).unwrap_err();
        assert!(refusal.to_string().contains("belongs to another user"), "{refusal}");
    }
    // TRU-010: a flag for one run is not enough for another user's project.
    desk.system.foreign = Some(directory.clone());
    fs::remove_file(&record).unwrap();
    let mut consent = crate::Consent::new(&desk.system, &directory, crate::Execution::ProjectToo);
    assert!(consent.check_project(&directory).is_err());
    let memory = MemorySystem::new("/p");
    assert!(matches!(
        TrustProject::identify(&memory, Path::new("/p")),
        Err(TrustError::NoIdentity { .. })
    ));
}
