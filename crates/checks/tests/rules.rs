//! Rules of projects, each with calls that break it and calls that do not (`conformance/checks/rules.json`), and ways
//! around a rule (`conformance/checks/ways-around.json`).

#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "tables of this repository")]

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Component, Path};
use std::sync::Arc;

use brief_checks::rules::{
    Budget, FileChange, FileChangeKind, Operation, PastEvent, ProjectTree, Replacement, RuleSet,
    TreePath, Verdict, Work, WorkKind,
};
use brief_dialects::rule_check::RuleCheck;
use brief_dialects::structured::{PatternCache, parse_structured_file};
use brief_syntax::{Diagnostic, Source};
use serde_json::{Value, json};

/// Files by their paths below `/p`.
struct Files(BTreeMap<String, String>);

impl Files {
    fn from_json(files: &Value) -> Files {
        let files = files.as_object().into_iter().flatten();
        Files(files.map(|(path, text)| (path.clone(), text.as_str().unwrap().to_owned())).collect())
    }
}

impl ProjectTree for Files {
    fn locate(&self, directory: Option<&Path>, path: &Path) -> Option<TreePath> {
        let absolute = directory.unwrap_or(Path::new("/p")).join(path);
        let mut names: Vec<&str> = Vec::new();
        for part in absolute.components() {
            match part {
                Component::Normal(name) => names.push(name.to_str().unwrap()),
                Component::ParentDir => drop(names.pop()),
                _ => {}
            }
        }
        let path = names.split_first().filter(|(first, _)| **first == "p")?.1.join("/");
        let is_directory = path.is_empty()
            || self.0.keys().any(|file| file.starts_with(&format!("{path}/")))
            || ["vendor", "src/gen", "gen"].contains(&path.as_str());
        let exists = is_directory || self.0.contains_key(&path);
        Some(TreePath { path: path.into(), exists, is_directory })
    }

    fn read_text(&self, path: &str) -> Option<String> {
        self.0.get(path).cloned()
    }
}

/// Reads one rule from the text of an AGENTS.yaml, which JSON is.
fn rule_set(rule: &Value) -> (RuleSet, Vec<Diagnostic>) {
    let mut entry = json!({"content": rule["text"], "check": rule["check"], "id": rule["id"]});
    if let Some(patterns) = rule.get("match") {
        entry["match"] = patterns.clone();
    }
    let text = json!({"context": [entry]}).to_string();
    let source = Arc::new(Source::new("/p/AGENTS.yaml", text));
    let (file, diagnostics) = parse_structured_file(&source, "", &mut PatternCache::default());
    let checks: Vec<Arc<RuleCheck>> =
        file.context.iter().filter_map(|entry| entry.check.clone()).collect();
    (RuleSet::new(Path::new("/p"), checks), diagnostics)
}

fn texts(value: &Value) -> Vec<String> {
    let list = value.as_array().into_iter().flatten();
    list.map(|text| text.as_str().unwrap().to_owned()).collect()
}

fn ran(line: &str, has_succeeded: bool) -> PastEvent {
    PastEvent::Ran { line: line.into(), directory: Some("".into()), has_succeeded }
}

fn past_events(list: &Value) -> Vec<PastEvent> {
    let event = |one: &Value| {
        let (key, value) = one.as_object().unwrap().iter().next().unwrap();
        let text = value.as_str().unwrap();
        match key.as_str() {
            "edited" => PastEvent::Edited { path: text.into() },
            "ran" => ran(text, true),
            "failed" => ran(text, false),
            "loaded" => PastEvent::Loaded { skill: text.into() },
            other => panic!("an event {other}"),
        }
    };
    list.as_array().into_iter().flatten().map(event).collect()
}

/// Judges one call of the tables.
fn judge(rules: &RuleSet, tree: &Files, call: &Value) -> Verdict {
    let past = past_events(&call["after"]);
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let work = if let Some(turn) = call.get("turn") {
        let mut files = Vec::new();
        for (key, kind) in [
            ("create", FileChangeKind::Create),
            ("change", FileChangeKind::Change),
            ("delete", FileChangeKind::Delete),
        ] {
            files.extend(texts(&turn[key]).into_iter().map(|path| FileChange::of_path(path, kind)));
        }
        let edited = files.iter().map(|file| PastEvent::Edited { path: Arc::clone(&file.path) });
        let mut past: Vec<PastEvent> = edited.collect();
        past.extend(texts(&turn["ran"]).iter().map(|line| ran(line, true)));
        Work { kind: WorkKind::TurnEnd, files, past: Cow::Owned(past), ..Work::default() }
    } else {
        let (line, delete) = (text(&call["command"]), text(&call["delete"]));
        let path = ["write", "edit"].iter().find_map(|key| text(&call[key]["path"]));
        let path = path.or(delete.clone()).unwrap_or_default();
        let path = Path::new(&path);
        let operation = if let Some(line) = &line {
            Operation::Shell { line, directory: Some(Path::new("/p")) }
        } else if delete.is_some() {
            Operation::Delete { path }
        } else if let Some(new) = call["write"]["text"].as_str() {
            Operation::Write { path, text: Some(Cow::Borrowed(new)) }
        } else {
            let side = |key: &str| Cow::Borrowed(call["edit"][key].as_str().unwrap());
            let replacement =
                Replacement { old: side("old"), new: side("new"), replaces_all: false };
            Operation::Edit { path, replacements: vec![replacement] }
        };
        let work = Work::from_operations(&[operation], tree, &past);
        return rules.evaluate(&work, Budget::CALL)[0].verdict;
    };
    rules.evaluate(&work, Budget::CALL)[0].verdict
}

