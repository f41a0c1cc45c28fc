//! The ability `browser` in the program: its warning, its log, and its end when the program is killed.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;

use crate::project;
use brief_testkit::{needs, wait_for, wait_until};

const FILE: &str = "agents/dev_browse.agent.md";

const AGENT: &str = "---\nabilities:\n  allow: [browser, tool]\n---\n# Browse\n\nBrowses.\n\n## Tools\n\n```js\n\
    const scheme = (name) => ({ name, description: 'd', parameters: { type: 'object' } });\n\
    return {\n\
    read: { fn: async ({ url }, ctx, host) => { const page = await host.browser.open(url); return page.text(); }, scheme: scheme('read') },\n\
    stay: { fn: async ({ url }, ctx, host) => { const page = await host.browser.open(url); await page.wait(50000); }, scheme: scheme('stay') },\n\
    };\n```\n";

/// Serves one page, and returns the host and port.
fn serve() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = format!("localhost:{}", listener.local_addr().unwrap().port());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(
                b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 5\r\n\r\nHello",
            );
        }
    });
    host
}

#[test]
fn a_tool_reads_a_page_of_a_granted_host() {
    needs!(Chromium);
    let project = project().with_file(FILE, AGENT);
    let host = serve();
    let arguments = format!("{{\"url\": \"http://{host}/\"}}");
    let call = ["debug", "call", FILE, "read", &arguments, "--grant", "browser"];
    let output =
        project.run(&[&call[..], &["--allow-host", &host, "--audit", "log.jsonl"]].concat());
    assert_eq!((output.stdout.as_str(), output.code), ("Hello\n", Some(0)), "{output}");
    assert!(project.read("log.jsonl").contains("\"call\":\"open\""), "{output}");
    let is_root = std::fs::metadata("/proc/self")
        .is_ok_and(|of| std::os::unix::fs::MetadataExt::uid(&of) == 0);
    assert_eq!(
        output.stderr.contains("as root, the browser runs without its own sandbox"),
        is_root,
        "{output}"
    );
    let output = project.run(&call);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stderr.contains("requests to `localhost` must use `https`"), "{output}");
}

/// A killed program leaves neither a browser nor a profile behind.
#[test]
fn a_browser_ends_when_the_program_is_killed() {
    needs!(Chromium);
    let project = project().with_file(FILE, AGENT).with_env("TZ", "Test/Killed");
    let host = serve();
    let arguments = format!("{{\"url\": \"http://{host}/\"}}");
    let args =
        ["debug", "call", FILE, "stay", &arguments, "--grant", "browser", "--allow-host", &host];
    let mut child = project.prepare_command("", &args).spawn().unwrap();
    let (profile, _) =
        wait_for("a browser runs", || keeper().filter(|(_, processes)| *processes > 3));
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until("nothing is left", || keeper().is_none() && !Path::new(&profile).exists());
}

/// Finds the profile of the browser that was started with this test's time zone, and counts its processes.
fn keeper() -> Option<(String, usize)> {
    let processes = || std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let group = |path: &Path| {
        let stat = std::fs::read_to_string(path.join("stat")).ok()?;
        stat.rsplit(')').next()?.split_whitespace().nth(2).map(str::to_owned)
    };
    let (profile, own) = processes().find_map(|path| {
        let command = std::fs::read_to_string(path.join("cmdline")).ok()?;
        let environment = std::fs::read_to_string(path.join("environ")).ok()?;
        let is_ours = command.split('\0').nth(1) == Some("__browser-keeper")
            && environment.contains("TZ=Test/Killed\0");
        is_ours.then(|| Some((command.split('\0').nth(2)?.to_owned(), group(&path)?))).flatten()
    })?;
    Some((profile, processes().filter(|path| group(path).as_ref() == Some(&own)).count()))
}
