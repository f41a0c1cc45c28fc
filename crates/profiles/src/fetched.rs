//! The files that a client from a source may write.
//!
//! A source's client file names the files that `brief` writes for it. The user asked for guidance, so such a file reaches no other: only the
//! client's own directory, the directory that clients share, and the instructions that clients share.

use std::sync::Arc;

use brief_syntax::{Diagnostic, Source, Span, rules};
use toml_edit::{Document, Item, TableLike, Value};

use crate::BUILTIN;

/// The instructions that clients share.
const INSTRUCTIONS: &str = "AGENTS.md";

/// The directory that clients share.
const SHARED: &str = ".agents";

/// The keys that say what a client reads, or nothing about files.
const READING: [&str; 8] =
    ["reads", "home-reads", "directories", "signs", "home-signs", "ignores", "lacks", "seen"];

/// The keys that name files to write, in any table.
const WRITING: [&str; 10] = [
    "path",
    "home",
    "files",
    "home-files",
    "file",
    "home-file",
    "or",
    "home-or",
    "rules",
    "home-rules",
];

/// The keys with lines for a file that clients share.
const LINES: [&str; 5] = ["intro", "line", "text", "value", "home-value"];

/// Directories of other programs. Their files configure or run something.
const OF_OTHERS: [&str; 192] = [
    "agents",
    "allstar",
    "android",
    "angular",
    "ansible",
    "asdf",
    "atom",
    "aws",
    "aws-sam",
    "azure",
    "azure-pipelines",
    "bashrc",
    "bazel",
    "bin",
    "binder",
    "brief",
    "bsp",
    "buildkite",
    "builds",
    "bundle",
    "bzr",
    "cache",
    "cargo",
    "changeset",
    "chef",
    "chezmoi",
    "circleci",
    "cirrus",
    "config",
    "context",
    "cvs",
    "dagger",
    "darcs",
    "ddev",
    "dev",
    "devbox",
    "devcontainer",
    "devenv",
    "devspace",
    "direnv",
    "docker",
    "docksal",
    "docusaurus",
    "dotnet",
    "drone",
    "dumi",
    "dvc",
    "earthly",
    "ebextensions",
    "elasticbeanstalk",
    "emacs",
    "eslint",
    "expo",
    "firebase",
    "fish",
    "fleet",
    "flox",
    "fly",
    "forgejo",
    "fossil",
    "gitea",
    "githooks",
    "github",
    "gitlab",
    "gnupg",
    "gogs",
    "goreleaser",
    "gradle",
    "hatch",
    "helix",
    "helm",
    "hg",
    "hooks",
    "husky",
    "idea",
    "infra",
    "init",
    "ipython",
    "jenkins",
    "jetbrains",
    "jj",
    "julia",
    "jupyter",
    "kitchen",
    "kiwi",
    "kube",
    "lando",
    "lefthook",
    "libs",
    "lldb",
    "local",
    "m2",
    "make",
    "megalinter",
    "metals",
    "mise",
    "moon",
    "mvn",
    "netlify",
    "next",
    "nix",
    "nova",
    "nox",
    "npm",
    "npm-global",
    "nuget",
    "nuxt",
    "nvim",
    "nx",
    "okteto",
    "op",
    "openshift",
    "ort",
    "overcommit",
    "paket",
    "pdm",
    "perl",
    "pixi",
    "platform",
    "pnpm",
    "pre-commit",
    "profile",
    "pulumi",
    "puppet",
    "pyenv",
    "pypirc",
    "pytest",
    "python",
    "r",
    "radicle",
    "rbenv",
    "render",
    "replit",
    "repo",
    "reviewdog",
    "ruby",
    "rustup",
    "s2i",
    "salt",
    "sbt",
    "scripts",
    "semaphore",
    "serverless",
    "settings",
    "shell",
    "sl",
    "sonar",
    "sourcehut",
    "spack",
    "ssh",
    "stack",
    "storybook",
    "sublime",
    "supabase",
    "svn",
    "swc",
    "swiftpm",
    "swm",
    "systemd",
    "tangled",
    "tekton",
    "terraform",
    "theia",
    "tmux",
    "tmuxinator",
    "tox",
    "travis",
    "trunk",
    "tugboat",
    "turbo",
    "umi",
    "vagrant",
    "venv",
    "vercel",
    "vim",
    "virtualenvs",
    "vitepress",
    "vs",
    "vscode",
    "vscode-insiders",
    "vscode-server",
    "vscode-test",
    "vuepress",
    "werf",
    "woodpecker",
    "wrangler",
    "xcode",
    "yarn",
    "zed",
    "zprofile",
    "zsh",
    "zshrc",
];

