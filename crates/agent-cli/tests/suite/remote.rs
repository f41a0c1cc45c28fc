//! Commands that an agent names by address: a file, or a folder with an index.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use brief_testkit::kill::KillCase;
use brief_testkit::{Output, Sandbox, needs, wait_until};
use serde_json::Value;

use crate::project;

const FILE: &str = "agents/dev_remote.agent.md";

/// A server on this machine, whose answers can be changed.
struct Site {
    base: String,
    answers: Arc<Mutex<BTreeMap<String, String>>>,
}

impl Site {
    fn start(pages: &[(&str, &str)]) -> Site {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let answers: Arc<Mutex<BTreeMap<String, String>>> = Arc::default();
        let site = Site { base, answers: Arc::clone(&answers) };
        for (path, text) in pages {
            site.set(path, text);
        }
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let answers = Arc::clone(&answers);
                std::thread::spawn(move || answer(stream, &answers.lock().unwrap().clone()));
            }
        });
        site
    }

    fn set(&self, path: &str, text: &str) {
        let answer = match text.strip_prefix("-> ") {
            Some(target) => {
                format!("HTTP/1.1 301 Moved\r\nlocation: {target}\r\ncontent-length: 0\r\n\r\n")
            }
            None => format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{text}", text.len()),
        };
        self.answers.lock().unwrap().insert(path.to_owned(), answer);
    }

    /// Takes all answers away.
    fn close(&self) {
        self.answers.lock().unwrap().clear();
    }
}

