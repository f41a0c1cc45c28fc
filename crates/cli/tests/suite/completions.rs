//! `brief completions`

use crate::project;

/// Every shell gets a script that knows the commands.
#[test]
fn each_shell_has_a_script() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let output = project().run(&["completions", shell]);
        assert_eq!((output.stderr.as_str(), output.code), ("", Some(0)), "{shell}");
        for command in ["context", "decisions", "why", "lint", "init", "hook", "completions"] {
            assert!(output.stdout.contains(command), "{shell} lacks {command}");
        }
    }
}

/// The script for `bash` is one that `bash` accepts.
#[cfg(unix)]
#[test]
fn bash_accepts_its_script() {
    let project = project();
    project.write("brief.bash", project.run(&["completions", "bash"]).stdout);
    let script = project.path().join("brief.bash");
    let status = std::process::Command::new("bash").arg("-n").arg(script).status().unwrap();
    assert!(status.success());
}

/// A wrong call is exit 2, and names the shells.
#[test]
fn a_wrong_call_is_refused() {
    insta::assert_snapshot!(project().run(&["completions", "tcsh"]), @"
    ------- stderr -------
    error: invalid value 'tcsh' for '<SHELL>'
      [possible values: bash, elvish, fish, powershell, zsh]

      tip: a similar value exists: 'zsh'

    For more information, try '--help'.
    [exit status: 2]
    [EOF]
    ");
    assert_eq!(project().run(&["completions"]).code, Some(2));
}
