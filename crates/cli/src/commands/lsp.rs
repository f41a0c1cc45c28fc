//! `brief lsp`

use brief_serve::lsp::{self, LspEnding};
use clap::Args;

use crate::error::{Result, refuse_if};
use crate::session::Session;
use crate::ui::Ui;

/// Serve an editor over standard input and output, as a language server
///
/// Problems with fixes in all formats, on unsaved text; who gets an item, how many files and tokens (hover, code lens); symbols, go to a
/// named file, layout. Nothing is executed and nothing is written: the editor makes the edits.
#[derive(Debug, Args)]
pub(crate) struct LspArgs {
    /// Talk over standard input and output, which is the only way; some editors say so
    #[arg(long, hide = true)]
    stdio: bool,
}

pub(crate) fn run(ui: &mut Ui, session: &Session, _: &LspArgs) -> Result {
    if ui.can_ask() {
        ui.status("waiting for an editor on standard input; Ctrl-C ends it")?;
        ui.hint("`brief lint` answers a person")?;
    }
    let input = ui.take_stdin();
    let ending =
        lsp::serve(&session.shared_system(), session.directory(), input, &mut |message| {
            ui.print_message(message)
        })?;
    refuse_if(ending == LspEnding::Abrupt)
}
