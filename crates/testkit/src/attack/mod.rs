//! Runs attack cases: a hostile layout, the user's steps, and the forbidden effects.
//!
//! `conformance/attacks/cases.json` describes the attack and the expectations; `commands.json` beside it maps
//! the intent of a case to commands of the program, and its diagnostic to codes.

mod check;
mod layout;
mod run;
mod tree;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{Sandbox, with_texts};

pub(crate) use run::AttackResults;

/// A text that must never appear in the output.
const CANARY: &str = "CANARY-7f3a9c";

/// The port of a server that answers every request with endless zeros.
static ZEROS: LazyLock<u16> = LazyLock::new(serve_zeros);

/// The length of a long argument; the system allows little more.
const LONG: usize = 100_000;

/// An attack case.
#[derive(Debug, Clone)]
pub struct Attack {
    case: Value,
    /// The steps: runs of the program, and changes between them.
    steps: Vec<Value>,
    /// The words of which one must appear as the case's diagnostic.
    diagnostics: Vec<String>,
}

/// The cases, and those that wait for a fix.
#[derive(Debug)]
pub struct Attacks {
    /// All cases.
    pub cases: Vec<Attack>,
    /// The finding that a case waits for, by the case's id.
    pub pending: BTreeMap<String, String>,
}

impl Attacks {
    /// Reads `cases.json` and `commands.json` in a directory, and the files of `classes`, whose cases have steps of their own.
    pub fn read(directory: &Path) -> Attacks {
        let read = |name: &str| -> Value {
            let text = std::fs::read_to_string(directory.join(name)).expect("the file is there");
            serde_json::from_str(&text).expect("the file is JSON")
        };
        let (cases, commands) = (read("cases.json"), read("commands.json"));
        let cases = cases.as_array().expect("a list of cases").iter();
        let attack = |case: &Value| {
            let (id, intent) = (text_or_empty(&case["id"]), text_or_empty(&case["command_intent"]));
            let own = &commands["cases"][id];
            let steps = if own.is_null() { &commands["intents"][intent] } else { own };
            let steps =
                steps.as_array().unwrap_or_else(|| panic!("{id}: nothing stands for {intent:?}"));
            let diagnostics = match case["expected"]["diagnostic"].as_str() {
                Some(name) => collect_texts(&commands["diagnostics"][name]),
                None => Vec::new(),
            };
            Attack { case: case.clone(), steps: steps.clone(), diagnostics }
        };
        let mut all: Vec<Attack> = cases.map(attack).collect();
        for name in Attacks::list_classes(directory) {
            let cases = read(&format!("classes/{name}"));
            all.extend(cases.as_array().expect("a list of cases").iter().map(|case| {
                let steps = case["steps"].as_array().expect("a case of a class has steps").clone();
                Attack { case: case.clone(), steps, diagnostics: Vec::new() }
            }));
        }
        let pending = commands["pending"].as_object().into_iter().flatten();
        let pending =
            pending.map(|(id, why)| (id.clone(), text_or_empty(why).to_owned())).collect();
        Attacks { cases: all, pending }
    }

    /// Returns the names of the files of classes, sorted.
    pub fn list_classes(directory: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(directory.join("classes")).expect("the directory is there");
        let name = |entry: std::io::Result<std::fs::DirEntry>| {
            entry.expect("the directory can be read").file_name().to_string_lossy().into_owned()
        };
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort_unstable();
        names
    }
}

impl Attack {
    /// Returns the case's name.
    pub fn id(&self) -> &str {
        text_or_empty(&self.case["id"])
    }

    /// Returns whether the attack is in a project.
    pub fn has_project(&self) -> bool {
        !self.case["layout"]["project"].is_null()
    }

    /// Lays the case out and asks the hook about one of its files, several times. Returns the time of the
    /// slowest answer. The error is a message about a wrong answer.
    pub fn ask_hook(&self, program: &Path, times: usize) -> Result<Duration, String> {
        let scene = AttackScene::new(program, &self.case);
        let mut slowest = Duration::ZERO;
        for call in 0..times {
            let input = format!(
                r#"{{"session_id":"s{call}","cwd":"{{PROJECT}}","hook_event_name":"PreToolUse","tool_name":"Edit","tool_input":{{"file_path":"{{PROJECT}}/src/a.ts"}}}}"#
            );
            let started = Instant::now();
            let output = scene.sandbox.run_with_input(&["hook", "claude"], scene.fill_text(&input));
            slowest = slowest.max(started.elapsed());
            let is_json = serde_json::from_str::<Value>(&output.stdout).is_ok();
            let is_fine = output.stdout.is_empty() || is_json;
            if output.code != Some(0) || !is_fine || scene.marker_path().exists() {
                return Err(output.to_string());
            }
        }
        Ok(slowest)
    }

