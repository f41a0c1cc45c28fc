//! Many runs at once, and runs that are killed by the system: real processes on one project.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use brief_testkit::Sandbox;

use crate::project;
use brief_testkit::snapshot::{remove_mark, render_item};

/// Runs at once.
const RUNS: usize = 20;

/// A source beside the project with some skills, each with some files.
fn source(project: &Sandbox, skills: usize, files: usize, text: &str) {
    let source = project.outside_directory().join("source");
    if source.exists() {
        fs::remove_dir_all(&source).unwrap();
    }
    for number in 0..skills {
        let name = format!("skill-{number}");
        let directory = source.join("skills").join(&name);
        fs::create_dir_all(directory.join("files")).unwrap();
        fs::write(directory.join("SKILL.md"), render_item(&name, text)).unwrap();
        for file in 0..files {
            let path = directory.join("files").join(format!("{file}.txt"));
            fs::write(path, format!("{text} {number} {file}\n").repeat(20)).unwrap();
        }
    }
}

fn with_source(skills: usize, files: usize) -> Sandbox {
    let project = project()
        .with_file("CLAUDE.md", "# Mine\n")
        .with_file(".claude/settings.json", "{}\n")
        .with_file("brief.toml", "[sources.s]\ndirectory = \"../outside/source\"\nall = true\n");
    source(&project, skills, files, "one");
    project
}

