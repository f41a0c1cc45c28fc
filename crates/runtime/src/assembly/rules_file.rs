//! The writer of rules in a file that an agent reads (ruling T10): between our markers, beside the
//! user's text.

use std::io;

use brief_dialects::tasks::{self, CodingAgent, HandEdits, Placed, Prompt};
use brief_syntax::limits;
use brief_system::{ReadError, resolve_existing, resolved_home};

use super::PromptAssembly;

/// The file that rules are written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RulesFile {
    /// A file of the project, for the project's rules.
    Project,
    /// The user's own file, which holds in every project.
    Home,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenRules {
    pub count: usize,
    /// The file as people write it, below the project or `~`.
    pub file: String,
}

/// Rules that were not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RulesFileError {
    /// The user's own file was wanted, and there is no home directory.
    #[error("no home directory to write the rules to")]
    NoHome,
    /// The file is a link out of the project.
    #[error("{file} points outside the project")]
    Outside { file: String },
    /// The file cannot be read.
    #[error("cannot read {file}: {error}")]
    Unreadable { file: String, error: ReadError },
    /// Our part of the file was changed by hand.
    #[error("{file} contains rules of brief that were edited by hand")]
    EditedByHand { file: String },
    /// The file cannot be written.
    #[error("cannot write {file}: {error}")]
    NotWritten {
        file: String,
        /// The error of the system.
        error: io::Error,
    },
}

impl PromptAssembly<'_> {
    /// Writes the rules of a prompt into a file that the agent reads. `None` if the file has them already.
    pub fn write_rules(
        &self,
        agent: CodingAgent,
        prompt: &Prompt,
        place: RulesFile,
        edits: HandEdits,
    ) -> Result<Option<WrittenRules>, RulesFileError> {
        let system = self.system;
        let (directory, name, file, beginning) = match place {
            RulesFile::Project => {
                let (name, beginning) = agent.project_rules();
                (self.root.path().to_owned(), name, name.to_owned(), beginning)
            }
            RulesFile::Home => {
                let home = resolved_home(system).ok_or(RulesFileError::NoHome)?;
                (home, agent.user_rules(), format!("~/{}", agent.user_rules()), "")
            }
        };
        // A link of the user stays; its target is written.
        let path = resolve_existing(system, &directory.join(name)).path;
        if place == RulesFile::Project && !path.starts_with(&directory) {
            return Err(RulesFileError::Outside { file });
        }
        let before = match system.read(&path, limits::FILE_BYTES) {
            Ok(bytes) => bytes,
            Err(ReadError::Missing) => beginning.as_bytes().to_vec(),
            Err(error) => return Err(RulesFileError::Unreadable { file, error }),
        };
        let (content, count) = prompt.rules_file(&path);
        match tasks::update_managed_block(&before, &content, edits) {
            Placed::Unchanged => Ok(None),
            Placed::EditedByHand => Err(RulesFileError::EditedByHand { file }),
            Placed::New(new) => {
                let made = path.parent().map_or(Ok(()), |directory| system.create_dir(directory));
                match made.and_then(|()| system.replace_file(&path, &new)) {
                    Ok(()) => Ok(Some(WrittenRules { count, file })),
                    Err(error) => Err(RulesFileError::NotWritten { file, error }),
                }
            }
        }
    }
}
