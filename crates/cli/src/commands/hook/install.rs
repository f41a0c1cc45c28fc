//! `brief hook install`

use std::path::{Path, PathBuf};

use brief_clients::client_file::{ClientFile, ClientFileError, FileEdit};
use brief_clients::hook::install::{HookContent, HookFile, InstallChoice, build_hook_files};
use brief_clients::hook::installed::{find_main_checkout, is_elsewhere, is_program_on_path};
use brief_profiles::{Client, HookInstall, KnownClients};
use brief_safety::settings::{FailureMode, HookSettings};
use brief_syntax::walk::IgnoreFiles;
use brief_system::resolved_home;
use clap::Args;

use super::{HoldArg, client_file_error, install_of, refused_file};
use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::surroundings::refuse_no_project;
use crate::ui::Ui;

/// Install the hook for a client in this repository
///
/// Adds the hook to the client's settings and leaves the rest of them unchanged, or writes a plugin. Without CLIENT, offers
/// the clients detected in the project, else in the home directory. With `--shared`, writes the file that a team commits:
/// the hook does nothing for teammates without `brief`.
#[derive(Debug, Default, Args)]
pub(super) struct InstallArgs {
    /// Clients to install for [any of: amp, augment, claude, cline, codex, copilot, copilot-vscode, crush, cursor, droid, gemini,
    /// kilo, opencode, pi, qwen, or a client defined by the project] [default: detected clients]
    #[arg(value_name = "CLIENT", add = clap_complete::ArgValueCompleter::new(crate::complete::hook_clients))]
    clients: Vec<String>,

    #[command(flatten)]
    place: PlaceArgs,

    /// Show the plan without writing
    #[arg(long)]
    dry_run: bool,

    /// Block the first edit of a file once, so the agent reads its guidance [default: all]
    #[arg(
        long, value_name = "WHICH", num_args = 0..=1, require_equals = true,
        default_missing_value = "all"
    )]
    block_once: Option<HoldArg>,
}

/// The place of a hook.
#[derive(Debug, Default, Args)]
pub(super) struct PlaceArgs {
    /// Install for all your projects, in the home directory
    #[arg(long)]
    pub(super) global: bool,

    /// Install in this project
    #[arg(long, conflicts_with = "global")]
    pub(super) project: bool,

    /// Use the file of this project that your team commits
    #[arg(long, conflicts_with = "global")]
    pub(super) shared: bool,

    /// Command for the hook to run instead of `brief hook CLIENT`
    #[arg(long, value_name = "COMMAND")]
    pub(super) command: Option<String>,
}

impl PlaceArgs {
    /// Returns whether the hook of a client goes below the home directory.
    pub(super) fn is_global(&self, client: &Client) -> bool {
        let is_default =
            install_of(client).is_some_and(|install| install.top_only && install.home.is_some());
        self.global || is_default && !self.project && !self.shared
    }
}

/// Returns the directory of the files: the home directory, or the top of the repository.
pub(super) fn base_directory(session: &Session, is_global: bool) -> Result<PathBuf> {
    if is_global {
        resolved_home(session.system()).ok_or_else(|| {
            CommandError::refused("cannot find the home directory: `HOME` is not set")
        })
    } else {
        Ok(session.repository_root()?.path().to_owned())
    }
}

pub(super) fn run(ui: &mut Ui, session: &Session, args: &InstallArgs) -> Result {
    super::check_policy(session)?;
    let known = super::known_clients(session)?;
    let named: Vec<&Client> = args
        .clients
        .iter()
        .map(|name| super::find_hook_client(&known, name))
        .collect::<Result<_, _>>()?;
    let is_offer = named.is_empty();
    let chosen = if is_offer { detect_hook_clients(session, &known)? } else { named };
    if chosen.is_empty() {
        return Err(CommandError::usage("no client with hook support detected")
            .with_hint(format!("name one: {}", super::with_hooks(&known))));
    }
    if args.place.command.is_some() && chosen.len() > 1 {
        return Err(CommandError::usage("`--command` works with one client only")
            .with_hint("pass the client that the command names"));
    }
    if is_offer && ui.can_ask() && !args.dry_run {
        let shown: Vec<&str> = chosen.iter().map(|client| &*client.name).collect();
        if !ui.confirm_request(&format!("Install the hook for {}?", shown.join(", ")))? {
            return ui.print_hint("run `brief hook install CLIENT…` to choose clients");
        }
    }
    for client in &chosen {
        install_hook(ui, session, args, client)?;
    }
    super::status::print_hook_switches(ui, &HookSettings::load(session.system()))?;
    if args.place.command.is_none()
        && !args.dry_run
        && !is_program_on_path(session.system(), "brief", session.repository_root()?.path())
    {
        let who =
            if let [only] = &chosen[..] { only.name.to_string() } else { "the clients".to_owned() };
        ui.print_warning(&format!("{who} cannot run the hook: `brief` is not on PATH"))?;
        ui.print_hint(&format!(
            "copy `brief` to a directory on PATH, or pass --command \"/path/to/brief hook {}\"",
            chosen[0].id
        ))?;
    }
    Ok(())
}

