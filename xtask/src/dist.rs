//! Packages of the programs, `brief` and `brief-agent`, all made from one pair of binaries: an archive, a `.deb`, a Python wheel, npm packages, checksums and a bill
//! of materials.
//!
//! Package formats are archives with a few texts in them. They are written here, without the tools of each format, so that
//! the same binaries give the same bytes on every machine: names are sorted, times are `SOURCE_DATE_EPOCH`, owners are 0.

mod archive;
mod deb;
mod licenses;
mod npm;
mod platform;
mod sbom;
#[cfg(test)]
mod tests;
mod wheel;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::{env, fs};

use brief_system::hash::sha256;
use flate2::Compression;
use serde_json::Value;

use crate::{run_command, workspace_root};
use archive::DistFile;
use platform::Platform;
use sbom::Component;

/// The name of the project in registries of packages; the program in it is `brief`.
const NAME: &str = "briefing";

/// One line for lists of packages.
const SUMMARY: &str =
    "Gives a coding agent the guidance it needs for one moment of work, and shows why";

/// The shells whose completion scripts are packaged, with the file name that each shell looks for.
const SHELLS: [(&str, &str); 5] = [
    ("bash", "brief"),
    ("fish", "brief.fish"),
    ("nushell", "brief.nu"),
    ("powershell", "brief.ps1"),
    ("zsh", "_brief"),
];

/// The content of the packages.
struct Release {
    version: String,
    platform: &'static Platform,
    program: Arc<[u8]>,
    /// `brief-agent`, which `brief` looks for next to itself.
    agent: Arc<[u8]>,
    /// The glibc that the programs have to find; `None` if they contain their C library.
    glibc: Option<(u32, u32)>,
    /// The manual pages by file name.
    manual: Vec<(String, Vec<u8>)>,
    /// The completion scripts, in the order of [`SHELLS`].
    completions: Vec<Vec<u8>>,
    /// The crates that are linked in, without those of this workspace.
    components: Vec<Component>,
    /// The texts of all their licenses.
    licenses: String,
    /// Seconds since 1970, for the times in archives.
    time: u64,
    level: Compression,
}

/// Makes the packages of a binary and the `brief-agent` next to it, or of two that are built for it.
pub(crate) fn build_packages(binary: Option<&Path>, out: Option<&Path>) -> Result<(), String> {
    let binary = match binary {
        Some(binary) => binary.to_owned(),
        None => build_programs()?,
    };
    let out = out.map_or_else(|| workspace_root().join("target").join("packages"), Path::to_owned);
    let release = Release::from_binary(&binary, Compression::best())?;
    for (name, size) in release.write_packages(&out)? {
        eprintln!("{size:>10}  {}", out.join(name).display());
    }
    match release.glibc {
        None => eprintln!("the programs contain their C library"),
        Some((major, minor)) => eprintln!("the programs need glibc {major}.{minor}"),
    }
    Ok(())
}

/// Builds the programs as they ship, without the names of this machine's directories in it.
fn build_programs() -> Result<PathBuf, String> {
    let cargo_home = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| {
        let home = env::var_os("HOME").or_else(|| env::var_os("USERPROFILE"))?;
        Some(PathBuf::from(home).join(".cargo"))
    });
    let target = env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| workspace_root().join("target"), |target| workspace_root().join(target));
    // The last one that fits counts.
    let mut directories = vec![(workspace_root().to_owned(), "/brief")];
    directories.extend(cargo_home.map(|home| (home, "/cargo")));
    directories.push((target.clone(), "/target"));
    let map = |option: &str| {
        let pairs = directories.iter().map(|(from, to)| format!("{option}{}={to}", from.display()));
        pairs.collect::<Vec<String>>()
    };
    let mut flags = map("--remap-path-prefix=");
    flags
        .extend(env::var("RUSTFLAGS").iter().flat_map(|flags| flags.split(' ')).map(str::to_owned));
    let cflags = map("-ffile-prefix-map=").join(" ");
    // One after the other: built together, `brief` would get the features that only `brief-agent` asks for.
    for package in ["brief-cli", "brief-agent-cli"] {
        eprintln!("+ cargo build --profile dist --package {package} --locked");
        let mut cargo = Command::new(env!("CARGO"));
        cargo
            .args(["build", "--profile", "dist", "--package", package, "--locked"])
            .current_dir(workspace_root())
            .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"))
            .env("SOURCE_DATE_EPOCH", source_time().to_string())
            .env("BRIEF_COMMIT", run_git(&["rev-parse", "HEAD"]).unwrap_or_default());
        if !cfg!(windows) {
            cargo.env("CFLAGS", &cflags);
        }
        run_command(&mut cargo)?;
    }
    Ok(target.join("dist").join(format!("brief{}", env::consts::EXE_SUFFIX)))
}

