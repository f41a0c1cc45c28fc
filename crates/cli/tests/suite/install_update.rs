//! `brief update`, `brief update --check` and `brief remove`: from one state to the next, on purpose.

use std::fs;

use brief_testkit::Sandbox;

use crate::install::{Remote, consumer, files, guidance, item, names, run, summary};

fn installed(args: &[&str]) -> (Sandbox, Remote) {
    let project = consumer();
    let remote = guidance(&project);
    run(&project, &[&["add", "acme/guidance"], args].concat());
    (project, remote)
}

/// The plan says from where to where, and which items that changes.
#[test]
fn an_update_shows_what_it_changes() {
    let (project, remote) = installed(&["money", "review"]);
    let before = remote.git(&["rev-parse", "HEAD"]);
    let after = remote.commit(&[("rules/money/RULE.md", &item("money", "Newer."))]);
    let moved = format!("guidance: {} -> {}\n  ~ rule/money\n", &before[..12], &after[..12]);

    let outdated = project.run(&["update", "--check"]);
    assert_eq!(outdated.code, Some(1));
    let line =
        format!("guidance: {} -> {}; run `brief update guidance`\n", &before[..12], &after[..12]);
    assert_eq!(outdated.stdout, line);
    let files_before = files(&project.path());
    let plan = run(&project, &["update", "--dry-run"]);
    assert!(plan.stderr.contains(&moved), "{plan}");
    assert!(plan.stdout.contains(".claude/rules/money.md: out of date\n"), "{plan}");
    let diff = run(&project, &["update", "--diff"]);
    assert!(diff.stdout.contains("\n-Prices are integers.\n+Newer.\n"), "{diff}");
    assert_eq!(files(&project.path()), files_before);

    let output = run(&project, &["update"]);
    assert!(output.stderr.contains(&moved), "{output}");
    assert_eq!(summary(&output), "2 items: 2 updated, 3 unchanged");
    assert!(project.read("brief.lock").contains(&after));
    let done = run(&project, &["update", "--check"]);
    assert!(done.stderr.ends_with("all sources are up to date\n"), "{done}");
}

/// N13: an update of a source at a version changes nothing, says which one there is, and the command that it names works.
#[test]
fn an_update_names_a_newer_version() {
    let project = consumer();
    let remote = guidance(&project);
    run(&project, &["add", "acme/guidance@v1.0.0", "money"]);
    let none = run(&project, &["update"]);
    assert!(!none.stderr.contains("pinned"), "{none}");
    remote.commit(&[("rules/money/RULE.md", &item("money", "Newer."))]);
    remote.git(&["tag", "v1.1.0"]);
    for args in [&["update"][..], &["update", "guidance"], &["update", "money", "--diff"]] {
        let output = run(&project, args);
        let words = "guidance is pinned at v1.0.0; v1.1.0 is available\nhint: run `brief update guidance@v1.1.0` to move to it\n";
        assert!(output.stderr.ends_with(words), "{output}");
    }
    let output = run(&project, &["update", "guidance@v1.1.0"]);
    assert!(!output.stderr.contains("pinned"), "{output}");
    assert!(project.read(".claude/rules/money.md").contains("Newer."));
}

/// An update adds no item that was not asked for; of a source that is wanted as a whole, it does.
#[test]
fn an_update_adds_only_what_is_wanted() {
    for (args, is_added) in [(&["money"][..], false), (&[], true)] {
        let (project, remote) = installed(args);
        remote.commit(&[("skills/fresh/SKILL.md", &item("fresh", "New."))]);
        run(&project, &["update"]);
        assert_eq!(project.path().join(".claude/skills/fresh/SKILL.md").is_file(), is_added);
    }
}

