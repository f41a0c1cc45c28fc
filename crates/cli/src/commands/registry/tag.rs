//! `brief registry tag`

use brief_registry::oci::promote_artifact;
use clap::Args;
use serde_json::json;

use super::publish::parse_artifact;
use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::ui::Ui;

/// Point a tag, such as `stable`, at a published artifact
///
/// Projects with `ref = "stable"` in brief.toml move to it with their next `brief update`. Name the artifact by its digest,
/// because tags can move.
#[derive(Debug, Args)]
pub(crate) struct TagArgs {
    /// `oci://HOST/PATH@DIGEST` or `oci-layout:DIRECTORY@DIGEST`
    #[arg(value_name = "ARTIFACT")]
    artifact: String,

    /// Tag to set
    #[arg(value_name = "TAG")]
    tag: String,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &TagArgs) -> Result {
    let source = parse_artifact(session, &args.artifact)?;
    let Some(digest) = source.digest() else {
        let message = format!("missing digest in `{source}`");
        return Err(CommandError::usage(message).with_hint(
            "write `oci://HOST/PATH@sha256:…`; `brief update --check` shows the digest",
        ));
    };
    let done = promote_artifact(session.system(), &source, digest, &args.tag)
        .map_err(|error| CommandError::refused(error.to_string()))?;
    let target = source.repository();
    if args.json {
        let body = json!({
            "target": target,
            "tag": args.tag,
            "digest": done.digest,
            "before": done.before,
            "changed": !done.is_unchanged,
        });
        let root = session.directory();
        ui.print_json("registry tag", root, &[], body)?;
    } else if done.is_unchanged {
        ui.print_line(format!("{target}: `{}` already points to {}", args.tag, done.digest))?;
    } else {
        let before =
            done.before.as_deref().map_or(String::new(), |before| format!(", was {before}"));
        ui.print_line(format!("{target}: `{}` now points to {}{before}", args.tag, done.digest))?;
    }
    Ok(())
}
