//! Findings of `brief lint` in public repositories that were noise, each beside the like that is a mistake.

use brief_testkit::Sandbox;
use serde_json::Value;

use crate::diff::{commit, git};
use crate::project;

/// The findings: code, severity, number of places.
fn lint(project: &Sandbox) -> Vec<(String, String, u64)> {
    let json = project.run(&["lint", "--json"]).json();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let found = json["diagnostics"].as_array().unwrap().iter();
    found
        .map(|one| (text(&one["code"]), text(&one["severity"]), one["count"].as_u64().unwrap_or(1)))
        .collect()
}

fn codes(project: &Sandbox) -> Vec<String> {
    lint(project).into_iter().map(|(code, ..)| code).collect()
}

fn skill(name: &str) -> String {
    format!(
        "---\nname: {name}\ndescription: Use it when {name} is asked for by the user.\n---\nText of {name}.\n"
    )
}

/// Programs that were committed with an item, and links to files that plugins share, are one thing to do each. A link that
/// stays in the repository works for all who clone it; in a registry it does not travel.
#[test]
fn files_that_do_not_travel_are_one_finding() {
    let programs = ["libsyn.rmeta", "dep-lib-quote", "build-script"];
    let binaries = programs.iter().fold(project(), |project, name| {
        project.with_file(&format!("skills/one/tool/{name}"), b"\x7fELF\x00\x01")
    });
    let binaries = binaries.with_file("skills/one/SKILL.md", skill("one"));
    let found = lint(&binaries);
    assert_eq!(found, [("capability/binary".to_owned(), "warning".to_owned(), 3)]);
    let linked = project()
        .with_file("shared/a.py", "")
        .with_file("skills/one/SKILL.md", skill("one"))
        .with_link("skills/one/scripts/a.py", "../../../shared/a.py")
        .with_link("skills/one/scripts/b.py", "../../../shared/a.py");
    let of = |severity: &str| [("item/not-a-file".to_owned(), severity.to_owned(), 2)];
    assert_eq!(lint(&linked), of("warning"));
    let registry = linked.with_file("brief.toml", "");
    assert_eq!(lint(&registry), of("error"));
    let outside = project()
        .with_file("skills/one/SKILL.md", skill("one"))
        .with_link("skills/one/scripts/a.py", "/etc/hosts")
        .with_link("skills/one/scripts/b.py", "/etc/hosts");
    assert_eq!(lint(&outside), of("error"));
}

/// A checkout has no files of submodules unless it is asked for them.
#[test]
fn files_of_absent_submodules_may_be_there() {
    let text = "See [guards](docs/internal/guards.md).\n\nRead `vendor/effect/core/index.ts` first.\n\n\
                ```bash\nbash vendor/effect/scripts/sync.sh\n```\n";
    let modules = "[submodule \"docs/internal\"]\n\tpath = docs/internal\n\turl = x\n\
                   [submodule \"effect\"]\n\tpath = vendor/effect\n\turl = y\n";
    let absent = project()
        .with_file("AGENTS.md", text)
        .with_file(".gitmodules", modules)
        .with_file("vendor/own.ts", "")
        .with_dir("vendor/effect");
    assert_eq!(codes(&absent), [""; 0]);
    let present =
        absent.with_file("vendor/effect/core/other.ts", "").with_file("docs/internal/other.md", "");
    assert_eq!(
        codes(&present),
        ["client/broken-link", "guidance/missing-path"],
        "a submodule that is checked out is checked"
    );
}

