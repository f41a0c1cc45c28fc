//! Performs the user's steps with a hostile project.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{AttackScene, collect_texts, text_or_empty};

/// The time limit of a run.
const PATIENCE: Duration = Duration::from_secs(70);

/// The exit code of a case's script on a machine that lacks something that the case needs.
const LACKS_MEANS: i32 = 77;

/// A run of the program.
#[derive(Debug)]
pub(crate) struct AttackRun {
    pub(super) args: Vec<String>,
    pub(super) code: Option<i32>,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    pub(super) wall: Duration,
    /// The processor time.
    pub(super) computed: Duration,
    /// The peak memory in bytes.
    pub(super) memory: u64,
    /// True if the case's expectation about the exit code concerns this run.
    pub(super) is_verdict: bool,
}

/// The results of the steps so far.
#[derive(Default)]
pub(crate) struct AttackResults {
    pub(super) runs: Vec<AttackRun>,
    pub(super) problems: Vec<String>,
    background: Vec<Child>,
    /// True if this machine lacks something that the case needs; then its result does not count.
    pub(super) is_impossible: bool,
}

impl AttackResults {
    /// Performs one step.
    pub(super) fn run_step(&mut self, scene: &AttackScene, step: &Value) -> Result<(), String> {
        if let Some(script) = step["sh"].as_str() {
            return self.run_shell(scene, script, step["background"].as_bool().unwrap_or_default());
        }
        if step["needs"] == "root" && !rustix::process::geteuid().is_root() {
            self.is_impossible = true;
        }
        if step["server"] == "zeros" || step["needs"].is_string() || self.is_impossible {
            return Ok(());
        }
        let times = step["times"].as_u64().unwrap_or(1);
        for _ in 0..times {
            if step["terminal"].is_string() {
                self.at_terminal(scene, step);
                continue;
            }
            let ran = run_program(scene, step);
            let problems = check_step(step, &ran);
            self.runs.push(ran);
            if !problems.is_empty() {
                return Err(problems.join("; "));
            }
        }
        Ok(())
    }

    /// Runs a script in the role of others: a colleague, an attacker, the world.
    fn run_shell(
        &mut self,
        scene: &AttackScene,
        script: &str,
        in_background: bool,
    ) -> Result<(), String> {
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(&scene.root).env("GIT_CONFIG_GLOBAL", "/dev/null");
        command.env("GIT_CONFIG_SYSTEM", "/dev/null").stdin(Stdio::null()).stdout(Stdio::null());
        command.env("BRIEF", scene.sandbox.program()).env("HOME", scene.root.join("home"));
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        if in_background {
            self.background.push(child);
            return Ok(());
        }
        let status = child.wait().map_err(|error| error.to_string())?;
        if status.code() == Some(LACKS_MEANS) {
            self.is_impossible = true;
            return Ok(());
        }
        if status.success() { Ok(()) } else { Err(format!("{script:?} failed: {status}")) }
    }

    fn at_terminal(&mut self, scene: &AttackScene, step: &Value) {
        let args = collect_texts(&step["run"]);
        let words: Vec<&str> = args.iter().map(String::as_str).collect();
        let started = Instant::now();
        let output = scene.sandbox.run_at_terminal(&words, text_or_empty(&step["terminal"]));
        self.runs.push(AttackRun {
            args,
            code: output.code,
            stdout: output.stdout.into_bytes(),
            stderr: output.stderr.into_bytes(),
            wall: started.elapsed(),
            computed: Duration::ZERO,
            memory: 0,
            is_verdict: step["verdict"].as_bool().unwrap_or_default(),
        });
    }

