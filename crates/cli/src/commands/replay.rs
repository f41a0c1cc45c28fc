//! `brief replay`

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use brief_syntax::text::visible_line;
use brief_workflows::replay::{
    BrokenRate, Replay, ReplayRequest, ReplayVerdict, ReplayedRule, SessionReport, TimelineEntry,
    TimelineKind, replay_sessions,
};
use clap::Args;
use serde_json::{Value, json};

use super::question::{ClientName, known_client};
use super::whole::format_count;
use crate::error::{CommandError, Result, refuse_if};
use crate::session::Session;
use crate::ui::Ui;

/// Show which rules agents had and which they broke in past sessions
///
/// Reads the sessions that AI clients record on this machine, the log of deliveries, and the guidance of today. It needs no hook.
/// Read-only; nothing leaves the machine. Name a session for its timeline, a rule for its evidence, or a file that agents
/// worked on.
#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// A session, a file, a rule, or a file with a recorded session
    #[arg(value_name = "SESSION|FILE|RULE")]
    word: Option<String>,

    /// Look back this far, such as `12h` or `7d`
    #[arg(long, value_name = "TIME", default_value = "7d", value_parser = parse_span)]
    since: Duration,

    /// Read the sessions of this client only
    #[arg(
        long, value_name = "NAME", value_parser = ClientName,
        add = clap_complete::ArgValueCompleter::new(crate::complete::known_clients)
    )]
    client: Option<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The most rules that are listed without a problem.
const MOST_QUIET: usize = 20;

/// The proofs that are shown for one rule in the list of all.
const SHOWN_EVIDENCE: usize = 3;

fn parse_span(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text)
        .map_err(|error| format!("{error}; write a number with a unit, such as `12h` or `7d`"))
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &ReplayArgs) -> Result {
    let project = session.open_project()?;
    if let Some(client) = &args.client {
        known_client(session, client)?;
    }
    let file = args.word.as_deref().and_then(|word| find_record(session, word));
    let request = ReplayRequest {
        since: file.is_none().then_some(args.since),
        client: args.client.clone(),
        file,
    };
    let mut replay = replay_sessions(&project, &request);
    let root = project.root().path();
    let choice = match args.word.as_deref().filter(|_| request.file.is_none()) {
        Some(word) => Some(choose(session, &project, &mut replay, word)?),
        None => None,
    };
    if args.json {
        return ui.print_json("replay", root, &[], replay_json(&replay, args));
    }
    for problem in &replay.problems {
        let path = problem.path.as_ref().map_or(String::new(), |path| format!("{path}: "));
        ui.print_warning(&format!("{}{}", visible_line(&path), visible_line(&problem.message)))?;
    }
    if replay.sessions.is_empty() {
        if request.file.is_some() {
            return refuse_if(true);
        }
        return explain_nothing(ui, &replay, args);
    }
    match choice {
        Some(Choice::Session) => print_sessions(ui, &replay),
        _ if request.file.is_some() => {
            print_sessions(ui, &replay)?;
            ui.print_line("")?;
            print_rules(ui, &replay, usize::MAX)
        }
        Some(Choice::Rule) => print_rules(ui, &replay, usize::MAX),
        Some(Choice::File) | None => print_rules(ui, &replay, SHOWN_EVIDENCE),
    }
}

/// Returns the file with a recorded session that a word names: it has an ending of one.
fn find_record(session: &Session, word: &str) -> Option<PathBuf> {
    let is_record = [".jsonl", ".db", ".messages.json"].iter().any(|end| word.ends_with(end));
    let path = session.directory().join(word);
    (is_record && session.system().resolve(&path).is_ok()).then_some(path)
}

/// What a word chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    Session,
    Rule,
    File,
}

fn choose(
    session: &Session,
    project: &brief_engine::Project<'_>,
    replay: &mut Replay,
    word: &str,
) -> Result<Choice> {
    if replay.sessions.iter().any(|session| session.id.starts_with(word)) {
        replay.sessions.retain(|session| session.id.starts_with(word));
        let places: Vec<String> = replay
            .sessions
            .iter()
            .flat_map(|session| session.rules.iter().map(|rule| rule.place.clone()))
            .collect();
        replay.rules.retain(|rule| places.contains(&rule.place));
        return Ok(Choice::Session);
    }
    let located =
        project.root().locate_target(project.system(), session.directory(), Path::new(word));
    let path = located.as_ref().map_or(word, |target| target.slashed()).to_owned();
    let is_rule = |rule: &ReplayedRule| {
        rule.place == word
            || rule.name == word
            || rule.check.as_deref() == Some(word)
            || rule.place.rsplit_once(':').is_some_and(|(file, _)| file == path)
    };
    if replay.rules.iter().any(is_rule) {
        replay.rules.retain(is_rule);
        return Ok(Choice::Rule);
    }
    let touches = |entry: &TimelineEntry| {
        let (_, files) = entry.text.split_once(' ').unwrap_or_default();
        files.split(", ").any(|file| file == path) || entry.text.contains(&*path)
    };
    let is_about = |session: &SessionReport| session.timeline.iter().any(touches);
    if replay.sessions.iter().any(is_about) {
        replay.sessions.retain(is_about);
        let in_file = |rule: &mut ReplayedRule| {
            let prefix = format!("{path}:");
            rule.evidence.retain(|found| {
                found.evidence.place == path || found.evidence.place.starts_with(&prefix)
            });
            !rule.evidence.is_empty()
        };
        replay.rules.retain_mut(in_file);
        return Ok(Choice::File);
    }
    if replay.sessions.is_empty() {
        return Ok(Choice::File);
    }
    let error = CommandError::refused(format!(
        "no session, file or rule `{word}` in the recorded sessions"
    ));
    Err(error.with_hint("run `brief replay` to list them, or look back further with `--since 30d`"))
}

