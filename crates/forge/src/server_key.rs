//! The key of an installation: made once, kept in its data folder, and nobody else's.

use std::{
    fs::{self, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use db::{Tx, stamp};
use kernel::{Error, Result};
use twox_hash::XxHash3_64;

/// Name of the key file in the data folder.
pub const KEY_FILE: &str = "identity.key";
/// Under which a database keeps the name of its data folder.
pub const FOLDER: &str = "data folder";
const KEY_LENGTH: usize = 64;

/// The signing key of the installation.
#[derive(Clone)]
pub struct ServerKey {
    bytes: Vec<u8>,
    number: u64,
    name: String,
}

impl ServerKey {
    /// Reads the key of a data folder; the first start makes it.
    pub fn open(data: &Path) -> Result<Self> {
        read_or_make(&data.join(KEY_FILE)).map(Self::new).map_err(Error::internal)
    }

    pub fn new(bytes: Vec<u8>) -> Self {
        let number = XxHash3_64::oneshot(&bytes);
        Self { bytes, number, name: format!("{number:016x}") }
    }

    /// To sign with.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What tells this data folder from others; nobody can make the key of it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether a database keeps the name of another data folder than this key's.
    pub fn is_foreign_to(&self, tx: &mut Tx<'_>) -> Result<bool> {
        Ok(stamp::of(tx, FOLDER)?.is_some_and(|kept| kept != self.number()))
    }

    /// The name as a number of a column.
    pub fn number(&self) -> i64 {
        self.number.cast_signed()
    }
}

fn read_or_make(path: &Path) -> io::Result<Vec<u8>> {
    match make(path) {
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => read(path),
        made => made,
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut key = Vec::new();
    fs::File::open(path)?.read_to_end(&mut key)?;
    match key.len() {
        KEY_LENGTH => Ok(key),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "the key file is damaged")),
    }
}

/// Written beside its place first, so that nobody ever reads half a key.
fn make(path: &Path) -> io::Result<Vec<u8>> {
    if path.exists() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let key = rand::random::<[u8; KEY_LENGTH]>().to_vec();
    let beside = path.with_extension(format!("{:016x}", rand::random::<u64>()));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
    file.write_all(&key)?;
    file.sync_all()?;
    let placed = fs::hard_link(&beside, path);
    fs::remove_file(&beside)?;
    placed.map(|()| key)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::{KEY_FILE, ServerKey};

    #[test]
    fn the_key_is_made_once_and_is_nobody_elses() {
        let data = tempfile::tempdir().unwrap();
        let first = ServerKey::open(data.path()).unwrap();
        let again = ServerKey::open(data.path()).unwrap();
        assert_eq!((first.bytes(), first.name()), (again.bytes(), again.name()));
        let mode = std::fs::metadata(data.path().join(KEY_FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 1);
    }
}
