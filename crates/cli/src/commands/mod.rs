//! The commands, one file each.

mod add;
#[cfg_attr(not(feature = "agent"), path = "agent_absent.rs")]
mod agent;
mod audit;
mod build;
mod clean;
pub(crate) mod completions;
pub(crate) mod context;
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
pub(crate) mod why;

use std::process::ExitCode;

use clap::Subcommand;

use crate::error::CommandError;
use crate::session::Session;
use crate::ui::Ui;

pub(crate) use init::{StarterError, write_starter};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Context(context::ContextArgs),
    Decisions(decisions::DecisionsArgs),
    Why(why::WhyArgs),
    Sees(sees::SeesArgs),
    Tokens(tokens::TokensArgs),
    Tree(tree::TreeArgs),
    Coverage(coverage::CoverageArgs),
    Diff(diff::DiffArgs),
    View(view::ViewArgs),
    Receipts(receipts::ReceiptsArgs),
    Task(Box<task::TaskArgs>),
    Agent(agent::AgentArgs),
    Lsp(lsp::LspArgs),
    Mcp(mcp::McpArgs),
    McpServers(mcp_servers::McpServersArgs),
    Add(Box<add::AddArgs>),
    Remove(remove::RemoveArgs),
    Update(update::UpdateArgs),
    Outdated(outdated::OutdatedArgs),
    Publish(publish::PublishArgs),
    Promote(promote::PromoteArgs),
    Fleet(fleet::FleetArgs),
    List(list::ListArgs),
    Search(search::SearchArgs),
    #[command(visible_alias = "install")]
    Sync(sync::SyncArgs),
    Clean(clean::CleanArgs),
    Build(build::BuildArgs),
    Audit(audit::AuditArgs),
    Deps(deps::DepsArgs),
    Lint(lint::LintArgs),
    Fmt(fmt::FmtArgs),
    Stale(stale::StaleArgs),
    Init(init::InitArgs),
    New(new::NewArgs),
    Import(import::ImportArgs),
    Convert(convert::ConvertArgs),
    Hook(hook::HookArgs),
    Trust(trust::TrustArgs),
    Doctor(doctor::DoctorArgs),
    Schema(schema::SchemaArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
    #[command(name = "self")]
    Own(own::SelfArgs),
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

pub(crate) fn run(
    ui: &mut Ui,
    session: &Session,
    command: &Command,
) -> Result<ExitCode, CommandError> {
    let code = match command {
        Command::Context(args) => context::run(ui, session, args),
        Command::Decisions(args) => decisions::run(ui, session, args),
        Command::Why(args) => why::run(ui, session, args),
        Command::Sees(args) => sees::run(ui, session, args),
        Command::Tokens(args) => tokens::run(ui, session, args),
        Command::Tree(args) => tree::run(ui, session, args),
        Command::Coverage(args) => coverage::run(ui, session, args),
        Command::Diff(args) => diff::run(ui, session, args),
        Command::View(args) => view::run(ui, session, args),
        Command::Receipts(args) => receipts::run(ui, session, args),
        Command::Task(args) => task::run(ui, session, args),
        Command::Agent(args) => agent::run(ui, session, args),
        Command::Lsp(args) => lsp::run(ui, session, args),
        Command::Mcp(args) => mcp::run(ui, session, args),
        Command::McpServers(args) => mcp_servers::run(ui, session, args),
        Command::Add(args) => add::run(ui, session, args),
        Command::Remove(args) => remove::run(ui, session, args),
        Command::Update(args) => update::run(ui, session, args),
        Command::Outdated(args) => outdated::run(ui, session, args),
        Command::Publish(args) => publish::run(ui, session, args),
        Command::Promote(args) => promote::run(ui, session, args),
        Command::Fleet(args) => fleet::run(ui, session, args),
        Command::List(args) => list::run(ui, session, args),
        Command::Search(args) => search::run(ui, session, args),
        Command::Sync(args) => sync::run(ui, session, args),
        Command::Clean(args) => clean::run(ui, session, args),
        Command::Build(args) => build::run(ui, session, args),
        Command::Audit(args) => audit::run(ui, session, args),
        Command::Deps(args) => deps::run(ui, session, args),
        Command::Lint(args) => lint::run(ui, session, args),
        Command::Fmt(args) => fmt::run(ui, session, args),
        Command::Stale(args) => stale::run(ui, session, args),
        Command::Init(args) => init::run(ui, session, args),
        Command::New(args) => new::run(ui, session, args),
        Command::Import(args) => import::run(ui, session, args),
        Command::Convert(args) => convert::run(ui, session, args),
        Command::Hook(args) => hook::run(ui, session, args),
        Command::Trust(args) => trust::run(ui, session, args),
        Command::Doctor(args) => doctor::run(ui, session, args),
        Command::Schema(args) => schema::run(ui, args),
        Command::Completions(args) => completions::run(ui, args),
        Command::Man(args) => man::run(ui, session, args),
        Command::Own(args) => own::run(ui, session, args),
    }?;
    ui.flush()?;
    Ok(code)
}
