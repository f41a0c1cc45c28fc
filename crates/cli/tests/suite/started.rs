//! The place of a question: the root, and the directory that the client was started in.

use crate::{project, shop};

/// U02, ruling G16: the root is the repository that holds the current directory.
#[test]
fn the_root_is_the_repository_around_the_current_directory() {
    let shop = shop().with_dir(".git");
    let asked = &["context", "cart.py", "--on", "read"];
    insta::assert_snapshot!(shop.run_in("src", asked, ""), @"
    AGENTS.yaml:3
      Speak plainly.

    AGENTS.yaml:9
      Run the tests.

    src/AGENTS.yml:2
      The cart is never empty here.
    [EOF]
    ");
    let elsewhere = shop.run(&["-C", "src", "context", "cart.py", "--on", "read"]);
    assert_eq!(elsewhere, shop.run_in("src", asked, ""));
    let from_the_top = shop.run(&["context", "src/cart.py", "--on", "read"]);
    assert_eq!(elsewhere.stdout, from_the_top.stdout);
    for command in [&["why"][..], &["context", "--decisions"], &["tokens"]] {
        let below = shop.run_in("src", &[command, &["cart.py"]].concat(), "");
        let above = shop.run(&[command, &["src/cart.py"]].concat());
        assert_eq!(below.stdout, above.stdout, "{command:?}");
    }
    let all = shop.run_in("src", &["context", "--all", "--json"], "");
    assert_eq!(all, shop.run(&["context", "--all", "--json"]));
}

/// U02: outside of a repository the current directory is the root, whatever lies around it.
#[test]
fn without_a_repository_the_root_is_the_current_directory() {
    insta::assert_snapshot!(shop().run_in("src", &["context", "cart.py", "--on", "read"], ""), @"
    AGENTS.yml:2
      The cart is never empty here.
    ------- stderr -------
    warning: not a git repository, so `$PROJECT/AGENTS.yaml` does not apply here
    hint: run `git init` in the top directory of the project, or start there with `-C DIR`
    [EOF]
    ");
}

/// U02: what to type next is typed where the question was.
#[test]
fn a_hint_names_the_path_as_it_was_typed() {
    let project = project()
        .with_dir(".git")
        .with_file("AGENTS.yaml", "context:\n  - {content: Docs., match: [\"docs/**\"]}\n");
    let output = project.with_dir("src").run_in("src", &["context", "a.py"], "");
    assert!(output.stderr.contains("no context for src/a.py"), "{output}");
    assert!(output.stderr.contains("run `brief why a.py`"), "{output}");
}

/// K21: the directory that the client was started in has to be there.
#[test]
fn a_start_directory_that_is_missing_is_a_mistake() {
    let output = shop().run(&["context", "src/cart.py", "--cwd", "nowhere"]);
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("cannot open directory `nowhere`"), "{output}");
}

/// U10: a rule near the top reaches a path 68 directories deep, and what is not looked at is said.
#[test]
fn a_deep_path_has_the_rules_of_the_top() {
    let deep = "d/".repeat(68);
    let project = project()
        .with_file("d/d/d/.agents/rules/r.md", "Third.\n")
        .with_file(&format!("{}.agents/rules/m.md", "d/".repeat(33)), "Middle.\n")
        .with_file(&format!("{deep}.agents/rules/n.md"), "Near.\n");
    let output = project.run(&["context", &format!("{deep}a.py"), "--only", "tasks"]);
    assert!(output.stdout.contains("Third.") && output.stdout.contains("Near."), "{output}");
    assert!(!output.stdout.contains("Middle."), "{output}");
    assert!(output.stderr.contains("more than 64 directories deep"), "{output}");
}

/// U09: a link to `AGENTS.md` is one item with it, in every view.
#[cfg(unix)]
#[test]
fn a_link_to_agents_md_is_one_item() {
    let project = project()
        .with_file("AGENTS.md", "Prices are integers.\n")
        .with_file("a.py", "")
        .with_link("CLAUDE.md", "AGENTS.md");
    let tree = project.run(&["tokens", "--tree", "--json"]).json();
    assert_eq!(tree["items"], 1, "{tree}");
    let context = project.run(&["context", "a.py", "--json"]).json();
    assert_eq!(context["items"].as_array().unwrap().len(), 1, "{context}");
    assert_eq!(context["items"][0]["also"].as_array().unwrap().len(), 1, "{context}");
    let coverage = project.run(&["coverage", "--json"]).json();
    assert!(!coverage.to_string().contains("CLAUDE.md"), "{coverage}");
    // The client that loads the link has the file.
    let loaded = project.run(&["context", "a.py", "--client", "claude", "--json"]).json();
    assert_eq!(loaded["items"], serde_json::json!([]), "{loaded}");
}
