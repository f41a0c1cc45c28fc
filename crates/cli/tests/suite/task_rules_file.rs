//! `brief task -w`: rules in the file that an agent reads, beside the user's own text.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use brief_testkit::{Output, Sandbox};

use crate::project_on_disk as project;

/// The file of the project that each agent reads at any time, and what a new one begins with.
const FILES: [(&str, &str, &str); 8] = [
    ("cursor", ".cursor/rules/brief.mdc", "---\nalwaysApply: true\n---\n\n"),
    ("copilot", ".github/instructions/brief.instructions.md", "---\napplyTo: \"**\"\n---\n\n"),
    ("claude", ".claude/rules/brief.md", ""),
    ("gemini", "GEMINI.md", ""),
    ("opencode", "AGENTS.md", ""),
    ("augment", ".augment/rules/brief.md", "---\ntype: always_apply\n---\n\n"),
    ("windsurf", ".windsurf/rules/brief.md", "---\ntrigger: always_on\n---\n\n"),
    ("codex", "AGENTS.md", ""),
];

/// Each agent's own file below the home directory.
const HOME_FILES: [(&str, &str); 8] = [
    ("cursor", ".cursor/rules/AGENTS.md"),
    ("copilot", ".github/agents/AGENTS.md"),
    ("claude", ".claude/CLAUDE.md"),
    ("gemini", ".gemini/GEMINI.md"),
    ("opencode", ".opencode/rules/AGENTS.md"),
    ("augment", ".augment/rules/AGENTS.md"),
    ("windsurf", ".windsurf/rules/AGENTS.md"),
    ("codex", ".codex/AGENTS.md"),
];

fn rules() -> Sandbox {
    project()
        .with_file(".agents/tasks/t.md", "---\nmodel: m\n---\nTask.\n")
        .with_file(".agents/rules/a.md", "\nFirst rule.\n\n")
        .with_file(".agents/rules/b.md", "---\nname: b\n---\nSecond rule ${p}.")
}

fn claude_file(project: &Sandbox) -> PathBuf {
    project.path().join(".claude/rules/brief.md")
}

fn write(project: &Sandbox, path: PathBuf, text: &str) -> PathBuf {
    assert!(path.starts_with(project.path()) || path.starts_with(project.home()));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

fn run(project: &Sandbox, value: &str) -> Output {
    let parameter = format!("p={value}");
    project.run(&["task", "t", "-a", "claude", "-w", "-p", &parameter])
}

/// The text between our markers, and the text before and after them.
fn parts(text: &str) -> (&str, &str, &str) {
    let (before, rest) = text.split_once("<!-- brief:rules ").expect("there is a marker");
    let (_, rest) = rest.split_once(" -->\n").expect("the marker is closed");
    let (content, rest) = rest.split_once("<!-- /brief:rules ").expect("there is a second marker");
    let (_, after) = rest.split_once(" -->\n").expect("the marker is closed");
    (before, content, after)
}

/// Ruling T10: "`-w` writes the rules where the agent reads them"; reference: it "prints the rest".
/// U38: rules of a project hold in that project, so that is where they are written.
#[test]
fn every_agent_has_its_file() {
    for (agent, file, beginning) in FILES {
        let project = rules();
        let output = project.run(&["task", "t", "-a", agent, "-w", "-p", "p=1"]);
        assert_eq!(output.stdout, "---\nmodel: m\n---\nTask.\n\n", "{agent}: {output}");
        assert_eq!(output.stderr, format!("wrote 2 rules to {file}\n"), "{agent}");
        let text = project.read(file);
        let written = (beginning, "First rule.\n\nSecond rule 1.\n", "");
        assert_eq!(parts(&text), written, "{agent}: {text}");
        for (_, file) in HOME_FILES {
            assert!(!project.home().join(file).exists(), "{agent}: {file}");
        }
        // A second run finds its own block, and does not take it for a rule.
        let again = project.run(&["task", "t", "-a", agent, "-w", "-p", "p=1"]);
        assert_eq!((again.stdout, again.stderr.as_str()), (output.stdout, ""), "{agent}");
        assert_eq!(project.read(file), text, "{agent}");
        let plain = project.run(&["task", "t", "-a", agent, "-p", "p=1", "--no-frontmatter"]);
        let words: String = plain.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words, "First rule. Second rule 1. Task.", "{agent}");
    }
}

