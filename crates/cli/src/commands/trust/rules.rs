//! `brief trust --rules`

use brief_checks::rules::{Budget, RuleSet, run_examples};
use brief_dialects::rule_check::Enforcement;
use brief_dialects::{Dialects, Owner};
use brief_runtime::{TrustProject, TrustStore};
use brief_syntax::text::{format_count, visible_line};

use crate::error::{CommandError, ErrorKind, Result};
use crate::session::Session;
use crate::ui::Ui;

/// Shows the rules of the project that want to refuse calls, asks, and records the answer.
pub(super) fn trust_rules(ui: &mut Ui, session: &Session, mut store: TrustStore<'_>) -> Result {
    if !ui.can_ask() {
        return Err(CommandError::refused("cannot grant trust without a terminal")
            .with_hint("run `brief trust --rules` in a terminal; scripts cannot grant trust"));
    }
    let project = session.open_project()?;
    let root = project.root().path();
    let catalog = project.read_project(Dialects::All);
    let mut checks = catalog.rule_checks();
    checks.retain(|check| check.owner == Owner::Project && check.enforce >= Enforcement::Ask);
    let rules = RuleSet::new(root, checks);
    if rules.is_empty() {
        return ui.print_status("no rule of this project blocks calls or asks");
    }
    let identity = TrustProject::identify(session.system(), root)?;
    let contents: Vec<(String, &str)> =
        rules.rules().iter().map(|rule| (rule.check.content(), &*rule.id)).collect();
    if contents.iter().all(|(content, _)| store.is_rule_trusted(&identity, content)) {
        return ui.print_status("the rules of this project are already trusted");
    }
    ui.print_status(&format!("rules of {}", root.display()))?;
    for (rule, (content, id)) in rules.rules().iter().zip(&contents) {
        let check = &rule.check;
        let path = check.source.path();
        let path = path.strip_prefix(root).unwrap_or(path).display();
        let known = if store.is_rule_trusted(&identity, content) { ", trusted" } else { "" };
        let head = format!("  {path}:{}: {id} ({}{known})", check.line(), check.enforce.as_str());
        ui.print_status(&visible_line(&head))?;
        ui.print_quote(&check.text)?;
        for demand in &check.demands {
            let span = demand.span;
            let written = check.source.text().get(span.range()).unwrap_or_default();
            let (verb, key) = (demand.verb.as_str(), demand.subject.key());
            ui.print_status(&visible_line(&format!("    {verb} {key}: {written}")))?;
        }
        let failed = run_examples(rule, Budget::CALL).len();
        if failed > 0 {
            let examples = format_count(failed, "example");
            ui.print_warning(&format!(
                "{examples} of {id} failed; it stays off until `brief lint` finds no problem"
            ))?;
        }
    }
    ui.print_status(
        "clients with a hook will block calls that break these rules, or ask you; no command is trusted, and a changed rule \
         only warns until you trust it",
    )?;
    if !ui.confirm("Trust these rules?")? {
        ui.print_status("nothing was recorded")?;
        return Err(CommandError::reported(ErrorKind::Refused));
    }
    store.record_rules(&identity, contents.iter().map(|(content, id)| (content.as_str(), *id)))?;
    ui.print_status(&format!("trusted {}", format_count(contents.len(), "rule")))
}

/// Forgets the rules of the project.
pub(super) fn forget_rules(ui: &mut Ui, session: &Session, mut store: TrustStore<'_>) -> Result {
    let project = session.open_project()?;
    let identity = TrustProject::identify(session.system(), project.root().path())?;
    match store.remove_rules(&identity)? {
        0 => Err(CommandError::refused("no rules of this project are trusted")),
        count => ui.print_status(&format!("forgot {}", format_count(count, "rule"))),
    }
}
