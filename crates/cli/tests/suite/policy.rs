//! `policy.toml`: what it forbids, and that nothing gets round it.

use std::fs;

use brief_testkit::Sandbox;

use crate::{project_on_disk as project, trusted_project};

const RULE: &str =
    "---\nschema: 1\nname: house\ndescription: Use when writing\n---\n\n## House\n\nBe brief.\n";

/// An agent with a tool.
const AGENT: &str = "---\nabilities:\n  allow: [tool]\n---\n# X\n\nd\n\n## Tools\n\n```js\nreturn { go: { fn: () => 1, scheme: { name: \"go\", description: \"g\", parameters: { type: \"object\" } } } };\n```\n";

/// Writes the user's policy.
fn with_policy(project: Sandbox, text: &str) -> Sandbox {
    let directory = project.home().join(".config/brief");
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("policy.toml"), text).unwrap();
    project
}

/// A registry beside the project, and its path.
fn registry(project: &Sandbox) -> String {
    let directory = project.outside_directory().join("registry");
    fs::create_dir_all(directory.join("rules/house")).unwrap();
    fs::write(directory.join("rules/house/RULE.md"), RULE).unwrap();
    directory.to_str().unwrap().to_owned()
}

/// Bad input: a policy that cannot be parsed is closed, not open.
#[test]
fn a_policy_that_cannot_be_followed_stops_everything() {
    for text in ["execution = nevr\n", "exection = \"never\"\n", "[sources]\nallow = 1\n"] {
        let project = with_policy(project(), text)
            .with_file(".agents/tasks/t.md", "!`touch marker`")
            .with_file("agents/x_y.agent.md", AGENT);
        let source = registry(&project);
        let calls: [&[&str]; 7] = [
            &["add", &source],
            &["sync"],
            &["update"],
            &["task", "t", "--exec"],
            &["agent", "debug", "call", "agents/x_y.agent.md", "go", "{}"],
            &["hook", "install", "claude"],
            &["doctor"],
        ];
        for call in calls {
            // Without a manifest, `update` has nothing to ask about.
            if call == ["update"] {
                project.write(
                    "brief.toml",
                    format!("[sources.a]\ndirectory = \"{source}\"\nall = true\n"),
                );
            }
            if call[0] == "agent" && !crate::has_brief_agent() {
                continue;
            }
            let output = if call[0] == "agent" { project.spawn(call) } else { project.run(call) };
            assert_eq!((output.stdout.as_str(), output.code), ("", Some(2)), "{call:?} {output}");
            let line = if text.starts_with('[') { 2 } else { 1 };
            let place = format!("home/.config/brief/policy.toml:{line}`: ");
            assert!(output.stderr.contains(&place), "{call:?} {output}");
        }
        for name in ["marker", ".claude", ".agents/rules"] {
            assert!(!project.path().join(name).exists(), "{name}");
        }
        // What only reads does not ask.
        assert_eq!(project.run(&["context", "src/a.rs"]).code, Some(0));
    }
}

#[test]
fn sources_are_forbidden_before_anything_is_read() {
    let project = project();
    let source = registry(&project);
    let project = with_policy(project, "[sources]\nallow = [\"github.com/acme\"]\n");
    let refused = |args: &[&str]| {
        let output = project.run(args);
        assert_eq!((output.stdout.as_str(), output.code), ("", Some(1)), "{args:?} {output}");
        assert!(output.stderr.contains("policy.toml:2` allows only `github.com/acme`"), "{output}");
    };
    refused(&["add", &source]);
    refused(&["add", "evil/guidance"]);
    refused(&["add", "https://github.com/acme-labs/x"]);
    refused(&["list", &source]);
    project.write("brief.toml", format!("[sources.a]\ndirectory = \"{source}\"\nall = true\n"));
    refused(&["sync"]);
    refused(&["update"]);
    assert!(!project.path().join("brief.lock").exists());
    project.write(".agents/tasks/t.md", "Task.\n");
    refused(&["task", "t", "-d", &source]);
    let doctor = project.run(&["doctor"]);
    assert_eq!(doctor.code, Some(1), "{doctor}");
    assert!(doctor.stdout.contains("policy.toml: policy in effect"), "{doctor}");
    assert!(doctor.stdout.contains("warning[policy]: the source `a` is forbidden"), "{doctor}");
    let project = with_policy(project, &format!("[sources]\nallow = [\"{source}\"]\n"));
    let added = project.run(&["sync"]);
    assert_eq!(added.code, Some(0), "{added}");
}

