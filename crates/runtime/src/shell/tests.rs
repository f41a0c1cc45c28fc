//! Real commands and scripts in a temporary directory.
#![expect(clippy::disallowed_methods, reason = "tests make real files and look at the clock")]

use std::fs;
use std::os::unix::fs::PermissionsExt;

use brief_system::{MemorySystem, OsSystem};
use brief_testkit::Lifeline;
use tempfile::TempDir;

use super::*;

fn place() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn shell(place: &TempDir) -> Shell<'static> {
    Shell::new(&OsSystem, place.path(), ShellLimits::default())
}

fn hasty(place: &TempDir) -> Shell<'static> {
    let time = Duration::from_millis(200);
    let limits =
        ShellLimits { command: time, bootstrap: time, output: 10_000, ..ShellLimits::default() };
    Shell::new(&OsSystem, place.path(), limits)
}

fn command(shell: &mut Shell<'_>, text: &str) -> Result<Vec<u8>, String> {
    shell.run_command(text.as_ref(), &[], &mut |_| {}).map_err(|failure| failure.to_string())
}

fn file(place: &TempDir, name: &str, content: &str, mode: u32) -> PathBuf {
    let path = place.path().join(name);
    fs::write(&path, content).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path
}

fn script(shell: &mut Shell<'_>, path: &Path) -> (Result<(), String>, String) {
    let mut output = Vec::new();
    let bytes = fs::read(shell.directory.join(path)).unwrap();
    let ended =
        shell.run_file_script(path, &bytes, &[], &mut |piece| output.extend_from_slice(piece));
    (ended.map_err(|failure| failure.to_string()), String::from_utf8(output).unwrap())
}

/// Ruling T7: "`sh -c`, stdout kept as it is".
#[test]
fn the_output_of_a_command_is_kept_as_it_is() {
    let place = place();
    let mut shell = shell(&place);
    assert_eq!(command(&mut shell, "printf ' a\\n\\n'").unwrap(), b" a\n\n");
    assert_eq!(command(&mut shell, "printf '\\377\\000'").unwrap(), b"\xff\0");
    assert_eq!(command(&mut shell, "").unwrap(), b"");
    let here = String::from_utf8(command(&mut shell, "pwd -P").unwrap()).unwrap();
    assert_eq!(Path::new(here.trim_end()), fs::canonicalize(place.path()).unwrap());
}

#[test]
fn a_status_is_a_failure_and_errors_are_handed_on() {
    let place = place();
    let mut errors = Vec::new();
    let text = OsStr::new("echo lost; echo why >&2; exit 3");
    let ended = shell(&place)
        .run_command(text, &[], &mut |piece| errors.extend_from_slice(piece))
        .unwrap_err();
    assert!(matches!(ended, RunFailure::Status(3)));
    assert_eq!(ended.to_string(), "exited with status 3");
    assert_eq!(errors, b"why\n");
}

/// A command that looks like an option is still a command.
#[test]
fn a_command_is_never_an_option_of_the_shell() {
    let place = place();
    let ended = command(&mut shell(&place), "-x; echo yes");
    assert_eq!(ended.unwrap(), b"yes\n");
}

/// Attack case EXE-014: a value is not shell text.
#[test]
fn values_travel_in_the_environment() {
    let place = place();
    let value = "'; touch marker; echo '$(touch marker)";
    let env = [(OsString::from("VALUE"), OsString::from(value))];
    let printed = shell(&place).run_command("printf %s \"$VALUE\"".as_ref(), &env, &mut |_| {});
    assert_eq!(printed.unwrap(), value.as_bytes());
    assert!(!place.path().join("marker").exists());
}

#[test]
fn a_command_that_hangs_is_ended_with_all_that_it_started() {
    let place = place();
    let lifeline = Lifeline::create(&place.path().join("alive"));
    let ended = command(&mut hasty(&place), "exec 3>alive; sleep 600 & sleep 600");
    assert_eq!(ended.unwrap_err(), "timed out after 0.2 s");
    lifeline.wait_for_end();
}

#[test]
fn a_command_that_writes_too_much_is_ended() {
    let place = place();
    let limits = ShellLimits { output: 10_000, ..ShellLimits::default() };
    let mut shell = Shell::new(&OsSystem, place.path(), limits);
    let ended = command(&mut shell, "yes");
    assert_eq!(ended.unwrap_err(), "stopped after more than 10000 bytes of output");
}

