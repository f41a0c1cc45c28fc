//! The pages of small projects in memory, and the server on loopback.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use brief_engine::sees::{Sees, SeesReport};
use brief_engine::tokens::Counter;
use brief_engine::{Action, Project};
use brief_system::{FileKind, Files, Interruption, MemorySystem, OsSystem, System};
use serde_json::Value;

use super::*;
use brief_workflows::delivery::find_viewers;

const AGENTS: &str = "context:
  - content: Prices are cents.
    match: ['src/**']
  - content: Only after an edit.
    match: ['src/**']
    on: edit
    when: after
  - content: \"<script>alert('x')</script> \\u202E hidden\"
    match: ['src/a.py']
";

fn project() -> MemorySystem {
    MemorySystem::new("/p")
        .with_file("AGENTS.yaml", AGENTS)
        .with_file("CLAUDE.md", "Answer in one paragraph.\n")
        .with_file("src/a.py", "")
        .with_file("src/deep/b.py", "")
        .with_file("docs/c.md", "")
}

fn view(system: MemorySystem) -> ProjectView {
    let view = ProjectView::new(Arc::new(system), PathBuf::from("/p"), ViewExtras::default());
    view.read_project();
    view
}

fn get(view: &ProjectView, path: &str) -> (bool, String) {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let newest = view.newest.borrow().clone();
    view.render_page(&newest, path, query)
}

fn found(view: &ProjectView, path: &str) -> String {
    let (is_found, page) = get(view, path);
    assert!(is_found, "{path}: {page}");
    page
}

