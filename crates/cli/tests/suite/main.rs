//! The program from outside: every command, run in a directory of its own.
#![expect(clippy::unwrap_used, reason = "a test stops where something is not as it should be")]
#![expect(clippy::disallowed_methods, reason = "tests make real files and start the real program")]

#[cfg(unix)]
mod agent_program;
mod approved;
mod architecture;
#[cfg(target_os = "linux")]
mod artifact_identity;
mod artifact_shapes;
mod artifact_trust;
#[cfg(target_os = "linux")]
mod artifacts;
#[cfg(unix)]
mod attacks;
mod audit;
mod budget;
mod build;
mod build_ownership;
mod check;
mod client_files;
#[cfg(unix)]
mod client_versions;
mod coding_context;
mod completions;
#[cfg(target_os = "linux")]
mod container_registry;
mod context;
#[cfg(unix)]
mod debug_block;
mod decisions;
mod deps;
#[cfg(unix)]
mod diff;
mod documents;
#[cfg(unix)]
mod eject;
#[cfg(unix)]
mod everywhere;
#[cfg(target_os = "linux")]
mod fleet;
mod fleet_hostile;
mod fleet_states;
mod fleet_update;
mod fmt;
mod frames;
mod hook;
mod hook_checks;
mod hook_clients;
mod hook_everything;
#[cfg(unix)]
mod hook_faults;
mod hook_install;
mod hook_limits;
mod hook_memory;
mod hook_moments;
mod hook_sessions;
#[cfg(unix)]
mod hook_shared;
mod hook_switches;
mod hosted;
mod hostile;
mod import;
mod import_places;
mod import_united;
mod in_process;
mod init;
#[cfg(unix)]
mod install;
#[cfg(unix)]
mod install_add;
#[cfg(unix)]
mod install_bundles;
#[cfg(unix)]
mod install_clients;
#[cfg(unix)]
mod install_collections;
#[cfg(unix)]
mod install_doctor;
#[cfg(unix)]
mod install_documents;
#[cfg(unix)]
mod install_exec;
#[cfg(unix)]
mod install_gate;
#[cfg(unix)]
mod install_global;
#[cfg(unix)]
mod install_hostile;
mod install_kinds;
#[cfg(unix)]
mod install_list;
#[cfg(unix)]
mod install_ownership;
mod install_permissions;
#[cfg(unix)]
mod install_races;
#[cfg(unix)]
mod install_shared;
#[cfg(unix)]
mod install_sources;
#[cfg(unix)]
mod install_sync;
#[cfg(unix)]
mod install_update;
mod install_variants;
mod json;
#[cfg(unix)]
mod kill_matrix;
mod lint;
mod lint_accepted;
mod lint_advice;
#[cfg(unix)]
mod lint_all;
mod lint_formats;
mod lint_quiet;
mod lint_repositories;
mod lint_texts;
mod lsp;
#[cfg(target_os = "linux")]
mod mcp;
mod mcp_gateway;
mod mcp_servers;
mod moments;
mod native;
mod new;
#[cfg(unix)]
#[cfg(target_os = "linux")]
mod observed;
mod one_root;
mod own_clients;
#[cfg(unix)]
mod own_files;
#[cfg(target_os = "linux")]
mod ownership;
mod page_outcomes;
mod pages;
#[cfg(unix)]
mod policy;
mod portable_corpus;
mod portable_lint;
mod privacy;
#[cfg(unix)]
mod programs;
mod promises;
#[cfg(unix)]
mod receipt_joins;
mod receipt_late;
#[cfg(unix)]
mod receipts;
mod registry_outputs;
mod replay;
mod rules;
#[cfg(unix)]
mod runbook;
mod schemas;
#[cfg(unix)]
mod screens;
mod sctx;
mod security;
mod sees;
mod sentences;
#[cfg(unix)]
mod setup;
#[cfg(unix)]
mod stale;
mod started;
mod status;
mod survey;
mod task;
#[cfg(unix)]
mod task_exec;
#[cfg(unix)]
mod task_files;
mod task_hostile;
mod task_lint;
#[cfg(unix)]
mod task_names;
mod task_output;
#[cfg(unix)]
mod task_remote;
mod task_rules_file;
mod task_search;
mod task_strict;
#[cfg(unix)]
mod task_trust;
mod trust;
mod usage;
#[cfg(unix)]
mod versions;
mod view;
#[cfg(unix)]
mod watch;
mod why;
#[cfg(unix)]
mod writes;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use brief_cli::Ui;
use brief_system::System;
use brief_testkit::{Sandbox, Streams};

/// An empty project. `run` calls the program in this process; `spawn` starts it.
fn project() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_brief")).in_process(brief)
}

/// An empty project on the disk, for tests that refer to files by absolute paths.
fn project_on_disk() -> Sandbox {
    Sandbox::on_disk(env!("CARGO_BIN_EXE_brief")).in_process(brief)
}

/// Returns whether the program `brief-agent` is built: with the whole workspace, or by `cargo build -p brief-agent-cli`. Says so
/// if it is not.
fn has_brief_agent() -> bool {
    let program = Path::new(env!("CARGO_BIN_EXE_brief")).with_file_name("brief-agent");
    let is_there = program.is_file();
    assert!(is_there || !brief_testkit::tools::is_ci(), "{} is missing", program.display());
    if !is_there {
        let note = b"skipped: needs `brief-agent` (cargo build -p brief-agent-cli)\n";
        let _ = std::io::Write::write_all(&mut std::io::stderr(), note);
    }
    is_there
}

/// The program as a function.
fn brief(args: Vec<OsString>, streams: Streams, system: Arc<dyn System>) -> ExitCode {
    brief_cli::run(args, &mut Ui::new(streams.stdin, streams.stdout, streams.stderr), system)
}

/// An empty project that its user trusts, so that what its texts ask for runs.
fn trusted_project() -> Sandbox {
    let project = project_on_disk();
    #[cfg(not(unix))]
    return project.with_env("BRIEF_EXEC", "always");
    #[cfg(unix)]
    {
        let answer = project.run_at_terminal(&["trust", "."], "y\n");
        assert_eq!(answer.code, Some(0), "{answer}");
        project
    }
}

/// A small project with something of everything: five entries and two decisions in two files.
fn shop() -> Sandbox {
    project()
        .with_file(
            "AGENTS.yaml",
            r#"# The shop.
context:
  - content: Speak plainly.
  - content: |
      Prices are integers in cents.
      Never use floats for money.
    match: ["**/*.py"]
    on: [edit, create]
  - content: Run the tests.
    match: ["src/**"]
    exclude: ["src/vendor/**"]
    when: after
decisions:
  - decision: Money is integers
    rationale: Floats lose cents.
    alternatives:
      - option: Decimal
        reason_rejected: slower, and JSON has none
      - option: Floats
        reason_rejected: they lose cents
    revisit_when: We sell in a currency without cents.
    date: 2024-05-01
    match: ["src/**"]
  - decision: One repository
    rationale: One change, one review.
"#,
        )
        .with_file(
            "src/AGENTS.yml",
            r#"context:
  - content: The cart is never empty here.
    match: [cart.py]
    on: read
    when: all
  - content: Templates are not code.
    match: ["templates/"]
"#,
        )
        .with_file("src/cart.py", "")
        .with_file("README.md", "")
}

/// The top of the workspace.
fn workspace() -> &'static Path {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    top.expect("this crate stands in `crates/`")
}