/// What a label, a column or a word announces as an example does not have to be there; what the text says of the project
/// does.
#[test]
fn examples_do_not_have_to_be_there() {
    let tree = || {
        project()
            .with_file("package.json", "{\"scripts\": {\"test\": \"x\"}}")
            .with_file("scripts/a.ts", "")
            .with_file("skills/x/scripts/real.py", "")
            .with_file("core/tests/validate-skills.test.ts", "")
    };
    let rules = "Reports name the commands to reproduce (e.g., `npm run dev`, `npm test`).\n\n\
                 - Example: [prisma.mdc](rules/prisma.mdc) shows the form\n\n\
                 | Pattern | Example |\n| - | - |\n| `scripts/tests/**` | `scripts/tests/validate-skills.test.ts` |\n";
    assert_eq!(codes(&tree().with_file("AGENTS.md", rules)), [""; 0]);
    let plain = rules
        .replace("(e.g., ", "(")
        .replace("Example: ", "See ")
        .replace("| Example |", "| Test |");
    assert_eq!(
        codes(&tree().with_file("AGENTS.md", plain)),
        ["guidance/missing-target", "client/broken-link", "guidance/missing-path"]
    );
    let own = |label: &str| {
        let list = format!("{label}\n\n- `./scripts/tool.py` → the skill's own\n");
        tree().with_file("skills/x/SKILL.md", skill("x") + "\n" + &list)
    };
    assert_eq!(codes(&own("**Valid:**")), [""; 0]);
    // After a parenthesis, and below another sentence, it is meant as it stands.
    let after = tree().with_file("AGENTS.md", "For a change (e.g. a fix) run `npm run dev`.\n");
    assert_eq!(codes(&after), ["guidance/missing-target"]);
}

/// What a text tells to be the past is right.
#[test]
fn a_former_name_is_not_stale() {
    let text = "| Layer | Path | Role |\n| - | - | - |\n\
                | glm | `skills/glm/SKILL.md` | consult (was `commands/glm.md`, migrated to a skill) |\n\n\
                `commands/glm.md` was merged into the skill, so `commands/glm.md` moved to `skills/glm/SKILL.md`.\n\n\
                - **2026-07-22** — The raw `commands/glm.md` has given way to a skill.\n\n\
                We migrated the consult from a raw `commands/glm.md` to a skill.\n";
    let project = project()
        .with_file("AGENTS.md", "Rules.\n")
        .with_file("commands/other.md", "---\ndescription: x\n---\nText.\n")
        .with_file("commands/glm.md", "---\ndescription: x\n---\nText.\n")
        .with_file("skills/glm/SKILL.md", skill("glm"));
    git(&project, &["init", "--quiet", "--initial-branch=main"]);
    commit(&project);
    git(&project, &["rm", "--quiet", "commands/glm.md"]);
    project.write("AGENTS.md", text);
    commit(&project);
    assert_eq!(codes(&project), [""; 0]);
    project.write("AGENTS.md", "The model is asked by `commands/glm.md` only.\n");
    assert_eq!(codes(&project), ["guidance/missing-path"]);
}

/// A file that a rule leads to is read that way, and a template is copied. Under a client's ending it would be a rule.
#[test]
fn files_that_rules_lead_to_are_not_unread() {
    let rule = "---\ndescription: Make a checklist\n---\nFollow [the list](mdc:.cursor/rules/lists/day.md).\n\n\
                - Full form: `.cursor/rules/full-form.md` (reference-only)\n";
    let used = project()
        .with_file(".cursor/rules/a.mdc", rule)
        .with_file(".cursor/rules/full-form.md", "# Full\n")
        .with_file(".cursor/rules/lists/day.md", "# Day\n")
        .with_file(".cursor/rules/templates/one.md", "# One\n")
        .with_file(".cursor/rules/templates/two.md", "# Two\n");
    assert_eq!(codes(&used), [""; 0]);
    // One of them is named, the other is not.
    let unused = used.with_file(".cursor/rules/lists/night.md", "See `full-form.md`.\n");
    assert_eq!(codes(&unused), ["client/unread-file"]);
}

