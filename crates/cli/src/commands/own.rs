//! `brief self`

use std::path::Path;

use brief_dialects::DIALECTS;
use brief_dialects::policy::{Policy, PolicyDecision};
use brief_dialects::portable::LOCK_VERSION;
use brief_syntax::text::{counted, visible_line};
use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::json;

use crate::error::Result;
use crate::session::Session;
use crate::ui::Ui;

/// Show facts about this program
#[derive(Debug, Args)]
pub(crate) struct SelfArgs {
    #[command(subcommand)]
    action: SelfAction,
}

#[derive(Debug, Subcommand)]
enum SelfAction {
    Version(VersionArgs),
    Policy(PolicyArgs),
}

/// Print the rules of the policies in force, each with its file and line
#[derive(Debug, Args)]
struct PolicyArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Print the version, the commit and target it was built from, and the formats it speaks
#[derive(Debug, Args)]
struct VersionArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct ProgramBuild {
    version: &'static str,
    /// Known if `BRIEF_COMMIT` was set when the program was built, as `cargo xtask dist` does.
    commit: Option<&'static str>,
    target: &'static str,
    features: &'static [&'static str],
    formats: Vec<SpokenFormat>,
    lock_version: i64,
}

#[derive(Debug, Serialize)]
struct SpokenFormat {
    name: &'static str,
    summary: &'static str,
}

impl ProgramBuild {
    fn this() -> ProgramBuild {
        let format = |name, summary| SpokenFormat { name, summary };
        ProgramBuild {
            version: env!("CARGO_PKG_VERSION"),
            commit: option_env!("BRIEF_COMMIT").filter(|commit| !commit.is_empty()),
            target: env!("BRIEF_TARGET"),
            features: if cfg!(feature = "agent") { &["agent"] } else { &[] },
            formats: DIALECTS.iter().map(|one| format(one.name(), one.summary())).collect(),
            lock_version: LOCK_VERSION,
        }
    }
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &SelfArgs) -> Result {
    let json = match &args.action {
        SelfAction::Version(VersionArgs { json }) => json,
        SelfAction::Policy(asked) => return print_policy(ui, session, asked),
    };
    let program = ProgramBuild::this();
    if *json {
        let root = session.root()?;
        let body = json!({ "program": program });
        return ui.print_json("self version", root.path(), &[], body);
    }
    let names: Vec<&str> = program.formats.iter().map(|format| format.name).collect();
    ui.print_raw(&format!(
        "brief {}\ncommit    {}\ntarget    {}\nfeatures  {}\nformats   {}\n",
        program.version,
        program.commit.unwrap_or("unknown"),
        program.target,
        if program.features.is_empty() { "none".to_owned() } else { program.features.join(", ") },
        names.join(", "),
    ))
}

fn print_policy(ui: &mut Ui, session: &Session, args: &PolicyArgs) -> Result {
    let policy: Policy = session.policy()?;
    let rules = policy.rules();
    if args.json {
        let rule = |one: &PolicyDecision| json!({ "path": one.path.to_string_lossy(), "line": one.line, "rule": one.rule });
        let files: Vec<_> = policy.files().map(Path::to_string_lossy).collect();
        let body = json!({ "files": files, "rules": rules.iter().map(rule).collect::<Vec<_>>() });
        return ui.print_json("self policy", session.root()?.path(), &[], body);
    }
    for rule in &rules {
        ui.print_line(visible_line(&format!("{}  {}", rule.place(), rule.rule)))?;
    }
    match (policy.files().len(), rules.len()) {
        (0, _) => ui.status("no policy is in force"),
        (files, 0) => ui.status(&format!("no rules in {}", counted(files, "policy file"))),
        (_, rules) => ui.status(&counted(rules, "rule")),
    }
}
