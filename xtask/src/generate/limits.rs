//! The page of limits: each with what happens beyond it.

use std::fmt::Write;

use brief_syntax::text::group_digits;
use brief_syntax::{glob, limits};

/// The limited thing, the limit, the consequence, and the code of the diagnostic.
const LIMITS: &[(&str, u64, &str, &str)] = &[
    ("bytes of one file", limits::FILE_BYTES, "the file is not read", "`agents-yaml/unreadable`"),
    (
        "bytes of the front matter of one file",
        limits::FRONT_MATTER_BYTES as u64,
        "no field of it is read; the text is",
        "`frontmatter-invalid`",
    ),
    (
        "problems of one front matter, or of one YAML file, that are listed",
        limits::PROBLEMS_PER_FILE as u64,
        "the rest is counted",
        "—",
    ),
    (
        "entries of one list in a file",
        limits::ENTRIES_PER_FILE as u64,
        "the rest is left out",
        "`agents-yaml/too-many-entries`",
    ),
    (
        "directories on the way to a path",
        limits::PATH_DEPTH as u64,
        "the ones nearest to the path are read",
        "`project/too-deep`",
    ),
    (
        "directories deep, when a whole project is walked",
        limits::WALK_DEPTH as u64,
        "deeper ones are not entered",
        "`project/too-deep`",
    ),
    (
        "names in all directories, when a whole project is walked",
        limits::WALK_ENTRIES as u64,
        "the walk ends",
        "`project/too-many-entries`",
    ),
    (
        "collections nested in YAML",
        limits::YAML_DEPTH as u64,
        "the file is not read",
        "`agents-yaml/invalid-yaml`",
    ),
    (
        "nodes of a YAML document, aliases followed",
        limits::YAML_EXPANDED_NODES as u64,
        "aliases past it are not followed",
        "`agents-yaml/alias-bomb`",
    ),
    (
        "blocks and marks nested in Markdown that is formatted",
        limits::MARKDOWN_DEPTH as u64,
        "the text keeps its layout",
        "—",
    ),
    (
        "quotes nested in Markdown that is formatted",
        limits::MARKDOWN_QUOTES as u64,
        "the text keeps its layout",
        "—",
    ),
    (
        "bytes of a line of Markdown that is formatted",
        limits::MARKDOWN_LINE_BYTES as u64,
        "the text keeps its layout",
        "—",
    ),
    (
        "pieces of a paragraph of Markdown that is formatted",
        limits::MARKDOWN_PIECES as u64,
        "the text keeps its layout",
        "—",
    ),
    (
        "cells of all tables of Markdown that is formatted",
        limits::MARKDOWN_TABLE_CELLS as u64,
        "the text keeps its layout",
        "—",
    ),
    (
        "bytes of all tables of Markdown, once aligned",
        limits::MARKDOWN_TABLE_BYTES as u64,
        "the text keeps its layout",
        "—",
    ),
    (
        "bytes of a pattern",
        glob::MAX_PATTERN_BYTES as u64,
        "the entry is not delivered",
        "`agents-yaml/invalid-glob`",
    ),
    (
        "files with one trigger in one `.context` directory",
        limits::HOSTED_FILES as u64,
        "the rest is left out",
        "`context-dir/limit-files`",
    ),
    (
        "bytes read from one `.context` directory",
        limits::HOSTED_BYTES as u64,
        "the rest is left out",
        "`context-dir/limit-files`",
    ),
    (
        "directories deep in a `.context` directory",
        limits::HOSTED_DEPTH as u64,
        "deeper ones are not searched",
        "`context-dir/limit-depth`",
    ),
    (
        "names in a `.context` directory and all below it",
        limits::HOSTED_ENTRIES as u64,
        "the search ends",
        "`context-dir/limit-entries`",
    ),
    (
        "directories from the mounted to the working one",
        limits::HOSTED_LEVELS as u64,
        "the ones nearest to the work are read",
        "`context-dir/limit-depth`",
    ),
    (
        "patterns of one list in a configuration",
        limits::HOSTED_PATTERNS as u64,
        "the rest is left out",
        "`context-dir/limit-patterns`",
    ),
    (
        "directories deep, for `includeFiles`",
        limits::HOSTED_INCLUDE_DEPTH as u64,
        "deeper ones are not searched",
        "`context-dir/limit-depth`",
    ),
    (
        "names looked at for `includeFiles`",
        limits::HOSTED_INCLUDE_ENTRIES as u64,
        "the search ends",
        "`context-dir/limit-entries`",
    ),
    ("bytes of a hook's input", limits::HOOK_INPUT_BYTES, "the hook reports it, exit 0", "—"),
    (
        "bytes of a path that a hook is asked about",
        limits::HOOK_PATH_BYTES as u64,
        "there is no such file, and no guidance for it",
        "—",
    ),
    (
        "tokens that a hook delivers in one conversation",
        limits::HOOK_TOKENS as u64,
        "the hook says so once; `--budget` sets another number",
        "—",
    ),
    (
        "directories from the mounted one to a path, for client files",
        limits::NATIVE_LEVELS as u64,
        "half of them at the top and half nearest to the path are read",
        "`client/limit`",
    ),
    (
        "directories on the way to a path that are looked at for rules, agents and locks",
        limits::MOUNTED_LEVELS as u64,
        "half of them at the top and half nearest to the path are looked at",
        "`project/too-deep`",
    ),
    (
        "files of one directory of a client's rules, skills or agents",
        limits::NATIVE_FILES as u64,
        "the rest is left out",
        "`client/limit`",
    ),
    (
        "names in such a directory and all below it",
        limits::NATIVE_ENTRIES as u64,
        "the search ends",
        "`client/limit`",
    ),
    (
        "directories deep, in a client's rules or agents",
        limits::NATIVE_DEPTH as u64,
        "deeper ones are not entered",
        "`client/limit`",
    ),
    (
        "bytes of all client files of a project",
        limits::NATIVE_BYTES as u64,
        "the rest is not read",
        "`client/limit`",
    ),
    (
        "patterns of one client file, braces expanded",
        limits::NATIVE_PATTERNS as u64,
        "the rest is left out",
        "`client/limit`",
    ),
    (
        "imports in the client files of one directory",
        limits::NATIVE_IMPORTS as u64,
        "the rest is not followed",
        "`client/limit`",
    ),
    (
        "imports on the way to one file",
        limits::NATIVE_HOPS as u64,
        "the last file's own are not followed",
        "`client/limit`",
    ),
    (
        "names in one directory of tasks, rules, commands or skills",
        limits::TASK_FILES as u64,
        "the directory is not searched",
        "`tasks/too-many-files`",
    ),
    (
        "bytes of all rules, or of all skills, tasks or commands",
        limits::TASK_BYTES as u64,
        "the rest is left out",
        "`tasks/too-many-files`",
    ),
    (
        "directories deep, for tasks, rules and commands",
        limits::TASK_DEPTH as u64,
        "deeper ones are not searched",
        "`tasks/too-deep`",
    ),
    ("bytes of one prompt", limits::PROMPT_BYTES as u64, "there is no prompt, exit 1", "—"),
    (
        "shell commands in one prompt",
        limits::PROMPT_COMMANDS as u64,
        "the rest stays as written",
        "`tasks/command-failed`",
    ),
    (
        "seconds of one shell command in a text",
        limits::COMMAND_SECONDS,
        "it is ended and stays as written",
        "`tasks/command-failed`",
    ),
    (
        "bytes that one shell command writes",
        limits::COMMAND_OUTPUT_BYTES as u64,
        "it is ended and stays as written",
        "`tasks/command-failed`",
    ),
    (
        "seconds of one bootstrap script",
        limits::BOOTSTRAP_SECONDS,
        "it is ended, the rule is used",
        "`tasks/bootstrap-failed`",
    ),
    (
        "bytes of one bootstrap script",
        limits::SCRIPT_BYTES,
        "it does not run, the rule is used",
        "`tasks/bootstrap-failed`",
    ),
    (
        "bytes of one file beside a portable item",
        limits::SUPPORT_FILE_BYTES,
        "the item is not built",
        "`item/unreadable`",
    ),
    ("capabilities of one item", limits::ITEM_CAPABILITIES as u64, "it is refused", "—"),
    (
        "files of one skill for MCP clients",
        limits::SKILL_FILES as u64,
        "it is listed as a file only",
        "—",
    ),
    (
        "bytes of one skill, or of one resource, for MCP clients",
        limits::SKILL_BYTES,
        "it is listed as a file only, or not read",
        "—",
    ),
    (
        "files of guidance of one installed package",
        limits::DEPENDENCY_FILES as u64,
        "the rest is left out, with a remark",
        "`project/dependency-missing`",
    ),
    (
        "names in one directory of installed packages",
        limits::DEPENDENCY_PACKAGES as u64,
        "the rest is not looked at",
        "—",
    ),
    (
        "bytes of one file of a package manager",
        limits::DEPENDENCY_MANIFEST_BYTES,
        "it is not read",
        "—",
    ),
    (
        "commands of an agent",
        limits::AGENT_COMMANDS as u64,
        "the agent does not run",
        "`agent-file/too-many-commands`",
    ),
    (
        "blocks nested in a template",
        limits::TEMPLATE_DEPTH as u64,
        "the agent does not run",
        "`agent-file/template-invalid`",
    ),
    (
        "steps that rendering a template takes",
        limits::TEMPLATE_STEPS as u64,
        "the agent does not run",
        "`agent-file/template-limit`",
    ),
    (
        "bytes of a rendered template",
        limits::TEMPLATE_BYTES as u64,
        "the agent does not run",
        "`agent-file/template-limit`",
    ),
    ("requests of one turn of an agent", limits::AGENT_ROUNDS as u64, "the turn ends, exit 1", "—"),
    ("seconds of one turn of an agent", limits::AGENT_TURN_SECONDS, "the turn ends, exit 1", "—"),
    (
        "bytes that a model writes in one turn",
        limits::AGENT_OUTPUT_BYTES as u64,
        "the turn ends, exit 1",
        "—",
    ),
    (
        "tools that a model calls in one reply",
        limits::AGENT_CALLS as u64,
        "the turn ends, exit 1",
        "—",
    ),
    (
        "bytes of a tool's result",
        limits::AGENT_RESULT_BYTES as u64,
        "the rest is left out, which the model is told",
        "—",
    ),
    (
        "times that one turn makes the same call",
        limits::AGENT_SAME_CALLS as u64,
        "the model is told; when it goes on, the turn ends, exit 1",
        "—",
    ),
    (
        "times that a request to a model is sent",
        limits::AGENT_TRIES as u64,
        "the turn fails, exit 1",
        "—",
    ),
    (
        "seconds that a model's server may ask to wait",
        limits::AGENT_RETRY_SECONDS,
        "the turn fails, exit 1",
        "—",
    ),
    (
        "files of a remote directory",
        limits::REMOTE_FILES as u64,
        "of more, only what could be guidance is read",
        "—",
    ),
    (
        "files of a large remote directory that could be guidance",
        limits::REMOTE_GUIDANCE_FILES as u64,
        "it is not used, exit 1",
        "—",
    ),
    (
        "bytes of one file of a remote directory",
        limits::REMOTE_FILE_BYTES,
        "the file is left out",
        "—",
    ),
    ("bytes of a remote directory", limits::REMOTE_BYTES, "the same", "—"),
    ("seconds of one call of `git`", limits::REMOTE_SECONDS, "it is ended, exit 1", "—"),
    (
        "bytes of the record of exact token counts",
        limits::TOKEN_COUNT_BYTES as u64,
        "the older half is counted again",
        "—",
    ),
    ("bytes of the record of trust", limits::TRUST_BYTES, "no entry is added", "—"),
    ("bytes of the code of an agent's tools", limits::TOOL_CODE_BYTES as u64, REFUSED, "—"),
    ("tools of one agent", limits::TOOLS as u64, REFUSED, "—"),
    ("bytes of memory of an agent's tools", limits::TOOL_MEMORY_BYTES as u64, FAILS, "—"),
    ("bytes of stack of an agent's tools", limits::TOOL_STACK_BYTES as u64, FAILS, "—"),
    ("seconds that a call of a tool computes", limits::TOOL_CPU_SECONDS, FAILS, "—"),
    (
        "seconds of a call of a tool, with all that it asks for",
        limits::TOOL_SECONDS,
        "the call fails, and the tools end",
        "—",
    ),
    ("bytes of the result of a tool, as JSON", limits::TOOL_RESULT_BYTES as u64, FAILS, "—"),
    (
        "bytes that a call of a tool logs",
        limits::TOOL_LOG_BYTES as u64,
        "the rest is left out",
        "—",
    ),
    (
        "bytes of one message between a tool and the program",
        limits::TOOL_MESSAGE_BYTES as u64,
        "the call fails, and the tools end",
        "—",
    ),
    ("questions of one call of a tool", limits::TOOL_REQUESTS as u64, ASKED, "—"),
    ("tools that call each other, deep", limits::TOOL_DEPTH as u64, ASKED, "—"),
    ("names that a tool lists or finds", limits::TOOL_NAMES as u64, ASKED, "—"),
    ("bytes that a tool fetches at once", limits::TOOL_FETCH_BYTES, ASKED, "—"),
    ("seconds that a tool waits for an answer", limits::TOOL_FETCH_SECONDS, ASKED, "—"),
    ("times that an answer leads a tool elsewhere", limits::TOOL_REDIRECTS as u64, ASKED, "—"),
    ("seconds of one call to a browser", limits::BROWSER_SECONDS, ASKED, "—"),
    (
        "seconds that a page loads",
        limits::BROWSER_LOAD_SECONDS,
        "the tool gets the page as it is, with `loaded: false`",
        "—",
    ),
    (
        "open pages of a run",
        limits::BROWSER_PAGES as u64,
        "the tool gets an error, a pop-up is closed",
        "—",
    ),
    ("bytes that all pages of a run load", limits::BROWSER_BYTES, "nothing more is loaded", "—"),
    ("connections of a browser", limits::BROWSER_CONNECTIONS as u64, "the next one waits", "—"),
    (
        "bytes of one message of a browser",
        limits::BROWSER_MESSAGE_BYTES as u64,
        "the browser is ended, the tool gets an error",
        "—",
    ),
    (
        "characters of the text of a page",
        limits::BROWSER_TEXT as u64,
        "the rest is left out, which the last line says",
        "—",
    ),
    ("elements of a tree, links, cells of a table", limits::BROWSER_ELEMENTS as u64, ASKED, "—"),
    ("bytes of one download", limits::BROWSER_FILE_BYTES, ASKED, "—"),
    ("browsers that a run starts", limits::BROWSER_STARTS as u64, ASKED, "—"),
    (
        "bytes of the list of files of a revision (`brief diff`)",
        limits::TREE_LISTING_BYTES as u64,
        "refused",
        "—",
    ),
    (
        "paths that a change of the guidance names (`brief diff`)",
        limits::DIFF_PATHS as u64,
        "the rest is counted",
        "`files_left_out`",
    ),
];

const REFUSED: &str = "the agent does not run";
const FAILS: &str = "the call fails";
const ASKED: &str = "the tool gets an error";

/// Renders the page of limits.
pub(super) fn render_table() -> String {
    let mut page = String::from(
        "# Limits\n\nMade from the program's own numbers by `cargo xtask generate`. A limit that is \
         hit is always reported.\n\n| what | at most | beyond it | code |\n| --- | --- | --- | --- |\n",
    );
    for (what, limit, beyond, code) in LIMITS {
        let _ = writeln!(page, "| {what} | {} | {beyond} | {code} |", group_digits(*limit));
    }
    page.push_str(
        "\nOnly regular files are read: a FIFO, a device or a socket with the name of a guidance \
         file is\nreported and passed by. A hook ends within 250 ms, whatever happens; \
         `BRIEF_HOOK_DEADLINE` sets another limit.\n",
    );
    page
}
