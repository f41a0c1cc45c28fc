//! Calls of the installed `git`.
//!
//! The user's own settings apply, because credential helpers and shorthands (`insteadOf`) live there.
//! Settings with which a repository could run something are off: hooks, filters, submodules, transports that
//! are commands. git works in our cache only, never in a tree of the user's, and never asks a question.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::time::Duration;

use brief_syntax::limits;
use brief_system::{Call, Ending, Passed, Stream, System};

use crate::access::GitAccess;
use crate::address::{one_line, redact_credentials};
use crate::error::FetchError;

/// Settings that override the user's.
const SETTINGS: [&str; 10] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.symlinks=false",
    "protocol.ext.allow=never",
    "safe.bareRepository=explicit",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    // Background maintenance would collide with our renames and removals.
    "gc.auto=0",
    "maintenance.auto=false",
    "fetch.writeCommitGraph=false",
];

/// Variables that git, ssh and password helpers need besides the usual ones: network settings, the ssh agent,
/// and the user's settings. None of them leads git to another repository or makes it write a trace, which
/// would show credentials. Only those of `GIT_CONFIG_COUNT` may hold a secret: build servers pass credentials
/// this way.
const PASSED: [&str; 36] = [
    "GIT_ASKPASS",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM",
    "GIT_PROXY_SSL_CAINFO",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSH_VARIANT",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "GIT_SSL_CERT",
    "GIT_SSL_KEY",
    "GIT_SSL_NO_VERIFY",
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "SSH_ASKPASS",
    "SSH_ASKPASS_REQUIRE",
    "CURL_CA_BUNDLE",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "ALL_PROXY",
    "all_proxy",
    "HTTPS_PROXY",
    "https_proxy",
    "HTTP_PROXY",
    "http_proxy",
    "NO_PROXY",
    "no_proxy",
    "DBUS_SESSION_BUS_ADDRESS",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "GNUPGHOME",
    "KRB5CCNAME",
    "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR",
];

/// The variable that names further variables, with commas: for helpers that read a token.
const MORE: &str = "BRIEF_GIT_ENV";

/// The limit for settings of `GIT_CONFIG_COUNT`.
const MOST_SETTINGS: usize = 1_000;

/// The limit for output beside the answer: warnings, and messages of the server.
pub(crate) const CHATTER: usize = 1024 * 1024;

/// The limit for characters of git's messages in an error.
const LAST_WORDS: usize = 300;

/// Messages of git, curl and ssh that mean denied access.
const DENIED: [&str; 6] = [
    "Authentication failed",
    "could not read Username",
    "could not read Password",
    "returned error: 401",
    "returned error: 403",
    "Permission denied (",
];

/// The installed `git`, with a directory of our cache and one source.
pub(crate) struct Git<'a> {
    pub(crate) system: &'a dyn System,
    /// The working directory of the process.
    pub(crate) directory: &'a Path,
    /// The redacted address of the source.
    pub(crate) repository: &'a str,
}

/// A git command with its arguments and input.
pub(crate) struct GitRequest<'a> {
    args: Vec<OsString>,
    input: Vec<u8>,
    output: usize,
    access: Option<&'a GitAccess>,
}

impl<'a> GitRequest<'a> {
    /// Creates a command that needs no repository.
    pub(crate) fn new(command: &str) -> Self {
        GitRequest { args: vec![command.into()], input: Vec::new(), output: CHATTER, access: None }
    }

    /// Creates a command for a repository of the cache.
    pub(crate) fn for_repository(repository: &Path, command: &str) -> Self {
        let mut request = GitRequest::new(command);
        let mut place = OsString::from("--git-dir=");
        place.push(repository);
        request.args.insert(0, place);
        request
    }

