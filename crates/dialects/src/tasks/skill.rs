//! The skills of a prompt.

use brief_syntax::yaml::Node;
use brief_syntax::{Span, rules};

use super::model::TaskDocument;
use super::notes::Notes;
use super::prompt::PromptReason;

/// The longest name and description that other tools accept, in characters.
const NAME_LENGTH: usize = 64;
const DESCRIPTION_LENGTH: usize = 1024;

#[derive(Debug)]
pub struct Skill {
    pub document: TaskDocument,
    /// Its name; by default that of its directory.
    pub name: String,
    pub description: String,
    /// The reason why it is listed.
    pub reason: PromptReason,
}

impl Skill {
    pub(super) fn new(document: TaskDocument, reason: PromptReason) -> Skill {
        let name = field_text(&document, "name").unwrap_or(&document.stem).to_owned();
        let description = field_text(&document, "description").unwrap_or_default().to_owned();
        Skill { document, name, description, reason }
    }
}

/// Reports the problems of a skill. An error means that it cannot be listed, because an agent
/// could not tell its purpose.
pub(super) fn check_skill(document: &TaskDocument, notes: &mut Notes) -> Result<(), &'static str> {
    if field_text(document, "name").is_none() {
        let message = || {
            let name = &document.stem;
            format!(
                "skill missing required 'name' field: brief uses `{name}`, the name of its directory"
            )
        };
        notes.warn(document, Span::default(), rules::tasks::SKILL_WITHOUT_NAME, b"", message);
    }
    for (field, limit) in [("name", NAME_LENGTH), ("description", DESCRIPTION_LENGTH)] {
        let length = field_text(document, field).map_or(0, |text| text.chars().count());
        if length > limit {
            let span = document.field(field).map_or(Span::default(), Node::span);
            let message =
                || format!("skill '{field}' field must be 1-{limit} characters (got {length})");
            notes.warn(document, span, rules::tasks::SKILL_TOO_LONG, field.as_bytes(), message);
        }
    }
    if field_text(document, "description").is_none() {
        let problem = "skill missing required 'description' field";
        let message = || format!("the skill is not listed: {problem}");
        notes.warn(document, Span::default(), rules::tasks::SKILL_INVALID, b"", message);
        return Err(problem);
    }
    Ok(())
}

fn field_text<'d>(document: &'d TaskDocument, field: &str) -> Option<&'d str> {
    document.text(field).map(str::trim).filter(|text| !text.is_empty())
}
