//! Which files of a project are installed items: what `brief.lock` says about them.
//!
//! For names in an answer, and for which texts are copies of one. Nothing is trusted, written or removed because of it, so the
//! lines that the lock consists of are looked at one by one, and what is none of ours is passed by:
//! a lock with ten thousand files must not slow down a question.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::model::Kind;

/// The name of the lock.
pub(crate) const LOCK_NAME: &str = "brief.lock";

/// The installed files of a project.
#[derive(Debug, Default)]
pub struct Installed {
    files: HashMap<PathBuf, Piece>,
}

/// The item that a file belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// What it is.
    pub kind: Kind,
    /// Its name.
    pub name: String,
}

impl Installed {
    /// Returns whether nothing is installed.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Returns how many texts are installed.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Returns the item that a file belongs to.
    pub fn at(&self, path: &Path) -> Option<&Piece> {
        self.files.get(path)
    }

    /// Adds what the lock in a directory says.
    pub(crate) fn add(&mut self, directory: &Path, lock: &str) {
        let (mut kind, mut name) = (None, None);
        let mut lines = lock.lines();
        while let Some(line) = lines.next() {
            if line.starts_with("[[") {
                (kind, name) = (None, None);
            } else if let Some(text) = field(line, "kind") {
                kind = Kind::ALL.into_iter().find(|kind| kind.as_str() == text);
            } else if let Some(text) = field(line, "name") {
                name = Some(text);
            } else if line == "files = ["
                && let (Some(kind), Some(name)) = (kind, name)
            {
                for line in lines.by_ref().take_while(|line| *line != "]") {
                    // The path, and the SHA-256 after it. Guidance is text.
                    let text = line.trim().trim_start_matches('"');
                    let path = text.rsplit_once(' ').map(|(path, _)| path);
                    let Some(path) = path.filter(|path| is_text(path)) else { continue };
                    let piece = Piece { kind, name: name.to_owned() };
                    self.files.insert(directory.join(path), piece);
                }
            }
        }
    }
}

fn field<'l>(line: &'l str, name: &str) -> Option<&'l str> {
    line.strip_prefix(name)?.strip_prefix(" = \"")?.strip_suffix('"')
}

fn is_text(path: &str) -> bool {
    let extension = Path::new(path).extension();
    extension.is_some_and(|extension| extension == "md" || extension == "mdc")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_names_the_item_of_each_text() {
        let lock = "version = 1\n\n[[source]]\nname = \"acme\"\n\n[[item]]\nkind = \"skill\"\nname = \"pdf\"\n\
                    source = \"acme\"\nfiles = [\n    \".claude/skills/pdf/SKILL.md 0a\",\n    \
                    \".claude/skills/pdf/run.py 0b program\",\n]\n\n[[item]]\nkind = \"rule\"\nname = \"go\"\n\
                    files = [\n    \".claude/rules/go.md 0c\",\n]\n";
        let mut installed = Installed::default();
        installed.add(Path::new("/p"), lock);
        let piece = |kind, name: &str| Piece { kind, name: name.to_owned() };
        let at = |path: &str| installed.at(Path::new(path));
        assert_eq!(at("/p/.claude/skills/pdf/SKILL.md"), Some(&piece(Kind::Skill, "pdf")));
        assert_eq!(at("/p/.claude/rules/go.md"), Some(&piece(Kind::Rule, "go")));
        assert_eq!(at("/p/.claude/skills/pdf/run.py"), None);
    }

    #[test]
    fn what_is_no_lock_of_ours_says_nothing() {
        for lock in
            ["", "files = [", "[[item]]\nname = \"x\"\nfiles = [\n    \"a.md 1\",\n", "<<<<<<< x\n"]
        {
            let mut installed = Installed::default();
            installed.add(Path::new("/p"), lock);
            assert!(installed.is_empty(), "{lock}");
        }
    }
}
