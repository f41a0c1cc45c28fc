//! The conformance cases, at the level of the library: real directories, links and modes.
#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "the cases are laid out in a real directory")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use brief_dialects::hosted::{
    Connection, HostedContext, HostedItem, McpServer, Query, ServerKind, State,
    resolve_hosted_context,
};
use brief_testkit::RealSystem;
use serde_json::{Map, Value, json};

fn texts(value: &Value) -> Vec<String> {
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// Returns our word for a scope of the document.
fn current_scope(scope: &str) -> &str {
    if scope == "mounted" { "workspace" } else { scope }
}

/// Returns our name for a problem of the cases.
fn current_code(code: String) -> String {
    match code.as_str() {
        "outside-mount" => "outside-workspace".to_owned(),
        "workdir-outside-mounted" => "cwd-outside-workspace".to_owned(),
        "dead-glob" => "unused-pattern".to_owned(),
        _ => code,
    }
}

fn sorted(mut list: Vec<String>) -> Vec<String> {
    list.sort();
    list
}

/// Lays a case out. Returns the files whose modes keep everybody but the superuser out.
fn lay_out(case: &Value, root: &Path, mounted: &str) -> Vec<PathBuf> {
    let mut restricted = Vec::new();
    let filled = |text: &str| text.replace("$ROOT", root.to_str().unwrap());
    fs::create_dir_all(root.join("home")).unwrap();
    fs::create_dir_all(root.join(mounted)).unwrap();
    for (path, value) in case["files"].as_object().unwrap() {
        let full = root.join(path);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        if let Some(target) = value["symlink"].as_str() {
            symlink(filled(target), &full).unwrap();
            continue;
        }
        let text = value.as_str().or(value["text"].as_str()).unwrap();
        fs::write(&full, filled(text)).unwrap();
        if let Some(mode) = value["mode"].as_str() {
            let mode = u32::from_str_radix(mode, 8).unwrap();
            fs::set_permissions(&full, fs::Permissions::from_mode(mode)).unwrap();
            restricted.push(full);
        }
    }
    if let Some(working) = case["workdir"].as_str() {
        fs::create_dir_all(root.join(working)).unwrap();
    }
    restricted
}

fn server(server: &McpServer) -> Value {
    let pairs = |pairs: &[(String, String)]| -> Value {
        pairs.iter().map(|(key, value)| (key.clone(), json!(value))).collect::<Map<_, _>>().into()
    };
    let mut fields = match &server.connection {
        Connection::Command { command, args, env } => {
            json!({"command": command, "args": args, "env": pairs(env)})
        }
        Connection::Url { url, headers } => json!({"url": url, "headers": pairs(headers)}),
    };
    let fields_map = fields.as_object_mut().unwrap();
    fields_map.insert("disabled".to_owned(), json!(server.disabled));
    fields_map.insert("type".to_owned(), json!(server.kind.map(ServerKind::as_str)));
    fields_map.retain(|_, value| {
        !matches!(value, Value::Null | Value::Bool(false))
            && *value != json!([])
            && *value != json!({})
    });
    fields
}

fn compare(expect: &Value, answer: &HostedContext, root: &Path) -> Vec<String> {
    let mut bad = Vec::new();
    let name = |path: &Path| path.strip_prefix(root).unwrap_or(path).to_str().unwrap().to_owned();
    let files = |state: Option<State>| -> Vec<String> {
        let items =
            answer.items.iter().filter(|item| state.is_none_or(|state| item.state == state));
        sorted(items.map(|item| name(item.path())).collect())
    };
    let lists =
        [("files", None), ("active", Some(State::Active)), ("catalog", Some(State::Listed))];
    for (key, state) in lists {
        if !expect[key].is_null() && sorted(texts(&expect[key])) != files(state) {
            bad.push(format!("{key}: {:?}", files(state)));
        }
    }
    let absent = texts(&expect["absent"]);
    bad.extend(absent.into_iter().filter(|path| files(None).contains(path)));
    let find = |path: &str| answer.items.iter().find(|item| name(item.path()) == path);
    for (path, scope) in expect["scopes"].as_object().into_iter().flatten() {
        let found = find(path).map(|item| item.scope.as_str());
        if found != scope.as_str().map(current_scope) {
            bad.push(format!("scope of {path}: {found:?}"));
        }
    }
    for (path, body) in expect["body"].as_object().into_iter().flatten() {
        let found = find(path).map(HostedItem::content);
        if found != body.as_str() {
            bad.push(format!("body of {path}: {found:?}"));
        }
    }
    let config = &answer.config;
    let patterns = |list: &[brief_dialects::hosted::ConfigPattern]| -> Vec<String> {
        list.iter().map(|pattern| pattern.pattern.clone()).collect()
    };
    let config = json!({
        "includeFiles": patterns(&config.include_files),
        "excludeFiles": patterns(&config.exclude_files),
        "ignoreGlobalContext": config.ignore_global_context.value,
        "ignoreAncestorContext": config.ignore_ancestor_context.value,
    });
    for (key, value) in expect["config"].as_object().into_iter().flatten() {
        if config[key] != *value {
            bad.push(format!("config {key}: {}", config[key]));
        }
    }
    if !expect["mcpServers"].is_null() {
        let servers = answer.mcp_servers.iter();
        let servers: Map<_, _> =
            servers.map(|entry| (entry.name.clone(), server(&entry.server))).collect();
        if Value::from(servers.clone()) != expect["mcpServers"] {
            bad.push(format!("servers: {servers:?}"));
        }
    }
    let mut codes: Vec<String> = answer
        .diagnostics
        .iter()
        .map(|diagnostic| diagnostic.code().strip_prefix("context-dir/").unwrap().to_owned())
        .collect();
    codes.sort();
    codes.dedup();
    let expected =
        |key: &str| texts(&expect[key]).into_iter().map(current_code).collect::<Vec<_>>();
    let missing = expected("warnings").into_iter().filter(|code| !codes.contains(code));
    bad.extend(missing.map(|code| format!("no {code} in {codes:?}")));
    if !expect["warnings_exact"].is_null() && sorted(expected("warnings_exact")) != codes {
        bad.push(format!("diagnostics: {codes:?}"));
    }
    bad
}

#[test]
fn every_case_holds() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/hosted/cases.json");
    let cases: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let cases = cases.as_array().unwrap();
    let mut failures = Vec::new();
    for case in cases {
        let temporary = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(temporary.path()).unwrap();
        let mounted = case["mounted"].as_str().unwrap_or("None");
        let restricted = lay_out(case, &root, mounted);
        // The superuser may read everything, so there is nothing to see.
        let is_superuser = restricted.iter().any(|path| fs::read(path).is_ok());
        let query = &case["query"];
        let target = query["file"].as_str().or(case["workdir"].as_str()).unwrap_or(mounted);
        let mut env =
            BTreeMap::from([("HOME".to_owned(), root.join("home").to_str().unwrap().to_owned())]);
        for (name, value) in case["env"].as_object().into_iter().flatten() {
            let value = value.as_str().unwrap().replace("$ROOT", root.to_str().unwrap());
            env.insert(name.clone(), value);
        }
        let system = RealSystem::new(root.join(mounted)).with_env(env);
        let answer = resolve_hosted_context(
            &system,
            &Query {
                mounted: &root.join(mounted),
                path: &root.join(target),
                mentions: &texts(&query["mention"]),
            },
        );
        let bad = compare(&case["expect"], &answer, &root);
        for path in restricted {
            fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
        }
        let is_pointless = is_superuser && case["needs"] == "unprivileged";
        if !bad.is_empty() && !is_pointless {
            failures.push(format!("{} {}: {}", case["id"], case["title"], bad.join("; ")));
        }
    }
    assert!(cases.len() >= 38, "only {} cases", cases.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
