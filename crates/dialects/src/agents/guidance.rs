//! The implementation of [`Dialect`] for this format.
//!
//! An agent is called by its file or name, so a question about a path only lists the available
//! ones.

use std::path::{Path, PathBuf};

use brief_syntax::walk::Visit;
use brief_syntax::{Diagnostic, Target, diagnostic};
use brief_system::Below;

use crate::answer::{Applied, Item, Level, Name, Reason, Resolution, State};
use crate::moment::Moment;
use crate::{Dialect, DialectGuidance, LevelCount, Reader};

use super::NAME;
use super::load::{self, AgentOwner, Loaded};
use super::model::DIRECTORY;

/// The dialect of agent files.
#[derive(Debug, Clone, Copy)]
pub struct Agents;

impl Dialect for Agents {
    fn name(&self) -> &'static str {
        NAME
    }

    fn summary(&self) -> &'static str {
        "`*.agent.md` files"
    }

    fn noun(&self) -> &'static str {
        "agent files"
    }

    fn whole_reader(&self) -> Option<Box<dyn Reader>> {
        Some(Box::new(AgentFiles::default()))
    }

    fn mounted_reader(&self, moment: &Moment) -> Option<Box<dyn Reader>> {
        let (asked, way) =
            (moment.mounted_target().cloned(), Some(LevelCount::from_moment(moment)));
        Some(Box::new(AgentFiles { asked, way, ..AgentFiles::default() }))
    }
}

/// The agents of a project and their diagnostics.
#[derive(Default)]
struct AgentFiles {
    found: Vec<ListedAgent>,
    diagnostics: Vec<Diagnostic>,
    /// The target at the time of reading.
    asked: Option<Target>,
    /// For one path, the position on the way to it; `None` for a whole project.
    way: Option<LevelCount>,
    /// True after the first directory.
    is_started: bool,
}

struct ListedAgent {
    loaded: Loaded,
    owner: AgentOwner,
    /// The directory around `agents`, below the mounted one; `None` at home.
    directory: Option<PathBuf>,
    level: Level,
}

impl AgentFiles {
    fn add_agent(&mut self, loaded: Loaded, owner: AgentOwner, directory: Option<PathBuf>) {
        self.diagnostics.extend_from_slice(loaded.diagnostics());
        let holder = loaded.path().parent().and_then(Path::parent);
        let level = match owner {
            AgentOwner::Project => Level::of_directory(holder.unwrap_or(loaded.path()), false),
            AgentOwner::Home => Level::of_user(false),
        };
        self.found.push(ListedAgent { loaded, owner, directory, level });
    }
}

impl Reader for AgentFiles {
    fn visit_directory(&mut self, visit: &Visit<'_>) {
        if !std::mem::replace(&mut self.is_started, true) {
            for loaded in load::at_home(visit.system(), visit.root()) {
                self.add_agent(loaded, AgentOwner::Home, None);
            }
            // In a check of the project, their problems are not the project's.
            if self.way.is_none() {
                self.diagnostics.clear();
            }
        }
        let here = Path::new(visit.slashed());
        let (loaded, directory) = match &mut self.way {
            None => (load::in_directory(visit), here.parent().unwrap_or(Path::new(""))),
            Some(way) => {
                let is_there =
                    || matches!(visit.look_up(DIRECTORY), Below::Directory | Below::Unsure);
                if !way.is_near() || !is_there() {
                    return;
                }
                let below = here.join(DIRECTORY);
                (load::in_agents_directory(visit.system(), visit.root(), &below), here)
            }
        };
        for loaded in loaded {
            self.add_agent(loaded, AgentOwner::Project, Some(directory.to_owned()));
        }
    }

    /// Ends the walk. A command that two agents share is read twice and reported once.
    fn finish(mut self: Box<Self>) -> Box<dyn DialectGuidance> {
        diagnostic::sort_diagnostics(&mut self.diagnostics);
        self.diagnostics.dedup();
        self.found.sort_by(|left, right| {
            (left.level, left.loaded.path()).cmp(&(right.level, right.loaded.path()))
        });
        self
    }
}

impl DialectGuidance for AgentFiles {
    fn resolve_items<'s>(&'s self, moment: &Moment, answer: &mut Resolution<'s>) {
        let target = self.asked.as_ref().or(moment.target.as_ref());
        for file in &self.found {
            let is_at_hand = match (&file.directory, target) {
                (Some(directory), Some(target)) => {
                    Path::new(target.slashed()).starts_with(directory)
                }
                _ => true,
            };
            if is_at_hand {
                file.add_to_answer(answer);
            }
        }
    }

    fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    fn each_file<'s>(&'s self, tell: &mut dyn FnMut(&'s Path)) {
        let own = self.found.iter().filter(|file| file.owner == AgentOwner::Project);
        own.for_each(|file| tell(file.loaded.path()));
    }
}

impl ListedAgent {
    fn add_to_answer<'s>(&'s self, answer: &mut Resolution<'s>) {
        let agent = self.loaded.agent();
        let item = Item {
            dialect: NAME,
            kind: "agent",
            name: Name::Text(match agent {
                Some(agent) => &agent.name.name,
                None => self.loaded.path().file_name().and_then(|name| name.to_str()).unwrap_or(""),
            }),
            path: self.loaded.path(),
            line: 1,
            scope: match self.owner {
                AgentOwner::Project => "project",
                AgentOwner::Home => "user",
            },
            trigger: None,
            holds: false,
            check: None,
            is_for_after: false,
            state: State::Manual,
            content: agent.map_or("", |agent| &agent.system.text),
            description: agent.map_or("", |agent| &agent.description),
            patterns: &[],
            level: self.level,
            package: None,
        };
        match agent {
            Some(_) => {
                let reason = Reason::Stated("is an agent, which `brief agent` runs");
                answer.items.push(Applied::new(item, reason));
            }
            None => {
                let reason = Reason::Invalid { problem: "run `brief agent check` for details" };
                answer.left_out.push(Applied::new(item, Reason::Listed).leave_out(reason));
            }
        }
    }
}
