//! The directories and files of a project that are reported on.

use std::ffi::OsString;
use std::path::Path;

use brief_dialects::{ProjectFiles, is_in_dependency};
use brief_syntax::{Root, Target, TargetKind};

use super::UncheckedPath;
use brief_engine::Catalog;
use brief_engine::Project;

/// A part of a project that is reported on.
#[derive(Debug)]
pub(super) struct Part {
    /// The directory, with all below it.
    pub(super) directory: Target,
    /// One file in it, by the name that was asked for: findings name it, also when it is a link.
    pub(super) file: Option<OsString>,
}

impl Part {
    /// Finds the directory or file with a path, which must exist in the project.
    pub(super) fn from_path(project: &Project<'_>, path: &Path) -> Result<Part, UncheckedPath> {
        let locate = |path: &Path| project.locate(path).ok_or(UncheckedPath::Outside);
        let directory = locate(path)?;
        if project.system().resolve(&project.directory().join(path)).is_err() {
            return Err(UncheckedPath::Missing);
        }
        if directory.kind() != TargetKind::File {
            return Ok(Part { directory, file: None });
        }
        let above = path.parent().filter(|above| !above.as_os_str().is_empty());
        let directory = locate(above.unwrap_or(Path::new(".")))?;
        Ok(Part { directory, file: path.file_name().map(OsString::from) })
    }

    /// Returns whether all of another part belongs to this one.
    pub(super) fn holds_part(&self, other: &Part) -> bool {
        let (directory, inner) = (self.directory.slashed(), other.directory.slashed());
        match &self.file {
            Some(_) => self.file == other.file && directory == inner,
            None => Path::new(inner).starts_with(directory),
        }
    }

    /// Returns whether a path below `root` belongs to the part.
    pub(super) fn contains_path(&self, root: &Root, path: &Path) -> bool {
        let directory = root.path().join(self.directory.slashed());
        match &self.file {
            Some(name) => path == directory.join(name),
            None => path.starts_with(directory),
        }
    }
}

/// Returns whether the whole project was read without a part: version control ignores it, a dependency has brought it, a
/// directory above it cannot be listed, or the whole is not a project. A user who names it wants to know about it nevertheless.
pub(super) fn is_left_out(part: &Part, catalog: &Catalog) -> bool {
    let directory = part.directory.slashed();
    let is_listed = |files: &ProjectFiles| {
        files.directories.binary_search_by(|known| known.as_str().cmp(directory)).is_ok()
    };
    !directory.is_empty()
        && (is_in_dependency(directory)
            || catalog.is_no_project()
            || !catalog.files().is_some_and(is_listed))
}
