//! Packages of each package manager, as it lays them out.

use std::path::Path;

use brief_dialects::dependencies::{
    DependencyExtent, PackageName, find_named_packages, survey_dependencies,
};
use brief_syntax::limits;
use brief_system::MemorySystem;

use super::support::{line, listed};

const DIRECT: DependencyExtent = DependencyExtent::Direct;
const ALL: DependencyExtent = DependencyExtent::All;

fn manifest(name: &str, version: &str) -> String {
    format!("{{\"name\": \"{name}\", \"version\": \"{version}\"}}")
}

fn npm() -> MemorySystem {
    MemorySystem::new("/p")
        .with_file(
            "package.json",
            r#"{"dependencies": {"@acme/ui": "^2", "plain": "1"}, "devDependencies": {"lint": "1"}}"#,
        )
        .with_file("node_modules/@acme/ui/package.json", manifest("@acme/ui", "2.1.0"))
        .with_file("node_modules/@acme/ui/AGENTS.md", "# UI\n")
        .with_file("node_modules/@acme/ui/skills/forms/SKILL.md", "---\nname: forms\n---\n")
        .with_file("node_modules/@acme/ui/skills/empty/README.md", "")
        .with_file("node_modules/@acme/ui/docs/AGENTS.md", "not at the top\n")
        .with_file("node_modules/plain/package.json", manifest("plain", "1.0.0"))
        .with_file("node_modules/lint/package.json", manifest("lint", "1.0.0"))
        .with_file("node_modules/lint/.context/a/b/c/rules.md", "text")
        .with_file("node_modules/lint/.context/credentials.md", "secret")
        .with_file("node_modules/lint/llms.txt", "# Lint\n> Checks.\n")
        .with_file("node_modules/deep/package.json", manifest("deep", "3.0.0"))
        .with_file("node_modules/deep/AGENTS.yaml", "context: []\n")
        .with_file("node_modules/plain/node_modules/deep/package.json", manifest("deep", "1.0.0"))
        .with_file("node_modules/plain/node_modules/deep/AGENTS.md", "old\n")
        .with_file("node_modules/.bin/AGENTS.md", "no package\n")
}

/// X34b: direct dependencies first; what they bring along only when all are asked for.
#[test]
fn npm_lists_direct_dependencies_and_then_the_others() {
    let direct = [
        "direct npm:@acme/ui@2.1.0 AGENTS.md skills/forms/SKILL.md",
        "direct npm:lint@1.0.0 .context/a/b/c/rules.md llms.txt",
    ];
    assert_eq!(listed(&npm(), "/p", DIRECT), direct);
    assert_eq!(listed(&npm(), "/p/src", DIRECT), direct, "from a directory below");
    let others = ["npm:deep@1.0.0 AGENTS.md", "npm:deep@3.0.0 AGENTS.yaml"];
    assert_eq!(listed(&npm(), "/p", ALL), [direct, others].concat());
    let found = survey_dependencies(&npm(), Path::new("/p"), Path::new("/p"), ALL);
    assert_eq!(found.looked_at, 5);
}

