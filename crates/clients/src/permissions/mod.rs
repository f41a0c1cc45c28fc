//! Permissions and ignored files of a project, in `[permissions]` and `[ignore]` of its `brief.toml`.
//!
//! They are the project's own: nothing of a source becomes one. A client gets them in its own words, in the file that it
//! reads them from. A rule that it cannot say is left out and told of, because a wider one would allow more than was meant.

mod from_checks;

use std::fmt;
use std::sync::Arc;

use brief_dialects::portable::output::SharedEntry;
use brief_profiles::{BUILTIN, PermissionProfile, PermissionWords};
use brief_syntax::toml::{Table, TomlEntry, TomlProblem};
use brief_syntax::{Diagnostic, Source, toml};

use crate::mcp;

pub use from_checks::permissions_from_checks;

/// The key that adds the rules that checks of the project enforce.
const FROM_CHECKS: &str = "from-checks";

/// The decision of a rule. The last one counts where clients go by order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleDecision {
    /// It happens without a question.
    Allow,
    Ask,
    Deny,
}

impl RuleDecision {
    /// The keys of all decisions, in the order in which they are declared and written.
    const KEYS: [(&'static str, RuleDecision); 3] =
        [("allow", RuleDecision::Allow), ("ask", RuleDecision::Ask), ("deny", RuleDecision::Deny)];
}

/// The thing that a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleSubject {
    /// Commands of a shell, by their first words.
    Shell,
    /// Reading files, by a pattern.
    Read,
    /// Changing files, by a pattern.
    Edit,
    Web,
    /// MCP servers, by a name, or by a name and a tool.
    Mcp,
}

impl RuleSubject {
    /// The keys of all subjects, in the order in which they are declared.
    const KEYS: [(&'static str, RuleSubject); 5] = [
        ("shell", RuleSubject::Shell),
        ("read", RuleSubject::Read),
        ("edit", RuleSubject::Edit),
        ("web", RuleSubject::Web),
        ("mcp", RuleSubject::Mcp),
    ];

    fn find_wording(self, profile: &PermissionProfile) -> Option<&PermissionWords> {
        match self {
            RuleSubject::Shell => profile.shell.as_ref(),
            RuleSubject::Read => profile.read.as_ref(),
            RuleSubject::Edit => profile.edit.as_ref(),
            RuleSubject::Web => profile.web.as_ref(),
            RuleSubject::Mcp => profile.mcp.as_ref(),
        }
    }
}

/// One rule of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionRule {
    pub decision: RuleDecision,
    /// The thing that it is about.
    pub subject: RuleSubject,
    /// The command, pattern, host or server; `None` for all.
    pub argument: Option<String>,
}

impl fmt::Display for PermissionRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let argument = self.argument.as_deref().unwrap_or("*");
        let (decision, _) = RuleDecision::KEYS[self.decision as usize];
        let (subject, _) = RuleSubject::KEYS[self.subject as usize];
        write!(formatter, "{decision} {subject} {argument}")
    }
}

/// The permissions and ignored files of a project.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProjectPermissions {
    pub rules: Vec<PermissionRule>,
    /// Patterns of files that clients leave alone, in the style of `.gitignore`.
    pub ignored: Vec<String>,
    /// True if the checks of the project's rules are to be written, too.
    pub from_checks: bool,
}

/// Returns the place and the words of a client, if a project has them.
pub fn find_permission_profile(client: &str) -> Option<&'static PermissionProfile> {
    BUILTIN.find_client(client)?.permissions.as_ref()
}

/// Returns the file that tells a client which files to leave alone.
pub fn ignore_file(client: &str) -> Option<&'static str> {
    BUILTIN.find_client(client)?.ignores.first().map(|file| &**file)
}

