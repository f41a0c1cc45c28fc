//! One root, wherever you are: every command resolves against the repository, and a path only limits what is shown.

use std::fs;
use std::path::Path;
use std::process::Command;

use brief_testkit::{Output, Sandbox};
use serde_json::{Value, json};

use crate::project;

/// A repository with guidance in a part of it that is right only together with the rest.
fn repository() -> Sandbox {
    let text =
        "See [skill](../.agents/skills/s/SKILL.md) and [gone](none.md). Run `npm run dev:web`.\n";
    let project = project()
        .with_file("package.json", "{\"scripts\": {\"dev:web\": \"vite\"}}\n")
        .with_file(
            ".agents/skills/s/SKILL.md",
            "---\nname: s\ndescription: Use for tests\n---\nText.\n",
        )
        .with_file("AGENTS.yaml", "context:\n  - content: A\n    mach: [x]\n")
        .with_file("web/AGENTS.md", text)
        .with_file("web/.cursor/rules/a.mdc", "---\nglobs: \"src/**/*.ts\"\n---\nText.\n")
        .with_file("web/src/a.ts", "")
        .with_file("server/main.py", "");
    fs::create_dir(project.path().join(".git")).unwrap();
    project
}

fn findings(output: &Output) -> Vec<Value> {
    output.json()["diagnostics"].as_array().unwrap().clone()
}

fn is_below(finding: &Value, directory: &str) -> bool {
    finding["path"].as_str().unwrap().starts_with(directory)
}

/// N20: "`lint` takes one path".
#[test]
fn lint_reports_on_several_paths_at_once() {
    let project = repository()
        .with_file("docs/AGENTS.md", "See [gone](lost.md).\n")
        .with_file("made/.gitignore", "*\n")
        .with_file("made/a/AGENTS.yaml", "context:\n  - content: A\n    on: never\n");
    let whole = findings(&project.run(&["lint", "--json"]));
    let of_parts: Vec<Value> = whole
        .iter()
        .filter(|found| is_below(found, "web/") || is_below(found, "docs/"))
        .cloned()
        .collect();
    assert!(of_parts.len() > 2 && of_parts.len() < whole.len(), "{whole:#?}");
    for paths in
        [&["web", "docs"][..], &["docs", "web", "web/AGENTS.md"], &["web/", "./docs/AGENTS.md"]]
    {
        let output = project.run(&[&["lint"], paths, &["--json"]].concat());
        assert_eq!(findings(&output), of_parts, "{output}");
    }
    // What version control ignores is read if it is named, and counted once.
    let ignored = project.run(&["lint", "made", "docs", "made/a", "--json"]);
    let paths: Vec<Value> =
        findings(&ignored).into_iter().map(|mut found| found["path"].take()).collect();
    assert_eq!(paths, ["docs/AGENTS.md", "made/a/AGENTS.yaml"]);
    assert_eq!(ignored.json()["files"], 2);
    let missing = project.run(&["lint", "web", "nope"]);
    assert_eq!(missing.code, Some(1));
    assert!(missing.stdout.is_empty() && missing.stderr.contains("nope"), "{missing}");
}

/// N31: "`lint web` 3; `cd web; brief lint` 9, eight of them false".
#[test]
fn lint_says_the_same_wherever_it_is_started() {
    let project = repository();
    let whole = findings(&project.run(&["lint", "--json"]));
    let of_web: Vec<Value> =
        whole.iter().filter(|found| is_below(found, "web/")).cloned().collect();
    assert!(of_web.len() > 1 && of_web.len() < whole.len(), "{whole:#?}");
    for output in [
        project.run(&["lint", "web", "--json"]),
        project.run(&["-C", "web", "lint", "--json"]),
        project.run_in("web", &["lint", "--json"], ""),
        project.run_in("web/src", &["lint", "..", "--json"], ""),
        project.run_in("server", &["lint", "../web", "--json"], ""),
    ] {
        assert_eq!(findings(&output), of_web, "{output}");
        assert_eq!(output.json()["root"], "$PROJECT");
    }
    let inside = project.run_in("web/.cursor", &["lint", "--json"], "");
    let rules = |found: &&Value| is_below(found, "web/.cursor/");
    assert_eq!(findings(&inside), of_web.iter().filter(rules).cloned().collect::<Vec<_>>());
    let nothing = project.run_in("server", &["lint"], "");
    assert!(nothing.stderr.contains("No problems in 0 files"), "{nothing}");
    assert!(!nothing.stderr.contains("git"), "{nothing}");
}

