//! `brief add`: where from, what, for whom, and what brief.toml and brief.lock say then.

use std::fs;

use crate::install::{Remote, consumer, files, git, guidance, item, names, run, summary};

/// One command: the files of every client, what is wanted, what was resolved, and a summary.
#[test]
fn a_whole_registry_is_added() {
    let project = consumer();
    let remote = guidance(&project);
    let commit = remote.git(&["rev-parse", "HEAD"]);
    let output = run(&project, &["add", "acme/guidance"]);
    assert!(output.stderr.contains(&format!("guidance: {}\n", &commit[..12])), "{output}");
    assert!(
        output.stderr.contains("  + rule/money\n  + skill/review\n  + agent/judge\n"),
        "{output}"
    );
    assert_eq!(summary(&output), "3 items: 8 created");
    assert_eq!(
        names(&project),
        [
            ".agents/rules/money/RULE.md",
            ".claude/agents/judge.md",
            ".claude/rules/money.md",
            ".claude/skills/review/SKILL.md",
            ".claude/skills/review/references/list.md",
            ".github/agents/judge.agent.md",
            ".opencode/agents/judge.md",
            "brief.lock",
            "brief.toml",
            "opencode.json",
        ],
        "no bundle, no item in its own form (I02, I09), and supporting files with the skill"
    );
    assert_eq!(
        project.read("brief.toml"),
        "[sources.guidance]\ngit = \"acme/guidance\"\nall = true\n"
    );
    let lock = project.read("brief.lock");
    assert!(lock.contains(&format!("commit = \"{commit}\"")), "{lock}");
    let status = git(&project.path(), &["status", "--short"]);
    assert!(!status.contains(".brief/"), "our own directory is nothing for git: {status}");
}

/// The same again is no change, also when the source has moved on since.
#[test]
fn adding_twice_changes_nothing() {
    let project = consumer();
    let remote = guidance(&project);
    run(&project, &["add", "acme/guidance"]);
    let before = files(&project.path());
    remote.commit(&[("rules/money/RULE.md", &item("money", "Another text."))]);
    let output = run(&project, &["add", "acme/guidance"]);
    assert_eq!(summary(&output), "3 items: already up to date");
    assert_eq!(files(&project.path()), before);
}

/// Another item of a source comes from the commit that is locked: the items that are there do not move.
#[test]
fn another_item_leaves_the_source_where_it_is() {
    let project = consumer();
    let remote = guidance(&project);
    run(&project, &["add", "acme/guidance", "money"]);
    let lock = project.read("brief.lock");
    remote.commit(&[
        ("rules/money/RULE.md", &item("money", "Another text.")),
        ("skills/fresh/SKILL.md", &item("fresh", "New.")),
    ]);
    run(&project, &["add", "acme/guidance", "review"]);
    let line = |text: &str| text.lines().find(|line| line.starts_with("commit")).map(str::to_owned);
    assert_eq!(line(&project.read("brief.lock")), line(&lock));
    assert!(project.read(".claude/rules/money.md").contains("Prices are integers."));

    let newer = project.run(&["add", "acme/guidance", "fresh"]);
    assert_eq!(newer.code, Some(1), "{newer}");
    assert!(
        newer
            .stderr
            .contains("it may be newer than the locked version: run `brief update guidance`"),
        "{newer}"
    );
    run(&project, &["update", "guidance"]);
    run(&project, &["add", "acme/guidance", "fresh"]);
}

