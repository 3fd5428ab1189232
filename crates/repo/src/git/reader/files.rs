//! The repository as files on disk.

use std::{fs, io, path::Path};

use crate::git::Result;

/// The bytes of all files below `folder`. What disappears meanwhile does not count.
pub(super) fn size_of(folder: &Path) -> Result<u64> {
    let mut total = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        match entry.metadata() {
            Ok(found) if found.is_dir() => total += size_of(&entry.path())?,
            Ok(found) => total += found.len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(total)
}
