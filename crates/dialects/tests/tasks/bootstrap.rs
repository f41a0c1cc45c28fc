//! Scripts that belong to rules (ruling T9).

use brief_dialects::tasks::NotRun;
use brief_system::MemorySystem;

use super::support::{
    Scripted, codes, output, project, rule_texts, rules, run_live, try_live, warnings,
};

const SCRIPT: &str = "/p/.agents/rules/r-bootstrap";

fn with_rule(text: &str) -> MemorySystem {
    project().with_file(".agents/tasks/t.md", "T\n").with_file(".agents/rules/r.md", text)
}

fn with_script(text: &str) -> MemorySystem {
    with_rule(text).with_program(SCRIPT, "#!/bin/sh\n")
}

/// The scripts that run for a command line.
fn ran(system: &MemorySystem, arguments: &[&str]) -> Vec<String> {
    let mut live = Scripted::default();
    run_live(system, arguments, &mut live);
    live.bootstraps
}

/// T9: "runs before its rule is read": a script may write the rule itself.
#[test]
fn a_script_may_write_its_own_rule() {
    let system = with_script("old\n");
    let mut live = Scripted::default().makes(
        &system,
        SCRIPT,
        "/p/.agents/rules/r.md",
        "---\nexpand: false\n---\nnew ${v}\n",
    );
    let prompt = run_live(&system, &["-p", "v=1", "t"], &mut live);
    assert_eq!(output(&prompt), "new ${v}\n\nT\n\n");
}

/// The scripts run in the order of the rules, each right before its own.
#[test]
fn each_script_runs_right_before_its_rule() {
    let system = project()
        .with_file(".agents/tasks/t.md", "T\n")
        .with_file(".agents/rules/a.md", "@made.txt")
        .with_file(".agents/rules/b.mdc", "@made.txt")
        .with_program(".agents/rules/a-bootstrap", "")
        .with_program(".agents/rules/b-bootstrap", "");
    let (a, b) = ("/p/.agents/rules/a-bootstrap", "/p/.agents/rules/b-bootstrap");
    let mut live = Scripted::default().makes(&system, a, "/p/made.txt", "by a").makes(
        &system,
        b,
        "/p/made.txt",
        "by b",
    );
    let prompt = run_live(&system, &["t"], &mut live);
    assert_eq!(rule_texts(&prompt), ["by a", "by b"]);
    assert_eq!(live.bootstraps, [a, b]);
}

/// A file that was missing for one rule is there for the next, when a script has made it between.
#[test]
fn a_script_may_make_what_was_missing() {
    let system = project()
        .with_file(".agents/tasks/t.md", "T\n")
        .with_file(".agents/rules/a.md", "@made.txt")
        .with_file(".agents/rules/b.md", "@made.txt")
        .with_program(".agents/rules/b-bootstrap", "");
    let script = "/p/.agents/rules/b-bootstrap";
    let mut live = Scripted::default().makes(&system, script, "/p/made.txt", "MADE");
    let prompt = run_live(&system, &["t"], &mut live);
    assert_eq!(rule_texts(&prompt), ["@made.txt", "MADE"]);
}

/// The document, "Requirements 1": "Executable permission". T9: "else a warning".
#[test]
fn a_script_without_the_executable_bit_does_not_run() {
    let system = with_rule("R\n").with_file(SCRIPT, "#!/bin/sh\n");
    let mut live = Scripted::default();
    let prompt = run_live(&system, &["t"], &mut live);
    assert_eq!(live.bootstraps, [""; 0]);
    assert_eq!(rule_texts(&prompt), ["R\n"]);
    assert_eq!(
        warnings(&prompt),
        [
            ".agents/rules/r.md:1 tasks/bootstrap-not-executable the script `r-bootstrap` was not run: is not executable"
        ]
    );
    let help = prompt.diagnostics[0].help.as_deref();
    assert_eq!(help, Some("run `chmod +x /p/.agents/rules/r-bootstrap`"));
}

/// The document, "Requirements 2 and 3": same directory, rule's name plus `-bootstrap`, no
/// extension.
#[test]
fn only_the_script_of_the_rules_name_runs() {
    let system = with_rule("R\n")
        .with_program(".agents/rules/r-bootstrap.sh", "")
        .with_program(".agents/rules/r.md-bootstrap", "")
        .with_program(".agents/rules/R-bootstrap", "")
        .with_program(".agents/rules/other-bootstrap", "")
        .with_program(".agents/rules/deep/r-bootstrap", "")
        .with_program(".agents/r-bootstrap", "")
        .with_program("r-bootstrap", "");
    assert_eq!(ran(&system, &["t"]), [""; 0]);
}

/// The document, "Naming Convention", holds for every rule file, also those at the top.
#[test]
fn rules_in_every_place_have_scripts() {
    for (rule, script) in [
        (".cursor/rules/deep/x.mdc", ".cursor/rules/deep/x-bootstrap"),
        ("AGENTS.md", "AGENTS-bootstrap"),
        (".github/copilot-instructions.md", ".github/copilot-instructions-bootstrap"),
        (".gemini/styleguide.md", ".gemini/styleguide-bootstrap"),
        ("/h/.agents/rules/x.md", "/h/.agents/rules/x-bootstrap"),
    ] {
        let system = project()
            .with_file(".agents/tasks/t.md", "T\n")
            .with_file(rule, "R\n")
            .with_program(script, "");
        let expected = if script.starts_with('/') { script.into() } else { format!("/p/{script}") };
        assert_eq!(ran(&system, &["t"]), [expected], "{rule}");
    }
}

