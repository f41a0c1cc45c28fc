//! `brief allow`

use std::time::{Duration, SystemTime};

use brief_checks::rules::RuleSet;
use brief_dialects::Dialects;
use brief_engine::receipts::{CheckOutcome, Receipt, ReceiptCheck};
use brief_runtime::{Allowance, AllowedRule};
use brief_syntax::near_miss::nearest_few;
use clap::Args;

use crate::error::{CommandError, ErrorKind, Result};
use crate::session::Session;
use crate::ui::Ui;

/// The longest time for which a rule can be allowed to be broken.
const LONGEST: Duration = Duration::from_hours(366 * 24);

/// Allow one call to break a rule
///
/// The way past a rule that blocks: the next call in this project that breaks it passes, within a day, or every such call
/// until a date. Asks only on a terminal; no flag or variable can answer. The log shows what was allowed.
#[derive(Debug, Args)]
pub(crate) struct AllowArgs {
    /// Id of the rule, as the refusal names it
    rule: String,

    /// Allow the next call only (the default)
    #[arg(long, conflicts_with_all = ["until", "remove"])]
    once: bool,

    /// Allow every call until the end of this day (UTC)
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_day)]
    until: Option<Day>,

    /// Block such calls again
    #[arg(long, conflicts_with = "until")]
    remove: bool,
}

/// A day, as it was typed, and its end.
#[derive(Debug, Clone)]
struct Day {
    typed: String,
    end: SystemTime,
}

fn parse_day(text: &str) -> Result<Day, String> {
    let end = humantime::parse_rfc3339(&format!("{text}T23:59:59Z"));
    let end = end.map_err(|_| "expected a date such as 2027-01-31".to_owned())?;
    Ok(Day { typed: text.to_owned(), end: end + Duration::from_secs(1) })
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &AllowArgs) -> Result {
    let system = session.system();
    let project = session.open_project()?;
    let root = project.root().path();
    let rule = AllowedRule { root, id: &args.rule };
    if args.remove {
        let removed = rule.remove(system).map_err(|error| cannot_write(&error))?;
        return if removed {
            ui.print_status(&format!("`{}` is in force again", args.rule))
        } else {
            Err(CommandError::refused(format!("nothing is allowed for `{}`", args.rule)))
        };
    }
    if !ui.can_ask() {
        return Err(CommandError::refused("cannot allow anything without a terminal").with_hint(
            "run `brief allow` in a terminal; scripts and agents cannot allow anything",
        ));
    }
    let rules = RuleSet::new(root, project.read_project(Dialects::All).rule_checks());
    let Some(known) = rules.rules().iter().find(|known| *known.id == *args.rule) else {
        let ids: Vec<&str> = rules.rules().iter().map(|known| &*known.id).collect();
        let error = CommandError::refused(format!("no rule named `{}`", args.rule));
        return Err(match nearest_few(&args.rule, &ids, 1)[..] {
            [near, ..] => error.with_hint(format!("did you mean `{near}`?")),
            [] => error.with_hint("run `brief hook status` to list the rules with a check"),
        });
    };
    let (allowance, words) = match &args.until {
        None => (Allowance::Once, "the next call".to_owned()),
        Some(Day { typed, end }) => {
            let left = end.duration_since(system.now()).unwrap_or_default();
            if left.is_zero() {
                return Err(CommandError::usage(format!("{typed} is in the past")));
            }
            if left > LONGEST {
                return Err(CommandError::usage(format!("{typed} is more than a year away"))
                    .with_hint("change the rule instead"));
            }
            (Allowance::Until(*end), format!("every call until the end of {typed} (UTC)"))
        }
    };
    ui.print_status(&format!("{}: {}", args.rule, known.check.title()))?;
    if !ui.confirm(&format!("Allow {words} to break this rule?"))? {
        ui.print_status("nothing was recorded")?;
        return Err(CommandError::reported(ErrorKind::Refused));
    }
    rule.allow(system, allowance).map_err(|error| cannot_write(&error))?;
    let mut receipt = Receipt::new("", "", "brief allow", root);
    receipt.checks.push(ReceiptCheck {
        rule: args.rule.clone(),
        outcome: CheckOutcome::Allowed,
        finding: words.clone(),
    });
    receipt.record(system);
    ui.print_status(&format!("allowed {words}"))
}

fn cannot_write(error: &std::io::Error) -> CommandError {
    CommandError::refused(format!("cannot write to the state directory: {error}"))
}
