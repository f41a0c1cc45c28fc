//! Layers: files as a tar archive.
//!
//! An archive that we write is plain, because compressed bytes depend on the version of the compressor: sorted
//! by path, without times and owners, with two modes. So equal files give equal bytes on every machine.
//! Archives of others may be compressed.

use std::io::{self, Read};

use brief_syntax::limits;

use super::error::OciError;
use crate::address::one_line;
use crate::extract::safe_path;

/// A file of an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PackedFile {
    pub(crate) path: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) program: bool,
}

/// Packs files, which must have different paths.
pub(crate) fn pack_files(files: &mut [PackedFile]) -> io::Result<Vec<u8>> {
    files.sort_by(|left, right| left.path.cmp(&right.path));
    let mut archive = tar::Builder::new(Vec::new());
    archive.mode(tar::HeaderMode::Deterministic);
    for file in files {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Regular);
        header.set_size(file.bytes.len() as u64);
        header.set_mode(if file.program { 0o755 } else { 0o644 });
        header.set_mtime(0);
        header.set_uid(0);
        header.set_gid(0);
        archive.append_data(&mut header, &file.path, file.bytes.as_slice())?;
    }
    archive.into_inner()
}

/// The space that the files of one artifact may still take.
pub(crate) struct Space {
    pub(crate) bytes: u64,
    pub(crate) files: usize,
}

impl Default for Space {
    fn default() -> Space {
        Space { bytes: limits::REMOTE_BYTES, files: limits::REMOTE_FILES }
    }
}

impl Space {
    /// Takes the space of one file. The error says what there is too much of.
    pub(crate) fn reserve_file(&mut self, repository: &str, bytes: u64) -> Result<(), OciError> {
        let too_large = |limit, unit| OciError::TooLarge {
            repository: repository.to_owned(),
            what: "the artifact",
            limit,
            unit,
        };
        self.files = self
            .files
            .checked_sub(1)
            .ok_or_else(|| too_large(limits::REMOTE_FILES as u64, "files"))?;
        self.bytes = self
            .bytes
            .checked_sub(bytes)
            .ok_or_else(|| too_large(limits::REMOTE_BYTES, "bytes when unpacked"))?;
        Ok(())
    }
}