/// Host shorthands, addresses with and without a directory, paths: each is written down so that it can
/// be found again, relative to the project where it lies beside it.
#[test]
fn every_spelling_of_a_source_is_taken() {
    for (typed, written) in [
        ("acme/guidance", "git = \"acme/guidance\"\n"),
        ("github:acme/guidance", "git = \"acme/guidance\"\n"),
        ("https://github.com/acme/guidance.git", "git = \"acme/guidance\"\n"),
        ("acme/guidance@v1.0.0", "git = \"acme/guidance\"\nref = \"v1.0.0\"\n"),
        ("acme/guidance@main", "git = \"acme/guidance\"\nref = \"main\"\n"),
        ("acme/guidance:rules", "git = \"acme/guidance\"\nsubpath = \"rules\"\n"),
        (
            "acme/guidance@v1.0.0:rules",
            "git = \"acme/guidance\"\nref = \"v1.0.0\"\nsubpath = \"rules\"\n",
        ),
        ("gitlab:group/sub/repo", "git = \"gitlab:group/sub/repo\"\n"),
        ("https://gitlab.com/group/sub/repo.git", "git = \"gitlab:group/sub/repo\"\n"),
        ("git@git.example.com:team/repo.git", "git = \"git@git.example.com:team/repo.git\"\n"),
        ("file://$OUT/github/acme/guidance.git", "git = \"../outside/github/acme/guidance.git\"\n"),
        ("../outside/plain", "directory = \"../outside/plain\"\n"),
        ("$OUT/plain", "directory = \"$OUT/plain\"\n"),
    ] {
        let project = consumer();
        guidance(&project);
        let money = item("money", "Integers.");
        let files = [("rules/money/RULE.md", money.as_str())];
        Remote::new(&project, "gitlab/group/sub/repo").commit(&files);
        Remote::new(&project, "example/team/repo").commit(&files);
        crate::install::write_all(&project.outside_directory().join("plain"), &files);
        let outside = project.outside_directory().to_string_lossy().into_owned();
        let typed = typed.replace("$OUT", &outside);
        run(&project, &["add", &typed, "money"]);
        let manifest = project.read("brief.toml");
        assert!(manifest.contains(&written.replace("$OUT", &outside)), "{typed}: {manifest}");
        assert!(project.path().join(".claude/rules/money.md").is_file(), "{typed}");
        // What was written down is understood.
        let again = run(&project, &["sync", "--frozen"]);
        assert!(summary(&again).starts_with("1 item: already up to date"), "{typed}: {again}");
    }
}

/// A full commit is a version like a tag.
#[test]
fn a_commit_is_a_version() {
    let project = consumer();
    let remote = guidance(&project);
    let first = remote.git(&["rev-parse", "HEAD"]);
    remote.commit(&[("rules/money/RULE.md", &item("money", "Newer."))]);
    run(&project, &["add", &format!("acme/guidance@{first}"), "money"]);
    assert!(project.read(".claude/rules/money.md").contains("Prices are integers."));
    run(&project, &["update"]);
    assert!(project.read(".claude/rules/money.md").contains("Prices are integers."));
}

/// Items by name, by kind and name, by `--kind`, and a bundle.
#[test]
fn what_is_named_is_what_is_added() {
    for (args, written) in [
        (&["money"][..], "rules = [\"money\"]\n"),
        (&["rule/money", "agent/judge"], "rules = [\"money\"]\nagents = [\"judge\"]\n"),
        (&["skills/review"], "skills = [\"review\"]\n"),
        (&["base"], "bundles = [\"base\"]\n"),
        (&["bundle/base"], "bundles = [\"base\"]\n"),
        (&["--kind", "skill"], "skills = [\"review\"]\n"),
        (&["--kind", "bundle"], "bundles = [\"base\"]\n"),
        (&["--kind", "rule", "money"], "rules = [\"money\"]\n"),
    ] {
        let project = consumer();
        guidance(&project);
        run(&project, &[&["add", "acme/guidance"], args].concat());
        let manifest = project.read("brief.toml");
        let expected = format!("[sources.guidance]\ngit = \"acme/guidance\"\n{written}");
        assert_eq!(manifest, expected, "{args:?}");
    }
}

/// A source or item that is missing is named, with the next best or the place to look it up, and nothing
/// is written.
#[test]
fn what_does_not_exist_is_refused() {
    let project = consumer();
    let remote = guidance(&project);
    let twice = item("money", "A skill of the same name.");
    remote.commit(&[("skills/money/SKILL.md", &twice)]);
    for (args, words) in [
        (&["acme/guidance", "mony"][..], "did you mean `money`?"),
        (&["acme/guidance", "nothing-like-it"], "run `brief list acme/guidance` to list"),
        (&["acme/guidance", "agent/money"], "did you mean `rule/money` or `skill/money`?"),
        (&["acme/guidance", "money"], "write rule/money or skill/money"),
        (&["acme/guidance", "rule/money", "--kind", "skill"], "`rule/money` is not a skill"),
        (&["acme/guidance@v9"], "no branch, tag or commit `v9`"),
        (&["acme/guidance:nowhere"], "no directory `nowhere` in"),
        (&["acme/guidance:skills/review/references"], "no items found"),
        (&["acme/none"], "git cannot read `https://github.com/acme/none.git`"),
        (&["./nowhere"], "cannot open the directory `$PROJECT/nowhere`: does not exist"),
        (&["nowhere"], "write `./nowhere` for a directory, or `owner/nowhere`"),
        (&["acme/guidance", "--client", "clade"], "did you mean `claude`?"),
        (&["acme/guidance", "--name", "Bad_Name"], "`--name`"),
    ] {
        let output = project.run(&[&["add"], args].concat());
        assert!(matches!(output.code, Some(1 | 2)), "{args:?}: {output}");
        assert!(output.stderr.contains(words), "{args:?}: {output}");
        assert_eq!(names(&project), [""; 0], "{args:?}");
    }
}

