//! `brief trust --policy`

use std::path::Path;

use brief_safety::policy::{Policy, PolicyDecision};
use brief_syntax::text::{format_count, visible_line};
use serde_json::json;

use crate::error::Result;
use crate::session::Session;
use crate::ui::Ui;

/// Prints the rules of the policies in force, each with its file and line.
pub(super) fn print_policy(ui: &mut Ui, session: &Session, is_json: bool) -> Result {
    let policy: Policy = session.load_policy()?;
    let rules = policy.list_rules();
    if is_json {
        let rule = |one: &PolicyDecision| json!({ "path": one.path.to_string_lossy(), "line": one.line, "rule": one.rule });
        let files: Vec<_> = policy.files().map(Path::to_string_lossy).collect();
        let body = json!({ "files": files, "rules": rules.iter().map(rule).collect::<Vec<_>>() });
        return ui.print_json("trust policy", session.open_root()?.path(), &[], body);
    }
    for rule in &rules {
        ui.print_line(visible_line(&format!("{}  {}", rule.render_location(), rule.rule)))?;
    }
    match (policy.files().len(), rules.len()) {
        (0, _) => ui.print_status("no policy in effect"),
        (files, 0) => {
            ui.print_status(&format!("no rules in {}", format_count(files, "policy file")))
        }
        (_, rules) => ui.print_status(&format_count(rules, "rule")),
    }
}
