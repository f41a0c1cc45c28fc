//! A release up to the upload: packages, checksums, bill of materials, signatures, notes, and a rehearsal of the upload at
//! stand-ins for the registries. What is left needs accounts, and a person.

mod stand_in;
#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use brief_registry::oci::SigningKey;
use brief_system::hash::sha256;
use serde_json::Value;

use crate::{dist, run_command, workspace_root};
use stand_in::StandIn;

/// The file with the packages' checksums.
const SUMS: &str = "SHA256SUMS";

#[derive(Debug, clap::Args)]
pub(crate) struct ReleaseArgs {
    /// Package this binary and the `brief-agent` next to it instead of building them
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// The directory of the release [default: target/release-VERSION]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Sign the checksums with this key: PKCS#8 in PEM, unencrypted
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Rehearse with uncommitted changes
    #[arg(long)]
    allow_dirty: bool,
}

/// A step, and what became of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Done(String),
    /// It was not possible on this machine.
    Skipped(String),
}

pub(crate) fn prepare_release(args: &ReleaseArgs) -> Result<(), String> {
    let version = workspace_version()?;
    let out = match &args.out {
        Some(out) => out.clone(),
        None => workspace_root().join("target").join(format!("release-{version}")),
    };
    let mut steps = vec![check_tree(args.allow_dirty)?];
    steps.push(check_placeholders()?);
    let changelog = read_text(&workspace_root().join("CHANGELOG.md"))?;
    let notes = release_notes(&changelog, &version)?;
    let packages = out.join("packages");
    if packages.exists() {
        fs::remove_dir_all(&packages)
            .map_err(|error| format!("{}: {error}", packages.display()))?;
    }
    dist::build_packages(args.binary.as_deref(), Some(&packages))?;
    steps.push(check_commit(&packages)?);
    steps.push(check_sums(&packages)?);
    fs::write(out.join("NOTES.md"), &notes).map_err(|error| error.to_string())?;
    steps.push(Step::Done(format!("notes: {} lines of CHANGELOG.md", notes.lines().count())));
    steps.push(match &args.key {
        Some(key) => sign_sums(&packages, key)?,
        None => Step::Skipped("signature: no `--key`".to_owned()),
    });
    steps.extend(rehearse_upload(&packages, &version)?);
    for step in &steps {
        match step {
            Step::Done(text) => println!("done     {text}"),
            Step::Skipped(text) => println!("skipped  {text}"),
        }
    }
    println!("\n{}", remaining_steps(&version, &out, args.key.is_some()));
    Ok(())
}

/// Returns the version of the workspace.
fn workspace_version() -> Result<String, String> {
    let manifest = read_text(&workspace_root().join("Cargo.toml"))?;
    let manifest: toml_edit::DocumentMut = manifest.parse().map_err(|error| format!("{error}"))?;
    let version = manifest["workspace"]["package"]["version"].as_str();
    version.map(str::to_owned).ok_or_else(|| "Cargo.toml names no version".to_owned())
}

/// Refuses a tree that no commit names: nobody could build the same packages.
fn check_tree(allow_dirty: bool) -> Result<Step, String> {
    let changes = git(&["status", "--porcelain", "--untracked-files=no"])?;
    let head = git(&["rev-parse", "HEAD"])?;
    match (changes.is_empty(), allow_dirty) {
        (true, _) => Ok(Step::Done(format!("tree: clean at {head}"))),
        (false, true) => Ok(Step::Skipped("tree: has uncommitted changes".to_owned())),
        (false, false) => Err(format!("commit these changes first:\n{changes}")),
    }
}

/// Refuses names that somebody was to replace.
fn check_placeholders() -> Result<Step, String> {
    let listed = git(&[
        "ls-files",
        "README.md",
        "SECURITY.md",
        "docs/how-to",
        "docs/tutorials",
        "packaging",
        "action.yml",
    ])?;
    let mut found = Vec::new();
    for path in listed.lines() {
        let text = read_text(&workspace_root().join(path)).unwrap_or_default();
        let lines = text.lines().enumerate();
        found.extend(lines.filter_map(|(index, line)| {
            let is_placeholder =
                ["OWNER/", "YOUR-ORG", "TODO", "FIXME"].iter().any(|word| line.contains(word));
            is_placeholder.then(|| format!("{path}:{}: {}", index + 1, line.trim()))
        }));
    }
    if found.is_empty() {
        Ok(Step::Done("placeholders: none".to_owned()))
    } else {
        Err(format!("replace these placeholders:\n{}", found.join("\n")))
    }
}

