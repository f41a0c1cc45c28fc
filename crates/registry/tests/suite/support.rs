//! A home directory and repositories for the test, isolated from the machine's git settings.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use brief_registry::{Cache, Checkout, FetchError, Network, SourceAddress};
use brief_testkit::RealSystem;

/// The real system with the test's own environment.
pub(crate) struct Sandbox {
    directory: tempfile::TempDir,
    pub(crate) system: RealSystem,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path().join("home");
        fs::create_dir(&home).unwrap();
        let path = |name: &str| home.join(name).to_str().unwrap().to_owned();
        let env = BTreeMap::from([
            ("HOME".to_owned(), path("")),
            ("XDG_CACHE_HOME".to_owned(), path("cache")),
            ("XDG_CONFIG_HOME".to_owned(), path("config")),
            ("GIT_CONFIG_GLOBAL".to_owned(), path("gitconfig")),
            ("GIT_CONFIG_SYSTEM".to_owned(), "/dev/null".to_owned()),
            ("GIT_CONFIG_NOSYSTEM".to_owned(), "1".to_owned()),
            ("LC_ALL".to_owned(), "C".to_owned()),
        ]);
        let system = RealSystem::new(directory.path()).with_env(env);
        Sandbox { directory, system }
    }

    pub(crate) fn with_env(mut self, name: &str, value: &str) -> Self {
        self.system.env.insert(name.to_owned(), value.to_owned());
        self
    }

    pub(crate) fn without_git(mut self) -> Self {
        self.system.has_no_programs = true;
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn cache(&self) -> PathBuf {
        self.path("home/cache/brief/git")
    }

    /// Returns the staged directories that are left in the cache.
    pub(crate) fn staged(&self) -> usize {
        let places = fs::read_dir(self.cache()).unwrap();
        let names = places.flat_map(|place| fs::read_dir(place.unwrap().path()).unwrap());
        names
            .filter(|name| name.as_ref().unwrap().file_name().to_str().unwrap().starts_with('.'))
            .count()
    }

    pub(crate) fn try_checkout(
        &self,
        text: &str,
        network: Network,
    ) -> Result<Checkout, FetchError> {
        match SourceAddress::parse(text, self.directory.path(), &self.system).unwrap() {
            SourceAddress::Git(source) => {
                Cache::of_user(&self.system).unwrap().checkout_reference(&source, network)
            }
            other => panic!("{other} is not a repository"),
        }
    }

    pub(crate) fn checkout(&self, text: &str) -> Checkout {
        self.try_checkout(text, Network::Online).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    /// Returns the git commands that were called.
    pub(crate) fn calls(&self) -> Vec<String> {
        let is_command = |arg: &&str| !arg.starts_with('-') && !arg.contains('=');
        let calls = self.system.calls();
        calls
            .iter()
            .map(|call| {
                let mut args = call.args.iter().map(|arg| arg.to_str().unwrap());
                args.find(is_command).unwrap().to_owned()
            })
            .collect()
    }

    pub(crate) fn arguments(&self) -> Vec<String> {
        let calls = self.system.calls();
        calls
            .iter()
            .flat_map(|call| &call.args)
            .map(|arg| arg.to_str().unwrap().to_owned())
            .collect()
    }

    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        let text = |text: &OsString| text.to_str().unwrap().to_owned();
        let calls = self.system.calls();
        calls
            .iter()
            .flat_map(|call| &call.env)
            .map(|(name, value)| (text(name), text(value)))
            .collect()
    }

    pub(crate) fn forget_calls(&self) {
        self.system.forget_calls();
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.args(args).current_dir(self.directory.path()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap());
        for (name, value) in self.system.env.iter().filter(|(name, _)| !is_astray(name)) {
            command.env(name, value);
        }
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "Name");
            command.env(format!("GIT_{who}_EMAIL"), "name@example.com");
            command.env(format!("GIT_{who}_DATE"), "2026-01-01T00:00:00Z");
        }
        command
    }

    /// Runs git for the test itself.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        let output = self.command(args).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?}: {stderr}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    pub(crate) fn user_setting(&self, key: &str, value: &str) {
        self.git(&["config", "--global", "--add", key, value]);
    }

    /// Returns a repository with the branch `main`. Creates it if needed.
    pub(crate) fn repository(&self, name: &str) -> Repository<'_> {
        let path = self.path(name);
        self.git(&["init", "--quiet", "--initial-branch=main", path.to_str().unwrap()]);
        Repository { sandbox: self, path }
    }
}

/// Variables that are meant to confuse git, and not for the test's own calls.
fn is_astray(name: &str) -> bool {
    name.starts_with("GIT_") && !name.starts_with("GIT_CONFIG_") || name == "GIT_CONFIG_COUNT"
}

pub(crate) struct Repository<'s> {
    sandbox: &'s Sandbox,
    path: PathBuf,
}

impl Repository<'_> {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn address(&self) -> String {
        format!("file://{}", self.path.display())
    }

    pub(crate) fn url(&self) -> String {
        format!("git::{}", self.address())
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        let mut all = vec!["-C", self.path.to_str().unwrap()];
        all.extend_from_slice(args);
        self.sandbox.git(&all)
    }

    pub(crate) fn write(&self, name: &str, content: &str) {
        let path = self.path.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn link(&self, name: &str, target: &str) {
        let path = self.path.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
    }

    /// Commits everything, with these files, and returns the commit.
    pub(crate) fn commit(&self, files: &[(&str, &str)]) -> String {
        for (name, content) in files {
            self.write(name, content);
        }
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "-m", "message"]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Writes an object without validation, and returns its name.
    pub(crate) fn object(&self, kind: &str, content: &[u8]) -> String {
        let args =
            ["-C", self.path.to_str().unwrap(), "hash-object", "--literally", "-w", "--stdin"];
        let mut command = self.sandbox.command(&args);
        let command = command.args(["-t", kind]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(content).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Moves the branch to a commit of this tree.
    pub(crate) fn commit_tree(&self, tree: &str) {
        let commit = self.git(&["commit-tree", "-m", "message", tree]);
        self.git(&["update-ref", "refs/heads/main", &commit]);
    }

    /// Removes the repository, as if the server were gone.
    pub(crate) fn vanish(&self) {
        fs::rename(&self.path, self.path.with_extension("gone")).unwrap();
    }
}

/// Writes a shell script. Another process writes it: a file that this one has open for writing goes to every process that
/// another test is just starting, and as long as one has it, it cannot be executed.
pub(crate) fn program(path: &Path, command: &str) {
    let write = "printf '#!/bin/sh\\n%s\\n' \"$2\" > \"$1\" && chmod 755 \"$1\"";
    let mut shell = Command::new("/bin/sh");
    let written = shell.args(["-c", write, "sh"]).arg(path).arg(command).status().unwrap();
    assert!(written.success());
}

/// Returns the bytes of an object's name.
pub(crate) fn raw(object: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        object.chars().map(|digit| u8::try_from(digit.to_digit(16).unwrap()).unwrap()).collect();
    digits.chunks(2).map(|pair| pair[0] * 16 + pair[1]).collect()
}
