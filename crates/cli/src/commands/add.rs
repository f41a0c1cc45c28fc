//! `brief add`

use std::path::Path;
use std::process::ExitCode;

use brief_dialects::portable::{NAME_LENGTH, name_problem};
use brief_registry::install::{ChooseError, Elsewhere, InstallRequest};
use brief_registry::install::{choose, look_into};
use brief_registry::manifest::{Manifest, ManifestEdit, SourcePlace};
use brief_registry::{GitSource, SourceAddress};
use brief_syntax::paths::cleaned;
use brief_syntax::system::System;
use clap::Args;

use crate::error::CommandError;
use crate::installation::{self, FoundClients as Found, Installation, RunPurpose, Writing, short};
use crate::session::Session;
use crate::ui::Ui;

/// Add items from a registry, for the project's clients or the user's
///
/// Without ITEM everything in the source is added, also what comes later. brief.toml gets an entry for
/// the source, brief.lock the commit and the hash of everything that was written.
#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// The source: owner/repo, gitlab:group/repo, a git URL or a directory; @REF and :SUBPATH may follow
    source: String,

    /// The items: NAME or KIND/NAME of a rule, skill, agent or bundle [default: all]
    #[arg(value_name = "ITEM")]
    items: Vec<String>,

    /// Only add items of this kind
    #[arg(long, value_name = "KIND", value_parser = ["rule", "skill", "agent", "bundle"])]
    kind: Option<String>,

    /// Write for this client only; may be repeated [default: `install.clients` of brief.toml, or the
    /// clients whose files the project has, or all]
    #[arg(
        long = "client", value_name = "CLIENT",
        add = clap_complete::ArgValueCompleter::new(crate::complete::clients)
    )]
    clients: Vec<String>,

    /// The name of the source in brief.toml [default: that of the repository or directory]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Write nothing; show what would be done
    #[arg(long)]
    dry_run: bool,

    /// Fetch nothing; use the cache
    #[arg(long)]
    offline: bool,

    #[command(flatten)]
    writing: Writing,
}

/// The advice for a source without items: the paths of items.
pub(super) const ITEMS: &str =
    "items are `rules/NAME/RULE.md`, `skills/NAME/SKILL.md`, `agents/NAME/AGENT.md`";

pub(crate) fn run(
    ui: &mut Ui,
    session: &Session,
    args: &AddArgs,
) -> Result<ExitCode, CommandError> {
    match add(ui, session, args) {
        // Files of a concurrent run are not evidence for a client. Its manifest is read instead.
        Err(error) if error.is_outrun() => add(ui, session, args),
        outcome => outcome,
    }
}

