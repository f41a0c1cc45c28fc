//! The start of a browser: the program, its options, and the directory of its profile.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use brief_system::{Call, Environment, OsSystem, Processes, System, TemporaryDir, render_io_error};

use super::super::{AbilityResult, create_failure};
use super::gate::BrowserGate;
use super::wire::BrowserWire;

/// The argument that turns this program into the keeper of a browser. It is not part of the help, because users
/// do not type it.
pub const KEEPER_ARGUMENT: &str = "__browser-keeper";

/// The variable that names the program.
pub(super) const VARIABLE: &str = "BRIEF_BROWSER";

/// The names of the program, in the order of search.
const NAMES: [&str; 5] = [
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
    "microsoft-edge-stable",
];

/// The places of programs that are on no search path.
const PLACES: [&str; 2] = [
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/// The options of every start. The last ones close what leads past a proxy: packets of calls between pages, and of a
/// transport that has no proxies.
const OPTIONS: &str = "--headless --remote-debugging-pipe --no-startup-window --no-first-run \
    --no-default-browser-check --no-pings --no-service-autorun --disable-background-networking \
    --disable-breakpad --disable-client-side-phishing-detection \
    --disable-component-extensions-with-background-pages --disable-component-update --disable-crash-reporter \
    --disable-default-apps --disable-dev-shm-usage --disable-domain-reliability --disable-extensions --disable-gpu \
    --disable-quic --disable-sync --metrics-recording-only --mute-audio --password-store=basic \
    --use-mock-keychain --disk-cache-size=52428800 --window-size=1280,800 \
    --disable-features=AutofillServerCommunication,DialMediaRouteProvider,MediaRouter,OptimizationHints,Translate,WebUIOmniboxPopup \
    --webrtc-ip-handling-policy=disable_non_proxied_udp --disable-blink-features=WebTransport";

/// The settings of every profile: packets of calls between pages as above, and no question to a server of its maker
/// about forms, passwords, wrong certificates, words, or what comes next.
const SETTINGS: &str = r#"{
  "webrtc": {"ip_handling_policy": "disable_non_proxied_udp"},
  "alternate_error_pages": {"enabled": false},
  "autofill": {"enabled": false, "profile_enabled": false, "credit_card_enabled": false},
  "credentials_enable_service": false,
  "profile": {"password_manager_enabled": false, "password_manager_leak_detection": false},
  "safebrowsing": {"enabled": false},
  "search": {"suggest_enabled": false},
  "signin": {"allowed": false},
  "spellcheck": {"use_spelling_service": false},
  "translate": {"enabled": false}
}"#;

/// Lets requests for this machine go through a proxy, too.
pub(super) const THIS_MACHINE_TOO: &str = "<-loopback>";

/// A started browser, and what has to end with it.
pub(super) struct LaunchedBrowser {
    pub(super) wire: BrowserWire,
    pub(super) gate: BrowserGate,
    pub(super) profile: TemporaryDir,
}

/// Starts a browser with a profile of its own.
pub(super) fn launch_browser(
    system: &Arc<dyn System>,
    path: &[String],
    gate: BrowserGate,
) -> AbilityResult<LaunchedBrowser> {
    let unable = |what: &str, error: &std::io::Error| {
        create_failure(format!("{what}: {}", render_io_error(error)))
    };
    let program = find_browser(system.as_ref(), path)?;
    let profile =
        system.temporary_dir().map_err(|error| unable("cannot create a profile", &error))?;
    let settings = profile.path().join("profile").join("Default");
    system
        .create_private_dir(&settings)
        .and_then(|()| system.create_file(&settings.join("Preferences"), SETTINGS.as_bytes()))
        .map_err(|error| unable("cannot create a profile", &error))?;
    let keeper =
        system.own_program().map_err(|error| unable("cannot start the browser", &error))?;
    let mut call = Call::new(keeper, "/", Duration::ZERO, 0)
        .arg(KEEPER_ARGUMENT)
        .arg(profile.path())
        .arg(&program);
    call.args.extend(browser_arguments(profile.path()));
    // Whatever a browser keeps for its user goes where the profile goes.
    call.environment = Environment::Path;
    for name in ["HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"] {
        call = call.with_env(name, profile.path());
    }
    for name in ["LANG", "LC_ALL", "TZ"] {
        if let Some(value) = system.env(name) {
            call = call.with_env(name, value);
        }
    }
    let companion = system
        .start_program(&call)
        .map_err(|error| unable(&format!("cannot start `{}`", program.display()), &error))?;
    Ok(LaunchedBrowser { wire: BrowserWire::new(companion, Arc::clone(system)), gate, profile })
}

fn browser_arguments(profile: &Path) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = OPTIONS.split_ascii_whitespace().map(Into::into).collect();
    let mut directory = OsString::from("--user-data-dir=");
    directory.push(profile.join("profile"));
    arguments.push(directory);
    // Pages have the gate as their proxy. What a browser asks for by itself, such as updates, has one that is nowhere.
    arguments.push("--proxy-server=http://nowhere.invalid:1".into());
    arguments.push(format!("--proxy-bypass-list={THIS_MACHINE_TOO}").into());
    arguments.push("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1".into());
    if lacks_sandbox() {
        arguments.push("--no-sandbox".into());
    }
    arguments
}

/// Returns whether a browser runs without its own sandbox: Chromium refuses to use it as root.
pub fn lacks_sandbox() -> bool {
    #[cfg(unix)]
    return rustix::process::geteuid().is_root();
    #[cfg(not(unix))]
    false
}

/// Finds the program: the one that the user names, or one with a usual name in `path`.
fn find_browser(system: &dyn System, path: &[String]) -> AbilityResult<PathBuf> {
    let is_there = |place: &Path| system.is_executable(place).unwrap_or(false);
    let in_path = |name: &Path| {
        path.iter().map(|directory| Path::new(directory).join(name)).find(|place| is_there(place))
    };
    if let Some(named) = system.env(VARIABLE) {
        let named = PathBuf::from(named);
        let is_bare = named.components().count() == 1;
        let found = if is_bare { in_path(&named) } else { Some(named.clone()) };
        return found.filter(|found| found.is_absolute() && is_there(found)).ok_or_else(|| {
            let shown = named.display();
            create_failure(format!(
                "`{VARIABLE}` names `{shown}`, which is not the absolute path to a program"
            ))
        });
    }
    let named = NAMES.iter().find_map(|name| in_path(Path::new(name)));
    let placed = || PLACES.iter().map(PathBuf::from).find(|place| is_there(place));
    named.or_else(placed).ok_or_else(|| {
        create_failure(format!(
            "browser not found: install Chromium, or set `{VARIABLE}` to a program"
        ))
    })
}

/// Runs this process as the keeper of a browser; the arguments are those after [`KEEPER_ARGUMENT`].
pub(super) fn supervise_browser(
    mut arguments: impl Iterator<Item = OsString>,
) -> std::io::Result<()> {
    let (Some(directory), Some(program)) = (arguments.next(), arguments.next()) else {
        return Err(std::io::ErrorKind::InvalidInput.into());
    };
    let mut call = Call::new(program, "/", Duration::ZERO, 0);
    call.args.extend(arguments);
    OsSystem.supervise_program(&call, Path::new(&directory))
}