/// Only the clients that were named get files, of this source.
#[test]
fn a_source_may_be_for_some_clients_only() {
    let project = consumer();
    guidance(&project);
    run(&project, &["add", "acme/guidance", "money", "--client", "claude", "--client", "opencode"]);
    assert!(project.read("brief.toml").contains("clients = [\"claude\", \"opencode\"]\n"));
    assert_eq!(
        names(&project),
        [
            ".agents/rules/money/RULE.md",
            ".claude/rules/money.md",
            "brief.lock",
            "brief.toml",
            "opencode.json"
        ]
    );
    run(&project, &["add", "acme/guidance", "review", "--client", "claude"]);
    let left = names(&project);
    assert!(left.iter().all(|name| !name.starts_with(".agents/")), "{left:?}");
    assert!(!left.contains(&"opencode.json".to_owned()), "what nobody needs goes: {left:?}");
}

/// One repository is one source, however it is spelled; the version that was wanted stays.
#[test]
fn another_spelling_is_the_same_source() {
    let project = consumer();
    guidance(&project);
    run(&project, &["add", "acme/guidance@v1.0.0", "money"]);
    for typed in
        ["https://github.com/acme/guidance/", "github:acme/guidance", "git::acme/guidance@v1.0.0"]
    {
        run(&project, &["add", typed, "review"]);
        assert_eq!(
            project.read("brief.toml"),
            "[sources.guidance]\ngit = \"acme/guidance\"\nref = \"v1.0.0\"\n\
             rules = [\"money\"]\nskills = [\"review\"]\n",
            "{typed}"
        );
    }
    let renamed = project.run(&["add", "acme/guidance", "judge", "--name", "other"]);
    assert_eq!(renamed.code, Some(1));
    assert!(renamed.stderr.contains("already in brief.toml, as `guidance`"), "{renamed}");
}

/// A version that is named moves the source there, and says so in brief.toml.
#[test]
fn another_version_moves_the_source() {
    let project = consumer();
    let remote = guidance(&project);
    run(&project, &["add", "acme/guidance@v1.0.0", "money"]);
    let first = remote.git(&["rev-parse", "HEAD"]);
    let second = remote.commit(&[("rules/money/RULE.md", &item("money", "Newer."))]);
    remote.git(&["tag", "v2.0.0"]);
    let output = run(&project, &["add", "acme/guidance@v2.0.0", "money"]);
    let moved = format!("guidance: {} -> {}\n  ~ rule/money\n", &first[..12], &second[..12]);
    assert!(output.stderr.contains(&moved), "{output}");
    assert!(project.read("brief.toml").contains("ref = \"v2.0.0\"\n"));
    assert!(project.read(".claude/rules/money.md").contains("Newer."));
}

/// Two sources of one name get names of their own.
#[test]
fn names_of_sources_do_not_meet() {
    let project = consumer();
    guidance(&project);
    let remote = Remote::new(&project, "gitlab/team/guidance");
    remote.commit(&[("rules/other/RULE.md", &item("other", "Other."))]);
    run(&project, &["add", "acme/guidance", "money"]);
    run(&project, &["add", "gitlab:team/guidance"]);
    let manifest = project.read("brief.toml");
    assert!(manifest.contains("[sources.team-guidance]\n"), "{manifest}");
    let taken = project.run(&["add", "../outside", "--name", "guidance"]);
    assert!(
        taken.stderr.contains("brief.toml already has a different source `guidance`"),
        "{taken}"
    );
}

