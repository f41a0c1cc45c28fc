//! The list of targets. Each takes any bytes and asserts what its parser promises besides returning.

use std::path::Path;
use std::sync::Arc;

use brief_clients::hook;
use brief_dialects::{agents, fuzzing, hosted, portable, structured, tasks};
use brief_registry::lock::Lock;
use brief_registry::manifest::Manifest;
use brief_syntax::front_matter::FrontMatter;
use brief_syntax::glob::{Glob, covers_everything_inside};
use brief_syntax::markdown::{self, Outline};
use brief_syntax::system::MemorySystem;
use brief_syntax::yaml::{Node, Value, Yaml};
use brief_syntax::{Diagnostic, Source};

/// A parser and how to feed it.
pub struct Target {
    /// Its name on the command line and below `found/`.
    pub name: &'static str,
    /// Whose code parses: ours, or that of a library with our limits around it.
    pub backing: Backing,
    /// Gives one input to the parser.
    pub run: fn(&[u8]),
    /// Whether a text of `conformance/` at this path is a seed.
    pub seed: fn(&str) -> bool,
    /// Seeds that no conformance case has.
    pub own_seeds: &'static [&'static str],
    /// Words of the grammar.
    pub dictionary: &'static [&'static str],
    /// The longest input.
    pub longest: usize,
}

/// Whose code does most of the parsing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backing {
    /// Code of this project.
    Own,
    /// A library, behind limits of this project.
    Library,
}

const YAML_WORDS: &[&str] = &[
    "---\n",
    "...\n",
    "- ",
    ": ",
    "a: b\n",
    "&a ",
    "*a",
    "<<: ",
    "|\n  ",
    ">-\n  ",
    "[",
    "]",
    "{",
    "}",
    "!tag ",
    "\t",
    "#",
    "\"",
    "'",
    "\u{feff}",
    "\r\n",
    "on: ",
    "match: ",
    "content: ",
    "context:\n",
    "globs: **/*.ts\n",
    "~",
    "? ",
];
const MARKDOWN_WORDS: &[&str] = &[
    "# ",
    "## Tools\n",
    "```\n",
    "```js\n",
    "> ",
    "* ",
    "1. ",
    "- [ ] ",
    "| a | b |\n| - | - |\n",
    "**",
    "_",
    "`",
    "[a](b)",
    "![",
    "](",
    "<!-- ",
    " -->",
    "\\",
    "\n\n",
    "    ",
    "\t",
    "&amp;",
    "<div>",
    "[^1]: ",
    "---\n",
    "\r\n",
    "\u{a0}",
    "\u{200b}",
];
const GLOB_WORDS: &[&str] = &[
    "*", "**", "**/", "/**", "?", "[a-z]", "[!a]", "[^", "]", "{a,b}", "{", "}", ",", "\\", "/",
    "./", "../", "|", ".", "\n",
];
const JSON_WORDS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"",
    "\\u0000",
    "\\ud800",
    "null",
    "true",
    "1e9",
    "-0",
    "\"cwd\":",
    "\"tool_name\":",
    "\"tool_input\":",
    "\"file_path\":",
    "\"clientContext\":",
    "\"includeFiles\":",
    "\"mcpServers\":",
    "\"command\":",
];

