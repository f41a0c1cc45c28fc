//! Items for a project or a home directory, through the face that knows no client.

use std::path::Path;
use std::sync::Arc;

use brief_clients::compile::{Clients, Compiled, Content, UnknownClient};
use brief_clients::profile::{Scope, Section};
use brief_dialects::portable;
use brief_dialects::portable::output::Compile;
use brief_syntax::system::MemorySystem;
use brief_syntax::{Diagnostic, Root, Source};

use crate::document;

fn read(text: &str, scope: Scope) -> Result<Clients, Vec<Diagnostic>> {
    let source = Arc::new(Source::new("brief.toml", text));
    Clients::read(Some(&source), Section::Install, scope)
}

fn clients(text: &str, scope: Scope) -> Clients {
    read(text, scope).unwrap()
}

/// Compiles the item at a path for all clients.
fn compiled(clients: &Clients, path: &str, files: &[&str]) -> Compiled {
    let mut system = MemorySystem::new("/r").with_file(path, &document("", "## A\n\n[b](b.txt)\n"));
    for file in files {
        system = system.with_file(file, "b");
    }
    let root = Root::open(&system, Path::new("/r")).unwrap();
    let registry = portable::read(&system, &root, &clients.clients());
    clients.compile(&registry.items[0], &clients.clients())
}

fn paths(clients: &Clients, path: &str) -> Vec<String> {
    compiled(clients, path, &[]).files.into_iter().map(|file| file.path).collect()
}

/// Below a home directory clients look elsewhere.
#[test]
fn a_home_directory_has_its_own_places() {
    let home = Clients::read(None, Section::Install, Scope::Home).unwrap();
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
    let home = Clients::read(None, Section::Install, Scope::Home).unwrap();
    let compiled = compiled(&home, "agents/x/AGENT.md", &["agents/x/b.txt"]);
    let find = |path: &str| compiled.files.iter().find(|file| file.path == path).unwrap();
    assert_eq!(find(".agents/agents/x/b.txt").content, Content::Copy("b.txt".to_owned()));
    let Content::Text(text) = &find(".config/opencode/agents/x.md").content else { panic!() };
    assert!(text.contains("(../../../.agents/agents/x/b.txt)"), "{text}");
}

/// With `layout = "shared"` a skill is written once, in either scope.
#[test]
fn a_skill_is_shared_below_a_home_directory() {
    let shared = "[install]\nlayout = \"shared\"\n";
    for scope in [Scope::Project, Scope::Home] {
        let clients = clients(shared, scope);
        assert_eq!(paths(&clients, "skills/x/SKILL.md"), [".claude/skills/x/SKILL.md"]);
        assert_eq!(paths(&clients, "agents/x/AGENT.md").len(), 3, "agents differ");
    }
}

/// A project may say where its own client looks in a home directory.
#[test]
fn a_project_changes_places_below_a_home_directory() {
    let own = "[clients.claude.agent]\nhome = \".own/{name}.md\"\nhome-files = \".own-files/{name}\"\n\
               [clients.x.skill]\npath = \".x/{name}/S.md\"\nfields = []\n";
    let path = "agents/x/AGENT.md";
    assert_eq!(paths(&clients(own, Scope::Home), path)[0], ".own/x.md");
    assert_eq!(paths(&clients(own, Scope::Project), path)[0], ".claude/agents/x.md");
    let files = compiled(&clients(own, Scope::Home), path, &["agents/x/b.txt"]).files;
    assert_eq!(files[1].path, ".own-files/x/b.txt");
    assert!(
        paths(&clients(own, Scope::Home), "skills/x/SKILL.md").contains(&".x/x/S.md".to_owned())
    );
}