/// A part may be a project of its own: its `brief.toml` is checked from everywhere.
#[test]
fn the_configuration_of_a_part_is_checked_from_everywhere() {
    let project = repository().with_file("web/brief.toml", "[sources\n");
    for output in [
        project.run(&["lint", "--json"]),
        project.run(&["lint", "web", "--json"]),
        project.run_in("web", &["lint", "--json"], ""),
        project.run(&["lint", "web/brief.toml", "--json"]),
    ] {
        let found = findings(&output);
        let of_file = found.iter().filter(|found| found["path"] == "web/brief.toml");
        assert_eq!(of_file.count(), 1, "{output}");
    }
}

/// Fixes and baselines of a part leave the rest alone.
#[test]
fn fixes_and_baselines_of_a_part_leave_the_rest_alone() {
    let project = repository();
    let recorded = project.run(&["lint", "--baseline", "--update-baseline"]);
    assert!(recorded.stderr.contains("recorded 3 problems in"), "{recorded}");
    let all = project.read("brief-baseline.json");
    // The file is at the top, wherever it is written from, and keeps what other parts have recorded.
    let again = project.run_in("web", &["lint", "--baseline", "--update-baseline"], "");
    assert_eq!(project.read("brief-baseline.json"), all, "{again}");
    let clean = project.run_in("web", &["lint", "--strict", "--baseline"], "");
    assert_eq!(clean.code, Some(0), "{clean}");
    let before = project.read("AGENTS.yaml");
    let fixed = project.run_in("web", &["lint", "--fix=suggested"], "");
    assert_eq!(project.read("AGENTS.yaml"), before, "{fixed}");
    assert!(project.read("web/.cursor/rules/a.mdc").contains("globs: src/**/*.ts"), "{fixed}");
}

/// `stale`, `fmt` and `audit` limit what they show to the current directory, and resolve against the repository.
#[test]
fn other_checks_are_limited_in_the_same_way() {
    let rule = "---\nschema: 1\nname: r\ndescription:   Use for tests\n---\n\nText.\n";
    let project = repository()
        .with_file("web/CLAUDE.md", "The code is in `server/gone.py` and `server/main.py`.\n")
        .with_file("CLAUDE.md", "The code is in `server/lost.py`.\n")
        .with_file("items/rules/r/RULE.md", rule)
        .with_file("items/rules/q/RULE.md", rule.replace("name: r", "name: q"));
    let stale = |output: &Output| -> Vec<Value> {
        let found = output.json()["found"].as_array().unwrap().clone();
        found.iter().map(|found| found["source"]["path"].clone()).collect()
    };
    let whole = stale(&project.run(&["stale", "--json"]));
    assert!(whole.len() > 1, "{whole:?}");
    let of_web: Vec<Value> =
        whole.iter().filter(|path| path.as_str().unwrap().starts_with("web/")).cloned().collect();
    assert!(!of_web.is_empty() && of_web.len() < whole.len(), "{whole:?}");
    assert_eq!(stale(&project.run(&["stale", "web", "--json"])), of_web);
    assert_eq!(stale(&project.run_in("web", &["stale", "--json"], "")), of_web);
    assert_eq!(stale(&project.run_in("server", &["stale", "../web", "--json"], "")), of_web);

    let changed = |output: &Output| output.json()["changed"].clone();
    let of_r = json!(["items/rules/r/RULE.md"]);
    assert_eq!(
        changed(&project.run(&["registry", "fmt", "--check", "items/rules/r", "--json"])),
        of_r
    );
    assert_eq!(
        changed(&project.run_in("items/rules/r", &["registry", "fmt", "--check", "--json"], "")),
        of_r
    );

    let audit = |output: &Output| output.json()["items"].clone();
    let of_items = audit(&project.run(&["audit", "items", "--json"]));
    assert_eq!(audit(&project.run_in("items", &["audit", "--json"], "")), of_items);
}

