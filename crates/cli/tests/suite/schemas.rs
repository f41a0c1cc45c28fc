//! `brief schema KIND`: what an editor is told of a file is what the program takes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use brief_engine::{Catalog, CatalogScope, Dialects, Root, Target, TargetKind};
use brief_syntax::front_matter::FrontMatter;
use brief_syntax::source::Source;
use brief_syntax::walk::Ignored;
use brief_syntax::yaml::Yaml;
use brief_syntax::{Severity, text::visible_text};
use brief_system::MemorySystem;
use brief_testkit::schema::{JsonSchema, Unnamed};
use serde_json::{Value, json};

use crate::{project, workspace};

const KINDS: [&str; 12] = [
    "agents-yaml",
    "brief-toml",
    "rule",
    "skill",
    "agent",
    "bundle",
    "agent-file",
    "task",
    "context-config",
    "policy",
    "settings",
    "client",
];

fn schema(kind: &str) -> JsonSchema {
    JsonSchema::parse(&project().run(&["schema", kind]).stdout, Unnamed::Allowed)
}

/// The kind of a file that has a schema, by its name.
fn kind_of(path: &str) -> Option<&'static str> {
    let name = path.rsplit('/').next()?;
    match name {
        "AGENTS.yaml" | "AGENTS.yml" => Some("agents-yaml"),
        // What was compiled for a client has the header of that client.
        "RULE.md" | "AGENT.md" if path.split('/').any(|part| part.starts_with('.')) => None,
        "RULE.md" => Some("rule"),
        "SKILL.md" => Some("skill"),
        "AGENT.md" => Some("agent"),
        _ if name.ends_with(".bundle.md") => Some("bundle"),
        _ if name.ends_with(".agent.md") && !path.contains(".github") => Some("agent-file"),
        _ if path.contains(".agents/tasks/") => Some("task"),
        _ => None,
    }
}

/// The part that a schema looks at: a whole file, or its header.
fn value_of(kind: &str, text: &str) -> Option<Value> {
    if kind == "agents-yaml" {
        return serde_json::to_value(Yaml::parse(text).root()?).ok();
    }
    let front = FrontMatter::from_source(&Arc::new(Source::new("x.md", text)));
    let value = serde_json::to_value(front.header?.yaml.root()?).ok()?;
    Some(if kind == "agent-file" { spelled(value) } else { value })
}

/// The keys of an agent file as the document spells them: the program takes them in any case, an editor
/// proposes the right one.
fn spelled(value: Value) -> Value {
    const KEYS: [&str; 24] = [
        "version",
        "icon",
        "title",
        "description",
        "status",
        "templateEngine",
        "input",
        "recommended",
        "models",
        "capabilities",
        "required",
        "env",
        "startup",
        "commands",
        "name",
        "argument-hint",
        "body",
        "system",
        "rules",
        "avatar",
        "abilities",
        "allow",
        "deny",
        "tools",
    ];
    match value {
        Value::Object(map) => {
            let entries = map.into_iter().map(|(key, value)| {
                let known = KEYS.iter().find(|known| known.eq_ignore_ascii_case(&key));
                (known.map_or(key.clone(), |known| (*known).to_owned()), spelled(value))
            });
            Value::Object(entries.collect())
        }
        Value::Array(list) => Value::Array(list.into_iter().map(spelled).collect()),
        other => other,
    }
}

