//! Counts of texts that were counted before, by the hash of the text.
//!
//! One line each in a file of the user's cache: 32 letters of a hash, a blank, eight hexadecimal
//! digits. Lines are appended whole, so that two programs cannot harm each other; a line that is
//! torn has another length and does not count. Whatever goes wrong here only means that a text is
//! counted again.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use brief_syntax::limits::TOKEN_COUNT_BYTES;
use brief_system::hash::sha256;
use brief_system::{ReadError, System};

/// Bytes of a line with its end.
const LINE: usize = 42;

/// The name of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct TextHash(u128);

impl TextHash {
    pub(super) fn from_text(text: &str) -> TextHash {
        let hash = sha256(text.as_bytes());
        TextHash(
            hash.get(..32).and_then(|half| u128::from_str_radix(half, 16).ok()).unwrap_or_default(),
        )
    }
}

/// The counts of one vocabulary.
#[derive(Debug)]
pub(super) struct CountRecord {
    directory: Option<PathBuf>,
    vocabulary: &'static str,
    known: Option<RecordedCounts>,
    added: Vec<(TextHash, usize)>,
}

/// The content of the file.
#[derive(Debug, Default)]
struct RecordedCounts {
    counts: HashMap<TextHash, usize>,
    /// The file itself, when it is large enough to be cut.
    bytes: Vec<u8>,
    is_too_large: bool,
}

impl CountRecord {
    /// Returns the record in `directory`, which is read when a count is looked up.
    pub(super) fn with_directory(
        directory: Option<PathBuf>,
        vocabulary: &'static str,
    ) -> CountRecord {
        CountRecord { directory, vocabulary, known: None, added: Vec::new() }
    }

    pub(super) fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    /// From now on nothing is read or written.
    pub(super) fn close(&mut self) {
        self.directory = None;
    }

    fn path(&self) -> Option<PathBuf> {
        Some(self.directory.as_ref()?.join(self.vocabulary))
    }

    pub(super) fn find_count(&mut self, system: &dyn System, key: TextHash) -> Option<usize> {
        if self.known.is_none() {
            self.known =
                Some(self.path().map(|path| read_counts(system, &path)).unwrap_or_default());
        }
        self.known.as_ref()?.counts.get(&key).copied()
    }

    pub(super) fn add_count(&mut self, key: TextHash, count: usize) {
        self.known.get_or_insert_default().counts.insert(key, count);
        self.added.push((key, count));
    }

    /// Writes down what was added.
    pub(super) fn write_added(&mut self, system: &dyn System) {
        let added = std::mem::take(&mut self.added);
        let (Some(directory), Some(path)) = (&self.directory, self.path()) else { return };
        // More than half of what fits would push out what was just added.
        let lines: String =
            added.iter().rev().take(TOKEN_COUNT_BYTES / LINE / 2).map(render_count_line).collect();
        if lines.is_empty() || system.create_private_dir(directory).is_err() {
            return;
        }
        let known = self.known.get_or_insert_default();
        let _ = if known.is_too_large || known.bytes.len() + lines.len() > TOKEN_COUNT_BYTES {
            let kept = known.bytes.len().saturating_sub(TOKEN_COUNT_BYTES / 2);
            // Not from the middle of a line.
            let kept = kept.next_multiple_of(LINE).min(known.bytes.len());
            let bytes = [&known.bytes[kept..], lines.as_bytes()].concat();
            system.replace_file(&path, &bytes)
        } else if known.bytes.ends_with(b"\n") || known.bytes.is_empty() {
            system.append(&path, lines.as_bytes())
        } else {
            // After a torn line the next one would be torn, too.
            system.append(&path, format!("\n{lines}").as_bytes())
        };
    }
}

fn render_count_line((key, count): &(TextHash, usize)) -> String {
    // A text has at most as many tokens as bytes, and no text is that long.
    let count = u32::try_from(*count).unwrap_or(u32::MAX);
    format!("{:032x} {count:08x}\n", key.0)
}

fn read_counts(system: &dyn System, path: &Path) -> RecordedCounts {
    let bytes = match system.read(path, TOKEN_COUNT_BYTES as u64) {
        Ok(bytes) => bytes,
        Err(ReadError::TooLarge { .. }) => {
            return RecordedCounts { is_too_large: true, ..RecordedCounts::default() };
        }
        Err(_) => return RecordedCounts::default(),
    };
    let counts =
        bytes.split_inclusive(|&byte| byte == b'\n').filter_map(parse_count_line).collect();
    RecordedCounts { counts, bytes, is_too_large: false }
}

fn parse_count_line(line: &[u8]) -> Option<(TextHash, usize)> {
    let line = std::str::from_utf8(line).ok().filter(|line| line.len() == LINE)?;
    let (key, count) = line.strip_suffix('\n')?.split_once(' ')?;
    let is_hexadecimal = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if key.len() != 32 || !is_hexadecimal(key) || !is_hexadecimal(count) {
        return None;
    }
    let count = u32::from_str_radix(count, 16).ok()?;
    Some((TextHash(u128::from_str_radix(key, 16).ok()?), usize::try_from(count).ok()?))
}
