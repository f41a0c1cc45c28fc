//! A project from the client's side.

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use brief_engine::{Action, Project};
use brief_syntax::render::Envelope;
use brief_system::hash::sha256;
use brief_system::{Interruption, MemorySystem, OsSystem, System};
use brief_testkit::TestClient;
use serde_json::{Value as Json, json};
use tokio::sync::watch;

use super::super::{GatewayTimes, Served};
use super::kept::KeptAnswers;
use super::tools::ProjectTool;
use super::{ServerOptions, SharedProject, serve_over};
use crate::frame::FrameMark;

const SKILL: &str = "---\nname: migrate\ndescription: Changes the schema\nmetadata: {version: \"1.0\", size: 3}\n---\nStep one.\n";

fn shop() -> MemorySystem {
    MemorySystem::new("/p")
        .with_env("HOME", "/h")
        .with_dir("/h")
        .with_file("AGENTS.yaml", "context:\n  - {content: Prices are cents., match: ['**/*.py'], on: edit}\ndecisions:\n  - {decision: Use PostgreSQL., rationale: One database.}\n")
        .with_file("CLAUDE.md", "Be brief.\n")
        .with_file(".claude/skills/migrate/SKILL.md", SKILL)
        .with_file(".claude/skills/migrate/bin/run.sh", "echo hi\n")
        .with_file(".claude/skills/migrate/logo.png", b"\x89PNG\xff")
        .with_file(".agents/tasks/fix.md", "---\ndescription: Fixes it\n---\nFix ${issue}: !`date`\n")
        .with_file(".agents/commands/greet.md", "Hello ${1}: ${ARGUMENTS}\n")
        .with_file("agents/dev_helper.agent.md", "---\nversion: 1.0.0\n---\n# Helper\n\nHelps.\n")
        .with_file(".env", "SECRET=1\n")
}

fn options() -> ServerOptions {
    ServerOptions {
        directory: "/p".into(),
        client: None,
        gateway: Vec::new(),
        times: GatewayTimes::default(),
    }
}

/// Serves a project to a scripted client, which disconnects at the end.
fn session(
    system: MemorySystem,
    options: ServerOptions,
    script: impl FnOnce(&mut TestClient) + Send + 'static,
) {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let client = thread::spawn(move || script(&mut TestClient::new(theirs)));
    let streams = move || tokio::io::split(ours);
    let served =
        serve_over(Arc::new(system), options, streams, &Interruption::default(), &mut |_| {});
    client.join().unwrap();
    assert_eq!(served.unwrap(), Served::Closed);
}

/// Calls a tool as a program that wants the whole JSON.
fn call(client: &mut TestClient, tool: &str, arguments: &Json) -> Json {
    let mut arguments = arguments.clone();
    (arguments["json"], arguments["skipped"]) = (true.into(), true.into());
    client.request_result("tools/call", json!({"name": tool, "arguments": arguments}))
}

/// The answer of the library, in the shape of the command line.
fn answered(system: &dyn System, kind: &'static str) -> Json {
    let project = Project::open(system, "/p").unwrap();
    let briefing = project.briefing("a.py").client("claude").action(Action::Edit).resolve();
    let (root, diagnostics) = (briefing.root(), briefing.diagnostics.as_slice());
    serde_json::to_value(Envelope { kind, root, diagnostics, body: &briefing }).unwrap()
}

#[test]
fn a_question_has_the_answer_of_the_library_in_every_revision() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] {
        session(shop(), options(), move |client| {
            if version == "2026-07-28" {
                client.speak_newest();
            } else {
                assert_eq!(client.initialize(version)["protocolVersion"], version);
            }
            let asked = json!({"path": "a.py", "action": "edit", "client": "claude"});
            for kind in ["context", "why"] {
                let result = call(client, kind, &asked);
                assert_eq!(result["structuredContent"], answered(&shop(), kind), "{version}");
                let text = result["content"][0]["text"].as_str().unwrap();
                assert!(
                    text.contains("Prices are cents.") && text.contains("AGENTS.yaml:2"),
                    "{text}"
                );
                assert_eq!(text.contains("Be brief."), kind == "why", "{text}");
            }
        });
    }
}

