//! Command lines, and the names in them.

use super::commands::{CommandTarget, ShellDirectory, read_line};

fn names(line: &str) -> Vec<String> {
    read_line(line, &mut ShellDirectory::new())
        .into_iter()
        .map(|found| {
            assert!(line.get(found.span.range()).is_some());
            let place = found.directory.map_or(String::new(), |place| format!("{place}: "));
            match found.named {
                CommandTarget::Target(runner, name) => format!("{place}{runner:?} {name}"),
                CommandTarget::File(path) => format!("{place}{path}"),
            }
        })
        .collect()
}

#[test]
fn commands_name_targets() {
    for (line, expected) in [
        ("make test lint V=1 -j 4", &["Make test", "Make lint"][..]),
        ("make -C docs html # comment", &["docs: Make html"]),
        ("cd web && npm run build", &["web: Package build"]),
        ("npm test", &["Package test"]),
        ("npm run lint -- --fix", &["Package lint"]),
        ("pnpm --filter @a/b run dev", &["*: Package dev"]),
        ("pnpm test:unit", &["Package test:unit"]),
        ("yarn workspace web build:all", &["*: Package build:all"]),
        ("CI=1 just check x y", &["Just check"]),
        (
            "cargo test -p core --features=a,b",
            &["CargoPackage core", "CargoFeature a", "CargoFeature b"],
        ),
        ("cargo +nightly run --bin tool -- --bin other", &["CargoBinary tool"]),
        ("cargo xtask codegen", &["CargoAlias xtask"]),
        ("uv run poe lint", &["Poe lint"]),
        ("./scripts/a.sh && python tools/b.py --x", &["./scripts/a.sh", "tools/b.py"]),
        ("bash scripts/a.sh", &["scripts/a.sh"]),
        ("deno task build", &["Deno build"]),
        ("nox -s lint", &["Nox lint"]),
        ("make a > b c", &["Make a", "Make c"]),
        ("make a<b", &["Make a"]),
        ("cd web && npm run a && cd .. && npm run b", &["web: Package a", "Package b"]),
        ("(cd web; npm run a); npm run b", &["web: Package a", "Package b"]),
        ("if make a; then timeout 5 make b; fi", &["Make a", "Make b"]),
        ("bash -c 'cd web && make a'", &["web: Make a"]),
        ("echo \"$(make a)\"", &["Make a"]),
    ] {
        assert_eq!(names(line), expected, "{line}");
    }
}

/// Precision: a placeholder, another file or a program of a package names no target.
#[test]
fn unclear_commands_name_nothing() {
    for line in [
        "make",
        "make $(TARGET)",
        "make <target>",
        "make -f other.mk x",
        "make build/x.o",
        "npm install foo",
        "npm run <script>",
        "pnpm run build:<directory_name>",
        "make test-<suite>",
        "npm run your-script",
        "yarn run eslint",
        "pnpm vitest",
        "bun run index.ts",
        "cargo install ripgrep",
        "cargo test -p <crate>",
        "cargo test -p serde@1",
        "cargo nextest-extra x",
        "python -m pytest tests/a.py",
        "python $FILE",
        "echo 'make x'",
        "just --list",
        "just a::b",
        "task --list",
        "cd <directory> && make x",
        "cd $DIR && make x",
        "cd && make x",
        "npx task x",
        "xargs make",
        "make x' y",
    ] {
        assert_eq!(names(line), [""; 0], "{line}");
    }
}

#[test]
fn any_line_is_read() {
    arbtest::arbtest(|bytes| {
        const WORDS: [&str; 20] = [
            "make",
            "npm",
            "run",
            "-C",
            "-j",
            " ",
            "cargo",
            "-p",
            "=",
            "'",
            "\"",
            "&&",
            "é",
            "cd",
            "uv",
            "--features",
            ",",
            "test",
            "./a.sh",
            "#",
        ];
        let mut line = String::new();
        for _ in 0..bytes.int_in_range(0..=16)? {
            line.push_str(bytes.choose(&WORDS)?);
        }
        for found in read_line(&line, &mut ShellDirectory::new()) {
            assert!(line.get(found.span.range()).is_some(), "{line:?}");
        }
        Ok(())
    });
}
