//! The writer of rules in a file that an agent reads (ruling T10): between our markers, beside the
//! user's text.

use brief_engine::tasks::{self, CodingAgent, HandEdits, Placed, Prompt};
use brief_syntax::limits;
use brief_syntax::project::resolve_existing;
use brief_syntax::system::ReadError;

use super::roots::home;
use crate::error::CommandError;
use crate::session::Session;
use crate::ui::Ui;

/// The file that rules are written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RulesFile {
    /// A file of the project, for the project's rules.
    Project,
    /// The user's own file, which holds in every project.
    Home,
}

/// Writes the rules of a prompt into a file that the agent reads.
pub(crate) fn write_rules(
    ui: &mut Ui,
    session: &Session,
    agent: CodingAgent,
    prompt: &Prompt,
    place: RulesFile,
    edits: HandEdits,
) -> Result<(), CommandError> {
    let system = session.system();
    let (directory, name, shown, beginning) = match place {
        RulesFile::Project => {
            let (name, beginning) = agent.project_rules();
            (session.root()?.path().to_owned(), name, name.to_owned(), beginning)
        }
        RulesFile::Home => {
            let home = home(session).ok_or_else(|| {
                CommandError::refused("there is no home directory to write the rules to")
                    .with_hint("set `HOME`")
            })?;
            (home, agent.user_rules(), format!("~/{}", agent.user_rules()), "")
        }
    };
    let refused = |problem: &str| CommandError::refused(format!("{shown} {problem}"));
    // A link of the user stays; its target is written.
    let path = resolve_existing(system, &directory.join(name)).path;
    if place == RulesFile::Project && !path.starts_with(&directory) {
        return Err(refused("leads out of the project"));
    }
    let file = match system.read(&path, limits::FILE_BYTES) {
        Ok(bytes) => bytes,
        Err(ReadError::Missing) => beginning.as_bytes().to_vec(),
        Err(error) => return Err(refused(&format!("cannot be read: {error}"))),
    };
    let (content, count) = prompt.rules_file(&path);
    match tasks::place(&file, &content, edits) {
        Placed::Unchanged => Ok(()),
        Placed::EditedByHand => Err(refused("holds rules of ours that were edited by hand")
            .with_hint("move your text out of the marked block, or use `--force`")),
        Placed::New(new) => {
            let written = match path.parent() {
                Some(directory) => system.create_dir(directory),
                None => Ok(()),
            };
            written
                .and_then(|()| system.replace_file(&path, &new))
                .map_err(|error| refused(&format!("cannot be written: {error}")))?;
            let rules = if count == 1 { "rule" } else { "rules" };
            ui.status(&format!("wrote {count} {rules} to {shown}"))?;
            Ok(())
        }
    }
}
