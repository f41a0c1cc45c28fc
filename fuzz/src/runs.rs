//! The code of each target: one call of a parser, and assertions of its promises.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use brief_clients::{hook, transcript};
use brief_dialects::dependencies::{self, DependencyExtent};
use brief_dialects::{agents, fuzzing, hosted, portable, structured, tasks};
use brief_profiles::{BUILTIN, TranscriptForm};
use brief_registry::lock::Lock;
use brief_registry::manifest::Manifest;
use brief_syntax::front_matter::FrontMatter;
use brief_syntax::glob::{Glob, covers_everything_inside};
use brief_syntax::markdown::{self, Outline};
use brief_syntax::shell::parse_commands;
use brief_syntax::walk::Ignored;
use brief_syntax::yaml::{Node, Value, Yaml};
use brief_syntax::{Diagnostic, Root, Source};
use brief_system::MemorySystem;

/// The files around a text, which parsers read and never change; one system for all inputs.
static SYSTEM: LazyLock<MemorySystem> =
    LazyLock::new(|| MemorySystem::new("/p").with_dir("/p/agents"));

fn lossy_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn create_source(bytes: &[u8], path: &str) -> Arc<Source> {
    Arc::new(Source::from_bytes(path, bytes.to_vec()))
}

/// Asserts that every diagnostic is within its text and has a position.
fn assert_places(diagnostics: &[Diagnostic]) {
    for found in diagnostics {
        assert!(found.source.text().get(found.span.range()).is_some(), "{found:?}");
        let _ = found.position();
    }
}

/// Reads front matter in one of three ways, which the length of the input chooses.
pub(crate) fn front_matter(bytes: &[u8]) {
    let source = create_source(bytes, "f.md");
    let front = match bytes.len() % 3 {
        0 => FrontMatter::from_source(&source),
        1 => FrontMatter::read_strictly(&source, &["argument-hint"]),
        _ => FrontMatter::from_yaml_source(&source),
    };
    assert_places(&front.diagnostics);
    assert!(source.text().is_char_boundary(front.body_start));
    if let Some(root) = front.header.as_ref().and_then(|header| header.yaml.root()) {
        walk_node(root, 0);
    }
}

/// Visits a tree as readers do, as deep as text may be nested.
fn walk_node(node: Node<'_>, depth: usize) {
    if depth > 8 {
        return;
    }
    match node.value() {
        Value::Sequence(list) => list.iter().take(64).for_each(|item| walk_node(item, depth + 1)),
        Value::Mapping(mapping) => {
            mapping
                .effective_fields()
                .into_iter()
                .take(64)
                .for_each(|field| walk_node(field.value, depth + 1));
        }
        Value::Null | Value::Scalar(_) | Value::Broken(_) => {}
    }
}

fn check_yaml(text: &str) {
    let yaml = Yaml::parse(text);
    for problem in yaml.problems() {
        assert!(
            problem.span.end <= text.len() && problem.span.start <= problem.span.end,
            "{problem:?}"
        );
    }
    if let Some(root) = yaml.root() {
        assert!(text.get(root.span().range()).is_some());
        walk_node(root, 0);
    }
}

/// Reads YAML with the fast reader, which takes texts that end in a line break.
pub(crate) fn yaml_quick(bytes: &[u8]) {
    let mut text = lossy_text(bytes);
    text.push('\n');
    check_yaml(&text);
}

/// Reads YAML with the full parser, which gets texts without a final line break.
pub(crate) fn yaml_full(bytes: &[u8]) {
    check_yaml(lossy_text(bytes).trim_end_matches('\n'));
}

pub(crate) fn structured_context(bytes: &[u8]) {
    let source = create_source(bytes, "AGENTS.yaml");
    let (_, diagnostics) =
        structured::parse_structured_file(&source, "", &mut structured::PatternCache::default());
    assert_places(&diagnostics);
}

pub(crate) fn json_config(bytes: &[u8]) {
    let (_, diagnostics) = hosted::parse_config(&create_source(bytes, "context-config.json"));
    assert_places(&diagnostics);
}

