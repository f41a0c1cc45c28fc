//! `brief registry fmt`

use crate::project;

const UNTIDY: &str = "---\nschema:   1\nname: demo\ndescription: Use when it is shown  # why\n# a comment\nmetadata:\n    zeta: 1\n    alpha:\n    - x\n---\n## Steps\n* one\n* two\n\n\n\n```py\na\n\n\nb\n```\n<!-- @client:claude -->\nUse it.\n<!-- @endclient -->\n";

/// §7.4 and N20: one layout, with comments, order and code kept, and a second run changes nothing.
#[test]
fn files_get_one_layout_and_keep_what_they_say() {
    let project = project().with_file("rules/demo/RULE.md", UNTIDY);
    insta::assert_snapshot!(project.run(&["registry", "fmt", "--check"]), @"
    rules/demo/RULE.md
    ------- stderr -------
    1 of 1 file would change
    [exit status: 1]
    [EOF]
    ");
    assert_eq!(project.read("rules/demo/RULE.md"), UNTIDY);
    assert_eq!(project.run(&["registry", "fmt"]).code, Some(0));
    insta::assert_snapshot!(project.read("rules/demo/RULE.md"), @"
    ---
    schema: 1
    name: demo
    description: Use when it is shown  # why
    # a comment
    metadata:
        zeta: 1
        alpha:
          - x
    ---

    ## Steps

    - one
    - two

    ```py
    a


    b
    ```

    <!-- @client:claude -->

    Use it.

    <!-- @endclient -->
    ");
    insta::assert_snapshot!(project.run(&["registry", "fmt", "--check"]), @"
    ------- stderr -------
    0 of 1 file would change
    [EOF]
    ");
}

/// Files of other formats, and files outside a registry, are left alone.
#[test]
fn other_files_are_left_alone() {
    let skill = "---\nname: s\ndescription: d\n---\n# S\n* x\n";
    let project = project()
        .with_file("skills/s/SKILL.md", skill)
        .with_file("README.md", "* x\n")
        .with_file("rules/broken/RULE.md", "* no front matter\n");
    insta::assert_snapshot!(project.run(&["registry", "fmt"]), @"
    ------- stderr -------
    0 of 0 files changed
    [EOF]
    ");
    assert_eq!(project.read("skills/s/SKILL.md"), skill);
    assert_eq!(project.read("README.md"), "* x\n");
}

/// A directory or file can be laid out alone; what is outside or not there is refused.
#[test]
fn a_part_can_be_laid_out_alone() {
    let project = project()
        .with_file("rules/demo/RULE.md", UNTIDY)
        .with_file("skills/other/SKILL.md", UNTIDY.replace("demo", "other"));
    assert_eq!(project.run(&["registry", "fmt", "skills"]).stdout, "skills/other/SKILL.md\n");
    assert_eq!(project.read("rules/demo/RULE.md"), UNTIDY);
    assert_eq!(project.run(&["registry", "fmt", ".."]).code, Some(1));
    assert_eq!(project.run(&["registry", "fmt", "missing"]).code, Some(1));
}
