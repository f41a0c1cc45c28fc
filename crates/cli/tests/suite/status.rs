//! `brief` alone: what is here, what each client gets, what is wrong, and the next command.

use brief_testkit::{Output, Sandbox};

use crate::sees::with_brief_on_path;
use crate::{project, project_on_disk};

/// Guidance for two clients, an entry that only a hook delivers, and two mistakes.
fn shop() -> Sandbox {
    project()
        .with_dir(".git")
        .with_file("CLAUDE.md", "Prices are integers in cents.\n")
        .with_file(".cursor/rules/tests.mdc", "---\nalwaysApply: true\n---\nTest first.\n")
        .with_file(
            "AGENTS.yaml",
            "context:\n  - content: Use integers.\n    match: [\"**/*.py\"]\n  - content: A\n    on: [edti]\n\
             decisions:\n  - decision: Use pnpm\n",
        )
        .with_file("src/api/orders.py", "")
        .with_file("src/a.py", "")
        .with_file("notes.txt", "")
}

fn lines(output: &Output) -> Vec<String> {
    output
        .stdout
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect()
}

/// Checks the exit code, and that nothing else is said.
fn status(project: &Sandbox, args: &[&str]) -> Output {
    let output = project.run(args);
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{output}");
    output
}

/// The commands that are proposed, the most useful one first.
fn next(project: &Sandbox) -> Vec<String> {
    let json = status(project, &["--json"]).json();
    let next = json["next"].as_array().unwrap().iter();
    next.map(|one| one["command"].as_str().unwrap().to_owned()).collect()
}

/// Issue 38.3 (a): items, clients with their hooks, the worst problems, and the next commands; exit 0.
#[test]
fn a_project_is_told_on_one_screen() {
    let project = shop();
    let output = status(&project, &[]);
    let found = lines(&output);
    assert!(found[0].ends_with("tokens, 2 clients detected"), "{output}");
    assert_eq!(found[2], "client hook loads brief delivers", "{output}");
    assert_eq!(found[3], "claude not installed ~7 2 items missing", "{output}");
    assert_eq!(found[4], "cursor not installed ~10 1 item missing", "{output}");
    assert_eq!(found[6], "2 errors", "{output}");
    assert!(found[7].starts_with("error AGENTS.yaml:"), "{output}");
    assert_eq!(
        &found[found.len() - 3..],
        [
            "brief lint show the details",
            "brief hook install claude cursor deliver the missing items",
            "brief show src/a.py see what each client gets for a file",
        ],
        "{output}"
    );
    // `brief status` is the same.
    assert_eq!(status(&project, &["status"]).stdout, output.stdout);
    assert_eq!(status(&project, &["--color", "never"]).stdout, output.stdout);
}

/// What the screen says of problems is what `brief lint` says.
#[test]
fn the_problems_are_those_of_lint() {
    let project = shop().with_file("CLAUDE.md", "See [the list](gone.md).\n\nRun `make nope`.\n");
    let lint = project.run(&["lint", "--json"]).json();
    let status = status(&project, &["--json"]).json();
    assert_eq!(status["errors"], lint["errors"]);
    assert_eq!(status["warnings"], lint["warnings"]);
    assert_eq!(status["diagnostics"].as_array().unwrap().len(), 3);
    assert_eq!(status["diagnostics"][0]["severity"], "error");
}

/// Every command that is proposed can be typed.
#[test]
fn the_next_commands_work() {
    let project = with_brief_on_path(shop());
    for command in next(&project) {
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        let output = project.run(&words);
        let expected = if words == ["lint"] { Some(1) } else { Some(0) };
        assert_eq!(output.code, expected, "{command}: {output}");
    }
    // One command installs the hooks of both clients, and they deliver.
    let after = status(&project, &["--json"]).json();
    assert_eq!(after["clients"][0]["hook"], "works", "{after}");
    assert_eq!(after["clients"][0]["missing"], 0);
    assert!(after["clients"][0]["delivers"].as_u64().unwrap() > 0);
    assert_eq!(after["clients"][1]["missing"], 0, "{after}");
    assert!(!next(&project).iter().any(|command| command.starts_with("brief hook")), "{after}");
}

/// The state decides which command comes first.
#[test]
fn the_first_command_fits_the_state() {
    let quiet = || project().with_dir(".git").with_file("src/a.py", "");
    let loaded = quiet().with_file("CLAUDE.md", "Prices are integers in cents.\n");
    assert_eq!(next(&loaded), ["brief show src/a.py"]);
    let output = status(&loaded, &[]);
    assert!(output.stdout.contains("\nNo problems in 1 file\n"), "{output}");
    assert!(lines(&output)[0].ends_with("1 client detected"), "{output}");
    assert!(!output.stdout.contains("0 "), "{output}");
    // A warning is less than guidance that does not get to a client.
    let lacking = loaded
        .with_file("AGENTS.yaml", "context: [{content: Only here.}]\n")
        .with_file("docs/CLAUDE.md", "See [the list](gone.md).\n");
    assert_eq!(next(&lacking), ["brief hook install claude", "brief lint", "brief show src/a.py"]);
    // A hook that cannot run is not installed again.
    let broken = lacking.with_env("PATH", "/nonexistent");
    let installed = broken.run(&["hook", "install", "claude"]);
    assert_eq!(installed.code, Some(0), "{installed}");
    assert_eq!(next(&broken)[0], "brief hook status claude");
    let output = status(&broken, &[]);
    assert!(output.stdout.contains("program not found"), "{output}");
}

