//! The guide to registries, run as it stands: every command of the page, with what it prints.

use std::fs;
use std::path::Path;
use std::process::Command;

use brief_testkit::Sandbox;

use crate::install::{Remote, consumer, item};
use crate::workspace;

const PAGE: &str = "docs/guide/registries.md";

fn page_registry(project: &Sandbox) -> Remote {
    let remote = Remote::new(project, "github/acme/guidance");
    let money = "---\nschema: 1\nname: money\ndescription: Money is an integer number of cents\n\
        license: MIT\nmetadata:\n  version: \"1.0.0\"\n---\n\nMoney is an integer number of cents.\n";
    let baseline = "---\nschema: 1\nname: platform-baseline\ndescription: What every service needs\n\
        items:\n  rules: [money]\n  skills: [release-notes]\nmetadata:\n  version: \"1.2.0\"\n---\n\n\
        For services.\n";
    remote.commit(&[
        ("rules/money/RULE.md", money),
        ("skills/release-notes/SKILL.md", &item("release-notes", "Read the log.")),
        ("agents/reviewer/AGENT.md", &item("reviewer", "You review.")),
        ("platform-baseline.bundle.md", baseline),
    ]);
    remote.git(&["tag", "v1.0.0"]);
    remote
}

/// Runs a command of the page and returns what a terminal would show of it at the end.
fn shown(project: &Sandbox, command: &str) -> String {
    let text = match command.strip_prefix("brief ") {
        Some(args) => {
            let args: Vec<&str> = args.split(' ').collect();
            let output = project.run(&args);
            format!("{}{}", output.stdout, output.stderr)
        }
        None => {
            let mut shell = Command::new("sh");
            let output = shell.args(["-c", command]).current_dir(project.path()).output().unwrap();
            assert!(output.status.success(), "{command}");
            String::from_utf8(output.stdout).unwrap()
        }
    };
    let text = text.replace(&*project.home().to_string_lossy(), "/home/you");
    let is_progress = |line: &&str| line.starts_with("Asking ") || line.starts_with("Fetching ");
    let lines = text.lines().filter(|line| !is_progress(line)).map(str::trim_end);
    lines.collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

/// The page with what its commands print now.
fn told(page: &str, project: &Sandbox, remote: &Remote) -> String {
    let mut told = String::new();
    let mut is_console = false;
    for line in page.lines() {
        match line {
            "```console" => is_console = true,
            "```" => is_console = false,
            _ => {}
        }
        let command = line.strip_prefix("$ ").filter(|_| is_console);
        if is_console && command.is_none() && line != "```console" {
            continue;
        }
        told.push_str(&format!("{line}\n"));
        let Some(command) = command else { continue };
        if command == "brief outdated" {
            let newer = "---\nschema: 1\nname: money\ndescription: Money is an integer number of cents\n\
                license: MIT\nmetadata:\n  version: \"1.1.0\"\n---\n\nMoney is cents, and never a float.\n";
            remote.commit(&[("rules/money/RULE.md", newer)]);
            remote.git(&["tag", "v1.1.0"]);
        }
        let text = shown(project, command);
        if !text.is_empty() {
            told.push_str(&format!("{text}\n"));
        }
    }
    told
}

/// Every command of the page prints what the page shows.
#[test]
fn the_guide_shows_what_is_printed() {
    let project = consumer();
    let remote = page_registry(&project);
    let path = workspace().join(PAGE);
    let page = fs::read_to_string(&path).unwrap();
    let told = told(&page, &project, &remote);
    let wrong = page.lines().zip(told.lines()).position(|(left, right)| left != right);
    if let Some(line) = wrong {
        let [page, told] = [&page, &told].map(|text| text.lines().nth(line).unwrap_or_default());
        panic!("{PAGE}:{}:\n  page: {page}\n  run:  {told}", line + 1);
    }
    assert_eq!(page, told);
    assert!(Path::new(&project.path()).join("brief.lock").is_file());
}
