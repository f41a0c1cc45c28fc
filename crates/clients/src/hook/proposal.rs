//! The changes that a tool call makes, with their texts.
//!
//! A payload can carry a whole file, and most calls are never asked about their text. So the event is read without it, and
//! the payload once more where a check is about texts, commands or the files of a command.

use std::path::{Path, PathBuf};

use brief_profiles::HookProfile;
use serde_json::{Map, Value};

use super::ToolEvent;
use super::patch::parse_patch;
use super::shell::collect_shell_touches;

/// The keys of a tool's input, by meaning. Each client has its own names, and no two of them mean different things.
const INPUTS: [&str; 5] = ["tool_input", "toolArgs", "input", "tool_call", "tool_result"];
const CONTENTS: [&str; 4] = ["content", "file_text", "contents", "new_source"];
const OLD: [&str; 5] = ["old_string", "old_str", "oldString", "old_text", "oldText"];
const NEW: [&str; 5] = ["new_string", "new_str", "newString", "new_text", "newText"];
const EVERY: [&str; 2] = ["replace_all", "replaceAll"];
const PATCHES: [&str; 5] = ["command", "input", "patch", "patchText", "patch_text"];
const COMMANDS: [&str; 2] = ["command", "cmd"];
const SKILLS: [&str; 3] = ["skill", "name", "skill_name"];

/// The tools that load a skill. They are the same in all clients that have one.
const SKILL_TOOLS: [&str; 4] = ["Skill", "skill", "activate_skill", "use_skill"];

/// The keys of a tool's response, and of the exit status in it.
const RESPONSES: [&str; 3] = ["tool_response", "toolResult", "tool_result"];
const STATUSES: [&str; 5] = ["exit_code", "exitCode", "exit", "metadata", "output"];

/// The limit for the files of one call.
const MOST_CHANGES: usize = 256;

/// The changes of one tool call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Proposal {
    pub changes: Vec<ProposedChange>,
    /// The command lines that it runs.
    pub commands: Vec<String>,
    /// The files that the commands plainly write or remove.
    pub written: Vec<PathBuf>,
    /// The skill that it loads.
    pub skill: Option<String>,
    /// The files that a command has changed, as the client reports them after the call.
    pub changed: Vec<ReportedChange>,
    /// True if the response has an exit status other than 0.
    pub has_failed: bool,
}

/// A change that a client reports after a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportedChange {
    pub path: PathBuf,
    /// The added lines with the number of the first one; `None` where the client does not show them.
    pub added: Option<Vec<(usize, String)>>,
}

/// A change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposedChange {
    /// The path as the client gave it.
    pub path: PathBuf,
    pub kind: ProposalKind,
    /// The replaced texts of an edit; of a new or rewritten file one without an old text. Empty where the texts are not known.
    pub edits: Vec<TextEdit>,
}

/// The kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProposalKind {
    /// A file that may exist gets the whole text.
    Write,
    Create,
    Edit,
    Delete,
}

/// A replaced text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TextEdit {
    pub old: String,
    pub new: String,
    /// True if it is replaced wherever it is.
    pub is_everywhere: bool,
}

impl TextEdit {
    /// Returns the edit that writes a whole text.
    pub fn whole(text: impl Into<String>) -> TextEdit {
        TextEdit { new: text.into(), ..TextEdit::default() }
    }
}

