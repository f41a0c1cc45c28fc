//! `brief fleet`

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use brief_registry::fleet::{self, FleetMember};
use brief_registry::lock::LockedSource;
use brief_registry::manifest::ManifestPlace;
use brief_syntax::render::Envelope;
use clap::Args;
use serde::Serialize;

use crate::error::CommandError;
use crate::installation::short;
use crate::session::Session;
use crate::ui::Ui;

/// The number of repositories that a line names.
const NAMED: usize = 5;

/// Show what many repositories have installed, and at which version
///
/// Reads brief.lock and the written files of each repository's newest commit, as git objects: nothing is checked
/// out, and no server is asked.
#[derive(Debug, Args)]
pub(crate) struct FleetArgs {
    /// Repositories (bare ones too), directories of them, or files with a path on each line
    #[arg(value_name = "SOURCE", required = true)]
    sources: Vec<PathBuf>,

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
}

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
    if args.json {
        let body =
            Fleet { repositories: members.iter().map(|member| json(member, base)).collect() };
        ui.print_json(&Envelope { kind: "fleet", root: base, diagnostics: &[], body })?;
    } else if args.csv {
        ui.print_line("repository,commit,source,place,ref,locked,signer,items,drifted,problem")?;
        for member in &members {
            print_csv(ui, member, base)?;
        }
    } else {
        print(ui, &members, base)?;
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

fn json<'f>(member: &'f FleetMember, base: &Path) -> JsonMember<'f> {
    let source = |(name, source): (&'f String, &'f LockedSource)| {
        let (place, reference) = address(source);
        let (commit, signer) = (source.commit.as_deref(), source.signer.as_deref());
        JsonFleetSource { name, place, r#ref: reference, commit, signer }
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

fn print_csv(ui: &mut Ui, member: &FleetMember, base: &Path) -> Result<(), CommandError> {
    let path = name(member, base);
    let commit = member.commit.as_deref().unwrap_or_default();
    let problem = member.problem.as_deref().unwrap_or_default();
    let drifted = member.drifted.len().to_string();
    let sources: Vec<(&String, &LockedSource)> =
        member.lock.iter().flat_map(|lock| &lock.sources).collect();
    if sources.is_empty() {
        let fields = [&path, commit, "", "", "", "", "", "0", &drifted, problem];
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

fn print(ui: &mut Ui, members: &[FleetMember], base: &Path) -> Result<(), CommandError> {
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
    for (about, names) in [("drifted", drifted), ("without guidance", unguided)] {
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