/// What is wrong has a place, a code and a way out.
#[test]
fn a_wrong_configuration_is_reported() {
    let shared = "[clients.claude.rule.shared]\n";
    let bridge = "[clients.claude.bridge]\n";
    for (text, line, message) in [
        ("[install]\nout = \"dist\"\n", 2, "`install.out`: there is no such key"),
        ("[install]\nclaude-mb = \"leave\"\n", 2, "`install.claude-mb`: there is no such key"),
        ("[install]\nclaude-md = \"leav\"\n", 2, "`leav` means nothing here"),
        ("[install]\nclaude-md = \"merge\"\n", 2, "`merge` means nothing here"),
        ("[install]\nopencode-json = true\n", 2, "this is no text"),
        ("[install]\nclients = [\"x\"]\n", 2, "unknown client `x`"),
        ("[clients.claude.agent]\nhome = \"x\"\n", 2, "it lacks `{name}`"),
        ("[clients.claude.agent]\nhome-files = \".x/{name}-y/z\"\n", 0, ""),
        ("[clients.claude.agent]\nhome-files = \".x/y\"\n", 2, "it lacks `{name}`"),
        ("[clients.claude.skill]\nhome = \".x/{name}.md\"\n", 1, "lacks `skill.home-files`"),
        ("[clients.claude.agent]\nhome-also-read = \"x\"\n", 2, "this is no list of texts"),
        (&format!("{shared}file = \"a.json\"\n"), 1, "it lacks `file`, `list` or `value`"),
        (&format!("{shared}file = \"../a.json\"\n"), 2, "it is not a plain relative path"),
        (&format!("{shared}file = \".git/config\"\n"), 2, "version control"),
        (&format!("{shared}fil = \"a.json\"\n"), 2, "there is no such key"),
        (&format!("{shared}setting = \"clients\"\n"), 2, "this can be no key of `[install]`"),
        (&format!("{bridge}from = \"A.md\"\n"), 1, "it lacks `from`, `file` or `text`"),
        (&format!("{bridge}text = \"a\\nb\"\n"), 2, "this is no line"),
        (&format!("{bridge}or = [\"/a\"]\n"), 2, "it is not a plain relative path"),
    ] {
        let problems = read(text, Scope::Project).err().unwrap_or_default();
        match problems.first() {
            None => assert_eq!(line, 0, "{text}"),
            Some(problem) => {
                assert!(problem.message.contains(message), "{text}: {problems:?}");
                let found = (problem.position().line, problem.code);
                assert_eq!(found, (line, "portable/invalid-config"), "{text}");
            }
        }
    }
}

/// `[build]` and `[install]` are apart.
#[test]
fn each_section_is_read_alone() {
    let text = "[build]\nout = \"x\"\nh1 = \"never\"\n[install]\nclients = [\"claude\"]\n";
    let source = Arc::new(Source::new("brief.toml", text));
    let build = Clients::read(Some(&source), Section::Build, Scope::Project).unwrap();
    let install = Clients::read(Some(&source), Section::Install, Scope::Project).unwrap();
    assert_eq!(build.settings().out.as_deref(), Some("x"));
    assert_eq!(build.wanted(&[]).unwrap(), ["claude", "copilot", "opencode"]);
    assert_eq!(install.settings().out, None);
    assert_eq!(install.wanted(&[]).unwrap(), ["claude"]);
    let problems = Clients::read(
        Some(&Arc::new(Source::new("brief.toml", "[build]\nclaude-md = \"leave\"\n"))),
        Section::Build,
        Scope::Project,
    );
    assert!(problems.unwrap_err()[0].message.contains("there is no such key"));
}

/// Who is named is wanted, in the order of the profiles.
#[test]
fn named_clients_come_before_those_of_the_section() {
    let clients = clients("[install]\nclients = [\"claude\"]\n", Scope::Project);
    let named = |names: &[&str]| {
        clients.wanted(&names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>())
    };
    assert_eq!(named(&["opencode", "copilot", "opencode"]).unwrap(), ["copilot", "opencode"]);
    let known = ["claude", "copilot", "opencode"].map(str::to_owned).to_vec();
    let near = Some("copilot".to_owned());
    let error = named(&["claude", "copliot"]).unwrap_err();
    assert_eq!(error, UnknownClient { name: "copliot".to_owned(), near, known });
}

/// One name for everything but the item and the clients.
#[test]
fn the_fingerprint_changes_with_what_files_depend_on() {
    let of = |text: &str, scope| clients(text, scope).fingerprint().to_owned();
    let plain = of("", Scope::Project);
    assert_eq!(plain, of("[install]\nclients = [\"claude\"]\n[other]\n", Scope::Project));
    for (text, scope) in [
        ("", Scope::Home),
        ("[install]\nh1 = \"never\"\n", Scope::Project),
        ("[clients.claude.tools]\nread = \"R\"\n", Scope::Project),
    ] {
        assert_ne!(plain, of(text, scope), "{text}");
    }
}
