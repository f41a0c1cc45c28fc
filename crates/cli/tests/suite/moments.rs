//! `examples/ferry`: all dialects and three clients, and the answers that `moments.md` gives by hand.

use std::path::Path;

use brief_engine::Project;
use brief_syntax::render::Envelope;
use brief_testkit::{RealSystem, Sandbox};
use serde_json::Value;

use crate::{project, workspace};

/// A section of the page: the command, and the lines of the answer.
struct Moment {
    title: String,
    command: Vec<String>,
    expected: Vec<String>,
}

fn moments(page: &str) -> Vec<Moment> {
    let sections = page.split("\n## ").skip(1);
    let moment = |section: &str| {
        let (title, rest) = section.split_once('\n').unwrap();
        let block = |fence: &str| {
            let (_, block) = rest.split_once(fence).unwrap();
            block.split_once("\n```").unwrap().0.to_owned()
        };
        let command = block("```console\n$ brief ");
        Moment {
            title: title.to_owned(),
            command: command.split_whitespace().map(str::to_owned).collect(),
            expected: block("```text\n").lines().map(str::to_owned).collect(),
        }
    };
    sections.map(moment).collect()
}

/// The example as a repository of its own, beside the registry that it installs from.
fn ferry() -> Sandbox {
    let sandbox = project();
    for name in ["ferry", "ferry-guidance"] {
        copy(&sandbox, &workspace().join("examples").join(name), Path::new(name));
    }
    sandbox.with_dir("ferry/.git")
}

fn copy(sandbox: &Sandbox, from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(sandbox, &entry.path(), &to);
        } else {
            sandbox.write(&to.to_string_lossy(), std::fs::read(entry.path()).unwrap());
        }
    }
}

/// Puts an answer into the lines of the page.
fn lines(report: &Value, root: &str) -> Vec<String> {
    let place = |item: &Value| {
        let path = item["source"]["path"].as_str().unwrap();
        path.strip_prefix(root).unwrap_or(path).trim_start_matches('/').to_owned()
    };
    let line = |state: &str, item: &Value| {
        format!("{state:<8} {:<12} {}", item["format"].as_str().unwrap(), place(item))
    };
    let items = report["items"].as_array().unwrap().iter().map(|item| {
        let state = item["state"].as_str().unwrap();
        line(if state == "active" { "applies" } else { state }, item)
    });
    let left_out = report["skipped"].as_array().unwrap().iter().map(|item| {
        let reason = item["reason"].as_str().unwrap().replace(&format!("{root}/"), "");
        format!("{}: {reason}", line("skipped", item))
    });
    items.chain(left_out).collect()
}

/// "An example project with all five dialects and three clients' native files, and the expected answer
/// for a dozen moments, written by hand with the reasoning."
#[test]
fn each_moment_has_the_answer_of_the_page() {
    let page = std::fs::read_to_string(workspace().join("examples/ferry/moments.md")).unwrap();
    let moments = moments(&page);
    assert!(moments.len() >= 12);
    let sandbox = ferry();
    for Moment { title, command, expected } in moments {
        let mut args = vec!["-C", "ferry"];
        args.extend(command.iter().map(String::as_str));
        args.push("--json");
        let report = sandbox.run(&args).json();
        let mut expected = expected;
        let mut found = lines(&report, "$PROJECT/ferry");
        if !expected.iter().any(|line| line.starts_with("skipped")) {
            // The page tells what is left out where it matters.
            found.retain(|line| !line.starts_with("skipped"));
        }
        // What is left out is a list without an order.
        for lines in [&mut expected, &mut found] {
            let first = lines.partition_point(|line| !line.starts_with("skipped"));
            lines[first..].sort();
        }
        // A reason may be told by its beginning.
        let is_told = |(found, expected): (&String, &String)| found.starts_with(expected.as_str());
        let is_same = found.len() == expected.len() && found.iter().zip(&expected).all(is_told);
        assert!(
            is_same,
            "{title}\n--- the page\n{}\n--- the program\n{}",
            expected.join("\n"),
            found.join("\n")
        );
    }
}

/// The commands of the example's own page work as they stand.
#[test]
fn the_page_of_the_example_shows_commands_that_work() {
    let page = std::fs::read_to_string(workspace().join("examples/ferry/README.md")).unwrap();
    let sandbox = ferry();
    let commands: Vec<&str> =
        page.lines().filter_map(|line| line.strip_prefix("$ brief ")).collect();
    assert_eq!(commands.len(), 3);
    for command in commands {
        let args: Vec<&str> = ["-C", "ferry"].into_iter().chain(command.split(' ')).collect();
        let output = sandbox.run(&args);
        assert_eq!(output.code, Some(0), "{command}: {output}");
        assert!(!output.stdout.is_empty() || !output.stderr.is_empty(), "{command}");
    }
}

/// The installed files of the example are those of its registry.
#[test]
fn the_installed_items_are_up_to_date() {
    let sandbox = ferry();
    let output = sandbox.run(&["-C", "ferry", "sync", "--frozen"]);
    assert_eq!(output.code, Some(0), "{output}");
}

/// All formats are checked at once, and nothing is wrong but what the page explains.
#[test]
fn lint_has_one_summary_for_all_dialects() {
    let sandbox = ferry();
    let output = sandbox.run(&["-C", "ferry", "lint"]);
    assert_eq!(output.code, Some(0), "{output}");
    // Two AGENTS.yaml, four in .context, six rules for clients and agents, one task, one agent, three copies
    // of a skill, what the clients read at the top, in src/web, .cursor and .github, and the settings of opencode.
    assert!(output.stderr.contains("No problems in 24 files"), "{output}");
}

/// "`context` and the library agree": the same JSON for every file and several clients.
#[test]
fn context_and_the_library_agree() {
    let sandbox = ferry();
    let top = sandbox.path().join("ferry");
    let system = RealSystem::new(&top)
        .with_env([("HOME".to_owned(), sandbox.home().to_string_lossy().into_owned())].into());
    let project = Project::open(&system, &top).unwrap();
    for path in ["src/api/sailings.ts", "src/web/board.test.ts", "migrations/new.sql", "src/"] {
        for client in [None, Some("claude"), Some("cursor"), Some("opencode")] {
            let mut request = project.briefing(path);
            request.moment.client = client.map(str::to_owned);
            let body = request.resolve();
            let (root, diagnostics) = (body.root(), body.diagnostics.as_slice());
            let envelope = Envelope { kind: "context", root, diagnostics, body: &body };
            let library = serde_json::to_string(&envelope).unwrap();
            let library = library.replace(&*sandbox.path().to_string_lossy(), "$PROJECT");
            let mut args = vec!["-C", "ferry", "context", path, "--json"];
            args.extend(client.iter().flat_map(|client| ["--client", client]));
            let command = sandbox.run(&args).json();
            let library: Value = serde_json::from_str(&library).unwrap();
            assert_eq!(command, library, "{path} {client:?}");
        }
    }
}
