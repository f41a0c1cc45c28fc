//! Checks the expectations after an attack.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::run::{AttackResults, AttackRun};
use super::tree::{self, Tree};
use super::{Attack, AttackScene, CANARY, collect_texts, text_or_empty};

/// The factor by which a test build computes longer than a release build.
const SLOWNESS: u64 = if cfg!(debug_assertions) { 8 } else { 1 };

/// The milliseconds that the machine may give to other processes while a run waits.
const WAITING: u64 = 10_000;

/// Returns all violated expectations.
pub(super) fn check_attack(
    attack: &Attack,
    scene: &AttackScene,
    before: &BTreeMap<String, Tree>,
    seen: AttackResults,
) -> Vec<String> {
    let after = scene.read_trees();
    let mut checking = Checking { attack, scene, before, after, seen, problems: Vec::new() };
    checking.check_invariants();
    let expected = attack.case["expected"].as_object().expect("a case expects something");
    for (key, value) in expected {
        checking.check_expectation(key, &scene.fill_value(value));
    }
    let mut problems = std::mem::take(&mut checking.seen.problems);
    problems.append(&mut checking.problems);
    problems
}

struct Checking<'c> {
    attack: &'c Attack,
    scene: &'c AttackScene,
    before: &'c BTreeMap<String, Tree>,
    after: BTreeMap<String, Tree>,
    seen: AttackResults,
    problems: Vec<String>,
}

