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
            json!(["version", "18", "likely"]),
        ]
    );
    let output = project.run(&["stale", "--json"]).json();
    let head = git(&project, &["rev-parse", "HEAD"]);
    assert_eq!(output["found"].as_array().unwrap().len(), 5);
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

/// A file that is removed and not committed is gone all the same; without a commit that shows it nothing is certain.
#[test]
fn the_working_tree_counts() {
    let project = committed(
        project().with_file("CLAUDE.md", "See `docs/a/b.md`.\n").with_file("docs/a/b.md", "x"),
    );
    std::fs::remove_file(project.path().join("docs/a/b.md")).unwrap();
    let output = project.run(&["stale", "--json"]).json();
    assert_eq!(output["found"][0]["removal"]["commit"], Value::Null);
    assert_eq!(output["found"][0]["likelihood"], json!("likely"));
    insta::assert_snapshot!(project.run(&["stale"]), @r"
    likely
      CLAUDE.md:1  the project has no `docs/a/b.md`
          removed in the working tree, not committed
    ------- stderr -------
    1 finding: 0 certain, 1 likely, 0 possible
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

/// Commits that only move files, one after the other.
fn moved(project: &Sandbox, moves: &[(&str, &str)]) {
    for (from, to) in moves {
        let above = project.path().join(to);
        std::fs::create_dir_all(above.parent().unwrap()).unwrap();
        git(project, &["mv", from, to]);
        commit(project);
    }
}

const CODE: &str = "A = 1\nB = 2\nC = 3\nD = 4\nE = 5\n";

/// R04: a file that was renamed twice has the name of today, and one that is gone by now has none.
#[test]
fn names_are_followed_to_today() {
    let text = "Prices: `src/old/prices.py`. Taxes: `src/old/taxes.py`.\n";
    let project = committed(
        project()
            .with_file("CLAUDE.md", text)
            .with_file("src/old/prices.py", CODE)
            .with_file("src/old/taxes.py", CODE.replace(" = ", " = -")),
    );
    let (prices, taxes) = ("src/old/prices.py", "src/old/taxes.py");
    moved(&project, &[(prices, "src/mid/cents.py"), (taxes, "src/mid/vat.py")]);
    moved(&project, &[("src/mid/cents.py", "shop/amounts.py")]);
    git(&project, &["rm", "--quiet", "src/mid/vat.py"]);
    commit(&project);
    let found = project.run(&["stale", "--json"]).json();
    assert_eq!(found["found"][0]["replacement"], json!("shop/amounts.py"), "{found}");
    assert_eq!(found["found"][0]["removal"]["renamed"], json!("shop/amounts.py"));
    assert_eq!(found["found"][1]["replacement"], json!(null), "{found}");
    assert_eq!(found["found"][1]["removal"]["renamed"], json!(null));
    assert_eq!(found["found"][1]["likelihood"], json!("certain"));
}

/// A new file with most of a removed one is not its new name, and neither is a file of that name in another corner.
#[test]
fn only_the_same_file_is_proposed() {
    let line = |n: u32| format!("value_{n} = {n}\n");
    let lines = |from: u32, to: u32| (from..to).map(line).collect::<Vec<_>>().concat();
    let text = "Tests: `code/unit.workspace.py`. Routes: `src/utils/router.py`.\n";
    let project = committed(
        project()
            .with_file("CLAUDE.md", text)
            .with_file("code/unit.workspace.py", lines(0, 20))
            .with_file("src/features/portal/router.py", lines(100, 120)),
    );
    git(&project, &["rm", "--quiet", "code/unit.workspace.py"]);
    let project = project.with_file("code/unit.shared.py", lines(0, 17));
    commit(&project);
    let found = project.run(&["stale", "--json"]).json();
    assert_eq!(found["found"][0]["likelihood"], json!("certain"), "{found}");
    assert_eq!(found["found"][0]["replacement"], json!(null), "{found}");
    assert_eq!(found["found"][1]["replacement"], json!(null), "{found}");
}

/// R03: a path that exists below another directory is told with that place, and is never certain: the text may say
/// where it begins. Where it does, nothing is said.
#[test]
fn a_path_below_another_directory_is_told_with_its_place() {
    let files = ["core/a.py", "core/b.py", "core/c.py"];
    let laid_out = |text: &str| {
        let project = project().with_file("CLAUDE.md", text);
        let project = files.iter().fold(project, |project, path| {
            project.with_file(&format!("src/{path}"), format!("{CODE}# {path}\n"))
        });
        let project = committed(project);
        for path in files {
            moved(&project, &[(&format!("src/{path}"), &format!("apps/shop/src/{path}"))]);
        }
        project
    };
    let one = laid_out("Read `src/core/a.py`.\n");
    assert_eq!(stale(&one, &[]), [json!(["path", "src/core/a.py", "likely"])]);
    // The commit makes it likely, and `lint` reports what is likely.
    assert_eq!(lint(&one).len(), 1);
    let output = one.run(&["stale", "--json"]).json();
    assert_eq!(output["found"][0]["replacement"], json!("apps/shop/src/core/a.py"));
    let named = laid_out("The code is in `apps/shop`. Read `src/core/a.py`.\n");
    assert_eq!(stale(&named, &[]), [json!(null); 0]);
    // Three of one text are no accident, also without history.
    let three = laid_out("Read `src/core/a.py`, `src/core/b.py` and `src/core/c.py`.\n");
    let json = three.run(&["lint", "--json"]).json();
    assert_eq!(json["diagnostics"][0]["count"], json!(3), "{json}");
    assert!(lint(&three)[0].contains("`apps/shop/src/core/a.py`"), "{:?}", lint(&three));
}

/// Paths that begin in the directory of a package's code are short for it. Only history can say that they are wrong.
#[test]
fn paths_may_leave_the_directory_of_the_code_out() {
    let text = "Read `harness/a.py`, `harness/b.py` and `harness/c.py`.\n";
    let project = project().with_file("packages/core/AGENTS.md", text);
    let project = ["a", "b", "c"].into_iter().fold(project, |project, name| {
        project.with_file(
            &format!("packages/core/shop/harness/{name}.py"),
            format!("{CODE}# {name}\n"),
        )
    });
    let project = committed(project);
    assert_eq!(lint(&project), [""; 0]);
    assert!(
        !stale(&project, &[]).iter().any(|found| found[2] == "likely" || found[2] == "certain")
    );
}

/// Paths that no commit had, below directories that are nowhere, are those of another project; a single one is not.
#[test]
fn paths_of_another_project_make_no_claims() {
    let text =
        "Upstream changed `crypto/sha/sha512.cc` and `include/x/evp.h`, then `ssl/lib.cc`.\n";
    let project = committed(
        project()
            .with_file("CLAUDE.md", "Parsers are in `grammar/parsers/a.py`.\n")
            .with_file(".claude/commands/upgrade.md", text)
            .with_file("src/a.py", ""),
    );
    assert_eq!(stale(&project, &[]), [json!(["path", "grammar/parsers/a.py", "possible"])]);
    // A commit that removed one of them says that they were here.
    project.write("crypto/sha/sha512.cc", "x\n");
    commit(&project);
    git(&project, &["rm", "--quiet", "crypto/sha/sha512.cc"]);
    commit(&project);
    assert!(stale(&project, &[]).iter().any(|found| found[1] == "crypto/sha/sha512.cc"));
}

/// A text may list the files that clients look for.
#[test]
fn names_of_clients_files_are_no_paths_of_the_project() {
    let text = "Zed reads `.github/copilot-instructions.md`, too.\n";
    let project = committed(project().with_file("AGENTS.md", text).with_file(".github/a.yml", ""));
    assert_eq!(stale(&project, &[]), [json!(null); 0]);
}

/// R03, N32: a line that looks like the definition of a script is none, and a script that any manifest defines is there.
#[test]
fn a_removed_line_is_held_to_its_manifest() {
    let with_seed = "{\"scripts\": {\n\"build\": \"x\"},\n\"prisma\": {\n\"seed\": \"y\"}}\n";
    let without = "{\"scripts\": {\n\"build\": \"x\"}}\n";
    let laid_out = |root: &str| {
        let project = committed(
            project()
                .with_file("package.json", root)
                .with_file("shared/package.json", with_seed)
                .with_file("shared/AGENTS.md", "Run `pnpm run seed`.\n"),
        );
        project.write("shared/package.json", without);
        commit(&project);
        project
    };
    let defined = laid_out("{\"scripts\": {\"seed\": \"z\"}}");
    assert_eq!(stale(&defined, &[]), [json!(null); 0]);
    let missing = laid_out("{\"scripts\": {}}");
    assert_eq!(stale(&missing, &[]), [json!(["target", "seed", "likely"])]);
}

/// R03: what a build makes, what each user has, and what is to be made is never certain.
#[test]
fn what_may_be_elsewhere_is_not_certain() {
    let text = "`db/index.ts` is a gitignored artifact. Your settings: `.claude/rules/own.md`.\n\n\
                Add a file like `src/new/a.ts`.\n\nSee `lib/x/made.ts`.\n";
    let project = committed(
        project()
            .with_file("CLAUDE.md", text)
            .with_file("db/index.ts", CODE)
            .with_file(".claude/rules/own.md", CODE)
            .with_file("src/new/a.ts", CODE)
            .with_file("lib/x/made.ts", CODE)
            .with_file("web/lib/y.ts", "")
            .with_file("web/.gitignore", "lib/x\n"),
    );
    for path in ["db/index.ts", ".claude/rules/own.md", "src/new/a.ts", "lib/x/made.ts"] {
        git(&project, &["rm", "--quiet", path]);
    }
    commit(&project);
    let found = stale(&project, &[]);
    assert!(found.iter().all(|one| one[2] != json!("certain")), "{found:?}");
    assert!(!found.iter().any(|one| one[1] == json!("lib/x/made.ts")), "{found:?}");
}

/// R05: a plugin, a skill for others and a template speak of their users' project; what lies beside a skill is its own.
#[test]
fn texts_for_other_projects_make_no_claims() {
    let text = "---\nname: plan\ndescription: Plans the next steps of a track\n---\n\
                Read `conductor/product.md`, run `make lint` and `scripts/wait.sh`. Requires Node.js 18.\n";
    let files = [
        "plugins/conductor/commands/plan.md",
        "plugins/conductor/agents/plan.md",
        "skills/plan/SKILL.md",
        "create-shop/template-web/AGENTS.md",
    ];
    let mut with = project()
        .with_file("plugins/conductor/.claude-plugin/plugin.json", "{\"name\": \"conductor\"}")
        .with_file("plugins/conductor/templates/product.md", "x")
        .with_file("package.json", "{\"engines\": {\"node\": \">=22\"}}")
        .with_file("Makefile", "test:\n\ttrue\n");
    for path in files {
        with = with.with_file(path, text);
    }
    let with = committed(with);
    assert_eq!(stale(&with, &[]), [json!(null); 0]);
    let codes = |project: &Sandbox| -> Vec<String> {
        let json = project.run(&["lint", "--json"]).json();
        let found = json["diagnostics"].as_array().unwrap().iter();
        let codes = found.map(|one| one["code"].as_str().unwrap().to_owned());
        codes.filter(|code| code.starts_with("guidance/")).collect()
    };
    assert_eq!(codes(&with), [""; 0]);
    with.write(
        "skills/plan/SKILL.md",
        "---\nname: plan\ndescription: Plans the next steps\n---\nRun `python scripts/gone.py`.\n",
    );
    with.write("skills/plan/scripts/there.py", "");
    assert_eq!(codes(&with), ["guidance/missing-path"]);
}

/// R06: a sentence about what a version can do asks for none.
#[test]
fn a_version_that_can_do_something_is_not_asked_for() {
    for (text, expected) in [
        ("**CRITICAL**: Always use modern Python 3.10+ union syntax for type hints.", 0),
        ("### 6. Python Type Hints (Python 3.10+ Style)", 0),
        ("Requires Python 3.10 or later.", 1),
        ("- Python 3.10+", 1),
    ] {
        let project = project()
            .with_file("CLAUDE.md", format!("{text}\n"))
            .with_file("pyproject.toml", "[project]\nname = 'x'\nrequires-python = '>=3.11'\n");
        let found = stale(&project, &[]);
        assert_eq!(found.len(), expected, "{text}: {found:?}");
    }
}

/// The language that a text calls the newest is that of an older SDK.
#[test]
fn the_current_language_is_held_to_the_sdk() {
    let text = "Always use the latest version C#, currently C# 13 features.\n";
    let with = |sdk: &str| {
        project()
            .with_file("CLAUDE.md", text)
            .with_file("global.json", format!("{{\"sdk\": {{\"version\": \"{sdk}\"}}}}"))
    };
    assert_eq!(stale(&with("11.0.100"), &[]), [json!(["version", "13", "likely"])]);
    assert_eq!(stale(&with("9.0.100"), &[]), [json!(null); 0]);
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
