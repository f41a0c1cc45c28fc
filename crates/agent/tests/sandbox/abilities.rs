//! Files, programs, variables, servers and other tools: granted and refused requests.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use brief_agent::sandbox::Limits;
use brief_agent::{AbilityAudit, CallError, Grants, Host, McpAccess, ToolBox};
use brief_testkit::RealSystem;
use serde_json::{Value, json};

use super::{Lines, load_with, short, tool, tools, worker};

struct Project {
    directory: tempfile::TempDir,
    lines: Lines,
}

impl Project {
    fn new(files: &[(&str, &str)]) -> Project {
        let project = Project { directory: tempfile::tempdir().unwrap(), lines: Lines::default() };
        for (path, text) in files {
            let path = project.path(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        project
    }

    fn path(&self, path: &str) -> std::path::PathBuf {
        self.directory.path().join("root").join(path)
    }

    fn read(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.path(path)).ok()
    }

    fn host(&self, grants: &[&str]) -> Host {
        let mut system = RealSystem::new("/");
        system.own_program = Some(env!("CARGO_BIN_EXE_test-js-worker").into());
        system.env.insert("KEY".to_owned(), "s3cret-value".to_owned());
        system.env.insert("OTHER".to_owned(), "other-value".to_owned());
        std::fs::create_dir_all(self.path("")).unwrap();
        Host::new(Arc::new(system), Grants::new(grants.iter().copied(), []).unwrap())
            .with_root(&self.path(""))
            .unwrap()
            .with_env(["KEY".to_owned(), "UNSET".to_owned()])
            .with_audit(AbilityAudit::to_memory(self.lines.0.clone()))
    }

    fn tools(&self, grants: &[&str], code: &str) -> ToolBox {
        let limits = Limits { cpu: Duration::from_secs(2), ..short() };
        load_with(code, limits, self.host(grants)).unwrap()
    }

    /// Evaluates an expression that may use `host`.
    fn ask(&self, grants: &[&str], expression: &str) -> Result<Value, CallError> {
        let function = format!("async (args, ctx, host) => ({expression})");
        self.tools(grants, &tool(&function)).call_tool("t", &json!({}), &json!({}))
    }

    fn error(&self, grants: &[&str], expression: &str) -> String {
        self.ask(grants, expression).expect_err(expression).to_string()
    }
}

#[test]
fn files_are_read_written_listed_and_found() {
    let project = Project::new(&[("a.txt", "ä"), ("src/b.rs", "b"), ("src/deep/c.rs", "c")]);
    let ask = |expression: &str| project.ask(&["fs"], expression).unwrap();
    assert_eq!(ask("await host.fs.readText('./src//b.rs')"), json!("b"));
    assert_eq!(ask("await host.fs.writeText('new/dir/d.txt', 'd')"), json!(null));
    assert_eq!(project.read("new/dir/d.txt").unwrap(), "d");
    assert_eq!(
        ask("await host.fs.list('src')"),
        json!([{"name": "b.rs", "kind": "file"}, {"name": "deep", "kind": "directory"}])
    );
    assert_eq!(ask("(await host.fs.list()).map(e => e.name)"), json!(["a.txt", "new", "src"]));
    assert_eq!(ask("await host.fs.glob('**/*.rs')"), json!(["src/b.rs", "src/deep/c.rs"]));
    assert_eq!(ask("await host.fs.stat('a.txt')"), json!({"kind": "file", "size": 2}));
    assert_eq!(ask("await host.fs.stat('no/such')"), json!(null));
    let missing = project.error(&["fs"], "await host.fs.readText('no.txt')");
    assert!(missing.starts_with("`no.txt`: no such file"), "{missing}");
}

/// Paths out of the project, and to secrets or files that run later, are refused.
#[test]
fn paths_stay_in_the_project() {
    let project = Project::new(&[
        (".env", "TOKEN=1"),
        ("keys/server.KEY", "k"),
        (".git/config", "[core]"),
        ("x/a.txt", "a"),
    ]);
    let outside = project.directory.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("secret.txt"), "secret").unwrap();
    symlink(&outside, project.path("link")).unwrap();
    symlink(outside.join("secret.txt"), project.path("file-link")).unwrap();
    symlink(project.path("x"), project.path("inner-link")).unwrap();
    for (expression, part) in [
        ("await host.fs.readText('../outside/secret.txt')", "is outside the project"),
        ("await host.fs.readText('x/../../outside/secret.txt')", "is outside the project"),
        ("await host.fs.readText('/etc/passwd')", "must be relative"),
        ("await host.fs.readText('file:///etc/passwd')", "must be relative"),
        ("await host.fs.readText('link/secret.txt')", "link"),
        ("await host.fs.readText('file-link')", "is a link"),
        ("await host.fs.readText('inner-link/a.txt')", "link"),
        ("await host.fs.list('link')", "link"),
        ("await host.fs.writeText('link/new.txt', 'x')", "link"),
        (
            "await host.fs.writeText('file-link', 'x')",
            "not replaced: `file-link` is a symbolic link",
        ),
        ("await host.fs.readText('.env')", "may hold secrets (`.env`)"),
        ("await host.fs.stat('.ENV')", "may hold secrets"),
        ("await host.fs.writeText('.env.local', '')", "may hold secrets"),
        ("await host.fs.readText('keys/server.KEY')", "may hold secrets"),
        ("await host.fs.readText('.git/config')", "is inside `.git`"),
        ("await host.fs.writeText('.git/hooks/pre-commit', '#!/bin/sh')", "is inside `.git`"),
        ("await host.fs.writeText('.GIT/config', '')", "is inside `.git`"),
        ("await host.fs.writeText('x/.git./config', '')", "is inside `.git`"),
        ("await host.fs.writeText('', '')", "does not name a file"),
        ("await host.fs.writeText('big', 'x'.repeat(1048577))", "larger than 1048576 bytes"),
        ("await host.fs.readText(1)", "argument 1 must name a file"),
        ("await host.fs.readText('x\\0')", "must be relative"),
        ("await host.fs.glob('[')", "is not a valid pattern"),
    ] {
        let error = project.error(&["fs"], expression);
        assert!(error.contains(part), "{expression}: {error}");
    }
    let names = project.ask(&["fs"], "(await host.fs.list()).map(e => e.name)").unwrap();
    assert_eq!(names, json!(["file-link", "inner-link", "keys", "link", "x"]));
    assert_eq!(project.ask(&["fs"], "await host.fs.glob('**')").unwrap(), json!(["x/a.txt"]));
    assert_eq!(std::fs::read_to_string(outside.join("secret.txt")).unwrap(), "secret");
    assert!(!outside.join("new.txt").exists());
}