/// Returns the section of a version, without its heading.
pub(crate) fn release_notes(changelog: &str, version: &str) -> Result<String, String> {
    let heading = format!("## [{version}]");
    let mut lines = changelog.lines().skip_while(|line| !line.starts_with(&heading));
    if lines.next().is_none() {
        return Err(format!("CHANGELOG.md has no section `{heading}`"));
    }
    let is_inside = |line: &&str| !line.starts_with("## ") && !line.starts_with('[');
    let section: Vec<&str> = lines.take_while(is_inside).collect();
    let notes = section.join("\n").trim().to_owned();
    if notes.is_empty() {
        Err(format!("the section `{heading}` is empty"))
    } else {
        Ok(notes + "\n")
    }
}

/// Checks that the packaged program names the commit of the tree.
fn check_commit(packages: &Path) -> Result<Step, String> {
    let archive = find_package(packages, ".tar.gz").or_else(|_| find_package(packages, ".zip"))?;
    let head = git(&["rev-parse", "HEAD"])?;
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    run_command(Command::new("tar").arg("-xf").arg(&archive).arg("-C").arg(scratch.path()))?;
    let top = fs::read_dir(scratch.path()).map_err(|error| error.to_string())?.flatten().next();
    let top = top.ok_or("the archive is empty")?.path();
    let program = top.join("bin").join(format!("brief{}", std::env::consts::EXE_SUFFIX));
    let output = Command::new(&program).args(["version", "--json"]).output();
    let output = output.map_err(|error| format!("{}: {error}", program.display()))?;
    let facts: Value = serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    match facts["program"]["commit"].as_str() {
        Some(commit) if commit == head => Ok(Step::Done(format!("program: says {commit}"))),
        Some(commit) => {
            Err(format!("the program was built from {commit}, and the tree is at {head}"))
        }
        None => Ok(Step::Skipped("program: a development build, which names no commit".to_owned())),
    }
}

/// Compares each package with its checksum, and finds the bill of materials.
fn check_sums(packages: &Path) -> Result<Step, String> {
    let sums = read_text(&packages.join(SUMS))?;
    for line in sums.lines() {
        let (sum, name) = line.split_once("  ").ok_or("SHA256SUMS has a line without a name")?;
        let bytes = fs::read(packages.join(name)).map_err(|error| format!("{name}: {error}"))?;
        if sha256(&bytes) != sum {
            return Err(format!("{name} is not what {SUMS} says"));
        }
    }
    find_package(packages, ".cdx.json")?;
    Ok(Step::Done(format!(
        "packages: {}, with checksums and a bill of materials",
        sums.lines().count()
    )))
}

/// Signs the checksums, and puts the public key beside the signature.
pub(crate) fn sign_sums(packages: &Path, key: &Path) -> Result<Step, String> {
    let pem = fs::read(key).map_err(|error| format!("{}: {error}", key.display()))?;
    let key = SigningKey::parse_pem(&pem).map_err(|error| format!("{}: {error}", key.display()))?;
    let sums = fs::read(packages.join(SUMS)).map_err(|error| format!("{SUMS}: {error}"))?;
    let signature = key.sign(&sums).ok_or("this system has no random numbers")?;
    let write = |name: &str, bytes: &[u8]| {
        fs::write(packages.join(name), bytes).map_err(|error| format!("{name}: {error}"))
    };
    write(&format!("{SUMS}.sig"), &signature)?;
    write("release-key.pem", key.public_key_pem().as_bytes())?;
    Ok(Step::Done(format!("signature: {SUMS}.sig by {}", key.signer())))
}

/// Uploads the packages to stand-ins on loopback with the real tools, and installs them from there.
pub(crate) fn rehearse_upload(packages: &Path, version: &str) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    let stand_in =
        StandIn::start().map_err(|error| format!("the stand-in cannot be started: {error}"))?;
    steps.push(if is_there("npm") {
        rehearse_npm(packages, version, &stand_in)?
    } else {
        Step::Skipped("npm: not installed here".to_owned())
    });
    steps.push(if is_there("python3") {
        rehearse_pip(packages, version, &stand_in)?
    } else {
        Step::Skipped("pip: python3 is not installed here".to_owned())
    });
    Ok(steps)
}

