//! Kernels without a fence: a filter makes the calls unknown, as on an older kernel.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;

use brief_agent::sandbox::{Landlock, Limits, MissingFence, WorkerProgram, run_worker as serve};
use brief_agent::{Grants, Host, ToolBox, ToolsError};
use brief_system::OsSystem;
use nix::libc;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter};
use serde_json::json;

/// Runs a worker on a kernel without these fences.
pub(crate) fn run_worker(missing: &[&str]) -> ExitCode {
    let mut calls = BTreeMap::new();
    if missing.contains(&"Landlock") {
        calls.insert(libc::SYS_landlock_create_ruleset, Vec::new());
    }
    if missing.contains(&"seccomp") {
        calls.insert(libc::SYS_seccomp, Vec::new());
    }
    let architecture = TargetArch::try_from(std::env::consts::ARCH).unwrap();
    let unknown = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    let filter = SeccompFilter::new(calls, SeccompAction::Allow, unknown, architecture).unwrap();
    let program: BpfProgram = filter.try_into().unwrap();
    apply_filter(&program).unwrap();
    serve()
}

/// X07: with a missing fence the code does not run, unless the operator accepts it.
pub(crate) fn x07_a_missing_fence_is_refused() {
    let code =
        "return { t: { fn: () => 1, scheme: { name: 't', description: 'd', parameters: {} } } };";
    for (missing, words) in [
        (&["Landlock"][..], "Landlock"),
        (&["seccomp"], "seccomp"),
        (&["Landlock", "seccomp"], "Landlock and seccomp"),
    ] {
        let mut args = vec!["worker-without".into()];
        args.extend(missing.iter().map(Into::into));
        let program = std::env::current_exe().unwrap();
        let refusing = WorkerProgram { program, args, missing_fence: MissingFence::Refuse };
        let load = |worker: &WorkerProgram| {
            let host = Host::new(Arc::new(OsSystem), Grants::none());
            ToolBox::load(Arc::new(OsSystem), worker, code, Limits::default(), host)
        };
        let error = load(&refusing).unwrap_err();
        assert_eq!(error, ToolsError::MissingFence(words.to_owned()));
        assert_eq!(
            error.to_string(),
            format!("the tools did not run: this system has no {words} to sandbox their code")
        );
        assert!(error.help().unwrap().contains("`--allow-weaker-sandbox`"));
        let mut tools =
            load(&WorkerProgram { missing_fence: MissingFence::Accept, ..refusing }).unwrap();
        assert_eq!(tools.call_tool("t", &json!({}), &json!({})).unwrap(), json!(1));
        assert_eq!(tools.fences().missing_fences(), missing);
        assert_eq!(tools.fences().landlock == Landlock::Missing, missing.contains(&"Landlock"));
    }
}