/// Checks a text as each of the clients' own files.
pub(crate) fn client_files(bytes: &[u8]) {
    assert_places(&brief_checks::fuzzing::client_files(&String::from_utf8_lossy(bytes)));
}

/// Asserts that the parts of a text, in order, are the text.
pub(crate) fn check_expander(bytes: &[u8]) {
    let mut at = 0;
    for (offset, whole) in fuzzing::split_expansions(bytes) {
        assert_eq!(offset, at);
        assert_eq!(bytes.get(at..at + whole.len()), Some(whole));
        at += whole.len();
    }
    assert_eq!(at, bytes.len());
}

pub(crate) fn check_slash_calls(bytes: &[u8]) {
    fuzzing::slash_calls(bytes);
}

pub(crate) fn check_parameters(bytes: &[u8]) {
    let _ = tasks::Parameters::default().add_text(bytes);
    let text = lossy_text(bytes);
    let _ = tasks::Selectors::default().add_text(&text);
    let _ = tasks::TaskName::parse(&text);
}

pub(crate) fn check_directives(bytes: &[u8]) {
    let text = lossy_text(bytes);
    let clients = ["claude", "codex", "copilot"];
    let found = portable::directives::parse_directives(&text, &clients);
    for block in &found.blocks {
        assert!(block.open.end <= block.close.start);
    }
    for problem in &found.problems {
        assert!(text.get(problem.span.range()).is_some());
    }
    for client in clients {
        assert!(
            portable::directives::render_client_body(&text, client, &clients).len()
                <= text.len() + 1
        );
    }
}

/// Takes the first line as a pattern and the second as a path: a pattern that matches a file could
/// match inside its directory.
pub(crate) fn check_glob(bytes: &[u8]) {
    let text = lossy_text(bytes);
    let (pattern, path) = text.split_once('\n').unwrap_or((&text, "src/a.ts"));
    let Ok(glob) = Glob::new(pattern) else { return };
    let matches = glob.matches(path);
    let inside = path.rsplit_once('/').map_or("", |(directory, _)| directory);
    let could = glob.could_match_inside(inside);
    let is_clean = !path.is_empty() && path.split('/').all(|name| !matches!(name, "" | "." | ".."));
    assert!(!matches || could || !is_clean, "{pattern:?} matches {path:?}");
    let _ = covers_everything_inside(&[&glob], inside);
}

pub(crate) fn check_shell(bytes: &[u8]) {
    let text = lossy_text(bytes);
    for command in parse_commands(&text) {
        assert!(text.get(command.span.range()).is_some(), "{text:?}");
        let words = command.words.iter();
        let targets = command.redirects.iter().map(|redirect| &redirect.target);
        for word in words.chain(targets) {
            assert!(text.get(word.span.range()).is_some(), "{text:?}");
        }
        for invocation in command.invocations() {
            assert!(!invocation.words.is_empty(), "{text:?}");
        }
    }
}

pub(crate) fn hosted_pattern(bytes: &[u8]) {
    let _ = hosted::HostedPattern::new(&lossy_text(bytes));
    let _ = structured::Pattern::new(&lossy_text(bytes));
}

pub(crate) fn source_of_registry(bytes: &[u8]) {
    let text = lossy_text(bytes);
    let _ = brief_registry::SourceAddress::parse(&text, Path::new("/p"), &*SYSTEM);
    let _ = brief_registry::SourceAddress::parse_added(&text, Path::new("/p"), &*SYSTEM);
}

