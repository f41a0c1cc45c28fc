//! The commands, one file each.

mod build;
pub(crate) mod completions;
mod context;
mod decisions;
mod fmt;
pub(crate) mod hook;
mod init;
mod lint;
mod mcp_servers;
mod new;
mod question;
mod schema;
mod task;
mod trust;
mod why;

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
    Task(Box<task::TaskArgs>),
    McpServers(mcp_servers::McpServersArgs),
    Build(build::BuildArgs),
    Lint(lint::LintArgs),
    Fmt(fmt::FmtArgs),
    Init(init::InitArgs),
    New(new::NewArgs),
    Hook(hook::HookArgs),
    Trust(trust::TrustArgs),
    Schema(schema::SchemaArgs),
    Completions(completions::CompletionsArgs),
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
        Command::Task(args) => task::run(ui, session, args),
        Command::McpServers(args) => mcp_servers::run(ui, session, args),
        Command::Build(args) => build::run(ui, session, args),
        Command::Lint(args) => lint::run(ui, session, args),
        Command::Fmt(args) => fmt::run(ui, session, args),
        Command::Init(args) => init::run(ui, session, args),
        Command::New(args) => new::run(ui, session, args),
        Command::Hook(args) => hook::run(ui, session, args),
        Command::Trust(args) => trust::run(ui, session, args),
        Command::Schema(args) => schema::run(ui, args),
        Command::Completions(args) => completions::run(ui, args),
    }?;
    ui.flush()?;
    Ok(code)
}
