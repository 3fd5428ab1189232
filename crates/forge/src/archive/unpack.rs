//! Taking an archive apart. Whoever made it may mean harm: links, devices and paths that lead elsewhere are refused, and
//! so is what becomes far larger than it came.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read},
    path::Path,
};

use flate2::read::MultiGzDecoder;
use tar::{Archive, EntryType};

use super::{
    failure::ArchiveError,
    layout::{self, MOST_FILES, MOST_JOB_FILES},
};

/// The size limits of an archive's content.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnpackLimits {
    /// Bytes of all entries.
    pub(super) bytes: u64,
    pub(super) entries: usize,
}

/// Bytes that an archive of so many bytes may become, for each of its own: texts shrink to a twentieth, and what shrinks further
/// is stored as it is where an archive is written.
pub(super) const RATIO: u64 = 100;
/// Small archives may become that large anyway.
pub(super) const ROOM: u64 = 64 << 20;
/// No archive becomes larger.
pub(super) const MOST: u64 = 25 << 30;
/// Entries of an archive with as many uploads, large files, logs and artifacts as archives hold, and some lists.
const ENTRIES: usize = 2 * MOST_FILES + 2 * MOST_JOB_FILES + 100_000;

impl UnpackLimits {
    /// For an archive of so many bytes.
    pub(super) fn for_size(size: u64) -> Self {
        Self { bytes: size.saturating_mul(RATIO).saturating_add(ROOM).min(MOST), entries: ENTRIES }
    }
}

/// Counts the bytes that come out of the compression.
struct QuotaReader<R> {
    from: R,
    left: u64,
}

const TOO_LARGE: &str = "archive bomb";

impl<R: Read> Read for QuotaReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(into)?;
        let bytes = u64::try_from(count).unwrap_or(u64::MAX);
        self.left = self.left.checked_sub(bytes).ok_or_else(|| io::Error::other(TOO_LARGE))?;
        Ok(count)
    }
}

/// Writes the files of an archive into an empty folder. Blocks.
pub(super) fn unpack(
    packed: impl Read,
    into: &Path,
    limits: UnpackLimits,
) -> Result<(), ArchiveError> {
    let bounded = QuotaReader { from: MultiGzDecoder::new(packed), left: limits.bytes };
    let mut archive = Archive::new(bounded);
    // Raw: headers that say more of the next one could be of any length.
    let entries = archive.entries().map_err(broken)?.raw(true);
    for (place, entry) in entries.enumerate() {
        if place >= limits.entries {
            return Err(ArchiveError::flawed("The archive has too many files."));
        }
        let mut entry = entry.map_err(broken)?;
        let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        match entry.header().entry_type() {
            EntryType::Directory => ensure_inside(path.trim_end_matches('/'))?,
            EntryType::Regular => {
                let path = path.strip_prefix("./").unwrap_or(&path);
                ensure_inside(path)?;
                if layout::is_known(path) {
                    save(&mut entry, &into.join(path))?;
                }
            }
            EntryType::Symlink | EntryType::Link => {
                let text =
                    format!("The archive has a link, which is not allowed: {}.", short(&path));
                return Err(ArchiveError::Flawed(text));
            }
            _ => {
                let text = format!(
                    "The archive has an entry of a kind that is not allowed: {}.",
                    short(&path)
                );
                return Err(ArchiveError::Flawed(text));
            }
        }
    }
    // The checksum of the compression stands behind the last entry.
    io::copy(&mut archive.into_inner(), &mut io::sink()).map_err(broken)?;
    Ok(())
}

fn ensure_inside(path: &str) -> Result<(), ArchiveError> {
    let leads_out = path.starts_with('/')
        || path.contains(['\\', '\0'])
        || path.split('/').any(|part| part == "..");
    match leads_out {
        true => {
            let text = format!("The archive has a path that leads out of it: {}.", short(path));
            Err(ArchiveError::Flawed(text))
        }
        false => Ok(()),
    }
}

fn save(entry: &mut impl Read, to: &Path) -> Result<(), ArchiveError> {
    if let Some(folder) = to.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut file = match OpenOptions::new().write(true).create_new(true).open(to) {
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {
            return Err(ArchiveError::flawed("The archive has a file twice."));
        }
        opened => opened?,
    };
    copy(entry, &mut file)
}

