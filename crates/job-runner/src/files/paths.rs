//! Paths that stay within a folder.

use std::{
    fs,
    io::{ErrorKind, Result},
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::{Component, Path, PathBuf},
};

use rustix::fs::OFlags;

/// A path relative to a folder without any way out of it; `None` for absolute ones, for those that go up, and for none at
/// all.
pub(crate) fn relative(path: &str) -> Option<PathBuf> {
    if path.contains('\0') {
        return None;
    }
    let mut clean = PathBuf::new();
    for part in Path::new(path).components() {
        match part {
            Component::Normal(name) => clean.push(name),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (!clean.as_os_str().is_empty()).then_some(clean)
}

/// Whether a symbolic link at `link`, a path within a folder, points to something within the same folder. It may go up
/// only at its beginning: after a name that could itself be a link, `..` could lead anywhere.
pub(crate) fn stays_within(link: &Path, target: &Path) -> bool {
    let mut depth = link.components().count().saturating_sub(1);
    let mut has_name = false;
    for part in target.components() {
        match part {
            Component::CurDir => {}
            Component::Normal(_) => has_name = true,
            Component::ParentDir if has_name || depth == 0 => return false,
            Component::ParentDir => depth -= 1,
            Component::RootDir | Component::Prefix(_) => return false,
        }
    }
    true
}

/// Makes the folders above `path` within `root`. Fails where one of them is a symbolic link or no folder.
/// New folders get this mode, whatever the mask of this process.
pub(crate) fn create_parents(root: &Path, path: &Path, mode: u32) -> Result<()> {
    let mut at = root.to_owned();
    for part in path.parent().into_iter().flat_map(Path::components) {
        at.push(part);
        match fs::symlink_metadata(&at) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => {
                let said = format!("{} is no folder", at.display());
                return Err(std::io::Error::new(ErrorKind::NotADirectory, said));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                fs::create_dir(&at)?;
                fs::set_permissions(&at, fs::Permissions::from_mode(mode))?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Opens a file for reading, but not what a symbolic link points to, nor something that waits for a writer.
pub(crate) fn open_file(path: &Path) -> Result<fs::File> {
    let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits())
        .map_err(|_too_large| ErrorKind::Unsupported)?;
    let file = fs::OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(ErrorKind::InvalidInput.into());
    }
    Ok(file)
}

/// Removes a file, a link or a whole folder; nothing that a link points to. It is no error when there is nothing.
pub(crate) fn remove_all(path: &Path) -> Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => {
            let removed = fs::remove_dir_all(path);
            match removed {
                Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                    make_removable(path)?;
                    fs::remove_dir_all(path)
                }
                removed => removed,
            }
        }
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Lets the owner write in all folders below: package managers like to leave them read-only.
fn make_removable(folder: &Path) -> Result<()> {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            make_removable(&entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_leads_out_is_none() {
        for path in ["", ".", "/etc/passwd", "../x", "a/../../x", "a/..", "a\0b"] {
            assert_eq!(relative(path), None, "{path:?}");
        }
        assert_eq!(relative("./a//b/"), Some(PathBuf::from("a/b")));
    }

    #[test]
    fn a_link_may_point_within_the_folder_only() {
        let stays = |link: &str, target: &str| stays_within(Path::new(link), Path::new(target));
        assert!(stays("a/b/link", "../c") && stays("link", "a/b"));
        assert!(!stays("link", "../c") && !stays("a/link", "../../c") && !stays("link", "/etc"));
        assert!(!stays("a/link", "b/../../c"));
    }

    #[test]
    fn nothing_is_written_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/tmp", folder.path().join("out")).unwrap();
        assert!(create_parents(folder.path(), Path::new("out/x"), 0o755).is_err());
        assert!(create_parents(folder.path(), Path::new("in/side/x"), 0o755).is_ok());
    }

    #[test]
    fn a_link_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/etc/passwd", &link).unwrap();
        assert!(open_file(&link).is_err());
        remove_all(&link).unwrap();
        assert!(Path::new("/etc/passwd").exists());
    }
}