/// Reads what a tool call changes. A payload in an unexpected form proposes nothing.
pub fn read_proposal(json: &[u8], hook: &HookProfile, event: &ToolEvent) -> Proposal {
    let Ok(Value::Object(payload)) = serde_json::from_slice(json) else {
        return Proposal::default();
    };
    let given = INPUTS.iter().find_map(|key| payload.get(*key));
    let given = given.map_or(Value::Null, unwrap_input);
    let fields = given.as_object();
    let mut proposal = Proposal::default();
    let tool = event.name.as_str();
    let tools = &hook.tools;
    if tools.shell.contains_text(tool) {
        let response = RESPONSES.iter().find_map(|key| payload.get(*key)).unwrap_or(&Value::Null);
        proposal.has_failed = find_status(response, 0).is_some_and(|status| status != 0);
        proposal.changed = collect_reported(response);
        proposal.commands = collect_commands(fields);
        let touches = proposal.commands.iter().flat_map(|line| collect_shell_touches(line));
        proposal.written = touches
            .filter(|touch| touch.how.is_change())
            .map(|touch| touch.path)
            .take(MOST_CHANGES)
            .collect();
    } else if tools.patch.contains_text(tool) || tool == super::call::PATCH_TOOL {
        let text = match &given {
            Value::String(text) => Some(text.as_str()),
            _ => find_text(fields, &PATCHES),
        };
        proposal.changes = text.map(parse_patch).unwrap_or_default();
    } else if SKILL_TOOLS.contains(&tool) {
        proposal.skill = find_text(fields, &SKILLS).map(str::to_owned);
    } else if !event.only_reads {
        proposal.changes = collect_file_changes(fields, hook, tool);
    }
    proposal.changes.truncate(MOST_CHANGES);
    proposal
}

/// Returns the input of a tool: an object, an object as a text, or the object in a call.
fn unwrap_input(value: &Value) -> Value {
    match value {
        Value::String(text) => serde_json::from_str(text)
            .ok()
            .filter(Value::is_object)
            .unwrap_or_else(|| value.clone()),
        Value::Object(fields) => match fields.get("input").or_else(|| fields.get("arguments")) {
            Some(inner @ Value::Object(_)) => inner.clone(),
            _ => value.clone(),
        },
        _ => value.clone(),
    }
}

/// Returns the exit status in a response, if it has one.
fn find_status(response: &Value, depth: usize) -> Option<i64> {
    match response {
        Value::Number(status) if depth > 0 => status.as_i64(),
        Value::Object(fields) if depth < 3 => {
            STATUSES.iter().find_map(|key| find_status(fields.get(*key)?, depth + 1))
        }
        _ => None,
    }
}

/// Returns the changes that a client reports with the result of a command.
fn collect_reported(response: &Value) -> Vec<ReportedChange> {
    let Some(report) = response.get("bashEditDiff") else { return Vec::new() };
    let list = |key: &str| report.get(key).and_then(Value::as_array).into_iter().flatten();
    let paths = list("changedFiles").filter_map(Value::as_str).take(MOST_CHANGES);
    let mut found: Vec<ReportedChange> =
        paths.map(|path| ReportedChange { path: path.into(), added: None }).collect();
    for file in list("files").take(MOST_CHANGES) {
        let Some(path) = file.get("filePath").and_then(Value::as_str).map(Path::new) else {
            continue;
        };
        let hunks = file.get("hunks").and_then(Value::as_array);
        let added = hunks.map(|hunks| hunks.iter().flat_map(added_runs_of_hunk).collect());
        match found.iter_mut().find(|change| change.path == path) {
            Some(change) => change.added = added,
            None => found.push(ReportedChange { path: path.to_owned(), added }),
        }
    }
    found
}

/// Returns the runs of added lines of a hunk, each with the number of its first line.
fn added_runs_of_hunk(hunk: &Value) -> Vec<(usize, String)> {
    let start = hunk.get("newStart").and_then(Value::as_u64).and_then(|line| line.try_into().ok());
    let mut number: usize = start.unwrap_or(1);
    let mut runs: Vec<(usize, String)> = Vec::new();
    let mut is_run = false;
    for line in hunk.get("lines").and_then(Value::as_array).into_iter().flatten() {
        let Some(line) = line.as_str() else { continue };
        let Some(mark) = line.chars().next() else { continue };
        match mark {
            '+' => {
                match runs.last_mut().filter(|_| is_run) {
                    Some((_, text)) => {
                        text.push('\n');
                        text.push_str(&line[1..]);
                    }
                    None => runs.push((number, line[1..].to_owned())),
                }
                number = number.saturating_add(1);
            }
            '-' | '\\' => {}
            _ => number = number.saturating_add(1),
        }
        is_run = mark == '+';
    }
    runs
}

