//! The commands, one file each.

mod add;
pub mod agent;
mod allow;
mod audit;
mod check;
mod clean;
pub(crate) mod completions;
mod context;
mod convert;
mod coverage;
mod decisions;
mod deps;
mod diff;
mod doctor;
mod eject;
mod fleet;
pub(crate) mod hook;
mod import;
mod init;
mod lint;
mod lint_setup;
mod list;
mod log;
mod lsp;
mod man;
mod mcp;
mod mcp_servers;
mod outdated;
mod question;
mod registry;
mod remove;
mod replay;
mod rule_effects;
mod schema;
mod search;
mod setup;
mod show;
mod stale;
mod status;
mod sync;
mod task;
mod tokens;
mod tree;
mod trust;
mod update;
mod version;
mod view;
mod whole;
mod why;

use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::ui::Ui;

pub use init::print_created;
pub(crate) use init::{StarterError, write_starter};
pub use mcp::find_project_servers;
pub use registry::write_new;
pub(crate) use status::StatusArgs;

/// Defines the commands. A line is the name that is typed, another name for it, and the arguments, which
/// lie in the command's file beside its function `run`.
macro_rules! commands {
    ($($name:literal $(or $alias:literal)? => $variant:ident($module:ident::$args:ident),)*) => {
        #[derive(Debug)]
        pub(crate) enum Command {
            $($variant($module::$args),)*
        }

        impl Command {
            /// Returns the names of all commands.
            pub(crate) const NAMES: &[&str] = &[$($name),*];

            /// Returns the definition of a command; `None` for a word that is not one.
            pub(crate) fn definition(name: &str) -> Option<clap::Command> {
                match name {
                    $($name $(| $alias)? => {
                        let command = clap::Command::new($name)$(.visible_alias($alias))?;
                        Some(<$module::$args as clap::Args>::augment_args(command))
                    })*
                    _ => None,
                }
            }

            /// Returns the command that was typed; `None` if there was none.
            pub(crate) fn read(matches: &clap::ArgMatches) -> Result<Option<Command>, clap::Error> {
                match matches.subcommand() {
                    $(Some(($name, own)) => {
                        let args = <$module::$args as clap::FromArgMatches>::from_arg_matches(own)?;
                        Ok(Some(Command::$variant(args)))
                    })*
                    _ => Ok(None),
                }
            }
        }

        pub(crate) fn run(
            ui: &mut Ui,
            session: &Session,
            command: &Command,
        ) -> Result {
            let outcome = match command {
                $(Command::$variant(args) => $module::run(ui, session, args),)*
            };
            if outcome.as_ref().err().is_none_or(CommandError::is_reported) {
                ui.flush()?;
            }
            outcome
        }
    };
}

commands! {
    "status" => Status(status::StatusArgs),
    "show" => Show(show::ShowArgs),
    "why" => Why(why::WhyArgs),
    "context" => Context(context::ContextArgs),
    "tokens" => Tokens(tokens::TokensArgs),
    "diff" => Diff(diff::DiffArgs),
    "init" => Init(init::InitArgs),
    "setup" => Setup(setup::SetupArgs),
    "import" => Import(import::ImportArgs),
    "hook" => Hook(hook::HookArgs),
    "lint" => Lint(lint::LintArgs),
    "log" => Log(log::LogArgs),
    "check" => Check(check::CheckArgs),
    "replay" => Replay(replay::ReplayArgs),
    "add" => Add(add::AddArgs),
    "update" => Update(update::UpdateArgs),
    "sync" or "install" => Sync(sync::SyncArgs),
    "remove" => Remove(remove::RemoveArgs),
    "eject" => Eject(eject::EjectArgs),
    "list" => List(list::ListArgs),
    "view" => View(view::ViewArgs),
    "audit" => Audit(audit::AuditArgs),
    "trust" => Trust(trust::TrustArgs),
    "allow" => Allow(allow::AllowArgs),
    "registry" => Registry(registry::RegistryArgs),
    "search" => Search(search::SearchArgs),
    "fleet" => Fleet(fleet::FleetArgs),
    "task" => Task(task::TaskArgs),
    "agent" => Agent(agent::AgentArgs),
    "mcp" => Mcp(mcp::McpArgs),
    "lsp" => Lsp(lsp::LspArgs),
    "schema" => Schema(schema::SchemaArgs),
    "completions" => Completions(completions::CompletionsArgs),
    "man" => Man(man::ManArgs),
    "version" => Version(version::VersionArgs),
    "stale" => Stale(stale::StaleArgs),
    "coverage" => Coverage(coverage::CoverageArgs),
    "doctor" => Doctor(doctor::DoctorArgs),
}

impl Command {
    /// Returns whether it prints an answer and ends: its output may be held for a pager.
    pub(crate) fn is_an_answer(&self) -> bool {
        matches!(
            self,
            Command::Status(_)
                | Command::Show(_)
                | Command::Why(_)
                | Command::Context(_)
                | Command::Tokens(_)
                | Command::Diff(_)
                | Command::Lint(_)
                | Command::Log(_)
                | Command::Replay(_)
                | Command::List(_)
                | Command::Audit(_)
                | Command::Search(_)
                | Command::Stale(_)
                | Command::Coverage(_)
                | Command::Doctor(_)
        )
    }
}
