//! The user's browser.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::time::Duration;

use brief_syntax::text::percent_encoded;
use brief_system::{Call, Ending, System, TemporaryDir};

/// The time for a program that hands the address on.
const PATIENCE: Duration = Duration::from_secs(5);

/// The limit for its output.
const OUTPUT: usize = 4096;

/// The variables of which a desktop on Linux sets one.
const DISPLAYS: [&str; 3] = ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"];

/// Hands the address on in a session of its own: the first window of a browser lives as long as its opener, and must not
/// end with us.
const DETACHED: &str =
    "command -v xdg-open >/dev/null && setsid -f xdg-open \"$1\" </dev/null >/dev/null 2>&1";

/// The name of the page that leads to the address.
const PAGE: &str = "open.html";

/// Opens an address in the user's browser. `directory` is the one that the user works in.
///
/// Every account of the machine may list the arguments of programs, so the browser gets a page that only the user can read, and the page has the
/// address. It is removed with the returned directory.
pub fn open_in_browser(
    system: &dyn System,
    directory: &Path,
    url: &str,
) -> io::Result<TemporaryDir> {
    let kept = system.temporary_dir()?;
    let page = kept.path().join(PAGE);
    let text = format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta http-equiv=\"refresh\" content=\"0; url={url}\">\n<a href=\"{url}\">brief view</a>\n"
    );
    system.append(&page, text.as_bytes())?;
    let page = page.to_str().map(percent_encoded);
    let page =
        page.ok_or_else(|| io::Error::other("the path of the temporary directory is not UTF-8"))?;
    hand_on(system, directory, &format!("file://{page}")).map(|()| kept)
}

fn hand_on(system: &dyn System, directory: &Path, url: &str) -> io::Result<()> {
    let (program, arguments): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else {
        // Without a display, a browser for terminals would take this one.
        if !DISPLAYS.iter().any(|name| system.env(name).is_some_and(|value| !value.is_empty())) {
            return Err(io::Error::other("no display found"));
        }
        ("sh", &["-c", DETACHED, "sh"])
    };
    let mut call = Call::new(program, directory, PATIENCE, OUTPUT);
    call.args.extend(arguments.iter().map(OsString::from));
    call.args.push(url.into());
    match system.run_program(&call, &mut |_, _| {})? {
        Ending::Exited(0) => Ok(()),
        _ => Err(io::Error::other("no program found to open URLs")),
    }
}
