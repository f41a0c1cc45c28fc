//! The names that files of a project can refer to, collected once for many lookups.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use brief_syntax::yaml::Node;

use super::model::{TaskDocument, TaskFileKind};
use super::selectors::{canonical_key, collect_scalars};
use super::slash::{self, SlashPiece};

/// The names and values of all files.
#[derive(Default)]
pub(super) struct KnownNames<'d> {
    /// The keys and values of rules and skills.
    values: BTreeSet<(&'d str, &'d str)>,
    rule_names: BTreeSet<&'d str>,
    pub(super) task_names: BTreeSet<String>,
    /// The names of commands outside namespaces, and by namespace.
    commands: BTreeSet<&'d str>,
    own_commands: BTreeMap<&'d str, BTreeSet<&'d str>>,
    command_files: BTreeSet<&'d Path>,
    /// The largest number of arguments in a call, by command.
    arguments: BTreeMap<&'d str, usize>,
}

impl<'d> KnownNames<'d> {
    pub(super) fn from_documents(
        documents: impl Iterator<Item = &'d TaskDocument>,
    ) -> KnownNames<'d> {
        let mut known = KnownNames::default();
        for document in documents {
            match document.kind {
                TaskFileKind::Task => {
                    known.task_names.insert(document.name());
                    known.task_names.insert(document.stem.clone());
                    known.remember_calls(document);
                }
                TaskFileKind::Command => {
                    let names = match document.namespace.as_deref() {
                        None => &mut known.commands,
                        Some(namespace) => known.own_commands.entry(namespace).or_default(),
                    };
                    names.insert(&document.stem);
                    known.command_files.insert(&document.real_path);
                }
                TaskFileKind::Rule => {
                    known.rule_names.insert(&document.stem);
                    known.remember_values(document);
                }
                TaskFileKind::Skill => known.remember_values(document),
            }
        }
        known
    }

    fn remember_calls(&mut self, task: &'d TaskDocument) {
        for piece in slash::split_slash_commands(task.body()) {
            if let SlashPiece::Call(call) = piece {
                let most = self.arguments.entry(call.name).or_default();
                *most = (*most).max(call.arguments.positional.len());
            }
        }
    }

    fn remember_values(&mut self, document: &'d TaskDocument) {
        for field in document.fields().iter().flat_map(|fields| fields.effective_fields()) {
            let values = collect_scalars(field.value).into_iter().filter_map(Node::as_str);
            self.values.extend(values.map(|value| (canonical_key(field.name()), value)));
        }
    }

    /// Returns whether a rule or skill matches a selector.
    pub(super) fn has_answer(&self, key: &str, value: &str) -> bool {
        match key {
            "rule_name" => self.rule_names.contains(value),
            _ => self.values.contains(&(canonical_key(key), value)),
        }
    }

    /// Returns whether a text of a namespace can call a command.
    pub(super) fn has_command(&self, namespace: Option<&str>, name: &str) -> bool {
        self.commands_for(namespace).any(|names| names.contains(name))
    }

    /// Returns the names of the commands that a text of a namespace can call.
    pub(super) fn command_names(&self, namespace: Option<&str>) -> Vec<&str> {
        self.commands_for(namespace).flatten().copied().collect()
    }

    fn commands_for(&self, namespace: Option<&str>) -> impl Iterator<Item = &BTreeSet<&'d str>> {
        let own = namespace.and_then(|namespace| self.own_commands.get(namespace));
        std::iter::once(&self.commands).chain(own)
    }

    /// Returns whether a file is a command, possibly among other kinds.
    pub(super) fn is_command(&self, document: &TaskDocument) -> bool {
        self.command_files.contains(document.real_path.as_path())
    }

    /// Returns the largest number of arguments in a call of a command; `None` without calls.
    pub(super) fn most_arguments(&self, command: &TaskDocument) -> Option<usize> {
        self.arguments.get(command.stem.as_str()).copied()
    }
}