/// Issue 38.3 (b): a repository without guidance.
#[test]
fn a_project_without_guidance_is_told_how_to_begin() {
    let project = project().with_dir(".git").with_file("src/a.py", "");
    let output = status(&project, &[]);
    assert!(output.stdout.starts_with("No guidance found in "), "{output}");
    assert!(output.stdout.contains("brief reads CLAUDE.md, AGENTS.md, .cursor/rules"), "{output}");
    assert_eq!(next(&project), ["brief init", "brief add SOURCE"]);
    assert_eq!(status(&project, &["--json"]).json()["state"], "no-guidance");
}

/// Issue 38.3 (c): outside a repository, the user's own guidance.
#[test]
fn outside_a_repository_the_own_guidance_is_told() {
    let project = project().with_file("readme.txt", "");
    let output = status(&project, &[]);
    assert!(output.stdout.starts_with("Not in a git repository, so brief reads"), "{output}");
    assert!(output.stdout.contains("You have no guidance of your own"), "{output}");
    let home = project.home();
    std::fs::create_dir_all(home.join(".claude")).unwrap();
    std::fs::write(home.join(".claude/CLAUDE.md"), "Answer in one paragraph.\n").unwrap();
    let output = status(&project, &[]);
    assert!(output.stdout.contains("for every project: 1 item, "), "{output}");
    assert!(output.stdout.contains("\n  ~/.claude/CLAUDE.md\n"), "{output}");
    assert_eq!(next(&project), ["brief -C DIR", "brief help"]);
    // A directory with guidance is told as a project is, with the same remark.
    project.write("CLAUDE.md", "Prices are cents.\n");
    let output = status(&project, &[]);
    assert!(output.stdout.starts_with("Not in a git repository, so brief reads"), "{output}");
    assert!(output.stdout.contains("client  "), "{output}");
}

/// Nothing is walked that is no project.
#[test]
fn the_home_directory_the_top_and_a_bare_repository_are_no_projects() {
    let project = project_on_disk().with_dir("bare.git/objects").with_dir("bare.git/refs");
    project.write("bare.git/HEAD", "ref: refs/heads/main\n");
    let home = project.home();
    std::fs::create_dir_all(&home).unwrap();
    for (place, words) in [
        ("/".to_owned(), "is the whole file system"),
        (home.display().to_string(), "is your home directory"),
        (project.path().join("bare.git").display().to_string(), "is a bare git repository"),
    ] {
        let output = status(&project, &["-C", &place]);
        assert!(output.stdout.contains(words), "{output}");
        assert!(output.stdout.contains("brief -C DIR"), "{output}");
        let json = status(&project, &["-C", &place, "--json"]).json();
        assert_eq!(json["state"], "outside", "{json}");
    }
}

/// A file that cannot be read is a problem, and hides nothing.
#[cfg(unix)]
#[test]
fn unreadable_files_are_problems() {
    let project = shop();
    brief_testkit::make_fifo(&project.path().join("src/CLAUDE.md"));
    let json = status(&project, &["--json"]).json();
    assert_eq!(json["errors"].as_u64().unwrap() + json["warnings"].as_u64().unwrap(), 3, "{json}");
    assert_eq!(json["clients"].as_array().unwrap().len(), 2);
}

/// From a directory below, the file is named as it can be typed there.
#[test]
fn a_file_is_named_from_where_the_user_is() {
    let project = shop();
    let json = project.run_in("src/api", &["--json"], "").json();
    let next = json["next"].as_array().unwrap();
    assert_eq!(next.last().unwrap()["command"], "brief show ../a.py");
}

/// A call without a command that is not understood is still an error.
#[test]
fn a_typing_error_is_an_error() {
    let project = shop();
    for args in [&["--jsn"][..], &["statsu"], &["--json", "lnt"]] {
        assert_eq!(project.run(args).code, Some(2), "{args:?}");
    }
}

/// At 80 columns no word and no path is broken, and no path is cut.
#[cfg(unix)]
#[test]
fn a_narrow_terminal_breaks_between_words() {
    let deep = format!("{}/CLAUDE.md", ["a-very-long-directory"; 5].join("/"));
    let project =
        shop().with_file(&deep, "See [the list](gone.md).\n").with_file("AGENTS.yaml", "");
    let screen = project.run_on_screen(&[]);
    assert!(screen.contains(&deep), "{screen}");
    let plain = crate::security::without_colors(&screen);
    for line in plain.lines().map(str::trim_end) {
        assert!(line.chars().count() <= 80 || line.contains(&deep), "{line}");
    }
}
