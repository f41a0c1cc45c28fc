//! Packages are installed from their files, each with its own tool and without a network, and the installed program runs the
//! first example of the shop.

mod ci;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use brief_testkit::needs;
use flate2::Compression;
use tempfile::TempDir;

use super::Release;
use crate::workspace_root;

/// Packages of the program that the tests build; compressed fast, because they are large.
static PACKAGES: LazyLock<TempDir> = LazyLock::new(|| {
    let directory = tempfile::tempdir().expect("temporary files can be made");
    make_packages(directory.path());
    directory
});

fn make_packages(directory: &Path) {
    // Half of it is for debuggers.
    let small = tempfile::tempdir().expect("temporary files can be made");
    let program = small.path().join("brief");
    for name in ["brief", "brief-agent"] {
        let (stripped, tested) = (small.path().join(name), tested_program(name));
        call("strip", &["-o".as_ref(), stripped.as_ref(), tested.as_ref()]);
    }
    let release = Release::from_binary(&program, Compression::fast()).expect("the program answers");
    release.write_packages(directory).expect("packages can be written");
}

/// Returns a program, which `cargo test --workspace` puts beside the directory of this test.
fn tested_program(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    let directory = test.ancestors().nth(2).expect("tests lie in target/debug/deps");
    let program = directory.join(name);
    assert!(program.exists(), "`{}` is missing: cargo build --workspace", program.display());
    program
}

fn package(ending: &str) -> PathBuf {
    let entries = fs::read_dir(PACKAGES.path()).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> =
        entries.filter(|path| path.to_string_lossy().ends_with(ending)).collect();
    assert_eq!(found.len(), 1, "{ending}: {found:?}");
    found.remove(0)
}

