//! The sources, states and tables of a fleet.

use std::fs;
use std::path::{Path, PathBuf};

use brief_testkit::Sandbox;
use serde_json::Value;

use crate::install::{Remote, bundle, consumer, git, guidance, item, run, write_all};

/// Makes a repository below `fleet` that has installed from `acme/guidance`.
fn member(project: &Sandbox, name: &str, address: &str) -> PathBuf {
    let path = project.path().join("fleet").join(name);
    fs::create_dir_all(&path).unwrap();
    let at = path.to_str().unwrap();
    git(&path, &["init", "--quiet", "--initial-branch=main"]);
    run(project, &["-C", at, "add", address, "--client", "claude"]);
    commit(&path);
    path
}

fn commit(path: &Path) {
    git(path, &["add", "--all"]);
    git(path, &["commit", "--quiet", "--allow-empty", "-m", "message"]);
}

fn fleet(project: &Sandbox, args: &[&str]) -> Value {
    let args = [&["fleet", "status"][..], args, &["--json"]].concat();
    run(project, &args).json()
}

fn states(answer: &Value, path: &str) -> Vec<String> {
    let all = answer["repositories"].as_array().unwrap();
    let one = all.iter().find(|one| one["path"] == path);
    let one = one.unwrap_or_else(|| panic!("{path}: {answer:#}"));
    let states = one["states"].as_array().unwrap().iter();
    states.map(|state| state.as_str().unwrap().to_owned()).collect()
}

