//! Every cell of the table in docs/clients/README.md that says "written": an item is compiled for the client, laid out
//! with the entries in shared files, and read back as that client reads it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use brief_clients::compile::{Clients, OutputContent};
use brief_clients::profile::{Layout, ProfileScope, Section};
use brief_dialects::native::Native;
use brief_dialects::portable::output::{Compiler, Foreign, Merge, Outputs, SharedEntry};
use brief_dialects::portable::{self, ItemKind};
use brief_dialects::{Dialect, Moment, Reason, Resolution};
use brief_profiles::{BUILTIN, COMPILED, ClientRead, Form, ItemOutput, OwnClients, Scoping};
use brief_syntax::glob::Glob;
use brief_syntax::{Root, Source};
use brief_system::MemorySystem;

use crate::no_outputs;

const MARK: &str = "MARK-one";

/// The patterns of the scoped rule, and files with the answer of the portable format.
const SCOPE: &str = "scope:\n  paths: [\"src/api/**/*.ts\", \"lib/{a,b}/*.py\", \"*.md\"]\n";
const SAMPLES: [(&str, bool); 8] = [
    ("src/api/a.ts", true),
    ("src/api/deep/down/a.ts", true),
    ("src/a.ts", false),
    ("src/api/a.js", false),
    ("lib/a/m.py", true),
    ("lib/c/m.py", false),
    ("README.md", true),
    ("docs/a.md", false),
];

/// Clients that take a pattern without `/` for any directory, and have no way to say otherwise.
const ANY_DEPTH: [&str; 1] = ["copilot"];

/// Places that are written and not read: a directory for each agent is a form that our reader does not have, and
/// two of `.agents` belong to others, too.
const NOT_READ: [(&str, ItemKind); 4] = [
    ("antigravity", ItemKind::Agent),
    ("antigravity", ItemKind::Rule),
    ("windsurf", ItemKind::Agent),
    ("roo", ItemKind::Agent),
];

/// An item of a kind for one client, laid out in a project.
struct LaidOut {
    files: Vec<(String, String)>,
    messages: Vec<String>,
    help: Vec<String>,
}

fn item(kind: ItemKind, more: &str) -> String {
    let body = match kind {
        ItemKind::Command => format!("{MARK}: $ARGUMENTS, $1\n"),
        _ => format!("## One\n\n{MARK}\n"),
    };
    format!(
        "---\nschema: 1\nname: one\ndescription: Use when testing\nlicense: MIT\n{more}---\n\n{body}"
    )
}

fn clients() -> Clients {
    let source = Arc::new(Source::new("brief.toml", ""));
    let own = OwnClients::default();
    Clients::from_configuration(Some(&source), &own, Section::Install, ProfileScope::Project)
        .unwrap()
}

/// Compiles an item for some clients, with the entries of shared files.
fn lay_out(clients: &Clients, kind: ItemKind, more: &str, wanted: &[&str]) -> LaidOut {
    let path = format!("{}/one/{}", kind.folder(), kind.entrypoint());
    let system = MemorySystem::new("/r").with_file(&path, item(kind, more));
    let root = Root::open(&system, Path::new("/r")).unwrap();
    let registry = portable::read_registry(&system, &root, &clients.clients());
    let compiled = clients.compile(&registry.items[0], wanted);
    let text = |content: OutputContent| match content {
        OutputContent::Text(text) => text,
        OutputContent::Copy(_) => panic!("nothing lies beside it"),
    };
    let mut files: Vec<(String, String)> =
        compiled.files.into_iter().map(|file| (file.path, text(file.content))).collect();
    let written: BTreeSet<String> = files.iter().map(|(path, _)| path.clone()).collect();
    let patterns: Vec<String> =
        registry.items[0].scope_paths().into_iter().map(str::to_owned).collect();
    let scopes: BTreeMap<String, Vec<String>> =
        written.iter().map(|path| (path.clone(), patterns.clone())).collect();
    let outputs = Outputs { files: &written, clients: wanted, scopes: &scopes, ..no_outputs() };
    for shared in clients.list_shared_files(&outputs) {
        let merge = Merge {
            path: &shared.path,
            text: None,
            wanted: &shared.entries,
            before: &[],
            foreign: Foreign::Keep,
        };
        files.push((shared.path.clone(), clients.merge_entries(&merge).unwrap().text.unwrap()));
    }
    let help = compiled.diagnostics.iter().filter_map(|one| one.help.clone()).collect();
    let messages = compiled.diagnostics.into_iter().map(|one| one.message).collect();
    LaidOut { files, messages, help }
}

