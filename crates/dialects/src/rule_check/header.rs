//! Checks in front matter, and in `brief.toml` for texts without it.

use std::path::Path;
use std::sync::Arc;

use brief_syntax::front_matter::FrontMatter;
use brief_syntax::{Diagnostic, Source, Span, rules};
use toml_edit::{Document, Item};

use super::{
    CheckCoverage, CheckFields, CheckNode, CheckPlace, CheckScope, RuleCheck, parse_rule_check,
};
use crate::answer::Owner;

/// The name of the configuration file of a project.
pub const CONFIGURATION: &str = "brief.toml";

/// Reads the check in the front matter of a rule's file. `body_start` is the offset of the text below it.
pub(crate) fn parse_header_check(
    source: &Arc<Source>,
    body_start: usize,
    scope: impl FnOnce() -> CheckScope,
    owner: Owner,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Arc<RuleCheck>> {
    // Nearly no file has one, and a hook reads many.
    let header = source.text().get(..body_start)?;
    if !header.contains("\ncheck:") {
        return None;
    }
    let fields = CheckFields::from_front_matter(&FrontMatter::from_source(source))?;
    let text = source.text().get(body_start..).unwrap_or_default();
    let scope = scope();
    parse_rule_check(&fields, CheckPlace { source, scope: &scope, owner, text }, diagnostics)
}

impl CheckScope {
    /// Returns the scope of a rule that counts from a directory.
    pub(crate) fn new(base: &Path, coverage: Option<Arc<dyn CheckCoverage>>) -> CheckScope {
        CheckScope { base: Arc::from(base), coverage }
    }
}

/// Reads the tables `[[checks]]` of a `brief.toml`. A file that is not valid TOML has none; the reader of the whole file
/// reports it.
pub fn parse_configured_checks(
    source: &Arc<Source>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Arc<RuleCheck>> {
    let text = source.text();
    if !text.contains("checks") {
        return Vec::new();
    }
    let Ok(document) = Document::parse(text.trim_start_matches('\u{feff}')) else {
        return Vec::new();
    };
    let Some(item) = document.get("checks") else { return Vec::new() };
    let span = item.span().map_or(Span::default(), |span| Span::new(span.start, span.end));
    let report = |span: Span, message: &str, help: &str, diagnostics: &mut Vec<Diagnostic>| {
        let found = Diagnostic::new(rules::check::INVALID, source, span, message);
        diagnostics.push(found.with_help(help));
    };
    let Item::ArrayOfTables(tables) = item else {
        let message = "`checks` is a list of tables";
        report(
            span,
            message,
            "write `[[checks]]`, with `for = \"CLAUDE.md\"` below it",
            diagnostics,
        );
        return Vec::new();
    };
    let directory = source.path().parent().unwrap_or(source.path());
    let mut checks = Vec::new();
    for table in tables {
        let span = table.span().map_or(span, |span| Span::new(span.start, span.end));
        let Some(target) = table.get("for").and_then(Item::as_str) else {
            let message = "a table of `[[checks]]` has no `for`";
            report(
                span,
                message,
                "write `for = \"CLAUDE.md#testing\"`, the text of the rule",
                diagnostics,
            );
            continue;
        };
        let file = target.split('#').next().unwrap_or_default();
        let is_inside =
            !file.is_empty() && !file.starts_with('/') && file.split('/').all(|name| name != "..");
        if !is_inside {
            let message = "`for` is not a file of the project";
            report(span, message, "write a path below the directory of brief.toml", diagnostics);
            continue;
        }
        let base = directory.join(file);
        let scope = CheckScope::new(base.parent().unwrap_or(directory), None);
        let mut node = CheckNode::from_toml_table(table, span);
        node.remove_field("for");
        let fields = CheckFields { check: Some(node), ..CheckFields::default() };
        let place = CheckPlace { source, scope: &scope, owner: Owner::Project, text: target };
        checks.extend(parse_rule_check(&fields, place, diagnostics));
    }
    checks
}
