//! Items for a project or a home directory, through the face that knows no client.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use brief_clients::compile::{Clients, Compiled, OutputContent};
use brief_clients::profile::{ProfileScope, Section};
use brief_dialects::portable;
use brief_dialects::portable::output::{Compiler, Foreign, Merge, Outputs, SharedEntry};
use brief_profiles::UnknownClient;
use brief_profiles::{COMPILED, OwnClients};
use brief_syntax::{Diagnostic, Root, Source};
use brief_system::MemorySystem;

use crate::{document, no_outputs};

fn read(text: &str, scope: ProfileScope) -> Result<Clients, Vec<Diagnostic>> {
    let source = Arc::new(Source::new("brief.toml", text));
    Clients::from_configuration(Some(&source), &OwnClients::default(), Section::Install, scope)
}

fn clients(text: &str, scope: ProfileScope) -> Clients {
    read(text, scope).unwrap()
}

/// Compiles the item at a path for the clients of the document and of the configuration.
fn compiled(clients: &Clients, path: &str, files: &[&str]) -> Compiled {
    let mut system = MemorySystem::new("/r").with_file(path, document("", "## A\n\n[b](b.txt)\n"));
    for file in files {
        system = system.with_file(file, "b");
    }
    let root = Root::open(&system, Path::new("/r")).unwrap();
    let registry = portable::read_registry(&system, &root, &clients.clients());
    let wanted = clients.resolve_clients(&[]).unwrap();
    let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
    clients.compile(&registry.items[0], &wanted)
}

fn paths(clients: &Clients, path: &str) -> Vec<String> {
    compiled(clients, path, &[]).files.into_iter().map(|file| file.path).collect()
}

/// Below a home directory clients look elsewhere.
#[test]
fn a_home_directory_has_its_own_places() {
    let home = clients("[install]\nlayout = \"separate\"\n", ProfileScope::Home);
    assert_eq!(
        paths(&home, "rules/x/RULE.md"),
        [
            ".claude/rules/x.md",
            ".copilot/instructions/x.instructions.md",
            ".agents/rules/x/RULE.md"
        ]
    );
    assert_eq!(
        paths(&home, "skills/x/SKILL.md"),
        [".claude/skills/x/SKILL.md", ".copilot/skills/x/SKILL.md", ".agents/skills/x/SKILL.md"]
    );
    assert_eq!(
        paths(&home, "agents/x/AGENT.md"),
        [".claude/agents/x.md", ".copilot/agents/x.agent.md", ".config/opencode/agents/x.md"]
    );
}

/// Links lead to what lies beside an item from there, too.
#[test]
fn links_lead_to_files_below_a_home_directory() {
    let home = Clients::from_configuration(
        None,
        &OwnClients::default(),
        Section::Install,
        ProfileScope::Home,
    )
    .unwrap();
    let compiled = compiled(&home, "agents/x/AGENT.md", &["agents/x/b.txt"]);
    let find = |path: &str| compiled.files.iter().find(|file| file.path == path).unwrap();
    assert_eq!(find(".agents/agents/x/b.txt").content, OutputContent::Copy("b.txt".to_owned()));
    let OutputContent::Text(text) = &find(".config/opencode/agents/x.md").content else { panic!() };
    assert!(text.contains("(../../../.agents/agents/x/b.txt)"), "{text}");
}

/// With `layout = "shared"` a skill is written once where all of a client reads it. Copilot's command line
/// does not read `~/.claude/skills`.
#[test]
fn a_skill_is_shared_where_it_is_read() {
    let (claude, copilot) = (".claude/skills/x/SKILL.md", ".copilot/skills/x/SKILL.md");
    for (scope, expected) in
        [(ProfileScope::Project, &[claude][..]), (ProfileScope::Home, &[claude, copilot])]
    {
        let clients = clients("[install]\nlayout = \"shared\"\n", scope);
        assert_eq!(paths(&clients, "skills/x/SKILL.md"), expected);
        assert_eq!(paths(&clients, "agents/x/AGENT.md").len(), 3, "agents differ");
    }
}