/// Unpacks an archive, which may be compressed with gzip.
///
/// Links and devices are left out; their number is returned beside the files. A path that leads out of the
/// directory makes the whole archive invalid.
pub(crate) fn unpack_archive(
    repository: &str,
    bytes: &[u8],
    space: &mut Space,
) -> Result<(Vec<PackedFile>, usize), OciError> {
    let is_compressed = bytes.starts_with(&[0x1f, 0x8b]);
    let plain: Box<dyn Read> = if is_compressed {
        Box::new(flate2::read::MultiGzDecoder::new(bytes))
    } else {
        Box::new(bytes)
    };
    // Headers and padding take space too: of each file a header and less than a block, and long names.
    let most = space.bytes.saturating_add(space.files as u64 * 8 * 1024);
    let broken = |error: io::Error| {
        OciError::wrong_shape(repository, format!("contains an invalid layer archive: {error}"))
    };
    let mut archive = tar::Archive::new(plain.take(most));
    let (mut files, mut skipped) = (Vec::new(), 0);
    for entry in archive.entries().map_err(broken)? {
        let mut entry = entry.map_err(broken)?;
        let kind = entry.header().entry_type();
        if kind.is_dir() || kind.is_pax_global_extensions() {
            continue;
        }
        let name = entry.path_bytes().into_owned();
        let name = name.strip_prefix(b"./").unwrap_or(&name);
        let path = safe_path(name).and_then(|path| path.to_str().map(str::to_owned));
        let Some(path) = path else {
            let name = one_line(&String::from_utf8_lossy(name));
            return Err(OciError::HostileName { repository: repository.to_owned(), name });
        };
        if !kind.is_file() {
            skipped += 1;
            continue;
        }
        let size = entry.header().size().map_err(broken)?.max(entry.size());
        if size > limits::REMOTE_FILE_BYTES {
            return Err(OciError::too_large(repository, "a file", limits::REMOTE_FILE_BYTES));
        }
        space.reserve_file(repository, size)?;
        let program = entry.header().mode().is_ok_and(|mode| mode & 0o100 != 0);
        let mut content = Vec::new();
        entry.read_to_end(&mut content).map_err(broken)?;
        if content.len() as u64 != entry.size() {
            return Err(broken(io::ErrorKind::UnexpectedEof.into()));
        }
        files.push(PackedFile { path, bytes: content, program });
    }
    Ok((files, skipped))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn file(path: &str, text: &str) -> PackedFile {
        PackedFile { path: path.to_owned(), bytes: text.into(), program: false }
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// An archive with any name and kind, as a hostile registry may serve it.
    fn hostile(name: &[u8], kind: tar::EntryType) -> Vec<u8> {
        let mut header = tar::Header::new_ustar();
        header.set_entry_type(kind);
        header.set_size(3);
        header.set_mode(0o644);
        header.as_mut_bytes()[..name.len()].copy_from_slice(name);
        header.set_cksum();
        let mut bytes = header.as_bytes().to_vec();
        bytes.extend_from_slice(b"abc");
        bytes.resize(2048, 0);
        bytes
    }

    #[test]
    fn the_order_of_files_makes_no_difference() {
        let long = format!("skills/{}/SKILL.md", "x".repeat(150));
        let mut one = [file("b", "2"), file("a", "1"), file(&long, "3")];
        let mut other = [file(&long, "3"), file("a", "1"), file("b", "2")];
        let packed = pack_files(&mut one).unwrap();
        assert_eq!(packed, pack_files(&mut other).unwrap());
        for bytes in [packed.clone(), gzip(&packed)] {
            let (files, skipped) = unpack_archive("r", &bytes, &mut Space::default()).unwrap();
            assert_eq!((files.as_slice(), skipped), (&one[..], 0));
        }
    }

    #[test]
    fn paths_that_climb_are_refused() {
        let regular = tar::EntryType::Regular;
        for name in [&b"../x"[..], b"/etc/x", b"a/../../x", b".git/config", b"a//b", b"a/./b"] {
            let refused = unpack_archive("r", &hostile(name, regular), &mut Space::default());
            assert!(matches!(refused, Err(OciError::HostileName { .. })), "{name:?}");
        }
        let kept = unpack_archive("r", &hostile(b"./a/b", regular), &mut Space::default()).unwrap();
        assert_eq!(kept.0, [file("a/b", "abc")]);
        for kind in [tar::EntryType::Symlink, tar::EntryType::Link, tar::EntryType::Char] {
            let (files, skipped) =
                unpack_archive("r", &hostile(b"x", kind), &mut Space::default()).unwrap();
            assert_eq!((files.len(), skipped), (0, 1));
        }
    }

    #[test]
    fn what_expands_to_too_much_is_refused() {
        let mut large = [file("a", "")];
        large[0].bytes = vec![0; 20 * 1024 * 1024];
        let bomb = gzip(&pack_files(&mut large).unwrap());
        assert!(bomb.len() < 64 * 1024);
        let refused = unpack_archive("r", &bomb, &mut Space::default());
        assert!(matches!(refused, Err(OciError::TooLarge { what: "a file", .. })));

        let mut many: Vec<PackedFile> =
            (0..5).map(|n| file(&format!("{n}"), "0123456789")).collect();
        let bytes = pack_files(&mut many).unwrap();
        let refused = unpack_archive("r", &bytes, &mut Space { bytes: 45, files: 10 });
        assert!(matches!(refused, Err(OciError::TooLarge { what: "the artifact", .. })));
        let refused = unpack_archive("r", &bytes, &mut Space { bytes: 500, files: 4 });
        assert!(matches!(refused, Err(OciError::TooLarge { unit: "files", .. })));
    }

    #[test]
    fn broken_archives_are_refused() {
        let packed = pack_files(&mut [file("a", "0123456789")]).unwrap();
        let cut = &packed[..515];
        assert!(matches!(
            unpack_archive("r", cut, &mut Space::default()),
            Err(OciError::Shape { .. })
        ));
        let mut torn = gzip(&packed);
        torn.truncate(torn.len() - 12);
        assert!(matches!(
            unpack_archive("r", &torn, &mut Space::default()),
            Err(OciError::Shape { .. })
        ));
        let nonsense = vec![b'x'; 1024];
        assert!(matches!(
            unpack_archive("r", &nonsense, &mut Space::default()),
            Err(OciError::Shape { .. })
        ));
    }

    #[test]
    fn arbitrary_bytes_never_panic() {
        arbtest::arbtest(|input| {
            let bytes: Vec<u8> = input.arbitrary()?;
            let _ = unpack_archive("r", &bytes, &mut Space { bytes: 1000, files: 10 });
            let mut archive =
                pack_files(&mut [file("a/b", "text"), file("c", "more")]).unwrap_or_default();
            let end = archive.len();
            for byte in bytes {
                let place = input.int_in_range(0..=end - 1)?;
                archive[place] = byte;
            }
            let _ = unpack_archive("r", &archive, &mut Space { bytes: 1000, files: 10 });
            Ok(())
        });
    }
}
