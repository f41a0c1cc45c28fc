//! `brief agent` hands over to `brief-agent`, and `brief lint` asks it about code. A script stands in for the program, because
//! what it gets and what becomes of its answer are the facts here.

use std::fs;
use std::path::Path;

use brief_testkit::{Output, Sandbox, send_signal, wait_until, write_program};

use crate::project_on_disk as project;

const AGENT: &str = "# T\nD.\n\n## System\n\nS.\n\n## Tools\n\n```js\nreturn {};\n```\n";

/// Puts a copy of `brief` into a directory of its own, outside the project.
fn installed(project: &Sandbox) -> std::path::PathBuf {
    let bin = project.outside_directory().join("bin");
    fs::create_dir_all(&bin).unwrap();
    let brief = bin.join("brief");
    fs::hard_link(project.program(), &brief)
        .or_else(|_| fs::copy(project.program(), &brief).map(drop))
        .unwrap();
    brief
}

/// Runs the installed program.
fn run(project: &Sandbox, brief: &Path, path: &str, args: &[&str]) -> Output {
    let mut command = project.prepare_command("", args);
    let mut other = std::process::Command::new(brief);
    other.args(args).current_dir(project.path()).env_clear();
    other.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    other.env("PATH", path).stdin(std::process::Stdio::null());
    command = other;
    let output = command.output().unwrap();
    Output {
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        code: output.status.code(),
    }
}

const PATH: &str = "/usr/bin:/bin";

/// The program gets the whole call, the streams and the directory, and its exit code is that of the call.
#[test]
fn a_call_is_handed_over_as_it_was_typed() {
    let project = project().with_dir("part");
    let brief = installed(&project);
    let script = "#!/bin/sh\necho \"$@\"\npwd -P\necho said >&2\nexit 42\n";
    write_program(&brief.with_file_name("brief-agent"), script);
    let release = format!("__release={}", env!("CARGO_PKG_VERSION"));
    for (args, got) in [
        (&["agent", "list", "--json"][..], "agent list --json"),
        (&["-C", "part", "agent", "list"], "-C part agent list"),
        (&["agent", "run", "x", "--input", "a b"], "agent run x --input a b"),
        (&["--color", "never", "agent", "serve", "x"], "--color never agent serve x"),
    ] {
        let output = run(&project, &brief, PATH, args);
        let expected = format!("{release} {got}\n{}\n", project.path().display());
        assert_eq!((output.stdout.as_str(), output.stderr.as_str()), (&*expected, "said\n"));
        assert_eq!(output.code, Some(42), "{output}");
    }
    // An old command line is noted, and handed over in today's words.
    let output = run(&project, &brief, PATH, &["agent", "call", "x", "t"]);
    assert!(output.stdout.starts_with(&format!("{release} agent debug call x t\n")), "{output}");
    // Help and mistakes of usage need no other program.
    assert_eq!(run(&project, &brief, PATH, &["agent", "run", "--help"]).code, Some(0));
    assert_eq!(run(&project, &brief, PATH, &["agent", "rnu"]).code, Some(2));
}

/// It is the same process, so that a signal reaches the program and no other is in between.
#[test]
fn a_call_becomes_the_program() {
    let project = project();
    let brief = installed(&project);
    let script =
        "#!/bin/sh\ntrap 'echo term; exit 7' TERM\necho $$ > pid\nwhile :; do sleep 0.05; done\n";
    write_program(&brief.with_file_name("brief-agent"), script);
    let mut command = std::process::Command::new(&brief);
    command.args(["agent", "list"]).current_dir(project.path()).env_clear().env("PATH", PATH);
    let mut child = command.stdout(std::process::Stdio::null()).spawn().unwrap();
    let pid = project.path().join("pid");
    wait_until("the program runs", || {
        fs::read_to_string(&pid).is_ok_and(|pid| pid.trim() == child.id().to_string())
    });
    send_signal("TERM", child.id());
    assert_eq!(child.wait().unwrap().code(), Some(7));
}