fn find_text<'v>(fields: Option<&'v Map<String, Value>>, keys: &[&str]) -> Option<&'v str> {
    keys.iter().find_map(|key| fields?.get(*key)?.as_str())
}

fn collect_commands(fields: Option<&Map<String, Value>>) -> Vec<String> {
    let one = find_text(fields, &COMMANDS).map(str::to_owned);
    let listed = fields.and_then(|fields| fields.get("commands")?.as_array());
    let listed = listed.into_iter().flatten().filter_map(|line| match line {
        Value::String(line) => Some(line.clone()),
        other => find_text(other.as_object(), &COMMANDS).map(str::to_owned),
    });
    one.into_iter().chain(listed).collect()
}

/// Returns the change of a tool that names one file.
fn collect_file_changes(
    fields: Option<&Map<String, Value>>,
    hook: &HookProfile,
    tool: &str,
) -> Vec<ProposedChange> {
    let Some(fields) = fields else { return Vec::new() };
    let path = hook.paths.iter().find_map(|key| fields.get(&**key)?.as_str());
    let Some(path) = path.filter(|path| !path.is_empty()) else { return Vec::new() };
    let listed = fields.get("edits").and_then(Value::as_array);
    let mut edits: Vec<TextEdit> = Vec::new();
    for one in listed.into_iter().flatten().filter_map(Value::as_object) {
        edits.extend(read_edit(one));
    }
    if edits.is_empty() {
        edits.extend(read_edit(fields));
    }
    let whole = find_text(Some(fields), &CONTENTS);
    let tools = &hook.tools;
    let is_known = tools.changing_names().any(|name| **name == *tool);
    if edits.is_empty() {
        edits.extend(whole.map(TextEdit::whole));
    }
    // A tool that no fact is about changes a file if it brings a text.
    if !is_known && edits.is_empty() {
        return Vec::new();
    }
    let has_old = edits.iter().any(|edit| !edit.old.is_empty());
    let kind = if has_old {
        ProposalKind::Edit
    } else if tools.create.contains_text(tool) {
        ProposalKind::Create
    } else if tools.edit.contains_text(tool) {
        ProposalKind::Edit
    } else {
        ProposalKind::Write
    };
    vec![ProposedChange { path: PathBuf::from(path), kind, edits }]
}

/// Returns the replaced text of an edit; `None` without a new text.
fn read_edit(fields: &Map<String, Value>) -> Option<TextEdit> {
    let new = find_text(Some(fields), &NEW)?;
    let old = find_text(Some(fields), &OLD).unwrap_or_default();
    let is_everywhere =
        EVERY.iter().any(|key| fields.get(*key).and_then(Value::as_bool) == Some(true));
    Some(TextEdit { old: old.to_owned(), new: new.to_owned(), is_everywhere })
}

