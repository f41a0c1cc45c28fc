//! Sentences, and the demands in them.

use brief_syntax::markdown::Prose;

use super::descriptions::find_vagueness;
use super::grammar::{Topic, parse_demands, read_command_demand};
use super::narrowing_headings;

/// Returns the demands of a text: topic, value, `!` for a ban.
fn read(text: &str) -> Vec<String> {
    let prose = Prose::parse(text);
    let mut found = Vec::new();
    for passage in prose.passages() {
        for (_, sentence) in passage.sentences() {
            for demand in parse_demands(passage, sentence) {
                let ban = if demand.is_ban { "!" } else { "" };
                let topic = match &demand.topic {
                    Topic::Naming(object) => format!("name {object}"),
                    Topic::Tool(tool) => format!("tool {tool}"),
                    Topic::Practice(practice) => format!("do: {practice}"),
                    topic => topic.noun().to_owned(),
                };
                found.push(format!("{ban}{topic}={}", demand.value));
            }
        }
    }
    found
}

#[test]
fn sentences_demand() {
    for (text, expected) in [
        ("Use pnpm.", &["package manager=pnpm"][..]),
        ("- Always use `pnpm` as the package manager", &["package manager=pnpm"]),
        ("Use `uv` instead of `pip`.", &["package manager=uv", "!package manager=pip"]),
        ("Never use npm or yarn.", &["!package manager=npm", "!package manager=yarn"]),
        ("**Package manager**: `bun`", &["package manager=bun"]),
        ("Use pnpm, not npm.", &["package manager=pnpm", "!package manager=npm"]),
        ("Use tabs for indentation.", &["indentation=tabs"]),
        ("- Indentation: 2 spaces", &["indentation=2 spaces"]),
        ("Use 4 spaces for indentation", &["indentation=4 spaces"]),
        ("Use four-space indentation.", &["indentation=4 spaces"]),
        ("Never use tabs.", &["!indentation=tabs"]),
        ("Use single quotes for strings", &["quotes=single"]),
        ("Prefer double quotes.", &["quotes=double"]),
        ("Do not use semicolons.", &["!semicolons=semicolons"]),
        ("Maximum line length is 100 characters.", &["line length=100"]),
        (
            "Use snake_case for functions and variables.",
            &["name function=snake_case", "name variable=snake_case"],
        ),
        ("- Functions: `camelCase`", &["name function=camelCase"]),
        ("Classes use PascalCase", &["name class=PascalCase"]),
        ("Run tests with `pytest`.", &["test command=pytest"]),
        ("- Test: `npm run test`", &["test command=npm test"]),
        ("Never use `any`.", &["!tool any="]),
        ("Avoid `lodash`", &["!tool lodash="]),
        ("Always add type hints.", &["do: add type hints="]),
        ("Do not add type hints.", &["!do: add type hints="]),
        ("Never commit generated files", &["!do: commit generated files="]),
    ] {
        assert_eq!(read(text), expected, "{text}");
    }
}

/// Precision: a condition, a choice or an example demands nothing.
#[test]
fn hedged_sentences_demand_nothing() {
    for text in [
        "If you need packages, use npm.",
        "Use npm or pnpm.",
        "Use npm when publishing.",
        "You can use yarn.",
        "Should we use npm?",
        "Use npm scripts for tasks.",
        "Use `npm link` to test.",
        "# Use tabs",
        "| Use tabs |\n| - |\n| Use spaces |",
        "Use tabs in the table of contents.",
        "Use double quotes around paths with blanks.",
        "Use `pytest -k name` to run one test.",
        "Run tests with `pytest tests/unit`.",
        "The line above is 100 characters.",
        "Never use npm unless the registry is down.",
        "Only use `any` in tests.",
        "PascalCase or camelCase for functions",
    ] {
        // A phrase as a whole contradicts only its own ban.
        let mut found = read(text);
        found.retain(|demand| !demand.contains("do: "));
        assert_eq!(found, [""; 0], "{text}");
    }
}

#[test]
fn demands_contradict() {
    let one = |text: &str| {
        let prose = Prose::parse(text);
        let passage = &prose.sections[0].passages[0];
        parse_demands(passage, &passage.text).remove(0)
    };
    for (left, right, expected) in [
        ("Use pnpm.", "Use npm.", true),
        ("Use pnpm.", "Never use pnpm.", true),
        ("Use pnpm.", "Never use npm.", false),
        ("Use uv.", "Use npm.", false),
        ("Use tabs.", "Use 2 spaces.", true),
        ("Use 2 spaces.", "Use 4 spaces.", true),
        ("Use spaces for indentation.", "Use 4 spaces.", false),
        ("Never use tabs.", "Use 4 spaces.", false),
        ("Use single quotes.", "Use double quotes.", true),
        ("Use snake_case for files.", "Use kebab-case for files.", true),
        ("Use snake_case for files.", "Use kebab-case for folders.", false),
        ("Never use `any`.", "Use `any`.", true),
        ("Always add type hints.", "Never add type hints.", true),
        ("Always add type hints.", "Never add type ignores.", false),
        ("Run tests with `pytest`.", "Run tests with `python -m unittest`.", true),
        ("Run tests with `pytest`.", "Run tests with `npm test`.", false),
    ] {
        let (left_demand, right_demand) = (one(left), one(right));
        assert_eq!(left_demand.contradicts(&right_demand), expected, "{left} {right}");
        assert_eq!(right_demand.contradicts(&left_demand), expected, "{right} {left}");
    }
}

#[test]
fn commands_that_set_a_machine_up_demand_nothing() {
    for line in
        ["npm install", "npm run build -- --watch", "yarn", "yarn build", "pip install -r a.txt"]
    {
        assert!(read_command_demand(line).is_some(), "{line}");
    }
    for line in [
        "npm i -g corepack && yarn",
        "npm install --global pnpm@10",
        "npm install yarn",
        "pip install uv",
        "pip install 'poetry>=2'",
        "npm publish",
        "npm create vite",
        "ls",
    ] {
        assert_eq!(read_command_demand(line), None, "{line}");
    }
}

#[test]
fn only_some_headings_narrow() {
    let headings = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    assert_eq!(narrowing_headings(&headings(&["Shop", "Code style"])), [""; 0]);
    assert_eq!(
        narrowing_headings(&headings(&["Shop", "Dashboard package"])),
        ["dashboard package"]
    );
}

#[test]
fn descriptions_that_cannot_trigger() {
    for (name, description, expected) in [
        ("pdf", "TODO", true),
        ("pdf-tools", "PDF tools", true),
        ("pdf", "A skill for pdf", true),
        ("pdf", "Handles PDFs", true),
        ("pdf", "Fill in forms and merge PDF files. Use for any request about PDF.", false),
        ("todo", "Todo lists: add, order and close entries of a team's board", false),
        ("pdf", "表单填写和合并PDF文件", false),
    ] {
        assert_eq!(find_vagueness(name, description).is_some(), expected, "{description}");
    }
}
