//! Bundles from outside (§3.7 of the format): everything they need, from every source, or nothing.

use brief_testkit::{Output, Sandbox};

use crate::install::{Remote, bundle, consumer, item, names, run, write_all};

/// The rules of a registry, each with its own text.
fn rules<'n>(names: &[&'n str], registry: &str) -> Vec<(String, String)> {
    let path = |name: &'n str| format!("rules/{name}/RULE.md");
    names.iter().map(|name| (path(name), item(name, &format!("From {registry}.")))).collect()
}

/// Makes a registry of rules and bundles.
fn registry(project: &Sandbox, name: &str, rule_names: &[&str], bundles: &[(&str, String)]) {
    let mut files = rules(rule_names, name);
    files.extend(bundles.iter().map(|(name, text)| (format!("{name}.bundle.md"), text.clone())));
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    Remote::new(project, &format!("github/acme/{name}")).commit(&files);
}

/// The rules that are installed for Claude Code.
fn installed(project: &Sandbox) -> Vec<String> {
    let rule = |name: &String| Some(name.strip_prefix(".claude/rules/")?.to_owned());
    names(project).iter().filter_map(rule).collect()
}

fn assert_refused(project: &Sandbox, output: &Output, words: &[&str]) {
    assert_eq!(output.code, Some(1), "{output}");
    for words in words {
        assert!(output.stderr.contains(words), "{words}: {output}");
    }
    assert!(output.stderr.ends_with("nothing was changed\n"), "{output}");
    assert_eq!(names(project), [""; 0], "nothing is installed: {output}");
}

/// N46, N47: bundles are followed all the way; an item that several of them list comes once.
#[test]
fn a_bundle_brings_everything_it_needs() {
    let project = consumer();
    registry(
        &project,
        "guidance",
        &["a", "b", "c", "d", "unused"],
        &[
            (
                "top",
                bundle("top", "1.0.0", &["a"], &["name: left, version: \"^1.0.0\"", "name: right"]),
            ),
            ("left", bundle("left", "1.4.0", &["b"], &["name: base"])),
            ("right", bundle("right", "0.1.0", &["b", "c"], &["name: base"])),
            ("base", bundle("base", "2.0.0", &["d", "a"], &[])),
        ],
    );
    run(&project, &["add", "acme/guidance", "top"]);
    assert_eq!(installed(&project), ["a.md", "b.md", "c.md", "d.md"]);
    let lock = project.read("brief.lock");
    let locked = "bundles = [\n  \"base 2.0.0\",\n  \"left 1.4.0\",\n  \"right 0.1.0\",\n  \"top 1.0.0\",\n]\n";
    assert!(lock.contains(locked), "I09: the lock says which bundles are installed: {lock}");
    let tree = run(&project, &["list", "--tree"]).stdout;
    assert!(tree.contains("  bundle/left 1.4.0\n"), "{tree}");
    assert!(tree.contains("  rule/b (left, right)\n"), "{tree}");
    assert!(names(&project).iter().all(|name| !name.contains("bundle")), "no bundle is copied");
}

/// N44: a bundle may list what another source of the project has, and need a bundle of it.
#[test]
fn a_bundle_finds_items_of_other_sources() {
    let project = consumer();
    registry(
        &project,
        "guidance",
        &["a"],
        &[("top", bundle("top", "1.0.0", &["a", "b"], &["name: base, version: \"^2\""]))],
    );
    registry(
        &project,
        "common",
        &["b", "c", "d"],
        &[("base", bundle("base", "2.1.0", &["c"], &[]))],
    );
    let alone = project.run(&["add", "acme/guidance", "top"]);
    assert_refused(
        &project,
        &alone,
        &["`top`", "`b`", "`base`", "add the source that contains it"],
    );
    run(&project, &["add", "acme/common", "d"]);
    run(&project, &["add", "acme/guidance", "top"]);
    assert_eq!(installed(&project), ["a.md", "b.md", "c.md", "d.md"]);
    assert!(project.read(".claude/rules/b.md").contains("From common."));
    let refused = project.run(&["remove", "common"]);
    assert_eq!(refused.code, Some(1), "the bundle needs it: {refused}");
    assert_eq!(installed(&project), ["a.md", "b.md", "c.md", "d.md"]);
    run(&project, &["remove", "top"]);
    assert_eq!(installed(&project), ["d.md"]);
}