/// Reads `[permissions]` and `[ignore]` of a project's `brief.toml`.
pub fn parse_permissions(
    configuration: &Arc<Source>,
) -> Result<ProjectPermissions, Vec<Diagnostic>> {
    let mut diagnostics = Vec::new();
    let mut found = ProjectPermissions::default();
    let Some(document) = toml::parse_toml(configuration, &mut diagnostics) else {
        return Err(diagnostics);
    };
    let top = Table { source: configuration, content: document.as_table(), prefix: "" };
    for entry in top.entries() {
        let outcome = match entry.key {
            "permissions" => found.read_permissions(&entry),
            "ignore" => found.read_ignored(&entry),
            _ => Ok(()),
        };
        diagnostics.extend(outcome.err().map(|problem| *problem));
    }
    found.rules.sort_by_key(|rule| rule.decision);
    if diagnostics.is_empty() { Ok(found) } else { Err(diagnostics) }
}

impl ProjectPermissions {
    fn read_permissions(&mut self, entry: &TomlEntry<'_>) -> Result<(), TomlProblem> {
        for of_decision in entry.table()?.entries() {
            if of_decision.key == FROM_CHECKS {
                self.from_checks = of_decision.flag()?;
                continue;
            }
            let decision = by_key(&of_decision, RuleDecision::KEYS)?;
            for of_subject in of_decision.table()?.entries() {
                let subject = by_key(&of_subject, RuleSubject::KEYS)?;
                for argument in of_subject.text_list()? {
                    if let Some((problem, help)) = find_argument_problem(subject, &argument) {
                        return Err(
                            of_subject.invalid_value(&format!("`{argument}` {problem}"), help)
                        );
                    }
                    let argument = Some(argument).filter(|argument| argument != "*");
                    self.rules.push(PermissionRule { decision, subject, argument });
                }
            }
        }
        Ok(())
    }

    fn read_ignored(&mut self, entry: &TomlEntry<'_>) -> Result<(), TomlProblem> {
        for entry in entry.table()?.entries() {
            if entry.key != "patterns" {
                return Err(entry.unknown_key(&["patterns"]));
            }
            for pattern in entry.text_list()? {
                let is_line = pattern.trim() == pattern && !pattern.contains(char::is_control);
                if pattern.is_empty() || pattern.starts_with('#') || !is_line {
                    let problem = format!("`{pattern}` is not a valid ignore pattern");
                    return Err(entry.invalid_value(&problem, "write one pattern per string"));
                }
                self.ignored.push(pattern);
            }
        }
        Ok(())
    }
}

/// Returns the value that the key of an entry stands for.
fn by_key<T: Copy, const N: usize>(
    entry: &TomlEntry<'_>,
    keys: [(&str, T); N],
) -> Result<T, TomlProblem> {
    let found = keys.iter().find(|(key, _)| *key == entry.key).map(|(_, value)| *value);
    found.ok_or_else(|| entry.unknown_key(&keys.map(|(key, _)| key)))
}

/// Returns the reason why a rule cannot be about an argument, and the help.
fn find_argument_problem(
    subject: RuleSubject,
    argument: &str,
) -> Option<(&'static str, &'static str)> {
    if argument == "*" {
        return None;
    }
    let is_clean = argument.trim() == argument && !argument.contains(char::is_control);
    if argument.is_empty() || !is_clean {
        return Some((
            "is empty, or has surrounding spaces or control characters",
            "write it on one line, without surrounding spaces",
        ));
    }
    // A bracket would end a rule such as `Bash(…)`, and what follows would be more than was meant.
    if argument.contains(['(', ')', ',']) {
        return Some((
            "contains a parenthesis or a comma",
            "remove it: rules of clients cannot express it",
        ));
    }
    match subject {
        RuleSubject::Shell if argument.contains(['*', '?']) => Some((
            "contains a wildcard",
            "write the first words of the command; the rule matches any words after them",
        )),
        RuleSubject::Read | RuleSubject::Edit => {
            let is_outside = argument.starts_with(['/', '~', '!'])
                || argument.contains(['\\', ':'])
                || argument.split('/').any(|name| name == "..");
            is_outside.then_some((
                "is not a pattern in the project",
                "write a path below the project, such as `docs/**`",
            ))
        }
        RuleSubject::Web if argument.contains(['/', ':', '*', ' ']) => {
            Some(("is not a host", "write `docs.rs`"))
        }
        RuleSubject::Mcp => {
            let mut parts = argument.split('/');
            let is_known = parts.clone().count() < 3 && parts.all(mcp::is_name);
            (!is_known).then_some(("is not a server", "write `server`, or `server/tool`"))
        }
        _ => None,
    }
}