/// Returns how often a client loads the item by itself for a file, as our reader of its files says.
fn loaded(files: &[(String, String)], client: &str, about: &str) -> usize {
    let mut system = MemorySystem::new("/p").with_dir(".git");
    for (path, text) in files {
        system = system.with_file(path, text);
    }
    let root = Root::open(&system, Path::new("/p")).unwrap();
    let moment = Moment::from_path(&system, root, Path::new("/p"), Path::new(about));
    let moment = Moment { client: Some(client.into()), ..moment };
    let guidance = Native.read_guidance(&system, &moment, None).unwrap();
    let mut answer = Resolution::default();
    guidance.resolve_items(&moment, &mut answer);
    let is_loaded = |reason: &Reason<'_>| matches!(reason, Reason::LoadedByClient { .. });
    let left_out = answer.left_out.iter().filter(|one| is_loaded(&one.reason));
    let has_mark = |path: &Path| {
        let is_it = |(own, text): &(String, String)| {
            path == Path::new("/p").join(own) && text.contains(MARK)
        };
        files.iter().any(is_it)
    };
    left_out.filter(|one| has_mark(one.path)).count()
}

/// The way in which a client gets a rule.
enum Way {
    /// It reads the file by itself, or follows an import.
    Reads,
    /// Its settings list it.
    Listed,
    /// A text that it reads names it.
    Named,
}

fn way(clients: &Clients, client: &str) -> Way {
    let layout = clients.profiles().get(client).unwrap().layout(ItemKind::Rule).unwrap();
    match (&layout.mention, &layout.listing) {
        (Some(mention), _) if !mention.is_loaded || client == "aider" => Way::Named,
        (None, Some(_)) => Way::Listed,
        _ => Way::Reads,
    }
}

/// Returns what a client does with the scope of a rule at a path, as its file says.
fn scoping(client: &str, path: &str) -> Scoping {
    let reads = &BUILTIN.find_client(client).unwrap().reads;
    let holds = |read: &&ClientRead| {
        let directory = read.path.trim_end_matches('/');
        path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
    };
    let mut scopings = reads.iter().filter(holds).map(|read| read.scoping);
    scopings.find(|scoping| *scoping != Scoping::Own).unwrap_or_default()
}

#[test]
fn every_client_gets_rules() {
    let clients = clients();
    let is_read = |client: &&str| !NOT_READ.contains(&(client, ItemKind::Rule));
    for client in COMPILED.into_iter().filter(is_read) {
        let always = lay_out(&clients, ItemKind::Rule, "", &[client]);
        let scoped = lay_out(&clients, ItemKind::Rule, SCOPE, &[client]);
        let says_scope = !scoped.messages.iter().any(|one| one.contains("loads it for all"));
        for (about, is_covered) in SAMPLES {
            let (all, some) =
                (loaded(&always.files, client, about), loaded(&scoped.files, client, about));
            match way(&clients, client) {
                Way::Reads => {
                    assert_eq!(all, 1, "{client} {about} {:?}", always.files);
                    let is_wider = ANY_DEPTH.contains(&client) && about == "docs/a.md";
                    // The command line goes by no scope, and one of them loads nothing that has one.
                    let is_loaded = match scoping(client, &scoped.files[0].0) {
                        Scoping::Ignored => true,
                        Scoping::Unscoped => false,
                        _ => is_covered || is_wider || !says_scope,
                    };
                    assert_eq!(some, usize::from(is_loaded), "{client} {about} {:?}", scoped.files);
                }
                Way::Listed | Way::Named => {
                    assert_eq!(
                        (all, some),
                        (0, 0),
                        "{client}: only a setting makes it read the file"
                    );
                }
            }
        }
        let [(path, _), shared @ ..] = always.files.as_slice() else { panic!("{client}") };
        match way(&clients, client) {
            Way::Reads => {}
            Way::Named => {
                assert!(shared[0].1.contains(path.as_str()), "{client} {shared:?}");
                let is_said = always.messages.iter().any(|one| one.contains("only the path"));
                assert_eq!(is_said, client != "aider", "{client} {:?}", always.messages);
                let line =
                    "`.agents/rules/one/RULE.md` for `src/api/**/*.ts`, `lib/{a,b}/*.py`, `*.md`\n";
                let [_, (_, text)] = scoped.files.as_slice() else { panic!("{client}") };
                assert_eq!(text.contains(line), is_said, "{client} {text}");
            }
            Way::Listed => {
                let is_named = |pattern: &str| {
                    path.starts_with(pattern)
                        || Glob::new(pattern).is_ok_and(|glob| glob.matches(path))
                };
                let mut texts = shared[0].1.split('"');
                assert!(texts.any(is_named), "{client} {shared:?}");
            }
        }
    }
}