#[cfg(test)]
mod tests {
    use brief_dialects::Timing;
    use brief_profiles::BUILTIN;
    use serde_json::json;

    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "calls read better with `json!` in place")]
    fn read(client: &str, tool: &str, input: Value) -> Proposal {
        let hook = BUILTIN.find_client(client).unwrap().hook.as_ref().unwrap();
        let event = ToolEvent {
            time: Timing::Before,
            name: tool.to_owned(),
            only_reads: hook.tools.read.contains_text(tool),
            has_failed: false,
        };
        let payload = json!({ "tool_name": tool, "tool_input": input });
        read_proposal(payload.to_string().as_bytes(), hook, &event)
    }

    fn shown(proposal: &Proposal) -> Vec<String> {
        let edit = |edit: &TextEdit| format!("-{:?} +{:?}", edit.old, edit.new);
        let changes = proposal.changes.iter().map(|change| {
            let edits: Vec<String> = change.edits.iter().map(edit).collect();
            format!("{:?} {} {}", change.kind, change.path.display(), edits.join(" "))
        });
        changes.map(|change| change.trim_end().to_owned()).collect()
    }

    /// The texts of each client's own tools, as its payloads have them.
    #[test]
    fn texts_are_found_in_the_words_of_each_client() {
        for (client, tool, input, expected) in [
            ("claude", "Write", json!({"file_path": "a", "content": "x"}), "Write a -\"\" +\"x\""),
            (
                "claude",
                "Edit",
                json!({"file_path": "a", "old_string": "x", "new_string": "y", "replace_all": true}),
                "Edit a -\"x\" +\"y\"",
            ),
            (
                "claude",
                "MultiEdit",
                json!({"file_path": "a", "edits": [{"old_string": "x", "new_string": "y"}, {"old_string": "", "new_string": "z"}]}),
                "Edit a -\"x\" +\"y\" -\"\" +\"z\"",
            ),
            (
                "claude",
                "NotebookEdit",
                json!({"notebook_path": "a.ipynb", "new_source": "x"}),
                "Edit a.ipynb -\"\" +\"x\"",
            ),
            ("droid", "Create", json!({"file_path": "a", "content": "x"}), "Create a -\"\" +\"x\""),
            (
                "droid",
                "Edit",
                json!({"file_path": "a", "old_str": "x", "new_str": "y"}),
                "Edit a -\"x\" +\"y\"",
            ),
            ("copilot", "create", json!({"path": "a", "file_text": "x"}), "Create a -\"\" +\"x\""),
            (
                "copilot",
                "edit",
                json!({"path": "a", "old_str": "x", "new_str": "y"}),
                "Edit a -\"x\" +\"y\"",
            ),
            (
                "opencode",
                "edit",
                json!({"filePath": "a", "oldString": "x", "newString": "y"}),
                "Edit a -\"x\" +\"y\"",
            ),
            (
                "pi",
                "edit",
                json!({"path": "a", "edits": [{"oldText": "x", "newText": "y"}]}),
                "Edit a -\"x\" +\"y\"",
            ),
            ("cline", "editor", json!({"path": "a", "new_text": "x"}), "Write a -\"\" +\"x\""),
            (
                "cline",
                "editor",
                json!({"path": "a", "old_text": "x", "new_text": "y"}),
                "Edit a -\"x\" +\"y\"",
            ),
            (
                "gemini",
                "replace",
                json!({"file_path": "a", "old_string": "x", "new_string": "y"}),
                "Edit a -\"x\" +\"y\"",
            ),
            // A tool of an MCP server, which no fact is about.
            (
                "claude",
                "mcp__files__write",
                json!({"file_path": "a", "content": "x"}),
                "Write a -\"\" +\"x\"",
            ),
        ] {
            assert_eq!(shown(&read(client, tool, input)), [expected], "{client} {tool}");
        }
        assert_eq!(shown(&read("claude", "Read", json!({"file_path": "a"}))), [""; 0]);
        assert_eq!(shown(&read("claude", "mcp__files__stat", json!({"file_path": "a"}))), [""; 0]);
        let skill = read("claude", "Skill", json!({"skill": "release"}));
        assert_eq!(skill.skill.as_deref(), Some("release"));
    }

    #[test]
    fn a_patch_has_the_texts_of_each_hunk() {
        let patch = "*** Begin Patch\n*** Add File: new.py\n+x\n+y\n*** Update File: a.py\n@@ def f\n z\n-old\n+new\n@@\n+more\n\
                     *** Update File: from.py\n*** Move to: to.py\n@@\n-p\n+q\n*** Delete File: gone.py\n*** End Patch";
        let expected = [
            "Create new.py -\"\" +\"x\\ny\\n\"",
            "Edit a.py -\"z\\nold\\n\" +\"z\\nnew\\n\" -\"\" +\"more\\n\"",
            "Delete from.py",
            "Create to.py -\"p\\n\" +\"q\\n\"",
            "Delete gone.py",
        ];
        assert_eq!(shown(&read("codex", "apply_patch", json!({"command": patch}))), expected);
    }

    #[test]
    fn a_command_shows_the_files_that_it_plainly_writes() {
        for (line, expected) in [
            ("cat > f <<'E'\nx\nE", &["f"][..]),
            ("sed -i s/a/b/ f", &["f"]),
            ("rm -rf f", &["f"]),
            ("git mv a b", &["a", "b"]),
            ("cat f", &[]),
        ] {
            let found = read("claude", "Bash", json!({"command": line}));
            let written: Vec<&Path> = found.written.iter().map(PathBuf::as_path).collect();
            assert_eq!(written, expected.iter().map(Path::new).collect::<Vec<_>>(), "{line}");
            assert_eq!(found.commands, [line]);
        }
        let listed = read("cline", "run_commands", json!({"commands": ["rm a", {"command": "b"}]}));
        assert_eq!(listed.commands, ["rm a", "b"]);
    }

    /// The payload of Cline 3.0.65 after a call has the input beside the output, run on 2026-11-17.
    #[test]
    fn an_input_may_be_in_the_result() {
        let hook = BUILTIN.find_client("cline").unwrap().hook.as_ref().unwrap();
        let event = ToolEvent {
            time: Timing::After,
            name: "editor".to_owned(),
            only_reads: false,
            has_failed: false,
        };
        let input = json!({"path": "a", "old_text": "x", "new_text": "y"});
        let payload = json!({"tool_result": {"id": "c", "name": "editor", "input": input, "output": {"success": true}}});
        let found = read_proposal(payload.to_string().as_bytes(), hook, &event);
        assert_eq!(shown(&found), ["Edit a -\"x\" +\"y\""]);
    }

    /// The payload of Claude Code 2.1.325 after a here-document that wrote a file, run on 2026-11-20.
    #[test]
    fn a_client_reports_what_a_command_changed() {
        let hook = BUILTIN.find_client("claude").unwrap().hook.as_ref().unwrap();
        let event = ToolEvent {
            time: Timing::After,
            name: "Bash".to_owned(),
            only_reads: false,
            has_failed: false,
        };
        let payload = json!({
            "tool_input": {"command": "python3 x.py"},
            "tool_response": {"stdout": "", "bashEditDiff": {
                "files": [{"filePath": "/p/a.py", "hunks": [
                    {"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 4,
                     "lines": [" x = 1", "+a", "+b", "-c", " y = 2", "+z = 9"]}]}],
                "moreFiles": 1, "changedFiles": ["/p/a.py", "/p/b.py"]}},
        });
        let found = read_proposal(payload.to_string().as_bytes(), hook, &event);
        let added = vec![(2, "a\nb".to_owned()), (5, "z = 9".to_owned())];
        assert_eq!(
            found.changed,
            [
                ReportedChange { path: "/p/a.py".into(), added: Some(added) },
                ReportedChange { path: "/p/b.py".into(), added: None },
            ]
        );
        for (response, has_failed) in [
            (json!({"exit_code": 1}), true),
            (json!({"metadata": {"exit": 2}}), true),
            (json!({"exitCode": 0}), false),
            (json!({"stdout": "exit 1"}), false),
            (json!("exit 1"), false),
        ] {
            let payload = json!({"tool_input": {"command": "x"}, "tool_response": response});
            let found = read_proposal(payload.to_string().as_bytes(), hook, &event);
            assert_eq!(found.has_failed, has_failed, "{payload}");
        }
    }

    #[test]
    fn any_payload_is_read() {
        let hook = BUILTIN.find_client("claude").unwrap().hook.as_ref().unwrap();
        arbtest::arbtest(|bytes| {
            let (name, text): (String, String) = (bytes.arbitrary()?, bytes.arbitrary()?);
            let event =
                ToolEvent { time: Timing::Before, name, only_reads: false, has_failed: false };
            read_proposal(text.as_bytes(), hook, &event);
            let payload = json!({"tool_input": {"file_path": text, "edits": [text, {"new_string": 1}], "command": text}});
            read_proposal(payload.to_string().as_bytes(), hook, &event);
            Ok(())
        });
    }
}