/// Overviews are of the repository wherever they are asked for; a path limits them.
#[test]
fn overviews_are_of_the_repository() {
    let project = repository();
    for command in [&["tokens", "--tree"][..], &["coverage"], &["tokens"], &["doctor"]] {
        // Where the client is started decides what it loads, not what the project is.
        let started: &[&str] = match command {
            ["doctor"] => &[],
            _ => &["--cwd", ".."],
        };
        let top = project.run(&[command, &["--json"]].concat());
        let below = project.run_in("web", &[command, &["--json"], started].concat(), "");
        assert_eq!((below.stdout, below.code), (top.stdout, top.code), "{command:?}");
    }
    for command in [&["tokens", "--tree"][..], &["coverage"]] {
        let named = project.run(&[command, &["web", "--json"]].concat());
        let started = [command, &[".", "--json", "--cwd", ".."]].concat();
        let below = project.run_in("web", &started, "");
        assert_eq!(below.stdout, named.stdout, "{command:?}");
    }
    for command in ["context", "tokens"] {
        let named = project.run(&[command, "web/src/a.ts", "--json"]);
        let below = project.run_in("web/src", &[command, "a.ts", "--json"], "");
        assert_eq!(below.json()["items"], named.json()["items"], "{command}");
    }
}

/// The script of the Action and of other CI services reports a part as the whole does, with paths from the top.
#[cfg(unix)]
#[test]
fn the_check_script_reports_the_same_from_a_part() {
    let project = repository();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/ci/check.sh");
    // The program is called `brief` on the PATH.
    let directory = project.home().join("bin");
    fs::create_dir(&directory).unwrap();
    std::os::unix::fs::symlink(project.program(), directory.join("brief")).unwrap();
    let annotations = |part: &str| -> Vec<String> {
        let path = format!("{}:{}", directory.display(), std::env::var("PATH").unwrap());
        let output = Command::new("bash")
            .arg(&script)
            .current_dir(project.path().join(part))
            .env("PATH", path)
            .env("HOME", project.home())
            .env("BRIEF_FORMAT", "github")
            .output()
            .unwrap();
        let lines = String::from_utf8(output.stdout).unwrap();
        lines.lines().map(str::to_owned).collect()
    };
    let whole = annotations(".");
    let of_web: Vec<String> =
        whole.iter().filter(|line| line.contains("file=web/")).cloned().collect();
    assert!(of_web.len() > 1 && of_web.len() < whole.len(), "{whole:?}");
    assert_eq!(annotations("web"), of_web);
    assert_eq!(annotations("server"), Vec::<String>::new());
}

/// Found on the way in words.md: "`brief -C /nonexistent lint` prints "No problems in 0 files", exit 0".
#[test]
fn a_start_directory_that_is_none_is_an_error() {
    let project = project().with_file("file", "");
    for (typed, why) in [("none", "No such file or directory"), ("file", "ot a directory")] {
        for command in
            [&["lint"][..], &["context", "x"], &["tokens", "--tree"], &["doctor"], &["init"]]
        {
            let output = project.run(&[&["-C", typed], command].concat());
            assert_eq!(
                (output.stdout.as_str(), output.code),
                ("", Some(2)),
                "{command:?}: {output}"
            );
            let message = format!("error: cannot open directory `{typed}`: ");
            assert!(output.stderr.contains(&message), "{command:?}: {output}");
            assert!(output.stderr.contains(why), "{command:?}: {output}");
        }
    }
}

/// N34: "Outside git, one level down: "no guidance found", without "not a git repository; parents are not read"".
#[test]
fn parents_outside_of_a_repository_are_told_of() {
    let project = project().with_file("CLAUDE.md", "Text.\n").with_file("sub/a.py", "");
    for command in [
        &["lint"][..],
        &["context", "a.py"],
        &["why", "a.py"],
        &["show", "a.py"],
        &["tokens"],
        &["tokens", "--tree"],
        &["coverage"],
        &["stale"],
        &["audit"],
        &["doctor"],
    ] {
        let output = project.run_in("sub", command, "");
        let told = "not a git repository, so `$PROJECT/CLAUDE.md` does not apply here";
        assert!(output.stderr.contains(told), "{command:?}: {output}");
    }
    // Where nothing is above, an empty answer is explained; one with guidance needs no words.
    let empty = crate::project();
    let told = "is not in a git repository, so parent directories are not read";
    for command in [&["lint"][..], &["context", "a.py"], &["tokens", "--tree"]] {
        let output = empty.run(command);
        assert!(output.stderr.contains(told), "{command:?}: {output}");
    }
    let output = project.run(&["lint"]);
    assert!(!output.stderr.contains("git"), "{output}");
}

