//! The key file: created once, readable by this account alone, and synced to disk before anything is sealed with it.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

/// Name of the key file in the data folder.
pub const KEY_FILE: &str = "secrets.key";
pub(crate) const LENGTH: usize = 32;

pub(crate) type Key = [u8; LENGTH];

/// The key of a data folder; `None` where there is none yet.
pub(crate) fn read(data: &Path) -> io::Result<Option<Key>> {
    let mut bytes = Vec::new();
    match File::open(data.join(KEY_FILE)) {
        Ok(mut file) => file.read_to_end(&mut bytes)?,
        Err(absent) if absent.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(cause) => return Err(cause),
    };
    let damaged = |_| io::Error::new(io::ErrorKind::InvalidData, "secrets.key is damaged");
    bytes.try_into().map(Some).map_err(damaged)
}

/// Creates a key, unless another process was faster: an existing file wins. It is written to a temporary file first, so that
/// nobody reads half of it.
pub(crate) fn make(data: &Path) -> io::Result<Key> {
    let beside = data.join(format!("{KEY_FILE}.{:016x}", rand::random::<u64>()));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
    file.write_all(&rand::random::<Key>())?;
    file.sync_all()?;
    let placed = fs::hard_link(&beside, data.join(KEY_FILE));
    fs::remove_file(&beside)?;
    match placed {
        Err(cause) if cause.kind() != io::ErrorKind::AlreadyExists => return Err(cause),
        // The name must last as long as what is sealed.
        _ => File::open(data)?.sync_all()?,
    }
    read(data)?.ok_or_else(|| io::ErrorKind::NotFound.into())
}