fn explain_nothing(ui: &mut Ui, replay: &Replay, args: &ReplayArgs) -> Result {
    let since = render_span(args.since);
    let client = args.client.as_ref().map_or(String::new(), |client| format!(" of {client}"));
    ui.print_status(&format!("no recorded sessions{client} in this project in the last {since}"))?;
    let foreign: usize = replay.clients.iter().map(|client| client.foreign).sum();
    if foreign > 0 {
        ui.print_status(&format!("{} of other projects", format_count(foreign, "session file")))?;
    }
    let unplaced: usize = replay.clients.iter().map(|client| client.unplaced).sum();
    if unplaced > 0 {
        let files = format_count(unplaced, "session file");
        ui.print_status(&format!("{files} without a working directory"))?;
    }
    Ok(())
}

fn replay_json(replay: &Replay, args: &ReplayArgs) -> Value {
    json!({
        "since": args.since.as_secs(),
        "client": args.client,
        "clients": replay.clients,
        "sessions": replay.sessions,
        "rules": replay.rules,
        "problems": replay.problems,
    })
}

fn print_rules(ui: &mut Ui, replay: &Replay, evidence: usize) -> Result {
    let (loud, quiet): (Vec<&ReplayedRule>, Vec<&ReplayedRule>) =
        replay.rules.iter().partition(|rule| rule.advice.is_some() || !rule.evidence.is_empty());
    for rule in loud.iter().chain(quiet.iter().take(MOST_QUIET)) {
        print_rule(ui, rule, evidence)?;
    }
    if let Some(left) = quiet.len().checked_sub(MOST_QUIET).filter(|left| *left > 0) {
        ui.print_line(format_args!("{} without problems", format_count(left, "more rule")))?;
    }
    print_summary(ui, replay)
}

fn print_rule(ui: &mut Ui, rule: &ReplayedRule, evidence: usize) -> Result {
    ui.print_heading(&format!("{}  {}", visible_line(&rule.place), visible_line(&rule.title)))?;
    if rule.arrival.total() > 0 {
        let parts: Vec<String> =
            rule.arrival.parts().map(|(name, count)| format!("{count} {name}")).collect();
        let calls = format_count(rule.arrival.total(), "call");
        ui.print_line(format_args!("  applied in {calls}: {}", parts.join(", ")))?;
    }
    if rule.check.is_some() {
        let verdicts: Vec<String> = rule
            .verdicts
            .iter()
            .map(|count| format!("{} {}", count.sessions, count.verdict.as_str()))
            .collect();
        let sessions = format_count(rule.sessions, "session");
        ui.print_line(format_args!("  {sessions}: {}", verdicts.join(", ")))?;
        let counts = rule.occasions;
        if counts.total() > 0 {
            let occasions = format_count(counts.total(), "occasion");
            let rate = rule.rate.map_or(String::new(), |rate| format!(" ({})", render_rate(rate)));
            ui.print_line(format_args!(
                "  {occasions}: {} broken, {} kept, {} unknown{rate}",
                counts.broken, counts.kept, counts.unknown
            ))?;
        }
    }
    for found in rule.evidence.iter().take(evidence) {
        let proof = &found.evidence;
        let session: String = found.session.chars().take(8).collect();
        let told = if proof.told { "" } else { "; the agent did not have the rule" };
        let fixed = if proof.fixed { "; fixed later" } else { "" };
        ui.print_line(format_args!(
            "    {} {} {}  {} {}{told}{fixed}",
            render_time(proof.at),
            found.client,
            visible_line(&session),
            visible_line(&proof.place),
            visible_line(&proof.message),
        ))?;
    }
    if let Some(left) = rule.occasions.broken.checked_sub(evidence).filter(|left| *left > 0) {
        ui.print_line(format_args!("    and {left} more: `brief replay {}`", rule.place))?;
    }
    if let Some(advice) = &rule.advice {
        ui.print_line(format_args!("  to do: {}", visible_line(advice)))?;
    }
    Ok(())
}