/// A project may say where its own client looks in a home directory.
#[test]
fn a_project_changes_places_below_a_home_directory() {
    let own = "[clients.claude.agent]\nhome = \".own/{name}.md\"\nhome-files = \".own-files/{name}\"\n\
               [clients.x.skill]\npath = \".x/{name}/S.md\"\nfields = []\n";
    let path = "agents/x/AGENT.md";
    assert_eq!(paths(&clients(own, ProfileScope::Home), path)[0], ".own/x.md");
    assert_eq!(paths(&clients(own, ProfileScope::Project), path)[0], ".claude/agents/x.md");
    let files = compiled(&clients(own, ProfileScope::Home), path, &["agents/x/b.txt"]).files;
    assert_eq!(files[1].path, ".own-files/x/b.txt");
    assert!(
        paths(&clients(own, ProfileScope::Home), "skills/x/SKILL.md")
            .contains(&".x/x/S.md".to_owned())
    );
}

/// A problem has a place, a code and a way out.
#[test]
fn a_wrong_configuration_is_reported() {
    let shared = "[clients.claude.rule.shared]\n";
    let bridge = "[clients.claude.bridge]\n";
    for (text, line, message) in [
        ("[install]\nout = \"dist\"\n", 2, "unknown key `install.out`"),
        ("[install]\nclaude-mb = \"leave\"\n", 2, "unknown key `install.claude-mb`"),
        ("[install]\nclaude-md = \"leav\"\n", 2, "unknown value `leav`"),
        ("[install]\nclaude-md = \"merge\"\n", 2, "unknown value `merge`"),
        ("[install]\nopencode-json = true\n", 2, "must be a string"),
        ("[install]\nclients = [\"x\"]\n", 2, "unknown client `x`"),
        ("[clients.claude.agent]\nhome = \"x\"\n", 2, "lacks `{name}`"),
        ("[clients.claude.agent]\nhome-files = \".x/{name}-y/z\"\n", 0, ""),
        ("[clients.claude.agent]\nhome-files = \".x/y\"\n", 2, "lacks `{name}`"),
        ("[clients.claude.skill]\nhome = \".x/{name}.md\"\n", 1, "lacks `skill.home-files`"),
        ("[clients.claude.agent]\nhome-also-read = \"x\"\n", 2, "must be a list of strings"),
        (&format!("{shared}file = \"a.json\"\n"), 1, "lacks `file`, `list` or `value`"),
        (&format!("{shared}file = \"../a.json\"\n"), 2, "is not a plain relative path"),
        (&format!("{shared}file = \".git/config\"\n"), 2, "version control"),
        (&format!("{shared}fil = \"a.json\"\n"), 2, "unknown key"),
        (&format!("{shared}setting = \"clients\"\n"), 2, "cannot be a key of `[install]`"),
        (&format!("{bridge}from = \"A.md\"\n"), 1, "lacks `from`, `file` or `text`"),
        (&format!("{bridge}text = \"a\\nb\"\n"), 2, "is not a single line"),
        (&format!("{bridge}or = [\"/a\"]\n"), 2, "is not a plain relative path"),
    ] {
        let problems = read(text, ProfileScope::Project).err().unwrap_or_default();
        match problems.first() {
            None => assert_eq!(line, 0, "{text}"),
            Some(problem) => {
                assert!(problem.message.contains(message), "{text}: {problems:?}");
                let found = (problem.position().line, problem.code());
                assert_eq!(found, (line, "item/invalid-config"), "{text}");
            }
        }
    }
}

