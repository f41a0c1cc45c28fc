//! What becomes of a candidate for an answer, as people see it.

use anstyle::{AnsiColor, Style};

/// What becomes of a candidate. Each has a sign of its own, so that they can be told apart without colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is in the answer.
    In,
    /// The client reads it by itself.
    Loaded,
    /// The agent may ask for it.
    Offered,
    /// Only when somebody mentions it.
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
