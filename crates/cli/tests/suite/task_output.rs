//! `brief task`: the other forms of a prompt, for programs and for people who ask why.

use std::fs;

use brief_testkit::Sandbox;
use serde_json::json;

use crate::{project_on_disk as project, trusted_project};

/// A project with one of everything that a prompt can have in it or leave out.
fn shop() -> Sandbox {
    trusted_project()
        .with_file(
            ".agents/tasks/fix-bug.md",
            "---\ndescription: Fix one bug\nselectors:\n  languages: go\n---\n# Fix ${issue}\n\n/steps cart\n",
        )
        .with_file(
            ".agents/commands/steps.md",
            "---\ndescription: How we fix\n---\nReproduce it in ${1}: !`printf now`.\n",
        )
        .with_file(
            ".agents/rules/style.md",
            "---
languages: go
mcp_server:
  command: python
  args: [\"-m\", \"server\"]
  port: 5432
  custom_config: {host: localhost, ssl: true}
---
Use tabs.
",
        )
        .with_file(".agents/rules/types.md", "---\nlanguages: python\n---\nUse types.\n")
        .with_file(
            ".agents/skills/sql/SKILL.md",
            "---\nname: sql\ndescription: For queries\n---\nBody.\n",
        )
}

/// Puts `N` for every count of tokens, which are estimates.
fn masked(text: &str) -> String {
    let pieces: Vec<&str> =
        text.split(" tokens").map(|piece| piece.trim_end_matches(char::is_numeric)).collect();
    let text = pieces.join("N tokens");
    let pieces: Vec<&str> = text
        .split("\"tokens\": ")
        .map(|piece| piece.trim_start_matches(char::is_numeric))
        .collect();
    pieces.join("\"tokens\": N")
}

/// `docs/reference/json.md`, `brief task`: every key, in its order.
#[test]
#[expect(clippy::too_many_lines, reason = "the whole object in one snapshot")]
fn json_has_every_key_in_its_order() {
    let output = shop().run(&["task", "fix-bug", "-p", "issue=1", "--json"]);
    assert_eq!((output.stderr.as_str(), output.code), ("", Some(0)), "{output}");
    insta::assert_snapshot!(masked(&output.stdout), @r#"
    {
      "kind": "task",
      "version": 2,
      "root": "$PROJECT",
      "task": {
        "name": "fix-bug",
        "source": {
          "path": ".agents/tasks/fix-bug.md",
          "line": 1
        },
        "scope": "project",
        "agent": null,
        "frontmatter": {
          "description": "Fix one bug",
          "selectors": {
            "languages": "go"
          }
        }
      },
      "items": [
        {
          "format": "tasks",
          "kind": "rule",
          "name": "style",
          "source": {
            "path": ".agents/rules/style.md",
            "line": 1
          },
          "scope": "project",
          "trigger": null,
          "state": "active",
          "reason": "matches languages=go",
          "description": "",
          "content": "Use tabs.\n",
          "tokens": N
        },
        {
          "format": "tasks",
          "kind": "skill",
          "name": "sql",
          "source": {
            "path": ".agents/skills/sql/SKILL.md",
            "line": 1
          },
          "scope": "project",
          "trigger": null,
          "state": "listed",
          "reason": "applies to every task",
          "description": "For queries",
          "content": "",
          "tokens": N
        },
        {
          "format": "tasks",
          "kind": "command",
          "name": "steps",
          "source": {
            "path": ".agents/commands/steps.md",
            "line": 1
          },
          "scope": "project",
          "trigger": null,
          "state": "active",
          "reason": "is called on line 8: /steps cart",
          "description": "How we fix",
          "content": "Reproduce it in cart: now.\n",
          "tokens": N
        }
      ],
      "skipped": [
        {
          "format": "tasks",
          "kind": "rule",
          "name": "types",
          "source": {
            "path": ".agents/rules/types.md",
            "line": 1
          },
          "reason": "requires languages=python, not go"
        }
      ],
      "mcp_servers": {
        "style": {
          "command": "python",
          "args": [
            "-m",
            "server"
          ],
          "port": 5432,
          "custom_config": {
            "host": "localhost",
            "ssl": true
          }
        }
      },
      "ran": [
        {
          "kind": "command",
          "path": ".agents/commands/steps.md",
          "line": 4,
          "text": "printf now",
          "outcome": "ran"
        }
      ],
      "prompt": "---\ndescription: Fix one bug\nselectors:\n  languages: go\n---\nUse tabs.\n\n\n# Skills\n\nYou have access to the following skills. Only their names and descriptions are listed here: when the work at hand calls for one of them, read the file at its location first and follow it.\n\n<available_skills>\n  <skill>\n    <name>sql</name>\n    <description>For queries</description>\n    <location>$PROJECT/.agents/skills/sql/SKILL.md</location>\n  </skill>\n</available_skills>\n\n# Fix 1\n\nReproduce it in cart: now.\n\n",
      "tokens": N,
      "diagnostics": []
    }
    "#);
}

/// "`prompt` is what would be printed", whatever the flags; what there is to say is in the object.
#[test]
fn json_holds_the_prompt_that_would_be_printed() {
    let project = shop();
    for flags in [&[][..], &["--no-frontmatter"], &["-r"], &["--no-exec"], &["-a", "claude"]] {
        let args = [&["task", "fix-bug"], flags].concat();
        let printed = project.run(&args);
        let json = project.run(&[&args[..], &["--json"]].concat());
        assert_eq!(json.stderr, "", "{flags:?}");
        assert_eq!(json.json()["prompt"], json!(printed.stdout), "{flags:?}");
        let diagnostic = &json.json()["diagnostics"][0];
        assert_eq!(
            *diagnostic,
            json!({
                "code": "tasks/missing-parameter",
                "severity": "warning",
                "path": ".agents/tasks/fix-bug.md",
                "line": 6,
                "column": 7,
                "message": "`${issue}` stays as written: no parameter `issue` was given",
                "help": null,
            })
        );
    }
    let agent = project.run(&["task", "fix-bug", "-a", "claude", "--json"]).json();
    assert_eq!(agent["task"]["agent"], "claude");
}

/// "`ran[].outcome`: `ran`, `not run`, `not trusted`, or what went wrong".
#[test]
fn json_says_what_became_of_each_command() {
    let project = trusted_project().with_file(".agents/tasks/t.md", "!`true`\n!`exit 3`\n");
    let outcomes = |flags: &[&str]| {
        let json = project.run(&[&["task", "t", "--json"], flags].concat()).json();
        json["ran"].as_array().unwrap().iter().map(|ran| ran["outcome"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(outcomes(&[]), ["ran", "exited with status 3"]);
    assert_eq!(outcomes(&["--no-exec"]), ["not run", "not run"]);
    let plain = project.run(&["task", "t", "--json"]).json();
    assert_eq!(plain["task"]["frontmatter"], json!(null));
}

/// "`scope`: `project`, `user` (home), or `directory` (`-d`, `-D`, `-m`)."
#[test]
fn json_says_where_a_file_comes_from() {
    let project = project()
        .with_file("app/.agents/tasks/t.md", "T\n")
        .with_file("app/.agents/rules/a.md", "A\n")
        .with_file("one/.agents/rules/b.md", "B\n")
        .with_file("two/.agents/rules/c.md", "C\n")
        .with_file("three/.agents/rules/d.md", "D\n")
        .with_file("list", "three\n");
    fs::create_dir_all(project.home().join(".agents/rules")).unwrap();
    fs::write(project.home().join(".agents/rules/h.md"), "H\n").unwrap();
    let args =
        ["task", "t", "--json", "-C", "app", "-d", "../one", "-D", "../two", "-m", "../list"];
    let json = project.run(&args).json();
    let found: Vec<(&str, &str)> = json["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| (item["name"].as_str().unwrap(), item["scope"].as_str().unwrap()))
        .collect();
    let expected = [
        ("b", "directory"),
        ("a", "project"),
        ("h", "user"),
        ("c", "directory"),
        ("d", "directory"),
    ];
    assert_eq!(found, expected);
}

/// Each file, in or out, and why.
#[test]
fn an_explanation_names_every_file() {
    let output = shop().run(&["task", "fix-bug", "-p", "issue=1", "--explain"]);
    insta::assert_snapshot!(masked(&output.to_string()), @"
    + applies  task fix-bug  .agents/tasks/fix-bug.md, N tokens
               was requested

    + applies  rule style  .agents/rules/style.md, N tokens
               matches languages=go

    ? listed   skill sql  .agents/skills/sql/SKILL.md, N tokens
               applies to every task

    + applies  command steps  .agents/commands/steps.md, N tokens
               is called on line 8: /steps cart

    - skipped  rule types  .agents/rules/types.md
               requires languages=python, not go

    about N tokens in total
    ------- stderr -------
    1 command or script would run; their output is not counted
    [EOF]
    ");
}

/// Everything that can keep a file out has words of its own.
#[test]
fn an_explanation_has_a_reason_for_everything_that_is_out() {
    let project = project()
        .with_file("app/.agents/tasks/t.md", "---\ninclude_unmatched: false\n---\n/c\n")
        .with_file("app/.agents/commands/c.md", "C\n")
        .with_file("app/.agents/rules/a.md", "---\nagent: cursor\n---\n")
        .with_file("app/.agents/rules/b.md", "---\ntask_names: [u, v]\n---\n")
        .with_file("app/.agents/rules/c.md", "For everyone.\n")
        .with_file("app/.agents/skills/s/SKILL.md", "---\nname: s\nstage: x\n---\n")
        .with_file("other/.agents/tasks/t.md", "Other\n")
        .with_file("other/.agents/commands/c.md", "Other\n");
    let args =
        ["task", "t", "-C", "app", "-D", "../other", "-a", "claude", "-s", "stage=x", "--explain"];
    let output = project.run(&args);
    for reason in [
        "- skipped  rule a  .agents/rules/a.md\n           requires agent=cursor, not claude\n",
        "- skipped  rule b  .agents/rules/b.md\n           requires task_name=u, v, not t\n",
        "- skipped  rule c  .agents/rules/c.md\n           matches no selector, and the task \
         includes only what matches\n",
        "- skipped  skill s  .agents/skills/s/SKILL.md\n           skill missing required \
         'description' field\n",
        "- skipped  task t  $PROJECT/other/.agents/tasks/t.md\n           \
         is overridden by $PROJECT/app/.agents/tasks/t.md, which has the same name\n",
        "- skipped  command c  $PROJECT/other/.agents/commands/c.md\n           \
         is overridden by $PROJECT/app/.agents/commands/c.md, which has the same name\n",
    ] {
        assert!(output.stdout.contains(reason), "{reason}\n{output}");
    }
    assert_eq!(output.stdout.matches("- skipped  ").count(), 6, "{output}");
}

/// Ruling T3: MCP servers "all of them, by name, in `--json` and `brief task NAME --mcp-config
/// CLIENT`".
#[test]
fn servers_are_written_for_each_client() {
    let project = shop().with_file(
        ".agents/rules/site.md",
        "---\nmcp_server:\n  type: http\n  url: https://x.test/mcp\n  headers: {X-Key: k}\n  monitoring: true\n---\n",
    );
    let claude = project.run(&["task", "fix-bug", "--mcp-config", "claude"]);
    assert_eq!(
        claude.json(),
        json!({"mcpServers": {
            "site": {"type": "http", "url": "https://x.test/mcp", "headers": {"X-Key": "k"}, "monitoring": true},
            "style": {"command": "python", "args": ["-m", "server"], "port": 5432,
                "custom_config": {"host": "localhost", "ssl": true}},
        }})
    );
    assert!(claude.stderr.contains("write this to .mcp.json\n"), "{claude}");
    let codex = project.run(&["task", "fix-bug", "--mcp-config", "codex"]);
    assert_eq!(
        codex.stdout,
        "[mcp_servers.site]
url = \"https://x.test/mcp\"
http_headers = { X-Key = \"k\" }
monitoring = true

[mcp_servers.style]
command = \"python\"
args = [\"-m\", \"server\"]
port = 5432
custom_config = { host = \"localhost\", ssl = true }
"
    );
    // Document: "All fields are preserved in the configuration."
    let json = project.run(&["task", "fix-bug", "--json"]).json();
    assert_eq!(json["mcp_servers"]["site"]["monitoring"], json!(true));
    assert_eq!(json["mcp_servers"]["style"]["custom_config"]["ssl"], json!(true));
    // A rule that is left out asks for nothing.
    let none = project.run(&["task", "fix-bug", "-r", "--mcp-config", "claude"]);
    assert_eq!(none.json(), json!({"mcpServers": {}}));
}

/// The task's own server is one of them, and comes first.
#[test]
fn the_task_has_a_server_too() {
    let project = project()
        .with_file(
            ".agents/tasks/t.md",
            "---\nmcp_server: {command: npx, env: {LEVEL: 1}}\n---\nT\n",
        )
        .with_file(".agents/rules/r.md", "---\nmcp_server: {args: [x]}\n---\n")
        .with_file(".agents/rules/s.md", "---\nmcp_server: {url: 'https://y.test'}\n---\n");
    let json = project.run(&["task", "t", "--json"]).json();
    assert_eq!(
        json["mcp_servers"],
        json!({
            "t": {"command": "npx", "env": {"LEVEL": 1}},
            "r": {"args": ["x"]},
            "s": {"url": "https://y.test"},
        })
    );
    // A server with neither `command` nor `url` cannot be written for any client.
    let cursor = project.run(&["task", "t", "--mcp-config", "cursor"]).json();
    assert_eq!(
        cursor,
        json!({"mcpServers": {
            "t": {"command": "npx", "args": [], "env": {"LEVEL": "1"}},
            "s": {"url": "https://y.test"},
        }})
    );
}

/// A name, the file, and what it is about: the description, or the first line.
#[test]
fn tasks_are_listed() {
    let project = project()
        .with_file(
            ".agents/tasks/b.md",
            "---\ndescription: |\n  First line\n  second\n---\n# Title\n",
        )
        .with_file(".agents/tasks/deep/a.md", "\n## Do it all\n\nText.\n")
        .with_file(".agents/tasks/empty.md", "")
        .with_file(".agents/tasks/not-a-task.txt", "")
        .with_file(".agents/namespaces/web/tasks/a.md", "Web.\n")
        .with_file(".cursor/commands/c.md", "C\u{1b}[31m\n");
    fs::create_dir_all(project.home().join(".agents/tasks")).unwrap();
    fs::write(project.home().join(".agents/tasks/z.md"), "Mine.\n").unwrap();
    let home = project.home().display().to_string();
    insta::assert_snapshot!(project.run(&["task", "list"]).to_string().replace(&home, "$HOME"), @r"
    a  .agents/tasks/deep/a.md
      Do it all
    b  .agents/tasks/b.md
      First line
    c  .cursor/commands/c.md
      C\u{1b}[31m
    empty  .agents/tasks/empty.md
    web/a  .agents/namespaces/web/tasks/a.md
      Web.
    z  $HOME/.agents/tasks/z.md
      Mine.
    [EOF]
    ");
    let json = project.run(&["task", "list", "--json"]);
    insta::assert_snapshot!(json.stdout.lines().take(13).collect::<Vec<_>>().join("\n"), @r#"
    {
      "kind": "task list",
      "version": 2,
      "root": "$PROJECT",
      "tasks": [
        {
          "name": "a",
          "description": "",
          "path": ".agents/tasks/deep/a.md",
          "scope": "project"
        },
        {
          "name": "b",
    "#);
    assert_eq!(json.json()["tasks"][4]["name"], "web/a");
    assert_eq!(json.json()["tasks"][5]["scope"], "user");
}

#[test]
fn an_empty_project_has_no_tasks() {
    insta::assert_snapshot!(project().run(&["task", "list"]), @"
    ------- stderr -------
    no tasks here; a task is a file `.agents/tasks/NAME.md`
    [EOF]
    ");
    assert_eq!(project().run(&["task", "list", "--json"]).json()["tasks"], json!([]));
}

/// Two rules of one name both keep their server, and a list shows the task that would run.
#[test]
fn names_that_are_there_twice_lose_nothing() {
    let project = project()
        .with_file(".agents/tasks/t.md", "---\ndescription: ours\n---\nx\n")
        .with_file(".agents/rules/a/db.md", "---\nmcp_server: {command: one}\n---\n")
        .with_file(".agents/rules/b/db.md", "---\nmcp_server: {command: two}\n---\n");
    let home = project.home().join(".agents/tasks");
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(home.join("t.md"), "---\ndescription: hidden\n---\nx\n").unwrap();
    let servers = project.run(&["task", "t", "--json"]).json()["mcp_servers"].clone();
    assert_eq!(servers.to_string(), r#"{"db":{"command":"one"},"db-2":{"command":"two"}}"#);
    let list = project.run(&["task", "list"]).stdout;
    assert!(list.contains("ours") && !list.contains("hidden"), "{list}");
}
