//! The paths of outputs, with the item's name in them.

use brief_profiles::{BUILTIN, ClientPlace, Form};

/// The place of the item's name.
const NAME: &str = "{name}";

/// Directories that belong to version control, and our own.
const RESERVED: [&str; 5] = [".git", ".hg", ".svn", ".jj", ".brief"];

/// Says what is wrong with a relative path with `/`; `None` when nothing is.
pub(super) fn find_path_problem(text: &str) -> Option<&'static str> {
    if text.contains(['\\', ':', '*', '?', '"', '<', '>', '|'])
        || text.chars().any(char::is_control)
    {
        return Some("contains a character that some systems do not allow in file names");
    }
    if text.split('/').any(|name| matches!(name, "" | "." | "..")) {
        return Some("is not a plain relative path");
    }
    let is_reserved = |name: &str| RESERVED.iter().any(|own| name.eq_ignore_ascii_case(own));
    text.split('/')
        .any(is_reserved)
        .then_some("points into a directory of version control or of brief")
}

/// A path below the output directory with the item's name in it, such as `.claude/rules/{name}.md`. The default is no
/// path, for a layout that is still read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Template(String);

impl Template {
    /// Reads a template; the error says what is wrong with it.
    ///
    /// Every output lies in a directory that begins with a dot: there no source is looked for, so what
    /// was written is never taken for something to compile.
    pub fn new(text: &str) -> Result<Template, &'static str> {
        if text.matches(NAME).count() == 0 {
            return Err("lacks `{name}`, so all items would share one file");
        }
        if text.replace(NAME, "").contains(['{', '}']) {
            return Err("has an unknown placeholder; only `{name}` is supported");
        }
        if let Some(problem) = find_path_problem(text) {
            return Err(problem);
        }
        match text.split_once('/') {
            Some((first, _)) if first.starts_with('.') && !first.contains(NAME) => {
                Ok(Template(text.to_owned()))
            }
            _ => Err("must begin with a directory such as `.claude`"),
        }
    }

    /// Returns the path, with `{name}`.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Returns the path for an item.
    pub fn fill(&self, name: &str) -> String {
        // A brace is that of `{name}`. Thousands of paths are filled in, so that a search for a text costs too much.
        let mut path = String::with_capacity(self.0.len() + 2 * name.len());
        let mut rest = self.0.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            path.push_str(before);
            path.push_str(name);
            rest = after.strip_prefix("name}").unwrap_or(after);
        }
        path.push_str(rest);
        path
    }

    /// Returns the form of files there, as far as clients say.
    pub(super) fn find_form(&self) -> Option<Form> {
        let holds = |place: &&ClientPlace| {
            self.0.strip_prefix(&*place.path).is_some_and(|rest| rest.starts_with('/'))
        };
        let places = BUILTIN.project.iter().filter(holds);
        places.max_by_key(|place| place.path.len()).map(|place| place.form)
    }

    /// Returns the name of the item whose path this is.
    pub fn name_in<'p>(&self, path: &'p str) -> Option<&'p str> {
        let (before, rest) = self.0.split_once(NAME)?;
        let filled = path.strip_prefix(before)?;
        let after = rest.split(NAME).next().unwrap_or_default();
        // A name has no `/`; what follows it says where it ends.
        let end = filled.find('/').unwrap_or(filled.len());
        let name = match after.split_once('/') {
            Some((ending, _)) => filled[..end].strip_suffix(ending),
            None => filled.strip_suffix(after),
        };
        name.filter(|name| !name.is_empty() && !name.contains('/') && self.fill(name) == path)
    }

    /// Returns whether a path is that of some item.
    pub fn matches(&self, path: &str) -> bool {
        self.name_in(path).is_some()
    }

    /// Returns whether a path lies in the directory of some item, which this names.
    pub fn is_above(&self, path: &str) -> bool {
        let names = self.0.split('/').count();
        match path.match_indices('/').nth(names - 1) {
            Some((end, _)) => self.matches(&path[..end]),
            None => false,
        }
    }

    /// Returns whether a path lies in the directory that the file of some item lies in.
    pub fn is_beside(&self, path: &str) -> bool {
        let directory = self.0.rsplit_once('/').filter(|(directory, _)| directory.contains(NAME));
        directory.is_some_and(|(directory, _)| Template(directory.to_owned()).is_above(path))
    }

    /// Returns whether each item has a directory of its own.
    pub(super) fn has_own_directory(&self) -> bool {
        self.0.rsplit('/').skip(1).any(|directory| directory.contains(NAME))
    }

    /// Returns whether the last name on the path is the item's own.
    pub(super) fn ends_in_name(&self) -> bool {
        self.0.rsplit('/').next().is_some_and(|last| last.contains(NAME))
    }
}
