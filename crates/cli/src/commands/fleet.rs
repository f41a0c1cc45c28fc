//! `brief fleet`

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use brief_registry::fleet::{self, FleetMember};
use brief_registry::lock::LockedSource;
use brief_registry::manifest::ManifestPlace;
use brief_syntax::render::Envelope;
use clap::Args;
use serde::Serialize;

use crate::error::CommandError;
use crate::installation::{self, short};
use crate::session::Session;
use crate::ui::Ui;

/// The number of repositories that a line names.
const NAMED: usize = 5;

/// Show what many repositories have installed, and at which version
///
/// Reads brief.lock and the written files of each repository's newest commit, as git objects: nothing is checked
/// out, and without `--ask` no server is asked.
#[derive(Debug, Args)]
pub(crate) struct FleetArgs {
    /// Repositories (bare ones too), directories of them, or files with a path on each line
    #[arg(value_name = "SOURCE", required = true)]
    sources: Vec<PathBuf>,

    /// Ask for the newest commit or digest of each source, once, and tell who is behind
    #[arg(long)]
    ask: bool,

    /// Print CSV: a line for each source of each repository
    #[arg(long, conflicts_with = "json")]
    csv: bool,

    /// Print JSON: each repository with its sources, items and drifted files
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Fleet<'f> {
    repositories: Vec<JsonMember<'f>>,
}

#[derive(Debug, Serialize)]
struct JsonMember<'f> {
    path: String,
    commit: Option<&'f str>,
    guidance: bool,
    sources: Vec<JsonFleetSource<'f>>,
    items: Vec<JsonFleetItem<'f>>,
    drifted: &'f [String],
    problem: Option<&'f str>,
}

#[derive(Debug, Serialize)]
struct JsonFleetSource<'f> {
    name: &'f str,
    place: &'f str,
    r#ref: Option<&'f str>,
    commit: Option<&'f str>,
    signer: Option<&'f str>,
    behind: Option<bool>,
}

/// The newest commits and digests, by address and reference.
type NewestByPlace = BTreeMap<(String, Option<String>), String>;

#[derive(Debug, Serialize)]
struct JsonFleetItem<'f> {
    kind: &'static str,
    name: &'f str,
    source: &'f str,
    version: Option<&'f str>,
    sha256: &'f str,
}