/// Returns the numbers of a page between two marks.
fn numbers(page: &str, from: &str, to: &str) -> Vec<usize> {
    let start = page.find(from).unwrap_or_else(|| panic!("{from} is not in {page}"));
    let rest = &page[start..];
    let part = &rest[..rest.find(to).unwrap_or(rest.len())];
    part.split("<data value=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap().parse().unwrap())
        .collect()
}

#[test]
fn the_project_page_has_the_numbers_of_tokens() {
    let view = view(project());
    let page = found(&view, "");
    let system = project();
    let project = Project::open(&system, "/p").unwrap();
    let everything = project.everything().resolve();
    assert_eq!(numbers(&page, "id=\"tokens\"", "</dd>"), [everything.tokens]);
    assert_eq!(numbers(&page, "id=\"items\"", "</dd>"), [everything.items().len()]);
    assert_eq!(numbers(&page, "id=\"files\"", "</dd>"), [5]);
    // `least` and `most` of `src`: what its files get.
    let cost = |path: &str| project.briefing(path).resolve().tokens;
    assert_eq!(
        numbers(&page, "data-directory=\"src\"", "</tr>"),
        [2, cost("src/deep/b.py"), cost("src/a.py")]
    );
}

/// Each cell of the table says what `brief show --json` says, with every switch.
#[test]
fn the_file_page_equals_the_answer_of_sees() {
    let view = view(project());
    for (query, action) in
        [("", None), ("?on=edit", Some(Action::Edit)), ("?on=read", Some(Action::Read))]
    {
        let page = found(&view, &format!("file/src/a.py{query}"));
        let system = project();
        let project = Project::open(&system, "/p").unwrap();
        let mut request = project.briefing("src/a.py");
        request.moment.action = action;
        let catalog = request.read_catalog();
        let clients = ["claude".to_owned()];
        let counter = Counter::estimate();
        let root = project.root().path();
        let viewers = find_viewers(&system, root, &request.moment, &clients);
        let sees = Sees::from_catalog(&catalog, root, &viewers, &|text: &str| counter.count(text));
        let report = SeesReport { moment: &request.moment, viewers: &viewers, sees: &sees };
        let report: Value = serde_json::to_value(report).unwrap();
        let items = report["items"].as_array().unwrap();
        assert!(items.len() >= 3);
        for item in items {
            let how = item["seen"]["claude"]["how"].as_str().unwrap();
            let place =
                format!("{}:{}", item["source"]["path"].as_str().unwrap(), item["source"]["line"]);
            let row =
                page.split("<tr data-place=\"").find(|row| row.starts_with(&format!("{place}\"")));
            if how == "skipped" {
                assert!(row.is_none(), "{place} {query}");
                continue;
            }
            let row = row.unwrap_or_else(|| panic!("{place} is not in {page}"));
            assert!(row.contains(&format!("data-client=\"claude\" data-how=\"{how}\"")), "{row}");
            let tokens = item["tokens"].as_u64().unwrap();
            assert!(row.contains(&format!("<data value=\"{tokens}\">")), "{row}");
        }
        for part in ["loaded", "listed", "delivered", "missing"] {
            let total = report["totals"]["claude"][part].as_u64().unwrap();
            let shown = numbers(&page, &format!("data-total=\"{part}\""), "</tr>");
            assert_eq!(shown, [usize::try_from(total).unwrap()], "{part} {query}");
        }
    }
}

#[test]
fn the_briefing_is_shown_as_the_model_gets_it() {
    let view = view(project());
    let page = found(&view, "file/src/deep/b.py?on=edit");
    assert!(page.contains("What the model reads"));
    assert!(page.contains("Only after an edit."), "{page}");
    assert!(!found(&view, "file/src/deep/b.py?on=read").contains("Only after an edit.</"));
    assert!(found(&view, "file/docs/c.md").contains("The hook delivers nothing"));
}

#[test]
fn an_item_has_its_text_reach_and_clients() {
    let view = view(project());
    let newest = view.newest.borrow().clone();
    let item = newest.snapshot.items.iter().find(|item| item.text.contains("cents")).unwrap();
    let page = found(&view, &format!("item/{}", item.id));
    assert!(page.contains("Prices are cents."));
    assert_eq!(numbers(&page, "id=\"files\"", "</span>"), [2]);
    assert!(page.contains("href=\"../file/src/deep/b.py\""), "{page}");
    assert!(page.contains("data-client=\"claude\" data-how=\"missing\""));
}

/// An identity survives lines above the item, so that a page follows it.
#[test]
fn an_item_keeps_its_address_when_lines_are_added_above() {
    let ids = |text: &str| {
        let view = view(MemorySystem::new("/p").with_file("AGENTS.yaml", text));
        let newest = view.newest.borrow().clone();
        newest.snapshot.items.iter().map(|item| item.id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids(AGENTS), ids(&format!("# a comment\n\n{AGENTS}")));
}

#[test]
fn texts_of_a_project_are_never_markup() {
    let hostile = "<img src=x onerror=alert(1)>\u{202e}\u{1b}[2J";
    let system = project().with_file(format!("src/{hostile}.py").as_str(), "").with_file(
        ".claude/rules/x.md",
        format!("---\ndescription: {hostile:?}\n---\n{hostile}\n").as_str(),
    );
    let view = view(system);
    let newest = view.newest.borrow().clone();
    let mut pages = vec![
        String::new(),
        "matrix".to_owned(),
        "search?q=onerror".to_owned(),
        "directory/src".to_owned(),
        format!("search?q={}", brief_syntax::text::percent_encoded(hostile)),
        format!("file/{}", brief_syntax::text::percent_encoded(hostile)),
        "sessions?about=%3Cscript%3E".to_owned(),
        "change?from=%3Cscript%3E".to_owned(),
        "registry".to_owned(),
        "file/src/a.py?client=%3Cscript%3E".to_owned(),
        "%3Cscript%3E".to_owned(),
    ];
    pages.extend(newest.snapshot.items.iter().map(|item| format!("item/{}", item.id)));
    for path in pages {
        let (_, page) = get(&view, &path);
        assert!(!page.contains("<img") && !page.contains("<script>"), "{path}: {page}");
        assert!(!page.contains(['\u{202e}', '\u{1b}']), "{path}");
    }
}

#[test]
fn pages_say_what_to_do_where_there_is_nothing() {
    let empty = view(MemorySystem::new("/p").with_dir("src"));
    assert!(found(&empty, "").contains("brief init"));
    let nowhere = ProjectView::new(
        Arc::new(MemorySystem::new("/p")),
        PathBuf::from("/q"),
        ViewExtras::default(),
    );
    nowhere.read_project();
    let (is_found, page) = get(&nowhere, "");
    assert!(!is_found && page.contains("brief view DIRECTORY"), "{page}");
    let view = view(project().with_file("brief.lock", "{ broken"));
    for (path, words) in [
        ("item/0123456789ab", "renamed or removed"),
        ("directory/gone", "Directory not found"),
        ("file/%2e%2e/x", "Page not found"),
        ("nothing", "Page not found"),
        ("file/src/a.py?client=nobody", "Unknown client"),
    ] {
        let (is_found, page) = get(&view, path);
        assert!(!is_found && page.contains(words), "{path}: {page}");
    }
    assert!(found(&view, "registry").contains("brief sync"));
    assert!(found(&view, "change").contains("Cannot compare the revisions"));
    assert!(found(&view, "sessions").contains("brief hook install"));
    assert!(found(&view, "file/src/new.py").contains("that creates it"));
}

#[test]
fn search_finds_items_and_files() {
    let view = view(project());
    let page = found(&view, "search?q=cents");
    assert_eq!(numbers(&page, "id=\"found\"", "</span>"), [1]);
    assert!(found(&view, "search?q=deep").contains("href=\"file/src/deep/b.py\""));
}

#[test]
fn ten_thousand_items_are_paged() {
    let entries: String = (0..10_000)
        .map(|number| ["  - content: rule ", &number.to_string(), "\n"].concat())
        .collect();
    let system = MemorySystem::new("/p").with_file("AGENTS.yaml", format!("context:\n{entries}"));
    let view = view(system);
    let page = found(&view, "matrix");
    assert!(page.len() < 400_000, "{}", page.len());
    assert!(page.contains("href=\"matrix?page=2\""));
    assert!(found(&view, "").len() < 400_000);
    assert!(found(&view, "search?q=rule").len() < 400_000);
}

/// A server for one test. It ends with the test.
struct Served {
    port: u16,
    token: &'static str,
    ended: Interruption,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.ended.raise();
    }
}

fn served(system: Arc<dyn System>, directory: &str) -> Served {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let ended = Interruption::default();
    let (until, view) =
        (ended.clone(), ProjectView::new(system, PathBuf::from(directory), ViewExtras::default()));
    let token = "0123456789abcdef";
    let address = ViewAddress { listener, token: token.to_owned() };
    thread::spawn(move || serve_view(view, address, &until));
    Served { port, token, ended }
}

impl Served {
    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(2))).unwrap();
        stream
    }

    fn ask(&self, line: &str, headers: &str) -> String {
        let mut stream = self.connect();
        write!(stream, "{line} HTTP/1.1\r\n{headers}connection: close\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8(answer).unwrap()
    }

    fn get(&self, path: &str) -> String {
        let host = format!("host: 127.0.0.1:{}\r\n", self.port);
        self.ask(&format!("GET /{}/{path}", self.token), &host)
    }
}

