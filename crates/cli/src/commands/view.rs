//! `brief view`

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};

use brief_registry::install::{self, Newest, ProjectPaths};
use brief_registry::manifest::Manifest;
use brief_serve::view::{
    ExportError, ProjectView, ViewAddress, ViewExtras, export_pages, open_in_browser, serve_view,
};
use brief_system::hash::sha256;
use brief_system::resolve_existing;
use clap::Args;

use super::fleet;
use crate::error::{CommandError, Result};
use crate::installation;
use crate::session::Session;
use crate::ui::Ui;

/// Show the project in a browser: guidance, clients and costs
///
/// Serves pages on this machine only, at an address with a token, and opens the browser. The pages update when files change.
/// Read-only.
#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
    /// Directory of the project [default: the current directory]
    path: Option<PathBuf>,

    /// Write the pages to this directory, without deliveries and your own guidance
    #[arg(long, value_name = "DIR", conflicts_with_all = ["no_open", "port", "listen"])]
    out: Option<PathBuf>,

    /// With --out: add a page with the changes since a revision, or in a range
    #[arg(
        long, value_name = "REV", requires = "out",
        add = clap_complete::ArgValueCompleter::new(crate::complete::complete_revisions)
    )]
    base: Option<String>,

    /// Check sources for newer versions, using the network
    #[arg(long)]
    updates: bool,

    /// Add a page with these repositories, as in `brief fleet status` [repeatable]
    #[arg(long, value_name = "SOURCE")]
    fleet: Vec<PathBuf>,

    /// Print the address without opening the browser
    #[arg(long)]
    no_open: bool,

    /// Port to use [default: a free one]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    port: u16,

    /// Listen at this address, unencrypted [default: 127.0.0.1]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<IpAddr>,
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &ViewArgs) -> Result {
    let directory = match &args.path {
        Some(path) => session.directory().join(path),
        None => session.directory().to_owned(),
    };
    let system = session.system();
    if let Err(error) = system.resolve_dir(&directory) {
        let shown = directory.display();
        let refused = CommandError::usage(format!("cannot show `{shown}`: {error}"));
        return Err(refused.with_hint("pass the directory of a project"));
    }
    let updates = args.updates.then(|| newer_versions(ui, session, &directory)).transpose()?;
    let fleet = match args.fleet.as_slice() {
        [] => None,
        sources => Some(fleet::read_fleet_report(ui, session, sources)?),
    };
    let extras = ViewExtras { updates, fleet };
    if let Some(out) = &args.out {
        let out = resolve_existing(system, &session.directory().join(out)).path;
        let base = args.base.as_deref();
        let written = export_pages(&session.shared_system(), &directory, &out, base, extras)?;
        return ui.print_status(&format!("{}: {}", out.display(), written.render_summary()));
    }
    let address = open_view_socket(session, args)?;
    let url = address.url().map_err(|error| CommandError::refused(error.to_string()))?;
    ui.print_line(&url)?;
    ui.flush()?;
    if !address.is_loopback() {
        ui.print_warning("other machines can reach this address; the connection is not encrypted")?;
    }
    ui.print_status("the pages update when files change; press Ctrl-C to stop")?;
    // The page is there as long as the pages that it leads to.
    let opened = (!args.no_open).then(|| open_in_browser(system, &directory, &url));
    if let Some(Err(error)) = &opened {
        ui.print_warning(&format!("cannot open the browser: {error}"))?;
        ui.print_hint("open the address above yourself")?;
    }
    ui.tell_remarks()?;
    let interruption = system.interruption()?;
    let view = ProjectView::new(session.shared_system(), directory, extras);
    serve_view(view, address, &interruption)
        .map_err(|error| CommandError::refused(error.to_string()))?;
    Err(CommandError::interrupted())
}

/// Asks the sources of a project for newer versions.
fn newer_versions(ui: &mut Ui, session: &Session, directory: &Path) -> Result<Vec<Newest>> {
    let system = session.system();
    let project = ProjectPaths::find_enclosing(system, directory);
    let found = installation::with_progress(ui, |observer| {
        let source = project.read_manifest(system)?;
        // `lint` and the page of problems tell what is wrong in it.
        let manifest = source.as_ref().and_then(|source| Manifest::parse(source).ok());
        let lock = project.read_lock(system)?;
        let (manifest, lock) = (manifest.unwrap_or_default(), lock.unwrap_or_default());
        install::query_newest_versions(system, &project, &manifest, &lock, observer)
    })?;
    Ok(found?)
}

impl From<ExportError> for CommandError {
    fn from(error: ExportError) -> Self {
        let refused = CommandError::refused(error.to_string());
        match &error {
            ExportError::Foreign { .. } => {
                refused.with_hint("choose an empty directory, or one that `brief view --out` wrote")
            }
            _ => refused,
        }
    }
}

fn open_view_socket(session: &Session, args: &ViewArgs) -> Result<ViewAddress> {
    let ip = args.listen.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let address = SocketAddr::new(ip, args.port);
    let listener = TcpListener::bind(address).map_err(|error| {
        let refused = CommandError::refused(format!("cannot listen at `{address}`: {error}"));
        match error.kind() {
            std::io::ErrorKind::AddrInUse => refused.with_hint("omit `--port` to use a free port"),
            _ => refused,
        }
    })?;
    let random = session.system().random_bytes()?;
    Ok(ViewAddress { listener, token: sha256(&random).chars().take(32).collect() })
}