/// Issue, "Bad input": `$HOME` and `/` as the project get a clear sentence, and an answer.
#[test]
fn a_root_that_is_no_project_is_told_of() {
    let project = project();
    let home = project.home();
    fs::write(home.join("AGENTS.md"), "Text.\n").unwrap();
    let home = home.to_str().unwrap();
    for command in [&["lint"][..], &["context", "a.py"], &["tokens", "--tree"], &["doctor"]] {
        let said = project.run(&[&["-C", home], command].concat()).to_string();
        assert_eq!(said.matches("is your home directory, not a project").count(), 1, "{said}");
        assert!(said.contains("`-C DIR`"), "{said}");
    }
    assert!(project.run(&["-C", home, "tokens", "--tree"]).stdout.contains("AGENTS.md"));
    let top = project.run(&["-C", "/", "context", "etc/hosts"]);
    assert!(top.stderr.contains("`/` is the whole file system, not a project"), "{top}");
    assert_eq!(top.code, Some(0), "{top}");
}

/// N33, and issue, "Bad input": the whole file system, a home directory and one above it are answered for without a walk over
/// a machine. Only what lies in them counts, one sentence says so, and nothing is called missing that nobody has looked for.
#[test]
fn n33_what_is_no_project_is_not_searched() {
    let project = project().with_file("CLAUDE.md", "See [it](gone.md).\n");
    let home = project.home();
    fs::create_dir_all(home.join("deep/.claude/rules")).unwrap();
    fs::create_dir_all(home.join(".claude/rules")).unwrap();
    let text = "Read `deep/src/prices.py`, then `src/lost.py`. See [it](gone.md).\n";
    fs::write(home.join("AGENTS.md"), text).unwrap();
    fs::write(home.join(".claude/rules/own.md"), "Own.\n").unwrap();
    fs::write(home.join("deep/CLAUDE.md"), "See [it](far.md).\n").unwrap();
    fs::write(home.join("deep/.claude/rules/far.md"), "Far.\n").unwrap();
    let above = home.parent().unwrap().to_str().unwrap().to_owned();
    let home = home.to_str().unwrap();
    let unread = "not a project; brief reads only its top level";
    for place in ["/", home, &above] {
        for command in [
            &["lint"][..],
            &["doctor"],
            &["tokens"],
            &["tree"],
            &["coverage"],
            &["stale"],
            &["audit"],
            &["fmt", "--check"],
        ] {
            let output = project.run(&[&["-C", place], command].concat());
            let said = output.to_string();
            assert_eq!(said.matches(unread).count(), 1, "{place} {command:?}: {said}");
            assert!(said.contains("`-C DIR`"), "{said}");
            assert!(!said.contains("far.md"), "{place} {command:?}: {said}");
        }
    }
    // Programs read it, too.
    for command in ["lint", "tree", "tokens", "coverage", "stale"] {
        let answer = project.run(&["-C", home, command, "--json"]).json();
        let codes = answer["diagnostics"].to_string();
        assert!(codes.contains("project/no-project"), "{command}: {answer}");
    }
    let lint = findings(&project.run(&["-C", home, "lint", "--json"]));
    let codes: Vec<&Value> = lint.iter().map(|found| &found["code"]).collect();
    assert_eq!(codes, ["project/no-project", "client/broken-link"]);
    let stale = project.run(&["-C", home, "stale", "--json"]).json();
    let written: Vec<&Value> =
        stale["found"].as_array().unwrap().iter().map(|one| &one["named"]).collect();
    assert_eq!(written, ["gone.md"]);
    let tree = project.run(&["-C", home, "tree"]).stdout;
    assert!(tree.contains("AGENTS.md") && tree.contains(".claude/rules/own.md"), "{tree}");
    // A directory that is named is read, and so is a home directory that is kept in git.
    let named = findings(&project.run(&["-C", &above, "lint", "project", "--json"]));
    assert_eq!((named.len(), &named[0]["path"]), (1, &json!("project/CLAUDE.md")));
    fs::create_dir(Path::new(home).join(".git")).unwrap();
    let kept = project.run(&["-C", home, "lint"]);
    assert!(
        kept.stdout.contains("far.md") && !kept.to_string().contains("not a project"),
        "{kept}"
    );
}