fn add(ui: &mut Ui, session: &Session, args: &AddArgs) -> Result<ExitCode, CommandError> {
    let mode = installation::mode(args.dry_run, false);
    let installation = match Installation::find_for(ui, session, &args.writing.place, mode)? {
        Ok(installation) => installation,
        Err(code) => return Ok(code),
    };
    let system = session.system();
    let mut clients = installation.wanted(&[])?;
    let own_clients = match args.clients.as_slice() {
        [] => None,
        named => Some(installation.wanted(named)?),
    };
    if let Some(problem) = args.name.as_deref().and_then(name_problem) {
        return Err(CommandError::usage(format!("`--name`: {problem}")));
    }
    let source = SourceAddress::parse_added(&args.source, session.directory(), system)
        .map_err(|error| CommandError::usage(error.to_string()))?;
    let (place, identity) = place(&installation, session, &source)?;
    let manifest = installation.manifest.clone().unwrap_or_default();
    let entry = SourceEntry::find(&manifest, &installation, system, place, &identity, args)?;
    let source = entry.with_version(source);
    let lock = installation.lock(system)?.unwrap_or_default();
    // An existing source keeps its commit.
    let locked = lock.sources.get(&entry.name).filter(|locked| locked.place == entry.place);
    let locked = locked.and_then(|locked| locked.commit.as_deref());
    let network = installation::network(args.offline);
    let known = installation.clients.profiles().ids();
    let found = installation::watched(ui, |observer| {
        look_into(system, &source, locked, session.directory(), &known, network, observer)
    })?;
    let found = found.map_err(|error| installation::refusal_of_typed(&error))?;
    for note in &found.notes {
        ui.warning(note)?;
    }
    let chosen = choose(&found.registry, &args.items, args.kind.as_deref());
    if let Err(ChooseError::Empty | ChooseError::Unusable | ChooseError::Invalid { .. }) = &chosen {
        ui.print_diagnostics(&found.errors(&entry.name), session.directory())?;
    }
    let lies_elsewhere = || elsewhere(&source, &found.elsewhere, &args.items);
    let wanted = chosen.map_err(|error| {
        let refused = not_chosen(&source, locked.map(|commit| (&entry, commit)), &error);
        match (&error, lies_elsewhere()) {
            (ChooseError::Empty | ChooseError::Missing { .. }, Some(hint)) => {
                refused.with_hint(hint)
            }
            _ => refused,
        }
    })?;
    if let Some(hint) = lies_elsewhere().filter(|_| args.items.is_empty()) {
        ui.hint(&hint)?;
    }
    let is_new = manifest.sources.is_empty() && lock.items.is_empty();
    let is_open = installation.clients.settings().clients.is_none() && own_clients.is_none();
    let found_clients = if is_new && is_open { installation.find_clients(system) } else { None };
    if let Some(Found { clients: used, signs }) = &found_clients {
        clients.clone_from(used);
        let (used, signs) = (used.join(", "), signs.join(", "));
        ui.status(&format!("for {used}: {signs} tells; `install.clients` in brief.toml says so"))?;
    }
    let found_clients =
        found_clients.map(|Found { clients, signs }| ManifestEdit::FoundClients { clients, signs });
    let want = ManifestEdit::Want {
        source: entry.name.clone(),
        place: entry.place.clone(),
        wanted,
        clients: own_clients,
    };
    let edits: Vec<ManifestEdit> = found_clients.into_iter().chain([want]).collect();
    let commits = found
        .commit
        .iter()
        .filter(|_| locked.is_none())
        .map(|commit| (entry.name.clone(), commit.clone()));
    let request = InstallRequest {
        edits: &edits,
        commits: commits.collect(),
        found: Some(&found),
        mode,
        network,
        ..installation.request(session, &args.writing, &clients)
    };
    if has_credentials(&source) {
        ui.warning(
            "the password in the address is not kept; next time git asks its credential helper",
        )?;
    }
    let asked = RunPurpose::ToWrite;
    let outcome = installation.carry_out(ui, "add", session, &request, &args.writing, asked)?;
    Ok(outcome.map_or_else(|code| code, |_| ExitCode::SUCCESS))
}

fn not_chosen(
    source: &SourceAddress,
    locked: Option<(&SourceEntry, &str)>,
    error: &ChooseError,
) -> CommandError {
    let at = locked.map_or(String::new(), |(_, commit)| format!(" at {}", short(commit)));
    let refused = CommandError::refused(format!("`{}`{at}: {error}", source.typed()));
    match error {
        ChooseError::Missing { near, .. } if !near.is_empty() => {
            let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
            refused.with_hint(format!("did you mean {}?", near.join(" or ")))
        }
        ChooseError::Missing { .. } if let Some((entry, _)) = locked => {
            let version = match &entry.place {
                SourcePlace::Git { reference: Some(_), .. } => "@VERSION",
                _ => "",
            };
            let name = &entry.name;
            refused.with_hint(format!(
                "if it is newer than what is locked, `brief update {name}{version}` comes first"
            ))
        }
        ChooseError::Missing { .. } => {
            let typed = source.typed();
            refused.with_hint(format!("`brief list --available {typed}` shows what there is"))
        }
        ChooseError::Empty => refused.with_hint(ITEMS),
        ChooseError::Unusable | ChooseError::Invalid { .. } => refused
            .with_hint("until it is corrected in the source, do without it; nothing was changed"),
        ChooseError::Several { which, .. } => {
            refused.with_hint(format!("write {}", which.join(" or ")))
        }
        _ => refused,
    }
}