/// N15: one problem of many repositories is one warning, with all of their names.
#[test]
fn one_problem_of_many_is_one_warning() {
    let project = consumer();
    guidance(&project);
    let names: Vec<String> = (1..=8).map(|number| format!("svc-{number}")).collect();
    for name in &names {
        let path = member(&project, name, "acme/guidance");
        fs::write(path.join("brief.lock"), "version = 99\n").unwrap();
        commit(&path);
    }
    let warnings = |count: usize| {
        let paths: Vec<String> =
            names[..count].iter().map(|name| format!("fleet/{name}")).collect();
        let args: Vec<&str> =
            ["fleet", "status"].into_iter().chain(paths.iter().map(String::as_str)).collect();
        let output = project.run(&args);
        let lines = output.stderr.lines().filter(|line| line.starts_with("warning"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let all = warnings(8);
    assert_eq!(all.len(), 1, "{all:?}");
    assert!(names.iter().all(|name| all[0].contains(name.as_str())), "{all:?}");
    assert_eq!(warnings(2).len(), 2);
}

/// N11: a repository at a version is behind when there is a newer one: with `--ask` by the tags of the source, without it by
/// what others want. Asking never knows less.
#[test]
fn a_repository_at_a_version_is_behind_a_newer_one() {
    let project = consumer();
    let remote = guidance(&project);
    for name in ["one", "two"] {
        member(&project, name, "acme/guidance@v1.0.0");
    }
    let behind = |args: &[&str]| {
        let answer = fleet(&project, &[&["fleet"], args].concat());
        let names = ["fleet/one", "fleet/two"].into_iter();
        names.filter(|name| states(&answer, name).contains(&"behind".to_owned())).count()
    };
    assert_eq!((behind(&[]), behind(&["--ask"])), (0, 0));
    remote.commit(&[("rules/money/RULE.md", &item("money", "Newer."))]);
    remote.git(&["tag", "v1.1.0"]);
    assert_eq!((behind(&[]), behind(&["--ask"])), (0, 2));
    let two = project.path().join("fleet/two");
    run(&project, &["-C", two.to_str().unwrap(), "update", "guidance@v1.1.0"]);
    commit(&two);
    assert_eq!((behind(&[]), behind(&["--ask"])), (1, 1));
    // The names are what was asked for.
    for number in 0..8 {
        member(&project, &format!("more-{number}"), "acme/guidance@v1.0.0");
    }
    let output = run(&project, &["fleet", "status", "fleet", "--only", "behind"]);
    assert!(
        output.stdout.contains("fleet/more-7, fleet/one") && !output.stdout.contains('…'),
        "{output}"
    );
}

/// A list holds paths and addresses; an address is fetched without its files, and one that cannot be reached is a row.
#[test]
fn a_list_takes_paths_and_addresses() {
    let project = consumer();
    guidance(&project);
    let one = member(&project, "one", "acme/guidance");
    let shop = Remote::new(&project, "github/acme/shop");
    fs::remove_dir_all(&shop.path).unwrap();
    git(&one, &["clone", "--quiet", "--bare", ".", shop.path.to_str().unwrap()]);
    project.write(
        "list.txt",
        "# ours\nfleet/one\nhttps://github.com/acme/shop\n\nhttps://user:secret@github.com/acme/gone\n\
         ftp://example.com/x\noci://registry.example/acme/guidance\nhttps://github.com/acme/shop?ref=missing\n",
    );
    let answer = fleet(&project, &["list.txt"]);
    let all = answer["repositories"].as_array().unwrap();
    assert_eq!(all.len(), 6, "{answer:#}");
    let by = |path: &str| {
        let found = all.iter().find(|one| one["path"].as_str().unwrap().contains(path));
        found.unwrap_or_else(|| panic!("{path}: {answer:#}"))
    };
    for path in ["fleet/one", "https://github.com/acme/shop"] {
        let one = all.iter().find(|one| one["path"] == path).unwrap();
        assert_eq!(one["items"].as_array().unwrap().len(), 3, "{one:#}");
        assert_eq!(one["problem"], Value::Null);
        assert_eq!(one["commit"], git(&project.path().join("fleet/one"), &["rev-parse", "HEAD"]));
    }
    for (path, reason) in [
        ("acme/gone", "gone"),
        ("ftp://", "not supported"),
        ("oci://", "not a git repository"),
        ("ref=missing", "missing"),
    ] {
        let one = by(path);
        assert!(one["problem"].as_str().unwrap().contains(reason), "{one:#}");
        assert_eq!(one["states"][0], "unreadable");
    }
    assert!(!answer.to_string().contains("secret"), "{answer:#}");
    // Nothing was checked out.
    let cache = project.home().join(".cache/brief/git");
    let shop = fs::read_dir(&cache).unwrap().map(|entry| entry.unwrap().path());
    let shop = shop.filter(|path| path.to_str().unwrap().contains("acme-shop"));
    for path in shop {
        assert_eq!(fs::read_dir(path.join("trees")).unwrap().count(), 0, "{path:?}");
    }
    // An address on the command line, a branch, and one that cannot be read.
    let answer = fleet(&project, &["https://github.com/acme/shop", "--rev", "main"]);
    assert_eq!(answer["repositories"][0]["items"].as_array().unwrap().len(), 3);
    let output = project.run(&["fleet", "status", "ftp://example.com/x"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stderr.contains("not supported"), "{output}");
    assert_eq!(project.run(&["fleet", "status", "fleet", "--rev", "a..b"]).code, Some(2));
}

/// Another commit is read when it is asked for: a branch, a tag, and none where there is none.
#[test]
fn a_revision_is_read_instead_of_the_newest_commit() {
    let project = consumer();
    guidance(&project);
    let one = member(&project, "one", "acme/guidance");
    git(&one, &["tag", "-a", "before", "-m", "message"]);
    git(&one, &["branch", "kept"]);
    fs::remove_file(one.join("brief.lock")).unwrap();
    commit(&one);
    let items = |args: &[&str]| {
        let answer = fleet(&project, &[&["fleet"][..], args].concat());
        answer["repositories"][0]["items"].as_array().unwrap().len()
    };
    assert_eq!(items(&[]), 0);
    assert_eq!(items(&["--rev", "kept"]), 3);
    assert_eq!(items(&["--rev", "before"]), 3);
    assert_eq!(items(&["--rev", &git(&one, &["rev-parse", "kept"])]), 3);
    let answer = fleet(&project, &["fleet", "--rev", "nothing"]);
    let problem = answer["repositories"][0]["problem"].as_str().unwrap();
    assert!(problem.contains("unknown revision `nothing`"), "{problem}");
}

/// Each state has its repositories; `--only` shows some, and the exit code is 1 only if it is asked for.
#[test]
fn states_are_told_filtered_and_an_exit_code() {
    let project = consumer();
    let remote = guidance(&project);
    member(&project, "old", "acme/guidance@v1.0.0");
    let newer = crate::install::MONEY.replace("1.0.0", "1.1.0").replace("integers", "cents");
    remote.commit(&[("rules/money/RULE.md", &newer)]);
    let new = member(&project, "new", "acme/guidance");
    let plain = project.path().join("fleet/plain");
    write_all(&plain, &[(".cursor/rules/one.mdc", "---\nalwaysApply: true\n---\nBe brief.\n")]);
    git(&plain, &["init", "--quiet"]);
    commit(&plain);
    let bare = project.path().join("fleet/bare");
    write_all(&bare, &[("README.md", "# Nothing\n")]);
    git(&bare, &["init", "--quiet"]);
    commit(&bare);

    let answer = fleet(&project, &["fleet"]);
    // Another repository has a newer version of `money`.
    assert_eq!(states(&answer, "fleet/old"), ["behind"]);
    assert!(states(&answer, "fleet/new").is_empty(), "{answer:#}");
    assert!(states(&answer, "fleet/plain").is_empty(), "{answer:#}");
    assert_eq!(states(&answer, "fleet/bare"), ["no-guidance"]);
    let old = &answer["repositories"].as_array().unwrap()[2];
    let behind = old["items"].as_array().unwrap().iter();
    let behind: Vec<(&str, &Value)> =
        behind.map(|item| (item["name"].as_str().unwrap(), &item["behind"])).collect();
    assert!(behind.contains(&("money", &Value::Bool(true))), "{behind:?}");
    // Items without a version, of a git source: only the source could tell.
    assert!(behind.contains(&("review", &Value::Null)), "{behind:?}");

    // The tag has not moved, and the branch has; what another repository has is newer, in either way (N11).
    remote.commit(&[("rules/money/RULE.md", &newer.replace("1.1.0", "1.2.0"))]);
    let answer = fleet(&project, &["fleet", "--ask"]);
    assert_eq!(states(&answer, "fleet/old"), ["behind"]);
    assert_eq!(states(&answer, "fleet/new"), ["behind"]);

    fs::write(new.join(".claude/rules/money.md"), "changed\n").unwrap();
    commit(&new);
    let answer = fleet(&project, &["fleet", "--only", "drifted,no-guidance"]);
    let names: Vec<&Value> =
        answer["repositories"].as_array().unwrap().iter().map(|one| &one["path"]).collect();
    assert_eq!(names, ["fleet/bare", "fleet/new"]);
    assert_eq!(answer["read"], 4);

    // The tokens are those of `brief tokens`: the most that a file gets.
    let answer = fleet(&project, &["fleet", "--budget", "1"]);
    let tokens = run(&project, &["-C", "fleet/plain", "tokens", "--json"]).json();
    let most = tokens["directories"][0]["most"].as_u64().unwrap();
    let plain = &answer["repositories"].as_array().unwrap()[3];
    assert_eq!(plain["path"], "fleet/plain");
    assert_eq!(plain["tokens"].as_u64(), Some(most), "{plain:#}");
    assert!(states(&answer, "fleet/plain").contains(&"over-budget".to_owned()));
    assert!(!states(&answer, "fleet/bare").contains(&"over-budget".to_owned()));
    let answer = fleet(&project, &["fleet", "--budget", "100000"]);
    assert!(states(&answer, "fleet/plain").is_empty());

    let code =
        |args: &[&str]| project.run(&[&["fleet", "status", "fleet"][..], args].concat()).code;
    assert_eq!(code(&[]), Some(0));
    assert_eq!(code(&["--exit-code"]), Some(1));
    assert_eq!(code(&["--exit-code", "--only", "unreadable"]), Some(0));
    assert_eq!(code(&["--only", "over-budget"]), Some(2));
    let output =
        run(&project, &["fleet", "status", "fleet", "--budget", "1", "--only", "over-budget"]);
    assert!(output.stdout.contains("over 1 tokens: "), "{output}");
}

/// Every line has the same columns with the same types, whatever is known.
#[test]
fn lines_have_fixed_columns() {
    let project = consumer();
    guidance(&project);
    let one = member(&project, "one", "acme/guidance");
    let strange = project.path().join("fleet/a,\"b\"\u{1b}[31m");
    git(&one, &["clone", "--quiet", ".", strange.to_str().unwrap()]);
    fs::create_dir_all(project.path().join("fleet/empty")).unwrap();
    git(&project.path().join("fleet/empty"), &["init", "--quiet"]);
    let output = run(&project, &["fleet", "status", "fleet", "--jsonl"]);
    let rows: Vec<Value> =
        output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 3 + 3 + 1, "{output}");
    assert!(!output.stdout.contains('\u{1b}'), "{output}");
    let columns = |row: &Value| row.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    for row in &rows {
        assert_eq!(columns(row), columns(&rows[0]));
        for (name, value) in row.as_object().unwrap() {
            let is_right = match name.as_str() {
                "guidance" | "over_budget" | "unsigned" | "behind" | "drifted" => {
                    value.is_boolean() || value.is_null()
                }
                "tokens" => value.is_u64() || value.is_null(),
                _ => value.is_string() || value.is_null(),
            };
            assert!(is_right, "{name}: {value}");
        }
    }
    let money = rows.iter().find(|row| row["item"] == "money").unwrap();
    assert_eq!(money["version"], "1.0.0");
    assert_eq!(money["kind"], "rule");
    // The same table as CSV.
    let output = run(&project, &["fleet", "status", "fleet", "--csv"]);
    let mut lines = output.stdout.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    assert_eq!(header.len(), rows[0].as_object().unwrap().len());
    assert!(header.starts_with(&["repository", "commit", "states"]), "{header:?}");
    assert_eq!(lines.count(), 7, "{output}");
    assert!(!output.stdout.contains('\u{1b}'), "{output}");
    // Nothing to show is a table without lines.
    let output = run(&project, &["fleet", "status", "fleet", "--csv", "--only", "unsigned"]);
    assert_eq!(output.stdout.lines().count(), 1, "{output}");
}

/// A commit that was read once is not read again: without git everything is answered, except for what is new.
#[test]
fn an_interrupted_run_goes_on() {
    let project = consumer();
    guidance(&project);
    let one = member(&project, "one", "acme/guidance");
    for name in ["two", "three"] {
        let path = project.path().join("fleet").join(name);
        git(&one, &["clone", "--quiet", ".", path.to_str().unwrap()]);
    }
    let before = fleet(&project, &["fleet"]);
    let kept = project.home().join(".cache/brief/fleet");
    let file = fs::read_dir(&kept).unwrap().next().unwrap().unwrap().path();
    let text = fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(lines.len(), 3, "{text}");

    let without_git = |args: &[&str]| {
        let mut command = project.prepare_command("", args);
        command.env("PATH", "/nowhere");
        let output = command.output().unwrap();
        let mut answer = serde_json::from_slice::<Value>(&output.stdout).unwrap();
        answer["root"] = before["root"].clone();
        answer
    };
    assert_eq!(without_git(&["fleet", "status", "fleet", "--json"]), before);
    // The run was killed while it wrote the third line.
    fs::write(&file, format!("{}\n{}\n{}", lines[0], lines[1], &lines[2][..40])).unwrap();
    let after = without_git(&["fleet", "status", "fleet", "--json"]);
    let unread = after["repositories"].as_array().unwrap().iter();
    assert_eq!(unread.filter(|one| !one["problem"].is_null()).count(), 1, "{after:#}");
    assert_eq!(fleet(&project, &["fleet"]), before);
    assert_eq!(without_git(&["fleet", "status", "fleet", "--json"]), before);
    // A new commit is read anew.
    fs::remove_file(one.join("brief.lock")).unwrap();
    commit(&one);
    let after = fleet(&project, &["fleet"]);
    assert!(after["repositories"][0]["items"].as_array().unwrap().is_empty(), "{after:#}");
    // The record does not grow without end.
    for _ in 0..30 {
        commit(&one);
        fleet(&project, &["fleet"]);
    }
    assert!(
        fs::read_to_string(&file).unwrap().lines().filter(|line| !line.is_empty()).count() < 30
    );
}

/// A person at a terminal sees how far it is; a program does not.
#[test]
fn a_bar_is_for_terminals() {
    let project = consumer();
    guidance(&project);
    member(&project, "one", "acme/guidance");
    let seen = project.run_watched(&["fleet", "status", "fleet"]);
    let bar = format!("Reading [{}] 1 of 1", "#".repeat(30));
    assert!(seen.contains(&bar), "{seen}");
    let output = project.spawn(&["fleet", "status", "fleet"]);
    assert!(!output.stderr.contains("Reading") && !output.stdout.contains("Reading"), "{output}");
}

/// A repository can be broken in many ways; each is one row with its reason, and nothing of it runs.
#[test]
fn broken_and_hostile_repositories_are_rows() {
    let project = consumer();
    guidance(&project);
    let one = member(&project, "one", "acme/guidance");
    let new = |name: &str| {
        let path = project.path().join("fleet").join(name);
        git(&one, &["clone", "--quiet", "--no-hardlinks", ".", path.to_str().unwrap()]);
        path
    };
    let rewrite = |path: &Path, lock: &str| {
        fs::write(path.join("brief.lock"), lock).unwrap();
        commit(path);
    };
    rewrite(&new("newer"), "version = 99\n");
    rewrite(&new("huge"), &format!("version = 2\n# {}\n", "x".repeat(9 * 1024 * 1024)));
    rewrite(&new("torn"), "version = 2\n[[item]]\nkind = \"\u{1b}[31m\"\n");
    let lock = fs::read_to_string(one.join("brief.lock")).unwrap();
    rewrite(&new("climbing"), &lock.replace(".claude/rules/money.md ", "../../../etc/passwd "));
    // The commit itself, or its tree, is missing.
    for (name, what) in [("lost", "HEAD"), ("treeless", "HEAD^{tree}")] {
        let path = new(name);
        let id = git(&path, &["rev-parse", what]);
        explode(&path);
        fs::remove_file(path.join(".git/objects").join(&id[..2]).join(&id[2..])).unwrap();
    }
    // A content with a flipped byte.
    let flipped = new("flipped");
    explode(&flipped);
    let id = git(&flipped, &["rev-parse", "HEAD:brief.lock"]);
    let object = flipped.join(".git/objects").join(&id[..2]).join(&id[2..]);
    let mut bytes = fs::read(&object).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xff;
    fs::remove_file(&object).unwrap();
    fs::write(&object, bytes).unwrap();
    // A submodule where the lock should be.
    let submodule = new("submodule");
    fs::remove_file(submodule.join("brief.lock")).unwrap();
    fs::create_dir(submodule.join("brief.lock")).unwrap();
    let head = git(&submodule, &["rev-parse", "HEAD"]);
    git(&submodule, &["rm", "--quiet", "--cached", "brief.lock"]);
    git(
        &submodule,
        &["update-index", "--add", "--cacheinfo", &format!("160000,{head},brief.lock")],
    );
    git(&submodule, &["commit", "--quiet", "-m", "message"]);
    // Everything that could run something.
    let armed = new("armed");
    let mark = project.path().join("ran");
    let script = format!("touch {}", mark.display());
    for setting in [
        "core.fsmonitor",
        "core.pager",
        "core.sshCommand",
        "core.alternateRefsCommand",
        "diff.external",
        "filter.x.smudge",
        "filter.x.clean",
        "credential.helper",
        "alias.cat-file",
        "uploadpack.packObjectsHook",
    ] {
        git(&armed, &["config", setting, &script]);
    }
    git(&armed, &["config", "extensions.partialClone", "origin"]);
    git(&armed, &["config", "remote.origin.url", &format!("ext::sh -c {}", mark.display())]);
    write_all(&armed, &[(".gitattributes", "* filter=x\n")]);
    let hook = armed.join(".git/hooks/post-index-change");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::write(project.path().join("fleet/no-directory"), "x").unwrap();
    write_all(&project.path().join("fleet/lying"), &[(".git", "gitdir: /nowhere\n")]);

    let answer = fleet(&project, &["fleet", "--budget", "1"]);
    let all = answer["repositories"].as_array().unwrap();
    let problem = |name: &str| {
        let one = all.iter().find(|one| one["path"] == format!("fleet/{name}").as_str());
        one.unwrap_or_else(|| panic!("{name}: {answer:#}"))["problem"].as_str().map(str::to_owned)
    };
    for (name, reason) in [
        ("newer", "upgrade `brief`"),
        ("huge", "too large for a fleet"),
        ("torn", "brief.lock"),
        ("climbing", "not the path of an output"),
        ("lost", "missing"),
        ("treeless", "missing"),
        ("flipped", "git cannot read"),
        ("lying", "git"),
    ] {
        let found = problem(name).unwrap_or_default();
        assert!(found.contains(reason), "{name}: {found}");
        assert!(!found.contains('\u{1b}') && !found.contains('\n'), "{name}: {found}");
    }
    assert_eq!(problem("one"), None);
    assert_eq!(problem("armed"), None);
    assert_eq!(problem("submodule"), None);
    assert!(!mark.exists(), "something of a repository ran");
    let output = project.run(&["fleet", "status", "fleet"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(!output.stdout.contains('\u{1b}') && !output.stderr.contains('\u{1b}'), "{output}");
}

/// Turns packs into single objects.
fn explode(path: &Path) {
    let objects = path.join(".git/objects/pack");
    for entry in fs::read_dir(&objects).into_iter().flatten() {
        let pack = entry.unwrap().path();
        if pack.extension().is_some_and(|extension| extension == "pack") {
            let moved = path.join("moved.pack");
            fs::rename(&pack, &moved).unwrap();
            let mut command = std::process::Command::new("git");
            command.args(["unpack-objects", "-q"]).current_dir(path);
            command.stdin(fs::File::open(&moved).unwrap());
            assert!(command.status().unwrap().success());
            fs::remove_file(&moved).unwrap();
        }
    }
}

/// Thousands of items in one lock, and thousands of lines in a list.
#[test]
fn large_locks_and_lists_are_read() {
    let project = consumer();
    let remote = Remote::new(&project, "github/acme/guidance");
    let rules: Vec<(String, String)> = (0..40)
        .map(|number| (format!("rules/r{number}/RULE.md"), item(&format!("r{number}"), "Do.")))
        .collect();
    let files: Vec<(&str, &str)> =
        rules.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    remote.commit(&files);
    remote.commit(&[("base.bundle.md", &bundle("base", "1.0.0", &["r1"], &[]))]);
    let one = member(&project, "one", "acme/guidance");
    let mut lock = fs::read_to_string(one.join("brief.lock")).unwrap();
    for number in 0..10_000 {
        lock.push_str(&format!(
            "\n[[item]]\nkind = \"rule\"\nname = \"more{number}\"\nsource = \"guidance\"\npath = \"rules/more{number}\"\n\
             sha256 = \"{}\"\ncapabilities = [\n]\n",
            "0".repeat(64)
        ));
    }
    fs::write(one.join("brief.lock"), lock).unwrap();
    commit(&one);
    let list: Vec<String> = (0..10_000).map(|number| format!("missing/{number}")).collect();
    let list = list.join("\n");
    project.write("list.txt", format!("{list}\nfleet/one\nfleet/one\n./fleet/one\n"));
    let answer = fleet(&project, &["list.txt"]);
    let all = answer["repositories"].as_array().unwrap();
    // `./fleet/one` is another name of the same place.
    assert!(all.len() >= 10_001 && all.len() <= 10_002, "{}", all.len());
    let items = all.iter().map(|one| one["items"].as_array().unwrap().len()).max();
    assert_eq!(items, Some(10_040));
}
