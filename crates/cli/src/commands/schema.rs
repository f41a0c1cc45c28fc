//! `brief schema`

use std::process::ExitCode;

use brief_engine::hosted;
use clap::{Args, ValueEnum};

use crate::error::CommandError;
use crate::ui::Ui;

/// Print the JSON Schema of a configuration file, for editors
#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// The dialect that the file belongs to
    dialect: SchemaArg,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum SchemaArg {
    /// `.context/context-config.json`
    Hosted,
}

pub(crate) fn run(ui: &mut Ui, args: &SchemaArgs) -> Result<ExitCode, CommandError> {
    let SchemaArg::Hosted = args.dialect;
    ui.print_raw(hosted::CONFIG_SCHEMA)?;
    Ok(ExitCode::SUCCESS)
}