fn rehearse_npm(packages: &Path, version: &str, stand_in: &StandIn) -> Result<Step, String> {
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let registry = stand_in.address();
    let settings = scratch.path().join("npmrc");
    let host = registry.trim_start_matches("http:");
    fs::write(&settings, format!("registry={registry}/\n{host}/:_authToken=rehearsal\n"))
        .map_err(|error| error.to_string())?;
    let npm = |args: &[&str]| {
        let mut npm = Command::new("npm");
        npm.args(args)
            .args(["--no-audit", "--no-fund", "--loglevel=error"])
            .current_dir(scratch.path())
            .env("npm_config_userconfig", &settings)
            .env("npm_config_cache", scratch.path().join("cache"))
            .env("npm_config_update_notifier", "false");
        npm
    };
    let mut names = Vec::new();
    for entry in fs::read_dir(packages).map_err(|error| error.to_string())?.flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|ending| ending == "tgz") {
            names.push(path);
        }
    }
    // The package of a platform comes first: the starter names it.
    names.sort_by_key(|path| std::cmp::Reverse(path.as_os_str().len()));
    for path in &names {
        let path = path.to_string_lossy();
        run_command(&mut npm(&["publish", &path, "--access=public"]))?;
    }
    run_command(&mut npm(&["install", &format!("briefing@{version}")]))?;
    let program = scratch.path().join("node_modules/.bin/brief");
    check_program(&program, version)?;
    Ok(Step::Done(format!("npm: {} packages published and installed", names.len())))
}

fn rehearse_pip(packages: &Path, version: &str, stand_in: &StandIn) -> Result<Step, String> {
    let wheel = find_package(packages, ".whl")?;
    stand_in.add_wheel(&wheel).map_err(|error| format!("{}: {error}", wheel.display()))?;
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let environment = scratch.path().join("venv");
    let made = Command::new("python3").args(["-m", "venv"]).arg(&environment).output();
    if !made.is_ok_and(|made| made.status.success()) {
        return Ok(Step::Skipped("pip: python3 has no `venv` here".to_owned()));
    }
    let index = format!("{}/simple", stand_in.address());
    let mut pip = Command::new(environment.join("bin/pip"));
    pip.args([
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-cache-dir",
        "--index-url",
        &index,
    ])
    .arg(format!("briefing=={version}"));
    run_command(&mut pip)?;
    check_program(&environment.join("bin/brief"), version)?;
    Ok(Step::Done("pip: installed from an index".to_owned()))
}

fn check_program(program: &Path, version: &str) -> Result<(), String> {
    let output = Command::new(program).arg("--version").output();
    let output = output.map_err(|error| format!("{}: {error}", program.display()))?;
    let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let wanted = format!("brief {version}");
    if said == wanted {
        Ok(())
    } else {
        Err(format!("the installed program says `{said}`, not `{wanted}`"))
    }
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Returns the package with this ending.
fn find_package(packages: &Path, ending: &str) -> Result<PathBuf, String> {
    let entries =
        fs::read_dir(packages).map_err(|error| format!("{}: {error}", packages.display()))?;
    let mut found = entries.flatten().map(|entry| entry.path());
    found
        .find(|path| path.to_string_lossy().ends_with(ending))
        .ok_or_else(|| format!("there is no package `*{ending}`"))
}

/// Describes what a person has to do.
pub(crate) fn remaining_steps(version: &str, out: &Path, is_signed: bool) -> String {
    let mut steps = vec![
        format!("read {}", out.join("NOTES.md").display()),
        format!(
            "git tag -s v{version} -m v{version}, and push the tag: CI builds all platforms and drafts the release"
        ),
        format!(
            "compare {SUMS} of the draft with that of {} for this platform",
            out.join("packages").display()
        ),
    ];
    if is_signed {
        steps.push(format!(
            "add {SUMS}.sig and release-key.pem to the draft, over the {SUMS} of all platforms"
        ));
    } else {
        steps.push("run this again with `--key FILE` to sign the checksums".to_owned());
    }
    steps.push(
        "npm login; npm publish each .tgz of the draft, the package `briefing` last".to_owned(),
    );
    steps.push("twine upload each .whl of the draft".to_owned());
    steps.push("publish the draft, and open the next section of CHANGELOG.md".to_owned());
    let steps = steps.iter().enumerate();
    let steps: Vec<String> =
        steps.map(|(index, step)| format!("{}. {step}\n", index + 1)).collect();
    let steps = steps.concat();
    format!("left for a person:\n{steps}")
}

fn read_text(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn git(args: &[&str]) -> Result<String, String> {
    let output = Command::new("git").args(args).current_dir(workspace_root()).output();
    let output = output.map_err(|error| format!("git cannot be started: {error}"))?;
    if !output.status.success() {
        return Err(format!("git {args:?}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
