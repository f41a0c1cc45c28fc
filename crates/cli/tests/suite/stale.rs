//! `brief stale`, and the findings of `brief lint` about what texts name.

use brief_testkit::{Output, Sandbox};
use serde_json::{Value, json};

use crate::diff::{commit, git};
use crate::project;

/// The findings: kind, name, likelihood.
fn found(output: &Output) -> Vec<Value> {
    let json = output.json();
    let found = json["found"].as_array().unwrap().iter();
    found.map(|one| json!([one["kind"], one["named"], one["likelihood"]])).collect()
}

fn stale(project: &Sandbox, args: &[&str]) -> Vec<Value> {
    let output = project.run(&[&["stale", "--json"], args].concat());
    assert_eq!((output.stderr.as_str(), output.code), ("", Some(0)), "{output}");
    found(&output)
}

/// The codes and messages of `brief lint` in the area of texts.
fn lint(project: &Sandbox) -> Vec<String> {
    let json = project.run(&["lint", "--json"]).json();
    let found = json["diagnostics"].as_array().unwrap().iter();
    let found = found.filter(|one| one["code"].as_str().unwrap().starts_with("guidance/missing"));
    found.map(|one| format!("{}: {}", one["line"], one["message"].as_str().unwrap())).collect()
}

fn committed(project: Sandbox) -> Sandbox {
    git(&project, &["init", "--quiet", "--initial-branch=main"]);
    commit(&project);
    project
}

/// Claims of all kinds, each removed by a commit that is named.
#[test]
fn the_commit_that_removed_it_is_named() {
    let text = "Run `make lint` and `npm run check`; read `docs/style/naming.md`.\n\n\
                Prices are in `src/shop/pricing.py`. Requires Node.js 18 or later.\n";
    let project = committed(
        project()
            .with_file("CLAUDE.md", text)
            .with_file("Makefile", "lint:\n\ttrue\ntest:\n\ttrue\n")
            .with_file("package.json", "{\"scripts\": {\n\"check\": \"x\",\n\"test\": \"y\"},\n\"engines\": {\n\"node\": \">=18\"}}")
            .with_file("docs/style/naming.md", "Names.\n")
            .with_file("src/shop/pricing.py", "A = 1\nB = 2\nC = 3\nD = 4\n"),
    );
    assert_eq!(stale(&project, &[]), [json!(null); 0]);
    project.write("Makefile", "test:\n\ttrue\n");
    project.write(
        "package.json",
        "{\"scripts\": {\n\"test\": \"y\"},\n\"engines\": {\n\"node\": \">=22\"}}",
    );
    git(&project, &["rm", "--quiet", "docs/style/naming.md"]);
    project.write("src/shop/core/x.py", "");
    git(&project, &["mv", "src/shop/pricing.py", "src/shop/core/costs.py"]);
    commit(&project);
    assert_eq!(
        stale(&project, &[]),
        [
            json!(["target", "lint", "certain"]),
            json!(["target", "check", "certain"]),
            json!(["path", "docs/style/naming.md", "certain"]),
            json!(["path", "src/shop/pricing.py", "certain"]),
            json!(["version", "18", "certain"]),
        ]
    );
    let output = project.run(&["stale", "--json"]).json();
    let head = git(&project, &["rev-parse", "HEAD"]);
    for one in output["found"].as_array().unwrap() {
        assert_eq!(one["removal"]["commit"], json!(head), "{one}");
        assert_eq!(one["removal"]["date"], json!("2026-01-01"));
        assert_eq!(one["removal"]["subject"], json!("message"));
    }
    // A renamed file has a new name.
    assert_eq!(output["found"][3]["replacement"], json!("src/shop/core/costs.py"));
    assert_eq!(output["found"][3]["source"], json!({"path": "CLAUDE.md", "line": 3}));
    // Only since then, only there.
    assert_eq!(stale(&project, &["--since", "HEAD"]), [json!(null); 0]);
    assert_eq!(stale(&project, &["--since", "HEAD~1"]).len(), 5);
    assert_eq!(stale(&project, &["src"]), [json!(null); 0]);
    assert_eq!(project.run(&["stale", "--strict"]).code, Some(1));
    assert_eq!(project.run(&["stale", "--since", "nothing"]).code, Some(1));
}