/// T9: "failure warns and goes on".
#[test]
fn a_script_that_fails_is_a_warning() {
    let mut live =
        Scripted::default().refuse_script(SCRIPT, NotRun::Failed("exit status 3".to_owned()));
    let prompt = run_live(&with_script("R\n"), &["t"], &mut live);
    assert_eq!(output(&prompt), "R\n\nT\n\n");
    assert_eq!(
        warnings(&prompt),
        [
            ".agents/rules/r.md:1 tasks/bootstrap-failed the script `r-bootstrap` failed: exit status 3"
        ]
    );
}

/// T9: "not for excluded rules".
#[test]
fn the_script_of_an_excluded_rule_does_not_run() {
    let system = with_script("---\nstage: testing\n---\nR\n");
    assert_eq!(ran(&system, &["-s", "stage=testing", "t"]), [SCRIPT]);
    assert_eq!(ran(&system, &["-s", "stage=building", "t"]), [""; 0]);
    assert_eq!(ran(&system, &["-s", "rule_name=other", "t"]), [""; 0]);
    assert_eq!(ran(&with_script("---\nagent: codex\n---\n"), &["-a", "cursor", "t"]), [""; 0]);
}

/// T4: `-r` and `--skip-bootstrap` skip rules, skills and scripts.
#[test]
fn scripts_are_skipped_with_the_rules() {
    let system = with_script("---\nbootstrap: date\n---\nR\n");
    assert_eq!(ran(&system, &["-r", "t"]), [""; 0]);
    assert_eq!(ran(&system, &["--skip-bootstrap", "t"]), [""; 0]);
}

/// T9: "Front matter `bootstrap:` is run with `sh -c`"; reference 1.9: it takes precedence.
#[test]
fn the_script_in_the_front_matter_comes_before_the_file() {
    let system = with_script("---\nbootstrap: |\n  date\n  whoami\n---\nR\n");
    assert_eq!(ran(&system, &["t"]), ["sh -c date\nwhoami\n"]);
    let system = with_script("---\nbootstrap:\n---\nR\n");
    assert_eq!(ran(&system, &["t"]), [SCRIPT], "an empty field is none");
}

/// G2: a `bootstrap` that is no script is reported, and the rule stays.
#[test]
fn a_bootstrap_that_is_no_script_is_reported() {
    let mut live = Scripted::default();
    let system = with_rule("---\na: b\nbootstrap: [date]\n---\nR\n");
    let prompt = run_live(&system, &["t"], &mut live);
    assert_eq!(live.bootstraps, [""; 0]);
    assert_eq!(rules(&prompt), [".agents/rules/r.md"]);
    assert_eq!(codes(&prompt), [".agents/rules/r.md:3 tasks/wrong-type"]);
}

/// G7: what came over a network and is not trusted does not run; its rule is still read.
#[test]
fn an_untrusted_script_does_not_run() {
    let system = project()
        .with_file(".agents/tasks/t.md", "T\n")
        .with_file("/r/.agents/rules/r.md", "R\n")
        .with_program("/r/.agents/rules/r-bootstrap", "");
    let script = "/r/.agents/rules/r-bootstrap";
    let mut live = Scripted::default().refuse_script(script, NotRun::Untrusted);
    let prompt = run_live(&system, &["-d", "remote:/r", "t"], &mut live);
    assert_eq!(output(&prompt), "R\n\nT\n\n");
    assert_eq!(codes(&prompt), ["/r/.agents/rules/r.md:1 tasks/untrusted"]);
    let help = prompt.diagnostics[0].help.as_deref().unwrap();
    assert!(help.contains("`brief trust /r/.agents/rules/r-bootstrap`"), "{help}");
}

/// G7: with execution off no script runs, and nothing is said.
#[test]
fn with_execution_off_scripts_do_not_run() {
    let mut live = Scripted::default().refuse_script(SCRIPT, NotRun::Off);
    let prompt = run_live(&with_script("R\n"), &["t"], &mut live);
    assert_eq!(output(&prompt), "R\n\nT\n\n");
    assert_eq!(warnings(&prompt), [""; 0]);
}

/// An interrupted script brings no prompt.
#[test]
fn an_interrupted_script_ends_it() {
    let mut live = Scripted::default().refuse_script(SCRIPT, NotRun::Interrupted);
    assert!(try_live(&with_script("R\n"), &["t"], &mut live).is_err());
}

/// G6: a script that is a link out of the project does not run.
#[test]
fn a_script_outside_the_root_does_not_run() {
    let system = with_rule("R\n").with_program("/outside/x", "").with_link(SCRIPT, "/outside/x");
    let mut live = Scripted::default();
    let prompt = run_live(&system, &["t"], &mut live);
    assert_eq!(live.bootstraps, [""; 0]);
    assert_eq!(codes(&prompt), [".agents/rules/r.md:1 tasks/bootstrap-not-executable"]);
}

/// The document: scripts belong to rules. Tasks, commands and skills have none.
#[test]
fn only_rules_have_scripts() {
    let system = project()
        .with_file(".agents/tasks/t.md", "---\nbootstrap: date\n---\n/c\n")
        .with_program(".agents/tasks/t-bootstrap", "")
        .with_file(".agents/commands/c.md", "---\nbootstrap: date\n---\nC\n")
        .with_program(".agents/commands/c-bootstrap", "");
    assert_eq!(ran(&system, &["t"]), [""; 0]);
}