/// N33: at a terminal, a line on standard error says what lasts longer than a second, and is gone at the end. Elsewhere there is none.
#[cfg(target_os = "linux")]
#[test]
fn n33_what_lasts_is_told_of_at_a_terminal() {
    brief_testkit::needs!(Strace);
    let project = repository();
    // The first directory is listed late.
    let late = ["strace", "-f", "-o", "/dev/null", "-e", "trace=getdents64"];
    let late = [&late[..], &["-e", "inject=getdents64:delay_enter=1500000:when=1"]].concat();
    for (command, told) in [
        ("lint", "checking the project: 1 s"),
        ("tokens", "reading the project: 1 s"),
        ("tree", "reading the project: 1 s"),
        ("coverage", "reading the project: 1 s"),
        ("stale", "reading the project: 1 s"),
        ("audit", "reading the project: 1 s"),
        ("doctor", "checking the setup: 1 s"),
    ] {
        let seen = project.run_watched_through(&late, &[command]);
        let shown = format!("\r\u{1b}[2K{told}");
        let (_, after) = seen.split_once(&shown).unwrap_or_else(|| panic!("{command}: {seen:?}"));
        assert!(after.contains("\r\u{1b}[2K"), "{command}: {seen:?}");
        let piped = project.spawn_through(&late, "", &[command]).unwrap();
        assert!(!piped.to_string().contains(told), "{command}: {piped}");
    }
}

/// Issue, "Bad input": a worktree, a submodule and a repository whose `.git` is a file are repositories; a bare one is
/// told of.
#[cfg(unix)]
#[test]
fn every_kind_of_repository_is_recognized() {
    let project = project()
        .with_file("worktree/.git", "gitdir: /nowhere/.git/worktrees/w\n")
        .with_file("worktree/CLAUDE.md", "Text.\n")
        .with_file("worktree/sub/AGENTS.md", "Text.\n")
        .with_file("bare.git/HEAD", "ref: refs/heads/main\n")
        .with_file("bare.git/objects/x", "")
        .with_file("bare.git/refs/x", "");
    let output = project.run_in("worktree/sub", &["context", "a.py"], "");
    assert!(
        output.stdout.contains("CLAUDE.md") && !output.stderr.contains("not a git"),
        "{output}"
    );
    let output = project.run_in("worktree/sub", &["lint"], "");
    assert!(output.stderr.contains("No problems in 1 file"), "{output}");
    let output = project.run_in("worktree/sub", &["stale"], "");
    assert!(output.stderr.contains("git history"), "{output}");
    let told = "does not point to a repository";
    for command in [&["lint"][..], &["stale"], &["show", "a.py"], &["doctor"]] {
        let output = project.run_in("worktree/sub", command, "");
        assert!(output.stderr.contains(told), "{command:?}: {output}");
    }
    for command in [&["lint"][..], &["tokens", "--tree"], &["context", "a"]] {
        let output = project.run_in("bare.git", command, "");
        assert!(
            output.stderr.contains("is a bare git repository, without a working tree"),
            "{output}"
        );
    }
}

/// Issue, "Bad input": nothing is written into what is no project.
#[test]
fn nothing_is_written_into_what_is_no_project() {
    let project = project()
        .with_file("bare.git/HEAD", "ref: refs/heads/main\n")
        .with_file("bare.git/objects/x", "")
        .with_file("bare.git/refs/x", "")
        .with_file("registry/rules/one/RULE.md", "---\nschema: 1\nname: one\n---\nText.\n");
    let home = project.home();
    let registry = project.path().join("registry");
    let registry = registry.to_str().unwrap();
    let bare = project.path().join("bare.git");
    for (place, what) in [(&home, "your home directory"), (&bare, "a bare git repository")] {
        let entries = || fs::read_dir(place).map_or(0, Iterator::count);
        let before = entries();
        for command in [
            &["hook", "install", "claude"][..],
            &["mcp", "install", "claude"],
            &["add", registry],
            &["registry", "new", "rule", "two"],
            &["import"],
            &["init"],
        ] {
            let output = project.run(&[&["-C", place.to_str().unwrap()], command].concat());
            let told = format!("is {what}, not a project");
            assert!(output.stderr.contains(&told), "{command:?}: {output}");
            assert_eq!((output.code, entries()), (Some(1), before), "{command:?}: {output}");
        }
    }
}