/// N16: an audience or a list of clients that gets smaller takes away what was written for the others,
/// and the directories that are empty then; nothing else.
#[test]
fn what_is_for_fewer_clients_is_removed_for_the_others() {
    let (project, remote) = installed(&["money", "review"]);
    project.write(".github/instructions/own.instructions.md", "mine\n");
    let narrow =
        item("money", "Integers.").replace("schema: 1\n", "schema: 1\naudience: [claude]\n");
    remote.commit(&[("rules/money/RULE.md", &narrow)]);
    let output = run(&project, &["update"]);
    assert_eq!(summary(&output), "2 items: 1 updated, 2 unchanged, 2 removed");
    let left = names(&project);
    assert!(!left.iter().any(|name| name.starts_with(".agents/rules")), "{left:?}");
    assert!(!left.contains(&"opencode.json".to_owned()), "{left:?}");
    assert!(left.contains(&".github/instructions/own.instructions.md".to_owned()));
    assert_eq!(
        run(&project, &["doctor"]).code,
        Some(0),
        "what an audience excludes is not missing"
    );

    let manifest = project.read("brief.toml");
    project.write("brief.toml", format!("[install]\nclients = [\"copilot\"]\n\n{manifest}"));
    run(&project, &["sync"]);
    assert_eq!(
        names(&project),
        [
            ".github/instructions/own.instructions.md",
            ".github/skills/review/SKILL.md",
            ".github/skills/review/references/list.md",
            "brief.lock",
            "brief.toml"
        ]
    );
}

/// A source, an item of it, or a bundle of it: the source moves, and no other.
#[test]
fn one_source_is_updated_alone() {
    for name in ["guidance", "money", "rule/money", "base", "bundle/base"] {
        let (project, remote) = installed(&["base"]);
        let other = Remote::new(&project, "gitlab/team/other");
        other.commit(&[("rules/other/RULE.md", &item("other", "One."))]);
        run(&project, &["add", "gitlab:team/other"]);
        remote.commit(&[("rules/money/RULE.md", &item("money", "Newer."))]);
        other.commit(&[("rules/other/RULE.md", &item("other", "Two."))]);
        run(&project, &["update", name, "guidance"]);
        assert!(project.read(".claude/rules/money.md").contains("Newer."), "{name}");
        assert!(project.read(".claude/rules/other.md").contains("One."), "{name}");
    }
}

/// A version is moved by name: brief.toml says the new one, and what is wanted stays the same.
#[test]
fn a_version_is_moved_on() {
    let (project, remote) = installed(&[]);
    run(&project, &["remove", "guidance"]);
    run(&project, &["add", "acme/guidance@v1.0.0", "money"]);
    remote.commit(&[("rules/money/RULE.md", &item("money", "Newer."))]);
    remote.git(&["tag", "v1.1.0"]);
    remote.git(&["tag", "v2.0.0-rc.1"]);
    let outdated = project.run(&["update", "--check"]);
    assert_eq!(
        outdated.stdout,
        "guidance (v1.0.0): v1.1.0 is available; run `brief update guidance@v1.1.0`\n"
    );
    let plain = run(&project, &["update"]);
    assert!(plain.stderr.contains("already up to date"), "a tag stays: {plain}");
    run(&project, &["update", "guidance@v1.1.0"]);
    assert_eq!(
        project.read("brief.toml"),
        "[sources.guidance]\ngit = \"acme/guidance\"\nref = \"v1.1.0\"\nrules = [\"money\"]\n"
    );
    assert!(project.read(".claude/rules/money.md").contains("Newer."));
    assert_eq!(project.run(&["update", "--check"]).code, Some(0));
}

