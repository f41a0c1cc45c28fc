//! Calls of git in a repository of the user's, which may be a bare one.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use brief_syntax::System;
use brief_syntax::system::Call;

use super::HistoryError;
use crate::git::{Outcome, Stop, hardened, make};

/// The installed git, for one repository.
#[derive(Clone)]
pub(super) struct Caller {
    pub(super) system: Arc<dyn System>,
    /// Where it is started.
    pub(super) directory: PathBuf,
    /// The repository; `None` lets git look for it.
    pub(super) git_dir: Option<PathBuf>,
}

impl Caller {
    pub(super) fn call(&self, args: &[&str], output: usize) -> Call {
        // The user has started us in it, and nothing that it configures is used for what we ask.
        let mut all: Vec<OsString> = vec!["-c".into(), "safe.bareRepository=all".into()];
        if let Some(git_dir) = &self.git_dir {
            let mut place = OsString::from("--git-dir=");
            place.push(git_dir);
            all.push(place);
        }
        all.extend(args.iter().map(OsString::from));
        hardened(self.system.as_ref(), &self.directory, all, output)
    }

    pub(super) fn make(&self, call: &Call) -> Result<Outcome, HistoryError> {
        make(self.system.as_ref(), call).map_err(|stop| match stop {
            Stop::TimedOut => HistoryError::TimedOut,
            Stop::Interrupted => HistoryError::Interrupted,
            Stop::NotStarted(error) if error.kind() == io::ErrorKind::NotFound => {
                HistoryError::GitMissing
            }
            Stop::NotStarted(error) => HistoryError::NotStarted(error),
        })
    }

    /// Makes a call that has no reason to fail but the repository.
    pub(super) fn expect(&self, call: &Call) -> Result<Vec<u8>, HistoryError> {
        match self.make(call)? {
            Outcome::Done(output) => Ok(output),
            Outcome::Failed(said) => Err(HistoryError::Git(said)),
            Outcome::TooMuch => Err(HistoryError::TooLarge),
        }
    }
}
