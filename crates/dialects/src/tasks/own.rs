//! The guidance of `.agents` directories for a path.
//!
//! A rule holds for everything below the directory that contains `.agents`, unless it is for
//! another task, agent or selector. Tasks and commands are called by name, so a question about a
//! path only lists them. Files that other tools read by themselves are not delivered here. No text
//! is expanded: a question runs nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_profiles::BUILTIN;
use brief_syntax::walk::Visit;
use brief_syntax::{Diagnostic, Target};
use brief_system::{Below, System, resolved_home};

use crate::answer::{Applied, Item, LeftOut, Level, Name, Owner, Reason, Resolution, State};
use crate::moment::Moment;
use crate::rule_check::{CheckScope, RuleCheck, parse_header_check};
use crate::{DialectGuidance, GuidanceText, LevelCount, Reader};

use super::guidance::{held_library, open_home_library};
use super::library::Library;
use super::model::{CodingAgent, TaskDocument, TaskFileKind, TaskName};
use super::selectors::{self, RunningTask, SelectorVerdict};
use super::{NAME, places};

/// The kinds of files in `.agents` for a question about a path. Skills are among the files that
/// clients read by themselves.
const KINDS: [TaskFileKind; 3] = [TaskFileKind::Rule, TaskFileKind::Task, TaskFileKind::Command];

#[derive(Default)]
pub(super) struct OwnFiles {
    files: Vec<OwnFile>,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The number of files of the project, also of those that are not in `.agents`.
    pub(super) count: usize,
    /// For a whole project, the paths of these files.
    pub(super) paths: Vec<PathBuf>,
    /// The target at the time of reading.
    asked: Option<Target>,
    way: LevelCount,
}

struct OwnFile {
    document: TaskDocument,
    name: String,
    level: Level,
    /// The directory that it holds for, below the mounted one; `None` for the user's own.
    directory: Option<String>,
    /// The check of a rule. Our extension of the format.
    check: Option<Arc<RuleCheck>>,
}

impl OwnFiles {
    /// Starts reading the directories between the mounted one and a path, and at home.
    pub(super) fn from_moment(moment: &Moment) -> OwnFiles {
        let asked = moment.mounted_target().cloned();
        OwnFiles { asked, way: LevelCount::from_moment(moment), ..OwnFiles::default() }
    }

    fn read_library(&mut self, library: &Library<'_>, path: &Path, directory: Option<&str>) {
        for kind in KINDS {
            for document in library.own_documents(kind) {
                self.count += 1;
                self.add_document(document, path, directory.map(str::to_owned));
            }
        }
        self.diagnostics.extend(library.take_diagnostics());
    }

    /// Adds a file that was read, if it is in `.agents`.
    pub(super) fn add_listed(&mut self, document: TaskDocument, path: &Path, directory: &str) {
        let is_own = document.path().starts_with(path.join(places::OWN));
        if is_own && KINDS.contains(&document.kind) {
            self.add_document(document, path, Some(directory.to_owned()));
        }
    }

    fn add_document(&mut self, document: TaskDocument, path: &Path, directory: Option<String>) {
        let level = match directory {
            Some(_) => Level::of_directory(path, false),
            None => Level::of_user(false),
        };
        let is_rule = document.kind == TaskFileKind::Rule;
        let check = is_rule.then(|| self.parse_check(&document, path, level.owner)).flatten();
        self.files.push(OwnFile { name: document.name(), document, level, directory, check });
    }

    /// Reads the check of a rule, which is in force for all tasks or for none: a rule for some of them has none.
    fn parse_check(
        &mut self,
        document: &TaskDocument,
        directory: &Path,
        owner: Owner,
    ) -> Option<Arc<RuleCheck>> {
        let (source, body_start) = (&document.source, document.front.body_start);
        let scope = || CheckScope::new(directory, None);
        let found = &mut self.diagnostics;
        let check = parse_header_check(source, body_start, scope, owner, found)?;
        let is_for_all =
            document.namespace.is_none() && selectors::values_of(document, "task_name").is_empty();
        is_for_all.then_some(check)
    }

    /// Reads the user's own files, unless the home directory is the project.
    pub(super) fn read_home(&mut self, system: &dyn System, mounted: &Path) {
        if let Some(home) = resolved_home(system).filter(|home| home != mounted)
            && system.probe_path(&home.join(places::OWN)) != Below::Missing
        {
            self.read_library(&open_home_library(system, &home), &home, None);
        }
    }
}

impl Reader for OwnFiles {
    fn visit_directory(&mut self, visit: &Visit<'_>) {
        if visit.slashed().is_empty() {
            self.read_home(visit.system(), visit.root());
        }
        if self.way.is_near() && visit.look_up(places::OWN) != Below::Missing {
            self.read_library(&held_library(visit), &visit.path(), Some(visit.slashed()));
        }
    }