/// U38: only who asks for it writes to the file that holds in every project; through the name
/// `coding-context` it is always that one, as users of that tool know it.
#[test]
fn every_agent_has_a_file_for_all_projects() {
    for (agent, file) in HOME_FILES {
        let project = rules();
        let output = project.run(&["task", "t", "-a", agent, "-w", "--global", "-p", "p=1"]);
        assert_eq!(output.stderr, format!("wrote 2 rules to ~/{file}\n"), "{agent}");
        let text = fs::read_to_string(project.home().join(file)).unwrap();
        assert_eq!(parts(&text), ("", "First rule.\n\nSecond rule 1.\n", ""), "{agent}: {text}");
    }
    let output = rules().run(&["task", "t", "-a", "claude", "--global", "-p", "p=1"]);
    assert_eq!(output.code, Some(2), "without -w it means nothing: {output}");
}

/// A link in the project leads nowhere else.
#[cfg(unix)]
#[test]
fn rules_are_not_written_out_of_the_project() {
    let project = rules();
    let outside = project.outside_directory();
    fs::create_dir_all(&outside).unwrap();
    let project = project.with_link(".claude", &outside);
    let output = run(&project, "1");
    assert_eq!(output.code, Some(1), "{output}");
    assert!(
        output.stderr.contains(".claude/rules/brief.md points outside the project"),
        "{output}"
    );
    assert_eq!(fs::read_dir(outside).unwrap().count(), 0);
}

/// The task's own agent is the one that rules are written for.
#[test]
fn the_task_names_its_agent() {
    let project = rules().with_file(".agents/tasks/u.md", "---\nagent: codex\n---\nU\n");
    let output = project.run(&["task", "u", "-a", "claude", "--write-rules", "-p", "p=1"]);
    assert_eq!(output.stderr, "wrote 2 rules to AGENTS.md\n", "{output}");
    assert!(!claude_file(&project).exists());
}

/// Ruling T10: "keeps the user's text, and a second run changes nothing".
#[test]
fn the_users_text_stays() {
    for mine in ["# Mine\n", "# Mine", "# Mine\r\nmore\r\n", "\u{feff}# Mine\n\n\n"] {
        let project = rules();
        let path = write(&project, claude_file(&project), mine);
        assert_eq!(run(&project, "1").code, Some(0));
        let first = fs::read_to_string(&path).unwrap();
        let (before, content, after) = parts(&first);
        assert!(before.starts_with(mine) && before.ends_with('\n'), "{before:?}");
        assert_eq!(before.trim_end(), mine.trim_end());
        // The user's own text is a rule of the home directory, and is not written to itself.
        assert_eq!((content, after), ("First rule.\n\nSecond rule 1.\n", ""));

        let old = SystemTime::now() - Duration::from_secs(1_000_000);
        fs::File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
        let stamp = fs::metadata(&path).unwrap().modified().unwrap();
        let second = run(&project, "1");
        assert_eq!((second.stderr.as_str(), second.code), ("", Some(0)), "{second}");
        assert_eq!(fs::read_to_string(&path).unwrap(), first);
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), stamp, "not even touched");

        fs::write(&path, format!("{first}more of mine\n")).unwrap();
        assert_eq!(run(&project, "2").stderr, "wrote 2 rules to .claude/rules/brief.md\n");
        let third = fs::read_to_string(&path).unwrap();
        let now = ("First rule.\n\nSecond rule 2.\n", "more of mine\n");
        let (kept, content, after) = parts(&third);
        assert_eq!((kept, (content, after)), (before, now));
    }
}

