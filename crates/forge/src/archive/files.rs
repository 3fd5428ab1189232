//! Files of a project on their way into an archive and out of one: uploads and large files.

use std::{
    collections::{HashMap, HashSet},
    fs::File,
    io::Read as _,
    path::Path,
};

use admin::archive::ArchiveImport;
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, TryStreamExt as _};
use kernel::{Error, Result, ids::ProjectId};
use repo::lfs::{LfsId, LfsStore as _};
use serde::{Deserialize, Serialize};
use tokio::{io::AsyncWriteExt as _, task::spawn_blocking};

use super::{failure::ArchiveError, layout, lines, pack::Packer};
use crate::{Forge, files::attachments};

/// Files of one archive.
const MOST: usize = 100_000;
/// Bytes of the largest large file that archives hold.
const LARGEST: i64 = i64::MAX;

/// A file that was added to a text.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct UploadLine {
    pub(super) secret: String,
    pub(super) name: String,
}

/// A large file.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct LfsLine {
    oid: String,
    size: i64,
}

/// Adds all files of a project.
pub(super) async fn write(forge: &Forge, packer: &mut Packer, project: ProjectId) -> Result<()> {
    let mut uploads = Vec::new();
    let mut listed = Box::pin(forge.uploads.list(""));
    while let Some(one) = listed.try_next().await? {
        let Some((secret, name)) = attachments::parts_of(&one.name, project) else { continue };
        let (_, content) = forge.uploads.read(&one.name).await?;
        let file = copy_into(packer.draft()?, content).await?;
        packer.file(&layout::upload(&secret), file).await?;
        uploads.push(UploadLine { secret, name });
    }
    packer.text(layout::UPLOADS, &lines_of(&uploads)?).await?;
    let ids = forge.db.read(move |tx| tx.lfs_objects_up_to(project, LARGEST)).await?;
    let mut objects = Vec::new();
    for id in ids {
        let (size, content) = forge.lfs.read(&id).await?;
        let file = copy_into(packer.draft()?, content).await?;
        packer.file(&layout::lfs_object(id.as_str()), file).await?;
        let size = i64::try_from(size).unwrap_or(i64::MAX);
        objects.push(LfsLine { oid: id.as_str().to_owned(), size });
    }
    packer.text(layout::LFS_OBJECTS, &lines_of(&objects)?).await
}

pub(super) fn lines_of<T: Serialize>(all: &[T]) -> Result<String> {
    let mut text = String::new();
    for one in all {
        text.push_str(&serde_json::to_string(one).map_err(Error::internal)?);
        text.push('\n');
    }
    Ok(text)
}

pub(super) async fn copy_into(
    into: File,
    content: impl Stream<Item = std::io::Result<Bytes>>,
) -> Result<File> {
    let (mut file, mut content) = (tokio::fs::File::from_std(into), Box::pin(content));
    while let Some(piece) = content.next().await {
        file.write_all(&piece.map_err(Error::internal)?).await.map_err(Error::internal)?;
    }
    file.flush().await.map_err(Error::internal)?;
    Ok(file.into_std().await)
}

/// The uploads that an archive says it has.
pub(super) fn uploads(folder: &Path) -> Result<Vec<UploadLine>, ArchiveError> {
    let all: Vec<UploadLine> = lines::read_all(folder, layout::UPLOADS, MOST)?;
    let is_sound = |one: &UploadLine| {
        one.secret.len() == 32
            && one.secret.bytes().all(|byte| byte.is_ascii_hexdigit())
            && attachments::is_plain(&one.name)
    };
    if !all.iter().all(is_sound) {
        return Err(ArchiveError::flawed("The archive has an upload without a usable name."));
    }
    let secrets = all.iter().map(|one| &one.secret).collect::<HashSet<_>>().len();
    match secrets == all.len() {
        true => Ok(all),
        false => Err(ArchiveError::flawed("The archive has two uploads with the same secret.")),
    }
}

/// A file that was added to a text, as an archive has it.
#[derive(Clone, Debug)]
pub(super) struct ArchiveUpload {
    pub(super) name: String,
    /// `None` where the archive does not have the file itself.
    pub(super) bytes: Option<i64>,
}

/// The uploads of an archive by their secrets.
pub(super) fn uploads_by_secret(
    folder: &Path,
) -> Result<HashMap<String, ArchiveUpload>, ArchiveError> {
    let upload = |one: UploadLine| {
        let about = std::fs::metadata(folder.join(layout::upload(&one.secret))).ok();
        let bytes = about.map(|about| i64::try_from(about.len()).unwrap_or(i64::MAX));
        (one.secret, ArchiveUpload { name: one.name, bytes })
    };
    Ok(uploads(folder)?.into_iter().map(upload).collect())
}

/// Looks whether the large files that an archive says it has can be named.
pub(super) fn check_lfs(folder: &Path) -> Result<(), ArchiveError> {
    large_files(folder).map(drop)
}

fn large_files(folder: &Path) -> Result<Vec<(LfsId, i64)>, ArchiveError> {
    let all: Vec<LfsLine> = lines::read_all(folder, layout::LFS_OBJECTS, MOST)?;
    let ids = all.into_iter().map(|one| one.oid.parse::<LfsId>().ok().map(|id| (id, one.size)));
    let ids: Option<Vec<_>> = ids.collect();
    ids.ok_or_else(|| ArchiveError::flawed("The archive has a large file without a usable id."))
}

/// Keeps all files of an archive; done again, it writes the same ones. Returns the bytes of the uploads.
pub(super) async fn land(
    forge: &Forge,
    folder: &Path,
    project: ProjectId,
    import: &ArchiveImport,
) -> Result<i64, ArchiveError> {
    let mut bytes = 0;
    for one in uploads(folder)? {
        let Ok(file) = File::open(folder.join(layout::upload(&one.secret))) else { continue };
        bytes += i64::try_from(file.metadata()?.len()).unwrap_or(i64::MAX);
        let secret = import.upload_secret(&one.secret);
        let place = attachments::location(&secret, project, &one.name);
        forge.uploads.remove(&place).await?;
        forge.uploads.keep_file(&place, file).await?;
    }
    for (id, size) in large_files(folder)? {
        let path = folder.join(layout::lfs_object(id.as_str()));
        let Ok(mut file) = File::open(path) else { continue };
        let files = forge.lfs.clone();
        let arrived = spawn_blocking(move || -> Result<_, ArchiveError> {
            let mut incoming = files.begin()?;
            let mut block = vec![0; 64 << 10];
            loop {
                let count = file.read(&mut block)?;
                match block.get(..count).filter(|bytes| !bytes.is_empty()) {
                    Some(bytes) => incoming.write(bytes)?,
                    None => return Ok(incoming),
                }
            }
        });
        let arrived = arrived.await.map_err(Error::internal)??;
        forge.lfs.keep(arrived, &id, size).await.map_err(|cause| match cause.is_ours() {
            true => ArchiveError::Own(cause),
            false => {
                ArchiveError::flawed("The archive has a large file that is not what its id says.")
            }
        })?;
        forge.db.write(move |tx| tx.add_lfs_object(project, &id, size)).await?;
    }
    Ok(bytes)
}