/// Names that mean nothing, and a server that does not answer, change nothing.
#[test]
fn an_update_that_cannot_be_done_changes_nothing() {
    let (project, remote) = installed(&["money"]);
    crate::install::write_all(
        &project.outside_directory().join("plain"),
        &[("rules/x/RULE.md", &item("x", "X."))],
    );
    run(&project, &["add", "../outside/plain"]);
    let before = files(&project.path());
    for (args, words) in [
        (&["update", "mony"][..], "did you mean `money`?"),
        (&["update", "gidance@v1.0.0"], "did you mean `guidance@v1.0.0`?"),
        (&["update", "money@v1.0.0"], "no source named `money`"),
        (&["update", "guidance@"], "missing version after `guidance@`"),
        (&["update", "guidance@v9"], "no branch, tag or commit `v9`"),
        (&["update", "plain@v1"], "is a directory and has no versions"),
    ] {
        let output = project.run(args);
        assert!(matches!(output.code, Some(1 | 2)), "{args:?}: {output}");
        assert!(output.stderr.contains(words), "{args:?}: {output}");
        assert_eq!(files(&project.path()), before, "{args:?}");
    }
    remote.vanish();
    for command in [&["update"][..], &["update", "--check"]] {
        let output = project.run(command);
        assert_eq!(output.code, Some(1), "{command:?}: {output}");
        assert!(output.stderr.contains("git cannot read"), "{command:?}: {output}");
        assert_eq!(files(&project.path()), before, "{command:?}");
    }
}

/// Without the network an update never goes back to what an earlier run of this machine had found.
#[test]
fn an_update_never_goes_back() {
    let (project, remote) = installed(&["money"]);
    // A colleague has locked a newer commit, which this machine fetches by its name.
    let newer = remote.commit(&[("rules/money/RULE.md", &item("money", "Newer."))]);
    let lock = project.read("brief.lock");
    let old = lock.lines().find(|line| line.starts_with("commit")).unwrap();
    let head = lock.split("[[item]]").next().unwrap();
    project.write("brief.lock", head.replace(old, &format!("commit = \"{newer}\"")));
    run(&project, &["sync"]);
    let before = files(&project.path());
    remote.vanish();
    assert_eq!(project.run(&["update"]).code, Some(1));
    assert_eq!(files(&project.path()), before);
}

/// An item, a bundle, a source: its files go, with the directories that are empty then.
#[test]
fn what_is_removed_leaves_nothing_behind() {
    for (wanted, name, manifest) in [
        (&["money", "review"][..], "money", "skills = [\"review\"]\n"),
        (&["money", "review"], "rule/money", "skills = [\"review\"]\n"),
        (&["base", "review"], "base", "skills = [\"review\"]\n"),
        (&["base", "review"], "bundle/base", "skills = [\"review\"]\n"),
        (&[], "money", "all = true\nexclude = [\"rule/money\"]\n"),
        (
            &["base", "review"],
            "money",
            "bundles = [\"base\"]\nskills = [\"review\"]\nexclude = [\"rule/money\"]\n",
        ),
    ] {
        let (project, _) = installed(wanted);
        let output = run(&project, &["remove", name]);
        assert!(output.stderr.contains("  - rule/money\n"), "{wanted:?} {name}: {output}");
        let expected = format!("[sources.guidance]\ngit = \"acme/guidance\"\n{manifest}");
        assert_eq!(project.read("brief.toml"), expected, "{wanted:?} {name}");
        let left = names(&project);
        assert!(!left.iter().any(|file| file.contains("money")), "{left:?}");
        assert!(!project.path().join(".claude/rules").exists());
        assert!(!project.read("brief.lock").contains("money.md"), "no stale entry in the lock");
        run(&project, &["sync", "--frozen"]);
        run(&project, &["update"]);
        assert!(!project.path().join(".claude/rules").exists(), "{wanted:?} {name}");
        // And it can be had again.
        run(&project, &["add", "acme/guidance", "money"]);
        assert!(project.path().join(".claude/rules/money.md").is_file(), "{wanted:?} {name}");
    }
}

