//! Directory handles where the system has none: by path, checking for links first.

use super::{
    Access, Dir, DirEntry, DirPlace, File, FileContent, FileKind, OsStr, Path, PathBuf, Permission,
    ReadError, Resolved, StagedFile, Status, fs, io, kind_of, read_by_pieces, read_open,
};
use crate::STAGED;

struct PathDir(PathBuf);

pub(super) fn open_dir(path: &Path) -> io::Result<Box<dyn Dir>> {
    if fs::metadata(path)?.is_dir() {
        Ok(Box::new(PathDir(path.to_owned())))
    } else {
        Err(io::ErrorKind::NotADirectory.into())
    }
}

pub(super) fn read(path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(ReadError::NotAFile(kind_of(metadata.file_type())));
    }
    read_open(&mut File::open(path)?, metadata.len(), limit)
}

impl StagedFile for File {
    fn sync_content(&mut self) -> io::Result<()> {
        self.sync_all()
    }
}

impl Dir for PathDir {
    fn open_dir(&self, name: &OsStr) -> io::Result<Box<dyn Dir>> {
        let path = self.0.join(name);
        if fs::symlink_metadata(&path)?.is_dir() {
            Ok(Box::new(PathDir(path)))
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }

    fn read(&self, name: &OsStr, limit: u64) -> Result<Vec<u8>, ReadError> {
        let path = self.0.join(name);
        match kind_of(fs::symlink_metadata(&path)?.file_type()) {
            FileKind::File => read(&path, limit),
            other => Err(ReadError::NotAFile(other)),
        }
    }

    fn make_dir(&self, name: &OsStr) -> io::Result<Box<dyn Dir>> {
        match fs::create_dir(self.0.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => self.open_dir(name),
        }
    }

    fn read_pieces(
        &self,
        name: &OsStr,
        limit: u64,
        piece: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<Permission, ReadError> {
        let path = self.0.join(name);
        let metadata = fs::symlink_metadata(&path)?;
        match kind_of(metadata.file_type()) {
            FileKind::File => {
                read_by_pieces(&mut File::open(path)?, metadata.len(), limit, piece)?;
                Ok(Permission::Data)
            }
            other => Err(ReadError::NotAFile(other)),
        }
    }

    fn stage_file(&self, _: Access) -> io::Result<Box<dyn StagedFile>> {
        let path = self.0.join(STAGED);
        loop {
            match File::create_new(&path) {
                Ok(staged) => {
                    staged.lock()?;
                    return Ok(Box::new(staged));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    File::open(&path)?.lock()?;
                    fs::remove_file(&path)?;
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn create_file(&self, name: &OsStr, _: Permission) -> io::Result<Box<dyn io::Write>> {
        Ok(Box::new(File::create_new(self.0.join(name))?))
    }

    fn take_file(&self, from: &dyn Dir, name: &OsStr, target: &OsStr) -> io::Result<()> {
        let Some(DirPlace::Path(from)) = from.dir_place() else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        fs::rename(from.join(name), self.0.join(target))
    }

    fn take_new_file(&self, from: &dyn Dir, name: &OsStr, target: &OsStr) -> io::Result<()> {
        match fs::symlink_metadata(self.0.join(target)) {
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => self.take_file(from, name, target),
        }
    }

    fn dir_place(&self) -> Option<DirPlace<'_>> {
        Some(DirPlace::Path(&self.0))
    }

    fn status(&self, name: &OsStr) -> io::Result<Status> {
        let metadata = fs::symlink_metadata(self.0.join(name))?;
        Ok(Status { kind: kind_of(metadata.file_type()), size: metadata.len() })
    }

    fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    fn remove_empty_dir(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_dir(self.0.join(name))
    }

    fn first_entries(&self, limit: usize) -> io::Result<Vec<DirEntry>> {
        fs::read_dir(&self.0)?
            .filter(|entry| !entry.as_ref().is_ok_and(|entry| entry.file_name() == STAGED))
            .take(limit)
            .map(|entry| {
                let entry = entry?;
                Ok(DirEntry { name: entry.file_name(), kind: kind_of(entry.file_type()?) })
            })
            .collect()
    }
}

pub(super) fn resolve(path: &Path) -> io::Result<Resolved> {
    let path = fs::canonicalize(path)?;
    let kind = kind_of(fs::metadata(&path)?.file_type());
    Ok(Resolved { path, kind })
}
