//! `brief registry build` and what is not its own: it removes and replaces what it has written, and nothing else.

use std::fs;

use crate::build::{RULE, build_registry, output_names, read_tree, sample_registry};

/// The record says what was written, from what, and by which version.
#[test]
fn the_record_names_every_file() {
    let registry = sample_registry();
    build_registry(&registry, &["--client", "opencode"]);
    let record: serde_json::Value =
        serde_json::from_str(&registry.read("dist/.brief/build.json")).unwrap();
    assert_eq!(record["tool"], format!("brief {}", env!("CARGO_PKG_VERSION")));
    assert_eq!(record["registry"], "..");
    let item = &record["items"]["skill/ship"];
    assert_eq!(item["source"], "content/skills/ship");
    assert_eq!(item["fingerprint"].as_str().unwrap().len(), 64);
    let script = &item["files"][".agents/skills/ship/scripts/ship.sh"];
    assert_eq!(script["sha256"].as_str().unwrap().len(), 64);
    assert_eq!(
        script["program"],
        cfg!(unix).then_some(true).map_or(serde_json::Value::Null, Into::into)
    );
}

/// An item that breaks later keeps the files that it had.
#[test]
fn a_broken_item_keeps_its_files() {
    let registry = sample_registry();
    build_registry(&registry, &[]);
    let before = read_tree(&registry, "dist");
    registry.write("content/rules/api/RULE.md", "---\nschema: 9\n---\n");
    assert_eq!(registry.run(&["registry", "build"]).code, Some(1));
    assert_eq!(read_tree(&registry, "dist"), before);
}

/// N16: what is no longer wanted goes, and the directories with it.
#[test]
fn outputs_that_are_no_longer_wanted_are_removed() {
    let registry = sample_registry();
    build_registry(&registry, &[]);
    let narrowed = RULE.replace("license: MIT\n", "license: MIT\naudience: [claude]\n");
    registry.write("content/rules/api/RULE.md", narrowed);
    let output = build_registry(&registry, &[]);
    assert!(output.stderr.contains("2 removed"), "{output}");
    let left: Vec<String> =
        output_names(&registry).into_iter().filter(|name| name.contains("api")).collect();
    assert_eq!(left, [".agents/rules/api/list.txt", ".claude/rules/api.md"]);
    assert!(!registry.path().join("dist/.github/instructions").exists());

    fs::remove_dir_all(registry.path().join("content/rules/api")).unwrap();
    build_registry(&registry, &[]);
    assert!(!registry.path().join("dist/.claude/rules").exists());
    assert!(!registry.path().join("dist/.agents/rules").exists());

    let output = build_registry(&registry, &["--client", "claude"]);
    assert!(output.stderr.contains("8 removed"), "{output}");
    assert!(output_names(&registry).iter().all(|name| name.starts_with(".claude/")));
}

