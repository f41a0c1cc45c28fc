//! The system calls that a worker may make.
//!
//! This is an allow list: two pipes, memory, clocks, and the end. Every other call fails with `EPERM`, and
//! calls of the C library itself, such as reading the time zone, fail silently. The filter checks the
//! architecture of each call, so that a second table of numbers cannot bypass it.

use std::collections::BTreeMap;

use nix::libc;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};

/// Calls that are allowed with any arguments.
const ALLOWED: &[i64] = &[
    libc::SYS_brk,
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_futex,
    libc::SYS_getrandom,
    libc::SYS_gettimeofday,
    libc::SYS_madvise,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_ppoll,
    libc::SYS_restart_syscall,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_yield,
    libc::SYS_sigaltstack,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
];

/// Calls that are allowed with one of these values as an argument: the call, the argument's number, the
/// values.
const WITH_ARGUMENT: &[(i64, u8, &[u64])] = &[
    (libc::SYS_read, 0, &[0]),
    (libc::SYS_write, 0, &[1, 2]),
    // Its own limits; the processor time is lowered and raised with every call of a tool.
    (libc::SYS_prlimit64, 0, &[0]),
];

/// Calls that map memory, and the number of the protection argument.
const MEMORY: &[(i64, u8)] = &[(libc::SYS_mmap, 2), (libc::SYS_mprotect, 2)];

/// Gives up all other system calls. The error is the reason why that is impossible here.
pub(super) fn restrict_system_calls() -> Result<(), String> {
    let program = build_filter().map_err(|error| error.to_string())?;
    apply_filter(&program).map_err(|error| error.to_string())
}

fn build_filter() -> Result<BpfProgram, seccompiler::BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        ALLOWED.iter().map(|call| (*call, Vec::new())).collect();
    for (call, argument, values) in WITH_ARGUMENT {
        let rule = |value: &u64| create_rule(*argument, SeccompCmpOp::Eq, *value);
        let any: Result<Vec<_>, _> = values.iter().map(rule).collect();
        rules.insert(*call, any?);
    }
    let executable = u64::from(libc::PROT_EXEC.unsigned_abs());
    for (call, argument) in MEMORY {
        let rule = create_rule(*argument, SeccompCmpOp::MaskedEq(executable), 0)?;
        rules.insert(*call, vec![rule]);
    }
    let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let architecture = TargetArch::try_from(std::env::consts::ARCH)?;
    SeccompFilter::new(rules, refused, SeccompAction::Allow, architecture)?.try_into()
}

fn create_rule(
    argument: u8,
    operator: SeccompCmpOp,
    value: u64,
) -> Result<SeccompRule, seccompiler::BackendError> {
    // The kernel reads the lower half of a descriptor, a process number and a protection.
    let length = SeccompCmpArgLen::Dword;
    SeccompRule::new(vec![SeccompCondition::new(argument, length, operator, value)?])
}
