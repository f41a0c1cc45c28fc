//! `brief registry build`: what it writes and what it says.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use brief_testkit::{Output, Sandbox, needs};

use crate::project;

pub(crate) const RULE: &str = "---\nschema: 1\nname: api\ndescription: Use when writing handlers\nlicense: MIT\n---\n\n\
                    ## Handlers\n\nSee [the list](./list.txt).\n";
const SKILL: &str = "---\nschema: 1\nname: ship\ndescription: Use when shipping\nlicense: MIT\n---\n\n\
                     ## Ship\n\nRun [it](scripts/ship.sh).\n";
const AGENT: &str = "---\nschema: 1\nname: judge\ndescription: Use when judging\nlicense: MIT\n\
                     tools: [bash]\n---\n\n## Judge\n\nYou judge.\n";

/// A registry with one item of each kind, and files beside two of them.
pub(crate) fn sample_registry() -> Sandbox {
    let registry = project()
        .with_file("content/rules/api/RULE.md", RULE)
        .with_file("content/rules/api/list.txt", "one\n")
        .with_file("content/skills/ship/SKILL.md", SKILL)
        .with_file("content/skills/ship/scripts/ship.sh", "#!/bin/sh\n")
        .with_file("content/skills/ship/logo.png", [0_u8, 159, 146, 150])
        .with_file("content/agents/judge/AGENT.md", AGENT);
    make_executable(&registry.path().join("content/skills/ship/scripts/ship.sh"));
    registry
}

#[cfg(unix)]
pub(crate) fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[cfg(not(unix))]
pub(crate) fn make_executable(_: &Path) {}

/// Builds without a fault.
pub(crate) fn build_registry(registry: &Sandbox, args: &[&str]) -> Output {
    let output = registry.run(&[&["registry", "build"], args].concat());
    assert_eq!(output.code, Some(0), "{output}");
    output
}

/// Every file below a directory of the project, our own bookkeeping aside.
pub(crate) fn read_tree(registry: &Sandbox, directory: &str) -> BTreeMap<String, Vec<u8>> {
    fn collect_files(top: &Path, directory: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect_files(top, &path, found);
            } else {
                let name = path.strip_prefix(top).unwrap().to_str().unwrap().to_owned();
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    let top = registry.path().join(directory);
    let mut found = BTreeMap::new();
    if top.exists() {
        collect_files(&top, &top, &mut found);
    }
    found.retain(|name, _| !name.starts_with(".brief/"));
    found
}

pub(crate) fn output_names(registry: &Sandbox) -> Vec<String> {
    read_tree(registry, "dist").into_keys().collect()
}

/// N15, R28, I13, I14, I15.
#[test]
fn every_client_gets_its_files() {
    let registry = sample_registry();
    insta::assert_snapshot!(registry.run(&["registry", "build"]), @"
    ------- stderr -------
    3 items in dist: 16 created
    [EOF]
    ");
    assert_eq!(
        output_names(&registry),
        [
            ".agents/rules/api/RULE.md",
            ".agents/rules/api/list.txt",
            ".agents/skills/ship/SKILL.md",
            ".agents/skills/ship/logo.png",
            ".agents/skills/ship/scripts/ship.sh",
            ".claude/agents/judge.md",
            ".claude/rules/api.md",
            ".claude/skills/ship/SKILL.md",
            ".claude/skills/ship/logo.png",
            ".claude/skills/ship/scripts/ship.sh",
            ".github/agents/judge.agent.md",
            ".github/instructions/api.instructions.md",
            ".github/skills/ship/SKILL.md",
            ".github/skills/ship/logo.png",
            ".github/skills/ship/scripts/ship.sh",
            ".opencode/agents/judge.md",
        ]
    );
    assert_eq!(
        registry.read("dist/.claude/rules/api.md"),
        "---\nname: api\ndescription: Use when writing handlers\n---\n\n# api\n\n## Handlers\n\n\
         See [the list](../../.agents/rules/api/list.txt).\n"
    );
}

/// N15: bytes and the executable bit of what lies beside an item.
#[cfg(unix)]
#[test]
fn binary_and_executable_files_are_kept_as_they_are() {
    use std::os::unix::fs::PermissionsExt;

    let registry = sample_registry();
    build_registry(&registry, &[]);
    for directory in [".claude", ".github", ".agents"] {
        let skill = registry.path().join("dist").join(directory).join("skills/ship");
        assert_eq!(fs::read(skill.join("logo.png")).unwrap(), [0, 159, 146, 150]);
        let mode =
            |name: &str| fs::metadata(skill.join(name)).unwrap().permissions().mode() & 0o111;
        assert_ne!(mode("scripts/ship.sh"), 0);
        assert_eq!((mode("logo.png"), mode("SKILL.md")), (0, 0));
    }
    // A bit that changes is a change.
    let script = registry.path().join("content/skills/ship/scripts/ship.sh");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o644)).unwrap();
    let output = build_registry(&registry, &[]);
    assert!(output.stderr.contains("3 updated"), "{output}");
    let built = registry.path().join("dist/.claude/skills/ship/scripts/ship.sh");
    assert_eq!(fs::metadata(built).unwrap().permissions().mode() & 0o111, 0);
}

