//! The Python wheel: the programs among the scripts of the environment, without Python code.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::archive::{self, DistFile};
use super::{NAME, Release, SUMMARY};

/// Makes `briefing-VERSION-py3-none-PLATFORM.whl` (PEP 427).
pub(super) fn build_wheel(release: &Release) -> (String, Vec<u8>) {
    let version = &release.version;
    let tag = release.platform.wheel_tag(release.glibc);
    let (information, data) =
        (format!("{NAME}-{version}.dist-info"), format!("{NAME}-{version}.data"));
    let mut files = vec![
        DistFile::text(format!("{information}/METADATA"), &render_metadata(version)),
        DistFile::text(format!("{information}/WHEEL"), &render_wheel_file(&tag)),
    ];
    files.extend(release.program_files(&format!("{data}/scripts")));
    files.extend(release.manual_pages(&format!("{data}/data/share/man/man1")));
    let licenses = release.license_files().into_iter();
    files.extend(licenses.map(|file| file.move_below(&format!("{information}/licenses"))));
    let mut record = String::new();
    for file in &files {
        let sum = URL_SAFE_NO_PAD.encode(sha256_bytes(&file.data));
        let _ = writeln!(record, "{},sha256={sum},{}", file.path, file.data.len());
    }
    let path = format!("{information}/RECORD");
    record.push_str(&format!("{path},,\n"));
    files.push(DistFile::text(path, &record));
    let name = format!("{NAME}-{version}-py3-none-{tag}.whl");
    (name, archive::build_zip(files, release.level))
}

fn render_metadata(version: &str) -> String {
    format!(
        "Metadata-Version: 2.4\nName: {NAME}\nVersion: {version}\nSummary: {SUMMARY}\n\
         License-Expression: MIT OR Apache-2.0\nLicense-File: LICENSE-APACHE\nLicense-File: LICENSE-MIT\n\
         License-File: THIRD-PARTY.txt\nRequires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n{}",
        include_str!("../../../README.md")
    )
}

/// A compressed tag stands for one line for each platform.
fn render_wheel_file(tag: &str) -> String {
    let mut text =
        "Wheel-Version: 1.0\nGenerator: cargo xtask dist\nRoot-Is-Purelib: false\n".to_owned();
    for platform in tag.split('.') {
        let _ = writeln!(text, "Tag: py3-none-{platform}");
    }
    text
}

fn sha256_bytes(data: &[u8]) -> Vec<u8> {
    let text = brief_system::hash::sha256(data);
    let byte = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).unwrap_or_default();
    (0..text.len()).step_by(2).map(byte).collect()
}
