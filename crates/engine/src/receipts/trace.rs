//! The link from a receipt to the client's own records: the call, the transcript, the commit, and the files that the call changed.
//!
//! All of it comes from the payload or from a few small files. No process is started, no transcript is opened, and of a file
//! that was changed only the hash is kept.

use std::collections::BTreeMap;
use std::path::Path;

use brief_system::ReadError;
use brief_system::hash::sha256;
use serde::{Deserialize, Serialize};

use super::{Receipt, shorten_text};
use crate::System;

/// The largest file that is hashed: a hook waits for it.
const MOST_HASHED: u64 = 1024 * 1024;

/// The limit for a file that names a commit.
const MOST_REFS: u64 = 4 * 1024 * 1024;

/// The limit for the characters of a path of a transcript.
const LONGEST_PATH: usize = 4096;

/// The link to the client's own records. A part that the payload does not have is `None`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ReceiptTrace {
    /// The client's id of the tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// The client's file with the conversation, as the payload names it. It was not opened, and need not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript: Option<String>,
    /// The session that the client's files are named by, where it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_session: Option<String>,
    /// The commit that the project was at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// The first step of the model that could see the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<ReceiptStep>,
    /// The mode of work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The kind of the subagent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<String>,
}

/// The first step of the model that could see a text, seen from what a client records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReceiptStep {
    /// The first answer of the conversation or of the agent.
    First,
    /// The first answer to the prompt that came with it.
    AfterPrompt,
    /// The answer after the one that made the call: it sees the result.
    AfterCall,
}

/// A file that a call has changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TouchedFile {
    /// The file, below the root.
    pub path: String,
    /// The SHA-256 of its content before the call; `None` where it was not there or is not known.
    pub before: Option<String>,
    /// The same after the call.
    pub after: Option<String>,
    /// The reasons for what is `None`, by `before` and `after`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub missing: BTreeMap<String, String>,
}

/// A part of a receipt that is not there, and the reason.
pub type MissingPart = (&'static str, String);

impl ReceiptTrace {
    pub(super) fn is_empty(&self) -> bool {
        *self == ReceiptTrace::default()
    }

    pub(super) fn shorten_fields(&mut self) {
        for text in [&mut self.call, &mut self.root_session, &mut self.agent_type] {
            *text = text.take().map(|text| shorten_text(&text));
        }
        // A cut path would lead elsewhere.
        self.transcript.take_if(|path| path.chars().count() > LONGEST_PATH);
    }
}

impl Receipt {
    /// Returns the parts that it lacks, each with the reason.
    pub fn missing_parts(&self) -> Vec<MissingPart> {
        let ReceiptTrace { call, transcript, root_session, head, step, .. } = &self.trace;
        let client = &self.client;
        let event = &self.event;
        let is_call = *step == Some(ReceiptStep::AfterCall);
        let none = || format!("the `{event}` payload of {client} has none");
        let mut missing: Vec<MissingPart> = Vec::new();
        let mut add = |is_there: bool, key, reason: String| {
            if !is_there {
                missing.push((key, reason));
            }
        };
        let of_call = if is_call { none() } else { format!("`{event}` belongs to no call") };
        add(call.is_some(), "call", of_call);
        add(transcript.is_some(), "transcript", none());
        let same = "the client's files are named by `session`".to_owned();
        add(root_session.is_some(), "root_session", same);
        add(head.is_some(), "head", "no commit is checked out, or it cannot be read".to_owned());
        add(step.is_some(), "step", "no text was delivered with it".to_owned());
        add(self.agent.is_some(), "agent", "the payload names no subagent".to_owned());
        missing
    }
}

/// Returns the commit that a directory's repository is at, without asking git; `None` if it cannot be told.
pub fn read_head_commit(system: &dyn System, root: &Path) -> Option<String> {
    let text = |path: &Path, limit| {
        let bytes = system.read(path, limit).ok()?;
        String::from_utf8(bytes).ok()
    };
    let mut directory = root.join(".git");
    // In a worktree and in a submodule, it is a file that names the directory.
    if let Some(link) = text(&directory, 4096) {
        directory = root.join(link.strip_prefix("gitdir:")?.trim());
    }
    let head = text(&directory.join("HEAD"), 4096)?;
    let Some(name) = head.trim().strip_prefix("ref:").map(str::trim) else {
        return parse_commit_hash(&head);
    };
    if name.split('/').any(|part| part.is_empty() || part == "..") || Path::new(name).is_absolute()
    {
        return None;
    }
    let common = text(&directory.join("commondir"), 4096);
    let common = common.map_or_else(|| directory.clone(), |common| directory.join(common.trim()));
    if let Some(found) = text(&common.join(name), 4096) {
        return parse_commit_hash(&found);
    }
    let packed = text(&common.join("packed-refs"), MOST_REFS)?;
    let mut lines = packed.lines().filter_map(|line| line.split_once(' '));
    lines.find(|(_, known)| *known == name).and_then(|(hash, _)| parse_commit_hash(hash))
}

fn parse_commit_hash(text: &str) -> Option<String> {
    let text = text.trim();
    let is_hash =
        matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| text.to_ascii_lowercase())
}

