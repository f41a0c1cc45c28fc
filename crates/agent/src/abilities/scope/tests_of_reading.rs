//! Reads of listed programs, tried with every option of their tables and real programs.
#![expect(clippy::disallowed_methods, reason = "tests make real files")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use serde_json::Value;

use super::grammar::Grammar;
use super::tests::TestRepository;
use crate::abilities::AbilityRefusal;

/// The word in everything that no granted program may print.
const CANARY: &str = "canary";

/// A project with secrets, links to them, and links that lead out, at several depths.
fn hostile_project() -> TestRepository {
    let repository = TestRepository::new();
    let (root, outside) = (repository.root(), repository.outside());
    fs::create_dir(outside.join("dir")).unwrap();
    fs::write(outside.join("dir/secret.txt"), format!("{CANARY}\n")).unwrap();
    for directory in ["", "d1", "d2", "d1/netlify", "d 3*"] {
        let directory = root.join(directory);
        fs::create_dir_all(&directory).unwrap();
        for name in [".env", ".ENV", "id_rsa", "server.key", "credentials[1].txt", ".env.{a}!"] {
            fs::write(directory.join(name), format!("KEY={CANARY}\n")).unwrap();
        }
        fs::create_dir_all(directory.join("keys.pem")).unwrap();
        fs::write(directory.join("keys.pem/a.txt"), format!("{CANARY}\n")).unwrap();
        symlink(outside.join("secret.txt"), directory.join("x.txt")).unwrap();
        symlink(outside.join("dir"), directory.join("out")).unwrap();
        symlink(root.join("d1/.env"), directory.join("notes")).unwrap();
        symlink(root.join(".git"), directory.join("repository")).unwrap();
        fs::write(directory.join("plain.txt"), "plain\n").unwrap();
    }
    fs::write(root.join("d1/netlify/config.json"), format!("{CANARY}\n")).unwrap();
    // In the second directory it is a file, so that `diff` compares what the link leads to.
    fs::remove_file(root.join("d2/x.txt")).unwrap();
    fs::write(root.join("d2/x.txt"), "other\n").unwrap();
    fs::write(root.join("d2/.env"), "other\n").unwrap();
    repository.git(&["config", "user.name", CANARY]);
    repository
}

/// Fails if an answer has the word; a refusal is right.
fn check_answer(line: &[String], answer: &Result<Value, AbilityRefusal>) -> bool {
    match answer {
        Ok(answer) => {
            let text = answer.to_string();
            assert!(!text.contains(CANARY), "{line:?}: {text}");
            true
        }
        Err(_) => false,
    }
}

/// The operands that lead to secrets or out of the project, and directories that hold them.
const OPERANDS: [&[&str]; 14] = [
    &[],
    &["."],
    &["./"],
    &["d1"],
    &["d1", "d2"],
    &["d1/x.txt", "d2"],
    &["d2", "d1/plain.txt"],
    &["notes"],
    &["d1/notes", "d2/notes"],
    &["out"],
    &["out/secret.txt"],
    &["repository/config"],
    &["d 3*", "d1/netlify"],
    &[".git"],
];

/// Options that make a program read directories.
fn reading_options(program: &str) -> &'static [&'static [&'static str]] {
    match program {
        "grep" => &[&[], &["-r"], &["-ra"]],
        "rg" => &[&[], &["-uuu"], &["--files"]],
        "diff" => &[&[], &["-r"], &["-rN"]],
        "tar" => &[&["-c", "-O"], &["-c", "-f", "-"], &["-cO", "-C", "d1"], &["-cO", "-C", "out"]],
        "ls" | "du" => &[&[], &["-a"]],
        _ => &[&[]],
    }
}