#[test]
fn pages_are_served_behind_a_token_and_sealed() {
    let server = served(Arc::new(project()), "/p");
    let page = server.get("");
    assert!(page.starts_with("HTTP/1.1 200 "), "{page}");
    for header in [
        "content-security-policy: default-src 'none';",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "frame-ancestors 'none'",
        "cache-control: no-store",
    ] {
        assert!(page.contains(header), "{header}");
    }
    assert!(!page.contains(server.token), "no page bears the token");
    assert!(server.get("style.css").contains("text/css"));
    assert!(server.get("script.js").contains("text/javascript"));
    assert!(server.get("nothing").starts_with("HTTP/1.1 404 "));
}

#[test]
fn strangers_are_refused() {
    let server = served(Arc::new(project()), "/p");
    let (port, token) = (server.port, server.token);
    let host = format!("host: 127.0.0.1:{port}\r\n");
    let refused = |line: &str, headers: &str, status: &str| {
        let answer = server.ask(line, headers);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{line} {headers}: {answer}");
        assert!(!answer.contains("AGENTS.yaml"));
    };
    refused("GET /", &host, "403");
    refused("GET /wrong/", &host, "403");
    refused(&format!("GET /{token}x/"), &host, "403");
    refused(&format!("GET /{token}/"), "host: evil.example\r\n", "403");
    refused(&format!("GET /{token}/"), "host: 127.0.0.1:1\r\n", "403");
    refused(&format!("GET /{token}/"), "", "403");
    refused(&format!("GET /{token}/"), &format!("{host}origin: http://evil.example\r\n"), "403");
    refused(&format!("GET /{token}/"), &format!("{host}origin: null\r\n"), "403");
    refused(&format!("POST /{token}/"), &host, "405");
    refused(&format!("DELETE /{token}/"), &host, "405");
    refused(&format!("GET /{token}/file/..%2f..%2fetc/passwd"), &host, "404");
    let own = format!("{host}origin: http://127.0.0.1:{port}\r\n");
    assert!(server.ask(&format!("GET /{token}/"), &own).starts_with("HTTP/1.1 200 "));
    let moved = server.ask(&format!("GET /{token}"), &host);
    assert!(moved.starts_with("HTTP/1.1 308 ") && moved.contains(&format!("location: /{token}/")));
}