/// Every file of the project, but for the one that only keeps runs apart.
fn tree(project: &Sandbox) -> BTreeMap<String, Vec<u8>> {
    fn collect(directory: &Path, below: &str, found: &mut BTreeMap<String, Vec<u8>>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = format!("{below}{}", path.file_name().unwrap().to_str().unwrap());
            if path.is_dir() {
                collect(&path, &format!("{name}/"), found);
            } else {
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    collect(&project.path(), "", &mut found);
    found.remove(".brief/lock");
    if let Some(record) = found.get_mut(".brief/installed.json") {
        remove_mark(record);
    }
    found
}

fn names(tree: &BTreeMap<String, Vec<u8>>) -> Vec<&String> {
    tree.keys().collect()
}

fn sync(project: &Sandbox) {
    let output = project.run(&["sync"]);
    assert_eq!(output.code, Some(0), "{output}");
}

fn start(project: &Sandbox, args: &[&str]) -> Child {
    let mut command = project.prepare_command("", args);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn end(run: Child) -> (Option<i32>, String) {
    let output = run.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Issue 6: a process that is killed leaves something that the next one makes whole.
#[test]
fn a_sync_that_is_killed_is_finished_by_the_next_one() {
    let reference = with_source(20, 5);
    sync(&reference);
    let old = tree(&reference);
    source(&reference, 18, 6, "two");
    sync(&reference);
    let new = tree(&reference);

    let project = with_source(20, 5);
    let begin = Instant::now();
    sync(&project);
    let usual = begin.elapsed();
    assert_eq!(names(&tree(&project)), names(&old));
    let mut killed = 0;
    for number in 0_u32..20 {
        if begin.elapsed() > Duration::from_secs(8) {
            break;
        }
        let (skills, files, text) = if number % 2 == 0 { (18, 6, "two") } else { (20, 5, "one") };
        source(&project, skills, files, text);
        let mut run = start(&project, &["sync"]);
        // From right after the start to about its end.
        thread::sleep(usual.mul_f64(f64::from(number) / 16.0));
        run.kill().unwrap();
        killed += usize::from(run.wait().unwrap().code().is_none());
        let expected = if number % 2 == 0 { &new } else { &old };
        sync(&project);
        let found = tree(&project);
        assert_eq!(names(&found), names(expected), "run {number}");
        assert!(found == *expected, "run {number}");
    }
    assert!(killed > 0, "no run was killed before its end");
}

/// Issue 6: 20 processes on one project, and others that only look.
#[test]
fn many_runs_at_once_end_as_one() {
    let alone = with_source(12, 3);
    sync(&alone);
    let expected = tree(&alone);

    let project = with_source(12, 3);
    let writers: Vec<Child> = (0..RUNS).map(|_| start(&project, &["sync"])).collect();
    let readers: Vec<Child> = (0..RUNS / 2)
        .map(|number| {
            let asked = [&["list"][..], &["sync", "--check"], &["sync", "--diff"]];
            start(&project, asked[number % asked.len()])
        })
        .collect();
    for run in writers {
        let (code, stderr) = end(run);
        assert_eq!(code, Some(0), "{stderr}");
    }
    for run in readers {
        let (code, stderr) = end(run);
        assert!(matches!(code, Some(0 | 1)), "{code:?}: {stderr}");
        assert!(!stderr.contains("panicked"), "{stderr}");
    }
    assert!(tree(&project) == expected);

    source(&project, 10, 4, "two");
    source(&alone, 10, 4, "two");
    sync(&alone);
    let writers: Vec<Child> = (0..RUNS).map(|_| start(&project, &["sync"])).collect();
    for run in writers {
        let (code, stderr) = end(run);
        assert_eq!(code, Some(0), "{stderr}");
    }
    assert!(tree(&project) == tree(&alone));

    let frozen: Vec<Child> = (0..RUNS)
        .map(|number| match number % 2 {
            0 => start(&project, &["sync", "--frozen"]),
            _ => start(&project, &["sync"]),
        })
        .collect();
    for run in frozen {
        let (code, stderr) = end(run);
        assert_eq!(code, Some(0), "{stderr}");
    }
    assert!(tree(&project) == tree(&alone));
}

/// R3: a run reads the manifest again when it holds the lock, so that it keeps what another run has added.
#[test]
fn fifty_additions_at_once_are_all_there() {
    const ADDITIONS: usize = 50;
    let project = project().with_file("brief.toml", "# Mine.\n");
    source(&project, ADDITIONS, 1, "one");
    let add = |number: usize| {
        let name = format!("skill-{number}");
        start(&project, &["add", "../outside/source", &name])
    };
    let runs: Vec<Child> = (0..ADDITIONS).map(add).collect();
    for run in runs {
        let (code, stderr) = end(run);
        assert_eq!(code, Some(0), "{stderr}");
    }
    let (manifest, lock) = (project.read("brief.toml"), project.read("brief.lock"));
    assert!(manifest.starts_with("# Mine.\n"), "{manifest}");
    for number in 0..ADDITIONS {
        let name = format!("skill-{number}");
        assert!(manifest.contains(&format!("\"{name}\"")), "{name}: {manifest}");
        assert!(lock.contains(&format!("name = \"{name}\"")), "{name}: {lock}");
        let path = format!(".claude/skills/{name}/files/0.txt");
        assert!(project.path().join(&path).exists(), "{path}");
    }
    assert_eq!(project.run(&["sync", "--frozen"]).code, Some(0));
}

/// Two sources that would have the same name do not become one.
#[test]
fn two_sources_of_one_name_at_once_are_not_mixed_up() {
    let project = project();
    for place in ["a/guidance", "b/guidance"] {
        let directory = project.outside_directory().join(place).join("skills").join(&place[..1]);
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("SKILL.md"), render_item(&place[..1], "text")).unwrap();
    }
    let places = ["../outside/a/guidance", "../outside/b/guidance"];
    let runs: Vec<Child> = places.iter().map(|place| start(&project, &["add", place])).collect();
    for run in runs {
        let (code, stderr) = end(run);
        // The one that came too late says so; run again, it takes another name.
        let is_told = stderr.contains("another run added a source `guidance`");
        assert!(code == Some(0) || is_told, "{code:?}: {stderr}");
    }
    for place in places {
        let output = project.run(&["add", place]);
        assert_eq!(output.code, Some(0), "{output}");
    }
    for name in ["a", "b"] {
        assert!(project.path().join(format!(".claude/skills/{name}/SKILL.md")).exists());
    }
}

/// Issue 37, "Bad input": a registry that changes while it is read. What is installed is what was read and recorded, or nothing is, with a
/// sentence that says why.
#[test]
fn a_registry_that_changes_while_it_is_read_is_told_of() {
    // Larger than what is kept between reading and writing.
    let text = |letter: &str| letter.repeat(6 * 1024 * 1024);
    let (one, other) = (text("a"), text("b"));
    for _ in 0..6 {
        let project = with_source(2, 2);
        let large = project.outside_directory().join("source/skills/skill-0/files/large.txt");
        fs::write(&large, &one).unwrap();
        let mut command = project.prepare_command("", &["sync"]);
        let run = thread::spawn(move || command.stdin(Stdio::null()).output().unwrap());
        while !run.is_finished() {
            fs::write(&large, &other).unwrap();
            fs::write(&large, &one).unwrap();
        }
        let run = run.join().unwrap();
        let said = String::from_utf8_lossy(&[run.stdout, run.stderr].concat()).into_owned();
        let installed = project.path().join(".claude/skills/skill-0/files/large.txt");
        let lock = project.read("brief.lock");
        if run.status.code() == Some(0) {
            let hash = brief_system::hash::sha256(&fs::read(&installed).unwrap());
            assert!(lock.contains(&hash), "{said}");
        } else {
            // The other item is installed all the same.
            assert_eq!(run.status.code(), Some(1), "{said}");
            assert!(said.contains("changed while brief was reading it"), "{said}");
            assert!(!installed.exists() && !lock.contains("skill-0"), "{said}\n{lock}");
            assert!(lock.contains("skill-1"), "{said}\n{lock}");
        }
        // When it is at rest, the next run installs it.
        fs::write(&large, &other).unwrap();
        sync(&project);
        assert_eq!(fs::read(&installed).unwrap(), other.as_bytes());
    }
}
