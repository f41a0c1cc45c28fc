//! The script beside a rule: a file of its search root that the user may execute.

use std::path::Path;

use brief_syntax::system::{FileKind, System};

use super::model::Document;

/// Why a script cannot be started.
pub(super) struct Obstacle {
    /// What is wrong, in words that go on after "the script".
    pub(super) problem: String,
    /// What to do about it.
    pub(super) help: Option<String>,
}

/// Returns what keeps the script of a rule from being started.
pub(super) fn obstacle(system: &dyn System, rule: &Document, path: &Path) -> Option<Obstacle> {
    let because = |problem: String| Some(Obstacle { problem, help: None });
    match system.resolve(path) {
        Err(error) => because(format!("cannot be found: {error}")),
        Ok(resolved) if resolved.kind != FileKind::File => {
            because(format!("is {}", resolved.kind.noun()))
        }
        Ok(resolved) if !resolved.path.starts_with(&rule.root) => {
            because("is a symbolic link that leaves its directory".to_owned())
        }
        // What came over a network is copied before it runs.
        Ok(resolved) => match system.is_executable(&resolved.path) {
            Ok(true) => None,
            Ok(false) => Some(Obstacle {
                problem: "is not executable".to_owned(),
                help: Some(format!("run `chmod +x {}`", path.display())),
            }),
            Err(error) => because(format!("cannot be looked at: {error}")),
        },
    }
}