/// Reports where the source has skills that are not its items, and how to add them. All skills that
/// were named must be among them.
pub(super) fn elsewhere(
    source: &SourceAddress,
    elsewhere: &[Elsewhere],
    names: &[String],
) -> Option<String> {
    let base = |name: &String| name.rsplit('/').next().unwrap_or_default().to_owned();
    let names: Vec<String> = names.iter().map(base).collect();
    let has_all = |found: &&Elsewhere| names.iter().all(|name| found.skills.contains(name));
    let mut fitting = elsewhere.iter().filter(has_all);
    let found = fitting.next()?;
    let more = match fitting.map(|found| format!("`{}`", found.directory)).collect::<Vec<_>>() {
        more if more.is_empty() => String::new(),
        more => format!(", and more in {}", more.join(", ")),
    };
    let (directory, typed) = (&found.directory, source.below(&found.directory).typed());
    let count = match found.skills.len() {
        1 => "1 skill".to_owned(),
        count => format!("{count} skills"),
    };
    let typed = std::iter::once(typed).chain(names).collect::<Vec<_>>().join(" ");
    let is = if found.skills.len() == 1 { "is" } else { "are" };
    Some(format!(
        "there {is} {count} in `{directory}`, where a client of the source itself reads them{more}; \
         `brief add {typed}` adds them"
    ))
}

/// The entry of a source in the manifest.
struct SourceEntry {
    name: String,
    place: SourcePlace,
}

impl SourceEntry {
    /// Finds the entry of a known source, or makes a new one.
    fn find(
        manifest: &Manifest,
        installation: &Installation,
        system: &dyn System,
        place: SourcePlace,
        identity: &str,
        args: &AddArgs,
    ) -> Result<SourceEntry, CommandError> {
        let is_same = |known: &SourcePlace| match (known, &place) {
            (SourcePlace::Git { git, subpath, .. }, SourcePlace::Git { subpath: own, .. }) => {
                subpath == own
                    && identity_of(installation, system, git).as_deref() == Some(identity)
            }
            (SourcePlace::Directory(path), SourcePlace::Directory(_)) => {
                cleaned(&installation.project.config.join(path)).to_string_lossy() == identity
            }
            _ => false,
        };
        let known = manifest.sources.iter().find(|source| is_same(&source.place));
        if let Some(known) = known {
            if args.name.as_ref().is_some_and(|name| *name != known.name) {
                let message = format!("this source is in brief.toml already, as `{}`", known.name);
                return Err(CommandError::refused(message).with_hint("leave `--name` away"));
            }
            // The entry stays as written, unless another version was named.
            let place = match (&known.place, place) {
                (
                    SourcePlace::Git { git, reference, subpath },
                    SourcePlace::Git { reference: wanted, .. },
                ) => SourcePlace::Git {
                    git: git.clone(),
                    reference: wanted.or_else(|| reference.clone()),
                    subpath: subpath.clone(),
                },
                (known, _) => known.clone(),
            };
            return Ok(SourceEntry { name: known.name.clone(), place });
        }
        let is_free = |name: &str| manifest.source(name).is_none();
        if let Some(name) = &args.name {
            if !is_free(name) {
                let message = format!("brief.toml has another source `{name}`");
                return Err(CommandError::refused(message).with_hint("choose another `--name`"));
            }
            return Ok(SourceEntry { name: name.clone(), place });
        }
        let name = made_up(identity, &place, is_free);
        Ok(SourceEntry { name, place })
    }
}

impl SourceEntry {
    /// Returns a typed source in its wanted version.
    fn with_version(&self, source: SourceAddress) -> SourceAddress {
        match (source, &self.place) {
            (SourceAddress::Git(source), SourcePlace::Git { reference, .. }) => {
                SourceAddress::Git(GitSource { reference: reference.clone(), ..source })
            }
            (source, _) => source,
        }
    }
}