/// Y08: settings of git and ssh lead to another place, and the policy counts for that place, before anything is fetched.
#[cfg(unix)]
#[test]
fn y08_a_policy_counts_where_git_is_led() {
    use crate::install::{Remote, consumer, item};
    let project = consumer();
    let remote = Remote::new(&project, "github/acme/guidance");
    remote.commit(&[("rules/money/RULE.md", &item("money", "Cents."))]);
    let there = project.outside_directory().join("github").to_str().unwrap().to_owned();
    let refused = |project: &Sandbox, source: &str, rule: &str, place: &str| {
        let output = project.run(&["add", source]);
        assert_eq!((output.stdout.as_str(), output.code), ("", Some(1)), "{output}");
        let told = format!("{rule}, and git reads this from `{place}");
        assert!(output.stderr.contains(&told), "{told}: {output}");
        assert!(!project.path().join("brief.lock").exists());
    };
    let only = "[sources]\nallow = [\"github.com/acme\"]\n";
    let project = with_policy(project, only);
    refused(&project, "acme/guidance", "allows only `github.com/acme`", &there);
    let project = with_policy(project, &format!("[sources]\ndeny = [\"{there}\"]\n"));
    refused(&project, "acme/guidance", &format!("denies `{there}`"), &there);
    // The address counts as well.
    let project = with_policy(project, "[sources]\ndeny = [\"github.com/acme\"]\n");
    refused(&project, "acme/guidance", "denies `github.com/acme`", &there);

    // A name of ssh is its host: it is denied with it, and allowed by it.
    let bin = project.outside_directory().join("bin");
    let ssh = "#!/bin/sh\n[ \"$1 $2 $3\" = '-G -- work' ] && echo 'hostname github.com'\n";
    fs::create_dir_all(&bin).unwrap();
    brief_testkit::write_program(&bin.join("ssh"), ssh);
    let project = project.with_env("PATH", &format!("{}:/usr/bin:/bin", bin.display()));
    let denied = project.run(&["add", "git@work:acme/guidance"]);
    assert!(denied.stderr.contains("denies `github.com/acme`"), "{denied}");
    let project = with_policy(project, only);
    let tried = project.run(&["add", "git@work:acme/guidance"]);
    assert!(!tried.stderr.contains("policy"), "{tried}");
    let other = project.run(&["add", "git@work:evil/guidance"]);
    assert!(other.stderr.contains("allows only `github.com/acme`"), "{other}");

    let project = with_policy(project, &format!("[sources]\nallow = [\"{there}\"]\n"));
    let added = project.run(&["add", "acme/guidance"]);
    assert_eq!(added.code, Some(0), "{added}");
}