/// Y03, Y05: no listed program prints a secret or a file outside, with any of its options.
#[test]
fn y03_y05_every_option_of_every_program_keeps_secrets() {
    let repository = hostile_project();
    let mut started = Vec::new();
    for grammar in Grammar::read_table(include_str!("programs.txt")) {
        let program = grammar.name;
        // These print their operands, and a word among them is no secret.
        if program.starts_with('@') || matches!(program, "echo" | "printf" | "basename" | "dirname")
        {
            continue;
        }
        let options = [""].into_iter().chain(grammar.options().iter().copied());
        for option in options {
            for values in values_of(option) {
                for reading in reading_options(program) {
                    for operands in OPERANDS {
                        let mut line = vec![program.to_owned()];
                        line.extend(reading.iter().map(|word| (*word).to_owned()));
                        line.extend(values.clone());
                        if matches!(program, "grep" | "rg")
                            && !line.iter().any(|word| word == "--files")
                        {
                            line.push(".".to_owned());
                        }
                        if program == "sed" {
                            line.push("p".to_owned());
                        }
                        line.extend(operands.iter().map(|word| (*word).to_owned()));
                        if check_answer(&line, &repository.exec(&line)) {
                            started.push(program);
                        }
                    }
                }
            }
        }
    }
    started.dedup();
    for program in ["cat", "diff", "grep", "head", "sed", "sort", "tar", "wc"] {
        assert!(started.contains(&program), "{program} was never started");
    }
}

/// Returns the words for one option of a table: alone, or with values that widen what it reads.
fn values_of(option: &str) -> Vec<Vec<String>> {
    if option.is_empty() {
        return vec![Vec::new()];
    }
    if option == "-#" {
        return vec![vec!["-5".to_owned()]];
    }
    let name = option.trim_end_matches(['=', '*', '@']).trim_end_matches("[]");
    if name == option {
        return vec![vec![name.to_owned()]];
    }
    let values =
        if option.ends_with("[]") { &["", "always"][..] } else { &["1", ".env", "*", "d1"] };
    let join = |value: &&str| match (value.is_empty(), name.starts_with("--")) {
        (true, _) => name.to_owned(),
        (false, true) => format!("{name}={value}"),
        (false, false) => format!("{name}{value}"),
    };
    values.iter().map(|value| vec![join(value)]).collect()
}

/// Y05: what is left out is said, and everything else is found.
#[test]
fn y05_the_rest_is_read_and_what_is_left_out_is_said() {
    let repository = hostile_project();
    for line in ["grep|-rn|.|.", "grep|-r|--include=*|-e|.|d1", "diff|-r|d1|d2", "tar|-c|-O|d1"] {
        let answer = repository.exec_line(line).unwrap();
        let (stdout, stderr) = (answer["stdout"].to_string(), answer["stderr"].to_string());
        assert!(stdout.contains("plain") || line.starts_with("diff"), "{line}: {stdout}");
        assert!(stderr.contains("brief: not read, may hold secrets: `"), "{line}: {stderr}");
        assert!(!stdout.contains(CANARY), "{line}: {stdout}");
    }
    let answer = repository.exec_line("diff|-r|d1|d2").unwrap();
    assert!(answer["stdout"].to_string().contains("x.txt"), "{answer}");
    let answer = repository.exec_line("grep|one|a.txt|b.txt").unwrap();
    assert_eq!(answer["stderr"], "", "files alone need no search");
}

/// Y05: untracked secrets do not come into the index, from which git would print them.
#[test]
fn y05_git_takes_no_secret_into_the_index() {
    for (line, then) in [
        ("git|add|-A|-f", "git|diff|--cached"),
        ("git|add|-f|.", "git|diff|--cached"),
        ("git|add|-f|.env", "git|show|:.env"),
        ("git|add|-N|-f|.", "git|diff"),
        ("git|--literal-pathspecs|add|-f|.", "git|diff|--cached"),
        ("git|stash|-u", "git|show|stash@{0}^3"),
        ("git|stash|push|-a", "git|show|stash@{0}^3"),
        ("git|stash|push|-u|--|d1", "git|show|stash@{0}^3"),
        ("git|mv|.env|plain", "cat|plain"),
    ] {
        let repository = TestRepository::new();
        let root = repository.root();
        repository.git(&["config", "user.name", "Name"]);
        repository.git(&["config", "user.email", "name@example.com"]);
        fs::create_dir(root.join("d1")).unwrap();
        for name in [".env", "d1/id_rsa", "d1/server.key"] {
            fs::write(root.join(name), format!("{CANARY}\n")).unwrap();
        }
        fs::write(root.join("d1/new.txt"), "new\n").unwrap();
        let _ = repository.exec_line(line);
        let words: Vec<String> = then.split('|').map(str::to_owned).collect();
        check_answer(&words, &repository.exec_line(then));
        for name in [".env", "d1/id_rsa", "d1/server.key"] {
            assert!(root.join(name).exists(), "{line}: {name} is gone");
        }
    }
    let repository = TestRepository::new();
    fs::write(repository.root().join(".env"), "x\n").unwrap();
    fs::write(repository.root().join("new.txt"), "new\n").unwrap();
    repository.exec_line("git|add|-A").unwrap();
    let staged = repository.exec_line("git|diff|--cached|--name-only").unwrap();
    assert_eq!(staged["stdout"], "a.tar\na.txt\nnew.txt\n", "{staged}");
}

