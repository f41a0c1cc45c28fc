//! Installed hooks keep every client working, whatever becomes of `brief`: it is missing, crashes, refuses,
//! hangs, or prints something else. `cargo xtask clients` runs the same in real clients.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use brief_clients::hook::guard::find_command;
use brief_profiles::{BUILTIN, Client, HookInstall, InstallForm};
use brief_testkit::{Sandbox, needs, send_signal, wait_until, write_program};
use serde_json::{Value, json};

use crate::hook_clients::{hook, marked};
use crate::project;

/// The program in the place of `brief`; `None` for nothing.
const FAULTS: [(&str, Option<&str>); 5] = [
    ("missing", None),
    ("killed", Some("kill -9 $$")),
    ("exit 2", Some("echo broken >&2; exit 2")),
    ("noise", Some("echo 'not JSON {'")),
    ("null", Some("echo null")),
];

fn with_hooks() -> impl Iterator<Item = (&'static Client, &'static HookInstall)> {
    BUILTIN.clients.iter().filter_map(|client| {
        let install = client.hook.as_ref()?.install.as_ref()?;
        Some((client, install))
    })
}

/// Installs the hook of a client in a project; returns the files.
fn install(project: &Sandbox, client: &Client, more: &[&str]) -> Vec<PathBuf> {
    let args = [&["hook", "install", &client.id, "--project"], more].concat();
    let output = project.run(&args);
    assert_eq!(output.code, Some(0), "{output}");
    let status = project.run(&["hook", "status", &client.id, "--json"]).json();
    let files = status["hooks"][0]["installed"].as_array().unwrap();
    assert!(!files.is_empty(), "{status}");
    files.iter().map(|hook| project.path().join(hook["file"].as_str().unwrap())).collect()
}

/// The lines for a shell of Unix in a file.
fn lines(file: &Path) -> Vec<String> {
    fn add(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Array(list) => list.iter().for_each(|value| add(value, found)),
            Value::Object(fields) => {
                for (key, value) in fields {
                    match value.as_str() {
                        Some(text) if text.contains("brief hook") && key != "powershell" => {
                            found.push(text.to_owned());
                        }
                        Some(_) => {}
                        None => add(value, found),
                    }
                }
            }
            _ => {}
        }
    }
    let text = fs::read_to_string(file).unwrap();
    if text.starts_with("#!") {
        return vec![file.to_str().unwrap().to_owned()];
    }
    let mut found = Vec::new();
    add(&serde_json::from_str(&text).unwrap(), &mut found);
    found.sort();
    found.dedup();
    assert!(!found.is_empty(), "{text}");
    found
}