    /// Lays the case out, performs the user's steps, and returns all violated expectations; `None` if this
    /// machine lacks something that the case needs.
    pub fn run(&self, program: &Path) -> Option<Vec<String>> {
        let scene = AttackScene::new(program, &self.case);
        let mut before = scene.read_trees();
        let mut seen = AttackResults::default();
        for step in &self.steps {
            let is_other = step["sh"].is_string();
            let here = if is_other { scene.read_trees() } else { BTreeMap::new() };
            if let Err(problem) = seen.run_step(&scene, &scene.fill_value(step)) {
                seen.problems.push(problem);
            }
            // Files that another process has written do not count as ours.
            if is_other {
                tree::adopt_changes(&mut before, &here, &scene.read_trees());
            }
        }
        seen.end_processes();
        if seen.is_impossible {
            return None;
        }
        Some(check::check_attack(self, &scene, &before, seen))
    }
}

/// Directories with the layout of a case.
pub(crate) struct AttackScene {
    sandbox: Sandbox,
    root: PathBuf,
    /// The listener for connections that must not come.
    listener: std::net::TcpListener,
}

impl AttackScene {
    fn new(program: &Path, case: &Value) -> AttackScene {
        let mut sandbox = Sandbox::on_disk(program);
        let root = sandbox.path().parent().expect("the project lies in a directory").to_owned();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
        listener.set_nonblocking(true).expect("a socket can be asked without waiting");
        for name in ["outside/dir", "registry"] {
            std::fs::create_dir_all(root.join(name)).expect("directories can be made");
        }
        let port = listener.local_addr().expect("the socket has an address").port().to_string();
        for (name, value) in case["layout"]["env"].as_object().into_iter().flatten() {
            let value = text_or_empty(value).replace("{CANARY}", CANARY).replace("{PORT}", &port);
            sandbox = sandbox.with_env(name, &value);
        }
        let scene = AttackScene { sandbox, root, listener };
        scene.lay_out(&case["layout"]);
        scene
    }

    /// Returns the file that a command of the attack would create.
    fn marker_path(&self) -> PathBuf {
        self.root.join("MARKER")
    }

    /// Inserts the paths of the scene into every text.
    fn fill_value(&self, value: &Value) -> Value {
        with_texts(value, &|text| self.fill_text(text))
    }

    fn fill_text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        let port = self.listener.local_addr().expect("the socket has an address").port();
        let home = self.root.join("home");
        for (name, value) in [
            ("{PROJECT}", self.root.join("project").display().to_string()),
            ("{HOME}", home.display().to_string()),
            ("{OUTSIDE}", self.root.join("outside").display().to_string()),
            ("{REGISTRY}", self.root.join("registry").display().to_string()),
            ("{ROOT}", self.root.display().to_string()),
            ("{MARKER}", self.marker_path().display().to_string()),
            ("{HOME_REL}", home.display().to_string().trim_start_matches('/').to_owned()),
            ("{CANARY}", CANARY.to_owned()),
            ("{PORT}", port.to_string()),
            ("{SERVER}", ZEROS.to_string()),
            ("{LONG}", "x".repeat(LONG)),
        ] {
            if text.contains(name) {
                text = text.replace(name, &value);
            }
        }
        text
    }

    /// Returns the content of each directory of the scene.
    fn read_trees(&self) -> BTreeMap<String, tree::Tree> {
        let groups = std::fs::read_dir(&self.root).expect("the scene is there").flatten();
        let groups = groups.filter(|entry| entry.path().is_dir());
        groups
            .map(|entry| {
                (entry.file_name().to_string_lossy().into_owned(), tree::read_tree(&entry.path()))
            })
            .collect()
    }
}

/// Starts a server that sends zeros until the client disconnects, and returns its port.
fn serve_zeros() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = listener.local_addr().expect("the socket has an address").port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || while stream.write_all(&[0; 4096]).is_ok() {});
        }
    });
    port
}

fn text_or_empty(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn collect_texts(value: &Value) -> Vec<String> {
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().map(|item| text_or_empty(item).to_owned()).collect()
}