/// The files of a fetched client, judged.
#[derive(Debug, Default)]
pub struct FetchedClient {
    /// The files that it may not write.
    pub problems: Vec<Diagnostic>,
    /// The lines for the instructions that clients share.
    pub lines: Vec<String>,
}

/// Judges the file of a client that came with a source. What is wrong in itself is the business of [`crate::own::parse_client`].
pub fn judge_fetched(source: &Arc<Source>) -> FetchedClient {
    let mut found = FetchedClient::default();
    let Ok(document) = Document::parse(source.text()) else { return found };
    let id = document.get("id").and_then(Item::as_str).unwrap_or_default();
    let mut judge = Judge { source, id, found: &mut found };
    if is_of_another(id) {
        let message = format!("`.{id}` is the directory of another program");
        judge.report_problem(document.get("id").and_then(Item::span), message);
    }
    for (key, item) in document.iter().filter(|(key, _)| !READING.contains(key)) {
        judge.visit_item(key, item);
    }
    found
}

/// Returns whether `.NAME` is the directory of a client that is built in, or of another program.
fn is_of_another(id: &str) -> bool {
    let directory = format!(".{id}");
    id.is_empty()
        || id.starts_with("git")
        || OF_OTHERS.contains(&id)
        || BUILTIN.project.iter().chain(&BUILTIN.home).any(|place| place.first_name() == directory)
        || BUILTIN.find_client(id).is_some()
}

struct Judge<'j> {
    source: &'j Arc<Source>,
    id: &'j str,
    found: &'j mut FetchedClient,
}

impl Judge<'_> {
    fn visit_item(&mut self, key: &str, item: &Item) {
        match item {
            Item::None => {}
            Item::Value(value) => self.visit_value(key, value),
            Item::Table(table) => self.visit_table(table),
            Item::ArrayOfTables(tables) => tables.iter().for_each(|table| self.visit_table(table)),
        }
    }

    fn visit_table(&mut self, table: &dyn TableLike) {
        let names_shared = |key: &str| {
            let named = table.get(key).and_then(Item::as_value);
            named.is_some_and(|named| collect_texts(named).contains(&INSTRUCTIONS))
        };
        if ["file", "or", "home-file", "home-or"].into_iter().any(names_shared) {
            let lines = LINES.iter().filter_map(|key| table.get(key)?.as_str());
            self.found.lines.extend(lines.map(str::to_owned));
        }
        for (key, item) in table.iter() {
            self.visit_item(key, item);
        }
    }

    fn visit_value(&mut self, key: &str, value: &Value) {
        match value {
            Value::InlineTable(table) => self.visit_table(table),
            Value::Array(array) => array.iter().for_each(|value| self.visit_value(key, value)),
            _ if WRITING.contains(&key) => {
                if let Some(path) = value.as_str().filter(|path| !self.is_own(key, path)) {
                    let id = self.id;
                    let message = format!(
                        "a client from a source cannot write `{path}`, only below `.{id}/` and `{SHARED}/`, and `{INSTRUCTIONS}`"
                    );
                    self.report_problem(value.span(), message);
                }
            }
            _ => {}
        }
    }

    /// Returns whether a path is one that the client may write.
    fn is_own(&self, key: &str, path: &str) -> bool {
        if !path.trim_end_matches('/').split('/').all(is_plain) {
            return false;
        }
        let own = path.strip_prefix('.').and_then(|path| path.strip_prefix(self.id));
        let is_below = |rest: Option<&str>| rest.is_some_and(|rest| rest.starts_with('/'));
        let is_item = path.contains("{name}");
        is_below(own)
            || (is_item && is_below(path.strip_prefix(SHARED)))
            || (!is_item && path == INSTRUCTIONS && matches!(key, "file" | "or"))
    }

    fn report_problem(&mut self, span: Option<std::ops::Range<usize>>, message: String) {
        let span = span.map_or(Span::default(), |range| Span::new(range.start, range.end));
        let problem = Diagnostic::new(rules::item::INVALID_CONFIG, self.source, span, message);
        self.found.problems.push(problem.with_help(
            "review the file; to allow what it does, copy it to `.brief/clients` yourself",
        ));
    }
}

/// Returns whether every system takes a name for the same, and none for a file of git.
fn is_plain(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_graphic() && !r#"\:*?"<>|~"#.contains(letter);
    // All of it is ASCII from here on, so that it can be split anywhere.
    if name.is_empty() || !name.chars().all(is_letter) {
        return false;
    }
    let stem = name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let (device, number) = stem.split_at(stem.len().min(3));
    let is_device = matches!(stem.as_str(), "con" | "prn" | "aux" | "nul")
        || matches!(device, "com" | "lpt") && number.len() == 1 && number != "0";
    !name.ends_with('.') && !is_device && !name.to_ascii_lowercase().starts_with(".git")
}

