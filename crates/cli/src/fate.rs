//! The fate of a candidate for an answer, in the text output.

use anstyle::{AnsiColor, Style};

/// The fate of a candidate. Each has its own sign, so that they differ without colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is in the answer.
    In,
    /// The client loads it by itself.
    Loaded,
    /// The agent may ask for it.
    Offered,
    /// The user may mention it.
    Manual,
    /// It does not apply.
    Out,
}

impl Fate {
    pub(crate) fn label(self) -> &'static str {
        match self {
            Fate::In => "+ in",
            Fate::Loaded => "= loaded",
            Fate::Offered => "? offered",
            Fate::Manual => "@ manual",
            Fate::Out => "- out",
        }
    }

    pub(crate) fn style(self) -> Style {
        match self {
            Fate::In => AnsiColor::Green.on_default().bold(),
            Fate::Loaded => AnsiColor::Cyan.on_default().bold(),
            Fate::Offered | Fate::Manual => AnsiColor::Yellow.on_default().bold(),
            Fate::Out => Style::new().dimmed(),
        }
    }
}
