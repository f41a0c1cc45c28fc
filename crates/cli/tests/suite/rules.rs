//! The pages of rules (`crates/syntax/rules`): their examples are run, and their rules are reported.
//!
//! An example is made of fences of four backticks whose info string is a language and a path. `~/` is
//! the home directory. `link` is a link to the path in its text, `bytes` a file of as many bytes as its
//! text says, `latin-1` a text in that encoding, `script` a text that can be executed; `last-line=N`
//! writes the last line N times. The field `run` names the commands to run, `brief lint` without it;
//! `run-good` is for pages whose example is right with other variables or arguments.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::Arc;

use brief_syntax::rules::{self, RulePage};
use brief_testkit::{Captured, Sandbox, Streams};

use crate::architecture::crate_sources;

/// Returns the part of a page below a heading.
fn section<'p>(page: &'p RulePage, heading: &str) -> Option<&'p str> {
    let start = page.body.find(&format!("\n## {heading}\n"))? + 1;
    let rest = &page.body[start..];
    let mut in_fence = false;
    let mut offset = 0;
    for line in rest.split_inclusive('\n') {
        in_fence ^= line.starts_with("````");
        if offset > 0 && !in_fence && line.starts_with("## ") {
            break;
        }
        offset += line.len();
    }
    Some(&rest[..offset])
}

/// Writes the files of an example.
fn lay_out(section: &str) -> Sandbox {
    let project = crate::project();
    let mut lines = section.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("````") else { continue };
        let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "````").collect();
        let (language, path) = info.split_once(' ').expect("an example names its file");
        let (path, times) = path.split_once(" last-line=").unwrap_or((path, "1"));
        let path = match path.strip_prefix("~/") {
            Some(path) => project.home().join(path),
            None => project.path().join(path),
        };
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let (last, first) =
            body.split_last().map_or(("", [].as_slice()), |(last, rest)| (*last, rest));
        let first: String = first.iter().flat_map(|line| [*line, "\n"]).collect();
        let text = first + &format!("{last}\n").repeat(times.parse().unwrap());
        match language {
            "link" => symlink(last, path).unwrap(),
            "bytes" => fs::write(path, "x".repeat(last.parse().unwrap())).unwrap(),
            "latin-1" => {
                let bytes: Vec<u8> = text.chars().map(|c| u8::try_from(c).unwrap()).collect();
                fs::write(path, bytes).unwrap();
            }
            "script" => {
                fs::write(&path, text).unwrap();
                fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
            }
            _ => fs::write(path, text).unwrap(),
        }
    }
    project
}

/// Runs commands in a project and returns the findings of the last one: codes with severities.
fn findings(project: &Sandbox, commands: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for command in commands.split(" && ") {
        let mut system = project.create_system("");
        let mut words = command.split(' ').peekable();
        while let Some((name, value)) = words.peek().and_then(|word| word.split_once('=')) {
            let value = value.replace('~', &project.home().to_string_lossy());
            system.env.insert(name.to_owned(), value);
            words.next();
        }
        let said = Captured::default();
        let streams = Streams {
            stdin: Box::new(io::empty()),
            stdout: Box::new(said.clone()),
            stderr: Box::new(said.clone()),
        };
        let words: Vec<&str> = words.collect();
        // `brief agent` becomes another program, which the process of a test must not.
        let said = if words.get(1) == Some(&"agent") {
            let output = project.spawn(&words[1..]);
            output.stdout + &output.stderr
        } else {
            crate::brief(
                words.into_iter().map(OsString::from).collect(),
                streams,
                Arc::new(system),
            );
            String::from_utf8_lossy(&said.bytes()).into_owned()
        };
        found = match serde_json::from_str(&said) {
            Ok(log) => results(&log),
            Err(_) => said.lines().filter_map(finding).collect(),
        };
    }
    found
}

/// Reads the results of a SARIF log.
fn results(log: &serde_json::Value) -> BTreeMap<String, String> {
    let results = log["runs"][0]["results"].as_array().unwrap();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    results.iter().map(|result| (text(&result["ruleId"]), text(&result["level"]))).collect()
}

/// Reads the beginning of a finding: `error[code]: …`.
fn finding(line: &str) -> Option<(String, String)> {
    let (severity, rest) = line.split_once('[')?;
    let (code, _) = rest.split_once("]: ")?;
    let is_finding = matches!(severity, "error" | "warning" | "note");
    is_finding.then(|| (code.to_owned(), severity.to_owned()))
}

/// Returns the codes that a section says are found as well.
fn also_found(section: &str) -> impl Iterator<Item = &str> {
    let lines = section.lines().filter_map(|line| line.strip_prefix("Found as well: "));
    lines.flat_map(|line| line.split('`').skip(1).step_by(2))
}