/// L06: without asking, a model gets the text and nothing else.
#[test]
fn a_model_gets_the_text_alone() {
    session(shop(), options(), |client| {
        client.initialize("2025-11-25");
        let asked = json!({"name": "context", "arguments": {"path": "a.py"}});
        let result = client.request_result("tools/call", asked);
        assert!(result.get("structuredContent").is_none_or(Json::is_null), "{result}");
        assert!(result["content"][0]["text"].as_str().unwrap().contains("Prices are cents."));
        let asked = json!({"name": "context", "arguments": {"path": "a.py", "json": true}});
        let result = client.request_result("tools/call", asked);
        assert_eq!(result["structuredContent"]["skipped"], json!([]));
    });
}

#[test]
fn wrong_arguments_are_told_to_the_model_and_unknown_tools_to_the_client() {
    session(shop(), options(), |client| {
        client.initialize("2025-11-25");
        for (arguments, message) in [
            (json!({}), "missing field `path`"),
            (json!({"path": "a", "acton": "edit"}), "unknown field `acton`"),
            (json!({"path": "a", "action": "delete"}), "unknown variant `delete`"),
            (
                json!({"path": "a", "client": "claud"}),
                "unknown client `claud`; did you mean `claude`?",
            ),
            (json!({"path": "a", "formats": ["x"]}), "unknown format `x`"),
            (json!({"path": "a", "cwd": "no/where"}), "cannot open directory `no/where`"),
        ] {
            let result = call(client, "context", &arguments);
            assert_eq!(result["isError"], true);
            let text = result["content"][0]["text"].as_str().unwrap();
            assert!(text.starts_with(message), "{text}");
        }
        let unknown = client.request_answer("tools/call", json!({"name": "delete"}));
        assert_eq!(unknown["error"]["code"], -32602);
    });
}

#[test]
fn the_other_tools_answer() {
    session(shop(), options(), |client| {
        client.initialize("2025-11-25");
        let decisions =
            call(client, "decisions", &json!({"path": "a.py"}))["structuredContent"].clone();
        assert_eq!(decisions["decisions"][0]["decision"], "Use PostgreSQL.");
        assert_eq!(decisions["items"], json!([]));
        let sees = call(client, "show", &json!({"path": "a.py", "clients": ["claude", "roo"]}));
        let sees = &sees["structuredContent"]["items"];
        let prices = sees.as_array().unwrap().iter().find(|item| item["kind"] == "context");
        assert_eq!(prices.unwrap()["seen"]["claude"]["cause"], "no-hook");
        assert_eq!(prices.unwrap()["seen"]["roo"]["cause"], "not-supported");
        let found =
            call(client, "search", &json!({"query": "schemas"}))["structuredContent"].clone();
        assert_eq!(found["items"][0]["name"], "migrate");
        assert_eq!(found["items"][0]["source"]["path"], ".claude/skills/migrate/SKILL.md");
        let lint = call(client, "lint", &json!({}))["structuredContent"].clone();
        assert_eq!((&lint["kind"], &lint["errors"]), (&json!("lint"), &json!(0)));
        let result = call(client, "lint", &json!({"path": "../q"}));
        assert_eq!(result["isError"], true);
    });
}

