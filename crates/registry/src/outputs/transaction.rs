//! The three steps of every run that writes: plan, stage, put in place.

use std::io;

use brief_system::System;

use super::Durability;
use super::stage::{CommitError, Disks, Stage};

/// Runs the three steps. After an error of the first two, nothing is changed; the third one changes everything, or
/// nothing, or leaves the rest to the next run.
///
/// `plan` decides what is written. Contents of outputs are staged as they are planned. `stage` adds the files that describe
/// them: the record, the lock, the manifest. Without `durability` nothing is staged, and only the plan is made.
pub(crate) fn run_transaction<T, E: From<CommitError>>(
    system: &dyn System,
    disks: &mut Disks<'_>,
    durability: Option<Durability>,
    plan: impl FnOnce(Option<&mut Stage>, &mut Disks<'_>) -> Result<T, E>,
    stage: impl FnOnce(&T, &mut Stage, &mut Disks<'_>) -> Result<(), E>,
) -> Result<T, E> {
    let Some(durability) = durability else { return plan(None, disks) };
    let mut staged = Stage::begin(&disks.own, durability).map_err(CommitError::Nothing)?;
    let planned = plan(Some(&mut staged), disks).and_then(|planned| {
        stage(&planned, &mut staged, disks)?;
        Ok(planned)
    });
    match planned {
        Ok(planned) => {
            staged.commit(system, disks)?;
            Ok(planned)
        }
        Err(error) => {
            // The first error is the one to report.
            let _ = staged.abandon(&disks.own);
            Err(error)
        }
    }
}

impl From<io::Error> for CommitError {
    fn from(error: io::Error) -> CommitError {
        CommitError::Nothing(error)
    }
}