/// Makes a name from the end of an address: `guidance`, then `acme-guidance`, then with a number.
fn made_up(identity: &str, place: &SourcePlace, is_free: impl Fn(&str) -> bool) -> String {
    let parts: Vec<String> = identity
        .rsplit(['/', '\\', ':'])
        .map(plain)
        .filter(|part| name_problem(part).is_none())
        .take(2)
        .collect();
    let last = parts.first().cloned().unwrap_or_else(|| match place {
        SourcePlace::Git { .. } => "repository".to_owned(),
        SourcePlace::Directory(_) => "directory".to_owned(),
    });
    if is_free(&last) {
        return last;
    }
    let longer = parts.get(1).map_or(last.clone(), |above| plain(&format!("{above}-{last}")));
    if is_free(&longer) {
        return longer;
    }
    let mut number = 2;
    while !is_free(&format!("{longer}-{number}")) {
        number += 1;
    }
    format!("{longer}-{number}")
}

/// Returns a text with only the characters of a name.
fn plain(text: &str) -> String {
    let text = text.strip_suffix(".git").unwrap_or(text).to_ascii_lowercase();
    let letters =
        text.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' });
    let text: String = letters.take(NAME_LENGTH - 8).collect();
    text.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

/// Returns the place of a source in the manifest's notation, and its identity.
fn place(
    installation: &Installation,
    session: &Session,
    source: &SourceAddress,
) -> Result<(SourcePlace, String), CommandError> {
    match source {
        SourceAddress::Directory(path) => {
            let absolute = cleaned(&session.directory().join(path));
            let shown = below(installation, &absolute, path.is_absolute());
            Ok((SourcePlace::Directory(shown), absolute.to_string_lossy().into_owned()))
        }
        SourceAddress::Git(source) => {
            let failed =
                |error: brief_registry::SourceError| CommandError::usage(error.to_string());
            let identity = source.identity().map_err(failed)?;
            let git = git_words(installation, source).map_err(failed)?;
            let (reference, subpath) = (source.reference.clone(), source.subpath.clone());
            Ok((SourcePlace::Git { git, reference, subpath }, identity))
        }
    }
}

/// Returns the shortest notation of a repository's place.
fn git_words(
    installation: &Installation,
    source: &GitSource,
) -> Result<String, brief_registry::SourceError> {
    if let Some(short) = source.short() {
        return Ok(short);
    }
    let address = source.address()?;
    match address.strip_prefix("file://") {
        Some(path) if !path.contains('%') => {
            let shown = below(installation, Path::new(path), false);
            Ok(if shown.starts_with(['.', '/']) { shown } else { format!("./{shown}") })
        }
        _ => Ok(address),
    }
}

/// Returns the path from the manifest to a directory, unless an absolute path was typed.
fn below(installation: &Installation, path: &Path, is_absolute: bool) -> String {
    if is_absolute {
        return path.to_string_lossy().into_owned();
    }
    let from = cleaned(&installation.project.config);
    let names = |path: &Path| -> Vec<String> {
        path.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect()
    };
    let (from, to) = (names(&from), names(path));
    let shared = from.iter().zip(&to).take_while(|(left, right)| left == right).count();
    let up = std::iter::repeat_n("..", from.len() - shared);
    let way: Vec<&str> = up.chain(to[shared..].iter().map(String::as_str)).collect();
    match way.as_slice() {
        [] => ".".to_owned(),
        [first, ..] if *first == ".." => way.join("/"),
        _ => format!("./{}", way.join("/")),
    }
}

fn identity_of(installation: &Installation, system: &dyn System, git: &str) -> Option<String> {
    match SourceAddress::parse_added(git, &installation.project.config, system).ok()? {
        SourceAddress::Git(source) => source.identity().ok(),
        SourceAddress::Directory(path) => {
            let url =
                format!("file://{}", cleaned(&installation.project.config.join(path)).display());
            GitSource { url, reference: None, subpath: None }.identity().ok()
        }
    }
}

fn has_credentials(source: &SourceAddress) -> bool {
    match source {
        SourceAddress::Git(git) => {
            git.address().is_ok_and(|address| git.url != address && git.to_string().contains("***"))
        }
        SourceAddress::Directory(_) => false,
    }
}