/// A comment behind code is about its line, and what stands between tags of an example demands nothing.
#[test]
fn comments_of_examples_do_not_contradict_each_other() {
    let rule = |body: &str| format!("---\nalwaysApply: true\n---\n# Naming\n\n{body}\n");
    let lines = "const maxRetries = 3;   // Use SCREAMING_SNAKE_CASE\n\n--primaryColor: #333;   // Use kebab-case";
    let tagged = "<example type=\"invalid\">\nUse kebab-case for variables.\n</example>\n\nUse snake_case for variables.";
    let project = project().with_file(".cursor/rules/a.mdc", rule(lines)).with_file("a.py", "");
    assert_eq!(codes(&project), [""; 0]);
    project.write(".cursor/rules/a.mdc", rule(tagged));
    assert_eq!(codes(&project), [""; 0]);
    project.write(
        ".cursor/rules/a.mdc",
        rule("Use kebab-case for variables.\n\nUse snake_case for variables."),
    );
    assert_eq!(codes(&project), ["guidance/contradiction"]);
}

/// Git ignores nothing that it tracks, and clients do not ask git.
#[test]
fn tracked_files_of_ignored_directories_are_checked() {
    let project = project()
        .with_file("AGENTS.md", "Rules.\n")
        .with_file(".gitignore", ".claude\n")
        .with_file(
            ".claude/commands/pr.md",
            "---\ndescription: x\n---\nRead [it](../../gone/x.md).\n",
        );
    git(&project, &["init", "--quiet", "--initial-branch=main"]);
    commit(&project);
    assert_eq!(codes(&project), [""; 0], "an ignored file that is not tracked");
    git(&project, &["add", "--force", ".claude"]);
    commit(&project);
    project.write(
        ".claude/commands/own.md",
        "---\ndescription: x\n---\nRead [it](../../gone/y.md).\n",
    );
    assert_eq!(codes(&project), ["client/broken-link"]);
    let imported = project.run(&["import", "--dry-run", "--json"]).json().to_string();
    assert!(imported.contains(".claude/commands/pr.md"), "{imported}");
    assert!(!imported.contains(".claude/commands/own.md"), "{imported}");
}

/// Publishers keep data of their own in a manifest; a key that is like one of the client's is a mistake.
#[test]
fn keys_of_publishers_are_small() {
    let plugin = |more: &str| {
        project().with_file(
            ".claude-plugin/plugin.json",
            format!("{{\"name\": \"x\", \"description\": \"d\", {more}}}"),
        )
    };
    assert_eq!(codes(&plugin("\"license_note\": \"y\"")), [""; 0]);
    let pedantic = plugin("\"license_note\": \"y\"").run(&["lint", "--pedantic", "--json"]).json();
    assert_eq!(pedantic["diagnostics"][0]["code"], "client/unknown-key", "{pedantic}");
    assert_eq!(codes(&plugin("\"tags\": [\"a\"]")), ["client/unknown-key"]);
}

/// Events that no client has are one mistake, however they are called, and the advice names those like them.
#[test]
fn unknown_events_are_one_finding() {
    let agent = |name: &str| {
        let hooks = "hooks:\n  pre_task:\n    - echo\n  post_task:\n    - echo\n";
        format!(
            "---\nname: {name}\ndescription: Use it after each change.\n{hooks}---\nRun the tests.\n"
        )
    };
    let project = project()
        .with_file(".claude/agents/one.md", agent("one"))
        .with_file(".claude/agents/two.md", agent("two"));
    let json = project.run(&["lint", "--json"]).json();
    let found = json["diagnostics"].as_array().unwrap();
    let of_events: Vec<&Value> =
        found.iter().filter(|one| one["code"] == "client/unknown-event").collect();
    assert_eq!(of_events.len(), 1, "{json}");
    let help = of_events[0]["help"].as_str().unwrap();
    assert!(help.contains("PreToolUse") && !help.contains("SessionStart"), "{help}");
}

/// Rules that wait for files of other projects are a collection, also where there are few of them.
#[test]
fn a_kit_of_rules_is_for_other_projects() {
    let rule =
        "---\ndescription: d\nglobs: docs/architecture/*.md\nalwaysApply: false\n---\nText.\n";
    let mut kit =
        project().with_file("docs/readme.md", "hi\n").with_file(".cursor/rules/a.mdc", rule);
    for number in 0..12 {
        let other =
            format!("---\ndescription: d{number}\nalwaysApply: false\n---\nText {number}.\n");
        kit = kit.with_file(&format!(".cursor/rules/r{number}.mdc"), other);
    }
    let found = lint(&kit);
    assert_eq!(found, [("client/unused-pattern".to_owned(), "note".to_owned(), 1)]);
    let found = lint(&kit.with_file("package.json", "{}"));
    assert_eq!(found, [("client/unused-pattern".to_owned(), "warning".to_owned(), 1)]);
}

