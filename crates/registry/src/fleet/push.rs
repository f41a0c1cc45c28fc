//! The push of a branch, in which nothing of a repository runs.
//!
//! A server runs its own hooks, on its own machine. A repository on this machine is written by `git receive-pack`, which runs here with the
//! hooks and settings of that repository. The author of a member chose its `origin`, so that side is hardened too.

use std::path::PathBuf;

use super::links::refuse_links_at;
use super::workshop::{UpdateWorkshop, WorkshopError};
use crate::access::GitAccess;
use crate::address::Address;
use crate::error::FetchError;
use crate::git::{Git, GitOutcome, GitRequest};

/// The receiving side on this machine, as a command of the shell. Its settings override those of the repository that receives: hooks, the
/// command that lists what is in alternates, garbage collection with its hooks, and a working tree that is written, filters included. It
/// fetches nothing that the repository lacks.
const RECEIVING: &str = "--receive-pack=GIT_ALLOW_PROTOCOL=none git -c core.hooksPath=/dev/null \
    -c core.alternateRefsCommand=true -c core.fsmonitor=false -c receive.autogc=false \
    -c receive.denyCurrentBranch=refuse -c gc.auto=0 -c maintenance.auto=false receive-pack";

/// git's words for an address that a setting of the user's turns into a path.
const TURNED_LOCAL: &str = "transport 'file' not allowed";

/// The push of one commit.
pub(super) struct BranchPush {
    pub(super) pusher: PathBuf,
    /// The option with the expected commit of the branch.
    pub(super) lease: String,
    /// The full name of the branch.
    pub(super) reference: String,
    /// The commit and the branch.
    pub(super) update: String,
}

impl BranchPush {
    /// Pushes to an address. A push to a server cannot reach a repository on this machine, and the other way round.
    pub(super) fn push_to_address(
        &self,
        workshop: &UpdateWorkshop,
        shown: &str,
        address: &Address,
    ) -> Result<(), WorkshopError> {
        let system = workshop.system.as_ref();
        let git = Git { system, directory: workshop.directory.path(), repository: shown };
        if !address.is_of_this_machine() {
            let access = GitAccess::from_address(address).limit_to_servers();
            match git.run_request(self.build_request(address, &[]).with_access(&access))? {
                GitOutcome::Failed(said) if said.contains(TURNED_LOCAL) => {}
                outcome => return Ok(git.judge_outcome(outcome).map(drop)?),
            }
        }
        if let Address::Url { path, .. } = address
            && address.is_of_this_machine()
        {
            refuse_links_at(system, path, &self.reference)?;
        }
        let access = GitAccess::from_address(address).limit_to_files();
        match git.expect_output(self.build_request(address, &[RECEIVING]).with_access(&access)) {
            Ok(_) => Ok(()),
            Err(FetchError::Git { repository, said }) => {
                Err(WorkshopError::Branch(format!("cannot push to `{repository}`: {said}")))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn build_request(&self, address: &Address, options: &[&str]) -> GitRequest<'_> {
        GitRequest::for_repository(&self.pusher, "push")
            .args(["--quiet", "--no-verify", "--no-recurse-submodules", "--no-signed"])
            .args(options.iter().copied())
            .arg(&self.lease)
            .args(["--", &address.bare_address()])
            .arg(&self.update)
    }
}