/// As [`io::copy`], telling apart which side failed.
fn copy(from: &mut impl Read, to: &mut File) -> Result<(), ArchiveError> {
    let mut block = vec![0; 64 << 10];
    loop {
        let count = from.read(&mut block).map_err(broken)?;
        match block.get(..count).filter(|bytes| !bytes.is_empty()) {
            Some(bytes) => io::Write::write_all(to, bytes)?,
            None => return Ok(()),
        }
    }
}

fn broken(cause: io::Error) -> ArchiveError {
    let text = cause.to_string();
    if text.contains(TOO_LARGE) {
        return ArchiveError::flawed("Decompressed archive size is over the limit.");
    }
    // Of the storage, where the error came from another layer than the archive's own.
    match cause.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
            ArchiveError::flawed("The archive is damaged, or is no gzip-compressed tar archive.")
        }
        _ => match cause.get_ref() {
            Some(_) => ArchiveError::flawed(
                "The archive is damaged, or is no gzip-compressed tar archive.",
            ),
            None => ArchiveError::from(cause),
        },
    }
}

fn short(path: &str) -> String {
    path.chars().filter(|letter| !letter.is_control()).take(100).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::{Compression, write::GzEncoder};
    use tar::{Builder, EntryType, Header};

    use super::{UnpackLimits, unpack};

    fn archive(path: &str, kind: EntryType, length: usize) -> Vec<u8> {
        let mut tar = Builder::new(GzEncoder::new(Vec::new(), Compression::best()));
        let mut header = Header::new_ustar();
        let name = &mut header.as_old_mut().name;
        name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_entry_type(kind);
        if matches!(kind, EntryType::Symlink | EntryType::Link) {
            header.set_link_name("/etc/passwd").unwrap();
        }
        header.set_size(u64::try_from(length).unwrap());
        header.set_cksum();
        tar.append(&header, &vec![0; length][..]).unwrap();
        tar.into_inner().unwrap().finish().unwrap()
    }

    fn flaw(packed: &[u8], bytes: u64) -> String {
        let folder = tempfile::tempdir().unwrap();
        let limits = UnpackLimits { bytes, entries: 10 };
        let done = unpack(packed, folder.path(), limits);
        done.map_or_else(|flaw| flaw.to_string(), |()| String::new())
    }

    #[test]
    fn what_leads_out_of_an_archive_is_refused() {
        for (path, kind, told) in [
            ("VERSION", EntryType::Regular, ""),
            ("else/where", EntryType::Regular, ""),
            ("../VERSION", EntryType::Regular, "leads out"),
            ("/VERSION", EntryType::Regular, "leads out"),
            ("tree/../../x", EntryType::Directory, "leads out"),
            ("VERSION", EntryType::Symlink, "a link"),
            ("VERSION", EntryType::Link, "a link"),
            ("VERSION", EntryType::Fifo, "a kind"),
            ("VERSION", EntryType::Char, "a kind"),
            ("VERSION", EntryType::Block, "a kind"),
            ("VERSION", EntryType::GNULongName, "a kind"),
        ] {
            let found = flaw(&archive(path, kind, 0), 1 << 20);
            assert!(found.contains(told) && found.is_empty() == told.is_empty(), "{path}: {found}");
        }
    }

    #[test]
    fn an_archive_does_not_become_larger_than_it_may() {
        let bomb = archive("project.bundle", EntryType::Regular, 4 << 20);
        assert!(bomb.len() < 16 << 10);
        assert_eq!(flaw(&bomb, 1 << 20), "Decompressed archive size is over the limit.");
        assert_eq!(flaw(&bomb, 5 << 20), "");
        assert!(UnpackLimits::for_size(1 << 10).bytes < 65 << 20);
    }

    #[test]
    fn damaged_archives_are_refused() {
        let whole = archive("VERSION", EntryType::Regular, 4000);
        let mut changed = whole.clone();
        let checksum = changed.len() - 8;
        changed[checksum] ^= 1;
        let cut = [&whole[..whole.len() / 2], &whole[..whole.len() - 4], b"no archive"];
        for packed in cut.into_iter().chain([&changed[..]]) {
            assert!(flaw(packed, 1 << 20).contains("damaged"), "{}", packed.len());
        }
    }

    #[test]
    fn no_file_is_written_twice() {
        let mut tar = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        for _ in 0..2 {
            let mut header = Header::new_ustar();
            header.set_size(1);
            tar.append_data(&mut header, "VERSION", &b"1"[..]).unwrap();
        }
        let mut encoder = tar.into_inner().unwrap();
        encoder.flush().unwrap();
        assert_eq!(flaw(&encoder.finish().unwrap(), 1 << 20), "The archive has a file twice.");
    }
}
