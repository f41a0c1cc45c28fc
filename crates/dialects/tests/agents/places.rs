//! The places of agent files: A1, Y1, the list and lint.

use std::path::Path;

use brief_dialects::Dialect;
use brief_dialects::agents::{AgentOwner, Agents, list_agents, portable_agents};
use brief_syntax::project::{Root, Target, TargetKind};
use brief_syntax::walk::{self, Ignored};
use brief_syntax::{Diagnostic, Severity};
use brief_system::MemorySystem;

use super::support::{findings, loaded_from, of_severity, project};

/// Returns the findings of lint in the project `/p`, and how many files it found.
fn lint(system: &MemorySystem) -> (usize, Vec<Diagnostic>) {
    let mut reader = Agents.whole_reader().unwrap();
    let root = Root::open(system, Path::new("/p")).unwrap();
    let top = Target::from_slashed("", TargetKind::Directory);
    walk::walk_whole(system, &root, &top, Ignored::Skip, &mut |visit| {
        reader.visit_directory(visit);
    });
    let guidance = reader.finish();
    (guidance.file_count(), guidance.diagnostics().to_vec())
}

fn listed(system: &MemorySystem) -> Vec<String> {
    let root = Root::open(system, Path::new("/p")).unwrap();
    let found = list_agents(system, &root);
    let shown = found.iter().map(|(owner, loaded)| {
        let title = loaded.agent().map_or("broken", |agent| &agent.title);
        format!("{} {} {title}", owner.as_str(), loaded.path().display())
    });
    shown.collect()
}

/// A1, Y1: a name that does not fit is a warning, and the file is read all the same.
#[test]
fn names_that_do_not_fit_are_warned_of() {
    for (path, warnings) in [
        ("/p/agents/dev_x.agent.md", 0),
        ("/p/docs/policy/agents/dev_my_agent.agent.md", 0),
        ("/p/agents/policy.agent.md", 1),
        ("/p/agents/_x.agent.md", 1),
        ("/p/agents/dev_.agent.md", 1),
        ("/p/dev_x.agent.md", 1),
        ("/p/agents/dev_x.md", 1),
    ] {
        let loaded = loaded_from(&project().with_file(path, "# T\n"), path);
        assert!(loaded.agent().is_some(), "{path}");
        assert_eq!(
            of_severity(&loaded, Severity::Warning),
            vec!["1 name-pattern"; warnings],
            "{path}"
        );
    }
}

/// A1: category and name come from the file's name.
#[test]
fn an_agent_has_a_category_and_a_name() {
    let loaded = loaded_from(
        &project().with_file("agents/dev_a_b.agent.md", "# T\n"),
        "agents/dev_a_b.agent.md",
    );
    let name = &loaded.agent().unwrap().name;
    assert_eq!((name.category.as_deref(), name.name.as_str()), (Some("dev"), "a_b"));
}

/// Y1: every `agents` directory of the project, and those of the home directory.
#[test]
fn agents_are_found_in_their_directories() {
    let system = project()
        .with_file("docs/agents/b_x.agent.md", "# Docs\n")
        .with_file("agents/a_x.agent.md", "# Top\n")
        .with_file("agents/z_broken.agent.md", "text\n")
        .with_file("agents/notes.md", "# No\n")
        .with_file("agents/sub/c_x.agent.md", "# No\n")
        .with_file("other/d_x.agent.md", "# No\n")
        .with_file("node_modules/agents/e_x.agent.md", "# No\n")
        .with_file(".gitignore", "node_modules\n")
        .with_file("/home/u/agents/h_x.agent.md", "# Home\n")
        .with_file("/home/u/.agents/agents/i_x.agent.md", "# Dot\n")
        .with_file("/home/u/work/agents/j_x.agent.md", "# No\n");
    assert_eq!(
        listed(&system),
        [
            "project /p/agents/a_x.agent.md Top",
            "project /p/agents/z_broken.agent.md broken",
            "project /p/docs/agents/b_x.agent.md Docs",
            "home /home/u/.agents/agents/i_x.agent.md Dot",
            "home /home/u/agents/h_x.agent.md Home",
        ]
    );
    assert_eq!(AgentOwner::Home.as_str(), "home");
}

/// A project that is the home directory has its agents once.
#[test]
fn a_project_at_home_is_listed_once() {
    let system =
        MemorySystem::new("/p").with_env("HOME", "/p").with_file("agents/a_x.agent.md", "# T\n");
    assert_eq!(listed(&system), ["project /p/agents/a_x.agent.md T"]);
}