/// Antigravity's own words: without `trigger` a rule is not loaded.
#[test]
fn rules_of_antigravity_have_a_trigger() {
    let clients = clients();
    let text = |more| lay_out(&clients, ItemKind::Rule, more, &["antigravity"]).files[0].1.clone();
    assert!(text("").starts_with("---\ntrigger: always_on\ndescription: "));
    let scoped = text(SCOPE);
    assert!(scoped.contains("trigger: glob\n"), "{scoped}");
    assert!(scoped.contains("globs: src/api/**/*.ts,lib/a/*.py,lib/b/*.py,*.md\n"), "{scoped}");
}

/// §3.2: a client without scopes gets the rule always, and that is said; so is a rule that it does not load at all. All
/// others say nothing.
#[test]
fn a_lost_scope_is_said() {
    let clients = clients();
    let saying = |words: &str| {
        let says = |client: &&str| {
            let messages = lay_out(&clients, ItemKind::Rule, SCOPE, &[client]).messages;
            assert!(messages.len() < 2, "{client} {messages:?}");
            messages.iter().any(|one| one.contains(words))
        };
        COMPILED.into_iter().filter(says).collect::<Vec<&str>>()
    };
    let is_rule = |client: &&str, is_asked: &dyn Fn(&ItemOutput, &Layout) -> bool| {
        let rule = BUILTIN.find_client(client).and_then(|client| client.rule.as_ref());
        let layout = clients.profiles().get(client).unwrap().layout(ItemKind::Rule);
        rule.zip(layout).is_some_and(|(rule, layout)| is_asked(rule, layout))
    };
    let is_named = |layout: &Layout| layout.mention.as_ref().is_some_and(|one| !one.is_loaded);
    let without =
        |client: &&str| is_rule(client, &|rule, layout| !rule.is_scoped && !is_named(layout));
    let named = |client: &&str| is_rule(client, &|_, layout| is_named(layout));
    let without: Vec<&str> = COMPILED.into_iter().filter(without).collect();
    assert_eq!(saying("loads it for all"), without);
    assert_eq!(saying("only the path"), COMPILED.into_iter().filter(named).collect::<Vec<_>>());
    for (client, is_without) in
        [("aider", true), ("goose", true), ("claude", false), ("cline", false)]
    {
        assert_eq!(without.contains(&client), is_without, "{client}");
    }
    // The way out is one that the client has: Zed has no hook.
    let help = |client: &str| lay_out(&clients, ItemKind::Rule, SCOPE, &[client]).help.concat();
    assert!(help("codex").contains("`brief hook install codex`"), "{}", help("codex"));
    assert!(help("zed").contains("write the text into `AGENTS.md`"), "{}", help("zed"));
}

#[test]
fn every_client_gets_skills_and_agents_once() {
    let clients = clients();
    for kind in [ItemKind::Skill, ItemKind::Agent] {
        for client in COMPILED {
            if clients.profiles().get(client).unwrap().layout(kind).is_none() {
                continue;
            }
            let out = lay_out(&clients, kind, "", &[client]);
            let expected = usize::from(!NOT_READ.contains(&(client, kind)));
            assert_eq!(
                loaded(&out.files, client, "src/a.ts"),
                expected,
                "{client} {kind} {:?}",
                out.files
            );
        }
    }
}

