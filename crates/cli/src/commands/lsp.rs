//! `brief lsp`

use brief_serve::lsp::{self, LspEnding};
use clap::Args;

use crate::error::{Result, refuse_if};
use crate::session::Session;
use crate::ui::Ui;

/// Run the language server for editors
///
/// Reports problems with fixes on unsaved text, shows clients, files and tokens of an item (hover, code lens), and offers
/// symbols, definitions and formatting. Read-only: the editor makes the edits.
#[derive(Debug, Args)]
pub(crate) struct LspArgs {
    /// Use standard input and output (always on)
    #[arg(long, hide = true)]
    stdio: bool,
}

pub(crate) fn run(ui: &mut Ui, session: &Session, _: &LspArgs) -> Result {
    if ui.can_ask() {
        ui.print_status("waiting for an editor on standard input; press Ctrl-C to stop")?;
        ui.print_hint("run `brief lint` to check files yourself")?;
    }
    let input = ui.take_stdin();
    let ending =
        lsp::serve_lsp(&session.shared_system(), session.directory(), input, &mut |message| {
            ui.print_message(message)
        })?;
    refuse_if(ending == LspEnding::Abrupt)
}
