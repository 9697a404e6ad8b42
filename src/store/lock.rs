//! One `serve` at a time on a SQLite file.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::StoreError;
use crate::config::{Database, DatabaseUrl};

/// Held by `serve` for as long as it runs; released when it is dropped, or by the system if the process dies.
#[derive(Debug)]
pub struct ServeLock(#[expect(dead_code, reason = "its lock lasts as long as it is open")] Option<File>);

/// Takes the right to serve from this database. Any number of gateways may share a PostgreSQL; a SQLite file belongs
/// to one, and the other commands open it beside that one. However many symbolic links lead to the file, its lock file
/// is one: it stands beside the file itself.
///
/// A database file that others may read, made by an earlier version or by another tool, is closed to them (mode 0600,
/// like those that hookgate makes), with what SQLite keeps beside it; if that is not ours to change, a line in the log
/// says so.
///
/// # Errors
/// [`StoreError::InUse`] if another process serves from it.
pub fn lock_for_serving(database: &Database) -> Result<ServeLock, StoreError> {
    let DatabaseUrl::Sqlite(path) = &database.url else { return Ok(ServeLock(None)) };
    let path =
        real_path(path).map_err(|error| StoreError::Unavailable(format!("{}: {error}", path.display())))?;
    let lock = beside(&path, ".lock");
    let unavailable = |error: io::Error| StoreError::Unavailable(format!("{}: {error}", lock.display()));
    let file = private().truncate(false).open(&lock).map_err(unavailable)?;
    match file.try_lock() {
        Ok(()) => {
            for suffix in ["", "-wal", "-shm"] {
                close_to_others(&beside(&path, suffix));
            }
            Ok(ServeLock(Some(file)))
        }
        Err(TryLockError::WouldBlock) => Err(StoreError::InUse { lock }),
        Err(TryLockError::Error(error)) => Err(unavailable(error)),
    }
}

/// The file behind all links, also where it does not exist yet.
fn real_path(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    // As many links as Linux follows; `canonicalize` wants a file that exists.
    for _ in 0..40 {
        let Ok(target) = fs::read_link(&path) else { break };
        path = folder(&path).join(target);
    }
    let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    Ok(fs::canonicalize(folder(&path))?.join(name))
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(suffix);
    path.into()
}

#[cfg(unix)]
fn close_to_others(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;

    let Ok(found) = fs::metadata(path) else { return };
    let mode = found.permissions().mode() & 0o777;
    let others = 0o077;
    if mode & others == 0 {
        return;
    }
    let (file, mode) = (path.display(), format!("{mode:04o}"));
    match fs::set_permissions(path, fs::Permissions::from_mode(0o600)) {
        Ok(()) => tracing::warn!(%file, was = mode, "store.closed_to_others"),
        Err(error) => tracing::warn!(%file, mode, %error, "store.open_to_others"),
    }
}

#[cfg(not(unix))]
fn close_to_others(_: &Path) {}

/// How our files are made: nobody else may read them, whatever the umask.
pub(super) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
