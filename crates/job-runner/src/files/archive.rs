//! Zip archives of artifacts and caches. What leads out of the folder is neither packed nor unpacked.

use std::{
    fs::{self, File},
    io::{BufWriter, Read, Seek, Write},
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, symlink},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail, ensure};
use zip::{CompressionMethod, ZipArchive, ZipWriter, read::ZipFile, write::SimpleFileOptions};

use super::{
    paths::{create_parents, open_file, relative, remove_all, stays_within},
    walk::{FileKinds, Kind},
};

/// Bytes that one archive may unpack to.
pub(crate) const LARGEST_UNPACKED: u64 = 64 << 30;
const MOST_ENTRIES: usize = 1_000_000;
/// Bytes of the target of a link.
const LONGEST_TARGET: u64 = 4096;

/// Packs files of a folder. Returns the paths that were left out because they lead out of it or went away meanwhile.
pub(crate) fn pack(root: &Path, found: &FileKinds, into: &mut File) -> Result<Vec<String>> {
    let mut left_out = Vec::new();
    let mut zip = ZipWriter::new(BufWriter::new(into));
    for (path, kind) in found {
        let full = root.join(path);
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        match kind {
            Kind::Folder => {
                zip.add_directory(format!("{path}/"), options.unix_permissions(0o755))?
            }
            Kind::Link => match fs::read_link(&full) {
                Ok(target) if stays_within(Path::new(path), &target) => {
                    zip.add_symlink(path, target.to_string_lossy(), options)?;
                }
                _ => left_out.push(path.clone()),
            },
            Kind::File => {
                let Ok(mut file) = open_file(&full) else {
                    left_out.push(path.clone());
                    continue;
                };
                let about = file.metadata()?;
                let options = options
                    .unix_permissions(about.permissions().mode() & 0o777)
                    .large_file(about.len() >= u64::from(u32::MAX));
                zip.start_file(path, options)?;
                // It may grow while it is read.
                std::io::copy(&mut (&mut file).take(about.len()), &mut zip)?;
            }
        }
    }
    zip.finish()?.into_inner().map_err(std::io::IntoInnerError::into_error)?.flush()?;
    Ok(left_out)
}

/// The folder into which an archive is unpacked, with limits.
#[derive(Clone, Copy)]
pub(crate) struct Target<'t> {
    pub(crate) root: &'t Path,
    /// Of new folders.
    pub(crate) folder_mode: u32,
    /// Bytes that it may unpack to.
    pub(crate) largest: u64,
}

/// Unpacks an archive into a folder and returns how many entries it had. Everything is looked at before it is written, and
/// nothing is written through a symbolic link.
pub(crate) fn unpack(archive: impl Read + Seek, target: Target<'_>) -> Result<usize> {
    let mut zip = ZipArchive::new(archive).context("this is no zip archive")?;
    ensure!(zip.len() <= MOST_ENTRIES, "the archive has more than {MOST_ENTRIES} entries");
    let mut left = target.largest;
    for index in 0..zip.len() {
        let mut entry = zip.by_index(index)?;
        let name = entry.name()?.into_owned();
        let Some(path) = relative(&name) else {
            bail!("{name:?} leads out of the project folder");
        };
        ensure!(!path.starts_with(".git"), "{name:?} would change git's own files");
        unpack_one(&mut entry, target, &path, &mut left)
            .with_context(|| format!("cannot unpack {name:?}"))?;
    }
    Ok(zip.len())
}

fn unpack_one<R: Read>(
    entry: &mut ZipFile<'_, R>,
    target: Target<'_>,
    path: &Path,
    left: &mut u64,
) -> Result<()> {
    let full = target.root.join(path);
    if entry.is_dir() {
        return Ok(create_parents(target.root, &path.join("x"), target.folder_mode)?);
    }
    create_parents(target.root, path, target.folder_mode)?;
    match fs::symlink_metadata(&full) {
        Ok(found) if found.is_dir() => bail!("there is a folder of this name"),
        Ok(_) => remove_all(&full)?,
        Err(_absent) => {}
    }
    if entry.is_symlink() {
        return unpack_link(entry, path, &full);
    }
    let mode = entry.unix_mode().unwrap_or(0o644) & 0o777;
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(&full)?;
    // Sizes that an archive names are claims.
    let written = std::io::copy(&mut entry.take(*left + 1), &mut file)?;
    let Some(rest) = left.checked_sub(written) else {
        bail!("the archive unpacks to more than is allowed");
    };
    *left = rest;
    // What people may read must not depend on this process.
    file.set_permissions(fs::Permissions::from_mode(mode))?;
    Ok(())
}

