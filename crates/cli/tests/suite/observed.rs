//! The real calls of the program and its children, as the kernel sees them.
//!
//! `strace` writes down every program that is started, with its environment, and every connection. Where
//! it is missing, these tests fail: they would check nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use brief_testkit::{Sandbox, needs};

use crate::{project, trusted_project};

/// The calls that the kernel was asked for.
struct Trace {
    calls: Vec<String>,
}

impl Trace {
    /// Returns the programs that were started; the first is the program itself.
    fn started(&self) -> impl Iterator<Item = &String> {
        let mut starts = self.calls.iter().filter(|call| call.contains("execve("));
        // `brief` may become `brief-agent`, which is no child.
        let own = starts.next().and_then(|call| call.split(' ').next()).unwrap_or_default();
        starts.filter(move |call| call.split(' ').next() != Some(own))
    }

    /// Returns how many of them are neither the program itself, which starts itself as the worker, nor `brief-agent`, which `brief`
    /// asks.
    fn foreign(&self) -> usize {
        let is_ours = |call: &str| {
            call.contains("execve(\"/proc/self/exe\"")
                || call.contains("/brief-agent\", [") && call.contains("\"__release=")
        };
        self.started().filter(|call| !is_ours(call)).count()
    }

    fn connections(&self) -> usize {
        self.calls.iter().filter(|call| call.contains("connect(")).count()
    }
}

/// Runs the program under strace.
fn traced(project: &Sandbox, args: &[&str], input: &str) -> Trace {
    traced_calls(project, args, input, "trace=execve,connect")
}

