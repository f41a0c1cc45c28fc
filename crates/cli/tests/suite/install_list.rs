//! `brief list` and `--json` of all commands that install: what people and programs can ask.

use serde_json::{Value, json};

use crate::install::{MONEY, bundle, consumer, guidance, item, run};

/// Each item with its source, commit, version and the bundles that brought it.
#[test]
fn what_is_installed_is_listed() {
    let project = consumer();
    let remote = guidance(&project);
    let commit = &remote.git(&["rev-parse", "HEAD"])[..12];
    run(&project, &["add", "acme/guidance@v1.0.0", "base", "review"]);
    let list = run(&project, &["list"]).stdout;
    assert_eq!(
        list,
        format!("rule/money    guidance@{commit} 1.0.0 (base)\nskill/review  guidance@{commit}\n")
    );
    let tree = run(&project, &["list", "--tree"]).stdout;
    assert_eq!(
        tree,
        format!(
            "guidance (acme/guidance@v1.0.0 {commit})\n  bundle/base 1.2.0\n  rule/money 1.0.0 (base)\n    \
             .agents/rules/money/RULE.md\n    .claude/rules/money.md\n  skill/review\n    \
             .claude/skills/review/SKILL.md\n    .claude/skills/review/references/list.md\n\
             opencode.json: instructions[.agents/rules/**/RULE.md]\n"
        )
    );
}

/// N82: what authors say in `metadata` is there for programs, whole, also offline.
#[test]
fn metadata_is_there_for_programs() {
    let project = consumer();
    let remote = guidance(&project);
    run(&project, &["add", "acme/guidance", "base"]);
    let commit = remote.git(&["rev-parse", "HEAD"]);
    remote.vanish();
    let list = run(&project, &["list", "--json"]).json();
    assert_eq!(list["project"], "$PROJECT");
    assert_eq!(list["sources"][0]["commit"], commit);
    let item = &list["items"][0];
    assert_eq!(item["metadata"], json!({"version": "1.0.0", "owner": "payments"}));
    assert_eq!(item["license"], "MIT");
    assert_eq!(item["description"], "Money is an integer");
    assert_eq!(item["bundles"], json!(["base"]));
    assert_eq!(item["files"][1]["path"], ".claude/rules/money.md");
    // Without the source, the rest is still known.
    std::fs::remove_dir_all(project.home().join(".cache")).unwrap();
    let list = run(&project, &["list", "--json"]).json();
    assert_eq!(list["items"][0]["metadata"], Value::Null);
    assert_eq!(list["items"][0]["version"], "1.0.0");
}

/// The items of a source are shown before anything is added, and for a known source by its name.
#[test]
fn what_there_is_can_be_seen_before() {
    let project = consumer();
    let remote = guidance(&project);
    remote.commit(&[("rules/bad/RULE.md", "---\nschema: 1\nname: bad\n---\n")]);
    let shown = "bundle/base 1.2.0: The base\n\
        rule/bad (invalid: see `brief lint`):\n\
        rule/money: Money is an integer\n\
        skill/review: Use when review matters\n\
        agent/judge: Use when judge matters\n";
    assert_eq!(run(&project, &["list", "acme/guidance"]).stdout, shown);
    assert!(!project.path().join("brief.toml").exists());
    run(&project, &["add", "acme/guidance", "money", "--name", "house"]);
    assert_eq!(run(&project, &["list", "house"]).stdout, shown);
    run(&project, &["list", "house", "--offline"]);
    let json = run(&project, &["list", "house", "--json"]).json();
    assert_eq!(json["items"][0]["valid"], false);
    let base = json!({"name": "base", "description": "The base", "version": "1.2.0",
        "items": ["rule/money"], "requires": [], "plugin": null, "capabilities": []});
    assert_eq!(json["bundles"], json!([base]));
    let missing = project.run(&["list", "acme/none"]);
    assert_eq!(missing.code, Some(1));
}

/// The text of authors does not reach a terminal as commands.
#[test]
fn hidden_characters_are_shown() {
    let project = consumer();
    let remote = guidance(&project);
    let text = MONEY.replace("Money is an integer", "\"\\e[31mred\"");
    remote.commit(&[("rules/money/RULE.md", &text)]);
    let list = run(&project, &["list", "acme/guidance"]).stdout;
    assert!(!list.contains('\u{1b}'), "{list}");
}

