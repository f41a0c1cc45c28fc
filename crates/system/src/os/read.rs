//! Reading a file that is open: not more than allowed, and not more in memory than needed.

use std::fs::File;
use std::io::{self, Read};

use crate::ReadError;

/// Reads an open regular file of the given size, and stops at `limit` even if it grows meanwhile.
pub(super) fn read_open(file: &mut File, size: u64, limit: u64) -> Result<Vec<u8>, ReadError> {
    if size > limit {
        return Err(ReadError::TooLarge { limit });
    }
    let size = usize::try_from(size).unwrap_or(0);
    let mut bytes = vec![0; size];
    let mut filled = 0;
    while filled < size {
        match file.read(&mut bytes[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    bytes.truncate(filled);
    // Files of `/proc` and the like have content but no size.
    if size == 0 {
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit {
            return Err(ReadError::TooLarge { limit });
        }
    }
    Ok(bytes)
}

/// Bytes of a file that are in memory at once.
const PIECE: u64 = 256 * 1024;

/// Reads an open regular file piece by piece, and stops at `limit` even if it grows meanwhile.
pub(super) fn read_by_pieces(
    file: &mut File,
    size: u64,
    limit: u64,
    piece: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> Result<(), ReadError> {
    if size > limit {
        return Err(ReadError::TooLarge { limit });
    }
    // One more than there should be, so that most files are read in one call.
    let mut buffer = vec![0; usize::try_from(size.min(PIECE)).unwrap_or(0) + 1];
    let mut total = 0;
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => {
                total += count as u64;
                if total > limit {
                    return Err(ReadError::TooLarge { limit });
                }
                piece(&buffer[..count])?;
                if count < buffer.len() && total >= size {
                    return Ok(());
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
}