/// Ruling G7: a server executes nothing; a command in a text stays as written.
#[test]
fn tasks_and_commands_are_prompts_and_run_nothing() {
    session(shop(), options(), |client| {
        client.initialize("2025-11-25");
        let prompts = client.request_result("prompts/list", json!({}))["prompts"].clone();
        assert_eq!(prompts[0]["name"], "fix");
        assert_eq!(prompts[0]["description"], "Fixes it");
        assert_eq!(prompts[0]["arguments"][0], json!({"name": "issue", "required": true}));
        assert_eq!(prompts[1]["arguments"][1], json!({"name": "arguments", "required": false}));
        let fix = client
            .request_result("prompts/get", json!({"name": "fix", "arguments": {"issue": "X-1"}}));
        let text = fix["messages"][0]["content"]["text"].as_str().unwrap();
        assert!(text.contains("Fix X-1: !`date`\n") && text.contains("Be brief."), "{text}");
        let arguments = json!({"arg1": "Ann", "arguments": "Ann and Bob"});
        let greet =
            client.request_result("prompts/get", json!({"name": "greet", "arguments": arguments}));
        let text = greet["messages"][0]["content"]["text"].as_str().unwrap();
        assert_eq!(text.trim_end(), "Hello Ann: Ann and Bob");
        let unknown = client.request_answer("prompts/get", json!({"name": "none"}));
        assert_eq!(unknown["error"]["code"], -32602);
    });
}

#[test]
fn only_what_is_offered_can_be_read() {
    session(shop(), options(), |client| {
        client.initialize("2025-11-25");
        let listed = client.request_result("resources/list", json!({}))["resources"].clone();
        let uris: Vec<&str> =
            listed.as_array().unwrap().iter().map(|one| one["uri"].as_str().unwrap()).collect();
        let skill = "skill://project/.claude/skills/migrate";
        assert_eq!(uris, [&format!("{skill}/SKILL.md"), "file:///p/agents/dev_helper.agent.md"]);
        assert_eq!(listed[0]["mimeType"], "text/markdown");
        let mut read = |uri: &str| client.request_answer("resources/read", json!({"uri": uri}));
        assert_eq!(read(uris[0])["result"]["contents"][0]["text"], SKILL);
        let logo = read(&format!("{skill}/logo.png"));
        assert_eq!(logo["result"]["contents"][0]["blob"], "iVBOR/8=");
        for uri in [
            "file:///p/.env".to_owned(),
            "file:///etc/passwd".to_owned(),
            format!("{skill}/../../../.env"),
            format!("{skill}/%2e%2e/%2e%2e/%2e%2e/.env"),
            String::new(),
        ] {
            assert_eq!(read(&uri)["error"]["code"], -32002, "{uri}");
        }
    });
}

