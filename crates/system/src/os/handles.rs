//! Directory handles, where the system has them.

use std::cell::Cell;
#[cfg(target_os = "linux")]
use std::ffi::OsString;
use std::io::Write;
#[cfg(target_os = "linux")]
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
#[cfg(target_os = "linux")]
use std::path::PathBuf;

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
#[cfg(target_os = "linux")]
use rustix::fs::{CWD, ResolveFlags};

use super::{
    Access, Dir, DirEntry, DirPlace, File, FileContent, FileKind, OsStr, Path, Permission,
    ReadError, Resolved, StagedFile, Status, fs, io, kind_of, read_by_pieces, read_open, write,
};
#[cfg(target_os = "linux")]
use crate::Below;
use crate::STAGED;

struct OsDir {
    descriptor: OwnedFd,
    /// True if the directory was listed before, so that the next listing must go back.
    listed: Cell<bool>,
}

impl OsDir {
    fn from_descriptor(descriptor: OwnedFd) -> Box<dyn Dir> {
        Box::new(OsDir { descriptor, listed: Cell::new(false) })
    }

    fn open_file(&self, name: &OsStr) -> Result<OwnedFd, ReadError> {
        let flags = READ | OFlags::NOFOLLOW;
        match rustix::fs::openat(&self.descriptor, name, flags, Mode::empty()) {
            Ok(descriptor) => Ok(descriptor),
            Err(rustix::io::Errno::NOENT) => Err(ReadError::Missing),
            // A link, a socket, and what the user may not open all fail to open.
            Err(error) => match kind_at(self.descriptor.as_fd(), name) {
                Some(kind) if kind != FileKind::File => Err(ReadError::NotAFile(kind)),
                _ => Err(io::Error::from(error).into()),
            },
        }
    }
}

/// Non-blocking, so that a FIFO is opened (and then refused) instead of waited for.
const READ: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);
const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// Most context files are smaller than this.
const LISTED_BYTES: usize = 16 * 1024;

pub(super) fn open_dir(path: &Path) -> io::Result<Box<dyn Dir>> {
    Ok(OsDir::from_descriptor(rustix::fs::open(path, DIRECTORY, Mode::empty())?))
}

#[cfg(target_os = "linux")]
pub(super) fn probe_path(path: &Path) -> Below {
    look_from(CWD, path, ResolveFlags::empty())
}

#[cfg(target_os = "linux")]
fn look_from(directory: BorrowedFd<'_>, path: &Path, resolve: ResolveFlags) -> Below {
    use rustix::io::Errno;

    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let resolve = resolve | ResolveFlags::NO_SYMLINKS;
    match rustix::fs::openat2(directory, path, flags, Mode::empty(), resolve) {
        Ok(_) => Below::Directory,
        Err(Errno::NOTDIR) => Below::NotADirectory,
        Err(Errno::NOENT) => Below::Missing,
        Err(_) => Below::Unsure,
    }
}

/// A handle, and where the kernel says that it points.
#[cfg(target_os = "linux")]
pub(super) fn open_root(path: &Path) -> io::Result<(Box<dyn Dir>, PathBuf)> {
    let descriptor = rustix::fs::open(path, DIRECTORY, Mode::empty())?;
    let path = match path_of(&descriptor) {
        Some(path) => path,
        None => fs::canonicalize(path)?,
    };
    Ok((OsDir::from_descriptor(descriptor), path))
}

pub(super) fn open_dir_below(base: &Path, below: &Path) -> io::Result<Box<dyn Dir>> {
    // One name needs one call: only the last part of a path is opened without following.
    if below.components().count() == 1 {
        let path = base.join(below);
        let flags = DIRECTORY | OFlags::NOFOLLOW;
        return Ok(OsDir::from_descriptor(rustix::fs::open(path, flags, Mode::empty())?));
    }
    open_dir(base)?.open_dir_below(below)
}