/// Only granted abilities work; each refusal includes advice.
#[test]
fn nothing_is_there_without_a_grant() {
    let project = Project::new(&[("a.txt", "a")]);
    for (ability, expression) in [
        ("fs", "await host.fs.readText('a.txt')"),
        ("fs", "await host.fs.glob('*')"),
        ("network", "await host.fetch('https://example.com')"),
        ("sh:git", "await host.exec('git', ['status'])"),
        ("env", "host.env('KEY')"),
        ("mcp", "await host.mcp.call('s', 't', {})"),
        ("tool", "await host.tool('t', {})"),
        ("browser", "await host.browser.open('https://example.com')"),
    ] {
        let error = project.error(&[], expression);
        let expected = format!("AbilityDenied: ability '{ability}' is not granted (");
        assert!(error.starts_with(&expected), "{error}");
        assert!(error.contains(&format!("`--grant {ability}`")), "{error}");
    }
    let caught =
        "await host.fs.readText('a.txt').catch(error => [error.name, error instanceof Error])";
    assert_eq!(project.ask(&[], caught).unwrap(), json!(["AbilityDenied", true]));
}

#[test]
fn variables_are_those_that_the_agent_requires() {
    let project = Project::new(&[]);
    assert_eq!(
        project.ask(&["env"], "[host.env('KEY'), host.env('UNSET')]").unwrap(),
        json!(["s3cret-value", null])
    );
    let error = project.error(&["env"], "host.env('OTHER')");
    let refused = "Refused: `OTHER` is not in the agent's `required.env`";
    assert!(error.starts_with(refused), "{error}");
}

