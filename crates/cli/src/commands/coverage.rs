//! `brief coverage`

use std::path::PathBuf;

use brief_checks::coverage::{Coverage, HEAVY};
use brief_engine::Moment;
use brief_engine::survey::CoverageGap;
use brief_engine::tokens::Counter;
use brief_syntax::render::JsonDiagnostics;
use brief_syntax::text::visible_line;
use clap::Args;
use serde_json::{Value, json};

use super::question::{
    ClientName, StartedArg, SurveyArgs, known_client, select_dialects, shown_place,
};
use super::whole::{JsonPlace, WholeProject, format_count, shown_directory};
use crate::error::{Result, refuse_if};
use crate::session::Session;
use crate::ui::Ui;

/// Find unused patterns, unused items and files without guidance
///
/// Findings are patterns that match nothing, items that nothing in the repository gets, and items for
/// nine in ten files that cost more than --heavy tokens. Files without guidance are shown, and are
/// findings only with --complete.
#[derive(Debug, Args)]
pub(crate) struct CoverageArgs {
    /// Directory to check [default: the whole repository]
    path: Option<PathBuf>,

    /// Exit 1 if there is a problem
    #[arg(long)]
    strict: bool,

    /// Also report files without guidance
    #[arg(long)]
    complete: bool,

    /// Report items over N tokens that apply to 90% of files
    #[arg(long, value_name = "N", default_value_t = HEAVY)]
    heavy: usize,

    /// Count what this client loads itself as guidance
    #[arg(
        long, value_name = "NAME", value_parser = ClientName,
        add = clap_complete::ArgValueCompleter::new(crate::complete::known_clients)
    )]
    client: Option<String>,

    #[command(flatten)]
    started: StartedArg,

    #[command(flatten)]
    looking: SurveyArgs,
}

/// The number of places without guidance in the text output; JSON has all.
const SHOWN: usize = 50;

/// The number of file names per place in the text output.
const NAMES: usize = 4;

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &CoverageArgs) -> Result {
    let whole = &WholeProject::read(
        ui,
        session,
        args.path.as_deref(),
        select_dialects(&args.looking.only),
    )?;
    let counter = args.looking.counting.create_counter(session, whole.root.path());
    let started = Some(args.started.resolve_directory(session)?);
    args.client.iter().try_for_each(|client| known_client(session, client))?;
    let moment = Moment { client: args.client.clone(), started, ..Moment::default() };
    let survey = whole.survey(&moment, &counter)?;
    let checked = whole.catalog.check_project();
    let found =
        Coverage::from_survey(&checked, whole.root.path(), &whole.part, &survey, args.heavy);
    let bare = found.count_bare_files();
    let findings = found.count_findings() + if args.complete { bare } else { 0 };
    let files = survey.file_count(&whole.part);
    if args.looking.json {
        let client = args.client.as_deref();
        whole.print_json(ui, "coverage", coverage_json(whole, &found, client, files, findings))?;
    } else {
        print_coverage(ui, &found, whole, files, &counter)?;
        let (findings, files) = (format_count(findings, "finding"), format_count(files, "file"));
        ui.print_status(&format!("{findings}; {bare} of {files} without guidance"))?;
    }
    refuse_if(args.strict && findings > 0)
}

fn coverage_json(
    whole: &WholeProject,
    found: &Coverage<'_>,
    client: Option<&str>,
    files: usize,
    findings: usize,
) -> Value {
    let root = whole.root.path();
    let never = found.idle.iter().map(|idle| {
        json!({
            "format": idle.dialect,
            "kind": idle.kind,
            "name": idle.name.to_string(),
            "source": JsonPlace::new(root, idle.path, idle.line),
            "reason": idle.reason,
        })
    });
    let everywhere = found.heavy.iter().map(|surveyed| {
        let item = &surveyed.item;
        json!({
            "format": item.dialect,
            "kind": item.kind,
            "name": item.name.to_string(),
            "source": JsonPlace::new(root, item.path, item.line),
            "files": surveyed.files,
            "tokens": surveyed.tokens,
        })
    });
    json!({
        "path": whole.part,
        "client": client,
        "files": files,
        "without_guidance": found.count_bare_files(),
        "dead_patterns": JsonDiagnostics { root, list: &found.dead },
        "never": never.collect::<Vec<_>>(),
        "everywhere": everywhere.collect::<Vec<_>>(),
        "gaps": found.gaps,
        "findings": findings,
    })
}

fn print_coverage(
    ui: &mut Ui,
    found: &Coverage<'_>,
    whole: &WholeProject,
    files: usize,
    counter: &Counter<'_>,
) -> Result {
    let dead = found.dead.iter().map(|diagnostic| {
        let line = diagnostic.position().line;
        format!(
            "{}  {}",
            shown_place(whole.root.path(), diagnostic.path(), line),
            diagnostic.message
        )
    });
    let idle = found.idle.iter().map(|idle| {
        let place = shown_place(whole.root.path(), idle.path, idle.line);
        format!("{place}  {}: {}", idle.name, idle.reason)
    });
    let heavy = found.heavy.iter().map(|surveyed| {
        let (place, name) = (whole.render_place(&surveyed.item), surveyed.item.name);
        let tokens = counter.render_tokens(surveyed.tokens);
        format!("{place}  {name}: {tokens} tokens, for {}", format_count(surveyed.files, "file"))
    });
    let mut gaps: Vec<String> = found.gaps.iter().take(SHOWN).map(shown_gap).collect();
    if let Some(more) = found.gaps.len().checked_sub(SHOWN).filter(|&more| more > 0) {
        gaps.push(format!("and {}", format_count(more, "more place")));
    }
    let parts = [
        ("patterns that match nothing", dead.collect::<Vec<_>>()),
        ("items that never apply", idle.collect()),
        ("expensive items that apply to nearly every file", heavy.collect()),
        ("files without guidance", if files == 0 { Vec::new() } else { gaps }),
    ];
    let mut is_first = true;
    for (heading, lines) in parts.iter().filter(|(_, lines)| !lines.is_empty()) {
        if !std::mem::take(&mut is_first) {
            ui.print_line("")?;
        }
        ui.print_heading(heading)?;
        for line in lines {
            ui.print_line(visible_line(&format!("  {line}")))?;
        }
    }
    Ok(())
}

fn shown_gap(gap: &CoverageGap<'_>) -> String {
    let directory = shown_directory(Some(&gap.directory));
    if gap.is_deep {
        let directory = if gap.directory.is_empty() { "" } else { &directory };
        return format!("{directory}**  {}", format_count(gap.files, "file"));
    }
    let (named, more) = gap.names.split_at(gap.names.len().min(NAMES));
    let more = if more.is_empty() { "" } else { ", …" };
    format!("{directory}  {} of {}: {}{more}", gap.files, gap.of, named.join(", "))
}