pub(super) fn read(path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
    read_descriptor(rustix::fs::open(path, READ, Mode::empty()).map_err(io::Error::from)?, limit)
}

fn read_descriptor(descriptor: OwnedFd, limit: u64) -> Result<Vec<u8>, ReadError> {
    read_content(descriptor, limit).map(|content| content.bytes)
}

fn read_content(descriptor: OwnedFd, limit: u64) -> Result<FileContent, ReadError> {
    let (size, permission) = size_of(&descriptor)?;
    let bytes = read_open(&mut File::from(descriptor), size, limit)?;
    Ok(FileContent { bytes, permission })
}

/// Returns the size of a regular file, and whether it may be started.
fn size_of(descriptor: &OwnedFd) -> Result<(u64, Permission), ReadError> {
    let status = rustix::fs::fstat(descriptor).map_err(io::Error::from)?;
    match kind_of_type(FileType::from_raw_mode(status.st_mode)) {
        FileKind::File => {
            let permission = match status.st_mode & 0o111 {
                0 => Permission::Data,
                _ => Permission::Program,
            };
            Ok((u64::try_from(status.st_size).unwrap_or(0), permission))
        }
        other => Err(ReadError::NotAFile(other)),
    }
}

fn descriptor_of(directory: &dyn Dir) -> io::Result<BorrowedFd<'_>> {
    match directory.dir_place() {
        Some(DirPlace::Descriptor(descriptor)) => Ok(descriptor),
        _ => Err(io::ErrorKind::Unsupported.into()),
    }
}

impl Dir for OsDir {
    fn open_dir(&self, name: &OsStr) -> io::Result<Box<dyn Dir>> {
        let flags = DIRECTORY | OFlags::NOFOLLOW;
        Ok(OsDir::from_descriptor(rustix::fs::openat(
            &self.descriptor,
            name,
            flags,
            Mode::empty(),
        )?))
    }

