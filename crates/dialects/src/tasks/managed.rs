//! Our block in a file that belongs to the user (ruling T10).
//!
//! The block stands between two comments that carry the hash of what is between them. So a block
//! that somebody has changed by hand is recognised, and text that merely looks like our markers is
//! not taken for them.

use brief_syntax::hash::sha256;

const BEGIN: &str = "<!-- brief:rules ";
const END: &str = "<!-- /brief:rules ";
const CLOSE: &str = " -->";

/// Letters of the hash that are written.
const HASH_LENGTH: usize = 16;

/// What became of a file that was asked to hold a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Placed {
    /// The file says it already.
    Unchanged,
    /// This is its new content.
    New(Vec<u8>),
    /// Our block was changed by hand.
    EditedByHand,
}

/// What to do about a block that was changed by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandEdits {
    /// Keep it, and say so.
    Keep,
    /// Replace it.
    Replace,
}

/// Returns a file with our block set to `content`; empty content takes the block away.
///
/// The block stays where it is, or comes last. Everything else in the file is kept.
pub fn place(file: &[u8], content: &[u8], edits: HandEdits) -> Placed {
    let Some(block) = find(file) else {
        if content.is_empty() {
            return Placed::Unchanged;
        }
        let mut new = file.to_vec();
        if !new.is_empty() {
            let breaks: &[u8] = if new.ends_with(b"\n") { b"\n" } else { b"\n\n" };
            new.extend_from_slice(breaks);
        }
        new.extend_from_slice(&written(content));
        return Placed::New(new);
    };
    if block.content == content {
        return Placed::Unchanged;
    }
    if hash(block.content) != block.hash && edits == HandEdits::Keep {
        return Placed::EditedByHand;
    }
    let (before, after) = (&file[..block.start], &file[block.end..]);
    let block = if content.is_empty() { Vec::new() } else { written(content) };
    Placed::New([before, &block, after].concat())
}

/// Returns a file without our block.
pub(super) fn without_block(mut file: Vec<u8>) -> Vec<u8> {
    while let Some(block) = find(&file) {
        file.drain(block.start..block.end);
    }
    file
}

struct Block<'f> {
    start: usize,
    end: usize,
    content: &'f [u8],
    hash: String,
}

fn find(file: &[u8]) -> Option<Block<'_>> {
    let mut from = 0;
    while let Some(found) = memchr::memmem::find(&file[from..], BEGIN.as_bytes()) {
        let start = from + found;
        from = start + BEGIN.len();
        let Some(hash) = marker_hash(&file[from..]) else { continue };
        let content_start = from + HASH_LENGTH + CLOSE.len() + 1;
        let closing = format!("{END}{hash}{CLOSE}\n");
        let rest = file.get(content_start..)?;
        if let Some(length) = memchr::memmem::find(rest, closing.as_bytes()) {
            let end = content_start + length + closing.len();
            return Some(Block { start, end, content: &rest[..length], hash });
        }
    }
    None
}

/// Reads the hash of an opening marker, up to its line break.
fn marker_hash(text: &[u8]) -> Option<String> {
    let hash = text.get(..HASH_LENGTH)?;
    let closes = text[HASH_LENGTH..].starts_with(format!("{CLOSE}\n").as_bytes());
    let is_hash = hash.iter().all(u8::is_ascii_hexdigit);
    (closes && is_hash).then(|| String::from_utf8_lossy(hash).into_owned())
}

fn written(content: &[u8]) -> Vec<u8> {
    let hash = hash(content);
    let begin = format!("{BEGIN}{hash}{CLOSE}\n");
    let end = format!("{END}{hash}{CLOSE}\n");
    [begin.as_bytes(), content, end.as_bytes()].concat()
}

fn hash(content: &[u8]) -> String {
    sha256(content)[..HASH_LENGTH].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(file: &str, content: &str) -> String {
        match place(file.as_bytes(), content.as_bytes(), HandEdits::Keep) {
            Placed::New(new) => String::from_utf8(new).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_users_text_stays_and_a_second_run_changes_nothing() {
        let first = new("# Mine\n", "rules\n");
        assert!(first.starts_with("# Mine\n\n<!-- brief:rules "));
        assert_eq!(place(first.as_bytes(), b"rules\n", HandEdits::Keep), Placed::Unchanged);
        let more = format!("{first}\nmore of mine\n");
        let second = new(&more, "other\n");
        assert!(second.contains("\nother\n<!-- /brief") && !second.contains("\nrules\n"));
        assert!(second.starts_with("# Mine\n") && second.ends_with("\nmore of mine\n"));
        assert_eq!(new(&first, ""), "# Mine\n\n");
        assert_eq!(place(b"# Mine\n", b"", HandEdits::Keep), Placed::Unchanged);
    }

    #[test]
    fn what_we_wrote_is_not_read_back() {
        let file = new("", "rules\n");
        assert_eq!(without_block(file.into_bytes()), b"");
    }

    #[test]
    fn a_block_that_was_edited_is_kept() {
        let edited = new("", "rules\n").replace("rules\n<", "rules, and mine\n<");
        let placed = |edits| place(edited.as_bytes(), b"other\n", edits);
        assert_eq!(placed(HandEdits::Keep), Placed::EditedByHand);
        assert!(matches!(placed(HandEdits::Replace), Placed::New(_)));
    }

    /// Rules may speak of markers: ours carry the hash of what they hold.
    #[test]
    fn rules_that_look_like_markers_are_content() {
        let tricky =
            "<!-- brief:rules 0123456789abcdef -->\nx\n<!-- /brief:rules 0123456789abcdef -->\n";
        let file = new("", tricky);
        assert_eq!(place(file.as_bytes(), tricky.as_bytes(), HandEdits::Keep), Placed::Unchanged);
        let unclosed = "<!-- brief:rules 0123456789abcdef -->\nmine\n";
        assert!(new(unclosed, "rules\n").starts_with(unclosed));
    }
}
