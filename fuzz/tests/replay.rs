//! Goal R1 in small: every seed, every input found earlier, and a short run of each target.
#![expect(clippy::disallowed_methods, reason = "this test looks at the clock")]

use std::time::{Duration, Instant};

use brief_fuzz::target::Target;
use brief_fuzz::targets::TARGETS;
use brief_fuzz::{campaign, mutate, seeds};

/// The duration of each target's run here; `cargo xtask fuzz` runs longer. Inputs follow from their numbers, so a
/// longer run here repeats more of what an earlier one has tried.
const DURATION: Duration = Duration::from_millis(500);

/// Runs a target with inputs; a panic names the target in the test's output.
fn feed<'i>(target: &Target, inputs: impl Iterator<Item = &'i [u8]>) {
    for input in inputs {
        let started = Instant::now();
        (target.run)(input);
        // This detects hangs only: test builds are slow, and machines are busy.
        assert!(started.elapsed() < Duration::from_mins(2), "{}: {input:?}", target.name);
    }
}

#[test]
fn seeds_and_found_inputs_are_survived() {
    let all = seeds::read_all_seeds();
    assert!(all.len() > 300, "the seeds of `conformance/` are there: {}", all.len());
    for target in TARGETS {
        let seeds = campaign::seeds_of(target, &all);
        assert!(!seeds.is_empty(), "{} has seeds", target.name);
        feed(target, seeds.iter().map(Vec::as_slice));
    }
}

#[test]
fn a_short_run_of_each_target_finds_nothing() {
    run_shortly(TARGETS.iter().step_by(2));
}

/// The other half, so that two processors share them.
#[test]
fn a_short_run_of_each_other_target_finds_nothing() {
    run_shortly(TARGETS.iter().skip(1).step_by(2));
}

fn run_shortly<'t>(targets: impl Iterator<Item = &'t Target>) {
    let all = seeds::read_all_seeds();
    for target in targets {
        let seeds = campaign::seeds_of(target, &all);
        let (started, mut index, mut buffer) = (Instant::now(), 0, Vec::new());
        while started.elapsed() < DURATION {
            mutate::create_input(&seeds, target.dictionary, index, target.longest, &mut buffer);
            feed(target, std::iter::once(buffer.as_slice()));
            index += 1;
        }
    }
}

/// A number always gives the same input, so that a finding can be reproduced.
#[test]
fn inputs_are_known_by_their_number() {
    let seeds = vec![b"one: two\n".to_vec(), b"three".to_vec()];
    let make = |index| {
        let mut buffer = Vec::new();
        mutate::create_input(&seeds, &["word"], index, 64, &mut buffer);
        buffer
    };
    let inputs: Vec<Vec<u8>> = (0..1_000).map(make).collect();
    assert!(inputs.iter().all(|input| input.len() <= 64));
    assert_eq!(inputs, (0..1_000).map(make).collect::<Vec<_>>());
    let distinct: std::collections::BTreeSet<&Vec<u8>> = inputs.iter().collect();
    assert!(distinct.len() > 700, "{}", distinct.len());
}
