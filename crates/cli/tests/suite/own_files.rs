//! Files that `brief` writes pass its own checks: `lint --strict` and `doctor` find nothing in it, for every client.

use std::fs;

use brief_profiles::BUILTIN;
use brief_testkit::{Sandbox, write_program};

use crate::project;

fn assert_silent(project: &Sandbox, directory: &str, what: &str) {
    let lint = project.run_in(directory, &["lint", "--strict"], "");
    assert_eq!(lint.code, Some(0), "{what}: {lint}");
    assert_eq!(lint.stdout, "", "{what}: {lint}");
    let doctor = project.run_in(directory, &["doctor"], "");
    assert_eq!((doctor.stdout.as_str(), doctor.code), ("", Some(0)), "{what}: {doctor}");
}

/// Makes a repository with the program on its PATH, as the clients look for it.
fn repository() -> Sandbox {
    let project = project().with_file(".git/HEAD", "");
    let bin = project.outside_directory().join("bin");
    fs::create_dir_all(&bin).unwrap();
    write_program(&bin.join("brief"), "#!/bin/sh\n");
    project.with_env("PATH", &format!("{}:/usr/bin:/bin", bin.display()))
}

/// Runs a command in a directory. It has to work, and what it has written has to pass the checks there.
fn assert_passes(project: &Sandbox, directory: &str, args: &[&str]) {
    let output = project.run_in(directory, args, "");
    assert_eq!(output.code, Some(0), "{args:?}: {output}");
    assert_silent(project, directory, &format!("{args:?}"));
}

/// Makes an item of each kind from its template, with a text of its own.
fn make_items(project: &Sandbox, directory: &str) {
    let top = project.path().join(directory);
    fs::create_dir_all(&top).unwrap();
    for kind in ["rule", "skill", "agent", "command", "bundle"] {
        let name = format!("our-{kind}");
        let output = project.run_in(directory, &["registry", "new", kind, &name], "");
        assert_eq!(output.code, Some(0), "{output}");
        let description = "Use when amounts of money are written or read.";
        let (file, more) = match kind {
            "bundle" => (format!("{name}.bundle.md"), "items:\n  rules: [our-rule]\n"),
            _ => (format!("{kind}s/{name}/{}.md", kind.to_uppercase()), ""),
        };
        let text = format!(
            "---\nschema: 1\nname: {name}\ndescription: {description}\n{more}---\n\n\
             Amounts of money are whole cents.\n"
        );
        fs::write(top.join(file), text).unwrap();
    }
    assert_silent(project, directory, "new");
}

/// N02, and issue 35: "Run `hook install`, `mcp install`, `add`, `build`, `init`, and `new` for every client, then `lint --strict` and
/// `doctor`. Both must be silent": each command in a project of its own, then all of them in one.
#[test]
fn n02_what_is_written_passes_the_checks() {
    let mut written = 0;
    for client in &BUILTIN.clients {
        let id = &*client.id;
        let install = client.hook.as_ref().and_then(|hook| hook.install.as_ref());
        let has_file = client.mcp.as_ref().is_some_and(|mcp| !mcp.stdio.is_empty());
        let mcp = client.mcp.as_ref().filter(|_| has_file);
        // It is written for Copilot in the terminal.
        let is_compiled = id != "copilot-vscode";
        let mut calls: Vec<Vec<&str>> = Vec::new();
        if let Some(install) = install {
            calls.push(vec!["hook", "install", id]);
            calls.push(vec!["hook", "install", id, "--project"]);
            calls.push(vec!["hook", "install", id, "--block-once"]);
            if install.home.is_some() {
                calls.push(vec!["hook", "install", id, "--global"]);
            }
        }
        if mcp.is_some_and(|mcp| mcp.file.is_some()) {
            calls.push(vec!["mcp", "install", id]);
        }
        if mcp.is_some_and(|mcp| mcp.home_file.is_some()) {
            let global = vec!["mcp", "install", id, "--global"];
            let tried = repository().run(&[&global[..], &["--dry-run"]].concat());
            // Some clients rewrite their file at any time.
            let is_refused = tried.stderr.contains("no user-level server file");
            assert_eq!(tried.code, Some(i32::from(is_refused)), "{id}: {tried}");
            calls.extend((!is_refused).then_some(global));
        }
        for call in &calls {
            assert_passes(&repository(), "", call);
        }
        let all = repository();
        if is_compiled {
            let registry = repository();
            make_items(&registry, "");
            assert_passes(&registry, "", &["registry", "build", "--client", id]);
            assert_passes(&registry, "", &["add", ".", "--client", id]);
            let init = repository();
            init.write("brief.toml", format!("[install]\nclients = [\"{id}\"]\n"));
            assert_passes(&init, "", &["init"]);
            let items = all.outside_directory();
            make_items(&all, items.to_str().unwrap());
            assert_passes(&all, "", &["add", items.to_str().unwrap(), "--client", id]);
        }
        for call in &calls {
            assert_passes(&all, "", call);
        }
        assert_passes(&all, "", &["init"]);
        written += calls.len();
    }
    assert!(written > 60, "{written} calls are too few for all clients");
}
