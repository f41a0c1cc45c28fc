//! `brief trust`

mod policy;
mod project;
mod rules;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use brief_runtime::review::{ExecutablePart, Review};
use brief_runtime::trust::TrustVerdict;
use brief_runtime::{ContentHash, TrustError, TrustStore};
use brief_syntax::limits;
use brief_system::ReadError;
use clap::Args;
use serde_json::json;

use crate::error::{CommandError, ErrorKind, Result};
use crate::session::Session;
use crate::ui::Ui;

/// Trust a project or file to run commands, or a project's rules to block calls
///
/// Shows what would run, asks, and records the answer: for a project (`brief trust .`) by its location and repository, for
/// a file by the SHA-256 of its content. With `--rules`, shows the project's checks that block calls or ask, and records
/// each of them; that trusts no commands, and a changed rule only warns again. Asks only on a terminal; no flag or variable
/// can answer. Moving or re-cloning a project, or changing a file, revokes its trust.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag, and clap keeps them apart")]
pub(crate) struct TrustArgs {
    /// Projects or files; with --remove also hashes from --list
    #[arg(value_name = "PATH", required_unless_present_any = ["list", "policy", "rules"])]
    files: Vec<PathBuf>,

    /// Never run this content, even if it is trusted later
    #[arg(long, conflicts_with_all = ["remove", "list"])]
    deny: bool,

    /// Forget a decision
    #[arg(long, conflicts_with = "list")]
    remove: bool,

    /// List decisions
    #[arg(long, conflicts_with = "files")]
    list: bool,

    /// Show the rules of the policies in force
    #[arg(long, conflicts_with_all = ["files", "list", "remove", "deny"])]
    policy: bool,

    /// Let the rules of the project block calls in clients with a hook
    #[arg(long, conflicts_with_all = ["files", "list", "deny", "policy"])]
    rules: bool,

    /// Print JSON
    #[arg(long, conflicts_with_all = ["files", "remove", "deny", "rules"])]
    json: bool,
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &TrustArgs) -> Result {
    let store = || TrustStore::open(session.system(), session.directory());
    if args.policy {
        policy::print_policy(ui, session, args.json)
    } else if args.rules && args.remove {
        rules::forget_rules(ui, session, store()?)
    } else if args.rules {
        rules::trust_rules(ui, session, store()?)
    } else if args.list {
        list_entries(ui, session, &store()?, args.json)
    } else if args.remove {
        remove_entries(ui, session, store()?, &args.files)
    } else if args.deny {
        deny_files(ui, session, store()?, &args.files)
    } else if ui.can_ask() {
        let is_directory = |path: &&PathBuf| is_directory(session, path);
        let (projects, files): (Vec<_>, Vec<_>) =
            args.files.iter().partition(|path| is_directory(path));
        for project in projects {
            project::trust_project(ui, session, store()?, project)?;
        }
        let files: Vec<PathBuf> = files.into_iter().cloned().collect();
        if files.is_empty() { Ok(()) } else { trust_files(ui, session, store()?, &files) }
    } else {
        Err(CommandError::refused("cannot grant trust without a terminal")
            .with_hint("run `brief trust` in a terminal; scripts cannot grant trust"))
    }
}

fn is_directory(session: &Session, path: &Path) -> bool {
    session.system().resolve_dir(&session.directory().join(path)).is_ok()
}

/// A file as read: the shown content is the hashed one.
struct TrustCandidate {
    path: PathBuf,
    content: Vec<u8>,
}

impl TrustCandidate {
    fn read(session: &Session, file: &Path) -> Result<TrustCandidate> {
        let system = session.system();
        let read = || {
            let found = system.resolve(&session.directory().join(file))?;
            let content = system.read(&found.path, limits::FILE_BYTES)?;
            Ok(TrustCandidate { path: found.path, content })
        };
        read().map_err(|error: ReadError| {
            CommandError::refused(format!("cannot read `{}`: {error}", file.display()))
        })
    }
}

fn read_all(session: &Session, files: &[PathBuf]) -> Result<Vec<TrustCandidate>> {
    files.iter().map(|file| TrustCandidate::read(session, file)).collect()
}

fn trust_files(
    ui: &mut Ui,
    session: &Session,
    mut store: TrustStore<'_>,
    files: &[PathBuf],
) -> Result {
    let mut candidates = Vec::new();
    for candidate in read_all(session, files)? {
        let path = candidate.path.display();
        match store.verdict_on(&candidate.content) {
            Some(TrustVerdict::Denied) => {
                return Err(CommandError::refused(format!("`{path}` is denied")).with_hint(
                    format!("run `brief trust --remove {path}` to forget the decision"),
                ));
            }
            Some(TrustVerdict::Trusted) => {
                ui.print_status(&format!("{path} is already trusted"))?;
            }
            None => candidates.push(candidate),
        }
    }
    if candidates.is_empty() {
        return Ok(());
    }
    for candidate in &candidates {
        print_trust_candidate(ui, candidate)?;
    }
    ui.print_status("trust covers the files as shown, not what they start or read")?;
    if !ui.confirm("Trust these?")? {
        ui.print_status("nothing was recorded")?;
        return Err(CommandError::reported(ErrorKind::Refused));
    }
    for TrustCandidate { path, content } in &candidates {
        store.record_content(content, path)?;
        ui.print_status(&format!("trusted {}", path.display()))?;
    }
    Ok(())
}