/// Next to `brief` first, then on `PATH`, but never in the project.
#[test]
fn the_program_is_found_beside_brief_and_outside_the_project() {
    let project = project().with_dir(".git");
    let brief = installed(&project);
    let say = |what: &str| format!("#!/bin/sh\necho {what}\n");
    let elsewhere = project.outside_directory().join("elsewhere");
    write_program(&project.path().join("brief-agent"), say("project"));
    write_program(&project.path().join("bin/brief-agent"), say("project"));
    let inside =
        format!("{}:{}:.:{PATH}", project.path().display(), project.path().join("bin").display());
    let none = run(&project, &brief, &inside, &["agent", "list"]);
    assert_eq!((none.stdout.as_str(), none.code), ("", Some(2)), "{none}");
    assert!(none.stderr.contains("error: `brief-agent` is not installed\n"), "{none}");
    assert!(none.stderr.contains("cargo build -p brief-agent-cli"), "{none}");
    write_program(&elsewhere.join("brief-agent"), say("path"));
    let path = format!("{inside}:{}", elsewhere.display());
    assert_eq!(run(&project, &brief, &path, &["agent", "list"]).stdout, "path\n");
    write_program(&brief.with_file_name("brief-agent"), say("beside"));
    assert_eq!(run(&project, &brief, &path, &["agent", "list"]).stdout, "beside\n");
}

/// What was not parsed is named, with the reason; a project without code starts nothing.
#[test]
fn lint_names_code_that_was_not_checked() {
    let project = project().with_dir(".git").with_file("agents/dev_t.agent.md", AGENT);
    let brief = installed(&project);
    let output = run(&project, &brief, PATH, &["lint"]);
    let says = "warning: the code of `agents/dev_t.agent.md` was not checked: `brief-agent` is not installed";
    assert!(output.stderr.contains(says), "{output}");
    assert!(output.stderr.contains("cargo build -p brief-agent-cli"), "{output}");
    assert_eq!(output.code, Some(0), "{output}");

    let agent = brief.with_file_name("brief-agent");
    // It reads all of its input, as the real one does.
    let answering = |answer: &str| {
        format!("#!/bin/sh\ncat > /dev/null\n[ \"$2\" = __parse ] && echo '{answer}'\n")
    };
    for (answer, code, says) in [
        ("[\"valid\"]", 0, ""),
        ("[{\"invalid\": {\"message\": \"no good\", \"place\": [1, 8], \"help\": null}}]", 1, ""),
        ("[{\"unparsed\": \"no worker\"}]", 0, "was not checked: no worker"),
        ("[]", 0, "was not checked: `brief-agent` returned an invalid answer"),
        ("nonsense", 0, "was not checked: `brief-agent` returned an invalid answer"),
    ] {
        write_program(&agent, answering(answer));
        let output = run(&project, &brief, PATH, &["lint"]);
        assert_eq!(output.code, Some(code), "{answer}: {output}");
        assert_eq!(
            output.stderr.contains("was not checked"),
            !says.is_empty(),
            "{answer}: {output}"
        );
        assert!(output.stderr.contains(says), "{answer}: {output}");
        // The first line of the code is line 11, and the place is its eighth character.
        let found =
            output.stdout.contains("no good") && output.stdout.contains("dev_t.agent.md:11:8");
        assert_eq!(found, code == 1, "{answer}: {output}");
    }
    // The words of the program are shown when it fails, and one of another release does.
    write_program(
        &agent,
        "#!/bin/sh\necho 'error: `brief` 1 and `brief-agent` 2 differ' >&2\nexit 2\n",
    );
    let output = run(&project, &brief, PATH, &["lint"]);
    assert!(
        output.stderr.contains("was not checked: `brief` 1 and `brief-agent` 2 differ"),
        "{output}"
    );

    project.write("agents/dev_t.agent.md", "# T\nD.\n\n## System\n\nS.\n");
    write_program(&agent, "#!/bin/sh\ntouch started\n");
    assert_eq!(run(&project, &brief, PATH, &["lint"]).code, Some(0));
    assert!(!project.path().join("started").exists());
}