/// A file that is removed and not committed is gone all the same.
#[test]
fn the_working_tree_counts() {
    let project = committed(
        project().with_file("CLAUDE.md", "See `docs/a/b.md`.\n").with_file("docs/a/b.md", "x"),
    );
    std::fs::remove_file(project.path().join("docs/a/b.md")).unwrap();
    let output = project.run(&["stale", "--json"]).json();
    assert_eq!(output["found"][0]["removal"]["commit"], Value::Null);
    assert_eq!(output["found"][0]["likelihood"], json!("certain"));
    insta::assert_snapshot!(project.run(&["stale"]), @r"
    certain
      CLAUDE.md:1  the project has no `docs/a/b.md`
          removed in the working tree, not committed
    ------- stderr -------
    1 finding: 1 certain, 0 likely, 0 possible
    [EOF]
    ");
}

/// Without git, the tree alone is asked.
#[test]
fn without_history_the_tree_is_asked() {
    let project = project()
        .with_file("CLAUDE.md", "Run `make lint`, see [x](gone.md) and `docs/gone/a.md`.\n")
        .with_file("Makefile", "test:\n\ttrue\n");
    assert_eq!(
        stale(&project, &[]),
        [
            json!(["target", "lint", "likely"]),
            json!(["link", "gone.md", "likely"]),
            json!(["path", "docs/gone/a.md", "possible"]),
        ]
    );
    assert_eq!(project.run(&["stale", "--json"]).json()["history"], json!(false));
}

/// Every runner: a name that is defined is in order, one that is not is found.
#[test]
fn targets_of_all_runners_are_looked_up() {
    let files: [(&str, &str); 12] = [
        ("Makefile", "build:\n\ttrue\n"),
        ("justfile", "build:\n  true\n"),
        ("Taskfile.yml", "version: '3'\ntasks:\n  build:\n    cmds: [true]\n"),
        ("package.json", "{\"scripts\": {\"build\": \"x\", \"build:all\": \"x\"}}"),
        ("composer.json", "{\"scripts\": {\"build\": \"x\"}}"),
        ("mise.toml", "[tasks.build]\nrun = 'x'\n"),
        ("pyproject.toml", "[tool.poe.tasks]\nbuild = 'x'\n"),
        ("noxfile.py", "@nox.session\ndef build(session):\n    pass\n"),
        ("Cargo.toml", "[workspace]\nmembers = ['core']\n"),
        (
            "core/Cargo.toml",
            "[package]\nname = 'shop-core'\n[features]\nfast = []\n[[bin]]\nname = 'tool'\n",
        ),
        ("core/examples/demo.rs", "fn main() {}"),
        ("core/tests/whole.rs", ""),
    ];
    let commands = [
        ("make build", "make bulid"),
        ("just build x", "just biuld x"),
        ("task build", "task gone"),
        ("npm run build", "npm run gone"),
        ("pnpm build:all", "pnpm gone:all"),
        ("yarn run build", "yarn run release"),
        ("bun run build", "bun run release"),
        ("composer run build", "composer run gone"),
        ("mise run build", "mise run gone"),
        ("uv run poe build", "uv run poe gone"),
        ("nox -s build", "nox -s gone"),
        ("cargo test -p shop-core", "cargo test -p shop-gone"),
        ("cargo test --features fast", "cargo test --features slow"),
        ("cargo run --bin tool", "cargo run --bin gone"),
        ("cargo run --example demo", "cargo run --example gone"),
        ("cargo test --test whole", "cargo test --test half"),
    ];
    for (right, wrong) in commands {
        let mut with =
            project().with_file("AGENTS.md", format!("```bash\n{right}\n{wrong}\n```\n"));
        for (path, text) in files {
            with = with.with_file(path, text);
        }
        let found = lint(&with);
        assert!(matches!(&found[..], [one] if one.starts_with("3: ")), "{wrong}: {found:?}");
        let inline = project().with_file("AGENTS.md", format!("Run `{right}`, not `{wrong}`."));
        let inline = files.iter().fold(inline, |with, (path, text)| with.with_file(path, text));
        assert_eq!(lint(&inline).len(), 1, "{wrong}");
    }
}

/// Precision: nothing here is a claim about this project.
#[test]
fn unclear_texts_are_left_alone() {
    let text = "# Guide\n\nRun `make <target>`, `make $T`, `npm run your-script`, `make path/to/x`.\n\
                Create `src/new/file.py`. Logs are in `logs/app/a.log`, outputs in `dist/web/a.js`.\n\
                See `src/<name>/a.py`, `src/**/b.py`, `~/x/y.py`, `/etc/a/b.toml`, `github.com/a/b.md`.\n\
                `lib/old/gone.py` was removed in 2.0. `cargo install cargo-nextest`. `build/out.md`\n\n\
                ```bash\n# Bad: do not do that\nmake gone\n```\n\n```python\nmake gone\n```\n\n\
                ## Examples\n\n```bash\nmake other\n```\n\n`ignored/a/b.py`, `web/a.ts`, `make all` in `cd /tmp && make x`\n";
    let project = project()
        .with_file("CLAUDE.md", text)
        .with_file(".gitignore", "ignored/\n")
        .with_file("packages/web/a.ts", "")
        .with_file("Makefile", "all:\n\ttrue\n")
        .with_file("package.json", "{\"scripts\": {\"x\": \"y\"}}");
    assert_eq!(lint(&project), [""; 0]);
    assert_eq!(stale(&project, &[]), [json!(null); 0]);
}

/// A makefile that computes its targets, or includes others, defines anything.
#[test]
fn open_files_define_anything() {
    for makefile in
        ["include $(COMMON)/x.mk\nall:\n", "$(SERVICES):\n\ttrue\n", "%-check:\n\ttrue\n"]
    {
        let project = project()
            .with_file("CLAUDE.md", "Run `make unit-check`.\n")
            .with_file("Makefile", makefile);
        assert_eq!(lint(&project), [""; 0], "{makefile}");
    }
}

/// A script of another package is one, and a skill may speak of any project.
#[test]
fn other_packages_and_skills_are_in_doubt() {
    let project = project()
        .with_file("CLAUDE.md", "Run `npm run deploy`.\n")
        .with_file(
            ".claude/skills/x/SKILL.md",
            "---\nname: x\ndescription: Deploys the shop to the cloud\n---\nRun `npm run gone`.\n",
        )
        .with_file("package.json", "{\"scripts\": {\"build\": \"x\"}}")
        .with_file("web/package.json", "{\"scripts\": {\"deploy\": \"x\"}}");
    assert_eq!(lint(&project), [""; 0]);
    assert_eq!(stale(&project, &[]), [json!(["target", "gone", "possible"])]);
}

/// A comment with a reason takes a finding back, here too.
#[test]
fn comments_take_findings_back() {
    let text =
        "<!-- brief-ignore guidance/missing-target: made by the build -->\nRun `make gone`.\n";
    let project = project().with_file("CLAUDE.md", text).with_file("Makefile", "all:\n");
    assert_eq!(lint(&project), [""; 0]);
    assert_eq!(stale(&project, &[]), [json!(null); 0]);
}

/// Texts that no history, no manifest and no path can harm.
#[test]
fn hostile_names_are_harmless() {
    let text = "`make --eval=x`, `npm run -`, `a/\u{202e}b.md`, `docs/--output=x.md`, `:(top)a/b.md`, `HEAD:x/y.md`\n\n\
                ```bash\n$ make \u{1b}[31mred\nmake 'unclosed\n```\n";
    let project = committed(
        project().with_file("CLAUDE.md", text).with_file("Makefile", "\u{0}:\n\u{fffd}=\n"),
    );
    let output = project.run(&["stale"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(!output.stdout.contains('\u{1b}'), "{output}");
}

/// The texts of `.context` are held to the project as all others are; a description is not a claim.
#[test]
fn texts_of_context_directories_are_checked() {
    let project = project()
        .with_file("Makefile", "test:\n\ttrue\n")
        .with_file(
            "shop/.context/cart.md",
            "---\ndescription: make fast\ntrigger: always\n---\nRun `make tset` first.\n",
        )
        .with_file("shop/cart.py", "");
    assert_eq!(stale(&project, &[]), [json!(["target", "tset", "likely"])]);
    let said = lint(&project);
    assert!(
        matches!(&said[..], [one] if one.starts_with("5: ") && one.contains("tset")),
        "{said:?}"
    );
}

/// A misspelt target of the nearest file is found, although another file of the project would take any name, as that of a
/// Sphinx documentation does. What only the other file can tell is left alone.
#[test]
fn a_file_that_takes_any_name_does_not_hide_a_slip() {
    let project = project()
        .with_file("Makefile", "prettier:\n\ttrue\nlint:\n\ttrue\n")
        .with_file("docs/Makefile", "%: Makefile\n\tsphinx-build -M $@ . _build\n")
        .with_file("CLAUDE.md", "Run `make pretiter`, then `make html`.\n");
    assert_eq!(stale(&project, &[]), [json!(["target", "pretiter", "likely"])]);
}

/// Commands of clients are texts, too. A name that git ignores in a directory between the file and the root is no excuse.
#[test]
fn links_of_commands_and_beside_ignored_names_are_checked() {
    let project = project()
        .with_file(".gitignore", ".agents/*\n!.agents/rules/\n/local.md\n")
        .with_file(".agents/rules/a.md", "Read [one](gone.md), [two](local.md).\n")
        .with_file(".claude/commands/review.md", "---\ndescription: x\n---\nRead [it](gone.md).\n");
    git(&project, &["init", "--quiet", "--initial-branch=main"]);
    let json = project.run(&["lint", "--json"]).json();
    let found = json["diagnostics"].as_array().unwrap().iter();
    let found: Vec<String> = found
        .filter(|one| one["code"].as_str().unwrap().ends_with("/broken-link"))
        .map(|one| format!("{}:{}", one["path"].as_str().unwrap(), one["line"]))
        .collect();
    assert_eq!(found, [".agents/rules/a.md:1", ".claude/commands/review.md:4"]);
}