/// With the last thing that was wanted, brief.toml and brief.lock go, too, if nothing else is in them.
#[test]
fn the_last_removal_leaves_an_empty_project() {
    for name in ["money", "guidance", "source/guidance"] {
        let (project, remote) = installed(&["money"]);
        remote.vanish();
        run(&project, &["remove", name]);
        assert_eq!(names(&project), [""; 0], "{name}");
    }
    let (project, _) = installed(&["money"]);
    let manifest = project.read("brief.toml");
    project
        .write("brief.toml", format!("# Ours.\n[install]\nclients = [\"claude\"]\n\n{manifest}"));
    run(&project, &["remove", "guidance"]);
    assert_eq!(names(&project), ["brief.toml"]);
    assert_eq!(project.read("brief.toml"), "# Ours.\n[install]\nclients = [\"claude\"]\n");
    run(&project, &["sync", "--frozen"]);
}

/// An item that is not installed cannot be removed; an ambiguous name is asked about.
#[test]
fn a_removal_that_means_nothing_is_refused() {
    let (project, remote) = installed(&["money"]);
    remote.commit(&[("skills/money/SKILL.md", &item("money", "A skill."))]);
    run(&project, &["update"]);
    run(&project, &["add", "acme/guidance", "skill/money"]);
    let before = files(&project.path());
    for (name, words) in [
        ("mony", "did you mean `money`?"),
        ("nothing-like-it", "run `brief list` to see what is installed"),
        ("money", "`money` is ambiguous: rule/money or skill/money"),
    ] {
        let output = project.run(&["remove", name]);
        assert_eq!(output.code, Some(1), "{output}");
        assert!(output.stderr.contains(words), "{output}");
    }
    let both = project.run(&["remove", "rule/money", "mony"]);
    assert_eq!(both.code, Some(1), "one wrong name, and nothing is done: {both}");
    let dry = run(&project, &["remove", "guidance", "--dry-run"]);
    assert!(dry.stdout.contains("brief.lock: no longer needed\n"), "{dry}");
    assert_eq!(files(&project.path()), before);
}

/// `clean` takes away what we wrote and nothing else; the next `sync` brings it back.
#[test]
fn clean_removes_exactly_what_was_written() {
    let project = consumer()
        .with_file("CLAUDE.md", "# Mine\n")
        .with_file("AGENTS.md", "# Ours\n")
        .with_file(".claude/settings.json", "{}\n")
        .with_file("opencode.json", "{\n  // mine\n  \"theme\": \"dark\"\n}\n");
    let before = files(&project.path());
    guidance(&project);
    run(&project, &["add", "acme/guidance"]);
    let installed = files(&project.path());
    let dry = run(&project, &["remove", "--all", "--dry-run"]);
    assert!(dry.stdout.contains(".claude/rules/money.md: no longer needed\n"), "{dry}");
    assert_eq!(files(&project.path()), installed);
    let output = run(&project, &["remove", "--all"]);
    assert!(summary(&output).contains("2 updated, 6 removed"), "{output}");
    let mut left = files(&project.path());
    left.retain(|name, _| !["brief.toml", "brief.lock"].contains(&name.as_str()));
    assert_eq!(left, before);
    run(&project, &["sync", "--frozen"]);
    assert_eq!(files(&project.path()), installed);

    run(&project, &["remove", "--all"]);
    fs::remove_file(project.path().join("brief.lock")).unwrap();
    let nothing = run(&project, &["remove", "--all", "--dry-run"]);
    assert_eq!(nothing.stdout, "", "nothing is left to be done: {nothing}");
}

/// U66: a user who looks at differences is told that nothing was written.
#[test]
fn a_diff_says_that_nothing_was_written() {
    let (project, remote) = installed(&["money"]);
    remote.commit(&[("rules/money/RULE.md", &item("money", "Newer."))]);
    let before = files(&project.path());
    for args in [&["update", "--diff"][..], &["sync", "--diff"]] {
        let output = run(&project, args);
        let told = "nothing written; run without `--diff` to apply\n";
        assert!(output.stderr.ends_with(told), "{output}");
        assert_eq!(files(&project.path()), before);
    }
}