/// N45: an item that a bundle lists and no source has is an error that names bundle, kind and item.
#[test]
fn a_missing_item_of_a_bundle_stops_everything() {
    let project = consumer();
    let missing = bundle("top", "1.0.0", &["a", "gone"], &[]);
    registry(&project, "guidance", &["a"], &[("top", missing)]);
    let output = project.run(&["add", "acme/guidance", "top"]);
    assert_refused(&project, &output, &["`top`", "rule `gone`"]);
}

/// Ranges are kept, circles are refused with their chain, and so is a bundle that does not exist.
#[test]
fn bundles_that_cannot_be_resolved_are_refused() {
    for (bundles, words) in [
        (
            vec![
                ("top", bundle("top", "1.0.0", &["a"], &["name: base, version: \"^9.0.0\""])),
                ("base", bundle("base", "1.0.0", &["a"], &[])),
            ],
            &["`base`", "^9.0.0", "1.0.0"][..],
        ),
        (vec![("top", bundle("top", "1.0.0", &["a"], &["name: none"]))], &["`top`", "`none`"]),
        (
            vec![
                ("top", bundle("top", "1.0.0", &["a"], &["name: other"])),
                ("other", bundle("other", "1.0.0", &["a"], &["name: top"])),
            ],
            &["top -> other -> top"],
        ),
        (vec![("top", bundle("top", "1.0.0", &["a"], &["name: top"]))], &["top -> top"]),
    ] {
        let project = consumer();
        registry(&project, "guidance", &["a"], &bundles);
        let output = project.run(&["add", "acme/guidance", "top"]);
        assert_refused(&project, &output, words);
    }
}

/// N47: one item from two sources is an error that names both; `exclude` settles it.
#[test]
fn an_item_of_two_sources_is_a_conflict() {
    let project = consumer();
    registry(&project, "guidance", &["a", "b"], &[]);
    registry(&project, "common", &["b", "c"], &[("base", bundle("base", "1.0.0", &["b"], &[]))]);
    run(&project, &["add", "acme/guidance"]);
    for args in [&["add", "acme/common"][..], &["add", "acme/common", "base"]] {
        let output = project.run(args);
        assert_eq!(output.code, Some(1), "{output}");
        assert!(output.stderr.contains("two sources contain the rule `b`"), "{output}");
        assert!(output.stderr.contains("`exclude = [\"rule/b\"]`"), "{output}");
        assert!(!project.read("brief.toml").contains("common"), "{output}");
    }
    run(&project, &["remove", "b"]);
    run(&project, &["add", "acme/common"]);
    assert!(project.read(".claude/rules/b.md").contains("From common."));
    assert_eq!(installed(&project), ["a.md", "b.md", "c.md"]);
}

/// An item that is named and broken stops everything; one among all of a source keeps none of the others
/// away, and is reported with its place in the source.
#[test]
fn a_broken_item_is_told_by_its_source() {
    let project = consumer();
    let remote = Remote::new(&project, "github/acme/guidance");
    let good = item("good", "Good.");
    let files =
        [("rules/good/RULE.md", good.as_str()), ("rules/bad/RULE.md", "---\nschema: 9\n---\n")];
    remote.commit(&files);
    let named = project.run(&["add", "acme/guidance", "bad"]);
    assert_refused(&project, &named, &["`acme/guidance`: cannot use the rule `bad`: RULE.md:2: "]);
    let all = project.run(&["add", "acme/guidance"]);
    assert_eq!(all.code, Some(1), "{all}");
    assert!(all.stdout.contains("--> guidance:rules/bad/RULE.md:2:"), "{all}");
    assert!(all.stderr.contains("1 of 2 items: 3 created"), "{all}");
    assert_eq!(installed(&project), ["good.md"]);
}

/// Skills of the open standard, which have no `schema`, are taken as they are.
#[test]
fn a_skill_of_the_open_standard_is_installed() {
    let project = consumer();
    let skill = "---\nname: pdf\ndescription: Use when there is a PDF\nlicense: See LICENSE.txt\n---\n\n# PDF\n\nRead it.\n";
    let place = project.outside_directory().join("skills");
    write_all(&place, &[("skills/pdf/SKILL.md", skill), ("skills/pdf/scripts/read.sh", "echo\n")]);
    run(&project, &["add", "../outside/skills"]);
    assert!(project.read(".claude/skills/pdf/SKILL.md").contains("Read it."));
    assert_eq!(project.read(".claude/skills/pdf/scripts/read.sh"), "echo\n");
}
