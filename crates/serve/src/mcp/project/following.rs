//! Follows the files of a project, and makes its lists anew when they change.

use std::sync::Arc;

use brief_system::{FileWatch, Interruption};

use super::SharedProject;
use super::offers::Offers;

/// The rounds in which new directories are followed before a change is waited for.
const ROUNDS: usize = 3;

impl SharedProject {
    /// Makes the lists, and makes them anew after each change, until the server has ended.
    pub(super) fn follow_files(&self, ended: &Interruption) {
        let mut watch = FileWatch::start(self.system.as_ref());
        while !ended.is_raised() {
            for _ in 0..ROUNDS {
                let offers = Arc::new(Offers::read_project(&self.system, &self.options));
                self.offers.send_replace(Some(Arc::clone(&offers)));
                // A directory may have changed before it was followed.
                if watch.follow_paths(&offers.watched, &offers.files) == 0 {
                    break;
                }
            }
            watch.wait_for_change(ended);
        }
    }
}