    /// Ends the processes that still run.
    pub(super) fn end_processes(&mut self) {
        for child in &mut self.background {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Runs the program as a step describes.
fn run_program(scene: &AttackScene, step: &Value) -> AttackRun {
    let args = collect_texts(&step["run"]);
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut command = scene.sandbox.prepare_command(text_or_empty(&step["cwd"]), &words);
    if let Some(descriptors) = step["descriptors"].as_u64() {
        let program = command.get_program().to_owned();
        let mut limited = Command::new("sh");
        limited.args(["-c", &format!("ulimit -n {descriptors}; exec \"$0\" \"$@\"")]).arg(program);
        limited.args(&words).current_dir(scene.sandbox.path()).env_clear();
        limited.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        limited.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command = limited;
    }
    for (name, value) in step["env"].as_object().into_iter().flatten() {
        command.env(name, text_or_empty(value));
    }
    let started = Instant::now();
    let mut child = command.spawn().expect("the program can be started");
    let mut stdin = child.stdin.take().expect("standard input is piped");
    let input = text_or_empty(&step["stdin"]).as_bytes().to_vec();
    let stays_open = step["stays_open"].as_bool().unwrap_or_default();
    let meter = Meter::start(child.id());
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(&input);
        stays_open.then_some(stdin)
    });
    let (out, err) = (spawn_reader(child.stdout.take()), spawn_reader(child.stderr.take()));
    let code = loop {
        match child.try_wait().expect("the program ends") {
            Some(status) => break status.code(),
            None if started.elapsed() > PATIENCE => {
                let _ = child.kill();
                break child.wait().expect("the program ends").code();
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    let wall = started.elapsed();
    let (memory, computed) = meter.stop();
    let open = writer.join().expect("the writer ends");
    let (stdout, stderr) = (out.join().expect("a stream ends"), err.join().expect("a stream ends"));
    drop(open);
    let is_verdict = step["verdict"].as_bool().unwrap_or_default();
    AttackRun { args, code, stdout, stderr, wall, computed, memory, is_verdict }
}

fn spawn_reader(stream: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            let _ = stream.read_to_end(&mut bytes);
        }
        bytes
    })
}

/// Samples the resources of a process repeatedly. Both numbers only grow, so the last sample is at most a
/// moment old.
#[derive(Default)]
struct Meter {
    memory: AtomicU64,
    computed: AtomicU64,
    is_over: AtomicBool,
}

impl Meter {
    fn start(id: u32) -> Arc<Meter> {
        let meter = Arc::new(Meter::default());
        let sampled = Arc::clone(&meter);
        std::thread::spawn(move || {
            let read = |name| std::fs::read_to_string(format!("/proc/{id}/{name}"));
            // A started process shares our memory for a moment after `spawn` has returned, and would be charged with it.
            let program = || std::fs::read_link(format!("/proc/{id}/exe")).ok();
            let own = std::env::current_exe().ok();
            while program() == own && !sampled.is_over.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            while !sampled.is_over.load(Ordering::Relaxed) {
                if let Some(bytes) = peak_of(&read("status").unwrap_or_default()) {
                    sampled.memory.fetch_max(bytes, Ordering::Relaxed);
                }
                let computed = computed_by(&read("stat").unwrap_or_default());
                sampled.computed.fetch_max(computed, Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(2));
            }
        });
        meter
    }

    fn stop(&self) -> (u64, Duration) {
        self.is_over.store(true, Ordering::Relaxed);
        let computed = Duration::from_millis(self.computed.load(Ordering::Relaxed));
        (self.memory.load(Ordering::Relaxed), computed)
    }
}

/// Returns the milliseconds that all threads of a process have computed. The system counts in hundredths of a
/// second; the numbers follow the name, which may contain any character.
fn computed_by(stat: &str) -> u64 {
    let numbers = stat.rsplit_once(')').map_or("", |(_, numbers)| numbers);
    let ticks = numbers.split_whitespace().skip(11).take(2);
    ticks.filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>() * 10
}

fn peak_of(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().ok()?;
    Some(kilobytes * 1024)
}

/// Returns the violated expectations of a step about its own run.
fn check_step(step: &Value, ran: &AttackRun) -> Vec<String> {
    let mut problems = Vec::new();
    let all = [ran.stdout.as_slice(), &ran.stderr].concat();
    let all = String::from_utf8_lossy(&all);
    for part in collect_texts(&step["contains"]).iter().filter(|part| !all.contains(part.as_str()))
    {
        problems.push(format!("{:?} does not say {part:?}: {all}", ran.args));
    }
    for part in collect_texts(&step["lacks"]).iter().filter(|part| all.contains(part.as_str())) {
        problems.push(format!("{:?} says {part:?}", ran.args));
    }
    if let Some(code) = step["exit"].as_i64()
        && ran.code.map(i64::from) != Some(code)
    {
        problems.push(format!("{:?} ends with {:?}, not {code}: {all}", ran.args, ran.code));
    }
    problems
}
