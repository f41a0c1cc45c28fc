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

/// The README counts the clients that items compile to.
#[test]
fn the_readme_counts_the_clients() {
    let refused = project().run(&["registry", "build", "--client", "no-such-client"]).stderr;
    let known = refused.split("known clients: ").nth(1).unwrap_or_default();
    let count = known.trim().split(", ").count();
    assert!(document("README.md").contains(&format!("[{count} clients](docs/clients/README.md)")));
}

/// The page about hooks counts the clients that have one. Copilot's two programs are one client there.
#[test]
fn the_documents_count_the_hooks() {
    let refused = project().run(&["hook", "install", "no-such-client"]).stderr;
    let known = refused.split("clients with hooks: ").nth(1).unwrap_or_default();
    let count = known.trim().split(", ").filter(|name| *name != "`copilot-vscode`").count();
    assert_eq!(count, 14);
    assert!(document("docs/how-to/deliver-by-hook.md").contains("[Fourteen clients]"));
}

/// The README is short, and its numbers are those of the committed runs.
#[test]
fn the_numbers_of_the_readme_were_measured() {
    let readme = document("README.md");
    assert!(readme.lines().count() <= 120, "the README has {} lines", readme.lines().count());
    let runs: serde_json::Value =
        serde_json::from_str(&document("bench/clients.json")).expect("the results are JSON");
    let runs = runs.as_object().expect("one result for each client");
    let plain: Vec<_> = runs.values().map(|client| &client["shapes"]["root"]).collect();
    let sum = |key: &str| plain.iter().filter_map(|shape| shape[key].as_u64()).sum::<u64>();
    assert_eq!((plain.len(), sum("double"), sum("lost"), sum("late")), (10, 0, 0, 0));
    let said =
        format!("ten real clients with the hook | [{} of {}]", sum("reached"), sum("promised"));
    assert!(readme.contains(&said), "{said}");
    let measured = document("docs/dev/benchmarks.md");
    let cell = |heading: &str, row: &str, column: usize| {
        let part = measured.split(&format!("## {heading}\n")).nth(1).unwrap_or_default();
        let row = part.lines().find(|line| line.starts_with(&format!("| {row} |")));
        let cells: Vec<&str> = row.unwrap_or_default().split('|').map(str::trim).collect();
        cells.get(column + 1).copied().unwrap_or_default().to_owned()
    };
    let (hook, compile) = ("Hook, with receipts", "Compile for 4 clients, cold");
    let (brief, floor) = (cell(hook, "brief", 4), cell(hook, "an empty Rust program", 4));
    let said = format!(
        "[{brief}](docs/dev/benchmarks.md#hook-with-receipts); an empty Rust program takes {floor}"
    );
    assert!(readme.contains(&said), "{said}");
    let [brief, rulesync, ruler] =
        ["brief", "rulesync", "ruler"].map(|tool| cell(compile, tool, 3));
    let said = format!(
        "[{brief}](docs/dev/benchmarks.md#compile-for-4-clients-cold); rulesync {rulesync}, ruler {ruler}"
    );
    assert!(readme.contains(&said), "{said}");
}

/// The picture of the README shows what `brief show` prints, and a client that changes what it does.
#[test]
fn the_picture_of_the_readme_shows_what_is_printed() {
    let picture = document("docs/pictures/demo.svg").replace('\u{a0}', " ");
    let readme = document("README.md");
    let shown = blocks(&readme).into_iter().find(|(language, _)| language == "console").unwrap().1;
    let rows = shown
        .lines()
        .filter(|line| line.contains(" missing (no hook)") || line.contains("CLAUDE.md:1"));
    let rows: Vec<&str> = rows.take(2).collect();
    assert_eq!(rows.len(), 2, "{shown}");
    for row in rows {
        assert!(picture.contains(row.trim_end()), "{row} is not in the picture");
    }
    let before = picture.find("cents, card)").expect("the rule is ignored at first");
    let installed = picture.find("$ brief hook install claude").expect("the hook is installed");
    let after = picture.find("cents, card[-4:])").expect("the rule is followed at the end");
    assert!(before < installed && installed < after);
}

/// The changelog is for users: an entry has at most two lines outside of its tables, and no id of ours.
#[test]
fn the_changelog_is_short() {
    let page = document("CHANGELOG.md");
    let mut entries: Vec<Vec<&str>> = Vec::new();
    for line in page.lines() {
        match line.strip_prefix("- ") {
            Some(_) => entries.push(vec![line]),
            None if line.starts_with("  |") => {}
            None if line.starts_with("  ") => entries.last_mut().expect("an entry").push(line),
            None => {}
        }
    }
    assert!(entries.len() > 40, "{} entries", entries.len());
    for entry in entries {
        assert!(entry.len() <= 2, "more than two lines: {entry:#?}");
        let words = entry.join(" ");
        let is_id = |word: &str| {
            let letters = word.chars().take_while(char::is_ascii_uppercase).count();
            let digits = word.get(letters..).unwrap_or_default().trim_start_matches('-');
            (1..=3).contains(&letters)
                && digits.len() >= 2
                && digits.chars().all(|sign| sign.is_ascii_digit())
        };
        let found = words.split(|sign: char| !sign.is_ascii_alphanumeric() && sign != '-');
        let ids: Vec<&str> = found.filter(|word| is_id(word)).collect();
        assert!(ids.is_empty(), "{ids:?} in {words}");
    }
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
