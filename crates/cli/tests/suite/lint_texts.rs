//! Findings of `brief lint` about texts that an agent gets together, and about comments that take findings back.

use brief_testkit::{Sandbox, make_link};

use crate::project;

/// The findings in the area of texts: severity, code, place, message.
fn found(project: &Sandbox) -> Vec<String> {
    found_with(project, &[])
}

fn found_with(project: &Sandbox, options: &[&str]) -> Vec<String> {
    let json = project.run(&[&["lint", "--json"], options].concat()).json();
    let all = json["diagnostics"].as_array().unwrap().iter();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let shown = all.map(|one| {
        let code = text(&one["code"]);
        let (severity, path) = (text(&one["severity"]), text(&one["path"]));
        (
            code.clone(),
            format!("{severity} {code} {path}:{} {}", one["line"], text(&one["message"])),
        )
    });
    shown.filter(|(code, _)| code.starts_with("guidance/")).map(|(_, shown)| shown).collect()
}

fn cursor(globs: &str, text: &str) -> String {
    let always = globs.is_empty();
    format!("---\ndescription: x\nglobs: {globs}\nalwaysApply: {always}\n---\n{text}\n")
}

/// Both places are named, and a client that loads both.
#[test]
fn a_contradiction_names_both_places() {
    let project = project()
        .with_file("src/a.ts", "")
        .with_file("AGENTS.md", "# Shop\n\nUse pnpm as the package manager.\n")
        .with_file(".cursor/rules/setup.mdc", cursor("", "Use npm to install packages."));
    let found = found(&project);
    assert_eq!(found.len(), 1, "{found:?}");
    let expected = "warning guidance/contradiction .cursor/rules/setup.mdc:6 `Use npm to install packages` contradicts \
                    `Use pnpm as the package manager` in AGENTS.md:3 (package manager)";
    assert!(found[0].starts_with(expected), "{found:?}");
    assert!(found[0].contains("Cursor"), "{found:?}");
}

/// Texts that never meet are not compared: other files, or conditions.
#[test]
fn texts_that_never_meet_do_not_contradict() {
    for (first, second) in [
        (cursor("web/**", "Use npm."), cursor("api/**", "Use pnpm.")),
        // For some files of many, a text may set something else.
        (cursor("", "Use tabs."), cursor("web/**", "Use 2 spaces.")),
        (cursor("", "Use npm."), cursor("", "If there is a lock file of pnpm, use pnpm.")),
        (cursor("", "# A\n\n## Python\n\nUse 4 spaces."), cursor("", "# A\n\n## Go\n\nUse tabs.")),
        (
            cursor("", "# A\n\n## Dashboard\n\nUse npm."),
            cursor("", "# A\n\n## Worker\n\nUse pnpm."),
        ),
        (cursor("", "# A\n\n## Bad examples\n\nUse npm."), cursor("", "Use pnpm.")),
    ] {
        let project = project()
            .with_file("web/a.ts", "")
            .with_file("api/b.ts", "")
            .with_file("c.ts", "")
            .with_file(".cursor/rules/one.mdc", &first)
            .with_file(".cursor/rules/two.mdc", &second);
        assert_eq!(found(&project), [""; 0], "{first} {second}");
    }
}

/// A narrower text cannot lift a ban, and a command counts against it.
#[test]
fn a_ban_holds_for_all_files() {
    let commands = "```bash\nnpm install\n```";
    for second in ["Use npm.", commands] {
        let project = project()
            .with_file("web/a.ts", "")
            .with_file("b.ts", "")
            .with_file("c.ts", "")
            .with_file(".cursor/rules/one.mdc", cursor("", "Never use npm."))
            .with_file(".cursor/rules/two.mdc", cursor("web/**", second));
        let found = found(&project);
        assert!(matches!(&found[..], [one] if one.contains("guidance/contradiction")), "{found:?}");
    }
}

/// Texts that only the hook brings together are a note.
#[test]
fn texts_of_different_clients_are_a_note() {
    let project = project()
        .with_file("a.ts", "")
        .with_file(".windsurf/rules/a.md", "---\ntrigger: always_on\n---\nUse single quotes.\n")
        .with_file(".clinerules/b.md", "Use double quotes.\n");
    let found = found(&project);
    assert!(
        matches!(&found[..], [one] if one.starts_with("note guidance/contradiction")),
        "{found:?}"
    );
}

