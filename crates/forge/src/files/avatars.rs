//! Pictures of projects, groups and people: one file each.

use std::{
    fmt,
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use admin::appearance::Picture;
use bytes::Bytes;
use db::{Tx, checksum::files};
use futures_util::TryStreamExt as _;
use kernel::{
    Error, Result,
    ids::{NamespaceId, ProjectId, UserId},
    task::spawn_blocking,
};
use objects::Objects;
use sha2::{Digest as _, Sha256};
use tokio::runtime::Handle;

use super::{
    Upload,
    attachments::{is_picture, plain_name},
};
use crate::{
    Forge,
    checksums::{AVATARS, GOOD_FOR},
};

/// Bytes of a picture.
const LARGEST: u64 = 200 << 10;
const TOO_LARGE: &str = "is too big (should be at most 200 KiB)";
const NO_PICTURE: &str = "file format is not supported. Please try one of the following supported formats: \
                          png, jpg, jpeg, gif, bmp, tiff, ico, webp";

/// The owner of a picture.
#[derive(Clone, Copy, Debug)]
pub enum Owner {
    Project(ProjectId),
    Group(NamespaceId),
    User(UserId),
    /// The installation itself, which has several.
    Appearance(Picture),
    Topic(i64),
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Project(id) => write!(f, "project/{id}"),
            Self::Group(id) => write!(f, "group/{id}"),
            Self::User(id) => write!(f, "user/{id}"),
            Self::Appearance(picture) => write!(f, "appearance/{picture}"),
            Self::Topic(id) => write!(f, "topic/{id}"),
        }
    }
}

/// What speaks against a file as a picture: its name, what is in it, or how much that is.
pub fn fault(upload: &Upload) -> Option<&'static str> {
    if !is_picture_file(upload) {
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

/// Whether a file is a picture, by its name and by what is in it.
pub(crate) fn is_picture_file(upload: &Upload) -> bool {
    is_picture(&upload.file_name) && begins_as_picture(upload)
}

fn begins_as_picture(upload: &Upload) -> bool {
    upload.file.reopen().is_ok_and(has_known_beginning)
}

fn has_known_beginning(file: File) -> bool {
    let mut first = Vec::new();
    file.take(12).read_to_end(&mut first).is_ok() && is_known(&first)
}

/// As [`fault`], for a file of an archive, whose owner's row is to hold the name as it is. Blocks.
///
/// # Errors
/// When the file cannot be read.
pub(crate) fn archived_fault(name: &str, path: &Path) -> io::Result<Option<&'static str>> {
    let file = File::open(path)?;
    let is_small = file.metadata()?.len() <= LARGEST;
    if plain_name(name) != name || !is_picture(name) || !has_known_beginning(file) {
        return Ok(Some(NO_PICTURE));
    }
    Ok((!is_small).then_some(TOO_LARGE))
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

/// A picture that was read, and is nobody's yet.
#[derive(Clone, Debug)]
pub struct StagedAvatar {
    content: Bytes,
    all: Objects,
    runtime: Handle,
    sha256: String,
    /// What its owner's row is to hold.
    pub name: String,
}

/// Reads a picture.
pub async fn stage(forge: &Forge, upload: Upload) -> Result<StagedAvatar> {
    ensure(&upload)?;
    let name = plain_name(&upload.file_name);
    stage_file(forge, name, move || upload.file.reopen()).await
}

/// As [`stage`], for a file of an archive in which there is no fault.
pub(crate) async fn stage_archived(
    forge: &Forge,
    name: String,
    path: PathBuf,
) -> Result<StagedAvatar> {
    stage_file(forge, name, move || File::open(path)).await
}

async fn stage_file(
    forge: &Forge,
    name: String,
    open: impl FnOnce() -> io::Result<File> + Send + 'static,
) -> Result<StagedAvatar> {
    let all = forge.avatars.clone();
    let read = spawn_blocking(move || {
        let mut content = Vec::new();
        open()?.read_to_end(&mut content)?;
        let sha256 = hex::encode(Sha256::digest(&content));
        Ok::<_, io::Error>((Bytes::from(content), sha256))
    });
    let (content, sha256) = read.await.map_err(Error::internal)?.map_err(Error::internal)?;
    Ok(StagedAvatar { content, all, runtime: Handle::current(), sha256, name })
}

/// The change of a picture: `None` keeps it, `Some(None)` removes it.
pub type PictureChange<P> = Option<Option<P>>;

/// Reads the picture of a change, where it brings one.
pub async fn stage_change(
    forge: &Forge,
    change: PictureChange<Upload>,
) -> Result<PictureChange<StagedAvatar>> {
    Ok(match change {
        Some(Some(upload)) => Some(Some(stage(forge, upload).await?)),
        Some(None) => Some(None),
        None => None,
    })
}

/// As [`StagedAvatar::commit`], for the picture of a change, where it brought one.
pub fn finish_change(
    tx: &mut Tx<'_>,
    change: PictureChange<StagedAvatar>,
    owner: Owner,
) -> Result<()> {
    change.flatten().map_or(Ok(()), |picture| picture.commit(tx, owner))
}

impl StagedAvatar {
    /// Gives the picture to its owner. This is for the end of the transaction that names it, so that a change which is
    /// refused leaves the picture from before, and a row that is read names a picture that is there.
    pub fn commit(self, tx: &mut Tx<'_>, owner: Owner) -> Result<()> {
        let place = location(owner, &self.name);
        let check_at = tx.now.plus(GOOD_FOR);
        files::note(tx, AVATARS, &place, &self.sha256, check_at)?;
        self.all.put_blocking(&self.runtime, &place, self.content)
    }
}

fn location(owner: Owner, name: &str) -> String {
    format!("{owner}/{name}")
}

/// Removes the pictures of an owner, but for the one that the row names.
pub async fn tidy(forge: &Forge, owner: Owner, kept: Option<String>) -> Result<()> {
    let kept = kept.map(|name| location(owner, &name));
    let mut all = Box::pin(forge.avatars.list(&owner.to_string()));
    while let Some(one) = all.try_next().await? {
        if Some(&one.name) != kept.as_ref() {
            forge.avatars.remove(&one.name).await?;
        }
    }
    Ok(())
}

/// Where the picture lies that a row names.
pub fn find(owner: Owner, name: &str) -> Result<String> {
    if plain_name(name) == name { Ok(location(owner, name)) } else { Err(Error::missing()) }
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
