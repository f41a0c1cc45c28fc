//! A file beside a skill's `SKILL.md` that two states do not have in common.

use serde::Serialize;

/// A file of a skill that changed. The skill's text sends agents to it, so it concerns those that open the skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkillFileChange {
    /// The kind of change.
    pub kind: SkillFileChangeKind,
    /// The name of the skill.
    pub skill: String,
    /// The file, below the root.
    pub path: String,
    /// The text before; `None` if there was none, or it is not text.
    pub before: Option<String>,
    /// The text now; `None` if there is none, or it is not text.
    pub after: Option<String>,
}

/// The kind of change of a skill's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SkillFileChangeKind {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// It has another content.
    Changed,
}

impl SkillFileChangeKind {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            SkillFileChangeKind::Added => "added",
            SkillFileChangeKind::Removed => "removed",
            SkillFileChangeKind::Changed => "changed",
        }
    }
}