/// A change is told, and the page shows it.
#[test]
fn a_page_is_told_of_a_change() {
    let directory = tempfile::tempdir().unwrap();
    let system: Arc<dyn System> = Arc::new(OsSystem);
    let root = system.resolve_dir(directory.path()).unwrap();
    let file = root.join("AGENTS.yaml");
    system.create_file(&file, b"context:\n  - content: first words\n").unwrap();
    let server = served(Arc::clone(&system), root.to_str().unwrap());
    let state = || {
        let page = server.get("");
        let state = page.split("events?since=").nth(1).unwrap().split('"').next().unwrap();
        (state.to_owned(), page.contains("id=\"errors\""))
    };
    // The project is read, checked and followed before anything changes.
    let mut before = state();
    loop {
        thread::sleep(Duration::from_millis(400));
        let now = state();
        if now.1 && now == before {
            break;
        }
        before = now;
    }
    let mut events = server.connect();
    let (token, since, port) = (server.token, before.0, server.port);
    write!(events, "GET /{token}/events?since={since} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n\r\n")
        .unwrap();
    system.replace_file(&file, b"context:\n  - content: second words\n").unwrap();
    let (mut told, mut piece) = (String::new(), [0; 1024]);
    while !told.contains("event: change") {
        let length = events.read(&mut piece).unwrap();
        assert!(length > 0, "{told}");
        told.push_str(&String::from_utf8_lossy(&piece[..length]));
    }
    // A check that was still under way may have been the change that was told.
    while !server.get("search?q=second").contains("second words") {
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn two_viewers_do_not_disturb_each_other() {
    let system: Arc<dyn System> = Arc::new(project());
    let (one, other) = (served(Arc::clone(&system), "/p"), served(system, "/p"));
    assert!(one.get("").starts_with("HTTP/1.1 200 ") && other.get("").starts_with("HTTP/1.1 200 "));
}

fn pages_in(directory: &std::path::Path) -> Vec<(String, String)> {
    let mut pages = Vec::new();
    let mut waiting = vec![directory.to_owned()];
    while let Some(directory_now) = waiting.pop() {
        let handle = OsSystem.open_dir(&directory_now).unwrap();
        for entry in handle.entries().unwrap() {
            let path = directory_now.join(&entry.name);
            if entry.kind == FileKind::Directory {
                waiting.push(path);
                continue;
            }
            let text = String::from_utf8(handle.read(&entry.name, 1 << 24).unwrap()).unwrap();
            pages.push((path.strip_prefix(directory).unwrap().to_str().unwrap().to_owned(), text));
        }
    }
    pages.sort();
    pages
}

/// Every link of an export leads to one of its files, twice the same bytes come out, and files of others stay.
#[test]
fn an_export_is_whole_the_same_and_careful() {
    let directory = tempfile::tempdir().unwrap();
    let system: Arc<dyn System> = Arc::new(OsSystem);
    let top = system.resolve_dir(directory.path()).unwrap();
    let root = top.join("shop");
    for path in ["shop", "shop/src", "shop/src/deep"] {
        system.create_dir(&top.join(path)).unwrap();
    }
    system.create_file(&root.join("AGENTS.yaml"), AGENTS.as_bytes()).unwrap();
    system
        .create_file(&root.join("src/deep/AGENTS.yaml"), b"context:\n  - content: Deep.\n")
        .unwrap();
    system.create_file(&root.join("src/a.py"), b"").unwrap();
    let out = top.join("out");
    let report = export_pages(&system, &root, &out, None, ViewExtras::default()).unwrap();
    let first = pages_in(&out);
    assert_eq!(report.files, first.len());
    assert!(first.len() > 10, "{}", first.len());
    let names: Vec<&str> = first.iter().map(|(name, _)| name.as_str()).collect();
    for (name, text) in first.iter().filter(|(_, text)| text.starts_with("<!DOCTYPE")) {
        assert!(!text.contains(top.to_str().unwrap()), "{name} names a path of the machine");
        let links = text.split("href=\"").skip(1).chain(text.split("src=\"").skip(1));
        for link in links.map(|rest| rest.split('"').next().unwrap()) {
            if link.starts_with("data:") || link.starts_with('#') {
                continue;
            }
            let above = usize::from(name.contains('/'));
            assert_eq!(link.matches("../").count(), above, "{name}: {link}");
            assert!(names.contains(&link.trim_start_matches("../")), "{name}: {link}");
        }
    }
    export_pages(&system, &root, &out, None, ViewExtras::default()).unwrap();
    assert_eq!(pages_in(&out), first);
    system.create_file(&out.join("notes.txt"), b"mine").unwrap();
    let refused = export_pages(&system, &root, &out, None, ViewExtras::default()).unwrap_err();
    assert!(matches!(refused, ExportError::Foreign { example, .. } if example == "notes.txt"));
    assert_eq!(system.read(&out.join("notes.txt"), 100).unwrap(), b"mine");
    let refused = export_pages(&system, &root, &root, None, ViewExtras::default()).unwrap_err();
    assert!(matches!(refused, ExportError::Foreign { .. }));
    assert!(matches!(
        export_pages(&system, &root, &top.join("new"), Some("main"), ViewExtras::default()),
        Err(ExportError::History(_))
    ));
    let left: Vec<String> = pages_in(&top)
        .into_iter()
        .map(|(name, _)| name)
        .filter(|name| name.starts_with(".brief"))
        .collect();
    assert_eq!(left, [""; 0]);
}