/// `[build]` and `[install]` are apart, but for the clients: a project that names some in `[install]` alone is
/// built for them, too.
#[test]
fn each_section_is_read_alone() {
    let text = "[build]\nout = \"x\"\nh1 = \"never\"\n[install]\nclients = [\"claude\"]\n";
    let source = Arc::new(Source::new("brief.toml", text));
    let build = Clients::from_configuration(
        Some(&source),
        &OwnClients::default(),
        Section::Build,
        ProfileScope::Project,
    )
    .unwrap();
    let install = Clients::from_configuration(
        Some(&source),
        &OwnClients::default(),
        Section::Install,
        ProfileScope::Project,
    )
    .unwrap();
    assert_eq!(build.settings().out.as_deref(), Some("x"));
    assert_eq!(build.resolve_clients(&[]).unwrap(), ["claude"]);
    assert_eq!(install.settings().out, None);
    assert_eq!(install.resolve_clients(&[]).unwrap(), ["claude"]);
    for (text, clients) in [
        ("[build]\nclients = [\"codex\"]\n[install]\nclients = [\"claude\"]\n", vec!["codex"]),
        ("[install]\nclients = [\"pi\"]\n[build]\nclients = [\"codex\"]\n", vec!["codex"]),
        // `brief lint` and the commands that install report it.
        ("[install]\nclients = [\"acme\"]\n", vec!["claude", "copilot", "opencode"]),
    ] {
        let source = Arc::new(Source::new("brief.toml", text));
        let own = OwnClients::default();
        let build =
            Clients::from_configuration(Some(&source), &own, Section::Build, ProfileScope::Project);
        assert_eq!(build.unwrap().resolve_clients(&[]).unwrap(), clients, "{text}");
    }
    let problems = Clients::from_configuration(
        Some(&Arc::new(Source::new("brief.toml", "[build]\nclaude-md = \"leave\"\n"))),
        &OwnClients::default(),
        Section::Build,
        ProfileScope::Project,
    );
    assert!(problems.unwrap_err()[0].message.contains("unknown key"));
}

/// Named clients are wanted, in the order of the profiles.
#[test]
fn named_clients_come_before_those_of_the_section() {
    let clients = clients("[install]\nclients = [\"claude\"]\n", ProfileScope::Project);
    let named = |names: &[&str]| {
        clients.resolve_clients(&names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>())
    };
    assert_eq!(named(&["opencode", "copilot", "opencode"]).unwrap(), ["copilot", "opencode"]);
    let known = COMPILED.map(str::to_owned).to_vec();
    let near = Some("copilot".to_owned());
    let error = named(&["claude", "copliot"]).unwrap_err();
    assert_eq!(error, UnknownClient { name: "copliot".to_owned(), near, known, problem: None });
}

/// One name for everything but the item and the clients.
#[test]
fn the_fingerprint_changes_with_what_files_depend_on() {
    let of = |text: &str, scope| clients(text, scope).fingerprint().to_owned();
    let plain = of("", ProfileScope::Project);
    assert_eq!(plain, of("[install]\nclients = [\"claude\"]\n[other]\n", ProfileScope::Project));
    for (text, scope) in [
        ("", ProfileScope::Home),
        ("[install]\nh1 = \"never\"\n", ProfileScope::Project),
        ("[clients.claude.tools]\nread = \"R\"\n", ProfileScope::Project),
    ] {
        assert_ne!(plain, of(text, scope), "{text}");
    }
}

/// The entries that files of the user need, as `path: entry = value`.
fn needs(clients: &Clients, wanted: &[&str], files: &[&str], present: &[&str]) -> Vec<String> {
    let set = |paths: &[&str]| paths.iter().map(|&path| path.to_owned()).collect::<BTreeSet<_>>();
    let (files, present) = (set(files), set(present));
    let outputs = Outputs { files: &files, clients: wanted, present: &present, ..no_outputs() };
    let mut lines = Vec::new();
    for file in clients.list_shared_files(&outputs) {
        lines.extend(file.entries.iter().map(|entry| match entry {
            SharedEntry::Listed { .. } => format!("{}: {}", file.path, entry.name()),
            SharedEntry::Keyed { json, .. } => format!("{}: {} = {json}", file.path, entry.name()),
            SharedEntry::Block { text } => format!("{}: block = {text}", file.path),
        }));
    }
    lines
}

