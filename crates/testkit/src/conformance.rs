//! Runs conformance cases: files, a command line, and the expected results.
//!
//! The cases are data, so that other implementations can be tested with them; `conformance/README.md`
//! describes the format.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{Output, Sandbox, with_texts};

/// A conformance case.
#[derive(Debug, Clone)]
pub struct Case {
    value: Value,
}

impl Case {
    /// Parses a file of cases.
    pub fn read_all(json: &str) -> Vec<Case> {
        let cases: Vec<Value> = serde_json::from_str(json).expect("the cases are a JSON list");
        cases.into_iter().map(|value| Case { value }).collect()
    }

    /// Returns the case's name.
    pub fn id(&self) -> &str {
        self.value["id"].as_str().expect("a case has an id")
    }

    /// Lays the case out in an empty sandbox, runs it, and returns the differences from the expectations.
    pub fn run(&self, mut sandbox: Sandbox) -> Vec<String> {
        let root = sandbox.path();
        let case = with_texts(&self.value, &|text| with_places(text, &root));
        for (name, value) in case["env"].as_object().into_iter().flatten() {
            sandbox = sandbox.with_env(name, value.as_str().expect("a variable has a text"));
        }
        lay_out(&sandbox, &case);
        let args = collect_texts(&case["args"]);
        let stdin = case["stdin"].as_str().unwrap_or_default();
        let directory = case["cwd"].as_str().unwrap_or_default();
        let output = sandbox.run_in(directory, &args, stdin).with_project(&root);
        let mut differences = Vec::new();
        let expected = case["expect"].as_object().expect("a case expects something");
        for (key, value) in expected {
            check_output(key, value, &output, &mut differences);
            check_files(key, value, &root, &mut differences);
        }
        differences
    }
}

/// Inserts the paths of the project, the home directory and their parent into a text.
fn with_places(text: &str, project: &Path) -> String {
    let text = text.replace("{{ROOT}}", &project.to_string_lossy());
    let text = text.replace("{PROJ}", &project.to_string_lossy());
    let text = text.replace("{HOME}", &resolve_path(project, "~").to_string_lossy());
    text.replace("{ROOT}", &resolve_path(project, "..").to_string_lossy())
}

/// Returns the absolute form of a case's path: in the project, in the home directory (`~/`), or beside both
/// (`../`).
fn resolve_path(project: &Path, path: &str) -> PathBuf {
    let beside = project.parent().expect("the project lies in a directory");
    match path.split_once('/').unwrap_or((path, "")) {
        ("~", path) => beside.join("home").join(path),
        ("..", path) => beside.join(path),
        _ => project.join(path),
    }
}

fn lay_out(sandbox: &Sandbox, case: &Value) {
    let project = sandbox.path();
    for (path, content) in case["files"].as_object().expect("a case has files") {
        let at = resolve_path(&project, path);
        if path.ends_with('/') {
            fs::create_dir_all(at).expect("directories can be made");
            continue;
        }
        let text = content.as_str().or_else(|| content["content"].as_str());
        fs::create_dir_all(at.parent().expect("a file lies somewhere"))
            .expect("directories can be made");
        fs::write(&at, text.expect("a file has a text")).expect("files can be written");
        if let Some(mode) = content["mode"].as_str() {
            set_mode(&at, u32::from_str_radix(mode, 8).expect("a mode is octal"));
        }
    }
    for (path, target) in case["symlinks"].as_object().into_iter().flatten() {
        crate::make_link(
            Path::new(target.as_str().expect("a link has a target")),
            &resolve_path(&project, path),
        );
    }
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) {
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
    fs::set_permissions(path, permissions).expect("modes can be set");
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: u32) {}

