//! `brief registry publish`

use std::path::{Path, PathBuf};

use brief_clients::profile::Profiles;
use brief_registry::SourceAddress;
use brief_registry::oci::{
    MOST_BUNDLE_BYTES, OciSource, PublishError, PublishReport, PublishRequest, SigningKey,
    publish_items,
};
use brief_syntax::limits;
use clap::Args;
use serde_json::json;

use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::ui::Ui;

/// Publish items to an OCI registry
///
/// One item or bundle becomes one artifact; several, or without ITEM the whole directory, become an index. The same files
/// have the same digest on every machine. A published tag cannot change: new content needs a new tag. Uses the accounts of
/// `docker login` and similar tools.
#[derive(Debug, Args)]
pub(crate) struct PublishArgs {
    /// `oci://HOST/PATH:TAG` or `oci-layout:DIRECTORY:TAG` [default tag: latest]
    #[arg(value_name = "TARGET")]
    target: String,

    /// NAME or KIND/NAME of an item or bundle [default: all]
    #[arg(value_name = "ITEM")]
    items: Vec<String>,

    /// Directory of the items [default: the current directory]
    #[arg(long, value_name = "DIRECTORY")]
    from: Option<PathBuf>,

    /// Version of the artifact [default: the version of its item]
    #[arg(long, value_name = "VERSION")]
    as_version: Option<String>,

    /// Sign with this private key (PKCS#8 PEM, Ed25519 or ECDSA P-256)
    #[arg(long, value_name = "FILE")]
    sign: Option<PathBuf>,

    /// Attach a Sigstore bundle made for the digest from `--dry-run`
    #[arg(long, value_name = "FILE", conflicts_with = "sign")]
    bundle: Option<PathBuf>,

    /// Show the digests without publishing
    #[arg(long)]
    dry_run: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &PublishArgs) -> Result {
    let target = parse_artifact(session, &args.target)?;
    let directory = match &args.from {
        Some(directory) => session.directory().join(directory),
        None => session.directory().to_owned(),
    };
    let key = args.sign.as_deref().map(|path| read_key(session, path)).transpose()?;
    let bundle = args.bundle.as_deref().map(|path| read_bundle(session, path)).transpose()?;
    let request = PublishRequest {
        directory: &directory,
        names: &args.items,
        target: &target,
        version: args.as_version.as_deref(),
        key: key.as_ref(),
        bundle: bundle.as_deref(),
        clients: &Profiles::builtin().ids(),
        push: !args.dry_run,
    };
    let report = match publish_items(&session.shared_system(), &request) {
        Ok(report) => report,
        Err(PublishError::Invalid(problems)) => {
            ui.print_diagnostics(&problems, session.directory())?;
            return Err(CommandError::refused(PublishError::Invalid(Vec::new()).to_string()));
        }
        Err(error @ PublishError::Digest(_)) => return Err(CommandError::usage(error.to_string())),
        Err(error @ PublishError::Taken { .. }) => {
            return Err(CommandError::refused(error.to_string()).with_hint(
                "publish it as another version, because others may have locked this one",
            ));
        }
        Err(error) => return Err(CommandError::refused(error.to_string())),
    };
    print_publication(ui, args, &target, &report, &directory)
}

fn print_publication(
    ui: &mut Ui,
    args: &PublishArgs,
    target: &OciSource,
    report: &PublishReport,
    root: &Path,
) -> Result {
    let place = format!("{}@{}", target.repository(), report.digest);
    if args.json {
        let body = json!({
            "target": place,
            "digest": report.digest,
            "tag": report.tag,
            "pushed": !args.dry_run,
            "revision": report.revision,
            "signer": report.signer,
            "signature": report.signature,
            "layers": report.layers,
            "bytes": report.bytes,
            "parts": report.parts,
            "notes": report.notes,
        });
        return ui.print_json("registry publish", root, &[], body);
    }
    for note in &report.notes {
        ui.print_warning(note)?;
    }
    for part in &report.parts {
        let version = part.version.as_deref().map_or(String::new(), |text| format!(" {text}"));
        ui.print_line(format!("  {}{version}", part.name))?;
    }
    let word = if args.dry_run { "would be" } else { "is" };
    ui.print_line(format!("{place} {word} `{}`", report.tag))?;
    if let Some(signer) = &report.signer {
        ui.print_line(format!("signed by {signer}"))?;
    }
    Ok(())
}

pub(super) fn parse_artifact(session: &Session, text: &str) -> Result<OciSource> {
    let hint = "write `oci://HOST/PATH:TAG` or `oci-layout:DIRECTORY:TAG`";
    match SourceAddress::parse_added(text, session.directory(), session.system()) {
        Ok(SourceAddress::Oci(source)) => Ok(source),
        Ok(other) => {
            let message = format!("`{other}` is not an artifact address");
            Err(CommandError::usage(message).with_hint(hint))
        }
        Err(error) => Err(CommandError::usage(error.to_string()).with_hint(hint)),
    }
}

fn read_key(session: &Session, path: &Path) -> Result<SigningKey> {
    let failed =
        |problem: String| CommandError::refused(format!("the key `{}`: {problem}", path.display()));
    let bytes = session.system().read(&session.directory().join(path), limits::FILE_BYTES);
    let bytes = bytes.map_err(|error| failed(error.to_string()))?;
    SigningKey::parse_pem(&bytes).map_err(|error| failed(error.to_string()))
}

fn read_bundle(session: &Session, path: &Path) -> Result<String> {
    let bytes = session.system().read(&session.directory().join(path), MOST_BUNDLE_BYTES);
    let text = bytes
        .map_err(|error| error.to_string())
        .and_then(|bytes| String::from_utf8(bytes).map_err(|_| "not valid UTF-8".to_owned()));
    text.map_err(|problem| {
        CommandError::refused(format!("the bundle `{}`: {problem}", path.display()))
    })
}
