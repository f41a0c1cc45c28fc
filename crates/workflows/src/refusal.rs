//! Reasons why a workflow does not do what a user wants, with advice.

use brief_profiles::UnknownClient;
use brief_registry::FetchError;
use brief_registry::install::InstallError;
use brief_registry::manifest::EditError;
use brief_safety::policy::PolicyError;
use brief_system::paths::clean_path;

/// The kind of a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalKind {
    /// The request cannot be fulfilled.
    Refused,
    /// The call or the configuration is wrong.
    Usage,
    /// A concurrent run was faster, so that the request has to be checked again.
    Outrun,
}

/// A reason why nothing was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestRefusal {
    pub kind: RefusalKind,
    pub message: String,
    pub hint: Option<String>,
}

impl RequestRefusal {
    fn new(kind: RefusalKind, message: impl Into<String>) -> RequestRefusal {
        RequestRefusal { kind, message: message.into(), hint: None }
    }

    pub fn refuse_request(message: impl Into<String>) -> RequestRefusal {
        RequestRefusal::new(RefusalKind::Refused, message)
    }

    /// Refuses a wrong call or configuration.
    pub fn refuse_usage(message: impl Into<String>) -> RequestRefusal {
        RequestRefusal::new(RefusalKind::Usage, message)
    }

    fn refuse_outrun(message: impl Into<String>) -> RequestRefusal {
        RequestRefusal::new(RefusalKind::Outrun, message)
    }

    #[must_use]
    pub fn with_hint(self, hint: impl Into<String>) -> RequestRefusal {
        RequestRefusal { hint: Some(hint.into()), ..self }
    }
}

/// A policy that cannot be followed stops everything that asks it.
impl From<PolicyError> for RequestRefusal {
    fn from(error: PolicyError) -> Self {
        let message = error.to_string();
        let help = match error {
            PolicyError::Invalid { help, .. } => help,
            _ => None,
        };
        let help = help.unwrap_or_else(|| {
            "fix the policy; until then brief refuses everything that it governs".to_owned()
        });
        RequestRefusal::refuse_usage(message).with_hint(help)
    }
}

impl From<UnknownClient> for RequestRefusal {
    fn from(error: UnknownClient) -> Self {
        RequestRefusal::refuse_usage(error.to_string()).with_hint(error.hint())
    }
}

impl From<InstallError> for RequestRefusal {
    fn from(error: InstallError) -> Self {
        let message = error.to_string();
        match &error {
            InstallError::NoManifest { .. } => RequestRefusal::refuse_request(message)
                .with_hint("run `brief add SOURCE` to create one"),
            InstallError::Policy(error) => RequestRefusal::from(error.clone()),
            InstallError::Forbidden { .. } => RequestRefusal::refuse_request(message)
                .with_hint("run `brief trust --policy` to show the policy, or ask its maintainer"),
            InstallError::Required { item, .. } => RequestRefusal::refuse_request(message).with_hint(format!(
                "run `brief add SOURCE {} --kind {}` to add it", item.name, item.kind
            )),
            InstallError::NoLock | InstallError::OldLock => RequestRefusal::refuse_request(message)
                .with_hint("run `brief sync` without `--frozen`, and commit `brief.lock`"),
            InstallError::Frozen { differences } => {
                let message = format!("{message}: {}", differences.join("; "));
                RequestRefusal::refuse_request(message)
                    .with_hint("run `brief sync` without `--frozen`, and commit the new `brief.lock`")
            }
            InstallError::Lock { error, .. } if error.problem.contains("merge") => {
                RequestRefusal::refuse_usage(message).with_hint(
                    "keep either side, then run `brief sync` to update the lock",
                )
            }
            InstallError::TooManyCapabilities { item, .. } => {
                RequestRefusal::refuse_request(format!("{message}; nothing was changed")).with_hint(format!(
                    "omit it with `exclude = [\"{}\"]`, or ask its author to split it",
                    item.full_name()
                ))
            }
            // To remove the lock of a newer version would undo what that version has decided.
            InstallError::Lock { error, .. } if error.problem.contains("upgrade `brief`") => {
                RequestRefusal::refuse_usage(message)
            }
            InstallError::Lock { .. } => RequestRefusal::refuse_usage(message).with_hint(
                "restore it from version control, or remove it and run `brief sync`: brief keeps its own record",
            ),
            InstallError::Tampered { source_name, .. } => RequestRefusal::refuse_request(message).with_hint(
                format!("`brief.lock` or the cache has changed; run `brief update {source_name}` to accept the new content"),
            ),
            InstallError::Edit { error: EditError::Outrun, .. } => RequestRefusal::refuse_outrun(message),
            InstallError::Edit { .. } => RequestRefusal::refuse_usage(message),
            InstallError::Source { .. } => {
                RequestRefusal::refuse_usage(message).with_hint("fix its address in `brief.toml`")
            }
            InstallError::Fetch { error, .. } => {
                let refused = RequestRefusal::refuse_request(message);
                match error.as_ref() {
                    FetchError::NotCached { .. } => refused.with_hint("run the command once without `--offline`"),
                    _ => refused,
                }
            }
            InstallError::Directory { .. } => RequestRefusal::refuse_request(message)
                .with_hint("fix `directory` in `brief.toml`, or remove the source with `brief remove`"),
            InstallError::Signer { name, signers, .. } => {
                RequestRefusal::refuse_request(message).with_hint(match signers.first() {
                    Some(signer) => format!("ask its publisher, then use `--accept-signer '{signer}'` to accept this signer"),
                    None => format!("ask its publisher, or run `brief remove {name}`: a missing signature cannot be accepted"),
                })
            }
            InstallError::Older { name, .. } => RequestRefusal::refuse_request(message).with_hint(format!(
                "the registry may replay an old answer; run `brief update {name}@sha256:…` to downgrade on purpose"
            )),
            InstallError::ForeignJournal { .. } => {
                RequestRefusal::refuse_request(message).with_hint("remove it, then run `brief sync`")
            }
            _ => RequestRefusal::refuse_request(message),
        }
    }
}

/// Returns the refusal of a typed source, which may not be one of the project.
pub fn refusal_of_typed(error: InstallError) -> RequestRefusal {
    match error {
        InstallError::Fetch { error, .. } => RequestRefusal::refuse_request(error.to_string()),
        InstallError::Directory { path, error, .. } => {
            let (path, problem) = (clean_path(&path), brief_system::render_io_error(&error));
            let path = path.display();
            RequestRefusal::refuse_request(format!("cannot open the directory `{path}`: {problem}"))
                .with_hint("write `owner/name` for a GitHub repository, or a git URL for any other")
        }
        other => other.into(),
    }
}
