//! Measures the search for hidden text on plain ASCII beside the check that the same bytes are UTF-8, which every
//! text goes through anyway. The exit code is 1 when the search takes more than [`BOUND`] times as long.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use brief_syntax::hidden::HiddenText;

/// The time of the search, in times of the check, at most. The check does tens of gigabytes per second, and the goal (S5) is one.
const BOUND: f64 = 8.0;

/// Bytes of the text: more than a cache of the first level holds, as a large skill is.
const SIZE: usize = 1 << 20;

fn main() -> ExitCode {
    let text =
        "Keep handlers thin, and validate all input before it is written.\n".repeat(SIZE / 64);
    let (mut search, mut check) = (Duration::MAX, Duration::MAX);
    for _ in 0..200 {
        search = search.min(time(|| HiddenText::find(black_box(&text))));
        check = check.min(time(|| std::str::from_utf8(black_box(text.as_bytes())).is_ok()));
    }
    #[expect(
        clippy::cast_precision_loss,
        reason = "a text has fewer bytes than a float has digits for"
    )]
    let speed = |time: Duration| text.len() as f64 / time.as_secs_f64() / 1e9;
    let ratio = search.as_secs_f64() / check.as_secs_f64();
    let missed = if ratio <= BOUND { "" } else { "  MISSED" };
    #[expect(clippy::print_stdout, reason = "the figure is the answer")]
    let () = println!(
        "hidden text: {:.1} GB/s, {ratio:.1} x the check for UTF-8 ({:.1} GB/s), bound {BOUND} x{missed}",
        speed(search),
        speed(check)
    );
    if ratio <= BOUND { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[expect(clippy::disallowed_methods, reason = "a measurement asks the clock")]
fn time<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    black_box(work());
    start.elapsed()
}
