//! The output options of every command: colors, verbosity, the pager.

use std::ffi::{OsStr, OsString};

use brief_system::System;
use clap::{Args, ValueEnum};

/// The flags that every command takes besides its own.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct OutputOptions {
    /// When to use color
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        global = true,
        hide_short_help = true,
        hide_possible_values = false
    )]
    pub(crate) color: ColorArg,

    /// Print only the answer and errors
    #[arg(short, long, global = true, conflicts_with = "verbose", hide_short_help = true)]
    pub(crate) quiet: bool,

    /// Print all warnings instead of the first few
    #[arg(short, long, global = true, hide_short_help = true)]
    pub(crate) verbose: bool,

    /// Disable the pager
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) no_pager: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorArg {
    /// At a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    Always,
    Never,
}

impl ColorArg {
    /// Finds the choice in arguments that could not be parsed: the error is colored, too.
    pub(crate) fn from_arguments(args: &[OsString]) -> ColorArg {
        let mut args = args.iter().take_while(|arg| *arg != "--");
        let mut found = ColorArg::Auto;
        while let Some(arg) = args.next() {
            let value = match arg.to_str().and_then(|arg| arg.strip_prefix("--color")) {
                Some("") => args.next().and_then(|value| value.to_str()),
                Some(value) => value.strip_prefix('='),
                None => None,
            };
            if let Some(Ok(value)) = value.map(|value| ColorArg::from_str(value, false)) {
                found = value;
            }
        }
        found
    }
}

/// Returns the user's pager: `BRIEF_PAGER`, then `PAGER`, then `less`. An empty one and `cat` mean
/// none.
pub(crate) fn find_pager(system: &dyn System) -> Option<OsString> {
    let chosen = system.env("BRIEF_PAGER").or_else(|| system.env("PAGER"));
    let pager = chosen.unwrap_or_else(|| OsStr::new("less").to_owned());
    (!pager.is_empty() && pager != "cat").then_some(pager)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_color_is_found_among_the_words() {
        let among = |words: &[&str]| {
            ColorArg::from_arguments(&words.iter().map(OsString::from).collect::<Vec<_>>())
        };
        assert_eq!(among(&["x", "--color", "never", "--bogus"]), ColorArg::Never);
        assert_eq!(among(&["--color=always"]), ColorArg::Always);
        assert_eq!(among(&["--color", "pink"]), ColorArg::Auto);
        assert_eq!(among(&["--", "--color=always"]), ColorArg::Auto);
    }
}
