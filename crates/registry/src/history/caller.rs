//! Calls of git in a repository of the user's, which may be bare.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_system::{Call, System};

use super::HistoryError;
use crate::git::{GitOutcome, Stop, hardened_call, run_call};

/// The installed git, for one repository.
#[derive(Clone)]
pub(crate) struct Caller {
    pub(crate) system: Arc<dyn System>,
    /// The working directory of the process.
    pub(crate) directory: PathBuf,
    /// The repository; `None` lets git search for it.
    pub(crate) git_dir: Option<PathBuf>,
    /// The directory for new objects, if it is not the repository's own. It names that one as its alternate.
    pub(crate) objects: Option<PathBuf>,
}

impl Caller {
    /// Takes a git directory, whose working tree does not count.
    pub(crate) fn from_git_dir(system: &Arc<dyn System>, git_dir: &Path) -> Caller {
        Caller {
            system: Arc::clone(system),
            directory: git_dir.to_owned(),
            git_dir: Some(git_dir.to_owned()),
            objects: None,
        }
    }

    pub(crate) fn build_call(&self, args: &[&str], output: usize) -> Call {
        // The user started the program in it, and the commands that we use ignore its configuration.
        let mut all: Vec<OsString> = vec!["-c".into(), "safe.bareRepository=all".into()];
        if let Some(git_dir) = &self.git_dir {
            let mut place = OsString::from("--git-dir=");
            place.push(git_dir);
            all.push(place);
        }
        all.extend(args.iter().map(OsString::from));
        let call = hardened_call(self.system.as_ref(), &self.directory, all, output);
        match &self.objects {
            Some(objects) => call.with_env("GIT_OBJECT_DIRECTORY", objects),
            None => call,
        }
    }

    pub(crate) fn run_call(&self, call: &Call) -> Result<GitOutcome, HistoryError> {
        run_call(self.system.as_ref(), call).map_err(|stop| match stop {
            Stop::TimedOut => HistoryError::TimedOut,
            Stop::Interrupted => HistoryError::Interrupted,
            Stop::NotStarted(error) if error.kind() == io::ErrorKind::NotFound => {
                HistoryError::GitMissing
            }
            Stop::NotStarted(error) => HistoryError::NotStarted(error),
        })
    }

    /// Runs a command with an input, and returns its output of at most `limit` bytes. The command fails only because of the
    /// repository.
    pub(crate) fn read_output(
        &self,
        args: &[&str],
        input: impl Into<Vec<u8>>,
        limit: usize,
    ) -> Result<Vec<u8>, HistoryError> {
        let mut call = self.build_call(args, limit);
        call.input = input.into();
        self.expect_output(&call)
    }

    pub(crate) fn expect_output(&self, call: &Call) -> Result<Vec<u8>, HistoryError> {
        match self.run_call(call)? {
            GitOutcome::Done(output) => Ok(output),
            GitOutcome::Failed(said) => Err(HistoryError::Git(said)),
            GitOutcome::TooMuch => Err(HistoryError::TooLarge),
        }
    }
}
