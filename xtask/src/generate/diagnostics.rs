//! The reference of diagnostics: a page for each rule, and a table of all.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;

use brief_syntax::rules::RulePage;

use crate::workspace_root;

const DIRECTORY: &str = "docs/diagnostics";

/// The sections of the table: the beginning of the codes, the title, and a remark.
const AREAS: [(&str, &str, &str); 11] = [
    ("agents-yaml/", "Structured context (`AGENTS.yaml`)", ""),
    (
        "context-dir/",
        "Client-hosted context (`.context/`)",
        "Each of these leaves out the bad field, file or server; the rest counts.",
    ),
    (
        "client/",
        "Client files (`CLAUDE.md`, `.cursor/rules`, …)",
        "Problems of front matter have the codes of [front matter](#front-matter).",
    ),
    (
        "tasks/",
        "Task files (`.agents/`, …)",
        "A prompt is still assembled: a reference that cannot be resolved stays as written, and a file\n\
         that cannot be read is left out.",
    ),
    (
        "item/",
        "Portable items (`rules/`, `skills/`, `agents/`, `*.bundle.md`)",
        "An item with an error is not compiled; all others are.",
    ),
    (
        "agents/",
        "Agent files (`agents/*.agent.md`)",
        "An agent with an error does not run, as its document asks.",
    ),
    (
        "capability/",
        "Capabilities (`brief audit`)",
        "Facts about what an item can do; [capabilities.md](capabilities.md) tells how they are found. \
         Errors make\n`brief audit` exit with 1.",
    ),
    (
        "setup/",
        "Setup (`brief lint --only setup`)",
        "What keeps guidance from its clients on this machine. Notes are reported with `--pedantic`.",
    ),
    ("project/", "Project", ""),
    ("frontmatter", "Front matter", ""),
    ("", "YAML and text", ""),
];

/// Returns the path of a rule's page.
pub(super) fn rule_page_path(code: &str) -> String {
    format!("{DIRECTORY}/{code}.md")
}

/// Returns the table of all rules.
pub(super) fn render_rule_reference() -> String {
    let mut page = String::from(
        "# Diagnostics\n\nMade from the pages of the rules (`crates/syntax/rules`) by `cargo xtask generate`.\n\n\
         Every problem that `brief` can find in your files. The code is stable: scripts may rely on it. An\n\
         **error** means that something is not delivered or would be delivered wrongly, and makes `brief lint`\n\
         exit with 1; a **warning** means that everything works, but probably not as meant. A **note** is reported\n\
         once for all that it is about, and never makes a check fail.\n\n\
         `brief lint` shows each problem with its location and a fix; `--fix` applies those marked *fixable*, which\n\
         have only one sensible form. `brief lint --explain CODE` prints the page of a rule.\n",
    );
    let mut rest: Vec<RulePage> = RulePage::all_pages().collect();
    for (area, title, remark) in AREAS {
        let (here, others): (Vec<RulePage>, Vec<RulePage>) =
            rest.into_iter().partition(|rule| rule.code.starts_with(area));
        rest = others;
        let _ = write!(page, "\n## {title}\n\n");
        if !remark.is_empty() {
            let _ = write!(page, "{remark}\n\n");
        }
        page.push_str("| code | severity | meaning | what to do |\n| --- | --- | --- | --- |\n");
        for rule in here {
            let cell = |text: &str| text.replace('|', "\\|");
            let fixable = if rule.find_field("fix") == Some("safe") { " *fixable*" } else { "" };
            let severities: Vec<&str> = rule.severities().collect();
            let _ = writeln!(
                page,
                "| [`{code}`](../diagnostics/{code}.md) | {} | {} | {}{fixable} |",
                severities.join(", "),
                cell(rule.summary()),
                cell(rule.help()),
                code = rule.code,
            );
        }
    }
    page
}

/// Removes pages of rules that no longer exist, or with `check` only reports them.
pub(super) fn remove_old(current: &BTreeSet<&str>, check: bool) -> Result<(), String> {
    let top = workspace_root();
    let mut directories = vec![top.join(DIRECTORY)];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let path = entry.path();
            let below =
                path.strip_prefix(top).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            if path.is_dir() {
                directories.push(path);
            } else if current.contains(below.as_str()) {
            } else if check {
                return Err(format!("{below} has no rule; run: cargo xtask generate"));
            } else {
                fs::remove_file(&path).map_err(|error| format!("{below}: {error}"))?;
            }
        }
    }
    Ok(())
}
