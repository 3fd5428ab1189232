//! Pictures of projects, groups and people: one file each, below the data folder.

use std::{
    fmt,
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
};

use kernel::{
    Error, Result,
    ids::{NamespaceId, ProjectId, UserId},
};
use tempfile::TempPath;
use tokio::task::spawn_blocking;

use super::{
    Upload,
    attachments::{draft, is_picture, plain_name},
};
use crate::Forge;

/// Bytes of a picture.
const LARGEST: u64 = 200 << 10;
const TOO_LARGE: &str = "is too big (should be at most 200 KiB)";
const NO_PICTURE: &str = "file format is not supported. Please try one of the following supported formats: \
                          png, jpg, jpeg, gif, bmp, tiff, ico, webp";

/// Whose picture it is.
#[derive(Clone, Copy, Debug)]
pub enum Owner {
    Project(ProjectId),
    Group(NamespaceId),
    User(UserId),
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Project(id) => write!(f, "project/{id}"),
            Self::Group(id) => write!(f, "group/{id}"),
            Self::User(id) => write!(f, "user/{id}"),
        }
    }
}

/// What speaks against a file as a picture: its name, what is in it, or how much that is.
pub fn fault(upload: &Upload) -> Option<&'static str> {
    if !is_picture(&upload.file_name) || !begins_as_picture(upload) {
        return Some(NO_PICTURE);
    }
    (upload.size > LARGEST).then_some(TOO_LARGE)
}

/// Refuses what cannot be a picture.
pub fn ensure(upload: &Upload) -> Result<()> {
    match fault(upload) {
        Some(text) => Err(Error::invalid("avatar", text)),
        None => Ok(()),
    }
}

fn begins_as_picture(upload: &Upload) -> bool {
    let mut first = Vec::new();
    let read = upload.file.reopen().and_then(|file| file.take(12).read_to_end(&mut first));
    read.is_ok() && is_known(&first)
}

/// Whether a file begins as the formats do that browsers show.
fn is_known(first: &[u8]) -> bool {
    const BEGINNINGS: [&[u8]; 8] = [
        b"\x89PNG\r\n\x1a\n",
        b"\xff\xd8\xff",
        b"GIF87a",
        b"GIF89a",
        b"BM",
        b"II*\0",
        b"MM\0*",
        b"\0\0\x01\0",
    ];
    let webp = first.starts_with(b"RIFF") && first.get(8..12) == Some(b"WEBP");
    webp || BEGINNINGS.iter().any(|beginning| first.starts_with(beginning))
}

fn folder(forge: &Forge, owner: Owner) -> PathBuf {
    forge.data().join("avatars").join(owner.to_string())
}

/// A picture that is on the disk, and nobody's yet: it goes again unless it is settled.
#[derive(Clone, Debug)]
pub struct Staged {
    file: Arc<TempPath>,
    all: PathBuf,
    /// What its owner's row is to hold.
    pub name: String,
}

/// Puts a picture on the disk, beside those that have owners.
pub async fn stage(forge: &Forge, upload: Upload) -> Result<Staged> {
    ensure(&upload)?;
    let (name, all) = (plain_name(&upload.file_name), forge.data().join("avatars"));
    let done = spawn_blocking(move || {
        let file = draft(&upload, &all)?.into_temp_path();
        Ok(Staged { file: Arc::new(file), all, name })
    });
    done.await.map_err(Error::internal)?.map_err(|cause: io::Error| Error::internal(cause))
}

/// What becomes of somebody's picture: `None` keeps it, `Some(None)` takes it away.
pub type PictureChange<P> = Option<Option<P>>;

/// Puts the picture of a change on the disk, where it brings one.
pub async fn stage_change(
    forge: &Forge,
    change: PictureChange<Upload>,
) -> Result<PictureChange<Staged>> {
    Ok(match change {
        Some(Some(upload)) => Some(Some(stage(forge, upload).await?)),
        Some(None) => Some(None),
        None => None,
    })
}

/// As [`Staged::settle`], for the picture of a change, where it brought one.
pub fn settle_change(change: PictureChange<Staged>, owner: Owner) -> Result<()> {
    change.flatten().map_or(Ok(()), |picture| picture.settle(owner))
}

impl Staged {
    /// Gives the picture to its owner. This is for the end of the transaction that names it, so that a change which is
    /// refused leaves the picture from before, and a row that is read names a picture that is there.
    pub fn settle(self, owner: Owner) -> Result<()> {
        let folder = self.all.join(owner.to_string());
        // A second name: the transaction may begin again, and then for another owner.
        let second = folder.join(format!("{:016x}", rand::random::<u64>()));
        let settled = fs::create_dir_all(&folder)
            .and_then(|()| name_again(&self.file, &second))
            .and_then(|()| fs::rename(&second, folder.join(&self.name)))
            // Where both are the same file already, a rename does nothing.
            .and_then(|()| gone(fs::remove_file(&second)))
            .and_then(|()| File::open(&folder)?.sync_all());
        settled.map_err(Error::internal)
    }
}

/// Gives a file a second name, or its bytes where the disk knows no second names.
fn name_again(file: &Path, second: &Path) -> io::Result<()> {
    if fs::hard_link(file, second).is_ok() {
        return Ok(());
    }
    fs::copy(file, second)?;
    File::open(second)?.sync_all()
}

fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Removes the pictures of an owner, but for the one that the row names.
pub async fn tidy(forge: &Forge, owner: Owner, kept: Option<String>) -> Result<()> {
    let folder = folder(forge, owner);
    let done = spawn_blocking(move || remove_others(&folder, kept.as_deref()));
    done.await.map_err(Error::internal)?.map_err(Error::internal)
}

fn remove_others(folder: &Path, kept: Option<&str>) -> io::Result<()> {
    let inside = match fs::read_dir(folder) {
        Ok(inside) => inside,
        Err(absent) if absent.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(failed) => return Err(failed),
    };
    for entry in inside {
        let entry = entry?;
        if entry.file_name().to_str() != kept {
            fs::remove_file(entry.path())?;
        }
    }
    File::open(folder)?.sync_all()
}

/// Where the picture lies that a row names.
pub fn find(forge: &Forge, owner: Owner, name: &str) -> Result<PathBuf> {
    if plain_name(name) == name { Ok(folder(forge, owner).join(name)) } else { Err(Error::Missing) }
}

#[cfg(test)]
mod tests {
    use super::is_known;

    #[test]
    fn a_picture_is_known_by_how_it_begins() {
        for first in
            [&b"\x89PNG\r\n\x1a\nxxxx"[..], b"GIF89a..", b"RIFF\0\0\0\0WEBP", b"\xff\xd8\xff\xe0"]
        {
            assert!(is_known(first), "{first:?}");
        }
        for first in [&b""[..], b"<svg", b"RIFF\0\0\0\0WAVE", b"MZ\0\0", b"\x89PNG"] {
            assert!(!is_known(first), "{first:?}");
        }
    }
}
