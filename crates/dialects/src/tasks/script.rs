//! The script beside a rule: an executable file in its search root.

use std::path::Path;

use brief_system::{FileKind, System};

use super::model::TaskDocument;

/// The reason why a script cannot be started.
pub(super) struct Obstacle {
    /// The problem, in words that follow "the script".
    pub(super) problem: String,
    pub(super) help: Option<String>,
}

/// Returns the reason why the script of a rule cannot be started.
pub(super) fn find_script_obstacle(
    system: &dyn System,
    rule: &TaskDocument,
    path: &Path,
) -> Option<Obstacle> {
    let because = |problem: String| Some(Obstacle { problem, help: None });
    match system.resolve(path) {
        Err(error) => because(format!("cannot be found: {error}")),
        Ok(resolved) if resolved.kind != FileKind::File => {
            because(format!("is {}", resolved.kind.noun()))
        }
        Ok(resolved) if !resolved.path.starts_with(&rule.root) => {
            because("is a symbolic link that leaves its directory".to_owned())
        }
        // A file from a network is copied before it runs.
        Ok(resolved) => match system.is_executable(&resolved.path) {
            Ok(true) => None,
            Ok(false) => Some(Obstacle {
                problem: "is not executable".to_owned(),
                help: Some(format!("run `chmod +x {}`", path.display())),
            }),
            Err(error) => because(format!("cannot be inspected: {error}")),
        },
    }
}