/// Ruling T10: "What we wrote there is never read back as a rule", for no agent and no task.
#[test]
fn what_we_wrote_is_no_rule() {
    let project = rules();
    assert_eq!(run(&project, "1").code, Some(0));
    let project = project.with_dir("elsewhere/.agents/tasks");
    project.write("elsewhere/.agents/tasks/u.md", "Other.\n");
    let other = project.run(&["task", "u", "-C", "elsewhere"]);
    assert!(!other.stdout.contains("rule"), "{other}");
    assert!(other.stdout.ends_with("Other.\n\n"), "{other}");
}

/// An editor may take the last line break away, or write others.
#[test]
fn an_editor_may_change_line_breaks() {
    let edits: [fn(&str) -> String; 3] = [
        |text| text.trim_end().to_owned(),
        |text| text.replace('\n', "\r\n"),
        |text| text.trim_end().replace('\n', "\r\n"),
    ];
    for edit in edits {
        let project = rules();
        let path = write(&project, claude_file(&project), "# Mine\n");
        assert_eq!(run(&project, "1").code, Some(0));
        let text = edit(&fs::read_to_string(&path).unwrap());
        fs::write(&path, &text).unwrap();
        let output = project.run(&["task", "t", "-p", "p=1", "-s", "rule_name=brief"]);
        assert!(!output.stdout.contains("First rule."), "{output}");
        let again = project.run(&["task", "t", "-a", "claude", "-w", "-p", "p=2", "--force"]);
        assert_eq!(again.code, Some(0), "{again}");
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.matches("First rule.").count(), 1, "{text:?}");
        assert!(text.starts_with("# Mine"), "{text:?}");
        assert!(text.contains("Second rule 2."), "{text:?}");
    }
}