    /// One call whatever the depth, where the kernel can promise what we need.
    #[cfg(target_os = "linux")]
    fn open_dir_below(&self, path: &Path) -> io::Result<Box<dyn Dir>> {
        use rustix::io::Errno;

        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        match rustix::fs::openat2(&self.descriptor, path, DIRECTORY, Mode::empty(), resolve) {
            Ok(descriptor) => Ok(OsDir::from_descriptor(descriptor)),
            // Older kernels and some sandboxes do not have the call; a rename nearby or a
            // path longer than one call takes ends it early.
            Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN | Errno::NAMETOOLONG) => {
                let mut names = path.iter();
                let first = names.next().ok_or(io::ErrorKind::InvalidInput)?;
                names.try_fold(self.open_dir(first)?, |handle, name| handle.open_dir(name))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn read(&self, name: &OsStr, limit: u64) -> Result<Vec<u8>, ReadError> {
        self.read_file(name, limit).map(|content| content.bytes)
    }

    #[cfg(target_os = "linux")]
    fn read_below(&self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        match rustix::fs::openat2(&self.descriptor, path, READ, Mode::empty(), resolve) {
            Ok(descriptor) => read_descriptor(descriptor, limit),
            Err(rustix::io::Errno::NOENT) => Err(ReadError::Missing),
            // A link, or a kernel without the call: step by step shows which.
            Err(_) => {
                let name = path.file_name().ok_or(ReadError::Missing)?;
                self.open_dir_below(path.parent().unwrap_or(path))?.read(name, limit)
            }
        }
    }

    fn make_dir(&self, name: &OsStr) -> io::Result<Box<dyn Dir>> {
        write::make_dir(self.descriptor.as_fd(), name)?;
        self.open_dir(name)
    }

    fn stage_file(&self, access: Access) -> io::Result<Box<dyn StagedFile>> {
        Ok(Box::new(write::stage_file(self.descriptor.as_fd(), access)?))
    }

    fn create_file(&self, name: &OsStr, permission: Permission) -> io::Result<Box<dyn Write>> {
        let descriptor = write::create_file(self.descriptor.as_fd(), name, permission.into())?;
        Ok(Box::new(File::from(descriptor)))
    }

    fn take_file(&self, from: &dyn Dir, name: &OsStr, target: &OsStr) -> io::Result<()> {
        let from = descriptor_of(from)?;
        Ok(rustix::fs::renameat(from, name, &self.descriptor, target)?)
    }

    fn take_new_file(&self, from: &dyn Dir, name: &OsStr, target: &OsStr) -> io::Result<()> {
        write::take_new((descriptor_of(from)?, name), (self.descriptor.as_fd(), target))
    }

    #[cfg(target_os = "linux")]
    fn exchange_file(&self, from: &dyn Dir, name: &OsStr, target: &OsStr) -> io::Result<()> {
        write::exchange_files((descriptor_of(from)?, name), (self.descriptor.as_fd(), target))
    }

    fn share_permissions(&self, to: &dyn Dir, name: &OsStr, model: &OsStr) -> io::Result<()> {
        write::share_permissions((self.descriptor.as_fd(), model), (descriptor_of(to)?, name))
    }

    fn dir_place(&self) -> Option<DirPlace<'_>> {
        Some(DirPlace::Descriptor(self.descriptor.as_fd()))
    }

    fn status(&self, name: &OsStr) -> io::Result<Status> {
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        let status = rustix::fs::statat(&self.descriptor, name, flags)?;
        Ok(Status {
            kind: kind_of_type(FileType::from_raw_mode(status.st_mode)),
            size: u64::try_from(status.st_size).unwrap_or(0),
        })
    }

    fn sync_directory(&self) -> io::Result<()> {
        write::sync_directory(self.descriptor.as_fd())
    }

    fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.descriptor, name, AtFlags::empty())?)
    }

    fn remove_empty_dir(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.descriptor, name, AtFlags::REMOVEDIR)?)
    }

    fn read_file(&self, name: &OsStr, limit: u64) -> Result<FileContent, ReadError> {
        read_content(self.open_file(name)?, limit)
    }

    fn read_pieces(
        &self,
        name: &OsStr,
        limit: u64,
        piece: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<Permission, ReadError> {
        let descriptor = self.open_file(name)?;
        let (size, permission) = size_of(&descriptor)?;
        read_by_pieces(&mut File::from(descriptor), size, limit, piece)?;
        Ok(permission)
    }

    fn read_listed(&self, name: &OsStr, limit: u64) -> Result<Vec<u8>, ReadError> {
        let flags = READ | OFlags::NOFOLLOW;
        let Ok(descriptor) = rustix::fs::openat(&self.descriptor, name, flags, Mode::empty())
        else {
            return self.read(name, limit);
        };
        // Of a regular file, a read that does not fill its buffer has reached the end. What was
        // put in its place since the listing ends at once, because nothing here waits.
        let mut bytes = Vec::with_capacity(LISTED_BYTES);
        let count = rustix::io::read(&descriptor, rustix::buffer::spare_capacity(&mut bytes))
            .map_err(io::Error::from)?;
        if count == bytes.capacity() || count as u64 > limit {
            return self.read(name, limit);
        }
        Ok(bytes)
    }

    #[cfg(target_os = "linux")]
    fn look_below(&self, path: &Path) -> Below {
        look_from(self.descriptor.as_fd(), path, ResolveFlags::BENEATH)
    }

    fn first_entries(&self, limit: usize) -> io::Result<Vec<DirEntry>> {
        let mut entries = Vec::new();
        if self.listed.replace(true) {
            rustix::fs::seek(&self.descriptor, rustix::fs::SeekFrom::Start(0))?;
        }
        list(&self.descriptor, |name, file_type| {
            if name == "." || name == ".." {
                return true;
            }
            // Unfinished files are hidden from other accounts, and so are their remains.
            if name == STAGED && file_type != FileType::Directory {
                return true;
            }
            let kind = match file_type {
                // Some file systems do not say in the listing.
                FileType::Unknown => {
                    kind_at(self.descriptor.as_fd(), name).unwrap_or(FileKind::Other)
                }
                known => kind_of_type(known),
            };
            entries.push(DirEntry { name: name.to_owned(), kind });
            entries.len() < limit
        })?;
        Ok(entries)
    }
}