/// Returns the entries that say a rule to a client; the error says why it cannot.
pub fn build_rule_entries(
    profile: &PermissionProfile,
    rule: &PermissionRule,
) -> Result<Vec<SharedEntry>, &'static str> {
    let place = match rule.decision {
        RuleDecision::Allow => profile.allow.as_ref().ok_or("has no list of allowed actions"),
        RuleDecision::Ask => profile.ask.as_ref().ok_or("has no list of actions to ask about"),
        RuleDecision::Deny => profile.deny.as_ref().ok_or("has no list of forbidden actions"),
    }?;
    let words = rule.subject.find_wording(profile).ok_or("has no permissions of this kind")?;
    let rules: Vec<String> = match rule.argument.as_deref() {
        None => words.all.iter().map(ToString::to_string).collect(),
        Some(argument) => match (argument.split_once('/'), &words.part) {
            (Some((server, tool)), part) if rule.subject == RuleSubject::Mcp => {
                let fill = |part: &brief_profiles::Text| {
                    part.replace("{}", server).replace("{part}", tool)
                };
                part.iter().map(fill).collect()
            }
            _ if words.is_one_word && argument.contains(' ') => {
                return Err("matches commands only by their first word");
            }
            _ if words.is_crossing => {
                crossing_patterns(argument).ok_or("matches `*` across directories")?
            }
            _ => words.one.iter().map(|one| one.replace("{}", argument)).collect(),
        },
    };
    if rules.is_empty() {
        return Err("has no syntax for this rule");
    }
    let entry = |value: String| match &words.table {
        Some(table) => {
            SharedEntry::Keyed { key: table.to_string(), name: value, json: format!("\"{place}\"") }
        }
        None => SharedEntry::Listed { key: place.to_string(), value },
    };
    Ok(rules.into_iter().map(entry).collect())
}

