//! The interpreter line of a script, as far as `$0` depends on it.
//!
//! A script runs as a private copy. Scripts often find their neighbors by `$(dirname "$0")`, so a shell
//! gets the path of the original as `$0`, and reads the copy with its command `.`.

use std::ffi::OsString;
use std::path::Path;

/// The shells that keep their `$0` while they read another file with `.`.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "ash", "ksh", "mksh"];

/// A script that asks for this variable compares it with `$0`, and needs both to name the same file.
const OWN_NAME: &[u8] = b"BASH_SOURCE";

/// Returns the interpreter of a script and its argument if it is a shell that can be given another `$0`. The
/// kernel starts everything else.
pub(super) fn shell_words(bytes: &[u8]) -> Option<Vec<OsString>> {
    let rest = bytes.strip_prefix(b"#!")?;
    let line =
        rest.split(|byte| *byte == b'\n').next().and_then(|line| str::from_utf8(line).ok())?;
    let line = line.trim_matches([' ', '\t']);
    let (interpreter, argument) = match line.split_once([' ', '\t']) {
        Some((interpreter, argument)) => (interpreter, Some(argument.trim_start())),
        None => (line, None),
    };
    let is_split = |argument: &str| argument.contains([' ', '\t']);
    let name = match Path::new(interpreter).file_name()?.to_str()? {
        "env" => argument?.split([' ', '\t']).find(|word| !word.starts_with('-'))?,
        // Systems differ in how many arguments these are, and after a lone dash comes a file.
        _ if argument.is_some_and(|argument| is_split(argument) || "--".starts_with(argument)) => {
            return None;
        }
        name => name,
    };
    let is_shell = interpreter.starts_with('/') && SHELLS.contains(&name);
    if !is_shell || bytes.windows(OWN_NAME.len()).any(|part| part == OWN_NAME) {
        return None;
    }
    Some([Some(interpreter), argument].into_iter().flatten().map(OsString::from).collect())
}

/// Returns the call of a shell that reads `copy` and has `path` as its `$0`.
pub(super) fn build_sourcing_call(
    mut shell: Vec<OsString>,
    copy: &Path,
    path: &Path,
) -> Vec<OsString> {
    let text = "BRIEF_COPY=$1; shift; . \"$BRIEF_COPY\"";
    shell.extend(["-c", "--", text].map(OsString::from));
    shell.extend([path.into(), copy.into()]);
    shell
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(script: &str) -> Option<String> {
        let words = shell_words(script.as_bytes())?;
        Some(words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join("|"))
    }

    #[test]
    fn a_shell_is_known_by_its_name() {
        for (line, expected) in [
            ("#!/bin/sh", "/bin/sh"),
            ("#! /bin/bash -eu ", "/bin/bash|-eu"),
            ("#!/usr/bin/env bash", "/usr/bin/env|bash"),
            ("#!/usr/bin/env -S bash -eu", "/usr/bin/env|-S bash -eu"),
        ] {
            assert_eq!(words(&format!("{line}\necho\n")).as_deref(), Some(expected), "{line}");
        }
    }

    #[test]
    fn the_kernel_starts_everything_else() {
        for line in [
            "",
            "#!",
            "#!/usr/bin/python3",
            "#!/usr/bin/env",
            "#!/usr/bin/env node",
            "#!sh",
            "#!./sh",
            "#!/bin/bash -e -u",
            "#!/bin/sh -",
            "#!/bin/sh --",
            "#!/bin/zsh",
            "#!/bin/sh\r",
        ] {
            assert_eq!(words(&format!("{line}\necho\n")), None, "{line}");
        }
        assert_eq!(words("#!/bin/bash\n[[ ${BASH_SOURCE[0]} == \"$0\" ]] && main\n"), None);
    }
}