const RULE_FILE: &str = ".agents/rules/x/RULE.md";

/// R37: opencode reads rules only when its own file names them.
#[test]
fn rules_of_opencode_are_named_in_its_file() {
    let project = clients("", ProfileScope::Project);
    let line = |file: &str| format!("{file}: instructions[.agents/rules/**/RULE.md]");
    let usual = [line("opencode.json")];
    for (wanted, files, present, expected) in [
        (&["opencode"][..], &[RULE_FILE][..], &[][..], &usual[..]),
        (&["claude", "opencode"], &[RULE_FILE], &["opencode.json", "opencode.jsonc"], &usual),
        (&["opencode"], &[RULE_FILE], &["opencode.jsonc"], &[line("opencode.jsonc")]),
        (&["claude"], &[RULE_FILE], &["opencode.json"], &[]),
        (&["opencode"], &[".agents/rules/x/a.txt", ".agents/skills/x/SKILL.md"], &[], &[]),
        (&["opencode"], &[".agents/rules/x/y/RULE.md", ".agents/rules/RULE.md"], &[], &[]),
    ] {
        assert_eq!(needs(&project, wanted, files, present), expected, "{wanted:?} {files:?}");
    }
    let leave = clients("[install]\nopencode-json = \"leave\"\n", ProfileScope::Project);
    assert_eq!(needs(&leave, &["opencode"], &[RULE_FILE], &[]), [""; 0]);
    let merge = clients("[install]\nopencode-json = \"merge\"\n", ProfileScope::Project);
    assert_eq!(needs(&merge, &["opencode"], &[RULE_FILE], &[]), usual);
    let home = clients("", ProfileScope::Home);
    let expected = ".config/opencode/opencode.json: instructions[~/.agents/rules/**/RULE.md]";
    assert_eq!(needs(&home, &["opencode"], &[RULE_FILE], &[]), [expected]);
    let none = clients("[clients.opencode.rule]\nshared = false\n", ProfileScope::Project);
    assert_eq!(needs(&none, &["opencode"], &[RULE_FILE], &[]), [""; 0]);
}

/// An import that the user has written needs no other one, also where Copilot follows it.
#[test]
fn an_import_of_the_user_is_enough() {
    let project = clients("", ProfileScope::Project);
    let set = |paths: &[&str]| paths.iter().map(|&path| path.to_owned()).collect::<BTreeSet<_>>();
    let (files, present) = (set(&[".claude/rules/x.md"]), set(&["AGENTS.md", "CLAUDE.md"]));
    for (text, is_needed) in [
        ("@AGENTS.md\n", false),
        ("Read @./AGENTS.md first.\n", false),
        ("`@AGENTS.md`\n", true),
        ("<!-- brief:import -->\n@AGENTS.md\n<!-- /brief:import -->\n", true),
    ] {
        let texts = BTreeMap::from([("CLAUDE.md".to_owned(), text.to_owned())]);
        for wanted in [&["claude"][..], &["claude", "copilot"]] {
            let outputs = Outputs {
                files: &files,
                clients: wanted,
                present: &present,
                texts: &texts,
                ..no_outputs()
            };
            let shared = project.list_shared_files(&outputs);
            assert_eq!(!shared.is_empty(), is_needed, "{text:?} {wanted:?}");
        }
    }
}