fn print_trust_candidate(ui: &mut Ui, candidate: &TrustCandidate) -> Result {
    ui.print_status(&candidate.path.display().to_string())?;
    ui.print_status(&format!("  sha256 {}", ContentHash::from_content(&candidate.content)))?;
    match Review::from_content(&candidate.path, &candidate.content) {
        Review::Whole(text) => {
            ui.print_status("  all of it would run:")?;
            ui.print_quote(&text)?;
        }
        Review::Binary { bytes } => {
            ui.print_status(&format!("  all of it would run: {bytes} bytes that are not text"))?;
        }
        Review::Parts(parts) if parts.is_empty() => {
            ui.print_status("  nothing in it would run")?;
        }
        Review::Parts(parts) => {
            for ExecutablePart { line, text } in parts {
                ui.print_status(&format!("  line {line} would run:"))?;
                ui.print_quote(&text)?;
            }
        }
    }
    Ok(())
}

fn deny_files(
    ui: &mut Ui,
    session: &Session,
    mut store: TrustStore<'_>,
    files: &[PathBuf],
) -> Result {
    for TrustCandidate { path, content } in read_all(session, files)? {
        store.deny_content(&content, &path)?;
        ui.print_status(&format!("denied {}", path.display()))?;
    }
    Ok(())
}

/// Removes entries by content and by path, because a file may have changed or be gone.
fn remove_entries(
    ui: &mut Ui,
    session: &Session,
    mut store: TrustStore<'_>,
    files: &[PathBuf],
) -> Result {
    for file in files {
        let shown = file.display();
        let removed = match file.to_str().and_then(ContentHash::parse) {
            Some(hash) => {
                let projects = store.remove_projects(|entry| entry.identity == hash)?;
                store.remove_entries(|entry| entry.hash == hash).map(|files| files + projects)
            }
            None if is_directory(session, file) => {
                project::remove_project(session, &mut store, file)
            }
            None => {
                let hash = TrustCandidate::read(session, file)
                    .ok()
                    .map(|candidate| ContentHash::from_content(&candidate.content));
                let place = resolve_real_path(session, file);
                let projects = store.remove_projects(|entry| entry.was_at(&place))?;
                let files = store.remove_entries(|entry| {
                    hash.as_ref() == Some(&entry.hash) || entry.was_at(&place)
                });
                files.map(|files| files + projects)
            }
        };
        if removed? == 0 {
            return Err(CommandError::refused(format!("no decision recorded for `{shown}`"))
                .with_hint("run `brief trust --list` to see all decisions"));
        }
        ui.print_status(&format!("forgot {shown}"))?;
    }
    Ok(())
}

/// Returns the real path of a file that may no longer exist.
fn resolve_real_path(session: &Session, file: &Path) -> PathBuf {
    let system = session.system();
    let path = session.directory().join(file);
    if let Ok(found) = system.resolve(&path) {
        return found.path;
    }
    let directory = path.parent().and_then(|parent| system.resolve_dir(parent).ok());
    directory.map_or(path.clone(), |parent| parent.join(path.file_name().unwrap_or(OsStr::new(""))))
}

fn list_entries(ui: &mut Ui, session: &Session, store: &TrustStore<'_>, json: bool) -> Result {
    if json {
        let row = |subject: &str, verdict: TrustVerdict, hash: &ContentHash, path: &str| {
            let (verdict, hash) = (verdict.to_string(), hash.to_string());
            json!({ "subject": subject, "verdict": verdict, "sha256": hash, "path": path })
        };
        let trusted = TrustVerdict::Trusted;
        let projects =
            store.projects().map(|entry| row("project", trusted, &entry.identity, &entry.path));
        let entries =
            store.entries().map(|entry| row("content", entry.verdict, &entry.hash, &entry.path));
        let rules = store.rules().map(|entry| row("rule", trusted, &entry.hash, &entry.id));
        let body = json!({ "entries": entries.chain(projects).chain(rules).collect::<Vec<_>>() });
        let root = session.open_root()?;
        return ui.print_json("trust", root.path(), &[], body);
    }
    for entry in store.entries() {
        ui.print_line(format!("{:<7} {} {}", entry.verdict, entry.hash, entry.path))?;
    }
    for entry in store.projects() {
        ui.print_line(format!("project {} {}", entry.identity, entry.path))?;
    }
    for entry in store.rules() {
        ui.print_line(format!("rule    {} {}", entry.hash, entry.id))?;
    }
    if store.entries().len() + store.projects().len() + store.rules().len() == 0 {
        ui.print_status("nothing was recorded")?;
    }
    Ok(())
}

impl From<TrustError> for CommandError {
    fn from(error: TrustError) -> Self {
        let refused = CommandError::refused(error.to_string());
        match error {
            TrustError::Writable(path) => refused
                .with_hint(format!("review the file, then run `chmod go-w {}`", path.display())),
            TrustError::InProject(_) => {
                refused.with_hint("set `XDG_STATE_HOME` to a directory outside the project")
            }
            TrustError::NoIdentity { .. } | TrustError::Home(_) => {
                refused.with_hint("pass `--exec` to run its commands once")
            }
            TrustError::Damaged { .. } => refused.with_hint("correct that line, or remove it"),
            _ => refused,
        }
    }
}
