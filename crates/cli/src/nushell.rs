//! Shell completion in Nushell, which `clap_complete` has no adapter for.
//!
//! Nushell asks one closure, the external completer, about every program. The script puts a closure in front that answers
//! for `brief` and passes other programs on.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

use clap_complete::engine;
use clap_complete::env::EnvCompleter;
use serde::Serialize;

#[derive(Debug)]
pub(crate) struct Nushell;

/// The script, with places for the variable (`VAR`), the name (`BIN`) and the program (`COMPLETER`).
const SCRIPT: &str = r#"# Completion of BIN for Nushell: write this to a file, then `source` that file in config.nu.
$env.config.completions.external.completer = (do {
    let earlier = $env.config.completions.external.completer?
    {|spans: list<string>|
        if ($spans | first) == "BIN" {
            with-env { VAR: "nushell" } { ^"COMPLETER" "--" ...$spans } | from json
        } else if $earlier != null {
            do $earlier $spans
        }
    }
})
"#;

#[derive(Serialize)]
struct Suggestion {
    value: String,
    description: String,
}

impl EnvCompleter for Nushell {
    fn name(&self) -> &'static str {
        "nushell"
    }

    fn is(&self, name: &str) -> bool {
        name == "nushell" || name == "nu"
    }

    fn write_registration(
        &self,
        var: &str,
        _name: &str,
        bin: &str,
        completer: &str,
        buf: &mut dyn Write,
    ) -> io::Result<()> {
        let script = SCRIPT.replace("VAR", var).replace("BIN", bin);
        buf.write_all(script.replace("COMPLETER", completer).as_bytes())
    }

    fn write_complete(
        &self,
        command: &mut clap::Command,
        args: Vec<OsString>,
        current_dir: Option<&Path>,
        buf: &mut dyn Write,
    ) -> io::Result<()> {
        let index = args.len().saturating_sub(1);
        let found = engine::complete(command, args, index, current_dir)?;
        let suggestions = found.iter().map(|candidate| {
            let help = candidate.get_help().map(ToString::to_string).unwrap_or_default();
            Suggestion {
                value: candidate.get_value().to_string_lossy().into_owned(),
                description: help.lines().next().unwrap_or_default().to_owned(),
            }
        });
        let suggestions: Vec<Suggestion> = suggestions.collect();
        Ok(serde_json::to_writer(buf, &suggestions)?)
    }
}