/// Returns the directory of a hook's file in a project.
fn first_directory(install: &HookInstall) -> &str {
    install.file.split('/').next().unwrap_or(&install.file)
}

fn install_hook(ui: &mut Ui, session: &Session, args: &InstallArgs, client: &Client) -> Result {
    let is_global = args.place.is_global(client);
    if !is_global {
        refuse_no_project(session, &session.repository_root()?)?;
    }
    let base = base_directory(session, is_global)?;
    let program = super::hook_program(client, args.place.command.as_deref());
    let options = args.block_once.map_or("", HoldArg::command_option);
    let hook = client.hook.as_ref().expect("`find` chose clients with hooks");
    if args.block_once.is_some() && hook.hold.is_empty() {
        ui.print_warning(&format!(
            "{} cannot block a call; the hook only delivers guidance",
            client.name
        ))?;
    }
    refuse_worktree(session, args, client, &base)?;
    let files = files_of(session, client, &base, &program, options, args)?;
    if args.place.shared {
        warn_of_sharing(ui, session, args, client, &files)?;
    }
    let mut is_changed = false;
    for file in &files {
        let on_disk = ClientFile::open(session.system(), &base, &file.path)
            .map_err(|error| client_file_error(&file.path, &error))?;
        let text = file.install(on_disk.text());
        let text = text.map_err(|error| client_file_error(&file.path, &error))?;
        let shown = render_file_name(session, &base, &file.path)?;
        if args.dry_run {
            match text {
                Some(text) => {
                    ui.print_status(&format!("would write {shown}:"))?;
                    ui.print_text(text.as_bytes())?;
                }
                None => ui.print_status(&format!("the hook is already installed in {shown}"))?,
            }
            continue;
        }
        match write_hook_file(file, &on_disk, text.as_deref())? {
            FileEdit::Changed => {
                is_changed = true;
                ui.print_status(&format!("installed the hook in {shown}"))?;
            }
            FileEdit::Unchanged => {
                ui.print_status(&format!("the hook is already installed in {shown}"))?;
            }
        }
    }
    if args.place.shared && !args.dry_run {
        let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        ui.print_hint(&format!(
            "commit {} to share the hook; it does nothing for teammates without `brief`",
            paths.join(", ")
        ))?;
    }
    if is_changed {
        let install = hook.install.as_ref().expect("`find` chose clients with files");
        match &install.then {
            Some(then) if !is_global || !install.top_only => ui.print_hint(then)?,
            _ => ui.print_hint(&format!("restart {} to use it", client.name))?,
        }
        if is_global && !args.place.global {
            ui.print_hint(&format!(
                "pass `--project` to install only here; {} ignores project hooks when you start it in a subdirectory",
                client.name
            ))?;
        } else if !is_global && !install.private && !args.place.shared {
            ui.print_hint(
                "your team shares this file; pass `--global` to install the hook only for you",
            )?;
        }
    }
    Ok(())
}

/// Refuses a worktree of a client that reads the hooks of the main checkout alone.
fn refuse_worktree(session: &Session, args: &InstallArgs, client: &Client, base: &Path) -> Result {
    let is_main_only =
        install_of(client).is_some_and(|install| install.main_checkout_only.is_some());
    if !is_main_only || args.place.is_global(client) || args.place.shared {
        return Ok(());
    }
    let Some(main) = find_main_checkout(session.system(), base) else { return Ok(()) };
    let name = &client.name;
    let message =
        format!("{name} ignores the hooks of a worktree and runs those of the main checkout");
    Err(CommandError::refused(message).with_hint(format!(
        "pass `--global`, or run `brief hook install {}` in {} and create the directory `{}` here",
        client.id,
        main.display(),
        install_of(client).map_or("", first_directory)
    )))
}

