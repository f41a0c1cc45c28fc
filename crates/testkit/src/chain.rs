//! Directories nested deeper than any path can name.

use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, open, openat, unlinkat};

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Nested directories called `d`, removed on drop.
///
/// They are made and removed from handle to handle, because no path to the innermost is short enough, and the
/// removal of a temporary directory would hold a handle for each level.
pub struct Chain {
    innermost: Option<OwnedFd>,
    depth: usize,
    file: &'static str,
}

impl Chain {
    /// Nests `depth` directories in `directory`, and puts a file into the innermost.
    pub fn new(directory: &Path, depth: usize, file: &'static str, content: &str) -> Chain {
        let innermost = nest_directories(directory, depth);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC;
        let written = openat(&innermost, file, flags, Mode::RUSR | Mode::WUSR);
        let written = written.expect("a file can be made");
        rustix::io::write(written, content.as_bytes()).expect("the file can be written");
        Chain { innermost: Some(innermost), depth, file }
    }

    /// Returns the path of the innermost directory, relative to the start of the chain.
    pub fn path(&self) -> String {
        vec!["d"; self.depth].join("/")
    }
}

/// Nests `depth` directories in `directory`, and returns the innermost.
pub(crate) fn nest_directories(directory: &Path, depth: usize) -> OwnedFd {
    let start = open(directory, DIRECTORY, Mode::empty()).expect("the directory exists");
    (0..depth).fold(start, |handle, _| {
        mkdirat(&handle, "d", Mode::RWXU).expect("a directory can be made");
        openat(&handle, "d", DIRECTORY, Mode::empty()).expect("the directory exists")
    })
}

impl Drop for Chain {
    fn drop(&mut self) {
        let Some(mut handle) = self.innermost.take() else { return };
        let mut removed = unlinkat(&handle, self.file, AtFlags::empty());
        for _ in 0..self.depth {
            let Ok(above) = openat(&handle, "..", DIRECTORY, Mode::empty()) else { return };
            removed = removed.and(unlinkat(&above, "d", AtFlags::REMOVEDIR));
            handle = above;
        }
        assert!(removed.is_ok() || std::thread::panicking(), "the chain can be removed");
    }
}