/// Runs the example of a page. The wrong version gives the code, with a severity of the page, and
/// nothing else; the right one gives no error and not the code. `--fix` mends what the page says.
fn check_example(page: &RulePage) -> Result<(), String> {
    let Some(bad) = section(page, "Bad") else {
        let reason =
            page.find_field("no-example").ok_or("there is no example and no reason for that")?;
        return if reason.ends_with('.') { Ok(()) } else { Err("no reason".to_owned()) };
    };
    let run = page.find_field("run").unwrap_or("brief lint");
    let project = lay_out(bad);
    let found = findings(&project, run);
    let codes: BTreeSet<&str> = found.keys().map(String::as_str).collect();
    let expected: BTreeSet<&str> = also_found(bad).chain([page.code]).collect();
    if codes != expected {
        return Err(format!("the wrong version gives {codes:?}"));
    }
    if !page.severities().any(|severity| severity == found[page.code]) {
        return Err(format!("it is reported as {}", found[page.code]));
    }
    if run == "brief lint" {
        findings(&project, "brief lint --fix");
        let is_mended = !findings(&project, run).contains_key(page.code);
        if is_mended != (page.find_field("fix") == Some("safe")) {
            return Err(format!("mended by `--fix`: {is_mended}"));
        }
    }
    let good = section(page, "Good").ok_or("there is no right version")?;
    let found = findings(&lay_out(good), page.find_field("run-good").unwrap_or(run));
    if found.contains_key(page.code) || found.values().any(|severity| severity == "error") {
        return Err(format!("the right version gives {found:?}"));
    }
    Ok(())
}

fn check_examples(is_meant: impl Fn(&str) -> bool) {
    let pages = RulePage::all_pages().filter(|page| is_meant(page.code));
    let mut count = 0;
    let problems: Vec<String> = pages
        .inspect(|_| count += 1)
        .filter_map(|page| Some(format!("{}: {}", page.code, check_example(&page).err()?)))
        .collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(count > 0);
}

/// Areas with a test of their own, which run side by side.
const AREAS: [&str; 6] =
    ["agent-file/", "context-dir/", "client/", "item/", "agents-yaml/", "tasks/"];

#[test]
fn examples_of_agent_files_are_right() {
    check_examples(|code| code.starts_with("agent-file/"));
}

#[test]
fn examples_of_hosted_context_are_right() {
    check_examples(|code| code.starts_with("context-dir/"));
}

#[test]
fn examples_of_client_files_are_right() {
    check_examples(|code| code.starts_with("client/"));
}

#[test]
fn examples_of_portable_items_are_right() {
    check_examples(|code| code.starts_with("item/"));
}

#[test]
fn examples_of_structured_context_are_right() {
    check_examples(|code| code.starts_with("agents-yaml/"));
}

#[test]
fn examples_of_task_files_are_right() {
    check_examples(|code| code.starts_with("tasks/"));
}

#[test]
fn examples_of_other_areas_are_right() {
    check_examples(|code| !AREAS.iter().any(|area| code.starts_with(area)));
}

/// A page has all fields, as sentences.
#[test]
fn every_page_has_its_parts() {
    for page in RulePage::all_pages() {
        for name in ["summary", "source", "help"] {
            let text = page.find_field(name).unwrap_or_else(|| panic!("{}: no {name}", page.code));
            assert!(text.ends_with('.'), "{}: {name}", page.code);
        }
        let fix = page.find_field("fix").unwrap_or_default();
        assert!(matches!(fix, "none" | "safe" | "suggested"), "{}: fix {fix}", page.code);
        assert!(page.body.starts_with("## Why it matters\n\n"), "{}", page.code);
        let severities: BTreeSet<&str> = page.severities().collect();
        assert_eq!(severities.len(), page.severities().count(), "{}", page.code);
    }
}

/// A page that no code reports would promise a finding that never comes.
#[test]
fn every_rule_is_reported_somewhere() {
    let mut names = BTreeSet::new();
    for path in crate_sources().iter().filter(|path| !path.ends_with("tests.rs")) {
        let text = fs::read_to_string(path).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let is_end = |c: char| !c.is_ascii_alphanumeric() && !"_:".contains(c);
        let paths = code.split("rules::").skip(1).map(|rest| rest.split(is_end).next().unwrap());
        names.extend(paths.map(str::to_owned));
    }
    for code in rules::rule_codes() {
        let (area, name) = code.rsplit_once('/').map_or(("", code), |(area, name)| (area, name));
        let area = area.replace('-', "_");
        let name = name.to_uppercase().replace('-', "_");
        let path = if area.is_empty() { name } else { format!("{area}::{name}") };
        assert!(names.contains(&path), "nothing reports `{code}`");
    }
}
