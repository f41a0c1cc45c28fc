//! The arguments of `context` and `decisions`.

use std::ffi::OsString;
use std::path::PathBuf;

use brief_engine::{Action, Briefing, Project, Strangers, Timing, structured};

use super::{warn_if_nothing_found, warn_of_diagnostics};
use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::ui::Ui;

#[derive(Debug, Default)]
pub(super) struct SctxArguments {
    path: Option<PathBuf>,
    pub(super) all: bool,
    action: Option<Action>,
    timing: Option<Timing>,
    pub(super) json: bool,
}

/// The support of `--on` and `--when`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Filters {
    Accepted,
    Unknown,
}

impl SctxArguments {
    pub(super) fn parse(args: &[OsString], filters: Filters) -> Result<SctxArguments> {
        let mut parsed = SctxArguments::default();
        let mut args = args.iter();
        let mut is_path = false;
        while let Some(arg) = args.next() {
            match arg.to_string_lossy().as_ref() {
                // After two dashes everything is a path.
                "--" if !is_path => is_path = true,
                "--all" if !is_path => parsed.all = true,
                "--json" if !is_path => parsed.json = true,
                "--on" if !is_path && filters == Filters::Accepted => {
                    let value = args
                        .next()
                        .ok_or_else(|| CommandError::refused("--on requires a value"))?;
                    parsed.action = parse_action(&value.to_string_lossy())?;
                }
                "--when" if !is_path && filters == Filters::Accepted => {
                    let value = args
                        .next()
                        .ok_or_else(|| CommandError::refused("--when requires a value"))?;
                    parsed.timing = parse_timing(&value.to_string_lossy())?;
                }
                flag if !is_path && flag.starts_with("--") => {
                    return Err(CommandError::refused(format!("unknown flag: {flag}")));
                }
                "" => {}
                _ if parsed.path.is_some() => {
                    return Err(CommandError::refused("only one <path> is allowed"));
                }
                _ => parsed.path = Some(PathBuf::from(arg)),
            }
        }
        match (&parsed.path, parsed.all) {
            (Some(_), true) => {
                Err(CommandError::refused("--all and <path> are mutually exclusive"))
            }
            (None, false) => Err(CommandError::refused("missing required <path> argument")),
            _ => Ok(parsed),
        }
    }

    /// Asks, and warns of problems in what was read. `None` when the path lies outside the root.
    pub(super) fn resolve_briefing(
        &self,
        ui: &mut Ui,
        session: &Session,
    ) -> Result<Option<Briefing>> {
        let project = Project::open_directory(session.system(), session.directory())
            .map_err(|_| CommandError::refused("the current directory cannot be read"))?;
        let request = match &self.path {
            Some(path) => project.briefing(path),
            None => project.everything().with_ignored(),
        };
        let mut request = request.only([structured::NAME]);
        let moment = &mut request.moment;
        moment.strangers = Strangers::Counted;
        if moment.is_outside {
            return Ok(None);
        }
        (moment.action, moment.timing) = (self.action, self.timing);
        (moment.skip_left_out, moment.keep_repetitions) = (true, true);
        let briefing = request.resolve();
        warn_of_diagnostics(ui, &briefing.diagnostics)?;
        warn_if_nothing_found(ui, briefing.files == 0)?;
        Ok(Some(briefing))
    }
}

fn parse_action(value: &str) -> Result<Option<Action>> {
    match Action::from_name(value) {
        None if value != "all" => Err(CommandError::refused(format!(
            "invalid --on value \"{value}\" (must be read, edit, create, or all)"
        ))),
        action => Ok(action),
    }
}

fn parse_timing(value: &str) -> Result<Option<Timing>> {
    match Timing::from_name(value) {
        None if value != "all" => Err(CommandError::refused(format!(
            "invalid --when value \"{value}\" (must be before, after, or all)"
        ))),
        timing => Ok(timing),
    }
}