/// Starts a line as a client does, with `directory` first on PATH and more input than a pipe holds.
fn start(shell: &str, line: &str, directory: &Path) -> std::process::Child {
    let path = format!("{}:/usr/bin:/bin", directory.display());
    let mut command = Command::new(shell);
    command.args(["-c", line]).env_clear().env("PATH", path);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn run_to_end(mut child: std::process::Child) -> std::process::Output {
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        // A client does not mind a closed pipe.
        let _ = std::io::Write::write_all(&mut stdin, &vec![b' '; 200_000]);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

#[test]
fn no_failure_reaches_a_client() {
    for (client, form) in with_hooks() {
        if form.form == InstallForm::Plugin {
            continue;
        }
        let project = project().with_file(".git/HEAD", "");
        for file in install(&project, client, &[]) {
            for line in lines(&file) {
                for (fault, script) in FAULTS {
                    let bin = project.outside_directory().join(fault);
                    fs::create_dir_all(&bin).unwrap();
                    if let Some(script) = script {
                        write_program(&bin.join("brief"), format!("#!/bin/sh\n{script}\n"));
                    }
                    for shell in ["sh", "bash"] {
                        let output = run_to_end(start(shell, &line, &bin));
                        assert_eq!(output.status.code(), Some(0), "{}: {fault}: {line}", client.id);
                        if script.is_none() {
                            // Gemini and Qwen show what stands on standard error.
                            let said = [output.stdout, output.stderr].concat();
                            assert_eq!(String::from_utf8_lossy(&said), "", "{}", client.id);
                        }
                    }
                }
            }
        }
    }
}

/// The input reaches the program, and its answer the client.
#[test]
fn a_guarded_line_passes_input_and_answer() {
    for (client, form) in with_hooks() {
        if form.form == InstallForm::Plugin {
            continue;
        }
        let project = project().with_file(".git/HEAD", "");
        let bin = project.outside_directory();
        write_program(&bin.join("brief"), "#!/bin/sh\necho \"$*\"; wc -c\n");
        for file in install(&project, client, &[]) {
            for line in lines(&file) {
                for shell in ["sh", "bash"] {
                    let output = run_to_end(start(shell, &line, &bin));
                    let answer = String::from_utf8(output.stdout).unwrap();
                    let mut answer = answer.lines();
                    let named = form.named.as_ref().unwrap_or(&client.id);
                    assert!(answer.next().unwrap().starts_with(&format!("hook {named}")));
                    assert_eq!(answer.next().map(str::trim), Some("200000"), "{line}");
                }
            }
        }
    }
}

/// A program that hangs: the client ends it by a key of its settings, or the line does.
#[test]
fn a_program_that_hangs_is_ended() {
    for (client, form) in with_hooks() {
        if form.form == InstallForm::Plugin {
            continue;
        }
        let project = project().with_file(".git/HEAD", "");
        let bin = project.outside_directory();
        let started = bin.join("started");
        let hangs = format!("#!/bin/sh\necho $$ > {}\nexec /bin/sleep 1000\n", started.display());
        write_program(&bin.join("brief"), hangs);
        // The line's own time is up at once.
        write_program(
            &bin.join("sleep"),
            format!("#!/bin/sh\nuntil [ -s {} ]; do :; done\n", started.display()),
        );
        for file in install(&project, client, &[]) {
            let text = fs::read_to_string(&file).unwrap();
            for line in lines(&file) {
                fs::remove_file(&started).unwrap_or_default();
                match &form.deadline {
                    None => {
                        let output = run_to_end(start("sh", &line, &bin));
                        assert_eq!(output.status.code(), Some(0), "{line}");
                    }
                    Some(deadline) => {
                        let key = format!("\"{}\": {}", deadline.key, deadline.value);
                        assert!(text.contains(&key), "{text}");
                        if !deadline.ends_shell {
                            continue;
                        }
                        let child = start("bash", &line, &bin);
                        let has_started =
                            || fs::read_to_string(&started).is_ok_and(|text| text.ends_with('\n'));
                        wait_until("the program hangs", has_started);
                        send_signal("TERM", child.id());
                        // This ends when no process holds the output open.
                        let output = run_to_end(child);
                        assert_eq!(output.status.code(), Some(0), "{line}");
                    }
                }
            }
        }
    }
}

/// Calls each handler of a plugin, and prints what reaches the model or stops a call.
const DRIVER: &str = r#"
import { readFileSync, writeFileSync } from "node:fs"
const [file, name] = process.argv.slice(2)
const text = readFileSync(file, "utf8").replace("const TIMEOUT = 5000", "const TIMEOUT = 200")
writeFileSync("plugin.mjs", text)
const plugin = await import(process.cwd() + "/plugin.mjs")
const on = {}
const client = { on: (event, handler) => (on[event] = handler) }
if (name === "opencode") Object.assign(on, await plugin.Brief({ directory: process.cwd() }))
else plugin.default(client)
const said = []
const note = (value) => value && said.push(JSON.stringify(value))
if (name === "opencode") {
  const output = { args: {}, output: "result", metadata: {} }
  const call = { tool: "edit", sessionID: "s", args: {} }
  await on["tool.execute.before"](call, output)
  await on["tool.execute.after"](call, output)
  const system = { system: [] }
  await on["experimental.chat.system.transform"]({ sessionID: "s" }, system)
  await on.event({ event: { type: "session.compacted", properties: { sessionID: "s" } } })
  if (output.output !== "result" || system.system.length) note([output.output, system.system])
} else if (name === "pi") {
  const call = { toolName: "edit", toolCallId: "1", input: {}, content: [], prompt: "x" }
  for (const event of ["before_agent_start", "session_compact", "tool_call", "tool_result"]) note(await on[event](call, {}))
} else {
  const call = { thread: { id: "1" }, message: "x", tool: "edit_file", input: {}, status: "done", output: "x" }
  if (Object.keys(await on["agent.start"](call)).length) note("message")
  const allowed = await on["tool.call"](call)
  if (allowed.action !== "allow") note(allowed)
  note(await on["tool.result"](call))
}
console.log(said.join("\n") || "nothing")
"#;

/// A plugin catches everything, and `BRIEF_DISABLE` silences it.
#[test]
fn a_plugin_survives_every_answer() {
    needs!(Node);
    let hold = r#"{"text": "TEXT", "additionalContext": "TEXT"}"#;
    for (client, form) in with_hooks().filter(|(_, form)| form.form == InstallForm::Plugin) {
        let project = project().with_file(".git/HEAD", "").with_file("driver.mjs", DRIVER);
        let [file] = &install(&project, client, &["--block-once"])[..] else { panic!() };
        let run = |fault: &str, script: Option<&str>, disabled: &str| {
            let bin = project.outside_directory().join(fault);
            fs::create_dir_all(&bin).unwrap();
            if let Some(script) = script {
                write_program(&bin.join("brief"), format!("#!/bin/sh\n{script}\n"));
            }
            let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
            let mut command = Command::new("node");
            command.args(["driver.mjs", file.to_str().unwrap(), form.plugin.as_ref().unwrap()]);
            command.current_dir(project.path()).env("PATH", path).env("BRIEF_DISABLE", disabled);
            let output = command.output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{}: {fault}: {output:?}", client.id);
            String::from_utf8(output.stdout).unwrap()
        };
        let hangs = [("hangs", Some("/bin/sleep 1000; true"))];
        let shapes =
            [("list", Some("echo '[1]'")), ("numbers", Some("echo '{\"hold\": 1, \"text\": {}}'"))];
        for (fault, script) in FAULTS.into_iter().chain(hangs).chain(shapes) {
            assert_eq!(run(fault, script, ""), "nothing\n", "{}: {fault}", client.id);
        }
        let late = format!("echo '{hold}'; exit 1");
        assert_eq!(run("fails late", Some(&late), ""), "nothing\n", "{}", client.id);
        let good = format!("cat >/dev/null; echo '{hold}'");
        assert!(run("good", Some(&good), "").contains("TEXT"), "{}", client.id);
        assert_eq!(run("good", Some(&good), "1"), "nothing\n", "{}", client.id);
        assert!(run("good", Some(&good), "0").contains("TEXT"), "{}", client.id);
    }
}

/// `BRIEF_DISABLE=1` silences the hook of every client, and records nothing.
#[test]
fn one_variable_silences_every_hook() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/payloads");
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().split('.').next().unwrap();
        let command =
            name.strip_prefix("copilot-").filter(|name| *name == "claude").unwrap_or(name);
        let answers = |value: &str| {
            let project = marked().with_env("BRIEF_DISABLE", value);
            let here = project.path().to_string_lossy().into_owned();
            let mut answers = String::new();
            for line in fs::read_to_string(&path).unwrap().lines() {
                let line = line.replace("{project}", &here).replace("{home}", "/home/u");
                let line: Value = serde_json::from_str(&line).unwrap();
                let mut args = vec![command];
                args.extend(
                    line["event"].as_str().into_iter().flat_map(|event| ["--event", event]),
                );
                answers.push_str(&hook(&project, &args, &line["payload"]).stdout);
            }
            (answers, project.home().join(".local/state/brief").exists())
        };
        assert_eq!(answers("1"), (String::new(), false), "{name}");
        for off in ["", "0"] {
            assert!(answers(off).0.contains("MARK-"), "{name}");
        }
    }
}

