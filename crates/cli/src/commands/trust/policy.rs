//! `brief trust --policy`

use std::path::Path;

use brief_safety::policy::{Policy, PolicyDecision};
use brief_syntax::text::{counted, visible_line};
use serde_json::json;

use crate::error::Result;
use crate::session::Session;
use crate::ui::Ui;

/// Prints the rules of the policies in force, each with its file and line.
pub(super) fn print(ui: &mut Ui, session: &Session, is_json: bool) -> Result {
    let policy: Policy = session.policy()?;
    let rules = policy.rules();
    if is_json {
        let rule = |one: &PolicyDecision| json!({ "path": one.path.to_string_lossy(), "line": one.line, "rule": one.rule });
        let files: Vec<_> = policy.files().map(Path::to_string_lossy).collect();
        let body = json!({ "files": files, "rules": rules.iter().map(rule).collect::<Vec<_>>() });
        return ui.print_json("trust policy", session.root()?.path(), &[], body);
    }
    for rule in &rules {
        ui.print_line(visible_line(&format!("{}  {}", rule.place(), rule.rule)))?;
    }
    match (policy.files().len(), rules.len()) {
        (0, _) => ui.status("no policy is in force"),
        (files, 0) => ui.status(&format!("no rules in {}", counted(files, "policy file"))),
        (_, rules) => ui.status(&counted(rules, "rule")),
    }
}