#[test]
fn programs_start_without_a_shell() {
    let project = Project::new(&[("a.txt", "a")]);
    let answer = project.ask(&["sh:ls"], "await host.exec('ls', ['-1', '; echo x', '.'])").unwrap();
    assert_eq!(answer["stdout"], ".:\na.txt\n");
    assert_ne!(answer["status"], 0);
    let answer = project.ask(&["sh"], "await host.exec('cat', [], { input: 'hello' })").unwrap();
    assert_eq!(answer, json!({"status": 0, "stdout": "hello", "stderr": ""}));
    let environment = project.ask(&["sh"], "(await host.exec('env')).stdout").unwrap();
    let environment = environment.as_str().unwrap();
    assert!(environment.contains("PATH=/usr/local/bin:/usr/bin"), "{environment}");
    for (expression, part) in [
        ("await host.exec('/bin/ls')", "must be the name of a program, without a path"),
        ("await host.exec('../ls')", "must be the name of a program, without a path"),
        ("await host.exec('ls', 'x')", "must be a list of strings"),
        ("await host.exec('ls', [1])", "must be a list of strings"),
        ("await host.exec('ls', ['a\\0b'])", "null character"),
        ("await host.exec('no-such-program-here')", "program not found"),
    ] {
        let error = project.error(&["sh"], expression);
        assert!(error.contains(part), "{expression}: {error}");
    }
    let error = project.error(&["sh:ls"], "await host.exec('LS')");
    assert!(error.contains("'sh:LS' is not granted"), "{error}");
}

/// A program in the project is never the granted one.
#[test]
fn programs_do_not_come_from_the_project() {
    let project = Project::new(&[("bin/evil", "#!/bin/sh\necho evil")]);
    let bin = project.path("bin");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(bin.join("evil"), mode).unwrap();
    let path = [Path::new(&bin).display().to_string(), "bin".to_owned()];
    let host = project.host(&["sh"]).with_path(path);
    let code = tool("async (a, c, host) => host.exec('evil')");
    let mut tools = load_with(&code, short(), host).unwrap();
    let error = tools.call_tool("t", &json!({}), &json!({})).unwrap_err().to_string();
    assert!(error.contains("program not found: `evil`"), "{error}");
}

/// A05: what the keeper of a program cannot start is told as what we could not start; any other status is the program's.
#[test]
fn a_program_that_does_not_start_is_an_error() {
    let project = Project::new(&[("x", "")]);
    let bin = project.directory.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    for (name, text) in [("gone", "#!/no/such/interpreter\n"), ("busy", "#!/bin/sh\nexit 126\n")] {
        brief_testkit::write_program(&bin.join(name), text);
    }
    let answer = |name: &str| {
        let host = project.host(&["sh"]).with_path([bin.display().to_string()]);
        let code = tool(&format!("async (a, c, host) => host.exec('{name}')"));
        load_with(&code, short(), host).unwrap().call_tool("t", &json!({}), &json!({}))
    };
    let error = answer("gone").unwrap_err().to_string();
    assert!(error.contains("`gone` could not be started: does not exist"), "{error}");
    assert_eq!(answer("busy").unwrap()["status"], 126);
}

/// `sh:git` stays git, as far as possible.
#[test]
fn a_scope_refuses_options_that_start_programs() {
    let project = Project::new(&[]);
    for args in [
        "['-c', 'core.pager=touch pwned', 'log']",
        "['-ccore.pager=x', 'log']",
        "['--exec-path=.', 'status']",
        "['fetch', '--upload-pack=touch pwned', '.']",
        "['config', 'alias.x', '!touch pwned']",
    ] {
        let error = project.error(&["sh:git"], &format!("await host.exec('git', {args})"));
        assert!(error.starts_with("Refused: `git`: "), "{args}: {error}");
    }
    assert_eq!(project.read("pwned"), None);
    let version = project.ask(&["sh:git"], "(await host.exec('git', ['--version'])).status");
    assert_eq!(version.unwrap(), json!(0));
}

struct Echo;

impl McpAccess for Echo {
    fn call_tool(
        &mut self,
        server: &str,
        tool: &str,
        args: &Value,
        _: Duration,
    ) -> Result<Value, String> {
        if server == "echo" {
            Ok(json!([tool, args]))
        } else {
            Err(format!("there is no server `{server}`"))
        }
    }
}