    pub(crate) fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    pub(crate) fn args<'t>(mut self, args: impl IntoIterator<Item = &'t str>) -> Self {
        self.args.extend(args.into_iter().map(OsString::from));
        self
    }

    pub(crate) fn with_input(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = input.into();
        self
    }

    /// Allows this many bytes of output.
    pub(crate) fn with_output_limit(mut self, bytes: usize) -> Self {
        self.output = bytes + CHATTER;
        self
    }

    /// Sets the access for the address in the arguments. Without it, no protocol is allowed.
    pub(crate) fn with_access(mut self, access: &'a GitAccess) -> Self {
        self.access = Some(access);
        self
    }
}

/// The end of a git process.
pub(crate) enum GitOutcome {
    Done(Vec<u8>),
    /// A nonzero status, with the last lines of the messages.
    Failed(String),
    TooMuch,
}

impl Git<'_> {
    /// Runs a command that fails only because of the network or the repository.
    pub(crate) fn expect_output(&self, request: GitRequest<'_>) -> Result<Vec<u8>, FetchError> {
        let outcome = self.run_request(request)?;
        self.judge_outcome(outcome)
    }

    /// Returns the output of a command, or the reason why there is none.
    pub(crate) fn judge_outcome(&self, outcome: GitOutcome) -> Result<Vec<u8>, FetchError> {
        let repository = self.repository.to_owned();
        match outcome {
            GitOutcome::Done(output) => Ok(output),
            GitOutcome::Failed(said) if DENIED.iter().any(|words| said.contains(words)) => {
                Err(FetchError::Denied { repository, said })
            }
            GitOutcome::Failed(said) => Err(FetchError::Git { repository, said }),
            GitOutcome::TooMuch => Err(FetchError::Puzzled { repository, what: "too long" }),
        }
    }

    pub(crate) fn run_request(&self, request: GitRequest<'_>) -> Result<GitOutcome, FetchError> {
        let call = self.build_call(request);
        let repository = self.repository.to_owned();
        match run_call(self.system, &call) {
            Ok(outcome) => Ok(outcome),
            Err(Stop::TimedOut) => Err(FetchError::TimedOut { repository }),
            Err(Stop::Interrupted) => Err(FetchError::Interrupted { repository }),
            // The working directory exists, so the program is missing.
            Err(Stop::NotStarted(error)) if error.kind() == io::ErrorKind::NotFound => {
                Err(FetchError::GitMissing { repository })
            }
            Err(Stop::NotStarted(error)) => Err(FetchError::NotStarted { repository, error }),
        }
    }

    fn build_call(&self, request: GitRequest<'_>) -> Call {
        let GitRequest { args, input, output, access } = request;
        let mut call = hardened_call(self.system, self.directory, args, output);
        call.input = input;
        call = call.with_env("GIT_ALLOW_PROTOCOL", access.map_or("none", |to| to.protocols));
        // A home directory under version control is a tree of the user's.
        if let Some(above) = self.directory.parent() {
            call = call.with_env("GIT_CEILING_DIRECTORIES", above);
        }
        let Some(access) = access else { return call };
        for (name, value) in &access.env {
            call = call.with_env(name, value);
        }
        if access.settings.is_empty() {
            return call;
        }
        let count = self.system.env("GIT_CONFIG_COUNT");
        let count = count.and_then(|count| count.to_str()?.parse::<u16>().ok());
        let count = count.map_or(0, usize::from);
        call = call.with_env("GIT_CONFIG_COUNT", (count + access.settings.len()).to_string());
        for (index, (key, value)) in (count..).zip(&access.settings) {
            call = call
                .with_env(format!("GIT_CONFIG_KEY_{index}"), key)
                .with_env(format!("GIT_CONFIG_VALUE_{index}"), value);
        }
        call
    }
}

/// Returns the variables that git gets besides the usual ones.
fn passed_variables(system: &dyn System) -> Vec<String> {
    let text = |name: &str| system.env(name).and_then(|value| value.into_string().ok());
    let count = text("GIT_CONFIG_COUNT").and_then(|count| count.parse().ok()).unwrap_or(0);
    let settings = (0..MOST_SETTINGS.min(count))
        .flat_map(|index| [format!("GIT_CONFIG_KEY_{index}"), format!("GIT_CONFIG_VALUE_{index}")]);
    let more = text(MORE).unwrap_or_default();
    let more = more.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned);
    PASSED.into_iter().map(str::to_owned).chain(settings).chain(more).collect()
}