fn render_rate(rate: BrokenRate) -> String {
    let percent = |share: f64| format!("{:.0}", share * 100.0);
    format!(
        "{} % of {} broken, 95 % interval {} to {} %",
        percent(rate.rate),
        rate.occasions,
        percent(rate.low),
        percent(rate.high)
    )
}

fn print_summary(ui: &mut Ui, replay: &Replay) -> Result {
    let clients: Vec<String> = replay
        .clients
        .iter()
        .filter_map(|records| {
            let own = replay.sessions.iter().filter(|session| session.client == records.client);
            let count = own.count();
            (count > 0).then(|| format!("{} {count}", records.client))
        })
        .collect();
    let sessions = format_count(replay.sessions.len(), "session");
    let calls: usize = replay.sessions.iter().map(|session| session.calls).sum();
    ui.print_status(&format!(
        "{sessions}, {} ({})",
        format_count(calls, "call"),
        clients.join(", ")
    ))?;
    let gaps = replay.sessions.iter().filter(|session| !session.gaps.is_empty()).count();
    if gaps > 0 {
        let sessions = format_count(gaps, "session");
        ui.print_status(&format!("{sessions} not understood in full; see `brief replay SESSION`"))?;
    }
    let open = replay.sessions.iter().filter(|session| session.open).count();
    if open > 0 {
        let sessions = format_count(open, "session");
        ui.print_status(&format!("{sessions} without an end: still being written, or stopped"))?;
    }
    Ok(())
}

fn print_sessions(ui: &mut Ui, replay: &Replay) -> Result {
    for (index, session) in replay.sessions.iter().enumerate() {
        if index > 0 {
            ui.print_line("")?;
        }
        print_session(ui, session)?;
    }
    Ok(())
}

fn print_session(ui: &mut Ui, session: &SessionReport) -> Result {
    let agent = session.agent.as_ref().map_or(String::new(), |agent| format!(" agent {agent}"));
    let version = session.version.as_ref().map_or(String::new(), |version| format!(" {version}"));
    ui.print_heading(&format!(
        "{}{} {}{}  {}  {}",
        session.client,
        visible_line(&version),
        visible_line(&session.id),
        visible_line(&agent),
        render_time(session.started),
        format_count(session.calls, "call")
    ))?;
    if let Some(parent) = &session.parent {
        ui.print_line(format_args!("  continues {}", visible_line(parent)))?;
    }
    for entry in &session.timeline {
        let time = render_time(entry.at);
        let clock = time.get(11..19).unwrap_or("        ");
        let text = visible_line(&entry.text);
        let line = match entry.kind {
            TimelineKind::Prompt => "prompt".to_owned(),
            TimelineKind::Compaction => "compaction: earlier messages were summarized".to_owned(),
            TimelineKind::Delivered => format!("delivered {text}"),
            TimelineKind::Call => match entry.outcome.as_deref() {
                Some("ok") | None => text.into_owned(),
                Some(outcome) => format!("{text}  ({outcome})"),
            },
        };
        ui.print_line(format_args!("  {clock} {:>4}  {line}", entry.step))?;
        for broken in &entry.broken {
            ui.print_line(format_args!("                 broken {}", visible_line(broken)))?;
        }
        for missing in &entry.missing {
            ui.print_line(format_args!("                 missing {}", visible_line(missing)))?;
        }
    }
    let verdicts: Vec<String> = session
        .rules
        .iter()
        .filter_map(|rule| {
            let verdict = rule.verdict.filter(|verdict| *verdict != ReplayVerdict::NoOccasion)?;
            let reason =
                rule.unknown.as_ref().map_or(String::new(), |reason| format!(" ({reason})"));
            Some(format!("{}: {}{reason}", rule.place, verdict.as_str()))
        })
        .collect();
    for verdict in verdicts {
        ui.print_line(format_args!("  {}", visible_line(&verdict)))?;
    }
    for gap in &session.gaps {
        ui.print_warning(&format!("{}: {}", visible_line(&session.source), visible_line(gap)))?;
    }
    if session.open {
        ui.print_status("no result for the last call: still being written, or stopped")?;
    }
    Ok(())
}

/// Returns a span in days, if it is a number of them.
fn render_span(span: Duration) -> String {
    const DAY: u64 = 24 * 60 * 60;
    match usize::try_from(span.as_secs() / DAY) {
        Ok(days) if days > 0 && span.as_secs().is_multiple_of(DAY) => format_count(days, "day"),
        _ => humantime::format_duration(span).to_string(),
    }
}

/// Returns a time in UTC; a record may have none.
fn render_time(at: Option<u64>) -> String {
    // The last second of the year 9999: a broken record can have any number.
    let at = at.map(|at| at.min(253_402_300_799_000));
    at.map_or_else(
        || "unknown time        ".to_owned(),
        |at| {
            let time = SystemTime::UNIX_EPOCH + Duration::from_millis(at);
            humantime::format_rfc3339_seconds(time).to_string()
        },
    )
}