/// Claude Code reads `AGENTS.md` through an import where it has a file of its own, and by itself where it has none
/// (2.1.327, run on 2026-11-19).
#[test]
fn claude_imports_agents_md() {
    let project = clients("", ProfileScope::Project);
    let files = [".claude/rules/x.md", ".x/x/S.md"];
    let usual = ["CLAUDE.md: block = @AGENTS.md"];
    let apart = [".claude/CLAUDE.md: block = @../AGENTS.md"];
    for (wanted, present, expected) in [
        (&["claude"][..], &["AGENTS.md"][..], &[][..]),
        (&["claude"], &["AGENTS.md", "CLAUDE.md"], &usual[..]),
        (&["claude"], &["AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md"], &usual),
        // L16: Copilot follows an import in `CLAUDE.md`, and does not read the other file at the root (1.0.102).
        (&["claude", "copilot"], &["AGENTS.md", "CLAUDE.md"], &apart),
        (&["claude", "copilot"], &["AGENTS.md", ".claude/CLAUDE.md"], &apart),
        (&["claude", "copilot"], &["AGENTS.md"], &[]),
        (
            &["claude"],
            &["AGENTS.md", ".claude/CLAUDE.md"],
            &[".claude/CLAUDE.md: block = @../AGENTS.md"],
        ),
        (&["claude"], &["CLAUDE.md"], &[]),
        (&["opencode"], &["AGENTS.md"], &[]),
    ] {
        assert_eq!(needs(&project, wanted, &files, present), expected, "{wanted:?} {present:?}");
    }
    let leave = clients("[install]\nclaude-md = \"leave\"\n", ProfileScope::Project);
    assert_eq!(needs(&leave, &["claude"], &files, &["AGENTS.md"]), [""; 0]);
    let home = clients("", ProfileScope::Home);
    assert_eq!(needs(&home, &["claude"], &files, &["AGENTS.md"]), [""; 0]);
    // Who gets nothing need not read anything.
    assert_eq!(needs(&project, &["claude"], &[RULE_FILE], &["AGENTS.md"]), [""; 0]);
    // Two clients that need the same file have one block.
    let two = "[clients.x.skill]\npath = \".x/{name}/S.md\"\nfields = []\n\
               [clients.x.bridge]\nfrom = \"X.md\"\nfile = \"CLAUDE.md\"\ntext = \"see {path}\"\n";
    let expected = ["CLAUDE.md: block = @AGENTS.md\nsee X.md"];
    let found = needs(
        &clients(two, ProfileScope::Project),
        &["claude", "x"],
        &files,
        &["AGENTS.md", "X.md", "CLAUDE.md"],
    );
    assert_eq!(found, expected);
}

const SERVERS: &str = "[mcp.files]\ncommand = \"npx\"\nargs = [\"x\"]\nenv = { T = \"${T}\" }\n\
                       [mcp.docs]\nurl = \"https://x.test\"\ndisabled = true\n\
                       [mcp.own]\ncommand = \"o\"\nclients = [\"claude\"]\n";

