//! The npm packages: one with the program for each platform, and one that starts the program of its platform.

use serde_json::{Value, json};

use super::archive::{self, DistFile};
use super::platform::{PLATFORMS, Platform};
use super::{NAME, Release, SUMMARY};

/// Starts the program of the platform package.
const SHIM: &str = include_str!("../../../packaging/npm/brief.js");

/// Makes `briefing-VERSION.tgz`, which every release makes alike, and `briefing-OS-CPU-VERSION.tgz`.
pub(super) fn build_npm_packages(release: &Release) -> [(String, Vec<u8>); 2] {
    let version = &release.version;
    let platform = release.platform;
    let (os, cpu) = platform.node;
    let pack = |mut files: Vec<DistFile>, description: &Value| {
        files.push(DistFile::text("package.json", &format!("{description:#}\n")));
        let files = files.into_iter().map(|file| file.move_below("package")).collect();
        archive::tar_gz(files, release.time, release.level)
    };
    let optional: serde_json::Map<String, Value> =
        PLATFORMS.iter().map(|one| (package_name(one), json!(version))).collect();
    let starter = json!({
        "name": NAME,
        "version": version,
        "description": SUMMARY,
        "license": "MIT OR Apache-2.0",
        "bin": {"brief": "bin/brief.js"},
        "files": ["bin"],
        "engines": {"node": ">=16"},
        "optionalDependencies": optional,
    });
    let [apache, mit, _] = release.license_files();
    let readme = DistFile::text("README.md", include_str!("../../../README.md"));
    let shim = DistFile::program("bin/brief.js", &SHIM.as_bytes().into());
    let starter = pack(vec![shim, readme, apache, mit], &starter);
    let program = json!({
        "name": package_name(platform),
        "version": version,
        "description": format!("The programs of the package {NAME} for {}", platform.triple),
        "license": "MIT OR Apache-2.0",
        "files": ["bin"],
        "os": [os],
        "cpu": [cpu],
        "preferUnplugged": true,
    });
    let mut files = release.program_files("bin").to_vec();
    files.extend(release.license_files());
    [
        (format!("{NAME}-{version}.tgz"), starter),
        (format!("{NAME}-{os}-{cpu}-{version}.tgz"), pack(files, &program)),
    ]
}

fn package_name(platform: &Platform) -> String {
    let (os, cpu) = platform.node;
    format!("@{NAME}/{os}-{cpu}")
}
