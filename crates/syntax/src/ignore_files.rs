//! The rules by which version control ignores files.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::limits;
use crate::project::Root;
use brief_system::Files;

/// The `.gitignore` files of a project, each read once.
pub struct IgnoreFiles<'s> {
    files: &'s dyn Files,
    root: &'s Root,
    /// The rules of each directory that was asked about.
    rules: RefCell<HashMap<PathBuf, Option<Rc<Gitignore>>>>,
}

impl<'s> IgnoreFiles<'s> {
    /// Reads nothing yet.
    pub fn new(files: &'s dyn Files, root: &'s Root) -> IgnoreFiles<'s> {
        IgnoreFiles { files, root, rules: RefCell::default() }
    }

    /// Returns whether version control ignores a path below the root, existing or not.
    pub fn is_ignored(&self, below: &Path) -> bool {
        let mut above: Vec<Rc<Gitignore>> = Vec::new();
        let mut path = self.root.path().to_owned();
        let mut names = below.iter().peekable();
        while let Some(name) = names.next() {
            above.extend(self.rules_in(&path));
            path.push(name);
            let is_directory = names.peek().is_some();
            let decided = above.iter().rev().find_map(|rules| {
                // The last name may be that of either.
                find_ignore_verdict(rules, &path, is_directory)
                    .or_else(|| find_ignore_verdict(rules, &path, true))
            });
            if decided == Some(true) {
                return true;
            }
        }
        false
    }

    fn rules_in(&self, directory: &Path) -> Option<Rc<Gitignore>> {
        if let Some(known) = self.rules.borrow().get(directory) {
            return known.clone();
        }
        let bytes = self.files.read(&directory.join(".gitignore"), limits::FILE_BYTES).ok();
        let rules = bytes.and_then(|bytes| parse_rules(directory, &bytes)).map(Rc::new);
        self.rules.borrow_mut().insert(directory.to_owned(), rules.clone());
        rules
    }
}

/// Returns whether a file of rules ignores a path; `None` if no rule of it matches.
pub(crate) fn find_ignore_verdict(
    rules: &Gitignore,
    path: &Path,
    is_directory: bool,
) -> Option<bool> {
    match rules.matched(path, is_directory) {
        Match::Ignore(_) => Some(true),
        Match::Whitelist(_) => Some(false),
        Match::None => None,
    }
}

/// Reads the rules of a directory; `None` if they cannot be used.
pub(crate) fn parse_rules(directory: &Path, bytes: &[u8]) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new(directory);
    for line in String::from_utf8_lossy(bytes).lines() {
        // Like git, this skips an invalid line.
        let _ = builder.add_line(None, line);
    }
    builder.build().ok()
}
