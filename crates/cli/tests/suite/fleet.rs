//! Many repositories at once, clones and bare ones, read as objects.

use std::fs;
use std::path::Path;

use brief_testkit::Sandbox;
use brief_testkit::snapshot::copy_directory;
use serde_json::Value;

use crate::artifacts::{commit, git, publish, skill, source};
use crate::project;

/// Makes a repository with an installed skill, below `fleet`.
fn member(project: &Sandbox, name: &str, address: &str) -> String {
    let path = project.path().join("fleet").join(name);
    fs::create_dir_all(&path).unwrap();
    let output = project.run(&["-C", path.to_str().unwrap(), "add", address, "--client", "claude"]);
    assert_eq!(output.code, Some(0), "{output}");
    let path = path.to_str().unwrap().to_owned();
    commit(&path, "1700000000");
    path
}

fn repository<'v>(answer: &'v Value, path: &str) -> &'v Value {
    let all = answer["repositories"].as_array().unwrap();
    all.iter().find(|one| one["path"] == path).unwrap_or_else(|| panic!("{path}: {answer:#}"))
}

#[test]
fn a_fleet_is_read_as_objects() {
    let project = project();
    let kept = format!("oci-layout:{}", project.outside_directory().join("kept").display());
    let from = source(&project, "source", &[("skills/hello/SKILL.md", &skill("hello", "One."))]);
    let first = publish(&project, &format!("{kept}:v1"), &from, &[]);
    fs::write(Path::new(&from).join("skills/hello/SKILL.md"), skill("hello", "Two.")).unwrap();
    let second = publish(&project, &format!("{kept}:v2"), &from, &[]);

    let old = member(&project, "old", &format!("{kept}:v1"));
    let new = member(&project, "new", &format!("{kept}:v2"));
    let bare = project.path().join("fleet/bare.git").to_str().unwrap().to_owned();
    git(&old, &["clone", "--quiet", "--bare", &old, &bare], "1700000000");
    // What is not committed does not count; what is committed does.
    fs::write(Path::new(&old).join(".claude/skills/hello/SKILL.md"), "changed").unwrap();
    fs::write(Path::new(&new).join(".claude/skills/hello/SKILL.md"), "changed").unwrap();
    commit(&new, "1700000001");
    let empty = project.path().join("fleet/empty").to_str().unwrap().to_owned();
    fs::create_dir_all(&empty).unwrap();
    git(&empty, &["init", "--quiet"], "1700000000");
    let plain = project.path().join("fleet/plain").to_str().unwrap().to_owned();
    fs::create_dir_all(&plain).unwrap();
    fs::write(Path::new(&plain).join("AGENTS.md"), "# Be brief\n").unwrap();
    commit(&plain, "1700000000");
    let torn = project.path().join("fleet/torn").to_str().unwrap().to_owned();
    fs::create_dir_all(&torn).unwrap();
    fs::write(Path::new(&torn).join("brief.lock"), "version = 2\n[[item]]\nkind = 1\n").unwrap();
    commit(&torn, "1700000000");
    fs::create_dir_all(project.path().join("fleet/no-repository")).unwrap();

    let output = project.run(&["fleet", "status", "fleet", "--json"]);
    assert_eq!(output.code, Some(0), "{output}");
    let answer = output.json();
    assert_eq!(answer["repositories"].as_array().unwrap().len(), 6, "{answer:#}");
    for path in ["fleet/old", "fleet/bare.git"] {
        let one = repository(&answer, path);
        assert_eq!(one["sources"][0]["commit"], first.as_str());
        assert_eq!(one["items"][0]["name"], "hello");
        assert_eq!(one["drifted"].as_array().unwrap().len(), 0, "{one:#}");
    }
    let one = repository(&answer, "fleet/new");
    assert_eq!(one["sources"][0]["commit"], second.as_str());
    assert_eq!(one["drifted"][0], ".claude/skills/hello/SKILL.md");
    assert_eq!(repository(&answer, "fleet/empty")["guidance"], false);
    assert_eq!(repository(&answer, "fleet/empty")["problem"], Value::Null);
    assert_eq!(repository(&answer, "fleet/plain")["guidance"], true);
    assert!(repository(&answer, "fleet/torn")["problem"].as_str().unwrap().contains("brief.lock"));

    let output = project.run(&["fleet", "status", "fleet"]);
    for words in [
        "2 repositories: fleet/bare.git, fleet/old",
        "drifted: 1 repository: fleet/new",
        "without guidance: 1 repository: fleet/empty",
    ] {
        assert!(output.stdout.contains(words), "{words}: {output}");
    }
    assert!(output.stdout.contains("not signed, "), "{output}");

    // A tag that has moved on: each source is asked once.
    assert_eq!(repository(&answer, "fleet/old")["sources"][0]["behind"], Value::Null);
    let later = member(&project, "later", &format!("{kept}:v2"));
    let absolute = |path: &str| {
        let lock = Path::new(path).join("brief.lock");
        let text = fs::read_to_string(&lock).unwrap();
        let line = text.lines().find(|line| line.starts_with("oci = ")).unwrap().to_owned();
        fs::write(&lock, text.replace(&line, &format!("oci = \"{kept}\""))).unwrap();
        commit(path, "1700000002");
    };
    absolute(&later);
    absolute(&old);
    assert_eq!(project.run(&["registry", "tag", &format!("{kept}@{second}"), "v1"]).code, Some(0));
    let output = project.run(&["fleet", "status", "fleet", "--ask", "--json"]);
    let answer = output.json();
    assert_eq!(repository(&answer, "fleet/old")["sources"][0]["behind"], true, "{answer:#}");
    assert_eq!(repository(&answer, "fleet/later")["sources"][0]["behind"], false);
    let output = project.run(&["fleet", "status", "fleet", "--ask"]);
    assert!(output.stdout.contains("behind: 1 repository: fleet/old\n"), "{output}");

    // A list of paths; one that is gone is told with the others.
    project.write("list.txt", "# ours\nfleet/old\n\nfleet/gone\n");
    let output = project.run(&["fleet", "status", "list.txt", "--csv"]);
    let lines: Vec<&str> = output.stdout.lines().collect();
    assert_eq!(lines.len(), 3, "{output}");
    assert!(lines[1].starts_with("fleet/gone,") && lines[1].ends_with("not a git repository"));
    assert!(lines[2].contains(&first), "{output}");
    let output = project.run(&["fleet", "status", "fleet/no-repository"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert_eq!(project.run(&["fleet", "status", "missing"]).code, Some(1));
}

/// Many repositories are read in one run, in parallel: all of them are in the answer.
#[test]
fn three_hundred_repositories_are_read() {
    let project = project();
    let kept = format!("oci-layout:{}", project.outside_directory().join("kept").display());
    let from = source(&project, "source", &[("skills/hello/SKILL.md", &skill("hello", "One."))]);
    publish(&project, &kept, &from, &[]);
    let one = member(&project, "one", &kept);
    let bare = project.outside_directory().join("one.git");
    git(
        &one,
        &["clone", "--quiet", "--bare", "--template=", &one, bare.to_str().unwrap()],
        "1700000000",
    );
    let all = project.outside_directory().join("all");
    for number in 0..300 {
        copy_directory(&bare, &all.join(format!("repository-{number}")));
    }
    let answer = project.run(&["fleet", "status", all.to_str().unwrap(), "--json"]).json();
    let members = answer["repositories"].as_array().unwrap();
    assert_eq!(members.len(), 300);
    assert!(
        members.iter().all(|one| one["items"][0]["name"] == "hello" && one["problem"].is_null())
    );
}