    /// Sorts the files: the user's first, then from the top down; within a directory in the order
    /// of a prompt.
    fn finish(mut self: Box<Self>) -> Box<dyn DialectGuidance> {
        let rank = |file: &OwnFile| KINDS.iter().position(|kind| *kind == file.document.kind);
        self.files.sort_by(|left, right| {
            let left_key = (left.level, &left.directory, rank(left));
            left_key.cmp(&(right.level, &right.directory, rank(right)))
        });
        self
    }
}

/// Returns whether a path is a directory or below it, both with `/` between names.
fn is_below(path: &str, directory: &str) -> bool {
    directory.is_empty()
        || path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl DialectGuidance for OwnFiles {
    fn resolve_items<'s>(&'s self, moment: &Moment, answer: &mut Resolution<'s>) {
        let target = self.asked.as_ref().or(moment.target.as_ref());
        let running = RunningTask::from_moment(moment);
        for file in &self.files {
            let holds = match (&file.directory, target) {
                (Some(directory), Some(target)) => is_below(target.slashed(), directory),
                _ => true,
            };
            if holds {
                file.add_to_answer(moment, &running, answer);
            }
        }
    }

    fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    fn visit_checks<'s>(&'s self, tell: &mut dyn FnMut(&'s Arc<RuleCheck>)) {
        self.files.iter().filter_map(|file| file.check.as_ref()).for_each(tell);
    }

    fn visit_texts<'s>(&'s self, tell: &mut dyn FnMut(GuidanceText<'s>)) {
        for file in self.files.iter().filter(|file| file.directory.is_some()) {
            tell(GuidanceText {
                dialect: NAME,
                source: &file.document.source,
                body_start: file.document.front.body_start,
                is_skill: false,
                entry: None,
            });
        }
    }

    fn each_file<'s>(&'s self, tell: &mut dyn FnMut(&'s Path)) {
        self.paths.iter().for_each(|path| tell(path));
    }

    fn file_count(&self) -> usize {
        self.count
    }
}

impl OwnFile {
    fn add_to_answer<'s>(
        &'s self,
        moment: &Moment,
        running: &RunningTask,
        answer: &mut Resolution<'s>,
    ) {
        let (state, reason) = match self.document.kind {
            TaskFileKind::Rule => match self.rule_reason(moment, running) {
                Ok(reason) => (State::Active, reason),
                Err(reason) => return answer.leave_out(|| self.left_out(reason)),
            },
            TaskFileKind::Task => {
                (State::Manual, Reason::Stated("is a task, which `brief task` assembles"))
            }
            _ => (State::Manual, Reason::Stated("is a command, which tasks call by name")),
        };
        answer.items.push(Applied::new(self.build_item(state), reason));
    }

    /// Returns the reason why a rule applies, or the reason why not.
    fn rule_reason(
        &self,
        moment: &Moment,
        running: &RunningTask,
    ) -> Result<Reason<'_>, Reason<'_>> {
        let document = &self.document;
        if let Some(namespace) = &document.namespace
            && running.namespace.as_ref() != Some(namespace)
        {
            return Err(Reason::Composed(format!(
                "applies only to tasks in the namespace {namespace}"
            )));
        }
        let tasks = selectors::values_of(document, "task_name");
        if running.task_names.is_empty() && !tasks.is_empty() {
            let tasks = tasks.join(", ");
            return Err(Reason::Composed(format!("applies only to the task {tasks}")));
        }
        match selectors::match_selectors(document, &moment.selectors, running) {
            SelectorVerdict::Generic => {
                Ok(Reason::Stated("applies to everything below its directory"))
            }
            verdict if verdict.is_in() => Ok(Reason::Composed(verdict.to_string())),
            verdict => Err(Reason::Composed(verdict.to_string())),
        }
    }

    fn content(&self) -> &str {
        let start = self.document.front.body_start;
        self.document.source.text().get(start..).unwrap_or_default()
    }

    fn build_item(&self, state: State) -> Item<'_> {
        Item {
            dialect: NAME,
            kind: self.document.kind.as_str(),
            name: Name::Text(&self.name),
            path: self.document.path(),
            line: self.document.body_line(),
            scope: self.document.origin.scope(),
            trigger: None,
            holds: false,
            check: self.check.as_ref(),
            is_for_after: false,
            state,
            content: self.content(),
            description: self.document.description(),
            patterns: &[],
            level: self.level,
            package: None,
        }
    }

    fn left_out<'s>(&'s self, reason: Reason<'s>) -> LeftOut<'s> {
        Applied::new(self.build_item(State::Active), Reason::Listed).leave_out(reason)
    }
}

