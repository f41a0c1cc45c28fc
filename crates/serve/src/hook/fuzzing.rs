//! State files with any bytes, for [`crate::fuzzing`]: a disk or another program may have changed them.

use std::path::PathBuf;

use brief_clients::hook::HookSession;
use brief_engine::receipts::{self, Receipt, Receipts};
use brief_profiles::BUILTIN;
use brief_system::{Files, MemorySystem};

use super::memory::{Claim, Memory, fingerprint_parts};

/// The limit for the texts of a record, with what escapes add.
const LONGEST: usize = 400;

fn create_machine() -> MemorySystem {
    MemorySystem::new("/p").with_env("HOME", "/h").with_env("XDG_STATE_HOME", "/state")
}

/// Recalls a session from any bytes, and delivers an entry once. What was known before stays known.
pub(crate) fn session_file(bytes: &[u8]) {
    let system = create_machine();
    let session = HookSession { id: "one".to_owned(), agent: None };
    let client = BUILTIN.find_client("claude").expect("is built in");
    let name = format!("/state/brief/sessions/{}.main", fingerprint_parts(&["one", "claude"]));
    // A line that was torn takes the next one with it, and one entry comes twice.
    let text = [bytes, b"\n"].concat();
    let system = system.with_file(&name, text);
    let memory = Memory::for_conversation(&system, client, &session);
    let mut known = memory.read_delivered();
    let before = known.spent;
    let mark = fingerprint_parts(&["fuzz"]);
    let had = known.contains(&mark);
    assert!(known.touched_paths().count() <= 8);
    let claim = Claim { fingerprint: mark.clone(), tokens: 3 };
    memory.claim_entries(std::slice::from_ref(&claim), &["src/a.rs"], &mut known);
    let now = memory.read_delivered();
    assert!(now.contains(&mark), "what was claimed is known");
    assert!(had || now.spent >= before, "nothing is forgotten");
    // The next call of the same conversation delivers it no more.
    let again = memory.claim_entries(&[claim], &[], &mut memory.read_delivered());
    assert!(again.is_empty(), "was delivered twice");
}

/// Reads any bytes as the receipts of today, and adds one. A broken line hides no other one.
pub(crate) fn fuzz_receipts(bytes: &[u8]) {
    let system = create_machine();
    let receipt = || Receipt::new("one", "claude", "PreToolUse", "/p".as_ref());
    receipt().record(&system);
    let directory = receipts::receipts_directory(&system).expect("there is a home directory");
    let names = system.open_dir(&directory).and_then(|handle| handle.entries());
    let today = names.expect("was written").into_iter().next().expect("one day");
    let path: PathBuf = directory.join(today.name);
    let mut text = bytes.to_vec();
    text.push(b'\n');
    let system = system.with_file(&path.to_string_lossy(), text);
    let before = Receipts::read(&system, 1);
    receipt().record(&system);
    let after = Receipts::read(&system, 1);
    assert_eq!(after.receipts.len(), before.receipts.len() + 1);
    assert_eq!(after.unreadable, before.unreadable);
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
    assert_eq!(before.receipts.len() + before.unreadable, lines);
    for receipt in &before.receipts {
        assert!(receipt.time().len() <= LONGEST);
        let _ = receipt.tokens();
    }
}