/// Prepares a call that a repository cannot turn into another command, with all protocols forbidden.
pub(crate) fn hardened_call(
    system: &dyn System,
    directory: &Path,
    args: Vec<OsString>,
    output: usize,
) -> Call {
    let time_limit = Duration::from_secs(limits::REMOTE_SECONDS);
    let mut call = Call::new("git", directory, time_limit, output);
    for setting in SETTINGS {
        call = call.arg("-c").arg(setting);
    }
    call = call.arg("--no-replace-objects").arg("--no-optional-locks").arg("--no-pager");
    call.args.extend(args);
    call = Passed::Usual(passed_variables(system)).apply(system, call);
    call = call
        .with_env("GIT_ALLOW_PROTOCOL", "none")
        .with_env("GIT_TERMINAL_PROMPT", "0")
        // git's messages become part of ours, which are English.
        .with_env("LANGUAGE", "C")
        .with_env("GIT_NO_LAZY_FETCH", "1");
    // ssh would ask on the terminal, which is not there, and wait for the time limit. A configured askpass
    // program stays.
    if system.env("SSH_ASKPASS").is_none() {
        call = call.with_env("SSH_ASKPASS", "false").with_env("SSH_ASKPASS_REQUIRE", "force");
        if system.env("GIT_ASKPASS").is_none() {
            call = call.with_env("GIT_ASKPASS", "");
        }
    }
    call
}

/// The reason why a call has no outcome.
pub(crate) enum Stop {
    TimedOut,
    Interrupted,
    NotStarted(io::Error),
}

/// Runs a call and waits for its end.
pub(crate) fn run_call(system: &dyn System, call: &Call) -> Result<GitOutcome, Stop> {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let ending = system.run_program(call, &mut |stream, piece| match stream {
        Stream::Stdout => stdout.extend_from_slice(piece),
        Stream::Stderr => stderr.extend_from_slice(piece),
    });
    match ending {
        Ok(Ending::Exited(0)) => Ok(GitOutcome::Done(stdout)),
        Ok(Ending::Exited(_)) => Ok(GitOutcome::Failed(last_words(&stderr))),
        Ok(Ending::Killed) => Ok(GitOutcome::Failed("was killed".to_owned())),
        Ok(Ending::TooMuchOutput) => Ok(GitOutcome::TooMuch),
        Ok(Ending::TimedOut) => Err(Stop::TimedOut),
        Ok(Ending::Interrupted) => Err(Stop::Interrupted),
        Err(error) => Err(Stop::NotStarted(error)),
    }
}

/// Returns git's last messages, safe for display. General advice follows after an empty line; before it, the
/// last line says what failed and the one before often why.
fn last_words(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let lines: Vec<&str> = text
        .lines()
        .map(|line| line.rsplit('\r').next().unwrap_or(line).trim())
        .skip_while(|line| line.is_empty())
        .take_while(|line| !line.is_empty())
        .collect();
    let words = lines[lines.len().saturating_sub(2)..].join("; ");
    if words.is_empty() {
        return "no reason given".to_owned();
    }
    let words: String = redact_credentials(&words).chars().take(LAST_WORDS).collect();
    one_line(&words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_words_are_short_redacted_and_visible() {
        let said = b"warning: x\nssh: no\x1b[31m route\nfatal: Could not read https://u:p@h/r\n\nPlease make sure\n";
        assert_eq!(
            last_words(said),
            "ssh: no\\u{1b}[31m route; fatal: Could not read https://***@h/r"
        );
        assert_eq!(last_words(b""), "no reason given");
        assert!(last_words(&b"x".repeat(10_000)).len() <= LAST_WORDS);
    }
}
