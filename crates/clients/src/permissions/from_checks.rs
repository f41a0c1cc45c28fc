//! The clients' own policies for rules with a check: a second line beside the hook, which gives the reason.
//!
//! A policy that forbids more than the check is not written. What a client cannot say stays with the hook.

use std::path::Path;
use std::sync::Arc;

use brief_dialects::Owner;
use brief_dialects::rule_check::{
    CheckPattern, Demand, Enforcement, PathChange, RuleCheck, Subject, Verb,
};

use super::{PermissionRule, RuleDecision, RuleSubject, find_argument_problem};

/// Returns the permissions that say the same as checks of the project at `root`.
pub fn permissions_from_checks(root: &Path, checks: &[Arc<RuleCheck>]) -> Vec<PermissionRule> {
    let mut rules: Vec<PermissionRule> = Vec::new();
    for check in checks {
        let decision = match check.enforce {
            Enforcement::Deny => RuleDecision::Deny,
            Enforcement::Ask => RuleDecision::Ask,
            Enforcement::Warn | Enforcement::Observe => continue,
        };
        // A policy of a client is for the whole project.
        let is_for_all = check.scope.coverage.is_none() && *check.scope.base == *root;
        if check.owner != Owner::Project || !is_for_all {
            continue;
        }
        let demands = check.demands.iter();
        let plain =
            demands.filter(|demand| demand.verb == Verb::Forbid && demand.within.is_empty());
        let plain: Vec<&Demand> = plain.collect();
        for argument in list_commands(&plain) {
            add_rule(&mut rules, decision, RuleSubject::Shell, argument);
        }
        for argument in list_closed_globs(&plain) {
            add_rule(&mut rules, decision, RuleSubject::Edit, argument);
        }
    }
    rules
}

fn add_rule(
    rules: &mut Vec<PermissionRule>,
    decision: RuleDecision,
    subject: RuleSubject,
    argument: &str,
) {
    let rule = PermissionRule { decision, subject, argument: Some(argument.to_owned()) };
    if find_argument_problem(subject, argument).is_none() && !rules.contains(&rule) {
        rules.push(rule);
    }
}

/// Returns the programs and first words that are forbidden. An option may stand anywhere, which no policy says.
fn list_commands<'d>(demands: &[&'d Demand]) -> Vec<&'d str> {
    let patterns = demands.iter().filter_map(|demand| match &demand.subject {
        Subject::Command { patterns } => Some(patterns),
        _ => None,
    });
    let texts = patterns.flatten().filter_map(|pattern| match pattern {
        CheckPattern::Literal { text, .. } => Some(&**text),
        CheckPattern::Regex { .. } => None,
    });
    texts.filter(|text| !text.split_whitespace().any(|word| word.starts_with('-'))).collect()
}

/// Returns the globs whose files may be neither created nor changed nor deleted: a client knows one word for all of it.
fn list_closed_globs<'d>(demands: &[&'d Demand]) -> Vec<&'d str> {
    let of = |wanted: PathChange| -> Vec<&'d str> {
        let globs = demands.iter().filter_map(|demand| match &demand.subject {
            Subject::Path { change, globs } if *change == wanted => Some(globs),
            _ => None,
        });
        globs.flatten().map(brief_dialects::rule_check::CheckGlob::written).collect()
    };
    let (created, deleted) = (of(PathChange::Create), of(PathChange::Delete));
    let mut changed = of(PathChange::Change);
    changed.retain(|glob| created.contains(glob) && deleted.contains(glob));
    changed
}

#[cfg(test)]
mod tests {
    use brief_dialects::structured::{PatternCache, parse_structured_file};
    use brief_syntax::Source;

    use super::*;

    #[test]
    fn only_what_a_policy_says_exactly_is_written() {
        let text = "context:
  - content: a
    check: {forbid: {command: [npm, git push, git push --force, /yarn.*/]}}
    enforce: deny
  - content: b
    check: {forbid: {change: src/gen/**, create: src/gen/**, delete: src/gen/**}}
    enforce: ask
  - content: c
    check: {forbid: {create: docs/**, text: forbidden}}
    enforce: deny
  - content: d
    check: {forbid: {command: cargo}}
    enforce: warn
  - content: e
    match: ['src/**']
    check: {forbid: {command: make}}
    enforce: deny
";
        let source = Arc::new(Source::new("/p/AGENTS.yaml", text));
        let mut patterns = PatternCache::default();
        let (file, problems) = parse_structured_file(&source, "", &mut patterns);
        assert!(problems.is_empty(), "{problems:?}");
        let checks: Vec<_> = file.context.into_iter().filter_map(|entry| entry.check).collect();
        assert_eq!(checks.len(), 5);
        let rules = permissions_from_checks(Path::new("/p"), &checks);
        let rules: Vec<String> = rules.iter().map(ToString::to_string).collect();
        assert_eq!(rules, ["deny shell npm", "deny shell git push", "ask edit src/gen/**"]);
        assert!(permissions_from_checks(Path::new("/other"), &checks).is_empty());
    }
}