/// The user's text in brief.toml stays, comments and order too.
#[test]
fn brief_toml_keeps_what_the_user_wrote() {
    let project = consumer();
    guidance(&project);
    let before = "# Ours.\n[install]\nclients = ['claude']   # nobody uses the others\n\n\
        # The rules of the house.\n[sources.guidance]\ngit = \"acme/guidance\" # moved in May\n\
        rules = [\n  # never without it\n  \"money\",\n]\n";
    project.write("brief.toml", before);
    run(&project, &["sync"]);
    assert_eq!(project.read("brief.toml"), before);
    run(&project, &["add", "acme/guidance", "review"]);
    assert_eq!(project.read("brief.toml"), format!("{before}skills = [\"review\"]\n"));
    run(&project, &["remove", "review"]);
    assert_eq!(project.read("brief.toml"), before);
}

/// In a directory of a repository, the project is the nearest brief.toml, else the top of the
/// repository; the summary says which. Outside of one it is the directory, never the home.
#[test]
fn the_project_is_found_from_below() {
    let project = consumer().with_dir("src/deep").with_dir("app/src");
    guidance(&project);
    let output = project.run_in("src/deep", &["add", "acme/guidance", "money"], "");
    assert!(summary(&output).starts_with("1 item in $PROJECT: 3 created"), "{output}");
    assert!(project.path().join("brief.toml").is_file());
    project.write("app/brief.toml", "");
    let output = project.run_in("app/src", &["add", "acme/guidance", "judge"], "");
    assert!(summary(&output).starts_with("1 item in $PROJECT/app: 3 created"), "{output}");
    assert!(project.read("app/brief.toml").contains("judge"));

    fs::remove_dir_all(project.path().join(".git")).unwrap();
    let output = project.run_in("src/deep", &["list"], "");
    assert!(output.stderr.contains("nothing installed in $PROJECT/src/deep"), "{output}");
    assert_eq!(project.run_in("src/deep", &["update"], "").code, Some(1));
    assert!(!project.home().join(".claude").exists());
}

/// A dry run tells what would be, and writes nothing.
#[test]
fn a_dry_run_writes_nothing() {
    let project = consumer();
    guidance(&project);
    let output = run(&project, &["add", "acme/guidance", "money", "--dry-run"]);
    assert!(output.stdout.contains(".claude/rules/money.md: missing\n"), "{output}");
    assert!(output.stdout.contains("brief.toml: missing\nbrief.lock: missing\n"), "{output}");
    assert_eq!(summary(&output), "1 item: 3 to create");
    assert_eq!(names(&project), [""; 0]);
    assert!(!project.path().join(".brief").exists());
}

/// Offline, what was fetched before is enough; what was not is refused with the way out.
#[test]
fn nothing_is_fetched_offline() {
    let project = consumer();
    let remote = guidance(&project);
    let output = project.run(&["add", "acme/guidance", "money", "--offline"]);
    assert_eq!(output.code, Some(1));
    assert!(output.stderr.contains("is not in the cache"), "{output}");
    run(&project, &["add", "acme/guidance", "money"]);
    remote.vanish();
    run(&project, &["add", "acme/guidance", "review", "--offline"]);
    run(&project, &["sync", "--offline"]);
    run(&project, &["remove", "review", "--offline"]);
}

/// A script beside a skill can be started where the author's could, and only there.
#[test]
fn scripts_can_be_started() {
    use std::os::unix::fs::PermissionsExt;
    let project = consumer();
    let remote = guidance(&project);
    remote.commit(&[("skills/review/run.sh", "#!/bin/sh\n"), ("skills/review/data.sh", "x\n")]);
    remote.git(&["update-index", "--chmod=+x", "skills/review/run.sh"]);
    remote.git(&["commit", "--quiet", "-m", "executable"]);
    run(&project, &["add", "acme/guidance", "review", "--client", "claude"]);
    let mode = |name: &str| {
        let path = project.path().join(format!(".claude/skills/review/{name}"));
        fs::metadata(path).unwrap().permissions().mode() & 0o111
    };
    assert_ne!(mode("run.sh"), 0);
    assert_eq!(mode("data.sh"), 0);
    let lock = project.read("brief.lock");
    let is_program = |name: &str| {
        let line = lock.lines().find(|line| line.contains(name)).unwrap();
        line.ends_with(" program\",")
    };
    assert!(is_program("review/run.sh") && !is_program("review/data.sh"), "{lock}");
    // Taking the right away is a difference.
    let path = project.path().join(".claude/skills/review/run.sh");
    fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(project.run(&["sync", "--check"]).code, Some(1));
    run(&project, &["sync"]);
    assert_ne!(mode("run.sh"), 0);
}

