//! The setup of a project as problems of files, for `brief lint`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_syntax::diagnostic::OtherPlace;
use brief_syntax::{Diagnostic, Rule, Severity, Source, Span, limits, rules};
use brief_system::resolved_home;

use super::doctor::{Extent, Finding, examine_installation};
use crate::error::Result;
use crate::installation::{Installation, InstallationArg};
use crate::session::Session;
use crate::ui::Ui;

/// Returns the problems of the project's installation, or of the user's own. An error says why they cannot be told.
pub(super) fn check_setup(
    session: &Session,
    place: &InstallationArg,
    extent: Extent,
) -> Result<Vec<Diagnostic>> {
    // The problems of `brief.toml` are reported with those of the other files.
    let installation = Installation::find(&mut Ui::silent(), session, place)?;
    let found = examine_installation(session, &installation, extent)?;
    let base = &installation.project.outputs;
    Ok(found.iter().map(|finding| to_diagnostic(session, base, finding)).collect())
}

fn to_diagnostic(session: &Session, base: &Path, finding: &Finding) -> Diagnostic {
    let path = finding
        .path
        .as_deref()
        .map_or_else(|| base.to_owned(), |path| resolve_setup_path(session, base, path));
    let source = match session.system().read(&path, limits::FILE_BYTES) {
        Ok(bytes) => Source::from_bytes(path, bytes),
        Err(_) => Source::without_text(path),
    };
    let rule = rule_of(finding.check);
    let message = finding.message.as_str();
    let severity = if finding.severity == "note" { Severity::Note } else { Severity::Warning };
    let mut found = Diagnostic::new(rule, &Arc::new(source), Span::empty_at(0), message);
    found = found.with_severity(severity);
    if !finding.help.is_empty() {
        found = found.with_help(finding.help.as_str());
    }
    let other = |path: &String| OtherPlace {
        source: Arc::new(Source::without_text(resolve_setup_path(session, base, path))),
        span: Span::empty_at(0),
        message: message.to_owned(),
    };
    found.also = finding.also.iter().map(other).collect();
    found
}

fn resolve_setup_path(session: &Session, base: &Path, path: &str) -> PathBuf {
    let home =
        path.strip_prefix("~/").and_then(|below| Some((resolved_home(session.system())?, below)));
    home.map_or_else(|| base.join(path), |(home, below)| home.join(below))
}

fn rule_of(check: &str) -> Rule {
    match check {
        "interrupted" => rules::setup::INTERRUPTED,
        "stale-lock" => rules::setup::STALE_LOCK,
        "policy" => rules::setup::POLICY,
        "unreadable-source" => rules::setup::UNREADABLE_SOURCE,
        "invalid-item" => rules::setup::INVALID_ITEM,
        "same-text" => rules::setup::SAME_TEXT,
        "double" => rules::setup::DUPLICATE_ITEM,
        "unread" => rules::setup::UNREAD_FILE,
        "server-left-out" => rules::setup::SERVER_LEFT_OUT,
        "rule-left-out" => rules::setup::RULE_LEFT_OUT,
        "hook" => rules::setup::HOOK,
        "fence" => rules::setup::NO_ISOLATION,
        _ => rules::setup::DRIFT,
    }
}
