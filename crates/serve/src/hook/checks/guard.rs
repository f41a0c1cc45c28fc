//! The built-in rule for the hook's own file, in clients that read it again while they run: an agent that empties the file
//! would switch all rules off.

use std::path::{Path, PathBuf};

use brief_checks::rules::RuleSet;
use brief_clients::hook::AnswerEffect;
use brief_clients::hook::proposal::{Proposal, ProposalKind, ProposedChange};
use brief_dialects::rule_check::Enforcement;
use brief_engine::receipts::{CheckOutcome, ReceiptCheck};
use brief_system::paths::clean_path;
use brief_system::resolved_home;

use super::{CheckAnswer, CheckedEvent, consent};

/// The id of the rule.
const ID: &str = "brief/hook-file";

/// The words of a hook in its file.
const HOOK_WORDS: &str = "brief hook";

/// Refuses a call that would remove the hook from its file, where the client would notice and a rule is enforced.
pub(super) fn refuse_hook_change(
    event: &CheckedEvent<'_>,
    rules: &RuleSet,
    proposal: &Proposal,
) -> Option<CheckAnswer> {
    let hook = event.call.hook;
    if !hook.can_refuse() || !hook.enforcement.as_ref().is_some_and(|facts| facts.reloads) {
        return None;
    }
    let files = list_hook_files(event);
    let directory = &event.opened.directory;
    let removes = |path: &Path| {
        let path = clean_path(&directory.join(path));
        let at_path = files.iter().filter(|file| file.starts_with(&path));
        at_path.into_iter().any(|file| read_file(event, file).contains(HOOK_WORDS))
    };
    let changed = proposal.changes.iter().filter(|change| removes_hook(change));
    let changed = changed.map(|change| &change.path).chain(&proposal.written);
    let found = changed.into_iter().find(|path| removes(path))?;
    let is_enforced = rules.rules().iter().any(|rule| {
        rule.check.enforce >= Enforcement::Ask
            && consent::enforcement_of(event, rule) >= Enforcement::Ask
    });
    if !is_enforced {
        return None;
    }
    let shown = found.display();
    let text = format!(
        "Blocked by a rule:\n- This file runs the hook that checks the project's rules, and this call would remove it: {shown}\n\
         If the user wants that, they can run `brief hook uninstall {}` in a terminal.",
        event.call.client.id
    );
    Some(CheckAnswer {
        said: Some((AnswerEffect::Refuse, text)),
        notice: Some(format!("brief blocked a call that would remove its hook from {shown}")),
        receipts: vec![ReceiptCheck {
            rule: ID.to_owned(),
            outcome: CheckOutcome::Refused,
            finding: shown.to_string(),
        }],
    })
}

/// Returns the files that may have the hook or the client's own switch, absolute.
fn list_hook_files(event: &CheckedEvent<'_>) -> Vec<PathBuf> {
    let Some(install) = &event.call.hook.install else { return Vec::new() };
    let root = event.opened.project.root().path();
    let home = resolved_home(event.system);
    let switch = install.switch.as_ref();
    let in_project = std::iter::once(&install.file)
        .chain(&install.unless)
        .chain(switch.into_iter().flat_map(|switch| &switch.files));
    let at_home = install.home.iter().chain(switch.into_iter().flat_map(|switch| &switch.home));
    let mut files: Vec<PathBuf> = in_project.map(|file| root.join(&**file)).collect();
    files.extend(home.iter().flat_map(|home| at_home.clone().map(|file| home.join(&**file))));
    files.dedup();
    files
}

fn read_file(event: &CheckedEvent<'_>, file: &Path) -> String {
    let bytes = event.system.read(file, brief_syntax::limits::FILE_BYTES).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns whether a change takes the hook out of its file, or out of the directory that has it.
fn removes_hook(change: &ProposedChange) -> bool {
    match (change.kind, change.edits.as_slice()) {
        (ProposalKind::Delete, _) | (_, []) => true,
        (ProposalKind::Edit, edits) => {
            edits.iter().any(|edit| edit.old.contains(HOOK_WORDS) && !edit.new.contains(HOOK_WORDS))
        }
        (_, edits) => !edits.iter().any(|edit| edit.new.contains(HOOK_WORDS)),
    }
}
