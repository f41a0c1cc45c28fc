//! markdownlint as an oracle: generated Markdown has to satisfy this linter.
//!
//! It is installed once, in its exact version, into the workspace's target directory. Tests that ask it begin with
//! `needs!(Markdownlint)`.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tools::target_directory;

/// The installed version: the last one for Node.js 20.
pub const VERSION: &str = "0.22.1";

/// The variable with the linter's executable; the default is the one in the target directory.
pub const VARIABLE: &str = "BRIEF_MARKDOWNLINT";

/// The default rules without line length: our formatter does not wrap prose.
const CONFIGURATION: &str = "{\"config\": {\"default\": true, \"MD013\": false}, \"noBanner\": true, \"noProgress\": true}\n";

/// Lints all Markdown below a directory, and returns one line for each finding, sorted.
///
/// Writes the linter's configuration into the directory. Fails the test when the linter cannot be installed
/// or fails.
pub fn run_markdownlint(directory: &Path) -> Vec<String> {
    let linter = find_markdownlint().unwrap_or_else(|problem| panic!("{problem}"));
    let configuration = directory.join(".markdownlint-cli2.jsonc");
    fs::write(configuration, CONFIGURATION).expect("files can be written");
    let output = Command::new(&linter)
        .arg("**/*.md")
        .current_dir(directory)
        .output()
        .unwrap_or_else(|error| panic!("`{}` cannot be started: {error}", linter.display()));
    let said = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) => Vec::new(),
        Some(1) => {
            let mut findings: Vec<String> = said.lines().map(str::to_owned).collect();
            findings.retain(|line| !line.trim().is_empty());
            findings.sort_unstable();
            findings
        }
        _ => panic!("markdownlint-cli2 failed, {}: {said}", output.status),
    }
}

/// Returns the linter's executable, in the workspace's target directory unless a variable names another. Installs it if
/// needed.
pub fn find_markdownlint() -> Result<PathBuf, String> {
    if let Some(path) = env::var_os(VARIABLE) {
        return Ok(PathBuf::from(path));
    }
    install_markdownlint("npm", &target_directory().join("markdownlint"))
}

fn install_markdownlint(npm: &str, directory: &Path) -> Result<PathBuf, String> {
    let describe = |error| format!("`{}`: {error}", directory.display());
    fs::create_dir_all(directory).map_err(describe)?;
    // Test programs run in parallel, and the first one installs for all.
    let lock = File::create(directory.join("lock")).map_err(describe)?;
    lock.lock().map_err(describe)?;
    let place = directory.join(VERSION);
    let linter = place.join("node_modules").join(".bin").join("markdownlint-cli2");
    if linter.exists() {
        return Ok(linter);
    }
    // An interrupted installation stays under another name.
    let unfinished = directory.join("unfinished");
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished).map_err(describe)?;
    }
    fs::create_dir(&unfinished).map_err(describe)?;
    let output = Command::new(npm)
        .args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"])
        .arg(&unfinished)
        .arg(format!("markdownlint-cli2@{VERSION}"))
        .output()
        .map_err(|error| {
            format!(
                "this test lints with markdownlint-cli2 {VERSION}, which `{npm}` has to install: it \
                 cannot be started ({error}); install Node.js 20 or later with npm, or set \
                 `{VARIABLE}` to the linter's executable"
            )
        })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("`{npm} install markdownlint-cli2@{VERSION}` failed: {said}"));
    }
    if place.exists() {
        fs::remove_dir_all(&place).map_err(describe)?;
    }
    fs::rename(&unfinished, &place).map_err(describe)?;
    if linter.exists() { Ok(linter) } else { Err(format!("`{}` is missing", linter.display())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_have_file_line_and_rule() {
        crate::needs!(Markdownlint);
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let hidden = directory.path().join(".github").join("instructions");
        fs::create_dir_all(&hidden).expect("directories can be made");
        fs::write(directory.path().join("good.md"), "# Title\n").expect("files can be written");
        fs::write(hidden.join("bad.md"), "# Title\ntext\n").expect("files can be written");
        let findings = run_markdownlint(directory.path());
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(
            findings[0].starts_with(".github/instructions/bad.md:1 error MD022/"),
            "{findings:?}"
        );
    }

    #[test]
    fn a_machine_without_npm_fails_and_says_so() {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let problem = install_markdownlint("no-such-npm", directory.path())
            .expect_err("there is no such program");
        assert!(problem.contains("install Node.js 20"), "{problem}");
    }
}