/// The second run writes nothing, not even its record.
#[test]
fn a_second_run_writes_nothing() {
    let registry = sample_registry();
    build_registry(&registry, &[]);
    let old = SystemTime::now() - Duration::from_secs(1000);
    let mut files: Vec<String> = output_names(&registry);
    files.push(".brief/build.json".to_owned());
    for name in &files {
        let file = fs::File::options().write(true).open(registry.path().join("dist").join(name));
        file.unwrap().set_modified(old).unwrap();
    }
    let output = build_registry(&registry, &[]);
    assert!(output.stderr.contains("already up to date"), "{output}");
    for name in &files {
        let modified = fs::metadata(registry.path().join("dist").join(name)).unwrap().modified();
        assert_eq!(modified.unwrap(), old, "{name} was written again");
    }
}

/// G3: the same sources give the same bytes, wherever they lie.
#[test]
fn two_builds_are_the_same_bytes() {
    let (first, second) = (sample_registry(), sample_registry());
    build_registry(&first, &[]);
    build_registry(&second, &[]);
    assert_eq!(read_tree(&first, "dist"), read_tree(&second, "dist"));
    let record = first.read("dist/.brief/build.json");
    assert_eq!(record, second.read("dist/.brief/build.json"));
    assert!(!record.contains(first.path().to_str().unwrap()));
}

