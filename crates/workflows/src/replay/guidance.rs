//! The rules that sessions are compared with, and which of them apply to a file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use brief_checks::rules::RuleSet;
use brief_engine::receipts::content_hash;
use brief_engine::sees::{Arrival, Delivery, Sees, Viewer};
use brief_engine::tokens::Counter;
use brief_engine::{Action, BriefedItem, Briefing, Catalog, Moment, Project};
use brief_profiles::KnownClients;
use brief_syntax::render::path_below;

/// A rule of the project or of the user.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    /// The file below the root, or absolute.
    pub(super) place: String,
    pub(super) line: usize,
    pub(super) name: String,
    pub(super) format: &'static str,
    /// The first line of its text.
    pub(super) title: String,
    pub(super) hash: String,
    /// Its check, as a place in the set.
    pub(super) check: Option<usize>,
}

/// What identifies a rule: its file, its line and its name.
type RuleKey = (PathBuf, usize, String);

/// A question about one file of one client: the client, the directory that it was started in, the path and the action.
type FileQuestion = (String, PathBuf, String, Option<Action>);

/// The guidance of a project at one time.
pub(super) struct Guidance<'p, 's> {
    project: &'p Project<'s>,
    catalog: Catalog,
    pub(super) rules: Vec<Rule>,
    pub(super) checks: RuleSet,
    keys: HashMap<RuleKey, usize>,
    answers: HashMap<FileQuestion, Rc<[(usize, Arrival)]>>,
}

impl<'p, 's> Guidance<'p, 's> {
    /// Returns the root of the project.
    pub(super) fn root(&self) -> &'p Path {
        self.project.root().path()
    }

    /// Reads all guidance of a project.
    pub(super) fn read(project: &'p Project<'s>) -> Guidance<'p, 's> {
        let request = project.everything();
        let catalog = request.read_catalog();
        let checks = catalog.rule_checks();
        let briefing =
            Briefing::from_catalog(&catalog, request.moment.clone(), &Counter::estimate());
        let root = project.root().path();
        let mut guidance = Guidance {
            project,
            rules: Vec::new(),
            checks: RuleSet::new(root, checks.iter().cloned()),
            catalog,
            keys: HashMap::new(),
            answers: HashMap::new(),
        };
        for item in briefing.active.iter().chain(&briefing.listed).chain(&briefing.manual) {
            let check = item
                .check
                .as_ref()
                .and_then(|check| checks.iter().position(|known| Arc::ptr_eq(known, check)));
            guidance.add_item(root, item, check);
        }
        // A rule that is for no file of today has a check all the same.
        for (index, check) in checks.iter().enumerate() {
            if guidance.rules.iter().any(|rule| rule.check == Some(index)) {
                continue;
            }
            let path = check.source.path();
            let key = (path.to_owned(), check.line(), check.id(root).into_owned());
            guidance.add_rule(
                key,
                Rule {
                    place: path_below(root, path).into_owned(),
                    line: check.line(),
                    name: check.id(root).into_owned(),
                    format: "",
                    title: check.title().to_owned(),
                    hash: content_hash(&check.text),
                    check: Some(index),
                },
            );
        }
        guidance
    }

    fn add_item(&mut self, root: &Path, item: &BriefedItem, check: Option<usize>) {
        let key = (item.path.to_path_buf(), item.line, item.name.clone());
        let title = item.content.trim().lines().next().unwrap_or_default();
        self.add_rule(
            key,
            Rule {
                place: path_below(root, &item.path).into_owned(),
                line: item.line,
                name: item.name.clone(),
                format: item.dialect,
                title: title.trim_start_matches(['#', '-', '*', ' ']).to_owned(),
                hash: content_hash(&item.content),
                check,
            },
        );
    }

    fn add_rule(&mut self, key: RuleKey, rule: Rule) -> usize {
        let index = self.rules.len();
        self.rules.push(rule);
        self.keys.insert(key, index);
        index
    }

    /// Returns the rules that apply to a file, each with the way in which it comes to the client: loaded by itself, or
    /// delivered, if a hook is there. An empty path asks about the start of a session.
    pub(super) fn find_rules_for(
        &mut self,
        client: &str,
        started: &Path,
        path: &str,
        action: Option<Action>,
    ) -> Rc<[(usize, Arrival)]> {
        let question = (client.to_owned(), started.to_owned(), path.to_owned(), action);
        if let Some(answer) = self.answers.get(&question) {
            return Rc::clone(answer);
        }
        let root = self.project.root().path();
        let request = self.project.briefing(root.join(path));
        let moment = Moment { action, started: Some(started.to_owned()), ..request.moment };
        let viewers = [Viewer::new(&moment, client, Delivery::by_hook(""))];
        let sees = Sees::without_reasons(&self.catalog, root, &viewers);
        let found: Vec<(RuleKey, Rule, Arrival)> = sees
            .items
            .iter()
            .filter_map(|item| {
                let how = item.seen.first()?.how;
                if !matches!(how, Arrival::Loaded | Arrival::Delivered) {
                    return None;
                }
                let name = item.name.to_string();
                let key = (item.path.to_owned(), item.line, name.clone());
                let title = item.content.trim().lines().next().unwrap_or_default();
                let rule = Rule {
                    place: path_below(root, item.path).into_owned(),
                    line: item.line,
                    name,
                    format: item.dialect,
                    title: title.trim_start_matches(['#', '-', '*', ' ']).to_owned(),
                    hash: content_hash(item.content),
                    check: None,
                };
                Some((key, rule, how))
            })
            .collect();
        let numbered = found.into_iter().map(|(key, rule, how)| {
            let index = match self.keys.get(&key) {
                Some(&index) => index,
                None => self.add_rule(key, rule),
            };
            (index, how)
        });
        let answer: Rc<[(usize, Arrival)]> = numbered.collect::<Vec<_>>().into();
        self.answers.insert(question, Rc::clone(&answer));
        answer
    }

    /// Returns the rule of a check.
    pub(super) fn rule_of_check(&self, check: usize) -> Option<usize> {
        self.rules.iter().position(|rule| rule.check == Some(check))
    }

    /// Returns a hash of everything that a verdict depends on besides the records: the files, the checks, and what each client
    /// loads at the start, which its settings decide.
    pub(super) fn fingerprint(&mut self, clients: &KnownClients) -> String {
        let mut text = String::new();
        self.catalog.each_source(&mut |source| {
            text.push_str(&source.path().to_string_lossy());
            text.push_str(&content_hash(source.text()));
            text.push('\n');
        });
        for rule in self.checks.rules() {
            text.push_str(&rule.id);
            text.push_str(&rule.check.content());
        }
        let root = self.root();
        for client in clients.clients.iter().filter(|client| client.transcripts.is_some()) {
            let start = self.find_rules_for(&client.id, root, "", None);
            text.push_str(&format!("{start:?}"));
        }
        content_hash(&text)
    }
}