/// A project with an executable `brief` on PATH.
fn with_program() -> Sandbox {
    let project = project().with_file(".git/HEAD", "");
    let bin = project.outside_directory().join("bin");
    fs::create_dir_all(&bin).unwrap();
    write_program(&bin.join("brief"), "#!/bin/sh\n");
    project.with_env("PATH", &format!("{}:/usr/bin:/bin", bin.display()))
}

/// The text of a file as an earlier version wrote it.
fn earlier(text: &str) -> String {
    fn unguard(value: &mut Value) {
        match value {
            Value::Array(list) => list.iter_mut().for_each(unguard),
            Value::Object(fields) => {
                if fields
                    .values()
                    .any(|value| value.as_str().is_some_and(|text| text.contains("brief hook")))
                {
                    fields.retain(|key, _| !key.starts_with("timeout"));
                }
                fields.values_mut().for_each(unguard);
            }
            Value::String(text) => *text = find_command(text).command.to_owned(),
            _ => {}
        }
    }
    if let Some(line) = text.lines().last().filter(|_| text.starts_with("#!")) {
        let command = find_command(line).command;
        return format!(
            "#!/bin/sh\n# Written by `brief hook install`; `brief hook uninstall` removes it.\nexec {command}\n"
        );
    }
    match serde_json::from_str::<Value>(text) {
        Ok(mut settings) => {
            unguard(&mut settings);
            format!("{settings:#}\n")
        }
        Err(_) => text.replace("It never fails and never waits", "A slow one changes nothing"),
    }
}