/// P2: a file without a record is kept, and nothing of its item is written.
#[test]
fn a_file_in_the_way_is_kept_with_nothing_of_its_item_written() {
    let registry = sample_registry().with_file("dist/.claude/rules/api.md", "mine\n");
    insta::assert_snapshot!(registry.run(&["registry", "build"]), @"
    error[item/output-in-the-way]: brief does not write the rule `api`: the file was not written by brief
    --> dist/.claude/rules/api.md
     = help: move it away, or build into another directory

    ------- stderr -------
    2 of 3 items in dist: 12 created, 1 kept
    [exit status: 1]
    [EOF]
    ");
    assert_eq!(registry.read("dist/.claude/rules/api.md"), "mine\n");
    assert!(!registry.path().join("dist/.github/instructions").exists());
    assert!(registry.path().join("dist/.claude/agents/judge.md").exists());
    let forced = registry.run(&["registry", "build", "--force"]);
    assert_eq!(forced.code, Some(1), "--force is for our own files\n{forced}");
    assert_eq!(registry.read("dist/.claude/rules/api.md"), "mine\n");
}

/// P2: an output that was edited is kept, until the user says otherwise; its neighbors are written.
#[test]
fn an_edited_output_is_kept_unless_forced() {
    let registry = sample_registry();
    build_registry(&registry, &[]);
    registry.write("dist/.claude/rules/api.md", "edited\n");
    registry.write("content/rules/api/RULE.md", RULE.replace("Handlers", "Routes"));
    insta::assert_snapshot!(registry.run(&["registry", "build"]), @"
    error[item/output-edited]: brief keeps the file: changed since brief wrote it
    --> dist/.claude/rules/api.md
     = help: make the change in the source, then build with `--force`

    ------- stderr -------
    3 items in dist: 2 updated, 13 unchanged, 1 kept
    [exit status: 1]
    [EOF]
    ");
    assert_eq!(registry.read("dist/.claude/rules/api.md"), "edited\n");
    assert!(registry.read("dist/.agents/rules/api/RULE.md").contains("## Routes"));
    let again = registry.run(&["registry", "build"]);
    assert_eq!(again.code, Some(1), "it is still not what it should be\n{again}");
    build_registry(&registry, &["--force"]);
    assert!(registry.read("dist/.claude/rules/api.md").contains("## Routes"));
    assert!(build_registry(&registry, &[]).stderr.contains("already up to date"));
}

/// P2: an edited output that is no longer wanted is the user's work.
#[test]
fn an_edited_output_of_an_item_that_is_gone_is_kept() {
    let registry = sample_registry();
    build_registry(&registry, &[]);
    registry.write("dist/.claude/rules/api.md", "edited\n");
    fs::remove_dir_all(registry.path().join("content/rules/api")).unwrap();
    for _ in 0..2 {
        let output = build_registry(&registry, &[]);
        assert!(output.stdout.contains("warning[item/output-outdated]"), "{output}");
        assert_eq!(registry.read("dist/.claude/rules/api.md"), "edited\n");
    }
    build_registry(&registry, &["--force"]);
    assert!(!registry.path().join("dist/.claude/rules").exists());
}

/// An output that was removed comes back, and one that is as it should be is taken over.
#[test]
fn missing_outputs_come_back_and_right_ones_are_taken_over() {
    let registry = sample_registry();
    build_registry(&registry, &[]);
    fs::remove_file(registry.path().join("dist/.claude/rules/api.md")).unwrap();
    let output = build_registry(&registry, &[]);
    assert!(output.stderr.contains("1 created, 15 unchanged"), "{output}");
    fs::remove_dir_all(registry.path().join("dist/.brief")).unwrap();
    let output = build_registry(&registry, &[]);
    assert!(output.stderr.contains("already up to date"), "{output}");
}

/// A directory of items is no place for outputs.
#[test]
fn a_build_does_not_go_where_the_items_are() {
    let registry = sample_registry();
    for out in ["content", "content/rules", "content/rules/new", "content/skills/ship/x"] {
        let output = registry.run(&["registry", "build", "--out", out]);
        assert_eq!(output.code, Some(1), "{out}: {output}");
        assert!(output.stderr.contains("contains items"), "{output}");
    }
    assert_eq!(read_tree(&registry, "content").len(), 6);
}

/// A project does not decide to write outside of itself; the user does.
#[test]
fn a_configuration_cannot_lead_out_of_the_registry() {
    let registry = sample_registry();
    let outside = registry.outside_directory();
    for out in ["../outside", outside.to_str().unwrap(), "a/../../outside"] {
        registry.write("brief.toml", format!("[build]\nout = {out:?}\n"));
        let output = registry.run(&["registry", "build"]);
        assert_eq!(output.code, Some(2), "{output}");
    }
    registry.write("brief.toml", "[build]\nout = \"link\"\n");
    let registry = registry.with_link("link", &outside);
    let output = registry.run(&["registry", "build"]);
    assert_eq!(output.code, Some(2), "{output}");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    build_registry(&registry, &["--out", "../outside"]);
    assert!(outside.join(".claude/rules/api.md").exists());
}

/// G6, P2: nothing is written through a link.
#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link() {
    let registry = sample_registry();
    let outside = registry.outside_directory();
    let registry = registry.with_link("dist/.claude", &outside);
    let output = registry.run(&["registry", "build"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    let registry = self::sample_registry().with_link("dist/.claude/rules/api.md", "/etc/hostname");
    let output = registry.run(&["registry", "build"]);
    assert!(
        output.stdout.contains("brief does not write the rule `api`: the file is a symbolic link"),
        "{output}"
    );
    let registry = self::sample_registry();
    let outside = registry.outside_directory();
    let registry = registry.with_link("dist/.brief", &outside);
    assert_eq!(registry.run(&["registry", "build"]).code, Some(1));
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

/// A record that was tampered with removes nothing outside.
#[test]
fn a_record_cannot_name_files_elsewhere() {
    let registry = sample_registry();
    build_registry(&registry, &[]);
    registry.write("keep.txt", "one\n");
    let record = registry.read("dist/.brief/build.json");
    for path in ["../keep.txt", ".x/../../keep.txt", "/etc/hostname", "keep.txt"] {
        let forged = record.replacen(".agents/rules/api/list.txt", path, 1);
        registry.write("dist/.brief/build.json", &forged);
        let output = registry.run(&["registry", "build"]);
        assert_eq!(output.code, Some(1), "{output}");
        assert!(output.stderr.contains("cannot read"), "{output}");
    }
    assert_eq!(registry.read("keep.txt"), "one\n");
}

/// Two registries do not take each other's outputs for stale ones.
#[test]
fn another_registrys_outputs_are_not_removed() {
    let registry = sample_registry()
        .with_file("other/rules/alone/RULE.md", RULE.replace("name: api", "name: alone"));
    build_registry(&registry, &["content", "--out", "shared"]);
    let before = read_tree(&registry, "shared");
    let output = registry.run(&["registry", "build", "other", "--out", "shared"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stderr.contains("was built from another registry, `../content`"), "{output}");
    assert_eq!(read_tree(&registry, "shared"), before);
}

/// A directory without items removes nothing.
#[test]
fn without_items_nothing_happens() {
    let registry = sample_registry();
    build_registry(&registry, &[]);
    let before = read_tree(&registry, "dist");
    fs::rename(registry.path().join("content"), registry.path().with_file_name("away")).unwrap();
    let output = registry.run(&["registry", "build"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stderr.contains("no items"), "{output}");
    assert_eq!(read_tree(&registry, "dist"), before);
}

/// Two runs at once do not get in each other's way.
#[test]
fn two_runs_at_once_end_as_one() {
    let registry = sample_registry();
    let mut runs: Vec<_> = (0..4)
        .map(|_| registry.prepare_command("", &["registry", "build"]).spawn().unwrap())
        .collect();
    for run in &mut runs {
        assert!(run.wait().unwrap().success());
    }
    assert!(build_registry(&registry, &[]).stderr.contains("already up to date"));
}

/// An unreadable file may be an item, so nothing is taken for stale.
#[cfg(unix)]
#[test]
fn an_item_that_cannot_be_read_loses_nothing() {
    let registry = sample_registry();
    build_registry(&registry, &[]);
    let before = read_tree(&registry, "dist");
    let rule = registry.path().join("content/rules/api/RULE.md");
    fs::remove_file(&rule).unwrap();
    brief_testkit::make_fifo(&rule);
    let output = registry.run(&["registry", "build"]);
    assert_eq!(read_tree(&registry, "dist"), before, "{output}");
    assert_eq!(output.code, Some(1), "{output}");
}