fn call(program: impl AsRef<OsStr>, args: &[&OsStr]) -> String {
    let name = program.as_ref().to_string_lossy().into_owned();
    let mut command = Command::new(&program);
    let output = command.args(args).current_dir(workspace_root()).output();
    let output = output.unwrap_or_else(|error| panic!("`{name}` cannot be started: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name} {args:?}: {}\n{said}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

/// Runs the example of the shop's page: its output is what the page shows.
fn runs_the_first_example(program: &Path) {
    // The other program is next to it.
    let agents = call(program, &["agent".as_ref(), "list".as_ref(), "--json".as_ref()]);
    assert!(agents.contains("\"agent list\""), "{agents}");
    let page = fs::read_to_string(workspace_root().join("examples/shop/README.md")).unwrap();
    let (_, rest) = page.split_once("\n$ cargo run -- ").expect("the page has an example");
    let (line, shown) = rest.split_once('\n').unwrap();
    let (shown, _) = shown.split_once("```").expect("the example ends");
    let args: Vec<&OsStr> = line.split(' ').map(OsStr::new).collect();
    let printed = call(program, &args);
    assert!(shown.lines().count() > 5 && shown.ends_with("…\n"), "{shown}");
    let mut rest = printed.as_str();
    for piece in shown.split("…\n") {
        let found = rest.split_once(piece);
        rest = found.unwrap_or_else(|| panic!("{printed}\nis not what the page shows:\n{shown}")).1;
    }
}

/// Two packagings of one program are the same bytes, and the checksums are those of the files.
#[test]
fn packaging_is_reproducible() {
    let again = tempfile::tempdir().unwrap();
    make_packages(again.path());
    let files = |directory: &Path| {
        let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
        let read = |entry: fs::DirEntry| {
            (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())
        };
        entries.map(read).collect::<BTreeMap<String, Vec<u8>>>()
    };
    let (first, second) = (files(PACKAGES.path()), files(again.path()));
    assert!(first.len() >= 6, "{:?}", first.keys());
    assert!(first.keys().eq(second.keys()));
    for (name, data) in &first {
        assert!(second[name] == *data, "{name} differs");
    }
    let sums = String::from_utf8(first["SHA256SUMS"].clone()).unwrap();
    assert_eq!(sums.lines().count(), first.len() - 1, "{sums}");
    let sums_file = PACKAGES.path().join("SHA256SUMS");
    let sums_file = sums_file.to_string_lossy();
    let check = format!("cd '{}' && sha256sum --check '{sums_file}'", PACKAGES.path().display());
    call("sh", &["-c".as_ref(), check.as_ref()]);
}

/// The archive has the program, the manual, completions and licenses, and `tar` unpacks it.
#[test]
fn the_archive_is_complete() {
    let scratch = tempfile::tempdir().unwrap();
    let archive = package(".tar.gz");
    call("tar", &["-xzf".as_ref(), archive.as_ref(), "-C".as_ref(), scratch.path().as_ref()]);
    let name = archive.file_name().unwrap().to_string_lossy().into_owned();
    let top = scratch.path().join(name.strip_suffix(".tar.gz").unwrap());
    for file in [
        "LICENSE-APACHE",
        "LICENSE-MIT",
        "README.md",
        "completions/bash/brief",
        "completions/fish/brief.fish",
        "completions/nushell/brief.nu",
        "completions/powershell/brief.ps1",
        "completions/zsh/_brief",
        "share/man/man1/brief-agent-run.1",
        "share/man/man1/brief.1",
    ] {
        assert!(fs::metadata(top.join(file)).is_ok_and(|found| found.len() > 100), "{file}");
    }
    let licenses = fs::read_to_string(top.join("THIRD-PARTY.txt")).unwrap();
    for part in ["serde 1.", "Fabrice Bellard", "Permission is hereby granted"] {
        assert!(licenses.contains(part), "{part}");
    }
    runs_the_first_example(&top.join("bin/brief"));
}

/// `pip` installs the wheel into a fresh environment, checks its record and removes it again.
#[test]
fn the_wheel_installs_with_pip() {
    needs!(Venv);
    let scratch = tempfile::tempdir().unwrap();
    let environment = scratch.path().join("venv");
    call("python3", &["-m".as_ref(), "venv".as_ref(), environment.as_ref()]);
    let wheel = package(".whl");
    let pip = environment.join("bin").join("pip");
    let options = ["install", "--quiet", "--no-index", "--disable-pip-version-check"];
    let mut args: Vec<&OsStr> = options.iter().map(OsStr::new).collect();
    args.push(wheel.as_ref());
    call(&pip, &args);
    runs_the_first_example(&environment.join("bin").join("brief"));
    let shown = call(&pip, &["show".as_ref(), "--files".as_ref(), "briefing".as_ref()]);
    for line in ["Version: 0.1.0", "bin/brief", "bin/brief-agent", "share/man/man1/brief-why.1"] {
        assert!(shown.contains(line), "{line}:\n{shown}");
    }
    call(&pip, &["uninstall".as_ref(), "--yes".as_ref(), "briefing".as_ref()]);
    assert!(!environment.join("bin").join("brief").exists());
}

/// `npm` installs both packages without a network, and the starter passes on arguments, output and exit code.
#[test]
fn the_npm_packages_install() {
    needs!(Npm);
    let scratch = tempfile::tempdir().unwrap();
    let (starter, program) = (package("briefing-0.1.0.tgz"), package("-x64-0.1.0.tgz"));
    let mut npm = Command::new("npm");
    npm.args(["install", "--offline", "--no-audit", "--no-fund", "--prefix"])
        .arg(scratch.path())
        .args([&starter, &program])
        .env("npm_config_cache", scratch.path().join("cache"));
    let output = npm.output().unwrap_or_else(|error| panic!("`npm` cannot be started: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let starter = scratch.path().join("node_modules/.bin/brief");
    runs_the_first_example(&starter);
    let refused = Command::new(&starter).arg("nonsense").output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    // `npx brief` finds it in the project.
    let mut npx = Command::new("npx");
    let output = npx.args(["brief", "--version"]).current_dir(scratch.path()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "brief 0.1.0\n");
    // Without the package of its platform it says which one is missing.
    fs::remove_dir_all(scratch.path().join("node_modules/@briefing")).unwrap();
    let output = Command::new(&starter).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("`@briefing/linux-x64` is not installed"), "{said}");
    assert_eq!(output.status.code(), Some(2));
}

/// The packages go to stand-ins for the registries with the tools of their users, and come back from there.
#[test]
fn an_upload_is_rehearsed() {
    needs!(Npm, Venv);
    let steps = crate::release::rehearse_upload(PACKAGES.path(), "0.1.0").unwrap();
    let is_done = |step: &crate::release::Step| matches!(step, crate::release::Step::Done(_));
    assert!(steps.len() == 2 && steps.iter().all(is_done), "{steps:?}");
}

/// `dpkg` installs the package below a scratch root, finds all its files unchanged, and `man` its pages.
#[test]
fn the_debian_package_installs() {
    needs!(Dpkg, Man);
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path();
    for directory in ["info", "updates", "triggers"] {
        fs::create_dir_all(root.join("var/lib/dpkg").join(directory)).unwrap();
    }
    fs::write(root.join("var/lib/dpkg/status"), "").unwrap();
    let in_root = format!("--root={}", root.display());
    let package = package(".deb");
    // The scratch root has no C library, which the program of the tests names.
    let options = ["--force-not-root", "--force-depends", "--log=/dev/null", "--install"];
    let mut args: Vec<&OsStr> = vec![in_root.as_ref()];
    args.extend(options.iter().map(OsStr::new));
    args.push(package.as_ref());
    call("dpkg", &args);
    runs_the_first_example(&root.join("usr/bin/brief"));
    assert_eq!(call("dpkg", &[in_root.as_ref(), "--verify".as_ref()]), "");
    for file in [
        "usr/share/bash-completion/completions/brief",
        "usr/share/zsh/vendor-completions/_brief",
        "usr/share/doc/briefing/copyright",
    ] {
        assert!(root.join(file).is_file(), "{file}");
    }
    let manual = root.join("usr/share/man");
    let page = call(
        "man",
        &["-M".as_ref(), manual.as_ref(), "-P".as_ref(), "cat".as_ref(), "brief-why".as_ref()],
    );
    assert!(page.contains("brief-why"), "{page}");
}

/// Every crate that is linked in has a license and the checksum of its file.
#[test]
fn the_bill_of_materials_names_all_licenses() {
    let bill = fs::read(package(".cdx.json")).unwrap();
    let bill: serde_json::Value = serde_json::from_slice(&bill).unwrap();
    let components = bill["components"].as_array().unwrap();
    assert!(components.len() > 100, "{}", components.len());
    for component in components {
        let license = component["licenses"][0]["expression"].as_str().unwrap();
        assert!(!license.is_empty() && !license.contains('/'), "{component}");
        let is_crate = component["purl"].as_str().unwrap().starts_with("pkg:cargo/");
        let sum = component["hashes"][0]["content"].as_str().unwrap_or_default();
        assert_eq!(sum.len(), if is_crate { 64 } else { 0 }, "{component}");
    }
    let is_named = |name: &str| components.iter().any(|component| component["name"] == name);
    assert!(is_named("serde_json") && is_named("rquickjs-sys"));
    assert!(!is_named("insta") && !is_named("xtask") && !is_named("clap_derive"));
}