/// Returns the patterns that mean the same where `*` matches across directories, too; `None` where there are none.
fn crossing_patterns(pattern: &str) -> Option<Vec<String>> {
    let (anywhere, rest) = match pattern.strip_prefix("**/") {
        Some(rest) => (true, rest),
        None => (false, pattern),
    };
    let (below, name) = match rest.strip_suffix("/**") {
        Some(name) => ("/*", name),
        None => ("", rest),
    };
    if name.is_empty() || name.contains(['*', '?', '[', '{']) {
        return None;
    }
    let mut patterns = vec![format!("{name}{below}")];
    patterns.extend(anywhere.then(|| format!("*/{name}{below}")));
    Some(patterns)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str) -> Result<ProjectPermissions, Vec<String>> {
        let source = Arc::new(Source::new("brief.toml", text));
        parse_permissions(&source)
            .map_err(|problems| problems.into_iter().map(|one| one.message).collect())
    }

    #[test]
    fn rules_are_read_in_the_order_of_decisions() {
        let text = "[permissions.deny]\nread = [\"**/.env\"]\n[permissions.allow]\nshell = [\"git status\", \"*\"]\nmcp = [\"files/read\"]\n";
        let rules = rules(text).unwrap().rules;
        let rules: Vec<String> = rules.iter().map(ToString::to_string).collect();
        assert_eq!(
            rules,
            [
                "allow shell git status",
                "allow shell *",
                "allow mcp files/read",
                "deny read **/.env"
            ]
        );
    }

    /// An argument that would end a client's rule, or leave the project, is an error: it would allow more than was meant.
    #[test]
    fn what_could_mean_more_is_refused() {
        for (subject, argument) in [
            ("shell", "git status), Bash(*"),
            ("shell", "git *"),
            ("shell", " git"),
            ("shell", ""),
            ("shell", "a\\nb"),
            ("read", "/etc/passwd"),
            ("read", "~/.ssh/**"),
            ("edit", "../x"),
            ("edit", "a\\\\b"),
            ("web", "*.example.com"),
            ("web", "https://x.test/"),
            ("mcp", "a/b/c"),
            ("mcp", "a b"),
        ] {
            let text = format!("[permissions.allow]\n{subject} = [\"{argument}\"]\n");
            assert!(rules(&text).is_err(), "{text}");
        }
        for text in [
            "[permissions]\nallow = [\"Bash\"]\n",
            "[permissions.maybe]\nshell = []\n",
            "[permissions.allow]\nbash = [\"x\"]\n",
            "[ignore]\npattern = [\"x\"]\n",
            "[ignore]\npatterns = [\"# x\"]\n",
        ] {
            assert!(rules(text).is_err(), "{text}");
        }
    }

    #[test]
    fn each_client_has_its_own_words() {
        let rule = |decision, subject, argument: &str| PermissionRule {
            decision,
            subject,
            argument: (argument != "*").then(|| argument.to_owned()),
        };
        let said = |client: &str, rule: &PermissionRule| {
            let entries = build_rule_entries(find_permission_profile(client).unwrap(), rule)?;
            Ok::<_, &str>(entries.iter().map(SharedEntry::name).collect::<Vec<_>>().join(" "))
        };
        let status = rule(RuleDecision::Allow, RuleSubject::Shell, "git status");
        let git = rule(RuleDecision::Deny, RuleSubject::Shell, "git");
        let secret = rule(RuleDecision::Deny, RuleSubject::Read, "secrets/**");
        for (client, rule, expected) in [
            ("claude", &status, "permissions/allow[Bash(git status:*)]"),
            ("claude", &secret, "permissions/deny[Read(/secrets/**)]"),
            (
                "qwen",
                &status,
                "permissions/allow[Bash(git status)] permissions/allow[Bash(git status *)]",
            ),
            ("opencode", &status, "permission/bash.git status permission/bash.git status *"),
            ("cursor", &git, "permissions/deny[Shell(git)]"),
            ("cursor", &secret, "permissions/deny[Read(secrets/**)]"),
            ("gemini", &git, "tools/exclude[run_shell_command(git)]"),
            ("roo", &git, "roo-cline.deniedCommands[git]"),
        ] {
            assert_eq!(said(client, rule).unwrap(), expected, "{client}");
        }
        // `*` of opencode matches `/`, too.
        for (pattern, expected) in [
            ("docs/**", Some("permission/edit.docs/*")),
            ("**/.env", Some("permission/edit..env permission/edit.*/.env")),
            ("**/secrets/**", Some("permission/edit.secrets/* permission/edit.*/secrets/*")),
            ("src/main.rs", Some("permission/edit.src/main.rs")),
            ("src/*.rs", None),
            ("**", None),
        ] {
            let rule = rule(RuleDecision::Allow, RuleSubject::Edit, pattern);
            assert_eq!(said("opencode", &rule).ok().as_deref(), expected, "{pattern}");
        }
        // A wider rule would be another one.
        assert!(said("cursor", &status).is_err());
        assert!(said("gemini", &secret).is_err());
        assert!(said("droid", &git).is_err());
        let tool = rule(RuleDecision::Ask, RuleSubject::Mcp, "files/write");
        assert_eq!(said("claude", &tool).unwrap(), "permissions/ask[mcp__files__write]");
        assert!(said("cursor", &tool).is_err(), "it has no list of questions");
    }
}