/// A mode of Roo Code has a slug, a name, a role and groups; its instructions are the rules of the mode.
#[test]
fn agents_of_roo_are_modes() {
    let clients = clients();
    let out = lay_out(&clients, ItemKind::Agent, "tools: [read]\n", &["roo"]);
    let [(rules, body), (file, text)] = out.files.as_slice() else { panic!("{:?}", out.files) };
    assert_eq!((rules.as_str(), file.as_str()), (".roo/rules-one/AGENT.md", ".roomodes"));
    assert!(body.starts_with("# one\n") && body.contains(MARK), "{body}");
    let mode = "customModes:\n  - { slug: \"one\", name: \"one\", roleDefinition: \"You work as the agent one. ";
    assert!(text.contains(mode), "{text}");
    assert!(text.ends_with("groups: [read, edit, command, mcp] }\n# /brief:import\n"), "{text}");
    assert!(brief_syntax::yaml::Yaml::parse(text).problems().is_empty(), "{text}");
    assert!(out.messages[0].contains("loses its `tools`"), "{:?}", out.messages);

    let wanted = [SharedEntry::Block { text: "customModes:\n  - { slug: a }".to_owned() }];
    let merge = |text| {
        let (before, foreign) = (&[][..], Foreign::Keep);
        let merge = Merge { path: ".roomodes", text: Some(text), wanted: &wanted, before, foreign };
        clients.merge_entries(&merge)
    };
    // A list of the user's own is not made longer: neither in YAML nor in JSON.
    for own in ["customModes:\n  - slug: mine\n", "{\"customModes\": []}\n"] {
        assert!(merge(own).is_err(), "{own}");
    }
    let told = "`customModes` belongs to the user; add `- { slug: a }` to it";
    assert_eq!(merge("customModes:\n  - slug: mine\n").unwrap_err(), told);
    assert!(merge("# mine\n").is_ok());
}

/// U37: shared places are written once. Claude Code reads no other place than its own, so that there are two of them.
#[test]
fn all_clients_together_share_the_places_of_skills() {
    let clients = clients();
    let out = lay_out(&clients, ItemKind::Skill, "", &COMPILED);
    let paths: Vec<&str> = out.files.iter().map(|(path, _)| path.as_str()).collect();
    let skills = paths.iter().filter(|path| path.ends_with("SKILL.md"));
    assert!(skills.count() <= 5, "{paths:?}");
    assert_eq!(out.messages, [""; 0]);
    for client in COMPILED {
        if clients.profiles().get(client).unwrap().layout(ItemKind::Skill).is_some() {
            assert!(loaded(&out.files, client, "src/a.ts") >= 1, "{client} {paths:?}");
        }
    }
}

/// Arguments are in the client's own words; what it has none for is said.
#[test]
fn every_client_gets_commands() {
    let clients = clients();
    for client in COMPILED {
        let Some(layout) = clients.profiles().get(client).unwrap().layout(ItemKind::Command) else {
            continue;
        };
        let out = lay_out(&clients, ItemKind::Command, "", &[client]);
        let [(path, text)] = out.files.as_slice() else { panic!("{client}") };
        assert_eq!(*path, layout.path.fill("one"));
        assert!(text.contains(MARK), "{client} {text}");
        let forms = &layout.arguments;
        let is_whole = forms.all.is_some() && forms.one.is_some();
        assert_eq!(out.messages.is_empty(), is_whole, "{client} {:?}", out.messages);
        match &forms.all {
            Some(all) => assert!(text.contains(all.as_str()), "{client} {text}"),
            None => assert!(text.contains("$ARGUMENTS"), "{client} {text}"),
        }
    }
}

/// A server goes to each client that has a file for them, below the key that the client reads.
#[test]
fn servers_are_written_for_each_client_that_has_a_file() {
    let text = "[mcp.files]\ncommand = \"mcp-files\"\n[mcp.web]\nurl = \"https://x.test\"\n";
    let source = Arc::new(Source::new("brief.toml", text));
    let own = OwnClients::default();
    for scope in [ProfileScope::Project, ProfileScope::Home] {
        let clients =
            Clients::from_configuration(Some(&source), &own, Section::Install, scope).unwrap();
        for client in COMPILED {
            let wanted = [client];
            let outputs = Outputs { clients: &wanted, ..no_outputs() };
            let shared = clients.list_shared_files(&outputs);
            let known = BUILTIN.find_client(client).unwrap().mcp.as_ref();
            let known = known.filter(|known| !known.stdio.is_empty());
            let file = known.and_then(|known| match scope {
                ProfileScope::Project => known.file.as_ref(),
                ProfileScope::Home => known.home_file.as_ref(),
            });
            assert_eq!(!shared.is_empty(), file.is_some(), "{client} {scope:?}");
            for written in shared {
                let key = &known.unwrap().key;
                assert_eq!(Some(&*written.path), file.map(|file| &**file));
                let names: Vec<String> = written.entries.iter().map(SharedEntry::name).collect();
                assert_eq!(names, [format!("{key}.files"), format!("{key}.web")]);
            }
        }
    }
}