/// An item with an error is reported with its place; the others are built.
#[test]
fn a_bad_item_does_not_stop_the_others() {
    let registry = sample_registry().with_file(
        "content/rules/bad/RULE.md",
        "---\nschema: 1\nname: worse\ndescription: D\nlicense: MIT\n---\n",
    );
    insta::assert_snapshot!(registry.run(&["registry", "build"]), @"
    error[item/name-mismatch]: the name is `worse`, but the directory is named `bad`
     --> content/rules/bad/RULE.md:3:7
      |
    3 | name: worse
      |       ^^^^^
      |
      = help: use the same name for the directory and the field

    ------- stderr -------
    3 of 4 items in dist: 16 created
    [exit status: 1]
    [EOF]
    ");
    assert_eq!(output_names(&registry).len(), 16);
}

/// N59: a link out of the item would lead nowhere.
#[test]
fn a_link_out_of_the_item_stops_it() {
    let rule = RULE.replace("./list.txt", "../other/list.txt");
    let registry = sample_registry().with_file("content/rules/api/RULE.md", rule);
    let output = registry.run(&["registry", "build"]);
    assert_eq!(output.code, Some(1));
    assert!(output.stdout.contains("error[item/link-outside]"), "{output}");
    assert!(!output_names(&registry).iter().any(|name| name.contains("api")));
}

/// `--check` writes nothing and names each file.
#[test]
fn a_check_writes_nothing_and_names_what_would_change() {
    let registry = sample_registry();
    let output = registry.run(&["registry", "build", "--check", "--client", "claude"]);
    assert!(!registry.path().join("dist").exists());
    insta::assert_snapshot!(output, @"
    would create .agents/rules/api/list.txt
    would create .claude/agents/judge.md
    would create .claude/rules/api.md
    would create .claude/skills/ship/SKILL.md
    would create .claude/skills/ship/logo.png
    would create .claude/skills/ship/scripts/ship.sh
    ------- stderr -------
    3 items in dist: 6 to create
    [exit status: 1]
    [EOF]
    ");
    build_registry(&registry, &[]);
    assert_eq!(registry.run(&["registry", "build", "--check"]).code, Some(0));
    registry.write("content/rules/api/RULE.md", RULE.replace("Handlers", "Routes"));
    fs::remove_dir_all(registry.path().join("content/agents/judge")).unwrap();
    let before = read_tree(&registry, "dist");
    let record = registry.read("dist/.brief/build.json");
    insta::assert_snapshot!(registry.run(&["registry", "build", "--check"]), @"
    would update .agents/rules/api/RULE.md
    would remove .claude/agents/judge.md
    would update .claude/rules/api.md
    would remove .github/agents/judge.agent.md
    would update .github/instructions/api.instructions.md
    would remove .opencode/agents/judge.md
    ------- stderr -------
    2 items in dist: 3 to update, 10 unchanged, 3 to remove
    [exit status: 1]
    [EOF]
    ");
    assert_eq!(
        (read_tree(&registry, "dist"), registry.read("dist/.brief/build.json")),
        (before, record)
    );
}

/// The same facts as JSON.
#[test]
fn json_has_the_same_facts() {
    let registry = sample_registry().with_file("dist/.claude/rules/api.md", "mine\n");
    let output = registry.run(&["registry", "build", "--json", "--client", "claude"]);
    let json = output.json();
    assert_eq!(json["items"], 3);
    assert_eq!(json["created"][0], "dist/.claude/agents/judge.md");
    assert_eq!(json["out"], "dist");
    assert_eq!(
        (&json["updated"], &json["removed"]),
        (&serde_json::json!([]), &serde_json::json!([]))
    );
    assert_eq!((&json["unchanged"], &json["kept"]), (&0.into(), &1.into()));
    assert_eq!(json["diagnostics"][0]["code"], "item/output-in-the-way");
    assert_eq!((output.code, output.stderr.as_str()), (Some(1), ""));
}

/// An unknown client is a wrong call, and nothing happens.
#[test]
fn an_unknown_client_is_a_wrong_call() {
    let registry = sample_registry();
    insta::assert_snapshot!(registry.run(&["registry", "build", "--client", "cluade"]), @"
    ------- stderr -------
    error: unknown client `cluade`
    hint: did you mean `claude`? known clients: aider, amp, antigravity, augment, claude, cline, codex, continue, copilot, crush, cursor, droid, gemini, goose, junie, kilo, kiro, opencode, openhands, pi, qwen, roo, trae, warp, windsurf, zed
    [exit status: 2]
    [EOF]
    ");
    assert!(!registry.path().join("dist").exists());
}

/// A configuration that is wrong is shown with its place, and nothing happens.
#[test]
fn a_wrong_configuration_is_a_wrong_call() {
    let registry =
        sample_registry().with_file("brief.toml", "[build]\nclients = [\"acme-code\"]\n");
    insta::assert_snapshot!(registry.run(&["registry", "build"]), @"
    error[item/invalid-config]: `build.clients`: unknown client `acme-code`
     --> brief.toml:2:11
      |
    2 | clients = [\"acme-code\"]
      |           ^^^^^^^^^^^^^
      |
      = help: known clients: aider, amp, antigravity, augment, claude, cline, codex, continue, copilot, crush, cursor, droid, gemini, goose, junie, kilo, kiro, opencode, openhands, pi, qwen, roo, trae, warp, windsurf, zed

    [exit status: 2]
    [EOF]
    ");
    assert!(!registry.path().join("dist").exists());
}

/// The configuration names clients, directory and names of tools.
#[test]
fn a_configuration_is_obeyed() {
    let registry = sample_registry().with_file(
        "brief.toml",
        "[build]\nout = \"built\"\nclients = [\"copilot\"]\n[clients.copilot.tools]\nbash = \"runner\"\n",
    );
    build_registry(&registry, &[]);
    assert!(!registry.path().join("dist").exists());
    assert!(registry.read("built/.github/agents/judge.agent.md").contains("tools:\n  - runner\n"));
    assert!(!registry.path().join("built/.claude").exists());
    registry.write("brief.toml", "[build]\nout = \"built\"\nclients = [\"copilot\"]\n");
    let output = build_registry(&registry, &[]);
    assert!(output.stderr.contains("1 updated, 5 unchanged"), "{output}");
    assert!(registry.read("built/.github/agents/judge.agent.md").contains("tools:\n  - execute\n"));
}

/// G13: the values of the document's tables, for one client or for all.
#[test]
fn the_values_of_the_document_can_be_chosen() {
    let registry =
        sample_registry().with_file("brief.toml", "[clients.copilot]\nprofile = \"format\"\n");
    build_registry(&registry, &[]);
    let (copilot, opencode) =
        ("dist/.github/agents/judge.agent.md", "dist/.opencode/agents/judge.md");
    assert!(registry.read(copilot).contains("model: claude-sonnet-4.6\ntools:\n  - shell\n"));
    assert!(registry.read(opencode).contains("permission:\n  \"*\": deny\n  bash: allow\n"));
    registry.write("brief.toml", "[build]\nprofile = \"format\"\n");
    build_registry(&registry, &[]);
    assert!(registry.read(opencode).contains("permission:\n  bash: allow\n"));
    registry.write("brief.toml", "[build]\nprofile = \"formal\"\n");
    let output = registry.run(&["registry", "build"]);
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stdout.contains("profile"), "{output}");
}

/// K34: a rule for some files is always there in opencode, and that is said.
#[test]
fn a_scope_that_a_client_does_not_have_is_told() {
    let rule = "---\nschema: 1\nname: api\ndescription: For the api\nlicense: MIT\nscope:\n  paths: [\"src/**\"]\n\
                ---\n\n## Api\n\nText.\n";
    let registry = project().with_file("rules/api/RULE.md", rule);
    let output = registry.run(&["registry", "build"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(output.stdout.matches("item/scope-dropped").count(), 1, "{output}");
    assert!(output.stdout.contains("opencode loads it for all"), "{output}");
    let output = registry.run(&["registry", "build", "--client", "claude", "--out", "other"]);
    assert!(!output.stdout.contains("scope-dropped"), "{output}");
}

/// N01: a client of the project's own; what is built for it is no source.
#[test]
fn a_client_of_the_project_is_built_for() {
    let registry = sample_registry().with_file(
        "brief.toml",
        "[clients.goose.skill]\npath = \".goose/skills/{name}/SKILL.md\"\nfields = [{ key = \"name\", from = \"name\" }]\n",
    );
    build_registry(&registry, &["--client", "goose"]);
    assert!(registry.path().join("dist/.goose/skills/ship/scripts/ship.sh").exists());
    assert!(
        build_registry(&registry, &["--client", "goose"]).stderr.starts_with("3 items in dist")
    );
    build_registry(&registry, &["--out", "."]);
    assert!(build_registry(&registry, &["--out", "."]).stderr.starts_with("3 items in"));
}

/// N52: what a client does not get is said when it is compiled.
#[test]
fn dropped_capabilities_are_told() {
    let registry = project()
        .with_file("agents/judge/AGENT.md", AGENT.replace("[bash]", "[bash, read]"))
        .with_file("brief.toml", "[build]\nprofile = \"format\"\n");
    insta::assert_snapshot!(registry.run(&["registry", "build"]), @"
    warning[item/capability-dropped]: the agent `judge` loses `read` for copilot: copilot has no name for it
     --> agents/judge/AGENT.md:6:15
      |
    6 | tools: [bash, read]
      |               ^^^^
      |
      = help: add copilot's names to a `copilot:` block, or to `[clients.copilot.tools]` of `brief.toml`

    ------- stderr -------
    1 item in dist: 3 created
    [EOF]
    ");
}

/// N71, R07: what is generated passes markdownlint's default rules without MD013, whatever the layout of
/// the source; and the linter does look into directories that begin with a dot.
#[test]
fn generated_files_pass_markdownlint() {
    needs!(Markdownlint);
    let odd = "##  Spaces\n* one\n* two\n\n\n\ntext\n+ three\n1) a\n2) b\ntext\n```sh\nls\n```\nmore\n\n|a|b|\n|-|-|\n|1|2|\n\n\
               _em_ and __strong__\n\n<!-- @client:claude -->\n\nOwn.\n\n<!-- @endclient -->\n";
    let registry = sample_registry()
        .with_file("content/rules/api/RULE.md", format!("{RULE}\n{odd}"))
        .with_file("content/skills/ship/SKILL.md", format!("{SKILL}\n{odd}"))
        .with_file("content/agents/judge/AGENT.md", format!("{AGENT}\n{odd}"));
    build_registry(&registry, &[]);
    let dist = registry.path().join("dist");
    assert_eq!(brief_testkit::run_markdownlint(&dist), [""; 0]);
    registry.write("dist/.claude/rules/own.md", "no heading\n\n\n\ntwo gaps\n");
    let findings = brief_testkit::run_markdownlint(&dist);
    assert!(
        findings.iter().any(|line| line.contains("own.md") && line.contains("MD012")),
        "{findings:?}"
    );
}

/// N71: the layout is that of `brief registry fmt`, so that formatting an output changes nothing.
#[test]
fn a_built_body_is_laid_out() {
    let registry = project()
        .with_file("rules/api/RULE.md", RULE.replace("See", "*  a\n*  b\n\n\n\nSee"))
        .with_file("rules/api/list.txt", "");
    build_registry(&registry, &[]);
    let text = registry.read("dist/.agents/rules/api/RULE.md");
    let body = text.split_once("\n---\n\n").unwrap().1;
    assert!(body.contains("- a\n- b\n\nSee [the list](./list.txt).\n"), "{body}");
    let formatted = brief_syntax::markdown::format_markdown(body);
    assert_eq!((formatted.text.as_str(), formatted.refused), (body, None));
}

/// Two items that would be one file: the first is built, the second is an error.
#[test]
fn two_items_do_not_share_a_file() {
    let registry = project()
        .with_file("rules/api/RULE.md", RULE.replace("See [the list](./list.txt).", "Text."))
        .with_file("agents/api/AGENT.md", AGENT.replace("name: judge", "name: api"))
        .with_file("brief.toml", "[clients.claude.agent]\npath = \".claude/rules/{name}.md\"\n");
    let output = registry.run(&["registry", "build", "--client", "claude"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stdout.contains("error[item/output-collision]"), "{output}");
    assert_eq!(output_names(&registry), [".claude/rules/api.md"]);
}

/// R36: `layout = "shared"` writes a skill once where several clients read it, and apart where it
/// differs.
#[test]
fn a_skill_that_is_the_same_for_several_clients_can_be_written_once() {
    let skill = |name: &str, body: &str| {
        format!(
            "---\nschema: 1\nname: {name}\ndescription: Use when asked\n---\n\n## Steps\n\n{body}"
        )
    };
    let project = project()
        .with_file("brief.toml", "[build]\nlayout = \"shared\"\n")
        .with_file("skills/same/SKILL.md", skill("same", "See [x](x.txt).\n"))
        .with_file("skills/same/x.txt", "x")
        .with_file(
            "skills/own/SKILL.md",
            skill("own", "All.\n\n<!-- @client:claude -->\n\nClaude.\n\n<!-- @endclient -->\n"),
        );
    assert_eq!(project.run(&["registry", "build"]).code, Some(0));
    let exists = |path: &str| project.path().join("dist").join(path).is_file();
    assert!(exists(".claude/skills/same/SKILL.md") && exists(".claude/skills/same/x.txt"));
    assert!(!exists(".github/skills/same/SKILL.md") && !exists(".agents/skills/same/SKILL.md"));
    // Copilot and opencode get the same words, and both of them read `.agents`.
    assert!(exists(".claude/skills/own/SKILL.md") && exists(".agents/skills/own/SKILL.md"));
    assert!(!exists(".github/skills/own/SKILL.md"));
    project.write("brief.toml", "[build]\nlayout = \"separate\"\n");
    assert_eq!(project.run(&["registry", "build"]).code, Some(0));
    assert!(exists(".github/skills/same/SKILL.md") && exists(".agents/skills/same/x.txt"));
}

/// The clients of a build that names none are those whose files the registry has; `--client` and `brief.toml` win.
#[test]
fn the_files_of_a_registry_tell_its_clients() {
    let registry = project()
        .with_file("rules/api/RULE.md", RULE)
        .with_file("GEMINI.md", "# Ours\n")
        .with_dir(".windsurf");
    let output = registry.run(&["registry", "build"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(
        output.stderr.starts_with("building for gemini, windsurf (found GEMINI.md, .windsurf)\n"),
        "{output}"
    );
    assert!(registry.path().join("dist/.devin/rules/api.md").exists());
    assert!(!registry.path().join("dist/.claude").exists());
    assert_eq!(registry.run(&["registry", "build", "--client", "claude"]).code, Some(0));
    assert!(registry.path().join("dist/.claude/rules/api.md").exists());
    assert!(!registry.path().join("dist/.devin").exists());
    let output = registry.run(&["registry", "build", "--json"]);
    assert!(output.stderr.is_empty(), "{output}");

    let said = project()
        .with_file("rules/api/RULE.md", RULE)
        .with_dir(".windsurf")
        .with_file("brief.toml", "[build]\nclients = [\"claude\"]\n");
    let output = said.run(&["registry", "build"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(said.path().join("dist/.claude/rules/api.md").exists());
    assert!(!said.path().join("dist/.devin").exists());
}