/// Asserts that in any collection each item has a valid name of its own, and each bundle only items that exist.
pub(crate) fn check_collection(bytes: &[u8]) {
    let text = lossy_text(bytes);
    let agent = "---\nname: a\ndescription: d\n---\nText.\n";
    let system = MemorySystem::new("/s")
        .with_file(".claude-plugin/marketplace.json", &*text)
        .with_file("p/.claude-plugin/plugin.json", &*text)
        .with_file("p/.mcp.json", &*text)
        .with_file("p/agents/a.md", &*text)
        .with_file("p/commands/a.toml", &*text)
        .with_file("q/agents/a.md", agent)
        .with_file("rules/a.mdc", &*text)
        .with_file("skills/a/SKILL.md", &*text);
    let root = Root::open(&system, Path::new("/s")).expect("the directory is there");
    let directories = portable::ClientDirectories::Items;
    let found =
        portable::read_source(&system, &root, &portable::CLIENTS, Ignored::Visit, directories);
    let mut known = BTreeSet::new();
    for item in found.items.iter().filter(|item| item.is_foreign()) {
        assert!(portable::name_problem(item.name()).is_none(), "{}", item.name());
        assert!(known.insert(item.id().clone()), "{}", item.id());
    }
    for bundle in found.bundles.iter().filter(|bundle| bundle.plugin().is_some()) {
        assert!(bundle.items().all(|id| found.find_item(id).is_some()), "{}", bundle.name());
    }
}

/// Asserts that files of package managers, whatever they say, lead to known files of packages inside the project.
pub(crate) fn check_packages(bytes: &[u8]) {
    let site = "/p/.venv/lib/python3.12/site-packages";
    let mut system = MemorySystem::new("/p")
        .with_file("/AGENTS.md", "outside")
        .with_file("/p/node_modules/a/AGENTS.md", "inside")
        .with_file("/p/vendor/m/AGENTS.md", "inside")
        .with_file(&format!("{site}/a/AGENTS.md"), "inside");
    for name in [
        "package.json",
        "node_modules/a/package.json",
        "packages/x/package.json",
        "pnpm-workspace.yaml",
        "pyproject.toml",
        "requirements.txt",
        "Cargo.toml",
        "Cargo.lock",
        ".cargo/config.toml",
        "go.mod",
        "go.sum",
        "vendor/modules.txt",
    ] {
        system = system.with_file(&format!("/p/{name}"), bytes);
    }
    for name in ["METADATA", "RECORD"] {
        system = system.with_file(&format!("{site}/a-1.0.dist-info/{name}"), bytes);
    }
    let root = Path::new("/p");
    for package in
        dependencies::survey_dependencies(&system, root, root, DependencyExtent::All).packages
    {
        assert!(package.directory.starts_with(root), "{package:?}");
        for file in &package.files {
            let known = ["AGENTS.md", "AGENTS.yaml", "AGENTS.yml", "SKILL.md", "llms.txt"];
            let is_known = known.iter().any(|name| file.slashed.ends_with(name));
            assert!(is_known || file.slashed.contains(".context/"), "{package:?}");
            assert!(file.slashed.split('/').all(|name| name != ".."), "{package:?}");
        }
    }
}

/// Asserts that a lock survives being written: our own text is never refused.
pub(crate) fn check_lock(bytes: &[u8]) {
    if let Ok(lock) = Lock::parse(&lossy_text(bytes)) {
        let written = lock.to_text();
        let again = Lock::parse(&written).unwrap_or_else(|error| panic!("{error:?}\n{written}"));
        assert_eq!(again.to_text(), written);
    }
    let _ = brief_dialects::locked::locked_contents(&lossy_text(bytes));
}

pub(crate) fn check_manifest(bytes: &[u8]) {
    if let Err(diagnostics) = Manifest::parse(&create_source(bytes, "brief.toml")) {
        assert_places(&diagnostics);
        assert!(!diagnostics.is_empty());
    }
}

pub(crate) fn hook_event(bytes: &[u8]) {
    for client in &*BUILTIN.clients {
        if client.hook.is_some() {
            let _ = hook::read_call(bytes, &BUILTIN, &client.id, None);
        }
    }
}

