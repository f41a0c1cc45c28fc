//! `brief version`

use brief_dialects::DIALECTS;
use brief_dialects::locked::LOCK_VERSION;
use clap::Args;
use serde::Serialize;
use serde_json::json;

use crate::error::Result;
use crate::session::Session;
use crate::ui::Ui;

/// Show version and build information
#[derive(Debug, Args)]
pub(crate) struct VersionArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct ProgramBuild {
    pub(super) version: &'static str,
    /// The commit of the sources; `None` for a development build.
    pub(super) commit: Option<&'static str>,
    pub(super) target: &'static str,
    formats: Vec<SpokenFormat>,
    lock_version: i64,
}

#[derive(Debug, Serialize)]
struct SpokenFormat {
    name: &'static str,
    summary: &'static str,
}

impl ProgramBuild {
    pub(super) fn current() -> ProgramBuild {
        let format = |name, summary| SpokenFormat { name, summary };
        ProgramBuild {
            version: env!("CARGO_PKG_VERSION"),
            commit: option_env!("BRIEF_COMMIT").filter(|commit| !commit.is_empty()),
            target: env!("BRIEF_TARGET"),
            formats: DIALECTS.iter().map(|one| format(one.name(), one.summary())).collect(),
            lock_version: LOCK_VERSION,
        }
    }
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &VersionArgs) -> Result {
    let program = ProgramBuild::current();
    if args.json {
        let root = session.open_root()?;
        let body = json!({ "program": program });
        return ui.print_json("version", root.path(), &[], body);
    }
    let names: Vec<&str> = program.formats.iter().map(|format| format.name).collect();
    ui.print_raw(&format!(
        "brief {}\ncommit    {}\ntarget    {}\nformats   {}\n",
        program.version,
        program.commit.unwrap_or("unknown (development build)"),
        program.target,
        names.join(", "),
    ))
}