/// A repository whose committed files with secret names have uncommitted changes.
fn changed_secrets() -> TestRepository {
    let repository = TestRepository::new();
    let root = repository.root();
    repository.git(&["config", "user.name", "Name"]);
    repository.git(&["config", "user.email", "name@example.com"]);
    fs::create_dir(root.join("d1")).unwrap();
    for name in [".env", "d1/.env"] {
        fs::write(root.join(name), "KEY=template\n").unwrap();
    }
    repository.git(&["add", "--all", "--force"]);
    repository.git(&["commit", "--quiet", "-m", "templates"]);
    for name in [".env", "d1/.env"] {
        fs::write(root.join(name), format!("KEY={CANARY}\n")).unwrap();
    }
    fs::write(root.join("a.txt"), "changed\n").unwrap();
    repository
}

/// Y05: a file with a committed template keeps what was filled in, by each command that reads the working tree.
#[test]
fn y05_git_prints_no_uncommitted_secret() {
    for (line, then) in [
        ("git|diff", "git|diff|HEAD"),
        ("git|diff|--|.", "git|diff|.env"),
        ("git|diff|HEAD|--|d1|.env", "git|diff|HEAD:.env|.env"),
        ("git|diff|HEAD:a.txt|.env", "git|diff|--stat|-p|d1"),
        ("git|grep|KEY", "git|grep|-e|KEY|--|d1"),
        ("git|blame|.env", "git|blame|./.env"),
        ("git|blame|HEAD|.env", "git|blame|-s|--|d1/.env"),
        ("git|add|-u", "git|diff|--cached"),
        ("git|add|--update|d1", "git|diff|--cached"),
        ("git|commit|-a|-m|all", "git|show"),
        ("git|commit|-qam|all", "git|show"),
        ("git|commit|--all|--message=all", "git|show|HEAD:.env"),
        ("git|commit|-m|some|d1", "git|show"),
        ("git|commit|-i|-m|some|.env|a.txt", "git|show"),
        ("git|stash", "git|show|stash@{0}"),
        ("git|stash|push|-m|x", "git|show|stash@{0}"),
        ("git|stash|push|--|d1", "git|show|stash@{0}"),
        ("git|rebase|--autostash|HEAD", "git|show|stash@{0}"),
        ("git|merge|--autostash|HEAD", "git|show|stash@{0}"),
    ] {
        let repository = changed_secrets();
        for line in [line, then] {
            let words: Vec<String> = line.split('|').map(str::to_owned).collect();
            check_answer(&words, &repository.exec_line(line));
        }
        let secret = fs::read_to_string(repository.root().join(".env")).unwrap();
        assert!(secret.contains(CANARY), "{line}: the change is gone");
    }
    // Everything else is there, and what is left out is said.
    let repository = changed_secrets();
    let shown = repository.exec_line("git|diff").unwrap();
    assert!(shown["stdout"].to_string().contains("changed"), "{shown}");
    assert!(shown["stderr"].to_string().contains("may hold secrets: `.env`"), "{shown}");
    repository.exec_line("git|commit|-am|a message: -a").unwrap();
    let shown = repository.exec_line("git|show|--stat|--format=%B").unwrap();
    assert!(shown["stdout"].to_string().contains("a message: -a"), "{shown}");
    assert!(shown["stdout"].to_string().contains("a.txt"), "{shown}");
    let committed = repository.exec_line("git|show|HEAD:.env").unwrap();
    assert_eq!(committed["stdout"], "KEY=template\n");
}