/// Clients keep agents of another format under the same end of a name.
#[test]
fn the_agents_of_clients_are_theirs() {
    let copilot = "---\ndescription: d\ntools: [read]\n---\nYou are.\n";
    let system = project().with_file(".github/agents/judge.agent.md", copilot);
    assert_eq!(lint(&system), (0, Vec::new()));
}

/// Lint reports what is wrong with every agent, and follows links inside the project only.
#[test]
fn lint_looks_at_every_agent() {
    let system = project()
        .with_file("agents/a_good.agent.md", "# T\nD\n")
        .with_file("agents/b_bad.agent.md", "---\nstatus: x\ncommands: [./c.md]\n---\n# T\n")
        .with_file("/out.agent.md", "# Out\n")
        .with_file("real.md", "---\nstatus: deprecated\n---\n# T\n")
        .with_link("agents/c_link.agent.md", "../real.md")
        .with_link("agents/d_out.agent.md", "/out.agent.md")
        .with_fifo("agents/e_pipe.agent.md");
    let (count, diagnostics) = lint(&system);
    let shown: Vec<String> = diagnostics
        .iter()
        .map(|found| {
            format!(
                "{}:{} {}",
                found.path().file_name().unwrap().to_str().unwrap(),
                found.position().line,
                found.code()
            )
        })
        .collect();
    assert_eq!(count, 5);
    assert_eq!(
        shown,
        [
            "b_bad.agent.md:2 agent-file/status",
            "b_bad.agent.md:3 agent-file/command-path",
            "c_link.agent.md:2 agent-file/deprecated",
            "d_out.agent.md:1 agent-file/unreadable",
            "e_pipe.agent.md:1 agent-file/unreadable",
        ]
    );
}

/// A command that two agents share is reported once.
#[test]
fn a_shared_command_is_reported_once() {
    let text = "---\ncommands: [c.md]\n---\n# T\n";
    let system = project()
        .with_file("agents/a_x.agent.md", text)
        .with_file("agents/b_x.agent.md", text)
        .with_file("agents/c.md", "---\nargument-hint: [a] [b]\n---\nC\n");
    let codes: Vec<&str> = lint(&system).1.iter().map(Diagnostic::code).collect();
    assert_eq!(codes, ["agent-file/frontmatter-repaired"]);
}

/// G5: a file that is too large, or is not there, is told and not read.
#[test]
fn a_file_that_cannot_be_read_is_told() {
    let system = project().with_file("agents/a_big.agent.md", "# T\n".repeat(300_000));
    for (path, words) in
        [("/p/agents/a_big.agent.md", "larger than"), ("/p/agents/no_x.agent.md", "no such file")]
    {
        let loaded = loaded_from(&system, path);
        assert!(loaded.agent().is_none());
        assert!(findings(&loaded)[0].contains(words), "{path}: {:?}", findings(&loaded));
    }
}

/// U22: a custom agent of Copilot is no agent file, wherever it lies, and gets no advice as one.
#[test]
fn a_custom_agent_of_copilot_is_not_listed_or_checked_as_an_agent_file() {
    let copilot = "---\nname: x\ndescription: d\ntools: [read]\nmcp-servers: {}\n---\n# X\n";
    let system = project()
        .with_file("agents/x.agent.md", copilot)
        .with_file("plugins/a/agents/dev_y.agent.md", copilot);
    assert_eq!(lint(&system), (0, Vec::new()));
    assert_eq!(listed(&system), [""; 0]);
    let loaded = loaded_from(&system, "/p/agents/x.agent.md");
    assert!(loaded.agent().is_none());
    assert_eq!(of_severity(&loaded, Severity::Error), ["1 other-format"]);
    assert!(findings(&loaded)[0].contains("GitHub Copilot"), "{:?}", findings(&loaded));
}

/// U23: a portable agent is explained, and nothing of it is called wrong.
#[test]
fn a_portable_agent_is_explained() {
    let text = "---\nschema: 1\nname: y\ndescription: d\nlicense: MIT\n---\n\n## You\n";
    let system = project().with_file("agents/y/AGENT.md", text);
    let loaded = loaded_from(&system, "/p/agents/y/AGENT.md");
    assert_eq!(of_severity(&loaded, Severity::Error), ["1 other-format"]);
    assert!(findings(&loaded)[0].contains("shared agent"), "{:?}", findings(&loaded));
    let root = Root::open(&system, Path::new("/p")).unwrap();
    assert_eq!(portable_agents(&system, &root), [Path::new("/p/agents/y/AGENT.md")]);
}
