//! The list of targets. Each takes any bytes and asserts the promises of its parser.

use std::path::Path;

use brief_dialects::fuzzing;

use crate::dictionaries::{GLOB_WORDS, JSON_WORDS, MARKDOWN_WORDS, MCP_WORDS, YAML_WORDS};
use crate::runs;

/// A parser and its inputs.
pub struct Target {
    /// Its name on the command line and below `found/`.
    pub name: &'static str,
    /// Own code, or a library within our limits.
    pub backing: Backing,
    /// Gives one input to the parser.
    pub run: fn(&[u8]),
    /// Returns whether a text of `conformance/` at this path is a seed.
    pub seed: fn(&str) -> bool,
    /// Seeds beyond the conformance cases.
    pub own_seeds: &'static [&'static str],
    /// Words of the grammar.
    pub dictionary: &'static [&'static str],
    /// The longest input, in bytes.
    pub longest: usize,
}

/// The code that does most of the parsing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backing {
    /// Code of this project.
    Own,
    /// A library, within limits of this project.
    Library,
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target {
        name: "front-matter",
        backing: Backing::Own,
        run: runs::front_matter,
        seed: is_markdown,
        own_seeds: &["---\nglobs: **/*.ts\nname: n\n---\nbody"],
        dictionary: YAML_WORDS,
        longest: 2048,
    },
    Target {
        name: "yaml-quick",
        backing: Backing::Own,
        run: runs::yaml_quick,
        seed: is_yaml,
        own_seeds: &["a: 1\nlist:\n  - x\n  - y: [1, 2]\n"],
        dictionary: YAML_WORDS,
        longest: 2048,
    },
    Target {
        name: "yaml-full",
        backing: Backing::Library,
        run: runs::yaml_full,
        seed: is_yaml,
        own_seeds: &["a: &a {m: [x]}\nb:\n  <<: *a\nc: \"\\u00e9\""],
        dictionary: YAML_WORDS,
        longest: 2048,
    },
    Target {
        name: "structured",
        backing: Backing::Own,
        run: runs::structured_context,
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
        run: runs::json_config,
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
        run: runs::expander,
        seed: is_markdown,
        own_seeds: &["a ${p} !`ls` @docs/x\\ y.md @~/z ${"],
        dictionary: &["${", "}", "!`", "`", "@", "\\ ", "~", "/", "$", "!", " ", "\n", "../"],
        longest: 1024,
    },
    Target {
        name: "slash",
        backing: Backing::Own,
        run: runs::slash,
        seed: is_markdown,
        own_seeds: &["/fix a \"b c\" d='e' --x=1\ntext\n/other\n"],
        dictionary: &["/", "/a ", "\"", "'", "=", "\\", "\n", "$1", "$ARGUMENTS", "--", " "],
        longest: 1024,
    },
    Target {
        name: "parameters",
        backing: Backing::Own,
        run: runs::parameters,
        seed: |path| path == "args",
        own_seeds: &["name=value", "a=b,c", "ns/task"],
        dictionary: &["=", ",", "/", ":", "\0", " "],
        longest: 256,
    },
    Target {
        name: "directives",
        backing: Backing::Own,
        run: runs::directives,
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
        run: runs::glob,
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
        run: runs::hosted_pattern,
        seed: |_| false,
        own_seeds: &["**/*.{js|ts}", "../x/**", "~/notes/*.md", "a//b/./c", "/**/Desktop/**"],
        dictionary: GLOB_WORDS,
        longest: 256,
    },
    Target {
        name: "collection",
        backing: Backing::Own,
        run: runs::collection,
        seed: |path| [".mdc", ".agent.md"].iter().any(|ending| path.ends_with(ending)),
        own_seeds: &[
            r#"{"name": "m", "plugins": [{"name": "p", "source": "./p", "agents": ["./agents/a.md"]}, {"name": "far", "source": {"source": "github", "repo": "o/r"}}]}"#,
            r#"{"name": "p", "version": "1.0.0", "hooks": {"Stop": [{"hooks": [{"command": "x"}]}]}, "mcpServers": "./.mcp.json"}"#,
            "---\nname: A b\ndescription: Does it\ntools: Read, Grep\n---\nYou do.\n",
            "description = \"x\"\nprompt = \"Do {{args}}\"\n",
        ],
        dictionary: &[
            "plugins",
            "source",
            "../",
            "./",
            "name",
            "agents",
            "\"",
            "---\n",
            "description: ",
        ],
        longest: 4096,
    },
    Target {
        name: "source",
        backing: Backing::Own,
        run: runs::source_of_registry,
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
        name: "packages",
        backing: Backing::Own,
        run: runs::packages,
        seed: |_| false,
        own_seeds: &[
            "{\"name\": \"a\", \"dependencies\": {\"a\": \"1\"}, \"workspaces\": [\"packages/*\"]}",
            "module m\n\nrequire (\n\tm v1.0.0 // indirect\n)\nreplace m => n v2.0.0\n",
            "a/AGENTS.md,sha256=x,1\na/skills/b/SKILL.md,,\n\"a,b.py\",,\n../x,,\n",
            "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nsource = \"registry+x\"\n",
            "[workspace]\nmembers = [\"packages/**\"]\n[dependencies]\na = { package = \"b\" }\n",
        ],
        dictionary: &[
            "\"dependencies\"",
            "\"workspaces\"",
            "/AGENTS.md,",
            "/SKILL.md",
            ".context/",
            "..",
            "/",
            "*",
            "**",
            "!",
            "require ",
            "replace ",
            " => ",
            "[[package]]\n",
            "name = \"",
            "version = \"",
            "source = \"",
        ],
        longest: 4_096,
    },
    Target {
        name: "lock",
        backing: Backing::Own,
        run: runs::lock,
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
        run: runs::manifest,
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
        name: "client-files",
        backing: Backing::Own,
        run: runs::client_files,
        seed: |path| path.ends_with("mcp.json"),
        own_seeds: &[
            "{\"hooks\": {\"Stpo\": [{\"matcher\": \"*.py\", \"hooks\": [{\"type\": \"command\", \"command\": \"./a.sh\"}]}]}}",
            "{\"mcpServers\": {\"a\": {\"url\": \"x\"}, \"b\": {\"command\": \"x\", \"args\": \"y\"}}, \"permissions\": {\"allow\": [\"Bash()\"]},}",
            "approval_policy = \"x\"\n[mcp_servers.a]\ncommand = \"x\"\nurl = \"y\"\n[[hooks.Stop]]\nmatcher = \"(\"\n",
            "---\nname: A b\ntools: Raed, Bash(git:*)\nmodel: sonet\nhooks: {Stop: 5}\n---\nx\n",
        ],
        dictionary: JSON_WORDS,
        longest: 2048,
    },
    Target {
        name: "policy",
        backing: Backing::Own,
        run: fuzzing::policy,
        seed: |path| path.ends_with("policy.toml"),
        own_seeds: &[
            "execution = \"never\"\n\n[sources]\nallow = [\"github.com/acme/*\", \"~/guidance\"]\ndeny = [\"*.example\"]\n",
            "[required]\nrules = [\"house\"]\nskills = [\"a\"]\n\n[capabilities]\nnever = [\"hooks\", \"commands\"]\n",
            "execution = \"trusted\"\nsources = {allow = []}\n",
        ],
        dictionary: &[
            "[",
            "]",
            "=",
            "\"",
            "\n",
            ".",
            "'''",
            "{",
            "}",
            ",",
            "execution",
            "sources",
            "allow",
            "deny",
            "required",
            "capabilities",
            "never",
            "github.com/",
            "*",
            "**",
            "~/",
            "file://",
        ],
        longest: 1024,
    },
    Target {
        name: "hook",
        backing: Backing::Own,
        run: runs::hook_event,
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
        run: runs::agent,
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
        run: runs::template,
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
        run: runs::markdown_outline,
        seed: is_markdown,
        own_seeds: &[],
        dictionary: MARKDOWN_WORDS,
        longest: 2048,
    },
    Target {
        name: "markdown-plain",
        backing: Backing::Own,
        run: runs::markdown_plain,
        seed: is_markdown,
        own_seeds: &[],
        dictionary: MARKDOWN_WORDS,
        longest: 2048,
    },
    Target {
        name: "markdown-layout",
        backing: Backing::Library,
        run: runs::markdown_layout,
        seed: is_markdown,
        own_seeds: &[],
        dictionary: MARKDOWN_WORDS,
        longest: 1024,
    },
    Target {
        name: "portable-toml",
        backing: Backing::Library,
        run: runs::portable_toml,
        seed: |path| has_extension(path, &["toml"]),
        own_seeds: &["[lint]\nstrict = true\n[[clients]]\nname = \"x\"\n"],
        dictionary: &["[", "]]", "=", "\"", "\n", "'''", ".", "{", "}", ","],
        longest: 2048,
    },
    Target {
        name: "worker-frame",
        backing: Backing::Own,
        run: brief_agent::fuzzing::worker_frames,
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
        name: "mcp-client",
        backing: Backing::Own,
        run: brief_serve::fuzzing::mcp_client,
        seed: |_| false,
        own_seeds: &[
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n",
            "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"tools/call\",\"params\":{\"name\":\"t\",\"arguments\":{\"x\":[1]}}}\n",
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}\n\n[]\n",
            "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"prompts/get\",\"params\":{\"name\":\"p\",\"arguments\":{\"a\":\"b\"}}}",
        ],
        dictionary: MCP_WORDS,
        longest: 1024,
    },
    Target {
        name: "lsp-editor",
        backing: Backing::Own,
        run: brief_serve::fuzzing::lsp_editor,
        seed: |_| false,
        own_seeds: &[
            "{\"method\":\"textDocument/didOpen\",\"params\":{\"textDocument\":{\"uri\":\"file:///p/AGENTS.yaml\",\"version\":1,\"text\":\"context:\\n  - contant: x\\n\"}}}\n\
             {\"method\":\"textDocument/didChange\",\"params\":{\"textDocument\":{\"uri\":\"file:///p/AGENTS.yaml\",\"version\":2},\"contentChanges\":[{\"range\":{\"start\":{\"line\":1,\"character\":4},\"end\":{\"line\":1,\"character\":5}},\"text\":\"\u{1f980}\"}]}}\n\
             {\"id\":1,\"method\":\"textDocument/completion\",\"params\":{\"textDocument\":{\"uri\":\"file:///p/AGENTS.yaml\"},\"position\":{\"line\":1,\"character\":4}}}\n\
             {\"id\":2,\"method\":\"textDocument/codeAction\",\"params\":{\"textDocument\":{\"uri\":\"file:///p/AGENTS.yaml\"},\"range\":{\"start\":{\"line\":0,\"character\":0},\"end\":{\"line\":9,\"character\":0}}}}\n\
             {\"id\":3,\"method\":\"textDocument/definition\",\"params\":{\"textDocument\":{\"uri\":\"file:///p/AGENTS.yaml\"},\"position\":{\"line\":1,\"character\":4}}}",
        ],
        dictionary: JSON_WORDS,
        longest: 4096,
    },
    Target {
        name: "mcp-server",
        backing: Backing::Own,
        run: brief_agent::fuzzing::mcp_server,
        seed: |_| false,
        own_seeds: &[
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"5\"}],\"isError\":false}}\n",
            "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"sampling/createMessage\",\"params\":{}}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-1,\"message\":\"no\"}}\n",
            "not JSON\n{\"id\":1,\"result\":{\"structuredContent\":{\"a\":1}}}\n{\"id\":2,\"result\":null}",
        ],
        dictionary: MCP_WORDS,
        longest: 1024,
    },
    Target {
        name: "folder-index",
        backing: Backing::Own,
        run: brief_agent::fuzzing::folder_index,
        seed: |_| false,
        own_seeds: &[
            "<ul><li><a href=\"a%20b.md\">a b.md</a></li><li><a href='../'>../</a></li></ul>",
            "<!-- x --><A class=y HREF=/commands/z.md>z</A><a href=\"?C=N;O=D\">",
            "[\"a.md\", {\"name\": \"b.md\", \"type\": \"file\"}, 1]",
        ],
        dictionary: &[
            "<a ",
            "href=",
            "\"",
            "'",
            ">",
            "<!--",
            "-->",
            "&amp;",
            "%2e",
            "../",
            ".md",
            "[",
            "{\"name\":",
            "/commands/",
        ],
        longest: 1024,
    },
    Target {
        name: "proxy-head",
        backing: Backing::Own,
        run: brief_agent::fuzzing::proxy_head,
        seed: |_| false,
        own_seeds: &[
            "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n",
            "GET http://a.example:8080/x?y=1 HTTP/1.1\r\nHost: a.example\r\nProxy-Connection: keep-alive\r\n\r\nrest",
            "POST http://[::1]/ HTTP/1.1\r\nContent-Length: 1\r\n\r\nx",
        ],
        dictionary: &[
            "CONNECT",
            "GET",
            "http://",
            "[::1]",
            ":",
            "@",
            " HTTP/1.1",
            "\r\n",
            "\r\n\r\n",
            "Proxy-",
            "%00",
        ],
        longest: 1024,
    },
    Target {
        name: "hidden-text",
        backing: Backing::Own,
        run: runs::hidden_text,
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
    Target {
        name: "fleet",
        backing: Backing::Own,
        run: brief_registry::fuzzing::fleet,
        seed: |_| false,
        own_seeds: &[
            "ref: refs/heads/main\n",
            "# pack-refs with: peeled\n0123456789abcdef0123456789abcdef01234567 refs/heads/main\n",
            "gitdir: ../x/.git/worktrees/y\n",
            "# ours\na/b\nhttps://user:pass@host/r.git?ref=main\ngit@host:a/b.git\n../c\n",
            "{\"place\":\"\",\"commit\":\"\",\"facts\":{\"has_lock\":true,\"has_guidance\":true,\"sources\":[],\"items\":[],\"drifted\":[],\"tokens\":1}}",
            "100644 blob 0123456789abcdef0123456789abcdef01234567      12\ta/b\0",
        ],
        dictionary: &[
            "refs/heads/",
            "ref: ",
            "gitdir: ",
            "https://",
            "git::",
            "file://",
            "@",
            "?ref=",
            "//",
            "\n",
            "\0",
            "\t",
        ],
        longest: 1024,
    },
    Target {
        name: "artefact",
        backing: Backing::Library,
        run: brief_registry::fuzzing::artefact,
        seed: |_| false,
        own_seeds: &[
            ARTEFACT,
            SIGSTORE,
            "Bearer realm=\"https://auth.example/token\",service=\"registry.example\",scope=\"repository:a:pull\"",
            "oci://registry.example:5000/acme/guidance:v1",
            "oci-layout:./kept@sha256:0000000000000000000000000000000000000000000000000000000000000000",
        ],
        dictionary: JSON_WORDS,
        longest: 2048,
    },
];

