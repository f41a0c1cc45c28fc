//! The answers that are kept as long as nothing they were read from has changed.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use brief_system::{Files, ReadRecord};
use serde_json::{Map, Value as Json};

use super::answers::ToolAnswer;
use super::tools::ProjectTool;

/// The limit for kept answers: the files that a few agents work on.
const MOST_ANSWERS: usize = 128;

/// The limit for one kept answer, in bytes of its text.
const LARGEST_ANSWER: usize = 64 * 1024;

/// A call of a tool.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Question {
    tool: ProjectTool,
    arguments: String,
}

impl Question {
    pub(super) fn new(tool: ProjectTool, arguments: &Map<String, Json>) -> Question {
        let mut arguments: Vec<_> = arguments.iter().collect();
        arguments.sort_unstable_by_key(|(name, _)| *name);
        let pair = |(name, value): (&String, &Json)| format!("{name}={value}\n");
        Question { tool, arguments: arguments.into_iter().map(pair).collect() }
    }
}

struct KeptAnswer {
    question: Question,
    record: ReadRecord,
    answer: Arc<ToolAnswer>,
}

/// The kept answers, the latest ones last.
#[derive(Default)]
pub(super) struct KeptAnswers(Mutex<VecDeque<Arc<KeptAnswer>>>);

impl KeptAnswers {
    fn lock(&self) -> MutexGuard<'_, VecDeque<Arc<KeptAnswer>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the answer to a question that was asked before, if it would be the same now.
    pub(super) fn get(&self, question: &Question, files: &dyn Files) -> Option<Arc<ToolAnswer>> {
        let kept = self.lock().iter().find(|kept| kept.question == *question).cloned()?;
        // Other clients are answered while the files are looked at.
        if kept.record.is_unchanged(files) {
            return Some(Arc::clone(&kept.answer));
        }
        self.lock().retain(|other| !Arc::ptr_eq(other, &kept));
        None
    }

    /// Keeps an answer. The oldest one goes.
    pub(super) fn insert(&self, question: Question, record: ReadRecord, answer: Arc<ToolAnswer>) {
        if answer.text.len() > LARGEST_ANSWER {
            return;
        }
        let mut kept = self.lock();
        kept.retain(|other| other.question != question);
        if kept.len() >= MOST_ANSWERS {
            kept.pop_front();
        }
        kept.push_back(Arc::new(KeptAnswer { question, record, answer }));
    }
}