/// The commands of git that only print. Each is tried with each of its options.
const PRINTING: [&str; 19] = [
    "blame",
    "cat-file",
    "describe",
    "diff",
    "diff-tree",
    "for-each-ref",
    "grep",
    "log",
    "ls-files",
    "ls-tree",
    "merge-base",
    "remote",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "status",
    "branch",
    "tag",
];

/// The commands of git that change something; [`y05_git_prints_no_uncommitted_secret`] and its like try them.
const CHANGING: [&str; 13] = [
    "add",
    "checkout",
    "cherry-pick",
    "commit",
    "merge",
    "mv",
    "rebase",
    "reset",
    "restore",
    "revert",
    "rm",
    "stash",
    "switch",
];

/// Y05: no command of git prints a secret of the working tree, with any of its options. A command that is new to the table is in neither
/// list, and fails here.
#[test]
fn y05_every_option_of_every_command_of_git_keeps_secrets() {
    let repository = changed_secrets();
    symlink(repository.outside().join("secret.txt"), repository.root().join("d1/x.txt")).unwrap();
    let mut started = std::collections::BTreeSet::new();
    for grammar in Grammar::read_table(include_str!("git.txt")) {
        let command = grammar.name;
        if command.starts_with('@') || CHANGING.contains(&command) {
            continue;
        }
        assert!(PRINTING.contains(&command), "`git {command}` has no case");
        let options = [""].into_iter().chain(grammar.options().iter().copied());
        for option in options.filter(|option| !is_writing(command, option)) {
            let values = values_of(option);
            for words in values.iter().take(2) {
                for operands in [&["."][..], &["HEAD", ".env"], &["d1/.env"], &["d1/x.txt"]] {
                    let mut line = vec!["git".to_owned(), command.to_owned()];
                    line.extend(words.iter().cloned());
                    if command == "grep" {
                        line.extend(["-e".to_owned(), ".".to_owned()]);
                    }
                    line.extend(operands.iter().map(|word| (*word).to_owned()));
                    if check_answer(&line, &repository.exec(&line)) {
                        started.insert(command);
                    }
                }
            }
        }
    }
    for command in ["diff", "grep", "log", "ls-files", "show", "status"] {
        assert!(started.contains(command), "git {command} was never started");
    }
}

/// Returns whether an option makes a printing command change something.
fn is_writing(command: &str, option: &str) -> bool {
    let only_lists = ["-l", "--list", "-a", "--all", "-r", "--remotes", "-v", "--show-current"];
    matches!(command, "branch" | "tag") && !only_lists.contains(&option)
}

/// Makes another repository outside with a secret, and returns its git directory.
fn other_repository(repository: &TestRepository) -> PathBuf {
    let other = repository.outside().join("other");
    fs::create_dir(&other).unwrap();
    let at = other.to_str().unwrap();
    repository.git(&["init", "--quiet", "--initial-branch=main", at]);
    fs::write(other.join("s.txt"), format!("{CANARY}\n")).unwrap();
    repository.git(&["-C", at, "add", "--all"]);
    repository.git(&["-C", at, "commit", "--quiet", "-m", "message"]);
    other.join(".git")
}

