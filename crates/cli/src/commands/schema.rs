//! `brief schema`

use brief_workflows::schemas::FileSchema;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::error::Result;
use crate::session::Session;
use crate::ui::Ui;

/// Print a JSON Schema for editors
///
/// The schema of an item describes its frontmatter.
#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// Kind of file
    #[arg(value_name = "KIND", value_parser = schema_parser())]
    kind: FileSchema,
}

fn schema_parser() -> impl TypedValueParser<Value = FileSchema> {
    let values = FileSchema::ALL.map(|schema| PossibleValue::new(schema.name).help(schema.file));
    PossibleValuesParser::new(values)
        .try_map(|name| FileSchema::from_name(&name).ok_or("unknown schema"))
}

pub(crate) fn run(ui: &mut Ui, _: &Session, args: &SchemaArgs) -> Result {
    ui.print_raw(args.kind.text)
}
