//! Whom to trust: files of the machine, of the user, and of the project.
//!
//! `trusted_root.json` has Sigstore's form and names authorities and logs; `trusted_keys.pem` has public keys. A project
//! may bring both beside its `brief.toml`, which its reviewers see. What a policy of the machine demands is not satisfied
//! by a root of the project: otherwise the project would decide about itself.

use std::path::{Path, PathBuf};

use brief_syntax::limits;
use brief_system::{System, config_directory};

use super::bundle::{Authority, Period, TrustedLog, TrustedRoot};
use super::certificate::Certificate;
use super::key::{PublicKey, pem_blocks};
use crate::outputs::if_there;

/// The name of the file with authorities and logs.
const ROOT: &str = "trusted_root.json";

/// The name of the file with public keys.
const KEYS: &str = "trusted_keys.pem";

/// The media type of a trust root begins with this.
const MEDIA_TYPE: &str = "application/vnd.dev.sigstore.trustedroot";

/// A trust root or a file of keys that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot use the trust root `{}`: {problem}", path.display())]
pub struct TrustRootError {
    pub path: PathBuf,
    pub problem: String,
}

/// A log with its key.
#[derive(Debug, Clone)]
pub(super) struct Log {
    pub(super) id: Vec<u8>,
    pub(super) key: PublicKey,
    pub(super) period: Period,
}

/// A trust root, with everything parsed.
#[derive(Debug, Clone, Default)]
pub(super) struct Root {
    pub(super) logs: Vec<Log>,
    pub(super) certificate_logs: Vec<Log>,
    /// Chains of certificates, the trusted one last.
    pub(super) authorities: Vec<(Vec<Certificate>, Period)>,
    pub(super) times: Vec<(Vec<Certificate>, Period)>,
    /// True if the root names logs, known or not: a signature has to be in one then.
    pub(super) has_logs: bool,
    /// True if the root names logs of certificates, known or not: a certificate has to be in one then.
    pub(super) has_certificate_logs: bool,
}

impl Root {
    /// Parses a file: one root, or several one after the other, as forges print them.
    pub(super) fn parse(bytes: &[u8]) -> Result<Vec<Root>, String> {
        let roots = serde_json::Deserializer::from_slice(bytes).into_iter::<TrustedRoot>();
        let roots =
            roots.map(|root| Root::from_trusted_root(root.map_err(|error| error.to_string())?));
        let roots: Vec<Root> = roots.collect::<Result<_, _>>()?;
        if roots.is_empty() { Err("is empty".to_owned()) } else { Ok(roots) }
    }

    fn from_trusted_root(root: TrustedRoot) -> Result<Root, String> {
        if !root.media_type.starts_with(MEDIA_TYPE) {
            return Err("is not a Sigstore trust root".to_owned());
        }
        // A log or an authority with algorithms that are not known vouches for nothing.
        let log = |log: TrustedLog| {
            let key = PublicKey::parse_der(&log.public_key.raw_bytes.0)?;
            Some(Log { id: log.log_id.key_id.0, key, period: log.public_key.valid_for })
        };
        let authority = |authority: Authority| {
            let chain = authority.cert_chain.certificates.iter();
            let chain: Option<Vec<Certificate>> =
                chain.map(|one| Certificate::parse_der(&one.raw_bytes.0)).collect();
            Some((chain?, authority.valid_for))
        };
        Ok(Root {
            has_logs: !root.tlogs.is_empty(),
            has_certificate_logs: !root.ctlogs.is_empty(),
            logs: root.tlogs.into_iter().filter_map(log).collect(),
            certificate_logs: root.ctlogs.into_iter().filter_map(log).collect(),
            authorities: root.certificate_authorities.into_iter().filter_map(authority).collect(),
            times: root.timestamp_authorities.into_iter().filter_map(authority).collect(),
        })
    }
}

/// Everything that signatures are verified against.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trust {
    /// The roots, each with whether the machine or its user has it.
    pub(super) roots: Vec<(Root, bool)>,
    pub(super) keys: Vec<PublicKey>,
}

impl Trust {
    /// Reads the files of the machine, of the user and of the project.
    pub(crate) fn load(system: &dyn System, project: &Path) -> Result<Trust, TrustRootError> {
        let mut trust = Trust::default();
        let own = [system.machine_directory(), config_directory(system)];
        let own = own.into_iter().flatten().map(|directory| (directory, true));
        for (directory, is_of_machine) in own.chain([(project.to_owned(), false)]) {
            let path = directory.join(ROOT);
            if let Some(bytes) = read_optional_file(system, &path)? {
                let roots = Root::parse(&bytes);
                let roots = roots.map_err(|problem| TrustRootError { path, problem })?;
                trust.roots.extend(roots.into_iter().map(|root| (root, is_of_machine)));
            }
            let path = directory.join(KEYS);
            if let Some(bytes) = read_optional_file(system, &path)? {
                let problem = "is not a list of public keys (Ed25519, ECDSA P-256 or P-384) in PEM";
                let keys = std::str::from_utf8(&bytes).ok();
                let keys = keys.and_then(|text| pem_blocks(text, "PUBLIC KEY"));
                let keys = keys.filter(|keys| !keys.is_empty()).and_then(|keys| {
                    keys.iter().map(|der| PublicKey::parse_der(der)).collect::<Option<Vec<_>>>()
                });
                let problem = problem.to_owned();
                trust.keys.extend(keys.ok_or(TrustRootError { path, problem })?);
            }
        }
        Ok(trust)
    }
}

fn read_optional_file(system: &dyn System, path: &Path) -> Result<Option<Vec<u8>>, TrustRootError> {
    if_there(system.read(path, limits::FILE_BYTES))
        .map_err(|error| TrustRootError { path: path.to_owned(), problem: error.to_string() })
}