fn read_table(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/checks").join(name);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn forbidden_calls_break_a_rule_and_allowed_ones_do_not() {
    let table = read_table("rules.json");
    let mut wrong = Vec::new();
    let (mut calls, mut rules) = (0, 0);
    for rule in table["rules"].as_array().unwrap() {
        let (set, diagnostics) = rule_set(rule);
        let id = rule["id"].as_str().unwrap();
        let found: Vec<_> = diagnostics.iter().map(|one| one.message.as_str()).collect();
        assert!(found.is_empty() && set.rules().len() == 1, "{id}: {found:?}");
        let tree = Files::from_json(&rule["files"]);
        for (key, is_forbidden) in [("forbidden", true), ("allowed", false)] {
            let list = rule[key].as_array().unwrap();
            assert!(!list.is_empty(), "{id}: {key}");
            for call in list {
                calls += 1;
                let verdict = judge(&set, &tree, call);
                if (verdict == Verdict::Broken) != is_forbidden {
                    wrong.push(format!("{id}: {key} {call}: {verdict:?}"));
                }
            }
        }
        rules += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(rules >= 60 && calls >= 240, "{rules} rules, {calls} calls");
}

#[test]
fn ways_around_a_rule_are_as_listed() {
    let table = read_table("ways-around.json");
    let tree = Files::from_json(&table["files"]);
    let mut wrong = Vec::new();
    let ways = table["ways"].as_array().unwrap();
    for way in ways {
        let (set, _) = rule_set(&table["rules"][way["rule"].as_str().unwrap()]);
        let verdict = judge(&set, &tree, way);
        let is_stopped = way["seen"] == "stopped";
        if (verdict == Verdict::Broken) != is_stopped {
            wrong.push(format!("{}: {verdict:?}", way["command"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(ways.len() >= 200);
}

/// A proposal is a check that `brief` accepts, and its examples show what they say.
#[test]
fn proposed_checks_hold() {
    for (text, expected) in [
        ("Never run `git push`.", "forbid: { command: \"git push\" }"),
        ("- **Never** run npm or yarn", "forbid: { command: [\"npm\", \"yarn\"] }"),
        ("Use pnpm, not npm.", "forbid: { command: \"npm\" }"),
        ("Use `uv add` instead of `pip install`", "forbid: { command: \"pip install\" }"),
        ("Use `log.info` instead of `console.log`.", "forbid: { text: \"console.log\" }"),
        ("Do not edit `src/gen/`.", "forbid: { change: \"src/gen/**\" }"),
        ("Don't modify files in migrations/*.sql", "forbid: { change: \"migrations/*.sql\" }"),
        ("Never create `package-lock.json` files", "forbid: { create: \"package-lock.json\" }"),
        ("Never delete `docs/adr`.", "forbid: { delete: \"docs/adr/**\" }"),
        (
            "Every change to `packages/*/src/**` needs a `.changeset/*.md`",
            "require: { change: \".changeset/*.md\", when: \"packages/*/src/**\" }",
        ),
        (
            "Always update `CHANGELOG.md` when you change src/",
            "require: { change: \"CHANGELOG.md\", when: \"src/**\" }",
        ),
        (
            "Always run `cargo fmt` before committing",
            "require: { run: \"cargo fmt\", after: edit, before: commit }",
        ),
        (
            "Run `pnpm test` before you finish.",
            "require: { run: \"pnpm test\", after: edit, before: stop }",
        ),
        ("Do not import from `antd`.", "forbid: { text: "),
    ] {
        let proposed = brief_checks::rules::propose_check(text);
        let yaml = proposed.unwrap_or_else(|| panic!("no check for {text}")).yaml;
        assert!(yaml.contains(expected), "{text}\n{yaml}");
        let entry = yaml.lines().map(|line| format!("    {line}\n")).collect::<Vec<_>>().concat();
        let file = format!("context:\n  - content: x\n{entry}");
        let source = Arc::new(Source::new("/p/AGENTS.yaml", file));
        let (read, found) = parse_structured_file(&source, "", &mut PatternCache::default());
        assert!(found.is_empty(), "{text}: {found:?}\n{yaml}");
        let checks: Vec<_> = read.context.iter().filter_map(|one| one.check.clone()).collect();
        let set = RuleSet::new(Path::new("/p"), checks);
        let flaws = brief_checks::rules::find_flaws(&set);
        let flaws: Vec<_> = flaws.iter().map(|flaw| flaw.message.clone()).collect();
        assert!(set.rules().len() == 1 && flaws.is_empty(), "{text}: {flaws:?}\n{yaml}");
    }
    for text in [
        "Prefer composition over inheritance.",
        "Keep functions small.",
        "Never use `any`.",
        "Use descriptive names, not abbreviations.",
        "",
        "Do not edit anything without asking",
    ] {
        assert_eq!(brief_checks::rules::propose_check(text), None, "{text}");
    }
}

/// Examples that fail, patterns that never match and rules that contradict each other are found.
#[test]
fn flaws_of_checks_are_found() {
    let flaws = |text: &str| -> Vec<String> {
        let source = Arc::new(Source::new("/p/AGENTS.yaml", text));
        let (file, found) = parse_structured_file(&source, "", &mut PatternCache::default());
        let checks: Vec<_> = file.context.iter().filter_map(|one| one.check.clone()).collect();
        let flaws = brief_checks::rules::find_flaws(&RuleSet::new(Path::new("/p"), checks));
        found.iter().chain(&flaws).map(|one| one.code().to_owned()).collect()
    };
    let entry = |check: &str| format!("context:\n  - content: x\n    check: {check}\n");
    for (check, expected) in [
        ("{forbid: {text: '/a(/'}}", "check/bad-pattern"),
        ("{forbid: {change: 'a['}}", "check/bad-pattern"),
        ("{forbid: {text: '/(?=a)/'}}", "check/bad-pattern"),
        ("{forbid: {text: '/\\w{1000}{1000}/'}}", "check/bad-pattern"),
        ("{forbid: {change: gen/}}", "check/never-matches"),
        ("{forbid: {change: ../x}}", "check/never-matches"),
        ("{forbid: {command: 'a && b'}}", "check/never-matches"),
        ("{forbid: {text: \"a\\nb\"}}", "check/never-matches"),
        ("{require: {text: '/a*/'}}", "check/never-matches"),
        ("{forbid: {text: '/a*/'}}", "check/matches-everything"),
        ("{forbid: {change: '**'}}", "check/matches-everything"),
        ("{prevent: {text: a}}", "check/unknown-verb"),
        ("{forbid: {comand: a}}", "check/unknown-verb"),
        ("{forbid: a}", "check/invalid"),
        ("{forbid: {text: ''}}", "check/invalid"),
        ("{forbid: {text: []}}", "check/invalid"),
        ("{}", "check/invalid"),
        ("text", "check/invalid"),
        ("{require: {change: a}}", "check/invalid"),
        ("{forbid: {text: a}, enforce: block}", "check/invalid"),
        ("{forbid: {text: a}, id: 'a b'}", "check/invalid"),
        ("{forbid: {text: a}, enforce: deny}", "check/missing-examples"),
        ("{forbid: {text: a}, examples: {broken: [b]}}", "check/example-fails"),
        ("{forbid: {text: a}, examples: {kept: [a]}}", "check/example-fails"),
    ] {
        assert_eq!(flaws(&entry(check)), [expected], "{check}");
    }
    let many = vec!["a"; 100_000].join(", ");
    assert_eq!(
        flaws(&entry(&format!("{{forbid: {{text: a}}, examples: {{broken: [{many}]}}}}"))),
        ["check/too-many"]
    );
    let two = |first: &str, second: &str| {
        flaws(&format!(
            "context:\n  - content: x\n    check: {first}\n  - content: y\n    check: {second}\n"
        ))
    };
    let ids = ("{forbid: {text: a}, id: x}", "{forbid: {text: b}, id: x}");
    assert_eq!(two(ids.0, ids.1), ["check/duplicate-id"]);
    assert_eq!(
        two("{require: {run: npm test}}", "{forbid: {command: npm}}"),
        ["check/contradiction"]
    );
    assert_eq!(two("{require: {text: header}}", "{forbid: {text: head}}"), ["check/contradiction"]);
    assert_eq!(two("{require: {run: [npm test, x]}}", "{forbid: {command: npm}}"), [""; 0]);
}