/// One text, and entries of one file.
#[test]
fn one_file_can_contradict_itself() {
    let yaml = "context:\n  - content: Use tabs for indentation.\n  - content: Indent with 2 spaces.\n    match: ['**/*.py']\n  \
                - content: Use double quotes.\n  - content: Use single quotes.\n";
    let project = project()
        .with_file("a.ts", "")
        .with_file("b.ts", "")
        .with_file("c.py", "")
        .with_file("AGENTS.yaml", yaml);
    let found = found(&project);
    assert!(
        matches!(&found[..], [one] if one.contains("AGENTS.yaml:6") && one.contains("line 5")),
        "{found:?}"
    );
    let text = "# Shop\n\n- Use single quotes.\n\n## Style\n\n- Use double quotes for strings\n";
    let project = project_with(text);
    assert_eq!(super::lint_texts::found(&project).len(), 1, "{text}");
}

fn project_with(text: &str) -> Sandbox {
    project().with_file("a.ts", "").with_file("CLAUDE.md", text)
}

const PASSAGES: &str = "Prices are integers in cents, never floats, and every amount has the name of its currency beside it.\n\n\
    Handlers validate their input with the schemas of the module before they touch the database or another service.\n\n\
    Errors have a code that users can look up, a message in plain words, and the cause that the log keeps for us.\n\n\
    Migrations are written by hand, reviewed by two people, and can be taken back with one command on a copy.\n\n\
    Tests name the behavior that they check, start from an empty database, and call no service outside the machine.\n";

/// Passages that a client loads twice are counted in tokens, also when some words differ.
#[test]
fn passages_that_are_loaded_twice_are_counted() {
    let other = PASSAGES
        .replace("by two people", "by two other people")
        .replace("in plain words", "in very plain words");
    let project = project()
        .with_file("a.ts", "")
        .with_file("AGENTS.md", PASSAGES)
        .with_file(".cursor/rules/all.mdc", cursor("", &format!("{other}\nMore.")));
    let found = found(&project);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("warning guidance/repeated-text .cursor/rules/all.mdc:6 duplicates ~"),
        "{found:?}"
    );
    let tokens =
        found[0].split('~').nth(1).unwrap().split(' ').next().unwrap().parse::<usize>().unwrap();
    assert!((90..200).contains(&tokens), "{tokens}");
}

/// A link to a file is the same file, and two clients that each load one copy load nothing twice.
#[test]
fn copies_for_two_clients_are_not_repeated() {
    let linked = project().with_file("a.ts", "").with_file("AGENTS.md", PASSAGES);
    make_link(std::path::Path::new("AGENTS.md"), &linked.path().join("CLAUDE.md"));
    assert_eq!(found(&linked), [""; 0]);
    let apart = project()
        .with_file("a.ts", "")
        .with_file(".windsurf/rules/a.md", format!("---\ntrigger: always_on\n---\n{PASSAGES}"))
        .with_file(".clinerules/b.md", PASSAGES);
    assert_eq!(found(&apart), [""; 0]);
}

/// Texts for other files do not add up. The count is told on request: no author has one sentence to correct.
#[test]
fn instructions_are_counted_for_one_file() {
    let rules = |number: usize| "- Always keep this rule.\n".repeat(number);
    let apart = project()
        .with_file("web/a.ts", "")
        .with_file("api/b.ts", "")
        .with_file(".cursor/rules/one.mdc", cursor("web/**", &rules(100)))
        .with_file(".cursor/rules/two.mdc", cursor("api/**", &rules(100)));
    assert_eq!(found_with(&apart, &["--pedantic"]), [""; 0]);
    let together = project()
        .with_file("web/a.ts", "")
        .with_file(".cursor/rules/one.mdc", cursor("web/**", &rules(100)))
        .with_file(".cursor/rules/two.mdc", cursor("", &rules(90)));
    assert_eq!(found(&together), [""; 0]);
    let found = found_with(&together, &["--pedantic"]);
    let counts: Vec<&String> = found.iter().filter(|one| one.contains("too-many")).collect();
    assert!(
        matches!(&counts[..], [one] if one.contains(" gets 190 instructions at once for `web/a.ts`")),
        "{found:?}"
    );
}

