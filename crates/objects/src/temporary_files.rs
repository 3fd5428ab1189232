//! Cleans up files whose writing was interrupted.

use std::{fs, io, path::Path, time::Duration};

/// Whether this is the temporary name of an unfinished file: its name and a number.
fn is_part(name: &str) -> bool {
    let number = name.rsplit_once('#').map(|(_, number)| number);
    number.is_some_and(|it| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit()))
}

pub(crate) fn remove_parts(folder: &Path, age: Duration) -> io::Result<()> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            // Removed with the last content in it.
            Err(absent) if absent.kind() == io::ErrorKind::NotFound => continue,
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else if is_part(&entry.file_name().to_string_lossy()) && is_older(&entry, age) {
                fs::remove_file(entry.path())?;
            }
        }
    }
    Ok(())
}

fn is_older(entry: &fs::DirEntry, age: Duration) -> bool {
    let written = entry.metadata().and_then(|about| about.modified());
    written.is_ok_and(|at| at.elapsed().is_ok_and(|since| since >= age))
}