/// Servers stand where each client looks for them, in its words.
#[test]
fn servers_are_declared_for_each_client() {
    let project = clients(SERVERS, ProfileScope::Project);
    let all = ["claude", "copilot", "opencode"];
    let env = "{\"T\":\"${T}\"}";
    let opencode = |file: &str| {
        [
            format!(
                "{file}: mcp.files = {{\"type\":\"local\",\"command\":[\"npx\",\"x\"],\"environment\":{env}}}"
            ),
            format!(
                "{file}: mcp.docs = {{\"type\":\"remote\",\"url\":\"https://x.test\",\"enabled\":false}}"
            ),
        ]
    };
    let copilot = |file: &str| {
        format!(
            "{file}: mcpServers.files = {{\"type\":\"local\",\"command\":\"npx\",\"args\":[\"x\"],\
             \"env\":{env},\"tools\":[\"*\"]}}"
        )
    };
    let mut expected = vec![copilot(".github/mcp.json")];
    expected.push(format!(
        ".mcp.json: mcpServers.files = {{\"command\":\"npx\",\"args\":[\"x\"],\"env\":{env}}}"
    ));
    expected.push(".mcp.json: mcpServers.own = {\"command\":\"o\",\"args\":[]}".to_owned());
    expected.extend(opencode("opencode.json"));
    assert_eq!(needs(&project, &all, &[], &[]), expected);
    let jsonc = needs(&project, &["opencode"], &[], &["opencode.jsonc"]);
    assert_eq!(jsonc, opencode("opencode.jsonc"));
    let left_out = |clients: &Clients, wanted: &[&str]| -> Vec<String> {
        let left_out = clients.left_out(wanted).into_iter();
        left_out.map(|one| format!("{} {}: {}", one.client, one.server, one.why)).collect()
    };
    let disabled = "is disabled, which the client cannot express";
    assert_eq!(
        left_out(&project, &all),
        [format!("claude docs: {disabled}"), format!("copilot docs: {disabled}")]
    );
    let home = clients(SERVERS, ProfileScope::Home);
    let mut expected = opencode(".config/opencode/opencode.json").to_vec();
    expected.push(copilot(".copilot/mcp-config.json"));
    assert_eq!(needs(&home, &all, &[], &[]), expected);
    assert_eq!(left_out(&home, &["claude"]).len(), 3, "the file is the client's own");
    let leave = format!("{SERVERS}[install]\nopencode-json = \"leave\"\n");
    let leave = clients(&leave, ProfileScope::Project);
    assert_eq!(needs(&leave, &["opencode"], &[RULE_FILE], &[]), [""; 0]);
    assert_eq!(left_out(&leave, &["opencode"]).len(), 2);
    let codex = "[clients.codex.skill]\npath = \".x/{name}/S.md\"\nfields = []\n\
                 [mcp.a]\ncommand = \"a\"\nenv = { A = \"${A}\", B = \"${A}\", C = \"1\" }\n";
    let codex = clients(codex, ProfileScope::Project);
    let entry = r#"{"command":"a","args":[],"env":{"B":"${A}","C":"1"},"env_vars":["A"]}"#;
    let entry = format!(".codex/config.toml: mcp_servers.a = {entry}");
    assert_eq!(needs(&codex, &["codex"], &[], &[]), [entry]);
    assert_eq!(left_out(&codex, &["codex"]).len(), 0);
    let problems = read("[mcp.a]\n[install]\nx = 1\n", ProfileScope::Project).unwrap_err();
    assert_eq!(problems.len(), 2, "everything is reported: {problems:?}");
}

/// The writer asks about these, and no others.
#[test]
fn what_decides_is_watched() {
    let watched = |scope| clients("", scope).watched_paths();
    assert_eq!(
        watched(ProfileScope::Project),
        [
            ".aider.conf.yml",
            ".claude/CLAUDE.md",
            ".crush.json",
            ".goosehints",
            ".roomodes",
            "AGENTS.md",
            "CLAUDE.md",
            "GEMINI.md",
            "crush.json",
            "kilo.json",
            "kilo.jsonc",
            "opencode.json",
            "opencode.jsonc"
        ]
    );
    let home = ".config/opencode/opencode.json";
    assert_eq!(watched(ProfileScope::Home), [home.to_owned(), format!("{home}c")]);
}

/// A file that is made for a client begins as that client wants it.
#[test]
fn a_new_file_names_its_schema() {
    let (key, value) = ("instructions".to_owned(), "x".to_owned());
    let wanted = [SharedEntry::Listed { key, value }];
    for (scope, path, expected) in [
        (ProfileScope::Project, "opencode.json", true),
        (ProfileScope::Home, ".config/opencode/opencode.json", true),
        (ProfileScope::Project, ".mcp.json", false),
    ] {
        let request =
            Merge { path, text: None, wanted: &wanted, before: &[], foreign: Foreign::Keep };
        let text = clients("", scope).merge_entries(&request).unwrap().text.unwrap();
        assert_eq!(text.contains("$schema"), expected, "{text}");
    }
}

/// The example of the reference is understood as it says.
#[test]
fn examples_of_the_reference_are_valid() {
    let page = include_str!("../../../../docs/reference/portable.md");
    let examples: Vec<&str> =
        page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(examples.len() > 2);
    for text in examples {
        let source = Arc::new(Source::new("brief.toml", text));
        for section in [Section::Build, Section::Install] {
            let outcome = Clients::from_configuration(
                Some(&source),
                &OwnClients::default(),
                section,
                ProfileScope::Project,
            );
            assert!(outcome.is_ok(), "{text}: {:?}", outcome.err());
        }
    }
}