/// Returns the texts of a value: itself, or those of a list.
fn collect_texts(value: &Value) -> Vec<&str> {
    match value {
        Value::Array(array) => array.iter().flat_map(collect_texts).collect(),
        value => value.as_str().into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Y02: each file that runs, configures or belongs to another is refused, in every key that names one.
    #[test]
    fn y02_a_fetched_client_writes_only_its_own_files() {
        let judged = |id: &str, text: &str| {
            let text = format!("id = \"{id}\"\nname = \"x\"\n{text}\n");
            judge_fetched(&Arc::new(Source::new(format!("{id}.toml"), text)))
        };
        let files = [
            "Makefile",
            ".envrc",
            ".husky/pre-commit",
            ".github/workflows/x.yml",
            ".gitattributes",
            ".git/hooks/pre-commit",
            ".vscode/tasks.json",
            ".claude/settings.json",
            ".mcp.json",
            "CLAUDE.md",
            "package.json",
            ".cursor/rules/{name}.mdc",
            "../x",
            "/etc/x",
            ".acme",
            ".acme/../Makefile",
            ".acmex/x",
            ".ACME/x",
            ".acme/.gitmodules",
            ".agents/x",
            "agents.md",
            ".acme/.GIT/config",
            ".acme/git~1/config",
            ".acme/.g\u{200c}it/config",
            ".acme/\u{ff0e}git/x",
            ".\u{430}cme/x",
            ".acme/CON",
            ".acme/aux.md",
            ".acme/lpt1.txt",
            ".acme/x.",
            "é",
            "xxé/x",
            ".acme/x ",
            ".acme/a:b",
            ".acme/./x",
            ".acme//x",
            ".acme/$(id)/../x",
            "AGENTS.md.",
            "AGENTS.md/x",
        ];
        for file in files {
            for table in [
                format!("[bridge]\nfrom = \"AGENTS.md\"\nfile = \"{file}\"\ntext = \"x\""),
                format!(
                    "[bridge]\nfrom = \"x\"\nfile = \".acme/x\"\nor = [\"{file}\"]\ntext = \"x\""
                ),
                format!("[rule]\npath = \"{file}\""),
                format!("[rule]\npath = \".acme/{{name}}\"\nfiles = \"{file}\""),
                format!("[skill]\npath = \".acme/{{name}}\"\nhome = \"{file}\""),
                format!("[agent]\npath = \".acme/{{name}}\"\nhome-files = \"{file}\""),
                format!(
                    "[rule]\npath = \".acme/{{name}}\"\nmention = {{ file = \"{file}\", line = \"x\" }}"
                ),
                format!("[rule.shared]\nfile = \"{file}\"\nlist = \"a\"\nvalue = \"x\""),
                format!("[rule.shared]\nfile = \".acme/x\"\nhome-file = \"{file}\""),
                format!("[mcp]\nfile = \"{file}\"\nkey = \"x\""),
                format!("[hook.install]\nfile = \"{file}\""),
                format!("[permissions]\nfile = \"{file}\""),
                format!("[format.rule]\npath = \"{file}\""),
                format!("[task]\nhome-rules = \"{file}\""),
            ] {
                let found = judged("acme", &table);
                assert_eq!(found.problems.len(), 1, "{table}: {:?}", found.problems);
                assert!(found.problems[0].message.contains(file), "{table}");
            }
        }
        for id in [
            "github",
            "gitlab",
            "git",
            "husky",
            "vscode",
            "claude",
            "agents",
            "ssh",
            "cargo",
            "storybook",
            "hooks",
            "",
        ] {
            assert!(!judged(id, "").problems.is_empty(), "{id}");
        }
    }

    #[test]
    fn y02_its_own_files_and_shared_instructions_are_right() {
        let text = "id = \"acme\"\nreads = [{ path = \"ACME.md\" }]\n\
            [rule]\npath = \".acme/rules/{name}.mdc\"\nfiles = \".agents/rules/{name}\"\nhome = false\n\
            mention = { file = \"AGENTS.md\", intro = \"Rules:\", line = \"Read {path}\" }\n\
            [mcp]\nfile = \".acme/mcp.json\"\n";
        let found = judge_fetched(&Arc::new(Source::new("acme.toml", text)));
        assert!(found.problems.is_empty(), "{:?}", found.problems);
        assert_eq!(found.lines, ["Rules:", "Read {path}"]);
    }
}
