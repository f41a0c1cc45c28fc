//! Any target of `brief_fuzz::targets`, chosen by `BRIEF_FUZZ_TARGET`, under libFuzzer.
#![no_main]

use std::sync::LazyLock;

use brief_fuzz::targets::{Target, by_name};

static TARGET: LazyLock<&Target> = LazyLock::new(|| {
    let name = std::env::var("BRIEF_FUZZ_TARGET").expect("`BRIEF_FUZZ_TARGET` names a target");
    by_name(&name).expect("the target is in `fuzz/src/targets.rs`")
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (TARGET.run)(bytes));
