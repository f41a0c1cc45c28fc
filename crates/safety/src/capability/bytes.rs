//! Files classified by their bytes: opaque to a review, or executable.

use brief_syntax::Span;
use brief_syntax::source::Encoding;
use brief_system::Permission;
use memchr::memmem;

use super::{Capability, FileScan};

/// Magic bytes of archives, programs and bytecode.
const OPAQUE: [(&[u8], &str); 27] = [
    (b"PK\x03\x04", "a zip archive"),
    (b"PK\x05\x06", "a zip archive"),
    (b"\x1f\x8b", "gzip data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ\x00", "xz data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a rar archive"),
    (b"\x04\x22\x4d\x18", "lz4 data"),
    (b"!<arch>\n", "an ar archive"),
    (b"\xed\xab\xee\xdb", "an rpm package"),
    (b"MSCF", "a cabinet archive"),
    (b"\x7fELF", "a program (ELF)"),
    (b"MZ", "a program (PE)"),
    (b"\xfe\xed\xfa\xce", "a program (Mach-O)"),
    (b"\xfe\xed\xfa\xcf", "a program (Mach-O)"),
    (b"\xce\xfa\xed\xfe", "a program (Mach-O)"),
    (b"\xcf\xfa\xed\xfe", "a program (Mach-O)"),
    (b"\xca\xfe\xba\xbe", "bytecode (Java or Mach-O)"),
    (b"\x00asm", "bytecode (WebAssembly)"),
    (b"BC\xc0\xde", "bytecode (LLVM)"),
    (b"\x1bLua", "bytecode (Lua)"),
    (b"dex\n", "bytecode (Dalvik)"),
    (b"SQLite format 3\x00", "a database"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an office file that can hold macros"),
    (b"\x80\x04\x95", "a Python pickle"),
    (b"\x80\x05\x95", "a Python pickle"),
];

/// Extensions of opaque formats without magic bytes.
const OPAQUE_ENDINGS: [(&str, &str); 10] = [
    ("pyc", "bytecode (Python)"),
    ("pyo", "bytecode (Python)"),
    ("pkl", "a Python pickle"),
    ("pickle", "a Python pickle"),
    ("tar", "a tar archive"),
    ("node", "a native module"),
    ("so", "a native library"),
    ("dylib", "a native library"),
    ("dll", "a native library"),
    ("exe", "a program"),
];

/// Magic bytes of images, audio, fonts and documents, which clients show and never execute.
const MEDIA: [&[u8]; 25] = [
    b"\x89PNG\r\n\x1a\n",
    b"\xff\xd8\xff",
    b"GIF87a",
    b"GIF89a",
    b"RIFF",
    b"BM",
    b"\x00\x00\x01\x00",
    b"\x00\x00\x02\x00",
    b"II*\x00",
    b"MM\x00*",
    b"%PDF-",
    b"\x00\x01\x00\x00",
    b"OTTO",
    b"ttcf",
    b"true",
    b"wOFF",
    b"wOF2",
    b"ID3",
    b"\xff\xfb",
    b"\xff\xf3",
    b"OggS",
    b"fLaC",
    b"\x1aE\xdf\xa3",
    b"8BPS",
    b"\x76\x2f\x31\x01",
];

/// The end record of a zip archive, which may follow any content: an image can be an archive, too.
const ZIP_END: &[u8] = b"PK\x05\x06";

/// The number of last bytes in which the end record of a zip archive begins.
const ZIP_TAIL: usize = 66_000;

/// The first line of a Git LFS pointer, whose content is elsewhere.
const LFS_POINTER: &str = "version https://git-lfs.github.com/spec/";

/// Extensions of code for an interpreter.
const SCRIPTS: [&str; 30] = [
    "applescript",
    "awk",
    "bash",
    "bat",
    "cjs",
    "cmd",
    "command",
    "csh",
    "fish",
    "js",
    "jsx",
    "ksh",
    "lua",
    "mjs",
    "mts",
    "php",
    "pl",
    "pm",
    "ps1",
    "psd1",
    "psm1",
    "py",
    "pyw",
    "rb",
    "scpt",
    "sh",
    "tcl",
    "ts",
    "vbs",
    "zsh",
];

/// Names of files that a tool executes by itself.
const STARTED: [&str; 6] =
    ["Makefile", "makefile", "GNUmakefile", "Justfile", "justfile", "Rakefile"];

/// Returns whether content is binary: it holds a NUL or known magic bytes.
pub(super) fn is_binary(content: &[u8]) -> bool {
    memchr::memchr(0, content).is_some() || is_media(content) || opaque_start(content).is_some()
}

fn opaque_start(content: &[u8]) -> Option<&'static str> {
    let known = OPAQUE.iter().find(|(start, _)| content.starts_with(start));
    // A text may begin with the two or three letters of short magic bytes; a program is not UTF-8.
    let known = known.filter(|(start, _)| start.len() > 3 || std::str::from_utf8(content).is_err());
    known.map(|(_, what)| *what)
}

fn is_media(content: &[u8]) -> bool {
    let is_known = MEDIA.iter().any(|start| content.starts_with(start));
    let is_boxed = content.get(4..8) == Some(b"ftyp");
    (is_known || is_boxed) && std::str::from_utf8(content).is_err() || content.starts_with(b"%PDF-")
}

/// Reports a file that cannot be reviewed, and one that can be executed.
pub(super) fn scan_bytes(file: &mut FileScan, permission: Permission) {
    if let Some(what) = find_opaque_kind(file) {
        let evidence = format!("{}: {what}", file.slashed);
        file.add_finding(Capability::Opaque, Span::default(), &evidence);
        return;
    }
    if !file.is_text {
        return;
    }
    if let Encoding::Invalid { offset } = file.source.encoding() {
        let span = Span::empty_at(offset);
        file.add_finding(Capability::HiddenText, span, "bytes that are not UTF-8");
    }
    if is_script(file, permission) {
        let evidence = file.slashed.clone();
        file.add_finding(Capability::Scripts, Span::default(), &evidence);
    }
}

fn find_opaque_kind(file: &FileScan) -> Option<&'static str> {
    let ending = file.file_extension();
    let by_name = OPAQUE_ENDINGS.iter().find(|(known, _)| *known == ending).map(|(_, what)| *what);
    if file.is_text {
        let is_pointer = file.source.text().starts_with(LFS_POINTER);
        return by_name.or(is_pointer.then_some("a Git LFS pointer: the content is elsewhere"));
    }
    let content = &file.content;
    let tail = &content[content.len().saturating_sub(ZIP_TAIL)..];
    if is_media(content) {
        let has_archive = memmem::find(tail, ZIP_END).is_some();
        return by_name.or(has_archive.then_some("a picture or page that is a zip archive, too"));
    }
    let is_tar = content.get(257..262) == Some(b"ustar");
    // UTF-16 and all other unknown bytes.
    let other = if is_tar { "a tar archive" } else { "bytes that are not text" };
    Some(opaque_start(content).or(by_name).unwrap_or(other))
}

fn is_script(file: &FileScan, permission: Permission) -> bool {
    let text = file.source.text();
    text.trim_start_matches('\u{feff}').starts_with("#!")
        || permission == Permission::Program
        || SCRIPTS.binary_search(&file.file_extension().as_str()).is_ok()
        || STARTED.contains(&file.name())
        || file.name().ends_with("-bootstrap")
}