/// One of several commands is enough; a command alone has to be there.
#[test]
fn one_of_several_alternatives_is_enough() {
    let text =
        "They may need to run `npm run build`, `npm run dev`, or `composer run dev`. Ask them.\n";
    let project = project()
        .with_file("composer.json", "{\"scripts\": {\"test\": [\"x\"]}}")
        .with_file("package.json", "{\"scripts\": {\"build\": \"x\", \"dev\": \"y\"}}")
        .with_file("AGENTS.md", text);
    assert_eq!(codes(&project), [""; 0]);
    project.write("AGENTS.md", "Run `npm run build` and `composer run dev` before you ask.\n");
    assert_eq!(codes(&project), ["guidance/missing-target"]);
}

/// A path with a line in it begins where the text says that such paths begin.
#[test]
fn a_path_with_a_line_may_be_short_for_another() {
    let table = "| Command | Go source |\n| - | - |\n| login | `internal/login/login.go:283` |\n";
    let project = project()
        .with_file("apps/cli-go/internal/login/login.go", "x\n")
        .with_file("apps/cli/a.ts", "")
        .with_file("internal/login/login.go", "x\n");
    git(&project, &["init", "--quiet", "--initial-branch=main"]);
    commit(&project);
    git(&project, &["rm", "--quiet", "internal/login/login.go"]);
    project.write("apps/cli/AGENTS.md", format!("Sources are in `apps/cli-go/`.\n\n{table}"));
    commit(&project);
    assert_eq!(codes(&project), [""; 0]);
    project.write("apps/cli/AGENTS.md", table.replace("login.go:283", "logout.go:283"));
    project.write("internal/login/logout.go", "x\n");
    commit(&project);
    git(&project, &["rm", "--quiet", "internal/login/logout.go"]);
    commit(&project);
    assert_eq!(codes(&project), ["guidance/missing-path"]);
}

