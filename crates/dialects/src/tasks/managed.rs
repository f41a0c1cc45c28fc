//! Our block in a file of the user (ruling T10).
//!
//! Two comments delimit the block and carry the hash of its content. So a manual edit is
//! recognized, and text that only resembles our markers is not taken for them.

use std::collections::BTreeMap;

use brief_system::hash::sha256;

use super::model::TaskFileKind;

const BEGIN: &str = "<!-- brief:rules ";
const END: &str = "<!-- /brief:rules ";
const CLOSE: &str = " -->";

/// The number of letters of the hash in a marker.
const HASH_LENGTH: usize = 16;

/// The result of setting the block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Placed {
    /// The file has this content already.
    Unchanged,
    /// The new content of the file.
    New(Vec<u8>),
    /// The block was edited by hand.
    EditedByHand,
}

/// The treatment of a block that was edited by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandEdits {
    /// Keep it, and report it.
    Keep,
    Replace,
}

/// Returns a file with our block set to `content`; empty content removes the block.
///
/// The block keeps its position, or is appended. The rest of the file stays.
pub fn update_managed_block(file: &[u8], content: &[u8], edits: HandEdits) -> Placed {
    let Some(block) = find_managed_blocks(file).into_iter().next() else {
        if content.is_empty() {
            return Placed::Unchanged;
        }
        let mut new = file.to_vec();
        if !new.is_empty() {
            let breaks: &[u8] = if new.ends_with(b"\n") { b"\n" } else { b"\n\n" };
            new.extend_from_slice(breaks);
        }
        new.extend_from_slice(&render_block(content));
        return Placed::New(new);
    };
    // Other line breaks of an editor are not an edit.
    let plain = with_plain_breaks(block.content);
    if plain == with_plain_breaks(content) {
        return Placed::Unchanged;
    }
    let is_ours = hash(block.content) == block.hash || hash(&plain) == block.hash;
    if !is_ours && edits == HandEdits::Keep {
        return Placed::EditedByHand;
    }
    let (before, after) = (&file[..block.start], &file[block.end..]);
    let block = if content.is_empty() { Vec::new() } else { render_block(content) };
    Placed::New([before, &block, after].concat())
}

pub(super) fn without_block(file: Vec<u8>) -> Vec<u8> {
    let blocks = find_managed_blocks(&file);
    if blocks.is_empty() {
        return file;
    }
    let mut rest = Vec::with_capacity(file.len());
    let mut from = 0;
    for block in blocks {
        rest.extend_from_slice(&file[from..block.start]);
        from = block.end;
    }
    rest.extend_from_slice(&file[from..]);
    rest
}

struct ManagedBlock<'f> {
    start: usize,
    end: usize,
    content: &'f [u8],
    hash: &'f str,
}

/// Finds our blocks, in one pass for each marker: a file may consist of markers.
fn find_managed_blocks(file: &[u8]) -> Vec<ManagedBlock<'_>> {
    let mut closings: BTreeMap<&str, Vec<(usize, usize)>> = BTreeMap::new();
    for start in memchr::memmem::find_iter(file, END) {
        if let Some((hash, length)) = parse_marker(&file[start + END.len()..]) {
            closings.entry(hash).or_default().push((start, start + END.len() + length));
        }
    }
    let mut blocks: Vec<ManagedBlock<'_>> = Vec::new();
    for start in memchr::memmem::find_iter(file, BEGIN) {
        if closings.is_empty() || blocks.last().is_some_and(|block| start < block.end) {
            continue;
        }
        let Some((hash, length)) = parse_marker(&file[start + BEGIN.len()..]) else { continue };
        let content_start = start + BEGIN.len() + length;
        let Some(ends) = closings.get(hash) else { continue };
        let next = ends.partition_point(|(at, _)| *at < content_start);
        if let Some(&(content_end, end)) = ends.get(next) {
            blocks.push(ManagedBlock {
                start,
                end,
                content: &file[content_start..content_end],
                hash,
            });
        }
    }
    blocks
}

/// Reads the hash of a marker, and the length of the rest of its line. The last line of a file may
/// lack its break.
fn parse_marker(text: &[u8]) -> Option<(&str, usize)> {
    let (hash, rest) = text.split_at_checked(HASH_LENGTH)?;
    let line_break = match rest.strip_prefix(CLOSE.as_bytes())? {
        [] => 0,
        [b'\n', ..] => 1,
        [b'\r', b'\n', ..] => 2,
        _ => return None,
    };
    let hash = str::from_utf8(hash).ok()?;
    let is_hash = hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then_some((hash, HASH_LENGTH + CLOSE.len() + line_break))
}