/// SEP-2640: every file once, with its digest and size; the front matter as it stands in the file.
#[test]
fn skills_are_listed_with_digests() {
    session(shop(), options(), |client| {
        client.speak_newest();
        let discovered = client.request_result("server/discover", json!({}));
        let extensions = &discovered["capabilities"]["extensions"];
        assert_eq!(extensions["io.modelcontextprotocol/skills"], json!({"directoryRead": true}));
        assert!(discovered["capabilities"]["resources"].is_object());
        let result = client.request_result("skills/list", json!({}));
        assert_eq!(
            (&result["resultType"], &result["cacheScope"]),
            (&json!("complete"), &json!("private"))
        );
        assert!(result["ttlMs"].is_u64());
        let base = "skill://project/.claude/skills/migrate";
        let file = |name: &str, bytes: &[u8]| {
            let digest = format!("sha256:{}", sha256(bytes));
            json!({"uri": format!("{base}/{name}"), "digest": digest, "size": bytes.len()})
        };
        let front = json!({"name": "migrate", "description": "Changes the schema",
            "metadata": {"version": "1.0", "size": 3}});
        let files = json!([
            file("SKILL.md", SKILL.as_bytes()),
            file("bin/run.sh", b"echo hi\n"),
            file("logo.png", b"\x89PNG\xff")
        ]);
        let skill =
            json!({"uri": format!("{base}/SKILL.md"), "frontmatter": front, "resources": files});
        assert_eq!(result["skills"], json!([skill]));
        let uri = format!("{base}/SKILL.md");
        assert_eq!(client.request_result("skills/get", json!({"uri": uri}))["skill"], skill);
        let names = |result: &Json| -> Vec<String> {
            let children = result["resources"].as_array().unwrap();
            children
                .iter()
                .map(|child| format!("{} {}", child["name"], child["mimeType"]))
                .collect()
        };
        let children = client.request_result("resources/directory/read", json!({"uri": base}));
        assert_eq!(
            names(&children),
            [
                r#""SKILL.md" "text/markdown""#,
                r#""bin" "inode/directory""#,
                r#""logo.png" "image/png""#
            ]
        );
        let inner = client
            .request_result("resources/directory/read", json!({"uri": format!("{base}/bin")}));
        assert_eq!(names(&inner), [r#""run.sh" "text/x-shellscript""#]);
        for (method, uri) in [
            ("skills/get", "skill://project/none/SKILL.md".to_owned()),
            ("resources/directory/read", format!("{base}/none")),
            ("resources/directory/read", format!("{base}/SKILL.md")),
            ("resources/directory/read", "skill://elsewhere".to_owned()),
        ] {
            assert_eq!(
                client.request_answer(method, json!({"uri": uri}))["error"]["code"],
                -32602,
                "{uri}"
            );
        }
        assert_eq!(client.request_answer("skills/get", json!({}))["error"]["code"], -32602);
        assert_eq!(client.request_answer("skills/delete", json!({}))["error"]["code"], -32601);
    });
}

/// SEP-2640: the last segment of a directory's URI is the name; the files of a nested skill are files of the outer one; a
/// skill has at most 512 files; each URI is a resource with the listed bytes.
#[test]
fn skills_of_every_shape() {
    let skill = |name: &str| format!("---\nname: {name}\ndescription: Does {name}\n---\nText.\n");
    let mut shop = MemorySystem::new("/p")
        .with_file(".claude/skills/dir/SKILL.md", skill("other-name"))
        .with_file(".claude/skills/outer/SKILL.md", skill("outer"))
        .with_file(".claude/skills/outer/inner/SKILL.md", skill("inner"))
        .with_file(".claude/skills/outer/größe 1.md", "ü")
        .with_file(".claude/skills/nameless/SKILL.md", "---\ndescription: Does it\n---\nText.\n")
        .with_file(".claude/skills/many/SKILL.md", skill("many"));
    for number in 0..512 {
        shop = shop.with_file(&format!(".claude/skills/many/{number}.md"), "x");
    }
    session(shop, options(), |client| {
        client.speak_newest();
        let result = client.request_result("skills/list", json!({}));
        let uris = |skill: &Json| -> Vec<String> {
            let files = skill["resources"].as_array().unwrap().iter();
            files.map(|file| file["uri"].as_str().unwrap().to_owned()).collect()
        };
        let skills = result["skills"].as_array().unwrap().clone();
        let find =
            |name: &str| skills.iter().find(|skill| skill["frontmatter"]["name"] == name).cloned();
        for skill in &skills {
            let uri = skill["uri"].as_str().unwrap();
            let name = uri.strip_suffix("/SKILL.md").unwrap().rsplit('/').next();
            assert_eq!(name, skill["frontmatter"]["name"].as_str(), "{skill}");
            for (index, file) in uris(skill).iter().enumerate() {
                let contents = client.request_result("resources/read", json!({"uri": file}));
                let text = contents["contents"][0]["text"].as_str().unwrap();
                let listed = &skill["resources"][index];
                assert_eq!(listed["size"], text.len(), "{file}");
                assert_eq!(listed["digest"], format!("sha256:{}", sha256(text.as_bytes())));
            }
        }
        assert!(find("other-name").is_some());
        let outer = uris(&find("outer").unwrap());
        let base = "skill://project/.claude/skills/outer";
        assert_eq!(outer.len(), 3, "{outer:?}");
        assert!(outer.contains(&format!("{base}/inner/SKILL.md")), "{outer:?}");
        assert!(outer.contains(&format!("{base}/gr%C3%B6%C3%9Fe%201.md")), "{outer:?}");
        // What the extension cannot describe is no skill of it.
        assert!(find("many").is_none() && find("nameless").is_none(), "{skills:#?}");
    });
}

/// The lock knows what was installed, so a client refuses a file that was changed since.
#[test]
fn an_installed_skill_has_the_digest_of_its_lock() {
    let locked = sha256(SKILL.as_bytes());
    let lock = format!(
        "version = 2\n\n[[source]]\nname = \"acme\"\ndirectory = \"/a\"\n\n[[item]]\nkind = \"skill\"\nname = \"migrate\"\nsource = \"acme\"\n\
         path = \"skills/migrate\"\nsha256 = \"{locked}\"\ncapabilities = []\nfiles = [\n  \".claude/skills/migrate/SKILL.md {locked}\",\n]\n"
    );
    let changed = shop()
        .with_file("brief.lock", &lock)
        .with_file(".claude/skills/migrate/SKILL.md", SKILL.replace("one", "two"));
    brief_registry::lock::Lock::parse(&lock).unwrap();
    session(changed, options(), move |client| {
        client.initialize("2025-11-25");
        let skills = client.request_result("skills/list", json!({}));
        let main = &skills["skills"][0]["resources"][0];
        assert_eq!(main["digest"], format!("sha256:{locked}"));
        assert!(skills.get("resultType").is_none());
    });
}

/// Instructions have the index; what the client loads by itself is not repeated.
#[test]
fn instructions_name_what_is_offered_within_two_kilobytes() {
    let mut large = shop();
    for number in 0..60 {
        let skill = format!("---\nname: s{number}\ndescription: {}\n---\nx\n", "word ".repeat(40));
        large = large.with_file(&format!(".claude/skills/s{number}/SKILL.md"), skill);
    }
    session(large, options(), |client| {
        let instructions = client.initialize("2025-11-25")["instructions"].clone();
        let text = instructions.as_str().unwrap();
        assert!(text.len() <= 2_048 && text.contains(" more: "), "{text}");
        assert!(text.contains("- migrate: Changes the schema (skill://project/"), "{text}");
    });
    let claude = ServerOptions { client: Some("claude".to_owned()), ..options() };
    session(shop(), claude, |client| {
        let instructions = client.initialize("2025-11-25")["instructions"].clone();
        let text = instructions.as_str().unwrap();
        assert!(!text.contains("- migrate") && text.contains("- fix: Fixes it"), "{text}");
    });
}

/// A project on disk, because nothing in memory changes by itself.
#[expect(clippy::disallowed_methods, reason = "the files of a client change")]
fn on_disk(script: impl FnOnce(&mut TestClient, &Path) + Send + 'static) {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    let write = |path: &str, text: &str| {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write(".claude/skills/migrate/SKILL.md", SKILL);
    write(".agents/tasks/fix.md", "Fix it.\n");
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let options = ServerOptions { directory: root.clone(), ..options() };
    let client = thread::spawn(move || script(&mut TestClient::new(theirs), &root));
    let streams = move || tokio::io::split(ours);
    let served =
        serve_over(Arc::new(OsSystem), options, streams, &Interruption::default(), &mut |_| {});
    client.join().unwrap();
    assert_eq!(served.unwrap(), Served::Closed);
}

fn method(notification: &Json) -> &str {
    notification["method"].as_str().unwrap()
}

/// A client learns of a changed file, in every revision of the protocol. `bench/mcp.py` measures how soon.
#[test]
#[expect(clippy::disallowed_methods, reason = "the files of a client change")]
fn a_client_is_told_of_changes() {
    on_disk(|client, root| {
        client.initialize("2025-11-25");
        let uri = "skill://project/.claude/skills/migrate/SKILL.md";
        client.request_result("resources/subscribe", json!({"uri": uri}));
        client.request_result("prompts/list", json!({}));
        for number in 0..5 {
            std::fs::write(root.join(format!(".agents/tasks/new{number}.md")), "New.\n").unwrap();
            assert_eq!(method(&client.next_notification()), "notifications/prompts/list_changed");
        }
        let prompts = client.request_result("prompts/list", json!({}))["prompts"].clone();
        assert_eq!(prompts[1]["name"], "new0");
        // A file of a skill in a directory that is new, too.
        std::fs::create_dir(root.join(".claude/skills/migrate/bin")).unwrap();
        std::fs::write(root.join(".claude/skills/migrate/bin/run.sh"), "echo\n").unwrap();
        assert_eq!(method(&client.next_notification()), "notifications/resources/list_changed");
        std::fs::write(root.join(".claude/skills/migrate/SKILL.md"), SKILL.replace("one", "two"))
            .unwrap();
        assert_eq!(method(&client.next_notification()), "notifications/resources/list_changed");
        let updated = client.next_notification();
        assert_eq!(method(&updated), "notifications/resources/updated");
        assert_eq!(updated["params"]["uri"], uri);
        client.request_result("resources/unsubscribe", json!({"uri": uri}));
    });
    on_disk(|client, root| {
        client.speak_newest();
        // The answer comes when the lists have been made.
        client.request_result("prompts/list", json!({}));
        let asked = json!({"notifications": {"promptsListChanged": true}});
        let id = client.send_request("subscriptions/listen", asked);
        let acknowledged = client.next_notification();
        assert_eq!(method(&acknowledged), "notifications/subscriptions/acknowledged");
        // It has asked for one list only: a notification of the other would come before the second of these.
        std::fs::write(root.join(".claude/skills/migrate/SKILL.md"), SKILL.replace("one", "two"))
            .unwrap();
        for name in ["new", "newer"] {
            std::fs::write(root.join(format!(".agents/tasks/{name}.md")), "New.\n").unwrap();
            let news = client.next_notification();
            assert_eq!(method(&news), "notifications/prompts/list_changed");
            let subscription = &news["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
            assert_eq!(*subscription, json!(id), "{news}");
        }
    });
}

/// A question that was asked before is answered without reading, and never with what the files no longer say.
#[test]
fn an_answer_is_kept_until_a_file_changes() {
    let system = shop();
    system.advance_clock(Duration::from_secs(10));
    let shared = SharedProject {
        system: Arc::new(system.clone()),
        options: options(),
        tools: Arc::default(),
        offers: watch::Sender::new(None),
        gateway: None,
        kept: KeptAnswers::default(),
        mark: FrameMark::from_seed(b"server"),
    };
    let ask = |tool: ProjectTool, path: &str| {
        let Json::Object(arguments) = json!({"path": path}) else { unreachable!() };
        shared.answer_call(tool, arguments, None).unwrap()
    };
    for tool in [ProjectTool::Context, ProjectTool::Why, ProjectTool::Decisions] {
        let first = ask(tool, "a.py");
        assert!(Arc::ptr_eq(&first, &ask(tool, "a.py")), "{tool:?}");
        assert!(!Arc::ptr_eq(&first, &ask(tool, "b.py")), "{tool:?}");
    }
    let before = ask(ProjectTool::Context, "a.py");
    assert!(before.text.contains("Prices are cents."), "{}", before.text);
    let entry = "context:\n  - {content: Prices are euros., match: ['**/*.py']}\n";
    let changes: [(&str, &str, &str); 3] = [
        ("AGENTS.yaml", entry, "Prices are euros."),
        ("AGENTS.yml", "context:\n  - {content: A second file.}\n", "A second file."),
        (".claude/rules/new.md", "A new rule.\n", "A new rule."),
    ];
    for (path, content, told) in changes {
        let _ = system.clone().with_file(path, content);
        let now = ask(ProjectTool::Context, "a.py");
        assert!(now.text.contains(told), "{path}: {}", now.text);
    }
    assert!(!ask(ProjectTool::Context, "a.py").text.contains("Prices are cents."));
}