fn answer(mut stream: TcpStream, answers: &BTreeMap<String, String>) {
    let mut head = Vec::new();
    let mut piece = [0; 1024];
    while !head.windows(4).any(|window| window == b"\r\n\r\n") {
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => return,
            Ok(count) => head.extend_from_slice(&piece[..count]),
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let path = head.split(' ').nth(1).unwrap_or_default();
    let missing = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_owned();
    let _ = stream.write_all(answers.get(path).unwrap_or(&missing).as_bytes());
}

/// An agent with commands from a server: a file, and a folder of two.
fn prepare(project: &Sandbox) {
    let pages = [
        ("/one.md", "One."),
        ("/all/", "[\"two.md\", \"three.md\"]"),
        ("/all/two.md", "Two."),
        ("/all/three.md", "Three."),
    ];
    let base = Site::start(&pages).base;
    let text = format!("---\ncommands:\n  - {base}/one.md\n  - {base}/all/\n---\n# R\n\nRemote.\n");
    project.write("agents/dev_remote.agent.md", &text);
}

/// Every step of fetching may fail or be the last.
#[test]
fn fetching_may_be_killed_at_every_step() {
    let project = project();
    prepare(&project);
    let args = &["agent", "show", "agents/dev_remote.agent.md", "--fetch"];
    let case = KillCase::new(crate::brief_agent, project, "agent show --fetch", args);
    let page = include_str!("../../../../docs/dev/kill-matrix.md");
    case.thorough().check(page, env!("CARGO_TARGET_TMPDIR"));
}

fn agent(entries: &[String]) -> Sandbox {
    let list: Vec<String> = entries.iter().map(|entry| format!("  - {entry}\n")).collect();
    let list = list.concat();
    let text = format!(
        "---\ncommands:\n  - {{name: own, description: Its own, body: Own.}}\n{list}---\n# R\n\nRemote.\n"
    );
    project().with_file(FILE, text)
}

fn shown(project: &Sandbox, options: &[&str]) -> (Vec<String>, Output) {
    let output = project.run(&[&["show", FILE, "--json"][..], options].concat());
    let answer = output.json();
    let commands = answer["agent"]["commands"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let named = |command: &Value| format!("{} {}", text(&command["name"]), text(&command["state"]));
    (commands.iter().map(named).collect(), output)
}

/// A30, Y36: a folder works like a file: only with `--fetch`, recorded, kept, and shown with its state.
#[test]
fn a_folder_is_fetched_file_by_file_and_kept() {
    let site = Site::start(&[
        ("/all/", "[\"b.md\", \"a%20file.md\", \"x.txt\"]"),
        ("/all/b.md", "Do $1"),
        ("/all/a%2520file.md", "---\ndescription: An A\n---\nA"),
        ("/one.md", "One"),
    ]);
    let project = agent(&[format!("{}/all/", site.base), format!("{}/one.md", site.base)]);
    let (names, output) = shown(&project, &[]);
    assert_eq!(names, ["own -", "- unresolved", "- unresolved"], "{output}");
    let (names, output) = shown(&project, &["--fetch"]);
    assert_eq!(names, ["own -", "a%20file fetched", "b fetched", "one fetched"], "{output}");
    assert_eq!(output.stderr.matches(" with SHA-256 ").count(), 3, "{output}");
    let command = project.run(&["debug", "command", FILE, "b", "it"]);
    assert_eq!(command.stdout, "Do it\n", "{command}");
    assert!(
        command.stderr.contains("/all/ from the cache; use `--fetch` to fetch it again"),
        "{command}"
    );
    // Without the network.
    site.close();
    let (names, output) = shown(&project, &[]);
    assert_eq!(names, ["own -", "a%20file cached", "b cached", "one cached"], "{output}");
    let (names, output) = shown(&project, &["--fetch"]);
    assert_eq!(names, ["own -", "a%20file cached", "b cached", "one cached"], "{output}");
    assert!(
        output
            .stderr
            .contains("from the cache, because it cannot be fetched: the server answered 404"),
        "{output}"
    );
    let output = project.run(&["show", FILE]);
    assert!(
        output.stdout.contains(&format!("/b: Do $1 ({}/all/b.md, cached)", site.base)),
        "{output}"
    );
}

/// Y36: content that changes is an error, whatever its server says; a new file of a folder is recorded like the first.
#[test]
fn what_was_recorded_stays_the_same() {
    let site = Site::start(&[("/all/", "[\"a.md\"]"), ("/all/a.md", "Old")]);
    let project = agent(&[format!("{}/all/", site.base)]);
    assert_eq!(shown(&project, &["--fetch"]).0, ["own -", "a fetched"]);
    site.set("/all/", "[\"a.md\", \"n.md\"]");
    site.set("/all/n.md", "New");
    assert_eq!(shown(&project, &["--fetch"]).0, ["own -", "a fetched", "n fetched"]);
    site.set("/all/a.md", "Changed");
    let output = project.run(&["show", FILE, "--fetch"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stderr.contains("agent-file/command-remote-changed"), "{output}");
    // What was accepted is still there, and a kept content that is not what was recorded does not count.
    assert_eq!(shown(&project, &[]).0, ["own -", "a cached", "n cached"]);
    let kept = project.home().join(".cache/brief/agent-commands");
    for entry in std::fs::read_dir(&kept).unwrap().flatten() {
        if std::fs::read(entry.path()).unwrap() == b"New" {
            std::fs::write(entry.path(), "Other").unwrap();
        }
    }
    assert_eq!(shown(&project, &[]).0, ["own -", "a cached"]);
}

/// Bad input: errors of that entry, and the agent goes on.
#[test]
fn a_bad_index_is_an_error_of_that_entry() {
    let many: Vec<String> = (0..10_000).map(|number| format!("\"c{number}.md\"")).collect();
    let other =
        Site::start(&[("/all/", "[\"a.md\"]"), ("/a.md", "Elsewhere"), ("/all/a.md", "Elsewhere")]);
    let site = Site::start(&[
        ("/many/", &format!("[{}]", many.join(","))),
        ("/climb/", "[\"../secret.md\", \"ok.md\", \"/etc/x.md\", \"a/b.md\", 7]"),
        ("/climb/ok.md", "Fine"),
        ("/secret.md", "Secret"),
        ("/object/", "{\"a.md\": 1}"),
        ("/away/", &format!("-> {}/all/", other.base)),
        ("/files/", "[\"away.md\", \"none.md\", \"big.md\", \"good.md\"]"),
        ("/files/away.md", &format!("-> {}/a.md", other.base)),
        ("/files/big.md", &"x".repeat(1 << 21)),
        ("/files/good.md", "Good"),
        ("/slash", "-> /slash/"),
        ("/slash/", "<a href=\"s.md\">s</a>"),
        ("/slash/s.md", "Slash"),
    ]);
    let entries = ["many/", "climb/", "object/", "away/", "files/", "gone/", "slash"]
        .map(|path| format!("{}/{path}", site.base));
    let project = agent(&entries);
    let (names, output) = shown(&project, &["--fetch"]);
    let expected = [
        "own -",
        "- unresolved",
        "ok fetched",
        "- unresolved",
        "- unresolved",
        "good fetched",
        "- unresolved",
        "s fetched",
    ];
    assert_eq!(names, expected, "{output}");
    for words in [
        "/many/: its index has 10000 commands, more than 1000",
        "/climb/: `../secret.md` is not the name of a file in it",
        "/climb/: an entry of its index is not a name",
        "/object/: its index is a JSON object",
        "/away/: the server redirects to another host, `127.0.0.1:",
        "/files/away.md: the server redirects to another host, `127.0.0.1:",
        "/files/none.md: the server answered 404",
        "/files/big.md: is larger than 1048576 bytes",
        "/gone/: the server answered 404",
    ] {
        assert!(output.stderr.contains(words), "{words}: {output}");
    }
    // Plain `http` is for this machine only.
    let project = agent(&["http://example.com/commands/".to_owned()]);
    let (names, output) = shown(&project, &["--fetch"]);
    assert_eq!(names, ["own -", "- unresolved"], "{output}");
    assert!(output.stdout.contains("or over `http` from this machine"), "{output}");
}

/// Python's own server, whose listing is a page of links.
#[test]
fn a_listing_of_pythons_server_is_an_index() {
    needs!(Python);
    let site = project();
    for (name, text) in [
        ("a b&c.md", "First $1"),
        ("test.md", "Second"),
        ("x.txt", "no"),
        (".hidden.md", "no"),
        ("sub/s.md", "no"),
    ] {
        site.write(&format!("commands/{name}"), text);
    }
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let server = Served(
        Command::new("python3")
            .args(["-m", "http.server", &port.to_string(), "--bind", "127.0.0.1", "--directory"])
            .arg(site.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("`python3` starts"),
    );
    wait_until("the server starts", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    for entry in
        [format!("http://127.0.0.1:{port}/commands/"), format!("http://localhost:{port}/commands")]
    {
        let project = agent(&[entry]);
        let (names, output) = shown(&project, &["--fetch"]);
        assert_eq!(names, ["own -", "a b&c fetched", "test fetched"], "{output}");
        let command = project.run(&["debug", "command", FILE, "a b&c", "x"]);
        assert_eq!(command.stdout, "First x\n", "{command}");
    }
    drop(server);
}

/// A server that ends with the test.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