const ARTEFACT: &str = "{\"schemaVersion\":2,\"mediaType\":\"application/vnd.oci.image.manifest.v1+json\",\"artifactType\":\"application/vnd.brief.item.v1\",\"config\":{\"mediaType\":\"application/vnd.oci.empty.v1+json\",\"digest\":\"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a\",\"size\":2},\"layers\":[]}";

const SIGSTORE: &str = "{\"mediaType\":\"application/vnd.dev.sigstore.bundle.v0.3+json\",\"verificationMaterial\":{\"certificate\":{\"rawBytes\":\"MAA=\"},\"tlogEntries\":[{\"logIndex\":\"1\",\"logId\":{\"keyId\":\"AA==\"},\"kindVersion\":{\"kind\":\"dsse\",\"version\":\"0.0.1\"},\"canonicalizedBody\":\"e30=\"}]},\"messageSignature\":{\"signature\":\"AA==\"}}";

const LOCK: &str = "version = 1\n\n[[source]]\nname = \"s\"\npath = \"../s\"\n\n[[item]]\nname = \"x\"\nkind = \"skill\"\nsource = \"s\"\n";

/// Returns a target by its name.
pub fn by_name(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

fn has_extension(path: &str, wanted: &[&str]) -> bool {
    let extension = Path::new(path).extension();
    extension.is_some_and(|extension| wanted.iter().any(|wanted| extension == *wanted))
}

fn is_markdown(path: &str) -> bool {
    has_extension(path, &["md", "mdc"])
}

fn is_yaml(path: &str) -> bool {
    has_extension(path, &["yaml", "yml"]) || path == "header.md"
}
