//! The promises of the documents, tried.

use std::fs;

use crate::{project, workspace};

fn document(path: &str) -> String {
    fs::read_to_string(workspace().join(path)).unwrap()
}

/// Returns the fenced blocks of a Markdown text, each with its language.
fn blocks(text: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push((language.to_owned(), body.join("\n")));
        }
    }
    blocks
}

/// The README's tables name exactly the commands of the short help.
#[test]
fn the_readme_lists_the_common_commands() {
    let readme = document("README.md");
    let help = project().run(&["-h"]).stdout;
    let listed = help.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let mut listed: Vec<&str> = listed.filter(|name| *name != "brief").collect();
    let rows =
        readme.lines().filter_map(|line| line.strip_prefix("| `brief ")?.split([' ', '`']).next());
    let mut rows: Vec<&str> = rows.collect();
    listed.sort_unstable();
    rows.sort_unstable();
    assert!(listed.len() > 12, "{help}");
    // `brief tokens` has a row among the measurements as well.
    rows.dedup();
    assert_eq!(rows, listed);
}

/// The README counts the clients that items compile to.
#[test]
fn the_readme_counts_the_clients() {
    let refused = project().run(&["registry", "build", "--client", "no-such-client"]).stderr;
    let known = refused.split("known clients: ").nth(1).unwrap_or_default();
    let count = known.trim().split(", ").count();
    assert!(document("README.md").contains(&format!("[{count} clients](docs/clients/README.md)")));
}

/// The README names six clients with a hook and counts the others, the guide counts all. Copilot's two programs are one
/// client there.
#[test]
fn the_documents_count_the_hooks() {
    let refused = project().run(&["hook", "install", "no-such-client"]).stderr;
    let known = refused.split("clients with hooks: ").nth(1).unwrap_or_default();
    let count = known.trim().split(", ").filter(|name| *name != "`copilot-vscode`").count();
    assert_eq!(count, 6 + 8);
    assert!(document("README.md").contains("[eight others](docs/reference/hook.md#clients)"));
    assert!(document("docs/guide/README.md").contains("[fourteen clients]"));
}

/// The example project is one to imitate.
#[test]
fn the_example_has_no_findings() {
    let examples = workspace().join("examples/shop");
    let output = project().run(&["-C", examples.to_str().unwrap(), "lint", "--strict"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(output.stderr, "No problems in 14 files; not checked: setup\n");
}

/// `examples/shop/README.md`: each question has an answer.
#[test]
fn the_examples_questions_have_answers() {
    let examples = workspace().join("examples/shop");
    let asked = |args: &[&str]| {
        let args = [&["-C", examples.to_str().unwrap()], args].concat();
        project().run(&args).stdout
    };
    let create = asked(&["context", "migrations/0002_refunds.sql", "--on", "create"]);
    assert!(create.contains("Name it with the next number"));
    assert!(!create.contains("is never changed"), "that is for edits");
    let decisions = asked(&["context", "--decisions", "src/pricing/totals.py"]);
    assert!(decisions.contains("standard library alone"));
    assert!(decisions.contains("Discounts apply before tax"));
}

/// `docs/reference/json.md`: the documented object has the keys of a real one, in their order.
#[test]
fn the_documented_json_has_the_real_keys() {
    let blocks = blocks(&document("docs/reference/json.md"));
    let documented = blocks.into_iter().find(|(_, block)| block.contains("\"query\"")).unwrap().1;
    let real = crate::shop().run(&["context", "src/cart.py", "--json"]).stdout;
    let keys = |json: &str| -> Vec<String> {
        let top = json.lines().filter(|line| line.starts_with("  \""));
        top.filter_map(|line| line.trim().split('"').nth(1).map(str::to_owned)).collect()
    };
    assert_eq!(keys(&documented), keys(&real));
    let item = |json: &str| -> Vec<String> {
        let start = json.find("\"items\"").unwrap();
        let item = json[start..].lines().skip(1).skip_while(|line| line.trim() != "{").skip(1);
        let item = item.take_while(|line| !line.starts_with("    }"));
        item.filter_map(|line| line.strip_prefix("      \"")?.split('"').next().map(str::to_owned))
            .collect()
    };
    assert_eq!(item(&documented), item(&real));
    assert_eq!(item(&real)[0], "format");
}

/// `docs/reference/context-directories.md` names the file of each client that we write for.
#[test]
fn every_clients_file_is_documented() {
    let page = document("docs/reference/context-directories.md");
    for (client, servers) in brief_clients::mcp::server_clients() {
        let home = || servers.home_file.as_ref().map(|file| format!("~/{file}"));
        let file = servers.file.as_ref().map(ToString::to_string).or_else(home).unwrap();
        let row = format!("| `{client}` | `{file}` |");
        assert!(page.contains(&row), "{row}");
    }
}
