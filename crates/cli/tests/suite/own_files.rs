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

/// Makes items from the templates in a registry beside the project, with a text of their own, and builds them.
fn with_registry() -> Sandbox {
    let project = project().with_file(".git/HEAD", "");
    let bin = project.outside().join("bin");
    fs::create_dir_all(&bin).unwrap();
    write_program(&bin.join("brief"), "#!/bin/sh\n");
    let project = project.with_env("PATH", &format!("{}:/usr/bin:/bin", bin.display()));
    let registry = project.outside().join("registry");
    fs::create_dir_all(&registry).unwrap();
    let here = registry.to_str().unwrap();
    for kind in ["rule", "skill", "agent", "command"] {
        let name = format!("our-{kind}");
        let output = project.run_in(here, &["new", kind, &name], "");
        assert_eq!(output.code, Some(0), "{output}");
        let file = format!("{kind}s/{name}/{}.md", kind.to_uppercase());
        let text = format!(
            "---\nschema: 1\nname: {name}\ndescription: Use when amounts of money are written or read.\n---\n\n\
             Amounts of money are whole cents.\n"
        );
        fs::write(registry.join(file), text).unwrap();
    }
    let output = project.run_in(here, &["build"], "");
    assert_eq!(output.code, Some(0), "{output}");
    assert_silent(&project, here, "registry");
    project
}

/// N02: the tools that a hook names, the servers, items and pages of every client.
#[test]
fn n02_what_is_written_passes_the_checks() {
    for client in &BUILTIN.clients {
        let project = with_registry();
        let id = &*client.id;
        let install = client.hook.as_ref().and_then(|hook| hook.install.as_ref());
        if let Some(install) = install {
            for place in ["--project", "--global"] {
                if place == "--project" || install.home.is_some() {
                    let output = project.run(&["hook", "install", id, place]);
                    assert_eq!(output.code, Some(0), "{output}");
                    assert_silent(&project, "", &format!("{id}: hook install {place}"));
                }
            }
        }
        if client.mcp.as_ref().is_some_and(|mcp| mcp.file.is_some() && !mcp.stdio.is_empty()) {
            let output = project.run(&["mcp", "install", id]);
            assert_eq!(output.code, Some(0), "{output}");
            assert_silent(&project, "", &format!("{id}: mcp install"));
        }
        // It is written for Copilot in the terminal.
        if id != "copilot-vscode" {
            let registry = project.outside().join("registry");
            let args = ["add", registry.to_str().unwrap(), "--client", id];
            let output = project.run(&args);
            assert_eq!(output.code, Some(0), "{id}: {output}");
            assert_silent(&project, "", &format!("{id}: add"));
        }
        let output = project.run(&["init"]);
        assert_eq!(output.code, Some(0), "{output}");
        assert_silent(&project, "", &format!("{id}: init"));
    }
}