fn unpack_link<R: Read>(entry: &mut ZipFile<'_, R>, path: &Path, full: &Path) -> Result<()> {
    let mut target = String::new();
    entry.take(LONGEST_TARGET).read_to_string(&mut target)?;
    let target = PathBuf::from(target);
    ensure!(stays_within(path, &target), "a link leads out of the project folder");
    Ok(symlink(target, full)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpack_into(archive: impl Read + Seek, root: &Path, largest: u64) -> Result<usize> {
        unpack(archive, Target { root, folder_mode: 0o755, largest })
    }

    const MOST: u64 = 1 << 20;

    fn zip_of(entries: &[(&str, &str)]) -> std::io::Cursor<Vec<u8>> {
        let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for (name, content) in entries {
            let options = SimpleFileOptions::default();
            match content.strip_prefix("-> ") {
                Some(target) => zip.add_symlink(*name, target, options).unwrap(),
                None => {
                    zip.start_file(*name, options).unwrap();
                    zip.write_all(content.as_bytes()).unwrap();
                }
            }
        }
        zip.finish().unwrap()
    }

    #[test]
    fn an_entry_that_leads_out_is_refused() {
        for name in ["../x", "/tmp/x", "a/../../x", ".git/hooks/pre-commit"] {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().join("project");
            fs::create_dir(&root).unwrap();
            assert!(unpack_into(zip_of(&[(name, "evil")]), &root, MOST).is_err(), "{name}");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        }
    }

    #[test]
    fn links_are_neither_made_outwards_nor_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (root, out) = (folder.path().join("project"), folder.path().join("out"));
        fs::create_dir(&root).unwrap();
        fs::create_dir(&out).unwrap();
        assert!(unpack_into(zip_of(&[("l", "-> ../out")]), &root, MOST).is_err());
        symlink(&out, root.join("dir")).unwrap();
        assert!(unpack_into(zip_of(&[("dir/x", "evil")]), &root, MOST).is_err());
        fs::write(out.join("file"), "good").unwrap();
        symlink(out.join("file"), root.join("file")).unwrap();
        unpack_into(zip_of(&[("file", "new")]), &root, MOST).unwrap();
        assert_eq!(fs::read_to_string(out.join("file")).unwrap(), "good");
        assert_eq!(fs::read_to_string(root.join("file")).unwrap(), "new");
    }

    #[test]
    fn an_archive_may_not_unpack_to_more_than_is_allowed() {
        let folder = tempfile::tempdir().unwrap();
        let big = "0".repeat(5000);
        assert!(unpack_into(zip_of(&[("a", &big), ("b", &big)]), folder.path(), 9999).is_err());
        assert!(unpack_into(zip_of(&[("a", &big), ("b", &big)]), folder.path(), 10_000).is_ok());
    }

    #[test]
    fn what_was_packed_comes_back_with_its_mode_and_links() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir(from.path().join("d")).unwrap();
        fs::write(from.path().join("d/run"), "#!/bin/sh\n").unwrap();
        fs::set_permissions(from.path().join("d/run"), fs::Permissions::from_mode(0o755)).unwrap();
        symlink("d/run", from.path().join("link")).unwrap();
        symlink("/etc/passwd", from.path().join("bad")).unwrap();
        let found =
            [("bad", Kind::Link), ("d", Kind::Folder), ("d/run", Kind::File), ("link", Kind::Link)];
        let found: FileKinds =
            found.into_iter().map(|(path, kind)| (path.to_owned(), kind)).collect();
        let mut file = tempfile::tempfile().unwrap();
        assert_eq!(pack(from.path(), &found, &mut file).unwrap(), ["bad"]);
        assert_eq!(unpack_into(file, to.path(), MOST).unwrap(), 3);
        let mode = fs::metadata(to.path().join("d/run")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
        assert_eq!(fs::read_link(to.path().join("link")).unwrap(), Path::new("d/run"));
    }
}