fn with_plain_breaks(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    for (index, &byte) in text.iter().enumerate() {
        if byte != b'\r' || text.get(index + 1) != Some(&b'\n') {
            plain.push(byte);
        }
    }
    plain
}

fn render_block(content: &[u8]) -> Vec<u8> {
    let hash = hash(content);
    let begin = format!("{BEGIN}{hash}{CLOSE}\n");
    let end = format!("{END}{hash}{CLOSE}\n");
    [begin.as_bytes(), content, end.as_bytes()].concat()
}

fn hash(content: &[u8]) -> String {
    sha256(content)[..HASH_LENGTH].to_owned()
}

/// Removes our block from a client's file, because its text comes from rules. `None` if the file
/// holds nothing else.
pub(super) fn users_text(kind: TaskFileKind, bytes: Vec<u8>) -> Option<Vec<u8>> {
    if kind != TaskFileKind::Rule {
        return Some(bytes);
    }
    let length = bytes.len();
    let bytes = without_block(bytes);
    (bytes.len() == length || !bytes.trim_ascii().is_empty()).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(file: &str, content: &str) -> String {
        match update_managed_block(file.as_bytes(), content.as_bytes(), HandEdits::Keep) {
            Placed::New(new) => String::from_utf8(new).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_users_text_stays_and_a_second_run_changes_nothing() {
        let first = new("# Mine\n", "rules\n");
        assert!(first.starts_with("# Mine\n\n<!-- brief:rules "));
        assert_eq!(
            update_managed_block(first.as_bytes(), b"rules\n", HandEdits::Keep),
            Placed::Unchanged
        );
        let more = format!("{first}\nmore of mine\n");
        let second = new(&more, "other\n");
        assert!(second.contains("\nother\n<!-- /brief") && !second.contains("\nrules\n"));
        assert!(second.starts_with("# Mine\n") && second.ends_with("\nmore of mine\n"));
        assert_eq!(new(&first, ""), "# Mine\n\n");
        assert_eq!(update_managed_block(b"# Mine\n", b"", HandEdits::Keep), Placed::Unchanged);
    }

    #[test]
    fn what_we_wrote_is_not_read_back() {
        let file = new("", "rules\n");
        assert_eq!(without_block(file.into_bytes()), b"");
    }

    /// An editor may remove the last line break, or write others.
    #[test]
    fn other_line_breaks_are_no_edit() {
        let file = new("# Mine\n", "one\ntwo\n");
        for other in [file.trim_end().to_owned(), file.replace('\n', "\r\n")] {
            let placed = update_managed_block(other.as_bytes(), b"one\ntwo\n", HandEdits::Keep);
            assert_eq!(placed, Placed::Unchanged);
            assert_eq!(new(&other, "three\n").matches(BEGIN).count(), 1);
            assert_eq!(without_block(other.into_bytes()).trim_ascii(), b"# Mine");
        }
    }

    /// A megabyte of markers; a new search for the end of each would take a minute.
    #[test]
    fn many_markers_are_read_once() {
        let mut file = (0..25_000)
            .map(|number| format!("{BEGIN}{number:016x}{CLOSE}\n"))
            .collect::<Vec<_>>()
            .concat();
        file.push_str(&format!("{END}{:016x}{CLOSE}\n", 24_999));
        let kept = without_block(file.clone().into_bytes());
        assert_eq!(kept.len(), file.len() - BEGIN.len() - END.len() - 2 * (HASH_LENGTH + 5));
        let blocks = new("", "x\n").repeat(10_000);
        assert_eq!(without_block(blocks.into_bytes()), b"");
    }

    #[test]
    fn a_block_that_was_edited_is_kept() {
        let edited = new("", "rules\n").replace("rules\n<", "rules, and mine\n<");
        let placed = |edits| update_managed_block(edited.as_bytes(), b"other\n", edits);
        assert_eq!(placed(HandEdits::Keep), Placed::EditedByHand);
        assert!(matches!(placed(HandEdits::Replace), Placed::New(_)));
    }

    /// Rules may mention markers: ours carry the hash of their content.
    #[test]
    fn rules_that_look_like_markers_are_content() {
        let tricky =
            "<!-- brief:rules 0123456789abcdef -->\nx\n<!-- /brief:rules 0123456789abcdef -->\n";
        let file = new("", tricky);
        assert_eq!(
            update_managed_block(file.as_bytes(), tricky.as_bytes(), HandEdits::Keep),
            Placed::Unchanged
        );
        let unclosed = "<!-- brief:rules 0123456789abcdef -->\nmine\n";
        assert!(new(unclosed, "rules\n").starts_with(unclosed));
    }
}
