//! Archives whose bytes depend on their content alone.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc, GzBuilder};

/// A file of a package.
#[derive(Clone)]
pub(super) struct DistFile {
    /// The path in the package, with `/`.
    pub(super) path: String,
    pub(super) data: Arc<[u8]>,
    is_executable: bool,
}

impl DistFile {
    pub(super) fn new(path: impl Into<String>, data: impl Into<Arc<[u8]>>) -> DistFile {
        DistFile { path: path.into(), data: data.into(), is_executable: false }
    }

    pub(super) fn text(path: impl Into<String>, text: &str) -> DistFile {
        DistFile::new(path, text.as_bytes())
    }

    pub(super) fn program(path: impl Into<String>, data: &Arc<[u8]>) -> DistFile {
        DistFile { path: path.into(), data: Arc::clone(data), is_executable: true }
    }

    /// Moves a file below a directory of the package.
    pub(super) fn move_below(self, directory: &str) -> DistFile {
        DistFile { path: format!("{directory}/{}", self.path), ..self }
    }

    fn mode(&self) -> u32 {
        if self.is_executable { 0o755 } else { 0o644 }
    }
}

const IN_MEMORY: &str = "memory takes all that is written";

/// Writes a `.tar.gz` of files, without entries for directories.
pub(super) fn tar_gz(files: Vec<DistFile>, time: u64, level: Compression) -> Vec<u8> {
    compress_gzip(&build_tar(files, &BTreeSet::new(), time), level)
}

/// Writes a `.tar.gz` with an entry for each directory before its files, as `dpkg` wants it.
pub(super) fn tar_gz_with_directories(
    files: Vec<DistFile>,
    time: u64,
    level: Compression,
) -> Vec<u8> {
    let directories = files
        .iter()
        .flat_map(|file| file.path.match_indices('/').map(|(end, _)| file.path[..=end].to_owned()));
    let directories = directories.collect();
    compress_gzip(&build_tar(files, &directories, time), level)
}

fn build_tar(mut files: Vec<DistFile>, directories: &BTreeSet<String>, time: u64) -> Vec<u8> {
    files.sort_by(|left, right| left.path.cmp(&right.path));
    let mut tar = tar::Builder::new(Vec::new());
    let mut append = |path: &str, mode: u32, kind: tar::EntryType, data: &[u8]| {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_mode(mode);
        header.set_mtime(time);
        header.set_size(data.len() as u64);
        header.set_uid(0);
        header.set_gid(0);
        tar.append_data(&mut header, path, data).expect(IN_MEMORY);
    };
    for directory in directories {
        append(directory, 0o755, tar::EntryType::Directory, &[]);
    }
    for file in &files {
        append(&file.path, file.mode(), tar::EntryType::Regular, &file.data);
    }
    tar.into_inner().expect(IN_MEMORY)
}

/// Compresses without a name and without a time.
pub(super) fn compress_gzip(data: &[u8], level: Compression) -> Vec<u8> {
    // 255: the operating system does not matter.
    let mut encoder = GzBuilder::new().operating_system(255).write(Vec::new(), level);
    encoder.write_all(data).expect(IN_MEMORY);
    encoder.finish().expect(IN_MEMORY)
}

/// Writes an archive of `ar`, for a `.deb`. The names have at most 15 bytes.
pub(super) fn build_ar(members: &[(&str, Vec<u8>)], time: u64) -> Vec<u8> {
    let mut archive = b"!<arch>\n".to_vec();
    for (name, data) in members {
        let header =
            format!("{name:<16}{time:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, "100644", data.len());
        archive.extend(header.into_bytes());
        archive.extend(data);
        if data.len() % 2 == 1 {
            archive.push(b'\n');
        }
    }
    archive
}

/// The version of zip that has deflate: 2.0.
const VERSION: u16 = 0x14;

/// Writes a zip archive, for a wheel. All its files are of 1980-01-01, when the times of zip begin.
pub(super) fn build_zip(mut files: Vec<DistFile>, level: Compression) -> Vec<u8> {
    files.sort_by(|left, right| left.path.cmp(&right.path));
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    for file in &files {
        let mut checksum = Crc::new();
        checksum.update(&file.data);
        let mut encoder = DeflateEncoder::new(Vec::new(), level);
        encoder.write_all(&file.data).expect(IN_MEMORY);
        let packed = encoder.finish().expect(IN_MEMORY);
        let mut fields = Vec::new();
        // Names are UTF-8 (bit 11 of the flags); the method is deflate.
        push_short(&mut fields, &[VERSION, 1 << 11, 8, 0, 0x21]);
        push_long(&mut fields, &[checksum.sum() as usize, packed.len(), file.data.len()]);
        push_short(&mut fields, &[short_number(file.path.len()), 0]);
        let start = archive.len();
        archive.extend(b"PK\x03\x04");
        archive.extend(&fields);
        archive.extend(file.path.as_bytes());
        archive.extend(packed);
        // 3: the mode of Unix is in the upper half of the attributes.
        directory.extend(b"PK\x01\x02");
        push_short(&mut directory, &[3 << 8 | VERSION]);
        directory.extend(&fields);
        push_short(&mut directory, &[0, 0, 0]);
        push_long(&mut directory, &[((0o10_0000 | file.mode()) << 16) as usize, start]);
        directory.extend(file.path.as_bytes());
    }
    let (start, count) = (archive.len(), short_number(files.len()));
    let size = directory.len();
    archive.extend(directory);
    archive.extend(b"PK\x05\x06");
    push_short(&mut archive, &[0, 0, count, count]);
    push_long(&mut archive, &[size, start]);
    push_short(&mut archive, &[0]);
    archive
}

fn short_number(number: usize) -> u16 {
    u16::try_from(number).expect("a package has few files with short names")
}

fn push_short(bytes: &mut Vec<u8>, numbers: &[u16]) {
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
}

fn push_long(bytes: &mut Vec<u8>, numbers: &[usize]) {
    for number in numbers {
        let number = u32::try_from(*number).expect("a package has less than 4 GB");
        bytes.extend(number.to_le_bytes());
    }
}