impl Checking<'_> {
    fn add_problem(&mut self, problem: impl Into<String>) {
        self.problems.push(problem.into());
    }

    /// Checks the invariants of every case: no panic, no unknown exit code, no execution, no write outside,
    /// no connection, and no canary in the output.
    fn check_invariants(&mut self) {
        let mut problems = Vec::new();
        for ran in &self.seen.runs {
            if !matches!(ran.code, Some(0..=3)) || render_output(ran).contains("panicked at") {
                problems.push(format!(
                    "{:?} ended with {:?}: {}",
                    ran.args,
                    ran.code,
                    render_output(ran)
                ));
            }
            if render_output(ran).contains(CANARY) {
                problems.push(format!("{:?} shows the canary: {}", ran.args, render_output(ran)));
            }
        }
        if self.scene.marker_path().exists() {
            problems.push("something was executed".to_owned());
        }
        if self.scene.listener.accept().is_ok() {
            problems.push("a connection was made".to_owned());
        }
        for (group, after) in &self.after {
            let before = self.before.get(group).cloned().unwrap_or_default();
            for path in tree::changed_paths(&before, after) {
                let is_ours = group == "project"
                    || group == "home"
                        && [".local/", ".cache/"].iter().any(|own| path.starts_with(own));
                if !is_ours {
                    problems.push(format!("{group}/{path} was written"));
                }
                let content = after.get(path).map(|(_, content)| content.as_slice());
                let text = String::from_utf8_lossy(content.unwrap_or_default());
                if text.contains(CANARY) {
                    problems.push(format!("{group}/{path} holds the canary"));
                }
            }
        }
        self.problems.append(&mut problems);
    }

    /// Returns the run whose exit code the case is about: the marked one, or the last one.
    fn verdict_run(&self) -> Option<&AttackRun> {
        let chosen = self.seen.runs.iter().find(|ran| ran.is_verdict);
        chosen.or(self.seen.runs.last())
    }

    /// Returns whether the output of some run fits.
    fn has_run(&self, fits: impl Fn(&str) -> bool) -> bool {
        self.seen.runs.iter().any(|ran| fits(&render_output(ran)))
    }

    fn check_expectation(&mut self, key: &str, value: &Value) {
        match key {
            // Checked in every case, or text for people.
            "no_exec" | "no_leak" | "no_write_outside" | "no_panic" | "host_survives"
            | "no_network" | "no_network_to" | "text" => {}
            // Expectations that only a step of the case itself can check; one must.
            "text_rule" | "reparse_equal" | "lock_parseable" | "rerun_converges"
            | "no_manual_cleanup" | "outputs" | "linearizable" | "lock_entries" | "no_leftover" => {
                let looks = |step: &Value| {
                    ["sh", "contains", "lacks"].iter().any(|key| !step[key].is_null())
                };
                if !self.attack.steps.iter().any(looks) {
                    self.add_problem(format!("no step checks `{key}`"));
                }
            }
            "exit" => self.check_exit(text_or_empty(value)),
            "diagnostic" => self.check_diagnostic(text_or_empty(value)),
            "max_ms" => self.check_time(value.as_u64().unwrap_or_default()),
            "max_rss_mb" => self.check_memory(value.as_u64().unwrap_or_default()),
            "no_output_written" => {
                let after = self.after.get("project").cloned().unwrap_or_default();
                let before = self.before.get("project").cloned().unwrap_or_default();
                // The manifest and the record of a run are not outputs: no client reads them.
                let written = tree::changed_paths(&before, &after).into_iter();
                for path in written.filter(|path| !is_own(path)) {
                    self.add_problem(format!("{path} was written"));
                }
            }
            "must_contain" | "must_not_contain" => {
                let is_wanted = key == "must_contain";
                for part in collect_texts(value) {
                    if self.has_run(|output| output.contains(&part)) != is_wanted {
                        let subject = if is_wanted { "no run" } else { "a run" };
                        self.add_problem(format!("{subject} says {part:?}"));
                    }
                }
            }
            "must_exist" => {
                for path in collect_texts(value) {
                    let place = self.scene.root.join(path.trim_start_matches("../"));
                    let in_project = self.scene.root.join("project").join(&path);
                    if !place.exists() && !in_project.exists() {
                        self.add_problem(format!("{path} is gone"));
                    }
                }
            }
            "must_equal" => self.check_equal(value),
            "mode_unchanged" => {
                let mode = |trees| in_project(trees, text_or_empty(value)).map(|(mode, _)| mode);
                if mode(self.before) != mode(&self.after) {
                    self.add_problem(format!("{value} has another mode"));
                }
            }
            "no_raw_control_bytes" => self.control_bytes(),
            "no_line_starting" => {
                for start in collect_texts(value) {
                    if self.has_run(|output| output.lines().any(|line| line.starts_with(&start))) {
                        self.add_problem(format!("a line starts with {start:?}"));
                    }
                }
            }
            "valid_json" | "valid_json_or_empty" => self.valid_json(),
            "jsonrpc_error" => {
                if !self.has_run(|output| output.contains("\"error\"")) {
                    self.add_problem("no run answers with an error");
                }
            }
            "no_leak_of_payload" => {
                let is_tag = |letter: char| matches!(letter, '\u{e0000}'..='\u{e007f}');
                if self.has_run(|output| output.contains(is_tag)) {
                    self.add_problem("the hidden text came out");
                }
            }
            // Findings are errors and warnings of the run, which its exit code under `--strict` shows.
            "no_findings_at_or_above" => {
                for ran in self.seen.runs.iter().filter(|ran| ran.code != Some(0)) {
                    self.problems.push(format!(
                        "{:?} finds something: {}",
                        ran.args,
                        render_output(ran)
                    ));
                }
            }
            other => self.add_problem(format!("the runner does not know `{other}`")),
        }
    }

    fn check_exit(&mut self, wanted: &str) {
        let Some(ran) = self.verdict_run() else { return self.add_problem("nothing was run") };
        let holds = match wanted {
            "0" => ran.code == Some(0),
            "nonzero" | "nonzero-in-audit" | "tool-error" => matches!(ran.code, Some(1 | 2)),
            "0-or-nonzero" => true,
            "nonzero-or-warn" => {
                matches!(ran.code, Some(1 | 2)) || render_output(ran).contains("warning")
            }
            other => {
                return self
                    .add_problem(format!("the runner does not know the exit code `{other}`"));
            }
        };
        if !holds {
            let problem = format!(
                "{:?} ends with {:?}, not {wanted}: {}",
                ran.args,
                ran.code,
                render_output(ran)
            );
            self.add_problem(problem);
        }
    }

    fn check_diagnostic(&mut self, name: &str) {
        let words = &self.attack.diagnostics;
        if words.is_empty() {
            return self.add_problem(format!("no code stands for {name}"));
        }
        if !self.has_run(|output| words.iter().any(|word| output.contains(word.as_str()))) {
            let all: Vec<String> = self
                .seen
                .runs
                .iter()
                .map(|ran| format!("{:?}: {}", ran.args, render_output(ran)))
                .collect();
            self.add_problem(format!(
                "no run reports {name} ({}): {}",
                words.join(", "),
                all.join("\n")
            ));
        }
    }

    fn check_time(&mut self, milliseconds: u64) {
        let computed = Duration::from_millis(milliseconds * SLOWNESS);
        let wall = Duration::from_millis(milliseconds * SLOWNESS + WAITING);
        for ran in &self.seen.runs {
            if ran.computed > computed || ran.wall > wall {
                let problem = format!(
                    "{:?} took {:?}, {:?} of it computing",
                    ran.args, ran.wall, ran.computed
                );
                self.problems.push(problem);
            }
        }
    }

    fn check_memory(&mut self, megabytes: u64) {
        for ran in self.seen.runs.iter().filter(|ran| ran.memory > megabytes * 1024 * 1024) {
            let problem = format!("{:?} took {} MB", ran.args, ran.memory / 1024 / 1024);
            self.problems.push(problem);
        }
    }

    fn check_equal(&mut self, value: &Value) {
        for (path, wanted) in value.as_object().into_iter().flatten() {
            let content = |trees| in_project(trees, path).map(|(_, content)| content.as_slice());
            let (before, after) = (content(self.before), content(&self.after));
            let holds = match text_or_empty(wanted) {
                // A step of the case compares its outputs.
                "unchanged" if path == "outputs" => true,
                "unchanged" => before == after,
                wanted => after == Some(wanted.as_bytes()),
            };
            if !holds {
                self.add_problem(format!("{path} is another file now"));
            }
        }
    }

    /// Checks for control characters other than line breaks and tabs, and for characters that change the
    /// direction of text.
    fn control_bytes(&mut self) {
        for ran in &self.seen.runs {
            let is_json = ran.args.iter().any(|word| word.contains("json"));
            let is_bad = |letter: char| {
                (letter.is_control() && !matches!(letter, '\n' | '\t'))
                    || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
            };
            if !is_json && render_output(ran).contains(is_bad) {
                self.problems.push(format!(
                    "{:?} prints control characters: {:?}",
                    ran.args,
                    render_output(ran)
                ));
            }
        }
    }

    fn valid_json(&mut self) {
        for ran in &self.seen.runs {
            let wants = ran.args.iter().any(|word| word.contains("json") || word == "hook");
            let stdout = String::from_utf8_lossy(&ran.stdout);
            if wants && !stdout.trim().is_empty() && serde_json::from_str::<Value>(&stdout).is_err()
            {
                self.problems.push(format!("{:?} prints no JSON: {stdout}", ran.args));
            }
        }
    }
}

/// Returns the mode and the content of a file of the project.
fn in_project<'t>(trees: &'t BTreeMap<String, Tree>, path: &str) -> Option<&'t (u32, Vec<u8>)> {
    trees.get("project")?.get(path)
}

/// Returns the whole output of a run.
fn render_output(ran: &AttackRun) -> String {
    let all = [ran.stdout.as_slice(), b"\n", &ran.stderr].concat();
    String::from_utf8_lossy(&all).into_owned()
}

/// Returns whether a file of the project is for this program alone.
fn is_own(path: &str) -> bool {
    path.starts_with(".brief/") || matches!(path, "brief.toml" | "brief.lock")
}