/// Runs the program under strace, which writes down the calls that `wanted` says.
fn traced_calls(project: &Sandbox, args: &[&str], input: &str, wanted: &str) -> Trace {
    let log = project.outside_directory().join("trace");
    let run = project.prepare_command("", args);
    let mut strace = Command::new("strace");
    strace
        .args(["-f", "-v", "-y", "-s", "100000", "-e", wanted, "-e", "signal=none", "-o"])
        .arg(&log)
        .arg(run.get_program())
        .args(run.get_args())
        .current_dir(project.path())
        .env_clear()
        .envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let mut child = strace.spawn().expect("`strace` starts");
    let mut to_program = child.stdin.take().expect("it is piped");
    // A program that does not read its input may have ended.
    let _ = std::io::Write::write_all(&mut to_program, input.as_bytes());
    drop(to_program);
    let output = child.wait_with_output().expect("it can be waited for");
    let text = fs::read_to_string(&log).unwrap_or_default();
    fs::remove_file(&log).ok();
    let is_traced = text.lines().any(|line| line.contains("execve("));
    assert!(
        is_traced,
        "`strace` wrote nothing down, so nothing is known; it may not trace here: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    // A call that did not succeed started nothing and reached no one.
    let calls = text.lines().filter(|line| !line.contains("= -1 ENOENT"));
    Trace { calls: calls.map(str::to_owned).collect() }
}

/// A clone with everything that some tool would run, fetch or believe: scripts, commands, servers, agents
/// with startup tools and remote commands, hooks, filters and an embedded repository of git, and files
/// that claim to be trusted.
fn hostile() -> Sandbox {
    let touch = "touch \"$HOME/marker\"";
    let script = format!("#!/bin/sh\n{touch}\n");
    let project = project();
    let marker = project.home().join("marker");
    let touch_marker = format!("touch {}", marker.display());
    let config = format!(
        "[core]\n\tfsmonitor = {touch_marker}\n\tsshCommand = {touch_marker}\n[diff]\n\texternal = {touch_marker}\n\
         [filter \"x\"]\n\tsmudge = {touch_marker}\n\tclean = {touch_marker}\n[alias]\n\tstatus = !{touch_marker}\n"
    );
    let servers = format!(
        "{{\"mcpServers\":{{\"x\":{{\"command\":\"sh\",\"args\":[\"-c\",\"{touch_marker}\"]}},\"y\":{{\"url\":\"http://127.0.0.1:9/\"}}}},\
         \"trust\":true,\"trustedPaths\":[\"/\"],\"yes\":true}}"
    );
    let agent = "---\ncommands:\n  - https://127.0.0.1:9/commands/c.md\nrequired:\n  startup: boot\n---\n# X\n\nd\n\n## Tools\n\n```js\n\
        return { boot: { fn: () => 1, scheme: { name: \"boot\", description: \"d\", parameters: { type: \"object\" } } } };\n```\n";
    let project = project
        .with_file("AGENTS.yaml", "context:\n- content: x\n")
        .with_file(".agents/tasks/t.md", format!("!`{touch_marker}`\n/c\n"))
        .with_file(".agents/commands/c.md", format!("!`{touch_marker}`\n"))
        .with_file(".agents/rules/r.md", "# r\n")
        .with_file(".agents/rules/r-bootstrap", &script)
        .with_file(".agents/rules/s.md", format!("---\nbootstrap: |\n  {touch_marker}\n---\n# s\n"))
        .with_file(".context/context-config.json", &servers)
        .with_file(".mcp.json", &servers)
        .with_file(".claude/settings.json", format!(
            "{{\"hooks\":{{\"SessionStart\":[{{\"hooks\":[{{\"type\":\"command\",\"command\":\"{touch_marker}\"}}]}}]}}}}"
        ))
        .with_file("agents/x_y.agent.md", agent)
        .with_file("brief.toml", "trust = true\nexec = \"always\"\n")
        .with_file(".env", "BRIEF_EXEC=always\n")
        .with_file(".gitattributes", "* filter=x diff=x\n")
        .with_file(".git/config", &config)
        .with_file(".git/HEAD", "ref: refs/heads/main\n")
        .with_file(".git/hooks/post-checkout", &script)
        .with_file("bare/config", &config)
        .with_file("bare/HEAD", "ref: refs/heads/main\n")
        .with_dir("bare/objects")
        .with_dir("bare/refs")
        .with_dir(".git/objects")
        .with_dir(".git/refs");
    for path in [".agents/rules/r-bootstrap", ".git/hooks/post-checkout"] {
        let path = project.path().join(path);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    // Programs of the names that we start ourselves, on the search path.
    for name in ["git", "sh", "less"] {
        project.write(name, &script);
        let path = project.path().join(name);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!(".:{}:/usr/bin:/bin", project.path().display());
    project.with_env("PATH", &path).with_env("CI", "true")
}

/// Commands that only look, and some that would write if the project let them.
const CALLS: [&[&str]; 24] = [
    &["context", "src/a.rs"],
    &["context", "src/a.rs", "--json", "--client", "claude"],
    &["why", "src/a.rs"],
    &["context", "--decisions", "src/a.rs"],
    &["show", "src/a.rs"],
    &["tokens"],
    &["tokens", "--tree"],
    &["coverage"],
    &["list"],
    &["lint"],
    &["lint", "--format", "sarif"],
    &["registry", "fmt", "--check"],
    &["doctor"],
    &["mcp", "servers"],
    &["task", "list"],
    &["task", "t"],
    &["task", "t", "--json"],
    &["task", "t", "--dry-run"],
    &["task", "t", "--explain"],
    &["task", "t", "--no-exec"],
    &["task", "t", "--mcp-config", "claude"],
    &["trust", "--list"],
    &["trust", "."],
    &["hook", "claude"],
];

/// Goal S1: nothing runs, nothing connects from a clone, whatever it holds and however it is looked at.
#[test]
fn s1_nothing_runs_from_a_clone() {
    needs!(Strace);
    let project = hostile();
    let event = format!(
        "{{\"hook_event_name\":\"PreToolUse\",\"session_id\":\"s\",\"cwd\":\"{0}\",\"tool_name\":\"Edit\",\"tool_input\":{{\"file_path\":\"{0}/src/a.rs\"}}}}",
        project.path().display()
    );
    for args in CALLS {
        let trace = traced(&project, args, &event);
        assert_eq!(trace.foreign(), 0, "{args:?} {:?}", trace.calls);
        assert_eq!(trace.connections(), 0, "{args:?} {:?}", trace.calls);
        assert!(!project.home().join("marker").exists(), "{args:?}");
    }
}

/// 200 names that hold secrets, or change how programs start.
fn sensitive_names() -> Vec<String> {
    let services = [
        "AWS",
        "AZURE",
        "GCP",
        "GITHUB",
        "GITLAB",
        "OPENAI",
        "ANTHROPIC",
        "STRIPE",
        "SLACK",
        "NPM",
        "PYPI",
        "DOCKER",
        "HEROKU",
        "VERCEL",
        "NETLIFY",
        "CLOUDFLARE",
        "DATADOG",
        "SENTRY",
        "TWILIO",
        "SENDGRID",
        "DATABASE",
        "REDIS",
        "MONGO",
        "KUBE",
        "VAULT",
    ];
    let kinds =
        ["TOKEN", "SECRET", "API_KEY", "PASSWORD", "ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "URL"];
    let mut names: Vec<String> = services
        .iter()
        .flat_map(|service| kinds.iter().map(move |kind| format!("{service}_{kind}")))
        .collect();
    names.extend(
        [
            "LD_PRELOAD_CANARY",
            "LD_AUDIT_X",
            "BASH_ENV",
            "ENV",
            "SHELLOPTS_X",
            "PS4",
            "PROMPT_COMMAND",
            "CDPATH",
            "NODE_OPTIONS",
            "NODE_PATH",
            "PYTHONPATH",
            "PYTHONSTARTUP",
            "PERL5OPT",
            "PERL5LIB",
            "RUBYOPT",
            "JAVA_TOOL_OPTIONS",
            "GIT_DIR",
            "GIT_WORK_TREE",
            "GIT_EXEC_PATH_X",
            "GIT_EXTERNAL_DIFF",
            "GIT_TRACE_X",
            "GIT_CONFIG_PARAMETERS_X",
            "GH_TOKEN",
            "CI_JOB_TOKEN",
            "SSH_PRIVATE_KEY",
        ]
        .map(str::to_owned),
    );
    names
}

/// Goal S10: of 200 sensitive variables, no child gets one that was not named: not a command, a script, a
/// server, a program of a tool, the worker, nor git.
#[test]
fn s10_no_child_gets_a_sensitive_variable() {
    needs!(Strace);
    let names = sensitive_names();
    assert_eq!(names.len(), 200);
    let agent = "---\nabilities:\n  allow: [tool, mcp, sh]\n---\n# X\n\nd\n\n## Tools\n\n```js\n\
        return { go: { fn: async (args, ctx, host) => { try { await host.exec(\"true\", []); } catch (e) {} \
        try { await host.mcp.call(\"s\", \"t\", {}); } catch (e) {} return 1; }, \
        scheme: { name: \"go\", description: \"g\", parameters: { type: \"object\" } } } };\n```\n";
    let mut project = trusted_project()
        .with_file(".agents/tasks/t.md", "!`true`\n")
        .with_file(".agents/rules/r.md", "# r\n")
        .with_file(".agents/rules/r-bootstrap", "#!/bin/sh\ntrue\n")
        .with_file(".agents/rules/s.md", "---\nbootstrap: \"true\"\n---\n# s\n")
        .with_file("agents/x_y.agent.md", agent)
        .with_file(".mcp.json", r#"{"mcpServers":{"s":{"command":"true"}}}"#);
    let script = project.path().join(".agents/rules/r-bootstrap");
    fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
    for name in &names {
        project = project.with_env(name, &format!("canary-{name}-canary"));
    }
    let source = format!("file://{}", project.outside_directory().join("missing.git").display());
    let calls: [(&[&str], usize); 3] = [
        (&["task", "t"], 3),
        (
            &[
                "agent",
                "debug",
                "call",
                "agents/x_y.agent.md",
                "go",
                "{}",
                "--grant",
                "mcp",
                "--grant",
                "sh",
                "--mcp-config",
                ".mcp.json",
            ],
            3,
        ),
        (&["add", &format!("git::{source}")], 1),
    ];
    for (args, least) in calls {
        if args[0] == "agent" && !crate::has_brief_agent() {
            continue;
        }
        let trace = traced(&project, args, "");
        let starts: Vec<&String> = trace.started().collect();
        assert!(starts.len() >= least, "{args:?} starts {} children", starts.len());
        for start in starts {
            assert!(!start.contains("canary-"), "{args:?}: {start}");
        }
    }
    // What is named arrives.
    let granted = project.with_file(".agents/tasks/u.md", "!`printf %s \"$GH_TOKEN$AWS_TOKEN\"`\n");
    let output = granted.run(&["task", "u", "-r", "--env", "GH_TOKEN"]);
    assert_eq!(output.stdout, "canary-GH_TOKEN-canary\n\n", "{output}");
}

/// TRU-006: a script that is swapped after it was judged does not run, because no child starts it or opens
/// it by its path in the project. Its working directory and `$0` are those of the file nevertheless.
#[test]
fn tru_006_the_bytes_that_were_judged_run() {
    needs!(Strace);
    let mut project = trusted_project().with_file(".agents/tasks/t.md", "t\n");
    let said = "echo \"$0 in $(pwd -P)\" >> \"$HOME/said\"\n";
    let source = "[ \"${BASH_SOURCE:-$0}\" = \"$0\" ] && echo alone >> \"$HOME/said\"\n";
    let awk = "BEGIN { print ENVIRON[\"BRIEF_SCRIPT\"] >> (ENVIRON[\"HOME\"] \"/said\") }\n";
    let scripts = [
        ("a", format!("#!/bin/sh\n{said}")),
        ("b", said.to_owned()),
        ("c", format!("#!/usr/bin/env sh\n{source}")),
        ("d", format!("#!/usr/bin/awk -f\n{awk}")),
    ];
    for (name, script) in &scripts {
        let path = format!(".agents/rules/{name}-bootstrap");
        project =
            project.with_file(&format!(".agents/rules/{name}.md"), "").with_file(&path, script);
        let path = project.path().join(path);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let trace = traced_calls(&project, &["task", "t"], "", "trace=execve,open,openat,openat2");
    let process = |call: &str| call.split(' ').next().unwrap_or_default().to_owned();
    let children: Vec<String> = trace.started().map(|call| process(call)).collect();
    assert!(children.len() >= scripts.len(), "{:#?}", trace.calls);
    let rules = project.path().join(".agents/rules");
    let rules = rules.to_str().unwrap();
    for call in &trace.calls {
        let is_named = named(call).first().is_some_and(|path| path.starts_with(rules));
        assert!(!is_named || !children.contains(&process(call)), "{call}");
    }
    let root = project.path();
    let here = root.display();
    let expected = format!(
        "{rules}/a-bootstrap in {here}\n{rules}/b-bootstrap in {here}\nalone\n{rules}/d-bootstrap\n"
    );
    assert_eq!(fs::read_to_string(project.home().join("said")).unwrap(), expected);
}

/// One walk: all dialects read from one open root, however many of them have files in it.
#[test]
fn the_root_is_opened_once_for_all_dialects() {
    needs!(Strace);
    let project = project()
        .with_dir(".git")
        .with_file("AGENTS.yaml", "context:\n- content: x\n")
        .with_file("CLAUDE.md", "# c\n")
        .with_file(".context/a.md", "# h\n")
        .with_file(".agents/rules/r.md", "# r\n")
        .with_file(".claude/rules/a.md", "---\npaths: \"src/**\"\n---\nx\n")
        .with_file(".claude/skills/x/SKILL.md", "---\nname: x\ndescription: d\n---\nx\n")
        .with_file("src/CLAUDE.md", "# s\n")
        .with_file("src/.agents/rules/r.md", "# r\n")
        .with_file("src/b.rs", "x\n");
    let root = format!("<{}>", project.path().display());
    let calls: [&[&str]; 4] = [
        &["context", "src/b.rs"],
        &["context", "src/b.rs", "--client", "claude"],
        &["lint", "--only", "mistakes"],
        &["tokens", "--tree"],
    ];
    for args in calls {
        let trace = traced_calls(&project, args, "", "trace=execve,open,openat,openat2");
        // A name is looked up with `O_PATH`, which opens nothing.
        let is_open = |call: &&String| call.ends_with(&root) && !call.contains("O_PATH");
        let opens: Vec<&String> = trace.calls.iter().filter(is_open).collect();
        assert_eq!(opens.len(), 1, "{args:?}: {opens:#?}");
    }
}

/// Returns the words of a call that stand between quotes or name an open file, in order.
fn named(call: &str) -> Vec<&str> {
    call.split(['"', '<', '>']).skip(1).step_by(2).collect()
}

/// CRA-004: power may fail at any moment, and what was not made safe may be lost or come late. So everything
/// that is staged is on disk before the journal has its name, the journal before anything changes places, and
/// all of that before the journal goes.
#[test]
fn cra_004_what_is_put_in_place_is_on_disk_first() {
    let skill = |text: &str| {
        format!("---\nschema: 1\nname: s\ndescription: Use when testing\n---\n\n{text}\n")
    };
    let project = project();
    let source = project.outside_directory().join("source");
    fs::create_dir_all(source.join("skills/s")).unwrap();
    fs::write(source.join("skills/s/SKILL.md"), skill("old")).unwrap();
    let (place, output) = (source.to_str().unwrap(), ".claude/skills/s/SKILL.md");
    // What a command puts in place: the item, the lock, and the manifest where it changes.
    assert_safe_order(&project, &["add", place, "--client", "claude"], 3);
    fs::write(source.join("skills/s/SKILL.md"), skill("new")).unwrap();
    assert_safe_order(&project, &["update"], 3);
    assert!(project.read(output).contains("new"));
    fs::remove_file(project.path().join(output)).unwrap();
    assert_safe_order(&project, &["sync"], 1);
    assert!(project.read(output).contains("new"));
    assert_safe_order(&project, &["remove", "s"], 1);
    assert!(!project.path().join(output).exists());
}

/// Runs a command and checks the order of its writes; it puts at least `least` things in place.
fn assert_safe_order(project: &Sandbox, args: &[&str], least: usize) {
    let wanted =
        "trace=execve,write,fsync,fdatasync,syncfs,rename,renameat,renameat2,unlink,unlinkat";
    let trace = traced_calls(project, args, "", wanted);
    // The files, and the changes of names, that a loss of power could undo.
    let (mut unsafe_files, mut unsafe_names) = (Vec::new(), Vec::new());
    let (mut journal_is_safe, mut moved, mut ended) = (false, 0, false);
    for call in trace.calls.iter().filter(|call| call.contains("/.brief") || call.contains("sync"))
    {
        let names = named(call);
        if call.contains(" write(") {
            unsafe_files.push(names[0].to_owned());
        } else if call.contains(" syncfs(") {
            unsafe_files.clear();
            unsafe_names.clear();
        } else if call.contains("sync(") {
            unsafe_files.retain(|file| file != names[0]);
            unsafe_names.retain(|directory| directory != names[0]);
            journal_is_safe |= names[0].ends_with("/.brief");
        } else if call.contains(" rename") {
            let [from, name, to, target] = names[..] else { panic!("{call}") };
            let staged = format!("{from}/{name}");
            assert!(!unsafe_files.contains(&staged), "not on disk yet: {call}");
            if target == "journal.json" {
                assert!(unsafe_files.is_empty(), "{unsafe_files:?} are not on disk yet: {call}");
                journal_is_safe = false;
            } else if from.ends_with("/staged") {
                assert!(journal_is_safe, "the journal is not on disk yet: {call}");
                moved += 1;
            }
            unsafe_names.push(to.to_owned());
        } else if call.contains("\"journal.json\"") {
            assert!(unsafe_names.is_empty(), "{unsafe_names:?} may be lost: {call}");
            ended = true;
        }
    }
    assert!(moved >= least && ended, "{args:?}: {moved} moved: {:#?}", trace.calls);
}

/// X34b: a hook looks into the package that the project has chosen, and into no other one; without a choice
/// into none.
#[test]
fn a_hook_looks_into_no_other_package() {
    needs!(Strace);
    let package = |name: &str| format!("{{\"name\": \"{name}\", \"version\": \"1.0.0\"}}");
    let project = project()
        .with_file(".git/HEAD", "")
        .with_file("package.json", "{\"dependencies\": {\"chosen\": \"1\", \"other\": \"1\"}}")
        .with_file("node_modules/chosen/package.json", package("chosen"))
        .with_file("node_modules/chosen/AGENTS.md", "# Chosen\n")
        .with_file("node_modules/other/package.json", package("other"))
        .with_file("node_modules/other/AGENTS.md", "# Other\n")
        .with_file(
            ".venv/lib/python3.12/site-packages/other-1.0.dist-info/RECORD",
            "other/AGENTS.md,,\n",
        )
        .with_file("Cargo.lock", "version = 4\n")
        .with_file("go.mod", "module x\n")
        .with_file("a.js", "");
    let event = format!(
        "{{\"hook_event_name\":\"PreToolUse\",\"session_id\":\"s\",\"cwd\":\"{0}\",\"tool_name\":\"Read\",\"tool_input\":{{\"file_path\":\"{0}/a.js\"}}}}",
        project.path().display()
    );
    let looked = |project: &Sandbox| -> Vec<String> {
        let trace = traced_calls(
            project,
            &["hook", "claude"],
            &event,
            "trace=execve,%file,getdents64,read",
        );
        let places = ["node_modules", "package.json", ".venv", "Cargo.lock", "go.mod"];
        // Of a listing, only the directory counts, and not the names in it.
        let asked = |call: &String| {
            let is_listing = call.contains("getdents64");
            let end = if is_listing { call.find(">,") } else { None };
            call[..end.unwrap_or(call.len())].to_owned()
        };
        let is_of_package = |call: &String| places.iter().any(|place| call.contains(place));
        trace.calls.iter().map(asked).filter(is_of_package).collect()
    };
    assert_eq!(looked(&project), [""; 0], "nothing is chosen");
    project.write("brief.toml", "[dependencies]\noffer = [\"chosen\"]\n");
    assert_eq!(looked(&project), [""; 0], "nothing is recorded");
    assert_eq!(project.run(&["sync"]).code, Some(0));
    let looked = looked(&project);
    assert!(looked.iter().any(|call| call.contains("AGENTS.md")), "{looked:#?}");
    for call in &looked {
        assert!(!call.contains("other"), "{call}");
        assert!(
            ![".venv", "Cargo.lock", "go.mod"].iter().any(|place| call.contains(place)),
            "{call}"
        );
        assert!(!(call.contains("getdents64") && call.ends_with("node_modules")), "{call}");
    }
}