/// `execution = "never"` wins over trust in the project, `--exec` and the variable.
#[test]
fn execution_can_be_turned_off_for_good() {
    let project = trusted_project()
        .with_env("BRIEF_EXEC", "always")
        .with_file(".agents/tasks/t.md", "!`touch marker`\n");
    let project = with_policy(project, "execution = \"never\"\n");
    for args in [&["task", "t"][..], &["task", "t", "--exec"]] {
        let output = project.run(args);
        assert_eq!(
            (output.stdout.as_str(), output.code),
            ("!`touch marker`\n\n", Some(0)),
            "{output}"
        );
        assert!(output.stderr.contains("not run, because of the policy `"), "{output}");
    }
    assert!(!project.path().join("marker").exists());
    if !crate::has_brief_agent() {
        return;
    }
    project.write("agents/x_y.agent.md", AGENT);
    let output = project.spawn(&["agent", "debug", "call", "agents/x_y.agent.md", "go", "{}"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(
        output.stderr.contains("cannot run the agent's tools because of the policy"),
        "{output}"
    );
}

#[test]
fn required_items_have_to_be_there() {
    let project = project();
    let source = registry(&project);
    let project = with_policy(project, "[required]\nrules = [\"house\"]\n");
    project.write("brief.toml", format!("[sources.a]\ndirectory = \"{source}\"\n"));
    let output = project.run(&["sync"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stderr.contains("the rule `house` is missing: the policy"), "{output}");
    assert!(!project.path().join("brief.lock").exists());
    let added = project.run(&["add", &source, "house"]);
    assert_eq!(added.code, Some(0), "{added}");
    let removed = project.run(&["remove", "house"]);
    assert_eq!(removed.code, Some(1), "{removed}");
}

#[test]
fn the_hook_is_not_installed_where_hooks_are_forbidden() {
    let project = with_policy(project(), "[capabilities]\nnever = [\"hooks\"]\n");
    let output = project.run(&["hook", "install", "claude"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stderr.contains("policy.toml:2` forbids items with `hooks`"), "{output}");
    assert!(!project.path().join(".claude").exists());
}

/// `capabilities.never`: an item that can do what is forbidden is not written, accepted or not.
#[test]
fn items_that_can_do_what_is_forbidden_are_not_installed() {
    let project = project();
    let source = registry(&project);
    let skill = project.outside_directory().join("registry/skills/net");
    fs::create_dir_all(&skill).unwrap();
    fs::write(
        skill.join("SKILL.md"),
        "---\nschema: 1\nname: net\ndescription: Use when testing\n---\n\nAsk https://api.example.com/x first.\n",
    )
    .unwrap();
    let project = with_policy(project, "[capabilities]\nnever = [\"hosts\"]\n");
    let output = project.run(&["add", &source]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stdout.contains("policy.toml:2` forbids items with `hosts`"), "{output}");
    assert!(!project.path().join(".agents/skills/net").exists());
    assert!(!project.path().join(".claude/skills/net").exists());
}

/// The policy of the machine is the file in `/etc`, which a run sees in a mount namespace of its own.
#[cfg(target_os = "linux")]
mod machine {
    use std::process::{Command, Output};

    use brief_testkit::needs;

    use super::{Sandbox, fs, project, registry, trusted_project, with_policy};

    /// Puts the first argument's file in place, and becomes the program.
    const SCRIPT: &str = "mount -t tmpfs none /etc && mkdir /etc/brief && cp -r \"$1\" /etc/brief/policy.toml \
        && shift && exec \"$@\"";

    /// Runs the program on a machine with this policy.
    fn run_on_machine(project: &Sandbox, policy: &str, args: &[&str]) -> Output {
        let file = project.outside_directory().join("machine-policy");
        fs::write(&file, policy).unwrap();
        run_with(project, &file, args)
    }

    fn run_with(project: &Sandbox, file: &std::path::Path, args: &[&str]) -> Output {
        let ready = project.prepare_command("", args);
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--mount", "sh", "-c", SCRIPT, "sh"]);
        command.arg(file).arg(ready.get_program()).args(args);
        command.current_dir(project.path()).env_clear();
        command.envs(ready.get_envs().filter_map(|(name, value)| Some((name, value?))));
        // No variable leads elsewhere.
        command.envs([("XDG_CONFIG_DIRS", "/tmp"), ("BRIEF_POLICY", "/dev/null")]);
        command.output().unwrap()
    }

    fn said(output: &Output) -> String {
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    /// G19: a user can forbid more than the machine, and allow nothing that it forbids.
    #[test]
    fn it_counts_whatever_the_user_says() {
        needs!(Namespaces);
        let project = trusted_project()
            .with_env("BRIEF_EXEC", "always")
            .with_file(".agents/tasks/t.md", "!`touch marker`\n");
        let project = with_policy(project, "execution = \"trusted\"\n");
        let run = |args| run_on_machine(&project, "# house rules\nexecution = \"never\"\n", args);
        let output = run(&["task", "t", "--exec"]);
        assert!(said(&output).contains("/etc/brief/policy.toml:2"), "{}", said(&output));
        assert!(!project.path().join("marker").exists());
        let doctor = run(&["doctor"]);
        let shown = String::from_utf8_lossy(&doctor.stdout).into_owned();
        for file in ["/etc/brief/policy.toml: ", ".config/brief/policy.toml: "] {
            assert!(shown.contains(&format!("{file}policy in effect")), "{shown}");
        }
        // Without it, the command runs.
        assert_eq!(project.run(&["task", "t", "--exec"]).code, Some(0));
        assert!(project.path().join("marker").exists());
    }

    #[test]
    fn its_sources_are_those_of_every_user() {
        needs!(Namespaces);
        let project = project();
        let source = registry(&project);
        let project = with_policy(project, &format!("[sources]\nallow = [\"{source}\"]\n"));
        let policy = "[sources]\ndeny = [\"/\"]\n";
        let policy = policy.replace('/', &source);
        let output = run_on_machine(&project, &policy, &["add", &source]);
        assert_eq!(output.status.code(), Some(1), "{}", said(&output));
        assert!(said(&output).contains("/etc/brief/policy.toml:2` denies"), "{}", said(&output));
        assert!(!project.path().join("brief.lock").exists());
        assert_eq!(project.run(&["add", &source]).code, Some(0));
    }

    /// Bad input: a file of the machine that cannot be read or understood closes everything.
    #[test]
    fn one_that_cannot_be_followed_stops_everything() {
        needs!(Namespaces);
        let project = project();
        let source = registry(&project);
        for (policy, problem) in [
            ("execution = nevr\n", "cannot apply the policy `/etc/brief/policy.toml:1`"),
            ("[source]\n", "cannot apply the policy `/etc/brief/policy.toml:1`"),
        ] {
            let output = run_on_machine(&project, policy, &["add", &source]);
            assert_eq!(output.status.code(), Some(2), "{}", said(&output));
            assert!(said(&output).contains(problem), "{}", said(&output));
        }
        let directory = project.outside_directory().join("a-directory");
        fs::create_dir(&directory).unwrap();
        let output = run_with(&project, &directory, &["add", &source]);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        let problem = "cannot read the policy `/etc/brief/policy.toml`";
        assert!(said(&output).contains(problem), "{}", said(&output));
        assert!(!project.path().join("brief.lock").exists());
    }
}

/// N16: "No command shows the policy in force".
#[test]
fn the_rules_in_force_are_shown() {
    let text = "[sources]\nallow = [\"github.com/acme\"]\ndeny = [\"github.com/acme/old\"]\n\n[capabilities]\nnever = [\"hooks\"]\n";
    let project = with_policy(project(), text);
    let shown = project.run(&["trust", "--policy"]);
    assert_eq!(shown.code, Some(0), "{shown}");
    for rule in [
        "policy.toml:2  allows only `github.com/acme`",
        "policy.toml:3  denies `github.com/acme/old`",
        "policy.toml:6  forbids items with `hooks`",
    ] {
        assert!(shown.stdout.contains(rule), "{rule}: {shown}");
    }
    assert!(shown.stderr.contains("3 rules"), "{shown}");
    let none = crate::project().run(&["trust", "--policy"]);
    assert!(none.stderr.contains("no policy in effect"), "{none}");
}