/// Reads a record of a session in one of the forms, which the length of the input chooses: no result without a call, no answer
/// before the first, and nothing that is not in the text.
pub(crate) fn transcript(bytes: &[u8]) {
    let with_files = BUILTIN.clients.iter().filter(|client| {
        let form = client.transcripts.as_ref().map(|profile| profile.form);
        form.is_some_and(|form| form != TranscriptForm::Database)
    });
    let clients: Vec<_> = with_files.collect();
    let client = clients[bytes.len() % clients.len()];
    let system = MemorySystem::new("/p")
        .with_file("/s/t/a.messages.json", bytes)
        .with_file("/s/t/a.json", "{\"cwd\": \"/p\"}")
        .with_file("/s/.project_root", "/p");
    let path = Path::new("/s/t/a.messages.json").to_owned();
    let file = transcript::TranscriptFile { client, path, stamp: None };
    let Ok(transcript::TranscriptContent::Sessions(sessions)) =
        transcript::read_transcript(&system, &file, &|_| true)
    else {
        return;
    };
    for session in &sessions {
        let mut ids = BTreeSet::new();
        for (event, call) in session.calls() {
            assert!(event.step > 0, "{event:?}");
            assert!(ids.insert(&call.id), "{call:?}");
        }
        let _ = (session.is_open(), session.gaps.describe());
    }
}

pub(crate) fn own_client(bytes: &[u8]) {
    let source = create_source(bytes, ".brief/clients/acme.toml");
    let judged = brief_profiles::judge_fetched(&source);
    assert_places(&judged.problems);
    match brief_profiles::parse_client(&source) {
        Err(problems) => {
            assert_places(&problems);
            assert!(!problems.is_empty());
        }
        Ok(client) if judged.problems.is_empty() => {
            // A client that came with a source writes below its own directory, and where clients share.
            let own = [format!(".{}/", client.id), ".agents/".to_owned()];
            for output in client.outputs() {
                for path in [Some(&output.path), output.home.other_path()].into_iter().flatten() {
                    assert!(own.iter().any(|own| path.starts_with(own.as_str())), "{path}");
                    let is_odd =
                        |name: &str| matches!(name, "" | "." | "..") || name.starts_with(".git");
                    // The installer refuses a final `/`, with the place in the file.
                    assert!(!path.trim_end_matches('/').split('/').any(is_odd), "{path}");
                }
            }
        }
        Ok(_) => {}
    }
}

pub(crate) fn session_file(bytes: &[u8]) {
    brief_serve::fuzzing::session_file(bytes);
}

pub(crate) fn check_receipts(bytes: &[u8]) {
    brief_serve::fuzzing::fuzz_receipts(bytes);
}

pub(crate) fn view_address(bytes: &[u8]) {
    brief_serve::fuzzing::view_address(&lossy_text(bytes));
}

pub(crate) fn check_agent(bytes: &[u8]) {
    let source = create_source(bytes, "/p/agents/dev_x.agent.md");
    let options = agents::AgentOptions { root: Some(Path::new("/p")), fetched: &[] };
    let loaded = agents::load_text(&*SYSTEM, &source, &options);
    assert_places(loaded.diagnostics());
    if let Some(agent) = loaded.agent() {
        let _ = agent.render(None);
    }
}

pub(crate) fn check_template(bytes: &[u8]) {
    fuzzing::fuzz_template(&lossy_text(bytes));
}

pub(crate) fn markdown_outline(bytes: &[u8]) {
    let text = lossy_text(bytes);
    let outline = Outline::parse(&text);
    let _ = outline.is_opaque(text.len() / 2);
    let _ = markdown::parse_blocks(&text);
    let _ = markdown::collect_links(&text);
}

pub(crate) fn markdown_plain(bytes: &[u8]) {
    let _ = markdown::is_laid_out(&lossy_text(bytes));
}

pub(crate) fn markdown_layout(bytes: &[u8]) {
    let _ = markdown::format_markdown(&lossy_text(bytes));
}

pub(crate) fn portable_toml(bytes: &[u8]) {
    let mut diagnostics = Vec::new();
    let _ = brief_syntax::toml::parse_toml(&create_source(bytes, "brief.toml"), &mut diagnostics);
    assert_places(&diagnostics);
}

/// Asserts that escaped text is not escaped again.
pub(crate) fn hidden_text(bytes: &[u8]) {
    let text = lossy_text(bytes);
    let shown = brief_syntax::text::visible_line(&text);
    assert_eq!(brief_syntax::text::visible_line(&shown), shown, "{text:?}");
    let _ = brief_syntax::hidden::HiddenText::find(&text);
    let _ = brief_syntax::text::fold_line(&shown, 40);
}