/// Holds every file that the program has nothing to say about beside the schema of its kind.
fn accept_good(files: &BTreeMap<String, String>, schemas: &BTreeMap<&str, JsonSchema>) -> usize {
    let mut system = MemorySystem::new("/p").with_dir("/p");
    for (path, text) in files {
        system = system.with_file(&format!("/p/{path}"), text);
    }
    let root = Root::open(&system, Path::new("/p")).unwrap();
    let top = Target::from_slashed("", TargetKind::Directory);
    let scope = CatalogScope {
        start: &top,
        ignored: Ignored::Visit,
        dialects: Dialects::All,
        strangers: brief_engine::Strangers::LeftOut,
    };
    let catalog = Catalog::read_project(&system, &root, scope);
    let mut found = catalog.check_project();
    found.extend(catalog.diagnostics());
    let mut accepted = 0;
    for (path, text) in files {
        let is_about = |one: &&brief_syntax::Diagnostic| one.path() == Path::new("/p").join(path);
        let is_bad = |one: &brief_syntax::Diagnostic| {
            matches!(one.severity, Severity::Error | Severity::Warning)
        };
        if found.iter().filter(is_about).any(is_bad) {
            continue;
        }
        let Some(kind) = kind_of(path) else { continue };
        let Some(value) = value_of(kind, text).filter(|value| !value.is_null()) else { continue };
        let problems = schemas[kind].find_problems(&value);
        assert!(problems.is_empty(), "{path}: {problems:#?}\n{}", visible_text(text));
        accepted += 1;
    }
    accepted
}

fn tree(top: &Path, below: &str, files: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(top.join(below)).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let path = if below.is_empty() { name } else { format!("{below}/{name}") };
        if entry.file_type().unwrap().is_dir() {
            tree(top, &path, files);
        } else if let Ok(text) = fs::read_to_string(entry.path()) {
            files.insert(path, text);
        }
    }
}

/// U75: whatever of the conformance cases and examples the program takes without a warning, the schemas
/// take, too.
#[test]
fn what_the_program_takes_the_schemas_take() {
    let schemas: BTreeMap<&str, JsonSchema> = KINDS.map(|kind| (kind, schema(kind))).into();
    let mut accepted = 0;
    for dialect in ["structured", "tasks", "agents"] {
        let path = workspace().join("conformance").join(dialect).join("cases.json");
        let cases: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        let cases = cases.get("cases").unwrap_or(&cases);
        for case in cases.as_array().unwrap() {
            let files = case["files"].as_object().into_iter().flatten();
            let files = files.filter_map(|(path, text)| {
                let is_below = !path.starts_with(['/', '~', '.']) || path.starts_with(".agents");
                Some((path.clone(), text.as_str()?.to_owned())).filter(|_| is_below)
            });
            accepted += accept_good(&files.collect(), &schemas);
        }
    }
    for entry in fs::read_dir(workspace().join("conformance/portable")).unwrap() {
        let input = entry.unwrap().path().join("input");
        if input.is_dir() {
            let mut files = BTreeMap::new();
            tree(&input, "", &mut files);
            accepted += accept_good(&files, &schemas);
        }
    }
    for example in ["shop", "ferry", "ferry-guidance"] {
        let mut files = BTreeMap::new();
        tree(&workspace().join("examples").join(example), "", &mut files);
        accepted += accept_good(&files, &schemas);
    }
    assert!(accepted > 200, "{accepted}");
}

/// U75: the manifest of the reference is one, and so is each table of it.
#[test]
fn the_documented_manifests_fit() {
    let schema = schema("brief-toml");
    let mut count = 0;
    for page in ["registries", "portable"] {
        let page = workspace().join(format!("docs/reference/{page}.md"));
        let page = fs::read_to_string(page).unwrap();
        for block in page.split("```toml\n").skip(1) {
            let text = block.split("\n```").next().unwrap_or_default();
            if text.contains("version = 2\n") {
                continue;
            }
            let value: toml_edit::DocumentMut = text.parse().unwrap();
            let value: Value = toml_edit::de::from_document(value).unwrap();
            let problems = schema.find_problems(&value);
            assert!(problems.is_empty(), "{problems:#?}\n{text}");
            count += 1;
        }
    }
    assert!(count >= 2, "{count}");
}

