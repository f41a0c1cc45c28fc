//! `brief registry`

mod build;
mod fmt;
mod new;
mod publish;
mod tag;

pub use new::write_new;

use clap::{Args, Subcommand};

use crate::error::Result;
use crate::session::Session;
use crate::ui::Ui;

/// Write, build and publish the items of a registry
#[derive(Debug, Args)]
pub(crate) struct RegistryArgs {
    #[command(subcommand)]
    command: RegistryCommand,
}

#[derive(Debug, Subcommand)]
enum RegistryCommand {
    New(new::NewArgs),
    Build(build::BuildArgs),
    Fmt(fmt::FmtArgs),
    Publish(publish::PublishArgs),
    Tag(tag::TagArgs),
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &RegistryArgs) -> Result {
    match &args.command {
        RegistryCommand::New(args) => new::run(ui, session, args),
        RegistryCommand::Build(args) => build::run(ui, session, args),
        RegistryCommand::Fmt(args) => fmt::run(ui, session, args),
        RegistryCommand::Publish(args) => publish::run(ui, session, args),
        RegistryCommand::Tag(args) => tag::run(ui, session, args),
    }
}