/// A comment that suppresses nothing is a finding, unless other commands or `--pedantic` look for its rule.
#[test]
fn an_unused_comment_is_found() {
    let text = "<!-- brief-ignore client/broken-link: one day -->\n\
                <!-- brief-ignore-file no/such-rule: typo -->\n\
                <!-- brief-ignore capability/hosts: by audit -->\n\
                <!-- brief-ignore item/no-license: small -->\n\
                <!-- brief-ignore client/broken-link, guidance/missing-target: one of both -->\n\
                [a](gone.md)\n\n```md\n<!-- brief-ignore client/limit: an example -->\n```\n";
    let found = found(&project_with(text));
    let codes: Vec<&str> =
        found.iter().map(|one| one.split("brief-ignore ").nth(1).unwrap()).collect();
    assert_eq!(
        codes,
        [
            "client/broken-link` suppresses nothing",
            "no/such-rule` names an unknown rule",
            "guidance/missing-target` suppresses nothing"
        ]
    );
    assert!(found[0].contains("CLAUDE.md:1 ") && found[2].contains("CLAUDE.md:5 "), "{found:?}");
}

/// `--strict` is for CI: a warning fails it, a note does not.
#[test]
fn strict_fails_on_warnings() {
    let project = project_with("Use tabs.\n\nUse 4 spaces for indentation.\n");
    assert_eq!(project.run(&["lint"]).code, Some(0));
    assert_eq!(project.run(&["lint", "--strict"]).code, Some(1));
}

/// R07: one cause is one finding, with its other places.
#[test]
fn one_cause_is_one_finding() {
    let link = "See [the license](../LICENSE.md).\n";
    let rule = |name: &str| (format!(".claude/rules/{name}.md"), format!("{link}{name}\n"));
    let rules = ["a", "b", "c", "d", "e"].map(rule);
    let project =
        rules.iter().fold(project(), |project, (path, text)| project.with_file(path, text));
    let json = project.run(&["lint", "--json"]).json();
    let [found] = json["diagnostics"].as_array().unwrap().as_slice() else { panic!("{json}") };
    assert_eq!((&found["count"], &json["warnings"]), (&5.into(), &1.into()));
    let places: Vec<&str> =
        found["also"].as_array().unwrap().iter().map(|one| one["path"].as_str().unwrap()).collect();
    assert_eq!(
        places,
        [".claude/rules/b.md", ".claude/rules/c.md", ".claude/rules/d.md", ".claude/rules/e.md"]
    );
    let text = project.run(&["lint"]).stdout;
    let note = "4 more with the same cause: .claude/rules/b.md:1, .claude/rules/c.md:1, .claude/rules/d.md:1, …";
    assert!(text.contains(note), "{text}");
    let sarif: serde_json::Value =
        serde_json::from_str(&project.run(&["lint", "--format", "sarif"]).stdout).unwrap();
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["occurrenceCount"], 5);
    assert_eq!(result["relatedLocations"].as_array().unwrap().len(), 4);
    // A baseline knows each place.
    let recorded = project.run(&["lint", "--baseline", "--update-baseline"]);
    assert_eq!(recorded.code, Some(0), "{recorded}");
    let json = project.run(&["lint", "--baseline", "--json"]).json();
    assert_eq!((&json["known"], &json["diagnostics"]), (&5.into(), &serde_json::json!([])));
}

/// R07: lines of a broken header are not read as fields that stand twice.
#[test]
fn a_dialogue_in_a_header_is_one_finding() {
    let example = "<example>\nContext: It is done.\nuser: \"Do it\"\nassistant: \"Done: all of it\"\n</example>\n";
    let header = format!(
        "---\nname: simplifier\ndescription: Use it after a change. Examples:\\n\n{example}\n{example}\n---\nText.\n"
    );
    let project = project().with_file(".claude/agents/simplifier.md", header);
    let json = project.run(&["lint", "--json"]).json();
    let codes: Vec<&str> = json["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["code"].as_str().unwrap())
        .collect();
    assert_eq!(codes, ["frontmatter-invalid"], "{json}");
}

/// A skill without a `description` has one finding, and not another about the words that take its place.
#[test]
fn a_missing_description_is_not_vague_as_well() {
    let project = project()
        .with_file(".claude/skills/review/SKILL.md", "@../../../.agents/review.md\n")
        .with_file(
            ".claude/skills/tidy/SKILL.md",
            "---\nname: tidy\ndescription: Tidy up\n---\nx\n",
        );
    let found = found(&project);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("warning guidance/vague-description .claude/skills/tidy/"),
        "{found:?}"
    );
}
