//! `brief view`, and the pictures of `tokens` and `tree`.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};

use brief_testkit::{PATIENCE, Sandbox, wait_for, wait_until};
use serde_json::Value;

use crate::diff::{commit, git};
use crate::fleet_update::{member, with_two_versions};
use crate::hook_clients::{hook, marked, tool};
use crate::install::{consumer, guidance, item};
use crate::{project, shop};

/// The pages of an earlier state.
pub(crate) fn with_pages(project: &Sandbox) {
    project.write(".claude/rules/api.md", "---\npaths: [src/**]\n---\nText.\n");
    assert_eq!(project.run(&["view", "--out", "pages"]).code, Some(0));
    project.write(".claude/rules/more.md", "More.\n");
}

/// A viewer, with the address that it prints.
struct Viewer {
    child: Child,
    host: String,
    path: String,
}

impl Viewer {
    fn start(project: &Sandbox, args: &[&str]) -> Viewer {
        let mut command = project.prepare_command("", args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://").unwrap_or_else(|| panic!("{line}"));
        let (host, path) = address.split_once('/').unwrap();
        Viewer { child, host: host.to_owned(), path: format!("/{path}") }
    }

    fn get(&self, page: &str) -> String {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let (path, host) = (&self.path, &self.host);
        write!(stream, "GET {path}{page} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n")
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 "), "{page}: {answer}");
        answer
    }

    /// Returns the page when the project has been checked.
    fn checked(&self) -> String {
        wait_for("the project is checked", || {
            Some(self.get("")).filter(|page| page.contains("id=\"errors\""))
        })
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Y09: the browser gets a page that only the user can read; no program has the token among its arguments.
#[test]
fn y09_no_program_gets_the_token_as_an_argument() {
    use std::os::unix::fs::PermissionsExt;
    let project = shop();
    let programs = project.outside_directory().join("programs");
    std::fs::create_dir_all(&programs).unwrap();
    let seen = project.outside_directory().join("seen");
    let script =
        format!("#!/bin/sh\nprintf '%s\\n' \"$@\" > {0}.part\nmv {0}.part {0}\n", seen.display());
    brief_testkit::write_program(&programs.join("xdg-open"), script);
    let mut command = project.prepare_command("", &["view"]);
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{path}", programs.display())).env("DISPLAY", ":9");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let url = line.trim();
    let argument = wait_for("the browser is called", || std::fs::read_to_string(&seen).ok());
    let token = url.trim_end_matches('/').rsplit('/').next().unwrap();
    assert!(!argument.contains(token), "{argument}");
    let page = argument.trim().strip_prefix("file://").unwrap();
    assert!(std::fs::read_to_string(page).unwrap().contains(&format!("0; url={url}")));
    let mode = std::fs::metadata(page).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let _ = child.kill();
    let _ = child.wait();
}

/// Y10: connections that stay silent keep no other out, and a request with two hosts is refused.
#[test]
fn y10_silent_connections_keep_no_other_out() {
    let project = shop();
    let viewer = Viewer::start(&project, &["view", "--no-open"]);
    // The oldest silent connections make room. The newest is open until the server gives it up, which happens before the
    // answer only on a machine that is too busy to tell.
    wait_until("an answer comes while others are silent", || {
        let mut silent: Vec<TcpStream> = (0..300)
            .map(|number| {
                let mut stream = TcpStream::connect(&viewer.host).unwrap();
                if number % 2 == 0 {
                    let _ = write!(stream, "GET / HTTP/1.1\r\nhost:");
                }
                stream
            })
            .collect();
        viewer.get("");
        let mut newest = silent.pop().unwrap();
        newest.set_nonblocking(true).unwrap();
        newest.read(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    });
    let (path, host) = (&viewer.path, &viewer.host);
    for (target, headers, is_ours) in [
        (path.clone(), format!("host: {host}"), true),
        (format!("http://{host}{path}"), format!("host: {host}"), true),
        (path.clone(), format!("host: {host}\r\nhost: evil.example"), false),
        (path.clone(), format!("host: {host}\r\norigin: http://evil.example"), false),
        (format!("http://evil.example{path}"), format!("host: {host}"), false),
        (format!("http://{host}{path}"), "host: evil.example".to_owned(), false),
        (path.clone(), "host: localhost:1".to_owned(), false),
    ] {
        let mut stream = TcpStream::connect(host).unwrap();
        write!(stream, "GET {target} HTTP/1.1\r\n{headers}\r\nconnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert_eq!(answer.starts_with("HTTP/1.1 200 "), is_ours, "{target} {headers}: {answer}");
    }
}

/// Returns the first number after a mark.
fn number(page: &str, mark: &str) -> u64 {
    let rest = page.split(mark).nth(1).unwrap_or_else(|| panic!("{mark} is not in {page}"));
    let rest = rest.split("<data value=\"").nth(1).unwrap();
    rest.split('"').next().unwrap().parse().unwrap()
}

/// Guidance with problems of each kind.
fn troubled() -> Sandbox {
    shop()
        .with_dir(".git")
        .with_file("CLAUDE.md", "See [the rules](docs/rules.md).\n")
        .with_file("docs/a.md", "")
        .with_file(
            "lib/AGENTS.yaml",
            "context:\n  - {content: Dead, match: ['none/**']}\n  - {content: x, when: never}\n",
        )
}

/// The pages of a project say what the commands print.
#[test]
fn pages_say_what_the_commands_print() {
    let project = troubled();
    let json = |args: &[&str]| -> Value { project.run(args).json() };
    let tokens = json(&["tokens", "--json"]);
    // The page counts references and reach apart.
    let lint = json(&["lint", "--only", "mistakes", "--json"]);
    let (coverage, stale) = (json(&["coverage", "--json"]), json(&["stale", "--json"]));
    let viewer = Viewer::start(&project, &["view", "--no-open"]);
    let page = viewer.checked();
    let count = |value: &Value| value.as_array().unwrap().len() as u64;
    assert_eq!(number(&page, "id=\"tokens\""), tokens["tokens"].as_u64().unwrap());
    assert_eq!(number(&page, "id=\"items\""), count(&tokens["items"]));
    for of in tokens["formats"].as_array().unwrap() {
        let row = format!("data-format={}", of["format"]);
        assert_eq!(number(&page, &row), of["items"].as_u64().unwrap());
    }
    for of in tokens["clients"].as_array().unwrap() {
        let row = page.split(&format!("data-client={}", of["client"])).nth(1).unwrap();
        let row = row.split("</tr>").next().unwrap();
        for (column, part) in ["loaded", "listed", "delivered", "missing"].iter().enumerate() {
            let cell = row.split("class=\"number\"").nth(column + 1).unwrap();
            assert_eq!(number(&format!("!{cell}"), "!"), of[part].as_u64().unwrap());
        }
    }
    assert!(lint["errors"].as_u64().unwrap() > 0 && count(&stale["found"]) > 0);
    assert_eq!(number(&page, "id=\"errors\""), lint["errors"].as_u64().unwrap());
    assert_eq!(number(&page, "id=\"warnings\""), lint["warnings"].as_u64().unwrap());
    assert_eq!(number(&page, "id=\"stale\""), count(&stale["found"]));
    assert_eq!(number(&page, "id=\"coverage\""), coverage["findings"].as_u64().unwrap());
    assert_eq!(number(&page, "id=\"bare\""), coverage["without_guidance"].as_u64().unwrap());
    let sees = json(&["show", "src/cart.py", "claude", "cursor", "--on", "edit", "--json"]);
    let page = viewer.get("file/src/cart.py?client=claude&client=cursor&on=edit");
    for part in ["loaded", "listed", "delivered", "missing"] {
        let row = page.split(&format!("data-total=\"{part}\"")).nth(1).unwrap();
        for client in ["claude", "cursor"] {
            let cell = format!("data-client=\"{client}\"");
            assert_eq!(number(row, &cell), sees["totals"][client][part].as_u64().unwrap());
        }
    }
    let told = json(&["hook", "test", "claude", "src/cart.py", "--on", "edit", "--json"]);
    let texts =
        told["events"].as_array().unwrap().iter().filter_map(|event| event["text"].as_str());
    for line in texts.flat_map(str::lines) {
        let escaped = line
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
            .replace('"', "&quot;");
        assert!(page.contains(&escaped), "{line}");
    }
}

/// Returns the values of an attribute, in the order of the page.
fn values<'p>(page: &'p str, attribute: &str) -> Vec<&'p str> {
    let mark = format!(" {attribute}=\"");
    page.split(mark.as_str()).skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

/// The page of changes says what `brief diff` prints.
#[test]
fn changes_are_those_of_diff() {
    let project = shop();
    git(&project, &["init", "--quiet", "--initial-branch=main"]);
    commit(&project);
    let entries = project.read("AGENTS.yaml");
    project.write("AGENTS.yaml", entries.replace("Speak plainly.", "Speak very plainly."));
    project.write("src/AGENTS.yaml", "context:\n  - content: Only here.\n");
    let json = project.run(&["diff", "--json"]).json();
    let changes = json["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 2, "{json}");
    let viewer = Viewer::start(&project, &["view", "--no-open"]);
    let page = viewer.get("change?from=HEAD");
    assert_eq!(number(&page, "id=\"changes\""), changes.len() as u64);
    assert_eq!(number(&page, "id=\"changed-files\""), json["changed_files"].as_u64().unwrap());
    let kinds: Vec<&str> = changes.iter().map(|change| change["kind"].as_str().unwrap()).collect();
    assert_eq!(values(&page, "data-change"), kinds);
}

/// The page of sessions says what `brief log` prints.
#[test]
fn sessions_are_those_of_receipts() {
    let project = marked();
    hook(&project, &["claude"], &tool(&project, "PreToolUse", "Read", "src/api/a.py"));
    let json = project.run(&["log", "--json"]).json();
    let told = json["receipts"].as_array().unwrap();
    let never = project.run(&["log", "--unused", "--json"]).json();
    let viewer = Viewer::start(&project, &["view", "--no-open"]);
    viewer.checked();
    let page = viewer.get("sessions");
    assert!(!told.is_empty());
    assert_eq!(number(&page, "id=\"receipts\""), told.len() as u64);
    let never = never["never"].as_array().unwrap().len() as u64;
    assert_eq!(number(&page, "id=\"never-count\""), never);
    assert_eq!(values(&page, "data-session"), [told[0]["session"].as_str().unwrap()]);
    let tokens: u64 = told
        .iter()
        .flat_map(|receipt| receipt["items"].as_array().unwrap())
        .map(|item| item["tokens"].as_u64().unwrap())
        .sum();
    assert_eq!(number(&page, "data-day"), tokens);
}

/// The page of installed items says what `brief list` and `brief update --check` print. Sources are asked by the command alone.
#[test]
fn installed_items_are_those_of_list() {
    let project = consumer();
    let remote = guidance(&project);
    assert_eq!(project.run(&["add", "acme/guidance"]).code, Some(0));
    let newer = remote.commit(&[("rules/money/RULE.md", &item("money", "Newer."))]);
    let json = project.run(&["list", "--json"]).json();
    let listed = json["items"].as_array().unwrap();
    let viewer = Viewer::start(&project, &["view", "--no-open"]);
    viewer.checked();
    let page = viewer.get("registry");
    assert_eq!(number(&page, "id=\"installed-count\""), listed.len() as u64);
    let names: Vec<String> = listed
        .iter()
        .map(|item| {
            format!("{}/{}", item["kind"].as_str().unwrap(), item["name"].as_str().unwrap())
        })
        .collect();
    assert_eq!(values(&page, "data-item"), names);
    assert!(page.contains("not checked") && values(&page, "data-update").is_empty(), "{page}");
    assert_eq!(project.run(&["view", "--updates", "--out", "pages"]).code, Some(0));
    let page = project.read("pages/registry.html");
    assert_eq!(values(&page, "data-update"), ["true"]);
    assert!(page.contains(&newer[..12]), "{page}");
}

/// The page of a fleet says what `brief fleet status` prints, all and by state, served and exported.
#[test]
fn a_fleet_is_that_of_fleet() {
    let (project, _) = with_two_versions();
    for name in ["one", "two"] {
        member(&project, name);
    }
    let two = project.path().join("fleet/two");
    std::fs::write(two.join(".claude/rules/money.md"), "changed <b>\n").unwrap();
    crate::install::git(&two, &["commit", "--quiet", "-am", "message"]);
    let strange = project.path().join("fleet/<b>&amp;");
    std::fs::create_dir_all(&strange).unwrap();
    crate::install::git(&strange, &["init", "--quiet"]);
    let json = project.run(&["fleet", "status", "fleet", "--budget", "1", "--json"]).json();
    let all = json["repositories"].as_array().unwrap();
    let viewer = Viewer::start(&project, &["view", "--no-open", "--fleet", "fleet"]);
    viewer.checked();
    let page = viewer.get("fleet");
    let words = |one: &Value, key: &str| one[key].as_str().unwrap().to_owned();
    let escaped =
        |text: String| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let names: Vec<String> = all.iter().map(|one| escaped(words(one, "path"))).collect();
    assert_eq!(values(&page, "data-repository"), names);
    assert!(!page.contains("<b>"), "{page}");
    let states = |one: &Value| {
        let states = one["states"].as_array().unwrap().iter();
        let states =
            states.map(|state| state.as_str().unwrap()).filter(|state| *state != "over-budget");
        states.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(values(&page, "data-states"), all.iter().map(states).collect::<Vec<_>>());
    for state in ["drifted", "no-guidance", "behind"] {
        let found: Vec<String> = all
            .iter()
            .filter(|one| states(one).split(' ').any(|one| one == state))
            .map(|one| escaped(words(one, "path")))
            .collect();
        assert_eq!(number(&page, &format!("data-state=\"{state}\"")), found.len() as u64);
        let page = viewer.get(&format!("fleet?state={state}"));
        assert_eq!(values(&page, "data-repository"), found, "{state}");
    }
    assert_eq!(values(&page, "data-item"), ["rule/money"]);
    assert!(page.contains("<code>1.0.0</code>: <data value=\"2\">2</data>"), "{page}");
    let tokens = all[1]["tokens"].as_u64().unwrap();
    assert!(page.contains(&format!("<data value=\"{tokens}\">")), "{page}");

    assert_eq!(project.run(&["view", "--fleet", "fleet", "--out", "pages"]).code, Some(0));
    let exported = project.read("pages/fleet/all.html");
    assert_eq!(values(&exported, "data-repository"), names);
    assert!(exported.contains("href=\"../fleet/drifted.html\""), "{exported}");
    assert_eq!(values(&project.read("pages/fleet/drifted.html"), "data-repository"), ["fleet/two"]);
    // Without repositories there is no such page.
    assert_eq!(project.run(&["view", "--out", "others"]).code, Some(0));
    assert!(!project.path().join("others/fleet").exists());
    assert!(!project.read("others/index.html").contains("Fleet"));
    assert_eq!(project.run(&["view", "--fleet", "missing", "--out", "others"]).code, Some(1));
}

/// For the items of a file, the table of items and clients says what `brief show` says.
#[test]
fn the_matrix_is_that_of_sees() {
    let project = marked();
    let json = project.run(&["show", "src/api/a.py", "--json"]).json();
    let viewer = Viewer::start(&project, &["view", "--no-open"]);
    viewer.checked();
    let page = viewer.get("matrix");
    let mut count = 0;
    for item in json["items"].as_array().unwrap() {
        let place = format!(
            "data-place=\"{}:{}\"",
            item["source"]["path"].as_str().unwrap(),
            item["source"]["line"]
        );
        let row = page.split(&place).nth(1).unwrap_or_else(|| panic!("{place}"));
        let row = row.split("</tr>").next().unwrap();
        assert_eq!(number(row, "class=\"number\""), item["tokens"].as_u64().unwrap());
        for client in json["clients"].as_array().unwrap() {
            let client = client.as_str().unwrap();
            let cell = row.split(&format!("data-client=\"{client}\"")).nth(1).unwrap();
            let how = item["seen"][client]["how"].as_str().unwrap();
            assert_eq!(values(cell, "data-how").first(), Some(&how), "{place} {client}");
            count += 1;
        }
    }
    assert!(count > 0);
}

/// A search finds the items that have the word, and the files whose paths do.
#[test]
fn a_search_finds_items_and_files() {
    let project = shop();
    let viewer = Viewer::start(&project, &["view", "--no-open"]);
    viewer.checked();
    let page = viewer.get("search?q=floats");
    let mut places = values(&page, "data-place");
    places.sort_unstable();
    assert_eq!(places, ["AGENTS.yaml:14", "AGENTS.yaml:4"]);
    assert!(viewer.get("search?q=cart").contains("file/src/cart.py"));
    let nothing = viewer.get("search?q=zzzz");
    assert_eq!(number(&nothing, "id=\"found\""), 0);
}

#[test]
fn what_cannot_be_served_is_explained() {
    let project = shop();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let refused = project.run(&["view", "--no-open", "--port", &port]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("omit `--port` to use a free port"), "{}", refused.stderr);
    insta::assert_snapshot!(project.run(&["view", "nowhere"]), @r"
    ------- stderr -------
    error: cannot show `$PROJECT/nowhere`: No such file or directory (os error 2)
    hint: pass the directory of a project
    [exit status: 2]
    [EOF]
    ");
}

#[test]
fn an_export_is_written_and_never_over_other_files() {
    let project = troubled();
    insta::assert_snapshot!(project.run(&["view", "--out", "src"]), @r"
    ------- stderr -------
    error: `$PROJECT/src` contains files that brief did not create, such as `cart.py`
    hint: choose an empty directory, or one that `brief view --out` wrote
    [exit status: 1]
    [EOF]
    ");
    assert_eq!(project.run(&["view", "--out", "pages"]).code, Some(0));
    let first = project.read("pages/index.html");
    assert_eq!(project.run(&["view", "--out", "pages"]).code, Some(0));
    assert_eq!(project.read("pages/index.html"), first);
    let tokens = project.run(&["tokens", "--json"]).json();
    assert_eq!(number(&first, "id=\"tokens\""), tokens["tokens"].as_u64().unwrap());
}

#[test]
fn pictures_are_written_and_never_over_other_files() {
    let project = troubled();
    for (command, name) in [(&["tokens"][..], "context[1]"), (&["tokens", "--tree"], "src/")] {
        assert_eq!(project.run(&[command, &["--svg", "picture.svg"]].concat()).code, Some(0));
        let picture = project.read("picture.svg");
        assert!(picture.starts_with("<svg xmlns=") && picture.contains(name), "{picture}");
    }
    insta::assert_snapshot!(project.run(&["tokens", "--tree", "--svg", "CLAUDE.md"]), @r"
    ------- stderr -------
    error: `CLAUDE.md` already exists and is not an SVG file
    hint: choose a new file
    [exit status: 1]
    [EOF]
    ");
}

/// A project without anything has a page that says what to do.
#[test]
fn an_empty_project_is_told_how_to_begin() {
    let project = project();
    let viewer = Viewer::start(&project, &["view", "--no-open"]);
    assert!(viewer.get("").contains("brief init"));
}