/// Returns the SHA-256 of a file; as an error, the reason why there is none.
pub fn file_hash(system: &dyn System, path: &Path) -> Result<String, &'static str> {
    match system.read(path, MOST_HASHED) {
        Ok(bytes) => Ok(sha256(&bytes)),
        Err(ReadError::Missing) => Err("file not found"),
        Err(ReadError::NotAFile(_)) => Err("is not a regular file"),
        Err(ReadError::TooLarge { .. }) => Err("the file is too large to hash"),
        Err(_) => Err("cannot read the file"),
    }
}

#[cfg(test)]
mod tests {
    use brief_system::MemorySystem;

    use super::*;

    const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

    fn head_of(files: &[(&str, &str)]) -> Option<String> {
        let mut system = MemorySystem::new("/p");
        for (path, text) in files {
            system = system.with_file(path, text);
        }
        read_head_commit(&system, Path::new("/p"))
    }

    /// The layouts of `gitrepository-layout(5)`: a branch, a packed branch, a detached head, a worktree.
    #[test]
    fn the_commit_is_read_without_git() {
        let branch = (".git/HEAD", "ref: refs/heads/main\n");
        let line = format!("{COMMIT}\n");
        assert_eq!(head_of(&[branch, (".git/refs/heads/main", &line)]).as_deref(), Some(COMMIT));
        let packed = format!("# pack-refs with: peeled\n{COMMIT} refs/heads/main\n");
        assert_eq!(head_of(&[branch, (".git/packed-refs", &packed)]).as_deref(), Some(COMMIT));
        assert_eq!(head_of(&[(".git/HEAD", &line)]).as_deref(), Some(COMMIT));
        let worktree = [
            (".git", "gitdir: /main/.git/worktrees/w\n"),
            ("/main/.git/worktrees/w/HEAD", "ref: refs/heads/w\n"),
            ("/main/.git/worktrees/w/commondir", "/main/.git\n"),
            ("/main/.git/refs/heads/w", &line),
        ];
        assert_eq!(head_of(&worktree).as_deref(), Some(COMMIT));
    }

    #[test]
    fn what_is_no_commit_is_none() {
        assert_eq!(head_of(&[]), None);
        assert_eq!(head_of(&[(".git/HEAD", "ref: refs/heads/new\n")]), None);
        assert_eq!(
            head_of(&[(".git/HEAD", "ref: ../../secret\n"), (".git/../../secret", COMMIT)]),
            None
        );
        assert_eq!(head_of(&[(".git/HEAD", "not a commit\n")]), None);
        assert_eq!(head_of(&[(".git", "something else\n")]), None);
    }

    #[test]
    fn a_part_that_is_not_there_has_a_reason() {
        let mut receipt = Receipt::new("s", "gemini", "AfterTool", Path::new("/p"));
        receipt.trace.step = Some(ReceiptStep::AfterCall);
        let missing: BTreeMap<_, _> = receipt.missing_parts().into_iter().collect();
        assert_eq!(missing["call"], "the `AfterTool` payload of gemini has none");
        assert!(missing.contains_key("transcript") && missing.contains_key("head"));
        receipt.trace.call = Some("call_1".to_owned());
        assert!(!receipt.missing_parts().iter().any(|(key, _)| *key == "call"));
    }

    #[test]
    fn a_large_file_is_not_hashed() {
        let large = "x".repeat(usize::try_from(MOST_HASHED).unwrap() + 1);
        let system = MemorySystem::new("/p").with_file("large", &large).with_file("small", "abc");
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(file_hash(&system, Path::new("/p/small")).as_deref(), Ok(expected));
        assert!(file_hash(&system, Path::new("/p/large")).unwrap_err().contains("too large"));
        assert_eq!(file_hash(&system, Path::new("/p/none")), Err("file not found"));
    }
}
