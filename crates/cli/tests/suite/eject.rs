//! `brief eject`: after a year of use, the user's files are what they were, byte for byte, and no trace is left.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use brief_profiles::{BUILTIN, Client, InstallForm};
use brief_testkit::Sandbox;
use brief_testkit::snapshot::{render_item, write_files};
use serde_json::json;

use crate::project;

/// The states of a settings file of a client before the first hook.
const STATES: [&str; 5] = [
    "",
    "{}\n",
    "{\n  // mine\n  \"theme\": \"dark\", \"n\": 12345678901234567890,\n  \"hooks\": {}\n}\n",
    "{\r\n\t\"a\": [1,\t2],\r\n\t\"mcpServers\": { \"mine\": {\"command\": \"x\"} }\r\n}\r\n",
    "{\"hooks\": {\"Stop\": [], \"PreToolUse\": []}, \"b\": 1e3}",
];

/// The files of a user for a client, in one of the states; an empty one means that nothing is there.
fn own_files(client: &Client, state: &str) -> Vec<(String, String)> {
    let install = client.hook.as_ref().unwrap().install.as_ref().unwrap();
    if state.is_empty() {
        return Vec::new();
    }
    let paths = [
        Some(&install.file),
        install.home.as_ref(),
        install.shared.as_ref().map(|shared| &shared.file),
    ];
    let paths = paths.into_iter().flatten().map(std::string::ToString::to_string);
    let is_settings =
        matches!(install.form, InstallForm::Groups | InstallForm::TopGroups | InstallForm::List);
    paths
        .map(|path| {
            if is_settings {
                // At the top, `hooks` would be an event.
                let text = match install.form {
                    InstallForm::TopGroups => "{\n  // mine\n  \"Stop\": []\n}\n".to_owned(),
                    // The client needs the version, which an empty table gets with the first hook and keeps.
                    InstallForm::List if install.version.is_some() && state == "{}\n" => {
                        "{\"version\": 1}\n".to_owned()
                    }
                    _ => state.to_owned(),
                };
                return (path, text);
            }
            // Another file in the directory of programs and plugins.
            let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
            (format!("{directory}/mine.txt"), state.to_owned())
        })
        .collect()
}