#[test]
fn a_signal_is_a_failure() {
    let place = place();
    assert_eq!(command(&mut shell(&place), "kill -9 $$").unwrap_err(), "killed by a signal");
}

#[test]
fn a_nul_byte_is_a_failure() {
    let place = place();
    let ended = shell(&place).run_command("echo \0".as_ref(), &[], &mut |_| {});
    assert!(matches!(ended, Err(RunFailure::NotStarted(_))));
    let env = [(OsString::from("A"), OsString::from("\0"))];
    let ended = shell(&place).run_command("echo".as_ref(), &env, &mut |_| {});
    assert!(matches!(ended, Err(RunFailure::NotStarted(_))));
    let ended = shell(&place).inline_script("\0", &[], &mut |_| {});
    assert!(matches!(ended, Err(RunFailure::NotStarted(_))));
    let ended = shell(&place).run_file_script(Path::new("\0"), b"", &[], &mut |_| {});
    assert!(matches!(ended, Err(RunFailure::NotStarted(_))));
}

#[test]
fn the_number_of_commands_is_limited() {
    let place = place();
    let limits = ShellLimits { commands: 2, ..ShellLimits::default() };
    let mut shell = Shell::new(&OsSystem, place.path(), limits);
    assert!(command(&mut shell, "true").is_ok());
    assert!(command(&mut shell, "false").is_err());
    let ended = shell.run_command("touch marker".as_ref(), &[], &mut |_| {});
    assert!(matches!(ended, Err(RunFailure::TooManyCommands(2))));
    assert!(!place.path().join("marker").exists());
    assert!(shell.inline_script("true", &[], &mut |_| {}).is_ok(), "scripts are not counted");
}

/// Ruling T9: "its stdout and stderr go to our stderr".
#[test]
fn a_scripts_streams_are_one() {
    let place = place();
    let content = "#!/bin/sh\necho 1\necho 2 >&2\necho \"$VALUE\"\n";
    file(&place, "a-bootstrap", content, 0o755);
    let env = [(OsString::from("VALUE"), OsString::from("3"))];
    let mut output = Vec::new();
    let mut add = |piece: &[u8]| output.extend_from_slice(piece);
    shell(&place)
        .run_file_script(Path::new("a-bootstrap"), content.as_bytes(), &env, &mut add)
        .unwrap();
    assert_eq!(output, b"1\n2\n3\n");
    let mut output = Vec::new();
    let mut add = |piece: &[u8]| output.extend_from_slice(piece);
    shell(&place).inline_script("echo 1; echo \"$VALUE\" >&2", &env, &mut add).unwrap();
    assert_eq!(output, b"1\n3\n");
}

#[test]
fn a_script_without_an_interpreter_is_run_by_the_shell() {
    let place = place();
    let path = file(&place, "-plain", "echo \"$0\"; exit 5\n", 0o755);
    let (ended, output) = script(&mut shell(&place), Path::new("-plain"));
    assert_eq!(ended.unwrap_err(), "exited with status 5");
    assert_eq!(output, format!("{}\n", path.display()));
}

/// Ruling T9: "executable bit required".
#[test]
fn a_script_that_may_not_be_executed_does_not_start() {
    let place = place();
    let path = file(&place, "a", "#!/bin/sh\ntouch marker\n", 0o644);
    let ended =
        shell(&place).run_file_script(&path, b"#!/bin/sh\ntouch marker\n", &[], &mut |_| {});
    assert!(
        matches!(ended, Err(RunFailure::NotStarted(error)) if error.kind() == io::ErrorKind::PermissionDenied)
    );
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o644);
    assert!(!place.path().join("marker").exists());
}

#[test]
fn what_is_not_a_script_does_not_start() {
    let place = place();
    let content = "#!/no/such/interpreter\n";
    let interpreter = file(&place, "a", content, 0o755);
    for path in [interpreter.as_path(), Path::new("missing"), Path::new(".")] {
        let ended = shell(&place).run_file_script(path, content.as_bytes(), &[], &mut |_| {});
        assert!(matches!(ended, Err(RunFailure::NotStarted(_))), "{}", path.display());
    }
}