impl RunningTask {
    /// Returns the task and agent of a moment. A client that is none of the document's agents goes by its own name, and by
    /// that of the client whose items it finds.
    fn from_moment(moment: &Moment) -> RunningTask {
        let task = moment.task.as_deref().and_then(|task| TaskName::parse(task).ok());
        let agent = moment.client.as_deref().and_then(CodingAgent::from_name);
        let other = match (moment.client.as_deref(), agent) {
            (Some(client), None) => {
                let known = BUILTIN.find_client(client);
                let id = known.map_or(client, |known| &*known.id);
                let finds = known.and_then(|known| known.items_of.as_deref());
                std::iter::once(id).chain(finds).map(str::to_owned).collect()
            }
            _ => Vec::new(),
        };
        match task {
            Some(task) => RunningTask { other, ..RunningTask::new(&task, agent) },
            None => RunningTask { agent, other, ..RunningTask::default() },
        }
    }
}

#[cfg(test)]
mod tests {
    use brief_syntax::{Root, TargetKind, walk};
    use brief_system::MemorySystem;

    use super::*;

    /// Returns the names in the answer, and the left-out ones with their reasons.
    fn asked(system: &MemorySystem, path: &str, moment: &Moment) -> (Vec<String>, Vec<String>) {
        let target = Target::from_slashed(path, TargetKind::File);
        let root = Root::open(system, Path::new("/p")).unwrap();
        let moment = &Moment { target: Some(target.clone()), ..moment.clone() };
        let mut own = OwnFiles::from_moment(moment);
        walk::walk_along(system, &root, &target, &mut |visit| own.visit_directory(visit));
        let own = Box::new(own).finish();
        let mut answer = Resolution::default();
        own.resolve_items(moment, &mut answer);
        let items = answer.items.iter().filter(|applied| applied.item.state == State::Active);
        let items = items.map(|applied| applied.item.name.to_string()).collect();
        let out = answer.left_out.iter();
        let out = out
            .map(|out| format!("{}: {}", out.name, out.reason.display_with_path(path)))
            .collect();
        (items, out)
    }

    fn project() -> MemorySystem {
        MemorySystem::new("/p")
            .with_env("HOME", "/h")
            .with_file("/h/.agents/rules/mine.md", "Mine.\n")
            .with_file(".agents/rules/all.md", "All.\n")
            .with_file(".agents/rules/bugs.md", "---\ntask_names: [fix-bug]\n---\nBugs.\n")
            .with_file(".agents/rules/cursor.md", "---\nagent: cursor\n---\nCursor.\n")
            .with_file(".agents/rules/go.md", "---\nlanguages: [go]\n---\nGo.\n")
            .with_file(".agents/namespaces/team/rules/ours.md", "Ours.\n")
            .with_file(".agents/tasks/fix-bug.md", "Fix it.\n")
            .with_file("web/.agents/rules/web.md", "Web.\n")
            .with_file("api/.agents/rules/api.md", "Api.\n")
    }

    #[test]
    fn rules_hold_below_their_directory_and_the_users_own_come_first() {
        let (items, out) = asked(&project(), "web/a.ts", &Moment::default());
        assert_eq!(items, ["mine", "all", "cursor", "go", "web"]);
        assert_eq!(
            out,
            [
                "bugs: applies only to the task fix-bug",
                "team/ours: applies only to tasks in the namespace team"
            ]
        );
    }

    #[test]
    fn the_task_the_client_and_selectors_choose_rules() {
        let mut selectors = super::super::Selectors::default();
        selectors.add_selector("languages", "rust");
        let moment = Moment {
            client: Some("claude".to_owned()),
            task: Some("team/fix-bug".to_owned()),
            selectors,
            ..Moment::default()
        };
        let (items, out) = asked(&project(), "a.rs", &moment);
        assert_eq!(items, ["mine", "all", "bugs", "team/ours"]);
        assert_eq!(
            out,
            ["cursor: requires agent=cursor, not claude", "go: requires languages=go, not rust"]
        );
    }

    /// "A rule for another agent is left out", in every client.
    #[test]
    fn a_rule_for_another_agent_reaches_no_client() {
        let system = MemorySystem::new("/p")
            .with_file(".agents/rules/all.md", "All.\n")
            .with_file(".agents/rules/claude.md", "---\nagent: claude\n---\nClaude.\n")
            .with_file(".agents/rules/copilot.md", "---\nagent: copilot\n---\nCopilot.\n");
        for client in &BUILTIN.clients {
            let moment = Moment { client: Some(client.id.to_string()), ..Moment::default() };
            let (items, _) = asked(&system, "a.rs", &moment);
            let expected: &[&str] = match &*client.id {
                "claude" => &["all", "claude"],
                "copilot" | "copilot-vscode" => &["all", "copilot"],
                _ => &["all"],
            };
            assert_eq!(items, expected, "{}", client.id);
        }
    }

    #[test]
    fn a_home_directory_that_is_the_project_is_read_once() {
        let system = MemorySystem::new("/p")
            .with_env("HOME", "/p")
            .with_file(".agents/rules/all.md", "All.\n");
        let (items, _) = asked(&system, "a.rs", &Moment::default());
        assert_eq!(items, ["all"]);
    }
}
