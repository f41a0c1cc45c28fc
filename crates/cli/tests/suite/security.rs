//! Goals of `docs/dev/security-goals.md` that no attack case holds alone: the hook under attack (R5), and work without a
//! network (R9).

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use brief_testkit::{Attacks, PATIENCE, Sandbox};

use crate::project_on_disk as project;

/// The time for a hook against a hostile project: one that only a hang reaches, because a busy machine takes any time.
/// `bench/run.py --hostile` holds the goal of 250 ms for a build that ships.
fn longest() -> Duration {
    let asked = std::env::var("BRIEF_HOOK_LONGEST").ok().and_then(|limit| limit.parse().ok());
    asked.map_or(PATIENCE, Duration::from_millis)
}

/// R5: against each hostile project, a hook answers with JSON or with nothing, exit code 0, in time.
#[test]
fn a_hook_answers_every_hostile_project_in_time() {
    let calls = std::env::var("BRIEF_HOOK_CALLS").ok().and_then(|calls| calls.parse().ok());
    let attacks = Attacks::read(&crate::workspace().join("conformance/attacks"));
    let program = std::env::var("BRIEF_PROGRAM");
    let program = program.unwrap_or_else(|_| env!("CARGO_BIN_EXE_brief").to_owned());
    let (mut projects, mut worst) = (0, (Duration::ZERO, ""));
    for attack in attacks.cases.iter().filter(|attack| attack.has_project()) {
        projects += 1;
        let slowest = attack.ask_hook(Path::new(&program), calls.unwrap_or(1));
        let slowest = slowest.unwrap_or_else(|problem| panic!("{}: {problem}", attack.id()));
        worst = worst.max((slowest, attack.id()));
        assert!(slowest <= longest(), "{}: {slowest:?}", attack.id());
    }
    assert!(projects > 60, "{projects} hostile projects");
    #[expect(clippy::print_stdout, reason = "the figure of the goal, shown by `--nocapture`")]
    {
        println!("{projects} projects, the slowest call took {:?} ({})", worst.0, worst.1);
    }
}

/// Y06: no format of an answer sends a control or hidden character to a terminal; what is printed as JSON says the same there.
#[test]
fn y06_no_format_acts_on_a_terminal() {
    let hostile = "a\u{9b}31m b\u{202e}c d\u{200b}e f\u{7f}g h\u{e0041}i\n";
    let rule = format!("---\npaths: [\"src/**\"]\ndescription: {hostile}---\n{hostile}");
    let project = project()
        .with_file("CLAUDE.md", hostile)
        .with_file(".claude/rules/r\u{202e}.md", &rule)
        .with_file("AGENTS.yaml", format!("context:\n  - content: \"{}\"\n", hostile.trim()))
        .with_file("src/a.rs", "")
        .with_env("BRIEF_PAGER", "cat");
    for args in [
        &["context", "."][..],
        &["context", ".", "--json"],
        &["context", "--all", "--json", "--no-pager"],
        &["why", "src/a.rs"],
        &["why", "src/a.rs", "--json"],
        &["show", "src/a.rs", "--json"],
        &["lint"],
        &["lint", "--format", "json"],
        &["lint", "--format", "sarif"],
        &["lint", "--format", "github"],
        &["audit"],
        &["audit", "--json"],
        &["audit", "--format", "sarif"],
        &["audit", "--format", "github"],
        &["list", "--json"],
        &["tokens", "--json"],
        &["coverage", "--json"],
        &["tokens", "--tree", "--json"],
        &["context", "--decisions", "src/a.rs", "--json"],
        &["doctor", "--json"],
    ] {
        let shown = project.run_on_screen(args).replace("\r\n", "\n");
        assert!(!shown.is_empty(), "{args:?}");
        // Colors are ours.
        let plain = without_colors(&shown);
        let found = brief_syntax::hidden::hidden_characters(&plain).next();
        assert!(found.is_none(), "{args:?}: {found:?} in {shown:?}");
        if args.contains(&"--json") {
            let root = project.path().canonicalize().unwrap();
            let plain = plain.replace(root.to_str().unwrap(), "$PROJECT");
            let here: serde_json::Value = serde_json::from_str(&plain).unwrap();
            assert_eq!(here, project.run(args).json(), "{args:?}");
        }
    }
}

pub(crate) fn without_colors(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end =
            part.find(|sign: char| !sign.is_ascii_digit() && sign != ';').unwrap_or(part.len());
        match part.get(end..) {
            Some(rest) if rest.starts_with('m') => plain.push_str(&rest[1..]),
            _ => plain.push_str(&format!("\u{1b}[{part}")),
        }
    }
    plain
}

/// Runs the program where there is no network at all; `None` where the system does not allow that.
pub(crate) fn without_network(project: &Sandbox, args: &[&str]) -> Option<std::process::Output> {
    let ready = project.prepare_command("", args);
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--net", "--"]).arg(ready.get_program()).args(args);
    command.current_dir(project.path()).env_clear().stdin(Stdio::null());
    command.envs(ready.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = command.output().ok()?;
    let is_refused = String::from_utf8_lossy(&output.stderr).contains("unshare:");
    (!is_refused).then_some(output)
}

/// R9, attack case NET-005: every command that reads, and `sync --frozen` from the cache, work without a network.
#[test]
fn reading_and_frozen_installing_need_no_network() {
    let skill = "---\nschema: 1\nname: ok\ndescription: Use when testing\n---\n\nx\n";
    let project = project().with_file("AGENTS.yaml", "context:\n  - content: HERE\n");
    let source = project.outside_directory().join("source");
    std::fs::create_dir_all(source.join("skills/ok")).unwrap();
    std::fs::write(source.join("skills/ok/SKILL.md"), skill).unwrap();
    for args in [
        &["init", "-q", "-b", "main"][..],
        &["add", "-A"],
        &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one"],
    ] {
        let status = Command::new("git").args(args).current_dir(&source).status().unwrap();
        assert!(status.success());
    }
    let address = format!("file://{}", source.display());
    let added = project.run(&["add", &address, "--client", "claude"]);
    assert_eq!(added.code, Some(0), "{added}");
    // The repository is gone, and what was written for the client, too: only the cache has it.
    std::fs::rename(source.join(".git"), project.outside_directory().join("gone")).unwrap();
    std::fs::remove_dir_all(project.path().join(".claude")).unwrap();
    for args in [
        &["sync", "--frozen"][..],
        &["sync", "--check"],
        &["context", "src/a.rs"],
        &["why", "src/a.rs"],
        &["show", "src/a.rs"],
        &["context", "--decisions", "src/a.rs"],
        &["tokens"],
        &["tokens", "--tree"],
        &["coverage"],
        &["list"],
        &["lint"],
        &["registry", "fmt", "--check"],
        &["mcp", "servers"],
        &["task", "list"],
        &["trust", "--list"],
        &["doctor"],
    ] {
        let Some(output) = without_network(&project, args) else {
            assert_eq!(project.run(args).code, Some(0), "{args:?}");
            continue;
        };
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {text}");
    }
    assert_eq!(project.read(".claude/skills/ok/SKILL.md").lines().last(), Some("x"));
}