/// All targets.
pub const TARGETS: &[Target] = &[
    Target {
        name: "front-matter",
        backing: Backing::Own,
        run: front_matter,
        seed: is_markdown,
        own_seeds: &["---\nglobs: **/*.ts\nname: n\n---\nbody"],
        dictionary: YAML_WORDS,
        longest: 2048,
    },
    Target {
        name: "yaml-quick",
        backing: Backing::Own,
        run: yaml_quick,
        seed: is_yaml,
        own_seeds: &["a: 1\nlist:\n  - x\n  - y: [1, 2]\n"],
        dictionary: YAML_WORDS,
        longest: 2048,
    },
    Target {
        name: "yaml-full",
        backing: Backing::Library,
        run: yaml_full,
        seed: is_yaml,
        own_seeds: &["a: &a {m: [x]}\nb:\n  <<: *a\nc: \"\\u00e9\""],
        dictionary: YAML_WORDS,
        longest: 2048,
    },
    Target {
        name: "structured",
        backing: Backing::Own,
        run: structured_context,
        seed: is_yaml,
        own_seeds: &[
            "context:\n  - content: x\n    match: [\"**/*.py\"]\n    on: edit\n    when: before\n",
        ],
        dictionary: YAML_WORDS,
        longest: 2048,
    },
    Target {
        name: "json-config",
        backing: Backing::Own,
        run: json_config,
        seed: |path| path.ends_with("context-config.json"),
        own_seeds: &[
            "{\"clientContext\":{\"includeFiles\":[\"docs/*\"]},\"mcpServers\":{\"x\":{\"command\":\"y\"}}}",
        ],
        dictionary: JSON_WORDS,
        longest: 2048,
    },
    Target {
        name: "expander",
        backing: Backing::Own,
        run: expander,
        seed: is_markdown,
        own_seeds: &["a ${p} !`ls` @docs/x\\ y.md @~/z ${"],
        dictionary: &["${", "}", "!`", "`", "@", "\\ ", "~", "/", "$", "!", " ", "\n", "../"],
        longest: 1024,
    },
    Target {
        name: "slash",
        backing: Backing::Own,
        run: slash,
        seed: is_markdown,
        own_seeds: &["/fix a \"b c\" d='e' --x=1\ntext\n/other\n"],
        dictionary: &["/", "/a ", "\"", "'", "=", "\\", "\n", "$1", "$ARGUMENTS", "--", " "],
        longest: 1024,
    },
    Target {
        name: "parameters",
        backing: Backing::Own,
        run: parameters,
        seed: |path| path == "args",
        own_seeds: &["name=value", "a=b,c", "ns/task"],
        dictionary: &["=", ",", "/", ":", "\0", " "],
        longest: 256,
    },
    Target {
        name: "directives",
        backing: Backing::Own,
        run: directives,
        seed: is_markdown,
        own_seeds: &["<!-- @client:claude,!codex -->\nx\n<!-- @endclient -->\n"],
        dictionary: &[
            "<!-- @client:claude -->\n",
            "<!-- @endclient -->\n",
            "@client:!codex",
            "<!--",
            "-->",
            "```\n",
            "~~~\n",
            "    ",
            "> ",
            ",",
            "!",
            "\r\n",
            "\u{200b}",
        ],
        longest: 2048,
    },
    Target {
        name: "glob",
        backing: Backing::Own,
        run: glob,
        seed: |_| false,
        own_seeds: &[
            "**/*.ts\nsrc/a.ts",
            "{a,b{c,d}}/**\na/x",
            "[a-z]*?/x\nb/x",
            "src/**/test_*.py\nsrc/a/b/test_x.py",
            "a{**,b}/c\na/c",
            "{**/,}x.py\nd/x.py",
            "[!.]*/**\nx",
        ],
        dictionary: GLOB_WORDS,
        longest: 256,
    },
    Target {
        name: "hosted-pattern",
        backing: Backing::Own,
        run: hosted_pattern,
        seed: |_| false,
        own_seeds: &["**/*.{js|ts}", "../x/**", "~/notes/*.md", "a//b/./c", "/**/Desktop/**"],
        dictionary: GLOB_WORDS,
        longest: 256,
    },
    Target {
        name: "source",
        backing: Backing::Own,
        run: source_of_registry,
        seed: |path| path == "args",
        own_seeds: &[
            "owner/repo@v1:dir",
            "github:owner/repo",
            "git@github.com:o/r.git",
            "https://github.com/o/r/tree/main/d",
            "git::https://x.test/r.git//sub?ref=v1",
            "file:///srv/r",
            "./dir",
            "ssh://-oProxyCommand=x/y",
        ],
        dictionary: &[
            "://", "@", ":", "//", "?ref=", "git::", "github:", "..", "-", "%2e", "#", "~", "\\",
            "::", "https://",
        ],
        longest: 512,
    },
    Target {
        name: "lock",
        backing: Backing::Own,
        run: lock,
        seed: |path| path.ends_with("brief.lock"),
        own_seeds: &[LOCK],
        dictionary: &[
            "[[source]]\n",
            "[[item]]\n",
            "[[shared]]\n",
            "name = ",
            "path = ",
            "\"",
            "sha256:",
            "version = 1\n",
            "../",
            "<<<<<<<",
            "files = [",
            "]",
            "{",
            "}",
        ],
        longest: 2048,
    },
    Target {
        name: "manifest",
        backing: Backing::Own,
        run: manifest,
        seed: |path| path.ends_with("brief.toml"),
        own_seeds: &[
            "[sources.team]\ngit = \"https://x.test/r\"\nref = \"v1\"\nskills = [\"a\"]\n\n[install]\nclients = [\"claude\"]\n",
        ],
        dictionary: &[
            "[", "]", "=", "\"", "sources", "install", "path", "git", "ref", "\n", ".", "'''",
            "true",
        ],
        longest: 2048,
    },
    Target {
        name: "hook",
        backing: Backing::Own,
        run: hook_event,
        seed: |path| path == "stdin.json",
        own_seeds: &[
            "{\"cwd\":\"/p\",\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"cat a && sed -i s/x/y/ 'b c' > d\"}}",
            "{\"source\":\"pi\",\"cwd\":\"/p\",\"tool_name\":\"read\",\"tool_input\":{\"path\":\"a\"}}",
        ],
        dictionary: JSON_WORDS,
        longest: 2048,
    },
    Target {
        name: "agent",
        backing: Backing::Own,
        run: agent,
        seed: |path| path.ends_with(".agent.md"),
        own_seeds: &[
            "---\nversion: 1.0.0\nrequired:\n  env: [A]\n---\n# X\n\nHello {{input}}\n\n## Tools\n\n```js\n({})\n```\n",
        ],
        dictionary: MARKDOWN_WORDS,
        longest: 2048,
    },
    Target {
        name: "template",
        backing: Backing::Own,
        run: template,
        seed: |path| path.ends_with(".agent.md"),
        own_seeds: &[
            "{{#if a}}{{a.b}}{{else}}{{{c}}}{{/if}}{{#each l as |x i|}}{{x}}{{@index}}{{/each}}{{! c }}",
        ],
        dictionary: &[
            "{{",
            "}}",
            "{{#if a}}",
            "{{/if}}",
            "{{#each l}}",
            "{{/each}}",
            "{{else}}",
            "{{#with a}}",
            "{{/with}}",
            "this",
            "../",
            "@index",
            "{{{",
            "}}}",
            "{{!--",
            "--}}",
            "~",
            "as |x|",
            "lookup a \"b\"",
            "\"",
            "[0]",
        ],
        longest: 1024,
    },
    Target {
        name: "markdown-outline",
        backing: Backing::Library,
        run: markdown_outline,
        seed: is_markdown,
        own_seeds: &[],
        dictionary: MARKDOWN_WORDS,
        longest: 2048,
    },
    Target {
        name: "markdown-plain",
        backing: Backing::Own,
        run: markdown_plain,
        seed: is_markdown,
        own_seeds: &[],
        dictionary: MARKDOWN_WORDS,
        longest: 2048,
    },
    Target {
        name: "markdown-layout",
        backing: Backing::Library,
        run: markdown_layout,
        seed: is_markdown,
        own_seeds: &[],
        dictionary: MARKDOWN_WORDS,
        longest: 1024,
    },
    Target {
        name: "portable-toml",
        backing: Backing::Library,
        run: portable_toml,
        seed: |path| path.ends_with(".toml"),
        own_seeds: &["[lint]\nstrict = true\n[[clients]]\nname = \"x\"\n"],
        dictionary: &["[", "]]", "=", "\"", "\n", "'''", ".", "{", "}", ","],
        longest: 2048,
    },
    Target {
        name: "worker-frame",
        backing: Backing::Own,
        run: |bytes| brief_runtime::fuzzing::worker_frames(bytes),
        seed: |_| false,
        own_seeds: &[
            "\0\0\0\u{2}{}",
            "{\"call\":{\"tool\":0,\"args\":{},\"ctx\":{}}}",
            "{\"ready\":{\"returned\":[{\"key\":\"t\",\"has_function\":true,\"scheme\":{},\"fields\":[]}],\"fence\":\"full\"}}",
            "{\"ask\":{\"ability\":\"fs\",\"call\":\"read\",\"args\":[\"x\"]}}",
        ],
        dictionary: JSON_WORDS,
        longest: 1024,
    },
    Target {
        name: "hidden-text",
        backing: Backing::Own,
        run: hidden_text,
        seed: is_markdown,
        own_seeds: &["👨\u{200d}👩\u{200d}👧 ❤\u{fe0f} می\u{200c}خواهم a\u{202e}b\u{200b}c"],
        dictionary: &[
            "\u{200d}",
            "\u{200c}",
            "\u{fe0f}",
            "\u{e0067}",
            "\u{e007f}",
            "🏴",
            "\u{202e}",
            "\u{feff}",
            "\u{ad}",
            "\u{1b}",
        ],
        longest: 1024,
    },
];