/// Lists through the held handle itself, from where it stands, until the visitor has enough.
#[cfg(target_os = "linux")]
fn list(directory: &OwnedFd, mut visitor: impl FnMut(&OsStr, FileType) -> bool) -> io::Result<()> {
    let mut buffer = [MaybeUninit::uninit(); 8 * 1024];
    let mut names = rustix::fs::RawDir::new(directory, &mut buffer);
    while let Some(entry) = names.next() {
        let entry = entry?;
        if !visitor(OsStr::from_bytes(entry.file_name().to_bytes()), entry.file_type()) {
            break;
        }
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn list(directory: &OwnedFd, mut visitor: impl FnMut(&OsStr, FileType) -> bool) -> io::Result<()> {
    for entry in rustix::fs::Dir::read_from(directory)? {
        let entry = entry?;
        if !visitor(OsStr::from_bytes(entry.file_name().to_bytes()), entry.file_type()) {
            break;
        }
    }
    Ok(())
}

fn kind_at(directory: BorrowedFd<'_>, name: &OsStr) -> Option<FileKind> {
    let status = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    Some(kind_of_type(FileType::from_raw_mode(status.st_mode)))
}

fn kind_of_type(file_type: FileType) -> FileKind {
    match file_type {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Directory,
        FileType::Symlink => FileKind::Link,
        _ => FileKind::Other,
    }
}

pub(super) fn resolve(path: &Path) -> io::Result<Resolved> {
    #[cfg(target_os = "linux")]
    if let Some(resolved) = resolve_by_kernel(path)? {
        return Ok(resolved);
    }
    let path = fs::canonicalize(path)?;
    let kind = kind_of(fs::symlink_metadata(&path)?.file_type());
    Ok(Resolved { path, kind })
}

/// Asks the kernel where a handle points, which costs three calls whatever the depth;
/// `realpath` costs one per component, each as long as the path so far. `None` where `/proc`
/// cannot tell.
#[cfg(target_os = "linux")]
fn resolve_by_kernel(path: &Path) -> io::Result<Option<Resolved>> {
    let handle = rustix::fs::openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    let Some(path) = path_of(&handle) else { return Ok(None) };
    let status = rustix::fs::fstat(&handle)?;
    let kind = kind_of_type(FileType::from_raw_mode(status.st_mode));
    Ok(Some(Resolved { path, kind }))
}

/// As [`resolve`], where only a directory will do: opening it as one tells its kind.
#[cfg(target_os = "linux")]
pub(super) fn resolve_dir(path: &Path) -> io::Result<PathBuf> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let handle = rustix::fs::openat(CWD, path, flags, Mode::empty())?;
    match path_of(&handle) {
        Some(path) => Ok(path),
        None => fs::canonicalize(path),
    }
}

/// Returns where a handle points; `None` where `/proc` cannot tell.
#[cfg(target_os = "linux")]
fn path_of(handle: &OwnedFd) -> Option<PathBuf> {
    use std::os::fd::AsRawFd;

    let link = format!("/proc/self/fd/{}", handle.as_raw_fd());
    let target = rustix::fs::readlinkat(CWD, link, Vec::with_capacity(512)).ok()?.into_bytes();
    // A directory that was removed meanwhile is reported under a name that it does not have.
    if !target.starts_with(b"/") || target.ends_with(b" (deleted)") {
        return None;
    }
    Some(PathBuf::from(OsString::from(OsStr::from_bytes(&target))))
}