/// The results of a run: sources, items and files by name.
#[test]
fn a_run_tells_programs_what_it_did() {
    let project = consumer().with_file(".claude/skills/review/SKILL.md", "mine\n");
    let remote = guidance(&project);
    let commit = remote.git(&["rev-parse", "HEAD"]);
    let output = project.run(&["add", "acme/guidance@main:.", "money", "review", "--json"]);
    assert_eq!(output.code, Some(2), "a directory has a name: {output}");
    let output = project.run(&["add", "acme/guidance@main", "money", "review", "--json"]);
    assert_eq!(output.code, Some(1));
    let report = output.json();
    assert_eq!(
        report["sources"],
        json!([{"name": "guidance", "git": "acme/guidance", "oci": null, "ref": "main", "subpath": null,
            "directory": null, "before": null, "commit": commit}])
    );
    assert_eq!(
        report["items"],
        json!({"count": 2, "added": ["rule/money"], "updated": [], "removed": []})
    );
    assert_eq!(
        report["files"],
        json!({
            "created": [".claude/rules/money.md"],
            "updated": [], "removed": [], "unchanged": 0, "kept": 1,
        })
    );
    assert_eq!(
        (&report["failed"], &report["manifest"], &report["lock"]),
        (&json!(1), &json!("created"), &json!("created"))
    );
    assert_eq!(report["diagnostics"][0]["code"], "item/output-in-the-way");
    let path = project.path().join(".claude/skills/review/SKILL.md");
    let report = run(&project, &["sync", "--json", "--adopt", ".claude"]).json();
    assert_eq!(report["backups"][0]["path"], ".claude/skills/review/SKILL.md");
    let copy = report["backups"][0]["copy"].as_str().unwrap();
    assert!(copy.starts_with(".brief/backups/"), "{copy}");
    assert!(path.is_file());

    let newer = remote.commit(&[("rules/money/RULE.md", &item("money", "Newer."))]);
    let outdated = project.run(&["update", "--check", "--json"]);
    assert_eq!(outdated.code, Some(1));
    assert_eq!(
        outdated.json()["sources"],
        json!([{"name": "guidance", "ref": "main", "locked": commit, "commit": newer,
            "newer_tag": null, "outdated": true, "error": null}])
    );
    let report = run(&project, &["update", "--json"]).json();
    assert_eq!(report["sources"][0]["before"], commit);
    assert_eq!(report["items"]["updated"], json!(["rule/money"]));
    let report = run(&project, &["remove", "guidance", "--json"]).json();
    assert_eq!(report["items"]["removed"], json!(["rule/money", "skill/review"]));
    assert_eq!((&report["manifest"], &report["lock"]), (&json!("removed"), &json!("removed")));
}

/// A refusal is on standard error, so that a program never takes it for an answer.
#[test]
fn a_refusal_is_no_json() {
    let project = consumer();
    let remote = guidance(&project);
    remote.commit(&[("top.bundle.md", &bundle("top", "1.0.0", &["gone"], &[]))]);
    for args in [&["add", "acme/guidance", "top", "--json"][..], &["sync", "--json"]] {
        let output = project.run(args);
        assert_eq!((output.code, output.stdout.as_str()), (Some(1), ""), "{output}");
    }
}

/// U72: each item has one line that fits, whatever its author wrote.
#[test]
fn a_description_of_many_lines_is_one_line() {
    let project = consumer();
    let remote = guidance(&project);
    let lines = format!("|\n  First line.\n  {}\n", "Many words. ".repeat(40));
    let text = MONEY.replace("Money is an integer", &lines);
    remote.commit(&[("rules/money/RULE.md", &text)]);
    let list = run(&project, &["list", "acme/guidance"]).stdout;
    assert_eq!(list.lines().count(), 4, "{list}");
    let line = list.lines().find(|line| line.starts_with("rule/money: ")).unwrap();
    assert!(line.starts_with("rule/money: First line. Many words. Many"), "{line}");
    assert!(line.ends_with('…') && line.chars().count() <= 100, "{line}");
}