/// Hooks of earlier versions are found, named, and updated with their options.
#[test]
fn earlier_hooks_are_found_and_updated() {
    for (client, _) in with_hooks() {
        let project = with_program();
        let options: &[&str] = if client.hook.as_ref().unwrap().hold.is_empty() {
            &[]
        } else {
            &["--block-once=marked"]
        };
        let files = install(&project, client, options);
        let status = || project.run(&["hook", "status", &client.id, "--json"]).json();
        let guarded = |status: &Value| {
            let hooks = status["hooks"][0]["installed"].as_array().unwrap().clone();
            hooks.iter().all(|hook| hook["guarded"] == true)
        };
        let before = status();
        assert!(guarded(&before), "{before}");
        let texts: Vec<String> =
            files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
        for (file, text) in files.iter().zip(&texts) {
            let earlier = earlier(text);
            assert_ne!(&earlier, text);
            fs::write(file, earlier).unwrap();
        }
        let found = status();
        assert!(!guarded(&found), "{found}");
        let shown = project.run(&["hook", "status", &client.id]);
        assert!(shown.stdout.contains("installed by an earlier version"), "{shown}");
        assert!(shown.stderr.contains("run `brief hook status --fix`"), "{shown}");
        let doctor = project.run(&["doctor"]);
        assert_eq!(doctor.code, Some(1), "{doctor}");
        assert!(doctor.stdout.contains("an earlier version installed the hook"), "{doctor}");
        let fixed = project.run(&["hook", "status", &client.id, "--fix"]);
        assert_eq!(fixed.code, Some(0), "{fixed}");
        assert!(fixed.stderr.contains("updated the hook in "), "{fixed}");
        assert_eq!(status(), before, "{}", client.id);
        for (file, text) in files.iter().zip(&texts) {
            let now = fs::read_to_string(file).unwrap();
            match serde_json::from_str::<Value>(text) {
                Ok(settings) => assert_eq!(serde_json::from_str::<Value>(&now).unwrap(), settings),
                Err(_) => assert_eq!(&now, text),
            }
        }
        let again = project.run(&["hook", "status", "--fix"]);
        assert!(again.stderr.contains("up to date"), "{again}");
        // An installation updates them, too.
        for (file, text) in files.iter().zip(&texts) {
            fs::write(file, earlier(text)).unwrap();
        }
        install(&project, client, options);
        assert!(guarded(&status()), "{}", client.id);
    }
}

/// R13: a hook whose program is not on PATH, or that a setting switches off, is no success.
#[test]
fn r13_a_hook_that_does_not_work_is_found() {
    let project = with_program();
    install(&project, BUILTIN.find_client("gemini").unwrap(), &[]);
    let doctor = project.run(&["doctor"]);
    assert_eq!(doctor.code, Some(0), "{doctor}");
    fs::remove_file(project.outside_directory().join("bin/brief")).unwrap();
    let doctor = project.run(&["doctor"]);
    assert_eq!(doctor.code, Some(1), "{doctor}");
    let words = "warning[hook]: .gemini/settings.json: Gemini CLI gets nothing from the hook: `brief` is not on PATH";
    assert!(doctor.stdout.contains(words), "{doctor}");
    let status = project.run(&["hook", "status", "gemini"]);
    assert!(status.stdout.contains("`brief` is not on PATH: nothing is delivered"), "{status}");
    let project = with_program();
    project.write(".gemini/settings.json", json!({"hooksConfig": {"enabled": false}}).to_string());
    install(&project, BUILTIN.find_client("gemini").unwrap(), &[]);
    let doctor = project.run(&["doctor"]);
    let words = "Gemini CLI runs no hooks: `hooksConfig.enabled` is set in .gemini/settings.json";
    assert!(doctor.code == Some(1) && doctor.stdout.contains(words), "{doctor}");
    let status = project.run(&["hook", "status", "gemini"]);
    let words = "switched off by `hooksConfig.enabled` in .gemini/settings.json";
    assert!(status.stdout.contains(words), "{status}");
}