/// The content of every file below a directory, by its path.
fn read_all(top: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut left = vec![top.to_owned()];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else {
                let name = path.strip_prefix(top).unwrap().to_string_lossy().into_owned();
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    found
}

fn run(project: &Sandbox, args: &[&str]) -> brief_testkit::Output {
    let output = project.run(args);
    assert_eq!(output.code, Some(0), "{args:?}: {output}");
    output
}

/// A year: hooks in every place, installed, updated and removed items, a server, deliveries of every month, trust.
fn use_for_a_year(project: &Sandbox, client: &Client) {
    let id: &str = &client.id;
    let install = client.hook.as_ref().unwrap().install.as_ref().unwrap();
    let source = project.outside_directory().join("source");
    let write_source = |body: &str| {
        write_files(
            &source,
            &[
                ("rules/api/RULE.md", &render_item("api", body)),
                ("skills/ship/SKILL.md", &render_item("ship", body)),
            ],
        );
    };
    write_source("## One");
    run(project, &["hook", "install", id, "--project"]);
    run(project, &["hook", "install", id, "--shared"]);
    if install.home.is_some() {
        run(project, &["hook", "install", id, "--global"]);
    }
    let compiled = brief_profiles::COMPILED.contains(&id);
    let target = if compiled { id } else { "claude" };
    run(project, &["add", "../outside/source", "rule/api", "skill/ship", "--client", target]);
    for month in 1..=4 {
        write_source(&format!("## Month {month}"));
        run(project, &["update"]);
        let _ = project.run(&["mcp", "install", id]);
        // Another program of the same name.
        let command = format!("/opt/{month}/brief hook {id}");
        run(project, &["hook", "install", id, "--project", "--command", &command]);
        let state = project.home().join(".local/state/brief/receipts");
        fs::create_dir_all(&state).unwrap();
        let root = project.path().canonicalize().unwrap();
        let receipt = json!({
            "version": 1, "at": 1, "session": "s", "client": id, "event": "PostToolUse", "root": root,
            "items": [],
        });
        fs::write(state.join(format!("{}.jsonl", 20000 + month * 30)), format!("{receipt}\n"))
            .unwrap();
    }
    run(project, &["remove", "skill/ship"]);
    run(project, &["hook", "install", id, "--project"]);
}

/// All clients, all states: what the user had is as it was, and nothing that is left names the program.
#[test]
fn a_year_leaves_no_trace() {
    let (mut cases, mut wrong) = (0, BTreeSet::new());
    for client in &BUILTIN.clients {
        if client.hook.as_ref().and_then(|hook| hook.install.as_ref()).is_none() {
            continue;
        }
        for state in STATES {
            let project = project().with_dir(".git").with_file("README.md", "mine\n");
            for base in [project.path(), project.home()] {
                for (path, text) in own_files(client, state) {
                    write_files(&base, &[(&path, &text)]);
                }
            }
            let before = (read_all(&project.path()), read_all(&project.home()));
            use_for_a_year(&project, client);
            let plan = project.run(&["eject", "--all", "--dry-run"]);
            let planned = (read_all(&project.path()), read_all(&project.home()));
            let ejected = run(&project, &["eject", "--all"]);
            let mut left = (read_all(&project.path()), read_all(&project.home()));
            assert_ne!(planned, left, "{}: {plan}", client.id);
            // The compiled files of the one item that is left are plain files.
            let is_output = |path: &String, content: &Vec<u8>| {
                path.contains("api") && String::from_utf8_lossy(content).contains("Month 4")
            };
            let outputs = left.0.iter().filter(|(path, content)| is_output(path, content)).count();
            assert!(outputs > 0, "{}: {ejected}", client.id);
            left.0.retain(|path, content| !is_output(path, content));
            for (place, (before, left)) in
                [("project", (&before.0, &left.0)), ("home", (&before.1, &left.1))]
            {
                for (path, content) in left {
                    let text = String::from_utf8_lossy(content);
                    let was = before.get(path).map(|content| String::from_utf8_lossy(content));
                    if Some(&*text) != was.as_deref() || text.contains("brief") {
                        wrong.insert(format!("{} {state:?} {place}: {path}", client.id));
                    }
                }
                let lost: Vec<_> = before.keys().filter(|path| !left.contains_key(*path)).collect();
                assert!(lost.is_empty(), "{} {state:?}: {lost:?}", client.id);
            }
            cases += 1;
            if wrong.iter().any(|case| case.starts_with(&format!("{} ", client.id))) {
                continue;
            }
            let again = run(&project, &["eject", "--all"]);
            assert!(again.stderr.contains("no trace of brief in this project"), "{again}");
        }
    }
    // Not yet: in the file that GitHub Copilot and Copilot in VS Code share, hooks with other programs' paths stay.
    let is_known = |case: &String| {
        case.starts_with("copilot-vscode ") && case.ends_with(": .github/hooks/brief.json")
    };
    assert_eq!(wrong.iter().filter(|case| !is_known(case)).count(), 0, "{wrong:?}");
    assert_eq!(wrong.len(), STATES.len(), "{wrong:?}");
    assert_eq!(cases, 15 * STATES.len());
}

/// One command in a project whose user has one hook: the plan, and the result.
#[test]
fn a_project_is_taken_out_in_one_command() {
    let project =
        project().with_dir(".git").with_file("AGENTS.yaml", "context:\n  - {content: A.}\n");
    run(&project, &["hook", "install", "claude"]);
    insta::assert_snapshot!(project.run(&["eject", "--dry-run"]), @"
    ------- stderr -------
    would remove .claude/settings.local.json
    [EOF]
    ");
    assert!(project.path().join(".claude/settings.local.json").exists());
    insta::assert_snapshot!(project.run(&["eject"]), @"
    ------- stderr -------
    removed .claude/settings.local.json
    [EOF]
    ");
    assert_eq!(read_all(&project.path()).keys().collect::<Vec<_>>(), ["AGENTS.yaml"]);
    insta::assert_snapshot!(project.run(&["eject"]), @"
    ------- stderr -------
    no trace of brief in this project
    [EOF]
    ");
    let json = project.run(&["eject", "--json"]).json();
    assert_eq!(json["places"][0]["changes"], json!([]));
}

/// What a user has changed by hand in a block stays, and is named; so do copies of replaced files.
#[test]
fn edited_parts_and_backups_stay() {
    let project = project()
        .with_dir(".git")
        .with_file("AGENTS.md", "# Ours\n")
        .with_file(".claude/rules/api.md", "my own\n");
    let source = project.outside_directory().join("source");
    write_files(&source, &[("rules/api/RULE.md", &render_item("api", "## One"))]);
    run(
        &project,
        &["add", "../outside/source", "--client", "claude", "--adopt", ".claude/rules/api.md"],
    );
    let ejected = project.run(&["eject"]);
    assert_eq!(ejected.code, Some(1), "{ejected}");
    assert!(
        ejected.stderr.contains("holds copies of your files that installed items replaced"),
        "{ejected}"
    );
    assert_eq!(project.read(".brief/backups/.claude/rules/api.md"), "my own\n");
    assert!(!project.path().join("brief.toml").exists());
}

/// Receipts and trust of other projects stay.
#[test]
fn other_projects_keep_their_records() {
    let project =
        project().with_dir(".git").with_file("AGENTS.yaml", "context:\n  - {content: A.}\n");
    run(&project, &["hook", "install", "claude"]);
    let state = project.home().join(".local/state/brief/receipts");
    fs::create_dir_all(&state).unwrap();
    let root = project.path().canonicalize().unwrap();
    let line = |root: &Path| {
        let receipt = json!({
            "version": 1, "at": 1, "session": "s", "client": "claude", "event": "PostToolUse", "root": root,
            "items": [],
        });
        format!("{receipt}\n")
    };
    let other = line(Path::new("/elsewhere"));
    fs::write(state.join("20000.jsonl"), format!("{}{other}", line(&root))).unwrap();
    run(&project, &["eject"]);
    assert_eq!(fs::read_to_string(state.join("20000.jsonl")).unwrap(), other);
}