impl Release {
    /// Reads a binary and the `brief-agent` next to it, and asks for the version, manual pages and completion scripts.
    fn from_binary(binary: &Path, level: Compression) -> Result<Release, String> {
        let facts: Value = serde_json::from_slice(&run_program(binary, &["version", "--json"])?)
            .map_err(|error| format!("{}: {error}", binary.display()))?;
        let fact = |name: &str| facts["program"][name].as_str().unwrap_or_default().to_owned();
        let platform = Platform::from_triple(&fact("target"))?;
        let program = read_file(binary)?;
        let agent = binary.with_file_name(platform.agent_executable());
        let version = fact("version");
        let agent_version = run_program(&agent, &["--version"])?;
        if String::from_utf8_lossy(&agent_version).trim() != format!("brief-agent {version}") {
            return Err(format!("{} is not of version {version}", agent.display()));
        }
        let agent = read_file(&agent)?;
        let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
        let pages = scratch.path().to_string_lossy().into_owned();
        run_program(binary, &["man", &pages])?;
        let mut manual = Vec::new();
        for entry in fs::read_dir(scratch.path()).map_err(|error| error.to_string())? {
            let entry = entry.map_err(|error| error.to_string())?;
            let name = entry.file_name().to_string_lossy().into_owned();
            manual.push((name, read_file(&entry.path())?));
        }
        manual.sort_unstable();
        let script = |(shell, _): (&str, &str)| run_program(binary, &["completions", shell]);
        let glibc = platform::required_glibc(&program)?.max(platform::required_glibc(&agent)?);
        let mut components = sbom::list_linked_crates(platform.triple)?;
        let licenses = licenses::render_licenses(&components, platform, glibc)?;
        components.extend(platform.c_library(glibc));
        Ok(Release {
            version,
            platform,
            glibc,
            program: program.into(),
            agent: agent.into(),
            manual,
            completions: SHELLS.into_iter().map(script).collect::<Result<_, _>>()?,
            components,
            licenses,
            time: source_time(),
            level,
        })
    }

    /// Writes all packages and returns their names with their sizes, sorted.
    fn write_packages(&self, out: &Path) -> Result<Vec<(String, usize)>, String> {
        let mut packages =
            vec![self.build_archive(), wheel::build_wheel(self), sbom::build_sbom(self)];
        packages.extend(npm::build_npm_packages(self));
        packages.extend(self.platform.deb.map(|architecture| deb::build_deb(self, architecture)));
        packages.sort_unstable();
        let sums = packages.iter().map(|(name, data)| format!("{}  {name}\n", sha256(data)));
        let sums: String = sums.collect();
        packages.push(("SHA256SUMS".to_owned(), sums.into_bytes()));
        fs::create_dir_all(out).map_err(|error| format!("{}: {error}", out.display()))?;
        for (name, data) in &packages {
            let path = out.join(name);
            fs::write(&path, data).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(packages.into_iter().map(|(name, data)| (name, data.len())).collect())
    }

    /// The archive for every other way of installing: `bin`, `share/man`, completions, licenses.
    fn build_archive(&self) -> (String, Vec<u8>) {
        let top = format!("brief-{}-{}", self.version, self.platform.triple);
        let mut files = vec![
            DistFile::text("README.md", include_str!("../../README.md")),
            DistFile::text("CHANGELOG.md", include_str!("../../CHANGELOG.md")),
            DistFile::text("Dockerfile", include_str!("../../packaging/Dockerfile")),
        ];
        files.extend(self.program_files("bin"));
        files.extend(self.license_files());
        files.extend(self.manual_pages("share/man/man1"));
        for ((shell, name), script) in SHELLS.iter().zip(&self.completions) {
            files.push(DistFile::new(format!("completions/{shell}/{name}"), script.clone()));
        }
        let files = files.into_iter().map(|file| file.move_below(&top)).collect();
        if self.platform.is_windows() {
            (format!("{top}.zip"), archive::build_zip(files, self.level))
        } else {
            (format!("{top}.tar.gz"), archive::tar_gz(files, self.time, self.level))
        }
    }

    /// The two programs, in one directory.
    fn program_files(&self, directory: &str) -> [DistFile; 2] {
        let (brief, agent) = (self.platform.executable(), self.platform.agent_executable());
        [
            DistFile::program(format!("{directory}/{brief}"), &self.program),
            DistFile::program(format!("{directory}/{agent}"), &self.agent),
        ]
    }

    fn license_files(&self) -> [DistFile; 3] {
        [
            DistFile::text("LICENSE-APACHE", include_str!("../../LICENSE-APACHE")),
            DistFile::text("LICENSE-MIT", include_str!("../../LICENSE-MIT")),
            DistFile::text("THIRD-PARTY.txt", &self.licenses),
        ]
    }

    fn manual_pages(&self, directory: &str) -> impl Iterator<Item = DistFile> {
        let page = move |(name, text): &(String, Vec<u8>)| {
            DistFile::new(format!("{directory}/{name}"), text.clone())
        };
        self.manual.iter().map(page)
    }
}

/// Runs the program and returns its standard output.
fn run_program(binary: &Path, args: &[&str]) -> Result<Vec<u8>, String> {
    let output = Command::new(binary)
        .args(args)
        .output()
        .map_err(|error| format!("{} cannot be started: {error}", binary.display()))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(format!("{} {args:?}: {}", binary.display(), String::from_utf8_lossy(&output.stderr)))
}

fn read_file(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Returns `SOURCE_DATE_EPOCH`, or else the time of the last commit.
fn source_time() -> u64 {
    let set = env::var("SOURCE_DATE_EPOCH").ok();
    let found = set.or_else(|| run_git(&["log", "-1", "--format=%ct"]));
    found.and_then(|seconds| seconds.parse().ok()).unwrap_or_default()
}

fn run_git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).current_dir(workspace_root()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    Some(text.trim().to_owned())
}