pub(crate) fn run(
    ui: &mut Ui,
    session: &Session,
    args: &FleetArgs,
) -> Result<ExitCode, CommandError> {
    let base = session.directory();
    let paths = fleet::find(session.system(), base, &args.sources)
        .map_err(|error| CommandError::refused(error.to_string()))?;
    let members = fleet::read(&session.shared_system(), &paths);
    let newest = if args.ask { ask(ui, session, &members)? } else { NewestByPlace::new() };
    if args.json {
        let body = Fleet {
            repositories: members.iter().map(|member| json(member, base, &newest)).collect(),
        };
        ui.print_json(&Envelope { kind: "fleet", root: base, diagnostics: &[], body })?;
    } else if args.csv {
        ui.print_line(
            "repository,commit,source,place,ref,locked,signer,behind,items,drifted,problem",
        )?;
        for member in &members {
            print_csv(ui, member, base, &newest)?;
        }
    } else {
        print(ui, &members, base, &newest)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the path of a repository, relative to the current directory where it is below.
fn name(member: &FleetMember, base: &Path) -> String {
    member.path.strip_prefix(base).unwrap_or(&member.path).display().to_string()
}

fn address(source: &LockedSource) -> (&str, Option<&str>) {
    match &source.place {
        ManifestPlace::Git { git, reference, .. } => (git, reference.as_deref()),
        ManifestPlace::Oci { oci, reference } => (oci, reference.as_deref()),
        ManifestPlace::Directory(directory) => (directory, None),
    }
}

/// Asks each source once. One that does not answer is a warning.
fn ask(
    ui: &mut Ui,
    session: &Session,
    members: &[FleetMember],
) -> Result<NewestByPlace, CommandError> {
    let mut newest = NewestByPlace::new();
    let mut asked = BTreeSet::new();
    let locks = members.iter().filter_map(|member| member.lock.as_ref());
    for source in locks.flat_map(|lock| lock.sources.values()) {
        let key = key(source);
        if !asked.insert(key.clone()) {
            continue;
        }
        let answer = installation::watched(ui, |observer| {
            fleet::newest_of(session.system(), &source.place, observer)
        })?;
        match answer {
            Some(Ok(commit)) => {
                newest.insert(key, commit);
            }
            Some(Err(problem)) => ui.warning(&format!("{}: {problem}", key.0))?,
            None => {}
        }
    }
    Ok(newest)
}

fn key(source: &LockedSource) -> (String, Option<String>) {
    let (place, reference) = address(source);
    (place.to_owned(), reference.map(str::to_owned))
}

/// Returns whether a source has something newer; `None` if that is not known.
fn is_behind(source: &LockedSource, newest: &NewestByPlace) -> Option<bool> {
    Some(source.commit.as_ref()? != newest.get(&key(source))?)
}

fn json<'f>(member: &'f FleetMember, base: &Path, newest: &NewestByPlace) -> JsonMember<'f> {
    let source = |(name, source): (&'f String, &'f LockedSource)| {
        let (place, reference) = address(source);
        let (commit, signer) = (source.commit.as_deref(), source.signer.as_deref());
        let behind = is_behind(source, newest);
        JsonFleetSource { name, place, r#ref: reference, commit, signer, behind }
    };
    let lock = member.lock.iter();
    JsonMember {
        path: name(member, base),
        commit: member.commit.as_deref(),
        guidance: member.has_guidance,
        sources: lock.clone().flat_map(|lock| &lock.sources).map(source).collect(),
        items: lock
            .flat_map(|lock| &lock.items)
            .map(|(id, item)| JsonFleetItem {
                kind: id.kind.as_str(),
                name: &id.name,
                source: &item.source,
                version: item.version.as_deref(),
                sha256: &item.sha256,
            })
            .collect(),
        drifted: &member.drifted,
        problem: member.problem.as_deref(),
    }
}

fn print_csv(
    ui: &mut Ui,
    member: &FleetMember,
    base: &Path,
    newest: &NewestByPlace,
) -> Result<(), CommandError> {
    let path = name(member, base);
    let commit = member.commit.as_deref().unwrap_or_default();
    let problem = member.problem.as_deref().unwrap_or_default();
    let drifted = member.drifted.len().to_string();
    let sources: Vec<(&String, &LockedSource)> =
        member.lock.iter().flat_map(|lock| &lock.sources).collect();
    if sources.is_empty() {
        let fields = [&path, commit, "", "", "", "", "", "", "0", &drifted, problem];
        ui.print_line(csv(&fields))?;
    }
    for (own, source) in sources {
        let (place, reference) = address(source);
        let items = member.lock.iter().flat_map(|lock| lock.items.values());
        let items = items.filter(|item| item.source == *own).count().to_string();
        let fields = [
            path.as_str(),
            commit,
            own,
            place,
            reference.unwrap_or_default(),
            source.commit.as_deref().unwrap_or_default(),
            source.signer.as_deref().unwrap_or_default(),
            is_behind(source, newest).map_or("", |is_behind| if is_behind { "yes" } else { "no" }),
            &items,
            &drifted,
            problem,
        ];
        ui.print_line(csv(&fields))?;
    }
    Ok(())
}

/// Joins fields by RFC 4180. A field that a table program would take for a formula begins with a quotation mark of its own.
fn csv(fields: &[&str]) -> String {
    let field = |text: &&str| {
        let text = if text.starts_with(['=', '+', '-', '@']) {
            format!("'{text}")
        } else {
            (*text).to_owned()
        };
        if text.contains([',', '"', '\n', '\r']) {
            format!("\"{}\"", text.replace('"', "\"\""))
        } else {
            text
        }
    };
    fields.iter().map(field).collect::<Vec<_>>().join(",")
}

fn print(
    ui: &mut Ui,
    members: &[FleetMember],
    base: &Path,
    newest: &NewestByPlace,
) -> Result<(), CommandError> {
    let mut versions: BTreeMap<String, BTreeMap<String, Vec<String>>> = BTreeMap::new();
    let mut unsigned: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for member in members {
        for source in member.lock.iter().flat_map(|lock| lock.sources.values()) {
            let (place, reference) = address(source);
            let place = reference.map_or(place.to_owned(), |at| format!("{place} ({at})"));
            if matches!(source.place, ManifestPlace::Oci { .. }) && source.signer.is_none() {
                unsigned.entry(place.clone()).or_default().push(name(member, base));
            }
            let at = source.commit.as_deref().map_or("as it is", short).to_owned();
            versions.entry(place).or_default().entry(at).or_default().push(name(member, base));
        }
    }
    for (place, versions) in &versions {
        ui.print_heading(place)?;
        let mut versions: Vec<_> = versions.iter().collect();
        versions.sort_by_key(|(at, names)| (std::cmp::Reverse(names.len()), *at));
        for (at, names) in versions {
            ui.print_line(format!("  {at}  {}", told(names)))?;
        }
    }
    let of = |wanted: &dyn Fn(&&FleetMember) -> bool| -> Vec<String> {
        members.iter().filter(wanted).map(|member| name(member, base)).collect()
    };
    let drifted = of(&|member| !member.drifted.is_empty());
    let unguided = of(&|member| !member.has_guidance && member.problem.is_none());
    let behind = of(&|member| {
        let sources = member.lock.iter().flat_map(|lock| lock.sources.values());
        sources.into_iter().any(|source| is_behind(source, newest) == Some(true))
    });
    let groups = [("behind", behind), ("drifted", drifted), ("without guidance", unguided)];
    for (about, names) in groups {
        if !names.is_empty() {
            ui.print_line(format!("{about}: {}", told(&names)))?;
        }
    }
    for (place, names) in &unsigned {
        ui.print_line(format!("not signed, {place}: {}", told(names)))?;
    }
    for member in members {
        if let Some(problem) = &member.problem {
            ui.warning(&format!("{}: {problem}", name(member, base)))?;
        }
    }
    Ok(())
}

/// Returns how many repositories there are, and the names of a few.
fn told(names: &[String]) -> String {
    let count = match names.len() {
        1 => "1 repository".to_owned(),
        count => format!("{count} repositories"),
    };
    let few = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    let more = if names.len() > NAMED { ", …" } else { "" };
    format!("{count}: {few}{more}")
}
