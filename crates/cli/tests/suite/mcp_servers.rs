//! `brief mcp servers`

use brief_testkit::Sandbox;
use serde_json::json;

use crate::project;

/// A project with a server of each kind, one of them switched off nearer to the work.
fn servers() -> Sandbox {
    project()
        .with_file(
            ".context/context-config.json",
            r#"{
  "mcpServers": {
    "files": {"command": "mcp-files", "args": ["--root", "."], "env": {"LEVEL": "1"}},
    "site": {"url": "https://x.test/mcp", "headers": {"X-Key": "k"}},
    "broken": {"args": []}
  }
}
"#,
        )
        .with_file(
            "src/.context/context-config.json",
            r#"{"mcpServers": {"site": {"disabled": true}}}"#,
        )
        .with_dir(".git")
}

/// Nothing is started; each server shows where it is declared.
#[test]
fn servers_are_listed_with_their_place() {
    insta::assert_snapshot!(servers().run(&["mcp", "servers"]), @r"
    files  .context/context-config.json:3
      mcp-files --root .
    site  .context/context-config.json:4
      https://x.test/mcp
    ------- stderr -------
    servers not started; pass `--check` to start them and list their tools
    warning[context-dir/mcp-invalid-server]: .context/context-config.json:5:5: server `broken` is ignored: has neither `command` nor `url`
    [EOF]
    ");
}

/// H66, X23: the nearest configuration decides, also when it only switches off.
#[test]
fn the_nearest_configuration_decides() {
    let json = servers().run(&["mcp", "servers", "src/a.ts", "--json"]).json();
    let json = &json["mcp_servers"];
    assert_eq!(json["site"]["disabled"], true);
    assert_eq!(
        json["files"],
        json!({"command": "mcp-files", "type": null, "args": ["--root", "."], "env": {"LEVEL": "1"}, "disabled": false})
    );
}

/// Each client's own file, and what it cannot say.
#[test]
fn each_client_gets_its_own_shape() {
    let project = servers();
    let claude = project.run(&["mcp", "servers", "src/a.ts", "--for", "claude"]);
    assert_eq!(
        claude.json(),
        json!({"mcpServers": {"files": {"command": "mcp-files", "args": ["--root", "."], "env": {"LEVEL": "1"}}}})
    );
    assert!(claude.stderr.contains("skipped `site`: is disabled"), "{claude}");
    for client in ["claude", "copilot", "cursor", "gemini", "opencode"] {
        let output = project.run(&["mcp", "servers", "--for", client]);
        assert!(output.json().is_object(), "{client}");
        assert_eq!(output.code, Some(0), "{client}");
    }
    let codex = project.run(&["mcp", "servers", "--for", "codex"]);
    assert!(codex.stdout.starts_with("[mcp_servers.files]\ncommand = \"mcp-files\"\n"), "{codex}");
    assert_eq!(project.run(&["mcp", "servers", "--for", "nobody"]).code, Some(2));
}

/// Without any, a word on the side and no data.
#[test]
fn no_servers_are_no_error() {
    let output = project().run(&["mcp", "servers"]);
    assert_eq!((output.stdout.as_str(), output.code), ("", Some(0)));
    assert_eq!(project().run(&["mcp", "servers", "--json"]).json()["mcp_servers"], json!({}));
}

/// `brief schema hosted` is JSON, and says of each field what the program takes.
#[test]
fn the_schema_names_every_field() {
    let schema = project().run(&["schema", "context-config"]).json();
    let fields = schema["properties"]["clientContext"]["properties"].as_object().unwrap();
    let names: Vec<_> = fields.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        ["includeFiles", "excludeFiles", "ignoreGlobalContext", "ignoreAncestorContext"]
    );
    // Every field of the schema is one that the program knows: none of them is reported.
    let all = r#"{"clientContext": {"includeFiles": ["*"], "excludeFiles": [], "ignoreGlobalContext": false,
        "ignoreAncestorContext": false}, "mcpServers": {"a": {"command": "c", "type": "stdio", "args": [], "env": {}, "disabled": false},
        "b": {"url": "https://x.test", "type": "http", "headers": {}, "disabled": true}, "c": {"disabled": true}}}"#;
    let project = project().with_file(".context/context-config.json", all);
    let output = project.run(&["lint"]);
    assert_eq!(output.stdout, "", "{output}");
}

/// U08: servers in the files of clients are sources, too, each named with its place. Values that may be
/// secrets are not shown.
#[test]
fn servers_of_clients_are_listed() {
    let project = project()
        .with_file(
            ".mcp.json",
            "{\n  \"mcpServers\": {\n    \"files\": {\"command\": \"npx\", \"args\": [\"files\"], \"env\": {\"KEY\": \"secret\"}}\n  }\n}\n",
        )
        .with_file(".cursor/mcp.json", "{\"mcpServers\": {\"site\": {\"url\": \"https://x.test\"}}}")
        .with_file(".vscode/mcp.json", "not JSON")
        .with_file(
            "opencode.json",
            "{\"mcp\": {\"off\": {\"type\": \"local\", \"command\": [\"a\", \"b\"], \"enabled\": false}}}",
        )
        .with_dir("src");
    insta::assert_snapshot!(project.run(&["mcp", "servers"]), @r"
    files  .mcp.json:3, for claude
      npx files
    site  .cursor/mcp.json:1, for cursor
      https://x.test
    off  opencode.json:1, for opencode, disabled
      a b
    ------- stderr -------
    warning: cannot read .vscode/mcp.json: is not JSON: Unexpected word on line 1 column 1
    servers not started; pass `--check` to start them and list their tools
    [EOF]
    ");
    std::fs::create_dir_all(project.home().join(".codex")).unwrap();
    let own = "model = \"x\"\n\n[mcp_servers.mine]\nurl = \"https://y.test\"\n";
    std::fs::write(project.home().join(".codex/config.toml"), own).unwrap();
    let json = project.run(&["mcp", "servers", "--json"]).json();
    assert_eq!(
        json["client_servers"][3],
        json!({"client": "codex", "name": "mine", "path": "~/.codex/config.toml", "line": 3,
            "command": null, "args": [], "url": "https://y.test", "disabled": false})
    );
    assert_eq!(
        json["client_servers"][0],
        json!({"client": "claude", "name": "files", "path": ".mcp.json", "line": 3,
            "command": "npx", "args": ["files"], "url": null, "disabled": false})
    );
}
