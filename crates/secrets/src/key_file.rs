//! The file of the key: made once, for this account alone, and on the disk before anything is sealed with it.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

/// Where the key lies in the data folder.
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

/// Makes a key, unless another process is faster; the one that lies there counts. It is written beside its place first,
/// so that nobody ever reads half of it.
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