/// Every cell of the table is filled or has its reason in the client's file, and never both.
#[test]
fn empty_cells_have_a_reason() {
    for client in &BUILTIN.clients {
        let reads = |is: &dyn Fn(Form) -> bool| {
            client.reads.iter().any(|read| {
                BUILTIN.project.iter().any(|place| place.key == read.path && is(place.form))
            })
        };
        let is_rules = |form| !matches!(form, Form::Skill | Form::Agent);
        for (kind, is_there) in [
            ("rules", client.rule.is_some() || reads(&is_rules)),
            ("skills", client.skill.is_some() || reads(&|form| form == Form::Skill)),
            ("agents", client.agent.is_some() || reads(&|form| form == Form::Agent)),
            ("commands", client.command.is_some()),
            ("servers", client.mcp.is_some()),
            ("permissions", client.permissions.is_some()),
        ] {
            let reasons = client.lacks.iter().filter(|lack| &*lack.kind == kind).count();
            assert_eq!(reasons, usize::from(!is_there), "{} {kind}", client.id);
        }
        let kinds = ["rules", "skills", "agents", "commands", "servers", "permissions"];
        let is_kind = |kind: &str| kinds.contains(&kind);
        assert!(client.lacks.iter().all(|lack| is_kind(&lack.kind)), "{}", client.id);
    }
}

/// Every cell of the columns of permissions and ignore files: a rule that the client has words for, and a pattern, stand in its
/// files, which are made and taken away again.
#[test]
fn permissions_are_written_for_each_client_that_has_a_file() {
    let rules =
        ["shell = [\"ls\", \"*\"]\n", "read = [\"*\"]\n", "edit = [\"*\"]\n", "web = [\"*\"]\n"];
    let text = format!(
        "[permissions.allow]\n{}mcp = [\"files/{MARK}\"]\n[permissions.deny]\nread = [\"{MARK}\"]\n[ignore]\npatterns = [\"{MARK}/\"]\n",
        rules.concat()
    );
    let source = Arc::new(Source::new("brief.toml", text));
    let own = OwnClients::default();
    let clients =
        Clients::from_configuration(Some(&source), &own, Section::Install, ProfileScope::Project)
            .unwrap();
    for client in COMPILED {
        let known = BUILTIN.find_client(client).unwrap();
        let outputs = Outputs { clients: &[client], ..no_outputs() };
        let shared = clients.list_shared_files(&outputs);
        let mut expected: Vec<&str> = known.permissions.iter().map(|own| &*own.file).collect();
        expected.extend(known.ignores.first().map(|file| &**file));
        expected.sort_unstable();
        let paths: Vec<&str> = shared.iter().map(|file| &*file.path).collect();
        assert_eq!(paths, expected, "{client}");
        for file in &shared {
            let request = Merge {
                path: &file.path,
                text: None,
                wanted: &file.entries,
                before: &[],
                foreign: Foreign::Keep,
            };
            let made = clients.merge_entries(&request).unwrap();
            let text = made.text.unwrap();
            for entry in &made.entries {
                let said = match entry {
                    SharedEntry::Listed { value, .. } => value,
                    SharedEntry::Keyed { name, .. } => name,
                    SharedEntry::Block { text } => text,
                };
                assert!(text.contains(said.as_str()), "{client}\n{text}");
            }
            let gone = Merge { text: Some(&text), wanted: &[], before: &made.entries, ..request };
            assert_eq!(clients.merge_entries(&gone).unwrap().text, None, "{client} {}", file.path);
        }
        assert_eq!(expected.is_empty(), shared.is_empty(), "{client}");
    }
}