/// pnpm links each package into its store, where those that they bring along lie, too.
#[test]
fn pnpm_links_into_its_store() {
    let system = MemorySystem::new("/p")
        .with_file("package.json", r#"{"dependencies": {"@acme/ui": "^2"}}"#)
        .with_file(
            "node_modules/.pnpm/@acme+ui@2.1.0/node_modules/@acme/ui/package.json",
            manifest("@acme/ui", "2.1.0"),
        )
        .with_file("node_modules/.pnpm/@acme+ui@2.1.0/node_modules/@acme/ui/AGENTS.md", "# UI\n")
        .with_link(
            "node_modules/@acme/ui",
            "/p/node_modules/.pnpm/@acme+ui@2.1.0/node_modules/@acme/ui",
        )
        .with_file(
            "node_modules/.pnpm/deep@1.0.0/node_modules/deep/package.json",
            manifest("deep", "1.0.0"),
        )
        .with_file("node_modules/.pnpm/deep@1.0.0/node_modules/deep/llms.txt", "# Deep\n")
        .with_link(
            "node_modules/.pnpm/@acme+ui@2.1.0/node_modules/deep",
            "/p/node_modules/.pnpm/deep@1.0.0/node_modules/deep",
        );
    assert_eq!(listed(&system, "/p", DIRECT), ["direct npm:@acme/ui@2.1.0 AGENTS.md"]);
    assert_eq!(
        listed(&system, "/p", ALL),
        ["direct npm:@acme/ui@2.1.0 AGENTS.md", "npm:deep@1.0.0 llms.txt"]
    );
}

/// A member of a workspace has its own dependencies, installed with it or with the workspace.
#[test]
fn members_of_a_workspace_have_dependencies() {
    for (file, text) in [
        ("package.json", r#"{"workspaces": ["packages/*"]}"#),
        ("package.json", r#"{"workspaces": {"packages": ["packages/web"]}}"#),
        ("package.json", r#"{"workspaces": ["packages/{app,web}"]}"#),
        ("package.json", r#"{"workspaces": ["packages/we?"]}"#),
        ("pnpm-workspace.yaml", "packages:\n  - 'packages/*'\n"),
    ] {
        let system = MemorySystem::new("/p")
            .with_file(file, text)
            .with_file("packages/web/package.json", r#"{"dependencies": {"own": "1", "top": "1"}}"#)
            .with_file("packages/web/node_modules/own/package.json", manifest("own", "1.0.0"))
            .with_file("packages/web/node_modules/own/AGENTS.md", "x")
            .with_file("node_modules/top/package.json", manifest("top", "1.0.0"))
            .with_file("node_modules/top/AGENTS.md", "x");
        let both = ["direct npm:own@1.0.0 AGENTS.md", "direct npm:top@1.0.0 AGENTS.md"];
        assert_eq!(listed(&system, "/p", DIRECT), both, "{text}");
        assert_eq!(listed(&system, "/p/packages/web/src", DIRECT), both, "{text}");
    }
}

/// A package that lies about its name is listed by its place, and the name that it gives itself is shown.
#[test]
fn a_package_is_known_by_its_place() {
    let system = npm().with_file("node_modules/lint/package.json", manifest("@acme/ui", "9.9.9"));
    let found = survey_dependencies(&system, Path::new("/p"), Path::new("/p"), DIRECT);
    let names: Vec<_> = found
        .packages
        .iter()
        .map(|package| (package.id.name.as_str(), package.declared.as_deref()))
        .collect();
    assert_eq!(names, [("@acme/ui", None), ("lint", Some("@acme/ui"))]);
    let name = PackageName::parse("@acme/ui").unwrap();
    let found = find_named_packages(&system, Path::new("/p"), Path::new("/p"), &name);
    assert_eq!(found.packages.len(), 1, "a claimed name finds nothing");
    assert_eq!(found.packages[0].id.version, "2.1.0");
}

/// G6: links are followed where they stay inside the project, and only there.
#[test]
fn a_link_that_leaves_the_project_is_not_followed() {
    let system = MemorySystem::new("/p")
        .with_file("package.json", r#"{"dependencies": {"out": "1", "file": "1", "member": "1"}}"#)
        .with_file("/elsewhere/package.json", manifest("out", "1.0.0"))
        .with_file("/elsewhere/AGENTS.md", "outside")
        .with_link("node_modules/out", "/elsewhere")
        .with_file("node_modules/file/package.json", manifest("file", "1.0.0"))
        .with_link("node_modules/file/AGENTS.md", "/elsewhere/AGENTS.md")
        .with_link("node_modules/file/skills", "/elsewhere")
        .with_file("packages/member/package.json", manifest("member", "0.1.0"))
        .with_file("packages/member/AGENTS.md", "inside")
        .with_link("node_modules/member", "/p/packages/member");
    let found = survey_dependencies(&system, Path::new("/p"), Path::new("/p"), ALL);
    let lines: Vec<String> = found.packages.iter().map(line).collect();
    assert_eq!(lines, ["direct npm:member@0.1.0 AGENTS.md"]);
    assert_eq!(
        found.notes,
        ["node_modules/out is a link that leaves the project, so brief does not follow it"]
    );
}

#[test]
fn archives_of_yarn_are_named_and_not_read() {
    let system = MemorySystem::new("/p")
        .with_file("package.json", r#"{"dependencies": {"a": "1"}}"#)
        .with_file(".pnp.cjs", "");
    let found = survey_dependencies(&system, Path::new("/p"), Path::new("/p"), ALL);
    assert_eq!(found.packages.len(), 0);
    assert!(found.notes[0].contains("nodeLinker"), "{:?}", found.notes);
}

fn venv(environment: &str) -> MemorySystem {
    let site = format!("{environment}/lib/python3.12/site-packages");
    let info = format!("{site}/Acme_UI-2.1.0.dist-info");
    MemorySystem::new("/p")
        .with_file(&format!("{info}/METADATA"), "Metadata-Version: 2.1\nName: acme-ui\nVersion: 2.1.0\n\nName: x\n")
        .with_file(
            &format!("{info}/RECORD"),
            "acme/ui/__init__.py,sha256=a,1\nacme/ui/AGENTS.md,sha256=b,2\nacme/ui/skills/forms/SKILL.md,,\n\
             acme/ui/templates/AGENTS.md,,\n../../../../../AGENTS.md,,\n/etc/AGENTS.md,,\nother/AGENTS.md,,\n\
             other/sub/x.py,,\nAcme_UI-2.1.0.dist-info/RECORD,,\n",
        )
        .with_file(&format!("{site}/acme/ui/AGENTS.md"), "# UI\n")
        .with_file(&format!("{site}/acme/ui/skills/forms/SKILL.md"), "x")
        .with_file(&format!("{site}/other/AGENTS.md"), "x")
        .with_file(&format!("{site}/plain-1.0.dist-info/METADATA"), "Name: plain\n")
        .with_file(&format!("{site}/plain-1.0.dist-info/RECORD"), "plain/__init__.py,,\n")
        .with_file("AGENTS.md", "the project's own\n")
}

/// The list of files of a distribution says what it ships; what climbs out of it is not believed.
#[test]
fn python_distributions_list_their_files() {
    let line = "pypi:acme-ui@2.1.0 acme/ui/AGENTS.md other/AGENTS.md acme/ui/skills/forms/SKILL.md";
    let sorted = |lines: Vec<String>| {
        lines
            .iter()
            .map(|line| {
                let mut words: Vec<&str> = line.split(' ').collect();
                words.sort_unstable();
                words.join(" ")
            })
            .collect::<Vec<_>>()
    };
    let expected = |line: &str| sorted(vec![line.to_owned()]);
    for environment in [".venv", "venv"] {
        let system = venv(environment);
        assert_eq!(sorted(listed(&system, "/p", ALL)), expected(line), "{environment}");
        assert!(listed(&system, "/p", DIRECT).is_empty(), "nobody asked for it");
        for (file, text) in [
            ("pyproject.toml", "[project]\ndependencies = [\"Acme.UI[x]>=2\"]\n"),
            ("pyproject.toml", "[project.optional-dependencies]\ndev = [\"acme_ui\"]\n"),
            (
                "pyproject.toml",
                "[dependency-groups]\ndev = [\"acme-ui\", {include-group = \"x\"}]\n",
            ),
            ("pyproject.toml", "[tool.poetry.dependencies]\npython = \"^3\"\nacme-ui = \"^2\"\n"),
            ("requirements-dev.txt", "# x\n-r other.txt\nacme-ui==2.1.0\n"),
        ] {
            let found = listed(&venv(environment).with_file(file, text), "/p", DIRECT);
            assert_eq!(sorted(found), expected(&format!("direct {line}")), "{text}");
        }
        let info = format!("{environment}/lib/python3.12/site-packages/Acme_UI-2.1.0.dist-info");
        let system = venv(environment).with_file(&format!("{info}/REQUESTED"), "");
        assert_eq!(sorted(listed(&system, "/p", DIRECT)), expected(&format!("direct {line}")));
    }
}

/// An environment of the shell counts where it lies in the project.
#[test]
fn the_active_environment_counts_inside_the_project() {
    let inside = venv("env").with_env("VIRTUAL_ENV", "/p/env");
    assert_eq!(listed(&inside, "/p", ALL).len(), 1);
    assert!(listed(&venv("env"), "/p", ALL).is_empty(), "it is not active");
    let outside = venv("/elsewhere/env").with_env("VIRTUAL_ENV", "/elsewhere/env");
    assert!(listed(&outside, "/p", ALL).is_empty());
}

#[test]
fn a_distribution_is_known_by_its_place() {
    let site = ".venv/lib/python3.12/site-packages";
    let system = venv(".venv")
        .with_file(&format!("{site}/Acme_UI-2.1.0.dist-info/METADATA"), "Name: numpy\n");
    let found = survey_dependencies(&system, Path::new("/p"), Path::new("/p"), ALL);
    assert_eq!(found.packages[0].id.name, "acme-ui");
    assert_eq!(found.packages[0].declared.as_deref(), Some("numpy"));
}

const CARGO_LOCK: &str = "version = 4\n\n[[package]]\nname = \"acme-ui\"\nversion = \"2.1.0\"\n\
    source = \"registry+https://github.com/rust-lang/crates.io-index\"\nchecksum = \"x\"\n\n\
    [[package]]\nname = \"acme-ui\"\nversion = \"1.0.0\"\nsource = \"registry+x\"\n\n\
    [[package]]\nname = \"deep\"\nversion = \"0.3.0\"\nsource = \"registry+x\"\n\n\
    [[package]]\nname = \"shop\"\nversion = \"0.1.0\"\n";

fn cargo() -> MemorySystem {
    MemorySystem::new("/p")
        .with_file("Cargo.lock", CARGO_LOCK)
        .with_file("Cargo.toml", "[package]\nname = \"shop\"\n[dependencies]\nui = { package = \"acme-ui\", version = \"2\" }\n")
}

fn crate_toml(name: &str, version: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"{version}\"\n")
}

/// `cargo vendor`: one directory for each crate, and one with its version for the second one.
#[test]
fn vendored_crates_lie_where_the_configuration_says() {
    let vendored = || {
        cargo()
            .with_file("vendor/acme-ui/Cargo.toml", crate_toml("acme-ui", "2.1.0"))
            .with_file("vendor/acme-ui/AGENTS.md", "x")
            .with_file("vendor/acme-ui-1.0.0/Cargo.toml", crate_toml("acme-ui", "1.0.0"))
            .with_file("vendor/acme-ui-1.0.0/llms.txt", "x")
            .with_file("vendor/deep/Cargo.toml", crate_toml("deep", "0.3.0"))
            .with_file("vendor/deep/.agents/skills/a/SKILL.md", "x")
    };
    assert!(
        listed(&vendored(), "/p", ALL).is_empty(),
        "no configuration says that these are crates"
    );
    let configuration = "[source.crates-io]\nreplace-with = \"vendored-sources\"\n\n[source.vendored-sources]\ndirectory = \"vendor\"\n";
    let system = vendored().with_file(".cargo/config.toml", configuration);
    let direct = ["direct cargo:acme-ui@1.0.0 llms.txt", "direct cargo:acme-ui@2.1.0 AGENTS.md"];
    assert_eq!(listed(&system, "/p", DIRECT), direct);
    let all = [direct.as_slice(), &["cargo:deep@0.3.0 .agents/skills/a/SKILL.md"]].concat();
    assert_eq!(listed(&system, "/p", ALL), all);
    let lying = system.with_file("vendor/deep/Cargo.toml", crate_toml("serde", "0.3.0"));
    let found = survey_dependencies(&lying, Path::new("/p"), Path::new("/p"), ALL);
    let last = found.packages.last().unwrap();
    assert_eq!((last.id.name.as_str(), last.declared.as_deref()), ("deep", Some("serde")));
}

#[test]
fn fetched_crates_are_those_of_the_lock() {
    let source = "/cargo/registry/src/index.crates.io-1949cf8c6b5b557f";
    let with = |name: &str, version: &str, system: MemorySystem| {
        let place = format!("{source}/{name}-{version}");
        let system = system.with_file(&format!("{place}/Cargo.toml"), crate_toml(name, version));
        system.with_file(&format!("{place}/AGENTS.md"), "x")
    };
    let system = cargo().with_env("CARGO_HOME", "/cargo");
    let system = with("acme-ui", "2.1.0", with("deep", "0.3.0", with("deep", "9.0.0", system)));
    assert_eq!(listed(&system, "/p", DIRECT), ["direct cargo:acme-ui@2.1.0 AGENTS.md"]);
    let all = ["direct cargo:acme-ui@2.1.0 AGENTS.md", "cargo:deep@0.3.0 AGENTS.md"];
    assert_eq!(listed(&system, "/p", ALL), all, "another version is not this project's");
}

#[test]
fn members_of_a_cargo_workspace_name_dependencies() {
    let source = "/h/.cargo/registry/src/x/acme-ui-2.1.0";
    let system = MemorySystem::new("/p")
        .with_env("HOME", "/h")
        .with_file("Cargo.lock", CARGO_LOCK)
        .with_file("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\n")
        .with_file(
            "crates/a/Cargo.toml",
            "[package]\nname = \"a\"\n[target.'cfg(unix)'.dev-dependencies]\nacme_ui = \"2\"\n",
        )
        .with_file(&format!("{source}/Cargo.toml"), crate_toml("acme-ui", "2.1.0"))
        .with_file(&format!("{source}/AGENTS.md"), "x");
    assert_eq!(listed(&system, "/p", DIRECT), ["direct cargo:acme-ui@2.1.0 AGENTS.md"]);
    assert_eq!(listed(&system, "/p/crates/a", DIRECT), ["direct cargo:acme-ui@2.1.0 AGENTS.md"]);
}

const GO_MOD: &str = "module example.com/shop\n\nrequire (\n\tgithub.com/Acme/UI v1.2.0\n\t\
    example.com/deep v0.1.0 // indirect\n)\n";

#[test]
fn go_modules_lie_in_the_cache_or_in_vendor() {
    let cache = "/go/pkg/mod";
    let system = MemorySystem::new("/p")
        .with_env("HOME", "/nowhere")
        .with_env("GOPATH", "/go")
        .with_file("go.mod", GO_MOD)
        .with_file(
            "go.sum",
            "example.com/more v1.0.0 h1:x=\nexample.com/more v1.0.0/go.mod h1:x=\n",
        )
        .with_file(
            &format!("{cache}/github.com/!acme/!u!i@v1.2.0/go.mod"),
            "module github.com/Acme/UI\n",
        )
        .with_file(&format!("{cache}/github.com/!acme/!u!i@v1.2.0/AGENTS.md"), "x")
        .with_file(&format!("{cache}/example.com/deep@v0.1.0/go.mod"), "module example.com/other\n")
        .with_file(&format!("{cache}/example.com/deep@v0.1.0/llms.txt"), "x")
        .with_file(&format!("{cache}/example.com/more@v1.0.0/llms.txt"), "x");
    let direct = ["direct go:github.com/Acme/UI@v1.2.0 AGENTS.md"];
    assert_eq!(listed(&system, "/p", DIRECT), direct);
    let others = ["go:example.com/deep@v0.1.0 llms.txt", "go:example.com/more@v1.0.0 llms.txt"];
    assert_eq!(listed(&system, "/p", ALL), [direct.as_slice(), &others].concat());
    let found = survey_dependencies(&system, Path::new("/p"), Path::new("/p"), ALL);
    assert_eq!(found.packages[1].declared.as_deref(), Some("example.com/other"));

    let vendored = system
        .with_file(
            "vendor/modules.txt",
            "# github.com/Acme/UI v1.2.0\n## explicit; go 1.20\ngithub.com/Acme/UI\n",
        )
        .with_file("vendor/github.com/Acme/UI/AGENTS.md", "x");
    let found = survey_dependencies(&vendored, Path::new("/p"), Path::new("/p"), ALL);
    let lines: Vec<String> = found.packages.iter().map(line).collect();
    assert_eq!(lines, direct);
    assert!(found.packages[0].directory.starts_with("/p/vendor"));
}

/// A package with thousands of files of guidance is cut, and says so.
#[test]
fn a_flood_is_cut() {
    let mut system = npm();
    for number in 0..limits::DEPENDENCY_FILES + 50 {
        system = system.with_file(&format!("node_modules/plain/.context/{number:04}.md"), "x");
    }
    let found = survey_dependencies(&system, Path::new("/p"), Path::new("/p"), DIRECT);
    let plain = found.packages.iter().find(|package| package.id.name == "plain").unwrap();
    assert_eq!(plain.files.len(), limits::DEPENDENCY_FILES);
    assert_eq!(found.notes, ["plain@1.0.0 ships more than 200 files: the rest is skipped"]);
}

/// A fetched crate is cut like a package in the project.
#[test]
fn a_flood_of_a_fetched_crate_is_cut() {
    let place = "/cargo/registry/src/x/acme-ui-2.1.0";
    let mut system = cargo()
        .with_env("CARGO_HOME", "/cargo")
        .with_file(&format!("{place}/Cargo.toml"), crate_toml("acme-ui", "2.1.0"));
    for number in 0..limits::DEPENDENCY_FILES + 50 {
        system = system.with_file(&format!("{place}/.context/{number:04}.md"), "x");
    }
    let found = survey_dependencies(&system, Path::new("/p"), Path::new("/p"), DIRECT);
    assert_eq!(found.packages[0].files.len(), limits::DEPENDENCY_FILES);
    assert_eq!(found.notes, ["acme-ui@2.1.0 ships more than 200 files: the rest is skipped"]);
}

/// Invalid files of one package manager do not affect the others.
#[test]
fn broken_manifests_are_passed_by() {
    for (file, text) in [
        ("package.json", "{"),
        ("package.json", "[]"),
        ("package.json", "{\"dependencies\": [\"..\"], \"workspaces\": 3}"),
        (
            "package.json",
            "{\"dependencies\": {\"../../etc\": \"1\", \"\": \"1\", \"a/../..\": \"1\"}}",
        ),
        ("pyproject.toml", "[project]\ndependencies = 3\n[tool]\npoetry = 1\n"),
        ("Cargo.toml", "dependencies = 1\n"),
        ("Cargo.lock", "\u{0}"),
        ("go.mod", "require (\n"),
        (
            ".cargo/config.toml",
            "[source.a]\ndirectory = \"../..\"\n[source.b]\ndirectory = \"/\"\n",
        ),
    ] {
        let system = MemorySystem::new("/p").with_file(file, text).with_file("/AGENTS.md", "x");
        assert!(listed(&system, "/p", ALL).is_empty(), "{text}");
    }
    let system = npm()
        .with_file("node_modules/lint/package.json", "\u{feff}{\"version\": 3, \"name\": null}");
    let found = listed(&system, "/p", DIRECT);
    assert_eq!(found[1], "direct npm:lint .context/a/b/c/rules.md llms.txt");
}