const LOCK: &str = "version = 1\n\n[[source]]\nname = \"s\"\npath = \"../s\"\n\n[[item]]\nname = \"x\"\nkind = \"skill\"\nsource = \"s\"\n";

/// Returns the target of a name.
pub fn by_name(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

fn is_markdown(path: &str) -> bool {
    path.ends_with(".md") || path.ends_with(".mdc")
}

fn is_yaml(path: &str) -> bool {
    path.ends_with(".yaml") || path.ends_with(".yml") || path == "header.md"
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn source(bytes: &[u8], path: &str) -> Arc<Source> {
    Arc::new(Source::from_bytes(path, bytes.to_vec()))
}

/// Every problem stands in its text, and a place can be shown for it.
fn assert_places(diagnostics: &[Diagnostic]) {
    for found in diagnostics {
        assert!(found.source.text().get(found.span.range()).is_some(), "{found:?}");
        let _ = found.position();
    }
}

fn front_matter(bytes: &[u8]) {
    let source = source(bytes, "f.md");
    let strict = FrontMatter::read_strictly(&source, &["argument-hint"]);
    for front in [FrontMatter::read(&source), strict, FrontMatter::whole(&source)] {
        assert_places(&front.diagnostics);
        assert!(source.text().is_char_boundary(front.body_start));
        if let Some(root) = front.header.as_ref().and_then(|header| header.yaml.root()) {
            walk(root, 0);
        }
    }
}

/// Visits a tree as readers do, as deep as text may be nested.
fn walk(node: Node<'_>, depth: usize) {
    if depth > 8 {
        return;
    }
    match node.value() {
        Value::Sequence(list) => list.iter().take(64).for_each(|item| walk(item, depth + 1)),
        Value::Mapping(mapping) => {
            mapping
                .effective_fields()
                .into_iter()
                .take(64)
                .for_each(|field| walk(field.value, depth + 1));
        }
        Value::Null | Value::Scalar(_) | Value::Broken(_) => {}
    }
}

fn yaml(text: &str) {
    let yaml = Yaml::parse(text);
    for problem in yaml.problems() {
        assert!(
            problem.span.end <= text.len() && problem.span.start <= problem.span.end,
            "{problem:?}"
        );
    }
    if let Some(root) = yaml.root() {
        assert!(text.get(root.span().range()).is_some());
        walk(root, 0);
    }
}

/// The quick reader takes texts that end in a line break.
fn yaml_quick(bytes: &[u8]) {
    let mut text = text(bytes);
    text.push('\n');
    yaml(&text);
}

/// Without a line break at its end, a text goes to the full parser.
fn yaml_full(bytes: &[u8]) {
    yaml(text(bytes).trim_end_matches('\n'));
}

fn structured_context(bytes: &[u8]) {
    let source = source(bytes, "AGENTS.yaml");
    let parsed = structured::parse(&source, "", &mut structured::PatternCache::default());
    assert_places(&parsed.diagnostics);
}

fn json_config(bytes: &[u8]) {
    let (_, diagnostics) = hosted::parse_config(&source(bytes, "context-config.json"));
    assert_places(&diagnostics);
}

/// A text is the sum of its parts, in order.
fn expander(bytes: &[u8]) {
    let mut at = 0;
    for (offset, whole) in fuzzing::expansions(bytes) {
        assert_eq!(offset, at);
        assert_eq!(bytes.get(at..at + whole.len()), Some(whole));
        at += whole.len();
    }
    assert_eq!(at, bytes.len());
}

fn slash(bytes: &[u8]) {
    fuzzing::slash_calls(bytes);
}

fn parameters(bytes: &[u8]) {
    let _ = tasks::Parameters::default().add_text(bytes);
    let text = text(bytes);
    let _ = tasks::Selectors::default().add_text(&text);
    let _ = tasks::TaskName::parse(&text);
}

fn directives(bytes: &[u8]) {
    let text = text(bytes);
    let clients = ["claude", "codex", "copilot"];
    let found = portable::directives::scan(&text, &clients);
    for block in &found.blocks {
        assert!(block.open.end <= block.close.start);
    }
    for problem in &found.problems {
        assert!(text.get(problem.span.range()).is_some());
    }
    for client in clients {
        assert!(portable::directives::render(&text, client, &clients).len() <= text.len() + 1);
    }
}

/// The first line is a pattern, the second a path: what matches a file could match inside its directory.
fn glob(bytes: &[u8]) {
    let text = text(bytes);
    let (pattern, path) = text.split_once('\n').unwrap_or((&text, "src/a.ts"));
    let Ok(glob) = Glob::new(pattern) else { return };
    let matches = glob.matches(path);
    let inside = path.rsplit_once('/').map_or("", |(directory, _)| directory);
    let could = glob.could_match_inside(inside);
    let is_clean = !path.is_empty() && path.split('/').all(|name| !matches!(name, "" | "." | ".."));
    assert!(!matches || could || !is_clean, "{pattern:?} matches {path:?}");
    let _ = covers_everything_inside(&[&glob], inside);
}

fn hosted_pattern(bytes: &[u8]) {
    let _ = hosted::Pattern::new(&text(bytes));
    let _ = structured::Pattern::new(&text(bytes));
}

fn source_of_registry(bytes: &[u8]) {
    let system = MemorySystem::new("/p").with_dir("/p");
    let text = text(bytes);
    let _ = brief_registry::Source::parse(&text, Path::new("/p"), &system);
    let _ = brief_registry::Source::parse_added(&text, Path::new("/p"), &system);
}

/// What a lock says survives being written: our own text is never refused.
fn lock(bytes: &[u8]) {
    if let Ok(lock) = Lock::parse(&text(bytes)) {
        let written = lock.to_text();
        let again = Lock::parse(&written).unwrap_or_else(|error| panic!("{error:?}\n{written}"));
        assert_eq!(again.to_text(), written);
    }
    let _ = portable::locked_files(&text(bytes));
}

fn manifest(bytes: &[u8]) {
    if let Err(diagnostics) = Manifest::read(&source(bytes, "brief.toml")) {
        assert_places(&diagnostics);
        assert!(!diagnostics.is_empty());
    }
}

fn hook_event(bytes: &[u8]) {
    let _ = hook::read_event(bytes);
}

fn agent(bytes: &[u8]) {
    let system = MemorySystem::new("/p").with_dir("/p/agents");
    let source = source(bytes, "/p/agents/dev_x.agent.md");
    let options = agents::Options { root: Some(Path::new("/p")), fetched: &[] };
    let loaded = agents::load_text(&system, &source, &options);
    assert_places(loaded.diagnostics());
    if let Some(agent) = loaded.agent() {
        let _ = agent.render(None);
    }
}

fn template(bytes: &[u8]) {
    fuzzing::template(&text(bytes));
}

fn markdown_outline(bytes: &[u8]) {
    let text = text(bytes);
    let outline = Outline::of(&text);
    let _ = outline.is_opaque(text.len() / 2);
    let _ = markdown::blocks(&text);
    let _ = markdown::links(&text);
}

fn markdown_plain(bytes: &[u8]) {
    let _ = markdown::is_laid_out(&text(bytes));
}

fn markdown_layout(bytes: &[u8]) {
    let _ = markdown::format(&text(bytes));
}

fn portable_toml(bytes: &[u8]) {
    let mut diagnostics = Vec::new();
    let _ = portable::toml::parse(&source(bytes, "brief.toml"), &mut diagnostics);
    assert_places(&diagnostics);
}

/// What is shown on a terminal is shown as it is when it comes round again.
fn hidden_text(bytes: &[u8]) {
    let text = text(bytes);
    let shown = brief_syntax::text::visible_line(&text);
    assert_eq!(brief_syntax::text::visible_line(&shown), shown, "{text:?}");
    let _ = brief_syntax::hidden::HiddenText::find(&text);
    let _ = brief_syntax::text::fold(&shown, 40);
}