/// Text for one client, in a file or a block of its own, reaches that client only.
#[test]
fn each_client_gets_its_own_words() {
    let project = consumer();
    let remote = guidance(&project);
    let text =
        item("money", "For all.\n\n<!-- @client:claude -->\n\nFor one.\n\n<!-- @endclient -->");
    remote.commit(&[
        ("rules/money/RULE.md", &text),
        ("rules/money/RULE.copilot.md", "In other words.\n"),
    ]);
    run(&project, &["add", "acme/guidance", "money"]);
    assert!(project.read(".claude/rules/money.md").contains("For one."));
    assert!(!project.read(".agents/rules/money/RULE.md").contains("For one."));
    let copilot = project.read(".github/instructions/money.instructions.md");
    assert!(copilot.contains("In other words.") && !copilot.contains("For all."), "{copilot}");
    assert!(names(&project).iter().all(|name| !name.contains("RULE.copilot")));
}

/// U64: a source without an item that can be used leaves nothing behind, whatever else is in it.
#[test]
fn a_source_without_items_leaves_nothing() {
    for (files, words) in [
        (&[(".rulesync/rules/overview.md", "# Overview\n")][..], "no items found"),
        (&[(".rulesync/skills/bad/SKILL.md", "---\nname: bad\n---\n")], "no usable items found"),
        (&[(".rulesync/rules/bad/RULE.md", "---\nschema: 9\n---\n")], "no usable items found"),
    ] {
        let mut project = consumer();
        for (name, text) in files {
            project = project.with_file(name, text);
        }
        let before = names(&project);
        let output = project.run(&["add", ".rulesync"]);
        assert_eq!(output.code, Some(1), "{output}");
        assert!(output.stderr.contains(words), "{output}");
        assert_eq!(names(&project), before);
        assert!(!project.path().join(".brief").exists(), "{output}");
    }
}

/// U72: names that are near are suggested, also when what was typed is only a part of one.
#[test]
fn near_names_are_suggested() {
    let project = consumer();
    let remote = guidance(&project);
    remote.commit(&[
        ("skills/release-notes/SKILL.md", &item("release-notes", "R.")),
        ("skills/release-check/SKILL.md", &item("release-check", "R.")),
    ]);
    let output = project.run(&["add", "acme/guidance", "release"]);
    assert_eq!(output.code, Some(1));
    let hint = "did you mean `release-check` or `release-notes`?";
    assert!(output.stderr.contains(hint), "{output}");
}

/// U72: skills in the directories of clients are items, unless the source is a registry of the portable format, where
/// outputs lie there. Those can be had all the same.
#[test]
fn skills_in_places_of_clients_are_told_of() {
    for place in [".claude", ".agents", ".github", ".opencode"] {
        let project = consumer();
        let remote = Remote::new(&project, "github/acme/tools");
        let skill = "---\nname: deploy\ndescription: Use when deploying\n---\n\n# Deploy\n";
        remote.commit(&[(&format!("{place}/skills/deploy/SKILL.md"), skill)]);
        let list = run(&project, &["list", "acme/tools"]);
        assert_eq!(list.stdout, "skill/deploy: Use when deploying\n");
        remote.commit(&[("rules/money/RULE.md", &item("money", "Cents."))]);
        let hint = format!("found 1 skill in `{place}/skills`");
        let list = run(&project, &["list", "acme/tools"]);
        assert_eq!(list.stdout, "rule/money: Use when money matters\n");
        assert!(list.stderr.contains(&hint), "{list}");
        let output = project.run(&["add", "acme/tools", "deploy"]);
        assert_eq!(output.code, Some(1), "{output}");
        assert!(output.stderr.contains(&hint), "{output}");
        assert_eq!(names(&project), [""; 0]);
        // The way out is one that works.
        let typed = format!("acme/tools:{place}/skills");
        assert!(
            output.stderr.contains(&format!("run `brief add {typed} deploy` to add them")),
            "{output}"
        );
        run(&project, &["add", &typed, "deploy"]);
        assert!(project.path().join(".claude/skills/deploy/SKILL.md").is_file());
    }
}
