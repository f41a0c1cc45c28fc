//! `--global`: the user's own places, below the home directory.

use crate::install::{consumer, files, git, guidance, item, names, run, summary};
use brief_testkit::Sandbox;

/// The files below the home directory, but those of git and the cache.
fn home(project: &Sandbox) -> Vec<String> {
    let all = files(&project.home()).into_keys();
    all.filter(|name| !name.starts_with(".cache") && name != ".gitconfig").collect()
}

/// Each client's own place, the manifest beside other settings, the record beside other state; the project
/// is not touched.
#[test]
fn items_of_a_user_are_below_the_home_directory() {
    let project = consumer();
    guidance(&project);
    let output = run(&project, &["add", "--global", "acme/guidance"]);
    let place = project.home().to_string_lossy().into_owned();
    assert!(summary(&output).starts_with(&format!("3 items in {place}: 11 created")), "{output}");
    assert_eq!(
        home(&project),
        [
            ".agents/rules/money/RULE.md",
            ".claude/agents/judge.md",
            ".claude/rules/money.md",
            ".claude/skills/review/SKILL.md",
            ".claude/skills/review/references/list.md",
            ".config/brief/brief.lock",
            ".config/brief/brief.toml",
            ".config/opencode/agents/judge.md",
            ".config/opencode/opencode.json",
            ".copilot/agents/judge.agent.md",
            ".copilot/instructions/money.instructions.md",
            ".copilot/skills/review/SKILL.md",
            ".copilot/skills/review/references/list.md",
            ".local/state/brief/installed/.gitignore",
            ".local/state/brief/installed/installed.json",
            ".local/state/brief/installed/lock",
            ".local/state/brief/journal.key",
        ]
    );
    assert_eq!(names(&project), [""; 0]);
    let opencode = std::fs::read_to_string(project.home().join(".config/opencode/opencode.json"));
    assert!(opencode.unwrap().contains("\"~/.agents/rules/**/RULE.md\""));
}

/// Every command takes it, and each scope knows only its own.
#[test]
fn both_scopes_are_apart() {
    let project = consumer();
    let remote = guidance(&project);
    run(&project, &["add", "-g", "acme/guidance", "money"]);
    run(&project, &["add", "acme/guidance", "review"]);
    assert!(run(&project, &["list", "-g"]).stdout.starts_with("rule/money "));
    assert!(run(&project, &["list"]).stdout.starts_with("skill/review "));
    remote.commit(&[("rules/money/RULE.md", &item("money", "Newer."))]);
    assert_eq!(project.run(&["update", "--check", "-g"]).code, Some(1));
    run(&project, &["update", "-g"]);
    run(&project, &["sync", "-g", "--frozen"]);
    run(&project, &["sync", "-g", "--check"]);
    run(&project, &["doctor", "-g"]);
    assert_eq!(project.run(&["remove", "-g", "review"]).code, Some(1), "that is the project's");
    run(&project, &["remove", "--all", "-g"]);
    assert!(!project.home().join(".claude").exists());
    run(&project, &["sync", "-g"]);
    run(&project, &["remove", "-g", "money"]);
    let left = home(&project);
    assert!(left.iter().all(|name| name.starts_with(".local/state/brief/")), "{left:?}");
    run(&project, &["sync", "--frozen"]);
}

/// The user's own files there are kept, as in a project.
#[test]
fn files_of_the_user_are_kept() {
    let project = consumer();
    guidance(&project);
    let own = project.home().join(".claude/rules/money.md");
    std::fs::create_dir_all(own.parent().unwrap()).unwrap();
    std::fs::write(&own, "mine\n").unwrap();
    let output = project.run(&["add", "-g", "acme/guidance", "money"]);
    assert_eq!(output.code, Some(1));
    assert!(output.stdout.contains("error[item/output-in-the-way]"), "{output}");
    let path = own.to_string_lossy().into_owned();
    run(&project, &["sync", "-g", "--adopt", &path]);
    run(&project, &["remove", "-g", "money"]);
    assert_eq!(std::fs::read_to_string(own).unwrap(), "mine\n");
}

/// The places can be elsewhere; without a home directory there are none.
#[test]
fn the_places_of_a_user_follow_the_environment() {
    let project = consumer();
    guidance(&project);
    let elsewhere = project.outside_directory().to_string_lossy().into_owned();
    let project = project
        .with_env("XDG_CONFIG_HOME", &format!("{elsewhere}/config"))
        .with_env("XDG_STATE_HOME", &format!("{elsewhere}/state"));
    run(&project, &["add", "-g", "acme/guidance", "money"]);
    assert!(project.outside_directory().join("config/brief/brief.toml").is_file());
    assert!(project.outside_directory().join("state/brief/installed/installed.json").is_file());
    let project = project.with_env("HOME", "relative").with_env("XDG_STATE_HOME", "");
    let output = project.run(&["list", "-g"]);
    assert_eq!(output.code, Some(1));
    assert!(output.stderr.contains("cannot find the home directory\nhint: set `HOME`"), "{output}");
}

/// A home directory that is a repository itself is no project by accident.
#[test]
fn a_home_directory_is_no_project() {
    let project = consumer().with_dir("plain");
    std::fs::remove_dir_all(project.path().join(".git")).unwrap();
    git(&project.home(), &["init", "--quiet"]);
    let output = project.run_in("plain", &["list"], "");
    assert!(output.stderr.contains("nothing installed in $PROJECT/plain"), "{output}");
}
