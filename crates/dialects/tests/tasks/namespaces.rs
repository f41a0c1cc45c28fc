//! Namespaces (ruling T1).

use brief_system::MemorySystem;

use super::support::{failure, left_out, project, rules, run, skills, task_text, warnings};

fn skill(name: &str) -> String {
    format!("---\nname: {name}\ndescription: d\n---\n")
}

/// Two of everything: in the namespace `team`, and in none.
fn both() -> MemorySystem {
    project()
        .with_file(".agents/namespaces/team/tasks/x.md", "TEAM\n/c\n")
        .with_file(".agents/namespaces/team/commands/c.md", "TEAM COMMAND\n")
        .with_file(".agents/namespaces/team/rules/r.md", "TEAM RULE\n")
        .with_file(".agents/namespaces/team/skills/s/SKILL.md", skill("team-skill"))
        .with_file(".agents/namespaces/other/rules/r.md", "OTHER RULE\n")
        .with_file(".agents/namespaces/other/skills/s/SKILL.md", skill("other-skill"))
        .with_file(".agents/tasks/x.md", "GLOBAL\n/c\n")
        .with_file(".agents/commands/c.md", "GLOBAL COMMAND\n")
        .with_file(".agents/rules/r.md", "GLOBAL RULE\n")
        .with_file(".agents/skills/s/SKILL.md", skill("global-skill"))
}

/// T1: "`ns/name` looks in `.agents/namespaces/ns/` first (commands, rules and skills too), then in
/// the global places".
#[test]
fn a_namespace_comes_first() {
    let prompt = run(&both(), &["team/x"]);
    assert_eq!(task_text(&prompt), "TEAM\nTEAM COMMAND\n");
    let shadowed = left_out(&prompt);
    let shadowed: Vec<&str> = shadowed.iter().map(|(path, _)| *path).collect();
    assert_eq!(shadowed, [".agents/tasks/x.md", ".agents/commands/c.md"]);
    assert_eq!(rules(&prompt), [".agents/namespaces/team/rules/r.md", ".agents/rules/r.md"]);
    assert_eq!(
        skills(&prompt),
        [".agents/namespaces/team/skills/s/SKILL.md", ".agents/skills/s/SKILL.md"]
    );
    assert_eq!(warnings(&prompt), [""; 0]);
}

/// A task in no namespace sees nothing of any.
#[test]
fn without_a_namespace_none_is_searched() {
    let prompt = run(&both(), &["x"]);
    assert_eq!(task_text(&prompt), "GLOBAL\nGLOBAL COMMAND\n");
    assert_eq!(rules(&prompt), [".agents/rules/r.md"]);
    assert_eq!(skills(&prompt), [".agents/skills/s/SKILL.md"]);
    assert_eq!(left_out(&prompt).len(), 0);
}

/// T1: "then in the global places".
#[test]
fn a_global_task_is_found_through_a_namespace() {
    let system = both().with_file(".agents/tasks/y.md", "GLOBAL Y\n/c\n");
    let prompt = run(&system, &["team/y"]);
    assert_eq!(task_text(&prompt), "GLOBAL Y\nTEAM COMMAND\n");
    assert_eq!(rules(&prompt).len(), 2);
}

/// Tasks of a namespace are not found without it.
#[test]
fn a_task_of_a_namespace_needs_it() {
    let system = project().with_file(".agents/namespaces/team/tasks/y.md", "Y\n");
    assert_eq!(failure(&system, &["y"]).to_string(), "no task found: y");
    assert_eq!(failure(&system, &["other/y"]).to_string(), "no task found: other/y");
    assert_eq!(task_text(&run(&system, &["team/y"])), "Y\n");
    assert_eq!(task_text(&run(&system, &["/team/y"])), "Y\n");
}

/// Reference 1.4: "`namespace=NS` (or `\"\"`)" is a selector that users do not have to write.
#[test]
fn rules_may_be_for_a_namespace() {
    let system = both().with_file(".agents/rules/n.md", "---\nnamespace: team\n---\nN\n");
    assert!(rules(&run(&system, &["team/x"])).contains(&".agents/rules/n.md"));
    assert!(!rules(&run(&system, &["x"])).contains(&".agents/rules/n.md"));
}

/// The namespace of a later root comes before the global places of an earlier one, for tasks and
/// commands, of which there is one.
#[test]
fn a_namespace_at_home_comes_before_the_projects_global_places() {
    let system = project()
        .with_file(".agents/tasks/x.md", "PROJECT\n/c\n")
        .with_file(".agents/commands/c.md", "PROJECT COMMAND\n")
        .with_file("/h/.agents/namespaces/team/tasks/x.md", "HOME TEAM\n/c\n")
        .with_file("/h/.agents/namespaces/team/commands/c.md", "HOME COMMAND\n");
    assert_eq!(task_text(&run(&system, &["team/x"])), "HOME TEAM\nHOME COMMAND\n");
}
