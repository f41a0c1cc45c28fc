//! Clients as data: ours, changed ones, and new ones.

use std::sync::Arc;

use brief_clients::profile::{Profile, ProfileSettings, Profiles, Section};
use brief_dialects::portable::{CAPABILITIES, CLIENTS, ItemKind, MODEL_ALIASES, config};
use brief_profiles::{COMPILED, OwnClients};
use brief_syntax::Source;

use crate::{AGENT, Shop, document};

/// Without a word of the project, items are compiled for the clients of the document.
#[test]
fn our_profiles_are_the_documents_clients() {
    let profiles = Profiles::builtin();
    let usual = || profiles.iter().filter(|profile| profile.is_usual());
    assert_eq!(usual().map(Profile::id).collect::<Vec<&str>>(), CLIENTS);
    assert_eq!(profiles.ids(), COMPILED);
    for profile in usual() {
        assert!(ItemKind::ALL.into_iter().all(|kind| profile.layout(kind).is_some()));
    }
    let source = Arc::new(Source::new("brief.toml", ""));
    assert_eq!(
        &Profiles::with_overrides(&source, &OwnClients::default(), Section::Build).unwrap(),
        profiles
    );
    assert_eq!((CAPABILITIES.len(), MODEL_ALIASES.len()), (8, 3));
}

/// N33, R11: single names of a client that we know can be changed, added and taken away.
#[test]
fn a_project_changes_single_keys() {
    let configuration = "[clients.copilot.tools]\nread = \"read\"\ngrep = \"search\"\nglob = \"search\"\n\
                         bash = false\n[clients.copilot.models]\nopus = \"gpt-5.4\"\n\
                         [clients.claude.agent]\npath = \".claude/agents/team/{name}.md\"\n";
    let source = document("tools: [read, grep, glob, bash]\nmodel: opus\n", "## A\n");
    let shop = Shop::configured(configuration, &[("agents/x/AGENT.md", &source)]);
    assert_eq!(
        shop.header(".github/agents/x.agent.md"),
        "name: x\ndescription: Does things\nmodel: gpt-5.4\ntools:\n  - read\n  - search\n"
    );
    assert_eq!(shop.losses().len(), 1, "`bash` has no name any more");
    assert!(!shop.paths().contains(&AGENT.to_owned()));
    assert!(shop.header(".claude/agents/team/x.md").contains("model: opus\n"), "the rest stays");
}

const CURSOR: &str = r#"
[clients.cursor]
name = "Cursor"

[clients.cursor.rule]
path = ".cursor/rules/{name}.mdc"
files = ".agents/rules/{name}"
fields = [
  { key = "description", from = "description" },
  { key = "globs", from = "scope.paths", as = "bare" },
  { key = "alwaysApply", value = false, when = "scoped" },
  { key = "alwaysApply", value = true, when = "unscoped" },
]
"#;

/// N01: a new client is known everywhere at once: audience, directives, overrides, blocks.
#[test]
fn a_project_adds_a_client() {
    let fields = "audience: [claude, cursor]\nscope:\n  paths: [a, b]\ncursor: {extra: 1}\n";
    let body = "## A\n\n<!-- @client:cursor -->\nOwn.\n<!-- @endclient -->\n";
    let shop = Shop::configured(CURSOR, &[("rules/x/RULE.md", &document(fields, body))]);
    assert_eq!(shop.paths(), [".claude/rules/x.md", ".cursor/rules/x.mdc"]);
    assert_eq!(
        shop.text(".cursor/rules/x.mdc"),
        "---\ndescription: Does things\nglobs: a,b\nalwaysApply: false\nextra: 1\n---\n\n# x\n\n## A\n\nOwn.\n"
    );
    assert!(!shop.text(".claude/rules/x.md").contains("Own"));
    assert!(!shop.text(".claude/rules/x.md").contains("extra"));
    let shop = Shop::configured(
        CURSOR,
        &[("rules/x/RULE.md", &document("", "## A\n")), ("rules/x/RULE.cursor.md", "## Own\n")],
    );
    assert!(shop.text(".cursor/rules/x.mdc").contains("alwaysApply: true\n---\n\n# x\n\n## Own\n"));
    assert_eq!(config::client_names(CURSOR.as_bytes()), ["cursor"], "lint knows it too");
}

/// U30: Cursor takes `globs` as they stand; in quotation marks they match nothing. X12: a comma is
/// between two patterns, so braces with one are written out.
#[test]
fn globs_for_cursor_are_bare() {
    let fields = "scope:\n  paths: [\"**/*.ts\", \"src/{a,b}/**\"]\n";
    let shop = Shop::configured(CURSOR, &[("rules/x/RULE.md", &document(fields, "## A\n"))]);
    let header = shop.header(".cursor/rules/x.mdc");
    assert!(header.contains("\nglobs: **/*.ts,src/a/**,src/b/**\n"), "{header}");
}