/// Issue, "Bad input": what a directory without permission may hold is not reported as missing.
#[cfg(target_os = "linux")]
#[test]
fn what_a_closed_directory_may_hold_is_not_missing() {
    use std::os::unix::fs::PermissionsExt;
    let rule = "---\nglobs: closed/**\nalwaysApply: false\n---\nSee [it](mdc:closed/a.md).\n";
    let project = project()
        .with_file(".cursor/rules/a.mdc", rule)
        .with_file("closed/a.md", "")
        .with_file("AGENTS.md", "See [it](gone.md).\n");
    fs::create_dir(project.path().join(".git")).unwrap();
    let closed = project.path().join("closed");
    close(&closed);
    let lint = run_without_privileges(&project, ".", &["lint", "--json"]);
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
    let Some(lint) = lint else { return };
    let codes: Vec<Value> = findings(&lint).iter().map(|found| found["code"].clone()).collect();
    assert_eq!(codes, ["client/broken-link", "project/unreadable-directory"], "{lint}");
}

/// Runs the program so that permissions count, also for the superuser. `None` where this system cannot do that.
#[cfg(target_os = "linux")]
fn run_without_privileges(project: &Sandbox, directory: &str, args: &[&str]) -> Option<Output> {
    let closed = project.path().join("closed-probe");
    fs::write(&closed, "").unwrap();
    close(&closed);
    let is_superuser = fs::read(&closed).is_ok();
    fs::remove_file(&closed).unwrap();
    if !is_superuser {
        return Some(project.run_in(directory, args, ""));
    }
    let without = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search", "--"];
    project.spawn_through(&without, directory, args)
}

#[cfg(target_os = "linux")]
fn close(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o0)).unwrap();
}

/// N34, and issue, "Bad input": a `CLAUDE.md` without read permission is a finding of every command that reads it, and
/// the rest is answered.
#[cfg(target_os = "linux")]
#[test]
fn a_file_without_permission_is_a_finding_everywhere() {
    let project = project()
        .with_file("CLAUDE.md", "Closed.\n")
        .with_file("AGENTS.yaml", "context:\n  - content: Open.\n")
        .with_file("src/a.py", "");
    fs::create_dir(project.path().join(".git")).unwrap();
    close(&project.path().join("CLAUDE.md"));
    for command in [
        &["lint"][..],
        &["context", "src/a.py"],
        &["why", "src/a.py"],
        &["show", "src/a.py"],
        &["tokens", "--tree"],
        &["doctor"],
    ] {
        let Some(output) = run_without_privileges(&project, ".", command) else { return };
        let said = format!("{}{}", output.stdout, output.stderr);
        assert!(
            said.contains("CLAUDE.md") && said.contains("cannot read"),
            "{command:?}: {output}"
        );
        assert!(said.contains("ermission denied"), "{command:?}: {output}");
    }
    let answered = run_without_privileges(&project, ".", &["context", "src/a.py"]);
    assert!(answered.is_none_or(|output| output.stdout.contains("Open.")));
}

/// Issue, "Bad input": an ancestor without read permission hides its other children, not the directory of the question.
#[cfg(target_os = "linux")]
#[test]
fn an_ancestor_without_permission_is_told_of() {
    use std::os::unix::fs::PermissionsExt;
    let project = project()
        .with_file("AGENTS.yaml", "context:\n  - content: Top.\n")
        .with_file("closed/part/AGENTS.yaml", "context:\n  - content: Part.\n    mach: [x]\n")
        .with_file("closed/part/a.py", "");
    fs::create_dir(project.path().join(".git")).unwrap();
    let closed = project.path().join("closed");
    // It can be passed, and not listed.
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o311)).unwrap();
    let lint = run_without_privileges(&project, "closed/part", &["lint", "--json"]);
    let context = run_without_privileges(&project, "closed/part", &["context", "a.py"]);
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
    let (Some(lint), Some(context)) = (lint, context) else { return };
    let codes: Vec<(Value, Value)> = findings(&lint)
        .iter()
        .map(|found| (found["path"].clone(), found["code"].clone()))
        .collect();
    assert_eq!(
        codes,
        [
            (json!("closed"), json!("project/unreadable-directory")),
            (json!("closed/part/AGENTS.yaml"), json!("agents-yaml/unknown-field")),
        ],
        "{lint}"
    );
    assert!(context.stdout.contains("Top.") && context.stdout.contains("Part."), "{context}");
}