/// U75: the mistakes that people make are told by an editor.
#[test]
fn mistakes_are_refused() {
    let portable = |extra: Value| {
        let mut value = json!({"schema": 1, "name": "money", "description": "Money"});
        let extra = extra.as_object().unwrap().clone();
        value.as_object_mut().unwrap().extend(extra);
        value
    };
    let acme = |extra: Value| {
        let seen = json!({"how": "documents", "date": "2026-11-16"});
        let mut value = json!({"id": "acme", "name": "Acme", "seen": seen});
        value.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        value
    };
    for (kind, bad) in [
        ("agents-yaml", json!({"contexts": []})),
        ("agents-yaml", json!({"context": {"content": "x"}})),
        ("agents-yaml", json!({"context": [{"content": "x", "matches": ["a"]}]})),
        ("agents-yaml", json!({"context": [{"match": ["a"]}]})),
        ("agents-yaml", json!({"context": [{"content": "x", "on": "write"}]})),
        ("agents-yaml", json!({"context": [{"content": "x", "when": "during"}]})),
        ("agents-yaml", json!({"context": [{"content": "x", "match": "a"}]})),
        ("agents-yaml", json!({"decisions": [{"decision": "x"}]})),
        ("agents-yaml", json!([])),
        ("brief-toml", json!({"source": {}})),
        ("brief-toml", json!({"sources": {"a": {"git": "a/b", "directory": "x"}}})),
        ("brief-toml", json!({"sources": {"a": {}}})),
        ("brief-toml", json!({"sources": {"a": {"git": "a/b", "rule": ["x"]}}})),
        ("brief-toml", json!({"build": {"layout": "both"}})),
        ("rule", json!({"name": "money", "description": "x"})),
        ("rule", portable(json!({"name": "Money"}))),
        ("rule", portable(json!({"schema": 2}))),
        ("rule", portable(json!({"scope": {"paths": "src/**"}}))),
        ("rule", portable(json!({"audience": []}))),
        ("skill", json!({"name": "x"})),
        ("skill", json!({"description": "x"})),
        ("agent", portable(json!({"tools": ["shell"]}))),
        ("agent", portable(json!({"mode": "main"}))),
        ("agent", portable(json!({"metadata": {"version": 1.0}}))),
        ("bundle", portable(json!({"items": {"rule": ["x"]}}))),
        ("bundle", portable(json!({"requires": ["x"]}))),
        ("agent-file", json!({"status": "maybe"})),
        ("agent-file", json!({"comands": []})),
        ("agent-file", json!({"commands": "hello"})),
        ("client", json!({"id": "acme", "name": "Acme"})),
        ("client", acme(json!({"reads": [{"path": "A.md", "form": "rst"}]}))),
        ("client", acme(json!({"signes": []}))),
        ("task", json!({"agent": "nobody"})),
        ("task", json!({"selectors": ["go"]})),
        ("task", json!({"expand": "no"})),
    ] {
        assert!(!schema(kind).find_problems(&bad).is_empty(), "{kind}: {bad}");
    }
}

/// Our own clients are files of the kind that a project writes.
#[test]
fn our_own_clients_fit() {
    let schema = schema("client");
    let mut count = 0;
    for entry in fs::read_dir(workspace().join("crates/profiles/clients")).unwrap() {
        let path = entry.unwrap().path();
        let value: toml_edit::DocumentMut = fs::read_to_string(&path).unwrap().parse().unwrap();
        let value: Value = toml_edit::de::from_document(value).unwrap();
        let problems = schema.find_problems(&value);
        assert!(problems.is_empty(), "{}: {problems:#?}", path.display());
        count += 1;
    }
    assert_eq!(count, brief_profiles::BUILTIN.clients.len());
}

/// Each kind has a schema that says what it is for, and the program names all of them.
#[test]
fn every_kind_has_a_schema() {
    for kind in KINDS {
        let schema = project().run(&["schema", kind]).json();
        assert!(schema["title"].is_string() && schema["$schema"].is_string(), "{kind}");
    }
    let wrong = project().run(&["schema", "nothing"]);
    assert_eq!(wrong.code, Some(2), "{wrong}");
    for kind in KINDS {
        assert!(wrong.stderr.contains(kind), "{kind}: {wrong}");
    }
}
