//! `brief completions`

use brief_testkit::needs;

use crate::project;

/// Every shell gets a script that asks the program.
#[test]
fn each_shell_has_a_script() {
    for shell in ["bash", "elvish", "fish", "nushell", "powershell", "zsh"] {
        let output = project().run(&["completions", shell]);
        assert_eq!((output.stderr.as_str(), output.code), ("", Some(0)), "{shell}");
        assert!(output.stdout.contains("BRIEF_COMPLETE"), "{shell}: {output}");
    }
}

/// Asks as the script for `fish` does, which prints one candidate with its help in a line.
fn candidates(project: &brief_testkit::Sandbox, words: &[&str]) -> Vec<String> {
    let line = [&["--", "brief"], words].concat();
    let mut command = project.prepare_command("", &line);
    let output = command.env("BRIEF_COMPLETE", "fish").output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// Commands, flags and the names of tasks complete.
#[test]
fn names_of_tasks_complete() {
    let project = project()
        .with_file(".agents/tasks/fix-bug.md", "---\ndescription: Fix one bug\n---\nx\n")
        .with_file(".agents/tasks/feature.md", "# Build a feature\n")
        .with_file(".agents/tasks/review.md", "x\n")
        .with_file(".agents/namespaces/team/tasks/fix.md", "x\n");
    assert!(candidates(&project, &["ta"]).iter().any(|line| line.starts_with("task\t")));
    assert_eq!(
        candidates(&project, &["task", "f"]),
        ["feature\tBuild a feature", "fix-bug\tFix one bug"]
    );
    assert_eq!(candidates(&project, &["task", "team/"]), ["team/fix\tx"]);
    assert!(
        candidates(&project, &["task", "--exp"]).iter().any(|line| line.starts_with("--explain"))
    );
}

/// Installed items, bundles and sources complete where they can be removed or updated.
#[test]
fn names_of_what_is_installed_complete() {
    let rule = "---\nschema: 1\nname: money\ndescription: Money\n---\n\nText.\n";
    let bundle = "---\nschema: 1\nname: mine\ndescription: x\nitems:\n  rules: [money]\n---\n\nx\n";
    let project = project()
        .with_file("guidance/rules/money/RULE.md", rule)
        .with_file("guidance/mine.bundle.md", bundle);
    assert_eq!(project.run(&["add", "./guidance", "mine"]).code, Some(0));
    for command in ["remove", "update"] {
        assert_eq!(
            candidates(&project, &[command, "m"]),
            ["mine\tbundle of guidance", "money\trule of guidance"]
        );
        assert_eq!(candidates(&project, &[command, "g"]), ["guidance\tsource"]);
    }
    project.write("brief.toml", "not TOML");
    assert_eq!(candidates(&project, &["remove", "m"]), [""; 0]);
}

/// The scripts are ones that their shells accept.
#[cfg(unix)]
#[test]
fn shells_accept_their_scripts() {
    needs!(Fish, Zsh);
    let project = project();
    for shell in ["bash", "fish", "zsh"] {
        project.write("script", project.run(&["completions", shell]).stdout);
        let script = project.path().join("script");
        let mut checked = std::process::Command::new(shell);
        let status = checked.arg("-n").arg(script).status();
        let status = status.unwrap_or_else(|error| panic!("`{shell}` cannot be started: {error}"));
        assert!(status.success(), "{shell}");
    }
}

/// Nushell gets records, which it reads from JSON.
#[test]
fn nushell_gets_records() {
    let project = project();
    let mut command = project.prepare_command("", &["--", "brief", "hook", "install", "cla"]);
    let output = command.env("BRIEF_COMPLETE", "nushell").output().unwrap();
    let records: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(records, serde_json::json!([{"value": "claude", "description": ""}]));
    let script = project.run(&["completions", "nushell"]).stdout;
    for part in ["\"brief\"", "BRIEF_COMPLETE: \"nushell\"", "^\"brief\" \"--\""] {
        assert!(script.contains(part), "{part} is not in\n{script}");
    }
}

/// A wrong call is exit 2, and names the shells.
#[test]
fn a_wrong_call_is_refused() {
    insta::assert_snapshot!(project().run(&["completions", "tcsh"]), @"
    ------- stderr -------
    error: invalid value 'tcsh' for '<SHELL>'
      [possible values: bash, elvish, fish, nushell, powershell, zsh]

      tip: a similar value exists: 'zsh'

    For more information, try '--help'.
    [exit status: 2]
    [EOF]
    ");
    assert_eq!(project().run(&["completions"]).code, Some(2));
}

/// U71: both names of `sync` are listed.
#[test]
fn both_names_of_a_command_complete() {
    let project = project();
    for typed in ["", "s", "sync"] {
        let found = candidates(&project, &[typed]);
        assert!(found.iter().any(|line| line.starts_with("sync\t")), "{typed}: {found:?}");
    }
    assert!(candidates(&project, &["i"]).iter().any(|line| line.starts_with("install\t")));
    for name in ["sync", "install"] {
        let found = candidates(&project, &[name, "--fr"]);
        assert!(found.iter().any(|line| line.starts_with("--frozen")), "{name}: {found:?}");
    }
}

/// U71: values that the program, the project or its repository knows.
#[test]
fn values_complete() {
    let project = project()
        .with_file("brief.toml", "[clients.custom.rule]\npath = \".custom/rules/{name}.mdc\"\nfields = []\nfiles = \".agents/rules/{name}\"\n")
        .with_file(".brief/clients/acme.toml", crate::own_clients::ACME)
        .with_file(".agents/tasks/fix.md", "Fix ${issue} in ${file}.\n")
        .with_file(".context/deploy.md", "---\ntrigger: manual\n---\nText.\n");
    for (words, expected) in [
        (&["lint", "--explain", "item/wrong"][..], &["item/wrong-type"][..]),
        (&["registry", "build", "--client", "cu"], &["cursor", "custom"]),
        (&["why", "--client", "ac"], &["acme"]),
        (&["show", "a.py", "ac"], &["acme"]),
        (&["hook", "install", "ac"], &[]),
        (&["hook", "status", "gem"], &["gemini"]),
        (&["hook", "test", "gem"], &["gemini"]),
        (&["log", "dep"], &["deploy"]),
        (&["context", "--task", "f"], &["fix"]),
        (&["context", "--mention", "d"], &["deploy"]),
        (&["task", "fix", "-p", "i"], &["issue="]),
        (&["task", "fix", "-p", ""], &["file=", "issue="]),
    ] {
        let found = candidates(&project, words);
        let found: Vec<&str> =
            found.iter().map(|line| line.split('\t').next().unwrap_or_default()).collect();
        assert_eq!(found, expected, "{words:?}");
    }
    assert!(candidates(&project, &["lint", "--explain", "context-dir/"]).len() > 3);
}

/// U71: branches and tags complete, also in a range.
#[cfg(unix)]
#[test]
fn revisions_complete() {
    let project = crate::install::consumer();
    crate::install::git(&project.path(), &["commit", "--quiet", "--allow-empty", "-m", "x"]);
    crate::install::git(&project.path(), &["branch", "feature"]);
    crate::install::git(&project.path(), &["tag", "v1"]);
    assert_eq!(candidates(&project, &["diff", "fea"]), ["feature"]);
    assert_eq!(candidates(&project, &["diff", "v1..fea"]), ["v1..feature"]);
    assert_eq!(candidates(&project, &["diff", "HEAD", "v"]), ["v1"]);
}
