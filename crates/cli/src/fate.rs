//! The colours of fates in the text output.

use anstyle::{AnsiColor, Style};
use brief_engine::Fate;

/// Returns the style of a fate.
pub(crate) fn style(fate: Fate) -> Style {
    match fate {
        Fate::In => AnsiColor::Green.on_default().bold(),
        Fate::Loaded => AnsiColor::Cyan.on_default().bold(),
        Fate::Offered | Fate::Manual => AnsiColor::Yellow.on_default().bold(),
        Fate::Out => Style::new().dimmed(),
    }
}