fn write_hook_file(
    file: &HookFile,
    on_disk: &ClientFile<'_>,
    text: Option<&str>,
) -> Result<FileEdit> {
    let is_program = matches!(file.content, HookContent::Own { is_program: true, .. });
    on_disk.write_text(text, is_program).map_err(|error| client_file_error(&file.path, &error))
}

/// Installs the hook of a client as `brief hook install CLIENT` does, and prints nothing. Returns the files that it writes.
pub(in crate::commands) fn install_hook_files(
    session: &Session,
    client: &Client,
    is_dry: bool,
) -> Result<Vec<String>> {
    let args = InstallArgs::default();
    let is_global = args.place.is_global(client);
    let base = base_directory(session, is_global)?;
    refuse_worktree(session, &args, client, &base)?;
    let program = super::hook_program(client, None);
    let mut written = Vec::new();
    for file in files_of(session, client, &base, &program, "", &args)? {
        let failed = |error: ClientFileError| client_file_error(&file.path, &error);
        let on_disk = ClientFile::open(session.system(), &base, &file.path).map_err(failed)?;
        let text = file.install(on_disk.text());
        let text = text.map_err(|error| client_file_error(&file.path, &error))?;
        if !is_dry {
            write_hook_file(&file, &on_disk, text.as_deref())?;
        }
        written.push(if is_global { format!("~/{}", file.path) } else { file.path.clone() });
    }
    Ok(written)
}

/// Warns of what keeps a shared hook from reaching teammates.
fn warn_of_sharing(
    ui: &mut Ui,
    session: &Session,
    args: &InstallArgs,
    client: &Client,
    files: &[HookFile],
) -> Result {
    let root = session.repository_root()?;
    let ignored = IgnoreFiles::new(session.system(), &root);
    for file in files.iter().filter(|file| ignored.is_ignored(Path::new(&file.path))) {
        ui.print_warning(&format!(
            "teammates will not get the hook: version control ignores `{}`",
            file.path
        ))?;
    }
    if args.place.command.as_ref().is_some_and(|command| command.starts_with(['/', '~'])) {
        ui.print_warning("teammates run the same command: use one without a path of your machine")?;
    }
    if install_of(client).is_some_and(|install| install.top_only) {
        ui.print_hint(&format!(
            "{} runs the hooks of a project only when started in the directory that contains them",
            client.name
        ))?;
    }
    Ok(())
}

fn files_of(
    session: &Session,
    client: &Client,
    base: &Path,
    program: &str,
    options: &str,
    args: &InstallArgs,
) -> Result<Vec<HookFile>> {
    let choice = InstallChoice {
        program,
        options,
        is_global: args.place.is_global(client),
        holds: args.block_once.is_some(),
        is_elsewhere: is_elsewhere(session.system(), client, base).map_err(refused_file)?,
        is_shared: args.place.shared,
        // What a team commits is not for one user to decide.
        fails_closed: !args.place.shared
            && HookSettings::load(session.system()).on_failure == FailureMode::Closed,
    };
    build_hook_files(client, choice).ok_or_else(|| {
        CommandError::refused(format!("{} has no user-level hook file", client.name))
            .with_hint("omit `--global`, and install the hook in each project")
    })
}

/// Returns the clients with hooks that the project shows, or else the home directory.
pub(in crate::commands) fn detect_hook_clients<'c>(
    session: &Session,
    known: &'c KnownClients,
) -> Result<Vec<&'c Client>> {
    let root = session.repository_root()?;
    let home = resolved_home(session.system());
    let has =
        |directory: &Path, sign: &str| session.system().resolve(&directory.join(sign)).is_ok();
    let with_hooks = |names: Vec<&str>| -> Vec<&'c Client> {
        names.into_iter().filter_map(|name| super::find_hook_client(known, name).ok()).collect()
    };
    let here = with_hooks(known.clients_in_project(|sign| has(root.path(), sign)));
    if !here.is_empty() {
        return Ok(here);
    }
    let at_home = |sign: &str| home.as_ref().is_some_and(|home| has(home, sign));
    Ok(with_hooks(known.shown_at_home(at_home)))
}

/// Returns a file for a message, absolute if it is outside the current directory.
pub(super) fn render_file_name(session: &Session, base: &Path, name: &str) -> Result<String> {
    let is_here = session.open_root()?.path() == base;
    Ok(if is_here { name.to_owned() } else { base.join(name).display().to_string() })
}