/// Y04: git is not started where its repository is, or reads, another one; a working tree that its repository knows is one.
#[test]
fn y04_no_other_repository_is_reached() {
    type Attack = fn(&std::path::Path, &std::path::Path);
    let attacks: [(&str, Attack); 12] = [
        ("a file", |git, other| {
            fs::remove_dir_all(git).unwrap();
            fs::write(git, format!("gitdir: {}\n", other.display())).unwrap();
        }),
        ("a link", |git, other| {
            fs::remove_dir_all(git).unwrap();
            symlink(other, git).unwrap();
        }),
        ("commondir", |git, other| {
            fs::write(git.join("commondir"), format!("{}\n", other.display())).unwrap();
        }),
        ("alternates", |git, other| {
            fs::create_dir_all(git.join("objects/info")).unwrap();
            let text = format!("{}\n", other.join("objects").display());
            fs::write(git.join("objects/info/alternates"), text).unwrap();
        }),
        ("relative alternates", |git, _| {
            fs::create_dir_all(git.join("objects/info")).unwrap();
            let text = "../../../outside/other/.git/objects\n";
            fs::write(git.join("objects/info/alternates"), text).unwrap();
        }),
        ("linked objects", |git, other| {
            fs::remove_dir_all(git.join("objects")).unwrap();
            symlink(other.join("objects"), git.join("objects")).unwrap();
        }),
        ("linked pack directory", |git, other| {
            let _ = fs::remove_dir_all(git.join("objects/pack"));
            symlink(other.join("objects/pack"), git.join("objects/pack")).unwrap();
        }),
        ("linked references", |git, other| {
            fs::remove_dir_all(git.join("refs")).unwrap();
            symlink(other.join("refs"), git.join("refs")).unwrap();
        }),
        ("a linked message", |git, other| {
            symlink(other.join("../s.txt"), git.join("MERGE_MSG")).unwrap();
        }),
        ("a linked log", |git, other| {
            fs::remove_dir_all(git.join("logs")).unwrap();
            symlink(other.join("logs"), git.join("logs")).unwrap();
        }),
        ("a working tree in the project", |git, other| {
            let fake = git.with_file_name("fake/worktrees/w");
            fs::create_dir_all(&fake).unwrap();
            fs::write(fake.join("commondir"), format!("{}\n", other.display())).unwrap();
            fs::write(fake.join("gitdir"), format!("{}\n", git.display())).unwrap();
            fs::write(fake.join("HEAD"), "ref: refs/heads/main\n").unwrap();
            fs::remove_dir_all(git).unwrap();
            fs::write(git, "gitdir: fake/worktrees/w\n").unwrap();
        }),
        ("the working tree of another directory", |git, other| {
            let tree = other.join("worktrees/w");
            fs::create_dir_all(&tree).unwrap();
            fs::write(tree.join("commondir"), "../..\n").unwrap();
            fs::write(tree.join("gitdir"), "/elsewhere/.git\n").unwrap();
            fs::write(tree.join("HEAD"), "ref: refs/heads/main\n").unwrap();
            fs::remove_dir_all(git).unwrap();
            fs::write(git, format!("gitdir: {}\n", tree.display())).unwrap();
        }),
    ];
    for (name, attack) in attacks {
        let repository = TestRepository::new();
        let other = other_repository(&repository);
        attack(&repository.root().join(".git"), &other);
        for line in ["git|show|HEAD:s.txt", "git|log|-p|--all", "git|status", "git|branch|-D|main"]
        {
            let answer = repository.exec_line(line);
            assert!(matches!(answer, Err(AbilityRefusal::Refused(_))), "{name} {line}: {answer:?}");
        }
    }
    let repository = TestRepository::new();
    other_repository(&repository);
    let root = repository.root();
    fs::remove_dir_all(root.join(".git")).unwrap();
    for name in ["a.tar", "a.txt", "b.txt", ".gitattributes"] {
        fs::remove_file(root.join(name)).unwrap();
    }
    fs::remove_dir(&root).unwrap();
    let outside = repository.outside().join("other");
    let added = std::process::Command::new("git")
        .args(["worktree", "add", "--quiet", "-b", "topic"])
        .arg(&root)
        .current_dir(&outside)
        .status();
    assert!(added.unwrap().success());
    let answer = repository.exec_line("git|log|--oneline").unwrap();
    assert_eq!(answer["status"], 0, "its own repository: {answer}");
}

/// Y04: without a repository, `git diff` would compare any files.
#[test]
fn y04_git_is_no_way_to_compare_files() {
    let repository = hostile_project();
    fs::remove_dir_all(repository.root().join(".git")).unwrap();
    for line in ["git|diff|d1|d2", "git|diff|a.txt|.env", "git|diff|--|d1|d2"] {
        let words: Vec<String> = line.split('|').map(str::to_owned).collect();
        assert!(!check_answer(&words, &repository.exec_line(line)), "{line}");
    }
}
