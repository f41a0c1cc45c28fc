//! The package for Debian and Ubuntu.

use std::fmt::Write;

use md5::{Digest, Md5};

use super::archive::{self, DistFile};
use super::{NAME, Release, SUMMARY};

/// The longer text of the package.
const DESCRIPTION: &str =
    " brief reads AGENTS.yaml, .context directories, task files, portable rules and
 skills, agent files and the files of AI coding clients. It answers what applies
 to one file at one moment, with the reason for each line, and delivers it
 through the hooks of the clients, over MCP or on the command line.
";

/// The licenses. The text of the Apache license is on every system (policy 12.5).
const COPYRIGHT: &str = concat!(
    "Briefing is licensed under MIT or Apache-2.0, as you like. The text of the Apache License 2.0 is in\n",
    "/usr/share/common-licenses/Apache-2.0. Licenses of what is linked in are in THIRD-PARTY.txt.gz.\n\n",
    include_str!("../../../LICENSE-MIT")
);

/// Makes `briefing_VERSION_ARCHITECTURE.deb`.
pub(super) fn build_deb(release: &Release, architecture: &str) -> (String, Vec<u8>) {
    let documents = format!("usr/share/doc/{NAME}");
    let compressed = |path: String, text: &[u8]| {
        // Policy 12.1 and 12.3: pages and long documents are compressed.
        DistFile::new(path, archive::compress_gzip(text, release.level))
    };
    let mut files = vec![
        DistFile::text(format!("{documents}/copyright"), COPYRIGHT),
        compressed(format!("{documents}/CHANGELOG.md.gz"), include_bytes!("../../../CHANGELOG.md")),
        compressed(format!("{documents}/THIRD-PARTY.txt.gz"), release.licenses.as_bytes()),
        DistFile::text(format!("{documents}/README.md"), include_str!("../../../README.md")),
    ];
    files.extend(release.program_files("usr/bin"));
    for (name, page) in &release.manual {
        files.push(compressed(format!("usr/share/man/man1/{name}.gz"), page));
    }
    for ((shell, name), script) in super::SHELLS.iter().zip(&release.completions) {
        let directory = match *shell {
            "bash" => "usr/share/bash-completion/completions".to_owned(),
            "fish" => "usr/share/fish/vendor_completions.d".to_owned(),
            "zsh" => "usr/share/zsh/vendor-completions".to_owned(),
            // These read no directory by themselves.
            _ => format!("{documents}/completions"),
        };
        files.push(DistFile::new(format!("{directory}/{name}"), script.clone()));
    }
    files.sort_by(|left, right| left.path.cmp(&right.path));
    let sums = files.iter().map(|file| format!("{}  {}\n", hash_md5(&file.data), file.path));
    let sums: String = sums.collect();
    let kilobytes: usize = files.iter().map(|file| file.data.len().div_ceil(1024)).sum();
    let depends = match release.glibc {
        Some((major, minor)) => format!("Depends: libc6 (>= {major}.{minor}), libgcc-s1\n"),
        None => String::new(),
    };
    let control = format!(
        "Package: {NAME}\nVersion: {}\nArchitecture: {architecture}\nMaintainer: The Briefing contributors <briefing@invalid>\n\
         Installed-Size: {kilobytes}\n{depends}Recommends: git\nSection: devel\nPriority: optional\nDescription: {SUMMARY}\n{DESCRIPTION}",
        release.version,
    );
    let control = vec![DistFile::text("control", &control), DistFile::text("md5sums", &sums)];
    let pack = |files: Vec<DistFile>| {
        let files = files.into_iter().map(|file| file.move_below(".")).collect();
        archive::tar_gz_with_directories(files, release.time, release.level)
    };
    let members = [
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.gz", pack(control)),
        ("data.tar.gz", pack(files)),
    ];
    let name = format!("{NAME}_{}_{architecture}.deb", release.version);
    (name, archive::build_ar(&members, release.time))
}

fn hash_md5(data: &[u8]) -> String {
    let mut text = String::new();
    for byte in Md5::digest(data) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}