#[test]
fn servers_are_those_that_were_handed_over() {
    let project = Project::new(&[]);
    let error = project.error(&["mcp"], "await host.mcp.call('echo', 't')");
    assert!(error.starts_with("no MCP server is configured for this run"), "{error}");
    let host = project.host(&["mcp"]).with_mcp(Box::new(Echo));
    let code = tool(
        "async (a, c, host) => [await host.mcp.call('echo', 't', { x: 1 }), \
         await host.mcp.call('other', 't').catch(e => e.message)]",
    );
    let mut tools = load_with(&code, short(), host).unwrap();
    let result = tools.call_tool("t", &json!({}), &json!({})).unwrap();
    assert_eq!(result, json!([["t", {"x": 1}], "there is no server `other`"]));
}

#[test]
fn tools_call_each_other_to_a_depth() {
    let project = Project::new(&[]);
    let code = tools(&[
        ("add", "({ a, b }) => a + b"),
        ("twice", "async ({ a }, c, host) => 2 * await host.tool('ADD', { a, b: a })"),
        (
            "deep",
            "async ({ n }, c, host) => { try { return await host.tool('deep', { n: n + 1 }) } \
                  catch (e) { return [n, e.message] } }",
        ),
        ("bad", "async (a, c, host) => host.tool('nope')"),
        (
            "both",
            "async (a, c, host) => Promise.all([host.tool('add', { a: 1, b: 1 }), host.tool('add', { a: 2, b: 2 })])",
        ),
    ]);
    let mut tools = project.tools(&["tool"], &code);
    let mut call = |name: &str, args: Value| tools.call_tool(name, &args, &json!({}));
    assert_eq!(call("twice", json!({"a": 3})).unwrap(), json!(12));
    assert_eq!(
        call("deep", json!({"n": 0})).unwrap(),
        json!([8, "tools call each other more than 8 deep"])
    );
    let bad = call("bad", json!({})).unwrap_err().to_string();
    assert!(bad.starts_with("unknown tool `nope`"), "{bad}");
    assert_eq!(call("both", json!({})).unwrap(), json!([2, 4]));
    assert!(project.lines.text().contains("\"ability\":\"tool\""));
}

/// The log has every request with its decision, and no secret.
#[test]
fn every_question_is_in_the_log() {
    let project = Project::new(&[("a.txt", "content")]);
    let result = project.ask(
        &["fs", "env", "sh"],
        "[await host.fs.readText('a.txt'), host.env('KEY'), \
         await host.fs.writeText('b.txt', 'content ' + host.env('KEY')), \
         await host.fs.readText('.env').catch(() => 0), \
         await host.fetch('https://u:p@example.com/?q=' + host.env('KEY')).catch(() => 0), \
         (await host.exec('echo', ['token', host.env('KEY')])).status]",
    );
    assert_eq!(result.unwrap()[5], 0);
    let log = project.lines.text();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        lines[0],
        json!({"seq": 1, "event": "ask", "tool": "t", "ability": "fs", "call": "readText",
               "target": "a.txt", "verdict": "allowed"})
    );
    assert_eq!(lines[1], json!({"seq": 1, "event": "end", "verdict": "done", "message": null}));
    for part in [
        "\"target\":\"KEY\"",
        "\"target\":\".env\"",
        "\"verdict\":\"refused\"",
        "\"verdict\":\"denied\"",
        "\"target\":\"GET https://example.com/?…\"",
        "\"target\":[\"echo\",\"token\",\"***\"]",
    ] {
        assert!(log.contains(part), "{part} is not in\n{log}");
    }
    for secret in ["s3cret-value", "content", "u:p"] {
        assert!(!log.contains(secret), "{secret} is in\n{log}");
    }
}

/// A tool does not run without its audit log.
#[test]
fn nothing_is_done_that_cannot_be_logged() {
    let project = Project::new(&[("a.txt", "a")]);
    let nowhere = project.path("a.txt/audit.jsonl");
    let audit = AbilityAudit::to_file(super::system(), nowhere);
    let host = project.host(&["fs"]).with_audit(audit);
    let code = tool("async (a, c, host) => host.fs.writeText('b.txt', 'b')");
    let mut tools = ToolBox::load(super::system(), &worker(), &code, short(), host).unwrap();
    let error = tools.call_tool("t", &json!({}), &json!({})).unwrap_err().to_string();
    assert!(error.contains("cannot write the audit log"), "{error}");
    assert_eq!(project.read("b.txt"), None);
}