/// Ruling T10: "one that was edited by hand is kept", with an error, "unless `--force` is given".
#[test]
fn a_block_that_was_edited_by_hand_is_kept() {
    let project = rules();
    let path = write(&project, claude_file(&project), "# Mine\n");
    assert_eq!(run(&project, "1").code, Some(0));
    let edited = fs::read_to_string(&path).unwrap().replace("Second rule 1.", "My own rule.");
    fs::write(&path, &edited).unwrap();
    insta::assert_snapshot!(run(&project, "2"), @"
    ------- stderr -------
    error: .claude/rules/brief.md contains rules of brief that were edited by hand
    hint: move your text out of the marked block, or use `--force`
    [exit status: 1]
    [EOF]
    ");
    assert_eq!(fs::read_to_string(&path).unwrap(), edited, "nothing is written");
    let forced = project.run(&["task", "t", "-a", "claude", "-w", "--force", "-p", "p=2"]);
    assert_eq!(forced.code, Some(0), "{forced}");
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(parts(&text), ("# Mine\n\n", "First rule.\n\nSecond rule 2.\n", ""));
}

/// Our block goes with the last rule, and nothing else.
#[test]
fn without_rules_the_block_goes() {
    let project = rules();
    let path = write(&project, claude_file(&project), "# Mine\n");
    assert_eq!(run(&project, "1").code, Some(0));
    fs::remove_dir_all(project.path().join(".agents/rules")).unwrap();
    assert_eq!(run(&project, "1").code, Some(0));
    assert_eq!(fs::read_to_string(&path).unwrap().trim_end(), "# Mine");
    let project = project.with_dir("x");
    fs::remove_file(&path).unwrap();
    assert_eq!(run(&project, "1").code, Some(0));
    assert!(!path.exists(), "nothing to write, nothing written");
}

/// The skills are part of the rest: the agent's file has none of them.
#[test]
fn skills_are_still_offered() {
    let skill = "---\nname: sql\ndescription: For queries\n---\n";
    let project = rules().with_file(".agents/skills/sql/SKILL.md", skill);
    let output = run(&project, "1");
    assert!(output.stdout.contains("<name>sql</name>"), "{output}");
    assert!(!output.stdout.contains("First rule."), "{output}");
    let text = fs::read_to_string(claude_file(&project)).unwrap();
    assert!(!text.contains("sql"), "{text}");
}

/// Many people keep these files somewhere else, and link to them.
#[cfg(unix)]
#[test]
fn a_link_stays_a_link() {
    let project = rules();
    let target = project.outside_directory().join("dotfiles.md");
    fs::write(&target, "# Mine\n").unwrap();
    let link = project.home().join(".claude/CLAUDE.md");
    fs::create_dir_all(project.home().join(".claude")).unwrap();
    std::os::unix::fs::symlink(&target, &link).unwrap();
    let output = project.run(&["task", "t", "-a", "claude", "-w", "-g", "-p", "p=1"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(fs::symlink_metadata(link).unwrap().is_symlink());
    let text = fs::read_to_string(&target).unwrap();
    assert_eq!(parts(&text), ("# Mine\n\n", "First rule.\n\nSecond rule 1.\n", ""));
}

/// Rules are written for an agent.
#[test]
fn without_an_agent_nothing_is_written() {
    let project = rules();
    insta::assert_snapshot!(project.run(&["task", "t", "-w", "-p", "p=1"]), @"
    ------- stderr -------
    error: -w flag requires an agent to be specified (via task 'agent' field or -a flag)
    hint: known agents: cursor, copilot, claude, gemini, opencode, augment, windsurf, codex
    [exit status: 1]
    [EOF]
    ");
    assert_eq!(fs::read_dir(project.home()).unwrap().count(), 0);
}

/// Ruling T4: `-r` leaves rules out, so there is nothing to write, and nothing to take away.
#[test]
fn a_resumed_task_writes_nothing() {
    for flag in ["-r", "--skip-bootstrap"] {
        let project = rules();
        let output = project.run(&["task", "t", "-a", "claude", "-w", flag]);
        assert_eq!(
            (output.stdout.as_str(), output.stderr.as_str()),
            ("---\nmodel: m\n---\nTask.\n\n", "")
        );
        assert_eq!(fs::read_dir(project.home()).unwrap().count(), 0, "{flag}");
        assert_eq!(run(&project, "1").code, Some(0));
        let text = fs::read_to_string(claude_file(&project)).unwrap();
        assert_eq!(project.run(&["task", "t", "-a", "claude", "-w", flag]).code, Some(0));
        assert_eq!(fs::read_to_string(claude_file(&project)).unwrap(), text, "{flag}");
    }
}

/// A file that cannot be written is an error, and there is no prompt without the rules it speaks of.
#[test]
fn a_file_that_cannot_be_written_is_an_error() {
    let project = rules();
    fs::write(project.path().join(".claude"), "a file").unwrap();
    let output = run(&project, "1");
    assert_eq!((output.stdout.as_str(), output.code), ("", Some(1)), "{output}");
    assert!(output.stderr.contains("error: cannot write .claude/rules/brief.md"), "{output}");

    let project = rules();
    fs::create_dir_all(claude_file(&project)).unwrap();
    let output = run(&project, "1");
    assert_eq!((output.stdout.as_str(), output.code), ("", Some(1)), "{output}");

    let mut command = project.prepare_command("", &["task", "t", "-a", "claude", "-w", "-g"]);
    let output = command.env_remove("HOME").output().unwrap();
    assert_eq!((output.stdout.as_slice(), output.status.code()), (&b""[..], Some(1)));
    assert!(String::from_utf8_lossy(&output.stderr).contains("set `HOME`"));
}

/// A text that was written stays private if it was, and its bytes are the rules' own.
#[cfg(unix)]
#[test]
fn bytes_and_permissions_stay() {
    use std::os::unix::fs::PermissionsExt;
    let project = rules().with_file(".agents/rules/c.md", b"caf\xe9 \xff\n");
    let path = write(&project, claude_file(&project), "# Mine\n");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(run(&project, "1").code, Some(0));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let bytes = fs::read(&path).unwrap();
    assert!(bytes.windows(7).any(|window| window == b"caf\xe9 \xff\n"), "{bytes:?}");
    let before = fs::read(&path).unwrap();
    assert_eq!(run(&project, "1").stderr, "");
    assert_eq!(fs::read(&path).unwrap(), before);
}
