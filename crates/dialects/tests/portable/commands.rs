//! Commands, an extension of the document (docs/reference/portable.md).

use brief_dialects::portable::{ItemKind, PortableItem};

use super::support::{files, findings, findings_of, good, item, read, the, with};

#[test]
fn a_command_is_an_item_with_arguments() {
    let text = with("ship", "arguments: [version]\n", "Ship $1, all of $ARGUMENTS.\n");
    let registry = read(&files(&[("commands/ship/COMMAND.md", &text)]));
    assert_eq!(findings(&registry), [""; 0]);
    assert!(the(&registry, "command-extension").path().ends_with("COMMAND.md"));
    let command = item(&registry, ItemKind::Command, "ship");
    assert!(command.is_valid());
    assert_eq!(command.arguments(), ["version"]);
    assert_eq!(command.argument_hint().as_deref(), Some("[version]"));
}

#[test]
fn arguments_have_names() {
    for (more, body, expected) in [
        ("arguments: [a]\n", "$2\n", "commands/x/COMMAND.md:9 invalid-argument"),
        ("arguments: [a, a]\n", "T\n", "commands/x/COMMAND.md:6 invalid-argument"),
        ("arguments: [A b]\n", "T\n", "commands/x/COMMAND.md:6 invalid-name"),
        ("arguments: x\n", "T\n", "commands/x/COMMAND.md:6 wrong-type"),
        ("argument-hint: [a]\n", "T\n", "commands/x/COMMAND.md:6 wrong-type"),
    ] {
        let found = findings_of(&[("commands/x/COMMAND.md", &with("x", more, body))]);
        assert!(found.iter().any(|one| one == expected), "{more}{body}{found:?}");
    }
}

#[test]
fn a_skill_hides_a_command_of_its_name() {
    let found =
        findings_of(&[("commands/x/COMMAND.md", &good("x")), ("skills/x/SKILL.md", &good("x"))]);
    assert!(found.contains(&"commands/x/COMMAND.md:1 command-hidden".to_owned()), "{found:?}");
}

/// The document says nothing about a directory `commands`: what lies there is as it was.
#[test]
fn other_items_may_lie_in_a_directory_of_that_name() {
    let system = files(&[
        ("commands/x/SKILL.md", &good("x")),
        ("commands/y/RULE.md", "# No item\n"),
        ("tools/commands/SKILL.md", &good("commands")),
    ]);
    let registry = read(&system);
    assert_eq!(findings(&registry), [""; 0]);
    let names: Vec<&str> = registry.items.iter().map(PortableItem::name).collect();
    assert_eq!(names, ["commands", "x"]);
}
