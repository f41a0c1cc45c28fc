//! Browsers that are not there, die, or must end.

use std::path::{Path, PathBuf};
use std::time::Duration;

use brief_testkit::{needs, wait_until};
use serde_json::json;

use super::Run;
use super::site::Site;

/// The processes of one browser.
struct Processes {
    profile: PathBuf,
    group: String,
}

impl Processes {
    /// Finds the keeper whose browser has this time zone: other tests have browsers, too.
    fn of(zone: &str) -> Option<Processes> {
        let mark = format!("TZ={zone}\0");
        let mut keepers = std::fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
            let environment = std::fs::read(entry.path().join("environ")).ok()?;
            let command = std::fs::read(entry.path().join("cmdline")).ok()?;
            let command = String::from_utf8_lossy(&command).into_owned();
            let is_keeper = command.split('\0').nth(1) == Some("__browser-keeper");
            let has_zone = String::from_utf8_lossy(&environment).contains(&mark);
            let profile = PathBuf::from(command.split('\0').nth(2)?);
            (is_keeper && has_zone).then_some(Processes { profile, group: group(&entry.path())? })
        });
        keepers.next()
    }

    /// Lists the numbers and command lines of all of them.
    fn list(&self) -> Vec<(i32, String)> {
        let all = std::fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
            let number = entry.file_name().to_str()?.parse().ok()?;
            let command = std::fs::read(entry.path().join("cmdline")).ok()?;
            let is_ours = group(&entry.path())? == self.group && !command.is_empty();
            is_ours.then(|| (number, String::from_utf8_lossy(&command).replace('\0', " ")))
        });
        all.collect()
    }

    /// Waits until nothing is left of it.
    fn wait_for_end(&self) {
        wait_until("nothing is left", || !self.profile.exists() && self.list().is_empty());
    }
}

/// Returns the process group of a process.
fn group(process: &Path) -> Option<String> {
    let stat = std::fs::read_to_string(process.join("stat")).ok()?;
    stat.rsplit(')').next()?.split_whitespace().nth(2).map(str::to_owned)
}

fn kill(id: i32) {
    let process = rustix::process::Pid::from_raw(id).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::KILL).unwrap();
}

#[test]
fn a_browser_that_dies_is_replaced_and_leaves_nothing_behind() {
    needs!(Chromium);
    let zone = "Test/Dies";
    let site = Site::page("here");
    let mut run = Run::at(&site);
    run.env.push(("TZ", zone.to_owned()));
    let open = format!("const page = await host.browser.open('{}/'); return page.id", site.base());
    let read =
        "const [page] = await host.browser.pages(); return page ? await page.text() : 'no page'";
    let mut tools = run.tools(&["browser"], &[("open", &open), ("read", read)]);
    let mut call = |name: &str| tools.call_tool(name, &json!({}), &json!({}));
    assert!(Processes::of(zone).is_none());
    call("open").unwrap();
    let first = Processes::of(zone).unwrap();
    assert_eq!(call("read").unwrap(), json!("here"));
    // A page that crashes is an error of that page.
    for (id, _) in first.list().iter().filter(|(_, command)| command.contains("--type=renderer")) {
        kill(*id);
    }
    wait_until("the page is gone", || call("read").is_ok_and(|said| said == "no page"));
    call("open").unwrap();
    assert_eq!(call("read").unwrap(), json!("here"));
    // The browser itself.
    let is_main = |command: &str| {
        command.contains("--headless")
            && !command.contains("--type=")
            && !command.contains("keeper")
    };
    let main = first.list().into_iter().find(|(_, command)| is_main(command));
    kill(main.unwrap().0);
    let error = call("read").unwrap_err().to_string();
    assert!(error.starts_with("the browser has exited"), "{error}");
    assert_eq!(call("read").unwrap(), json!("no page"));
    first.wait_for_end();
    call("open").unwrap();
    assert_eq!(call("read").unwrap(), json!("here"));
    let second = Processes::of(zone).unwrap();
    assert_ne!(first.profile, second.profile);
    assert!(second.list().len() > 3);
    drop(tools);
    second.wait_for_end();
}

#[test]
fn a_browser_that_is_not_there_is_a_clear_error() {
    needs!(Chromium);
    let site = Site::page("here");
    for (program, expected) in [
        (
            "/no/such/program",
            "`BRIEF_BROWSER` names `/no/such/program`, which is not the absolute path to a program",
        ),
        (
            "no-such-program",
            "`BRIEF_BROWSER` names `no-such-program`, which is not the absolute path to a program",
        ),
        (
            "bin/chromium",
            "`BRIEF_BROWSER` names `bin/chromium`, which is not the absolute path to a program",
        ),
        // It starts, and is no browser.
        (
            "/bin/false",
            "the browser did not start; run it with `--headless --dump-dom about:blank` to see why",
        ),
        (
            "/bin/cat",
            "the browser did not start; run it with `--headless --dump-dom about:blank` to see why",
        ),
    ] {
        let mut run = Run::at(&site);
        run.env.push(("BRIEF_BROWSER", program.to_owned()));
        run.wall = Duration::from_secs(10);
        let error = run.error(&site, "");
        assert!(error.starts_with(expected), "{error}");
    }
    let mut run = Run::at(&site);
    run.env.push(("BRIEF_BROWSER", "chromium".to_owned()));
    assert_eq!(run.on(&site, "return await page.text()"), json!("here"));
}

#[test]
fn without_a_grant_nothing_is_started() {
    needs!(Chromium);
    let site = Site::page("here");
    let run = Run::at(&site);
    let error = run.try_on(&["network", "fs"], &site, "").unwrap_err().to_string();
    assert!(error.starts_with("AbilityDenied: ability 'browser' is not granted ("), "{error}");
    assert!(!site.was_asked("GET"));
    assert_eq!(run.log().lines().count(), 1);
}