/// A client that has no agents gets none.
#[test]
fn a_kind_that_a_client_does_not_have_is_left_out() {
    let own = CURSOR.replace("cursor", "acme");
    let shop = Shop::configured(&own, &[("agents/x/AGENT.md", &document("", "## A\n"))]);
    assert!(shop.paths().iter().all(|path| !path.contains("acme")));
}

/// A problem of a configuration has a file, a line and a key.
#[test]
fn a_wrong_profile_is_an_error_with_a_place() {
    let path = "[clients.claude.rule]\npath = ";
    let cases = [
        ("[clients", "1:9", "the file is not valid TOML"),
        ("clients = 1\n", "1:11", "`clients` must be a table"),
        ("[clients.claude]\nrul = {}\n", "2:1", "unknown key `clients.claude.rul`"),
        (&format!("{path}\".claude/x.md\"\n"), "2:8", "lacks `{name}`"),
        (&format!("{path}\"../{{name}}.md\"\n"), "2:8", "is not a plain relative path"),
        (&format!("{path}\"/x/{{name}}.md\"\n"), "2:8", "is not a plain relative path"),
        (&format!("{path}\".git/hooks/{{name}}\"\n"), "2:8", "version control"),
        (&format!("{path}\".brief/{{name}}\"\n"), "2:8", "of brief"),
        (&format!("{path}\"docs/{{name}}.md\"\n"), "2:8", "such as `.claude`"),
        (
            &format!("{path}\".c/{{kind}}/{{name}}\"\n"),
            "2:8",
            "has an unknown placeholder; only `{name}` is supported",
        ),
        (&format!("{path}7\n"), "2:8", "must be a string"),
        ("[clients.claude.tools]\nraed = \"x\"\n", "2:1", "unknown key"),
        ("[clients.claude.tools]\nread = 1\n", "2:8", "is not a name"),
        ("[clients.x]\nname = \"X\"\n", "1:10", "the client `x` lacks a table"),
        ("[clients.x.rule]\npath = \".x/{name}\"\n", "1:10", "`rule.path` or `rule.fields`"),
        ("[clients.x.rule]\npath = \".x/{name}\"\nfields = []\n", "1:10", "lacks `rule.files`"),
        ("[clients.name.rule]\n", "1:10", "cannot have the name of a field"),
        ("[clients.\"A b\".rule]\n", "1:10", "invalid client name"),
        (
            "[clients.claude.rule]\nfields = [{ key = \"a\", from = \"mode\" }]\n",
            "2:31",
            "a rule has no field `mode`",
        ),
        (
            "[clients.claude.rule]\nfields = [{ key = \"a\", from = \"name\", as = \"list\" }]\n",
            "2:44",
            "`name` cannot be `list`",
        ),
        ("[clients.claude.rule]\nfields = [{ from = \"name\" }]\n", "2:20", "has no `key`"),
        (
            "[clients.claude.rule]\nfields = [{ key = \"a\", value = 1 }, { key = \"a\", value = 2 }]\n",
            "2:10",
            "duplicate key `a`",
        ),
        ("[clients.claude.rule]\nmost-characters = -1\n", "2:19", "not a number of characters"),
    ];
    for (text, place, message) in cases {
        let source = Arc::new(Source::new("brief.toml", text));
        let problems =
            Profiles::with_overrides(&source, &OwnClients::default(), Section::Build).unwrap_err();
        let problem = problems.iter().find(|found| found.message.contains(message));
        let problem = problem.unwrap_or_else(|| panic!("{text}: {problems:?}"));
        let position = problem.position();
        let found = format!("{}:{}", position.line, position.column);
        assert_eq!((found.as_str(), problem.code()), (place, "item/invalid-config"), "{text}");
    }
}

/// The settings of `[build]`, and those that it cannot have.
#[test]
fn build_options_are_read_and_checked() {
    let profiles = Profiles::builtin();
    let read = |text: &str| {
        ProfileSettings::parse_section(
            Section::Build,
            &Arc::new(Source::new("brief.toml", text)),
            profiles,
        )
    };
    let settings = read("[build]\nout = \"a/b\"\nclients = [\"opencode\"]\n").unwrap();
    assert_eq!(settings.out.as_deref(), Some("a/b"));
    assert_eq!(settings.clients, Some(vec!["opencode".to_owned()]));
    assert_eq!(read("[other]\nx = 1\n").unwrap(), ProfileSettings::default());
    for (line, message) in [
        ("out = \"../x\"", "is outside the registry"),
        ("out = \"/x\"", "is outside the registry"),
        ("out = \"c:/x\"", "is outside the registry"),
        ("clients = [\"cursro\"]", "unknown client `cursro`"),
        ("clients = []", "the list is empty"),
        ("clients = \"claude\"", "must be a list of strings"),
        ("h1 = \"nam\"", "unknown value `nam`"),
        ("license = true", "must be a string"),
        ("outt = \"x\"", "unknown key"),
    ] {
        let problems = read(&format!("[build]\n{line}\n")).unwrap_err();
        assert!(problems[0].message.contains(message), "{line}: {problems:?}");
        assert_eq!(problems[0].position().line, 2, "{line}");
    }
}