#[test]
fn a_script_goes_on_after_too_much_output() {
    let place = place();
    let content = "#!/bin/sh\nyes | head -c 500000\ntouch marker\nexit 6\n";
    let path = file(&place, "a", content, 0o755);
    let limits = ShellLimits { output: 10_000, ..ShellLimits::default() };
    let (ended, output) = script(&mut Shell::new(&OsSystem, place.path(), limits), &path);
    assert_eq!(ended.unwrap_err(), "exited with status 6");
    assert!(place.path().join("marker").exists());
    assert!(output.ends_with("y\n\n[truncated: more than 10000 bytes]\n"));
    assert_eq!(output.matches("y\n").count(), 5_000);

    let exact = file(&place, "b", "#!/bin/sh\nyes | head -c 10000\n", 0o755);
    let (ended, output) = script(&mut Shell::new(&OsSystem, place.path(), limits), &exact);
    assert_eq!((ended, output.len()), (Ok(()), 10_000));
}

#[test]
fn a_script_that_hangs_is_ended() {
    let place = place();
    let path = file(&place, "a", "#!/bin/sh\necho begun\nsleep 60\n", 0o755);
    let (ended, output) = script(&mut hasty(&place), &path);
    assert_eq!(ended.unwrap_err(), "timed out after 0.2 s");
    assert_eq!(output, "begun\n");
}

#[test]
fn the_default_limits_are_the_documented_ones() {
    let limits = ShellLimits::default();
    assert_eq!((limits.command.as_secs(), limits.bootstrap.as_secs()), (30, 120));
    assert_eq!((limits.output, limits.commands), (1 << 20, 64));
    assert_eq!(RunFailure::TimedOut(limits.command).to_string(), "timed out after 30 s");
}

#[test]
fn a_system_without_processes_says_so() {
    let system = MemorySystem::new("/p");
    let mut shell = Shell::new(&system, Path::new("/p"), ShellLimits::default());
    let ended = shell.run_command("true".as_ref(), &[], &mut |_| {}).unwrap_err();
    assert_eq!(ended.to_string(), "cannot start: this system cannot start programs");
}

/// Attack case TRU-006: the bytes that were judged run, whatever the file says by now. A script for a shell
/// has the path of its file as `$0` nevertheless.
#[test]
fn the_bytes_that_were_judged_run() {
    let place = place();
    let judged = "echo \"$0\" \"$#\" \"$BRIEF_SCRIPT\"\npwd -P\n";
    for line in ["", "#!/bin/sh -e\n", "#!/usr/bin/env sh\n"] {
        let path = file(&place, "a-bootstrap", "#!/bin/sh\ntouch marker\n", 0o755);
        let mut output = Vec::new();
        let mut add = |piece: &[u8]| output.extend_from_slice(piece);
        let script = format!("{line}{judged}");
        shell(&place).run_file_script(&path, script.as_bytes(), &[], &mut add).unwrap();
        let (path, here) = (path.display(), fs::canonicalize(place.path()).unwrap());
        let expected = format!("{path} 0 {path}\n{}\n", here.display());
        assert_eq!(String::from_utf8(output).unwrap(), expected, "{line}");
    }
    assert!(!place.path().join("marker").exists());
}

/// Other interpreters see a private copy, which is removed with all that lies beside it.
#[test]
fn an_interpreter_gets_a_private_copy() {
    let place = place();
    let path = file(&place, "setup", "", 0o755);
    let script = "#!/usr/bin/awk -f\nBEGIN { print ENVIRON[\"BRIEF_SCRIPT\"]; while ((getline line < \"/proc/self/cmdline\") > 0) print line }\n";
    let mut output = Vec::new();
    let mut add = |piece: &[u8]| output.extend_from_slice(piece);
    shell(&place).run_file_script(&path, script.as_bytes(), &[], &mut add).unwrap();
    let output = String::from_utf8(output).unwrap();
    let (named, call) = output.split_once('\n').unwrap();
    assert_eq!(Path::new(named), path);
    let copy = call.split('\0').find(|word| word.ends_with("/setup")).map(Path::new).unwrap();
    assert!(!copy.starts_with(place.path()), "{}", copy.display());
    assert!(!copy.parent().unwrap().exists(), "nothing stays");
}

/// Attack case EXE-017: a script that would run as another user is refused.
#[test]
fn a_script_that_sets_its_identity_is_refused() {
    let place = place();
    for mode in [0o4755, 0o2755] {
        let path = file(&place, "a", "#!/bin/sh\ntouch marker\n", mode);
        let (ended, _) = script(&mut shell(&place), &path);
        let reason = "would run as another user or group";
        assert_eq!(ended.unwrap_err(), format!("cannot start: {reason}"));
    }
    assert!(!place.path().join("marker").exists());
}