fn check_output(key: &str, expected: &Value, output: &Output, differences: &mut Vec<String>) {
    let (stdout, stderr) = (&output.stdout, &output.stderr);
    let mut require = |holds: bool, problem: String| {
        if !holds {
            differences.push(problem);
        }
    };
    match key {
        "exit" => {
            let code = output.code.map(i64::from);
            let holds = match expected.as_str() {
                Some("nonzero") => code.is_some_and(|code| code != 0),
                _ => code == expected.as_i64(),
            };
            require(holds, format!("exit {code:?}, not {expected}: {stderr}"));
        }
        "stdout_contains" | "stderr_contains" | "stdout_not_contains" | "stderr_not_contains" => {
            let (stream, rest) = key.split_once('_').expect("the key has two parts");
            let written = if stream == "stdout" { stdout } else { stderr };
            let (is_wanted, verb) =
                if rest == "contains" { (true, "lacks") } else { (false, "has") };
            for text in collect_texts(expected) {
                let holds = written.contains(text) == is_wanted;
                require(holds, format!("{stream} {verb} {text:?}: {written:?}"));
            }
        }
        "stdout_order" => {
            let mut rest = stdout.as_str();
            for text in collect_texts(expected) {
                let found = rest.find(text);
                require(found.is_some(), format!("stdout lacks {text:?} in order: {stdout:?}"));
                rest = found.map_or("", |at| &rest[at + text.len()..]);
            }
        }
        "stdout_equals" => {
            require(expected == stdout, format!("stdout {stdout:?}, not {expected}"));
        }
        "stdout_lines" => {
            let lines = stdout.lines().count();
            require(expected == lines, format!("{lines} lines, not {expected}"));
        }
        "stdout_max_bytes" => {
            let limit = expected.as_u64().expect("a limit is a number");
            let length = stdout.len();
            require(length as u64 <= limit, format!("{length} bytes, more than {limit}"));
        }
        "json_equals" | "json_path_equals" => match serde_json::from_str::<Value>(stdout) {
            Err(error) => require(false, format!("not JSON: {error}: {stdout:?}")),
            Ok(json) if key == "json_equals" => {
                require(&json == expected, format!("JSON {json}, not {expected}"));
            }
            Ok(json) => {
                for (path, value) in expected.as_object().into_iter().flatten() {
                    let found = value_at(&json, path);
                    require(found == value, format!("{path} is {found}, not {value}"));
                }
            }
        },
        "files_contain" | "files_equal" | "files_json_equal" | "files_absent" => {}
        other => require(false, format!("the runner does not know `{other}`")),
    }
}

fn check_files(key: &str, expected: &Value, root: &Path, differences: &mut Vec<String>) {
    if key == "files_absent" {
        let is_there = |path: &&str| fs::symlink_metadata(resolve_path(root, path)).is_ok();
        let there = collect_texts(expected).into_iter().filter(is_there);
        differences.extend(there.map(|path| format!("{path} exists")));
    }
    for (path, wanted) in expected.as_object().into_iter().flatten() {
        let text = || fs::read_to_string(resolve_path(root, path)).ok();
        match key {
            "files_contain" => {
                let text = text().unwrap_or_default();
                let missing = collect_texts(wanted).into_iter().filter(|part| !text.contains(part));
                differences.extend(missing.map(|part| format!("{path} lacks {part:?}")));
            }
            "files_equal" if text().as_deref() != wanted.as_str() => {
                differences.push(format!("{path} changed"));
            }
            "files_json_equal" => {
                let json = text().and_then(|text| serde_json::from_str::<Value>(&text).ok());
                if json.as_ref() != Some(wanted) {
                    differences.push(format!("{path} does not hold {wanted}"));
                }
            }
            _ => {}
        }
    }
}

/// Follows a dotted path. Returns `null` for a missing value.
fn value_at<'v>(value: &'v Value, path: &str) -> &'v Value {
    path.split('.').fold(value, |value, name| match name.parse::<usize>() {
        Ok(index) if value.is_array() => &value[index],
        _ => &value[name],
    })
}

fn collect_texts(value: &Value) -> Vec<&str> {
    let list = value.as_array().expect("a list of texts");
    list.iter().map(|text| text.as_str().expect("a text")).collect()
}
