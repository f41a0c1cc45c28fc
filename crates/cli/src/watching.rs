//! Repeats a command whenever the files that it reads have changed.

use brief_registry::WatchedFiles;
use brief_system::FileWatch;

use crate::error::Result;
use crate::session::Session;
use crate::ui::Ui;

/// Runs `once`, and again after each change of the files that `watched` returns, until the user ends it. A state
/// between two edits may be wrong: it is reported and waited out.
pub(crate) fn repeat_on_change(
    ui: &mut Ui,
    session: &Session,
    once: impl Fn(&mut Ui) -> Result,
    watched: impl Fn() -> WatchedFiles,
) -> Result {
    let interruption = session.system().interruption()?;
    let mut watch = FileWatch::start(session.system());
    let follow = |watch: &mut FileWatch<'_>| {
        let files = watched();
        let new = watch.follow_paths(&files.directories, &files.files);
        watch.ignore_changes(move |path| files.is_ignored(path));
        new
    };
    while !interruption.is_raised() {
        // What changes during the run counts, too.
        follow(&mut watch);
        match once(ui) {
            Err(error) if error.ends_everything() => return Err(error),
            Err(error) => {
                error.print_error(ui);
            }
            Ok(()) => {}
        }
        ui.flush()?;
        if interruption.is_raised() {
            break;
        }
        if follow(&mut watch) == 0 {
            ui.print_status("waiting for changes; press Ctrl-C to stop")?;
            watch.wait_for_change(&interruption);
        }
    }
    Ok(())
}
