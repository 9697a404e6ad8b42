//! One `serve` at a time on a SQLite file.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::PathBuf;

use super::StoreError;
use crate::config::{Database, DatabaseUrl};

/// Held by `serve` for as long as it runs; released when it is dropped, or by the system if the process dies.
#[derive(Debug)]
pub struct ServeLock(#[expect(dead_code, reason = "its lock lasts as long as it is open")] Option<File>);

/// Takes the right to serve from this database. Any number of gateways may share a PostgreSQL; a SQLite file belongs
/// to one, and the other commands open it beside that one.
///
/// # Errors
/// [`StoreError::InUse`] if another process serves from it.
pub fn lock_for_serving(database: &Database) -> Result<ServeLock, StoreError> {
    let DatabaseUrl::Sqlite(path) = &database.url else { return Ok(ServeLock(None)) };
    let mut lock = path.clone().into_os_string();
    lock.push(".lock");
    let lock = PathBuf::from(lock);
    let unavailable = |error: std::io::Error| StoreError::Unavailable(format!("{}: {error}", lock.display()));
    let file = private().truncate(false).open(&lock).map_err(unavailable)?;
    match file.try_lock() {
        Ok(()) => Ok(ServeLock(Some(file))),
        Err(TryLockError::WouldBlock) => Err(StoreError::InUse { lock }),
        Err(TryLockError::Error(error)) => Err(unavailable(error)),
    }
}

/// How our files are made: nobody else may read them, whatever the umask.
pub(super) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
