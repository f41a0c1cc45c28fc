//! The entries of a project's permissions and ignored files.

use std::collections::BTreeSet;
use std::fmt;

use crate::permissions::{self, RuleDecision};
use crate::profile::ProfileScope;

use super::Clients;
use super::needs::{Entries, add_entry, add_lines, choose_present_file};

/// The number of rules of a client that a sentence names.
const SHOWN: usize = 3;

/// A rule that a client cannot get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsaidRule {
    /// The name of the client, for people.
    pub client: String,
    /// The rule: `deny read .env`; or `ignored files`.
    pub rule: String,
    pub why: &'static str,
    /// True if the client may do more than the project wants.
    pub is_wider: bool,
}

impl fmt::Display for UnsaidRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UnsaidRule { client, rule, why, is_wider } = self;
        let wider = if *is_wider { ", so it may do more than the project allows" } else { "" };
        write!(formatter, "{client} does not get `{rule}`: {why}{wider}")
    }
}

impl Clients {
    /// Returns the rules that some clients cannot get, with the reason.
    pub fn unsaid_rules(&self, clients: &[&str]) -> Vec<UnsaidRule> {
        let mut unsaid = Vec::new();
        self.add_permissions(clients, &BTreeSet::new(), &mut Entries::new(), &mut unsaid);
        unsaid
    }

    /// Returns a sentence for each client that cannot get some of the rules.
    pub fn unsaid_by_client(&self, clients: &[&str]) -> Vec<String> {
        let sentence = |rules: &[UnsaidRule]| {
            let client = &rules[0].client;
            let wider = rules.iter().any(|rule| rule.is_wider);
            // What it may do and should not comes first.
            let (more_than_wanted, others): (Vec<_>, Vec<_>) =
                rules.iter().partition(|rule| rule.is_wider);
            let shown = more_than_wanted
                .into_iter()
                .chain(others)
                .take(SHOWN)
                .map(|rule| format!("`{}`", rule.rule));
            let shown = shown.collect::<Vec<_>>().join(", ");
            let more = match rules.len().saturating_sub(SHOWN) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let wider = if wider { "; it may do more than the project allows" } else { "" };
            format!(
                "{client} does not get {shown}{more}{wider} (run `brief lint --only setup` for the reasons)"
            )
        };
        let unsaid = self.unsaid_rules(clients);
        unsaid.chunk_by(|left, right| left.client == right.client).map(sentence).collect()
    }

    pub(super) fn add_permissions(
        &self,
        clients: &[&str],
        present: &BTreeSet<String>,
        entries: &mut Entries,
        unsaid: &mut Vec<UnsaidRule>,
    ) {
        if self.scope() != ProfileScope::Project {
            return;
        }
        for profile in self.select_profiles(clients) {
            let mut lose = |rule: String, why, is_wider| {
                unsaid.push(UnsaidRule { client: profile.name().to_owned(), rule, why, is_wider });
            };
            let known = permissions::find_permission_profile(profile.id());
            for rule in &self.permissions.rules {
                let said = known.ok_or("has no permissions in a project file");
                let said = said
                    .and_then(|known| Ok((known, permissions::build_rule_entries(known, rule)?)));
                match said {
                    Ok((known, said)) => {
                        let path = choose_present_file(&known.file, known.file_names(), present);
                        for entry in said {
                            add_entry(entries, path, entry);
                        }
                    }
                    Err(why) => lose(rule.to_string(), why, rule.decision != RuleDecision::Allow),
                }
            }
            if self.permissions.ignored.is_empty() {
                continue;
            }
            match permissions::ignore_file(profile.id()) {
                Some(file) => add_lines(entries, file, &self.permissions.ignored),
                None => lose("ignored files".to_owned(), "has no ignore file", true),
            }
        }
    }

    /// Returns whether a file of the user has permissions, or names ignored files.
    pub(super) fn is_for_permissions(client: &str, path: &str) -> bool {
        let known = permissions::find_permission_profile(client);
        permissions::ignore_file(client) == Some(path)
            || known.is_some_and(|known| known.file_names().any(|file| file == path))
    }
}
