//! The commands, one file each.

mod add;
#[cfg_attr(not(feature = "agent"), path = "agent_absent.rs")]
mod agent;
mod audit;
mod build;
mod clean;
pub(crate) mod completions;
mod context;
mod convert;
mod coverage;
mod decisions;
mod deps;
mod diff;
mod doctor;
mod fleet;
mod fmt;
pub(crate) mod hook;
mod import;
mod init;
mod lint;
mod list;
mod lsp;
mod man;
#[cfg_attr(not(feature = "agent"), path = "mcp_absent.rs")]
mod mcp;
mod mcp_servers;
mod new;
mod outdated;
mod own;
mod promote;
mod publish;
mod question;
mod receipts;
mod remove;
mod schema;
mod search;
mod sees;
mod stale;
mod sync;
mod task;
mod tokens;
mod tree;
mod trust;
mod update;
#[cfg_attr(not(feature = "agent"), path = "view_absent.rs")]
mod view;
mod whole;
mod why;

use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::ui::Ui;

pub(crate) use init::{StarterError, write_starter};

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
    "context" => Context(context::ContextArgs),
    "decisions" => Decisions(decisions::DecisionsArgs),
    "why" => Why(why::WhyArgs),
    "sees" => Sees(sees::SeesArgs),
    "tokens" => Tokens(tokens::TokensArgs),
    "tree" => Tree(tree::TreeArgs),
    "coverage" => Coverage(coverage::CoverageArgs),
    "diff" => Diff(diff::DiffArgs),
    "view" => View(view::ViewArgs),
    "receipts" => Receipts(receipts::ReceiptsArgs),
    "task" => Task(task::TaskArgs),
    "agent" => Agent(agent::AgentArgs),
    "lsp" => Lsp(lsp::LspArgs),
    "mcp" => Mcp(mcp::McpArgs),
    "mcp-servers" => McpServers(mcp_servers::McpServersArgs),
    "add" => Add(add::AddArgs),
    "remove" => Remove(remove::RemoveArgs),
    "update" => Update(update::UpdateArgs),
    "outdated" => Outdated(outdated::OutdatedArgs),
    "publish" => Publish(publish::PublishArgs),
    "promote" => Promote(promote::PromoteArgs),
    "fleet" => Fleet(fleet::FleetArgs),
    "list" => List(list::ListArgs),
    "search" => Search(search::SearchArgs),
    "sync" or "install" => Sync(sync::SyncArgs),
    "clean" => Clean(clean::CleanArgs),
    "build" => Build(build::BuildArgs),
    "audit" => Audit(audit::AuditArgs),
    "deps" => Deps(deps::DepsArgs),
    "lint" => Lint(lint::LintArgs),
    "fmt" => Fmt(fmt::FmtArgs),
    "stale" => Stale(stale::StaleArgs),
    "init" => Init(init::InitArgs),
    "new" => New(new::NewArgs),
    "import" => Import(import::ImportArgs),
    "convert" => Convert(convert::ConvertArgs),
    "hook" => Hook(hook::HookArgs),
    "trust" => Trust(trust::TrustArgs),
    "doctor" => Doctor(doctor::DoctorArgs),
    "schema" => Schema(schema::SchemaArgs),
    "completions" => Completions(completions::CompletionsArgs),
    "man" => Man(man::ManArgs),
    "self" => Own(own::SelfArgs),
}

impl Command {
    /// Returns whether it prints an answer and ends: its output may be held for a pager.
    pub(crate) fn is_an_answer(&self) -> bool {
        matches!(
            self,
            Command::Context(_)
                | Command::Decisions(_)
                | Command::Why(_)
                | Command::Sees(_)
                | Command::Tokens(_)
                | Command::Tree(_)
                | Command::Coverage(_)
                | Command::Diff(_)
                | Command::Receipts(_)
                | Command::List(_)
                | Command::Search(_)
                | Command::Audit(_)
                | Command::Deps(_)
                | Command::Lint(_)
                | Command::Stale(_)
                | Command::Doctor(_)
        )
    }
}