/// The agents that a manifest lists are agents of the plugin, wherever they lie.
#[test]
fn agents_that_a_manifest_lists_are_checked() {
    let agent = "---\nname: a\nmodel: cheap\n---\nText of the agent.\n";
    let plugin = project()
        .with_file("cat/.claude-plugin/plugin.json", r#"{"name": "cat", "agents": ["./a.md"]}"#)
        .with_file("cat/a.md", agent);
    let found = codes(&plugin);
    assert!(found.contains(&"client/unknown-model".to_owned()), "{found:?}");
    let unlisted = plugin.with_file("cat/.claude-plugin/plugin.json", r#"{"name": "cat"}"#);
    assert_eq!(codes(&unlisted), [""; 0]);
}

/// A wrong directory is repaired by the file of that name beside the text, although others are called like it elsewhere.
#[test]
fn a_link_is_repaired_by_the_nearest_file() {
    let text = skill("one") + "\nRead [the parts](reference/parts.md).\n";
    let project = project()
        .with_file("skills/one/SKILL.md", text)
        .with_file("skills/one/references/parts.md", "a\n")
        .with_file("skills/two/references/parts.md", "b\n");
    let json = project.run(&["lint", "--json"]).json();
    assert_eq!(json["diagnostics"][0]["help"], "did you mean `references/parts.md`?", "{json}");
}

/// `@AGENTS.override.md` of a file that version control ignores is there for whoever has written one.
#[test]
fn an_import_of_an_ignored_file_may_be_there() {
    let import = project().with_file("rust/CLAUDE.md", "Read @AGENTS.override.md first.\n");
    assert_eq!(codes(&import), ["client/import-missing"]);
    let ignored = import.with_file("rust/.gitignore", "AGENTS.override.md\n");
    assert_eq!(codes(&ignored), [""; 0]);
}

/// `build:<directory>` names a script of each directory, and a shell would read from a file.
#[test]
fn a_name_that_goes_on_with_a_placeholder_is_no_name() {
    let scripts = project()
        .with_file("package.json", "{\"scripts\": {\"build:core\": \"x\"}}")
        .with_file("CLAUDE.md", "Run `pnpm run build:<directory_name>` to build one package.\n");
    assert_eq!(codes(&scripts), [""; 0]);
    let wrong = scripts.with_file("CLAUDE.md", "Run `pnpm run build:ui` to build one package.\n");
    assert_eq!(codes(&wrong), ["guidance/missing-target"]);
}

/// Names that are wrong together are one thing to do.
#[test]
fn names_of_one_line_are_one_finding() {
    let targets = project()
        .with_file("Makefile", "test:\n\ttrue\n")
        .with_file("AGENTS.md", "Use `make install-x`; prefer `make reinstall-x` afterwards.\n");
    let one = ("guidance/missing-target".to_owned(), "warning".to_owned(), 2);
    assert_eq!(lint(&targets), [one]);
    let agent = |tools: &str| {
        let text = format!(
            "---\nname: a\ndescription: Use it to test pages.\ntools: {tools}\n---\nText.\n"
        );
        let project = project().with_file(".claude/agents/a.md", text);
        let json = project.run(&["lint", "--json"]).json();
        let messages = json["diagnostics"].as_array().unwrap().iter();
        messages.map(|one| one["message"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let both = agent("Read, chrome-mcp, computer-use");
    assert_eq!(both.len(), 1, "{both:?}");
    assert!(both[0].starts_with("unknown tools `chrome-mcp`, `computer-use`: "), "{both:?}");
    assert!(both[0].ends_with(" silently ignores them"), "{both:?}");
    let near = agent("Read, Wirte, computer-use");
    assert_eq!(near.len(), 2, "a name with a likely meaning is a finding of its own: {near:?}");
}

/// A clone has the content of a file in Git LFS; only a registry is told that an installation lacks it.
#[test]
fn a_file_in_git_lfs_is_a_matter_of_registries() {
    let pointer = "version https://git-lfs.github.com/spec/v1\n\
                   oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n";
    let skills = project()
        .with_file(".claude/skills/one/SKILL.md", skill("one"))
        .with_file(".claude/skills/one/output.png", pointer);
    assert_eq!(codes(&skills), [""; 0]);
    // Whatever `lint` passes, `add` installs.
    let registry = project()
        .with_file("skills/one/SKILL.md", skill("one"))
        .with_file("skills/one/output.png", pointer);
    assert_eq!(codes(&registry), ["item/unreadable"]);
}

/// What only another part of the repository defines says nothing of a text's own part.
#[test]
fn scripts_of_another_part_define_nothing() {
    let text = "Run `npm run lint` before you finish.\n";
    let parts = project()
        .with_file("server/package.json", "{\"scripts\": {\"start\": \"x\"}}")
        .with_file("guide/.claude/rules/gates.md", text);
    assert_eq!(codes(&parts), [""; 0]);
    let of_all = parts.with_file("CLAUDE.md", text);
    assert_eq!(codes(&of_all), ["guidance/missing-target"]);
    let own = project()
        .with_file("server/package.json", "{\"scripts\": {\"start\": \"x\"}}")
        .with_file("server/.claude/rules/gates.md", text);
    assert_eq!(codes(&own), ["guidance/missing-target"]);
}

/// `CLAUDE.md` beside a skill is for those who work on it, and is no part of what is installed.
#[test]
fn a_link_to_guidance_beside_a_skill_is_no_part_of_it() {
    let skill = project()
        .with_file("tool/skill/SKILL.md", skill("skill"))
        .with_file("tool/skill/AGENTS.md", "Keep the text short.\n")
        .with_link("tool/skill/CLAUDE.md", "AGENTS.md");
    assert_eq!(codes(&skill), [""; 0]);
}
